/* SPDX-License-Identifier: MIT
 * The explicit Lie-group methods: one row each. The library steps all of them with one copy of the text, which reads
 * the coefficients; compiled kernels have theirs as constants. To add one: its line in lie.h and lie.def, its row here.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/lie.h"
#include "step/step_text.h"

#define AG_LIE method
#undef AG_STEP_SIZE
#undef AG_STEP_PASS
#undef AG_STEP_PASS_SIZE
#undef AG_STEP_LOCALS
#define AG_STEP_SIZE __attribute__((unused)) const ag_lie *method, __attribute__((unused)) int n,
#define AG_STEP_PASS f, method, n,
#define AG_STEP_PASS_SIZE method, n,
#define AG_STEP_LOCALS(s) const ag_lie *method = (s)->table;

#define AG_STEP_NAME lie
#define AG_STEP_TEXT "step/lie_core.h"
#define AG_STEP_ROOM (7 * n + 5 * m)
#define AG_STEP_END n
#define AG_STEP_OWN 0
#define AG_STEP_TURNS
#define AG_STEP_HERMITE
#include "step/method.h"

#define AG_STEPPER(name) \
  static const ag_lie table_##name = AG_LIE_##name; \
  static const char text_##name[] = "#define AG_LIE_METHOD " #name "\n";
#include "step/lie.def"
#undef AG_STEPPER

static const char table_text[] =
#include "lie_text.inc"
    ;
static const char core_text[] =
#include "lie_core_text.inc"
    ;

#define AG_LIE_ROW(name_, order_) \
  .name = #name_, .family = "Lie group", .room = room_lie, .step = step_lie, .dense = dense_lie, \
  .interpolate = interpolate_lie, .table = &table_##name_, .needs = AG_NEEDS_FACTORS, .order = order_, \
  .n_stage = order_, .texts = {text_##name_, ag_factor_core_text, table_text, ag_hermite_core_text, core_text}

/* clang-format off */
const ag_stepper ag_stepper_munthe_kaas2 = {
    AG_LIE_ROW(munthe_kaas2, 2), AG_ON_NOISE_ENDS, .dense_order = 2,
    .doc = "Munthe-Kaas with Heun's coefficients: rotations turned by one exponential per step.",
    .reference = "H. Munthe-Kaas, Appl. Numer. Math. 29, 115-127, 1999"};

const ag_stepper ag_stepper_munthe_kaas3 = {
    AG_LIE_ROW(munthe_kaas3, 3), AG_ON_NOISE, .dense_order = 3,
    .doc = "Munthe-Kaas with Kutta's coefficients of order 3.",
    .reference = "H. Munthe-Kaas, Appl. Numer. Math. 29, 115-127, 1999"};

const ag_stepper ag_stepper_munthe_kaas4 = {
    AG_LIE_ROW(munthe_kaas4, 4), AG_ON_NOISE, .dense_order = 3,
    .doc = "Munthe-Kaas with the classical coefficients: like rk4, on rotations.",
    .reference = "H. Munthe-Kaas, Appl. Numer. Math. 29, 115-127, 1999"};

const ag_stepper ag_stepper_commutator_free2 = {
    AG_LIE_ROW(commutator_free2, 2), AG_ON_NOISE, .dense_order = 2,
    .doc = "The explicit midpoint rule with exponentials.",
    .reference = "E. Celledoni, A. Marthinsen, B. Owren, Future Gener. Comput. Syst. 19, 341-352, 2003"};

const ag_stepper ag_stepper_commutator_free3 = {
    AG_LIE_ROW(commutator_free3, 3), AG_ON_NOISE, .dense_order = 3,
    .doc = "Commutator-free, order 3: two exponentials at the end of a step.",
    .reference = "E. Celledoni, A. Marthinsen, B. Owren, Future Gener. Comput. Syst. 19, 341-352, 2003"};

const ag_stepper ag_stepper_commutator_free4 = {
    AG_LIE_ROW(commutator_free4, 4), AG_ON_NOISE, .dense_order = 3,
    .doc = "Commutator-free, order 4: like rk4, on rotations.",
    .reference = "E. Celledoni, A. Marthinsen, B. Owren, Future Gener. Comput. Syst. 19, 341-352, 2003"};
/* clang-format on */
