/* SPDX-License-Identifier: MIT
 * Storage, leaves, sharing, and a chain so long that any recursion on depth would show. */
#include <stdlib.h>

#include "base/heap.h"
#include "expr/graph_internal.h"

#include "check.h"

static void check_sharing(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "x", 1, 1, AG_LEAF_REAL);
  AG_CHECK(x != y); /* the same name is not the same input */
  AG_CHECK(ag_add(g, x, y) == ag_add(g, y, x));
  AG_CHECK(ag_mul(g, x, y) == ag_mul(g, y, x));
  AG_CHECK(ag_sub(g, x, y) != ag_sub(g, y, x));
  int before = ag_graph_count(g);
  for (int k = 0; k < 100; k++) ag_apply1(g, AG_OP_SIN, ag_add(g, x, y));
  AG_CHECK(ag_graph_count(g) == before + 1);
  AG_CHECK(ag_num(g, 0.0) == ag_num(g, -0.0));
  AG_CHECK(ag_num(g, NAN) == ag_num(g, -NAN));
  AG_CHECK(ag_num(g, 1) != ag_num(g, 1 + 0x1p-52));
  AG_CHECK(ag_zero(g, 1, 1) == ag_num(g, 0));
  AG_CHECK(ag_eye(g, 1) == ag_num(g, 1));
  AG_CHECK(ag_zero(g, 2, 3) != ag_zero(g, 3, 2));
  AG_CHECK_STR(ag_node_name(g, x), "x");
  AG_CHECK(!ag_node_name(g, ag_num(g, 1)));
  ag_graph_free(g);
  ag_graph_free(NULL);
}

static void check_leaves(void) {
  ag_graph *g = ag_graph_create();
  ag_id R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), A = ag_input(g, "A", 3, 3, AG_LEAF_REAL);
  AG_CHECK(ag_input_storage(g, R) == 4 && ag_input_tangent(g, R) == 3);
  AG_CHECK(ag_input_storage(g, A) == 9 && ag_input_tangent(g, A) == 9);
  AG_CHECK(ag_is_rotation(g, R) && !ag_is_rotation(g, A));
  AG_CHECK(ag_is_rotation(g, ag_transpose(g, R)) && ag_is_rotation(g, ag_mul(g, R, R)));
  AG_CHECK(!ag_is_rotation(g, ag_mul(g, R, A)) && ag_is_rotation(g, ag_rotation(g, A)));
  AG_CHECK(ag_rotation(g, R) == R && ag_is_rotation(g, ag_eye(g, 3)) && !ag_is_rotation(g, ag_eye(g, 2)));
  AG_CHECK(!ag_is_rotation(g, ag_neg(g, R)) && !ag_is_rotation(g, ag_add(g, R, A)));
  AG_CHECK(ag_is_zero(g, ag_zero(g, 4, 2)) && ag_is_zero(g, ag_num(g, 0)) && !ag_is_zero(g, A));
  double v;
  AG_CHECK(ag_is_num(g, ag_num(g, 2.5), &v) && v == 2.5);
  AG_CHECK(!ag_is_num(g, A, &v));
  ag_graph_free(g);
}

static void check_depends(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 3, 1, AG_LEAF_REAL), y = ag_input(g, "y", 3, 1, AG_LEAF_REAL);
  ag_id a = ag_dot(g, x, x), b = ag_cross(g, x, y), z = ag_input(g, "z", 1, 1, AG_LEAF_REAL), outs[2] = {a, b};
  AG_CHECK(ag_depends(g, 1, &a, 1, &x) && !ag_depends(g, 1, &a, 1, &y));
  AG_CHECK(ag_depends(g, 2, outs, 1, &y) && !ag_depends(g, 2, outs, 1, &z));
  AG_CHECK(!ag_depends(g, 0, NULL, 1, &x));
  ag_graph_free(g);
}

static void check_constant(void) {
  ag_graph *g = ag_graph_create();
  double v[16];
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), e[16];
  AG_CHECK(!ag_constant(g, ag_add(g, x, ag_num(g, 1)), v));
  AG_CHECK(ag_constant(g, ag_num(g, 3), v) && v[0] == 3);
  AG_CHECK(ag_constant(g, ag_eye(g, 2), v) && v[0] == 1 && v[1] == 0 && v[3] == 1);
  AG_CHECK(ag_constant(g, ag_div(g, ag_num(g, 1), ag_num(g, 0)), v) && isinf(v[0]));
  AG_CHECK(ag_constant(g, ag_apply1(g, AG_OP_LOG, ag_num(g, -1)), v) && isnan(v[0]));
  for (int k = 0; k < 16; k++) e[k] = ag_num(g, k % 5 == 0 ? 5 : 1.0 / (1 + k));
  ag_id A = ag_stack(g, 4, 4, e), b = ag_stack(g, 4, 1, e);
  ag_id r = ag_sub(g, ag_mul(g, A, ag_solve(g, A, b, AG_SOLVE_GENERAL)), b);
  AG_CHECK(ag_constant(g, r, v));
  for (int k = 0; k < 4; k++) AG_CHECK_NEAR(v[k], 0, 1e-15);
  ag_graph_free(g);
}

static void check_substitute(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
  ag_id R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), Q = ag_input(g, "Q", 3, 3, AG_LEAF_ROTATION);
  ag_id f = ag_sub(g, ag_mul(g, x, x), y), outs[2] = {f, x};
  ag_substitute(g, 2, (ag_id[]){x, y}, (ag_id[]){y, x}, 2, outs); /* at the same time, not one after the other */
  AG_CHECK(outs[0] == ag_sub(g, ag_mul(g, y, y), x) && outs[1] == y);
  ag_substitute(g, 1, &x, (ag_id[]){ag_num(g, 3)}, 1, outs);
  AG_CHECK(outs[0] == ag_sub(g, ag_mul(g, y, y), ag_num(g, 3)));
  ag_id v = ag_input(g, "v", 3, 1, AG_LEAF_REAL), w = ag_mul(g, Q, ag_mul(g, R, v)), QT = ag_transpose(g, Q);
  ag_substitute(g, 1, &R, &QT, 1, &w);
  AG_CHECK(w == v);
  ag_graph_free(g);
}

/* x -> sin(x) + x/3 - ... a hundred thousand deep, scalars and vectors */
static void check_chain(void) {
  enum { DEEP = 100000 };
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = x, one = ag_num(g, 1), t, grad;
  ag_id v = ag_input(g, "v", 3, 1, AG_LEAF_REAL), u = v, R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION);
  for (int k = 0; k < DEEP / 2; k++) {
    y = ag_apply1(g, AG_OP_SIN, ag_add(g, y, x));
    u = k % 2 ? ag_mul(g, R, u) : ag_add(g, u, v);
  }
  ag_forward(g, 1, &x, &one, 1, &y, &t);
  ag_reverse(g, 1, &y, &one, 1, &x, &grad);
  ag_id to = ag_num(g, 0.25), z = y, entry = ag_entry(g, u, 1, 0), n = ag_norm(g, u), gv, inputs[3] = {x, v, R};
  ag_reverse(g, 1, &n, &one, 1, &v, &gv);
  ag_substitute(g, 1, &x, &to, 1, &z);
  double at[8] = {0.25, 1, 2, 3, 1, 0, 0, 0}, r[8], value;
  AG_CHECK(ag_constant(g, z, &value));
  ag_id outs[6] = {y, t, grad, entry, n, gv};
  AG_CHECK(ag_evaluate(g, 3, inputs, at, 6, outs, r) == 0);
  AG_CHECK_NEAR(r[0], value, 1e-13);
  AG_CHECK_NEAR(r[1], r[2], 1e-13);             /* sums in another order; the chain contracts */
  AG_CHECK_NEAR(r[3], 2.0 * (1 + DEEP / 4), 0); /* R = 1 */
  AG_CHECK_NEAR(r[4], sqrt(14.0) * (1 + DEEP / 4), 1e-15);
  AG_CHECK_NEAR(r[6], 2 / sqrt(14.0) * (1 + DEEP / 4), 1e-11); /* 25000 terms added up: 25000 * 1e-16 */
  ag_text text = {0};
  ag_print(g, y, &text);
  AG_CHECK(text.n > 5 * DEEP / 2);
  ag_text_clear(&text);
  ag_print_latex(g, y, &text);
  AG_CHECK(text.n > 5 * DEEP / 2);
  ag_text_done(&text);
  ag_graph_free(g);
}

/* Sums of sums that share: 2^60 ways down, but few nodes; rules that push an entry inwards must not walk them all. */
static void check_shared(void) {
  ag_graph *g = ag_graph_create();
  ag_id a = ag_input(g, "a", 3, 1, AG_LEAF_REAL), b = ag_input(g, "b", 3, 1, AG_LEAF_REAL);
  for (int k = 0; k < 60; k++) {
    ag_id c = ag_add(g, a, b), d = ag_cross(g, a, b);
    a = ag_sub(g, c, ag_mul(g, ag_num(g, 0.25), a));
    b = ag_add(g, d, c);
  }
  ag_entry(g, b, 1, 0);
  AG_CHECK(ag_graph_count(g) < 20000);
  ag_graph_free(g);
}

/* Asks for nodes that are there: nothing is allocated, and time passes. */
static void ask_again(void *self) {
  (void)self;
  ag_graph *g = ag_graph_create(); /* freed with its heap */
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
  ag_heap_clock_start("asking");
  for (int k = 0; k < 100000000; k++) ag_add(g, x, y);
}

static void check_clock(void) {
  ag_heap *h = ag_heap_create(NULL);
  char why[AG_HEAP_WHY] = "";
  ag_heap_limit(h, 0, 0.01);
  AG_CHECK(!ag_heap_try(h, ask_again, NULL, why));
  AG_CHECK_STR(why, "asking takes more than the 0.01 seconds allowed (--derive-time)");
  ag_heap_wipe(h);
  ag_heap_close(h);
}

int main(void) {
  check_sharing();
  check_leaves();
  check_depends();
  check_constant();
  check_substitute();
  check_chain();
  check_shared();
  check_clock();
  return ag_check_report();
}
