/* SPDX-License-Identifier: MIT
 * Where tapes find their inputs: time, parameters, states, basis data; and parameter values. */
#include <math.h>
#include <string.h>

#include "mech/mech_internal.h"

/* Binds the parameters before the i-th one. */
static int bind_params(const ag_system *sys, int n, ag_bind *binds) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (sys->param_rows[i].at >= 0)
      binds[k++] = (ag_bind){sys->model->params[i].input, AG_SEG_P, sys->param_rows[i].at};
  return k;
}

ag_status ag_system_params(ag_ctx *ctx, ag_system *sys, int n_when, const int *when_param, const ag_id *when_value,
                           double *params) {
  ag_model *m = sys->model;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(m->n_params + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < m->n_params && status == AG_OK; i++) {
    if (sys->param_rows[i].at < 0) continue;
    ag_id value = m->params[i].value;
    for (int k = 0; k < n_when; k++)
      if (when_param[k] == i) value = when_value[k];
    int n_bind = bind_params(sys, i, binds), size = sys->param_rows[i].n;
    double *out = params + sys->param_rows[i].at;
    if (ag_constant(m->graph, value, out)) {
      /* a plain number: nothing to evaluate */
    } else {
      ag_tape *tape = ag_tape_create(m->graph, n_bind, binds, 1, &value);
      ag_tape_once(tape, 0, NULL, params, NULL, out);
      ag_tape_free(tape);
    }
    for (int k = 0; k < size; k++)
      if (!isfinite(out[k])) {
        ag_ctx_error(ctx, m->params[i].pos, "parameter `%s` is not finite (%g)", m->params[i].name, out[k]);
        status = AG_WRONG;
        break;
      }
  }
  free(binds);
  return status;
}

int ag_bind_capacity(const ag_system *sys) {
  return 2 * sys->model->n_coords + sys->n.process + sys->model->n_params + sys->n.u + 2 * sys->n_basis +
         sys->n.switches + 16;
}

int ag_bind_bases(const ag_system *sys, ag_bind *binds) {
  int k = 0;
  for (int i = 0; i < sys->n_basis; i++) {
    const ag_basis *b = &sys->bases[i];
    if (b->N) binds[k++] = (ag_bind){b->N, AG_SEG_C, b->c};
    if (b->W) binds[k++] = (ag_bind){b->W, AG_SEG_C, b->c + b->n_y * (b->n_y - b->n_w)};
  }
  if (sys->model->lambda) binds[k++] = (ag_bind){sys->model->lambda, AG_SEG_C, sys->n.c};
  if (sys->levels) binds[k++] = (ag_bind){sys->levels, AG_SEG_C, sys->n.c};
  for (int i = 0; i < sys->n.switches; i++)
    binds[k++] = (ag_bind){sys->branches[i], AG_SEG_C, sys->n.c - sys->n.switches + i};
  return k;
}

int ag_bind_base(const ag_system *sys, ag_bind *binds) {
  ag_model *m = sys->model;
  int k = 0;
  binds[k++] = (ag_bind){m->t, AG_SEG_T, 0};
  k += bind_params(sys, m->n_params, binds + k);
  if (sys->step_h && !sys->n_driven) {
    binds[k++] = (ag_bind){sys->step_h, AG_SEG_W, 0};
    binds[k++] = (ag_bind){sys->step_dW, AG_SEG_W, 1};
    if (sys->step_friction) binds[k++] = (ag_bind){sys->step_friction, AG_SEG_W, 1 + sys->n.channel};
    if (sys->step_A) binds[k++] = (ag_bind){sys->step_A, AG_SEG_W, 1 + sys->n.channel};
  }
  if (sys->rate_input) binds[k++] = (ag_bind){sys->rate_input, AG_SEG_W, sys->n.u_at};
  for (int i = 0; i < m->n_processes; i++) binds[k++] = (ag_bind){m->processes[i].x, AG_SEG_Z, sys->processes[i].at};
  for (int i = 0; i < m->n_coords; i++) binds[k++] = (ag_bind){m->coords[i].q, AG_SEG_Z, sys->coords[i].at};
  return k;
}

int ag_bind_full(const ag_system *sys, ag_bind *binds) {
  const ag_model *m = sys->model;
  int k = ag_bind_base(sys, binds);
  for (int i = 0; i < m->n_coords; i++)
    binds[k++] = (ag_bind){m->coords[i].xi, AG_SEG_Z, sys->n.q + sys->coords[i].tangent};
  return k;
}

ag_tape *ag_full_tape(ag_system *sys, int n_out, const ag_id *outs) {
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)ag_bind_capacity(sys));
  int k = ag_bind_full(sys, binds);
  ag_tape *tape = ag_tape_create(sys->model->graph, k, binds, n_out, outs);
  free(binds);
  return tape;
}

int ag_tape_once(const ag_tape *tape, double t, const double *z, const double *p, const double *c, double *out) {
  enum { FEW = 256 };
  _Alignas(64) double few[FEW];
  double *many = tape->n_slot < FEW ? NULL : ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1));
  double *slots = many ? many : memset(few, 0, sizeof(double) * (size_t)(tape->n_slot + 1));
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = p, [AG_SEG_C] = c};
  int fail = ag_tape_prep(tape, p, slots);
  int later = ag_tape_eval(tape, seg, slots, out);
  free(many);
  return fail ? fail : later;
}

/* A tape on z with the basis data: coordinates and images where lay_out put them. */
static ag_tape *on_z(ag_system *sys, int n_out, const ag_id *outs, bool factored) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + sys->n_u_input + sys->n.q +
                                                          sys->n_image + 2 * sys->n.xi + sys->n.lambda));
  int k = ag_bind_base(sys, binds) - m->n_coords - m->n_processes,
      at = sys->n.u_at; /* time and parameters; coordinates and processes are bound again */
  for (int i = 0; i < m->n_processes; i++)
    binds[k++] = (ag_bind){m->processes[i].x, AG_SEG_Z, sys->q_in_z[sys->processes[i].at]};
  for (int i = 0; i < m->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    ag_id *leaf = sys->q_leaf[i];
    if (!leaf) binds[k++] = (ag_bind){m->coords[i].q, AG_SEG_Z, sys->q_in_z[p->at]};
    else
      for (int c = 0; c < p->n; c++) binds[k++] = (ag_bind){leaf[c], AG_SEG_Z, sys->q_in_z[p->at + c]};
  }
  for (int i = 0; i < sys->n_image; i++) binds[k++] = (ag_bind){sys->images[i].input, AG_SEG_Z, sys->images[i].z};
  for (int i = 0; i < sys->n_u_input; i++) {
    binds[k++] = (ag_bind){sys->u_inputs[i], AG_SEG_Z, at};
    at += ag_node_rows(g, sys->u_inputs[i]);
  }
  k += ag_bind_bases(sys, binds + k);
  k += ag_bind_step(sys, binds + k);
  ag_tape *tape = (factored ? ag_tape_create_factored : ag_tape_create)(g, k, binds, n_out, outs);
  free(binds);
  return tape;
}

ag_tape *ag_reduced_tape(ag_system *sys, int n_out, const ag_id *outs) { return on_z(sys, n_out, outs, false); }

ag_tape *ag_motion_tape(ag_system *sys, int n_out, const ag_id *outs) { return on_z(sys, n_out, outs, true); }

void ag_state_nodes(const derive *d, ag_id *out) {
  const ag_system *sys = d->sys;
  ag_graph *g = d->g;
  for (int i = 0; i < d->nc; i++) {
    const ag_layout_row *p = &sys->coords[i];
    ag_id stored = d->m->coords[i].space == AG_SPACE_SO3 ? ag_stored(g, d->q[i]) : d->q[i];
    for (int c = 0; c < p->n; c++)
      out[sys->q_in_z[p->at + c]] = sys->q_leaf[i] ? sys->q_leaf[i][c] : ag_entry(g, stored, c, 0);
  }
  for (int i = 0; i < sys->n_image; i++)
    for (int c = 0; c < 3; c++) out[sys->images[i].z + c] = ag_entry(g, sys->images[i].input, c, 0);
  for (int i = 0; i < sys->n.process; i++) out[sys->q_in_z[sys->processes[i].at]] = d->m->processes[i].x;
  for (int i = 0, at = sys->n.u_at; i < sys->n_u_input; i++)
    for (int c = 0; c < ag_node_rows(g, sys->u_inputs[i]); c++) out[at++] = ag_entry(g, sys->u_inputs[i], c, 0);
}
