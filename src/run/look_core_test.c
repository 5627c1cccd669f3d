/* SPDX-License-Identifier: MIT
 * The quicker range of a component over a step contains that of the closer look, whatever the other components say
 * about its width. */
#include <math.h>
#include <stdint.h>

#include "expr/vmath.h"
#include "run/fused_args.h"
#include "tests/check.h"

#include "expr/enclose.h"

#include "expr/around.h"

#define AG_LOOK_OF const int *a
#define AG_LOOK_FN V_IN
#define AG_LOOK_READS(a) 1
#define AG_LOOK_READ(a, i) (i)
#define AG_LOOK_FUNCTIONS(a) 1
#define AG_LOOK_ASKED(a, e) 1
#define AG_LOOK_BOUNDS(a, t, z, out) (out)[0] = (z)[0], (void)(a), (void)(t);
#define AG_WATCH_QUICK 1
#include "run/look_core.h"

static uint64_t state = 5;
static double uniform(double lo, double hi) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}
/* Of any size, sometimes 0. */
static double number(void) { return uniform(0, 1) < 0.1 ? 0 : copysign(exp(uniform(-30, 5)), uniform(-1, 1)); }

static void check_component(void) {
  const double z = number(), z1 = z + number(), r = number(), r1 = number(), r4 = number();
  const double rtol = uniform(0, 1) < 0.3 ? 0 : exp(uniform(-32, -5)), atol = rtol > 0 ? exp(uniform(-35, -5)) : 0;
  const double C = look_last(z, z1, r, r1, r4), own = look_decay(z, z1, r, r1, C);
  const double decay = uniform(0, 1) < 0.3 ? INFINITY : own * exp(uniform(0, 3));
  const double width = look_width(z, z1, r, r1, C, decay) + look_tolerance(z, z1, rtol, atol);
  const look_curve curve = look_component(z, z1, r, r1, C, width);
  const E range = look_range(&curve, 1);
  const A wider = look_around(z, z1, r, r1, r4, rtol, atol);
  AG_CHECK((long double)wider.at - wider.off <= range.lo);
  AG_CHECK((long double)wider.at + wider.off >= range.hi);
  AG_CHECK(wider.off <= 4 * (range.hi - range.lo)); /* and is of use: the width may be smaller by X(b)/16 */
}

static void check_time(void) {
  const double t = number(), h = number();
  const E time = look_time(t, h, 0, 1);
  const A wider = look_time_around(t, h);
  AG_CHECK((long double)wider.at - wider.off <= time.lo);
  AG_CHECK((long double)wider.at + wider.off >= time.hi);
}

int main(void) {
  for (int i = 0; i < ag_check_some(20000); i++) check_component(), check_time();
  return ag_check_report();
}
