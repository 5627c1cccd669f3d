/* SPDX-License-Identifier: MIT
 * Programs: the cone of some nodes in order. */
#include <math.h>
#include <stdlib.h>

#include "exact/exact_internal.h"

static bool is_opaque(ag_op op) {
  switch (op) {
  case AG_OP_HOLD:
  case AG_OP_SLOT:
  case AG_OP_SPARSE: return true;
  default: return false;
  }
}

static bool takes_angle(ag_op op) {
  switch (op) {
  case AG_OP_SIN:
  case AG_OP_COS:
  case AG_OP_TAN:
  case AG_OP_SINH:
  case AG_OP_COSH:
  case AG_OP_TANH:
  case AG_OP_EXP: return true;
  default: return false;
  }
}

static int push_term(ag_program *p, int twelfths, int step) {
  AG_PUSH(p->terms, p->n_term, p->cap_term);
  p->terms[p->n_term] = (ag_term){twelfths, step};
  return p->n_term++;
}

/* Is step x a number that is a multiple k/12, |k| <= 1200? */
static bool twelfths(const ag_program *p, int x, bool below, int *k) {
  if (!p->steps[x].is_number || p->steps[x].num == 0) return false;
  double v = 12 * (below ? 1 / p->steps[x].num : p->steps[x].num);
  *k = (int)lrint(fmin(fmax(v, -2000), 2000));
  return fabs(v - *k) < 1e-12 && *k && abs(*k) <= 1200;
}

/* The argument of step s as a sum of terms. What is no sum of multiples of 1/12 is a term of its own. */
static void find_terms(ag_program *p, ag_step *s) {
  ag_term stack[64];
  int n = 0, first = p->n_term;
  stack[n++] = (ag_term){12, p->args[s->first]};
  while (n) {
    ag_term t = stack[--n];
    const ag_step *x = &p->steps[t.step];
    const int *a = p->args + x->first;
    int k;
    bool room = n < 60;
    if (x->is_number) (void)push_term(p, t.twelfths, t.step);
    else if (room && x->op == AG_OP_NEG) stack[n++] = (ag_term){-t.twelfths, a[0]};
    else if (room && x->op == AG_OP_ADD)
      stack[n++] = (ag_term){t.twelfths, a[0]}, stack[n++] = (ag_term){t.twelfths, a[1]};
    else if (room && x->op == AG_OP_SUB)
      stack[n++] = (ag_term){t.twelfths, a[0]}, stack[n++] = (ag_term){-t.twelfths, a[1]};
    else if (room && x->op == AG_OP_MUL && twelfths(p, a[0], false, &k) && t.twelfths * k % 12 == 0)
      stack[n++] = (ag_term){t.twelfths * k / 12, a[1]};
    else if (room && x->op == AG_OP_MUL && twelfths(p, a[1], false, &k) && t.twelfths * k % 12 == 0)
      stack[n++] = (ag_term){t.twelfths * k / 12, a[0]};
    else if (room && x->op == AG_OP_DIV && twelfths(p, a[1], true, &k) && t.twelfths * k % 12 == 0)
      stack[n++] = (ag_term){t.twelfths * k / 12, a[0]};
    else (void)push_term(p, t.twelfths, t.step);
  }
  s->term = first;
  s->n_term = p->n_term - first;
}

/* The operation and the arguments of x: of a folded number those that it came from. */
static int read_node(const ag_graph *g, ag_id x, ag_op *op, ag_id *folded) {
  *op = ag_node_op(g, x);
  int n = *op == AG_OP_NUM ? ag_num_origin(g, x, op, folded) : 0;
  return n ? n : ag_node_n_arg(g, x);
}

static ag_id argument(const ag_graph *g, ag_id x, const ag_id *folded, int k) {
  return ag_node_op(g, x) == AG_OP_NUM ? folded[k] : ag_node_arg(g, x, k);
}

/* index[x]: 0 before; 1 where outs depend on x. */
static int mark(const ag_graph *g, int n_out, const ag_id *outs, int *index, int *n_args) {
  ag_id top = 0;
  int n = 0;
  for (int i = 0; i < n_out; i++) {
    index[outs[i]] = 1;
    if (outs[i] > top) top = outs[i];
  }
  for (ag_id x = top; x >= 1; x--) {
    if (!index[x]) continue;
    n++;
    ag_op op;
    ag_id folded[3];
    int n_arg = read_node(g, x, &op, folded);
    *n_args += n_arg;
    for (int k = 0; k < n_arg; k++) index[argument(g, x, folded, k)] = 1;
  }
  return n;
}

static void add_step(ag_program *p, const ag_graph *g, ag_id x, int *index) {
  ag_step *s = &p->steps[p->n_step];
  ag_id folded[3];
  *s = (ag_step){.rows = ag_node_rows(g, x), .cols = ag_node_cols(g, x), .at = p->n_value, .first = p->n_args};
  s->n_arg = read_node(g, x, &s->op, folded);
  for (int k = 0; k < s->n_arg; k++) p->args[p->n_args++] = index[argument(g, x, folded, k)] - 2;
  s->is_number = ag_is_num(g, x, &s->num);
  for (int k = 0; k < AG_FIELD_PRIMES && s->op == AG_OP_NUM && isfinite(s->num); k++) {
    const ag_field f = ag_field_at(k, 0);
    s->residue[k] = ag_field_number(&f, s->num);
  }
  if (s->op == AG_OP_ENTRY || s->op == AG_OP_ROWS) ag_node_index(g, x, &s->i, &s->j);
  if (takes_angle(s->op)) {
    find_terms(p, s);
    p->has_angles = true;
  }
  if (is_opaque(s->op) || (s->is_number && !isfinite(s->num))) p->opaque = s->op;
  p->n_value += s->rows * s->cols;
  index[x] = 2 + p->n_step++;
}

ag_program *ag_program_create(const ag_graph *g, int n_in, const ag_id *inputs, int n_out, const ag_id *outs) {
  ag_program *p = ag_heap_alloc(sizeof *p);
  int *index = ag_heap_alloc(sizeof *index * (size_t)(ag_graph_count(g) + 1)), n_args = 0;
  int n = mark(g, n_out, outs, index, &n_args);
  p->steps = ag_heap_alloc(sizeof *p->steps * (size_t)(n + 1));
  p->args = ag_heap_alloc(sizeof *p->args * (size_t)(n_args + 1));
  for (ag_id x = 1; p->n_step < n; x++)
    if (index[x]) add_step(p, g, x, index);
  p->in_step = ag_heap_alloc(sizeof *p->in_step * (size_t)(n_in + 1));
  p->in_at = ag_heap_alloc(sizeof *p->in_at * (size_t)(n_in + 1));
  p->n_input = n_in;
  for (int i = 0; i < n_in; i++) {
    p->in_step[i] = index[inputs[i]] - 2;
    p->in_at[i] = p->n_in;
    p->n_in += ag_node_rows(g, inputs[i]) * ag_node_cols(g, inputs[i]);
  }
  p->outs = ag_heap_alloc(sizeof *p->outs * (size_t)(n_out + 1));
  p->n_outs = n_out;
  for (int i = 0; i < n_out; i++) {
    p->outs[i] = index[outs[i]] - 2;
    p->n_out += ag_node_rows(g, outs[i]) * ag_node_cols(g, outs[i]);
  }
  for (int k = 0; k < AG_FIELD_PRIMES && p->has_angles; k++) ag_quarters_make(k, &p->quarters[k]);
  free(index);
  return p;
}

void ag_program_free(ag_program *p) {
  if (!p) return;
  free(p->steps);
  free(p->args);
  free(p->terms);
  free(p->in_step);
  free(p->in_at);
  free(p->outs);
  free(p);
}

int ag_program_n_in(const ag_program *p) { return p->n_in; }
int ag_program_n_out(const ag_program *p) { return p->n_out; }
ag_op ag_program_opaque(const ag_program *p) { return p->opaque; }
