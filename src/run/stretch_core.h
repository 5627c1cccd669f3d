/* SPDX-License-Identifier: MIT
 * Steps of a single run, as lanes make them: text over V, after march_core.h, for one lane. The state before every
 * step is kept. Where a march would have a lane leave, or it is not known how often functions are crossed, the step is
 * taken back, and the code of a single run makes it (stretch.c). A step in which one function is crossed once is kept,
 * where AG_STRETCH_LOCATE is 1 (after stretch_locate_core.h and root_core.h): the crossing is located here, and the
 * stretch ends. */

/* The state before a step, saved and in the march; copied one way before the step, and back to
 * undo it. */
#define AG_STRETCH_STATE(COPY) \
  COPY(a->z, m->z, AG_STEP_N) \
  COPY(a->carry, m->work, AG_STEP_CARRY) \
  COPY(a->c, m->c, AG_BASIS) \
  COPY(a->rows, m->rows, (AG_FRAGILE) * (AG_XI)) \
  COPY(a->memory, m->memory, AG_WATCH)
#define AG_STRETCH_KEEP(kept, now, n) \
  for (int k = 0; k < (n); k++) (kept)[k] = (now)[k];
#define AG_STRETCH_BACK(kept, now, n) AG_STRETCH_KEEP(now, kept, n)
V_IN void stretch_keep(const ag_stretch_args *a) {
  const ag_fused_args *m = a->m;
  AG_STRETCH_STATE(AG_STRETCH_KEEP)
}
V_IN void stretch_back(const ag_stretch_args *a) {
  const ag_fused_args *m = a->m;
  AG_STRETCH_STATE(AG_STRETCH_BACK)
}

/* Must the next try be made by the code of a single run? */
V_IN VI stretch_ends(const ag_stretch_args *a, const march *s) {
  const V h = v_abs(s->h) * 1.0000001;
  return m_le(v_abs(*a->m->t1 - s->t), h) | m_le(v_abs(*a->until - s->t), h);
}

#if AG_STRETCH_LOCATE
/* Which function is crossed in the step just taken, once, while all others are known to be crossed in the wrong
 * direction or not at all; -1: that is not known, or it does more than being recorded. */
V_IN int stretch_crossed(const ag_stretch_args *a) {
  int which = -1;
  for (int e = 0; e < AG_WATCH; e++) {
    const V hint = a->m->hint[e];
    if (!v_any(m_lt(v_set(AG_HINT_WRONG_WAY), hint))) continue;
    if (which >= 0 || v_any(~m_eq(hint, v_set(AG_HINT_ONCE)) | ~a->plain[e])) return -1;
    which = e;
  }
  return which;
}

/* Locates the crossing of the step just taken, which ended at t. 0: the code of a single run has to do it. */
static __attribute__((noinline)) int stretch_locate(const ag_stretch_args *a, V t) {
  const ag_fused_args *m = a->m;
  stretch_spot spot = {.m = *m, .t = *m->from, .h = t - *m->from, .which = stretch_crossed(a)};
  V carry[AG_STEP_CARRY], slope;
  VI failed = v_word_set(0);
  if (spot.which < 0) return 0;
  spot.m.z = m->z0;
  if (AG_BASIS) spot.m.c = m->c0;
  for (int k = 0; k < AG_STEP_CARRY; k++) carry[k] = m->work[k], m->work[k] = m->carry0[k];
  (void)fused_dense(AG_FLOW_OF(&spot.m, &failed) spot.t, spot.h, spot.m.z, spot.m.z1, spot.m.work);
  VI good = ~failed;
  const V theta = root_on_dense(&spot, v_set(0), v_set(1), &slope, &good);
  if (v_any(good)) *a->found_t = root_by_steps(&spot, v_fma(theta, spot.h, spot.t), slope, 0.1 * v_abs(spot.h), &good);
  for (int k = 0; k < AG_STEP_CARRY; k++) m->work[k] = carry[k];
  if (!v_any(good)) return 0;
  for (int e = 0; e < AG_WATCH; e++)
    if (!v_any(m_eq(m->hint[e], v_set(AG_HINT_CLEAR)))) m->memory[e] = -m->memory[e];
  *a->found = spot.which + 1, *a->made = spot.made;
  return 1;
}
#endif

void ag_stretch(const ag_stretch_args *a) {
  const ag_fused_args *m = a->m;
  march s = {
      .t = *m->t, .h = *m->h, .last = *m->last_error, .spare = *m->spare, .steps = *m->steps, .rejected = *m->rejected};
  s.was = *m->rejected_last, s.sub = s.seen = s.leave = s.again = v_word_set(0);
  march kept = s;
  V reach = *a->reach, reach_kept = reach;
  long long tries = 0, taken = 0, others = 0, tries_kept = 0, taken_kept = 0, others_kept = 0;
  V done = m->done ? *m->done : v_set(0);
  VI care = v_word_set(0), ended = v_word_set(0);
  for (long i = 0;;) {
    if (!v_any(s.sub)) {
      if (v_any(ended | stretch_ends(a, &s)) || i++ == a->max_tries) break;
      kept = s, reach_kept = reach, tries_kept = tries, taken_kept = taken, others_kept = others;
      if (m->done) done = *m->done;
      stretch_keep(a);
      const V to = s.t + 1.000001 * s.h;
      reach = v_blend(m_le(v_set(0), (reach - to) * s.h), reach, to);
    }
    const V t = s.t;
    const VI sub = s.sub;
    ended = march_on(m, &s);
    tries++;
    taken += !v_any(m_eq(t, s.t));
    others += (v_any(sub) && !v_any(s.sub)) + v_any(s.again);
    care = s.seen | s.leave | (s.sub & ended);
#if AG_STRETCH_LOCATE
    if (v_any(s.seen) && !v_any(sub | s.sub | s.leave) && stretch_locate(a, s.t)) {
      care = v_word_set(0);
      break;
    }
#endif
    if (v_any(care)) break;
  }
  if (v_any(care)) {
    stretch_back(a);
    s = kept, reach = reach_kept, tries = tries_kept, taken = taken_kept, others = others_kept;
    if (m->done) *m->done = done;
  }
  *m->t = s.t, *m->h = s.h, *m->last_error = s.last, *m->spare = s.spare;
  *m->steps = s.steps, *m->rejected = s.rejected, *m->rejected_last = s.was;
  *a->reach = reach, *a->tries += tries, *a->taken += taken, *a->others += others, *a->care = care;
}
