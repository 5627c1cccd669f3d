/* SPDX-License-Identifier: MIT
 * Every stepper of stepper.def on noise, against the orders that its row declares for each class.
 *
 * Strong: the root mean square over paths of the error at the end, at two step sizes on the same paths, of processes
 * whose exact value follows from the path. 0.1 is allowed for the slope: the paths are fixed, the error of a slope from
 * 256 of them is about 0.03.
 *
 * Weak: expectations after one step, by quadrature over the increments (the trapezoidal rule, which for analytic
 * functions under a Gaussian is exact to rounding), against the exact moments, which obey linear equations. Nothing is
 * drawn. An order p leaves h^(p+1). */
#include <stdlib.h>

#include "step/step.h"
#include "tests/check.h"

enum {
  ADDITIVE,
  COMMUTATIVE,
  GENERAL,
  MOST = 4,
  CARRY = MOST + 5 * MOST + 1,
  MOMENTS = 6,
  WORK = 1024,
  PATHS = 256,
  BASE = 1024
};

/* The fields, linear in w = [1 | dW/h], and their Jacobian. Those of the channels are linear in z, too. */
typedef struct noisy {
  const char *name;
  int class, n, channels;
  bool generic; /* drift and noise do not commute: no method does better than it declares */
  void (*field)(const double *w, const double *z, double *dz);
  void (*jacobian)(const double *w, const double *z, double *J);
  double start[MOST];
} noisy;

typedef struct carrier {
  const noisy *p;
  bool ito;
  double w[6];
} carrier;

/* The field of a channel, and its matrix. */
static void channel(const noisy *p, int i, const double *z, double *g, double *G) {
  double w[3] = {0};
  w[1 + i] = 1;
  memset(G, 0, sizeof(double) * (size_t)(p->n * p->n));
  p->field(w, z, g);
  p->jacobian(w, z, G);
}

/* With the drift of Ito's form: w_0/2 sum G_i g_i more. */
static int rhs(void *self, double t, const double *z, double *dz) {
  const carrier *c = self;
  double g[MOST], G[MOST * MOST];
  (void)t;
  c->p->field(c->w, z, dz);
  for (int i = 0; i < c->p->channels && c->ito; i++) {
    channel(c->p, i, z, g, G);
    for (int k = 0; k < c->p->n * c->p->n; k++) dz[k / c->p->n] += 0.5 * c->w[0] * G[k] * g[k % c->p->n];
  }
  return 0;
}

static int jacobian(void *self, double t, const double *z, double *J) {
  const carrier *c = self;
  const int n = c->p->n;
  double g[MOST], G[MOST * MOST];
  (void)t;
  memset(J, 0, sizeof(double) * (size_t)(n * n));
  c->p->jacobian(c->w, z, J);
  for (int i = 0; i < c->p->channels && c->ito; i++) {
    channel(c->p, i, z, g, G);
    for (int k = 0; k < n * n * n; k++)
      J[k / (n * n) * n + k % n] += 0.5 * c->w[0] * G[k / (n * n) * n + k / n % n] * G[k / n % n * n + k % n];
  }
  return 0;
}

/* One step with the increments dW and a coin. */
static void step(const ag_stepper *s, const noisy *p, double h, const double *dW, double coin, double *z) {
  carrier c = {p, s->follows == AG_FOLLOWS_ITO, {1}};
  ag_factor whole = {AG_FACTOR_VECTOR, 0, p->n, 0};
  ag_flow f = {.n = p->n, .rhs = rhs, .m = p->n, .n_factor = 1, .factors = &whole, .n_u = p->n / 2, .self = &c};
  double dz[CARRY] = {0}, z1[MOST], dz1[CARRY], error[2], work[WORK];
  f.u_at = p->n - f.n_u, f.jacobian = jacobian, f.step = c.w, f.n_channel = p->channels;
  AG_CHECK(s->room(p->n, p->n, p->n * p->n).size <= WORK && s->room(p->n, p->n, p->n * p->n).own <= CARRY - MOST);
  for (int i = 0; i < p->channels; i++) c.w[1 + i] = c.w[2 + p->channels + i] = dW[i] / h;
  c.w[1 + p->channels] = coin;
  rhs(&c, 0, z, dz);
  const int reason = s->step(s, &f, 0, h, z, dz, z1, dz1, 0, 1, error, work);
  if (reason) fprintf(stderr, "%s on %s: the step by %g cannot be made\n", s->name, p->name, h);
  AG_CHECK(reason == 0);
  AG_CHECK(c.w[0] == 1);
  memcpy(z, z1, sizeof(double) * (size_t)p->n);
}

/* ---- strong ---- */

/* z = exp(0.8 W - 0.5 t): drift and noise commute. */
static void scalar_field(const double *w, const double *z, double *dz) { dz[0] = (-0.5 * w[0] + 0.8 * w[1]) * z[0]; }
static void scalar_jacobian(const double *w, const double *z, double *J) { J[0] = -0.5 * w[0] + 0.8 * w[1] + 0 * z[0]; }

/* The plane oscillator, position and momentum turned by 0.8 W. */
static void turned_field(const double *w, const double *z, double *dz) {
  const double s = 0.8 * w[1];
  dz[0] = w[0] * z[2] - s * z[1], dz[1] = w[0] * z[3] + s * z[0];
  dz[2] = -w[0] * z[0] - s * z[3], dz[3] = -w[0] * z[1] + s * z[2];
}
static void turned_jacobian(const double *w, const double *z, double *J) {
  const double s = 0.8 * w[1], v = w[0];
  const double rows[16] = {0, -s, v, 0, s, 0, 0, v, -v, 0, 0, -s, 0, -v, s, 0};
  (void)z;
  memcpy(J, rows, sizeof rows);
}

/* x = W, y the integral of x + x^2/2. */
static void summed_field(const double *w, const double *z, double *dz) {
  dz[0] = w[1], dz[1] = w[0] * (z[0] + 0.5 * z[0] * z[0]);
}
static void summed_jacobian(const double *w, const double *z, double *J) { J[2] = w[0] * (1 + z[0]); }

/* x = exp(W/2), y its integral. */
static void grown_field(const double *w, const double *z, double *dz) {
  dz[0] = 0.5 * w[1] * z[0], dz[1] = w[0] * z[0];
}
static void grown_jacobian(const double *w, const double *z, double *J) { J[0] = 0.5 * w[1], J[2] = w[0] + 0 * z[0]; }

/* x = W_1, y = W_2, and the area that they sweep. */
static void swept_field(const double *w, const double *z, double *dz) {
  dz[0] = w[1], dz[1] = w[2], dz[2] = 0.5 * (z[0] * w[2] - z[1] * w[1]);
}
static void swept_jacobian(const double *w, const double *z, double *J) {
  J[6] = 0.5 * w[2], J[7] = -0.5 * w[1] + 0 * z[0];
}

enum { SCALAR, TURNED, SUMMED, GROWN, SWEPT, N_STRONG };
static const noisy strong[N_STRONG] = {
    {"scalar", COMMUTATIVE, 1, 1, false, scalar_field, scalar_jacobian, {1}},
    {"turned oscillator", COMMUTATIVE, 4, 1, false, turned_field, turned_jacobian, {1, 0, 0, 0.5}},
    {"integral", ADDITIVE, 2, 1, true, summed_field, summed_jacobian, {0}},
    {"integral of the exponential", COMMUTATIVE, 2, 1, true, grown_field, grown_jacobian, {1, 0}},
    {"area", GENERAL, 3, 2, true, swept_field, swept_jacobian, {0}}};

/* The path on the base grid, [dW | coin], and from it the values at t = 1; integrals and areas of the path through its
 * points, whose distance from those of the process is that of steps of 1/BASE. */
static void exact(int which, const double (*dW)[3], double *z) {
  double x = 0, y = 0, sum = 0, of_exp = 0, area = 0;
  for (int k = 0; k < BASE; k++) {
    const double a = dW[k][0], b = dW[k][1];
    sum += (x + a / 2 + (x * x + x * a + a * a / 3) / 2) / BASE;
    of_exp += (exp(x / 2) + exp((x + a) / 2)) / 2 / BASE;
    area += (x * b - y * a) / 2;
    x += a, y += b;
  }
  const double p = cos(1), q = 0.5 * sin(1), v = -sin(1), w = 0.5 * cos(1), c = cos(0.8 * x), s = sin(0.8 * x);
  const double all[N_STRONG][MOST] = {{exp(0.8 * x - 0.5)},
                                      {c * p - s * q, s * p + c * q, c * v - s * w, s * v + c * w},
                                      {x, sum},
                                      {exp(x / 2), of_exp},
                                      {x, y, area}};
  memcpy(z, all[which], sizeof all[which]);
}

/* Squared error at t = 1 in `steps` steps. */
static double miss(const ag_stepper *s, int which, int steps, const double (*dW)[3]) {
  const noisy *p = &strong[which];
  double z[MOST], wanted[MOST], sum = 0;
  memcpy(z, p->start, sizeof z);
  for (int k = 0; k < steps; k++) {
    double d[2] = {0};
    const int first = k * (BASE / steps);
    for (int j = first; j < first + BASE / steps; j++) d[0] += dW[j][0], d[1] += dW[j][1];
    step(s, p, 1.0 / steps, d, dW[first][2], z);
  }
  exact(which, dW, wanted);
  for (int i = 0; i < p->n; i++) sum += (z[i] - wanted[i]) * (z[i] - wanted[i]);
  return sum;
}

static void test_strong(const ag_stepper *s, int which, const double (*dW)[BASE][3]) {
  enum { COARSE = 16, FINE = 64 };
  const noisy *p = &strong[which];
  double coarse = 0, fine = 0;
  for (int k = 0; k < PATHS; k++) coarse += miss(s, which, COARSE, dW[k]), fine += miss(s, which, FINE, dW[k]);
  const double slope = 0.5 * log(coarse / fine) / log((double)FINE / COARSE), declared = s->strong[p->class];
  const bool rounding = sqrt(fine / PATHS) < 1e-12; /* a method that makes no other error on this process */
  const bool good = rounding || (p->generic || s->order == 2 ? fabs(slope - declared) <= 0.1 : slope >= declared - 0.1);
  if (!good) fprintf(stderr, "%s on %s: strong order %.3f, declared %g\n", s->name, p->name, slope, declared);
  AG_CHECK(good);
}

static void draw_paths(double (*dW)[BASE][3]) {
  const ag_wiener path = {.seed = 14, .base = 1.0 / BASE, .channels = 2, .multiple = 1};
  double out[6], room[64];
  for (int p = 0; p < PATHS; p++)
    for (unsigned long long k = 0; k < BASE; k++) {
      ag_wiener_step(&path, (unsigned long long)p, k, AG_WIENER_COIN, out, room);
      dW[p][k][0] = out[1], dW[p][k][1] = out[2], dW[p][k][2] = BASE * out[3];
    }
}

/* ---- weak ---- */

/* z an Ornstein-Uhlenbeck process, y driven by its square. Moments: 1, z, z^2, z^3, y, y z. */
static void driven_field(const double *w, const double *z, double *dz) {
  dz[0] = -w[0] * z[0] + 0.6 * w[1], dz[1] = w[0] * (z[0] * z[0] - z[1]);
}
static void driven_jacobian(const double *w, const double *z, double *J) {
  J[0] = -w[0], J[2] = 2 * w[0] * z[0], J[3] = -w[0];
}
static void driven_moments(const double *z, double *m) {
  const double all[MOMENTS] = {1, z[0], z[0] * z[0], z[0] * z[0] * z[0], z[1], z[1] * z[0]};
  memcpy(m, all, sizeof all);
}
static void driven_rates(const double *m, double *r) {
  const double s = 0.36;
  r[0] = 0, r[1] = -m[1], r[2] = s * m[0] - 2 * m[2], r[3] = 3 * s * m[1] - 3 * m[3];
  r[4] = m[2] - m[4], r[5] = m[3] - 2 * m[5];
}

/* Linear in the plane, matrices that do not commute. Moments: x, y, x^2, x y, y^2. */
static const double matrices[3][4] = {{-0.3, 1, -0.7, 0.2}, {0.5, 0.2, 0.3, -0.4}, {0.1, -0.6, 0.2, 0.3}};

static void linear_sum(int channels, const double *w, double *A) {
  for (int e = 0; e < 4; e++) {
    A[e] = 0;
    for (int i = 0; i <= channels; i++) A[e] += w[i] * matrices[i][e];
  }
}
static void linear_field(int channels, const double *w, const double *z, double *dz) {
  double A[4];
  linear_sum(channels, w, A);
  dz[0] = A[0] * z[0] + A[1] * z[1], dz[1] = A[2] * z[0] + A[3] * z[1];
}
static void one_field(const double *w, const double *z, double *dz) { linear_field(1, w, z, dz); }
static void two_field(const double *w, const double *z, double *dz) { linear_field(2, w, z, dz); }
static void one_jacobian(const double *w, const double *z, double *J) { linear_sum(1, w, J), (void)z; }
static void two_jacobian(const double *w, const double *z, double *J) { linear_sum(2, w, J), (void)z; }

static void linear_moments(const double *z, double *m) {
  const double all[MOMENTS] = {z[0], z[1], z[0] * z[0], z[0] * z[1], z[1] * z[1], 0};
  memcpy(m, all, sizeof all);
}

/* With G = A + sum B_i^2 / 2: m' = G m, P' = G P + P G^T + sum B_i P B_i^T. */
static void linear_rates(int channels, const double *m, double *r) {
  double G[4];
  const double P[4] = {m[2], m[3], m[3], m[4]};
  memcpy(G, matrices[0], sizeof G);
  memset(r, 0, sizeof(double) * MOMENTS);
  for (int i = 1; i <= channels; i++) {
    const double *B = matrices[i], BP[4] = {B[0] * P[0] + B[1] * P[2], B[0] * P[1] + B[1] * P[3],
                                            B[2] * P[0] + B[3] * P[2], B[2] * P[1] + B[3] * P[3]};
    G[0] += 0.5 * (B[0] * B[0] + B[1] * B[2]), G[1] += 0.5 * (B[0] * B[1] + B[1] * B[3]);
    G[2] += 0.5 * (B[2] * B[0] + B[3] * B[2]), G[3] += 0.5 * (B[2] * B[1] + B[3] * B[3]);
    r[2] += BP[0] * B[0] + BP[1] * B[1], r[3] += BP[0] * B[2] + BP[1] * B[3], r[4] += BP[2] * B[2] + BP[3] * B[3];
  }
  const double GP[4] = {G[0] * P[0] + G[1] * P[2], G[0] * P[1] + G[1] * P[3], G[2] * P[0] + G[3] * P[2],
                        G[2] * P[1] + G[3] * P[3]};
  r[0] = G[0] * m[0] + G[1] * m[1], r[1] = G[2] * m[0] + G[3] * m[1];
  r[2] += 2 * GP[0], r[3] += GP[1] + GP[2], r[4] += 2 * GP[3];
}
static void one_rates(const double *m, double *r) { linear_rates(1, m, r); }
static void two_rates(const double *m, double *r) { linear_rates(2, m, r); }

/* The scalar process above: moments z, z^2. */
static void scalar_moments(const double *z, double *m) {
  const double all[MOMENTS] = {z[0], z[0] * z[0]};
  memcpy(m, all, sizeof all);
}
static void scalar_rates(const double *m, double *r) {
  memset(r, 0, sizeof(double) * MOMENTS);
  for (int k = 1; k <= 2; k++) r[k - 1] = (-0.5 * k + 0.32 * k * k) * m[k - 1];
}

/* The turned oscillator: position, momentum, energy. */
static void turned_moments(const double *z, double *m) {
  const double all[MOMENTS] = {z[0], z[1], z[2], z[3], z[0] * z[0] + z[1] * z[1] + z[2] * z[2] + z[3] * z[3]};
  memcpy(m, all, sizeof all);
}
static void turned_rates(const double *m, double *r) {
  const double rates[MOMENTS] = {m[2] - 0.32 * m[0], m[3] - 0.32 * m[1], -m[0] - 0.32 * m[2], -m[1] - 0.32 * m[3]};
  memcpy(r, rates, sizeof rates);
}

static const struct {
  noisy p;
  void (*moments)(const double *z, double *m);
  void (*rates)(const double *m, double *r);
} weak[] = {
    {{"driven", ADDITIVE, 2, 1, true, driven_field, driven_jacobian, {0.7, 0.4}}, driven_moments, driven_rates},
    {{"linear, one channel", COMMUTATIVE, 2, 1, true, one_field, one_jacobian, {0.7, 0.4}}, linear_moments, one_rates},
    {{"linear, two channels", GENERAL, 2, 2, true, two_field, two_jacobian, {0.7, 0.4}}, linear_moments, two_rates},
    {{"scalar", COMMUTATIVE, 1, 1, false, scalar_field, scalar_jacobian, {1}}, scalar_moments, scalar_rates},
    {{"turned oscillator", COMMUTATIVE, 4, 1, false, turned_field, turned_jacobian, {1, 0, 0, 0.5}},
     turned_moments,
     turned_rates}};

/* The largest error of a moment after one step. */
static double weak_error(const ag_stepper *s, int which, double h) {
  const noisy *p = &weak[which].p;
  double mean[MOMENTS] = {0}, m[MOMENTS], r[MOMENTS], exact_m[MOMENTS], z[MOST], worst = 0;
  const int side = 15, other = p->channels > 1 ? side : 0;
  const double spacing = 0.5;
  for (int i = -side; i <= side; i++)
    for (int j = -other; j <= other; j++) {
      const double x = spacing * i, y = spacing * j, dW[2] = {sqrt(h) * x, sqrt(h) * y};
      const double one = spacing / sqrt(2 * acos(-1.0)), weight = (other ? one * one : one) * exp(-(x * x + y * y) / 2);
      for (int coin = -1; coin <= 1; coin += 2) {
        if (coin < 0 && s->draws != AG_WIENER_COIN) continue;
        memcpy(z, p->start, sizeof z);
        step(s, p, h, dW, coin, z);
        weak[which].moments(z, m);
        for (int k = 0; k < MOMENTS; k++) mean[k] += weight * m[k] * (s->draws == AG_WIENER_COIN ? 0.5 : 1);
      }
    }
  weak[which].moments(p->start, m);
  memcpy(exact_m, m, sizeof m);
  for (int k = 1; k < 20; k++) { /* the exponential series of linear equations */
    weak[which].rates(m, r);
    for (int i = 0; i < MOMENTS; i++) exact_m[i] += m[i] = r[i] * h / k;
  }
  for (int i = 0; i < MOMENTS; i++) worst = fmax(worst, fabs(mean[i] - exact_m[i]));
  return worst;
}

static void test_weak(const ag_stepper *s, int which) {
  const noisy *p = &weak[which].p;
  const double coarse = weak_error(s, which, 0x1p-6), fine = weak_error(s, which, 0x1p-7);
  const double order = fine < 1e-14 ? INFINITY : log2(coarse / fine) - 1; /* below: rounding */
  const bool best = p->generic && !(s->needs & AG_NEEDS_PARTITION);       /* else it depends on where the noise acts */
  const bool good = best ? fabs(order - s->weak[p->class]) <= 0.1 : order >= s->weak[p->class] - 0.1;
  if (!good) fprintf(stderr, "%s on %s: weak order %.3f, declared %g\n", s->name, p->name, order, s->weak[p->class]);
  AG_CHECK(good);
}

int main(void) {
  double(*dW)[BASE][3] = malloc(PATHS * sizeof *dW);
  draw_paths(dW);
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    for (int c = 0; c < AG_N_NOISE; c++) AG_CHECK((s->strong[c] > 0) == (s->weak[c] > 0));
    if (!(s->strong[ADDITIVE] > 0) || s->draws == AG_WIENER_AREAS || s->needs & (AG_NEEDS_BATH | AG_NEEDS_RESIDUAL))
      continue; /* those read fields or discrete equations of models: tests/equal, langevin_test.c */
    for (int k = 0; k < N_STRONG; k++)
      if (s->strong[strong[k].class] > 0) test_strong(s, k, (const double(*)[BASE][3])dW);
    for (size_t k = 0; k < sizeof weak / sizeof *weak; k++)
      if (s->weak[weak[k].p.class] > 0) test_weak(s, (int)k);
  }
  free(dW);
  return ag_check_report();
}
