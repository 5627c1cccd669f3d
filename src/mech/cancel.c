/* SPDX-License-Identifier: MIT
 * Coordinates that cancel. A heading or a position often appears in the equations and cancels out: cos(phi) of one
 * factor meets cos(phi) of another, and only 1 remains. If momentum and force are the same functions whatever the
 * value of such a coordinate (an identity over a prime field, expr/residue.h), they are taken at the value 0: sines and
 * cosines become numbers, and the coordinate is no longer part of the core. */
#include <math.h>
#include <string.h>

#include "expr/residue.h"
#include "mech/mech_internal.h"

enum { MAX_VELOCITIES = 24, MAX_ROUNDS = 4 };

/* Everything that the equations in u may read; 0: they read something unknown here. */
static int find_inputs(derive *d, ag_id *inputs) {
  const ag_system *sys = d->sys;
  const ag_model *m = d->m;
  int n = 0;
  if (sys->n_basis || m->lambda) return 0;
  for (int i = 0; i < d->nc; i++) {
    if (m->coords[i].space == AG_SPACE_SO3) return 0; /* rotations leave through images: core.c */
    inputs[n++] = d->q[i];
  }
  for (int i = 0; i < sys->n_u_input; i++) inputs[n++] = sys->u_inputs[i];
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) inputs[n++] = m->params[i].input;
  inputs[n++] = m->t;
  n += ag_process_inputs(m, inputs + n);
  return n;
}

/* sin(a + b) and cos(a + b) by the addition theorems: which the residues do not know. */
static bool expand_angles(ag_graph *g, int n, ag_id *x) {
  ag_id top = 0;
  for (int i = 0; i < n; i++) top = x[i] > top ? x[i] : top;
  bool *mark = ag_heap_alloc((size_t)top + 1);
  for (int i = 0; i < n; i++) mark[x[i]] = true;
  for (ag_id y = top; y > 0; y--)
    for (int k = 0; mark[y] && k < ag_node_n_arg(g, y); k++) mark[ag_node_arg(g, y, k)] = true;
  ag_id *from = ag_heap_alloc(sizeof *from * 2 * ((size_t)top + 1)), *to = from + top + 1;
  int found = 0;
  for (ag_id y = 1; y <= top; y++) {
    ag_op op = ag_node_op(g, y), sum;
    if (!mark[y] || (op != AG_OP_SIN && op != AG_OP_COS)) continue;
    ag_id angle = ag_node_arg(g, y, 0);
    sum = ag_node_op(g, angle);
    if (sum != AG_OP_ADD && sum != AG_OP_SUB) continue;
    ag_id a = ag_node_arg(g, angle, 0), b = ag_node_arg(g, angle, 1), sa = ag_apply1(g, AG_OP_SIN, a),
          ca = ag_apply1(g, AG_OP_COS, a), sb = ag_apply1(g, AG_OP_SIN, b), cb = ag_apply1(g, AG_OP_COS, b);
    if (sum == AG_OP_SUB) sb = ag_neg(g, sb);
    ag_id u = ag_mul(g, op == AG_OP_SIN ? sa : ca, cb), v = ag_mul(g, op == AG_OP_SIN ? ca : sa, sb);
    from[found] = y;
    to[found++] = op == AG_OP_SIN ? ag_add(g, u, v) : ag_sub(g, u, v);
  }
  if (found) ag_substitute(g, found, from, to, n, x);
  free(from);
  free(mark);
  return found > 0;
}

/* Operations of momentum and force, those of parameters alone not counted. */
static int cost(derive *d, int n_in, const ag_id *inputs, const ag_id *outs) {
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)n_in);
  int size = 0;
  for (int i = 0; i < n_in; i++) {
    bool fixed = i >= d->nc + d->sys->n_u_input && inputs[i] != d->m->t;
    binds[i] = (ag_bind){inputs[i], fixed ? AG_SEG_P : AG_SEG_Z, size};
    size += ag_input_storage(d->g, inputs[i]);
  }
  int n = ag_tape_cost_of(d->g, n_in, binds, 2, outs);
  free(binds);
  return n;
}

/* ---- numbers ---- */

/* Momentum and force as a tape of all inputs, evaluated in many places. */
typedef struct probe {
  ag_tape *tape; /* NULL: not made yet */
  double *slots, *z;
  int size;
} probe;

static void probe_done(probe *p) {
  ag_tape_free(p->tape);
  free(p->slots);
  free(p->z);
  *p = (probe){0};
}

static void probe_make(probe *p, ag_graph *g, int n_in, const ag_id *inputs, const ag_id *outs) {
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)n_in);
  for (int i = 0; i < n_in; p->size += ag_input_storage(g, inputs[i++]))
    binds[i] = (ag_bind){inputs[i], AG_SEG_Z, p->size};
  p->tape = ag_tape_create(g, n_in, binds, 2, outs);
  p->slots = ag_heap_alloc(sizeof *p->slots * ((size_t)p->tape->n_slot + 1));
  p->z = ag_heap_alloc(sizeof *p->z * (size_t)(p->size + 1));
  if (ag_tape_prep(p->tape, NULL, p->slots)) p->size = 0; /* a constant that is not finite */
  free(binds);
}

/* Do they seem unchanged when the number `at` changes? A quick check first, so that no expressions are built for
 * coordinates that matter. */
static bool seems_absent(const probe *p, int at) {
  enum { TRIES = 3 };
  double v[2][2 * MAX_VELOCITIES];
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_Z] = p->z};
  uint64_t state = 20261117;
  int seen = 0;
  for (int try = 0; try < TRIES; try++) {
    for (int k = 0; k < p->size; k++) p->z[k] = 0.3 + ag_random_unit(&state);
    int failed = ag_tape_eval(p->tape, seg, p->slots, v[0]);
    p->z[at] += 0.7;
    if (failed || ag_tape_eval(p->tape, seg, p->slots, v[1]) || isnan(v[0][0]) || isnan(v[1][0])) continue;
    seen++;
    for (int k = 0; k < p->tape->n_out; k++)
      if (!(fabs(v[0][k] - v[1][k]) <= 1e-8 * (1 + fabs(v[0][k])))) return false;
  }
  return seen > 0;
}

/* ---- all ---- */

/* Are x and y, momentum and force, equal whatever the inputs are? */
static bool same(derive *d, int n_in, const ag_id *inputs, const ag_id *x, const ag_id *y) {
  ag_graph *g = d->g;
  ag_id gap[2];
  for (int k = 0; k < 2; k++) gap[k] = ag_sub(g, x[k], y[k]);
  for (int round = 0; round < MAX_ROUNDS && expand_angles(g, 2, gap);) round++;
  return ag_residue_vanish(g, n_in, inputs, 2, gap);
}

void ag_cancel_coordinates(derive *d) {
  ag_system *sys = d->sys;
  ag_id outs[2] = {sys->momentum, sys->force}, zero = ag_num(d->g, 0);
  ag_id *inputs =
      ag_heap_alloc(sizeof *inputs * (size_t)(d->nc + sys->n_u_input + d->m->n_params + d->m->n_processes + 1));
  int n_in = sys->n.xi <= MAX_VELOCITIES ? find_inputs(d, inputs) : 0, at = 0, now = -1;
  probe p = {0};
  for (int i = 0; i < d->nc && n_in; at += ag_input_storage(d->g, d->q[i++])) {
    ag_id without[2] = {outs[0], outs[1]};
    if (!ag_is_scalar(d->g, d->q[i]) || !ag_depends(d->g, 2, outs, 1, &d->q[i])) continue;
    if (!p.tape) probe_make(&p, d->g, n_in, inputs, outs);
    if (at >= p.size || !seems_absent(&p, at)) continue;
    ag_substitute(d->g, 1, &d->q[i], &zero, 2, without);
    if (!same(d, n_in, inputs, outs, without)) continue;
    int then = cost(d, n_in, inputs, without);
    if (now < 0) now = cost(d, n_in, inputs, outs);
    if (then >= now) continue;
    memcpy(outs, without, sizeof outs);
    now = then;
    probe_done(&p);
  }
  sys->momentum = outs[0];
  sys->force = outs[1];
  probe_done(&p);
  free(inputs);
}
