/* SPDX-License-Identifier: MIT
 * Function spaces of the searches: monomials of the coordinates that enter the motion, times velocities. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { FEW = 160 };

/* Degrees of the monomials before velocities and products of two, before those with a given one (-1: without), and
 * whether entries of rotations that do not enter the motion are used. */
typedef struct extent {
  int power, degree, given;
  bool turns;
} extent;

/* M, ell, S, s and kappa: they show whether a coordinate enters the motion. */
static ag_program *senses(const ag_probe *p) {
  const ag_geom *x = p->x;
  return ag_probe_program(p, x->n_row ? 5 : 2, (ag_id[]){x->M, x->ell, x->S, x->s, x->kappa});
}

/* Does the motion depend on number k of q? The numbers at a point, and at one that differs in this number. */
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

static bool add_atom(ag_atoms *a, ag_id x) {
  if (a->n == AG_MAX_ATOM) return false;
  a->x[a->n++] = x;
  return true;
}

void ag_conserve_dependent(const ag_probe *p, const ag_point *at, bool *dependent) {
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
static bool add_coord(ag_conserving *v, ag_atoms *a, const ag_point *at, const ag_program *program, int i,
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
    for (int k = 0; k < 9 && !felt && !free_ball && a->n_turn < AG_MAX_IDLE; k++)
      a->turn[a->n_turn++] = ag_entry(g, c.q, k / 3, k % 3);
    return good;
  }
  for (int k = 0; k < c.dim; k++) {
    ag_id x = ag_entry(g, c.q, k, 0);
    bool felt = feels(p, program, at, p->q_at[i] + k);
    if (felt && c.space == AG_SPACE_S1) {
      ag_id sine = ag_apply1(g, AG_OP_SIN, x);
      good = good && add_atom(a, ag_apply1(g, AG_OP_COS, x)) && add_atom(a, sine);
    } else if (felt) good = good && add_atom(a, x);
    else if (a->n_idle < AG_MAX_IDLE) a->idle[a->n_idle++] = x;
  }
  return good;
}

/* Do the constraints give these velocities with a constant denominator? */
static bool solved_plainly(ag_conserving *v, const bool *dependent) {
  const ag_geom *x = v->x;
  const ag_probe *p = &v->probe;
  int n = 0, *columns = ag_heap_alloc(sizeof *columns * (size_t)(x->n + 1));
  for (int j = 0; j < x->n; j++)
    if (dependent[j]) columns[n++] = j;
  bool plain = !n;
  if (n == p->rank && n) {
    ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(n * n)), rate, unused;
    for (int i = 0; i < n * n; i++) entries[i] = ag_entry(x->g, x->S, p->row[i / n], columns[i % n]);
    ag_geom_rate(x, ag_det(x->g, ag_stack(x->g, n, n, entries)), &rate, &unused);
    plain = ag_probe_vanish(&v->probe, 1, &rate, true, NULL) == AG_TRUTH_YES;
    free(entries);
  }
  free(columns);
  return plain;
}

/* False: too many, or there are no points. */
bool ag_conserve_atoms(ag_conserving *v, ag_atoms *a) {
  const ag_geom *x = v->x;
  ag_probe *p = &v->probe;
  int first;
  if (!ag_probe_points(p, 0, &first)) return false;
  const ag_point at = p->points[first];
  ag_program *program = senses(p);
  a->potential = ag_geom_at_rest(x, x->lagrangian);
  bool good = !ag_program_opaque(program), *dependent = ag_heap_alloc((size_t)x->n + 1), any_ball = false;
  ag_conserve_dependent(p, &at, dependent);
  bool plain = solved_plainly(v, dependent);
  for (int i = 0; i < x->n_coord && good; i++)
    any_ball = any_ball || (ag_model_coords(v->m)[i].space == AG_SPACE_SO3 && homogeneous(p, &at, i));
  for (int i = 0; i < x->n_coord && good; i++) {
    bool ball = ag_model_coords(v->m)[i].space == AG_SPACE_SO3 && homogeneous(p, &at, i);
    good = add_coord(v, a, &at, program, i, ball);
    ag_id column = ball ? ag_mul(x->g, x->q[i], x->xi[i]) : x->xi[i];
    for (int k = 0; k < ag_node_rows(x->g, x->xi[i]) && a->n_all < 3 * AG_MAX_ATOM; k++) {
      a->all[a->n_all++] = ag_entry(x->g, column, k, 0);
      if (any_ball || !dependent[x->at[i] + k]) a->velocity[a->n_velocity++] = a->all[a->n_all - 1];
      else if (!plain) a->given[a->n_given++] = a->all[a->n_all - 1];
    }
  }
  free(dependent);
  ag_program_free(program);
  return good;
}

int ag_conserve_monomials(ag_graph *g, int n, const ag_id *x, int degree, ag_id *out, int room) {
  int count = 0, from = 0;
  int *last = ag_heap_alloc(sizeof *last * (size_t)(room + 1)); /* its largest factor */
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
        out[count++] = ag_mul(g, out[i], x[k]);
      }
    from = to;
  }
  free(last);
  return count;
}

int ag_conserve_functions(ag_conserving *v, int degree, int room, ag_id *out) {
  ag_atoms a = {0};
  ag_id mono[AG_MAX_UNKNOWN];
  if (!ag_conserve_atoms(v, &a)) return 0;
  int n = ag_conserve_monomials(v->x->g, a.n, a.x, degree, mono, AG_MAX_UNKNOWN), kept = 0;
  for (int i = 1; i < n && kept < room; i++) out[kept++] = mono[i];
  return kept;
}

int ag_conserve_linear(ag_conserving *v, int degree, int room, ag_id *out) {
  ag_atoms a = {0};
  ag_id mono[AG_MAX_UNKNOWN];
  if (!ag_conserve_atoms(v, &a)) return 0;
  int n = ag_conserve_monomials(v->x->g, a.n, a.x, degree, mono, AG_MAX_UNKNOWN), kept = 0;
  if (n < 0 || n * (a.n_velocity + a.n_given) > room) return 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < a.n_velocity; j++) out[kept++] = ag_mul(v->x->g, mono[i], a.velocity[j]);
    for (int j = 0; j < a.n_given; j++) out[kept++] = ag_mul(v->x->g, mono[i], a.given[j]);
  }
  return kept;
}

static void push_products(ag_graph *g, int n, const ag_id *a, int m, const ag_id *b, ag_functions *s) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) ag_functions_push(s, ag_mul(g, a[i], b[j]));
}

/* Products of two velocities, of which at least one is given (or not). */
static int pairs_of(ag_graph *g, const ag_atoms *a, bool given, ag_id *out) {
  int n = 0;
  for (int j = 0; j < a->n_velocity && !given; j++)
    for (int l = j; l < a->n_velocity; l++) out[n++] = ag_mul(g, a->velocity[j], a->velocity[l]);
  for (int j = 0; j < a->n_given && given; j++) {
    for (int l = 0; l < a->n_velocity; l++) out[n++] = ag_mul(g, a->velocity[l], a->given[j]);
    for (int l = j; l < a->n_given; l++) out[n++] = ag_mul(g, a->given[j], a->given[l]);
  }
  return n;
}

/* Monomials times 1, velocities, and products of two velocities (power 2). False: too many. */
static bool fill(ag_graph *g, const ag_atoms *a, extent e, ag_functions *s) {
  ag_id mono[AG_MAX_UNKNOWN];
  int n = ag_conserve_monomials(g, a->n, a->x, e.degree, mono, AG_MAX_UNKNOWN), k = a->n_velocity, given = a->n_given;
  int n_given = e.given < 0 ? 0 : ag_conserve_monomials(g, a->n, a->x, e.given, mono, AG_MAX_UNKNOWN);
  int n_turn = e.turns ? a->n_turn : 0, loose = a->n_idle + n_turn, of_given = e.given < 0 ? 0 : given;
  int pairs = e.power > 1 ? k * (k + 1) / 2 : 0, more = e.power > 1 ? given * k + given * (given + 1) / 2 : 0;
  if (n < 0 || n_given < 0) return false;
  if (n * (1 + k + pairs) + n_given * (given + more) + a->n + 1 + loose * (1 + k + of_given) > AG_MAX_UNKNOWN)
    return false;
  n = ag_conserve_monomials(g, a->n, a->x, e.degree, mono, AG_MAX_UNKNOWN);
  ag_id *two = ag_heap_alloc(sizeof *two * (size_t)(pairs + more + 1));
  for (int i = 1; i < n; i++) ag_functions_push(s, mono[i]);
  for (int i = 0; i <= a->n && i < n; i++) ag_functions_push(s, ag_mul(g, mono[i], a->potential));
  for (int i = 0; i < a->n_idle; i++) ag_functions_push(s, a->idle[i]);
  push_products(g, n, mono, k, a->velocity, s);
  push_products(g, n_given, mono, given, a->given, s);
  push_products(g, a->n_idle, a->idle, k, a->velocity, s);
  push_products(g, a->n_idle, a->idle, of_given, a->given, s);
  push_products(g, n_turn, a->turn, k, a->velocity, s);
  push_products(g, n_turn, a->turn, of_given, a->given, s);
  if (e.power > 1) {
    int n_two = pairs_of(g, a, false, two);
    push_products(g, n, mono, n_two, two, s);
    n_two = pairs_of(g, a, true, two);
    push_products(g, n_given, mono, n_two, two, s);
  }
  free(two);
  return true;
}

/* The largest degree up to the wanted one whose functions are few enough, then the largest with which those of given
 * velocities fit in, too; -1: none. */
int ag_conserve_choose(ag_conserving *v, const ag_atoms *a, int degree, int power, ag_functions *s, int *of_given) {
  for (int d = degree < 0 ? 4 : degree; d >= 0; d--)
    for (int given = a->n_given ? d : -1; given >= -1; given--)
      for (int turns = a->n_turn > 0; turns >= 0; turns--) {
        s->n = s->n_known;
        *of_given = a->n_given ? given : d;
        if (fill(v->x->g, a, (extent){power, d, given, turns}, s)) return d;
      }
  s->n = s->n_known;
  return -1;
}

ag_id ag_conserve_as_combination(ag_conserving *v, ag_id x) {
  ag_atoms a = {0};
  ag_functions s = {0};
  ag_id out = 0;
  if (!ag_conserve_atoms(v, &a)) return 0;
  for (int d = 0; d <= 2 && !out; d++) {
    s.n = s.n_known = 0;
    ag_functions_push(&s, ag_num(v->x->g, 1));
    if (!fill(v->x->g, &a, (extent){2, d, a.n_given ? 0 : -1, false}, &s) || s.n > FEW) break;
    ag_functions_push(&s, x);
    ag_echelon e;
    if (ag_conserve_reduce(v, s.n, s.x, false, &e) && e.rank && e.pivots[e.rank - 1] < s.n - 1) {
      s.x[s.n - 1] = ag_num(v->x->g, 0);
      ag_id minus = ag_functions_combine(v->x->g, s.x, &e, s.n - 1);
      out = minus ? ag_neg(v->x->g, minus) : 0;
    }
    ag_echelon_done(&e);
  }
  free(s.x);
  return out;
}
