/* SPDX-License-Identifier: MIT
 * The implicit Runge-Kutta methods: one row each. The library steps all of them with one copy of the text, which reads
 * the tableau; compiled kernels have theirs as constants. To add one: its tableau in tools/irk_tableau.py, its row
 * here, its line in irk.def. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/irk_tableau.h"
#include "step/step_text.h"

#define AG_IRK irk
#undef AG_STEP_SIZE
#undef AG_STEP_PASS
#undef AG_STEP_PASS_SIZE
#undef AG_STEP_LOCALS
#define AG_STEP_SIZE __attribute__((unused)) const ag_irk *irk, __attribute__((unused)) int n,
#define AG_STEP_PASS f, irk, n,
#define AG_STEP_PASS_SIZE irk, n,
#define AG_STEP_LOCALS(s) const ag_irk *irk = (s)->table;

#define AG_STEP_NAME irk
#define AG_STEP_TEXT "step/irk_core.h"
#define AG_STEP_END (n + AG_STEP_OWN)
#define AG_STEP_OWN AG_IRK_CARRIES(irk, n)
#define AG_STEP_LU
#include "step/method.h"

static ag_step_room room_of(const ag_irk *irk, long n, long m, long square) {
  int reals = irk->real > irk->estimate ? irk->real : irk->estimate;
  long own = AG_IRK_CARRIES(irk, n);
  long size = (irk->degree + irk->s + 5) * n + 2 * own + 2 * irk->s * m + (1 + 2 * reals + 3 * irk->pair) * square;
  return (ag_step_room){(size_t)size, (size_t)(n + own), (int)own};
}

#define AG_STEPPER(name) \
  static const ag_irk table_##name = AG_IRK_##name; \
  static const char text_##name[] = "#define AG_IRK_METHOD " #name "\n"; \
  static ag_step_room room_##name(long n, long m, long square) { return room_of(&table_##name, n, m, square); }
#include "step/irk.def"
#undef AG_STEPPER

static const char tableau_text[] =
#include "irk_tableau_text.inc"
    ;
static const char core_text[] =
#include "irk_core_text.inc"
    ;

#define AG_IRK_ROW(method) \
  .name = #method, .family = "implicit Runge-Kutta", .room = room_##method, .step = step_irk, .dense = dense_irk, \
  .interpolate = interpolate_irk, .table = &table_##method, \
  .texts = {text_##method, ag_factor_core_text, ag_sparse_core_text, ag_lu_core_text, tableau_text, core_text}
#define AG_IRK_NEEDS AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS

/* clang-format off */
const ag_stepper ag_stepper_gauss2 = {
    AG_IRK_ROW(gauss2), AG_ON_NOISE, .order = 4, .dense_order = 3, .n_stage = 3,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "Gauss, 2 stages: for long times with smooth right-hand sides.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_gauss3 = {
    AG_IRK_ROW(gauss3), AG_ON_NOISE, .order = 6, .dense_order = 4, .n_stage = 4, .n_dense = 3,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "Gauss, 3 stages: for long times with smooth right-hand sides.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_gauss4 = {
    AG_IRK_ROW(gauss4), AG_ON_NOISE, .order = 8, .dense_order = 5, .n_stage = 5, .n_dense = 4,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "Gauss, 4 stages: for high accuracy over long times.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_gauss5 = {
    AG_IRK_ROW(gauss5), AG_ON_NOISE, .order = 10, .dense_order = 6, .n_stage = 6, .n_dense = 5,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "Gauss, 5 stages: for high accuracy over long times.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_gauss6 = {
    AG_IRK_ROW(gauss6), AG_ON_NOISE, .order = 12, .dense_order = 7, .n_stage = 7, .n_dense = 6,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "Gauss, 6 stages: for high accuracy over long times.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_radau1 = {
    AG_IRK_ROW(radau1), AG_ON_NOISE_FIRST, .order = 1, .error_order = 1, .dense_order = 1, .n_stage = 2,
    .needs = AG_IRK_NEEDS,
    .doc = "Radau IIA, 1 stage: implicit Euler: for comparison.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_radau2 = {
    AG_IRK_ROW(radau2), AG_ON_NOISE, .order = 3, .error_order = 2, .dense_order = 3, .n_stage = 3,
    .needs = AG_IRK_NEEDS,
    .doc = "Radau IIA, 2 stages: stiff equations at low accuracy.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_radau3 = {
    AG_IRK_ROW(radau3), AG_ON_NOISE, .order = 5, .error_order = 3, .dense_order = 4, .n_stage = 4, .n_dense = 3,
    .needs = AG_IRK_NEEDS,
    .doc = "Radau IIA, 3 stages: the method of RADAU5: stiff equations, strong friction.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_radau5 = {
    AG_IRK_ROW(radau5), AG_ON_NOISE, .order = 9, .error_order = 5, .dense_order = 6, .n_stage = 6, .n_dense = 5,
    .needs = AG_IRK_NEEDS,
    .doc = "Radau IIA, 5 stages: stiff equations at high accuracy.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_trapezoid = {
    AG_IRK_ROW(trapezoid), AG_ON_NOISE_ENDS, .order = 2, .dense_order = 2, .n_stage = 3,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "The trapezoidal rule (Lobatto IIIA, 2 stages).",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3a3 = {
    AG_IRK_ROW(lobatto3a3), AG_ON_NOISE, .order = 4, .dense_order = 3, .n_stage = 4,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIA, 3 stages: collocation with both ends.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3a4 = {
    AG_IRK_ROW(lobatto3a4), AG_ON_NOISE, .order = 6, .dense_order = 4, .n_stage = 5, .n_dense = 4,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIA, 4 stages: collocation with both ends.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3b2 = {
    AG_IRK_ROW(lobatto3b2), AG_ON_NOISE, .order = 2, .dense_order = 2, .n_stage = 3,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIB, 2 stages: the companion of IIIA.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3b3 = {
    AG_IRK_ROW(lobatto3b3), AG_ON_NOISE, .order = 4, .dense_order = 3, .n_stage = 4,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIB, 3 stages: the companion of IIIA.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3b4 = {
    AG_IRK_ROW(lobatto3b4), AG_ON_NOISE, .order = 6, .dense_order = 3, .n_stage = 5,
    .needs = AG_IRK_NEEDS, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIB, 4 stages: the companion of IIIA.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, II.1"};

const ag_stepper ag_stepper_lobatto3c2 = {
    AG_IRK_ROW(lobatto3c2), AG_ON_NOISE_ENDS, .order = 2, .dense_order = 2, .n_stage = 3,
    .needs = AG_IRK_NEEDS,
    .doc = "Lobatto IIIC, 2 stages: damps stiff components, with fixed steps.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_lobatto3c3 = {
    AG_IRK_ROW(lobatto3c3), AG_ON_NOISE, .order = 4, .dense_order = 3, .n_stage = 4,
    .needs = AG_IRK_NEEDS,
    .doc = "Lobatto IIIC, 3 stages: damps stiff components, with fixed steps.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_lobatto3c4 = {
    AG_IRK_ROW(lobatto3c4), AG_ON_NOISE, .order = 6, .dense_order = 3, .n_stage = 5,
    .needs = AG_IRK_NEEDS,
    .doc = "Lobatto IIIC, 4 stages: damps stiff components, with fixed steps.",
    .reference = "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., 1996, IV.5, IV.8"};

const ag_stepper ag_stepper_lobatto3ab2 = {
    AG_IRK_ROW(lobatto3ab2), AG_ON_NOISE, .order = 2, .dense_order = 2, .n_stage = 3,
    .needs = AG_IRK_NEEDS | AG_NEEDS_PARTITION, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIA for positions, IIIB for velocities, 2 stages. Like Stormer-Verlet.",
    .reference = "L. Jay, SIAM J. Numer. Anal. 33, 368-387, 1996"};

const ag_stepper ag_stepper_lobatto3ab3 = {
    AG_IRK_ROW(lobatto3ab3), AG_ON_NOISE, .order = 4, .dense_order = 3, .n_stage = 4,
    .needs = AG_IRK_NEEDS | AG_NEEDS_PARTITION, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIA for positions, IIIB for velocities, 3 stages.",
    .reference = "L. Jay, SIAM J. Numer. Anal. 33, 368-387, 1996"};

const ag_stepper ag_stepper_lobatto3ab4 = {
    AG_IRK_ROW(lobatto3ab4), AG_ON_NOISE, .order = 6, .dense_order = 3, .n_stage = 5,
    .needs = AG_IRK_NEEDS | AG_NEEDS_PARTITION, .keeps = AG_KEEPS_SYMMETRY,
    .doc = "Lobatto IIIA for positions, IIIB for velocities, 4 stages.",
    .reference = "L. Jay, SIAM J. Numer. Anal. 33, 368-387, 1996"};
/* clang-format on */
