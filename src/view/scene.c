/* SPDX-License-Identifier: MIT
 * Scenes: the things to draw of a model, from its bodies, contacts, joints and `draw` statements. */
#include <math.h>
#include <stdlib.h>

#include "view/scene_internal.h"

ag_thing *ag_scene_add(ag_scene *s, const char *kind, const char *group, const char *name) {
  if (s->n == s->cap) {
    ag_thing *more = AG_NEWN(s->arena, ag_thing, 2 * s->cap + 16);
    for (int i = 0; i < s->n; i++) more[i] = s->things[i];
    s->things = more, s->cap = 2 * s->cap + 16;
  }
  ag_thing *t = &s->things[s->n++];
  *t = (ag_thing){.kind = kind, .group = group, .name = name};
  return t;
}

void ag_thing_arg(ag_thing *t, const char *name, ag_scene_value how, ag_id x) {
  if (!x) return;
  t->args[t->n_arg].name = name, t->args[t->n_arg].how = how, t->args[t->n_arg].x = x;
  t->n_arg++;
}

/* ---- expressions of parameters and one more input ---- */

void ag_scene_sample(const ag_scene *s, ag_id input, int n_out, const ag_id *outs, long n, int width, const double *at,
                     double *out) {
  const ag_model *m = ag_system_model(s->system);
  const double *params = ag_system_param_values(s->system);
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_model_n_params(m) + 1));
  int n_bind = 0;
  for (int i = 0; i < ag_model_n_params(m); i++)
    if (ag_model_params(m)[i].input)
      binds[n_bind++] =
          (ag_bind){ag_model_params(m)[i].input, AG_SEG_P, ag_layout_item(s->system, AG_LAYOUT_PARAMETER, i)->at};
  if (input) binds[n_bind++] = (ag_bind){input, AG_SEG_Z, 0};
  ag_tape *tape = ag_tape_create(ag_system_graph(s->system), n_bind, binds, n_out, outs);
  double *slots = ag_heap_aligned(sizeof *slots * (size_t)(tape->n_slot + 1)), t = 0;
  (void)ag_tape_prep(tape, params, slots);
  for (long i = 0; i < n; i++) {
    const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = at + i * width, [AG_SEG_P] = params};
    (void)ag_tape_eval(tape, seg, slots, out + i * tape->n_out);
  }
  free(slots);
  free(binds);
  ag_tape_free(tape);
}

double ag_scene_number(const ag_scene *s, ag_id x) {
  double none = 0, value = 0;
  if (x) ag_scene_sample(s, 0, 1, &x, 1, 1, &none, &value);
  return value;
}

/* ---- drawings ---- */

static void add_drawing(ag_scene *s, const ag_drawing *d) {
  static const ag_scene_value how[] = {
      [AG_DRAW_SIZE] = AG_VALUE_FIXED, [AG_DRAW_PLACE] = AG_VALUE_PLAIN,  [AG_DRAW_DIRECTION] = AG_VALUE_PLAIN,
      [AG_DRAW_TURN] = AG_VALUE_TURN,  [AG_DRAW_POINTS] = AG_VALUE_PLAIN, [AG_DRAW_PROFILE] = AG_VALUE_PLAIN};
  ag_graph *g = ag_system_graph(s->system);
  const ag_draw_row *row = ag_draw_find(d->kind);
  bool ground = d->kind == AG_DRAW_IS_plane || d->kind == AG_DRAW_IS_shell || d->kind == AG_DRAW_IS_tube ||
                d->kind == AG_DRAW_IS_bowl;
  const char *group = ground                        ? "ground"
                      : d->kind == AG_DRAW_IS_trace ? "trace"
                      : d->kind == AG_DRAW_IS_arrow ? "arrow"
                                                    : "body";
  ag_thing *t = ag_scene_add(s, row->name, group, "");
  t->colour = d->colour;
  for (int i = 0; i < AG_DRAW_ARGS && row->args[i].name; i++) {
    if (row->args[i].shape == AG_DRAW_PROFILE) t->rho = d->rho, t->profile = d->args[i];
    else ag_thing_arg(t, row->args[i].name, how[row->args[i].shape], d->args[i]);
    if (row->args[i].shape == AG_DRAW_POINTS)
      ag_thing_arg(t, "width", AG_VALUE_FIXED, ag_num(g, ag_node_cols(g, d->args[i])));
  }
}

ag_scene *ag_scene_create(ag_system *sys) {
  ag_arena *arena = ag_arena_create();
  ag_scene *s = AG_NEW(arena, ag_scene);
  *s = (ag_scene){.arena = arena, .system = sys};
  const ag_model *m = ag_system_model(sys);
  ag_model_draw(m);
  ag_scene_bodies(s);
  for (int i = 0; i < ag_model_n_drawings(m); i++) add_drawing(s, ag_model_drawings(m)[i]);
  return s;
}

void ag_scene_free(ag_scene *s) {
  if (s) ag_arena_free(s->arena);
}
