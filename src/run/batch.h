/* SPDX-License-Identifier: MIT
 * Internals of run/: a batch, shared by its parts. Everything but the counters is finished before the first thread
 * starts. */
#ifndef AG_RUN_BATCH_H
#define AG_RUN_BATCH_H
#include <pthread.h>
#include <stdatomic.h>

#include "run/fused.h"
#include "run/run.h"

/* The requested columns as functions of [q | images | u]: those available without the reconstructed states. */
typedef struct ag_core_columns {
  ag_tape *tape;
  int *at; /* per output: its place in a record */
} ag_core_columns;

/* The functions monitored during the run, as functions of z: events and section, counted as in ag_run_result from
 * `first` on. Events that neither end a motion nor cut a step are not looked for: a batch keeps nothing of them. */
typedef struct ag_watch {
  int n, first;
  ag_tape *tape; /* NULL when no function is monitored */
  int *way;      /* direction of each */
  bool *cuts;    /* per function: the equations have a corner at its zero */
  bool *counts;  /* per function: is it looked for? */
  bool reads_rest;
  bool switches; /* they are the switching functions of the equations; the tape is the system's */
} ag_watch;

/* Equations derived for one member, or for some. */
typedef struct ag_batch_own {
  const ag_system *sys; /* NULL: those of the batch */
  ag_tape *functions;   /* its event functions */
  bool shared;          /* with a member before it, which frees them */
} ag_batch_own;

typedef struct ag_solo ag_solo;
/* How fast the lanes are while each of them has a member. */
typedef struct ag_pace {
  double (*seconds)(void); /* the clock */
  double total;
  long tries; /* of all members */
} ag_pace;

typedef struct ag_batch_job {
  ag_system *sys; /* extended by tapes before the threads start */
  const ag_batch_options *o;
  long n;
  const double *params, *x0;
  int n_x;
  ag_batch_result *result;
  ag_record record;
  bool *reached;    /* per member: is its result in place? each is written by one thread */
  ag_fused *fused;  /* the lanes; NULL: member by member */
  ag_fused *kernel; /* compiled code for one member at a time, where crossings are located or without lanes; or NULL */
  ag_watch watch;
  int n_z, n_tangent; /* numbers integrated per member, and of their tangent */
  long square;        /* numbers of a matrix of the method */
  ag_tape *functions; /* event functions of members that run one by one */
  ag_batch_own *own;  /* per member, or NULL: none has */
  int n_unit, *unit, *unit_size;
  ag_core_columns columns; /* without the rest */
  atomic_long next, done;
  long until;             /* members before this one may begin */
  long share;             /* initial number of members per thread, at most */
  ag_pace *pace;          /* measured where it is not NULL */
  ag_solo *solo;          /* members that left their lanes */
  pthread_mutex_t taking; /* results are handed on one at a time */
  atomic_bool refused;    /* ... and the last one could not be */
  ag_heap *heap;          /* of all threads */
  atomic_int failed;      /* memory ran out in a thread */
  char why[AG_HEAP_WHY];  /* as the first of them says */
} ag_batch_job;

/* ---- members that left their lanes, for any thread that has nothing else to do (solo.c) ---- */
ag_solo *ag_solo_create(long n); /* at most n of them */
void ag_solo_free(ag_solo *a);
void ag_solo_put(ag_solo *a, long member);
/* A thread that may still put some begins, and ends. */
void ag_solo_begin(ag_solo *a);
void ag_solo_end(ag_solo *a);
/* The next one; waits while other threads may still add one. -1: there is none. */
long ag_solo_next(ag_solo *a);

/* Is the batch to end before its members? */
bool ag_batch_halted(const ag_batch_job *b);
/* Hands on the results of a member: when it has ended, or when there are many points. */
void ag_batch_take(ag_batch_job *b, long member, bool ended);

/* True if every requested column follows from the core; the columns are then prepared. */
bool ag_core_columns_init(ag_core_columns *c, ag_system *sys, const bool *wanted);
void ag_core_columns_done(ag_core_columns *c);
/* Writes the requested columns of a record from the core z. slots: tape->n_slot numbers. */
void ag_core_columns_fill(const ag_core_columns *c, double t, const double *z, const double *params, double *slots,
                          double *out, double *record);

/* Why they cannot be watched in lanes; NULL: they can. */
const char *ag_watch_init(ag_watch *w, ag_system *sys, const ag_run_options *o);
void ag_watch_done(ag_watch *w);

/* ---- the scalar queue of one thread: steps in which something may be crossed ---- */

/* What a lane just did: a step from (t, z) with the given carry to (t1, z1). Its arrays are those of the lanes,
 * [component][lane]. */
typedef struct ag_lane_step {
  int lane, lanes;
  int slot; /* where the queue keeps what it has prepared for the member: the lane it is in */
  double t, t1;
  const double *unit;                   /* squared lengths that are kept */
  const double *atol;                   /* absolute tolerances, and one more */
  const double *c;                      /* the basis of the step */
  const double *z, *carry, *z1, *space; /* space: the workspace; the carry at its head has moved on already */
  ag_work *work;
  const double *params;
  double *memory; /* [function][lane]: a number with the last sign, 0: none yet */
  const double *hint;
} ag_lane_step;

/* The state of the lanes before the last step they began, which a march keeps where the equations have corners: rows
 * AG_KEPT_..., then z, carry, basis, memory. */
typedef struct ag_lane_kept {
  const double *numbers;
  const unsigned long long *words;
} ag_lane_kept;
/* The state of a member behind a corner; borrowed until the next call. */
typedef struct ag_lane_after {
  double t, h, last_error, spare;
  bool rejected_last;
  long steps, rejected;
  int event; /* that ended it */
  const double *z, *carry, *c;
  const int *sign;
} ag_lane_after;

/* Steps in which the section is crossed once wait until there is one for every lane; they are then worked on together.
 */
typedef struct ag_pack ag_pack;
ag_pack *ag_pack_create(ag_batch_job *b, int lanes);
void ag_pack_free(ag_pack *p);
/* Takes a step; its point among those of the member is kept free. prep (per tape) and unit: those of the lanes. True:
 * the pack is full. */
bool ag_pack_add(ag_pack *p, const ag_lane_step *s, long member, double *const *prep, const double *unit);
bool ag_pack_has(const ag_pack *p, int lane);
/* Finds the points of all that wait. q: for those that need care. */
typedef struct ag_queue ag_queue;
void ag_pack_work(ag_pack *p, ag_queue *q);
ag_queue *ag_queue_create(ag_batch_job *b, int lanes);
void ag_queue_free(ag_queue *q);
/* Is this step one for the pack: nothing but the section, crossed once, and not for the last time? */
bool ag_queue_plain(const ag_queue *q, const ag_lane_step *s, long member);
/* Fills a point from a state at a crossing (put back onto the constraints here); from a step by the code of a single
 * run. */
bool ag_queue_point(ag_queue *q, ag_work *work, const double *params, double t, const double *z, const double *c,
                    double *record);
bool ag_queue_locate(ag_queue *q, const ag_lane_step *s, double *record);
/* Where equations switch: the branch on which the motion goes on from its start z, c. False: not in a lane. */
bool ag_queue_start(ag_queue *q, ag_work *work, const double *params, double *z, double *c);
/* A member begins in a lane, at the state z. */
void ag_queue_begin(ag_queue *q, const ag_lane_step *s);
/* Examines a step; crossings of the section go to the points of the member. AG_END_TIME: it continues; AG_END_EVENT,
 * AG_END_CROSSINGS: it ended at *t in the state z, by event *event. *corner: the equations have a corner in the step,
 * which needs the code of a single run, and nothing else is set. */
ag_end ag_queue_look(ag_queue *q, const ag_lane_step *s, long member, double *t, double *z, int *event, bool *corner);

/* The member of this lane has met a corner, or the equations may switch: it goes back to the state that was kept and
 * across the corner. AG_END_TIME: it continues in its lane; AG_END_EVENT: it ended; anything else: it has to run alone.
 */
ag_end ag_queue_corner(ag_queue *q, const ag_lane_step *s, const ag_lane_kept *k, ag_lane_after *after);

/* audit.c. Of a single run; of a member in a lane, from its start and its end. pressed: does no contact pull, as far as
 * the record says? */
ag_audit ag_audit_of(const ag_system *sys, const ag_record *record, const ag_run_options *o, const ag_run_result *r);
void ag_audit_begin(ag_audit *a, ag_work *w, double t, const double *x);
void ag_audit_end(ag_audit *a, const ag_system *sys, ag_work *w, double t, const double *x);
bool ag_audit_pressed(const ag_record *r, const ag_model *m, const double *record);

bool ag_batch_has_own(const ag_batch_job *b, long member);
/* Runs a member as a single run does, and puts it into the result. */
struct ag_shared_code;
bool ag_batch_eager(
    const ag_batch_job *b); /* is code for functions and roles compiled before it is known to be worth it? */
void ag_batch_alone(ag_batch_job *b, long member, const struct ag_shared_code *code); /* code: of its thread, or NULL */
/* Code for the lanes; NULL, with the reason, when it cannot be compiled. */
ag_fused *ag_batch_build(ag_batch_job *b, const ag_build_options *build, ag_text *reason);
/* width.c: two vectors per number in place of one, where that is faster. */
void ag_batch_widen(ag_batch_job *b, long threads);
/* The work of one thread; the first one calls progress. */
void ag_batch_lanes(ag_batch_job *b, bool first);
void ag_batch_progress(ag_batch_job *b, bool first);
#endif
