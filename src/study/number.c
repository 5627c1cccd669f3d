/* SPDX-License-Identifier: MIT
 * Numbers of the command line and of tables: decimals, read at once, and constant expressions of the model language
 * such as 2*pi, sqrt(2) or 20*deg. Nothing else that strtod would read (hex, inf, nan, leading garbage) is a number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "study/study.h"

static const char *skip_digits(const char *s) { return s + strspn(s, "0123456789"); }

/* Is it [sign] digits [. digits] [e [sign] digits], between blanks? */
static bool is_decimal(const char *s) {
  s += strspn(s, " ");
  s += *s == '-' || *s == '+';
  const char *start = s;
  s = skip_digits(s);
  bool digits = s > start;
  if (*s == '.') start = ++s, s = skip_digits(s), digits = digits || s > start;
  if (digits && (*s == 'e' || *s == 'E')) {
    s += 1 + (s[1] == '-' || s[1] == '+');
    start = s;
    s = skip_digits(s);
    digits = s > start;
  }
  return digits && !s[strspn(s, " ")];
}

/* An expression of the language, in a model that has no names. */
static bool read_expression(const char *s, double *value, ag_text *why) {
  if (strpbrk(s, "#\n")) return false; /* no comments here */
  ag_ctx ctx = {0};
  ag_model *nothing = ag_model_create("");
  ag_id x;
  bool good = ag_lang_expression(&ctx, nothing, "", s, 0, strlen(s), &x) == AG_OK &&
              ag_constant(ag_model_graph(nothing), x, value);
  if (!good && why && ctx.n_diag) ag_text_str(why, ctx.diags[0].message);
  ag_model_free(nothing);
  ag_ctx_done(&ctx);
  return good;
}

bool ag_number_read(const char *s, double *value, ag_text *why) {
  double v = is_decimal(s) ? strtod(s, NULL) : 0;
  if (!is_decimal(s) && !read_expression(s, &v, why)) return false;
  if (!isfinite(v)) return false;
  *value = v;
  return true;
}

bool ag_number_parse(const char *s, double *value) { return ag_number_read(s, value, NULL); }
