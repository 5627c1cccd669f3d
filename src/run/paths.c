/* SPDX-License-Identifier: MIT
 * Chosen paths of an ensemble, one after the other. */
#include "base/heap.h"
#include "run/ensemble.h"
#include "run/walk.h"

ag_status ag_ensemble_paths(ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                            const ag_ensemble_options *o, long n, const long *paths, double *values, int *n_reached) {
  ag_walk_plan plan;
  ag_text note = {0};
  long cut, accepted;
  ag_ensemble_options alone = *o;
  alone.interpreted = true;
  ag_status status = ag_walk_plan_init(&plan, ctx, sys, params, x0, &alone, &note);
  if (status == AG_OK) {
    ag_walk *w = ag_walk_create(&plan);
    double *passed = ag_heap_alloc(sizeof *passed * (size_t)(o->n_passage + 1));
    for (long k = 0; k < n && !(o->stop && *o->stop); k++) {
      const ag_walk_results to = {
          values + (size_t)k * (size_t)(o->n_row * plan.n_value), passed, 1, n_reached + k, &cut, &accepted};
      ag_walk_block(w, (unsigned long long)paths[k], 1, &to);
    }
    free(passed);
    ag_walk_free(w);
  }
  ag_walk_plan_done(&plan);
  ag_text_done(&note);
  return status;
}
