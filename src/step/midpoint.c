/* SPDX-License-Identifier: MIT
 * The implicit midpoint rule: its row. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_NAME midpoint
#define AG_STEP_TEXT "step/midpoint_core.h"
#define AG_STEP_ROOM (5 * n + 2 * m + square)
#define AG_STEP_END n
#define AG_STEP_OWN 0
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#include "step/method.h"

static const char text[] =
#include "midpoint_core_text.inc"
    ;

#define AG_MIDPOINT_ROW \
  .order = 2, .dense_order = 2, .n_stage = 2, .room = room_midpoint, .step = step_midpoint, .dense = dense_midpoint, \
  .interpolate = interpolate_midpoint, \
  .texts = {ag_factor_core_text, ag_sparse_core_text, ag_newton_core_text, ag_hermite_core_text, text}

const ag_stepper ag_stepper_midpoint = {
    AG_MIDPOINT_ROW,
    AG_ON_NOISE,
    .name = "midpoint",
    .family = "implicit Runge-Kutta",
    .needs = AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS,
    .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_QUADRATIC,
    .doc = "The implicit midpoint rule (Gauss, 1 stage) with fixed steps, on rotations by q "
           "exp(h Omega): reversible; keeps quadratic "
           "invariants.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical "
                 "Integration, 2nd ed., 2006, II.1, IV.8"};

const ag_stepper ag_stepper_log_midpoint = {
    AG_MIDPOINT_ROW,
    AG_ON_LOG,
    .name = "log_midpoint",
    .needs = AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS | AG_NEEDS_NOISE | AG_NEEDS_BRACKETS,
    .keeps = AG_KEEPS_QUADRATIC,
    .doc = "The implicit midpoint rule on the increment with Levy areas and brackets: strong order 1 for any noise; "
           "keeps quadratic invariants of every path.",
    .reference = "F. Castell, J. Gaines, Ann. Inst. H. Poincare 32, 231-250, 1996"};
