/* SPDX-License-Identifier: MIT
 * Figures in a terminal. A character of Braille holds 2 x 4 dots. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

enum { ROWS_ALONE = 20, ROWS_STACKED = 7, LEFT = 11 };

typedef struct canvas {
  int cols, rows;
  unsigned char *dots; /* per character: the bits of Braille */
  signed char *colour; /* per character: of the last curve there, -1: none */
  double x0, x1, y0, y1;
  bool log_x, log_y;
} canvas;

static void put_dot(canvas *c, long i, long k, int colour) {
  static const unsigned char bit[4][2] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
  if (i < 0 || k < 0 || i >= 2L * c->cols || k >= 4L * c->rows) return;
  size_t at = (size_t)(k / 4 * c->cols + i / 2);
  c->dots[at] |= bit[k % 4][i % 2];
  c->colour[at] = (signed char)colour;
}

static double place_x(const canvas *c, double x) { return (x - c->x0) / (c->x1 - c->x0) * (2 * c->cols - 1); }
static double place_y(const canvas *c, double y) { return (c->y1 - y) / (c->y1 - c->y0) * (4 * c->rows - 1); }

static void put_line(canvas *c, double x0, double y0, double x1, double y1, int colour) {
  long n = (long)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
  if (n < 1) n = 1;
  for (long i = 0; i <= n; i++) {
    double s = (double)i / (double)n;
    put_dot(c, lround(x0 + s * (x1 - x0)), lround(y0 + s * (y1 - y0)), colour);
  }
}

static void put_curve(canvas *c, const ag_curve *curve, bool joined) {
  bool before = false;
  double x = 0, y = 0;
  for (long i = 0; i < curve->n; i++) {
    double height = c->log_y ? log10(curve->y[i]) : curve->y[i];
    double along = c->log_x ? log10(curve->x[i]) : curve->x[i];
    bool number = isfinite(along) && isfinite(height);
    double x1 = number ? place_x(c, along) : 0, y1 = number ? place_y(c, height) : 0;
    if (number && before && joined) put_line(c, x, y, x1, y1, curve->colour);
    else if (number) put_dot(c, lround(x1), lround(y1), curve->colour);
    before = number, x = x1, y = y1;
  }
}

static void find_ranges(canvas *c, const ag_panel *p) {
  c->x0 = c->y0 = INFINITY, c->x1 = c->y1 = -INFINITY;
  for (int k = 0; k < p->n_curve; k++)
    for (long i = 0; i < p->curves[k].n; i++) {
      double x = p->log_x ? log10(p->curves[k].x[i]) : p->curves[k].x[i],
             y = p->log_y ? log10(p->curves[k].y[i]) : p->curves[k].y[i];
      if (!isfinite(x) || !isfinite(y)) continue;
      c->x0 = fmin(c->x0, x), c->x1 = fmax(c->x1, x), c->y0 = fmin(c->y0, y), c->y1 = fmax(c->y1, y);
    }
  if (!(c->x1 > c->x0)) c->x0 -= 0.5, c->x1 += 0.5;
  if (!c->log_y) ag_flat_range(p->quiet, &c->y0, &c->y1);
  if (!(c->y1 > c->y0)) c->y0 -= 0.5, c->y1 += 0.5;
}

static void put_rows(const canvas *c, bool colour, ag_text *out) {
  static const char *const codes[] = {"34", "33", "32", "35", "36", "31", "39"};
  for (int r = 0; r < c->rows; r++) {
    double y = r == 0 ? c->y1 : r == c->rows - 1 ? c->y0 : NAN;
    if (isnan(y)) ag_text_printf(out, "%*s │", LEFT - 2, "");
    else if (c->log_y) ag_text_printf(out, "%*.3g ┤", LEFT - 2, pow(10, y));
    else ag_text_printf(out, "%*.4g ┤", LEFT - 2, y);
    int now = -1;
    for (int i = 0; i < c->cols; i++) {
      size_t at = (size_t)(r * c->cols + i);
      unsigned d = c->dots[at];
      int want = d ? c->colour[at] % 7 : -1;
      if (colour && want != now) ag_text_printf(out, "\x1b[%sm", want < 0 ? "39" : codes[want]);
      now = want;
      char braille[] = {(char)0xe2, (char)(0xa0 + d / 64), (char)(0x80 + d % 64), 0};
      ag_text_str(out, d ? braille : " ");
    }
    if (colour && now >= 0) ag_text_str(out, "\x1b[39m");
    while (out->n && out->s[out->n - 1] == ' ') out->s[--out->n] = 0;
    ag_text_char(out, '\n');
  }
}

static void put_unit(const char *unit, ag_text *out) {
  if (!unit || !*unit) return;
  ag_text_str(out, " (");
  ag_unit_plain(unit, out);
  ag_text_char(out, ')');
}

static void put_heading(const ag_panel *p, ag_text *out) {
  if (p->change_of) {
    ag_text_str(out, "|change of ");
    ag_label_plain(p->change_of, out);
    ag_text_char(out, '|');
  } else {
    ag_label_plain(p->style == AG_STYLE_IMAGE ? p->z : p->y, out);
  }
  put_unit(p->unit[p->style == AG_STYLE_IMAGE ? 2 : 1], out);
  if (p->allowed > 0) ag_text_printf(out, ", tolerance %.0e", p->allowed);
  int n = 0;
  for (int k = 0; p->n_named > 1 && k < p->n_curve; k++) {
    if (p->curves[k].band > 0 || p->curves[k].fine) continue;
    ag_text_str(out, n++ ? ", " : ": ");
    if (p->curves[k].foreign) ag_escape_plain(out, p->curves[k].name);
    else ag_label_plain(p->curves[k].name, out);
  }
  ag_text_char(out, '\n');
}

static void put_panel(const ag_panel *p, int columns, int rows, bool last, bool colour, ag_text *out) {
  canvas c = {
      .cols = columns - LEFT - 1 > 10 ? columns - LEFT - 1 : 10, .rows = rows, .log_x = p->log_x, .log_y = p->log_y};
  size_t n = (size_t)(c.cols * c.rows);
  c.dots = ag_heap_alloc(n);
  c.colour = ag_heap_alloc(n);
  find_ranges(&c, p);
  for (int k = 0; k < p->n_curve; k++)
    if (p->curves[k].band == 0) put_curve(&c, &p->curves[k], p->style != AG_STYLE_DOTS && p->style != AG_STYLE_IMAGE);
  put_heading(p, out);
  put_rows(&c, colour, out);
  if (last) {
    ag_text from = {0}, to = {0};
    ag_text_printf(&from, "%.4g", c.log_x ? pow(10, c.x0) : c.x0);
    ag_text_printf(&to, "%.4g", c.log_x ? pow(10, c.x1) : c.x1);
    ag_text_printf(out, "%*s└", LEFT - 1, "");
    for (int i = 0; i < c.cols; i++) ag_text_str(out, "─");
    ag_text_printf(out, "\n%*s%s%*s\n%*s", LEFT, "", from.s, c.cols - (int)from.n, to.s, LEFT + c.cols / 2, "");
    ag_label_plain(p->x, out);
    put_unit(p->unit[0], out);
    ag_text_char(out, '\n');
    ag_text_done(&from);
    ag_text_done(&to);
  }
  free(c.dots);
  free(c.colour);
}

void ag_terminal_draw(const ag_figure *f, int columns, bool colour, ag_text *out) {
  if (*f->title) ag_escape_plain(out, f->title), ag_text_char(out, '\n');
  bool shared = ag_shares_axis(f);
  for (int i = 0; i < f->n_panel; i++)
    put_panel(&f->panels[i], columns, f->n_panel > 1 ? ROWS_STACKED : ROWS_ALONE, i == f->n_panel - 1 || !shared,
              colour, out);
  for (int e = 0; e < f->n_marks; e++) {
    const ag_marks *m = &f->marks[e];
    if (!m->n) continue;
    ag_label_plain(m->name, out);
    ag_text_printf(out, ": t = %.6g", m->times[0]);
    for (long i = 1; i < m->n && i < 5; i++) ag_text_printf(out, ", %.6g", m->times[i]);
    if (m->n > 5) ag_text_printf(out, ", … (%ld times)", m->n);
    ag_text_char(out, '\n');
  }
}
