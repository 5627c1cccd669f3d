/* SPDX-License-Identifier: MIT
 * Derivatives of every row of op.def, the forms that must come out of rotations, places where 0*NaN lurks, sizes. */
#include <stdlib.h>

#include "expr/graph_internal.h"
#include "expr/op_exact.h"

#include "check.h"

/* ---- every row of op.def ---- */

/* d/dx_k by the six-point rule: h^6 f^(7)/140 with h = 1e-3 and derivatives up to 1e8 at the ends of the domains
 * (tan, asin, log) gives 1e-12; rounding in long double 1e-16. */
static long double slope(ag_op op, const long double *a, int k) {
  static const long double weight[3] = {0.75L, -0.15L, 1.0L / 60};
  long double d = 0, h = 1e-3L;
  for (int s = 1; s <= 3; s++) {
    long double up[3] = {a[0], a[1], a[2]}, down[3] = {a[0], a[1], a[2]};
    up[k] += (long double)s * h;
    down[k] -= (long double)s * h;
    d += weight[s - 1] * (op_exact(op, up) - op_exact(op, down)) / h;
  }
  return d;
}

static bool jumps(ag_op op) { return (op >= AG_OP_LT && op <= AG_OP_NOT) || op == AG_OP_HOLD; }

static void check_row(ag_op op) {
  const ag_op_row *row = ag_op_describe(op);
  ag_graph *g = ag_graph_create();
  int n = row->arity;
  ag_id x[3], seeds[3], y, outs[7];
  for (int k = 0; k < n; k++) x[k] = ag_input(g, "x", 1, 1, AG_LEAF_REAL);
  y = n == 3 ? ag_select(g, x[0], x[1], x[2]) : ag_apply(g, op, x);
  AG_CHECK(ag_node_op(g, y) == op);
  outs[0] = y;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) seeds[i] = ag_num(g, i == k);
    ag_forward(g, n, x, seeds, 1, &y, &outs[1 + k]);
  }
  ag_reverse(g, 1, &y, (ag_id[]){ag_num(g, 1)}, n, x, outs + 1 + n);
  for (int sample = 0; sample < 40; sample++) {
    double v[3], out[7];
    long double a[3] = {0};
    for (int k = 0; k < n; k++) { /* a sequence that fills the box evenly */
      double u = fmod(0.5 + (sample + 1) * (k == 0 ? 0.7548776662466927 : 0.5698402909980532) + 0.31 * k, 1);
      a[k] = v[k] = row->lo + (row->hi - row->lo) * u;
    }
    AG_CHECK(ag_evaluate(g, n, x, v, 1 + 2 * n, outs, out) == 0);
    AG_CHECK_NEAR(out[0], (double)op_exact(op, a),
                  4e-15); /* a few units in the last place: vmath_test.c knows how many */
    for (int k = 0; k < n; k++) {
      double d = jumps(op) || (op == AG_OP_SELECT && k == 0) ? 0 : (double)slope(op, a, k);
      AG_CHECK_NEAR(out[1 + k], d, 1e-10);
      AG_CHECK_NEAR(out[1 + n + k], d, 1e-10);
    }
  }
  ag_graph_free(g);
}

/* ---- rotations keep their form ---- */

static void check_rotation_forms(void) {
  ag_graph *g = ag_graph_create();
  ag_id Q = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), w = ag_input(g, "w", 3, 1, AG_LEAF_REAL);
  ag_id c = ag_input(g, "c", 3, 1, AG_LEAF_REAL), y[3], t[3], QT = ag_transpose(g, Q), grad;
  y[0] = ag_mul(g, QT, c);
  y[1] = ag_mul(g, Q, c);
  y[2] = ag_mul(g, Q, ag_mul(g, QT, c));
  AG_CHECK(y[2] == c);
  ag_forward(g, 1, &Q, &w, 3, y, t);
  AG_CHECK(t[0] == ag_cross(g, y[0], w));
  AG_CHECK(t[1] == ag_mul(g, Q, ag_cross(g, w, c)));
  AG_CHECK(ag_is_zero(g, t[2]));
  /* gradient of c.(R a): a x R^T c */
  ag_id a = ag_input(g, "a", 3, 1, AG_LEAF_REAL), f = ag_dot(g, c, ag_mul(g, Q, a)), one = ag_num(g, 1);
  ag_reverse(g, 1, &f, &one, 1, &Q, &grad);
  ag_id expected = ag_cross(g, a, y[0]);
  AG_CHECK(grad == expected || grad == ag_neg(g, ag_cross(g, y[0], a)));
  /* kinetic energy of a body does not see its attitude */
  ag_id v = ag_mul(g, Q, ag_cross(g, w, a)), T = ag_dot(g, v, v);
  ag_reverse(g, 1, &T, &one, 1, &Q, &grad);
  AG_CHECK(ag_is_zero(g, grad));
  /* J w twice: the gradient of w.J w/2 with diagonal J is one product */
  ag_id zero = ag_num(g, 0), j1 = ag_input(g, "j1", 1, 1, AG_LEAF_REAL), j2 = ag_input(g, "j2", 1, 1, AG_LEAF_REAL);
  ag_id J = ag_stack(g, 3, 3, (ag_id[]){j1, zero, zero, zero, j2, zero, zero, zero, j1});
  T = ag_mul(g, ag_num(g, 0.5), ag_dot(g, w, ag_mul(g, J, w)));
  ag_reverse(g, 1, &T, &one, 1, &w, &grad);
  AG_CHECK(grad == ag_mul(g, J, w));
  ag_graph_free(g);
}

/* ---- choices, norm at 0 ---- */

static void check_choices(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 1, 1, AG_LEAF_REAL), zero = ag_num(g, 0), one = ag_num(g, 1), d[6];
  /* sin(x)/x continued by 1: the branch not taken divides 0 by 0 */
  ag_id sinc = ag_div(g, ag_apply1(g, AG_OP_SIN, x), x);
  ag_id f = ag_select(g, ag_apply2(g, AG_OP_EQ, x, zero), one, sinc), h = ag_mul(g, f, ag_add(g, f, x));
  ag_forward(g, 1, &x, &one, 1, &h, &d[0]);
  ag_reverse(g, 1, &h, &one, 1, &x, &d[1]);
  ag_reverse(g, 1, &d[1], &one, 1, &x, &d[2]);
  /* two different conditions whose adjoints meet before the bad division */
  ag_id far = ag_div(g, one, x), small = ag_apply2(g, AG_OP_EQ, x, zero),
        tiny = ag_apply2(g, AG_OP_LT, x, ag_num(g, 1e-9));
  ag_id k = ag_select(g, small, zero, ag_mul(g, far, far));
  k = ag_add(g, k, ag_select(g, tiny, zero, ag_apply1(g, AG_OP_SIN, far)));
  ag_reverse(g, 1, &k, &one, 1, &x, &d[3]);
  ag_forward(g, 1, &x, &one, 1, &k, &d[4]);
  double at = 0, v[5];
  AG_CHECK(ag_evaluate(g, 1, &x, &at, 5, d, v) == 0);
  AG_CHECK_NEAR(v[0], 1, 0);
  AG_CHECK_NEAR(v[1], 1, 0);
  AG_CHECK(isfinite(v[2]));
  AG_CHECK_NEAR(v[3], 0, 0);
  AG_CHECK_NEAR(v[4], 0, 0);
  at = 0.7; /* h = s^2 + s x with s = sin(x)/x, s' = (cos x - s)/x */
  double s = sin(0.7) / 0.7, ds = (cos(0.7) - s) / 0.7;
  AG_CHECK(ag_evaluate(g, 1, &x, &at, 5, d, v) == 0);
  AG_CHECK_NEAR(v[0], 2 * s * ds + ds * 0.7 + s, 1e-15);
  AG_CHECK_NEAR(v[1], 2 * s * ds + ds * 0.7 + s, 1e-15);
  ag_graph_free(g);
}

static void check_norm(void) {
  ag_graph *g = ag_graph_create();
  ag_id a = ag_input(g, "a", 3, 1, AG_LEAF_REAL), d = ag_input(g, "d", 3, 1, AG_LEAF_REAL), one = ag_num(g, 1), outs[4],
        H;
  ag_id n = ag_norm(g, a), inputs[2] = {a, d};
  ag_forward(g, 1, &a, &d, 1, &n, &outs[0]);
  ag_reverse(g, 1, &n, &one, 1, &a, &outs[1]);
  ag_forward(g, 1, &a, &d, 1, &outs[1], &outs[2]); /* Hessian times d */
  H = ag_dot(g, outs[1], outs[1]);
  ag_reverse(g, 1, &H, &one, 1, &a, &outs[3]);
  double zero[6] = {0, 0, 0, 1, 2, 3}, v[10], at[6] = {1, 2, 2, 0.5, -1, 0.25};
  AG_CHECK(ag_evaluate(g, 2, inputs, zero, 4, outs, v) == 0);
  for (int k = 0; k < 4; k++) AG_CHECK_NEAR(v[k], 0, 0);
  for (int k = 4; k < 10; k++) AG_CHECK(isfinite(v[k]));
  AG_CHECK(ag_evaluate(g, 2, inputs, at, 4, outs, v) == 0);
  AG_CHECK_NEAR(v[0], (0.5 - 2 + 0.5) / 3, 1e-15);
  AG_CHECK_NEAR(v[1], 1.0 / 3, 1e-15);
  double dn = -1.0 / 3; /* (d - n (n.d))/|a| with n = a/3 */
  AG_CHECK_NEAR(v[4], (0.5 - dn / 3) / 3, 1e-15);
  AG_CHECK_NEAR(v[5], (-1 - 2 * dn / 3) / 3, 1e-15);
  ag_graph_free(g);
}

/* ---- quaternion entries ---- */

static void check_stored(void) {
  ag_graph *g = ag_graph_create();
  ag_id Q = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), w = ag_input(g, "w", 3, 1, AG_LEAF_REAL), in[2] = {Q, w};
  ag_id q = ag_stored(g, Q), t, J, norm = ag_dot(g, q, q), dn;
  ag_forward(g, 1, &Q, &w, 1, &q, &t);
  ag_forward(g, 1, &Q, &w, 1, &norm, &dn);
  J = ag_jacobian(g, q, 1, &Q);
  ag_id outs[3] = {t, ag_mul(g, J, w), dn};
  double at[7] = {0.5, -0.5, 0.7, 0.1, 0.3, -0.2, 0.9}, v[9];
  AG_CHECK(ag_evaluate(g, 2, in, at, 3, outs, v) == 0);
  /* q' = 1/2 q (0, w), multiplied out */
  double expected[4] = {
      -(at[1] * at[4] + at[2] * at[5] + at[3] * at[6]) / 2, (at[0] * at[4] + at[2] * at[6] - at[3] * at[5]) / 2,
      (at[0] * at[5] + at[3] * at[4] - at[1] * at[6]) / 2, (at[0] * at[6] + at[1] * at[5] - at[2] * at[4]) / 2};
  for (int k = 0; k < 4; k++) {
    AG_CHECK_NEAR(v[k], expected[k], 1e-15);
    AG_CHECK_NEAR(v[4 + k], expected[k], 1e-15);
  }
  AG_CHECK_NEAR(v[8], 0, 1e-15);
  ag_graph_free(g);
}

/* ---- sizes ---- */

/* Energy of a chain of n masses: the gradient costs a fixed number of nodes per mass. */
static int lattice_nodes(int n) {
  ag_graph *g = ag_graph_create();
  ag_id q = ag_input(g, "q", n, 1, AG_LEAF_REAL), E = ag_num(g, 0), one = ag_num(g, 1), grad, t, J;
  for (int i = 0; i < n; i++) {
    ag_id d = ag_entry(g, q, (i + 1) % n, 0);
    d = ag_sub(g, d, ag_entry(g, q, i, 0));
    d = ag_add(g, ag_mul(g, d, d), ag_apply1(g, AG_OP_COS, d));
    E = ag_add(g, E, d);
  }
  int before = ag_graph_count(g);
  ag_reverse(g, 1, &E, &one, 1, &q, &grad);
  int nodes = ag_graph_count(g) - before;
  AG_CHECK(ag_node_op(g, grad) == AG_OP_STACK);
  /* forward in one coordinate touches its neighbours only */
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n), seed;
  for (int i = 0; i < n; i++) e[i] = ag_num(g, i == n / 2);
  seed = ag_stack(g, n, 1, e);
  before = ag_graph_count(g);
  ag_forward(g, 1, &q, &seed, 1, &grad, &t);
  AG_CHECK(ag_graph_count(g) - before < 60);
  /* the Hessian has three entries per row */
  if (n <= 100) {
    J = ag_jacobian(g, grad, 1, &q);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int apart = abs(i - j);
        AG_CHECK(ag_is_zero(g, ag_entry(g, J, i, j)) == (apart > 1 && apart < n - 1));
      }
  }
  free(e);
  ag_graph_free(g);
  return nodes;
}

static void check_lattice(void) {
  int a = lattice_nodes(100), b = lattice_nodes(1000);
  AG_CHECK(b <= 11 * a && b <= 20 * 1000);
}

static void check_zero_tangent(void) {
  ag_graph *g = ag_graph_create();
  ag_id x = ag_input(g, "x", 4, 1, AG_LEAF_REAL), y = ag_input(g, "y", 4, 1, AG_LEAF_REAL), t;
  ag_id f = ag_mul(g, ag_apply1(g, AG_OP_SIN, ag_dot(g, x, x)), x), zero = ag_zero(g, 4, 1), J;
  ag_forward(g, 1, &x, &zero, 1, &f, &t);
  AG_CHECK(t == zero);
  ag_forward(g, 1, &y, &x, 1, &f, &t);
  AG_CHECK(t == zero);
  J = ag_jacobian(g, f, 1, &y);
  AG_CHECK(J == ag_zero(g, 4, 4));
  AG_CHECK(ag_jacobian(g, ag_sub(g, x, y), 1, &x) == ag_eye(g, 4));
  ag_graph_free(g);
}

static void check_det(void) { /* 2 x 2 and 4 x 4; 3 x 3 is among the random programs */
  for (int n = 2; n <= 5; n++) {
    ag_graph *g = ag_graph_create();
    ag_id A = ag_input(g, "A", n, n, AG_LEAF_REAL), D = ag_input(g, "D", n, n, AG_LEAF_REAL), det = ag_det(g, A), t,
          grad;
    ag_id in[2] = {A, D}, one = ag_num(g, 1), outs[2], moved = ag_num(g, 0);
    ag_forward(g, 1, &A, &D, 1, &det, &t);
    ag_reverse(g, 1, &det, &one, 1, &A, &grad);
    for (int k = 0; k < n * n; k++) {
      ag_id p = ag_entry(g, grad, k / n, k % n);
      p = ag_mul(g, p, ag_entry(g, D, k / n, k % n));
      moved = ag_add(g, moved, p);
    }
    outs[0] = t;
    outs[1] = moved;
    double v[50], r[2], up, down, h = 1e-5, shifted[25];
    for (int k = 0; k < 2 * n * n; k++) v[k] = sin(1 + 1.7 * k) + 2 * (k < n * n && k % (n + 1) == 0);
    AG_CHECK(ag_evaluate(g, 2, in, v, 2, outs, r) == 0);
    for (int k = 0; k < n * n; k++) shifted[k] = v[k] + h * v[n * n + k];
    AG_CHECK(ag_evaluate(g, 1, in, shifted, 1, &det, &up) == 0);
    for (int k = 0; k < n * n; k++) shifted[k] = v[k] - h * v[n * n + k];
    AG_CHECK(ag_evaluate(g, 1, in, shifted, 1, &det, &down) == 0);
    AG_CHECK_NEAR(r[0], (up - down) / (2 * h), 1e-8); /* h^2 f''' ~ 1e-9 */
    AG_CHECK_NEAR(r[1], r[0], 1e-12);
    ag_graph_free(g);
  }
}

/* Room that sweeps give back is all zero, also where inputs are not in the cone, or nodes inside it are replaced. */
static void check_scratch(void) {
  ag_graph *g = ag_graph_create();
  ag_id R = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), x = ag_input(g, "x", 3, 1, AG_LEAF_REAL);
  ag_id y = ag_input(g, "y", 3, 1, AG_LEAF_REAL), up = ag_mul(g, ag_transpose(g, R), x), w[3];
  ag_id f = ag_dot(g, up, ag_cross(g, x, up)), square = ag_mul(g, f, ag_entry(g, up, 1, 0)), one = ag_num(g, 1), t;
  const ag_id inputs[] = {R, x, y}, seeds[] = {x, up, x};
  ag_forward(g, 3, inputs, seeds, 1, &square, &t);
  ag_reverse(g, 1, &square, &one, 3, inputs, w);
  (void)ag_jacobian(g, up, 3, inputs);
  ag_substitute(g, 1, &up, &y, 1, &square);
  ag_substitute(g, 1, &y, &x, 1, &f);
  int n = g->n_scratch;
  AG_CHECK(n > 0);
  for (int i = 0; i < n; i++) {
    size_t used = 0;
    for (size_t k = 0; k < g->scratch[i]->size; k++) used += g->scratch[i]->at[k] != 0;
    AG_CHECK(used == 0);
  }
  void *a = ag_scratch_take(g), *b = ag_scratch_take(g);
  AG_CHECK(a != b && g->n_scratch == n - 2);
  ag_scratch_give(g, b);
  ag_scratch_give(g, a);
  ag_graph_free(g);
}

int main(void) {
  for (ag_op op = AG_OP_NEG; op <= AG_OP_CHECKNZ; op++) check_row(op);
  check_rotation_forms();
  check_choices();
  check_norm();
  check_stored();
  check_lattice();
  check_zero_tangent();
  check_det();
  check_scratch();
  return ag_check_report();
}
