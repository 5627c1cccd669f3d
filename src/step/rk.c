/* SPDX-License-Identifier: MIT
 * The explicit Runge-Kutta methods: one row each. To add one: its tableau in tableau.h, its block here, its line in
 * stepper.def. */
#include "step/rk.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "step/step.h"
#include "step/tableau.h"

#define V double
#define v_fma __builtin_fma
#define v_abs __builtin_fabs
#define v_max(a, b) ((a) > (b) ? (a) : (b))
#define v_sqrt __builtin_sqrt
#define AG_RK_FLOW __attribute__((unused)) const ag_flow *f,
#define AG_RK_SIZE int n,
#define AG_RK_N n
#define AG_RK_RHS(t, z, dz) \
  { \
    int reason = f->rhs(f->self, t, z, dz); \
    if (reason) return reason; \
  }
#define AG_RK_IN_NORM(i) (f->in_norm == NULL || f->in_norm[i] == 1)
#define AG_RK_IN_REST(i) (f->in_norm != NULL && f->in_norm[i] == 2)
#define AG_RK_N_NORM norm_count(f)
#define AG_RK_N_REST rest_count(f)

static double norm_count(const ag_flow *f) {
  int count = 0;
  for (int i = 0; i < f->n; i++) count += AG_RK_IN_NORM(i);
  return count ? count : 1;
}

static double rest_count(const ag_flow *f) {
  int count = 0;
  for (int i = 0; i < f->n; i++) count += AG_RK_IN_REST(i);
  return count;
}

#if defined __x86_64__ && !defined __FMA__
#define AG_RK_TWICE
static bool has_fma(void) { return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"); }
#endif

#define AG_RK_FUNCTIONS(name) \
  .size = size_##name, .step = step_##name, .dense = dense_##name, .interpolate = interpolate_##name, \
  .table = &table_##name

/* clang-format off */
#define AG_RK_METHOD euler
#include "step/rk_method.h"
const ag_stepper ag_stepper_euler = {
    .name = "euler", .order = 1, .n_stage = 1, .dense_order = 1, AG_RK_FUNCTIONS(euler),
    .doc = "Euler's explicit method: one right-hand side per step; for comparison and for teaching.",
    .reference = "L. Euler, Institutionum calculi integralis I, 1768"};

#define AG_RK_METHOD heun2
#include "step/rk_method.h"
const ag_stepper ag_stepper_heun2 = {
    .name = "heun2", .order = 2, .error_order = 1, .n_stage = 2, .dense_order = 2, AG_RK_FUNCTIONS(heun2),
    .doc = "Heun's method (explicit trapezoidal rule), its step compared with Euler's.",
    .reference = "K. Heun, Z. Math. Phys. 45, 23-38, 1900"};

#define AG_RK_METHOD rk3
#include "step/rk_method.h"
const ag_stepper ag_stepper_rk3 = {
    .name = "rk3", .order = 3, .n_stage = 3, .dense_order = 3, AG_RK_FUNCTIONS(rk3),
    .doc = "Kutta's method of order 3 with fixed steps.",
    .reference = "W. Kutta, Z. Math. Phys. 46, 435-453, 1901"};

#define AG_RK_METHOD bs3
#include "step/rk_method.h"
const ag_stepper ag_stepper_bs3 = {
    .name = "bs3", .order = 3, .error_order = 2, .n_stage = 3, .dense_order = 3, AG_RK_FUNCTIONS(bs3),
    .doc = "Bogacki-Shampine 3(2): for low accuracy and right-hand sides that are not smooth.",
    .reference = "P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2, 321-325, 1989"};

#define AG_RK_METHOD rk4
#include "step/rk_method.h"
const ag_stepper ag_stepper_rk4 = {
    .name = "rk4", .order = 4, .n_stage = 4, .dense_order = 3, AG_RK_FUNCTIONS(rk4),
    .doc = "The classical Runge-Kutta method with fixed steps; cubic Hermite dense output.",
    .reference = "W. Kutta, Z. Math. Phys. 46, 435-453, 1901"};

#define AG_RK_METHOD dopri5
#include "step/rk_method.h"
const ag_stepper ag_stepper_dopri5 = {
    .name = "dopri5", .order = 5, .error_order = 4, .n_stage = 6, .dense_order = 4, AG_RK_FUNCTIONS(dopri5),
    .doc = "Dormand-Prince 5(4) with free dense output of order 4: for middle accuracy.",
    .reference = "J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6, 19-26, 1980"};

#define AG_RK_METHOD tsit5
#include "step/rk_method.h"
const ag_stepper ag_stepper_tsit5 = {
    .name = "tsit5", .order = 5, .error_order = 4, .n_stage = 6, .dense_order = 4, AG_RK_FUNCTIONS(tsit5),
    .doc = "Tsitouras 5(4) with free dense output of order 4: as dopri5, with a smaller error constant.",
    .reference = "C. Tsitouras, Comput. Math. Appl. 62, 770-775, 2011"};

#define AG_RK_METHOD dop853
#include "step/rk_method.h"
const ag_stepper ag_stepper_dop853 = {
    .name = "dop853", .order = 8, .error_order = 7, .n_stage = 12, .dense_order = 7, AG_RK_FUNCTIONS(dop853),
    .doc = "Dormand-Prince 8(5,3) with dense output of order 7 (three more right-hand sides): the default.",
    .reference = "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993"};
/* clang-format on */
