/* SPDX-License-Identifier: MIT
 * serve [N]: the program, started once for many commands; tests/fuzz/served.py talks to it. Each line of standard input
 * is a command: a folder, seconds of processor time, megabytes of address space (0: all) and words, separated by tabs.
 * It runs in a child process, in that folder, with its output in the files `out` and `err` one folder up. The answer is
 * a line with its exit code, minus the number of the signal that ended it, or `hangs`, and its processor time. Code 97
 * says that its messages could not be written, 99 that it could not be started.
 *
 * A child does N commands (default 1), or as many as it survives. The search for leaks, at its end, costs more than
 * most commands: what it finds is reported with the last one, and may belong to any of the N. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

enum { MAX_WORDS = 64, MAX_LINE = 8192, PATIENCE = 30 /* seconds of wall time for each of processor time */ };

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* ---- the child ---- */

static void limit(int what, rlim_t soft, rlim_t hard) {
  if (setrlimit(what, &(struct rlimit){soft, hard})) _exit(99);
}

static bool redirect(const char *path, int to, int flags) {
  int fd = open(path, flags, 0600);
  return fd >= 0 && dup2(fd, to) == to && close(fd) == 0;
}

static double used(void) {
  struct rusage own, children;
  if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children)) _exit(99);
  return seconds_of(own.ru_utime) + seconds_of(own.ru_stime) + seconds_of(children.ru_utime) +
         seconds_of(children.ru_stime);
}

static ag_status act(char **words, int n) {
  rlim_t seconds = (rlim_t)used() + 1 + strtoul(words[1], NULL, 10), space = strtoul(words[2], NULL, 10) << 20;
  if (chdir(words[0]) || !redirect("/dev/null", 0, O_RDONLY) || !redirect("../out", 1, O_WRONLY | O_CREAT | O_TRUNC) ||
      !redirect("../err", 2, O_WRONLY | O_CREAT | O_TRUNC))
    _exit(99);
  limit(RLIMIT_CPU, seconds, RLIM_INFINITY);
  limit(RLIMIT_FSIZE, 1 << 28, 1 << 28);
  limit(RLIMIT_CORE, 0, 0);
  if (space) limit(RLIMIT_AS, space, space);
  words[2] = "anagyre";
  ag_status status = ag_command_main(n - 2, (const char *const *)(words + 2));
  fflush(NULL);
  if (ferror(stderr)) _exit(97); /* a message is lost: the disk is full, say */
  clearerr(stdout);
  return status;
}

/* Does the commands that come from `in`, and writes one answer for each to `answers`. */
static _Noreturn void child(int in, int answers) {
  char line[MAX_LINE], answer[64];
  ag_stop_ignore_pipe();
  for (size_t at = 0;;) {
    while (at == 0 || line[at - 1] != '\n') {
      ssize_t n = read(in, line + at, 1);
      if (n != 1 || ++at == sizeof line) exit(n ? 99 : 0); /* no more: leaks are searched for */
    }
    line[at - 1] = 0, at = 0;
    char *words[MAX_WORDS + 1] = {NULL};
    int n = 0;
    for (char *rest = line, *word; n < MAX_WORDS && (word = strsep(&rest, "\t"));) words[n++] = word;
    if (n < 4) _exit(99);
    double before = used();
    ag_status status = act(words, n);
    if (status == AG_SYSTEM) _exit((int)status); /* as in main.c */
    int length = snprintf(answer, sizeof answer, "%d %.3f\n", (int)status, used() - before);
    if (write(answers, answer, (size_t)length) != length) _exit(99);
  }
}

/* ---- the parent ---- */

typedef struct worker {
  pid_t pid; /* 0: none */
  int in, answers, n;
  double told; /* processor time of the commands that were answered */
} worker;

static bool start(worker *w) {
  int in[2], answers[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(answers, O_CLOEXEC)) return false;
  w->pid = fork();
  if (w->pid == 0) {
    close(in[1]), close(answers[0]);
    child(in[0], answers[1]);
  }
  close(in[0]), close(answers[1]);
  w->in = in[1], w->answers = answers[0], w->n = 0, w->told = 0;
  return w->pid > 0;
}

/* Waits for its end; the exit code, or minus the number of the signal. */
static int end(worker *w) {
  int status = 0;
  close(w->in);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  close(w->answers);
  w->pid = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static double used_by_children(void) {
  struct rusage children;
  return getrusage(RUSAGE_CHILDREN, &children) ? 0 : seconds_of(children.ru_utime) + seconds_of(children.ru_stime);
}

/* One command; prints its answer. */
static bool serve(worker *w, const char *line, int most) {
  char answer[64] = "";
  const char *tab = strchr(line, '\t');
  int patience = tab ? PATIENCE * 1000 * atoi(tab + 1) : 0;
  double before = used_by_children();
  if ((!w->pid && !start(w)) || write(w->in, line, strlen(line)) != (ssize_t)strlen(line)) return false;
  struct pollfd ready = {.fd = w->answers, .events = POLLIN};
  bool hangs = poll(&ready, 1, patience) == 0;
  if (hangs) kill(w->pid, SIGKILL);
  ssize_t n = hangs ? 0 : read(w->answers, answer, sizeof answer - 1);
  bool told = n > 0 && ++w->n < most;
  if (!told) {
    int code = end(w);
    double spent = used_by_children() - before - w->told;
    if (hangs) printf("hangs %.3f\n", spent);
    else if (n <= 0 || code) printf("%d %.3f\n", code, spent);
    else told = true;
  }
  if (told && !strchr(answer, ' ')) return false;
  if (told) w->told += strtod(strchr(answer, ' '), NULL), fputs(answer, stdout);
  return fflush(stdout) == 0;
}

int main(int argc, char **argv) {
  char *line = NULL;
  size_t size = 0;
  worker w = {0};
  int most = argc > 1 ? atoi(argv[1]) : 1;
  setenv("OPENBLAS_NUM_THREADS", "1", 0); /* as in main.c */
  (void)signal(SIGPIPE, SIG_IGN);
  while (getline(&line, &size, stdin) > 0)
    if (!serve(&w, line, most)) return 3;
  if (w.pid) (void)end(&w);
  free(line);
  return 0;
}
