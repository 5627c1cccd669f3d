/* SPDX-License-Identifier: MIT
 * What do functions of the state do in a step: text over V, behind a stepper's text and fused_args.h. Every rounding is
 * written out; a lane's numbers follow from its own alone.
 *
 * Nine samples on an interpolant of the components they read: the cubic of values and rates at both ends, plus the term
 * C x^2 (1 - x)^2 that makes its rate right at a quarter of the step (one more right-hand side). The interpolant is not
 * exact, but the values at both ends are, and what the last term does to a function tells how far it may be off in
 * between. What is decided leaves a margin of that size and a tenth of the spread of the samples: between two
 * neighbouring samples the function stays away from zero, or is steep, so that it cannot turn near zero; and samples at
 * even places predict the others. Then clear: all samples have the sign the function had; once: the first ones have,
 * the others have the other. Everything else is undecided (docs/design/0013).
 *
 * To be defined before:
 *   AG_STEP_N AG_STEP_END                 components; where the rates at the end of the step stand in the workspace
 *   AG_FLOW_RHS(a, t, z, dz, fail)        a statement that sets dz to f(t, z)
 *   AG_WATCH                              how many functions
 *   AG_FLOW_WATCH(a, t, z, g, fail)       a statement that sets g to their values
 *   AG_WATCH_READS, watch_reads[]         how many components they read, and which
 *   watch_way[]                           per function: +1 when it rises, -1 when it falls, 0 both */

/* Weights of four even samples for the odd ones next to and between them. */
static const double watch_weight[3][4] = {
    {0.3125, 0.9375, -0.3125, 0.0625}, {-0.0625, 0.5625, 0.5625, -0.0625}, {0.0625, -0.3125, 0.9375, 0.3125}};

/* The cubic of component k: z + x (d + (1 - x) (a + x b)). */
#define AG_CUBIC(k) \
  const V d = m->z1[k] - m->z[k], a = v_fma(h, m->work[k], -d), b = v_fma(-h, m->work[AG_STEP_END + k], d) - a

/* The functions at x = 0, 1/8, ..., 1 on the interpolant, and at 1/2 on the cubic alone. */
V_IN void watch_sample(const ag_fused_args *m, V t, V h, V s[9][AG_WATCH], V *plain, VI *failed) {
  V w[AG_STEP_N], f4[AG_STEP_N];
  for (int k = 0; k < AG_STEP_N; k++) {
    AG_CUBIC(k);
    w[k] = v_fma(v_set(0.25), v_fma(v_set(0.75), v_fma(v_set(0.25), b, a), d), m->z[k]);
  }
  const V quarter = v_fma(v_set(0.25), h, t);
  AG_FLOW_RHS(m, quarter, w, f4, *failed)
  for (int i = 0; i <= 9; i++) {
    const V x = v_set(i < 9 ? 0.125 * i : 0.5), y = 1.0 - x, xy = x * y, at = v_fma(x, h, t);
    for (int j = 0; j < AG_WATCH_READS; j++) {
      const int k = watch_reads[j];
      AG_CUBIC(k);
      /* rate of the cubic at x = 1/4: d + a/2 + 5 b/16; that of x^2 (1 - x)^2 is 3/16 */
      const V C = (v_fma(h, f4[k], -d) - v_fma(v_set(0.3125), b, 0.5 * a)) * (16.0 / 3);
      w[k] = v_fma(x, v_fma(y, v_fma(x, b, a), d), m->z[k]);
      if (i < 9) w[k] = v_fma(xy * xy, C, w[k]);
    }
    AG_FLOW_WATCH(m, at, w, (i < 9 ? s[i] : plain), *failed)
  }
}
#undef AG_CUBIC

/* Do the samples of function e describe it between them: is zero far away or passed steeply, and do the even samples
 * predict the odd ones? */
V_IN VI watch_certain(V s[9][AG_WATCH], const V *plain, int e) {
  V lo = s[0][e], hi = lo;
  for (int i = 1; i <= 8; i++) lo = v_min(lo, s[i][e]), hi = v_max(hi, s[i][e]);
  const V off = v_abs(plain[e] - s[4][e]), margin = v_fma(v_set(0.1), hi - lo, off);
  const V steep =
      v_fma(v_set(0.07), hi - lo, 0.2 * off); /* a parabola that turns between two samples differs by less */
  VI certain = v_word_set(~0ULL);
  for (int i = 0; i < 8; i++) {
    const V p = s[i][e], q = s[i + 1][e];
    certain &= (m_lt(margin, p) & m_lt(margin, q)) | (m_lt(p, -margin) & m_lt(q, -margin)) | m_lt(steep, v_abs(q - p));
  }
  for (int i = 1; i < 8; i += 2) {
    const int first = i < 4 ? 0 : 2;
    const double *u = watch_weight[(i - first) / 2];
    V p = s[first][e] * u[0];
    for (int j = 1; j < 4; j++) p = v_fma(s[first + 2 * j][e], v_set(u[j]), p);
    certain &= m_le(v_abs(p - s[i][e]), 0.02 * (hi - lo));
  }
  return certain;
}

/* Function e in the step: AG_HINT_... per lane. */
V_IN V watch_judge(V s[9][AG_WATCH], const V *plain, int e, V memory, VI back, VI failed) {
  const V zero = v_set(0);
  const VI positive = m_lt(zero, memory), negative = m_lt(memory, zero);
  VI above = positive, below = negative;
  VI up = negative & m_lt(s[0][e], zero) & m_lt(zero, s[8][e]),
     down = positive & m_lt(zero, s[0][e]) & m_lt(s[8][e], zero);
  for (int i = 0; i <= 8; i++) above &= m_lt(zero, s[i][e]), below &= m_lt(s[i][e], zero);
  for (int i = 0; i < 8; i++) {
    const V p = s[i][e], q = s[i + 1][e];
    up &= ~(m_lt(zero, p) & m_le(q, zero)), down &= ~(m_lt(p, zero) & m_le(zero, q));
  }
  const VI certain = watch_certain(s, plain, e) & ~failed;
  const VI rises = (up & ~back) | (down & back), once = certain & (up | down), clear = certain & (above | below);
  const VI wrong = once & (watch_way[e] > 0 ? ~rises : watch_way[e] < 0 ? rises : v_word_set(0));
  return v_blend(clear, v_set(AG_HINT_CLEAR),
                 v_blend(wrong, v_set(AG_HINT_WRONG_WAY), v_blend(once, v_set(AG_HINT_ONCE), v_set(AG_HINT_LOOK))));
}

/* The step from (t, z) by h to z1, taken in the lanes of `take`: in which of them may a function be crossed? Sets hint,
 * and in the other lanes memory. */
static __attribute__((noinline)) VI watch(const ag_fused_args *m, V t, V h, VI take) {
  V s[9][AG_WATCH], plain[AG_WATCH];
  VI failed = v_word_set(0), seen = v_word_set(0);
  watch_sample(m, t, h, s, plain, &failed);
  for (int e = 0; e < AG_WATCH; e++) {
    m->hint[e] = watch_judge(s, plain, e, m->memory[e], m_lt(h, v_set(0)), failed);
    seen |= take & m_lt(v_set(AG_HINT_WRONG_WAY), m->hint[e]);
  }
  for (int e = 0; e < AG_WATCH; e++)
    m->memory[e] = v_blend(take & ~seen & m_eq(m->hint[e], v_set(AG_HINT_WRONG_WAY)), -m->memory[e], m->memory[e]);
  return seen;
}
