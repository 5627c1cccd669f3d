/* SPDX-License-Identifier: MIT
 * A clock, a progress line, and Ctrl-C. */
#ifndef AG_CLI_CLOCK_H
#define AG_CLI_CLOCK_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Seconds from some fixed moment. */
double ag_clock(void);

/* Bar, rate and time left on standard error, at most five times a second. Draws nothing when it is off. */
typedef struct ag_progress {
  bool on, drawn;
  double t0, t1, begun, last;
  const char *things; /* what t counts: "members", "paths"; NULL: it is a time */
} ag_progress;
void ag_progress_init(ag_progress *p, bool quiet, double t0, double t1);
void ag_progress_show(void *self, double t, long steps);
/* The line: a bar and the rest, together shorter than `columns`; the bar goes first, then the end of the rest is cut.
 * Returns its length, which is less than size. */
int ag_progress_line(double part, const char *rest, int columns, char *out, size_t size);
void ag_progress_done(ag_progress *p); /* wipes the line */

/* From now on every signal that asks a process to end (SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGQUIT, SIGUSR1, ...) sets
 * the returned flag; the same signal again ends the process. Ignored signals stay ignored. */
const atomic_int *ag_stop_catch(void);
/* Back to the default. */
void ag_stop_release(void);
/* The word for the signal in the flag: "Ctrl-C", "SIGTERM", "SIGHUP"; without one it was an error that was told. */
const char *ag_stop_word(void);
/* A reader that went away (`anagyre list | head -1`) is not an error; and exceeding a limit on file sizes must not kill
 * the program. */
void ag_stop_ignore_pipe(void);
#endif
