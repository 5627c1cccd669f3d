/* SPDX-License-Identifier: MIT
 * Zeros of the last function that is watched, in all lanes at once: text over V, behind march_core.h and watch_core.h.
 * On the dense output first, then by real steps from the start of the step, as dense_root() and polish() in events.c do
 * it. Every rounding is written out; a lane's numbers follow from its own alone.
 *
 * To be defined before, besides what these two need:
 *   AG_CORRECTED   what is left of an error after one correction with the slope of the dense output, at most */

/* The function at (t, z); NaN where it cannot be evaluated. */
static V locate_value(const ag_fused_args *a, V t, const V *z) {
  V out[AG_WATCH];
  VI failed = v_word_set(0);
  AG_FLOW_WATCH(a, t, z, out, failed)
  return v_blend(failed, v_nan(), out[AG_WATCH - 1]);
}

/* At the fraction theta of the step, on the dense output. */
static __attribute__((noinline)) V locate_on_dense(const ag_fused_args *a, V theta) {
  fused_interpolate(theta, a->z, a->work, a->found_z);
  return locate_value(a, v_fma(theta, *a->h, *a->t), a->found_z);
}

/* At the time s, by a full step. */
static __attribute__((noinline)) V locate_by_step(const ag_fused_args *a, V s) {
  V errors[2];
  VI failed = v_word_set(0);
  (void)fused_step(AG_FLOW_OF(a, &failed) * a->t, s - *a->t, a->z, a->found_z, 1, 1, errors, a->work);
  restore_units(a, a->found_z, v_word_set(~0ULL));
  return v_blend(failed, v_nan(), locate_value(a, s, a->found_z));
}

/* The zero between the ends of the step on the dense output, and the slope there per unit of time: regula falsi with
 * the Illinois rule, guarded by bisection. */
static V locate_dense_root(const ag_fused_args *a, V *slope, VI *good) {
  const V zero = v_set(0), one = v_set(1), tiny = v_set(1e-4);
  V x0 = zero, x1 = one, f0 = locate_on_dense(a, x0), f1 = locate_on_dense(a, x1);
  VI live = *good & m_lt(f0 * f1, zero);
  *good = live;
  for (int i = 0; i < 40 && v_any(live); i++) {
    V x = x1 - f1 * (x1 - x0) / (f1 - f0);
    const VI inside = m_lt(v_min(x0, x1), x) & m_lt(x, v_max(x0, x1));
    x = v_blend(inside, x, 0.5 * (x0 + x1));
    if (i % 8 == 7) x = 0.5 * (x0 + x1);
    const V f = locate_on_dense(a, x), moved = v_abs(x - x1);
    const VI same = ~(m_lt(zero, f) ^ m_lt(zero, f1));
    x0 = v_blend(live & ~same, x1, x0);
    f0 = v_blend(live, v_blend(same, 0.5 * f0, f1), f0);
    x1 = v_blend(live, x, x1), f1 = v_blend(live, f, f1);
    live &= ~(m_lt(moved, tiny) | m_eq(f, zero));
  }
  const V h = *a->h, left = v_max(x1 - tiny, zero), right = v_min(x1 + tiny, one), above = locate_on_dense(a, right);
  *slope = (above - locate_on_dense(a, left)) / ((right - left) * h);
  *good &= m_lt(v_abs(*slope), v_set(V_INF)) & ~m_eq(*slope, zero);
  return v_fma(x1 - f1 / (*slope * h), h, *a->t);
}

/* From the zero s of the dense output to that of full steps, which differ by the error of the interpolation: Newton
 * with the slope of the dense output, as long as the values decrease. good: where it converges. */
static V locate_polish(const ag_fused_args *a, V s, V slope, VI *good) {
  const V t = *a->t, h = *a->h, zero = v_set(0);
  V found = s, f = locate_by_step(a, s);
  VI live = *good;
  *good = v_word_set(0);
  for (int i = 0; i < 8 && v_any(live); i++) {
    const V next = s - f / slope, moved = v_abs(next - s), size = v_max(v_abs(s), v_abs(s - t));
    live &= m_le(moved, 0.1 * v_abs(h));
    found = v_blend(live, s, found);
    const VI there = live & (m_eq(next, s) | m_eq(f, zero));
    const VI near = live & ~there & m_le(AG_CORRECTED * moved, 1e-16 * size);
    found = v_blend(near, next, found);
    *good |= there | near, live &= ~(there | near);
    if (!v_any(live)) break;
    const V now = locate_by_step(a, v_blend(live, next, s));
    const VI ended = m_le(moved, 1e-15 * size), stuck = live & ~m_lt(v_abs(now), v_abs(f));
    *good |= stuck & m_le(moved, 1e-13 * size), live &= ~stuck;
    s = v_blend(live, next, s), found = v_blend(live, next, found), f = v_blend(live, now, f);
    *good |= live & ended, live &= ~ended;
  }
  return found;
}

void ag_locate(const ag_fused_args *a) {
  VI failed = v_word_set(0);
  V slope;
  (void)fused_dense(AG_FLOW_OF(a, &failed) * a->t, *a->h, a->z, a->z1, a->work);
  VI good = ~failed;
  const V s = locate_dense_root(a, &slope, &good), found = locate_polish(a, s, slope, &good);
  const VI final = ~m_nan(locate_by_step(a, found));
  *a->found_t = found, *a->good = good & final;
}
