/* SPDX-License-Identifier: MIT
 * Roles: the named results of every tape cover it in order, and a worker computes what the tape alone does, bit for
 * bit. */
#include "mech/work_internal.h"
#include "tests/mech_models.h"

static void check_outputs(const ag_system *sys) {
  int end[AG_ROLE_COUNT] = {0};
  for (int i = 0; i < AG_OUTPUT_COUNT; i++) {
    ag_role role = ag_output_role((ag_output)i);
    ag_span at = ag_system_output(sys, (ag_output)i);
    if (!sys->tapes[role]) continue;
    AG_CHECK(at.at == end[role] && at.n >= 0);
    end[role] += at.n;
  }
  for (int i = 0; i < AG_ROLE_COUNT; i++)
    if (sys->tapes[i]) AG_CHECK(end[i] == sys->tapes[i]->n_out);
}

static void check_workers(bench_system *b) {
  ag_system *sys = b->sys;
  AG_CHECK(take_sample(b, 3));
  for (int i = 0; i < sys->n_tape; i++) {
    const ag_tape *tape = ag_system_role(sys, i);
    if (!tape) continue;
    double *one = room(tape->n_out), *two = room(tape->n_out);
    const double *state = ag_role_reduced(i) ? b->z : b->x;
    if (ag_role_lambda(sys, i)) AG_CHECK(ag_work_accel(b->w, b->t, b->x, NULL, b->x + sys->n.x) == AG_FINE);
    AG_CHECK(ag_work_role(b->w, i, b->t, state, b->basis, one) == AG_FINE);
    AG_CHECK(ag_tape_once(tape, b->t, state, sys->params, b->basis, two) == 0);
    AG_CHECK(!memcmp(one, two, sizeof *one * (size_t)tape->n_out));
    free(one), free(two);
  }
}

/* The parts of the saddle role belong together: S xi + s with xi' solves it. */
static void check_saddle(bench_system *b) {
  ag_system *sys = b->sys;
  int n = sys->n.xi, k = sys->n.lambda;
  if (!sys->tapes[AG_ROLE_SADDLE]) return;
  ag_saddle at = ag_saddle_at(b->w, b->t, b->x);
  double *a = room(n), *lambda = room(k);
  AG_CHECK(ag_work_accel(b->w, b->t, b->x, a, lambda) == AG_FINE);
  at = ag_saddle_at(b->w, b->t, b->x);
  for (int i = 0; i < n; i++) {
    double sum = at.ell[i];
    for (int j = 0; j < n; j++) sum += at.M[i * n + j] * a[j];
    for (int r = 0; r < k; r++) sum -= at.S[r * n + i] * lambda[r];
    AG_CHECK_NEAR(sum, 0, 1e-11);
  }
  for (int r = 0; r < k; r++) {
    double sum = at.kappa[r];
    for (int j = 0; j < n; j++) sum += at.S[r * n + j] * a[j];
    AG_CHECK_NEAR(sum, 0, 1e-11);
  }
  free(a), free(lambda);
}

static void check(bench_system *b) {
  check_outputs(b->sys);
  check_workers(b);
  check_saddle(b);
  (void)ag_system_jacobian(b->sys); /* made on demand, after the worker */
  (void)ag_system_turn_jacobian(b->sys);
  check_outputs(b->sys);
  check_workers(b);
}

int main(void) {
  for (int i = 0; i < AG_ROLE_COUNT; i++) {
    AG_CHECK(ag_role_name((ag_role)i)[0] && ag_role_what((ag_role)i)[0]);
    for (int k = 0; k < i; k++) AG_CHECK(strcmp(ag_role_name((ag_role)i), ag_role_name((ag_role)k)) != 0);
  }
  return each_case(check);
}
