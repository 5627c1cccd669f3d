/* SPDX-License-Identifier: MIT
 * Wiener paths, one at a time: wiener_core.h with V = double. */
#include <math.h>
#include <string.h>

#include "expr/vmath.h"
#include "step/step.h"
#include "step/step_text.h"

#include "step/wiener_core.h"

const char ag_wiener_text[] =
#include "wiener_text.inc"
    ;
const char ag_wiener_core_text[] =
#include "wiener_core_text.inc"
    ;

size_t ag_wiener_size(const ag_wiener *w, int draws) {
  size_t m = (size_t)w->channels;
  if (draws == AG_WIENER_HALVES || draws == AG_WIENER_COIN) return 2 + 2 * m;
  if (draws == AG_WIENER_TRIAL) return 3 + 2 * m;
  return 1 + m + (draws == AG_WIENER_AREAS ? m * (m - 1) / 2 : 0);
}

size_t ag_wiener_work(const ag_wiener *w, int draws) {
  return 2 * ag_wiener_size(w, draws) + (draws == AG_WIENER_AREAS ? (size_t)AG_WIENER_ROOM((size_t)w->channels) : 0);
}

#define STEP_BODY \
  double *even = work, *odd = work + size, *rest = odd + size; \
  if (draws == AG_WIENER_AREAS) wiener_areas(w, path >> 1, k, even, odd, rest); \
  else if (draws == AG_WIENER_HALVES) wiener_halves(w, path >> 1, k, even, odd); \
  else if (draws == AG_WIENER_COIN) wiener_coin(w, path >> 1, k, even, odd); \
  else if (draws == AG_WIENER_TRIAL) wiener_trial(w, path >> 1, k, even, odd); \
  else wiener_step(w, path >> 1, k, even, odd);
static void step_plain(const ag_wiener *w, v_word path, v_word k, int draws, size_t size, double *work) { STEP_BODY }
#ifdef AG_STEP_TWICE
__attribute__((target("avx2,fma"))) static void step_fused(const ag_wiener *w, v_word path, v_word k, int draws,
                                                           size_t size, double *work) {
  STEP_BODY
}
#endif

void ag_wiener_step(const ag_wiener *w, unsigned long long path, unsigned long long k, int draws, double *out,
                    double *work) {
  const size_t size = ag_wiener_size(w, draws);
#ifdef AG_STEP_TWICE
  if (step_has_fma()) step_fused(w, path, k, draws, size, work);
  else
#endif
    step_plain(w, path, k, draws, size, work);
  memcpy(out, work + (path & 1 ? size : 0), size * sizeof *out);
}

void ag_wiener_uniform(const ag_wiener *w, unsigned long long path, unsigned long long k, int channel, double u[2]) {
  wiener_uniform(w, path, k << AG_WIENER_LEVELS, channel, u);
}

double ag_wiener_normal(const ag_wiener *w, unsigned long long path, unsigned long long k, int channel) {
  double x[2];
  wiener_base(w, path >> 1, k, channel, x);
  return x[path & 1];
}

/* ---- base grids ---- */

/* dt = m 2^e with a small odd m: the base is 2^e, so that all such steps share their paths; else dt itself. */
double ag_wiener_near(double dt) {
  int e;
  double m = frexp(dt, &e);
  for (int odd = 0; odd < 5; odd++, m *= 2, e--)
    if (m == floor(m)) break;
  return m == floor(m) && m <= 16 ? ldexp(1, e) : dt;
}

int ag_wiener_area_level(double base) { return (int)fmin(12, fmax(4, ceil(-log2(base)))); }

static const double rounding = 1e-12; /* relative: decimal numbers such as 0.1 and 0.3 are not exact */

bool ag_wiener_fit(ag_wiener *w, double dt, double nearest[2]) {
  w->multiple = 1, w->level = 0;
  const double ratio = dt / w->base;
  if (ratio >= 0.75) {
    const double m = floor(ratio + 0.5);
    nearest[0] = w->base * fmax(1, floor(ratio)), nearest[1] = w->base * (floor(ratio) + 1);
    if (!(fabs(m - ratio) <= rounding * ratio && m <= 1 << 30)) return false;
    w->multiple = (int)m;
    return true;
  }
  int e;
  const double m = frexp(ratio, &e); /* in [1/2, 1) */
  nearest[0] = ldexp(w->base, e - 1), nearest[1] = ldexp(w->base, e);
  const int level = m > 0.75 ? -e : 1 - e;
  if (!(ratio > 0) || level > AG_WIENER_LEVELS || fabs(ldexp(ratio, level) - 1) > rounding) return false;
  w->level = level;
  return true;
}

bool ag_wiener_half(ag_wiener *w) {
  if (w->multiple % 2 == 0) w->multiple /= 2;
  else if (w->multiple == 1 && w->level < AG_WIENER_LEVELS) w->level++;
  else return false;
  return true;
}

bool ag_wiener_divides(const ag_wiener *w, double dt, double span, unsigned long long *steps, double nearest[2]) {
  const double n = span / dt, whole = floor(n + 0.5);
  nearest[0] = span / (floor(n) + 1), nearest[1] = span / fmax(1, floor(n));
  if (!(whole >= 1 && ldexp(whole * w->multiple, -w->level) <= 0x1p32 && fabs(n - whole) <= 1e-9 * whole)) return false;
  *steps = (unsigned long long)whole;
  return true;
}

static bool suits(const ag_wiener *w, double dt, double span) {
  ag_wiener path = *w;
  const double n = span / dt;
  double nearest[2];
  unsigned long long steps;
  return ag_wiener_fit(&path, dt, nearest) && ag_wiener_divides(&path, dt, span, &steps, nearest) &&
         fabs(n - floor(n + 0.5)) <= rounding * n;
}

/* The steps of the grid in order: base/2^24, ..., base/2, base, 2 base, ... */
static double step_of_grid(const ag_wiener *w, double i) { return i < 1 ? ldexp(w->base, (int)i - 1) : w->base * i; }

bool ag_wiener_suitable(const ag_wiener *w, double dt, double span, double nearest[2]) {
  enum { MOST = 1 << 20 }; /* of each side */
  const double ratio = dt / w->base, at = ratio < 1 ? fmax(-AG_WIENER_LEVELS, floor(log2(ratio)) + 1) : floor(ratio),
               last = span / w->base * (1 + rounding);
  double low = at, high = at + 1;
  while (low > at - MOST && low > -AG_WIENER_LEVELS && !suits(w, step_of_grid(w, low), span)) low--;
  while (high < at + MOST && high < last && !suits(w, step_of_grid(w, high), span)) high++;
  const bool below = suits(w, step_of_grid(w, low), span), above = suits(w, step_of_grid(w, high), span);
  nearest[0] = step_of_grid(w, below ? low : high), nearest[1] = step_of_grid(w, above ? high : low);
  return below || above;
}
