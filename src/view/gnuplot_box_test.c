/* SPDX-License-Identifier: MIT
 * Boxes of curves in space: whatever their sides, every number and name is on the page, no two of them meet, and the
 * projected curve stays inside. */
#include "view/gnuplot_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { MOST = 64, POINTS = 50 };

typedef struct frame {
  double x0, x1, y0, y1;
} frame;

static bool meet(const frame *a, const frame *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

/* The frames of the labels, of letters that are 0.58 wide and 0.8 high (in names: markup does not count). */
static int read_labels(const char *script, double font, frame *out) {
  int n = 0;
  for (const char *s = script; (s = strstr(s, "set label '")) && n < MOST; n++) {
    s += strlen("set label '");
    const char *end = strchr(s, '\'');
    int wide = 0;
    double x, y;
    char side[16];
    for (const char *c = s; c < end; c++) wide += !strchr("_{}\\", *c) && ((unsigned char)*c & 0xc0) != 0x80;
    AG_CHECK(sscanf(end, "' at %lf,%lf %15s", &x, &y, side) == 3);
    double w = 0.58 * font * wide, from = !strcmp(side, "left") ? x : !strcmp(side, "right") ? x - w : x - w / 2;
    out[n] = (frame){from, from + w, y - 0.4 * font, y + 0.4 * font};
    s = end;
  }
  return n;
}

static void try_box(const double *lo, const double *hi, bool equal, double width, double font) {
  double v[3][POINTS];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < POINTS; i++) v[a][i] = i < 8 ? (i >> a & 1 ? hi[a] : lo[a]) : lo[a] + (hi[a] - lo[a]) * i / 50;
  ag_curve curve = {.name = "c", .n = POINTS, .x = v[0], .y = v[1], .z = v[2]};
  const ag_panel p = {.x = "Omega[1]",
                      .y = "Omega[2]",
                      .z = "height",
                      .unit = {width > 200 ? "1/s" : "", width > 200 ? "1/s" : "", ""},
                      .space = true,
                      .equal = equal,
                      .n_curve = 1,
                      .n_named = 1,
                      .curves = &curve};
  ag_box box;
  ag_text script = {0};
  frame labels[MOST];
  ag_box_make(&p, width, 0.9 * width, font, &box);
  ag_box_axes(&box, &p, box.height, &script);
  AG_CHECK(box.left + box.width + box.right < width * (1 + 1e-9) && box.width > 0.2 * width);
  int n = read_labels(script.s, font, labels);
  AG_CHECK(n >= 6); /* three names, and a number on each axis */
  for (int i = 0; i < n; i++) {
    AG_CHECK(labels[i].x0 >= -box.left && labels[i].x1 <= box.width + box.right);
    AG_CHECK(labels[i].y0 >= -3.6 * font && labels[i].y1 <= box.height + 1.8 * font);
    for (int k = 0; k < i; k++) AG_CHECK(!meet(&labels[i], &labels[k]));
  }
  for (int i = 0; i < 8; i++) { /* all corners */
    double x = 0, y = box.bottom;
    for (int a = 0; a < 3; a++) {
      double part = (v[a][i] - box.lo[a]) / (box.hi[a] - box.lo[a]);
      AG_CHECK(part >= 0 && part <= 1);
      x += part * box.u[a], y += part * box.v[a];
    }
    AG_CHECK(x >= 0 && x <= box.width && y >= 0 && y <= box.height * (1 + 1e-12));
  }
  ag_text_done(&script);
}

int main(void) {
  static const double sides[] = {0, 1e-9, 0.2, 1, 7.3, 60, 2e5};
  static const double widths[] = {153, 244, 454}; /* points: a thumbnail, a column, a page */
  enum { N = sizeof sides / sizeof *sides };
  for (int k = 0; k < N * N * N; k++) {
    const double ext[3] = {sides[k % N], sides[k / N % N], sides[k / N / N]};
    double lo[3], hi[3];
    for (int a = 0; a < 3; a++) lo[a] = (a - 1.37) * ext[a] + (k % 2 ? 0 : 0.1), hi[a] = lo[a] + ext[a];
    for (int w = 0; w < 3; w++)
      for (int equal = 0; equal < 2; equal++) try_box(lo, hi, equal, widths[w], w ? 8 : 7);
  }
  return ag_check_report();
}
