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
/* The whole of a regular file of this user; false: it cannot be read. */
bool ag_cache_read(const char *path, ag_text *bytes);
/* The bytes of the library with this key. False if there is none, if another user may write it, or if a single bit of
 * it has changed. Marks it as used. */
bool ag_cache_load(const char *path, const char *key, ag_text *bytes);
/* Puts a library in place, sealed with a hash of its bytes and its key; whole or not at all, even if the machine stops
 * at any moment. False with errno. */
bool ag_cache_save(const char *path, const char *key, const ag_text *bytes);
#endif
