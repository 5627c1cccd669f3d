/* SPDX-License-Identifier: MIT
 * The result of a run, as aligned lines and as the JSON object that `anagyre help output` describes. */
#ifndef AG_CLI_RESULT_H
#define AG_CLI_RESULT_H
#include "cli/json.h"
#include "cli/spool.h"
#include "run/run.h"

/* A finished run and how it was asked for. */
typedef struct ag_outcome {
  const ag_ctx *ctx; /* diagnostics */
  const ag_system *system;
  const ag_record *record;
  const ag_run_options *options;
  const ag_run_result *result;
  double seconds;
  const char *output; /* the file that was written, or NULL */
} ag_outcome;

/* One number or array as text: "0.5", "[1, 2, 3]"; matrices as rows, each indented by `indent` but the first.
 */
void ag_result_value(int rows, int cols, const double *values, int indent, ag_text *out);
/* Lines "  name   value" for the columns of one kind. */
void ag_result_columns(const ag_record *record, const double *values, ag_column_kind kind, ag_text *out);
/* "key": {name: value, ...} of the columns of the kinds from..to. */
void ag_result_json_columns(ag_json *j, const char *key, const ag_record *record, const double *values,
                            ag_column_kind from, ag_column_kind to);
/* The numbers of the first column of that kind. */
const double *ag_result_find(const ag_record *record, const double *values, ag_column_kind kind);
/* "parameters": {name: value} */
void ag_result_json_params(ag_json *j, const ag_system *sys);

/* "files": [{"path","bytes"}]: what was written; none: path NULL */
void ag_result_json_files(ag_json *j, const char *path);

/* Warns of observables and an energy that are not finite; not of those that bodies bring by themselves (a slip ratio
 * where nothing presses). */
/* Warns of places where it could not be decided whether an event or the section is crossed. */
void ag_result_doubts(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o, const ag_run_result *r);
void ag_result_warn(ag_ctx *ctx, const ag_model *m, const ag_record *record, const double *values, const char *when);

/* Warns of a contact that would have to pull, with the time. Needs the body's event of lifting, or looks at the
 * end. */
void ag_result_contacts(ag_ctx *ctx, const ag_outcome *o);
/* Warns of observables that were not finite on the way. */
void ag_result_undefined(ag_ctx *ctx, const ag_outcome *o);
/* Notes that the start is an equilibrium, that steps were limited by stability. */
void ag_result_remarks(ag_ctx *ctx, const ag_outcome *o);
/* Warns of a conserved energy that changed, and of a change that is not the work done; true: it did. */
bool ag_result_energy(ag_ctx *ctx, const ag_outcome *o);

/* Where the motion left its domain: "x = 2.1 at t = 3, not in -2..2"; nothing when it did not. */
void ag_result_left(const ag_outcome *o, ag_text *out);

void ag_result_summary(const ag_outcome *o, ag_text *out);
/* The whole object; series may be NULL. j->failed when it cannot be read back. */
void ag_result_json(ag_json *j, const ag_outcome *o, ag_spool *series);
#endif
