/* SPDX-License-Identifier: MIT
 * Functions of the coordinates as polynomials in coordinates, cosines and sines, and R^T e3, with whole coefficients;
 * and their irreducible factors. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

/* READABLE: degree up to which a function is printed as a polynomial; DEGREE: up to which one is factored. */
enum { ATOMS = 12, READABLE = 4, DEGREE = 16, MONOMIALS = 220 };

typedef struct polynomial {
  bool found;
  int n_atom, n; /* functions; terms, 0: it is 0 */
  ag_id atom[ATOMS];
  int64_t num[MONOMIALS], den[MONOMIALS];
  int exponent[MONOMIALS][ATOMS];
} polynomial;

/* Exponents of monomial number i in the order of ag_conserve_monomials: by degree, factors ascending. */
static void exponents_of(int n_atom, int i, int *e) {
  int factor[DEGREE] = {0}, degree = 0;
  memset(e, 0, sizeof *e * ATOMS);
  for (int k = 0; k < i; k++) { /* the next one: the last factor that can grow does */
    int last = degree - 1;
    while (last >= 0 && factor[last] == n_atom - 1) last--;
    if (last < 0) degree++;
    int value = last < 0 ? 0 : factor[last] + 1;
    for (int j = last < 0 ? 0 : last; j < degree; j++) factor[j] = value;
  }
  for (int j = 0; j < degree; j++) e[factor[j]]++;
}

/* x = sum of monomials, on the leaf. */
static void find_polynomial(ag_conserving *v, ag_id x, int most, polynomial *p) {
  ag_graph *g = v->x->g;
  ag_id columns[MONOMIALS + 2];
  p->n = 0;
  p->found = false;
  p->n_atom = ag_conserve_functions(v, 1, ATOMS - 1, p->atom);
  if (ag_depends(g, 1, &x, 1, &v->x->t)) p->atom[p->n_atom++] = v->x->t;
  for (int degree = 0; degree <= most && !p->found; degree += 2) {
    int n = ag_conserve_monomials(g, p->n_atom, p->atom, degree, columns, MONOMIALS);
    ag_echelon e = {0};
    if (n < 0) return;
    columns[n] = x;
    bool good = ag_conserve_reduce(v, n + 1, columns, false, &e) && e.rank && e.pivots[e.rank - 1] < n;
    p->n = 0;
    for (int r = 0; r < e.rank && good; r++) {
      good = ag_echelon_fraction(&e, r, n, &p->num[p->n], &p->den[p->n]);
      if (!good || !p->num[p->n]) continue;
      exponents_of(p->n_atom, e.pivots[r], p->exponent[p->n++]);
    }
    p->found = good;
    ag_echelon_done(&e);
  }
}

static ag_id term(ag_graph *g, const polynomial *p, const int *e, ag_id coefficient) {
  ag_id product = coefficient;
  for (int k = 0; k < p->n_atom; k++)
    for (int i = 0; i < e[k]; i++) product = ag_mul(g, product, p->atom[k]);
  return product;
}

ag_id ag_conserve_readable(ag_conserving *v, ag_id x) {
  ag_graph *g = v->x->g;
  polynomial *p = ag_heap_alloc(sizeof *p);
  find_polynomial(v, x, READABLE, p);
  ag_id out = p->found ? ag_num(g, 0) : x;
  for (int i = 0; i < p->n && p->found; i++)
    out = ag_add(g, out, term(g, p, p->exponent[i], ag_conserve_fraction(g, p->num[i], p->den[i])));
  free(p);
  return out;
}

/* ---- factors ---- */

typedef struct listing {
  ag_conserving *v;
  const polynomial *p;
} listing;

static bool vanishes(ag_conserving *v, ag_id x) {
  return ag_probe_vanish(&v->probe, 1, &x, false, NULL) == AG_TRUTH_YES;
}

static ag_id rate_of(const ag_geom *x, ag_id e) {
  ag_id rate, unused;
  ag_geom_rate(x, e, &rate, &unused);
  return rate;
}

/* Unless it is constant, or a multiple of one that is there. */
static void add_factor(ag_conserving *v, ag_id x) {
  ag_graph *g = v->x->g;
  ag_id rate = rate_of(v->x, x);
  bool wanted = v->n_factor < AG_MAX_FACTOR && !vanishes(v, rate);
  for (int i = 0; i < v->n_factor && wanted; i++) {
    ag_id there = ag_mul(g, rate, v->factor[i]), back = ag_mul(g, x, rate_of(v->x, v->factor[i]));
    wanted = !vanishes(v, ag_sub(g, there, back));
  }
  if (!wanted) return;
  if (ag_conserve_at_start(v, x) < 0) x = ag_neg(g, x); /* roots are taken of it */
  v->factor[v->n_factor++] = x;
}

static void take(void *self, int n, const int64_t *c, const int *e) {
  const listing *l = self;
  ag_graph *g = l->v->x->g;
  ag_id sum = ag_num(g, 0);
  for (int i = 0; i < n; i++)
    sum = ag_add(g, sum, term(g, l->p, e + i * l->p->n_atom, ag_conserve_fraction(g, c[i], 1)));
  add_factor(l->v, sum);
}

static int64_t divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b, b = r;
  }
  return a < 0 ? -a : a;
}

/* Coefficients as whole numbers; false: they are too long. */
static bool make_whole(const polynomial *p, int64_t *c) {
  int64_t all = 1;
  for (int i = 0; i < p->n; i++)
    if (__builtin_mul_overflow(all, p->den[i] / divisor(all, p->den[i]), &all)) return false;
  for (int i = 0; i < p->n; i++)
    if (__builtin_mul_overflow(p->num[i], all / p->den[i], &c[i])) return false;
  return true;
}

/* The irreducible factors of x; false: it is no polynomial. */
static bool add_factors(ag_conserving *v, ag_id x) {
  polynomial *p = ag_heap_alloc(sizeof *p);
  int64_t c[MONOMIALS];
  int *e = ag_heap_alloc(sizeof *e * MONOMIALS * ATOMS);
  find_polynomial(v, x, DEGREE, p);
  for (int i = 0; i < p->n * p->n_atom && p->found; i++) e[i] = p->exponent[i / p->n_atom][i % p->n_atom];
  bool good = p->found && p->n && make_whole(p, c) &&
              ag_flint_factor(v->flint, p->n_atom, p->n, c, e, take, &(listing){v, p});
  free(e);
  free(p);
  return good;
}

/* det K, det M and the determinant of the dependent columns of S: det(S M^-1 S^T) = det K/det M, and det(B^T M B) is
 * det K over the square of the last, B being the fields that span D. */
void ag_conserve_factors(ag_conserving *v) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  const ag_probe *p = &v->probe;
  ag_id before[AG_MAX_FACTOR];
  int n_before = v->n_factor, r = p->rank;
  memcpy(before, v->factor, sizeof before);
  v->n_factor = 0;
  for (int i = 0; i < n_before; i++)
    if (!add_factors(v, before[i])) add_factor(v, before[i]);
  (void)add_factors(v, ag_det(g, ag_geom_saddle(x, r, p->row)));
  if (!r) return;
  (void)add_factors(v, ag_det(g, x->M));
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(r * r + 1));
  for (int i = 0; i < r * r; i++) entries[i] = ag_entry(g, x->S, p->row[i / r], p->col[i % r]);
  (void)add_factors(v, ag_det(g, ag_stack(g, r, r, entries)));
  free(entries);
  int n = v->n_factor; /* 1 + x^6 = (1 + x^2)(1 - x^2 + x^4): products of two as well */
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) add_factor(v, ag_mul(g, v->factor[i], v->factor[k]));
}
