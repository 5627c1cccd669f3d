/* SPDX-License-Identifier: MIT
 * Checkpoints that outlive the step they were taken at. */
#include <stdlib.h>
#include <string.h>

#include "run/run_internal.h"

static void *copy_of(const void *from, size_t size) {
  void *to = ag_heap_alloc(size + 1);
  if (size) memcpy(to, from, size);
  return to;
}

void ag_checkpoint_keep(ag_checkpoint *copy, const ag_checkpoint *c) {
  *copy = *c;
  copy->z = copy_of(c->z, sizeof(double) * (size_t)c->n);
  copy->dz = copy_of(c->dz, sizeof(double) * (size_t)c->n_carry);
  copy->unit = copy_of(c->unit, sizeof(double) * (size_t)c->n_unit);
  copy->c = copy_of(c->c, sizeof(double) * (size_t)c->n_c);
  copy->sign = copy_of(c->sign, sizeof(int) * (size_t)c->n_event);
  copy->event_count = copy_of(c->event_count, sizeof(int) * (size_t)c->n_event);
}

void ag_checkpoint_done(ag_checkpoint *copy) {
  free(copy->z);
  free(copy->dz);
  free(copy->unit);
  free(copy->c);
  free(copy->sign);
  free(copy->event_count);
  *copy = (ag_checkpoint){0};
}
