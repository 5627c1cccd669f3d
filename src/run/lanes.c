/* SPDX-License-Identifier: MIT
 * The lanes of one thread. Each holds a member with its own parameters, time and step size; when its motion ends the
 * next one takes its place. Lanes without a member repeat a neighbour. Every number of a lane follows from its member
 * alone. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/lanes.h"
#include "run/run_internal.h"

/* The worker of lane i for the parameters of a member; kept while they are the same. */
static ag_work *work_for(ag_lanes *l, int i, long member) {
  size_t size = sizeof(double) * (size_t)ag_system_dims(l->sys)->param;
  const double *params = l->b->params + member * ag_system_dims(l->sys)->param;
  if (l->work[i] && !memcmp(params, l->params[i], size)) return l->work[i];
  ag_work_free(l->work[i]);
  l->params[i] = params;
  return l->work[i] = ag_work_create(l->sys, params);
}

/* One member: with l->c. */
typedef struct member_flow {
  ag_work *work;
  const double *c;
} member_flow;

static int core_rhs(void *self, double t, const double *z, double *dz) {
  const member_flow *f = self;
  return ag_work_core(f->work, t, z, f->c, dz);
}

/* The state of lane i into l->z, and its basis, that of the end of its last step, into l->c. */
static void take_lane(ag_lanes *l, int i) {
  for (int k = 0; k < l->n; k++) l->z[k] = l->m.z[k * l->w + i];
  for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->c[k] = l->m.c[k * l->w + i];
}

/* Right-hand side of what is integrated. */
static int rate(const ag_lanes *l, ag_work *w, double t, const double *z, double *dz) {
  return l->n == ag_system_dims(l->sys)->z ? ag_work_rhs(w, t, z, l->c, dz) : ag_work_core(w, t, z, l->c, dz);
}

static bool all_finite(int n, const double *z) {
  for (int i = 0; i < n; i++)
    if (!isfinite(z[i])) return false;
  return true;
}

/* Puts the finished member of lane i into the result: its state is l->z with the basis l->c. */
static void store(ag_lanes *l, int lane, ag_work *w, long member, ag_batch_member how) {
  ag_batch_job *b = l->b;
  if (l->pack && ag_pack_has(l->pack, lane)) ag_pack_work(l->pack, l->queue);
  bool changed;
  double *x = b->result->x + member * b->n_x, *record = b->result->records + member * b->result->width;
  if (l->n == ag_system_dims(l->sys)->z) {
    if (!l->settles) (void)ag_work_settle(w, how.t, l->z, l->c, &changed);
  } else {
    for (int i = l->n; i < ag_system_dims(l->sys)->z; i++) l->z[i] = NAN;
  }
  ag_work_full(w, how.t, l->z, l->c, x);
  how.audit = l->audit[lane];
  ag_audit_end(&how.audit, l->sys, w, how.t, x);
  if (b->columns.tape)
    ag_core_columns_fill(&b->columns, how.t, l->z, b->params + member * ag_system_dims(l->sys)->param, l->slots, l->out,
                         record);
  else ag_record_fill(l->sys, w, how.t, x, record);
  how.audit.lifted = !b->columns.tape && how.end != AG_END_EVENT &&
                     !ag_audit_pressed(&b->record, ag_system_model(l->sys), record);
  b->result->members[member] = how;
  b->reached[member] = true;
  atomic_fetch_add(&b->done, 1);
  ag_batch_take(b, member, true);
}

/* The step that lane i made last, for the queue. */
static ag_lane_step step_of(const ag_lanes *l, int i) {
  return (ag_lane_step){.lane = i,
                        .slot = i,
                        .lanes = l->w,
                        .t = l->m.from[i],
                        .t1 = l->m.t[i],
                        .unit = l->unit,
                        .atol = l->atol,
                        .c = l->fixed || l->b->watch.switches ? l->m.c : l->m.c0, /* fixed steps: renewed by settle() */
                        .z = l->m.z0,
                        .carry = l->m.carry0,
                        .z1 = l->m.z1,
                        .space = l->m.work,
                        .work = l->work[i],
                        .params = l->params[i],
                        .memory = l->m.memory,
                        .hint = l->m.hint};
}

/* The rows of the constraints that may vanish, at the start in l->z. */
static void load_rows(ag_lanes *l, int i, ag_work *w) {
  const ag_dims *d = ag_system_dims(l->sys);
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(d->fragile * d->xi));
  ag_work_full(w, l->b->o->run.t0, l->z, l->c, l->x);
  (void)ag_work_role(w, AG_ROLE_FRAGILE, l->b->o->run.t0, l->x, NULL, rows);
  for (int k = 0; k < d->fragile * d->xi; k++) l->m.rows[k * l->w + i] = rows[k];
  free(rows);
}

/* The absolute tolerances of a member, into lane i and l->tolerance. */
static const double *load_tolerance(ag_lanes *l, int i, long member, ag_work *w) {
  const ag_run_options *o = &l->b->o->run;
  const double *x0 = l->b->x0 + member * l->b->n_x;
  double size, atol = ag_scale_atol(l->sys, w, o, x0, l->x);
  l->audit[i].loose = ag_scale_loose(l->sys, o, l->x, x0, &size) > 0;
  ag_scale_spread(l->sys, false, atol, l->x, l->n, l->tolerance);
  for (int k = 0; k <= l->n; k++) l->atol[k * l->w + i] = l->tolerance[k];
  return l->tolerance;
}

/* Does the basis at l->z turn so fast that a single run ends here? */
static bool turns_fast(ag_lanes *l, ag_work *w, double t) {
  double rate = l->fixed && l->basis ? ag_work_turning(w, t, l->z, l->c) : 0;
  return rate > 0 && l->b->o->run.dt > AG_TURN_FIXED * (AG_TURN_STEP / rate);
}

/* Starts a member in lane i. False: it ended at once, and is stored. */
static bool load(ag_lanes *l, int i, long member) {
  const ag_run_options *o = &l->b->o->run;
  ag_work *w = work_for(l, i, member);
  ag_batch_member how = {.end = AG_END_TIME, .end_event = -1, .t = o->t0};
  ag_audit_begin(&l->audit[i], w, o->t0, l->b->x0 + member * l->b->n_x);
  int trouble = ag_work_reduce(w, o->t0, l->b->x0 + member * l->b->n_x, l->c, l->z);
  if (!trouble && l->queue && !ag_queue_start(l->queue, w, l->params[i], l->z, l->c)) {
    ag_solo_put(l->b->solo, member);
    return false;
  }
  if (trouble) how.end = AG_END_RANK;
  else if (rate(l, w, o->t0, l->z, l->dz)) how.end = AG_END_MASS;
  else if (!all_finite(l->n, l->z) || !all_finite(l->n, l->dz)) how.end = AG_END_FINITE;
  if (how.end != AG_END_TIME || o->t0 == o->t1 || turns_fast(l, w, o->t0)) {
    if (l->fixed) ag_batch_alone(l->b, member, NULL);
    else store(l, i, w, member, how);
    return false;
  }
  ag_flow flow = {.n = ag_system_dims(l->sys)->core, .rhs = core_rhs, .self = &(member_flow){w, l->c}};
  flow.atol = load_tolerance(l, i, member, w);
  double h = o->t1 > o->t0 ? o->dt : -o->dt;
  if (!l->fixed) h = ag_control_first(&flow, o->method, o->t0, o->t1, l->z, l->dz, o->rtol, 0, l->space);
  int W = l->w;
  for (int k = 0; k < l->n; k++) {
    l->m.z[k * W + i] = l->z[k];
    l->m.work[k * W + i] = l->dz[k];
  }
  for (int k = l->n; k < l->n_carry; k++) l->m.work[k * W + i] = 0;
  for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->m.c[k * W + i] = l->c[k];
  for (int k = 0; k < ag_system_dims(l->sys)->param; k++) l->p[k * W + i] = l->params[i][k];
  for (int k = 0; k < l->b->n_unit; k++) {
    double sum = 0;
    for (int j = 0; j < l->b->unit_size[k]; j++) sum = fma(l->z[l->b->unit[k] + j], l->z[l->b->unit[k] + j], sum);
    l->unit[k * W + i] = sum;
  }
  l->m.t[i] = o->t0;
  l->t1[i] = o->t1;
  if (!l->fixed && ag_system_role(l->sys, AG_ROLE_FRAGILE)) load_rows(l, i, w);
  double rate = l->fixed ? 0 : ag_work_turning(w, o->t0, l->z, l->c);
  l->m.h[i] = copysign(fmin(fmin(fabs(h), o->h_max), rate > 0 ? AG_TURN_STEP / rate : INFINITY), h);
  l->m.last_error[i] = 1e-4;
  l->m.spare[i] = 0;
  l->m.steps[i] = l->m.rejected[i] = 0;
  l->m.rejected_last[i] = l->m.sub[i] = 0;
  l->member[i] = member;
  l->seen[i] = 0;
  if (l->queue) {
    for (int k = 0; k < l->n; k++) l->m.z0[k * W + i] = l->z[k];
    for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->m.c0[k * W + i] = l->c[k];
    l->m.from[i] = o->t0, l->m.known_t[i] = NAN;
    ag_lane_step s = step_of(l, i);
    ag_queue_begin(l->queue, &s);
  }
  return true;
}

static void copy_lane(const ag_lanes *l, double *v, size_t rows, int from, int to) {
  for (size_t k = 0; k < rows; k++) v[k * (size_t)l->w + (size_t)to] = v[k * (size_t)l->w + (size_t)from];
}

/* A lane without a member does what its neighbour does. */
static void imitate(ag_lanes *l, int from, int to) {
  size_t n = (size_t)l->n;
  double *single[] = {l->m.t, l->m.h, l->t1, l->m.last_error, l->m.spare, l->m.h_sub, l->m.end_sub, l->m.turn};
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) single[i][to] = single[i][from];
  copy_lane(l, l->m.z, n, from, to);
  copy_lane(l, l->atol, n + 1, from, to);
  copy_lane(l, l->m.c, (size_t)ag_system_dims(l->sys)->c, from, to);
  copy_lane(l, l->m.rows, (size_t)(ag_system_dims(l->sys)->fragile * ag_system_dims(l->sys)->xi), from, to);
  copy_lane(l, l->m.work, (size_t)l->n_carry, from, to);
  copy_lane(l, l->m.keep, 2 * (size_t)ag_system_dims(l->sys)->core, from, to);
  copy_lane(l, l->unit, (size_t)l->b->n_unit, from, to);
  for (int i = 0; i < AG_FUSED_TAPES; i++) copy_lane(l, l->prep[i], (size_t)ag_fused_n_prep(l->b->fused, i), from, to);
  if (l->queue) {
    copy_lane(l, l->m.memory, (size_t)l->b->watch.n, from, to);
    copy_lane(l, l->m.known, (size_t)l->b->watch.n, from, to);
    l->m.known_t[to] = l->m.known_t[from];
  }
  l->m.steps[to] = l->m.steps[from];
  l->m.rejected[to] = l->m.rejected[from];
  l->m.rejected_last[to] = l->m.rejected_last[from];
  l->m.sub[to] = l->m.sub[from];
}

/* Fills the free lanes, up to the share of this thread. False: no member is left. */
static bool fill(ag_lanes *l) {
  ag_batch_job *b = l->b;
  bool loaded = false;
  int live = -1, n_live = 0;
  for (int i = 0; i < l->w; i++) n_live += l->member[i] >= 0;
  for (int i = 0; i < l->w; i++) {
    while (l->member[i] < 0 && n_live < b->share) {
      if (atomic_load(&b->next) >= b->until) break;
      long next = atomic_fetch_add(&b->next, 1);
      if (next >= b->n) break;
      if (b->reached[next]) continue; /* known */
      if (ag_batch_has_own(b, next)) {
        ag_solo_put(b->solo, next);
        continue;
      }
      bool moves = load(l, i, next);
      n_live += moves;
      loaded = loaded || moves;
      if (ag_batch_halted(b)) break;
    }
    if (l->member[i] >= 0) live = i;
  }
  if (live < 0) return false;
  if (loaded) {
    unsigned long long fail[AG_MOST_LANES]
        __attribute__((aligned(64))) = {0}; /* a pivot that fails was seen in load() */
    for (int i = 0; i < AG_FUSED_TAPES; i++) ag_fused_prep(b->fused, i, l->p, l->prep[i], fail);
  }
  for (int i = 0; i < l->w; i++)
    if (l->member[i] < 0) imitate(l, live, i);
  return true;
}

/* Why no step can be made at l->z. */
static ag_end diagnose(const ag_lanes *l, ag_work *w, double t) {
  if (rate(l, w, t, l->z, l->dz)) return AG_END_MASS;
  return all_finite(l->n, l->dz) ? AG_END_STEP : AG_END_FINITE;
}

/* The member in lane i needs the code of a single run and will be run alone. */
static void leave(ag_lanes *l, int i) {
  if (l->pack && ag_pack_has(l->pack, i)) ag_pack_work(l->pack, l->queue);
  ag_solo_put(l->b->solo, l->member[i]);
  l->member[i] = -1;
}

/* Puts the state of a member behind a corner into its lane. */
static void take_after(ag_lanes *l, int i, const ag_lane_after *a) {
  int W = l->w;
  for (int k = 0; k < l->n; k++) l->m.z[k * W + i] = a->z[k];
  for (int k = 0; k < l->n_carry; k++) l->m.work[k * W + i] = a->carry[k];
  for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->m.c[k * W + i] = a->c[k];
  for (int e = 0; e < l->b->watch.n; e++) l->m.memory[e * W + i] = a->sign[e];
  l->m.t[i] = a->t, l->m.h[i] = a->h, l->m.last_error[i] = a->last_error, l->m.spare[i] = a->spare;
  l->m.rejected_last[i] = a->rejected_last ? ~0ULL : 0;
  l->m.steps[i] = (unsigned long long)a->steps, l->m.rejected[i] = (unsigned long long)a->rejected;
  l->m.sub[i] = 0;
  l->m.known_t[i] = NAN;
}

/* The member in lane i has met a corner of the equations. */
static void cross(ag_lanes *l, int i) {
  ag_lane_step s = step_of(l, i);
  ag_lane_after after;
  ag_end end = AG_END_STEP;
  if (l->corners) end = ag_queue_corner(l->queue, &s, &(ag_lane_kept){l->m.kept, l->m.kept_words}, &after);
  if (end == AG_END_TIME) take_after(l, i, &after);
  else if (end == AG_END_EVENT) {
    ag_batch_member how = {
        .end = end, .end_event = after.event, .t = after.t, .steps = after.steps, .rejected = after.rejected};
    for (int k = 0; k < l->n; k++) l->z[k] = after.z[k];
    for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->c[k] = after.c[k];
    store(l, i, l->work[i], l->member[i], how);
    l->member[i] = -1;
  } else leave(l, i);
}

static void leave_all(ag_lanes *l) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0 || !l->m.leave[i]) continue;
    if (l->m.corner && l->m.corner[i]) cross(l, i);
    else leave(l, i);
  }
}

/* Examines the steps in which a function may have crossed zero; removes members that ended there. */
static void look(ag_lanes *l) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0 || !l->m.seen[i]) continue;
    if (l->b->watch.switches) {
      cross(l, i);
      continue;
    }
    ag_lane_step s = step_of(l, i);
    if (ag_queue_plain(l->queue, &s, l->member[i])) {
      for (int e = 0; e < l->b->watch.n; e++) { /* functions that crossed zero have the other sign now */
        size_t at = (size_t)(e * l->w + i);
        if (l->m.hint[at] != AG_HINT_CLEAR) l->m.memory[at] = -l->m.memory[at];
      }
      if (ag_pack_add(l->pack, &s, l->member[i], l->prep, l->unit)) ag_pack_work(l->pack, l->queue);
      continue;
    }
    ag_batch_member how = {
        .end_event = -1, .t = l->m.t[i], .steps = (long)l->m.steps[i], .rejected = (long)l->m.rejected[i]};
    take_lane(l, i);
    for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->c[k] = s.c[k * l->w + i]; /* of the step */
    bool corner;
    how.end = ag_queue_look(l->queue, &s, l->member[i], &how.t, l->z, &how.end_event, &corner);
    if (corner) cross(l, i);
    if (how.end == AG_END_TIME) continue;
    if (l->m.sub[i]) how.steps++; /* the step it is in */
    store(l, i, l->work[i], l->member[i], how);
    l->member[i] = -1;
  }
}

/* Puts the state of lane i, which has made a fixed step, back onto the constraints. False: it is no longer valid. */
static bool settle_lane(ag_lanes *l, int i) {
  ag_work *w = l->work[i];
  double t = l->m.t[i];
  bool changed;
  take_lane(l, i);
  if (l->basis && ag_work_basis(w, t, l->z, l->c) < AG_TURN_MOST) return false;
  if (ag_work_settle(w, t, l->z, l->c, &changed) != AG_FINE) return false;
  for (int k = 0; k < l->n; k++) l->m.z[k * l->w + i] = l->z[k];
  for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->m.c[k * l->w + i] = l->c[k];
  if (changed && rate(l, w, t, l->z, l->dz) != AG_FINE) return false;
  for (int k = 0; changed && k < l->n; k++) l->m.work[k * l->w + i] = l->dz[k];
  return t == l->t1[i] || !turns_fast(l, w, t);
}

/* After a fixed step: projects every state onto the constraints. A member whose step failed, or whose state is no
 * longer valid, is run again alone, which gives the reason. */
static void settle(ag_lanes *l) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0) continue;
    bool failed = l->m.h[i] == 0;
    if (!failed && l->settles && l->m.steps[i] != l->seen[i]) {
      l->seen[i] = l->m.steps[i];
      failed = !settle_lane(l, i);
    }
    if (failed) leave(l, i);
  }
}

/* Takes members that ended out of their lanes. */
static void reap(ag_lanes *l, bool stopped) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0) continue;
    double t = l->m.t[i], least = fabs(t) * 1e-15, h = fabs(l->m.sub[i] ? l->m.h_sub[i] : l->m.h[i]);
    bool arrived = t == l->t1[i] && !l->m.sub[i], stuck = !(h > least),
         tired = (long long)l->m.steps[i] >= l->m.max_steps ||
                 (l->m.sub[i] && h * (AG_REST_MOST * (double)l->m.max_steps) < fabs(l->m.end_sub[i] - t));
    if (!arrived && !stuck && !tired && !stopped) continue;
    take_lane(l, i);
    ag_batch_member how = {.end_event = -1, .t = t, .steps = (long)l->m.steps[i], .rejected = (long)l->m.rejected[i]};
    how.end = arrived ? AG_END_TIME : stuck ? diagnose(l, l->work[i], t) : tired ? AG_END_STEPS : AG_END_STOPPED;
    store(l, i, l->work[i], l->member[i], how);
    l->member[i] = -1;
  }
}

/* Tries that the members in the lanes have made; -1: a lane has none. */
static long all_tries(const ag_lanes *l) {
  long n = 0;
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0) return -1;
    n += (long)(l->m.steps[i] + l->m.rejected[i]);
  }
  return n;
}

static void march(ag_lanes *l) {
  ag_pace *pace = l->b->pace;
  long before = pace ? all_tries(l) : -1;
  double t = before < 0 ? 0 : pace->seconds();
  ag_fused_march(l->b->fused, &l->m);
  if (before < 0) return;
  pace->total += pace->seconds() - t;
  pace->tries += all_tries(l) - before;
}

void ag_batch_lanes(ag_batch_job *b, bool first) {
  ag_lanes l;
  ag_lanes_create(&l, b);
  while (!ag_batch_halted(b) && fill(&l)) {
    march(&l);
    leave_all(&l);
    if (l.queue) look(&l);
    for (int i = 0; i < l.w && l.pack && b->o->take; i++)
      if (l.member[i] >= 0 && !ag_pack_has(l.pack, i)) ag_batch_take(b, l.member[i], false);
    if (l.fixed) settle(&l);
    reap(&l, false);
    ag_batch_progress(b, first);
  }
  reap(&l, true);
  ag_lanes_free(&l);
}
