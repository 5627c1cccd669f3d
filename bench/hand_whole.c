/* SPDX-License-Identifier: MIT
 * hand_whole T1 [RTOL ATOL]: the shipped rattleback with its heading and place, from its start to T1, by
 * Dormand-Prince 8(5,3) fused by hand with the equations: the yardstick of `anagyre run rattleback`. Prints one JSON
 * object: CPU seconds, right-hand sides, spin and place at the end.
 *
 * The core (rattleback.h, in the axes of the ellipsoid) decides the step sizes; heading and place follow from its
 * stages. With u the first axis of the body and psi the direction of its horizontal part,
 *   psi' = (G2 W2 + G3 W3)/(1 - G1^2),
 * a quadrature; and with v = r x W, the velocity of the centre of mass in the body, and c^2 = 1 - G1^2,
 *   x' + i y' = e^(i psi) ((v1 - G1 v.G) + i (G3 v2 - G2 v3))/c,
 * another one behind it. The turns psi_i - psi within a step are small, and their e^(i psi) short series. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHIPPED_STONE
#include "rattleback.h"
#include "step/tableau.h"

enum { N = 6, STAGES = 12 };

/* A try, from stage 0 to stage 12: in each the core, its rates, angular velocity and contact. */
typedef struct stages {
  double w[STAGES + 1][N], K[STAGES + 1][N];
  v3 W[STAGES + 1], r[STAGES + 1];
} stages;

INLINE void evaluate(stages *s, int n) { rattleback_motion(s->w[n], s->K[n], &s->W[n], &s->r[n]); }

/* Returns the error. */
INLINE double try_step(double h, stages *s, double rtol, double atol) {
  double(*restrict w)[N] = s->w, (*restrict K)[N] = s->K, *y = w[0], *y1 = w[STAGES], size5 = 0, size3 = 0;
#define TERM(j, a) sum += (a)*K[j][i];
#define STAGE(n, c, A) \
  for (int i = 0; i < N; i++) { \
    double sum = 0; \
    A(TERM) w[n][i] = y[i] + h * sum; \
  } \
  evaluate(s, n);
  AG_RK_dop853_STAGES(STAGE) for (int i = 0; i < N; i++) {
    double sum = 0;
    AG_RK_dop853_B(TERM) y1[i] = y[i] + h * sum;
  }
  evaluate(s, STAGES);
  for (int i = 0; i < N; i++) {
    double a = fabs(y[i]), b = fabs(y1[i]), scale = 1 / (atol + rtol * (a > b ? a : b)), sum = 0;
    AG_RK_dop853_E(TERM) size5 += sum * scale * (sum * scale);
    sum = 0;
    AG_RK_dop853_E3(TERM) size3 += sum * scale * (sum * scale);
  }
  return h * size5 / sqrt((1e-300 + size5 + 0.01 * size3) * N);
#undef TERM
#undef STAGE
}

/* Where the stone is: e^(i psi) and the place of its centre of mass. */
typedef struct place {
  double turn[2], x[2];
} place;

/* e^(i a) for small a. */
INLINE void small_turn(double a, double *e) {
  const double s = a * a;
  e[0] = 1 - s / 2 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * (1 - s / 132 * (1 - s / 182))))));
  e[1] = a * (1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110 * (1 - s / 156 * (1 - s / 210)))))));
}

/* Heading and place after a step. */
INLINE void move(double h, const stages *s, place *p) {
  double rate[STAGES], a[STAGES + 1] = {0}, moved[2] = {0, 0}, e[2];
  for (int n = 0; n < STAGES; n++) {
    const double *G = s->w[n] + 3;
    rate[n] = (G[1] * s->W[n].y + G[2] * s->W[n].z) / (1 - G[0] * G[0]);
  }
#define TERM(j, b) sum += (b)*rate[j];
#define STAGE(n, c, A) \
  { \
    double sum = 0; \
    A(TERM) a[n] = h * sum; \
  }
  AG_RK_dop853_STAGES(STAGE) STAGE(STAGES, 1, AG_RK_dop853_B)
#undef TERM
#undef STAGE
#define TERM(j, b) \
  { \
    const v3 G = {s->w[j][3], s->w[j][4], s->w[j][5]}, v = cross(s->r[j], s->W[j]); \
    const double part = (b) / sqrt(1 - G.x * G.x), ahead = v.x - G.x * dot(v, G), across = G.z * v.y - G.y * v.z; \
    small_turn(a[j], e); \
    moved[0] += part * (e[0] * ahead - e[1] * across); \
    moved[1] += part * (e[1] * ahead + e[0] * across); \
  }
      AG_RK_dop853_B(TERM)
#undef TERM
          const double c = p->turn[0],
                       d = p->turn[1];
  p->x[0] += h * (c * moved[0] - d * moved[1]);
  p->x[1] += h * (d * moved[0] + c * moved[1]);
  small_turn(a[STAGES], e);
  p->turn[0] = c * e[0] - d * e[1], p->turn[1] = d * e[0] + c * e[1];
}

/* From stage 12 of a step to stage 0 of the next. */
INLINE void go_on(stages *s) {
  memcpy(s->w[0], s->w[STAGES], sizeof s->w[0]);
  memcpy(s->K[0], s->K[STAGES], sizeof s->K[0]);
  s->W[0] = s->W[STAGES], s->r[0] = s->r[STAGES];
}

static long solve(double t1, double rtol, double atol, double *y, place *p) {
  stages s;
  double t = 0, h = 1e-3;
  long n = 1;
  int rejected = 0;
  memcpy(s.w[0], y, sizeof s.w[0]);
  evaluate(&s, 0);
  while (t < t1) {
    if (t + h > t1) h = t1 - t;
    double error = try_step(h, &s, rtol, atol), factor = 0.9 / sqrt(sqrt(sqrt(error + 1e-30)));
    n += STAGES;
    if (!(factor > 0.2)) factor = 0.2;
    if (factor > (rejected ? 1 : 10)) factor = rejected ? 1 : 10;
    rejected = !(error < 1);
    if (!rejected) {
      t += h;
      move(h, &s, p);
      go_on(&s);
    }
    h *= factor;
  }
  memcpy(y, s.w[0], sizeof s.w[0]);
  return n;
}

static double cpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  const double t1 = atof(argv[1]), rtol = argc > 2 ? atof(argv[2]) : 1e-10, atol = argc > 3 ? atof(argv[3]) : 1e-12;
  /* Omega = [0.2, 0, 0.5] in the axes of the body, which those of the ellipsoid are turned against by 0.35 */
  const double W[] = {0.2 * COS_TURN, 0.2 * SIN_TURN, 0.5}, G[] = {0, 0, 1};
  double y[N];
  place p = {{COS_TURN, -SIN_TURN}, {0, 0}};
  momentum(W, G, y);
  const double from = cpu_now();
  const long n = solve(t1, rtol, atol, y, &p);
  const double taken = cpu_now() - from;
  const v3 G1 = {y[3], y[4], y[5]};
  const v3 W1 = angular_velocity((v3){y[0], y[1], y[2]}, lever(G1));
  printf("{\"seconds\": %.6g, \"rhs\": %ld, \"spin\": %.17g, \"x\": [%.17g, %.17g]}\n", taken, n, dot(W1, G1), p.x[0],
         p.x[1]);
  return 0;
}
