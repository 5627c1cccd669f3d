/* SPDX-License-Identifier: MIT
 * Sections and terminal events in batches: the same bits for every number of lanes and threads and every order of the
 * members, the crossings of single runs, and every point on its section and energy level. */
#include "run/run.h"

#include <stdlib.h>

#include "tests/check.h"
#include "tests/crowd.h"

/* Omega[1] = 0 either way, which the rocking of the stone crosses often; the spin about the vertical falls through
 * zero. */
static void add_crossings(ag_model *m, bool terminal) {
  ag_graph *g = m->graph;
  ag_id gamma = ag_mul(g, ag_transpose(g, m->coords[0].q), vec3(g, 0, 0, 1));
  ag_event section = {"rocking", ag_entry(g, m->coords[0].xi, 0, 0), 0, false, nowhere, false};
  ag_event far = {"far", ag_sub(g, ag_norm(g, m->coords[1].q), ag_num(g, 1.5)), 1, false, nowhere, false};
  ag_event reversal = {"reversal", ag_dot(g, m->coords[0].xi, gamma), -1, terminal, nowhere, false};
  AG_MODEL_PUSH(m, sections, section);
  AG_MODEL_PUSH(m, events, far);
  AG_MODEL_PUSH(m, events, reversal);
}

static void stones_with(crowd *c, bool terminal) {
  ag_model *m = rattleback();
  add_observables(m);
  add_crossings(m, terminal);
  stones_of(c, m, N);
}

static ag_batch_options options(double t1, long crossings, bool events) {
  ag_batch_options o;
  ag_batch_defaults(&o);
  o.run.rtol = o.run.atol = 1e-12;
  o.run.t1 = t1;
  o.run.section = 1;
  o.run.crossings = crossings;
  o.run.events = events;
  return o;
}

static bool same_points(const ag_batch_result *a, const ag_batch_result *b, bool turned) {
  bool ok = a->n == b->n;
  for (long i = 0; ok && i < a->n; i++) {
    long k = turned ? a->n - 1 - i : i;
    const ag_batch_member *p = &a->members[i], *q = &b->members[k];
    const ag_series *s = &a->points[i], *r = &b->points[k];
    ok = p->end == q->end && p->end_event == q->end_event && p->t == q->t && p->steps == q->steps && s->n == r->n;
    ok = ok && (!s->n || !memcmp(s->data, r->data, sizeof(double) * (size_t)(s->n * s->width)));
    ok = ok && !memcmp(a->x + i * a->n_x, b->x + k * a->n_x, sizeof(double) * (size_t)a->n_x);
  }
  return ok;
}

static long count_points(const ag_batch_result *r) {
  long n = 0;
  for (long i = 0; i < r->n; i++) n += r->points[i].n;
  return n;
}

/* core: only what Omega and spin depend on. */
static void check_bits(double t1, long crossings, bool events, bool core) {
  crowd c;
  stones_with(&c, events);
  bool only[9] = {false, false, false, true, false, true};
  ag_batch_options o = options(t1, crossings, events && !core);
  o.columns = core ? only : NULL;
  o.lanes = o.threads = 1;
  ag_batch_result first = run_batch(&c, &o);
  AG_CHECK(first.lanes == 1 && first.n_failed == 0 && first.core_only == core);
  if (first.note) fprintf(stderr, "not in lanes: %s\n", first.note);
  AG_CHECK(count_points(&first) > N);
  for (int lanes = 2; lanes <= 8; lanes *= 2) {
    o.lanes = lanes;
    o.threads = lanes == 8 ? 3 : lanes / 2;
    ag_batch_result r = run_batch(&c, &o);
    AG_CHECK(r.lanes == lanes && same_points(&first, &r, false));
    ag_batch_done(&r);
  }
  for (long i = 0; i < N / 2; i++) {
    for (int k = 0; k < 2; k++) {
      double p = c.params[2 * i + k];
      c.params[2 * i + k] = c.params[2 * (N - 1 - i) + k], c.params[2 * (N - 1 - i) + k] = p;
    }
    for (int k = 0; k < NX; k++) {
      double p = c.x0[NX * i + k];
      c.x0[NX * i + k] = c.x0[NX * (N - 1 - i) + k], c.x0[NX * (N - 1 - i) + k] = p;
    }
  }
  ag_batch_result r = run_batch(&c, &o);
  AG_CHECK(same_points(&first, &r, true));
  ag_batch_done(&r);
  ag_batch_done(&first);
  crowd_done(&c);
}

/* Single runs find the same crossings: times and states bit for bit. Every point is on the section to rounding error,
 * and on the energy of its member to 1e-11. */
static void check_single(double t1, long crossings, bool events) {
  crowd c;
  stones_with(&c, events);
  ag_batch_options o = options(t1, crossings, events);
  ag_batch_result r = run_batch(&c, &o);
  AG_CHECK(r.lanes > 1 && r.n_failed == 0);
  ag_record layout;
  ag_record_init(&layout, c.sys);
  int energy = layout.width - 2, omega = layout.columns[3].offset;
  long ended = 0;
  ag_tape *watch = ag_run_watch(c.sys, &o.run);
  for (long i = 0; i < N; i++) {
    ag_ctx ctx = {0};
    ag_run_result one;
    ag_series points = {.width = layout.width};
    ag_sink sink = {ag_series_row, &points};
    const double *params = c.params + 2 * i;
    ag_run_options single = o.run;
    single.watch = watch;
    AG_CHECK(ag_run(&ctx, c.sys, params, c.x0 + NX * i, &single, &sink, &one) == AG_OK);
    AG_CHECK(one.end == r.members[i].end && one.end_event == r.members[i].end_event && points.n == r.points[i].n);
    AG_CHECK(one.t == r.members[i].t && !memcmp(one.x, r.x + i * NX, sizeof(double) * NX));
    ended += one.end == AG_END_EVENT;
    if (crossings && one.end == AG_END_CROSSINGS) AG_CHECK(points.n == crossings);
    for (long k = 0; k < points.n && points.n == r.points[i].n; k++) {
      const double *a = points.data + k * points.width, *b = r.points[i].data + k * points.width;
      AG_CHECK(!memcmp(a, b, sizeof(double) * (size_t)points.width));
      AG_CHECK(fabs(b[omega]) < 1e-14);
      AG_CHECK_NEAR(b[energy], one.energy0, 1e-11);
    }
    ag_series_done(&points);
    ag_run_done(&one);
    ag_ctx_done(&ctx);
  }
  AG_CHECK(!events || ended > 0);
  ag_tape_free(watch);
  ag_record_done(&layout);
  ag_batch_done(&r);
  crowd_done(&c);
}

/* Systems that cannot use lanes give their points, too. */
static void check_members(void) {
  crowd c;
  stones_with(&c, false);
  ag_batch_options o = options(20, 0, false);
  ag_batch_result lanes = run_batch(&c, &o);
  o.run.engine = AG_ENGINE_INTERPRETED;
  ag_batch_result one = run_batch(&c, &o);
  AG_CHECK(lanes.lanes > 1 && one.lanes == 0 && one.note != NULL);
  for (long i = 0; i < N; i++) AG_CHECK(lanes.points[i].n == one.points[i].n && one.points[i].n > 0);
  ag_batch_done(&lanes);
  ag_batch_done(&one);
  crowd_done(&c);
}

int main(void) {
  check_bits(20, 0, false, false);
  check_bits(20, 0, false, true);
  check_bits(90, 15, true, false);
  check_bits(-20, 0, true, false);
  check_single(15, 0, false);
  check_single(-15, 0, false);
  check_single(15, 3, false);
  check_single(90, 0, true);
  check_members();
  return ag_check_report();
}
