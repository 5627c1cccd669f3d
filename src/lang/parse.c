/* SPDX-License-Identifier: MIT
 * Statements: one function per form, selected by the keyword in column 1. */
#include "lang/parse.h"

#include <string.h>

#include "base/stack.h"
#include "lang/parser.h"
#include "model/model.h"

static const bool may_loop[] = {
    false,
#define AG_STATEMENT(word, NAME, loops) loops,
#define AG_RESERVED(word)
#include "lang/words.def"
#undef AG_STATEMENT
#undef AG_RESERVED
};

/* ---- parts of statements ---- */

/* Adjacent strings, joined with a space; doubled quotes inside stand for one. NULL if there is none. */
static const char *parse_string(ag_parser *p) {
  ag_text text = {0};
  bool any = false;
  while (ag_parser_is(p, AG_TOKEN_STRING)) {
    const ag_token *k = ag_parser_peek(p);
    if (any) ag_text_char(&text, ' ');
    for (uint32_t i = 1; i + 1 < k->len; i++) {
      char c = p->tokens->text[k->from + i];
      ag_text_char(&text, c);
      if (c == '"') i++;
    }
    any = true;
    p->at++;
  }
  const char *s = any ? ag_arena_str(p->arena, ag_text_cstr(&text)) : NULL;
  ag_text_done(&text);
  return s;
}

static bool parse_equation(ag_parser *p, ag_syn **left, ag_syn **right) {
  *left = ag_parse_expr(p);
  if (!*left) return false;
  if ((*left)->kind == AG_SYN_COMPARE && (*left)->links[1].op == AG_TOKEN_EQ && !ag_parser_is(p, AG_TOKEN_EQUALS))
    return ag_parser_fail(p, (*left)->links[1].pos, "an equation is written with a single `=`");
  if ((*left)->kind == AG_SYN_POST && ag_parser_is(p, AG_TOKEN_COLON))
    return ag_parser_fail(p, (*left)->pos,
                          "a family of equations is named without its index, as in `blade: ... for i in 1..3`: each of "
                          "them has a name then, `blade_1` and so on");
  if (!ag_parser_want(p, AG_TOKEN_EQUALS, "between the two sides")) return false;
  *right = ag_parse_expr(p);
  return *right != NULL;
}

/* `x' - R*th' = c` */
static bool parse_friction(ag_parser *p, ag_part *part) {
  part->pos = ag_parser_pos(p);
  return parse_equation(p, &part->left, &part->right);
}

/* NAME [ (i, j) ] = expr */
static bool parse_named(ag_parser *p, ag_part *part, const char *what, bool with_args) {
  part->name = ag_parser_want_name(p, what, &part->pos);
  if (!part->name) return false;
  int cap = 0, cap_pos = 0;
  if (with_args && ag_parser_take(p, AG_TOKEN_OPEN)) {
    do {
      ag_pos pos;
      int name = ag_parser_want_name(p, "the name of an argument", &pos);
      if (!name) return false;
      int n = part->n_arg;
      AG_ARENA_PUSH(p->arena, part->args, part->n_arg, cap);
      AG_ARENA_PUSH(p->arena, part->arg_pos, n, cap_pos);
      part->args[part->n_arg] = name;
      part->arg_pos[part->n_arg++] = pos;
    } while (ag_parser_take(p, AG_TOKEN_COMMA));
    if (!ag_parser_want(p, AG_TOKEN_CLOSE, "after the arguments")) return false;
  }
  char where[96];
  snprintf(where, sizeof where, "after `%.60s`", p->names->text[part->name]);
  if (!ag_parser_want(p, AG_TOKEN_EQUALS, where)) return false;
  part->right = ag_parse_expr(p);
  return part->right != NULL;
}

static bool parse_param(ag_parser *p, ag_part *part) {
  if (!parse_named(p, part, "the name of a parameter", false)) return false;
  part->integer = ag_parser_take_word(p, "integer");
  return true;
}

static bool parse_let(ag_parser *p, ag_part *part) { return parse_named(p, part, "the name of a `let`", true); }

static bool parse_frame(ag_parser *p, ag_part *part) {
  return parse_named(p, part, "the name of an independent velocity", false);
}

/* NAME = expr, or the name of a let alone. */
static bool parse_observable(ag_parser *p, ag_part *part) {
  const ag_token *next = ag_parser_next(p, 1);
  if (ag_parser_is(p, AG_TOKEN_NAME) && (next->kind == AG_TOKEN_COMMA || next->kind == AG_TOKEN_END)) {
    part->name = ag_parser_want_name(p, "the name of an observable", &part->pos);
    return true;
  }
  return parse_named(p, part, "the name of an observable", false);
}

static bool parse_candidate(ag_parser *p, ag_part *part) {
  return parse_named(p, part, "the name of a candidate", false);
}

/* NAME[[index]] [drift expr] */
static bool parse_process(ag_parser *p, ag_part *part) {
  part->name = ag_parser_want_name(p, "the name of a process", &part->pos);
  if (!part->name) return false;
  if (ag_parser_take(p, AG_TOKEN_LEFT)) {
    part->count = ag_parse_expr(p);
    if (!part->count || !ag_parser_want(p, AG_TOKEN_RIGHT, "after the index")) return false;
  }
  if (!ag_parser_take_word(p, "drift")) return true;
  part->right = ag_parse_expr(p);
  return part->right != NULL;
}

static bool parse_when(ag_parser *p, ag_part *part) { return parse_named(p, part, "the name of a parameter", false); }

/* `x' = expr`, `Omega[i][3] = expr` */
static bool parse_assign(ag_parser *p, ag_part *part) {
  if (!ag_parser_is(p, AG_TOKEN_NAME)) return ag_parser_unexpected(p, "the name of a coordinate or velocity", 0, NULL);
  part->pos = ag_parser_pos(p);
  part->target = ag_parse_postfix(p);
  if (!part->target) return false;
  if (!ag_parser_want(p, AG_TOKEN_EQUALS, "after the name")) return false;
  part->right = ag_parse_expr(p);
  return part->right != NULL;
}

static bool parse_domain(ag_parser *p, ag_part *part) {
  part->pos = ag_parser_pos(p);
  part->left = ag_parse_expr(p);
  if (!part->left || !ag_parser_want_word(p, "in", NULL)) return false;
  part->lo = ag_parse_expr(p);
  if (!part->lo || !ag_parser_want(p, AG_TOKEN_RANGE, "between the ends of the interval")) return false;
  part->right = ag_parse_expr(p);
  return part->right != NULL;
}

static bool parse_space(ag_parser *p, ag_part *part) {
  static const char *const spaces[] = {"R", "S1", "S2", "SO3"};
  const ag_token *k = ag_parser_peek(p);
  const char *word = k->kind == AG_TOKEN_NAME ? ag_arena_strn(p->arena, p->tokens->text + k->from, k->len) : "";
  for (int i = 0; i < 4; i++)
    if (!strcmp(word, spaces[i])) {
      part->space = i;
      p->at++;
      if (i != AG_IN_R || !ag_parser_take(p, AG_TOKEN_POWER)) return true;
      part->size = ag_parse_size(p);
      return part->size != NULL;
    }
  if (k->kind != AG_TOKEN_NAME) return ag_parser_unexpected(p, "a space: R, R^n, S1, S2 or SO3", 0, NULL);
  if (word[0] == 'R' && word[1] >= '0' && word[1] <= '9')
    return ag_parser_fail(p, ag_parser_pos(p), "unknown space `%.40s`: write `R^%.40s`", word, word + 1);
  return ag_parser_fail(p, ag_parser_pos(p), "unknown space `%.40s`: the spaces are R, R^n, S1, S2 and SO3", word);
}

static bool parse_count(ag_parser *p, ag_part *part) {
  if (!ag_parser_take(p, AG_TOKEN_LEFT)) return true;
  part->count = ag_parse_expr(p);
  return part->count && ag_parser_want(p, AG_TOKEN_RIGHT, "after the number of members of the family");
}

/* NAME in SPACE [velocity NAME] [ [K] ] */
static bool parse_config(ag_parser *p, ag_part *part) {
  part->name = ag_parser_want_name(p, "the name of a coordinate", &part->pos);
  if (part->name && ag_parser_is(p, AG_TOKEN_COMMA))
    return ag_parser_fail(p, ag_parser_pos(p), "every coordinate needs its space: `x in R, y in R`");
  if (!part->name || !ag_parser_want_word(p, "in", NULL) || !parse_space(p, part) || !parse_count(p, part))
    return false;
  if (ag_parser_take_word(p, "velocity")) {
    part->velocity = ag_parser_want_name(p, "the name of the velocity", &part->velocity_pos);
    if (!part->velocity) return false;
  }
  return part->count || parse_count(p, part);
}

static bool parse_list(ag_parser *p, ag_part **parts, int *n, bool (*one)(ag_parser *, ag_part *)) {
  int cap = 0;
  p->in_list = true;
  do {
    ag_part part = {0};
    if (!one(p, &part)) return false;
    AG_ARENA_PUSH(p->arena, *parts, *n, cap);
    (*parts)[(*n)++] = part;
  } while (ag_parser_take(p, AG_TOKEN_COMMA));
  return true;
}

/* [for i in m..n {, j in m..n}] */
static bool parse_loops(ag_parser *p, ag_stmt *s) {
  int cap = 0;
  if (!ag_parser_take_word(p, "for")) return true;
  do {
    ag_loop loop = {0};
    loop.name = ag_parser_want_name(p, "a running index: for i in m..n", &loop.pos);
    if (!loop.name || !ag_parser_want_word(p, "in", NULL) || !(loop.lo = ag_parse_expr(p))) return false;
    if (!ag_parser_want(p, AG_TOKEN_RANGE, "between the bounds of the index") || !(loop.hi = ag_parse_expr(p)))
      return false;
    AG_ARENA_PUSH(p->arena, s->loops, s->n_loop, cap);
    s->loops[s->n_loop++] = loop;
  } while (ag_parser_take(p, AG_TOKEN_COMMA));
  return true;
}

/* ---- statements ---- */

static bool parse_model(ag_parser *p, ag_stmt *s) {
  s->name = ag_parser_want_name(p, "the name of the model", &s->name_pos);
  if (!s->name) return false;
  s->string = parse_string(p);
  return true;
}

static bool parse_reference(ag_parser *p, ag_stmt *s) {
  s->name = ag_parser_want_name(p, "a key", &s->name_pos);
  if (!s->name) return false;
  s->string = parse_string(p);
  return s->string || ag_parser_unexpected(p, "the entry as a string", 0, NULL);
}

static bool parse_single(ag_parser *p, ag_stmt *s) {
  ag_part *part = s->parts = AG_NEW(p->arena, ag_part);
  s->n_part = 1;
  part->pos = ag_parser_pos(p);
  if (s->word == AG_WORD_LAGRANGIAN || s->word == AG_WORD_TEMPERATURE) return (part->right = ag_parse_expr(p)) != NULL;
  return parse_equation(p, &part->left, &part->right);
}

/* [NAME :] left = right; a holonomic one may be a joint: ball(A, p, B, q), hinge(A, p, a, B, q, b). */
static bool parse_constraint(ag_parser *p, ag_stmt *s) {
  if (ag_parser_is(p, AG_TOKEN_NAME) && ag_parser_next(p, 1)->kind == AG_TOKEN_COLON) {
    s->name = ag_parser_want_name(p, "the name of the constraint", &s->name_pos);
    p->at++;
  }
  int at = p->at;
  bool joint = s->word == AG_WORD_HOLONOMIC && (ag_parser_is_word(p, "ball") || ag_parser_is_word(p, "hinge")) &&
               ag_parser_next(p, 1)->kind == AG_TOKEN_OPEN;
  ag_syn *x = joint ? ag_parse_expr(p) : NULL;
  if (x && x->kind == AG_SYN_CALL && !ag_parser_is(p, AG_TOKEN_EQUALS)) {
    s->parts = AG_NEW(p->arena, ag_part);
    s->n_part = 1;
    *s->parts = (ag_part){.pos = x->pos, .left = x};
    return true;
  }
  if (joint && !x) return false;
  p->at = at;
  return parse_single(p, s);
}

/* A call that is not followed by an equation is an unknown joint. */
static bool parse_holonomic(ag_parser *p, ag_stmt *s) {
  static const char *const joints[] = {"ball", "hinge"};
  const ag_token *k = ag_parser_peek(p);
  bool call = k->kind == AG_TOKEN_NAME && ag_parser_next(p, 1)->kind == AG_TOKEN_OPEN;
  ag_pos pos = ag_parser_pos(p);
  if (parse_constraint(p, s)) return true;
  const char *near = call && p->at >= p->end
                         ? ag_nearest(ag_arena_strn(p->arena, p->tokens->text + k->from, k->len), 2, joints)
                         : NULL;
  if (near) p->error = ag_arena_printf(p->arena, "unknown joint; did you mean `%s`?", near), p->error_pos = pos;
  return false;
}

/* An event; a section is the same but never terminal. */
static bool parse_event(ag_parser *p, ag_stmt *s) {
  bool section = s->word == AG_WORD_SECTION;
  s->name = ag_parser_want_name(p, section ? "the name of the section" : "the name of the event", &s->name_pos);
  const char *after = section ? "after the name of the section" : "after the name of the event";
  if (!s->name || !ag_parser_want(p, AG_TOKEN_COLON, after) || !parse_single(p, s)) return false;
  for (;;) {
    if (ag_parser_is_word(p, "rising") || ag_parser_is_word(p, "falling")) {
      if (s->direction)
        return ag_parser_fail(p, ag_parser_pos(p), "%s is either rising or falling; leave both out for any crossing",
                              section ? "a section" : "an event");
      s->direction = ag_parser_is_word(p, "rising") ? 1 : -1;
    } else if (ag_parser_is_word(p, "terminal") && section)
      return ag_parser_fail(p, ag_parser_pos(p), "a section does not end a run: `terminal` is for events");
    else if (ag_parser_is_word(p, "terminal") && !s->terminal) s->terminal = true;
    else if (ag_parser_is_word(p, "cuts") && !section && !s->cuts) s->cuts = true;
    else return true;
    p->at++;
  }
}

static bool parse_generator(ag_parser *p, ag_stmt *s) {
  s->name = ag_parser_want_name(p, "the name of the generator", &s->name_pos);
  return s->name && ag_parser_want(p, AG_TOKEN_COLON, "after the name of the generator") &&
         parse_list(p, &s->parts, &s->n_part, parse_assign);
}

/* NAME transport x' = expr {, ...} [raw] [frozen] | NAME potential expr | NAME force x' = expr {, ...} |
 * NAME process N = expr {, ...}; for NAME also NAME[index] */
static bool parse_noise(ag_parser *p, ag_stmt *s) {
  static const char *const kinds[] = {"transport", "potential", "force", "process"};
  s->name = ag_parser_want_name(p, "the name of a Wiener process", &s->name_pos);
  if (!s->name) return false;
  if (ag_parser_take(p, AG_TOKEN_LEFT)) {
    s->member = ag_parse_expr(p);
    if (!s->member || !ag_parser_want(p, AG_TOKEN_RIGHT, "after the index")) return false;
  }
  for (s->noise = 0; s->noise < 4 && !ag_parser_take_word(p, kinds[s->noise]);) s->noise++;
  if (s->noise == 4) return ag_parser_unexpected(p, "`transport`, `potential`, `force` or `process`", 4, kinds);
  if (s->noise == AG_NOISE_POTENTIAL) {
    ag_part *part = s->parts = AG_NEW(p->arena, ag_part);
    s->n_part = 1;
    part->pos = ag_parser_pos(p);
    return (part->right = ag_parse_expr(p)) != NULL;
  }
  if (!parse_list(p, &s->parts, &s->n_part, parse_assign)) return false;
  for (;;) {
    bool ito = ag_parser_is_word(p, "ito");
    bool *word = ag_parser_is_word(p, "raw")      ? &s->raw
                 : ag_parser_is_word(p, "frozen") ? &s->frozen
                 : ito                            ? &s->ito
                                                  : NULL;
    if (!word || *word) return true;
    if (ito && s->noise == AG_NOISE_TRANSPORT)
      return ag_parser_fail(p, ag_parser_pos(p),
                            "`ito` is for `force` and `process`: transport is always in the sense of Stratonovich");
    if (!ito && s->noise != AG_NOISE_TRANSPORT)
      return ag_parser_fail(p, ag_parser_pos(p), "`raw` and `frozen` are for `transport`: %s is not varied",
                            s->noise == AG_NOISE_FORCE ? "a force" : "a process");
    *word = true;
    p->at++;
  }
}

bool ag_parse_when(ag_parser *p, ag_stmt *s) { return parse_list(p, &s->when, &s->n_when, parse_when); }

static bool parse_body(ag_parser *p, ag_stmt *s) {
  switch (s->word) {
  case AG_WORD_MODEL: return parse_model(p, s);
  case AG_WORD_REFERENCE: return parse_reference(p, s);
  case AG_WORD_PARAM: return parse_list(p, &s->parts, &s->n_part, parse_param);
  case AG_WORD_CONFIG: return parse_list(p, &s->parts, &s->n_part, parse_config);
  case AG_WORD_PROCESS: return parse_list(p, &s->parts, &s->n_part, parse_process);
  case AG_WORD_LET: return parse_list(p, &s->parts, &s->n_part, parse_let);
  case AG_WORD_BODY: return ag_parse_body(p, s);
  case AG_WORD_ROLL:
  case AG_WORD_RUBBER: return ag_parse_contact(p, s);
  case AG_WORD_LAGRANGIAN: return parse_single(p, s);
  case AG_WORD_CONSTRAINT: return parse_constraint(p, s);
  case AG_WORD_HOLONOMIC: return parse_holonomic(p, s);
  case AG_WORD_RELATION: return parse_single(p, s);
  case AG_WORD_PRESCRIBE:
  case AG_WORD_FORCE:
  case AG_WORD_START:
  case AG_WORD_GUESS: return parse_list(p, &s->parts, &s->n_part, parse_assign);
  case AG_WORD_NOISE: return parse_noise(p, s);
  case AG_WORD_FRICTION: return parse_list(p, &s->parts, &s->n_part, parse_friction);
  case AG_WORD_TEMPERATURE: return parse_single(p, s);
  case AG_WORD_FRAME: return parse_list(p, &s->parts, &s->n_part, parse_frame);
  case AG_WORD_DOMAIN: return parse_list(p, &s->parts, &s->n_part, parse_domain);
  case AG_WORD_OBSERVABLE: return parse_list(p, &s->parts, &s->n_part, parse_observable);
  case AG_WORD_CANDIDATE: return parse_list(p, &s->parts, &s->n_part, parse_candidate);
  case AG_WORD_EVENT:
  case AG_WORD_SECTION: return parse_event(p, s);
  case AG_WORD_GENERATOR: return parse_generator(p, s);
  case AG_WORD_DRAW: return ag_parse_draw(p, s);
  case AG_WORD_EXPECT: return ag_parse_expect(p, s);
  case AG_WORD_NONE:
  case AG_WORD_COUNT: break;
  }
  return false;
}

/* Words that may still follow where the statement could end, for "did you mean". */
static int clause_words(const ag_stmt *s, const char *words[4]) {
  int n = 0;
  if (s->word == AG_WORD_PARAM) words[n++] = "integer";
  if (s->word == AG_WORD_CONFIG) words[n++] = "velocity";
  if (s->word == AG_WORD_PROCESS) words[n++] = "drift";
  if (s->word == AG_WORD_EVENT)
    words[n++] = "rising", words[n++] = "falling", words[n++] = "terminal", words[n++] = "cuts";
  if (s->word == AG_WORD_SECTION) words[n++] = "rising", words[n++] = "falling";
  if (s->word == AG_WORD_NOISE && s->noise == AG_NOISE_TRANSPORT) words[n++] = "raw", words[n++] = "frozen";
  if (s->word == AG_WORD_NOISE && s->noise >= AG_NOISE_FORCE) words[n++] = "ito";
  if (s->word == AG_WORD_EXPECT) words[n++] = "when", words[n++] = "over";
  if (may_loop[s->word]) words[n++] = "for";
  return n;
}

static void refuse_loop(ag_parser *p, const ag_stmt *s) {
  ag_text list = {0};
  int n_word = (int)(sizeof may_loop / sizeof *may_loop), last = n_word - 1;
  while (!may_loop[last]) last--;
  for (int w = 0; w <= last; w++)
    if (may_loop[w]) ag_text_printf(&list, "%s%s", !list.n ? "" : w < last ? ", " : " and ", ag_parse_word((ag_word)w));
  ag_parser_fail(p, ag_parser_pos(p), "`%s` takes no running index; `for` is allowed with %s", ag_parse_word(s->word),
                 ag_text_cstr(&list));
  ag_text_done(&list);
}

static void parse_statement(ag_parser *p, ag_stmt *s) {
  if (!parse_body(p, s)) return;
  if (may_loop[s->word] && !parse_loops(p, s)) return;
  if (ag_parser_is_word(p, "for")) {
    refuse_loop(p, s);
    return;
  }
  bool equation = s->word == AG_WORD_CONSTRAINT || s->word == AG_WORD_HOLONOMIC || s->word == AG_WORD_RELATION;
  if (p->at < p->end && equation && ag_parser_is(p, AG_TOKEN_COMMA)) {
    ag_parser_fail(p, ag_parser_pos(p),
                   "`%s` takes one equation: write each in its own statement, or combine them into vectors, "
                   "[a, b] = [c, d]",
                   ag_parse_word(s->word));
    return;
  }
  if (p->at < p->end) {
    const char *words[4];
    int n = clause_words(s, words);
    ag_parser_unexpected(p, "the end of the statement", n, words);
  }
}

/* The keyword in column 1, or an error. */
static bool statement_word(ag_parser *p, ag_stmt *s) {
  const char *const *words;
  int n_live, n = ag_parse_words(&words, &n_live);
  const ag_token *k = ag_parser_peek(p);
  if (k->kind == AG_TOKEN_BAD) return ag_parser_fail(p, ag_parser_pos(p), "%s", k->message);
  if (k->kind != AG_TOKEN_NAME)
    return ag_parser_fail(p, ag_parser_pos(p),
                          "a statement starts with its keyword, found `%.*s`; indent a line that continues a statement",
                          k->len > 40 ? 40 : (int)k->len, p->tokens->text + k->from);
  for (int i = 0; i < n; i++) {
    if (!ag_parser_is_word(p, words[i])) continue;
    if (i >= n_live)
      return ag_parser_fail(p, s->pos, "`%s` is reserved for a statement that does not exist yet", words[i]);
    s->word = (ag_word)(i + 1);
    p->at++;
    return true;
  }
  const char *word = ag_arena_strn(p->arena, p->tokens->text + k->from, k->len < 60 ? k->len : 60);
  const char *near = ag_parse_meant(word);
  if (!near) near = ag_nearest(word, n, words);
  if (near) return ag_parser_fail(p, s->pos, "unknown statement `%s`; did you mean `%s`?", word, near);
  return ag_parser_fail(p, s->pos, "unknown statement `%s`; indent a line that continues a statement", word);
}

static void parse_range(ag_arena *a, ag_names *names, const ag_tokens *tokens, const char *stack_end, ag_stmt *s) {
  ag_parser p = {.arena = a, .names = names, .tokens = tokens, .at = s->from, .end = s->to, .stack_end = stack_end};
  s->pos = ag_parser_pos(&p);
  if (!tokens->at[s->from].first) ag_parser_fail(&p, s->pos, "a statement starts in column 1, not indented");
  else if (statement_word(&p, s)) parse_statement(&p, s);
  s->error = p.error;
  s->error_pos = p.error_pos;
}

void ag_parse_file(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_parse *out) {
  const char *stack_end = ag_stack_end();
  *out = (ag_parse){0};
  for (int i = 0; i < tokens->n - 1;) {
    int end = i + 1;
    while (end < tokens->n - 1 && !tokens->at[end].first) end++;
    ag_stmt s = {.from = i, .to = end};
    parse_range(a, names, tokens, stack_end, &s);
    AG_PUSH(out->at, out->n, out->cap);
    out->at[out->n++] = s;
    i = end;
  }
}

void ag_parse_set(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_stmt *s) {
  *s = (ag_stmt){.word = AG_WORD_START, .from = 0, .to = tokens->n - 1};
  ag_parser p = {.arena = a, .names = names, .tokens = tokens, .at = 0, .end = s->to, .stack_end = ag_stack_end()};
  s->pos = ag_parser_pos(&p);
  s->parts = AG_NEW(a, ag_part);
  s->n_part = 1;
  if (parse_assign(&p, s->parts) && p.at < p.end) ag_parser_unexpected(&p, "the end of the value", 0, NULL);
  s->error = p.error;
  s->error_pos = p.error_pos;
}

void ag_parse_done(ag_parse *p) {
  free(p->at);
  *p = (ag_parse){0};
}

const char *ag_parse_text(ag_arena *a, const ag_tokens *tokens, int from, int to) {
  ag_text text = {0};
  for (int i = from; i < to; i++) {
    const ag_token *k = &tokens->at[i], *last = k - 1;
    if (i > from && (k->fresh || last->from + last->len < k->from)) ag_text_char(&text, ' ');
    ag_text_strn(&text, tokens->text + k->from, k->len);
  }
  const char *s = ag_arena_str(a, ag_text_cstr(&text));
  ag_text_done(&text);
  return s;
}
