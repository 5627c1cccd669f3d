/* SPDX-License-Identifier: MIT
 * The zero of a function in a step: text over V, for single runs (V = double, events.c) and for lanes (locate_core.h).
 * On the dense output first, then by real steps from the start of the step. Every rounding is written out; a lane's
 * numbers follow from its own alone.
 *
 * To be defined before:
 *   AG_ROOT_OF                the parameter `a` of both functions, with its type: the step and the function
 *   AG_ROOT_T(a) AG_ROOT_H(a) start and size of the step
 *   AG_ROOT_DENSE(a, theta)   the function at the part theta of the step, on the dense output
 *   AG_ROOT_STEP(a, s)        the function at the time s, by a real step; NaN where it cannot be computed */

/* What is left of an error after one correction with the slope of the dense output, at most. */
#define AG_ROOT_CORRECTED 1e-5

/* The zero between lo and hi (parts of the step) on the dense output, to 1e-7 of that or so, and the slope there
 * per unit of time: regula falsi with the Illinois rule, guarded by bisection. good: where there is one. */
static V root_on_dense(AG_ROOT_OF, V lo, V hi, V *slope, VI *good) {
  const V zero = v_set(0), tiny = 1e-4 * (hi - lo);
  V x0 = lo, x1 = hi, f0 = AG_ROOT_DENSE(a, x0), f1 = AG_ROOT_DENSE(a, x1);
  VI live = *good & m_lt(f0 * f1, zero);
  *good = live;
  for (int i = 0; i < 40 && v_any(live); i++) {
    V x = x1 - f1 * (x1 - x0) / (f1 - f0);
    const VI inside = m_lt(v_min(x0, x1), x) & m_lt(x, v_max(x0, x1));
    x = v_blend(inside, x, 0.5 * (x0 + x1));
    if (i % 8 == 7) x = 0.5 * (x0 + x1);
    const V f = AG_ROOT_DENSE(a, x), moved = v_abs(x - x1);
    const VI same = ~(m_lt(zero, f) ^ m_lt(zero, f1));
    x0 = v_blend(live & ~same, x1, x0);
    f0 = v_blend(live, v_blend(same, 0.5 * f0, f1), f0);
    x1 = v_blend(live, x, x1), f1 = v_blend(live, f, f1);
    live &= ~(m_lt(moved, tiny) | m_eq(f, zero));
  }
  const V h = AG_ROOT_H(a), left = v_max(x1 - tiny, lo), right = v_min(x1 + tiny, hi), above = AG_ROOT_DENSE(a, right);
  *slope = (above - AG_ROOT_DENSE(a, left)) / ((right - left) * h);
  *good &= m_lt(v_abs(*slope), v_set(V_INF)) & ~m_eq(*slope, zero);
  /* a correction that is not small, or leads out of the bracket: the secants have not converged */
  const V correction = f1 / (*slope * h), x = x1 - correction;
  *good &= m_le(v_abs(correction), 10.0 * tiny) & m_le(lo, x) & m_le(x, hi);
  return x;
}

/* From the zero s of the dense output to that of real steps, whose distance is the error of the interpolation: Newton
 * with the slope of the dense output, as long as the values shrink and no correction is larger than `reach`. good:
 * where it converges. */
static V root_by_steps(AG_ROOT_OF, V s, V slope, V reach, VI *good) {
  const V t = AG_ROOT_T(a), zero = v_set(0);
  V found = s, f = AG_ROOT_STEP(a, s);
  VI live = *good;
  *good = v_word_set(0);
  for (int i = 0; i < 8 && v_any(live); i++) {
    const V next = s - f / slope, moved = v_abs(next - s), size = v_max(v_abs(s), v_abs(s - t));
    live &= m_le(moved, reach);
    found = v_blend(live, s, found);
    const VI there = live & (m_eq(next, s) | m_eq(f, zero));
    const VI near = live & ~there & m_le(AG_ROOT_CORRECTED * moved, 1e-16 * size);
    found = v_blend(near, next, found);
    *good |= there | near, live &= ~(there | near);
    if (!v_any(live)) break;
    const V now = AG_ROOT_STEP(a, v_blend(live, next, s));
    const VI ended = m_le(moved, 1e-15 * size), stuck = live & ~m_lt(v_abs(now), v_abs(f)); /* by rounding, if near */
    *good |= stuck & m_le(moved, 1e-13 * size), live &= ~stuck;
    s = v_blend(live, next, s), found = v_blend(live, next, found), f = v_blend(live, now, f);
    *good |= live & ended, live &= ~ended;
  }
  return found;
}
