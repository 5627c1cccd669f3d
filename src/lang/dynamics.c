/* SPDX-License-Identifier: MIT
 * Statements that determine or observe the motion: lagrangian, constraint, holonomic, prescribe, force, domain, event,
 * section, generator. */
#include <string.h>

#include "lang/build.h"

/* Left minus right side of an equation, any column; 0 on error. The number 0 fits every shape. */
static ag_id difference(ag_builder *b, const ag_part *p) {
  ag_id left = ag_eval_node(b, p->left), right = ag_eval_node(b, p->right);
  if (!left || !right) return 0;
  bool zero_left = ag_is_scalar(b->g, left) && ag_is_zero(b->g, left),
       zero_right = ag_is_scalar(b->g, right) && ag_is_zero(b->g, right);
  if (!ag_note_same(b, left, right) && !zero_left && !zero_right) {
    ag_scope_error(b, p->left->pos, "the left side is %s, the right side %s", ag_note_shape(b, left),
                   ag_note_shape(b, right));
    return 0;
  }
  ag_id x = zero_right ? left : zero_left ? ag_neg(b->g, right) : ag_sub(b->g, left, right);
  if (ag_node_cols(b->g, x) != 1) {
    ag_scope_error(b, p->left->pos, "an equation between matrices (%s); write it for vectors or entries",
                   ag_note_shape(b, x));
    return 0;
  }
  return x;
}

void ag_dynamics_lagrangian(ag_builder *b, const ag_stmt *s) {
  const ag_syn *e = s->parts[0].right;
  if (b->lagrangian_seen) {
    if (b->m->lagrangian_pos.line)
      ag_scope_error(b, s->pos, "a second `lagrangian`; the first is on line %d", b->m->lagrangian_pos.line);
    return;
  }
  b->lagrangian_seen = true;
  b->m->lagrangian_pos = e->pos;
  ag_id x = ag_eval_scalar(b, e, "the Lagrangian");
  if (!x) return;
  if (ag_note_on(b, x) & AG_ON_MOTION)
    ag_scope_error(b, e->pos, "the Lagrangian may not use energy, drives or reactions");
  else if (!(ag_note_on(b, x) & AG_ON_XI) && !b->body_seen) {
    if (!ag_scope_failed(b))
      ag_scope_error(b, e->pos, "the Lagrangian contains no velocity: without kinetic energy nothing moves");
  } else
    b->m->lagrangian = b->m->lagrangian ? ag_add(b->g, b->m->lagrangian, x)
                                        : x; /* the bodies have already contributed */
}

/* ---- equations ---- */

/* Gives the equation added last a name, for multiplier.NAME. Returns its number as ag_symbol counts; 0: taken. */
static int give_name(ag_builder *b, const ag_stmt *s, const char *text) {
  ag_model *m = b->m;
  bool holonomic = s->word == AG_WORD_HOLONOMIC;
  ag_symbol *sym = ag_scope_symbol(b, ag_names_id(b->names, text, strlen(text)));
  if (sym->constraint > 0) {
    ag_scope_error(b, s->name_pos, "the constraint `%s` is defined twice", text);
    return 0;
  }
  ag_item *last = holonomic ? &m->holonomics[m->n_holonomics - 1] : &m->constraints[m->n_constraints - 1];
  last->name = ag_arena_str(m->arena, text);
  return sym->constraint = holonomic ? m->n_holonomics + AG_MAX_SIZE : m->n_constraints;
}

/* The equations of a statement with `for` are NAME_1, NAME_2, ..., and NAME stands for all of them. */
static void name_equation(ag_builder *b, const ag_stmt *s) {
  if (!s->name) return;
  const char *text = ag_scope_text(b, s->name);
  ag_symbol *all = ag_scope_symbol(b, s->name);
  if (!s->n_loop || (all->constraint > 0 && all->named != s)) {
    (void)give_name(b, s, text);
    return;
  }
  int n = all->named == s ? all->n_constraint + 1 : 1;
  int number = give_name(b, s, ag_arena_printf(b->m->arena, "%s_%d", text, n));
  all = ag_scope_symbol(b, s->name); /* the table may have moved */
  if (n == 1) all->constraint = number ? number : -1;
  all->n_constraint = n;
  all->named = s;
}

static void constraint(ag_builder *b, const ag_stmt *s, ag_id x, ag_pos pos) {
  if (ag_is_zero(b->g, x)) ag_scope_error(b, pos, "this constraint is trivial: both sides are the same");
  else if (!(ag_note_on(b, x) & AG_ON_XI)) {
    if (ag_note_on(b, x) & AG_ON_Q)
      ag_scope_error(b, pos, "a constraint on velocities without a velocity; for coordinates write `holonomic`");
    else ag_scope_error(b, pos, "this constraint contains no velocity");
  } else {
    ag_model_add_constraint(b->m, x, ag_target_text(b, s), pos);
    name_equation(b, s);
  }
}

static void holonomic(ag_builder *b, const ag_stmt *s, ag_id x, ag_pos pos) {
  if (ag_is_zero(b->g, x)) ag_scope_error(b, pos, "this constraint is trivial: both sides are the same");
  else if (ag_note_on(b, x) & AG_ON_XI)
    ag_scope_error(
        b, pos,
        "a holonomic constraint relates coordinates and t, but this one contains a velocity; write `constraint`");
  else if (!(ag_note_on(b, x) & AG_ON_Q)) ag_scope_error(b, pos, "this constraint contains no coordinate");
  else if (ag_note_on(b, x) & AG_ON_PROCESS)
    ag_scope_error(b, pos, "a holonomic constraint may not contain a process: coordinates have no noise to follow it");
  else {
    ag_model_add_holonomic(b->m, x, ag_target_text(b, s), pos);
    name_equation(b, s);
  }
}

/* Row by row: an equation that the constraints preserve once it holds. */
static void relation(ag_builder *b, ag_id x, ag_pos pos) {
  if (ag_note_on(b, x) & AG_ON_XI)
    ag_scope_error(b, pos, "a relation contains only coordinates and t, but this one contains a velocity");
  else if (!(ag_note_on(b, x) & AG_ON_Q)) ag_scope_error(b, pos, "this relation contains no coordinate");
  else if (ag_note_on(b, x) & AG_ON_PROCESS) ag_scope_error(b, pos, "a relation may not contain a process");
  else
    for (int i = 0; i < ag_node_rows(b->g, x); i++)
      AG_MODEL_PUSH(b->m, touches, ((ag_item){NULL, NULL, ag_entry(b->g, x, i, 0), pos}));
}

static void equation(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  ag_pos pos = s->parts[0].left->pos;
  if (!ag_target_due(b, s, &s->parts[0])) return;
  if (!s->parts[0].right) {
    if (s->name) ag_scope_error(b, s->name_pos, "a joint is named by its bodies");
    ag_scene_joint(b, s, s->parts[0].left);
    return;
  }
  ag_id x = difference(b, &s->parts[0]);
  if (!x) return;
  if (ag_note_on(b, x) & AG_ON_MOTION) ag_scope_error(b, pos, "a constraint may not use energy, drives or reactions");
  else if (s->word == AG_WORD_CONSTRAINT) constraint(b, s, x, pos);
  else if (s->word == AG_WORD_RELATION) relation(b, x, pos);
  else holonomic(b, s, x, pos);
}

void ag_dynamics_equation(ag_builder *b, const ag_stmt *s) { ag_target_loop(b, s, equation, NULL); }

/* ---- prescribe, force, domain ---- */

static void prescribe(ag_builder *b, const ag_stmt *s, const ag_part *p) {
  ag_target t;
  ag_model *m = b->m;
  if (!ag_target_find(b, p->target, false, &t)) return;
  if (t.velocity || t.frame >= 0) {
    ag_scope_error(
        b, p->target->pos,
        "`%s` is a velocity; `prescribe` expects a coordinate. To fix a velocity write `constraint %s = ...`", t.text,
        t.text);
    return;
  }
  const ag_coord *c = &m->coords[t.coord];
  if (!ag_scope_work(b, p->pos, m->n_prescribes / 8)) return;
  if (t.row >= 0 || c->space == AG_SPACE_S2 || c->space == AG_SPACE_SO3) {
    ag_scope_error(
        b, p->target->pos,
        "`%s` cannot be prescribed: only a whole coordinate in R, R^n or S1 can; use `holonomic` or `constraint`",
        t.text);
    return;
  }
  for (int i = 0; i < m->n_prescribes; i++)
    if (!strcmp(m->prescribes[i].name, c->name)) {
      ag_scope_error(b, p->target->pos, "`%s` is prescribed twice; first on line %d", c->name,
                     m->prescribes[i].pos.line);
      return;
    }
  ag_id x = ag_target_value(b, &t, p->right);
  if (!x) return;
  if (ag_note_on(b, x) & ~(AG_ON_PARAM | AG_ON_T))
    ag_scope_error(
        b, p->right->pos,
        "a prescribed motion is a function of t and parameters alone; between coordinates write `holonomic`");
  else ag_model_add_prescribe(m, c->name, ag_sub(b->g, c->q, x), ag_target_text(b, s), p->target->pos);
}

static void force(ag_builder *b, const ag_part *p) {
  ag_target t;
  if (!ag_target_find(b, p->target, true, &t)) return;
  ag_id x = ag_target_value(b, &t, p->right);
  if (!x) return;
  if (ag_note_on(b, x) & AG_ON_MOTION)
    ag_scope_error(b, p->right->pos, "a force may not use energy, drives or reactions");
  else AG_MODEL_PUSH(b->m, forces, ((ag_assign){t.coord, t.row, x, p->target->pos, false}));
}

static void domain(ag_builder *b, const ag_part *p) {
  double lo, hi;
  ag_id x = ag_eval_scalar(b, p->left, "the bounded quantity"),
        from = ag_eval_scalar(b, p->lo, "the end of an interval");
  ag_id to = ag_eval_scalar(b, p->right, "the end of an interval");
  if (!x || !from || !to) return;
  int on = ag_note_on(b, x);
  if (on & (AG_ON_XI | AG_ON_MOTION)) ag_scope_error(b, p->left->pos, "a domain bounds coordinates, not velocities");
  else if (!(on & (AG_ON_Q | AG_ON_T | AG_ON_PROCESS)))
    ag_scope_error(b, p->left->pos, "this contains no coordinate to bound");
  else if (ag_eval_number(b, p->lo, "the end of an interval", &lo) &&
           ag_eval_number(b, p->right, "the end of an interval", &hi)) {
    if (lo < hi) AG_MODEL_PUSH(b->m, domains, ((ag_range){x, from, to, p->left->pos}));
    else ag_scope_error(b, p->lo->pos, "the interval %g..%g is empty", lo, hi);
  }
}

static void assign(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  for (int i = 0; i < s->n_part && !b->stopped; i++) {
    if (!ag_target_due(b, s, &s->parts[i])) continue;
    if (s->word == AG_WORD_PRESCRIBE) prescribe(b, s, &s->parts[i]);
    else if (s->word == AG_WORD_FORCE) force(b, &s->parts[i]);
    else domain(b, &s->parts[i]);
  }
}

void ag_dynamics_assign(ag_builder *b, const ag_stmt *s) { ag_target_loop(b, s, assign, NULL); }

/* ---- events and generators ---- */

/* Sections and events share one namespace: both are crossings in a run. */
static bool fresh_crossing(ag_builder *b, const ag_stmt *s) {
  const ag_symbol *sym = ag_scope_symbol(b, s->name);
  const char *name = ag_scope_text(b, s->name);
  bool section = s->word == AG_WORD_SECTION, same = section ? sym->section : sym->event;
  if (same) ag_scope_error(b, s->name_pos, "the %s `%s` is defined twice", section ? "section" : "event", name);
  else if (sym->event || sym->section)
    ag_scope_error(b, s->name_pos, "`%s` is already the name of %s: events and sections share one namespace", name,
                   section ? "an event" : "a section");
  return !sym->event && !sym->section;
}

void ag_dynamics_event(ag_builder *b, const ag_stmt *s) {
  const ag_part *p = &s->parts[0];
  bool fresh = fresh_crossing(b, s), section = s->word == AG_WORD_SECTION;
  const char *what = section ? "a section" : "an event";
  ag_id x = difference(b, p);
  if (x && !ag_is_scalar(b->g, x))
    x = ag_scope_error(b, p->left->pos, "%s is a scalar equation; this is %s", what, ag_note_shape(b, x));
  else if (x && !(ag_note_on(b, x) & ~AG_ON_PARAM))
    x = ag_scope_error(b, p->left->pos, "this never changes: %s needs a quantity that varies", what);
  if (!fresh) return;
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  *(section ? &sym->section : &sym->event) = x ? (section ? b->m->n_sections : b->m->n_events) + 1 : -1;
  if (!x) return;
  const char *name = ag_arena_str(b->m->arena, ag_scope_text(b, s->name));
  ag_event e = {name, x, s->direction, s->terminal, s->name_pos, s->cuts};
  if (section) AG_MODEL_PUSH(b->m, sections, e);
  else AG_MODEL_PUSH(b->m, events, e);
}

typedef struct parts {
  ag_assign *at;
  int n, cap;
  bool ok;
} parts;

static void add_component(ag_builder *b, const ag_part *p, parts *out) {
  ag_target t;
  ag_id x = ag_target_find(b, p->target, true, &t) ? ag_target_value(b, &t, p->right) : 0;
  if (x && ag_note_on(b, x) & (AG_ON_XI | AG_ON_MOTION))
    x = ag_scope_error(b, p->right->pos,
                       "a generator is a field on the configurations: its coefficients contain no velocities");
  for (int i = 0; x && i < out->n; i++)
    if (out->at[i].coord == t.coord && (out->at[i].row < 0 || t.row < 0 || out->at[i].row == t.row))
      x = ag_scope_error(b, p->target->pos, "the component `%s` is given twice", t.text);
  out->ok = out->ok && x;
  if (!x || !ag_scope_work(b, p->pos, out->n / 8)) return;
  AG_PUSH(out->at, out->n, out->cap);
  out->at[out->n++] = (ag_assign){t.coord, t.row, x, p->target->pos, false};
}

static void components(ag_builder *b, const ag_stmt *s, void *data) {
  for (int i = 0; i < s->n_part && !b->stopped; i++)
    if (ag_target_due(b, s, &s->parts[i])) add_component(b, &s->parts[i], data);
}

void ag_dynamics_generator(ag_builder *b, const ag_stmt *s) {
  const char *name = ag_scope_text(b, s->name);
  parts list = {.ok = ag_scope_symbol(b, s->name)->generator == 0};
  if (!list.ok) ag_scope_error(b, s->name_pos, "the generator `%s` is defined twice", name);
  ag_target_loop(b, s, components, &list);
  ag_scope_symbol(b, s->name)->generator = 1;
  if (list.ok && list.n) {
    ag_generator g = {.name = ag_arena_str(b->m->arena, name), .n = list.n, .pos = s->name_pos};
    g.parts = AG_NEWN(b->m->arena, ag_assign, list.n);
    for (int i = 0; i < list.n; i++) g.parts[i] = list.at[i];
    AG_MODEL_PUSH(b->m, generators, g);
  }
  free(list.at);
}
