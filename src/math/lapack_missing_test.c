/* SPDX-License-Identifier: MIT
 * Where LAPACK cannot be loaded: it is said, and nothing crashes. */
#define AG_LAPACKE_NAME "libnowhere.so.7"
#define AG_LAPACKE_PATH "/nowhere/libnowhere.so"
#include "math/lapack.c"

#include "check.h"

int main(void) {
  AG_CHECK(!ag_lapack_begin());
  const char *trouble = ag_dense_trouble();
  AG_CHECK(trouble && strstr(trouble, "cannot load LAPACK (Debian: liblapacke): libnowhere.so.7: "));
  return ag_check_report();
}
