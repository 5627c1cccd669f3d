/* SPDX-License-Identifier: MIT */
#include "lang/parser.h"

#include <stdarg.h>
#include <string.h>

void *ag_parser_grow(ag_arena *a, const void *old, size_t used, size_t size) {
  void *block = ag_arena_alloc(a, size);
  if (used) memcpy(block, old, used);
  return block;
}

const ag_token *ag_parser_next(const ag_parser *p, int ahead) {
  static const ag_token none = {.kind = AG_TOKEN_END};
  return p->at + ahead < p->end ? &p->tokens->at[p->at + ahead] : &none;
}

const ag_token *ag_parser_peek(const ag_parser *p) { return ag_parser_next(p, 0); }

bool ag_parser_is(const ag_parser *p, ag_token_kind kind) { return ag_parser_peek(p)->kind == kind; }

bool ag_parser_token_is(const ag_parser *p, const ag_token *k, const char *word) {
  return k->kind == AG_TOKEN_NAME && strlen(word) == k->len && !memcmp(p->tokens->text + k->from, word, k->len);
}

bool ag_parser_is_word(const ag_parser *p, const char *word) { return ag_parser_token_is(p, ag_parser_peek(p), word); }

bool ag_parser_take(ag_parser *p, ag_token_kind kind) {
  bool yes = ag_parser_is(p, kind) && kind != AG_TOKEN_END;
  p->at += yes;
  return yes;
}

bool ag_parser_take_word(ag_parser *p, const char *word) {
  bool yes = ag_parser_is_word(p, word);
  p->at += yes;
  return yes;
}

/* At the end of a statement, the position is just after its last token. */
ag_pos ag_parser_pos(const ag_parser *p) {
  if (p->at < p->end) {
    const ag_token *k = &p->tokens->at[p->at];
    return (ag_pos){k->line, k->col, (int)k->len};
  }
  const ag_token *k = &p->tokens->at[p->end > 0 ? p->end - 1 : 0];
  return (ag_pos){k->line, k->col + (int)k->len, 1};
}

ag_pos ag_parser_span(const ag_parser *p, int from) {
  const ag_token *k = &p->tokens->at[from], *last = k;
  for (int i = p->at - 1; i > from; i--)
    if (p->tokens->at[i].line == k->line) {
      last = &p->tokens->at[i];
      break;
    }
  return (ag_pos){k->line, k->col, last->col + (int)last->len - k->col};
}

bool ag_parser_fail(ag_parser *p, ag_pos pos, const char *format, ...) {
  if (p->error) return false;
  char line[512];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  p->error = ag_arena_str(p->arena, line);
  p->error_pos = pos;
  return false;
}

/* The next token as shown in messages; long ones are shortened. */
static void found(const ag_parser *p, ag_text *out) {
  const ag_token *k = ag_parser_peek(p);
  if (k->kind == AG_TOKEN_END) ag_text_str(out, "the end of the statement");
  else if (k->kind == AG_TOKEN_STRING) ag_text_str(out, "a text in quotes");
  else
    ag_text_printf(out, "`%.*s%s`", k->len > 40 ? 40 : (int)k->len, p->tokens->text + k->from,
                   k->len > 40 ? "..." : "");
}

static bool ends_operand(ag_token_kind kind) {
  return kind == AG_TOKEN_NAME || kind == AG_TOKEN_NUMBER || kind == AG_TOKEN_CLOSE || kind == AG_TOKEN_RIGHT ||
         kind == AG_TOKEN_PRIME;
}

/* Guesses what the user intended when the next token does not fit. */
static void add_hint(const ag_parser *p, ag_text *out, int n_word, const char *const *words) {
  const ag_token *k = ag_parser_peek(p), *last = p->at > 0 ? &p->tokens->at[p->at - 1] : NULL;
  const char *const *statements;
  int n = ag_parse_words(&statements, &(int){0});
  const char *word = k->kind == AG_TOKEN_NAME ? ag_arena_strn(p->arena, p->tokens->text + k->from, k->len) : NULL;
  if (word && k->fresh)
    for (int i = 0; i < n; i++)
      if (!strcmp(word, statements[i])) {
        ag_text_printf(out, "; a statement starts in column 1, so write `%s` there", word);
        return;
      }
  const char *near = word ? ag_nearest(word, n_word, words) : NULL;
  if (near) ag_text_printf(out, "; did you mean `%s`?", near);
  else if (k->kind == AG_TOKEN_EQUALS && p->after_value) ag_text_str(out, "; to compare, write `==`");
  else if (k->kind == AG_TOKEN_NAME && p->in_list && ag_parser_next(p, 1)->kind == AG_TOKEN_EQUALS)
    ag_text_str(out, "; entries are separated by commas");
  else if (p->after_value && last && ends_operand(last->kind) &&
           (k->kind == AG_TOKEN_NAME || k->kind == AG_TOKEN_NUMBER || k->kind == AG_TOKEN_OPEN))
    ag_text_str(out, "; there is no implicit product, write `*` between factors");
}

bool ag_parser_unexpected(ag_parser *p, const char *expected, int n_word, const char *const *words) {
  const ag_token *k = ag_parser_peek(p);
  if (k->kind == AG_TOKEN_BAD) return ag_parser_fail(p, ag_parser_pos(p), "%s", k->message);
  ag_text text = {0};
  ag_text_printf(&text, "expected %s, found ", expected);
  found(p, &text);
  add_hint(p, &text, n_word, words);
  ag_parser_fail(p, ag_parser_pos(p), "%s", ag_text_cstr(&text));
  ag_text_done(&text);
  return false;
}

bool ag_parser_want(ag_parser *p, ag_token_kind kind, const char *what) {
  if (ag_parser_take(p, kind)) return true;
  ag_text text = {0};
  ag_lex_name(kind, &text);
  if (what) ag_text_printf(&text, " %s", what);
  ag_parser_unexpected(p, ag_text_cstr(&text), 0, NULL);
  ag_text_done(&text);
  return false;
}

bool ag_parser_want_word(ag_parser *p, const char *word, const char *what) {
  if (ag_parser_take_word(p, word)) return true;
  char text[128];
  snprintf(text, sizeof text, "`%s`%s%s", word, what ? " " : "", what ? what : "");
  return ag_parser_unexpected(p, text, strlen(word) > 2, &word);
}

int ag_parser_want_name(ag_parser *p, const char *what, ag_pos *pos) {
  const ag_token *k = ag_parser_peek(p);
  p->after_value = false;
  if (k->kind == AG_TOKEN_BAD && p->tokens->text[k->from] >= '0' && p->tokens->text[k->from] <= '9')
    return ag_parser_fail(p, ag_parser_pos(p), "expected %s, found `%.*s`; a name starts with a letter", what,
                          k->len > 40 ? 40 : (int)k->len, p->tokens->text + k->from);
  if (k->kind != AG_TOKEN_NAME) return ag_parser_unexpected(p, what, 0, NULL);
  if (pos) *pos = ag_parser_pos(p);
  p->at++;
  return ag_names_id(p->names, p->tokens->text + k->from, k->len);
}
