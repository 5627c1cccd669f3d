/* SPDX-License-Identifier: MIT
 * Arenas: allocations are zeroed, aligned and disjoint. */
#include "base/arena.h"

#include <stdint.h>

#include "check.h"

static int all_are(const unsigned char *p, size_t n, unsigned char value) {
  for (size_t i = 0; i < n; i++)
    if (p[i] != value) return 0;
  return 1;
}

/* Allocations of many sizes, also near the block size of 64 KiB: each is zeroed, none overlaps another. */
static void pieces(void) {
  enum { N = 400 };
  ag_arena *a = ag_arena_create();
  unsigned char *piece[N];
  size_t size[N], total = 0;
  for (int i = 0; i < N; i++) {
    size[i] = i % 37 == 0 ? 65520 + (size_t)i : i % 50 == 7 ? 200000 : (size_t)(i * 7 % 301);
    piece[i] = ag_arena_alloc(a, size[i]);
    AG_CHECK((uintptr_t)piece[i] % 16 == 0);
    AG_CHECK(all_are(piece[i], size[i], 0));
    memset(piece[i], 1 + i % 255, size[i]);
    total += size[i];
  }
  for (int i = 0; i < N; i++) AG_CHECK(all_are(piece[i], size[i], (unsigned char)(1 + i % 255)));
  AG_CHECK(ag_arena_used(a) >= total);
  AG_CHECK(ag_arena_used(a) < total + 16 * (size_t)N);
  ag_arena_free(a);
  ag_arena_free(NULL);
}

static void strings(void) {
  ag_arena *a = ag_arena_create();
  char source[] = "rattleback";
  char *whole = ag_arena_str(a, source), *part = ag_arena_strn(a, source, 6), *none = ag_arena_strn(a, source, 0);
  source[0] = 'X';
  AG_CHECK_STR(whole, "rattleback");
  AG_CHECK_STR(part, "rattle");
  AG_CHECK_STR(none, "");
  AG_CHECK_STR(ag_arena_printf(a, "%s[%d] = %.3f", "x", 12, 0.5), "x[12] = 0.500");
  AG_CHECK_STR(ag_arena_printf(a, "%s", ""), "");
  int *numbers = AG_NEWN(a, int, 1000);
  AG_CHECK(all_are((unsigned char *)numbers, 1000 * sizeof(int), 0));
  ag_arena_free(a);
}

int main(void) {
  pieces();
  strings();
  return ag_check_report();
}
