/* SPDX-License-Identifier: MIT
 * The shipped models: every NAME.nh in $ANAGYRE_MODELS (folders separated by colons), the source tree the program was
 * built from, the place it is installed to, and share/anagyre/models beside the executable. The first one of a name
 * counts. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/source.h"

static char *copy(const char *s, size_t n) {
  char *p = ag_heap_alloc(n + 1);
  memcpy(p, s, n);
  return p;
}

static bool known(const ag_shelf *shelf, const char *name, size_t n) {
  for (int i = 0; i < shelf->n; i++)
    if (strlen(shelf->names[i]) == n && !strncmp(shelf->names[i], name, n)) return true;
  return false;
}

static void add_folder(ag_shelf *shelf, const char *folder) {
  DIR *dir = *folder ? opendir(folder) : NULL;
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir));) {
    size_t n = strlen(e->d_name);
    if (e->d_name[0] == '.' || n <= 3 || strcmp(e->d_name + n - 3, ".nh") || known(shelf, e->d_name, n - 3)) continue;
    shelf->names = ag_heap_grow(shelf->names, sizeof *shelf->names * (size_t)(shelf->n + 1));
    shelf->paths = ag_heap_grow(shelf->paths, sizeof *shelf->paths * (size_t)(shelf->n + 1));
    ag_text path = {0};
    ag_text_printf(&path, "%s/%s", folder, e->d_name);
    shelf->names[shelf->n] = copy(e->d_name, n - 3);
    shelf->paths[shelf->n++] = path.s;
  }
  closedir(dir);
}

static void add_list(ag_shelf *shelf, const char *folders) {
  while (folders && *folders) {
    size_t n = strcspn(folders, ":");
    char *folder = copy(folders, n);
    add_folder(shelf, folder);
    free(folder);
    folders += n + (folders[n] == ':');
  }
}

static void add_beside_program(ag_shelf *shelf) {
  char exe[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (n <= 0) return;
  exe[n] = 0;
  char *slash = strrchr(exe, '/');
  if (!slash) return;
  ag_text folder = {0};
  ag_text_strn(&folder, exe, (size_t)(slash - exe));
  ag_text_str(&folder, "/../share/anagyre/models");
  add_folder(shelf, folder.s);
  ag_text_done(&folder);
}

/* Insertion sort by name, both lists together. */
static void sort(ag_shelf *shelf) {
  for (int i = 1; i < shelf->n; i++)
    for (int k = i; k > 0 && strcmp(shelf->names[k - 1], shelf->names[k]) > 0; k--) {
      char *name = shelf->names[k], *path = shelf->paths[k];
      shelf->names[k] = shelf->names[k - 1], shelf->paths[k] = shelf->paths[k - 1];
      shelf->names[k - 1] = name, shelf->paths[k - 1] = path;
    }
}

void ag_shelf_init(ag_shelf *shelf) {
  *shelf = (ag_shelf){0};
  add_list(shelf, getenv("ANAGYRE_MODELS"));
#ifdef AG_MODEL_SOURCE_DIR
  add_folder(shelf, AG_MODEL_SOURCE_DIR);
#endif
#ifdef AG_MODEL_DIR
  add_folder(shelf, AG_MODEL_DIR);
#endif
  add_beside_program(shelf);
  sort(shelf);
}

void ag_shelf_done(ag_shelf *shelf) {
  for (int i = 0; i < shelf->n; i++) free(shelf->names[i]), free(shelf->paths[i]);
  free(shelf->names);
  free(shelf->paths);
  *shelf = (ag_shelf){0};
}
