/* SPDX-License-Identifier: MIT
 * A swept start value becomes a parameter: one line is added behind the text of the model, and the start is set to it,
 * as
 * --set would. The equations are derived once; a member is then a vector of parameters and its completed start. */
#include "study/study_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static const ag_pos nowhere = {0};

/* ---- reading the model with additions ---- */

/* A second source on the same text, with lines added behind it. */
static void derive_source(ag_source *s, const ag_source *from, const char *more) {
  *s = (ag_source){.word = from->word};
  ag_text path = {0}, text = {0};
  ag_text_str(&path, from->path);
  ag_text_strn(&text, from->text, from->size);
  ag_text_char(&text, '\n');
  ag_text_str(&text, more);
  s->path = path.s;
  s->size = text.n;
  s->text = text.s;
}

static int param_index(const ag_model *m, const char *name) {
  for (int i = 0; i < m->n_params; i++)
    if (!strcmp(m->params[i].name, name)) return i;
  return -1;
}

/* Value of a parameter: every other one it needs put in its place. */
static bool param_value(ag_model *m, int i, double *value) {
  ag_id x = m->params[i].value;
  for (int k = i - 1; k >= 0; k--)
    if (m->params[k].input) ag_substitute(m->graph, 1, &m->params[k].input, &m->params[k].value, 1, &x);
  return ag_is_scalar(m->graph, x) && ag_constant(m->graph, x, value) && isfinite(*value);
}

/* Ends of ranges that are expressions of the parameters. */
static ag_status find_ends(ag_source *plain, const ag_changes *changes, ag_grid *sweep) {
  ag_text more = {0};
  bool any = false;
  for (int i = 0; i < sweep->n_axis; i++) {
    const ag_axis *a = &sweep->axes[i];
    if (a->values) continue;
    any = true;
    ag_text_printf(&more, "param sweep_lo_%d = %s\nparam sweep_hi_%d = %s\n", i + 1, a->lo, i + 1, a->hi);
  }
  ag_source s = {0};
  ag_status status = AG_OK;
  if (any) {
    derive_source(&s, plain, ag_text_cstr(&more));
    status = ag_lang_read(&s.ctx, s.path, s.text, s.size, changes->n_set, changes->sets, &s.model);
  }
  for (int i = 0; any && status == AG_OK && i < sweep->n_axis; i++) {
    ag_axis *a = &sweep->axes[i];
    char name[40];
    double ends[2];
    if (a->values) continue;
    for (int k = 0; k < 2 && status == AG_OK; k++) {
      snprintf(name, sizeof name, "sweep_%s_%d", k ? "hi" : "lo", i + 1);
      if (param_value(s.model, param_index(s.model, name), &ends[k])) continue;
      ag_ctx_error(&s.ctx, nowhere, "--sweep %s: '%s' is no finite number", a->names[0], k ? a->hi : a->lo);
      status = AG_WRONG;
    }
    if (status == AG_OK) ag_grid_ends(a, ends[0], ends[1]);
  }
  ag_text_done(&more);
  if (status == AG_OK) {
    ag_source_done(&s);
    return AG_OK;
  }
  ag_source_done(plain);
  *plain = s; /* its messages */
  return status;
}

/* What each swept name is; what cannot be swept is refused by its name. */
static ag_status sort_names(ag_members *m, ag_source *plain, const ag_changes *changes, const ag_grid *sweep) {
  for (int i = 0; i < sweep->n_name; i++) {
    const char *name = sweep->names[i];
    int k = param_index(plain->model, name);
    const ag_param *p = k >= 0 ? &plain->model->params[k] : NULL;
    m->is_param[i] = p != NULL;
    if (p && p->integer)
      ag_ctx_error(&plain->ctx, nowhere,
                   "`%s` is an integer parameter: it shapes the equations and cannot be swept; run once per value with "
                   "--set",
                   name);
    else if (p && !ag_is_scalar(plain->model->graph, p->input))
      ag_ctx_error(&plain->ctx, nowhere, "`%s` is no single number: only numbers can be swept", name);
    for (int s = 0; s < changes->n_set; s++)
      if (!strcmp(changes->sets[s].name, name))
        ag_ctx_error(&plain->ctx, nowhere, "`%s` is swept and given by --set too", name);
  }
  return plain->ctx.n_error ? AG_WRONG : AG_OK;
}

/* The model as member `base` has it, with swept starts as parameters. */
static ag_status load_base(ag_members *m, const ag_source *plain, const ag_changes *changes, const ag_grid *sweep,
                           long base, const ag_levels *levels, const ag_derive_options *o) {
  ag_arena *arena = ag_arena_create();
  ag_set *sets = AG_NEWN(arena, ag_set, changes->n_set + sweep->n_name + 1);
  double *v = AG_NEWN(arena, double, sweep->n_name + 1);
  ag_text more = {0};
  int n = changes->n_set;
  ag_grid_values(sweep, base, v);
  if (n) memcpy(sets, changes->sets, sizeof *sets * (size_t)n);
  for (int i = 0; i < sweep->n_name; i++) {
    const char *number = ag_arena_printf(arena, "%.17g", v[i]), *name = ag_arena_printf(arena, "sweep_value_%d", i + 1);
    sets[n++] = (ag_set){sweep->names[i], m->is_param[i] ? number : name};
    if (!m->is_param[i]) ag_text_printf(&more, "param %s = %s\n", name, number);
  }
  ag_levels_lines(levels, &more);
  derive_source(&m->source, plain, ag_text_cstr(&more));
  ag_source *s = &m->source;
  ag_status status = ag_lang_read(&s->ctx, s->path, s->text, s->size, n, sets, &s->model);
  if (status == AG_OK) status = ag_source_end_at(s, changes->end_at);
  if (status == AG_OK) status = ag_system_create(&s->ctx, s->model, o, &s->system);
  ag_text_done(&more);
  ag_arena_free(arena);
  return status;
}

/* ---- numbers ---- */

/* Parameters of a member from its swept values: those swept, then those that depend on them. */
typedef struct dependents {
  int n_swept, *swept; /* per swept name: offset of its parameter */
  int n, *which;       /* parameters that follow */
  ag_tape *tape;
  double *out;
} dependents;

static ag_status find_dependents(ag_members *m, const ag_grid *sweep, dependents *d) {
  const ag_system *sys = m->source.system;
  ag_model *model = m->source.model;
  int n = model->n_params, n_bind = 0, width = 0;
  ag_id *moved = ag_heap_alloc(sizeof *moved * (size_t)(n + 1)), *to = ag_heap_alloc(sizeof *to * (size_t)(n + 1));
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n + 1)), *from = ag_heap_alloc(sizeof *from * (size_t)(n + 1));
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(n + 1));
  *d = (dependents){.n_swept = sweep->n_name,
                    .swept = ag_heap_alloc(sizeof(int) * (size_t)(sweep->n_name + 1)),
                    .which = ag_heap_alloc(sizeof(int) * (size_t)(n + 1))};
  int n_moved = 0;
  for (int i = 0; i < sweep->n_name; i++) {
    char name[40];
    snprintf(name, sizeof name, "sweep_value_%d", i + 1);
    int k = param_index(model, m->is_param[i] ? sweep->names[i] : name);
    AG_ASSERT(k >= 0);
    d->swept[i] = ag_layout_item(sys, AG_LAYOUT_PARAMETER, k)->at;
    moved[n_moved++] = model->params[k].input;
    bool used = m->is_param[i];
    for (int s = 0; s < model->n_starts && !used; s++)
      used = ag_depends(model->graph, 1, &model->starts[s].x, 1, &model->params[k].input);
    if (!used) ag_ctx_error(&m->source.ctx, nowhere, "the start that `%s` names is swept twice", sweep->names[i]);
  }
  for (int i = 0; i < n; i++) { /* in the order of the file: each may use those before it */
    const ag_param *p = &model->params[i];
    if (!p->input) continue;
    binds[n_bind++] = (ag_bind){p->input, AG_SEG_P, ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at};
    bool fixed = false;
    for (int k = 0; k < sweep->n_name; k++)
      fixed = fixed || d->swept[k] == ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at;
    ag_id x = p->value;
    if (fixed || !ag_depends(model->graph, 1, &x, n_moved, moved)) continue;
    if (d->n) ag_substitute(model->graph, d->n, from, to, 1, &x);
    from[d->n] = moved[n_moved++] = p->input;
    outs[d->n] = to[d->n] = x;
    d->which[d->n++] = i;
    width += ag_input_storage(model->graph, p->input);
  }
  if (d->n) d->tape = ag_tape_create(model->graph, n_bind, binds, d->n, outs);
  d->out = ag_heap_alloc(sizeof(double) * (size_t)(width + 1));
  free(moved);
  free(from);
  free(to);
  free(outs);
  free(binds);
  return m->source.ctx.n_error ? AG_WRONG : AG_OK;
}

static void dependents_done(dependents *d) {
  ag_tape_free(d->tape);
  free(d->swept);
  free(d->which);
  free(d->out);
}

/* Fills params; the name of one that is not finite, or NULL. */
static const char *member_params(const ag_system *sys, const dependents *d, double *slots, const double *values,
                                 double *params) {
  const ag_model *m = ag_system_model(sys);
  memcpy(params, ag_system_param_values(sys), sizeof *params * (size_t)ag_system_dims(sys)->param);
  for (int i = 0; i < d->n_swept; i++) params[d->swept[i]] = values[i];
  if (!d->n) return NULL;
  const double t = 0, *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_P] = params};
  (void)ag_tape_prep(d->tape, params, slots);
  (void)ag_tape_eval(d->tape, seg, slots, d->out);
  for (int i = 0, at = 0; i < d->n; i++) {
    int n = ag_input_storage(m->graph, m->params[d->which[i]].input);
    for (int k = 0; k < n; k++, at++) {
      if (!isfinite(d->out[at])) return m->params[d->which[i]].name;
      params[ag_layout_item(sys, AG_LAYOUT_PARAMETER, d->which[i])->at + k] = d->out[at];
    }
  }
  return NULL;
}

static char *first_error(const ag_ctx *ctx) {
  ag_text x = {0};
  for (int i = 0; i < ctx->n_diag && !x.n; i++)
    if (ctx->diags[i].severity == AG_ERROR) ag_text_str(&x, ctx->diags[i].message);
  if (!x.n) ag_text_str(&x, "the start could not be completed");
  return x.s;
}

/* Constant values and no constraints: the start depends on nothing that is swept. */
static bool start_is_fixed(const ag_members *m) {
  const ag_model *model = m->source.model;
  for (int i = 0; i < model->n_starts; i++) {
    double v[16];
    int size = ag_node_rows(model->graph, model->starts[i].x) * ag_node_cols(model->graph, model->starts[i].x);
    if (size > 16 || !ag_constant(model->graph, model->starts[i].x, v)) return false;
  }
  return ag_system_dims(m->source.system)->row == 0;
}

/* The start of a member whose last names are solved for. */
typedef struct trial {
  const ag_system *sys;
  const dependents *d;
  double *slots, *values; /* values: of all names */
  int n_solved;
  const ag_members_request *r;
} trial;

static bool try_start(void *self, const double *unknown, double *params, double *x) {
  trial *k = self;
  memcpy(k->values + k->d->n_swept - k->n_solved, unknown, sizeof(double) * (size_t)k->n_solved);
  if (member_params(k->sys, k->d, k->slots, k->values, params)) return false;
  ag_ctx ctx = {0};
  ag_status status = ag_system_start(&ctx, k->sys, k->r->t0, params, k->r->strict, x, x + ag_system_dims(k->sys)->q);
  ag_ctx_done(&ctx);
  return status == AG_OK;
}

static void complete_starts(ag_members *m, const ag_grid *sweep, const dependents *d, const ag_levels *levels,
                            const ag_members_request *r) {
  const ag_system *sys = m->source.system;
  int n_x = ag_system_dims(sys)->x;
  double *slots = ag_heap_aligned(sizeof(double) * (size_t)(d->tape ? d->tape->n_slot + 1 : 1));
  bool fixed = start_is_fixed(m);
  for (long i = 0; i < m->n; i++) {
    double *values = m->values + i * sweep->n_name, *params = m->params + m->n_ready * ag_system_dims(sys)->param;
    double *x0 = m->x0 + m->n_ready * n_x;
    ag_grid_values(sweep, i, values);
    const char *bad = member_params(sys, d, slots, values, params);
    ag_ctx ctx = {0};
    ag_status status = AG_OK;
    if (bad) {
      ag_ctx_error(&ctx, nowhere, "parameter `%s` is not finite", bad);
      status = AG_WRONG;
    } else if (sweep->n_solved) {
      trial k = {sys, d, slots, values, sweep->n_solved, r};
      double *unknown = ag_heap_alloc(sizeof(double) * (size_t)sweep->n_solved);
      const char *why = ag_levels_solve(levels, sys, r->t0, try_start, &k, unknown, params, x0);
      for (int u = 0; u < sweep->n_solved; u++) values[sweep->n_name - sweep->n_solved + u] = why ? NAN : unknown[u];
      free(unknown);
      if (why) ag_ctx_error(&ctx, nowhere, "%s", why), status = AG_WRONG, m->off_level[i] = true, m->n_off_level++;
    } else if (fixed) {
      ag_system_state0(sys, x0);
    } else {
      status = ag_system_start(&ctx, sys, r->t0, params, r->strict, x0, x0 + ag_system_dims(sys)->q);
    }
    if (status == AG_OK) m->index[m->n_ready++] = i;
    else m->reason[i] = first_error(&ctx);
    ag_ctx_done(&ctx);
  }
  free(slots);
}

/* ---- the front ---- */

static void make_room(ag_members *m, const ag_grid *sweep) {
  const ag_system *sys = m->source.system;
  size_t n = (size_t)m->n;
  m->values = ag_heap_alloc(sizeof(double) * (n * (size_t)sweep->n_name + 1));
  m->index = ag_heap_alloc(sizeof *m->index * (n + 1));
  m->params = ag_heap_alloc(sizeof(double) * (n * (size_t)ag_system_dims(sys)->param + 1));
  m->x0 = ag_heap_alloc(sizeof(double) * (n * (size_t)(ag_system_dims(sys)->x) + 1));
  m->reason = ag_heap_alloc(sizeof *m->reason * (n + 1));
  m->off_level = ag_heap_alloc(n + 1);
}

/* The equations are derived as one member has them; the first, the middle and the last one are tried. */
static ag_status load_some(ag_members *m, const ag_source *plain, const ag_levels *levels,
                           const ag_members_request *r) {
  long tries[3] = {0, m->n / 2, m->n - 1};
  ag_status status = AG_WRONG;
  for (int i = 0; i < 3 && status != AG_OK; i++) {
    if (i) ag_source_done(&m->source);
    status = load_base(m, plain, r->changes, &m->grid, tries[i], levels,
                       &(ag_derive_options){.strict = r->strict, .t0 = r->t0});
  }
  return status;
}

/* What is solved for, decided on the model as it stands. */
static ag_status choose_solved(ag_members *m, ag_source *plain, ag_levels *l, const ag_members_request *r) {
  if (r->section) AG_TRY(ag_source_section(plain, r->section, &m->section));
  l->section = m->section;
  if (!l->n && !l->n_solve) return AG_OK;
  AG_TRY(ag_system_create(&plain->ctx, plain->model, &(ag_derive_options){.strict = r->strict, .t0 = r->t0},
                          &plain->system));
  AG_TRY(ag_levels_choose(l, plain, r->changes, &m->grid));
  ag_grid_solve(&m->grid, l->n_solve, l->solve, l->guess);
  return AG_OK;
}

/* Reads the model twice: as it stands, to see what is swept and solved for, and with that made parameters. */
static ag_status load(ag_members *m, ag_levels *levels, const ag_members_request *r) {
  ag_source plain;
  m->n = m->grid.n;
  ag_status status = ag_source_parse(&plain, r->model, r->changes);
  if (status == AG_OK) status = choose_solved(m, &plain, levels, r);
  m->is_param = ag_heap_alloc((size_t)m->grid.n_name + 1);
  if (status == AG_OK) status = sort_names(m, &plain, r->changes, &m->grid);
  if (status == AG_OK) status = find_ends(&plain, r->changes, &m->grid);
  if (status != AG_OK) {
    m->source = plain; /* its messages */
    return status;
  }
  m->text_size = plain.size;
  status = load_some(m, &plain, levels, r);
  ag_source_done(&plain);
  return status;
}

ag_status ag_members_create(ag_members *m, const ag_members_request *r, ag_text *usage) {
  ag_levels levels;
  dependents d = {0};
  *m = (ag_members){0};
  ag_status status = ag_levels_read(&levels, &r->levels, r->solve, usage);
  if (status == AG_OK) status = ag_grid_read(&m->grid, &r->sweeps, r->starts, usage);
  if (status == AG_OK) status = load(m, &levels, r);
  if (status == AG_OK) status = find_dependents(m, &m->grid, &d);
  if (status == AG_OK) status = ag_levels_bind(&levels, &m->source);
  if (status == AG_OK) {
    make_room(m, &m->grid);
    complete_starts(m, &m->grid, &d, &levels, r);
  }
  dependents_done(&d);
  ag_levels_done(&levels);
  return status;
}

void ag_members_done(ag_members *m) {
  for (long i = 0; m->reason && i < m->n; i++) free(m->reason[i]);
  void *all[] = {m->is_param, m->values, m->index, m->params, m->x0, m->reason, m->off_level};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_grid_done(&m->grid);
  ag_source_done(&m->source);
  *m = (ag_members){0};
}
