/* SPDX-License-Identifier: MIT
 * The words of emitted code: those of plain.h, and one function for each operation of op.def whose value has a word. */
#include <string.h>

#include "kern/kern.h"
#include "kern/texts.h"

/* Is the value a word of the arguments alone, v_word(a, b)? Its length then, else 0. */
static int word_of(const ag_op_row *row) {
  static const char *const lists[] = {"(a)", "(a, b)", "(a, b, c)"};
  const char *list = strchr(row->value, '(');
  bool word = list && !strncmp(row->value, "v_", 2) && !strcmp(list, lists[row->arity - 1]);
  return word ? (int)(list - row->value) : 0;
}

static void put_word(const ag_op_row *row, ag_text *out) {
  static const char *const parameters[] = {"double a", "double a, double b", "double a, double b, double c"};
  int n = word_of(row);
  if (n)
    ag_text_printf(out, "static AG_MAYBE double %.*s(%s) { return %s; }\n", n, row->value, parameters[row->arity - 1],
                   row->plain);
}

void ag_cgen_plain(bool sparse, ag_text *out) {
  ag_text_str(out, ag_text_of_plain);
#define AG_OP(NAME, ...) put_word(ag_op_describe(AG_OP_##NAME), out);
#define AG_OP_TAPE(NAME, ...) put_word(ag_op_describe(AG_OP_##NAME), out);
#include "expr/op.def"
  ag_text_char(out, '\n');
  if (sparse) ag_text_str(out, ag_text_of_ldl);
}
