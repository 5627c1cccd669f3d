/* SPDX-License-Identifier: MIT
 * Internals of the parser: the tokens of one statement and a position in them. Shared by parse.c, parser.c,
 * parse_expr.c and parse_body.c. */
#ifndef AG_LANG_PARSER_H
#define AG_LANG_PARSER_H
#include "lang/parse.h"

typedef struct ag_parser {
  ag_arena *arena;
  ag_names *names;
  const ag_tokens *tokens;
  int at, end; /* tokens at..end-1 of this statement are left */
  int depth;
  const char *stack_end; /* of ag_stack_end() */
  bool after_value;      /* an expression has just ended: a product may have been intended */
  bool in_list;          /* in a list of `NAME = value` entries */
  const char *error;     /* the first error; later ones are not reported */
  ag_pos error_pos;
} ag_parser;

/* ---- peek and take ---- */
const ag_token *ag_parser_peek(const ag_parser *p); /* END after the last token of the statement */
const ag_token *ag_parser_next(const ag_parser *p, int ahead);
bool ag_parser_is(const ag_parser *p, ag_token_kind kind);
bool ag_parser_is_word(const ag_parser *p, const char *word); /* a NAME with that text */
bool ag_parser_token_is(const ag_parser *p, const ag_token *k, const char *word);
bool ag_parser_take(ag_parser *p, ag_token_kind kind);
bool ag_parser_take_word(ag_parser *p, const char *word);
ag_pos ag_parser_pos(const ag_parser *p);            /* position of the next token */
ag_pos ag_parser_span(const ag_parser *p, int from); /* position of tokens from..at-1, on their first line */
/* ---- require: false with the error set ---- */
bool ag_parser_want(ag_parser *p, ag_token_kind kind,
                    const char *what); /* context for messages, e.g. "after the condition"; may be NULL */
bool ag_parser_want_word(ag_parser *p, const char *word, const char *what);
int ag_parser_want_name(ag_parser *p, const char *what, ag_pos *pos); /* 0 on error. what: "the name of a parameter" */
bool ag_parser_fail(ag_parser *p, ag_pos pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reports an unexpected token: `expected` in words, and the clause words that would be valid here (for "did you mean").
 */
bool ag_parser_unexpected(ag_parser *p, const char *expected, int n_word, const char *const *words);

/* ---- expressions (parse_expr.c): NULL with the error set ---- */
ag_syn *ag_parse_expr(ag_parser *p);
ag_syn *ag_parse_postfix(ag_parser *p); /* a name with primes and indices */
ag_syn *ag_parse_size(ag_parser *p);    /* after R^: a number, a name or an expression in parentheses */

/* ---- bodies (parse_body.c) ---- */
bool ag_parse_body(ag_parser *p, ag_stmt *s);    /* body */
bool ag_parse_contact(ag_parser *p, ag_stmt *s); /* roll, rubber */
bool ag_parse_draw(ag_parser *p, ag_stmt *s);
bool ag_parse_expect(ag_parser *p, ag_stmt *s); /* parse_expect.c */
bool ag_parse_when(ag_parser *p, ag_stmt *s);   /* its NAME = EXPR {, NAME = EXPR} */
/* WORD, WORD(a, b), WORD(theta: a, b); what: for messages. NULL with the error set. */
ag_syn *ag_parse_shape(ag_parser *p, const char *what);
/* The error where none of these clause words follows. */
bool ag_parse_no_clause(ag_parser *p, int n, const char *const *words);

/* Appends to an array that grows in the arena. */
#define AG_ARENA_PUSH(arena, items, n, cap) \
  ((n) < (cap) ? (void)0 \
               : (void)((cap) = (cap) ? 2 * (cap) : 2, \
                        (items) = ag_parser_grow((arena), (items), sizeof *(items) * (size_t)(n), \
                                                 sizeof *(items) * (size_t)(cap))))
void *ag_parser_grow(ag_arena *a, const void *old, size_t used, size_t size);
#endif
