/* SPDX-License-Identifier: MIT
 * Isolated zeros against functions whose zeros are known: random products of linear factors, of sines, chords through
 * circles, narrow dips, jumps. No zero outside the brackets, no bracket without doubt with more than one, doubts only
 * where zeros lie too close together for the width of the curve, or an extremum lies within it. */
#include "run/isolate.h"

#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

enum { N_ROOT = 9, N_CASE = 10000, WORK = 20000 };

static uint64_t state = 7;
static double uniform(double lo, double hi) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

/* One function of x and t, with x(theta) = theta along the step (t from 0 to 1 as well). */
typedef struct subject {
  ag_graph *g;
  ag_id x, t;
  ag_tape *tape;
  ag_isolate *s;
} subject;

static void subject_begin(subject *q) {
  *q = (subject){.g = ag_graph_create()};
  q->x = ag_input(q->g, "x", 1, 1, AG_LEAF_REAL);
  q->t = ag_input(q->g, "t", 1, 1, AG_LEAF_REAL);
}

static bool subject_look(subject *q, ag_id f, double width) {
  ag_bind binds[] = {{q->x, AG_SEG_Z, 0}, {q->t, AG_SEG_T, 0}};
  q->tape = ag_tape_create(q->g, 2, binds, 1, &f);
  q->s = ag_isolate_of_tape(q->tape, NULL, false, 1, NULL, 0);
  double z = 0, rows[3] = {1, 0, 0}, b[4];
  ag_isolate_rows(1, 3, &z, rows, b);
  return ag_isolate_step(q->s, 0, 1, 3, b, &width, NULL, WORK, 0);
}

static void subject_free(subject *q) {
  ag_isolate_free(q->s);
  ag_tape_free(q->tape);
  ag_graph_free(q->g);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Every zero in a bracket; a bracket that is sure holds at most one. `apart`: the least distance of zeros that must be
 * told apart. */
static void judge(const subject *q, int n, double *roots, double apart) {
  int n_found, k = 0;
  const ag_bracket *b = ag_isolate_found(q->s, 0, &n_found);
  qsort(roots, (size_t)n, sizeof *roots, by_size);
  for (int i = 0; i < n_found; i++) {
    int first = k;
    while (k < n && roots[k] < b[i].from - 1e-14) k++;
    AG_CHECK(k == first); /* none before the bracket */
    while (k < n && roots[k] <= b[i].to + 1e-14) k++;
    if (!b[i].doubt) AG_CHECK(k - first <= 1);
    bool close = false;
    for (int j = 1; j < n; j++)
      close = close ||
              (roots[j] - roots[j - 1] < apart && roots[j] > b[i].from - apart && roots[j - 1] < b[i].to + apart);
    if (b[i].doubt) AG_CHECK(close);
  }
  AG_CHECK(k == n);
}

/* c (x - r1) ... (x - rn): a double zero of separation d has an extremum of about p'' d^2 / 8 between. */
static void test_products(void) {
  for (int c = 0; c < N_CASE; c++) {
    subject q;
    double roots[N_ROOT];
    int n = 1 + (int)uniform(0, N_ROOT);
    subject_begin(&q);
    ag_id f = ag_num(q.g, uniform(-3, 3));
    for (int i = 0; i < n; i++) {
      roots[i] = uniform(0.001, 0.999);
      if (i && uniform(0, 1) < 0.2) roots[i] = fmin(0.999, roots[i - 1] + pow(10, uniform(-6, -2)));
      ag_id factor = ag_sub(q.g, q.x, ag_num(q.g, roots[i]));
      f = ag_mul(q.g, f, factor);
    }
    int failed = ag_checks_failed;
    (void)subject_look(&q, f, 1e-13);
    judge(&q, n, roots, 1e-10);
    if (ag_checks_failed > failed) fprintf(stderr, "  product %d of %d factors\n", c, n);
    subject_free(&q);
    if (ag_checks_failed > failed) return;
  }
}

/* sin(a x + b): hundreds of zeros in one step. */
static void test_sines(void) {
  for (int c = 0; c < 100; c++) {
    subject q;
    double roots[400], a = pow(10, uniform(0, 3)), b = uniform(0.1, 3);
    int n = 0;
    subject_begin(&q);
    for (int k = 1; (k * M_PI - b) / a < 1; k++) roots[n++] = (k * M_PI - b) / a;
    ag_id angle = ag_add(q.g, ag_mul(q.g, ag_num(q.g, a), q.x), ag_num(q.g, b));
    AG_CHECK(subject_look(&q, ag_apply1(q.g, AG_OP_SIN, angle), 1e-12));
    judge(&q, n, roots, 0);
    subject_free(&q);
  }
}

/* 1 - 2 exp(-((x - c)/s)^2): a dip of width s, as narrow as 1e-7 of the step; and one that stays just above zero. */
static void test_dips(void) {
  for (int c = 0; c < 200; c++) {
    subject q;
    double at = uniform(0.1, 0.9), s = pow(10, uniform(-7, -1)), deep = c % 2 ? 2 : 0.999;
    subject_begin(&q);
    ag_id u = ag_div(q.g, ag_sub(q.g, q.x, ag_num(q.g, at)), ag_num(q.g, s));
    ag_id bell = ag_apply1(q.g, AG_OP_EXP, ag_neg(q.g, ag_mul(q.g, u, u)));
    bool sure = subject_look(&q, ag_sub(q.g, ag_num(q.g, 1), ag_mul(q.g, ag_num(q.g, deep), bell)), 1e-13);
    double half = s * sqrt(log(2)), roots[2] = {at - half, at + half};
    AG_CHECK(sure);
    judge(&q, c % 2 ? 2 : 0, roots, 0);
    subject_free(&q);
  }
}

/* A jump over zero and a pole are places in doubt, found without much work; a triple zero is one place. */
static void test_places(void) {
  for (int c = 0; c < 3; c++) {
    subject q;
    int n;
    subject_begin(&q);
    ag_id u = ag_sub(q.g, q.x, ag_num(q.g, 0.3)), f;
    if (c == 0) f = ag_add(q.g, ag_apply1(q.g, AG_OP_SIGN, u), ag_num(q.g, 0.25));
    else if (c == 1) f = ag_div(q.g, ag_num(q.g, 1), u);
    else f = ag_mul(q.g, ag_mul(q.g, u, u), u);
    AG_CHECK(!subject_look(&q, f, 1e-12));
    const ag_bracket *b = ag_isolate_found(q.s, 0, &n);
    AG_CHECK(n == 1 && b[0].doubt && b[0].from <= 0.3 && b[0].to >= 0.3);
    AG_CHECK(b[0].to - b[0].from < (c == 2 ? 1e-3 : 1e-9)); /* u^3 is below its width for |u| < 1e-4 or so */
    subject_free(&q);
  }
}

/* A function that is zero all along is one doubt, at once. */
static void test_nothing(void) {
  subject q;
  int n;
  subject_begin(&q);
  ag_id u = ag_apply1(q.g, AG_OP_SIN, q.x), v = ag_apply1(q.g, AG_OP_COS, q.x);
  ag_id sum = ag_add(q.g, ag_mul(q.g, u, u), ag_mul(q.g, v, v));
  ag_id one = ag_mul(q.g, sum, ag_sub(q.g, q.x, q.t));
  AG_CHECK(!subject_look(&q, one, 1e-9));
  const ag_bracket *b = ag_isolate_found(q.s, 0, &n);
  AG_CHECK(n == 1 && b[0].from == 0 && b[0].to == 1);
  subject_free(&q);
}

static double curve_at(int degree, double z, const double *rows, double theta) {
  double u = rows[degree - 1];
  for (int m = degree - 2; m >= 0; m--) u = rows[m] + (m % 2 ? theta : 1 - theta) * u;
  return z + theta * u;
}

/* Curves in the form of dense output and by values, against their values in between. */
static void test_curve(void) {
  for (int c = 0; c < 200; c++) {
    subject q;
    int n, degree = 3 + c % 5;
    double rows[AG_ISOLATE_DEGREE], b7[AG_ISOLATE_DEGREE + 1], z = uniform(-1, 1), width = 1e-13, level;
    for (int i = 0; i < degree; i++) rows[i] = uniform(-1, 1);
    subject_begin(&q);
    level = uniform(-1, 1);
    ag_id f = ag_sub(q.g, q.x, ag_num(q.g, level));
    ag_bind binds[] = {{q.x, AG_SEG_Z, 0}};
    q.tape = ag_tape_create(q.g, 1, binds, 1, &f);
    q.s = ag_isolate_of_tape(q.tape, NULL, false, 1, NULL, 0);
    if (c % 2) ag_isolate_rows(1, degree, &z, rows, b7);
    for (int i = 0; i <= AG_ISOLATE_DEGREE && c % 2 == 0; i++)
      b7[i] = curve_at(degree, z, rows, (double)i / AG_ISOLATE_DEGREE);
    if (c % 2 == 0) ag_isolate_nodes(1, b7);
    AG_CHECK(ag_isolate_step(q.s, 0, 1, c % 2 ? degree : AG_ISOLATE_DEGREE, b7, &width, NULL, WORK, 0));
    const ag_bracket *b = ag_isolate_found(q.s, 0, &n);
    double before = 0;
    int k = 0, crossings = 0;
    for (int i = 0; i <= 4000; i++) {
      double theta = i / 4000.0, v = curve_at(degree, z, rows, theta) - level;
      if (i && v * before < 0) {
        crossings++;
        while (k < n && b[k].to < theta - 1 / 4000.0) k++;
        AG_CHECK(k < n && b[k].from <= theta && !b[k].doubt);
      }
      before = v;
    }
    AG_CHECK(n >= crossings);
    subject_free(&q);
  }
}

int main(void) {
  test_products();
  test_sines();
  test_dips();
  test_places();
  test_nothing();
  test_curve();
  return ag_check_report();
}
