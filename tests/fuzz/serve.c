/* SPDX-License-Identifier: MIT
 * serve: the program, started once for many commands; tests/fuzz/served.py talks to it. Each line of standard input is
 * a command: a folder, seconds of processor time, megabytes of address space (0: all) and words, separated by tabs. It
 * runs in a child process, in that folder, with its output in the files `out` and `err` one folder up. The answer is a
 * line with its exit code, minus the number of the signal that ended it, or `hangs`, and its processor time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/clock.h"

enum { MAX_WORDS = 64, PATIENCE = 30 /* seconds of wall time for each of processor time */ };

static void limit(int what, rlim_t soft, rlim_t hard) {
  if (setrlimit(what, &(struct rlimit){soft, hard})) _exit(99);
}

static bool redirect(const char *path, int to, int flags) {
  int fd = open(path, flags, 0600);
  return fd >= 0 && dup2(fd, to) == to && close(fd) == 0;
}

static _Noreturn void child(char **words, int n, const sigset_t *mask) {
  rlim_t seconds = strtoul(words[1], NULL, 10), space = strtoul(words[2], NULL, 10) << 20;
  if (chdir(words[0]) || !redirect("/dev/null", 0, O_RDONLY) || !redirect("../out", 1, O_WRONLY | O_CREAT | O_TRUNC) ||
      !redirect("../err", 2, O_WRONLY | O_CREAT | O_TRUNC))
    _exit(99);
  limit(RLIMIT_CPU, seconds, seconds + 5);
  limit(RLIMIT_FSIZE, 1 << 28, 1 << 28);
  limit(RLIMIT_CORE, 0, 0);
  if (space) limit(RLIMIT_AS, space, space);
  sigprocmask(SIG_SETMASK, mask, NULL);
  ag_stop_ignore_pipe();
  words[2] = "anagyre";
  ag_status status = ag_command_main(n - 2, (const char *const *)(words + 2));
  if (status == AG_SYSTEM) { /* as in main.c */
    fflush(NULL);
    _exit((int)status);
  }
  exit((int)status);
}

/* Waits for a child; false: it hangs, and is ended. */
static bool ended(pid_t pid, long seconds, int *status, struct rusage *used) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  time_t until = time(NULL) + seconds;
  for (;;) {
    if (wait4(pid, status, WNOHANG, used) == pid) return true;
    if (time(NULL) > until) break;
    (void)sigtimedwait(&ends, NULL, &(struct timespec){.tv_sec = 1});
  }
  kill(pid, SIGKILL);
  (void)wait4(pid, status, 0, used);
  return false;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

int main(void) {
  char *line = NULL;
  size_t size = 0;
  sigset_t ends, before;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ends, &before);
  setenv("OPENBLAS_NUM_THREADS", "1", 0); /* as in main.c */
  for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
    char *words[MAX_WORDS + 1] = {NULL};
    int n = 0, status = 0;
    struct rusage used;
    line[strcspn(line, "\n")] = 0;
    for (char *rest = line, *word; n < MAX_WORDS && (word = strsep(&rest, "\t"));) words[n++] = word;
    if (n < 4) return 2;
    pid_t pid = fork();
    if (pid == 0) child(words, n, &before);
    if (pid < 0) return 3;
    bool in_time = ended(pid, PATIENCE * strtol(words[1], NULL, 10), &status, &used);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    double spent = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    if (in_time) printf("%d %.3f\n", code, spent);
    else printf("hangs %.3f\n", spent);
    fflush(stdout);
  }
  free(line);
  return 0;
}
