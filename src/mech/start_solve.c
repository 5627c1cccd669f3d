/* SPDX-License-Identifier: MIT
 * Position constraints solved for coordinates that are not given: g(q, t) = 0, with Newton steps in as many of them as
 * there are equations. The others keep their values. */
#include <math.h>
#include <string.h>

#include "math/newton.h"
#include "mech/mech_internal.h"

/* The relations, evaluated at coordinates q, and what they are solved for. */
typedef struct relations {
  const ag_system *sys;
  double t0;
  const double *params;
  double *x, *v;          /* a full state; the results of the tape */
  const double *G;        /* among these: the Jacobian */
  int m, *rows, *columns; /* equations and as many components of the tangent to solve them for */
  double *delta;          /* a tangent vector */
} relations;

static void relations_init(relations *e, const ag_system *sys, double t0, const double *params) {
  size_t k = (size_t)sys->n_relation + 1;
  *e = (relations){.sys = sys, .t0 = t0, .params = params};
  e->x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x));
  e->v = ag_heap_alloc(sizeof(double) * (size_t)sys->tapes[AG_ROLE_RELATION]->n_out);
  e->G = e->v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at;
  e->rows = ag_heap_alloc(sizeof(int) * k);
  e->columns = ag_heap_alloc(sizeof(int) * k);
  e->delta = ag_heap_alloc(sizeof(double) * (size_t)sys->n.xi);
}

static void relations_done(relations *e) { free(e->x), free(e->v), free(e->rows), free(e->columns), free(e->delta); }

/* g and its Jacobian at q; the largest |g|, in row *row (may be NULL). */
static double relations_at(relations *e, const double *q, int *row) {
  const ag_system *sys = e->sys;
  double worst = 0;
  memcpy(e->x, q, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(sys->tapes[AG_ROLE_RELATION], e->t0, e->x, e->params, NULL, e->v);
  for (int r = 0; r < sys->n_relation; r++) {
    double size = isfinite(e->v[r]) ? fabs(e->v[r]) : INFINITY;
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

static void pick(relations *e, const bool *named) {
  const ag_system *sys = e->sys;
  e->m = pick_columns(sys->n_relation, sys->n.xi, e->G, named, sys->dependent, e->rows, e->columns);
}

/* ---- Newton ---- */

static bool picked_eval(void *self, const double *q, double *F, double *J) {
  relations *e = self;
  if (!isfinite(relations_at(e, q, NULL))) return false;
  for (int r = 0; r < e->m; r++) {
    F[r] = e->v[e->rows[r]];
    for (int c = 0; c < e->m; c++) J[r * e->m + c] = e->G[e->rows[r] * e->sys->n.xi + e->columns[c]];
  }
  return true;
}

static void picked_retract(void *self, double *q, const double *d) {
  relations *e = self;
  memset(e->delta, 0, sizeof(double) * (size_t)e->sys->n.xi);
  for (int c = 0; c < e->m; c++) e->delta[e->columns[c]] = d[c];
  ag_retract(e->sys, q, e->delta);
}

typedef enum solved { SOLVED_NOT, SOLVED_IN_PART, SOLVED } solved;

/* Newton from one guess, on as many free coordinates as there are equations for them; in part: the others do not hold.
 */
static solved solve_positions(relations *e, const bool *named, double *q) {
  static const ag_newton_options options = {.max_iter = 50, .tol = 1e-14, .step_tol = 1e-15, .max_step = 1};
  if (!isfinite(relations_at(e, q, NULL))) return SOLVED_NOT;
  pick(e, named);
  if (e->m) {
    ag_newton_system s = {.kind = AG_NEWTON_SQUARE, .m = e->m, .n = e->m, .n_x = e->sys->n.q, .self = e};
    s.eval = picked_eval;
    s.retract = picked_retract;
    double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
    ag_newton_reason reason = ag_newton(&s, &options, q, work).reason;
    free(work);
    if (reason == AG_NEWTON_SINGULAR || reason == AG_NEWTON_NOT_FINITE) return SOLVED_NOT;
  }
  double gap = relations_at(e, q, NULL), left = 0;
  for (int r = 0; r < e->m; r++) left = fmax(left, fabs(e->v[e->rows[r]]));
  if (!isfinite(gap) || !(left < 1e-11)) return SOLVED_NOT;
  return gap < 1e-11 ? SOLVED : e->m ? SOLVED_IN_PART : SOLVED_NOT;
}

/* ---- guesses ---- */

/* The free coordinates that occur in the equations (at one of several random points the gradient does not vanish). */
static void open_coordinates(relations *e, const bool *named, const double *q, bool *open) {
  const ag_system *sys = e->sys;
  int n = sys->n.xi;
  double *at = ag_heap_alloc(sizeof(double) * (size_t)sys->n.q);
  uint64_t state = 2;
  for (int i = 0; i < 4; i++) {
    memcpy(at, q, sizeof(double) * (size_t)sys->n.q);
    for (int j = 0; j < n; j++) e->delta[j] = ag_random_unit(&state) - 0.5;
    ag_retract(sys, at, e->delta);
    (void)relations_at(e, at, NULL);
    for (int r = 0; r < sys->n_relation; r++)
      for (int j = 0; j < n; j++) open[j] = open[j] || (!named[j] && e->G[r * n + j] != 0);
  }
  free(at);
}

/* Marks what was solved for. */
static void mark_moved(const relations *e, bool *moved) {
  memset(moved, 0, (size_t)e->sys->n.xi);
  for (int c = 0; c < e->m; c++) moved[e->columns[c]] = true;
}

/* For a solution found from a random guess: coordinates that the equations do not determine return to their previous
 * values. */
static void put_back(relations *e, const bool *named, const double *q, double *guess, bool *moved) {
  const ag_system *sys = e->sys;
  double *at = ag_heap_alloc(sizeof(double) * (size_t)sys->n.q);
  memcpy(at, guess, sizeof(double) * (size_t)sys->n.q);
  (void)relations_at(e, guess, NULL);
  pick(e, named);
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    for (int a = 0; a < p->n_tangent && p->n == p->n_tangent; a++) { /* a rotation is not moved back */
      bool picked = false;
      for (int c = 0; c < e->m; c++) picked = picked || e->columns[c] == p->tangent + a;
      if (!picked) at[p->at + a] = q[p->at + a];
    }
  }
  if (solve_positions(e, named, at) == SOLVED) {
    memcpy(guess, at, sizeof(double) * (size_t)sys->n.q);
    mark_moved(e, moved);
  }
  free(at);
}

/* Several guesses for the free coordinates: first their current values, then small and larger fixed pseudo-random ones
 * (a gradient may vanish at 0). If only a part could be solved, q has that part. */
static bool search_positions(relations *e, const bool *named, double *q, bool *moved) {
  const ag_system *sys = e->sys;
  size_t size = sizeof(double) * (size_t)sys->n.q;
  double *guess = ag_heap_alloc(size), *part = ag_heap_alloc(size),
         *delta = ag_heap_alloc(sizeof(double) * (size_t)sys->n.xi);
  bool *open = ag_heap_alloc((size_t)sys->n.xi + 1), have_part = false;
  uint64_t state = 1;
  solved best = SOLVED_NOT;
  open_coordinates(e, named, q, open);
  for (int try = 0; try < 40 && best != SOLVED; try++) {
    memcpy(guess, q, size);
    for (int j = 0; j < sys->n.xi; j++)
      delta[j] = !open[j] || !try ? 0 : (try < 20 ? 0.1 : 1.5) * (ag_random_unit(&state) - (try < 20 ? 0 : 0.5));
    ag_retract(sys, guess, delta);
    best = solve_positions(e, named, guess);
    if (best == SOLVED) mark_moved(e, moved);
    if (best == SOLVED && try) put_back(e, named, q, guess, moved);
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

/* The same for a large system, by the shortest steps of all free coordinates. */
static bool search_sparse(relations *e, const bool *named, double *q) {
  const ag_system *sys = e->sys;
  size_t size = sizeof(double) * (size_t)sys->n.q;
  double *guess = ag_heap_alloc(size), *part = ag_heap_alloc(size);
  uint64_t state = 1;
  bool ok = false;
  for (int try = 0; try < 10 && !ok; try++) {
    memcpy(guess, q, size);
    for (int j = 0; j < sys->n.xi; j++)
      e->delta[j] = named[j] || !try ? 0 : 0.1 * (ag_random_unit(&state) - (try < 5 ? 0 : 0.5));
    ag_retract(sys, guess, e->delta);
    ok = ag_sparse_position(sys, e->t0, e->params, named, guess);
    if (!try) memcpy(part, guess, size);
  }
  memcpy(q, ok ? guess : part, size);
  free(guess);
  free(part);
  return ok;
}

bool ag_position_solve(const ag_system *sys, double t0, const double *params, const bool *named, double *q, bool *moved,
                       double *gap, int *row) {
  relations e;
  bool sparse = ag_is_sparse(sys);
  relations_init(&e, sys, t0, params);
  for (int j = 0; j < sys->n.xi; j++) moved[j] = sparse && !named[j];
  bool ok = relations_at(&e, q, NULL) <= 1e-14;
  if (ok && !sparse) pick(&e, named), mark_moved(&e, moved); /* the values that would be solved for nearby */
  if (!ok) ok = sparse ? search_sparse(&e, named, q) : search_positions(&e, named, q, moved);
  *row = 0;
  *gap = relations_at(&e, q, row);
  relations_done(&e);
  return ok;
}
