/* SPDX-License-Identifier: MIT
 * Finding and running the compiler and the linker, without a shell. */
#define _GNU_SOURCE /* pipe2 */
#include "kern/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"

enum { COMPILE_SECONDS = 300, MESSAGE_BYTES = 1 << 16 };

extern char **environ;

/* ---- where it is ---- */

static bool is_program(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* The path of a program: as given when it has a slash, else along PATH. */
static bool find_program(const char *name, ag_text *path) {
  ag_text_clear(path);
  if (strchr(name, '/')) {
    ag_text_str(path, name);
    return is_program(name);
  }
  const char *from = getenv("PATH");
  for (from = from ? from : "/usr/bin:/bin"; *from;) {
    size_t n = strcspn(from, ":");
    ag_text_clear(path);
    ag_text_strn(path, from, n);
    ag_text_printf(path, "/%s", name);
    if (n > 0 && is_program(ag_text_cstr(path))) return true;
    from += n + (from[n] == ':');
  }
  return false;
}

/* clang takes half to a quarter of gcc's time for code as fast (docs/performance.md). */
bool ag_compiler_find(const char *wish, ag_text *path, ag_text *reason) {
  static const char *const known[] = {"clang", "gcc", "cc"};
  if (wish && !strcmp(wish, "none")) {
    ag_text_str(reason, "compiled kernels are switched off");
    return false;
  }
  if (wish) {
    if (find_program(wish, path)) return true;
    ag_text_printf(reason, "the compiler %s was not found", wish);
    return false;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (find_program(known[i], path)) return true;
  ag_text_str(reason, "no C compiler was found");
  return false;
}

bool ag_compiler_is_clang(const char *path) {
  const char *slash = strrchr(path, '/');
  return !strncmp(slash ? slash + 1 : path, "clang", 5);
}

/* ---- running it ---- */

/* The first *n bytes that the child writes before it closes the pipe; false on timeout. */
static bool read_all(int fd, char *out, size_t room, size_t *n) {
  char more[4096];
  time_t end = time(NULL) + COMPILE_SECONDS;
  for (;;) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    time_t left = end - time(NULL);
    if (left <= 0) return false;
    if (poll(&poll_fd, 1, (int)left * 1000) <= 0) continue; /* timeout, or a signal: check again */
    bool keep = *n < room;
    ssize_t got = read(fd, keep ? out + *n : more, keep ? room - *n : sizeof more);
    if (got == 0) return true;
    if (got > 0 && keep) *n += (size_t)got;
    if (got < 0 && errno != EINTR) return true;
  }
}

/* Exit code of the program, -1 when it did not end by itself; its output goes to messages. Nothing is allocated while
 * it runs. */
static int run(char *const *args, ag_text *messages) {
  int ends[2], status = -1;
  pid_t pid;
  posix_spawn_file_actions_t actions;
  bool in_time = true;
  size_t n = 0;
  char *said = ag_heap_alloc(MESSAGE_BYTES);
  if (pipe2(ends, O_CLOEXEC) != 0) {
    free(said);
    return -1;
  }
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  int error = posix_spawn(&pid, args[0], &actions, NULL, args, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (!error) {
    in_time = read_all(ends[0], said, MESSAGE_BYTES, &n);
    if (!in_time) (void)kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (error) ag_text_printf(messages, "%s: %s", args[0], strerror(error));
  else if (!in_time) ag_text_printf(messages, "stopped after %d seconds", COMPILE_SECONDS);
  else ag_text_strn(messages, said, n);
  free(said);
  return !error && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The arguments with the words of one task behind them. */
static bool run_with(const ag_compiler *c, int n, const char *const *words, ag_text *messages) {
  char *args[AG_COMPILE_ARGS];
  for (int i = 0; i < n; i++) args[i] = c->args[i];
  for (; *words && n < AG_COMPILE_ARGS - 1; words++)
    args[n++] = (char *)*words; /* posix_spawn does not write to them */
  args[n] = NULL;
  ag_text_clear(messages);
  return run(args, messages) == 0;
}

/* By the linker itself, which is ten times as fast as through the compiler. If symbols are missing from the C library
 * (sanitizer libraries, for instance) it fails. */
static bool link_directly(const char *o, const char *so) {
  ag_text path = {0}, ignored = {0};
  bool good = find_program("ld", &path);
  const char *const args[] = {ag_text_cstr(&path), "-shared", "-z", "defs", "-o", so, o, "-lm", "-lc", NULL};
  good = good && run((char *const *)args, &ignored) == 0;
  ag_text_done(&path);
  ag_text_done(&ignored);
  return good;
}

bool ag_compile(const ag_compiler *c, const char *source, const char *o, const char *so, ag_text *messages) {
  const char *const compile[] = {"-c", "-o", o, source, NULL}, *const link[] = {"-shared", "-o", so, o, "-lm", NULL};
  bool good = run_with(c, c->n_arg, compile, messages);
  bool names = false; /* an option that only saves time */
  for (int i = c->n_needed; i < c->n_arg; i++) names = names || strstr(ag_text_cstr(messages), c->args[i]);
  if (!good && names) good = run_with(c, c->n_needed, compile, messages);
  return good && (link_directly(o, so) || run_with(c, c->n_needed, link, messages));
}
