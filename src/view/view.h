/* SPDX-License-Identifier: MIT
 * Pictures: front header of view/. A source (a result file, a table, a motion) has named columns; a figure is made from
 * the columns that were asked for, or from a sensible choice; gnuplot draws it, or the terminal shows it.
 * Only numbers, checked names and escaped texts reach gnuplot. */
#ifndef AG_VIEW_VIEW_H
#define AG_VIEW_VIEW_H
#include <stdatomic.h>
#include <stdbool.h>

#include "api/api.h"
#include "base/arena.h"
#include "base/status.h"
#include "run/run.h"

/* ---- sources ---- */

typedef enum ag_source_kind {
  AG_SOURCE_RUN,     /* rows in time */
  AG_SOURCE_SECTION, /* rows at the crossings of a section */
  AG_SOURCE_BATCH,   /* one row per member */
  AG_SOURCE_CONVERGE /* one row per method and step size: a table of `anagyre converge` */
} ag_source_kind;

/* The times of an event. */
typedef struct ag_marks {
  const char *name;
  long n;
  const double *times;
} ag_marks;

/* A parameter of a run. */
typedef struct ag_parameter_value {
  const char *name;
  double value;
} ag_parameter_value;

typedef struct ag_source {
  ag_source_kind kind;
  ag_arena *arena;
  const char *path;  /* as messages call it */
  const char *title; /* of the model, "" when it is not known */
  const char *about; /* parameters, method and energy drift in one line, or "" */
  const char *noise; /* of one path with noise: its number, and "by euler_heun, dt = 0.01, seed 1"; else NULL */
  const char *steps;
  int n_column;
  ag_column *columns;  /* offsets count the numbers of a row */
  bool *swept;         /* per column: does it say which member a row belongs to? */
  int n_group;         /* of a table of methods: their names; */
  const char **groups; /* the numbers of the first column are places in this list */
  double rtol, atol;   /* tolerances of the steps; 0: none, or not known */
  int n_parameter;     /* of a result file: its scalar parameters */
  ag_parameter_value *parameters;
  int n_marks;
  ag_marks *marks;
  bool cut;                     /* the last line of a table has no end: a row that is not whole is left out */
  void *self;                   /* of read and done */
  const anagyre_motion *motion; /* of ag_source_motion, else NULL */
  /* Of an ensemble, whose rows are means: another statistic ("q05", "stderr", ...) of a column, [row][entry], or the
   * counts of its last row ("histogram", by the name of one number) with their bins; NULL: there is none. */
  const double *(*statistic)(const struct ag_source *s, const char *which, const ag_column *c);
  const long *(*histogram)(const struct ag_source *s, const char *name, long *n, double *from, double *width);
  /* Of an ensemble: the paths whose rows are stored in full; a number of theirs by its name, that of path k in row r at
   * [(k n_row + r) stride]; NULL: there is none. */
  long n_chosen;
  const double *(*chosen)(const struct ag_source *s, const char *name, long *stride);
  bool (*read)(struct ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble);
  void (*done)(void *self);
} ag_source;

/* A result file (.h5) or a table (.csv). NULL with a line in *trouble. */
ag_source *ag_source_file(const char *path, ag_status *status, ag_text *trouble);
/* A motion; it must live as long as the source. */
ag_source *ag_source_motion(const anagyre_motion *motion, anagyre_model *m);
/* It is one path with noise. */
void ag_source_path(ag_source *s, const char *method, double dt, unsigned long long seed, unsigned long long path);
/* The largest change of an energy that should be conserved; NaN where it is not. */
double ag_source_drift(const anagyre_motion *motion);
void ag_source_free(ag_source *s);
/* The numbers at these places of all rows: out[i] is an array of *n_row numbers, to be freed. */
bool ag_source_read(ag_source *s, int n, const int *at, double **out, long *n_row, ag_text *trouble);

/* One item of a list such as "spin,Omega[1:2],R[1,3]": some numbers of one column. */
typedef struct ag_choice {
  const ag_column *column;
  int first, last; /* entries */
} ag_choice;
/* The items of a list. A name that is not there: -1, and one line in *trouble. */
int ag_source_choices(const ag_source *s, const char *list, ag_choice *items, int most, ag_text *trouble);

/* ---- figures ---- */

typedef enum ag_style { AG_STYLE_LINE, AG_STYLE_LINE_POINTS, AG_STYLE_DOTS, AG_STYLE_IMAGE } ag_style;

typedef struct ag_curve {
  const char *name; /* of the column or the file */
  bool foreign;     /* the name is a text, not the name of a column */
  int colour, dash; /* counted from 0 */
  long n;
  double *x, *y, *z; /* z: height, or the value of a colour; or NULL */
  double band;       /* above 0: the area between y and z, with this opacity; it has no name */
  bool fine;         /* one of many: a thin line without a name */
} ag_curve;

typedef struct ag_panel {
  const char *x, *y, *z; /* names on the axes; NULL: none */
  const char *unit[3];   /* of x, y and z, or "" */
  ag_style style;
  bool equal;            /* one scale for all axes */
  bool log_x, log_y;     /* logarithmic axes */
  bool space;            /* a curve in three dimensions */
  const char *change_of; /* the axis shows |y - y(0)| of this quantity; or NULL */
  double allowed;        /* above 0: the change that the tolerance of the steps allows, drawn as a line */
  double quiet;          /* the absolute tolerance of the steps: numbers that stay below it are drawn as 0 */
  int n_curve, n_named;  /* n_named: all but bands and fine lines */
  ag_curve *curves;
} ag_panel;

typedef struct ag_figure {
  ag_arena *arena;
  const char *title, *about;
  int n_panel;
  ag_panel *panels;
  int n_marks;
  ag_marks *marks;
  long rows, points; /* read; left after thinning */
} ag_figure;

typedef struct ag_figure_request {
  const char *x, *y, *z; /* lists of columns; NULL: chosen */
  const char *title;     /* NULL: that of the model */
  const char *units;     /* "t=s,x=m": written beside the names; or NULL */
  bool drift;            /* |y - y(0)| on a logarithmic axis */
  double tolerance;      /* with drift: another relative tolerance than that of the steps; 0: that one */
  bool about;            /* with the line about parameters */
  bool histogram;        /* of an ensemble: densities at the last row instead of means over time */
  const char *density;   /* "x=EXPR;..." to be drawn beside them, or NULL */
} ag_figure_request;

/* False with a line in *trouble: AG_WRONG a name that is not there, AG_FAILED nothing to draw, AG_SYSTEM a file. */
AG_MUST_USE ag_status ag_figure_make(ag_figure *f, int n, ag_source *const *sources, const ag_figure_request *o,
                                     ag_text *trouble);
void ag_figure_done(ag_figure *f);

/* Of a curve whose x never falls (noise in time): in each column that is `within` times the width w wide the first, the
 * lowest, the highest and the last point. Returns how many are left: all where it is not such a curve. */
long ag_thin_columns(long n, double *x, double *y, double w, double within);
/* Leaves out points of a curve that is drawn over a range of w x h while it stays within `within` times the range of
 * what was there (a cone of directions, one pass). Returns how many are left. */
long ag_thin_curve(long n, double *x, double *y, double w, double h, double within);
/* Where an angle passes from one end of its full turn to the other (atan2 from pi to -pi) a curve gets a gap, one more
 * point, instead of a line across the panel. */
void ag_split_turns(long *n, double **x, double **y);
/* Keeps one of all points that share a cell of a fine grid; z goes along and may be NULL. */
long ag_thin_points(long n, double *x, double *y, double *z);

/* ---- drawing ---- */

/* Names as labels: "Omega[1]" is an Omega with an index. For gnuplot's enhanced text, and in plain Unicode. */
void ag_label_enhanced(const char *name, ag_text *out);
void ag_label_plain(const char *name, ag_text *out);
/* Is the apostrophe at `at` in a text the prime of a symbol, x' or r1', and not that of a word? */
bool ag_label_prime(const char *text, const char *at);
/* Units: "m/s^2" has a raised 2. */
void ag_unit_enhanced(const char *unit, ag_text *out);
void ag_unit_plain(const char *unit, ag_text *out);

typedef enum ag_figure_format { AG_FIGURE_PNG, AG_FIGURE_SVG, AG_FIGURE_PDF } ag_figure_format;
typedef struct ag_paper {
  ag_figure_format format;
  double width, height; /* cm; height 0: by the number of panels */
  double font;          /* points; 0: by the width */
} ag_paper;

/* The script of a figure, which writes `figure` and reads its numbers from `data`, and the numbers. */
void ag_gnuplot_script(const ag_figure *f, const ag_paper *paper, const char *figure, const char *data, ag_text *out);
void ag_gnuplot_data(const ag_figure *f, ag_text *out);
/* Runs gnuplot on the script in a folder, until it ends or *stop is set. False with a line in *trouble. */
bool ag_gnuplot_run(const char *folder, const char *script, const atomic_int *stop, ag_text *trouble);

/* The figure in Braille characters, this many columns wide. */
void ag_terminal_draw(const ag_figure *f, int columns, bool colour, ag_text *out);

#include "view/page.h"  /* the page of `anagyre view` */
#include "view/scene.h" /* what it shows */
#endif
