/* SPDX-License-Identifier: MIT
 * Widths and line breaks of formulas in LaTeX. */
#include "mech/sheet.h"
#include "tests/check.h"

static double width(const char *tex) { return ag_tex_width(tex, strlen(tex)); }

static void check_widths(void) {
  AG_CHECK(width("") == 0 && width("{}") == 0);
  AG_CHECK(width("ab") > width("a") && width("a_{b}") < width("ab"));
  AG_CHECK(width("\\alpha") < width("alpha")); /* one letter */
  AG_CHECK(width("\\boldsymbol{a}") == width("a"));
  AG_CHECK(width("\\frac{a + b}{c}") < width("a + b") + width("c"));
  AG_CHECK(width("\\frac{a + b}{c}") == width("\\frac{c}{a + b}"));
  AG_CHECK(width("\\begin{pmatrix}a + b \\\\ c\\end{pmatrix} d") ==
           width("\\begin{pmatrix}c \\\\ a + b\\end{pmatrix}") + width("d"));
  AG_CHECK(width("\\begin{pmatrix}a + b & 0 \\\\ 0 & c + d\\end{pmatrix}") > 2 * width("a + b"));
  AG_CHECK(width("\\begin{pmatrix}\\begin{pmatrix}a \\\\ b\\end{pmatrix} \\\\ c\\end{pmatrix} d") <
           2 * width("\\begin{pmatrix}aa\\end{pmatrix}"));
}

/* The lines of a broken formula: their number, and the widest. */
static int lines(const char *tex, double limit, double *widest) {
  ag_text out = {0};
  int n = 0;
  *widest = 0;
  ag_tex_break(tex, limit, &out);
  for (const char *s = ag_text_cstr(&out); s; n++) {
    const char *end = strstr(s, " \\\\\n");
    *widest = fmax(*widest, ag_tex_width(s, end ? (size_t)(end - s) : strlen(s)));
    s = end ? end + 4 : NULL;
  }
  ag_text_done(&out);
  return n;
}

/* What is broken is the formula, and nothing else: without the breaks it is there again. */
static void check_whole(const char *tex, double limit) {
  static const char *const added[] = {" \\\\\n&\\quad {}", "\\bigl(", "\\bigr)"}, *const was[] = {"", "\\left(",
                                                                                                  "\\right)"};
  ag_text out = {0}, back = {0};
  ag_tex_break(tex, limit, &out);
  for (const char *s = out.s; *s;) {
    int k = 0;
    while (k < 3 && strncmp(s, added[k], strlen(added[k]))) k++;
    if (k < 3) ag_text_str(&back, was[k]), s += strlen(added[k]);
    else ag_text_char(&back, *s++);
  }
  AG_CHECK_STR(ag_text_cstr(&back), tex);
  ag_text_done(&out);
  ag_text_done(&back);
}

int main(void) {
  static const char *const sum = "a + b - c + d - e + f + g - h + k + l + m + n",
                           *const product = "x \\left(a + b - c + d - e + f + g - h + k + l + m + n\\right)",
                           *const quotient = "\\frac{a + b - c + d - e + f + g}{h} + k";
  double widest;
  check_widths();
  AG_CHECK(lines(sum, 1000, &widest) == 1 && widest == width(sum));
  for (double limit = 12; limit < 60; limit += 4) {
    /* a break costs the indent of the next line, here as wide as two letters and the brackets of a group */
    AG_CHECK(lines(sum, limit, &widest) >= (int)(width(sum) / limit) && widest <= limit + 3);
    AG_CHECK(lines(product, limit, &widest) >= (int)(width(product) / limit) && widest <= limit + 6);
    check_whole(sum, limit);
    check_whole(product, limit);
    check_whole(quotient, limit);
  }
  AG_CHECK(lines(quotient, 20, &widest) == 2); /* before the sign outside; a fraction is not broken */
  AG_CHECK(lines("a", 0.1, &widest) == 1);     /* what cannot be broken stays whole */
  return ag_check_report();
}
