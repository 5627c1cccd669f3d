/* SPDX-License-Identifier: MIT
 * draw: what pages and pictures show of a model. The statements are evaluated after all others and after the checks of
 * the model, and their nodes are set aside: the equations do not depend on what is drawn. */
#include <string.h>

#include "lang/scene.h"

enum { MAX_DRAWINGS = 2000 };

static bool of_parameters(ag_builder *b, const ag_syn *s, ag_id x) {
  if (!(ag_note_on(b, x) & ~AG_ON_PARAM)) return true;
  return ag_scope_error(b, s->pos, "a size may use only numbers and parameters");
}

static ag_id size(ag_builder *b, const ag_syn *s) {
  double v;
  ag_id x = ag_eval_scalar(b, s, "a size");
  if (!x || !of_parameters(b, s, x) || !ag_define_value(b, x, &v)) return 0;
  if (v > 0) return x;
  ag_scope_error(b, s->pos, "a size must be positive; this is %g", v);
  return 0;
}

/* A column of 2 or 3 entries. */
static ag_id place(ag_builder *b, const ag_syn *s, const char *what) {
  ag_id x = ag_eval_node(b, s);
  if (!x) return 0;
  int rows = ag_node_rows(b->g, x);
  if (ag_node_cols(b->g, x) == 1 && (rows == 2 || rows == 3)) return x;
  ag_scope_error(b, s->pos, "%s has 2 or 3 entries; this is %s", what, ag_note_shape(b, x));
  return 0;
}

static ag_id turn(ag_builder *b, const ag_syn *s) {
  ag_id x = ag_eval_node(b, s);
  if (!x) return 0;
  if (ag_node_rows(b->g, x) != 3 || ag_node_cols(b->g, x) != 3) {
    ag_scope_error(b, s->pos, "`turned` takes a rotation, a 3x3 matrix; this is %s", ag_note_shape(b, x));
    return 0;
  }
  if (!ag_is_rotation(b->g, x)) ag_verify_later(b, x, s->pos);
  return x;
}

/* [P, Q, ...] with places, or a matrix with one place per row. */
static ag_id points(ag_builder *b, const ag_syn *s) {
  if (s->kind != AG_SYN_LIST) {
    ag_id x = ag_eval_node(b, s);
    if (!x) return 0;
    if (ag_node_cols(b->g, x) == 2 || ag_node_cols(b->g, x) == 3) return x;
    ag_scope_error(b, s->pos, "a polyline is a list of places, [P, Q, ...]; this is %s", ag_note_shape(b, x));
    return 0;
  }
  ag_id *e = AG_NEWN(b->arena, ag_id, 3 * s->n + 1);
  int cols = 0;
  for (int i = 0; i < s->n; i++) {
    ag_id x = place(b, s->links[i].x, "a place");
    if (!x || !ag_scope_work(b, s->pos, 4)) return 0;
    if (i && ag_node_rows(b->g, x) != cols) {
      ag_scope_error(b, s->links[i].x->pos, "this place has %d entries, the first has %d", ag_node_rows(b->g, x), cols);
      return 0;
    }
    cols = ag_node_rows(b->g, x);
    for (int k = 0; k < cols; k++) e[i * cols + k] = ag_entry(b->g, x, k, 0);
  }
  return ag_stack(b->g, s->n, cols, e);
}

static ag_id argument(ag_builder *b, const ag_draw_syn *d, int i, int *n_size, ag_id *rho) {
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  switch (row->args[i].shape) {
  case AG_DRAW_SIZE: return size(b, d->shape->links[(*n_size)++].x);
  case AG_DRAW_PLACE: return place(b, d->args[i], "a place");
  case AG_DRAW_DIRECTION: return place(b, d->args[i], "a direction");
  case AG_DRAW_TURN: return turn(b, d->args[i]);
  case AG_DRAW_POINTS: return points(b, d->args[i]);
  case AG_DRAW_PROFILE: *rho = ag_scene_running(b, d->shape, 1); return *rho ? ag_scene_under(b, d->shape, 0, *rho) : 0;
  }
  return 0;
}

/* `turned` fixes axis and mark. */
static bool consistent(ag_builder *b, const ag_draw_syn *d) {
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  const char *other = NULL;
  int turned = -1;
  for (int i = 0; row->args[i].name; i++) {
    if (!d->args[i]) continue;
    if (!strcmp(row->args[i].word, "turned")) turned = i;
    if (!strcmp(row->args[i].word, "axis") || !strcmp(row->args[i].word, "mark")) other = row->args[i].word;
  }
  if (turned < 0 || !other) return true;
  return ag_scope_error(b, d->pos[turned], "`turned` gives all axes: leave out `%s`", other);
}

/* A picture is no reason to refuse a model: what exceeds its limits is left out. */
static bool has_room(ag_builder *b, const ag_stmt *s) {
  if (b->m->n_drawings < MAX_DRAWINGS) return true;
  if (!b->drawn_full) ag_ctx_note(b->ctx, s->pos, "only the first %d things are drawn", MAX_DRAWINGS);
  b->drawn_full = true;
  return false;
}

static void add(ag_builder *b, const ag_stmt *s, void *data) {
  const ag_draw_syn *d = s->draw;
  const ag_draw_row *row = ag_draw_find((ag_draw_kind)d->kind);
  ag_drawing *out = AG_NEW(b->m->arena, ag_drawing);
  int n_size = 0;
  double colour = 0;
  (void)data;
  if (!has_room(b, s)) return;
  bool ok = consistent(b, d);
  *out = (ag_drawing){.kind = (ag_draw_kind)d->kind, .pos = s->pos};
  for (int i = 0; row->args[i].name && !b->stopped; i++) {
    if (!d->args[i] && strcmp(row->args[i].word, "(")) continue;
    ok = (out->args[i] = argument(b, d, i, &n_size, &out->rho)) && ok;
  }
  if (d->colour && ag_eval_whole(b, d->colour, "a colour", &colour) && !(colour >= 1 && colour <= 8))
    ok = ag_scope_error(b, d->colour->pos, "colours are numbered from 1 to 8; this is %g", colour);
  out->colour = (int)colour;
  if (ok && !b->stopped) AG_MODEL_PUSH(b->m, drawings, out);
}

/* Inputs that the model keeps for what follows from the motion. */
static int motion_inputs(const ag_model *m) {
  return m->n_drives + m->n_reactions + m->n_multipliers + m->n_holonomic_multipliers + (m->energy != 0) +
         (m->lambda != 0);
}

void ag_draw_finish(ag_builder *b) {
  int before = motion_inputs(b->m);
  bool any = false;
  ag_aside *aside = ag_aside_begin(b->g);
  for (int i = 0; i < b->parse->n && !b->stopped; i++) {
    const ag_stmt *s = &b->parse->at[i];
    if (s->word != AG_WORD_DRAW || s->error) continue;
    b->word = s->word;
    b->scope = NULL;
    any = true;
    ag_target_loop(b, s, add, NULL);
  }
  if (any && !ag_scope_failed(b)) ag_verify_rotations(b);
  /* a drawing of forces made inputs that must stay */
  if (any && !ag_scope_failed(b) && motion_inputs(b->m) == before) ag_model_set_aside(b->m, aside);
  else ag_aside_free(aside);
}
