/* SPDX-License-Identifier: MIT
 * One try of Dormand-Prince 8(5,3) with the rattleback, fused by hand: everything a constant, everything inlined. REAL
 * and NUM as in rattleback.h; REAL_SQRT, REAL_ABS and REAL_MAX are defined before. */
#ifndef BENCH_HAND_STEP_H
#define BENCH_HAND_STEP_H
#include "rattleback.h"
#include "step/tableau.h"

/* The step size belongs to one try: K[0] = f(y) is given; sets y1, K[1..12], and returns the error (accept below 1). */
INLINE REAL try_step(REAL h, const REAL *restrict y, REAL *restrict y1, REAL K[13][6], NUM rtol, NUM atol) {
  REAL w[6];
#define TERM(j, a) sum += (NUM)(a)*K[j][i];
#define STAGE(n, c, A) \
  for (int i = 0; i < 6; i++) { \
    REAL sum = {0}; \
    A(TERM) w[i] = y[i] + h * sum; \
  } \
  rattleback(w, K[n]);
  AG_RK_dop853_STAGES(STAGE) for (int i = 0; i < 6; i++) {
    REAL sum = {0};
    AG_RK_dop853_B(TERM) y1[i] = y[i] + h * sum;
  }
  rattleback(y1, K[12]);
  REAL size5 = {0}, size3 = {0};
  for (int i = 0; i < 6; i++) {
    REAL a = REAL_ABS(y[i]), b = REAL_ABS(y1[i]), scale = (NUM)1 / (atol + rtol * REAL_MAX(a, b)), sum = {0};
    AG_RK_dop853_E(TERM) size5 += sum * scale * (sum * scale);
    sum = (REAL){0};
    AG_RK_dop853_E3(TERM) size3 += sum * scale * (sum * scale);
  }
  return h * size5 / REAL_SQRT(((NUM)1e-300L + size5 + (NUM)0.01L * size3) * (NUM)6);
}
#undef TERM
#undef STAGE
#endif
