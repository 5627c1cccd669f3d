/* SPDX-License-Identifier: MIT
 * Friction and temperature. For velocities v = G xi, `friction v = c` is the force -c G^T v; at a temperature kT every
 * component of v also gets a Wiener process with the force sqrt(2 c kT) G^T: fluctuation and dissipation balance. */
#include <stdlib.h>
#include <string.h>

#include "lang/build.h"

/* A coefficient of numbers and parameters; others: 1, they are not known in advance. */
static double coefficient(ag_builder *b, const ag_syn *s, ag_id c) {
  double value;
  return !(ag_note_on(b, c) & ~AG_ON_PARAM) && ag_eval_number(b, s, "a coefficient of friction", &value) ? value : 1;
}

static void add_friction(ag_builder *b, const ag_part *p, ag_id v, ag_id c) {
  if (ag_node_cols(b->g, v) != 1)
    ag_scope_error(b, p->left->pos, "friction acts on velocities, scalars or vectors; this is %s", ag_note_shape(b, v));
  else if ((ag_note_on(b, v) | ag_note_on(b, c)) & AG_ON_MOTION)
    ag_scope_error(b, p->left->pos, "friction may not use energy, drives or reactions");
  else if (!(ag_note_on(b, v) & AG_ON_XI)) ag_scope_error(b, p->left->pos, "this contains no velocity to damp");
  else if (ag_note_on(b, c) & AG_ON_XI)
    ag_scope_error(b, p->right->pos, "the coefficient contains a velocity: write such a friction as a `force`");
  else AG_MODEL_PUSH(b, frictions, ((ag_friction){v, c, coefficient(b, p->right, c), p->left->pos, p->right->pos}));
}

/* The velocities of a family, `friction x' = c`, are damped member by member. */
static void friction(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  for (int k = 0; k < s->n_part; k++) {
    const ag_part *p = &s->parts[k];
    if (!ag_target_due(b, s, p)) continue;
    ag_value value = ag_eval(b, p->left);
    ag_id c = ag_eval_scalar(b, p->right, "a coefficient of friction");
    bool all = value.kind == AG_VALUE_FAMILY && value.role == AG_ROLE_XI;
    ag_id v = all ? 0 : ag_eval_take(b, value, p->left->pos);
    if (v && c) add_friction(b, p, v, c);
    for (int i = 0; all && c && i < value.count; i++) add_friction(b, p, b->m->coords[value.first + i].xi, c);
  }
}

void ag_friction_statement(ag_builder *b, const ag_stmt *s) { ag_target_loop(b, s, friction, NULL); }

void ag_temperature_statement(ag_builder *b, const ag_stmt *s) {
  const ag_syn *e = s->parts[0].right;
  if (b->temperature_pos.line) {
    ag_scope_error(b, s->pos, "a second `temperature`; the first is on line %d", b->temperature_pos.line);
    return;
  }
  b->temperature_pos = s->pos;
  b->temperature = ag_eval_scalar(b, e, "the temperature");
  if (b->temperature && ag_note_on(b, b->temperature) & ~AG_ON_PARAM)
    b->temperature = ag_scope_error(b, e->pos, "a temperature may use only numbers and parameters");
  double value;
  if (b->temperature && ag_eval_number(b, e, "the temperature", &value) && !(value >= 0))
    b->temperature = ag_scope_error(b, e->pos, "a temperature must not be negative; this is %g", value);
}

/* ---- what follows ---- */

/* G^T w as parts, one per coordinate that it acts on; how many. */
static int parts_of(ag_builder *b, ag_id v, ag_id w, ag_pos pos, ag_assign *parts) {
  ag_model *m = b->m;
  int n = 0;
  ag_id *xi = ag_heap_alloc(sizeof *xi * 2 * (size_t)(m->n_coords + 1)), *grad = xi + m->n_coords + 1;
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  ag_reverse(b->g, 1, &v, &w, m->n_coords, xi, grad);
  for (int i = 0; i < m->n_coords; i++)
    if (!ag_is_zero(b->g, grad[i])) parts[n++] = (ag_assign){i, -1, grad[i], pos, false};
  free(xi);
  return n;
}

/* Linear: nothing is left at rest. The degree is checked with those of the other statements. */
static bool linear(ag_builder *b, const ag_friction *f, uint8_t *degree) {
  ag_model *m = b->m;
  ag_id rest = f->v, *xi = ag_heap_alloc(sizeof *xi * 2 * (size_t)(m->n_coords + 1)), *zero = xi + m->n_coords + 1;
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi, zero[i] = ag_zero(b->g, m->coords[i].dim, 1);
  bool good = ag_degree_holds(b, degree, f->v, 1, f->pos);
  ag_substitute(b->g, m->n_coords, xi, zero, 1, &rest);
  free(xi);
  if (good && ag_is_zero(b->g, rest)) return true;
  return ag_scope_error(b, f->pos, "friction acts on expressions linear in the velocities, without a constant part");
}

/* A name that no process of the user has. */
static const char *process_name(ag_builder *b, int number) {
  const char *name = ag_arena_printf(b->m->arena, "friction_%d", number);
  for (int i = 0; i < b->m->n_channels; i++)
    if (!strcmp(b->m->channels[i].name, name)) return ag_arena_printf(b->m->arena, "%s_", name);
  return name;
}

static void add_noise(ag_builder *b, const ag_friction *f, ag_assign *parts, int *number) {
  ag_model *m = b->m;
  ag_id two = ag_num(b->g, 2), product = ag_mul(b->g, ag_mul(b->g, two, f->c), b->temperature);
  ag_id size = ag_apply1(b->g, AG_OP_SQRT, product);
  int rows = ag_node_rows(b->g, f->v);
  for (int r = 0; r < rows; r++) {
    int n = parts_of(b, ag_entry(b->g, f->v, r, 0), size, f->pos, parts);
    const char *name = process_name(b, ++*number);
    AG_MODEL_PUSH(m, channels, ((ag_item){.name = name, .pos = f->pos}));
    ag_noise noise = {.kind = AG_NOISE_FORCE, .channel = m->n_channels - 1, .n = n, .pos = f->pos};
    noise.parts = AG_NEWN(m->arena, ag_assign, n + 1);
    memcpy(noise.parts, parts, sizeof *parts * (size_t)n);
    AG_MODEL_PUSH(m, noises, noise);
    ag_id v = ag_entry(b->g, f->v, r, 0);
    AG_MODEL_PUSH(m, baths, ((ag_bath){v, f->c, b->temperature, noise.channel}));
  }
}

void ag_friction_finish(ag_builder *b) {
  if (!b->n_frictions && b->temperature && !ag_scope_failed(b))
    ag_scope_error(b, b->temperature_pos,
                   "a temperature needs `friction`: without it nothing is exchanged with a bath");
  if (!b->n_frictions || ag_scope_failed(b)) return;
  int number = 0, n_friction = b->n_frictions;
  uint8_t *degree = ag_degree_bounds(b);
  ag_assign *parts = ag_heap_alloc(sizeof *parts * (size_t)(b->m->n_coords + 1));
  for (int k = 0; k < n_friction; k++) {
    const ag_friction *f = &b->frictions[k];
    if (!linear(b, f, degree)) continue;
    if (b->temperature && !(f->value >= 0))
      ag_scope_error(b, f->at, "at a temperature a coefficient of friction must not be negative; this is %g", f->value);
    ag_id weight = ag_neg(b->g, ag_mul(b->g, f->c, f->v));
    int n = parts_of(b, f->v, weight, f->pos, parts);
    for (int i = 0; i < n; i++) parts[i].drag = b->temperature != 0;
    for (int i = 0; i < n; i++) AG_MODEL_PUSH(b->m, forces, parts[i]);
    if (b->temperature) add_noise(b, f, parts, &number);
  }
  free(parts);
  free(degree);
}
