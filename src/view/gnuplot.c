/* SPDX-License-Identifier: MIT
 * Figures by gnuplot: its script. Names and titles stand in single quotes, escaped;
 * nothing else in the script comes from outside. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/gnuplot_internal.h"

/* Colours that most people can tell apart (Okabe and Ito). */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"};
enum { N_COLOUR = 7 };
static const int shapes[N_COLOUR] = {7, 5, 9, 11, 13, 6, 4}; /* points of gnuplot */

/* Sizes of a figure, in points. */
typedef struct page {
  double width, height, font;
  double left, right, top, bottom; /* margins of the stack of panels */
  ag_box space;                    /* of a curve in space */
  int key_rows, key_cols;          /* of the names below the panels; 0: they stand inside */
} page;

static const double point = 72 / 2.54; /* points in a centimetre */
static const double name_place = 1.7;  /* names of vertical axes, in letters from the left end of the page */
static const double own_axis = 3.4;    /* letters that the numbers and the name of a horizontal axis take */

static void quoted_label(const char *name, ag_text *out) {
  ag_text_char(out, '\'');
  ag_label_enhanced(name, out);
  ag_text_char(out, '\'');
}

static void put_unit(const char *unit, ag_text *out) {
  if (!unit || !*unit) return;
  ag_text_str(out, " (");
  ag_unit_enhanced(unit, out);
  ag_text_char(out, ')');
}

void ag_quoted_axis(const char *name, const char *unit, ag_text *out) {
  ag_text_char(out, '\'');
  ag_label_enhanced(name, out);
  put_unit(unit, out);
  ag_text_char(out, '\'');
}

/* gnuplot 5 takes a doubled quote for the end of the text at its beginning, so that a text gets another apostrophe: the
 * prime of a velocity, x', or that of a word. */
static void quoted_text(const char *s, ag_text *out) {
  ag_text text = {0};
  for (const char *at = s; *at; at++) {
    if (*at == '\'') ag_text_str(&text, ag_label_prime(s, at) ? "′" : "’");
    else ag_text_char(&text, *at);
  }
  ag_text_char(out, '\'');
  ag_escape_gnuplot(out, ag_text_cstr(&text));
  ag_text_char(out, '\'');
  ag_text_done(&text);
}

static void quoted_path(const char *s, ag_text *out) {
  ag_text_str(out, *s == '\'' ? "'./" : "'");
  ag_escape_gnuplot(out, s);
  ag_text_char(out, '\'');
}

int ag_characters(const char *s) {
  int n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

/* ---- the page ---- */

/* Letters beside the main ones: smaller, but never below 7 points, which journals want at least. */
static double small_font(const page *g) { return fmax(fmin(7, g->font), 0.85 * g->font); }

/* Characters in a line of the page. */
static int line_width(const page *g, double font) { return (int)((g->width - 2 * g->font) / (0.58 * font)); }

/* The bytes of a text that go on one line: up to the last comma or space that fits. */
static size_t line_end(const char *s, int wide, const char *after) {
  size_t n = 0, best = 0;
  for (int k = 0; s[n] && k < wide; k++) {
    n++;
    while (((unsigned char)s[n] & 0xc0) == 0x80) n++;
    if (s[n - 1] == ' ' && (!*after || (n > 1 && strchr(after, s[n - 2])))) best = n;
  }
  return s[n] && best ? best : n;
}

/* Lines that a text takes, at most `most`. */
static int lines_of(const char *s, int wide, const char *after, int most) {
  int n = 0;
  for (; *s && n < most; n++) s += line_end(s, wide, after);
  return n;
}

static int about_lines(const ag_figure *f, const page *g) {
  return lines_of(f->about, line_width(g, small_font(g)), ",;", 4);
}

static int title_lines(const ag_figure *f, const page *g) { return lines_of(f->title, line_width(g, g->font), "", 3); }

/* stacked: the label at the lower end is left out, where it would stand upon that of the panel below. */
static void put_decades(const ag_panel *p, char axis, bool stacked, double room, ag_text *out) {
  int lo, hi, step = 1;
  ag_log_range(p, axis == 'y', &lo, &hi);
  while (hi - lo > room * step) step++;
  int first = (int)ceil((double)lo / step) * step;
  if (stacked && first == lo && first + 2 * step <= hi) first += step;
  ag_text_printf(out, "set %crange [1e%d:1e%d]\nset %ctics 1e%d,1e%d\n", axis, lo, hi, axis, first, step);
  ag_text_printf(out, step > 1 ? "unset m%ctics\n" : "set m%ctics 10\n", axis);
}

/* Characters of the widest number beside the vertical axes of panels of this height, in letters. */
static int label_width(const ag_figure *f, double letters) {
  int widest = 3;
  for (int i = 0; i < f->n_panel; i++) {
    int n = ag_vertical_width(&f->panels[i], f->n_panel > 1, letters);
    widest = n > widest ? n : widest;
  }
  return widest < 16 ? widest : 16;
}

static ag_mark_axis mark_axis(const ag_figure *f, const page *g) {
  ag_mark_axis x = {.length = g->width - g->left - g->right, .font = g->font};
  ag_panel_range(&f->panels[0], false, &x.lo, &x.hi);
  return x;
}

/* The height of a panel with one scale for both axes, so that no space is left empty. */
static double equal_height(const ag_figure *f, double inner) {
  double x0, x1, y0, y1;
  ag_panel_range(&f->panels[0], false, &x0, &x1);
  ag_panel_range(&f->panels[0], true, &y0, &y1);
  double ratio = x1 > x0 && y1 > y0 ? (y1 - y0) / (x1 - x0) : 1;
  return inner * fmin(fmax(ratio, 0.42), 1.1);
}

/* Has no panel before this one, and no curve before this one, the name of curve k of panel i? */
static bool is_new_name(const ag_figure *f, int i, int k) {
  const ag_curve *c = &f->panels[i].curves[k];
  if (c->band > 0 || c->fine) return false;
  for (int j = 0; j <= i; j++)
    for (int m = 0; m < (j < i ? f->panels[j].n_curve : k); m++)
      if (!strcmp(f->panels[j].curves[m].name, c->name)) return false;
  return true;
}

/* Files and methods are named below the panels, in columns: those of all panels. */
static void place_key(const ag_figure *f, page *g) {
  int widest = 0, named = f->panels[0].n_named;
  if (named < 2 || !f->panels[0].curves[0].foreign) return;
  for (int i = 0; i < f->n_panel; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++) {
      int n = ag_characters(f->panels[i].curves[k].name);
      widest = n > widest ? n : widest;
      named += i > 0 && is_new_name(f, i, k);
    }
  g->key_cols = (int)((g->width - 2 * g->font) / ((0.56 * widest + 4) * small_font(g)));
  g->key_cols = g->key_cols < 1 ? 1 : g->key_cols > named ? named : g->key_cols;
  g->key_rows = (named + g->key_cols - 1) / g->key_cols;
}

/* Far from 0 numbers need more digits to differ, and more room. */
static double horizontal_step(const page *g, double lo, double hi) {
  double room = (g->width - g->left - g->right) / g->font, n = fmax(2, fmin(8, room / 5));
  double step = ag_tic_step(lo, hi, n);
  while (n > 2 && (hi - lo) / step * (ag_tic_width(lo, hi, step) * 0.62 + 1.2) > room) step = ag_tic_step(lo, hi, --n);
  return step;
}

/* What the last number below a panel takes beyond its right end. */
static double beyond(const ag_figure *f, const page *g) {
  double most = 0, room = g->width - g->left - g->right, lo, hi;
  for (int i = 0; i < f->n_panel; i++) {
    const ag_panel *p = &f->panels[i];
    ag_panel_range(p, false, &lo, &hi);
    if (!(hi > lo) || p->log_x || p->equal || p->space) continue;
    double step = horizontal_step(g, lo, hi), last = floor(hi / step * (1 + 1e-12)) * step;
    double half = 0.31 * ag_tic_width(last - step / 2, last + step / 2, step) * g->font;
    most = fmax(most, half - fmax(0, hi - last) / (hi - lo) * room);
  }
  return most;
}

static page page_of(const ag_figure *f, const ag_paper *paper) {
  const ag_panel *first = &f->panels[0];
  page g = {.width = paper->width * point, .font = paper->font > 0 ? paper->font : paper->width < 10 ? 8 : 9};
  bool square = first->equal || first->style == AG_STYLE_DOTS;
  double each = f->n_panel == 1 ? (square ? 0.8 : 0.62) * g.width : fmax(0.24 * g.width, 6 * g.font);
  int about = about_lines(f, &g), title = title_lines(f, &g);
  const double about_each = paper->height > 0 ? 0.8 * paper->height * point / f->n_panel : each;
  g.left = (name_place + 1.9 + 0.62 * label_width(f, about_each / g.font)) * g.font;
  g.right = (ag_scale_there(f) ? ag_scale_width(f) : 1.8) * g.font;
  g.right = fmax(g.right, beyond(f, &g) + 0.4 * g.font);
  const ag_mark_axis time = mark_axis(f, &g);
  g.top = (title ? 1 + 1.2 * title : 0.8) * g.font + 1.3 * ag_mark_lines(f, &time) * g.font;
  place_key(f, &g);
  g.bottom = (4.7 + 1.2 * about + 1.35 * g.key_rows) * g.font;
  if (first->space) {
    g.top += 1.8 * g.font, g.bottom -= g.font;
    double most = paper->height > 0 ? paper->height * point - g.top - g.bottom : 0.9 * g.width;
    ag_box_make(first, g.width, most, g.font, &g.space);
    g.left = g.space.left, g.right = g.space.right, each = g.space.height;
  } else if (f->n_panel == 1 && first->equal) {
    each = equal_height(f, g.width - g.left - g.right);
  }
  if (!ag_shares_axis(f)) each += own_axis * g.font;
  g.height = paper->height > 0 ? paper->height * point : g.top + g.bottom + f->n_panel * each;
  return g;
}

static void put_terminal(const page *g, ag_figure_format format, const char *figure, ag_text *out) {
  static const double dots = 200.0 / 72; /* 200 to the inch */
  switch (format) {
  case AG_FIGURE_PNG:
    ag_text_printf(
        out,
        "set terminal pngcairo enhanced rounded background 'white' size %.0f,%.0f font 'DejaVu Sans,%g' fontscale "
        "%.4f linewidth %.3f\n",
        g->width * dots, g->height * dots, g->font, dots * 0.75, dots * 0.6);
    break;
  case AG_FIGURE_SVG:
    ag_text_printf(
        out,
        "set terminal svg enhanced rounded background 'white' size %.0f,%.0f font 'DejaVu Sans,%g' fontscale 1.3333 "
        "linewidth 0.8\n",
        g->width * 4 / 3, g->height * 4 / 3, g->font);
    break;
  case AG_FIGURE_PDF:
    ag_text_printf(out,
                   "set terminal pdfcairo enhanced rounded background 'white' size %.3fcm,%.3fcm font 'DejaVu Sans,%g' "
                   "fontscale 0.75 linewidth 0.8\n",
                   g->width / point, g->height / point, g->font);
    break;
  }
  ag_text_str(out, "set encoding utf8\nset minussign\nset output ");
  quoted_path(figure, out);
  ag_text_str(out, "\nset border 3 linecolor rgb '#404040' linewidth 0.7\n"
                   "set tics nomirror out scale 0.5 textcolor rgb '#202020'\n"
                   "set datafile missing 'nan'\n");
}

/* ---- panels ---- */

/* Tics as far apart as their labels need. */
static void put_vertical(const ag_panel *p, const page *g, bool stacked, double height, ag_text *out) {
  double lo, hi;
  ag_vertical_range(p, stacked, &lo, &hi);
  double step = ag_vertical_step(p, stacked, height / g->font);
  ag_text_printf(out, "set yrange [%.17g:%.17g]\nset ytics %.17g\n", lo, hi, step);
  ag_text_printf(out, "set format y '%%.%dh'\n", ag_tic_digits(lo, hi, step));
}

/* Digits of the numbers below a panel. */
static int horizontal_digits(const ag_panel *p, const page *g, double lo, double hi) {
  if (!(hi > lo) || p->log_x) return 6;
  return ag_tic_digits(lo, hi, p->equal ? (hi - lo) / 4 : horizontal_step(g, lo, hi));
}

static void put_horizontal(const ag_panel *p, const page *g, double lo, double hi, ag_text *out) {
  double beside = p->style == AG_STYLE_LINE && !strcmp(p->x, "t") ? 0 : 0.03 * (hi - lo);
  ag_text_printf(out, "set xtics %.17g\n", horizontal_step(g, lo, hi));
  if (p->style == AG_STYLE_IMAGE) ag_text_str(out, "set xrange [*:*] noextend\n");
  else ag_text_printf(out, "set xrange [%.17g:%.17g]\n", lo - beside, hi + beside);
}

/* Places: one scale for both axes, so that the panel is filled in one direction and not left in the other. */
static void put_equal(const ag_panel *p, const page *g, double height, ag_text *out) {
  double lo[2], hi[2], length[2] = {g->width - g->left - g->right, height}, size = 0, step = INFINITY;
  for (int a = 0; a < 2; a++) {
    ag_panel_range(p, a == 1, &lo[a], &hi[a]);
    size = fmax(size, 1.06 * (hi[a] - lo[a]) / length[a]);
  }
  if (!(size > 0) || !isfinite(size)) size = 1 / length[0]; /* one point */
  for (int a = 0; a < 2; a++)
    step = fmin(step, ag_tic_step(0, size * length[a], fmax(2, fmin(8, length[a] / ((a ? 3.4 : 5) * g->font)))));
  for (int a = 0; a < 2; a++) {
    double middle = (lo[a] + hi[a]) / 2, half = size * length[a] / 2;
    double own = size * length[a] / step * (a ? 1.8 : 3.4) * g->font > length[a] ? 2 * step : step; /* no crowding */
    if (floor((middle + half) / own) <= ceil((middle - half) / own))
      own = ag_tic_step_two(middle - half, middle + half, 2);
    ag_text_printf(out, "set %crange [%.17g:%.17g]\nset %ctics %.17g\n", "xy"[a], middle - half, middle + half, "xy"[a],
                   own);
    if (a) ag_text_printf(out, "set format y '%%.%dh'\n", ag_tic_digits(middle - half, middle + half, own));
  }
}

/* Characters of a name as it is drawn: tyre.contact[2] has 13. */
static int drawn_characters(const char *name) {
  ag_text plain = {0};
  ag_label_plain(name, &plain);
  int n = ag_characters(ag_text_cstr(&plain));
  ag_text_done(&plain);
  return n;
}

void ag_upright(const char *name, const char *unit, double room, ag_text *out) {
  int most = (int)room - (unit && *unit ? ag_characters(unit) + 3 : 0), kept = 0;
  bool cut = drawn_characters(name) > (most < 5 ? 5 : most);
  ag_text part = {0};
  for (const char *s = name; *s && (!cut || kept < most - 1 || kept < 4); kept++) {
    do ag_text_char(&part, *s++);
    while (((unsigned char)*s & 0xc0) == 0x80);
  }
  ag_label_enhanced(ag_text_cstr(&part), out);
  if (cut) ag_text_str(out, "…");
  put_unit(unit, out);
  ag_text_done(&part);
}

/* digits: of the numbers below. room: characters that fit along the vertical axis. */
static void put_axes(const ag_panel *p, const page *g, bool bottom, int digits, double room, ag_text *out) {
  ag_text_str(out, "set xlabel ");
  ag_quoted_axis(bottom ? p->x : "", bottom ? p->unit[0] : "", out);
  if (bottom) ag_text_printf(out, " offset 0,0.3\nset format x '%%.%dh'\n", digits);
  else ag_text_str(out, "\nset format x ''\n");
  ag_text_str(out, "set label "); /* not the label of the axis, whose place depends on the numbers of its own panel */
  if (p->change_of) {
    ag_text_str(out, "'|Δ ");
    ag_upright(p->change_of, "", room - 4, out);
    ag_text_char(out, '|');
    put_unit(p->unit[1], out);
  } else {
    ag_text_char(out, '\'');
    ag_upright(p->y, p->unit[1], room, out);
  }
  ag_text_printf(out, "' at screen %.5f, graph 0.5 center rotate\n", name_place * g->font / g->width);
  if (p->log_x) ag_text_printf(out, "set logscale x\n%s", bottom ? "set format x '10^{%T}'\n" : "");
  if (p->log_y) ag_text_str(out, "set logscale y\nset format y '10^{%T}'\n");
  else ag_text_str(out, "unset logscale y\n");
}

static void put_style(const ag_panel *p, const ag_curve *c, ag_text *out) {
  const char *colour = colours[c->colour % N_COLOUR];
  if (c->band > 0) {
    ag_text_printf(out, " with filledcurves fillstyle transparent solid %g noborder linecolor rgb '%s'", c->band,
                   colour);
    return;
  }
  switch (p->style) {
  case AG_STYLE_LINE:
    ag_text_printf(out, " with lines linewidth %g dashtype %d linecolor rgb '%s'", c->fine ? 0.4 : 1.3, c->dash % 5 + 1,
                   colour);
    return;
  case AG_STYLE_LINE_POINTS:
    ag_text_printf(out, " with linespoints linewidth 1.2 pointtype %d pointsize %g dashtype %d linecolor rgb '%s'",
                   c->foreign ? shapes[c->colour % N_COLOUR] : 7,
                   c->n < 8     ? 0.5
                   : c->foreign ? 0.35
                                : 0.25,
                   c->dash % 5 + 1, colour);
    return;
  case AG_STYLE_DOTS:
    ag_text_printf(out, " with points pointtype 7 pointsize %g ", c->n > 5000 ? 0.06 : c->n > 500 ? 0.12 : 0.25);
    if (c->z) ag_text_str(out, "linecolor palette");
    else ag_text_printf(out, "linecolor rgb '%s'", colour);
    return;
  case AG_STYLE_IMAGE: ag_text_str(out, " with image"); return;
  }
}

static void put_name(const ag_curve *c, ag_text *out) {
  ag_text_str(out, " title ");
  if (c->foreign) quoted_text(c->name, out), ag_text_str(out, " noenhanced");
  else quoted_label(c->name, out);
}

static void put_curves(const ag_panel *p, const page *g, int index, const char *data, ag_text *out) {
  ag_text_str(out, "plot ");
  for (int k = 0; k < p->n_curve; k++) {
    const ag_curve *c = &p->curves[k];
    const bool named = p->n_named > 1 && c->band == 0 && !c->fine;
    const bool dots = p->style == AG_STYLE_DOTS && !c->z;
    if (k) ag_text_str(out, ", \\\n  ");
    quoted_path(data, out);
    ag_text_printf(out, " index %d using ", index + k);
    if (p->space) ag_box_using(&g->space, out);
    else ag_text_str(out, c->z ? "1:2:3" : "1:2");
    put_style(p, c, out);
    if (named && !dots) put_name(c, out);
    else ag_text_str(out, " notitle");
    if (!named || !dots) continue; /* fine points would not be seen beside their names */
    ag_text_printf(out, ", \\\n  NaN with points pointtype 7 pointsize 0.6 linecolor rgb '%s'",
                   colours[c->colour % N_COLOUR]);
    put_name(c, out);
  }
}

/* The names of curves that other panels alone have. */
static void put_other_names(const ag_figure *f, ag_text *out) {
  for (int i = 1; i < f->n_panel; i++)
    for (int k = 0; k < f->panels[i].n_curve; k++) {
      if (!is_new_name(f, i, k)) continue;
      ag_text_str(out, ", \\\n  NaN");
      put_style(&f->panels[i], &f->panels[i].curves[k], out);
      put_name(&f->panels[i].curves[k], out);
    }
}

/* Names of curves: in a corner of the panel; those that all panels share below the last. */
static void put_key(const ag_figure *f, const page *g, ag_text *out) {
  ag_text_printf(out, "set key horizontal samplen 1.4 font ',%g' ", small_font(g));
  if (!g->key_rows) ag_text_str(out, "top right opaque\n");
  else
    ag_text_printf(out, "at screen %.5f, screen %.5f left top Left reverse maxcols %d\n", g->font / g->width,
                   ((0.8 + 1.2 * about_lines(f, g)) * g->font + 1.35 * g->key_rows * g->font) / g->height, g->key_cols);
}

/* The change that the tolerance allows, a dotted line with its name. */
static void put_allowed(const ag_panel *p, const page *g, ag_text *out) {
  if (!(p->allowed > 0)) return;
  ag_text size = {0};
  ag_number_plain(p->allowed, 1, &size);
  ag_text_printf(out,
                 "set arrow from graph 0, first %.10g to graph 1, first %.10g nohead back dashtype 3 linewidth 1.2 "
                 "linecolor rgb '#505050'\n"
                 "set label 'tolerance %s' at graph 0.01, first %.10g left offset 0,0.45 font ',%g' textcolor rgb "
                 "'#505050'\n",
                 p->allowed, p->allowed, ag_text_cstr(&size), p->allowed, small_font(g));
  ag_text_done(&size);
}

static void put_ranges(const ag_figure *f, const ag_panel *p, const page *g, double height, double lo, double hi,
                       ag_text *out) {
  ag_text_str(out, "set format y '%h'\n");
  if (p->equal) {
    put_equal(p, g, height, out);
    return;
  }
  if (p->log_x) put_decades(p, 'x', false, (g->width - g->left - g->right) / (4 * g->font), out);
  else if (hi > lo) put_horizontal(p, g, lo, hi, out);
  if (p->log_y) put_decades(p, 'y', f->n_panel > 1, height / (2.6 * g->font), out);
  else if (p->style != AG_STYLE_IMAGE) put_vertical(p, g, f->n_panel > 1, height, out);
  else ag_text_str(out, "set yrange [*:*] noextend\nset ytics autofreq\n");
}

static void put_panel(const ag_figure *f, const page *g, int i, int index, const char *data, ag_text *out) {
  const ag_panel *p = &f->panels[i];
  bool shared = ag_shares_axis(f), last = i == f->n_panel - 1;
  double stack = g->height - g->top - g->bottom, gap = f->n_panel > 1 ? 0.9 * g->font : 0;
  if (!shared) gap += own_axis * g->font;
  double each = (stack - (f->n_panel - 1) * gap) / f->n_panel; /* all panels are equally high */
  double top = g->height - g->top - i * (each + gap), bottom = top - each, lo, hi;
  ag_text_printf(out, "\n# panel %d\nunset arrow\nunset label\nunset key\n", i + 1);
  ag_text_printf(out,
                 "set tmargin at screen %.5f\nset bmargin at screen %.5f\nset lmargin at screen %.5f\nset rmargin at "
                 "screen %.5f\n",
                 top / g->height, bottom / g->height, g->left / g->width, 1 - g->right / g->width);
  ag_panel_range(p, false, &lo, &hi);
  if (p->n_named > 1 && (i == 0 || !p->curves[0].foreign)) put_key(f, g, out);
  if (p->space) {
    ag_box_axes(&g->space, p, each, out);
  } else {
    put_ranges(f, p, g, each, lo, hi, out);
    put_axes(p, g, last || !shared, horizontal_digits(p, g, lo, hi), each / (0.52 * g->font) + 3,
             out); /* a little beyond its ends */
    const ag_scale_place place = {g->width, g->height, g->width - g->right, bottom, each, g->font};
    if (p->z) ag_scale_put(f, p, &place, out);
    if (hi > lo) {
      const ag_mark_axis time = mark_axis(f, g);
      ag_mark_put(f, &time, i == 0, small_font(g), out);
    }
    put_allowed(p, g, out);
  }
  put_curves(p, g, index, data, out);
  if (i == 0 && g->key_rows) put_other_names(f, out);
  ag_text_char(out, '\n');
}

/* A text on several lines, the last of them at the height `bottom` (in points); broken after these characters. */
static void put_lines(const char *s, int lines, const page *g, double font, double bottom, const char *after,
                      bool enhanced, ag_text *out) {
  int wide = line_width(g, font);
  for (int i = 0; i < lines && *s; i++) {
    size_t n = line_end(s, wide, after);
    ag_text part = {0};
    ag_text_strn(&part, s, n);
    if (i == lines - 1 && s[n]) ag_text_str(&part, "…");
    ag_text_str(out, enhanced ? "set label '" : "set label ");
    if (enhanced) ag_about_enhanced(part.s, out);
    else quoted_text(part.s, out);
    ag_text_printf(out, "%s at screen %.5f, screen %.5f left font ',%g' textcolor rgb '%s'\n",
                   enhanced ? "'" : " noenhanced", g->font / g->width,
                   (bottom + (lines - 1 - i) * 1.15 * g->font) / g->height, font, enhanced ? "#707070" : "#202020");
    ag_text_done(&part);
    s += n;
  }
}

void ag_gnuplot_script(const ag_figure *f, const ag_paper *paper, const char *figure, const char *data, ag_text *out) {
  page g = page_of(f, paper);
  put_terminal(&g, paper->format, figure, out);
  ag_text_str(out, "set multiplot\n");
  int index = 0;
  for (int i = 0; i < f->n_panel; i++) {
    put_panel(f, &g, i, index, data, out);
    index += f->panels[i].n_curve;
  }
  /* texts of the whole page, on an empty panel */
  ag_text_str(out, "\nreset\nunset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\n");
  int title = title_lines(f, &g);
  put_lines(f->about, about_lines(f, &g), &g, small_font(&g), 0.8 * g.font, ",;", true, out);
  put_lines(f->title, title, &g, g.font, g.height - (1.15 * title - 0.05) * g.font, "", false, out);
  ag_text_str(out, "plot NaN notitle\nunset multiplot\nset output\n");
}
