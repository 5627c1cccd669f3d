/* SPDX-License-Identifier: MIT
 * Messages, and output files: their format by the end of their name, writing one at once or piece by piece. */
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
/* "stone.h5 (12.3 kB)"; nothing more than the name when its size is not known; "standard output". */
void ag_output_size(const char *path, ag_text *out);
/* Its size in bytes, -1 when it is not known. */
long ag_output_bytes(const char *path);
/* Prints "cannot write" with the reason, an errno. Returns AG_SYSTEM. */
ag_status ag_output_error(const char *path, int error);
/* Before a long computation: can its result be written there? Prints errors; NULL, standard output, pipes and devices
 * are good. */
AG_MUST_USE ag_status ag_output_check(const char *path);
/* Writes the text to a file; prints errors. */
AG_MUST_USE ag_status ag_output_save(const char *path, const ag_text *text);

/* ---- files written piece by piece ---- */

/* A file is written beside its target and renamed when it is whole; pipes and devices are written as they are. */
typedef struct ag_output_file {
  ag_text real;   /* the target, symbolic links followed */
  ag_text beside; /* empty: written in place */
  int fd;
  bool stream; /* a pipe or a device */
} ag_output_file;
/* grows: a file that does not exist yet is written in place, so that it can be watched. False with errno. */
AG_MUST_USE bool ag_output_open(ag_output_file *o, const char *path, bool grows);
/* Forces the file to disk and puts it in place. False with errno: it could not; the target is as before, and what was
 * written is at ag_output_place(). */
AG_MUST_USE bool ag_output_finish(ag_output_file *o);
/* Where the bytes are. Valid until ag_output_done. */
const char *ag_output_place(const ag_output_file *o);
/* Closes and removes what was written; the target is as before. */
void ag_output_drop(ag_output_file *o);
void ag_output_done(ag_output_file *o); /* after either of them; leaves files as they are */
#endif
