/* SPDX-License-Identifier: MIT
 * A library that every process has is found by its name or by its path; one that is nowhere is reported. */
#include "base/shared.h"

#include <math.h>
#include <string.h>

#include "check.h"

static void cosine_of(void *library) {
  double (*cosine)(double) = NULL;
  AG_CHECK(library && ag_shared_find(library, "cos", &cosine));
  AG_CHECK(cosine && cosine(0) == 1);
  AG_CHECK(!ag_shared_find(library, "no_such_function", &cosine) && !cosine);
}

int main(void) {
  char why[200] = "";
  cosine_of(ag_shared_open("numbers", "libm.so.6", "/nowhere", why, sizeof why));
  AG_CHECK(!why[0]);
  cosine_of(ag_shared_open("numbers", "libnowhere.so.7", "libm.so.6", why, sizeof why));
  AG_CHECK(!ag_shared_open("numbers", "libnowhere.so.7", "/nowhere", why, sizeof why));
  AG_CHECK(strstr(why, "cannot load numbers: libnowhere.so.7: "));
  return ag_check_report();
}
