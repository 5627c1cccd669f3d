/* SPDX-License-Identifier: MIT
 * The variational methods: one row each. The library steps all of them with one copy of the text, which reads the
 * method; compiled kernels have theirs as constants. To add one: its line in variational.h and variational.def, its row
 * here. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step_text.h"
#include "step/variational.h"

#define AG_VARIATIONAL method
#define AG_VARIATIONAL_BATH
#undef AG_STEP_SIZE
#undef AG_STEP_PASS
#undef AG_STEP_PASS_SIZE
#undef AG_STEP_LOCALS
#define AG_STEP_SIZE __attribute__((unused)) const ag_variational *method, __attribute__((unused)) int n,
#define AG_STEP_PASS f, method, n,
#define AG_STEP_PASS_SIZE method, n,
#define AG_STEP_LOCALS(s) const ag_variational *method = (s)->table;

#define AG_STEP_NAME variational
#define AG_STEP_TEXT "step/variational_core.h"
#define AG_STEP_END (n + AG_STEP_OWN)
#define AG_STEP_OWN n
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#define AG_STEP_TRIAL
#include "step/method.h"

/* At most as many impulses as tangent coordinates. */
static ag_step_room room_of(long n, long m, long square) {
  return (ag_step_room){(size_t)(4 * n + 5 * n + 4 * m + 3 + 3 * m + 4 * square), (size_t)(2 * n), (int)n};
}

/* Two states more. */
static ag_step_room room_tests(long n, long m, long square) {
  ag_step_room room = room_of(n, m, square);
  room.size += (size_t)(2 * n);
  return room;
}

#define AG_STEPPER(name) \
  static const ag_variational table_##name = AG_VARIATIONAL_##name; \
  static const char text_##name[] __attribute__((unused)) = "#define AG_VARIATIONAL_METHOD " #name "\n";
#include "step/variational.def"
#undef AG_STEPPER

static const char table_text[] =
#include "variational_text.inc"
    ;
static const char core_text[] =
#include "variational_core_text.inc"
    ;

#define AG_VARIATIONAL_TEXTS \
  ag_factor_core_text, ag_sparse_core_text, ag_newton_core_text, table_text, ag_hermite_core_text
#define AG_VARIATIONAL_ANY(name_) \
  .name = #name_, .step = step_variational, .dense = dense_variational, .interpolate = interpolate_variational, \
  .table = &table_##name_
#define AG_VARIATIONAL_ROW(name_) \
  AG_VARIATIONAL_ANY(name_), .room = room_of, .family = "variational", .n_stage = 1, AG_ON_NOISE, \
                             .texts = {text_##name_, AG_VARIATIONAL_TEXTS, core_text}

#define AG_SYMMETRIC AG_NEEDS_RESIDUAL | AG_NEEDS_FACTORS | AG_NEEDS_PARTITION
/* On paths with noise: those that see it at one end of a step alone. */
#define AG_AT_END AG_SYMMETRIC | AG_NEEDS_ONE_SIDED

/* clang-format off */
const ag_stepper ag_stepper_variational_euler = {
    AG_VARIATIONAL_ROW(variational_euler), .form = AG_FORM_EXP, .order = 1, .dense_order = 1,
    .needs = AG_AT_END, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_CONSTRAINTS,
    .doc = "Variational Euler, the Lagrangian at the end of the step, on rotations with exp.",
    .reference = "N. Bou-Rabee, H. Owhadi, IMA J. Numer. Anal. 29, 421-443, 2009"};

const ag_stepper ag_stepper_variational_adjoint = {
    AG_VARIATIONAL_ROW(variational_adjoint), .form = AG_FORM_EXP, .order = 1, .dense_order = 1,
    .needs = AG_AT_END, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_CONSTRAINTS,
    .doc = "The adjoint of variational Euler: the Lagrangian at the start of the step.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, VI.6"};

const ag_stepper ag_stepper_variational_midpoint = {
    AG_VARIATIONAL_ROW(variational_midpoint), .form = AG_FORM_EXP, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_CONSTRAINTS,
    .doc = "The variational midpoint rule: Lagrangian, constraints and their impulses in the middle of the step; "
           "reversible without constraints.",
    .reference = "J. E. Marsden, M. West, Acta Numerica 10, 357-514, 2001"};

const ag_stepper ag_stepper_dla_midpoint = {
    AG_VARIATIONAL_ROW(dla_midpoint), .form = AG_FORM_EXP, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY | AG_KEEPS_CONSTRAINTS,
    .doc = "Discrete Lagrange-d'Alembert: the variational midpoint rule with the impulses of the constraints at the ends "
           "of the steps.",
    .reference = "J. Cortes, S. Martinez, Nonlinearity 14, 1365-1392, 2001"};

const ag_stepper ag_stepper_verlet = {
    AG_VARIATIONAL_ROW(verlet), .form = AG_FORM_EXP, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY | AG_KEEPS_CONSTRAINTS,
    .doc = "Stormer-Verlet: the adjoint of variational Euler, then variational Euler, with half steps.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, I.1, VI.3"};

const ag_stepper ag_stepper_leapfrog = {
    AG_VARIATIONAL_ROW(leapfrog), .form = AG_FORM_EXP, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY | AG_KEEPS_CONSTRAINTS,
    .doc = "Variational Euler, then its adjoint, with half steps: both use the constraints at the half step, where the "
           "velocities are projected.",
    .reference = "R. I. McLachlan, M. Perlmutter, J. Nonlinear Sci. 16, 283-328, 2006"};

const ag_stepper ag_stepper_rattle = {
    AG_VARIATIONAL_ROW(rattle), .form = AG_FORM_TRAPEZOID, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY | AG_KEEPS_CONSTRAINTS,
    .doc = "RATTLE: the Lagrangian at both ends of the step, position constraints and their rates at its end.",
    .reference = "H. C. Andersen, J. Comput. Phys. 52, 24-34, 1983"};

const ag_stepper ag_stepper_cayley_euler = {
    AG_VARIATIONAL_ROW(cayley_euler), .form = AG_FORM_CAYLEY, .order = 1, .dense_order = 1,
    .needs = AG_AT_END, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_CONSTRAINTS,
    .doc = "Variational Euler, on rotations with the Cayley map.",
    .reference = "N. Bou-Rabee, H. Owhadi, IMA J. Numer. Anal. 29, 421-443, 2009"};

const ag_stepper ag_stepper_cayley_midpoint = {
    AG_VARIATIONAL_ROW(cayley_midpoint), .form = AG_FORM_CAYLEY, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_CONSTRAINTS,
    .doc = "The variational midpoint rule with the Cayley map.",
    .reference = "J. E. Marsden, M. West, Acta Numerica 10, 357-514, 2001"};

const ag_stepper ag_stepper_cayley_verlet = {
    AG_VARIATIONAL_ROW(cayley_verlet), .form = AG_FORM_CAYLEY, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY | AG_KEEPS_CONSTRAINTS,
    .doc = "Stormer-Verlet with the Cayley map.",
    .reference = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., 2006, I.1, VI.3"};

const ag_stepper ag_stepper_se3_euler = {
    AG_VARIATIONAL_ROW(se3_euler), .form = AG_FORM_SE3, .order = 2, .dense_order = 2,
    .needs = AG_SYMMETRIC, .keeps = AG_KEEPS_SYMPLECTIC | AG_KEEPS_REVERSIBILITY,
    .doc = "Variational Euler with a rotation and a vector as one factor, SE(3), for free bodies and vehicles whose "
           "Lagrangian depends on R^T x' and Omega alone.",
    .reference = "N. Bou-Rabee, H. Owhadi, IMA J. Numer. Anal. 29, 421-443, 2009, figure 1.1"};

#define AG_BATHED_TEXT(name_) ("#define AG_VARIATIONAL_BATH\n#define AG_VARIATIONAL_METHOD " #name_ "\n")
#define AG_BATHED_ANY(name_) \
  AG_VARIATIONAL_ANY(name_), .family = "Langevin", .form = AG_FORM_TRAPEZOID, .order = 2, .dense_order = 2, \
  .strong = {1, 1, 1}, .weak = {2, 2, 2}, .follows = AG_FOLLOWS_BATH, .keeps = AG_KEEPS_CONSTRAINTS, \
  .texts = {AG_BATHED_TEXT(name_), AG_VARIATIONAL_TEXTS, ag_trial_core_text, core_text}
#define AG_BATHED_ROW(name_) \
  AG_BATHED_ANY(name_), .room = room_of, .draws = AG_WIENER_HALVES, \
  .needs = AG_SYMMETRIC | AG_NEEDS_NOISE | AG_NEEDS_BATH
#define AG_BATHED_TESTED(name_) \
  AG_BATHED_ANY(name_), .room = room_tests, .draws = AG_WIENER_TRIAL, \
  .needs = AG_SYMMETRIC | AG_NEEDS_NOISE | AG_NEEDS_BATH | AG_NEEDS_CANONICAL

const ag_stepper ag_stepper_ovo_rattle = {
    AG_BATHED_ROW(ovo_rattle), .n_stage = 3,
    .doc = "Friction and its noise at both ends of a step of RATTLE: OBABO for position constraints, which it keeps, and any "
           "mass matrix.",
    .reference = "E. Vanden-Eijnden, G. Ciccotti, Chem. Phys. Lett. 429, 310-316, 2006"};

const ag_stepper ag_stepper_ovo_rattle_metropolis = {
    AG_BATHED_TESTED(ovo_rattle_metropolis), .n_stage = 3,
    .doc = "ovo_rattle with Metropolis' test of its step of RATTLE, computed forward and backward: Gibbs' law is exact for every "
           "step size, with position constraints and any mass matrix.",
    .reference = "T. Lelievre, M. Rousset, G. Stoltz, Numer. Math. 143, 379-421, 2019"};

const ag_stepper ag_stepper_baoab_rattle = {
    AG_BATHED_ROW(baoab_rattle), .n_stage = 7,
    .doc = "Friction and its noise in the middle of two steps of RATTLE with changed kicks: BAOAB for position constraints, "
           "which it keeps, and any mass matrix; positions of linear systems at the exact temperature.",
    .reference = "B. Leimkuhler, C. Matthews, Proc. R. Soc. A 472, 20160138, 2016"};

const ag_stepper ag_stepper_baoab_rattle_metropolis = {
    AG_BATHED_TESTED(baoab_rattle_metropolis), .n_stage = 7,
    .doc = "baoab_rattle with Metropolis' test of whole steps, RATTLE computed forward and backward: Gibbs' law is exact for "
           "every step size, with position constraints and any mass matrix.",
    .reference = "T. Lelievre, M. Rousset, G. Stoltz, Numer. Math. 143, 379-421, 2019"};
/* clang-format on */
