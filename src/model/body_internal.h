/* SPDX-License-Identifier: MIT
 * Shared by the files of bodies: small vectors, and questions about expressions. Internal to model/. */
#ifndef AG_MODEL_BODY_INTERNAL_H
#define AG_MODEL_BODY_INTERNAL_H
#include "model/parts.h"

ag_id ag_body_axis(ag_graph *g, int k);         /* e1, e2, e3 for k = 0, 1, 2 */
ag_id ag_body_unit(ag_graph *g, ag_id v);       /* v/|v|; 0: e3 */
ag_id ag_body_hold(ag_graph *g, ag_id v);       /* v as a constant in derivatives */
bool ag_body_moves(const ag_model *m, ag_id x); /* depends on t or a coordinate */
/* Is v a fixed direction: independent of t and coordinates, not of length 0? Otherwise reports an error that names the
 * body. */
bool ag_body_direction(ag_ctx *ctx, const ag_model *m, ag_id v, const char *name, const char *does, ag_pos pos);
/* NAME.word; for k > 1 NAME.word2, ... */
const char *ag_body_word(ag_model *m, const ag_body *b, const char *word, int k);

/* A ground at the current state, in space. */
typedef struct ag_ground_frame {
  ag_id N, O;   /* unit normal or axis; origin */
  bool still;   /* O depends neither on t nor on a coordinate */
  bool upright; /* N is e3 */
} ag_ground_frame;
ag_ground_frame ag_contact_frame(ag_model *m, const ag_ground *ground);
/* Replaces parameters in x[] by their values; the value of a scalar that is then a number. */
void ag_body_parameters(ag_model *m, int n, ag_id *x);
bool ag_body_number(ag_model *m, ag_id x, double *value);
/* trouble.c: shapes that cannot roll on a ground; states in which they cannot. */
AG_MUST_USE ag_status ag_trouble_shape(ag_ctx *ctx, ag_model *m, const ag_body *b, const ag_ground *ground, ag_pos pos);
void ag_trouble_place(ag_model *m, const ag_contact *c, ag_pos pos);
/* implicit.c: where the Newton steps of an implicit surface start. */
ag_id ag_implicit_start(ag_graph *g, const ag_surface *s, ag_id n);
/* touch.c: normal, point, arm, gap, height, misfit of a contact; a position of the centre of mass where it touches. */
void ag_touch(ag_model *m, ag_contact *c, const ag_ground_frame *f);
ag_id ag_touch_start(ag_model *m, const ag_contact *c, const ag_ground_frame *f);
bool ag_touch_smooth(ag_model *m, const ag_contact *c); /* a bowl without a corner on its axis */
/* Solves F = 0 (3 x 1, in the input y) by steps from `start`, as expressions; *misfit: the residual |F|. */
ag_id ag_touch_root(ag_graph *g, ag_id y, ag_id F, ag_id start, ag_id *misfit);
/* joint.c: completes NAME.x where the starts leave it open. */
void ag_body_propose(ag_model *m, const ag_body *b, ag_id x);
/* Generators of the symmetries that bodies, contacts and joints have together (symmetry.c). */
void ag_bodies_generators(ag_model *m);
#endif
