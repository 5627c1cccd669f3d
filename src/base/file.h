/* SPDX-License-Identifier: MIT
 * Files: every file that the project opens, writes, renames or removes passes through here (HDF5 has its own code for
 * the bytes of a result file). Calls that a signal interrupted are repeated. Functions that return bool leave the
 * reason in errno. Nothing here prints. docs/design/0019-files.md has the rules. */
#ifndef AG_BASE_FILE_H
#define AG_BASE_FILE_H
#include <stdbool.h>
#include <sys/types.h>

#include "base/text.h"

/* open(2), close-on-exec; -1 with errno. */
int ag_file_open(const char *path, int flags, mode_t mode);
/* For reading; only a regular file. Never waits for the writer of a FIFO. */
int ag_file_open_regular(const char *path);
bool ag_file_close(int fd);
/* Number of bytes read or written; fewer than n: end of file (errno 0) or an error. */
size_t ag_file_read(int fd, void *to, size_t n);
size_t ag_file_read_at(int fd, void *to, size_t n, off_t at);
size_t ag_file_write(int fd, const void *bytes, size_t n);
size_t ag_file_write_at(int fd, const void *bytes, size_t n, off_t at);
/* A whole file of at most this many bytes, appended to a text; false: EFBIG, or another error. */
bool ag_file_text(const char *path, size_t most, ag_text *out);
bool ag_file_cut(int fd, off_t size);
/* Reserves space on the disk; true if the file system does not support that. */
bool ag_file_reserve(int fd, off_t size);
/* Forces the bytes to disk; true if the file system does not support that. */
bool ag_file_sync(int fd);
/* Renames, replacing an existing file, and forces the new name to disk. */
bool ag_file_move(const char *from, const char *to);
/* The same, but fails with EEXIST if the target exists. */
bool ag_file_move_new(const char *from, const char *to);
bool ag_file_remove(const char *path);

/* ---- lines ---- */

typedef struct ag_lines ag_lines;
/* NULL with errno. */
ag_lines *ag_lines_open(const char *path);
/* The next line, including its newline if it has one; false: end of file (errno 0) or an error. */
bool ag_lines_next(ag_lines *l, ag_text *line);
void ag_lines_close(ag_lines *l);

/* ---- where output goes ---- */

/* What is at the path of an output. */
typedef enum ag_target_kind {
  AG_TARGET_NEW,     /* nothing */
  AG_TARGET_REGULAR, /* a file that may be written */
  AG_TARGET_STREAM   /* a pipe or a device: can only be written from front to back */
} ag_target_kind;
/* The path of the file itself, symbolic links followed; false: they lead nowhere. */
bool ag_file_real(const char *path, ag_text *real);
/* Follows symbolic links: *real is the path of the file itself. False: a folder, a link that leads nowhere, or no
 * permission to write. */
bool ag_file_target(const char *path, ag_target_kind *kind, ag_text *real);
/* May files be created in the folder of the path? False with errno. */
bool ag_file_beside(const char *path);

/* ---- temporary files ---- */

/* Creates PATH.RANDOM.part beside a path, open for reading and writing; with the mode and, if possible, the owner of
 * the file at the path, if there is one. -1 with errno. Until the name is settled, by a move or a removal that is given
 * name->s or by ag_file_settle, the file is removed when memory runs out. */
int ag_file_temporary(const char *path, ag_text *name);
void ag_file_settle(const char *name);
/* Creates a file of mode 0600 with a unique name: XXXXXX before the last n_end bytes of the pattern is replaced. -1
 * with errno. */
int ag_file_unique(char *pattern, int n_end);
/* Visits the regular files of this user that have such a name, and are not links. */
typedef void (*ag_file_visit)(void *self, const char *name);
void ag_file_leftovers(const char *path, ag_file_visit visit, void *self);
/* A file without a name, for data too large for memory; gone when it is closed. -1 with errno. */
int ag_file_scratch(void);
#endif
