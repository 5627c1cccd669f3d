/* SPDX-License-Identifier: MIT
 * Inputs of tapes: the quantities of the layout, read through a tape, are the numbers of the state and the parameters;
 * parameters follow those that they are made of. */
#include "math/lie.h"
#include "tests/mech_models.h"

/* The rows of a kind as outputs of a full tape, against the array they are stored in. */
static void check_kind(bench_system *b, ag_layout_kind kind, const double *stored) {
  int n;
  const ag_layout_row *rows = ag_layout_rows(b->sys, kind, &n);
  for (int i = 0; i < n; i++) {
    double out[16], matrix[9];
    const double *want = stored + rows[i].at;
    ag_tape *tape = ag_full_tape(b->sys, 1, &rows[i].x);
    ag_tape_once(tape, b->t, b->x, b->sys->params, NULL, out);
    if (rows[i].n == 4 && rows[i].cols == 3) ag_lie_quat_matrix(want, matrix), want = matrix;
    for (int k = 0; k < rows[i].rows * rows[i].cols; k++) AG_CHECK_NEAR(out[k], want[k], 1e-15);
    ag_tape_free(tape);
  }
}

static void check(bench_system *b) {
  AG_CHECK(take_sample(b, 2));
  check_kind(b, AG_LAYOUT_COORDINATE, b->x);
  check_kind(b, AG_LAYOUT_VELOCITY, b->x);
  check_kind(b, AG_LAYOUT_PARAMETER, b->sys->params);
}

/* b = 2 a, c = b + t-independent: changing a changes all, changing b leaves a. */
static void check_following(void) {
  ag_model *m = blade();
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_system *sys;
  ag_id a = ag_model_add_param(m, "a", ag_num(g, 3), nowhere), two = ag_num(g, 2);
  ag_id b = ag_model_add_param(m, "b", ag_mul(g, two, a), nowhere);
  ag_model_add_param(m, "c", ag_add(g, a, b), nowhere);
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  double p[3];
  int which[] = {0, 1};
  ag_id values[] = {ag_num(g, 10), ag_num(g, 1)};
  AG_CHECK(sys->params[0] == 3 && sys->params[1] == 6 && sys->params[2] == 9);
  AG_CHECK(ag_system_params(&ctx, sys, 1, which, values, p) == AG_OK && p[0] == 10 && p[1] == 20 && p[2] == 30);
  AG_CHECK(ag_system_params(&ctx, sys, 1, which + 1, values + 1, p) == AG_OK && p[0] == 3 && p[1] == 1 && p[2] == 4);
  values[0] = ag_div(g, ag_num(g, 1), ag_num(g, 0));
  AG_CHECK(ag_system_params(&ctx, sys, 1, which, values, p) == AG_WRONG && ctx.n_error == 1);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check_following();
  return each_case(check);
}
