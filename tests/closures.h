/* SPDX-License-Identifier: MIT
 * Both closures of a system, compared at random states. */
#ifndef AG_TESTS_CLOSURES_H
#define AG_TESTS_CLOSURES_H
#include <stdlib.h>

#include "mech/mech.h"
#include "tests/check.h"

/* Eliminated and multiplier accelerations at random states, to 1e-13 times the condition number of the saddle matrix;
 * and the balance of energy against the derivative along the motion by a central difference (error about 1e-9). */
static inline void check_closures(ag_system *sys) {
  int n_x = ag_system_dims(sys)->x;
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  ag_tape *accel = ag_system_accel(sys);
  double *x = calloc((size_t)n_x * 4 + 16, 8), *z = calloc((size_t)ag_system_dims(sys)->z + 1, 8),
         *c = calloc((size_t)ag_system_dims(sys)->c + 1, 8);
  double *a = calloc((size_t)ag_system_dims(sys)->xi + 1, 8), *b = calloc((size_t)ag_system_dims(sys)->xi + 1, 8),
         *slots = calloc((size_t)accel->n_slot + 1, 8);
  double *dx = x + n_x, *y = x + 2 * n_x, t;
  ag_tape_prep(accel, ag_system_param_values(sys), slots);
  for (unsigned seed = 1; seed <= 40; seed++) {
    if (ag_system_sample(sys, w, seed, &t, x) != AG_OK) {
      AG_CHECK(false); /* no sample */
      break;
    }
    AG_CHECK(ag_work_reduce(w, t, x, c, z) == AG_FINE);
    memcpy(y, x, sizeof(double) * (size_t)ag_system_dims(sys)->q);
    memcpy(y + ag_system_dims(sys)->q, z + ag_system_dims(sys)->u_at, sizeof(double) * (size_t)ag_system_dims(sys)->u);
    const double *seg[AG_SEG_COUNT] = {
        [AG_SEG_T] = &t, [AG_SEG_Z] = y, [AG_SEG_P] = ag_system_param_values(sys), [AG_SEG_C] = c};
    AG_CHECK(ag_tape_eval(accel, seg, slots, a) == 0);
    AG_CHECK(ag_work_accel(w, t, x, b, NULL) == AG_FINE);
    double condition = ag_work_condition(w, t, x), size = 1;
    for (int i = 0; i < ag_system_dims(sys)->xi; i++) size = fmax(size, fabs(b[i]));
    for (int i = 0; i < ag_system_dims(sys)->xi; i++) AG_CHECK_NEAR(a[i] / size, b[i] / size, 1e-13 * condition);
    /* dE/dt along the motion */
    double rate = ag_work_energy_rate(w, t, x), h = 1e-5, E[2], power;
    if (ag_system_power(sys)) { /* through the eliminated form */
      double *dz = ag_heap_alloc(sizeof *dz * (size_t)(ag_system_dims(sys)->z + 1));
      AG_CHECK(ag_work_rhs(w, t, z, c, dz) == AG_FINE);
      AG_CHECK(ag_work_power(w, t, z, c, dz, &power) == AG_FINE);
      free(dz);
      AG_CHECK_NEAR(power / (size * size), rate / (size * size), 1e-13 * condition);
    }
    ag_work_rhs_full(w, t, x, dx);
    for (int s = 0; s < 2; s++) {
      for (int i = 0; i < n_x; i++) y[i] = x[i] + (s ? -h : h) * dx[i];
      E[s] = ag_work_energy(w, t + (s ? -h : h), y, NULL);
    }
    AG_CHECK_NEAR((E[0] - E[1]) / (2 * h), rate, 1e-7 * size * size);
  }
  ag_tape_free(accel);
  ag_work_free(w);
  free(x);
  free(z);
  free(c);
  free(a);
  free(b);
  free(slots);
}
#endif
