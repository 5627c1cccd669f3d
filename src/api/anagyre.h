/* SPDX-License-Identifier: MIT
 * Anagyre, a laboratory for nonholonomic mechanics, as a library for C and C++. Reference: docs/library.md.
 *
 * Open a model, set values in it, run it once or many times, read columns by name:
 *
 *   anagyre_model *stone = anagyre_open("rattleback");
 *   anagyre_set(stone, "spin0", "-0.5");
 *   anagyre_motion *motion = anagyre_run(stone, NULL);
 *   if (!motion) puts(anagyre_error(stone));
 *
 * Errors are texts with file, line and column, the source line and a caret. Nothing here prints or exits; lack of
 * memory is an error, too. Different handles may be used by different threads at the same time, but one model only by
 * one thread at a time. Any number of threads may read a motion or a batch. */
#ifndef ANAGYRE_H
#define ANAGYRE_H
#include <stddef.h>

#define ANAGYRE_VERSION_MAJOR 0
#define ANAGYRE_VERSION_MINOR 1
#define ANAGYRE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library exports what is declared here, and nothing else */

typedef struct anagyre_model anagyre_model;
typedef struct anagyre_motion anagyre_motion; /* the result of one run */
typedef struct anagyre_batch anagyre_batch;   /* the result of many */

/* A view of n values of rows x cols numbers each: number (r, c) of value i is data[i * stride + r * cols + c]. A whole
 * column is contiguous (stride == rows * cols). data is NULL when there is no such name. The numbers belong to the
 * handle that was asked. */
typedef struct anagyre_array {
  const double *data;
  long n, stride;
  int rows, cols;
} anagyre_array;

const char *anagyre_version(void); /* of the library in use, as "0.1.0" */

/* ---- models ---- */

/* Opens a file, or a shipped model by its name (docs/library.md says where it is searched for). Returns NULL only when
 * there is no memory for a handle: anagyre_error says what is wrong. */
anagyre_model *anagyre_open(const char *file_or_name);
/* Opens a model written in a string; name is what messages call it. */
anagyre_model *anagyre_open_text(const char *name, const char *text);
void anagyre_close(anagyre_model *m); /* ignores NULL, as all functions that free */

/* Gives a parameter, coordinate or velocity ("m", "x[2]", "phi'") another value, written as in a model ("2*pi/3"). The
 * last value given to a name counts; NULL withdraws it. After a wrong name or value anagyre_error says so, and nothing
 * runs until it is withdrawn. */
void anagyre_set(anagyre_model *m, const char *name, const char *value);
void anagyre_set_number(anagyre_model *m, const char *name, double value);
/* Makes events end a run (comma-separated names), in addition to the terminal events of the model. NULL: no others. */
void anagyre_end_at(anagyre_model *m, const char *events);
/* Smooth functions of t in place of all Wiener processes of a model with noise, as "W=0.5*sin(3*t); V=0"; NULL: none.
 * The motion is then an ordinary one. */
void anagyre_drive(anagyre_model *m, const char *drivers);

/* The error of the model or of the last call as text; NULL: none. */
const char *anagyre_error(anagyre_model *m);
const char *anagyre_notes(anagyre_model *m); /* warnings and notes about it; "" when there are none */

typedef enum anagyre_kind {
  ANAGYRE_PARAMETER,
  ANAGYRE_COORDINATE,
  ANAGYRE_VELOCITY,
  ANAGYRE_OBSERVABLE,
  ANAGYRE_EVENT,
  ANAGYRE_SECTION
} anagyre_kind;
const char *anagyre_name(anagyre_model *m);  /* as its first statement says */
const char *anagyre_title(anagyre_model *m); /* "" when it has none */
/* The name of item i of a kind, counted from 0; NULL past the end. */
const char *anagyre_item(anagyre_model *m, anagyre_kind kind, int i);
/* The value of a parameter, or of a column at the completed start. Valid until the model is changed or run. */
anagyre_array anagyre_value(anagyre_model *m, const char *name);

/* ---- options of a run ---- */

typedef struct anagyre_options {
  size_t size;              /* of this struct: set by anagyre_defaults */
  double t0, t1;            /* 0, 10; t1 < t0 runs backward */
  double dt;                /* > 0: fixed steps; 0: steps follow the error */
  double rtol, atol;        /* tolerances of a step: 1e-10, 1e-12; atol is scaled with the start, see absolute */
  double max_step;          /* 0: no limit */
  long max_steps;           /* 0: ten million */
  const char *method;       /* such as "dop853" (`anagyre list methods`); NULL: chosen, for run_many dop853 */
  const char *engine;       /* "auto", "compiled", "interpreted": the same numbers, another speed */
  const char *closure;      /* "auto" (by predicted cost), "eliminated", "multipliers" */
  int strict;               /* refuse a start that does not satisfy the constraints */
  int no_events;            /* do not locate events */
  double every;             /* time between rows; 0: every accepted step; < 0: only start and end */
  const char *section;      /* rows at the crossings of this section, and no others; NULL: none */
  long crossings;           /* of the section: end after this many; 0: no limit */
  const char *columns;      /* of anagyre_run_many: columns to output, such as "x,Omega[3],energy"; NULL: all */
  int threads, lanes;       /* of anagyre_run_many; 0: chosen for the machine */
  const volatile int *stop; /* nonzero ends the run; set by a signal handler or another thread; or NULL */
  int (*row)(void *self, const double *row, int n); /* called with each row; rows are not kept; nonzero ends the run */
  void (*progress)(void *self, double at, long steps); /* called occasionally: time reached, or members done; or NULL */
  void *self;                                          /* the first argument of row and progress */
  int absolute;                                        /* atol is taken as it is, whatever the sizes of the start */
  const char *noise; /* for a model with noise: "path" follows one path, "off" runs it without noise; NULL: refused */
  unsigned long long seed, path; /* for noise "path": which one; needs dt */
  double dt_base;                /* the grid on which the path is defined; 0: chosen near dt */
  const char *project; /* with dt, for one run: what its steps are projected onto, as "energy,p1"; NULL: nothing */
} anagyre_options;
void anagyre_options_init(anagyre_options *o, size_t size); /* called by anagyre_defaults */
static inline anagyre_options anagyre_defaults(void) {
  anagyre_options o;
  anagyre_options_init(&o, sizeof o);
  return o;
}

/* ---- one run ---- */

/* Runs from the start; NULL options: the defaults. Returns NULL when the model or the options are wrong. A motion that
 * ended early or failed is a result too: see anagyre_motion_end. */
anagyre_motion *anagyre_run(anagyre_model *m, const anagyre_options *o);
void anagyre_motion_free(anagyre_motion *r);

const char *anagyre_motion_end(const anagyre_motion *r);       /* why it ended: "time reached", "event", ... */
const char *anagyre_motion_end_event(const anagyre_motion *r); /* the event that ended it, or NULL */
const char *anagyre_motion_method(const anagyre_motion *r);    /* the method that was used */
int anagyre_motion_failed(const anagyre_motion *r);            /* nonzero unless it ended as requested */
const char *anagyre_motion_notes(const anagyre_motion *r);     /* cause of a failure, warnings, notes; or "" */
long anagyre_motion_steps(const anagyre_motion *r);            /* accepted steps */
long anagyre_motion_rejected(const anagyre_motion *r);         /* rejected steps */
double anagyre_motion_energy_drift(const anagyre_motion *r);   /* largest |E - E0|; NaN when the energy is not finite */
double anagyre_motion_residual(const anagyre_motion *r);       /* largest residual of the constraints */

/* The name of column i, counted from 0; NULL past the end. */
const char *anagyre_motion_item(const anagyre_motion *r, int i);
/* A column, or one number of it: "t", "x", "x'", "Omega[3]", "energy", "constraint_residual", an observable. */
anagyre_array anagyre_motion_column(const anagyre_motion *r, const char *name);
/* The same at the end of the motion: one value. */
anagyre_array anagyre_motion_final(const anagyre_motion *r, const char *name);
/* The times of an event. */
anagyre_array anagyre_motion_events(const anagyre_motion *r, const char *event);

/* ---- many runs ---- */

/* One run for each of n members, on all cores. Member i has the value values[i * n_name + k] for names[k]: scalar
 * parameters and start values. Numbers do not depend on threads, lanes or order. Events are located only if one of them
 * ends runs. Returns NULL when the model or the options are wrong. */
anagyre_batch *anagyre_run_many(anagyre_model *m, long n, int n_name, const char *const *names, const double *values,
                                const anagyre_options *o);
void anagyre_batch_free(anagyre_batch *b);

long anagyre_batch_size(const anagyre_batch *b);               /* members */
long anagyre_batch_n_failed(const anagyre_batch *b);           /* those that failed or could not start */
int anagyre_batch_failed(const anagyre_batch *b, long i);      /* is member i one of them? */
const char *anagyre_batch_end(const anagyre_batch *b, long i); /* why member i ended, or why it could not start */
long anagyre_batch_steps(const anagyre_batch *b, long i);      /* accepted steps of member i */

const char *anagyre_batch_notes(const anagyre_batch *b); /* warnings and notes about its members; or "" */

/* The name of column i, counted from 0; NULL past the end. */
const char *anagyre_batch_item(const anagyre_batch *b, int i);
/* A column, or one number of it, at the end of every member; NaN where it could not start or was not requested. */
anagyre_array anagyre_batch_column(const anagyre_batch *b, const char *name);
/* With a section: the same at the crossings of member i. */
anagyre_array anagyre_batch_points(const anagyre_batch *b, long i, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
