/* SPDX-License-Identifier: MIT
 * The Runge-Kutta step as text, for generated code: the files themselves, embedded when the library is built. */
#include "step/step.h"

const char ag_stepper_tableau_text[] =
#include "tableau_text.inc"
    ;
const char ag_stepper_core_text[] =
#include "rk_core_text.inc"
    ;
