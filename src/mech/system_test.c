/* SPDX-License-Identifier: MIT
 * What can be wrong with a system, each with its message; and t0. */
#include "tests/mech_models.h"

/* -log x at x = 0. */
static ag_model *infinite(void) {
  ag_model *m = ag_model_create("infinite");
  int x = scalar(m, "x", AG_SPACE_R);
  m->lagrangian = ag_sub(m->graph, unit_kinetic(m), ag_apply1(m->graph, AG_OP_LOG, m->coords[x].q));
  return m;
}

static ag_model *margin(void) {
  ag_model *m = blade();
  AG_MODEL_PUSH(m, margins,
                ((ag_item){"gap", "is not open", ag_sub(m->graph, m->coords[0].q, ag_num(m->graph, 1)), nowhere}));
  return m;
}

/* x = y is no consequence of the blade. */
static ag_model *relation(void) {
  ag_model *m = blade();
  AG_MODEL_PUSH(m, touches, ((ag_item){NULL, NULL, ag_sub(m->graph, m->coords[0].q, m->coords[1].q), nowhere}));
  return m;
}

static ag_model *frame(void) {
  ag_model *m = plain_coin();
  ag_model_add_frame(m, "u", m->coords[1].xi, nowhere);
  return m;
}

static const struct {
  ag_model *(*make)(void);
  const char *said;
} wrong[] = {
    {infinite, "the energy has no finite value at the start"},
    {margin, "at the start `gap` is not open"},
    {relation, "the constraints do not preserve this relation"},
    {frame, "the frame names 1 velocity, but there are 2 degrees of freedom"},
};

int main(void) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    ag_ctx ctx = {0};
    ag_text text = {0};
    ag_system *sys;
    ag_model *m = wrong[i].make();
    AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_WRONG && !sys && ctx.n_error == 1);
    ag_ctx_render(&ctx, &text);
    AG_CHECK(strstr(ag_text_cstr(&text), wrong[i].said) != NULL);
    if (!strstr(ag_text_cstr(&text), wrong[i].said)) fprintf(stderr, "%s", ag_text_cstr(&text));
    ag_text_done(&text);
    ag_ctx_done(&ctx);
    ag_model_free(m);
  }
  ag_ctx ctx = {0};
  ag_system *sys;
  ag_model *m = pendulum();
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){.t0 = 0.5}, &sys) == AG_OK && ag_system_t0(sys) == 0.5);
  AG_CHECK_NEAR(sys->q0[2], sin(0.5), 1e-14); /* s is prescribed */
  AG_CHECK_NEAR(sys->xi0[2], cos(0.5), 1e-14);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
  return ag_check_report();
}
