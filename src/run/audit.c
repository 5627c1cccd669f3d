/* SPDX-License-Identifier: MIT
 * Checks of a motion by its energy and its contacts, for members of batches, of which only these checks are kept. */
#include <math.h>

#include "run/batch.h"

double ag_run_allowed_drift(const ag_run_options *o, ag_energy_law law, long steps) {
  static const double FIXED = 1e-3, MOST = 0.1, DENSE = 100;
  double allowed = o->dt > 0 ? FIXED : fmin(10 * o->rtol * (double)steps, MOST);
  return law == AG_ENERGY_CONSERVED ? allowed : DENSE * allowed;
}

bool ag_audit_pressed(const ag_record *r, const ag_model *m, const double *record) {
  for (int i = 0; i < ag_model_n_contacts(m); i++)
    for (int k = 0; k < r->n_column; k++)
      if (r->columns[k].kind == AG_COL_OBSERVABLE && r->columns[k].x == ag_model_contacts(m)[i]->press &&
          record[r->columns[k].offset] < 0)
        return false;
  return true;
}

int ag_audit_lift(const ag_model *m, int contact) {
  int lift = -1;
  for (int e = 0; e < ag_model_n_events(m); e++)
    if (ag_model_events(m)[e].x == ag_model_contacts(m)[contact]->press && ag_model_events(m)[e].direction < 0)
      lift = e;
  return lift;
}

/* Did a contact lift before the end? */
static bool lifted(const ag_model *m, const ag_run_options *o, const ag_run_result *r) {
  for (int i = 0; o->events && i < ag_model_n_contacts(m); i++) {
    int e = ag_audit_lift(m, i);
    if (e >= 0 && r->event_count[e] && !(r->end == AG_END_EVENT && r->end_event == e)) return true;
  }
  return false;
}

ag_audit ag_audit_of(const ag_system *sys, const ag_record *record, const ag_run_options *o, const ag_run_result *r) {
  const ag_model *m = ag_system_model(sys);
  bool kept = r->energy_law == AG_ENERGY_CONSERVED;
  ag_audit a = {.energy0 = r->energy0, .size = r->energy_size, .measured = r->energy_law != AG_ENERGY_NOISE};
  a.energy = *ag_record_kind(record, r->record, AG_COL_ENERGY);
  a.drift = kept ? r->energy_drift : fabs(r->work_energy - r->energy0 - r->work);
  a.lifted = lifted(m, o, r) || (r->end != AG_END_EVENT && !ag_audit_pressed(record, m, r->record));
  a.pointwise = r->pointwise, a.one_sided = r->one_sided, a.loose = r->loose > 0;
  for (int e = 0; e < r->n_event; e++) a.doubts += r->doubts[e].n + r->doubts[e].lost;
  return a;
}

void ag_audit_begin(ag_audit *a, ag_work *w, double t, const double *x) {
  a->energy0 = ag_work_energy(w, t, x, &a->size);
}

void ag_audit_end(ag_audit *a, const ag_system *sys, ag_work *w, double t, const double *x) {
  double size;
  a->energy = ag_work_energy(w, t, x, &size);
  a->drift = fabs(a->energy - a->energy0);
  a->measured = ag_system_energy_law(sys) == AG_ENERGY_CONSERVED && isfinite(a->drift);
  a->size = isfinite(size) ? fmax(a->size, size) : 0;
}
