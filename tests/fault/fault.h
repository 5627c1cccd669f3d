/* SPDX-License-Identifier: MIT
 * Commands of which one call in turn is made to fail. Each runs in a child process. */
#ifndef AG_TEST_FAULT_H
#define AG_TEST_FAULT_H
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

enum { MAX_WORDS = 20, HUGE_COUNT = 1 << 30 };

static const char MODEL[] = "model skate\n"
                            "param m = 1, J = 0.5, a = 2, omega = 1.5\n"
                            "config x in R^2, phi in S1\n"
                            "lagrangian m/2*dot(x', x') + J/2*phi'^2 + m*a*x[1]\n"
                            "constraint x'[1]*sin(phi) = x'[2]*cos(phi)\n"
                            "observable v = x'[1]*cos(phi) + x'[2]*sin(phi)\n"
                            "start phi' = omega\n"
                            "event top: v = 0 falling\n"
                            "section ahead: sin(phi) = 0 rising\n"
                            "expect energy at 1 = 0.5625 within 1e-9\n";

static const char NOISY[] = "model noisy\n"
                            "config x in R\n"
                            "lagrangian x'^2/2 - x^2/2\n"
                            "noise W force x' = 0.3\n"
                            "observable size = x^2 + x'^2\n"
                            "start x = 1\n";

typedef struct command {
  const char *words[MAX_WORDS];
  const char *writes; /* a result file that `info` must be able to read afterwards, if it is there */
} command;

/* Lets the n-th call from now on fail, and says how many were still to come before it. */
typedef long arm_fault(long n);

static arm_fault *arm;
static long *left; /* shared with the children: calls that were still to come */

/* The exit code of a command whose n-th call fails, 0: none; -1: a signal ended it. */
static int code_of(const char *const *words, long n, const char *out, const char *err) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    const char *argv[MAX_WORDS + 2] = {"anagyre"};
    int argc = 1;
    while (words[argc - 1]) argv[argc] = words[argc - 1], argc++;
    alarm(120);
    if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr)) _exit(99);
    arm(n ? n : HUGE_COUNT);
    ag_status status = ag_command_main(argc, argv);
    *left = arm(0);
    exit((int)status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void read_text(const char *path, char *text, size_t size) {
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, size - 1, f) : 0;
  text[n] = 0;
  if (f) fclose(f);
}

static void complain(const command *c, const char *what, long n, int code, const char *text) {
  fprintf(stderr, "anagyre");
  for (int i = 0; c->words[i]; i++) fprintf(stderr, " %s", c->words[i]);
  fprintf(stderr, ": %s %ld fails, exit code %d: %.2000s\n", what, n, code, text);
}

/* Is it `view`, in a program that was built without the page? It says what to install (tests/view/view_test.py). */
static bool without_page(const command *c, int code) {
  char text[4096];
  read_text("good.err", text, sizeof text);
  return code == 3 && !strcmp(c->words[0], "view") && strstr(text, "built without the page");
}

static bool readable(const command *c) {
  const char *const words[] = {"info", c->writes, NULL};
  if (!c->writes || access(c->writes, F_OK)) return true;
  return code_of(words, 0, "info.out", "info.err") == 0;
}

/* Goes to the folder and writes the models of the commands there. */
static bool prepare(const char *folder, arm_fault *how) {
  arm = how;
  left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (left == MAP_FAILED || chdir(folder)) return false;
  const char *const files[][2] = {{"skate.nh", MODEL},
                                  {"noisy.nh", NOISY},
                                  {"wrong.nh", "model wrong\nparam m = 1, m = 2\nconfig x in R\nlagrangian m*xx'^2\n"}};
  for (int i = 0; i < 3; i++) {
    FILE *f = fopen(files[i][0], "w");
    if (!f || fputs(files[i][1], f) < 0 || fclose(f)) return false;
  }
  return true;
}
#endif
