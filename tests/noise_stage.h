/* SPDX-License-Identifier: MIT
 * One step of a model with noise, with given increments. */
#ifndef AG_TESTS_NOISE_STAGE_H
#define AG_TESTS_NOISE_STAGE_H
#include <math.h>
#include <stdlib.h>

#include "lang/lang.h"
#include "run/run_internal.h"
#include "tests/check.h"

enum { STAGE_MOST = 24 };

typedef struct stage {
  ag_ctx ctx;
  ag_model *m;
  ag_system *sys;
  ag_mover mover;
  int n; /* numbers of x = [q | xi] */
} stage;

/* False: the method does not fit. */
static inline bool stage_init(stage *s, const char *text, const ag_stepper *method, double h) {
  ag_run_options o;
  memset(s, 0, sizeof *s);
  AG_CHECK(ag_lang_read(&s->ctx, "model", text, strlen(text), 0, NULL, &s->m) == AG_OK);
  AG_CHECK(ag_system_create(&s->ctx, s->m, &(ag_derive_options){0}, &s->sys) == AG_OK);
  ag_run_defaults(&o);
  o.method = method, o.dt = o.t1 = h, o.noise = AG_NOISE_PATH, o.engine = AG_ENGINE_INTERPRETED;
  ag_run_prepare(s->sys, &o);
  ag_mover_create(&s->mover, s->sys, ag_system_param_values(s->sys), &o, false);
  s->n = ag_system_dims(s->sys)->x;
  AG_CHECK(s->n <= STAGE_MOST);
  return ag_run_check(&s->ctx, s->sys, &o) == AG_OK;
}

static inline void stage_done(stage *s) {
  ag_mover_free(&s->mover);
  ag_system_free(s->sys);
  ag_model_free(s->m);
  ag_ctx_done(&s->ctx);
}

/* From (t, x) in place with the increments dW; halves: those of the first half less those of the second (NULL: 0). */
static inline void stage_step(stage *s, double t, double h, const double *dW, const double *halves, double *x) {
  ag_mover *m = &s->mover;
  const int n = ag_system_dims(s->sys)->channel;
  double error[2];
  AG_CHECK(!ag_work_reduce(m->work, t, x, m->c, m->z));
  m->step[0] = m->step[1 + n] = 1;
  for (int i = 0; i < n; i++) {
    m->step[1 + i] = dW[i] / h;
    m->step[2 + n + i] = halves ? halves[i] / h : 0;
  }
  memset(m->dz, 0, sizeof(double) * (size_t)m->n_carry);
  AG_CHECK(!ag_mover_rhs(m, t, m->z, m->dz));
  AG_CHECK(!ag_mover_step(m, t, h, 0, 1, error));
  ag_work_full(m->work, t + h, m->z1, m->c, x);
}
#endif
