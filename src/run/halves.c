/* SPDX-License-Identifier: MIT
 * An expectation with the step h is E + c h^p + O(h^(p+1)), p the weak order of the method, so that on every path
 *   x = x_(h/2) + (x_(h/2) - x_h)/(2^p - 1)
 * has the mean E + O(h^(p+1)), and the spread of x over the paths gives its standard error. */
#include "run/halves.h"

#include <math.h>

#include "base/heap.h"

double ag_ensemble_weak(const ag_system *sys, const ag_stepper *method) {
  const ag_noise_class noise = ag_system_noise(sys);
  return noise == AG_NOISE_NONE ? 0 : method->weak[noise - AG_NOISE_ADDITIVE];
}

ag_status ag_halves_init(ag_halves *f, ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                         const ag_ensemble_options *o) {
  *f = (ag_halves){.o = *o};
  f->o.n_passage = 0, f->o.passages = NULL;
  f->row_step = ag_heap_alloc(sizeof *f->row_step * (size_t)(o->n_row + 1));
  for (int r = 0; r < o->n_row; r++) f->row_step[r] = 2 * o->row_step[r];
  f->o.row_step = f->row_step;
  if (!ag_wiener_half(&f->o.path)) {
    ag_ctx_error(ctx, (ag_pos){0}, "half a step does not fit the grid of the path: choose another base");
    return AG_WRONG;
  }
  f->part = 1 / (exp2(ag_ensemble_weak(sys, o->method)) - 1);
  ag_text note = {0};
  ag_status status = ag_walk_plan_init(&f->plan, ctx, sys, params, x0, &f->o, &note);
  ag_text_done(&note);
  return status;
}

void ag_halves_done(ag_halves *f) {
  ag_walk_plan_done(&f->plan);
  free(f->row_step);
}

void ag_halves_combine(const ag_halves *f, int n, int count, const double *whole, const double *half, double *out) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < count; k++) {
      const size_t at = (size_t)i * AG_LEAF + (size_t)k;
      const double x = fma(half[at] - whole[at], f->part, half[at]);
      out[at] = x;
      out[(size_t)n * AG_LEAF + at] = whole[at] - x;
    }
}
