/* SPDX-License-Identifier: MIT
 * Groups of components that are kept at their length (quaternions, images of unit vectors): text over V. Every rounding
 * is written out. */

/* Scales u so that its squared length is length2, in the lanes of `where`. */
V_IN void unit_restore(V *u, int size, V length2, VI where) {
  V now = u[0] * u[0];
  for (int k = 1; k < size; k++) now = v_fma(u[k], u[k], now);
  const V f = v_blend(where & m_lt(v_set(0), now), v_sqrt(length2 / now), v_set(1));
  for (int k = 0; k < size; k++) u[k] = u[k] * f;
}
