/* SPDX-License-Identifier: MIT
 * What a single run checks in every step, in lanes: that the minors velocities were solved with have not become small,
 * and that no row of the constraints turns round, through zero or beside it. The member of a lane that cannot continue
 * as before leaves it. Text over V, after fused_args.h.
 *
 * To be defined before:
 *   AG_MINORS guard_bound[]   how many minors, and what they must stay above
 *   AG_FRAGILE AG_XI          rows that may vanish, and their length
 * and the tape guard, which gives both. */

/* In which lanes has a minor become too small at (t, z)? */
V_IN VI guard_left(const ag_fused_args *a, V t, const V *z) {
  V out[AG_MINORS + AG_FRAGILE * AG_XI];
  VI left = v_word_set(0), ignored = v_word_set(0);
  guard(&t, z, a->c, a->prep_guard, out, &ignored);
  for (int i = 0; i < AG_MINORS; i++) left |= ~m_lt(v_set(guard_bound[i]), out[i]);
  return left;
}

/* A step to (t, z1) was accepted in the lanes of `where`: in which of them has a row turned by more than a right angle
 * since the last one? */
V_IN VI guard_turned(const ag_fused_args *a, V t, const V *z1, VI where) {
  V out[AG_MINORS + AG_FRAGILE * AG_XI];
  VI turned = v_word_set(0), ignored = v_word_set(0);
  guard(&t, z1, a->c, a->prep_guard, out, &ignored);
  for (int r = 0; r < AG_FRAGILE; r++) {
    V dot = v_set(0);
    for (int i = 0; i < AG_XI; i++) dot = dot + a->rows[r * AG_XI + i] * out[AG_MINORS + r * AG_XI + i];
    turned |= ~m_lt(v_set(0), dot);
  }
  for (int i = 0; i < AG_FRAGILE * AG_XI; i++) a->rows[i] = v_blend(where, out[AG_MINORS + i], a->rows[i]);
  return turned & where;
}
