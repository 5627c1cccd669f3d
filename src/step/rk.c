/* SPDX-License-Identifier: MIT
 * The explicit Runge-Kutta methods: one row each. To add one: its tableau in tableau.h, its block here, its line in
 * stepper.def. */
#include "step/rk.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "step/step_text.h"
#include "step/tableau.h"

#define V double
#define v_fma __builtin_fma
#define v_abs __builtin_fabs
#define v_max(a, b) ((a) > (b) ? (a) : (b))
#define v_sqrt __builtin_sqrt
#define AG_STEP_TEXT "step/rk_core.h"
#define AG_STEP_OWN 0

static const char tableau_text[] =
#include "tableau_text.inc"
    ;
static const char core_text[] =
#include "rk_core_text.inc"
    ;

#define AG_RK_STEPS(method) \
  .room = room_##method, .step = step_##method, .dense = dense_##method, .interpolate = interpolate_##method, \
  .integral = integral_##method, .table = &table_##method, \
  .texts = {"#define AG_RK_METHOD " #method "\n", tableau_text, core_text}
#define AG_RK_ROW(method) .name = #method, .family = "explicit Runge-Kutta", AG_RK_STEPS(method)

/* clang-format off */
#define AG_RK_METHOD euler
#include "step/rk_method.h"
const ag_stepper ag_stepper_euler = {
    AG_RK_ROW(euler), AG_ON_NOISE_FIRST, .order = 1, .n_stage = 1, .dense_order = 1,
    .doc = "Euler's explicit method: one right-hand side per step; for comparison and for teaching.",
    .reference = "L. Euler, Institutionum calculi integralis I, 1768"};

#define AG_RK_METHOD heun2
#include "step/rk_method.h"
const ag_stepper ag_stepper_heun2 = {
    AG_RK_ROW(heun2), AG_ON_NOISE_ENDS, .order = 2, .error_order = 1, .n_stage = 2, .dense_order = 2,
    .doc = "Heun's method (explicit trapezoidal rule), its step compared with Euler's.",
    .reference = "K. Heun, Z. Math. Phys. 45, 23-38, 1900"};

#define AG_RK_METHOD euler_heun
#include "step/rk_method.h"
const ag_stepper ag_stepper_euler_heun = {
    AG_RK_ROW(euler_heun), AG_ON_NOISE_ENDS, .order = 2, .n_stage = 2, .dense_order = 2,
    .doc = "Heun's method with fixed steps: on a path with noise the Euler-Heun method.",
    .reference = "K. Heun, Z. Math. Phys. 45, 23-38, 1900"};

#define AG_RK_METHOD rk3
#include "step/rk_method.h"
const ag_stepper ag_stepper_rk3 = {
    AG_RK_ROW(rk3), AG_ON_NOISE, .order = 3, .n_stage = 3, .dense_order = 3,
    .doc = "Kutta's method of order 3 with fixed steps.",
    .reference = "W. Kutta, Z. Math. Phys. 46, 435-453, 1901"};

#define AG_RK_METHOD bs3
#include "step/rk_method.h"
const ag_stepper ag_stepper_bs3 = {
    AG_RK_ROW(bs3), AG_ON_NOISE, .order = 3, .error_order = 2, .n_stage = 3, .dense_order = 3,
    .doc = "Bogacki-Shampine 3(2): for low accuracy and right-hand sides that are not smooth.",
    .reference = "P. Bogacki, L. F. Shampine, Appl. Math. Lett. 2, 321-325, 1989"};

#define AG_RK_METHOD rk4
#include "step/rk_method.h"
const ag_stepper ag_stepper_rk4 = {
    AG_RK_ROW(rk4), AG_ON_NOISE, .order = 4, .n_stage = 4, .dense_order = 3,
    .doc = "The classical Runge-Kutta method with fixed steps; cubic Hermite dense output.",
    .reference = "W. Kutta, Z. Math. Phys. 46, 435-453, 1901"};

#define AG_RK_METHOD dopri5
#include "step/rk_method.h"
const ag_stepper ag_stepper_dopri5 = {
    AG_RK_ROW(dopri5), AG_ON_NOISE, .order = 5, .error_order = 4, .n_stage = 6, .dense_order = 4,
    .doc = "Dormand-Prince 5(4) with free dense output of order 4: for moderate accuracy.",
    .reference = "J. R. Dormand, P. J. Prince, J. Comput. Appl. Math. 6, 19-26, 1980"};

#define AG_RK_METHOD tsit5
#include "step/rk_method.h"
const ag_stepper ag_stepper_tsit5 = {
    AG_RK_ROW(tsit5), AG_ON_NOISE, .order = 5, .error_order = 4, .n_stage = 6, .dense_order = 4,
    .doc = "Tsitouras 5(4) with free dense output of order 4: like dopri5, with a smaller error constant.",
    .reference = "C. Tsitouras, Comput. Math. Appl. 62, 770-775, 2011"};

#define AG_RK_METHOD dop853
#include "step/rk_method.h"
const ag_stepper ag_stepper_dop853 = {
    AG_RK_ROW(dop853), AG_ON_NOISE, .order = 8, .error_order = 7, .n_stage = 12, .n_dense = 3, .dense_order = 7, .quarter = 6,
    .doc = "Dormand-Prince 8(5,3) with dense output of order 7 (three more right-hand sides): the default.",
    .reference = "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., 1993"};

/* On the logarithm of the stochastic flow. */
const ag_stepper ag_stepper_log_heun = {
    AG_RK_STEPS(euler_heun), AG_ON_LOG, .name = "log_heun", .order = 2, .n_stage = 2, .dense_order = 2,
    .needs = AG_NEEDS_NOISE | AG_NEEDS_BRACKETS,
    .doc = "Heun's method on the increment with Levy areas and brackets: strong order 1 for any noise.",
    .reference = "F. Castell, J. Gaines, Ann. Inst. H. Poincare 32, 231-250, 1996"};

const ag_stepper ag_stepper_log_rk4 = {
    AG_RK_STEPS(rk4), AG_ON_LOG, .name = "log_rk4", .order = 4, .n_stage = 4, .dense_order = 3,
    .needs = AG_NEEDS_NOISE | AG_NEEDS_BRACKETS,
    .doc = "The classical Runge-Kutta method on the increment with Levy areas and brackets: strong order 1 for any noise.",
    .reference = "F. Castell, J. Gaines, Ann. Inst. H. Poincare 32, 231-250, 1996"};

/* On Ito's form. */
const ag_stepper ag_stepper_euler_maruyama = {
    AG_RK_STEPS(euler), AG_ON_ITO, .name = "euler_maruyama", .order = 1, .n_stage = 1, .dense_order = 1,
    .needs = AG_NEEDS_NOISE | AG_NEEDS_BRACKETS,
    .doc = "The Euler-Maruyama method: Euler's method on Ito's form, for any noise; for comparison.",
    .reference = "G. Maruyama, Rend. Circ. Mat. Palermo 4, 48-90, 1955"};
/* clang-format on */
