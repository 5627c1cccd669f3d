/* SPDX-License-Identifier: MIT
 * One shape variable: integrals c(r).w + f(r), w linear in the velocities and r one function of the coordinates, whose
 * coefficients solve linear differential equations. They exist if the rates are w_i' = r' (sum C_ij(r) w_j + k_i(r)).
 * That is a question at one value of r: at points of a prime field that share it, combinations a of the rates are
 * looked for that are combinations of r' and r' w_j. From those that all values of r have in common the largest space
 * is taken in which the equations stay; it is confirmed at fresh values. No tolerance is involved. The table of c and f
 * is made by conserve_table.c. docs/theory/5-conservation.md. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { MAX_FUNCTION = 64, MAX_SHAPE = 24, EXTRA = 8, LINES = 3, ATTEMPTS = 64 };

/* A function of the coordinates, and how points that share its value are made: a number of q is held, an entry of R^T
 * e3 of a rotation, or (coord and number -1) it is a relation more. */
typedef struct shape {
  ag_id r;
  int number, coord, axis;
} shape;

/* Points that share one value. */
typedef struct line {
  ag_geom x;
  ag_hold hold;
  ag_probe p;
  bool *fixed;
  double *value;
} line;

/* ---- points ---- */

/* A decimal between 0 and 1, another one for each k. */
static double decimal(uint64_t k) { return (double)(1 + k * 7919 % 9973) / 1e4; }

static void make_line(ag_conserving *v, const shape *s, int prime, int attempt, line *l) {
  int n_q = v->probe.q_at[v->x->n_coord];
  *l = (line){.x = *v->x, .hold = {prime, s->coord, s->axis, 0x9e3779b97f4a7c15u * (uint64_t)(attempt + 1)}};
  l->fixed = ag_heap_alloc(sizeof *l->fixed * (size_t)(n_q + 1));
  l->value = ag_heap_alloc(sizeof *l->value * (size_t)(n_q + 1));
  if (s->number >= 0) l->fixed[s->number] = true, l->value[s->number] = decimal((uint64_t)attempt);
  else if (s->coord < 0) { /* before the others, which may be solved for other coordinates then */
    ag_id all[2] = {ag_sub(l->x.g, s->r, ag_num(l->x.g, decimal((uint64_t)attempt))), v->x->relate};
    l->x.relate = 0;
    ag_geom_relate(&l->x, v->x->relate ? 2 : 1, all);
  }
  ag_probe_init(&l->p, &l->x, v->sys, NULL, NULL);
  l->p.fixed = l->fixed, l->p.fixed_at = l->value, l->p.hold = &l->hold;
}

static void drop_line(line *l) {
  ag_probe_done(&l->p);
  free(l->fixed);
  free(l->value);
}

/* The outputs at n points, a row each, in A; false: this value has fewer. side: which of the signs and branches
 * at one seed, the same at all points, so that a root of r is the same. */
static bool fill(line *l, const ag_program *program, int side, int n, uint64_t *A) {
  int n_out = ag_program_n_out(program), n_good = 0, first;
  for (int k = 0; n_good < n && k < 2 * n + ATTEMPTS; k++) {
    int n_point = ag_probe_points(&l->p, k, &first);
    if (!n_point) break;
    const ag_point *at = &l->p.points[first + side % n_point];
    ag_field f = at->f;
    n_good += ag_field_eval(program, &f, at->in, A + (size_t)n_good * (size_t)n_out) == AG_FIELD_OK;
  }
  return n_good == n;
}

/* The rows at a value of the shape that has points, from *attempt on; NULL: none is found. */
static uint64_t *rows_at(ag_conserving *v, const shape *s, int prime, int side, const ag_program *program, int *attempt,
                         int *n_row) {
  int n_out = ag_program_n_out(program);
  *n_row = n_out + EXTRA;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)*n_row * (size_t)n_out);
  for (int end = *attempt + ATTEMPTS; *attempt < end;) {
    line l;
    make_line(v, s, prime, (*attempt)++, &l);
    bool good = fill(&l, program, side, *n_row, A);
    drop_line(&l);
    if (good) return A;
  }
  free(A);
  return NULL;
}

/* ---- spaces: rows of k x m matrices ---- */

typedef struct space {
  int k, m;
  uint64_t *A;
  int *pivots;
} space;

static space new_space(int m) {
  return (space){.m = m,
                 .A = ag_heap_alloc(sizeof(uint64_t) * (size_t)(m * m + 1)),
                 .pivots = ag_heap_alloc(sizeof(int) * (size_t)(m + 1))};
}

static void drop_space(space *s) {
  free(s->A);
  free(s->pivots);
}

static uint64_t inner(const ag_field *f, int n, const uint64_t *a, const uint64_t *b) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum = ag_field_add(f, sum, ag_field_mul(f, a[i], b[i]));
  return sum;
}

/* The annihilator of the rows of s. */
static space annihilator(const ag_field *f, const space *s) {
  space out = new_space(s->m);
  ag_conserve_kernel(f, s->m, s->k, s->A, s->pivots, out.A);
  out.k = s->m - s->k;
  return out;
}

/* The solutions (a, phi, alpha) of sum a_i w_i' + phi r' + sum alpha_i r' w_i = 0 at one value. */
typedef struct solution {
  int k, m;    /* rows with a pivot in a */
  uint64_t *A; /* rows of 2 m + 1, in echelon form; those after the first k have a = 0 */
  int *pivots, n_row;
} solution;

/* From rows of r', r' w, w'. */
static solution solve(const ag_field *f, int m, int n_row, uint64_t *rows) {
  int wide = 2 * m + 1, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(wide + 1));
  int rank = ag_field_echelon(f, n_row, wide, rows, pivots);
  uint64_t *K = ag_heap_alloc(sizeof *K * (size_t)(wide * wide + 1));
  solution s = {0, m, ag_heap_alloc(sizeof *K * (size_t)(wide * wide + 1)), pivots, wide - rank};
  ag_conserve_kernel(f, wide, rank, rows, pivots, K);
  for (int i = 0; i < s.n_row; i++)
    for (int j = 0; j < wide; j++) s.A[i * wide + (j + m) % wide] = K[i * wide + j];
  free(K);
  (void)ag_field_echelon(f, s.n_row, wide, s.A, s.pivots);
  while (s.k < s.n_row && s.pivots[s.k] < m) s.k++;
  return s;
}

static void drop_solution(solution *s) {
  free(s->A);
  free(s->pivots);
}

/* alpha of the row a of the solutions, or 0. */
static void slope_of(const ag_field *f, const solution *s, const uint64_t *a, uint64_t *alpha) {
  int m = s->m, wide = 2 * m + 1;
  for (int j = 0; j < m; j++) {
    alpha[j] = 0;
    for (int i = 0; i < s->k; i++)
      alpha[j] = ag_field_add(f, alpha[j], ag_field_mul(f, a[s->pivots[i]], s->A[i * wide + m + 1 + j]));
  }
}

/* W and the functions that vanish where r has its value: slopes are known up to these. */
static space widened(const ag_field *f, const solution *s, const space *W) {
  int m = W->m, wide = 2 * m + 1, n = W->k + s->n_row - s->k;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(n * m + 1));
  space out = new_space(m);
  memcpy(A, W->A, sizeof *A * (size_t)(W->k * m));
  for (int i = s->k; i < s->n_row; i++)
    memcpy(A + (W->k + i - s->k) * m, s->A + i * wide + m + 1, sizeof *A * (size_t)m);
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(m + 1));
  out.k = ag_field_echelon(f, n, m, A, pivots);
  memcpy(out.A, A, sizeof *A * (size_t)(out.k * m));
  memcpy(out.pivots, pivots, sizeof *pivots * (size_t)out.k);
  free(A), free(pivots);
  return out;
}

/* Keeps of W the rows that are solutions and whose slopes are in W. True: none was lost. */
static bool shrink(const ag_field *f, const solution *s, space *W) {
  int m = W->m, before = W->k, n = 0, wide = 2 * m + 1;
  space with = widened(f, s, W), off = annihilator(f, &with), of_a = new_space(m);
  of_a.k = s->k;
  for (int i = 0; i < s->k; i++) memcpy(of_a.A + i * m, s->A + i * wide, sizeof *of_a.A * (size_t)m);
  memcpy(of_a.pivots, s->pivots, sizeof(int) * (size_t)s->k);
  space off_a = annihilator(f, &of_a);
  uint64_t *E = ag_heap_alloc(sizeof *E * (size_t)((off.k + off_a.k) * before + 1)),
           *alpha = ag_heap_alloc(sizeof *E * (size_t)(m + 1)), *Y = ag_heap_alloc(sizeof *E * (size_t)(m * m + 1)),
           *next = ag_heap_alloc(sizeof *E * (size_t)(m * m + 1));
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(m + 1));
  for (int r = 0; r < off_a.k; r++, n++)
    for (int i = 0; i < before; i++) E[n * before + i] = inner(f, m, off_a.A + r * m, W->A + i * m);
  for (int i = 0; i < before; i++) {
    slope_of(f, s, W->A + i * m, alpha);
    for (int r = 0; r < off.k; r++) E[(n + r) * before + i] = inner(f, m, off.A + r * m, alpha);
  }
  int rank = ag_field_echelon(f, n + off.k, before, E, pivots);
  ag_conserve_kernel(f, before, rank, E, pivots, Y);
  W->k = before - rank;
  for (int i = 0; i < W->k; i++)
    for (int j = 0; j < m; j++) {
      next[i * m + j] = 0;
      for (int l = 0; l < before; l++)
        next[i * m + j] = ag_field_add(f, next[i * m + j], ag_field_mul(f, Y[i * before + l], W->A[l * m + j]));
    }
  memcpy(W->A, next, sizeof *next * (size_t)(W->k * m));
  (void)ag_field_echelon(f, W->k, m, W->A, W->pivots);
  drop_space(&with), drop_space(&off), drop_space(&of_a), drop_space(&off_a);
  free(E), free(alpha), free(Y), free(next), free(pivots);
  return W->k == before;
}

/* ---- one shape ---- */

/* A program of r', r' w, w'. */
static ag_program *rates_of(ag_conserving *v, ag_id r, int m, const ag_id *w) {
  ag_graph *g = v->x->g;
  ag_id outs[2 * MAX_FUNCTION + 1], part[2];
  ag_geom_rate(v->x, r, &outs[0], &part[1]);
  for (int i = 0; i < m; i++) {
    outs[1 + i] = ag_mul(g, outs[0], w[i]);
    ag_geom_rate(v->x, w[i], &part[0], &part[1]);
    outs[1 + m + i] = ag_add(g, part[0], part[1]);
  }
  return ag_probe_program(&v->probe, 2 * m + 1, outs);
}

/* Keeps the functions that are independent with coefficients that depend on r. 0: none, or no points. */
static int thin(ag_conserving *v, const shape *s, int n, ag_id *w) {
  ag_id outs[MAX_FUNCTION + 1];
  int attempt = 0, n_row, pivots[MAX_FUNCTION + 1], kept = 0;
  outs[0] = ag_num(v->x->g, 1);
  for (int i = 0; i < n; i++) outs[1 + i] = w[i];
  ag_program *program = ag_probe_program(&v->probe, n + 1, outs);
  uint64_t *A = ag_program_opaque(program) ? NULL : rows_at(v, s, 0, 0, program, &attempt, &n_row);
  ag_field f = ag_field_at(0, 0);
  int rank = A ? ag_field_echelon(&f, n_row, n + 1, A, pivots) : 0;
  for (int r = 0; r < rank; r++)
    if (pivots[r]) w[kept++] = outs[pivots[r]];
  free(A);
  ag_program_free(program);
  return kept;
}

/* The largest space in which the equations stay, modulo one prime. False: no points. */
static bool find_space(ag_conserving *v, const shape *s, const ag_program *program, int prime, space *W) {
  solution at[LINES];
  ag_field f = ag_field_at(prime, 0);
  int attempt = 0, n = 0, n_row;
  W->k = W->m;
  memset(W->A, 0, sizeof *W->A * (size_t)(W->m * W->m));
  for (int i = 0; i < W->m; i++) W->A[i * W->m + i] = 1, W->pivots[i] = i;
  for (; n < LINES && W->k; n++) {
    uint64_t *rows = rows_at(v, s, prime, 0, program, &attempt, &n_row);
    at[n] = rows ? solve(&f, W->m, n_row, rows) : (solution){0};
    free(rows);
    if (!at[n].k) W->k = 0;
    else (void)shrink(&f, &at[n], W);
  }
  for (bool stays = false; !stays && W->k;) {
    stays = true;
    for (int i = 0; i < n && W->k; i++) stays = shrink(&f, &at[i], W) && stays;
  }
  for (int i = 0; i < n; i++) drop_solution(&at[i]);
  return W->k > 0;
}

/* The combinations of w with the numbers of the rows, which both primes agree on; false: they do not. */
static bool combine(ag_conserving *v, const space *W, const ag_id *w, ag_id *out) {
  ag_graph *g = v->x->g;
  int m = W[0].m;
  if (W[0].k != W[1].k || memcmp(W[0].pivots, W[1].pivots, sizeof(int) * (size_t)W[0].k)) return false;
  for (int i = 0; i < W[0].k; i++) {
    out[i] = ag_num(g, 0);
    for (int j = 0; j < m; j++) {
      int64_t num, den;
      if (!W[0].A[i * m + j] && !W[1].A[i * m + j]) continue;
      if (!ag_field_fraction_of_two(W[0].A[i * m + j], W[1].A[i * m + j], &num, &den)) return false;
      out[i] = ag_add(g, out[i], ag_mul(g, ag_conserve_fraction(g, num, den), w[j]));
    }
  }
  return true;
}

/* How many signs and branches there are at one seed, 2 at least. */
static int n_sides(ag_conserving *v) {
  int first, n = v->probe.chooses ? ag_probe_points(&v->probe, 0, &first) : 2;
  return n < 2 ? 2 : n;
}

/* At fresh values of r, two of each prime, on every branch: are r' and r' w independent, and the rates combinations of
 * them? *homogeneous: of r' w alone. */
static bool proved(ag_conserving *v, const shape *s, int n, const ag_id *w, bool *homogeneous) {
  ag_program *program = rates_of(v, s->r, n, w);
  bool good = true;
  *homogeneous = true;
  const int n_value = n_sides(v) * AG_FIELD_PRIMES;
  for (int k = 0; k < n_value && good; k++) {
    ag_field f = ag_field_at(k % AG_FIELD_PRIMES, 0);
    int attempt = 1000 + 500 * k, n_row;
    uint64_t *rows = rows_at(v, s, k % AG_FIELD_PRIMES, k / AG_FIELD_PRIMES, program, &attempt, &n_row);
    solution at = rows ? solve(&f, n, n_row, rows) : (solution){0};
    good = at.k == n && at.n_row == n;
    for (int i = 0; i < n && good; i++) *homogeneous = *homogeneous && !at.A[i * (2 * n + 1) + n];
    free(rows);
    drop_solution(&at);
  }
  ag_program_free(program);
  return good;
}

/* The rank of the coefficients before w of n_out - n - 1 functions, if they are combinations of 1 and w where r is
 * held; -1: they are not, or have no points. outs: 1, w, the functions. */
static int rank_where_held(ag_conserving *v, const shape *s, int n, int n_out, const ag_id *outs) {
  ag_program *program = ag_probe_program(&v->probe, n_out, outs);
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(n_out + 1)), attempt = 0, n_row, more = n_out - n - 1,
      rank = -1;
  ag_field f = ag_field_at(0, 0);
  uint64_t *A = ag_program_opaque(program) ? NULL : rows_at(v, s, 0, 0, program, &attempt, &n_row);
  uint64_t *known = ag_heap_alloc(sizeof *known * (size_t)(more * n + 1));
  if (A && ag_field_echelon(&f, n_row, n_out, A, pivots) == n + 1) {
    for (int i = 0; i < n * more; i++)
      known[i % more * n + i / more] = A[(size_t)(i / more + 1) * (size_t)n_out + (size_t)(n + 1 + i % more)];
    rank = ag_field_echelon(&f, more, n, known, NULL);
  }
  free(A), free(known), free(pivots);
  ag_program_free(program);
  return rank;
}

/* How many independent ones have a formula among the quantities that are proved? */
static int n_known(ag_conserving *v, const shape *s, int n, const ag_id *w) {
  const ag_conservation *c = v->c;
  ag_id outs[2 * AG_MAX_TABLE + 2];
  int known = 0;
  outs[0] = ag_num(v->x->g, 1);
  for (int i = 0; i < n; i++) outs[1 + i] = w[i];
  for (int i = 0; i < c->n && known < n; i++) {
    const ag_quantity *q = &c->at[i];
    if (q->verdict != AG_CONSERVED_YES || q->proof != AG_PROOF_IDENTITY || !q->class) continue;
    outs[n + 1 + known] = q->x;
    known += rank_where_held(v, s, n, n + 2 + known, outs) == known + 1;
  }
  return known;
}

static bool try_shape(ag_conserving *v, const shape *s, int m, const ag_id *w) {
  ag_id found[MAX_FUNCTION];
  ag_program *program = rates_of(v, s->r, m, w);
  space W[AG_FIELD_PRIMES] = {new_space(m), new_space(m)};
  ag_shape *out = &v->c->shape;
  bool good = !ag_program_opaque(program) && find_space(v, s, program, 0, &W[0]) &&
              find_space(v, s, program, 1, &W[1]) && combine(v, W, w, found);
  int n = good ? thin(v, s, W[0].k, found) : 0;
  good = n > 0 && n <= AG_MAX_TABLE && proved(v, s, n, found, &out->homogeneous);
  if (good) {
    out->n = n;
    out->n_new = n - n_known(v, s, n, found);
    out->r = s->r;
    out->bound = 0x1p-84; /* four values of r, as for other identities */
    memcpy(out->w, found, sizeof *found * (size_t)n);
    good = out->n_new > 0;
  }
  ag_program_free(program);
  drop_space(&W[0]), drop_space(&W[1]);
  return good;
}

/* ---- all ---- */

/* Coordinates, entries of R^T e3, and sums of two squares. */
static int shapes_of(const ag_conserving *v, shape *out) {
  ag_graph *g = v->x->g;
  const ag_probe *p = &v->probe;
  ag_id square[MAX_SHAPE];
  int n = 0, n_square = 0;
  for (int i = 0; i < v->x->n_coord; i++) {
    const ag_coord c = ag_model_coords(v->m)[i];
    bool rotation = c.space == AG_SPACE_SO3;
    ag_id up[3] = {ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)}, axis = ag_stack(g, 3, 1, up);
    ag_id column = rotation ? ag_mul(g, ag_transpose(g, c.q), axis) : c.q;
    for (int k = (rotation ? 3 : c.dim) - 1; k >= 0 && n < MAX_SHAPE / 2; k--) {
      ag_id x = ag_entry(g, column, k, 0);
      out[n++] = rotation ? (shape){x, -1, i, k} : (shape){x, p->q_at[i] + k, -1, 0};
      if (c.space == AG_SPACE_R && n_square < MAX_SHAPE) square[n_square++] = ag_mul(g, x, x);
    }
  }
  for (int i = n_square - 1; i > 0; i--)
    for (int j = i - 1; j >= 0 && n < MAX_SHAPE; j--) out[n++] = (shape){ag_add(g, square[j], square[i]), -1, -1, 0};
  return n;
}

/* Does the motion depend on r, and does r change? A coordinate that does not enter the motion is not a shape
 * variable. */
static bool moves(ag_conserving *v, const shape *s) {
  ag_id rate, unused;
  ag_geom_rate(v->x, s->r, &rate, &unused);
  return ag_probe_vanish(&v->probe, 1, &rate, false, NULL) == AG_TRUTH_NO;
}

void ag_conserve_shape(ag_conserving *v) {
  ag_id w[MAX_FUNCTION];
  shape at[MAX_SHAPE];
  ag_shape *out = &v->c->shape;
  const ag_probe *p = &v->probe;
  if (p->rank < 0 || v->x->n - p->rank > AG_MAX_TABLE || !v->acceleration || p->picks || !ag_conserve_autonomous(v))
    return;
  int n = 0, n_shape = shapes_of(v, at);
  for (int degree = 1; degree >= 0 && !n; degree--) n = ag_conserve_linear(v, degree, MAX_FUNCTION, w);
  for (int i = 0; i < n_shape && n && !out->n; i++) {
    if (moves(v, &at[i]) && try_shape(v, &at[i], n, w) && ag_table_open(v, out)) continue;
    out->n = out->n_new = 0;
  }
  if (!out->n) return;
  out->r_text = ag_conserve_print(v, out->r);
  for (int i = 0; i < out->n; i++) out->w_text[i] = ag_conserve_print(v, out->w[i]);
}
