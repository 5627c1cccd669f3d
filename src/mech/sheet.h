/* SPDX-License-Identifier: MIT
 * A sheet of equations to be printed (show.c): lines left = right under headings, all in normal form. The expression of
 * a `let` of the model is printed by its name, and a long piece used more than once gets a name. */
#ifndef AG_MECH_SHEET_H
#define AG_MECH_SHEET_H
#include "mech/mech_internal.h"

typedef struct ag_sheet_line {
  const char *heading; /* or NULL: an equation */
  const char *note;    /* text below the heading, or NULL */
  const char *tex;     /* the same for LaTeX, or NULL */
  ag_id left, right;
} ag_sheet_line;

typedef struct ag_sheet {
  ag_system *sys;
  ag_graph *g;
  ag_arena *a;
  bool latex, standalone; /* standalone: headings are printed, else they are comments */
  double width;           /* of a line in LaTeX, as ag_tex_width counts; that of a page of paper */
  int n, cap;
  ag_sheet_line *lines;
  int n_let, n_known; /* scalars that may turn up as factors and their names: lets, then velocities */
  ag_id *let, *let_as;
  int n_symmetric; /* parameters that are symmetric matrices, and their transposes */
  ag_id *symmetric, *transposed;
  const ag_id *velocity; /* xi in terms of u: sys->xi_of_u, or with names in it */
  int n_turn;            /* rotations that are printed by names, and these */
  const ag_id *turn, *turn_as;
  ag_id *given; /* per let: 0, or its name where the caller defines it */
} ag_sheet;

void ag_sheet_init(ag_sheet *s, ag_system *sys);
void ag_sheet_done(ag_sheet *s);
void ag_sheet_heading(ag_sheet *s, const char *heading, const char *note);
void ag_sheet_add(ag_sheet *s, ag_id left, ag_id right);
void ag_sheet_know(ag_sheet *s, ag_id x, ag_id as); /* from now on, x as a factor is printed as `as`, an input */
ag_id ag_sheet_normal(const ag_sheet *s, ag_id x);  /* x in normal form, with the names of lets */
/* Leaves out parameters and coordinates that are factors of both sides of an equation. */
void ag_sheet_cancel(const ag_sheet *s, ag_id *left, ag_id *right);
ag_id ag_sheet_plain(const ag_sheet *s, ag_id x); /* x without guards that only serve the computation */
/* A new name for a node of this shape: an input. */
ag_id ag_sheet_name(ag_sheet *s, const char *name, int rows, int cols, ag_leaf leaf);
ag_id ag_sheet_top(const ag_sheet *s); /* the last node that a line shows */
void ag_sheet_print(ag_sheet *s, ag_text *out);

/* momenta.c: rotations are printed by names from now on, inputs that the caller defines on lines; x in terms of them;
 * and the equations of motion with momenta, between what comes before and after them. */
void ag_sheet_turn(ag_sheet *s, int n, const ag_id *rotations, const ag_id *as);
ag_id ag_sheet_turned(const ag_sheet *s, ag_id x);
void ag_show_momenta(ag_sheet *s, void (*before)(ag_sheet *s), void (*after)(ag_sheet *s));

/* angles.c: differences of angles the same way around on all lines. */
void ag_sheet_angles(ag_sheet *s);

/* tex_lines.c: the width of a formula in LaTeX, about that of a letter each; and the formula broken at its signs into
 * lines of an align environment, none wider than `limit` if its terms allow. */
double ag_tex_width(const char *tex, size_t n);
void ag_tex_break(const char *tex, double limit, ag_text *out);
#endif
