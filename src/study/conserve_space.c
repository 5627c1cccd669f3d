/* SPDX-License-Identifier: MIT
 * Searches: all combinations with constant coefficients of given functions that are conserved. Rates and values of the
 * functions at random points of a prime field make two matrices. Functions that depend on others on the constraints are
 * left out first; the kernel of the rates of the rest is the answer, its numbers by rational reconstruction. There is
 * no tolerance anywhere. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { EXTRA = 12 };

void ag_functions_push(ag_functions *s, ag_id x) {
  AG_PUSH(s->x, s->n, s->cap);
  s->x[s->n++] = x;
}

/* Values of the outputs at a point, in out; with any velocity, accelerations and reaction are random, too. */
static bool evaluate(const ag_probe *p, const ag_program *program, const ag_point *at, bool any_velocity,
                     uint64_t *out) {
  int n_all = p->at[AG_PROBE_GROUPS];
  uint64_t *in = ag_heap_alloc(sizeof *in * (size_t)(n_all + 1));
  ag_field f = at->f;
  memcpy(in, at->in, sizeof *in * (size_t)n_all);
  if (any_velocity) (void)ag_probe_velocity(p, &f, in, false);
  bool good = ag_field_eval(program, &f, in, out) == AG_FIELD_OK;
  free(in);
  return good;
}

/* Columns: n functions, of which each has as many entries; rows: an entry at a point of one prime. NULL: there are no
 * points. */
static uint64_t *tabulate(ag_conserving *v, const ag_program *program, int n, bool any_velocity, int prime,
                          int *n_row) {
  ag_probe *p = &v->probe;
  int n_want = n + EXTRA, m = n ? ag_program_n_out(program) / n : 1;
  uint64_t *A = ag_heap_alloc(sizeof *A * ((size_t)n * (size_t)(n_want + m) + 1)), below = ag_field_at(prime, 0).below;
  uint64_t *out = ag_heap_alloc(sizeof *out * ((size_t)n * (size_t)m + 1));
  bool good = !ag_program_opaque(program);
  *n_row = 0;
  for (int k = 0; *n_row < n_want && good; k++) {
    const ag_point *at = ag_probe_single(p, k);
    good = at && k < 20 * n_want;
    if (!good || at->f.below != below) continue; /* the other prime */
    if (!evaluate(p, program, at, any_velocity, out)) continue;
    for (int i = 0; i < m; i++, ++*n_row)
      for (int j = 0; j < n; j++) A[(size_t)*n_row * (size_t)n + (size_t)j] = out[j * m + i];
  }
  free(out);
  if (good) return A;
  free(A);
  return NULL;
}

/* Keeps functions whose values are independent of those before and of 1. */
bool ag_functions_thin(ag_conserving *v, ag_functions *s) {
  int n_row, n = s->n + 1, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(n + 1)), kept = 0, known = 0;
  ag_field f = ag_field_at(0, 0);
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)n);
  outs[0] = ag_num(v->x->g, 1);
  for (int i = 0; i < s->n; i++) outs[i + 1] = s->x[i];
  ag_program *program = ag_probe_program(&v->probe, n, outs);
  uint64_t *A = tabulate(v, program, n, false, 0, &n_row);
  ag_program_free(program);
  int rank = A ? ag_field_echelon(&f, n_row, n, A, pivots) : 0;
  for (int r = 1; r < rank; r++) {
    known += pivots[r] - 1 < s->n_known;
    s->x[kept++] = outs[pivots[r]];
  }
  s->n = kept;
  s->n_known = known;
  bool good = A != NULL;
  free(A);
  free(outs);
  free(pivots);
  return good;
}

ag_id ag_conserve_fraction(ag_graph *g, int64_t num, int64_t den) {
  int64_t parts[2] = {num, den};
  ag_id x[2];
  for (int k = 0; k < 2; k++) { /* a double holds 53 bits */
    const int64_t step = (int64_t)1 << 30;
    int64_t above = parts[k] / step;
    ag_id unit = ag_num(g, (double)step), high = ag_mul(g, ag_num(g, (double)above), unit);
    x[k] = ag_add(g, high, ag_num(g, (double)(parts[k] % step)));
  }
  return ag_div(g, x[0], x[1]);
}

void ag_echelon_done(ag_echelon *e) {
  for (int k = 0; k < AG_FIELD_PRIMES; k++) free(e->A[k]);
  free(e->pivots);
}

bool ag_echelon_fraction(const ag_echelon *e, int r, int j, int64_t *num, int64_t *den) {
  size_t at = (size_t)r * (size_t)e->n + (size_t)j;
  return ag_field_fraction_of_two(e->A[0][at], e->A[1][at], num, den);
}

/* A kernel vector has 1 at column j and minus column j of the echelon form at the pivots. */
ag_id ag_functions_combine(ag_graph *g, const ag_id *x, const ag_echelon *e, int j) {
  ag_id sum = x[j];
  for (int r = 0; r < e->rank; r++) {
    int64_t num, den;
    size_t at = (size_t)r * (size_t)e->n + (size_t)j;
    if (!e->A[0][at] && !e->A[1][at]) continue;
    if (!ag_echelon_fraction(e, r, j, &num, &den)) return 0;
    ag_id part = ag_mul(g, ag_conserve_fraction(g, num, den), x[e->pivots[r]]);
    sum = ag_sub(g, sum, part);
  }
  return sum;
}

bool ag_conserve_reduce(ag_conserving *v, int n, const ag_id *x, bool any_velocity, ag_echelon *e) {
  ag_program *program = ag_probe_program(&v->probe, n, x);
  int *pivots[2] = {ag_heap_alloc(sizeof(int) * (size_t)(n + 1)), ag_heap_alloc(sizeof(int) * (size_t)(n + 1))},
      rank[2] = {0};
  bool good = true;
  *e = (ag_echelon){.n = n};
  for (int k = 0; k < AG_FIELD_PRIMES && good; k++) {
    int n_row;
    if (k && rank[0] == n) { /* independent modulo one prime: independent */
      rank[1] = n;
      memcpy(pivots[1], pivots[0], sizeof(int) * (size_t)n);
      break;
    }
    ag_field f = ag_field_at(k, 0);
    e->A[k] = tabulate(v, program, n, any_velocity, k, &n_row);
    good = e->A[k] != NULL;
    if (good) rank[k] = ag_field_echelon(&f, n_row, n, e->A[k], pivots[k]);
  }
  good = good && rank[0] == rank[1] && !memcmp(pivots[0], pivots[1], sizeof(int) * (size_t)rank[0]);
  e->rank = rank[0];
  e->pivots = pivots[0];
  free(pivots[1]);
  ag_program_free(program);
  return good;
}

int ag_functions_solve(ag_conserving *v, ag_functions *s, ag_id twist, int room, ag_id *found, int *n_found) {
  *n_found = 0;
  if (!twist && !ag_functions_thin(v, s)) return -1; /* with a twist they are thin already */
  if (!s->n) return 0;
  ag_id *rates = ag_heap_alloc(sizeof *rates * (size_t)s->n);
  for (int i = 0; i < s->n; i++) {
    ag_id part[2];
    ag_geom_rate(v->x, s->x[i], &part[0], &part[1]);
    rates[i] = ag_add(v->x->g, part[0], part[1]);
    if (twist) rates[i] = ag_add(v->x->g, rates[i], ag_mul(v->x->g, twist, s->x[i]));
  }
  ag_echelon e;
  bool good = ag_conserve_reduce(v, s->n, rates, false, &e);
  for (int j = 0, r = 0; j < s->n && good; j++) {
    if (r < e.rank && e.pivots[r] == j) {
      r++;
      continue;
    }
    if (j >= s->n_known && *n_found < room) found[(*n_found)++] = ag_functions_combine(v->x->g, s->x, &e, j);
  }
  ag_echelon_done(&e);
  free(rates);
  return good ? s->n - e.rank : -1;
}
