/* SPDX-License-Identifier: MIT
 * `anagyre conserve`: what is conserved, why, and how that is known. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/csv.h"
#include "cli/gibbs.h"
#include "cli/json.h"
#include "cli/open.h"
#include "cli/output.h"
#include "cli/shape.h"

typedef struct args {
  ag_common common;
  bool brief;
  const char *potential, *at, *sweep, *output, *table;
  double confirm;
  long degree, max_steps;
} args;

static void defaults(void *self) {
  ((args *)self)->degree = -1;
  ((args *)self)->confirm = (double)NAN;
}

static const ag_option options[] = {
    AG_OPTION(args, "potential", TEXT, potential, .arg = "V=EXPR", .preset = "",
              .doc = "another potential energy: an expression in coordinates, parameters and t"),
    AG_OPTION(args, "at", TEXT, at, .arg = "NAME=VALUE,...", .preset = "",
              .doc = "ranks at these values of coordinates, the others being generic"),
    AG_OPTION(args, "sweep", TEXT, sweep, .arg = "NAME=LO:HI:N", .preset = "",
              .doc = "report where the rank of the annihilator changes along a coordinate"),
    AG_OPTION(args, "confirm", NUMBER, confirm, .arg = "TIME", .lo = -1e15, .hi = 1e15, .preset = "",
              .doc = "run the model from its start to this time and report the drift of every quantity"),
    AG_OPTION(args, "max-steps", WHOLE, max_steps, .arg = "N", .lo = 1, .hi = 1e15, .preset = "ten million",
              .doc = "with --confirm: give up after this many steps"),
    AG_OPTION(args, "output", TEXT, output, .letter = 'o', .arg = "FILE", .preset = "",
              .doc = "with --confirm: the quantities after every step, a .csv file"),
    AG_OPTION(args, "table", TEXT, table, .arg = "FILE", .preset = "",
              .doc = "the coefficients of integrals along one shape variable, a .csv file"),
    AG_OPTION(args, "degree", WHOLE, degree, .arg = "D", .lo = 0, .hi = 12, .preset = "4, less for large models",
              .doc = "degree in the coordinates of the integrals to search for"),
    AG_OPTION(args, "no-search", FLAG, brief, .doc = "do not search for further integrals"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

static const ag_derive_options derive = {.growth = true};

/* The field that generates it; of a momentum whose generator is not in D, its part in D. */
static void put_field(const ag_quantity *q, ag_text *out) {
  bool momentum = !strcmp(q->kind, "momentum");
  if (q->verdict != AG_CONSERVED_YES || (momentum && q->in_D)) return;
  const char *field = momentum ? q->field_in_D : q->field;
  if (momentum && !q->projected)
    ag_text_printf(out, "  %-10s   no generator in D: the part in D has another momentum\n", "");
  else if (field) ag_text_printf(out, "  %-10s   generated%s by %s\n", "", momentum ? " in D" : "", field);
}

static void put_quantity(const ag_conservation *c, const ag_quantity *q, ag_text *out) {
  ag_text_printf(out, "  %-10s %-15s %s", ag_conserved_word(q->verdict), q->kind, q->name);
  if (q->formula) ag_text_printf(out, " = %s", q->formula);
  ag_text_char(out, '\n');
  if (q->reason && q->reason[0]) ag_text_printf(out, "  %-10s   %s\n", "", q->reason);
  if (q->class && strcmp(q->kind, "momentum")) ag_text_printf(out, "  %-10s   %s\n", "", q->class);
  put_field(q, out);
  if (q->weakly)
    ag_text_printf(out, "  %-10s   conserved for every potential with the symmetries of this Lagrangian\n", "");
  if (q->with_noise) {
    const char *what = !strcmp(q->with_noise, "pathwise") ? "conserved on every path"
                       : !strcmp(q->with_noise, "mean")   ? "conserved in the mean, not on every path"
                       : !strcmp(q->with_noise, "no")     ? "not conserved, nor in the mean"
                                                          : "undecided";
    ag_text_printf(out, "  %-10s   with noise: %s\n", "", what);
  }
  if (q->rate_formula) ag_text_printf(out, "  %-10s   d/dt = %s\n", "", q->rate_formula);
  if (q->proof == AG_PROOF_IDENTITY)
    ag_text_printf(out, "  %-10s   proved: an identity, chance of error below %.0e\n", "", q->bound);
  else if (q->proof == AG_PROOF_WITNESS)
    ag_text_printf(out, "  %-10s   proved: rate %.6g at a state, in [%.17g, %.17g]\n", "", q->rate, q->lo, q->hi);
  else if (q->proof == AG_PROOF_NUMERICAL)
    ag_text_printf(out, "  %-10s   not proved: 256-bit numbers, relative rate at most %.1e\n", "", q->bound);
  if (!isnan(c->confirmed))
    ag_text_printf(out, "  %-10s   drift in a run: %.2e up to t = %.6g\n", "", q->drift, c->confirmed);
}

/* "x'", "Omega[2]": velocity number j. */
static void put_velocity(const ag_model *m, int j, ag_text *out) {
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    const ag_coord *c = &ag_model_coords(m)[i];
    if (j < c->dim) {
      ag_entry_name(c->velocity, c->dim, 1, j, out);
      return;
    }
    j -= c->dim;
  }
}

/* dE/dt: the powers that do not vanish. */
static void put_powers(const ag_conservation *c, ag_text *out) {
  const char *const names[] = {"time, -l_t", "forces, F.xi", "constraints, -s.lambda"};
  const char *const texts[] = {c->time_formula, c->force_formula, c->constraint_formula};
  const bool any[] = {c->power_time, c->power_force, c->power_constraints};
  for (int i = 0; i < 3; i++)
    if (any[i]) ag_text_printf(out, "  %-10s of %s = %s\n", "power", names[i], texts[i] ? texts[i] : "(long)");
}

/* Affine constraints: how their power depends on the potential. */
static void put_eta(const ag_model *m, const ag_conservation *c, ag_text *out) {
  if (!c->eta) return;
  ag_text_printf(out, "  %-10s power of the constraints = %seta.dV,", "potential", c->rest_power ? "rest + " : "");
  bool first = true;
  for (int j = 0; j < c->n_velocity; j++) {
    if (c->eta[j] && !strcmp(c->eta[j], "0")) continue;
    ag_text_str(out, first ? " eta: " : ", ");
    put_velocity(m, j, out);
    ag_text_printf(out, " = %s", c->eta[j] ? c->eta[j] : "(long)");
    first = false;
  }
  ag_text_char(out, '\n');
}

static void put_values(const ag_places *c, ag_text *out) {
  if (!c->n) ag_text_str(out, "no value");
  for (int i = 0; i < c->n; i++) ag_text_printf(out, "%s%.12g", i ? ", " : "", c->at[i]);
}

static void put_changes(const ag_conservation *c, ag_text *out) {
  if (!c->swept) return;
  ag_text_printf(out, "  %-10s %s: R is %d, larger at ", "along", c->swept, c->rank_swept);
  put_values(&c->changes, out);
  if (c->changes_D.n) ag_text_str(out, "; D is larger at "), put_values(&c->changes_D, out);
  ag_text_char(out, '\n');
}

static void put_symmetries(const ag_conservation *c, ag_text *out) {
  for (int i = 0; i < c->n_symmetry; i++) {
    const ag_symmetry *z = &c->symmetries[i];
    ag_text_printf(out, "  %-10s %s%s%s\n", "symmetry", z->field ? z->field : "(long)", z->declared ? "" : ", found",
                   z->keeps ? "" : "; it does not keep the constraints");
  }
}

static void put_measure(const ag_measure *m, ag_text *out) {
  const char *form = m->timed ? "exp f(q, t)" : "exp f(q)";
  ag_text_printf(out, "  %-10s %-15s", ag_conserved_word(m->verdict), "measure");
  if (m->verdict == AG_CONSERVED_YES)
    ag_text_printf(out, " %s %s", m->density ? m->density : m->f_exp ? "(long)" : form, m->variables);
  else ag_text_printf(out, " %s", form);
  ag_text_char(out, '\n');
  if (m->reason) ag_text_printf(out, "  %-10s   %s\n", "", m->reason);
  if (m->proof == AG_PROOF_IDENTITY)
    ag_text_printf(out, "  %-10s   proved: an identity, chance of error below %.0e\n", "", m->bound);
  else if (m->proof == AG_PROOF_WITNESS)
    ag_text_printf(out, "  %-10s   proved: a value that should be 0 is in [%.17g, %.17g] at a state\n", "", m->lo,
                   m->hi);
}

/* "degree 4 (1 before velocities that the constraints give)" */
static void put_degree(int degree, int given, ag_text *out) {
  ag_text_printf(out, "coefficients of degree %d", degree);
  if (given < 0) ag_text_str(out, " (without velocities that the constraints give)");
  else if (given < degree) ag_text_printf(out, " (%d before velocities that the constraints give)", given);
}

static void put_searches(const ag_conservation *c, ag_text *out) {
  if (c->unsearched) ag_text_printf(out, "  searched   nothing: %s\n", c->unsearched);
  if (c->linear >= 0) {
    ag_text_str(out, "  searched   integrals linear in the velocities, ");
    put_degree(c->linear_degree, c->linear_given, out);
    ag_text_printf(out, ": %d", c->linear);
    if (c->twisted) ag_text_printf(out, ", %d with a factor", c->twisted);
    if (c->of_symmetries) ag_text_printf(out, ", %d more of symmetries", c->of_symmetries);
    ag_text_char(out, '\n');
  }
  if (c->quadratic >= 0) {
    ag_text_str(out, "  searched   quadratic ones, ");
    put_degree(c->quadratic_degree, c->quadratic_given, out);
    ag_text_printf(out, ": %d with energy, products and the constant\n", c->quadratic);
  }
}

static void write_text(const ag_model *m, const ag_conservation *c, ag_text *out) {
  ag_text_printf(out, "%s: %s\n", ag_model_name(m), ag_model_title(m));
  if (c->rank_R >= 0) {
    ag_text_printf(out, "  leaf       %d dimension%s; admissible velocities D: %d; reaction annihilator R: %d%s\n",
                   c->dimension, c->dimension == 1 ? "" : "s", c->rank_D, c->rank_R,
                   c->sampled ? " (sampled: the reaction is not a polynomial in the velocities)" : "");
  }
  put_changes(c, out);
  put_symmetries(c, out);
  for (int i = 0; i < c->n; i++) put_quantity(c, &c->at[i], out);
  ag_shape_lines(&c->shape, c->confirmed, out);
  put_powers(c, out);
  put_eta(m, c, out);
  put_measure(&c->measure, out);
  ag_gibbs_lines(&c->gibbs, out);
  if (c->n_independent >= 0)
    ag_text_printf(out, "  together   %d functionally independent integral%s\n", c->n_independent,
                   c->n_independent == 1 ? "" : "s");
  if (c->n_orbit >= 0) {
    ag_text_printf(out, "  quadrature %s: phase space %d, orbits of the symmetries %d, integrals that they keep %d%s\n",
                   c->integrable ? "yes" : "not shown", c->n_phase, c->n_orbit, c->n_symmetric,
                   c->by_measure ? ", and the measure" : "");
  }
  if (c->left_out) ag_text_printf(out, "  left out   %s: they read forces of constraint\n", c->left_out);
  put_searches(c, out);
}

static void json_state(ag_json *j, const ag_model *m, double t, const double *x) {
  ag_json_begin(j, "state", '{');
  ag_json_number(j, "t", t);
  for (int velocity = 0; velocity < 2; velocity++)
    for (int i = 0; i < ag_model_n_coords(m); i++) {
      const ag_coord *c = &ag_model_coords(m)[i];
      int cols = !velocity && c->space == AG_SPACE_SO3 ? 3 : 1;
      ag_json_tensor(j, velocity ? c->velocity : c->name, c->dim, cols, x);
      x += c->dim * cols;
    }
  ag_json_end(j, '}');
}

/* For a momentum, the properties of its generator; for another integral, what is known about its generators. */
static void json_generator(ag_json *j, const ag_quantity *q) {
  ag_json_string(j, "class", q->class);
  ag_json_begin(j, "generator", '{');
  if (!strcmp(q->kind, "momentum")) {
    ag_json_bool(j, "invariant", q->invariant);
    ag_json_bool(j, "invariant_on_constraints", q->on_constraints);
    ag_json_bool(j, "keeps_constraints", q->keeps);
    ag_json_bool(j, "part_in_D_has_same_momentum", q->projected);
  } else {
    ag_json_bool(j, "exists", q->generated);
    ag_json_bool(j, "along_symmetries", q->along);
  }
  ag_json_string(j, "field", q->field);
  if (q->field_in_D) ag_json_string(j, "part_in_D", q->field_in_D);
  ag_json_bool(j, "in_D", q->in_D);
  ag_json_bool(j, "in_R", q->in_R);
  ag_json_bool(j, "weakly_noetherian", q->weakly);
  ag_json_end(j, '}');
}

static void json_quantity(ag_json *j, const ag_model *m, const ag_conservation *c, const ag_quantity *q) {
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "name", q->name);
  ag_json_string(j, "kind", q->kind);
  ag_json_string(j, "conserved", ag_conserved_word(q->verdict));
  ag_json_string(j, "reason", q->reason);
  ag_json_string(j, "proof", ag_proof_word(q->proof));
  if (q->formula) ag_json_string(j, "formula", q->formula);
  if (q->with_noise) ag_json_string(j, "with_noise", q->with_noise);
  if (q->rate_formula) ag_json_string(j, "rate_formula", q->rate_formula);
  if (q->proof == AG_PROOF_IDENTITY) ag_json_number(j, "error_bound", q->bound);
  if (q->proof == AG_PROOF_NUMERICAL) ag_json_number(j, "margin", q->bound);
  if (!isnan(c->confirmed)) ag_json_number(j, "drift", q->drift);
  if (q->class || !strcmp(q->kind, "momentum")) json_generator(j, q);
  if (q->proof == AG_PROOF_WITNESS) {
    ag_json_begin(j, "witness", '{');
    json_state(j, m, q->t, q->state);
    ag_json_number(j, "rate", q->rate);
    ag_json_number(j, "lo", q->lo);
    ag_json_number(j, "hi", q->hi);
    ag_json_end(j, '}');
  } else {
    ag_json_string(j, "witness", NULL);
  }
  ag_json_end(j, '}');
}

static void json_measure(ag_json *j, const ag_model *m, const ag_measure *a) {
  ag_json_begin(j, "measure", '{');
  ag_json_string(j, "exists", ag_conserved_word(a->verdict));
  ag_json_string(j, "proof", ag_proof_word(a->proof));
  ag_json_string(j, "reason", a->reason);
  ag_json_string(j, "density", a->density);
  ag_json_string(j, "variables", a->variables);
  if (a->proof == AG_PROOF_IDENTITY) ag_json_number(j, "error_bound", a->bound);
  if (a->proof == AG_PROOF_WITNESS) {
    ag_json_begin(j, "witness", '{');
    json_state(j, m, a->t, a->state);
    ag_json_number(j, "lo", a->lo);
    ag_json_number(j, "hi", a->hi);
    ag_json_end(j, '}');
  }
  ag_json_end(j, '}');
}

static void json_symmetries(ag_json *j, const ag_conservation *c) {
  ag_json_begin(j, "symmetries", '[');
  for (int i = 0; i < c->n_symmetry; i++) {
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "field", c->symmetries[i].field);
    ag_json_bool(j, "declared", c->symmetries[i].declared);
    ag_json_bool(j, "keeps_constraints", c->symmetries[i].keeps);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static void json_search(ag_json *j, const ag_conservation *c) {
  ag_json_begin(j, "search", '{');
  if (c->unsearched) ag_json_string(j, "not_searched", c->unsearched);
  if (c->linear >= 0) ag_json_whole(j, "linear", c->linear);
  if (c->linear >= 0) ag_json_whole(j, "linear_degree", c->linear_degree);
  if (c->linear >= 0) ag_json_whole(j, "linear_degree_given", c->linear_given);
  if (c->linear >= 0) ag_json_whole(j, "with_factor", c->twisted);
  if (c->linear >= 0) ag_json_whole(j, "of_symmetries", c->of_symmetries);
  if (c->quadratic >= 0) ag_json_whole(j, "quadratic", c->quadratic);
  if (c->quadratic >= 0) ag_json_whole(j, "quadratic_degree", c->quadratic_degree);
  if (c->quadratic >= 0) ag_json_whole(j, "quadratic_degree_given", c->quadratic_given);
  if (c->n_independent >= 0) ag_json_whole(j, "independent", c->n_independent);
  ag_json_end(j, '}');
}

static void json_values(ag_json *j, const char *key, const ag_places *c) {
  ag_json_begin(j, key, '[');
  for (int i = 0; i < c->n; i++) ag_json_number(j, NULL, c->at[i]);
  ag_json_end(j, ']');
}

static void json_changes(ag_json *j, const ag_conservation *c) {
  ag_json_whole(j, "rank_along", c->rank_swept);
  json_values(j, "changes", &c->changes);
  json_values(j, "changes_D", &c->changes_D);
}

static void write_json(const ag_model *m, const ag_conservation *c) {
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "model", ag_model_name(m));
  ag_json_begin(&j, "quantities", '[');
  for (int i = 0; i < c->n; i++) json_quantity(&j, m, c, &c->at[i]);
  ag_json_end(&j, ']');
  ag_json_begin(&j, "reaction_annihilator", '{');
  if (c->rank_R >= 0) {
    ag_json_whole(&j, "rank", c->rank_R);
    ag_json_whole(&j, "rank_D", c->rank_D);
    ag_json_whole(&j, "dimension", c->dimension);
    ag_json_bool(&j, "sampled", c->sampled);
    if (c->basis) ag_json_tensor(&j, "basis", c->rank_basis, c->n_velocity, c->basis);
    else ag_json_string(&j, "basis", NULL);
    if (c->swept) json_changes(&j, c);
  } else {
    ag_json_string(&j, "rank", NULL);
    ag_json_string(&j, "rank_D", NULL);
  }
  ag_json_end(&j, '}');
  if (c->n_symmetry >= 0) json_symmetries(&j, c);
  json_measure(&j, m, &c->measure);
  ag_shape_json(&j, &c->shape, c->confirmed);
  ag_gibbs_json(&j, &c->gibbs);
  if (c->left_out) ag_json_string(&j, "left_out", c->left_out);
  if (!isnan(c->confirmed)) ag_json_number(&j, "confirmed", c->confirmed);
  if (c->cut) ag_json_string(&j, "confirm_ended", c->cut);
  json_search(&j, c);
  if (c->n_orbit >= 0) {
    ag_json_begin(&j, "quadrature", '{');
    ag_json_bool(&j, "shown", c->integrable);
    ag_json_whole(&j, "phase_space", c->n_phase);
    ag_json_whole(&j, "orbits", c->n_orbit);
    ag_json_whole(&j, "integrals", c->n_symmetric);
    ag_json_bool(&j, "by_measure", c->by_measure);
    ag_json_end(&j, '}');
  }
  ag_json_begin(&j, "powers", '{');
  ag_json_bool(&j, "time", c->power_time);
  ag_json_bool(&j, "forces", c->power_force);
  ag_json_bool(&j, "constraints", c->power_constraints);
  if (c->time_formula) ag_json_string(&j, "time_formula", c->time_formula);
  if (c->force_formula) ag_json_string(&j, "force_formula", c->force_formula);
  if (c->constraint_formula) ag_json_string(&j, "constraints_formula", c->constraint_formula);
  if (c->eta) {
    ag_json_bool(&j, "rest", c->rest_power);
    ag_json_begin(&j, "eta", '[');
    for (int k = 0; k < c->n_velocity; k++) ag_json_string(&j, NULL, c->eta[k]);
    ag_json_end(&j, ']');
  }
  ag_json_end(&j, '}');
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static ag_status save_moments(const ag_conservation *c, const char *path) {
  ag_text out = {0};
  ag_text_printf(&out, "# rtol = %g, atol = %g\nt", c->rtol, c->atol);
  for (int i = 0; i < c->n; i++) ag_text_char(&out, ','), ag_csv_quoted(&out, c->at[i].name);
  for (int i = 0; i < c->shape.n; i++) ag_text_printf(&out, ",table %d", i + 1);
  ag_text_char(&out, '\n');
  const int n = c->n + c->shape.n;
  for (long r = 0; r < c->n_moment; r++) {
    const double *row = c->moments + r * (n + 1);
    ag_text_printf(&out, "%.17g", row[0]);
    for (int i = 0; i < n; i++) ag_csv_number(&out, row[1 + i]);
    ag_text_char(&out, '\n');
  }
  ag_status status = ag_output_save(path, &out);
  ag_text_done(&out);
  return status;
}

static ag_status check_options(const args *a) {
  if (a->output && isnan(a->confirm))
    return ag_usage("conserve", "--output takes what a run gives: add --confirm TIME");
  if (a->output && (ag_output_is_stdout(a->output) || ag_output_format(a->output) != AG_FORMAT_CSV))
    return ag_usage("conserve", "the name of --output must end in .csv");
  if (a->max_steps && isnan(a->confirm))
    return ag_usage("conserve", "--max-steps applies to a run: add --confirm TIME");
  if (a->table && (ag_output_is_stdout(a->table) || ag_output_format(a->table) != AG_FORMAT_CSV))
    return ag_usage("conserve", "the name of --table must end in .csv");
  if (a->table && a->brief) return ag_usage("conserve", "--table needs the searches: do not give --no-search");
  if (a->potential && !isnan(a->confirm))
    return ag_usage("conserve", "--confirm runs the model with its own potential: do not give --potential");
  return AG_OK;
}

static ag_status act(void *self) {
  const args *a = self;
  ag_status status;
  AG_TRY(check_options(a));
  AG_TRY(ag_output_check(a->output));
  AG_TRY(ag_output_check(a->table));
  anagyre_model *m = ag_open_derived(&a->common, &derive, &status);
  if (!m) return status;
  ag_conservation c;
  status = ag_conserve(
      &c, ag_api_ctx(m), ag_api_model(m), ag_api_system(m, &derive),
      &(ag_conserve_options){
          .search = !a->brief, .potential = a->potential, .at = a->at, .sweep = a->sweep, .degree = (int)a->degree});
  if (status == AG_OK && !isnan(a->confirm))
    status = ag_conserve_confirm(&c, ag_api_ctx(m), ag_api_system(m, &derive), a->confirm, a->max_steps);
  if (status == AG_OK && c.cut)
    ag_output_tell("warning: the run of --confirm ended at t = %s: %s", ag_number_text(c.confirmed).s, c.cut);
  if (status == AG_OK && a->common.json) {
    write_json(ag_api_model(m), &c);
  } else if (status == AG_OK) {
    ag_text out = {0};
    write_text(ag_api_model(m), &c, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  ag_status saved = status == AG_OK && a->output ? save_moments(&c, a->output) : AG_OK;
  if (status == AG_OK && saved == AG_OK && a->table) saved = ag_shape_save(&c.shape, a->table);
  ag_conservation_done(&c);
  if (status != AG_OK) return ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
  anagyre_close(m);
  return saved;
}

const ag_command ag_command_conserve = {
    .name = "conserve",
    .words = "MODEL",
    .doc = "what is conserved and why, with proof",
    .text = "Decides for the energy, the momenta of the generators and the observables of a model whether\n"
            "they are conserved: yes by an identity over a prime field, no by a state at which the rate,\n"
            "enclosed in an interval, is not zero. Also reports the ranks of the admissible velocities\n"
            "and of the reaction annihilator, and whether there is an invariant measure.\n",
    .examples = "  anagyre conserve affine_particle\n"
                "  anagyre conserve cylinder_ball --set k=0 --json\n",
    .defaults = defaults,
    AG_COMMAND(1, 1),
};
