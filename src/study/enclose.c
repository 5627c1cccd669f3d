/* SPDX-License-Identifier: MIT
 * Enclosed states of a model: free numbers are small fractions, the others follow from relations, constraints and
 * equations of motion in ball arithmetic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/probe.h"

/* Gaussian elimination with full pivoting on m x n numbers, destroyed: rank, rows and columns. */
static int pivots_of(int m, int n, double *A, int *rows, int *cols) {
  double largest = 0;
  bool *row_used = ag_heap_alloc((size_t)m + 1), *col_used = ag_heap_alloc((size_t)n + 1);
  int rank = 0;
  for (; rank < m && rank < n; rank++) {
    int r = -1, c = -1;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        if (!row_used[i] && !col_used[j] && (r < 0 || fabs(A[i * n + j]) > fabs(A[r * n + c]))) r = i, c = j;
    double pivot = A[r * n + c];
    if (rank == 0) largest = fabs(pivot);
    if (!(fabs(pivot) > 1e-9 * largest)) break;
    row_used[r] = col_used[c] = true;
    rows[rank] = r, cols[rank] = c;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n && !row_used[i]; j++)
        if (!col_used[j]) A[i * n + j] -= A[i * n + c] / pivot * A[r * n + j];
  }
  free(row_used);
  free(col_used);
  return rank;
}

/* Where q of coordinate i is moved by velocity j; -1: a rotation, or one that is held. */
static int moved_by(const ag_probe *p, int j) {
  int i = p->x->n_coord - 1;
  while (p->x->at[i] > j) i--;
  if (ag_model_coords(p->x->model)[i].space == AG_SPACE_SO3) return -1;
  int k = p->q_at[i] + j - p->x->at[i];
  return p->fixed && p->fixed[k] ? -1 : k;
}

typedef struct leaf {
  const ag_probe *p;
  ag_balls *in, *g;
  int m, *rows, *cols; /* the relations used, the velocities they are solved for */
} leaf;

static bool leaf_eval(void *self, const ag_balls *c, ag_balls *g, ag_balls *J) {
  const leaf *l = self;
  int n = l->p->x->n, all = l->p->x->n_relate;
  for (int k = 0; k < l->m; k++) ag_balls_copy(l->in, l->p->at[AG_PROBE_Q] + moved_by(l->p, l->cols[k]), c, k, 1);
  if (!ag_balls_eval(l->p->relate_true, l->in, l->g)) return false;
  for (int i = 0; i < l->m; i++) {
    ag_balls_copy(g, i, l->g, l->rows[i], 1);
    for (int k = 0; k < l->m; k++) ag_balls_copy(J, i * l->m + k, l->g, all + l->rows[i] * n + l->cols[k], 1);
  }
  return true;
}

/* Solves the relations for coordinates that are no rotations. */
static bool on_leaf(const ag_probe *p, ag_balls *in) {
  int m = p->x->n_relate, n = p->x->n, n_free = 0;
  if (!m) return true;
  int *index = ag_heap_alloc(sizeof *index * (size_t)(3 * (n + m) + 1)), *cols = index + n, *rows = cols + n + m;
  double *A = ag_heap_alloc(sizeof *A * (size_t)(m * n + 1));
  leaf l = {p, in, ag_balls_create(p->flint, m * (n + 1)), 0, rows, cols};
  for (int j = n - 1; j >= 0; j--)
    if (moved_by(p, j) >= 0) index[n_free++] = j;
  bool good = ag_balls_eval(p->relate_true, in, l.g);
  for (int i = 0; i < m; i++)
    for (int k = 0; k < n_free; k++) A[i * n_free + k] = ag_balls_middle(l.g, m + i * n + index[k]);
  l.m = good ? pivots_of(m, n_free, A, rows, cols) : 0;
  for (int k = 0; k < l.m; k++) cols[k] = index[cols[k]];
  ag_balls *c = ag_balls_create(p->flint, l.m);
  for (int k = 0; k < l.m; k++) ag_balls_copy(c, k, in, p->at[AG_PROBE_Q] + moved_by(p, cols[k]), 1);
  good = good && ag_balls_root(l.m, leaf_eval, &l, c);
  for (int k = 0; k < l.m && good; k++) ag_balls_copy(in, p->at[AG_PROBE_Q] + moved_by(p, cols[k]), c, k, 1);
  good = good && ag_balls_eval(p->relate_true, in, l.g);
  for (int i = 0; i < m && good; i++) good = !ag_balls_nonzero(l.g, i); /* the others must follow */
  ag_balls_free(c);
  ag_balls_free(l.g);
  free(A);
  free(index);
  return good;
}

/* Velocities that the constraints determine; *rank rows[] of them are independent. */
static bool on_constraints(const ag_probe *p, ag_balls *in, int *rank, int *rows) {
  int m = p->x->n_row, n = p->x->n;
  *rank = 0;
  if (!m) return true;
  int *cols = ag_heap_alloc(sizeof *cols * (size_t)(m + n + 1));
  double *A = ag_heap_alloc(sizeof *A * (size_t)(m * n + 1));
  ag_balls *S = ag_balls_create(p->flint, m * n + m), *xi = ag_balls_create(p->flint, n),
           *zero = ag_balls_create(p->flint, 1);
  bool good = ag_balls_eval(p->kinematic, in, S);
  for (int i = 0; i < m * n; i++) A[i] = ag_balls_middle(S, i);
  int r = *rank = good ? pivots_of(m, n, A, rows, cols) : 0;
  ag_balls_copy(xi, 0, in, p->at[AG_PROBE_XI], n);
  for (int k = 0; k < r; k++) ag_balls_copy(xi, cols[k], zero, 0, 1);
  ag_balls *B = ag_balls_create(p->flint, r * r), *b = ag_balls_create(p->flint, r);
  for (int i = 0; i < r; i++) {
    ag_balls_copy(b, i, S, m * n + rows[i], 1);
    for (int j = 0; j < n; j++) ag_balls_fma(b, i, S, rows[i] * n + j, xi, j);
    ag_balls_negate(b, i);
    for (int k = 0; k < r; k++) ag_balls_copy(B, i * r + k, S, rows[i] * n + cols[k], 1);
  }
  good = good && (!r || ag_balls_solve(r, 1, B, b));
  for (int k = 0; k < r && good; k++) ag_balls_copy(in, p->at[AG_PROBE_XI] + cols[k], b, k, 1);
  ag_balls_free(S);
  ag_balls_free(xi);
  ag_balls_free(zero);
  ag_balls_free(B);
  ag_balls_free(b);
  free(A);
  free(cols);
  return good;
}

/* Accelerations and reaction, as move() of probe.c. */
static bool in_motion(const ag_probe *p, ag_balls *in, int r, const int *rows) {
  int n = p->x->n, m = p->x->n_row, size = n + r, S = n * n + n;
  ag_balls *v = ag_balls_create(p->flint, n * n + n + m * n + m), *A = ag_balls_create(p->flint, size * size),
           *b = ag_balls_create(p->flint, size);
  ag_balls *zero = ag_balls_create(p->flint, 1);
  bool good = ag_balls_eval(p->motion, in, v);
  for (int i = 0; i < n; i++) {
    ag_balls_copy(A, i * size, v, i * n, n);
    ag_balls_copy(b, i, v, n * n + i, 1);
    ag_balls_negate(b, i);
    for (int k = 0; k < r; k++) {
      ag_balls_copy(A, (n + k) * size + i, v, S + rows[k] * n + i, 1);
      ag_balls_copy(A, i * size + n + k, v, S + rows[k] * n + i, 1);
      ag_balls_negate(A, i * size + n + k);
    }
  }
  for (int k = 0; k < r; k++) {
    ag_balls_copy(b, n + k, v, S + m * n + rows[k], 1);
    ag_balls_negate(b, n + k);
  }
  good = good && ag_balls_solve(size, 1, A, b);
  for (int i = 0; i < n && good; i++) {
    ag_balls_copy(in, p->at[AG_PROBE_ACC] + i, b, i, 1);
    ag_balls_copy(in, p->at[AG_PROBE_REACT] + i, zero, 0, 1);
    for (int k = 0; k < r; k++) ag_balls_fma(in, p->at[AG_PROBE_REACT] + i, v, S + rows[k] * n + i, b, n + k);
  }
  ag_balls_free(v);
  ag_balls_free(A);
  ag_balls_free(b);
  ag_balls_free(zero);
  return good;
}

/* Small fractions near a state in doubles. */
static void round_state(const ag_probe *p, double t, const double *x, ag_balls *in) {
  const ag_geom *g = p->x;
  ag_balls_fraction(in, p->at[AG_PROBE_T], lround(t * 16), 16);
  for (int i = 0; i < g->n_coord; i++) {
    bool rotation = ag_model_coords(g->model)[i].space == AG_SPACE_SO3;
    int n = p->q_at[i + 1] - p->q_at[i], at = p->at[AG_PROBE_Q] + p->q_at[i];
    for (int k = 0; k < n && !rotation; k++) ag_balls_fraction(in, at + k, lround(x[k] * 64), 64);
    long quaternion[4] = {0};
    for (int k = 0; k < 4 && rotation; k++) quaternion[k] = lround(x[k] * 32);
    if (rotation) ag_balls_rotation(in, at, quaternion);
    x += rotation ? 4 : n;
  }
  int n_process = ag_model_n_processes(g->model);
  for (int i = 0; i < n_process; i++) ag_balls_fraction(in, p->at[AG_PROBE_T] + 1 + i, lround(*x++ * 64), 64);
  for (int j = 0; j < g->n; j++) ag_balls_fraction(in, p->at[AG_PROBE_XI] + j, lround(x[j] * 32), 32);
}

bool ag_probe_enclose_params(const ag_probe *p, ag_balls *in) {
  bool good = true;
  for (int i = 0, at = 0; i < p->n_param_input && good; i++) {
    int n = ag_program_n_out(p->params[i]);
    ag_balls *v = ag_balls_create(p->flint, n);
    good = ag_balls_eval(p->params[i], in, v);
    ag_balls_copy(in, at, v, 0, n);
    ag_balls_free(v);
    at += n;
  }
  return good;
}

bool ag_probe_enclose_leaf(const ag_probe *p, ag_balls *in) { return on_leaf(p, in); }

bool ag_probe_enclose_motion(const ag_probe *p, ag_balls *in, int *rank) {
  int *rows = ag_heap_alloc(sizeof *rows * (size_t)(p->x->n_row + p->x->n + 1));
  bool good = on_constraints(p, in, rank, rows) && in_motion(p, in, *rank, rows);
  free(rows);
  return good;
}

bool ag_probe_enclose(ag_probe *p, int k, ag_enclosed *e) {
  const ag_dims *dims = ag_system_dims(p->sys);
  double t, *x = ag_heap_alloc(sizeof *x * (size_t)(dims->x + 1));
  int rank = 0;
  ag_work *w = ag_work_create(p->sys, ag_system_param_values(p->sys));
  bool good = ag_system_sample(p->sys, w, (unsigned)k + 1, &t, x) == AG_OK;
  e->in = ag_balls_create(p->flint, p->at[AG_PROBE_GROUPS]);
  good = good && ag_probe_enclose_params(p, e->in);
  if (good) round_state(p, t, x, e->in);
  good = good && on_leaf(p, e->in) && ag_probe_enclose_motion(p, e->in, &rank);
  ag_work_free(w);
  free(x);
  if (good) return true;
  ag_balls_free(e->in);
  e->in = NULL;
  return false;
}
