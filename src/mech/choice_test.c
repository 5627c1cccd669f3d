/* SPDX-License-Identifier: MIT
 * Choices read from branches: on each side the expression is the one that chooses there, and smooth beyond it. */
#include "mech/choices.h"
#include "tests/check.h"

typedef struct subject {
  ag_arena *arena;
  ag_graph *g;
  ag_id x, p;
  ag_choices f;
} subject;

static subject make(void) {
  subject s = {.arena = ag_arena_create(), .g = ag_graph_create()};
  s.x = ag_input(s.g, "x", 1, 1, AG_LEAF_REAL);
  s.p = ag_input(s.g, "p", 1, 1, AG_LEAF_REAL);
  s.f = (ag_choices){.g = s.g, .arena = s.arena, .n_in = 1, .inputs = ag_heap_alloc(sizeof(ag_id))};
  s.f.inputs[0] = s.x;
  return s;
}

static void finish(subject *s) {
  ag_choices_done(&s->f);
  ag_graph_free(s->g);
  ag_arena_free(s->arena);
}

/* y with the choices of s->f from branches. */
static ag_id branched(subject *s, ag_id y) {
  ag_choices_find(&s->f, 1, &y, 0, NULL, 0);
  ag_substitute(s->g, s->f.n_rule, s->f.from, s->f.to, 1, &y);
  return y;
}

static double at(subject *s, ag_id y, double x, double branch) {
  ag_id in[3] = {s->x, s->p, s->f.n ? s->f.branch[0] : s->x};
  double v[3] = {x, 0.5, branch}, out;
  ag_evaluate(s->g, s->f.n ? 3 : 2, in, v, 1, &y, &out);
  return out;
}

/* One surface x = 1: every form gives its left and right side, on either side of it. */
static void check_sides(void) {
  for (int form = 0; form < 5; form++) {
    subject s = make();
    ag_graph *g = s.g;
    ag_id one = ag_num(g, 1), d = ag_sub(g, s.x, one), twice = ag_mul(g, ag_num(g, -2), d),
          square = ag_mul(g, s.x, s.x);
    ag_id less = ag_apply2(g, AG_OP_LT, s.x, one);
    ag_id forms[] = {ag_apply1(g, AG_OP_ABS, d), ag_apply1(g, AG_OP_SIGN, twice), ag_apply2(g, AG_OP_MIN, s.x, one),
                     ag_apply2(g, AG_OP_MAX, one, s.x), ag_select(g, less, square, s.x)};
    ag_id y = branched(&s, forms[form]);
    AG_CHECK(s.f.n == 1);
    double sign = at(&s, s.f.s[0], 3, 0) > 0 ? 1 : -1; /* of s right of the surface */
    for (int i = -3; i <= 5; i++) {
      double x = 0.5 * i + 0.25;
      double left[] = {1 - x, 1, x, 1, x * x}, right[] = {x - 1, -1, 1, x, x};
      AG_CHECK(at(&s, y, x, -sign) == left[form] && at(&s, y, x, sign) == right[form]);
    }
    finish(&s);
  }
}

/* Surfaces that differ by a number in front share a branch; choices of parameters alone, inside
 * held expressions and between them, are left. */
static void check_shared(void) {
  subject s = make();
  ag_graph *g = s.g;
  ag_id d = ag_sub(g, s.x, s.p), back = ag_sub(g, s.p, s.x), third = ag_mul(g, ag_num(g, 3), back);
  ag_id a = ag_apply1(g, AG_OP_ABS, d), b = ag_apply1(g, AG_OP_SIGN, third), c = ag_apply1(g, AG_OP_ABS, s.p);
  ag_id held = ag_apply1(g, AG_OP_HOLD, ag_apply1(g, AG_OP_SIGN, s.x)), sum = ag_add(g, a, b),
        between = ag_apply1(g, AG_OP_ABS, ag_apply1(g, AG_OP_HOLD, d)), two = ag_add(g, c, held),
        rest = ag_add(g, two, between);
  ag_id y = branched(&s, ag_add(g, sum, rest));
  AG_CHECK(s.f.n == 1 && s.f.n_rule == 2);
  double sign = at(&s, s.f.s[0], 3, 0) > 0 ? 1 : -1;
  AG_CHECK_NEAR(at(&s, y, 2, sign), 1.5 - 1 + 0.5 + 1 + 1.5, 1e-15);
  finish(&s);
}

/* abs(abs(x) - 1): the outer surface depends on the inner branch. */
static void check_nested(void) {
  subject s = make();
  ag_graph *g = s.g;
  ag_id inner = ag_apply1(g, AG_OP_ABS, s.x), outer = ag_apply1(g, AG_OP_ABS, ag_sub(g, inner, ag_num(g, 1)));
  ag_id y = branched(&s, outer);
  AG_CHECK(s.f.n == 2 && s.f.s[0] == s.x && ag_depends(g, 1, &s.f.s[1], 1, &s.f.branch[0]));
  AG_CHECK(ag_depends(g, 1, &y, 1, &s.f.branch[1]));
  finish(&s);
}

/* Questions that have the same answer on both sides of a surface: |x - 1| > 0, x != 1, and their opposites. */
static void check_guards(void) {
  for (int form = 0; form < 6; form++) {
    subject s = make();
    ag_graph *g = s.g;
    ag_id one = ag_num(g, 1), zero = ag_num(g, 0), d = ag_sub(g, s.x, one), back = ag_sub(g, one, s.x);
    ag_id size = ag_apply1(g, AG_OP_ABS, form % 2 ? back : d), sign = ag_apply1(g, AG_OP_SIGN, d);
    ag_id ask[] = {ag_apply2(g, AG_OP_LT, zero, size), ag_apply2(g, AG_OP_LE, zero, size),
                   ag_apply2(g, AG_OP_NE, s.x, one),   ag_apply2(g, AG_OP_NE, one, s.x),
                   ag_apply2(g, AG_OP_LT, size, zero), ag_apply2(g, AG_OP_EQ, s.x, one)};
    bool no = form >= 4;
    ag_id y = ag_select(g, ask[form], no ? s.p : sign, no ? sign : s.p);
    y = branched(&s, y);
    AG_CHECK(s.f.n == 1);
    double right = at(&s, s.f.s[0], 3, 0) > 0 ? 1 : -1;
    for (int i = 0; i < 3; i++) /* on the surface, too */
      AG_CHECK(at(&s, y, i, right) == 1 && at(&s, y, i, -right) == -1);
    finish(&s);
  }
  subject s = make(); /* no surface: a guard */
  ag_id y = ag_select(s.g, ag_apply2(s.g, AG_OP_EQ, s.x, ag_num(s.g, 0)), s.p, s.x);
  AG_CHECK(branched(&s, y) == y && !s.f.n);
  finish(&s);
}

int main(void) {
  check_guards();
  check_sides();
  check_shared();
  check_nested();
  return ag_check_report();
}
