/* SPDX-License-Identifier: MIT
 * `anagyre test`: the expect statements of models. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "cli/open.h"
#include "run/run.h"

typedef struct args {
  ag_common common;
  bool all;
} args;

static const ag_option options[] = {
    AG_OPTION(args, "all", FLAG, all, .doc = "all shipped models"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_OPTION(args, "quiet", FLAG, common.quiet, .letter = 'q', .doc = "print only failures"),
    AG_COMMON_ROWS(args),
};

typedef struct tally {
  const args *a;
  ag_json *json; /* NULL: text */
  int n_model, n_expect, n_failed;
  ag_status worst;
} tally;

/* A statement on one line: runs of blanks and line ends become one blank. */
static void put_text(const char *text, ag_text *out) {
  for (const char *s = text ? text : "?"; *s; s++)
    if (*s != '\n' && *s != ' ' && *s != '\t' && *s != '\r') ag_text_char(out, *s);
    else if (out->n && out->s[out->n - 1] != ' ') ag_text_char(out, ' ');
}

static void put_verdict(const char *path, const ag_verdict *v, int line) {
  ag_text text = {0};
  put_text(v->text, &text);
  printf("%s:%d: %-6s  %s", path, line, v->holds ? "ok" : "FAILED", ag_text_cstr(&text));
  if (v->note) printf(": %s", v->note);
  else if (v->holds) printf("  (error %.2g, allowed %.2g)", v->error, v->tol);
  else
    printf(": got %s, wanted %s, error %.3g, allowed %.3g", ag_number_text(v->got).s, ag_number_text(v->wanted).s,
           v->error, v->tol);
  putchar('\n');
  ag_text_done(&text);
}

static void json_verdict(ag_json *j, const ag_verdict *v, int line) {
  ag_json_begin(j, NULL, '{');
  ag_json_string(j, "text", v->text);
  ag_json_whole(j, "line", line);
  ag_json_bool(j, "holds", v->holds);
  ag_json_number(j, "got", v->got);
  ag_json_number(j, "wanted", v->wanted);
  ag_json_number(j, "error", v->error);
  ag_json_number(j, "tolerance", v->tol);
  if (v->note) ag_json_string(j, "note", v->note);
  ag_json_end(j, '}');
}

static void judge(tally *y, anagyre_model *m, int n, const ag_verdict *verdicts) {
  const ag_model *model = ag_api_model(m);
  for (int i = 0; i < n; i++) {
    int line = i < ag_model_n_expects(model) ? ag_model_expects(model)[i].pos.line : 0;
    y->n_expect++;
    y->n_failed += !verdicts[i].holds;
    if (!verdicts[i].holds && y->worst < AG_FAILED) y->worst = AG_FAILED;
    if (y->json) json_verdict(y->json, &verdicts[i], line);
    else if (!verdicts[i].holds || !y->a->common.quiet) put_verdict(ag_api_path(m), &verdicts[i], line);
  }
  if (!n && !y->json && !y->a->common.quiet) printf("%s: no expectations\n", ag_api_path(m));
  fflush(stdout);
}

static void test_one(tally *y, const char *word) {
  int n = 0;
  ag_verdict *verdicts = NULL;
  double begun = ag_clock();
  anagyre_model *m = ag_open(word, &y->a->common.changes);
  ag_system *sys = ag_api_system(m, &(ag_derive_options){0});
  ag_status status = sys ? ag_expect_run(ag_api_ctx(m), sys, ag_conserve_expect, &n, &verdicts) : ag_api_status(m);
  if (ag_api_ctx(m)->n_error) ag_open_report(ag_api_ctx(m), true);
  y->n_model++;
  if (status > y->worst) y->worst = status;
  if (y->json) {
    ag_json_begin(y->json, NULL, '{');
    ag_json_string(y->json, "model", ag_api_model(m) ? anagyre_name(m) : word);
    ag_json_string(y->json, "file", ag_api_path(m));
    ag_json_begin(y->json, "expectations", '[');
  }
  if (status == AG_OK) judge(y, m, n, verdicts);
  if (y->json) {
    ag_json_end(y->json, ']');
    ag_json_number(y->json, "seconds", ag_clock() - begun);
    ag_json_diagnostics(y->json, ag_api_ctx(m));
    ag_json_end(y->json, '}');
  }
  ag_expect_done(n, verdicts);
  anagyre_close(m);
}

static ag_status act(void *self) {
  const args *a = self;
  if (a->all && a->common.n_word) return ag_usage("test", "--all tests all shipped models: do not name any");
  if (!a->all && !a->common.n_word) return ag_usage("test", "name a model, or give --all");
  ag_json j = {0};
  tally y = {.a = a, .json = a->common.json ? &j : NULL};
  if (y.json) ag_json_begin(&j, NULL, '{'), ag_json_begin(&j, "models", '[');
  ag_shipped shipped = {0};
  if (a->all) ag_shipped_init(&shipped);
  for (int i = 0; i < shipped.n; i++) test_one(&y, shipped.paths[i]);
  for (int i = 0; i < a->common.n_word; i++) test_one(&y, a->common.words[i]);
  ag_shipped_done(&shipped);
  if (y.json) {
    ag_json_end(&j, ']');
    ag_json_whole(&j, "expectations", y.n_expect);
    ag_json_whole(&j, "failed", y.n_failed);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else
    printf("%d model%s, %d expectation%s, %d failed\n", y.n_model, y.n_model == 1 ? "" : "s", y.n_expect,
           y.n_expect == 1 ? "" : "s", y.n_failed);
  return y.worst;
}

const ag_command ag_command_test = {
    .name = "test",
    .words = "MODEL... | --all",
    .doc = "run the expect statements of models",
    .text =
        "Runs each model as its `expect` statements require (dop853, rtol = atol = 5e-13; means over paths\n"
        "by the method they name) and prints one line per expectation. The exit code is 1 when one does not hold.\n",
    .examples = "  anagyre test rattleback\n"
                "  anagyre test --all --quiet\n",
    AG_COMMAND(0, -1),
};
