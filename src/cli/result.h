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
/* "parameters": {name: value} */
void ag_result_json_params(ag_json *j, const ag_system *sys);

/* "files": [{"path","bytes"}]: what was written; none: path NULL */
void ag_result_json_files(ag_json *j, const char *path);

void ag_result_summary(const ag_outcome *o, ag_text *out);
/* The whole object; series may be NULL. j->failed when it cannot be read back. */
void ag_result_json(ag_json *j, const ag_outcome *o, ag_spool *series);
#endif
