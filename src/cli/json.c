/* SPDX-License-Identifier: MIT */
#include "cli/json.h"

static void next(ag_json *j, const char *key) {
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

void ag_json_print(ag_json *j) {
  AG_ASSERT(j->depth == 0);
  ag_text_char(&j->text, '\n');
  fwrite(j->text.s, 1, j->text.n, stdout);
  ag_text_done(&j->text);
}
