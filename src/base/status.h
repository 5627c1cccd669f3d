/* SPDX-License-Identifier: MIT
 * Error handling. (1) Wrong input: a function returns a status and adds a diagnostic with its position to the ag_ctx.
 * (2) Numerical failures are data: the end reasons of run/. (3) Programming errors: AG_ASSERT aborts. Library code
 * never prints: cli/ prints the diagnostics and turns the status into the exit code. */
#ifndef AG_BASE_STATUS_H
#define AG_BASE_STATUS_H
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

/* The value of a status is the exit code of the program. */
typedef enum ag_status {
  AG_OK = 0,
  AG_FAILED = 1, /* the computation failed, or an expectation does not hold */
  AG_WRONG = 2,  /* wrong usage or wrong model */
  AG_SYSTEM = 3  /* file or system error */
} ag_status;

#define AG_MUST_USE __attribute__((warn_unused_result))
#define AG_TRY(call) \
  do { \
    ag_status status_ = (call); \
    if (status_ != AG_OK) return status_; \
  } while (0)
#define AG_ASSERT(condition) \
  ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: internal error: %s\n", __FILE__, __LINE__, #condition), abort()))

/* A position in a source text: line and column from 1, length in bytes; line 0: no position. */
typedef struct ag_pos {
  int line, col, len;
} ag_pos;

typedef enum ag_severity { AG_NOTE, AG_WARNING, AG_ERROR } ag_severity;

typedef struct ag_diag {
  ag_severity severity;
  ag_pos pos;
  char *message;          /* one sentence without a full stop */
  char *file, *line_text; /* copies made when it was reported; line_text may be NULL */
} ag_diag;

typedef struct ag_ctx {
  ag_diag *diags;
  int n_diag, cap, n_error;
  const char *file; /* name and text of the source being read, for positions */
  const char *source;
} ag_ctx;

void ag_ctx_done(ag_ctx *ctx);
/* Adds a diagnostic; errors beyond 50 are counted but not kept, and others beyond 50 are not kept. */
void ag_ctx_report(ag_ctx *ctx, ag_severity severity, ag_pos pos, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define ag_ctx_error(ctx, pos, ...) ag_ctx_report((ctx), AG_ERROR, (pos), __VA_ARGS__)
#define ag_ctx_note(ctx, pos, ...) ag_ctx_report((ctx), AG_NOTE, (pos), __VA_ARGS__)
#define ag_ctx_warn(ctx, pos, ...) ag_ctx_report((ctx), AG_WARNING, (pos), __VA_ARGS__)
/* All diagnostics as "file:line:col: error: message", each with its source line and a caret. */
void ag_ctx_render(const ag_ctx *ctx, ag_text *out);
/* The same of those that are at least this severe. */
void ag_ctx_render_from(const ag_ctx *ctx, ag_severity least, ag_text *out);

/* The candidate most similar to `name`, or NULL if none is similar (edit distance at most about a third of the length):
 * for "did you mean". */
const char *ag_nearest(const char *name, int n, const char *const *candidates);
#endif
