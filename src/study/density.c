/* SPDX-License-Identifier: MIT
 * The density exp f of an invariant measure in closed form, f' = -div along the motion. Two ways:
 *   f = sum c_k log(det_k) + polynomial in the coordinates, c_k rational: linear equations at random points of a field;
 *   div = y(x) x' with one function x of the coordinates, y rational. Then f = sum c log q_c(x) with the residues c of
 * -y, q_c the greatest common divisor of P - c Q' and Q for -y = P/Q (Rothstein and Trager), for small fractions c.
 * Each is proved afterwards as an identity. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { TERMS = 64, DEGREE = 12, ATOMS = 12 };

typedef struct ansatz {
  int n, n_log, n_angle;
  ag_id x[TERMS], rate[TERMS + 1]; /* of the first n_log the logarithm is taken; the last n_angle are angles */
} ansatz;

static void add_term(const ag_measuring *s, ansatz *a, ag_id x, bool log) {
  const ag_geom *g = s->v->x;
  ag_id moved, unused;
  if (a->n == TERMS) return;
  ag_geom_rate(g, x, &moved, &unused);
  a->x[a->n] = x;
  a->rate[a->n++] = log ? ag_div(g->g, moved, x) : moved;
  a->n_log += log;
}

/* The columns of S that belong to the dependent velocities. */
ag_id ag_measure_columns(const ag_measuring *s) {
  const ag_geom *x = s->v->x;
  int r = s->rank;
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(r * r + 1));
  for (int i = 0; i < r * r; i++) entries[i] = ag_entry(x->g, x->S, s->v->probe.row[i / r], s->dependent[i % r]);
  ag_id out = ag_stack(x->g, r, r, entries);
  free(entries);
  return out;
}

/* ---- one function of the coordinates ---- */

static int degree_of(int n, const uint64_t *a) {
  while (n >= 0 && !a[n]) n--;
  return n;
}

/* a modulo b, in place; b is not 0. */
static void remainder_of(const ag_field *f, uint64_t *a, int db, const uint64_t *b) {
  uint64_t lead = ag_field_invert(f, b[db]);
  for (int i = DEGREE; i >= db; i--) {
    uint64_t c = ag_field_mul(f, a[i], lead);
    for (int k = 0; k <= db; k++) a[i - db + k] = ag_field_sub(f, a[i - db + k], ag_field_mul(f, c, b[k]));
  }
}

/* The greatest common divisor, leading coefficient 1, in place of a; returns its degree. */
static int divisor_of(const ag_field *f, uint64_t *a, uint64_t *b) {
  for (int db; (db = degree_of(DEGREE, b)) >= 0;) {
    remainder_of(f, a, db, b);
    for (int i = 0; i <= DEGREE; i++) {
      uint64_t kept = a[i];
      a[i] = b[i];
      b[i] = kept;
    }
  }
  int d = degree_of(DEGREE, a);
  uint64_t lead = d >= 0 ? ag_field_invert(f, a[d]) : 0;
  for (int i = 0; i <= d; i++) a[i] = ag_field_mul(f, a[i], lead);
  return d;
}

/* q_c modulo a prime: the divisor of P - c Q' and Q. */
static int residue_part(const ag_field *f, const uint64_t *P, const uint64_t *Q, int twice_c, uint64_t *q) {
  uint64_t rest[DEGREE + 1], half = (f->p + 1) / 2, c = ag_field_mul(f, ag_field_whole(f, twice_c), half);
  for (int i = 0; i <= DEGREE; i++) {
    uint64_t slope = i < DEGREE ? ag_field_mul(f, ag_field_whole(f, i + 1), Q[i + 1]) : 0;
    q[i] = ag_field_sub(f, P[i], ag_field_mul(f, c, slope));
    rest[i] = Q[i];
  }
  return divisor_of(f, q, rest);
}

/* A polynomial in x with these coefficients times a sign; 0: they are no fractions. */
static ag_id polynomial(ag_graph *g, ag_id x, int d, uint64_t q[][DEGREE + 1], int sign) {
  ag_id sum = ag_num(g, 0);
  for (int i = d; i >= 0; i--) {
    int64_t num, den;
    if (!ag_field_fraction_of_two(q[0][i], q[1][i], &num, &den)) return 0;
    ag_id coefficient = ag_conserve_fraction(g, sign * num, den);
    sum = ag_add(g, ag_mul(g, sum, x), coefficient);
  }
  return sum;
}

/* -y = P/Q from the first relation between 1, y, x, x y, x^2, ... */
static void quotient_of(const ag_echelon *e, int j, int prime, uint64_t *P, uint64_t *Q) {
  ag_field f = ag_field_at(prime, 0);
  for (int i = 0; i <= DEGREE; i++) P[i] = Q[i] = 0;
  for (int r = 0; r < e->rank && e->pivots[r] < j; r++) {
    uint64_t *to = e->pivots[r] % 2 ? Q : P;
    to[e->pivots[r] / 2] = ag_field_sub(&f, 0, e->A[prime][(size_t)r * (size_t)e->n + (size_t)j]);
  }
  (j % 2 ? Q : P)[j / 2] = 1;
}

static int first_free(const ag_echelon *e) {
  int j = 0;
  while (j < e->rank && e->pivots[j] == j) j++;
  return j;
}

/* If the divergence is y(x) x': adds the q_c to the terms. */
static bool add_shape(ag_measuring *s, ansatz *a, ag_id x) {
  const ag_geom *geom = s->v->x;
  ag_graph *g = geom->g;
  ag_id rate, unused, columns[2 * DEGREE + 2], power = ag_num(g, 1);
  ag_geom_rate(geom, x, &rate, &unused);
  ag_id y = ag_div(g, s->div, rate);
  for (int i = 0; i <= DEGREE; i++) {
    columns[2 * i] = power;
    columns[2 * i + 1] = ag_mul(g, power, y);
    power = ag_mul(g, power, x);
  }
  ag_echelon e;
  bool good = ag_conserve_reduce(s->v, 2 * DEGREE + 2, columns, false, &e);
  int j = good ? first_free(&e) : 0, before = a->n;
  for (int c = -8; c <= 8 && good && j < e.n; c++) {
    uint64_t P[DEGREE + 1], Q[DEGREE + 1], q[AG_FIELD_PRIMES][DEGREE + 1];
    int d[AG_FIELD_PRIMES] = {0};
    for (int k = 0; k < AG_FIELD_PRIMES && c; k++) {
      ag_field f = ag_field_at(k, 0);
      quotient_of(&e, j, k, P, Q);
      d[k] = residue_part(&f, P, Q, c, q[k]);
    }
    ag_id factor = d[0] > 0 && d[0] == d[1] ? polynomial(g, x, d[0], q, 1) : 0;
    if (factor && ag_conserve_at_start(s->v, factor) < 0) factor = polynomial(g, x, d[0], q, -1);
    if (factor) add_term(s, a, factor, true);
  }
  ag_echelon_done(&e);
  return a->n > before;
}

/* Candidates: coordinates, cosines and sines, R^T e3, and sums of two squares. */
static void add_shapes(ag_measuring *s, ansatz *a) {
  ag_graph *g = s->v->x->g;
  ag_id atom[ATOMS];
  int n = ag_conserve_functions(s->v, 1, ATOMS, atom);
  for (int i = n - 1; i >= 0; i--)
    if (add_shape(s, a, atom[i])) return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      ag_id square[2] = {ag_mul(g, atom[j], atom[j]), ag_mul(g, atom[i], atom[i])};
      if (add_shape(s, a, ag_add(g, square[0], square[1]))) return;
    }
}

/* ---- determinants ---- */

/* det(B^T M B), B the fields that span D; the determinant of the dependent columns of S; det M. */
static void add_determinants(ag_measuring *s, ansatz *a) {
  const ag_geom *x = s->v->x;
  ag_graph *g = x->g;
  int k = x->n - s->rank;
  ag_id *columns = ag_heap_alloc(sizeof *columns * (size_t)(k * k + k + 1)), *entries = columns + k;
  for (int i = 0; i < k; i++) columns[i] = ag_concat(g, x->n_coord, s->at[i].Y);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) entries[i * k + j] = ag_dot(g, columns[i], ag_mul(g, x->M, columns[j]));
  ag_id whole = ag_det(g, ag_geom_saddle(x, s->rank, s->v->probe.row));
  ag_id shorter = ag_conserve_readable(s->v, whole);
  if (k && shorter == whole) shorter = ag_conserve_readable(s->v, ag_det(g, ag_stack(g, k, k, entries)));
  add_term(s, a, shorter, true);
  if (s->rank) add_term(s, a, ag_conserve_readable(s->v, ag_det(g, ag_measure_columns(s))), true);
  if (s->rank) add_term(s, a, ag_conserve_readable(s->v, ag_det(g, x->M)), true);
  free(columns);
}

/* Of the solution (column n is a combination of those before it) the density; 0: none. *around: an angle enters. */
static ag_id density_of(const ag_measuring *s, const ansatz *a, const ag_echelon *e, bool *around) {
  ag_graph *g = s->v->x->g;
  ag_id product = ag_num(g, 1), sum = ag_num(g, 0);
  for (int r = 0; r < e->rank; r++) {
    int64_t num, den;
    int k = e->pivots[r];
    if (!ag_echelon_fraction(e, r, a->n, &num, &den)) return 0;
    if (!num) continue;
    ag_id power = ag_conserve_fraction(g, -num, den); /* f' = -div */
    if (k < a->n_log) product = ag_mul(g, product, ag_pow(g, a->x[k], power));
    if (k < a->n_log && s->v->n_factor < AG_MAX_FACTOR) s->v->factor[s->v->n_factor++] = a->x[k];
    if (k >= a->n_log) sum = ag_add(g, sum, ag_mul(g, power, a->x[k]));
    *around = *around || k >= a->n - a->n_angle;
  }
  return ag_is_zero(g, sum) ? product : ag_mul(g, product, ag_apply1(g, AG_OP_EXP, sum));
}

/* f' + div with f = sum c_k t_k: zero at all states? */
static bool proved(ag_measuring *s, const ansatz *a, const ag_echelon *e) {
  ag_graph *g = s->v->x->g;
  ag_id sum = s->div;
  for (int r = 0; r < e->rank; r++) {
    int64_t num, den;
    if (!ag_echelon_fraction(e, r, a->n, &num, &den)) return false;
    ag_id part = ag_mul(g, ag_conserve_fraction(g, -num, den), a->rate[e->pivots[r]]);
    sum = ag_add(g, sum, part);
  }
  return ag_probe_vanish(&s->v->probe, 1, &sum, false, &s->m->bound) == AG_TRUTH_YES;
}

void ag_measure_find(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  ansatz a = {0};
  ag_echelon e;
  ag_id poly[TERMS];
  bool around = false;
  add_shapes(s, &a);
  add_determinants(s, &a);
  int n_poly = ag_conserve_functions(s->v, 2, TERMS / 2, poly);
  for (int i = 0; i < n_poly; i++) add_term(s, &a, poly[i], false);
  if (s->timed) add_term(s, &a, x->t, false);
  if (s->timed) add_term(s, &a, ag_mul(x->g, x->t, x->t), false);
  for (int i = 0; i < x->n_coord; i++)
    if (ag_model_coords(x->model)[i].space == AG_SPACE_S1) add_term(s, &a, x->q[i], false), a.n_angle++;
  a.rate[a.n] = s->div;
  bool good = ag_conserve_reduce(s->v, a.n + 1, a.rate, false, &e) && (!e.rank || e.pivots[e.rank - 1] < a.n);
  if (good && proved(s, &a, &e)) {
    ag_id density = density_of(s, &a, &e, &around);
    if (around)
      ag_measure_decide(s, AG_CONSERVED_NO, AG_PROOF_IDENTITY, "f is not single-valued: it grows with an angle");
    else ag_measure_decide(s, AG_CONSERVED_YES, AG_PROOF_IDENTITY, "f' + divergence = 0");
    s->m->f_exp = density;
    s->m->density = ag_conserve_print(s->v, density);
  }
  ag_echelon_done(&e);
}
