/* SPDX-License-Identifier: MIT
 * The numbers that gnuplot reads, and running it: in a folder of its own and without a shell. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view/view_internal.h"

extern char **environ;

enum { LOOK = 200 /* milliseconds between looks for a signal */ };

/* A curve after the other, two empty lines between them; an empty line where a curve is interrupted. One without a
 * number has a line, too: curves are found by counting. */
void ag_gnuplot_data(const ag_figure *f, ag_text *out) {
  for (int i = 0; i < f->n_panel; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++) {
      const ag_curve *c = &f->panels[i].curves[k];
      const ag_style style = f->panels[i].style;
      const bool lines = style == AG_STYLE_LINE || style == AG_STYLE_LINE_POINTS;
      bool gap = true, empty = true;
      for (long r = 0; r < c->n; r++) {
        bool number = isfinite(c->x[r]) && isfinite(c->y[r]);
        if (!number && lines && !gap) ag_text_char(out, '\n');
        gap = !number;
        if (!number) continue;
        empty = false;
        ag_text_printf(out, "%.10g %.10g", c->x[r], c->y[r]);
        if (c->z) ag_text_printf(out, " %.10g", c->z[r]);
        ag_text_char(out, '\n');
      }
      ag_text_str(out, empty ? "nan nan nan\n\n\n" : "\n\n");
    }
}

/* What it says until it ends; once *stop is set it is ended. */
static void hear(int fd, pid_t pid, const atomic_int *stop, ag_text *all) {
  char buffer[512];
  for (;;) {
    if (*stop) {
      (void)kill(pid, SIGKILL);
      return; /* its own children may still hold the other end */
    }
    const int ready = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, LOOK);
    if (ready < 0 && errno != EINTR) return;
    if (ready <= 0) continue;
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0 || (n < 0 && errno != EINTR)) return;
    if (n > 0 && all->n < 4096) ag_text_strn(all, buffer, (size_t)n);
  }
}

/* Its standard error, at most one line. */
static void first_line(int fd, pid_t pid, const atomic_int *stop, ag_text *out) {
  ag_text all = {0};
  hear(fd, pid, stop, &all);
  for (const char *s = ag_text_cstr(&all); *s; s += strcspn(s, "\n") + (s[strcspn(s, "\n")] != 0)) {
    size_t length = strcspn(s, "\n");
    ag_text line = {0};
    ag_text_strn(&line, s, length);
    bool says = length && !strspn(s, " ^") && !strstr(line.s, "Fontconfig");
    if (says) ag_escape_plain(out, line.s);
    ag_text_done(&line);
    if (says) break;
  }
  ag_text_done(&all);
}

bool ag_gnuplot_run(const char *folder, const char *script, const atomic_int *stop, ag_text *trouble) {
  ag_text file = {0};
  ag_text_str(&file, script);
  char *words[] = {"gnuplot", "-d", file.s, NULL};
  int ends[2], state = 0;
  pid_t pid;
  if (pipe(ends)) {
    ag_text_printf(trouble, "cannot start gnuplot: %s", strerror(errno));
    ag_text_done(&file);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  int error = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ag_text said = {0};
  if (!error) first_line(ends[0], pid, stop, &said);
  close(ends[0]);
  while (!error && waitpid(pid, &state, 0) < 0)
    if (errno != EINTR) error = errno;
  if (error == ENOENT) ag_text_str(trouble, "gnuplot is not installed (Debian: gnuplot-nox); --term draws without it");
  else if (error) ag_text_printf(trouble, "cannot start gnuplot: %s", strerror(error));
  else if (state) ag_text_printf(trouble, "gnuplot failed: %s", said.n ? said.s : "it does not say why");
  ag_text_done(&said);
  ag_text_done(&file);
  return !error && !state;
}
