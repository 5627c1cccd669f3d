/* SPDX-License-Identifier: MIT
 * Messages, and output files: their format by the end of their name, and writing one at once. */
#ifndef AG_CLI_OUTPUT_H
#define AG_CLI_OUTPUT_H
#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"

/* One line on standard error. Control characters are escaped: paths and texts may come from the files of others. */
void ag_output_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef enum ag_format { AG_FORMAT_NONE, AG_FORMAT_H5, AG_FORMAT_CSV, AG_FORMAT_JSON, AG_FORMAT_UNKNOWN } ag_format;
ag_format ag_output_format(const char *path); /* NONE: path is NULL; "-" is CSV on standard output */
bool ag_output_is_stdout(const char *path);
/* Where a summary is printed: on standard error where standard output takes the file. */
FILE *ag_output_summary(const char *path);
/* "stone.h5 (12.3 kB)"; nothing more than the name when its size is not known. */
void ag_output_size(const char *path, ag_text *out);
/* Its size in bytes, -1 when it is not known. */
long ag_output_bytes(const char *path);
/* Prints "cannot write" with the reason, an errno. Returns AG_SYSTEM. */
ag_status ag_output_error(const char *path, int error);
/* Writes the text to a file; prints what is wrong. */
AG_MUST_USE ag_status ag_output_save(const char *path, const ag_text *text);
#endif
