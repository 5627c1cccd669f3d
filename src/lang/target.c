/* SPDX-License-Identifier: MIT
 * The left side of force, prescribe, generator and start: which coordinate or velocity, and which row of it. Running
 * indices. */
#include <string.h>

#include "lang/build.h"

/* ---- targets ---- */

typedef struct search {
  ag_target t;
  int first, count; /* a family that still needs its index */
} search;

static const ag_coord *coord_of(ag_builder *b, const search *f) {
  return &b->m->coords[f->count ? f->first : f->t.coord];
}

static bool find_name(ag_builder *b, const ag_syn *s, search *f) {
  const char *text = ag_scope_text(b, s->name);
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  f->t = (ag_target){.row = -1, .frame = -1, .coord = -1};
  sym->used = true;
  switch ((ag_sym_kind)sym->kind) {
  case AG_SYM_NONE: ag_scope_unknown(b, s->name, s->pos, AG_SUGGEST_TARGETS); return false;
  case AG_SYM_BAD: return false;
  case AG_SYM_FRAME: f->t.frame = sym->index; return true;
  case AG_SYM_COORD:
  case AG_SYM_VELOCITY:
    f->t.velocity = sym->kind == AG_SYM_VELOCITY;
    f->t.coord = f->first = sym->index;
    f->count = sym->count;
    return true;
  case AG_SYM_PROCESS:
    return ag_scope_error(b, s->pos, "`%s` is a process; its noise is written `noise W process %s = ...`", text, text);
  default:
    if (!strcmp(text, "t"))
      return ag_scope_error(b, s->pos, "`t` is the time; the option --t0 of a run sets the start time");
    return ag_scope_error(b, s->pos, "`%s` is %s; only coordinates and velocities are allowed on the left here", text,
                          ag_scope_kind(sym));
  }
}

static bool find_prime(ag_builder *b, const ag_link *link, search *f) {
  if (f->t.frame >= 0 || f->t.velocity)
    return ag_scope_error(b, link->pos, "this is already a velocity; it takes no further prime");
  const ag_coord *c = coord_of(b, f);
  if (c->space == AG_SPACE_SO3)
    return ag_scope_error(b, link->pos, "the velocity of `%s` is called `%s`", c->family ? c->family : c->name,
                          c->family_velocity ? c->family_velocity : c->velocity);
  f->t.velocity = true;
  return true;
}

static bool find_index(ag_builder *b, const ag_syn *base, const ag_link *link, search *f) {
  int i, n = f->count;
  if (!n) n = f->t.frame >= 0 ? ag_node_rows(b->g, b->m->frames[f->t.frame].x) : coord_of(b, f)->dim;
  if (f->count && !link->y) {
    if (!ag_lookup_index(b, link->x, "the index of a family", base, n, &i)) return false;
    f->t.coord = f->first + i;
    f->count = 0;
    return true;
  }
  if (f->t.frame < 0 && coord_of(b, f)->space == AG_SPACE_SO3 && !f->t.velocity)
    return ag_scope_error(
        b, link->pos,
        "single entries of a rotation cannot be set; give all of it, as rotation(axis, angle) or euler(...)");
  if (link->y || f->t.row >= 0) return ag_scope_error(b, link->pos, "this has no such entry");
  if (!ag_lookup_index(b, link->x, "an index", base, n, &i)) return false;
  f->t.row = n > 1 ? i : -1;
  return true;
}

/* Rows and columns of the value, and its name for messages. */
static void describe(ag_builder *b, ag_target *t) {
  t->cols = 1;
  if (t->frame >= 0) t->rows = ag_node_rows(b->g, b->m->frames[t->frame].x);
  else t->rows = b->m->coords[t->coord].dim;
  if (t->row >= 0) t->rows = 1;
  if (t->frame < 0 && !t->velocity && b->m->coords[t->coord].space == AG_SPACE_SO3) t->cols = 3;
  const char *name = t->frame >= 0 ? b->m->frames[t->frame].name
                     : t->velocity ? b->m->coords[t->coord].velocity
                                   : b->m->coords[t->coord].name;
  t->text = t->row >= 0 ? ag_entry_of(b->arena, name, t->row) : name;
}

bool ag_target_find(ag_builder *b, const ag_syn *s, bool velocity_only, ag_target *out) {
  const ag_syn *base = s->kind == AG_SYN_POST ? s->links[0].x : s;
  search f = {0};
  if (base->kind != AG_SYN_NAME)
    return ag_scope_error(b, s->pos, "the left side must be the name of a coordinate or velocity");
  if (!find_name(b, base, &f)) return false;
  for (int i = 1; s->kind == AG_SYN_POST && i < s->n; i++) {
    const ag_link *link = &s->links[i];
    if (link->op == AG_TOKEN_PRIME && !find_prime(b, link, &f)) return false;
    if (link->op == AG_TOKEN_LEFT && !find_index(b, base, link, &f)) return false;
    if (link->op == AG_TOKEN_POWER) return ag_scope_error(b, link->pos, "a transpose is not allowed on the left side");
  }
  if (f.count)
    return ag_scope_error(b, s->pos, "`%s` is a family of %d: name its members, as in %s[i] = ... for i in 1..%d",
                          ag_scope_text(b, base->name), f.count, ag_scope_text(b, base->name), f.count);
  if (velocity_only && f.t.frame >= 0)
    return ag_scope_error(b, s->pos, "`%s` is a frame velocity; use velocities of coordinates here",
                          ag_scope_text(b, base->name));
  if (velocity_only && !f.t.velocity)
    return ag_scope_error(b, s->pos, "`%s` is a coordinate; a velocity is expected here, `%s`",
                          b->m->coords[f.t.coord].name, b->m->coords[f.t.coord].velocity);
  describe(b, &f.t);
  *out = f.t;
  return true;
}

ag_id ag_target_value(ag_builder *b, const ag_target *t, const ag_syn *s) {
  ag_id x = ag_eval_node(b, s);
  if (!x || (ag_node_rows(b->g, x) == t->rows && ag_node_cols(b->g, x) == t->cols)) return x;
  if (ag_is_scalar(b->g, x) && ag_is_zero(b->g, x) && t->cols == 1) return ag_zero(b->g, t->rows, 1);
  const char *hint = t->cols == 3 ? "; give it as rotation(axis, angle), euler(phi, theta, psi) or a 3x3 matrix" : "";
  ag_id like = ag_zero(b->g, t->rows, t->cols);
  ag_scope_error(b, s->pos, "`%s` is %s, its value is %s%s", t->text, ag_note_shape(b, like), ag_note_shape(b, x),
                 hint);
  return 0;
}

/* ---- running indices ---- */

static bool contains(const ag_syn *s, int name) {
  if (!s || s->kind == AG_SYN_NUMBER) return false;
  if (s->name == name) return true;
  if (s->kind == AG_SYN_NAME || s->kind == AG_SYN_MEMBER) return false;
  for (int i = 0; i < s->n; i++)
    if (contains(s->links[i].x, name) || contains(s->links[i].y, name)) return true;
  return false;
}

bool ag_target_due(const ag_builder *b, const ag_stmt *s, const ag_part *p) {
  const ag_syn *all[6] = {p->target, p->left, p->lo, p->right, p->count, s->member};
  for (int k = 0; k < s->n_loop; k++) {
    bool uses = false;
    for (int i = 0; i < 6 && b->later_round[k]; i++) uses = uses || contains(all[i], s->loops[k].name);
    if (b->later_round[k] && !uses) return false;
  }
  return true;
}

typedef void loop_body(ag_builder *, const ag_stmt *, void *);

static void run(ag_builder *b, const ag_stmt *s, int k, loop_body *body, void *data) {
  double lo = 0, hi = 0;
  if (k == s->n_loop) {
    body(b, s, data);
    return;
  }
  const ag_loop *loop = &s->loops[k];
  bool ok = ag_scope_index(b, loop->name, loop->pos);
  ok = ag_eval_whole(b, loop->lo, "the lower bound of an index", &lo) && ok;
  ok = ag_eval_whole(b, loop->hi, "the upper bound of an index", &hi) && ok;
  if (ok && hi - lo + 1 > AG_MAX_SIZE)
    ok = ag_scope_error(b, loop->pos, "the index runs over %.0f values; at most %d are allowed", hi - lo + 1,
                        AG_MAX_SIZE);
  int errors = b->ctx->n_error;
  for (double i = lo; ok && i <= hi && ag_scope_work(b, loop->pos, 1); i++) {
    b->later_round[k] = i > lo;
    ag_local local = {loop->name, true, ag_eval_good(ag_num(b->g, i)), b->scope};
    b->scope = &local;
    run(b, s, k + 1, body, data);
    b->scope = local.next;
    if (b->ctx->n_error > errors) {
      if (b->noted != b->ctx->n_error)
        ag_ctx_note(b->ctx, loop->pos, "with %s = %.0f", ag_scope_text(b, loop->name), i);
      b->noted = b->ctx->n_error;
      break;
    }
  }
  b->later_round[k] = false;
}

void ag_target_loop(ag_builder *b, const ag_stmt *s, loop_body *body, void *data) {
  if (s->n_loop > 8) {
    ag_scope_error(b, s->loops[8].pos, "at most 8 running indices");
    return;
  }
  run(b, s, 0, body, data);
}

static void add_indices(ag_builder *b, const ag_local *l, ag_text *out) {
  double v = 0;
  if (!l) return;
  add_indices(b, l->next, out);
  ag_is_num(b->g, l->value.x, &v);
  ag_text_printf(out, ", %s = %.0f", ag_scope_text(b, l->name), v);
}

const char *ag_target_text(ag_builder *b, const ag_stmt *s) {
  ag_text text = {0};
  ag_text_str(&text, ag_parse_text(b->arena, b->tokens, s->from + 1, s->to));
  add_indices(b, b->scope, &text);
  const char *out = ag_arena_str(b->m->arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return out;
}
