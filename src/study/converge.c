/* SPDX-License-Identifier: MIT
 * Measured orders: runs with smaller and smaller fixed steps against a converged reference.
 *
 * The error of a run is the largest distance of a coordinate or velocity from the reference, half-way and at the end,
 * relative to the largest size of that quantity there. The order is the slope of log(error) over log(dt) through the
 * last points above the floor, which is the error of the reference itself: three times the distance of two references
 * with tolerances twenty times apart (slope.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "study/converge_noise.h"
#include "study/slope.h"
#include "study/study.h"
#include "study/volume.h"

enum { PARTS = 2, MAX_POINTS = 48, CHOSEN_STEPS = 320, VOLUME_STEPS = 10 };
static const long MOST_STEPS = 1L << 15;
static const long MOST_RHS = 1000000;  /* of one run */
static const double MOST_HALF = 0.5;   /* of a confidence interval that supports an order */
static const double MOST_SECONDS = 20; /* of one method, if not asked for otherwise */

const char *ag_agrees_word(ag_agrees a) {
  static const char *const words[] = {"yes", "higher", "no", "undecided"};
  return words[a];
}

/* The records of a run half-way and at the end, and the ranges of all numbers over all records. */
typedef struct taken {
  int width, n;
  double *rows, *low, *high;
} taken;

static bool take_row(void *self, const double *record) {
  taken *k = self;
  if (k->n <= PARTS) memcpy(k->rows + k->n * k->width, record, sizeof(double) * (size_t)k->width);
  for (int i = 0; i < k->width; i++) {
    k->low[i] = k->n ? fmin(k->low[i], record[i]) : record[i];
    k->high[i] = k->n ? fmax(k->high[i], record[i]) : record[i];
  }
  k->n++;
  return true;
}

static taken taken_create(int width) {
  size_t size = sizeof(double) * (size_t)width;
  return (taken){width, 0, ag_heap_alloc((PARTS + 1) * size), ag_heap_alloc(size), ag_heap_alloc(size)};
}

static void taken_done(taken *k) { free(k->rows), free(k->low), free(k->high); }

/* The study while it runs. */
typedef struct study {
  ag_converge *c;
  ag_ctx *ctx;
  ag_system *sys;
  const ag_converge_options *o;
  taken exact; /* the reference */
  double *x0;
  ag_volume *volume; /* NULL: there is no measure to keep */
} study;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ag_run_options options_of(const study *s, const ag_stepper *method) {
  ag_run_options o;
  ag_run_defaults(&o);
  o.t0 = s->c->t0, o.t1 = s->c->t1;
  o.method = method;
  o.events = false;
  o.stop = s->o->stop;
  o.every = fabs(o.t1 - o.t0) / PARTS;
  return o;
}

static double norm(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (x[i] - (y ? y[i] : 0)) * (x[i] - (y ? y[i] : 0));
  return sqrt(sum);
}

static bool is_state(const ag_column *c) {
  return c->kind == AG_COL_COORD || c->kind == AG_COL_VELOCITY || c->kind == AG_COL_PROCESS;
}

/* Largest distance of the quantities in row i of `a` from those of `b`, relative to their sizes in all rows of `b`. */
static double distance(const study *s, const taken *a, int i, const taken *b, int j) {
  double worst = 0;
  for (int k = 0; k < s->c->record.n_column; k++) {
    const ag_column *c = &s->c->record.columns[k];
    if (!is_state(c)) continue;
    double size = 0;
    for (int r = 0; r <= PARTS && r < b->n; r++)
      size = fmax(size, norm(b->rows + r * b->width + c->offset, NULL, c->rows * c->cols));
    double gap = norm(a->rows + i * a->width + c->offset, b->rows + j * b->width + c->offset, c->rows * c->cols);
    gap /= size > 1e-6 ? size : 1;
    if (!(gap <= worst)) worst = gap; /* NaN stays */
  }
  return worst;
}

static double error_of(const study *s, const taken *k) {
  double worst = 0;
  if (k->n != PARTS + 1) return NAN;
  for (int i = 1; i <= PARTS; i++) {
    double gap = distance(s, k, i, &s->exact, i);
    if (!(gap <= worst)) worst = gap;
  }
  return worst;
}

/* ---- the reference ---- */

static ag_status reference_run(study *s, double rtol, double every, taken *k, long *steps) {
  ag_run_options o = options_of(s, ag_stepper_find("dop853"));
  ag_run_result res;
  ag_sink sink = {take_row, k};
  o.rtol = rtol, o.atol = rtol * 1e-2, o.every = every;
  o.max_steps = 1000000;
  AG_TRY(ag_run(s->ctx, s->sys, ag_system_param_values(s->sys), s->x0, &o, &sink, &res));
  *steps = res.steps;
  ag_end end = res.end;
  ag_run_done(&res);
  if (end == AG_END_TIME) return AG_OK;
  if (end != AG_END_STOPPED)
    ag_ctx_error(s->ctx, (ag_pos){0}, "there is no reference: the motion ends with \"%s\" before t = %g",
                 ag_end_word(end), s->c->t1);
  return AG_FAILED;
}

/* Observables that the reference does not change by more than 1e-9 of their size. */
static void find_invariants(study *s, const taken *all) {
  ag_converge *c = s->c;
  c->invariants = ag_heap_alloc(sizeof *c->invariants * (size_t)(c->record.n_column + 1));
  for (int i = 0; i < c->record.n_column; i++) {
    const ag_column *x = &c->record.columns[i];
    if (x->kind != AG_COL_OBSERVABLE || x->rows * x->cols != 1) continue;
    double low = all->low[x->offset], high = all->high[x->offset], size = fmax(fabs(low), fabs(high));
    if (high - low <= 1e-9 * fmax(size, 1e-3)) c->invariants[c->n_invariant++] = x;
  }
}

static ag_status make_reference(study *s) {
  ag_converge *c = s->c;
  double every = fabs(c->t1 - c->t0) / PARTS;
  taken rough = taken_create(c->record.width), all = taken_create(c->record.width);
  long steps;
  s->exact = taken_create(c->record.width);
  ag_status status = reference_run(s, 2e-14, every, &s->exact, &c->reference_steps);
  if (status == AG_OK) status = reference_run(s, 4e-13, every, &rough, &steps);
  if (status == AG_OK) status = reference_run(s, 1e-12, 0, &all, &steps);
  if (status == AG_OK) {
    c->floor = fmax(3 * error_of(s, &rough), 1e-13);
    find_invariants(s, &all);
  }
  taken_done(&rough);
  taken_done(&all);
  return status;
}

/* An end time if none was given: 1, 2 or 5 times a power of ten, in which a precise run (of a model with noise:
 * without it) takes at most this many steps. */
ag_status ag_converge_end(ag_ctx *ctx, ag_system *sys, const double *x0, double t0, long steps, double *t1) {
  static const double most = 10, factors[] = {5, 2, 1};
  ag_run_options o;
  ag_run_result res;
  ag_run_defaults(&o);
  o.noise = ag_system_noise(sys) == AG_NOISE_NONE ? AG_NOISE_REFUSED : AG_NOISE_OFF;
  o.events = false;
  o.t0 = t0, o.t1 = t0 + most, o.every = -1, o.max_steps = steps;
  o.rtol = 1e-12, o.atol = 1e-14;
  AG_TRY(ag_run(ctx, sys, ag_system_param_values(sys), x0, &o, NULL, &res));
  double reached = res.t - t0, power = pow(10, floor(log10(fmax(reached, 1e-6) * (1 + 1e-9))));
  int i = 0;
  if (res.end != AG_END_TIME && res.end != AG_END_STEPS) reached *= 0.5; /* it ends there */
  ag_run_done(&res);
  while (i < 2 && factors[i] * power > reached * (1 + 1e-9)) i++;
  *t1 = t0 + factors[i] * power;
  return AG_OK;
}

/* ---- one method ---- */

/* A run in n steps. False: it did not reach the end. */
static bool try_steps(study *s, const ag_stepper *method, long n, taken *k, ag_run_result *res,
                      ag_converge_point *point) {
  ag_run_options o = options_of(s, method);
  ag_sink sink = {take_row, k};
  o.dt = fabs(o.t1 - o.t0) / (double)n;
  k->n = 0;
  double begun = seconds();
  if (ag_run(s->ctx, s->sys, ag_system_param_values(s->sys), s->x0, &o, &sink, res) != AG_OK) return false;
  *point = (ag_converge_point){o.dt, error_of(s, k), seconds() - begun, res->steps, res->rhs};
  bool good = res->end == AG_END_TIME && isfinite(point->error);
  if (!good) ag_run_done(res);
  return good;
}

/* The order, from the points above the floor, of which there are `above`. Reversible methods have
 * errors in even powers of the step size. */
static void fit_last(ag_converge_row *row, int above) {
  bool even = row->method->keeps & (AG_KEEPS_REVERSIBILITY | AG_KEEPS_SYMMETRY);
  ag_slope s = ag_slope_best(row->points, above, even ? 2 : 1);
  row->order = s.order, row->half = s.half, row->n_fit = s.n;
}

ag_agrees ag_agrees_judge(double order, double half, double declared, double slack) {
  const double off = order - declared;
  if (isnan(off) || half > MOST_HALF) return AG_AGREES_UNDECIDED;
  if (fabs(off) <= slack) return AG_AGREES_YES;
  if (fabs(off) <= slack + half) return AG_AGREES_UNDECIDED;
  return off > 0 ? AG_AGREES_HIGHER : AG_AGREES_NO;
}

/* An order that is not the declared one must be settled: a slope that still changes with the step size says neither,
 * nor do a few small errors of a method of high order. */
static ag_agrees judge(const ag_converge_row *row, int above) {
  enum { LAST = 4 };
  const int declared = row->method->order;
  const double slack = declared <= 6 ? 0.1 : 0.3;
  const ag_agrees found = ag_agrees_judge(row->order, row->half, declared, slack);
  if (found == AG_AGREES_YES || found == AG_AGREES_UNDECIDED) return found;
  if (above < LAST || (declared > 6 && row->points[0].error < 1e4 * row->points[above - 1].error))
    return AG_AGREES_UNDECIDED;
  const ag_slope last = ag_slope_line(row->points + above - LAST, LAST);
  if (ag_agrees_judge(last.order, last.half, declared, slack) != found) return AG_AGREES_UNDECIDED;
  return ag_agrees_judge(row->order, row->half + ag_slope_drift(row->points, above), declared, slack);
}

/* Small errors that no longer decrease as they should, over two steps of the series, are rounding. */
static bool is_rounding(const ag_converge_row *row) {
  const ag_converge_point *p = &row->points[row->n_point - 1];
  if (row->n_point < 3 || p->error > 1e-9) return false;
  return log(p[-2].error / p->error) < 0.7 * row->method->order * log(p[-2].dt / p->dt);
}

/* The next number of steps, even: half again as many or so; in a finer series for orders above 6. */
static long next_steps(const ag_stepper *method, long n) {
  double by = method->order > 6 ? 1.19 : 1.4142;
  long next = 2 * lround(0.5 * by * (double)n);
  return next > n ? next : n + 2;
}

/* For one method. */
static double budget(const study *s) { return s->o->seconds > 0 ? s->o->seconds : MOST_SECONDS; }

/* Would the run after one that took `last` seconds be too much for a method, begun at this time? */
static bool takes_too_long(const study *s, double begun, double last) {
  return seconds() - begun + 1.5 * last > budget(s);
}

static void measure(study *s, ag_converge_row *row) {
  taken k = taken_create(s->c->record.width);
  int above = 0;
  double begun = seconds(), last = 0;
  row->points = ag_heap_alloc(sizeof *row->points * MAX_POINTS);
  for (long n = 2; n <= MOST_STEPS && row->n_point < MAX_POINTS; n = next_steps(row->method, n)) {
    ag_run_result res;
    if (s->o->stop && *s->o->stop) break;
    if ((row->stopped = n > 2 && takes_too_long(s, begun, last))) break;
    last = seconds();
    bool good = try_steps(s, row->method, n, &k, &res, &row->points[row->n_point]);
    last = seconds() - last;
    if (!good) {
      row->n_point = above = 0; /* steps that are too long */
      continue;
    }
    ag_run_done(&res);
    const ag_converge_point *p = &row->points[row->n_point++];
    if (p->error < s->c->floor) break;
    if (is_rounding(row)) {
      while (above > 0 && row->points[above - 1].error < 20 * p->error) above--;
      break;
    }
    above = row->n_point;
    /* settled: well inside, with curvature that no longer matters */
    if (above > 8 && ag_slope_line(row->points + above - 4, 4).half < 0.01 && p->error < 1e-3 && row->method->order < 4)
      break;
    if (p->rhs > MOST_RHS) break;
  }
  fit_last(row, above);
  row->agrees = judge(row, above);
  row->to = s->c->t1;
  taken_done(&k);
}

static bool is_open(const ag_converge_row *row) {
  return !row->refused && !row->stopped && (row->agrees == AG_AGREES_UNDECIDED || row->agrees == AG_AGREES_HIGHER);
}

/* Orders that are open are measured over parts of a chosen time, too, where leading terms need not cancel. */
static ag_status measure_parts(study *s) {
  static const double parts[] = {0.6, 0.37, 0.2};
  ag_converge_options o = *s->o;
  o.seconds = 0.25 * budget(s);
  ag_status status = AG_OK;
  for (int p = 0; p < 3 && status == AG_OK; p++) {
    ag_converge c = *s->c;
    study part = {.c = &c, .ctx = s->ctx, .sys = s->sys, .o = &o, .x0 = s->x0};
    int i = 0;
    while (i < c.n_row && !is_open(&c.rows[i])) i++;
    if (i == c.n_row) break;
    c.t1 = c.t0 + parts[p] * (c.t1 - c.t0), c.n_invariant = 0;
    status = make_reference(&part);
    for (; i < c.n_row && status == AG_OK; i++) {
      if (!is_open(&c.rows[i])) continue;
      ag_converge_row *row = &c.rows[i], again = {.method = row->method};
      measure(&part, &again);
      if (again.agrees == AG_AGREES_YES)
        row->order = again.order, row->half = again.half, row->agrees = again.agrees, row->to = again.to;
      free(again.points);
      status = o.stop && *o.stop ? AG_FAILED : AG_OK;
    }
    free(c.invariants);
    taken_done(&part.exact);
  }
  return status;
}

/* ---- what is kept ---- */

/* The same steps back from the end: the distance from the start. */
static double go_back(study *s, const ag_converge_row *row, const ag_run_result *there) {
  taken k = taken_create(s->c->record.width);
  ag_run_options o = options_of(s, row->method);
  ag_run_result res;
  ag_sink sink = {take_row, &k};
  double back = NAN;
  o.t0 = s->c->t1, o.t1 = s->c->t0, o.dt = row->dt;
  if (ag_run(s->ctx, s->sys, ag_system_param_values(s->sys), there->x, &o, &sink, &res) == AG_OK) {
    if (res.end == AG_END_TIME && k.n == PARTS + 1) back = distance(s, &k, PARTS, &s->exact, 0);
    ag_run_done(&res);
  }
  taken_done(&k);
  return back;
}

/* Steps of the method with the step size of the row, as a map of states. */
typedef struct stepping {
  study *s;
  const ag_converge_row *row;
  double t1;
} stepping;

static bool map_state(void *self, const double *x, double *x1) {
  const stepping *k = self;
  const study *s = k->s;
  ag_run_options o = options_of(s, k->row->method);
  ag_run_result res;
  o.dt = k->row->dt, o.every = -1, o.t1 = k->t1;
  if (ag_run(s->ctx, s->sys, ag_system_param_values(s->sys), x, &o, NULL, &res) != AG_OK) return false;
  bool good = res.end == AG_END_TIME;
  memcpy(x1, res.x, sizeof *x1 * (size_t)ag_system_dims(s->sys)->x);
  ag_run_done(&res);
  return good;
}

/* The change of phase volume in the first steps: differences of long motions are too inaccurate. */
static double volume_of(study *s, const ag_converge_row *row) {
  const ag_converge *c = s->c;
  double t1 = c->t0 + copysign(fmin(VOLUME_STEPS * row->dt, fabs(c->t1 - c->t0)), c->t1 - c->t0);
  return s->volume ? fabs(ag_volume_change(s->volume, t1, map_state, &(stepping){s, row, t1})) : NAN;
}

static void find_kept(study *s, ag_converge_row *row) {
  const ag_converge *c = s->c;
  int best = 0;
  for (int i = 1; i < row->n_point; i++)
    if (fabs(log(row->points[i].error / 1e-5)) < fabs(log(row->points[best].error / 1e-5))) best = i;
  row->kept = ag_heap_alloc(sizeof(double) * (size_t)(c->n_invariant + 1));
  for (int i = 0; i < c->n_invariant; i++) row->kept[i] = NAN;
  row->dt = row->energy = row->constraint = row->back = row->volume = NAN;
  if (!row->n_point) return;
  taken k = taken_create(c->record.width);
  ag_run_options o = options_of(s, row->method);
  ag_run_result res;
  ag_sink sink = {take_row, &k};
  o.dt = row->dt = row->points[best].dt, o.every = 0;
  if (ag_run(s->ctx, s->sys, ag_system_param_values(s->sys), s->x0, &o, &sink, &res) == AG_OK) {
    if (res.energy_law == AG_ENERGY_CONSERVED) row->energy = res.energy_drift / fmax(res.energy_size, 1e-300);
    row->constraint = res.residual_max;
    for (int i = 0; i < c->n_invariant; i++) {
      double low = k.low[c->invariants[i]->offset], high = k.high[c->invariants[i]->offset];
      row->kept[i] = (high - low) / fmax(fmax(fabs(low), fabs(high)), 1e-3);
    }
    row->back = go_back(s, row, &res);
    row->volume = volume_of(s, row);
    ag_run_done(&res);
  }
  taken_done(&k);
}

/* ---- all of them ---- */

/* Does the method fit the model? The reason if not. */
static char *refusal(study *s, const ag_stepper *method) {
  ag_ctx ctx = {0};
  ag_run_result res;
  ag_text why = {0};
  ag_run_options o = options_of(s, method);
  o.dt = fabs(o.t1 - o.t0), o.t1 = o.t0;
  ag_run_prepare(s->sys, &o);
  if (ag_run(&ctx, s->sys, ag_system_param_values(s->sys), s->x0, &o, NULL, &res) == AG_OK) ag_run_done(&res);
  else ag_text_str(&why, ctx.n_diag ? ctx.diags[0].message : "it does not fit this model");
  ag_ctx_done(&ctx);
  return why.s;
}

ag_status ag_unknown_method(const char *name, ag_text *usage) {
  int n = ag_stepper_count();
  const char **names = ag_heap_alloc(sizeof *names * (size_t)n);
  for (int i = 0; i < n; i++) names[i] = ag_stepper_at(i)->name;
  const char *near = ag_nearest(name, n, names);
  ag_text_printf(usage, "--method: there is no '%s'", name);
  if (near) ag_text_printf(usage, "; did you mean %s?", near);
  ag_text_str(usage, " (`anagyre list methods` shows all)");
  free(names);
  return AG_WRONG;
}

int ag_converge_methods(const char *text, bool noise, const ag_stepper ***methods, ag_text *usage) {
  bool all = strcmp(text, "all") == 0, good = true;
  ag_text name = {0};
  int n = 0;
  *methods = ag_heap_alloc(sizeof **methods * (strlen(text) + (size_t)ag_stepper_count()));
  for (int i = 0; all && i < ag_stepper_count(); i++)
    if (noise || !ag_stepper_noisy(ag_stepper_at(i))) (*methods)[n++] = ag_stepper_at(i);
  while (!all && good && ag_api_next_column(&text, &name)) {
    const ag_stepper *method = ag_stepper_find(ag_text_cstr(&name));
    if (method) (*methods)[n++] = method;
    else good = ag_unknown_method(ag_text_cstr(&name), usage) == AG_OK;
  }
  ag_text_done(&name);
  return good ? n : -1;
}

static ag_status choose_methods(ag_converge *c, const char *text, ag_text *usage) {
  const ag_stepper **methods;
  const int n = ag_converge_methods(text, false, &methods, usage);
  c->rows = ag_heap_alloc(sizeof *c->rows * (size_t)(n > 0 ? n : 1));
  for (int i = 0; i < n; i++) c->rows[c->n_row++].method = methods[i];
  free(methods);
  return n < 0 ? AG_WRONG : AG_OK;
}

static ag_status measure_all(study *s, bool all, ag_text *usage) {
  ag_converge *c = s->c;
  for (int i = 0; i < c->n_row; i++) {
    ag_converge_row *row = &c->rows[i];
    row->order = row->half = NAN;
    row->agrees = AG_AGREES_UNDECIDED;
    row->refused = refusal(s, row->method);
    if (row->refused && !all) {
      ag_text_str(usage, row->refused);
      return AG_WRONG;
    }
  }
  for (int i = 0; i < c->n_row; i++) {
    ag_converge_row *row = &c->rows[i];
    if (row->refused) continue;
    if (s->o->progress) s->o->progress(s->o->progress_self, i, i);
    measure(s, row);
    find_kept(s, row);
    if (s->o->stop && *s->o->stop) return AG_FAILED;
  }
  return AG_OK;
}

ag_status ag_converge_run(ag_converge *c, ag_ctx *ctx, ag_system *sys, const ag_converge_options *o, ag_text *usage) {
  *c = (ag_converge){.t0 = o->t0, .t1 = o->t1};
  study s = {.c = c, .ctx = ctx, .sys = sys, .o = o};
  ag_record_init(&c->record, sys);
  ag_status status = choose_methods(c, o->methods, usage);
  if (status != AG_OK) return status;
  s.x0 = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1));
  ag_system_state0(sys, s.x0);
  status = isnan(c->t1) ? ag_converge_end(ctx, sys, s.x0, c->t0, CHOSEN_STEPS, &c->t1) : AG_OK;
  if (status == AG_OK) status = make_reference(&s);
  if (status == AG_OK) s.volume = ag_volume_create(ctx, sys, c->t0, s.x0);
  c->has_measure = s.volume;
  if (status == AG_OK) status = measure_all(&s, strcmp(o->methods, "all") == 0, usage);
  if (status == AG_OK && isnan(o->t1)) status = measure_parts(&s);
  ag_volume_free(s.volume);
  taken_done(&s.exact);
  free(s.x0);
  return status;
}

void ag_converge_done(ag_converge *c) {
  for (int i = 0; i < c->n_row; i++) {
    free(c->rows[i].refused);
    free(c->rows[i].points);
    free(c->rows[i].kept);
  }
  free(c->rows);
  free(c->invariants);
  ag_record_done(&c->record);
}
