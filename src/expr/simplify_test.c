/* SPDX-License-Identifier: MIT
 * Every rule of the tables once: what it makes of its pattern; at the end each must have been used. */
#include <stdlib.h>

#include "expr/graph_internal.h"

#include "check.h"

#define SAME(a, b) AG_CHECK((a) == (b))

typedef struct names {
  ag_graph *g;
  ag_id x, y, z, s, c;    /* scalars */
  ag_id a, b, w;          /* 3 x 1 */
  ag_id A, B, R, Q;       /* 3 x 3, the last two rotations */
  ag_id q;                /* 6 x 1 */
  ag_id e1, e2, e3, v123; /* constant vectors */
} names;

static ag_id num(const names *n, double v) { return ag_num(n->g, v); }

static ag_id vec(ag_graph *g, double a, double b, double c) {
  ag_id e[3] = {ag_num(g, a), ag_num(g, b), ag_num(g, c)};
  return ag_stack(g, 3, 1, e);
}

static names make(void) {
  names n = {.g = ag_graph_create()};
  ag_graph *g = n.g;
  n.x = ag_input(g, "x", 1, 1, AG_LEAF_REAL);
  n.y = ag_input(g, "y", 1, 1, AG_LEAF_REAL);
  n.z = ag_input(g, "z", 1, 1, AG_LEAF_REAL);
  n.s = ag_input(g, "s", 1, 1, AG_LEAF_REAL);
  n.c = ag_input(g, "c", 1, 1, AG_LEAF_REAL);
  n.a = ag_input(g, "a", 3, 1, AG_LEAF_REAL);
  n.b = ag_input(g, "b", 3, 1, AG_LEAF_REAL);
  n.w = ag_input(g, "w", 3, 1, AG_LEAF_REAL);
  n.A = ag_input(g, "A", 3, 3, AG_LEAF_REAL);
  n.B = ag_input(g, "B", 3, 3, AG_LEAF_REAL);
  n.R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION);
  n.Q = ag_input(g, "Q", 3, 3, AG_LEAF_ROTATION);
  n.q = ag_input(g, "q", 6, 1, AG_LEAF_REAL);
  n.e1 = vec(g, 1, 0, 0);
  n.e2 = vec(g, 0, 1, 0);
  n.e3 = vec(g, 0, 0, 1);
  n.v123 = vec(g, 1, 2, 3);
  return n;
}

/* The same factors in another order, and sin^2 + cos^2 among other factors and other terms. */
static void like_products(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, y = n->y, s = ag_apply1(g, AG_OP_SIN, x), c = ag_apply1(g, AG_OP_COS, x),
        e = ag_apply1(g, AG_OP_EXP, y);
  ag_id sy = ag_mul(g, s, y), ey = ag_mul(g, e, y), p = ag_mul(g, sy, e), q = ag_mul(g, s, ey);
  SAME(ag_sub(g, p, q), num(n, 0));
  SAME(ag_add(g, p, q), ag_mul(g, num(n, 2), p));
  ag_id ss = ag_mul(g, sy, s), cc = ag_mul(g, ag_mul(g, c, y), c);
  SAME(ag_add(g, ss, cc), y);
  SAME(ag_add(g, ag_add(g, e, ss), cc), ag_add(g, e, y));
  SAME(ag_sub(g, ag_add(g, e, p), q), e);
}

static void sums(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, y = n->y, two = num(n, 2), zero = num(n, 0), xy = ag_add(g, x, y), x2 = ag_mul(g, two, x);
  SAME(ag_add(g, num(n, 2), num(n, 3)), num(n, 5));
  SAME(ag_sub(g, num(n, 2), num(n, 3)), num(n, -1));
  SAME(ag_neg(g, num(n, 2)), num(n, -2));
  SAME(ag_add(g, x, zero), x);
  SAME(ag_sub(g, x, zero), x);
  SAME(ag_sub(g, zero, x), ag_neg(g, x));
  SAME(ag_neg(g, ag_neg(g, x)), x);
  SAME(ag_neg(g, ag_sub(g, x, y)), ag_sub(g, y, x));
  SAME(ag_neg(g, x2), ag_mul(g, num(n, -2), x));
  SAME(ag_add(g, x, x), x2);
  SAME(ag_sub(g, x, x), zero);
  SAME(ag_add(g, x2, ag_neg(g, x)), x);
  SAME(ag_sub(g, ag_mul(g, num(n, 5), x), x2), ag_mul(g, num(n, 3), x));
  SAME(ag_add(g, x, ag_neg(g, y)), ag_sub(g, x, y));
  SAME(ag_add(g, ag_neg(g, x), y), ag_sub(g, y, x));
  SAME(ag_sub(g, x, ag_neg(g, y)), xy);
  SAME(ag_sub(g, ag_neg(g, x), y), ag_neg(g, xy));
  SAME(ag_add(g, y, ag_mul(g, num(n, -2), x)), ag_sub(g, y, x2));
  SAME(ag_add(g, ag_add(g, x, two), num(n, 3)), ag_add(g, x, num(n, 5)));
  SAME(ag_add(g, ag_sub(g, two, x), num(n, 3)), ag_sub(g, num(n, 5), x));
  SAME(ag_sub(g, ag_add(g, x, two), two), x);
  SAME(ag_sub(g, x, two), ag_add(g, x, num(n, -2)));
  SAME(ag_sub(g, two, ag_add(g, x, num(n, 5))), ag_sub(g, num(n, -3), x));
  SAME(ag_sub(g, two, ag_sub(g, num(n, 5), x)), ag_add(g, x, num(n, -3)));
  SAME(ag_add(g, ag_sub(g, x, y), y), x);
  SAME(ag_sub(g, xy, y), x);
  SAME(ag_sub(g, ag_sub(g, x, y), x), ag_neg(g, y));
  SAME(ag_sub(g, x, xy), ag_neg(g, y));
  SAME(ag_sub(g, x, ag_sub(g, x, y)), y);
  /* k sin^2 + k cos^2 */
  ag_id s = ag_apply1(g, AG_OP_SIN, x), c = ag_apply1(g, AG_OP_COS, x), ss = ag_mul(g, s, s), cc = ag_mul(g, c, c);
  SAME(ag_add(g, ss, cc), num(n, 1));
  SAME(ag_add(g, ag_mul(g, y, cc), ag_mul(g, y, ss)), y);
  SAME(ag_add(g, ag_mul(g, two, ss), ag_mul(g, two, cc)), two);
  AG_CHECK(ag_add(g, ag_mul(g, two, ss), cc) != two);
  AG_CHECK(ag_sub(g, cc, ss) != num(n, 1));
}

static void tensor_sums(const names *n) {
  ag_graph *g = n->g;
  ag_id a = n->a, b = n->b, R = n->R, Ra = ag_mul(g, R, a), Rb = ag_mul(g, R, b), ab = ag_add(g, a, b);
  SAME(ag_add(g, a, ag_zero(g, 3, 1)), a);
  SAME(ag_sub(g, a, a), ag_zero(g, 3, 1));
  SAME(ag_add(g, a, a), ag_mul(g, num(n, 2), a));
  SAME(ag_add(g, Ra, Rb), ag_mul(g, R, ab));
  SAME(ag_sub(g, Ra, Rb), ag_mul(g, R, ag_sub(g, a, b)));
  SAME(ag_add(g, ag_hat(g, a), ag_hat(g, b)), ag_hat(g, ab));
  ag_id p = ag_stack(g, 3, 1, (ag_id[]){n->x, n->y, n->z}), q = ag_stack(g, 3, 1, (ag_id[]){n->y, n->y, n->z});
  SAME(ag_sub(g, p, q), ag_mul(g, ag_sub(g, n->x, n->y), n->e1));
  SAME(ag_add(g, p, n->e3), ag_stack(g, 3, 1, (ag_id[]){n->x, n->y, ag_add(g, n->z, num(n, 1))}));
  ag_id u = ag_concat(g, 2, (ag_id[]){a, n->x}), v = ag_concat(g, 2, (ag_id[]){b, n->y});
  SAME(ag_add(g, u, v), ag_concat(g, 2, (ag_id[]){ab, ag_add(g, n->x, n->y)}));
  SAME(ag_sub(g, u, u), ag_zero(g, 4, 1));
  SAME(ag_sub(g, u, v), ag_concat(g, 2, (ag_id[]){ag_sub(g, a, b), ag_sub(g, n->x, n->y)}));
  SAME(ag_neg(g, n->v123), vec(g, -1, -2, -3));
}

static void products(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, y = n->y, two = num(n, 2), one = num(n, 1), xy = ag_mul(g, x, y), x_y = ag_div(g, x, y);
  SAME(ag_mul(g, two, num(n, 3)), num(n, 6));
  SAME(ag_mul(g, x, num(n, 0)), num(n, 0));
  SAME(ag_mul(g, x, one), x);
  SAME(ag_mul(g, num(n, -1), x), ag_neg(g, x));
  SAME(ag_mul(g, ag_neg(g, x), y), ag_neg(g, xy));
  SAME(ag_mul(g, ag_neg(g, x), ag_neg(g, y)), xy);
  SAME(ag_mul(g, two, ag_mul(g, num(n, 3), x)), ag_mul(g, num(n, 6), x));
  SAME(ag_mul(g, ag_mul(g, two, x), y), ag_mul(g, two, xy));
  SAME(ag_mul(g, x, ag_mul(g, two, y)), ag_mul(g, two, xy));
  SAME(ag_mul(g, two, ag_div(g, num(n, 3), x)), ag_div(g, num(n, 6), x));
  SAME(ag_mul(g, two, ag_div(g, x, num(n, 5))), ag_mul(g, num(n, 0.4), x));
  AG_CHECK(ag_node_op(g, ag_mul(g, two, ag_div(g, one, x))) == AG_OP_MUL); /* a shared reciprocal stays shared */
  AG_CHECK(ag_node_op(g, ag_mul(g, num(n, 1e200), ag_mul(g, num(n, 1e200), x))) == AG_OP_MUL); /* no overflow */
  ag_id root = ag_apply1(g, AG_OP_SQRT, x);
  SAME(ag_mul(g, root, root), x);
  SAME(ag_pow(g, ag_apply1(g, AG_OP_ABS, x), two), ag_mul(g, x, x));
  SAME(ag_mul(g, ag_norm(g, n->a), ag_norm(g, n->a)), ag_dot(g, n->a, n->a));
  SAME(ag_div(g, num(n, 3), two), num(n, 1.5));
  SAME(ag_div(g, num(n, 0), x), num(n, 0));
  SAME(ag_div(g, x, one), x);
  SAME(ag_div(g, x, num(n, -1)), ag_neg(g, x));
  SAME(ag_div(g, ag_neg(g, x), y), ag_neg(g, x_y));
  SAME(ag_div(g, x, ag_neg(g, y)), ag_neg(g, x_y));
  SAME(ag_div(g, x, num(n, 4)), ag_mul(g, num(n, 0.25), x));
  AG_CHECK(ag_node_op(g, ag_div(g, x, num(n, 3))) == AG_OP_DIV);
  AG_CHECK(ag_node_op(g, ag_div(g, one, num(n, 0))) == AG_OP_DIV); /* not folded: not finite */
  AG_CHECK(ag_node_op(g, ag_div(g, x, x)) == AG_OP_DIV);
  ag_id size = ag_apply1(g, AG_OP_ABS, x), sign = ag_apply1(g, AG_OP_SIGN, x), ysign = ag_mul(g, y, sign);
  AG_CHECK(ag_div(g, x, size) == sign && ag_div(g, size, x) == sign && ag_node_op(g, ag_div(g, y, size)) == AG_OP_DIV);
  AG_CHECK(ag_div(g, ag_mul(g, x, y), size) == ysign && ag_div(g, ag_mul(g, y, size), x) == ysign);
  SAME(ag_div(g, ag_mul(g, two, x), num(n, 5)), ag_mul(g, num(n, 0.4), x));
  SAME(ag_div(g, ag_mul(g, two, x), y), ag_mul(g, two, x_y));
  SAME(ag_div(g, n->z, x_y), ag_div(g, ag_mul(g, n->z, y), x));
  SAME(ag_neg(g, ag_div(g, two, x)), ag_div(g, num(n, -2), x));
}

static void powers(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, x2 = ag_mul(g, x, x), x4 = ag_mul(g, x2, x2), root = ag_apply1(g, AG_OP_SQRT, x), one = num(n, 1);
  SAME(ag_pow(g, num(n, 2), num(n, 10)), num(n, 1024));
  SAME(ag_pow(g, x, num(n, 0)), one);
  SAME(ag_pow(g, x, one), x);
  SAME(ag_pow(g, x, num(n, 2)), x2);
  SAME(ag_pow(g, x, num(n, 3)), ag_mul(g, x, x2));
  SAME(ag_pow(g, x, num(n, 5)), ag_mul(g, x, x4));
  SAME(ag_pow(g, x, num(n, -4)), ag_div(g, one, x4));
  SAME(ag_pow(g, x, num(n, 0.5)), root);
  SAME(ag_pow(g, x, num(n, 1.5)), ag_mul(g, x, root));
  SAME(ag_pow(g, x, num(n, -0.5)), ag_div(g, one, root));
  SAME(ag_pow(g, one, x), one);
  AG_CHECK(ag_node_op(g, ag_pow(g, x, num(n, 17))) == AG_OP_POW);
  AG_CHECK(ag_node_op(g, ag_pow(g, x, num(n, 0.3))) == AG_OP_POW);
  AG_CHECK(ag_node_op(g, ag_pow(g, x, n->y)) == AG_OP_POW);
}

static void functions(const names *n) {
  ag_graph *g = n->g;
  enum { none, odd, even };
  static const unsigned char parities[AG_OP_COUNT] = {
#define AG_OP(NAME, text, arity, call, parity, ...) [AG_OP_##NAME] = parity,
#include "expr/op.def"
  };
  static const ag_op undo[][2] = {{AG_OP_SIN, AG_OP_ASIN},
                                  {AG_OP_COS, AG_OP_ACOS},
                                  {AG_OP_TAN, AG_OP_ATAN},
                                  {AG_OP_EXP, AG_OP_LOG},
                                  {AG_OP_LOG, AG_OP_EXP}};
  ag_id x = n->x, minus = ag_neg(g, x), m2 = ag_mul(g, num(n, -2), x), p2 = ag_mul(g, num(n, 2), x);
  for (ag_op op = AG_OP_NEG; op <= AG_OP_CHECKNZ; op++) {
    if (parities[op] == none) continue;
    ag_id y = ag_apply1(g, op, x), y2 = ag_apply1(g, op, p2);
    SAME(ag_apply1(g, op, minus), parities[op] == odd ? ag_neg(g, y) : y);
    SAME(ag_apply1(g, op, m2), parities[op] == odd ? ag_neg(g, y2) : y2);
  }
  for (int k = 0; k < 5; k++) SAME(ag_apply1(g, undo[k][0], ag_apply1(g, undo[k][1], x)), x);
  AG_CHECK(ag_apply1(g, AG_OP_ASIN, ag_apply1(g, AG_OP_SIN, x)) != x);
  SAME(ag_apply1(g, AG_OP_SQRT, ag_mul(g, x, x)), ag_apply1(g, AG_OP_ABS, x));
  SAME(ag_apply1(g, AG_OP_ABS, ag_apply1(g, AG_OP_ABS, x)), ag_apply1(g, AG_OP_ABS, x));
  SAME(ag_apply1(g, AG_OP_ABS, ag_norm(g, n->a)), ag_norm(g, n->a));
  SAME(ag_apply2(g, AG_OP_MIN, x, x), x);
  SAME(ag_apply2(g, AG_OP_MAX, x, x), x);
  /* every operation folds numbers, to the bits of the run-time functions */
  for (ag_op op = AG_OP_NEG; op <= AG_OP_CHECKNZ; op++) {
    double v[3] = {0.75, 0.5, 0.25};
    ag_id a[3] = {num(n, v[0]), num(n, v[1]), num(n, v[2])};
    SAME(ag_apply(g, op, a), num(n, ag_op_value(op, v)));
  }
  AG_CHECK(ag_node_op(g, ag_apply1(g, AG_OP_CHECKPOS, num(n, -1))) == AG_OP_CHECKPOS);
  ag_id pivot = ag_apply1(g, AG_OP_CHECKPOS, x), other = ag_apply1(g, AG_OP_CHECKNZ, x);
  SAME(ag_apply1(g, AG_OP_CHECKPOS, pivot), pivot);
  SAME(ag_apply1(g, AG_OP_CHECKNZ, other), other);
}

static void choices(const names *n) {
  ag_graph *g = n->g;
  ag_id c = ag_apply2(g, AG_OP_LT, n->c, num(n, 1)), d = ag_apply2(g, AG_OP_LT, n->s, num(n, 1)), x = n->x, y = n->y;
  ag_id zero = num(n, 0), none = ag_zero(g, 3, 1), f = ag_select(g, c, zero, x), h = ag_select(g, c, zero, y);
  ag_id u = ag_select(g, c, none, n->a), k = ag_select(g, d, zero, y);
  SAME(ag_select(g, num(n, 1), x, y), x);
  SAME(ag_select(g, zero, x, y), y);
  SAME(ag_select(g, c, x, x), x);
  SAME(ag_select(g, ag_apply1(g, AG_OP_NOT, c), x, y), ag_select(g, c, y, x));
  SAME(ag_select(g, c, ag_select(g, c, x, y), n->z), ag_select(g, c, x, n->z));
  SAME(ag_select(g, c, n->z, ag_select(g, c, x, y)), ag_select(g, c, n->z, y));
  SAME(ag_neg(g, f), ag_select(g, c, zero, ag_neg(g, x)));
  SAME(ag_mul(g, f, y), ag_select(g, c, zero, ag_mul(g, x, y)));
  SAME(ag_div(g, f, y), ag_select(g, c, zero, ag_div(g, x, y)));
  AG_CHECK(ag_node_op(g, ag_div(g, y, f)) == AG_OP_DIV); /* not linear in the divisor */
  SAME(ag_add(g, f, h), ag_select(g, c, zero, ag_add(g, x, y)));
  SAME(ag_sub(g, f, h), ag_select(g, c, zero, ag_sub(g, x, y)));
  ag_id first = ag_select(g, c, zero, ag_mul(g, x, n->z)), sum = ag_add(g, f, k);
  SAME(ag_mul(g, sum, n->z), ag_add(g, first, ag_select(g, d, zero, ag_mul(g, y, n->z))));
  SAME(ag_mul(g, f, n->a), ag_select(g, c, none, ag_mul(g, x, n->a)));
  SAME(ag_mul(g, n->A, u), ag_select(g, c, none, ag_mul(g, n->A, n->a)));
  SAME(ag_transpose(g, u), ag_select(g, c, ag_zero(g, 1, 3), ag_transpose(g, n->a)));
  SAME(ag_dot(g, u, n->b), ag_select(g, c, zero, ag_dot(g, n->a, n->b)));
  SAME(ag_cross(g, u, n->b), ag_select(g, c, none, ag_cross(g, n->a, n->b)));
  SAME(ag_hat(g, u), ag_select(g, c, ag_zero(g, 3, 3), ag_hat(g, n->a)));
  SAME(ag_solve(g, n->A, u, AG_SOLVE_GENERAL), ag_select(g, c, none, ag_solve(g, n->A, n->a, AG_SOLVE_GENERAL)));
  SAME(ag_entry(g, u, 1, 0), ag_select(g, c, zero, ag_entry(g, n->a, 1, 0)));
}

static void collections(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, y = n->y, z = n->z, zero = num(n, 0), one = num(n, 1), a = n->a, q = n->q, e[6];
  SAME(ag_stack(g, 2, 2, (ag_id[]){zero, zero, zero, zero}), ag_zero(g, 2, 2));
  SAME(ag_stack(g, 2, 2, (ag_id[]){one, zero, zero, one}), ag_eye(g, 2));
  SAME(ag_stack(g, 3, 1, (ag_id[]){zero, x, zero}), ag_mul(g, x, n->e2));
  for (int k = 0; k < 6; k++) e[k] = ag_entry(g, q, k, 0);
  SAME(ag_stack(g, 6, 1, e), q);
  SAME(ag_concat(g, 2, (ag_id[]){ag_stack(g, 2, 1, (ag_id[]){x, y}), z}), ag_stack(g, 3, 1, (ag_id[]){x, y, z}));
  ag_id ax = ag_concat(g, 2, (ag_id[]){a, x}), parts[3] = {ag_rows_of(g, q, 0, 3), ag_rows_of(g, q, 3, 2), e[5]};
  SAME(ag_concat(g, 2, (ag_id[]){ax, y}), ag_concat(g, 3, (ag_id[]){a, x, y}));
  SAME(ag_concat(g, 3, parts), q);
  SAME(ag_concat(g, 2, parts), ag_rows_of(g, q, 0, 5));
  SAME(ag_entry(g, ax, 3, 0), x);
  SAME(ag_entry(g, ag_transpose(g, n->A), 0, 2), ag_entry(g, n->A, 2, 0));
  SAME(ag_entry(g, ag_zero(g, 2, 2), 1, 1), zero);
  SAME(ag_entry(g, ag_eye(g, 3), 1, 1), one);
  SAME(ag_entry(g, ag_hat(g, a), 1, 2), ag_neg(g, ag_entry(g, a, 0, 0)));
  SAME(ag_entry(g, ag_hat(g, a), 2, 1), ag_entry(g, a, 0, 0));
  SAME(ag_entry(g, ag_hat(g, a), 0, 2), ag_entry(g, a, 1, 0));
  SAME(ag_entry(g, ag_add(g, a, n->b), 2, 0), ag_add(g, ag_entry(g, a, 2, 0), ag_entry(g, n->b, 2, 0)));
  SAME(ag_entry(g, ag_mul(g, x, a), 2, 0), ag_mul(g, x, ag_entry(g, a, 2, 0)));
  ag_id outer = ag_mul(g, a, ag_transpose(g, n->b));
  SAME(ag_entry(g, outer, 0, 1), ag_mul(g, ag_entry(g, a, 0, 0), ag_entry(g, n->b, 1, 0)));
  ag_id D = ag_stack(g, 3, 3, (ag_id[]){x, zero, zero, zero, y, zero, zero, zero, z});
  SAME(ag_entry(g, ag_mul(g, D, a), 1, 0), ag_mul(g, y, ag_entry(g, a, 1, 0)));
  SAME(ag_entry(g, ag_cross(g, n->e3, a), 0, 0), ag_neg(g, ag_entry(g, a, 1, 0)));
  SAME(ag_rows_of(g, ag_rows_of(g, q, 1, 4), 1, 2), ag_rows_of(g, q, 2, 2));
  SAME(ag_rows_of(g, ag_concat(g, 2, (ag_id[]){a, n->b}), 3, 3), n->b);
  SAME(ag_rows_of(g, D, 1, 1), ag_stack(g, 1, 3, (ag_id[]){zero, y, zero}));
  SAME(ag_rows_of(g, ag_neg(g, q), 1, 2), ag_neg(g, ag_rows_of(g, q, 1, 2)));
}

static void matrices(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, a = n->a, b = n->b, A = n->A, B = n->B, R = n->R, Q = n->Q, RT = ag_transpose(g, R),
        eye = ag_eye(g, 3);
  ag_id Aa = ag_mul(g, A, a), Ra = ag_mul(g, R, a);
  SAME(ag_mul(g, num(n, 1), a), a);
  SAME(ag_mul(g, num(n, -1), a), ag_neg(g, a));
  SAME(ag_mul(g, num(n, 0), a), ag_zero(g, 3, 1));
  SAME(ag_mul(g, x, ag_mul(g, n->y, a)), ag_mul(g, ag_mul(g, x, n->y), a));
  SAME(ag_mul(g, num(n, 2), n->v123), vec(g, 2, 4, 6));
  SAME(ag_mul(g, A, ag_zero(g, 3, 1)), ag_zero(g, 3, 1));
  SAME(ag_mul(g, A, ag_mul(g, x, a)), ag_mul(g, x, Aa));
  SAME(ag_mul(g, ag_neg(g, A), a), ag_neg(g, Aa));
  SAME(ag_mul(g, eye, a), a);
  SAME(ag_mul(g, A, eye), A);
  SAME(ag_mul(g, RT, R), eye);
  SAME(ag_mul(g, R, RT), eye);
  SAME(ag_mul(g, RT, Ra), a);
  SAME(ag_mul(g, R, ag_mul(g, RT, a)), a);
  SAME(ag_mul(g, RT, ag_add(g, Ra, b)), ag_add(g, a, ag_mul(g, RT, b)));
  SAME(ag_mul(g, RT, ag_cross(g, Ra, b)), ag_cross(g, a, ag_mul(g, RT, b)));
  ag_id RQ = ag_mul(g, R, Q);
  SAME(ag_mul(g, ag_transpose(g, RQ), ag_mul(g, RQ, a)), a);
  SAME(ag_mul(g, ag_mul(g, A, B), a), ag_mul(g, A, ag_mul(g, B, a)));
  SAME(ag_mul(g, ag_mul(g, a, ag_transpose(g, b)), n->w), ag_mul(g, ag_dot(g, b, n->w), a));
  SAME(ag_mul(g, ag_hat(g, a), b), ag_cross(g, a, b));
  SAME(ag_mul(g, ag_inverse(g, A), a), ag_solve(g, A, a, AG_SOLVE_GENERAL));
  ag_id zero = num(n, 0), y = n->y, D = ag_stack(g, 3, 3, (ag_id[]){x, zero, zero, y, y, zero, zero, zero, x});
  SAME(ag_mul(g, D, n->e1), ag_stack(g, 3, 1, (ag_id[]){x, y, zero}));
  SAME(ag_transpose(g, ag_transpose(g, A)), A);
  SAME(ag_transpose(g, eye), eye);
  SAME(ag_transpose(g, ag_zero(g, 2, 3)), ag_zero(g, 3, 2));
  SAME(ag_transpose(g, ag_hat(g, a)), ag_neg(g, ag_hat(g, a)));
  SAME(ag_transpose(g, ag_mul(g, x, A)), ag_mul(g, x, ag_transpose(g, A)));
  SAME(ag_transpose(g, D), ag_stack(g, 3, 3, (ag_id[]){x, y, zero, zero, y, zero, zero, zero, x}));
  SAME(ag_transpose(g, RQ), ag_mul(g, ag_transpose(g, Q), RT));
  SAME(ag_transpose(g, ag_mul(g, a, ag_transpose(g, b))), ag_mul(g, b, ag_transpose(g, a)));
}

static void dots(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, y = n->y, a = n->a, b = n->b, R = n->R, RT = ag_transpose(g, R), ab = ag_cross(g, a, b);
  ag_id Ra = ag_mul(g, R, a), Rb = ag_mul(g, R, b), dab = ag_dot(g, a, b), zero = num(n, 0);
  SAME(ag_dot(g, a, ag_zero(g, 3, 1)), zero);
  SAME(ag_dot(g, ag_mul(g, x, a), ag_neg(g, b)), ag_neg(g, ag_mul(g, x, dab)));
  SAME(ag_dot(g, a, ab), zero);
  SAME(ag_dot(g, ab, b), zero);
  SAME(ag_dot(g, Ra, Rb), dab);
  SAME(ag_dot(g, ag_mul(g, RT, a), ag_mul(g, RT, b)), dab);
  SAME(ag_dot(g, Ra, b), ag_dot(g, a, ag_mul(g, RT, b)));
  SAME(ag_dot(g, n->e3, a), ag_entry(g, a, 2, 0));
  SAME(ag_dot(g, n->e3, Ra), ag_dot(g, a, ag_mul(g, RT, n->e3)));
  ag_id p = ag_stack(g, 2, 1, (ag_id[]){x, y}), q = ag_stack(g, 2, 1, (ag_id[]){y, zero});
  SAME(ag_dot(g, p, q), ag_mul(g, x, y));
  ag_id A = ag_stack(g, 3, 3, (ag_id[]){x, y, zero, y, x, zero, zero, zero, y});
  ag_id B = ag_stack(g, 3, 3, (ag_id[]){x, y, zero, x, x, zero, zero, zero, y});
  SAME(ag_dot(g, b, ag_mul(g, A, a)), ag_dot(g, a, ag_mul(g, A, b)));
  ag_id bBa = ag_dot(g, b, ag_mul(g, B, a));
  AG_CHECK(bBa != ag_dot(g, a, ag_mul(g, B, b)));
  SAME(ag_cross(g, a, ag_zero(g, 3, 1)), ag_zero(g, 3, 1));
  SAME(ag_cross(g, a, a), ag_zero(g, 3, 1));
  SAME(ag_cross(g, ag_mul(g, x, a), a), ag_zero(g, 3, 1));
  SAME(ag_cross(g, b, a), ag_neg(g, ab));
  SAME(ag_cross(g, a, ag_mul(g, x, b)), ag_mul(g, x, ab));
  SAME(ag_cross(g, Ra, Rb), ag_mul(g, R, ab));
  SAME(ag_cross(g, n->e1, n->e2), n->e3);
  SAME(ag_hat(g, ag_zero(g, 3, 1)), ag_zero(g, 3, 3));
  SAME(ag_hat(g, ag_mul(g, x, a)), ag_mul(g, x, ag_hat(g, a)));
}

static void others(const names *n) {
  ag_graph *g = n->g;
  ag_id x = n->x, a = n->a, A = n->A, R = n->R, eye = ag_eye(g, 3), s = ag_solve(g, A, a, AG_SOLVE_SPD);
  SAME(ag_norm(g, ag_zero(g, 3, 1)), num(n, 0));
  SAME(ag_norm(g, ag_mul(g, R, a)), ag_norm(g, a));
  SAME(ag_norm(g, ag_mul(g, num(n, -2), a)), ag_mul(g, num(n, 2), ag_norm(g, a)));
  SAME(ag_norm(g, vec(g, 0, 3, 4)), num(n, 5));
  SAME(ag_norm(g, x), ag_apply1(g, AG_OP_ABS, x));
  SAME(ag_solve(g, A, ag_zero(g, 3, 1), AG_SOLVE_SPD), ag_zero(g, 3, 1));
  SAME(ag_solve(g, A, ag_mul(g, x, a), AG_SOLVE_SPD), ag_mul(g, x, s));
  SAME(ag_solve(g, eye, a, AG_SOLVE_NEAR_EYE), a);
  SAME(ag_solve(g, R, a, AG_SOLVE_GENERAL), ag_mul(g, ag_transpose(g, R), a));
  SAME(ag_solve(g, ag_mul(g, x, eye), a, AG_SOLVE_GENERAL), ag_div(g, a, x));
  SAME(ag_solve(g, x, n->y, AG_SOLVE_SPD), ag_div(g, n->y, ag_apply1(g, AG_OP_CHECKPOS, x)));
  SAME(ag_det(g, ag_zero(g, 2, 2)), num(n, 0));
  SAME(ag_det(g, R), num(n, 1));
  SAME(ag_det(g, ag_transpose(g, A)), ag_det(g, A));
  SAME(ag_det(g, ag_mul(g, num(n, 2), A)), ag_mul(g, num(n, 8), ag_det(g, A)));
  SAME(ag_rotation(g, ag_transpose(g, R)), ag_transpose(g, R));
}

/* Products of matrices that depend on parameters alone are kept: they are computed once. */
static void prepared(const names *n) {
  ag_graph *g = n->g;
  ag_id k = ag_input(g, "k", 1, 1, AG_LEAF_PARAM), one = num(n, 1), zero = num(n, 0), a = n->a, R = n->R;
  ag_id D = ag_stack(g, 3, 3, (ag_id[]){k, zero, zero, zero, one, zero, zero, zero, one});
  ag_id Q = ag_rotation(g, ag_stack(g, 3, 3, (ag_id[]){k, k, k, k, k, k, one, k, k})), QT = ag_transpose(g, Q);
  ag_id S = ag_mul(g, ag_mul(g, Q, D), QT), T = ag_mul(g, Q, ag_mul(g, D, QT)), DQT = ag_mul(g, D, QT);
  AG_CHECK(ag_node_arg(g, ag_mul(g, S, a), 0) == S && ag_node_arg(g, ag_mul(g, T, a), 0) == T);
  SAME(ag_transpose(g, S), S);
  SAME(ag_transpose(g, T), T);
  AG_CHECK(ag_transpose(g, DQT) != DQT);
  SAME(ag_mul(g, ag_mul(g, R, D), a), ag_mul(g, R, ag_mul(g, D, a)));
  SAME(ag_mul(g, ag_mul(g, Q, QT), a), a);
}

static void all_used(const ag_graph *g) {
  for (int k = 0; k < AG_RULE_TABLES; k++) {
    int n;
    const ag_rule *rules = ag_rule_table(k, &n);
    for (int i = 0; i < n; i++) {
      if (!g->rule_hits[k][i]) fprintf(stderr, "never used: %s\n", rules[i].name);
      AG_CHECK(g->rule_hits[k][i] > 0);
    }
  }
}

int main(void) {
  names n = make();
  sums(&n);
  like_products(&n);
  tensor_sums(&n);
  products(&n);
  powers(&n);
  functions(&n);
  choices(&n);
  collections(&n);
  matrices(&n);
  dots(&n);
  others(&n);
  prepared(&n);
  all_used(n.g);
  ag_graph_free(n.g);
  return ag_check_report();
}
