/* SPDX-License-Identifier: MIT
 * The syntax tree is compared in fully parenthesised form. */
#include "lang/parse.h"

#include "check.h"

static void show(const ag_names *names, const ag_syn *s, ag_text *out);

static void show_chain(const ag_names *names, const ag_syn *s, const char *word, ag_text *out) {
  ag_text_char(out, '(');
  for (int i = 0; i < s->n; i++) {
    const char *op = s->links[i].op == AG_TOKEN_MINUS ? "-" : s->links[i].op == AG_TOKEN_SLASH ? "/" : word;
    if (i) ag_text_str(out, op);
    show(names, s->links[i].x, out);
  }
  ag_text_char(out, ')');
}

static void show_postfix(const ag_names *names, const ag_syn *s, ag_text *out) {
  show(names, s->links[0].x, out);
  for (int i = 1; i < s->n; i++) {
    const ag_link *link = &s->links[i];
    if (link->op == AG_TOKEN_PRIME) ag_text_str(out, "'");
    else if (link->op == AG_TOKEN_POWER) ag_text_str(out, "^T");
    else {
      ag_text_str(out, "[");
      show(names, link->x, out);
      if (link->y) ag_text_str(out, ";"), show(names, link->y, out);
      ag_text_str(out, "]");
    }
  }
}

static void show(const ag_names *names, const ag_syn *s, ag_text *out) {
  static const char *const prefix[] = {
      [AG_SYN_NOT] = "not", [AG_SYN_NEG] = "-", [AG_SYN_IF] = "if", [AG_SYN_LIST] = "list"};
  switch ((ag_syn_kind)s->kind) {
  case AG_SYN_NUMBER: ag_text_number(out, s->number); break;
  case AG_SYN_NAME: ag_text_str(out, names->text[s->name]); break;
  case AG_SYN_MEMBER: ag_text_printf(out, "%s.%s", names->text[s->owner], names->text[s->name]); break;
  case AG_SYN_ADD: show_chain(names, s, "+", out); break;
  case AG_SYN_MUL: show_chain(names, s, "*", out); break;
  case AG_SYN_AND: show_chain(names, s, " and ", out); break;
  case AG_SYN_OR: show_chain(names, s, " or ", out); break;
  case AG_SYN_POW: show_chain(names, s, "^", out); break;
  case AG_SYN_COMPARE: show_chain(names, s, s->links[1].op == AG_TOKEN_LT ? "<" : "?", out); break;
  case AG_SYN_POST: show_postfix(names, s, out); break;
  case AG_SYN_CALL:
  case AG_SYN_SUM: ag_text_printf(out, "%s:", names->text[s->name]); /* fall through */
  case AG_SYN_LIST:
  case AG_SYN_IF:
  case AG_SYN_NOT:
  case AG_SYN_NEG:
    if (s->kind != AG_SYN_CALL && s->kind != AG_SYN_SUM) ag_text_str(out, prefix[s->kind]);
    show_chain(names, s, ",", out);
    break;
  }
}

typedef struct parsed {
  ag_arena *arena;
  ag_names names;
  ag_tokens tokens;
  ag_parse parse;
} parsed;

static parsed *parse(const char *text) {
  parsed *p = ag_heap_alloc(sizeof *p);
  p->arena = ag_arena_create();
  ag_names_init(&p->names, p->arena);
  ag_lex_split(p->arena, text, true, &p->tokens);
  ag_parse_file(p->arena, &p->names, &p->tokens, &p->parse);
  return p;
}

static void done(parsed *p) {
  ag_parse_done(&p->parse);
  ag_lex_done(&p->tokens);
  ag_names_done(&p->names);
  ag_arena_free(p->arena);
  free(p);
}

/* The tree of an expression, or its error. */
static const char *tree(const char *expression) {
  static char out[2000];
  char text[2000];
  snprintf(text, sizeof text, "lagrangian %s", expression);
  parsed *p = parse(text);
  ag_text s = {0};
  if (p->parse.at[0].error) ag_text_printf(&s, "%d: %s", p->parse.at[0].error_pos.col, p->parse.at[0].error);
  else show(&p->names, p->parse.at[0].parts[0].right, &s);
  snprintf(out, sizeof out, "%s", ag_text_cstr(&s));
  ag_text_done(&s);
  done(p);
  return out;
}

static void check_expressions(void) {
  AG_CHECK_STR(tree("1 - 2 - 3"), "(1-2-3)");
  AG_CHECK_STR(tree("a*b + c/d*e"), "((a*b)+(c/d*e))");
  AG_CHECK_STR(tree("-x^2"), "-((x^2))");
  AG_CHECK_STR(tree("2^3^2"), "(2^(3^2))");
  AG_CHECK_STR(tree("2^-x"), "(2^-(x))");
  AG_CHECK_STR(tree("-a*b"), "(-(a)*b)");
  AG_CHECK_STR(tree("a*-b"), "(a*-(b))");
  AG_CHECK_STR(tree("x'^2"), "(x'^2)");
  AG_CHECK_STR(tree("R^T*e3"), "(R^T*e3)");
  AG_CHECK_STR(tree("R^T^2"), "(R^T^2)");
  AG_CHECK_STR(tree("x[i][j]'"), "x[i][j]'");
  AG_CHECK_STR(tree("A[i, j+1]"), "A[i;(j+1)]");
  AG_CHECK_STR(tree("f(a, b)[1]"), "f:(a,b)[1]");
  AG_CHECK_STR(tree("[[a, b], [c, d]]"), "list(list(a,b),list(c,d))");
  AG_CHECK_STR(tree("sum(i in 1..K-1, x[i])"), "i:(1,(K-1),x[i])");
  AG_CHECK_STR(tree("drive.psi*2"), "(drive.psi*2)");
  AG_CHECK_STR(tree("if a < b and not c < d or e < f then 1 else if a < b then 2 else 3"),
               "if((((a<b) and not((c<d))) or (e<f)),1,if((a<b),2,3))");
  AG_CHECK_STR(tree("first + over*in"), "(first+(over*in))");
  AG_CHECK_STR(tree("(a\n  + b)"), "(a+b)");
}

static void check_errors(void) {
  AG_CHECK_STR(tree("1 +"), "15: expected an expression, found the end of the statement");
  AG_CHECK_STR(tree("(1"), "14: expected `)`, found the end of the statement");
  AG_CHECK_STR(tree("f(1 2)"),
               "16: expected `,` or `)`, found `2`; there is no implicit product, write `*` between factors");
  AG_CHECK_STR(tree("a < b < c"), "18: comparisons do not chain: write `a < b and b < c`");
  AG_CHECK_STR(tree("[]"), "12: an empty list: `[ ]` needs at least one entry");
  AG_CHECK_STR(tree("x[1,2,3]"), "13: an index is [i] for vectors and families, [i, j] for matrices");
  AG_CHECK_STR(tree("1 + $"), "16: unexpected `$`: formulas are written as they are, without `$`");
}

static void check_depth(void) {
  char text[1000];
  for (int n = 198; n <= 200; n++) {
    memset(text, '(', (size_t)n);
    text[n] = 'x';
    memset(text + n + 1, ')', (size_t)n);
    text[2 * n + 1] = 0;
    AG_CHECK((strstr(tree(text), "nested more than 200 deep") != NULL) ==
             (n > 199)); /* the expression itself is the first level */
  }
}

static void check_statements(void) {
  parsed *p = parse("model a \"b\" \"c\"\n"
                    "param x = 1, K = 2 integer\n"
                    "oops\n"
                    "config R in SO3 velocity W [K], q in R^(2*K), z in R^3 [2]\n"
                    "let d(i, j) = i + j\n"
                    "start q[i] = i, W = 0 for i in 1..K, j in i..K\n"
                    "event hit: a = b falling terminal\n"
                    "domain x in -1..1\n"
                    "observable f, g = 2\n"
                    "param y = (\n"
                    "expect E at 2*t = 3 within 1 when a = 1, b = 2\n"
                    "expect hit occurs 3 times over 4\n");
  const ag_stmt *s = p->parse.at;
  AG_CHECK(p->parse.n == 12);
  AG_CHECK(s[0].word == AG_WORD_MODEL && !strcmp(s[0].string, "b c"));
  AG_CHECK(s[1].n_part == 2 && !s[1].parts[0].integer && s[1].parts[1].integer);
  AG_CHECK(s[2].word == AG_WORD_NONE && s[2].error && s[2].error_pos.line == 3);
  AG_CHECK(s[3].n_part == 3 && s[3].parts[0].space == AG_IN_SO3 && s[3].parts[0].velocity && s[3].parts[0].count &&
           s[3].parts[1].size && !s[3].parts[1].count && s[3].parts[2].count);
  AG_CHECK(s[4].parts[0].n_arg == 2);
  AG_CHECK(s[5].n_part == 2 && s[5].n_loop == 2 && s[5].parts[0].target->kind == AG_SYN_POST);
  AG_CHECK(s[6].direction == -1 && s[6].terminal);
  AG_CHECK(s[7].parts[0].lo && s[7].parts[0].right);
  AG_CHECK(!s[8].parts[0].right && s[8].parts[1].right);
  AG_CHECK(s[9].error && s[9].error_pos.line == 10); /* and the next statement is parsed again */
  AG_CHECK(!s[10].error && s[10].time && s[10].tol && s[10].n_when == 2);
  AG_CHECK(!s[11].error && s[11].name && s[11].nth);
  AG_CHECK_STR(ag_parse_text(p->arena, &p->tokens, s[7].from, s[7].to), "domain x in -1..1");
  done(p);
}

int main(void) {
  check_expressions();
  check_errors();
  check_depth();
  check_statements();
  return ag_check_report();
}
