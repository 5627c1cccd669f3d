/* SPDX-License-Identifier: MIT
 * Implicit surfaces f(X) = 0: where the Newton steps towards a normal begin and how many there are. They begin on
 *   |X1/a|^p + |X2/b|^p + |X3/c|^p = 1,
 * whose point with the normal n is X_i = a_i sign(n_i) |a_i n_i|^(q - 1)/(sum |a_k n_k|^q)^(1/p), q = p/(p - 1). The
 * half axes are those of f; p = 2 (an ellipsoid) or near the power with which f grows, x f'(x)/(f(x) - f(0)) on its
 * axes: from an ellipsoid the steps towards the sides of something like a box would first go far beyond. Both are tried
 * on normals all around, with the parameters as they are. */
#include <math.h>

#include "model/body_internal.h"

enum { MOST_STEPS = 16, LEAST_STEPS = 4, NORMALS = 200, POWERS = 3 };

ag_id ag_implicit_start(ag_graph *g, const ag_surface *s, ag_id n) {
  if (s->power <= 2) {
    ag_surface start = {.kind = AG_SURFACE_ELLIPSOID, .a = s->a, .b = s->b, .c = s->c};
    return ag_surface_point(g, &start, n);
  }
  ag_id half[3] = {s->a, s->b, s->c}, e[3], sum = 0, less = ag_num(g, 1 / (s->power - 1));
  for (int i = 0; i < 3; i++) {
    ag_id scaled = ag_mul(g, half[i], ag_entry(g, n, i, 0)), size = ag_apply1(g, AG_OP_ABS, scaled);
    ag_id root = ag_pow(g, size, less), share = ag_mul(g, size, root);
    e[i] = ag_mul(g, half[i], ag_mul(g, ag_apply1(g, AG_OP_SIGN, scaled), root));
    sum = sum ? ag_add(g, sum, share) : share;
  }
  ag_id size = ag_pow(g, sum, ag_num(g, 1 / s->power));
  return ag_div(g, ag_stack(g, 3, 1, e), size);
}

/* ---- the same in numbers ---- */

typedef struct numbers {
  ag_tape *tape; /* X -> f, its gradient, its second derivatives */
  double *slots, half[3];
} numbers;

static void look(const numbers *k, const double X[3], double v[13]) {
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_Z] = X};
  (void)ag_tape_eval(k->tape, seg, k->slots, v);
}

static void first_point(const numbers *k, double p, const double n[3], double X[3]) {
  double sum = 0;
  for (int i = 0; i < 3; i++) sum += pow(fabs(k->half[i] * n[i]), p / (p - 1));
  for (int i = 0; i < 3; i++)
    X[i] = k->half[i] * copysign(pow(fabs(k->half[i] * n[i]), 1 / (p - 1)), n[i]) / pow(sum, 1 / p);
}

/* H x = b for a symmetric H by Cramer's rule: its rows are its columns. */
static void solve3(const double H[9], const double b[3], double x[3]) {
  double det = 0;
  for (int i = 0; i < 3; i++) {
    const double *r = H + 3 * ((i + 1) % 3), *s = H + 3 * ((i + 2) % 3);
    double c[3] = {r[1] * s[2] - r[2] * s[1], r[2] * s[0] - r[0] * s[2], r[0] * s[1] - r[1] * s[0]};
    if (!i) det = H[0] * c[0] + H[1] * c[1] + H[2] * c[2];
    x[i] = (b[0] * c[0] + b[1] * c[1] + b[2] * c[2]) / det;
  }
}

/* Number of steps until one of them is negligible; more than MOST_STEPS: too many. */
static int steps_to(const numbers *k, double p, const double n[3]) {
  double X[3], v[13];
  first_point(k, p, n, X);
  for (int step = 1; step <= MOST_STEPS; step++) {
    look(k, X, v);
    double u[3], w[3], gu = 0, gw = 0, moved = 0, size = 0;
    solve3(v + 4, v + 1, u);
    solve3(v + 4, n, w);
    for (int i = 0; i < 3; i++) gu += v[1 + i] * u[i], gw += v[1 + i] * w[i];
    for (int i = 0; i < 3; i++) {
      double d = (gu - v[0]) / gw * w[i] - u[i];
      X[i] += d;
      moved += d * d;
      size += X[i] * X[i];
    }
    if (!isfinite(size)) break;
    if (moved < 1e-18 * size) return step;
  }
  return MOST_STEPS + 1;
}

/* For NORMALS in all directions: how many are not reached; *steps: the largest number of steps among the others. */
static int unreached(const numbers *k, double p, int *steps) {
  int lost = 0;
  *steps = LEAST_STEPS;
  for (int i = 0; i < NORMALS; i++) {
    double z = (2 * i + 1.0) / NORMALS - 1, across = sqrt(1 - z * z), angle = 2.399963229728653 * i + 0.3;
    double n[3] = {across * cos(angle), across * sin(angle), z};
    int took = steps_to(k, p, n);
    if (took > MOST_STEPS) lost++;
    else if (took > *steps) *steps = took;
  }
  return lost;
}

/* x f'(x)/(f(x) - f(0)) where f = 0, averaged over both sides of the axes. */
static double growth(const numbers *k) {
  double v[13], X[3] = {0}, sum = 0;
  look(k, X, v);
  double deep = -v[0];
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 3; j++) X[j] = 0;
    X[i / 2] = i % 2 ? -k->half[i / 2] : k->half[i / 2];
    look(k, X, v);
    sum += X[i / 2] * v[1 + i / 2] / deep / 6;
  }
  return sum;
}

void ag_implicit_settle(ag_model *m, ag_surface *s) {
  ag_graph *g = m->graph;
  ag_id one = ag_num(g, 1), x[3] = {s->f}, half[3] = {s->a, s->b, s->c};
  ag_reverse(g, 1, &s->f, &one, 1, &s->p, &x[1]);
  x[2] = ag_jacobian(g, x[1], 1, &s->p);
  ag_body_parameters(m, 3, x);
  ag_bind bind = {s->p, AG_SEG_Z, 0};
  numbers k = {.tape = ag_tape_create(g, 1, &bind, 3, x)};
  bool known = true;
  for (int i = 0; i < 3; i++) known = ag_body_number(m, half[i], &k.half[i]) && known;
  AG_ASSERT(known);
  k.slots = ag_heap_alloc(sizeof(double) * (size_t)(k.tape->n_slot + 1));
  (void)ag_tape_prep(k.tape, NULL, k.slots);
  double grows = fmin(growth(&k), 40), power[POWERS] = {2, 1 + grows / 2, grows};
  int fewest = NORMALS + 1, steps;
  for (int i = 0; i < POWERS; i++) {
    if (i && !(power[i] > 2.01)) continue;
    int lost = unreached(&k, power[i], &steps);
    if (lost > fewest || (lost == fewest && steps >= s->steps)) continue;
    fewest = lost;
    s->power = power[i];
    s->steps = steps;
  }
  s->steps++; /* for normals between those that were tried */
  free(k.slots);
  ag_tape_free(k.tape);
}
