/* SPDX-License-Identifier: MIT
 * Processes: scalar states with their own drift, and noise by `noise W process N = ...`; families N[1], N[2], ... */
#include "lang/build.h"

/* A part of a statement, in one of its rounds. */
typedef struct one {
  const ag_part *part;
  int first; /* processes before the statement */
} one;

static void add(ag_builder *b, ag_symbol *s, const char *name, ag_pos pos) {
  s->x = ag_model_add_process(b->m, name, pos);
  ag_note_input(b, s->x, AG_ON_PROCESS);
}

/* N[1], N[2], ... stand one behind the other among the processes. */
static void declare(ag_builder *b, const ag_stmt *s, void *data) {
  const ag_part *p = ((const one *)data)->part;
  ag_symbol *sym = ag_scope_symbol(b, p->name);
  const char *name = ag_scope_text(b, p->name);
  const bool more = sym->kind == AG_SYM_PROCESS && sym->count && p->count;
  double i = 0;
  if (!ag_target_due(b, s, p) || (p->count && !ag_eval_whole(b, p->count, "the index of a process", &i))) return;
  if (!more && !ag_scope_free(b, p->name, p->pos)) return;
  if (p->count && (i != (more ? sym->count + 1 : 1) || (more && sym->index + sym->count != b->m->n_processes))) {
    ag_scope_error(b, p->pos, "the members of `%s` are %s[1], %s[2], ... in this order, in one statement", name, name,
                   name);
    return;
  }
  if (!more) sym = ag_scope_define(b, p->name, AG_SYM_PROCESS, p->pos), sym->index = b->m->n_processes;
  if (p->count) name = ag_arena_printf(b->arena, "%s[%d]", name, ++sym->count);
  add(b, sym, name, p->pos);
}

static void drift(ag_builder *b, const ag_stmt *s, void *data) {
  const one *o = data;
  const ag_part *p = o->part;
  const ag_symbol *sym = ag_scope_symbol(b, p->name);
  double i = 1;
  if (!p->right || !ag_target_due(b, s, p) || (p->count && !ag_eval_whole(b, p->count, "the index of a process", &i)))
    return;
  ag_id x = ag_eval_scalar(b, p->right, "the drift of a process");
  if (x && ag_note_on(b, x) & AG_ON_MOTION)
    x = ag_scope_error(b, p->right->pos, "the drift of a process may not use energy, drives or reactions");
  const int at = sym->index + (int)i - 1;
  if (x && sym->kind == AG_SYM_PROCESS && sym->index >= o->first && at < b->m->n_processes)
    b->m->processes[at].drift = x;
}

/* The names of a statement are known before its drifts are read: they may be coupled. */
void ag_process_statement(ag_builder *b, const ag_stmt *s) {
  one o = {.first = b->m->n_processes};
  const int errors = b->ctx->n_error;
  for (int i = 0; i < s->n_part && !b->stopped; i++) o.part = &s->parts[i], ag_target_loop(b, s, declare, &o);
  for (int i = 0; i < s->n_part && !b->stopped && b->ctx->n_error == errors; i++)
    o.part = &s->parts[i], ag_target_loop(b, s, drift, &o);
}

int ag_process_find(ag_builder *b, const ag_syn *target) {
  const ag_syn *base = target->kind == AG_SYN_POST ? target->links[0].x : target;
  const ag_symbol *sym = base->kind == AG_SYN_NAME ? ag_scope_symbol(b, base->name) : NULL;
  int i = 0;
  if (!sym || sym->kind != AG_SYM_PROCESS) return -1;
  const char *name = ag_scope_text(b, base->name);
  const bool index = target != base && target->n == 2 && target->links[1].op == AG_TOKEN_LEFT && !target->links[1].y;
  if (sym->count && target == base)
    ag_scope_error(b, target->pos, "`%s` is a family of %d: name its members, as in %s[i] = ... for i in 1..%d", name,
                   sym->count, name, sym->count);
  else if (sym->count ? !index : target != base)
    ag_scope_error(b, target->pos, "`%s` is a scalar process: it has no prime and no entries", name);
  else if (!sym->count || ag_lookup_index(b, target->links[1].x, "the index of a family", base, sym->count, &i))
    return sym->index + i;
  return -2;
}

bool ag_process_start(ag_builder *b, const ag_part *p, bool outside) {
  const int at = ag_process_find(b, p->target);
  if (at < 0) return at != -1;
  ag_process *process = &b->m->processes[at];
  ag_id x = ag_eval_scalar(b, p->right, "the start of a process");
  if (x && ag_note_on(b, x) & ~(AG_ON_PARAM | AG_ON_T))
    x = ag_scope_error(b, p->right->pos, "the start of a process may use only numbers, parameters and t");
  if (x && process->start && !outside)
    x = ag_scope_error(b, p->target->pos, "the start of `%s` is given twice", process->name);
  if (!x || process->from_set) return true; /* the last --set comes first */
  process->start = x;
  process->start_pos = p->target->pos;
  process->from_set = outside;
  return true;
}
