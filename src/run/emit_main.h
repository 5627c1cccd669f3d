/* SPDX-License-Identifier: MIT
 * The program at the end of emitted code. A text behind the functions of the model, which defines
 *   AG_MODEL(word)                the model's functions and arrays: rhs, velocity, start, ...
 *   N_STATE, N_BASIS, N_XI, N_UNIT   numbers; AG_T0, the time it starts at
 *   AG_RENEW, AG_SETTLE           whether it has these functions
 *   state_names, velocity_names   what is printed at the end
 *   units                         the places of each quaternion in z */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Classical Runge-Kutta steps from the start of the model: PROGRAM [end time] [step] */
int main(int argc, char **argv) {
  enum { N = N_STATE };
  static const double a[4] = {0, 0.5, 0.5, 1};
  double end = argc > 1 ? atof(argv[1]) : 1, h = argc > 2 ? atof(argv[2]) : 0.001, t = AG_T0;
  double z[N + 1], k[4][N + 1], w[N + 1], c[N_BASIS + 1], xi[N_XI + 1];
  const double *p = AG_MODEL(params);
  long n = (long)ceil((end - t) / h - 1e-9);
  if (n < 1) n = 1;
  h = (end - t) / (double)n;
  memcpy(c, AG_MODEL(basis), sizeof(double) * N_BASIS);
  memcpy(z, AG_MODEL(start), sizeof(double) * N);
  for (long i = 0; i < n; i++) {
    for (int s = 0; s < 4; s++) {
      for (int j = 0; j < N; j++) w[j] = z[j] + (s ? h * a[s] * k[s - 1][j] : 0);
      if (AG_MODEL(rhs)(t + h * a[s], w, c, p, k[s])) {
        fprintf(stderr, "the equations cannot be solved at t = %g\n", t);
        return 1;
      }
    }
    for (int j = 0; j < N; j++) z[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    t += h;
    /* quaternions keep their length in exact arithmetic, not in a Runge-Kutta step */
    for (int u = 0; u < N_UNIT; u++) {
      double square = 0;
      for (int j = 0; j < 4; j++) square += z[units[u][j]] * z[units[u][j]];
      for (int j = 0; j < 4; j++) z[units[u][j]] /= sqrt(square);
    }
#if AG_RENEW
    double renewed[N_BASIS + 1];
    AG_MODEL(renew)(t, z, c, p, renewed);
    memcpy(c, renewed, sizeof(double) * N_BASIS);
#endif
#if AG_SETTLE
    for (int s = 0; s < 2; s++) {
      if (AG_MODEL(settle)(t, z, c, p, w)) return 1;
      memcpy(z, w, sizeof(double) * N);
    }
#endif
  }
  AG_MODEL(velocity)(t, z, c, p, xi);
  printf("t = %.17g\n", t);
  for (int i = 0; i < N; i++) printf("%s = %.17g\n", state_names[i], z[i]);
  for (int i = 0; i < N_XI; i++) printf("%s = %.17g\n", velocity_names[i], xi[i]);
  return 0;
}
