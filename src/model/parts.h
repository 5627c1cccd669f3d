/* SPDX-License-Identifier: MIT
 * Inside a model, for those who make it statement by statement (lang/, tests) and who derive from it (mech/). Others
 * use the functions of model.h. */
#ifndef AG_MODEL_PARTS_H
#define AG_MODEL_PARTS_H
#include "model/model.h"

/* A list that grows: AG_MODEL_PUSH. */
#define AG_LIST(type, name) \
  type *name; \
  int n_##name, cap_##name

struct ag_model {
  ag_arena *arena;
  ag_graph *graph;
  const char *name, *title, *source; /* source: the whole text, "" if built by calls */
  ag_id t;
  ag_id energy, lambda; /* built-in observables as inputs: scalar; column of all multipliers (0 when unused) */
  ag_id lagrangian;
  ag_pos lagrangian_pos;
  struct ag_picture *picture; /* the nodes of the drawings while they are set aside; NULL without drawings */
  int soft_from; /* starts from soft_from - 1 on are guesses that the constraints may change; 0: there are none */
#define AG_MODEL_LIST(type, name, what) AG_LIST(type, name);
#include "model/list.def"
#undef AG_MODEL_LIST
};

/* Appends to one of the lists: AG_MODEL_PUSH(m, observables, ((ag_item){...})). */
#define AG_MODEL_PUSH(m, list, item) \
  (AG_PUSH((m)->list, (m)->n_##list, (m)->cap_##list), (m)->list[(m)->n_##list++] = (item))
#endif
