/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes are a table of starts (.csv). It is read into rows of finite numbers, one per column, or
 * refused with a message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/study_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[] = "/tmp/starts_fuzz_XXXXXX";
  int file = mkstemp(path);
  if (file < 0) return 0;
  bool written = write(file, data, size) == (ssize_t)size;
  close(file);
  ag_grid grid;
  ag_list none = {0};
  ag_text error = {0};
  ag_status status = written ? ag_grid_read(&grid, &none, path, NULL, &error) : AG_SYSTEM;
  unlink(path);
  if (!written) return 0;
  AG_ASSERT((status == AG_OK) == (error.n == 0));
  if (status == AG_OK) {
    double *values = calloc((size_t)grid.n_name + 1, sizeof *values);
    AG_ASSERT(grid.n >= 1 && grid.n_name >= 1);
    for (long i = 0; values && i < grid.n; i++) {
      ag_grid_values(&grid, i, values);
      for (int k = 0; k < grid.n_name; k++) AG_ASSERT(isfinite(values[k]));
    }
    for (int k = 0; k < grid.n_name; k++) AG_ASSERT(*grid.names[k]);
    free(values);
  }
  ag_grid_done(&grid);
  ag_text_done(&error);
  return 0;
}
