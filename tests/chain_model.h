/* SPDX-License-Identifier: MIT
 * A chain of beads built by function calls, for tests of constraints: its mass matrix is the identity, its rows are
 * known, and it is solved dense or sparse. */
#ifndef AG_TESTS_CHAIN_MODEL_H
#define AG_TESTS_CHAIN_MODEL_H
#include <stdlib.h>

#include "mech/mech_internal.h"

typedef struct chain {
  int n;                /* beads of mass 1 in a vertical plane, each at the distance 1 from the one before it */
  bool again;           /* the first row stands twice */
  bool saddle;          /* treated as a large system */
  bool strict;          /* the start may not be moved */
  const double *q, *xi; /* start values, 2 per bead; NaN: not named */
} chain;

static inline ag_model *chain_model(const chain *c) {
  ag_model *m = ag_model_create("chain");
  ag_graph *g = m->graph;
  ag_id half = ag_num(g, 0.5), one = ag_num(g, 1), last = ag_zero(g, 2, 1), energy = ag_num(g, 0);
  for (int i = 0; i < c->n; i++) {
    const char *name = ag_arena_printf(m->arena, "p%d", i + 1);
    int k = ag_model_add_coord(m, name, NULL, NULL, NULL, 0, AG_SPACE_R, 2, (ag_pos){0});
    ag_id p = m->coords[k].q, v = m->coords[k].xi, apart = ag_sub(g, p, last);
    ag_id kinetic = ag_mul(g, half, ag_dot(g, v, v)), height = ag_entry(g, p, 1, 0);
    energy = ag_add(g, energy, ag_sub(g, kinetic, height));
    ag_id row = ag_sub(g, ag_dot(g, apart, apart), one);
    ag_model_add_holonomic(m, row, NULL, (ag_pos){0});
    if (c->again && i == 0) ag_model_add_holonomic(m, ag_mul(g, half, row), NULL, (ag_pos){0});
    last = p;
    for (int r = 0; r < 4; r++) {
      const double *values = r < 2 ? c->q : c->xi;
      double value = values ? values[2 * i + r % 2] : NAN;
      if (!isnan(value)) AG_MODEL_PUSH(m, starts, ((ag_start){r >= 2, k, r % 2, -1, ag_num(g, value), {0}}));
    }
  }
  m->lagrangian = energy;
  return m;
}

/* NULL when it cannot be derived; messages are in ctx. */
static inline ag_system *chain_system(ag_ctx *ctx, const chain *c, ag_model **m) {
  ag_system *sys = NULL;
  *m = chain_model(c);
  (void)!ag_system_create(ctx, *m, &(ag_derive_options){.saddle = c->saddle, .strict = c->strict}, &sys);
  return sys;
}

/* Largest error of the distances, and of their rates. */
static inline double chain_error(int n, const double *q, const double *xi) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double d[2], v[2];
    for (int k = 0; k < 2; k++) d[k] = q[2 * i + k] - (i ? q[2 * i - 2 + k] : 0);
    for (int k = 0; k < 2; k++) v[k] = xi ? xi[2 * i + k] - (i ? xi[2 * i - 2 + k] : 0) : 0;
    worst = fmax(worst, fmax(fabs(d[0] * d[0] + d[1] * d[1] - 1), fabs(d[0] * v[0] + d[1] * v[1])));
  }
  return worst;
}

/* Uniform in [-1, 1), the same everywhere. */
static inline double chain_random(uint64_t *state) { return 2 * ag_random_unit(state) - 1; }
#endif
