/* SPDX-License-Identifier: MIT
 * Processes: scalar states with their own drift, and noise by `noise W process N = ...`. */
#include "lang/build.h"

static void declare(ag_builder *b, const ag_part *p) {
  if (!ag_scope_free(b, p->name, p->pos)) return;
  ag_symbol *s = ag_scope_define(b, p->name, AG_SYM_PROCESS, p->pos);
  s->index = b->m->n_processes;
  s->x = ag_model_add_process(b->m, ag_scope_text(b, p->name), p->pos);
  ag_note_input(b, s->x, AG_ON_PROCESS);
}

/* The names of a statement are known before its drifts are read: they may be coupled. */
void ag_process_statement(ag_builder *b, const ag_stmt *s) {
  int first = b->m->n_processes;
  for (int i = 0; i < s->n_part && !b->stopped; i++) declare(b, &s->parts[i]);
  for (int i = 0; i < s->n_part && !b->stopped; i++) {
    const ag_part *p = &s->parts[i];
    const ag_symbol *sym = ag_scope_symbol(b, p->name);
    if (!p->right) continue;
    ag_id x = ag_eval_scalar(b, p->right, "the drift of a process");
    if (x && ag_note_on(b, x) & AG_ON_MOTION)
      x = ag_scope_error(b, p->right->pos, "the drift of a process may not use energy, drives or reactions");
    if (x && sym->kind == AG_SYM_PROCESS && sym->index >= first) b->m->processes[sym->index].drift = x;
  }
}

bool ag_process_start(ag_builder *b, const ag_part *p, bool outside) {
  const ag_syn *base = p->target->kind == AG_SYN_POST ? p->target->links[0].x : p->target;
  const ag_symbol *sym = base->kind == AG_SYN_NAME ? ag_scope_symbol(b, base->name) : NULL;
  if (!sym || sym->kind != AG_SYM_PROCESS) return false;
  if (p->target->kind == AG_SYN_POST)
    return !ag_scope_error(b, p->target->pos, "`%s` is a scalar process: it has no prime and no entries",
                           ag_scope_text(b, base->name));
  ag_process *process = &b->m->processes[sym->index];
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
