/* SPDX-License-Identifier: MIT
 * The energy in the terms of the Lagrangian equals p.xi - l, and is short where the terms have a degree. */
#include "mech/mech.h"
#include "mech/mech_internal.h"
#include "tests/check.h"

static ag_id half(ag_graph *g, ag_id x) { return ag_mul(g, ag_num(g, 0.5), x); }

/* p.xi - l as written. */
static ag_id plain(ag_graph *g, ag_id l, int n, const ag_id *xi) {
  ag_id p[2], one = ag_num(g, 1), sum = ag_neg(g, l);
  ag_reverse(g, 1, &l, &one, n, xi, p);
  for (int i = 0; i < n; i++) {
    ag_id part = ag_dot(g, p[i], xi[i]);
    sum = ag_add(g, sum, part);
  }
  return sum;
}

int main(void) {
  ag_graph *g = ag_graph_create();
  ag_id q = ag_input(g, "q", 1, 1, AG_LEAF_REAL), v = ag_input(g, "v", 1, 1, AG_LEAF_REAL),
        w = ag_input(g, "w", 3, 1, AG_LEAF_REAL);
  ag_id xi[2] = {v, w}, in[3] = {q, v, w}, vv = ag_mul(g, v, v), ww = ag_dot(g, w, w), qv = ag_mul(g, q, v);
  ag_id sum = ag_add(g, v, q), w1 = ag_entry(g, w, 0, 0), zero = ag_num(g, 0),
        stack = ag_stack(g, 3, 1, (ag_id[]){v, zero, w1});
  ag_id sine = ag_apply1(g, AG_OP_SIN, q), two = ag_num(g, 2);
  ag_id kinetic = half(g, ag_add(g, vv, ww)), mixed = ag_apply2(g, AG_OP_POW, sum, two),
        whole = ag_dot(g, stack, stack);
  ag_id list[] = {
      kinetic,                                             /* T */
      ag_sub(g, kinetic, sine),                            /* T - V */
      ag_sub(g, sine, kinetic),                            /* the other sign */
      ag_add(g, ag_sub(g, kinetic, sine), qv),             /* a gyroscopic term contributes nothing */
      ag_sub(g, mixed, half(g, ww)),                       /* (v + q)^2: not homogeneous */
      ag_neg(g, ag_add(g, ag_sub(g, mixed, whole), sine)), /* under a sign */
      ag_mul(g, sine, ag_sub(g, whole, sine)),             /* a product with a sum */
      ag_apply1(g, AG_OP_ABS, v),                          /* not a polynomial */
  };
  double at[5] = {0.7, -1.3, 0.4, 2.1, -0.6}, E[2];
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    ag_id both[2] = {ag_energy(g, list[i], 2, xi), plain(g, list[i], 2, xi)};
    ag_evaluate(g, 3, in, at, 2, both, E);
    AG_CHECK_NEAR(E[0], E[1], 1e-14); /* rounding error of numbers of size 10 */
  }
  AG_CHECK(ag_energy(g, list[0], 2, xi) == kinetic);
  ag_id energy = ag_add(g, kinetic, sine);
  AG_CHECK(ag_energy(g, list[1], 2, xi) == energy && ag_energy(g, list[3], 2, xi) == energy);
  ag_graph_free(g);
  return ag_check_report();
}
