/* SPDX-License-Identifier: MIT */
#include "base/shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *ag_shared_open(const char *what, const char *name, const char *path, char *why, size_t size) {
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library) return library;
  const char *reason = dlerror();
  snprintf(why, size, "cannot load %s: %s", what, reason ? reason : name);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

bool ag_shared_find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name); /* an object pointer, which C does not convert */
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}
