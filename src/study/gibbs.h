/* SPDX-License-Identifier: MIT
 * Which law friction and temperature keep; included by conserve.h. */
#ifndef AG_STUDY_GIBBS_H
#define AG_STUDY_GIBBS_H
#include "api/api.h"

/* A model with `friction` and `temperature`: is a law rho(q) exp(-E/kT) stationary? */
typedef enum ag_gibbs_kind {
  AG_GIBBS_NONE,     /* the model has no temperature */
  AG_GIBBS_VOLUME,   /* exp(-E/kT): the motion without friction keeps phase volume */
  AG_GIBBS_DENSITY,  /* rho(q) exp(-E/kT): it keeps that with the density rho */
  AG_GIBBS_NEITHER,  /* no rho: it keeps none */
  AG_GIBBS_UNDECIDED /* see the reason */
} ag_gibbs_kind;
const char *ag_gibbs_word(ag_gibbs_kind kind); /* "volume", "density", "neither", "undecided"; NULL */

typedef struct ag_gibbs {
  ag_gibbs_kind kind;
  const char *law;       /* "exp(-E/kT) dq dp"; NULL: there is none, or none is known */
  const char *density;   /* rho as text; NULL: long, or there is none */
  const char *variables; /* in which rho is a density */
  const char *reason;
  const char *proof;     /* "identity", "witness"; NULL: nothing is proved */
  double bound, lo, hi;  /* of an identity: the chance of an error; of a witness: what should be 0 */
  const char *positions; /* "uniform": their law is exp(-V/kT) dq; "weighted"; "undecided"; NULL: there is no law */
  const char *weight;    /* of the positions, beside exp(-V/kT); NULL: long, or none */
  int freedom;           /* independent velocities, each with its part kT/2 of the kinetic energy; -1: not known */
} ag_gibbs;

/* Texts live in the arena. What cannot be examined is undecided, with the reason. */
void ag_gibbs_find(ag_gibbs *out, ag_arena *arena, ag_model *m, ag_system *sys);
#endif
