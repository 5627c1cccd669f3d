/* SPDX-License-Identifier: MIT
 * What the infix and the LaTeX printer share: a stack of things still to be written, so that nothing recurses. */
#ifndef AG_EXPR_PRINT_INTERNAL_H
#define AG_EXPR_PRINT_INTERNAL_H
#include "expr/graph_internal.h"

/* How strongly a form binds; docs/language.md section 2. DOT is for a . b and a x b in LaTeX. */
enum { P_IF, P_OR, P_AND, P_NOT, P_COMPARE, P_SUM, P_DOT, P_TERM, P_UNARY, P_POWER, P_POSTFIX, P_ATOM };

enum { P_TURNED = -1, P_NUMBER = -2 }; /* instead of a precedence: a number, with its sign reversed or unchanged */

typedef struct ag_print_item {
  const char *text; /* its first prec characters (0: all); or, when NULL: */
  ag_id node;       /* written with parentheses when it binds less than prec; or, when 0: */
  int prec;         /* a number */
} ag_print_item;

typedef struct ag_printer {
  const ag_graph *g;
  ag_text *out;
  ag_print_item *stack, *batch; /* batch: the parts of the node at hand, in order */
  int n_stack, cap_stack, n_batch, cap_batch;
  const struct ag_print_style *style;
  ag_arena *scratch; /* of texts made on the way */
} ag_printer;

/* Texts are not copied: constants, names of inputs, what is in the scratch arena. */
void ag_printer_text(ag_printer *p, const char *text);
void ag_printer_textn(ag_printer *p, const char *text, size_t n);
void ag_printer_node(ag_printer *p, ag_id x, int prec);
void ag_printer_int(ag_printer *p, int k);
/* Writes x: `expand` puts the parts of a node into the batch; `binds` says how strongly it binds. */
typedef struct ag_print_style {
  int (*binds)(const ag_graph *g, ag_id x);
  void (*number)(ag_text *out, double v);
  void (*expand)(ag_printer *p, ag_id x);
  const char *open, *close;
  bool latex;
  const struct ag_print_style *plain; /* of a formula: what writes all but sums and products */
} ag_print_style;
const ag_print_style *ag_print_infix(void);
const ag_print_style *ag_print_tex(void);
void ag_printer_run(const ag_graph *g, ag_id x, ag_text *out, const ag_print_style *style);

/* x = base^n as the power builder writes it, n >= 2; else 1. */
int ag_print_power(const ag_graph *g, ag_id x, ag_id *base);
/* Writes sin^2 x for (sin x)^2 in LaTeX; false when base is no such function. */
bool ag_print_named_power(ag_printer *p, ag_id base, int n);
/* Arguments of a sum or product in the order that needs fewest parentheses. */
void ag_print_order(const ag_graph *g, ag_id x, ag_id *left, ag_id *right);
/* k = 1, 2, 3 when x is the unit vector e_k of R^3, else 0. */
int ag_print_unit(const ag_graph *g, ag_id x);
/* What a product begins with when it is written without parentheses. */
ag_id ag_print_leftmost(const ag_graph *g, ag_id x);
#endif
