/* SPDX-License-Identifier: MIT
 * Processes: their place in the state, their rates, their start, and that equations of motion move with them. */
#include "tests/noise_models.h"

int main(void) {
  bench_system b;
  bench_init(&b, &(mech_case){.make = volatile_force});
  ag_system *sys = b.sys;
  const ag_dims *n = &sys->n;
  ag_id input, rates[1];
  AG_CHECK(n->process == 1 && n->x == 3 && sys->processes[0].at == 1);
  AG_CHECK(ag_process_inputs(b.m, &input) == 1 && input == b.m->processes[0].x);
  AG_CHECK(ag_process_in(b.m, 1, &b.m->lagrangian) && !ag_process_in(b.m, 1, &b.m->coords[0].q));
  double start[3];
  ag_system_state0(sys, start);
  AG_CHECK(start[1] == 0.5);

  b.x[0] = 0.4, b.x[1] = 2, b.x[2] = 1.5; /* x, N, x' */
  double out[2], dx[3], step[2] = {0.1, 0.3};
  AG_CHECK(ag_work_role(b.w, AG_ROLE_PROCESS, 0, b.x, NULL, out) == AG_FINE);
  AG_CHECK_NEAR(out[0], 1 - 2 * 2 + 1.5, 1e-15); /* drift */
  AG_CHECK_NEAR(out[1], 0.3 * 2, 1e-15);         /* amplitude */
  ag_work_step(b.w, step);
  AG_CHECK(ag_work_increment_full(b.w, 0, b.x, dx) == AG_FINE);
  AG_CHECK_NEAR(dx[0], 0.1 * 1.5, 1e-15);
  AG_CHECK_NEAR(dx[2], 0.1 * -2 + 0.3 * 0.1, 1e-15); /* x'' = -N, and the same W pushes */
  AG_CHECK_NEAR(dx[1], 0.1 * -1.5 + 0.3 * 0.6, 1e-15);

  ag_id velocity = ag_num(b.m->graph, 7); /* at a velocity given */
  AG_CHECK(ag_process_rates(sys, -1, &velocity, rates) == 1);
  double N = 2, value;
  AG_CHECK(ag_evaluate(b.m->graph, 1, &input, &N, 1, rates, &value) == 0);
  AG_CHECK_NEAR(value, 1 - 2 * 2 + 7, 1e-15);
  bench_done(&b);
  return ag_check_report();
}
