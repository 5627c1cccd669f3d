/* SPDX-License-Identifier: MIT
 * Writes a model in the language: families, sums and lets with arguments expanded, in the order of words.def. */
#include <string.h>

#include "lang/write_internal.h"

/* ---- expressions ---- */

static void let(ag_writer *w, const ag_cut *cut) {
  ag_text text = {0};
  ag_print(w->g, ag_cut_value(&w->cuts, cut), &text);
  bool mark = ag_node_op(w->g, cut->node) == AG_OP_ROTATION && strncmp(ag_text_cstr(&text), "rotation(", 9);
  ag_text_printf(w->out, mark ? "let %s = rotation(%s)\n" : "let %s = %s\n", cut->name, ag_text_cstr(&text));
  ag_text_done(&text);
}

void ag_write_prepare(ag_writer *w, ag_id x) {
  int n, *list = x && w->cuts.n ? ag_cut_needed(&w->cuts, x, &n) : (n = 0, NULL);
  for (int i = 0; i < n; i++) let(w, &w->cuts.at[list[i]]);
  free(list);
}

void ag_write_expression(ag_writer *w, ag_id x) { ag_print(w->g, ag_cut_shown(&w->cuts, x), w->out); }

static void quoted(ag_writer *w, const char *s) {
  ag_text_char(w->out, '"');
  for (; *s; s++) {
    if (*s == '"') ag_text_char(w->out, '"');
    ag_text_char(w->out, *s);
  }
  ag_text_char(w->out, '"');
}

/* ---- names and coordinates ---- */

static void params(ag_writer *w) {
  for (int i = 0; i < w->m->n_params; i++) {
    const ag_param *p = &w->m->params[i];
    ag_write_prepare(w, p->value);
    ag_text_printf(w->out, "param %s = ", p->name);
    ag_write_expression(w, p->value);
    ag_text_str(w->out, p->integer ? " integer\n" : "\n");
  }
}

static void configs(ag_writer *w) {
  static const char *const space[] = {"R", "S1", "S2", "SO3"};
  for (int i = 0; i < w->m->n_coords; i++) {
    const ag_coord *c = &w->m->coords[i];
    if (c->index > 1) continue; /* the family is written with its first member */
    const char *name = c->family ? c->family : c->name, *velocity = c->family ? c->family_velocity : c->velocity;
    int count = 0;
    while (c->family && i + count < w->m->n_coords && w->m->coords[i + count].index == count + 1) count++;
    ag_text_printf(w->out, "config %s in %s", name, space[c->space]);
    if (c->space == AG_SPACE_R && c->dim > 1) ag_text_printf(w->out, "^%d", c->dim);
    if (velocity && !strchr(velocity, '\'')) ag_text_printf(w->out, " velocity %s", velocity);
    if (count) ag_text_printf(w->out, " [%d]", count);
    ag_text_char(w->out, '\n');
  }
}

/* One statement, since drifts may use each other's names; no lets, which could not contain these names yet. */
static void processes(ag_writer *w) {
  for (int i = 0; i < w->m->n_processes; i++) {
    const ag_process *p = &w->m->processes[i];
    ag_text_printf(w->out, "%s%s", i ? ", " : "process ", p->name);
    if (!ag_is_zero(w->g, p->drift)) ag_text_str(w->out, " drift "), ag_print(w->g, p->drift, w->out);
  }
  if (w->m->n_processes) ag_text_char(w->out, '\n');
}

/* The left side of an assignment. */
static void target(ag_writer *w, bool velocity, int coord, int row) {
  const ag_coord *c = &w->m->coords[coord];
  ag_entry_name(velocity ? c->velocity : c->name, row < 0 ? 1 : c->dim, 1, row, w->out);
  ag_text_str(w->out, " = ");
}

static void frame_target(ag_writer *w, int frame, int row) {
  const ag_item *f = &w->m->frames[frame];
  ag_entry_name(f->name, row < 0 ? 1 : ag_node_rows(w->g, f->x), 1, row, w->out);
  ag_text_str(w->out, " = ");
}

/* ---- dynamics ---- */

static void equations(ag_writer *w, const char *word, int n, const ag_item *items) {
  for (int i = 0; i < n; i++) {
    if (items[i].text && strstr(items[i].text, " in S2") && !strchr(items[i].text, '='))
      continue; /* implied by config */
    ag_write_prepare(w, items[i].x);
    ag_text_printf(w->out, "%s ", word);
    if (items[i].name[0] > '9') ag_text_printf(w->out, "%s: ", items[i].name); /* the others have only a number */
    ag_write_expression(w, items[i].x);
    ag_text_str(w->out, " = 0\n");
  }
}

static void relations(ag_writer *w) {
  for (int i = 0; i < w->m->n_touches; i++) {
    ag_write_prepare(w, w->m->touches[i].x);
    ag_text_str(w->out, "relation ");
    ag_write_expression(w, w->m->touches[i].x);
    ag_text_str(w->out, " = 0\n");
  }
}

/* q - f(t) with q = 0 is -f(t). */
static void prescribes(ag_writer *w) {
  for (int i = 0; i < w->m->n_prescribes; i++) {
    const ag_item *p = &w->m->prescribes[i];
    ag_id f = p->x;
    for (int k = 0; k < w->m->n_coords; k++) {
      const ag_coord *c = &w->m->coords[k];
      if (strcmp(c->name, p->name)) continue;
      ag_substitute(w->g, 1, &c->q, (ag_id[]){ag_zero(w->g, c->dim, 1)}, 1, &f);
    }
    f = ag_neg(w->g, f);
    ag_write_prepare(w, p->x);
    ag_text_printf(w->out, "prescribe %s = ", p->name);
    ag_write_expression(w, f);
    ag_text_char(w->out, '\n');
  }
}

static void named(ag_writer *w, const char *word, int n, const ag_item *items) {
  for (int i = 0; i < n; i++) {
    ag_write_prepare(w, items[i].x);
    int k = (int)items[i].x < w->cuts.n_index ? w->cuts.index[items[i].x] : 0;
    ag_text_printf(w->out, "%s %s", word, items[i].name);
    if (!k || strcmp(w->cuts.at[k - 1].name, items[i].name)) { /* a let that is recorded already has its own name */
      ag_text_str(w->out, " = ");
      ag_write_expression(w, items[i].x);
    }
    ag_text_char(w->out, '\n');
  }
}

static void forces(ag_writer *w) {
  for (int i = 0; i < w->m->n_forces; i++) {
    const ag_assign *f = &w->m->forces[i];
    ag_write_prepare(w, f->x);
    ag_text_str(w->out, "force ");
    target(w, true, f->coord, f->row);
    ag_write_expression(w, f->x);
    ag_text_char(w->out, '\n');
  }
}

static void noises(ag_writer *w) {
  static const char *const kinds[] = {"transport", "potential", "force", "process"};
  for (int i = 0; i < w->m->n_noises; i++) {
    const ag_noise *n = &w->m->noises[i];
    if (n->x) ag_write_prepare(w, n->x);
    for (int k = 0; k < n->n; k++) ag_write_prepare(w, n->parts[k].x);
    ag_text_printf(w->out, "noise %s %s ", w->m->channels[n->channel].name, kinds[n->kind]);
    if (n->x) ag_write_expression(w, n->x);
    for (int k = 0; k < n->n; k++) {
      if (k) ag_text_str(w->out, ", ");
      if (n->kind == AG_NOISE_PROCESS) ag_text_printf(w->out, "%s = ", w->m->processes[n->parts[k].coord].name);
      else if (n->frame) frame_target(w, n->parts[k].coord, n->parts[k].row);
      else target(w, true, n->parts[k].coord, n->parts[k].row);
      ag_write_expression(w, n->parts[k].x);
    }
    ag_text_printf(w->out, "%s%s\n", n->raw ? " raw" : "", n->frozen ? " frozen" : "");
  }
}

static void domains(ag_writer *w) {
  for (int i = 0; i < w->m->n_domains; i++) {
    const ag_range *d = &w->m->domains[i];
    ag_write_prepare(w, d->x);
    ag_write_prepare(w, d->lo);
    ag_write_prepare(w, d->hi);
    ag_text_str(w->out, "domain ");
    ag_write_expression(w, d->x);
    ag_text_str(w->out, " in ");
    ag_write_expression(w, d->lo);
    ag_text_str(w->out, "..");
    ag_write_expression(w, d->hi);
    ag_text_char(w->out, '\n');
  }
}

static void events(ag_writer *w, const char *word, int n, const ag_event *list) {
  for (int i = 0; i < n; i++) {
    const ag_event *e = &list[i];
    ag_write_prepare(w, e->x);
    ag_text_printf(w->out, "%s %s: ", word, e->name);
    ag_write_expression(w, e->x);
    ag_text_printf(w->out, " = 0%s%s%s\n",
                   e->direction > 0   ? " rising"
                   : e->direction < 0 ? " falling"
                                      : "",
                   e->terminal ? " terminal" : "", e->cuts ? " cuts" : "");
  }
}

static void generators(ag_writer *w) {
  for (int i = 0; i < w->m->n_generators; i++) {
    const ag_generator *g = &w->m->generators[i];
    for (int k = 0; k < g->n; k++) ag_write_prepare(w, g->parts[k].x);
    ag_text_printf(w->out, "generator %s: ", g->name);
    for (int k = 0; k < g->n; k++) {
      if (k) ag_text_str(w->out, ", ");
      target(w, true, g->parts[k].coord, g->parts[k].row);
      ag_write_expression(w, g->parts[k].x);
    }
    ag_text_char(w->out, '\n');
  }
}

static void starts(ag_writer *w) {
  for (int i = 0; i < w->m->n_processes; i++) {
    const ag_process *p = &w->m->processes[i];
    if (!p->start) continue;
    ag_write_prepare(w, p->start);
    ag_text_printf(w->out, "start %s = ", p->name);
    ag_write_expression(w, p->start);
    ag_text_char(w->out, '\n');
  }
  for (int i = 0; i < w->m->n_starts; i++) {
    const ag_start *s = &w->m->starts[i];
    ag_write_prepare(w, s->x);
    ag_text_str(w->out, w->m->soft_from && i >= w->m->soft_from - 1 ? "guess " : "start ");
    if (s->frame < 0) target(w, s->velocity, s->coord, s->row);
    else frame_target(w, s->frame, s->row);
    ag_write_expression(w, s->x);
    ag_text_char(w->out, '\n');
  }
}

/* ---- drawings ---- */

/* The name printed for the running input of a profile: no other name of the model. */
static const char *running_name(const ag_writer *w) {
  const char *const names[] = {"rho", "s", "dist", "from_axis"};
  for (int k = 0; k < 4; k++) {
    bool taken = false;
    for (int i = 0; i < w->m->n_params; i++) taken = taken || !strcmp(w->m->params[i].name, names[k]);
    for (int i = 0; i < w->m->n_coords; i++) taken = taken || !strcmp(w->m->coords[i].name, names[k]);
    for (int i = 0; i < w->m->n_lets; i++) taken = taken || !strcmp(w->m->lets[i].name, names[k]);
    if (!taken) return names[k];
  }
  return "distance_from_axis";
}

static void profile(ag_writer *w, const ag_drawing *d, ag_id x) {
  const char *name = running_name(w);
  ag_id input = ag_input(w->g, name, 1, 1, AG_LEAF_REAL);
  ag_substitute(w->g, 1, &d->rho, &input, 1, &x);
  ag_text_printf(w->out, "%s: ", name);
  ag_print(w->g, x, w->out);
}

static void draw(ag_writer *w, const ag_drawing *d) {
  const ag_draw_row *row = ag_draw_find(d->kind);
  int n_size = 0, n_place = 0;
  for (int i = 0; row->args[i].name; i++)
    if (row->args[i].shape != AG_DRAW_PROFILE) ag_write_prepare(w, d->args[i]);
  ag_text_printf(w->out, "draw %s", row->name);
  for (int i = 0; row->args[i].name; i++) {
    if (strcmp(row->args[i].word, "(")) continue;
    ag_text_str(w->out, n_size++ ? ", " : "(");
    if (row->args[i].shape == AG_DRAW_PROFILE) profile(w, d, d->args[i]);
    else ag_write_expression(w, d->args[i]);
  }
  if (n_size) ag_text_char(w->out, ')');
  for (int i = 0; row->args[i].name; i++) {
    const char *word = row->args[i].word;
    if (!d->args[i] || !strcmp(word, "(")) continue;
    if (*word) ag_text_printf(w->out, " %s ", word);
    else ag_text_str(w->out, n_place++ ? ", " : " ");
    ag_write_expression(w, d->args[i]);
  }
  if (d->colour) ag_text_printf(w->out, " colour %d", d->colour);
  ag_text_char(w->out, '\n');
}

/* ---- the whole ---- */

typedef struct roots {
  ag_id *at;
  int n, cap;
} roots;

static void root(roots *r, ag_id x) {
  if (!x) return;
  AG_PUSH(r->at, r->n, r->cap);
  r->at[r->n++] = x;
}

static void root_items(roots *r, int n, const ag_item *items) {
  for (int i = 0; i < n; i++) root(r, items[i].x);
}

/* All expressions that will be printed. */
static roots collect(const ag_model *m) {
  roots r = {0};
  for (int i = 0; i < m->n_params; i++) root(&r, m->params[i].value);
  for (int i = 0; i < m->n_processes; i++) root(&r, m->processes[i].start);
  root(&r, m->lagrangian);
  root_items(&r, m->n_constraints, m->constraints);
  root_items(&r, m->n_holonomics, m->holonomics);
  root_items(&r, m->n_touches, m->touches);
  root_items(&r, m->n_prescribes, m->prescribes);
  root_items(&r, m->n_frames, m->frames);
  root_items(&r, m->n_observables, m->observables);
  root_items(&r, m->n_candidates, m->candidates);
  for (int i = 0; i < m->n_forces; i++) root(&r, m->forces[i].x);
  for (int i = 0; i < m->n_noises; i++) {
    root(&r, m->noises[i].x);
    for (int k = 0; k < m->noises[i].n; k++) root(&r, m->noises[i].parts[k].x);
  }
  for (int i = 0; i < m->n_domains; i++)
    root(&r, m->domains[i].x), root(&r, m->domains[i].lo), root(&r, m->domains[i].hi);
  for (int i = 0; i < m->n_events; i++) root(&r, m->events[i].x);
  for (int i = 0; i < m->n_sections; i++) root(&r, m->sections[i].x);
  for (int i = 0; i < m->n_generators; i++)
    for (int k = 0; k < m->generators[i].n; k++) root(&r, m->generators[i].parts[k].x);
  for (int i = 0; i < m->n_starts; i++) root(&r, m->starts[i].x);
  for (int i = 0; i < m->n_drawings; i++) {
    const ag_drawing *d = m->drawings[i];
    for (int k = 0; k < AG_DRAW_ARGS; k++)
      if (d->args[k] != 0 && ag_draw_find(d->kind)->args[k].shape != AG_DRAW_PROFILE) root(&r, d->args[k]);
  }
  for (int i = 0; i < m->n_expects; i++) {
    const ag_expect *e = &m->expects[i];
    ag_id parts[5] = {e->x, e->value, e->time, e->tol, e->dt};
    for (int k = 0; k < 5; k++) root(&r, parts[k]);
    for (int k = 0; k < e->n_when; k++) root(&r, e->when_value[k]);
  }
  return r;
}

static void write_model(const ag_model *m, ag_text *out) {
  ag_model_draw(m);
  roots r = collect(m);
  ag_writer w = {.m = m, .g = m->graph, .out = out};
  ag_cut_init(&w.cuts, m, r.n, r.at);
  ag_text_printf(out, "model %s", m->name);
  if (*m->title) ag_text_char(out, ' '), quoted(&w, m->title);
  ag_text_char(out, '\n');
  for (int i = 0; i < m->n_references; i++) {
    ag_text_printf(out, "reference %s ", m->references[i].key);
    quoted(&w, m->references[i].entry);
    ag_text_char(out, '\n');
  }
  params(&w);
  configs(&w);
  processes(&w);
  ag_write_prepare(&w, m->lagrangian);
  ag_text_str(out, "lagrangian ");
  ag_write_expression(&w, m->lagrangian);
  ag_text_char(out, '\n');
  equations(&w, "constraint", m->n_constraints, m->constraints);
  equations(&w, "holonomic", m->n_holonomics, m->holonomics);
  relations(&w);
  prescribes(&w);
  forces(&w);
  named(&w, "frame", m->n_frames, m->frames);
  noises(&w);
  domains(&w);
  named(&w, "observable", m->n_observables, m->observables);
  named(&w, "candidate", m->n_candidates, m->candidates);
  events(&w, "event", m->n_events, m->events);
  events(&w, "section", m->n_sections, m->sections);
  generators(&w);
  starts(&w);
  for (int i = 0; i < m->n_drawings; i++) draw(&w, m->drawings[i]);
  ag_write_expects(&w);
  ag_cut_done(&w.cuts);
  free(r.at);
}

/* Operands of sums and products are sorted by age, so reading the text back may reorder some of them once. The text
 * returned is one that reads back and is written again unchanged. */
void ag_lang_write(const ag_model *m, ag_text *out) {
  ag_text text = {0}, again = {0};
  write_model(m, &text);
  for (int i = 0; i < 3; i++) {
    ag_ctx ctx = {0};
    ag_model *copy = NULL;
    ag_text_clear(&again);
    if (ag_lang_read(&ctx, "", ag_text_cstr(&text), text.n, 0, NULL, &copy) == AG_OK) write_model(copy, &again);
    ag_model_free(copy);
    ag_ctx_done(&ctx);
    if (!again.n || !strcmp(ag_text_cstr(&text), ag_text_cstr(&again))) break;
    ag_text swap = text;
    text = again;
    again = swap;
  }
  ag_text_str(out, ag_text_cstr(&text));
  ag_text_done(&text);
  ag_text_done(&again);
}
