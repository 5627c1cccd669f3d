/* SPDX-License-Identifier: MIT
 * The registry of steppers: stepper.def as an array. */
#include <string.h>

#include "step/step.h"

#include "step/rk.h"

#define AG_STEPPER(name) extern const ag_stepper ag_stepper_##name;
#include "step/stepper.def"
#undef AG_STEPPER

static const ag_stepper *const all[] = {
#define AG_STEPPER(name) &ag_stepper_##name,
#include "step/stepper.def"
#undef AG_STEPPER
};

int ag_stepper_count(void) { return (int)(sizeof all / sizeof *all); }

const ag_stepper *ag_stepper_at(int i) { return i >= 0 && i < ag_stepper_count() ? all[i] : NULL; }

const ag_stepper *ag_stepper_find(const char *name) {
  for (int i = 0; i < ag_stepper_count(); i++)
    if (strcmp(all[i]->name, name) == 0) return all[i];
  return NULL;
}

int ag_stepper_last(const ag_stepper *s) { return ((const ag_tableau *)s->table)->last; }
int ag_stepper_degree(const ag_stepper *s) { return ((const ag_tableau *)s->table)->degree; }
