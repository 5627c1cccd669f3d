/* SPDX-License-Identifier: MIT
 * Places that are taken and given back in any order: none is held twice, and when all are given back one region with
 * the whole array is free. */
#include "kern/roll_places.h"

#include <stdbool.h>

#include "check.h"

enum { HELD = 40, ROUNDS = 4000, ROOM = 4096 };

static bool used[ROOM];
static ag_roll_region held[HELD];

static void give_back(ag_roll_places *p, ag_roll_region *h) {
  for (uint32_t i = 0; i < h->n; i++) used[h->base + i] = false;
  ag_roll_places_give_back(p, h->base, h->n);
  h->n = 0;
}

int main(void) {
  ag_roll_places p = {0};
  unsigned long long seed = 1;
  for (int round = 0; round < ROUNDS; round++) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    ag_roll_region *h = &held[(seed >> 40) % HELD];
    if (h->n) {
      give_back(&p, h);
      continue;
    }
    h->n = 1 + (uint32_t)(seed >> 33) % 20;
    h->base = ag_roll_places_take(&p, h->n);
    AG_CHECK(h->base + h->n <= p.n && p.n <= ROOM);
    for (uint32_t i = h->base; i < h->base + h->n && i < ROOM; i++) {
      AG_CHECK(!used[i]);
      used[i] = true;
    }
  }
  AG_CHECK(p.n < HELD * 20); /* what is given back is used again */
  for (int i = 0; i < HELD; i++)
    if (held[i].n) give_back(&p, &held[i]);
  AG_CHECK(p.n_free == 1 && p.free[0].base == 0 && p.free[0].n == p.n);
  ag_roll_places_done(&p);
  return ag_check_report();
}
