/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"

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
  ag_text_str(out, ag_output_is_stdout(path) ? "standard output" : path);
  if (bytes < 0) return;
  double size = (double)bytes;
  while (size >= 999.5 && unit < 4) size /= 1000, unit++;
  ag_text_printf(out, " (%.3g %s)", size, units[unit]);
}

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

ag_status ag_output_check(const char *path) {
  ag_target_kind kind;
  ag_text real = {0};
  if (!path || ag_output_is_stdout(path)) return AG_OK;
  const bool good = ag_file_target(path, &kind, &real) && (kind == AG_TARGET_STREAM || ag_file_beside(real.s));
  const int trouble = errno;
  ag_text_done(&real);
  return good ? AG_OK : ag_output_error(path, trouble);
}

bool ag_output_open(ag_output_file *o, const char *path, bool grows) {
  ag_target_kind kind;
  *o = (ag_output_file){.fd = -1};
  if (ag_output_is_stdout(path)) {
    fflush(stdout);
    o->stream = true;
    o->fd = dup(STDOUT_FILENO);
    return o->fd >= 0;
  }
  if (ag_file_target(path, &kind, &o->real)) {
    o->stream = kind == AG_TARGET_STREAM;
    if (o->stream) o->fd = ag_file_open(ag_text_cstr(&o->real), O_WRONLY | O_NOCTTY, 0);
    else if (grows && kind == AG_TARGET_NEW)
      o->fd = ag_file_open(ag_text_cstr(&o->real), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    else o->fd = ag_file_temporary(ag_text_cstr(&o->real), &o->beside);
  }
  if (o->fd >= 0) return true;
  int trouble = errno;
  ag_output_done(o);
  errno = trouble;
  return false;
}

const char *ag_output_place(const ag_output_file *o) { return ag_text_cstr(o->beside.n ? &o->beside : &o->real); }

/* Closes; false with errno when bytes may be missing. */
static bool close_output(ag_output_file *o) {
  bool good = o->stream || ag_file_sync(o->fd);
  int trouble = errno;
  bool closed = ag_file_close(o->fd);
  if (!good) errno = trouble;
  o->fd = -1;
  return good && closed;
}

bool ag_output_finish(ag_output_file *o) {
  return close_output(o) && (!o->beside.n || ag_file_move(o->beside.s, ag_text_cstr(&o->real)));
}

void ag_output_drop(ag_output_file *o) {
  if (o->fd >= 0) (void)ag_file_close(o->fd);
  if (!o->stream) (void)ag_file_remove(ag_output_place(o));
  o->fd = -1;
}

void ag_output_done(ag_output_file *o) {
  if (o->fd >= 0) (void)ag_file_close(o->fd);
  if (o->beside.n) ag_file_settle(o->beside.s);
  ag_text_done(&o->real);
  ag_text_done(&o->beside);
  o->fd = -1;
}

ag_status ag_output_save(const char *path, const ag_text *text) {
  ag_output_file o;
  if (!ag_output_open(&o, path, false)) return ag_output_error(path, errno);
  bool good = ag_file_write(o.fd, ag_text_cstr(text), text->n) == text->n && ag_output_finish(&o);
  int trouble = errno;
  if (!good) ag_output_drop(&o);
  ag_output_done(&o);
  return good ? AG_OK : ag_output_error(path, trouble);
}
