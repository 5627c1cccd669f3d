/* SPDX-License-Identifier: MIT
 * What is integrated and recorded of an ensemble, and its compiled unit. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "run/fused.h"
#include "run/run_internal.h"
#include "run/walk.h"
#include "run/walk_args.h"

static const char args_text[] =
#include "walk_args_text.inc"
    ;
static const char flow_text[] =
#include "walk_flow_core_text.inc"
    ;
static const char unit_text[] =
#include "unit_core_text.inc"
    ;
static const char project_text[] =
#include "project_core_text.inc"
    ;
static const char turn_text[] =
#include "turn_core_text.inc"
    ;
static const char walk_text[] =
#include "walk_core_text.inc"
    ;

/* ---- columns ---- */

/* All columns that are functions of the state are one tape, that of a single run: its last digits do not depend on
 * what is wanted. It serves if all wanted ones are among its results. */
static void pick_functions(ag_walk_plan *p, int n_function) {
  for (int i = 0; i < p->n_value; i++) {
    int k = 0;
    while (k < n_function && p->functions_at[k] != p->at[i]) k++;
    if (k == n_function) return;
    p->pick[i] = k;
  }
  p->columns = p->functions;
  p->functions = NULL;
}

/* The numbers of passages, apart from those of rows: they are read in every step. */
static void choose_passages(ag_walk_plan *p, ag_system *sys, const ag_id *outs) {
  const bool copies = !ag_system_role(sys, AG_ROLE_AGREE) && ag_system_corrects(sys);
  const int n = 2 * p->o->n_passage;
  bool ignored;
  if (!p->settles && !copies) p->passages = ag_system_reduced_tape(sys, n, outs, &ignored);
  p->direct = p->passages != NULL;
  if (!p->direct) p->passages = ag_system_tape(sys, n, outs, &ignored);
}

/* The wanted columns on z, without the reconstructed states where possible; else from records. */
static void choose_columns(ag_walk_plan *p, ag_system *sys) {
  const ag_dims *dims = ag_system_dims(sys);
  ag_record record;
  bool rest = false, implicit = ag_stepper_solves(p->o->method);
  ag_record_init(&record, sys);
  const int n_passage = p->o->n_passage;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(record.n_column + 2 * n_passage + 1));
  p->at = ag_heap_alloc(sizeof *p->at * (size_t)(record.width + 1));
  p->pick = ag_heap_alloc(sizeof *p->pick * (size_t)(record.width + 2 * n_passage + 1));
  int n = 0;
  bool expressed = true;
  for (int i = 0; i < record.n_column; i++) {
    const ag_column *c = &record.columns[i];
    if (!p->o->columns[i]) continue;
    expressed = expressed && c->x;
    outs[n] = c->x;
    if (c->x) ag_system_related(sys, 1, &outs[n]);
    n++;
    for (int k = 0; k < c->rows * c->cols; k++) p->at[p->n_value++] = c->offset + k;
  }
  for (int i = 0; i < n_passage; i++) {
    outs[n + 2 * i] = p->o->passages[i].x;
    ag_system_related(sys, 1, &outs[n + 2 * i]);
    outs[n + 2 * i + 1] = ag_system_spread(sys, outs[n + 2 * i]);
  }
  p->n_out = p->n_value + 2 * n_passage;
  /* With a basis or constraints on positions velocities are long expressions, whose last digits depend on what else a
   * tape computes: they are taken from records. */
  if (expressed && !p->settles && !p->project && !p->turn)
    p->columns = ag_system_reduced_tape(sys, n + 2 * n_passage, outs, &rest);
  if (p->columns && !ag_system_role(sys, AG_ROLE_AGREE) && ag_system_corrects(sys)) { /* a copy, for each row */
    ag_tape_free(p->columns);
    p->columns = NULL;
  }
  p->joint = p->columns != NULL;
  if (!p->joint && n_passage) choose_passages(p, sys, outs + n);
  p->core = p->columns && !rest && !implicit && dims->core < dims->z && !ag_system_role(sys, AG_ROLE_MINOR);
  p->n = p->core ? dims->core : dims->z;
  if (!p->core && !p->settles) p->agree = ag_system_role(sys, AG_ROLE_AGREE);
  p->functions_at = ag_heap_alloc(sizeof *p->functions_at * (size_t)(record.width + 1));
  if (!p->columns && !p->settles) p->functions = ag_run_columns(sys, &(ag_run_options){.noise = AG_NOISE_PATH});
  const int n_function = ag_run_columns_at(sys, p->functions_at);
  for (int i = 0; i < p->n_out; i++) p->pick[i] = i;
  if (p->functions) pick_functions(p, n_function);
  free(outs);
  ag_record_done(&record);
}

/* ---- the unit ---- */

/* Why paths cannot go through lanes; NULL: they can. */
static const char *obstacle(const ag_system *sys, bool settles) {
  if (ag_system_elimination(sys) == AG_ELIM_SADDLE) return "velocities are taken back onto the constraints on the way";
  if (settles) return "constraints are chosen or solved anew on the way";
  if (ag_system_role(sys, AG_ROLE_MINOR)) return "the domain in which velocities can be solved for is watched";
  return NULL;
}

static void put_defines(const ag_walk_plan *p, ag_text *out) {
  const ag_stepper *s = p->o->method;
  ag_step_room room = ag_stepper_room(s, p->n, p->n_tangent, ag_flow_square(p->table, p->n_tangent));
  ag_text_printf(out, "\n#define AG_STEP_N %d\n#define AG_STEP_END %zu\n#define AG_WALK_ROOM %zu\n", p->n, room.end,
                 room.size);
  ag_text_printf(out, "#define AG_WALK_OWN %d\n#define AG_WALK_CHANNELS %d\n#define AG_WALK_DRAWS %d\n", room.own,
                 p->path.channels, p->draws);
  ag_text_printf(out, "#define AG_WALK_SKIP %d\n#define AG_WALK_UNITS %d\n", p->skips, p->n_unit);
  ag_text_printf(out, "#define AG_WALK_CUT %d\n", isfinite(p->most));
  ag_text_printf(out, "#define AG_WALK_OUT %d\n", p->columns ? p->columns->n_out : 0);
  ag_text_printf(out, "#define AG_WALK_PASSES %d\n", p->direct ? p->passages->n_out : 0);
  ag_text_printf(out, "#define AG_WALK_AGREE %d\n#define AG_WALK_POSITIONS %d\n", p->agree != NULL,
                 p->project ? ag_system_dims(p->sys)->g : 0);
  ag_text_printf(out, "#define AG_WALK_TURNS %d\n", p->turn != NULL);
  ag_fused_put_basis(p->renew, AG_TURN_RENEW_OF_PATH, ag_turn_most_of_path(s), out);
  ag_text_printf(out, "#define AG_STEP_M %d\n#define AG_STEP_N_FACTOR %d\n#define AG_STEP_U_AT %d\n", p->n_tangent,
                 p->n_factor, p->u_at);
  ag_text_printf(out, "#define AG_STEP_N_LAMBDA %d\n#define AG_JACOBIAN_STEP(w) %s\n#define AG_FINISH_STEP(w) %s\n",
                 ag_system_dims(p->sys)->lambda, p->jacobian && p->jacobian->n_need[AG_SEG_W] > 0 ? "w," : "",
                 p->finish && p->finish->n_need[AG_SEG_W] > 0 ? "w," : "");
  ag_fused_put_table(p->table, p->n_tangent, out);
  ag_text_printf(out, "#define AG_STEP_N_U %d\nstatic const ag_factor step_factors[] AG_MAYBE = {",
                 ag_system_dims(p->sys)->u);
  for (int i = 0; i < p->n_factor; i++)
    ag_text_printf(out, "{%d, %d, %d, %d}, ", (int)p->factors[i].kind, p->factors[i].z, p->factors[i].n,
                   p->factors[i].d);
  ag_text_str(out, "};\n");
  ag_fused_put_spins(p->finish && s->needs & AG_NEEDS_SPLIT, p->n_factor, p->spin, out);
  ag_text_printf(out, "#define AG_CANONICAL_OF(...)%s\n", p->canonical ? " __VA_ARGS__" : "");
  ag_text_str(out, "#define AG_UNITS(X)");
  for (int i = 0; i < p->n_unit; i++) ag_text_printf(out, " X(%d, 1, %d, 0, %d)", i, p->units[i].at, p->units[i].n);
  ag_text_char(out, '\n');
}

/* Kernels are bound by latency: with AVX2 and AVX-512 two vectors side by side are up to a third faster, but only clang
 * makes good code of them. */
static ag_unit *build(const ag_walk_plan *p, const ag_unit_spec *spec, ag_text *reason) {
  const int lanes = ag_build_lanes();
  ag_build_options usual = {.lanes = p->o->lanes, .compiler = p->o->compiler},
                   wide = {.lanes = 2 * lanes, .compiler = "clang"};
  ag_unit *unit = NULL;
  if (!usual.lanes && !usual.compiler && lanes >= 4) unit = ag_unit_create(spec, &wide, reason);
  return unit ? unit : ag_unit_create(spec, &usual, reason);
}

static ag_unit *compile(const ag_walk_plan *p, ag_text *reason) {
  const ag_stepper *s = p->o->method;
  ag_text defines = {0}, comment = {0};
  const char *texts[18], *const entries[] = {"ag_walk"};
  int n = 0, calls = 2 * (s->n_stage + 2);
  ag_text_str(&defines, "#define AG_MAYBE __attribute__((unused))\n");
  put_defines(p, &defines);
  ag_text_str(&defines, "#undef AG_MAYBE\n");
  ag_text_printf(&comment, "%s: paths by %s (%d components)", ag_model_name(ag_system_model(p->sys)), s->name, p->n);
  texts[n++] = ag_factor_text;
  texts[n++] = ag_wiener_text;
  texts[n++] = ag_wiener_core_text;
  texts[n++] = ag_text_cstr(&defines);
  texts[n++] = flow_text;
  for (int i = 0; i < AG_STEPPER_TEXTS && s->texts[i]; i++) texts[n++] = s->texts[i];
  texts[n++] = args_text;
  texts[n++] = unit_text;
  if (p->project) texts[n++] = project_text;
  if (p->turn) texts[n++] = turn_text;
  texts[n++] = walk_text;
  ag_unit_tape tapes[10] = {{"f", p->tape, calls, false, false}};
  ag_unit_spec spec = {.comment = ag_text_cstr(&comment),
                       .n_tape = 1,
                       .tapes = tapes,
                       .n_text = n,
                       .texts = texts,
                       .n_entry = 1,
                       .entries = entries,
                       .args = {"AG_WALK_ABI", "ag_walk_args", AG_WALK_ABI, sizeof(ag_walk_args)},
                       .params = p->params,
                       .unmarked = p->skips && !p->canonical && !ag_stepper_solves(p->o->method)};
  if (p->columns) tapes[spec.n_tape++] = (ag_unit_tape){"o", p->columns, 2, false, false};
  if (p->jacobian) tapes[spec.n_tape++] = (ag_unit_tape){"jacobian", p->jacobian, 2, false, false};
  if (p->finish) tapes[spec.n_tape++] = (ag_unit_tape){"finish", p->finish, 2, false, false};
  if (p->agree) tapes[spec.n_tape++] = (ag_unit_tape){"agree", p->agree, 2, false, false};
  if (p->canonical) tapes[spec.n_tape++] = (ag_unit_tape){"canonical", p->canonical, 4, false, false};
  if (p->project) tapes[spec.n_tape++] = (ag_unit_tape){"onto_g", p->project, 2, false, false};
  if (p->turn) tapes[spec.n_tape++] = (ag_unit_tape){"turning", p->turn, 6, false, false};
  if (p->renew) tapes[spec.n_tape++] = (ag_unit_tape){"renew", p->renew, 2, false, false};
  if (p->direct) tapes[spec.n_tape++] = (ag_unit_tape){"passes", p->passages, 2, false, false};
  ag_unit *unit = build(p, &spec, reason);
  ag_text_done(&defines);
  ag_text_done(&comment);
  return unit;
}

/* ---- the plan ---- */

static ag_status wrong(ag_ctx *ctx, const char *format, const char *a, const char *b) {
  ag_ctx_error(ctx, (ag_pos){0}, format, a, b);
  return AG_WRONG;
}

static ag_status check(ag_ctx *ctx, ag_system *sys, const ag_ensemble_options *o) {
  const ag_stepper *s = o->method;
  if (!ag_system_role(sys, AG_ROLE_INCREMENT))
    return wrong(ctx, "%s has no noise%s: `anagyre run` gives its one motion", ag_model_name(ag_system_model(sys)), "");
  const unsigned offers = AG_NEEDS_RHS | AG_NEEDS_JACOBIAN | AG_NEEDS_FACTORS | AG_NEEDS_PARTITION;
  const char *lacks = ag_stepper_lacks(s, offers | ag_run_noise(sys, s));
  const char *discrete = ag_system_discrete_lacks(sys, (ag_discrete_form)s->form, true);
  const bool large = ag_system_elimination(sys) == AG_ELIM_SADDLE;
  AG_TRY(ag_run_fits(ctx, sys, s));
  if (lacks && large)
    return wrong(ctx, "method %s needs %s, which large systems with noise do not offer", s->name, lacks);
  if (lacks && discrete && (s->needs & AG_NEEDS_RESIDUAL || ag_run_is_warm(sys, s)))
    return wrong(ctx, "method %s needs %s, which this system does not have", s->name, discrete);
  if (lacks) return wrong(ctx, "method %s needs %s, which motions with noise do not offer", s->name, lacks);
  for (int i = 0; i < o->n_passage; i++)
    if (ag_model_has_force(ag_system_model(sys), 1, &o->passages[i].x))
      return wrong(ctx, "first passage of a quantity that reads forces of constraint%s, which are white noise%s", "",
                   "");
  if (ag_system_rows_switch(sys))
    return wrong(ctx, "%s: constraints that switch (if, abs, min, max) are for single paths%s: `anagyre run --seed`",
                 ag_model_name(ag_system_model(sys)), "");
  return AG_OK;
}

/* The start; false: the equations cannot be evaluated there. */
static bool begin(ag_walk_plan *p, const double *x0) {
  const ag_dims *dims = ag_system_dims(p->sys);
  p->z0 = ag_heap_aligned(sizeof(double) * (size_t)(dims->z + 1));
  p->c0 = ag_heap_aligned(sizeof(double) * (size_t)(dims->c + 1));
  ag_work *w = ag_work_create(p->sys, p->params);
  int trouble = ag_work_reduce(w, p->o->t0, x0, p->c0, p->z0);
  ag_work_free(w);
  p->n_unit = p->settles ? 0 : ag_system_units(p->sys, p->n, NULL);
  p->units = ag_heap_alloc(sizeof *p->units * (size_t)(p->n_unit + 1));
  p->unit0 = ag_heap_alloc(sizeof(double) * (size_t)(p->n_unit + 1));
  if (p->n_unit) ag_system_units(p->sys, p->n, p->units);
  for (int i = 0; i < p->n_unit; i++)
    for (int k = 0; k < p->units[i].n; k++) {
      const double x = p->z0[p->units[i].at + k];
      p->unit0[i] = fma(x, x, p->unit0[i]);
    }
  return trouble == AG_FINE;
}

ag_status ag_walk_plan_init(ag_walk_plan *p, ag_ctx *ctx, ag_system *sys, const double *params, const double *x0,
                            const ag_ensemble_options *o, ag_text *note) {
  *p = (ag_walk_plan){.sys = sys, .o = o, .params = params};
  p->h = ldexp(o->path.base * o->path.multiple, -o->path.level);
  AG_TRY(check(ctx, sys, o));
  p->most = ag_run_cut(sys, o->method, p->h);
  p->settles = !ag_mover_in_place(sys, &(ag_run_options){.noise = AG_NOISE_PATH});
  if (!p->settles) {
    p->project = ag_system_role(sys, AG_ROLE_PROJECT);
    p->turn = ag_system_role(sys, AG_ROLE_TURN), p->renew = ag_system_role(sys, AG_ROLE_RENEW);
  }
  const char *why = obstacle(sys, p->settles);
  choose_columns(p, sys);
  p->role = ag_run_role(o->method), p->draws = o->method->draws, p->path = o->path;
  if (!p->path.area_level) p->path.area_level = ag_wiener_area_level(p->path.base);
  p->tape = ag_system_role(sys, p->role + (p->core ? AG_FIELD_CORE : 0));
  if (o->method->needs & AG_NEEDS_JACOBIAN) p->jacobian = ag_system_increment_jacobian(sys, ag_run_field(o->method));
  p->table = ag_system_table(sys, p->role + AG_FIELD_JACOBIAN);
  p->skips = !p->jacobian;
  if (o->method->needs & AG_NEEDS_RESIDUAL) {
    p->jacobian = ag_system_role(sys, ag_discrete_role(o->method, true));
    p->table = ag_system_table(sys, ag_discrete_role(o->method, true));
    p->finish = ag_system_role(sys, ag_discrete_role(o->method, true) + 1);
  }
  p->factors = ag_heap_alloc(sizeof *p->factors * (size_t)(ag_system_dims(sys)->z + 1));
  p->n_factor = ag_mover_factors(sys, p->core, p->factors, &p->n_tangent);
  p->u_at = ag_mover_velocities(sys, p->n_factor, p->factors);
  p->spin = ag_heap_alloc(sizeof *p->spin * (size_t)(p->n_factor + 1));
  ag_mover_spins(sys, p->n_factor, p->factors, p->spin);
  if (o->method->needs & AG_NEEDS_SPLIT) p->finish = ag_system_role(sys, AG_ROLE_INERTIA);
  if (ag_stepper_tests(o->method)) p->canonical = ag_system_role(sys, AG_ROLE_CANONICAL);
  AG_TRY(ag_run_warm(ctx, sys, params, o->method));
  if (!begin(p, x0)) return wrong(ctx, "the equations cannot be evaluated at the start%s%s", "", "");
  if (why) ag_text_str(note, why);
  else if (o->interpreted) ag_text_str(note, "the interpreter was requested");
  else p->unit = compile(p, note);
  return AG_OK;
}

void ag_walk_plan_done(ag_walk_plan *p) {
  ag_unit_free(p->unit);
  ag_tape_free(p->columns);
  ag_tape_free(p->passages);
  ag_tape_free(p->functions);
  void *all[] = {p->at, p->pick, p->functions_at, p->factors, p->spin, p->units, p->z0, p->c0, p->unit0};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  *p = (ag_walk_plan){0};
}

int ag_walk_width(const ag_walk_plan *p) { return p->unit ? 2 * ag_unit_lanes(p->unit) : 1; }
