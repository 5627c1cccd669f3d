/* SPDX-License-Identifier: MIT
 * The behaviour of functions of the state in a step of all lanes: text over V, after a stepper's text, fused_args.h
 * and look_core.h, which decides it. Undecided steps are examined by the code of a single run (docs/design/0013).
 * Before that a quicker test with wider ranges (expr/around.h): where it says that no function comes near zero,
 * look_core.h would say so, too.
 *
 * To be defined before:
 *   AG_STEP_N AG_CORE AG_STEP_END         components; those that decide; where the rates at the end of the step stand
 *   AG_STEP_QUARTER                       where the rates at a quarter of the step stand; 0: nowhere
 *   AG_FLOW_RHS(a, t, z, dz, fail)        a statement that sets dz to f(t, z)
 *   AG_WATCH                              how many functions
 *   AG_FLOW_WATCH(a, t, z, g, fail)       a statement that sets g to their values
 *   AG_WATCH_EXTRA                        how many numbers are followed besides z (tape.h)
 *   AG_FLOW_EXTRA(a, t, z, dz, e, fail)   a statement that sets e to their values and rates
 *   AG_WATCH_READS watch_reads[]          how many components they read, and which; behind z the others
 *   AG_WATCH_CURVES                       the components up to the last one whose curve is needed: how many
 *   AG_WATCH_FITTED watch_fitted[]        how many of them that are looked for cannot be enclosed, and which
 *   watch_counts[]                        per function: is it looked for?
 *   AG_WATCH_QUICK                        1: there is the quicker test,
 *   AG_WATCH_AROUND(a, t, z, out)         a statement that sets out to the functions of A
 *   watch_way[]                           per function: +1 when it rises, -1 when it falls, 0 both */

#define AG_ENDS(k) m->z[k], m->z1[k], h * m->work[k], h * m->work[AG_STEP_END + k]

#define AG_RTOL(m) (AG_MARCH_FIXED ? 0 : (m)->rtol)
#define AG_TOLERANCE(k) (AG_MARCH_FIXED ? v_set(0) : m->atol[k])

/* What is known of the motion besides its ends. */
typedef struct watch_inside {
  const V *f4; /* rates at a quarter */
#if !AG_STEP_QUARTER
  V rates[AG_STEP_N];
#endif
#if AG_WATCH_EXTRA
  V e0[2 * AG_WATCH_EXTRA], e1[2 * AG_WATCH_EXTRA], e4[2 * AG_WATCH_EXTRA]; /* [e | e'] at both ends, at a quarter */
#endif
} watch_inside;
#define AG_EXTRA_ENDS(j) x->e0[j], x->e1[j], h * x->e0[AG_WATCH_EXTRA + (j)], h * x->e1[AG_WATCH_EXTRA + (j)]

V_IN void watch_find(const ag_fused_args *m, V t, V h, watch_inside *x, VI *failed) {
#if AG_WATCH_EXTRA || !AG_STEP_QUARTER
  V w[AG_STEP_N];
  for (int k = 0; k < AG_STEP_N; k++) w[k] = look_quarter(AG_ENDS(k));
  const V quarter = v_fma(v_set(0.25), h, t);
#endif
#if AG_STEP_QUARTER
  x->f4 = m->work + AG_STEP_QUARTER;
#else
  x->f4 = x->rates;
  AG_FLOW_RHS(m, quarter, w, x->rates, *failed)
#endif
#if AG_WATCH_EXTRA
  VI ignored = v_word_set(0);
  const V end = t + h;
  AG_FLOW_EXTRA(m, t, m->z, m->work, x->e0, ignored)
  AG_FLOW_EXTRA(m, end, m->z1, m->work + AG_STEP_END, x->e1, ignored)
  AG_FLOW_EXTRA(m, quarter, w, x->f4, x->e4, ignored)
#endif
  (void)t, (void)h, (void)failed;
}

#if AG_WATCH_QUICK
/* In which lanes does no function that can be enclosed come near zero? */
V_IN VI watch_quick(const ag_fused_args *m, V t, V h, const watch_inside *x) {
  A range[AG_STEP_N + AG_WATCH_EXTRA + 1], out[AG_WATCH];
  const A time = look_time_around(t, h);
  VI clear = v_word_set(~0ULL);
  for (int i = 0; i < AG_WATCH_READS; i++) {
    const int k = watch_reads[i];
#if AG_WATCH_EXTRA
    const int j = k - AG_STEP_N;
    if (j >= 0) {
      range[k] = look_around(AG_EXTRA_ENDS(j), h * x->e4[AG_WATCH_EXTRA + j], AG_RTOL(m), AG_TOLERANCE(AG_STEP_N));
      continue;
    }
#endif
    range[k] = look_around(AG_ENDS(k), h * x->f4[k], AG_RTOL(m), AG_TOLERANCE(k));
  }
  AG_WATCH_AROUND(m, &time, range, out);
  for (int e = 0; e < AG_WATCH; e++)
    if (AG_LOOK_ASKED(m, e)) clear &= a_beside(out[e], m->memory[e]);
  return clear;
}
#endif

/* The motion over the step, of the components that are read. */
V_IN void watch_curves(const ag_fused_args *m, V h, const watch_inside *x, look_curve *curve) {
  V decay = v_set(0), C[AG_WATCH_CURVES + 1];
  for (int k = 0; k < AG_WATCH_CURVES; k++) {
    C[k] = look_last(AG_ENDS(k), h * x->f4[k]);
    if (k < AG_CORE) decay = v_max(decay, look_decay(AG_ENDS(k), C[k]));
  }
#if AG_WATCH_EXTRA
  V last[AG_WATCH_EXTRA];
  for (int j = 0; j < AG_WATCH_EXTRA; j++) {
    last[j] = look_last(AG_EXTRA_ENDS(j), h * x->e4[AG_WATCH_EXTRA + j]);
    decay = v_max(decay, look_decay(AG_EXTRA_ENDS(j), last[j]));
  }
#endif
  for (int i = 0; i < AG_WATCH_READS; i++) {
    const int k = watch_reads[i];
#if AG_WATCH_EXTRA
    const int j = k - AG_STEP_N;
    if (j >= 0) {
      const V width = look_width(AG_EXTRA_ENDS(j), last[j], decay) +
                      look_tolerance(x->e0[j], x->e1[j], AG_RTOL(m), AG_TOLERANCE(AG_STEP_N));
      curve[i] = look_component(AG_EXTRA_ENDS(j), last[j], width);
      continue;
    }
#endif
    const V width = look_width(AG_ENDS(k), C[k], decay) +
                    look_tolerance(m->z[k], m->z1[k], AG_RTOL(m), AG_TOLERANCE(k));
    curve[i] = look_component(AG_ENDS(k), C[k], width);
  }
}

#if AG_WATCH_FITTED
/* The functions at node j of the curve. */
V_IN void watch_node(const ag_fused_args *m, V t, V h, const V *f4, int j, V (*values)[LOOK_NODES]) {
  V at[AG_STEP_N], f[AG_WATCH];
  VI ignored = v_word_set(0);
  const V time = v_fma(v_set(look_node(j)), h, t);
  for (int k = 0; k < AG_STEP_N; k++) at[k] = look_state(AG_ENDS(k), look_last(AG_ENDS(k), h * f4[k]), look_node(j));
  AG_FLOW_WATCH(m, time, at, f, ignored)
  for (int e = 0; e < AG_WATCH; e++) values[e][j] = f[e];
}

/* Functions that cannot be enclosed: in which lanes do they keep their signs? f0, f1: values at both ends. */
static __attribute__((noinline)) void watch_fits(const ag_fused_args *m, V t, V h, const V *f4, const V *f0,
                                                 const V *f1, VI *keeps) {
  V values[AG_WATCH][LOOK_NODES];
  VI open = v_word_set(0);
  watch_node(m, t, h, f4, 2, values);
  for (int e = 0; e < AG_WATCH; e++) {
    values[e][0] = f1[e], values[e][4] = f0[e];
    keeps[e] = look_keeps_some(values[e], m->memory[e]);
    if (watch_fitted[e]) open |= ~keeps[e];
  }
  if (!v_any(open)) return;
  watch_node(m, t, h, f4, 1, values);
  watch_node(m, t, h, f4, 3, values);
  for (int e = 0; e < AG_WATCH; e++) keeps[e] |= look_keeps(values[e], m->memory[e]);
}
#endif

/* The behaviour of function e, with its values at both ends. */
V_IN V watch_hint(const ag_fused_args *m, V h, int e, const look_seen *saw, const VI *keeps, V f0, V f1) {
  if (!watch_counts[e]) return v_set(AG_HINT_CLEAR);
  if (!AG_LOOK_ASKED(m, e)) return v_blend(keeps[e], v_set(AG_HINT_CLEAR), v_set(AG_HINT_LOOK));
  return look_hint(&saw[e], m->memory[e], f0, f1, watch_way[e], m_lt(h, v_set(0)));
}

/* The functions that can be enclosed, by the curves of the motion. */
static __attribute__((noinline)) void watch_closely(const ag_fused_args *m, V t, V h, const watch_inside *x,
                                                    look_seen *saw) {
  look_curve curve[AG_WATCH_READS + 1], part[LOOK_PARTS * (AG_WATCH_READS + 1)];
  E range[AG_STEP_N + AG_WATCH_EXTRA], out[AG_WATCH], middle[AG_WATCH];
  look_seen parts[AG_WATCH];
  const look_room room = {curve, part, range, out, middle, saw, parts};
  watch_curves(m, h, x, curve);
  look_into(m, &room, t, h);
}

/* Decides about the step; quick: every function that can be enclosed is known to keep its sign. */
static __attribute__((noinline)) VI watch_decide(const ag_fused_args *m, V t, V h, VI take, const watch_inside *x,
                                                 int quick, VI failed) {
  look_seen saw[AG_WATCH];
  V f0[AG_WATCH], f1[AG_WATCH];
  VI keeps[AG_WATCH], seen = v_word_set(0), clear = v_word_set(~0ULL);
  if (!quick) watch_closely(m, t, h, x, saw);
  for (int e = 0; e < AG_WATCH; e++) {
    f0[e] = f1[e] = v_nan(), keeps[e] = v_word_set(0);
    m->hint[e] = v_set(AG_HINT_CLEAR);
    if (AG_LOOK_ASKED(m, e) && !quick) m->hint[e] = watch_hint(m, h, e, saw, keeps, f0[e], f1[e]);
    clear &= m_eq(m->hint[e], v_set(AG_HINT_CLEAR));
  }
  /* their values at both ends; a function that cannot be enclosed may have those of the step before at its start, which
     differ by what puts a state back onto the constraints */
  const VI known = AG_WATCH_FITTED ? m_eq(*m->known_t, t) : v_word_set(0), needed = take & ~(known & clear);
  const V end = t + h;
  VI ignored = v_word_set(0);
  if (v_any(AG_WATCH_FITTED ? needed : take & ~clear)) AG_FLOW_WATCH(m, t, m->z, f0, ignored)
  if (AG_WATCH_FITTED || v_any(take & ~clear)) AG_FLOW_WATCH(m, end, m->z1, f1, ignored)
#if AG_WATCH_FITTED
  V from[AG_WATCH];
  for (int e = 0; e < AG_WATCH; e++) {
    from[e] = v_blend(known, m->known[e], f0[e]);
    m->known[e] = v_blend(take, f1[e], m->known[e]);
  }
  *m->known_t = v_blend(take, end, *m->known_t);
  watch_fits(m, t, h, x->f4, from, f1, keeps);
#endif
  for (int e = 0; e < AG_WATCH; e++) {
    if (!AG_LOOK_ASKED(m, e) || !quick) m->hint[e] = watch_hint(m, h, e, saw, keeps, f0[e], f1[e]);
    m->hint[e] = v_blend(failed, v_set(AG_HINT_LOOK), m->hint[e]);
    seen |= take & m_lt(v_set(AG_HINT_WRONG_WAY), m->hint[e]);
  }
  for (int e = 0; e < AG_WATCH; e++)
    m->memory[e] = v_blend(take & ~seen & m_eq(m->hint[e], v_set(AG_HINT_WRONG_WAY)), -m->memory[e], m->memory[e]);
  return seen;
}

/* The step from (t, z) by h to z1, taken in the lanes of `take`: in which of them may a function be crossed? Sets hint
 * where one may be, and in the other lanes memory. */
static __attribute__((noinline)) VI watch(const ag_fused_args *m, V t, V h, VI take) {
  watch_inside x;
  VI failed = v_word_set(0);
  int quick = 0;
  watch_find(m, t, h, &x, &failed);
#if AG_WATCH_QUICK
  quick = !v_any(take & (failed | ~watch_quick(m, t, h, &x)));
  if (quick && !AG_WATCH_FITTED) return v_word_set(0);
#endif
  return watch_decide(m, t, h, take, &x, quick, failed);
}
#undef AG_ENDS
#undef AG_EXTRA_ENDS
