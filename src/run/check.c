/* SPDX-License-Identifier: MIT
 * What a run needs, and options that it refuses. */
#include <math.h>

#include "run/run_internal.h"

ag_derive_options ag_run_derive(const ag_run_options *o, bool strict) {
  const unsigned offered = AG_NEEDS_RHS | AG_NEEDS_FACTORS;
  bool path = o->noise == AG_NOISE_PATH, explicit = !o->method || !(o->method->needs & ~offered);
  return (ag_derive_options){.strict = strict,
                             .t0 = o->t0,
                             .multipliers = o->multipliers && !path,
                             .by_cost = !o->multipliers && !o->eliminated && !path && !o->project && explicit};
}

const char *ag_run_closure(const ag_system *sys, const ag_run_options *o) {
  bool by_cost = ag_system_elimination(sys) == AG_ELIM_SADDLE && ag_closure_sparse(sys);
  return o->multipliers ? "multipliers" : by_cost ? "auto" : "eliminated";
}

bool ag_run_full(const ag_system *sys, const ag_run_options *o) {
  const ag_dims *n = ag_system_dims(sys);
  if (!o->multipliers || !(n->switches || n->pulses) || o->noise == AG_NOISE_PATH) return o->multipliers;
  return n->row && ag_system_elimination(sys) != AG_ELIM_SADDLE; /* rows that were dropped may begin to act */
}

void ag_run_prepare(ag_system *sys, const ag_run_options *o) {
  bool can = !o->multipliers && ag_system_elimination(sys) != AG_ELIM_SADDLE;
  bool noise = o->noise == AG_NOISE_PATH && ag_system_dims(sys)->channel;
  if (o->method && o->method->needs & AG_NEEDS_JACOBIAN && can)
    (void)(noise ? ag_system_increment_jacobian(sys, ag_run_field(o->method)) : ag_system_turn_jacobian(sys));
  if (o->method && noise && can) (void)ag_run_noise(sys, o->method);
  if (o->method && o->method->needs & AG_NEEDS_RESIDUAL && can && !noise)
    (void)ag_system_discrete(sys, (ag_discrete_form)o->method->form, false);
  if (o->method && o->method->needs & AG_NEEDS_GRADIENT && can) (void)ag_system_poisson(sys);
  if (o->project && can && !noise) (void)ag_system_levels(sys, o->project);
  if (!ag_run_full(sys, o) && ag_system_elimination(sys) != AG_ELIM_SADDLE) (void)ag_system_power(sys);
  /* rows may begin or cease to act on the way */
  const ag_dims *n = ag_system_dims(sys);
  if (!noise && (n->switches || n->pulses)) ag_system_branched(sys);
}

static unsigned noise_offers(const ag_system *sys, const ag_stepper *s) {
  bool has = ag_system_role(sys, ag_run_role(s)), bath = has && s->follows == AG_FOLLOWS_BATH,
       brackets = has && (s->follows == AG_FOLLOWS_LOG || s->follows == AG_FOLLOWS_ITO);
  bool discrete = s->needs & AG_NEEDS_RESIDUAL && s->form != AG_DISCRETE_SPARK &&
                  ag_system_role(sys, ag_discrete_role(s, true));
  return (ag_system_role(sys, AG_ROLE_INCREMENT) ? AG_NEEDS_NOISE : 0u) | (brackets ? AG_NEEDS_BRACKETS : 0u) |
         (discrete ? AG_NEEDS_RESIDUAL : 0u) | (ag_system_is_one_sided(sys) ? AG_NEEDS_ONE_SIDED : 0u) |
         (bath ? AG_NEEDS_BATH : 0u) | (bath && ag_system_is_split(sys) ? AG_NEEDS_SPLIT : 0u) |
         (bath && ag_system_role(sys, AG_ROLE_CANONICAL) ? AG_NEEDS_CANONICAL : 0u);
}

/* The kind of the parts without friction, for methods with a Metropolis test. */
static ag_canonical tested(const ag_stepper *s) {
  return s->needs & AG_NEEDS_RESIDUAL ? AG_CANONICAL_RATTLE
         : s->needs & AG_NEEDS_SPLIT  ? AG_CANONICAL_SPLIT
                                      : AG_CANONICAL_MIDPOINT;
}

unsigned ag_run_noise(ag_system *sys, const ag_stepper *s) {
  (void)ag_system_field(sys, ag_run_field(s));
  if (s->needs & AG_NEEDS_SPLIT) (void)ag_system_splits(sys);
  if (s->needs & AG_NEEDS_RESIDUAL && s->needs & AG_NEEDS_BATH) (void)ag_system_quiet(sys);
  else if (s->needs & AG_NEEDS_RESIDUAL) (void)ag_system_discrete(sys, (ag_discrete_form)s->form, true);
  if (s->needs & AG_NEEDS_ONE_SIDED) (void)ag_system_one_sided(sys);
  if (ag_stepper_tests(s)) (void)ag_system_canonical(sys, tested(s));
  return noise_offers(sys, s);
}

/* Where equations switch, rates of velocities may come to depend on velocities. */
static bool has_second(const ag_system *sys) {
  const ag_dims *d = ag_system_dims(sys);
  int *rate = ag_heap_alloc(sizeof *rate * (size_t)(d->z + 1));
  bool second = !d->switches && ag_system_elimination(sys) != AG_ELIM_SADDLE &&
                ag_tape_second_order(ag_system_role(sys, AG_ROLE_RHS), d->z, rate);
  free(rate);
  return second;
}

/* What the equations in this form offer to a method. */
static unsigned offers(const ag_system *sys, const ag_run_options *o) {
  if (o->multipliers) return AG_NEEDS_RHS;
  int role = o->noise == AG_NOISE_PATH ? ag_run_role(o->method) + AG_FIELD_JACOBIAN : AG_ROLE_TURN_JACOBIAN;
  unsigned jacobian = ag_system_role(sys, role) ? AG_NEEDS_JACOBIAN : 0u;
  bool noise = o->noise == AG_NOISE_PATH, discrete = o->method->needs & AG_NEEDS_RESIDUAL && !noise &&
                                                     ag_system_role(sys, ag_discrete_role(o->method, false));
  bool second = !noise && o->method->needs & AG_NEEDS_SECOND && has_second(sys);
  bool gradient = !noise && ag_system_role(sys, AG_ROLE_POISSON);
  return AG_NEEDS_RHS | AG_NEEDS_FACTORS | AG_NEEDS_PARTITION | jacobian | (discrete ? AG_NEEDS_RESIDUAL : 0u) |
         (second ? AG_NEEDS_SECOND : 0u) | (gradient ? AG_NEEDS_GRADIENT : 0u) |
         (noise ? noise_offers(sys, o->method) : AG_NEEDS_ONE_SIDED);
}

bool ag_run_is_warm(const ag_system *sys, const ag_stepper *s) {
  const int n = ag_model_n_baths(ag_system_model(sys));
  return s->needs & AG_NEEDS_BATH && n && n == ag_system_dims(sys)->channel;
}

static ag_status check_method(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  ag_pos nowhere = {0};
  if (!o->method) {
    ag_ctx_error(ctx, nowhere, "no method given");
    return AG_WRONG;
  }
  const char *lacks = ag_stepper_lacks(o->method, offers(sys, o));
  const ag_discrete_form form = (ag_discrete_form)o->method->form;
  const char *discrete = o->multipliers ? NULL : ag_system_discrete_lacks(sys, form, o->noise == AG_NOISE_PATH);
  const bool forms = o->method->needs & (AG_NEEDS_RESIDUAL | AG_NEEDS_GRADIENT) || ag_run_is_warm(sys, o->method);
  if (lacks && forms && discrete) {
    ag_ctx_error(ctx, nowhere, "method %s needs %s, which this system does not have", o->method->name, discrete);
    return AG_WRONG;
  }
  if (lacks) {
    ag_ctx_error(ctx, nowhere, "method %s needs %s, which %s not offer", o->method->name, lacks,
                 o->multipliers                                 ? "the equations with multipliers do"
                 : o->noise != AG_NOISE_PATH                    ? "this system does"
                 : ag_system_elimination(sys) == AG_ELIM_SADDLE ? "large systems with noise do"
                                                                : "a path with noise does");
    return AG_WRONG;
  }
  if (o->dt <= 0 && !o->method->error_order) {
    ag_ctx_error(ctx, nowhere, "method %s has no error estimate: it needs a fixed step (--dt)", o->method->name);
    return AG_WRONG;
  }
  return AG_OK;
}

/* A model with noise is not run without an explicit choice. */
static ag_status refuse_noise(ag_ctx *ctx, const ag_system *sys) {
  int n;
  const ag_layout_row *channels = ag_layout_rows(sys, AG_LAYOUT_NOISE, &n);
  ag_text names = {0};
  for (int i = 0; i < n && i < 8; i++) ag_text_printf(&names, "%s%s", i ? ", " : "", channels[i].name);
  ag_ctx_error(ctx, (ag_pos){0},
               "the model has noise (%s%s): --seed S follows one path of it, --noise off runs it without",
               ag_text_cstr(&names), n > 8 ? ", ..." : "");
  ag_text_done(&names);
  return AG_WRONG;
}

ag_wiener ag_run_path(const ag_system *sys, const ag_run_options *o) {
  double nearest[2];
  ag_wiener w = {.seed = o->seed,
                 .base = o->dt_base > 0 ? o->dt_base : ag_wiener_near(o->dt),
                 .channels = ag_system_dims(sys)->channel};
  w.area_level = ag_wiener_area_level(w.base);
  (void)ag_wiener_fit(&w, o->dt, nearest);
  return w;
}

/* An error about step sizes: the numbers take the place of @ in turn, in as few digits as they need. */
static ag_status refuse_step(ag_ctx *ctx, const char *text, int n, const double *v) {
  ag_text out = {0};
  for (int i = 0; *text; text++) {
    if (*text == '@' && i < n) ag_text_number(&out, v[i++]);
    else ag_text_char(&out, *text);
  }
  ag_ctx_error(ctx, (ag_pos){0}, "%s", ag_text_cstr(&out));
  ag_text_done(&out);
  return AG_WRONG;
}

/* Steps fit the grid of the path and the time. */
static ag_status check_grid(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  double near[2], rows = o->every / o->dt;
  unsigned long long steps;
  ag_wiener w = ag_run_path(sys, o);
  const bool fits = ag_wiener_fit(&w, o->dt, near);
  if (!fits || !ag_wiener_divides(&w, o->dt, o->t1 - o->t0, &steps, near)) {
    if (o->dt_base > 0 && !ag_wiener_suitable(&w, o->dt, o->t1 - o->t0, near))
      return refuse_step(ctx, "no step on a grid of @ (--dt-base) divides the time from @ to @", 3,
                         (double[]){w.base, o->t0, o->t1});
    return fits ? refuse_step(ctx, "the step @ does not divide the time from @ to @; the nearest that do are @ and @",
                              5, (double[]){o->dt, o->t0, o->t1, near[0], near[1]})
                : refuse_step(ctx,
                              "the step @ does not fit the path, which is defined on a grid of @: steps are multiples "
                              "of it, or 1/2, 1/4, ... of it; the nearest are @ and @",
                              4, (double[]){o->dt, w.base, near[0], near[1]});
  }
  if (o->every > 0 && fabs(rows - floor(rows + 0.5)) > 1e-9 * rows)
    return refuse_step(ctx, "rows every @: with noise a motion is known at its steps alone; give a multiple of @", 2,
                       (double[]){o->every, o->dt});
  return AG_OK;
}

static const char large_noise[] =
    "large systems with noise have no form with multipliers of its own: leave out --closure";

/* The reason why a path with noise cannot be followed, or NULL. */
static const char *obstacle(const ag_system *sys, const ag_run_options *o) {
  if (!ag_system_dims(sys)->channel) return "the model has no noise: there are no paths to choose from";
  if (!(o->dt > 0)) return "a path with noise has fixed steps: give --dt";
  if (!(o->t1 > o->t0)) return "a path with noise runs forward: t1 must be larger than t0";
  if (o->section) return "sections are not located on a path with noise";
  if (o->multipliers && !ag_system_role(sys, AG_ROLE_NOISE)) return large_noise;
  return NULL;
}

/* At one end of a step the noise is not that of Stratonovich, unless it does not change along itself. */
static ag_status check_end(ag_ctx *ctx, const ag_system *sys, const ag_stepper *method) {
  if (!(method->needs & AG_NEEDS_ONE_SIDED) || ag_system_is_one_sided(sys)) return AG_OK;
  if (ag_system_discrete_lacks(sys, (ag_discrete_form)method->form, true)) return AG_OK; /* reported elsewhere */
  ag_ctx_error(ctx, (ag_pos){0},
               "method %s does not fit: it takes the noise at one end of a step, and would converge to another system "
               "unless transports are constant on the group, without constraints, and forces depend on positions "
               "alone; dla_midpoint, verlet, ... do",
               method->name);
  return AG_WRONG;
}

/* Where steps cannot be split into moves and pushes, RATTLE takes their place: it exists with every bath. */
static ag_status check_split(ag_ctx *ctx, const ag_system *sys, const ag_stepper *method) {
  if (!(method->needs & AG_NEEDS_SPLIT) || ag_system_is_split(sys) || !ag_system_role(sys, AG_ROLE_BATH)) return AG_OK;
  ag_ctx_error(ctx, (ag_pos){0},
               "method %s needs %s; baoab_rattle and ovo_rattle (which is OBABO) do not, and keep position constraints",
               method->name, ag_stepper_lacks(method, ~(unsigned)AG_NEEDS_SPLIT));
  return AG_WRONG;
}

/* A Metropolis test needs steps that preserve volume and a motion that preserves Gibbs' law. */
static ag_status check_tests(ag_ctx *ctx, const ag_system *sys, const ag_stepper *method) {
  if (!ag_stepper_tests(method) || !ag_system_role(sys, AG_ROLE_BATH)) return AG_OK; /* reported elsewhere */
  const char *lacks = ag_system_canonical_lacks(sys, tested(method));
  if (!lacks) return AG_OK;
  ag_ctx_error(ctx, (ag_pos){0}, "method %s does not fit: %s", method->name, lacks);
  return AG_WRONG;
}

ag_status ag_run_warm(ag_ctx *ctx, const ag_system *sys, const double *params, const ag_stepper *method) {
  const ag_tape *tape = ag_stepper_tests(method) ? ag_system_role(sys, AG_ROLE_CANONICAL) : NULL;
  if (!tape) return AG_OK;
  const ag_dims *n = ag_system_dims(sys);
  double out[2] = {0}, *z = ag_heap_alloc(sizeof *z * (size_t)(n->z + n->c + 1));
  ag_work *w = ag_work_create(sys, params);
  (void)ag_work_role(w, AG_ROLE_CANONICAL, 0, z, z + n->z, out); /* kT depends on parameters alone */
  ag_work_free(w);
  free(z);
  if (out[1] > 0 && isfinite(out[1])) return AG_OK;
  ag_ctx_error(ctx, (ag_pos){0}, "method %s tests steps against exp(-E/kT): the temperature has to be positive, not %g",
               method->name, out[1]);
  return AG_WRONG;
}

ag_status ag_run_fits(ag_ctx *ctx, const ag_system *sys, const ag_stepper *method) {
  ag_noise_class noise = ag_system_noise(sys);
  if (noise == AG_NOISE_NONE) return AG_OK;
  AG_TRY(check_split(ctx, sys, method));
  AG_TRY(check_tests(ctx, sys, method));
  if (method->strong[noise - AG_NOISE_ADDITIVE] > 0) return check_end(ctx, sys, method);
  ag_text fits = {0};
  for (int i = 0, k = 0; i < ag_stepper_count() && k < 4; i++)
    if (ag_stepper_at(i)->strong[noise - AG_NOISE_ADDITIVE] > 0 && !ag_stepper_at(i)->error_order)
      ag_text_printf(&fits, "%s%s", k++ ? ", " : "", ag_stepper_at(i)->name);
  bool never = !(method->strong[0] > 0);
  ag_ctx_error(ctx, (ag_pos){0}, "method %s does not fit: %s%s%s; %s, ... do", method->name,
               never ? "it has no form for paths with noise" : "the noise is ", never ? "" : ag_noise_word(noise),
               never ? "" : ", and it would not converge to the motion (Stratonovich)", ag_text_cstr(&fits));
  ag_text_done(&fits);
  return AG_WRONG;
}

/* Beyond max(6, sqrt(4 |log h|)) standard deviations: this changes no order of convergence (Milstein, Repin, Tretyakov,
 * 2002). */
double ag_run_cut(const ag_system *sys, const ag_stepper *method, double h) {
  bool outside = method->follows == AG_FOLLOWS_BATH || method->follows == AG_FOLLOWS_ITO; /* of the equations */
  bool implicit = ag_stepper_solves(method) && !outside && ag_system_noise(sys) != AG_NOISE_ADDITIVE;
  return implicit ? sqrt(h) * fmax(6, sqrt(4 * fabs(log(h)))) : INFINITY;
}

static ag_status check_path(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  ag_pos nowhere = {0};
  const ag_model *m = ag_system_model(sys);
  const char *why = obstacle(sys, o);
  if (why) {
    ag_ctx_error(ctx, nowhere, "%s", why);
    return AG_WRONG;
  }
  if (o->method) AG_TRY(ag_run_fits(ctx, sys, o->method));
  for (int i = 0; i < ag_model_n_events(m) && o->events; i++) {
    const ag_event *e = &ag_model_events(m)[i];
    if (!ag_model_has_force(m, 1, &e->x)) continue;
    ag_ctx_error(ctx, nowhere,
                 "the event `%s` reads a force of constraint, which is white noise on a path: use --no-events",
                 e->name);
    return AG_WRONG;
  }
  return check_grid(ctx, sys, o);
}

static ag_status check_noise(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  if (o->noise == AG_NOISE_PATH) return check_path(ctx, sys, o);
  if (o->multipliers && ag_system_role(sys, AG_ROLE_DRIVER) && !ag_system_role(sys, AG_ROLE_NOISE)) {
    ag_ctx_error(ctx, (ag_pos){0}, "%s", large_noise);
    return AG_WRONG;
  }
  return o->noise == AG_NOISE_REFUSED && ag_system_dims(sys)->channel ? refuse_noise(ctx, sys) : AG_OK;
}

static ag_status check_projection(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  ag_text why = {0};
  if (!o->project) return AG_OK;
  if (!(o->dt > 0)) ag_text_str(&why, "projection needs fixed steps (--dt)");
  else if (o->noise == AG_NOISE_PATH) ag_text_str(&why, "a path with noise is not projected");
  else if (o->multipliers) ag_text_str(&why, "the equations with multipliers are not projected symmetrically");
  else (void)ag_levels_refused(sys, o->project, &why);
  bool bad = why.n > 0;
  if (bad) ag_ctx_error(ctx, (ag_pos){0}, "--project %s: %s", o->project, ag_text_cstr(&why));
  ag_text_done(&why);
  return bad ? AG_WRONG : AG_OK;
}

bool ag_run_all_rows(const ag_system *sys, const ag_checkpoint *c) {
  return c->n_c == ag_system_dims(sys)->c + ag_system_dims(sys)->full_switches + 1;
}

bool ag_run_point_fits(const ag_system *sys, const ag_run_options *o, const ag_checkpoint *c) {
  const ag_dims *n = ag_system_dims(sys);
  bool all = ag_run_all_rows(sys, c), full = ag_run_full(sys, o) || all;
  return c->n == (full ? n->x : n->z) && c->n_c == n->c + (full ? n->full_switches : 0) + all;
}

ag_status ag_run_check(ag_ctx *ctx, const ag_system *sys, const ag_run_options *o) {
  ag_pos nowhere = {0};
  AG_TRY(check_noise(ctx, sys, o));
  AG_TRY(check_method(ctx, sys, o));
  AG_TRY(check_projection(ctx, sys, o));
  if (o->section < 0 || o->section > ag_model_n_sections(ag_system_model(sys))) {
    ag_ctx_error(ctx, nowhere, "the model has no section %d", o->section);
    return AG_WRONG;
  }
  const ag_checkpoint *c = o->from;
  int n_unit = ag_mover_in_place(sys, o) ? ag_system_units(sys, ag_system_dims(sys)->z, NULL) : 0;
  if (c && ag_run_all_rows(sys, c)) n_unit = 0;
  int levels = o->project ? ag_system_dims(sys)->level + 1 : 0;
  if (c && (!c->made || !ag_run_point_fits(sys, o, c) || c->n_event != ag_run_n_event(sys, o) || c->n_unit != n_unit ||
            c->n_carry != c->n + o->method->room(c->n, ag_system_dims(sys)->tangent, 0).own + levels)) {
    ag_ctx_error(ctx, nowhere, "the point to go on from does not belong to this system");
    return AG_WRONG;
  }
  return AG_OK;
}

ag_status ag_run_check_levels(ag_ctx *ctx, const ag_system *sys, const double *params, const double *x0,
                              const ag_run_options *o) {
  ag_mover m;
  ag_text name = {0};
  int which = 0, reason;
  if (!o->project || o->from) return AG_OK;
  ag_mover_create(&m, sys, params, o, false);
  reason = ag_work_reduce(m.work, o->t0, x0, m.c, m.z);
  if (!reason) reason = ag_mover_rhs(&m, o->t0, m.z, m.dz);
  if (!reason) reason = ag_symmetric_fits(m.base, &m.flow, o->t0, m.z, m.dz, &which, m.space);
  ag_levels_name(sys, o->project, which, &name);
  if (reason == AG_STEP_LEVEL)
    ag_ctx_error(ctx, (ag_pos){0}, "--project %s: `%s` is not constant along the motion", o->project,
                 ag_text_cstr(&name));
  if (reason == AG_STEP_DEPENDENT)
    ag_ctx_error(ctx, (ag_pos){0},
                 "--project %s: at the start the quantities depend on each other, or one of them does not change with "
                 "the state",
                 o->project);
  ag_text_done(&name);
  ag_mover_free(&m);
  return reason == AG_STEP_LEVEL || reason == AG_STEP_DEPENDENT ? AG_WRONG : AG_OK; /* others: the run reports it */
}
