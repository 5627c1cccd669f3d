/* SPDX-License-Identifier: MIT
 * Shared by the files that make scenes. */
#ifndef AG_VIEW_SCENE_INTERNAL_H
#define AG_VIEW_SCENE_INTERNAL_H
#include "view/view_internal.h"

/* A further thing without arguments; valid until the next one is added. */
ag_thing *ag_scene_add(ag_scene *s, const char *kind, const char *group, const char *name);
void ag_thing_arg(ag_thing *t, const char *name, ag_scene_value how, ag_id x); /* x 0: nothing */
/* The things of all bodies, contacts and joints. */
void ag_scene_bodies(ag_scene *s);
/* Expressions of the parameters and of an input (0: none) at n points of `width` numbers each. */
void ag_scene_sample(const ag_scene *s, ag_id input, int n_out, const ag_id *outs, long n, int width, const double *at,
                     double *out);
double ag_scene_number(const ag_scene *s, ag_id x); /* a scalar of parameters; x 0: 0 */
#endif
