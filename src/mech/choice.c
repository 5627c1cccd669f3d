/* SPDX-License-Identifier: MIT
 * Choices in expressions: every abs, sign, min, max and comparison that depends on the given inputs can be read from a
 * branch instead, the sign of its switching function s. On a branch the expressions are smooth. Choices inside
 * `unvaried` expressions are steps of an iteration, and those between `unvaried` expressions have no effect that
 * counts: both are left alone. So are == and !=, unless they ask whether a motion is on such a surface. */
#include <string.h>

#include "mech/choices.h"

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

/* -s in the forms in which it may be written: b - a of a - b and of b + (-a), a a number. */
static ag_id flipped(ag_graph *g, ag_id s) {
  double v;
  if (ag_node_op(g, s) != AG_OP_SUB && ag_node_op(g, s) != AG_OP_ADD) return ag_neg(g, s);
  ag_id a = ag_node_arg(g, s, 0), b = ag_node_arg(g, s, 1);
  if (ag_node_op(g, s) == AG_OP_SUB) return ag_sub(g, b, a);
  if (ag_is_num(g, a, &v)) return ag_sub(g, ag_num(g, -v), b);
  return ag_is_num(g, b, &v) ? ag_sub(g, ag_num(g, -v), a) : ag_neg(g, s);
}

static bool equal(ag_graph *g, ag_id a, ag_id b) { return a == b || ag_is_zero(g, ag_sub(g, a, b)); }

/* The surface that s = 0 is, -1: a new one; *sign is turned where the function of the surface is negative if s is not.
 */
static int known_surface(const ag_choices *f, ag_id s, int *sign) {
  ag_graph *g = f->g;
  ag_id one = bare(g, s, sign), other = flipped(g, one);
  for (int i = 0; i < f->n; i++) {
    if (equal(g, one, f->s[i])) return i;
    if (!equal(g, other, f->s[i]) && !equal(g, one, flipped(g, f->s[i]))) continue;
    *sign = -*sign;
    return i;
  }
  return -1;
}

/* The sign of s = +-branch * function of a surface, the size of that function up to the sign: the same on both of its
 * sides. 0: s is none. */
static int size_sign(const ag_choices *f, ag_id s) {
  int outer = 1;
  s = bare(f->g, s, &outer);
  for (int k = 0; k < 2 && ag_node_op(f->g, s) == AG_OP_MUL; k++)
    for (int i = 0; i < f->n; i++) {
      int sign = outer;
      if (ag_node_arg(f->g, s, k) == f->branch[i] && known_surface(f, ag_node_arg(f->g, s, 1 - k), &sign) == i)
        return sign;
    }
  return 0;
}

/* The sign of s on the current branch. 0: not a known surface. */
static ag_id branch_of(ag_choices *f, ag_id s) {
  ag_graph *g = f->g;
  int sign = 1, size = size_sign(f, s), i = known_surface(f, s, &sign);
  if (size) return ag_num(g, size);
  if (i >= 0) return sign > 0 ? f->branch[i] : ag_neg(g, f->branch[i]);
  if (f->closed) return 0;
  sign = 1;
  AG_PUSH(f->branch, f->n, f->cap);
  AG_PUSH(f->s, f->n, f->cap_s);
  f->s[f->n] = bare(g, s, &sign);
  f->branch[f->n] = ag_input(g, ag_arena_printf(f->arena, "branch %d", f->n + 1), 1, 1, AG_LEAF_REAL);
  f->n++;
  return sign > 0 ? f->branch[f->n - 1] : ag_neg(g, f->branch[f->n - 1]);
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
  branch = branch_of(f, pair ? ag_sub(g, b, a) : a);
  if (!branch) return ag_apply(g, op, ab);
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

/* v == 0 and v != 0 where v = 0 is a surface: a motion along it is a combination of both of its sides, where v is not
 * 0. Others (a guard of 0/0) are left alone. */
static void add_guards(ag_choices *f, ag_id top, const bool *seen) {
  for (ag_id x = 1; x <= top; x++) {
    ag_op op = ag_node_op(f->g, x);
    if (!seen[x] || (op != AG_OP_EQ && op != AG_OP_NE)) continue;
    ag_id ab[2] = {ag_node_arg(f->g, x, 0), ag_node_arg(f->g, x, 1)};
    if (f->n_rule) ag_substitute(f->g, f->n_rule, f->from, f->to, 2, ab);
    ag_id s = ag_sub(f->g, ab[1], ab[0]);
    int sign = 1;
    if (known_surface(f, s, &sign) >= 0 || size_sign(f, s)) add_rule(f, x, ag_num(f->g, op == AG_OP_NE));
  }
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
  add_guards(f, top, seen);
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
