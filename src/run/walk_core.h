/* SPDX-License-Identifier: MIT
 * Fixed steps along Wiener paths, two vectors of paths at once: text over V, after a stepper's text, wiener_core.h,
 * walk_args.h and unit_core.h. Every rounding is written out; the numbers of a path follow from its own alone.
 *
 * To be defined before:
 *   AG_STEP_N AG_STEP_END AG_WALK_ROOM   components; where the rate at the end of a step stands; the workspace
 *   AG_WALK_CHANNELS AG_WALK_OWN         noise channels; numbers that the method carries on besides rates
 *   AG_WALK_DRAWS                        AG_WIENER_..., as a number: what a step has besides its increments
 *   AG_WALK_UNITS                        groups that are kept at their length
 *   AG_WALK_SKIP                         1: the rate at the end of a step need not be known
 *   AG_WALK_CUT                          1: increments beyond `most` are cut
 *   AG_WALK_OUT AG_WALK_PASSES           columns; numbers of first passages that are not among them; 0: none
 *   AG_WALK_AGREE                        1: the function agree() follows every step
 *   AG_WALK_POSITIONS                    constraints on positions, and the text project_core.h; 0: there are none
 *   AG_WALK_TURNS AG_BASIS               1: there is a basis, and the text turn_core.h; how many numbers it has
 *   AG_UNITS(X)                          X(group, n, z, stride, size) per run of n groups, as in march_core.h */

/* The numbers of a step. */
#if AG_WALK_DRAWS == 1
#define AG_WALK_STEP (1 + AG_WALK_CHANNELS + AG_WALK_CHANNELS * (AG_WALK_CHANNELS - 1) / 2)
#elif AG_WALK_DRAWS >= 2
#define AG_WALK_STEP (2 + 2 * AG_WALK_CHANNELS + (AG_WALK_DRAWS == 4))
#else
#define AG_WALK_STEP (1 + AG_WALK_CHANNELS)
#endif

/* The state after a step to t1, put back where it belongs. */
V_IN void walk_settle(const ag_walk_args *a, const ag_walk_parity *parity, V t1, V *z, const V *unit, VI *fail) {
  const VI all = v_word_set(~0ULL);
#define AG_UNIT_RUN(group, n, at, stride, size) \
  for (int g = 0; g < (n); g++) unit_restore(z + (at) + (stride)*g, size, unit[(group) + g], all);
  AG_UNITS(AG_UNIT_RUN)
#undef AG_UNIT_RUN
#if AG_WALK_AGREE
  V agreed[AG_STEP_N];
  VI ignored = v_word_set(0);
  agree(&t1, z, parity->c, a->prep_agree, agreed, &ignored);
  for (int i = 0; i < AG_STEP_N; i++) z[i] = agreed[i];
#endif
#if AG_WALK_POSITIONS
  V out[AG_STEP_N + AG_WALK_POSITIONS];
  *fail |= project(parity, t1, z, out, all);
#endif
#if AG_WALK_TURNS
  VI renewed;
  *fail |= turn_renew(parity, t1, z, all, &renewed);
#endif
  (void)a, (void)parity, (void)t1, (void)unit, (void)fail, (void)all;
}

/* One step, from t to t1, of one vector: its numbers become the rate w = [1 | dW/h | ...]. */
V_IN void walk_one(const ag_walk_args *a, const ag_walk_parity *parity, V t, V t1, V h, V per_h, V *step, V *z, V *own,
                   const V *unit, VI *fail, VI *cut) {
  V z1[AG_STEP_N], work[AG_WALK_ROOM], w[AG_WALK_STEP], error[2];
  w[0] = v_set(1);
#if AG_WALK_CUT
  VI large = v_word_set(0);
  for (int i = 1; i <= AG_WALK_CHANNELS; i++) {
    large |= m_lt(v_set(a->most), v_abs(step[i]));
    step[i] = v_max(v_set(-a->most), v_min(v_set(a->most), step[i]));
  }
  *cut += large & 1;
#endif
  for (int i = 1; i < AG_WALK_STEP; i++) w[i] = step[i] * per_h;
  for (int i = 0; i < AG_WALK_OWN; i++) work[AG_STEP_N + i] = own[i];
  f(&t, z, parity->c, w, parity->prep, work, fail);
  (void)walk_step(parity->c, w, parity->prep, a->prep_jacobian, a->prep_finish, a->prep_canonical, work + AG_STEP_END,
                  fail, t, h, z, z1, 0, 0, error, work);
#if AG_WALK_TURNS
  V rate;
  *fail |= m_lt(turn_left(parity, t1, z1, &rate), v_set(AG_TURN_MOST));
#endif
  for (int k = 0; k < AG_STEP_N; k++) z[k] = z1[k];
  for (int i = 0; i < AG_WALK_OWN; i++) own[i] = work[AG_STEP_END + AG_STEP_N + i];
  walk_settle(a, parity, t1, z, unit, fail);
  (void)own, (void)cut;
}

/* The text of a step stands once in the loop: two copies are a third longer, and not faster. */
#ifdef __clang__
#define AG_WALK_ONCE _Pragma("clang loop unroll(disable)")
#else
#define AG_WALK_ONCE _Pragma("GCC unroll 1")
#endif

/* Prepared numbers that stand in the loop's own memory, which no step can change; many of them stay where they are. */
enum { AG_WALK_KEPT = f_n_prep <= 64 ? f_n_prep : 0 };

void ag_walk(const ag_walk_args *a) {
  V z[2][AG_STEP_N], own[2][AG_WALK_OWN + 1], unit[AG_WALK_UNITS + 1];
  VI fail[2] = {a->fail[0], a->fail[1]}, cut[2] = {a->cut[0], a->cut[1]};
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < AG_STEP_N; k++) z[s][k] = a->z[s * AG_STEP_N + k];
    for (int k = 0; k < AG_WALK_OWN; k++) own[s][k] = a->own[s * AG_WALK_OWN + k];
  }
  for (int k = 0; k < AG_WALK_UNITS; k++) unit[k] = a->unit[k];
  ag_wiener path = a->path;
  path.channels = AG_WALK_CHANNELS;
  const V h = v_set(a->h), per_h = v_set(1 / a->h);
  V turn[2] = {v_set(0), v_set(0)};
  V kept[AG_WALK_KEPT + 1];
  for (int i = 0; i < AG_WALK_KEPT; i++) kept[i] = a->prep[i];
  const V *prep = AG_WALK_KEPT ? kept : a->prep;
  const ag_walk_parity parity[2] = {{a->c, turn, prep, a->prep_project, a->prep_turn, a->prep_renew},
                                    {a->c + AG_BASIS, turn + 1, prep, a->prep_project, a->prep_turn, a->prep_renew}};
  for (v_word k = a->from; k < a->to; k++) {
    V step[2][AG_WALK_STEP];
    const V t = v_set(a->t0 + (double)k * a->h), t1 = v_set(a->t0 + (double)(k + 1) * a->h);
#if AG_WALK_DRAWS == 1
    V room[AG_WIENER_ROOM(AG_WALK_CHANNELS)];
    wiener_areas(&path, *a->pair, k, step[0], step[1], room);
#elif AG_WALK_DRAWS == 2
    wiener_halves(&path, *a->pair, k, step[0], step[1]);
#elif AG_WALK_DRAWS == 3
    wiener_coin(&path, *a->pair, k, step[0], step[1]);
#elif AG_WALK_DRAWS == 4
    wiener_trial(&path, *a->pair, k, step[0], step[1]);
#else
    wiener_step(&path, *a->pair, k, step[0], step[1]);
#endif
    AG_WALK_ONCE for (int s = 0; s < 2; s++)
        walk_one(a, &parity[s], t, t1, h, per_h, step[s], z[s], own[s], unit, &fail[s], &cut[s]);
  }
  for (int s = 0; s < 2; s++) {
    for (int k = 0; k < AG_WALK_OWN; k++) a->own[s * AG_WALK_OWN + k] = own[s][k];
    VI bad = v_word_set(0);
    for (int k = 0; k < AG_STEP_N; k++) {
      a->z[s * AG_STEP_N + k] = z[s][k];
      bad |= ~m_eq(z[s][k] * 0.0, v_set(0)); /* not finite */
    }
    a->fail[s] = (v_word_set(0) - (fail[s] >> 63)) | bad; /* its sign bit counts: see ag_cgen.unmarked */
    a->cut[s] = cut[s];
    const V t = v_set(a->t0 + (double)a->to * a->h);
    VI ignored = v_word_set(0);
#if AG_WALK_OUT
    if (a->out) o(&t, z[s], parity[s].c, a->prep_out, a->out + s * AG_WALK_OUT, &ignored);
#endif
#if AG_WALK_PASSES
    passes(&t, z[s], parity[s].c, a->prep_passes, a->passes + s * AG_WALK_PASSES, &ignored);
#endif
    (void)t, (void)ignored;
  }
}
