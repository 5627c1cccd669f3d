/* SPDX-License-Identifier: MIT
 * Steps of a batch in which something may be crossed, examined one at a time by the code of a single run: the same
 * dense output, samples and real steps, so that the result depends on the member alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/batch.h"
#include "run/corner.h"
#include "run/switch.h"

/* Where the equations switch: what a run knows of the switches of the member so far (ag_checkpoint). */
typedef struct turns {
  double last, gap;
  long n;
} turns;

struct ag_queue {
  ag_batch_job *b;
  run r;                    /* its mover uses the data of a lane: its worker, prepared parameters */
  ag_run_options o;         /* of it */
  ag_watch_code *functions; /* compiled, for its mover */
  int n_prep[AG_FUSED_TAPES];
  const double *params; /* that the functions are prepared for */
  bool *fresh;          /* per lane */
  turns *turns;         /* per lane */
  int *sign;            /* of the switching functions */
  double *prep[AG_FUSED_TAPES];
  double *record, *column_slots, *out;
};

ag_queue *ag_queue_create(ag_batch_job *b, int lanes) {
  ag_queue *q = ag_heap_alloc(sizeof *q);
  q->b = b;
  ag_mover *m = &q->r.m;
  bool core = b->result->core_only;
  q->o = b->o->run;
  ag_mover_create(m, b->sys, ag_system_param_values(b->sys), &q->o, core);
  ag_corner_create(&q->r, b->sys, &q->o);
  if (b->kernel) ag_mover_use(m, ag_system_param_values(b->sys), b->kernel);
  if (!b->watch.switches) {
    m->watch = true;
    m->counts = b->watch.counts;
    ag_look_create(m, b->watch.tape, ag_system_param_values(b->sys));
    q->functions = ag_watch_code_create(b->watch.tape, ag_batch_eager(b));
    ag_watcher_share(m->watcher, q->functions);
  }
  ag_work_free(m->work);
  free(m->prep);
  free(m->prep_jacobian);
  free(m->prep_finish);
  m->work = NULL;
  m->prep = m->prep_jacobian = m->prep_finish = NULL;
  size_t w = (size_t)lanes;
  for (int i = 0; i < AG_FUSED_TAPES && b->kernel; i++) {
    q->n_prep[i] = (ag_fused_n_prep(b->kernel, i) + 8) / 8 * 8; /* each on a boundary of its own */
    q->prep[i] = ag_heap_aligned(sizeof(double) * w * (size_t)q->n_prep[i]);
  }
  q->fresh = ag_heap_alloc(w);
  q->turns = ag_heap_alloc(sizeof *q->turns * w);
  q->sign = ag_heap_alloc(sizeof *q->sign * (size_t)b->watch.n);
  q->record = ag_heap_alloc(sizeof(double) * (size_t)b->result->width);
  if (!core) return q;
  q->column_slots = ag_heap_aligned(sizeof(double) * (size_t)(b->columns.tape->n_slot + 1));
  q->out = ag_heap_alloc(sizeof(double) * (size_t)(b->columns.tape->n_out + 1));
  return q;
}

void ag_queue_free(ag_queue *q) {
  if (!q) return;
  q->r.m.work = NULL;
  q->r.m.prep = q->r.m.prep_jacobian = q->r.m.prep_finish = NULL;
  for (int i = 0; i < AG_FUSED_TAPES; i++) free(q->prep[i]);
  ag_mover_free(&q->r.m);
  ag_corner_free(&q->r);
  ag_watch_code_free(q->functions);
  void *all[] = {q->fresh, q->turns, q->sign, q->record, q->column_slots, q->out, q};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* One lane of an array. */
static void take(const ag_lane_step *s, int n, const double *from, double *to) {
  for (int k = 0; k < n; k++) to[k] = from[k * s->lanes + s->lane];
}

/* The functions become those of a member. */
static void prepare(ag_queue *q, const double *params) {
  if (q->params != params) (q->b->watch.switches ? ag_switch_prepare : ag_look_prepare)(&q->r.m, params);
  q->params = params;
}

/* The mover becomes that of the lane. */
static void enter(ag_queue *q, const ag_lane_step *s) {
  ag_mover *m = &q->r.m;
  m->work = s->work;
  m->prep = q->prep[AG_FUSED_RHS] + s->slot * q->n_prep[AG_FUSED_RHS];
  m->prep_jacobian = q->prep[AG_FUSED_JACOBIAN] + s->slot * q->n_prep[AG_FUSED_JACOBIAN];
  m->prep_finish = q->prep[AG_FUSED_FINISH] + s->slot * q->n_prep[AG_FUSED_FINISH];
  prepare(q, s->params);
  take(s, m->n, s->z, m->z);
  take(s, ag_system_dims(m->sys)->c, s->c, m->c);
  take(s, m->n_unit, s->unit, m->unit_length);
  take(s, m->n + 1, s->atol, m->tolerance);
  if (m->atol > 0) m->atol = m->tolerance[m->n];
}

void ag_queue_begin(ag_queue *q, const ag_lane_step *s) {
  unsigned long long fail = 0;
  enter(q, s);
  for (int i = 0; i < AG_FUSED_TAPES && q->b->kernel; i++) /* a pivot that fails was seen by the lanes */
    ag_fused_prep(q->b->kernel, i, s->params, q->prep[i] + s->slot * q->n_prep[i], &fail);
  q->fresh[s->lane] = true;
  q->turns[s->lane] = (turns){.last = NAN};
  for (int e = 0; e < q->b->watch.n; e++) /* the first step is examined; a branch is known */
    s->memory[e * s->lanes + s->lane] = q->b->watch.switches ? q->r.m.switches->branch[e] : 0;
}

bool ag_queue_start(ag_queue *q, ag_work *work, const double *params, double *z, double *c) {
  run *r = &q->r;
  ag_mover *m = &r->m;
  if (!q->b->watch.switches) return true;
  const ag_fused *fused = m->fused; /* it is not prepared for the member yet */
  size_t n = sizeof(double) * (size_t)m->n, n_c = sizeof(double) * (size_t)m->n_c;
  m->work = work, m->fused = NULL;
  prepare(q, params);
  memcpy(m->z, z, n), memcpy(m->c, c, n_c);
  memset(m->switches->hit, 0, (size_t)m->switches->n);
  m->switches->started = false;
  r->t = q->o.t0, r->h = 0, r->res->steps = 0, r->switch_t = NAN;
  ag_end end = ag_trajectory_switch(r);
  memcpy(z, m->z, n), memcpy(c, m->c, n_c);
  m->fused = fused;
  return end == AG_END_TIME && !ag_switch_slides(m);
}

/* The step, from the workspace of the lanes. */
static void take_step(ag_queue *q, const ag_lane_step *s) {
  ag_mover *m = &q->r.m;
  take(s, m->n_carry, s->carry, m->dz);
  take(s, m->n, s->z1, m->z1);
  take(s, (int)m->room.size, s->space, m->space);
  memcpy(m->space, m->dz, sizeof(double) * (size_t)m->n_carry);
  memcpy(m->dz1, m->space + m->room.end, sizeof(double) * (size_t)m->n_carry);
}

bool ag_queue_point(ag_queue *q, ag_work *work, const double *params, double t, const double *z, const double *c,
                    double *record) {
  ag_mover *m = &q->r.m;
  const ag_batch_job *b = q->b;
  bool changed;
  m->work = work;
  if (m->core) {
    for (int i = 0; i < b->result->width; i++) record[i] = NAN;
    ag_core_columns_fill(&b->columns, t, z, params, q->column_slots, q->out, record);
    record[0] = t;
    return true;
  }
  memcpy(m->zt, z, sizeof(double) * (size_t)m->n);
  memcpy(m->c1, c, sizeof(double) * (size_t)ag_system_dims(b->sys)->c);
  if (ag_mover_settle(m, t, m->zt, m->c1, &changed)) return false;
  ag_mover_full(m, t, m->zt, m->c1, m->x);
  ag_record_fill(b->sys, work, t, m->x, record);
  return true;
}

/* The record at time t inside the step, as in a single run. */
static bool point_in_step(ag_queue *q, const ag_lane_step *s, double t, double *record) {
  ag_mover *m = &q->r.m;
  if (m->core) return ag_mover_settled(m, s->t, t) && ag_queue_point(q, s->work, s->params, t, m->zt, m->c, record);
  if (!ag_mover_point(m, s->t, t)) return false;
  ag_record_fill(q->b->sys, s->work, t, m->x, record);
  return true;
}

/* The state at a crossing of the section among the points of the member. */
static bool add_point(ag_queue *q, const ag_lane_step *s, long member, double t) {
  if (!point_in_step(q, s, t, q->record)) return false;
  return ag_series_row(&q->b->result->points[member], q->record);
}

bool ag_queue_plain(const ag_queue *q, const ag_lane_step *s, long member) {
  const ag_batch_job *b = q->b;
  int n = b->watch.n;
  long limit = b->o->run.crossings;
  if (!b->o->run.section || b->o->run.dt > 0 || b->watch.reads_rest ||
      s->hint[(n - 1) * s->lanes + s->lane] != AG_HINT_ONCE)
    return false;
  for (int e = 0; e < n - 1; e++)
    if (s->hint[e * s->lanes + s->lane] > AG_HINT_WRONG_WAY) return false;
  return !limit || b->result->points[member].n + 1 < limit;
}

bool ag_queue_locate(ag_queue *q, const ag_lane_step *s, double *record) {
  ag_mover *m = &q->r.m;
  double error[2], h = s->t1 - s->t;
  enter(q, s);
  take(s, m->n_carry, s->carry, m->dz);
  if (ag_mover_step(m, s->t, h, 1, 1, error)) return false;
  if (m->method->dense(m->method, &m->flow, s->t, h, m->z, m->z1, m->space)) return false;
  m->sign[m->n_g - 1] = ag_mover_watch(m, s->t, m->z, m->c, m->g1) ? 0
                                                                   : (m->g1[m->n_g - 1] > 0) - (m->g1[m->n_g - 1] < 0);
  double t = ag_events_once(m, s->t, h, m->n_g - 1); /* the section */
  return point_in_step(q, s, t, record);
}

/* The crossings of the step into m->hits, as in a single run; how many, -1: there is no dense output. */
static int crossings(ag_queue *q, const ag_lane_step *s) {
  ag_mover *m = &q->r.m;
  int n = q->b->watch.n, n_hit = 0;
  double h = s->t1 - s->t;
  take_step(q, s);
  for (int e = 0; e < n; e++) {
    double memory = s->memory[e * s->lanes + s->lane];
    m->sign[m->g_first + e] = (memory > 0) - (memory < 0);
  }
  m->fresh = q->fresh[s->lane];
  if (m->fresh) ag_mover_signs(m, s->t);
  if (!ag_look_clear(m, s->t, h)) {
    if (m->method->dense(m->method, &m->flow, s->t, h, m->z, m->z1, m->space)) return -1;
    n_hit = ag_events_in_step(m, s->t, h);
  }
  q->fresh[s->lane] = m->fresh;
  for (int e = 0; e < n; e++) s->memory[e * s->lanes + s->lane] = m->sign[m->g_first + e];
  return n_hit;
}

ag_end ag_queue_look(ag_queue *q, const ag_lane_step *s, long member, double *t, double *z, int *event, bool *corner) {
  ag_mover *m = &q->r.m;
  const ag_run_options *o = &q->b->o->run;
  const ag_model *model = ag_system_model(q->b->sys);
  ag_end end = AG_END_TIME;
  enter(q, s);
  int n = crossings(q, s);
  *corner = false;
  if (n < 0) return AG_END_MASS;
  for (int i = 0; i < n; i++) *corner = *corner || q->b->watch.cuts[m->hits[i].e - m->g_first];
  if (*corner) return AG_END_TIME;
  for (int i = 0; i < n && (end == AG_END_TIME || m->hits[i].s == *t); i++) { /* as in a single run */
    int e = m->hits[i].e;
    if (end == AG_END_TIME) *t = m->hits[i].s;
    if (e == ag_model_n_events(model) && !add_point(q, s, member, *t)) return AG_END_STEP;
    if (end != AG_END_TIME) continue;
    if (e < ag_model_n_events(model) && ag_model_events(model)[e].terminal) end = AG_END_EVENT, *event = e;
    if (e == ag_model_n_events(model) && o->crossings && q->b->result->points[member].n >= o->crossings)
      end = AG_END_CROSSINGS;
  }
  return end != AG_END_TIME && !ag_mover_at(m, s->t, *t, z) ? AG_END_STEP : end;
}

/* The state before the step in which the corner was met becomes that of the run. */
static void go_back(ag_queue *q, const ag_lane_step *s, const ag_lane_kept *k) {
  run *r = &q->r;
  ag_mover *m = &r->m;
  const ag_tape *renew = ag_system_role(m->sys, AG_ROLE_RENEW);
  int at = s->lane, w = s->lanes, n_c = renew ? renew->n_out : 0; /* the rest of c stays as it is */
  const double *row = k->numbers + AG_KEPT_NUMBERS * w;
  ag_lane_step before = *s;
  before.z = row, before.carry = row + m->n * w;
  const double *c = before.carry + m->n_carry * w, *memory = c + n_c * w;
  enter(q, &before);
  take(s, n_c, c, m->c);
  take(s, m->n_carry, before.carry, m->dz);
  if (m->switches) ag_slide_resume(m);
  r->switch_t = q->turns[at].last, r->switch_gap = q->turns[at].gap, r->n_switch = q->turns[at].n;
  r->t = k->numbers[AG_KEPT_T * w + at], r->h = k->numbers[AG_KEPT_H * w + at];
  r->control.last_error = k->numbers[AG_KEPT_ERROR * w + at], r->control.spare = k->numbers[AG_KEPT_SPARE * w + at];
  r->control.rejected = k->words[AG_KEPT_WAS * w + at] != 0;
  r->res->steps = (long)k->words[AG_KEPT_STEPS * w + at];
  r->res->rejected = (long)k->words[AG_KEPT_REJECTED * w + at];
  for (int e = 0; e < q->b->watch.n && !m->switches; e++)
    m->sign[m->g_first + e] = (memory[e * w + at] > 0) - (memory[e * w + at] < 0);
  m->fresh = r->res->steps == 0 && !m->switches;
  if (m->fresh) ag_mover_signs(m, r->t);
}

ag_end ag_queue_corner(ag_queue *q, const ag_lane_step *s, const ag_lane_kept *k, ag_lane_after *after) {
  go_back(q, s, k);
  run *r = &q->r;
  ag_mover *m = &r->m;
  ag_end end = ag_corner_pass(r);
  q->fresh[s->lane] = m->fresh;
  q->turns[s->lane] = (turns){r->switch_t, r->switch_gap, r->n_switch};
  for (int e = 0; e < q->b->watch.n && m->switches; e++) q->sign[e] = (int)m->switches->branch[e];
  *after = (ag_lane_after){.t = r->t,
                           .h = r->h,
                           .last_error = r->control.last_error,
                           .spare = r->control.spare,
                           .rejected_last = r->control.rejected,
                           .steps = r->res->steps,
                           .rejected = r->res->rejected,
                           .event = r->res->end_event,
                           .z = m->z,
                           .carry = m->dz,
                           .c = m->c,
                           .sign = m->switches ? q->sign : m->sign + m->g_first};
  return end;
}
