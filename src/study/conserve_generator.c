/* SPDX-License-Identifier: MIT
 * Why a quantity J that is linear in the velocities is conserved. A field Z generates it if p.Z = J on the constraints:
 * at a configuration these are linear equations for the numbers of Z, one per velocity, and so are the questions
 * whether Z can be admissible (in D), free of work by the reaction (in R) or along the orbits of the symmetries. Since
 * dJ/dt = Z(L) + R.Z, a generator of what is conserved has Z(L) = 0 on the constraints exactly if it is in R. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

/* What is asked of Z. SLOPES: only the velocity-dependent part of p.Z = J. */
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

static bool exists(const place *a, int wanted) {
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

static void put_class(ag_conserving *v, ag_quantity *q, const place *a) {
  static const char *const words[3][2] = {
      {"generator in R only, not along the symmetries", "generator in D, not along the symmetries"},
      {"gauge momentum, generator in R only", "gauge momentum, generator in D"},
      {"momentum, generator in R only", "momentum, generator in D"}};
  q->generated = exists(a, 0);
  q->in_D = q->generated && exists(a, IN_D);
  q->in_R = q->in_D || (q->generated && exists(a, IN_R));
  q->along = exists(a, ALONG | (q->in_D ? IN_D : q->in_R ? IN_R : 0));
  q->weakly = exists(a, SLOPES | IN_D | ALONG);
  int kind = is_momentum(v, q->x) ? 2 : q->along;
  if (!q->generated) q->class = "not a momentum: no field generates it";
  else q->class = q->in_R ? words[kind][q->in_D] : "neither: its generator is not in R, and no gauge symmetry";
}

static void classify(ag_conserving *v, ag_quantity *q) {
  const ag_geom *x = v->x;
  ag_probe *p = &v->probe;
  ag_id outs[4 + AG_MAX_SYMMETRY];
  int n_out = 0, first, k = x->n - p->rank, n_orbit = v->c->n_symmetry > 0 ? v->c->n_symmetry : 0;
  place a = {.n = x->n, .n_velocity = 2 * (1 + k + k * (k + 1) / 2), .n_row = x->n_row};
  if (a.n_velocity <= x->n) a.n_velocity = x->n + 1;
  outs[n_out++] = ag_concat(x->g, x->n_coord, x->p);
  outs[n_out++] = q->x;
  if (x->n_row) outs[n_out++] = x->S;
  for (int i = 0; i < n_orbit; i++) outs[n_out++] = v->c->symmetries[i].Z;
  ag_program *program = ag_probe_program(p, n_out, outs);
  size_t size = (size_t)(2 * a.n_velocity + x->n_row + x->n + 1) * (size_t)x->n + (size_t)a.n_velocity;
  a.p = ag_heap_alloc(sizeof *a.p * size);
  a.react = a.p + a.n_velocity * x->n;
  a.S = a.react + a.n_velocity * x->n;
  a.along = a.S + x->n_row * x->n;
  a.J = a.along + x->n * x->n;
  int n_velocity = a.n_velocity;
  for (int i = 0; i < 40 && !q->class && !ag_program_opaque(program) && ag_probe_points(p, i, &first); i++) {
    a.n_velocity = n_velocity;
    if (evaluate(p, program, &p->points[first], &a, n_orbit)) put_class(v, q, &a); /* else a root is missing there */
  }
  free(a.p);
  ag_program_free(program);
}

void ag_conserve_classify(ag_conserving *v) {
  for (int i = 0; i < v->c->n && v->probe.rank >= 0; i++) {
    ag_quantity *q = &v->c->at[i];
    bool wanted = !strcmp(q->kind, "linear integral") || !strcmp(q->kind, "observable") ||
                  !strcmp(q->kind, "candidate");
    if (wanted && q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY && is_linear(v, q->x)) classify(v, q);
  }
}
