/* SPDX-License-Identifier: MIT
 * Where FLINT cannot be loaded: it is said, and nothing crashes. */
#define AG_ARB_NAME "libnowhere.so.7"
#define AG_ARB_PATH "/nowhere/libnowhere.so"
#include "exact/flint.c"

#include <string.h>

#include "check.h"

int main(void) {
  char why[AG_FLINT_WHY];
  AG_CHECK(!ag_flint_open(why));
  AG_CHECK(strstr(why, "cannot load FLINT (Debian 12: libflint-arb2): libnowhere.so.7: "));
  return ag_check_report();
}
