/* SPDX-License-Identifier: MIT
 * Processes: scalar states N with dN = drift dt + sum amplitude_i o dW_i. The equations depend on them as they depend
 * on t: they are not varied, and whatever contains them moves with them. */
#include <string.h>

#include "mech/mech_internal.h"

int ag_process_inputs(const ag_model *m, ag_id *inputs) {
  for (int i = 0; i < m->n_processes; i++) inputs[i] = m->processes[i].x;
  return m->n_processes;
}

bool ag_process_in(const ag_model *m, int n, const ag_id *x) {
  for (int i = 0; i < m->n_processes; i++)
    if (ag_depends(m->graph, n, x, 1, &m->processes[i].x)) return true;
  return false;
}

int ag_process_rates(const ag_system *sys, int channel, const ag_id *velocity, ag_id *rates) {
  const ag_model *m = sys->model;
  int n = m->n_processes;
  for (int i = 0; i < n; i++) rates[i] = channel < 0 ? m->processes[i].drift : sys->amplitude[channel * n + i];
  if (!velocity || !n) return n;
  ag_id *xi = ag_heap_alloc(sizeof *xi * (size_t)(m->n_coords + 1));
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  ag_substitute(m->graph, m->n_coords, xi, velocity, n, rates);
  free(xi);
  return n;
}

const ag_id *ag_system_amplitude(const ag_system *sys, int channel) {
  return sys->amplitude ? sys->amplitude + channel * sys->n.process : NULL;
}

void ag_process_collect(derive *d) {
  ag_system *sys = d->sys;
  int n = sys->n.process, m = sys->n.channel;
  if (!n) return;
  ag_id *outs = AG_NEWN(sys->arena, ag_id, n + n * m + 1);
  sys->amplitude = outs + n;
  (void)ag_process_rates(sys, -1, NULL, outs);
  for (int i = 0; i < n * m; i++) sys->amplitude[i] = ag_num(d->g, 0);
  for (int k = 0; k < d->m->n_noises; k++) {
    const ag_noise *w = &d->m->noises[k];
    for (int i = 0; i < w->n && w->kind == AG_NOISE_PROCESS; i++) {
      ag_id *at = &sys->amplitude[w->channel * n + w->parts[i].coord];
      *at = ag_add(d->g, *at, w->parts[i].x);
    }
  }
  ag_role_make(sys, AG_ROLE_PROCESS, n + n * m, outs);
}

ag_status ag_process_start_values(ag_ctx *ctx, ag_system *sys, double t0, const double *params, double *q) {
  const ag_model *m = sys->model;
  double *x = ag_heap_alloc(sizeof *x * (size_t)(sys->n.x + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < m->n_processes; i++) {
    const ag_process *p = &m->processes[i];
    double *value = &q[sys->processes[i].at];
    *value = 0;
    if (!p->start) continue;
    ag_tape *tape = ag_full_tape(sys, 1, &p->start);
    ag_tape_once(tape, t0, x, params, NULL, value);
    ag_tape_free(tape);
    if (ag_all_finite(1, value)) continue;
    ag_ctx_error(ctx, p->from_set ? (ag_pos){0} : p->start_pos, "the start value of `%s` is not finite", p->name);
    status = AG_WRONG;
  }
  free(x);
  return status;
}
