/* SPDX-License-Identifier: MIT
 * Contact maps: the point lies on the surface, moves in the tangent plane, and different forms of one surface agree. */
#include <math.h>

#include "check.h"
#include "model/parts.h"

enum { N_FORM = 14 };

static ag_id num(ag_graph *g, double v) { return ag_num(g, v); }
static ag_id sq(ag_graph *g, ag_id x) { return ag_mul(g, x, x); }

/* A rotation about e3 by a and then about e1 by b, as numbers. */
static ag_id turned(ag_graph *g, double a, double b) {
  double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b),
         v[9] = {ca, -sa, 0, cb * sa, cb * ca, -sb, sb * sa, sb * ca, cb};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = num(g, v[i]);
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

/* Ellipsoid of revolution, half axes a across and c along: zC = sqrt(a^2 sin^2 + c^2 cos^2), r = a^2 c^2/zC^3. */
static void ellipsoid_forms(ag_graph *g, double a, double c, ag_surface *s) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), sn = ag_apply1(g, AG_OP_SIN, theta),
        cs = ag_apply1(g, AG_OP_COS, theta);
  ag_id A = num(g, a * a), C = num(g, c * c), one = num(g, 1);
  ag_id z = ag_apply1(g, AG_OP_SQRT, ag_add(g, ag_mul(g, A, sq(g, sn)), ag_mul(g, C, sq(g, cs))));
  s[0] = (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = num(g, a), .b = num(g, a), .c = num(g, c)};
  s[1] = (ag_surface){.kind = AG_SURFACE_REVOLUTION, .theta = theta, .f0 = num(g, c)};
  s[1].h = ag_div(g, ag_mul(g, A, sn), z);
  s[1].f = ag_sub(g, num(g, c), ag_div(g, ag_mul(g, C, cs), z));
  s[2] = ag_surface_meridian(g, theta, ag_div(g, ag_mul(g, A, C), ag_mul(g, z, sq(g, z))), num(g, 0), num(g, c), 40);
  ag_id w = ag_apply1(g, AG_OP_SQRT, ag_add(g, ag_mul(g, A, ag_sub(g, one, sq(g, theta))), ag_mul(g, C, sq(g, theta))));
  s[3] = (ag_surface){
      .kind = AG_SURFACE_GAUSS, .theta = theta, .h = ag_div(g, A, w), .f = ag_div(g, ag_mul(g, C, theta), w)};
}

static void torus_forms(ag_graph *g, double a, double b, ag_surface *s) {
  ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), sn = ag_apply1(g, AG_OP_SIN, theta),
        cs = ag_apply1(g, AG_OP_COS, theta);
  s[0] = (ag_surface){.kind = AG_SURFACE_TORUS, .a = num(g, a), .b = num(g, b)};
  s[1] = (ag_surface){.kind = AG_SURFACE_REVOLUTION, .theta = theta, .f0 = num(g, b)};
  s[1].h = ag_add(g, num(g, a), ag_mul(g, num(g, b), sn));
  s[1].f = ag_mul(g, num(g, b), ag_sub(g, num(g, 1), cs));
  s[2] = ag_surface_meridian(g, theta, num(g, b), num(g, a), num(g, b), 24);
}

/* The second form, and a surface that is not an ellipsoid, starting from the unit sphere. */
static ag_surface implicit_ellipsoid(ag_graph *g, double quartic) {
  ag_id X = ag_input(g, "X", 3, 1, AG_LEAF_REAL), x = ag_entry(g, X, 0, 0), y = ag_entry(g, X, 1, 0),
        z = ag_entry(g, X, 2, 0);
  ag_id f = ag_add(g, ag_add(g, ag_div(g, sq(g, x), num(g, 4)), ag_div(g, sq(g, y), num(g, 1.5625))),
                   ag_sub(g, sq(g, z), num(g, 1)));
  f = ag_add(g, f, ag_mul(g, num(g, quartic), ag_add(g, sq(g, sq(g, y)), sq(g, sq(g, z)))));
  return (ag_surface){
      .kind = AG_SURFACE_CONVEX, .p = X, .f = f, .a = num(g, 1), .b = num(g, 1), .c = num(g, 1), .steps = 8};
}

static double implicit(int form, const double *X) {
  double across = hypot(X[0], X[1]);
  if (form == 0) return X[0] * X[0] + X[1] * X[1] + X[2] * X[2] - 0.49;
  if (form == 13) return implicit(1, X) + 0.3 * (pow(X[1], 4) + pow(X[2], 4));
  if (form == 1 || form == 12) return X[0] * X[0] / 4 + X[1] * X[1] / 1.5625 + X[2] * X[2] - 1;
  if (form <= 5) return across * across / 1.44 + X[2] * X[2] / 0.36 - 1;
  if (form <= 8) return (across - 1) * (across - 1) + X[2] * X[2] - 0.16;
  if (form == 9) return fabs(across - 0.8) + fabs(X[2]);
  if (form == 10) return fabs(across - 0.8) + fabs(fabs(X[2]) - 0.1);
  return fabs(X[0] - 0.1) + fabs(X[1] + 0.2) + fabs(X[2] + 0.3);
}

static void forms(ag_graph *g, ag_surface *s) {
  s[0] = (ag_surface){.kind = AG_SURFACE_SPHERE, .a = num(g, 0.7)};
  s[1] = (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = num(g, 2), .b = num(g, 1.25), .c = num(g, 1)};
  ellipsoid_forms(g, 1.2, 0.6, s + 2);
  torus_forms(g, 1, 0.4, s + 6);
  s[9] = (ag_surface){.kind = AG_SURFACE_DISK, .a = num(g, 0.8)};
  s[10] = (ag_surface){.kind = AG_SURFACE_CYLINDER, .a = num(g, 0.8), .b = num(g, 0.1)};
  ag_id p[3] = {num(g, 0.1), num(g, -0.2), num(g, -0.3)};
  s[11] = (ag_surface){.kind = AG_SURFACE_POINT, .p = ag_stack(g, 3, 1, p)};
  s[12] = implicit_ellipsoid(g, 0);
  s[13] = implicit_ellipsoid(g, 0.3);
}

static double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* On the surface; dX has no component along n (support map); X.n is positive. Tolerances: rounding error, and that of
 * 40 nodes. */
static void check_maps(void) {
  ag_graph *g = ag_graph_create();
  ag_surface s[N_FORM];
  forms(g, s);
  ag_id n = ag_input(g, "n", 3, 1, AG_LEAF_REAL), seed = ag_input(g, "seed", 3, 1, AG_LEAF_REAL), in[2] = {n, seed};
  double X[N_FORM][6];
  for (int trial = 0; trial < 50; trial++) {
    double th = 0.15 + 2.8 * trial / 49, ps = 1.7 * trial,
           v[6] = {sin(th) * cos(ps), sin(th) * sin(ps), -cos(th), 0.3, -0.2, 0.5};
    double along = dot3(v, v + 3);
    for (int i = 0; i < 3; i++) v[3 + i] -= along * v[i]; /* tangential seed */
    for (int k = 0; k < N_FORM; k++) {
      ag_id outs[2] = {ag_surface_point(g, &s[k], n), 0};
      ag_forward(g, 1, &n, &seed, 1, outs, outs + 1);
      AG_CHECK(ag_evaluate(g, 2, in, v, 2, outs, X[k]) == 0);
      AG_CHECK_NEAR(implicit(k, X[k]), 0, 4e-15);
      AG_CHECK_NEAR(dot3(v, X[k] + 3), 0, 4e-15);
      if (k != 11) AG_CHECK(dot3(v, X[k]) > 0);
    }
    for (int i = 0; i < 6; i++) {
      for (int k = 3; k <= 5; k++)
        AG_CHECK_NEAR(X[k][i], X[2][i], 2e-13); /* 40 nodes: 1e-14 in X, more in its derivative */
      for (int k = 7; k <= 8; k++) AG_CHECK_NEAR(X[k][i], X[6][i], 4e-14);
      AG_CHECK_NEAR(X[12][i], X[1][i], 1e-14); /* eight Newton steps: rounding */
    }
  }
  ag_graph_free(g);
}

/* X of a turned surface: Q X(Q^T n) */
static void check_turn(void) {
  ag_graph *g = ag_graph_create();
  ag_surface s[N_FORM];
  forms(g, s);
  ag_id n = ag_input(g, "n", 3, 1, AG_LEAF_REAL), Q = turned(g, 0.35, 0.8);
  double v[3] = {0.48, -0.6, 0.64}, got[6];
  for (int k = 0; k < N_FORM; k++) {
    if (k == 11) continue;
    ag_surface t = s[k];
    t.turn = Q;
    ag_id inner = ag_surface_point(g, &s[k], ag_mul(g, ag_transpose(g, Q), n));
    ag_id outs[2] = {ag_surface_point(g, &t, n), ag_mul(g, Q, inner)};
    AG_CHECK(ag_evaluate(g, 1, &n, v, 2, outs, got) == 0);
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(got[i], got[3 + i], 4e-15);
  }
  ag_graph_free(g);
}

static void check_axis(void) {
  ag_graph *g = ag_graph_create();
  ag_surface s[N_FORM];
  double v[3];
  forms(g, s);
  AG_CHECK(!ag_surface_axis(g, &s[0]) && !ag_surface_axis(g, &s[1]));
  for (int k = 2; k < 11; k++) {
    AG_CHECK(ag_constant(g, ag_surface_axis(g, &s[k]), v));
    AG_CHECK(v[0] == 0 && v[1] == 0 && v[2] == 1);
  }
  ag_surface egg = {
      .kind = AG_SURFACE_ELLIPSOID, .a = num(g, 2), .b = num(g, 1), .c = num(g, 1), .turn = turned(g, 0, M_PI / 2)};
  AG_CHECK(ag_constant(g, ag_surface_axis(g, &egg), v));
  AG_CHECK_NEAR(v[0], 1, 1e-16);
  AG_CHECK(!ag_surface_axis(g, &s[12]) && !ag_surface_misfit(g, &s[0], ag_surface_axis(g, &egg)));
  ag_id n = ag_input(g, "n", 3, 1, AG_LEAF_REAL), misfit[2] = {ag_surface_misfit(g, &s[13], n), 0};
  s[13].steps = 2;
  misfit[1] = ag_surface_misfit(g, &s[13], n);
  AG_CHECK(ag_evaluate(g, 1, &n, (double[]){0.48, -0.6, 0.64}, 2, misfit, v) == 0);
  AG_CHECK_NEAR(v[0], 0, 1e-15);
  AG_CHECK(fabs(v[1]) > 1e-6); /* two steps are too few, and misfit shows it */
  AG_CHECK_STR(ag_surface_word(AG_SURFACE_TORUS), "torus");
  AG_CHECK_STR(ag_surface_word(AG_SURFACE_CONVEX), "convex");
  ag_graph_free(g);
}

/* At and near the poles: the ellipsoid of revolution, by its closed meridian and by quadrature, has the contact map and
 * derivative of the ellipsoid itself. */
static void check_poles(void) {
  ag_graph *g = ag_graph_create();
  ag_surface s[4];
  ellipsoid_forms(g, 1.2, 0.6, s);
  ag_id n = ag_input(g, "n", 3, 1, AG_LEAF_REAL), seed = ag_input(g, "seed", 3, 1, AG_LEAF_REAL), in[2] = {n, seed};
  double away[] = {0, 1e-300, 1e-12, 3e-9, 1.2e-8, 1e-6, 1e-4, 0.01};
  for (int trial = 0; trial < 16; trial++) {
    double th = away[trial / 2], z = trial % 2 ? 1 : -1, X[4][6],
           v[6] = {sin(th) * cos(0.7), sin(th) * sin(0.7), z * cos(th), 0.3, -0.2, 0};
    v[5] = -(v[0] * v[3] + v[1] * v[4]) / v[2];
    for (int k = 0; k < 4; k++) {
      ag_id outs[2] = {ag_surface_point(g, &s[k], n), 0};
      ag_forward(g, 1, &n, &seed, 1, outs, outs + 1);
      AG_CHECK(ag_evaluate(g, 2, in, v, 2, outs, X[k]) == 0);
      for (int i = 0; i < 6; i++) AG_CHECK_NEAR(X[k][i], X[0][i], i < 3 ? 1e-14 : 2e-13);
    }
  }
  ag_graph_free(g);
}

/* h, f, the height zC = h sin + (f0 - f) cos and Lambda = zC' = h cos - (f0 - f) sin of K, 2.4, from the radius of
 * curvature: torus and ellipsoid of revolution. */
static void check_height(void) {
  ag_graph *g = ag_graph_create();
  ag_surface egg[4], tyre[3];
  ellipsoid_forms(g, 1, 0.6, egg);
  torus_forms(g, 1, 0.4, tyre);
  const ag_surface *s[2] = {&egg[2], &tyre[2]};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i <= 40; i++) {
      double th = M_PI * i / 40, sn = sin(th), cs = cos(th), v[2];
      ag_id of[2] = {s[k]->h, s[k]->f};
      AG_CHECK(ag_evaluate(g, 1, &s[k]->theta, &th, 2, of, v) == 0);
      double f0 = k ? 0.4 : 0.6, zC = v[0] * sn + (f0 - v[1]) * cs, Lambda = v[0] * cs - (f0 - v[1]) * sn;
      double z = sqrt(sn * sn + 0.36 * cs * cs);
      AG_CHECK_NEAR(v[0], k ? 1 + 0.4 * sn : sn / z, 4e-15);
      AG_CHECK_NEAR(zC, k ? 0.4 + sn : z, 4e-15);
      AG_CHECK_NEAR(Lambda, k ? cs : 0.64 * sn * cs / z, 4e-15);
    }
  ag_graph_free(g);
}

/* r = 0.2 below 0.9, 0.7 above, 0.4 above 2.1, written in two ways: h and f by hand. */
static void check_jumps(void) {
  for (int form = 0; form < 2; form++) {
    ag_graph *g = ag_graph_create();
    ag_id theta = ag_input(g, "theta", 1, 1, AG_LEAF_REAL), a = num(g, 0.2), b = num(g, 0.7), c = num(g, 0.4);
    ag_id first = form ? ag_apply2(g, AG_OP_LT, num(g, cos(0.9)), ag_apply1(g, AG_OP_COS, theta))
                       : ag_apply2(g, AG_OP_LT, theta, num(g, 0.9));
    ag_id second = ag_apply2(g, AG_OP_LE, num(g, 4.2), ag_mul(g, num(g, 2), theta));
    ag_id r = ag_select(g, second, c, ag_select(g, first, a, b));
    ag_surface s = ag_surface_meridian(g, theta, r, num(g, 0.3), num(g, 0.5), 16);
    double jump[2];
    AG_CHECK(s.n_jump == 2 && !s.rough && ag_constant(g, s.jump[0], jump) && ag_constant(g, s.jump[1], jump + 1));
    AG_CHECK_NEAR(jump[0], 0.9, 1e-15);
    AG_CHECK_NEAR(jump[1], 2.1, 1e-15);
    for (int i = 0; i <= 60; i++) {
      double th = i == 58 ? 0.9 : i == 59 ? 2.1 - 1e-9 : i == 60 ? M_PI : i * 0.054, v[2];
      double p = fmin(th, 0.9), q = fmin(fmax(th, 0.9), 2.1), w = fmax(th, 2.1);
      ag_id of[2] = {s.h, s.f};
      AG_CHECK(ag_evaluate(g, 1, &theta, &th, 2, of, v) == 0);
      AG_CHECK_NEAR(v[0], 0.3 + 0.2 * sin(p) + 0.7 * (sin(q) - sin(0.9)) + 0.4 * (sin(w) - sin(2.1)),
                    4e-15); /* some 50 terms */
      AG_CHECK_NEAR(v[1], 0.2 * (1 - cos(p)) + 0.7 * (cos(0.9) - cos(q)) + 0.4 * (cos(2.1) - cos(w)), 4e-15);
    }
    ag_id sine = ag_apply2(g, AG_OP_LT, ag_apply1(g, AG_OP_SIN, theta), num(g, 0.5));
    AG_CHECK(ag_surface_meridian(g, theta, ag_select(g, sine, a, b), num(g, 0), num(g, 0.5), 16).rough);
    ag_graph_free(g);
  }
}

int main(void) {
  check_poles();
  check_height();
  check_jumps();
  check_maps();
  check_turn();
  check_axis();
  return ag_check_report();
}
