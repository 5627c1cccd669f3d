/* SPDX-License-Identifier: MIT
 * A mechanical system as stated by the user, without text and without derivation: front header of model/. lang/ builds
 * an ag_model from a file; programs can build one by function calls. mech/ reads it. All expressions are nodes of one
 * graph in the inputs of the model: time t, the parameters, for each coordinate factor a position q (vector or
 * rotation) and a quasi-velocity xi (time derivative, or body angular velocity), and an input for each independent
 * velocity of a `frame`. Everything lives until ag_model_free(). */
#ifndef AG_MODEL_MODEL_H
#define AG_MODEL_MODEL_H
#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "expr/expr.h"

typedef enum ag_space { AG_SPACE_R, AG_SPACE_S1, AG_SPACE_S2, AG_SPACE_SO3 } ag_space;

/* One factor of the configuration space. R and R^n: q is n x 1 (1 x 1 for R and S1), xi the same shape. SO3: q is a
 * rotation, xi 3 x 1. S2: q and xi are 3 x 1 and model_add_coord adds the holonomic constraint |q| = 1 itself.
 * A family `config x in R^3 [K]` is K factors named "x[1]" ... "x[K]" with family = "x", index = 1..K. */
typedef struct ag_coord {
  const char *name;                     /* "x", "x[2]" */
  const char *velocity;                 /* "x'", "Omega", "Omega[2]" */
  const char *family, *family_velocity; /* "x", "Omega" of a family, else NULL */
  int index;                            /* index in the family, from 1; 0: not in a family */
  ag_space space;
  int dim; /* rows of q (3 for S2, SO3) */
  ag_id q, xi;
  ag_pos pos;
} ag_coord;

typedef struct ag_param {
  const char *name;
  ag_id input; /* scalar, vector or matrix input; for `integer` parameters 0: they are structural */
  ag_id value; /* expression in earlier parameters */
  bool integer;
  double number;   /* the value of an integer parameter */
  bool from_start; /* not in the text: added for a start value that varies */
  ag_pos pos;
} ag_param;

/* A named expression: let, observable, event, section, generator component, frame velocity, constraint, ... */
typedef struct ag_item {
  const char *name; /* constraints: "1", "2", ... or NULL */
  const char *text; /* source text of the statement (for messages), may be NULL */
  ag_id x;          /* any shape; constraints and holonomic: column of residuals, left minus right */
  ag_pos pos;
} ag_item;

/* Assignments to components of xi: `force x' = ...`, `generator turn: phi' = 1, x' = -y`. coord is an index into
 * model->coords; row >= 0 selects one component, -1 the whole vector. */
typedef struct ag_assign {
  int coord, row;
  ag_id x;
  ag_pos pos;
} ag_assign;

typedef struct ag_generator {
  const char *name;
  int n;
  ag_assign *parts;
  ag_pos pos;
} ag_generator;

typedef struct ag_event {
  const char *name;
  ag_id x;       /* scalar; the event is where it crosses zero */
  int direction; /* +1 rising, -1 falling, 0 both */
  bool terminal;
  ag_pos pos;
  bool cuts; /* the equations have a corner there: a step ends at it and none crosses it */
} ag_event;

/* start: the value of a coordinate (velocity == false) or velocity; it may depend on parameters, t and coordinates set
 * earlier. frame >= 0: an independent velocity of the frame. */
typedef struct ag_start {
  bool velocity;
  int coord, row, frame;
  ag_id x;
  ag_pos pos;
} ag_start;

/* domain: lo <= x <= hi for a scalar expression in coordinates (usually one coordinate) */
typedef struct ag_range {
  ag_id x, lo, hi;
  ag_pos pos;
} ag_range;

typedef enum ag_expect_kind {
  AG_EXPECT_AT,       /* x at time = value within tol */
  AG_EXPECT_ALONG,    /* x = value within tol over time (at every accepted step) */
  AG_EXPECT_CONSTANT, /* x constant within tol over time */
  AG_EXPECT_VARIES,   /* x varies by more than tol over time */
  AG_EXPECT_EVENT,    /* nth occurrence of the event at time within tol */
  AG_EXPECT_COUNT     /* event occurs value times over time */
} ag_expect_kind;

typedef struct ag_expect {
  ag_expect_kind kind;
  ag_id x, value, time, tol; /* value may have the shape of x; time and tol are scalars */
  int event, nth;            /* for EVENT and COUNT; nth from 1 */
  int n_when;                /* `when a = 1, b = 2`: parameters changed for this expectation */
  int *when_param;
  ag_id *when_value;
  const char *text;
  ag_pos pos;
} ag_expect;

typedef struct ag_reference {
  const char *key, *entry;
} ag_reference;

struct ag_body;
struct ag_contact;
struct ag_joint;

#define AG_LIST(type, name) \
  type *name; \
  int n_##name, cap_##name

typedef struct ag_model {
  ag_arena *arena;
  ag_graph *graph;
  const char *name, *title, *source; /* source: the whole text, "" if built by calls */
  ag_id t;
  ag_id energy, lambda; /* built-in observables as inputs: scalar; column of all multipliers (0 when unused) */
  ag_id lagrangian;
  ag_pos lagrangian_pos;
  AG_LIST(ag_param, params);
  AG_LIST(ag_coord, coords);
  AG_LIST(ag_item, lets);        /* for show; already expanded everywhere */
  AG_LIST(ag_item, constraints); /* in q, xi, t, parameters; linear or affine in xi */
  AG_LIST(ag_item, holonomics);  /* in q, t, parameters */
  AG_LIST(ag_item, touches);     /* in q, t, parameters: preserved by the constraints; the start must satisfy them */
  AG_LIST(ag_item, margins);     /* in q, t, parameters: positive at the start, else the error is "`name` text" */
  AG_LIST(ag_item, prescribes);  /* in q, t: left minus right; name is the coordinate's */
  AG_LIST(ag_assign, forces);
  AG_LIST(ag_item, frames);     /* independent velocities: name, expression in q, xi, t */
  AG_LIST(ag_id, frame_inputs); /* the input that stands for frames[i] in observables and start */
  AG_LIST(ag_range, domains);
  AG_LIST(ag_item, observables);
  AG_LIST(ag_event, events);
  AG_LIST(ag_event, sections); /* Poincare sections: used only on request; never terminal */
  AG_LIST(ag_generator, generators);
  AG_LIST(ag_start, starts);
  int soft_from; /* starts from soft_from - 1 on are guesses that the constraints may change; 0: there are none */
  int first_set, n_set;                 /* starts[first_set .. first_set + n_set - 1] come from --set */
  const char **set_labels, **set_texts; /* their names and texts, for messages */
  AG_LIST(ag_expect, expects);
  AG_LIST(ag_reference, references);
  AG_LIST(ag_item, drives);      /* name of a prescribed coordinate -> scalar input for its multiplier */
  AG_LIST(ag_item, reactions);   /* coordinate name -> input (shape of xi) for the reaction S^T lambda on it */
  AG_LIST(ag_item, multipliers); /* constraint name -> input (shape of the residual) for its own lambda */
  AG_LIST(ag_item, holonomic_multipliers); /* holonomic name -> input (shape of the residual) for its own lambda */
  AG_LIST(struct ag_body *, bodies);       /* added by body.h, in order */
  AG_LIST(struct ag_contact *, contacts);
  AG_LIST(struct ag_joint *, joints);
} ag_model;

ag_model *ag_model_create(const char *name);
void ag_model_free(ag_model *m);

ag_id ag_model_add_param(ag_model *m, const char *name, ag_id value, ag_pos pos); /* returns its input */
/* Adds one factor; index 0 for a single one. velocity NULL: "name'". Returns its index in coords. */
int ag_model_add_coord(ag_model *m, const char *name, const char *velocity, const char *family,
                       const char *family_velocity, int index, ag_space space, int dim, ag_pos pos);
void ag_model_add_constraint(ag_model *m, ag_id residual, const char *text, ag_pos pos);
void ag_model_add_holonomic(ag_model *m, ag_id residual, const char *text, ag_pos pos);
void ag_model_add_prescribe(ag_model *m, const char *name, ag_id residual, const char *text, ag_pos pos);
ag_id ag_model_add_frame(ag_model *m, const char *name, ag_id x, ag_pos pos); /* returns its input */
ag_id ag_model_drive(ag_model *m, const char *coord_name);                    /* finds or adds; 0 when not prescribed */
ag_id ag_model_reaction(ag_model *m, int coord);                              /* finds or adds */
ag_id ag_model_multiplier(ag_model *m, int constraint);                       /* finds or adds */
ag_id ag_model_holonomic_multiplier(ag_model *m, int holonomic);              /* finds or adds: its multiplier */
ag_id ag_model_energy(ag_model *m);                                           /* finds or adds */

/* Appends to one of the lists above: AG_MODEL_PUSH(m, observables, ((ag_item){...})). */
#define AG_MODEL_PUSH(m, list, item) \
  (AG_PUSH((m)->list, (m)->n_##list, (m)->cap_##list), (m)->list[(m)->n_##list++] = (item))

/* Does any of the expressions contain a constraint force (lambda, drives, reactions, multipliers)? */
bool ag_model_has_force(const ag_model *m, int n, const ag_id *x);

/* Total time derivative of an expression in coordinates and t (the prime of the language). False if x depends on a
 * velocity or on a built-in observable. */
bool ag_model_prime(ag_model *m, ag_id x, ag_id *dx);

#include "model/body.h"
#endif
