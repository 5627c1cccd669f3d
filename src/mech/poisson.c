/* SPDX-License-Identifier: MIT
 * The eliminated equations in almost-Poisson form, z' = J(z) grad E + rest, in the tangent of z = (q, u). With the
 * columns B_j of xi = B u + xi0, m = B^T M B and P = B^T p,
 *   q' = B m^-1 E_u,      u' = -m^-1 B^T E_q + m^-1 Q m^-1 E_u,      Q = C - N + N^T,
 *   C_ij = p.(D_{B_j} B_i - D_{B_i} B_j + [B_j, B_i]),      N_ij = D_{B_j} P_i at fixed u.
 * C is the bracket of the admissible directions; N comes from taking u, not P, as the variable. J is skew. The rest is
 * 0 where the constraints are linear, nothing depends on t and there are no forces. */
#include <stdlib.h>

#include "mech/mech_internal.h"

typedef struct poisson {
  ag_system *sys;
  ag_graph *g;
  int nc, n;   /* coordinates, independent velocities */
  ag_id *q;    /* inputs */
  ag_id *B;    /* column j, coordinate i at j * nc + i */
  ag_id *D;    /* D_{B_j} B_i of coordinate c at (j * n + i) * nc + c */
  ag_id *N;    /* D_{B_j} P, columns */
  int *place;  /* of the quasi-velocities in the tangent of z */
  int m, u_at; /* its dimension; where u begins there */
} poisson;

static ag_id *new_ids(const poisson *s, int n) { return AG_NEWN(s->sys->arena, ag_id, n + 1); }

static void find_columns(poisson *s) {
  ag_system *sys = s->sys;
  int n_in = sys->n_u_input;
  ag_id *seeds = new_ids(s, n_in);
  s->B = new_ids(s, s->n * s->nc);
  for (int j = 0, at = 0, k = 0; j < s->n; j++) {
    for (int i = 0; i < n_in; i++) seeds[i] = ag_zero(s->g, ag_node_rows(s->g, sys->u_inputs[i]), 1);
    int dim = ag_node_rows(s->g, sys->u_inputs[k]);
    ag_id *unit = new_ids(s, dim);
    for (int i = 0; i < dim; i++) unit[i] = ag_num(s->g, i == j - at);
    seeds[k] = ag_stack(s->g, dim, 1, unit);
    ag_forward(s->g, n_in, sys->u_inputs, seeds, s->nc, sys->xi_of_u, s->B + j * s->nc);
    if (j + 1 == at + dim) at += dim, k++;
  }
}

/* Derivatives along the columns. */
static void find_derivatives(poisson *s) {
  s->D = new_ids(s, s->n * s->n * s->nc);
  s->N = new_ids(s, s->n);
  for (int j = 0; j < s->n; j++) {
    const ag_id *along = s->B + j * s->nc;
    ag_forward(s->g, s->nc, s->q, along, s->n * s->nc, s->B, s->D + j * s->n * s->nc);
    ag_forward(s->g, s->nc, s->q, along, 1, &s->sys->momentum, &s->N[j]);
  }
}

/* C_ij */
static ag_id bracket(const poisson *s, int i, int j) {
  ag_graph *g = s->g;
  ag_id sum = ag_num(g, 0);
  for (int c = 0; c < s->nc; c++) {
    ag_id x = ag_sub(g, s->D[(j * s->n + i) * s->nc + c], s->D[(i * s->n + j) * s->nc + c]);
    if (s->sys->model->coords[c].space == AG_SPACE_SO3) {
      ag_id turn = ag_cross(g, s->B[j * s->nc + c], s->B[i * s->nc + c]);
      x = ag_add(g, x, turn);
    }
    sum = ag_add(g, sum, ag_dot(g, s->sys->p_of_u[c], x));
  }
  return sum;
}

/* Q, its part below the diagonal by that above it: skew to the last bit. */
static ag_id skew(const poisson *s) {
  ag_graph *g = s->g;
  ag_id *Q = new_ids(s, s->n * s->n);
  for (int i = 0; i < s->n; i++)
    for (int j = i; j < s->n; j++) {
      ag_id x = ag_num(g, 0);
      if (i < j) {
        ag_id below = ag_entry(g, s->N[i], j, 0), above = ag_entry(g, s->N[j], i, 0), turn = ag_sub(g, below, above);
        x = ag_add(g, bracket(s, i, j), turn);
      }
      Q[i * s->n + j] = x;
      Q[j * s->n + i] = ag_neg(g, x);
    }
  return ag_stack(g, s->n, s->n, Q);
}

/* J in the tangent of z, row by row. */
static void put_matrix(const poisson *s, ag_id *J) {
  ag_graph *g = s->g;
  const ag_model *model = s->sys->model;
  ag_id inverse = ag_solve(g, s->sys->mass, ag_eye(g, s->n), AG_SOLVE_SPD), Q = skew(s);
  ag_id K = ag_mul(g, ag_mul(g, inverse, Q), inverse);
  for (int i = 0; i < s->m * s->m; i++) J[i] = ag_num(g, 0);
  for (int c = 0, k = 0; c < s->nc; c++)
    for (int r = 0; r < model->coords[c].dim; r++, k++)
      for (int j = 0; j < s->n; j++) {
        ag_id x = ag_num(g, 0);
        for (int i = 0; i < s->n; i++) {
          ag_id entry = ag_entry(g, s->B[i * s->nc + c], r, 0), by = ag_entry(g, inverse, i, j);
          x = ag_add(g, x, ag_mul(g, entry, by));
        }
        J[s->place[k] * s->m + s->u_at + j] = x;
        J[(s->u_at + j) * s->m + s->place[k]] = ag_neg(g, x);
      }
  for (int i = 0; i < s->n; i++)
    for (int j = i + 1; j < s->n; j++) {
      ag_id x = ag_entry(g, K, i, j);
      J[(s->u_at + i) * s->m + s->u_at + j] = x;
      J[(s->u_at + j) * s->m + s->u_at + i] = ag_neg(g, x);
    }
}

/* E and its gradient in the tangent of z. */
static void put_energy(const poisson *s, ag_id *out) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  ag_id one = ag_num(g, 1), *xi = new_ids(s, s->nc), *by_q = new_ids(s, s->nc), *by_u = new_ids(s, sys->n_u_input);
  for (int c = 0; c < s->nc; c++) xi[c] = sys->model->coords[c].xi;
  out[0] = sys->energy;
  ag_substitute(g, s->nc, xi, sys->xi_of_u, 1, out);
  ag_reverse(g, 1, out, &one, s->nc, s->q, by_q);
  ag_reverse(g, 1, out, &one, sys->n_u_input, sys->u_inputs, by_u);
  for (int c = 0, k = 0; c < s->nc; c++)
    for (int r = 0; r < sys->model->coords[c].dim; r++) out[1 + s->place[k++]] = ag_entry(g, by_q[c], r, 0);
  for (int i = 0, k = 0; i < sys->n_u_input; i++)
    for (int r = 0; r < ag_node_rows(g, sys->u_inputs[i]); r++) out[1 + s->u_at + k++] = ag_entry(g, by_u[i], r, 0);
}

const ag_tape *ag_system_poisson(ag_system *sys) {
  ag_tape **tape = &sys->tapes[AG_ROLE_POISSON];
  if (*tape || !sys->mass || ag_system_discrete_lacks(sys, AG_DISCRETE_EXP, false)) return *tape;
  poisson s = {.sys = sys, .g = sys->model->graph, .nc = sys->model->n_coords, .n = sys->n.u};
  s.m = ag_turn_tangent(sys);
  s.place = AG_NEWN(sys->arena, int, sys->n.xi + 1);
  s.u_at = ag_tangent_places(sys, s.place);
  s.q = new_ids(&s, s.nc);
  for (int c = 0; c < s.nc; c++) s.q[c] = sys->model->coords[c].q;
  find_columns(&s);
  find_derivatives(&s);
  int n_out = 1 + s.m + s.m * s.m;
  ag_id *outs = new_ids(&s, n_out);
  put_energy(&s, outs);
  put_matrix(&s, outs + 1 + s.m);
  ag_split_leaves(sys, n_out, outs);
  ag_role_make(sys, AG_ROLE_POISSON, n_out, outs);
  return *tape;
}
