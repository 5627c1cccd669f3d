/* SPDX-License-Identifier: MIT
 * Expressions by recursive descent; docs/language.md section 10 is the grammar. */
#include <string.h>

#include "base/stack.h"
#include "lang/parser.h"

enum { MAX_DEPTH = 200 };

/* A list of links that is still growing. */
typedef struct chain {
  ag_link *at;
  int n, cap;
} chain;

static ag_syn *make(ag_parser *p, ag_syn_kind kind, int from) {
  ag_syn *x = AG_NEW(p->arena, ag_syn);
  x->kind = (uint8_t)kind;
  x->pos = ag_parser_span(p, from);
  return x;
}

static void push(ag_parser *p, chain *c, ag_token_kind op, ag_pos pos, ag_syn *x, ag_syn *y) {
  AG_ARENA_PUSH(p->arena, c->at, c->n, c->cap);
  c->at[c->n++] = (ag_link){(uint8_t)op, pos, x, y};
}

static ag_syn *close_chain(ag_parser *p, ag_syn_kind kind, int from, chain *c) {
  ag_syn *x = make(p, kind, from);
  x->n = c->n;
  x->links = c->at;
  return x;
}

static bool enter(ag_parser *p) {
  if (++p->depth > MAX_DEPTH)
    return ag_parser_fail(p, ag_parser_pos(p), "the expression is nested more than %d deep", MAX_DEPTH);
  if (!ag_stack_low(p->stack_end)) return true;
  return ag_parser_fail(p, ag_parser_pos(p), "the expression is nested %d deep, too deep for the small stack given",
                        p->depth);
}

/* expr {"," expr} up to and including a closing token. */
static bool list_until(ag_parser *p, ag_token_kind close, chain *c) {
  if (ag_parser_take(p, close)) return true;
  for (;;) {
    ag_pos pos = ag_parser_pos(p);
    ag_syn *x = ag_parse_expr(p);
    if (!x) return false;
    push(p, c, AG_TOKEN_END, pos, x, NULL);
    if (ag_parser_take(p, close)) return true;
    if (ag_parser_take(p, AG_TOKEN_COMMA)) continue;
    return ag_parser_unexpected(p, close == AG_TOKEN_CLOSE ? "`,` or `)`" : "`,` or `]`", 0, NULL);
  }
}

/* sum(i in m..n, expr), after the word. */
static ag_syn *parse_sum(ag_parser *p, int from) {
  chain c = {0};
  if (!ag_parser_want(p, AG_TOKEN_OPEN, "after `sum`: sum(i in m..n, expression)")) return NULL;
  ag_pos pos = ag_parser_pos(p);
  int name = ag_parser_want_name(p, "a running index: sum(i in m..n, expression)", &pos);
  if (!name || !ag_parser_want_word(p, "in", "after the index: sum(i in m..n, expression)")) return NULL;
  for (int i = 0; i < 3; i++) {
    ag_syn *x = ag_parse_expr(p);
    if (!x) return NULL;
    push(p, &c, AG_TOKEN_END, pos, x, NULL);
    if (i == 0 && !ag_parser_want(p, AG_TOKEN_RANGE, "between the bounds of the sum")) return NULL;
    if (i == 1 && !ag_parser_want(p, AG_TOKEN_COMMA, "after the bounds of the sum")) return NULL;
  }
  if (!ag_parser_want(p, AG_TOKEN_CLOSE, "at the end of the sum")) return NULL;
  ag_syn *x = close_chain(p, AG_SYN_SUM, from, &c);
  x->name = name;
  return x;
}

/* drive.NAME, reaction.NAME, multiplier.NAME: quantities of the motion for a coordinate or constraint. */
static ag_syn *parse_member(ag_parser *p) {
  static const char *const owners[] = {"drive.", "reaction.", "multiplier."};
  const ag_token *k = ag_parser_peek(p);
  const char *text = p->tokens->text + k->from;
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(owners[i]);
    if (k->len <= n || strncmp(text, owners[i], n)) continue;
    p->at++;
    ag_syn *x = make(p, AG_SYN_MEMBER, p->at - 1);
    x->owner = ag_names_id(p->names, text, n - 1);
    x->name = ag_names_id(p->names, text + n, k->len - n);
    return x;
  }
  return NULL;
}

/* NAME, drive.NAME, NAME(args), sum(...). */
static ag_syn *parse_name(ag_parser *p) {
  static const char *const infix[] = {"then", "else", "and", "or"};
  int from = p->at;
  for (int i = 0; i < 4; i++)
    if (ag_parser_is_word(p, infix[i])) return ag_parser_unexpected(p, "an expression", 0, NULL), NULL;
  if (ag_parser_is_word(p, "if") || ag_parser_is_word(p, "not")) {
    ag_parser_fail(p, ag_parser_pos(p), "inside an expression put the whole `%s` in parentheses",
                   ag_parser_is_word(p, "if") ? "if" : "not");
    return NULL;
  }
  if (ag_parser_take_word(p, "sum")) return parse_sum(p, from);
  ag_syn *member = parse_member(p);
  if (member) return member;
  int name = ag_parser_want_name(p, "a name", NULL);
  if (ag_parser_is(p, AG_TOKEN_DOT)) {
    ag_parser_unexpected(p, "a name right after the dot, without a space", 0, NULL);
    return NULL;
  }
  chain c = {0};
  if (!ag_parser_take(p, AG_TOKEN_OPEN)) {
    ag_syn *x = make(p, AG_SYN_NAME, from);
    x->name = name;
    return x;
  }
  ag_pos pos = ag_parser_span(p, from);
  pos.len--; /* the name alone */
  if (!list_until(p, AG_TOKEN_CLOSE, &c)) return NULL;
  ag_syn *x = close_chain(p, AG_SYN_CALL, from, &c);
  x->pos = pos;
  x->name = name;
  return x;
}

static ag_syn *parse_atom(ag_parser *p) {
  p->after_value = false;
  const ag_token *k = ag_parser_peek(p);
  int from = p->at;
  chain c = {0};
  if (k->kind == AG_TOKEN_NAME) return parse_name(p);
  if (ag_parser_take(p, AG_TOKEN_NUMBER)) {
    ag_syn *x = make(p, AG_SYN_NUMBER, from);
    x->number = k->number;
    return x;
  }
  if (ag_parser_take(p, AG_TOKEN_OPEN)) {
    ag_syn *x = ag_parse_expr(p);
    if (!x) return NULL;
    if (!ag_parser_take(p, AG_TOKEN_CLOSE)) return ag_parser_unexpected(p, "`)`", 0, NULL), NULL;
    return x;
  }
  if (ag_parser_take(p, AG_TOKEN_LEFT)) {
    if (!list_until(p, AG_TOKEN_RIGHT, &c)) return NULL;
    ag_syn *x = close_chain(p, AG_SYN_LIST, from, &c);
    if (c.n == 0) ag_parser_fail(p, x->pos, "an empty list: `[ ]` needs at least one entry");
    return c.n ? x : NULL;
  }
  ag_parser_unexpected(p, "an expression", 0, NULL);
  return NULL;
}

/* Is the next thing `^T`? `T` is reserved, so there is no ambiguity. */
static bool at_transpose(const ag_parser *p) {
  return ag_parser_is(p, AG_TOKEN_POWER) && ag_parser_token_is(p, ag_parser_next(p, 1), "T");
}

ag_syn *ag_parse_postfix(ag_parser *p) {
  int from = p->at;
  ag_syn *base = parse_atom(p);
  chain c = {0};
  while (base && !p->error) {
    ag_pos pos = ag_parser_pos(p);
    if (ag_parser_take(p, AG_TOKEN_PRIME)) {
      if (!c.n) push(p, &c, AG_TOKEN_END, pos, base, NULL);
      push(p, &c, AG_TOKEN_PRIME, pos, NULL, NULL);
    } else if (at_transpose(p)) {
      p->at += 2;
      if (!c.n) push(p, &c, AG_TOKEN_END, pos, base, NULL);
      push(p, &c, AG_TOKEN_POWER, pos, NULL, NULL);
    } else if (ag_parser_is(p, AG_TOKEN_LEFT)) {
      int left = p->at++;
      chain index = {0};
      if (!list_until(p, AG_TOKEN_RIGHT, &index)) return NULL;
      pos = ag_parser_span(p, left);
      if (index.n < 1 || index.n > 2) {
        ag_parser_fail(p, pos, "an index is [i] for vectors and families, [i, j] for matrices");
        return NULL;
      }
      if (!c.n) push(p, &c, AG_TOKEN_END, pos, base, NULL);
      push(p, &c, AG_TOKEN_LEFT, pos, index.at[0].x, index.n == 2 ? index.at[1].x : NULL);
    } else break;
  }
  if (!base || p->error) return NULL;
  return c.n ? close_chain(p, AG_SYN_POST, from, &c) : base;
}

ag_syn *ag_parse_size(ag_parser *p) {
  if (ag_parser_is(p, AG_TOKEN_NUMBER) || ag_parser_is(p, AG_TOKEN_OPEN)) return parse_atom(p);
  int from = p->at,
      name = ag_parser_want_name(p, "a size after `R^`: a number, a name, or an expression in parentheses", NULL);
  if (!name) return NULL;
  ag_syn *x = make(p, AG_SYN_NAME, from);
  x->name = name;
  return x;
}

static ag_syn *parse_unary(ag_parser *p);

static ag_syn *parse_power(ag_parser *p) {
  int from = p->at;
  chain c = {0};
  ag_syn *base = ag_parse_postfix(p);
  ag_pos pos = ag_parser_pos(p);
  if (!base || !ag_parser_take(p, AG_TOKEN_POWER)) return base;
  if (!enter(p)) return NULL;
  ag_syn *exponent = parse_unary(p);
  p->depth--;
  if (!exponent) return NULL;
  push(p, &c, AG_TOKEN_END, pos, base, NULL);
  push(p, &c, AG_TOKEN_POWER, pos, exponent, NULL);
  return close_chain(p, AG_SYN_POW, from, &c);
}

static ag_syn *parse_unary(ag_parser *p) {
  int from = p->at;
  ag_pos pos = ag_parser_pos(p);
  if (!ag_parser_take(p, AG_TOKEN_MINUS)) return parse_power(p);
  if (!enter(p)) return NULL;
  ag_syn *x = parse_unary(p);
  p->depth--;
  if (!x) return NULL;
  chain c = {0};
  push(p, &c, AG_TOKEN_MINUS, pos, x, NULL);
  return close_chain(p, AG_SYN_NEG, from, &c);
}

/* next {(op1 | op2) next} as one chain. */
static ag_syn *parse_chain(ag_parser *p, ag_syn_kind kind, ag_token_kind op1, ag_token_kind op2,
                           ag_syn *(*next)(ag_parser *)) {
  int from = p->at;
  chain c = {0};
  ag_syn *x = next(p);
  while (x && (ag_parser_is(p, op1) || ag_parser_is(p, op2))) {
    ag_pos pos = ag_parser_pos(p);
    ag_token_kind op = ag_parser_peek(p)->kind;
    if (!c.n) push(p, &c, AG_TOKEN_END, pos, x, NULL);
    p->at++;
    x = next(p);
    push(p, &c, op, pos, x, NULL);
  }
  if (!x) return NULL;
  return c.n ? close_chain(p, kind, from, &c) : x;
}

static ag_syn *parse_term(ag_parser *p) {
  return parse_chain(p, AG_SYN_MUL, AG_TOKEN_TIMES, AG_TOKEN_SLASH, parse_unary);
}
static ag_syn *parse_terms(ag_parser *p) {
  return parse_chain(p, AG_SYN_ADD, AG_TOKEN_PLUS, AG_TOKEN_MINUS, parse_term);
}

static bool at_comparison(const ag_parser *p) {
  ag_token_kind kind = ag_parser_peek(p)->kind;
  return kind == AG_TOKEN_LT || kind == AG_TOKEN_LE || kind == AG_TOKEN_GT || kind == AG_TOKEN_GE ||
         kind == AG_TOKEN_EQ || kind == AG_TOKEN_NE;
}

static ag_syn *parse_compare(ag_parser *p) {
  int from = p->at;
  chain c = {0};
  ag_syn *x = parse_terms(p);
  if (!x || !at_comparison(p)) return x;
  ag_pos pos = ag_parser_pos(p);
  ag_token_kind op = ag_parser_peek(p)->kind;
  push(p, &c, AG_TOKEN_END, pos, x, NULL);
  p->at++;
  x = parse_terms(p);
  push(p, &c, op, pos, x, NULL);
  if (!x) return NULL;
  if (at_comparison(p)) {
    ag_parser_fail(p, ag_parser_pos(p), "comparisons do not chain: write `a < b and b < c`");
    return NULL;
  }
  return close_chain(p, AG_SYN_COMPARE, from, &c);
}

static ag_syn *parse_not(ag_parser *p) {
  int from = p->at;
  ag_pos pos = ag_parser_pos(p);
  if (!ag_parser_take_word(p, "not")) return parse_compare(p);
  if (!enter(p)) return NULL;
  ag_syn *x = parse_not(p);
  p->depth--;
  if (!x) return NULL;
  chain c = {0};
  push(p, &c, AG_TOKEN_END, pos, x, NULL);
  return close_chain(p, AG_SYN_NOT, from, &c);
}

/* next {word next} */
static ag_syn *parse_logic(ag_parser *p, ag_syn_kind kind, const char *word, ag_syn *(*next)(ag_parser *)) {
  int from = p->at;
  chain c = {0};
  ag_syn *x = next(p);
  for (ag_pos pos = ag_parser_pos(p); x && ag_parser_take_word(p, word); pos = ag_parser_pos(p)) {
    if (!c.n) push(p, &c, AG_TOKEN_END, pos, x, NULL);
    x = next(p);
    push(p, &c, AG_TOKEN_END, pos, x, NULL);
  }
  if (!x) return NULL;
  return c.n ? close_chain(p, kind, from, &c) : x;
}

static ag_syn *parse_and(ag_parser *p) { return parse_logic(p, AG_SYN_AND, "and", parse_not); }
static ag_syn *parse_or(ag_parser *p) { return parse_logic(p, AG_SYN_OR, "or", parse_and); }

static ag_syn *parse_if(ag_parser *p, int from) {
  static const char *const words[] = {"then", "else"};
  chain c = {0};
  for (int i = 0; i < 3; i++) {
    ag_pos pos = ag_parser_pos(p);
    ag_syn *x = ag_parse_expr(p);
    if (!x) return NULL;
    push(p, &c, AG_TOKEN_END, pos, x, NULL);
    if (i < 2 && !ag_parser_want_word(p, words[i], NULL)) return NULL;
  }
  return close_chain(p, AG_SYN_IF, from, &c);
}

ag_syn *ag_parse_expr(ag_parser *p) {
  if (!enter(p)) return NULL;
  int from = p->at;
  p->after_value = false;
  ag_syn *x = ag_parser_take_word(p, "if") ? parse_if(p, from) : parse_or(p);
  p->depth--;
  p->after_value = true;
  return p->error ? NULL : x;
}
