/* SPDX-License-Identifier: MIT */
#include "cli/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

double ag_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ag_progress_init(ag_progress *p, bool quiet, double t0, double t1) {
  double now = ag_clock();
  *p = (ag_progress){.on = !quiet && isatty(STDERR_FILENO), .t0 = t0, .t1 = t1, .begun = now, .last = now};
}

/* "12 s", "3 min 20 s", "5 h 12 min" */
static void put_duration(char *out, size_t size, double seconds) {
  long s = seconds < 1e9 ? lround(seconds) : 1000000000L;
  if (s < 60) snprintf(out, size, "%ld s", s);
  else if (s < 3600) snprintf(out, size, "%ld min %ld s", s / 60, s % 60);
  else snprintf(out, size, "%ld h %ld min", s / 3600, s / 60 % 60);
}

/* The columns of the terminal; 80 when it does not say. */
static int columns_of_terminal(void) {
  struct winsize w;
  return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 0 ? w.ws_col : 80;
}

int ag_progress_line(double part, const char *rest, int columns, char *out, size_t size) {
  enum { LONGEST = 30, SHORTEST = 4 };
  int width = columns - 1 < (int)size - 1 ? columns - 1 : (int)size - 1; /* the cursor stays on the line */
  int bar = width - (int)strlen(rest) - 2, n = 0;
  if (width <= 0) return out[0] = 0;
  if (bar > LONGEST) bar = LONGEST;
  if (bar >= SHORTEST) {
    out[n++] = '[';
    for (int i = 0; i < bar; i++) out[n++] = i < (int)(bar * part) ? '=' : ' ';
    out[n++] = ']';
  }
  snprintf(out + n, (size_t)(width - n) + 1, "%s", n ? rest : rest + strspn(rest, " "));
  return (int)strlen(out);
}

void ag_progress_show(void *self, double t, long steps) {
  ag_progress *p = self;
  if (!p->on) return;
  double now = ag_clock();
  if (now - p->last < 0.2) return;
  p->last = now;
  p->drawn = true;
  double part = p->t1 != p->t0 ? (t - p->t0) / (p->t1 - p->t0) : 1, spent = now - p->begun;
  part = part > 0 ? fmin(part, 1) : 0;
  char line[256], rest[128], left[40] = "?";
  if (part > 0) put_duration(left, sizeof left, spent * (1 - part) / part);
  if (p->things)
    snprintf(rest, sizeof rest, " %3.0f %%  %.0f of %.0f %s  %.3g/s  %s left", 100 * part, t, p->t1, p->things,
             (t - p->t0) / spent, left);
  else
    snprintf(rest, sizeof rest, " %3.0f %%  t = %.4g  %.3g steps/s  %s left", 100 * part, t, (double)steps / spent,
             left);
  ag_progress_line(part, rest, columns_of_terminal(), line, sizeof line);
  fprintf(stderr, "\r%s\033[K", line);
}

void ag_progress_done(ag_progress *p) {
  if (p->drawn) fputs("\r\033[K", stderr);
  p->drawn = false;
}
