/* SPDX-License-Identifier: MIT
 * Steps with control for all lanes at once, until one of them is done: text over V, after a stepper's text,
 * control_core.h, fused_args.h and unit_core.h (watch_core.h too, where AG_WATCH > 0). Every rounding is written out; a
 * lane's numbers follow from its own alone.
 *
 * To be defined before:
 *   AG_STEP_N AG_STEP_END AG_STEP_CARRY   components; where the carry after a step stands; its length
 *   AG_CORE                               components whose error decides about the step; those behind are the rest
 *   AG_MARCH_FIXED                        1: fixed steps, which are never rejected: a lane whose step fails gets h = 0;
 *                                         rotations are restored, the rest of putting states back onto the constraints
 *                                         is then left to the caller
 *   AG_WATCH_CUTS watch_cuts[]            how many of the functions have a corner at zero, and which
 *   AG_SWITCHES                           1: they are switching functions of the equations, not corners
 *   AG_MINORS AG_FRAGILE                  what is to be watched; after guard_core.h
 *   AG_ALIGNS                             1: there is a tape align
 *   AG_POSITIONS                          how many position constraints there are; > 0: after project_core.h
 *   AG_ONTO_ROWS                          1: velocities are put back, too, by the tape onto_rows
 *   AG_TURNS AG_BASIS                     1: there is a basis; how many numbers it has; after turn_core.h
 *   AG_STRETCH                            defined: stretch_core.h follows, in place of ag_march
 *   AG_STRETCH_POWER                      defined: work can be measured; by the stages of the method where
 *   AG_POWER_BY_STAGES                    is 1, else after power_core.h
 *   AG_FLOW_OF(a, fail)                   leading arguments of the stepper's functions, with a final comma
 *   AG_FLOW_RHS(a, t, z, dz, fail)        a statement that sets dz to f(t, z)
 *   AG_UNITS(X)                           X(group, n, z, stride, size) per run of n groups, z, z + stride, ... */

#define AG_REST (AG_STEP_N > AG_CORE && !AG_MARCH_FIXED)

/* A number of steps is exact as a double. */
V_IN V v_count(VI n) { return v_of(n | v_bits(v_set(0x1p52))) - 0x1p52; }

/* The n numbers `from` into `to`, in the lanes of `where`. */
V_IN void move_numbers(int n, const V *from, V *to, VI where) {
  if (AG_LANES == 1 && !v_any(where)) return;
  for (int k = 0; k < n; k++) to[k] = AG_LANES == 1 ? from[k] : v_blend(where, from[k], to[k]);
}

/* All groups of z back to their lengths. */
V_IN void restore_units(const ag_fused_args *a, V *z, VI where) {
#define AG_UNIT_RUN(group, n, at, stride, size) \
  for (int g = 0; g < (n); g++) unit_restore(z + (at) + (stride)*g, size, a->unit[(group) + g], where);
  AG_UNITS(AG_UNIT_RUN)
#undef AG_UNIT_RUN
  (void)a, (void)z, (void)where;
}

/* Projects the state after a step, in the lanes of `where`; returns those in which that fails. */
V_IN VI settle(const ag_fused_args *a, V t, V *z, VI where) {
  VI lost = v_word_set(0);
  restore_units(a, z, where);
#if AG_ALIGNS
  V aligned[AG_STEP_N];
  align(&t, z, a->c, a->prep_align, aligned, &lost);
  for (int k = 0; k < AG_STEP_N; k++) z[k] = v_blend(where, aligned[k], z[k]);
#endif
#if AG_POSITIONS
  V out[AG_STEP_N + AG_POSITIONS];
  lost |= project(a, t, z, out, where);
#endif
#if AG_ONTO_ROWS
  V held[AG_STEP_N];
  VI failed = v_word_set(0);
  onto_rows(&t, z, a->c, a->prep_onto_rows, held, &failed);
  for (int k = 0; k < AG_STEP_N; k++) z[k] = v_blend(where & ~failed, held[k], z[k]);
  lost |= failed;
#endif
  (void)t;
  return lost;
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

/* The state of all lanes; kept in registers during a march. */
typedef struct march {
  V t, h, last, spare, h_sub, end;
  VI steps, rejected, was, sub, seen, leave;
  VI again; /* the rate at the end of the step was evaluated anew */
} march;

/* A try: from t by `step` to `target`. */
typedef struct march_try {
  V step, target, error, rest;
  VI final, final_sub, fail;
} march_try;

#if AG_MARCH_FIXED
/* The next point of the grid t0 + k dt, where a corner may have cut a step in two. */
V_IN V march_target(const ag_fused_args *a, V t, V h) {
  const V passed = v_abs(t - a->t0) / a->dt + 1e-6, near = (passed + 0x1p52) - 0x1p52;
  const V whole = near - v_blend(m_lt(passed, near), v_set(1), v_set(0)); /* rounded down */
  return a->t0 + v_flip(v_set(a->dt), v_signbit(h)) * (whole + 1.0);
}
#endif

V_IN march_try march_next(const ag_fused_args *a, const march *s) {
  march_try y = {.fail = v_word_set(0), .rest = v_set(0), .final_sub = v_word_set(0)};
  const V left = *a->t1 - s->t;
  y.final = m_le(v_abs(left), v_abs(s->h) * 1.0000001);
#if AG_MARCH_FIXED
  y.target = v_blend(y.final, *a->t1, march_target(a, s->t, s->h));
  y.step = y.target - s->t;
#else
  y.target = v_blend(y.final, *a->t1, s->t + s->h);
  y.step = v_blend(y.final, left, s->h);
#endif
#if AG_REST
  const V left_sub = s->end - s->t;
  y.final_sub = m_le(v_abs(left_sub), v_abs(s->h_sub) * 1.0000001);
  y.step = v_blend(s->sub, v_blend(y.final_sub, left_sub, s->h_sub), y.step);
#endif
  V errors[2];
  (void)fused_step(AG_FLOW_OF(a, &y.fail) s->t, y.step, a->z, a->z1, a->rtol, a->atol, errors, a->work);
  y.error = v_blend(y.fail, v_nan(), errors[0]);
#if AG_TURNS
  V rate;
  y.error = v_blend(m_lt(turn_left(a, y.target, a->z1, &rate), v_set(AG_TURN_MOST)), v_nan(), y.error);
#endif
  if (AG_STEP_N_REST > 0) y.rest = v_blend(y.fail, v_nan(), errors[1]);
  return y;
}

/* The size of the next step; in which lanes the step was good. */
V_IN VI march_judge(const ag_fused_args *a, march *s, const march_try *y) {
#if AG_MARCH_FIXED
  const VI good = ~(m_nan(y->error) | m_nan(y->rest));
  s->h = v_blend(good, s->h, v_set(0));
#else
  const VI good = m_le(y->error, v_set(1));
  V next = control_limit(
      y->step * control_factor(y->error, s->last, s->was, AG_CONTROL_Q, AG_CONTROL_BETA, a->safety, a->shrink, a->grow),
      a->h_max);
  /* a step that was cut short by the end says nothing about the size */
  next = v_blend(good & y->final & m_lt(v_abs(next), v_abs(s->h)), s->h, next);
  s->h = v_blend(s->sub, s->h, next);
  s->last = v_blend(good & ~s->sub, v_max(y->error, v_set(1e-4)), s->last);
  s->was = (s->was & s->sub) | (~good & ~s->sub);
  s->rejected += ~good & ~s->sub & v_word_set(1);
#endif
  (void)a;
  return good;
}

#ifdef AG_STRETCH_POWER
/* The work done in the step from t by h is added to *done, if it is measured. Fails where there is no dense output. */
V_IN VI march_power(const ag_fused_args *a, V t, V h) {
  VI failed = v_word_set(0);
  if (!a->done) return failed;
#if AG_POWER_BY_STAGES
  *a->done = *a->done + fused_integral(a->c, a->prep_power, t, h, a->z, a->work);
#else
  (void)fused_dense(AG_FLOW_OF(a, &failed) t, h, a->z, a->z1, a->work);
  *a->done = *a->done + power_over(a, t, h, h);
#endif
  return failed;
}
#endif

/* Takes the step in the lanes of `take`. */
V_IN void march_take(const ag_fused_args *a, march *s, const march_try *y, VI take) {
  V target = y->target;
#if AG_REST
  target = v_blend(s->sub, v_blend(y->final_sub, s->end, s->t + y->step), target);
#endif
#if AG_WATCH
  s->seen = v_any(take) ? watch(a, s->t, target - s->t, take) : v_word_set(0);
  if (v_any(s->seen)) {
    *a->from = s->t;
    for (int k = 0; k < AG_STEP_N; k++) a->z0[k] = a->z[k];
    for (int k = 0; k < AG_STEP_CARRY; k++) a->carry0[k] = a->work[k];
    for (int k = 0; k < AG_BASIS; k++) a->c0[k] = a->c[k];
  }
#endif
#ifdef AG_STRETCH_POWER
  if (v_any(take)) s->leave |= take & march_power(a, s->t, target - s->t);
#endif
  move_numbers(AG_STEP_N, a->z1, a->z, take);
  move_numbers(AG_STEP_CARRY, a->work + AG_STEP_END, a->work, take);
  s->t = v_blend(take, target, s->t);
}

#if AG_SWITCHES
/* In these lanes: is the try one that a single run examines otherwise? It failed, as where a branch ends, or numbers
 * grow far beyond their size in it, and with them the rounding error of the switching functions (switch.c). */
V_IN VI march_strays(const ag_fused_args *a, const march_try *y, VI where) {
  V before = v_set(0), behind = v_set(0);
  for (int k = 0; k < AG_STEP_N; k++) {
    before = v_max(before, v_abs(a->z[k]));
    behind = v_max(behind, v_abs(a->z1[k]));
  }
  return where & (m_nan(y->error) | m_lt(100.0 * before, behind));
}
#elif AG_WATCH_CUTS
/* Of these lanes, whose try was rejected: those in which a corner of the equations lies within it. A single run then
 * goes up to the corner. */
V_IN VI march_corner(const ag_fused_args *a, const march *s, const march_try *y, VI rejected) {
  V f0[AG_WATCH], f1[AG_WATCH];
  VI ignored = v_word_set(0), met = v_word_set(0);
  if (!v_any(rejected)) return met;
  const V end = s->t + y->step;
  AG_FLOW_WATCH(a, s->t, a->z, f0, ignored)
  AG_FLOW_WATCH(a, end, a->z1, f1, ignored)
  for (int e = 0; e < AG_WATCH; e++)
    if (watch_cuts[e]) met |= m_lt(f0[e] * f1[e], v_set(0));
  return met & rejected;
}
#endif

#if AG_WATCH_CUTS && !defined AG_STRETCH
/* Keeps the state of the lanes of `where`, which begin a step. */
V_IN void march_keep(const ag_fused_args *a, const march *s, VI where) {
  V *to = a->kept;
  const V numbers[AG_KEPT_NUMBERS] = {s->t, s->h, s->last, s->spare};
  const VI words[AG_KEPT_WORDS] = {s->was, s->steps, s->rejected};
  move_numbers(AG_KEPT_NUMBERS, numbers, to, where), to += AG_KEPT_NUMBERS;
  move_numbers(AG_STEP_N, a->z, to, where), to += AG_STEP_N;
  move_numbers(AG_STEP_CARRY, a->work, to, where), to += AG_STEP_CARRY;
  move_numbers(AG_BASIS, a->c, to, where), to += AG_BASIS;
  move_numbers(AG_WATCH, a->memory, to, where);
  for (int k = 0; k < AG_KEPT_WORDS; k++) a->kept_words[k] = (where & words[k]) | (~where & a->kept_words[k]);
}
#endif

V_IN VI march_stuck(V h, V t) { return m_le(v_abs(h), v_abs(t) * 1e-15) | m_eq(h, v_set(0)); }

/* The state of the lanes of `where`, which have made a step to t; in which of them it needs care. *again: those in
 * which rates were evaluated anew. */
V_IN VI settle_march(const ag_fused_args *a, V t, VI where, VI *again) {
  *again = v_word_set(0);
  if (!v_any(where)) return where;
  VI lost = settle(a, t, a->z, where), changed = AG_POSITIONS || AG_ONTO_ROWS ? where : v_word_set(0);
#if AG_TURNS
  VI renewed;
  lost |= turn_renew(a, t, a->z, where, &renewed);
  changed |= renewed;
#endif
#if AG_MINORS
  lost |= guard_left(a, t, a->z);
#endif
#if AG_POSITIONS || AG_ONTO_ROWS || AG_BASIS
  if (v_any(changed)) {
    V rate[AG_STEP_N];
    VI failed = v_word_set(0);
    AG_FLOW_RHS(a, t, a->z, rate, failed)
    for (int k = 0; k < AG_STEP_N; k++) a->work[k] = v_blend(changed, rate[k], a->work[k]);
    lost |= changed & failed;
  }
#endif
  *again = changed;
  return lost & where;
}

/* One try. In which lanes is the march at an end? */
V_IN VI march_on(const ag_fused_args *a, march *s) {
#if AG_WATCH_CUTS && !defined AG_STRETCH
  march_keep(a, s, ~s->sub);
#endif
  const march_try y = march_next(a, s);
  const VI good = march_judge(a, s, &y);
  VI take = good & ~s->sub, arrived = take, stuck_sub = v_word_set(0);
  s->leave = AG_MARCH_FIXED ? ~good : v_word_set(0);
#if AG_WATCH_CUTS
#if AG_SWITCHES
  s->leave |= march_strays(a, &y, ~s->sub);
#else
  s->leave |= march_corner(a, s, &y, ~good & ~s->sub);
#endif
#ifndef AG_STRETCH
  *a->corner = s->leave;
#endif
#endif
#if AG_FRAGILE
  s->leave |= guard_turned(a, y.target, a->z1, take);
#endif
#if AG_REST
  const VI enter = take & ~m_le(y.rest, 1.0 + s->spare), rest_good = m_le(y.rest, v_set(1));
  const VI back = s->sub & rest_good & y.final_sub;
  s->spare = v_blend(take & ~enter, v_min(v_set(AG_REST_SPARE), (1.0 + s->spare) - y.rest), s->spare);
  take = (take & ~enter) | (s->sub & rest_good);
  arrived = (arrived & ~enter) | back;
  if (v_any(enter)) keep_core(a, enter);
#endif
  march_take(a, s, &y, take);
#if AG_REST
  if (v_any(back)) take_core(a, s->t, back);
  s->h_sub = y.step * control_rest_factor(y.rest, enter, AG_CONTROL_Q);
  s->end = v_blend(enter, y.target, s->end);
  s->sub = (s->sub & ~back) | enter;
  const V most = v_abs(s->h_sub) * (AG_REST_MOST * (double)a->max_steps);
  stuck_sub = s->sub & (march_stuck(s->h_sub, s->t) | m_lt(most, v_abs(s->end - s->t)));
#endif
  if (AG_MARCH_FIXED) s->leave |= settle(a, s->t, a->z, arrived) & arrived;
  else s->leave |= settle_march(a, s->t, arrived, &s->again);
#if AG_TURNS
  s->h = v_blend(arrived, turn_limit(a, s->h), s->h);
#endif
  s->steps += arrived & v_word_set(1);
  const VI ended = ~s->sub & (m_eq(s->t, *a->t1) | march_stuck(s->h, s->t));
  return ended | stuck_sub | m_le(v_set((double)a->max_steps), v_count(s->steps)) | s->seen | s->leave;
}

#ifndef AG_STRETCH
void ag_march(const ag_fused_args *a) {
  march s = {
      .t = *a->t, .h = *a->h, .last = *a->last_error, .spare = *a->spare, .steps = *a->steps, .rejected = *a->rejected};
  s.was = *a->rejected_last, s.sub = s.seen = s.leave = s.again = v_word_set(0);
#if AG_REST
  s.h_sub = *a->h_sub, s.end = *a->end_sub, s.sub = *a->sub;
#endif
  for (long i = 0; i < a->max_tries; i++)
    if (v_any(march_on(a, &s))) break;
  *a->t = s.t, *a->h = s.h, *a->last_error = s.last, *a->spare = s.spare;
  *a->steps = s.steps, *a->rejected = s.rejected, *a->rejected_last = s.was;
  *a->leave = s.leave;
#if AG_WATCH
  *a->seen = s.seen;
#endif
#if AG_REST
  *a->h_sub = s.h_sub, *a->end_sub = s.end, *a->sub = s.sub;
#endif
}
#endif
