/* SPDX-License-Identifier: MIT
 * The functions that a run monitors, events and a section: which they are, their values and signs. */
#include "run/run_internal.h"

int ag_run_n_event(const ag_system *sys, const ag_run_options *o) {
  return ag_model_n_events(ag_system_model(sys)) + (o->section > 0);
}

const ag_event *ag_run_event(const ag_system *sys, const ag_run_options *o, int e) {
  const ag_model *m = ag_system_model(sys);
  return e < ag_model_n_events(m) ? &ag_model_events(m)[e] : &ag_model_sections(m)[o->section - 1];
}

const ag_event *ag_mover_event(const ag_mover *m, int e) {
  const ag_model *model = ag_system_model(m->sys);
  return e < ag_model_n_events(model) ? &ag_model_events(model)[e] : &ag_model_sections(model)[m->section - 1];
}

bool ag_mover_looks(const ag_mover *m) { return m->g_first < m->n_g; }

static bool reads_forces(const ag_mover *m) {
  return (m->events && ag_role_lambda(m->sys, AG_ROLE_EVENTS)) ||
         (m->section && ag_role_lambda(m->sys, AG_ROLE_SECTION + m->section - 1));
}

int ag_mover_watch(ag_mover *m, double t, const double *z, const double *c, double *g) {
  if (m->watch) {
    const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_C] = c};
    ag_watcher_values(m->watcher, seg, g + m->n_g - ag_watcher_tape(m->watcher)->n_out);
    return AG_FINE;
  }
  ag_mover_full(m, t, z, c, m->x);
  if (m->switches && reads_forces(m)) (void)ag_slide_hold(m, t, z, c);
  int trouble = m->events ? ag_work_events(m->work, t, m->x, g) : AG_FINE;
  if (m->section && !trouble) trouble = ag_work_section(m->work, m->section - 1, t, m->x, g + m->n_g - 1);
  ag_slide_let_go(m);
  return trouble;
}

void ag_mover_signs(ag_mover *m, double t) {
  if (ag_mover_watch(m, t, m->z, m->c, m->g1)) return;
  for (int e = m->g_first; e < m->n_g; e++) m->sign[e] = (m->g1[e] > 0) - (m->g1[e] < 0);
}
