/* SPDX-License-Identifier: MIT
 * Front header of api/ for the program: the public library anagyre.h, and what lies behind its handles. Not installed.
 */
#ifndef AG_API_API_H
#define AG_API_API_H
#include "api/anagyre.h"
#include "base/status.h"
#include "lang/lang.h"
#include "run/run.h"

/* ---- models ---- */

/* anagyre_open for a file that is open already; name is what messages call it. */
anagyre_model *ag_api_open_stream(const char *name, int fd);
/* anagyre_open_text for a text that may contain any bytes. */
anagyre_model *ag_api_open_text(const char *name, const char *text, size_t size);
/* Where the model was found and its text; NULL when it was not. Errors and notes so far. */
const char *ag_api_path(const anagyre_model *m);
const char *ag_api_drivers(const anagyre_model *m); /* as given to anagyre_drive, or NULL */
const char *ag_api_text(const anagyre_model *m, size_t *size);
ag_ctx *ag_api_ctx(anagyre_model *m); /* diagnostics of the model; errors of the last call, if any */
/* Reads the model, or reads and derives it, if that has not been done; on failure NULL, with the reason in the context.
 * The status says what kind of failure it was. A system lives until another one is asked for, by options that lead to
 * other equations (ag_run_derive): whoever changes the options of a run asks again. */
ag_status ag_api_status(const anagyre_model *m);
ag_model *ag_api_model(anagyre_model *m);
ag_system *ag_api_system(anagyre_model *m, const ag_derive_options *o);
/* 1 + index of a section of the model; 0 with an error in ctx when it has none of this name. */
int ag_api_section(ag_ctx *ctx, const ag_model *m, const char *name);

/* The shipped models: names (file names without .nh) in alphabetical order and where they are. */
typedef struct ag_shipped {
  int n;
  char **names, **paths;
} ag_shipped;
void ag_shipped_init(ag_shipped *shipped);
void ag_shipped_done(ag_shipped *shipped);

/* ---- one run ---- */

/* Options of a run for the program alone: files that are written during the run and continued. Each may be NULL or
 * 0. */
typedef struct ag_api_hooks {
  void (*event)(void *self, int event, double t);
  void (*save)(void *self, const ag_checkpoint *c);
  void *self;
  const ag_checkpoint *from;
  double residual_max; /* of the run that is continued */
} ag_api_hooks;
/* The method of a run that names none: ag_run_choose() from the start of the model. */
void ag_api_choose(ag_system *sys, ag_run_options *o, double *stiffness);
anagyre_motion *ag_api_run(anagyre_model *m, const anagyre_options *o, const ag_api_hooks *hooks);
/* The options as run/ knows them: false with an error in ctx when they are wrong. Callbacks are left out. */
bool ag_api_run_options(ag_ctx *ctx, const anagyre_options *o, ag_run_options *out);
const ag_run_result *ag_api_result(const anagyre_motion *r);
const ag_record *ag_api_record(const anagyre_motion *r);

/* ---- many runs ---- */

/* A model read and derived once, for values that differ from member to member. */
typedef struct ag_varied ag_varied;
/* Derives it as the member with these values has it. option: where the names come from ("--sweep"), kept by the caller.
 * NULL: errors are in ctx. */
ag_varied *ag_varied_create(ag_ctx *ctx, anagyre_model *m, const char *option, int n_name, const char *const *names,
                            const double *values, const ag_derive_options *o);
void ag_varied_free(ag_varied *v);
ag_model *ag_varied_model(const ag_varied *v);
ag_system *ag_varied_system(const ag_varied *v);
bool ag_varied_is_param(const ag_varied *v, int k); /* is name k a parameter, not a start value? */
const int *ag_varied_offsets(const ag_varied *v);   /* per name: where its parameter stands among all */
/* Parameters (n_param numbers) of the member with these values; the name of one that is not finite, or NULL. */
const char *ag_varied_params(ag_varied *v, const double *values, double *params);
/* Expressions of the parameters as a tape over them. */
ag_tape *ag_varied_tape(const ag_varied *v, int n, const ag_id *x);
/* Parameters (n_param numbers) and completed start (full state) of the member with these values. */
AG_MUST_USE ag_status ag_varied_start(ag_ctx *ctx, ag_varied *v, const double *values, double *params, double *x);
/* The same for members that may need other equations, because rows of constraints follow from others for some values
 * and not for all, or because velocities can be solved for with some values only: *own are then equations derived for
 * them, or NULL. They belong to v. */
AG_MUST_USE ag_status ag_varied_start_own(ag_ctx *ctx, ag_varied *v, const double *values, double *params, double *x,
                                          ag_system **own);

/* The message of the first error, copied; why a start could not be completed when there is none. */
char *ag_api_first_error(const ag_ctx *ctx);
/* Does an event end runs or cut steps? In a batch only these are located: others would cost time in the lanes. */
bool ag_api_needs_events(const ag_model *m);
/* The next name of "a,b[2],R[1,3]" (commas inside brackets do not separate), *text moved behind it and NULL after the
 * last; false: there is none. */
bool ag_api_next_column(const char **text, ag_text *name);

/* Members whose starts are complete: where each stands among those that can start, and why the others cannot. */
typedef struct ag_api_members {
  ag_varied *varied;
  long n, n_ready;
  const long *row;          /* per member: its place among those that can start, -1: it cannot */
  char *const *reason;      /* per member: why not, or NULL */
  const double *params, *x; /* n_ready x n_param; n_ready x dims.x */
  ag_system *const *own;    /* per member that can start: equations of its own, or NULL */
} ag_api_members;
/* anagyre_run_many for such members. Of the readers in anagyre.h those of single members work; columns and points are
 * read from the result, where they are not copied. NULL: errors are in ctx. */
anagyre_batch *ag_api_run_members(ag_ctx *ctx, const ag_api_members *m, const ag_batch_options *o);
/* The results of the members that started, and the index of member i among them; -1: it did not start. */
const ag_batch_result *ag_api_batch_result(const anagyre_batch *b);
const ag_record *ag_api_batch_record(const anagyre_batch *b);
long ag_api_batch_row(const anagyre_batch *b, long i);
/* Warns of members whose energy, contacts or events are in doubt, all of one kind at once (batch_notes.c). True: of
 * energies. */
bool ag_api_batch_notes(ag_ctx *ctx, const anagyre_batch *b, const ag_system *sys, const ag_run_options *o);
#endif
