/* SPDX-License-Identifier: MIT */
#include "kern/roll_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

uint32_t ag_roll_places_take(ag_roll_places *p, uint32_t n) {
  for (int i = 0; i < p->n_free; i++)
    if (p->free[i].n >= n) {
      uint32_t base = p->free[i].base;
      p->free[i].base += n;
      p->free[i].n -= n;
      return base;
    }
  p->n += n;
  return p->n - n;
}

void ag_roll_places_give_back(ag_roll_places *p, uint32_t base, uint32_t n) {
  int i = 0;
  for (int k = 0; k < p->n_free; k++) /* empty ones go */
    if (p->free[k].n) p->free[i++] = p->free[k];
  p->n_free = i;
  AG_PUSH(p->free, p->n_free, p->cap_free);
  for (i = p->n_free++; i > 0 && p->free[i - 1].base > base; i--) p->free[i] = p->free[i - 1];
  p->free[i] = (ag_roll_region){base, n};
  for (int k = i; k >= 0 && k >= i - 1; k--) /* joined with its neighbours */
    if (k + 1 < p->n_free && p->free[k].base + p->free[k].n == p->free[k + 1].base) {
      p->free[k].n += p->free[k + 1].n;
      memmove(p->free + k + 1, p->free + k + 2, sizeof *p->free * (size_t)(p->n_free - k - 2));
      p->n_free--;
    }
}

void ag_roll_places_done(ag_roll_places *p) { free(p->free); }
