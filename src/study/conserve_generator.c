/* SPDX-License-Identifier: MIT
 * Why a quantity J that is linear in the velocities is conserved. A field Z generates it if p.Z = J on the constraints:
 * at a configuration these are linear equations for the numbers of Z, one per velocity, and so are the questions
 * whether Z can be admissible (in D), free of work by the reaction (in R) or along the orbits of the symmetries. Since
 * dJ/dt = Z(L) + R.Z, a generator of what is conserved has Z(L) = 0 on the constraints exactly if it is in R. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

/* Conditions on Z. SLOPES: only the velocity-dependent part of p.Z = J. */
enum { IN_D = 1, IN_R = 2, ALONG = 4, SLOPES = 8 };

/* One configuration: numbers at n_velocity velocities. */
typedef struct place {
  ag_field f;
  int n, n_velocity, n_row, n_along;
  uint64_t *p, *J, *react; /* per velocity */
  uint64_t *S, *along;     /* rows; covectors that vanish on the orbits */
} place;

static bool evaluate(const ag_probe *p, const ag_program *program, const ag_point *at, place *a, int n_orbit) {
  int n = a->n, n_all = p->at[AG_PROBE_GROUPS], n_out = ag_program_n_out(program);
  uint64_t *in = ag_heap_alloc(sizeof *in * (size_t)(n_all + n_out + 1)), *out = in + n_all;
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(n_orbit + n + 1)), good = 0;
  memcpy(in, at->in, sizeof *in * (size_t)n_all);
  a->f = at->f;
  for (int i = 0; i < a->n_velocity; i++) {
    ag_field f = at->f; /* the roots of the configuration */
    if (!ag_probe_velocity(p, &a->f, in, true) || ag_field_eval(program, &f, in, out) != AG_FIELD_OK) continue;
    memcpy(a->p + good * n, out, sizeof *out * (size_t)n);
    memcpy(a->react + good * n, in + p->at[AG_PROBE_REACT], sizeof *out * (size_t)n);
    a->J[good++] = out[n];
    memcpy(a->S, out + n + 1, sizeof *out * (size_t)(a->n_row * n));
  }
  a->n_velocity = good;
  uint64_t *Y = out + n + 1 + a->n_row * n;
  int rank = good ? ag_field_echelon(&a->f, n_orbit, n, Y, pivots) : 0;
  ag_conserve_kernel(&a->f, n, rank, Y, pivots, a->along);
  a->n_along = n - rank;
  free(in);
  free(pivots);
  return good > a->n;
}

/* Appends n_row equations row.Z = right. */
static void equate(int n, int n_row, const uint64_t *rows, const uint64_t *right, uint64_t *A, int *count) {
  for (int i = 0; i < n_row; i++, ++*count) {
    memcpy(A + *count * (n + 1), rows + i * n, sizeof *A * (size_t)n);
    A[*count * (n + 1) + n] = right ? right[i] : 0;
  }
}

/* Is there such a Z? Its numbers go to Z, those that are left free being 0; NULL: not wanted. */
static bool exists(const place *a, int wanted, uint64_t *Z) {
  int n = a->n, wide = n + 1, count = 0, most = 2 * a->n_velocity + a->n_row + a->n_along;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(most * wide + 1));
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(wide + 1));
  equate(n, a->n_velocity, a->p, a->J, A, &count);
  for (int i = count - 1; i >= 0 && wanted & SLOPES; i--)
    for (int j = 0; j < wide; j++) A[i * wide + j] = ag_field_sub(&a->f, A[i * wide + j], A[j]);
  if (wanted & IN_D) equate(n, a->n_row, a->S, NULL, A, &count);
  if (wanted & IN_R) equate(n, a->n_velocity, a->react, NULL, A, &count);
  if (wanted & ALONG) equate(n, a->n_along, a->along, NULL, A, &count);
  int rank = ag_field_echelon(&a->f, count, wide, A, pivots);
  bool good = !rank || pivots[rank - 1] < n;
  if (Z) memset(Z, 0, sizeof *Z * (size_t)n);
  for (int r = 0; r < rank && good && Z; r++) Z[pivots[r]] = A[r * wide + n];
  free(A);
  free(pivots);
  return good;
}

/* d^2 J/d xi^2 = 0 */
static bool is_linear(ag_conserving *v, ag_id J) {
  const ag_geom *x = v->x;
  ag_id *slope = AG_NEWN(x->arena, ag_id, x->n_coord + 1), one = ag_num(x->g, 1);
  ag_reverse(x->g, 1, &J, &one, x->n_coord, x->xi, slope);
  ag_id column = ag_concat(x->g, x->n_coord, slope), second = ag_jacobian(x->g, column, x->n_coord, x->xi);
  bool any = ag_probe_vanish(&v->probe, 1, &column, true, NULL) != AG_TRUTH_YES;
  return any && ag_probe_vanish(&v->probe, 1, &second, true, NULL) == AG_TRUTH_YES;
}

/* Is it the momentum of a symmetry, up to a constant? */
static bool is_momentum(ag_conserving *v, ag_id J) {
  const ag_conservation *c = v->c;
  ag_id x[AG_MAX_SYMMETRY + 2];
  int n = 0;
  x[n++] = ag_num(v->x->g, 1);
  for (int i = 0; i < c->n_symmetry; i++) x[n++] = ag_geom_momentum(v->x, ag_conserve_split(v->x, c->symmetries[i].Z));
  x[n++] = J;
  ag_echelon e;
  bool good = ag_conserve_reduce(v, n, x, false, &e) && e.rank && e.pivots[e.rank - 1] < n - 1;
  ag_echelon_done(&e);
  return good;
}

/* The smaller of D and R that holds a generator. */
static int narrowest(const ag_quantity *q) { return q->in_D ? IN_D : q->in_R ? IN_R : 0; }

static void put_class(ag_conserving *v, ag_quantity *q, const place *a) {
  static const char *const words[3][2] = {
      {"generator in R only, not along the symmetries", "generator in D, not along the symmetries"},
      {"gauge momentum, generator in R only", "gauge momentum, generator in D"},
      {"momentum, generator in R only", "momentum, generator in D"}};
  q->generated = exists(a, 0, NULL);
  q->in_D = q->generated && exists(a, IN_D, NULL);
  q->in_R = q->in_D || (q->generated && exists(a, IN_R, NULL));
  q->along = exists(a, ALONG | narrowest(q), NULL);
  q->weakly = exists(a, SLOPES | IN_D | ALONG, NULL);
  int kind = is_momentum(v, q->x) ? 2 : q->along;
  if (!q->generated) q->class = "not a momentum: no field generates it";
  else q->class = q->in_R ? words[kind][q->in_D] : "neither: its generator is not in R, and no gauge symmetry";
}

/* ---- a generator, as a field ---- */

/* A condition that is evaluated at many configurations. */
typedef struct inquiry {
  ag_conserving *v;
  ag_program *program; /* p, J, S, the symmetries */
  place a;
  int n_orbit, n_velocity;
} inquiry;

static void inquiry_init(inquiry *s, ag_conserving *v, ag_id J) {
  const ag_geom *x = v->x;
  ag_id outs[4 + AG_MAX_SYMMETRY];
  int n_out = 0, k = x->n - v->probe.rank;
  *s = (inquiry){.v = v, .n_orbit = v->c->n_symmetry > 0 ? v->c->n_symmetry : 0};
  s->n_velocity = x->n_row ? 2 * (1 + k + k * (k + 1) / 2) : 0; /* without reactions p.Z = J needs n + 1 */
  if (s->n_velocity <= x->n) s->n_velocity = x->n + 1;
  outs[n_out++] = ag_concat(x->g, x->n_coord, x->p);
  outs[n_out++] = J;
  if (x->n_row) outs[n_out++] = x->S;
  for (int i = 0; i < s->n_orbit; i++) outs[n_out++] = v->c->symmetries[i].Z;
  s->program = ag_probe_program(&v->probe, n_out, outs);
  place *a = &s->a;
  *a = (place){.n = x->n, .n_row = x->n_row};
  size_t size = (size_t)(2 * s->n_velocity + x->n_row + x->n + 1) * (size_t)x->n + (size_t)s->n_velocity;
  a->p = ag_heap_alloc(sizeof *a->p * size);
  a->react = a->p + s->n_velocity * x->n;
  a->S = a->react + s->n_velocity * x->n;
  a->along = a->S + x->n_row * x->n;
  a->J = a->along + x->n * x->n;
}

static void inquiry_done(inquiry *s) {
  free(s->a.p);
  ag_program_free(s->program);
}

/* Moves to the configuration of a point; false: a root is missing there. */
static bool visit(inquiry *s, const ag_point *at) {
  s->a.n_velocity = s->n_velocity;
  return evaluate(&s->v->probe, s->program, at, &s->a, s->n_orbit);
}

/* Z at a point, the part of a rotation by its components in space. */
static bool field_at(inquiry *s, const ag_point *at, int wanted, uint64_t *Z) {
  const ag_geom *x = s->v->x;
  const ag_probe *p = &s->v->probe;
  if (!visit(s, at) || !exists(&s->a, wanted, Z)) return false;
  for (int i = 0; i < x->n_coord; i++) {
    const uint64_t *R = at->in + p->at[AG_PROBE_Q] + p->q_at[i];
    uint64_t turned[3] = {0};
    if (ag_model_coords(x->model)[i].space != AG_SPACE_SO3) continue;
    for (int k = 0; k < 9; k++)
      turned[k / 3] = ag_field_add(&at->f, turned[k / 3], ag_field_mul(&at->f, R[k], Z[x->at[i] + k % 3]));
    memcpy(Z + x->at[i], turned, sizeof turned);
  }
  return true;
}

enum { MONOMIALS = 60, ATOMS = 12, EXTRA = 8, DEGREE = 2, MAX_VELOCITY = 60 };

/* Rows [monomials | components of Z] at points of one prime; NULL: there are not enough. */
static uint64_t *tabulate(inquiry *s, int wanted, const ag_program *mono, int prime, int n_want) {
  ag_probe *p = &s->v->probe;
  int n = s->v->x->n, m = ag_program_n_out(mono), wide = m + n, count = 0;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(n_want * wide + 1)), below = ag_field_at(prime, 0).below;
  for (int k = 0; k < 8 * n_want && count < n_want; k++) {
    const ag_point *single = ag_probe_single(p, k);
    if (!single) break;
    const ag_point at = *single;
    ag_field f = at.f;
    uint64_t *row = A + count * wide;
    if (f.below != below || ag_field_eval(mono, &f, at.in, row) != AG_FIELD_OK) continue;
    count += field_at(s, &at, wanted, row + m);
  }
  if (count == n_want) return A;
  free(A);
  return NULL;
}

/* Component j as a polynomial; 0: it is none. */
static ag_id component(inquiry *s, int m, const ag_id *mono, uint64_t *const *A, int n_row, int j) {
  ag_graph *g = s->v->x->g;
  int wide = m + s->v->x->n, rank[2];
  ag_echelon e = {.n = m + 1};
  int *pivots[2] = {ag_heap_alloc(sizeof(int) * (size_t)(m + 2)), ag_heap_alloc(sizeof(int) * (size_t)(m + 2))};
  for (int k = 0; k < AG_FIELD_PRIMES; k++) {
    ag_field f = ag_field_at(k, 0);
    uint64_t *B = e.A[k] = ag_heap_alloc(sizeof *B * (size_t)(n_row * (m + 1) + 1));
    for (int i = 0; i < n_row; i++) {
      memcpy(B + i * (m + 1), A[k] + i * wide, sizeof *B * (size_t)m);
      B[i * (m + 1) + m] = A[k][i * wide + m + j];
    }
    rank[k] = ag_field_echelon(&f, n_row, m + 1, B, pivots[k]);
  }
  bool good = rank[0] == rank[1] && rank[0] && !memcmp(pivots[0], pivots[1], sizeof(int) * (size_t)rank[0]);
  good = good && pivots[0][rank[0] - 1] < m;
  ag_id sum = ag_num(g, 0);
  for (int r = 0; r < rank[0] && good; r++) {
    int64_t num, den;
    good = ag_echelon_fraction(&e, r, m, &num, &den);
    if (!good || !num) continue;
    ag_id part = ag_mul(g, ag_conserve_fraction(g, num, den), mono[pivots[0][r]]);
    sum = ag_add(g, sum, part);
  }
  e.pivots = pivots[0];
  free(pivots[1]);
  ag_echelon_done(&e);
  return good ? sum : 0;
}

/* Coordinates, cosines, sines and R^T e3 that enter the motion, then the other coordinates. */
static int atoms_of(ag_conserving *v, ag_id *atom) {
  const ag_geom *x = v->x;
  int n = ag_conserve_functions(v, 1, ATOMS, atom);
  for (int i = 0; i < x->n_coord; i++) {
    const ag_coord *c = &ag_model_coords(x->model)[i];
    for (int k = 0; k < c->dim && n < ATOMS && c->space != AG_SPACE_SO3 && c->space != AG_SPACE_S1; k++) {
      atom[n] = ag_entry(x->g, c->q, k, 0);
      bool there = false;
      for (int l = 0; l < n; l++) there = there || atom[l] == atom[n];
      n += !there;
    }
  }
  return n;
}

/* A generator whose components, of rotations those in space, are polynomials of low degree; 0: none. */
static ag_id fitted(inquiry *s, int wanted) {
  ag_conserving *v = s->v;
  const ag_geom *x = v->x;
  ag_id atom[ATOMS], mono[MONOMIALS];
  int n_atom = atoms_of(v, atom), m = -1;
  for (int degree = DEGREE; degree >= 0 && m < 0; degree--)
    m = ag_conserve_monomials(x->g, n_atom, atom, degree, mono, MONOMIALS);
  ag_program *program = ag_probe_program(&v->probe, m, mono);
  uint64_t *A[AG_FIELD_PRIMES] = {NULL};
  int n_row = m + EXTRA;
  for (int k = 0; k < AG_FIELD_PRIMES && (!k || A[k - 1]); k++) A[k] = tabulate(s, wanted, program, k, n_row);
  ag_id *Z = AG_NEWN(x->arena, ag_id, x->n + 1);
  bool good = A[AG_FIELD_PRIMES - 1] != NULL;
  for (int j = 0; j < x->n && good; j++) good = (Z[j] = component(s, m, mono, A, n_row, j)) != 0;
  for (int k = 0; k < AG_FIELD_PRIMES; k++) free(A[k]);
  ag_program_free(program);
  if (!good) return 0;
  ag_id *parts = ag_conserve_split(x, ag_stack(x->g, x->n, 1, Z));
  for (int i = 0; i < x->n_coord; i++)
    if (ag_model_coords(x->model)[i].space == AG_SPACE_SO3)
      parts[i] = ag_mul(x->g, ag_transpose(x->g, x->q[i]), parts[i]);
  return ag_concat(x->g, x->n_coord, parts);
}

static bool vanishes(ag_conserving *v, ag_id x) {
  return ag_probe_vanish(&v->probe, 1, &x, false, NULL) == AG_TRUTH_YES;
}

/* p.Z = J on the constraints, and Z is in D, or R.Z = 0, if q has such a generator. */
static bool generates(ag_conserving *v, const ag_quantity *q, ag_id Z) {
  const ag_geom *x = v->x;
  ag_id *parts = ag_conserve_split(x, Z);
  if (!vanishes(v, ag_sub(x->g, ag_geom_momentum(x, parts), q->x))) return false;
  if (!x->n_row || !q->in_R) return true;
  return vanishes(v, q->in_D ? ag_geom_across(x, parts) : ag_geom_reaction(x, parts));
}

/* The generator in D, which is unique, or M^-1 dJ/dxi, or one whose components are polynomials. */
static void find_field(inquiry *s, ag_quantity *q) {
  ag_conserving *v = s->v;
  const ag_geom *x = v->x;
  ag_id *slope = AG_NEWN(x->arena, ag_id, x->n_coord + 1), one = ag_num(x->g, 1);
  ag_reverse(x->g, 1, &q->x, &one, x->n_coord, x->xi, slope);
  ag_id a = ag_concat(x->g, x->n_coord, slope);
  ag_id Z = q->in_D ? ag_geom_admissible(x, v->probe.rank, v->probe.row, a) : ag_solve(x->g, x->M, a, AG_SOLVE_GENERAL);
  if (generates(v, q, Z)) q->field = ag_conserve_print_field(v, ag_conserve_plain_field(v, Z));
  if (q->field || s->n_velocity > MAX_VELOCITY) return;
  Z = fitted(s, narrowest(q) | (q->along ? ALONG : 0));
  if (Z && generates(v, q, Z)) q->field = ag_conserve_print_field(v, Z);
}

/* At one seed, on every branch of the equations, which must agree; false: a root is missing there. */
static bool class_at(inquiry *s, ag_quantity *q, int seed) {
  ag_probe *p = &s->v->probe;
  int first, n_point = ag_probe_points(p, seed, &first);
  const ag_quantity before = *q;
  for (int i = 0; i < (p->chooses ? n_point : n_point > 0); i++) {
    ag_quantity here = before;
    if (!visit(s, &p->points[first + i])) return false;
    put_class(s->v, &here, &s->a);
    if (i && (here.class != q->class || here.weakly != q->weakly)) {
      *q = before;
      return true;
    }
    *q = here;
  }
  return true;
}

static void classify(ag_conserving *v, ag_quantity *q) {
  inquiry s;
  bool known = false;
  inquiry_init(&s, v, q->x);
  for (int i = 0, first; i < 40 && !known && !ag_program_opaque(s.program) && ag_probe_points(&v->probe, i, &first);
       i++)
    known = class_at(&s, q, i);
  if (q->class && q->generated) find_field(&s, q);
  inquiry_done(&s);
}

void ag_conserve_classify(ag_conserving *v) {
  for (int i = 0; i < v->c->n && v->probe.rank >= 0; i++) {
    ag_quantity *q = &v->c->at[i];
    bool wanted = !strcmp(q->kind, "linear integral") || !strcmp(q->kind, "observable") ||
                  !strcmp(q->kind, "candidate");
    if (!wanted || q->verdict != AG_CONSERVED_YES || q->proof != AG_PROOF_IDENTITY || !is_linear(v, q->x)) continue;
    if (vanishes(v, q->x)) q->reason = "it vanishes on the constraints";
    else classify(v, q);
  }
}
