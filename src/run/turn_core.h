/* SPDX-License-Identifier: MIT
 * A basis that is data, in lanes: how far it has turned, and renewing it (mech/turn.c). Text over V. Every rounding is
 * written out; a lane's numbers follow from its own alone.
 *
 * To be defined before:
 *   AG_TURN_OF                            the parameter `a` of the functions, with its type: a pointer to a struct with
 *                                         the basis c, the square of its rate turn, and prep_turn, prep_renew
 *   AG_BASIS                              numbers of a basis; 0: there is nothing to renew
 *   AG_TURN_RENEW AG_TURN_LOST AG_TURN_STEP AG_TURN_MOST   as in a single run
 * and the tapes turning and renew. */

/* cos^2 of the angle from where the basis was chosen, 0 where the rows have lost rank; *rate: the square of how fast.
 */
V_IN V turn_left(AG_TURN_OF, V t, const V *z, V *rate) {
  V out[3];
  VI failed = v_word_set(0);
  turning(&t, z, a->c, a->prep_turn, out, &failed);
  *rate = out[2];
  return v_blend(failed | ~m_lt(v_set(AG_TURN_LOST), out[1]), v_set(0), out[0]);
}

/* Renews the basis in those lanes of `where` in which it has turned far; *renewed: which. Returns the lanes in which
 * that is not possible. */
V_IN VI turn_renew(AG_TURN_OF, V t, const V *z, VI where, VI *renewed) {
  V rate;
  const V left = turn_left(a, t, z, &rate);
  VI lost = m_eq(left, v_set(0));
  *renewed = v_word_set(0);
#if AG_BASIS
  *renewed = where & m_lt(left, v_set(AG_TURN_RENEW)) & ~lost;
  if (v_any(*renewed)) {
    V c[AG_BASIS];
    VI failed = v_word_set(0);
    renew(&t, z, a->c, a->prep_renew, c, &failed);
    for (int k = 0; k < AG_BASIS; k++) a->c[k] = v_blend(*renewed, c[k], a->c[k]);
    lost |= *renewed & failed;
    V again;
    (void)turn_left(a, t, z, &again);
    rate = v_blend(*renewed, again, rate);
  }
#endif
  *a->turn = v_blend(where, rate, *a->turn);
  return lost & where;
}

/* A step no longer than the basis allows. */
V_IN V turn_limit(AG_TURN_OF, V h) {
  const VI turns = m_lt(v_set(0), *a->turn);
  const V limit = AG_TURN_STEP / v_sqrt(v_blend(turns, *a->turn, v_set(1)));
  return v_blend(turns & m_lt(limit, v_abs(h)), v_flip(limit, v_signbit(h)), h);
}
