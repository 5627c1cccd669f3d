/* SPDX-License-Identifier: MIT
 * The field: its laws for both primes, every row of op.def (its derivative against a difference of the same rational
 * function where it has one, its relations where it has not), and identities that hold or fail for every reason. */
#include "exact/exact.h"

#include "base/arena.h"

#include "check.h"

static void laws(int prime) {
  ag_field f = ag_field_at(prime, 7);
  for (int i = 0; i < 300; i++) {
    uint64_t a = ag_field_draw(&f), b = ag_field_draw(&f), c = ag_field_draw(&f), root;
    AG_CHECK(ag_field_mul(&f, a, ag_field_add(&f, b, c)) ==
             ag_field_add(&f, ag_field_mul(&f, a, b), ag_field_mul(&f, a, c)));
    AG_CHECK(ag_field_mul(&f, a, b) == (uint64_t)((unsigned __int128)a * b % f.p));
    AG_CHECK(ag_field_sub(&f, ag_field_add(&f, a, b), b) == a);
    AG_CHECK(ag_field_mul(&f, a, ag_field_invert(&f, a)) == 1);
    f.n_root = 0;
    if (ag_field_root(&f, a, &root)) AG_CHECK(ag_field_mul(&f, root, root) == a);
    AG_CHECK(ag_field_root(&f, ag_field_mul(&f, a, a), &root) && (root == a || root == f.p - a));
    int64_t num = (int64_t)(a % 1000000) - 500000, den = (int64_t)(b % 1000000) + 1, n, d;
    uint64_t x = ag_field_mul(&f, ag_field_whole(&f, num), ag_field_invert(&f, ag_field_whole(&f, den)));
    AG_CHECK(ag_field_fraction(&f, x, &n, &d) && n * den == num * d);
  }
  AG_CHECK(ag_field_mul(&f, ag_field_number(&f, 0.1), 10) == 1);
  AG_CHECK(ag_field_add(&f, ag_field_number(&f, 0.1), ag_field_number(&f, 0.2)) == ag_field_number(&f, 0.3));
  AG_CHECK(ag_field_number(&f, 1e30) == ag_field_mul(&f, ag_field_number(&f, 1e15), ag_field_number(&f, 1e15)));
  uint64_t R[9];
  ag_field_rotation(&f, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      uint64_t sum = 0;
      for (int k = 0; k < 3; k++) sum = ag_field_add(&f, sum, ag_field_mul(&f, R[3 * k + i], R[3 * k + j]));
      AG_CHECK(sum == (i == j));
    }
}

/* Fractions from both primes. */
static void fractions(void) {
  static const int64_t rows[][2] = {{0, 1}, {-7, 3}, {123456789012345, 987654321987}, {-1, 1000000000000007}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t a[2];
    int64_t num, den;
    for (int k = 0; k < 2; k++) {
      ag_field f = ag_field_at(k, 0);
      a[k] = ag_field_mul(&f, ag_field_whole(&f, rows[i][0]), ag_field_invert(&f, ag_field_whole(&f, rows[i][1])));
    }
    AG_CHECK(ag_field_fraction_of_two(a[0], a[1], &num, &den));
    AG_CHECK((__int128)num * rows[i][1] == (__int128)den * rows[i][0]);
  }
}

static ag_graph *g;
static ag_id in[4];

/* Is x zero at random points, for all signs of its roots? */
static bool vanishes(ag_id x) {
  ag_program *p = ag_program_create(g, 4, in, 1, &x);
  bool zero = true;
  int good = 0;
  for (int try = 0; try < 400 && good < 6; try++) {
    ag_field f = ag_field_at(try % 2, (uint64_t)try), fresh = f;
    uint64_t v[12], out = 0;
    for (int i = 0; i < 3; i++) v[i] = ag_field_draw(&f);
    ag_field_rotation(&f, v + 3);
    fresh = f;
    ag_field_status status = ag_field_eval(p, &f, v, &out);
    if (status == AG_FIELD_OPAQUE) break;
    if (status == AG_FIELD_RETRY) continue;
    good++;
    for (uint64_t signs = 0; signs < (uint64_t)1 << f.n_root; signs++) {
      ag_field other = fresh;
      other.signs = signs;
      AG_CHECK(ag_field_eval(p, &other, v, &out) == AG_FIELD_OK);
      zero = zero && !out;
    }
  }
  ag_program_free(p);
  return zero && good == 6;
}
static bool equal(ag_id x, ag_id y) { return vanishes(ag_sub(g, x, y)); }
static ag_id of(ag_op op, ag_id a) { return ag_apply1(g, op, a); }
static ag_id square(ag_id a) { return ag_mul(g, a, a); }
static ag_id num(double v) { return ag_num(g, v); }

/* Every row: the reader knows it, or says that it does not; f(a) - f(a) is zero, f(a) - f(a) - b is not. */
static void rows(void) {
  static const ag_op opaque[] = {AG_OP_HOLD};
#define AG_OP(NAME, text, arity, ...) \
  { \
    ag_id args[3] = {in[0], in[1], in[2]}, y = ag_apply(g, AG_OP_##NAME, args); \
    ag_id swapped = ag_mul(g, ag_add(g, y, in[2]), in[0]), \
          spread = ag_add(g, ag_mul(g, y, in[0]), ag_mul(g, in[2], in[0])); \
    bool known = true; \
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++) known = known && opaque[i] != AG_OP_##NAME; \
    AG_CHECK(equal(swapped, spread) == known); \
    AG_CHECK(!equal(ag_add(g, swapped, in[1]), spread)); \
  }
#include "expr/op.def"
}

/* d/da of each function is again one of the same relations: the derivative of f(a)^2 is 2 f f'. */
static void relations(void) {
  ag_id a = in[0], b = in[1], one = num(1), sum = ag_add(g, a, b);
  ag_id sa = of(AG_OP_SIN, a), ca = of(AG_OP_COS, a), sb = of(AG_OP_SIN, b), cb = of(AG_OP_COS, b);
  AG_CHECK(equal(ag_add(g, square(sa), square(ca)), one));
  ag_id first = ag_mul(g, sa, cb), second = ag_mul(g, ca, sb);
  AG_CHECK(equal(of(AG_OP_SIN, sum), ag_add(g, first, second)));
  AG_CHECK(equal(of(AG_OP_COS, ag_mul(g, num(2), a)), ag_sub(g, square(ca), square(sa))));
  AG_CHECK(equal(square(of(AG_OP_COS, ag_mul(g, num(0.5), a))), ag_mul(g, num(0.5), ag_add(g, one, ca))));
  AG_CHECK(equal(ag_mul(g, of(AG_OP_TAN, a), ca), sa));
  AG_CHECK(equal(of(AG_OP_SIN, ag_add(g, a, num(1.5707963267948966))), ca));
  AG_CHECK(!equal(of(AG_OP_SIN, ag_add(g, a, num(1.5707963))), ca));
  ag_id arc = of(AG_OP_ACOS, a), slope = ag_apply2(g, AG_OP_ATAN2, a, b), twice = of(AG_OP_SIN, ag_mul(g, num(2), arc));
  AG_CHECK(equal(of(AG_OP_COS, arc), a) && equal(of(AG_OP_SIN, of(AG_OP_ASIN, a)), a));
  AG_CHECK(equal(twice, ag_mul(g, num(2), ag_mul(g, a, of(AG_OP_SIN, arc)))));
  AG_CHECK(equal(ag_mul(g, of(AG_OP_TAN, slope), b), a) && equal(of(AG_OP_TAN, of(AG_OP_ATAN, a)), a));
  AG_CHECK(equal(of(AG_OP_EXP, ag_mul(g, num(-2), of(AG_OP_LOG, a))), ag_div(g, one, square(a))));
  ag_id ea = of(AG_OP_EXP, a), eb = of(AG_OP_EXP, b);
  AG_CHECK(equal(of(AG_OP_EXP, sum), ag_mul(g, ea, eb)));
  AG_CHECK(equal(ag_add(g, of(AG_OP_COSH, a), of(AG_OP_SINH, a)), ea));
  AG_CHECK(equal(ag_mul(g, of(AG_OP_TANH, a), of(AG_OP_COSH, a)), of(AG_OP_SINH, a)));
  AG_CHECK(equal(of(AG_OP_LOG1P, a), of(AG_OP_LOG, ag_add(g, one, a))));
  AG_CHECK(!equal(of(AG_OP_LOG, a), of(AG_OP_LOG, b)));
  ag_id more = ag_apply2(g, AG_OP_MAX, a, b), fewer = ag_apply2(g, AG_OP_MIN, b, a),
        less = ag_apply2(g, AG_OP_LT, a, b);
  AG_CHECK(equal(ag_add(g, more, fewer), sum) && equal(ag_mul(g, more, fewer), ag_mul(g, a, b)));
  AG_CHECK(equal(ag_sub(g, more, fewer), of(AG_OP_ABS, ag_sub(g, a, b))) && equal(ag_select(g, less, b, a), more));
  AG_CHECK(!equal(more, a) && !equal(more, b) && !equal(less, one) && !equal(less, num(0)));
  ag_id known = ag_add(g, num(0.35), ag_mul(g, num(0), a)), other = of(AG_OP_SQRT, num(0.0625)); /* 0.25 */
  AG_CHECK(equal(ag_apply2(g, AG_OP_MAX, known, other), num(0.35)));
  ag_id ra = of(AG_OP_SQRT, a), rb = of(AG_OP_SQRT, b);
  AG_CHECK(equal(square(ra), a) && !equal(ra, rb) && !equal(ra, ag_neg(g, ra)));
  AG_CHECK(equal(square(ag_add(g, ra, rb)), ag_add(g, sum, ag_mul(g, num(2), ag_mul(g, ra, rb)))));
  ag_id half = ag_pow(g, a, num(1.5)), third = ag_pow(g, a, num(1.0 / 3));
  AG_CHECK(equal(half, ag_mul(g, a, ra)) && equal(ag_pow(g, a, num(4.0 / 3)), ag_mul(g, a, third)));
  AG_CHECK(equal(square(ag_apply2(g, AG_OP_HYPOT, a, b)), ag_add(g, square(a), square(b))));
  AG_CHECK(equal(square(of(AG_OP_ABS, a)), square(a)) && !equal(of(AG_OP_ABS, a), a));
  AG_CHECK(!equal(of(AG_OP_ABS, a), ag_neg(g, a)));
  AG_CHECK(equal(ag_mul(g, of(AG_OP_SIGN, a), a), of(AG_OP_ABS, a)));
  AG_CHECK(!vanishes(ag_mul(g, a, num(1e-300))));
  AG_CHECK(equal(ag_sub(g, ag_add(g, ag_mul(g, num(0.1), a), ag_mul(g, num(0.2), a)), ag_mul(g, num(0.3), a)), num(0)));
  ag_id root2 = of(AG_OP_SQRT, num(2)), seven = ag_mul(g, ag_div(g, num(1), num(3)), num(0.7)); /* folded */
  AG_CHECK(equal(ag_mul(g, square(ag_mul(g, root2, a)), num(0.5)), square(a)));
  AG_CHECK(equal(ag_mul(g, ag_mul(g, seven, num(30)), a), ag_mul(g, num(7), a)));
  AG_CHECK(equal(of(AG_OP_SIN, ag_add(g, a, ag_div(g, num(3.141592653589793), num(2)))), ca));
  AG_CHECK(!equal(ag_add(g, ca, ag_mul(g, num(1e-12), sa)), ca));
}

static void tensors(void) {
  ag_id R = in[3], parts[3] = {in[0], in[1], in[2]}, v = ag_stack(g, 3, 1, parts);
  ag_id other[3] = {in[2], num(2), in[0]}, u = ag_stack(g, 3, 1, other);
  ag_id Rv = ag_mul(g, R, v), entries[9];
  for (int i = 0; i < 9; i++) entries[i] = ag_entry(g, R, i / 3, i % 3);
  ag_id copy = ag_stack(g, 3, 3, entries); /* a matrix that the graph does not know to be a rotation */
  ag_id Cv = ag_mul(g, copy, v), Cu = ag_mul(g, copy, u);
  AG_CHECK(equal(ag_dot(g, Cv, Cu), ag_dot(g, u, v)));
  ag_id left = ag_cross(g, Cv, Cu), right = ag_mul(g, copy, ag_cross(g, v, u)), difference = ag_sub(g, left, right);
  AG_CHECK(vanishes(ag_entry(g, difference, 0, 0)) && vanishes(ag_entry(g, difference, 2, 0)));
  AG_CHECK(equal(ag_det(g, copy), num(1)));
  ag_id x = ag_solve(g, copy, v, AG_SOLVE_GENERAL), back = ag_mul(g, ag_transpose(g, copy), v);
  AG_CHECK(equal(ag_entry(g, x, 1, 0), ag_entry(g, back, 1, 0)));
  AG_CHECK(equal(ag_entry(g, ag_mul(g, ag_hat(g, v), u), 1, 0), ag_entry(g, ag_cross(g, v, u), 1, 0)));
  AG_CHECK(equal(square(ag_norm(g, Cv)), ag_dot(g, v, v)));
  AG_CHECK(equal(ag_entry(g, ag_rows_of(g, ag_concat(g, 2, (ag_id[]){u, Rv}), 2, 3), 1, 0), ag_entry(g, Rv, 0, 0)));
}

int main(void) {
  laws(0);
  laws(1);
  fractions();
  static const char *const names[] = {"a", "b", "c"};
  g = ag_graph_create();
  for (int i = 0; i < 3; i++) in[i] = ag_input(g, names[i], 1, 1, AG_LEAF_REAL);
  in[3] = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION);
  rows();
  relations();
  tensors();
  ag_graph_free(g);
  return ag_check_report();
}
