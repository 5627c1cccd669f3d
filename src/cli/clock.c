/* SPDX-License-Identifier: MIT */
#include "cli/clock.h"

#include <math.h>
#include <stdio.h>
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

void ag_progress_show(void *self, double t, long steps) {
  ag_progress *p = self;
  if (!p->on) return;
  double now = ag_clock();
  if (now - p->last < 0.2) return;
  p->last = now;
  p->drawn = true;
  double part = p->t1 != p->t0 ? (t - p->t0) / (p->t1 - p->t0) : 1, spent = now - p->begun;
  part = part > 0 ? fmin(part, 1) : 0;
  char bar[31], left[40] = "?";
  for (int i = 0; i < 30; i++) bar[i] = i < (int)(30 * part) ? '=' : ' ';
  bar[30] = 0;
  if (part > 0) put_duration(left, sizeof left, spent * (1 - part) / part);
  if (p->members)
    fprintf(stderr, "\r[%s] %3.0f %%  %.0f of %.0f members  %.3g/s  %s left \033[K", bar, 100 * part, t, p->t1,
            (t - p->t0) / spent, left);
  else
    fprintf(stderr, "\r[%s] %3.0f %%  t = %.4g  %.3g steps/s  %s left \033[K", bar, 100 * part, t,
            (double)steps / spent, left);
}

void ag_progress_done(ag_progress *p) {
  if (p->drawn) fputs("\r\033[K", stderr);
  p->drawn = false;
}
