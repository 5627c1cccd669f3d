/* SPDX-License-Identifier: MIT
 * Statements that define names: param, config, let, frame, observable. */
#include <math.h>
#include <string.h>

#include "lang/build.h"

/* ---- values of parameters ---- */

static bool all_finite(int n, const double *v) {
  for (int i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

bool ag_define_value(ag_builder *b, ag_id x, double *v) {
  int n = ag_node_rows(b->g, x) * ag_node_cols(b->g, x);
  if (ag_constant(b->g, x, v)) return all_finite(n, v);
  /* it came through a let: insert the values now */
  ag_id *from = ag_heap_alloc(sizeof *from * (size_t)(2 * b->m->n_params + 1)), *to = from + b->m->n_params;
  int k = 0;
  for (int i = 0; i < b->m->n_params; i++) {
    const ag_param *p = &b->m->params[i];
    ag_id number = ag_scope_symbol(b, ag_names_id(b->names, p->name, strlen(p->name)))->number;
    if (!p->input || !number) continue;
    from[k] = p->input;
    to[k++] = number;
  }
  bool ok = ag_scope_work(b, (ag_pos){0}, ag_graph_count(b->g) / 16 + k);
  if (ok) ag_substitute(b->g, k, from, to, 1, &x);
  free(from);
  return ok && ag_constant(b->g, x, v) && all_finite(n, v);
}

/* The value of a parameter as a constant node. 0 on error. */
static ag_id number_of(ag_builder *b, const ag_syn *s, ag_id value, const char *name) {
  ag_graph *g = b->g;
  int rows = ag_node_rows(g, value), cols = ag_node_cols(g, value), n = rows * cols;
  b->numeric = true;
  ag_id x = ag_eval_node(b, s);
  b->numeric = false;
  if (!x) return 0;
  double *v = ag_heap_alloc(sizeof *v * (size_t)n);
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n), out = 0;
  if (ag_define_value(b, x, v)) {
    for (int i = 0; i < n; i++) e[i] = ag_num(g, v[i]);
    out = ag_stack(g, rows, cols, e);
  } else ag_scope_error(b, s->pos, "the value of `%s` is not a finite number", name);
  free(v);
  free(e);
  return out;
}

typedef struct worth {
  ag_id value, number;
} worth;

/* Evaluates the value of a parameter, from the file or a --set. */
static bool param_value(ag_builder *b, const ag_syn *s, const char *name, bool integer, worth *out) {
  double v;
  *out = (worth){0};
  ag_id x = ag_eval_node(b, s);
  if (!x) return false;
  if (ag_note_on(b, x) & ~AG_ON_PARAM)
    return ag_scope_error(
        b, s->pos, "the value of parameter `%s` may use only numbers and earlier parameters, nothing that moves", name);
  if (integer) {
    if (!ag_is_scalar(b->g, x))
      return ag_scope_error(b, s->pos, "the integer parameter `%s` is set to %s", name, ag_note_shape(b, x));
    if (!ag_is_num(b->g, x, &v))
      return ag_scope_error(b, s->pos, "the integer parameter `%s` may use only numbers and other integer parameters",
                            name);
    if (v != floor(v) || fabs(v) > 1e9)
      return ag_scope_error(b, s->pos, "the integer parameter `%s` must be an integer; this is %g", name, v);
    *out = (worth){x, x};
    return true;
  }
  ag_id number = number_of(b, s, x, name);
  *out = (worth){x, number};
  return number != 0;
}

/* One entry of a parameter, from `--set v[2]=...`. */
static bool set_entry(ag_builder *b, const ag_syn *target, const ag_syn *right, const char *name, worth *w) {
  int rows = ag_node_rows(b->g, w->value), cols = ag_node_cols(b->g, w->value), i = 0, j = 0;
  const ag_link *at = &target->links[1];
  if (rows * cols == 1) return ag_scope_error(b, target->pos, "`%s` is a scalar: it has no entries", name);
  if (target->n != 2 || at->op != AG_TOKEN_LEFT || (cols > 1) != (at->y != NULL))
    return ag_scope_error(b, target->pos, "`%s` is %s; set it, or one entry %s of it", name, ag_note_shape(b, w->value),
                          cols > 1 ? "[i, j]" : "[i]");
  worth entry;
  if (!ag_lookup_index(b, at->x, "rows", target->links[0].x, rows, &i)) return false;
  if (at->y && !ag_lookup_index(b, at->y, "columns", target->links[0].x, cols, &j)) return false;
  if (!param_value(b, right, name, false, &entry)) return false;
  if (!ag_is_scalar(b->g, entry.value))
    return ag_scope_error(b, right->pos, "an entry of `%s` is a scalar; this is %s", name,
                          ag_note_shape(b, entry.value));
  ag_id *values = AG_NEWN(b->arena, ag_id, 2 * rows * cols), *numbers = values + rows * cols;
  for (int k = 0; k < rows * cols; k++) {
    bool here = k == i * cols + j;
    values[k] = here ? entry.value : ag_entry(b->g, w->value, k / cols, k % cols);
    numbers[k] = here ? entry.number : ag_entry(b->g, w->number, k / cols, k % cols);
  }
  w->value = ag_stack(b->g, rows, cols, values);
  w->number = ag_stack(b->g, rows, cols, numbers);
  return true;
}

void ag_define_varied(ag_builder *b, ag_change *c, const char *what) {
  const char *name = ag_arena_printf(b->m->arena, "%s %s", what, c->vary->name);
  ag_part *p = &c->stmt.parts[0];
  ag_syn *s = AG_NEW(b->arena, ag_syn);
  *s = (ag_syn){.kind = AG_SYN_NAME, .pos = p->right->pos, .name = ag_names_id(b->names, name, strlen(name))};
  ag_symbol *sym = ag_scope_define(b, s->name, AG_SYM_PARAM, s->pos);
  c->vary->param = sym->index = b->m->n_params;
  sym->number = ag_num(b->g, c->vary->value);
  sym->x = ag_model_add_param(b->m, name, sym->number, s->pos);
  b->m->params[sym->index].from_start = true;
  sym->used = true;
  ag_note_input(b, sym->x, AG_ON_PARAM);
  p->right = s;
}

/* Entries that are set by themselves, after the last --set of the whole (`from` changes). */
static bool set_entries(ag_builder *b, int name, int from, worth *w) {
  const char *file = b->ctx->file;
  bool ok = true;
  for (int i = 0; i < b->n_change; i++) {
    ag_change *c = &b->changes[i];
    const ag_syn *target = c->stmt.n_part ? c->stmt.parts[0].target : NULL;
    if (c->stmt.error || !target || target->kind != AG_SYN_POST) continue;
    if (target->links[0].x->kind != AG_SYN_NAME || target->links[0].x->name != name) continue;
    c->used = true;
    if (i < from || !ok) continue;
    ag_scope_source(b, c, file);
    if (c->vary) ag_define_varied(b, c, "entry");
    ok = set_entry(b, target, c->stmt.parts[0].right, ag_scope_text(b, name), w);
    ag_scope_source(b, NULL, file);
  }
  return ok;
}

void ag_define_param(ag_builder *b, const ag_part *p) {
  const char *name = ag_scope_text(b, p->name);
  bool fresh = ag_scope_free(b, p->name, p->pos);
  int set = ag_scope_symbol(b, p->name)->set;
  worth w = {0}, changed = {0};
  b->defining = p->name;
  bool ok = !ag_scope_symbol(b, p->name)->circle && param_value(b, p->right, name, p->integer, &w);
  if (set && fresh) {
    ag_change *change = &b->changes[set - 1];
    const char *file = b->ctx->file;
    change->used = true;
    if (change->vary) change->vary->param = b->m->n_params;
    ag_scope_source(b, change, file);
    const ag_syn *s = change->stmt.parts[0].right;
    bool good = param_value(b, s, name, p->integer, &changed);
    if (good && ok && !ag_note_same(b, w.value, changed.value))
      good = ag_scope_error(b, s->pos, "`%s` is %s in the model; this is %s", name, ag_note_shape(b, w.value),
                            ag_note_shape(b, changed.value));
    ag_scope_source(b, NULL, file);
    ok = good && ok;
    w = changed;
  }
  if (ok && fresh) ok = set_entries(b, p->name, set, &w);
  b->defining = 0;
  if (!fresh) return;
  ag_symbol *sym = ag_scope_define(b, p->name, ok ? AG_SYM_PARAM : AG_SYM_BAD, p->pos);
  if (!ok) return;
  sym->index = b->m->n_params;
  sym->number = w.number;
  sym->x = w.value;
  if (p->integer) {
    ag_param param = {.name = ag_arena_str(b->m->arena, name), .value = w.value, .integer = true, .pos = p->pos};
    ag_is_num(b->g, w.value, &param.number);
    AG_MODEL_PUSH(b->m, params, param);
    return;
  }
  sym->x = ag_model_add_param(b->m, name, w.value, p->pos);
  ag_note_input(b, sym->x, AG_ON_PARAM);
}

/* ---- coordinates ---- */

/* A size from 1 to the limit; false on error. */
static bool size_of(ag_builder *b, const ag_syn *s, const char *what, int *n) {
  double v;
  if (!ag_eval_whole(b, s, what, &v)) return false;
  if (v < 1 || v > AG_MAX_SIZE)
    return ag_scope_error(b, s->pos, "%s must be from 1 to %d; this is %.0f", what, AG_MAX_SIZE, v);
  *n = (int)v;
  return true;
}

static void add_factor(ag_builder *b, const ag_part *p, int index, int dim) {
  static const ag_space space[] = {AG_SPACE_R, AG_SPACE_S1, AG_SPACE_S2, AG_SPACE_SO3};
  ag_model *m = b->m;
  const char *name = ag_scope_text(b, p->name), *velocity = p->velocity ? ag_scope_text(b, p->velocity) : NULL;
  const char *family = index ? name : NULL, *family_velocity = index ? velocity : NULL;
  if (index) {
    name = ag_entry_of(b->arena, name, index - 1);
    if (velocity) velocity = ag_entry_of(b->arena, velocity, index - 1);
  }
  int i = ag_model_add_coord(m, name, velocity, family, family_velocity, index, space[p->space], dim, p->pos);
  const ag_coord *c = &m->coords[i];
  ag_note_input(b, c->q, AG_ON_Q);
  ag_note_input(b, c->xi, AG_ON_XI);
  if (c->space != AG_SPACE_SO3) ag_note_prime(b, c->q, c->xi);
  b->n_velocity += c->dim;
}

void ag_define_config(ag_builder *b, const ag_part *p) {
  static const int dims[] = {1, 1, 3, 3};
  int dim = dims[p->space], count = 0;
  const char *name = ag_scope_text(b, p->name);
  bool ok = ag_scope_free(b, p->name, p->pos), fresh = ok, fresh_velocity = true;
  if (p->velocity && p->velocity == p->name)
    fresh_velocity = ok = ag_scope_error(b, p->velocity_pos, "the velocity of `%s` needs another name", name);
  else if (p->velocity) fresh_velocity = ag_scope_free(b, p->velocity, p->velocity_pos);
  ok = ok && fresh_velocity;
  if (p->space == AG_IN_SO3 && !p->velocity)
    ok = ag_scope_error(b, p->pos, "the angular velocity of `%s` needs a name: config %s in SO3 velocity Omega", name,
                        name);
  if (p->size) ok = size_of(b, p->size, "the dimension of R^n", &dim) && ok;
  if (p->count) ok = size_of(b, p->count, "the number of members of a family", &count) && ok;
  if (ok && (int64_t)dim * (count ? count : 1) + b->n_velocity > AG_MAX_SIZE)
    ok = ag_scope_error(b, p->pos, "the model has more than %d velocities", AG_MAX_SIZE);
  int first = b->m->n_coords;
  for (int i = count ? 1 : 0; ok && i <= count; i++) {
    if (!ag_scope_work(b, p->pos, 20)) return;
    add_factor(b, p, i, dim);
  }
  if (fresh) {
    ag_symbol *s = ag_scope_define(b, p->name, ok ? AG_SYM_COORD : AG_SYM_BAD, p->pos);
    s->index = first;
    s->count = count;
    if (ok) s->x = b->m->coords[first].q;
  }
  if (!p->velocity || !fresh_velocity || p->velocity == p->name) return;
  ag_symbol *s = ag_scope_define(b, p->velocity, ok ? AG_SYM_VELOCITY : AG_SYM_BAD, p->velocity_pos);
  s->index = first;
  s->count = count;
  if (ok) s->x = b->m->coords[first].xi;
}

/* ---- let, frame, observable ---- */

static bool macro_arguments(ag_builder *b, const ag_part *p) {
  bool ok = true;
  for (int i = 0; i < p->n_arg; i++) {
    const ag_symbol *s = ag_scope_symbol(b, p->args[i]);
    const char *text = ag_scope_text(b, p->args[i]);
    if (s->kind == AG_SYM_RESERVED || s->kind == AG_SYM_CONSTANT || s->kind == AG_SYM_FUNCTION ||
        s->kind == AG_SYM_ENERGY)
      ok = ag_scope_error(b, p->arg_pos[i], "`%s` is %s and cannot be an argument", text, ag_scope_kind(s));
    for (int k = 0; k < i; k++)
      if (p->args[k] == p->args[i]) ok = ag_scope_error(b, p->arg_pos[i], "`%s` is already an argument", text);
  }
  return ok;
}

static void define_macro(ag_builder *b, const ag_part *p, bool fresh) {
  bool ok = macro_arguments(b, p);
  int errors = b->ctx->n_error;
  if (!ag_scope_symbol(b, p->name)->circle) ag_lookup_check(b, p->right, p);
  else ok = false;
  ok = ok && b->ctx->n_error == errors;
  b->defining = 0;
  if (fresh) ag_scope_define(b, p->name, ok ? AG_SYM_MACRO : AG_SYM_BAD, p->pos)->part = p;
}

void ag_define_let(ag_builder *b, const ag_part *p) {
  bool fresh = ag_scope_free(b, p->name, p->pos);
  b->defining = p->name;
  if (p->n_arg) {
    define_macro(b, p, fresh);
    return;
  }
  ag_id x = ag_scope_symbol(b, p->name)->circle ? 0 : ag_eval_node(b, p->right);
  b->defining = 0;
  if (!fresh) return;
  ag_scope_define(b, p->name, x ? AG_SYM_LET : AG_SYM_BAD, p->pos)->x = x;
  if (x) AG_MODEL_PUSH(b->m, lets, ((ag_item){ag_arena_str(b->m->arena, ag_scope_text(b, p->name)), NULL, x, p->pos}));
}

/* Affinity is checked at the end (verify.c). */
void ag_define_frame(ag_builder *b, const ag_part *p) {
  const char *name = ag_scope_text(b, p->name);
  bool fresh = ag_scope_free(b, p->name, p->pos), ok = false;
  b->defining = p->name;
  ag_id x = ag_eval_node(b, p->right);
  b->defining = 0;
  if (x && ag_node_cols(b->g, x) != 1)
    ag_scope_error(b, p->right->pos, "a velocity of the frame is a scalar or a vector; this is %s",
                   ag_note_shape(b, x));
  else if (x && ag_note_on(b, x) & AG_ON_MOTION)
    ag_scope_error(b, p->right->pos, "the frame velocity `%s` may not use energy, drives or reactions", name);
  else if (x && !(ag_note_on(b, x) & AG_ON_XI))
    ag_scope_error(b, p->right->pos, "the frame velocity `%s` contains no velocity", name);
  else ok = x != 0;
  if (!fresh) return;
  ag_symbol *s = ag_scope_define(b, p->name, ok ? AG_SYM_FRAME : AG_SYM_BAD, p->pos);
  if (!ok) return;
  s->x = x;
  s->index = b->m->n_frames;
  ag_note_input(b, ag_model_add_frame(b->m, name, x, p->pos), AG_ON_XI);
}

/* The name of a let alone: record it under its own name. */
static void observe_let(ag_builder *b, const ag_part *p) {
  ag_symbol *s = ag_scope_symbol(b, p->name);
  const char *name = ag_scope_text(b, p->name);
  s->used = true;
  bool let = s->kind == AG_SYM_LET || s->kind == AG_SYM_ANGLE;
  if (s->kind == AG_SYM_NONE) ag_scope_unknown(b, p->name, p->pos, 1u << AG_SYM_LET | 1u << AG_SYM_ANGLE);
  else if (let && s->count) ag_scope_error(b, p->pos, "`%s` is already an observable", name);
  else if (let) AG_MODEL_PUSH(b->m, observables, ((ag_item){ag_arena_str(b->m->arena, name), NULL, s->x, p->pos}));
  else if (s->kind != AG_SYM_BAD)
    ag_scope_error(b, p->pos, "`observable %s` alone expects the name of a `let` without arguments; this is %s", name,
                   ag_scope_kind(s));
  if (let) s->count = 1; /* recorded */
}

void ag_define_observable(ag_builder *b, const ag_part *p) {
  if (!p->right) {
    observe_let(b, p);
    return;
  }
  bool fresh = ag_scope_free(b, p->name, p->pos);
  b->defining = p->name;
  ag_id x = ag_eval_node(b, p->right);
  b->defining = 0;
  if (!fresh) return;
  ag_scope_define(b, p->name, x ? AG_SYM_OBSERVABLE : AG_SYM_BAD, p->pos)->x = x;
  if (x)
    AG_MODEL_PUSH(b->m, observables,
                  ((ag_item){ag_arena_str(b->m->arena, ag_scope_text(b, p->name)), NULL, x, p->pos}));
}

void ag_define_candidate(ag_builder *b, const ag_part *p) {
  bool fresh = ag_scope_free(b, p->name, p->pos);
  b->defining = p->name;
  ag_id x = ag_eval_scalar(b, p->right, "a candidate");
  b->defining = 0;
  if (!fresh) return;
  ag_scope_define(b, p->name, x ? AG_SYM_OBSERVABLE : AG_SYM_BAD, p->pos)->x = x;
  if (x)
    AG_MODEL_PUSH(b->m, candidates, ((ag_item){ag_arena_str(b->m->arena, ag_scope_text(b, p->name)), NULL, x, p->pos}));
}
