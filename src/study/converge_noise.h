/* SPDX-License-Identifier: MIT
 * Measured strong and weak orders of methods on a system with noise, and what both studies of orders share. Part of the
 * front header study.h. */
#ifndef AG_STUDY_CONVERGE_NOISE_H
#define AG_STUDY_CONVERGE_NOISE_H
#include "study/converge.h"

enum { AG_NOISY_POINTS = 6 }; /* step sizes, each half of the one before */

typedef struct ag_converge_noise_options {
  double t0, t1;       /* t1 NaN: chosen from the steps of the motion without noise */
  const char *methods; /* names, comma-separated; "all" */
  const char *columns; /* numbers whose means are compared, comma-separated; NULL: state, energy, observables */
  long paths;          /* a multiple of 32 */
  unsigned long long seed;
  bool interpreted;
  int threads; /* 0: one per core */
  const atomic_int *stop;
  void (*progress)(void *self, double done, long runs); /* done: methods measured; may be NULL */
  void *progress_self;
} ag_converge_noise_options;

/* An error at one step size: strong, or weak. */
typedef struct ag_noisy_error {
  double error, spread; /* its standard error */
} ag_noisy_error;

typedef struct ag_noisy_point {
  double dt, seconds; /* processor time of all paths */
  long steps;         /* of each path */
  ag_noisy_error strong, weak;
} ag_noisy_point;

/* A slope with half of its 95 % confidence interval, from n points; NaN: too few errors are significantly different
 * from 0. */
typedef struct ag_noisy_order {
  double declared, order, half;
  int n;
  int hidden;       /* points whose errors are those of the reference: left out */
  ag_agrees agrees; /* to 0.1, with an interval of at most 0.25 to either side */
} ag_noisy_order;

typedef struct ag_noisy_row {
  const ag_stepper *method;
  char *refused; /* why it does not fit the model, or NULL */
  int n_point;
  ag_noisy_point points[AG_NOISY_POINTS]; /* with smaller and smaller steps */
  ag_noisy_order strong, weak;
  int tested;  /* the number whose mean gives the weak errors; -1: none */
  bool far;    /* strong errors as large as the motion even with the smallest steps: they say nothing about orders */
  long failed; /* paths that could not be followed with all steps: left out */
} ag_noisy_row;

typedef struct ag_converge_noise {
  double t0, t1;
  ag_noise_class noise;
  long paths, reference_steps;
  double reference_error; /* strong, of the reference */
  int n_test;
  char **tests; /* names of the numbers whose means are compared */
  int n_row;
  ag_noisy_row *rows;
} ag_converge_noise;

/* Measures the orders of methods on a system with noise. A mistake in the options: one line in *usage. */
AG_MUST_USE ag_status ag_converge_noise_run(ag_converge_noise *c, ag_ctx *ctx, ag_system *sys,
                                            const ag_converge_noise_options *o, ag_text *usage);
void ag_converge_noise_done(ag_converge_noise *c);

/* ---- shared ---- */

AG_MUST_USE ag_status ag_converge_end(ag_ctx *ctx, ag_system *sys, const double *x0, double t0, long steps, double *t1);
ag_agrees ag_agrees_judge(double order, double half, double declared, double slack);
/* The methods that a list names; all: those for motions without noise, or all. -1: one line in *usage. */
int ag_converge_methods(const char *text, bool noise, const ag_stepper ***methods, ag_text *usage);
#endif
