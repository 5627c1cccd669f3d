/* SPDX-License-Identifier: MIT
 * Arenas: allocations are zeroed, aligned and disjoint; running out of memory ends the process with code 3. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

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

static void heap(void) {
  unsigned char *p = ag_heap_alloc(1000);
  AG_CHECK(all_are(p, 1000, 0));
  memset(p, 5, 1000);
  p = ag_heap_grow(p, 100000);
  AG_CHECK(all_are(p, 1000, 5));
  free(p);
  for (size_t size = 0; size < 300; size += 37) {
    unsigned char *q = ag_heap_aligned(size);
    AG_CHECK((uintptr_t)q % 64 == 0);
    AG_CHECK(all_are(q, size, 0));
    free(q);
  }
  int *items = NULL, n = 0, cap = 0;
  for (int i = 0; i < 1000; i++) {
    AG_PUSH(items, n, cap);
    items[n++] = i;
  }
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += items[i] != i;
  AG_CHECK(n == 1000 && cap >= n && wrong == 0);
  free(items);
}

/* Runs `use` in a child process with 64 MiB of address space; its exit code, or -1 if a signal ended it. */
static int code_when_exhausted(void (*use)(void)) {
  pid_t child = fork();
  if (child == 0) {
    struct rlimit limit = {64u << 20, 64u << 20};
    setrlimit(RLIMIT_AS, &limit);
    if (!freopen("/dev/null", "w", stderr)) _exit(9);
    use();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void many_small(void) {
  ag_arena *a = ag_arena_create();
  for (int i = 0; i < 1 << 20; i++) ag_arena_alloc(a, 1024);
}
static void one_large(void) { ag_arena_alloc(ag_arena_create(), (size_t)1 << 30); }
static void absurd(void) { ag_arena_alloc(ag_arena_create(), SIZE_MAX - 3); }
static void large_heap(void) { ag_heap_alloc((size_t)1 << 30); }
static void large_aligned(void) { ag_heap_aligned((size_t)1 << 30); }
static void absurd_aligned(void) { ag_heap_aligned(SIZE_MAX - 3); }
static void large_grow(void) { ag_heap_grow(ag_heap_alloc(16), (size_t)1 << 30); }
static void modest(void) { ag_arena_free(ag_arena_create()); }

int main(void) {
  pieces();
  strings();
  heap();
  if (!SANITIZED) { /* sanitizers reserve address space of their own and cannot be limited */
    AG_CHECK(code_when_exhausted(modest) == 0);
    AG_CHECK(code_when_exhausted(many_small) == 3);
    AG_CHECK(code_when_exhausted(one_large) == 3);
    AG_CHECK(code_when_exhausted(absurd) == 3);
    AG_CHECK(code_when_exhausted(large_heap) == 3);
    AG_CHECK(code_when_exhausted(large_aligned) == 3);
    AG_CHECK(code_when_exhausted(absurd_aligned) == 3);
    AG_CHECK(code_when_exhausted(large_grow) == 3);
  }
  return ag_check_report();
}
