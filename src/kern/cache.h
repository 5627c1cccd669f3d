/* SPDX-License-Identifier: MIT
 * The folder of compiled kernels. Only a folder and files that belong to this user, and that nobody else may write, are
 * ever used: what is loaded from there runs as us. */
#ifndef AG_KERN_CACHE_H
#define AG_KERN_CACHE_H
#include <stdbool.h>

#include "base/text.h"

/* The folder to use, made when missing; false when there is none: "" asked for, no home, not ours, not writable. */
bool ag_cache_folder(const char *wish, ag_text *folder);
/* Is the file there, ours alone, and not empty? Marks it as used. */
bool ag_cache_usable(const char *path);
#endif
