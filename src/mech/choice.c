/* SPDX-License-Identifier: MIT
 * Choices in expressions: every abs, sign, min, max and comparison that depends on the given inputs can be read from a
 * branch instead, the sign of its switching function s. On a branch the expressions are smooth. Choices inside
 * `unvaried` expressions are steps of an iteration, and those between `unvaried` expressions have no effect that
 * counts: both are left alone. So are == and !=, which hold on no piece of a motion. */
#include <string.h>

#include "mech/mech_internal.h"

/* ---- relevant nodes ---- */

/* Nodes that the rows depend on not only through `unvaried`. */
static bool *varied_cone(const ag_graph *g, int n_row, const ag_id *rows, ag_id *top) {
  *top = 0;
  for (int i = 0; i < n_row; i++) *top = rows[i] > *top ? rows[i] : *top;
  bool *seen = ag_heap_alloc((size_t)*top + 1);
  for (int i = 0; i < n_row; i++) seen[rows[i]] = true;
  for (ag_id x = *top; x > 0; x--) {
    if (!seen[x] || ag_node_op(g, x) == AG_OP_HOLD) continue;
    for (int a = 0; a < ag_node_n_arg(g, x); a++) seen[ag_node_arg(g, x, a)] = true;
  }
  return seen;
}

static bool is_choice(ag_op op) {
  return op == AG_OP_ABS || op == AG_OP_SIGN || op == AG_OP_MIN || op == AG_OP_MAX || op == AG_OP_LT || op == AG_OP_LE;
}

/* Is x a choice that depends on an input not only through `unvaried`? */
static bool chooses(const ag_graph *g, ag_id x, int n_in, const ag_id *inputs) {
  if (!is_choice(ag_node_op(g, x)) || !ag_depends(g, 1, &x, n_in, inputs)) return false;
  ag_id top;
  bool *seen = varied_cone(g, 1, &x, &top), found = false;
  for (int i = 0; i < n_in && !found; i++) found = inputs[i] <= top && seen[inputs[i]];
  free(seen);
  return found;
}

/* ---- branches ---- */

/* s without numbers in front; *sign is turned with them. */
static ag_id bare(ag_graph *g, ag_id s, int *sign) {
  for (;;) {
    double v;
    ag_op op = ag_node_op(g, s);
    if (op == AG_OP_NEG) {
      *sign = -*sign;
      s = ag_node_arg(g, s, 0);
    } else if ((op == AG_OP_MUL || op == AG_OP_DIV) && ag_is_num(g, ag_node_arg(g, s, 1), &v) && v != 0) {
      *sign = v < 0 ? -*sign : *sign;
      s = ag_node_arg(g, s, 0);
    } else if (op == AG_OP_MUL && ag_is_num(g, ag_node_arg(g, s, 0), &v) && v != 0) {
      *sign = v < 0 ? -*sign : *sign;
      s = ag_node_arg(g, s, 1);
    } else {
      return s;
    }
  }
}

/* The sign of b - a on the current branch (a 0: of b). 0: not a known surface. */
static ag_id branch_of(ag_choices *f, ag_id a, ag_id b) {
  enum { FORMS = 3 };
  ag_graph *g = f->g;
  int sign[FORMS] = {1, -1};
  ag_id s[FORMS];
  s[0] = bare(g, a ? ag_sub(g, b, a) : b, &sign[0]);
  s[1] = bare(g, a ? ag_sub(g, a, b) : ag_neg(g, b), &sign[1]);
  sign[2] = -sign[0];
  s[2] = bare(g, ag_neg(g, s[0]), &sign[2]);
  for (int i = 0; i < f->n; i++)
    for (int k = 0; k < FORMS; k++)
      if (f->s[i] == s[k]) return sign[k] > 0 ? f->branch[i] : ag_neg(g, f->branch[i]);
  if (f->closed) return 0;
  AG_PUSH(f->branch, f->n, f->cap);
  AG_PUSH(f->s, f->n, f->cap_s);
  f->s[f->n] = s[0];
  f->branch[f->n] = ag_input(g, ag_arena_printf(f->arena, "branch %d", f->n + 1), 1, 1, AG_LEAF_REAL);
  f->n++;
  return sign[0] > 0 ? f->branch[f->n - 1] : ag_neg(g, f->branch[f->n - 1]);
}

/* The node x with its choice read from a branch, or itself. */
static ag_id on_branch(ag_choices *f, ag_id x) {
  ag_graph *g = f->g;
  ag_id ab[2] = {ag_node_arg(g, x, 0), ag_node_n_arg(g, x) > 1 ? ag_node_arg(g, x, 1) : 0}, zero = ag_num(g, 0), branch;
  int n_arg = ab[1] ? 2 : 1;
  if (f->n_rule) ag_substitute(g, f->n_rule, f->from, f->to, n_arg, ab);
  if (!ag_depends(g, n_arg, ab, f->n_in, f->inputs)) return ag_apply(g, ag_node_op(g, x), ab); /* see others */
  ag_op op = ag_node_op(g, x);
  bool pair = op != AG_OP_SIGN && op != AG_OP_ABS;
  ag_id a = ab[0], b = ab[1];
  branch = pair ? branch_of(f, a, b) : branch_of(f, 0, a);
  if (!branch) return x;
  switch (op) {
  case AG_OP_SIGN: return branch;
  case AG_OP_ABS: return ag_mul(g, branch, a);
  case AG_OP_MIN: return ag_select(g, ag_apply2(g, AG_OP_LT, zero, branch), a, b);
  case AG_OP_MAX: return ag_select(g, ag_apply2(g, AG_OP_LT, zero, branch), b, a);
  default: return ag_apply2(g, op, zero, branch);
  }
}

static void add_rule(ag_choices *f, ag_id from, ag_id to) {
  AG_PUSH(f->from, f->n_rule, f->cap_from);
  AG_PUSH(f->to, f->n_rule, f->cap_to);
  f->from[f->n_rule] = from;
  f->to[f->n_rule++] = to;
}

void ag_choices_find(ag_choices *f, int n_row, const ag_id *rows, int n_only, const ag_id *only, int n_always) {
  ag_id top, top_only = 0;
  bool *seen = varied_cone(f->g, n_row, rows, &top),
       *in_only = only ? varied_cone(f->g, n_only, only, &top_only) : NULL;
  for (ag_id x = 1; x <= top; x++) {
    if (!seen[x] || !chooses(f->g, x, f->n_in, f->inputs)) continue;
    if (!only || (x <= top_only && in_only[x]) || ag_depends(f->g, 1, &x, n_always, f->inputs + f->n_in - n_always))
      add_rule(f, x, on_branch(f, x));
  }
  free(seen);
  free(in_only);
}

bool ag_choices_exist(const ag_graph *g, int n_row, const ag_id *rows, int n_in, const ag_id *inputs) {
  ag_id top;
  bool *seen = varied_cone(g, n_row, rows, &top), found = false;
  for (ag_id x = 1; x <= top && !found; x++) found = seen[x] && chooses(g, x, n_in, inputs);
  free(seen);
  return found;
}

void ag_choices_done(ag_choices *f) {
  void *all[] = {f->inputs, f->branch, f->s, f->from, f->to};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}
