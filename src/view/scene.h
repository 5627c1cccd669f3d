/* SPDX-License-Identifier: MIT
 * The picture of a moving system: part of the front header of view/, included by view.h. A scene is a list of things
 * (balls, rods, grounds, arrows, traces), made from the bodies, contacts and joints of a model and from its `draw`
 * statements. Their arguments are expressions; a film has their values in every row of a motion. */
#ifndef AG_VIEW_SCENE_H
#define AG_VIEW_SCENE_H
#include "view/view.h"

enum { AG_THING_ARGS = 8 };

typedef enum ag_scene_value {
  AG_VALUE_PLAIN,    /* as it is, row by row */
  AG_VALUE_TURN,     /* a rotation matrix, kept as a unit quaternion that changes without jumps */
  AG_VALUE_INTEGRAL, /* a scalar rate, kept as its integral over time */
  AG_VALUE_FIXED     /* of parameters alone: its value in the first row */
} ag_scene_value;

typedef struct ag_thing {
  const char *kind;  /* a row of draw.def, or "axes", "lathe" (grid: n x 2), "mesh" (grid: rows x cols points) */
  const char *group; /* what the viewer can switch: "body", "ground", "trace", "axes", "omega", "force", ... */
  const char *name;  /* of the body, or "" */
  int colour;        /* 1 to 8; 0: chosen */
  int n_arg;
  struct {
    const char *name;
    ag_scene_value how;
    ag_id x;
  } args[AG_THING_ARGS];
  int grid_rows, grid_cols;
  double *grid;
  ag_id rho, profile; /* of a bowl: sampled when the extent of the motion is known */
  double offset;      /* the profile is that of the centre of a ball of this radius */
} ag_thing;

typedef struct ag_scene {
  ag_arena *arena;
  ag_system *system;
  int n, cap;
  ag_thing *things;
} ag_scene;

/* The things of a system; an empty scene has none. */
ag_scene *ag_scene_create(ag_system *sys);
void ag_scene_free(ag_scene *s);

/* A motion, ready to be drawn: rows of the source in the order of time (of very many every stride-th), and the values
 * of all arguments of all things. */
typedef struct ag_film {
  long n_source, n_row, stride;
  long *rows; /* which rows of the source */
  double *t;
  int n_value;
  double **values; /* per number of an argument: n_row numbers; things in order, arguments in order */
  bool scene;      /* the values are there */
} ag_film;

/* False with a line in *trouble: the source cannot be read. A scene whose state is not in the source gives a film
 * without values. scene may be NULL. */
AG_MUST_USE bool ag_film_make(ag_film *f, ag_source *s, ag_scene *scene, ag_text *trouble);
void ag_film_done(ag_film *f);
/* How many numbers an argument has in the film. */
int ag_film_width(const ag_scene *s, const ag_thing *thing, int arg);
#endif
