/* SPDX-License-Identifier: MIT
 * The SPARK methods: one row each. To add one: its line in spark.h and spark.def, its row here. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/spark.h"
#include "step/step_text.h"

#define AG_SPARK method
#undef AG_STEP_SIZE
#undef AG_STEP_PASS
#undef AG_STEP_PASS_SIZE
#undef AG_STEP_LOCALS
#define AG_STEP_SIZE __attribute__((unused)) const ag_spark *method, __attribute__((unused)) int n,
#define AG_STEP_PASS f, method, n,
#define AG_STEP_PASS_SIZE method, n,
#define AG_STEP_LOCALS(s) const ag_spark *method = (s)->table;

#define AG_STEP_NAME spark
#define AG_STEP_TEXT "step/spark_core.h"
#define AG_STEP_END n
#define AG_STEP_OWN 0
#define AG_STEP_NEWTON
#define AG_STEP_HERMITE
#include "step/method.h"

/* At most as many constraints as tangent coordinates; the end of a step needs no more than the matrix. */
static ag_step_room room_of(const ag_spark *method, long n, long m) {
  long s = method->s, unknowns = (2 * s - 1) * m, all = 3 * m;
  return (ag_step_room){
      (size_t)(6 * n + 5 * m + 3 + 2 * unknowns + unknowns * unknowns + s * (m + all + all * all) + n), (size_t)n, 0};
}

#define AG_STEPPER(name) \
  static const ag_spark table_##name = AG_SPARK_##name; \
  static const char text_##name[] = "#define AG_SPARK_METHOD " #name "\n"; \
  static ag_step_room room_##name(long n, long m, long square) { \
    (void)square; \
    return room_of(&table_##name, n, m); \
  }
#include "step/spark.def"
#undef AG_STEPPER

static const char table_text[] =
#include "spark_text.inc"
    ;
static const char core_text[] =
#include "spark_core_text.inc"
    ;

#define AG_SPARK_ROW_OF(name_) \
  .name = #name_, .family = "SPARK", .room = room_##name_, .step = step_spark, .dense = dense_spark, \
  .interpolate = interpolate_spark, .table = &table_##name_, .form = AG_FORM_SPARK, .keeps = AG_KEEPS_SYMMETRY, \
  .needs = AG_NEEDS_RESIDUAL | AG_NEEDS_FACTORS | AG_NEEDS_PARTITION, \
  .reference = "L. O. Jay, SIAM J. Numer. Anal. 45, 1814-1842, 2007, and Lagrange-d'Alembert SPARK integrators for " \
               "nonholonomic Lagrangian systems, University of Iowa, 2009", \
  .texts = { \
      text_##name_, ag_factor_core_text, ag_sparse_core_text, ag_newton_core_text, table_text, ag_hermite_core_text, \
      core_text}

/* clang-format off */
const ag_stepper ag_stepper_spark2 = {
    AG_SPARK_ROW_OF(spark2), .order = 2, .dense_order = 2, .n_stage = 2,
    .doc = "Lobatto IIIA for positions and IIIB for momenta, 2 stages, with the forces of constraint among those of the "
           "momenta; velocities at the ends of steps satisfy the constraints."};

const ag_stepper ag_stepper_spark3 = {
    AG_SPARK_ROW_OF(spark3), .order = 4, .dense_order = 3, .n_stage = 3,
    .doc = "The same with 3 stages."};
/* clang-format on */
