/* SPDX-License-Identifier: MIT
 * Single variational steps with noise, every row of the table on every model that it fits.
 *
 * Against numbers from the printed formulas of variational Euler (BRO section 5, both maps of rotations).
 *
 * Weak orders: expectations after one step, by quadrature over the increments (the trapezoidal rule, exact to rounding
 * under a Gaussian), against the exact moments, which obey linear equations. Nothing is drawn.
 *
 * Stationary energies with friction at a temperature: of linear models a step is linear in the state and the noise, its
 * matrices are read off, and the covariance is solved for. */
#include "tests/noise_stage.h"

enum { MOMENTS = 6 };

/* ---- single steps against the printed method ---- */

/* The printed step adds the noise of q0 to p; here that is the end of the step before, which leads to q0 with the
 * velocity p. So two steps, the first with the noise, from where it has to begin. */
static void test_step_of_vectors(void) {
  const double B = 0.13, none = 0;
  double x[8] = {0.4 - 0.1 * 0.9, 0.9};
  stage *s = malloc(sizeof *s);
  AG_CHECK(stage_init(s,
                      "model m\nconfig q in R\nlagrangian 1/2*q'^2 + cos(q)\nnoise W potential sin(2*q)/2\n"
                      "start q = 0.4\n",
                      ag_stepper_find("variational_euler"), 0.1));
  stage_step(s, 0, 0.1, &B, NULL, x);
  AG_CHECK_NEAR(x[0], 0.4, 1e-15);
  AG_CHECK_NEAR(x[1], 0.9516300379842665, 1e-13); /* the momentum of the next step */
  stage_step(s, 0, 0.1, &none, NULL, x);
  AG_CHECK_NEAR(x[0], 0.4951630037984267, 1e-13);
  stage_done(s);
  free(s);
}

/* K(x)^T v = v + x x v/2 + k x x (x x v) with exp, + x (x.v)/4 with the Cayley map. */
static void inverse_dual(bool cayley, const double *x, const double *v, double *out) {
  const double t = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), dot = x[0] * v[0] + x[1] * v[1] + x[2] * v[2];
  const double k = 1 / (t * t) - (1 + cos(t)) / (2 * t * sin(t));
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    out[i] = v[i] + 0.5 * (x[j] * v[l] - x[l] * v[j]) + (cayley ? x[i] * dot / 4 : k * (x[i] * dot - t * t * v[i]));
  }
}

/* q times the quaternion that turns by |x|, or the Cayley map of x, about x. */
static void turned(bool cayley, const double *q, const double *x, double *out) {
  const double t = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), half = cayley ? atan(t / 2) : t / 2;
  const double w = cos(half), s = sin(half) / t, v[3] = {s * x[0], s * x[1], s * x[2]};
  out[0] = q[0] * w - q[1] * v[0] - q[2] * v[1] - q[3] * v[2];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    out[1 + i] = q[0] * v[i] + w * q[1 + i] + q[1 + j] * v[l] - q[1 + l] * v[j];
  }
}

static void test_step_of_rotations(void) {
  static const double mu1[2][3] = {{0.645640667310384, -0.6705769286533193, 1.51852837791263},
                                   {0.6455188596987995, -0.6708228848039163, 1.5185007475099574}};
  static const double place[3] = {0.4, -0.2, 0.3}, mu[3] = {0.6, -0.8, 1.5}, I[3] = {1, 2, 3}, h = 0.1, B = 0.13;
  const double one[4] = {1}, none = 0;
  for (int cayley = 0; cayley < 2; cayley++) {
    double x[8], R0[4], back[3], p[3], step[3], want[4];
    stage *s = malloc(sizeof *s);
    AG_CHECK(stage_init(s,
                        "model m\nconfig R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(1, 2, 3)*Omega) - "
                        "dot(e3, R*[0.3, 0.1, 0.5])\nnoise W potential dot(e1, R*[0.2, -0.1, 0.4])\n"
                        "start Omega = [0, 0, 1]\n",
                        ag_stepper_find(cayley ? "cayley_euler" : "variational_euler"), h));
    turned(false, one, place, R0);
    for (int i = 0; i < 3; i++) step[i] = h * mu[i] / I[i], back[i] = -step[i];
    turned(cayley, R0, back, x);
    inverse_dual(cayley, step, mu, p);
    for (int i = 0; i < 3; i++) x[4 + i] = p[i] / I[i];
    stage_step(s, 0, h, &B, NULL, x);
    for (int i = 0; i < 4; i++) AG_CHECK_NEAR(x[i], R0[i], 1e-13);
    stage_step(s, 0, h, &none, NULL, x);
    for (int i = 0; i < 3; i++) step[i] = h * mu1[cayley][i] / I[i];
    turned(cayley, R0, step, want);
    for (int i = 0; i < 4; i++) AG_CHECK_NEAR(x[i], want[i], 1e-13);
    stage_done(s);
    free(s);
  }
}

/* ---- weak ---- */

/* x' an Ornstein-Uhlenbeck process, y' driven by its square; z = x', v = y'. Moments: 1, z, z^2, z^3, v, v z. */
static void driven_moments(const double *x, double *m) {
  const double z = x[2], v = x[3], all[MOMENTS] = {1, z, z * z, z * z * z, v, v * z};
  memcpy(m, all, sizeof all);
}
static void driven_rates(const double *m, double *r) {
  const double s = 0.36;
  r[0] = 0, r[1] = -m[1], r[2] = s * m[0] - 2 * m[2], r[3] = 3 * s * m[1] - 3 * m[3];
  r[4] = m[2] - m[4], r[5] = m[3] - 2 * m[5];
}

/* x shaken, y' driven by its square; v = y'. Moments: 1, x, x^2, x^3, v, v x. */
static void moved_moments(const double *x, double *m) {
  const double z = x[0], v = x[3], all[MOMENTS] = {1, z, z * z, z * z * z, v, v * z};
  memcpy(m, all, sizeof all);
}
static void moved_rates(const double *m, double *r) {
  const double s = 0.36;
  r[0] = r[1] = 0, r[2] = s * m[0], r[3] = 3 * s * m[1], r[4] = m[2] - m[4], r[5] = m[3] - m[5];
}

/* Linear in (q, p): drift A, fields B_i. Moments: q, p, q^2, q p, p^2. */
static const double A[4] = {0, 1, -1.3, -0.4}, KICK[4] = {0, 0, 0.7, 0}, SHIFT[4] = {0.5, 0, 0, -0.5};

static void linear_moments(const double *x, double *m) {
  const double all[MOMENTS] = {x[0], x[1], x[0] * x[0], x[0] * x[1], x[1] * x[1], 0};
  memcpy(m, all, sizeof all);
}

static void times(const double *a, const double *b, double *out) {
  for (int i = 0; i < 4; i++) out[i] = a[i / 2 * 2] * b[i % 2] + a[i / 2 * 2 + 1] * b[2 + i % 2];
}

/* With G = A + sum B_i^2 / 2: m' = G m, P' = G P + P G^T + sum B_i P B_i^T. */
static void linear_rates(int n, const double *const *B, const double *m, double *r) {
  const double P[4] = {m[2], m[3], m[3], m[4]};
  double G[4], square[4], BP[4], GP[4];
  memcpy(G, A, sizeof G);
  memset(r, 0, sizeof(double) * MOMENTS);
  for (int i = 0; i < n; i++) {
    times(B[i], B[i], square);
    times(B[i], P, BP);
    for (int k = 0; k < 4; k++) G[k] += square[k] / 2;
    r[2] += BP[0] * B[i][0] + BP[1] * B[i][1], r[3] += BP[0] * B[i][2] + BP[1] * B[i][3];
    r[4] += BP[2] * B[i][2] + BP[3] * B[i][3];
  }
  times(G, P, GP);
  r[0] = G[0] * m[0] + G[1] * m[1], r[1] = G[2] * m[0] + G[3] * m[1];
  r[2] += 2 * GP[0], r[3] += GP[1] + GP[2], r[4] += 2 * GP[3];
}
static void kick_rates(const double *m, double *r) { linear_rates(1, (const double *[]){KICK}, m, r); }
static void shift_rates(const double *m, double *r) { linear_rates(1, (const double *[]){SHIFT}, m, r); }
static void both_rates(const double *m, double *r) { linear_rates(2, (const double *[]){KICK, SHIFT}, m, r); }

#define LINEAR(noise) \
  "model linear\nconfig q in R\nlagrangian 1/2*q'^2 - 1.3*q^2/2\nforce q' = -0.4*q'\n" noise "start q = 0.7, q' = " \
  "0.4\n"

enum { N_WEAK = 5 };
static const struct {
  const char *name, *text;
  ag_noise_class noise;
  int channels, count; /* how many methods fit */
  void (*moments)(const double *x, double *m);
  void (*rates)(const double *m, double *r);
} weak[N_WEAK] = {
    {"driven",
     "model driven\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nforce x' = -x', y' = x'^2 - y'\n"
     "noise W force x' = 0.6\nstart x' = 0.7, y' = 0.4\n",
     AG_NOISE_ADDITIVE, 1, 10, driven_moments, driven_rates},
    {"moved",
     "model moved\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nforce y' = x^2 - y'\n"
     "noise W transport x' = 0.6\nstart x = 0.7, y' = 0.4\n",
     AG_NOISE_ADDITIVE, 1, 10, moved_moments, moved_rates},
    {"potential", LINEAR("noise W potential 0.35*q^2\n"), AG_NOISE_COMMUTATIVE, 1, 10, linear_moments, kick_rates},
    {"transport", LINEAR("noise W transport q' = 0.5*q\n"), AG_NOISE_COMMUTATIVE, 1, 7, linear_moments, shift_rates},
    {"both", LINEAR("noise W potential 0.35*q^2\nnoise V transport q' = 0.5*q\n"), AG_NOISE_GENERAL, 2, 7,
     linear_moments, both_rates}};

/* The largest error of a moment after one step; negative: the method does not fit. */
static double weak_error(const ag_stepper *s, int which, double h) {
  double mean[MOMENTS] = {0}, m[MOMENTS], r[MOMENTS], exact[MOMENTS], x[8], start[8], worst = 0;
  const int side = 15, other = weak[which].channels > 1 ? side : 0;
  const double spacing = 0.5, one = spacing / sqrt(2 * acos(-1.0));
  stage *l = malloc(sizeof *l);
  const bool fits = stage_init(l, weak[which].text, s, h);
  AG_CHECK(ag_system_noise(l->sys) == weak[which].noise);
  ag_system_state0(l->sys, start);
  for (int i = -side; i <= side && fits; i++)
    for (int j = -other; j <= other; j++) {
      const double a = spacing * i, b = spacing * j, dW[2] = {sqrt(h) * a, sqrt(h) * b};
      const double weight = (other ? one * one : one) * exp(-(a * a + b * b) / 2);
      memcpy(x, start, sizeof x);
      stage_step(l, 0, h, dW, NULL, x);
      weak[which].moments(x, m);
      for (int k = 0; k < MOMENTS; k++) mean[k] += weight * m[k];
    }
  stage_done(l);
  free(l);
  if (!fits) return -1;
  weak[which].moments(start, m);
  memcpy(exact, m, sizeof m);
  for (int k = 1; k < 20; k++) { /* the exponential series of linear equations */
    weak[which].rates(m, r);
    for (int i = 0; i < MOMENTS; i++) exact[i] += m[i] = r[i] * h / k;
  }
  for (int i = 0; i < MOMENTS; i++) worst = fmax(worst, fabs(mean[i] - exact[i]));
  return worst;
}

/* Some rows do better where noise acts on velocities alone, or on positions alone: the least order counts. */
static void test_weak_row(const ag_stepper *s, int *fits) {
  double least[AG_N_NOISE] = {INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < N_WEAK; i++) {
    const double coarse = weak_error(s, i, 0x1p-6);
    if (coarse < 0) continue;
    const double order = log2(coarse / weak_error(s, i, 0x1p-7)) - 1;
    double *at = &least[weak[i].noise - AG_NOISE_ADDITIVE];
    *at = fmin(*at, order);
    fits[i]++;
  }
  for (int k = 0; k < AG_N_NOISE; k++) {
    if (least[k] == INFINITY) continue;
    if (!(fabs(least[k] - s->weak[k]) <= 0.1))
      fprintf(stderr, "%s, class %d: weak order %.3f, declared %g\n", s->name, k, least[k], s->weak[k]);
    AG_CHECK(fabs(least[k] - s->weak[k]) <= 0.1);
  }
}

static void test_weak(void) {
  int fits[N_WEAK] = {0};
  for (int i = 0; i < ag_stepper_count(); i++)
    if (ag_stepper_at(i)->needs & AG_NEEDS_RESIDUAL) test_weak_row(ag_stepper_at(i), fits);
  for (int i = 0; i < N_WEAK; i++) AG_CHECK(fits[i] == weak[i].count);
}

/* ---- stationary ---- */

static const double w2 = 1.7, c = 0.6, kT = 0.8;
static const char *const BATH = "model bath\nconfig q in R\nlagrangian 1/2*q'^2 - 1.7*q^2/2\nfriction q' = 0.6\n"
                                "temperature 0.8\nstart q = 1\n";

/* A disk that slides on a spring: friction of the slip alone. */
static const char *const SLIDING = "model sliding\nconfig x in R, th in S1\n"
                                   "lagrangian 1/2*x'^2 + 1/2*0.5*th'^2 - 1/2*x^2\nfriction x' - th' = 0.5\n"
                                   "temperature 1\nstart x = 1\n";

/* out = A B, or A B^T. */
static void product(int n, const double *a, const double *b, bool transposed, double *out) {
  for (int i = 0; i < n * n; i++) {
    out[i] = 0;
    for (int k = 0; k < n; k++) out[i] += a[i / n * n + k] * (transposed ? b[i % n * n + k] : b[k * n + i % n]);
  }
}

/* The stationary covariance of the numbers that = at[0..n-1] of x: P = T P T^T + v v^T, by doubling the step. */
static void covariance(const char *text, const char *method, double h, int n, const int *at, double *P) {
  const double none = 0, dW = sqrt(h);
  double T[9], TP[9], square[9], x[8];
  stage *l = malloc(sizeof *l);
  AG_CHECK(stage_init(l, text, ag_stepper_find(method), h));
  for (int j = 0; j <= n; j++) {
    memset(x, 0, sizeof x);
    if (j < n) x[at[j]] = 1;
    stage_step(l, 0, h, j < n ? &none : &dW, NULL, x);
    for (int i = 0; i < n && j < n; i++) T[i * n + j] = x[at[i]];
  }
  for (int i = 0; i < n * n; i++) P[i] = x[at[i / n]] * x[at[i % n]];
  stage_done(l);
  free(l);
  for (int round = 0; round < 60; round++) {
    product(n, T, P, false, TP);
    product(n, TP, T, true, square);
    for (int i = 0; i < n * n; i++) P[i] += square[i];
    product(n, T, T, false, square);
    memcpy(T, square, sizeof(double) * (size_t)(n * n));
  }
}

/* Kinetic and potential energy over kT/2. 1e-12: the roundings of some hundred operations on numbers of size 1, and
 * what Newton's method leaves. */
static void check_bath(const char *method, double h, double kinetic, double potential) {
  double P[4];
  covariance(BATH, method, h, 2, (const int[]){0, 1}, P);
  AG_CHECK_NEAR(P[3] / kT, kinetic, 1e-12);
  AG_CHECK_NEAR(w2 * P[0] / kT, potential, 1e-12);
}

/* Variational Euler: numbers from the Lyapunov equation of the printed method; 1e-11: they were solved to some 1e-13.
 */
static void test_sliding(void) {
  static const double all[3][4] = {{0.1, 1.0296707763175716, 1.0540577157566728, 1.0025741769407932},
                                   {0.05, 1.0136287584672132, 1.0259742369357225, 1.0006335179740447},
                                   {0.025, 1.006527698423924, 1.0127388661831787, 1.0001572699528885}};
  for (int k = 0; k < 3; k++) {
    double P[9];
    covariance(SLIDING, "variational_euler", all[k][0], 3, (const int[]){0, 2, 3}, P);
    AG_CHECK_NEAR(P[4], all[k][1], 1e-11);
    AG_CHECK_NEAR(0.5 * P[8], all[k][2], 1e-11);
    AG_CHECK_NEAR(P[0], all[k][3], 1e-11);
  }
}

static void test_stationary(void) {
  for (double h = 0.02; h < 1; h *= 2) {
    const double hot = 1 / (1 - h * c / 2 - h * h * w2 / 4);
    check_bath("variational_euler", h, hot, (1 - h * c / 2) * hot);
    check_bath("dla_midpoint", h, 1, 1);
    check_bath("variational_midpoint", h, 1, 1);
  }
}

int main(void) {
  test_weak();
  test_stationary();
  test_sliding();
  test_step_of_vectors();
  test_step_of_rotations();
  return ag_check_report();
}
