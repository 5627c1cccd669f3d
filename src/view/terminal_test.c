/* SPDX-License-Identifier: MIT
 * Figures in the terminal: dots where the numbers are, lines no wider than asked for. */
#include "tests/view_lab.h"

static int width_of(const char *s, size_t n) {
  int w = 0;
  for (size_t i = 0; i < n; i++) w += ((unsigned char)s[i] & 0xc0) != 0x80;
  return w;
}

static void draw(const char *text, const ag_figure_request *o, ag_text *out) {
  ag_source *s = lab_source(text);
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, o, &trouble) == AG_OK);
  ag_terminal_draw(&f, 60, false, out);
  ag_figure_done(&f);
  ag_source_free(s);
  ag_text_done(&trouble);
}

int main(void) {
  ag_text out = {0};
  draw("t,x\n0,0\n1,1\n", &(ag_figure_request){.title = "A line"}, &out);
  for (const char *s = out.s; *s; s += strcspn(s, "\n") + 1) AG_CHECK(width_of(s, strcspn(s, "\n")) <= 60);
  AG_CHECK(!strncmp(out.s, "A line\nx\n", 9));
  const char *top = strstr(out.s, "1 ┤"), *bottom = strstr(out.s, "0 ┤");
  AG_CHECK(top && bottom && top < bottom);
  /* rising: the first line has its dots at the right, the last one at the left */
  if (top && bottom) AG_CHECK(strspn(top + 5, " ") > 40 && strspn(bottom + 5, " ") == 0);
  AG_CHECK(!strchr(out.s, '\x1b'));
  ag_text_clear(&out);
  draw(lab_motion, &(ag_figure_request){.y = "x,spin"}, &out);
  AG_CHECK(strstr(out.s, "x: x₁, x₂\n") && strstr(out.s, "spin\n"));
  ag_text_done(&out);
  unlink(lab_file("t\n"));
  return ag_check_report();
}
