/* SPDX-License-Identifier: MIT
 * Compiled code for the roles of a system that a worker evaluates: energy, observables, forces of constraint, events on
 * the full state, projections. Each is a separate library, so that only those that a run needs are compiled, and found
 * in the cache by the next one. */
#include "run/coder.h"

#include <stdlib.h>

#include "base/arena.h"
#include "kern/kern.h"

typedef struct role_code {
  ag_unit *unit;
  ag_code code;
  bool sought, tried; /* in the cache; compiling it */
} role_code;

struct ag_role_coder {
  const ag_system *sys;
  ag_build_options build;
  int n;
  role_code *roles;
};

ag_role_coder *ag_role_coder_create(const ag_system *sys, const ag_build_options *build) {
  ag_role_coder *c = ag_heap_alloc(sizeof *c);
  *c = (ag_role_coder){.sys = sys, .n = AG_ROLE_COUNT + ag_model_n_sections(ag_system_model(sys))};
  if (build) c->build = *build;
  c->build.lanes = 1;
  c->roles = ag_heap_alloc(sizeof *c->roles * (size_t)c->n);
  return c;
}

void ag_role_coder_free(ag_role_coder *c) {
  if (!c) return;
  for (int i = 0; i < c->n; i++) ag_unit_free(c->roles[i].unit);
  free(c->roles);
  free(c);
}

static void prep(const void *self, const double *p, double *out) {
  unsigned long long fail = 0; /* a pivot that fails shows up in every evaluation */
  ag_unit_prep(self, 0, p, out, &fail);
}

static int eval(const void *self, const double *const *seg, const double *prepared, double *out) {
  unsigned long long fail = 0;
  ag_unit_eval(self, 0, seg, prepared, out, &fail);
  return fail != 0;
}

static ag_unit *make(const ag_role_coder *c, int role, const ag_build_options *build) {
  ag_text comment = {0}, reason = {0};
  const ag_unit_tape tape = {"f", ag_system_role(c->sys, role), 1, true, false};
  ag_text_printf(&comment, "%s: %s", ag_model_name(ag_system_model(c->sys)),
                 ag_role_what((ag_role)(role < AG_ROLE_SECTION ? role : AG_ROLE_SECTION)));
  ag_unit_spec spec = {.comment = ag_text_cstr(&comment), .n_tape = 1, .tapes = &tape};
  spec.args = (ag_abi){"AG_KERN_ABI", "ag_kargs", AG_KERN_ABI, sizeof(ag_kargs)};
  ag_unit *unit = ag_unit_create(&spec, build, &reason);
  ag_text_done(&comment);
  ag_text_done(&reason);
  return unit;
}

static const ag_code *find(void *self, int role, bool worth) {
  ag_role_coder *c = self;
  role_code *r = &c->roles[role];
  ag_build_options build = c->build;
  build.only_cached = !worth;
  if (!r->unit && !(worth ? r->tried : r->sought)) r->unit = make(c, role, &build);
  r->sought = true, r->tried = r->tried || worth;
  if (!r->unit) return NULL;
  r->code = (ag_code){r->unit, ag_unit_n_prep(r->unit, 0), prep, eval};
  return &r->code;
}

ag_coder ag_role_coder_of(ag_role_coder *c) { return (ag_coder){c, find}; }
