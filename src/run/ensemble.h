/* SPDX-License-Identifier: MIT
 * Ensembles: many paths of one system with noise, and their statistics. Part of the front header run.h. A path is a
 * function of seed, base and its number; results never depend on lanes, threads or interruptions. Memory does not
 * depend on the number of paths. */
#ifndef AG_RUN_ENSEMBLE_H
#define AG_RUN_ENSEMBLE_H
#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "mech/mech.h"
#include "run/record.h"
#include "run/tally.h"
#include "step/step.h"

typedef struct ag_ensemble ag_ensemble;

/* First passage of a number through a level; x is an expression of the model. */
typedef struct ag_passage {
  ag_id x;
  double level;
} ag_passage;

typedef struct ag_ensemble_options {
  ag_wiener path; /* with multiple and level set for the steps */
  double t0;
  unsigned long long paths;
  const ag_stepper *method;
  int n_row; /* rows at these steps, increasing, the last one is the end of the motion */
  const unsigned long long *row_step;
  const bool *columns; /* per column of the record: is it wanted? Only those with an expression may be */
  int n_pair;          /* covariances; values are counted as in ag_ensemble_value */
  const ag_tally_pair *pairs;
  int n_passage;
  const ag_passage *passages;
  bool extrapolate;                                      /* also with half the step: ag_ensemble.extrapolated */
  bool interpreted;                                      /* without compiled code: the same numbers */
  int lanes, threads;                                    /* 0: chosen for the machine */
  const char *compiler;                                  /* NULL: the usual; "none": none */
  const atomic_int *stop;                                /* or NULL */
  void (*progress)(void *self, double done, long steps); /* paths done; may be NULL */
  void *progress_self;
  /* Called from time to time between leaves with the results so far, to be saved. By one thread, which may wait for it.
   * NULL: not called. */
  void (*checkpoint)(void *self, const ag_ensemble *so_far);
  void *checkpoint_self;
  const double *from; /* a saved state to continue, or NULL */
  size_t from_size;
} ag_ensemble_options;

/* A path that could not be followed to the end. */
typedef struct ag_ensemble_failure {
  unsigned long long path;
  int row; /* the first row that it did not reach */
} ag_ensemble_failure;
enum { AG_ENSEMBLE_NAMED = 1000 }; /* failures kept by name; all are counted */

struct ag_ensemble {
  int n_value;            /* numbers per row: the entries of the wanted columns, in order */
  ag_tally *tally;        /* of the paths that did not fail; finished */
  ag_tally *extrapolated; /* or NULL: see ag_ensemble_extrapolated; finished */
  int n_passage;
  ag_tally **passages;             /* of each: the times of those of them that passed; one value, finished */
  unsigned long long done, failed; /* paths, and those of them that failed */
  unsigned long long cut;          /* steps of the others in which an increment was cut, */
  unsigned long long accepted;     /* and those that were accepted, by methods that test them */
  int n_failure;
  ag_ensemble_failure failures[AG_ENSEMBLE_NAMED];
  bool stopped;
  int lanes, threads; /* lanes 0: path by path */
  double most;        /* larger increments are cut; INFINITY: none are */
  bool core_only;
  double seconds, steps; /* of moving, compiling not counted; steps taken by all paths */
  char *note;            /* why not in lanes, or NULL */
  double *saved;         /* the state after the last whole leaf: what `from` takes */
  size_t n_saved;
};

/* Values of the tally: entry i of row r; the mean of entry i over all rows of a path; the variance of that mean,
 * estimated from means of batches of rows (0 with fewer than 4 rows). */
static inline int ag_ensemble_value(const ag_ensemble *e, int row, int i) { return row * e->n_value + i; }
static inline int ag_ensemble_average(const ag_ensemble *e, int n_row, int i) { return n_row * e->n_value + i; }
static inline int ag_ensemble_batches(const ag_ensemble *e, int n_row, int i) { return (n_row + 1) * e->n_value + i; }

/* Values of e->extrapolated: the extrapolation of entry i of row r from steps h and h/2, for row n_row that of the mean
 * over all rows; and the error of the value with step h. */
static inline int ag_ensemble_extrapolated(const ag_ensemble *e, int row, int i) { return row * e->n_value + i; }
static inline int ag_ensemble_off(const ag_ensemble *e, int n_row, int row, int i) {
  return (n_row + 1 + row) * e->n_value + i;
}
/* The weak order assumed by extrapolation: the one declared by the method for the noise of the system. */
double ag_ensemble_weak(const ag_system *sys, const ag_stepper *method);

/* From the full state x0, constraints satisfied, with these parameters. Extends the graph of the model by tapes. Only
 * wrong use gives a status other than AG_OK. */
AG_MUST_USE ag_status ag_ensemble_run(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                                      const ag_ensemble_options *o, ag_ensemble *result);
void ag_ensemble_done(ag_ensemble *e);
/* The wanted numbers of n paths, [path][row][value]; how many rows each reached. */
AG_MUST_USE ag_status ag_ensemble_paths(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                                        const ag_ensemble_options *o, long n, const long *paths, double *values,
                                        int *n_reached);
static inline ag_status ag_ensemble_path(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                                         const ag_ensemble_options *o, unsigned long long path, double *values,
                                         int *n_reached) {
  const long one = (long)path;
  return ag_ensemble_paths(ctx, sys, params, x0, o, 1, &one, values, n_reached);
}
#endif
