/* SPDX-License-Identifier: MIT
 * Writes one JSON value piece by piece into a text; inserts commas. Inside an array the key is NULL. */
#ifndef AG_CLI_JSON_H
#define AG_CLI_JSON_H
#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

typedef struct ag_json {
  ag_text text;
  int depth;
  bool some[32];                                        /* per depth: has something been written */
  bool (*put)(void *self, const char *bytes, size_t n); /* receives the text when it is long; or NULL */
  void *self;
  bool failed; /* it could not, or what is to be written could not be read */
} ag_json;
/* Writes one value, all of it. */
typedef void (*ag_json_write)(void *self, ag_json *j);

void ag_json_begin(ag_json *j, const char *key, char bracket); /* '{' or '[' */
void ag_json_end(ag_json *j, char bracket);                    /* '}' or ']' */
void ag_json_string(ag_json *j, const char *key,
                    const char *s);                         /* s NULL: null; bytes that are no UTF-8 become U+FFFD */
void ag_json_number(ag_json *j, const char *key, double v); /* shortest that reads back; null when not finite */
void ag_json_whole(ag_json *j, const char *key, long v);
void ag_json_bool(ag_json *j, const char *key, bool v);
/* A number, an array (cols = 1) or an array of rows. */
void ag_json_tensor(ag_json *j, const char *key, int rows, int cols, const double *values);
/* "diagnostics": [{"severity","message","file","line","column"}] */
void ag_json_diagnostics(ag_json *j, const ag_ctx *ctx);
/* "warnings": [{"severity","message","file","line","column"}]: notes and warnings */
void ag_json_warnings(ag_json *j, const ag_ctx *ctx);
/* Prints the finished value and a newline on standard output and frees it. */
void ag_json_print(ag_json *j);
/* The same of a value of any length, piece by piece; false: the data could not be read. */
bool ag_json_show(ag_json_write write, void *self);
/* Writes a value of any length to a file; prints errors. */
AG_MUST_USE ag_status ag_json_save(const char *path, ag_json_write write, void *self);
#endif
