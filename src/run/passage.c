/* SPDX-License-Identifier: MIT
 * First passage through a level, with crossings inside steps. Between the ends y0 and y1 of a step of length h a
 * quantity with the variance rate s2 counts as a Brownian bridge with v = s2 h. With the distances a and b of the ends
 * from the level, both on the same side, it has crossed with the probability exp(-2 a b/v). The time of the first
 * crossing is then h r/(1 + r), where r has the inverse Gaussian law with mean a/|b| and shape a^2/v: exact where drift
 * and s2 are constant, and with an error of order h otherwise. */
#include "run/passage.h"

#include <math.h>

#include "expr/vmath.h"

/* Draws of step k for passage i, from numbers of their own. */
static void draw(const ag_wiener *path, unsigned long long member, unsigned long long k, int i, double u[2]) {
  ag_wiener w = *path;
  w.purpose = AG_WIENER_CROSSING;
  ag_wiener_uniform(&w, member, k, 2 * i, u);
}

static double draw_normal(const ag_wiener *path, unsigned long long member, unsigned long long k, int i) {
  double u[2];
  ag_wiener w = *path;
  w.purpose = AG_WIENER_CROSSING;
  ag_wiener_uniform(&w, member, k, 2 * i + 1, u);
  return sqrt(-2 * v_log(u[0])) * v_cos(6.283185307179586 * u[1]);
}

/* Inverse Gaussian (Michael, Schucany, Haas 1976), written so that a large mean does no harm. */
double ag_passage_inverse_gaussian(double mean, double shape, double normal, double u) {
  const double w = mean * normal * normal / (2 * shape), x = mean / (1 + w + sqrt(w * (w + 2)));
  return u * (mean + x) <= mean ? x : mean / x * mean;
}

/* The part of the step after which the level is reached. */
static double inside(double a, double b, double v, double normal, double u) {
  if (!(v > 0)) return a / (a + b);
  const double r = ag_passage_inverse_gaussian(b > 1e-150 * a ? a / b : 1e150, a * a / v, normal, u);
  return r < 1e15 ? r / (1 + r) : 1;
}

void ag_passage_begin(ag_passage_state *s, double level, double t0, double y, double s2) {
  *s = (ag_passage_state){.side = y < level ? 1 : -1, .y = y, .s2 = s2, .time = y == level ? t0 : NAN};
}

void ag_passage_look(ag_passage_state *s, const ag_passage_step *p, int i, unsigned long long member,
                     unsigned long long k, double y, double s2) {
  double u[2];
  const double a = s->side * (p->level - s->y), b = s->side * (p->level - y), v = s->s2 * p->h;
  s->y = y, s->s2 = s2;
  if (!isnan(s->time)) return;
  const double chance = b <= 0 ? 0 : v > 0 ? -2 * a * b / v : -INFINITY; /* its logarithm */
  if (!(chance > -50)) return;
  draw(p->path, member, k, i, u);
  if (!(b <= 0 || u[0] < v_exp(chance))) return;
  s->time = p->t0 + ((double)k + inside(a, fabs(b), v, draw_normal(p->path, member, k, i), u[1])) * p->h;
}
