/* SPDX-License-Identifier: MIT
 * Writes and builds the fused unit. Its right-hand side is inlined into every stage; all sizes are constants. */
#include "run/fused.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"

enum { MAX_INLINED_OPERATIONS = 6000 };

struct ag_fused {
  ag_library *library;
  int lanes, n_prep, n_watch_prep;
  void (*prep)(const double *p, double *prep, unsigned long long *fail);
  void (*rhs)(const double *t, const double *z, const double *c, const double *prep, double *dz,
              unsigned long long *fail);
  void (*step)(const ag_fused_args *a);
  void (*dense)(const ag_fused_args *a);
  void (*interpolate)(const double *theta, const double *z, const double *dense, double *out);
  void (*march)(const ag_fused_march *m);
  void (*locate)(const ag_fused_place *p);
  void (*watch_prep)(const double *p, double *prep, unsigned long long *fail);
};

/* The structs above once more, for the generated side. */
static const char args_text[] = "typedef struct ag_fused_args {\n"
                                "  const V *t, *h, *z, *c, *prep;\n"
                                "  V *z1, *error, *k, *w, *dense;\n"
                                "  VI *fail;\n"
                                "  double rtol, atol;\n"
                                "} ag_fused_args;\n\n"
                                "typedef struct ag_fused_march {\n"
                                "  V *t, *h, *z, *k;\n"
                                "  const V *c, *prep, *t1;\n"
                                "  const V *unit;\n"
                                "  V *z1, *w, *last_error;\n"
                                "  V *h_sub, *end_sub, *keep;\n"
                                "  VI *steps, *rejected;\n"
                                "  VI *rejected_last, *sub;\n"
                                "  double rtol, atol, safety, shrink, grow, h_max;\n"
                                "  long long max_steps;\n"
                                "  long max_tries;\n"
                                "  const V *prep_watch;\n"
                                "  V *memory, *hint;\n"
                                "  V *from, *z0, *dz0;\n"
                                "  VI *seen;\n"
                                "} ag_fused_march;\n\n"
                                "typedef struct ag_fused_place {\n"
                                "  const V *t, *h, *z, *z1, *c, *prep, *prep_watch, *unit;\n"
                                "  V *k, *w, *dense;\n"
                                "  V *s, *zs;\n"
                                "  VI *good;\n"
                                "} ag_fused_place;\n\n";

static const char entries_text[] =
    "void ag_prep(const V *p, V *prep, VI *fail) { f_prep(p, prep, fail); }\n"
    "void ag_rhs(const V *t, const V *z, const V *c, const V *prep, V *dz, VI *fail) { f(t, z, c, prep, dz, fail); }\n";

static const char step_text[] =
    "void ag_step(const ag_fused_args *a) {\n"
    "  (void)fused_step(a->c, a->prep, a->fail, *a->t, *a->h, a->z, a->z1, a->rtol, a->atol, a->error, a->k, a->w);\n"
    "}\n"
    "void ag_dense(const ag_fused_args *a) {\n"
    "  (void)fused_dense(a->c, a->prep, a->fail, *a->t, *a->h, a->z, a->z1, a->k, a->w, a->dense);\n"
    "}\n"
    "void ag_interpolate(const V *theta, const V *z, const V *dense, V *out) { fused_interpolate(*theta, z, dense, "
    "out); }\n\n";

/* Steps all lanes with their own step sizes until one reaches its end or cannot go on. The control is that of
 * step/control.c, the smaller steps for the rest are those of trajectory.c. */
static const char march_text[] =
    "void ag_march(const ag_fused_march *m) {\n"
    "  V t = *m->t, h = *m->h, last = *m->last_error;\n"
    "  const V t1 = *m->t1, one = v_set(1);\n"
    "  const V nan = v_nan(), inf = v_set(V_INF), limit = v_set((double)m->max_steps);\n"
    "  VI steps = *m->steps, rejected = *m->rejected, was = *m->rejected_last;\n"
    "  VI sub = v_word_set(0), seen = v_word_set(0);\n"
    "#if AG_REST\n"
    "  V h_sub = *m->h_sub, end = *m->end_sub;\n"
    "  sub = *m->sub;\n"
    "#endif\n"
    "  for (long i = 0; i < m->max_tries; i++) {\n"
    "    VI fail = v_word_set(0);\n"
    "    V errors[2];\n"
    "    const V left = t1 - t;\n"
    "    const VI final = m_le(v_abs(left), v_abs(h) * 1.0000001);\n"
    "    const V target = v_blend(final, t1, t + h);\n"
    "    V step = v_blend(final, left, h);\n"
    "#if AG_REST\n"
    "    const V left_sub = end - t;\n"
    "    const VI final_sub = m_le(v_abs(left_sub), v_abs(h_sub) * 1.0000001);\n"
    "    step = v_blend(sub, v_blend(final_sub, left_sub, h_sub), step);\n"
    "#endif\n"
    "    (void)fused_step(m->c, m->prep, &fail, t, step, m->z, m->z1, m->rtol, m->atol, errors, m->k, m->w);\n"
    "    V error = v_blend(fail, nan, errors[0]);\n"
    "#if AG_REST\n"
    "    const V rest = v_blend(fail, nan, errors[1]);\n"
    "    const VI rest_lost = ~m_lt(rest, inf), rest_good = m_le(rest, one);\n"
    "#endif\n"
    "    /* the size of the next step */\n"
    "    const VI good = m_le(error, one), lost = ~m_lt(error, inf);\n"
    "    const V small = v_max(error, v_set(0x1p-1022));\n"
    "    const V root = v_root(small, -(1.0 / AG_Q - 0.75 * AG_BETA));\n"
    "    V up = m->safety * root, down = root; /* a lost error has no root, and needs none */\n"
    "    if (AG_BETA != 0) {\n"
    "      up = up * v_pow(last, v_set(AG_BETA));\n"
    "      down = v_root(v_blend(lost, one, small), -1.0 / AG_Q);\n"
    "    }\n"
    "    up = v_min(v_max(up, v_set(m->shrink)), v_blend(was, one, v_set(m->grow)));\n"
    "    down = v_max(m->safety * down, v_set(m->shrink));\n"
    "    down = v_blend(lost, v_set(0.1), down);\n"
    "    V next = step * v_blend(good, up, down);\n"
    "    next = v_blend(m_lt(v_set(m->h_max), v_abs(next)), v_flip(v_set(m->h_max), v_signbit(next)), next);\n"
    "    /* a step cut short by the end says nothing about the size */\n"
    "    next = v_blend(good & final & m_lt(v_abs(next), v_abs(h)), h, next);\n"
    "    h = v_blend(sub, h, next);\n"
    "    last = v_blend(good & ~sub, v_max(error, v_set(1e-4)), last);\n"
    "    was = (was & sub) | (~good & ~sub);\n"
    "    rejected += ~good & ~sub & v_word_set(1);\n"
    "    /* whose step is taken, who has arrived at the end of one */\n"
    "    VI take = good & ~sub, arrived = take;\n"
    "#if AG_REST\n"
    "    const VI enter = take & ~rest_good, back = sub & rest_good & final_sub;\n"
    "    take = (take & ~enter) | (sub & rest_good);\n"
    "    arrived = (arrived & ~enter) | back;\n"
    "    if (v_any(enter)) AG_KEEP(enter)\n"
    "#endif\n"
    "#if AG_WATCH\n"
    "    seen = watch(m, t, step, take);\n"
    "    if (v_any(seen)) {\n"
    "      *m->from = t;\n"
    "      for (int k = 0; k < AG_RK_N; k++) m->z0[k] = m->z[k], m->dz0[k] = m->k[k];\n"
    "    }\n"
    "#endif\n"
    "    for (int k = 0; k < AG_RK_N; k++) {\n"
    "      m->z[k] = v_blend(take, m->z1[k], m->z[k]);\n"
    "      m->k[k] = v_blend(take, m->k[AG_LAST_ROW * AG_RK_N + k], m->k[k]);\n"
    "    }\n"
    "#if AG_REST\n"
    "    const V factor = 0.9 * v_root(v_max(v_blend(rest_lost, one, rest), v_set(1e-300)), -1.0 / AG_Q);\n"
    "    t = v_blend(take, v_blend(sub, v_blend(final_sub, end, t + step), target), t);\n"
    "    if (v_any(back)) AG_BACK(back)\n"
    "    const V again = v_blend(rest_lost, v_set(0.1), v_min(v_max(factor, v_set(0.1)), v_set(6)));\n"
    "    const V into = v_blend(rest_lost, v_set(0.01), v_max(factor, v_set(0.01)));\n"
    "    h_sub = step * v_blend(enter, into, again);\n"
    "    end = v_blend(enter, target, end);\n"
    "    sub = (sub & ~back) | enter;\n"
    "    const VI stuck_sub = sub & (m_le(v_abs(h_sub), v_abs(t) * 1e-15) | m_eq(h_sub, v_set(0)));\n"
    "#else\n"
    "    t = v_blend(take, target, t);\n"
    "    const VI stuck_sub = v_word_set(0);\n"
    "#endif\n"
    "    AG_UNITS(m->z, arrived)\n"
    "    steps += arrived & v_word_set(1);\n"
    "    const VI stuck = ~sub & (m_le(v_abs(h), v_abs(t) * 1e-15) | m_eq(h, v_set(0)));\n"
    "    if (v_any((~sub & m_eq(t, t1)) | stuck | stuck_sub | m_le(limit, v_count(steps)) | seen)) break;\n"
    "  }\n"
    "  *m->t = t, *m->h = h, *m->last_error = last, *m->steps = steps, *m->rejected = rejected, *m->rejected_last = "
    "was;\n"
    "#if AG_WATCH\n"
    "  *m->seen = seen;\n"
    "#endif\n"
    "#if AG_REST\n"
    "  *m->h_sub = h_sub, *m->end_sub = end, *m->sub = sub;\n"
    "#endif\n"
    "}\n";

/* Entering and leaving a step whose rest is computed in smaller ones: the core at its end and its rate are put aside,
 * and taken back; the rate of the rest is evaluated anew. A number of steps is exact as a double. */
static const char rest_text[] =
    "V_IN V v_count(VI n) { return v_of(n | v_bits(v_set(0x1p52))) - 0x1p52; }\n"
    "#define AG_REST (AG_RK_N > AG_CORE)\n"
    "#define AG_KEEP(mask) \\\n"
    "  for (int k = 0; k < AG_CORE; k++) { \\\n"
    "    m->keep[k] = v_blend(mask, m->z1[k], m->keep[k]); \\\n"
    "    m->keep[AG_CORE + k] = v_blend(mask, m->k[AG_LAST_ROW * AG_RK_N + k], m->keep[AG_CORE + k]); \\\n"
    "  }\n"
    "#define AG_BACK(mask) { \\\n"
    "    VI ignored = v_word_set(0); \\\n"
    "    for (int k = 0; k < AG_CORE; k++) { \\\n"
    "      m->z[k] = v_blend(mask, m->keep[k], m->z[k]); \\\n"
    "      m->k[k] = v_blend(mask, m->keep[AG_CORE + k], m->k[k]); \\\n"
    "    } \\\n"
    "    f(&t, m->z, m->c, m->prep, m->w, &ignored); \\\n"
    "    for (int k = AG_CORE; k < AG_RK_N; k++) m->k[k] = v_blend(mask, m->w[k], m->k[k]); \\\n"
    "  }\n";

/* What do the functions do in the step? Nine samples on an interpolant of the components they read: the cubic of values
 * and rates at both ends, plus the term C x^2 (1 - x)^2 that makes its rate right at a quarter of the step (one more
 * right-hand side). The interpolant is not exact, but the values at both ends are, and what the last term does to a
 * function tells how far it may be off in between. What is decided leaves a margin of that size and a tenth of the
 * spread of the samples: between two neighbouring samples the function stays away from zero, or is steep, so that it
 * cannot turn near zero; and samples at even places predict the others. Then clear: all samples have the sign the
 * function had; once:  the first ones have, the others have the other. Everything else is looked into with care. */
static const char watch_text[] =
    "static __attribute__((noinline)) VI watch(const ag_fused_march *m, V t, V h, VI take) {\n"
    "  V s[9][AG_WATCH], w[AG_RK_N], f4[AG_RK_N], plain[AG_WATCH];\n"
    "  const V *f1 = m->k + AG_LAST_ROW * AG_RK_N, zero = v_set(0);\n"
    "  const VI back = m_lt(h, zero);\n"
    "  VI failed = v_word_set(0), seen = v_word_set(0);\n"
    "#define AG_CUBIC(k) const V d = m->z1[k] - m->z[k], a = v_fma(h, m->k[k], -d), b = v_fma(-h, f1[k], d) - a\n"
    "  for (int k = 0; k < AG_RK_N; k++) {\n"
    "    AG_CUBIC(k);\n"
    "    w[k] = v_fma(v_set(0.25), v_fma(v_set(0.75), v_fma(v_set(0.25), b, a), d), m->z[k]);\n"
    "  }\n"
    "  const V quarter = v_fma(v_set(0.25), h, t);\n"
    "  f(&quarter, w, m->c, m->prep, f4, &failed);\n"
    "  for (int i = 0; i <= 9; i++) {\n"
    "    const V x = v_set(i < 9 ? 0.125 * i : 0.5), y = 1.0 - x, xy = x * y, at = v_fma(x, h, t);\n"
    "    for (int j = 0; j < AG_NEED; j++) {\n"
    "      const int k = needed[j];\n"
    "      AG_CUBIC(k);\n"
    "      /* rate of the cubic at x = 1/4: d + a/2 + 5 b/16; that of x^2 (1 - x)^2 is 3/16 */\n"
    "      const V C = (v_fma(h, f4[k], -d) - v_fma(v_set(0.3125), b, 0.5 * a)) * (16.0 / 3);\n"
    "      w[k] = v_fma(x, v_fma(y, v_fma(x, b, a), d), m->z[k]);\n"
    "      if (i < 9) w[k] = v_fma(xy * xy, C, w[k]);\n"
    "    }\n"
    "    g(&at, w, m->c, m->prep_watch, i < 9 ? s[i] : plain, &failed);\n"
    "  }\n"
    "  for (int e = 0; e < AG_WATCH; e++) {\n"
    "    V lo = s[0][e], hi = lo;\n"
    "    for (int i = 1; i <= 8; i++) lo = v_min(lo, s[i][e]), hi = v_max(hi, s[i][e]);\n"
    "    const V off = v_abs(plain[e] - s[4][e]), margin = v_fma(v_set(0.1), hi - lo, off), old = m->memory[e];\n"
    "    const V steep = v_fma(v_set(0.07), hi - lo, 0.2 * off); /* a parabola that turns between two samples differs "
    "by less there */\n"
    "    const VI positive = m_lt(zero, old), negative = m_lt(old, zero);\n"
    "    VI above = positive, below = negative, told = ~failed, up = negative & m_lt(s[0][e], zero) & m_lt(zero, "
    "s[8][e]);\n"
    "    VI down = positive & m_lt(zero, s[0][e]) & m_lt(s[8][e], zero);\n"
    "    for (int i = 0; i <= 8; i++) above &= m_lt(zero, s[i][e]), below &= m_lt(s[i][e], zero);\n"
    "    for (int i = 0; i < 8; i++) {\n"
    "      const V p = s[i][e], q = s[i + 1][e];\n"
    "      up &= ~(m_lt(zero, p) & m_le(q, zero)), down &= ~(m_lt(p, zero) & m_le(zero, q));\n"
    "      told &= (m_lt(margin, p) & m_lt(margin, q)) | (m_lt(p, -margin) & m_lt(q, -margin)) | m_lt(steep, v_abs(q - "
    "p));\n"
    "    }\n"
    "    for (int i = 1; i < 8; i += 2) {\n"
    "      const int a = i < 4 ? 0 : 2;\n"
    "      const double *u = weight[(i - a) / 2];\n"
    "      V p = s[a][e] * u[0];\n"
    "      for (int j = 1; j < 4; j++) p = v_fma(s[a + 2 * j][e], v_set(u[j]), p);\n"
    "      told &= m_le(v_abs(p - s[i][e]), 0.02 * (hi - lo));\n"
    "    }\n"
    "    const VI rises = (up & ~back) | (down & back), once = told & (up | down), clear = told & (above | below);\n"
    "    const VI wrong = once & (way[e] > 0 ? ~rises : way[e] < 0 ? rises : v_word_set(0));\n"
    "    m->hint[e] = v_blend(clear, zero, v_blend(wrong, v_set(1), v_blend(once, v_set(2), v_set(3))));\n"
    "    seen |= take & ~(clear | wrong);\n"
    "  }\n"
    "  for (int e = 0; e < AG_WATCH; e++)\n"
    "    m->memory[e] = v_blend(take & ~seen & m_eq(m->hint[e], v_set(1)), -m->memory[e], m->memory[e]);\n"
    "  return seen;\n"
    "}\n"
    "void ag_watch_prep(const V *p, V *prep, VI *fail) { g_prep(p, prep, fail); }\n";

/* Zeros of the last function in all lanes at once: on the dense output first, then by real steps from the start of the
 * step. The same as dense_root() and polish() in events.c. */
static const char locate_text[] =
    "static V place_at(const ag_fused_place *m, V t, const V *z) {\n"
    "  V out[AG_WATCH];\n"
    "  VI failed = v_word_set(0);\n"
    "  g(&t, z, m->c, m->prep_watch, out, &failed);\n"
    "  return v_blend(failed, v_nan(), out[AG_WATCH - 1]);\n"
    "}\n"
    "static __attribute__((noinline)) V on_dense(const ag_fused_place *m, V theta) {\n"
    "  fused_interpolate(theta, m->z, m->dense, m->zs);\n"
    "  return place_at(m, v_fma(theta, *m->h, *m->t), m->zs);\n"
    "}\n"
    "static __attribute__((noinline)) V by_step(const ag_fused_place *m, V s) {\n"
    "  V errors[2];\n"
    "  const V one = v_set(1);\n"
    "  VI failed = v_word_set(0), all = v_word_set(~0ULL);\n"
    "  (void)fused_step(m->c, m->prep, &failed, *m->t, s - *m->t, m->z, m->zs, 1, 1, errors, m->k, m->w);\n"
    "  AG_UNITS(m->zs, all)\n"
    "  return v_blend(failed, v_nan(), place_at(m, s, m->zs));\n"
    "}\n"
    "void ag_locate(const ag_fused_place *m) {\n"
    "  const V t = *m->t, h = *m->h, zero = v_set(0), one = v_set(1), tiny = v_set(1e-4);\n"
    "  VI failed = v_word_set(0);\n"
    "  (void)fused_dense(m->c, m->prep, &failed, t, h, m->z, m->z1, m->k, m->w, m->dense);\n"
    "  V a = zero, b = one, fa = on_dense(m, a), fb = on_dense(m, b);\n"
    "  VI live = m_lt(fa * fb, zero) & ~failed, good = live;\n"
    "  for (int i = 0; i < 40 && v_any(live); i++) {\n"
    "    V x = b - fb * (b - a) / (fb - fa);\n"
    "    const VI inside = m_lt(v_min(a, b), x) & m_lt(x, v_max(a, b));\n"
    "    x = v_blend(inside, x, 0.5 * (a + b));\n"
    "    if (i % 8 == 7) x = 0.5 * (a + b);\n"
    "    const V f = on_dense(m, x), moved = v_abs(x - b);\n"
    "    const VI same = ~(m_lt(zero, f) ^ m_lt(zero, fb));\n"
    "    a = v_blend(live & ~same, b, a);\n"
    "    fa = v_blend(live, v_blend(same, 0.5 * fa, fb), fa);\n"
    "    b = v_blend(live, x, b), fb = v_blend(live, f, fb);\n"
    "    live &= ~(m_lt(moved, tiny) | m_eq(f, zero));\n"
    "  }\n"
    "  const V left = v_max(b - tiny, zero), right = v_min(b + tiny, one);\n"
    "  const V above = on_dense(m, right), slope = (above - on_dense(m, left)) / ((right - left) * h);\n"
    "  V s = v_fma(b - fb / (slope * h), h, t), found = s, f = by_step(m, s);\n"
    "  good &= m_lt(v_abs(slope), v_set(V_INF)) & ~m_eq(slope, zero);\n"
    "  live = good, good = v_word_set(0);\n"
    "  for (int i = 0; i < 8 && v_any(live); i++) {\n"
    "    const V next = s - f / slope, moved = v_abs(next - s), size = v_max(v_abs(s), v_abs(s - t));\n"
    "    live &= m_le(moved, 0.1 * v_abs(h));\n"
    "    found = v_blend(live, s, found);\n"
    "    const VI there = live & (m_eq(next, s) | m_eq(f, zero)), near = live & ~there & m_le(AG_CORRECTED * moved, "
    "1e-16 * size);\n"
    "    found = v_blend(near, next, found);\n"
    "    good |= there | near, live &= ~(there | near);\n"
    "    if (!v_any(live)) break;\n"
    "    const V now = by_step(m, v_blend(live, next, s));\n"
    "    const VI ended = m_le(moved, 1e-15 * size), stuck = live & ~m_lt(v_abs(now), v_abs(f));\n"
    "    good |= stuck & m_le(moved, 1e-13 * size), live &= ~stuck;\n"
    "    s = v_blend(live, next, s), found = v_blend(live, next, found), f = v_blend(live, now, f);\n"
    "    good |= live & ended, live &= ~ended;\n"
    "  }\n"
    "  const VI final = ~m_nan(by_step(m, found));\n"
    "  *m->s = found, *m->good = good & final;\n"
    "}\n";

/* Its tape, and which components of z it reads; weights of four even places for the odd ones between and beside them.
 */
static int put_watch(const ag_fused_spec *s, ag_text *out) {
  ag_cgen how = {.name = "g"};
  int n_prep = ag_cgen_tape(s->watch, &how, out), n = 0;
  bool *reads = ag_heap_alloc((size_t)s->n + 1);
  for (int i = 0; i < s->watch->n_instr; i++) {
    const ag_instr *in = &s->watch->instr[i];
    if (in->op == AG_OP_LOAD && in->a == AG_SEG_Z) reads[in->b] = true;
  }
  ag_text_str(out, "static const int needed[] = {");
  for (int i = 0; i < s->n; i++)
    if (reads[i]) ag_text_printf(out, "%d, ", i), n++;
  ag_text_printf(out, "0};\n#define AG_NEED %d\nstatic const int way[] = {", n);
  for (int i = 0; i < s->watch->n_out; i++) ag_text_printf(out, "%d, ", s->way[i]);
  ag_text_str(out, "0};\n");
  ag_text_str(
      out,
      "static const double weight[3][4] = {{0.3125, 0.9375, -0.3125, 0.0625}, {-0.0625, 0.5625, 0.5625, -0.0625},\n"
      "                                    {0.0625, -0.3125, 0.9375, 0.3125}};\n");
  ag_text_str(out, watch_text);
  free(reads);
  return n_prep;
}

/* Groups of components kept at their length: quaternions, images. Many of one size at equal distances are a loop. */
static void put_units(const ag_fused_spec *s, ag_text *out) {
  ag_text_str(out, "#define AG_UNITS(z, yes) \\\n");
  for (int i = 0, n; i < s->n_unit; i += n) {
    int size = s->unit_size[i], step = i + 1 < s->n_unit ? s->unit[i + 1] - s->unit[i] : 0;
    for (n = 1; i + n < s->n_unit && s->unit_size[i + n] == size && s->unit[i + n] - s->unit[i + n - 1] == step;) n++;
    if (n < 8) n = 1, step = 0;
    ag_text_printf(out, "  for (int g = 0; g < %d; g++) { \\\n    V *u = z + %d + %d * g, now = u[0] * u[0]; \\\n", n,
                   s->unit[i], step);
    for (int k = 1; k < size; k++) ag_text_printf(out, "    now = v_fma(u[%d], u[%d], now); \\\n", k, k);
    ag_text_printf(out, "    const V f = v_blend(yes & m_lt(v_set(0), now), v_sqrt(m->unit[%d + g] / now), one); \\\n",
                   i);
    for (int k = 0; k < size; k++) ag_text_printf(out, "    u[%d] = u[%d] * f; \\\n", k, k);
    ag_text_str(out, "  } \\\n");
  }
  ag_text_str(out, "  (void)(yes);\n");
}

/* Powers of the error in the control, which depends on the method alone. The compiler knows them: for -1/8 three square
 * roots, else the general power. */
static void put_root(const ag_stepper *method, ag_text *out) {
  ag_control control;
  ag_control_init(&control, method, 0, 0);
  ag_text_printf(out, "#define AG_BETA %.17g\n", control.beta);
  ag_text_str(out, "V_IN V v_root(V x, double power) {\n"
                   "  return power == -0.125 ? 1.0 / v_sqrt(v_sqrt(v_sqrt(x))) : v_pow(x, v_set(power));\n}\n");
}

static int put_all(const ag_fused_spec *s, ag_text *out, int *n_watch) {
  ag_text_printf(out, "/* %s: %s fused with the right-hand side (%d components) */\n", s->name, s->method->name, s->n);
  /* inlined into every stage while that stays small; else one function, called */
  bool inlined = ag_tape_cost(s->tape) * (s->method->n_stage + 2) < MAX_INLINED_OPERATIONS;
  ag_text_printf(out, "#define AG_TAPE_FN static %s\n",
                 inlined ? "inline __attribute__((always_inline))" : "__attribute__((noinline))");
  int n_function = ag_cgen_functions(s->tape) * (inlined ? s->method->n_stage + 2 : 1);
  if (s->watch) n_function += ag_cgen_functions(s->watch);
  ag_cgen_prologue(n_function, out);
  ag_cgen how = {.name = "f"};
  int n_prep = ag_cgen_tape(s->tape, &how, out);
  ag_text_str(out, ag_stepper_tableau_text);
  ag_text_printf(
      out,
      "\n#define AG_RK_METHOD %s\n#define AG_RK_FN(name) fused_##name\n"
      "#define AG_RK_QUALIFIER static __attribute__((noinline, unused))\n#define AG_MAYBE __attribute__((unused))\n"
      "#define AG_RK_FLOW const V *c_ AG_MAYBE, const V *prep_ AG_MAYBE, VI *fail_ AG_MAYBE,\n#define "
      "AG_RK_SIZE\n#define AG_RK_N %d\n"
      "#define AG_RK_IN_NORM(i) ((i) < %d)\n#define AG_RK_N_NORM %d.0\n#define AG_RK_IN_REST(i) ((i) >= %d)\n#define "
      "AG_RK_N_REST %d.0\n"
      "#define AG_Q %d.0\n#define AG_CORE %d\n"
      "#define AG_RK_RHS(t, z, dz) { const V at_ = (t); f(&at_, (z), c_, prep_, (dz), fail_); }\n"
      "#define AG_LAST_ROW AG_RK_%s_LAST\n"
      "#if defined __GNUC__ && !defined __clang__ && AG_RK_N <= 16\n"
      "#define AG_RK_EACH(i) _Pragma(\"GCC unroll 16\") for (int i = 0; i < AG_RK_N; i++)\n#endif\n",
      s->method->name, s->n, s->n_norm, s->n_norm, s->n_norm, s->n - s->n_norm, s->method->error_order + 1, s->n_norm,
      s->method->name);
  ag_text_str(out, ag_stepper_core_text);
  ag_text_str(out, args_text);
  ag_text_str(out, entries_text);
  *n_watch = 0;
  ag_text_printf(out, "#define AG_WATCH %d\n", s->watch ? s->watch->n_out : 0);
  if (s->watch) *n_watch = put_watch(s, out);
  if (!s->march) ag_text_str(out, step_text);
  else {
    put_root(s->method, out);
    put_units(s, out);
    ag_text_str(out, rest_text);
    ag_text_str(out, march_text);
    if (s->locate) ag_text_printf(out, "#define AG_CORRECTED %g\n", AG_EVENTS_CORRECTED);
    if (s->locate) ag_text_str(out, locate_text);
  }
  return n_prep;
}

void ag_fused_text(const ag_fused_spec *spec, ag_text *out) {
  int ignored;
  (void)put_all(spec, out, &ignored);
}

ag_fused *ag_fused_create(const ag_fused_spec *spec, const ag_build_options *options, ag_text *reason) {
  ag_text text = {0};
  int n_watch_prep, n_prep = put_all(spec, &text, &n_watch_prep);
  ag_library *library = ag_library_create(ag_text_cstr(&text), options, reason);
  ag_text_done(&text);
  if (!library) return NULL;
  ag_fused *f = ag_heap_alloc(sizeof *f);
  *f = (ag_fused){.library = library,
                  .lanes = options->lanes ? options->lanes : ag_build_lanes(),
                  .n_prep = n_prep,
                  .n_watch_prep = n_watch_prep};
  *(void **)&f->prep = ag_library_symbol(library, "ag_prep");
  *(void **)&f->rhs = ag_library_symbol(library, "ag_rhs");
  *(void **)&f->step = ag_library_symbol(library, "ag_step");
  *(void **)&f->dense = ag_library_symbol(library, "ag_dense");
  *(void **)&f->interpolate = ag_library_symbol(library, "ag_interpolate");
  *(void **)&f->march = ag_library_symbol(library, "ag_march");
  *(void **)&f->watch_prep = ag_library_symbol(library, "ag_watch_prep");
  *(void **)&f->locate = ag_library_symbol(library, "ag_locate");
  if (f->prep && f->rhs && (!spec->watch || f->watch_prep) && (!spec->locate || f->locate) &&
      (spec->march ? f->march != NULL : f->step && f->dense && f->interpolate))
    return f;
  ag_text_str(reason, "the compiled kernel lacks an entry");
  ag_fused_free(f);
  return NULL;
}

void ag_fused_free(ag_fused *f) {
  if (!f) return;
  ag_library_free(f->library);
  free(f);
}

int ag_fused_lanes(const ag_fused *f) { return f->lanes; }
int ag_fused_n_prep(const ag_fused *f) { return f->n_prep; }

void ag_fused_prep(const ag_fused *f, const double *p, double *prep, unsigned long long *fail) {
  f->prep(p, prep, fail);
}
void ag_fused_rhs(const ag_fused *f, const double *t, const double *z, const double *c, const double *prep, double *dz,
                  unsigned long long *fail) {
  f->rhs(t, z, c, prep, dz, fail);
}
void ag_fused_step(const ag_fused *f, const ag_fused_args *a) { f->step(a); }
void ag_fused_dense(const ag_fused *f, const ag_fused_args *a) { f->dense(a); }
void ag_fused_interpolate(const ag_fused *f, const double *theta, const double *z, const double *dense, double *out) {
  f->interpolate(theta, z, dense, out);
}
void ag_fused_run(const ag_fused *f, const ag_fused_march *m) { f->march(m); }
int ag_fused_n_watch_prep(const ag_fused *f) { return f->n_watch_prep; }
void ag_fused_watch_prep(const ag_fused *f, const double *p, double *prep, unsigned long long *fail) {
  f->watch_prep(p, prep, fail);
}
void ag_fused_locate(const ag_fused *f, const ag_fused_place *p) { f->locate(p); }
