/* SPDX-License-Identifier: MIT */
#include "study/study_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/dense.h"

enum { MAX_UNKNOWN = 8, MAX_ROOT = 32 };

static const ag_pos nowhere = {0};

/* ---- reading ---- */

static char *copy_of(const char *s, size_t n) {
  ag_text t = {0};
  ag_text_strn(&t, s, n);
  ag_text_str(&t, "");
  return t.s ? t.s : ag_heap_alloc(1);
}

/* "y',Omega[2]" */
static void read_solve(ag_levels *l, const char *text) {
  l->solve = ag_heap_alloc(sizeof *l->solve * (strlen(text) + 2));
  for (const char *s = text; *s;) {
    size_t n = strcspn(s, ",");
    l->solve[l->n_solve++] = copy_of(s, n);
    s += n + (s[n] == ',');
  }
}

ag_status ag_levels_read(ag_levels *l, const ag_list *levels, const char *solve, ag_text *error) {
  *l = (ag_levels){0};
  l->names = ag_heap_alloc(sizeof *l->names * (size_t)(levels->n + 1));
  l->texts = ag_heap_alloc(sizeof *l->texts * (size_t)(levels->n + 1));
  l->column = ag_heap_alloc(sizeof *l->column * (size_t)(levels->n + 1));
  l->guess = ag_heap_alloc(sizeof *l->guess * (MAX_UNKNOWN + 1));
  for (int i = 0; i < levels->n; i++) {
    const char *equals = strchr(levels->at[i], '=');
    if (!equals || equals == levels->at[i] || !equals[1]) {
      ag_text_printf(error, "--level needs NAME=VALUE, not '%s'", levels->at[i]);
      return AG_WRONG;
    }
    l->names[l->n] = copy_of(levels->at[i], (size_t)(equals - levels->at[i]));
    l->texts[l->n++] = levels->at[i];
  }
  if (solve) read_solve(l, solve);
  if (l->n < MAX_UNKNOWN && l->n_solve <= MAX_UNKNOWN) return AG_OK;
  ag_text_printf(error, "at most %d levels can be met at once", MAX_UNKNOWN - 1);
  return AG_WRONG;
}

void ag_levels_done(ag_levels *l) {
  for (int i = 0; i < l->n; i++) free(l->names[i]);
  for (int i = 0; i < l->n_solve; i++) free(l->solve[i]);
  ag_tape_free(l->tape);
  void *all[] = {l->names, l->texts, l->solve, l->column, l->guess};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *l = (ag_levels){0};
}

/* ---- what is solved for ---- */

/* Place of a number in a record by its name, "x", "Omega[2]"; -1: there is none. */
static int place_of(const ag_record *r, const char *name) {
  int entry;
  const ag_column *c = ag_record_find(r, name, &entry);
  if (!c || (entry < 0 && c->rows * c->cols > 1)) return -1;
  return c->offset + (entry > 0 ? entry : 0);
}

/* "x[2]" is held when it is named, or "x" as a whole. */
static bool held(const char *name, const ag_members_request *r, const ag_grid *sweep) {
  const char *bracket = strchr(name, '[');
  size_t n = bracket ? (size_t)(bracket - name) : strlen(name);
  bool found = false;
  for (int i = 0; i < r->n_set + sweep->n_name; i++) {
    const char *other = i < r->n_set ? r->sets[i].name : sweep->names[i - r->n_set];
    found = found || !strcmp(other, name) || (strlen(other) == n && !strncmp(other, name, n));
  }
  return found;
}

static bool taken(const ag_levels *l, const char *name) {
  for (int i = 0; i < l->n_solve; i++)
    if (!strcmp(l->solve[i], name)) return true;
  return false;
}

/* Independent velocities that are not held. */
static void velocities(const ag_levels *l, const ag_system *sys, const ag_members_request *r, const ag_grid *sweep,
                       ag_text *list, int *n) {
  for (int i = 0; i < ag_system_dims(sys)->u; i++) {
    const char *name = ag_system_u_names(sys)[i];
    if (strchr(name, ' ') || held(name, r, sweep) || taken(l, name)) continue;
    ag_text_printf(list, "%s%s", *n ? " " : "", name);
    ++*n;
  }
}

/* Coordinates that the section contains and that are not held. */
static void coordinates(const ag_levels *l, const ag_system *sys, const ag_members_request *r, const ag_grid *sweep,
                        ag_text *list, int *n) {
  const ag_model *m = ag_system_model(sys);
  ag_record record;
  ag_record_init(&record, sys);
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    if (c->space == AG_SPACE_SO3 || c->space == AG_SPACE_S2) continue;
    if (!ag_depends(m->graph, 1, &m->sections[l->section - 1].x, 1, &c->q)) continue;
    for (int k = 0; k < c->dim; k++) {
      ag_text name = {0};
      ag_column_name(&record.columns[1 + i], k, &name);
      if (!held(name.s, r, sweep) && !taken(l, name.s)) {
        ag_text_printf(list, "%s%s", *n ? " " : "", name.s);
        ++*n;
      }
      ag_text_done(&name);
    }
  }
  ag_record_done(&record);
}

/* The only candidate, or an error that lists them. */
static ag_status take_only(ag_levels *l, ag_ctx *ctx, const char *what, int n, const ag_text *list) {
  if (n == 1) {
    l->solve = ag_heap_grow(l->solve, sizeof *l->solve * (size_t)(l->n_solve + 1));
    l->solve[l->n_solve++] = copy_of(list->s, list->n);
    return AG_OK;
  }
  if (n)
    ag_ctx_error(ctx, nowhere, "which start value puts the start on %s? name it with --solve (there are: %s)", what,
                 list->s);
  else
    ag_ctx_error(ctx, nowhere,
                 "no start value is left that could put the start on %s: all are swept, set, or follow from others",
                 what);
  return AG_WRONG;
}

static bool on_section(const ag_levels *l, const ag_system *sys) {
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x)), g = 1;
  ag_system_state0(sys, x);
  (void)ag_work_section(w, l->section - 1, ag_system_t0(sys), x, &g);
  ag_work_free(w);
  free(x);
  return fabs(g) <= 1e-12;
}

static void take_guesses(ag_levels *l, const ag_system *sys) {
  ag_record r;
  ag_record_init(&r, sys);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x)),
         *record = ag_heap_alloc(sizeof *record * (size_t)r.width);
  ag_system_state0(sys, x);
  ag_record_fill(sys, w, ag_system_t0(sys), x, record);
  for (int i = 0; i < l->n_solve; i++) {
    int at = place_of(&r, l->solve[i]);
    l->guess[i] = at >= 0 && isfinite(record[at]) ? record[at] : 0;
  }
  ag_work_free(w);
  free(x);
  free(record);
  ag_record_done(&r);
}

/* The numbers of a record that the levels name. */
static ag_status find_columns(ag_levels *l, ag_ctx *ctx, const ag_system *sys) {
  ag_record r;
  ag_record_init(&r, sys);
  for (int i = 0; i < l->n; i++) {
    l->column[i] = place_of(&r, l->names[i]);
    if (l->column[i] >= 0) continue;
    const char **names = ag_heap_alloc(sizeof *names * (size_t)r.n_column);
    for (int k = 0; k < r.n_column; k++) names[k] = r.columns[k].name;
    const char *near = ag_nearest(l->names[i], r.n_column, names);
    ag_ctx_error(ctx, nowhere, "--level: there is no number `%s`%s%s%s", l->names[i], near ? "; did you mean `" : "",
                 near ? near : "", near ? "`?" : "");
    free(names);
  }
  ag_record_done(&r);
  return ctx->n_error ? AG_WRONG : AG_OK;
}

ag_status ag_levels_choose(ag_levels *l, ag_ctx *ctx, const ag_system *sys, const ag_members_request *r,
                           const ag_grid *sweep) {
  ag_status status = find_columns(l, ctx, sys);
  bool chosen = l->n_solve > 0;
  for (int i = 0; i < l->n && !chosen && status == AG_OK; i++) {
    ag_text list = {0}, what = {0};
    int n = 0;
    ag_text_printf(&what, "the level %s", l->texts[i]);
    velocities(l, sys, r, sweep, &list, &n);
    status = take_only(l, ctx, what.s, n, &list);
    ag_text_done(&list);
    ag_text_done(&what);
  }
  if (status == AG_OK && !chosen && l->section && !on_section(l, sys)) {
    ag_text list = {0};
    int n = 0;
    coordinates(l, sys, r, sweep, &list, &n);
    status = take_only(l, ctx, "the section", n, &list);
    ag_text_done(&list);
  }
  if (status != AG_OK) return status;
  if (l->n_solve < l->n || l->n_solve > l->n + (l->section > 0)) {
    ag_ctx_error(ctx, nowhere, "--solve names %d start value%s for %d level%s%s", l->n_solve,
                 l->n_solve == 1 ? "" : "s", l->n, l->n == 1 ? "" : "s",
                 l->section ? " and the section (which needs one when the start does not lie on it)" : "");
    return AG_WRONG;
  }
  for (int i = 0; i < l->n_solve; i++)
    if (held(l->solve[i], r, sweep)) {
      ag_ctx_error(ctx, nowhere, "`%s` is both solved for and swept or set", l->solve[i]);
      return AG_WRONG;
    }
  take_guesses(l, sys);
  return AG_OK;
}

ag_status ag_levels_bind(ag_levels *l, ag_ctx *ctx, const ag_varied *v) {
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(l->n + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < l->n && status == AG_OK; i++) {
    size_t from = strlen(l->names[i]) + 1;
    status =
        ag_lang_expression(ctx, ag_varied_model(v), "--level", l->texts[i], from, strlen(l->texts[i] + from), &x[i]);
  }
  if (status == AG_OK && l->n) l->tape = ag_varied_tape(v, l->n, x);
  free(x);
  return status == AG_OK ? find_columns(l, ctx, ag_varied_system(v)) : status;
}

/* ---- solving ---- */

/* The equations of one member. */
typedef struct problem {
  const ag_levels *l;
  const ag_system *sys;
  ag_levels_start start;
  void *self;
  double t0, *params, *x, *record;
  int n; /* equations and unknowns; the last one may be the section */
  double scale[MAX_UNKNOWN];
} problem;

/* What the levels ask for with the parameters of the member. */
static void level_values(const problem *p, double *value) {
  const ag_tape *tape = p->l->tape;
  if (!tape) return;
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &p->t0, [AG_SEG_P] = p->params};
  double *slots = ag_heap_aligned(sizeof *slots * (size_t)(tape->n_slot + 1));
  (void)ag_tape_prep(tape, p->params, slots);
  (void)ag_tape_eval(tape, seg, slots, value);
  free(slots);
}

static bool values_at(problem *p, const double *u, double *f) {
  if (!p->start(p->self, u, p->params, p->x)) return false;
  ag_work *w = ag_work_create(p->sys, p->params);
  ag_record_fill(p->sys, w, p->t0, p->x, p->record);
  double value[MAX_UNKNOWN];
  level_values(p, value);
  for (int i = 0; i < p->l->n; i++) {
    f[i] = p->record[p->l->column[i]] - value[i];
    p->scale[i] = fmax(1, fabs(value[i]));
  }
  bool good = true;
  if (p->n > p->l->n) {
    p->scale[p->l->n] = 1;
    good = !ag_work_section(w, p->l->section - 1, p->t0, p->x, &f[p->l->n]);
  }
  ag_work_free(w);
  for (int i = 0; i < p->n; i++) good = good && isfinite(f[i]);
  return good;
}

static double size_of(const problem *p, const double *f) {
  double most = 0;
  for (int i = 0; i < p->n; i++) most = fmax(most, fabs(f[i]) / p->scale[i]);
  return most;
}

/* Newton with differences of the unknowns from..to for the equations from..to, the others held. Ends when the values
 * stop shrinking; true: converged. */
static bool newton(problem *p, int from, int to, double *u) {
  double f[MAX_UNKNOWN], a[MAX_UNKNOWN], b[MAX_UNKNOWN], J[MAX_UNKNOWN * MAX_UNKNOWN], d[MAX_UNKNOWN], v[MAX_UNKNOWN];
  int n = to - from;
  if (!values_at(p, u, f)) return false;
  for (int round = 0; round < 60; round++) {
    double now = 0, next = INFINITY;
    for (int i = from; i < to; i++) now = fmax(now, fabs(f[i]) / p->scale[i]);
    if (now == 0) return true;
    for (int k = 0; k < n; k++) {
      double old = u[from + k], h = 1e-6 * fmax(1, fabs(old));
      u[from + k] = old + h;
      bool good = values_at(p, u, a);
      u[from + k] = old - h;
      good = good && values_at(p, u, b);
      u[from + k] = old;
      if (!good) return false;
      for (int i = 0; i < n; i++) J[i * n + k] = (a[from + i] - b[from + i]) / (2 * h);
    }
    for (int i = 0; i < n; i++) d[i] = -f[from + i];
    if (ag_dense_solve(n, 1, J, d)) return now <= 1e-12;
    double cut = 1;
    for (int half = 0; half < 30; half++, cut /= 2) {
      memcpy(v, u, sizeof v);
      for (int k = 0; k < n; k++) v[from + k] = u[from + k] + cut * d[k];
      next = 0;
      if (values_at(p, v, a))
        for (int i = from; i < to; i++) next = fmax(next, fabs(a[i]) / p->scale[i]);
      else next = INFINITY;
      if (next < now) break;
    }
    if (!(next < now)) return now <= 1e-12;
    memcpy(u, v, sizeof v);
    memcpy(f, a, sizeof f);
  }
  return size_of(p, f) <= 1e-12;
}

/* Roots of equation i in unknown i when it is at most quadratic in it, as energy is in a velocity: 0, 1 or 2; -1: it is
 * not quadratic. */
static int quadratic(problem *p, int i, const double *u, double roots[2]) {
  double v[MAX_UNKNOWN], f[MAX_UNKNOWN], at[4], s = fmax(1, fabs(u[i]));
  static const double place[4] = {0, 1, -1, 2};
  memcpy(v, u, sizeof v);
  for (int k = 0; k < 4; k++) {
    v[i] = place[k] * s;
    if (!values_at(p, v, f)) return -1;
    at[k] = f[i];
  }
  double a = (at[1] + at[2] - 2 * at[0]) / 2, b = (at[1] - at[2]) / 2, c = at[0];
  double size = fabs(a) + fabs(b) + fabs(c) + p->scale[i];
  if (!(fabs(4 * a + 2 * b + c - at[3]) <= 1e-9 * size)) return -1;
  if (fabs(a) <= 1e-14 * size) {
    if (fabs(b) <= 1e-14 * size) return fabs(c) <= 1e-12 * p->scale[i] ? -1 : 0; /* it does not enter */
    roots[0] = -c / b * s;
    return 1;
  }
  double d = b * b - 4 * a * c;
  if (d < -1e-13 * size * size) return 0;
  double q = -0.5 * (b + copysign(sqrt(fmax(d, 0)), b));
  roots[0] = q / a * s;
  roots[1] = q == 0 ? roots[0] : c / q * s;
  return roots[0] == roots[1] ? 1 : 2;
}

typedef struct found {
  int n;
  bool outside; /* a quadratic equation has no root */
  double u[MAX_ROOT][MAX_UNKNOWN];
} found;

/* Goes through the levels one after the other, both roots of each; then all equations together. */
static void search(problem *p, int level, const double *guess, found *all) {
  double roots[2], u[MAX_UNKNOWN];
  memcpy(u, guess, sizeof u);
  if (level < p->l->n) {
    int n = quadratic(p, level, guess, roots);
    if (!n) all->outside = true;
    if (n < 0) search(p, level + 1, guess, all);
    for (int k = 0; k < n; k++) {
      u[level] = roots[k];
      search(p, level + 1, u, all);
    }
    return;
  }
  if (!newton(p, 0, p->n, u)) return;
  for (int i = 0; i < all->n; i++) {
    double apart = 0;
    for (int k = 0; k < p->n; k++) apart = fmax(apart, fabs(u[k] - all->u[i][k]) / fmax(1, fabs(u[k])));
    if (apart < 1e-9) return;
  }
  if (all->n < MAX_ROOT) memcpy(all->u[all->n++], u, sizeof u);
}

/* d/dt of the section along the motion at p->x, in its direction; > 0: it is crossed the right way. NaN: not on the
 * section. */
static double crossing_rate(problem *p) {
  const ag_system *sys = p->sys;
  int n = ag_system_dims(sys)->x, s = p->l->section - 1, direction = ag_system_model(sys)->sections[s].direction;
  double *dx = ag_heap_alloc(sizeof *dx * (size_t)n), *x = ag_heap_alloc(sizeof *x * (size_t)n), g[3] = {NAN, NAN, NAN},
         h = 1e-6;
  ag_work *w = ag_work_create(sys, p->params);
  bool good = !ag_work_rhs_full(w, p->t0, p->x, dx);
  for (int k = -1; k <= 1 && good; k++) {
    for (int i = 0; i < n; i++) x[i] = p->x[i] + k * h * dx[i];
    good = !ag_work_section(w, s, p->t0 + k * h, x, &g[k + 1]);
  }
  ag_work_free(w);
  free(dx);
  free(x);
  double rate = (g[2] - g[0]) / (2 * h), size = fmax(1, fabs(rate));
  if (!good || !(fabs(g[1]) <= 1e-11 * size)) return NAN;
  return direction ? direction * rate : fabs(rate);
}

const char *ag_levels_solve(const ag_levels *l, const ag_system *sys, double t0, ag_levels_start start, void *self,
                            double *unknown, double *params, double *x) {
  ag_record r;
  ag_record_init(&r, sys);
  problem p = {.l = l, .sys = sys, .start = start, .self = self, .t0 = t0, .params = params, .x = x, .n = l->n_solve};
  p.record = ag_heap_alloc(sizeof(double) * (size_t)r.width);
  ag_record_done(&r);
  found all = {0};
  double guess[MAX_UNKNOWN] = {0}, f[MAX_UNKNOWN];
  memcpy(guess, l->guess, sizeof(double) * (size_t)l->n_solve);
  bool begun = values_at(&p, guess, f), placed = begun;
  if (begun && p.n > l->n) placed = newton(&p, l->n, p.n, guess); /* onto the section first */
  if (placed) search(&p, 0, guess, &all);
  int best = -1;
  bool off = false, wrong_way = false;
  for (int i = 0; i < all.n; i++) {
    if (!values_at(&p, all.u[i], f)) continue;
    double rate = l->section ? crossing_rate(&p) : 1;
    if (isnan(rate)) off = true;
    else if (!(rate > 1e-12)) wrong_way = true;
    else if (best < 0 || all.u[i][0] > all.u[best][0]) best = i;
  }
  if (best >= 0) (void)values_at(&p, all.u[best], f);
  if (best >= 0) memcpy(unknown, all.u[best], sizeof(double) * (size_t)l->n_solve);
  free(p.record);
  if (best >= 0) return NULL;
  if (!begun) return "the start could not be completed";
  if (!placed) return "no start on the section was found";
  if (off) return "the start does not lie on the section";
  if (wrong_way) return "no start on the level crosses the section in its direction";
  return all.outside ? "outside the level" : "no start on the level was found";
}
