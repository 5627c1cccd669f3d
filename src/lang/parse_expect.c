/* SPDX-License-Identifier: MIT
 * The forms of expect. */
#include "lang/parser.h"

/* EVENT first at TIME within TOL | EVENT n at TIME within TOL | EVENT occurs N times over TIME; false, without
 * consuming tokens, if it is none of these. */
static bool at_event_form(const ag_parser *p) {
  const ag_token *second = ag_parser_next(p, 1);
  if (!ag_parser_is(p, AG_TOKEN_NAME)) return false;
  return ag_parser_token_is(p, second, "first") || ag_parser_token_is(p, second, "occurs") ||
         (second->kind == AG_TOKEN_NUMBER && ag_parser_token_is(p, ag_parser_next(p, 2), "at"));
}

static bool parse_expect_event(ag_parser *p, ag_stmt *s) {
  s->name = ag_parser_want_name(p, "the name of an event", &s->name_pos);
  if (ag_parser_take_word(p, "occurs")) {
    s->expect = AG_EXPECT_COUNT;
    return (s->nth = ag_parse_expr(p)) && ag_parser_want_word(p, "times", NULL) &&
           ag_parser_want_word(p, "over", NULL) && (s->time = ag_parse_expr(p));
  }
  s->expect = AG_EXPECT_EVENT;
  if (!ag_parser_take_word(p, "first")) s->nth = ag_parse_postfix(p);
  return ag_parser_want_word(p, "at", NULL) && (s->time = ag_parse_expr(p)) && ag_parser_want_word(p, "within", NULL) &&
         (s->tol = ag_parse_expr(p));
}

/* ... within K sigma paths N dt H [method NAME] [seed S]: of mean(EXPR) or var(EXPR), as the builder checks. */
static bool parse_expect_statistic(ag_parser *p, ag_stmt *s) {
  s->expect = AG_EXPECT_MEAN;
  if (!ag_parser_want_word(p, "paths", NULL) || !(s->paths = ag_parse_expr(p)) || !ag_parser_want_word(p, "dt", NULL) ||
      !(s->dt = ag_parse_expr(p)))
    return false;
  if (ag_parser_take_word(p, "method") && !(s->method = ag_parser_want_name(p, "the name of a method", &s->method_pos)))
    return false;
  return !ag_parser_take_word(p, "seed") || (s->seed = ag_parse_expr(p));
}

static bool parse_expect_value(ag_parser *p, ag_stmt *s) {
  static const char *const words[] = {"at", "constant", "varies", "first", "occurs"};
  ag_part *part = s->parts = AG_NEW(p->arena, ag_part);
  s->n_part = 1;
  part->pos = ag_parser_pos(p);
  part->left = ag_parse_expr(p);
  if (!part->left) return false;
  if (ag_parser_take_word(p, "constant")) {
    s->expect = AG_EXPECT_CONSTANT;
    return ag_parser_want_word(p, "within", NULL) && (s->tol = ag_parse_expr(p)) &&
           ag_parser_want_word(p, "over", NULL) && (s->time = ag_parse_expr(p));
  }
  if (ag_parser_take_word(p, "varies")) {
    s->expect = AG_EXPECT_VARIES;
    return ag_parser_want_word(p, "by", NULL) && (s->tol = ag_parse_expr(p)) && ag_parser_want_word(p, "over", NULL) &&
           (s->time = ag_parse_expr(p));
  }
  s->expect = AG_EXPECT_AT;
  if (ag_parser_take_word(p, "at") && !(s->time = ag_parse_expr(p))) return false;
  if (!ag_parser_is(p, AG_TOKEN_EQUALS))
    return ag_parser_unexpected(p, s->time ? "`=` and a value" : "`=`, `at`, `constant` or `varies`", s->time ? 0 : 5,
                                words);
  p->at++;
  if (!(part->right = ag_parse_expr(p)) || !ag_parser_want_word(p, "within", NULL) || !(s->tol = ag_parse_expr(p)))
    return false;
  if (ag_parser_take_word(p, "sigma")) return parse_expect_statistic(p, s);
  if (!s->time && ag_parser_take_word(p, "over")) {
    s->expect = AG_EXPECT_ALONG;
    return (s->time = ag_parse_expr(p)) != NULL;
  }
  return true;
}

/* conserved NAME [pathwise], not conserved NAME [pathwise]: followed by a name, since both words may be names
 * themselves. */
static bool at_conserved_form(const ag_parser *p, int *n_word) {
  const ag_token *first = ag_parser_next(p, 0);
  *n_word = ag_parser_token_is(p, first, "not") ? 2 : 1;
  const ag_token *word = ag_parser_next(p, *n_word - 1), *name = ag_parser_next(p, *n_word);
  if (!ag_parser_token_is(p, word, "conserved") || name->kind != AG_TOKEN_NAME) return false;
  static const char *const forms[] = {"at", "constant", "varies", "first", "occurs"};
  const ag_token *after = ag_parser_next(p, *n_word + 1);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (ag_parser_token_is(p, name, forms[i]) && after->kind != AG_TOKEN_END) return false;
  return true;
}

static bool parse_expect_conserved(ag_parser *p, ag_stmt *s, int n_word) {
  ag_part *part = s->parts = AG_NEW(p->arena, ag_part);
  s->n_part = 1;
  s->expect = n_word == 1 ? AG_EXPECT_CONSERVED : AG_EXPECT_NOT_CONSERVED;
  p->at += n_word;
  part->pos = ag_parser_pos(p);
  if (!(part->left = ag_parse_expr(p))) return false;
  s->pathwise = ag_parser_take_word(p, "pathwise");
  return true;
}

bool ag_parse_expect(ag_parser *p, ag_stmt *s) {
  int n_word;
  bool ok = at_conserved_form(p, &n_word) ? parse_expect_conserved(p, s, n_word)
            : at_event_form(p)            ? parse_expect_event(p, s)
                                          : parse_expect_value(p, s);
  if (!ok) return false;
  return !ag_parser_take_word(p, "when") || ag_parse_when(p, s);
}
