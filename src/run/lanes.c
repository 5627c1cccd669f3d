/* SPDX-License-Identifier: MIT
 * The lanes of one thread. Each holds a member with its own parameters, time and step size; when its motion ends the
 * next one takes its place. Lanes without a member repeat a neighbour. Every number of a lane follows from its member
 * alone. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/run_internal.h"

#include "run/batch.h"

enum { TRIES = 128 }; /* tries per call, after which the stop flag is checked; one if every step has to be */

typedef struct lanes {
  ag_batch_job *b;
  const ag_system *sys;
  int w, n, n_carry;        /* lanes; numbers per member, and of what its method carries on */
  long *member;             /* per lane, -1: none */
  ag_work **work;           /* per lane */
  unsigned long long *seen; /* per lane: the number of steps at the last check of its domain */
  ag_audit *audit;          /* per lane */
  const double **params;    /* per lane: those its work was made for */
  double *p;
  ag_fused_args m;
  bool fixed;      /* fixed steps, after each of which */
  bool settles;    /* a state is put back onto the constraints, as in a single run */
  ag_queue *queue; /* where crossings are searched for; else NULL */
  ag_pack *pack;   /* where a section is */
  double *prep[AG_FUSED_TAPES];
  double *t1, *unit, *atol;
  double *z, *dz, *c, *x, *space, *slots, *out, *tolerance; /* one member's, scratch */
} lanes;

static double *block(const lanes *l, size_t rows) {
  return ag_heap_aligned(sizeof(double) * (rows + 1) * (size_t)l->w);
}

/* The arguments of a march. */
static void march_create(lanes *l, const ag_run_options *o) {
  bool minor = ag_system_role(l->sys, AG_ROLE_MINOR) != NULL;
  ag_control control;
  ag_control_init(&control, o->method, o->rtol, o->atol);
  ag_step_room room = o->method->room(l->n, l->b->n_tangent, l->b->square);
  size_t n = (size_t)l->n, n_core = (size_t)ag_system_dims(l->sys)->core, n_c = (size_t)ag_system_dims(l->sys)->c;
  size_t n_rows = (size_t)(ag_system_dims(l->sys)->fragile * ag_system_dims(l->sys)->xi);
  l->fixed = o->dt > 0;
  l->settles = l->fixed &&
               (l->b->n_unit || minor || ag_system_dims(l->sys)->g || ag_system_elimination(l->sys) == AG_ELIM_SADDLE);
  l->n_carry = l->n + room.own;
  l->m = (ag_fused_args){.t = block(l, 1),
                         .h = block(l, 1),
                         .z = block(l, n),
                         .z1 = block(l, n),
                         .work = block(l, room.size),
                         .c = block(l, n_c),
                         .turn = block(l, 1),
                         .prep = l->prep[AG_FUSED_RHS],
                         .prep_jacobian = l->prep[AG_FUSED_JACOBIAN],
                         .prep_finish = l->prep[AG_FUSED_FINISH],
                         .prep_watch = l->prep[AG_FUSED_WATCH],
                         .prep_look = l->prep[AG_FUSED_LOOK],
                         .prep_extra = l->prep[AG_FUSED_EXTRA],
                         .prep_guard = l->prep[AG_FUSED_GUARD],
                         .rows = block(l, n_rows),
                         .prep_align = l->prep[AG_FUSED_ALIGN],
                         .prep_project = l->prep[AG_FUSED_PROJECT],
                         .prep_onto_rows = l->prep[AG_FUSED_ONTO_ROWS],
                         .prep_turn = l->prep[AG_FUSED_TURN],
                         .prep_renew = l->prep[AG_FUSED_RENEW],
                         .leave = (unsigned long long *)block(l, 1),
                         .t1 = l->t1,
                         .unit = l->unit,
                         .last_error = block(l, 1),
                         .spare = block(l, 1),
                         .h_sub = block(l, 1),
                         .end_sub = block(l, 1),
                         .keep = block(l, 2 * n_core),
                         .steps = (unsigned long long *)block(l, 1),
                         .rejected = (unsigned long long *)block(l, 1),
                         .rejected_last = (unsigned long long *)block(l, 1),
                         .sub = (unsigned long long *)block(l, 1),
                         .rtol = o->rtol,
                         .atol = l->atol,
                         .safety = control.safety,
                         .shrink = control.shrink,
                         .grow = control.grow,
                         .h_max = o->h_max,
                         .t0 = o->t0,
                         .dt = o->dt,
                         .max_steps = o->max_steps ? o->max_steps : 10000000,
                         .max_tries = l->settles ? 1 : TRIES};
}

static void lanes_create(lanes *l, ag_batch_job *b) {
  const ag_run_options *o = &b->o->run;
  *l = (lanes){.b = b, .sys = b->sys, .w = ag_fused_lanes(b->fused), .n = b->n_z};
  size_t n = (size_t)l->n, n_core = (size_t)ag_system_dims(b->sys)->core, n_z = (size_t)ag_system_dims(b->sys)->z;
  l->member = ag_heap_alloc(sizeof *l->member * (size_t)l->w);
  l->work = ag_heap_alloc(sizeof *l->work * (size_t)l->w);
  l->seen = ag_heap_alloc(sizeof *l->seen * (size_t)l->w);
  l->audit = ag_heap_alloc(sizeof *l->audit * (size_t)l->w);
  l->params = ag_heap_alloc(sizeof *l->params * (size_t)l->w);
  for (int i = 0; i < l->w; i++) l->member[i] = -1;
  l->p = block(l, (size_t)ag_system_dims(b->sys)->param);
  l->t1 = block(l, 1);
  l->unit = block(l, (size_t)b->n_unit);
  for (int i = 0; i < AG_FUSED_TAPES; i++) l->prep[i] = block(l, (size_t)ag_fused_n_prep(b->fused, i));
  l->atol = block(l, n + 1);
  march_create(l, o);
  l->z = ag_heap_aligned(sizeof(double) * (n_z + 1));
  l->dz = ag_heap_aligned(sizeof(double) * (n_z + 1));
  l->tolerance = ag_heap_aligned(sizeof(double) * (n + 1));
  l->c = ag_heap_aligned(sizeof(double) * (size_t)(ag_system_dims(b->sys)->c + 1));
  l->x = ag_heap_aligned(sizeof(double) * (size_t)(b->n_x + 1));
  l->space = ag_heap_aligned(sizeof(double) * (3 * n_core + 3));
  if (b->watch.n) {
    l->queue = ag_queue_create(b, l->w);
    if (o->section) l->pack = ag_pack_create(b, l->w);
    l->m.memory = block(l, (size_t)b->watch.n);
    l->m.hint = block(l, (size_t)b->watch.n);
    l->m.from = block(l, 1);
    l->m.z0 = block(l, n);
    l->m.carry0 = block(l, (size_t)l->n_carry);
    l->m.c0 = block(l, (size_t)ag_system_dims(b->sys)->c);
    l->m.seen = (unsigned long long *)block(l, 1);
  }
  if (!b->columns.tape) return;
  l->slots = ag_heap_aligned(sizeof(double) * (size_t)(b->columns.tape->n_slot + 1));
  l->out = ag_heap_alloc(sizeof(double) * (size_t)(b->columns.tape->n_out + 1));
}

static void lanes_free(lanes *l) {
  for (int i = 0; i < l->w; i++) ag_work_free(l->work[i]);
  ag_queue_free(l->queue);
  ag_pack_free(l->pack);
  void *all[] = {l->audit,
                 l->member,
                 l->seen,
                 l->work,
                 l->params,
                 l->p,
                 l->t1,
                 l->unit,
                 l->c,
                 l->atol,
                 l->z,
                 l->dz,
                 l->x,
                 l->space,
                 l->slots,
                 l->out,
                 l->m.t,
                 l->m.h,
                 l->m.z,
                 l->m.work,
                 l->m.z1,
                 l->m.last_error,
                 l->m.spare,
                 l->m.h_sub,
                 l->m.end_sub,
                 l->m.keep,
                 l->m.steps,
                 l->m.rejected,
                 l->m.rejected_last,
                 l->m.sub,
                 l->m.memory,
                 l->m.hint,
                 l->m.from,
                 l->m.z0,
                 l->m.carry0,
                 l->m.seen,
                 l->m.leave,
                 l->m.c,
                 l->m.c0,
                 l->m.turn,
                 l->m.rows,
                 l->tolerance};
  for (int i = 0; i < AG_FUSED_TAPES; i++) free(l->prep[i]);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* The worker of lane i for the parameters of a member; kept while they are the same. */
static ag_work *work_for(lanes *l, int i, long member) {
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
static void take_lane(lanes *l, int i) {
  for (int k = 0; k < l->n; k++) l->z[k] = l->m.z[k * l->w + i];
  for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->c[k] = l->m.c[k * l->w + i];
}

/* Right-hand side of what is integrated. */
static int rate(const lanes *l, ag_work *w, double t, const double *z, double *dz) {
  return l->n == ag_system_dims(l->sys)->z ? ag_work_rhs(w, t, z, l->c, dz) : ag_work_core(w, t, z, l->c, dz);
}

static bool all_finite(int n, const double *z) {
  for (int i = 0; i < n; i++)
    if (!isfinite(z[i])) return false;
  return true;
}

/* Puts the finished member of lane i into the result: its state is l->z with the basis l->c. */
static void store(lanes *l, int lane, ag_work *w, long member, ag_batch_member how) {
  ag_batch_job *b = l->b;
  if (l->pack && ag_pack_has(l->pack, lane)) ag_pack_work(l->pack, l->queue);
  bool changed;
  double *x = b->result->x + member * b->n_x, *record = b->result->records + member * b->result->width;
  if (l->n == ag_system_dims(l->sys)->z) {
    if (!l->fixed) (void)ag_work_settle(w, how.t, l->z, l->c, &changed);
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
static ag_lane_step step_of(const lanes *l, int i) {
  return (ag_lane_step){.lane = i,
                        .slot = i,
                        .lanes = l->w,
                        .t = l->m.from[i],
                        .t1 = l->m.t[i],
                        .unit = l->unit,
                        .atol = l->atol,
                        .c = l->m.c0,
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
static void load_rows(lanes *l, int i, ag_work *w) {
  const ag_dims *d = ag_system_dims(l->sys);
  double *rows = ag_heap_alloc(sizeof *rows * (size_t)(d->fragile * d->xi));
  ag_work_full(w, l->b->o->run.t0, l->z, l->c, l->x);
  (void)ag_work_role(w, AG_ROLE_FRAGILE, l->b->o->run.t0, l->x, NULL, rows);
  for (int k = 0; k < d->fragile * d->xi; k++) l->m.rows[k * l->w + i] = rows[k];
  free(rows);
}

/* The absolute tolerances of a member, into lane i and l->tolerance. */
static const double *load_tolerance(lanes *l, int i, long member, ag_work *w) {
  const ag_run_options *o = &l->b->o->run;
  const double *x0 = l->b->x0 + member * l->b->n_x;
  double size, atol = ag_scale_atol(l->sys, w, o, x0, l->x);
  l->audit[i].loose = ag_scale_loose(l->sys, o, l->x, x0, &size) > 0;
  ag_scale_spread(l->sys, false, atol, l->x, l->n, l->tolerance);
  for (int k = 0; k <= l->n; k++) l->atol[k * l->w + i] = l->tolerance[k];
  return l->tolerance;
}

/* Starts a member in lane i. False: it ended at once, and is stored. */
static bool load(lanes *l, int i, long member) {
  const ag_run_options *o = &l->b->o->run;
  ag_work *w = work_for(l, i, member);
  ag_batch_member how = {.end = AG_END_TIME, .end_event = -1, .t = o->t0};
  ag_audit_begin(&l->audit[i], w, o->t0, l->b->x0 + member * l->b->n_x);
  int trouble = ag_work_reduce(w, o->t0, l->b->x0 + member * l->b->n_x, l->c, l->z);
  if (trouble) how.end = AG_END_RANK;
  else if (rate(l, w, o->t0, l->z, l->dz)) how.end = AG_END_MASS;
  else if (!all_finite(l->n, l->z) || !all_finite(l->n, l->dz)) how.end = AG_END_FINITE;
  if (how.end != AG_END_TIME || o->t0 == o->t1) {
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
    l->m.from[i] = o->t0;
    ag_lane_step s = step_of(l, i);
    ag_queue_begin(l->queue, &s);
  }
  return true;
}

static void copy_lane(const lanes *l, double *v, size_t rows, int from, int to) {
  for (size_t k = 0; k < rows; k++) v[k * (size_t)l->w + (size_t)to] = v[k * (size_t)l->w + (size_t)from];
}

/* A lane without a member does what its neighbour does. */
static void imitate(lanes *l, int from, int to) {
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
  if (l->queue) copy_lane(l, l->m.memory, (size_t)l->b->watch.n, from, to);
  l->m.steps[to] = l->m.steps[from];
  l->m.rejected[to] = l->m.rejected[from];
  l->m.rejected_last[to] = l->m.rejected_last[from];
  l->m.sub[to] = l->m.sub[from];
}

/* Fills the free lanes, up to the share of this thread. False: no member is left. */
static bool fill(lanes *l) {
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
static ag_end diagnose(const lanes *l, ag_work *w, double t) {
  if (rate(l, w, t, l->z, l->dz)) return AG_END_MASS;
  return all_finite(l->n, l->dz) ? AG_END_STEP : AG_END_FINITE;
}

/* The member in lane i needs the code of a single run and will be run alone. */
static void leave(lanes *l, int i) {
  if (l->pack && ag_pack_has(l->pack, i)) ag_pack_work(l->pack, l->queue);
  ag_solo_put(l->b->solo, l->member[i]);
  l->member[i] = -1;
}

static void leave_all(lanes *l) {
  for (int i = 0; i < l->w; i++)
    if (l->member[i] >= 0 && l->m.leave[i]) leave(l, i);
}

/* Examines the steps in which a function may have crossed zero; removes members that ended there. */
static void look(lanes *l) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0 || !l->m.seen[i]) continue;
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
    for (int k = 0; k < ag_system_dims(l->sys)->c; k++) l->c[k] = l->m.c0[k * l->w + i]; /* of the step */
    bool corner;
    how.end = ag_queue_look(l->queue, &s, l->member[i], &how.t, l->z, &how.end_event, &corner);
    if (corner) leave(l, i);
    if (how.end == AG_END_TIME) continue;
    if (l->m.sub[i]) how.steps++; /* the step it is in */
    store(l, i, l->work[i], l->member[i], how);
    l->member[i] = -1;
  }
}

/* After a fixed step: projects every state onto the constraints. A member whose step failed, or whose state is no
 * longer valid, is run again alone, which gives the reason. */
static void settle(lanes *l) {
  bool changed;
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0) continue;
    bool failed = l->m.h[i] == 0;
    if (!failed && l->settles && l->m.steps[i] != l->seen[i]) {
      l->seen[i] = l->m.steps[i];
      take_lane(l, i);
      failed = ag_work_settle(l->work[i], l->m.t[i], l->z, l->c, &changed) != AG_FINE;
      for (int k = 0; k < l->n; k++) l->m.z[k * l->w + i] = l->z[k];
      if (!failed && changed) failed = rate(l, l->work[i], l->m.t[i], l->z, l->dz) != AG_FINE;
      for (int k = 0; changed && k < l->n; k++) l->m.work[k * l->w + i] = l->dz[k];
    }
    if (failed) leave(l, i);
  }
}

/* Takes members that ended out of their lanes. */
static void reap(lanes *l, bool stopped) {
  for (int i = 0; i < l->w; i++) {
    if (l->member[i] < 0) continue;
    double t = l->m.t[i], least = fabs(t) * 1e-15, h = fabs(l->m.sub[i] ? l->m.h_sub[i] : l->m.h[i]);
    bool arrived = t == l->t1[i] && !l->m.sub[i], stuck = !(h > least),
         tired = (long long)l->m.steps[i] >= l->m.max_steps;
    if (!arrived && !stuck && !tired && !stopped) continue;
    take_lane(l, i);
    ag_batch_member how = {.end_event = -1, .t = t, .steps = (long)l->m.steps[i], .rejected = (long)l->m.rejected[i]};
    how.end = arrived ? AG_END_TIME : stuck ? diagnose(l, l->work[i], t) : tired ? AG_END_STEPS : AG_END_STOPPED;
    store(l, i, l->work[i], l->member[i], how);
    l->member[i] = -1;
  }
}

void ag_batch_lanes(ag_batch_job *b, bool first) {
  lanes l;
  lanes_create(&l, b);
  while (!ag_batch_halted(b) && fill(&l)) {
    ag_fused_march(b->fused, &l.m);
    leave_all(&l);
    if (l.queue) look(&l);
    for (int i = 0; i < l.w && l.pack && b->o->take; i++)
      if (l.member[i] >= 0 && !ag_pack_has(l.pack, i)) ag_batch_take(b, l.member[i], false);
    if (l.fixed) settle(&l);
    reap(&l, false);
    ag_batch_progress(b, first);
  }
  reap(&l, true);
  lanes_free(&l);
}
