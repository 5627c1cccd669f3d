/* SPDX-License-Identifier: MIT
 * The members of a batch as numbers. The model is read as it stands, to see what is swept and solved for, and derived
 * once for all members; a member is then a vector of parameters and its completed start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/study_internal.h"

static const ag_pos nowhere = {0};

/* ---- ends of ranges ---- */

/* The value of an expression of the parameters: each put in its place, the last one first. */
static bool value_of(ag_model *m, ag_id x, double *value) {
  for (int k = ag_model_n_params(m) - 1; k >= 0; k--)
    if (ag_model_params(m)[k].input)
      ag_substitute(ag_model_graph(m), 1, &ag_model_params(m)[k].input, &ag_model_params(m)[k].value, 1, &x);
  return ag_constant(ag_model_graph(m), x, value) && isfinite(*value);
}

/* Those that are expressions of the parameters. */
static ag_status find_ends(ag_members *m, ag_model *plain) {
  for (int i = 0; i < m->grid.n_axis; i++) {
    ag_axis *a = &m->grid.axes[i];
    double ends[2];
    ag_id x;
    for (int k = 0; k < 2 && !a->values; k++) {
      AG_TRY(ag_lang_expression(&m->ctx, plain, "--sweep", a->range, a->from[k], a->size[k], &x));
      if (value_of(plain, x, &ends[k])) continue;
      ag_ctx_error(&m->ctx, nowhere, "--sweep %s: this end is not a finite number", a->range);
      return AG_WRONG;
    }
    if (!a->values) ag_grid_ends(a, ends[0], ends[1]);
  }
  return AG_OK;
}

/* ---- starts ---- */

/* A start on the level: sets the values that are solved for, NaN when there is none. */
static ag_status solve_start(ag_members *m, long i, const ag_levels *levels, const ag_members_request *r, ag_ctx *ctx,
                             double *params, double *x) {
  double *values = m->values + i * m->grid.n_name;
  const char *why = ag_varied_params(m->varied, values, params);
  if (why) {
    ag_ctx_error(ctx, nowhere, "parameter `%s` is not finite", why);
    return AG_WRONG;
  }
  why = ag_levels_solve(levels, &(ag_levels_member){m->varied, r->t0, r->strict, m->grid.n_name, values, params, x});
  if (!why) return AG_OK;
  ag_ctx_error(ctx, nowhere, "%s", why);
  m->off_level[i] = true;
  m->n_off_level++;
  return AG_WRONG;
}

static void make_room(ag_members *m) {
  const ag_system *sys = ag_varied_system(m->varied);
  size_t n = (size_t)m->n;
  m->values = ag_heap_alloc(sizeof(double) * (n * (size_t)m->grid.n_name + 1));
  m->index = ag_heap_alloc(sizeof *m->index * (n + 1));
  m->params = ag_heap_alloc(sizeof(double) * (n * (size_t)ag_system_dims(sys)->param + 1));
  m->x0 = ag_heap_alloc(sizeof(double) * (n * (size_t)(ag_system_dims(sys)->x) + 1));
  m->reason = ag_heap_alloc(sizeof *m->reason * (n + 1));
  m->own = ag_heap_alloc(sizeof *m->own * (n + 1));
  m->off_level = ag_heap_alloc(n + 1);
}

static void complete_starts(ag_members *m, const ag_levels *levels, const ag_members_request *r) {
  const ag_system *sys = ag_varied_system(m->varied);
  long n_warned = 0, first = 0;
  ag_text warning = {0};
  for (long i = 0; i < m->n; i++) {
    double *values = m->values + i * m->grid.n_name, *params = m->params + m->n_ready * ag_system_dims(sys)->param;
    double *x = m->x0 + m->n_ready * ag_system_dims(sys)->x;
    ag_ctx ctx = {0};
    ag_grid_values(&m->grid, i, values);
    ag_status status = m->grid.n_solved ? solve_start(m, i, levels, r, &ctx, params, x)
                                        : ag_varied_start_own(&ctx, m->varied, values, params, x, &m->own[m->n_ready]);
    if (status == AG_OK) m->index[m->n_ready++] = i;
    else m->reason[i] = ag_api_first_error(&ctx);
    if (status == AG_OK && ctx.n_diag && !n_warned++) {
      first = i + 1;
      ag_text_str(&warning, ctx.diags[0].message);
    }
    ag_ctx_done(&ctx);
  }
  if (n_warned)
    ag_ctx_warn(&m->ctx, (ag_pos){0}, "the starts of %ld of %ld members: for member %ld, %s", n_warned, m->n, first,
                ag_text_cstr(&warning));
  ag_text_done(&warning);
}

/* ---- the front ---- */

static ag_derive_options derive_options(const ag_members_request *r) {
  return (ag_derive_options){.strict = r->strict, .t0 = r->t0, .multipliers = r->multipliers, .by_cost = r->by_cost};
}

/* What is solved for, decided on the model as it stands. */
static ag_status choose_solved(ag_members *m, ag_model *plain, ag_levels *l, const ag_members_request *r) {
  if (r->section && !(m->section = ag_api_section(&m->ctx, plain, r->section))) return AG_WRONG;
  l->section = m->section;
  if (!l->n && !l->n_solve) return AG_OK;
  ag_derive_options how = derive_options(r);
  const ag_system *sys = ag_api_system(r->model, &how);
  if (!sys) return ag_api_status(r->model);
  AG_TRY(ag_levels_choose(l, &m->ctx, sys, r, &m->grid));
  ag_grid_solve(&m->grid, l->n_solve, l->solve, l->guess);
  return AG_OK;
}

/* The equations are derived as one member has them; the first, the middle and the last one are tried. */
static ag_status derive(ag_members *m, const ag_members_request *r) {
  long tries[3] = {0, m->n / 2, m->n - 1};
  const char *option = r->starts && !r->sweeps.n ? "--starts" : "--sweep";
  ag_derive_options how = derive_options(r);
  double *values = ag_heap_alloc(sizeof *values * (size_t)(m->grid.n_name + 1));
  for (int i = 0; i < 3 && !m->varied; i++) {
    ag_ctx_done(&m->ctx);
    ag_grid_values(&m->grid, tries[i], values);
    m->varied =
        ag_varied_create(&m->ctx, r->model, option, m->grid.n_name, (const char *const *)m->grid.names, values, &how);
  }
  free(values);
  return m->varied ? AG_OK : AG_WRONG;
}

static ag_status load(ag_members *m, ag_levels *levels, const ag_members_request *r) {
  ag_model *plain = ag_api_model(r->model);
  m->n = m->grid.n;
  if (!plain) return ag_api_status(r->model);
  AG_TRY(choose_solved(m, plain, levels, r));
  AG_TRY(find_ends(m, plain));
  for (int i = 0; i < m->grid.n_axis && r->starts; i++)
    if (m->grid.axes[i].cut)
      ag_ctx_warn(&m->ctx, (ag_pos){0},
                  "the last line of %s has no end: if the file was cut off, so is its last number", r->starts);
  AG_TRY(derive(m, r));
  return ag_levels_bind(levels, &m->ctx, m->varied, m->grid.n_name);
}

ag_status ag_members_create(ag_members *m, const ag_members_request *r, ag_text *usage) {
  ag_levels levels;
  *m = (ag_members){0};
  ag_status status = ag_levels_read(&levels, &r->levels, r->solve, usage);
  if (status == AG_OK) status = ag_grid_read(&m->grid, &r->sweeps, r->starts, r->table, usage);
  if (status == AG_OK) status = load(m, &levels, r);
  if (status == AG_OK) {
    make_room(m);
    complete_starts(m, &levels, r);
  }
  ag_levels_done(&levels);
  return status;
}

void ag_members_done(ag_members *m) {
  for (long i = 0; m->reason && i < m->n; i++) free(m->reason[i]);
  void *all[] = {m->values, m->index, m->params, m->x0, m->reason, m->off_level, m->own};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ag_varied_free(m->varied);
  ag_grid_done(&m->grid);
  ag_ctx_done(&m->ctx);
  *m = (ag_members){0};
}
