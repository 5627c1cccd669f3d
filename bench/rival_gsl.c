/* SPDX-License-Identifier: MIT
 * GSL (field.h). */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

#include "field.h"

static int rhs(double t, const double *y, double *dy, void *count) {
  ++*(long *)count;
  return field_rhs(t, y, dy) ? GSL_EBADFUNC : GSL_SUCCESS;
}

static int jacobian(double t, const double *y, double *J, double *by_t, void *count) {
  (void)count;
  for (int i = 0; i < FIELD_N; i++) by_t[i] = 0; /* the models of the comparison do not depend on t */
  return field_jacobian(t, y, J) ? GSL_EBADFUNC : GSL_SUCCESS;
}

static int solve(const gsl_odeiv2_step_type *type, double t1, double rtol, double atol, double *y, long *n_rhs) {
  gsl_odeiv2_system system = {.function = rhs, .jacobian = jacobian, .dimension = FIELD_N, .params = n_rhs};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, type, 1e-6, atol, rtol);
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
TYPE(rkck)
TYPE(msadams)
TYPE(msbdf)
TYPE(rk4imp)

const rival *rivals(int *n) {
  static const rival list[] = {{"GSL rk8pd", rk8pd, 0},
                               {"GSL rkck", rkck, 0},
                               {"GSL msadams", msadams, 0},
                               {"GSL msbdf", msbdf, 1},
                               {"GSL rk4imp", rk4imp, 1}};
  gsl_set_error_handler_off();
  *n = sizeof list / sizeof *list;
  return list;
}
