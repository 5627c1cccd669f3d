/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "model/parts.h"

ag_model *ag_model_create(const char *name) {
  ag_arena *arena = ag_arena_create();
  ag_model *m = AG_NEW(arena, ag_model);
  m->arena = arena;
  m->graph = ag_graph_create();
  m->name = ag_arena_str(arena, name);
  m->title = m->source = "";
  m->t = ag_input(m->graph, "t", 1, 1, AG_LEAF_REAL);
  return m;
}

void ag_model_free(ag_model *m) {
  if (!m) return;
  ag_draw_forget(m);
#define AG_MODEL_LIST(type, name, what) free(m->name);
#include "model/list.def"
#undef AG_MODEL_LIST
  ag_graph_free(m->graph);
  ag_arena_free(m->arena);
}

const char *ag_model_name(const ag_model *m) { return m->name; }

const char *ag_model_title(const ag_model *m) { return m->title; }

const char *ag_model_source(const ag_model *m) { return m->source; }

ag_graph *ag_model_graph(ag_model *m) { return m->graph; }

const ag_graph *ag_model_nodes(const ag_model *m) { return m->graph; }

ag_id ag_model_time(const ag_model *m) { return m->t; }

ag_id ag_model_lagrangian(const ag_model *m) { return m->lagrangian; }

ag_id ag_model_energy_input(const ag_model *m) { return m->energy; }

#define AG_MODEL_LIST(type, name, what) \
  type const *ag_model_##name(const ag_model *m) { return m->name; } \
  int ag_model_n_##name(const ag_model *m) { return m->n_##name; }
#include "model/list.def"
#undef AG_MODEL_LIST

void ag_model_end_at(ag_model *m, int event) { m->events[event].terminal = true; }

ag_id ag_model_add_param(ag_model *m, const char *name, ag_id value, ag_pos pos) {
  ag_graph *g = m->graph;
  ag_id input = ag_input(g, name, ag_node_rows(g, value), ag_node_cols(g, value), AG_LEAF_PARAM);
  AG_MODEL_PUSH(m, params,
                ((ag_param){.name = ag_arena_str(m->arena, name), .input = input, .value = value, .pos = pos}));
  return input;
}

int ag_model_add_coord(ag_model *m, const char *name, const char *velocity, const char *family,
                       const char *family_velocity, int index, ag_space space, int dim, ag_pos pos) {
  ag_graph *g = m->graph;
  ag_arena *a = m->arena;
  if (space == AG_SPACE_S1) dim = 1;
  if (space == AG_SPACE_S2 || space == AG_SPACE_SO3) dim = 3;
  ag_coord c = {.name = ag_arena_str(a, name), .index = index, .space = space, .dim = dim, .pos = pos};
  c.velocity = velocity ? ag_arena_str(a, velocity) : ag_arena_printf(a, "%s'", name);
  if (family) c.family = ag_arena_str(a, family);
  if (family_velocity) c.family_velocity = ag_arena_str(a, family_velocity);
  bool rotation = space == AG_SPACE_SO3;
  c.q = ag_input(g, c.name, dim, rotation ? 3 : 1, rotation ? AG_LEAF_ROTATION : AG_LEAF_REAL);
  c.xi = ag_input(g, c.velocity, dim, 1, AG_LEAF_REAL);
  AG_MODEL_PUSH(m, coords, c);
  if (space == AG_SPACE_S2) {
    ag_id square = ag_dot(g, c.q, c.q), gap = ag_sub(g, square, ag_num(g, 1));
    ag_model_add_holonomic(m, gap, ag_arena_printf(a, "%s in S2", name), pos);
  }
  return m->n_coords - 1;
}

void ag_model_add_constraint(ag_model *m, ag_id residual, const char *text, ag_pos pos) {
  const char *name = ag_arena_printf(m->arena, "%d", m->n_constraints + 1);
  AG_MODEL_PUSH(m, constraints, ((ag_item){name, text, residual, pos}));
}

void ag_model_add_holonomic(ag_model *m, ag_id residual, const char *text, ag_pos pos) {
  const char *name = ag_arena_printf(m->arena, "%d", m->n_holonomics + 1);
  AG_MODEL_PUSH(m, holonomics, ((ag_item){name, text, residual, pos}));
}

void ag_model_add_prescribe(ag_model *m, const char *name, ag_id residual, const char *text, ag_pos pos) {
  AG_MODEL_PUSH(m, prescribes, ((ag_item){ag_arena_str(m->arena, name), text, residual, pos}));
}

ag_id ag_model_add_frame(ag_model *m, const char *name, ag_id x, ag_pos pos) {
  ag_id input = ag_input(m->graph, name, ag_node_rows(m->graph, x), 1, AG_LEAF_REAL);
  AG_MODEL_PUSH(m, frames, ((ag_item){ag_arena_str(m->arena, name), NULL, x, pos}));
  AG_MODEL_PUSH(m, frame_inputs, input);
  return input;
}

ag_id ag_model_add_process(ag_model *m, const char *name, ag_pos pos) {
  ag_process p = {.name = ag_arena_str(m->arena, name), .drift = ag_num(m->graph, 0), .pos = pos};
  p.x = ag_input(m->graph, p.name, 1, 1, AG_LEAF_REAL);
  AG_MODEL_PUSH(m, processes, p);
  return p.x;
}

/* The item with that name, or NULL. */
static const ag_item *find(const ag_item *items, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(items[i].name, name)) return &items[i];
  return NULL;
}

void ag_model_add_driver(ag_model *m, const char *channel, ag_id x) {
  AG_MODEL_PUSH(m, drivers, ((ag_item){.name = channel, .x = x}));
}

ag_id ag_model_drive(ag_model *m, const char *coord_name) {
  const ag_item *have = find(m->drives, m->n_drives, coord_name);
  if (have) return have->x;
  const ag_item *p = find(m->prescribes, m->n_prescribes, coord_name);
  if (!p) return 0;
  ag_id x = ag_input(m->graph, ag_arena_printf(m->arena, "drive.%s", coord_name), ag_node_rows(m->graph, p->x), 1,
                     AG_LEAF_REAL);
  AG_MODEL_PUSH(m, drives, ((ag_item){ag_arena_str(m->arena, coord_name), NULL, x, p->pos}));
  return x;
}

ag_id ag_model_reaction(ag_model *m, int coord) {
  const ag_coord *c = &m->coords[coord];
  const ag_item *have = find(m->reactions, m->n_reactions, c->name);
  if (have) return have->x;
  ag_id x = ag_input(m->graph, ag_arena_printf(m->arena, "reaction.%s", c->name), c->dim, 1, AG_LEAF_REAL);
  AG_MODEL_PUSH(m, reactions, ((ag_item){c->name, NULL, x, c->pos}));
  return x;
}

/* A named constraint is multiplier.NAME whatever its kind; the numbers of unnamed ones are counted per kind. */
static ag_id standing_for(ag_model *m, const char *what, const ag_item *c) {
  if (c->name[0] > '9') what = "multiplier";
  return ag_input(m->graph, ag_arena_printf(m->arena, "%s.%s", what, c->name), ag_node_rows(m->graph, c->x), 1,
                  AG_LEAF_REAL);
}

ag_id ag_model_multiplier(ag_model *m, int constraint) {
  const ag_item *c = &m->constraints[constraint], *have = find(m->multipliers, m->n_multipliers, c->name);
  if (have) return have->x;
  ag_id x = standing_for(m, "multiplier", c);
  AG_MODEL_PUSH(m, multipliers, ((ag_item){c->name, NULL, x, c->pos}));
  return x;
}

ag_id ag_model_holonomic_multiplier(ag_model *m, int holonomic) {
  const ag_item *c = &m->holonomics[holonomic],
                *have = find(m->holonomic_multipliers, m->n_holonomic_multipliers, c->name);
  if (have) return have->x;
  ag_id x = standing_for(m, "holder", c);
  AG_MODEL_PUSH(m, holonomic_multipliers, ((ag_item){c->name, NULL, x, c->pos}));
  return x;
}

ag_id ag_model_energy(ag_model *m) {
  if (!m->energy) m->energy = ag_input(m->graph, "energy", 1, 1, AG_LEAF_REAL);
  return m->energy;
}

bool ag_model_has_force(const ag_model *m, int n, const ag_id *x) {
  const struct {
    int n;
    const ag_item *items;
  } lists[] = {{m->n_drives, m->drives},
               {m->n_reactions, m->reactions},
               {m->n_multipliers, m->multipliers},
               {m->n_holonomic_multipliers, m->holonomic_multipliers}};
  int n_input = 0;
  ag_id *inputs = ag_heap_alloc(
      sizeof *inputs * (size_t)(1 + m->n_drives + m->n_reactions + m->n_multipliers + m->n_holonomic_multipliers));
  if (m->lambda) inputs[n_input++] = m->lambda;
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
    for (int i = 0; i < lists[k].n; i++) inputs[n_input++] = lists[k].items[i].x;
  bool found = n_input && ag_depends(m->graph, n, x, n_input, inputs);
  free(inputs);
  return found;
}

bool ag_model_prime(ag_model *m, ag_id x, ag_id *dx) {
  ag_graph *g = m->graph;
  int n = m->n_coords + 1;
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)n), *seeds = ag_heap_alloc(sizeof *seeds * (size_t)n);
  for (int i = 0; i < m->n_coords; i++) inputs[i] = m->coords[i].xi;
  bool ok = !ag_depends(g, 1, &x, m->n_coords, inputs) && !ag_depends(g, 1, &x, m->n_frame_inputs, m->frame_inputs) &&
            !(m->energy && ag_depends(g, 1, &x, 1, &m->energy));
  for (int i = 0; i < m->n_processes && ok; i++) ok = !ag_depends(g, 1, &x, 1, &m->processes[i].x);
  ok = ok && !ag_model_has_force(m, 1, &x);
  if (ok) {
    for (int i = 0; i < m->n_coords; i++) inputs[i] = m->coords[i].q, seeds[i] = m->coords[i].xi;
    inputs[n - 1] = m->t;
    seeds[n - 1] = ag_num(g, 1);
    ag_forward(g, n, inputs, seeds, 1, &x, dx);
  }
  free(inputs);
  free(seeds);
  return ok;
}
