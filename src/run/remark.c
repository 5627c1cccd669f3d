/* SPDX-License-Identifier: MIT
 * What can be said about a motion and its end: that it starts at rest in an equilibrium; that its steps are
 * limited by stability, not by accuracy. Both ask the right-hand side at a few neighbouring states, and count nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/trajectory.h"

static double norm(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum = fma(v[i], v[i], sum);
  return sqrt(sum);
}

/* A direction with components of the size of z, the same in every run. */
static void direction(int n, const double *z, double *v) {
  double size = norm(n, z);
  for (int i = 0; i < n; i++) v[i] = (i % 3 ? 1 : -0.7) * (1 + 0.1 * (i % 7)) * (size > 0 ? size : 1);
}

/* The rate at z moved by e v; NaN where it cannot be evaluated. */
static void rate(run *r, double t, double e, const double *v, double *z, double *dz) {
  ag_mover *m = &r->m;
  for (int i = 0; i < m->n; i++) z[i] = fma(e, v[i], m->z[i]);
  if (ag_mover_rhs(m, t, z, dz))
    for (int i = 0; i < m->n; i++) dz[i] = NAN;
}

/* At rest the rates are accelerations. They vanish, at several times, next to those of positions displaced by a hundred
 * millionth of their size; where nothing has a size they are exactly 0. */
bool ag_remark_rest(run *r, const double *x0) {
  static const double NEAR = 1e-8, SMALL = 1e-6;
  ag_mover *m = &r->m;
  const ag_dims *n = ag_system_dims(r->sys);
  for (int i = 0; i < n->xi; i++)
    if (x0[n->q + i] != 0) return false;
  if (!n->u) return false;
  long n_rhs = m->n_rhs;
  double *v = ag_heap_alloc(sizeof *v * 3 * (size_t)(m->n + 1)), *z = v + m->n, *dz = z + m->n;
  double size = norm(m->n, m->z);
  direction(m->n, m->z, v);
  int from = m->full ? n->q : n->u_at, to = m->full ? n->q + n->xi : n->u_at + n->u;
  for (int i = 0; i < m->n; i++) {
    if (i >= from && i < to) v[i] = 0;
    else if (m->z[i] != 0) v[i] *= fabs(m->z[i]) / size;
    else if (!(size > 0)) v[i] = 0;
  }
  bool rest = true;
  for (int i = 0; i < 3 && rest; i++) {
    double t = r->o->t0 + 0.37 * i * (fabs(r->o->t1 - r->o->t0) < 1e3 ? r->o->t1 - r->o->t0 : 1);
    rate(r, t, 0, v, z, dz);
    double here = norm(m->n, dz);
    rate(r, t, NEAR, v, z, dz);
    rest = here <= SMALL * norm(m->n, dz);
  }
  m->n_rhs = n_rhs;
  m->trouble = 0;
  free(v);
  return rest;
}

/* |h| times the largest eigenvalue of the Jacobian of the right-hand side, about, by the power method. Of the
 * components that determine the steps: reconstructed ones have their own, smaller steps where needed. */
static double stiffness(run *r) {
  enum { WARM = 20, COUNT = 10 };
  static const double NEAR = 1e-7;
  ag_mover *m = &r->m;
  long n_rhs = m->n_rhs;
  int n = 0;
  while (n < m->n && m->in_norm[n] == 1) n++;
  double *v = ag_heap_alloc(sizeof *v * 4 * (size_t)(m->n + 1)), *z = v + m->n, *dz = z + m->n, *f = dz + m->n;
  double size = fmax(norm(n, m->z), 1e-300), growth = 0;
  direction(n, m->z, v);
  rate(r, r->t, 0, v, z, f);
  for (int k = 0; k < WARM + COUNT; k++) {
    double length = norm(n, v), e = NEAR * size / length;
    if (!(length > 0) || !isfinite(length)) break;
    rate(r, r->t, e, v, z, dz);
    for (int i = 0; i < n; i++) v[i] = (dz[i] - f[i]) / (NEAR * size);
    if (k >= WARM) growth += log(norm(n, v));
  }
  m->n_rhs = n_rhs;
  m->trouble = 0;
  free(v);
  double found = fabs(r->h) * exp(growth / COUNT);
  return isfinite(found) ? found : 0;
}

/* Is the inertia infinite here, up to the tolerance? Seen by the velocities of the state, and where energy has gone
 * astray by others too: those of the state may have died away. *out: NULL, or what to say of it. */
static bool singular(run *r, ag_text *out) {
  const ag_dims *n = ag_system_dims(r->sys);
  ag_mover *m = &r->m;
  if (ag_work_singular(m->work, r->t, m->x, r->own_atol, out)) return true;
  if (!r->looks) return false;
  double *x = ag_heap_alloc(sizeof *x * (size_t)(n->x + 1));
  memcpy(x, m->x, sizeof *x * (size_t)n->x);
  for (int i = 0; i < n->xi; i++) x[n->q + i] = 1;
  bool found = ag_work_singular(m->work, r->t, x, r->own_atol, out);
  free(x);
  return found;
}

/* Looked at where the step size has halved, and is short beside the time so far, and in the steps after conserved
 * energy has gone astray: near a place where the inertia is infinite one of them happens. */
static bool runs_into_pole(run *r) {
  enum { LOOKS = 64 };
  static const double SHORT = 1e-3;
  const ag_run_result *res = r->res;
  double h = fabs(r->h), allowed = ag_run_allowed_drift(r->o, res->energy_law, res->steps) * res->energy_size;
  bool shrinks = h < 0.5 * r->looked_h, conserved = res->energy_law == AG_ENERGY_CONSERVED;
  bool astray = conserved && res->energy_drift > fmax(allowed, 2 * r->looked_drift);
  if (shrinks || h > 2 * r->looked_h) r->looked_h = h;
  if (astray) r->looked_drift = res->energy_drift, r->looks = LOOKS;
  else if (r->looks) r->looks--;
  if (r->o->dt > 0 || (!r->looks && !(shrinks && h < SHORT * fabs(r->t - r->o->t0)))) return false;
  ag_mover_output(&r->m, r->t, r->m.z, r->m.c, r->m.x);
  return singular(r, NULL);
}

ag_end ag_remark_step(run *r) { return runs_into_pole(r) ? AG_END_SINGULAR : AG_END_TIME; }

enum { MANY_STEPS = 1000 };

/* Steps that are limited by stability: an explicit method of this order needs |h lambda| below 3 to 6. */
static void explain_steps(run *r, ag_text *out) {
  const ag_run_result *res = r->res;
  if (res->stiffness > 1.5)
    ag_text_printf(out,
                   "the steps, now %.2g long, are limited by stability (step size times largest eigenvalue is about "
                   "%.2g): the equations are stiff; use an implicit method, --method radau3",
                   fabs(r->h), res->stiffness);
  else
    ag_text_printf(out,
                   "the last steps were %.2g long, limited by accuracy; allow more with --max-steps, or a larger "
                   "--rtol",
                   fabs(r->h));
}

void ag_remark_end(run *r, const double *x0) {
  ag_end end = r->res->end;
  ag_text steps = {0};
  bool adaptive = r->o->dt <= 0 && (end == AG_END_TIME || end == AG_END_STEPS || end == AG_END_STOPPED);
  bool explicit = !ag_stepper_solves(r->o->method);
  if (adaptive && explicit && r->res->steps >= (end == AG_END_STEPS ? 1 : MANY_STEPS)) r->res->stiffness = stiffness(r);
  if (end == AG_END_STEPS && adaptive) {
    explain_steps(r, &steps);
    r->res->why = steps.s;
    return;
  }
  if (end == AG_END_ENERGY) {
    ag_text_str(&steps, "the motion left the domain of a function in the Lagrangian");
    r->res->why = steps.s;
    return;
  }
  ag_text out = {0};
  bool unsolved = end == AG_END_RANK || end == AG_END_MASS || end == AG_END_DOMAIN || end == AG_END_FINITE ||
                  end == AG_END_STEP || end == AG_END_STAGES || end == AG_END_TURN || end == AG_END_SLIDES;
  if (unsolved && ag_rows_ceased(r, &out)) { /* whatever problem the equations without it had */
    r->res->end = AG_END_RANK;
    r->res->why = out.s;
    return;
  }
  bool asks = end == AG_END_STEP || end == AG_END_FINITE || end == AG_END_RANK || end == AG_END_MASS ||
              end == AG_END_PROJECT;
  if (end == AG_END_ROWS) ag_rows_explain(r, &out);
  if (end == AG_END_SINGULAR) (void)singular(r, &out);
  if (asks) ag_work_why(r->m.work, r->params, r->o->t0, x0, r->t, r->m.x, &out);
  r->res->why = out.s;
}
