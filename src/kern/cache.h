/* SPDX-License-Identifier: MIT
 * The folder of compiled kernels. Only a folder and files that belong to this user, and that no other user may write,
 * are used: what is loaded from there runs with our rights. */
#ifndef AG_KERN_CACHE_H
#define AG_KERN_CACHE_H
#include <stdbool.h>

#include "base/text.h"

/* The folder to use, created if missing; false if there is none: "" was requested, no home, wrong owner, not writable.
 */
bool ag_cache_folder(const char *wish, ag_text *folder);
/* Is the file there, ours alone, and not empty? Marks it as used. */
bool ag_cache_usable(const char *path);
#endif
