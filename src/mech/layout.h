/* SPDX-License-Identifier: MIT
 * The layout: every named quantity of a system, one row each. Part of the front of mech/. */
#ifndef AG_MECH_LAYOUT_H
#define AG_MECH_LAYOUT_H
#include "base/entry.h"
#include "model/model.h"

typedef struct ag_system ag_system;

/* Numbers of a system. */
typedef struct ag_dims {
  int q, xi, x;         /* the exchange state x = [q | xi]: stored coordinates and processes; quasi-velocities; all */
  int process;          /* how many of q are processes: its last numbers */
  int z, core, tangent; /* the reduced state; its core, which comes first; its tangent (3 per rotation) */
  int u, u_at;          /* independent velocities, and their offset in z */
  int c, switches;      /* data of a run: bases, then one branch per switch; how many of these */
  int pulses;           /* terms of the equations that may be short in time */
  int full_switches;    /* the same two of the multiplier form, once ag_system_branched() was called */
  int full_pulses;
  int param, observe;    /* all parameters, all observables */
  int channel, w;        /* Wiener processes; the segment of a step: its size, their increments, their Levy areas */
  int row, lambda, rank; /* rows of constraints; those kept, each with a multiplier; how many are independent */
  int g;                 /* rows on the position level */
  int level;             /* functions that a run is projected onto */
  int fragile;           /* rows whose coefficients may all vanish somewhere */
} ag_dims;

typedef enum ag_layout_kind {
  AG_LAYOUT_COORDINATE,
  AG_LAYOUT_VELOCITY, /* quasi-velocities */
  AG_LAYOUT_PROCESS,  /* scalar states with their own drift and noise */
  AG_LAYOUT_FRAME,    /* independent velocities of the model's frame */
  AG_LAYOUT_PARAMETER,
  AG_LAYOUT_OBSERVABLE,
  AG_LAYOUT_NOISE, /* noise channels */
  AG_LAYOUT_KINDS
} ag_layout_kind;

/* Offsets count in the array of the kind: the exchange state for coordinates, velocities and processes; u for a frame;
 * else the array of all parameters, observables or channels. */
typedef struct ag_layout_row {
  ag_layout_kind kind;
  const char *name;       /* "x", "x'", "Omega"; "x[2]" for a member of a family */
  ag_space factor;        /* of a coordinate; else AG_SPACE_R */
  int rows, cols;         /* shape as the user writes it: a rotation is 3 x 3 */
  int at, n;              /* stored numbers (4 for a rotation); n = 0: an integer parameter, which is structural */
  int tangent, n_tangent; /* in the tangent of the exchange state (3 for a rotation) */
  ag_id x;                /* its expression */
} ag_layout_row;

/* The rows of a kind, in the order of the model; one of them. */
const ag_layout_row *ag_layout_rows(const ag_system *sys, ag_layout_kind kind, int *n);
const ag_layout_row *ag_layout_item(const ag_system *sys, ag_layout_kind kind, int i);
/* The quantity of that name (*entry = -1), or the one with an entry of that name ("x[2]", "A[1,2]", "x[4][1]"; *entry
 * is its number, row by row). NULL: there is none. */
const ag_layout_row *ag_layout_find(const ag_system *sys, const char *name, int *entry);

/* Name of a stored number of a row ("R as a quaternion: w"), and of a number of the reduced state. */
void ag_stored_name(const ag_layout_row *row, int k, ag_text *out);
void ag_reduced_name(const ag_system *sys, int k, ag_text *out);
/* Which number of the exchange state a number of the reduced state is; -1: none, it is made of several. */
int ag_reduced_at(const ag_system *sys, int k);
#endif
