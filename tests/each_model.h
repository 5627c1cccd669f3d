/* SPDX-License-Identifier: MIT
 * Tests that look at every model of a folder. */
#ifndef AG_TESTS_EACH_MODEL_H
#define AG_TESTS_EACH_MODEL_H
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "api/api.h"
#include "tests/check.h"

/* The sum of what `check` returns for each of them. */
static inline int each_model(const char *folder, int (*check)(ag_system *sys)) {
  struct dirent **names;
  int n = scandir(folder, &names, NULL, alphasort), sum = 0;
  AG_CHECK(n > 0);
  for (int k = 0; k < n; k++) {
    size_t length = strlen(names[k]->d_name);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[k]->d_name);
    free(names[k]);
    if (length <= 3 || strcmp(path + strlen(path) - 3, ".nh") != 0) continue;
    int failed = ag_checks_failed;
    anagyre_model *m = anagyre_open(path);
    ag_system *sys = m ? ag_api_system(m, &(ag_derive_options){0}) : NULL;
    AG_CHECK(sys != NULL);
    if (sys) sum += check(sys);
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", path);
    anagyre_close(m);
  }
  if (n > 0) free(names);
  return sum;
}
#endif
