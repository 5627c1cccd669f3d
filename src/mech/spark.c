/* SPDX-License-Identifier: MIT
 * What a SPARK method needs of the equations at one stage, in the chart q = q0 exp(x) of the step (on vectors q0 + x).
 * With the velocity v = x', the Lagrangian L(x, v, t) = l(q, xi, t), xi = D(-x) v, and the constraints
 * K(x, v, t) = S xi + s,
 *   P = L_v,    G = L_x + D(-x)^T F + K_v^T Lambda,    K,
 * their derivatives by x, v and Lambda, and the momentum p(q0, u0) that the step begins with. Its end: the velocities
 * that satisfy the constraints and belong to a momentum p_x, which is K(-x)^T p_x in the body; D = dexp and K = D^-1 as
 * in discrete.c. */
#include <string.h>

#include "mech/mech_internal.h"

typedef struct spark {
  ag_system *sys;
  ag_graph *g;
  int nc, n, r; /* coordinates, velocities, constraints */
  const ag_step_inputs *in;
  ag_id *x, *v; /* per coordinate: columns */
} spark;

static ag_id *new_ids(const spark *s, int n) { return AG_NEWN(s->sys->arena, ag_id, n + 1); }

static bool turns(const spark *s, int i) { return s->sys->model->coords[i].space == AG_SPACE_SO3; }

/* Expressions in (q, xi, t) at the stage. */
static void at_stage(const spark *s, int n, ag_id *x) {
  ag_graph *g = s->g;
  const ag_model *m = s->sys->model;
  ag_id *from = new_ids(s, 2 * s->nc), *to = new_ids(s, 2 * s->nc);
  for (int i = 0; i < s->nc; i++) {
    from[i] = m->coords[i].q, from[s->nc + i] = m->coords[i].xi;
    to[i] = turns(s, i) ? ag_mul(g, from[i], ag_tau(g, false, s->x[i])) : ag_add(g, from[i], s->x[i]);
    to[s->nc + i] = s->v[i];
    if (turns(s, i)) to[s->nc + i] = ag_mul(g, ag_dtau(g, false, ag_neg(g, s->x[i])), s->v[i]);
  }
  ag_substitute(g, 2 * s->nc, from, to, n, x);
}

/* P, G and K in a row, numbers in the order of the coordinates. */
static void stage(const spark *s, ag_id *out) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  ag_id *all = new_ids(s, s->nc + 2), one = ag_num(g, 1), *push = new_ids(s, s->n);
  memcpy(all, sys->force_x, sizeof *all * (size_t)s->nc);
  all[s->nc] = sys->model->lagrangian;
  if (s->r) all[s->nc + 1] = sys->kept_rows;
  at_stage(s, s->nc + 1 + (s->r > 0), all);
  ag_reverse(g, 1, &all[s->nc], &one, s->n, s->in->delta, out);
  ag_reverse(g, 1, &all[s->nc], &one, s->n, s->in->d, out + s->n);
  if (s->r) {
    ag_id lambda = ag_stack(g, s->r, 1, s->in->lambda);
    ag_reverse(g, 1, &all[s->nc + 1], &lambda, s->n, s->in->delta, push);
  }
  for (int i = 0, k = s->n; i < s->nc; i++) {
    ag_id F = all[i];
    if (turns(s, i)) F = ag_mul(g, ag_transpose(g, ag_dtau(g, false, ag_neg(g, s->x[i]))), F);
    for (int c = 0; c < sys->model->coords[i].dim; c++, k++) {
      out[k] = ag_add(g, out[k], ag_entry(g, F, c, 0));
      if (s->r) out[k] = ag_add(g, out[k], push[k - s->n]);
    }
  }
  for (int k = 0; k < s->r; k++) out[2 * s->n + k] = ag_entry(g, all[s->nc + 1], k, 0);
}

/* The place of number k of P, G, K or of x, v, Lambda: coordinates in the order of the tangent of z. */
static int order_of(const spark *s, int k) {
  if (k >= 2 * s->n) return k;
  int at = s->in->place[k % s->n];
  return k / s->n * s->n + (at < s->in->u_at ? at : at - s->sys->n.u);
}

static void make_stage(const spark *s, int role) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  int n = 2 * s->n + s->r, n_out = s->n + n + n * n;
  ag_id *R = new_ids(s, n), *inputs = new_ids(s, n), *outs = new_ids(s, n_out);
  stage(s, R);
  memcpy(inputs, s->in->d, sizeof *inputs * (size_t)s->n);
  memcpy(inputs + s->n, s->in->delta, sizeof *inputs * (size_t)s->n);
  memcpy(inputs + 2 * s->n, s->in->lambda, sizeof *inputs * (size_t)s->r);
  ag_id J = ag_jacobian(g, ag_concat(g, n, R), n, inputs);
  for (int i = 0, k = 0; i < s->nc; i++)
    for (int c = 0; c < sys->model->coords[i].dim; c++, k++) outs[order_of(s, k)] = ag_entry(g, sys->p_of_u[i], c, 0);
  for (int i = 0; i < n; i++) {
    int row = order_of(s, i);
    outs[s->n + row] = R[i];
    for (int k = 0; k < n; k++) outs[s->n + n + row * n + order_of(s, k)] = ag_entry(g, J, i, k);
  }
  ag_split_leaves(sys, n_out, outs);
  ag_role_make(sys, role, n_out, outs);
}

void ag_spark_make(ag_system *sys, int role) {
  ag_graph *g = sys->model->graph;
  spark s = {.sys = sys, .g = g, .nc = sys->model->n_coords, .n = sys->n.xi, .r = sys->n.lambda};
  s.in = ag_step_inputs_of(sys);
  s.x = new_ids(&s, s.nc), s.v = new_ids(&s, s.nc);
  ag_id *p1 = new_ids(&s, s.nc);
  for (int i = 0, at = 0; i < s.nc; i++) {
    int dim = sys->model->coords[i].dim;
    s.x[i] = ag_stack(g, dim, 1, s.in->d + at);
    p1[i] = s.v[i] = ag_stack(g, dim, 1, s.in->delta + at);
    if (turns(&s, i)) p1[i] = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, false, ag_neg(g, s.x[i]))), p1[i]);
    at += dim;
  }
  make_stage(&s, role);
  ag_discrete_end(sys, s.x, p1, role + 1);
}
