/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

ag_format ag_output_format(const char *path) {
  static const char *const ends[] = {".h5", ".csv", ".json"};
  size_t n = path ? strlen(path) : 0;
  for (int i = 0; i < 3; i++)
    if (n > strlen(ends[i]) && !strcmp(path + n - strlen(ends[i]), ends[i])) return (ag_format)(AG_FORMAT_H5 + i);
  return path ? AG_FORMAT_UNKNOWN : AG_FORMAT_NONE;
}

ag_status ag_output_error(const char *path, int error) {
  fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(error));
  return AG_SYSTEM;
}

ag_status ag_output_save(const char *path, const ag_text *text) {
  FILE *f = fopen(path, "w");
  int error = f ? 0 : errno;
  if (f && fwrite(ag_text_cstr(text), 1, text->n, f) != text->n) error = errno;
  if (f && fclose(f) && !error) error = errno;
  return error ? ag_output_error(path, error) : AG_OK;
}
