/* SPDX-License-Identifier: MIT
 * What is searched for: moving energies, relations, and integrals that are linear or quadratic in the velocities. What
 * is found is built as an expression and proved like any other quantity. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { ROOM = 16, N_POWER = 4, WITH_FACTOR = 2 };

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
  ag_atoms found_atoms = {0}, *a = &found_atoms;
  ag_functions s = {0};
  if (!ag_conserve_atoms(v, a)) return;
  ag_id mono[AG_MAX_UNKNOWN], found[ROOM];
  int n = ag_conserve_monomials(v->x->g, a->n, a->x, 2, mono, AG_MAX_UNKNOWN), n_found = 0;
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
  const ag_geom before = *v->x;
  ag_probe on_leaf; /* from here on points have these values */
  ag_geom_relate(v->x, n_good, found);
  ag_probe_init(&on_leaf, v->x, v->sys, NULL, v->flint);
  int first;
  if (!ag_probe_points(&on_leaf, 0, &first)) {
    ag_probe_done(&on_leaf);
    *v->x = before; /* as the points that are there see it */
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

/* Of the integrals a.u phi^c with a known phi^c, those that are not functions of known ones. */
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
static void search_twisted(ag_conserving *v, const ag_atoms *a, int degree, ag_functions *kept) {
  static const double powers[N_POWER] = {0.5, -0.5, 1, -1};
  ag_graph *g = v->x->g;
  ag_functions s = {0};
  int of_given;
  if (v->n_factor && ag_conserve_choose(v, a, degree < 0 ? WITH_FACTOR : degree, 1, &s, &of_given) >= 0 &&
      ag_functions_thin(v, &s))
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
static void search_moving(ag_conserving *v, const ag_atoms *a, int degree, int n, const ag_id *known) {
  ag_functions s = {0};
  ag_id mono[AG_MAX_UNKNOWN], found[ROOM];
  int n_mono = -1, n_found = 0;
  if (v->c->at[0].verdict != AG_CONSERVED_NO || ag_conserve_moving_energy(v)) return;
  for (int d = degree < 0 ? 4 : degree; d >= 0 && (n_mono < 0 || n_mono * a->n_all >= AG_MAX_UNKNOWN); d--)
    n_mono = ag_conserve_monomials(v->x->g, a->n, a->x, d, mono, AG_MAX_UNKNOWN);
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

/* First integrals linear in the velocities, which the search for quadratic ones then excludes. */
void ag_conserve_search(ag_conserving *v, int degree) {
  ag_atoms a = {0};
  ag_functions linear = {0}, quadratic = {0}, twisted = {0};
  ag_id found[ROOM], known[ROOM];
  int n_found = 0;
  ag_conservation *c = v->c;
  bool good = ag_conserve_atoms(v, &a);
  if (good) c->linear_degree = ag_conserve_choose(v, &a, degree, 1, &linear, &c->linear_given);
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
  if (good) c->quadratic_degree = ag_conserve_choose(v, &a, degree, 2, &quadratic, &c->quadratic_given);
  if (c->quadratic_degree >= 0) c->quadratic = ag_functions_solve(v, &quadratic, 0, ROOM, found, &n_found);
  if (c->quadratic >= 0) {
    c->quadratic += 1 - n_linear; /* with the constant, without linear ones */
    report(v, "quadratic integral", "quadratic", 0, n_found, found);
  }
  for (int i = 0; i < twisted.n && n_linear < ROOM; i++) known[n_linear++] = twisted.x[i];
  c->of_symmetries = good ? search_momenta(v, n_linear, known) : 0;
  free(linear.x), free(quadratic.x), free(twisted.x);
}
