/* SPDX-License-Identifier: MIT
 * Expressions on the reduced state are what they are on the full one; what reads the rest says so, forces cannot be
 * had. Tolerance: rounding of energies of size 10. With a basis, velocities as numbers of their own: the same functions
 * of them, and rates that are those of difference quotients. */
#include "tests/mech_models.h"

static double value(const ag_tape *tape, bench_system *b, const double *state) {
  double out;
  ag_tape_once(tape, b->t, state, b->sys->params, NULL, &out);
  return out;
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  if (sys->n.c || b->c->saddle) return; /* without basis data */
  for (int i = -1; i < sys->n.xi; i++) {
    bool rest, lambda;
    ag_id x = sys->energy;
    for (int k = 0, at = 0; k < sys->model->n_coords; at += sys->coords[k++].n_tangent)
      if (i >= at && i < at + sys->coords[k].n_tangent) x = ag_entry(b->m->graph, b->m->coords[k].xi, i - at, 0);
    ag_tape *reduced = ag_system_reduced_tape(sys, 1, &x, &rest), *full = ag_system_tape(sys, 1, &x, &lambda);
    AG_CHECK(reduced && full && !lambda);
    for (unsigned seed = 1; seed <= 5 && reduced; seed++) {
      AG_CHECK(take_sample(b, seed));
      AG_CHECK_NEAR(value(reduced, b, b->z), value(full, b, b->x), 1e-13);
      for (int k = sys->n.core; k < sys->n.z && !rest; k++) b->z[k] = NAN;
      AG_CHECK(isfinite(value(reduced, b, b->z)));
    }
    ag_tape_free(reduced);
    ag_tape_free(full);
  }
}

/* Of the top: R^T e3 is known to the core, another entry of R is not; the reaction of the coin is a force. */
static void check_kinds(void) {
  bench_system b;
  bool rest;
  bench_init(&b, &(mech_case){.make = top});
  ag_tape *up = ag_system_reduced_tape(b.sys, 1, &b.m->observables[0].x, &rest);
  AG_CHECK(up && !rest);
  ag_tape *other = ag_system_reduced_tape(b.sys, 1, &b.m->observables[1].x, &rest);
  AG_CHECK(other && rest);
  ag_tape_free(up);
  ag_tape_free(other);
  bench_done(&b);
  bench_init(&b, &(mech_case){.make = plain_coin});
  ag_id force = ag_model_reaction(b.m, 0);
  AG_CHECK(ag_system_reduced_tape(b.sys, 1, &force, &rest) == NULL);
  bench_done(&b);
}

static void evaluate(const ag_tape *tape, bench_system *b, double t, const double *z, const double *dz, double *out) {
  double *slots = room(tape->n_slot);
  const double *seg[AG_SEG_COUNT] = {
      [AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = b->sys->params, [AG_SEG_C] = b->basis, [AG_SEG_W] = dz};
  AG_CHECK(ag_tape_prep(tape, b->sys->params, slots) == 0 && ag_tape_eval(tape, seg, slots, out) == 0);
  free(slots);
}

/* At the sample: values of all functions both ways, and e' against (e(t + d) - e(t - d)) / (2 d), z moving by d z'.
 * With d = 1e-5 that is good to 1e-10 times the third rate, and 1e-11 of rounding. */
static void check_extra(bench_system *b, const ag_tape *tape) {
  enum { MOST = 64 };
  const double d = 1e-5;
  int n = b->sys->n.z, n_e = tape->extra->n_out / 2;
  double *z = room(n + n_e), *dz = room(n), *move = room(n), e[2 * MOST], before[2 * MOST], after[2 * MOST];
  double direct[MOST], by_e[MOST];
  AG_CHECK(n_e <= MOST && tape->n_out <= MOST && ag_work_rhs(b->w, b->t, b->z, b->basis, dz) == AG_FINE);
  evaluate(tape->extra, b, b->t, b->z, dz, e);
  memcpy(z, b->z, sizeof *z * (size_t)n);
  memcpy(z + n, e, sizeof *z * (size_t)n_e);
  evaluate(tape, b, b->t, z, NULL, direct);
  evaluate(tape->look, b, b->t, z, NULL, by_e);
  for (int i = 0; i < tape->n_out; i++) AG_CHECK_NEAR(by_e[i], direct[i], 1e-13 * (1 + fabs(direct[i])));
  for (int i = 0; i < n; i++) move[i] = b->z[i] - d * dz[i];
  evaluate(tape->extra, b, b->t - d, move, dz, before);
  for (int i = 0; i < n; i++) move[i] = b->z[i] + d * dz[i];
  evaluate(tape->extra, b, b->t + d, move, dz, after);
  for (int j = 0; j < n_e; j++) {
    double size = 1 + fabs(e[n_e + j]);
    AG_CHECK_NEAR(e[n_e + j], (after[j] - before[j]) / (2 * d), 1e-6 * size * size * size);
  }
  free(z), free(dz), free(move);
}

/* Squares of all velocities. */
static int n_look;
static void check_look(bench_system *b) {
  ag_system *sys = b->sys;
  ag_graph *g = b->m->graph;
  bool rest;
  if (sys->elimination != AG_ELIM_BASIS || b->c->saddle) return;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(b->m->n_coords + 1));
  for (int i = 0; i < b->m->n_coords; i++) x[i] = ag_dot(g, b->m->coords[i].xi, b->m->coords[i].xi);
  ag_tape *tape = ag_system_reduced_tape(sys, b->m->n_coords, x, &rest);
  ag_system_look_tapes(sys, b->m->n_coords, x, NULL, tape);
  AG_CHECK(!tape->look == !tape->extra);
  n_look += tape->look != NULL;
  for (unsigned seed = 1; seed <= 5 && tape->look; seed++) {
    AG_CHECK(take_sample(b, seed));
    check_extra(b, tape);
  }
  ag_tape_free(tape);
  free(x);
}

int main(void) {
  check_kinds();
  (void)each_case(check_look);
  AG_CHECK(n_look >= 3);
  return each_case(check);
}
