/* SPDX-License-Identifier: MIT
 * Reading a model: text, tokens, syntax tree, model. */
#include "lang/lang.h"

#include <string.h>

#include "base/stack.h"
#include "lang/build.h"

/* ---- statements in order ---- */

static void build_model(ag_builder *b, const ag_stmt *s, int i) {
  bool second = false; /* a `model` statement that is not first is not a second one */
  for (int k = 0; k < i; k++) second = second || b->parse->at[k].word == AG_WORD_MODEL;
  if (second) {
    ag_scope_error(b, s->pos, "a second `model`; a file describes one model");
    return;
  }
  b->m->name = ag_arena_str(b->m->arena, ag_scope_text(b, s->name));
  b->m->title = s->string ? ag_arena_str(b->m->arena, s->string) : "";
}

static void build_reference(ag_builder *b, const ag_stmt *s) {
  ag_symbol *sym = ag_scope_symbol(b, s->name);
  const char *key = ag_scope_text(b, s->name);
  if (sym->reference) {
    ag_scope_error(b, s->name_pos, "the reference `%s` is given twice", key);
    return;
  }
  sym->reference = 1;
  AG_MODEL_PUSH(b->m, references,
                ((ag_reference){ag_arena_str(b->m->arena, key), ag_arena_str(b->m->arena, s->string)}));
}

static void build_parts(ag_builder *b, const ag_stmt *s, void (*build)(ag_builder *, const ag_part *)) {
  for (int i = 0; i < s->n_part && !b->stopped; i++) build(b, &s->parts[i]);
}

static void build_statement(ag_builder *b, const ag_stmt *s, int i) {
  switch (s->word) {
  case AG_WORD_MODEL: build_model(b, s, i); break;
  case AG_WORD_REFERENCE: build_reference(b, s); break;
  case AG_WORD_PARAM: build_parts(b, s, ag_define_param); break;
  case AG_WORD_CONFIG: build_parts(b, s, ag_define_config); break;
  case AG_WORD_PROCESS: ag_process_statement(b, s); break;
  case AG_WORD_LET: build_parts(b, s, ag_define_let); break;
  case AG_WORD_BODY: ag_scene_body_statement(b, s); break;
  case AG_WORD_ROLL:
  case AG_WORD_RUBBER: ag_scene_contact_statement(b, s); break;
  case AG_WORD_LAGRANGIAN: ag_dynamics_lagrangian(b, s); break;
  case AG_WORD_CONSTRAINT:
  case AG_WORD_HOLONOMIC:
  case AG_WORD_RELATION: ag_dynamics_equation(b, s); break;
  case AG_WORD_PRESCRIBE:
  case AG_WORD_FORCE:
  case AG_WORD_DOMAIN: ag_dynamics_assign(b, s); break;
  case AG_WORD_NOISE: ag_noise_statement(b, s); break;
  case AG_WORD_FRICTION: ag_friction_statement(b, s); break;
  case AG_WORD_TEMPERATURE: ag_temperature_statement(b, s); break;
  case AG_WORD_FRAME: build_parts(b, s, ag_define_frame); break;
  case AG_WORD_OBSERVABLE: build_parts(b, s, ag_define_observable); break;
  case AG_WORD_CANDIDATE: build_parts(b, s, ag_define_candidate); break;
  case AG_WORD_EVENT:
  case AG_WORD_SECTION: ag_dynamics_event(b, s); break;
  case AG_WORD_GENERATOR: ag_dynamics_generator(b, s); break;
  case AG_WORD_START:
  case AG_WORD_GUESS: ag_start_statement(b, s); break;
  case AG_WORD_EXPECT: ag_expect_statement(b, s); break;
  case AG_WORD_DRAW: /* at the end: draw.c */
  case AG_WORD_NONE:
  case AG_WORD_COUNT: break;
  }
}

/* A text of another kind: no statement can be read, and none is `model`. */
static bool is_foreign(const ag_parse *parse) {
  int n = 0;
  for (int i = 0; i < parse->n; i++) {
    if (parse->at[i].word == AG_WORD_MODEL) return false;
    n += parse->at[i].error != NULL;
  }
  return n > 2 && n == parse->n;
}

static void build_all(ag_builder *b) {
  const ag_parse *parse = b->parse;
  if (is_foreign(parse)) {
    ag_scope_error(b, parse->at[0].error_pos, "this is not a model file: a model starts with `model NAME`");
    return;
  }
  if (!parse->n) ag_scope_error(b, (ag_pos){1, 1, 1}, "the file is empty: a model starts with `model NAME`");
  for (int i = 0; i < parse->n && !b->stopped; i++) {
    const ag_stmt *s = &parse->at[i];
    b->word = s->word;
    b->scope = NULL;
    if (s->error) {
      ag_scope_error(b, s->error_pos, "%s", s->error);
      ag_scope_poison(b, s);
    } else if (i == 0 && s->word != AG_WORD_MODEL)
      ag_scope_error(b, s->pos, "the first statement must be `model NAME`, found `%s`", ag_parse_word(s->word));
    if (!s->error) build_statement(b, s, i);
  }
}

/* ---- --set ---- */

typedef struct reading {
  int n_set, n_vary;
  const ag_set *sets;
  ag_vary *varies;
} reading;

/* Each --set is a text `NAME=VALUE` with its own positions. */
static void read_changes(ag_builder *b, const reading *r) {
  const char *file = b->ctx->file;
  b->n_change = r->n_set + r->n_vary;
  b->changes = AG_NEWN(b->arena, ag_change, b->n_change + 1);
  for (int i = 0; i < b->n_change; i++) {
    ag_change *c = &b->changes[i];
    c->vary = i < r->n_set ? NULL : &r->varies[i - r->n_set];
    if (c->vary) c->vary->param = -1;
    const char *text = c->vary ? ag_arena_printf(b->arena, "%s=%.17g", c->vary->name, c->vary->value)
                               : ag_arena_printf(b->arena, "%s=%s", r->sets[i].name, r->sets[i].value);
    c->text = c->vary ? c->vary->name : text;
    c->label = ag_scope_label(b->arena, !c->vary ? "--set" : c->vary->option ? c->vary->option : "--sweep", c->text);
    ag_scope_source(b, c, file);
    if (ag_lex_check(b->ctx, text, strlen(text)) == AG_OK) {
      ag_lex_split(b->arena, text, false, &c->tokens);
      ag_parse_set(b->arena, b->names, &c->tokens, &c->stmt);
      if (c->stmt.error) ag_scope_error(b, c->stmt.error_pos, "%s", c->stmt.error);
    } else c->stmt.error = "";
    ag_scope_source(b, NULL, file);
    const ag_syn *target = c->stmt.error ? NULL : c->stmt.parts[0].target;
    if (target && target->kind == AG_SYN_NAME) ag_scope_symbol(b, target->name)->set = i + 1; /* the last one counts */
  }
}

/* ---- order of the messages ---- */

/* Sorts errors of the same file by position; a note stays after its error. */
static void sort_reports(ag_ctx *ctx, int from) {
  int n = ctx->n_diag - from;
  if (n < 2) return;
  ag_diag *in = ag_heap_alloc(sizeof *in * (size_t)n), *out = ctx->diags + from;
  bool *done = ag_heap_alloc((size_t)n);
  memcpy(in, out, sizeof *in * (size_t)n);
  for (int k = 0; k < n;) {
    int best = -1;
    for (int i = 0; i < n; i++) {
      if (done[i] || (i > 0 && in[i].severity == AG_NOTE)) continue;
      if (best < 0) best = i;
      bool same = in[i].file && in[best].file && !strcmp(in[i].file, in[best].file);
      if (same && (in[i].pos.line < in[best].pos.line ||
                   (in[i].pos.line == in[best].pos.line && in[i].pos.col < in[best].pos.col)))
        best = i;
    }
    done[best] = true;
    out[k++] = in[best];
    for (int i = best + 1; i < n && in[i].severity == AG_NOTE; i++) done[i] = true, out[k++] = in[i];
  }
  free(in);
  free(done);
}

/* ---- entry point ---- */

static void read_model(ag_builder *b, const reading *r) {
  ag_tokens tokens;
  ag_parse parse;
  ag_lex_split(b->arena, b->m->source, true, &tokens);
  ag_parse_file(b->arena, b->names, &tokens, &parse);
  b->tokens = &tokens;
  b->parse = &parse;
  ag_scope_init(b);
  ag_scope_announce(b);
  read_changes(b, r);
  build_all(b);
  if (!b->stopped) ag_scene_finish(b);
  if (!b->stopped) ag_ito_finish(b);
  if (!b->stopped) ag_friction_finish(b);
  if (!b->stopped) ag_start_finish(b);
  if (!b->stopped) ag_verify_model(b);
  for (int i = 0; i < b->n_change; i++) ag_lex_done(&b->changes[i].tokens);
  ag_lex_done(&tokens);
  ag_parse_done(&parse);
  ag_scope_done(b);
}

ag_status ag_lang_read(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set, const ag_set *sets,
                       ag_model **out) {
  return ag_lang_read_varied(ctx, file, text, size, n_set, sets, 0, NULL, out);
}

ag_status ag_lang_read_varied(ag_ctx *ctx, const char *file, const char *text, size_t size, int n_set,
                              const ag_set *sets, int n_vary, ag_vary *varies, ag_model **out) {
  reading changes = {n_set, n_vary, sets, varies};
  *out = NULL;
  ctx->file = file;
  ag_model *m = ag_model_create("unnamed");
  m->source = ag_arena_strn(m->arena, text, size <= 1 << 20 ? size : 0);
  ctx->source = m->source;
  ag_arena *arena = ag_arena_create();
  ag_names names;
  ag_names_init(&names, arena);
  ag_builder b = {.ctx = ctx,
                  .n_error0 = ctx->n_error,
                  .arena = arena,
                  .names = &names,
                  .m = m,
                  .g = m->graph,
                  .stack_end = ag_stack_end()};
  int first = ctx->n_diag;
  if (ag_lex_check(ctx, text, size) == AG_OK) read_model(&b, &changes);
  sort_reports(ctx, first);
  ag_names_done(&names);
  ag_arena_free(arena);
  ctx->file = file; /* a --set may have been read last */
  if (ctx->n_error == b.n_error0) {
    *out = m;
    return AG_OK;
  }
  ag_model_free(m);
  ctx->source = NULL;
  return AG_WRONG;
}

int ag_lang_words(const char *const **words) {
  static const char *const all[] = {
#define AG_STATEMENT(word, NAME, loops) #word,
#define AG_RESERVED(word) #word,
#include "lang/words.def"
#undef AG_STATEMENT
#undef AG_RESERVED
#define AG_FUNCTION(name, ...) name,
#include "lang/function.def"
  };
  *words = all;
  return (int)(sizeof all / sizeof *all);
}
