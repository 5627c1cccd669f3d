/* SPDX-License-Identifier: MIT
 * The method of Ninomiya and Victoir: its row. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"

#define AG_STEP_NAME ninomiya_victoir
#define AG_STEP_TEXT "step/ninomiya_victoir_core.h"
#define AG_STEP_ROOM (8 * n)
#define AG_STEP_END n
#define AG_STEP_OWN 0
#define AG_STEP_HERMITE
#include "step/method.h"

static const char text[] =
#include "ninomiya_victoir_core_text.inc"
    ;

const ag_stepper ag_stepper_ninomiya_victoir = {
    .name = "ninomiya_victoir",
    .family = "splitting",
    .order = 4,
    .n_stage = 9,
    .n_channel_stage = 4,
    .dense_order = 3,
    .strong = {1, 1, 0.5},
    .weak = {2, 2, 2},
    .follows = AG_FOLLOWS_INCREMENT,
    .draws = AG_WIENER_COIN,
    .room = room_ninomiya_victoir,
    .step = step_ninomiya_victoir,
    .dense = dense_ninomiya_victoir,
    .interpolate = interpolate_ninomiya_victoir,
    .texts = {ag_hermite_core_text, text},
    .needs = AG_NEEDS_NOISE,
    .doc =
        "Half a step of the drift, the flows of the channels one after the other, in an order decided by a coin, half "
        "a step of the drift: weak order 2 for any noise. Each flow takes four right-hand sides.",
    .reference = "S. Ninomiya, N. Victoir, Appl. Math. Finance 15, 107-121, 2008"};
