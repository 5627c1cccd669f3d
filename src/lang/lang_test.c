/* SPDX-License-Identifier: MIT
 * The front of lang/: contents of a model after reading, errors, limits. */
#include <time.h>

#include "lang/lang_test.h"

static void check_model(void) {
  static const char text[] =
      "model sleigh \"A sleigh\"\nreference Key \"entry\"\nparam m = 1, J = m/2, w = 2\nconfig x in R, y in R, th in "
      "S1, n in S2\n"
      "let f = [cos(th), sin(th)]\nlagrangian m/2*(x'^2 + y'^2) + J/2*th'^2 + dot(n', n')\nconstraint dot([x', y'], "
      "[-f[2], f[1]]) = 0\n"
      "prescribe x = sin(w*t)\nforce th' = -th', n'[2] = 1\nframe u = dot([x', y'], f)\ndomain th in -1..m\n"
      "observable p = energy, q = drive.x + reaction.y\nevent stop: u = 0 rising terminal\ngenerator turn: th' = 1, x' "
      "= -y, y' = x\n"
      "start y = 2, u = 1\nexpect x at 1 = 0 within 1 when w = 3\n";
  ag_model *m = read_text(text, 0, NULL, NULL);
  AG_CHECK(m != NULL);
  if (!m) return;
  AG_CHECK_STR(m->name, "sleigh");
  AG_CHECK_STR(m->title, "A sleigh");
  AG_CHECK_STR(m->source, text);
  AG_CHECK(m->n_references == 1 && m->n_params == 3 && m->n_coords == 4 && m->n_lets == 1 && m->n_constraints == 1);
  AG_CHECK(m->n_holonomics == 1); /* |n| = 1 is implied by S2 */
  AG_CHECK(m->n_prescribes == 1 && !strcmp(m->prescribes[0].name, "x") && m->prescribes[0].pos.line == 8);
  AG_CHECK(m->n_forces == 2 && m->forces[0].coord == 2 && m->forces[0].row == -1 && m->forces[1].coord == 3 &&
           m->forces[1].row == 1);
  AG_CHECK(m->n_frames == 1 && m->n_frame_inputs == 1 && m->n_domains == 1 && m->n_observables == 2 &&
           m->n_drives == 1 && m->n_reactions == 1);
  AG_CHECK(m->n_events == 1 && m->events[0].direction == 1 && m->events[0].terminal &&
           m->events[0].x == m->frames[0].x);
  AG_CHECK(m->n_generators == 1 && m->generators[0].n == 3);
  AG_CHECK(m->n_starts == 2 && m->starts[0].frame == -1 && m->starts[1].frame == 0);
  AG_CHECK(m->n_expects == 1 && m->expects[0].n_when == 1 && m->expects[0].when_param[0] == 2);
  AG_CHECK_STR(m->constraints[0].text, "dot([x', y'], [-f[2], f[1]]) = 0");
  AG_CHECK_STR(m->expects[0].text, "x at 1 = 0 within 1 when w = 3");
  AG_CHECK(m->lagrangian_pos.line == 6 && m->lagrangian_pos.col == 12);
  ag_model_free(m);
}

/* Errors are sorted by position, those of --set first; the context may have been used before. */
static void check_reports(void) {
  static const char text[] =
      "model m\nlet a = b\nconfig x in R\nlagrangian x'^2 + c\nconstraint x^2 = 0\nlet b = 1\nevent e: x = )\n";
  static const int lines[] = {2, 4, 5, 7};
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  ag_ctx_error(&ctx, ((ag_pos){9, 9, 1}), "from before");
  ag_set set = {"x", "1+"};
  AG_CHECK(ag_lang_read(&ctx, "test.nh", text, strlen(text), 1, &set, &m) == AG_WRONG);
  AG_CHECK(m == NULL && ctx.n_error == 6 && ctx.n_diag == 6 && ctx.source == NULL);
  AG_CHECK_STR(ctx.file, "test.nh");
  if (ctx.n_diag == 6) {
    AG_CHECK_STR(ctx.diags[1].file, "--set x=1+");
    for (int i = 0; i < 4; i++) AG_CHECK(ctx.diags[2 + i].pos.line == lines[i]);
    AG_CHECK_STR(ctx.diags[3].line_text, "lagrangian x'^2 + c");
  }
  ag_ctx_done(&ctx);
}

/* A text need not be null-terminated; nothing after its end is read. */
static void check_unterminated(void) {
  static const char line[] = "model m\nconfig x in R\nlagrangian x'^2";
  size_t n = strlen(line);
  char *text = malloc(n);
  memcpy(text, line, n);
  ag_ctx ctx = {0};
  ag_model *m = NULL;
  AG_CHECK(ag_lang_read(&ctx, "test.nh", text, n, 0, NULL, &m) == AG_OK);
  free(text);
  AG_CHECK(m && !strcmp(m->source, line));
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

/* Reads within 10 s (the goal is 1 s in a plain build; sanitizers are slower) and checks that the first message
 * contains `expected` ("": none). */
static void bounded(ag_text *text, const char *expected) {
  const char *why;
  clock_t begin = clock();
  ag_model *m = read_text(ag_text_cstr(text), 0, NULL, &why);
  AG_CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 10);
  AG_CHECK((m != NULL) == !*expected);
  if (!strstr(why, expected)) fprintf(stderr, "found %s, expected %s\n", why, expected);
  AG_CHECK(strstr(why, expected) != NULL);
  ag_model_free(m);
  ag_text_done(text);
}

static void begin(ag_text *t) {
  *t = (ag_text){0};
  ag_text_str(t, "model m\nconfig x in R, y in R\n");
}

static void check_limits(void) {
  ag_text t;
  begin(&t); /* a chain of 100 000 terms is not nested */
  ag_text_str(&t, "lagrangian x'^2");
  for (int i = 0; i < 100000; i++) ag_text_str(&t, " + y'^2");
  bounded(&t, "");
  begin(&t);
  ag_text_str(&t, "lagrangian x'^2 + x");
  for (int i = 0; i < 100000; i++) ag_text_str(&t, "*y");
  bounded(&t, "");
  begin(&t); /* 20 000 lets deep */
  ag_text_str(&t, "let a0 = x\n");
  for (int i = 1; i < 20000; i++) ag_text_printf(&t, "let a%d = cos(a%d)\n", i, i - 1);
  ag_text_str(&t, "lagrangian x'^2 + a19999\nobservable b = a19999'\n");
  bounded(&t, "");
  begin(&t);
  ag_text_str(&t, "lagrangian ");
  for (int i = 0; i < 100000; i++) ag_text_char(&t, '(');
  bounded(&t, "nested more than 200 deep");
  begin(&t);
  ag_text_str(&t, "lagrangian x'^2 + sum(i in 1..100000, sum(j in 1..100000, 0))\n");
  bounded(&t, "too large");
  begin(&t); /* many primes of something large */
  ag_text_str(&t, "let s = sum(i in 1..3000, sin(i*x))\nlagrangian x'^2 + y'^2 + sum(i in 1..100000, (s + i)')\n");
  bounded(&t, "too large");
  begin(&t);
  for (int i = 0; i < 100000; i++) ag_text_printf(&t, "oops%d\n", i);
  bounded(&t, "unknown statement");
  t = (ag_text){0};
  for (int i = 0; i <= 1 << 20; i++) ag_text_char(&t, '#');
  bounded(&t, "1048577 bytes");
}

static void check_words(void) {
  const char *const *words;
  int n = ag_lang_words(&words), found = 0;
  for (int i = 0; i < n; i++)
    found += !strcmp(words[i], "lagrangian") || !strcmp(words[i], "noise") || !strcmp(words[i], "angvel");
  AG_CHECK(found == 3);
}

int main(void) {
  check_model();
  check_reports();
  check_unterminated();
  check_limits();
  check_words();
  return ag_check_report();
}
