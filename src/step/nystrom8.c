/* SPDX-License-Identifier: MIT
 * The Nystrom method of orders 8 and 6: its row. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_NAME nystrom8
#define AG_STEP_TEXT "step/nystrom8_core.h"
#define AG_STEP_ROOM (17 * n)
#define AG_STEP_END (8 * n)
#define AG_STEP_OWN 0
#include "step/method.h"

static const char text[] =
#include "nystrom8_core_text.inc"
    ;

const ag_stepper ag_stepper_nystrom8 = {
    .name = "nystrom8",
    .family = "Nystrom",
    .needs = AG_NEEDS_SECOND,
    .order = 8,
    .error_order = 6,
    .dense_order = 6,
    .n_stage = 8,
    .n_dense = 3,
    .room = room_nystrom8,
    .step = step_nystrom8,
    .dense = dense_nystrom8,
    .interpolate = interpolate_nystrom8,
    .texts = {text},
    .doc = "Runge-Kutta-Nystrom 8(6) with dense output of order 6 (three more right-hand sides): for forces of "
           "positions alone.",
    .reference = "J. R. Dormand, M. E. A. El-Mikkawy, P. J. Prince, IMA J. Numer. Anal. 7, 423-430, 1987"};
