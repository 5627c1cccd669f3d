/* SPDX-License-Identifier: MIT
 * Shared libraries that are loaded while the program runs. Used by math/ for LAPACK and by exact/ for FLINT: loading
 * either takes as long as everything else that a short command does. */
#ifndef AG_BASE_SHARED_H
#define AG_BASE_SHARED_H
#include <stdbool.h>
#include <stddef.h>

/* A library as it was found when Anagyre was built: by its soname, else by its path at that time. NULL: why
 * says that `what` cannot be loaded. It stays loaded until the process ends. */
void *ag_shared_open(const char *what, const char *name, const char *path, char *why, size_t size);
/* Sets the function pointer at `function`; false: there is no such name. */
bool ag_shared_find(void *library, const char *name, void *function);
#endif
