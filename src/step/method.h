/* SPDX-License-Identifier: MIT
 * Makes the functions of one stepper from its text: room_NAME, step_NAME, dense_NAME, interpolate_NAME. Included once
 * per stepper, after step_text.h and the words of V, with
 *   AG_STEP_NAME     its name
 *   AG_STEP_TEXT     its text, "step/rk_core.h"
 *   AG_STEP_ROOM     workspace, in numbers: an expression of n, m and square (components, tangent coordinates,
 *                    numbers of a matrix); not defined: there is no room_NAME
 *   AG_STEP_END      where the carry at the end of a step stands in it
 *   AG_STEP_OWN      numbers of its own that it carries from step to step
 *   AG_STEP_NEWTON   defined: the text is to stand after factor_core.h, sparse_core.h and newton_core.h
 *   AG_STEP_LU       defined: after factor_core.h, sparse_core.h and lu_core.h
 *   AG_STEP_TURNS    defined: after factor_core.h
 *   AG_STEP_HERMITE  defined: then after hermite_core.h, which has its dense output
 *   AG_STEP_TRIAL    defined: then after trial_core.h
 *   AG_STEP_INTEGRAL defined: the text has the function integral, too, and there is integral_NAME */
#define AG_PASTE_(a, b) a##_##b
#define AG_PASTE(a, b) AG_PASTE_(a, b)
#define AG_OF(a) AG_PASTE(a, AG_STEP_NAME)

#define AG_STEP_FN(name) AG_OF(AG_PASTE(plain, name))
#define AG_STEP_QUALIFIER static __attribute__((unused))
#if defined AG_STEP_NEWTON || defined AG_STEP_LU
#include "step/sparse_core.h"
#endif
#ifdef AG_STEP_NEWTON
#include "step/factor_core.h"
#include "step/newton_core.h"
#endif
#ifdef AG_STEP_LU
#include "step/factor_core.h"
#include "step/lu_core.h"
#endif
#ifdef AG_STEP_TURNS
#include "step/factor_core.h"
#endif
#ifdef AG_STEP_HERMITE
#include "step/hermite_core.h"
#endif
#ifdef AG_STEP_TRIAL
#include "step/trial_core.h"
#endif
#include AG_STEP_TEXT
#undef AG_STEP_FN
#undef AG_STEP_QUALIFIER

#ifdef AG_STEP_TWICE
#define AG_STEP_FN(name) AG_OF(AG_PASTE(fused, name))
#define AG_STEP_QUALIFIER static __attribute__((unused, target("avx2,fma")))
#if defined AG_STEP_NEWTON || defined AG_STEP_LU
#include "step/sparse_core.h"
#endif
#ifdef AG_STEP_NEWTON
#include "step/factor_core.h"
#include "step/newton_core.h"
#endif
#ifdef AG_STEP_LU
#include "step/factor_core.h"
#include "step/lu_core.h"
#endif
#ifdef AG_STEP_TURNS
#include "step/factor_core.h"
#endif
#ifdef AG_STEP_HERMITE
#include "step/hermite_core.h"
#endif
#ifdef AG_STEP_TRIAL
#include "step/trial_core.h"
#endif
#include AG_STEP_TEXT
#undef AG_STEP_FN
#undef AG_STEP_QUALIFIER
#define AG_CALL(name, ...) (step_has_fma() ? AG_OF(fused_##name)(__VA_ARGS__) : AG_OF(plain_##name)(__VA_ARGS__))
#else
#define AG_CALL(name, ...) AG_OF(plain_##name)(__VA_ARGS__)
#endif

#ifdef AG_STEP_ROOM
static ag_step_room AG_OF(room)(long n, long m, long square) {
  (void)m, (void)square;
  return (ag_step_room){(size_t)(AG_STEP_ROOM), (size_t)(AG_STEP_END), (int)(AG_STEP_OWN)};
}
#endif

static int AG_OF(step)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                       double *z1, double *dz1, double rtol, double atol, double *error, double *work) {
  const int n = f->n, m = f->m ? f->m : n;
  AG_STEP_LOCALS(s)
  const size_t size = sizeof *work * (size_t)(n + AG_STEP_OWN);
  (void)m;
  const double at_least = fmax(atol, DBL_MIN);
  *error = 0;
  memcpy(work, dz0, size);
  int reason = AG_CALL(step, AG_STEP_PASS t, h, z, z1, rtol, &at_least, error, work);
  if (reason == 0) memcpy(dz1, work + AG_STEP_END, size);
  return reason;
}

static int AG_OF(dense)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *z1,
                        double *work) {
  const int n = f->n;
  AG_STEP_LOCALS(s)
  return AG_CALL(dense, AG_STEP_PASS t, h, z, z1, work);
}

static void AG_OF(interpolate)(const ag_stepper *s, int n, double theta, const double *z, const double *work,
                               double *out) {
  AG_STEP_LOCALS(s)
  AG_CALL(interpolate, AG_STEP_PASS_SIZE theta, z, work, out);
}

#ifdef AG_STEP_INTEGRAL
static double AG_OF(integral)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z,
                              const double *work) {
  const int n = f->n;
  (void)s;
  return AG_CALL(integral, AG_STEP_PASS t, h, z, work);
}
#undef AG_STEP_INTEGRAL
#endif

#undef AG_CALL
#undef AG_OF
#undef AG_PASTE
#undef AG_PASTE_
#undef AG_STEP_NAME
#undef AG_STEP_ROOM
#undef AG_STEP_END
