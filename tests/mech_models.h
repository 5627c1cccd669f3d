/* SPDX-License-Identifier: MIT
 * Small systems of every kind, built by function calls, with what is known of them: tests of mech/ loop over the table.
 */
#ifndef AG_TESTS_MECH_MODELS_H
#define AG_TESTS_MECH_MODELS_H
#include <stdio.h>
#include <string.h>

#include "mech/mech_internal.h"
#include "tests/built_models.h"
#include "tests/check.h"

static inline int scalar(ag_model *m, const char *name, ag_space space) {
  return ag_model_add_coord(m, name, NULL, NULL, NULL, 0, space, 1, nowhere);
}

/* Half the sum of the squares of all velocities. */
static inline ag_id unit_kinetic(ag_model *m) {
  ag_id sum = ag_num(m->graph, 0);
  for (int i = 0; i < m->n_coords; i++) {
    ag_id square = ag_dot(m->graph, m->coords[i].xi, m->coords[i].xi);
    sum = ag_add(m->graph, sum, square);
  }
  return ag_mul(m->graph, ag_num(m->graph, 0.5), sum);
}

static inline void start_at(ag_model *m, bool velocity, int coord, int row, double value) {
  AG_MODEL_PUSH(m, starts, ((ag_start){velocity, coord, row, -1, ag_num(m->graph, value), nowhere}));
}

/* A blade on an incline: no velocity can be solved for everywhere, a basis is needed. */
static inline ag_model *blade(void) {
  ag_model *m = ag_model_create("blade");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R), th = scalar(m, "th", AG_SPACE_S1);
  ag_id c = ag_apply1(g, AG_OP_COS, m->coords[th].q), s = ag_apply1(g, AG_OP_SIN, m->coords[th].q);
  ag_id along = ag_mul(g, c, m->coords[y].xi), across = ag_mul(g, s, m->coords[x].xi);
  m->lagrangian = ag_sub(g, unit_kinetic(m), m->coords[x].q);
  ag_model_add_constraint(m, ag_sub(g, along, across), NULL, nowhere);
  start_at(m, true, th, -1, 0.7);
  return m;
}

/* z' = y x': solved for z'; the distribution of Heisenberg's group. */
static inline ag_model *heisenberg(void) {
  ag_model *m = ag_model_create("heisenberg");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R), z = scalar(m, "z", AG_SPACE_R);
  ag_id product = ag_mul(g, m->coords[y].q, m->coords[x].xi),
        stiffness = ag_model_add_param(m, "k", ag_num(g, 2), nowhere);
  ag_model_add_param(m, "A", diag3(g, 1, 2, 3), nowhere);
  ag_id kinetic = unit_kinetic(m), spring = ag_mul(g, stiffness, ag_mul(g, m->coords[x].q, m->coords[x].q));
  m->lagrangian = ag_sub(g, kinetic, spring);
  ag_model_add_constraint(m, ag_sub(g, m->coords[z].xi, product), NULL, nowhere);
  AG_MODEL_PUSH(m, observables,
                ((ag_item){"both", NULL, ag_stack(g, 1, 2, (ag_id[]){m->coords[x].q, m->coords[z].q}), nowhere}));
  start_at(m, true, x, -1, 1);
  start_at(m, false, y, -1, 0.5);
  return m;
}

/* z' = y x' + 1: affine. */
static inline ag_model *affine(void) {
  ag_model *m = ag_model_create("affine");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), y = scalar(m, "y", AG_SPACE_R), z = scalar(m, "z", AG_SPACE_R);
  ag_id product = ag_mul(g, m->coords[y].q, m->coords[x].xi), right = ag_add(g, product, ag_num(g, 1));
  m->lagrangian = unit_kinetic(m);
  ag_model_add_constraint(m, ag_sub(g, m->coords[z].xi, right), NULL, nowhere);
  start_at(m, true, y, -1, 0.3);
  return m;
}

/* A coin that rolls upright: r' = psi' (cos phi, sin phi), a vector that stands alone. */
static inline ag_model *coin(bool frame) {
  ag_model *m = ag_model_create(frame ? "coin in a frame" : "coin");
  ag_graph *g = m->graph;
  int r = ag_model_add_coord(m, "r", NULL, NULL, NULL, 0, AG_SPACE_R, 2, nowhere);
  int phi = scalar(m, "phi", AG_SPACE_S1), psi = scalar(m, "psi", AG_SPACE_S1);
  ag_id heading[2] = {ag_apply1(g, AG_OP_COS, m->coords[phi].q), ag_apply1(g, AG_OP_SIN, m->coords[phi].q)};
  ag_id speed = ag_mul(g, m->coords[psi].xi, ag_stack(g, 2, 1, heading)),
        sum = ag_add(g, m->coords[phi].xi, m->coords[psi].xi);
  ag_id kinetic = unit_kinetic(m), height = ag_entry(g, m->coords[r].q, 0, 0);
  m->lagrangian = ag_sub(g, kinetic, height);
  ag_model_add_constraint(m, ag_sub(g, m->coords[r].xi, speed), NULL, nowhere);
  if (frame) ag_model_add_frame(m, "spin", m->coords[phi].xi, nowhere);
  if (frame) ag_model_add_frame(m, "both", sum, nowhere);
  start_at(m, true, phi, -1, 0.4);
  start_at(m, true, psi, -1, 1.1);
  return m;
}

static inline ag_model *plain_coin(void) { return coin(false); }
static inline ag_model *framed_coin(void) { return coin(true); }

/* r.r' = 0 is a circle written as a velocity constraint. */
static inline ag_model *disguised(void) {
  ag_model *m = ag_model_create("disguised");
  ag_graph *g = m->graph;
  int r = ag_model_add_coord(m, "r", NULL, NULL, NULL, 0, AG_SPACE_R, 2, nowhere);
  ag_id kinetic = unit_kinetic(m), height = ag_entry(g, m->coords[r].q, 1, 0);
  m->lagrangian = ag_sub(g, kinetic, height);
  ag_model_add_constraint(m, ag_dot(g, m->coords[r].q, m->coords[r].xi), NULL, nowhere);
  start_at(m, false, r, 0, 1);
  start_at(m, true, r, 1, 0.5);
  return m;
}

/* A pendulum as a point on a circle; a third coordinate that follows sin t. */
static inline ag_model *pendulum(void) {
  ag_model *m = ag_model_create("pendulum");
  ag_graph *g = m->graph;
  int r = ag_model_add_coord(m, "r", NULL, NULL, NULL, 0, AG_SPACE_R, 2, nowhere), s = scalar(m, "s", AG_SPACE_R);
  ag_id half = ag_num(g, 0.5), along = ag_entry(g, m->coords[r].xi, 0, 0), height = ag_entry(g, m->coords[r].q, 1, 0);
  ag_id coupling = ag_mul(g, ag_mul(g, half, along), m->coords[s].xi), kinetic = unit_kinetic(m);
  ag_id square = ag_dot(g, m->coords[r].q, m->coords[r].q), one = ag_num(g, 1);
  m->lagrangian = ag_sub(g, ag_add(g, kinetic, coupling), height);
  ag_model_add_holonomic(m, ag_sub(g, square, one), NULL, nowhere);
  ag_model_add_prescribe(m, "s", ag_sub(g, m->coords[s].q, ag_apply1(g, AG_OP_SIN, m->t)), NULL, nowhere);
  start_at(m, false, r, 0, 0.6);
  start_at(m, true, r, 0, 0.3);
  return m;
}

/* A heavy top: only R^T e3 and Omega are integrated for the motion itself. */
static inline ag_model *top(void) {
  ag_model *m = ag_model_create("top");
  ag_graph *g = m->graph;
  int R = ag_model_add_coord(m, "R", "Omega", NULL, NULL, 0, AG_SPACE_SO3, 3, nowhere);
  ag_id I = diag3(g, 1, 1.5, 0.7), weight = vec3(g, 0.1, 0, 0.8), e3 = vec3(g, 0, 0, 1), half = ag_num(g, 0.5);
  ag_id up = ag_mul(g, ag_transpose(g, m->coords[R].q), e3),
        turning = ag_dot(g, m->coords[R].xi, ag_mul(g, I, m->coords[R].xi));
  ag_id kinetic = ag_mul(g, half, turning), potential = ag_dot(g, up, weight);
  m->lagrangian = ag_sub(g, kinetic, potential);
  AG_MODEL_PUSH(m, observables, ((ag_item){"up", NULL, up, nowhere}));
  AG_MODEL_PUSH(m, observables, ((ag_item){"R11", NULL, ag_entry(g, m->coords[R].q, 0, 0), nowhere}));
  AG_MODEL_PUSH(m, starts, ((ag_start){true, R, -1, -1, vec3(g, 0.2, 0.1, 2), nowhere}));
  return m;
}

typedef struct mech_case {
  ag_model *(*make)(void);
  bool saddle;
  ag_elimination elimination;
  int n_u, n_core;
  ag_growth growth; /* n = 0: not known */
} mech_case;

static const mech_case mech_cases[] = {
    {blade, false, AG_ELIM_BASIS, 2, 3, {false, 2, {2, 3}, 0}},
    {heisenberg, false, AG_ELIM_SOLVED, 2, 4, {false, 2, {2, 3}, 0}},
    {affine, false, AG_ELIM_SOLVED, 2, 3, {true, 2, {3, 4}, 0}},
    {plain_coin, false, AG_ELIM_SOLVED, 2, 3, {false, 3, {2, 3, 4}, 0}},
    {framed_coin, false, AG_ELIM_FRAME, 2, 3, {false, 3, {2, 3, 4}, 0}},
    {disguised, false, AG_ELIM_BASIS, 1, 3, {false, 2, {1, 1}, 1}},
    {pendulum, false, AG_ELIM_BASIS, 1, 4, {0}},
    {top, false, AG_ELIM_NONE, 3, 6, {false, 1, {3}, 0}},
    {rattleback, false, AG_ELIM_SOLVED, 3, 6, {false, 3, {3, 5, 5}, 1}},
    {blade, true, AG_ELIM_SADDLE, 3, 4, {0}},
    {plain_coin, true, AG_ELIM_SADDLE, 4, 5, {0}},
    {pendulum, true, AG_ELIM_SADDLE, 3, 6, {0}},
};

/* A system under test, with a worker and room for its states. */
typedef struct bench_system {
  const mech_case *c;
  ag_model *m;
  ag_system *sys;
  ag_work *w;
  double *x, *z, *basis, t; /* a full state, the reduced one with its basis data, at time t */
} bench_system;

/* The random state `seed`; false: none was found. */
static inline bool take_sample(bench_system *b, unsigned seed) {
  return ag_system_sample(b->sys, b->w, seed, &b->t, b->x) == AG_OK &&
         ag_work_reduce(b->w, b->t, b->x, b->basis, b->z) == AG_FINE;
}

static inline double *room(int n) { return ag_heap_alloc(sizeof(double) * (size_t)(n + 1)); }

static inline void bench_done(bench_system *b) {
  ag_work_free(b->w);
  ag_system_free(b->sys);
  ag_model_free(b->m);
  free(b->x), free(b->z), free(b->basis);
}

static inline void bench_init(bench_system *b, const mech_case *c) {
  ag_ctx ctx = {0};
  *b = (bench_system){.c = c, .m = c->make()};
  AG_CHECK(ag_system_create(&ctx, b->m, &(ag_derive_options){.growth = true, .saddle = c->saddle}, &b->sys) == AG_OK);
  if (!b->sys) {
    ag_text text = {0};
    ag_ctx_render(&ctx, &text);
    fprintf(stderr, "%s: %s\n", b->m->name, ag_text_cstr(&text));
    exit(1);
  }
  b->w = ag_work_create(b->sys, b->sys->params);
  b->x = room(b->sys->n.x + b->sys->n.lambda), b->z = room(b->sys->n.z), b->basis = room(b->sys->n.c);
  ag_ctx_done(&ctx);
}

/* Calls check for every case, and says where something failed. */
static inline int each_case(void (*check)(bench_system *b)) {
  for (size_t i = 0; i < sizeof mech_cases / sizeof *mech_cases; i++) {
    bench_system b;
    int before = ag_checks_failed;
    bench_init(&b, &mech_cases[i]);
    check(&b);
    if (ag_checks_failed > before) fprintf(stderr, "in %s%s\n", b.m->name, b.c->saddle ? ", saddle" : "");
    bench_done(&b);
  }
  return ag_check_report();
}
#endif
