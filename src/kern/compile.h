/* SPDX-License-Identifier: MIT
 * Internals of kern/: the compiler of kernels as a program that is started. */
#ifndef AG_KERN_COMPILE_H
#define AG_KERN_COMPILE_H
#include <stdbool.h>

#include "base/text.h"

enum { AG_COMPILE_ARGS = 64 };

typedef struct ag_compiler {
  char *args[AG_COMPILE_ARGS]; /* its path, then how to compile, without input and output */
  int n_arg;
  int n_needed; /* the ones after these only save time and are dropped if the compiler does not know them */
} ag_compiler;

/* The path of the compiler asked for (name or path), or of the best one found; false, with the reason, if there is
 * none. */
bool ag_compiler_find(const char *wish, ag_text *path, ag_text *reason);
bool ag_compiler_is_clang(const char *path); /* by its name */
/* source -> object file o -> shared library so. False: the messages say why. */
bool ag_compile(const ag_compiler *c, const char *source, const char *o, const char *so, ag_text *messages);
#endif
