/* SPDX-License-Identifier: MIT
 * The shipped models: every NAME.nh in $ANAGYRE_MODELS (folders separated by colons), the source tree the program was
 * built from, the place it is installed to, and share/anagyre/models beside the executable and the library. The first
 * one of a name counts. */
#define _GNU_SOURCE /* dladdr */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/arena.h"

static char *copy(const char *s, size_t n) {
  char *p = ag_heap_alloc(n + 1);
  memcpy(p, s, n);
  return p;
}

static bool known(const ag_shipped *list, const char *name, size_t n) {
  for (int i = 0; i < list->n; i++)
    if (strlen(list->names[i]) == n && !strncmp(list->names[i], name, n)) return true;
  return false;
}

static void close_folder(void *dir) { closedir(dir); }

static void add_folder(ag_shipped *list, const char *folder) {
  DIR *dir = *folder ? opendir(folder) : NULL;
  if (!dir) return;
  ag_heap_hold(close_folder, dir);
  for (struct dirent *e; (e = readdir(dir));) {
    size_t n = strlen(e->d_name);
    if (e->d_name[0] == '.' || n <= 3 || strcmp(e->d_name + n - 3, ".nh") || known(list, e->d_name, n - 3)) continue;
    list->names = ag_heap_grow(list->names, sizeof *list->names * (size_t)(list->n + 1));
    list->paths = ag_heap_grow(list->paths, sizeof *list->paths * (size_t)(list->n + 1));
    ag_text path = {0};
    ag_text_printf(&path, "%s/%s", folder, e->d_name);
    list->names[list->n] = copy(e->d_name, n - 3);
    list->paths[list->n++] = path.s;
  }
  ag_heap_let_go(close_folder, dir);
  closedir(dir);
}

static void add_list(ag_shipped *list, const char *folders) {
  while (folders && *folders) {
    size_t n = strcspn(folders, ":");
    char *folder = copy(folders, n);
    add_folder(list, folder);
    free(folder);
    folders += n + (folders[n] == ':');
  }
}

/* The folder `models`, seen from the folder of a file. */
static void add_beside(ag_shipped *list, const char *file, const char *models) {
  const char *slash = strrchr(file, '/');
  if (!slash) return;
  ag_text folder = {0};
  ag_text_strn(&folder, file, (size_t)(slash - file));
  ag_text_printf(&folder, "/%s", models);
  add_folder(list, folder.s);
  ag_text_done(&folder);
}

static void add_beside_program(ag_shipped *list) {
  char exe[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (n <= 0) return;
  exe[n] = 0;
  add_beside(list, exe, "../share/anagyre/models");
}

/* Of the shared library; the static one is part of the program. */
static void add_beside_library(ag_shipped *list) {
  Dl_info here;
  if (dladdr((void *)ag_shipped_init, &here)) add_beside(list, here.dli_fname, AG_MODEL_FROM_LIB);
}

/* Insertion sort by name, both lists together. */
static void sort(ag_shipped *list) {
  for (int i = 1; i < list->n; i++)
    for (int k = i; k > 0 && strcmp(list->names[k - 1], list->names[k]) > 0; k--) {
      char *name = list->names[k], *path = list->paths[k];
      list->names[k] = list->names[k - 1], list->paths[k] = list->paths[k - 1];
      list->names[k - 1] = name, list->paths[k - 1] = path;
    }
}

void ag_shipped_init(ag_shipped *list) {
  *list = (ag_shipped){0};
  add_list(list, getenv("ANAGYRE_MODELS"));
#ifdef AG_MODEL_SOURCE_DIR
  add_folder(list, AG_MODEL_SOURCE_DIR);
#endif
#ifdef AG_MODEL_DIR
  add_folder(list, AG_MODEL_DIR);
#endif
  add_beside_program(list);
  add_beside_library(list);
  sort(list);
}

void ag_shipped_done(ag_shipped *list) {
  for (int i = 0; i < list->n; i++) free(list->names[i]), free(list->paths[i]);
  free(list->names);
  free(list->paths);
  *list = (ag_shipped){0};
}
