/* SPDX-License-Identifier: MIT
 * A worker: evaluates the tapes of a system for one parameter set in one thread, and does the small dense solves around
 * them. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/lie.h"
#include "mech/work_internal.h"

ag_work *ag_work_create(const ag_system *sys, const double *params) {
  ag_work *w = ag_heap_alloc(sizeof *w);
  size_t n = (size_t)sys->n.xi, k = (size_t)sys->n.lambda;
  w->sys = sys;
  w->params = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.param + 1));
  memcpy(w->params, params, sizeof(double) * (size_t)sys->n.param);
  w->machines = ag_heap_alloc(sizeof *w->machines * (size_t)sys->n_tape);
  w->x = ag_heap_alloc(sizeof(double) * ((size_t)sys->n.q + n + k + 1));
  size_t m = sys->tapes[AG_ROLE_SADDLE] ? n + (size_t)sys->n.row + (size_t)sys->n.g : 1;
  w->K = ag_heap_alloc(sizeof(double) * (m * m + 1));
  w->b = ag_heap_alloc(sizeof(double) * ((sys->tapes[AG_ROLE_SADDLE] ? m : n + k) + 1));
  size_t largest = 0;
  for (int i = 0; i < sys->n_basis; i++)
    largest = largest > (size_t)sys->bases[i].n_y ? largest : (size_t)sys->bases[i].n_y;
  w->y = ag_heap_alloc(sizeof(double) * (largest * largest + 1));
  w->combined = ag_heap_alloc(sizeof(double) * (largest * largest + 1));
  const ag_tape *turn = sys->tapes[AG_ROLE_TURN];
  if (turn) {
    w->turn_at = ag_heap_alloc(sizeof(double) * (size_t)(1 + turn->n_need[AG_SEG_Z] + turn->n_need[AG_SEG_C]));
    w->turn_at[0] = NAN;
  }
  size_t rank = sys->n.rank < sys->n.lambda ? (size_t)sys->n.rank : 0;
  w->W = ag_heap_alloc(sizeof(double) * (rank * k + 1));
  w->WS = ag_heap_alloc(sizeof(double) * (rank * n + 1));
  return w;
}

const ag_system *ag_work_system(const ag_work *w) { return w->sys; }

void ag_work_free(ag_work *w) {
  if (!w) return;
  for (int i = 0; i < w->sys->n_tape; i++) ag_machine_done(&w->machines[i]);
  free(w->machines);
  free(w->params);
  free(w->x);
  free(w->K);
  free(w->b);
  free(w->newton);
  free(w->y);
  free(w->combined);
  free(w->turn_at);
  free(w->rows_all);
  free(w->held);
  free(w->near);
  free(w->W);
  free(w->WS);
  free(w);
}

/* ---- eliminated closure ---- */

int ag_work_rhs(ag_work *w, double t, const double *z, const double *c, double *dz) {
  return ag_machine_run(w, AG_ROLE_RHS, t, z, c, dz) ? ag_work_cause(w, t, z, c) : AG_FINE;
}

int ag_work_core(ag_work *w, double t, const double *z, const double *c, double *dz) {
  return ag_machine_run(w, AG_ROLE_CORE, t, z, c, dz) ? AG_TROUBLE_MASS : AG_FINE;
}

void ag_work_full(ag_work *w, double t, const double *z, const double *c, double *x) {
  for (int i = 0; i < w->sys->n.q; i++) x[i] = z[w->sys->q_in_z[i]];
  (void)ag_machine_run(w, AG_ROLE_XI, t, z, c, x + w->sys->n.q);
}

/* ---- multiplier closure ---- */

void ag_work_branch(ag_work *w, const double *c) { w->branch = w->sys->n.full_switches ? c : NULL; }

void ag_machine_on(ag_work *w, int role, double t, const double *x) {
  int on = role == AG_ROLE_SADDLE    ? AG_ROLE_SADDLE_ON
           : role == AG_ROLE_RESERVE ? AG_ROLE_RESERVE_ON
           : role == AG_ROLE_PROCESS ? AG_ROLE_PROCESS_ON
                                     : AG_ROLE_BALANCE_ON;
  if (!w->branch) {
    (void)ag_machine_run(w, role, t, x, NULL, NULL);
    return;
  }
  if (!w->machines[role].tape) ag_machine_make(w, role);
  (void)ag_machine_run(w, on, t, x, w->branch, w->machines[role].out);
}

ag_saddle ag_saddle_at(ag_work *w, double t, const double *x) {
  ag_machine_on(w, AG_ROLE_SADDLE, t, x);
  return (ag_saddle){ag_result(w, AG_OUT_SADDLE_M), ag_result(w, AG_OUT_SADDLE_S), ag_result(w, AG_OUT_SADDLE_ELL),
                     ag_result(w, AG_OUT_SADDLE_KAPPA), ag_result(w, AG_OUT_SADDLE_RESIDUAL)};
}

/* Without constraints u is xi: the eliminated form gives the accelerations. */
static int free_accel(ag_work *w, double t, const double *x, double *xidot) {
  const ag_system *sys = w->sys;
  double *z = ag_heap_alloc(sizeof(double) * 2 * (size_t)sys->n.z), *dz = z + sys->n.z;
  for (int i = 0; i < sys->n.q; i++) z[sys->q_in_z[i]] = x[i];
  if (sys->tapes[AG_ROLE_IMAGE]) {
    (void)ag_machine_run(w, AG_ROLE_IMAGE, t, x, NULL, NULL);
    for (int i = 0; i < sys->n_image; i++)
      memcpy(z + sys->images[i].z, ag_result(w, AG_OUT_IMAGE_IMAGES) + 3 * i, 3 * sizeof(double));
  }
  memcpy(z + sys->n.u_at, x + sys->n.q, sizeof(double) * (size_t)sys->n.u);
  int role = sys->n.switches ? AG_ROLE_POINTWISE : AG_ROLE_RHS;
  int trouble = ag_machine_run(w, role, t, z, NULL, dz) ? AG_TROUBLE_MASS : AG_FINE;
  if (xidot) memcpy(xidot, dz + sys->n.u_at, sizeof(double) * (size_t)sys->n.u);
  free(z);
  return trouble;
}

void ag_work_hold(ag_work *w, const double *force) {
  size_t n = (size_t)(w->branch ? w->sys->n.lambda : w->sys->outputs[AG_OUT_REACTION_FORCE].n);
  w->holds = force != NULL;
  if (!force) return;
  if (!w->held) w->held = ag_heap_alloc(sizeof *force * (size_t)(w->sys->n.xi + w->sys->n.lambda + 1));
  memcpy(w->held, force, sizeof *force * n);
}

/* lambda, into w->b, from S^T lambda = R, which is the solution of M y - S^T lambda = -R, S y = 0 with y = 0. */
static int held_lambda(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  int n = sys->n.xi, k = sys->n.lambda;
  if (sys->elimination == AG_ELIM_SADDLE || w->branch) {
    memcpy(w->b + n, w->held, sizeof(double) * (size_t)k);
    return AG_FINE;
  }
  ag_saddle p = ag_saddle_at(w, t, x);
  double *zeros = ag_heap_alloc(sizeof *zeros * (size_t)(k + 1));
  for (int i = 0; i < n; i++) w->b[i] = -w->held[i];
  bool good = ag_rows_solve(w, p.M, p.S, zeros);
  free(zeros);
  return good ? AG_FINE : AG_TROUBLE_RANK;
}

int ag_work_accel(ag_work *w, double t, const double *x, double *xidot, double *lambda) {
  int n = w->sys->n.xi, k = w->sys->n.lambda;
  if (w->holds && !xidot) {
    int trouble = held_lambda(w, t, x);
    if (trouble) return trouble;
  } else if (w->sys->elimination == AG_ELIM_SADDLE) {
    int trouble = ag_saddle_accel(w, t, x);
    if (trouble) return trouble;
  } else if (!w->sys->tapes[AG_ROLE_SADDLE]) {
    return free_accel(w, t, x, xidot);
  } else if (w->sys->n_driven) {
    int trouble = ag_noise_driven(w, t, x);
    if (trouble) return trouble;
  } else if (w->all) {
    if (!ag_all_accel(w, t, x)) return AG_TROUBLE_RANK;
  } else {
    ag_saddle p = ag_saddle_at(w, t, x);
    for (int i = 0; i < n; i++) w->b[i] = -p.ell[i];
    if (!ag_rows_solve(w, p.M, p.S, p.kappa)) return AG_TROUBLE_RANK;
  }
  if (xidot) memcpy(xidot, w->b, sizeof(double) * (size_t)n);
  if (lambda) memcpy(lambda, w->b + n, sizeof(double) * (size_t)k);
  return AG_FINE;
}

/* The state with its velocities on the rows. A row f (y' - z') = 0 whose factor fades away would otherwise keep f (y' -
 * z') where it is, which is rounding error: y' - z' would grow like 1/f. */
static const double *onto_rows(ag_work *w, double t, const double *x) {
  int n = w->sys->n.x, n_xi = w->sys->n.xi;
  if (!w->near) w->near = ag_heap_alloc(sizeof *x * (size_t)(n + n_xi + 1));
  double *near = w->near, *change = near + n;
  memcpy(near, x, sizeof *x * (size_t)n);
  if (!ag_all_velocity(w, t, near, change)) return x;
  for (int i = 0; i < n_xi; i++) near[w->sys->n.q + i] += change[i];
  return near;
}

int ag_work_rhs_full(ag_work *w, double t, const double *x, double *dx) {
  if (w->all) x = onto_rows(w, t, x);
  int trouble = ag_work_accel(w, t, x, dx + w->sys->n.q, NULL);
  (void)ag_machine_run(w, AG_ROLE_KINEMATICS, t, w->sys->n_driven ? w->x : x, NULL, dx);
  if (w->sys->n.process) ag_work_processes(w, t, x, 1, w->sys->n_driven ? ag_result(w, AG_OUT_DRIVER_RATES) : NULL, dx);
  if (trouble || !w->sys->tapes[AG_ROLE_SADDLE]) return trouble;
  bool positive =
      w->all ? ag_all_positive(w)
             : ag_rows_positive(w, ag_result(w, AG_OUT_SADDLE_M), w->sys->n.lambda, ag_result(w, AG_OUT_SADDLE_S));
  return positive ? AG_FINE : AG_TROUBLE_MASS;
}

int ag_work_reaction(ag_work *w, double t, const double *x, double *reaction) {
  int n = w->sys->n.xi, k = w->sys->n.lambda, trouble = ag_work_accel(w, t, x, NULL, NULL);
  if (w->sys->elimination == AG_ELIM_SADDLE) {
    ag_saddle_reaction(w, t, x, reaction);
    return trouble;
  }
  const double *S = ag_result(w, AG_OUT_SADDLE_S), *lambda = w->b + n;
  for (int j = 0; j < n; j++) {
    reaction[j] = 0;
    for (int r = 0; r < k; r++) reaction[j] += S[r * n + j] * lambda[r];
  }
  return trouble;
}

double ag_work_condition(ag_work *w, double t, const double *x) {
  if (w->sys->elimination == AG_ELIM_SADDLE) return ag_saddle_condition(w, t, x);
  if (!w->sys->tapes[AG_ROLE_SADDLE]) return NAN;
  ag_saddle p = ag_saddle_at(w, t, x);
  int rows = ag_rows_matrix(w, p.M, p.S);
  return rows < 0 ? NAN : 1 / ag_dense_rcond(w->sys->n.xi + rows, w->K);
}

/* ---- energy, residual, observables ---- */

double ag_work_energy(ag_work *w, double t, const double *x, double *size) {
  (void)ag_machine_run(w, AG_ROLE_BALANCE, t, x, NULL, NULL);
  if (size) *size = *ag_result(w, AG_OUT_BALANCE_SIZE);
  return *ag_result(w, AG_OUT_BALANCE_ENERGY);
}

double ag_work_energy_rate(ag_work *w, double t, const double *x) {
  int k = w->sys->energy_law == AG_ENERGY_DRIVEN ? w->sys->n.lambda : 0;
  if (k && ag_work_accel(w, t, x, NULL, NULL)) return NAN;
  ag_machine_on(w, AG_ROLE_BALANCE, t, x);
  const double *s = ag_result(w, AG_OUT_BALANCE_S);
  double rate = -*ag_result(w, AG_OUT_BALANCE_L_T) + *ag_result(w, AG_OUT_BALANCE_POWER);
  for (int r = 0; r < k; r++) rate -= s[r] * w->b[w->sys->n.xi + r];
  return rate;
}

double ag_work_residual(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  double worst = 0;
  if (sys->elimination == AG_ELIM_SADDLE) {
    worst = ag_saddle_residual(w, t, x);
  } else if (sys->n.row) {
    worst = ag_velocity_residual(w, t, x);
  }
  if (sys->n.g) {
    (void)ag_machine_run(w, AG_ROLE_POSITION, t, x, NULL, NULL);
    for (int r = 0; r < sys->n.g; r++) worst = fmax(worst, fabs(ag_result(w, AG_OUT_POSITION_G)[r]));
  }
  return worst;
}

/* The full state followed by the multipliers, if they are needed. */
static int extended(ag_work *w, double t, const double *x, bool lambda) {
  int n = w->sys->n.x;
  memcpy(w->x, x, sizeof(double) * (size_t)n);
  return lambda ? ag_work_accel(w, t, x, NULL, w->x + n) : AG_FINE;
}

int ag_work_eval(ag_work *w, const ag_tape *tape, bool needs_lambda, double t, const double *x, double *slots,
                 double *out) {
  int trouble = extended(w, t, x, needs_lambda);
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = w->x, [AG_SEG_P] = w->params};
  (void)ag_tape_eval(tape, seg, slots, out);
  return trouble;
}

int ag_work_role(ag_work *w, int role, double t, const double *z, const double *c, double *out) {
  bool lambda = ag_role_lambda(w->sys, role);
  int trouble = lambda ? extended(w, t, z, true) : AG_FINE;
  int fail = ag_machine_run(w, role, t, lambda ? w->x : z, c, out);
  return trouble ? trouble : fail && ag_role_reduced(role) ? AG_TROUBLE_MASS : AG_FINE;
}

int ag_work_power(ag_work *w, double t, const double *z, const double *c, const double *dz, double *power) {
  const double *step = w->step;
  w->step = dz;
  int fail = ag_machine_run(w, AG_ROLE_POWER, t, z, c, power);
  w->step = step;
  return fail ? AG_TROUBLE_MASS : AG_FINE;
}

int ag_work_observe(ag_work *w, double t, const double *x, double *values) {
  return ag_work_role(w, AG_ROLE_OBSERVE, t, x, NULL, values);
}

int ag_work_events(ag_work *w, double t, const double *x, double *values) {
  return ag_work_role(w, AG_ROLE_EVENTS, t, x, NULL, values);
}

int ag_work_section(ag_work *w, int section, double t, const double *x, double *value) {
  return ag_work_role(w, AG_ROLE_SECTION + section, t, x, NULL, value);
}

/* ---- reduced state ---- */

/* Basis data at a state: N spans ker S_y, orthonormal. S: of this basis, from the basis tape. */
static int new_basis(ag_work *w, const ag_basis *basis, const double *S, double *c) {
  int n = basis->n_y, k = basis->n_w;
  if (!ag_all_finite(basis->n_s * n, S) || !ag_rows_choose(basis, S, c)) return AG_TROUBLE_RANK;
  S = ag_rows_combined(w, basis, S, c);
  /* rank of the row-scaled matrix */
  double *scaled = w->y;
  for (int r = 0; r < k; r++) {
    double norm = 0;
    for (int j = 0; j < n; j++) norm += S[r * n + j] * S[r * n + j];
    if (norm == 0) return AG_TROUBLE_RANK;
    for (int j = 0; j < n; j++) scaled[r * n + j] = S[r * n + j] / sqrt(norm);
  }
  double *full = ag_heap_alloc(sizeof(double) * (size_t)(n * n + n));
  int rank = ag_dense_null(k, n, scaled, AG_TURN_LOST, full);
  if (rank == k) memcpy(c + basis->c, full, sizeof(double) * (size_t)(n * (n - k)));
  free(full);
  return rank == k ? AG_FINE : AG_TROUBLE_RANK;
}

/* Choices may depend on others, which come first. c: what the n functions of the role read, branch: at its end. */
static void find_branches(ag_work *w, ag_output s_of, double t, const double *z, int n, const double *c,
                          double *branch) {
  for (int i = 0; i < n; i++) branch[i] = 0;
  for (bool changed = n > 0; changed;) {
    changed = false;
    (void)ag_machine_run(w, ag_output_role(s_of), t, z, c, NULL);
    const double *s = ag_result(w, s_of);
    for (int i = 0; i < n && !changed; i++) {
      double sign = (s[i] > 0) - (s[i] < 0);
      changed = branch[i] != sign;
      branch[i] = sign;
    }
  }
}

void ag_work_branches(ag_work *w, double t, const double *z, double *c) {
  int n = w->sys->n.switches;
  find_branches(w, AG_OUT_SWITCHES_S, t, z, n, c, c + w->sys->n.c - n);
}

void ag_work_full_branches(ag_work *w, double t, const double *x, double *c) {
  find_branches(w, AG_OUT_FULL_SWITCHES_S, t, x, w->sys->n.full_switches, c, c);
}

int ag_work_reduce(ag_work *w, double t, const double *x, double *c, double *z) {
  const ag_system *sys = w->sys;
  const double *xi = x + sys->n.q;
  for (int i = 0; i < sys->n.q; i++) z[sys->q_in_z[i]] = x[i];
  double *u = z + sys->n.u_at;
  if (sys->tapes[AG_ROLE_IMAGE]) {
    (void)ag_machine_run(w, AG_ROLE_IMAGE, t, x, NULL, NULL);
    for (int i = 0; i < sys->n_image; i++)
      memcpy(z + sys->images[i].z, ag_result(w, AG_OUT_IMAGE_IMAGES) + 3 * i, 3 * sizeof(double));
  }
  if (sys->tapes[AG_ROLE_U]) (void)ag_machine_run(w, AG_ROLE_U, t, x, NULL, u);
  if (sys->n_basis) (void)ag_machine_run(w, AG_ROLE_BASIS, t, x, NULL, NULL);
  for (int b = 0; b < sys->n_basis; b++) {
    const ag_basis *basis = &sys->bases[b];
    int n = basis->n_y, m = n - basis->n_w, trouble = new_basis(w, basis, ag_result(w, AG_OUT_BASIS_S) + basis->S, c);
    if (trouble) return trouble;
    for (int j = 0; j < m; j++) {
      u[basis->u + j] = 0;
      for (int i = 0; i < n; i++) u[basis->u + j] += c[basis->c + i * m + j] * xi[basis->y_index[i]];
    }
  }
  ag_work_branches(w, t, z, c);
  return AG_FINE;
}

/* Runs the role TURN. The end of a step is the start of the next: where it was run last, the results are still there.
 */
static int run_turn(ag_work *w, double t, const double *z, const double *c) {
  const int *need = w->sys->tapes[AG_ROLE_TURN]->n_need;
  const size_t size_z = sizeof *z * (size_t)need[AG_SEG_Z], size_c = sizeof *c * (size_t)need[AG_SEG_C];
  double *at_z = w->turn_at + 1, *at_c = at_z + need[AG_SEG_Z];
  if (w->turn_at[0] == t && !memcmp(at_z, z, size_z) && !memcmp(at_c, c, size_c)) return w->turn_failed;
  w->turn_at[0] = t;
  memcpy(at_z, z, size_z);
  memcpy(at_c, c, size_c);
  return w->turn_failed = ag_machine_run(w, AG_ROLE_TURN, t, z, c, NULL);
}

/* cos^2 of the angle left; 0 where the rows have lost rank. */
static double basis_left(ag_work *w, double t, const double *z, const double *c) {
  bool lost = run_turn(w, t, z, c) || !(*ag_result(w, AG_OUT_TURN_RANK) > AG_TURN_LOST);
  return lost ? 0 : *ag_result(w, AG_OUT_TURN_LEFT);
}

double ag_work_basis(ag_work *w, double t, const double *z, const double *c) {
  return w->sys->elimination == AG_ELIM_BASIS ? basis_left(w, t, z, c) : 1;
}

double ag_work_turning(ag_work *w, double t, const double *z, const double *c) {
  if (w->sys->elimination != AG_ELIM_BASIS) return 0;
  (void)run_turn(w, t, z, c);
  double rate = *ag_result(w, AG_OUT_TURN_RATE);
  return rate > 0 ? sqrt(rate) : 0;
}

/* Unit quaternions; images of the correct length; and each quaternion turned by the small rotation that makes it agree
 * with its images (which take precedence: delta = (g - h) x h / |h|^2 takes h = R^T c to the image g). */
static void settle_rotations(ag_work *w, double t, double *z) {
  const ag_system *sys = w->sys;
  for (int i = 0; i < sys->model->n_coords; i++)
    if (sys->model->coords[i].space == AG_SPACE_SO3) (void)ag_lie_quat_normalise(z + sys->q_in_z[sys->coords[i].at]);
  if (!sys->tapes[AG_ROLE_IMAGE]) return;
  for (int i = 0; i < sys->n.q; i++) w->x[i] = z[sys->q_in_z[i]];
  for (int i = 0; i < sys->n_image; i++) {
    (void)ag_machine_run(w, AG_ROLE_IMAGE, t, w->x, NULL, NULL);
    const double *h = ag_result(w, AG_OUT_IMAGE_IMAGES) + 3 * i;
    double *g = z + sys->images[i].z, *q = z + sys->q_in_z[sys->coords[sys->images[i].coord].at];
    double hh = h[0] * h[0] + h[1] * h[1] + h[2] * h[2], gg = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    if (!(hh > 0) || !(gg > 0)) continue;
    double scale = sqrt(hh / gg), difference[3], delta[3], turn[4], turned[4];
    for (int k = 0; k < 3; k++) g[k] *= scale, difference[k] = g[k] - h[k];
    ag_lie_cross(difference, h, delta);
    for (int k = 0; k < 3; k++) delta[k] /= hh;
    ag_lie_exp(delta, turn);
    ag_lie_quat_mul(q, turn, turned);
    memcpy(q, turned, sizeof turned);
    (void)ag_lie_quat_normalise(q);
    memcpy(w->x + sys->coords[sys->images[i].coord].at, q, sizeof turned);
  }
}

/* Chooses the basis again if it has turned far: the current orthonormal basis becomes the data, u is unchanged. Where
 * rows are combined, combinations may be chosen at any time; where they switch, those of the branch follow the motion.
 */
int ag_work_renew(ag_work *w, double t, const double *z, double *c, bool *changed) {
  const ag_system *sys = w->sys;
  double left = basis_left(w, t, z, c), least = w->step ? AG_TURN_RENEW_OF_PATH : AG_TURN_RENEW;
  bool mixed = sys->n.rank < sys->n.lambda;
  if (left == 0) return AG_TROUBLE_RANK;
  if ((left >= least && !mixed) || sys->n.c == sys->n.switches) return AG_FINE;
  bool follow = mixed && sys->n.switches && sys->tapes[AG_ROLE_RENEW] && !sys->tapes[AG_ROLE_INCREMENT];
  if (follow || (left < least && sys->tapes[AG_ROLE_RENEW])) {
    if (ag_machine_run(w, AG_ROLE_RENEW, t, z, c, NULL)) return AG_TROUBLE_RANK;
    memcpy(c, ag_result(w, AG_OUT_RENEW_C), sizeof(double) * (size_t)(sys->n.c - sys->n.switches));
  }
  mixed = mixed && !follow;
  if (mixed) {
    for (int i = 0; i < sys->n.q; i++) w->x[i] = z[sys->q_in_z[i]];
    (void)ag_machine_run(w, AG_ROLE_BASIS, t, w->x, NULL, NULL);
  }
  for (int b = 0; b < sys->n_basis && mixed; b++)
    if (!ag_rows_choose(&sys->bases[b], ag_result(w, AG_OUT_BASIS_S) + sys->bases[b].S, c)) return AG_TROUBLE_RANK;
  *changed = true;
  return AG_FINE;
}

/* Is a minor used to solve for velocities well below its values in the domain? */
static bool left_domain(ag_work *w, double t, const double *x) {
  (void)ag_machine_run(w, AG_ROLE_MINOR, t, x, NULL, NULL);
  for (int i = 0; i < w->sys->n_minor; i++)
    if (!(ag_result(w, AG_OUT_MINOR_SQUARES)[i] > w->sys->minor_bound[i])) return true;
  return false;
}

bool ag_work_left(ag_work *w, double t, const double *z, const double *c) {
  if (!w->sys->tapes[AG_ROLE_MINOR]) return false;
  ag_work_full(w, t, z, c, w->x);
  return left_domain(w, t, w->x);
}

int ag_work_settle(ag_work *w, double t, double *z, double *c, bool *changed) {
  const ag_system *sys = w->sys;
  *changed = false;
  settle_rotations(w, t, z);
  if (ag_noise_relates(sys)) {
    int trouble = ag_noise_relate(w, t, z, c);
    if (trouble) return trouble;
    *changed = true;
  }
  if (!sys->n.g && sys->elimination != AG_ELIM_BASIS && sys->elimination != AG_ELIM_SADDLE &&
      !sys->tapes[AG_ROLE_MINOR])
    return AG_FINE;
  double *x = w->x;
  ag_work_full(w, t, z, c, x);
  if (sys->tapes[AG_ROLE_MINOR] && left_domain(w, t, x)) return AG_TROUBLE_DOMAIN;
  if (sys->n.g) {
    int trouble = ag_work_position(w, t, x);
    if (trouble) return trouble;
    for (int i = 0; i < sys->n.q; i++) z[sys->q_in_z[i]] = x[i];
    *changed = true;
  }
  if (sys->elimination == AG_ELIM_SADDLE) {
    int trouble = ag_saddle_velocity(w, t, x);
    memcpy(z + sys->n.u_at, x + sys->n.q, sizeof(double) * (size_t)sys->n.u);
    *changed = true;
    return trouble;
  }
  return sys->elimination == AG_ELIM_BASIS ? ag_work_renew(w, t, z, c, changed) : AG_FINE;
}

int ag_work_place(ag_work *w, double t, double *x) {
  ag_normalise(w->sys, x);
  return w->sys->n.g ? ag_work_position(w, t, x) : AG_FINE;
}

int ag_work_settle_full(ag_work *w, double t, double *x) {
  int placed = ag_work_place(w, t, x);
  if (placed) return placed;
  if (ag_noise_relates(w->sys)) {
    int trouble = ag_noise_relate_full(w, t, x);
    if (trouble) return trouble;
  }
  return ag_work_velocity(w, t, x);
}
