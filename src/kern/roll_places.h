/* SPDX-License-Identifier: MIT
 * Inside kern/: places in an array that are taken for some time and given back. The array grows where none is free. */
#ifndef AG_KERN_ROLL_PLACES_H
#define AG_KERN_ROLL_PLACES_H
#include <stdint.h>

typedef struct ag_roll_region {
  uint32_t base, n;
} ag_roll_region;

typedef struct ag_roll_places {
  ag_roll_region *free; /* by base; neighbours are joined */
  int n_free, cap_free;
  uint32_t n; /* length of the array */
} ag_roll_places;

uint32_t ag_roll_places_take(ag_roll_places *p, uint32_t n); /* the first of n places in a row */
void ag_roll_places_give_back(ag_roll_places *p, uint32_t base, uint32_t n);
void ag_roll_places_done(ag_roll_places *p);
#endif
