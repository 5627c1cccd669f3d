/* SPDX-License-Identifier: MIT */
#include "lang/lex.h"

#include <math.h>
#include <string.h>

#include "base/escape.h"

enum { MAX_SIZE = 1 << 20, MAX_NAME = 64 };

static const char *const token_text[] = {
#define AG_TOKEN(NAME, text) text,
#include "lang/token.def"
#undef AG_TOKEN
};

/* Characters typed by habit or pasted from elsewhere, and what to write instead. */
static const struct {
  const char *is, *hint;
} habits[] = {
    {"**", "powers are written `^`"},
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"&", "write `and`"},
    {"|", "write `or`, and norm(v) or abs(s) for lengths and sizes"},
    {"!", "write `not`, and `!=` for inequality"},
    {";", "statements and entries need no `;`: a statement starts in column 1, entries are separated by commas"},
    {"%", "a comment starts with `#`"},
    {"$", "formulas are written as they are, without `$`"},
    {"{", "group with ( ) and list with [ ]"},
    {"}", "group with ( ) and list with [ ]"},
    {"\\", "names are written without `\\`"},
    {"\xc2\xb7", "a product is written `*`"},
    {"\xc3\x97", "a product is written `*`, the vector product cross(a, b)"},
    {"\xe2\x8b\x85", "a product is written `*`"},
    {"\xc3\xb7", "a quotient is written `/`"},
    {"\xe2\x88\x92", "the minus sign is `-`"},
    {"\xe2\x80\x93", "the minus sign is `-`"},
    {"\xe2\x80\x94", "the minus sign is `-`"},
    {"\xe2\x80\x98", "the prime is the plain `'`"},
    {"\xe2\x80\x99", "the prime is the plain `'`"},
    {"\xe2\x80\xb2", "the prime is the plain `'`"},
    {"\xe2\x80\x9c", "strings are written in plain quotes \"...\""},
    {"\xe2\x80\x9d", "strings are written in plain quotes \"...\""},
    {"\xc2\xb2", "powers are written `^2`"},
    {"\xc2\xb3", "powers are written `^3`"},
    {"\xe2\x89\xa4", "write `<=`"},
    {"\xe2\x89\xa5", "write `>=`"},
    {"\xe2\x89\xa0", "write `!=`"},
    {"\xe2\x88\x9a", "write sqrt(x)"},
    {"\xcf\x80", "write `pi`"},
    {"\xc2\xb0", "angles are in radians; write `20*deg` for 20 degrees"},
    {"\xc2\xa0", "this is a no-break space; write a plain one"},
};

static const char byte_order_mark[] = "\xef\xbb\xbf"; /* allowed at the beginning of a file */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

ag_status ag_lex_check(ag_ctx *ctx, const char *text, size_t size) {
  ag_pos pos = {1, 1, 1};
  if (size > MAX_SIZE) {
    ag_ctx_error(ctx, ((ag_pos){0}), "the text has %zu bytes; a model has at most %d (1 MiB)", size, MAX_SIZE);
    return AG_WRONG;
  }
  for (size_t i = 0; i < size;) {
    unsigned char c = (unsigned char)text[i];
    size_t len = ag_utf8_length(text + i, size - i);
    if (c == 0) ag_ctx_error(ctx, pos, "the file contains a NUL byte: it is not a text file");
    else if (len == 0) ag_ctx_error(ctx, pos, "byte 0x%02x is not valid UTF-8: a model is plain UTF-8 text", c);
    else if (c == '\r' && (i + 1 == size || text[i + 1] != '\n'))
      ag_ctx_error(ctx, pos, "a lone carriage return: lines end with a line feed, or both");
    else if ((c < 0x20 && !strchr("\t\n\r", c)) || c == 0x7f)
      ag_ctx_error(ctx, pos, "control character 0x%02x: a model is plain text", c);
    else if (c >= 0x80 && ag_utf8_controls(text + i, len) && (i || strncmp(text, byte_order_mark, 3)))
      ag_ctx_error(ctx, pos, "an invisible control character, `%.*s`: a model is plain text", (int)len, text + i);
    else {
      if (c == '\n') pos.line++, pos.col = 0;
      pos.col += (int)(c == '\n' ? 1 : len);
      i += len;
      continue;
    }
    return AG_WRONG;
  }
  return AG_OK;
}

static uint32_t scan_digits(const char *s, uint32_t i) {
  while (is_digit(s[i])) i++;
  return i;
}

/* The run of word characters and dots at i, for messages about invalid numbers. */
static uint32_t scan_blob(const char *s, uint32_t i) {
  while (is_word(s[i]) || (s[i] == '.' && s[i + 1] != '.')) i++;
  return i;
}

/* deg, degree or degrees, for which there is the constant `deg`. */
static bool is_degrees(const char *s, uint32_t n) { return (n == 3 || n == 6 || n == 7) && !strncmp(s, "degrees", n); }

static void bad(ag_token *k, uint32_t end, const char *message) {
  k->kind = AG_TOKEN_BAD;
  k->len = end - k->from;
  k->message = message;
}

static uint32_t lex_number(ag_arena *a, const char *s, ag_token *k) {
  uint32_t i = scan_digits(s, k->from);
  if (s[i] == '.' && s[i + 1] != '.') {
    uint32_t j = scan_digits(s, i + 1);
    if (j == i + 1) {
      bad(k, j,
          ag_arena_printf(a, "`%.*s` is not a number: write `%.*s` or `%.*s.0`", (int)(j - k->from), s + k->from,
                          (int)(i - k->from), s + k->from, (int)(i - k->from), s + k->from));
      return j;
    }
    i = j;
  }
  if (s[i] == 'e' || s[i] == 'E') {
    uint32_t sign = s[i + 1] == '+' || s[i + 1] == '-', j = scan_digits(s, i + 1 + sign);
    bool ends = !is_word(s[j]);
    if (j == i + 1 + sign && (sign || ends)) {
      bad(k, j,
          ag_arena_printf(a, "`%.*s` is not a number: the digits of its exponent are missing", (int)(j - k->from),
                          s + k->from));
      return j;
    }
    if (j > i + 1 + sign) i = j;
  }
  uint32_t end = scan_blob(s, i);
  const char *word = s + k->from;
  int n = (int)(end - k->from), m = (int)(i - k->from);
  if (end > i && is_letter(s[i]))
    bad(k, end,
        ag_arena_printf(a, "`%.*s`: there is no implicit product, write `%.*s*%.*s`", n, word, m, word,
                        is_degrees(s + i, end - i) ? 3 : (int)(end - i), s + i));
  else if (end > i) bad(k, end, ag_arena_printf(a, "`%.*s` is not a number", n, word));
  else {
    k->len = i - k->from;
    k->number = strtod(word, NULL);
    bool zero = true;
    for (uint32_t j = k->from; j < i && s[j] != 'e' && s[j] != 'E'; j++) zero = zero && (s[j] == '0' || s[j] == '.');
    if (!isfinite(k->number) || (k->number == 0 && !zero))
      bad(k, i,
          ag_arena_printf(a, "the number `%.40s` is out of range (about 1e-308 to 1e308)",
                          ag_arena_strn(a, word, (size_t)m)));
  }
  return end;
}

static uint32_t lex_string(const char *s, ag_token *k) {
  uint32_t i = k->from + 1;
  for (; s[i] && s[i] != '\n'; i++) {
    if (s[i] != '"') continue;
    if (s[i + 1] != '"') {
      k->kind = AG_TOKEN_STRING;
      k->len = i + 1 - k->from;
      return i + 1;
    }
    i++; /* a doubled quote is a quote in the text */
  }
  if (s[i - 1] == '\r') i--;
  bad(k, i, "the string is not closed on its line");
  return i;
}

/* An invalid character, or a run of invalid characters of the same kind. */
static uint32_t lex_junk(ag_arena *a, const char *s, ag_token *k) {
  const char *at = s + k->from;
  uint32_t n = (uint32_t)ag_utf8_length(at, 4);
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
    if (strncmp(at, habits[i].is, strlen(habits[i].is))) continue;
    n = (uint32_t)strlen(habits[i].is);
    bad(k, k->from + n, ag_arena_printf(a, "unexpected `%s`: %s", habits[i].is, habits[i].hint));
    return k->from + n;
  }
  bool plain = (unsigned char)*at < 0x80;
  bad(k, k->from + n,
      ag_arena_printf(a,
                      plain ? "unexpected `%.*s`"
                            : "unexpected `%.*s`: names are made of the letters a to z and A to Z, "
                              "digits and _",
                      (int)n, at));
  return k->from + n;
}

static uint32_t lex_symbol(ag_arena *a, const char *s, ag_token *k) {
  if (!strncmp(s + k->from, "**", 2)) return lex_junk(a, s, k);
  for (int kind = AG_TOKEN_STRING + 1; kind < AG_TOKEN_COUNT; kind++) {
    uint32_t n = (uint32_t)strlen(token_text[kind]);
    if (strncmp(s + k->from, token_text[kind], n)) continue;
    k->kind = (uint8_t)kind;
    k->len = n;
    return k->from + n;
  }
  return lex_junk(a, s, k);
}

static uint32_t lex_one(ag_arena *a, const char *s, ag_token *k) {
  uint32_t i = k->from;
  if (is_letter(s[i]) || s[i] == '_') {
    while (is_word(s[i]) || (s[i] == '.' && is_letter(s[i + 1]))) i++; /* `stone.R` is one name */
    k->kind = AG_TOKEN_NAME;
    k->len = i - k->from;
    if (k->len > MAX_NAME)
      bad(k, i,
          ag_arena_printf(a, "the name `%.20s...` has %d characters; a name has at most %d", s + k->from, (int)k->len,
                          MAX_NAME));
    else if (s[k->from] == '_')
      bad(k, i, ag_arena_printf(a, "`%.*s`: a name starts with a letter", (int)k->len, s + k->from));
    return i;
  }
  if (is_digit(s[i]) || (s[i] == '.' && is_digit(s[i + 1]))) {
    k->kind = AG_TOKEN_NUMBER;
    return lex_number(a, s, k);
  }
  if (s[i] == '"') return lex_string(s, k);
  return lex_symbol(a, s, k);
}

void ag_lex_split(ag_arena *a, const char *text, bool whole, ag_tokens *out) {
  *out = (ag_tokens){.text = text};
  uint32_t i = strncmp(text, byte_order_mark, 3) ? 0 : 3, line_start = i; /* a byte order mark is skipped */
  int line = 1;
  bool fresh = true;
  for (;;) {
    while (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') i++;
    if (text[i] == '#')
      while (text[i] && text[i] != '\n') i++;
    if (text[i] == '\n') {
      line_start = ++i;
      line++;
      fresh = true;
      continue;
    }
    AG_PUSH(out->at, out->n, out->cap);
    ag_token *k = &out->at[out->n++];
    *k = (ag_token){.kind = AG_TOKEN_END, .line = line, .col = (int)(i - line_start) + 1, .from = i, .len = 0};
    k->fresh = fresh;
    k->first = whole && i == line_start;
    fresh = false;
    if (!text[i]) return;
    i = lex_one(a, text, k);
  }
}

void ag_lex_done(ag_tokens *t) {
  free(t->at);
  *t = (ag_tokens){0};
}

void ag_lex_name(ag_token_kind kind, ag_text *out) {
  if (kind <= AG_TOKEN_STRING) ag_text_str(out, token_text[kind]);
  else ag_text_printf(out, "`%s`", token_text[kind]);
}
