/* SPDX-License-Identifier: MIT
 * expect statements: what `anagyre test` checks. */
#include <math.h>
#include <string.h>

#include "lang/build.h"

/* A tolerance or time: a scalar in numbers and parameters. 0 on error. */
static ag_id quantity(ag_builder *b, const ag_syn *s, const char *what, bool positive) {
  double v;
  ag_id x = ag_eval_scalar(b, s, what);
  if (!x || !ag_eval_number(b, s, what, &v)) return 0;
  if (positive && !(v > 0)) return ag_scope_error(b, s->pos, "%s must be positive; this is %g", what, v);
  return x;
}

static bool find_event(ag_builder *b, const ag_stmt *s, int *event) {
  const char *text = ag_scope_text(b, s->name), **names = NULL;
  int have = ag_scope_symbol(b, s->name)->event, n = 0;
  *event = have - 1;
  if (have) return have > 0;
  names = ag_heap_alloc(sizeof *names * (size_t)(b->m->n_events + 1));
  for (; n < b->m->n_events && n < 1000; n++) names[n] = b->m->events[n].name;
  const char *near = ag_nearest(text, n, names);
  if (near) ag_scope_error(b, s->name_pos, "unknown event `%s`; did you mean `%s`?", text, near);
  else ag_scope_error(b, s->name_pos, "unknown event `%s`; define it first with `event %s: ... = ...`", text, text);
  free(names);
  return false;
}

/* EVENT first at ..., EVENT 3 at ..., EVENT occurs N times */
static bool event_form(ag_builder *b, const ag_stmt *s, ag_expect *e) {
  double n = 1;
  bool ok = find_event(b, s, &e->event);
  if (s->nth)
    ok = ag_eval_whole(b, s->nth, s->expect == AG_EXPECT_COUNT ? "the number of times" : "which event", &n) && ok;
  double least = s->expect == AG_EXPECT_COUNT ? 0 : 1;
  if (ok && (n < least || n > 1e9))
    ok = ag_scope_error(b, s->nth->pos, "this must be an integer of at least %.0f; it is %.0f", least, n);
  e->nth = ok ? (int)n : 1;
  if (s->expect == AG_EXPECT_COUNT) e->value = ag_num(b->g, n);
  return ok;
}

static bool value_form(ag_builder *b, const ag_stmt *s, ag_expect *e) {
  const ag_part *p = &s->parts[0];
  e->x = ag_eval_node(b, p->left);
  if (!p->right) return e->x != 0;
  e->value = ag_eval_node(b, p->right);
  if (!e->x || !e->value) return false;
  if (!ag_note_same(b, e->x, e->value)) {
    if (!ag_is_scalar(b->g, e->value) || !ag_is_zero(b->g, e->value))
      return ag_scope_error(b, p->right->pos, "the left side is %s, the value %s", ag_note_shape(b, e->x),
                            ag_note_shape(b, e->value));
    e->value = ag_zero(b->g, ag_node_rows(b->g, e->x), ag_node_cols(b->g, e->x));
  }
  if (e->value == e->x) ag_ctx_warn(b->ctx, p->left->pos, "both sides are the same expression: this holds trivially");
  return true;
}

/* conserved NAME: the energy, a candidate, an observable or an expression; or a generator, for its momentum. */
static bool conserved_form(ag_builder *b, const ag_stmt *s, ag_expect *e) {
  const ag_syn *left = s->parts[0].left;
  if (left->kind == AG_SYN_NAME && ag_scope_symbol(b, left->name)->kind == AG_SYM_NONE)
    for (int i = 0; i < b->m->n_generators; i++)
      if (!strcmp(b->m->generators[i].name, ag_scope_text(b, left->name))) return e->generator = i + 1, true;
  e->x = ag_eval_scalar(b, left, "the conserved quantity");
  bool known = e->x == b->m->energy;
  for (int i = 0; i < b->m->n_candidates; i++) known = known || b->m->candidates[i].x == e->x;
  for (int i = 0; i < b->m->n_observables; i++) known = known || b->m->observables[i].x == e->x;
  if (e->x && (left->kind != AG_SYN_NAME || !known))
    return ag_scope_error(
        b, left->pos, "`conserved` expects `energy` or the name of a candidate, a scalar observable or a generator");
  return e->x != 0;
}

/* Is a scalar recorded along paths: a number of the state, an observable or the energy? */
static bool is_recorded(ag_builder *b, ag_pos pos, ag_id x) {
  const ag_model *m = b->m;
  if (!ag_scope_work(b, pos, m->n_coords + m->n_processes + m->n_observables)) return false;
  bool found = x == m->energy;
  for (int i = 0; i < m->n_processes && !found; i++) found = m->processes[i].x == x;
  ag_id *wholes = ag_heap_alloc(sizeof *wholes * (size_t)(2 * m->n_coords + m->n_observables + 1));
  int n = 0;
  for (int i = 0; i < m->n_coords; i++) wholes[n++] = m->coords[i].q, wholes[n++] = m->coords[i].xi;
  for (int i = 0; i < m->n_observables; i++) wholes[n++] = m->observables[i].x;
  for (int i = 0; i < n && !found; i++) {
    const int rows = ag_node_rows(b->g, wholes[i]), cols = ag_node_cols(b->g, wholes[i]);
    if (!ag_scope_work(b, pos, rows * cols)) break;
    for (int k = 0; k < rows * cols && !found; k++) found = ag_entry(b->g, wholes[i], k / cols, k % cols) == x;
  }
  free(wholes);
  return found;
}

static bool whole_between(ag_builder *b, const ag_syn *s, const char *what, double lo, double hi, double *n) {
  if (!ag_eval_whole(b, s, what, n)) return false;
  return (*n >= lo && *n <= hi) ||
         ag_scope_error(b, s->pos, "%s must be an integer from %.0f to %.0f; it is %.0f", what, lo, hi, *n);
}

/* mean(OBS), var(OBS) at TIME = VALUE within K sigma paths N dt H method NAME seed S */
static bool statistic_form(ag_builder *b, const ag_stmt *s, ag_expect *e) {
  const ag_syn *left = s->parts[0].left, *right = s->parts[0].right;
  const char *name = left->kind == AG_SYN_CALL && left->n == 1 ? ag_scope_text(b, left->name) : "";
  const bool variance = !strcmp(name, "var");
  if (!variance && strcmp(name, "mean") != 0)
    return ag_scope_error(b, left->pos,
                          "`sigma` is for `mean(OBS)` and `var(OBS)`: other values have no sampling error");
  if (!s->time) return ag_scope_error(b, left->pos, "the time is missing: %s(OBS) at TIME = VALUE", name);
  e->kind = variance ? AG_EXPECT_VARIANCE : AG_EXPECT_MEAN;
  e->x = ag_eval_scalar(b, left->links[0].x, "the averaged quantity");
  e->value = ag_eval_scalar(b, right, "the value");
  e->dt = quantity(b, s->dt, "the step", true);
  bool ok = whole_between(b, s->paths, "the number of paths", 2, 1e12, &e->paths);
  if (s->seed) ok = whole_between(b, s->seed, "the seed", 0, 9e15, &e->seed) && ok;
  if (s->method) e->method = ag_arena_str(b->m->arena, ag_scope_text(b, s->method));
  if (e->x && !is_recorded(b, left->pos, e->x))
    ok = ag_scope_error(b, left->links[0].x->pos,
                        "%s expects an observable, a number of the state or `energy`; define an observable first",
                        name);
  if (e->value && ag_note_on(b, e->value) & ~AG_ON_PARAM)
    ok = ag_scope_error(b, right->pos, "the value of a %s may use only numbers and parameters",
                        variance ? "variance" : "mean");
  return e->x && e->value && e->dt && ok;
}

/* when a = 1, b = 2 */
static bool conditions(ag_builder *b, const ag_stmt *s, ag_expect *e) {
  bool all = true;
  e->when_param = AG_NEWN(b->m->arena, int, s->n_when + 1);
  e->when_value = AG_NEWN(b->m->arena, ag_id, s->n_when + 1);
  for (int i = 0; i < s->n_when; i++) {
    const ag_part *p = &s->when[i];
    ag_symbol *sym = ag_scope_symbol(b, p->name);
    const char *text = ag_scope_text(b, p->name);
    bool ok = false;
    ag_id x = ag_eval_node(b, p->right);
    sym->used = true;
    if (sym->kind == AG_SYM_NONE) ag_scope_unknown(b, p->name, p->pos, AG_SUGGEST_PARAMS);
    else if (sym->kind == AG_SYM_BAD) ok = false;
    else if (sym->kind != AG_SYM_PARAM)
      ag_scope_error(b, p->pos, "`%s` is %s; `when` changes only parameters", text, ag_scope_kind(sym));
    else if (b->m->params[sym->index].integer)
      ag_scope_error(
          b, p->pos,
          "`%s` is an integer parameter: it determines the structure of the model and cannot be changed here", text);
    else if (x && ag_note_on(b, x) & ~AG_ON_PARAM)
      ag_scope_error(b, p->right->pos, "the value of a parameter may use only numbers and parameters");
    else if (x && !ag_note_same(b, x, sym->x))
      ag_scope_error(b, p->right->pos, "`%s` is %s, its value is %s", text, ag_note_shape(b, sym->x),
                     ag_note_shape(b, x));
    else ok = x != 0;
    for (int k = 0; ok && k < e->n_when; k++)
      if (e->when_param[k] == sym->index) ok = ag_scope_error(b, p->pos, "`%s` is changed twice", text);
    all = all && ok;
    if (!ok || !ag_scope_work(b, p->pos, e->n_when / 8)) continue;
    e->when_param[e->n_when] = sym->index;
    e->when_value[e->n_when++] = x;
  }
  return all;
}

void ag_expect_statement(ag_builder *b, const ag_stmt *s) {
  double v = 0;
  ag_expect e = {
      .kind = (ag_expect_kind)s->expect, .event = -1, .nth = 1, .pos = s->name ? s->name_pos : s->parts[0].left->pos};
  bool conserved = s->expect == AG_EXPECT_CONSERVED || s->expect == AG_EXPECT_NOT_CONSERVED;
  bool statistic = s->expect == AG_EXPECT_MEAN;
  bool ok = conserved   ? conserved_form(b, s, &e)
            : statistic ? statistic_form(b, s, &e)
            : s->name   ? event_form(b, s, &e)
                        : value_form(b, s, &e);
  e.pathwise = s->pathwise;
  e.time = s->time ? quantity(b, s->time, "the time", false) : ag_num(b->g, 0);
  e.tol = s->tol ? quantity(b, s->tol, "the tolerance", true) : ag_num(b->g, 0);
  ok = e.time && e.tol && ok;
  bool over = s->expect != AG_EXPECT_AT && s->expect != AG_EXPECT_EVENT && !conserved && s->time;
  if (ok && over && ag_eval_number(b, s->time, "the time", &v) && v == 0)
    ok = ag_scope_error(b, s->time->pos, "the time must not be 0");
  ok = conditions(b, s, &e) && ok;
  e.text = ag_target_text(b, s);
  if (ok) AG_MODEL_PUSH(b->m, expects, e);
}
