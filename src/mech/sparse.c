/* SPDX-License-Identifier: MIT
 * Large systems in numbers: rank of the rows, start states. All by factorising [1 S^T; S 0] with S as it is at a
 * state: its solution with [0; r] below is the shortest xi with S xi = r, and a row that follows from others shows as a
 * pivot that is lost; such a row is left out of the solution. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/newton.h"
#include "mech/mech_internal.h"

/* Rows (of S, or the relations between coordinates) as a tape gives them: residuals, then entries. */
typedef struct shortest {
  const ag_system *sys;
  const ag_tape *tape;
  const ag_places *at;
  int n, k; /* unknowns, rows */
  ag_ldl *ldl;
  double *x, *v;        /* a full state; results of the tape */
  double *residual, *J; /* among them */
  double *entries, *b;  /* n ones, the entries of the rows, k zeros on the diagonal */
  unsigned char *lost;
} shortest;

/* hubs: columns that the rows need not wait for, or NULL: a row that has no rank without them is then taken for lost.
 */
static void shortest_init(shortest *s, const ag_system *sys, ag_output residual, ag_output entries, const ag_places *at,
                          const bool *hubs) {
  int n = sys->n.xi, k = sys->outputs[residual].n, m = n + at->n + k;
  *s = (shortest){.sys = sys, .tape = sys->tapes[ag_output_role(residual)], .at = at, .n = n, .k = k};
  int *row = ag_heap_alloc(sizeof(int) * (size_t)m), *col = ag_heap_alloc(sizeof(int) * (size_t)m);
  unsigned char *marks = ag_heap_alloc((size_t)(n + k));
  for (int i = 0; i < n; i++) row[i] = col[i] = i;
  for (int i = 0; i < at->n; i++) row[n + i] = n + at->row[i], col[n + i] = at->col[i];
  for (int r = 0; r < k; r++) row[n + at->n + r] = col[n + at->n + r] = n + r;
  for (int i = 0; i < n && hubs; i++) marks[i] = hubs[i] ? AG_MARK_HUB : AG_MARK_PLAIN;
  memset(marks + n, AG_MARK_MULTIPLIER, (size_t)k);
  s->ldl = ag_ldl_create(&(ag_pattern){n + k, m, row, col, marks});
  s->x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n));
  s->v = ag_heap_alloc(sizeof(double) * (size_t)(s->tape->n_out + 1));
  s->residual = s->v + sys->outputs[residual].at;
  s->J = s->v + sys->outputs[entries].at;
  s->entries = ag_heap_alloc(sizeof(double) * (size_t)m);
  s->b = ag_heap_alloc(sizeof(double) * (size_t)(n + k));
  s->lost = ag_heap_alloc((size_t)(n + k));
  free(row), free(col), free(marks);
}

static void shortest_done(shortest *s) {
  ag_ldl_free(s->ldl);
  free(s->x), free(s->v), free(s->entries), free(s->b), free(s->lost);
}

/* The rows at a state; columns of held components count as zero. */
static void rows_at(shortest *s, double t, const double *params, const double *q, const double *xi, const bool *held) {
  const ag_system *sys = s->sys;
  memcpy(s->x, q, sizeof(double) * (size_t)sys->n.q);
  if (xi) memcpy(s->x + sys->n.q, xi, sizeof(double) * (size_t)s->n);
  else memset(s->x + sys->n.q, 0, sizeof(double) * (size_t)s->n);
  ag_tape_once(s->tape, t, s->x, params, NULL, s->v);
  for (int i = 0; i < s->n; i++) s->entries[i] = 1;
  for (int i = 0; i < s->at->n; i++) s->entries[s->n + i] = held && held[s->at->col[i]] ? 0 : s->J[i];
}

/* b = the shortest change that makes the residuals of the rows zero, to first order; how many rows were left out. */
static int solve(shortest *s) {
  memset(s->b, 0, sizeof(double) * (size_t)s->n);
  for (int r = 0; r < s->k; r++) s->b[s->n + r] = -s->residual[r];
  return ag_ldl_solve(s->ldl, s->entries, s->b, s->lost);
}

static double largest(int n, const double *v) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = isfinite(v[i]) ? fmax(worst, fabs(v[i])) : INFINITY;
  return worst;
}

/* Velocities that very many rows share would couple them all: a platform with many bodies on it. NULL when there is
 * none; else the caller's. */
enum { HUB = 40 };
static bool *shared_columns(const ag_system *sys, const ag_places *at) {
  int *count = ag_heap_alloc(sizeof(int) * (size_t)sys->n.xi), n = 0;
  bool *hubs = ag_heap_alloc((size_t)sys->n.xi);
  for (int i = 0; i < at->n; i++) count[at->col[i]]++;
  for (int i = 0; i < sys->n.xi; i++) n += hubs[i] = count[i] >= HUB;
  free(count);
  if (n) return hubs;
  free(hubs);
  return NULL;
}

/* ---- Newton ---- */

/* Rows to be made zero by moving q, or by moving xi at a fixed q. */
typedef struct target {
  shortest s;
  double t;
  const double *params, *q; /* q: NULL when it is what moves */
  const bool *held;         /* or NULL */
} target;

static bool target_eval(void *self, const double *x, double *F, double *J) {
  target *p = self;
  (void)J;
  rows_at(&p->s, p->t, p->params, p->q ? p->q : x, p->q ? x : NULL, p->held);
  memcpy(F, p->s.residual, sizeof(double) * (size_t)p->s.k);
  return true;
}

static bool target_solve(void *self, const double *x, const double *F, double *d) {
  target *p = self;
  (void)x, (void)F;
  (void)solve(&p->s);
  for (int j = 0; j < p->s.n; j++) d[j] = p->held && p->held[j] ? 0 : p->s.b[j];
  return true;
}

static void target_retract(void *self, double *q, const double *d) { ag_retract(((target *)self)->s.sys, q, d); }

/* The largest residual of the rows that were not left out. */
static double left(void *self, const double *F) {
  const shortest *s = &((target *)self)->s;
  double worst = 0;
  for (int r = 0; r < s->k; r++)
    if (!s->lost[s->n + r]) worst = isfinite(F[r]) ? fmax(worst, fabs(F[r])) : INFINITY;
  return worst;
}

/* Returns the largest residual of all rows. */
static double reach(target *p, const ag_newton_options *o, double *x) {
  ag_newton_system s = {.kind = AG_NEWTON_OWN, .m = p->s.k, .n = p->s.n, .self = p};
  s.n_x = p->q ? p->s.n : p->s.sys->n.q;
  s.eval = target_eval;
  s.solve = target_solve;
  s.retract = p->q ? NULL : target_retract;
  s.size = p->q ? NULL : left;
  double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
  (void)ag_newton(&s, o, x, work);
  free(work);
  return largest(p->s.k, p->s.residual);
}

static bool move_positions(const ag_system *sys, double t, const double *params, const bool *held, const bool *hubs,
                           double *q) {
  static const ag_newton_options options = {.max_iter = 60, .tol = 1e-14, .rounding = 1e-12, .halvings = 11};
  target p = {.t = t, .params = params, .held = held};
  shortest_init(&p.s, sys, AG_OUT_RELATION_G, AG_OUT_RELATION_JACOBIAN, &sys->G_at, hubs);
  double worst = reach(&p, &options, q);
  shortest_done(&p.s);
  return worst < 1e-11;
}

bool ag_sparse_position(const ag_system *sys, double t, const double *params, const bool *held, double *q) {
  if (!sys->n_relation) return true;
  size_t size = sizeof(double) * (size_t)sys->n.q;
  bool *hubs = shared_columns(sys, &sys->G_at), done = false;
  double *guess = ag_heap_alloc(size);
  memcpy(guess, q, size);
  if (hubs) done = move_positions(sys, t, params, held, hubs, guess);
  if (done) memcpy(q, guess, size);
  else done = move_positions(sys, t, params, held, NULL, q);
  free(hubs);
  free(guess);
  return done;
}

static double complete(const ag_system *sys, double t, const double *params, const double *q, const bool *held,
                       const bool *hubs, double *xi) {
  static const ag_newton_options options = {.max_iter = 3, .tol = 1e-14}; /* linear: more than one for the rounding */
  target p = {.t = t, .params = params, .q = q, .held = held};
  shortest_init(&p.s, sys, AG_OUT_ROWS_RESIDUAL, AG_OUT_ROWS_S, &sys->S_at, hubs);
  double worst = reach(&p, &options, xi);
  shortest_done(&p.s);
  return worst;
}

double ag_sparse_velocity(const ag_system *sys, double t, const double *params, const double *q, const bool *held,
                          double *xi) {
  size_t size = sizeof(double) * (size_t)sys->n.xi;
  double *guess = ag_heap_alloc(size), worst = INFINITY;
  memcpy(guess, xi, size);
  if (sys->hubs) worst = complete(sys, t, params, q, held, sys->hubs, guess);
  if (worst < 1e-12) memcpy(xi, guess, size);
  else worst = complete(sys, t, params, q, held, NULL, xi);
  free(guess);
  return worst;
}

void ag_sparse_correct(const ag_system *sys, bool velocity, double t, const double *params, const double *x,
                       const bool *held, const double *e, double *d) {
  shortest s;
  if (velocity) shortest_init(&s, sys, AG_OUT_ROWS_RESIDUAL, AG_OUT_ROWS_S, &sys->S_at, NULL);
  else shortest_init(&s, sys, AG_OUT_RELATION_G, AG_OUT_RELATION_JACOBIAN, &sys->G_at, NULL);
  rows_at(&s, t, params, x, x + sys->n.q, held);
  memcpy(s.residual, e, sizeof(double) * (size_t)s.k);
  (void)solve(&s);
  for (int j = 0; j < s.n; j++) d[j] += held[j] ? 0 : s.b[j];
  shortest_done(&s);
}

/* ---- rank ---- */

/* Start, and some states near it that satisfy the position constraints. */
enum { N_STATE = 4 };
static const double NEAR = 0.05;

static bool next_state(const ag_system *sys, int i, uint64_t *random, double *q) {
  double *delta = ag_heap_alloc(sizeof(double) * (size_t)sys->n.xi);
  memcpy(q, sys->q0, sizeof(double) * (size_t)sys->n.q);
  for (int j = 0; j < sys->n.xi; j++) delta[j] = NEAR * (2 * ag_random_unit(random) - 1);
  if (i) ag_retract(sys, q, delta);
  free(delta);
  return i == 0 || ag_sparse_position(sys, sys->t0, sys->params, NULL, q);
}

/* Squared distance of a row from the span of the others that must remain without the hubs, relative to its squared
 * norm: well away from lost rank, since other states will differ. */
static const double MARGIN = 0.01;

/* Is the rank of the rows full, with that margin, when the columns held are left out? */
static bool full_without(shortest *s, const double *q, const bool *held) {
  double *margin = s->entries + s->n + s->at->n;
  rows_at(s, s->sys->t0, s->sys->params, q, NULL, held);
  for (int i = 0; i < s->at->n; i++) margin[s->at->row[i]] += MARGIN * s->J[i] * s->J[i];
  int lost = solve(s);
  memset(margin, 0, sizeof *margin * (size_t)s->k);
  return lost == 0;
}

/* Multipliers need not wait for hubs where the rows have full rank without them, at the start and nearby: then all rows
 * are kept. */
static bool keep_with_hubs(derive *d) {
  ag_system *sys = d->sys;
  bool *hubs = shared_columns(sys, &sys->S_at), good = hubs != NULL;
  if (!hubs) return false;
  shortest s;
  uint64_t random = 20260101;
  double *q = ag_heap_alloc(sizeof(double) * (size_t)sys->n.q);
  shortest_init(&s, sys, AG_OUT_ROWS_RESIDUAL, AG_OUT_ROWS_S, &sys->S_at, hubs);
  for (int i = 0; i < N_STATE && good; i++)
    if (next_state(sys, i, &random, q)) good = full_without(&s, q, hubs);
  if (good) {
    sys->hubs = AG_NEWN(sys->arena, bool, sys->n.xi + 1);
    memcpy(sys->hubs, hubs, (size_t)sys->n.xi);
    for (int k = 0; k < sys->n.row; k++) sys->rows[k].lambda = sys->n.lambda++;
  }
  free(hubs);
  free(q);
  shortest_done(&s);
  return good;
}

/* A lost row that does not hold when the others do, or -1. */
static int contradiction(const shortest *s) {
  const ag_system *sys = s->sys;
  double *e = ag_heap_alloc(sizeof(double) * (size_t)(2 * sys->n.row + 1)), *scale = e + sys->n.row;
  int found = -1;
  for (int k = 0; k < sys->n.row; k++) e[k] = s->residual[k], scale[k] = fabs(s->residual[k]);
  for (int i = 0; i < sys->S_at.n; i++) {
    double term = s->J[i] * s->b[sys->S_at.col[i]];
    e[sys->S_at.row[i]] += term;
    scale[sys->S_at.row[i]] += fabs(term);
  }
  for (int k = 0; k < sys->n.row && found < 0; k++)
    if (s->lost[s->n + k] && fabs(e[k]) > 1e-9 * (1 + scale[k])) found = k;
  free(e);
  return found;
}

static void keep_rows(derive *d, const int *used) {
  ag_system *sys = d->sys;
  int dropped = 0, first = -1;
  for (int k = 0; k < sys->n.row; k++) {
    sys->rows[k].kept = used[k] > 0;
    if (sys->rows[k].kept) {
      sys->rows[k].lambda = sys->n.lambda++;
      continue;
    }
    if (dropped++ == 0) first = k;
  }
  if (dropped == 1)
    ag_ctx_note(d->ctx, sys->rows[first].pos, "%s follows from the others and is dropped",
                ag_row_text(sys, first, sys->arena));
  if (dropped > 1)
    ag_ctx_note(d->ctx, sys->rows[first].pos, "%d rows follow from the others and are dropped, the first is %s",
                dropped, ag_row_text(sys, first, sys->arena));
}

ag_status ag_sparse_rank(derive *d) {
  ag_system *sys = d->sys;
  if (keep_with_hubs(d)) {
    sys->n.rank = sys->n.lambda;
    return AG_OK;
  }
  shortest s;
  uint64_t random = 20260101;
  int at_start = 0, best = 0, m = sys->n.row, lost_row = -1;
  shortest_init(&s, sys, AG_OUT_ROWS_RESIDUAL, AG_OUT_ROWS_S, &sys->S_at, NULL);
  double *q = ag_heap_alloc(sizeof(double) * (size_t)sys->n.q);
  int *used = ag_heap_alloc(sizeof(int) * (size_t)m);
  ag_status status = AG_OK;
  for (int i = 0; i < N_STATE && status == AG_OK; i++) {
    if (!next_state(sys, i, &random, q)) continue;
    rows_at(&s, sys->t0, sys->params, q, NULL, NULL);
    if (!isfinite(largest(s.tape->n_out, s.v))) continue; /* outside the regular domain */
    int rank = m - solve(&s), bad = contradiction(&s);
    if (i == 0) at_start = rank;
    if (rank > best) best = rank;
    for (int k = 0; k < m; k++) used[k] += !s.lost[s.n + k];
    for (int k = 0; k < m && i == 0 && lost_row < 0; k++)
      if (s.lost[s.n + k]) lost_row = k;
    if (bad < 0) continue;
    ag_ctx_error(d->ctx, sys->rows[bad].pos, "%s contradicts the other constraints: no velocity satisfies them all",
                 ag_row_text(sys, bad, sys->arena));
    status = AG_WRONG;
  }
  if (status == AG_OK && at_start < best) {
    ag_ctx_error(d->ctx, sys->rows[lost_row < 0 ? 0 : lost_row].pos,
                 "the constraints lose rank at the start (%d of %d rows independent): choose another start", at_start,
                 best);
    status = AG_WRONG;
  }
  if (status == AG_OK) keep_rows(d, used);
  if (status == AG_OK && sys->n.lambda != best) {
    ag_ctx_error(d->ctx, sys->rows[m - 1].pos,
                 "which constraints are independent changes from place to place; drop the redundant ones");
    status = AG_WRONG;
  }
  sys->n.rank = sys->n.lambda;
  free(q), free(used);
  shortest_done(&s);
  return status;
}

/* ---- mass ---- */

bool ag_sparse_positive(const ag_system *sys, const double *entries, int *worst) {
  const ag_places *M = &sys->M_at;
  int n = sys->n.xi, n_lost;
  double *b = ag_heap_alloc(sizeof(double) * (size_t)n);
  unsigned char *lost = ag_heap_alloc((size_t)n);
  ag_ldl *f = ag_ldl_create(&(ag_pattern){n, M->n, M->row, M->col, NULL});
  n_lost = ag_ldl_solve(f, entries, b, lost);
  *worst = -1;
  for (int i = n - 1; i >= 0; i--)
    if (lost[i]) *worst = i;
  ag_ldl_free(f);
  free(b), free(lost);
  return n_lost == 0;
}

ag_status ag_sparse_mass(derive *d) {
  ag_system *sys = d->sys;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x));
  int worst;
  memcpy(x, sys->q0, sizeof(double) * (size_t)sys->n.q);
  double *v = ag_role_once(sys, AG_ROLE_METRIC, sys->t0, x, sys->params);
  bool good = ag_sparse_positive(sys, v, &worst);
  if (!good)
    ag_ctx_error(
        d->ctx, d->m->lagrangian_pos,
        "the mass matrix is not positive definite at the start on the velocities the constraints allow: see `%s`",
        ag_velocity_name(sys, worst, sys->arena));
  free(x), free(v);
  return good ? AG_OK : AG_WRONG;
}
