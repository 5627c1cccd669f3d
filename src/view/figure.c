/* SPDX-License-Identifier: MIT
 * What a figure shows: the requested quantities, one panel each, or a sensible choice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_internal.h"

enum { MOST = 64, STACKED = 6 }; /* quantities that may be asked for; panels that are chosen */

static const double fine = 1e-4; /* curves are thinned to this part of a panel */

/* The content of one panel: choices of the first source, found by name in the others. */
typedef struct plan {
  ag_source_kind kind;
  bool space;     /* x, y and z are three axes */
  ag_choice x, z; /* column NULL: none */
  int n_y;
  ag_choice y[MOST];
  ag_choice by; /* colour, or the second axis of an image; column NULL: none */
  bool many;    /* several ensembles over each other */
} plan;

/* ---- choosing ---- */

static ag_choice whole(const ag_column *c) { return (ag_choice){c, 0, c->rows * c->cols - 1}; }

static bool is_scalar(const ag_column *c) { return c->rows * c->cols == 1; }

/* Columns of a kind that are neither swept nor zero up to rounding: scalars, or vectors of at most four. */
static int take(const ag_source *s, ag_column_kind kind, bool scalars, int most, int n, ag_choice *y) {
  for (int i = 0; i < s->n_column && n < most; i++) {
    const ag_column *c = &s->columns[i];
    bool vector = c->cols == 1 && c->rows > 1 && c->rows <= 4;
    if (c->kind != kind || s->swept[i] || ag_source_residual(c->name)) continue;
    if (scalars ? is_scalar(c) : vector) y[n++] = whole(c);
  }
  return n;
}

/* Does one of the numbers of a choice change, beyond 1e-6 of their size and beyond the tolerance of the run? */
static bool varies(ag_source *s, const ag_choice *c) {
  double size = 0, change = 0;
  for (int e = c->first; e <= c->last; e++) {
    double *v, lo = INFINITY, hi = -INFINITY;
    long n;
    int at = c->column->offset + e;
    ag_text trouble = {0};
    const bool good = ag_source_read(s, 1, &at, &v, &n, &trouble);
    ag_text_done(&trouble);
    if (!good) return true; /* reported when it is drawn */
    for (long i = 0; i < n; i++)
      if (isfinite(v[i])) size = fmax(size, fabs(v[i])), lo = fmin(lo, v[i]), hi = fmax(hi, v[i]);
    free(v);
    change = fmax(change, hi - lo);
  }
  return change > fmax(1e-6 * size, s->atol);
}

/* Scalar observables; where there are none, or all stay the same, also other observables, coordinates, velocities. */
static int take_interesting(ag_source *s, int most, ag_choice *y) {
  static const ag_column_kind order[] = {AG_COL_OBSERVABLE, AG_COL_OBSERVABLE, AG_COL_COORD,  AG_COL_COORD,
                                         AG_COL_VELOCITY,   AG_COL_VELOCITY,   AG_COL_PROCESS};
  int n = 0;
  bool moves = false;
  for (int i = 0; i < (int)(sizeof order / sizeof *order) && !moves; i++) {
    const int before = n;
    n = take(s, order[i], i % 2 == 0, most, n, y);
    for (int k = before; k < n && !moves; k++) moves = varies(s, &y[k]);
  }
  return n ? n : take(s, AG_COL_ENERGY, true, most, 0, y);
}

static const ag_column *column_of_kind(const ag_source *s, ag_column_kind kind) {
  for (int i = 0; i < s->n_column; i++)
    if (s->columns[i].kind == kind && !s->swept[i]) return &s->columns[i];
  return NULL;
}

static int swept_columns(const ag_source *s, const ag_column **found) {
  int n = 0;
  for (int i = 0; i < s->n_column && n < 2; i++)
    if (s->swept[i]) found[n++] = &s->columns[i];
  return n;
}

/* Largest minus smallest value of a number over all rows; 0 when it cannot be read. */
static double spread(ag_source *s, int at) {
  double *v;
  long n;
  ag_text trouble = {0};
  bool good = ag_source_read(s, 1, &at, &v, &n, &trouble);
  ag_text_done(&trouble);
  if (!good) return 0;
  double lo = INFINITY, hi = -INFINITY;
  for (long i = 0; i < n; i++) lo = fmin(lo, v[i]), hi = fmax(hi, v[i]);
  free(v);
  return hi > lo ? hi - lo : 0;
}

/* Is a number finite in some row? */
static bool has_values(ag_source *s, int at) {
  double *v;
  long n, found = 0;
  ag_text trouble = {0};
  const bool good = ag_source_read(s, 1, &at, &v, &n, &trouble);
  ag_text_done(&trouble);
  if (!good) return false;
  for (long i = 0; i < n; i++) found += isfinite(v[i]);
  free(v);
  return found > 0;
}

/* Does a number stay within 1e-6 of its size? */
static bool is_kept(ag_source *s, int at) {
  double *v, size = 0, change = 0;
  long n;
  ag_text trouble = {0};
  bool good = ag_source_read(s, 1, &at, &v, &n, &trouble);
  ag_text_done(&trouble);
  if (!good) return false;
  for (long i = 0; i < n; i++) {
    size = fmax(size, fabs(v[i]));
    change = isfinite(v[i]) ? fmax(change, fabs(v[i] - v[0])) : INFINITY;
  }
  free(v);
  return size > 0 && change <= 1e-6 * size;
}

/* Conserved quantities of a run: energy and scalar observables; the energy alone if there are none. */
static int take_kept(ag_source *s, int most, ag_choice *y) {
  ag_choice all[MOST];
  int n = take(s, AG_COL_ENERGY, true, 1, 0, all), kept = 0, first = n;
  n = take(s, AG_COL_OBSERVABLE, true, MOST, n, all);
  for (int i = 0; i < n && kept < most; i++)
    if (is_kept(s, all[i].column->offset)) y[kept++] = all[i];
  if (!kept && first) y[kept++] = all[0];
  return kept;
}

/* Likely coordinates of a section first: scalars of the state, scalar observables, entries of
 * observables, entries of vectors and rotations of the state. */
static int rank_of(const ag_column *c) {
  if (c->kind == AG_COL_OBSERVABLE) return is_scalar(c) ? 1 : 2;
  if (c->kind != AG_COL_COORD && c->kind != AG_COL_VELOCITY && c->kind != AG_COL_PROCESS) return -1;
  return is_scalar(c) ? 0 : 3;
}

/* The plane of a section: the first two numbers that vary there. Its own function does so by rounding only. */
static void choose_plane(ag_source *s, plan *p) {
  ag_choice all[MOST];
  double spreads[MOST], largest = 0;
  int n = 0, found = 0;
  for (int i = 0; i < 4 * s->n_column; i++) {
    const ag_column *c = &s->columns[i % s->n_column];
    bool now = rank_of(c) == i / s->n_column && !s->swept[i % s->n_column];
    for (int e = 0; now && e < c->rows * c->cols && n < MOST; e++, n++) {
      all[n] = (ag_choice){c, e, e};
      spreads[n] = spread(s, c->offset + e);
      largest = fmax(largest, spreads[n]);
    }
  }
  for (int i = 0; i < n && found < 2; i++) {
    if (!(spreads[i] > 1e-6 * largest)) continue;
    if (found++) p->y[0] = all[i], p->n_y = 1;
    else p->x = all[i];
  }
}

/* Work and precision: the error over the right-hand sides, a curve for each method; with noise, the strong and the weak
 * error over the step size. */
static void choose_work(ag_source *s, plan *p) {
  const char *along = ag_figure_has_orders(s) ? "dt" : "rhs";
  for (int i = 0; i < s->n_column; i++) {
    const char *name = s->columns[i].name;
    if (!strcmp(name, along)) p->x = whole(&s->columns[i]);
    const bool error = !strcmp(name, "error"), noise = !strcmp(name, "strong") || !strcmp(name, "weak");
    if (error || (noise && has_values(s, s->columns[i].offset))) /* weak errors may not differ significantly from 0 */
      p->y[p->n_y++] = whole(&s->columns[i]);
  }
  p->by = whole(&s->columns[0]);
}

static void choose_rest(ag_source *s, const ag_figure_request *o, plan *p) {
  const ag_column *swept[2], *time = column_of_kind(s, AG_COL_TIME);
  int n_swept = swept_columns(s, swept);
  if (p->kind == AG_SOURCE_CONVERGE && !o->x && !o->y) choose_work(s, p);
  if (p->kind == AG_SOURCE_SECTION) {
    if (!o->x && !o->y) choose_plane(s, p);
    if (n_swept) p->by = whole(swept[0]);
  }
  if (!p->n_y && o->drift) p->n_y = take_kept(s, STACKED, p->y);
  if (!p->n_y) p->n_y = take_interesting(s, STACKED, p->y);
  if (p->x.column) return;
  if (p->kind == AG_SOURCE_BATCH && n_swept) {
    p->x = whole(swept[0]);
    if (n_swept > 1) p->by = whole(swept[1]);
  } else if (time) {
    p->x = whole(time);
  }
}

static ag_status choose(ag_source *s, const ag_figure_request *o, plan *p, ag_text *trouble) {
  ag_choice one[2];
  *p = (plan){.kind = s->kind};
  if (o->x) {
    int n = ag_source_choices(s, o->x, one, 2, trouble);
    if (n < 0) return AG_WRONG;
    if (n > 1 || ag_choice_size(&one[0]) > 1) {
      ag_text_printf(trouble, "the horizontal axis takes one number: --x '%s[1]'", one[0].column->name);
      return AG_WRONG;
    }
    p->x = one[0];
  }
  if (o->y && (p->n_y = ag_source_choices(s, o->y, p->y, MOST, trouble)) < 0) return AG_WRONG;
  if (o->z) {
    if (ag_source_choices(s, o->z, one, 2, trouble) != 1 || ag_choice_size(&one[0]) > 1 || !o->x || p->n_y != 1) {
      if (!trouble->n) ag_text_str(trouble, "a curve in space takes --x, --y and --z, one number each");
      return AG_WRONG;
    }
    p->z = one[0];
    p->space = true;
  }
  choose_rest(s, o, p);
  if (p->x.column && p->n_y) return AG_OK;
  ag_text_printf(trouble, "%s has nothing to draw: choose columns with --x and --y", s->path);
  ag_source_list(s, STACKED, trouble);
  return AG_WRONG;
}

/* ---- reading ---- */

/* The same quantity in another source. */
static bool same_in(const ag_source *s, const ag_choice *c, ag_choice *out, ag_text *trouble) {
  const ag_record record = {.n_column = s->n_column, .columns = s->columns};
  int entry;
  const ag_column *found = ag_record_find(&record, c->column->name, &entry);
  *out = (ag_choice){found, c->first, c->last};
  if (found && entry < 0 && found->rows * found->cols > c->last) return true;
  ag_text_printf(trouble, "%s has no column %s", s->path, c->column->name);
  return false;
}

const char *ag_figure_name(ag_arena *arena, const ag_choice *c, int k) {
  ag_text name = {0};
  ag_column_name(c->column, c->first + k, &name);
  const char *kept = ag_arena_str(arena, ag_text_cstr(&name));
  ag_text_done(&name);
  return kept;
}

const char *ag_figure_axis(ag_arena *arena, const ag_choice *c) {
  if (ag_choice_size(c) == 1) return ag_figure_name(arena, c, 0);
  if (ag_choice_size(c) == c->column->rows * c->column->cols) return ag_arena_str(arena, c->column->name);
  return ag_arena_printf(arena, "%s[%d:%d]", c->column->name, c->first + 1, c->last + 1);
}

const char *ag_figure_unit(ag_figure *f, const ag_figure_request *o, const ag_choice *c) {
  return c->column ? ag_unit_find(f->arena, o->units, c->column->name, ag_figure_name(f->arena, c, 0)) : "";
}

/* |y - y(0)|. Returns the largest |y|. */
static double keep_change(long n, double *y) {
  double first = NAN, size = 0;
  for (long i = 0; i < n; i++) {
    if (isnan(first)) first = y[i];
    if (isfinite(y[i])) size = fmax(size, fabs(y[i]));
  }
  for (long i = 0; i < n; i++) /* a logarithm wants no zeros */
    if (!isnan(y[i])) y[i] = fmax(fabs(y[i] - first), 0x1p-54 * size);
  for (long i = 0; i < n; i++)
    if (y[i] == 0) y[i] = 0x1p-54;
  return size;
}

double *ag_figure_copy(long n, const double *v) {
  double *to = ag_heap_alloc(sizeof *to * (size_t)(n + 1));
  if (n) memcpy(to, v, sizeof *to * (size_t)n); /* v is NULL without rows */
  return to;
}

/* The extent of the finite numbers, at least of their rounding. */
static double extent(long n, const double *v) {
  double lo = INFINITY, hi = -INFINITY;
  for (long i = 0; i < n; i++)
    if (isfinite(v[i])) lo = fmin(lo, v[i]), hi = fmax(hi, v[i]);
  return hi > lo ? hi - lo : 1;
}

static void thin(ag_figure *f, ag_panel *panel, ag_curve *c) {
  f->rows = f->rows > c->n ? f->rows : c->n;
  if (panel->style == AG_STYLE_LINE && !panel->space && c->band == 0) ag_split_turns(&c->n, &c->x, &c->y);
  if (panel->style == AG_STYLE_DOTS && c->n > 50000) c->n = ag_thin_points(c->n, c->x, c->y, c->z);
  if (panel->style == AG_STYLE_LINE && !panel->space && c->band == 0 && c->n > 2000) {
    for (long i = 0; panel->log_y && i < c->n; i++) c->y[i] = log(c->y[i]);
    c->n = ag_thin_columns(c->n, c->x, c->y, extent(c->n, c->x), fine);
    c->n = ag_thin_curve(c->n, c->x, c->y, extent(c->n, c->x), extent(c->n, c->y), fine);
    for (long i = 0; panel->log_y && i < c->n; i++) c->y[i] = exp(c->y[i]);
  }
  f->points += c->n;
}

static bool has_numbers(const ag_curve *c) {
  for (long i = 0; i < c->n; i++)
    if (isfinite(c->x[i]) && isfinite(c->y[i])) return true;
  return false;
}

/* A file name without folders. */
static const char *short_name(const char *path) { return strrchr(path, '/') ? strrchr(path, '/') + 1 : path; }

/* Is a point between gaps, or the only one? A line does not show it. */
static bool has_alone(const ag_curve *c) {
  bool before = false;
  for (long i = 0; i < c->n; i++) {
    const bool here = isfinite(c->x[i]) && isfinite(c->y[i]),
               after = i + 1 < c->n && isfinite(c->x[i + 1]) && isfinite(c->y[i + 1]);
    if (here && !before && !after) return true;
    before = here;
  }
  return false;
}

/* A file is named without its ending in the figure, unless two files would have one name. */
static void name_files(ag_figure *f, int n, ag_source *const *sources) {
  const char **names = AG_NEWN(f->arena, const char *, n);
  for (int i = 0; i < n; i++) {
    char *name = ag_arena_str(f->arena, short_name(sources[i]->path)), *dot = strrchr(name, '.');
    if (dot && dot > name) *dot = 0;
    for (int j = 0; j < i; j++)
      if (!strcmp(names[j], name)) return;
    names[i] = name;
  }
  for (int i = 0; i < f->n_panel; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++)
      for (int j = 0; j < n && f->panels[i].curves[k].foreign; j++)
        if (!strcmp(f->panels[i].curves[k].name, short_name(sources[j]->path))) f->panels[i].curves[k].name = names[j];
}

/* Numbers whose differences could overflow are left out like NaN. */
static void drop_huge(long n, double *v) {
  for (long i = 0; i < n; i++)
    if (fabs(v[i]) > 1e300) v[i] = NAN;
}

/* The curves of one choice of y from one source. */
static ag_status add_curves(ag_figure *f, ag_panel *panel, ag_source *s, const plan *p, const ag_choice *y, int which,
                            int n_source, const ag_figure_request *o, ag_text *trouble) {
  ag_choice all[4] = {{0}};
  const ag_choice *wanted[4] = {&p->x, y, p->z.column ? &p->z : &p->by, NULL};
  int at[MOST + 2], n = 0, n_y = ag_choice_size(y);
  for (int i = 0; i < 3; i++)
    if (wanted[i]->column && !same_in(s, wanted[i], &all[i], trouble)) return AG_WRONG;
  if (n_y > MOST) {
    ag_text_printf(trouble, "%s has %d numbers: choose some with --y '%s[1:3]'", y->column->name, n_y, y->column->name);
    return AG_WRONG;
  }
  at[n++] = all[0].column->offset + all[0].first;
  if (all[2].column) at[n++] = all[2].column->offset + all[2].first;
  for (int k = 0; k < n_y; k++) at[n + k] = all[1].column->offset + all[1].first + k;
  double *v[MOST + 2];
  long rows;
  if (!ag_source_read(s, n + n_y, at, v, &rows, trouble)) return AG_SYSTEM;
  for (int k = 0; k < n + n_y; k++) drop_huge(rows, v[k]);
  panel->quiet = which ? fmin(panel->quiet, s->atol) : s->atol;
  const bool in_time = p->x.column->kind == AG_COL_TIME;
  for (int k = 0; k < n_y; k++) {
    if (s->statistic && n == 1 && !panel->change_of && in_time)
      ag_figure_bands(panel, s, &all[1], k, n_source > 1 ? which : k, rows, v[0], v[n + k], !p->many);
    if (s->n_chosen && n == 1 && !panel->change_of)
      ag_figure_chosen(panel, s, in_time ? NULL : ag_figure_name(f->arena, &p->x, 0), ag_figure_name(f->arena, y, k),
                       n_source > 1 ? which : k, rows, v[0]);
    ag_curve *c = &panel->curves[panel->n_curve++];
    *c = (ag_curve){.name = n_source > 1 ? ag_arena_str(f->arena, short_name(s->path)) : ag_figure_name(f->arena, y, k),
                    .foreign = n_source > 1,
                    .colour = n_source > 1 ? which : k,
                    .dash = n_source > 1 ? k : 0,
                    .n = rows,
                    .x = ag_figure_copy(rows, v[0]),
                    .y = v[n + k],
                    .z = n > 1 ? ag_figure_copy(rows, v[1]) : NULL};
    if (panel->change_of) {
      double size = keep_change(rows, c->y), atol = o->tolerance > 0 ? 0 : s->atol;
      panel->allowed = fmax(panel->allowed, atol + (o->tolerance > 0 ? o->tolerance : s->rtol) * size);
    }
  }
  for (int i = 0; i < n; i++) free(v[i]);
  return AG_OK;
}

/* ---- panels ---- */

/* x over y of the same vector: a point in a plane. */
static bool is_place(const plan *p, const ag_choice *y) {
  return p->x.column == y->column && ag_choice_size(y) == 1 && p->x.column->cols == 1;
}

/* "x" and "y", "x[2]" and "y[2]", "cart_x" and "cart_y": the same but for the letter of the axis. */
static bool same_but_axis(const char *a, const char *b) {
  int n = 0;
  for (; *a && *b; a++, b++) {
    if (*a == *b) continue;
    bool axes = (strchr("xyz", *a) && strchr("xyz", *b)) || (strchr("XYZ", *a) && strchr("XYZ", *b));
    if (!axes || n++) return false;
  }
  return n == 1 && !*a && !*b;
}

/* Such names form a point in a plane, too, unless one axis would have almost no extent. */
static bool is_named_place(const ag_panel *p) {
  double lo[2], hi[2];
  if (p->log_x || p->log_y || p->space || !same_but_axis(p->x, p->y)) return false;
  if (p->style != AG_STYLE_LINE && p->style != AG_STYLE_DOTS) return false;
  for (int a = 0; a < 2; a++) ag_panel_range(p, a == 1, &lo[a], &hi[a]);
  double wide = hi[0] - lo[0], high = hi[1] - lo[1];
  return wide > 0 && high > 0 && wide < 6 * high && high < 6 * wide;
}

static ag_status add_panel(ag_figure *f, int n, ag_source *const *sources, const plan *p, const ag_choice *y,
                           const ag_figure_request *o, ag_text *trouble) {
  ag_panel *panel = &f->panels[f->n_panel++];
  bool image = p->kind == AG_SOURCE_BATCH && p->by.column && !o->x,
       work = p->kind == AG_SOURCE_CONVERGE && p->by.column;
  *panel = (ag_panel){.x = ag_figure_name(f->arena, &p->x, 0),
                      .y = image ? ag_figure_name(f->arena, &p->by, 0) : ag_figure_axis(f->arena, y),
                      .z = image          ? ag_figure_axis(f->arena, y)
                           : p->space     ? ag_figure_name(f->arena, &p->z, 0)
                           : p->by.column ? ag_figure_name(f->arena, &p->by, 0)
                                          : NULL,
                      .space = p->space,
                      .equal = is_place(p, y),
                      .log_x = work,
                      .log_y = o->drift || work,
                      .change_of = o->drift ? ag_figure_axis(f->arena, y) : NULL};
  const ag_choice *third = p->space ? &p->z : &p->by;
  panel->unit[0] = ag_figure_unit(f, o, &p->x);
  panel->unit[1] = ag_figure_unit(f, o, image ? &p->by : y);
  panel->unit[2] = ag_figure_unit(f, o, image ? y : third);
  panel->style = image                          ? AG_STYLE_IMAGE
                 : p->kind == AG_SOURCE_SECTION ? AG_STYLE_DOTS
                 : p->kind == AG_SOURCE_BATCH   ? AG_STYLE_LINE_POINTS
                 : work                         ? AG_STYLE_LINE_POINTS
                                                : AG_STYLE_LINE;
  if (work && n > 1) {
    ag_text_printf(trouble, "tables of methods are drawn one at a time: %s", sources[1]->path);
    return AG_WRONG;
  }
  panel->curves = AG_NEWN(f->arena, ag_curve, (4 + AG_MOST_CHOSEN) * n * ag_choice_size(y));
  for (int i = 0; i < n; i++) AG_TRY(add_curves(f, panel, sources[i], p, y, i, n, o, trouble));
  if (work && !ag_figure_methods(f, panel, sources[0], trouble)) return AG_SYSTEM;
  for (int i = 1; i < n && !(o->tolerance > 0); i++) /* one line for files that agree */
    if (sources[i]->rtol != sources[0]->rtol || sources[i]->atol != sources[0]->atol) panel->allowed = 0;
  bool some = false;
  for (int k = 0; k < panel->n_curve; k++) {
    ag_curve *c = &panel->curves[k];
    if (image) { /* the value is the colour */
      double *value = c->y;
      c->y = c->z, c->z = value;
    }
    some = some || has_numbers(c);
    panel->n_named += c->band == 0 && !c->fine;
    thin(f, panel, c);
    if (panel->style == AG_STYLE_LINE && !panel->space && c->band == 0 && c->n <= 2000 && has_alone(c))
      panel->style = AG_STYLE_LINE_POINTS;
  }
  panel->equal = panel->equal || is_named_place(panel);
  if (some) return AG_OK;
  if (!f->rows) ag_text_printf(trouble, "%s has no rows", sources[0]->path);
  else
    ag_text_printf(trouble, "%s: no row has a finite number for %s over %s", sources[0]->path,
                   panel->z && image ? panel->z : panel->y, panel->x);
  return AG_FAILED;
}

ag_status ag_figure_make(ag_figure *f, int n, ag_source *const *sources, const ag_figure_request *o, ag_text *trouble) {
  plan p;
  *f = (ag_figure){.arena = ag_arena_create(), .title = "", .about = ""};
  if (!ag_units_check(sources[0], o->units, trouble)) return AG_WRONG;
  AG_TRY(choose(sources[0], o, &p, trouble));
  int ensembles = 0;
  for (int i = 0; i < n; i++) ensembles += sources[i]->statistic != NULL;
  p.many = ensembles > 1;
  f->panels = AG_NEWN(f->arena, ag_panel, p.n_y);
  for (int i = 0; i < p.n_y; i++)
    AG_TRY(o->histogram ? ag_figure_histogram(f, sources[0], &p.y[i], o, trouble)
                        : add_panel(f, n, sources, &p, &p.y[i], o, trouble));
  if (!ag_density_check(o->density, f, trouble)) return AG_WRONG;
  if (n > 1) name_files(f, n, sources);
  f->title = ag_arena_str(f->arena, o->title ? o->title : sources[0]->title);
  if (o->about) f->about = ag_figure_about(f, n, sources, o->histogram);
  bool in_time = !o->histogram && p.x.column->kind == AG_COL_TIME && p.kind == AG_SOURCE_RUN && !p.space;
  if (in_time && n == 1) f->marks = sources[0]->marks, f->n_marks = sources[0]->n_marks;
  return AG_OK;
}

void ag_figure_done(ag_figure *f) {
  for (int i = 0; i < f->n_panel; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++) {
      ag_curve *c = &f->panels[i].curves[k];
      free(c->x), free(c->y), free(c->z);
    }
  ag_arena_free(f->arena);
  *f = (ag_figure){0};
}
