/* SPDX-License-Identifier: MIT
 * Wiener paths: known answers of the generator, one path at every step size, statistics with fixed seeds. */
#include <stdint.h>
#include <stdlib.h>

#include "expr/vmath.h"
#include "step/step.h"
#include "step/wiener_core.h"
#include "tests/check.h"

/* Published with the generator (Random123, kat_vectors). */
static void test_known_answers(void) {
  static const struct {
    uint32_t c[4], k[2], out[4];
  } rows[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    VI c[4];
    for (int i = 0; i < 4; i++) c[i] = rows[r].c[i];
    wiener_philox(c, rows[r].k[0], rows[r].k[1]);
    for (int i = 0; i < 4; i++) AG_CHECK((uint32_t)c[i] == rows[r].out[i]);
  }
}

/* The functions of Box and Muller against the library of the machine: a few units in the last place. */
static void test_transform(void) {
  uint64_t state = 7;
  for (int i = 0; i < 20000; i++) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    uint64_t bits = i == 0 ? 0 : i == 1 ? ~0ULL : i < 60 ? 1ULL << (i + 4) : state;
    double u = wiener_unit(bits >> 32, bits), c, s;
    AG_CHECK(u > 0 && u < 1);
    AG_CHECK_NEAR(wiener_radius(u) / sqrt(-2 * log(u)), 1, 1e-15);
    wiener_turn(u, &c, &s);
    AG_CHECK_NEAR(c, cos(2 * 3.14159265358979323846 * u), 1e-15);
    AG_CHECK_NEAR(s, sin(2 * 3.14159265358979323846 * u), 1e-15);
    AG_CHECK_NEAR(c * c + s * s, 1, 6e-16);
  }
}

enum { CHANNELS = 3, AREAS = 3, SIZE = 1 + CHANNELS + AREAS };

static void take(const ag_wiener *w, v_word path, v_word k, double *out) {
  double work[2048];
  AG_CHECK(ag_wiener_work(w, true) <= 2048 && ag_wiener_size(w, true) == SIZE);
  ag_wiener_step(w, path, k, true, out, work);
  double plain[SIZE];
  ag_wiener_step(w, path, k, false, plain, work);
  AG_CHECK(memcmp(plain, out, (1 + CHANNELS) * sizeof *out) == 0); /* areas change nothing else */
}

/* a followed by b, by Chen's relation. */
static void join(const double *a, const double *b, double *out) {
  const double *x = a + 1, *y = b + 1;
  double r[SIZE];
  for (int i = 0; i <= CHANNELS; i++) r[i] = a[i] + b[i];
  for (int i = 0, at = 1 + CHANNELS; i < CHANNELS; i++)
    for (int j = i + 1; j < CHANNELS; j++, at++) r[at] = a[at] + b[at] + 0.5 * (x[i] * y[j] - x[j] * y[i]);
  memcpy(out, r, sizeof r);
}

/* A step is its two halves: increments exactly where sqrt(base) is a power of two, areas to rounding. */
static void test_refinement(void) {
  for (int e = 0; e <= 10; e += 5) {
    ag_wiener w = {.seed = 0x123456789abcdefULL, .base = ldexp(1, -e), .channels = CHANNELS, .area_level = 6};
    const double tolerance = e % 2 ? 2e-16 : 0;
    for (int level = -3; level < 8; level++)
      for (v_word k = 0; k < 40; k++) {
        double whole[SIZE], left[SIZE], right[SIZE], both[SIZE];
        ag_wiener coarse = w, fine = w;
        coarse.level = level > 0 ? level : 0, coarse.multiple = level < 0 ? 1 << -level : 1;
        fine.level = level + 1 > 0 ? level + 1 : 0, fine.multiple = level + 1 < 0 ? 1 << (-level - 1) : 1;
        take(&coarse, k % 5, k * 1000003, whole);
        take(&fine, k % 5, 2 * k * 1000003, left);
        take(&fine, k % 5, 2 * k * 1000003 + 1, right);
        join(left, right, both);
        AG_CHECK(whole[0] == both[0]);
        for (int i = 1; i <= CHANNELS; i++) AG_CHECK(fabs(whole[i] - both[i]) <= tolerance * sqrt(whole[0]) * 8);
        for (int i = 1 + CHANNELS; i < SIZE; i++) {
          if (coarse.level < w.area_level) AG_CHECK_NEAR(both[i], whole[i], 1e-14 * whole[0]);
          else AG_CHECK(whole[i] == 0); /* straight by definition */
        }
      }
  }
  /* down to the last level nothing is lost */
  ag_wiener deep = {.seed = 3, .base = 1, .channels = 1, .multiple = 1, .level = AG_WIENER_LEVELS};
  double sum = 0, out[2], work[4], whole[2];
  for (v_word k = 0; k < 1 << 6; k++) ag_wiener_step(&deep, 9, (77ULL << 24) + k, false, out, work), sum += out[1];
  deep.level -= 6;
  ag_wiener_step(&deep, 9, 77ULL << 18, false, whole, work);
  AG_CHECK(sum == whole[1] && sum != 0);
}

/* The area of straight pieces, summed directly. */
static void test_direct_area(void) {
  ag_wiener w = {.seed = 5, .base = 0.25, .channels = CHANNELS, .multiple = 2, .area_level = 5}, leaf = w;
  leaf.multiple = 1, leaf.level = w.area_level;
  double out[SIZE], piece[SIZE], at[CHANNELS] = {0}, area = 0;
  take(&w, 3, 4, out);
  for (v_word k = 0; k < 64; k++) {
    take(&leaf, 3, 4 * 64 + k, piece);
    area += 0.5 * (at[0] * piece[3] - at[2] * piece[1]);
    for (int i = 0; i < CHANNELS; i++) at[i] += piece[1 + i];
    for (int i = 0; i < AREAS; i++) AG_CHECK(piece[1 + CHANNELS + i] == 0);
  }
  AG_CHECK_NEAR(out[1 + CHANNELS + 1], area, 1e-14);
}

/* ---- statistics; a z beyond 4.5 has probability 7e-6 and the seeds are fixed ---- */

typedef struct sums {
  double n, m1, m2, m3, m4;
} sums;
static void add(sums *s, double x) { s->n++, s->m1 += x, s->m2 += x * x, s->m3 += x * x * x, s->m4 += x * x * x * x; }
static void check_normal(const sums *s) { /* variances of x, x^2, x^3, x^4: 1, 2, 15, 96 */
  AG_CHECK(fabs(s->m1 / sqrt(s->n)) < 4.5);
  AG_CHECK(fabs((s->m2 - s->n) / sqrt(2 * s->n)) < 4.5);
  AG_CHECK(fabs(s->m3 / sqrt(15 * s->n)) < 4.5);
  AG_CHECK(fabs((s->m4 - 3 * s->n) / sqrt(96 * s->n)) < 4.5);
}

static void test_statistics(void) {
  enum { N = 100000 };
  ag_wiener w = {.seed = 42, .base = 1, .channels = CHANNELS, .multiple = 1, .area_level = 3};
  sums plain = {0}, bridge = {0}, mixed[6] = {0};
  double area2 = 0, tail = 0, work[2048];
  for (v_word path = 0; path < N; path++) {
    double a[SIZE], b[SIZE], c[SIZE];
    ag_wiener other = w, half = w;
    other.purpose = AG_WIENER_START, half.level = 1;
    ag_wiener_step(&w, path, 0, true, a, work);
    ag_wiener_step(&w, path, 1, false, b, work);
    ag_wiener_step(&half, path, 0, false, c, work);
    const double left = a[1] / 2 + (c[1] - a[1] / 2), e = 2 * (c[1] - a[1] / 2);
    AG_CHECK(left == c[1]);
    add(&plain, a[1]), add(&bridge, e);
    add(&mixed[0], (a[1] + a[2]) * sqrt(0.5));                                 /* channels */
    add(&mixed[1], (a[1] + b[1]) * sqrt(0.5));                                 /* times */
    add(&mixed[2], (a[1] + e) * sqrt(0.5));                                    /* nodes */
    add(&mixed[3], (a[1] + ag_wiener_normal(&other, path, 0, 0)) * sqrt(0.5)); /* purposes */
    add(&mixed[4], (a[1] + ag_wiener_normal(&w, path ^ 1, 0, 0)) * sqrt(0.5)); /* cosine and sine */
    add(&mixed[5], (a[1] + ag_wiener_normal(&w, path + (1ULL << 33), 0, 0)) * sqrt(0.5));
    area2 += a[4] * a[4], tail += fabs(a[1]) > 3;
  }
  check_normal(&plain), check_normal(&bridge);
  for (int i = 0; i < 5; i++) check_normal(&mixed[i]);
  check_normal(&mixed[5]);
  /* of 8 straight pieces: E A^2 = (1 - 1/8)/4, E A^4 < 5/16 (that of the whole area) */
  AG_CHECK(fabs(area2 / N - 0.25 * (1 - 1.0 / 8)) < 4.5 * sqrt(5.0 / 16 / N));
  const double p = 2.6997960632601866e-3; /* P(|x| > 3) */
  AG_CHECK(fabs(tail - N * p) < 4.5 * sqrt(N * p));
}

/* Neighbouring steps change places, with their areas and halves. */
static void test_swap(void) {
  for (int level = 0; level < 3; level++)
    for (int draws = AG_WIENER_PLAIN; draws <= AG_WIENER_HALVES; draws++) {
      ag_wiener w = {.seed = 8, .base = 1, .channels = CHANNELS, .multiple = 1, .level = level, .area_level = 4}, s = w;
      s.swap = 1;
      for (v_word k = 0; k < 6; k++) {
        double a[2 + 2 * CHANNELS], b[2 + 2 * CHANNELS], work[2048];
        AG_CHECK(ag_wiener_work(&w, draws) <= 2048 && ag_wiener_size(&w, draws) <= 2 + 2 * CHANNELS);
        ag_wiener_step(&w, 3, k, draws, a, work);
        ag_wiener_step(&s, 3, k % 2 ? k - 1 : k + 1, draws, b, work);
        AG_CHECK(memcmp(a, b, sizeof(double) * ag_wiener_size(&w, draws)) == 0);
      }
    }
}

/* Mirrored pairs; every field of the counter and the seed count. */
static void test_fields(void) {
  ag_wiener w = {.seed = 1, .base = 1, .channels = 1, .multiple = 1}, m = w;
  m.mirror = 1;
  for (v_word path = 0; path < 6; path += 2) {
    AG_CHECK(ag_wiener_normal(&m, path, 3, 0) == ag_wiener_normal(&w, path, 3, 0));
    AG_CHECK(ag_wiener_normal(&m, path + 1, 3, 0) == -ag_wiener_normal(&w, path, 3, 0));
  }
  double x[64], u[2], v[2];
  int n = 0;
  for (int bit = 1; bit < 48; bit += 6) x[n++] = ag_wiener_normal(&w, 1ULL << bit, 0, 0);
  for (int bit = 0; bit < 32; bit += 5) x[n++] = ag_wiener_normal(&w, 0, 1ULL << bit, 0);
  for (int bit = 0; bit < 16; bit += 3) x[n++] = ag_wiener_normal(&w, 0, 0, 1 << bit);
  for (int bit = 0; bit < 64; bit += 9) w.seed = 1 ^ 1ULL << bit, x[n++] = ag_wiener_normal(&w, 0, 0, 0);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) AG_CHECK(x[i] != x[j]);
  ag_wiener_uniform(&w, 5, 1, 0, u), ag_wiener_uniform(&w, 4, 1, 0, v);
  AG_CHECK(u[0] > 0 && u[0] < 1 && u[0] != u[1] && u[0] != v[0]);
}

/* Coins: the increments are those without, coins are fair and do not follow them (four standard deviations of 1/2), a
 * mirrored path has the other side, and the coin of a longer step is that of its first part. */
static void test_coins(void) {
  enum { M = 2, N = 4096 };
  const ag_wiener w = {.seed = 3, .base = 0.5, .channels = M, .multiple = 1};
  ag_wiener mirror = w, coarse = w, fine = w;
  mirror.mirror = 1, coarse.multiple = 4, fine.level = 2;
  double a[2 * M + 2], b[2 * M + 2], plain[M + 1], work[64];
  int heads = 0, odd_heads = 0, with = 0, again = 0;
  for (v_word k = 0; k < N; k++) {
    const bool before = k && a[M + 1] > 0;
    ag_wiener_step(&w, 6, k, AG_WIENER_COIN, a, work);
    ag_wiener_step(&w, 6, k, AG_WIENER_PLAIN, plain, work);
    AG_CHECK(!memcmp(a, plain, sizeof plain) && !memcmp(a + M + 2, a + 1, M * sizeof *a) && fabs(a[M + 1]) == 0.5);
    heads += a[M + 1] > 0, with += (a[M + 1] > 0) == (a[1] > 0), again += (a[M + 1] > 0) == before;
    ag_wiener_step(&w, 7, k, AG_WIENER_COIN, b, work);
    odd_heads += (b[M + 1] > 0) == (a[M + 1] > 0);
    ag_wiener_step(&mirror, 7, k, AG_WIENER_COIN, b, work);
    AG_CHECK(b[M + 1] == -a[M + 1] && b[1] == -a[1]);
    ag_wiener_step(&fine, 6, 4 * k, AG_WIENER_COIN, b, work);
    AG_CHECK(b[M + 1] == a[M + 1] / 4);
    ag_wiener_step(&coarse, 6, k, AG_WIENER_COIN, b, work);
    ag_wiener_step(&w, 6, 4 * k, AG_WIENER_COIN, a, work);
    AG_CHECK(b[M + 1] == 4 * a[M + 1]);
    ag_wiener_step(&w, 6, k, AG_WIENER_COIN, a, work);
  }
  const int counts[] = {heads, odd_heads, with, again};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) AG_CHECK(abs(counts[i] - N / 2) <= 4 * 32);
}

/* Uniform numbers of tests: mean and variance within four standard deviations, also of their product with the increment
 * and with the number before; a mirrored path has 1 - u; halves are as without. */
static void test_trials(void) {
  enum { M = 2, N = 4096 };
  const ag_wiener w = {.seed = 3, .base = 0.5, .channels = M, .multiple = 1};
  ag_wiener mirror = w;
  mirror.mirror = 1;
  double a[2 * M + 3], b[2 * M + 3], halves[2 * M + 2], work[64], before = 0, sum[5] = {0};
  for (v_word k = 0; k < N; k++) {
    ag_wiener_step(&w, 6, k, AG_WIENER_TRIAL, a, work);
    ag_wiener_step(&w, 6, k, AG_WIENER_HALVES, halves, work);
    AG_CHECK(!memcmp(a, halves, sizeof halves) && ag_wiener_size(&w, AG_WIENER_TRIAL) == 2 * M + 3);
    const double u = a[2 * M + 2] / 0.5 - 0.5;
    AG_CHECK(fabs(u) < 0.5);
    ag_wiener_step(&w, 7, k, AG_WIENER_TRIAL, b, work);
    const double other = b[2 * M + 2] / 0.5 - 0.5;
    sum[0] += u * sqrt(12), sum[1] += (u * u - 1.0 / 12) * sqrt(180), sum[2] += 12 * u * other;
    sum[3] += 12 * u * before, sum[4] += u * sqrt(12) * a[1] / sqrt(0.5);
    before = u;
    ag_wiener_step(&mirror, 7, k, AG_WIENER_TRIAL, b, work);
    AG_CHECK_NEAR(b[2 * M + 2] / 0.5, 0.5 - u, 1e-15);
  }
  for (int i = 0; i < 5; i++) AG_CHECK(fabs(sum[i]) <= 4 * 64); /* each has variance 1 */
}

static void test_grids(void) {
  AG_CHECK(ag_wiener_near(0.01) == 0.01 && ag_wiener_near(0.125) == 0.125 && ag_wiener_near(0.75) == 0.25);
  AG_CHECK(ag_wiener_near(3) == 1 && ag_wiener_near(8) == 8 && ag_wiener_near(17) == 17);
  static const struct {
    double base, dt;
    bool fits;
    int multiple, level;
    double low, high;
  } rows[] = {{0.1, 0.3, true, 3, 0, 0, 0},       {0.1, 0.1, true, 1, 0, 0, 0},
              {0.1, 0.05, true, 1, 1, 0, 0},      {0.1, 0.0125, true, 1, 3, 0, 0},
              {0.1, 0.25, false, 1, 0, 0.2, 0.3}, {0.1, 0.03, false, 1, 0, 0.025, 0.05},
              {1, 0.3, false, 1, 0, 0.25, 0.5},   {1, 1e-9, false, 1, 0, 0, 0},
              {1, 0.9, false, 1, 0, 1, 1},        {0.125, 0.1, false, 1, 0, 0.125, 0.125}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_wiener w = {.base = rows[i].base, .channels = 1};
    double nearest[2];
    bool fits = ag_wiener_fit(&w, rows[i].dt, nearest);
    AG_CHECK(fits == rows[i].fits && w.multiple == rows[i].multiple && w.level == rows[i].level);
    if (!fits && rows[i].low > 0) {
      AG_CHECK_NEAR(nearest[0], rows[i].low, 1e-15);
      if (rows[i].high > rows[i].low) AG_CHECK_NEAR(nearest[1], rows[i].high, 1e-15);
    }
  }
  static const int halved[][5] = {/* multiple, level, fits, halved */
                                  {1, 0, 1, 1, 1},
                                  {6, 0, 1, 3, 0},
                                  {3, 0, 0, 3, 0},
                                  {1, 5, 1, 1, 6},
                                  {1, 24, 0, 1, 24}};
  for (size_t i = 0; i < sizeof halved / sizeof *halved; i++) {
    ag_wiener h = {.base = 1, .channels = 1, .multiple = halved[i][0], .level = halved[i][1]};
    AG_CHECK(ag_wiener_half(&h) == halved[i][2] && h.multiple == halved[i][3] && h.level == halved[i][4]);
  }
  ag_wiener w = {.base = 0.1, .channels = 1, .multiple = 1};
  unsigned long long steps = 0;
  double nearest[2];
  AG_CHECK(ag_wiener_divides(&w, 0.1, 1, &steps, nearest) && steps == 10);
  AG_CHECK(!ag_wiener_divides(&w, 0.3, 1, &steps, nearest));
  AG_CHECK_NEAR(nearest[0], 0.25, 1e-15);
  AG_CHECK_NEAR(nearest[1], 1.0 / 3, 1e-15);
  AG_CHECK(!ag_wiener_divides(&w, 0.1, 1e9, &steps, nearest)); /* more than 2^32 */
  static const struct suitable {
    double base, dt, span;
    bool any;
    double low, high;
  } suitable[] = {{0.0625, 0.1875, 2, true, 0.125, 0.25}, {0.0625, 0.1, 2, true, 0.0625, 0.125},
                  {0.1, 0.03, 1, true, 0.025, 0.05},      {0.1, 0.7, 1, true, 0.5, 1},
                  {0.1, 0.3, 0.75, true, 0.05, 0.05},     {0.1, 5, 1, true, 1, 1},
                  {0.0625, 0.1, 1.95, false, 0, 0},       {0.5, 0.3, 7, true, 0.25, 0.5},
                  {1, 1e-9, 1, true, 0x1p-24, 0x1p-24}};
  for (size_t i = 0; i < sizeof suitable / sizeof *suitable; i++) {
    const struct suitable *x = &suitable[i];
    ag_wiener path = {.base = x->base, .channels = 1};
    AG_CHECK(ag_wiener_suitable(&path, x->dt, x->span, nearest) == x->any);
    if (x->any) AG_CHECK(fabs(nearest[0] - x->low) + fabs(nearest[1] - x->high) < 1e-15);
  }
  AG_CHECK(!ag_wiener_divides(&w, 0.1, -1, &steps, nearest) && !ag_wiener_divides(&w, 0.1, NAN, &steps, nearest));
}

int main(void) {
  test_known_answers();
  test_transform();
  test_refinement();
  test_direct_area();
  test_statistics();
  test_swap();
  test_fields();
  test_coins();
  test_trials();
  test_grids();
  return ag_check_report();
}
