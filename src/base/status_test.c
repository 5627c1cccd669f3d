/* SPDX-License-Identifier: MIT
 * Diagnostics: position, line, caret; how many are kept; similar names. */
#include "base/status.h"

#include "check.h"

static const char source[] = "model sleigh\nparam m = 1\nlagrangian m/2*dot(v, v\n";

static void placed(void) {
  ag_ctx ctx = {.file = "sleigh.nh", .source = source};
  ag_ctx_error(&ctx, ((ag_pos){3, 20, 1}), "unknown name `%s`", "v");
  ag_ctx_note(&ctx, ((ag_pos){1, 7, 6}), "in this model");
  ag_ctx_warn(&ctx, ((ag_pos){0}), "nothing to see");
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  AG_CHECK_STR(ag_text_cstr(&out), "sleigh.nh:3:20: error: unknown name `v`\n"
                                   "  lagrangian m/2*dot(v, v\n"
                                   "                     ^\n"
                                   "sleigh.nh:1:7: note: in this model\n"
                                   "  model sleigh\n"
                                   "        ^~~~~~\n"
                                   "sleigh.nh: warning: nothing to see\n");
  AG_CHECK(ctx.n_error == 1 && ctx.n_diag == 3);
  ag_text_done(&out);
  ag_ctx_done(&ctx);
  AG_CHECK(ctx.n_diag == 0 && ctx.diags == NULL);
}

/* Positions that do not exist in the source: past the last line, past the end of a line. */
static void misplaced(void) {
  ag_ctx ctx = {.file = "sleigh.nh", .source = source};
  ag_ctx_error(&ctx, ((ag_pos){99, 1, 1}), "far below");
  ag_ctx_error(&ctx, ((ag_pos){2, 500, 40}), "far right");
  ag_ctx_error(&ctx, ((ag_pos){4, 1, 1}), "the end of the file");
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  AG_CHECK_STR(ag_text_cstr(&out), "sleigh.nh:99:1: error: far below\n"
                                   "sleigh.nh:2:500: error: far right\n"
                                   "  param m = 1\n"
                                   "             ^\n"
                                   "sleigh.nh:4:1: error: the end of the file\n"
                                   "  \n"
                                   "  ^\n");
  ag_text_done(&out);
  ag_ctx_done(&ctx);
}

/* Control characters are not passed to the terminal; the caret counts characters, not bytes; long lines are cut. */
static void awkward_lines(void) {
  ag_ctx ctx = {.source = "a\tb\x1b[31m\nd\xc3\xa9j\xc3\xa0 x\n"};
  ag_ctx_error(&ctx, ((ag_pos){1, 3, 1}), "tab and escape");
  ag_ctx_error(&ctx, ((ag_pos){2, 8, 1}), "accents");
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  AG_CHECK_STR(ag_text_cstr(&out), "1:3: error: tab and escape\n"
                                   "  a b?[31m\n"
                                   "    ^\n"
                                   "2:8: error: accents\n"
                                   "  d\xc3\xa9j\xc3\xa0 x\n"
                                   "       ^\n");
  ag_text_done(&out);
  ag_ctx_done(&ctx);

  char line[5001];
  memset(line, '+', 5000);
  line[3000] = 'x';
  line[5000] = 0;
  ctx = (ag_ctx){.source = line};
  ag_ctx_error(&ctx, ((ag_pos){1, 3001, 1}), "in a long line");
  ag_ctx_render(&ctx, &out);
  const char *shown = strchr(ag_text_cstr(&out), '\n') + 1, *caret = strchr(shown, '\n') + 1;
  AG_CHECK(out.n < 500);
  AG_CHECK(strchr(shown, 'x') && strchr(shown, 'x') - shown == strchr(caret, '^') - caret);
  ag_text_done(&out);
  ag_ctx_done(&ctx);
}

static void many(void) {
  ag_ctx ctx = {0};
  for (int i = 0; i < 70; i++) ag_ctx_error(&ctx, ((ag_pos){0}), "number %d", i);
  AG_CHECK(ctx.n_error == 70 && ctx.n_diag == 50);
  ag_text out = {0};
  ag_ctx_render(&ctx, &out);
  AG_CHECK(strstr(ag_text_cstr(&out), "error: number 49\n") != NULL);
  AG_CHECK(strstr(ag_text_cstr(&out), "number 50") == NULL);
  AG_CHECK(strstr(ag_text_cstr(&out), "... and 20 more errors\n") != NULL);
  ag_ctx_done(&ctx);
  for (int i = 0; i < 200; i++) ag_ctx_report(&ctx, i % 2 ? AG_WARNING : AG_NOTE, ((ag_pos){0}), "remark %d", i);
  AG_CHECK(ctx.n_error == 0 && ctx.n_diag == 50);
  for (int i = 0; i < 70; i++) ag_ctx_error(&ctx, ((ag_pos){0}), "number %d", i);
  ag_ctx_warn(&ctx, ((ag_pos){0}), "one more");
  AG_CHECK(ctx.n_error == 70 && ctx.n_diag == 100); /* remarks leave room for errors */
  ag_text_clear(&out);
  ag_ctx_render_from(&ctx, AG_ERROR, &out);
  AG_CHECK(!strncmp(ag_text_cstr(&out), "error: number 0\nerror: number 1\n", 32));
  AG_CHECK(strstr(ag_text_cstr(&out), "... and 20 more errors\n") != NULL);
  ag_text_done(&out);
  ag_ctx_done(&ctx);
}

static void near_names(void) {
  static const char *const names[] = {"lagrangian", "constraint", "config", "Omega", "x", "energy"};
  const int n = sizeof names / sizeof *names;
  AG_CHECK_STR(ag_nearest("lagrangean", n, names), "lagrangian");
  AG_CHECK_STR(ag_nearest("constriant", n, names), "constraint");
  AG_CHECK_STR(ag_nearest("Omgea", n, names), "Omega");
  AG_CHECK_STR(ag_nearest("confg", n, names), "config");
  AG_CHECK(ag_nearest("temperature", n, names) == NULL);
  AG_CHECK(ag_nearest("y", n, names) == NULL);
  AG_CHECK(ag_nearest("", n, names) == NULL);
  AG_CHECK(ag_nearest("Omega", 0, names) == NULL);
  char huge[500];
  memset(huge, 'a', sizeof huge - 1);
  huge[sizeof huge - 1] = 0;
  AG_CHECK(ag_nearest(huge, n, names) == NULL);
}

static ag_status passes_on(ag_status inner, int *reached) {
  AG_TRY(inner);
  *reached = 1;
  return AG_OK;
}

static void statuses(void) {
  int reached = 0;
  AG_CHECK(passes_on(AG_WRONG, &reached) == AG_WRONG && reached == 0);
  AG_CHECK(passes_on(AG_OK, &reached) == AG_OK && reached == 1);
  AG_CHECK(AG_OK == 0 && AG_FAILED == 1 && AG_WRONG == 2 && AG_SYSTEM == 3); /* exit codes: a contract */
}

static void severe(void) {
  ag_ctx ctx = {0};
  ag_ctx_note(&ctx, ((ag_pos){0}), "a note");
  ag_ctx_warn(&ctx, ((ag_pos){0}), "a warning");
  ag_text out = {0};
  ag_ctx_render_from(&ctx, AG_WARNING, &out);
  AG_CHECK(!strcmp(ag_text_cstr(&out), "warning: a warning\n"));
  ag_text_done(&out);
  ag_ctx_done(&ctx);
}

int main(void) {
  placed();
  misplaced();
  awkward_lines();
  many();
  severe();
  near_names();
  statuses();
  return ag_check_report();
}
