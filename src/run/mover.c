/* SPDX-License-Identifier: MIT
 * A mover: the numbers being integrated, their rate of change, and the states they pass. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "expr/vmath.h"
#include "run/switch.h"

#include "run/unit_core.h"

#define AG_PROJECT_OF ag_mover *a
#define AG_PROJECT_N(a) (a)->n
#define AG_PROJECT_G(a) ag_system_dims((a)->sys)->g
#define AG_PROJECT_EVAL(a, t, z, out, fail) \
  fail |= (VI)0 - (VI)(ag_work_role((a)->work, AG_ROLE_PROJECT, t, z, (a)->c, out) != AG_FINE);
#include "run/project_core.h"

void ag_mover_full(ag_mover *m, double t, const double *z, const double *c, double *x) {
  if (m->full) memcpy(x, z, sizeof(double) * (size_t)m->n);
  else ag_work_full(m->work, t, z, c, x);
}

static inline int on_branch(ag_mover *m, double t, const double *z, const double *c, double *dz) {
  m->n_rhs++;
  if (m->fused) {
    unsigned long long fail = 0;
    ag_fused_rhs(m->fused, &t, z, c, m->step, m->prep, dz, &fail);
    return fail ? ag_work_cause(m->work, t, z, c) : AG_FINE;
  }
  if (m->step)
    return m->full ? ag_work_increment_full(m->work, t, z, dz)
                   : ag_work_increment(m->work, ag_run_role(m->method), t, z, c, dz);
  if (!m->full) return m->core ? ag_work_core(m->work, t, z, c, dz) : ag_work_rhs(m->work, t, z, c, dz);
  if (m->switches) ag_work_branch(m->work, c);
  int trouble = ag_work_rhs_full(m->work, t, z, dz);
  if (m->switches) ag_work_branch(m->work, m->c);
  return trouble;
}

int ag_mover_branch(ag_mover *m, double t, const double *z, const double *c, double *dz) {
  return on_branch(m, t, z, c, dz);
}

int ag_mover_rhs(void *self, double t, const double *z, double *dz) {
  ag_mover *m = self;
  bool slides = m->switches && m->switches->n_slide;
  int trouble = slides ? ag_slide_rhs(m, t, z, dz) : on_branch(m, t, z, m->c, dz);
  if (trouble) m->trouble = trouble;
  return trouble;
}

/* After a fixed step of a method that turns rotations and their images alike lengths alone are to be restored. */
static bool turns_alike(const ag_system *sys, const ag_run_options *o) {
  ag_elimination how = ag_system_elimination(sys);
  const ag_dims *d = ag_system_dims(sys);
  bool guarded = ag_system_role(sys, AG_ROLE_MINOR) || d->fragile;
  return o->method->needs & AG_NEEDS_FACTORS && !o->project && !guarded && !d->g && !d->channel &&
         how != AG_ELIM_BASIS && how != AG_ELIM_SADDLE;
}

bool ag_mover_in_place(const ag_system *sys, const ag_run_options *o) {
  ag_elimination how = ag_system_elimination(sys);
  bool positions = ag_system_dims(sys)->g > 0, projects = ag_system_role(sys, AG_ROLE_PROJECT) != NULL;
  bool combined = how == AG_ELIM_BASIS && ag_system_dims(sys)->rank < ag_system_dims(sys)->lambda;
  bool large = how == AG_ELIM_SADDLE && (o->noise == AG_NOISE_PATH || !ag_system_role(sys, AG_ROLE_ONTO_ROWS));
  if (o->multipliers || positions != projects || combined || large || ag_system_watches(sys)) return false;
  if (o->noise != AG_NOISE_PATH) return o->dt <= 0 || turns_alike(sys, o);
  return (!positions && how != AG_ELIM_BASIS) || ag_system_role(sys, AG_ROLE_AGREE) || !ag_system_corrects(sys);
}

void ag_mover_begin(ag_mover *m) {
  for (int i = 0; i < m->n_unit; i++) {
    double sum = 0;
    for (int k = 0; k < m->units[i].n; k++) sum = fma(m->z[m->units[i].at + k], m->z[m->units[i].at + k], sum);
    m->unit_length[i] = sum;
  }
}

int ag_mover_agrees(const ag_system *sys, const ag_run_options *o) {
  const bool noise = o->noise == AG_NOISE_PATH, needed = noise || o->dt > 0;
  const int role = noise ? AG_ROLE_AGREE : AG_ROLE_ALIGN;
  return (needed || ag_system_elimination(sys) == AG_ELIM_BASIS) && ag_system_role(sys, role) ? role : -1;
}

static void restore_units(ag_mover *m, double *z) {
  for (int i = 0; i < m->n_unit; i++) unit_restore(z + m->units[i].at, m->units[i].n, m->unit_length[i], ~0ULL);
}

/* Where Newton's method does not settle quickly that of the worker takes more care; on a path with noise that is an
 * end, as in lanes (walk_core.h). */
static int restore(ag_mover *m, double t, double *z) {
  bool changed;
  restore_units(m, z);
  if (m->agrees >= 0) {
    (void)ag_work_role(m->work, m->agrees, t, z, m->c, m->aligned);
    memcpy(z, m->aligned, sizeof(double) * (size_t)m->n);
  }
  bool good = !m->projected || !project(m, t, z, m->projected, ~0ULL);
  if (good && m->holds) {
    good = ag_work_role(m->work, AG_ROLE_ONTO_ROWS, t, z, m->c, m->aligned) == AG_FINE;
    if (good) memcpy(z, m->aligned, sizeof(double) * (size_t)m->n);
  }
  if (good) return AG_FINE;
  return m->step ? AG_TROUBLE_PROJECT : ag_work_settle(m->work, t, z, m->c, &changed);
}

int ag_mover_restore(ag_mover *m, double t, double *z, double *c, bool *changed) {
  int trouble = restore(m, t, z);
  *changed = m->projected || m->holds;
  if (!trouble && ag_work_left(m->work, t, z, c)) trouble = AG_TROUBLE_DOMAIN;
  if (!trouble && ag_system_elimination(m->sys) == AG_ELIM_BASIS) trouble = ag_work_renew(m->work, t, z, c, changed);
  return trouble;
}

void ag_mover_output(ag_mover *m, double t, const double *z, const double *c, double *x) {
  bool changed;
  if (!m->in_place || (m->step && ag_system_role(m->sys, AG_ROLE_AGREE))) {
    ag_mover_full(m, t, z, c, x);
    return;
  }
  memcpy(m->zt, z, sizeof(double) * (size_t)m->n);
  memcpy(m->c1, c, sizeof(double) * (size_t)m->n_c);
  (void)ag_mover_settle(m, t, m->zt, m->c1, &changed);
  ag_mover_full(m, t, m->zt, m->c1, x);
}

int ag_mover_settle(ag_mover *m, double t, double *z, double *c, bool *changed) {
  if (!m->full) return ag_work_settle(m->work, t, z, c, changed);
  *changed = ag_system_dims(m->sys)->lambda > 0;
  return ag_work_settle_full(m->work, t, z);
}

static int jacobian_role(const ag_mover *m, bool noise) {
  return noise ? ag_run_role(m->method) + AG_FIELD_JACOBIAN : AG_ROLE_TURN_JACOBIAN;
}

static int jacobian(void *self, double t, const double *z, double *J) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, jacobian_role(m, m->step), t, z, m->c, J);
}

static int residual(void *self, double t, const double *y, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, ag_discrete_role(m->method, m->step), t, y, m->c, out);
}

static int gradient(void *self, double t, const double *z, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, AG_ROLE_POISSON, t, z, m->c, out);
}

static int finish(void *self, double t, const double *y, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, ag_discrete_role(m->method, m->step) + 1, t, y, m->c, out);
}

static int inertia(void *self, double t, const double *z, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, AG_ROLE_INERTIA, t, z, m->c, out);
}

static int canonical(void *self, double t, const double *z, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, AG_ROLE_CANONICAL, t, z, m->c, out);
}

/* A method that solves for its stages counts each of them once, however many iterations Newton's method takes. */
int ag_mover_step(ag_mover *m, double t, double h, double rtol, double atol, double *error) {
  long n_rhs = m->n_rhs;
  int trouble = m->method->step(m->method, &m->flow, t, h, m->z, m->dz, m->z1, m->dz1, rtol, atol, error, m->space);
  if (ag_stepper_solves(m->method)) m->n_rhs = n_rhs + m->method->n_stage;
  return trouble;
}

/* Per number of z: the kind of factor that begins there; d of an image is where its quaternion is. */
static ag_factor *factors_at(const ag_system *sys, bool core) {
  int n_z = ag_system_dims(sys)->z, n_unit = ag_system_units(sys, n_z, NULL);
  ag_factor *at = ag_heap_alloc(sizeof *at * (size_t)(n_z + 1));
  ag_span *units = ag_heap_alloc(sizeof *units * (size_t)(n_unit + 1));
  for (int z = 0; z < n_z; z++) at[z] = (ag_factor){AG_FACTOR_VECTOR, z, 1, 0};
  (void)ag_system_units(sys, n_z, units);
  for (int i = 0; i < n_unit; i++)
    if (units[i].n == 4) at[units[i].at] = (ag_factor){AG_FACTOR_QUATERNION, units[i].at, 4, 0};
  for (int i = 0, z, rotation; !core && ag_system_image(sys, i, &z, &rotation); i++)
    at[z] = (ag_factor){AG_FACTOR_IMAGE, z, 3, rotation};
  free(units);
  return at;
}

int ag_mover_factors(const ag_system *sys, bool core, ag_factor *factors, int *m) {
  int n = core ? ag_system_dims(sys)->core : ag_system_dims(sys)->z, n_factor = 0;
  ag_factor *at = factors_at(sys, core);
  *m = 0;
  for (int z = 0; z < n;) {
    ag_factor *p = &at[z], *last = n_factor ? &factors[n_factor - 1] : NULL;
    z += p->n;
    p->d = p->kind == AG_FACTOR_IMAGE ? p->d : *m;
    if (p->kind == AG_FACTOR_VECTOR && last && last->kind == AG_FACTOR_VECTOR) last->n++;
    else factors[n_factor++] = *p;
    if (p->kind != AG_FACTOR_IMAGE) *m += p->kind == AG_FACTOR_QUATERNION ? 3 : 1;
  }
  for (int i = 0; i < n_factor; i++) /* an image has the coordinates of its rotation */
    if (factors[i].kind == AG_FACTOR_IMAGE) factors[i].d = at[factors[i].d].d;
  free(at);
  return n_factor;
}

void ag_mover_spins(const ag_system *sys, int n_factor, const ag_factor *factors, int *spin) {
  bool turns = ag_system_role(sys, AG_ROLE_INERTIA) != NULL;
  for (int i = 0; i < n_factor; i++)
    spin[i] = turns && factors[i].kind == AG_FACTOR_QUATERNION ? ag_system_spin(sys, factors[i].z) : -1;
}

int ag_mover_velocities(const ag_system *sys, int n_factor, const ag_factor *factors) {
  int at = ag_system_dims(sys)->u_at;
  for (int i = 0; i < n_factor; i++)
    if (factors[i].kind == AG_FACTOR_VECTOR && at >= factors[i].z && at < factors[i].z + factors[i].n)
      return factors[i].d + at - factors[i].z;
  return 0;
}

/* The functions being monitored, on z. */
static void take_watch(ag_mover *m, const ag_run_options *o, const double *params) {
  const ag_tape *watch = o->watch;
  ag_look_create(m, watch, params);
  if (o->code && o->code->watch) ag_watcher_share(m->watcher, o->code->watch);
  for (int i = 0; i < watch->n_out; i++)
    if (m->absent[i]) return; /* it is evaluated with the others on the full state */
  m->watch = true;
}

static void take_coder(ag_mover *m, const ag_shared_code *shared) {
  bool shares = shared && shared->sys == m->sys;
  if (!shares) m->coder = ag_role_coder_create(m->sys, NULL);
  ag_coder coder = ag_role_coder_of(shares ? shared->coder : m->coder);
  ag_work_coder(m->work, &coder);
}

/* ---- symmetric projection ---- */

static int levels(void *self, double t, const double *z, double *out) {
  ag_mover *m = self;
  return m->trouble = ag_work_role(m->work, AG_ROLE_LEVELS, t, z, m->c, out);
}

/* The rotations take precedence. */
static void align(void *self, double t, double *z) {
  ag_mover *m = self;
  int at, rotation;
  for (int i = 0; i < m->flow.n_factor; i++) {
    if (m->factors[i].kind != AG_FACTOR_QUATERNION) continue;
    double *q = z + m->factors[i].z, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int k = 0; k < 4; k++) q[k] /= length;
  }
  if (!ag_system_role(m->sys, AG_ROLE_IMAGE)) return;
  double *images = m->turned + ag_system_dims(m->sys)->x;
  ag_mover_full(m, t, z, m->c, m->turned);
  if (ag_work_role(m->work, AG_ROLE_IMAGE, t, m->turned, m->c, images)) return; /* the right-hand side says why */
  for (int i = 0; ag_system_image(m->sys, i, &at, &rotation); i++) memcpy(z + at, images + 3 * i, 3 * sizeof(double));
}

static int project_step(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                        double *z1, double *dz1, double rtol, double atol, double *error, double *work) {
  (void)s, (void)rtol, (void)atol; /* steps are fixed */
  return ag_symmetric_step(((const ag_mover *)f->self)->base, f, t, h, z, dz0, z1, dz1, error, work);
}

static int project_dense(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *z1,
                         double *work) {
  (void)s, (void)z, (void)z1; /* the workspace has them */
  return ag_symmetric_dense(((const ag_mover *)f->self)->base, f, t, h, work);
}

/* The method is the one inside a mover. */
static void project_interpolate(const ag_stepper *s, int n, double theta, const double *z, const double *work,
                                double *out) {
  const ag_mover *m = (const ag_mover *)((const char *)s - offsetof(ag_mover, projecting));
  (void)n, (void)z;
  ag_symmetric_interpolate(m->base, &m->flow, theta, work, out);
}

/* The method becomes one that projects its steps. */
static void take_levels(ag_mover *m, int n_tangent, const int *table) {
  ag_flow f = {.n = m->n, .m = n_tangent, .table = table, .n_level = ag_system_dims(m->sys)->level};
  m->base = m->method;
  m->projecting = *m->method;
  m->projecting.step = project_step, m->projecting.dense = project_dense;
  m->projecting.interpolate = project_interpolate;
  m->projecting.integral = NULL;
  m->method = &m->projecting;
  m->n_carry += ag_symmetric_own(&f);
  m->room.size = ag_symmetric_size(m->base, &f);
}

/* What the flow offers besides the right-hand side. */
static void offer(ag_mover *m, bool noise) {
  const ag_dims *n = ag_system_dims(m->sys);
  int role = jacobian_role(m, noise);
  bool reduced = !m->full && !m->core;
  if (reduced && ag_system_role(m->sys, role)) m->flow.jacobian = jacobian;
  if (reduced && m->method->needs & AG_NEEDS_GRADIENT) m->flow.gradient = gradient;
  if (reduced && m->method->needs & AG_NEEDS_RESIDUAL) {
    m->flow.residual = residual, m->flow.finish = finish;
    m->flow.n_lambda = n->lambda;
  }
  if (!m->full && m->method->needs & AG_NEEDS_SECOND) {
    const ag_tape *rhs = ag_system_role(m->sys, m->core ? AG_ROLE_CORE : AG_ROLE_RHS);
    m->rate = ag_heap_alloc(sizeof *m->rate * (size_t)(m->n + 1));
    if (ag_tape_second_order(rhs, m->n, m->rate)) m->flow.rate = m->rate;
  }
  if (noise && m->method->needs & AG_NEEDS_SPLIT && ag_system_role(m->sys, AG_ROLE_INERTIA)) {
    m->spin = ag_heap_alloc(sizeof *m->spin * (size_t)(m->flow.n_factor + 1));
    ag_mover_spins(m->sys, m->flow.n_factor, m->factors, m->spin);
    m->flow.spin = m->spin, m->flow.inertia = inertia;
  }
  if (noise && ag_stepper_tests(m->method)) m->flow.canonical = canonical;
  if (m->base) {
    m->flow.levels = levels, m->flow.n_level = n->level, m->flow.align = align;
    m->turned = ag_heap_aligned(sizeof(double) * (size_t)(n->x + n->z + 1)); /* images are part of z */
  }
}

static void create_step(ag_mover *m, const ag_dims *dims) {
  m->n_step = dims->w + dims->channel + 2;
  m->step = ag_heap_aligned(sizeof(double) * (size_t)(2 * m->n_step));
  m->flow.step = m->step, m->flow.n_channel = dims->channel;
  m->step[0] = 1;
  ag_work_step(m->work, m->step);
}

static void take_arrays(ag_mover *m) {
  const ag_dims *d = ag_system_dims(m->sys);
  size_t n = (size_t)m->n, n_carry = (size_t)m->n_carry, n_c = (size_t)(d->c + d->full_switches), size = sizeof(double);
  m->z = ag_heap_aligned(size * n);
  m->dz = ag_heap_aligned(size * n_carry);
  m->z1 = ag_heap_aligned(size * n);
  m->dz1 = ag_heap_aligned(size * n_carry);
  m->c = ag_heap_aligned(size * (n_c + 1));
  m->c1 = ag_heap_aligned(size * (n_c + 1));
  m->zt = ag_heap_aligned(size * n);
  m->x = ag_heap_aligned(size * (size_t)d->x);
  m->aligned = ag_heap_aligned(size * (n + 1));
  m->space = ag_heap_aligned(size * (2 * m->room.size + n_carry));
  m->g1 = ag_heap_alloc(size * (size_t)(m->n_g + 1));
  m->sign = ag_heap_alloc(sizeof(int) * (size_t)(m->n_g + 1));
  m->doubts = ag_heap_alloc(sizeof *m->doubts * (size_t)(m->n_g + 1));
  m->tolerance = ag_heap_aligned(size * (n + 1));
}

/* Reconstructed variables never determine the step size: they have their own norm. */
static void take_norm(ag_mover *m) {
  m->in_norm = ag_heap_alloc((size_t)m->n + 1);
  memset(m->in_norm, 2, (size_t)m->n);
  bool whole = m->full || ag_system_watches(m->sys); /* rows that are watched may read anything */
  memset(m->in_norm, 1, (size_t)(whole ? m->n : ag_system_dims(m->sys)->core));
}

void ag_mover_create(ag_mover *m, const ag_system *sys, const double *params, const ag_run_options *o, bool core) {
  *m = (ag_mover){
      .sys = sys, .full = ag_run_full(sys, o), .core = core, .method = o->method, .section = o->section, .fresh = true};
  m->events = o->events && ag_system_role(sys, AG_ROLE_EVENTS);
  m->n_g = ag_run_n_event(sys, o);
  m->g_first = m->events ? 0 : ag_model_n_events(ag_system_model(sys));
  const ag_dims *dims = ag_system_dims(sys);
  m->n = m->full ? dims->x : core ? dims->core : dims->z;
  m->n_c = m->full ? dims->full_switches : dims->c;
  m->work = ag_work_create(sys, params);
  m->compiles = o->engine != AG_ENGINE_INTERPRETED;
  if (m->compiles) take_coder(m, o->code);
  m->factors = ag_heap_alloc(sizeof *m->factors * (size_t)(dims->z + 1));
  int n_tangent = m->n, n_factor = m->full ? 0 : ag_mover_factors(sys, core, m->factors, &n_tangent);
  bool noise = o->noise == AG_NOISE_PATH && dims->channel;
  bool discrete = o->method->needs & AG_NEEDS_RESIDUAL;
  int solved = discrete ? ag_discrete_role(o->method, noise) : jacobian_role(m, noise);
  const int *table = m->full ? NULL : ag_system_table(sys, solved);
  m->room = ag_stepper_room(o->method, m->n, n_tangent, ag_flow_square(table, n_tangent));
  m->n_carry = m->n + m->room.own;
  if (o->project) take_levels(m, n_tangent, table);
  take_arrays(m);
  m->rtol = o->dt > 0 ? 0 : o->rtol;
  for (int i = 0; i <= m->n; i++) m->tolerance[i] = fmax(o->atol, DBL_MIN);
  m->atol = o->dt > 0 ? 0 : m->tolerance[m->n]; /* as lanes */
  m->fitted = ag_heap_alloc((size_t)m->n_g + 1);
  if (o->watch && ag_mover_looks(m)) take_watch(m, o, params);
  m->in_place = ag_mover_in_place(sys, o);
  m->agrees = ag_mover_agrees(sys, o);
  if (m->in_place && dims->g) m->projected = ag_heap_aligned(sizeof(double) * (size_t)(m->n + dims->g));
  m->holds = m->in_place && ag_system_role(sys, AG_ROLE_ONTO_ROWS);
  m->n_unit = m->in_place ? ag_system_units(sys, m->n, NULL) : 0;
  m->units = ag_heap_alloc(sizeof *m->units * (size_t)(m->n_unit + 1));
  m->unit_length = ag_heap_alloc(sizeof(double) * (size_t)(m->n_unit + 1));
  if (m->n_unit) (void)ag_system_units(sys, m->n, m->units);
  take_norm(m);
  m->flow = (ag_flow){.n = m->n, .in_norm = m->in_norm, .rhs = ag_mover_rhs, .m = n_tangent, .self = m};
  m->flow.atol = m->tolerance;
  m->flow.n_factor = n_factor, m->flow.factors = m->factors;
  if (!m->full) m->flow.u_at = ag_mover_velocities(sys, n_factor, m->factors), m->flow.n_u = dims->u;
  m->flow.table = table;
  if (noise) create_step(m, dims);
  else {
    ag_switch_create(m, params);
    ag_pulse_create(m, params, o->dt > 0);
  }
  offer(m, noise);
}

void ag_mover_tolerate(ag_mover *m, double atol, const double *own) {
  ag_scale_spread(m->sys, m->full, atol, own, m->n, m->tolerance);
  if (m->atol > 0) m->atol = m->tolerance[m->n];
}

void ag_mover_free(ag_mover *m) {
  void *all[] = {m->z,
                 m->dz,
                 m->z1,
                 m->dz1,
                 m->c,
                 m->c1,
                 m->zt,
                 m->x,
                 m->space,
                 m->g1,
                 m->sign,
                 m->fitted,
                 m->hits,
                 m->doubts,
                 m->in_norm,
                 m->tolerance,
                 m->factors,
                 m->units,
                 m->unit_length,
                 m->aligned,
                 m->projected,
                 m->prep,
                 m->prep_jacobian,
                 m->prep_power,
                 m->prep_finish,
                 m->prep_canonical,
                 m->step,
                 m->turned,
                 m->rate,
                 m->spin};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_look_free(m);
  ag_switch_free(m);
  ag_pulse_free(m);
  ag_fused_free(m->mine);
  ag_work_free(m->work);
  ag_role_coder_free(m->coder);
}

/* ---- states within a step ---- */

bool ag_mover_at(ag_mover *m, double t, double s, double *z) {
  double error[2];
  if (s == t) {
    memcpy(z, m->z, sizeof(double) * (size_t)m->n);
    return true;
  }
  /* the work space of the accepted step must survive: its dense output is still in use */
  double *space = m->space + m->room.size, *dz = space + m->room.size;
  long n_rhs = m->n_rhs;
  /* the error is not needed; in fixed steps implicit equations are solved to rounding */
  int trouble =
      m->method->step(m->method, &m->flow, t, s - t, m->z, m->dz, z, dz, m->rtol > 0 ? 1 : 0, 1, error, space);
  if (ag_stepper_solves(m->method)) m->n_rhs = n_rhs + m->method->n_stage;
  for (int i = 0; i < m->n && !trouble; i++) trouble = !isfinite(z[i]);
  return !trouble;
}

bool ag_mover_settled(ag_mover *m, double t, double s) {
  bool changed;
  if (!ag_mover_at(m, t, s, m->zt)) return false;
  memcpy(m->c1, m->c, sizeof(double) * (size_t)m->n_c);
  if (m->in_place) return restore(m, s, m->zt) == AG_FINE;
  return !ag_mover_settle(m, s, m->zt, m->c1, &changed);
}

bool ag_mover_point(ag_mover *m, double t, double s) {
  bool changed;
  if (!ag_mover_settled(m, t, s)) return false;
  if (m->in_place && ag_mover_settle(m, s, m->zt, m->c1, &changed)) return false;
  ag_mover_full(m, s, m->zt, m->c1, m->x);
  return true;
}
