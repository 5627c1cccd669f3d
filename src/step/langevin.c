/* SPDX-License-Identifier: MIT
 * Splittings for friction and temperature: one row each. To add one: its line in langevin.h and langevin.def, its row
 * here. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/langevin.h"
#include "step/step_text.h"

#define AG_LANGEVIN method
#undef AG_STEP_SIZE
#undef AG_STEP_PASS
#undef AG_STEP_PASS_SIZE
#undef AG_STEP_LOCALS
#define AG_STEP_SIZE __attribute__((unused)) const ag_langevin *method, __attribute__((unused)) int n,
#define AG_STEP_PASS f, method, n,
#define AG_STEP_PASS_SIZE method, n,
#define AG_STEP_LOCALS(s) const ag_langevin *method = (s)->table;

#define AG_STEP_NAME langevin
#define AG_STEP_TEXT "step/langevin_core.h"
#define AG_STEP_END (n + AG_STEP_OWN)
#define AG_STEP_OWN method->tests
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#define AG_STEP_TRIAL
#include "step/method.h"

static ag_step_room room_plain(long n, long m, long square) {
  return (ag_step_room){(size_t)(8 * n + 2 * m + square), (size_t)n, 0};
}

/* A count at both ends, and three states more. */
static ag_step_room room_tests(long n, long m, long square) {
  return (ag_step_room){(size_t)(11 * n + 2 + 2 * m + square), (size_t)(n + 1), 1};
}

#define AG_STEPPER(name) \
  static const ag_langevin table_##name = AG_LANGEVIN_##name; \
  static const char text_##name[] = "#define AG_LANGEVIN_METHOD " #name "\n";
#include "step/langevin.def"
#undef AG_STEPPER

static const char table_text[] =
#include "langevin_text.inc"
    ;
static const char core_text[] =
#include "langevin_core_text.inc"
    ;

#define AG_LANGEVIN_ANY(name_) \
  .name = #name_, .family = "Langevin", .step = step_langevin, .dense = dense_langevin, \
  .interpolate = interpolate_langevin, .table = &table_##name_, .order = 2, .dense_order = 2, .strong = {1, 1, 1}, \
  .weak = {2, 2, 2}, .follows = AG_FOLLOWS_BATH, \
  .texts = {text_##name_, ag_factor_core_text,  ag_sparse_core_text, ag_newton_core_text, \
            table_text,   ag_hermite_core_text, ag_trial_core_text,  core_text}
#define AG_LANGEVIN_ROW(name_) AG_LANGEVIN_ANY(name_), .room = room_plain, .draws = AG_WIENER_HALVES
#define AG_LANGEVIN_TESTED(name_) AG_LANGEVIN_ANY(name_), .room = room_tests, .draws = AG_WIENER_TRIAL
#define AG_LANGEVIN_NEEDS AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS | AG_NEEDS_PARTITION | AG_NEEDS_NOISE | AG_NEEDS_BATH

/* clang-format off */
const ag_stepper ag_stepper_baoab = {
    AG_LANGEVIN_ROW(baoab), .needs = AG_LANGEVIN_NEEDS | AG_NEEDS_SPLIT, .n_stage = 5,
    .doc = "Friction and its noise in the middle of a leapfrog step, also with rotations: positions of linear systems at the exact temperature.",
    .reference = "B. Leimkuhler, C. Matthews, Appl. Math. Res. Express 2013, 34-56, 2013"};

const ag_stepper ag_stepper_obabo = {
    AG_LANGEVIN_ROW(obabo), .needs = AG_LANGEVIN_NEEDS | AG_NEEDS_SPLIT, .n_stage = 5,
    .doc = "Friction and its noise at both ends of a leapfrog step, also with rotations: velocities of linear systems at the exact temperature.",
    .reference = "G. Bussi, M. Parrinello, Phys. Rev. E 75, 056707, 2007"};

const ag_stepper ag_stepper_ovo_midpoint = {
    AG_LANGEVIN_ROW(ovo_midpoint), .needs = AG_LANGEVIN_NEEDS, .n_stage = 3,
    .doc = "Friction and its noise at both ends of the implicit midpoint rule: for any mass matrix and constraints; "
           "linear systems at the exact temperature.",
    .reference = "N. Bou-Rabee, H. Owhadi, SIAM J. Numer. Anal. 48, 278-297, 2010"};

const ag_stepper ag_stepper_baoab_metropolis = {
    AG_LANGEVIN_TESTED(baoab_metropolis), .needs = AG_LANGEVIN_NEEDS | AG_NEEDS_SPLIT | AG_NEEDS_CANONICAL, .n_stage = 5,
    .doc = "baoab with Metropolis' test of whole steps: Gibbs' law is exact for every step size.",
    .reference = "D. A. Sivak, J. D. Chodera, G. E. Crooks, J. Phys. Chem. B 118, 6466-6474, 2014"};

const ag_stepper ag_stepper_obabo_metropolis = {
    AG_LANGEVIN_TESTED(obabo_metropolis), .needs = AG_LANGEVIN_NEEDS | AG_NEEDS_SPLIT | AG_NEEDS_CANONICAL, .n_stage = 5,
    .doc = "obabo with Metropolis' test of its leapfrog step: Gibbs' law is exact for every step size.",
    .reference = "A. M. Horowitz, Phys. Lett. B 268, 247-252, 1991"};

const ag_stepper ag_stepper_ovo_midpoint_metropolis = {
    AG_LANGEVIN_TESTED(ovo_midpoint_metropolis), .needs = AG_LANGEVIN_NEEDS | AG_NEEDS_CANONICAL, .n_stage = 3,
    .doc = "ovo_midpoint with Metropolis' test of its step without friction, computed forward and backward: Gibbs' law is exact "
           "for every step size.",
    .reference = "N. Bou-Rabee, E. Vanden-Eijnden, Comm. Pure Appl. Math. 63, 655-696, 2010"};
/* clang-format on */
