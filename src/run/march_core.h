/* SPDX-License-Identifier: MIT
 * Steps with control for all lanes at once, until one of them is done: text over V, behind a stepper's text,
 * control_core.h, fused_args.h and unit_core.h (watch_core.h too, where AG_WATCH > 0). Every rounding is written out; a
 * lane's numbers follow from its own alone.
 *
 * To be defined before:
 *   AG_STEP_N AG_STEP_END AG_STEP_CARRY   components; where the carry after a step stands; its length
 *   AG_CORE                               components whose error decides about the step; those behind are the rest
 *   AG_FLOW_OF(a, fail)                   leading arguments of the stepper's functions, with a final comma
 *   AG_FLOW_RHS(a, t, z, dz, fail)        a statement that sets dz to f(t, z)
 *   AG_UNITS(X)                           X(group, n, z, stride, size) per run of n groups, z, z + stride, ... */

#define AG_REST (AG_STEP_N > AG_CORE)

/* A number of steps is exact as a double. */
V_IN V v_count(VI n) { return v_of(n | v_bits(v_set(0x1p52))) - 0x1p52; }

/* All groups of z back to their lengths. */
V_IN void restore_units(const ag_fused_args *a, V *z, VI where) {
#define AG_UNIT_RUN(group, n, at, stride, size) \
  for (int g = 0; g < (n); g++) unit_restore(z + (at) + (stride)*g, size, a->unit[(group) + g], where);
  AG_UNITS(AG_UNIT_RUN)
#undef AG_UNIT_RUN
  (void)a, (void)z, (void)where;
}

#if AG_REST
/* Entering a step whose rest is computed in smaller ones: the core at its end and its rate are put aside. */
V_IN void keep_core(const ag_fused_args *a, VI where) {
  for (int k = 0; k < AG_CORE; k++) {
    a->keep[k] = v_blend(where, a->z1[k], a->keep[k]);
    a->keep[AG_CORE + k] = v_blend(where, a->work[AG_STEP_END + k], a->keep[AG_CORE + k]);
  }
}

/* Leaving it: they are taken back; the rate of the rest is evaluated anew. */
V_IN void take_core(const ag_fused_args *a, V t, VI where) {
  V rate[AG_STEP_N];
  VI ignored = v_word_set(0);
  for (int k = 0; k < AG_CORE; k++) {
    a->z[k] = v_blend(where, a->keep[k], a->z[k]);
    a->work[k] = v_blend(where, a->keep[AG_CORE + k], a->work[k]);
  }
  AG_FLOW_RHS(a, t, a->z, rate, ignored)
  for (int k = AG_CORE; k < AG_STEP_N; k++) a->work[k] = v_blend(where, rate[k], a->work[k]);
}
#endif

void ag_march(const ag_fused_args *a) {
  V t = *a->t, h = *a->h, last = *a->last_error;
  const V t1 = *a->t1, one = v_set(1), nan = v_nan(), limit = v_set((double)a->max_steps);
  VI steps = *a->steps, rejected = *a->rejected, was = *a->rejected_last;
  VI sub = v_word_set(0), seen = v_word_set(0);
#if AG_REST
  V h_sub = *a->h_sub, end = *a->end_sub;
  sub = *a->sub;
#endif
  for (long i = 0; i < a->max_tries; i++) {
    VI fail = v_word_set(0);
    V errors[2];
    const V left = t1 - t;
    const VI final = m_le(v_abs(left), v_abs(h) * 1.0000001);
    const V target = v_blend(final, t1, t + h);
    V step = v_blend(final, left, h);
#if AG_REST
    const V left_sub = end - t;
    const VI final_sub = m_le(v_abs(left_sub), v_abs(h_sub) * 1.0000001);
    step = v_blend(sub, v_blend(final_sub, left_sub, h_sub), step);
#endif
    (void)fused_step(AG_FLOW_OF(a, &fail) t, step, a->z, a->z1, a->rtol, a->atol, errors, a->work);
    const V error = v_blend(fail, nan, errors[0]);
    const VI good = m_le(error, one);

    /* the next step; one that was cut short by the end says nothing about the size */
    V next = control_limit(step * control_factor(error, last, was, a->safety, a->shrink, a->grow), a->h_max);
    next = v_blend(good & final & m_lt(v_abs(next), v_abs(h)), h, next);
    h = v_blend(sub, h, next);
    last = v_blend(good & ~sub, v_max(error, v_set(1e-4)), last);
    was = (was & sub) | (~good & ~sub);
    rejected += ~good & ~sub & v_word_set(1);

    /* whose step is taken, who has arrived at the end of one */
    VI take = good & ~sub, arrived = take;
#if AG_REST
    const V rest = v_blend(fail, nan, errors[1]);
    const VI rest_good = m_le(rest, one);
    const VI enter = take & ~rest_good, back = sub & rest_good & final_sub;
    take = (take & ~enter) | (sub & rest_good);
    arrived = (arrived & ~enter) | back;
    if (v_any(enter)) keep_core(a, enter);
#endif
#if AG_WATCH
    seen = watch(a, t, step, take);
    if (v_any(seen)) {
      *a->from = t;
      for (int k = 0; k < AG_STEP_N; k++) a->z0[k] = a->z[k];
      for (int k = 0; k < AG_STEP_CARRY; k++) a->carry0[k] = a->work[k];
    }
#endif
    for (int k = 0; k < AG_STEP_N; k++) a->z[k] = v_blend(take, a->z1[k], a->z[k]);
    for (int k = 0; k < AG_STEP_CARRY; k++) a->work[k] = v_blend(take, a->work[AG_STEP_END + k], a->work[k]);
#if AG_REST
    t = v_blend(take, v_blend(sub, v_blend(final_sub, end, t + step), target), t);
    if (v_any(back)) take_core(a, t, back);
    h_sub = step * control_rest_factor(rest, enter);
    end = v_blend(enter, target, end);
    sub = (sub & ~back) | enter;
    const VI stuck_sub = sub & (m_le(v_abs(h_sub), v_abs(t) * 1e-15) | m_eq(h_sub, v_set(0)));
#else
    t = v_blend(take, target, t);
    const VI stuck_sub = v_word_set(0);
#endif
    restore_units(a, a->z, arrived);
    steps += arrived & v_word_set(1);
    const VI stuck = ~sub & (m_le(v_abs(h), v_abs(t) * 1e-15) | m_eq(h, v_set(0)));
    if (v_any((~sub & m_eq(t, t1)) | stuck | stuck_sub | m_le(limit, v_count(steps)) | seen)) break;
  }
  *a->t = t, *a->h = h, *a->last_error = last, *a->steps = steps, *a->rejected = rejected, *a->rejected_last = was;
#if AG_WATCH
  *a->seen = seen;
#endif
#if AG_REST
  *a->h_sub = h_sub, *a->end_sub = end, *a->sub = sub;
#endif
}
