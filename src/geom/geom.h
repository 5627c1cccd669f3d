/* SPDX-License-Identifier: MIT
 * The geometry of a model as expressions: front header of geom/. What conservation, stability and reduction need beyond
 * the equations that are integrated: tangent lifts, momenta, the terms of the reaction, relations. All are nodes of the
 * graph of the model in its inputs (parameters, t, q, xi) and in two sets of further ones, the accelerations and the
 * reactions. Nothing is solved here: M, S, ell and kappa stand as they are, so that they can be read exactly.
 *
 *   M xi' - S^T lambda = -ell,  S xi' = -kappa,  S xi + s = 0,  R = S^T lambda        (docs/theory/1-formalism.md) */
#ifndef AG_GEOM_GEOM_H
#define AG_GEOM_GEOM_H
#include "model/model.h"

typedef struct ag_geom {
  ag_model *model;
  ag_graph *g;
  ag_arena *arena;
  int n_coord, n;      /* factors of the configuration space; velocities */
  int n_row, n_relate; /* rows of the constraints; relations between coordinates and t that hold on the leaf */
  int *at;             /* per coordinate: its first velocity */
  ag_id *q, *xi;       /* the inputs of the model */
  ag_id *acc, *react;  /* inputs for xi' and for the reaction, shaped like xi */
  ag_id t, lagrangian, energy;
  ag_id *p;                      /* momenta, shaped like xi */
  ag_id *inert;                  /* ell without forces, shaped like xi */
  ag_id M, ell, force;           /* columns and matrices over all velocities */
  ag_id rows, s, S, kappa;       /* rows = S xi + s; 0 when there are none */
  ag_id relate, relate_jacobian; /* 0 when there are none */
  ag_id *velocity;               /* per coordinate: a column, for fields */
} ag_geom;

/* lagrangian 0: that of the model. */
ag_geom *ag_geom_create(ag_model *m, ag_id lagrangian);
void ag_geom_free(ag_geom *x);

/* Adds relations e = 0 that hold on the leaf: found ones, or others. */
void ag_geom_relate(ag_geom *x, int n, const ag_id *e);

/* The Lagrangian of the model with its potential replaced: l - l(xi = 0) - V. */
ag_id ag_geom_with_potential(ag_model *m, ag_id V);
/* Leaves out the friction of a temperature, in force and ell. */
void ag_geom_quiet(ag_geom *x);
/* Replaces names of other expressions: the velocities of a frame, the energy. False: constraint forces remain.
 */
bool ag_geom_plain(const ag_geom *x, ag_id *expression);
/* d/dt of an expression in q, xi, t: two parts, along the motion of q and t, and by the accelerations. */
void ag_geom_rate(const ag_geom *x, ag_id expression, ag_id *moved, ag_id *accelerated);
/* The field of a generator: one column per coordinate, in an array of the arena. */
ag_id *ag_geom_field(const ag_geom *x, const ag_generator *z);
/* p.Z; R.Z; S Z; and the components of Z below each other. */
ag_id ag_geom_momentum(const ag_geom *x, const ag_id *Z);
ag_id ag_geom_reaction(const ag_geom *x, const ag_id *Z);
ag_id ag_geom_across(const ag_geom *x, const ag_id *Z); /* 0: no constraints */
/* The derivative of an expression in q, xi, t along the tangent lift of Z: dq = Z, dxi = D_xi Z + Z_t + ad_xi Z. */
ag_id ag_geom_lifted(const ag_geom *x, const ag_id *Z, ag_id expression);
/* The derivative of a function of q and t along the field Y, at t fixed; and [Y, Z] of two fields, in an array of the
 * arena. */
ag_id ag_geom_along(const ag_geom *x, const ag_id *Y, ag_id f);
ag_id *ag_geom_bracket(const ag_geom *x, const ag_id *Y, const ag_id *Z);
/* K = [M -S^T; S 0] with the given rows of S, which are independent: K [xi'; lambda] = [-ell; -kappa]. */
ag_id ag_geom_saddle(const ag_geom *x, int rank, const int *rows);
/* The accelerations, solved for; and the part of Z that is normal to D in the metric M: w = M^-1 S^T mu, S w = S Z. */
ag_id ag_geom_acceleration(const ag_geom *x, int rank, const int *rows);
ag_id ag_geom_drift(const ag_geom *x, int rank, const int *rows); /* w = M^-1 S^T mu, S w = -s */
ag_id ag_geom_at_rest(const ag_geom *x, ag_id e);                 /* at xi = 0 */
ag_id ag_geom_normal(const ag_geom *x, int rank, const int *rows, ag_id Z);
/* The field Z in D whose product with admissible velocities in the metric M is that of the covector a: Pi M^-1 a, where
 * Pi is the projection on D that is orthogonal in this metric. */
ag_id ag_geom_admissible(const ag_geom *x, int rank, const int *rows, ag_id a);
/* The effect of a noise channel on the velocities, dxi = ... o dW: M w - S^T mu = pull - D_sigma p, S w = -D_sigma (S
 * xi + s), with sigma and pull per coordinate and the amplitude per process, which D_sigma moves along. */
ag_id ag_geom_noise(const ag_geom *x, int rank, const int *rows, const ag_id *sigma, const ag_id *amplitude,
                    const ag_id *pull);
/* tr d xi'/d xi: the divergence of the motion with respect to dq dxi. The motion is continued to all velocities so
 * that these rows are constant along it: the divergence is also that of dq dxi on the constraints, delta(rows). */
ag_id ag_geom_divergence(const ag_geom *x, int rank, const int *rows);
/* The derivative of E along the tangent lift at t fixed, -l_t, F.xi: the powers of the energy. */
ag_id ag_geom_time_power(const ag_geom *x);
ag_id ag_geom_force_power(const ag_geom *x);
#endif
