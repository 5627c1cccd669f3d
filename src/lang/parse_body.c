/* SPDX-License-Identifier: MIT
 * Bodies and contacts: `body NAME mass m inertia I ...`, `roll NAME on ...`. The name is followed by clauses, each a
 * word and its argument, in any order. */
#include <string.h>

#include "lang/parser.h"

typedef struct clause_word {
  const char *word;
  bool body, contact; /* where it is allowed */
} clause_word;

static const clause_word clause_words[AG_CLAUSE_COUNT] = {
#define AG_CLAUSE(word, NAME, body, contact) {#word, body, contact},
#include "lang/clause.def"
#undef AG_CLAUSE
};

const char *ag_parse_clause(ag_clause_word clause) { return clause_words[clause].word; }

int ag_parse_clauses(ag_word statement, const char *words[AG_CLAUSE_COUNT]) {
  int n = 0;
  for (int i = 0; i < AG_CLAUSE_COUNT; i++)
    if (statement == AG_WORD_BODY ? clause_words[i].body : clause_words[i].contact) words[n++] = clause_words[i].word;
  return n;
}

/* WORD, WORD(a, b), WORD(theta: a, b): a surface or a ground. The running name is the owner of the node. */
ag_syn *ag_parse_shape(ag_parser *p, const char *what) {
  ag_pos pos, running;
  int name = ag_parser_want_name(p, what, &pos), owner = 0;
  if (!name) return NULL;
  bool bare = !ag_parser_is(p, AG_TOKEN_OPEN);
  if (!bare && ag_parser_next(p, 1)->kind == AG_TOKEN_NAME && ag_parser_next(p, 2)->kind == AG_TOKEN_COLON) {
    p->at++;
    owner = ag_parser_want_name(p, "a name", &running);
    p->at++;
  }
  ag_syn *x = AG_NEW(p->arena, ag_syn);
  *x = (ag_syn){.kind = bare ? AG_SYN_NAME : AG_SYN_CALL, .pos = pos, .name = name, .owner = owner};
  if (bare) return x;
  int cap = 0;
  if (!owner) p->at++;
  if (!owner && ag_parser_take(p, AG_TOKEN_CLOSE)) return x;
  do {
    ag_pos at = ag_parser_pos(p);
    ag_syn *value = ag_parse_expr(p);
    if (!value) return NULL;
    AG_ARENA_PUSH(p->arena, x->links, x->n, cap);
    x->links[x->n++] = (ag_link){AG_TOKEN_END, at, value, NULL};
  } while (ag_parser_take(p, AG_TOKEN_COMMA));
  return ag_parser_want(p, AG_TOKEN_CLOSE, "or `,`") ? x : NULL;
}

static ag_syn *parse_clause(ag_parser *p, ag_clause_word clause) {
  if (clause == AG_CLAUSE_SURFACE)
    return ag_parse_shape(p, "a surface: sphere(r), ellipsoid(a, b, c), torus(R, r), ...");
  if (clause != AG_CLAUSE_OF) return ag_parse_expr(p);
  ag_syn *x = AG_NEW(p->arena, ag_syn);
  *x = (ag_syn){.kind = AG_SYN_NAME};
  x->name = ag_parser_want_name(p, "the name of a body", &x->pos);
  return x->name ? x : NULL;
}

bool ag_parse_no_clause(ag_parser *p, int n, const char *const *words) {
  ag_text text = {0};
  for (int i = 0; i < n; i++) ag_text_printf(&text, "%s`%s`", i == 0 ? "" : i == n - 1 ? " or " : ", ", words[i]);
  ag_parser_unexpected(p, ag_text_cstr(&text), n, words);
  ag_text_done(&text);
  return false;
}

static bool parse_clauses(ag_parser *p, ag_stmt *s) {
  const char *words[AG_CLAUSE_COUNT];
  int n = ag_parse_clauses(s->word, words);
  while (p->at < p->end) {
    int found = -1;
    for (int i = 0; i < AG_CLAUSE_COUNT; i++) {
      bool here = s->word == AG_WORD_BODY ? clause_words[i].body : clause_words[i].contact;
      if (ag_parser_is_word(p, clause_words[i].word) && here) found = i;
    }
    if (found < 0) return ag_parse_no_clause(p, n, words);
    if (s->clauses->x[found])
      return ag_parser_fail(p, ag_parser_pos(p), "`%s` is given twice", clause_words[found].word);
    s->clauses->pos[found] = ag_parser_pos(p);
    p->at++;
    if (!(s->clauses->x[found] = parse_clause(p, (ag_clause_word)found))) return false;
  }
  return true;
}

bool ag_parse_body(ag_parser *p, ag_stmt *s) {
  s->clauses = AG_NEW(p->arena, ag_clauses);
  s->name = ag_parser_want_name(p, "the name of the body", &s->name_pos);
  if (s->name && ag_parser_is(p, AG_TOKEN_LEFT))
    return ag_parser_fail(p, ag_parser_pos(p),
                          "there are no families of bodies: give each body its own `body` statement");
  return s->name && parse_clauses(p, s);
}

bool ag_parse_contact(ag_parser *p, ag_stmt *s) {
  static const char *const sides[] = {"on", "inside", "outside"};
  ag_clauses *c = s->clauses = AG_NEW(p->arena, ag_clauses);
  s->name = ag_parser_want_name(p, "the name of a body", &s->name_pos);
  if (!s->name) return false;
  c->side = -1;
  for (int i = 0; i < 3 && c->side < 0; i++)
    if (ag_parser_is_word(p, sides[i])) c->side = i;
  if (c->side < 0) return ag_parser_unexpected(p, "`on`, `inside` or `outside`", 3, sides);
  c->side_pos = ag_parser_pos(p);
  p->at++;
  c->ground = ag_parse_shape(p, "plane, sphere(A), cylinder(A), cone(slope), bowl(rho: z) or the name of a body");
  return c->ground && parse_clauses(p, s);
}
