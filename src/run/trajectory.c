/* SPDX-License-Identifier: MIT
 * One trajectory: step, judge, find events, record, settle onto the constraints; until a named end. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/switch.h"
#include "run/trajectory.h"

/* Steps between checks; the energy of recorded states is also checked. */
enum { PROGRESS_EVERY = 64 };

void ag_run_defaults(ag_run_options *o) {
  *o = (ag_run_options){
      .t1 = 10, .rtol = 1e-10, .atol = 1e-12, .h_max = INFINITY, .method = ag_stepper_find("dop853"), .events = true};
}

/* ---- events ---- */

void ag_trajectory_event(run *r, int e, double s) {
  ag_run_result *res = r->res;
  AG_PUSH(res->event_times[e], res->event_count[e], r->event_cap[e]);
  res->event_times[e][res->event_count[e]++] = s;
}

void ag_trajectory_save(run *r) {
  if (!r->o->save || r->res->checkpoint.made) return;
  ag_checkpoint c = ag_trajectory_here(r);
  r->o->save(r->o->save_self, &c);
}

/* The state at a crossing of the section, as a row. */
static ag_end record_crossing(run *r, double s) {
  ag_mover *m = &r->m;
  if (!ag_mover_point(m, r->t, s)) return AG_END_STEP;
  return ag_recording_row(r, s, m->zt, m->c1, m->x) ? AG_END_TIME : AG_END_SINK;
}

/* ---- corners ---- */

/* Steps below this are negligible relative to those taken: errors in them stay below rounding error. It does not depend
 * on the end time, so that a continued run is the same. */
double ag_trajectory_nothing(const run *r) {
  double size = r->o->dt > 0 ? r->o->dt : fabs(r->smooth != 0 ? r->smooth : r->h);
  return 2e-14 * fabs(r->t) + 3e-12 * size;
}

/* Where the next step shall end when a corner lies ahead at s: not far before it, after this part of the way, so that
 * no stage of the step looks across; from very near beyond it. */
double ag_trajectory_before(const run *r, double s, double part) {
  double left = s - r->t, least = ag_trajectory_nothing(r);
  return fabs(left) > least ? r->t + part * left : s + copysign(2 * least, r->o->t1 - r->o->t0);
}

/* The crossings of the step are known: does the first one that is a corner end the step, and where? */
static bool find_corner(run *r, int n, double *end) {
  const ag_mover *m = &r->m;
  for (int i = 0; i < n; i++)
    if (m->hits[i].e < ag_model_n_events(ag_system_model(r->sys)) &&
        ag_model_events(ag_system_model(r->sys))[m->hits[i].e].cuts) {
      *end = ag_trajectory_before(r, m->hits[i].s, AG_CORNER_PART);
      return true;
    }
  return false;
}

/* Finds the crossings in the step. One that ends the run (a terminal event, the last requested crossing), or a corner,
 * shortens the step: *t1 is moved back to it, and r->cut or r->corner is set. AG_END_TIME otherwise. */
ag_end ag_trajectory_crossings(run *r, double *t1) {
  ag_mover *m = &r->m;
  int n_event = ag_model_n_events(ag_system_model(r->sys));
  double end = *t1, direction = *t1 > r->t ? 1 : -1;
  int n = ag_events_in_step(m, r->t, *t1 - r->t);
  const ag_hit *hits = m->hits;
  double last = *t1;
  r->corner = find_corner(r, n, &end);
  for (int i = 0; i < n && (r->cut == AG_END_TIME || hits[i].s == *t1);
       i++) { /* others at the moment of the end count too */
    int e = hits[i].e;
    if (r->corner && (hits[i].s - end) * direction > 0) break; /* found again in the next step */
    ag_trajectory_event(r, e, hits[i].s);
    r->passed = r->passed || (e < n_event && ag_model_events(ag_system_model(r->sys))[e].cuts);
    if (r->o->event) r->o->event(r->o->save_self, e, hits[i].s);
    if (e == n_event) AG_TRY_END(record_crossing(r, hits[i].s));
    if (r->cut != AG_END_TIME) continue;
    if (e == n_event && r->o->crossings && r->res->event_count[e] >= r->o->crossings) r->cut = AG_END_CROSSINGS;
    if (e < n_event && ag_model_events(ag_system_model(r->sys))[e].terminal && ag_mover_at(m, r->t, hits[i].s, m->zt)) {
      r->cut = AG_END_EVENT;
      r->res->end_event = e;
    }
    if (r->cut != AG_END_TIME) *t1 = last = hits[i].s;
    /* beyond a corner the constraints may be others: the last state is half a negligible step earlier */
    if (r->cut == AG_END_EVENT && ag_model_events(ag_system_model(r->sys))[e].cuts)
      last = r->t + (hits[i].s - r->t) / 2;
  }
  *t1 = last;
  if (r->corner && r->cut == AG_END_TIME) *t1 = end;
  return AG_END_TIME;
}

/* Operations of the interpreter after which a run is worth a compiler, about half a second, and beside code for many
 * steps at once one of single steps that is in the cache, a millisecond. Short ones take longer to call. */
static const double WORTH_COMPILING = 4e7, WORTH_LOADING = 1e5, TO_CALL = 60;

static void choose_engine(run *r, const double *params) {
  ag_mover *m = &r->m;
  ag_text reason = {0};
  bool asked = r->o->engine == AG_ENGINE_COMPILED;
  if (r->o->engine == AG_ENGINE_INTERPRETED || m->full || !m->n) return;
  if (r->o->t0 == r->o->t1 && !asked) return; /* no step is made */
  if (r->o->kernel) {
    ag_mover_use(m, params, r->o->kernel);
    return;
  }
  if (ag_stretch_begin(r)) return; /* the few steps that it does not make are interpreted, until they are many */
  if (!ag_mover_compile(m, params, !asked, &reason) && asked)
    r->res->engine_note = ag_text_cstr(&reason)[0] ? reason.s : NULL;
  else ag_text_done(&reason);
}

void ag_trajectory_engine(run *r) {
  ag_mover *m = &r->m;
  bool asked = r->o->engine == AG_ENGINE_COMPILED;
  double n = (double)(m->n_rhs - r->n_many), spent = n * r->cost;
  if (m->fused) ag_stretch_want(r);
  if (m->fused || ag_switch_slides(m) || r->tried_compiling || m->full) return;
  if (r->o->engine == AG_ENGINE_INTERPRETED || (asked && !r->stretch)) return;
  bool load = r->stretch && !r->tried_loading && n * (r->cost + TO_CALL) > WORTH_LOADING,
       compile = spent > WORTH_COMPILING;
  if (!load && !compile) return;
  ag_text reason = {0};
  r->tried_loading = true, r->tried_compiling = compile || asked;
  if (!ag_mover_compile(m, r->params, !r->tried_compiling, &reason) && r->tried_compiling)
    r->res->engine_note = ag_text_cstr(&reason)[0] ? reason.s : NULL;
  else ag_text_done(&reason);
}

/* The start: rate, signs of the events, first record, first step size. */
static ag_end begin(run *r) {
  ag_mover *m = &r->m;
  if (m->switches) AG_TRY_END(ag_trajectory_switch(r));
  if (ag_mover_rhs(m, r->t, m->z, m->dz)) return ag_trajectory_trouble(m->trouble);
  if (!ag_trajectory_finite(m->n, m->dz)) return AG_END_FINITE;
  ag_mover_begin(m);
  if (ag_mover_looks(m)) ag_mover_signs(m, r->t);
  return ag_trajectory_reached(r) ? AG_END_TIME : AG_END_SINK;
}

/* The core alone decides about the first step, as in lanes. */
static int core_rhs(void *self, double t, const double *z, double *dz) {
  ag_mover *m = self;
  m->n_rhs++;
  return ag_work_core(m->work, t, z, m->c, dz);
}

static double first_size(run *r) {
  ag_mover *m = &r->m;
  const ag_run_options *o = r->o;
  if (o->dt > 0) return o->t1 > o->t0 ? o->dt : -o->dt;
  ag_flow core = {.n = ag_system_dims(r->sys)->core, .atol = m->tolerance, .rhs = core_rhs, .self = m};
  return ag_control_first(m->in_place ? &core : &m->flow, m->method, r->t, o->t1, m->z, m->dz, o->rtol, r->control.atol,
                          m->space);
}

/* Continues another run. */
static void resume(run *r, const ag_checkpoint *from) {
  ag_mover *m = &r->m;
  if (ag_run_all_rows(r->sys, from)) (void)ag_rows_resume(r);
  ag_run_result *res = r->res;
  size_t n = sizeof(double) * (size_t)m->n;
  memcpy(m->z, from->z, n);
  memcpy(m->dz, from->dz, sizeof(double) * (size_t)m->n_carry);
  if (m->n_unit) memcpy(m->unit_length, from->unit, sizeof(double) * (size_t)m->n_unit);
  memcpy(m->c, from->c, sizeof(double) * (size_t)m->n_c);
  memcpy(m->sign, from->sign, sizeof(int) * (size_t)res->n_event);
  for (int e = 0; e < res->n_event; e++)
    for (int i = 0; i < from->event_count[e]; i++) ag_trajectory_event(r, e, from->event_times[e][i]);
  r->t = from->t;
  r->h = from->h;
  r->reach = from->reach;
  r->smooth = from->smooth;
  r->switch_t = from->switch_t, r->switch_gap = from->switch_gap, r->n_switch = from->n_switch;
  if (m->switches) ag_slide_resume(m);
  if (m->full) ag_rows_here(r);
  r->mark = from->mark;
  r->n_mark = from->n_mark;
  r->record[0] = from->t_row;
  r->n_row = from->n_row;
  r->n_recorded = from->n_grid;
  const double beta = r->control.beta; /* of the method, as compiled code has it; a file may be older */
  r->control = from->control, r->control.beta = beta;
  r->control.spare = fmin(fmax(from->control.spare, 0), AG_REST_SPARE);
  int n_x = ag_system_dims(r->sys)->x;
  for (int i = 0; i < n_x; i++) r->own_atol[i] = from->n_atol == n_x ? from->atol[i] : from->control.atol;
  res->steps = from->steps;
  res->rejected = from->rejected;
  res->left = from->left > 0 && from->left <= ag_model_n_domains(ag_system_model(r->sys)) ? from->left : 0;
  res->left_t = from->left_t, res->left_value = from->left_value, res->left_from = from->left_from,
  res->left_to = from->left_to;
  res->energy0 = from->energy0;
  res->energy_size = from->energy_size;
  res->energy_drift = from->energy_drift;
  res->residual_max = from->residual_max;
  res->work = from->work, res->work_t = from->work_t, res->work_energy = from->work_energy;
  m->n_rhs = from->rhs;
  m->fresh = from->steps == 0;
}

static long lmin(long a, long b) { return a < b ? a : b; }

static ag_end loop(run *r) {
  const ag_run_options *o = r->o;
  long max_steps = o->max_steps ? o->max_steps : 10000000;
  ag_end end = o->from ? AG_END_TIME : begin(r);
  if (end != AG_END_TIME) return end;
  if (r->m.step) return ag_trajectory_noisy(r, max_steps);
  double direction = o->t1 > o->t0 ? 1 : -1;
  if (!r->res->steps && !r->res->rejected) { /* the end time may have cut short the first size that was to be tried */
    r->m.n_rhs = 1;
    r->h = first_size(r);
  }
  ag_trajectory_save(r);
  while (r->t != o->t1) {
    if (o->stop && *o->stop) return AG_END_STOPPED;
    ag_trajectory_engine(r);
    if (r->res->steps >= max_steps) return AG_END_STEPS;
    if (fabs(r->h) > o->h_max) r->h = direction * o->h_max;
    if (!ag_stretch_steps(r, lmin(ag_recording_next(r), max_steps - r->res->steps))) AG_TRY_END(ag_trajectory_step(r));
    bool at_end = r->t == o->t1;
    if (!ag_trajectory_reached(r)) return AG_END_SINK;
    if (r->off) return AG_END_PROJECT;
    if (isnan(r->res->energy_drift)) return AG_END_ENERGY;
    AG_TRY_END(ag_remark_step(r));
    if (at_end) break;
    if (r->res->steps % PROGRESS_EVERY) continue;
    if (o->progress) o->progress(o->progress_self, r->t, r->res->steps);
    ag_trajectory_save(r);
  }
  ag_mover_output(&r->m, r->t, r->m.z, r->m.c, r->m.x);
  return ag_recording_off(r, ag_work_residual(r->m.work, r->t, r->m.x), r->m.x) ? AG_END_PROJECT : AG_END_TIME;
}

/* Where a longer run can continue: not where a motion failed; and an event that ended it would do so again. */
static void keep_checkpoint(run *r) {
  ag_end end = r->res->end;
  ag_checkpoint *kept = &r->res->checkpoint, c = ag_trajectory_here(r);
  if (end != AG_END_TIME && end != AG_END_STOPPED && end != AG_END_STEPS) ag_checkpoint_done(kept);
  else if (!kept->made) ag_checkpoint_keep(kept, &c);
  kept->event_times = kept->made ? r->res->event_times : NULL; /* may have moved */
}

/* The last state is always recorded, once. */
static void finish(run *r, double recorded_t) {
  ag_mover *m = &r->m;
  ag_run_result *res = r->res;
  ag_mover_output(m, r->t, m->z, m->c, m->x);
  ag_recording_energy(r);
  ag_recording_floor(r);
  if (res->end == AG_END_TIME && isnan(res->energy_drift)) res->end = AG_END_ENERGY;
  if (ag_balance_measures(r)) ag_balance_mark(r);
  memcpy(res->x, m->x, sizeof(double) * (size_t)(ag_system_dims(r->sys)->x));
  res->t = r->t;
  res->accepted = ag_stepper_tests(r->o->method) ? (long)m->dz[m->n] : -1;
  ag_recording_fill(r, r->t, m->z, m->c, m->x);
  res->residual_max = fmax(res->residual_max, r->record[res->width - 1]);
  bool have = r->o->section || recorded_t == r->t;
  if (!have && res->end != AG_END_SINK && r->sink && !r->sink->row(r->sink->self, r->record)) res->end = AG_END_SINK;
  memcpy(res->record, r->record, sizeof(double) * (size_t)res->width);
  memcpy(res->doubts, m->doubts, sizeof *res->doubts * (size_t)res->n_event);
  memcpy(res->fitted, m->fitted, sizeof *res->fitted * (size_t)res->n_event);
  res->rhs = m->n_rhs;
  res->compiled = m->fused || r->stretch;
}

static bool reads_time(const ag_system *sys) {
  const ag_tape *choices = ag_system_role(sys, AG_ROLE_SWITCHES);
  return ag_system_role(sys, AG_ROLE_RHS)->n_need[AG_SEG_T] || (choices && choices->n_need[AG_SEG_T]);
}

/* Has nothing moved? What depends on time may have set it in motion later. */
static bool still_at(const run *r, const double *x0) {
  const ag_dims *n = ag_system_dims(r->sys);
  for (int i = 0; i < n->xi; i++)
    if (r->res->x[n->q + i] != x0[n->q + i]) return false;
  return true;
}

static void result_init(ag_run_result *result, const ag_system *sys, const ag_run_options *o) {
  ag_record layout;
  ag_record_init(&layout, sys);
  *result = (ag_run_result){.end_event = -1,
                            .width = layout.width,
                            .n_event = ag_run_n_event(sys, o),
                            .energy_law = o->noise == AG_NOISE_PATH ? AG_ENERGY_NOISE : ag_system_energy_law(sys),
                            .work_t = o->t0};
  ag_record_done(&layout);
  result->x = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1));
  result->record = ag_heap_alloc(sizeof(double) * (size_t)result->width);
  result->event_count = ag_heap_alloc(sizeof(int) * (size_t)(result->n_event + 1));
  result->event_times = ag_heap_alloc(sizeof(double *) * (size_t)(result->n_event + 1));
  result->undefined = ag_heap_alloc(sizeof(double) * (size_t)result->width);
  for (int i = 0; i < result->width; i++) result->undefined[i] = NAN;
  result->fitted = ag_heap_alloc((size_t)result->n_event + 1);
  result->doubts = ag_heap_alloc(sizeof *result->doubts * (size_t)(result->n_event + 1));
}

static void run_init(run *r) {
  r->t = r->reach = r->mark = r->o->t0;
  r->switch_t = r->switch_at = r->ahead = NAN;
  r->cut = r->pending = AG_END_TIME;
  r->record = ag_heap_alloc(sizeof(double) * (size_t)r->res->width);
  r->column_at = ag_heap_alloc(sizeof(int) * (size_t)r->res->width);
  r->column_out = ag_heap_alloc(sizeof(double) * (size_t)r->res->width);
  r->column_slots = ag_heap_alloc(sizeof(double) * (size_t)(r->o->columns ? r->o->columns->n_slot + 1 : 1));
  (void)ag_run_columns_at(r->sys, r->column_at);
  if (r->o->columns) (void)ag_tape_prep(r->o->columns, r->params, r->column_slots);
  const ag_dims *n = ag_system_dims(r->sys);
  size_t n_z = (size_t)(n->z + n->x);
  r->ahead_z = ag_heap_alloc(sizeof(double) * (n_z + 1));
  r->ahead_c = ag_heap_alloc(sizeof(double) * (size_t)(n->c + n->full_switches + 1));
  ag_rows_begin(r);
  r->keep = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(r->sys)->core + 1));
  r->own_atol = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(r->sys)->x + 1));
  r->event_cap = ag_heap_alloc(sizeof(int) * (size_t)(r->res->n_event + 1));
  ag_mover_create(&r->m, r->sys, r->params, r->o, false);
  r->cost = ag_mover_cost(&r->m);
  ag_rows_choosing(r);
  r->guard = ag_guard_create(r->sys);
  ag_control_init(&r->control, r->o->method, r->o->rtol, r->o->atol);
  choose_engine(r, r->params);
  r->record[0] = NAN;
}

static double least(int n, const double *v, double than) {
  for (int i = 0; i < n; i++) than = fmin(than, v[i]);
  return than;
}

static void run_done(run *r) {
  ag_guard_free(r->guard);
  ag_stretch_free(r->stretch);
  ag_mover_free(&r->m);
  free(r->record);
  free(r->column_at);
  free(r->column_out);
  free(r->column_slots);
  free(r->event_cap);
  free(r->keep);
  free(r->own_atol);
  free(r->ahead_z);
  free(r->ahead_c);
}

ag_status ag_run(ag_ctx *ctx, const ag_system *sys, const double *params, const double *x0, const ag_run_options *o,
                 const ag_sink *sink, ag_run_result *result) {
  AG_TRY(ag_run_check(ctx, sys, o));
  ag_heap_clock_stop(); /* of deriving the equations */
  AG_TRY(ag_run_check_levels(ctx, sys, params, x0, o));
  if (o->noise == AG_NOISE_PATH) AG_TRY(ag_run_warm(ctx, sys, params, o->method));
  result_init(result, sys, o);
  run r = {.sys = sys, .o = o, .sink = sink, .res = result, .params = params};
  run_init(&r);
  int trouble = AG_FINE;
  if (o->from) resume(&r, o->from);
  else if (r.m.full) memcpy(r.m.z, x0, sizeof(double) * (size_t)r.m.n), ag_rows_here(&r);
  else trouble = ag_work_reduce(r.m.work, o->t0, x0, r.m.c, r.m.z);
  if (!o->from) r.control.atol = ag_scale_atol(sys, r.m.work, o, x0, r.own_atol);
  ag_mover_tolerate(&r.m, r.control.atol, r.own_atol);
  result->atol = r.control.atol;
  result->least_atol = least(ag_system_dims(sys)->x, r.own_atol, r.control.atol);
  result->loose = ag_scale_loose(sys, o, r.own_atol, x0, &result->loose_size);
  if (!trouble && !o->from && !r.m.step) result->at_rest = ag_remark_rest(&r, x0);
  result->end = trouble ? ag_trajectory_trouble(trouble) : loop(&r);
  result->pointwise = (r.m.full || r.m.step) && ag_system_dims(sys)->switches && !r.m.switches;
  keep_checkpoint(&r);
  finish(&r, r.record[0]);
  if (reads_time(sys)) result->at_rest = result->at_rest && still_at(&r, x0);
  ag_remark_end(&r, x0);
  run_done(&r);
  return AG_OK;
}
