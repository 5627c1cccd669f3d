/* SPDX-License-Identifier: MIT
 * States put back onto position constraints g = 0 after a step: text over V, for single runs (V = double, mover.c) and
 * for lanes (march_core.h). Every rounding is written out; a lane's numbers follow from its own alone.
 *
 * To be defined before:
 *   AG_PROJECT_OF                     the parameter `a` of the function, with its type
 *   AG_PROJECT_N(a) AG_PROJECT_G(a)   numbers of z, and of g
 *   AG_PROJECT_EVAL(a, t, z, out, fail)   a statement that sets out to z moved by a Newton step, followed by g at z */

/* z in the lanes of `where`; out: room for N + G numbers. Returns the lanes in which that is not possible. From |g| = e
 * a step leaves some e^2: below 1e-8 one is enough. */
V_IN VI project(AG_PROJECT_OF, V t, V *z, V *out, VI where) {
  VI live = where, lost = v_word_set(0);
  for (int i = 0; i < 10 && v_any(live); i++) {
    V size = v_set(0);
    VI failed = v_word_set(0);
    AG_PROJECT_EVAL(a, t, z, out, failed)
    for (int k = 0; k < AG_PROJECT_G(a); k++) {
      const V g = v_abs(out[AG_PROJECT_N(a) + k]);
      failed |= ~m_lt(g, v_set(V_INF));
      size = v_max(size, g);
    }
    lost |= live & failed;
    live &= ~failed & m_lt(v_set(1e-15), size);
    for (int k = 0; k < AG_PROJECT_N(a); k++) z[k] = v_blend(live, out[k], z[k]);
    live &= m_lt(v_set(1e-8), size);
  }
  return lost | live;
}
