/* SPDX-License-Identifier: MIT
 * Internals of the builder: bodies, grounds, joints, Euler angles. Shared by surface.c, body.c and euler.c. */
#ifndef AG_LANG_SCENE_H
#define AG_LANG_SCENE_H
#include "lang/build.h"

/* ---- surface.c ---- */
/* A rows x cols value in numbers and parameters; 0 on error. what: "the mass of a body". */
ag_id ag_scene_value(ag_builder *b, const ag_syn *s, int rows, int cols, const char *what);
/* The same for a scalar that must be positive for the current parameters. */
ag_id ag_scene_positive(ag_builder *b, const ag_syn *s, const char *what);
/* Does a shape have n arguments, and a running name if its form requires one? False on error. form: "bowl(rho: z)". */
bool ag_scene_form(ag_builder *b, const ag_syn *s, int n, const char *form);
/* The input for the running name of a shape, and an argument of the shape that may use it. 0 on error. */
ag_id ag_scene_running(ag_builder *b, const ag_syn *shape, int rows);
ag_id ag_scene_under(ag_builder *b, const ag_syn *shape, int argument, ag_id input);
bool ag_scene_surface(ag_builder *b, const ag_syn *s, ag_surface *out);

/* ---- euler.c ---- */
/* Column k of the map from rates to Omega = phi' R^T e3 + theta' (cos psi, -sin psi, 0) + psi' e3. */
ag_id ag_euler_column(ag_graph *g, const ag_id angles[3], int k);
#endif
