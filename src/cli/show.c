/* SPDX-License-Identifier: MIT
 * `anagyre show`: the model written out, and the equations that were derived from it. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"

typedef struct args {
  ag_common common;
  bool latex, standalone, rates;
  int form;
} args;

static const char *form_name(int i) {
  static const char *const names[] = {"reduced", "multipliers", "constraints", "lagrangian"};
  return i < 4 ? names[i] : NULL;
}

static const ag_option options[] = {
    AG_OPTION(args, "form", CHOICE, form, .arg = "NAME", .choice = form_name,
              .doc = "which equations: reduced, multipliers, constraints or lagrangian"),
    AG_OPTION(args, "latex", FLAG, latex, .doc = "the equations as LaTeX"),
    AG_OPTION(args, "standalone", FLAG, standalone, .doc = "with --latex: a complete file"),
    AG_OPTION(args, "rates", FLAG, rates, .doc = "also drift and noise of the energy and of every observable"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* Each line as a comment of the language (or of LaTeX), so that the whole output can be read back. Headings that are
 * comments already stay as they are. */
static void put_comments(const char *text, char mark, ag_text *out) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    if (*text != mark) ag_text_char(out, mark);
    if (n && *text != mark) ag_text_char(out, ' ');
    ag_text_strn(out, text, n);
    ag_text_char(out, '\n');
    text += n + (text[n] == '\n');
  }
}

/* dQ = ... dt + ... o dW, quantity by quantity. */
static void put_rates(const ag_rates *r, ag_text *out) {
  ag_text_str(out,
              "\nrates of energy and observables: coefficients of dt and o dW (Stratonovich); drift of the mean\n");
  for (int i = 0; i < r->n; i++) {
    const ag_rate *a = &r->at[i];
    if (!i || strcmp(a->name, r->at[i - 1].name)) ag_text_printf(out, "  %s\n", a->name);
    ag_text_printf(out, "    %-10s %s", a->of, ag_rate_text(a->word));
    if (a->formula) ag_text_printf(out, ": %s", a->formula);
    if (a->unsolved && !strcmp(a->of, "dt")) ag_text_str(out, ", accelerations as in the equations of motion");
    else if (a->unsolved) ag_text_printf(out, ", accelerations as in noise %s", a->of + 1);
    ag_text_char(out, '\n');
  }
}

static void json_rates(ag_json *j, const ag_rates *r) {
  ag_json_begin(j, "rates", '[');
  for (int i = 0; i < r->n; i++) {
    const ag_rate *a = &r->at[i];
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "name", a->name);
    ag_json_string(j, "of", a->of);
    ag_json_string(j, "verdict", ag_rate_text(a->word));
    ag_json_string(j, "formula", a->formula);
    ag_json_bool(j, "unsolved", a->unsolved);
    ag_json_end(j, '}');
  }
  ag_json_end(j, ']');
}

static ag_status act(void *self) {
  const args *a = self;
  const ag_derive_options reading = {.symbolic = true};
  ag_status status;
  if (a->standalone && !a->latex) return ag_usage("show", "--standalone needs --latex");
  if (a->rates && a->latex) return ag_usage("show", "--rates is text: leave out --latex");
  anagyre_model *m = ag_open_derived(&a->common, &reading, &status);
  if (!m) return status;
  ag_rates rates = {0};
  if (a->rates) status = ag_conserve_rates(&rates, ag_api_ctx(m), ag_api_model(m), ag_api_system(m, &reading));
  if (a->rates && status != AG_OK) {
    ag_rates_done(&rates);
    return ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
  }
  ag_text model = {0}, equations = {0}, out = {0};
  ag_lang_write(ag_api_model(m), &model);
  ag_show_options wish = {.form = (ag_show_form)a->form, .latex = a->latex, .standalone = a->standalone};
  ag_system_show(ag_api_system(m, &reading), &wish, &equations);
  if (a->rates) put_rates(&rates, &equations);
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", anagyre_name(m));
    ag_json_string(&j, "expanded", ag_text_cstr(&model));
    ag_json_string(&j, a->latex ? "latex" : "equations", ag_text_cstr(&equations));
    if (a->rates) json_rates(&j, &rates);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else {
    if (a->latex) put_comments(ag_text_cstr(&model), '%', &out), ag_text_str(&out, ag_text_cstr(&equations));
    else {
      ag_text_str(&out, ag_text_cstr(&model));
      ag_text_str(&out, "\n# Derived equations\n");
      put_comments(ag_text_cstr(&equations), '#', &out);
    }
    fputs(ag_text_cstr(&out), stdout);
  }
  ag_text_done(&model);
  ag_text_done(&equations);
  ag_text_done(&out);
  if (a->rates) ag_rates_done(&rates);
  anagyre_close(m);
  return AG_OK;
}

const ag_command ag_command_show = {
    .name = "show",
    .words = "MODEL",
    .doc = "the expanded model and the derived equations, as text or LaTeX",
    .text = "Prints the model with every let and family written out, then the equations derived from it,\n"
            "simplified and in the names of the model. The equations are comments of the model language,\n"
            "so what is printed is again a model file with the same meaning. With --latex the equations\n"
            "are LaTeX and the model is the comment. --rates adds the drift and the noise coefficients of\n"
            "the energy and of every observable: zero (proved, or at samples) or not.\n",
    .examples = "  anagyre show chaplygin_sleigh\n"
                "  anagyre show my.nh --form multipliers\n"
                "  anagyre show my.nh --latex --standalone > equations.tex\n",
    AG_COMMAND(1, 1),
};
