/* SPDX-License-Identifier: MIT
 * The registry of steppers: stepper.def as an array; what they need and what flows offer. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/heap.h"
#include "expr/expr.h"
#include "step/step_text.h"

#define AG_STEPPER(name) extern const ag_stepper ag_stepper_##name;
#include "step/stepper.def"
#undef AG_STEPPER

static const ag_stepper *const all[] = {
#define AG_STEPPER(name) &ag_stepper_##name,
#include "step/stepper.def"
#undef AG_STEPPER
};

const char ag_factor_text[] =
#include "factor_text.inc"
    ;
const char ag_factor_core_text[] =
#include "factor_core_text.inc"
    ;
const char ag_sparse_core_text[] =
#include "sparse_core_text.inc"
    ;
const char ag_newton_core_text[] =
#include "newton_core_text.inc"
    ;
const char ag_hermite_core_text[] =
#include "hermite_core_text.inc"
    ;
const char ag_trial_core_text[] =
#include "trial_core_text.inc"
    ;
const char ag_lu_core_text[] =
#include "lu_core_text.inc"
    ;

int ag_stepper_count(void) { return (int)(sizeof all / sizeof *all); }

const ag_stepper *ag_stepper_at(int i) { return i >= 0 && i < ag_stepper_count() ? all[i] : NULL; }

const ag_stepper *ag_stepper_find(const char *name) {
  for (int i = 0; i < ag_stepper_count(); i++)
    if (strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

unsigned ag_flow_offers(const ag_flow *f) {
  return (f->rhs ? AG_NEEDS_RHS : 0u) | (f->rate ? AG_NEEDS_SECOND : 0u) | (f->jacobian ? AG_NEEDS_JACOBIAN : 0u) |
         (f->factors ? AG_NEEDS_FACTORS : 0u) | (f->n_u ? AG_NEEDS_PARTITION : 0u) |
         (f->gradient ? AG_NEEDS_GRADIENT : 0u) | (f->residual && f->finish ? AG_NEEDS_RESIDUAL : 0u) |
         (f->canonical ? AG_NEEDS_CANONICAL : 0u) | (f->step ? AG_NEEDS_NOISE : AG_NEEDS_ONE_SIDED);
}

long ag_flow_square(const int *table, int m) { return table ? table[AG_LU_SQUARE] : (long)m * m; }

ag_step_room ag_stepper_room(const ag_stepper *s, int n, int m, long square) {
  ag_step_room room = s->room(n, m, square);
  char why[AG_HEAP_WHY];
  if (room.size <= INT_MAX) return room;
  snprintf(why, sizeof why, "a step of %s would need %.3g GB of memory", s->name, 8e-9 * (double)room.size);
  ag_heap_fail(why);
}

const char *ag_stepper_lacks(const ag_stepper *s, unsigned offers) {
  static const char *const what[AG_N_NEED] = {
#define X(NAME, text) text,
      AG_NEEDS(X)
#undef X
  };
  for (int i = 0; i < AG_N_NEED; i++)
    if (s->needs >> i & ~offers >> i & 1) return what[i];
  return NULL;
}
