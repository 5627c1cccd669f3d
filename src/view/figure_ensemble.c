/* SPDX-License-Identifier: MIT
 * Figures of ensembles: chosen paths, bands about the mean, densities at the last row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

void ag_figure_bands(ag_panel *panel, const ag_source *s, const ag_choice *y, int k, int colour, long rows,
                     const double *x, const double *mean, bool quantiles) {
  static const char *const ends[][2] = {{"q05", "q95"}, {"q25", "q75"}, {"stderr", "stderr"}};
  static const double cover[] = {0.15, 0.2, 0.45};
  const int size = y->column->rows * y->column->cols;
  for (int b = quantiles ? 0 : 2; b < 3; b++) {
    const double *low = s->statistic(s, ends[b][0], y->column), *high = s->statistic(s, ends[b][1], y->column);
    if (!low || !high) continue;
    ag_curve c = {.name = "", .colour = colour, .n = rows, .band = cover[b], .x = ag_figure_copy(rows, x)};
    c.y = ag_figure_copy(rows, mean), c.z = ag_figure_copy(rows, mean);
    for (long r = 0; r < rows; r++) {
      const double one = low[r * size + y->first + k], other = high[r * size + y->first + k];
      c.y[r] = b < 2 ? one : mean[r] - 2 * one;
      c.z[r] = b < 2 ? other : mean[r] + 2 * other;
    }
    panel->curves[panel->n_curve++] = c;
  }
}

void ag_figure_chosen(ag_panel *panel, const ag_source *s, const char *across, const char *name, int colour, long rows,
                      const double *t) {
  long stride, step = 1;
  const double *v = s->chosen(s, name, &stride), *u = across ? s->chosen(s, across, &step) : t;
  for (long k = 0; v && u && k < s->n_chosen && k < AG_MOST_CHOSEN; k++) {
    ag_curve c = {.name = "", .colour = colour, .n = rows, .fine = true, .x = ag_figure_copy(rows, t)};
    c.y = ag_figure_copy(rows, t);
    for (long r = 0; r < rows; r++) c.y[r] = v[(k * rows + r) * stride];
    for (long r = 0; r < rows && across; r++) c.x[r] = u[(k * rows + r) * step];
    panel->curves[panel->n_curve++] = c;
  }
}

/* The value below which this part of all counts lies, in bins. */
static double quantile(long n, const long *count, double all, double part) {
  double below = 0;
  for (long i = 0; i < n; i++) {
    const double here = (double)count[i];
    if (below + here >= part * all && here > 0) return (double)i + (part * all - below) / here;
    below += here;
  }
  return (double)n;
}

/* How many bins to join, so that what is drawn is the density and not the luck of few paths: twice the distance of the
 * quartiles over the cube root of their number (Freedman and Diaconis), and at most 128 bins. */
static long joined_bins(long n, const long *count, double all) {
  const double middle = quantile(n, count, all, 0.75) - quantile(n, count, all, 0.25);
  const double wide = fmax(2 * middle / cbrt(fmax(all, 1)), (double)n / 128);
  return wide > 1 ? (long)fmin(ceil(wide), (double)n) : 1;
}

/* The outline of the columns of a histogram, from 0 to 0. All bins are in columns, and columns are equal to one bin:
 * the last one of a circle ends where the first one begins. */
static void put_outline(ag_curve *c, long n, const long *count, double from, double width, double all) {
  const long joined = joined_bins(n, count, all), bins = (n + joined - 1) / joined;
  c->n = 2 * bins + 2;
  c->x = ag_heap_alloc(sizeof(double) * (size_t)c->n), c->y = ag_heap_alloc(sizeof(double) * (size_t)c->n);
  for (long b = 0; b <= bins; b++) {
    const long edge = b * n / bins;
    c->x[2 * b] = c->x[2 * b + 1] = from + width * (double)edge;
  }
  for (long b = 0; b < bins; b++) {
    const long first = b * n / bins, end = (b + 1) * n / bins;
    double sum = 0;
    for (long i = first; i < end; i++) sum += (double)count[i];
    c->y[2 * b + 1] = c->y[2 * b + 2] = sum / (all * width * (double)(end - first));
  }
}

/* A density that is given, over the range of a histogram; it encloses the same area, 1. False with a line in *trouble:
 * it cannot be evaluated. */
static bool add_density(ag_figure *f, ag_panel *panel, const ag_source *s, const ag_figure_request *o, const char *name,
                        ag_text *trouble) {
  enum { POINTS = 400 };
  const ag_curve *h = &panel->curves[panel->n_curve - 1];
  const double from = h->x[0], wide = h->x[h->n - 1] - from;
  ag_curve c = {.name = ag_arena_printf(f->arena, "density of %s", name), .foreign = true, .colour = h->colour + 1};
  double area = 0;
  c.n = POINTS, c.x = ag_heap_alloc(sizeof(double) * POINTS), c.y = ag_heap_alloc(sizeof(double) * POINTS);
  for (int i = 0; i < POINTS; i++) c.x[i] = from + wide * (i + 0.5) / POINTS;
  const int found = ag_density_of(s, o->density, name, POINTS, c.x, c.y, trouble);
  for (int i = 0; i < POINTS; i++) area += isfinite(c.y[i]) ? c.y[i] * wide / POINTS : 0;
  for (int i = 0; i < POINTS && found > 0; i++) c.y[i] /= area;
  if (found > 0 && area > 0 && isfinite(area)) {
    panel->curves[panel->n_curve++] = c, panel->n_named++, f->points += c.n;
    return true;
  }
  free(c.x), free(c.y);
  if (found > 0) ag_text_printf(trouble, "--density: the one of %s has no finite area where the histogram is", name);
  return found == 0;
}

ag_status ag_figure_histogram(ag_figure *f, const ag_source *s, const ag_choice *y, const ag_figure_request *o,
                              ag_text *trouble) {
  ag_panel *panel = &f->panels[f->n_panel++];
  *panel = (ag_panel){.x = ag_figure_axis(f->arena, y),
                      .y = "density",
                      .unit = {ag_figure_unit(f, o, y), "", ""},
                      .style = AG_STYLE_LINE};
  panel->curves = AG_NEWN(f->arena, ag_curve, 2 * ag_choice_size(y));
  for (int k = 0; k < ag_choice_size(y); k++) {
    long n;
    double from, width, all = 0;
    const char *name = ag_figure_name(f->arena, y, k);
    const long *count = s->histogram ? s->histogram(s, name, &n, &from, &width) : NULL;
    if (!count) {
      ag_text_printf(trouble, "%s has no histogram of %s", s->path, name);
      return AG_WRONG;
    }
    while (n > 1 && !count[n - 1]) n--;
    for (; n > 1 && !count[0]; n--) count++, from += width;
    for (long i = 0; i < n; i++) all += (double)count[i];
    if (!(all > 0)) {
      ag_text_printf(trouble, "%s: no path has a finite number for %s at the last row", s->path, name);
      return AG_FAILED;
    }
    ag_curve *c = &panel->curves[panel->n_curve++];
    panel->n_named++;
    *c = (ag_curve){.name = name, .colour = k};
    put_outline(c, n, count, from, width, all);
    f->points += c->n;
    if (o->density && !add_density(f, panel, s, o, name, trouble)) return AG_WRONG;
  }
  return AG_OK;
}

/* "; path 3 by euler_heun, dt = 0.01, seed 1"; several: "; paths 0, 1, 2 by ...". */
static const char *paths_of(ag_figure *f, int n, ag_source *const *sources) {
  ag_text text = {0};
  ag_text_printf(&text, "%s%s", *sources[0]->about ? "; " : "", n > 1 ? "paths " : "path ");
  for (int i = 0; i < n; i++) ag_text_printf(&text, "%s%s", i ? ", " : "", sources[i]->noise);
  ag_text_printf(&text, " %s", sources[0]->steps);
  const char *kept = ag_arena_str(f->arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

/* What the curves of ensembles are; "" without ensembles. */
static const char *means_of(const ag_figure *f, int n, ag_source *const *sources) {
  int ensembles = 0;
  bool bands = false, thin = false;
  for (int i = 0; i < n; i++) ensembles += sources[i]->statistic != NULL;
  for (int i = 0; i < f->n_panel && ensembles; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++) {
      bands = bands || f->panels[i].curves[k].band > 0;
      thin = thin || f->panels[i].curves[k].fine;
    }
  if (bands && ensembles > 1) return "means with two standard errors";
  if (bands) return "mean with two standard errors, quantiles 0.25 to 0.75, 0.05 to 0.95";
  return !ensembles ? "" : thin ? "means, and some paths as thin lines" : "means";
}

/* The time that a figure without a time axis shows: that of the last row, or of the rows of all members; NaN: they
 * differ, or there is none. */
static double time_of(ag_source *s, bool last) {
  int at = 0;
  while (at < s->n_column && strcmp(s->columns[at].name, "t")) at++;
  double *t = NULL, value = NAN;
  long n = 0;
  ag_text trouble = {0};
  if (at < s->n_column && ag_source_read(s, 1, &s->columns[at].offset, &t, &n, &trouble) && n > 0) {
    value = t[n - 1];
    for (long i = 0; i < n && !last; i++)
      if (t[i] != value) value = NAN;
  }
  free(t);
  ag_text_done(&trouble);
  return value;
}

/* "; at t = 5" or "" */
static const char *moment_of(ag_figure *f, ag_source *s, bool histogram) {
  double t = histogram || s->kind == AG_SOURCE_BATCH ? time_of(s, histogram) : NAN;
  if (!isfinite(t)) return "";
  ag_text text = {0};
  ag_text_printf(&text, "%sat t = ", *s->about ? "; " : "");
  ag_number_plain(t, 6, &text);
  const char *kept = ag_arena_str(f->arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

const char *ag_figure_about(ag_figure *f, int n, ag_source *const *sources, bool histogram) {
  const ag_source *s = sources[0];
  bool paths = s->noise;
  for (int i = 1; i < n; i++)
    paths = paths && sources[i]->noise && !strcmp(sources[i]->steps, s->steps) && !strcmp(sources[i]->about, s->about);
  if (paths) return ag_arena_printf(f->arena, "%s%s", s->about, paths_of(f, n, sources));
  const char *means = histogram ? "" : means_of(f, n, sources), *about = n > 1 ? "" : s->about;
  const char *moment = n > 1 ? "" : moment_of(f, sources[0], histogram);
  return ag_arena_printf(f->arena, "%s%s%s%s", means, *means && *about ? "; " : "", about, moment);
}
