/* SPDX-License-Identifier: MIT
 * Increments of rotations as expressions: tau = exp or the Cayley map, its right-trivialised derivative and the inverse
 * of that. */
#include "mech/mech_internal.h"

/* A function of w = |x|^2 by its power series below this, by its closed form above. */
static const double NEAR = 0.25;
enum { N_TERM = 9 };

typedef enum series { SINE, COSINE, CUBIC, COTANGENT, N_SERIES } series;

/* sin x / x, (1 - cos x) / x^2, (x - sin x) / x^3, (1 - x/2 cot x/2) / x^2 */
static const double terms[N_SERIES][N_TERM] = {
    {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000},
    {1.0 / 2, -1.0 / 24, 1.0 / 720, -1.0 / 40320, 1.0 / 3628800, -1.0 / 479001600, 1.0 / 87178291200,
     -1.0 / 20922789888000},
    {1.0 / 6, -1.0 / 120, 1.0 / 5040, -1.0 / 362880, 1.0 / 39916800, -1.0 / 6227020800, 1.0 / 1307674368000,
     -1.0 / 355687428096000},
    {1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160, 691.0 / 1307674368000, 1.0 / 74724249600,
     3617.0 / 1.067062284288e16, 43867.0 / 5.109094217170944e18}};

static ag_id closed_form(ag_graph *g, series which, ag_id w) {
  ag_id x = ag_apply1(g, AG_OP_SQRT, w), half = ag_mul(g, ag_num(g, 0.5), x), two = ag_num(g, 2);
  ag_id sine = ag_div(g, ag_apply1(g, AG_OP_SIN, x), x), s = ag_apply1(g, AG_OP_SIN, half), one = ag_num(g, 1);
  switch (which) {
  case SINE: return sine;
  case COSINE: {
    ag_id square = ag_mul(g, s, s);
    return ag_div(g, ag_mul(g, two, square), w);
  }
  case CUBIC: return ag_div(g, ag_sub(g, one, sine), w);
  case COTANGENT: {
    ag_id cotangent = ag_div(g, ag_apply1(g, AG_OP_COS, half), s);
    return ag_div(g, ag_sub(g, one, ag_mul(g, half, cotangent)), w);
  }
  case N_SERIES: break;
  }
  return 0;
}

static ag_id function_of(ag_graph *g, series which, ag_id w) {
  ag_id near = ag_num(g, terms[which][N_TERM - 1]), bound = ag_num(g, NEAR);
  for (int i = N_TERM - 2; i >= 0; i--) {
    ag_id higher = ag_mul(g, w, near);
    near = ag_add(g, ag_num(g, terms[which][i]), higher);
  }
  ag_id far = closed_form(g, which, ag_apply2(g, AG_OP_MAX, w, bound));
  return ag_select(g, ag_apply2(g, AG_OP_LT, bound, w), far, near); /* where max has a corner, far is not read */
}

/* 1 + first hat(x) + second hat(x)^2 */
static ag_id in_powers(ag_graph *g, ag_id x, ag_id first, ag_id second) {
  ag_id hat = ag_hat(g, x), one = ag_eye(g, 3), linear = ag_mul(g, first, hat);
  ag_id square = ag_mul(g, second, ag_mul(g, hat, hat));
  return ag_add(g, ag_add(g, one, linear), square);
}

/* 1 / (1 + |x|^2 / 4), of the Cayley map */
static ag_id cayley_scale(ag_graph *g, ag_id x) {
  ag_id square = ag_dot(g, x, x), quarter = ag_mul(g, ag_num(g, 0.25), square), one = ag_num(g, 1);
  return ag_div(g, one, ag_add(g, one, quarter));
}

ag_id ag_tau(ag_graph *g, bool cayley, ag_id x) {
  if (cayley) {
    ag_id scale = cayley_scale(g, x);
    return ag_rotation(g, in_powers(g, x, scale, ag_mul(g, ag_num(g, 0.5), scale)));
  }
  ag_id w = ag_dot(g, x, x), first = function_of(g, SINE, w), second = function_of(g, COSINE, w);
  return ag_rotation(g, in_powers(g, x, first, second));
}

ag_id ag_dtau(ag_graph *g, bool cayley, ag_id x) {
  if (cayley) {
    ag_id hat = ag_hat(g, x), half = ag_mul(g, ag_num(g, 0.5), hat), sum = ag_add(g, ag_eye(g, 3), half);
    return ag_mul(g, cayley_scale(g, x), sum);
  }
  ag_id w = ag_dot(g, x, x), first = function_of(g, COSINE, w), second = function_of(g, CUBIC, w);
  return in_powers(g, x, first, second);
}

ag_id ag_dtau_inverse(ag_graph *g, bool cayley, ag_id x) {
  ag_id minus = ag_num(g, -0.5), quarter = ag_num(g, 0.25);
  if (!cayley) {
    ag_id second = function_of(g, COTANGENT, ag_dot(g, x, x));
    return in_powers(g, x, minus, second);
  }
  ag_id hat = ag_hat(g, x), half = ag_mul(g, minus, hat), outer = ag_mul(g, x, ag_transpose(g, x));
  ag_id square = ag_mul(g, quarter, outer), linear = ag_add(g, ag_eye(g, 3), half);
  return ag_add(g, linear, square);
}
