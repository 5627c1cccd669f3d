/* SPDX-License-Identifier: MIT
 * A member of a batch is the single run, bit for bit, for every model of the folders given that goes through lanes:
 * end, time, steps, state and record; from the start of the model and from random states, with the events that end a
 * run; in adaptive steps, and in fixed ones where a basis is renewed on the way. */
#include "tests/each_model.h"

enum { MEMBERS = 3 };

/* The start of the model, then random states on the constraints at its start time. */
static void fill_starts(ag_system *sys, double *params, double *x0) {
  const ag_dims *d = ag_system_dims(sys);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  for (int i = 0; i < MEMBERS; i++) {
    double t;
    memcpy(params + i * d->param, ag_system_param_values(sys), sizeof(double) * (size_t)d->param);
    if (i == 0 || ag_system_sample(sys, w, (unsigned)i, &t, x0 + i * d->x) != AG_OK)
      ag_system_state0(sys, x0 + i * d->x);
  }
  ag_work_free(w);
}

static void compare(ag_system *sys, const ag_batch_options *o, const ag_batch_result *all, const double *params,
                    const double *x0) {
  const ag_dims *d = ag_system_dims(sys);
  ag_run_options run = o->run;
  ag_tape *watch = ag_run_watch(sys, &run);
  run.every = -1, run.watch = watch;
  for (int i = 0; i < MEMBERS; i++) {
    ag_ctx ctx = {0};
    ag_run_result res;
    const ag_batch_member *m = &all->members[i];
    AG_CHECK(ag_run(&ctx, sys, params + i * d->param, x0 + i * d->x, &run, NULL, &res) == AG_OK);
    AG_CHECK((ag_end_status(m->end) == AG_OK) == (ag_end_status(res.end) == AG_OK));
    if (ag_end_status(res.end) == AG_OK) { /* where it failed lanes stop at a state of their own */
      AG_CHECK(m->end == res.end && m->t == res.t && m->steps == res.steps && m->rejected == res.rejected);
      AG_CHECK(!memcmp(all->x + i * d->x, res.x, sizeof(double) * (size_t)d->x));
      AG_CHECK(!memcmp(all->records + i * all->width, res.record, sizeof(double) * (size_t)all->width));
    }
    ag_run_done(&res);
    ag_ctx_done(&ctx);
  }
  ag_tape_free(watch);
}

/* Whether the model went through lanes; dt > 0: in fixed steps. */
static bool check_steps(ag_system *sys, double dt) {
  const ag_dims *d = ag_system_dims(sys);
  const ag_model *model = ag_system_model(sys);
  double *params = calloc((size_t)(MEMBERS * d->param + 1), sizeof *params);
  double *x0 = calloc((size_t)(MEMBERS * d->x + 1), sizeof *x0);
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_batch_result all;
  ag_batch_defaults(&o);
  o.run.t1 = 3, o.run.max_steps = 20000, o.run.noise = AG_NOISE_OFF;
  if (dt > 0) o.run.dt = dt, o.run.method = ag_stepper_find("rk4");
  for (int i = 0; i < ag_model_n_events(model); i++)
    o.run.events = o.run.events || ag_model_events(model)[i].terminal || ag_model_events(model)[i].cuts;
  fill_starts(sys, params, x0);
  AG_CHECK(ag_batch(&ctx, sys, MEMBERS, params, x0, &o, &all) == AG_OK);
  bool lanes = all.lanes > 0;
  if (lanes) compare(sys, &o, &all, params, x0);
  else fprintf(stderr, "%s: %s\n", ag_model_name(model), all.note);
  ag_batch_done(&all);
  ag_ctx_done(&ctx);
  free(params);
  free(x0);
  return lanes;
}

static int n_fixed; /* with a basis, in fixed steps */

static int check_system(ag_system *sys) {
  const ag_dims *d = ag_system_dims(sys);
  bool basis = ag_system_elimination(sys) == AG_ELIM_BASIS && d->rank == d->lambda && !ag_system_watches(sys);
  if (basis && !d->fragile && !d->switches) {
    AG_CHECK(check_steps(sys, 0.02));
    n_fixed++;
  }
  return check_steps(sys, 0);
}

int main(int argc, char **argv) {
  int n_lanes = 0;
  for (int i = 1; i < argc; i++) n_lanes += each_model(argv[i], check_system);
  fprintf(stderr, "%d models in lanes\n", n_lanes);
  AG_CHECK(n_lanes >= 55 && n_fixed >= 7);
  return ag_check_report();
}
