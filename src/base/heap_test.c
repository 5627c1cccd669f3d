/* SPDX-License-Identifier: MIT
 * Heaps: blocks are zeroed, aligned and counted; when memory runs out or a limit is exceeded, the guarded call
 * ends, what it held is released, and nothing is left of it. */
#include "base/heap.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
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

static void blocks(void) {
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

/* Allocates, grows and frees in an order without a pattern, and checks the account. */
static void account(void) {
  enum { N = 3000 };
  ag_heap *h = ag_heap_create(NULL), *to = ag_heap_create(NULL), *was = ag_heap_use(h);
  unsigned char *block[N] = {0};
  size_t size[N] = {0}, total = 0;
  unsigned x = 1;
  for (int k = 0; k < 20 * N; k++) {
    x = x * 1664525u + 1013904223u;
    int i = (int)(x >> 8) % N;
    total -= size[i];
    if (x >> 30) block[i] = ag_heap_grow(block[i], size[i] = x >> 20 & 255);
    else free(block[i]), block[i] = NULL, size[i] = 0;
    total += size[i];
  }
  AG_CHECK(ag_heap_used(h) == total);
  for (int i = 0; i < N; i += 2) ag_heap_move(block[i], to);
  AG_CHECK(ag_heap_used(h) + ag_heap_used(to) == total);
  for (int i = 1; i < N; i += 2) free(block[i]);
  AG_CHECK(ag_heap_used(h) == 0);
  ag_heap_use(was);
  ag_heap_wipe(to);
  AG_CHECK(ag_heap_used(to) == 0);
  ag_heap_close(h);
  ag_heap_close(to);
}

/* ---- a call that does a little of everything ---- */

typedef struct probe {
  int released, done;
} probe;

static void released(void *what) { ((probe *)what)->released++; }

static void use(void *self) {
  probe *p = self;
  ag_arena *a = ag_arena_create();
  ag_heap_hold(released, p);
  int *items = NULL, n = 0, cap = 0;
  for (int i = 0; i < 100; i++) {
    AG_PUSH(items, n, cap);
    items[n++] = i;
    ag_arena_alloc(a, 5000);
  }
  free(ag_heap_aligned(100));
  free(items);
  ag_arena_free(a);
  ag_heap_let_go(released, p);
  p->done++;
}

/* Every allocation fails in turn. */
static void faults(void) {
  ag_heap *h = ag_heap_create(NULL);
  char why[AG_HEAP_WHY];
  int failed = 0;
  for (long n = 1;; n++) {
    probe p = {0};
    ag_heap_fail_at(n);
    bool good = ag_heap_try(h, use, &p, why);
    long left = ag_heap_fail_at(0);
    AG_CHECK(!ag_heap_guarded() && !ag_heap_current());
    AG_CHECK(good == (left > 0) && p.done == good);
    if (!good) AG_CHECK(!strncmp(why, "out of memory (asked for ", 25));
    ag_heap_wipe(h);
    AG_CHECK(ag_heap_used(h) == 0 && p.released == (!good && n > 1));
    if (good) break;
    failed++;
  }
  AG_CHECK(failed > 10);
  ag_heap_close(h);
}

static void take_megabytes(void *self) {
  (void)self;
  ag_heap_clock_start("taking megabytes");
  for (int i = 0; i < 100; i++) ag_heap_alloc(1 << 20);
}

static void wait_for_ever(void *self) {
  (void)self;
  ag_heap_clock_start("waiting");
  for (;;) free(ag_heap_alloc(1));
}

static void sleep_and_take(void *self) {
  (void)self;
  ag_heap_clock_start("sleeping");
  nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  for (int i = 0; i < 1000; i++) free(ag_heap_alloc(1));
  ag_heap_clock_stop();
}

static void limits(void) {
  ag_heap *h = ag_heap_create(NULL), *below = ag_heap_create(h);
  char why[AG_HEAP_WHY];
  ag_heap_limit(h, 10 << 20, 0);
  AG_CHECK(!ag_heap_try(below, take_megabytes, NULL, why));
  AG_CHECK_STR(why, "taking megabytes takes more than the 10 MB of memory allowed (--memory)");
  AG_CHECK(ag_heap_used(below) == 10 << 20);
  ag_heap_wipe(below);
  ag_heap_wipe(h);
  ag_heap_limit(h, 0, 0.01);
  AG_CHECK(!ag_heap_try(below, wait_for_ever, NULL, why));
  AG_CHECK_STR(why, "waiting takes more than the 0.01 seconds allowed (--derive-time)");
  ag_heap_wipe(below);
  ag_heap_limit(h, 0, 0.2);
  AG_CHECK(ag_heap_try(below, sleep_and_take, NULL, why)); /* a thousand blocks take a millisecond of processor time */
  ag_heap_close(below);
  ag_heap_close(h);
}

/* ---- inside each other ---- */

static void inner_fails(void *self) {
  (void)self;
  ag_heap_fail("inner");
}

static void outer(void *self) {
  probe *p = self;
  char why[AG_HEAP_WHY];
  AG_CHECK(!ag_heap_try(ag_heap_current(), inner_fails, NULL, why));
  AG_CHECK_STR(why, "inner");
  ag_heap_pause pause = ag_heap_leave_to_host();
  AG_CHECK(!ag_heap_guarded() && !ag_heap_current());
  free(ag_heap_alloc(1));
  ag_heap_back_from_host(pause);
  AG_CHECK(ag_heap_guarded() && ag_heap_current());
  p->done = 1;
  ag_heap_fail("outer");
}

static void nested(void) {
  ag_heap *h = ag_heap_create(NULL);
  probe p = {0};
  char why[AG_HEAP_WHY];
  AG_CHECK(!ag_heap_try(h, outer, &p, why) && p.done == 1);
  AG_CHECK_STR(why, "outer");
  ag_heap_close(h);
}

/* ---- threads that share a heap ---- */

static void churn(void *self) {
  (void)self;
  for (int i = 0; i < 20000; i++) {
    void *a = ag_heap_alloc(10), *b = ag_heap_alloc(20);
    a = ag_heap_grow(a, 100);
    free(a);
    free(b);
  }
}

static void *work(void *heap) {
  char why[AG_HEAP_WHY];
  return ag_heap_try(heap, churn, NULL, why) ? heap : NULL;
}

static void threads(void) {
  enum { N = 4 };
  ag_heap *h = ag_heap_create(NULL);
  pthread_t thread[N];
  int n = 0;
  while (n < N && !pthread_create(&thread[n], NULL, work, h)) n++;
  for (int i = 0; i < n; i++) {
    void *good;
    pthread_join(thread[i], &good);
    AG_CHECK(good == h);
  }
  AG_CHECK(ag_heap_used(h) == 0);
  ag_heap_close(h);
}

/* ---- memory that is really used up ---- */

static void many_small(void *self) {
  (void)self;
  ag_arena *a = ag_arena_create();
  for (int i = 0; i < 1 << 20; i++) ag_arena_alloc(a, 1024);
}
static void one_large(void *self) { (void)self, ag_arena_alloc(ag_arena_create(), (size_t)1 << 30); }
static void absurd(void *self) { (void)self, ag_arena_alloc(ag_arena_create(), SIZE_MAX - 3); }
static void large_heap(void *self) { (void)self, ag_heap_alloc((size_t)1 << 30); }
static void large_aligned(void *self) { (void)self, ag_heap_aligned((size_t)1 << 30); }
static void absurd_aligned(void *self) { (void)self, ag_heap_aligned(SIZE_MAX - 3); }
static void large_grow(void *self) { (void)self, ag_heap_grow(ag_heap_alloc(16), (size_t)1 << 30); }

/* All of them in a child process with 64 MiB of address space; how many failed as they should. */
static int in_little_space(void) {
  void (*const calls[])(void *self) = {many_small,    one_large,      absurd,    large_heap,
                                       large_aligned, absurd_aligned, large_grow};
  struct rlimit limit = {64u << 20, 64u << 20};
  setrlimit(RLIMIT_AS, &limit);
  ag_heap *h = ag_heap_create(NULL);
  int n = 0;
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    char why[AG_HEAP_WHY];
    n += !ag_heap_try(h, calls[i], NULL, why) && !strncmp(why, "out of memory", 13);
    ag_heap_wipe(h);
    probe p = {0};
    n += ag_heap_try(h, use, &p, why) && p.done; /* and there is memory again */
  }
  ag_heap_close(h);
  return n;
}

static void exhaustion(void) {
  pid_t child = fork();
  if (child == 0) _exit(in_little_space());
  int status = 0;
  AG_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 14);
}

int main(void) {
  blocks();
  account();
  faults();
  limits();
  nested();
  threads();
  if (!SANITIZED) exhaustion(); /* sanitizers reserve address space of their own and cannot be limited */
  return ag_check_report();
}
