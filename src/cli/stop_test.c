/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "cli/clock.h"

/* However narrow the terminal, the line stays in it. */
static void narrow(void) {
  const char *rest = "  50 %  t = 1.5  2e+06 steps/s  3 min 20 s left";
  char out[256];
  for (int columns = 0; columns < 200; columns++) {
    int n = ag_progress_line(0.5, rest, columns, out, sizeof out);
    AG_CHECK(n == (int)strlen(out) && n < (columns ? columns : 1));
    if (columns > 90)
      AG_CHECK_STR(out, "[===============               ]  50 %  t = 1.5  2e+06 steps/s  3 min 20 s left");
    if (columns > 1 && columns < 40) AG_CHECK(!strncmp(out, "50 %  t = 1.5", (size_t)(n < 13 ? n : 13)));
  }
  AG_CHECK(ag_progress_line(0.5, rest, 80, out, 20) < 20);
}

int main(void) {
  narrow();
  signal(SIGINT, SIG_DFL), signal(SIGQUIT, SIG_DFL), signal(SIGHUP, SIG_DFL); /* ignored in the background, by nohup */
  const atomic_int *flag = ag_stop_catch();
  AG_CHECK(!*flag);
  raise(SIGTERM);
  AG_CHECK(*flag == SIGTERM);
  AG_CHECK_STR(ag_stop_word(), "SIGTERM");
  flag = ag_stop_catch();
  AG_CHECK(!*flag);
  raise(SIGINT);
  AG_CHECK_STR(ag_stop_word(), "Ctrl-C");
  static const int others[] = {SIGHUP, SIGXCPU, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    flag = ag_stop_catch();
    raise(others[i]);
    AG_CHECK(*flag == others[i]);
    ag_stop_release();
  }
  /* one that is ignored stays so */
  signal(SIGHUP, SIG_IGN);
  flag = ag_stop_catch();
  raise(SIGHUP);
  AG_CHECK(!*flag);
  ag_stop_release();
  signal(SIGHUP, SIG_DFL);
  /* the limit of processor time is announced again and again */
  flag = ag_stop_catch();
  raise(SIGXCPU);
  raise(SIGXCPU);
  AG_CHECK(*flag == SIGXCPU);
  AG_CHECK_STR(ag_stop_word(), "SIGXCPU");
  flag = ag_stop_catch();
  raise(SIGINT);
  /* a second Ctrl-C ends the process */
  pid_t child = fork();
  if (child == 0) {
    raise(SIGINT);
    _exit(7);
  }
  int status = 0;
  AG_CHECK(waitpid(child, &status, 0) == child);
  AG_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
  ag_stop_release();
  ag_stop_ignore_pipe();
  int pipes[2];
  AG_CHECK(!pipe(pipes));
  close(pipes[0]);
  AG_CHECK(write(pipes[1], "x", 1) == -1); /* the process goes on */
  double before = ag_clock();
  usleep(2000);
  double after = ag_clock();
  AG_CHECK(after > before + 0.0015 && after < before + 60);
  ag_progress p;
  ag_progress_init(&p, true, 0, 1);
  p.last = before - 10;
  ag_progress_show(&p, 0.5, 100);
  AG_CHECK(!p.drawn); /* quiet draws nothing */
  return ag_check_report();
}
