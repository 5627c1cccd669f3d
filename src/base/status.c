/* SPDX-License-Identifier: MIT */
#include "base/status.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/escape.h"

enum { MAX_KEPT = 50, MAX_LINE = 200 };

static char *copy(const char *s, size_t n) {
  char *p = ag_heap_alloc(n + 1);
  memcpy(p, s, n);
  return p;
}

/* A copy of line `line` (from 1) of a source, NULL if there is none. */
static char *line_of(const char *source, int line) {
  if (!source || line < 1) return NULL;
  for (int i = 1; i < line; i++) {
    source = strchr(source, '\n');
    if (!source) return NULL;
    source++;
  }
  return copy(source, strcspn(source, "\r\n"));
}

void ag_ctx_done(ag_ctx *ctx) {
  for (int i = 0; i < ctx->n_diag; i++) {
    free(ctx->diags[i].message);
    free(ctx->diags[i].file);
    free(ctx->diags[i].line_text);
  }
  free(ctx->diags);
  *ctx = (ag_ctx){0};
}

void ag_ctx_report(ag_ctx *ctx, ag_severity severity, ag_pos pos, const char *format, ...) {
  if (severity == AG_ERROR) ctx->n_error++;
  const int n_error = ctx->n_error < MAX_KEPT ? ctx->n_error : MAX_KEPT; /* kept apart: warnings do not hide them */
  if (severity == AG_ERROR ? ctx->n_error > MAX_KEPT : ctx->n_diag - n_error >= MAX_KEPT) return;
  ag_text text = {0};
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  ag_escape_plain(&text, line);
  AG_PUSH(ctx->diags, ctx->n_diag, ctx->cap);
  ctx->diags[ctx->n_diag++] = (ag_diag){severity, pos, text.s, ctx->file ? copy(ctx->file, strlen(ctx->file)) : NULL,
                                        line_of(ctx->source, pos.line)};
}

/* The source line, cut to a window around the position if it is long, and the caret. */
static void render_line(const ag_diag *d, ag_text *out) {
  size_t n = strlen(d->line_text), col = d->pos.col > 0 ? (size_t)d->pos.col - 1 : 0, from = 0;
  if (col > n) col = n;
  if (col > MAX_LINE / 2) from = col - MAX_LINE / 2;
  while (from < col && ((unsigned char)d->line_text[from] & 0xc0) == 0x80) from++;
  size_t shown = n - from < MAX_LINE ? n - from : MAX_LINE;
  ag_text_str(out, "  ");
  size_t width = 0; /* characters before the position */
  for (size_t i = from, length; i < from + shown; i += length) {
    const char *c = d->line_text + i;
    length = ag_utf8_length(c, from + shown - i);
    if (!length || ag_utf8_controls(c, length)) ag_text_char(out, *c == '\t' ? ' ' : '?');
    else ag_text_strn(out, c, length);
    length = length ? length : 1;
    width += i < col;
  }
  ag_text_str(out, "\n  ");
  for (size_t i = 0; i < width; i++) ag_text_char(out, ' ');
  ag_text_char(out, '^');
  for (int i = 1; i < d->pos.len && col + (size_t)i < from + shown; i++) ag_text_char(out, '~');
  ag_text_char(out, '\n');
}

void ag_ctx_render_from(const ag_ctx *ctx, ag_severity least, ag_text *out) {
  static const char *const word[] = {"note", "warning", "error"};
  for (int i = 0; i < ctx->n_diag; i++) {
    const ag_diag *d = &ctx->diags[i];
    if (d->severity < least) continue;
    if (d->file) ag_escape_plain(out, d->file), ag_text_char(out, ':');
    if (d->pos.line > 0) ag_text_printf(out, "%d:%d:", d->pos.line, d->pos.col);
    ag_text_printf(out, "%s%s: %s\n", d->file || d->pos.line > 0 ? " " : "", word[d->severity], d->message);
    if (d->line_text) render_line(d, out);
  }
  int kept = 0;
  for (int i = 0; i < ctx->n_diag; i++) kept += ctx->diags[i].severity == AG_ERROR;
  if (ctx->n_error > kept) ag_text_printf(out, "... and %d more errors\n", ctx->n_error - kept);
}

void ag_ctx_render(const ag_ctx *ctx, ag_text *out) { ag_ctx_render_from(ctx, AG_NOTE, out); }

/* Edit distance, where a swap of neighbouring letters counts once; names longer than 63 bytes are never similar. */
static int distance(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b), row[3][65];
  if (n > 63 || m > 63) return 1000;
  for (int j = 0; j <= m; j++) row[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *cur = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
    cur[0] = i;
    for (int j = 1; j <= m; j++) {
      int d = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < d) d = last[j] + 1;
      if (cur[j - 1] + 1 < d) d = cur[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < d)
        d = before[j - 2] + 1;
      cur[j] = d;
    }
  }
  return row[n % 3][m];
}

const char *ag_nearest(const char *name, int n, const char *const *candidates) {
  const char *best = NULL;
  int n_name = (int)strlen(name), limit = n_name < 4 ? 1 : n_name / 3 + 1, best_distance = limit + 1;
  for (int i = 0; i < n; i++) {
    int d = distance(name, candidates[i]);
    if (d < best_distance && d < (int)strlen(name)) best = candidates[i], best_distance = d;
  }
  return best;
}
