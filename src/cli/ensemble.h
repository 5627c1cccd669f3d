/* SPDX-License-Identifier: MIT
 * A finished ensemble of one method, and how it is shown: text, JSON, a result file. */
#ifndef AG_CLI_ENSEMBLE_H
#define AG_CLI_ENSEMBLE_H
#include "cli/json.h"
#include "cli/option.h"
#include "store/store.h"

typedef struct ag_ensemble_args {
  ag_common common;
  double t0, t1, dt, base, every;
  long paths, seed, path, threads;
  const char *methods, *columns, *output, *from, *chosen, *passages, *target;
  int engine;
  bool antithetic, correlations, covariances, extrapolate, metropolis;
} ag_ensemble_args;

/* A number that is shown: its place among the values of a row, its name. */
typedef struct ag_ensemble_item {
  int value;
  char *name;
} ag_ensemble_item;

/* Paths first .. last whose rows are stored in full. */
typedef struct ag_ensemble_range {
  long first, last;
} ag_ensemble_range;

typedef struct ag_ensemble_request {
  const ag_ensemble_args *a;
  anagyre_model *m;
  ag_system *sys;
  ag_ctx *ctx;          /* receives the errors */
  const double *params; /* of the member of a sweep, or of the model */
  ag_record record;
  bool *wanted;
  int n_value; /* numbers per row */
  int n_item, cap_item;
  ag_ensemble_item *items;
  unsigned long long *row_step;
  ag_tally_pair *pairs;
  long n_chosen;
  ag_ensemble_range *chosen;
  int n_range, cap_range;
  ag_passage *passages;
  char **passage_names; /* "phi=3" */
  int cap_passage, cap_passage_name;
  double *x0;
  ag_archive *saved;
  bool lost;            /* all paths of a method or of a member have failed: the others go on */
  ag_status checkpoint; /* of the last one written; after a failure, which was printed, only the end is */
  ag_ensemble_options o;
} ag_ensemble_request;
/* From the options, with messages about errors in them. done: also after a failure. */
ag_status ag_ensemble_request_init(ag_ensemble_request *q, const ag_ensemble_args *a, anagyre_model *m, ag_system *sys);
void ag_ensemble_request_done(ag_ensemble_request *q);
/* A method by its name; NULL: there is none, which was printed. */
const ag_stepper *ag_ensemble_method(const char *name);
/* A number by its name: a column of the record and an entry. NULL: there is none, which was printed. */
const ag_column *ag_ensemble_number(const char *option, const ag_record *record, const char *name, int *entry);

/* --target: the mean of one number to a given accuracy (ensemble_target.c). */
AG_MUST_USE ag_status ag_ensemble_target(const ag_ensemble_args *a, anagyre_model *model, ag_system *sys);

typedef struct ag_ensemble_report {
  const ag_system *system;
  const ag_ensemble_options *options;
  const ag_record *record;
  int n_item;
  ag_ensemble_item *items;
  char *const *passage_names;
  bool correlations, covariances; /* options->pairs: (row, later row) of item after item, (item, later item) of rows */
  const double *x0, *params;
  long n_chosen;
  const long *chosen;    /* numbers of paths, and */
  const int *reached;    /* rows that they reached */
  const double *in_full; /* [chosen][row][value] */
  const ag_ensemble *result;
} ag_ensemble_report;

double ag_ensemble_time(const ag_ensemble_report *r, int row);
double ag_ensemble_step(const ag_ensemble_report *r); /* the step size */
/* The fraction of accepted steps of methods with a Metropolis test; NaN: other methods, or no path was followed. */
double ag_ensemble_acceptance(const ag_ensemble_report *r);
double ag_ensemble_correlation(const ag_ensemble_report *r, int item, int row_a, int row_b);
double ag_ensemble_covariance(const ag_ensemble_report *r, int row, int item_a, int item_b);
/* The standard error of the time average from batches of rows; NaN with fewer than 4 rows. */
double ag_ensemble_batch_error(const ag_ensemble_report *r, int value);
const double *ag_ensemble_rows(const ag_ensemble_report *r, long k); /* of chosen path k, [row][value] */
void ag_ensemble_text(const ag_ensemble_report *r, ag_text *out);
/* With --extrapolate, the extrapolated means of an item (ensemble_extrapolate.c); else nothing. */
void ag_extrapolate_text(const ag_ensemble_report *r, int item, ag_text *out);
void ag_extrapolate_json(const ag_ensemble_report *r, int item, ag_json *j);
void ag_extrapolate_store(const ag_ensemble_report *r, ag_fields *fields);
/* The members of a JSON object. */
void ag_ensemble_json(const ag_ensemble_report *r, ag_json *j);
/* Writes a result file; prints errors. */
AG_MUST_USE ag_status ag_ensemble_store(const ag_ensemble_report *r, anagyre_model *m, const ag_ensemble_args *a);
/* The rows of one path: members of a JSON object; as CSV. */
void ag_ensemble_path_json(const ag_ensemble_report *r, long path, int n_row, const double *values, ag_json *j);
void ag_ensemble_csv(const ag_ensemble_report *r, unsigned long long path, int n_row, const double *values,
                     ag_text *out);
#endif
