/* SPDX-License-Identifier: MIT
 * A mover on compiled code: the stepper's functions are replaced by those of a fused unit for one lane, which works in
 * the same workspace in the same order, so that a run may change over between two steps without changing a bit. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_internal.h"

/* The workspace is that of the library's stepper. z and, of a dense output, z1 are only read. */
static ag_fused_args arguments(const ag_mover *m, double *t, double *h, const double *z, const double *z1, double *work,
                               unsigned long long *fail) {
  return (ag_fused_args){.t = t,
                         .h = h,
                         .z = (double *)z,
                         .z1 = (double *)z1,
                         .c = m->c,
                         .step = m->step,
                         .prep = m->prep,
                         .prep_jacobian = m->prep_jacobian,
                         .prep_finish = m->prep_finish,
                         .prep_canonical = m->prep_canonical,
                         .work = work,
                         .fail = fail};
}

static int fused_step(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                      double *z1, double *dz1, double rtol, double atol, double *error, double *work) {
  ag_mover *m = f->self;
  unsigned long long fail = 0;
  ag_fused_args a = arguments(m, &t, &h, z, z1, work, &fail);
  a.rtol = rtol;
  a.atol = m->tolerance;
  a.error = error; /* two numbers: the core's, the rest's */
  const size_t carry = sizeof(double) * (size_t)(m->n + m->room.own);
  memcpy(work, dz0, carry);
  m->n_rhs += s->n_stage + s->n_channel_stage * f->n_channel;
  if (m->step) memcpy(m->step + m->n_step, m->step, sizeof(double) * (size_t)m->n_step);
  ag_fused_step(m->fused, &a);
  memcpy(dz1, work + m->room.end, carry);
  if (!fail) return 0;
  /* to find the cause: the stages one by one, up to the one that failed */
  bool several = ag_system_elimination(m->sys) == AG_ELIM_SADDLE || ag_stepper_solves(s);
  const ag_stepper *plain = several ? ag_stepper_find(s->name) : NULL;
  long n_rhs = m->n_rhs;
  if (m->step) memcpy(m->step, m->step + m->n_step, sizeof(double) * (size_t)m->n_step); /* which methods change */
  m->trouble = plain ? plain->step(plain, f, t, h, z, dz0, z1, dz1, rtol, atol, error, work) : 0;
  m->n_rhs = n_rhs;
  if (!m->trouble) m->trouble = AG_TROUBLE_MASS;
  return m->trouble;
}

static int fused_dense(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *z1,
                       double *work) {
  ag_mover *m = f->self;
  unsigned long long fail = 0;
  ag_fused_args a = arguments(m, &t, &h, z, z1, work, &fail);
  m->n_rhs += s->n_dense;
  ag_fused_dense(m->fused, &a);
  return fail ? AG_TROUBLE_MASS : 0;
}

/* The method is the one inside a mover. */
static void fused_interpolate(const ag_stepper *s, int n, double theta, const double *z, const double *work,
                              double *out) {
  const ag_mover *m = (const ag_mover *)((const char *)s - offsetof(ag_mover, own));
  (void)n;
  ag_fused_args a = {.theta = &theta, .z = (double *)z, .work = (double *)work, .out = out}; /* both are only read */
  ag_fused_interpolate(m->fused, &a);
}

static double fused_integral(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z,
                             const double *work) {
  ag_mover *m = f->self;
  double done;
  (void)s;
  ag_fused_args a = arguments(m, &t, &h, z, NULL, (double *)work, NULL); /* which is only read */
  a.prep_power = m->prep_power, a.done = &done;
  ag_fused_power(m->fused, &a);
  return done;
}

void ag_mover_power(ag_mover *m, double t, double h, double part, double *done) {
  unsigned long long fail = 0;
  ag_fused_args a = arguments(m, &t, &h, m->z, m->z1, m->space, &fail);
  a.part = &part, a.prep_power = m->prep_power, a.out = m->zt, a.done = done;
  ag_fused_power(m->fused, &a);
}

ag_fused *ag_mover_kernel(const ag_system *sys, const ag_stepper *method, bool core, bool noise,
                          const ag_build_options *build, ag_text *reason) {
  ag_fused_spec spec = {.method = method, .noise = noise};
  ag_fused_spec_init(&spec, sys, core);
  ag_fused *fused = ag_fused_create(&spec, build, reason);
  ag_fused_spec_done(&spec);
  return fused;
}

void ag_fused_spec_init(ag_fused_spec *s, const ag_system *sys, bool core) {
  int rhs = core ? AG_ROLE_CORE : AG_ROLE_RHS, jacobian = AG_ROLE_TURN_JACOBIAN;
  int field = ag_run_role(s->method);
  if (s->noise) rhs = core ? field + AG_FIELD_CORE : field, jacobian = field + AG_FIELD_JACOBIAN;
  s->tape = ag_system_role(sys, rhs);
  s->channels = ag_system_dims(sys)->channel;
  s->jacobian = s->method->needs & AG_NEEDS_JACOBIAN ? ag_system_role(sys, jacobian) : NULL;
  s->table = s->jacobian ? ag_system_table(sys, jacobian) : NULL;
  if (s->method->needs & AG_NEEDS_GRADIENT) s->finish = ag_system_role(sys, AG_ROLE_POISSON);
  if (s->method->needs & AG_NEEDS_RESIDUAL) {
    s->jacobian = ag_system_role(sys, ag_discrete_role(s->method, s->noise));
    s->table = ag_system_table(sys, ag_discrete_role(s->method, s->noise));
    s->finish = ag_system_role(sys, ag_discrete_role(s->method, s->noise) + 1);
    s->n_lambda = ag_system_dims(sys)->lambda;
  }
  if (s->method->needs & AG_NEEDS_SPLIT) s->finish = ag_system_role(sys, AG_ROLE_INERTIA);
  if (ag_stepper_tests(s->method)) s->canonical = ag_system_role(sys, AG_ROLE_CANONICAL);
  bool works = s->stretch ? ag_system_energy_law(sys) != AG_ENERGY_CONSERVED : !s->march && !s->noise && !core;
  s->power = works ? ag_system_role(sys, AG_ROLE_POWER) : NULL;
  s->name = ag_model_name(ag_system_model(sys));
  s->n = core ? ag_system_dims(sys)->core : ag_system_dims(sys)->z;
  s->n_norm = ag_system_dims(sys)->core;
  s->factors = ag_heap_alloc(sizeof *s->factors * (size_t)(ag_system_dims(sys)->z + 1));
  s->n_factor = ag_mover_factors(sys, core, s->factors, &s->m);
  s->spin = ag_heap_alloc(sizeof *s->spin * (size_t)(s->n_factor + 1));
  ag_mover_spins(sys, s->n_factor, s->factors, s->spin);
  s->u_at = ag_mover_velocities(sys, s->n_factor, s->factors);
  s->n_u = ag_system_dims(sys)->u;
}

double ag_mover_cost(const ag_mover *m) {
  ag_fused_spec s = {.method = m->method, .noise = m->step != NULL};
  ag_fused_spec_init(&s, m->sys, m->core);
  double cost = ag_tape_cost(s.tape), n = s.m + s.n_lambda;
  if (ag_stepper_solves(m->method))
    cost += 2 * ((s.jacobian ? ag_tape_cost(s.jacobian) : 0) + (s.finish ? ag_tape_cost(s.finish) : 0) + n * n * n);
  ag_fused_spec_done(&s);
  return cost;
}

void ag_fused_march_init(ag_fused_spec *s, const ag_system *sys, const ag_run_options *o, const ag_tape *guard,
                         bool core) {
  const ag_dims *d = ag_system_dims(sys);
  s->march = true, s->fixed = o->dt > 0;
  s->n_fragile = d->fragile, s->n_xi = d->xi, s->n_g = d->g, s->n_c = d->c;
  s->minor_bound = ag_system_minor_bounds(sys, &s->n_minor);
  const int agrees = ag_mover_in_place(sys, o) ? ag_mover_agrees(sys, o) : -1;
  s->align = agrees < 0 ? NULL : ag_system_role(sys, agrees);
  if (!s->fixed) {
    s->guard = guard;
    s->project = ag_system_role(sys, AG_ROLE_PROJECT);
    s->onto_rows = ag_system_role(sys, AG_ROLE_ONTO_ROWS);
    s->turn = ag_system_role(sys, AG_ROLE_TURN), s->renew = ag_system_role(sys, AG_ROLE_RENEW);
  }
  ag_fused_spec_init(s, sys, core);
}

void ag_fused_spec_done(ag_fused_spec *s) { free(s->factors), free(s->spin); }

/* Prepared parameters of one of the tapes of a unit for one lane. */
double *ag_mover_prep(const ag_fused *fused, ag_fused_tape tape, const double *params) {
  unsigned long long fail = 0;
  double *prep = ag_heap_aligned(sizeof(double) * (size_t)(ag_fused_n_prep(fused, tape) + 1));
  ag_fused_prep(fused, tape, params, prep, &fail); /* a pivot that fails shows up in every evaluation */
  return prep;
}

void ag_mover_use(ag_mover *m, const double *params, const ag_fused *fused) {
  m->fused = fused;
  m->prep = ag_mover_prep(fused, AG_FUSED_RHS, params);
  m->prep_jacobian = ag_mover_prep(fused, AG_FUSED_JACOBIAN, params);
  m->prep_finish = ag_mover_prep(fused, AG_FUSED_FINISH, params);
  m->prep_canonical = ag_mover_prep(fused, AG_FUSED_CANONICAL, params);
  m->prep_power = ag_mover_prep(fused, AG_FUSED_POWER, params);
  m->own = *m->method;
  m->own.step = fused_step;
  m->own.dense = fused_dense;
  m->own.interpolate = fused_interpolate;
  if (m->own.integral) m->own.integral = ag_fused_has(fused, AG_FUSED_POWER) ? fused_integral : NULL;
  if (m->base) m->base = &m->own;
  else m->method = &m->own;
}

bool ag_mover_compile(ag_mover *m, const double *params, bool only_cached, ag_text *reason) {
  ag_build_options build = {.lanes = 1, .only_cached = only_cached};
  m->mine = ag_mover_kernel(m->sys, m->method, false, m->step != NULL, &build, reason);
  if (m->mine) ag_mover_use(m, params, m->mine);
  return m->mine != NULL;
}
