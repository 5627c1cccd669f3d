/* SPDX-License-Identifier: MIT
 * The only file that calls malloc and free, and the only one that jumps: from the allocation that failed to the call of
 * ag_heap_try that guards it. */
#include "base/heap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef free

#if defined(__SANITIZE_ADDRESS__)
enum { KEEP_LEAKS = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { KEEP_LEAKS = 1 };
#else
enum { KEEP_LEAKS = 0 };
#endif
#else
enum { KEEP_LEAKS = 0 };
#endif

enum { TICKS = 256 }; /* allocations between two looks at the clock */

typedef struct entry {
  void *block; /* NULL: free place */
  size_t size;
} entry;

typedef struct held {
  void (*release)(void *what);
  void *what;
} held;

struct ag_heap {
  pthread_mutex_t lock; /* of all but used: the threads of a batch share a heap */
  ag_heap *under;
  entry *blocks; /* hashed by address; at most half full */
  size_t n, room;
  atomic_size_t used; /* bytes */
  size_t limit;
  held *held;
  int n_held, cap_held;
  const char *doing;        /* NULL: the clock is not running */
  double seconds, deadline; /* 0: none */
  bool program;
};

typedef struct guard {
  struct guard *outer;
  ag_heap *heap; /* current before */
  char *why;
  jmp_buf env;
} guard;

/* The current heap and guard of a thread, and the failure requested by tests. */
static _Thread_local struct {
  ag_heap *heap;
  guard *guard;
  unsigned n_alloc;
} heap_thread;
static atomic_long heap_fail_in;

/* ---- the table of blocks ---- */

static size_t place_of(const ag_heap *h, const void *block) {
  uint64_t key = (uint64_t)(uintptr_t)block;
  size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 17) & (h->room - 1);
  while (h->blocks[i].block && h->blocks[i].block != block) i = (i + 1) & (h->room - 1);
  return i;
}

/* Makes room for one more; false: no memory. */
static bool make_room(ag_heap *h) {
  if (2 * (h->n + 1) <= h->room) return true;
  ag_heap wider = {.room = h->room ? 2 * h->room : 256};
  wider.blocks = calloc(wider.room, sizeof *wider.blocks);
  if (!wider.blocks) return false;
  for (size_t i = 0; i < h->room; i++)
    if (h->blocks[i].block) wider.blocks[place_of(&wider, h->blocks[i].block)] = h->blocks[i];
  free(h->blocks);
  h->blocks = wider.blocks;
  h->room = wider.room;
  return true;
}

static void add(ag_heap *h, void *block, size_t size) {
  h->blocks[place_of(h, block)] = (entry){block, size};
  h->n++;
  atomic_fetch_add(&h->used, size);
}

/* Takes a block out; those behind it move up to where a search would look for them. */
static size_t take(ag_heap *h, const void *block) {
  size_t i = place_of(h, block), size = h->blocks[i].size;
  h->n--;
  atomic_fetch_sub(&h->used, size);
  h->blocks[i].block = NULL;
  for (size_t k = (i + 1) & (h->room - 1); h->blocks[k].block; k = (k + 1) & (h->room - 1)) {
    entry moved = h->blocks[k];
    h->blocks[k].block = NULL;
    h->blocks[place_of(h, moved.block)] = moved;
  }
  return size;
}

/* The heap of a block among the current one and those it is under, locked; NULL: none of them. */
static ag_heap *lock_owner(const void *block) {
  for (ag_heap *h = heap_thread.heap; h; h = h->under) {
    pthread_mutex_lock(&h->lock);
    if (h->room && h->blocks[place_of(h, block)].block) return h;
    pthread_mutex_unlock(&h->lock);
  }
  return NULL;
}

/* ---- running out ---- */

/* The heap that the current one and those it is under end at, or NULL: limits and clock are those of this one. */
static ag_heap *root(void) {
  ag_heap *h = heap_thread.heap;
  while (h && h->under) h = h->under;
  return h;
}

static void put_size(char *out, size_t n, size_t bytes) {
  static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double size = (double)bytes;
  int unit = 0;
  while (size >= 1024 && unit < 4) size /= 1024, unit++;
  snprintf(out, n, "%.3g %s", size, units[unit]);
}

_Noreturn static void leave(void) {
  guard *g = heap_thread.guard;
  heap_thread.guard = g->outer;
  heap_thread.heap = g->heap;
  longjmp(g->env, 1);
}

_Noreturn void ag_heap_fail(const char *why) {
  guard *g = heap_thread.guard;
  if (!g) {
    fprintf(stderr, "internal error: %s, and no call is guarded\n", why);
    abort();
  }
  if (why != g->why) snprintf(g->why, AG_HEAP_WHY, "%s", why);
  leave();
}

static const char *doing(void) {
  const ag_heap *h = root();
  return h ? h->doing : NULL;
}

_Noreturn static void exhausted(size_t size) {
  char why[AG_HEAP_WHY], text[32];
  put_size(text, sizeof text, size);
  const char *what = doing();
  snprintf(why, sizeof why, "out of memory (asked for %s)%s%s", text, what ? " while " : "", what ? what : "");
  ag_heap_fail(why);
}

/* Would `size` more bytes exceed the limit of h or of one it is under? */
static void check_limit(const ag_heap *h, size_t size) {
  size_t used = size;
  for (const ag_heap *x = h; x; x = x->under) {
    size_t more = atomic_load(&x->used);
    used = used + more < used ? SIZE_MAX : used + more;
    if (!x->limit || used <= x->limit) continue;
    char why[AG_HEAP_WHY], text[32];
    put_size(text, sizeof text, x->limit);
    const char *what = doing();
    snprintf(why, sizeof why, "%s takes more than the %s of memory allowed (--memory)", what ? what : "this", text);
    ag_heap_fail(why);
  }
}

/* Processor time of this thread: what is allowed does not depend on what else the machine does. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ag_heap_tick(void) {
  const ag_heap *h = root();
  if (!h || h->deadline <= 0 || !heap_thread.guard || now() <= h->deadline) return;
  char why[AG_HEAP_WHY];
  snprintf(why, sizeof why, "%s takes more than the %g seconds allowed (--derive-time)", h->doing, h->seconds);
  ag_heap_fail(why);
}

/* Before each allocation: limits, the clock, and the failure requested by a test (true: fail). */
static bool before(const ag_heap *h, size_t size) {
  if (++heap_thread.n_alloc % TICKS == 0) ag_heap_tick();
  check_limit(h, size);
  return atomic_load_explicit(&heap_fail_in, memory_order_relaxed) && atomic_fetch_sub(&heap_fail_in, 1) == 1;
}

/* ---- blocks ---- */

/* A new block enters its heap; without room for that it is freed again. */
static void *enter(ag_heap *h, void *block, size_t size) {
  if (!block) exhausted(size);
  if (!h) return block;
  pthread_mutex_lock(&h->lock);
  bool good = make_room(h);
  if (good) add(h, block, size);
  pthread_mutex_unlock(&h->lock);
  if (good) return block;
  free(block);
  exhausted(size);
}

void *ag_heap_alloc(size_t size) {
  ag_heap *h = heap_thread.heap;
  return enter(h, before(h, size) ? NULL : calloc(1, size ? size : 1), size);
}

void *ag_heap_aligned(size_t size) {
  ag_heap *h = heap_thread.heap;
  if (size > SIZE_MAX / 2) exhausted(size);
  size_t rounded = size ? (size + 63) / 64 * 64 : 64;
  void *block = before(h, size) ? NULL : aligned_alloc(64, rounded);
  if (block) memset(block, 0, rounded);
  return enter(h, block, size);
}

void *ag_heap_grow(void *old, size_t size) {
  if (!old) return enter(heap_thread.heap, before(heap_thread.heap, size) ? NULL : malloc(size ? size : 1), size);
  bool fails = before(heap_thread.heap, size);
  ag_heap *h = lock_owner(old);
  size_t before_size = h ? take(h, old) : 0; /* taking leaves room to add it again */
  void *block = fails ? NULL : realloc(old, size ? size : 1);
  if (h) add(h, block ? block : old, block ? size : before_size);
  if (h) pthread_mutex_unlock(&h->lock);
  if (!block) exhausted(size);
  return block;
}

void ag_heap_free(void *block) {
  if (!block) return;
  ag_heap *h = lock_owner(block);
  if (h) {
    (void)take(h, block);
    pthread_mutex_unlock(&h->lock);
  }
  free(block);
}

/* ---- heaps ---- */

ag_heap *ag_heap_create(ag_heap *under) {
  ag_heap *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  pthread_mutex_init(&h->lock, NULL);
  h->under = under;
  return h;
}

void ag_heap_wipe(ag_heap *h) {
  ag_heap *current = ag_heap_use(NULL);
  while (h->n_held) {
    held last = h->held[--h->n_held];
    last.release(last.what);
  }
  for (size_t i = 0; i < h->room; i++) free(h->blocks[i].block);
  free(h->blocks);
  free(h->held);
  h->blocks = NULL;
  h->held = NULL;
  h->n = h->room = 0;
  atomic_store(&h->used, 0);
  h->cap_held = 0;
  for (ag_heap *x = h; x; x = x->under) x->doing = NULL, x->deadline = 0;
  ag_heap_use(current);
}

void ag_heap_close(ag_heap *h) {
  if (!h) return;
  for (size_t i = 0; KEEP_LEAKS && i < h->room; i++) h->blocks[i].block = NULL;
  ag_heap_wipe(h);
  pthread_mutex_destroy(&h->lock);
  free(h);
}

ag_heap *ag_heap_current(void) { return heap_thread.heap; }

ag_heap *ag_heap_use(ag_heap *h) {
  ag_heap *was = heap_thread.heap;
  heap_thread.heap = h;
  return was;
}

void ag_heap_move(void *block, ag_heap *to) {
  ag_heap *from = block && to ? lock_owner(block) : NULL;
  if (!from) return;
  size_t size = take(from, block);
  pthread_mutex_unlock(&from->lock);
  (void)enter(to, block, size);
}

size_t ag_heap_used(const ag_heap *h) {
  size_t used = 0;
  for (; h; h = h->under) used += atomic_load(&h->used);
  return used;
}

/* ---- what is held ---- */

void ag_heap_hold(void (*release)(void *what), void *what) {
  ag_heap *h = heap_thread.heap;
  if (!h) return;
  pthread_mutex_lock(&h->lock);
  bool good = h->n_held < h->cap_held;
  if (!good) {
    int cap = h->cap_held ? 2 * h->cap_held : 8;
    held *wider = realloc(h->held, sizeof *wider * (size_t)cap);
    good = wider != NULL;
    if (good) h->held = wider, h->cap_held = cap;
  }
  if (good) h->held[h->n_held++] = (held){release, what};
  pthread_mutex_unlock(&h->lock);
  if (good) return;
  release(what);
  exhausted(sizeof(held));
}

void ag_heap_let_go(void (*release)(void *what), void *what) {
  for (ag_heap *h = heap_thread.heap; h; h = h->under) {
    pthread_mutex_lock(&h->lock);
    int i = h->n_held;
    while (--i >= 0 && (h->held[i].release != release || h->held[i].what != what)) {
    }
    if (i >= 0) memmove(h->held + i, h->held + i + 1, sizeof *h->held * (size_t)(--h->n_held - i));
    pthread_mutex_unlock(&h->lock);
    if (i >= 0) return;
  }
}

/* The number of a file in the place of a pointer. */
static void *as_pointer(int fd) {
  union {
    intptr_t number;
    void *pointer;
  } both = {.number = fd};
  return both.pointer;
}

static void close_file(void *what) { close((int)(intptr_t)what); }

void ag_heap_hold_file(int fd) {
  if (fd >= 0) ag_heap_hold(close_file, as_pointer(fd));
}

void ag_heap_let_go_file(int fd) { ag_heap_let_go(close_file, as_pointer(fd)); }

/* ---- guarded calls ---- */

bool ag_heap_try(ag_heap *h, void (*call)(void *self), void *self, char why[AG_HEAP_WHY]) {
  guard g = {.outer = heap_thread.guard, .heap = heap_thread.heap, .why = why};
  if (setjmp(g.env)) return false;
  heap_thread.guard = &g;
  heap_thread.heap = h;
  call(self);
  heap_thread.guard = g.outer;
  heap_thread.heap = g.heap;
  return true;
}

bool ag_heap_guarded(void) { return heap_thread.guard != NULL; }

ag_heap_pause ag_heap_leave_to_host(void) {
  ag_heap_pause was = {heap_thread.heap, heap_thread.guard};
  const ag_heap *bottom = root();
  if (bottom && bottom->program) return was;
  heap_thread.heap = NULL;
  heap_thread.guard = NULL;
  return was;
}

void ag_heap_back_from_host(ag_heap_pause was) {
  heap_thread.heap = was.heap;
  heap_thread.guard = was.guard;
}

void ag_heap_is_program(ag_heap *h) { h->program = true; }

/* ---- limits ---- */

void ag_heap_limit(ag_heap *h, size_t bytes, double seconds) {
  h->limit = bytes;
  h->seconds = seconds;
}

void ag_heap_clock_start(const char *what) {
  ag_heap *h = root();
  if (!h || h->doing) return;
  h->doing = what;
  h->deadline = h->seconds > 0 ? now() + h->seconds : 0;
}

void ag_heap_clock_stop(void) {
  ag_heap *h = root();
  if (!h || !h->doing) return; /* the threads of a batch come here, too: stopped before they were started */
  h->doing = NULL;
  h->deadline = 0;
}

long ag_heap_fail_at(long n) { return atomic_exchange(&heap_fail_in, n); }
