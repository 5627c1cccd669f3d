/* SPDX-License-Identifier: MIT
 * Tokens to a syntax tree: expressions and statements as written, with no lookup and no checks beyond the grammar of
 * docs/language.md. A statement with a syntax error carries its first error; parsing resumes with the next statement.
 * Chains (a + b + c, a * b, x'[1][2]) are lists, so only brackets, signs, powers and `if` nest, at most 200 deep. */
#ifndef AG_LANG_PARSE_H
#define AG_LANG_PARSE_H
#include "lang/lex.h"
#include "lang/names.h"
#include "model/model.h"

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
  ag_pos pos; /* position of the operator */
  ag_syn *x, *y;
} ag_link;

struct ag_syn {
  uint8_t kind;
  ag_pos pos; /* position of its part on the first line */
  int name, owner, n;
  union {
    double number;
    ag_link *links;
  };
};

typedef enum ag_word {
  AG_WORD_NONE, /* not a statement keyword: broken */
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
  int name; /* the name being defined or changed; 0 if there is a target */
  ag_pos pos;
  int n_arg, *args; /* let d(i, j) */
  ag_pos *arg_pos;
  ag_syn *target;       /* force, generator, start: the velocity or coordinate on the left */
  ag_syn *left, *right; /* left = right (a joint: left alone); domain: `left in lo..right` */
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

/* body, roll, rubber: the clauses after the name. A surface or ground is a NAME, or a CALL whose owner is the running
 * name of `bowl(rho: ...)` (0 without one). */
typedef struct ag_clauses {
  ag_syn *x[AG_CLAUSE_COUNT]; /* NULL: not given */
  ag_pos pos[AG_CLAUSE_COUNT];
  int side; /* 0 on, 1 inside, 2 outside */
  ag_pos side_pos;
  ag_syn *ground;
} ag_clauses;

/* draw: the kind with its sizes (a CALL, or a NAME without any) and the other arguments, by their place in the row of
 * draw.def. */
typedef struct ag_draw_syn {
  int kind; /* an ag_draw_kind */
  ag_syn *shape;
  ag_syn *args[AG_DRAW_ARGS]; /* NULL: not given, or a size */
  ag_pos pos[AG_DRAW_ARGS];   /* of the word before it */
  ag_syn *colour;
} ag_draw_syn;

typedef struct ag_stmt {
  ag_word word;
  ag_pos pos;        /* position of the keyword */
  int from, to;      /* its tokens */
  const char *error; /* error message of a broken statement, or NULL */
  ag_pos error_pos;
  int name; /* model, event, generator, reference, body, contact, named constraint, noise; expect: the event */
  ag_pos name_pos;
  const char *string; /* title, entry; NULL if absent */
  int n_part, n_loop, n_when;
  ag_part *parts;
  ag_loop *loops;
  ag_part *when;
  ag_clauses *clauses; /* body, roll, rubber */
  ag_draw_syn *draw;
  int direction; /* event */
  bool terminal, cuts;
  int noise;                 /* ag_noise_kind of model.h */
  bool raw, frozen, ito;     /* noise */
  ag_syn *member;            /* noise: the index of W[i], or NULL */
  int expect;                /* ag_expect_kind of model.h */
  ag_syn *nth, *time, *tol;  /* expect; nth also holds N of `occurs N times` */
  ag_syn *paths, *dt, *seed; /* of mean and var; seed NULL: 0 */
  int method;                /* 0: not given */
  ag_pos method_pos;
  bool pathwise; /* expect conserved */
} ag_stmt;

typedef struct ag_parse {
  ag_stmt *at;
  int n, cap;
} ag_parse;

/* Parses the whole text. */
void ag_parse_file(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_parse *out);
/* Parses `target = expression` of a --set, as one statement of kind START. */
void ag_parse_set(ag_arena *a, ag_names *names, const ag_tokens *tokens, ag_stmt *out);
void ag_parse_done(ag_parse *p);
/* The text of a statement or of part of it, without comments and line breaks. */
const char *ag_parse_text(ag_arena *a, const ag_tokens *tokens, int from, int to);
/* All statement keywords, reserved ones last; *n_live: the number of those that are not reserved. */
int ag_parse_words(const char *const **words, int *n_live);
const char *ag_parse_meant(const char *word); /* the statement for which others use this word, or NULL */
const char *ag_parse_word(ag_word word);
/* The clause words of statements about bodies; returns their number. */
int ag_parse_clauses(ag_word statement, const char *words[AG_CLAUSE_COUNT]);
const char *ag_parse_clause(ag_clause_word clause);
#endif
