/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool ag_output_is_stdout(const char *path) { return path && !strcmp(path, "-"); }

FILE *ag_output_summary(const char *path) { return ag_output_is_stdout(path) ? stderr : stdout; }

long ag_output_bytes(const char *path) {
  struct stat s;
  return ag_output_is_stdout(path) || stat(path, &s) ? -1 : (long)s.st_size;
}

void ag_output_size(const char *path, ag_text *out) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  long bytes = ag_output_bytes(path);
  int unit = 0;
  ag_text_str(out, path);
  if (bytes < 0) return;
  double size = (double)bytes;
  while (size >= 999.5 && unit < 4) size /= 1000, unit++;
  ag_text_printf(out, " (%.3g %s)", size, units[unit]);
}

#include "base/escape.h"

ag_format ag_output_format(const char *path) {
  static const char *const ends[] = {".h5", ".csv", ".json"};
  size_t n = path ? strlen(path) : 0;
  if (ag_output_is_stdout(path)) return AG_FORMAT_CSV;
  for (int i = 0; i < 3; i++)
    if (n > strlen(ends[i]) && !strcmp(path + n - strlen(ends[i]), ends[i])) return (ag_format)(AG_FORMAT_H5 + i);
  return path ? AG_FORMAT_UNKNOWN : AG_FORMAT_NONE;
}

void ag_output_tell(const char *format, ...) {
  va_list list;
  ag_text clean = {0};
  char message[4096];
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  ag_escape_plain(&clean, message);
  ag_text_char(&clean, '\n');
  fputs(ag_text_cstr(&clean), stderr);
  ag_text_done(&clean);
}

ag_status ag_output_error(const char *path, int error) {
  ag_output_tell("error: cannot write %s: %s", path, strerror(error));
  return AG_SYSTEM;
}

ag_status ag_output_save(const char *path, const ag_text *text) {
  bool shared = ag_output_is_stdout(path);
  FILE *f = shared ? stdout : fopen(path, "w");
  int error = f ? 0 : errno;
  if (f && fwrite(ag_text_cstr(text), 1, text->n, f) != text->n) error = errno;
  if (f && (shared ? fflush(f) : fclose(f)) && !error) error = errno;
  return error ? ag_output_error(path, error) : AG_OK;
}
