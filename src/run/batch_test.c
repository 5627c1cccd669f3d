/* SPDX-License-Identifier: MIT
 * Batches: the same bits for every number of lanes and threads and every order of members; the same motions as single
 * runs; what is only reconstructed never changes the core; failures stay with their member. */
#include "run/run.h"

#include <stdlib.h>

#include "base/arena.h"
#include "kern/kern.h"
#include "tests/check.h"
#include "tests/crowd.h"

static bool same(const ag_batch_result *a, const ag_batch_result *b) {
  bool ok = a->n == b->n && a->n_failed == b->n_failed;
  for (long i = 0; ok && i < a->n; i++) {
    const ag_batch_member *p = &a->members[i], *q = &b->members[i];
    ok = p->end == q->end && p->t == q->t && p->steps == q->steps && p->rejected == q->rejected;
  }
  return ok && !memcmp(a->x, b->x, sizeof(double) * (size_t)(a->n * a->n_x)) &&
         !memcmp(a->records, b->records, sizeof(double) * (size_t)(a->n * a->width));
}

/* One lane on one thread, then 16, 8, 4 and 2 lanes on 2, 3, 2 and 1 threads; with and (n_core 2) without the rest. */
static void check_bits(const char *method, int n_core, int n_lanes) {
  crowd c;
  stones(&c, N);
  bool only[9] = {false, false, false, true, false, true}; /* Omega and spin */
  for (int core = 0; core < n_core; core++) {
    ag_batch_options o;
    ag_batch_defaults(&o);
    o.run.t1 = 20;
    o.run.method = ag_stepper_find(method);
    if (o.run.method->error_order < 7) o.run.rtol = 1e-8, o.run.atol = 1e-9;
    ag_run_prepare(c.sys, &o.run);
    o.columns = core ? only : NULL;
    o.lanes = o.threads = 1;
    ag_batch_result first = run_batch(&c, &o);
    AG_CHECK(first.lanes == 1 && first.threads == 1 && first.n_failed == 0 && first.core_only == (core == 1));
    if (first.note) fprintf(stderr, "not in lanes: %s\n", first.note);
    for (int lanes = 16; lanes > 16 >> n_lanes; lanes /= 2) {
      o.lanes = lanes;
      o.threads = lanes == 8 ? 3 : lanes == 16 ? 2 : lanes / 2;
      ag_batch_result r = run_batch(&c, &o);
      AG_CHECK(r.lanes == lanes && r.threads == o.threads);
      AG_CHECK(same(&first, &r));
      ag_batch_done(&r);
    }
    ag_batch_done(&first);
  }
  crowd_done(&c);
}

/* Two vectors per number are measured in the middle of a batch: whichever is faster, the numbers are the same. */
static void check_wide(void) {
  crowd c;
  stones(&c, 200); /* some are left after both trials */
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.t1 = 2;
  ag_run_prepare(c.sys, &o.run);
  o.lanes = 1;
  ag_batch_result first = run_batch(&c, &o);
  o.lanes = 0, o.try_wide = true, o.threads = 2;
  ag_batch_result r = run_batch(&c, &o);
  AG_CHECK(r.lanes == ag_build_lanes() || (ag_build_pairs() && r.lanes == 2 * ag_build_lanes()));
  AG_CHECK(r.n_failed == 0 && same(&first, &r));
  ag_batch_done(&first);
  ag_batch_done(&r);
  crowd_done(&c);
}

static void check_order(void) {
  crowd c, back;
  stones(&c, N);
  stones(&back, N);
  for (long i = 0; i < N; i++) {
    memcpy(back.params + 2 * i, c.params + 2 * (N - 1 - i), 2 * sizeof(double));
    memcpy(back.x0 + NX * i, c.x0 + NX * (N - 1 - i), NX * sizeof(double));
  }
  ag_batch_options o;
  ag_batch_defaults(&o);
  ag_batch_result a = run_batch(&c, &o), b = run_batch(&back, &o);
  for (long i = 0; i < N; i++) AG_CHECK(!memcmp(a.x + NX * i, b.x + NX * (N - 1 - i), NX * sizeof(double)));
  ag_batch_done(&a);
  ag_batch_done(&b);
  crowd_done(&c);
  crowd_done(&back);
}

/* A member is the single run, bit for bit. The core of a batch does not see whether the rest is integrated (up to
 * rounding: the two right-hand sides may share sub-expressions differently). */
static void check_single(const char *method, double t1) {
  crowd c;
  stones(&c, N);
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.method = ag_stepper_find(method);
  o.run.t1 = t1;
  o.run.rtol = o.run.atol = 1e-12;
  ag_batch_result all = run_batch(&c, &o);
  bool only[9] = {false, false, false, true, false, true};
  o.columns = only;
  ag_batch_result core = run_batch(&c, &o);
  double gap = 0;
  for (long i = 0; i < N; i++) {
    ag_run_result res;
    o.run.every = -1;
    AG_CHECK(ag_run(&ctx, c.sys, c.params + 2 * i, c.x0 + NX * i, &o.run, NULL, &res) == AG_OK);
    AG_CHECK(all.members[i].end == AG_END_TIME && all.members[i].t == t1);
    AG_CHECK(!memcmp(all.x + NX * i, res.x, NX * sizeof(double)));
    AG_CHECK(!memcmp(all.records + all.width * i, res.record, sizeof(double) * (size_t)all.width));
    AG_CHECK(all.members[i].steps == res.steps && all.members[i].rejected == res.rejected);
    for (int k = 7; k < 10; k++) gap = fmax(gap, fabs(all.x[NX * i + k] - core.x[NX * i + k]));
    AG_CHECK(all.members[i].steps == core.members[i].steps && all.members[i].rejected == core.members[i].rejected);
    /* t, R, x, Omega, x', spin, far, energy, residual: only the requested columns are filled */
    const double *record = core.records + core.width * i;
    AG_CHECK(isnan(core.x[NX * i]) && isnan(core.x[NX * i + 4]) && isnan(record[0]) && isnan(record[1]));
    AG_CHECK(record[13] == core.x[NX * i + 7] && isnan(record[20]));
    gap = fmax(gap, fabs(record[19] - all.records[all.width * i + 19]));
    ag_run_done(&res);
  }
  fprintf(stderr, "%s: core without and with the rest differ by %.1e\n", method, gap);
  AG_CHECK(gap < 1e-11); /* rounding, amplified */
  ag_batch_done(&all);
  ag_batch_done(&core);
  crowd_done(&c);
  ag_ctx_done(&ctx);
}

/* A member is the single run, bit for bit, where stages are solved for with step-size control. */
static void check_solved(const char *method, double t1) {
  crowd c;
  stones(&c, N);
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.method = ag_stepper_find(method);
  o.run.t1 = t1, o.run.rtol = o.run.atol = 1e-8, o.run.every = -1;
  ag_run_prepare(c.sys, &o.run);
  ag_batch_result all = run_batch(&c, &o);
  for (long i = 0; i < N; i++) {
    ag_run_result res;
    AG_CHECK(ag_run(&ctx, c.sys, c.params + 2 * i, c.x0 + NX * i, &o.run, NULL, &res) == AG_OK);
    AG_CHECK(all.members[i].end == AG_END_TIME && all.members[i].t == t1);
    AG_CHECK(!memcmp(all.x + NX * i, res.x, NX * sizeof(double)));
    AG_CHECK(all.members[i].steps == res.steps && all.members[i].rejected == res.rejected);
    ag_run_done(&res);
  }
  ag_batch_done(&all);
  crowd_done(&c);
  ag_ctx_done(&ctx);
}

/* x'' = a x'^3: blows up at 1/(2 a v^2) where a > 0. */
static void blow_ups(crowd *c, long n) {
  ag_model *m = ag_model_create("blow_up");
  ag_graph *g = m->graph;
  ag_id a = ag_model_add_param(m, "a", ag_num(g, 1), nowhere);
  int x = ag_model_add_coord(m, "x", NULL, NULL, NULL, 0, AG_SPACE_R, 1, nowhere);
  ag_id v = m->coords[x].xi;
  m->lagrangian = ag_mul(g, ag_num(g, 0.5), ag_mul(g, v, v));
  AG_MODEL_PUSH(m, forces, ((ag_assign){x, -1, ag_mul(g, a, ag_mul(g, v, ag_mul(g, v, v))), nowhere, false}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, x, -1, -1, ag_num(g, 1), nowhere}));
  crowd_of(c, m, n);
  for (long i = 0; i < n; i++) c->params[i] = i % 3 == 1 ? 1 : i % 5 == 4 ? NAN : -1;
}

/* Failures end with a reason and leave the others as they are alone. */
static void check_failures(void) {
  crowd c;
  blow_ups(&c, 20);
  ag_batch_options o;
  ag_batch_defaults(&o);
  ag_batch_result r = run_batch(&c, &o);
  long failed = 0;
  for (long i = 0; i < c.n; i++) {
    const ag_batch_member *m = &r.members[i];
    bool bad = c.params[i] != -1;
    failed += bad;
    AG_CHECK((m->end != AG_END_TIME) == bad);
    if (isnan(c.params[i])) AG_CHECK(m->end == AG_END_FINITE && m->t == 0);
    else if (bad)
      AG_CHECK((m->end == AG_END_STEP || m->end == AG_END_FINITE) && m->t > 0.49 && m->t < 0.51 &&
               isfinite(r.x[2 * i + 1]));
    else AG_CHECK_NEAR(r.x[2 * i + 1], 1 / sqrt(21), 1e-9); /* 1/v^2 = 1 + 2 t */
  }
  AG_CHECK(r.n_failed == failed && failed == 9);
  crowd good = c;
  good.n = 1;
  ag_batch_result alone = run_batch(&good, &o);
  AG_CHECK(!memcmp(alone.x, r.x, 2 * sizeof(double)));
  ag_batch_done(&alone);
  ag_batch_done(&r);
  /* the step limit is exact */
  o.run.max_steps = 5;
  good.n = 20;
  r = run_batch(&good, &o);
  AG_CHECK(r.members[0].end == AG_END_STEPS && r.members[0].steps == 5);
  ag_batch_done(&r);
  /* a start equal to the end, no members, and wrong use */
  o.run.t1 = 0;
  r = run_batch(&c, &o);
  AG_CHECK(r.members[0].end == AG_END_TIME && r.members[0].steps == 0 && r.x[1] == 1);
  ag_batch_done(&r);
  good.n = 0;
  r = run_batch(&good, &o);
  AG_CHECK(r.n == 0 && r.n_failed == 0);
  ag_batch_done(&r);
  ag_ctx ctx = {0};
  o.lanes = 3;
  AG_CHECK(ag_batch(&ctx, c.sys, 1, c.params, c.x0, &o, &r) == AG_WRONG && ctx.n_error == 1);
  ag_ctx_done(&ctx);
  crowd_done(&c);
}

/* Without a compiler: member by member, the same table. */
static void check_members(void) {
  crowd c;
  stones(&c, 9);
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.compiler = "none";
  ag_batch_result first = {0};
  for (int threads = 1; threads <= 2; threads++) {
    o.threads = threads;
    ag_batch_result r = run_batch(&c, &o);
    AG_CHECK(r.lanes == 0 && r.note && r.n_failed == 0);
    if (threads == 1) {
      first = r;
      continue;
    }
    AG_CHECK(same(&first, &r));
    ag_batch_done(&r);
  }
  o.compiler = NULL;
  ag_batch_result lanes = run_batch(&c, &o);
  AG_CHECK(same(&first, &lanes));
  ag_batch_done(&lanes);
  ag_batch_done(&first);
  crowd_done(&c);
}

/* Fixed steps, in 8 lanes and in another number of them, have the bits of single runs: methods of every family, forward
 * and backward, ends that are not a multiple of the step, failures. */
static void check_fixed(const ag_stepper *method, double t0, double t1, int lanes) {
  crowd c;
  stones(&c, 11);
  c.params[2 * 5] = NAN;
  ag_ctx ctx = {0};
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.method = method;
  o.run.t0 = t0, o.run.t1 = t1, o.run.dt = 0.03;
  ag_run_prepare(c.sys, &o.run);
  ag_batch_result first = {0};
  for (int k = 0; k < 2; k++) {
    o.lanes = k ? lanes : 8;
    o.threads = o.lanes == 4 ? 2 : 1;
    ag_batch_result r = run_batch(&c, &o);
    AG_CHECK(r.lanes == o.lanes && !r.core_only && r.n_failed == 1);
    if (!k) {
      first = r;
      continue;
    }
    AG_CHECK(same(&first, &r));
    ag_batch_done(&r);
  }
  for (long i = 0; i < 11; i++) {
    ag_run_result res;
    o.run.every = -1;
    AG_CHECK(ag_run(&ctx, c.sys, c.params + 2 * i, c.x0 + NX * i, &o.run, NULL, &res) == AG_OK);
    const ag_batch_member *m = &first.members[i];
    AG_CHECK(m->end == res.end && m->t == res.t && m->steps == res.steps && m->rejected == 0);
    AG_CHECK(!memcmp(first.x + NX * i, res.x, NX * sizeof(double)));
    AG_CHECK(!memcmp(first.records + first.width * i, res.record, sizeof(double) * (size_t)first.width));
    ag_run_done(&res);
  }
  ag_batch_done(&first);
  crowd_done(&c);
  ag_ctx_done(&ctx);
}

/* Fewer members than lanes, a share that is not whole, more threads than members: the same table, with and without a
 * search for crossings. */
static void check_shares(void) {
  static const long sizes[] = {1, 3, 9, 17};
  static const int threads[] = {1, 2, 3, 20};
  for (int i = 0; i < 4; i++)
    for (int events = 0; events < 2; events++) {
      crowd c;
      stones(&c, sizes[i]);
      ag_batch_options o;
      ag_batch_defaults(&o);
      o.run.t1 = 3, o.run.events = events, o.lanes = 4;
      ag_batch_result first = {0};
      for (int k = 0; k < 4; k++) {
        o.threads = threads[k];
        ag_batch_result r = run_batch(&c, &o);
        AG_CHECK(r.n_failed == 0 && r.threads <= threads[k]);
        if (!k) {
          first = r;
          continue;
        }
        AG_CHECK(same(&first, &r));
        ag_batch_done(&r);
      }
      ag_batch_done(&first);
      crowd_done(&c);
    }
}

typedef struct counter {
  long calls, last;
  atomic_int stop;
  long stop_at;
} counter;

static void count(void *self, long done, long n) {
  counter *k = self;
  k->calls++;
  AG_CHECK(done >= k->last && done <= n);
  k->last = done;
  if (k->stop_at && done >= k->stop_at) k->stop = 1;
}

static void check_stop(void) {
  crowd c;
  stones(&c, N);
  counter k = {0};
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.progress = count;
  o.progress_self = &k;
  o.run.stop = &k.stop;
  ag_batch_result all = run_batch(&c, &o);
  AG_CHECK(k.calls > 0 && all.n_failed == 0);
  k = (counter){.stop_at = 5};
  o.threads = 1;
  ag_batch_result r = run_batch(&c, &o);
  long good = 0;
  for (long i = 0; i < N; i++) {
    bool ended = r.members[i].end == AG_END_TIME;
    good += ended;
    if (ended) AG_CHECK(!memcmp(r.x + NX * i, all.x + NX * i, NX * sizeof(double)));
    else AG_CHECK(r.members[i].end == AG_END_STOPPED && r.members[i].t < 10);
  }
  AG_CHECK(good >= 5 && good < N && r.n_failed == N - good);
  ag_batch_done(&r);
  ag_batch_done(&all);
  crowd_done(&c);
}

int main(void) {
  check_bits("dop853", 2, 4);
  check_bits("dopri5", 1, 2);
  check_wide();
  check_order();
  check_single("dop853", 20);
  check_single("tsit5", 5);
  /* the first of every family that has fixed steps only, in 4, 2, 1, 4, ... lanes */
  for (int i = 0, lanes = 4; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    bool first = !s->error_order && !ag_stepper_noisy(s);
    for (int k = 0; k < i; k++)
      first = first && (ag_stepper_at(k)->error_order || strcmp(ag_stepper_at(k)->family, s->family));
    if (!first) continue;
    check_fixed(s, 0, 1, lanes);
    check_fixed(s, 0.5, -0.7, lanes);
    lanes = lanes > 1 ? lanes / 2 : 4;
  }
  /* stages that are solved for: real and complex modes, an estimate, a partition */
  check_bits("radau3", 1, 4);
  check_solved("radau3", 5);
  check_fixed(ag_stepper_find("gauss3"), 0, 1, 2);
  check_fixed(ag_stepper_find("lobatto3ab3"), 0, 1, 4);
  check_failures();
  check_members();
  check_shares();
  check_stop();
  return ag_check_report();
}
