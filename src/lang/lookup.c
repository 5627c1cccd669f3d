/* SPDX-License-Identifier: MIT
 * Names in expressions, and what follows them: arguments, primes, indices. */
#include <stdlib.h>
#include <string.h>

#include "lang/build.h"

/* ---- names ---- */

/* Observables, energy, drives and reactions are known only after the motion: only statements that observe the motion
 * may use them. */
static bool looks_at_motion(const ag_builder *b) {
  return b->word == AG_WORD_OBSERVABLE || b->word == AG_WORD_CANDIDATE || b->word == AG_WORD_EVENT ||
         b->word == AG_WORD_SECTION || b->word == AG_WORD_EXPECT || b->word == AG_WORD_LET || b->word == AG_WORD_DRAW;
}

static ag_value family(const ag_symbol *s, ag_role role) {
  return (ag_value){.kind = AG_VALUE_FAMILY, .role = (uint8_t)role, .first = s->index, .count = s->count};
}

static ag_value use_energy(ag_builder *b, const ag_syn *s) {
  if (!looks_at_motion(b)) {
    ag_scope_error(b, s->pos, "`energy` follows from the motion: only observables, events and expectations can use it");
    return ag_eval_bad();
  }
  ag_id x = ag_model_energy(b->m);
  ag_note_input(b, x, AG_ON_MOTION);
  return ag_eval_good(x);
}

static ag_value use_symbol(ag_builder *b, const ag_syn *s, const ag_symbol *sym) {
  const char *text = ag_scope_text(b, s->name);
  switch ((ag_sym_kind)sym->kind) {
  case AG_SYM_NONE: ag_scope_unknown(b, s->name, s->pos, AG_SUGGEST_VALUES); break;
  case AG_SYM_BAD: break;
  case AG_SYM_RESERVED:
    if (!strcmp(text, "T")) ag_scope_error(b, s->pos, "`T` is reserved: `A^T` is the transpose");
    else ag_scope_error(b, s->pos, "`%s` is a keyword, not a value", text);
    break;
  case AG_SYM_FUNCTION:
  case AG_SYM_MACRO: ag_scope_error(b, s->pos, "`%s` is %s: write `%s(...)`", text, ag_scope_kind(sym), text); break;
  case AG_SYM_ENERGY: return use_energy(b, s);
  case AG_SYM_PARAM: return ag_eval_good(b->numeric && sym->number ? sym->number : sym->x);
  case AG_SYM_PROCESS: return sym->count ? family(sym, AG_ROLE_PROCESS) : ag_eval_good(sym->x);
  case AG_SYM_COORD: return sym->count ? family(sym, AG_ROLE_Q) : ag_eval_good(sym->x);
  case AG_SYM_VELOCITY: return sym->count ? family(sym, AG_ROLE_XI) : ag_eval_good(sym->x);
  case AG_SYM_OBSERVABLE:
    if (looks_at_motion(b)) return ag_eval_good(sym->x);
    ag_scope_error(b, s->pos, "`%s` is an observable and cannot be used in the equations; define it with `let`", text);
    break;
  case AG_SYM_BODY:
    ag_scope_error(b, s->pos, "`%s` is a body; its parts are %s.R, %s.Omega, %s.x, ...", text, text, text, text);
    break;
  case AG_SYM_CONSTANT:
  case AG_SYM_FRAME:
  case AG_SYM_LET:
  case AG_SYM_ANGLE: return ag_eval_good(sym->x);
  }
  return ag_eval_bad();
}

ag_value ag_lookup_name(ag_builder *b, const ag_syn *s) {
  for (const ag_local *l = b->scope; l; l = l->next)
    if (l->name == s->name) return l->value;
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  sym->used = true;
  return use_symbol(b, s, sym);
}

/* The drive or reaction of one coordinate. */
static ag_value motion_of(ag_builder *b, ag_role role, int coord, ag_pos pos) {
  ag_id x = role == AG_ROLE_DRIVE ? ag_model_drive(b->m, b->m->coords[coord].name) : ag_model_reaction(b->m, coord);
  if (!x) {
    ag_scope_error(b, pos, "`%s` is not prescribed before this line, so nothing drives it", b->m->coords[coord].name);
    return ag_eval_bad();
  }
  ag_note_input(b, x, AG_ON_MOTION);
  return ag_eval_good(x);
}

/* The multiplier of constraint k, counted as in ag_symbol from 0. */
static ag_id multiplier_of(ag_builder *b, int k) {
  ag_id x = k < AG_MAX_SIZE ? ag_model_multiplier(b->m, k) : ag_model_holonomic_multiplier(b->m, k - AG_MAX_SIZE);
  ag_note_input(b, x, AG_ON_MOTION);
  return x;
}

/* Those of a statement with `for`, one row each. */
static ag_value multipliers(ag_builder *b, const ag_symbol *sym) {
  int n = sym->n_constraint, cols = ag_node_rows(b->g, multiplier_of(b, sym->constraint - 1));
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)n * (size_t)cols);
  bool same = true;
  for (int i = 0; i < n && same; i++) {
    ag_id x = multiplier_of(b, sym->constraint - 1 + i);
    same = ag_node_rows(b->g, x) == cols;
    for (int k = 0; k < cols && same; k++) e[i * cols + k] = ag_entry(b->g, x, k, 0);
  }
  ag_value v = same ? ag_eval_good(ag_stack(b->g, n, cols, e)) : ag_eval_bad();
  free(e);
  return v;
}

/* multiplier.NAME of a named constraint */
static ag_value multiplier(ag_builder *b, const ag_syn *s) {
  const char *text = ag_scope_text(b, s->name);
  int constraint = ag_scope_symbol(b, s->name)->constraint;
  if (!constraint) {
    ag_scope_error(b, s->pos, "no constraint is called `%s`: give it this name, as in `constraint %s: ... = ...`", text,
                   text);
    ag_scope_symbol(b, s->name)->constraint = -1;
  } else if (constraint > 0 && !looks_at_motion(b))
    ag_scope_error(b, s->pos,
                   "`multiplier.%s` follows from the motion: only observables, events and expectations can use it",
                   text);
  if (constraint <= 0 || !looks_at_motion(b)) return ag_eval_bad();
  const ag_symbol *sym = ag_scope_symbol(b, s->name);
  return sym->named && sym->named->n_loop ? multipliers(b, sym) : ag_eval_good(multiplier_of(b, constraint - 1));
}

/* drive.NAME, reaction.NAME, multiplier.NAME */
ag_value ag_lookup_member(ag_builder *b, const ag_syn *s) {
  const char *owner = ag_scope_text(b, s->owner), *text = ag_scope_text(b, s->name);
  bool drive = !strcmp(owner, "drive");
  if (!strcmp(owner, "multiplier")) return multiplier(b, s);
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  if (sym->kind == AG_SYM_NONE) ag_scope_unknown(b, s->name, s->pos, AG_SUGGEST_COORDS);
  else if (sym->kind == AG_SYM_BAD) return ag_eval_bad();
  else if (sym->kind != AG_SYM_COORD)
    ag_scope_error(b, s->pos, "`%s` is %s; %s.NAME expects the name of a coordinate", text, ag_scope_kind(sym), owner);
  else if (!looks_at_motion(b))
    ag_scope_error(b, s->pos, "`%s.%s` follows from the motion: only observables, events and expectations can use it",
                   owner, text);
  if (sym->kind != AG_SYM_COORD || !looks_at_motion(b)) return ag_eval_bad();
  if (sym->count) return family(sym, drive ? AG_ROLE_DRIVE : AG_ROLE_REACTION);
  return motion_of(b, drive ? AG_ROLE_DRIVE : AG_ROLE_REACTION, sym->index, s->pos);
}

/* ---- lets with arguments ---- */

/* Adds a note where a let was used if its body contains an error. */
static void note_use(ag_builder *b, const ag_syn *s, const ag_local *args, int n) {
  ag_text text = {0};
  ag_text_printf(&text, "in this use of `%s`", ag_scope_text(b, s->name));
  for (int i = 0, shown = 0; i < n && shown < 4; i++) {
    double v;
    if (args[i].value.kind != AG_VALUE_NODE || !ag_is_num(b->g, args[i].value.x, &v)) continue;
    ag_text_printf(&text, "%s%s = %g", shown++ ? ", " : " with ", ag_scope_text(b, args[i].name), v);
  }
  ag_ctx_note(b->ctx, s->pos, "%s", ag_text_cstr(&text));
  ag_text_done(&text);
  b->noted = b->ctx->n_error;
}

static ag_value call_macro(ag_builder *b, const ag_syn *s, const ag_part *macro) {
  if (s->n != macro->n_arg) {
    ag_scope_error(b, s->pos, "`%s` takes %d argument%s, not %d", ag_scope_text(b, s->name), macro->n_arg,
                   macro->n_arg == 1 ? "" : "s", s->n);
    return ag_eval_bad();
  }
  ag_local *args = ag_heap_alloc(sizeof *args * (size_t)s->n);
  bool ok = true;
  for (int i = 0; i < s->n; i++) {
    args[i] = (ag_local){macro->args[i], false, ag_eval(b, s->links[i].x), i ? &args[i - 1] : NULL};
    ok = ok && args[i].value.kind != AG_VALUE_BAD;
    if (args[i].value.kind == AG_VALUE_CONDITION) ok = ag_eval_take(b, args[i].value, s->links[i].x->pos) != 0;
  }
  ag_value v = ag_eval_bad();
  if (ok) {
    const ag_local *outer = b->scope;
    int errors = b->ctx->n_error;
    b->scope = &args[s->n - 1];
    v = ag_eval(b, macro->right);
    if (v.kind == AG_VALUE_CONDITION) v.kind = ag_eval_take(b, v, macro->right->pos) ? v.kind : AG_VALUE_BAD;
    b->scope = outer;
    if (b->ctx->n_error > errors && b->noted != b->ctx->n_error) note_use(b, s, args, s->n);
  }
  free(args);
  return v;
}

static ag_value call_function(ag_builder *b, const ag_syn *s, int function) {
  ag_id few[8], *args = s->n <= 8 ? few : ag_heap_alloc(sizeof *args * (size_t)s->n);
  bool ok = true;
  for (int i = 0; i < s->n; i++) {
    args[i] = ag_eval_node(b, s->links[i].x);
    ok = ok && args[i];
  }
  ag_value v = ok ? ag_call(b, function, s, s->n, args) : ag_eval_bad();
  if (args != few) free(args);
  return v;
}

ag_value ag_lookup_call(ag_builder *b, const ag_syn *s) {
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  const char *text = ag_scope_text(b, s->name);
  bool local = false;
  for (const ag_local *l = b->scope; l; l = l->next) local = local || l->name == s->name;
  sym->used = true;
  if (!local && sym->kind == AG_SYM_FUNCTION) return call_function(b, s, sym->index);
  if (!local && sym->kind == AG_SYM_MACRO) return call_macro(b, s, sym->part);
  if (!local && sym->kind == AG_SYM_NONE) ag_scope_unknown(b, s->name, s->pos, AG_SUGGEST_FUNCTIONS);
  else if (!local && sym->kind == AG_SYM_RESERVED) ag_scope_error(b, s->pos, "`%s` is a keyword, not a function", text);
  else if (local || sym->kind != AG_SYM_BAD)
    ag_scope_error(b, s->pos, "`%s` is %s, not a function; there is no implicit product, write `%s*(...)`", text,
                   local ? "an argument or index" : ag_scope_kind(sym), text);
  return ag_eval_bad();
}

/* ---- indices and primes ---- */

/* The name of the indexed quantity in messages. */
static const char *name_of(ag_builder *b, const ag_syn *base) {
  return base->kind == AG_SYN_NAME ? ag_arena_printf(b->arena, "`%s`", ag_scope_text(b, base->name)) : "this";
}

bool ag_lookup_index(ag_builder *b, const ag_syn *s, const char *what, const ag_syn *base, int n, int *i) {
  double v;
  if (!ag_eval_whole(b, s, what, &v)) return false;
  if (v < 1 || v > n) {
    const char *of = name_of(b, base);
    if (n == 1) return ag_scope_error(b, s->pos, "index %.0f is out of range: %s is a scalar", v, of);
    return ag_scope_error(b, s->pos, "index %.0f is out of range: %s has 1 to %d", v, of, n);
  }
  *i = (int)v - 1;
  return true;
}

static ag_value member(ag_builder *b, ag_value v, const ag_link *link, const ag_syn *base) {
  int i;
  if (link->y) {
    ag_scope_error(b, link->pos, "%s is a family: its index comes first and alone, x[i][j]", name_of(b, base));
    return ag_eval_bad();
  }
  if (!ag_lookup_index(b, link->x, "the index of a family", base, v.count, &i)) return ag_eval_bad();
  if (v.role == AG_ROLE_PROCESS) return ag_eval_good(b->m->processes[v.first + i].x);
  const ag_coord *c = &b->m->coords[v.first + i];
  if (v.role == AG_ROLE_Q) return ag_eval_good(c->q);
  if (v.role == AG_ROLE_XI) return ag_eval_good(c->xi);
  return motion_of(b, v.role, v.first + i, link->pos);
}

static ag_value entry(ag_builder *b, ag_id x, const ag_link *link, const ag_syn *base) {
  int n = ag_node_rows(b->g, x), m = ag_node_cols(b->g, x), i, j = 0;
  if (!link->y && m > 1) {
    ag_scope_error(b, link->pos, "%s is %s: an entry is [i, j]", name_of(b, base), ag_note_shape(b, x));
    return ag_eval_bad();
  }
  bool ok = ag_lookup_index(b, link->x, "an index", base, n, &i);
  if (link->y) ok = ag_lookup_index(b, link->y, "an index", base, m, &j) && ok;
  return ok ? ag_eval_good(ag_entry(b->g, x, i, j)) : ag_eval_bad();
}

static ag_value prime(ag_builder *b, ag_value v, const ag_syn *s, const ag_link *link) {
  ag_id dx;
  if (v.kind == AG_VALUE_FAMILY && v.role == AG_ROLE_Q && b->m->coords[v.first].space != AG_SPACE_SO3) {
    v.role = AG_ROLE_XI;
    return v;
  }
  if (v.kind == AG_VALUE_FAMILY && v.role == AG_ROLE_Q) {
    ag_scope_error(b, link->pos, "the prime comes after the index of this family: R[i]'");
    return ag_eval_bad();
  }
  if (v.kind == AG_VALUE_FAMILY && v.role == AG_ROLE_PROCESS)
    ag_scope_error(b, link->pos, "a process has no prime: only coordinates and t can be primed");
  else if (v.kind == AG_VALUE_FAMILY)
    ag_scope_error(b, link->pos,
                   "the prime of a velocity would be an acceleration: only coordinates and t can be primed");
  if (v.kind != AG_VALUE_NODE) return ag_eval_bad();
  const ag_syn *base = s->links[0].x;
  const ag_symbol *sym = base->kind == AG_SYN_NAME ? ag_scope_symbol(b, base->name) : NULL;
  if (sym && sym->kind == AG_SYM_PARAM && (v.x == sym->x || v.x == sym->number)) {
    ag_scope_error(b, link->pos, "`%s` is a parameter: it has no velocity", ag_scope_text(b, base->name));
    return ag_eval_bad();
  }
  return ag_note_derive(b, v.x, link->pos, &dx) ? ag_eval_good(dx) : ag_eval_bad();
}

/* x'[i] and x[i]' are the same, also for an entry of a vector: the prime is taken first where that is cheap. */
static bool prime_first(ag_builder *b, const ag_syn *s, int i, ag_value v) {
  if (v.kind != AG_VALUE_NODE || i + 1 >= s->n || s->links[i + 1].op != AG_TOKEN_PRIME) return false;
  return ag_note_on(b, v.x) == AG_ON_Q && ag_node_op(b->g, v.x) == AG_OP_INPUT && ag_node_cols(b->g, v.x) == 1;
}

ag_value ag_lookup_postfix(ag_builder *b, const ag_syn *s) {
  const ag_syn *base = s->links[0].x;
  ag_value v = ag_eval(b, base);
  for (int i = 1; i < s->n; i++) {
    const ag_link *link = &s->links[i];
    if (v.kind == AG_VALUE_CONDITION) ag_eval_take(b, v, base->pos);
    if (v.kind == AG_VALUE_BAD || v.kind == AG_VALUE_CONDITION || !ag_scope_work(b, link->pos, 1)) return ag_eval_bad();
    if (link->op == AG_TOKEN_PRIME) v = prime(b, v, s, link);
    else if (link->op == AG_TOKEN_POWER) {
      ag_id x = ag_eval_take(b, v, base->pos);
      v = x ? ag_eval_good(ag_transpose(b->g, x)) : ag_eval_bad();
    } else if (v.kind == AG_VALUE_FAMILY) v = member(b, v, link, base);
    else if (prime_first(b, s, i, v)) {
      v = prime(b, v, s, &s->links[i + 1]);
      if (v.kind == AG_VALUE_NODE) v = entry(b, v.x, link, base);
      i++;
    } else v = entry(b, v.x, link, base);
  }
  return v;
}

/* ---- bodies of lets that are not used yet ---- */

static bool is_bound(const ag_part *macro, const ag_local *locals, int name) {
  for (int i = 0; i < macro->n_arg; i++)
    if (macro->args[i] == name) return true;
  for (const ag_local *l = locals; l; l = l->next)
    if (l->name == name) return true;
  return false;
}

static void check(ag_builder *b, const ag_syn *s, const ag_part *macro, const ag_local *locals) {
  if (!s || s->kind == AG_SYN_NUMBER || b->stopped) return;
  if ((s->kind == AG_SYN_NAME || s->kind == AG_SYN_CALL) && !is_bound(macro, locals, s->name)) {
    ag_symbol *sym = ag_scope_symbol(b, s->name);
    sym->used = true;
    if (sym->kind == AG_SYM_NONE)
      ag_scope_unknown(b, s->name, s->pos, s->kind == AG_SYN_CALL ? AG_SUGGEST_FUNCTIONS : AG_SUGGEST_VALUES);
  }
  if (s->kind == AG_SYN_NAME || s->kind == AG_SYN_MEMBER) return;
  ag_local index = {s->name, true, ag_eval_bad(), locals};
  for (int i = 0; i < s->n; i++) {
    const ag_local *inner = s->kind == AG_SYN_SUM && i == 2 ? &index : locals;
    check(b, s->links[i].x, macro, inner);
    check(b, s->links[i].y, macro, inner);
  }
}

void ag_lookup_check(ag_builder *b, const ag_syn *s, const ag_part *macro) { check(b, s, macro, NULL); }
