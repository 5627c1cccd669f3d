/* SPDX-License-Identifier: MIT
 * A model whose values differ from member to member: the equations are derived once, a varied start value is a
 * parameter of its own, and a member is a vector of parameters and its completed start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

enum { MOST_KIN = 64 }; /* derivations for values that need other equations than the first */

struct ag_varied {
  ag_model *model;
  ag_system *system;
  anagyre_model *source;
  const char *option; /* where the names come from */
  char **names;
  ag_derive_options how;
  ag_varied *kin; /* the same model derived for values that need other equations than those before; or NULL */
  int n_kin;
  double t0;
  bool strict, fixed; /* fixed: the start depends on nothing that varies */
  int n_name;
  bool *is_param;      /* per name */
  int *at;             /* per name: offset of its parameter */
  int n_follow;        /* parameters that depend on those, in order: */
  int *follow;         /* which they are, */
  ag_tape *tape;       /* their values, */
  double *out, *slots; /* and its numbers */
};

/* ---- what varies ---- */

static const ag_param *param_of(const ag_model *m, const char *name) {
  for (int i = 0; i < ag_model_n_params(m); i++)
    if (!strcmp(ag_model_params(m)[i].name, name)) return &ag_model_params(m)[i];
  return NULL;
}

/* Is it a parameter, or an entry of one ("v[2]")? */
static bool is_param(const ag_model *m, const char *name) {
  size_t n = strcspn(name, "[ ");
  for (int i = 0; i < ag_model_n_params(m); i++)
    if (!strncmp(ag_model_params(m)[i].name, name, n) && !ag_model_params(m)[i].name[n]) return true;
  return false;
}

/* What cannot vary is refused by its name. */
static ag_status check_names(ag_ctx *ctx, const anagyre_model *a, const ag_model *m, int n, const char *const *names) {
  int before = ctx->n_error;
  for (int i = 0; i < n; i++) {
    const ag_param *p = param_of(m, names[i]);
    if (p && p->integer)
      ag_ctx_error(ctx, ag_api_nowhere,
                   "`%s` is an integer parameter: it shapes the equations and cannot be swept; run once per value with "
                   "--set",
                   names[i]);
    else if (p && !ag_is_scalar(ag_model_nodes(m), p->input))
      ag_ctx_error(ctx, ag_api_nowhere, "`%s` is not a single number: only numbers can be swept", names[i]);
    for (int k = 0; k < a->n_set; k++)
      if (!strcmp(a->sets[k].name, names[i]))
        ag_ctx_error(ctx, ag_api_nowhere, "`%s` is swept and given by --set too", names[i]);
    for (int k = 0; k < i; k++)
      if (!strcmp(names[k], names[i])) ag_ctx_error(ctx, ag_api_nowhere, "`%s` is swept twice", names[i]);
  }
  return ctx->n_error > before ? AG_WRONG : AG_OK;
}

static ag_status check_starts(ag_ctx *ctx, const ag_varied *v, const ag_vary *varies) {
  int before = ctx->n_error;
  for (int i = 0; i < v->n_name; i++) {
    bool used = v->is_param[i];
    for (int k = 0; k < ag_model_n_starts(v->model) && !used; k++)
      used = ag_depends(ag_model_graph(v->model), 1, &ag_model_starts(v->model)[k].x, 1,
                        &ag_model_params(v->model)[varies[i].param].input);
    for (int k = 0; k < ag_model_n_processes(v->model) && !used; k++) {
      ag_id start = ag_model_processes(v->model)[k].start;
      used = start &&
             ag_depends(ag_model_graph(v->model), 1, &start, 1, &ag_model_params(v->model)[varies[i].param].input);
    }
    if (!used) ag_ctx_error(ctx, ag_api_nowhere, "the start that `%s` names is swept twice", varies[i].name);
  }
  return ctx->n_error > before ? AG_WRONG : AG_OK;
}

/* Constant values and no constraints: the start depends on nothing that varies. */
static bool start_is_fixed(const ag_varied *v) {
  for (int i = 0; i < ag_model_n_processes(v->model); i++) {
    double x;
    ag_id start = ag_model_processes(v->model)[i].start;
    if (start && !ag_constant(ag_model_graph(v->model), start, &x)) return false;
  }
  for (int i = 0; i < ag_model_n_starts(v->model); i++) {
    double x[16];
    ag_id value = ag_model_starts(v->model)[i].x;
    int size = ag_node_rows(ag_model_graph(v->model), value) * ag_node_cols(ag_model_graph(v->model), value);
    if (size > 16 || !ag_constant(ag_model_graph(v->model), value, x)) return false;
  }
  return ag_system_dims(v->system)->row == 0;
}

/* The dependent parameters, as functions of those that vary. */
static void find_follow(ag_varied *v) {
  ag_model *m = v->model;
  const ag_system *sys = v->system;
  int n = ag_model_n_params(m), n_moved = 0, width = 0;
  ag_arena *arena = ag_arena_create();
  ag_id *moved = AG_NEWN(arena, ag_id, n + 1), *from = AG_NEWN(arena, ag_id, n + 1), *to = AG_NEWN(arena, ag_id, n + 1);
  bool *varies = AG_NEWN(arena, bool, n + 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < v->n_name && ag_model_params(m)[i].input; k++)
      if (v->at[k] == ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at)
        varies[i] = true, moved[n_moved++] = ag_model_params(m)[i].input;
  for (int i = 0; i < n; i++) { /* in the order of the file: each may use those before it */
    const ag_param *p = &ag_model_params(m)[i];
    if (!p->input) continue;
    ag_id x = p->value;
    if (varies[i] || !ag_depends(ag_model_graph(m), 1, &x, n_moved, moved)) continue;
    if (v->n_follow) ag_substitute(ag_model_graph(m), v->n_follow, from, to, 1, &x);
    from[v->n_follow] = moved[n_moved++] = p->input;
    to[v->n_follow] = x;
    v->follow[v->n_follow++] = i;
    width += ag_input_storage(ag_model_graph(m), p->input);
  }
  if (v->n_follow) v->tape = ag_varied_tape(v, v->n_follow, to);
  v->out = ag_heap_alloc(sizeof(double) * (size_t)(width + 1));
  v->slots = ag_heap_aligned(sizeof(double) * (size_t)(v->tape ? v->tape->n_slot + 1 : 1));
  ag_arena_free(arena);
}

ag_tape *ag_varied_tape(const ag_varied *v, int n, const ag_id *x) {
  ag_model *m = v->model;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_model_n_params(m) + 1));
  int n_bind = 0;
  for (int i = 0; i < ag_model_n_params(m); i++)
    if (ag_model_params(m)[i].input)
      binds[n_bind++] =
          (ag_bind){ag_model_params(m)[i].input, AG_SEG_P, ag_layout_item(v->system, AG_LAYOUT_PARAMETER, i)->at};
  ag_tape *tape = ag_tape_create(ag_model_graph(m), n_bind, binds, n, x);
  free(binds);
  return tape;
}

/* ---- making it ---- */

static ag_status derive(ag_ctx *ctx, anagyre_model *a, ag_varied *v, ag_vary *varies, const ag_derive_options *o) {
  AG_TRY(ag_lang_read_varied(ctx, a->path, a->text, a->size, a->n_set, a->sets, v->n_name, varies, &v->model));
  AG_TRY(ag_api_terminal(ctx, v->model, a->end_at));
  AG_TRY(ag_api_drive(ctx, v->model, a->drivers));
  AG_TRY(ag_system_create(ctx, v->model, o, &v->system));
  return check_starts(ctx, v, varies);
}

ag_varied *ag_varied_create(ag_ctx *ctx, anagyre_model *a, const char *option, int n_name, const char *const *names,
                            const double *values, const ag_derive_options *o) {
  const ag_model *plain = ag_api_model(a);
  if (!plain || check_names(ctx, a, plain, n_name, names) != AG_OK) return NULL;
  ag_varied *v = ag_heap_alloc(sizeof *v);
  ag_vary *varies = ag_heap_alloc(sizeof *varies * (size_t)(n_name + 1));
  *v = (ag_varied){.source = a, .option = option, .how = *o, .t0 = o->t0, .strict = o->strict, .n_name = n_name};
  v->names = ag_heap_alloc(sizeof *v->names * (size_t)(n_name + 1));
  v->is_param = ag_heap_alloc(sizeof *v->is_param * (size_t)(n_name + 1));
  v->at = ag_heap_alloc(sizeof *v->at * (size_t)(n_name + 1));
  v->follow = ag_heap_alloc(sizeof *v->follow * (size_t)(ag_model_n_params(plain) + n_name + 1));
  for (int i = 0; i < n_name; i++) {
    varies[i] = (ag_vary){names[i], values[i], -1, option};
    v->is_param[i] = is_param(plain, names[i]);
    v->names[i] = ag_api_copy(names[i]);
  }
  bool good = derive(ctx, a, v, varies, o) == AG_OK;
  if (good) {
    for (int i = 0; i < n_name; i++) v->at[i] = ag_layout_item(v->system, AG_LAYOUT_PARAMETER, varies[i].param)->at;
    find_follow(v);
    v->fixed = start_is_fixed(v);
  } else {
    ag_varied_free(v);
  }
  free(varies);
  return good ? v : NULL;
}

void ag_varied_free(ag_varied *v) {
  if (!v) return;
  ag_varied_free(v->kin);
  for (int i = 0; i < v->n_name; i++) free(v->names[i]);
  ag_tape_free(v->tape);
  ag_system_free(v->system);
  ag_model_free(v->model);
  void *all[] = {v->names, v->is_param, v->at, v->follow, v->out, v->slots, v};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

ag_model *ag_varied_model(const ag_varied *v) { return v->model; }
ag_system *ag_varied_system(const ag_varied *v) { return v->system; }
bool ag_varied_is_param(const ag_varied *v, int k) { return v->is_param[k]; }
const int *ag_varied_offsets(const ag_varied *v) { return v->at; }

/* ---- members ---- */

const char *ag_varied_params(ag_varied *v, const double *values, double *params) {
  const ag_system *sys = v->system;
  const ag_model *m = v->model;
  memcpy(params, ag_system_param_values(sys), sizeof *params * (size_t)ag_system_dims(sys)->param);
  for (int i = 0; i < v->n_name; i++) params[v->at[i]] = values[i];
  if (!v->n_follow) return NULL;
  const double t = 0, *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_P] = params};
  (void)ag_tape_prep(v->tape, params, v->slots);
  (void)ag_tape_eval(v->tape, seg, v->slots, v->out);
  for (int i = 0, at = 0; i < v->n_follow; i++) {
    const ag_param *p = &ag_model_params(m)[v->follow[i]];
    for (int k = 0, n = ag_input_storage(ag_model_nodes(m), p->input); k < n; k++, at++) {
      if (!isfinite(v->out[at])) return p->name;
      params[ag_layout_item(sys, AG_LAYOUT_PARAMETER, v->follow[i])->at + k] = v->out[at];
    }
  }
  return NULL;
}

ag_status ag_varied_start(ag_ctx *ctx, ag_varied *v, const double *values, double *params, double *x) {
  const char *bad = ag_varied_params(v, values, params);
  if (bad) {
    ag_ctx_error(ctx, ag_api_nowhere, "parameter `%s` is not finite", bad);
    return AG_WRONG;
  }
  if (!v->fixed) return ag_system_start(ctx, v->system, v->t0, params, v->strict, x, x + ag_system_dims(v->system)->q);
  ag_system_state0(v->system, x);
  return AG_OK;
}

/* ---- members that the equations do not suit ---- */

static bool suits(const ag_varied *v, const double *params, const double *x) {
  if (!ag_system_dims(v->system)->row) return true;
  ag_work *w = ag_work_create(v->system, params);
  bool good = ag_work_suits(w, v->t0, x);
  ag_work_free(w);
  return good;
}

/* Derives the model for these values, as the last of the kin. NULL: errors are in ctx. */
static ag_varied *add_kin(ag_ctx *ctx, ag_varied *v, const double *values) {
  ag_varied *last = v;
  while (last->kin) last = last->kin;
  v->n_kin++;
  return last->kin =
             ag_varied_create(ctx, v->source, v->option, v->n_name, (const char *const *)v->names, values, &v->how);
}

ag_status ag_varied_start_own(ag_ctx *ctx, ag_varied *v, const double *values, double *params, double *x,
                              ag_system **own) {
  *own = NULL;
  AG_TRY(ag_varied_start(ctx, v, values, params, x));
  if (suits(v, params, x)) return AG_OK;
  ag_ctx_done(ctx);
  for (ag_varied *k = v->kin; k; k = k->kin) {
    *own = k->system;
    if (ag_varied_start(ctx, k, values, params, x) == AG_OK && suits(k, params, x)) return AG_OK;
    ag_ctx_done(ctx);
  }
  *own = NULL;
  ag_varied *k = v->n_kin < MOST_KIN ? add_kin(ctx, v, values) : v;
  if (!k) return AG_WRONG;
  ag_ctx_done(ctx); /* notes of the derivation were made for the first member, too */
  if (k != v) *own = k->system;
  return ag_varied_start(ctx, k, values, params, x);
}
