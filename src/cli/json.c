/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

#include <errno.h>

#include "base/file.h"
#include "cli/output.h"

enum { ENOUGH = 1 << 16 }; /* bytes that trigger a write */

static void flush(ag_json *j) {
  if (!j->failed && !j->put(j->self, ag_text_cstr(&j->text), j->text.n)) j->failed = true;
  ag_text_clear(&j->text);
}

static void next(ag_json *j, const char *key) {
  if (j->put && j->text.n >= ENOUGH) flush(j);
  if (j->some[j->depth]) ag_text_char(&j->text, ',');
  j->some[j->depth] = true;
  if (!key) return;
  ag_text_json_str(&j->text, key);
  ag_text_char(&j->text, ':');
}

void ag_json_begin(ag_json *j, const char *key, char bracket) {
  next(j, key);
  ag_text_char(&j->text, bracket);
  AG_ASSERT(j->depth + 1 < (int)(sizeof j->some / sizeof j->some[0]));
  j->some[++j->depth] = false;
}

void ag_json_end(ag_json *j, char bracket) {
  AG_ASSERT(j->depth > 0);
  j->depth--;
  ag_text_char(&j->text, bracket);
}

void ag_json_string(ag_json *j, const char *key, const char *s) {
  next(j, key);
  if (s) ag_text_json_str(&j->text, s);
  else ag_text_str(&j->text, "null");
}

void ag_json_number(ag_json *j, const char *key, double v) {
  next(j, key);
  ag_text_json_number(&j->text, v);
}

void ag_json_whole(ag_json *j, const char *key, long v) {
  next(j, key);
  ag_text_printf(&j->text, "%ld", v);
}

void ag_json_bool(ag_json *j, const char *key, bool v) {
  next(j, key);
  ag_text_str(&j->text, v ? "true" : "false");
}

void ag_json_tensor(ag_json *j, const char *key, int rows, int cols, const double *values) {
  if (rows == 1 && cols == 1) {
    ag_json_number(j, key, values[0]);
    return;
  }
  ag_json_begin(j, key, '[');
  for (int r = 0; r < rows; r++) {
    if (cols == 1) {
      ag_json_number(j, NULL, values[r]);
      continue;
    }
    ag_json_begin(j, NULL, '[');
    for (int c = 0; c < cols; c++) ag_json_number(j, NULL, values[r * cols + c]);
    ag_json_end(j, ']');
  }
  ag_json_end(j, ']');
}

static void diagnostic(ag_json *j, const char *severity, const ag_diag *d) {
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "severity", severity);
  ag_json_string(j, "message", d->message);
  if (d->file) ag_json_string(j, "file", d->file);
  if (d->pos.line > 0) {
    ag_json_whole(j, "line", d->pos.line);
    ag_json_whole(j, "column", d->pos.col);
  }
  ag_json_end(j, '}');
}

static const char *const word[] = {"note", "warning", "error"};

void ag_json_diagnostics(ag_json *j, const ag_ctx *ctx) {
  ag_json_begin(j, "diagnostics", '[');
  for (int i = 0; i < ctx->n_diag; i++) diagnostic(j, word[ctx->diags[i].severity], &ctx->diags[i]);
  ag_json_end(j, ']');
}

void ag_json_warnings(ag_json *j, const ag_ctx *ctx) {
  ag_json_begin(j, "warnings", '[');
  for (int i = 0; i < ctx->n_diag; i++)
    if (ctx->diags[i].severity != AG_ERROR) diagnostic(j, word[ctx->diags[i].severity], &ctx->diags[i]);
  ag_json_end(j, ']');
}

static bool put_stdout(void *self, const char *bytes, size_t n) {
  (void)self;
  return fwrite(bytes, 1, n, stdout) == n || errno == EPIPE; /* the reader closed the pipe */
}

static bool put_file(void *self, const char *bytes, size_t n) {
  return ag_file_write(((ag_output_file *)self)->fd, bytes, n) == n;
}

/* Ends the value with a newline; true if all of it was taken. */
static bool finish(ag_json *j) {
  AG_ASSERT(j->depth == 0);
  ag_text_char(&j->text, '\n');
  flush(j);
  ag_text_done(&j->text);
  return !j->failed;
}

void ag_json_print(ag_json *j) {
  j->put = put_stdout;
  (void)finish(j); /* standard output is checked before the program ends */
}

bool ag_json_show(ag_json_write write, void *self) {
  ag_json j = {.put = put_stdout};
  write(self, &j);
  return finish(&j) || ferror(stdout);
}

ag_status ag_json_save(const char *path, ag_json_write write, void *self) {
  ag_output_file o;
  if (!ag_output_open(&o, path, false)) return ag_output_error(path, errno);
  ag_json j = {.put = put_file, .self = &o};
  errno = 0;
  write(self, &j);
  bool good = finish(&j) && ag_output_finish(&o);
  int trouble = errno ? errno : EIO;
  if (!good) ag_output_drop(&o);
  ag_output_done(&o);
  return good ? AG_OK : ag_output_error(path, trouble);
}
