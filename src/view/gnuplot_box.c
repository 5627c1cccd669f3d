/* SPDX-License-Identifier: MIT
 * Curves in space. The box is projected here and drawn with lines and labels of a plane plot, so that numbers and names
 * stand where there is room for them whatever the box looks like. x runs to the right and to the front, y to the right
 * and to the back, z upwards from the left corner. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/gnuplot_internal.h"

static const double turn = 32, tilt = 62; /* degrees: about the vertical, and from above */

/* Widest number of the tics of an axis, in characters. */
static int number_width(const ag_box *s, int a) {
  int widest = 1;
  for (double k = ceil(s->lo[a] / s->step[a]); k * s->step[a] <= s->hi[a]; k++) {
    char text[64];
    int n = snprintf(text, sizeof text, "%.6g", k * s->step[a]);
    widest = n > widest ? n : widest;
  }
  return widest;
}

static double name_width(const ag_panel *p, int a, double font) {
  const char *const names[] = {p->x, p->y, p->z}, *unit = p->unit[a];
  return (ag_characters(names[a]) + (unit && *unit ? ag_characters(unit) + 3 : 0)) * 0.58 * font;
}

/* The numbers of all curves, a little more than that; where all axes have one scale, no side is much shorter than the
 * longest: its numbers need room. */
static void find_ranges(const ag_panel *p, ag_box *s, double *side) {
  double longest = 0;
  for (int a = 0; a < 3; a++) {
    double lo = INFINITY, hi = -INFINITY;
    for (int k = 0; k < p->n_curve; k++) {
      const ag_curve *c = &p->curves[k];
      const double *v = a == 0 ? c->x : a == 1 ? c->y : c->z;
      for (long i = 0; i < c->n; i++)
        if (isfinite(v[i])) lo = fmin(lo, v[i]), hi = fmax(hi, v[i]);
    }
    if (!(hi >= lo)) lo = hi = 0;
    if (!(hi - lo > 1e-12 * fmax(fabs(lo), fabs(hi)))) {
      double size = fmax(fabs(lo), fabs(hi)), half = size > 0 ? 0.05 * size : 1;
      lo -= half, hi += half;
    }
    s->lo[a] = lo, s->hi[a] = hi;
    longest = fmax(longest, hi - lo);
  }
  for (int a = 0; a < 3; a++) {
    double extent = s->hi[a] - s->lo[a], middle = s->lo[a] + extent / 2;
    if (p->equal) extent = fmax(extent, 0.25 * longest);
    s->lo[a] = middle - 0.53 * extent, s->hi[a] = middle + 0.53 * extent;
    side[a] = p->equal ? extent / longest : a == 2 ? 0.8 : 1;
  }
}

/* How far apart two numbers of an axis must be: along x they stand beside each other. */
static double number_room(const ag_box *s, int a) {
  return a == 0 ? (0.6 * number_width(s, 0) + 0.8) * s->font : 1.2 * s->font;
}

static int tics_of(const ag_box *s, int a) {
  return (int)(floor(s->hi[a] / s->step[a]) - ceil(s->lo[a] / s->step[a])) + 1;
}

/* About four tics along an axis, as many as there is room for, at least one; two, even if they are a little close: one
 * number alone is no scale. */
static void find_steps(ag_box *s) {
  for (int a = 0; a < 3; a++) {
    double length = a == 0 ? s->u[0] : s->v[a], extent = s->hi[a] - s->lo[a], n = 4;
    for (; n > 0.3; n *= 0.7) {
      s->step[a] = ag_tic_step(s->lo[a], s->hi[a], n);
      if (s->step[a] / extent * length >= number_room(s, a)) break;
    }
    for (; n < 20 && tics_of(s, a) < 1; n *= 1.4) s->step[a] = ag_tic_step(s->lo[a], s->hi[a], n);
    const double one = s->step[a];
    for (; n < 20 && tics_of(s, a) < 2; n *= 1.4) s->step[a] = ag_tic_step(s->lo[a], s->hi[a], n);
    if (s->step[a] / extent * length < 0.8 * number_room(s, a)) s->step[a] = one;
  }
}

/* How high curves and axes reach above the lowest corner, */
static double highest(const ag_panel *p, const ag_box *s) {
  double top = fmax(s->v[2], s->v[1]) - s->v[0];
  for (int k = 0; k < p->n_curve; k++)
    for (long i = 0; i < p->curves[k].n; i++) {
      const double at[3] = {p->curves[k].x[i], p->curves[k].y[i], p->curves[k].z[i]};
      double v = -s->v[0];
      for (int a = 0; a < 3; a++) v += s->v[a] * (at[a] - s->lo[a]) / (s->hi[a] - s->lo[a]);
      if (isfinite(v)) top = fmax(top, v);
    }
  return top;
}

void ag_box_make(const ag_panel *p, double width, double most, double font, ag_box *s) {
  const double degree = acos(-1.0) / 180, c = cos(turn * degree), d = sin(turn * degree), flat = cos(tilt * degree);
  const double right[3] = {c, d, 0}, up[3] = {-d * flat, c * flat, sin(tilt * degree)};
  double side[3], wide = 0, high = 0;
  *s = (ag_box){.font = font, .left = 2 * font, .right = 2 * font};
  find_ranges(p, s, side);
  for (int a = 0; a < 3; a++) wide += side[a] * right[a], high += side[a] * fabs(up[a]);
  for (int round = 0; round < 6; round++) { /* the room for numbers follows from the size, and the size from it */
    double size = fmin((width - s->left - s->right) / wide, fmax(most, font) / high);
    for (int a = 0; a < 3; a++) s->u[a] = size * side[a] * right[a], s->v[a] = size * side[a] * up[a];
    s->width = size * wide;
    find_steps(s);
    if (round == 5) break;
    double numbers = (0.6 * number_width(s, 1) + 1) * font, half = s->u[1] / 2;
    s->left = fmax(s->left, (0.6 * number_width(s, 2) + 1.4) * font);
    s->left = fmax(s->left, name_width(p, 0, font) - s->u[0] / 2);
    s->right = fmax(s->right, fmax(numbers, numbers + 0.8 * font + name_width(p, 1, font) - half));
  }
  s->bottom = -s->v[0], s->height = highest(p, s);
  double rest = width - s->left - s->right - s->width;
  if (rest > 0) s->left += rest / 2, s->right += rest / 2;
}

/* ---- axes ---- */

static void put_line(double x0, double y0, double x1, double y1, const char *look, ag_text *out) {
  ag_text_printf(out, "set arrow from %.3f,%.3f to %.3f,%.3f nohead back linewidth 0.7 linecolor rgb '%s'\n", x0, y0,
                 x1, y1, look);
}

/* Where a part of the axis lies: x from the origin, y from the end of x, z from the origin. */
static void on_axis(const ag_box *s, int a, double part, double *x, double *y) {
  *x = part * s->u[a] + (a == 1 ? s->u[0] : 0);
  *y = s->bottom + part * s->v[a] + (a == 1 ? s->v[0] : 0);
}

static void put_tics(const ag_box *s, int a, ag_text *out) {
  static const char *const sides[] = {"center", "left", "right"};
  static const double mark[3][2] = {{-0.1, -0.35}, {0.3, -0.15}, {-0.35, 0}};  /* in letters */
  static const double number[3][2] = {{-0.2, -1.1}, {0.6, -0.55}, {-0.7, -0}}; /* of the number */
  double length = hypot(s->u[a], s->v[a]);
  bool only = floor(s->hi[a] / s->step[a]) == ceil(s->lo[a] / s->step[a]);
  for (double k = ceil(s->lo[a] / s->step[a]); k * s->step[a] <= s->hi[a]; k++) {
    double part = (k * s->step[a] - s->lo[a]) / (s->hi[a] - s->lo[a]), x, y;
    bool corner = (a == 0 && (1 - part) * length < 1.2 * s->font) || (a == 1 && part * length < 1.2 * s->font);
    on_axis(s, a, part, &x, &y);
    put_line(x, y, x + mark[a][0] * s->font, y + mark[a][1] * s->font, "#404040", out);
    if (!corner || only) /* there the numbers of two axes would meet */
      ag_text_printf(out, "set label '%s%.6g' at %.3f,%.3f %s textcolor rgb '#202020'\n", k < 0 ? "−" : "",
                     fabs(k * s->step[a]), x + number[a][0] * s->font, y + number[a][1] * s->font, sides[a]);
  }
}

static void put_name(const ag_box *s, const ag_panel *p, int a, ag_text *out) {
  const char *const names[] = {p->x, p->y, p->z};
  double x, y;
  on_axis(s, a, a == 2 ? 1 : 0.5, &x, &y);
  if (a == 0) y -= 2.9 * s->font, x += 0.5 * s->font;
  else if (a == 1) x += (0.6 * number_width(s, 1) + 1.4) * s->font, y -= 1 * s->font;
  else y += 0.9 * s->font, x -= fmin(name_width(p, 2, s->font) / 2, s->left - s->font);
  ag_text_str(out, "set label ");
  ag_quoted_axis(names[a], p->unit[a], out);
  ag_text_printf(out, " at %.3f,%.3f %s\n", x, y, a == 0 ? "right" : "left");
}

void ag_box_axes(const ag_box *s, const ag_panel *p, double height, ag_text *out) {
  double x = s->u[0], y = s->bottom + s->v[0];
  ag_text_printf(out, "unset border\nunset tics\nset xrange [0:%.3f]\nset yrange [0:%.3f]\n", s->width, height);
  put_line(0, s->bottom, x, y, "#404040", out);
  put_line(x, y, x + s->u[1], y + s->v[1], "#404040", out);
  put_line(0, s->bottom, 0, s->bottom + s->v[2], "#404040", out);
  put_line(0, s->bottom, s->u[1], s->bottom + s->v[1], "#b0b0b0", out);
  put_line(s->u[1], s->bottom + s->v[1], x + s->u[1], y + s->v[1], "#b0b0b0", out);
  for (int a = 0; a < 3; a++) put_tics(s, a, out), put_name(s, p, a, out);
}

static void put_sum(const ag_box *s, const double *along, double from, ag_text *out) {
  ag_text_printf(out, "(%.6f", from);
  for (int a = 0; a < 3; a++)
    if (along[a] != 0) ag_text_printf(out, "+(%.9g)*($%d-(%.12g))", along[a] / (s->hi[a] - s->lo[a]), a + 1, s->lo[a]);
  ag_text_char(out, ')');
}

void ag_box_using(const ag_box *s, ag_text *out) {
  put_sum(s, s->u, 0, out);
  ag_text_char(out, ':');
  put_sum(s, s->v, s->bottom, out);
}
