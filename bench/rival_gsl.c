/* SPDX-License-Identifier: MIT
 * GSL on the rattleback, with the hand-written right-hand side. */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

#include "rattleback.h"
#include "rival.h"

static int field(double t, const double *y, double *dy, void *count) {
  (void)t;
  ++*(long *)count;
  rattleback(y, dy);
  return GSL_SUCCESS;
}

static int solve(const gsl_odeiv2_step_type *type, double t1, double rtol, double atol, double *y, long *n_rhs) {
  gsl_odeiv2_system system = {.function = field, .dimension = 6, .params = n_rhs};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, type, 1e-3, atol, rtol);
  double t = 0;
  int bad = !driver || gsl_odeiv2_driver_apply(driver, &t, t1, y) != GSL_SUCCESS;
  if (driver) gsl_odeiv2_driver_free(driver);
  return bad;
}

#define TYPE(name) \
  static int name(double t1, double rtol, double atol, double *y, long *n_rhs) { \
    return solve(gsl_odeiv2_step_##name, t1, rtol, atol, y, n_rhs); \
  }
TYPE(rk8pd)
TYPE(msadams)

const rival *rivals(int *n) {
  static const rival list[] = {{"GSL rk8pd", rk8pd}, {"GSL msadams", msadams}};
  gsl_set_error_handler_off();
  *n = 2;
  return list;
}
