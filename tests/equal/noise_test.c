/* SPDX-License-Identifier: MIT
 * Noise fields: eliminated and with multipliers, at random states, for systems of every kind; the increment of a step
 * against drift and fields apart; the numbers of HP (corrected) and of the Chaplygin ball. With a file: prints states
 * and fields as JSON, for tests/models/noise_test.py. */
#include <stdlib.h>
#include <string.h>

#include "lang/lang.h"
#include "mech/mech.h"
#include "tests/check.h"

typedef struct bench {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  ag_work *w;
  const ag_dims *n;
  double t, *x, *z, *c;
} bench;

static void bench_init(bench *b, const char *text, bool saddle) {
  *b = (bench){0};
  ag_derive_options options = {.saddle = saddle};
  ag_status status = ag_lang_read(&b->ctx, "model", text, strlen(text), 0, NULL, &b->m);
  if (status == AG_OK) status = ag_system_create(&b->ctx, b->m, &options, &b->sys);
  if (status != AG_OK) {
    ag_text out = {0};
    ag_ctx_render(&b->ctx, &out);
    fprintf(stderr, "%s", ag_text_cstr(&out));
    exit(1);
  }
  b->n = ag_system_dims(b->sys);
  b->w = ag_work_create(b->sys, ag_system_param_values(b->sys));
  b->x = calloc((size_t)b->n->x + 1, 8);
  b->z = calloc((size_t)b->n->z + 1, 8);
  b->c = calloc((size_t)b->n->c + 1, 8);
}

static void bench_done(bench *b) {
  ag_work_free(b->w);
  ag_system_free(b->sys);
  ag_model_free(b->m);
  ag_ctx_done(&b->ctx);
  free(b->x);
  free(b->z);
  free(b->c);
}

/* dxi of a channel in the eliminated form; x and the reduced state of it are set. */
static void eliminated(const bench *b, int channel, double *dxi) {
  ag_tape *tape = ag_system_noise_accel(b->sys, channel);
  double *y = calloc((size_t)b->n->q + (size_t)b->n->u + 1, 8), *slots = calloc((size_t)tape->n_slot + 1, 8);
  memcpy(y, b->x, sizeof(double) * (size_t)b->n->q);
  memcpy(y + b->n->q, b->z + b->n->u_at, sizeof(double) * (size_t)b->n->u);
  const double *seg[AG_SEG_COUNT] = {
      [AG_SEG_T] = &b->t, [AG_SEG_Z] = y, [AG_SEG_P] = ag_system_param_values(b->sys), [AG_SEG_C] = b->c};
  ag_tape_prep(tape, ag_system_param_values(b->sys), slots);
  AG_CHECK(ag_tape_eval(tape, seg, slots, dxi) == 0);
  ag_tape_free(tape);
  free(y);
  free(slots);
}

static double largest(int n, const double *v) {
  double worst = 1;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(v[i]));
  return worst;
}

/* The increment is linear in [h | dW], and its part h is the right-hand side. */
static void check_increment(bench *b) {
  int n = b->n->z;
  double *step = calloc((size_t)b->n->w, 8), *all = calloc((size_t)n, 8), *sum = calloc((size_t)n, 8),
         *one = calloc((size_t)n, 8);
  ag_work_step(b->w, step);
  for (int i = 0; i <= b->n->channel; i++) {
    double weight = 0.3 + 0.2 * i;
    memset(step, 0, sizeof(double) * (size_t)b->n->w);
    step[i] = 1;
    AG_CHECK(ag_work_increment(b->w, AG_ROLE_INCREMENT, b->t, b->z, b->c, one) == AG_FINE);
    for (int k = 0; k < n; k++) sum[k] += weight * one[k];
    if (i) continue;
    AG_CHECK(ag_work_rhs(b->w, b->t, b->z, b->c, all) == AG_FINE);
    for (int k = 0; k < n; k++) AG_CHECK_NEAR(one[k], all[k], 1e-12 * largest(n, all));
  }
  for (int i = 0; i <= b->n->channel; i++) step[i] = 0.3 + 0.2 * i;
  AG_CHECK(ag_work_increment(b->w, AG_ROLE_INCREMENT, b->t, b->z, b->c, all) == AG_FINE);
  for (int k = 0; k < n; k++) AG_CHECK_NEAR(all[k], sum[k], 1e-12 * largest(n, sum));
  free(step);
  free(all);
  free(sum);
  free(one);
}

/* The core is closed under drift and noise: its increment reads nothing else. */
static void check_core(const bench *b) {
  const ag_tape *tape = ag_system_role(b->sys, AG_ROLE_INCREMENT_CORE);
  for (int i = 0; i < tape->n_instr; i++)
    if (tape->instr[i].op == AG_OP_LOAD && tape->instr[i].a == AG_SEG_Z) AG_CHECK((int)tape->instr[i].b < b->n->core);
}

/* Both closures at random states, to rounding times the condition number of the saddle matrix. */
static void check_closures(const char *text) {
  bench b;
  bench_init(&b, text, false);
  check_core(&b);
  int n = b.n->xi;
  double *a = calloc((size_t)n, 8), *d = calloc((size_t)n, 8);
  for (unsigned seed = 1; seed <= 10; seed++) {
    AG_CHECK(ag_system_sample(b.sys, b.w, seed, &b.t, b.x) == AG_OK);
    AG_CHECK(ag_work_reduce(b.w, b.t, b.x, b.c, b.z) == AG_FINE);
    double tol = 1e-14 * ag_work_condition(b.w, b.t, b.x);
    for (int i = 0; i < b.n->channel; i++) {
      eliminated(&b, i, a);
      AG_CHECK(ag_work_noise(b.w, b.t, b.x, i, NULL, d, NULL) == AG_FINE);
      double size = largest(n, d);
      for (int k = 0; k < n; k++) AG_CHECK_NEAR(a[k] / size, d[k] / size, fmax(tol, 1e-13));
    }
    check_increment(&b);
  }
  bench_done(&b);
  free(a);
  free(d);
}

/* The sparse form of large systems gives the same fields as multipliers do. */
static void check_saddle(const char *text) {
  bench b, s;
  bench_init(&b, text, false);
  bench_init(&s, text, true);
  int n = b.n->xi;
  double *d = calloc((size_t)n, 8), *dz = calloc((size_t)s.n->z, 8), *step = calloc((size_t)s.n->w, 8);
  ag_work_step(s.w, step);
  for (unsigned seed = 1; seed <= 5; seed++) {
    AG_CHECK(ag_system_sample(b.sys, b.w, seed, &b.t, b.x) == AG_OK);
    AG_CHECK(ag_work_reduce(s.w, b.t, b.x, s.c, s.z) == AG_FINE);
    for (int i = 0; i < b.n->channel; i++) {
      memset(step, 0, sizeof(double) * (size_t)s.n->w);
      step[1 + i] = 1;
      AG_CHECK(ag_work_noise(b.w, b.t, b.x, i, NULL, d, NULL) == AG_FINE);
      AG_CHECK(ag_work_increment(s.w, AG_ROLE_INCREMENT, b.t, s.z, s.c, dz) == AG_FINE);
      for (int k = 0; k < n; k++) AG_CHECK_NEAR(dz[s.n->u_at + k] / largest(n, d), d[k] / largest(n, d), 1e-12);
    }
  }
  bench_done(&b);
  bench_done(&s);
  free(d);
  free(dz);
  free(step);
}

/* ---- numbers ---- */

#define BALL(l, inertia, noise) \
  "model ball\nparam m = 1, r = 1, l = " l ", g = 1\nconfig R in SO3 velocity Omega\nconfig x in R^3\n" \
  "let Gamma = R^T*e3\nlet s = r*Gamma + l*e3\nlet I = diag(" inertia ")\n" \
  "lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*x[3]\nconstraint x' = R*cross(Omega, s)\n" noise
#define ROUTH "0.35, 0.35, 0.4"
#define CHAPLYGIN "0.35, 0.45, 0.6"

static const double OMEGA[3] = {0.3, -0.7, 1.1}, GAMMA[3] = {0.48, -0.36, 0.8};

/* A rotation with R^T e3 = GAMMA: the shortest one that takes GAMMA to e3. */
static void stand(bench *b) {
  double q[4] = {1 + GAMMA[2], GAMMA[1], -GAMMA[0], 0}, norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  for (int i = 0; i < 4; i++) b->x[i] = q[i] / norm;
  memcpy(b->x + 7, OMEGA, sizeof OMEGA);
  AG_CHECK(ag_work_reduce(b->w, 0, b->x, b->c, b->z) == AG_FINE); /* u is Omega */
  ag_work_full(b->w, 0, b->z, b->c, b->x);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(b->z[i], GAMMA[i], 1e-15);
}

/* reference: errata of HP, section A, computed apart from this program. 1e-14: a few roundings. */
static void check_routh(void) {
  const double drift[3] = {-0.12582513039355156, -0.12383290659080137, 0.04518918918918929},
               field[3] = {0.11215140445708854, 0.13019346420104316, 0.16625135135135125},
               turn[3] = {-0.05200000000000003, 0.224, 0.132};
  bench b;
  double step[2] = {1, 0}, dz[13], dxi[6];
  bench_init(&b, BALL("0.2", ROUTH, "noise W transport Omega = [0.1, 0.2, -0.3]\n"), false);
  AG_CHECK(b.n->z == 13 && b.n->channel == 1 && b.n->w == 2);
  stand(&b);
  ag_work_step(b.w, step);
  AG_CHECK(ag_work_increment(b.w, AG_ROLE_INCREMENT, 0, b.z, b.c, dz) == AG_FINE);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(dz[3 + i], drift[i], 1e-14);
  step[0] = 0, step[1] = 1;
  AG_CHECK(ag_work_increment(b.w, AG_ROLE_INCREMENT, 0, b.z, b.c, dz) == AG_FINE);
  AG_CHECK(ag_work_noise(b.w, 0, b.x, 0, NULL, dxi, NULL) == AG_FINE);
  for (int i = 0; i < 3; i++) {
    AG_CHECK_NEAR(dz[i], turn[i], 1e-14);
    AG_CHECK_NEAR(dz[3 + i], field[i], 1e-14);
    AG_CHECK_NEAR(dxi[i], field[i], 1e-14);
  }
  bench_done(&b);
}

/* Noise coefficients of E, M.Gamma and |M|^2/2 of the Chaplygin ball. */
static void check_ball(const char *noise, const double *wanted) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", BALL("0", CHAPLYGIN, ""), noise);
  bench b;
  bench_init(&b, text, false);
  stand(&b);
  const double I[3] = {0.35, 0.45, 0.6};
  double step[2] = {0, 1}, dz[16], dxi[6];
  ag_work_step(b.w, step);
  AG_CHECK(ag_work_increment(b.w, AG_ROLE_INCREMENT, 0, b.z, b.c, dz) == AG_FINE);
  AG_CHECK(ag_work_noise(b.w, 0, b.x, 0, NULL, dxi, NULL) == AG_FINE);
  for (int closure = 0; closure < 2; closure++) {
    const double *dO = closure ? dxi : dz + b.n->u_at, *dG = dz;
    double got[3] = {0}, OG = 0, dOG = 0, M[3], dM[3];
    for (int i = 0; i < 3; i++) OG += OMEGA[i] * GAMMA[i], dOG += dO[i] * GAMMA[i] + OMEGA[i] * dG[i];
    for (int i = 0; i < 3; i++) { /* M = I Omega + Omega - (Omega.Gamma) Gamma, 2 E = M.Omega */
      M[i] = (I[i] + 1) * OMEGA[i] - OG * GAMMA[i];
      dM[i] = (I[i] + 1) * dO[i] - dOG * GAMMA[i] - OG * dG[i];
      got[0] += (dM[i] * OMEGA[i] + M[i] * dO[i]) / 2;
      got[1] += dM[i] * GAMMA[i] + M[i] * dG[i];
      got[2] += M[i] * dM[i];
    }
    for (int i = 0; i < 3; i++) AG_CHECK_NEAR(got[i], wanted[i], 1e-14);
  }
  bench_done(&b);
}

static void check_balls(void) {
  check_ball("noise W transport Omega = [0.1, 0.2, -0.3]\n",
             (double[]){0.01295719999999998, 0.027199999999999953, 0.007586400000000001});
  check_ball("noise W transport Omega = 0.1*Gamma frozen\n",
             (double[]){-0.0042539999999999896, 0, 0.004254000000000018});
  check_ball("noise W transport Omega = 0.1*Gamma\n", (double[]){0, 0, 0.004254000000000007});
}

/* ---- systems of every kind ---- */

static const char *const texts[] = {
    BALL("0.2", ROUTH, "noise W transport Omega = [0.1, 0.2, -0.3]\nnoise V transport Omega = 0.2*cross(Gamma, e1)\n"),
    BALL("0.2", CHAPLYGIN, "noise W transport Omega = (1 + t)*Gamma frozen\nnoise W potential 0.3*x[1]*Gamma[1]\n"),
    BALL("0.1", CHAPLYGIN,
         "noise V force Omega = 0.3*cross(Omega, e2) + Gamma, x'[1] = x[2]\nnoise W transport x'[1] = 0.2 raw\n"),
    /* x enters through the noise alone */
    BALL("0.2", ROUTH, "noise W transport Omega = 0.3*sin(x[1])*e3\n"),
    /* affine: a ball on a turning plane */
    "model turning\nparam k = 0.4, w = 0.7\nconfig R in SO3 velocity Omega\nconfig x in R^2\nlet o = R*Omega\n"
    "lagrangian k/2*dot(Omega, Omega) + 1/2*dot(x', x')\n"
    "constraint x' = [o[2], -o[1]] + w*[-x[2], x[1]]\n"
    "noise W transport Omega = [0.2, 0.1, 0.3*cos(t)]\nnoise V potential 0.2*sin(x[1])*x[2]\n"
    "noise U transport x'[1] = 0.1*x[2], x'[2] = 0.3, Omega[3] = 0 raw\n",
    /* a basis: the heading of a blade is arbitrary; the mass depends on the place */
    "model blade\nparam a = 0.3\nconfig x in R, y in R, phi in S1\n"
    "lagrangian 1/2*(x'^2 + (2 + sin(x))*y'^2 + phi'^2) + a*x*y' - a*y^2\n"
    "constraint x'*sin(phi) = y'*cos(phi)\n"
    "noise W transport phi' = 0.4*cos(x)\nnoise V force x' = 0.1*y', phi' = 0.2\n"
    "noise U transport x' = 0.3*cos(phi), y' = 0.3*sin(phi)\n",
    /* a frame */
    "model sleigh\nparam a = 0.3\nconfig x in R, y in R, phi in S1\n"
    "lagrangian 1/2*((x' - a*sin(phi)*phi')^2 + (y' + a*cos(phi)*phi')^2 + phi'^2)\n"
    "constraint x'*sin(phi) = y'*cos(phi)\nframe v = x'*cos(phi) + y'*sin(phi), w = phi'\n"
    "noise W transport v = 0.2*(1 + x^2)\nnoise V transport w = 0.3\nnoise U transport phi' = 0.1 raw\n",
    /* holonomic, moving */
    "model rods\nparam a = 0.3\nconfig x in R^2, y in R^2\n"
    "lagrangian 1/2*dot(x', x') + 3/2*dot(y', y') - y[2]\nholonomic dot(x, x) = (1 + 0.1*sin(t))^2\n"
    "holonomic dot(x - y, x - y) = 1\nnoise W force y' = [0.2, 0.1*x[1]]\nnoise V potential 0.3*x[1]*y[2]\n"
    "start x = [0, -1], y = [1, -1]\n",
    /* a given dependent velocity changes places with an independent one */
    "model disk\nconfig x in R, y in R, phi in S1, psi in S1\n"
    "lagrangian 1/2*(x'^2 + y'^2) + 1/4*psi'^2 + 1/8*phi'^2\nconstraint x' = cos(phi)*psi'\n"
    "constraint y' = sin(phi)*psi'\ndomain phi in -1..1\nnoise W transport x' = 0.3, phi' = 0.2*sin(psi)\n",
};

static void check_classes(void) {
  static const struct {
    const char *text;
    ag_noise_class wanted;
  } rows[] = {
      {"model p\nconfig x in R^2\nlagrangian 1/2*dot(x', x')\nnoise W force x'[1] = 1\nnoise V force x'[2] = 2\n",
       AG_NOISE_ADDITIVE},
      {"model p\nconfig x in R^2\nlagrangian 1/2*dot(x', x')\nnoise W force x'[1] = x[1]\nnoise V force x'[2] = x[1]\n",
       AG_NOISE_COMMUTATIVE},
      {"model p\nconfig x in R^2\nlagrangian 1/2*dot(x', x')\nnoise W transport x' = [-x[2], x[1]]\n",
       AG_NOISE_COMMUTATIVE},
      {"model p\nconfig x in R^2\nlagrangian 1/2*dot(x', x')\nnoise W transport x' = [-x[2], x[1]]\n"
       "noise V transport x' = [1, 0]\n",
       AG_NOISE_GENERAL},
      {"model p\nparam I1 = 1\nconfig R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(I1, 2, 3)*Omega)\n"
       "noise W transport Omega = e1\nnoise V transport Omega = e2\n",
       AG_NOISE_GENERAL},
      {BALL("0.2", ROUTH, "noise W transport Omega = 0.1*e3\n"), AG_NOISE_COMMUTATIVE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench b;
    bench_init(&b, rows[i].text, false);
    AG_CHECK_STR(ag_noise_word(ag_system_noise(b.sys)), ag_noise_word(rows[i].wanted));
    bench_done(&b);
  }
}

/* Transports that cannot be completed, or violate the constraints. */
static void check_refused(void) {
#define POINT "model m\nconfig x in R, y in R, phi in S1\nlagrangian 1/2*(x'^2 + y'^2 + phi'^2)\nconstraint "
  static const char *const rows[][2] = {
      {POINT "x' = y' + phi'\nnoise V transport x' = 0.1*phi\n",
       "do not determine the rest of this transport: of `y'`, `phi'` give 1 more, or write `raw`"},
      {POINT "x'*sin(phi) = y'*cos(phi)\nnoise W transport x' = 1, y' = 1\n", "violates the constraints (S sigma = 1)"},
      {POINT "x'*sin(phi) = y'*cos(phi)\nnoise W transport y' = 1\n", "has no finite value at the start"},
  };
#undef POINT
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_ctx ctx = {0};
    ag_model *m = NULL;
    ag_system *sys = NULL;
    ag_text said = {0};
    AG_CHECK(ag_lang_read(&ctx, "model", rows[i][0], strlen(rows[i][0]), 0, NULL, &m) == AG_OK);
    AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_WRONG);
    ag_ctx_render(&ctx, &said);
    AG_CHECK(strstr(ag_text_cstr(&said), rows[i][1]));
    ag_text_done(&said);
    ag_model_free(m);
    ag_ctx_done(&ctx);
  }
}

/* ---- for the comparison with tests/models/noise_test.py ---- */

static void print_list(const char *name, int n, const double *v, const char *end) {
  printf("\"%s\": [", name);
  for (int i = 0; i < n; i++) printf("%s%.17g", i ? ", " : "", v[i]);
  printf("]%s", end);
}

static int print_fields(const char *path) {
  char *text = calloc(1, 1 << 20);
  FILE *f = fopen(path, "rb");
  bench b;
  if (!f || !fread(text, 1, (1 << 20) - 1, f)) return 1;
  fclose(f);
  bench_init(&b, text, false);
  double *sigma = calloc((size_t)b.n->xi, 8), *dxi = calloc((size_t)b.n->xi, 8);
  for (unsigned seed = 1; seed <= 6; seed++) {
    AG_CHECK(ag_system_sample(b.sys, b.w, seed, &b.t, b.x) == AG_OK);
    AG_CHECK(ag_work_reduce(b.w, b.t, b.x, b.c, b.z) == AG_FINE);
    for (int i = 0; i < b.n->channel; i++) {
      printf("{\"channel\": \"%s\", \"t\": %.17g, ", ag_layout_item(b.sys, AG_LAYOUT_NOISE, i)->name, b.t);
      print_list("q", b.n->q, b.x, ", ");
      print_list("xi", b.n->xi, b.x + b.n->q, ", ");
      AG_CHECK(ag_work_noise(b.w, b.t, b.x, i, sigma, dxi, NULL) == AG_FINE);
      print_list("sigma", b.n->xi, sigma, ", ");
      print_list("multipliers", b.n->xi, dxi, ", ");
      eliminated(&b, i, dxi);
      print_list("eliminated", b.n->xi, dxi, "}\n");
    }
  }
  bench_done(&b);
  free(sigma);
  free(dxi);
  free(text);
  return ag_check_report();
}

int main(int argc, char **argv) {
  if (argc > 1) return print_fields(argv[1]);
  check_routh();
  check_balls();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    check_closures(texts[i]);
    if (!strstr(texts[i], "frame ")) check_saddle(texts[i]);
  }
  check_classes();
  check_refused();
  return ag_check_report();
}
