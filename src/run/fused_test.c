/* SPDX-License-Identifier: MIT
 * The compiled step-size control uses the values of its method: the memory of the last error, and powers that follow
 * from it and the order. The stages leave out what the right-hand side does not read. */
#include "run/fused.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static void check_method(const ag_stepper *method) {
  ag_graph *g = ag_graph_create();
  ag_id z = ag_input(g, "z", 1, 1, AG_LEAF_REAL), rate = ag_neg(g, z);
  ag_bind bind = {z, AG_SEG_Z, 0};
  ag_tape *tape = ag_tape_create(g, 1, &bind, 1, &rate);
  ag_fused_spec spec = {.tape = tape, .name = "decay", .n = 1, .n_norm = 1, .method = method, .march = true};
  ag_text text = {0};
  ag_control control;
  ag_control_init(&control, method, 1e-10, 1e-12);
  ag_fused_text(&spec, &text);
  const char *s = ag_text_cstr(&text), *beta = strstr(s, "#define AG_CONTROL_BETA "),
             *q = strstr(s, "#define AG_CONTROL_Q ");
  AG_CHECK(beta && strtod(beta + strlen("#define AG_CONTROL_BETA "), NULL) == control.beta);
  AG_CHECK(q && strtod(q + strlen("#define AG_CONTROL_Q "), NULL) == method->error_order + 1);
  AG_CHECK(strstr(s, ag_control_text) != NULL);
  ag_text_done(&text);
  ag_tape_free(tape);
  ag_graph_free(g);
}

/* Of z' = (-z0, z0, z2 z0) component 1 is read by nothing. */
static void check_quadrature(void) {
  ag_graph *g = ag_graph_create();
  ag_id z = ag_input(g, "z", 3, 1, AG_LEAF_REAL), z0 = ag_entry(g, z, 0, 0),
        rates[] = {ag_neg(g, z0), z0, ag_mul(g, ag_entry(g, z, 2, 0), z0)};
  ag_bind bind = {z, AG_SEG_Z, 0};
  ag_tape *tape = ag_tape_create(g, 1, &bind, 3, rates), *less = ag_tape_create(g, 1, &bind, 1, rates);
  ag_fused_spec spec = {.tape = tape, .name = "decay", .n = 3, .n_norm = 1, .method = ag_stepper_find("dop853")};
  ag_text text = {0};
  ag_fused_text(&spec, &text);
  AG_CHECK(strstr(ag_text_cstr(&text), "#define AG_STEP_READ(X, ...) X(0, 1, __VA_ARGS__) X(2, 3, __VA_ARGS__)\n"));
  ag_text_clear(&text);
  spec.tape = less, spec.n = 1;
  ag_fused_text(&spec, &text);
  AG_CHECK(!strstr(ag_text_cstr(&text), "#define AG_STEP_READ(X, ...) X(0, 1, __VA"));
  ag_text_done(&text);
  ag_tape_free(less);
  ag_tape_free(tape);
  ag_graph_free(g);
}

int main(void) {
  check_quadrature();
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i)->error_order) check_method(ag_stepper_at(i));
  return ag_check_report();
}
