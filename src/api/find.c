/* SPDX-License-Identifier: MIT
 * Where models come from: a file, or a shipped model by its name. Only here does the library read model files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api_internal.h"
#include "base/file.h"

enum { MAX_TEXT = 1 << 20 };

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

/* At most MAX_TEXT + 1 bytes: /dev/zero ends too. */
ag_status ag_api_read(anagyre_model *m, int fd) {
  m->text = ag_heap_alloc(MAX_TEXT + 2);
  m->size = ag_file_read(fd, m->text, MAX_TEXT + 1);
  if (m->size <= MAX_TEXT && errno) {
    ag_ctx_error(&m->found, ag_api_nowhere, "cannot read %s: %s", m->path, strerror(errno));
    return AG_SYSTEM;
  }
  m->text[m->size] = 0;
  if (m->size <= MAX_TEXT) return AG_OK;
  ag_ctx_error(&m->found, ag_api_nowhere, "%s is larger than 1 MiB: this is not a model file", m->path);
  return AG_WRONG;
}

static ag_status read_file(anagyre_model *m, const char *path) {
  m->path = ag_api_copy(path);
  int fd = ag_file_open(path, O_RDONLY, 0);
  if (fd < 0) {
    ag_ctx_error(&m->found, ag_api_nowhere, "cannot read %s: %s", path, strerror(errno));
    return AG_SYSTEM;
  }
  ag_heap_hold_file(fd);
  ag_status status = ag_api_read(m, fd);
  ag_heap_let_go_file(fd);
  (void)ag_file_close(fd);
  return status;
}

static bool is_file(const char *path) {
  struct stat st;
  return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static bool is_folder(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Looks like a path: shipped models are plain names. */
static bool is_path(const char *word) { return strchr(word, '/') || ends_with(word, ".nh"); }

/* The place of the shipped model of that name, copied; NULL when there is none. *near: a name like it. */
static char *shipped(const char *name, ag_text *near) {
  ag_shipped all;
  ag_shipped_init(&all);
  char *path = NULL;
  for (int i = 0; i < all.n && !path; i++)
    if (!strcmp(all.names[i], name)) path = ag_api_copy(all.paths[i]);
  if (!path) {
    const char *like = ag_nearest(name, all.n, (const char *const *)all.names);
    if (like) ag_text_str(near, like);
  }
  ag_shipped_done(&all);
  return path;
}

/* A missing file whose name is that of a shipped model: say so. */
static void hint_shipped(anagyre_model *m, const char *word) {
  const char *base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
  ag_text stem = {0}, near = {0};
  ag_text_strn(&stem, base, strlen(base) - (ends_with(base, ".nh") ? 3 : 0));
  char *path = shipped(ag_text_cstr(&stem), &near);
  if (path) ag_ctx_note(&m->found, ag_api_nowhere, "there is a shipped model '%s': write its name without .nh", stem.s);
  free(path);
  ag_text_done(&stem);
  ag_text_done(&near);
}

ag_status ag_api_find(anagyre_model *m, const char *word) {
  if (is_path(word)) {
    ag_status status = read_file(m, word);
    if (status == AG_SYSTEM && !is_file(word)) hint_shipped(m, word);
    return status;
  }
  ag_text near = {0};
  char *path = shipped(word, &near);
  if (!path && is_file(word)) path = ag_api_copy(word);
  ag_status status = AG_WRONG;
  if (path) status = read_file(m, path);
  else if (is_folder(word)) ag_ctx_error(&m->found, ag_api_nowhere, "'%s' is a folder; name a model file in it", word);
  else if (near.n)
    ag_ctx_error(&m->found, ag_api_nowhere, "no shipped model and no file is called '%s'; did you mean %s?", word,
                 near.s);
  else
    ag_ctx_error(&m->found, ag_api_nowhere, "no shipped model and no file is called '%s'; see `anagyre list models`",
                 word);
  free(path);
  ag_text_done(&near);
  return status;
}
