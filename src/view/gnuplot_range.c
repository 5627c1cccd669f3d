/* SPDX-License-Identifier: MIT
 * Ranges of panels, and the numbers beside their axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "view/gnuplot_internal.h"

bool ag_is_flat(double lo, double hi) { return !(hi - lo > 1e-9 * fmax(fabs(lo), fabs(hi))); }

bool ag_is_nothing(double lo, double hi, double quiet) { return fmax(fabs(lo), fabs(hi)) <= quiet; }

void ag_flat_range(double quiet, double *lo, double *hi) {
  if (ag_is_nothing(*lo, *hi, quiet)) {
    *lo = -1, *hi = 1;
  } else if (ag_is_flat(*lo, *hi)) {
    double half = 0.05 * fmax(fabs(*lo), fabs(*hi));
    *lo -= half, *hi += half;
  }
}

int ag_tic_digits(double lo, double hi, double step) {
  double size = fmax(fabs(lo), fabs(hi));
  int n = step > 0 && size > step ? (int)ceil(log10(size / step)) + 1 : 6;
  return n < 6 ? 6 : n > 15 ? 15 : n;
}

int ag_tic_width(double lo, double hi, double step) {
  int widest = 1;
  char text[64];
  for (double v = ceil(lo / step) * step; v <= hi && step > 0; v += step) {
    int n = snprintf(text, sizeof text, "%.*g", ag_tic_digits(lo, hi, step), fabs(v) < 1e-9 * step ? 0 : v);
    if (strchr(text, 'e')) n += 1; /* drawn as a power of ten */
    widest = n > widest ? n : widest;
  }
  return widest;
}

bool ag_shares_axis(const ag_figure *f) {
  for (int i = 1; i < f->n_panel; i++)
    if (strcmp(f->panels[i].x, f->panels[0].x)) return false;
  return true;
}

void ag_panel_range(const ag_panel *p, bool vertical, double *lo, double *hi) {
  *lo = INFINITY, *hi = -INFINITY;
  for (int k = 0; k < p->n_curve; k++)
    for (long i = 0; i < p->curves[k].n; i++) {
      const ag_curve *c = &p->curves[k];
      double v = vertical ? c->y[i] : c->x[i];
      if (isfinite(c->x[i]) && isfinite(c->y[i])) *lo = fmin(*lo, v), *hi = fmax(*hi, v);
      if (vertical && c->band > 0 && isfinite(c->z[i])) *hi = fmax(*hi, c->z[i]);
    }
}

double ag_tic_step(double lo, double hi, double n) {
  double raw = (hi - lo) / n, power = pow(10, floor(log10(raw))), lead = raw / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static int tics_within(double lo, double hi, double step) {
  return (int)(floor(hi / step + 1e-9) - ceil(lo / step - 1e-9)) + 1;
}

double ag_tic_step_two(double lo, double hi, double n) {
  double step = ag_tic_step(lo, hi, n);
  while (n < 32 && tics_within(lo, hi, step) < 2) step = ag_tic_step(lo, hi, n *= 1.5);
  return step;
}

double ag_vertical_step(const ag_panel *p, bool stacked, double letters) {
  double lo, hi, from, to;
  ag_vertical_range(p, stacked, &lo, &hi);
  ag_panel_range(p, true, &from, &to);
  if (ag_is_nothing(from, to, p->quiet)) return 2 * hi; /* 0 is the one number beside the axis */
  return ag_tic_step_two(lo, hi, fmax(2, fmin(6, letters / 3.4)));
}

int ag_vertical_width(const ag_panel *p, bool stacked, double letters) {
  double lo, hi;
  if (p->log_y) { /* powers of ten; exponents are smaller */
    int from, to;
    ag_log_range(p, true, &from, &to);
    return from <= -10 || to >= 100 ? 5 : 4;
  }
  ag_vertical_range(p, stacked, &lo, &hi);
  if (!p->equal) return ag_tic_width(lo, hi, ag_vertical_step(p, stacked, letters));
  int few = ag_tic_width(lo, hi, ag_tic_step(lo, hi, 4)), many = ag_tic_width(lo, hi, ag_tic_step(lo, hi, 8));
  return few > many ? few : many; /* the step follows from the other axis, too */
}

void ag_vertical_range(const ag_panel *p, bool stacked, double *lo, double *hi) {
  ag_panel_range(p, true, lo, hi);
  double beside = 0.07 * (*hi - *lo);
  if (ag_is_nothing(*lo, *hi, p->quiet)) *lo = *hi = 0, beside = 1;
  else if (ag_is_flat(*lo, *hi)) beside = 0.05 * fmax(fabs(*lo), fabs(*hi));
  bool names = p->n_named > 1 && p->style != AG_STYLE_IMAGE && !p->curves[0].foreign;
  *lo -= beside, *hi += !names ? beside : stacked ? 7 * beside : 4 * beside; /* room for names */
}

void ag_log_range(const ag_panel *p, bool vertical, int *lo, int *hi) {
  double from = INFINITY, to = 0;
  for (int k = 0; k < p->n_curve; k++)
    for (long i = 0; i < p->curves[k].n; i++) {
      double v = vertical ? p->curves[k].y[i] : p->curves[k].x[i];
      if (isfinite(v) && v > 0) from = fmin(from, v), to = fmax(to, v);
    }
  if (vertical && p->allowed > 0) from = fmin(from, p->allowed), to = fmax(to, p->allowed);
  if (!(to > 0)) from = to = 1;
  *lo = (int)floor(log10(from)), *hi = (int)ceil(log10(to));
  if (*hi == *lo) ++*hi;
  if (vertical && p->allowed > 0 && *hi - log10(p->allowed) < 0.2 * (*hi - *lo)) ++*hi; /* its name */
  if (vertical && p->n_named > 1 && !p->curves[0].foreign) *hi += 1 + (*hi - *lo) / 4;
}
