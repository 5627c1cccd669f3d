/* SPDX-License-Identifier: MIT
 * `anagyre conserve`: what is conserved, why, and how that is known. */
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"

typedef struct args {
  ag_common common;
  bool brief;
  const char *potential, *at;
  double confirm;
  long degree;
} args;

static void defaults(void *self) {
  ((args *)self)->degree = -1;
  ((args *)self)->confirm = (double)NAN;
}

static const ag_option options[] = {
    AG_OPTION(args, "potential", TEXT, potential, .arg = "V=EXPR", .preset = "",
              .doc = "another potential energy, an expression of coordinates, parameters and t"),
    AG_OPTION(args, "at", TEXT, at, .arg = "NAME=VALUE,...", .preset = "",
              .doc = "ranks where these coordinates have these values, the others being generic"),
    AG_OPTION(args, "confirm", NUMBER, confirm, .arg = "TIME", .lo = -1e15, .hi = 1e15, .preset = "",
              .doc = "run the model from its start to this time and report the drift of every quantity"),
    AG_OPTION(args, "degree", WHOLE, degree, .arg = "D", .lo = 0, .hi = 12, .preset = "4, less for large models",
              .doc = "degree in the coordinates of the integrals that are searched for"),
    AG_OPTION(args, "no-search", FLAG, brief, .doc = "do not search for further integrals"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

static const ag_derive_options derive = {.growth = true};

static void put_quantity(const ag_conservation *c, const ag_quantity *q, ag_text *out) {
  ag_text_printf(out, "  %-10s %-15s %s", ag_conserved_word(q->verdict), q->kind, q->name);
  if (q->formula) ag_text_printf(out, " = %s", q->formula);
  ag_text_char(out, '\n');
  if (q->reason && q->reason[0]) ag_text_printf(out, "  %-10s   %s\n", "", q->reason);
  if (q->proof == AG_PROOF_IDENTITY)
    ag_text_printf(out, "  %-10s   proved: an identity, chance of error below %.0e\n", "", q->bound);
  else if (q->proof == AG_PROOF_WITNESS)
    ag_text_printf(out, "  %-10s   proved: rate %.6g at a state, in [%.17g, %.17g]\n", "", q->rate, q->lo, q->hi);
  else if (q->proof == AG_PROOF_NUMERICAL)
    ag_text_printf(out, "  %-10s   not proved: 256-bit numbers, relative rate at most %.1e\n", "", q->bound);
  if (!isnan(c->confirmed))
    ag_text_printf(out, "  %-10s   drift in a run: %.2e up to t = %.6g\n", "", q->drift, c->confirmed);
}

static void write_text(const ag_model *m, const ag_conservation *c, ag_text *out) {
  ag_text_printf(out, "%s: %s\n", ag_model_name(m), ag_model_title(m));
  if (c->rank_R >= 0) {
    ag_text_printf(out, "  leaf       %d dimensions; admissible velocities D: %d; reaction annihilator R: %d%s\n",
                   c->dimension, c->rank_D, c->rank_R,
                   c->sampled ? " (sampled: the reaction is no polynomial in the velocities)" : "");
  }
  for (int i = 0; i < c->n; i++) put_quantity(c, &c->at[i], out);
  if (c->linear >= 0)
    ag_text_printf(out, "  searched   integrals linear in the velocities, coefficients of degree %d: %d\n",
                   c->linear_degree, c->linear);
  if (c->quadratic >= 0)
    ag_text_printf(
        out, "  searched   quadratic ones, coefficients of degree %d: %d with energy, products and the constant\n",
        c->quadratic_degree, c->quadratic);
}

static void json_state(ag_json *j, const ag_model *m, const ag_quantity *q) {
  const double *x = q->state;
  ag_json_begin(j, "state", '{');
  ag_json_number(j, "t", q->t);
  for (int velocity = 0; velocity < 2; velocity++)
    for (int i = 0; i < ag_model_n_coords(m); i++) {
      const ag_coord *c = &ag_model_coords(m)[i];
      int cols = !velocity && c->space == AG_SPACE_SO3 ? 3 : 1;
      ag_json_tensor(j, velocity ? c->velocity : c->name, c->dim, cols, x);
      x += c->dim * cols;
    }
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
  if (q->proof == AG_PROOF_IDENTITY) ag_json_number(j, "error_bound", q->bound);
  if (q->proof == AG_PROOF_NUMERICAL) ag_json_number(j, "margin", q->bound);
  if (!isnan(c->confirmed)) ag_json_number(j, "drift", q->drift);
  if (!strcmp(q->kind, "momentum")) {
    ag_json_string(j, "class", q->class);
    ag_json_begin(j, "generator", '{');
    ag_json_bool(j, "invariant", q->invariant);
    ag_json_bool(j, "invariant_on_constraints", q->on_constraints);
    ag_json_bool(j, "keeps_constraints", q->keeps);
    ag_json_bool(j, "in_D", q->in_D);
    ag_json_bool(j, "in_R", q->in_R);
    ag_json_end(j, '}');
  }
  if (q->proof == AG_PROOF_WITNESS) {
    ag_json_begin(j, "witness", '{');
    json_state(j, m, q);
    ag_json_number(j, "rate", q->rate);
    ag_json_number(j, "lo", q->lo);
    ag_json_number(j, "hi", q->hi);
    ag_json_end(j, '}');
  } else {
    ag_json_string(j, "witness", NULL);
  }
  ag_json_end(j, '}');
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
  } else {
    ag_json_string(&j, "rank", NULL);
    ag_json_string(&j, "rank_D", NULL);
  }
  ag_json_end(&j, '}');
  if (!isnan(c->confirmed)) ag_json_number(&j, "confirmed", c->confirmed);
  ag_json_begin(&j, "search", '{');
  if (c->linear >= 0) ag_json_whole(&j, "linear", c->linear);
  if (c->linear >= 0) ag_json_whole(&j, "linear_degree", c->linear_degree);
  if (c->quadratic >= 0) ag_json_whole(&j, "quadratic", c->quadratic);
  if (c->quadratic >= 0) ag_json_whole(&j, "quadratic_degree", c->quadratic_degree);
  ag_json_end(&j, '}');
  ag_json_begin(&j, "powers", '{');
  ag_json_bool(&j, "time", c->power_time);
  ag_json_bool(&j, "forces", c->power_force);
  ag_json_bool(&j, "constraints", c->power_constraints);
  ag_json_end(&j, '}');
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static ag_status act(void *self) {
  const args *a = self;
  ag_status status;
  if (a->potential && !isnan(a->confirm))
    return ag_usage("conserve", "--confirm runs the model with its own potential: do not give --potential");
  anagyre_model *m = ag_open_derived(&a->common, &derive, &status);
  if (!m) return status;
  ag_conservation c;
  status = ag_conserve(
      &c, ag_api_ctx(m), ag_api_model(m), ag_api_system(m, &derive),
      &(ag_conserve_options){.search = !a->brief, .potential = a->potential, .at = a->at, .degree = (int)a->degree});
  if (status == AG_OK && !isnan(a->confirm))
    status = ag_conserve_confirm(&c, ag_api_ctx(m), ag_api_system(m, &derive), a->confirm);
  if (status == AG_OK && a->common.json) {
    write_json(ag_api_model(m), &c);
  } else if (status == AG_OK) {
    ag_text out = {0};
    write_text(ag_api_model(m), &c, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  ag_conservation_done(&c);
  if (status != AG_OK) return ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
  anagyre_close(m);
  return AG_OK;
}

const ag_command ag_command_conserve = {
    .name = "conserve",
    .words = "MODEL",
    .doc = "what is conserved and why, with proof",
    .text = "Decides for the energy, the momenta of the generators and the observables of a model whether\n"
            "they are conserved: yes by an identity over a prime field, no by a state at which the rate,\n"
            "enclosed in an interval, is not zero. Also reports the ranks of the admissible velocities\n"
            "and of the reaction annihilator.\n",
    .examples = "  anagyre conserve affine_particle\n"
                "  anagyre conserve cylinder_ball --set k=0 --json\n",
    .defaults = defaults,
    AG_COMMAND(1, 1),
};
