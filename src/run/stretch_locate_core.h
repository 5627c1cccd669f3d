/* SPDX-License-Identifier: MIT
 * The crossing in a step that a stretch has just taken, by the operations of events.c: text over V, for one lane, after
 * march_core.h and before root_core.h, which finds the zero. Every rounding is written out.
 *
 * To be defined before, besides what march_core.h needs:
 *   AG_WATCH_ENCLOSED(X)   X(e) for each function e that can be enclosed */

/* The step from (t, z) by h, and the function that is crossed. */
typedef struct stretch_spot {
  ag_fused_args m;
  V t, h;
  int which;
  long long made; /* real steps */
} stretch_spot;

/* The function at time t in the state m.out; NaN where it cannot be evaluated. Of the code for all functions each case
 * keeps what its own needs. Others than those that are enclosed are never known to be crossed once. */
static __attribute__((noinline)) V stretch_value(const stretch_spot *a, V t) {
#define AG_STRETCH_CASE(e) \
  case e: { \
    AG_FLOW_WATCH(&a->m, t, a->m.out, out, ignored) \
    return out[e]; \
  }
  V out[AG_WATCH];
  VI ignored = v_word_set(0);
  switch (a->which) { AG_WATCH_ENCLOSED(AG_STRETCH_CASE) }
#undef AG_STRETCH_CASE
  return v_nan();
}

/* At the part theta of the step, on the dense output. */
static __attribute__((noinline)) V stretch_on_dense(const stretch_spot *a, V theta) {
  fused_interpolate(theta, a->m.z, a->m.work, a->m.out);
  return stretch_value(a, v_fma(theta, a->h, a->t));
}

/* At the time s, by a real step. */
static __attribute__((noinline)) V stretch_by_step(stretch_spot *a, V s) {
  V errors[2], any[AG_STEP_N];
  VI failed = m_eq(s, a->t);                             /* no step at all: events.c looks into it */
  for (int k = 0; k < AG_STEP_N; k++) any[k] = v_set(1); /* the error is not needed */
  a->made++;
  (void)fused_step(AG_FLOW_OF(&a->m, &failed) a->t, s - a->t, a->m.z, a->m.out, 1, any, errors, a->m.work);
  failed |= settle(&a->m, s, a->m.out, v_word_set(~0ULL));
  return v_blend(failed, v_nan(), stretch_value(a, s));
}

#define AG_ROOT_OF stretch_spot *a
#define AG_ROOT_T(a) (a)->t
#define AG_ROOT_H(a) (a)->h
#define AG_ROOT_DENSE(a, theta) stretch_on_dense(a, theta)
#define AG_ROOT_STEP(a, s) stretch_by_step(a, s)
