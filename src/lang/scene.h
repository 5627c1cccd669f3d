/* SPDX-License-Identifier: MIT
 * Inside of the builder: bodies, what they roll on, joints, Euler angles. Shared by surface.c, body.c and euler.c. */
#ifndef AG_LANG_SCENE_H
#define AG_LANG_SCENE_H
#include "lang/build.h"

/* ---- surface.c ---- */
/* A value of numbers and parameters, rows x cols; 0: reported. what: "the mass of a body". */
ag_id ag_scene_value(ag_builder *b, const ag_syn *s, int rows, int cols, const char *what);
/* The same, a scalar that is positive with the parameters as they are. */
ag_id ag_scene_positive(ag_builder *b, const ag_syn *s, const char *what);
/* Has a shape n arguments, and a running name if its form has one? False: reported. form: "bowl(rho: z)". */
bool ag_scene_form(ag_builder *b, const ag_syn *s, int n, const char *form);
/* The input that the running name of a shape stands for, and an argument of the shape that may use it. 0: reported. */
ag_id ag_scene_running(ag_builder *b, const ag_syn *shape, int rows);
ag_id ag_scene_under(ag_builder *b, const ag_syn *shape, int argument, ag_id input);
bool ag_scene_surface(ag_builder *b, const ag_syn *s, ag_surface *out);

/* ---- euler.c ---- */
/* Omega = phi' R^T e3 + theta' (cos psi, -sin psi, 0) + psi' e3: column k of that map. */
ag_id ag_euler_column(ag_graph *g, const ag_id angles[3], int k);
#endif
