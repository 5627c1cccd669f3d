/* SPDX-License-Identifier: MIT
 * The coefficients of a SPARK method: the Lobatto pair IIIA (a, positions) and IIIB (A, momenta) with weights b and
 * nodes c. This text is compiled into the library and embedded into compiled kernels: it includes nothing. */
#ifndef AG_STEP_SPARK_H
#define AG_STEP_SPARK_H
enum { AG_SPARK_MOST = 3 };

typedef struct ag_spark {
  int s;
  double c[AG_SPARK_MOST], b[AG_SPARK_MOST];
  double a[AG_SPARK_MOST * AG_SPARK_MOST], A[AG_SPARK_MOST * AG_SPARK_MOST]; /* rows of AG_SPARK_MOST numbers */
} ag_spark;

/* clang-format off */
#define AG_SPARK_spark2 \
  {2, {0, 1}, {0.5, 0.5}, \
   {0, 0, 0, 0.5, 0.5, 0}, {0.5, 0, 0, 0.5, 0, 0}}
#define AG_SPARK_spark3 \
  {3, {0, 0.5, 1}, {1.0 / 6, 2.0 / 3, 1.0 / 6}, \
   {0, 0, 0, 5.0 / 24, 1.0 / 3, -1.0 / 24, 1.0 / 6, 2.0 / 3, 1.0 / 6}, \
   {1.0 / 6, -1.0 / 6, 0, 1.0 / 6, 1.0 / 3, 0, 1.0 / 6, 5.0 / 6, 0}}
/* clang-format on */

#ifdef AG_SPARK_METHOD
#define AG_SPARK_PASTE_(name) AG_SPARK_##name
#define AG_SPARK_PASTE(name) AG_SPARK_PASTE_(name)
static const ag_spark spark_method = AG_SPARK_PASTE(AG_SPARK_METHOD);
#define AG_SPARK (&spark_method)
#endif
#endif
