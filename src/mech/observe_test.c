/* SPDX-License-Identifier: MIT
 * Names that observables may use: energy, reactions, multipliers, drives, frame velocities are what the worker
 * computes; events and sections are functions of the same state. */
#include "tests/mech_models.h"

static void observe(ag_model *m, const char *name, ag_id x) {
  AG_MODEL_PUSH(m, observables, ((ag_item){name, NULL, x, nowhere}));
}

/* The pendulum: multiplier of the circle, drive of s, reaction on r, energy; an event and a section. */
static void check_forces(bool saddle) {
  ag_model *m = pendulum();
  ag_graph *g = m->graph;
  ag_ctx ctx = {0};
  ag_system *sys;
  observe(m, "energy", ag_model_energy(m));
  observe(m, "hold", ag_model_holonomic_multiplier(m, 0));
  observe(m, "drive", ag_model_drive(m, "s"));
  observe(m, "reaction", ag_model_reaction(m, 0));
  AG_MODEL_PUSH(m, events, ((ag_event){.name = "slack", .x = m->observables[1].x}));
  AG_MODEL_PUSH(m, sections, ((ag_event){.name = "left", .x = ag_entry(g, m->coords[0].q, 0, 0)}));
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){.saddle = saddle}, &sys) == AG_OK);
  ag_work *w = ag_work_create(sys, sys->params);
  AG_CHECK(sys->n.observe == 5 && ag_role_lambda(sys, AG_ROLE_OBSERVE) && ag_role_lambda(sys, AG_ROLE_EVENTS));
  AG_CHECK(!ag_role_lambda(sys, AG_ROLE_SECTION) && ag_role_lambda(sys, AG_ROLE_SECTION + 0) == false);
  for (unsigned seed = 1; seed <= 5; seed++) {
    double x[8], v[5], lambda[2], reaction[3], t, event, section;
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
    AG_CHECK(ag_work_observe(w, t, x, v) == AG_FINE && ag_work_events(w, t, x, &event) == AG_FINE);
    AG_CHECK(ag_work_section(w, 0, t, x, &section) == AG_FINE && section == x[0]);
    AG_CHECK(ag_work_accel(w, t, x, NULL, lambda) == AG_FINE && ag_work_reaction(w, t, x, reaction) == AG_FINE);
    AG_CHECK_NEAR(v[0], ag_work_energy(w, t, x, NULL), 1e-15);
    AG_CHECK_NEAR(v[1], lambda[0], 1e-14);
    AG_CHECK_NEAR(v[2], lambda[1], 1e-14);
    for (int k = 0; k < 2; k++) AG_CHECK_NEAR(v[3 + k], reaction[k], 1e-13);
    AG_CHECK_NEAR(v[3], 2 * x[0] * lambda[0], 1e-13); /* S = 2 r^T */
    AG_CHECK(event == v[1]);
  }
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* The frame of the coin: the inputs that stand for its velocities are phi' and phi' + psi'. */
static void check_frame(void) {
  ag_model *m = framed_coin();
  ag_ctx ctx = {0};
  ag_system *sys;
  for (int i = 0; i < 2; i++) observe(m, i ? "b" : "a", m->frame_inputs[i]);
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_work *w = ag_work_create(sys, sys->params);
  for (unsigned seed = 1; seed <= 5; seed++) {
    double x[8], v[2], t;
    AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK && ag_work_observe(w, t, x, v) == AG_FINE);
    AG_CHECK(v[0] == x[6]);
    AG_CHECK_NEAR(v[1], x[6] + x[7], 1e-15);
  }
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  check_forces(false);
  check_forces(true);
  check_frame();
  return ag_check_report();
}
