/* SPDX-License-Identifier: MIT
 * Heap blocks, and what happens when there is no more memory (docs/design/0005). Everything that allocates in the
 * library allocates here or in an arena, and no allocation returns NULL: the call that the caller of the library made
 * ends instead (ag_heap_try), and the blocks that it allocated are freed as a whole.
 *
 * An ag_heap keeps account of blocks: those allocated while it was the current one of its thread. Without a current
 * heap, as in unit tests, blocks belong to nobody and running out of memory aborts. */
#ifndef AG_BASE_HEAP_H
#define AG_BASE_HEAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- blocks ---- */

void *ag_heap_alloc(size_t size);             /* zeroed */
void *ag_heap_grow(void *block, size_t size); /* realloc; the block stays in its heap */
void *ag_heap_aligned(size_t size);           /* 64-byte aligned, zeroed */
void ag_heap_free(void *block);
/* In the library this is the meaning of free(); tools/symbols.sh checks that no file calls another one. */
#define free(block) ag_heap_free(block)

/* Makes room for one more element of a growing heap array: (items, n, cap) with cap doubled as needed. */
#define AG_PUSH(items, n, cap) \
  ((n) < (cap) ? (void)0 \
               : (void)((items) = ag_heap_grow((items), sizeof *(items) * (size_t)((cap) ? 2 * (cap) : 16)), \
                        (cap) = (cap) ? 2 * (cap) : 16))

/* ---- heaps ---- */

typedef struct ag_heap ag_heap;

/* Creates a heap under a parent (or NULL) whose blocks its calls also use: both count against the parent's limits.
 * NULL: there is no memory for it. */
ag_heap *ag_heap_create(ag_heap *under);
/* Frees a heap whose blocks have been freed. Leftover blocks are freed too; under the address sanitizer
 * they are not, so that it reports them. */
void ag_heap_close(ag_heap *h);
/* Releases what is held, frees all blocks. The heap can be used again. */
void ag_heap_wipe(ag_heap *h);
/* The current heap of the thread, or NULL; ag_heap_use makes another one current and returns the one before. */
ag_heap *ag_heap_current(void);
ag_heap *ag_heap_use(ag_heap *h);
/* Moves a block of the current heap to another one; NULL blocks and NULL heaps are ignored. */
void ag_heap_move(void *block, ag_heap *to);
size_t ag_heap_used(const ag_heap *h); /* bytes, with those of the heap it is under */

/* What is not memory and must not be lost with it (an open file, a folder to be removed): release(what) is called when
 * the heap is wiped, the last one first, unless ag_heap_let_go has been called before. */
void ag_heap_hold(void (*release)(void *what), void *what);
void ag_heap_let_go(void (*release)(void *what), void *what);
void ag_heap_hold_file(int fd); /* closed by release; negative: nothing is held */
void ag_heap_let_go_file(int fd);

/* ---- running out ---- */

enum { AG_HEAP_WHY = 256 };
/* Calls call(self) with h as the current heap. False when memory ran out or a limit was exceeded on the way: `why` then
 * says so (one sentence without a full stop), and the call was abandoned at that point. The caller wipes the heap, and
 * whatever else the call may have left half done. No function of another library may be on the stack in between. */
bool ag_heap_try(ag_heap *h, void (*call)(void *self), void *self, char why[AG_HEAP_WHY]);
bool ag_heap_guarded(void); /* is the thread inside ag_heap_try? */
/* Ends the call as if memory had run out there, with this reason. */
_Noreturn void ag_heap_fail(const char *why);

/* Code of the host program, called from inside a guarded call, runs unguarded: it may use the library itself, and is
 * never left by a jump. The program `anagyre` is its own host. */
typedef struct ag_heap_pause {
  ag_heap *heap;
  void *guard;
} ag_heap_pause;
ag_heap_pause ag_heap_leave_to_host(void);
void ag_heap_back_from_host(ag_heap_pause before);
void ag_heap_is_program(ag_heap *h);

/* ---- limits ---- */

/* Bytes that the blocks of h, and of heaps under it, may take; seconds of processor time of the thread from
 * ag_heap_clock_start to ag_heap_clock_stop. 0: no limit. */
void ag_heap_limit(ag_heap *h, size_t bytes, double seconds);
/* Starts the clock of the current heap, unless it is running. `what` is being done meanwhile ("deriving the
 * equations"), for messages. */
void ag_heap_clock_start(const char *what);
void ag_heap_clock_stop(void);
/* Checks the clock. Allocation does so regularly; long loops that do not allocate call it themselves. */
void ag_heap_tick(void);

/* For tests: the n-th allocation from now on fails, in any thread, and all later ones work; 0: none. Returns how many
 * allocations were still to come before the one that was to fail. */
long ag_heap_fail_at(long n);
#endif
