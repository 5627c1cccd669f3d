/* SPDX-License-Identifier: MIT
 * A meridian by its radius of curvature r(theta), theta in [0, pi] from the lower pole:
 *   h(theta) = h0 + int_0^theta r cos,   f(theta) = int_0^theta r sin.
 * [0, pi] is divided where r jumps, or else at pi/2, and each part is integrated from one of its ends by Gauss-Legendre
 * quadrature over what is left of it: the lowest part from the lower pole, the highest one from the upper pole (so that
 * h is small there with all its digits), those between from their lower ends, with sums of parameters alone before
 * them. */
#include <math.h>

#include "model/body_internal.h"

/* Node and weight i of n on [0, 1]: the roots of the Legendre polynomial by Newton's method from a cosine. */
static void gauss_node(int n, int i, double *x, double *w) {
  double z = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
  for (int step = 0; step < 100; step++) {
    double p = 1, before = 0;
    for (int k = 1; k <= n; k++) {
      double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
      before = p;
      p = next;
    }
    slope = n * (z * p - before) / (z * z - 1);
    double dz = p / slope;
    z -= dz;
    if (fabs(dz) < 1e-15) break;
  }
  *x = (1 + z) / 2;
  *w = 1 / ((1 - z * z) * slope * slope);
}

/* ---- where r jumps ---- */

/* Zero of d in theta if d is linear in theta or in cos(theta); else 0. */
static ag_id zero_of(ag_graph *g, ag_id theta, ag_id d) {
  ag_id cosine = ag_apply1(g, AG_OP_COS, theta), u = ag_input(g, "u", 1, 1, AG_LEAF_REAL), one = ag_num(g, 1),
        zero = ag_num(g, 0);
  for (int k = 0; k < 2; k++) {
    ag_id x = d, slope, from = k ? cosine : theta;
    ag_substitute(g, 1, &from, &u, 1, &x);
    if (ag_depends(g, 1, &x, 1, &theta)) continue;
    ag_forward(g, 1, &u, &one, 1, &x, &slope);
    if (ag_depends(g, 1, &slope, 1, &u) || ag_is_zero(g, slope)) continue;
    ag_substitute(g, 1, &u, &zero, 1, &x);
    ag_id root = ag_neg(g, ag_div(g, x, slope));
    if (!k) return root;
    ag_id most = ag_apply2(g, AG_OP_MIN, root, one), inside = ag_apply2(g, AG_OP_MAX, most, ag_num(g, -1));
    return ag_apply1(g, AG_OP_ACOS, inside);
  }
  return 0;
}

typedef struct search {
  ag_graph *g;
  ag_surface *s;
  bool *seen;
} search;

static void add_jump(search *q, ag_id d) {
  ag_surface *s = q->s;
  if (!ag_depends(q->g, 1, &d, 1, &s->theta)) return;
  ag_id angle = zero_of(q->g, s->theta, d);
  if (!angle || s->n_jump == AG_MAX_JUMPS) {
    s->rough = true;
    return;
  }
  for (int i = 0; i < s->n_jump; i++)
    if (s->jump[i] == angle) return;
  s->jump[s->n_jump++] = angle;
}

/* Conditions on theta: comparisons, and functions with a corner. */
static void find_jumps(search *q, ag_id x, ag_id top) {
  if (x > top || q->seen[x]) return;
  q->seen[x] = true;
  ag_op op = ag_node_op(q->g, x);
  ag_id a = ag_node_n_arg(q->g, x) > 0 ? ag_node_arg(q->g, x, 0) : 0,
        b = ag_node_n_arg(q->g, x) > 1 ? ag_node_arg(q->g, x, 1) : 0;
  if (op == AG_OP_ABS || op == AG_OP_SIGN) add_jump(q, a);
  if (op == AG_OP_MIN || op == AG_OP_MAX || (op >= AG_OP_LT && op <= AG_OP_NE)) add_jump(q, ag_sub(q->g, a, b));
  for (int i = 0; i < ag_node_n_arg(q->g, x); i++) find_jumps(q, ag_node_arg(q->g, x, i), top);
}

/* Restricts to [0, pi] and sorts. */
static void sort_jumps(ag_graph *g, ag_surface *s) {
  for (int i = 0; i < s->n_jump; i++) {
    ag_id most = ag_apply2(g, AG_OP_MIN, s->jump[i], ag_num(g, M_PI));
    s->jump[i] = ag_apply2(g, AG_OP_MAX, most, ag_num(g, 0));
  }
  for (int i = 0; i < s->n_jump; i++)
    for (int j = 0; j + 1 < s->n_jump - i; j++) {
      ag_id a = s->jump[j], b = s->jump[j + 1];
      s->jump[j] = ag_apply2(g, AG_OP_MIN, a, b);
      s->jump[j + 1] = ag_apply2(g, AG_OP_MAX, a, b);
    }
}

/* ---- quadrature ---- */

/* Integrals of r cos and r sin over [b, b + d], divided by d. */
static void means(ag_graph *g, ag_id theta, ag_id r, ag_id b, ag_id d, int nodes, ag_id *across, ag_id *along) {
  *across = *along = ag_num(g, 0);
  for (int i = 0; i < nodes; i++) {
    double x, w;
    gauss_node(nodes, i, &x, &w);
    ag_id at = ag_add(g, b, ag_mul(g, ag_num(g, x), d)), value = r;
    ag_substitute(g, 1, &theta, &at, 1, &value);
    value = ag_mul(g, ag_num(g, w), value);
    *across = ag_add(g, *across, ag_mul(g, value, ag_apply1(g, AG_OP_COS, at)));
    *along = ag_add(g, *along, ag_mul(g, value, ag_apply1(g, AG_OP_SIN, at)));
  }
}

/* Start and length of the quadrature of an interval, and the sums before it. */
typedef struct part {
  ag_id b, d, h, f;
} part;

static part choose(ag_graph *g, ag_id condition, part yes, part no) {
  return (part){ag_select(g, condition, yes.b, no.b), ag_select(g, condition, yes.d, no.d),
                ag_select(g, condition, yes.h, no.h), ag_select(g, condition, yes.f, no.f)};
}

ag_surface ag_surface_meridian(ag_graph *g, ag_id theta, ag_id r, ag_id h0, ag_id f0, int nodes) {
  AG_ASSERT(nodes >= 4 && nodes <= 64);
  ag_surface s = {.kind = AG_SURFACE_REVOLUTION, .theta = theta, .f0 = f0, .radius = r};
  search q = {g, &s, ag_heap_alloc((size_t)r + 1)};
  find_jumps(&q, r, r);
  free(q.seen);
  sort_jumps(g, &s);
  ag_id zero = ag_num(g, 0), pi = ag_num(g, M_PI), end[AG_MAX_JUMPS + 2], across, along;
  int n = s.n_jump ? s.n_jump : 1; /* ends between intervals */
  end[0] = zero;
  for (int i = 0; i < n; i++) end[1 + i] = s.n_jump ? s.jump[i] : ag_num(g, M_PI / 2);
  end[n + 1] = pi;
  /* from the top down with the angle to the upper pole, which keeps its relative accuracy */
  ag_id sine = ag_apply1(g, AG_OP_SIN, theta), minus = ag_neg(g, ag_apply1(g, AG_OP_COS, theta));
  ag_id down = ag_apply2(g, AG_OP_ATAN2, sine, minus);
  part here = {zero, theta, h0, zero}, now = here;
  for (int i = 1; i <= n + 1; i++) { /* the sums up to end[i] */
    ag_id length = ag_sub(g, end[i], end[i - 1]);
    means(g, theta, r, end[i - 1], length, nodes, &across, &along);
    ag_id last = now.h;
    now = (part){end[i], ag_sub(g, theta, end[i]), ag_add(g, now.h, ag_mul(g, length, across)),
                 ag_add(g, now.f, ag_mul(g, length, along))};
    if (i <= n - 1) here = choose(g, ag_apply2(g, AG_OP_LE, end[i], theta), now, here);
    if (i < n + 1) continue;
    /* closed at the top up to rounding error counts as closed */
    ag_id scale = ag_mul(g, ag_num(g, 1e-12), last), size = ag_apply1(g, AG_OP_ABS, now.h);
    now.h = ag_select(g, ag_apply2(g, AG_OP_LE, size, scale), zero, now.h);
    now.d = ag_neg(g, down);
    here = choose(g, ag_apply2(g, AG_OP_LE, end[n], theta), now, here);
  }
  means(g, theta, r, here.b, here.d, nodes, &across, &along);
  s.h = ag_add(g, here.h, ag_mul(g, here.d, across));
  s.f = ag_add(g, here.f, ag_mul(g, here.d, along));
  return s;
}
