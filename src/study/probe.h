/* SPDX-License-Identifier: MIT
 * Exact states of a model, for conserve: random ones over a prime field, and enclosed ones. At each of them the
 * constraints and relations hold, and accelerations and reaction follow from the equations of motion. */
#ifndef AG_STUDY_PROBE_H
#define AG_STUDY_PROBE_H
#include "exact/exact.h"
#include "geom/geom.h"
#include "mech/mech.h"

/* The inputs of all programs, in this order, and where the numbers of each group begin. */
typedef enum ag_probe_group {
  AG_PROBE_PARAM,
  AG_PROBE_T, /* time, then the processes */
  AG_PROBE_Q,
  AG_PROBE_XI,
  AG_PROBE_ACC,
  AG_PROBE_REACT,
  AG_PROBE_GROUPS
} ag_probe_group;

/* A point of the field: numbers of all inputs. Points of the same seed differ in the signs of their roots. */
typedef struct ag_point {
  ag_field f;
  uint64_t seed, *in;
} ag_point;

/* Points that share one value of a function of the coordinates: all are of one prime and have the same functions (sines
 * and the like), and one entry of R^T e3 of a rotation is the same. Scalars are held by `fixed`. */
typedef struct ag_hold {
  int prime, coord, axis; /* coord -1: no rotation is held */
  uint64_t seed;
} ag_hold;

enum { AG_MAX_KNOWN = 8 };
typedef struct ag_probe {
  const ag_geom *x;
  ag_system *sys;
  const ag_flint *flint;
  int n_input, at[AG_PROBE_GROUPS + 1];
  ag_id *inputs;
  int *q_at; /* per coordinate: its numbers among those of q */
  int n_param_input;
  ag_program **params;                     /* the value of each parameter in those before it */
  ag_program *relate, *kinematic, *motion; /* relations and their Jacobian; S and s; M, ell, S and kappa */
  ag_program *relate_true;                 /* relations as they are, with their roots */
  int n_known;                             /* roots that relations give, which are left out of all programs, */
  ag_id known[AG_MAX_KNOWN], known_as[AG_MAX_KNOWN]; /* and what they are */
  const bool *fixed;                                 /* per number of q: is it held at fixed_at? NULL: none is */
  const double *fixed_at;
  const ag_hold *hold;           /* NULL: none */
  bool opaque;                   /* there are no points: an operation cannot be evaluated */
  const char *why;               /* and why */
  bool picks;                    /* angles were found as zeros of polynomials */
  bool chooses;                  /* the equations have branches: points of one seed are on all of them */
  int rank;                      /* of S; -1: unknown yet */
  int *row, *col;                /* independent rows; dependent velocities */
  int n_relate_col, *relate_col; /* velocities that the relations are solved for */
  int last[AG_MAX_KNOWN];        /* of the first relations: 1 + how each was solved last; 0: not yet */
  ag_point *points;
  int n_point, cap_point;
  uint64_t next_seed;
  ag_point *singles;
  int n_single, cap_single;
  uint64_t next_single;
  bool any_root; /* an angle may be any of the solutions of a relation; else all must be there */
} ag_probe;

/* Parameters changed, as by `when`: n, index, value; 0, NULL, NULL: none. */
typedef struct ag_changed {
  int n;
  const int *param;
  const ag_id *value;
} ag_changed;
/* flint: for ag_probe_enclose; NULL where no state is enclosed. */
void ag_probe_init(ag_probe *p, const ag_geom *x, ag_system *sys, const ag_changed *changed, const ag_flint *flint);
void ag_probe_done(ag_probe *p);
/* The number of points of seed number k (0, 1, ...), from *first on, all signs; 0: there are none (opaque). */
int ag_probe_points(ag_probe *p, int k, int *first);
/* Point number k of another list, one per seed, with any signs: for searches, whose findings are proved afterwards.
 * NULL: there is none. The pointer holds until the next call. */
const ag_point *ag_probe_single(ag_probe *p, int k);
ag_program *ag_probe_program(const ag_probe *p, int n, const ag_id *outs);
/* leaf.c: moves coordinates that are no rotations so that the relations hold. */
ag_field_status ag_probe_leaf(ag_probe *p, ag_field *f, uint64_t *in);
/* Squares relations that cannot be solved because of a root, and notes what they give for it. */
void ag_probe_clear_roots(ag_probe *p, ag_id *relate);
/* Another velocity at the configuration of a point: in[] is changed. with_motion false: any velocity, accelerations
 * and reaction random. */
bool ag_probe_velocity(const ag_probe *p, ag_field *f, uint64_t *in, bool with_motion);

/* Accelerations and reaction at the configuration and velocity in in[]; false: the constraints do not hold there. */
bool ag_probe_settle(const ag_probe *p, ag_field *f, uint64_t *in);

/* ---- identities ---- */
typedef enum ag_truth { AG_TRUTH_NO, AG_TRUTH_YES, AG_TRUTH_OPAQUE } ag_truth;
/* Are all entries of the expressions 0 at all states? free: at all velocities, not only those of the constraints. NO
 * means that the field sees no identity; only a witness decides. bound: chance of error of a YES. */
ag_truth ag_probe_vanish(ag_probe *p, int n, const ag_id *outs, bool any_velocity, double *bound);

/* ---- enclosed states ---- */
typedef struct ag_enclosed {
  ag_balls *in; /* numbers of all inputs; NULL: none was found */
} ag_enclosed;
/* A state with small whole numbers near the k-th sample of the domain. */
bool ag_probe_enclose(ag_probe *p, int k, ag_enclosed *e);
/* Its parts, in in[]: the parameters; coordinates that are no rotations and not held, moved so that the relations hold;
 * velocities that the constraints give, accelerations and reaction, and the rank of S. False: not found. */
bool ag_probe_enclose_params(const ag_probe *p, ag_balls *in);
bool ag_probe_enclose_leaf(const ag_probe *p, ag_balls *in);
bool ag_probe_enclose_motion(const ag_probe *p, ag_balls *in, int *rank);
#endif
