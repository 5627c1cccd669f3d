/* SPDX-License-Identifier: MIT
 * Paths of an ensemble: blocks of two vectors of lanes through compiled code, or one path at a time through the
 * library. Both do the same operations. */
#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "expr/vmath.h"
#include "run/passage.h"
#include "run/run_internal.h"
#include "run/walk.h"
#include "run/walk_args.h"

#include "run/unit_core.h"

#define AG_PROJECT_OF const ag_walk *a
#define AG_PROJECT_N(a) (a)->p->n
#define AG_PROJECT_G(a) ag_system_dims((a)->p->sys)->g
#define AG_PROJECT_EVAL(a, t, z, out, fail) \
  fail |= (VI)0 - (VI)(ag_work_role((a)->work, AG_ROLE_PROJECT, t, z, (a)->c, out) != AG_FINE);

enum {
  TAPE_F,
  TAPE_O,
  TAPE_J,
  TAPE_END,
  TAPE_AGREE,
  TAPE_CANONICAL,
  TAPE_PROJECT,
  TAPE_TURN,
  TAPE_RENEW,
  TAPE_PASSES,
  N_TAPE
};

struct ag_walk {
  const ag_walk_plan *p;
  ag_work *work;
  double *record, *x, *slots, *out; /* one state */
  double *function_slots, *function_out, *passage_slots;
  ag_passage_state *states; /* [path of the block][passage] */
  /* lanes */
  ag_walk_args args;
  unsigned long long *pair;
  bool *lost;   /* per path of the block: it has failed */
  bool started; /* has the start been checked? */
  double *prep[N_TAPE];
  double *lane_z, *lane_out, *unit; /* one lane's state; the columns of all; squared lengths */
  /* one path */
  ag_flow flow;
  ag_step_room room;
  double *z, *z1, *dz, *dz1, *c, *c1, *step, *rate, *noise, *space, *projected;
};

#include "run/project_core.h"

static double *numbers(size_t n) { return ag_heap_aligned(sizeof(double) * (n + 1)); }

/* ---- one path ---- */

static int rhs(void *self, double t, const double *z, double *dz) {
  ag_walk *w = self;
  const ag_walk_plan *p = w->p;
  if (p->skips && dz == w->space + w->room.end) return 0; /* not part of the step */
  return ag_work_role(w->work, p->role + (p->core ? AG_FIELD_CORE : 0), t, z, w->c, dz);
}

static int jacobian(void *self, double t, const double *z, double *J) {
  ag_walk *w = self;
  return ag_work_role(w->work, w->p->role + AG_FIELD_JACOBIAN, t, z, w->c, J);
}

static int residual(void *self, double t, const double *y, double *out) {
  ag_walk *w = self;
  return ag_work_role(w->work, ag_discrete_role(w->p->o->method, true), t, y, w->c, out);
}

static int finish(void *self, double t, const double *y, double *out) {
  ag_walk *w = self;
  return ag_work_role(w->work, ag_discrete_role(w->p->o->method, true) + 1, t, y, w->c, out);
}

static int inertia(void *self, double t, const double *z, double *out) {
  ag_walk *w = self;
  return ag_work_role(w->work, AG_ROLE_INERTIA, t, z, w->c, out);
}

static int canonical(void *self, double t, const double *z, double *out) {
  ag_walk *w = self;
  return ag_work_role(w->work, AG_ROLE_CANONICAL, t, z, w->c, out);
}

static void one_create(ag_walk *w) {
  const ag_walk_plan *p = w->p;
  const size_t n = (size_t)p->n, n_z = (size_t)ag_system_dims(p->sys)->z;
  w->room = ag_stepper_room(p->o->method, p->n, p->n_tangent, ag_flow_square(p->table, p->n_tangent));
  const size_t carry = n + (size_t)w->room.own, size = ag_wiener_size(&p->path, p->draws);
  w->z = numbers(n_z), w->z1 = numbers(n_z), w->dz = numbers(carry), w->dz1 = numbers(carry);
  w->c = numbers((size_t)ag_system_dims(p->sys)->c), w->c1 = numbers((size_t)ag_system_dims(p->sys)->c);
  w->step = numbers(size);
  w->rate = numbers((size_t)ag_system_dims(p->sys)->w + size), w->noise = numbers(ag_wiener_work(&p->path, p->draws));
  w->space = numbers(w->room.size), w->projected = numbers(n_z + (size_t)ag_system_dims(p->sys)->g);
  const bool discrete = p->o->method->needs & AG_NEEDS_RESIDUAL;
  w->flow = (ag_flow){.n = p->n,
                      .rhs = rhs,
                      .m = p->n_tangent,
                      .n_factor = p->n_factor,
                      .u_at = p->u_at,
                      .n_u = ag_system_dims(p->sys)->u,
                      .factors = p->factors,
                      .jacobian = p->jacobian && !discrete ? jacobian : NULL,
                      .table = p->table,
                      .n_lambda = ag_system_dims(p->sys)->lambda,
                      .residual = discrete ? residual : NULL,
                      .finish = discrete ? finish : NULL,
                      .spin = p->finish && !discrete ? p->spin : NULL,
                      .inertia = p->finish && !discrete ? inertia : NULL,
                      .canonical = p->canonical ? canonical : NULL,
                      .step = w->rate,
                      .n_channel = p->path.channels,
                      .self = w};
}

/* The state after a step to t, put back where it belongs, as walk_core.h does; false: that is not possible. */
static bool settle(ag_walk *w, double t) {
  const ag_walk_plan *p = w->p;
  bool changed;
  if (p->settles) return ag_work_settle(w->work, t, w->z, w->c, &changed) == AG_FINE;
  for (int i = 0; i < p->n_unit; i++) unit_restore(w->z + p->units[i].at, p->units[i].n, p->unit0[i], ~0ULL);
  if (p->agree) {
    (void)ag_work_role(w->work, AG_ROLE_AGREE, t, w->z, w->c, w->z1);
    memcpy(w->z, w->z1, sizeof(double) * (size_t)p->n);
  }
  if (p->project && project(w, t, w->z, w->projected, ~0ULL)) return false;
  if (ag_work_left(w->work, t, w->z, w->c)) return false;
  return !p->turn || ag_work_renew(w->work, t, w->z, w->c, &changed) == AG_FINE;
}

/* Step k of a path; false: it cannot be taken. */
static bool one_step(ag_walk *w, unsigned long long path, unsigned long long k, long *cut) {
  const ag_walk_plan *p = w->p;
  const ag_stepper *s = p->o->method;
  const double t = p->o->t0 + (double)k * p->h, t1 = p->o->t0 + (double)(k + 1) * p->h, per_h = 1 / p->h;
  double error[2];
  bool large = false;
  ag_wiener_step(&p->path, path, k, p->draws, w->step, w->noise);
  w->rate[0] = 1;
  for (int i = 1; i <= p->path.channels; i++) {
    large = large || fabs(w->step[i]) > p->most;
    w->rate[i] = fmax(-p->most, fmin(p->most, w->step[i])) * per_h;
  }
  for (size_t i = 1 + (size_t)p->path.channels; i < ag_wiener_size(&p->path, p->draws); i++)
    w->rate[i] = w->step[i] * per_h;
  *cut += large;
  if (rhs(w, t, w->z, w->dz)) return false;
  if (s->step(s, &w->flow, t, p->h, w->z, w->dz, w->z1, w->dz1, 0, 1, error, w->space)) return false;
  if (ag_run_turned(p->sys, s, w->work, t1, w->z1, w->c)) return false;
  memcpy(w->z, w->z1, sizeof(double) * (size_t)p->n);
  memcpy(w->dz + p->n, w->dz1 + p->n, sizeof(double) * (size_t)w->room.own);
  return settle(w, t1);
}

/* ---- rows ---- */

/* The record of a copy of state z, put back where it belongs: what is recorded does not influence the motion. Columns
 * that are functions of the state are those of z itself, as in a single run. */
static bool fill_record(ag_walk *w, double t, const double *z, const double *c) {
  const ag_walk_plan *p = w->p;
  bool changed;
  memcpy(w->z1, z, sizeof(double) * (size_t)p->n);
  memcpy(w->c1, c, sizeof(double) * (size_t)ag_system_dims(p->sys)->c);
  if (!p->settles && !p->agree && ag_work_settle(w->work, t, w->z1, w->c1, &changed) != AG_FINE) return false;
  ag_work_full(w->work, t, w->z1, w->c1, w->x);
  ag_record_fill(p->sys, w->work, t, w->x, w->record);
  if (!p->functions) return true;
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = p->params, [AG_SEG_C] = c};
  (void)ag_tape_eval(p->functions, seg, w->function_slots, w->function_out);
  for (int i = 0; i < p->functions->n_out; i++) w->record[p->functions_at[i]] = w->function_out[i];
  return true;
}

static bool all_finite(const double *x, int n) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

/* Are the numbers in w->out finite? Those of passages, and at a row all. */
static bool sound(const ag_walk *w, bool row) {
  const int first = row ? 0 : w->p->n_value;
  return all_finite(w->out + first, w->p->n_out - first);
}

/* Must records be filled to know the numbers of a row, or of a step in between? */
static bool needs_record(const ag_walk_plan *p, bool row) {
  return (row && !p->columns) || (p->passages && !p->direct);
}

/* The numbers of state z, in w->out: those of passages, and at a row all. False: it, or one of them, is not finite. */
static bool evaluate(ag_walk *w, double t, const double *z, const double *c, bool row) {
  const ag_walk_plan *p = w->p;
  if (!all_finite(z, p->n)) return false;
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = p->params, [AG_SEG_C] = c};
  if (p->columns && (row || p->joint)) {
    (void)ag_tape_eval(p->columns, seg, w->slots, w->function_out);
    for (int i = 0; i < (p->joint ? p->n_out : p->n_value); i++) w->out[i] = w->function_out[p->pick[i]];
  }
  if (needs_record(p, row) && !fill_record(w, t, z, c)) return false;
  for (int i = 0; i < p->n_value && row && !p->columns; i++) w->out[i] = w->record[p->at[i]];
  if (!p->direct) seg[AG_SEG_Z] = w->x;
  if (p->passages) (void)ag_tape_eval(p->passages, seg, w->passage_slots, w->out + p->n_value);
  return sound(w, row);
}

/* Row r of path number m of the block. */
static void put_row(const ag_walk *w, int r, int m, const ag_walk_results *to) {
  const ag_walk_plan *p = w->p;
  for (int i = 0; i < p->n_value; i++) to->values[(size_t)(r * p->n_value + i) * to->stride + (size_t)m] = w->out[i];
}

/* ---- first passages ---- */

/* After the step that led to step k, 0 at the start, of path number m of the block. */
static void look(ag_walk *w, unsigned long long path, int m, unsigned long long k) {
  const ag_walk_plan *p = w->p;
  for (int i = 0; i < p->o->n_passage; i++) {
    const double *y = w->out + p->n_value + 2 * i, level = p->o->passages[i].level;
    const ag_passage_step step = {&p->o->path, p->o->t0, p->h, level};
    ag_passage_state *s = &w->states[m * p->o->n_passage + i];
    if (k) ag_passage_look(s, &step, i, path, k - 1, y[0], y[1]);
    else ag_passage_begin(s, level, p->o->t0, y[0], y[1]);
  }
}

static void put_passages(const ag_walk *w, int m, const ag_walk_results *to) {
  const int n = w->p->o->n_passage;
  for (int i = 0; i < n; i++) to->passed[(size_t)i * to->stride + (size_t)m] = w->states[m * n + i].time;
}

/* Is anything recorded after step k, before row r? */
static bool looks(const ag_walk_plan *p, int r, unsigned long long k) {
  return p->o->n_passage || k == p->o->row_step[r];
}

/* ---- one path, whole ---- */

static int one_path(ag_walk *w, unsigned long long path, int m, const ag_walk_results *to) {
  const ag_walk_plan *p = w->p;
  unsigned long long k = 0;
  to->cut[m] = 0;
  memcpy(w->z, p->z0, sizeof(double) * (size_t)p->n);
  memcpy(w->c, p->c0, sizeof(double) * (size_t)ag_system_dims(p->sys)->c);
  memset(w->dz, 0, sizeof(double) * (size_t)(p->n + w->room.own));
  for (int r = 0;; k++) {
    if (looks(p, r, k)) {
      if (!evaluate(w, p->o->t0 + (double)k * p->h, w->z, w->c, k == p->o->row_step[r])) return r;
      look(w, path, m, k);
    }
    if (k == p->o->row_step[r]) put_row(w, r++, m, to);
    if (r == p->o->n_row) break;
    if (!one_step(w, path, k, &to->cut[m])) return r;
  }
  to->accepted[m] = p->canonical ? (long)w->dz[p->n] : 0;
  put_passages(w, m, to);
  return p->o->n_row;
}

/* ---- lanes ---- */

static double *lane_block(const ag_walk *w, size_t rows) {
  return ag_heap_aligned(sizeof(double) * (rows + 1) * (size_t)ag_unit_lanes(w->p->unit));
}

static void lanes_create(ag_walk *w) {
  const ag_walk_plan *p = w->p;
  const int lanes = ag_unit_lanes(p->unit), n_param = ag_system_dims(p->sys)->param;
  const size_t n = (size_t)p->n;
  unsigned long long fail[AG_MOST_LANES] __attribute__((aligned(64))) = {0};
  double *params = lane_block(w, (size_t)n_param);
  w->unit = lane_block(w, (size_t)p->n_unit);
  for (int k = 0; k < n_param * lanes; k++) params[k] = p->params[k / lanes];
  for (int k = 0; k < p->n_unit * lanes; k++) w->unit[k] = p->unit0[k / lanes];
  const ag_tape *all[N_TAPE] = {p->tape,      p->columns, p->jacobian, p->finish, p->agree,
                                p->canonical, p->project, p->turn,     p->renew,  p->direct ? p->passages : NULL};
  int tape[N_TAPE], n_tape = 0;
  for (int i = 0; i < N_TAPE; i++) tape[i] = all[i] ? n_tape++ : -1;
  for (int i = 0; i < N_TAPE; i++) {
    w->prep[i] = lane_block(w, tape[i] < 0 ? 0 : (size_t)ag_unit_n_prep(p->unit, tape[i]));
    if (tape[i] >= 0) ag_unit_prep(p->unit, tape[i], params, w->prep[i], fail);
  }
  free(params);
  w->pair = (unsigned long long *)lane_block(w, 1);
  w->args = (ag_walk_args){.abi = AG_WALK_ABI,
                           .path = p->path,
                           .pair = w->pair,
                           .t0 = p->o->t0,
                           .h = p->h,
                           .most = p->most,
                           .z = lane_block(w, 2 * n),
                           .own = lane_block(w, 2 * (size_t)w->room.own),
                           .c = lane_block(w, 2 * (size_t)ag_system_dims(p->sys)->c),
                           .prep = w->prep[TAPE_F],
                           .prep_out = w->prep[TAPE_O],
                           .prep_jacobian = w->prep[TAPE_J],
                           .prep_finish = w->prep[TAPE_END],
                           .prep_agree = w->prep[TAPE_AGREE],
                           .prep_canonical = w->prep[TAPE_CANONICAL],
                           .prep_project = w->prep[TAPE_PROJECT],
                           .prep_turn = w->prep[TAPE_TURN],
                           .prep_renew = w->prep[TAPE_RENEW],
                           .unit = w->unit,
                           .fail = (unsigned long long *)lane_block(w, 2),
                           .cut = (unsigned long long *)lane_block(w, 2),
                           .prep_passes = w->prep[TAPE_PASSES],
                           .passes = lane_block(w, p->direct ? 2 * (size_t)p->passages->n_out : 0)};
  w->lane_out = lane_block(w, p->columns ? 2 * (size_t)p->columns->n_out : 0);
  w->lane_z = numbers((size_t)ag_system_dims(p->sys)->z);
}

static void lanes_free(ag_walk *w) {
  if (!w->p->unit) return;
  void *all[] = {w->unit,     w->pair,      w->lane_z,   w->args.c,   w->args.z,
                 w->args.own, w->args.fail, w->args.cut, w->lane_out, w->args.passes};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  for (int i = 0; i < N_TAPE; i++) free(w->prep[i]);
}

/* The numbers of path number m of the block, which stands in a lane. */
static bool lane_evaluate(ag_walk *w, double t, int m, bool row) {
  const ag_walk_plan *p = w->p;
  const int lanes = ag_unit_lanes(p->unit), s = m & 1, l = m >> 1;
  double *z = w->lane_z;
  for (int i = 0; i < p->n; i++) z[i] = w->args.z[(s * p->n + i) * lanes + l];
  if (w->args.fail[s * lanes + l]) return false;
  const int n_c = ag_system_dims(p->sys)->c;
  for (int i = 0; i < n_c; i++) w->c[i] = w->args.c[(s * n_c + i) * lanes + l];
  if (needs_record(p, row)) return evaluate(w, t, z, w->c, row);
  if (!all_finite(z, p->n)) return false;
  for (int i = 0; w->args.out && i < (p->joint ? p->n_out : p->n_value); i++)
    w->out[i] = w->args.out[(s * p->columns->n_out + p->pick[i]) * lanes + l];
  for (int i = 0; p->direct && i < p->passages->n_out; i++)
    w->out[p->n_value + i] = w->args.passes[(s * p->passages->n_out + i) * lanes + l];
  return sound(w, row);
}

/* The steps up to k are taken: records every lane on the way to row r. */
static void lanes_look(ag_walk *w, unsigned long long first, int n, int r, unsigned long long k,
                       const ag_walk_results *to) {
  const ag_walk_plan *p = w->p;
  const double t = p->o->t0 + (double)k * p->h;
  for (int m = 0; m < n; m++) {
    if (to->rows[m] != r || w->lost[m]) continue;
    w->lost[m] = !lane_evaluate(w, t, m, k == p->o->row_step[r]);
    if (w->lost[m]) continue;
    look(w, first + (unsigned long long)m, m, k);
    if (k != p->o->row_step[r]) continue;
    put_row(w, r, m, to);
    to->rows[m] = r + 1;
  }
}

static void lanes_block(ag_walk *w, unsigned long long first, int n, const ag_walk_results *to) {
  const ag_walk_plan *p = w->p;
  const int lanes = ag_unit_lanes(p->unit);
  for (int l = 0; l < lanes; l++) w->pair[l] = first / 2 + (unsigned long long)(2 * l < n ? l : 0);
  for (int k = 0; k < 2 * p->n * lanes; k++) w->args.z[k] = p->z0[k / lanes % p->n];
  const int n_c = ag_system_dims(p->sys)->c;
  for (int k = 0; k < 2 * n_c * lanes; k++) w->args.c[k] = p->c0[k / lanes % n_c];
  memset(w->args.own, 0, sizeof(double) * (size_t)(2 * w->room.own * lanes));
  memset(w->args.fail, 0, sizeof(double) * (size_t)(2 * lanes));
  memset(w->args.cut, 0, sizeof(double) * (size_t)(2 * lanes));
  for (int m = 0; m < n; m++) to->rows[m] = 0, w->lost[m] = false;
  w->args.to = 0;
  for (int r = 0; r < p->o->n_row; r++) {
    do { /* to the row at once, or step by step; no step at all gives the numbers of the start */
      w->args.from = w->args.to;
      if (p->o->n_passage && w->args.to < p->o->row_step[r] && (r || w->started)) w->args.to++;
      else if (!p->o->n_passage) w->args.to = p->o->row_step[r];
      w->args.out = p->columns && (p->joint || w->args.to == p->o->row_step[r]) ? w->lane_out : NULL;
      ag_unit_call(p->unit, 0, &w->args);
      lanes_look(w, first, n, r, w->args.to, to);
      w->started = true;
    } while (w->args.to < p->o->row_step[r]);
  }
  w->started = false;
  for (int m = 0; m < n; m++) {
    to->cut[m] = (long)w->args.cut[(m & 1) * lanes + (m >> 1)];
    to->accepted[m] = p->canonical ? (long)w->args.own[(m & 1) * w->room.own * lanes + (m >> 1)] : 0;
  }
  for (int m = 0; m < n; m++) put_passages(w, m, to);
}

/* ---- interface ---- */

static double *slots_of(const ag_tape *tape, const double *params) {
  double *slots = numbers(tape ? (size_t)tape->n_slot : 0);
  if (tape) (void)ag_tape_prep(tape, params, slots);
  return slots;
}

ag_walk *ag_walk_create(const ag_walk_plan *p) {
  ag_walk *w = ag_heap_alloc(sizeof *w);
  *w = (ag_walk){.p = p, .work = ag_work_create(p->sys, p->params)};
  ag_record record;
  ag_record_init(&record, p->sys);
  w->record = numbers((size_t)record.width), w->function_out = numbers((size_t)(record.width + 2 * p->o->n_passage));
  ag_record_done(&record);
  w->x = numbers((size_t)ag_system_dims(p->sys)->x);
  w->out = numbers((size_t)p->n_out);
  w->slots = slots_of(p->columns, p->params);
  w->passage_slots = slots_of(p->passages, p->params);
  w->function_slots = slots_of(p->functions, p->params);
  w->states = ag_heap_alloc(sizeof *w->states * (size_t)(ag_walk_width(p) * p->o->n_passage + 1));
  w->lost = ag_heap_alloc((size_t)ag_walk_width(p));
  one_create(w);
  ag_work_step(w->work, w->rate);
  if (p->unit) lanes_create(w);
  return w;
}

void ag_walk_free(ag_walk *w) {
  if (!w) return;
  lanes_free(w);
  ag_work_free(w->work);
  free(w->states), free(w->lost);
  void *all[] = {w->function_slots,
                 w->passage_slots,
                 w->function_out,
                 w->record,
                 w->x,
                 w->slots,
                 w->out,
                 w->z,
                 w->z1,
                 w->dz,
                 w->dz1,
                 w->c,
                 w->c1,
                 w->projected,
                 w->step,
                 w->rate,
                 w->noise,
                 w->space};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(w);
}

void ag_walk_block(ag_walk *w, unsigned long long first, int n, const ag_walk_results *to) {
  if (w->p->unit) lanes_block(w, first, n, to);
  else
    for (int m = 0; m < n; m++) to->rows[m] = one_path(w, first + (unsigned long long)m, m, to);
}
