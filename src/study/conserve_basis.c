/* SPDX-License-Identifier: MIT
 * The reaction annihilator at one configuration, in numbers: an orthonormal basis. Expressions are evaluated with 256
 * bits, then rounded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/dense.h"
#include "math/lie.h"
#include "study/conserve_internal.h"
#include "study/study.h"

/* SAME: singular values, relative to the largest, that count as 0: far above rounding, far below what a model means. */
static const double SAME = 1e-9;

double ag_conserve_at_start(const ag_conserving *v, ag_id x) {
  bool lambda;
  double out = 0, *state = ag_heap_alloc(sizeof *state * (size_t)(ag_system_dims(v->sys)->x + 1));
  ag_system_state0(v->sys, state);
  ag_tape *tape = ag_system_tape(v->sys, 1, &x, &lambda);
  double *slots = ag_heap_aligned(sizeof *slots * (size_t)(tape->n_slot + 1));
  ag_work *work = ag_work_create(v->sys, ag_system_param_values(v->sys));
  (void)ag_tape_prep(tape, ag_system_param_values(v->sys), slots);
  (void)ag_work_eval(work, tape, lambda, ag_system_t0(v->sys), state, slots, &out);
  ag_work_free(work);
  ag_tape_free(tape);
  free(slots);
  free(state);
  return out;
}

/* Covectors at a configuration: those of the relations, then reactions at velocities that span all its values. */
typedef struct place {
  const ag_probe *p;
  double t, *q; /* the numbers of q, a rotation as nine entries */
  int n_row;
  double *rows; /* n_row x n */
} place;

static int n_velocities(const ag_probe *p) {
  int k = p->x->n - p->rank;
  return 1 + k + k * (k + 1) / 2;
}

static place place_at_start(const ag_conserving *v) {
  const ag_probe *p = &v->probe;
  const ag_geom *x = v->x;
  double *state = ag_heap_alloc(sizeof *state * (size_t)(ag_system_dims(v->sys)->x + 1)), *from = state;
  ag_system_state0(v->sys, state);
  place a = {.p = p, .t = ag_system_t0(v->sys), .q = AG_NEWN(x->arena, double, p->q_at[x->n_coord] + 1)};
  a.rows = AG_NEWN(x->arena, double, (x->n_relate + n_velocities(p)) * x->n + 1);
  for (int i = 0; i < x->n_coord; i++) {
    bool rotation = ag_model_coords(x->model)[i].space == AG_SPACE_SO3;
    int n = p->q_at[i + 1] - p->q_at[i];
    if (rotation) ag_lie_quat_matrix(from, a.q + p->q_at[i]);
    else memcpy(a.q + p->q_at[i], from, sizeof *from * (size_t)n);
    from += rotation ? 4 : n;
  }
  for (int k = 0; v->fixed && k < p->q_at[x->n_coord]; k++)
    if (v->fixed[k]) a.q[k] = v->fixed_at[k];
  free(state);
  return a;
}

/* The numbers of a program's outputs; false: undefined here. */
static bool numbers_of(const ag_probe *p, const ag_program *program, const ag_balls *in, double *out) {
  int n = ag_program_n_out(program);
  ag_balls *b = ag_balls_create(p->flint, n);
  bool good = ag_balls_eval(program, in, b);
  for (int i = 0; i < n && good; i++) out[i] = ag_balls_middle(b, i);
  ag_balls_free(b);
  return good;
}

/* The reaction M xi' + ell at the velocity in in[], where [M -S^T; S 0] [xi'; lambda] = [-ell; -kappa]. */
static bool reaction(const ag_probe *p, const ag_balls *in, double *R) {
  int n = p->x->n, m = p->x->n_row, size = n + m;
  double *v = ag_heap_alloc(sizeof *v * (size_t)(n * n + n + m * n + m + 1)), *ell = v + n * n, *S = ell + n;
  double *K = ag_heap_alloc(sizeof *K * (size_t)(2 * size * size + size + 1)), *inverse = K + size * size,
         *b = inverse + size * size;
  bool good = numbers_of(p, p->motion, in, v);
  for (int i = 0; i < n; i++) {
    memcpy(K + i * size, v + i * n, sizeof *K * (size_t)n);
    for (int k = 0; k < m; k++) {
      K[(n + k) * size + i] = S[k * n + i];
      K[i * size + n + k] = -S[k * n + i];
    }
    b[i] = -ell[i];
  }
  for (int k = 0; k < m; k++) b[n + k] = -S[m * n + k];
  if (good) ag_dense_pinv(size, size, K, inverse);
  for (int i = 0; i < n && good; i++) { /* S^T lambda */
    R[i] = 0;
    for (int k = 0; k < m; k++)
      for (int j = 0; j < size; j++) R[i] += S[k * n + i] * inverse[(n + k) * size + j] * b[j];
    good = isfinite(R[i]);
  }
  free(v);
  free(K);
  return good;
}

/* xi = -S^+ s + N u */
static bool velocities(const ag_probe *p, const ag_balls *in, double *xi0, double *N) {
  int n = p->x->n, m = p->x->n_row;
  memset(xi0, 0, sizeof *xi0 * (size_t)n);
  memset(N, 0, sizeof *N * (size_t)(n * n));
  for (int j = 0; j < n && !m; j++) N[j * n + j] = 1;
  if (!m) return true;
  double *S = ag_heap_alloc(sizeof *S * (size_t)(2 * m * n + m + 1)), *inverse = S + m * n + m;
  bool good = numbers_of(p, p->kinematic, in, S) && ag_dense_null(m, n, S, SAME, N) == p->rank;
  if (good) ag_dense_pinv(m, n, S, inverse);
  for (int j = 0; j < n && good; j++)
    for (int i = 0; i < m; i++) xi0[j] -= inverse[j * m + i] * S[m * n + i];
  free(S);
  return good;
}

static void add_reactions(place *a, ag_balls *in, const double *xi0, const double *N, bool *good) {
  const ag_probe *p = a->p;
  int n = p->x->n, k = n - p->rank;
  for (int i = -1; i < k && *good; i++)
    for (int j = -1; j <= i && *good; j++) { /* u = 0, e_i, e_i + e_j */
      for (int l = 0; l < n; l++) {
        double xi = xi0[l] + (i >= 0 ? N[l * k + i] : 0) + (j >= 0 ? N[l * k + j] : 0);
        ag_balls_number(in, p->at[AG_PROBE_XI] + l, xi);
      }
      *good = reaction(p, in, a->rows + a->n_row++ * n);
    }
}

/* Fills rows; false: the equations are not defined here. */
static bool survey(place *a) {
  const ag_probe *p = a->p;
  int n = p->x->n, m = p->x->n_relate;
  ag_balls *in = ag_balls_create(p->flint, p->at[AG_PROBE_GROUPS]);
  double *g = ag_heap_alloc(sizeof *g * (size_t)(m * (n + 1) + n * n + n + 1)), *xi0 = g + m * (n + 1), *N = xi0 + n;
  bool good = ag_probe_enclose_params(p, in);
  ag_balls_number(in, p->at[AG_PROBE_T], a->t);
  const ag_dims *dims = ag_system_dims(p->sys);
  double *x0 = ag_heap_alloc(sizeof *x0 * (size_t)(dims->x + 1)); /* processes: as at the start */
  ag_system_state0(p->sys, x0);
  for (int k = 0; k < dims->process; k++)
    ag_balls_number(in, p->at[AG_PROBE_T] + 1 + k, x0[dims->q - dims->process + k]);
  free(x0);
  for (int k = 0; k < p->q_at[p->x->n_coord]; k++) ag_balls_number(in, p->at[AG_PROBE_Q] + k, a->q[k]);
  a->n_row = 0;
  if (good && m) good = numbers_of(p, p->relate_true, in, g);
  for (int i = 0; i < m && good; i++) memcpy(a->rows + a->n_row++ * n, g + m + i * n, sizeof *g * (size_t)n);
  good = good && velocities(p, in, xi0, N);
  add_reactions(a, in, xi0, N, &good);
  ag_balls_free(in);
  free(g);
  return good;
}

void ag_conserve_basis(ag_conserving *v) {
  ag_conservation *c = v->c;
  int n = v->x->n;
  if (c->rank_R < 0 || v->probe.rank < 0) return;
  place a = place_at_start(v);
  double *N = AG_NEWN(c->arena, double, n *n + 1), *rows = AG_NEWN(c->arena, double, n *n + 1);
  if (!survey(&a)) return;
  int k = c->rank_basis = n - ag_dense_null(a.n_row, n, a.rows, SAME, N);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < n; j++) rows[i * n + j] = N[j * k + i];
  c->basis = rows;
}
