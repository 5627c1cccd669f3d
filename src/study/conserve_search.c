/* SPDX-License-Identifier: MIT
 * What is searched for: moving energies, relations, and integrals that are linear or quadratic in the velocities. What
 * is found is built as an expression and proved like any other quantity. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { MAX_UNKNOWN = 400, MAX_ATOM = 12, MAX_IDLE = 36, ROOM = 16, N_POWER = 4, WITH_FACTOR = 2 };

static void report(ag_conserving *v, const char *kind, const char *word, int before, int n, ag_id *found) {
  for (int i = 0; i < n; i++) {
    if (!found[i]) continue;
    ag_text name = {0};
    ag_text_printf(&name, "%s %d", word, before + i + 1);
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

ag_id ag_conserve_moving_energy(const ag_conserving *v) {
  for (int i = 0; i < v->c->n; i++)
    if (!strcmp(v->c->at[i].kind, "moving energy")) return v->c->at[i].x;
  return 0;
}

/* E - sum c_k J_k with the momenta of the generators that leave the Lagrangian invariant. */
void ag_conserve_moving(ag_conserving *v) {
  ag_functions s = {0};
  ag_id found[8];
  int n_found, n = v->c->n;
  for (int i = 0; i < n; i++) {
    const ag_quantity *q = &v->c->at[i];
    if (!strcmp(q->kind, "momentum") && q->on_constraints && q->verdict == AG_CONSERVED_NO) ag_functions_push(&s, q->x);
  }
  if (v->c->at[0].verdict != AG_CONSERVED_NO || !s.n) {
    free(s.x);
    return;
  }
  ag_functions_push(&s, v->x->energy);
  if (ag_functions_solve(v, &s, 0, 8, found, &n_found) > 0 && n_found && s.x[s.n - 1] == v->x->energy)
    report(v, "moving energy", "moving energy", 0, 1, &found[n_found - 1]);
  free(s.x);
}

/* ---- function spaces ---- */

typedef struct atoms {
  int n;             /* of the configuration */
  ag_id x[MAX_ATOM]; /* coordinates, cosines and sines, R^T e3 */
  int n_idle;        /* coordinates that the motion does not feel: alone or times a velocity */
  ag_id idle[MAX_IDLE];
  int n_turn; /* entries of rotations that it does not feel: the same */
  ag_id turn[MAX_IDLE];
  ag_id potential; /* times 1 and the first powers: 1/r and x/r of Kepler's problem */
  int n_velocity, n_given, n_all;
  ag_id velocity[3 * MAX_ATOM], all[3 * MAX_ATOM]; /* without those that the constraints give; with them */
  ag_id given[3 * MAX_ATOM]; /* those, where they are no polynomials in the others: x' = y' tan(h) */
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
    for (int k = 0; k < 9 && !felt && !free_ball && a->n_turn < MAX_IDLE; k++)
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
    else if (a->n_idle < MAX_IDLE) a->idle[a->n_idle++] = x;
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
static bool find_atoms(ag_conserving *v, atoms *a) {
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
    for (int k = 0; k < ag_node_rows(x->g, x->xi[i]) && a->n_all < 3 * MAX_ATOM; k++) {
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
  atoms a = {0};
  ag_id mono[MAX_UNKNOWN];
  if (!find_atoms(v, &a)) return 0;
  int n = ag_conserve_monomials(v->x->g, a.n, a.x, degree, mono, MAX_UNKNOWN), kept = 0;
  for (int i = 1; i < n && kept < room; i++) out[kept++] = mono[i];
  return kept;
}

int ag_conserve_linear(ag_conserving *v, int degree, int room, ag_id *out) {
  atoms a = {0};
  ag_id mono[MAX_UNKNOWN];
  if (!find_atoms(v, &a)) return 0;
  int n = ag_conserve_monomials(v->x->g, a.n, a.x, degree, mono, MAX_UNKNOWN), kept = 0;
  if (n < 0 || n * (a.n_velocity + a.n_given) > room) return 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < a.n_velocity; j++) out[kept++] = ag_mul(v->x->g, mono[i], a.velocity[j]);
    for (int j = 0; j < a.n_given; j++) out[kept++] = ag_mul(v->x->g, mono[i], a.given[j]);
  }
  return kept;
}

/* Degrees of the monomials before velocities and products of two, before those with a given one (-1: without), and
 * whether entries of rotations that are not felt take part. */
typedef struct extent {
  int power, degree, given;
  bool turns;
} extent;

static void push_products(ag_graph *g, int n, const ag_id *a, int m, const ag_id *b, ag_functions *s) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) ag_functions_push(s, ag_mul(g, a[i], b[j]));
}

/* Products of two velocities, of which at least one is given (or not). */
static int pairs_of(ag_graph *g, const atoms *a, bool given, ag_id *out) {
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
static bool fill(ag_graph *g, const atoms *a, extent e, ag_functions *s) {
  ag_id mono[MAX_UNKNOWN];
  int n = ag_conserve_monomials(g, a->n, a->x, e.degree, mono, MAX_UNKNOWN), k = a->n_velocity, given = a->n_given;
  int n_given = e.given < 0 ? 0 : ag_conserve_monomials(g, a->n, a->x, e.given, mono, MAX_UNKNOWN);
  int n_turn = e.turns ? a->n_turn : 0, loose = a->n_idle + n_turn, of_given = e.given < 0 ? 0 : given;
  int pairs = e.power > 1 ? k * (k + 1) / 2 : 0, more = e.power > 1 ? given * k + given * (given + 1) / 2 : 0;
  if (n < 0 || n_given < 0) return false;
  if (n * (1 + k + pairs) + n_given * (given + more) + a->n + 1 + loose * (1 + k + of_given) > MAX_UNKNOWN)
    return false;
  n = ag_conserve_monomials(g, a->n, a->x, e.degree, mono, MAX_UNKNOWN);
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
static int choose(ag_conserving *v, const atoms *a, int degree, int power, ag_functions *s, int *of_given) {
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

/* ---- the leaf ---- */

/* Leaves out relations that follow from others: z^2 beside z. */
static int without_dependent(ag_conserving *v, int n, ag_id *found) {
  const ag_geom *x = v->x;
  ag_id slope[ROOM];
  int kept = 0;
  for (int i = 0; i < n; i++) {
    if (!found[i]) continue;
    ag_id column = ag_transpose(x->g, ag_jacobian(x->g, found[i], x->n_coord, x->q));
    if (ag_conserve_spans(v, kept, slope, column)) continue;
    slope[kept] = column;
    found[kept++] = found[i];
  }
  return kept;
}

/* Relations between the coordinates, of degree 2 at most, that the constraints keep: holonomic in disguise. */
void ag_conserve_leaf(ag_conserving *v) {
  atoms found_atoms = {0}, *a = &found_atoms;
  ag_functions s = {0};
  if (!find_atoms(v, a)) return;
  ag_id mono[MAX_UNKNOWN], found[ROOM];
  int n = ag_conserve_monomials(v->x->g, a->n, a->x, 2, mono, MAX_UNKNOWN), n_found = 0;
  for (int i = 1; i < n; i++) ag_functions_push(&s, mono[i]);
  for (int i = 0; i < a->n_idle; i++) ag_functions_push(&s, a->idle[i]);
  for (int i = 0; i < v->x->n_coord; i++) /* th = a p1 - a p2, of wheels that turn a cart; a copy is thinned out */
    if (ag_model_coords(v->m)[i].space == AG_SPACE_S1) ag_functions_push(&s, v->x->q[i]);
  if (s.n && ag_functions_solve(v, &s, 0, ROOM, found, &n_found) > 0) {
    n_found = without_dependent(v, n_found, found);
    report(v, "relation", "relation", 0, n_found, found);
  }
  int n_good = 0;
  for (int i = 0; i < n_found; i++)
    if (found[i]) found[n_good++] = ag_sub(v->x->g, found[i], ag_num(v->x->g, ag_conserve_at_start(v, found[i])));
  free(s.x);
  if (!n_good) return;
  ag_probe on_leaf; /* from here on points have these values */
  ag_geom_relate(v->x, n_good, found);
  ag_probe_init(&on_leaf, v->x, v->sys, NULL, v->flint);
  int first;
  if (!ag_probe_points(&on_leaf, 0, &first)) {
    ag_probe_done(&on_leaf);
    return;
  }
  ag_probe_done(&v->probe);
  ag_conserve_forget(v);
  v->probe = on_leaf;
}

static int without_gaps(int n, ag_id *found) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (found[i]) found[kept++] = found[i];
  return kept;
}

/* Of the integrals a.u phi^c with a known phi^c, those that are no functions of what is known. */
static void keep_twisted(ag_conserving *v, ag_id factor, double c, int n, const ag_id *found, ag_functions *kept) {
  ag_graph *g = v->x->g;
  for (int k = 0; k < n; k++) {
    if (!found[k]) continue;
    ag_id x = ag_mul(g, found[k], ag_pow(g, factor, ag_num(g, c)));
    if (!ag_depends(g, 1, &x, v->x->n_coord, v->x->xi)) continue; /* a relation: y/x on a line through 0 */
    if (ag_conserve_independent(v, AG_FOUND, x) <= ag_conserve_independent(v, AG_FOUND, 0)) continue;
    report(v, "linear integral", "linear", (v->c->linear > 0 ? v->c->linear : 0) + kept->n, 1, &x);
    if (x) ag_functions_push(kept, x);
  }
}

/* Integrals that are linear in the velocities, times a power of a factor phi of the density of the measure or of a
 * determinant: a.u phi^c is conserved if (a.u)' + c phi'/phi a.u = 0. */
static void search_twisted(ag_conserving *v, const atoms *a, int degree, ag_functions *kept) {
  static const double powers[N_POWER] = {0.5, -0.5, 1, -1};
  ag_graph *g = v->x->g;
  ag_functions s = {0};
  int of_given;
  if (v->n_factor && choose(v, a, degree < 0 ? WITH_FACTOR : degree, 1, &s, &of_given) >= 0 && ag_functions_thin(v, &s))
    for (int i = 0; i < v->n_factor * N_POWER; i++) {
      ag_id found[ROOM], rate, unused, factor = v->factor[i / N_POWER];
      int n_found = 0;
      ag_geom_rate(v->x, factor, &rate, &unused);
      ag_id slope = ag_div(g, rate, factor), twist = ag_mul(g, ag_num(g, powers[i % N_POWER]), slope);
      (void)ag_functions_solve(v, &s, twist, ROOM, found, &n_found);
      keep_twisted(v, factor, powers[i % N_POWER], n_found, found, kept);
    }
  free(s.x);
}

/* E - <p, Z> with the components of M Z in the function space; n integrals linear in the velocities are known. */
static void search_moving(ag_conserving *v, const atoms *a, int degree, int n, const ag_id *known) {
  ag_functions s = {0};
  ag_id mono[MAX_UNKNOWN], found[ROOM];
  int n_mono = -1, n_found = 0;
  if (v->c->at[0].verdict != AG_CONSERVED_NO || ag_conserve_moving_energy(v)) return;
  for (int d = degree < 0 ? 4 : degree; d >= 0 && (n_mono < 0 || n_mono * a->n_all >= MAX_UNKNOWN); d--)
    n_mono = ag_conserve_monomials(v->x->g, a->n, a->x, d, mono, MAX_UNKNOWN);
  for (int i = 0; i < n; i++) ag_functions_push(&s, known[i]);
  s.n_known = n;
  for (int i = 0; i < n_mono; i++)
    for (int j = 0; j < a->n_all; j++) ag_functions_push(&s, ag_mul(v->x->g, mono[i], a->all[j]));
  ag_functions_push(&s, v->x->energy);
  if (ag_functions_solve(v, &s, 0, ROOM, found, &n_found) > 0 && n_found && s.x[s.n - 1] == v->x->energy &&
      n_found < ROOM)
    report(v, "moving energy", "moving energy", 0, 1, &found[n_found - 1]);
  free(s.x);
}

/* Conserved combinations of the momenta of the symmetries, which need not be in the function space: x'/y^2. n linear
 * integrals are known. */
static int search_momenta(ag_conserving *v, int n, const ag_id *known) {
  ag_functions s = {0};
  ag_id found[ROOM];
  int n_found = 0, before = v->c->n;
  for (int i = 0; i < n; i++) ag_functions_push(&s, known[i]);
  s.n_known = n;
  for (int i = 0; i < v->c->n_symmetry; i++)
    ag_functions_push(&s, ag_geom_momentum(v->x, ag_conserve_split(v->x, v->c->symmetries[i].Z)));
  if (s.n > n) (void)ag_functions_solve(v, &s, 0, ROOM, found, &n_found);
  report(v, "linear integral", "linear", n, n_found, found);
  free(s.x);
  return v->c->n - before;
}

/* First what is linear in the velocities, which is known to the search for quadratic ones. */
void ag_conserve_search(ag_conserving *v, int degree) {
  atoms a = {0};
  ag_functions linear = {0}, quadratic = {0}, twisted = {0};
  ag_id found[ROOM], known[ROOM];
  int n_found = 0;
  ag_conservation *c = v->c;
  bool good = find_atoms(v, &a);
  if (good) c->linear_degree = choose(v, &a, degree, 1, &linear, &c->linear_given);
  if (c->linear_degree >= 0) c->linear = ag_functions_solve(v, &linear, 0, ROOM, found, &n_found);
  report(v, "linear integral", "linear", 0, n_found, found);
  int n_linear = n_found = without_gaps(n_found, found);
  memcpy(known, found, sizeof found);
  for (int i = 0; i < n_found; i++) ag_functions_push(&quadratic, found[i]);
  if (good) search_moving(v, &a, degree, n_linear, found);
  ag_id energy = c->at[0].verdict == AG_CONSERVED_YES ? v->x->energy : ag_conserve_moving_energy(v);
  if (energy) ag_functions_push(&quadratic, energy);
  for (int i = 0; i < n_found; i++)
    for (int k = 0; k <= i; k++) ag_functions_push(&quadratic, ag_mul(v->x->g, found[i], found[k]));
  ag_conserve_measure(v);
  if (good) ag_conserve_factors(v);
  if (good) search_twisted(v, &a, degree, &twisted);
  c->twisted = twisted.n;
  for (int i = 0; i < twisted.n; i++) ag_functions_push(&quadratic, ag_mul(v->x->g, twisted.x[i], twisted.x[i]));
  quadratic.n_known = quadratic.n;
  if (good) c->quadratic_degree = choose(v, &a, degree, 2, &quadratic, &c->quadratic_given);
  if (c->quadratic_degree >= 0) c->quadratic = ag_functions_solve(v, &quadratic, 0, ROOM, found, &n_found);
  if (c->quadratic >= 0) {
    c->quadratic += 1 - n_linear; /* with the constant, without what is linear */
    report(v, "quadratic integral", "quadratic", 0, n_found, found);
  }
  for (int i = 0; i < twisted.n && n_linear < ROOM; i++) known[n_linear++] = twisted.x[i];
  c->of_symmetries = good ? search_momenta(v, n_linear, known) : 0;
  free(linear.x), free(quadratic.x), free(twisted.x);
}
