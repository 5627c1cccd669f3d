/* SPDX-License-Identifier: MIT
 * Random points: the same for the same seed, in the domain, and none where the domain is empty. */
#include "tests/mech_models.h"

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  ag_sampler one, two;
  double *p = room(sys->n.q), *q = room(sys->n.q), s, t;
  ag_sampler_init(&one, sys, sys->params, 7);
  ag_sampler_init(&two, sys, sys->params, 7);
  for (int i = 0; i < 20; i++) {
    AG_CHECK(ag_sampler_next(&one, &s, p) && ag_sampler_next(&two, &t, q));
    AG_CHECK(s == t && !memcmp(p, q, sizeof *p * (size_t)sys->n.q));
    AG_CHECK(s >= -2 && s <= 2);
    for (int k = 0; k < sys->model->n_coords; k++) {
      const ag_layout_row *row = &sys->coords[k];
      double square = 0;
      for (int j = 0; j < row->n; j++) square += p[row->at + j] * p[row->at + j];
      if (row->factor == AG_SPACE_SO3) AG_CHECK_NEAR(square, 1, 1e-14);
      if (row->factor == AG_SPACE_S1) AG_CHECK(square <= M_PI * M_PI);
    }
  }
  ag_sampler_done(&one);
  ag_sampler_done(&two);
  free(p), free(q);
  for (unsigned seed = 1; seed <= 5; seed++) { /* samples of states satisfy the constraints */
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_residual(b->w, b->t, b->x) < 1e-9);
  }
}

/* 1 <= x <= 2 and x + y >= 4; then what no point fulfils. */
static void check_domain(void) {
  ag_model *m = blade();
  ag_graph *g = m->graph;
  ag_id x = m->coords[0].q, sum = ag_add(g, x, m->coords[1].q);
  AG_MODEL_PUSH(m, domains, ((ag_range){x, ag_num(g, 1), ag_num(g, 2), nowhere}));
  AG_MODEL_PUSH(m, domains, ((ag_range){sum, ag_num(g, 2), ag_num(g, 9), nowhere}));
  start_at(m, false, 0, -1, 1.5);
  start_at(m, false, 1, -1, 1.5);
  ag_ctx ctx = {0};
  ag_system *sys;
  AG_CHECK(ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys) == AG_OK);
  ag_sampler s;
  double q[3], t;
  ag_sampler_init(&s, sys, sys->params, 1);
  for (int i = 0; i < 50; i++) AG_CHECK(ag_sampler_next(&s, &t, q) && q[0] >= 1 && q[0] <= 2 && q[0] + q[1] >= 2);
  ag_sampler_done(&s);
  m->domains[1].lo = ag_num(g, 8); /* y is at most 2 */
  ag_sampler_init(&s, sys, sys->params, 1);
  AG_CHECK(!ag_sampler_next(&s, &t, q));
  ag_sampler_done(&s);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* splitmix64 from 0: the published first numbers e220a8397b1dcdaf, 6e789e6aa1b965f4. */
static void check_random(void) {
  uint64_t state = 0;
  AG_CHECK(ag_random_unit(&state) == ((double)(0xe220a8397b1dcdafu >> 11) + 0.5) * 0x1p-53);
  AG_CHECK(ag_random_unit(&state) == ((double)(0x6e789e6aa1b965f4u >> 11) + 0.5) * 0x1p-53);
}

int main(void) {
  check_random();
  check_domain();
  return each_case(check);
}
