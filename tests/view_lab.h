/* SPDX-License-Identifier: MIT
 * A small table for the tests of view/. */
#ifndef AG_TESTS_VIEW_LAB_H
#define AG_TESTS_VIEW_LAB_H
#include <stdio.h>
#include <unistd.h>

#include "tests/check.h"
#include "view/view.h"

/* Writes a file of that ending in a folder of its own and returns its path, which lasts until the next call. */
static inline const char *lab_file(const char *text) {
  static char path[64];
  snprintf(path, sizeof path, "view_lab_%ld.csv", (long)getpid());
  FILE *f = fopen(path, "w");
  AG_CHECK(f && fputs(text, f) >= 0 && !fclose(f));
  return path;
}

static inline ag_source *lab_source(const char *text) {
  ag_status status;
  ag_text trouble = {0};
  const char *path = lab_file(text);
  ag_source *s = ag_source_file(path, &status, &trouble);
  if (!s) fprintf(stderr, "%s\n", ag_text_cstr(&trouble));
  AG_CHECK(s != NULL);
  ag_text_done(&trouble);
  return s;
}

static const char lab_motion[] = "t,x[1],x[2],\"R[1,1]\",\"R[1,2]\",\"R[1,3]\",\"R[2,1]\",\"R[2,2]\",\"R[2,3]\",\"R[3,"
                                 "1]\",\"R[3,2]\",\"R[3,3]\",x'[1],x'[2],"
                                 "spin,\"a, b\",energy,constraint_residual\n"
                                 "0,1,2,1,0,0,0,1,0,0,0,1,3,4,5,6,7,0\n"
                                 "1,1.5,2.5,1,0,0,0,1,0,0,0,1,3,4,5.5,nan,7,0\n"
                                 "2,2,3,1,0,0,0,1,0,0,0,1,3,4,6,\"text, with\",7.5,0\n";
#endif
