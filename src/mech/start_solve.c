/* SPDX-License-Identifier: MIT
 * Position constraints solved for coordinates that are not named: g(q, t) = 0, with Newton steps in as many of them as
 * there are equations. The others stay where they are. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

static bool all_finite(int n, const double *v) {
  for (int i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

/* g and its Jacobian at q; the largest |g|, in row *row (may be NULL). */
static double position_at(const ag_system *sys, double t0, const double *params, const double *q, double *x, double *v,
                          int *row) {
  double worst = 0;
  memcpy(x, q, sizeof(double) * (size_t)sys->n_q);
  ag_tape_once(sys->tapes[AG_ROLE_RELATION], t0, x, params, NULL, v);
  for (int r = 0; r < sys->n_relation; r++) {
    double size = isfinite(v[r]) ? fabs(v[r]) : INFINITY;
    if (size > worst && row) *row = r;
    worst = fmax(worst, size);
  }
  return worst;
}

/* Which unknowns the equations are solved for: at most as many pairs of a row and an unnamed column of G (k x n) as
 * there are rows, by elimination with the largest pivot of the rows scaled to 1. Columns that are dependent by default
 * come first. Rows left over hold nothing that may still be changed (all in them is named), or follow from the others.
 */
static int pick_columns(int k, int n, const double *G, const bool *named, const bool *dependent, int *rows,
                        int *columns) {
  double *A = ag_heap_alloc(sizeof(double) * (size_t)(k * n + 1));
  bool *used = ag_heap_alloc((size_t)n + 1), *row_used = ag_heap_alloc((size_t)k + 1);
  for (int i = 0; i < k; i++) {
    double size = 0;
    for (int j = 0; j < n; j++) size = fmax(size, fabs(G[i * n + j]));
    for (int j = 0; j < n; j++) A[i * n + j] = size > 0 && isfinite(size) ? G[i * n + j] / size : 0;
  }
  int found = 0;
  for (int pass = dependent ? 0 : 1; pass < 2 && found < k;) {
    double best = pass ? 1e-8 : 1e-3;
    int row = -1, col = -1;
    for (int i = 0; i < k; i++)
      for (int j = 0; j < n; j++) {
        bool open = !row_used[i] && !used[j] && !named[j] && (pass || dependent[j]);
        if (open && fabs(A[i * n + j]) > best * (1 + 1e-12)) best = fabs(A[i * n + j]), row = i, col = j;
      }
    if (row < 0) {
      pass++;
      continue;
    }
    row_used[row] = used[col] = true;
    rows[found] = row;
    columns[found++] = col;
    for (int i = 0; i < k; i++) {
      if (row_used[i]) continue;
      double f = A[i * n + col] / A[row * n + col];
      for (int j = 0; j < n; j++) A[i * n + j] -= f * A[row * n + j];
    }
  }
  free(A);
  free(used);
  free(row_used);
  return found;
}

typedef enum solved { SOLVED_NOT, SOLVED_IN_PART, SOLVED } solved;

/* Newton from one guess, on as many unnamed coordinates as there are equations for them; in part: the others do not
 * hold. */
static solved solve_positions(const ag_system *sys, double t0, const double *params, const bool *named, double *q) {
  int n = sys->n_xi, k = sys->n_relation;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(k + k * n));
  double *A = ag_heap_alloc(sizeof(double) * (size_t)(k * k)), *b = ag_heap_alloc(sizeof(double) * (size_t)k);
  double *delta = ag_heap_alloc(sizeof(double) * (size_t)n), left = 0;
  int *rows = ag_heap_alloc(sizeof(int) * (size_t)k), *columns = ag_heap_alloc(sizeof(int) * (size_t)k);
  const double *G = v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at;
  bool ok = isfinite(position_at(sys, t0, params, q, x, v, NULL)), done = false;
  int m = ok ? pick_columns(k, n, G, named, sys->dependent, rows, columns) : 0;
  for (int i = 0; ok && m && !done && i < 50; i++) {
    ok = isfinite(position_at(sys, t0, params, q, x, v, NULL));
    left = 0;
    for (int r = 0; r < m; r++) {
      b[r] = -v[rows[r]];
      left = fmax(left, fabs(b[r]));
      for (int c = 0; c < m; c++) A[r * m + c] = G[rows[r] * n + columns[c]];
    }
    if (left < 1e-14) break;
    ok = ok && ag_dense_solve(m, 1, A, b) == 0 && all_finite(m, b);
    double size = 0;
    memset(delta, 0, sizeof(double) * (size_t)n);
    for (int c = 0; ok && c < m; c++) delta[columns[c]] = b[c], size = fmax(size, fabs(b[c]));
    if (size < 1e-15) done = true;
    for (int c = 0; size > 1 && c < m; c++) delta[columns[c]] /= size;
    if (ok) ag_retract(sys, q, delta);
  }
  double gap = position_at(sys, t0, params, q, x, v, NULL);
  for (int r = 0; r < m; r++) left = fmax(r ? left : 0, fabs(v[rows[r]]));
  ok = ok && isfinite(gap) && left < 1e-11;
  void *all[] = {x, v, A, b, delta, rows, columns};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  return !ok ? SOLVED_NOT : gap < 1e-11 ? SOLVED : m ? SOLVED_IN_PART : SOLVED_NOT;
}

/* The unnamed coordinates that occur in the equations (of some points at random, one has a gradient that does not
 * vanish). */
static void open_coordinates(const ag_system *sys, double t0, const double *params, const bool *named, const double *q,
                             bool *open) {
  int n = sys->n_xi, k = sys->n_relation;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(k + k * n));
  double *at = ag_heap_alloc(sizeof(double) * (size_t)sys->n_q), *delta = ag_heap_alloc(sizeof(double) * (size_t)n);
  const double *G = v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at;
  uint64_t state = 2;
  for (int i = 0; i < 4; i++) {
    memcpy(at, q, sizeof(double) * (size_t)sys->n_q);
    for (int j = 0; j < n; j++) delta[j] = ag_random_unit(&state) - 0.5;
    ag_retract(sys, at, delta);
    (void)position_at(sys, t0, params, at, x, v, NULL);
    for (int r = 0; r < k; r++)
      for (int j = 0; j < n; j++) open[j] = open[j] || (!named[j] && G[r * n + j] != 0);
  }
  free(x);
  free(v);
  free(at);
  free(delta);
}

/* Of a solution found from a guess at random: what is not decided by the equations goes back to where it was. */
static void put_back(const ag_system *sys, double t0, const double *params, const bool *named, const double *q,
                     double *guess) {
  int n = sys->n_xi, k = sys->n_relation;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(k + k * n));
  double *at = ag_heap_alloc(sizeof(double) * (size_t)sys->n_q);
  int *rows = ag_heap_alloc(sizeof(int) * (size_t)k), *columns = ag_heap_alloc(sizeof(int) * (size_t)k);
  memcpy(at, guess, sizeof(double) * (size_t)sys->n_q);
  (void)position_at(sys, t0, params, guess, x, v, NULL);
  int m = pick_columns(k, n, v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at, named, sys->dependent, rows, columns);
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_place *p = &sys->places[i];
    for (int a = 0; a < p->n_xi && p->n_q == p->n_xi; a++) { /* a rotation stays as it is */
      bool picked = false;
      for (int c = 0; c < m; c++) picked = picked || columns[c] == p->xi + a;
      if (!picked) at[p->q + a] = q[p->q + a];
    }
  }
  if (solve_positions(sys, t0, params, named, at) == SOLVED) memcpy(guess, at, sizeof(double) * (size_t)sys->n_q);
  void *all[] = {x, v, at, rows, columns};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Several guesses for the open coordinates: first where they are, then small and larger fixed pseudo-random ones (a
 * gradient may vanish at 0). Where only a part could be solved, q has that part. */
static bool search_positions(const ag_system *sys, double t0, const double *params, const bool *named, double *q) {
  size_t size = sizeof(double) * (size_t)sys->n_q;
  double *guess = ag_heap_alloc(size), *part = ag_heap_alloc(size),
         *delta = ag_heap_alloc(sizeof(double) * (size_t)sys->n_xi);
  bool *open = ag_heap_alloc((size_t)sys->n_xi + 1), have_part = false;
  uint64_t state = 1;
  solved best = SOLVED_NOT;
  open_coordinates(sys, t0, params, named, q, open);
  for (int try = 0; try < 40 && best != SOLVED; try++) {
    memcpy(guess, q, size);
    for (int j = 0; j < sys->n_xi; j++)
      delta[j] = !open[j] || !try ? 0 : (try < 20 ? 0.1 : 1.5) * (ag_random_unit(&state) - (try < 20 ? 0 : 0.5));
    ag_retract(sys, guess, delta);
    best = solve_positions(sys, t0, params, named, guess);
    if (best == SOLVED && try) put_back(sys, t0, params, named, q, guess);
    if (best == SOLVED_IN_PART && !have_part) memcpy(part, guess, size), have_part = true;
  }
  if (best == SOLVED) memcpy(q, guess, size);
  else if (have_part) memcpy(q, part, size);
  free(guess);
  free(part);
  free(delta);
  free(open);
  return best == SOLVED;
}

/* The same for a large system, by the shortest steps of all unnamed coordinates. */
static bool search_sparse(const ag_system *sys, double t0, const double *params, const bool *named, double *q) {
  size_t size = sizeof(double) * (size_t)sys->n_q;
  double *guess = ag_heap_alloc(size), *part = ag_heap_alloc(size),
         *delta = ag_heap_alloc(sizeof(double) * (size_t)sys->n_xi);
  uint64_t state = 1;
  bool ok = false;
  for (int try = 0; try < 10 && !ok; try++) {
    memcpy(guess, q, size);
    for (int j = 0; j < sys->n_xi; j++)
      delta[j] = named[j] || !try ? 0 : 0.1 * (ag_random_unit(&state) - (try < 5 ? 0 : 0.5));
    ag_retract(sys, guess, delta);
    ok = ag_sparse_position(sys, t0, params, named, guess);
    if (!try) memcpy(part, guess, size);
  }
  memcpy(q, ok ? guess : part, size);
  free(guess);
  free(part);
  free(delta);
  return ok;
}

bool ag_position_solve(const ag_system *sys, double t0, const double *params, const bool *named, double *q, double *gap,
                       int *row) {
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + sys->n_xi));
  double *v = ag_heap_alloc(sizeof(double) * (size_t)sys->tapes[AG_ROLE_RELATION]->n_out);
  *row = 0;
  bool ok =
      position_at(sys, t0, params, q, x, v, NULL) <= 1e-14 ||
      (ag_is_sparse(sys) ? search_sparse(sys, t0, params, named, q) : search_positions(sys, t0, params, named, q));
  *gap = position_at(sys, t0, params, q, x, v, row);
  free(x);
  free(v);
  return ok;
}
