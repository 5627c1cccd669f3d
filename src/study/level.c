/* SPDX-License-Identifier: MIT
 * Levels: what the options say, what is solved for, and the model it is solved on. Solving: level_solve.c. */
#include "study/study_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

static const ag_pos nowhere = {0};

/* ---- reading ---- */

static char *copy_of(const char *s, size_t n) {
  ag_text t = {0};
  ag_text_strn(&t, s, n);
  ag_text_str(&t, "");
  return t.s ? t.s : ag_heap_alloc(1);
}

/* "y',Omega[2]" */
static void read_solve(ag_levels *l, const char *text) {
  l->solve = ag_heap_alloc(sizeof *l->solve * (strlen(text) + 2));
  for (const char *s = text; *s;) {
    size_t n = strcspn(s, ",");
    l->solve[l->n_solve++] = copy_of(s, n);
    s += n + (s[n] == ',');
  }
}

ag_status ag_levels_read(ag_levels *l, const ag_list *levels, const char *solve, ag_text *error) {
  *l = (ag_levels){0};
  l->names = ag_heap_alloc(sizeof *l->names * (size_t)(levels->n + 1));
  l->texts = ag_heap_alloc(sizeof *l->texts * (size_t)(levels->n + 1));
  l->column = ag_heap_alloc(sizeof *l->column * (size_t)(levels->n + 1));
  l->guess = ag_heap_alloc(sizeof *l->guess * (AG_LEVELS_MAX + 1));
  for (int i = 0; i < levels->n; i++) {
    const char *equals = strchr(levels->at[i], '=');
    if (!equals || equals == levels->at[i] || !equals[1]) {
      ag_text_printf(error, "--level needs NAME=VALUE, not '%s'", levels->at[i]);
      return AG_WRONG;
    }
    l->names[l->n] = copy_of(levels->at[i], (size_t)(equals - levels->at[i]));
    l->texts[l->n++] = levels->at[i];
  }
  if (solve) read_solve(l, solve);
  if (l->n < AG_LEVELS_MAX && l->n_solve <= AG_LEVELS_MAX) return AG_OK;
  ag_text_printf(error, "at most %d levels can be met at once", AG_LEVELS_MAX - 1);
  return AG_WRONG;
}

void ag_levels_done(ag_levels *l) {
  for (int i = 0; i < l->n; i++) free(l->names[i]);
  for (int i = 0; i < l->n_solve; i++) free(l->solve[i]);
  ag_tape_free(l->tape);
  ag_along_free(l->along);
  ag_start_along_free(l->starts);
  void *all[] = {l->names, l->texts, l->solve, l->column, l->guess};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *l = (ag_levels){0};
}

/* ---- what is solved for ---- */

/* Place of a number in a record by its name, "x", "Omega[2]"; -1: there is none. */
static int place_of(const ag_record *r, const char *name) {
  int entry;
  const ag_column *c = ag_record_find(r, name, &entry);
  if (!c || (entry < 0 && c->rows * c->cols > 1)) return -1;
  return c->offset + (entry > 0 ? entry : 0);
}

/* "x[2]" is held when it is named, or "x" as a whole. */
static bool held(const char *name, const ag_members_request *r, const ag_grid *sweep) {
  const char *bracket = strchr(name, '[');
  size_t n = bracket ? (size_t)(bracket - name) : strlen(name);
  bool found = false;
  for (int i = 0; i < r->n_set + sweep->n_name; i++) {
    const char *other = i < r->n_set ? r->sets[i].name : sweep->names[i - r->n_set];
    found = found || !strcmp(other, name) || (strlen(other) == n && !strncmp(other, name, n));
  }
  return found;
}

static bool taken(const ag_levels *l, const char *name) {
  for (int i = 0; i < l->n_solve; i++)
    if (!strcmp(l->solve[i], name)) return true;
  return false;
}

/* Independent velocities that are not held. */
static void velocities(const ag_levels *l, const ag_system *sys, const ag_members_request *r, const ag_grid *sweep,
                       ag_text *list, int *n) {
  for (int i = 0; i < ag_system_dims(sys)->u; i++) {
    const char *name = ag_system_u_names(sys)[i];
    if (strchr(name, ' ') || held(name, r, sweep) || taken(l, name)) continue;
    ag_text_printf(list, "%s%s", *n ? " " : "", name);
    ++*n;
  }
}

/* Coordinates that the section contains and that are not held. */
static void coordinates(const ag_levels *l, const ag_system *sys, const ag_members_request *r, const ag_grid *sweep,
                        ag_text *list, int *n) {
  const ag_model *m = ag_system_model(sys);
  ag_record record;
  ag_record_init(&record, sys);
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    const ag_coord *c = &ag_model_coords(m)[i];
    if (c->space == AG_SPACE_SO3 || c->space == AG_SPACE_S2) continue;
    if (!ag_depends(ag_model_nodes(m), 1, &ag_model_sections(m)[l->section - 1].x, 1, &c->q)) continue;
    for (int k = 0; k < c->dim; k++) {
      ag_text name = {0};
      ag_column_name(&record.columns[1 + i], k, &name);
      if (!held(name.s, r, sweep) && !taken(l, name.s)) {
        ag_text_printf(list, "%s%s", *n ? " " : "", name.s);
        ++*n;
      }
      ag_text_done(&name);
    }
  }
  ag_record_done(&record);
}

/* The only candidate, or an error that lists them. */
static ag_status take_only(ag_levels *l, ag_ctx *ctx, const char *what, int n, const ag_text *list) {
  if (n == 1) {
    l->solve = ag_heap_grow(l->solve, sizeof *l->solve * (size_t)(l->n_solve + 1));
    l->solve[l->n_solve++] = copy_of(list->s, list->n);
    return AG_OK;
  }
  if (n)
    ag_ctx_error(ctx, nowhere, "which start value puts the start on %s? name it with --solve (there are: %s)", what,
                 list->s);
  else
    ag_ctx_error(ctx, nowhere,
                 "no start value is left that could put the start on %s: all are swept, set, or follow from others",
                 what);
  return AG_WRONG;
}

static bool on_section(const ag_levels *l, const ag_system *sys) {
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x)), g = 1;
  ag_system_state0(sys, x);
  (void)ag_work_section(w, l->section - 1, ag_system_t0(sys), x, &g);
  ag_work_free(w);
  free(x);
  return fabs(g) <= 1e-12;
}

/* The value of a parameter; 0: there is none of this name. */
static double param_value(const ag_system *sys, const char *name) {
  int entry;
  const ag_layout_row *row = ag_layout_find(sys, name, &entry);
  bool number = row && row->kind == AG_LAYOUT_PARAMETER && row->n == 1;
  return number ? ag_system_param_values(sys)[row->at] : 0;
}

static void take_guesses(ag_levels *l, const ag_system *sys) {
  ag_record r;
  ag_record_init(&r, sys);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x)),
         *record = ag_heap_alloc(sizeof *record * (size_t)r.width);
  ag_system_state0(sys, x);
  ag_record_fill(sys, w, ag_system_t0(sys), x, record);
  for (int i = 0; i < l->n_solve; i++) {
    int at = place_of(&r, l->solve[i]);
    l->guess[i] = at >= 0 && isfinite(record[at]) ? record[at] : param_value(sys, l->solve[i]);
  }
  ag_work_free(w);
  free(x);
  free(record);
  ag_record_done(&r);
}

/* The numbers of a record that the levels name. */
static ag_status find_columns(ag_levels *l, ag_ctx *ctx, const ag_system *sys) {
  ag_record r;
  ag_record_init(&r, sys);
  for (int i = 0; i < l->n; i++) {
    l->column[i] = place_of(&r, l->names[i]);
    if (l->column[i] >= 0) continue;
    const char **names = ag_heap_alloc(sizeof *names * (size_t)r.n_column);
    for (int k = 0; k < r.n_column; k++) names[k] = r.columns[k].name;
    const char *near = ag_nearest(l->names[i], r.n_column, names);
    ag_ctx_error(ctx, nowhere, "--level: there is no number `%s`%s%s%s", l->names[i], near ? "; did you mean `" : "",
                 near ? near : "", near ? "`?" : "");
    free(names);
  }
  ag_record_done(&r);
  return ctx->n_error ? AG_WRONG : AG_OK;
}

ag_status ag_levels_choose(ag_levels *l, ag_ctx *ctx, const ag_system *sys, const ag_members_request *r,
                           const ag_grid *sweep) {
  ag_status status = find_columns(l, ctx, sys);
  bool chosen = l->n_solve > 0;
  for (int i = 0; i < l->n && !chosen && status == AG_OK; i++) {
    ag_text list = {0}, what = {0};
    int n = 0;
    ag_text_printf(&what, "the level %s", l->texts[i]);
    velocities(l, sys, r, sweep, &list, &n);
    status = take_only(l, ctx, what.s, n, &list);
    ag_text_done(&list);
    ag_text_done(&what);
  }
  if (status == AG_OK && !chosen && l->section && !on_section(l, sys)) {
    ag_text list = {0};
    int n = 0;
    coordinates(l, sys, r, sweep, &list, &n);
    status = take_only(l, ctx, "the section", n, &list);
    ag_text_done(&list);
  }
  if (status != AG_OK) return status;
  if (l->n_solve < l->n || l->n_solve > l->n + (l->section > 0)) {
    ag_ctx_error(ctx, nowhere, "--solve names %d start value%s for %d level%s%s", l->n_solve,
                 l->n_solve == 1 ? "" : "s", l->n, l->n == 1 ? "" : "s",
                 l->section ? " and the section (which needs one when the start does not lie on it)" : "");
    return AG_WRONG;
  }
  for (int i = 0; i < l->n_solve; i++)
    if (held(l->solve[i], r, sweep)) {
      ag_ctx_error(ctx, nowhere, "`%s` is both solved for and swept or set", l->solve[i]);
      return AG_WRONG;
    }
  take_guesses(l, sys);
  return AG_OK;
}

/* ---- the model that all members share ---- */

/* The quantity of a level, as an expression; 0: not a function of the state. */
static ag_id expression_of(ag_system *sys, const char *name) {
  int entry;
  const ag_layout_row *row = ag_layout_find(sys, name, &entry);
  if (!row) return strcmp(name, "energy") ? 0 : ag_system_energy(sys);
  entry = entry > 0 ? entry : 0;
  return ag_entry(ag_system_graph(sys), row->x, entry / row->cols, entry % row->cols);
}

/* Level minus value for each, then the function of the section: how they move with the state and the parameters. */
static ag_status differentiate(ag_levels *l, ag_ctx *ctx, const ag_varied *v, ag_id *values, int n_name) {
  ag_system *sys = ag_varied_system(v);
  for (int i = 0; i < l->n; i++) {
    ag_id x = expression_of(sys, l->names[i]);
    if (x) values[i] = ag_sub(ag_system_graph(sys), x, values[i]);
    else ag_ctx_error(ctx, nowhere, "--level: `%s` is not a function of the state", l->names[i]);
  }
  if (ctx->n_error) return AG_WRONG;
  if (l->section) values[l->n] = ag_model_sections(ag_system_model(sys))[l->section - 1].x;
  l->along = ag_along_create(sys, l->n + (l->section > 0), values);
  l->starts = ag_start_along_create(sys, n_name, ag_varied_offsets(v));
  return AG_OK;
}

ag_status ag_levels_bind(ag_levels *l, ag_ctx *ctx, const ag_varied *v, int n_name) {
  if (!l->n_solve) return AG_OK;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(l->n + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < l->n && status == AG_OK; i++) {
    size_t from = strlen(l->names[i]) + 1;
    status =
        ag_lang_expression(ctx, ag_varied_model(v), "--level", l->texts[i], from, strlen(l->texts[i] + from), &x[i]);
  }
  if (status == AG_OK && l->n) l->tape = ag_varied_tape(v, l->n, x);
  if (status == AG_OK) status = find_columns(l, ctx, ag_varied_system(v));
  if (status == AG_OK) status = differentiate(l, ctx, v, x, n_name);
  free(x);
  return status;
}
