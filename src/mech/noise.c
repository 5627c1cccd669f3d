/* SPDX-License-Identifier: MIT
 * The noise fields, both closures, in the notation of docs/theory/6-noise.md. With q^-1 dq = xi dt + sum sigma_i o dW_i
 * and pull_i = ad*_sigma p - dbar<p, sigma> at fixed p + dbar gamma + f:
 *
 *   eliminated    (B^T M B) du_i = B^T { pull_i - D_sigma p|_u }
 *   multipliers   M xi_i - S^T mu = pull_i - D_sigma p|_xi,   S xi_i = -D_sigma (S xi + s)|_xi
 *
 * A step takes h f + sum g_i dW_i, the drift and all fields, from one solve with the mass matrix. */
#include <string.h>

#include "expr/residue.h"
#include "mech/noise_internal.h"

static ag_id *new_ids(derive *d, int n) { return AG_NEWN(d->sys->arena, ag_id, n + 1); }

/* ---- the terms ---- */

/* A part of a statement as a column of its whole coordinate. */
static ag_id whole(derive *d, int dim, int row, ag_id x) {
  if (row < 0 || dim == 1) return x;
  ag_id *parts = new_ids(d, dim);
  for (int r = 0; r < dim; r++) parts[r] = r == row ? x : ag_num(d->g, 0);
  return ag_stack(d->g, dim, 1, parts);
}

/* Inputs that stand for frozen amplitudes are kept for the discrete equations. */
static void keep_held(ag_system *sys, int n, const ag_id *held, const ag_id *value) {
  memcpy(sys->held + sys->n_held, held, sizeof *held * (size_t)n);
  memcpy(sys->held_value + sys->n_held, value, sizeof *value * (size_t)n);
  sys->n_held += n;
}

/* A transport: its velocity is added to sigma, its effect on p, apart from ad*_sigma p, to pull. A frozen amplitude
 * is an input while the gradient is taken, and in the velocity that is added to unfrozen. */
static ag_status add_transport(derive *d, const ag_noise *n, ag_id *sigma, ag_id *unfrozen, ag_id *pull) {
  ag_graph *g = d->g;
  ag_id *held = new_ids(d, n->n), *value = new_ids(d, n->n), *own = new_ids(d, d->nc), *grad = new_ids(d, d->nc);
  for (int k = 0; k < n->n; k++) {
    value[k] = n->parts[k].x;
    held[k] = n->frozen ? ag_input(g, "held", ag_node_rows(g, value[k]), 1, AG_LEAF_REAL) : value[k];
  }
  AG_TRY(ag_noise_complete(d, n, held, own));
  ag_reverse(g, d->nc, own, d->momentum, d->nc, d->q, grad);
  for (int c = 0; c < d->nc; c++) unfrozen[c] = ag_add(g, unfrozen[c], own[c]);
  if (n->frozen) {
    keep_held(d->sys, n->n, held, value);
    ag_substitute(g, n->n, held, value, d->nc, own);
    ag_substitute(g, n->n, held, value, d->nc, grad);
  }
  AG_TRY(ag_noise_check(d, n, own));
  for (int c = 0; c < d->nc; c++) {
    sigma[c] = ag_add(g, sigma[c], own[c]);
    pull[c] = ag_sub(g, pull[c], grad[c]);
  }
  return AG_OK;
}

static void add_potential(derive *d, const ag_noise *n, ag_id *pull) {
  ag_id one = ag_num(d->g, 1), *grad = new_ids(d, d->nc);
  ag_reverse(d->g, 1, &n->x, &one, d->nc, d->q, grad);
  for (int c = 0; c < d->nc; c++) pull[c] = ag_add(d->g, pull[c], grad[c]);
}

static void add_force(derive *d, const ag_noise *n, ag_id *pull) {
  for (int k = 0; k < n->n; k++) {
    const ag_assign *f = &n->parts[k];
    ag_id add = whole(d, d->m->coords[f->coord].dim, f->row, f->x);
    pull[f->coord] = ag_add(d->g, pull[f->coord], add);
  }
}

/* The step [h | dW]: inputs; with drivers 1 and the rates W_i'(t). */
static void make_step(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  int m = sys->n.channel;
  if (!d->m->n_drivers) {
    sys->step_h = ag_input(g, "h", 1, 1, AG_LEAF_REAL);
    sys->step_dW = ag_input(g, "dW", m, 1, AG_LEAF_REAL);
    return;
  }
  ag_id *x = new_ids(d, m), *rate = new_ids(d, m), one = ag_num(g, 1);
  for (int i = 0; i < m; i++) x[i] = d->m->drivers[i].x;
  ag_forward(g, 1, &d->m->t, &one, m, x, rate);
  sys->n_driven = m;
  sys->step_h = one;
  sys->step_dW = ag_concat(g, m, rate);
  ag_role_make(sys, AG_ROLE_DRIVER, m, rate);
}

/* Afterwards the expressions of the step are only parts of the equations. */
void ag_noise_drive(derive *d) {
  ag_system *sys = d->sys;
  if (!sys->n_driven) return;
  sys->n.channel = sys->n.w = 0;
  sys->energy_law = AG_ENERGY_NOISE;
}

ag_status ag_noise_terms(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  int m = sys->n.channel, nc = d->nc, n_part = 0;
  if (!m) return AG_OK;
  make_step(d);
  sys->sigma = new_ids(d, m * nc);
  sys->pull = new_ids(d, m * nc);
  sys->sigma_held = new_ids(d, m * nc);
  for (int k = 0; k < d->m->n_noises; k++) n_part += d->m->noises[k].n;
  sys->held = new_ids(d, n_part), sys->held_value = new_ids(d, n_part);
  for (int i = 0; i < m * nc; i++)
    sys->sigma[i] = sys->pull[i] = sys->sigma_held[i] = ag_zero(g, d->m->coords[i % nc].dim, 1);
  for (int k = 0; k < d->m->n_noises; k++) {
    const ag_noise *n = &d->m->noises[k];
    ag_id *sigma = sys->sigma + n->channel * nc, *pull = sys->pull + n->channel * nc;
    if (n->kind == AG_NOISE_TRANSPORT) AG_TRY(add_transport(d, n, sigma, sys->sigma_held + n->channel * nc, pull));
    else if (n->kind == AG_NOISE_POTENTIAL) add_potential(d, n, pull);
    else if (n->kind == AG_NOISE_FORCE) add_force(d, n, pull);
  }
  for (int i = 0; i < m * nc; i++) {
    ag_id turn = ag_coadjoint(d, i % nc, d->momentum[i % nc], sys->sigma[i]);
    sys->pull[i] = ag_add(g, sys->pull[i], turn);
  }
  return AG_OK;
}

const ag_id *ag_system_sigma(const ag_system *sys, int channel) {
  return sys->sigma + channel * ag_model_n_coords(sys->model);
}

const ag_id *ag_system_pull(const ag_system *sys, int channel) {
  return sys->pull + channel * ag_model_n_coords(sys->model);
}

/* ---- closures ---- */

/* Derivative of outs along the transport of a channel and its noise of processes, at these velocities (NULL: xi); time
 * and velocities stay. */
static void along_sigma(derive *d, int channel, const ag_id *velocity, int n_out, const ag_id *outs, ag_id *rates) {
  int n = d->nc + d->sys->n.process;
  ag_id *inputs = new_ids(d, n), *seeds = new_ids(d, n);
  memcpy(inputs, d->q, sizeof *inputs * (size_t)d->nc);
  memcpy(seeds, d->sys->sigma + channel * d->nc, sizeof *seeds * (size_t)d->nc);
  (void)ag_process_inputs(d->m, inputs + d->nc);
  (void)ag_process_rates(d->sys, channel, velocity, seeds + d->nc);
  ag_forward(d->g, n, inputs, seeds, n_out, outs, rates);
}

/* h x + sum dW_i y[i * stride]. */
static ag_id combined(derive *d, ag_id x, const ag_id *y, int stride) {
  ag_graph *g = d->g;
  ag_id sum = ag_mul(g, d->sys->step_h, x);
  for (int i = 0; i < d->sys->n.channel; i++) {
    ag_id dW = ag_entry(g, d->sys->step_dW, i, 0), term = ag_mul(g, dW, y[i * stride]);
    sum = ag_add(g, sum, term);
  }
  return sum;
}

static void move_coordinates(derive *d) {
  d->moved = new_ids(d, d->nc);
  for (int c = 0; c < d->nc; c++) d->moved[c] = combined(d, d->velocity[c], d->sys->sigma + c, d->nc);
  int n = d->sys->n.process, m = d->sys->n.channel;
  ag_id *drift = new_ids(d, n), *noise = new_ids(d, n * m);
  (void)ag_process_rates(d->sys, -1, d->velocity, drift);
  for (int i = 0; i < m; i++) (void)ag_process_rates(d->sys, i, d->velocity, noise + i * n);
  d->moved_process = new_ids(d, n);
  for (int i = 0; i < n; i++) d->moved_process[i] = combined(d, drift[i], noise + i, n);
}

void ag_noise_eliminated(derive *d, const ag_id *p, const ag_id *brace) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  int m = sys->n.channel, nc = d->nc, n_in = sys->n_u_input;
  if (!m) return;
  ag_id *braces = new_ids(d, m * nc), *rate = new_ids(d, nc), *total = new_ids(d, nc), *part = new_ids(d, n_in);
  memcpy(braces, sys->pull, sizeof *braces * (size_t)(m * nc));
  ag_in_u(d, m * nc, braces);
  move_coordinates(d);
  for (int i = 0; i < m; i++) {
    along_sigma(d, i, d->velocity, nc, p, rate);
    for (int c = 0; c < nc; c++) braces[i * nc + c] = ag_sub(g, braces[i * nc + c], rate[c]);
  }
  if (!n_in) return;
  sys->noise_force = new_ids(d, m);
  sys->noise_rates = new_ids(d, m);
  for (int i = 0; i < m; i++) {
    ag_reverse(g, nc, d->velocity, braces + i * nc, n_in, sys->u_inputs, part);
    sys->noise_force[i] = ag_concat(g, n_in, part);
    sys->noise_rates[i] = ag_solve_mass(d, sys->noise_force[i]);
  }
  for (int c = 0; c < nc; c++) total[c] = combined(d, brace[c], braces + c, nc);
  ag_reverse(g, nc, d->velocity, total, n_in, sys->u_inputs, part);
  d->moved_u = ag_solve_mass(d, ag_concat(g, n_in, part));
}

/* ell and kappa of every channel, in (q, xi, t). */
static void saddle_terms(derive *d, ag_id *ell, ag_id *kappa) {
  ag_id *rate = new_ids(d, d->nc), rows = ag_kept_rows(d);
  for (int i = 0; i < d->sys->n.channel; i++) {
    along_sigma(d, i, NULL, d->nc, d->momentum, rate);
    for (int c = 0; c < d->nc; c++) ell[i * d->nc + c] = ag_sub(d->g, rate[c], d->sys->pull[i * d->nc + c]);
    if (rows) along_sigma(d, i, NULL, 1, &rows, &kappa[i]);
  }
}

void ag_noise_saddle(derive *d, const ag_id *ell) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  int m = sys->n.channel, nc = d->nc;
  if (!m) return;
  ag_id *ells = new_ids(d, m * nc), *kappas = new_ids(d, m), *top = new_ids(d, nc);
  saddle_terms(d, ells, kappas);
  move_coordinates(d);
  for (int c = 0; c < nc; c++) top[c] = ag_neg(g, combined(d, ell[c], ells + c, nc));
  ag_id low = combined(d, ag_neg(g, sys->kappa), kappas, 1);
  d->moved_u = ag_saddle_solve(d, top, ag_neg(g, low));
  sys->noise_rates = new_ids(d, m);
  for (int i = 0; i < m; i++) {
    for (int c = 0; c < nc; c++) top[c] = ag_neg(g, ells[i * nc + c]);
    sys->noise_rates[i] = ag_saddle_solve(d, top, ag_neg(g, kappas[i]));
  }
}

void ag_noise_fields(derive *d) {
  ag_system *sys = d->sys;
  int m = sys->n.channel, nc = d->nc;
  if (!m) return;
  ag_id *outs = new_ids(d, 2 * m * nc + m), *ell = outs + m * nc, *kappa = ell + m * nc;
  memcpy(outs, sys->sigma, sizeof *outs * (size_t)(m * nc));
  saddle_terms(d, ell, kappa);
  ag_role_make(sys, AG_ROLE_NOISE, 2 * m * nc + (sys->n.lambda ? m : 0), outs);
}

/* ---- the class ---- */

/* The fields of the channels in (q, N, u): per channel q^-1 dq of every coordinate, dN of every process, then du. */
typedef struct fields {
  derive *d;
  int n, n_q; /* per channel; those of them before du */
  ag_id *x, *inputs;
  int n_input, n_all; /* the state; with parameters and t */
} fields;

static fields fields_of(derive *d) {
  ag_system *sys = d->sys;
  const ag_model *m = d->m;
  int nc = d->nc, n_u = sys->noise_rates ? 1 : 0;
  fields f = {.d = d, .n = nc + m->n_processes + n_u, .n_q = nc + m->n_processes};
  f.x = new_ids(d, f.n * sys->n.channel);
  f.inputs = new_ids(d, f.n_q + sys->n_u_input + m->n_params + 1 + 2 * sys->n_basis);
  for (int i = 0; i < sys->n.channel; i++) {
    memcpy(f.x + i * f.n, sys->sigma + i * nc, sizeof *f.x * (size_t)nc);
    (void)ag_process_rates(sys, i, d->velocity, f.x + i * f.n + nc);
    if (n_u) f.x[i * f.n + f.n_q] = sys->noise_rates[i];
  }
  for (int c = 0; c < nc; c++) f.inputs[f.n_input++] = d->q[c];
  f.n_input += ag_process_inputs(m, f.inputs + nc);
  for (int i = 0; i < sys->n_u_input; i++) f.inputs[f.n_input++] = sys->u_inputs[i];
  f.n_all = f.n_input;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) f.inputs[f.n_all++] = m->params[i].input;
  f.inputs[f.n_all++] = m->t;
  f.n_all += ag_basis_inputs(sys, f.inputs + f.n_all);
  return f;
}

/* The derivative of field j along field i. */
static void along(const fields *f, int i, int j, ag_id *out) {
  derive *d = f->d;
  ag_id *seeds = new_ids(d, f->n_input);
  int at = 0;
  memcpy(seeds, f->x + i * f->n, sizeof *seeds * (size_t)f->n_q);
  for (int k = 0; k < d->sys->n_u_input; k++) {
    int dim = ag_node_rows(d->g, d->sys->u_inputs[k]);
    seeds[f->n_q + k] = ag_rows_of(d->g, f->x[i * f->n + f->n_q], at, dim);
    at += dim;
  }
  ag_forward(d->g, f->n_input, f->inputs, seeds, f->n, f->x + j * f->n, out);
}

/* Do fields i and j commute? [g_i, g_j] = D_i g_j - D_j g_i, on a rotation + sigma_i x sigma_j. */
static bool commute(const fields *f, int i, int j) {
  derive *d = f->d;
  ag_id *a = new_ids(d, f->n), *b = new_ids(d, f->n);
  along(f, i, j, a);
  along(f, j, i, b);
  for (int k = 0; k < f->n; k++) {
    a[k] = ag_sub(d->g, a[k], b[k]);
    if (k < d->nc && d->m->coords[k].space == AG_SPACE_SO3) {
      ag_id turn = ag_cross(d->g, f->x[i * f->n + k], f->x[j * f->n + k]);
      a[k] = ag_add(d->g, a[k], turn);
    }
  }
  return ag_residue_vanish(d->g, f->n_all, f->inputs, f->n, a);
}

/* Are all fields independent of the state, each rotation turned about one axis only? Then increments add up exactly. */
static bool constant(const fields *f) {
  derive *d = f->d;
  ag_id *seeds = new_ids(d, f->n_input), *rate = new_ids(d, f->n), *all = new_ids(d, 2 * f->n_input + f->n_all);
  int n = 0;
  for (int k = 0; k < f->n_all; k++) all[n++] = f->inputs[k];
  for (int k = 0; k < f->n_input; k++)
    all[n++] = seeds[k] = ag_input(d->g, "seed", ag_input_tangent(d->g, f->inputs[k]), 1, AG_LEAF_REAL);
  for (int i = 0; i < d->sys->n.channel; i++) {
    for (int c = 0; c < d->nc; c++)
      if (d->m->coords[c].space == AG_SPACE_SO3 && !ag_is_zero(d->g, f->x[i * f->n + c])) return false;
    ag_forward(d->g, f->n_input, f->inputs, seeds, f->n, f->x + i * f->n, rate);
    if (!ag_residue_vanish(d->g, n, all, f->n, rate)) return false;
  }
  return true;
}

void ag_noise_classify(derive *d) {
  enum { MANY = 64 }; /* brackets that are examined */
  ag_system *sys = d->sys;
  int m = sys->n.channel;
  if (!m || sys->n_driven) return;
  fields f = fields_of(d);
  sys->noise_class = AG_NOISE_COMMUTATIVE;
  if (constant(&f)) sys->noise_class = AG_NOISE_ADDITIVE;
  else if (m * (m - 1) / 2 > MANY) sys->noise_class = AG_NOISE_GENERAL;
  for (int i = 0; i < m && sys->noise_class == AG_NOISE_COMMUTATIVE; i++)
    for (int j = 0; j < i && sys->noise_class == AG_NOISE_COMMUTATIVE; j++)
      if (!commute(&f, i, j)) sys->noise_class = AG_NOISE_GENERAL;
}

ag_noise_class ag_system_noise(const ag_system *sys) { return sys->noise_class; }

const char *ag_noise_word(ag_noise_class noise) {
  static const char *const words[] = {"none", "additive", "commutative", "general"};
  return words[noise];
}
