/* SPDX-License-Identifier: MIT
 * Starts: named values are held, the others follow from the constraints; what does not fit is refused or changed as
 * little as possible. Tolerances: roundings of numbers of size 1. */
#include <math.h>

#include "tests/chain_model.h"
#include "tests/check.h"

static const double NONE = NAN;

/* Named x, unnamed y: in both forms, also with a row that follows from another. */
static void check_completed(void) {
  const double q[] = {0.6, NONE, 1.2, NONE, 1.4, NONE}, xi[] = {0.1, NONE, 0.3, NONE, NONE, 0.2};
  for (int form = 0; form < 4; form++) {
    chain c = {.n = 3, .again = form & 1, .saddle = form & 2, .strict = true, .q = q, .xi = xi};
    ag_ctx ctx = {0};
    ag_model *m;
    ag_system *sys = chain_system(&ctx, &c, &m);
    AG_CHECK(sys != NULL && ctx.n_error == 0);
    if (sys) {
      for (int i = 0; i < 6; i++) AG_CHECK(isnan(q[i]) || sys->q0[i] == q[i]);
      for (int i = 0; i < 6; i++) AG_CHECK(isnan(xi[i]) || sys->xi0[i] == xi[i]);
      AG_CHECK(chain_error(3, sys->q0, sys->xi0) <= 1e-13);
    }
    ag_system_free(sys);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

/* Off the circle: moved to it along the radius, the velocity to its part along the tangent; refused when strict. */
static void check_changed(void) {
  const double q[] = {0.9, 1.2}, xi[] = {1, 2};
  for (int form = 0; form < 4; form++) {
    chain c = {.n = 1, .saddle = form & 1, .strict = form & 2, .q = q, .xi = xi};
    ag_ctx ctx = {0};
    ag_model *m;
    ag_system *sys = chain_system(&ctx, &c, &m);
    AG_CHECK((sys == NULL) == c.strict && (ctx.n_error > 0) == c.strict);
    if (sys) {
      double along = -0.8 * 1 + 0.6 * 2;
      AG_CHECK_NEAR(sys->q0[0], 0.6, 1e-13);
      AG_CHECK_NEAR(sys->q0[1], 0.8, 1e-13);
      AG_CHECK_NEAR(sys->xi0[0], -0.8 * along, 1e-13);
      AG_CHECK_NEAR(sys->xi0[1], 0.6 * along, 1e-13);
    }
    ag_system_free(sys);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

/* No start at all: too far away for the constraint, or not finite. */
static void check_refused(void) {
  const double far[] = {1.5, NONE}, infinite[] = {INFINITY, NONE};
  const double *cases[] = {far, infinite};
  static const char *const words[] = {"do not satisfy the constraints", "not finite"};
  for (int i = 0; i < 2; i++) {
    chain c = {.n = 1, .strict = true, .q = cases[i]};
    ag_ctx ctx = {0};
    ag_text out = {0};
    ag_model *m;
    ag_system *sys = chain_system(&ctx, &c, &m);
    ag_ctx_render(&ctx, &out);
    AG_CHECK(sys == NULL && strstr(ag_text_cstr(&out), words[i]));
    ag_text_done(&out);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

int main(void) {
  check_completed();
  check_changed();
  check_refused();
  return ag_check_report();
}
