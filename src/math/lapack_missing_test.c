/* SPDX-License-Identifier: MIT
 * Where LAPACK cannot be loaded: a guarded call ends with the reason, and nothing crashes. */
#define AG_LAPACKE_NAME "libnowhere.so.7"
#define AG_LAPACKE_PATH "/nowhere/libnowhere.so"
#include "math/lapack.c"

#include "check.h"

static void begin(void *self) { *(bool *)self = !ag_lapack_begin(); }

int main(void) {
  bool returned = false;
  char why[AG_HEAP_WHY];
  AG_CHECK(!ag_lapack_begin());
  ag_heap *heap = ag_heap_create(NULL);
  AG_CHECK(!ag_heap_try(heap, begin, &returned, why) && !returned);
  AG_CHECK(strstr(why, "cannot load LAPACK (Debian: liblapacke): libnowhere.so.7: "));
  ag_heap_close(heap);
  return ag_check_report();
}
