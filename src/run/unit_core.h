/* SPDX-License-Identifier: MIT
 * Groups of components that are kept at their length (quaternions, images of unit vectors): text over V. Every rounding
 * is written out. */

/* Scales u so that its squared length is length2, in the lanes of `where`: by (1 - d)^(-1/2) with d = 1 -
 * |u|^2/length2, which after a step is small. To d^3 its series has an error below 35/128 2^-56 for |d| < 2^-14; other
 * lanes take the root. */
V_IN void unit_restore(V *u, int size, V length2, VI where) {
  V now = u[0] * u[0];
  for (int k = 1; k < size; k++) now = v_fma(u[k], u[k], now);
  const V d = v_fma(-now, 1.0 / length2, v_set(1));
  V f = v_poly(v_poly(v_poly(v_set(0.3125), d, 0.375), d, 0.5), d, 1);
  const VI near = m_lt(v_abs(d), v_set(0x1p-14));
  if (v_any(~near)) f = v_blend(near, f, v_blend(m_lt(v_set(0), now), v_sqrt(length2 / now), v_set(1)));
  if (v_any(~where)) f = v_blend(where, f, v_set(1));
  for (int k = 0; k < size; k++) u[k] = u[k] * f;
}
