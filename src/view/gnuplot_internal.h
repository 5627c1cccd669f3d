/* SPDX-License-Identifier: MIT
 * Shared by the files that write gnuplot's script. Lengths are in points. */
#ifndef AG_VIEW_GNUPLOT_INTERNAL_H
#define AG_VIEW_GNUPLOT_INTERNAL_H
#include "view/view_internal.h"

/* 1, 2 or 5 times a power of ten, so that about n fit into the range. */
double ag_tic_step(double lo, double hi, double n);
/* The same, but two tics at least: one number alone is no scale. */
double ag_tic_step_two(double lo, double hi, double n);
/* The step of the numbers beside a panel of this height, in letters, and the characters of the widest of them. */
double ag_vertical_step(const ag_panel *p, bool stacked, double letters);
int ag_vertical_width(const ag_panel *p, bool stacked, double letters);
/* Digits that tell the numbers at tics apart, at least 6. */
int ag_tic_digits(double lo, double hi, double step);
/* The vertical range of a panel: a little beyond its numbers; rounding and tolerances do not fill it. */
void ag_vertical_range(const ag_panel *p, bool stacked, double *lo, double *hi);
/* The decades of a logarithmic axis, with room for names above the curves. */
void ag_log_range(const ag_panel *p, bool vertical, int *lo, int *hi);
/* Are these numbers 0, as far as a run with this absolute tolerance can tell? */
bool ag_is_nothing(double lo, double hi, double quiet);
/* Characters that the widest number at tics takes. */
int ag_tic_width(double lo, double hi, double step);

/* A time axis as events see it: from lo to hi along this length, with letters of this size. */
typedef struct ag_mark_axis {
  double lo, hi, length, font;
} ag_mark_axis;
/* Lines of names that events take above the panels. */
int ag_mark_lines(const ag_figure *f, const ag_mark_axis *x);
/* Lines at the events; their names in letters of this size. */
void ag_mark_put(const ag_figure *f, const ag_mark_axis *x, bool names, double font, ag_text *out);

/* The number of characters of a text, for guessing widths. */
int ag_characters(const char *s);
/* "'x_1 (m)'": a name with its unit, in quotes. */
void ag_quoted_axis(const char *name, const char *unit, ag_text *out);

/* A name on a vertical axis; one that is longer than so many characters is cut off, and does not run into the next. */
void ag_upright(const char *name, const char *unit, double room, ag_text *out);

/* Where a scale of colours stands: beside a panel that ends there, from its bottom upwards. */
typedef struct ag_scale_place {
  double page_width, page_height, right, bottom, height, font;
} ag_scale_place;
bool ag_scale_there(const ag_figure *f);
double ag_scale_width(const ag_figure *f); /* in letters, with its numbers and its name */
void ag_scale_put(const ag_figure *f, const ag_panel *p, const ag_scale_place *at, ag_text *out);

/* A box in space, seen from above at an angle: where its axes lie on the page. */
typedef struct ag_box {
  double lo[3], hi[3], step[3];
  double u[3], v[3];    /* per axis: to the right and upwards, along the whole side */
  double bottom;        /* of the origin above the lowest corner */
  double width, height; /* of the box on the page */
  double left, right;   /* room for numbers and names beside it */
  double font;
} ag_box;
/* On a page of this width; the box gets no higher than `most`. */
void ag_box_make(const ag_panel *p, double width, double most, double font, ag_box *s);
/* Ranges, lines, numbers and names, for a panel of this height. */
void ag_box_axes(const ag_box *s, const ag_panel *p, double height, ag_text *out);
void ag_box_using(const ag_box *s, ag_text *out); /* "(...):(...)": columns 1 to 3 on the page */
#endif
