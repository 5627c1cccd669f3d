/* SPDX-License-Identifier: MIT
 * Studies: front header of study/. Questions about models and motions beyond one run: grids of swept values,
 * starts on a level or a section, the members of a batch and the result of each. Nothing here prints. */
#ifndef AG_STUDY_STUDY_H
#define AG_STUDY_STUDY_H
#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "base/status.h"
#include "base/text.h"

/* Texts, such as the values of an option that may be repeated. */
typedef struct ag_list {
  int n;
  const char **at;
} ag_list;

/* A constant: a decimal, or an expression of the model language such as 2*pi, sqrt(2) or 20*deg; the whole string must
 * be one. False also when it is not finite; why (or NULL) is the error message of the language. */
bool ag_number_parse(const char *s, double *value);
bool ag_number_read(const char *s, double *value, ag_text *why);

/* ---- the structure of a system ---- */

typedef struct ag_structure {
  bool depends_on_time, forces, affine; /* what can change the energy: the Lagrangian; forces; constraints */
  int n_rows[3], n_dropped;             /* rows of the constraints by ag_row_kind; those that are redundant */
  int freedom;                          /* degrees of freedom */
  double condition;                     /* of the equations at the start */
  ag_record record;
  ag_run_result start; /* of a run of no length: the record at the start */
} ag_structure;
AG_MUST_USE ag_status ag_structure_find(ag_structure *s, ag_ctx *ctx, ag_model *m, const ag_system *sys, double t0);
void ag_structure_done(ag_structure *s);

/* ---- the members of a batch ---- */

/* One direction of a grid: n points, each a value for every one of its names. */
typedef struct ag_axis {
  int n_name;
  char **names;
  const char *range;       /* "NAME=LO:HI:N" as the user wrote it; NULL for a table */
  size_t from[2], size[2]; /* of a range: where LO and HI are in it */
  long n;
  bool cut;       /* of a table: its last line has no end */
  double *values; /* n x n_name; of a range only when its ends are known */
} ag_axis;

/* The values that differ between members. Several axes make a grid, the last one running fastest. */
typedef struct ag_grid {
  int n_axis, n_name;
  ag_axis *axes;
  char **names;  /* of all axes in order; owned by them */
  long n;        /* members */
  int n_solved;  /* number of names at the end, an axis of one point, that are solved for in every member */
  ag_text table; /* the text of the table, if there is one */
} ag_grid;

/* The source of the members and their starts. */
typedef struct ag_members_request {
  anagyre_model *model;
  int n_set;
  const ag_set *sets;  /* values set in it */
  ag_list sweeps;      /* "NAME=LO:HI:N" */
  const char *starts;  /* path of a table, one member per row; or NULL */
  const char *table;   /* the text of that table, in place of the file; or NULL */
  ag_list levels;      /* "NAME=VALUE": energy or an observable has this value at the start */
  const char *solve;   /* start values that are solved for, comma-separated; NULL: chosen */
  const char *section; /* the start lies on this section; or NULL */
  double t0;
  bool strict, multipliers, by_cost; /* as in ag_derive_options */
} ag_members_request;

typedef struct ag_members {
  ag_ctx ctx;          /* everything that was reported */
  ag_varied *varied;   /* the model, derived once for all members */
  ag_grid grid;        /* swept values, then values solved for */
  int section;         /* 1 + its index, 0: none */
  long n, n_ready;     /* all of them; those that can start */
  double *values;      /* n x n_name: swept and solved values */
  long *index;         /* per member that can start: which of all */
  double *params, *x0; /* of those that can start */
  char **reason;       /* per member of all: why it cannot start, or NULL */
  bool *off_level;     /* per member of all: because there is no start on the level */
  long n_off_level;
  ag_system **own; /* per member that can start: equations of its own, or NULL (ag_varied_start_own()) */
} ag_members;

/* Derives the model and completes every start. A mistake in the request: one line in *usage. Other errors are in
 * m->ctx, or in that of the model when it cannot be read at all. */
AG_MUST_USE ag_status ag_members_create(ag_members *m, const ag_members_request *request, ag_text *usage);
void ag_members_done(ag_members *m);

/* ---- a finished batch ---- */

/* A column of the output: a whole column of the record, or one number of it. */
typedef struct ag_pick {
  const ag_column *column;
  int entry; /* -1: all */
} ag_pick;
int ag_pick_size(const ag_pick *p);
int ag_pick_offset(const ag_pick *p);                     /* in a record */
void ag_pick_name(const ag_pick *p, int k, ag_text *out); /* of its k-th number */

typedef struct ag_batch_report {
  const ag_members *members;
  ag_batch_options options;
  anagyre_batch *batch;          /* NULL until it has run */
  const ag_batch_result *result; /* of it */
  ag_record record;
  int n_pick;
  ag_pick *picks;
  bool *wanted; /* per column of the record */
  long *row;    /* per member: its row in the result, -1: it did not start */
  long n_failed, n_stopped;
  double *blank; /* a record of NaN, for those that did not start */
} ag_batch_report;

/* Chooses the columns ("a,b[2],R[1,3]"; NULL: all). A name that is not there: one line in *usage. */
AG_MUST_USE ag_status ag_batch_report_init(ag_batch_report *b, const ag_members *m, const ag_batch_options *o,
                                           const char *columns, ag_text *usage);
/* Runs the members that can start; errors go to ctx. */
AG_MUST_USE ag_status ag_batch_report_run(ag_batch_report *b, ag_ctx *ctx);
void ag_batch_report_done(ag_batch_report *b);

/* One member, counted from 0. */
const ag_batch_member *ag_batch_report_member(const ag_batch_report *b, long i); /* NULL: it did not start */
const double *ag_batch_report_record(const ag_batch_report *b, long i);          /* at its end */
const char *ag_batch_report_end(const ag_batch_report *b, long i); /* how it ended, or why it did not start */
double ag_batch_report_time(const ag_batch_report *b, long i);     /* when */
bool ag_batch_report_failed(const ag_batch_report *b, long i);     /* a start off the level is no failure */
long ag_batch_report_n_point(const ag_batch_report *b, long i);    /* of the section */
long ag_batch_report_n_points(const ag_batch_report *b);           /* of all members */

/* What to say about a column that a record does not have, or a method that is unknown; --`option` names it. AG_WRONG.
 */
ag_status ag_unknown_column(const char *option, const ag_record *record, const char *name, ag_text *usage);
ag_status ag_unknown_method(const char *name, ag_text *usage);

#include "study/conserve.h"
#include "study/converge.h"
#include "study/converge_noise.h"
#include "study/multilevel.h"
#endif
