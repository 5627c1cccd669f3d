/* SPDX-License-Identifier: MIT
 * Noise statements: the effect of each Wiener process. */
#include <string.h>

#include "lang/build.h"

/* The process of that name, found or added. */
static int channel(ag_builder *b, const ag_stmt *s) {
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  if (sym->channel) return sym->channel - 1;
  const char *name = ag_arena_str(b->m->arena, ag_scope_text(b, s->name));
  AG_MODEL_PUSH(b->m, channels, ((ag_item){.name = name, .pos = s->name_pos}));
  return (sym->channel = b->m->n_channels) - 1;
}

/* The parts of a statement, all its rounds together. */
typedef struct parts {
  ag_assign *at;
  int n, cap;
  int frame; /* -1: nothing is known yet; does it name velocities of the frame? */
  bool ok;
} parts;

static const char *trouble(ag_builder *b, const ag_stmt *s, ag_id x) {
  int on = ag_note_on(b, x);
  if (on & AG_ON_MOTION) return "noise may not use energy, drives or reactions";
  if (!(on & AG_ON_XI) || s->noise == AG_NOISE_FORCE || s->noise == AG_NOISE_PROCESS) return NULL;
  return s->noise == AG_NOISE_TRANSPORT
             ? "the amplitude of transport noise depends on coordinates and t, not on velocities; write `force`"
             : "a stochastic potential depends on coordinates and t, not on velocities; write `force`";
}

static bool overlap(const ag_assign *a, const ag_target *t, bool frame) {
  return a->coord == (frame ? t->frame : t->coord) && (a->row < 0 || t->row < 0 || a->row == t->row);
}

/* Is the component part of an earlier transport statement of this process? */
static bool given_before(ag_builder *b, const ag_stmt *s, const ag_target *t, bool frame) {
  const ag_model *m = b->m;
  for (int i = 0; i < m->n_noises; i++) {
    const ag_noise *n = &m->noises[i];
    if (n->channel != channel(b, s) || n->kind != AG_NOISE_TRANSPORT || n->frame != frame) continue;
    for (int k = 0; k < n->n; k++)
      if (overlap(&n->parts[k], t, frame)) return true;
  }
  return false;
}

static void add_part(ag_builder *b, const ag_stmt *s, const ag_part *p, parts *out) {
  ag_target t;
  bool transport = s->noise == AG_NOISE_TRANSPORT;
  ag_id x = ag_target_find(b, p->target, !transport, &t) ? ag_target_value(b, &t, p->right) : 0;
  const char *why = x ? trouble(b, s, x) : NULL;
  if (why) x = ag_scope_error(b, p->right->pos, "%s", why);
  bool frame = x && t.frame >= 0;
  if (x && !frame && !t.velocity)
    x = ag_scope_error(b, p->target->pos, "`%s` is a coordinate; a velocity is expected here, `%s`",
                       b->m->coords[t.coord].name, b->m->coords[t.coord].velocity);
  if (x && out->frame >= 0 && frame != out->frame)
    x = ag_scope_error(b, p->target->pos, "velocities of the frame and of coordinates cannot be given together");
  if (frame && s->raw)
    x = ag_scope_error(b, p->target->pos,
                       "`raw` is for velocities of coordinates: those of the frame need no completion");
  for (int i = 0; x && transport && i < out->n; i++)
    if (overlap(&out->at[i], &t, frame))
      x = ag_scope_error(b, p->target->pos, "the component `%s` is given twice", t.text);
  if (x && transport && given_before(b, s, &t, frame))
    x = ag_scope_error(b, p->target->pos, "`%s` is given by an earlier statement of `%s`", t.text,
                       ag_scope_text(b, s->name));
  out->ok = out->ok && x;
  if (!x || !ag_scope_work(b, p->pos, out->n / 8)) return;
  out->frame = frame;
  AG_PUSH(out->at, out->n, out->cap);
  out->at[out->n++] = (ag_assign){frame ? t.frame : t.coord, t.row, x, p->target->pos, false};
}

/* The amplitude of a process. */
static void add_amplitude(ag_builder *b, const ag_stmt *s, const ag_part *p, parts *out) {
  const ag_symbol *sym = p->target->kind == AG_SYN_NAME ? ag_scope_symbol(b, p->target->name) : NULL;
  ag_id x = sym && sym->kind == AG_SYM_PROCESS ? ag_eval_scalar(b, p->right, "the amplitude of a process") : 0;
  if (sym && sym->kind == AG_SYM_NONE) ag_scope_unknown(b, p->target->name, p->target->pos, 1u << AG_SYM_PROCESS);
  else if (!sym || (sym->kind != AG_SYM_PROCESS && sym->kind != AG_SYM_BAD))
    ag_scope_error(b, p->target->pos, "the name of a process is expected here");
  const char *why = x ? trouble(b, s, x) : NULL;
  if (why) x = ag_scope_error(b, p->right->pos, "%s", why);
  out->ok = out->ok && x;
  if (!x) return;
  AG_PUSH(out->at, out->n, out->cap);
  out->at[out->n++] = (ag_assign){sym->index, -1, x, p->target->pos, false};
}

static void components(ag_builder *b, const ag_stmt *s, void *data) {
  for (int i = 0; i < s->n_part && !b->stopped; i++)
    if (ag_target_due(b, s, &s->parts[i]))
      (s->noise == AG_NOISE_PROCESS ? add_amplitude : add_part)(b, s, &s->parts[i], data);
}

static void potential(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  ag_pos pos = s->parts[0].right->pos;
  if (!ag_target_due(b, s, &s->parts[0])) return;
  ag_id x = ag_eval_scalar(b, s->parts[0].right, "a stochastic potential");
  if (!x) return;
  const char *why = trouble(b, s, x);
  if (why) ag_scope_error(b, pos, "%s", why);
  else if (!(ag_note_on(b, x) & AG_ON_Q)) ag_scope_error(b, pos, "this potential contains no coordinate: no force");
  else {
    int at = channel(b, s);
    AG_MODEL_PUSH(b->m, noises, ((ag_noise){.kind = AG_NOISE_POTENTIAL, .channel = at, .x = x, .pos = pos}));
  }
}

void ag_noise_statement(ag_builder *b, const ag_stmt *s) {
  if (s->noise == AG_NOISE_POTENTIAL) {
    ag_target_loop(b, s, potential, NULL);
    return;
  }
  parts list = {.ok = true, .frame = -1};
  ag_target_loop(b, s, components, &list);
  if (list.ok && list.n) {
    ag_noise n = {.kind = (ag_noise_kind)s->noise,
                  .channel = channel(b, s),
                  .raw = s->raw,
                  .frozen = s->frozen,
                  .ito = s->ito,
                  .frame = list.frame == 1,
                  .n = list.n,
                  .pos = s->parts[0].target->pos};
    n.parts = AG_NEWN(b->m->arena, ag_assign, list.n);
    for (int i = 0; i < list.n; i++) n.parts[i] = list.at[i];
    AG_MODEL_PUSH(b->m, noises, n);
  }
  free(list.at);
}
