/* SPDX-License-Identifier: MIT
 * One expression from outside a file, in the scope of a model that was read: its parameters and the lets made of them.
 */
#include <string.h>

#include "base/stack.h"
#include "lang/build.h"
#include "lang/parser.h"

static ag_symbol *define(ag_builder *b, const char *name, ag_sym_kind kind, ag_id x) {
  ag_symbol *sym = ag_scope_define(b, ag_names_id(b->names, name, strlen(name)), kind, (ag_pos){0});
  sym->x = x;
  return sym;
}

/* With their numbers, which follow from those before them. */
static void define_params(ag_builder *b) {
  const ag_model *m = b->m;
  ag_id *inputs = AG_NEWN(b->arena, ag_id, m->n_params + 1), *numbers = AG_NEWN(b->arena, ag_id, m->n_params + 1);
  int n = 0;
  for (int i = 0; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    ag_id number = p->value;
    if (n) ag_substitute(b->g, n, inputs, numbers, 1, &number);
    if (p->input) inputs[n] = p->input, numbers[n++] = number;
    if (!p->from_start) define(b, p->name, AG_SYM_PARAM, p->input ? p->input : p->value)->number = number;
  }
}

/* Coordinates and velocities too, so that a message can say why they are not allowed. */
static void define_names(ag_builder *b) {
  const ag_model *m = b->m;
  for (int i = 0; i < m->n_coords; i++) {
    define(b, m->coords[i].name, AG_SYM_LET, m->coords[i].q);
    define(b, m->coords[i].velocity, AG_SYM_LET, m->coords[i].xi);
  }
  for (int i = 0; i < m->n_processes; i++) define(b, m->processes[i].name, AG_SYM_LET, m->processes[i].x);
  for (int i = 0; i < m->n_lets; i++) define(b, m->lets[i].name, AG_SYM_LET, m->lets[i].x);
  define_params(b);
}

static bool only_parameters(const ag_builder *b, ag_id x) {
  const ag_model *m = b->m;
  ag_id *moving = AG_NEWN(b->arena, ag_id, 2 * m->n_coords + m->n_processes + 1);
  int n = 0;
  moving[n++] = m->t;
  for (int i = 0; i < m->n_coords; i++) moving[n++] = m->coords[i].q, moving[n++] = m->coords[i].xi;
  for (int i = 0; i < m->n_processes; i++) moving[n++] = m->processes[i].x;
  return !ag_depends(b->g, 1, &x, n, moving);
}

/* The tokens of text[from .. from + size), their columns counted in the whole text. */
static ag_syn *parse(ag_builder *b, const char *text, size_t from, size_t size, ag_tokens *tokens) {
  char *part = ag_arena_strn(b->arena, text, from + size);
  for (size_t i = 0; i < from; i++)
    if (part[i] != '\n') part[i] = ' ';
  ag_lex_split(b->arena, part, false, tokens);
  ag_parser p = {
      .arena = b->arena, .names = b->names, .tokens = tokens, .end = tokens->n - 1, .stack_end = b->stack_end};
  ag_syn *s = ag_parse_expr(&p);
  if (s && p.at < p.end) ag_parser_unexpected(&p, "the end of the value", 0, NULL);
  if (p.error) ag_scope_error(b, p.error_pos, "%s", p.error);
  return p.error ? NULL : s;
}

/* The expression; 0 when it is reported, as also where it has no finite value with the numbers that are there now. */
static ag_id evaluate(ag_builder *b, const ag_syn *s, bool of_coordinates) {
  double v;
  b->word = AG_WORD_PARAM;
  ag_id x = ag_eval_scalar(b, s, "the value");
  if (!x) return 0;
  if (of_coordinates) return x;
  if (!only_parameters(b, x)) {
    ag_scope_error(b, s->pos, "the value may use only numbers and parameters, nothing that moves");
    return 0;
  }
  b->numeric = true;
  ag_id number = ag_eval_node(b, s);
  if (number && !ag_define_value(b, number, &v))
    number = 0, ag_scope_error(b, s->pos, "the value is not a finite number");
  return number ? x : 0;
}

static ag_status read(ag_ctx *ctx, ag_model *m, const char *option, const char *text, size_t from, size_t size,
                      bool of_coordinates, ag_id *out) {
  ag_arena *arena = ag_arena_create();
  const char *file = ctx->file, *source = ctx->source;
  ag_names names;
  ag_tokens tokens = {0};
  ag_names_init(&names, arena);
  ag_builder b = {.ctx = ctx,
                  .n_error0 = ctx->n_error,
                  .arena = arena,
                  .names = &names,
                  .m = m,
                  .g = m->graph,
                  .stack_end = ag_stack_end()};
  ctx->file = ag_scope_label(arena, option, text);
  ctx->source = text;
  *out = 0;
  if (ag_lex_check(ctx, text, strlen(text)) == AG_OK) {
    ag_scope_init(&b);
    define_names(&b);
    const ag_syn *s = parse(&b, text, from, size, &tokens);
    if (s && of_coordinates && strchr(text, '\'')) { /* what depends on what is not noted here */
      ag_scope_error(&b, s->pos, "the value may not use velocities");
      s = NULL;
    }
    if (s) *out = evaluate(&b, s, of_coordinates);
    ag_lex_done(&tokens);
    ag_scope_done(&b);
  }
  ctx->file = file;
  ctx->source = source;
  ag_names_done(&names);
  ag_arena_free(arena);
  return *out ? AG_OK : AG_WRONG;
}

ag_status ag_lang_expression(ag_ctx *ctx, ag_model *m, const char *option, const char *text, size_t from, size_t size,
                             ag_id *x) {
  return read(ctx, m, option, text, from, size, false, x);
}

ag_status ag_lang_of_coordinates(ag_ctx *ctx, ag_model *m, const char *option, const char *text, size_t from,
                                 ag_id *x) {
  return read(ctx, m, option, text, from, strlen(text) - from, true, x);
}
