/* SPDX-License-Identifier: MIT
 * Many members of one model, for tests of batches. */
#ifndef AG_TESTS_CROWD_H
#define AG_TESTS_CROWD_H
#include <stdlib.h>

#include "base/arena.h"
#include "run/run.h"
#include "tests/built_models.h"
#include "tests/check.h"

enum { N = 37, NX = 13 }; /* members: no multiple of any number of lanes */

/* Members with their own parameters (m, g) and starts. */
typedef struct crowd {
  ag_model *model;
  ag_system *sys;
  long n;
  double *params, *x0;
} crowd;

static inline ag_system *derive_model(ag_model *m) {
  ag_ctx ctx = {0};
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  AG_CHECK(ag_system_create(&ctx, m, &options, &sys) == AG_OK);
  ag_ctx_done(&ctx);
  return sys;
}

static inline void add_observables(ag_model *m) {
  ag_graph *g = m->graph;
  ag_id back = ag_transpose(g, m->coords[0].q), e3 = vec3(g, 0, 0, 1), gamma = ag_mul(g, back, e3);
  AG_MODEL_PUSH(m, observables, ((ag_item){"spin", NULL, ag_dot(g, m->coords[0].xi, gamma), nowhere}));
  AG_MODEL_PUSH(m, observables, ((ag_item){"far", NULL, ag_norm(g, m->coords[1].q), nowhere}));
}

static inline void crowd_of(crowd *c, ag_model *m, long n) {
  *c = (crowd){.model = m, .sys = derive_model(m), .n = n};
  int n_x = ag_system_dims(c->sys)->x;
  c->params = ag_heap_alloc(sizeof(double) * (size_t)(n * ag_system_dims(c->sys)->param + 1));
  c->x0 = ag_heap_alloc(sizeof(double) * (size_t)(n * n_x + 1));
  for (long i = 0; i < n; i++) {
    memcpy(c->params + i * ag_system_dims(c->sys)->param, ag_system_param_values(c->sys),
           sizeof(double) * (size_t)ag_system_dims(c->sys)->param);
    ag_system_state0(c->sys, c->x0 + i * n_x);
  }
}

/* Stones of different spin and weight; the velocity of the centre follows from rolling. */
static inline void stones_of(crowd *c, ag_model *m, long n) {
  crowd_of(c, m, n);
  for (long i = 0; i < n; i++) {
    double *x = c->x0 + i * NX, s = (double)i / (double)n;
    c->params[2 * i + 1] = 1 + 0.5 * s;
    x[7] = 0.1 + 0.2 * s, x[8] = 0.05 * s, x[9] = 0.3 + 0.4 * s;
    ag_work *w = ag_work_create(c->sys, c->params + 2 * i);
    double z[32];
    AG_CHECK(ag_work_reduce(w, 0, x, NULL, z) == AG_FINE);
    ag_work_full(w, 0, z, NULL, x);
    ag_work_free(w);
  }
}

static inline void stones(crowd *c, long n) {
  ag_model *m = rattleback();
  add_observables(m);
  stones_of(c, m, n);
}

static inline void crowd_done(crowd *c) {
  free(c->params);
  free(c->x0);
  ag_system_free(c->sys);
  ag_model_free(c->model);
}

static inline ag_batch_result run_batch(const crowd *c, const ag_batch_options *o) {
  ag_ctx ctx = {0};
  ag_batch_result r;
  AG_CHECK(ag_batch(&ctx, c->sys, c->n, c->params, c->x0, o, &r) == AG_OK);
  ag_ctx_done(&ctx);
  return r;
}
#endif
