/* SPDX-License-Identifier: MIT
 * A stepper fused with a right-hand side: one compiled unit for one tape, one method and one number of lanes. Used by
 * the single trajectory (one lane, in place of the library's stepper, same bits) and by batches (several lanes). */
#ifndef AG_RUN_FUSED_H
#define AG_RUN_FUSED_H
#include "kern/kern.h"
#include "run/fused_args.h"
#include "run/stretch_args.h"
#include "step/step.h"

typedef struct ag_fused ag_fused;

/* The parts to fuse. z has n components, of which the first n_norm count in the error norm. */
typedef struct ag_fused_spec {
  const ag_tape *tape, *jacobian; /* the right-hand side; its Jacobian, or the discrete equations of a step (then
                                     finish: their end), where the method needs them, else NULL */
  const ag_tape *finish;      /* or, beside a Jacobian, the energy, its gradient and the almost-Poisson tensor; or the
                                 role INERTIA */
  const ag_tape *canonical;   /* E/kT, where steps are tested, else NULL */
  const int *table;           /* of a sparse Jacobian (step/sparse_core.h), or NULL */
  int n_lambda;               /* impulses of the discrete equations */
  const ag_tape *power;       /* of the single trajectory: dE/dt, for ag_fused_power and stretches; or NULL */
  const char *name;           /* of the model, for the comment at the head */
  int n, n_norm, m, n_factor; /* m: tangent coordinates */
  int u_at, n_u;              /* those that are velocities */
  ag_factor *factors;
  int *spin; /* per factor: ag_mover_spins() */
  const ag_stepper *method;
  int channels;         /* with noise */
  bool noise;           /* the right-hand side is the increment of a step with noise */
  bool march;           /* for batches: ag_fused_march; else ag_fused_step, ag_fused_dense and ag_fused_interpolate */
  bool fixed;           /* of a march: fixed steps */
  bool stretch;         /* a march of one lane for a single run: ag_fused_stretch instead of ag_fused_march */
  const ag_tape *watch; /* for batches: functions of z whose sign changes are located; or NULL */
  const int *way;       /* per function: +1 when it rises, -1 when it falls, 0 both */
  const bool *cuts;     /* per function: the equations have a corner at its zero */
  const bool *counts;   /* per function: is it looked for? NULL: all are */
  bool switches;        /* they are switching functions of the equations */
  int n_c;              /* numbers of c */
  const ag_tape *guard; /* for batches: ag_system_guard(), checked after every step; or NULL */
  int n_minor, n_fragile, n_xi; /* of it */
  const double *minor_bound;
  const ag_tape *align;          /* for batches: the role ALIGN, applied after every step; or NULL */
  const ag_tape *project;        /* for batches: the role PROJECT, applied after every step; or NULL */
  int n_g;                       /* of it: position constraints */
  const ag_tape *onto_rows;      /* for batches: the role ONTO_ROWS, applied after it; or NULL */
  const ag_tape *turn, *renew;   /* for batches with a basis: the roles TURN and RENEW; else NULL */
  bool locate;                   /* also ag_fused_locate, for the last of them */
  int n_unit, *unit, *unit_size; /* groups of components kept at their length: offset and number of each */
} ag_fused_spec;

/* The tapes of a unit. */
typedef enum ag_fused_tape {
  AG_FUSED_RHS,
  AG_FUSED_JACOBIAN,
  AG_FUSED_FINISH,
  AG_FUSED_CANONICAL,
  AG_FUSED_WATCH,
  AG_FUSED_LOOK,
  AG_FUSED_EXTRA,
  AG_FUSED_POWER,
  AG_FUSED_GUARD,
  AG_FUSED_ALIGN,
  AG_FUSED_PROJECT,
  AG_FUSED_ONTO_ROWS,
  AG_FUSED_TURN,
  AG_FUSED_RENEW,
  AG_FUSED_TAPES
} ag_fused_tape;

/* How the texts read a sparse Jacobian, or that they do not. */
void ag_fused_put_table(const int *table, int m, ag_text *out);
/* How many numbers a basis has, and what turn_core.h asks for; renew: NULL, there are none; least: AG_TURN_RENEW,
 * most: AG_TURN_MOST. */
void ag_fused_put_basis(const ag_tape *renew, double least, double most, ag_text *out);
/* Where rotations have their velocities, and how their inertia is evaluated (finish), for texts that ask. */
void ag_fused_put_spins(bool turns, int n, const int *spin, ag_text *out);
/* NULL when it cannot be compiled; *reason says why in one line. */
ag_fused *ag_fused_create(const ag_fused_spec *spec, const ag_build_options *options, ag_text *reason);
void ag_fused_free(ag_fused *f);
void ag_fused_text(const ag_fused_spec *spec, ag_text *out);
int ag_fused_lanes(const ag_fused *f);
bool ag_fused_has(const ag_fused *f, ag_fused_tape tape);

/* A tape: how many numbers are prepared from the parameters, and making them; nothing where the unit does not have it.
 */
int ag_fused_n_prep(const ag_fused *f, ag_fused_tape tape);
void ag_fused_prep(const ag_fused *f, ag_fused_tape tape, const double *p, double *prep, unsigned long long *fail);
/* step: of a path with noise, or NULL. */
void ag_fused_rhs(const ag_fused *f, const double *t, const double *z, const double *c, const double *step,
                  const double *prep, double *dz, unsigned long long *fail);

/* The entries (fused_args.h). */
void ag_fused_step(const ag_fused *f, ag_fused_args *a);
void ag_fused_dense(const ag_fused *f, ag_fused_args *a);
void ag_fused_interpolate(const ag_fused *f, ag_fused_args *a);
void ag_fused_power(const ag_fused *f, ag_fused_args *a);
void ag_fused_march(const ag_fused *f, ag_fused_args *a);
void ag_fused_locate(const ag_fused *f, ag_fused_args *a);
void ag_fused_stretch(const ag_fused *f, ag_stretch_args *a); /* stretch_args.h */
/* Of a unit with stretches: its functions to watch, for single steps, too. */
struct ag_watcher;
void ag_fused_watch(const ag_fused *f, struct ag_watcher *w);
#endif
