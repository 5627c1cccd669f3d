/* SPDX-License-Identifier: MIT */
#include "lang/lex.h"

#include "check.h"

/* The kinds of the tokens of a text, one letter each: n name, # number, s string, ! bad, otherwise the first character.
 */
static const char *kinds(const char *text) {
  static char out[256];
  ag_arena *a = ag_arena_create();
  ag_tokens t;
  ag_lex_split(a, text, true, &t);
  int n = 0;
  for (int i = 0; i < t.n && n < 255; i++) {
    const ag_token *k = &t.at[i];
    out[n++] = k->kind == AG_TOKEN_END      ? '.'
               : k->kind == AG_TOKEN_BAD    ? '!'
               : k->kind == AG_TOKEN_NAME   ? 'n'
               : k->kind == AG_TOKEN_NUMBER ? '#'
               : k->kind == AG_TOKEN_STRING ? 's'
               : k->kind == AG_TOKEN_RANGE  ? ':'
                                            : text[k->from];
  }
  out[n] = 0;
  ag_lex_done(&t);
  ag_arena_free(a);
  return out;
}

static double number(const char *text) {
  ag_arena *a = ag_arena_create();
  ag_tokens t;
  ag_lex_split(a, text, true, &t);
  double v = t.at[0].kind == AG_TOKEN_NUMBER && t.at[0].len == strlen(text) ? t.at[0].number : NAN;
  ag_lex_done(&t);
  ag_arena_free(a);
  return v;
}

/* The message of the first bad token, "" if there is none. */
static const char *message(const char *text) {
  static char out[300];
  ag_arena *a = ag_arena_create();
  ag_tokens t;
  ag_lex_split(a, text, true, &t);
  out[0] = 0;
  for (int i = 0; i < t.n && !out[0]; i++)
    if (t.at[i].kind == AG_TOKEN_BAD) snprintf(out, sizeof out, "%s", t.at[i].message);
  ag_lex_done(&t);
  ag_arena_free(a);
  return out;
}

static void check_tokens(void) {
  AG_CHECK_STR(kinds(""), ".");
  AG_CHECK_STR(kinds("a1_b \t c # d\n e"), "nnn.");
  AG_CHECK_STR(kinds("1..K"), "#:n.");
  AG_CHECK_STR(kinds("0.5..1.5"), "#:#.");
  AG_CHECK_STR(kinds("x'[2]^T*(y+1)"), "n'[#]^n*(n+#).");
  AG_CHECK_STR(kinds("a==b=c!=d<=e<f>=g>h"), "n=n=n!n<n<n>n>n.");
  AG_CHECK_STR(kinds("\"a \"\" b\" \"\""), "ss.");
  AG_CHECK_STR(kinds("drive.psi:"), "n:.");
  AG_CHECK_STR(kinds("\xef\xbb\xbfmodel"), "n.");
}

static void check_numbers(void) {
  AG_CHECK(number("12") == 12);
  AG_CHECK(number("0.1") == 0.1);
  AG_CHECK(number(".5") == 0.5);
  AG_CHECK(number("1e-3") == 1e-3);
  AG_CHECK(number("1.5E+2") == 150);
  AG_CHECK(number("0e999") == 0);
  AG_CHECK(number("4.9e-324") == 4.9e-324);
  AG_CHECK(isnan(number("1.")) && isnan(number("1e")) && isnan(number("1.2.3")) && isnan(number("1e400")) &&
           isnan(number("2x")));
}

static void check_messages(void) {
  AG_CHECK_STR(message("1."), "`1.` is not a number: write `1` or `1.0`");
  AG_CHECK_STR(message("1.e5"), "`1.` is not a number: write `1` or `1.0`");
  AG_CHECK_STR(message("2e+ "), "`2e+` is not a number: the digits of its exponent are missing");
  AG_CHECK_STR(message("2exp(x)"), "`2exp`: there is no implicit product, write `2*exp`");
  AG_CHECK_STR(message("1.2.3"), "`1.2.3` is not a number");
  AG_CHECK_STR(message("a && b"), "unexpected `&&`: write `and`");
  AG_CHECK_STR(message("\"abc\r\n"), "the string is not closed on its line");
  AG_CHECK_STR(message("@"), "unexpected `@`");
  AG_CHECK_STR(message("x*y"), "");
}

static void check_positions(void) {
  ag_arena *a = ag_arena_create();
  ag_tokens t;
  ag_lex_split(a, "a\r\n  b\n\tc \xc3\xa4 d", true, &t);
  AG_CHECK(t.n == 6);
  AG_CHECK(t.at[0].first && t.at[0].fresh && t.at[0].line == 1 && t.at[0].col == 1);
  AG_CHECK(!t.at[1].first && t.at[1].fresh && t.at[1].line == 2 && t.at[1].col == 3);
  AG_CHECK(t.at[2].line == 3 && t.at[2].col == 2 && t.at[3].kind == AG_TOKEN_BAD && t.at[3].len == 2 &&
           t.at[4].col == 7);
  ag_lex_done(&t);
  ag_lex_split(a, "m=1", false, &t);
  AG_CHECK(!t.at[0].first);
  ag_lex_done(&t);
  ag_arena_free(a);
}

static bool passes(const char *text, size_t n) {
  ag_ctx ctx = {0};
  bool ok = ag_lex_check(&ctx, text, n) == AG_OK;
  AG_CHECK(ok == (ctx.n_error == 0));
  ag_ctx_done(&ctx);
  return ok;
}

static void check_texts(void) {
  char *large = ag_heap_alloc((1 << 20) + 2);
  memset(large, ' ', (1 << 20) + 1);
  AG_CHECK(passes(large, 1 << 20) && !passes(large, (1 << 20) + 1));
  free(large);
  AG_CHECK(passes("", 0) && passes("a\tb\r\n", 5) && passes("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9));
  AG_CHECK(!passes("a\0b", 3) && !passes("a\rb", 3) && !passes("\r", 1) && !passes("\x7f", 1) && !passes("\x1b", 1));
  AG_CHECK(!passes("\xff", 1) && !passes("\xc3", 1) && !passes("\xc0\x80", 2) && !passes("\xed\xa0\x80", 3) &&
           !passes("\xf4\x90\x80\x80", 4));
}

int main(void) {
  check_tokens();
  check_numbers();
  check_messages();
  check_positions();
  check_texts();
  return ag_check_report();
}
