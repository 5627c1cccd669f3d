/* SPDX-License-Identifier: MIT
 * Admissible velocities as formulas: S K = 0 and S y0 + s = 0 at random places, for random rows of polynomials in a
 * cosine, a sine and a length; the columns are independent; what is too large is left alone. */
#include "tests/mech_models.h"

enum { MAX = 8, PLACES = 5 };

typedef struct scene {
  derive d;
  ag_id th, r, words[6]; /* words: what entries are made of */
  unsigned seed;
} scene;

static int draw(scene *x, int n) {
  x->seed = x->seed * 1664525u + 1013904223u;
  return (int)((x->seed >> 16) % (unsigned)n);
}

static ag_id entry(scene *x) {
  ag_graph *g = x->d.g;
  ag_id factor = x->words[draw(x, 6)], term = ag_mul(g, ag_num(g, draw(x, 7) - 3), factor);
  return draw(x, 3) ? term : ag_add(g, term, x->words[draw(x, 6)]);
}

/* Rows S (k x n) with k columns that are triangular, so that their rank is k somewhere. */
static ag_id rows(scene *x, int k, int n) {
  ag_id e[MAX * MAX];
  for (int i = 0; i < k; i++)
    for (int j = 0; j < n; j++) e[i * n + j] = j == i ? x->words[1] : j < k && j < i ? x->words[0] : entry(x);
  return ag_stack(x->d.g, k, n, e);
}

/* S times the columns of K, plus s times the row (or none), at a place; the largest entry. */
static double off(scene *x, ag_id S, ag_id K, ag_id s, const double *at) {
  double v[3][MAX * MAX], worst = 0;
  ag_id outs[3] = {S, K, s};
  int k = ag_node_rows(x->d.g, S), n = ag_node_cols(x->d.g, S), m = ag_node_cols(x->d.g, K);
  for (int i = 0; i < 3; i++)
    if (outs[i]) (void)ag_evaluate(x->d.g, 2, (ag_id[]){x->th, x->r}, at, 1, &outs[i], v[i]);
  for (int i = 0; i < k; i++)
    for (int c = 0; c < m; c++) {
      double sum = s ? v[2][i] : 0, size = fabs(sum);
      for (int j = 0; j < n; j++)
        sum += v[0][i * n + j] * v[1][j * m + c], size += fabs(v[0][i * n + j] * v[1][j * m + c]);
      worst = fmax(worst, fabs(sum) / fmax(1, size));
    }
  return worst;
}

static void check(scene *x, int k, int n) {
  ag_id S = rows(x, k, n), e[MAX], y0 = 0;
  for (int i = 0; i < k; i++) e[i] = entry(x);
  ag_id s = ag_stack(x->d.g, k, 1, e), K = ag_kernel(&x->d, S, s, &y0);
  AG_CHECK(K && ag_node_rows(x->d.g, K) == n && ag_node_cols(x->d.g, K) == n - k);
  for (int p = 0; K && p < PLACES; p++) {
    double at[2] = {0.3 + p, 0.7 + 0.2 * p};
    /* each entry is a sum of at most 8 products of formulas of some ten terms, rounded relative to their size */
    AG_CHECK(off(x, S, K, 0, at) < 1e-13);
    AG_CHECK(off(x, S, y0, s, at) < 1e-11); /* y0 is divided by a minor, which may be small here */
  }
}

/* x' sin th = y' cos th and a wheel: the textbook's (cos th, sin th, 0) and (0, 0, 1). */
static void check_sleigh(scene *x) {
  ag_graph *g = x->d.g;
  ag_id c = x->words[2], s = x->words[3], y0, zero = ag_num(g, 0);
  ag_id S = ag_stack(g, 1, 3, (ag_id[]){ag_neg(g, s), c, zero}), K = ag_kernel(&x->d, S, zero, &y0);
  ag_id hand[6] = {c, zero, s, zero, zero, ag_num(g, 1)};
  AG_CHECK(K == ag_stack(g, 3, 2, hand));
}

/* A blade with normal speed r: a particular velocity is r times its normal, at every heading, although each minor of
 * the row vanishes at some. */
static void check_normal_speed(scene *x) {
  ag_graph *g = x->d.g;
  ag_id c = x->words[2], s = x->words[3], y0, zero = ag_num(g, 0);
  ag_id S = ag_stack(g, 1, 3, (ag_id[]){ag_neg(g, s), c, zero});
  AG_CHECK(ag_kernel(&x->d, S, ag_neg(g, x->r), &y0));
  AG_CHECK(y0 == ag_stack(g, 3, 1, (ag_id[]){ag_neg(g, ag_mul(g, x->r, s)), ag_mul(g, x->r, c), zero}));
}

/* Two wheels at distance b from the middle, heading th: speed and rate of turning by the mean and the difference of
 * what the wheels roll, none of it divided by a determinant with sines. And S y = b for random formulas. */
static void check_solve(scene *x) {
  ag_graph *g = x->d.g;
  ag_id c = x->words[2], s = x->words[3], zero = ag_num(g, 0), two = ag_num(g, 2), less = ag_neg(g, two);
  ag_id S[9] = {ag_neg(g, s), c, zero, c, s, two, c, s, less}, b[3] = {zero, x->r, x->words[1]};
  ag_id y = ag_kernel_solve(g, 3, S, b);
  AG_CHECK(y && ag_normal_size(g, ag_entry(g, y, 2, 0)) <= 6);                       /* (r - 1)/4 */
  AG_CHECK(!ag_kernel_solve(g, 3, (ag_id[]){c, s, zero, c, s, two, c, s, less}, b)); /* singular */
  for (int k = 3; k <= 4; k++)
    for (int trial = 0; trial < 6; trial++) {
      ag_id A = rows(x, k, k), e[16], right[4];
      for (int i = 0; i < k * k; i++) e[i] = ag_entry(g, A, i / k, i % k);
      for (int i = 0; i < k; i++) right[i] = entry(x);
      if (!(y = ag_kernel_solve(g, k, e, right))) continue;
      ag_id minus = ag_neg(g, ag_stack(g, k, 1, right));
      for (int p = 0; p < PLACES; p++) AG_CHECK(off(x, A, y, minus, (double[]){0.3 + p, 0.7 + 0.2 * p}) < 1e-13);
    }
}

/* [r*v[1]/2, r*v[2]/2, r*v[3]/2] = (r/2)*v, and nothing else. */
static void check_vectors(scene *x) {
  ag_graph *g = x->d.g;
  ag_id v = ag_input(g, "w", 3, 1, AG_LEAF_REAL), e[3], two = ag_num(g, 2), c = x->words[2];
  for (int k = 0; k < 3; k++) e[k] = ag_neg(g, ag_div(g, ag_mul(g, x->r, ag_entry(g, v, k, 0)), c));
  ag_id whole = ag_stack(g, 3, 1, e), factor = ag_neg(g, ag_div(g, x->r, c));
  AG_CHECK(ag_as_vector(g, whole) == ag_mul(g, factor, v));
  e[2] = ag_mul(g, two, e[2]);
  ag_id mixed = ag_stack(g, 3, 1, e);
  AG_CHECK(ag_as_vector(g, mixed) == mixed);
  e[0] = ag_add(g, e[0], x->r);
  ag_id sum = ag_stack(g, 3, 1, e);
  AG_CHECK(ag_as_vector(g, sum) == sum && ag_as_vector(g, v) == v);
  /* a diagonal matrix is divided by, row by row */
  ag_id zero = ag_num(g, 0), S[9] = {c, zero, zero, zero, x->r, zero, zero, zero, two};
  ag_id y = ag_kernel_solve(g, 3, S, (ag_id[]){two, two, x->r});
  AG_CHECK(ag_entry(g, y, 1, 0) == ag_div(g, two, x->r) && ag_entry(g, y, 2, 0) == ag_div(g, x->r, two));
}

int main(void) {
  ag_model *m = ag_model_create("formulas");
  ag_graph *g = m->graph;
  scene x = {.d = {.m = m, .g = g}, .seed = 7};
  int th = scalar(m, "th", AG_SPACE_S1), r = scalar(m, "r", AG_SPACE_R);
  x.th = m->coords[th].q;
  x.r = m->coords[r].q;
  ag_id q[2] = {x.th, x.r};
  x.d.nc = 2, x.d.q = q;
  ag_id words[6] = {ag_num(g, 0),
                    ag_num(g, 1),
                    ag_apply1(g, AG_OP_COS, x.th),
                    ag_apply1(g, AG_OP_SIN, x.th),
                    x.r,
                    ag_mul(g, x.r, ag_apply1(g, AG_OP_SIN, x.th))};
  memcpy(x.words, words, sizeof words);
  check_sleigh(&x);
  check_normal_speed(&x);
  check_solve(&x);
  check_vectors(&x);
  for (int k = 1; k <= 4; k++)
    for (int n = k + 1; n <= k + 2; n++)
      for (int trial = 0; trial < 6; trial++) check(&x, k, n);
  ag_id y0, wide = rows(&x, 2, 8), none = ag_num(g, 0);
  ag_id nine[9] = {x.r, x.r, x.r, x.r, x.r, x.r, x.r, x.r, x.r};
  AG_CHECK(ag_kernel(&x.d, wide, ag_stack(g, 2, 1, (ag_id[]){none, none}), &y0) != 0);
  AG_CHECK(ag_kernel(&x.d, ag_stack(g, 1, 9, nine), none, &y0) == 0); /* more than 8 velocities: not as formulas */
  ag_model_free(m);
  return ag_check_report();
}
