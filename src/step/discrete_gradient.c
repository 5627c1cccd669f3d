/* SPDX-License-Identifier: MIT
 * The discrete gradient method: its row. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_NAME discrete_gradient
#define AG_STEP_TEXT "step/discrete_gradient_core.h"
#define AG_STEP_ROOM (7 * n + 2 + 3 * m + m * m + square + 1)
#define AG_STEP_END (n + 1)
#define AG_STEP_OWN 1
#define AG_HERMITE_CARRY (AG_STEP_N + 1)
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#include "step/method.h"

static const char carry_text[] = "#define AG_HERMITE_CARRY (AG_STEP_N + 1)\n";
static const char text[] =
#include "discrete_gradient_core_text.inc"
    ;

const ag_stepper ag_stepper_discrete_gradient = {
    .name = "discrete_gradient",
    .family = "energy",
    .needs = AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS | AG_NEEDS_GRADIENT,
    .keeps = AG_KEEPS_SYMMETRY | AG_KEEPS_ENERGY,
    .order = 2,
    .dense_order = 2,
    .n_stage = 2,
    .room = room_discrete_gradient,
    .step = step_discrete_gradient,
    .dense = dense_discrete_gradient,
    .interpolate = interpolate_discrete_gradient,
    .texts = {carry_text, ag_factor_core_text, ag_sparse_core_text, ag_newton_core_text, ag_hermite_core_text, text},
    .doc = "The midpoint rule with a discrete gradient of the energy in the almost-Poisson form of the equations: the "
           "energy changes by the work of forces and moving constraints alone.",
    .reference = "O. Gonzalez, J. Nonlinear Sci. 6, 449-467, 1996; R. I. McLachlan, G. R. W. Quispel, N. Robidoux, "
                 "Phil. Trans. R. Soc. A 357, 1021-1045, 1999"};
