/* SPDX-License-Identifier: MIT
 * FLINT, loaded when it is first needed: by its name, else where it was when Anagyre was built. */
#include "exact/flint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/shared.h"

ag_flint *ag_flint_open(char why[AG_FLINT_WHY]) {
  void *library = ag_shared_open("FLINT (Debian 12: libflint-arb2)", AG_ARB_NAME, AG_ARB_PATH, why, AG_FLINT_WHY);
  if (!library) return NULL;
  ag_flint *f = ag_heap_alloc(sizeof *f);
  bool found = true;
#define AG_FLINT(function) found = found && ag_shared_find(library, #function, &f->function);
#include "exact/flint.def"
  if (found) return f;
  free(f);
  snprintf(why, AG_FLINT_WHY, "%s lacks functions of FLINT", AG_ARB_NAME);
  return NULL;
}

void ag_flint_close(ag_flint *f) {
  if (!f) return;
  f->flint_cleanup();
  free(f);
}
