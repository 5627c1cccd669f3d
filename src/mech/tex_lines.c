/* SPDX-License-Identifier: MIT
 * Widths and line breaks of formulas in LaTeX, as ag_print_formula writes them. */
#include <ctype.h>
#include <string.h>

#include "mech/sheet.h"

/* End of the group that begins with { at i. */
static size_t group_end(const char *s, size_t n, size_t i) {
  int depth = 0;
  for (; i < n; i++) {
    if (s[i] == '{') depth++;
    if (s[i] == '}' && --depth == 0) return i + 1;
  }
  return n;
}

static double word_width(const char *word, size_t n) {
  static const struct {
    const char *word;
    double width;
  } words[] = {{"sin", 1.9},      {"cos", 2.0},  {"tan", 2.1}, {"left", 0}, {"right", 0},
               {"mathrm", 0},     {"mathit", 0}, {"dot", 0},   {"ddot", 0}, {"times", 2.4},
               {"boldsymbol", 0}, {"mathsf", 0}, {"begin", 0}, {"end", 0}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strlen(words[k].word) == n && !memcmp(words[k].word, word, n)) return words[k].width;
  return 1.2;
}

static const char begin_matrix[] = "\\begin{pmatrix}", end_matrix[] = "\\end{pmatrix}";

/* A matrix at s: the widest entries of its columns, with its brackets. *after: where it ends. */
static double matrix_width(const char *s, size_t n, size_t *after) {
  enum { COLUMNS = 16 };
  double widest[COLUMNS] = {0}, sum = 2;
  size_t entry = sizeof begin_matrix - 1, i = entry;
  int column = 0, depth = 0; /* depth: of matrices inside */
  for (; i < n; i++) {
    const bool ends = !strncmp(s + i, end_matrix, sizeof end_matrix - 1), next = !strncmp(s + i, "\\\\", 2);
    if (!strncmp(s + i, begin_matrix, sizeof begin_matrix - 1)) depth++;
    if (depth == 0 && (ends || next || s[i] == '&')) {
      const double width = ag_tex_width(s + entry, i - entry);
      if (width > widest[column]) widest[column] = width;
      column = next ? 0 : column + 1 < COLUMNS ? column + 1 : column;
      entry = i + 1 + next;
    }
    i += next;
    if (ends && depth-- == 0) break;
  }
  for (int k = 0; k < COLUMNS; k++) sum += widest[k] > 0 ? widest[k] + 1 : 0;
  *after = i + sizeof end_matrix - 1 < n ? i + sizeof end_matrix - 1 : n;
  return sum;
}

double ag_tex_width(const char *s, size_t n) {
  double width = 0;
  for (size_t i = 0; i < n;) {
    size_t start = i, end;
    if (n - i > sizeof begin_matrix && !memcmp(s + i, begin_matrix, sizeof begin_matrix - 1)) {
      width += matrix_width(s + i, n - i, &end);
      i += end;
    } else if (s[i] == '\\' && i + 1 < n && isalpha((unsigned char)s[i + 1])) {
      for (i++; i < n && isalpha((unsigned char)s[i]); i++) continue;
      if (i - start == 5 && !memcmp(s + start, "\\frac", 5)) {
        size_t middle = group_end(s, n, i);
        end = group_end(s, n, middle);
        double over = ag_tex_width(s + i, middle - i), under = ag_tex_width(s + middle, end - middle);
        width += (over > under ? over : under) + 0.5;
        i = end;
      } else width += word_width(s + start + 1, i - start - 1);
    } else if (s[i] == '\\') width += 0.35, i += 2;
    else if (s[i] == '_' || s[i] == '^') {
      end = i + 1 < n && s[i + 1] == '{' ? group_end(s, n, i + 1) : i + 2;
      width += 0.7 * ag_tex_width(s + i + 1, end - i - 1);
      i = end;
    } else
      width += s[i] == '{' || s[i] == '}' || s[i] == ' ' ? 0
               : strchr("+-=", s[i])                     ? 2.2
               : strchr("(),.[]", s[i])                  ? 0.8
                                                         : 1.05,
          i++;
  }
  return width;
}

/* A line in the making. */
typedef struct line {
  double width, limit;
  ag_text *out;
} line;

/* How the nesting of brackets and groups changes at s. */
static int deeper(const char *s) {
  if (*s == '{' || !strncmp(s, "\\left", 5) || !strncmp(s, "\\begin{", 7)) return 1;
  return *s == '}' || !strncmp(s, "\\right", 6) || !strncmp(s, "\\end{", 5) ? -1 : 0;
}

static size_t open_parenthesis(const char *s, size_t n) {
  int depth = 0;
  for (size_t i = 0; i < n; depth += deeper(s + i), i++)
    if (depth == 0 && !strncmp(s + i, "\\left(", 6)) return i;
  return n;
}

static size_t closed_parenthesis(const char *s, size_t n, size_t i) {
  for (int depth = 0; i < n; i++)
    if ((depth += deeper(s + i)) == 0) return i;
  return n;
}

static void put_terms(line *l, const char *s, size_t n);

/* One term: on the next line when it does not fit; over several lines, inside its parentheses, when it never would. */
static void put_term(line *l, const char *s, size_t n) {
  double width = ag_tex_width(s, n);
  size_t open = open_parenthesis(s, n), close = open < n ? closed_parenthesis(s, n, open) : n;
  if (l->width > 0 && l->width + (width < l->limit ? width : ag_tex_width(s, open) + 8) > l->limit) {
    ag_text_str(l->out, " \\\\\n&\\quad {}");
    l->width = 2;
  }
  if (width <= l->limit - 2 || close + 7 > n) {
    ag_text_strn(l->out, s, n);
    l->width += width;
    return;
  }
  ag_text_strn(l->out, s, open);
  ag_text_str(l->out, "\\bigl(");
  l->width += ag_tex_width(s, open) + 1;
  put_terms(l, s + open + 6, close - open - 6);
  ag_text_str(l->out, "\\bigr)");
  l->width += 1;
  if (close + 7 < n) put_term(l, s + close + 7, n - close - 7);
}

static void put_terms(line *l, const char *s, size_t n) {
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    depth += deeper(s + i);
    if (i == from || depth || (s[i] != '+' && s[i] != '-')) continue;
    put_term(l, s + from, i - from);
    from = i;
  }
  if (n > from) put_term(l, s + from, n - from);
}

void ag_tex_break(const char *tex, double limit, ag_text *out) {
  line l = {0, limit, out};
  put_terms(&l, tex, strlen(tex));
}
