/* SPDX-License-Identifier: MIT
 * The scale of colours beside a panel: its numbers and its name. gnuplot would write the name upon wide numbers, so
 * that all of it is placed here. */
#include <math.h>

#include "view/gnuplot_internal.h"

/* In letters, from the panel to the right: a gap, the colours, the mark and the gap before the numbers, the name. */
static const double before = 0.8, bar = 1.0, marks = 1.2, name = 1.6, letter = 0.62;

bool ag_scale_there(const ag_figure *f) {
  const ag_panel *p = f->panels;
  if (!f->n_panel) return false;
  return p->style == AG_STYLE_IMAGE || (p->style == AG_STYLE_DOTS && p->n_curve && p->curves[0].z);
}

/* The values that the colours of a panel stand for; false: all are one. */
static bool colour_range(const ag_panel *p, double *lo, double *hi) {
  *lo = INFINITY, *hi = -INFINITY;
  for (int k = 0; k < p->n_curve; k++)
    for (long i = 0; p->curves[k].z && i < p->curves[k].n; i++)
      if (isfinite(p->curves[k].z[i])) *lo = fmin(*lo, p->curves[k].z[i]), *hi = fmax(*hi, p->curves[k].z[i]);
  return *hi > *lo;
}

double ag_scale_width(const ag_figure *f) {
  int widest = 3;
  for (int i = 0; i < f->n_panel; i++) {
    double lo, hi;
    int n = colour_range(&f->panels[i], &lo, &hi) ? ag_tic_width(lo, hi, ag_tic_step(lo, hi, 6)) : 6;
    widest = n > widest ? n : widest;
  }
  return before + bar + marks + letter * widest + name;
}

void ag_scale_put(const ag_figure *f, const ag_panel *p, const ag_scale_place *at, ag_text *out) {
  double lo, hi;
  bool varies = colour_range(p, &lo, &hi); /* tics as far apart as their numbers need */
  double step = varies ? ag_tic_step(lo, hi, fmax(2, fmin(6, at->height / (3.4 * at->font)))) : 0;
  ag_text_printf(out,
                 "set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 '#5ec962', 1 '#fde725')\n"
                 "set colorbox user vertical origin screen %.5f, screen %.5f size screen %.5f, screen %.5f\n"
                 "set format cb '%%.%dh'\n",
                 (at->right + before * at->font) / at->page_width, at->bottom / at->page_height,
                 bar * at->font / at->page_width, at->height / at->page_height,
                 varies ? ag_tic_digits(lo, hi, step) : 6);
  if (varies) ag_text_printf(out, "set cbrange [%.17g:%.17g]\nset cbtics %.17g\n", lo, hi, step);
  else ag_text_str(out, "set cbrange [*:*]\nset cbtics autofreq\n");
  ag_text_str(out, "set label '");
  ag_upright(p->z, p->unit[2], at->height / (0.52 * at->font) + 3, out);
  ag_text_printf(out, "' at screen %.5f, screen %.5f center rotate\n",
                 (at->right + (ag_scale_width(f) - name / 2) * at->font) / at->page_width,
                 (at->bottom + at->height / 2) / at->page_height);
}
