/* SPDX-License-Identifier: MIT
 * The terms of a discrete step along a path: with the rates w_i = dW_i/h of the step,
 *   l~ = l + sum gamma_i w_i,    F~ = F + sum f_i w_i,    sigma~ = sum sigma_i w_i,
 * where smooth functions of t drive the system, w_i are their derivatives. And whether noise may be taken at one end of
 * a step. */
#include <string.h>

#include "expr/residue.h"
#include "mech/mech_internal.h"

static ag_id *new_ids(const ag_system *sys, int n) { return AG_NEWN(sys->arena, ag_id, n + 1); }

static int channels(const ag_system *sys) { return sys->n_driven ? sys->n_driven : sys->n.channel; }

/* A part of a statement as a column of its whole coordinate. */
static ag_id whole(const ag_system *sys, const ag_assign *f) {
  ag_graph *g = sys->model->graph;
  int dim = sys->model->coords[f->coord].dim;
  if (f->row < 0 || dim == 1) return f->x;
  ag_id *parts = new_ids(sys, dim);
  for (int r = 0; r < dim; r++) parts[r] = r == f->row ? f->x : ag_num(g, 0);
  return ag_stack(g, dim, 1, parts);
}

ag_shaken ag_shaken_of(ag_system *sys, bool noise) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int nc = m->n_coords;
  ag_shaken s = {.l = m->lagrangian, .force = new_ids(sys, nc)};
  memcpy(s.force, sys->force_x, sizeof *s.force * (size_t)nc);
  if (!noise && !sys->n_driven) return s;
  for (int k = 0; k < m->n_noises; k++) {
    const ag_noise *n = &m->noises[k];
    ag_id w = ag_entry(g, sys->step_dW, n->channel, 0);
    if (n->kind == AG_NOISE_POTENTIAL) s.l = ag_add(g, s.l, ag_mul(g, w, n->x));
    for (int i = 0; i < n->n && n->kind == AG_NOISE_FORCE; i++) {
      ag_id f = ag_mul(g, w, whole(sys, &n->parts[i])), *at = &s.force[n->parts[i].coord];
      *at = ag_add(g, *at, f);
    }
  }
  s.sigma = new_ids(sys, nc);
  for (int c = 0; c < nc; c++) s.sigma[c] = ag_zero(g, m->coords[c].dim, 1);
  for (int i = 0; i < channels(sys) * nc; i++) {
    ag_id w = ag_entry(g, sys->step_dW, i / nc, 0), part = ag_mul(g, w, sys->sigma_held[i]);
    s.sigma[i % nc] = ag_add(g, s.sigma[i % nc], part);
  }
  return s;
}

void ag_shaken_quiet(ag_system *sys, ag_shaken *s) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int nc = m->n_coords;
  ag_id *xi = new_ids(sys, nc), *part = new_ids(sys, nc);
  for (int i = 0; i < nc; i++) xi[i] = m->coords[i].xi;
  for (int k = 0; k < m->n_baths; k++) {
    ag_id weight = ag_mul(g, m->baths[k].c, m->baths[k].v);
    ag_reverse(g, 1, &m->baths[k].v, &weight, nc, xi, part);
    for (int i = 0; i < nc; i++) s->force[i] = ag_add(g, s->force[i], part[i]);
  }
}

/* ---- noise at one end of a step ---- */

/* The effect of the channels on the momentum besides transport: dbar gamma + f. */
static ag_id *pushes(const ag_system *sys) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int nc = m->n_coords, n = channels(sys) * nc;
  ag_id *r = new_ids(sys, n), *q = new_ids(sys, nc), *grad = new_ids(sys, nc), one = ag_num(g, 1);
  for (int c = 0; c < nc; c++) q[c] = m->coords[c].q;
  for (int i = 0; i < n; i++) r[i] = ag_zero(g, m->coords[i % nc].dim, 1);
  for (int k = 0; k < m->n_noises; k++) {
    const ag_noise *x = &m->noises[k];
    ag_id *at = r + x->channel * nc;
    if (x->kind == AG_NOISE_POTENTIAL) {
      ag_reverse(g, 1, &x->x, &one, nc, q, grad);
      for (int c = 0; c < nc; c++) at[c] = ag_add(g, at[c], grad[c]);
    }
    for (int i = 0; i < x->n && x->kind == AG_NOISE_FORCE; i++) {
      ag_id f = whole(sys, &x->parts[i]), *to = &at[x->parts[i].coord];
      *to = ag_add(g, *to, f);
    }
  }
  return r;
}

/* Everything that the expressions of the noise read, with these seeds. */
static int inputs_of(const ag_system *sys, int n_seed, const ag_id *seeds, ag_id *all) {
  const ag_model *m = sys->model;
  int n = 0;
  for (int c = 0; c < m->n_coords; c++) all[n++] = m->coords[c].q, all[n++] = m->coords[c].xi;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[n++] = m->params[i].input;
  for (int i = 0; i < m->n_processes; i++) all[n++] = m->processes[i].x;
  all[n++] = m->t;
  for (int i = 0; i < n_seed; i++) all[n++] = seeds[i];
  return n;
}

/* Is x independent of the positions, or of the velocities? */
static bool rests(const ag_system *sys, bool velocities, int n_x, const ag_id *x) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int nc = m->n_coords;
  ag_id *inputs = new_ids(sys, nc), *seeds = new_ids(sys, nc), *rate = new_ids(sys, n_x);
  ag_id *all = new_ids(sys, 3 * nc + m->n_params + m->n_processes + 1);
  for (int c = 0; c < nc; c++) {
    inputs[c] = velocities ? m->coords[c].xi : m->coords[c].q;
    seeds[c] = ag_input(g, "seed", ag_input_tangent(g, inputs[c]), 1, AG_LEAF_REAL);
  }
  ag_forward(g, nc, inputs, seeds, n_x, x, rate);
  int n = inputs_of(sys, nc, seeds, all);
  return ag_residue_vanish(g, n, all, n_x, rate);
}

/* D_sigma r = ad*_sigma r: is a force on the body constant along this transport? */
static bool carried(const ag_system *sys, const ag_id *sigma, const ag_id *r) {
  ag_graph *g = sys->model->graph;
  const ag_model *m = sys->model;
  int nc = m->n_coords;
  ag_id *q = new_ids(sys, nc), *rate = new_ids(sys, nc);
  ag_id *all = new_ids(sys, 2 * nc + m->n_params + m->n_processes + 1);
  for (int c = 0; c < nc; c++) q[c] = m->coords[c].q;
  ag_forward(g, nc, q, sigma, nc, r, rate);
  for (int c = 0; c < nc; c++)
    if (m->coords[c].space == AG_SPACE_SO3) rate[c] = ag_sub(g, rate[c], ag_cross(g, r[c], sigma[c]));
  int n = inputs_of(sys, 0, NULL, all);
  return ag_residue_vanish(g, n, all, nc, rate);
}

/* The second-order terms of a step in dW then are those of Stratonovich, at whichever end the noise is taken. */
bool ag_system_one_sided(ag_system *sys) {
  int nc = sys->model->n_coords, m = channels(sys);
  sys->one_sided = false;
  if (!m) return sys->one_sided = true;
  ag_id *r = pushes(sys);
  bool moves = false;
  for (int i = 0; i < m * nc; i++) moves = moves || !ag_is_zero(sys->model->graph, sys->sigma[i]);
  if (moves && sys->n.row) return false;
  if (!rests(sys, false, m * nc, sys->sigma) || !rests(sys, true, m * nc, r)) return false;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      if (!carried(sys, sys->sigma + j * nc, r + i * nc)) return false;
  return sys->one_sided = true;
}

bool ag_system_is_one_sided(const ag_system *sys) { return sys->one_sided; }
