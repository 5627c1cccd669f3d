/* SPDX-License-Identifier: MIT
 * Inside of conserve: shared by its files. */
#ifndef AG_STUDY_CONSERVE_INTERNAL_H
#define AG_STUDY_CONSERVE_INTERNAL_H
#include "study/conserve.h"
#include "study/probe.h"

typedef struct ag_conserving {
  ag_conservation *c;
  ag_model *m;
  ag_system *sys;
  ag_geom *x;
  ag_probe probe;
  ag_enclosed *states; /* enclosed states, made when they are wanted */
  int n_state, n_tried;
} ag_conserving;

/* The rate of a quantity: identity, witness, or numbers. */
void ag_conserve_decide(ag_conserving *v, ag_quantity *q);
/* Adds a quantity and decides it. */
ag_quantity *ag_conserve_add(ag_conserving *v, const char *name, const char *kind, ag_id x);
const char *ag_conserve_print(ag_conserving *v, ag_id x); /* as text in the arena; NULL when it is long */
/* conserve_rank.c: ranks of D and of the reaction annihilator inside the leaf. */
AG_MUST_USE ag_status ag_conserve_ranks(ag_conserving *v, ag_ctx *ctx, const char *at);
/* conserve_search.c */
void ag_conserve_moving(ag_conserving *v);
void ag_conserve_search(ag_conserving *v, int degree);
#endif
