/* SPDX-License-Identifier: MIT
 * The entry ag_locate of a fused unit: text over V, after locate_core.h and root_core.h. */

void ag_locate(const ag_fused_args *a) {
  VI failed = v_word_set(0);
  V slope;
  (void)fused_dense(AG_FLOW_OF(a, &failed) * a->t, *a->h, a->z, a->z1, a->work);
  VI good = ~failed;
  const V theta = root_on_dense(a, v_set(0), v_set(1), &slope, &good), s = v_fma(theta, *a->h, *a->t);
  const V found = root_by_steps(a, s, slope, 0.1 * v_abs(*a->h), &good);
  const VI final = ~m_nan(locate_by_step(a, found));
  *a->found_t = found, *a->good = good & final;
}
