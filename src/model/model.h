/* SPDX-License-Identifier: MIT
 * A mechanical system as stated by the user, without text and without derivation: front header of model/. lang/ builds
 * an ag_model from a file; programs can build one by function calls. mech/ reads it. All expressions are nodes of one
 * graph in the inputs of the model: time t, the parameters, the processes, for each coordinate factor a position q
 * (vector or rotation) and a quasi-velocity xi (time derivative, or body angular velocity), and an input for each
 * independent velocity of a `frame`. Everything lives until ag_model_free(). */
#ifndef AG_MODEL_MODEL_H
#define AG_MODEL_MODEL_H
#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "expr/expr.h"
#include "model/expect.h"

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
  bool drag; /* of a friction with a temperature: see ag_bath */
} ag_assign;

typedef struct ag_generator {
  const char *name;
  int n;
  ag_assign *parts;
  ag_pos pos;
} ag_generator;

/* process N: an additional scalar state, dN = drift dt + noise. */
typedef struct ag_process {
  const char *name;
  ag_id x;       /* the input that stands for it */
  ag_id drift;   /* in the state, t and parameters */
  ag_id start;   /* in parameters and t; 0: it starts at 0 */
  bool from_set; /* the start comes from a --set */
  ag_pos pos, start_pos;
} ag_process;

/* noise W ...: the effect of one Wiener process. TRANSPORT: q^-1 dq gets the parts times dW, which are completed so
 * that the constraints stay satisfied (raw: they are all there is); frozen: the parts are not varied, their completion
 * is. POTENTIAL: the action gets x dW. FORCE: the momentum gets the parts times dW. PROCESS: processes get the parts
 * times dW; coord of the parts is an index into processes. Stratonovich. */
typedef enum ag_noise_kind { AG_NOISE_TRANSPORT, AG_NOISE_POTENTIAL, AG_NOISE_FORCE, AG_NOISE_PROCESS } ag_noise_kind;
typedef struct ag_noise {
  ag_noise_kind kind;
  int channel;      /* index into channels */
  bool raw, frozen; /* TRANSPORT */
  bool ito;         /* FORCE, PROCESS: while a file is read; then rewritten with Stratonovich's product */
  bool frame;       /* TRANSPORT: coord of the parts is an index into frames */
  int n;
  ag_assign *parts;
  ag_id x; /* POTENTIAL */
  ag_pos pos;
} ag_noise;

/* Friction -c v on a scalar v, linear in xi, with the noise of its temperature kT (parameters alone) on a channel. */
typedef struct ag_bath {
  ag_id v, c, kT;
  int channel;
} ag_bath;

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

/* A --set: its name and text, for messages about its value. */
typedef struct ag_origin {
  const char *label, *text;
} ag_origin;

/* domain: lo <= x <= hi for a scalar expression in coordinates (usually one coordinate) */
typedef struct ag_range {
  ag_id x, lo, hi;
  ag_pos pos;
} ag_range;

typedef struct ag_reference {
  const char *key, *entry;
} ag_reference;

struct ag_body;
struct ag_contact;
struct ag_joint;
struct ag_drawing;

typedef struct ag_model ag_model;

ag_model *ag_model_create(const char *name);
void ag_model_free(ag_model *m);

const char *ag_model_name(const ag_model *m);
const char *ag_model_title(const ag_model *m);
const char *ag_model_source(const ag_model *m); /* the whole text, "" when it was built by calls */
ag_graph *ag_model_graph(ag_model *m);          /* to add expressions */
const ag_graph *ag_model_nodes(const ag_model *m);
ag_id ag_model_time(const ag_model *m);
ag_id ag_model_lagrangian(const ag_model *m);
ag_id ag_model_energy_input(const ag_model *m); /* 0 when no expression uses the energy */

/* The lists of list.def: ag_model_coords(m)[0 .. ag_model_n_coords(m) - 1]. */
#define AG_MODEL_LIST(type, name, what) \
  type const *ag_model_##name(const ag_model *m); \
  int ag_model_n_##name(const ag_model *m);
#include "model/list.def"
#undef AG_MODEL_LIST

void ag_model_end_at(ag_model *m, int event); /* makes an event end a run */

ag_id ag_model_add_param(ag_model *m, const char *name, ag_id value, ag_pos pos); /* returns its input */
/* Adds one factor; index 0 for a single one. velocity NULL: "name'". Returns its index in coords. */
int ag_model_add_coord(ag_model *m, const char *name, const char *velocity, const char *family,
                       const char *family_velocity, int index, ag_space space, int dim, ag_pos pos);
void ag_model_add_constraint(ag_model *m, ag_id residual, const char *text, ag_pos pos);
void ag_model_add_holonomic(ag_model *m, ag_id residual, const char *text, ag_pos pos);
void ag_model_add_prescribe(ag_model *m, const char *name, ag_id residual, const char *text, ag_pos pos);
ag_id ag_model_add_frame(ag_model *m, const char *name, ag_id x, ag_pos pos); /* returns its input */
ag_id ag_model_add_process(ag_model *m, const char *name, ag_pos pos);        /* without drift; returns its input */
void ag_model_add_driver(ag_model *m, const char *channel, ag_id x);          /* x: a function of t */
ag_id ag_model_drive(ag_model *m, const char *coord_name);                    /* finds or adds; 0 when not prescribed */
ag_id ag_model_reaction(ag_model *m, int coord);                              /* finds or adds */
ag_id ag_model_multiplier(ag_model *m, int constraint);                       /* finds or adds */
ag_id ag_model_holonomic_multiplier(ag_model *m, int holonomic);              /* finds or adds */
ag_id ag_model_energy(ag_model *m);                                           /* finds or adds */

/* Does any of the expressions contain a constraint force (lambda, drives, reactions, multipliers)? */
bool ag_model_has_force(const ag_model *m, int n, const ag_id *x);

/* Total time derivative of an expression in coordinates and t (the prime of the language). False if x depends on a
 * velocity, a process or a built-in observable. */
bool ag_model_prime(ag_model *m, ag_id x, ag_id *dx);

#include "model/body.h"
#include "model/draw.h"
#endif
