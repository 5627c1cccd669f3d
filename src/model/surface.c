/* SPDX-License-Identifier: MIT
 * Contact maps X(n) of surfaces: the point whose outward unit normal is n. For a convex surface X = grad H with H(n)
 * the support function (distance of the tangent plane with normal n from the centre), taken as homogeneous of degree 1;
 * X.n = H. With axis 3 and across = (n1, n2, 0):
 *   sphere     H = a |n|                    X = a n
 *   ellipsoid  H = sqrt(n.D n)              X = D n/sqrt(n.D n), D = Q diag(a^2, b^2, c^2) Q^T
 *   disk       H = a |across|               X = a across/|across|: the edge; not defined when it lies flat
 *   torus      H = a |across| + b |n|       X = a across/|across| + b n
 *   cylinder   H = a |across| + b |n3|      X = a across/|across| + b sign(n3) e3
 *   revolution by the meridian: with theta the angle between axis 3 and -n, cos(theta) = -n3 and sin(theta) = |across|,
 *              X = h(theta) across/|across| - (f0 - f(theta)) e3
 *   gauss      X = h(n3) across + f(n3) e3: smooth at the poles when h and f are
 *   convex     grad f(X) = mu n and f(X) = 0, by Newton steps */
#include <math.h>

#include "model/body_internal.h"

static ag_id column3(ag_graph *g, ag_id a, ag_id b, ag_id c) { return ag_stack(g, 3, 1, (ag_id[]){a, b, c}); }

static ag_id axis3(ag_graph *g, int k) {
  ag_id zero = ag_num(g, 0), one = ag_num(g, 1);
  return column3(g, k == 0 ? one : zero, k == 1 ? one : zero, k == 2 ? one : zero);
}

/* Entry by entry, so that zeros of a simple rotation vanish and the rest depends on parameters alone. */
static ag_id ellipsoid_matrix(ag_graph *g, const ag_surface *s) {
  ag_id e[9], axes[3] = {ag_mul(g, s->a, s->a), ag_mul(g, s->b, s->b), ag_mul(g, s->c, s->c)};
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      ag_id x = s->turn || i != j ? ag_num(g, 0) : axes[i];
      for (int k = 0; s->turn && k < 3; k++) {
        ag_id ik = ag_entry(g, s->turn, i, k), jk = ag_entry(g, s->turn, j, k);
        x = ag_add(g, x, ag_mul(g, ag_mul(g, ik, jk), axes[k]));
      }
      e[3 * i + j] = e[3 * j + i] = x;
    }
  return ag_stack(g, 3, 3, e);
}

/* sin(theta) and cos(theta) are replaced as a whole: they are known without the angle. */
static ag_id at_angle(ag_graph *g, const ag_surface *s, ag_id x, ag_id sine, ag_id cosine) {
  ag_id angle = ag_apply2(g, AG_OP_ATAN2, sine, cosine);
  ag_id from[3] = {ag_apply1(g, AG_OP_SIN, s->theta), ag_apply1(g, AG_OP_COS, s->theta), s->theta};
  ag_id to[3] = {sine, cosine, angle};
  ag_substitute(g, 3, from, to, 1, &x);
  return x;
}

/* h(theta)/sin(theta). Near the axis it is h'(theta)/cos(theta) up to O(sin^2), which is used there: even in theta, so
 * X is smooth at the pole. */
static ag_id over_sine(ag_graph *g, const ag_surface *s, ag_id sine, ag_id cosine) {
  static const double NEAR = 1e-8, CLOSED = 1e-12;
  ag_id one = ag_num(g, 1), slope, at[3] = {ag_num(g, 0), ag_num(g, M_PI / 2), ag_num(g, M_PI)}, h[3];
  ag_forward(g, 1, &s->theta, &one, 1, &s->h, &slope);
  for (int i = 0; i < 3; i++) {
    h[i] = s->h;
    ag_substitute(g, 1, &s->theta, &at[i], 1, &h[i]);
  }
  /* unvaried: both branches agree where they meet, and there is no surface at which the equations switch */
  ag_id sine0 = ag_apply1(g, AG_OP_HOLD, sine), cosine0 = ag_apply1(g, AG_OP_HOLD, cosine);
  ag_id lower = ag_apply2(g, AG_OP_LE, at[0], cosine0), pole = ag_select(g, lower, h[0], h[2]);
  ag_id rim = ag_mul(g, ag_num(g, CLOSED), h[1]), closed = ag_apply2(g, AG_OP_LE, ag_apply1(g, AG_OP_ABS, pole), rim);
  ag_id near = ag_apply2(g, AG_OP_AND, ag_apply2(g, AG_OP_LT, sine0, ag_num(g, NEAR)), closed);
  ag_id whole = at_angle(g, s, s->h, sine, cosine), limit = at_angle(g, s, slope, sine, cosine);
  ag_id there = ag_div(g, limit, ag_select(g, near, cosine, one)),
        divided = ag_div(g, whole, ag_select(g, near, one, sine));
  return ag_select(g, near, there, divided);
}

/* In the axes of the surface, for surfaces with an axis 3. */
static ag_id around_axis(ag_graph *g, const ag_surface *s, ag_id n) {
  ag_id n1 = ag_entry(g, n, 0, 0), n2 = ag_entry(g, n, 1, 0), n3 = ag_entry(g, n, 2, 0), zero = ag_num(g, 0);
  ag_id across = column3(g, n1, n2, zero), e3 = axis3(g, 2), length = ag_norm(g, across);
  ag_id edge = ag_div(g, across, length);
  if (s->kind == AG_SURFACE_DISK) return ag_mul(g, s->a, edge);
  if (s->kind == AG_SURFACE_TORUS) {
    ag_id ring = ag_mul(g, s->a, edge), tube = ag_mul(g, s->b, n);
    return ag_add(g, ring, tube);
  }
  if (s->kind == AG_SURFACE_CYLINDER) {
    ag_id end = ag_mul(g, s->b, ag_apply1(g, AG_OP_SIGN, n3));
    ag_id rim = ag_mul(g, s->a, edge), height = ag_mul(g, end, e3);
    return ag_add(g, rim, height);
  }
  ag_id f = s->f;
  if (s->kind == AG_SURFACE_GAUSS) {
    ag_id h = s->h;
    ag_substitute(g, 1, &s->theta, &n3, 1, &h);
    ag_substitute(g, 1, &s->theta, &n3, 1, &f);
    ag_id aside = ag_mul(g, h, across), height = ag_mul(g, f, e3);
    return ag_add(g, aside, height);
  }
  ag_id cosine = ag_neg(g, n3), k = over_sine(g, s, length, cosine);
  f = at_angle(g, s, f, length, cosine);
  ag_id aside = ag_mul(g, k, across), depth = ag_mul(g, ag_sub(g, s->f0, f), e3);
  return ag_sub(g, aside, depth);
}

/* One Newton step for grad f(X) = mu n, f(X) = 0 with H the second derivatives: H dX = mu n - grad f and grad f.dX =
 * -f. With u = H^-1 grad f and w = H^-1 n: dX = mu w - u, mu = (grad f.u - f)/(grad f.w). mu is found anew in each
 * step. */
static ag_id newton_step(ag_graph *g, const ag_surface *s, ag_id n, ag_id X) {
  ag_id one = ag_num(g, 1), grad, parts[3] = {s->f};
  ag_reverse(g, 1, &s->f, &one, 1, &s->p, &grad);
  parts[1] = grad;
  parts[2] = ag_jacobian(g, grad, 1, &s->p);
  ag_substitute(g, 1, &s->p, &X, 3, parts);
  ag_id u = ag_solve(g, parts[2], parts[1], AG_SOLVE_SPD), w = ag_solve(g, parts[2], n, AG_SOLVE_SPD);
  ag_id above = ag_sub(g, ag_dot(g, parts[1], u), parts[0]), below = ag_dot(g, parts[1], w),
        mu = ag_div(g, above, below);
  return ag_add(g, X, ag_sub(g, ag_mul(g, mu, w), u));
}

/* A fixed number of steps from a smooth start; only the last two are differentiated, which gives the derivatives of the
 * root up to the third once the steps have converged. */
static ag_id newton(ag_graph *g, const ag_surface *s, ag_id n) {
  ag_id X = ag_body_hold(g, ag_implicit_start(g, s, n));
  for (int i = 0; i < s->steps; i++) {
    X = newton_step(g, s, n, X);
    if (i < s->steps - 2) X = ag_body_hold(g, X);
  }
  return X;
}

ag_id ag_surface_misfit(ag_graph *g, const ag_surface *s, ag_id n) {
  if (s->kind != AG_SURFACE_CONVEX) return 0;
  ag_surface before = *s;
  before.steps--; /* the same values, but a different step is differentiated */
  if (s->turn) n = ag_mul(g, ag_transpose(g, s->turn), n);
  ag_id X = newton(g, s, n), last = newton(g, &before, n);
  ag_id moved = ag_norm(g, ag_sub(g, X, last)), size = ag_norm(g, X);
  return ag_div(g, moved, size);
}

ag_id ag_surface_point(ag_graph *g, const ag_surface *s, ag_id n) {
  if (s->kind == AG_SURFACE_SPHERE) return ag_mul(g, s->a, n);
  if (s->kind == AG_SURFACE_POINT) return s->p;
  if (s->kind == AG_SURFACE_ELLIPSOID) {
    ag_id Dn = ag_mul(g, ellipsoid_matrix(g, s), n);
    return ag_div(g, Dn, ag_apply1(g, AG_OP_SQRT, ag_dot(g, n, Dn)));
  }
  ag_id (*map)(ag_graph *, const ag_surface *, ag_id) = s->kind == AG_SURFACE_CONVEX ? newton : around_axis;
  if (!s->turn) return map(g, s, n);
  return ag_mul(g, s->turn, map(g, s, ag_mul(g, ag_transpose(g, s->turn), n)));
}

ag_id ag_surface_axis(ag_graph *g, const ag_surface *s) {
  int k = 2;
  if (s->kind == AG_SURFACE_SPHERE || s->kind >= AG_SURFACE_CONVEX) return 0;
  if (s->kind == AG_SURFACE_POINT) return ag_is_zero(g, s->p) ? 0 : s->p;
  if (s->kind == AG_SURFACE_ELLIPSOID) {
    int equal = (s->a == s->b) + (s->b == s->c) + (s->a == s->c);
    if (equal != 1) return 0;
    k = s->a == s->b ? 2 : s->b == s->c ? 0 : 1;
  }
  return s->turn ? ag_mul(g, s->turn, axis3(g, k)) : axis3(g, k);
}

const char *ag_surface_word(ag_surface_kind kind) {
  static const char *const words[] = {"sphere", "ellipsoid",  "torus",      "disk",   "cylinder",
                                      "point",  "revolution", "revolution", "convex", "none"};
  return words[kind];
}
