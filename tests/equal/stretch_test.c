/* SPDX-License-Identifier: MIT
 * A run that makes many steps by one call of compiled code makes those of the interpreter, bit for bit: states, rows,
 * events, what was counted on the way and what a longer run continues from; for every model given. */
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "api/api.h"
#include "tests/check.h"

typedef struct outcome {
  ag_series rows;
  ag_run_result result;
} outcome;

static outcome run_with(ag_system *sys, ag_run_options o, ag_engine engine, bool eager) {
  ag_ctx ctx = {0};
  outcome got = {0};
  ag_record layout;
  double *x0 = calloc((size_t)(ag_system_dims(sys)->x + 1), sizeof *x0);
  ag_tape *watch = ag_run_watch(sys, &o), *guard = ag_system_guard(sys);
  ag_system_state0(sys, x0);
  ag_record_init(&layout, sys);
  got.rows.width = layout.width;
  ag_record_done(&layout);
  ag_sink sink = {ag_series_row, &got.rows};
  o.engine = engine, o.eager = eager, o.watch = watch, o.guard = guard;
  AG_CHECK(ag_run(&ctx, sys, ag_system_param_values(sys), x0, &o, &sink, &got.result) == AG_OK);
  ag_tape_free(watch);
  ag_tape_free(guard);
  ag_ctx_done(&ctx);
  free(x0);
  return got;
}

static void done(outcome *a) {
  ag_run_done(&a->result);
  ag_series_done(&a->rows);
}

static bool same(long n, const double *a, const double *b) { return !n || !memcmp(a, b, sizeof(double) * (size_t)n); }

static void compare_events(const ag_run_result *p, const ag_run_result *q) {
  for (int e = 0; e < p->n_event; e++) {
    AG_CHECK(p->event_count[e] == q->event_count[e] && p->fitted[e] == q->fitted[e]);
    AG_CHECK(p->doubts[e].n == q->doubts[e].n);
    if (p->event_count[e] == q->event_count[e]) AG_CHECK(same(p->event_count[e], p->event_times[e], q->event_times[e]));
  }
}

static void compare_checkpoints(const ag_checkpoint *p, const ag_checkpoint *q) {
  AG_CHECK(p->made == q->made);
  if (!p->made || !q->made) return;
  AG_CHECK(p->t == q->t && p->reach == q->reach && p->mark == q->mark && p->n_mark == q->n_mark);
  AG_CHECK(p->steps == q->steps && p->rejected == q->rejected && p->rhs == q->rhs && p->n_row == q->n_row);
  AG_CHECK(p->control.last_error == q->control.last_error && p->control.rejected == q->control.rejected);
  AG_CHECK(p->control.spare == q->control.spare);
  AG_CHECK(same(p->n, p->z, q->z) && same(p->n_carry, p->dz, q->dz) && same(p->n_c, p->c, q->c));
  AG_CHECK(!memcmp(p->sign, q->sign, sizeof *p->sign * (size_t)p->n_event));
}

/* How many steps were made many at once; they are those of the interpreter. */
static long compare_with(ag_system *sys, const ag_run_options *o, const outcome *a, ag_engine engine, bool eager) {
  outcome b = run_with(sys, *o, engine, eager);
  const ag_run_result *p = &a->result, *q = &b.result;
  long n = q->stretched;
  AG_CHECK(!p->stretched && q->compiled);
  AG_CHECK(p->end == q->end && p->end_event == q->end_event && p->t == q->t);
  AG_CHECK(p->steps == q->steps && p->rejected == q->rejected && p->rhs == q->rhs && p->left == q->left);
  AG_CHECK(p->energy_drift == q->energy_drift && p->residual_max == q->residual_max && p->work == q->work);
  AG_CHECK(same(ag_system_dims(sys)->x, p->x, q->x) && same(p->width, p->record, q->record));
  AG_CHECK(a->rows.n == b.rows.n && same(a->rows.n * a->rows.width, a->rows.data, b.rows.data));
  compare_events(p, q);
  compare_checkpoints(&p->checkpoint, &q->checkpoint);
  done(&b);
  return n;
}

/* Compiled beside a kernel of single steps; found in the cache, and single steps interpreted. */
static long compare(ag_system *sys, const ag_run_options *o) {
  outcome a = run_with(sys, *o, AG_ENGINE_INTERPRETED, false);
  long n = compare_with(sys, o, &a, AG_ENGINE_COMPILED, true);
  AG_CHECK(compare_with(sys, o, &a, AG_ENGINE_AUTO, false) >= n);
  done(&a);
  return n;
}

/* With events and few rows; with many rows, backward; with the method for stiff motions. */
static void check_system(ag_system *sys) {
  ag_run_options o;
  ag_run_defaults(&o);
  o.noise = AG_NOISE_OFF, o.t1 = 25, o.every = -1;
  ag_run_prepare(sys, &o);
  long n = compare(sys, &o);
  AG_CHECK(n > 0);
  o.t1 = -6, o.every = 0.75, o.events = false, o.rtol = 1e-7, o.h_max = 0.2;
  AG_CHECK(compare(sys, &o) > 0);
}

/* Crossings that are only recorded do not end the many steps of a call before the step in which they are: fewer steps
 * are made one by one than there are crossings. */
static void check_crossings(ag_system *sys) {
  ag_run_options o;
  ag_run_defaults(&o);
  o.noise = AG_NOISE_OFF, o.t1 = 600, o.every = -1;
  ag_run_prepare(sys, &o);
  outcome a = run_with(sys, o, AG_ENGINE_COMPILED, true);
  long crossings = 0;
  for (int e = 0; e < a.result.n_event; e++) crossings += a.result.event_count[e];
  AG_CHECK(crossings > 50 && 2 * (a.result.steps - a.result.stretched) < crossings);
  done(&a);
}

static void check_implicit(ag_system *sys, const char *method, double rtol) {
  ag_run_options o;
  ag_run_defaults(&o);
  o.t1 = 5, o.every = 1, o.rtol = rtol, o.noise = AG_NOISE_OFF, o.method = ag_stepper_find(method);
  ag_run_prepare(sys, &o);
  AG_CHECK(compare(sys, &o) > 0);
}

/* Fixed steps forward with events, and backward. */
static long check_method(ag_system *sys, const char *method) {
  ag_run_options o;
  ag_run_defaults(&o);
  o.t1 = 12, o.dt = 0.03, o.every = -1, o.noise = AG_NOISE_OFF, o.method = ag_stepper_find(method);
  ag_run_prepare(sys, &o);
  long n = compare(sys, &o);
  o.t1 = -5, o.every = 0.77, o.events = false;
  return n + compare(sys, &o);
}

/* Fixed steps, of each kind of method, where nothing is restored after a step, or lengths alone, which is so for
 * methods that turn rotations and their images alike. */
static void check_fixed(ag_system *sys) {
  static const char *const methods[] = {"rk4", "midpoint", "dla_midpoint", "discrete_gradient"};
  const ag_dims *d = ag_system_dims(sys);
  const bool units = ag_system_units(sys, d->z, NULL) > 0;
  if (ag_system_elimination(sys) == AG_ELIM_BASIS || ag_system_role(sys, AG_ROLE_MINOR) || d->g || d->fragile) return;
  for (size_t k = units ? 1 : 0; k < sizeof methods / sizeof *methods; k++) AG_CHECK(check_method(sys, methods[k]) > 0);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int failed = ag_checks_failed;
    anagyre_model *m = anagyre_open(argv[i]);
    ag_system *sys = m ? ag_api_system(m, &(ag_derive_options){0}) : NULL;
    AG_CHECK(sys != NULL);
    if (sys) check_system(sys);
    if (sys && i == 1) check_implicit(sys, "radau5", 1e-6), check_crossings(sys);
    /* steps that the reconstructed numbers need in parts: what the next one starts from is that of the last part */
    if (sys && ag_system_dims(sys)->core < ag_system_dims(sys)->z) check_implicit(sys, "radau2", 1e-7);
    if (sys) check_fixed(sys);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", argv[i]);
    anagyre_close(m);
  }
  return ag_check_report();
}
