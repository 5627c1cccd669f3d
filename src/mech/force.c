/* SPDX-License-Identifier: MIT
 * Forces of constraint as functions of the reduced state. The reactions R = S^T lambda follow from the accelerations
 * (power.c). A multiplier whose row alone acts on some velocity, with a constant coefficient, is read off there: the
 * contact of a rolling body, whose row begins with the velocity of its centre. The others solve
 *   S' S'^T lambda' = S' (R - S''^T lambda''),   S', lambda': those; S'', lambda'': the ones known. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

/* The rows of S as nodes, and the reactions. */
typedef struct forces {
  ag_system *sys;
  ag_graph *g;
  int n, n_xi; /* rows; velocities */
  ag_id *S, *R, *lambda;
} forces;

static ag_id entry(const forces *f, int row, int velocity) { return f->S[row * f->n_xi + velocity]; }

static bool is_zero(const forces *f, ag_id x) {
  double v;
  return ag_constant(f->g, x, &v) && v == 0;
}

/* Is this row the only one that acts on a velocity, with a constant coefficient? */
static bool acts_alone(const forces *f, int row, int velocity, double *factor) {
  if (!ag_constant(f->g, entry(f, row, velocity), factor) || *factor == 0) return false;
  for (int r = 0; r < f->n; r++)
    if (r != row && !is_zero(f, entry(f, r, velocity))) return false;
  return true;
}

static void read_off(forces *f) {
  for (int r = 0; r < f->n; r++)
    for (int j = 0; j < f->n_xi && !f->lambda[r]; j++) {
      double factor;
      if (acts_alone(f, r, j, &factor)) f->lambda[r] = ag_mul(f->g, ag_num(f->g, 1 / factor), f->R[j]);
    }
}

static void solve_others(forces *f) {
  ag_graph *g = f->g;
  int n = 0, *others = ag_heap_alloc(sizeof *others * (size_t)(f->n + 1));
  ag_id *rest = ag_heap_alloc(sizeof *rest * (size_t)(f->n_xi + 1));
  for (int r = 0; r < f->n; r++)
    if (!f->lambda[r]) others[n++] = r;
  memcpy(rest, f->R, sizeof *rest * (size_t)f->n_xi);
  for (int r = 0; r < f->n && n; r++)
    for (int j = 0; j < f->n_xi && f->lambda[r]; j++)
      rest[j] = ag_sub(g, rest[j], ag_mul(g, entry(f, r, j), f->lambda[r]));
  ag_id *rows = ag_heap_alloc(sizeof *rows * (size_t)(n * f->n_xi + 1));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < f->n_xi; j++) rows[i * f->n_xi + j] = entry(f, others[i], j);
  if (n) {
    ag_id S = ag_stack(g, n, f->n_xi, rows), right = ag_mul(g, S, ag_stack(g, f->n_xi, 1, rest));
    ag_id x = ag_solve(g, ag_mul(g, S, ag_transpose(g, S)), right, AG_SOLVE_SPD);
    for (int i = 0; i < n; i++) f->lambda[others[i]] = ag_entry(g, x, i, 0);
  }
  free(others), free(rest), free(rows);
}

/* S from S^T lambda, which is linear in lambda; entries by velocity. */
static void collect(forces *f) {
  ag_system *sys = f->sys;
  int nc = sys->model->n_coords, at = 0;
  ag_id *R = ag_heap_alloc(sizeof *R * (size_t)(nc + 1));
  ag_reactions(sys, sys->rates, R);
  for (int i = 0; i < nc; i++) {
    int n = ag_node_rows(f->g, R[i]);
    ag_id J = ag_jacobian(f->g, sys->reaction[i], 1, &sys->model->lambda);
    for (int k = 0; k < n; k++, at++) {
      f->R[at] = ag_entry(f->g, R[i], k, 0);
      for (int r = 0; r < f->n; r++) f->S[r * f->n_xi + at] = ag_entry(f->g, J, k, r);
    }
  }
  AG_ASSERT(at == f->n_xi);
  free(R);
}

/* Reactions without multipliers, the multipliers themselves. */
static void substitute(const forces *f, int n_out, ag_id *outs) {
  ag_id all = ag_stack(f->g, f->n, 1, f->lambda);
  ag_expand_builtins(f->sys, n_out, outs);
  ag_substitute(f->g, 1, &f->sys->model->lambda, &all, n_out, outs);
}

bool ag_system_forces(ag_system *sys, int n_out, ag_id *outs) {
  if (!ag_model_has_force(sys->model, n_out, outs)) return true;
  bool unique = sys->n.lambda && sys->n.rank == sys->n.lambda && !ag_system_watches(sys);
  if (!unique || sys->elimination == AG_ELIM_SADDLE || sys->n.switches || !sys->p_of_u || !sys->n_u_input) return false;
  forces f = {.sys = sys, .g = sys->model->graph, .n = sys->n.lambda, .n_xi = sys->n.xi};
  f.S = ag_heap_alloc(sizeof *f.S * (size_t)(f.n * f.n_xi));
  f.R = ag_heap_alloc(sizeof *f.R * (size_t)f.n_xi);
  f.lambda = ag_heap_alloc(sizeof *f.lambda * (size_t)f.n);
  collect(&f);
  read_off(&f);
  solve_others(&f);
  substitute(&f, n_out, outs);
  free(f.S), free(f.R), free(f.lambda);
  return true;
}
