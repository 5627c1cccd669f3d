/* SPDX-License-Identifier: MIT
 * Names of columns as labels of figures. Greek letters that are spelt out become letters, indices subscripts, and so
 * does what follows an underscore after a single letter: x_max, but angular momentum for angular_momentum, and a long
 * name for a_long_name. Where gnuplot sets them, symbols are slanted as in the text of a paper: Latin letters that
 * stand alone and small Greek ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

static const struct {
  const char *name, *letter;
} greek[] = {
    {"alpha", "α"}, {"beta", "β"},  {"gamma", "γ"}, {"delta", "δ"},  {"epsilon", "ε"}, {"zeta", "ζ"}, {"eta", "η"},
    {"theta", "θ"}, {"iota", "ι"},  {"kappa", "κ"}, {"lambda", "λ"}, {"mu", "μ"},      {"nu", "ν"},   {"xi", "ξ"},
    {"pi", "π"},    {"rho", "ρ"},   {"sigma", "σ"}, {"tau", "τ"},    {"phi", "φ"},     {"chi", "χ"},  {"psi", "ψ"},
    {"omega", "ω"}, {"Gamma", "Γ"}, {"Delta", "Δ"}, {"Theta", "Θ"},  {"Lambda", "Λ"},  {"Xi", "Ξ"},   {"Pi", "Π"},
    {"Sigma", "Σ"}, {"Phi", "Φ"},   {"Psi", "Ψ"},   {"Omega", "Ω"},
};

/* A word of n letters: its Greek letter, or NULL. */
static const char *letter_of(const char *s, size_t n) {
  for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
    if (strlen(greek[i].name) == n && !memcmp(greek[i].name, s, n)) return greek[i].letter;
  return NULL;
}

/* Does ":" stand between a number and the next one? */
static bool is_pair(const char *s, size_t n) {
  const char *colon = memchr(s, ':', n);
  return colon && strtol(colon + 1, NULL, 10) - 1 == strtol(s, NULL, 10) && !memchr(s, ',', n);
}

static void put_subscript(ag_text *out, const char *s, size_t n, bool enhanced) {
  static const char *const low[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  bool pair = is_pair(s, n);
  if (enhanced) ag_text_str(out, "_{");
  for (size_t i = 0; i < n; i++) {
    if (s[i] == ':') ag_text_str(out, !pair ? "…" : enhanced ? ", " : ",");
    else if (!enhanced && s[i] >= '0' && s[i] <= '9') ag_text_str(out, low[s[i] - '0']);
    else ag_text_char(out, s[i]);
  }
  if (enhanced) ag_text_char(out, '}');
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* The length of an index "[...]" of digits, commas and colons at s; 0: there is none. */
static size_t index_length(const char *s) {
  if (*s != '[') return 0;
  size_t n = strspn(s + 1, "0123456789,:");
  return n && s[n + 1] == ']' ? n + 2 : 0;
}

static void put_plain(ag_text *out, const char *s, size_t n, bool enhanced) {
  ag_text piece = {0}, safe = {0};
  ag_text_strn(&piece, s, n);
  ag_escape_plain(&safe, ag_text_cstr(&piece));
  for (const char *c = ag_text_cstr(&safe); *c; c++) {
    if (enhanced && strchr("\\{}^_@&~", *c)) ag_text_char(out, '\\');
    ag_text_char(out, *c);
  }
  ag_text_done(&piece);
  ag_text_done(&safe);
}

/* A word of n letters, `letter` if it is a Greek one; alone: no other word touches it. */
static void put_word(ag_text *out, const char *s, size_t n, const char *letter, bool alone, bool enhanced) {
  bool symbol = enhanced && (letter ? *s >= 'a' : n == 1 && alone);
  if (symbol) ag_text_str(out, "{/:Italic ");
  if (letter) ag_text_str(out, letter);
  else put_plain(out, s, n, enhanced);
  if (symbol) ag_text_char(out, '}');
}

/* x[1][2] has the subscript 1,2. *n: characters of the first index, then of all of them. */
static void put_indices(const char *s, size_t *n, bool enhanced, ag_text *out) {
  ag_text all = {0};
  ag_text_strn(&all, s + 1, *n - 2);
  for (size_t more; (more = index_length(s + *n)); *n += more) {
    ag_text_char(&all, ',');
    ag_text_strn(&all, s + *n + 1, more - 2);
  }
  put_subscript(out, all.s, all.n, enhanced);
  ag_text_done(&all);
}

/* "_" after `word` letters (`letter`: they are a Greek one): a subscript, of which *n characters are taken, or a space.
 */
static void put_underscore(const char *s, size_t word, const char *letter, bool enhanced, ag_text *out, size_t *n) {
  size_t low = 0;
  while (is_letter(s[1 + low]) || (s[1 + low] >= '0' && s[1 + low] <= '9')) low++;
  bool index = low && (letter || word == 1) && s[1 + low] != '_', subscript = enhanced && index;
  *n = subscript ? 1 + low : 1;
  if (subscript) {
    ag_text_str(out, "_{");
    put_word(out, s + 1, low, letter_of(s + 1, low), is_letter(s[1]), true);
    ag_text_char(out, '}');
  } else if (index || !low) put_plain(out, s, 1, enhanced);
  else ag_text_char(out, ' ');
}

/* Is the ASCII letter at s a word of its own? Letters of other alphabets and digits before it belong to its word. */
static bool is_alone(const char *name, const char *s) {
  const unsigned char before = s > name ? (unsigned char)s[-1] : ' ', after = (unsigned char)s[1];
  return before < 0x80 && after < 0x80 && !(before >= '0' && before <= '9');
}

bool ag_label_prime(const char *text, const char *at) {
  const char *s = at;
  while (s > text && (s[-1] == '\'' || (s[-1] >= '0' && s[-1] <= '9'))) s--;
  return s > text && is_letter(s[-1]) && is_alone(text, s - 1) && (s - 1 == text || !is_letter(s[-2])) &&
         !is_letter(at[1]);
}

static void put_label(const char *name, bool enhanced, ag_text *out) {
  for (const char *s = name; *s;) {
    size_t word = 0, index = index_length(s), other = ag_utf8_length(s, strlen(s));
    if (!other) other = 1;
    while (is_letter(s[word])) word++;
    const char *letter = letter_of(s, word);
    if (index) put_indices(s, &index, enhanced, out);
    else if (*s == '\'') ag_text_str(out, "′");
    else if (word) put_word(out, s, word, letter, is_alone(name, s), enhanced);
    else put_plain(out, s, other, enhanced);
    s += index ? index : word ? word : other;
    if (word && *s >= '0' && *s <= '9') { /* I1, theta0 */
      size_t digits = strspn(s, "0123456789");
      if (letter || word == 1) put_subscript(out, s, digits, enhanced);
      else put_plain(out, s, digits, enhanced);
      s += digits;
    } else if (word && *s == '_') {
      size_t n;
      put_underscore(s, word, letter, enhanced, out, &n);
      s += n;
    }
  }
}

/* The bytes of the symbol at s, "m" or "ξ₁", if it is followed by " = "; *letter: those of the letter. 0: it is none.
 */
static size_t symbol_length(const char *s, size_t *letter) {
  static const char low[] = "₀", prime[] = "′";
  const bool small_greek = (unsigned char)s[0] == 0xce ? (unsigned char)s[1] >= 0xb1 : (unsigned char)s[0] == 0xcf;
  *letter = is_letter(*s) ? 1 : small_greek ? 2 : 0;
  size_t n = *letter;
  while (n && (!strncmp(s + n, low, 2) || !strncmp(s + n, prime, 3))) n += 3; /* 0 to 9 differ in the third byte */
  return n && !strncmp(s + n, " = ", 3) ? n : 0;
}

void ag_about_enhanced(const char *line, ag_text *out) {
  size_t letter;
  for (const char *s = line; *s;) {
    const bool begins = s == line || s[-1] == ' ';
    if (begins && symbol_length(s, &letter)) {
      ag_text_printf(out, "{/:Italic %.*s}", (int)letter, s);
      s += letter;
    } else if (*s == '\'') ag_text_str(out, "’"), s++; /* stays inside its quotes */
    else {
      size_t n = ag_utf8_length(s, strlen(s));
      put_plain(out, s, n ? n : 1, true);
      s += n ? n : 1;
    }
  }
}

static const char *const high[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

void ag_number_plain(double v, int digits, ag_text *out) {
  char text[64];
  snprintf(text, sizeof text, "%.*g", digits, fabs(v));
  char *e = strchr(text, 'e');
  if (v < 0) ag_text_str(out, "−");
  if (!e) {
    ag_text_str(out, text);
    return;
  }
  *e++ = 0;
  if (strcmp(text, "1") != 0) ag_text_printf(out, "%s×", text);
  ag_text_str(out, *e == '-' ? "10⁻" : "10");
  for (e += 1 + strspn(e + 1, "0"); *e; e++) ag_text_str(out, high[*e - '0']);
}

/* "^2" and "^-1" are raised. */
static void put_unit(const char *unit, bool enhanced, ag_text *out) {
  while (*unit) {
    size_t sign = *unit == '^' && unit[1] == '-', digits = *unit == '^' ? strspn(unit + 1 + sign, "0123456789") : 0;
    if (!digits) {
      size_t n = 1 + strcspn(unit + 1, "^");
      put_plain(out, unit, n, enhanced);
      unit += n;
      continue;
    }
    unit += 1 + sign;
    if (enhanced) ag_text_printf(out, "^{%s%.*s}", sign ? "−" : "", (int)digits, unit);
    else if (sign) ag_text_str(out, "⁻");
    for (size_t i = 0; !enhanced && i < digits; i++) ag_text_str(out, high[unit[i] - '0']);
    unit += digits;
  }
}

void ag_unit_enhanced(const char *unit, ag_text *out) {
  ag_text safe = {0};
  put_unit(unit, true, &safe);
  for (const char *s = ag_text_cstr(&safe); *s; s++) {
    if (*s == '\'') ag_text_str(out, "′"); /* stays inside its quotes */
    else ag_text_char(out, *s);
  }
  ag_text_done(&safe);
}
void ag_unit_plain(const char *unit, ag_text *out) { put_unit(unit, false, out); }

void ag_label_enhanced(const char *name, ag_text *out) { put_label(name, true, out); }
void ag_label_plain(const char *name, ag_text *out) { put_label(name, false, out); }
