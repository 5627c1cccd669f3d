/* SPDX-License-Identifier: MIT
 * Searches: all combinations with constant coefficients of given functions that are conserved. Rates and values of the
 * functions at random points of a prime field make two matrices. Functions that depend on others on the constraints are
 * left out first; the kernel of the rates of the rest is the answer, its numbers by rational reconstruction. What is
 * found is built as an expression and proved like any other quantity. There is no tolerance anywhere. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { MAX_UNKNOWN = 400, EXTRA = 12, MAX_ATOM = 12, ROOM = 16 };

/* Functions of the state, in the order in which they are preferred. */
typedef struct space {
  int n, cap;
  ag_id *x;
  int n_known; /* the first ones are known to be conserved */
} space;

static void push(space *s, ag_id x) {
  AG_PUSH(s->x, s->n, s->cap);
  s->x[s->n++] = x;
}

/* Rows: points of one prime, of each seed one, with signs in turn; columns: outputs. NULL: there are no points. (Two
 * points of a seed may give the same row.) */
static uint64_t *tabulate(ag_conserving *v, const ag_program *program, int n, int prime, int *n_row) {
  ag_probe *p = &v->probe;
  int n_want = n + EXTRA;
  uint64_t *A = ag_heap_alloc(sizeof *A * ((size_t)n * (size_t)n_want + 1)), below = ag_field_at(prime, 0).below;
  bool good = !ag_program_opaque(program);
  *n_row = 0;
  for (int k = 0, first; *n_row < n_want && good; k++) {
    int n_point = ag_probe_points(p, k, &first);
    good = n_point > 0 && k < 20 * n_want;
    if (!good || p->points[first].f.below != below) continue; /* the other prime */
    const ag_point *at = &p->points[first + k / 2 % n_point];
    ag_field f = at->f;
    if (ag_field_eval(program, &f, at->in, A + (size_t)*n_row * (size_t)n) == AG_FIELD_OK) ++*n_row;
  }
  if (good) return A;
  free(A);
  return NULL;
}

/* Keeps functions whose values are independent of those before and of 1. */
static bool independent(ag_conserving *v, space *s) {
  int n_row, n = s->n + 1, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(n + 1)), kept = 0, known = 0;
  ag_field f = ag_field_at(0, 0);
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)n);
  outs[0] = ag_num(v->x->g, 1);
  memcpy(outs + 1, s->x, sizeof *outs * (size_t)s->n);
  ag_program *program = ag_probe_program(&v->probe, n, outs);
  uint64_t *A = tabulate(v, program, n, 0, &n_row);
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

/* num/den as a node whose readers know it exactly. */
static ag_id fraction(ag_graph *g, int64_t num, int64_t den) {
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

/* The echelon form of the rates modulo each prime. */
typedef struct echelon {
  int n, rank;
  uint64_t *A[AG_FIELD_PRIMES];
  int *pivots;
} echelon;

/* Of a kernel vector (1 at column j, minus column j of the echelon form at the pivots) the expression; 0: a number is
 * no fraction of whole numbers below 2^58. */
static ag_id combine(const ag_conserving *v, const space *s, const echelon *e, int j) {
  ag_graph *g = v->x->g;
  ag_id sum = s->x[j];
  for (int r = 0; r < e->rank; r++) {
    int64_t num, den;
    size_t at = (size_t)r * (size_t)s->n + (size_t)j;
    if (!e->A[0][at] && !e->A[1][at]) continue;
    if (!ag_field_fraction_of_two(e->A[0][at], e->A[1][at], &num, &den)) return 0;
    ag_id part = ag_mul(g, fraction(g, num, den), s->x[e->pivots[r]]);
    sum = ag_sub(g, sum, part);
  }
  return sum;
}

/* False: there are no points, or the primes disagree. */
static bool reduce(ag_conserving *v, int n, const ag_id *rates, echelon *e) {
  ag_program *program = ag_probe_program(&v->probe, n, rates);
  int *pivots[2] = {ag_heap_alloc(sizeof(int) * (size_t)(n + 1)), ag_heap_alloc(sizeof(int) * (size_t)(n + 1))},
      rank[2] = {0};
  bool good = true;
  *e = (echelon){.n = n};
  for (int k = 0; k < AG_FIELD_PRIMES && good; k++) {
    int n_row;
    ag_field f = ag_field_at(k, 0);
    e->A[k] = tabulate(v, program, n, k, &n_row);
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

/* Finds them; found[] gets the new ones (at most room), the number of all (without constants) is returned; -1: not
 * possible. */
static int solve(ag_conserving *v, space *s, int room, ag_id *found, int *n_found) {
  *n_found = 0;
  if (!independent(v, s)) return -1;
  if (!s->n) return 0;
  ag_id *rates = ag_heap_alloc(sizeof *rates * (size_t)s->n);
  for (int i = 0; i < s->n; i++) {
    ag_id part[2];
    ag_geom_rate(v->x, s->x[i], &part[0], &part[1]);
    rates[i] = ag_add(v->x->g, part[0], part[1]);
  }
  echelon e;
  bool good = reduce(v, s->n, rates, &e);
  for (int j = 0, r = 0; j < s->n && good; j++) {
    if (r < e.rank && e.pivots[r] == j) {
      r++;
      continue;
    }
    if (j >= s->n_known && *n_found < room) found[(*n_found)++] = combine(v, s, &e, j);
  }
  for (int k = 0; k < AG_FIELD_PRIMES; k++) free(e.A[k]);
  free(e.pivots);
  free(rates);
  return good ? s->n - e.rank : -1;
}

static void report(ag_conserving *v, const char *kind, const char *word, int n, ag_id *found) {
  for (int i = 0; i < n; i++) {
    if (!found[i]) continue;
    ag_text name = {0};
    ag_text_printf(&name, "%s %d", word, i + 1);
    ag_quantity *q = ag_conserve_add(v, ag_text_cstr(&name), kind, found[i]);
    if (q->verdict != AG_CONSERVED_YES) { /* the fractions of its coefficients are longer */
      v->c->n--;
      found[i] = 0;
      ag_text_done(&name);
      continue;
    }
    q->formula = ag_conserve_print(v, found[i]);
    q->reason = "found by a search";
    ag_text_done(&name);
  }
}

/* ---- moving energies ---- */

/* E - sum c_k J_k with the momenta of the generators that leave the Lagrangian invariant. */
void ag_conserve_moving(ag_conserving *v) {
  space s = {0};
  ag_id found[8];
  int n_found, n = v->c->n;
  for (int i = 0; i < n; i++) {
    const ag_quantity *q = &v->c->at[i];
    if (!strcmp(q->kind, "momentum") && q->on_constraints && q->verdict == AG_CONSERVED_NO) push(&s, q->x);
  }
  if (v->c->at[0].verdict != AG_CONSERVED_NO || !s.n) {
    free(s.x);
    return;
  }
  push(&s, v->x->energy);
  if (solve(v, &s, 8, found, &n_found) > 0 && n_found && s.x[s.n - 1] == v->x->energy)
    report(v, "moving energy", "moving energy", 1, &found[n_found - 1]);
  free(s.x);
}

/* ---- function spaces ---- */

typedef struct atoms {
  int n;             /* of the configuration */
  ag_id x[MAX_ATOM]; /* coordinates, cosines and sines, R^T e3 */
  int n_idle;        /* coordinates that the motion does not feel: alone or times a velocity */
  ag_id idle[MAX_ATOM];
  int n_velocity;
  ag_id velocity[3 * MAX_ATOM];
} atoms;

/* M, ell, S, s and kappa: what shows whether the motion feels a coordinate. */
static ag_program *senses(const ag_probe *p) {
  const ag_geom *x = p->x;
  return ag_probe_program(p, x->n_row ? 5 : 2, (ag_id[]){x->M, x->ell, x->S, x->s, x->kappa});
}

/* Does it feel number k of q? The numbers at a point, and at one that differs in this number. */
static bool feels(const ag_probe *p, const ag_program *program, const ag_point *at, int k) {
  int n = ag_program_n_out(program), n_all = p->at[AG_PROBE_GROUPS];
  uint64_t *here = ag_heap_alloc(sizeof *here * (size_t)(2 * n + n_all + 1)), *there = here + n, *in = there + n;
  ag_field f = at->f;
  memcpy(in, at->in, sizeof *in * (size_t)n_all);
  bool same = ag_field_eval(program, &f, in, here) == AG_FIELD_OK;
  for (int try = 0; try < 40; try++) { /* the other may lie where a root is missing */
    ag_field other = at->f;
    in[p->at[AG_PROBE_Q] + k] = ag_field_draw(&f);
    if (ag_field_eval(program, &other, in, there) != AG_FIELD_OK) continue;
    same = same && !memcmp(here, there, sizeof *here * (size_t)n);
    break;
  }
  free(here);
  return !same;
}

/* R = A B or A^T B */
static void product(const ag_field *f, bool turned, const uint64_t *A, const uint64_t *B, int cols, uint64_t *C) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < cols; j++) {
      uint64_t sum = 0;
      for (int k = 0; k < 3; k++)
        sum = ag_field_add(f, sum, ag_field_mul(f, A[turned ? 3 * k + i : 3 * i + k], B[k * cols + j]));
      C[i * cols + j] = sum;
    }
}

/* Is the motion the same for R C and C^T Omega as for R and Omega, as that of a homogeneous ball is? Then only R Omega
 * counts. */
static bool homogeneous(const ag_probe *p, const ag_point *at, int coord) {
  int n_all = p->at[AG_PROBE_GROUPS], n = p->x->n;
  uint64_t *in = ag_heap_alloc(sizeof *in * (size_t)(n_all + 1)), C[9], turned[9];
  ag_field f = at->f;
  memcpy(in, at->in, sizeof *in * (size_t)n_all);
  ag_field_rotation(&f, C);
  uint64_t *R = in + p->at[AG_PROBE_Q] + p->q_at[coord], *xi = in + p->at[AG_PROBE_XI] + p->x->at[coord];
  product(&f, false, R, C, 3, turned);
  memcpy(R, turned, sizeof turned);
  product(&f, true, C, xi, 1, turned);
  memcpy(xi, turned, sizeof *xi * 3);
  bool same = ag_probe_settle(p, &f, in);
  uint64_t *acc = in + p->at[AG_PROBE_ACC], *old = at->in + p->at[AG_PROBE_ACC];
  product(&f, false, C, acc + p->x->at[coord], 1, turned);
  memcpy(acc + p->x->at[coord], turned, sizeof *acc * 3);
  same = same && !memcmp(acc, old, sizeof *acc * (size_t)n);
  free(in);
  return same;
}

static bool add_atom(atoms *a, ag_id x) {
  if (a->n == MAX_ATOM) return false;
  a->x[a->n++] = x;
  return true;
}

/* Velocities that the constraints do not give from the others, the first ones preferred. */
static void mark_dependent(const ag_probe *p, const ag_point *at, bool *dependent) {
  int n = p->x->n, m = p->x->n_row;
  if (!m) return;
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(m + 1));
  uint64_t *S = ag_heap_alloc(sizeof *S * (size_t)(m * n + m + 1)), *A = ag_heap_alloc(sizeof *A * (size_t)(m * n + 1));
  ag_field f = at->f;
  int rank = 0;
  if (ag_field_eval(p->kinematic, &f, at->in, S) == AG_FIELD_OK) {
    for (int i = 0; i < m * n; i++) A[i / n * n + (n - 1 - i % n)] = S[i];
    rank = ag_field_echelon(&f, m, n, A, pivots);
  }
  for (int r = 0; r < rank; r++) dependent[n - 1 - pivots[r]] = true;
  free(S);
  free(A);
  free(pivots);
}

/* The atoms of one coordinate; false: too many. */
static bool add_coord(ag_conserving *v, atoms *a, const ag_point *at, const ag_program *program, int i,
                      bool free_ball) {
  const ag_coord c = ag_model_coords(v->m)[i];
  ag_graph *g = v->x->g;
  ag_probe *p = &v->probe;
  bool good = true;
  if (c.space == AG_SPACE_SO3) {
    bool felt = false;
    for (int k = 0; k < 9; k++) felt = felt || feels(p, program, at, p->q_at[i] + k);
    ag_id up[3] = {ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)};
    ag_id axis = ag_stack(g, 3, 1, up), column = ag_mul(g, ag_transpose(g, c.q), axis);
    for (int k = 0; k < 3 && felt && !free_ball; k++) good = good && add_atom(a, ag_entry(g, column, k, 0));
    return good;
  }
  for (int k = 0; k < c.dim; k++) {
    ag_id x = ag_entry(g, c.q, k, 0);
    bool felt = feels(p, program, at, p->q_at[i] + k);
    if (felt && c.space == AG_SPACE_S1) {
      ag_id sine = ag_apply1(g, AG_OP_SIN, x);
      good = good && add_atom(a, ag_apply1(g, AG_OP_COS, x)) && add_atom(a, sine);
    } else if (felt) good = good && add_atom(a, x);
    else if (a->n_idle < MAX_ATOM) a->idle[a->n_idle++] = x;
  }
  return good;
}

/* False: too many, or there are no points. */
static bool find_atoms(ag_conserving *v, atoms *a) {
  const ag_geom *x = v->x;
  ag_probe *p = &v->probe;
  int first;
  if (!ag_probe_points(p, 0, &first)) return false;
  const ag_point at = p->points[first];
  ag_program *program = senses(p);
  bool good = !ag_program_opaque(program), *dependent = ag_heap_alloc((size_t)x->n + 1), any_ball = false;
  mark_dependent(p, &at, dependent);
  for (int i = 0; i < x->n_coord && good; i++)
    any_ball = any_ball || (ag_model_coords(v->m)[i].space == AG_SPACE_SO3 && homogeneous(p, &at, i));
  for (int i = 0; i < x->n_coord && good; i++) {
    bool ball = ag_model_coords(v->m)[i].space == AG_SPACE_SO3 && homogeneous(p, &at, i);
    good = add_coord(v, a, &at, program, i, ball);
    ag_id column = ball ? ag_mul(x->g, x->q[i], x->xi[i]) : x->xi[i];
    for (int k = 0; k < ag_node_rows(x->g, x->xi[i]); k++)
      if ((any_ball || !dependent[x->at[i] + k]) && a->n_velocity < 3 * MAX_ATOM)
        a->velocity[a->n_velocity++] = ag_entry(x->g, column, k, 0);
  }
  free(dependent);
  ag_program_free(program);
  return good;
}

/* All monomials of the first n atoms up to a degree, those of low degree first. */
static int monomials(ag_graph *g, const atoms *a, int n, int degree, ag_id *out, int room) {
  int count = 0, from = 0;
  int *last = ag_heap_alloc(sizeof *last * (size_t)(room + 1)); /* its largest atom */
  out[count++] = ag_num(g, 1);
  for (int d = 1; d <= degree; d++) {
    int to = count;
    for (int i = from; i < to; i++)
      for (int k = d == 1 ? 0 : last[i]; k < n; k++) {
        if (count == room) {
          free(last);
          return -1;
        }
        last[count] = k;
        out[count++] = ag_mul(g, out[i], a->x[k]);
      }
    from = to;
  }
  free(last);
  return count;
}

/* Monomials times 1, velocities, and products of two velocities (power 2). False: too many. */
static bool fill(ag_graph *g, const atoms *a, int degree, int power, space *s) {
  ag_id mono[MAX_UNKNOWN];
  int n = monomials(g, a, a->n, degree, mono, MAX_UNKNOWN), k = a->n_velocity;
  int pairs = power > 1 ? k * (k + 1) / 2 : 0;
  if (n < 0 || n * (1 + k + pairs) + a->n_idle * (1 + k) > MAX_UNKNOWN) return false;
  for (int i = 1; i < n; i++) push(s, mono[i]);
  for (int i = 0; i < a->n_idle; i++) push(s, a->idle[i]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k; j++) push(s, ag_mul(g, mono[i], a->velocity[j]));
  for (int i = 0; i < a->n_idle; i++)
    for (int j = 0; j < k; j++) push(s, ag_mul(g, a->idle[i], a->velocity[j]));
  for (int i = 0; i < n && power > 1; i++)
    for (int j = 0; j < k; j++)
      for (int l = j; l < k; l++) {
        ag_id two = ag_mul(g, a->velocity[j], a->velocity[l]);
        push(s, ag_mul(g, mono[i], two));
      }
  return true;
}

/* The largest degree up to the wanted one whose space is small enough; -1: none. */
static int choose(ag_conserving *v, const atoms *a, int degree, int power, space *s) {
  for (int d = degree < 0 ? 4 : degree; d >= 0; d--) {
    s->n = s->n_known;
    if (fill(v->x->g, a, d, power, s)) return d;
  }
  s->n = s->n_known;
  return -1;
}

/* ---- the leaf ---- */

/* The value of a function of the coordinates at the start. */
static double at_start(const ag_conserving *v, ag_id x) {
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

/* Relations between the coordinates, of degree 2 at most, that the constraints keep: holonomic in disguise. */
static void find_leaf(ag_conserving *v, const atoms *a) {
  space s = {0};
  ag_id mono[MAX_UNKNOWN], found[ROOM];
  int n = monomials(v->x->g, a, a->n, 2, mono, MAX_UNKNOWN), n_found = 0;
  for (int i = 1; i < n; i++) push(&s, mono[i]);
  for (int i = 0; i < a->n_idle; i++) push(&s, a->idle[i]);
  if (s.n && solve(v, &s, ROOM, found, &n_found) > 0) report(v, "relation", "relation", n_found, found);
  int n_good = 0;
  for (int i = 0; i < n_found; i++)
    if (found[i]) found[n_good++] = ag_sub(v->x->g, found[i], ag_num(v->x->g, at_start(v, found[i])));
  free(s.x);
  if (!n_good) return;
  ag_probe on_leaf; /* from here on points have these values */
  ag_geom_relate(v->x, n_good, found);
  ag_probe_init(&on_leaf, v->x, v->sys, NULL);
  int first;
  if (!ag_probe_points(&on_leaf, 0, &first)) {
    ag_probe_done(&on_leaf);
    return;
  }
  ag_probe_done(&v->probe);
  v->probe = on_leaf;
}

static int without_gaps(int n, ag_id *found) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (found[i]) found[kept++] = found[i];
  return kept;
}

/* First the leaf; then what is linear in the velocities, which is known to the search for quadratic ones. */
void ag_conserve_search(ag_conserving *v, int degree) {
  atoms a = {0};
  space linear = {0}, quadratic = {0};
  ag_id found[ROOM];
  int n_found = 0;
  ag_conservation *c = v->c;
  if (!find_atoms(v, &a)) return;
  find_leaf(v, &a);
  c->linear_degree = choose(v, &a, degree, 1, &linear);
  if (c->linear_degree >= 0) c->linear = solve(v, &linear, ROOM, found, &n_found);
  report(v, "linear integral", "linear", n_found, found);
  n_found = without_gaps(n_found, found);
  for (int i = 0; i < n_found; i++) push(&quadratic, found[i]);
  if (c->at[0].verdict == AG_CONSERVED_YES) push(&quadratic, v->x->energy);
  for (int i = 0; i < n_found; i++)
    for (int k = 0; k <= i; k++) push(&quadratic, ag_mul(v->x->g, found[i], found[k]));
  quadratic.n_known = quadratic.n;
  int n_linear = n_found;
  c->quadratic_degree = choose(v, &a, degree, 2, &quadratic);
  if (c->quadratic_degree >= 0) c->quadratic = solve(v, &quadratic, ROOM, found, &n_found);
  if (c->quadratic >= 0) {
    c->quadratic += 1 - n_linear; /* with the constant, without what is linear */
    report(v, "quadratic integral", "quadratic", n_found, found);
  }
  free(linear.x);
  free(quadratic.x);
}
