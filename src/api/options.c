/* SPDX-License-Identifier: MIT
 * The options of a run. The struct of a caller may be shorter than ours: it was compiled with an earlier header. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

static const double MAX_ROWS = 1e9;
enum { MAX_SIZE = 4096 }; /* bytes; no version of the options will be as long */

static const anagyre_options defaults = {
    .size = sizeof defaults,
    .t1 = 10,
    .rtol = 1e-10,
    .atol = 1e-12,
    .engine = "auto",
    .closure = "auto",
};

void anagyre_options_init(anagyre_options *o, size_t size) {
  memcpy(o, &defaults, size < sizeof defaults ? size : sizeof defaults);
  o->size = size;
}

bool ag_api_options(ag_ctx *ctx, const anagyre_options *o, anagyre_options *all) {
  *all = defaults;
  if (!o) return true;
  if (o->size < sizeof o->size || o->size > MAX_SIZE) {
    ag_ctx_error(ctx, ag_api_nowhere, "the options have no size: they must come from anagyre_defaults()");
    return false;
  }
  memcpy(all, o, o->size < sizeof *all ? o->size : sizeof *all);
  all->size = sizeof *all;
  if (!all->engine) all->engine = defaults.engine;
  if (!all->closure) all->closure = defaults.closure;
  return true;
}

/* The place of a word in a list that ends with NULL; -1: reported. */
static int choose(ag_ctx *ctx, const char *what, const char *word, const char *const *words) {
  int n = 0;
  for (; words[n]; n++)
    if (!strcmp(words[n], word)) return n;
  const char *near = ag_nearest(word, n, words);
  ag_text all = {0};
  for (int i = 0; i < n; i++) ag_text_printf(&all, "%s%s", i ? ", " : "", words[i]);
  if (near) ag_ctx_error(ctx, ag_api_nowhere, "there is no %s '%s'; did you mean %s?", what, word, near);
  else ag_ctx_error(ctx, ag_api_nowhere, "there is no %s '%s' (there are %s)", what, word, all.s);
  ag_text_done(&all);
  return -1;
}

/* NULL stands for dop853, until a run chooses one. */
static const ag_stepper *method_of(ag_ctx *ctx, const char *name) {
  if (!name) return ag_stepper_find("dop853");
  int n = ag_stepper_count();
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(n + 1));
  for (int i = 0; i < n; i++) names[i] = ag_stepper_at(i)->name;
  names[n] = NULL;
  int k = choose(ctx, "method", name, names);
  free(names);
  return k < 0 ? NULL : ag_stepper_at(k);
}

static bool check_numbers(ag_ctx *ctx, const anagyre_options *o) {
  const struct {
    const char *name;
    double value, lo, hi;
  } ranges[] = {
      {"t0", o->t0, -1e15, 1e15},
      {"t1", o->t1, -1e15, 1e15},
      {"dt", o->dt, 0, HUGE_VAL},
      {"rtol", o->rtol, 1e-15, 1},
      {"atol", o->atol, 0, 1e300},
      {"max_step", o->max_step, 0, HUGE_VAL},
      {"max_steps", (double)o->max_steps, 0, 1e15},
      {"crossings", (double)o->crossings, 0, 1e15},
      {"path", (double)o->path, 0, 0x1p48},
      {"dt_base", o->dt_base, 0, HUGE_VAL},
  };
  bool good = true;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    if (ranges[i].value >= ranges[i].lo && ranges[i].value <= ranges[i].hi) continue;
    ag_ctx_error(ctx, ag_api_nowhere, "the option %s is %g; it must be from %g to %g", ranges[i].name, ranges[i].value,
                 ranges[i].lo, ranges[i].hi);
    good = false;
  }
  if (o->every > 0 && fabs(o->t1 - o->t0) > MAX_ROWS * o->every) {
    ag_ctx_error(ctx, ag_api_nowhere, "every %g from t = %g to %g asks for more than a billion rows", o->every, o->t0,
                 o->t1);
    good = false;
  }
  return good;
}

_Static_assert(sizeof(atomic_int) == sizeof(int), "the stop flag of a caller is read as an atomic_int");

bool ag_api_run_options(ag_ctx *ctx, const anagyre_options *o, ag_run_options *out) {
  static const char *const engines[] = {"auto", "compiled", "interpreted", NULL};
  static const char *const closures[] = {"auto", "eliminated", "multipliers", NULL};
  ag_run_defaults(out);
  if (!check_numbers(ctx, o)) return false;
  out->t0 = o->t0;
  out->t1 = o->t1;
  out->dt = o->dt;
  out->rtol = o->rtol;
  out->atol = o->atol;
  out->absolute = o->absolute != 0;
  if (o->max_step > 0) out->h_max = o->max_step;
  out->every = o->every;
  out->max_steps = o->max_steps;
  out->crossings = o->crossings;
  out->events = !o->no_events;
  out->stop = (const atomic_int *)o->stop;
  int engine = choose(ctx, "engine", o->engine, engines), closure = choose(ctx, "closure", o->closure, closures);
  out->method = method_of(ctx, o->method);
  if (engine < 0 || closure < 0 || !out->method) return false;
  out->engine = (ag_engine)engine;
  out->eliminated = closure == 1;
  out->multipliers = closure == 2;
  static const char *const noises[] = {"off", "path", NULL};
  int noise = o->noise ? choose(ctx, "noise", o->noise, noises) : AG_NOISE_REFUSED - 1;
  if (o->noise && noise < 0) return false;
  out->noise = (ag_noise_use)(noise + 1);
  out->seed = o->seed, out->path = o->path, out->dt_base = o->dt_base;
  out->project = o->project && *o->project ? o->project : NULL;
  if (o->dt > 0 || out->method->error_order) return true;
  ag_ctx_error(ctx, ag_api_nowhere, "%s has no error estimate: give it fixed steps with dt", out->method->name);
  return false;
}
