/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "study/study_internal.h"
#include "tests/check.h"

static ag_status read_one(ag_grid *s, const char *range, ag_text *error) {
  ag_list list = {1, &range};
  ag_text_clear(error);
  return ag_grid_read(s, &list, NULL, NULL, error);
}

static void check_ranges(void) {
  static const char *const texts[] = {"m=0.5:2:4", "x'[1]=-1:pi/2:2"};
  ag_list list = {2, (const char **)(uintptr_t)texts};
  ag_grid s;
  ag_text error = {0};
  double v[2];
  AG_CHECK(ag_grid_read(&s, &list, NULL, NULL, &error) == AG_OK);
  AG_CHECK(s.n == 8 && s.n_name == 2 && s.n_axis == 2);
  AG_CHECK_STR(s.names[0], "m");
  AG_CHECK_STR(s.names[1], "x'[1]");
  for (long i = 0; i < 8; i++) { /* the last one runs fastest */
    ag_grid_values(&s, i, v);
    AG_CHECK_NEAR(v[0], 0.5 + 0.5 * (double)(i / 2), 1e-15);
    AG_CHECK(v[1] == (i % 2 ? acos(-1) / 2 : -1));
  }
  ag_grid_done(&s);
  AG_CHECK(read_one(&s, "m=3:9:1", &error) == AG_OK && s.n == 1 && s.axes[0].values[0] == 3);
  ag_grid_done(&s);
  AG_CHECK(read_one(&s, "m = 2*k : sqrt(k) : 3", &error) == AG_OK && !s.axes[0].values);
  AG_CHECK_STR(s.names[0], "m");
  AG_CHECK(s.axes[0].size[1] == 9 && !strncmp(s.axes[0].range + s.axes[0].from[1], " sqrt(k) ", 9));
  ag_grid_ends(&s.axes[0], 0.1, 0.7);
  AG_CHECK(s.axes[0].values[0] == 0.1 && s.axes[0].values[2] == 0.7);
  ag_grid_done(&s);
  static const char *const wrong[] = {"m",      "m=",     "m=1",     "m=1:2",    "=1:2:3",    "m=1:2:3:4", "m=:2:3",
                                      "m=1::3", "m=1:2:", "m=1:2:0", "m=1:2:-1", "m=1:2:1.5", "m=1:2:x",   "m=1:2:1e9"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    AG_CHECK(read_one(&s, wrong[i], &error) == AG_WRONG && error.n > 0);
    ag_grid_done(&s);
  }
  static const char *const twice[] = {"m=0:1:2", "m=1:2:2"};
  list = (ag_list){2, (const char **)(uintptr_t)twice};
  ag_text_clear(&error);
  AG_CHECK(ag_grid_read(&s, &list, NULL, NULL, &error) == AG_WRONG);
  AG_CHECK_STR(ag_text_cstr(&error), "`m` is swept twice");
  ag_grid_done(&s);
  static const char *const many[] = {"a=0:1:10000", "b=1:2:10000"};
  list = (ag_list){2, (const char **)(uintptr_t)many};
  AG_CHECK(ag_grid_read(&s, &list, NULL, NULL, &error) == AG_WRONG);
  ag_grid_done(&s);
  ag_text_done(&error);
}

/* Reads a table of that text. */
static ag_status read_table(ag_grid *s, const char *text, ag_text *error) {
  char path[] = "/tmp/ag_grid_XXXXXX";
  int fd = mkstemp(path);
  AG_CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
  ag_list none = {0};
  ag_text_clear(error);
  ag_status status = ag_grid_read(s, &none, path, NULL, error);
  unlink(path);
  return status;
}

static void check_tables(void) {
  ag_grid s;
  ag_text error = {0};
  double v[3];
  AG_CHECK(read_table(&s, "\xef\xbb\xbf\"x[2]\", Omega[3] ,m\r\n1,-2.5e-3,3\r\n\r\n 4 , 5 ,\"6\"\n7,8,9", &error) ==
           AG_OK);
  AG_CHECK(s.n == 3 && s.n_name == 3);
  if (s.n_name == 3) AG_CHECK_STR(s.names[0], "x[2]");
  if (s.n_name == 3) AG_CHECK_STR(s.names[1], "Omega[3]");
  ag_grid_values(&s, 0, v);
  AG_CHECK(v[0] == 1 && v[1] == -2.5e-3 && v[2] == 3);
  ag_grid_values(&s, 1, v);
  AG_CHECK(v[0] == 4 && v[1] == 5 && v[2] == 6);
  ag_grid_values(&s, 2, v);
  AG_CHECK(v[2] == 9);
  ag_grid_done(&s);
  static const char *const wrong[][2] = {{"", "has no rows"},
                                         {"a,b\n", "has no rows"},
                                         {"a,b\n1\n", ":2: 1 value for 2 columns"},
                                         {"a,b\n1,2,3\n", "3 values for 2"},
                                         {"a,,b\n1,2,3\n", "column 2 has no name"},
                                         {"a\nx\n", ":2: a is 'x'"},
                                         {"a\nnan\n", "not a finite number"},
                                         {"a,a\n1,2\n", "swept twice"},
                                         {"a\n1\n\n\n?\n", ":5: "}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    AG_CHECK(read_table(&s, wrong[i][0], &error) == AG_WRONG);
    if (!strstr(ag_text_cstr(&error), wrong[i][1])) AG_CHECK_STR(ag_text_cstr(&error), wrong[i][1]);
    ag_grid_done(&s);
  }
  ag_list none = {0};
  ag_text_clear(&error);
  AG_CHECK(ag_grid_read(&s, &none, "/nowhere/x.csv", NULL, &error) == AG_SYSTEM);
  ag_grid_done(&s);
  ag_text_done(&error);
}

int main(void) {
  check_ranges();
  check_tables();
  return ag_check_report();
}
