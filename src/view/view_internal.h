/* SPDX-License-Identifier: MIT
 * Shared by the files of view/. */
#ifndef AG_VIEW_VIEW_INTERNAL_H
#define AG_VIEW_VIEW_INTERNAL_H
#include "base/escape.h"
#include "view/view.h"

ag_source *ag_source_create(const char *path); /* without columns */
ag_source *ag_source_h5(const char *path, ag_text *trouble);
ag_source *ag_source_csv(const char *path, ag_status *status, ag_text *trouble);
/* Is it the name of an observable that shows how well a contact is kept, 0 up to rounding? */
bool ag_source_residual(const char *name);
/* The column that holds number `at` of a row. */
const ag_column *ag_source_column_of(const ag_source *s, int at);

/* The unit of an entry of a column in a list "t=s,x=m", "" where there is none. */
const char *ag_unit_find(ag_arena *arena, const char *list, const char *column, const char *entry);
/* Does the source have all columns of the list of units? Else a line in *trouble. */
bool ag_units_check(const ag_source *s, const char *list, ag_text *trouble);

/* A number in this many digits, as one writes it: −0.5, 3.3×10⁻¹². */
void ag_number_plain(double v, int digits, ag_text *out);
/* The line about a run grows: "m = 1, g = 9.81; energy drift 3.3×10⁻¹²". */
void ag_about_value(ag_text *out, const char *name, double value);
/* A part of it for gnuplot: symbols are slanted, nothing is a command. */
void ag_about_enhanced(const char *line, ag_text *out);
void ag_about_drift(ag_text *out, double drift); /* NaN: not known */

/* A series as knots: rows, and for each the codes of value and slope. Value = lo + (hi - lo) code/65534 (65535: not a
 * number), slope = steep code/32767. */
typedef struct ag_knots {
  long n, *row;
  unsigned short *value;
  short *slope;
  double lo, hi, steep;
} ag_knots;
/* Chooses knots so that the cubics between them pass all n > 0 rows within `within` (times in order, no two equal). */
void ag_knots_make(ag_knots *k, long n, const double *t, const double *y, double within);
void ag_knots_done(ag_knots *k);
double ag_knots_at(const ag_knots *k, const double *t, double when); /* as the page reads them back */
/* The cubic with these values and slopes at its ends. */
double ag_knots_between(double t0, double y0, double s0, double t1, double y1, double s1, double t);

/* ---- figures ---- */

static inline int ag_choice_size(const ag_choice *c) { return c->last - c->first + 1; }
const char *ag_figure_name(ag_arena *arena, const ag_choice *c, int k); /* of number k of a choice */
/* "Omega", "Omega[1:2]", "x[2]": the label of the axis of a panel. */
const char *ag_figure_axis(ag_arena *arena, const ag_choice *c);
const char *ag_figure_unit(ag_figure *f, const ag_figure_request *o, const ag_choice *c);
double *ag_figure_copy(long n, const double *v); /* to be freed */

/* Of an ensemble, behind the mean: quantiles 0.05 to 0.95 and 0.25 to 0.75 if asked for, and two standard errors about
 * it. */
void ag_figure_bands(ag_panel *panel, const ag_source *s, const ag_choice *y, int k, int colour, long rows,
                     const double *x, const double *mean, bool quantiles);
/* Behind them, at most AG_MOST_CHOSEN paths of an ensemble whose rows are stored in full: a number over another one, or
 * over t (across: NULL). */
enum { AG_MOST_CHOSEN = 64 };
void ag_figure_chosen(ag_panel *panel, const ag_source *s, const char *across, const char *name, int colour, long rows,
                      const double *t);
/* density.c: the density that a list gives for a column: 1, its values at x (NaN where it is none); 0: it gives none;
 * -1 with a line in *trouble. */
int ag_density_of(const ag_source *s, const char *list, const char *column, long n, const double *x, double *y,
                  ag_text *trouble);
/* Are all columns of the list drawn? Else a line in *trouble. */
bool ag_density_check(const char *list, const ag_figure *f, ag_text *trouble);
/* A panel with the densities of the last row of an ensemble. */
AG_MUST_USE ag_status ag_figure_histogram(ag_figure *f, const ag_source *s, const ag_choice *y,
                                          const ag_figure_request *o, ag_text *trouble);
/* The line below the figure: what the curves of ensembles are, then that of the source; of several sources if they are
 * paths of the same model with the same noise. */
const char *ag_figure_about(ag_figure *f, int n, ag_source *const *sources, bool histogram);

/* Is it a table of strong and weak orders? */
bool ag_figure_has_orders(const ag_source *s);
/* The one curve of a panel as one for each method; zeros have no logarithm and are left out. */
AG_MUST_USE bool ag_figure_methods(ag_figure *f, ag_panel *panel, ag_source *s, ag_text *trouble);
/* source.c: "; it has t, x, y and 3 more" */
void ag_source_list(const ag_source *s, int most, ag_text *out);

/* gnuplot_range.c */
/* Where numbers count: at points with finite coordinates. */
void ag_panel_range(const ag_panel *p, bool vertical, double *lo, double *hi);
/* Does a quantity stay the same, up to the tolerance of runs? Its rounding is not drawn as if it were a motion. */
bool ag_is_flat(double lo, double hi);
/* The range of a quantity that stays the same: about its value, or -1 to 1 where it is 0 up to the absolute tolerance.
 */
void ag_flat_range(double quiet, double *lo, double *hi);
bool ag_shares_axis(const ag_figure *f); /* Do all panels have the same horizontal axis? */
#endif
