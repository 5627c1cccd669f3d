/* SPDX-License-Identifier: MIT
 * Events of forces of constraint, in lanes and alone. A bead slides from the top of a smooth ball of radius 1 in
 * gravity 1, with speed v: it leaves where its height is (2 + v^2)/3. The force is solved for, so that the event is
 * found by an interpolant of its own; it is then located to rounding by real steps. */
#include "run/run.h"

#include "tests/check.h"
#include "tests/crowd.h"

static ag_model *bead(void) {
  ag_model *m = ag_model_create("bead");
  ag_graph *g = m->graph;
  int p = ag_model_add_coord(m, "p", NULL, NULL, NULL, 0, AG_SPACE_R, 2, nowhere);
  ag_id q = m->coords[p].q, v = m->coords[p].xi, half = ag_num(g, 0.5);
  ag_id kinetic = ag_mul(g, half, ag_dot(g, v, v)), height = ag_entry(g, q, 1, 0);
  m->lagrangian = ag_sub(g, kinetic, height);
  ag_model_add_holonomic(m, ag_sub(g, ag_dot(g, q, q), ag_num(g, 1)), NULL, nowhere);
  ag_id press = ag_dot(g, ag_model_reaction(m, p), q);
  AG_MODEL_PUSH(m, events, ((ag_event){.name = "lift", .x = press, .direction = -1, .terminal = true, .pos = nowhere}));
  AG_MODEL_PUSH(m, events, ((ag_event){.name = "half", .x = ag_sub(g, height, half), .pos = nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, p, 1, -1, ag_num(g, 1), nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, p, 0, -1, half, nowhere}));
  return m;
}

static double speed(long i) { return 0.1 + 0.8 * (double)i / N; }

int main(void) {
  crowd c;
  crowd_of(&c, bead(), N);
  int n_x = ag_system_dims(c.sys)->x;
  for (long i = 0; i < N; i++) c.x0[i * n_x + 2] = speed(i);
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.events = true;
  ag_tape *watch = ag_run_watch(c.sys, &o.run);
  ag_batch_result all = run_batch(&c, &o);
  AG_CHECK(all.lanes > 0);
  for (long i = 0; i < N; i++) {
    ag_ctx ctx = {0};
    ag_run_result one;
    ag_run_options run = o.run;
    run.watch = watch, run.every = -1;
    AG_CHECK(ag_run(&ctx, c.sys, c.params + i, c.x0 + i * n_x, &run, NULL, &one) == AG_OK);
    AG_CHECK(one.end == AG_END_EVENT && one.end_event == 0 && one.fitted[0] && !one.fitted[1]);
    AG_CHECK(all.members[i].end == one.end && all.members[i].t == one.t && all.members[i].steps == one.steps);
    AG_CHECK(!memcmp(all.x + i * n_x, one.x, sizeof(double) * (size_t)n_x));
    /* rtol 1e-10 over some ten steps; the motion leaves the top like exp(t), t < 4 */
    AG_CHECK_NEAR(one.x[1], (2 + speed(i) * speed(i)) / 3, 1e-8);
    ag_run_done(&one);
    ag_ctx_done(&ctx);
  }
  ag_batch_done(&all);
  ag_tape_free(watch);
  crowd_done(&c);
  return ag_check_report();
}
