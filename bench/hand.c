/* SPDX-License-Identifier: MIT
 * Dormand-Prince 8(5,3) fused by hand with the rattleback: everything a constant, everything inlined. The yardstick of
 * the race; compiled with the optimisation a user would ask for. With REAL = long double it gives the reference. */
#include <string.h>

#ifdef REFERENCE
#define REAL long double
#define REAL_SQRT sqrtl
#endif
#define REAL_ABS(x) ((x) < 0 ? -(x) : (x))
#define REAL_MAX(a, b) ((a) > (b) ? (a) : (b))
#include "hand_step.h"
#include "rival.h"

static int solve(REAL t1, REAL rtol, REAL atol, REAL *y, long *n_rhs) {
  REAL K[13][6], y1[6], t = 0, h = (REAL)1e-3L;
  long n = 1;
  int rejected = 0;
  rattleback(y, K[0]);
  while (t < t1) {
    if (t + h > t1) h = t1 - t;
    REAL error = try_step(h, y, y1, K, rtol, atol),
         factor = (REAL)0.9L / REAL_SQRT(REAL_SQRT(REAL_SQRT(error + (REAL)1e-30L)));
    n += 12;
    if (!(factor > (REAL)0.2L)) factor = (REAL)0.2L;
    if (factor > (rejected ? 1 : 10)) factor = rejected ? 1 : 10;
    rejected = !(error < 1);
    if (!rejected) {
      t += h;
      memcpy(y, y1, sizeof y1);
      memcpy(K[0], K[12], sizeof y1);
    } else if (!(h > t * (REAL)1e-18L)) {
      return 1;
    }
    h *= factor;
  }
  *n_rhs += n;
  return 0;
}

static int solve_double(double t1, double rtol, double atol, double *y, long *n_rhs) {
  REAL z[6];
  for (int i = 0; i < 6; i++) z[i] = y[i];
  int bad = solve(t1, (REAL)rtol, (REAL)atol, z, n_rhs);
  for (int i = 0; i < 6; i++) y[i] = (double)z[i];
  return bad;
}

/* Many right-hand sides, for the time of one: the derivative is added to the state a little, so that none can be left
 * out. */
static int right_hand_sides(double t1, double rtol, double atol, double *y, long *n_rhs) {
  REAL z[6], dz[6];
  (void)rtol, (void)atol;
  for (int i = 0; i < 6; i++) z[i] = y[i];
  long n = (long)t1;
  for (long k = 0; k < n; k++) {
    rattleback(z, dz);
    for (int i = 0; i < 6; i++) z[i] += (REAL)1e-12L * dz[i];
  }
  *n_rhs += n;
  for (int i = 0; i < 6; i++) y[i] = (double)z[i];
  return 0;
}

const rival *rivals(int *n) {
  static const rival list[] = {{"hand-written C dop853", solve_double, 0}, {"right-hand sides", right_hand_sides, 0}};
  *n = 2;
  return list;
}
