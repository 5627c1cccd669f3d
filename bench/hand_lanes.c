/* SPDX-License-Identifier: MIT
 * Many rattlebacks by hand, AG_LANES of them in one vector, each with its own step size; a lane whose stone has arrived
 * takes the next one. With more lanes than a register holds, two or more registers are interleaved per number: compiled
 * for several numbers of lanes, the fastest is what sweeps are measured against. */
#include "expr/vtype.h"

#define REAL V
#define NUM double
#define REAL_SQRT(x) v_sqrt(x)
#define REAL_ABS(x) ((V)((VI)(x)&0x7fffffffffffffffULL))
#define REAL_MAX(a, b) pick((VI)((a) > (b)), a, b)
static inline __attribute__((always_inline)) V pick(VI mask, V a, V b) { return (V)((mask & (VI)a) | (~mask & (VI)b)); }
#include "hand_step.h"
#include "rival.h"

typedef struct lanes {
  V y[6], y1[6], K[13][6], t, h;
  VI rejected;
  int stone[AG_LANES], next, live;
} lanes;

/* Lane i takes the next stone; without one it goes on with what it has, unseen. */
static void take_next(lanes *l, int i, int n, const double *y) {
  V start[6], rate[6];
  l->live -= l->stone[i] >= 0;
  l->stone[i] = l->next < n ? l->next++ : -1;
  int from = l->stone[i] < 0 ? 0 : l->stone[i];
  l->live += l->stone[i] >= 0;
  for (int k = 0; k < 6; k++) start[k] = y[6 * from + k] - (V){0};
  rattleback(start, rate);
  for (int k = 0; k < 6; k++) l->y[k][i] = start[k][i], l->K[0][k][i] = rate[k][i];
  l->t[i] = 0, l->h[i] = 1e-3, l->rejected[i] = 0;
}

int hand_many(double t1, double rtol, double atol, int n, const double *y0, double *y, long *n_rhs) {
  lanes l = {.next = 0};
  for (int i = 0; i < AG_LANES; i++) l.stone[i] = -1;
  for (int i = 0; i < AG_LANES; i++) take_next(&l, i, n, y0);
  while (l.live) {
    V left = t1 - l.t, h = l.h = pick((VI)(l.h > left), left, l.h);
    V error = try_step(h, l.y, l.y1, l.K, rtol, atol);
    V factor = 0.9 / v_sqrt(v_sqrt(v_sqrt(error + 1e-30))), most = pick(l.rejected, 1 - (V){0}, 10 - (V){0});
    factor = pick((VI)(factor > 0.2), factor, 0.2 - (V){0});
    factor = pick((VI)(factor > most), most, factor);
    VI good = (VI)(error < 1.0);
    l.rejected = ~good;
    for (int k = 0; k < 6; k++) l.y[k] = pick(good, l.y1[k], l.y[k]), l.K[0][k] = pick(good, l.K[12][k], l.K[0][k]);
    l.t = pick(good, l.t + h, l.t), l.h = h * factor;
    *n_rhs += 12 * l.live;
    VI arrived = (VI)(l.t >= t1);
    if (!v_any(arrived)) continue;
    for (int i = 0; i < AG_LANES; i++) {
      if (!arrived[i]) continue;
      for (int k = 0; k < 6 && l.stone[i] >= 0; k++) y[6 * l.stone[i] + k] = l.y[k][i];
      take_next(&l, i, n, y0);
    }
  }
  return 0;
}
