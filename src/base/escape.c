/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <string.h>

size_t ag_utf8_length(const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text;
  if (!n) return 0;
  if (s[0] < 0x80) return 1;
  size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4 || length > n) return 0;
  for (size_t i = 1; i < length; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return length;
}

/* The code point of a valid character. */
static unsigned long code_of(const char *text, size_t length) {
  const unsigned char *s = (const unsigned char *)text;
  unsigned long c = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) c = c << 6 | (s[i] & 0x3fu);
  return c;
}

bool ag_utf8_controls(const char *s, size_t length) {
  static const unsigned long ranges[][2] = {
      {0x00, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c},   /* C0, DEL and C1; Arabic letter mark */
      {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x206f},   /* directions, separators, embeddings, isolates */
      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}, /* byte order mark, annotations, tags */
  };
  unsigned long c = code_of(s, length);
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
  return false;
}

/* What stands for a character in one kind of output. */
typedef struct replacement {
  const char *is, *by;
} replacement;

/* How a control character is written; one that is not valid UTF-8 has length 0. */
typedef void put_control(ag_text *out, const char *s, size_t length);

typedef struct escape {
  put_control *control;     /* NULL: as <U+202E>, escaped itself */
  const replacement *table; /* ends with NULL */
} escape;

static void escape_text(ag_text *out, const char *s, const escape *how);

static void put_marked(ag_text *out, const char *s, size_t length, const escape *how) {
  ag_text mark = {0};
  if (length) ag_text_printf(&mark, "<U+%04lX>", code_of(s, length));
  else ag_text_printf(&mark, "<0x%02x>", (unsigned char)*s);
  escape_text(out, ag_text_cstr(&mark), how);
  ag_text_done(&mark);
}

static void escape_text(ag_text *out, const char *s, const escape *how) {
  size_t left = strlen(s);
  while (left) {
    const replacement *r = how->table;
    while (r->is && *r->is != *s) r++;
    size_t n = r->is ? 1 : ag_utf8_length(s, left);
    if (r->is) ag_text_str(out, r->by);
    else if (n && !ag_utf8_controls(s, n)) ag_text_strn(out, s, n);
    else if (how->control) how->control(out, s, n);
    else put_marked(out, s, n, how);
    n = n ? n : 1;
    s += n, left -= n;
  }
}

static void put_backslash(ag_text *out, const char *s, size_t length) {
  unsigned long c = length ? code_of(s, length) : 0;
  if (c == '\n') ag_text_str(out, "\\n");
  else if (c == '\t') ag_text_str(out, "\\t");
  else if (length < 2) ag_text_printf(out, "\\x%02x", (unsigned char)*s);
  else ag_text_printf(out, c > 0xffff ? "\\U%08lx" : "\\u%04lx", c);
}

static void put_octal(ag_text *out, const char *s, size_t length) {
  for (size_t i = 0; i < (length ? length : 1); i++) ag_text_printf(out, "\\%03o", (unsigned char)s[i]);
}

static void put_json(ag_text *out, const char *s, size_t length) {
  unsigned long c = length ? code_of(s, length) : 0xfffd;
  if (!length) ag_text_str(out, "\xef\xbf\xbd");
  else if (c > 0xffff) ag_text_printf(out, "\\u%04lx\\u%04lx", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
  else ag_text_printf(out, "\\u%04lx", c);
}

void ag_escape_plain(ag_text *out, const char *s) {
  static const replacement none[] = {{NULL, NULL}};
  escape_text(out, s, &(escape){put_backslash, none});
}

void ag_escape_lines(ag_text *out, const char *s) {
  static const replacement table[] = {{"\n", "\n"}, {"\t", "\t"}, {NULL, NULL}};
  escape_text(out, s, &(escape){put_backslash, table});
}

/* A blank parts the pairs that begin or end a comment or make a trigraph; a backslash is not the last character. */
void ag_escape_c_comment(ag_text *out, const char *s) {
  static const replacement none[] = {{NULL, NULL}};
  static const char *const pairs[] = {"*/", "/*", "??"};
  ag_text parted = {0};
  for (; *s; s++) {
    ag_text_char(&parted, *s);
    for (int k = 0; k < 3; k++)
      if (!strncmp(s, pairs[k], 2)) ag_text_char(&parted, ' ');
    if (*s == '\\' && !s[1]) ag_text_char(&parted, '.');
  }
  escape_text(out, ag_text_cstr(&parted), &(escape){NULL, none});
  ag_text_done(&parted);
}

void ag_escape_c_string(ag_text *out, const char *s) {
  static const replacement table[] = {{"\"", "\\\""}, {"\\", "\\\\"}, {"?", "\\?"}, {NULL, NULL}};
  escape_text(out, s, &(escape){put_octal, table});
}

void ag_escape_latex(ag_text *out, const char *s) {
  static const replacement table[] = {
      {"\\", "\\textbackslash{}"},
      {"{", "\\{"},
      {"}", "\\}"},
      {"$", "\\$"},
      {"&", "\\&"},
      {"#", "\\#"},
      {"_", "\\_"},
      {"%", "\\%"},
      {"^", "\\textasciicircum{}"},
      {"~", "\\textasciitilde{}"},
      {"<", "\\textless{}"},
      {">", "\\textgreater{}"},
      {"|", "\\textbar{}"},
      {"\"", "\\textquotedbl{}"},
      {NULL, NULL},
  };
  escape_text(out, s, &(escape){NULL, table});
}

void ag_escape_html(ag_text *out, const char *s) {
  static const replacement table[] = {{"&", "&amp;"}, {"<", "&lt;"},  {">", "&gt;"}, {"\"", "&quot;"},
                                      {"'", "&#39;"}, {"`", "&#96;"}, {NULL, NULL}};
  escape_text(out, s, &(escape){NULL, table});
}

void ag_escape_gnuplot(ag_text *out, const char *s) {
  static const replacement table[] = {{"'", "''"}, {NULL, NULL}};
  escape_text(out, s, &(escape){NULL, table});
}

void ag_escape_json(ag_text *out, const char *s) {
  static const replacement table[] = {{"\"", "\\\""}, {"\\", "\\\\"}, {"\n", "\\n"}, {NULL, NULL}};
  escape_text(out, s, &(escape){put_json, table});
}
