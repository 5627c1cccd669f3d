/* SPDX-License-Identifier: MIT
 * A worker with noise: the increment of a step, and the fields of the channels with multipliers. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/lie.h"
#include "mech/work_internal.h"

void ag_work_step(ag_work *w, const double *step) { w->step = step; }

int ag_work_increment(ag_work *w, int role, double t, const double *z, const double *c, double *dz) {
  return ag_machine_run(w, role, t, z, c, dz) ? ag_work_cause(w, t, z, c) : AG_FINE;
}

/* ---- multipliers ---- */

/* The saddle system with h times the drift and the channels with these weights, solved into w->b; w->x: the velocities
 * that move q. */
static int solve(ag_work *w, double t, const double *x, double h, const double *weights) {
  const ag_system *sys = w->sys;
  int n = sys->n.xi, k = sys->n.lambda, m = sys->n.channel + sys->n_driven;
  (void)ag_machine_run(w, AG_ROLE_NOISE, t, x, NULL, NULL);
  const double *sigma = ag_result(w, AG_OUT_NOISE_SIGMA), *ell = ag_result(w, AG_OUT_NOISE_ELL),
               *kappa = ag_result(w, AG_OUT_NOISE_KAPPA);
  ag_saddle p = ag_saddle_at(w, t, x);
  double *low = ag_heap_alloc(sizeof(double) * (size_t)(k + 1));
  for (int r = 0; r < k; r++) {
    low[r] = h * p.kappa[r];
    for (int i = 0; i < m; i++) low[r] = fma(weights[i], kappa[i * k + r], low[r]);
  }
  for (int j = 0; j < n; j++) {
    double sum = -h * p.ell[j], v = h * x[sys->n.q + j];
    for (int i = 0; i < m; i++) {
      sum = fma(-weights[i], ell[i * n + j], sum);
      v = fma(weights[i], sigma[i * n + j], v);
    }
    w->b[j] = sum;
    w->x[sys->n.q + j] = v;
  }
  memcpy(w->x, x, sizeof(double) * (size_t)sys->n.q);
  bool good = ag_rows_solve(w, p.M, p.S, low);
  free(low);
  return good ? AG_FINE : AG_TROUBLE_RANK;
}

void ag_work_processes(ag_work *w, double t, const double *x, double h, const double *weights, double *dx) {
  const ag_system *sys = w->sys;
  int n = sys->n.process, m = weights ? sys->outputs[AG_OUT_PROCESS_NOISE].n / n : 0;
  ag_machine_on(w, AG_ROLE_PROCESS, t, x);
  const double *drift = ag_result(w, AG_OUT_PROCESS_DRIFT), *noise = ag_result(w, AG_OUT_PROCESS_NOISE);
  for (int i = 0; i < n; i++) {
    double sum = h * drift[i];
    for (int k = 0; k < m; k++) sum = fma(weights[k], noise[k * n + i], sum);
    dx[sys->processes[i].at] = sum;
  }
}

int ag_noise_driven(ag_work *w, double t, const double *x) {
  (void)ag_machine_run(w, AG_ROLE_DRIVER, t, x, NULL, NULL);
  return solve(w, t, x, 1, ag_result(w, AG_OUT_DRIVER_RATES));
}

int ag_work_increment_full(ag_work *w, double t, const double *x, double *dx) {
  const ag_system *sys = w->sys;
  int trouble = solve(w, t, x, w->step[0], w->step + 1);
  if (trouble) return trouble;
  memcpy(dx + sys->n.q, w->b, sizeof(double) * (size_t)sys->n.xi);
  (void)ag_machine_run(w, AG_ROLE_KINEMATICS, t, w->x, NULL, dx);
  if (sys->n.process) ag_work_processes(w, t, x, w->step[0], w->step + 1, dx);
  bool positive = ag_rows_positive(w, ag_result(w, AG_OUT_SADDLE_M), sys->n.lambda, ag_result(w, AG_OUT_SADDLE_S));
  return positive ? AG_FINE : AG_TROUBLE_MASS;
}

int ag_work_noise(ag_work *w, double t, const double *x, int channel, double *sigma, double *dxi, double *mu) {
  const ag_system *sys = w->sys;
  double *weights = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.channel + 1));
  weights[channel] = 1;
  int trouble = solve(w, t, x, 0, weights);
  free(weights);
  if (trouble) return trouble;
  if (sigma) memcpy(sigma, w->x + sys->n.q, sizeof(double) * (size_t)sys->n.xi);
  if (dxi) memcpy(dxi, w->b, sizeof(double) * (size_t)sys->n.xi);
  if (mu) memcpy(mu, w->b + sys->n.xi, sizeof(double) * (size_t)sys->n.lambda);
  return AG_FINE;
}

/* ---- relations ---- */

/* May tangent component j be moved? free_only: only what is reconstructed, and no rotation that the core knows through
 * its images. */
static bool movable(const ag_system *sys, int coord, int k, bool free_only) {
  const ag_layout_row *p = &sys->coords[coord];
  if (!free_only) return true;
  if (sys->model->coords[coord].space != AG_SPACE_SO3) return sys->q_in_z[p->at + k] >= sys->n.core;
  bool seen = sys->q_in_z[p->at] < sys->n.core;
  for (int i = 0; i < sys->n_image; i++) seen = seen || sys->images[i].coord == coord;
  return !seen;
}

static double largest(int n, const double *v) {
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fabs(v[i]) <= worst ? worst : fabs(v[i]); /* NaN stays */
  return worst;
}

static bool relation_eval(void *self, const double *x, double *F, double *J) {
  ag_moment *m = self;
  (void)J; /* the tape writes it after F */
  (void)ag_machine_run(m->w, AG_ROLE_RELATION, m->t, x, NULL, F);
  return true;
}

/* Moves what is movable onto the relations, by the shortest steps; the largest remaining residual. x: only q counts. A
 * step with noise may end far off: no fewer iterations than it takes, to rounding. */
static double approach(ag_work *w, double t, double *x, bool free_only) {
  static const ag_newton_options options = {.max_iter = 20, .tol = 1e-16, .rounding = 1e-12};
  const ag_system *sys = w->sys;
  bool *held = ag_heap_alloc((size_t)sys->n.xi + 1);
  for (int c = 0; c < sys->model->n_coords; c++)
    for (int k = 0; k < sys->coords[c].n_tangent; k++)
      held[sys->coords[c].tangent + k] = !movable(sys, c, k, free_only);
  ag_moment m = {.w = w, .t = t};
  ag_newton_system s = {
      .kind = AG_NEWTON_SHORTEST, .m = sys->n_relation, .n = sys->n.xi, .n_x = sys->n.q, .held = held, .self = &m};
  s.rank = sys->n_relation < sys->n.xi ? sys->n_relation : sys->n.xi, s.rank_tol = 1e-9;
  s.eval = relation_eval;
  s.retract = ag_moment_retract;
  double left = ag_newton(&s, &options, x, ag_work_room(w, &s)).residual;
  free(held);
  return left;
}

/* Relative to the coordinates: reconstructed ones suffice; the largest remainder allowed. */
static const double RELATED = 1e-14, LEFT = 1e-12;

bool ag_noise_relates(const ag_system *sys) {
  return sys->n.channel && sys->n_relation > sys->n.g && !ag_is_sparse(sys);
}

bool ag_system_corrects(const ag_system *sys) { return sys->tapes[AG_ROLE_IMAGE] || ag_noise_relates(sys); }

int ag_noise_relate_full(ag_work *w, double t, double *x) {
  double size = fmax(1, largest(w->sys->n.q, x));
  return approach(w, t, x, false) <= LEFT * size ? AG_FINE : AG_TROUBLE_PROJECT;
}

int ag_noise_relate(ag_work *w, double t, double *z, const double *c) {
  const ag_system *sys = w->sys;
  int n = sys->n.q, trouble = AG_FINE;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1));
  ag_work_full(w, t, z, c, x);
  double left = approach(w, t, x, true);
  if (!(left <= RELATED * fmax(1, largest(n, x)))) trouble = ag_noise_relate_full(w, t, x);
  for (int i = 0; i < n && !trouble; i++) z[sys->q_in_z[i]] = x[i];
  if (!trouble && sys->tapes[AG_ROLE_IMAGE]) {
    (void)ag_machine_run(w, AG_ROLE_IMAGE, t, x, NULL, NULL);
    for (int i = 0; i < sys->n_image; i++)
      memcpy(z + sys->images[i].z, ag_result(w, AG_OUT_IMAGE_IMAGES) + 3 * i, 3 * sizeof(double));
  }
  free(x);
  return trouble;
}
