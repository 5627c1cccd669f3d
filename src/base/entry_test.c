/* SPDX-License-Identifier: MIT */
#include "base/entry.h"

#include "check.h"

/* Shapes and what is looked for in them: the entry, -1 for the whole, -2 for nothing. */
static void check_entries(void) {
  static const struct {
    const char *name;
    int rows, cols;
    const char *wanted;
    int entry;
  } cases[] = {
      {"x", 1, 1, "x", -1},         {"x", 1, 1, "x[1]", -2},    {"x", 3, 1, "x[3]", 2},   {"x", 3, 1, "x[4]", -2},
      {"x", 3, 1, "x[0]", -2},      {"x", 3, 1, "x[ 1]", -2},   {"x", 3, 1, "x[1", -2},   {"x", 3, 1, "x[1]'", -2},
      {"x", 3, 1, "xx[1]", -2},     {"A", 2, 3, "A[2,1]", 3},   {"A", 2, 3, "A[2]", -2},  {"A", 2, 3, "A[3,1]", -2},
      {"x[2]", 3, 1, "x[2][1]", 0}, {"x[2]", 3, 1, "x[2]", -1}, {"A", 2, 3, "A[1,3]", 2}, {"A", 1, 2, "A[1,2]", 1},
      {"x[2]", 3, 1, "x[21]", -2},  {"x", 3, 1, "x[+1]", -2},   {"x", 3, 1, "x[01]", -2}, {"x", 3, 1, "", -2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    AG_CHECK(ag_entry_find(cases[i].name, cases[i].rows, cases[i].cols, cases[i].wanted) == cases[i].entry);
}

/* Every entry of a shape is found by the name that is written. */
static void check_back(int rows, int cols) {
  for (int k = 0; k < rows * cols; k++) {
    ag_text name = {0};
    ag_entry_name("x[4]", rows, cols, k, &name);
    AG_CHECK(ag_entry_find("x[4]", rows, cols, ag_text_cstr(&name)) == (rows * cols == 1 ? -1 : k));
    ag_text_done(&name);
  }
}

static void check_parts(void) {
  ag_arena *a = ag_arena_create();
  AG_CHECK_STR(ag_entry_of(a, "x", 1), "x[2]");
  AG_CHECK_STR(ag_entry_of(a, "x[3]", 0), "x[3][1]");
  AG_CHECK_STR(ag_entry_of_matrix(a, "A", 0, 11), "A[1,12]");
  ag_arena_free(a);
}

int main(void) {
  check_entries();
  check_back(1, 1), check_back(12, 1), check_back(3, 4), check_back(1, 3);
  check_parts();
  return ag_check_report();
}
