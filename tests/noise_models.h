/* SPDX-License-Identifier: MIT
 * Small systems with noise, built by function calls, with what is known of them: tests of mech/ loop over the table. */
#ifndef AG_TESTS_NOISE_MODELS_H
#define AG_TESTS_NOISE_MODELS_H
#include "tests/mech_models.h"

static inline int add_channel(ag_model *m, const char *name) {
  AG_MODEL_PUSH(m, channels, ((ag_item){.name = name}));
  return m->n_channels - 1;
}

/* A noise statement with one part, on a whole coordinate or process. */
static inline ag_noise *add_noise(ag_model *m, ag_noise_kind kind, int channel, int coord, ag_id x) {
  ag_assign *part = AG_NEWN(m->arena, ag_assign, 1);
  *part = (ag_assign){.coord = coord, .row = -1, .x = x};
  AG_MODEL_PUSH(m, noises, ((ag_noise){.kind = kind, .channel = channel, .n = 1, .parts = part}));
  return &m->noises[m->n_noises - 1];
}

static inline void add_potential_noise(ag_model *m, int channel, ag_id x) {
  AG_MODEL_PUSH(m, noises, ((ag_noise){.kind = AG_NOISE_POTENTIAL, .channel = channel, .x = x}));
}

/* L = (x'^2 - x^2)/2, without noise yet. */
static inline ag_model *oscillator(const char *name) {
  ag_model *m = ag_model_create(name);
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R);
  ag_id square = ag_mul(g, m->coords[x].q, m->coords[x].q), potential = ag_mul(g, ag_num(g, 0.5), square);
  m->lagrangian = ag_sub(g, unit_kinetic(m), potential);
  start_at(m, false, x, -1, 1);
  return m;
}

/* dx = x' dt + 0.3 dW_1 + 0.5 x o dW_2: what moves x pulls at p, dp = ... - 0.5 p o dW_2. */
static inline ag_model *stretched(void) {
  ag_model *m = oscillator("stretched");
  ag_graph *g = m->graph;
  int V = add_channel(m, "V"), W = add_channel(m, "W");
  add_noise(m, AG_NOISE_TRANSPORT, V, 0, ag_num(g, 0.3));
  add_noise(m, AG_NOISE_TRANSPORT, W, 0, ag_mul(g, ag_num(g, 0.5), m->coords[0].q));
  return m;
}

/* dp = ... + 0.2 dW_1 + 0.4 x dW_2: a constant force, and the potential x^2/5. */
static inline ag_model *kicked(void) {
  ag_model *m = oscillator("kicked");
  ag_graph *g = m->graph;
  int V = add_channel(m, "V"), W = add_channel(m, "W");
  add_noise(m, AG_NOISE_FORCE, V, 0, ag_num(g, 0.2));
  ag_id square = ag_mul(g, m->coords[0].q, m->coords[0].q);
  add_potential_noise(m, W, ag_mul(g, ag_num(g, 0.2), square));
  return m;
}

static inline ag_model *pushed(void) {
  ag_model *m = oscillator("pushed");
  int V = add_channel(m, "V");
  add_noise(m, AG_NOISE_FORCE, V, 0, ag_num(m->graph, 0.2));
  return m;
}

/* The coin: its heading is shaken by one channel, its rolling by the other. */
static inline ag_model *shaken_coin(bool frozen) {
  ag_model *m = coin(false);
  ag_graph *g = m->graph;
  int V = add_channel(m, "V"), W = add_channel(m, "W");
  m->name = frozen ? "coin, frozen" : "shaken coin";
  add_noise(m, AG_NOISE_TRANSPORT, V, 1, ag_num(g, 0.3));
  ag_noise *roll = add_noise(m, AG_NOISE_TRANSPORT, W, 2, ag_apply1(g, AG_OP_COS, m->coords[2].q));
  roll->frozen = frozen;
  return m;
}

static inline ag_model *varied_coin(void) { return shaken_coin(false); }
static inline ag_model *frozen_coin(void) { return shaken_coin(true); }

/* z' = y x' + 1, with x shaken, and the blade, with its heading shaken. */
static inline ag_model *shaken_affine(void) {
  ag_model *m = affine();
  int V = add_channel(m, "V");
  add_noise(m, AG_NOISE_TRANSPORT, V, 0, ag_add(m->graph, ag_num(m->graph, 0.4), m->coords[1].q));
  return m;
}

static inline ag_model *shaken_blade(void) {
  ag_model *m = blade();
  int V = add_channel(m, "V");
  add_noise(m, AG_NOISE_TRANSPORT, V, 2, ag_num(m->graph, 0.4));
  return m;
}

/* A heavy top turned about two axes of its body. */
static inline ag_model *shaken_top(void) {
  ag_model *m = top();
  int V = add_channel(m, "V"), W = add_channel(m, "W");
  add_noise(m, AG_NOISE_TRANSPORT, V, 0, vec3(m->graph, 0.3, 0, 0));
  add_noise(m, AG_NOISE_TRANSPORT, W, 0, vec3(m->graph, 0, 0.2, 0));
  return m;
}

/* L = x'^2/2 - N x, dN = (1 - 2 N + x') dt + 0.3 N dW, N = 0.5 at the start; the same W pushes x by 0.1. */
static inline ag_model *volatile_force(void) {
  ag_model *m = ag_model_create("volatile force");
  ag_graph *g = m->graph;
  int x = scalar(m, "x", AG_SPACE_R), W = add_channel(m, "W");
  ag_id N = ag_model_add_process(m, "N", nowhere), kinetic = unit_kinetic(m);
  m->lagrangian = ag_sub(g, kinetic, ag_mul(g, N, m->coords[x].q));
  ag_id pull = ag_mul(g, ag_num(g, 2), N), back = ag_sub(g, ag_num(g, 1), pull);
  m->processes[0].drift = ag_add(g, back, m->coords[x].xi);
  m->processes[0].start = ag_num(g, 0.5);
  add_noise(m, AG_NOISE_PROCESS, W, 0, ag_mul(g, ag_num(g, 0.3), N));
  add_noise(m, AG_NOISE_FORCE, W, 0, ag_num(g, 0.1));
  return m;
}

typedef struct noise_case {
  mech_case c;
  ag_noise_class noise;
  bool one_sided; /* may the noise be taken at one end of a step? */
} noise_case;

static const noise_case noise_cases[] = {
    {{stretched, false, AG_ELIM_NONE, 1, 2, {0}}, AG_NOISE_GENERAL, false},
    {{kicked, false, AG_ELIM_NONE, 1, 2, {0}}, AG_NOISE_COMMUTATIVE, true},
    {{pushed, false, AG_ELIM_NONE, 1, 2, {0}}, AG_NOISE_ADDITIVE, true},
    {{varied_coin, false, AG_ELIM_SOLVED, 2, 3, {0}}, AG_NOISE_GENERAL, false},
    {{frozen_coin, false, AG_ELIM_SOLVED, 2, 3, {0}}, AG_NOISE_GENERAL, false},
    {{shaken_affine, false, AG_ELIM_SOLVED, 2, 3, {0}}, AG_NOISE_COMMUTATIVE, false},
    {{shaken_blade, false, AG_ELIM_BASIS, 2, 3, {0}}, AG_NOISE_COMMUTATIVE, false},
    {{shaken_top, false, AG_ELIM_NONE, 3, 6, {0}}, AG_NOISE_GENERAL, true},
    {{volatile_force, false, AG_ELIM_NONE, 1, 3, {0}}, AG_NOISE_COMMUTATIVE, true},
};

/* Calls check for every case, and says where something failed. */
static inline int each_noise(void (*check)(bench_system *b, const noise_case *c)) {
  for (size_t i = 0; i < sizeof noise_cases / sizeof *noise_cases; i++) {
    bench_system b;
    int before = ag_checks_failed;
    bench_init(&b, &noise_cases[i].c);
    check(&b, &noise_cases[i]);
    if (ag_checks_failed > before) fprintf(stderr, "in %s\n", b.m->name);
    bench_done(&b);
  }
  return ag_checks_failed;
}

/* Friction -0.5 v on an oscillator, v = x', with the noise sqrt(2 c kT) of kT = 2. */
static inline ag_model *warm(void) {
  ag_model *m = oscillator("warm oscillator");
  ag_graph *g = m->graph;
  int W = add_channel(m, "W");
  ag_id c = ag_num(g, 0.5), force = ag_neg(g, ag_mul(g, c, m->coords[0].xi));
  AG_MODEL_PUSH(m, forces, ((ag_assign){.coord = 0, .row = -1, .x = force}));
  AG_MODEL_PUSH(m, baths, ((ag_bath){m->coords[0].xi, c, ag_num(g, 2), W}));
  add_noise(m, AG_NOISE_FORCE, W, 0, ag_num(g, sqrt(2)));
  return m;
}

/* The same with a mass 1 + x^2: velocities then change without a push. */
static inline ag_model *warm_bent(void) {
  ag_model *m = warm();
  ag_graph *g = m->graph;
  ag_id v = ag_mul(g, m->coords[0].q, m->coords[0].xi), square = ag_mul(g, v, v), half = ag_num(g, 0.5);
  m->lagrangian = ag_add(g, m->lagrangian, ag_mul(g, half, square));
  return m;
}

#endif
