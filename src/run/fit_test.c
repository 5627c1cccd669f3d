/* SPDX-License-Identifier: MIT
 * Pieces of a function that is known by its values alone: they cover the step from left to right, each shows at most
 * one change of sign, and their ends show every one. */
#include "run/fit.h"

#include <math.h>

#include "tests/check.h"

enum { MOST = 1000 };

typedef struct subject {
  double (*f)(double theta);
  int n_value, n_piece, n_sign;
  double at, value; /* the last end of a piece */
  double crossing[MOST];
} subject;

static double value(void *self, double theta) {
  subject *s = self;
  s->n_value++;
  return s->f(theta);
}

static void see(void *self, double last, double theta, double v) {
  subject *s = self;
  AG_CHECK(last == s->at && theta > last && v == s->f(theta));
  if (s->value * v < 0 && s->n_sign < MOST) s->crossing[s->n_sign++] = 0.5 * (last + theta);
  s->at = theta, s->value = v, s->n_piece++;
}

static subject pieces(double (*f)(double theta)) {
  subject s = {.f = f, .value = f(0)};
  ag_fit_pieces(&s, value, see);
  AG_CHECK(s.at == 1);
  return s;
}

static double positive(double x) { return 2 + cos(3 * x); }
static double rising(double x) { return exp(x) - 1.5; }
static double two(double x) { return (x - 0.52) * (x - 0.53); }
static double wave(double x) { return sin(40 * x + 0.3); }
static double jump(double x) { return x < 0.3 ? -1 : 1; }
static double touch(double x) { return (x - 0.37) * (x - 0.37); }

int main(void) {
  subject s = pieces(positive);
  AG_CHECK(s.n_piece == 1 && s.n_sign == 0);
  s = pieces(rising);
  AG_CHECK(s.n_piece == 1 && s.n_sign == 1);
  s = pieces(two); /* both crossings, which lie in one of the first pieces */
  AG_CHECK(s.n_sign == 2);
  s = pieces(wave); /* zeros at (k pi - 0.3)/40, k = 1 .. 12 */
  AG_CHECK(s.n_sign == 12);
  for (int k = 0; k < s.n_sign; k++) AG_CHECK_NEAR(s.crossing[k], ((k + 1) * M_PI - 0.3) / 40, M_PI / 80);
  s = pieces(jump); /* halved until the depth, or the work, ends; the jump is seen once */
  AG_CHECK(s.n_sign == 1 && s.n_value <= 9 * 200);
  AG_CHECK_NEAR(s.crossing[0], 0.3, 1e-6);
  s = pieces(touch); /* nothing crosses, and the work is limited */
  AG_CHECK(s.n_sign == 0 && s.n_value <= 9 * 200);
  return ag_check_report();
}
