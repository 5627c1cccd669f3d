/* SPDX-License-Identifier: MIT
 * Text to tokens. The whole text is split at once; what is no token becomes a BAD token that carries its message, so
 * that the parser reports it where it meets it. Never reports by itself, except for texts that are no texts
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
  bool fresh; /* first of its line */
  int32_t line, col;
  uint32_t from, len; /* bytes of the text */
  union {
    double number;       /* NUMBER */
    const char *message; /* BAD: what is wrong, a sentence */
  };
} ag_token;

typedef struct ag_tokens {
  const char *text; /* terminated copy or the caller's own text */
  ag_token *at;     /* the last one is END */
  int n, cap;
} ag_tokens;

/* Is this a text at all? Size, NUL bytes, control characters, UTF-8: the first breach is reported. */
AG_MUST_USE ag_status ag_lex_check(ag_ctx *ctx, const char *text, size_t size);
/* Splits a terminated text that passed ag_lex_check. whole == false: one line from outside (`--set`), where column 1
 * starts no statement. Messages go to the arena. */
void ag_lex_split(ag_arena *a, const char *text, bool whole, ag_tokens *out);
void ag_lex_done(ag_tokens *t);
/* How a message names a kind of token: "a name", "`,`". */
void ag_lex_name(ag_token_kind kind, ag_text *out);
#endif
