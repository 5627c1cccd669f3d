/* SPDX-License-Identifier: MIT
 * Internals of run/: evaluates the monitored functions, on numbers and on enclosures. By the interpreter at
 * first; by compiled code, with the same bits, where that is worth it or in the cache already. */
#ifndef AG_RUN_WATCHER_H
#define AG_RUN_WATCHER_H
#include <stdbool.h>

#include "expr/expr.h"
#include "kern/kern.h"

typedef struct ag_watcher ag_watcher;
/* For one thread. compiles: it may change over to compiled code. */
ag_watcher *ag_watcher_create(const ag_tape *tape, const double *params, bool compiles);
void ag_watcher_free(ag_watcher *w);
/* Compiled code that watchers of one thread share, one after the other: what each of them has interpreted counts
 * together, and code once made or found in the cache is used from their start. The tape outlives it. */
typedef struct ag_watch_code ag_watch_code;
ag_watch_code *ag_watch_code_create(const ag_tape *tape, bool eager); /* eager: compiles it at once */
void ag_watch_code_free(ag_watch_code *c);
void ag_watcher_share(ag_watcher *w, ag_watch_code *c);       /* nothing, where it was made for another tape */
void ag_watcher_prepare(ag_watcher *w, const double *params); /* with other parameters */
const ag_tape *ag_watcher_tape(const ag_watcher *w);
/* The tape of the bounds: that of the values, or of [z | e] (tape->look). How many e there are, and [e | e']. */
const ag_tape *ag_watcher_look(const ag_watcher *w);
int ag_watcher_n_extra(const ag_watcher *w);
void ag_watcher_extra(ag_watcher *w, double t, const double *z, const double *dz, const double *c, double *out);
/* Changes over to compiled code of another unit that has the tapes (values, bounds, what bounds read besides z) as
 * these, and an entry with the text for bounds of a tape of this name. The unit outlives the watcher's use. */
void ag_watcher_take(ag_watcher *w, const ag_unit *unit, const int *tapes, int entry);
void ag_watcher_text(const char *tape, ag_text *out);
bool ag_watcher_compiled(const ag_watcher *w); /* has it changed over? */
void ag_watcher_values(ag_watcher *w, const double *const seg[AG_SEG_COUNT], double *out);
void ag_watcher_bounds(ag_watcher *w, const ag_enclosure *const seg[AG_SEG_COUNT], ag_enclosure *out);
#endif
