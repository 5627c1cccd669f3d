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
 * Errors are texts with file, line and column, the source line and a caret. Nothing here prints or exits; only when the
 * machine has no memory left the process ends with a message. Different handles may be used by different threads at the
 * same time; one model by one thread at a time; a motion or a batch can be read by any number of threads. */
#ifndef ANAGYRE_H
#define ANAGYRE_H
#include <stddef.h>

#define ANAGYRE_VERSION_MAJOR 0
#define ANAGYRE_VERSION_MINOR 1
#define ANAGYRE_VERSION_PATCH 0

#if defined __GNUC__
#define ANAGYRE_API __attribute__((visibility("default")))
#else
#define ANAGYRE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct anagyre_model anagyre_model;
typedef struct anagyre_motion anagyre_motion; /* the result of one run */
typedef struct anagyre_batch anagyre_batch;   /* the result of many */

/* Numbers to read: n values of rows x cols numbers each. Number (r, c) of value i is data[i * stride + r * cols + c].
 * A whole column is contiguous (stride == rows * cols). data is NULL when there is no such name; the numbers belong to
 * the handle they were asked of. */
typedef struct anagyre_array {
  const double *data;
  long n, stride;
  int rows, cols;
} anagyre_array;

ANAGYRE_API const char *anagyre_version(void); /* of the library in use, as "0.1.0" */

/* ---- models ---- */

/* Opens a file, or a shipped model by its name (searched as by the program: docs/library.md). Never NULL: what is wrong
 * is told by anagyre_error. */
ANAGYRE_API anagyre_model *anagyre_open(const char *file_or_name);
/* Opens a model written in a string; name is what messages call it. */
ANAGYRE_API anagyre_model *anagyre_open_text(const char *name, const char *text);
ANAGYRE_API void anagyre_close(anagyre_model *m); /* NULL: nothing happens; so with all of these */

/* Gives a parameter, coordinate or velocity ("m", "x[2]", "phi'") another value, written as in a model ("2*pi/3"). The
 * last value given to a name counts; NULL takes it back. A wrong name or value shows in anagyre_error, and nothing
 * runs until it is taken back. */
ANAGYRE_API void anagyre_set(anagyre_model *m, const char *name, const char *value);
ANAGYRE_API void anagyre_set_number(anagyre_model *m, const char *name, double value);
/* Events that end a run where they happen, comma-separated, beside those that the model says do so. NULL: no others. */
ANAGYRE_API void anagyre_end_at(anagyre_model *m, const char *events);

/* What is wrong with the model, or was wrong with the last call; NULL: nothing. */
ANAGYRE_API const char *anagyre_error(anagyre_model *m);
ANAGYRE_API const char *anagyre_notes(anagyre_model *m); /* warnings and notes about it; "" when there are none */

typedef enum anagyre_kind {
  ANAGYRE_PARAMETER,
  ANAGYRE_COORDINATE,
  ANAGYRE_VELOCITY,
  ANAGYRE_OBSERVABLE,
  ANAGYRE_EVENT,
  ANAGYRE_SECTION
} anagyre_kind;
ANAGYRE_API const char *anagyre_name(anagyre_model *m);  /* as its first statement says */
ANAGYRE_API const char *anagyre_title(anagyre_model *m); /* "" when it has none */
/* The i-th name of a kind, from 0; NULL behind the last. */
ANAGYRE_API const char *anagyre_item(anagyre_model *m, anagyre_kind kind, int i);
/* The value of a parameter, or of any column at the completed start. Valid until the model is changed or run. */
ANAGYRE_API anagyre_array anagyre_value(anagyre_model *m, const char *name);

/* ---- options of a run ---- */

typedef struct anagyre_options {
  size_t size;              /* of this struct: set by anagyre_defaults */
  double t0, t1;            /* 0, 10; t1 < t0 runs backward */
  double dt;                /* > 0: fixed steps; 0: steps follow the error */
  double rtol, atol;        /* tolerances of a step: 1e-10, 1e-12 */
  double max_step;          /* 0: no limit */
  long max_steps;           /* 0: ten million */
  const char *method;       /* "dop853"; `anagyre list methods` shows all */
  const char *engine;       /* "auto", "compiled", "interpreted": the same numbers, another speed */
  const char *closure;      /* "eliminated", "multipliers" */
  int strict;               /* refuse a start that does not satisfy the constraints */
  int no_events;            /* do not look for events */
  double every;             /* distance in time of the rows; 0: every accepted step; < 0: only start and end */
  const char *section;      /* rows at the crossings of this section, and no others; NULL: none */
  long crossings;           /* of the section: end after so many; 0: no limit */
  const char *columns;      /* of anagyre_run_many: those wanted, as "x,Omega[3],energy"; NULL: all */
  int threads, lanes;       /* of anagyre_run_many; 0: what suits the machine */
  const volatile int *stop; /* ends the run cleanly when it becomes nonzero (signal handler, other thread); or NULL */
  int (*row)(void *self, const double *row, int n); /* gets the rows, which are then not kept; nonzero ends the run */
  void (*progress)(void *self, double at, long steps); /* called now and then: time reached, or members done; or NULL */
  void *self;                                          /* first argument of row and progress */
} anagyre_options;
ANAGYRE_API void anagyre_options_init(anagyre_options *o, size_t size);
static inline anagyre_options anagyre_defaults(void) {
  anagyre_options o;
  anagyre_options_init(&o, sizeof o);
  return o;
}

/* ---- one run ---- */

/* Runs from the start; NULL options: the defaults. NULL when the model or the options are wrong. A motion that ended
 * early, or broke down, is a result too: ask anagyre_motion_end. */
ANAGYRE_API anagyre_motion *anagyre_run(anagyre_model *m, const anagyre_options *o);
ANAGYRE_API void anagyre_motion_free(anagyre_motion *r);
ANAGYRE_API const char *anagyre_motion_end(const anagyre_motion *r);   /* why it ended: "time reached", "event", ... */
ANAGYRE_API const char *anagyre_motion_notes(const anagyre_motion *r); /* why it failed, what it left; "": nothing */
ANAGYRE_API int anagyre_motion_failed(const anagyre_motion *r);        /* nonzero when it did not end as asked */
ANAGYRE_API const char *anagyre_motion_end_event(const anagyre_motion *r); /* the event that ended it, or NULL */
ANAGYRE_API const char *anagyre_motion_item(const anagyre_motion *r,
                                            int i); /* name of column i; NULL behind the last */
/* A column, or one number of it: "t", "x", "x'", "Omega[3]", "energy", "constraint_residual", an observable. */
ANAGYRE_API anagyre_array anagyre_motion_column(const anagyre_motion *r, const char *name);
ANAGYRE_API anagyre_array anagyre_motion_final(const anagyre_motion *r, const char *name);   /* the same, at the end */
ANAGYRE_API anagyre_array anagyre_motion_events(const anagyre_motion *r, const char *event); /* its times */
ANAGYRE_API double anagyre_motion_energy_drift(const anagyre_motion *r); /* largest |E - E0|; NaN: no finite energy */
ANAGYRE_API double anagyre_motion_residual(const anagyre_motion *r);     /* how well the constraints were kept */
ANAGYRE_API long anagyre_motion_steps(const anagyre_motion *r);          /* accepted */
ANAGYRE_API long anagyre_motion_rejected(const anagyre_motion *r);

/* ---- many runs ---- */

/* One run for each of n members, on all cores. Member i has values[i * n_name + k] for names[k]: scalar parameters and
 * start values. Every member has the same bits as its run alone. Events are located only if one of them ends runs. */
ANAGYRE_API anagyre_batch *anagyre_run_many(anagyre_model *m, long n, int n_name, const char *const *names,
                                            const double *values, const anagyre_options *o);
ANAGYRE_API void anagyre_batch_free(anagyre_batch *b);
ANAGYRE_API long anagyre_batch_size(const anagyre_batch *b);
ANAGYRE_API long anagyre_batch_n_failed(const anagyre_batch *b);           /* those that did not start among them */
ANAGYRE_API const char *anagyre_batch_end(const anagyre_batch *b, long i); /* how member i ended, or why not started */
ANAGYRE_API int anagyre_batch_failed(const anagyre_batch *b, long i);
ANAGYRE_API long anagyre_batch_steps(const anagyre_batch *b, long i);
ANAGYRE_API const char *anagyre_batch_item(const anagyre_batch *b, int i); /* name of column i; NULL behind the last */
/* A column at the end of every member: NaN where it did not start, and in columns not wanted. */
ANAGYRE_API anagyre_array anagyre_batch_column(const anagyre_batch *b, const char *name);
/* With a section: a column at the crossings of member i. */
ANAGYRE_API anagyre_array anagyre_batch_points(const anagyre_batch *b, long i, const char *name);

#ifdef __cplusplus
}
#endif
#endif
