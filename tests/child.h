/* SPDX-License-Identifier: MIT
 * Runs another program from a test and waits for it. */
#ifndef AG_TESTS_CHILD_H
#define AG_TESTS_CHILD_H
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Its exit code; -1 when it could not be run. args ends with NULL. */
static inline int ag_spawn(const char *const *args) {
  pid_t pid;
  int status;
  if (posix_spawnp(&pid, args[0], NULL, NULL, (char *const *)(uintptr_t)args, environ)) return -1;
  if (waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#endif
