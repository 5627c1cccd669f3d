/* SPDX-License-Identifier: MIT
 * Choices by time alone, such as `if t < 5`, where the equations choose as they are evaluated (with multipliers): a
 * step ends just before one switches, and the next one begins just behind it. Other choices are met by the step size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/isolate.h"
#include "run/trajectory.h"

enum { WORK = 4000 };

struct ag_clock {
  int n, n_z;
  ag_isolate *on_s;
  bool *skip;                /* per switching function: it reads the state, or has no bounds */
  double *z, *width, *c, *s; /* a state, whichever: twice, as a curve; its width; the branches; the functions */
};

static void functions_at(const ag_clock *k, ag_work *w, double t, const double *z) {
  ag_work_branches(w, t, z, k->c);
  (void)ag_work_role(w, AG_ROLE_SWITCHES, t, z, k->c, k->s);
}

/* Functions of the state, by the instructions that compute them. One that reads a branch counts where any does. */
static void find_readers(ag_clock *k, const ag_tape *tape) {
  bool *reads = ag_heap_alloc(2 * (size_t)k->n), *on_branch = reads + k->n, any = false;
  ag_enclose_reads(tape, AG_SEG_Z, reads);
  ag_enclose_reads(tape, AG_SEG_C, on_branch);
  for (int e = 0; e < k->n; e++) any = any || reads[e];
  for (int e = 0; e < k->n; e++) k->skip[e] = k->skip[e] || reads[e] || (any && on_branch[e]);
  free(reads);
}

ag_clock *ag_clock_create(const ag_system *sys, const double *params) {
  const ag_dims *dims = ag_system_dims(sys);
  const ag_tape *tape = ag_system_role(sys, AG_ROLE_SWITCHES);
  if (!dims->switches) return NULL;
  ag_clock *k = ag_heap_alloc(sizeof *k);
  size_t size = sizeof(double), n = (size_t)dims->switches;
  *k = (ag_clock){.n = dims->switches, .n_z = dims->z};
  k->skip = ag_heap_alloc(n);
  k->z = ag_heap_alloc(size * 2 * (size_t)(dims->z + 1));
  k->width = ag_heap_alloc(size * (size_t)(dims->z + 1));
  k->c = ag_heap_alloc(size * (size_t)dims->c);
  k->s = ag_heap_alloc(size * n);
  bool *bounded = ag_heap_alloc(n);
  ag_enclose_bounded(tape, bounded);
  for (int e = 0; e < k->n; e++) k->skip[e] = !bounded[e];
  free(bounded);
  find_readers(k, tape);
  k->on_s = ag_isolate_of_tape(tape, params, false, k->n_z, k->c, dims->c);
  return k;
}

void ag_clock_free(ag_clock *k) {
  if (!k) return;
  void *all[] = {k->skip, k->z, k->width, k->c, k->s};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_isolate_free(k->on_s);
  free(k);
}

bool ag_clock_knows_all(const ag_clock *k) {
  for (int e = 0; k && e < k->n; e++)
    if (k->skip[e]) return false;
  return k != NULL;
}

/* Is the function on the side of zero on which `if`, `min`, `max` take it for positive? */
static bool positive(const ag_clock *k, ag_work *w, double t, int e) {
  functions_at(k, w, t, k->z);
  return k->s[e] > 0;
}

/* Narrows [*lo, *hi], between which function e changes its sign, to two neighbouring numbers. */
static void narrow(const ag_clock *k, ag_work *w, int e, bool from, double *lo, double *hi) {
  for (;;) {
    double mid = *lo + 0.5 * (*hi - *lo);
    if (mid == *lo || mid == *hi) return;
    if (positive(k, w, mid, e) == from) *lo = mid;
    else *hi = mid;
  }
}

/* The first place among the pieces found for function e at which it has changed its sign since the start of the step.
 */
static bool first_change(const ag_clock *k, ag_work *w, double t, double h, int e, double *lo, double *hi) {
  int n;
  const ag_bracket *b = ag_isolate_found(k->on_s, e, &n);
  bool from = positive(k, w, t, e);
  *lo = t;
  for (int i = 0; i < 3 * n; i++) {
    const ag_bracket *at = &b[i / 3];
    *hi = t + (at->from + 0.5 * (i % 3) * (at->to - at->from)) * h;
    if (*hi != t && positive(k, w, *hi, e) != from) {
      narrow(k, w, e, from, lo, hi);
      return true;
    }
    *lo = *hi;
  }
  return false;
}

bool ag_clock_next(ag_clock *k, ag_work *w, double t, double h, double *before, double *behind) {
  bool any = false;
  double lo, hi;
  functions_at(k, w, t, k->z); /* the branches that the isolation reads */
  (void)ag_isolate_step(k->on_s, t, h, 1, k->z, k->width, k->skip, WORK);
  for (int e = 0; e < k->n; e++) {
    if (k->skip[e] || !first_change(k, w, t, h, e, &lo, &hi) || (any && (*behind - hi) * h <= 0)) continue;
    *before = lo, *behind = hi;
    any = true;
  }
  return any;
}
