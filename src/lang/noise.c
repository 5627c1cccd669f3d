/* SPDX-License-Identifier: MIT
 * Noise statements: the effect of each Wiener process. */
#include <stdlib.h>
#include <string.h>

#include "lang/build.h"

/* The process that the statement names in this round, found or added; -1: there is none. */
static int channel(ag_builder *b, const ag_stmt *s) {
  const char *name = ag_scope_text(b, s->name);
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  double i;
  if (sym->channel && (sym->channel < 0) != (s->member != NULL)) {
    ag_scope_error(b, s->name_pos,
                   "`%s` is written with an index in one statement and without one in another: these "
                   "would be different processes",
                   name);
    return -1;
  }
  if (s->member) {
    if (!ag_eval_whole(b, s->member, "the index of a Wiener process", &i)) return -1;
    sym->channel = -1;
    name = ag_arena_printf(b->arena, "%s[%.0f]", name, i);
    sym = ag_scope_symbol(b, ag_names_id(b->names, name, strlen(name)));
  }
  if (sym->channel) return sym->channel - 1;
  AG_MODEL_PUSH(b->m, channels, ((ag_item){.name = ag_arena_str(b->m->arena, name), .pos = s->name_pos}));
  return (sym->channel = b->m->n_channels) - 1;
}

/* A part, the Wiener process it belongs to, and its number. */
typedef struct entry {
  ag_assign part;
  int channel, number;
} entry;

/* The parts of a statement, all its rounds together. */
typedef struct parts {
  entry *at;
  int n, cap;
  int channel; /* of this round */
  int frame;   /* -1: nothing is known yet; does it name velocities of the frame? */
  bool ok;
} parts;

static void add(parts *out, ag_assign part) {
  AG_PUSH(out->at, out->n, out->cap);
  out->at[out->n] = (entry){part, out->channel, out->n};
  out->n++;
}

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
static bool given_before(const ag_model *m, int channel, const ag_target *t, bool frame) {
  for (int i = 0; i < m->n_noises; i++) {
    const ag_noise *n = &m->noises[i];
    if (n->channel != channel || n->kind != AG_NOISE_TRANSPORT || n->frame != frame) continue;
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
    if (out->at[i].channel == out->channel && overlap(&out->at[i].part, &t, frame))
      x = ag_scope_error(b, p->target->pos, "the component `%s` is given twice", t.text);
  if (x && transport && given_before(b->m, out->channel, &t, frame))
    x = ag_scope_error(b, p->target->pos, "`%s` is given by an earlier statement of `%s`", t.text,
                       ag_scope_text(b, s->name));
  out->ok = out->ok && x;
  if (!x || !ag_scope_work(b, p->pos, out->n / 8)) return;
  out->frame = frame;
  add(out, (ag_assign){frame ? t.frame : t.coord, t.row, x, p->target->pos, false});
}

/* The target is no process. */
static void refuse_process(ag_builder *b, const ag_syn *target) {
  const ag_symbol *sym = target->kind == AG_SYN_NAME ? ag_scope_symbol(b, target->name) : NULL;
  if (sym && sym->kind == AG_SYM_NONE) ag_scope_unknown(b, target->name, target->pos, 1u << AG_SYM_PROCESS);
  else if (!sym || sym->kind != AG_SYM_BAD) ag_scope_error(b, target->pos, "the name of a process is expected here");
}

/* The amplitude of a process. */
static void add_amplitude(ag_builder *b, const ag_stmt *s, const ag_part *p, parts *out) {
  const int at = ag_process_find(b, p->target);
  ag_id x = at >= 0 ? ag_eval_scalar(b, p->right, "the amplitude of a process") : 0;
  if (at == -1) refuse_process(b, p->target);
  const char *why = x ? trouble(b, s, x) : NULL;
  if (why) x = ag_scope_error(b, p->right->pos, "%s", why);
  for (int i = out->n > s->n_part ? out->n - s->n_part : 0; x && i < out->n; i++)
    if (out->at[i].channel == out->channel && out->at[i].part.coord == at)
      x = ag_scope_error(b, p->target->pos, "the amplitude of `%s` is given twice", b->m->processes[at].name);
  out->ok = out->ok && x;
  if (x) add(out, (ag_assign){at, -1, x, p->target->pos, false});
}

static void components(ag_builder *b, const ag_stmt *s, void *data) {
  parts *out = data;
  out->channel = channel(b, s);
  out->ok = out->ok && out->channel >= 0;
  for (int i = 0; i < s->n_part && out->ok && !b->stopped; i++)
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
    if (at < 0) return;
    AG_MODEL_PUSH(b->m, noises, ((ag_noise){.kind = AG_NOISE_POTENTIAL, .channel = at, .x = x, .pos = pos}));
  }
}

static int by_channel(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->channel != y->channel ? (x->channel > y->channel) - (x->channel < y->channel)
                                  : (x->number > y->number) - (x->number < y->number);
}

/* One effect for each process: its parts are completed together. */
static void push(ag_builder *b, const ag_stmt *s, const parts *list) {
  for (int i = 0, next; i < list->n; i = next) {
    for (next = i + 1; next < list->n && list->at[next].channel == list->at[i].channel;) next++;
    ag_noise n = {.kind = (ag_noise_kind)s->noise,
                  .channel = list->at[i].channel,
                  .raw = s->raw,
                  .frozen = s->frozen,
                  .ito = s->ito,
                  .frame = list->frame == 1,
                  .n = next - i,
                  .pos = s->parts[0].target->pos};
    n.parts = AG_NEWN(b->m->arena, ag_assign, n.n);
    for (int k = 0; k < n.n; k++) n.parts[k] = list->at[i + k].part;
    AG_MODEL_PUSH(b->m, noises, n);
  }
}

void ag_noise_statement(ag_builder *b, const ag_stmt *s) {
  if (s->noise == AG_NOISE_POTENTIAL) {
    ag_target_loop(b, s, potential, NULL);
    return;
  }
  parts list = {.ok = true, .frame = -1};
  ag_target_loop(b, s, components, &list);
  if (list.n) qsort(list.at, (size_t)list.n, sizeof *list.at, by_channel);
  if (list.ok) push(b, s, &list);
  free(list.at);
}
