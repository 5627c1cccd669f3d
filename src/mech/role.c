/* SPDX-License-Identifier: MIT
 * The tapes of a system, by role: created, found and freed from the table role.def. */
#include <string.h>

#include "mech/choices.h"

/* What a tape reads. */
typedef enum state_kind { REDUCED, MOTION, FULL, LAMBDA, BRANCHED } state_kind;

typedef struct role_row {
  const char *name;
  state_kind state;
  const char *what;
} role_row;

static const role_row roles[] = {
#define AG_ROLE(ROLE, name, state, what) {#name, state, what},
#define AG_OUTPUT(ROLE, NAME, size)
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
};

static const ag_role role_of[] = {
#define AG_ROLE(ROLE, name, state, what)
#define AG_OUTPUT(ROLE, NAME, size) AG_ROLE_##ROLE,
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
};

static int output_size(const ag_system *s, ag_output output) {
  switch (output) {
#define AG_ROLE(ROLE, name, state, what)
#define AG_OUTPUT(ROLE, NAME, size) \
  case AG_OUT_##ROLE##_##NAME: \
    return size;
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
  case AG_OUTPUT_COUNT: break;
  }
  return 0;
}

/* All sections share one row of the table. */
static ag_role row_of(int tape) { return tape < AG_ROLE_SECTION ? (ag_role)tape : AG_ROLE_SECTION; }

const char *ag_role_name(ag_role role) { return roles[role].name; }

const char *ag_role_what(ag_role role) { return roles[role].what; }

void ag_roles_init(ag_system *sys) {
  sys->n_tape = AG_ROLE_SECTION + sys->model->n_sections;
  sys->tapes = AG_NEWN(sys->arena, ag_tape *, sys->n_tape);
  sys->reads_lambda = AG_NEWN(sys->arena, bool, sys->n_tape);
  sys->made = AG_NEWN(sys->arena, ag_id *, sys->n_tape);
  sys->n_made = AG_NEWN(sys->arena, int, sys->n_tape);
  sys->tables = AG_NEWN(sys->arena, int *, sys->n_tape);
}

void ag_roles_free(ag_system *sys) {
  for (int i = 0; i < sys->n_tape; i++) ag_tape_free(sys->tapes[i]);
}

/* Where the results of a role are; together they are all results of its tape. */
static void place_outputs(ag_system *sys, ag_role role, int n_out) {
  int at = 0;
  for (int i = 0; i < AG_OUTPUT_COUNT; i++) {
    if (role_of[i] != role) continue;
    sys->outputs[i] = (ag_span){at, output_size(sys, (ag_output)i)};
    at += sys->outputs[i].n;
  }
  AG_ASSERT(at == n_out);
}

void ag_role_make(ag_system *sys, int tape, int n, const ag_id *outs) {
  ag_role role = row_of(tape);
  ag_tape_free(sys->tapes[tape]);
  switch (roles[role].state) {
  case REDUCED: sys->tapes[tape] = ag_reduced_tape(sys, n, outs); break;
  case MOTION: sys->tapes[tape] = ag_motion_tape(sys, n, outs); break;
  case FULL: sys->tapes[tape] = ag_full_tape(sys, n, outs); break;
  case LAMBDA: sys->tapes[tape] = ag_system_tape(sys, n, outs, &sys->reads_lambda[tape]); break;
  case BRANCHED: sys->tapes[tape] = ag_branched_tape(sys, n, outs); break;
  }
  place_outputs(sys, role, sys->tapes[tape]->n_out);
  sys->made[tape] = AG_NEWN(sys->arena, ag_id, n);
  memcpy(sys->made[tape], outs, sizeof *outs * (size_t)n);
  sys->n_made[tape] = n;
}

const ag_tape *ag_system_role(const ag_system *sys, int tape) { return sys->tapes[tape]; }

bool ag_role_lambda(const ag_system *sys, int tape) { return sys->reads_lambda[tape]; }

bool ag_role_reduced(int tape) { return roles[row_of(tape)].state <= MOTION; }

ag_role ag_output_role(ag_output output) { return role_of[output]; }

ag_span ag_system_output(const ag_system *sys, ag_output output) { return sys->outputs[output]; }

double *ag_role_once(const ag_system *sys, int tape, double t, const double *x, const double *params) {
  const ag_tape *k = sys->tapes[tape];
  double *out = ag_heap_alloc(sizeof *out * (size_t)(k->n_out + 1));
  ag_tape_once(k, t, x, params, NULL, out);
  return out;
}

int ag_basis_size(const ag_system *sys, ag_basis_part part) {
  int n = 0;
  for (int i = 0; i < sys->n_basis; i++) {
    const ag_basis *b = &sys->bases[i];
    n += part == AG_BASIS_ROWS ? b->n_s * b->n_y : b->n_y - b->n_w;
  }
  return n;
}

int ag_kept_positions(const ag_system *sys) {
  int n = 0;
  for (int i = sys->n.row - sys->n.g; i < sys->n.row; i++) n += sys->rows[i].kept;
  return n;
}

bool ag_is_sparse(const ag_system *sys) { return sys->tapes[AG_ROLE_ROWS] != NULL; }
