/* SPDX-License-Identifier: MIT */
#include "math/lapack.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/shared.h"
#include "math/dense.h"

/* Address space that OpenBLAS takes, in MB: for itself, and for each thread and each call under way. If it does not
 * get that, it hangs or raises SIGINT, so it must not be called then. */
enum { LIBRARY_SPACE = 64, CALL_SPACE = 144, MB = 1 << 20 };

/* The only variable of the library that is written to: what is loaded is loaded once for the whole process. */
static struct {
  pthread_mutex_t lock; /* of everything here */
  bool tried, ready;
  ag_lapack functions;
  int (*get_threads)(void); /* of OpenBLAS; NULL in other BLAS */
  void (*set_threads)(int n);
  int n_call, saved_threads; /* calls under way; threads before the first of them */
  bool limited;              /* the address space is (ulimit -v): one call at a time, the owner of `turn` */
  pthread_mutex_t turn;
  int n_buffer;  /* calls at a time that there has been space for */
  char why[256]; /* it is not ready */
} lapack_library = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_MUTEX_INITIALIZER};

/* Is there this much address space? Only the limit set by ulimit -v counts. */
static bool has_space(size_t size) {
  void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p != MAP_FAILED && munmap(p, size) == 0;
}

/* For the library as it starts: each thread needs the space of a call, and all but the first a stack. */
static size_t start_space(void) {
  const char *given = getenv("OPENBLAS_NUM_THREADS");
  long n = given ? atol(given) : sysconf(_SC_NPROCESSORS_ONLN);
  struct rlimit stack;
  size_t more = n > 1 ? (size_t)n - 1 : 0, each = (size_t)CALL_SPACE * MB;
  size_t space = (size_t)LIBRARY_SPACE * MB + (more + 1) * each;
  if (!getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur != RLIM_INFINITY) space += more * stack.rlim_cur;
  return space;
}

static void load(void) {
  size_t space = start_space();
  struct rlimit limit;
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && !has_space(space)) {
    snprintf(lapack_library.why, sizeof lapack_library.why,
             "LAPACK needs %zu MB of address space, and the limit of this process (ulimit -v) leaves less", space / MB);
    return; /* not tried: there may be space later */
  }
  lapack_library.tried = true;
  lapack_library.limited = !getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY;
  void *handle = ag_shared_open("LAPACK (Debian: liblapacke)", AG_LAPACKE_NAME, AG_LAPACKE_PATH, lapack_library.why,
                                sizeof lapack_library.why);
  if (!handle) return;
  bool found = true;
#define X(name) found = found && ag_shared_find(handle, "LAPACKE_" #name, &lapack_library.functions.name);
  AG_LAPACK_FUNCTIONS(X)
#undef X
  lapack_library.ready = found;
  if (!found) snprintf(lapack_library.why, sizeof lapack_library.why, "%s lacks functions of LAPACK", AG_LAPACKE_NAME);
  if (!ag_shared_find(handle, "openblas_get_num_threads", &lapack_library.get_threads) ||
      !ag_shared_find(handle, "openblas_set_num_threads", &lapack_library.set_threads))
    lapack_library.set_threads = NULL;
}

const ag_lapack *ag_lapack_begin(void) {
  char why[sizeof lapack_library.why];
  pthread_mutex_lock(&lapack_library.lock);
  if (!lapack_library.tried) load();
  bool ready = lapack_library.ready, limited = ready && lapack_library.limited, space = true;
  memcpy(why, lapack_library.why, sizeof why);
  if (limited) { /* OpenBLAS hangs waiting for a buffer that a second call would need */
    pthread_mutex_unlock(&lapack_library.lock);
    pthread_mutex_lock(&lapack_library.turn);
    pthread_mutex_lock(&lapack_library.lock);
  }
  bool first = ready && lapack_library.n_call == lapack_library.n_buffer;
  if (first) { /* and if it is limited, the buffer is taken at once: other threads may use up the space later */
    space = has_space((size_t)CALL_SPACE * MB);
    lapack_library.n_buffer += space;
  }
  if (ready && space && lapack_library.n_call++ == 0 && lapack_library.set_threads) {
    lapack_library.saved_threads = lapack_library.get_threads();
    if (lapack_library.saved_threads != 1) lapack_library.set_threads(1);
  }
  if (limited && first && space) (void)lapack_library.functions.dpotrf(LAPACK_COL_MAJOR, 'U', 1, &(double){1}, 1);
  pthread_mutex_unlock(&lapack_library.lock);
  if (!space && limited) pthread_mutex_unlock(&lapack_library.turn);
  if (!ready && ag_heap_guarded()) ag_heap_fail(why);
  if (!space) ag_heap_fail("out of memory: LAPACK needs 144 MB of address space for a call");
  return ready ? &lapack_library.functions : NULL;
}

int ag_lapack_end(int info) {
  pthread_mutex_lock(&lapack_library.lock);
  if (--lapack_library.n_call == 0 && lapack_library.set_threads && lapack_library.saved_threads != 1)
    lapack_library.set_threads(lapack_library.saved_threads);
  bool limited = lapack_library.limited;
  pthread_mutex_unlock(&lapack_library.lock);
  if (limited) pthread_mutex_unlock(&lapack_library.turn);
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
    ag_heap_fail("out of memory in LAPACK");
  return info;
}
