/* SPDX-License-Identifier: MIT
 * The finite field: its laws, whole numbers against doubles, and identities that hold or fail for every reason. */
#include "expr/residue.h"

#include "expr/expr.h"

#include "check.h"

static void laws(void) {
  uint64_t state = 7;
  for (int i = 0; i < 1000; i++) {
    uint64_t a = ag_residue_draw(&state), b = ag_residue_draw(&state), c = ag_residue_draw(&state);
    AG_CHECK(ag_residue_mul(a, ag_residue_add(b, c)) == ag_residue_add(ag_residue_mul(a, b), ag_residue_mul(a, c)));
    AG_CHECK(ag_residue_mul(a, ag_residue_mul(b, c)) == ag_residue_mul(ag_residue_mul(a, b), c));
    AG_CHECK(ag_residue_sub(ag_residue_add(a, b), b) == a);
    AG_CHECK(ag_residue_mul(a, ag_residue_invert(a)) == 1);
  }
  AG_CHECK(ag_residue_of(0) == 0 && ag_residue_of(1) == 1 && ag_residue_of(12345) == 12345);
  AG_CHECK(ag_residue_add(ag_residue_of(-3), 3) == 0);
  AG_CHECK(ag_residue_mul(ag_residue_of(0.125), 8) == 1);
  AG_CHECK(ag_residue_mul(ag_residue_of(0x1p-1074), ag_residue_of(0x1p1000)) == ag_residue_of(0x1p-74));
}

/* Is x zero for all values of three inputs? */
static bool vanishes(ag_graph *g, const ag_id *in, ag_id x) {
  ag_bind binds[3];
  uint64_t z[3], out, state = 3;
  for (int i = 0; i < 3; i++) binds[i] = (ag_bind){in[i], AG_SEG_Z, i}, z[i] = ag_residue_draw(&state);
  ag_tape *tape = ag_tape_create(g, 3, binds, 1, &x);
  bool good = ag_residue_eval(tape, z, &out);
  ag_tape_free(tape);
  return good && out == 0;
}

static ag_id of(ag_graph *g, ag_op op, ag_id a, ag_id b, ag_id c) { return ag_apply(g, op, (ag_id[]){a, b, c}); }

static bool equal(ag_graph *g, const ag_id *in, ag_id x, ag_id y) { return vanishes(g, in, ag_sub(g, x, y)); }

static void rational(ag_graph *g, const ag_id *in) {
  ag_id a = in[0], b = in[1], sum = ag_add(g, a, b), difference = ag_sub(g, a, b);
  ag_id aa = ag_mul(g, a, a), bb = ag_mul(g, b, b), squares = ag_sub(g, aa, bb);
  AG_CHECK(equal(g, in, ag_mul(g, sum, difference), squares));
  AG_CHECK(equal(g, in, ag_div(g, squares, sum), difference));
  AG_CHECK(!equal(g, in, ag_div(g, squares, difference), difference));
  AG_CHECK(!vanishes(g, in, a));
}

static void functions(ag_graph *g, const ag_id *in) {
  ag_id x = ag_add(g, in[0], in[1]), s = of(g, AG_OP_SIN, x, 0, 0), k = of(g, AG_OP_COS, x, 0, 0);
  ag_id ss = ag_mul(g, s, s), kk = ag_mul(g, k, k), tan = of(g, AG_OP_TAN, x, 0, 0), root = of(g, AG_OP_SQRT, x, 0, 0);
  AG_CHECK(equal(g, in, ag_add(g, ss, kk), ag_num(g, 1)));
  AG_CHECK(equal(g, in, ag_mul(g, tan, k), s));
  AG_CHECK(equal(g, in, of(g, AG_OP_SIN, ag_neg(g, x), 0, 0), ag_neg(g, s)));
  AG_CHECK(equal(g, in, ag_mul(g, root, root), x));
  ag_id e = of(g, AG_OP_EXP, x, 0, 0);
  AG_CHECK(!equal(g, in, e, s) && !equal(g, in, e, of(g, AG_OP_EXP, in[0], 0, 0)));
}

/* Zero only where one looks: a maximum, a branch taken beyond 100, a tiny factor. */
static void far_away(ag_graph *g, const ag_id *in) {
  ag_id a = in[0], c = in[2], far = ag_num(g, 100), zero = ag_num(g, 0), beyond = ag_sub(g, c, far);
  ag_id top = of(g, AG_OP_MAX, zero, beyond, 0), less = of(g, AG_OP_LT, far, c, 0);
  AG_CHECK(!vanishes(g, in, ag_mul(g, a, top)));
  AG_CHECK(!vanishes(g, in, ag_select(g, less, a, zero)));
  AG_CHECK(!vanishes(g, in, ag_mul(g, a, ag_num(g, 1e-300))));
}

int main(void) {
  laws();
  static const char *const names[] = {"a", "b", "c"};
  ag_graph *g = ag_graph_create();
  ag_id in[3];
  for (int i = 0; i < 3; i++) in[i] = ag_input(g, names[i], 1, 1, AG_LEAF_REAL);
  rational(g, in);
  functions(g, in);
  far_away(g, in);
  ag_graph_free(g);
  return ag_check_report();
}
