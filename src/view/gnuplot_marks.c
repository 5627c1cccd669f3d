/* SPDX-License-Identifier: MIT
 * Events in figures: dashed lines through all panels, named above the first one. */
#include <math.h>
#include <stdlib.h>

#include "view/gnuplot_internal.h"

enum { FEW = 4, LINES = 3, MOST_MARKS = 400 };

typedef struct label {
  double at, from, wide; /* its event, its left end and its width, in points along the panel */
  int line;              /* counted from 0 upwards; -1: there is no room for it */
  const char *name;
  double time;
  long count; /* above 0: how often the event happens, instead of the time */
} label;

static void write_label(const label *l, bool enhanced, ag_text *out) {
  if (enhanced) ag_label_enhanced(l->name, out);
  else ag_label_plain(l->name, out);
  if (l->count) ag_text_printf(out, ", %ld times", l->count);
  else ag_text_printf(out, " %s = %.5g", enhanced ? "{/:Italic t}" : "t", l->time);
}

static int by_place(const void *a, const void *b) {
  const label *l = a, *m = b;
  return l->from != m->from ? (l->from > m->from) - (l->from < m->from) : (l->at > m->at) - (l->at < m->at);
}

/* An event that happens often has one label. Labels stand on up to three lines so that they do not meet. */
static int place(const ag_figure *f, const ag_mark_axis *x, label **labels) {
  int n = 0, room = 0;
  for (int e = 0; e < f->n_marks; e++) room += FEW;
  label *all = *labels = ag_heap_alloc(sizeof *all * (size_t)(room + 1));
  for (int e = 0; e < f->n_marks; e++) {
    const ag_marks *m = &f->marks[e];
    bool named = false;
    for (long i = 0; i < m->n && i < MOST_MARKS && !named; i++) {
      double at = (m->times[i] - x->lo) / (x->hi - x->lo) * x->length;
      if (!(at >= -1e-9 && at <= x->length * (1 + 1e-9))) continue;
      label l = {.at = at, .name = m->name, .time = m->times[i], .count = m->n > FEW ? m->n : 0};
      ag_text text = {0};
      write_label(&l, false, &text);
      l.wide = ag_characters(ag_text_cstr(&text)) * 0.52 * x->font;
      l.from = fmax(fmin(at - l.wide / 2, x->length - l.wide), 0);
      ag_text_done(&text);
      all[n++] = l;
      named = l.count > 0;
    }
  }
  qsort(all, (size_t)n, sizeof *all, by_place);
  double end[LINES] = {-INFINITY, -INFINITY, -INFINITY};
  for (int i = 0; i < n; i++) {
    int line = 0;
    while (line < LINES && !(all[i].from > end[line])) line++;
    all[i].line = line < LINES ? line : -1;
    if (line < LINES) end[line] = all[i].from + all[i].wide + x->font;
  }
  return n;
}

int ag_mark_lines(const ag_figure *f, const ag_mark_axis *x) {
  label *labels;
  int n = place(f, x, &labels), lines = 0;
  for (int i = 0; i < n; i++) lines = labels[i].line + 1 > lines ? labels[i].line + 1 : lines;
  free(labels);
  return lines;
}

void ag_mark_put(const ag_figure *f, const ag_mark_axis *x, bool names, double font, ag_text *out) {
  for (int e = 0; e < f->n_marks; e++)
    for (long i = 0; i < f->marks[e].n && i < MOST_MARKS; i++) {
      double t = f->marks[e].times[i], beside = 1e-9 * (x->hi - x->lo);
      if (!(t >= x->lo - beside && t <= x->hi + beside)) continue;
      ag_text_printf(
          out,
          "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead back dashtype (6,5) linewidth 0.8 "
          "linecolor rgb '#808080'\n",
          t, t);
    }
  if (!names) return;
  label *labels;
  int n = place(f, x, &labels);
  for (int i = 0; i < n; i++) {
    if (labels[i].line < 0) continue;
    ag_text_str(out, "set label '");
    write_label(&labels[i], true, out);
    ag_text_printf(out, "' at graph %.4f, graph 1 left offset 0,%g font ',%g' textcolor rgb '#505050'\n",
                   labels[i].from / x->length, 0.55 + 1.0 * labels[i].line, font);
  }
  free(labels);
}
