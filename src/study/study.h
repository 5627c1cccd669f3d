/* SPDX-License-Identifier: MIT
 * Studies: front header of study/. What is asked of models and motions beyond one run: where models come from, grids of
 * swept values, starts on a level or a section, the members of a batch and what became of each. Nothing here prints. */
#ifndef AG_STUDY_STUDY_H
#define AG_STUDY_STUDY_H
#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "base/status.h"
#include "base/text.h"
#include "lang/lang.h"
#include "mech/mech.h"
#include "run/run.h"

/* ---- what the user gives ---- */

/* Texts, such as the values of an option that may be repeated. */
typedef struct ag_list {
  int n;
  const char **at;
} ag_list;

/* Changes to a model. */
typedef struct ag_changes {
  int n_set;
  ag_set *sets;       /* new values of parameters and of the start, in order */
  const char *end_at; /* names of events that end a run, comma-separated; or NULL */
} ag_changes;

/* A constant: digits, pi, + - * / ^ and parentheses; the whole string must be one. False also when it is not finite. */
bool ag_number_parse(const char *s, double *value);

/* ---- models ---- */

/* A model with all it stands on. Reading it touches files; lang/ and mech/ never do. */
typedef struct ag_source {
  const char *word; /* as the user wrote it: a file, "-" for standard input, or the name of a shipped model */
  char *path;       /* where it was found; "<stdin>" */
  char *text;
  size_t size;
  ag_ctx ctx;        /* everything that was reported */
  ag_model *model;   /* NULL when it does not read */
  ag_system *system; /* NULL when it was not derived */
} ag_source;

/* Errors of all of these go to s->ctx. Finds and reads the text only. */
AG_MUST_USE ag_status ag_source_read(ag_source *s, const char *word);
/* Reads and parses. */
AG_MUST_USE ag_status ag_source_parse(ag_source *s, const char *word, const ag_changes *changes);
/* Reads, parses and derives. */
AG_MUST_USE ag_status ag_source_load(ag_source *s, const char *word, const ag_changes *changes,
                                     const ag_derive_options *o);
/* Parses and derives a text that is there already. */
AG_MUST_USE ag_status ag_source_text(ag_source *s, const char *name, const char *text, int n_set, const ag_set *sets,
                                     const ag_derive_options *o);
/* Makes the events of these names (comma-separated; NULL: none) end a run. */
AG_MUST_USE ag_status ag_source_end_at(ag_source *s, const char *names);
/* Finds a section of the model by its name: 1 + its index. */
AG_MUST_USE ag_status ag_source_section(ag_source *s, const char *name, int *section);
void ag_source_done(ag_source *s);

/* ---- the members of a batch ---- */

/* One direction of a grid: n points, each a value for every one of its names. */
typedef struct ag_axis {
  int n_name;
  char **names;
  char *lo, *hi; /* of a range: its ends as written; NULL for a table */
  long n;
  double *values; /* n x n_name; of a range only when its ends are known */
} ag_axis;

/* What differs from member to member. Several axes make a grid, the last one running fastest. */
typedef struct ag_grid {
  int n_axis, n_name;
  ag_axis *axes;
  char **names; /* of all axes in order; owned by them */
  long n;       /* members */
  int n_solved; /* so many names at the end, an axis of one point, are solved for in every member */
} ag_grid;

/* Where members come from and how they start. */
typedef struct ag_members_request {
  const char *model; /* as in ag_source */
  const ag_changes *changes;
  ag_list sweeps;      /* "NAME=LO:HI:N" */
  const char *starts;  /* path of a table, one member per row; or NULL */
  ag_list levels;      /* "NAME=VALUE": energy or an observable has this value at the start */
  const char *solve;   /* start values that are solved for, comma-separated; NULL: chosen */
  const char *section; /* the start lies on this section; or NULL */
  double t0;
  bool strict;
} ag_members_request;

typedef struct ag_members {
  ag_source source;    /* the model, its swept start values made parameters */
  ag_grid grid;        /* what was swept, then what was solved for */
  int section;         /* 1 + its index, 0: none */
  size_t text_size;    /* of the text as it was, before lines were added to it */
  long n, n_ready;     /* all of them; those that can start */
  bool *is_param;      /* per name of the grid: a parameter, not a start value */
  double *values;      /* n x n_name: swept and solved values */
  long *index;         /* per member that can start: which of all */
  double *params, *x0; /* of those that can start */
  char **reason;       /* per member of all: why it cannot start, or NULL */
  bool *off_level;     /* per member of all: that is because there is no start on the level */
  long n_off_level;
} ag_members;

/* Loads the model and completes every start. A mistake in the request: one line in *usage. Otherwise errors are in
 * m->source.ctx. */
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
  ag_batch_result result;
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
const char *ag_batch_report_end(const ag_batch_report *b, long i);         /* how it ended, or why it did not start */
double ag_batch_report_time(const ag_batch_report *b, long i);             /* when */
bool ag_batch_report_failed(const ag_batch_report *b, long i);             /* a start off the level is no failure */
const ag_series *ag_batch_report_points(const ag_batch_report *b, long i); /* of the section; never NULL */
long ag_batch_report_n_points(const ag_batch_report *b);                   /* of all members */
#endif
