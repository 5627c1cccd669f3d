/* SPDX-License-Identifier: MIT
 * Tokens to a syntax tree: expressions and statements as they are written, nothing looked up, nothing checked beyond
 * the grammar of docs/language.md. A statement that does not fit carries its first error; the next one starts afresh.
 * Chains (a + b + c, a * b, x'[1][2]) are lists, so that only brackets, signs, powers and `if` nest, at most 200 deep.
 */
#ifndef AG_LANG_PARSE_H
#define AG_LANG_PARSE_H
#include "lang/lex.h"
#include "lang/names.h"

typedef enum ag_syn_kind {
  AG_SYN_NUMBER, /* number */
  AG_SYN_NAME,   /* name */
  AG_SYN_MEMBER, /* owner.name: drive.psi */
  AG_SYN_CALL,   /* name(links) */
  AG_SYN_LIST,   /* [links] */
  AG_SYN_ADD,    /* links[0], then op PLUS or MINUS each */
  AG_SYN_MUL,    /* links[0], then op TIMES or SLASH each */
  AG_SYN_AND,
  AG_SYN_OR, /* links */
  AG_SYN_NOT,
  AG_SYN_NEG,     /* links[0] */
  AG_SYN_POW,     /* links[0] ^ links[1] */
  AG_SYN_COMPARE, /* links[0] links[1].op links[1] */
  AG_SYN_IF,      /* condition, then, else */
  AG_SYN_SUM,     /* sum(name in links[0]..links[1], links[2]) */
  AG_SYN_POST     /* links[0], then op PRIME, LEFT (x, and y or NULL), or POWER (^T) each */
} ag_syn_kind;

typedef struct ag_syn ag_syn;
typedef struct ag_link {
  uint8_t op;
  ag_pos pos; /* of the operator */
  ag_syn *x, *y;
} ag_link;

struct ag_syn {
  uint8_t kind;
  ag_pos pos; /* the part of it on its first line */
  int name, owner, n;
  union {
    double number;
    ag_link *links;
  };
};

typedef enum ag_word {
  AG_WORD_NONE, /* no statement word: broken */
#define AG_STATEMENT(word, NAME, loops) AG_WORD_##NAME,
#define AG_RESERVED(word)
#include "lang/words.def"
#undef AG_STATEMENT
#undef AG_RESERVED
  AG_WORD_COUNT
} ag_word;

typedef enum ag_space_word { AG_IN_R, AG_IN_S1, AG_IN_S2, AG_IN_SO3 } ag_space_word;

/* One entry of a statement's list. */
typedef struct ag_part {
  int name; /* what is introduced or changed; 0 when there is a target */
  ag_pos pos;
  int n_arg, *args; /* let d(i, j) */
  ag_pos *arg_pos;
  ag_syn *target;       /* force, generator, start: the velocity or coordinate on the left */
  ag_syn *left, *right; /* left = right (a joint: left alone); `left in lo..right` of domain (lo in between) */
  ag_syn *lo;
  bool integer; /* param */
  int space;    /* config: an ag_space_word; size: R^size; count: family */
  ag_syn *size, *count;
  int velocity;
  ag_pos velocity_pos;
} ag_part;

typedef struct ag_loop {
  int name;
  ag_pos pos;
  ag_syn *lo, *hi;
} ag_loop;

typedef enum ag_clause_word {
#define AG_CLAUSE(word, NAME, body, contact) AG_CLAUSE_##NAME,
#include "lang/clause.def"
#undef AG_CLAUSE
  AG_CLAUSE_COUNT
} ag_clause_word;

/* body, roll, rubber: what stands behind the name. A surface or ground is a NAME or a CALL whose owner is the running
 * name of `bowl(rho: ...)`, 0 without one. */
typedef struct ag_clauses {
  ag_syn *x[AG_CLAUSE_COUNT]; /* NULL: not given */
  ag_pos pos[AG_CLAUSE_COUNT];
  int side; /* 0 on, 1 inside, 2 outside */
  ag_pos side_pos;
  ag_syn *ground;
} ag_clauses;

typedef struct ag_stmt {
  ag_word word;
  ag_pos pos;        /* of the word */
  int from, to;      /* its tokens */
  const char *error; /* not NULL: broken, and why */
  ag_pos error_pos;
  int name; /* model, event, generator, reference, body, contact, a constraint that has one; expect: the event */
  ag_pos name_pos;
  const char *string; /* title, entry; NULL when there is none */
  int n_part, n_loop, n_when;
  ag_part *parts;
  ag_loop *loops;
  ag_part *when;
  ag_clauses *clauses; /* body, roll, rubber */
  int direction;       /* event */
  bool terminal, cuts;
  int expect;               /* ag_expect_kind of model.h */
  ag_syn *nth, *time, *tol; /* expect; nth also holds N of `occurs N times` */
} ag_stmt;

typedef struct ag_parse {
  ag_stmt *at;
  int n, cap;
} ag_parse;

/* The whole text. */
void ag_parse_file(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_parse *out);
/* `target = expression` as in start, from outside: one statement of word START. */
void ag_parse_set(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_stmt *out);
void ag_parse_done(ag_parse *p);
/* The text of a statement or of a part of it without comments and line breaks. */
const char *ag_parse_text(ag_arena *a, const ag_tokens *tokens, int from, int to);
/* All statement words, reserved ones last; *n_live: how many are not reserved. */
int ag_parse_words(const char *const **words, int *n_live);
const char *ag_parse_word(ag_word word);
/* The words that may follow in a statement about bodies; how many. */
int ag_parse_clauses(ag_word statement, const char *words[AG_CLAUSE_COUNT]);
const char *ag_parse_clause(ag_clause_word clause);
#endif
