/* SPDX-License-Identifier: MIT
 * What to draw of a model: part of the front header of model/, included by model.h. lang/ makes drawings from `draw`
 * statements, view/ evaluates their arguments for every frame. They never enter the equations. */
#ifndef AG_MODEL_DRAW_H
#define AG_MODEL_DRAW_H
#include "model/model.h"

typedef enum ag_draw_kind {
#define AG_DRAW(kind, what) AG_DRAW_IS_##kind,
#define AG_DRAW_ARG(name, word, shape, needed)
#define AG_DRAW_END
#include "model/draw.def"
#undef AG_DRAW
#undef AG_DRAW_ARG
#undef AG_DRAW_END
  AG_DRAW_KINDS
} ag_draw_kind;

typedef enum ag_draw_shape {
  AG_DRAW_SIZE,
  AG_DRAW_PLACE,
  AG_DRAW_DIRECTION,
  AG_DRAW_TURN,
  AG_DRAW_POINTS,
  AG_DRAW_PROFILE
} ag_draw_shape;

enum { AG_DRAW_ARGS = 6 };

/* A row of draw.def; an argument without a name ends the list. */
typedef struct ag_draw_row {
  const char *name, *what;
  struct {
    const char *name, *word;
    ag_draw_shape shape;
    bool needed;
  } args[AG_DRAW_ARGS + 1];
} ag_draw_row;
const ag_draw_row *ag_draw_find(ag_draw_kind kind);

typedef struct ag_drawing {
  ag_draw_kind kind;
  ag_id args[AG_DRAW_ARGS]; /* in the order of the row; 0: not given */
  ag_id rho;                /* bowl: the input in which its profile is written; else 0 */
  int colour;               /* 1 to 8: of the palette; 0: chosen */
  ag_pos pos;
} ag_drawing;

/* Makes the expressions of the drawings nodes of the graph again. Reading a model sets them aside, so that drawings
 * cannot influence the equations: call it after deriving, before looking at args. */
void ag_model_draw(const ag_model *m);
/* Sets aside the nodes built since ag_aside_begin, which belong to the drawings. The model owns them. */
void ag_model_set_aside(ag_model *m, ag_aside *a);
void ag_draw_forget(const ag_model *m); /* frees what is set aside */
#endif
