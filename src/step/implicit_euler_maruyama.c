/* SPDX-License-Identifier: MIT
 * The method of Euler and Maruyama with an implicit drift: its row. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_NAME implicit_euler_maruyama
#define AG_STEP_TEXT "step/implicit_euler_maruyama_core.h"
#define AG_STEP_ROOM (6 * n + 2 * m + square)
#define AG_STEP_END n
#define AG_STEP_OWN 0
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#include "step/method.h"

static const char text[] =
#include "implicit_euler_maruyama_core_text.inc"
    ;

const ag_stepper ag_stepper_implicit_euler_maruyama = {
    AG_ON_ITO,
    .name = "implicit_euler_maruyama",
    .order = 1,
    .dense_order = 1,
    .n_stage = 3,
    .room = room_implicit_euler_maruyama,
    .step = step_implicit_euler_maruyama,
    .dense = dense_implicit_euler_maruyama,
    .interpolate = interpolate_implicit_euler_maruyama,
    .texts = {ag_factor_core_text, ag_sparse_core_text, ag_newton_core_text, ag_hermite_core_text, text},
    .needs = AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS | AG_NEEDS_NOISE | AG_NEEDS_BRACKETS,
    .doc = "The Euler-Maruyama method on Ito's form, with the drift at the end of the step: for comparison.",
    .reference = "P. E. Kloeden, E. Platen, Numerical Solution of Stochastic Differential Equations, 1992, 12.2"};
