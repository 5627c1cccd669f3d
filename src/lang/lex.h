/* SPDX-License-Identifier: MIT
 * Text to tokens. The whole text is split at once. Invalid characters become a BAD token with its message, which the
 * parser reports when it reaches the token. The lexer itself reports only texts that are not valid text files
 * (ag_lex_check). */
#ifndef AG_LANG_LEX_H
#define AG_LANG_LEX_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

typedef enum ag_token_kind {
#define AG_TOKEN(NAME, text) AG_TOKEN_##NAME,
#include "lang/token.def"
#undef AG_TOKEN
  AG_TOKEN_COUNT
} ag_token_kind;

typedef struct ag_token {
  uint8_t kind;
  bool first; /* in column 1: starts a statement */
  bool fresh; /* first token of its line */
  int32_t line, col;
  uint32_t from, len; /* position and length in bytes */
  union {
    double number;       /* NUMBER */
    const char *message; /* BAD: the error message */
  };
} ag_token;

typedef struct ag_tokens {
  const char *text; /* null-terminated copy, or the caller's own text */
  ag_token *at;     /* the last one is END */
  int n, cap;
} ag_tokens;

/* Is this a valid text? Checks size, NUL bytes, control characters and UTF-8, and reports the first violation. */
AG_MUST_USE ag_status ag_lex_check(ag_ctx *ctx, const char *text, size_t size);
/* Splits a null-terminated text that passed ag_lex_check. whole == false: one line of a `--set`, where column 1 does
 * not start a statement. Messages are allocated in the arena. */
void ag_lex_split(ag_arena *a, const char *text, bool whole, ag_tokens *out);
void ag_lex_done(ag_tokens *t);
/* The name of a kind of token in messages: "a name", "`,`". */
void ag_lex_name(ag_token_kind kind, ag_text *out);
#endif
