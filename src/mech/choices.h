/* SPDX-License-Identifier: MIT
 * Inside mech/: equations that choose (if, abs, sign, min, max), and terms that may be short in time
 * (docs/design/0021). */
#ifndef AG_MECH_CHOICES_H
#define AG_MECH_CHOICES_H
#include "mech/mech_internal.h"

/* pulse.c: terms of dz that may be short in time; state: the inputs of z, and t. collect: those of any expressions (the
 * caller frees them), and how many. levelled: each minus its two levels, 2 n expressions. */
void ag_pulses_find(derive *d, int n_state, const ag_id *state, const ag_id *rows);
int ag_pulses_collect(ag_system *sys, int n_row, const ag_id *rows, int n_state, const ag_id *state, ag_id **terms);
ag_id *ag_pulses_levelled(ag_graph *g, int n, const ag_id *terms, ag_id *levels);

/* choice.c: choices in expressions. The caller sets graph, arena and inputs (owned). */
typedef struct ag_choices {
  ag_graph *g;
  ag_arena *arena; /* of names */
  int n_in;
  ag_id *inputs; /* a choice that depends on none of these is left alone */
  int n, cap, cap_s;
  ag_id *branch, *s; /* per switching function: the input of its sign; itself, with the choices inside it as branches */
  int n_rule, cap_from, cap_to;
  ag_id *from, *to; /* nodes that choose, and what replaces them */
  bool closed;      /* no more switching functions: what chooses on another surface is left alone */
} ag_choices;
/* Finds those of the rows. only (or NULL): among them those of other expressions, and those that depend on the last
 * n_always inputs. */
void ag_choices_find(ag_choices *f, int n_row, const ag_id *rows, int n_only, const ag_id *only, int n_always);
void ag_choices_done(ag_choices *f);
/* Is there any that depends on the inputs? */
bool ag_choices_exist(const ag_graph *g, int n_row, const ag_id *rows, int n_in, const ag_id *inputs);

/* switch.c. A model whose events cut the steps (contacts with corners) says itself where its geometry bends: choices
 * that read coordinates alone are left to them, unless they occur in a force. */
bool ag_has_cuts(const ag_model *m);
/* Choices in the equations become data; rows of dz and velocities (per coordinate) are changed in place. forces: per
 * coordinate, in the inputs of z. written: the rows of the constraints: a motion ends its steps where a row may begin
 * or cease to act. */
void ag_switches_find(derive *d, ag_id *rows, ag_id *velocity, const ag_id *forces, int n_written,
                      const ag_id *written);
/* Other expressions in (q, u, t) and images: in the inputs of z, those choices read from branches. */
void ag_switches_apply(ag_system *sys, int n, ag_id *outs);
/* branched.c: a tape on the full state that reads branches. */
ag_tape *ag_branched_tape(ag_system *sys, int n_out, const ag_id *outs);
/* reduced.c: expressions of the model in the inputs of z, their choices on branches; and as a tape, NULL if forces of
 * constraint are read. */
void ag_on_branches(ag_system *sys, int n_out, ag_id *outs);
ag_tape *ag_branch_tape(ag_system *sys, int n_out, const ag_id *outs);
/* jump.c: a Lagrangian, or a constraint, that jumps as the motion passes a surface is refused. */
ag_status ag_jumps_check(derive *d);
#endif
