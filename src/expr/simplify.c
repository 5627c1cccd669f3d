/* SPDX-License-Identifier: MIT
 * Rules applied while building, products and functions of scalars, and what the other files of rules need.
 *
 * A rule looks at a request and gives the simplified node, or 0. It changes no value beyond rounding and never makes
 * the domain smaller (0*x = 0 makes it larger). Signs and numbers are pulled outwards; a choice with a zero branch is
 * pulled out of everything linear, so that no 0*NaN arises where the zero is chosen. */
#include <math.h>
#include <stdlib.h>

#include "expr/simplify_internal.h"

static bool is_value(const ag_graph *g, ag_id x, double v) {
  double u;
  return ag_is_num(g, x, &u) && u == v;
}

bool ag_split_number(const ag_graph *g, ag_id x, double *c, ag_id *base) {
  *c = 1;
  *base = x;
  if (op_of(g, x) == AG_OP_NEG) {
    *c = -1;
    *base = arg(g, x, 0);
    return true;
  }
  return (op_of(g, x) == AG_OP_MUL || op_of(g, x) == AG_OP_SCALE) && ag_is_num(g, arg(g, x, 0), c) &&
         (*base = arg(g, x, 1), true);
}

bool ag_split_scale(ag_graph *g, ag_id x, ag_id *factor, ag_id *rest) {
  if (op_of(g, x) == AG_OP_NEG) {
    *factor = ag_num(g, -1);
    *rest = arg(g, x, 0);
    return true;
  }
  if (op_of(g, x) != AG_OP_SCALE) return false;
  *factor = arg(g, x, 0);
  *rest = arg(g, x, 1);
  return true;
}

bool ag_all_num(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  if (n->op == AG_OP_NUM || n->op == AG_OP_ZERO || n->op == AG_OP_EYE) return true;
  if (n->op != AG_OP_STACK) return false;
  for (uint32_t k = 0; k < n->n_arg; k++)
    if (g->nodes[g->pool[n->first + k]].op != AG_OP_NUM) return false;
  return true;
}

bool ag_is_unit(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  int ones = 0;
  if (n->op != AG_OP_STACK || n->rows != 3 || n->cols != 1) return false;
  for (uint32_t k = 0; k < 3; k++) {
    double v = 2;
    if (!ag_is_num(g, g->pool[n->first + k], &v) || (v != 0 && v != 1)) return false;
    ones += v == 1;
  }
  return ones == 1;
}

/* ---- every scalar operation ---- */

/* Numbers are folded when the result is finite; what is not finite stays as written. */
static ag_id fold(ag_graph *g, const ag_request *r) {
  double v[3];
  for (int i = 0; i < r->n; i++)
    if (!ag_is_num(g, r->a[i], &v[i])) return 0;
  double y = ag_op_value(r->op, v);
  return isfinite(y) ? ag_num_folded(g, r->op, r->n, r->a, y) : 0;
}

bool ag_masked(const ag_graph *g, ag_id x) {
  return op_of(g, x) == AG_OP_SELECT && (ag_is_zero(g, arg(g, x, 1)) || ag_is_zero(g, arg(g, x, 2)));
}

static bool is_sum(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB; }

static bool masked_sum(const ag_graph *g, ag_id x, int depth) {
  if (ag_masked(g, x)) return true;
  return depth > 0 && is_sum(g, x) && masked_sum(g, arg(g, x, 0), depth - 1) && masked_sum(g, arg(g, x, 1), depth - 1);
}

static ag_id apply_at(ag_graph *g, const ag_request *r, int k, ag_id x) {
  if (ag_is_zero(g, x)) return ag_zero(g, r->rows, r->cols);
  ag_id a[2] = {r->a[0], r->n > 1 ? r->a[1] : 0};
  a[k] = x;
  return ag_build(g, r->op, r->rows, r->cols, r->n, a, r->payload);
}

/* f(if c then 0 else u) = if c then 0 else f(u) for f linear in argument k */
static ag_id pull_mask(ag_graph *g, const ag_request *r, int k) {
  ag_id x = r->a[k];
  if (ag_masked(g, x)) {
    ag_id c = arg(g, x, 0), u = arg(g, x, 1), v = arg(g, x, 2);
    u = apply_at(g, r, k, u);
    return ag_select(g, c, u, apply_at(g, r, k, v));
  }
  /* a sum of such choices with different conditions is distributed over */
  if (is_sum(g, x) && masked_sum(g, x, 4)) {
    ag_op op = op_of(g, x);
    ag_id u = arg(g, x, 0), v = arg(g, x, 1);
    u = apply_at(g, r, k, u);
    v = apply_at(g, r, k, v);
    return op == AG_OP_ADD ? ag_add(g, u, v) : ag_sub(g, u, v);
  }
  return 0;
}

ag_id ag_rule_mask(ag_graph *g, const ag_request *r) {
  for (int k = r->op == AG_OP_SOLVE ? 1 : 0; k < (r->op == AG_OP_DIV ? 1 : r->n); k++) {
    ag_id x = pull_mask(g, r, k);
    if (x) return x;
  }
  return 0;
}

ag_id ag_folded(ag_graph *g, ag_op op, double c, double d) {
  ag_id args[2] = {ag_num(g, c), 0};
  if (op != AG_OP_NEG) args[1] = ag_num(g, d);
  return ag_num_folded(g, op, op == AG_OP_NEG ? 1 : 2, args, ag_op_value(op, (double[]){c, d, 0}));
}

/* ---- products ---- */

static ag_id mul_zero(ag_graph *g, const ag_request *r) {
  return ag_is_zero(g, r->a[0]) || ag_is_zero(g, r->a[1]) ? ag_zero(g, r->rows, r->cols) : 0;
}

static ag_id mul_one(ag_graph *g, const ag_request *r) {
  return is_value(g, r->a[0], 1) ? r->a[1] : is_value(g, r->a[0], -1) ? ag_neg(g, r->a[1]) : 0;
}

/* (-a) b = -(a b) */
static ag_id mul_neg(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) == AG_OP_NEG) return ag_neg(g, ag_mul(g, arg(g, a, 0), b));
  return op_of(g, b) == AG_OP_NEG ? ag_neg(g, ag_mul(g, a, arg(g, b, 0))) : 0;
}

/* a product of numbers that neither overflows nor vanishes */
static bool times(double c, double d, double *p) {
  *p = c * d;
  return isfinite(*p) && (*p != 0 || c == 0 || d == 0);
}

/* c (d x) = (c d) x; c (d/x) = (c d)/x; c (x/d) = (c/d) x; c (x y) with the number in front */
static ag_id mul_number(ag_graph *g, const ag_request *r) {
  double c, d, p;
  ag_id a = r->a[0], b = r->a[1], x;
  if (ag_is_num(g, a, &c)) {
    if ((op_of(g, b) == AG_OP_MUL || op_of(g, b) == AG_OP_SCALE) && ag_split_number(g, b, &d, &x) && times(c, d, &p))
      return ag_mul(g, ag_folded(g, AG_OP_MUL, c, d), x);
    if (op_of(g, b) == AG_OP_DIV && ag_is_num(g, arg(g, b, 0), &d) && fabs(d) != 1 && times(c, d, &p))
      return x = arg(g, b, 1), ag_div(g, ag_folded(g, AG_OP_MUL, c, d), x);
    if (op_of(g, b) == AG_OP_DIV && ag_is_num(g, arg(g, b, 1), &d) && d != 0 && times(c, 1 / d, &p))
      return x = arg(g, b, 0), ag_mul(g, ag_folded(g, AG_OP_DIV, c, d), x);
    return 0;
  }
  if (op_of(g, a) == AG_OP_MUL && ag_split_number(g, a, &d, &x)) return x = ag_mul(g, x, b), ag_mul(g, ag_num(g, d), x);
  if ((op_of(g, b) == AG_OP_MUL || op_of(g, b) == AG_OP_SCALE) && ag_split_number(g, b, &d, &x))
    return x = ag_mul(g, a, x), ag_mul(g, ag_num(g, d), x);
  return 0;
}

/* sqrt(x)^2 = x; |x|^2 = x^2; norm(a)^2 = dot(a, a) */
static ag_id mul_root(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0];
  if (a != r->a[1]) return 0;
  if (op_of(g, a) == AG_OP_ABS) return ag_mul(g, arg(g, a, 0), arg(g, a, 0));
  if (op_of(g, a) == AG_OP_SQRT) return arg(g, a, 0);
  return op_of(g, a) == AG_OP_NORM ? ag_dot(g, arg(g, a, 0), arg(g, a, 0)) : 0;
}

static ag_id div_one(ag_graph *g, const ag_request *r) {
  if (ag_is_zero(g, r->a[0]) && !ag_is_zero(g, r->a[1])) return ag_num(g, 0);
  return is_value(g, r->a[1], 1) ? r->a[0] : is_value(g, r->a[1], -1) ? ag_neg(g, r->a[0]) : 0;
}

static ag_id div_neg(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1];
  if (op_of(g, a) == AG_OP_NEG) return ag_neg(g, ag_div(g, arg(g, a, 0), b));
  return op_of(g, b) == AG_OP_NEG ? ag_neg(g, ag_div(g, a, arg(g, b, 0))) : 0;
}

/* x/c = (1/c) x when 1/c is exact; (c x)/d = (c/d) x; a number in front stays in front */
static ag_id div_number(ag_graph *g, const ag_request *r) {
  double c, d, p;
  int e;
  ag_id x = 0, a = r->a[0], b = r->a[1];
  bool number = op_of(g, a) == AG_OP_MUL && ag_split_number(g, a, &c, &x);
  if (ag_is_num(g, b, &d)) {
    if (fabs(frexp(d, &e)) == 0.5 && e > -1000 && e < 1000) return ag_mul(g, ag_num(g, 1 / d), a);
    if (number && d != 0 && times(c, 1 / d, &p)) return ag_mul(g, ag_folded(g, AG_OP_DIV, c, d), x);
    return 0;
  }
  if (!number) return 0;
  x = ag_div(g, x, b);
  return ag_mul(g, ag_num(g, c), x);
}

/* a/(b/c) = a c/b */
static ag_id div_div(ag_graph *g, const ag_request *r) {
  ag_id b = r->a[1];
  if (op_of(g, b) != AG_OP_DIV) return 0;
  ag_id u = arg(g, b, 0), v = arg(g, b, 1);
  return ag_div(g, ag_mul(g, r->a[0], v), u);
}

/* x/abs(x) = abs(x)/x = sign(x), and the same with a factor: a x/abs(x) = a sign(x) */
static ag_id div_abs(ag_graph *g, const ag_request *r) {
  ag_id a = r->a[0], b = r->a[1], x = op_of(g, b) == AG_OP_ABS ? arg(g, b, 0) : b;
  ag_id wanted = x == b ? 0 : x; /* 0: the size of x */
  for (int k = -1; k < (op_of(g, a) == AG_OP_MUL ? 2 : 0); k++) {
    ag_id part = k < 0 ? a : arg(g, a, k);
    if (wanted ? part != wanted : op_of(g, part) != AG_OP_ABS || arg(g, part, 0) != x) continue;
    ag_id sign = ag_apply1(g, AG_OP_SIGN, x);
    return k < 0 ? sign : ag_mul(g, arg(g, a, 1 - k), sign);
  }
  return 0;
}

/* x^n by repeated squaring: x^(2k) = x^k x^k, x^(2k+1) = x x^(2k) */
static ag_id power(ag_graph *g, ag_id x, int n) {
  if (n == 0) return ag_num(g, 1);
  if (n == 1) return x;
  if (n % 2) return ag_mul(g, x, power(g, x, n - 1));
  ag_id y = power(g, x, n / 2);
  return ag_mul(g, y, y);
}

/* Whole and half exponents up to 16 in size become products, roots and reciprocals; 1^y = 1. */
static ag_id pow_number(ag_graph *g, const ag_request *r) {
  double e;
  if (is_value(g, r->a[0], 1)) return r->a[0];
  if (!ag_is_num(g, r->a[1], &e) || fabs(e) > 16 || 2 * e != floor(2 * e)) return 0;
  int twice = (int)fabs(2 * e);
  ag_id y = power(g, r->a[0], twice / 2);
  if (twice % 2) y = ag_mul(g, y, ag_apply1(g, AG_OP_SQRT, r->a[0]));
  return e < 0 ? ag_div(g, ag_num(g, 1), y) : y;
}

/* ---- functions ---- */

static ag_id odd(ag_graph *g, const ag_request *r) {
  double c;
  ag_id x = r->a[0], base;
  if (!ag_split_number(g, x, &c, &base) || c >= 0) return 0;
  return ag_neg(g, ag_apply1(g, r->op, ag_neg(g, x)));
}

static ag_id even(ag_graph *g, const ag_request *r) {
  double c;
  ag_id x = r->a[0], base;
  return ag_split_number(g, x, &c, &base) && c < 0 ? ag_apply1(g, r->op, ag_neg(g, x)) : 0;
}

/* f(inverse of f (x)) = x */
static ag_id undo(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  bool inverse = (r->op == AG_OP_SIN && inner == AG_OP_ASIN) || (r->op == AG_OP_COS && inner == AG_OP_ACOS) ||
                 (r->op == AG_OP_TAN && inner == AG_OP_ATAN) || (r->op == AG_OP_EXP && inner == AG_OP_LOG) ||
                 (r->op == AG_OP_LOG && inner == AG_OP_EXP);
  return inverse ? arg(g, r->a[0], 0) : 0;
}

/* sqrt(x^2) = |x| */
static ag_id sqrt_square(ag_graph *g, const ag_request *r) {
  ag_id x = r->a[0];
  return op_of(g, x) == AG_OP_MUL && arg(g, x, 0) == arg(g, x, 1) ? ag_apply1(g, AG_OP_ABS, arg(g, x, 0)) : 0;
}

/* | |x| | = |x|; roots and norms are not negative */
static ag_id abs_positive(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  return inner == AG_OP_ABS || inner == AG_OP_SQRT || inner == AG_OP_NORM || inner == AG_OP_HYPOT || inner == AG_OP_EXP
             ? r->a[0]
             : 0;
}

/* min(x, x) = x */
static ag_id idempotent(ag_graph *g, const ag_request *r) {
  (void)g;
  return r->a[0] == r->a[1] ? r->a[0] : 0;
}

static ag_id select_known(ag_graph *g, const ag_request *r) {
  double c;
  if (r->a[1] == r->a[2]) return r->a[1];
  return ag_is_num(g, r->a[0], &c) ? r->a[c != 0 ? 1 : 2] : 0;
}

/* if not c then a else b = if c then b else a */
static ag_id select_not(ag_graph *g, const ag_request *r) {
  return op_of(g, r->a[0]) == AG_OP_NOT ? ag_select(g, arg(g, r->a[0], 0), r->a[2], r->a[1]) : 0;
}

/* a choice inside a choice with the same condition is decided */
static ag_id select_again(ag_graph *g, const ag_request *r) {
  ag_id c = r->a[0], a = r->a[1], b = r->a[2];
  if (op_of(g, a) == AG_OP_SELECT && arg(g, a, 0) == c) return ag_select(g, c, arg(g, a, 1), b);
  if (op_of(g, b) == AG_OP_SELECT && arg(g, b, 0) == c) return ag_select(g, c, a, arg(g, b, 2));
  return 0;
}

/* a pivot is checked once */
static ag_id check_again(ag_graph *g, const ag_request *r) {
  ag_op inner = op_of(g, r->a[0]);
  return inner == r->op ? r->a[0] : 0;
}

/* clang-format off */
static const ag_rule rules[] = {
    AG_RULE(MUL, mul_zero), AG_RULE(MUL, mul_one), AG_RULE(MUL, mul_neg), AG_RULE(MUL, mul_number),
    AG_RULE(MUL, mul_root), AG_RULE(MUL, ag_rule_mask),
    AG_RULE(DIV, div_one), AG_RULE(DIV, div_neg), AG_RULE(DIV, div_number), AG_RULE(DIV, div_div), AG_RULE(DIV, div_abs),
    AG_RULE(DIV, ag_rule_mask),
    AG_RULE(POW, pow_number),
    AG_RULE(SQRT, sqrt_square),
    AG_RULE(SIN, undo),
    AG_RULE(COS, undo),
    AG_RULE(TAN, undo),
    AG_RULE(EXP, undo),
    AG_RULE(LOG, undo),
    AG_RULE(ABS, abs_positive),
    AG_RULE(MIN, idempotent), AG_RULE(MAX, idempotent),
    AG_RULE(SELECT, select_known), AG_RULE(SELECT, select_not), AG_RULE(SELECT, select_again),
    AG_RULE(CHECKPOS, check_again), AG_RULE(CHECKNZ, check_again),
};
/* clang-format on */

#define PARITY_none(NAME)
#define PARITY_odd(NAME) AG_RULE(NAME, odd),
#define PARITY_even(NAME) AG_RULE(NAME, even),
static const ag_rule common[] = {
#define AG_OP(NAME, text, arity, call, parity, ...) AG_RULE(NAME, fold), PARITY_##parity(NAME)
#include "expr/op.def"
};

const ag_rule *ag_rules_common(int *n) {
  *n = (int)(sizeof common / sizeof *common);
  return common;
}

const ag_rule *ag_rules_scalar(int *n) {
  *n = (int)(sizeof rules / sizeof *rules);
  return rules;
}
