/* SPDX-License-Identifier: MIT */
#include "lang/cut.h"

#include <stdlib.h>
#include <string.h>

enum {
  MAX_TREE = 4000,  /* nodes of all expressions written out: above this, shared ones are cut */
  SHARED_TREE = 12, /* if they have at least this size */
  MAX_NEST = 50     /* nesting of brackets */
};

typedef struct measure {
  double tree;   /* nodes when written out */
  uint16_t nest; /* nesting of brackets */
  uint8_t uses;  /* 0: not needed, 2: more than one */
  uint8_t let;   /* a let of the user stands for it */
} measure;

/* ---- reading nodes ---- */

static bool is_condition(ag_op op) {
  return op == AG_OP_LT || op == AG_OP_LE || op == AG_OP_EQ || op == AG_OP_NE || op == AG_OP_AND || op == AG_OP_OR ||
         op == AG_OP_NOT;
}

/* The printer relies on the first factor of a product, which a name would hide. */
static bool may_hide(ag_op op) {
  return op != AG_OP_STACK && op != AG_OP_EYE && op != AG_OP_SUB && op != AG_OP_SELECT && op != AG_OP_CONCAT &&
         op != AG_OP_ROWS && op != AG_OP_ROTATION;
}

static bool in_chain(ag_op op, ag_op inner) {
  bool sum = op == AG_OP_ADD || op == AG_OP_SUB,
       term = op == AG_OP_MUL || op == AG_OP_DIV || op == AG_OP_SCALE || op == AG_OP_MATMUL;
  return sum ? inner == AG_OP_ADD || inner == AG_OP_SUB : term && (inner == AG_OP_MUL || inner == AG_OP_DIV);
}

/* Nesting of brackets when x is written: chains a + b + c stay flat on their left. An upper bound. */
static int nest_of(const ag_graph *g, const measure *at, ag_id x) {
  int n = ag_node_n_arg(g, x), most = 0;
  ag_op op = ag_node_op(g, x);
  bool free_left = true; /* one operand may stand on the left */
  for (int i = 0; i < n; i++) {
    ag_id a = ag_node_arg(g, x, i);
    bool flat = free_left && in_chain(op, ag_node_op(g, a)) && (i == 0 || op == AG_OP_ADD || op == AG_OP_MUL);
    int k = at[a].nest + (flat ? 0 : 1);
    if (flat) free_left = false;
    most = k > most ? k : most;
  }
  return most;
}

/* Does the printer write this rotation as rotation(e_k, angle)? Others need rotation(matrix). */
static bool prints_as_rotation(const ag_graph *g, ag_id x) {
  ag_text text = {0};
  ag_print(g, x, &text);
  bool yes = !strncmp(ag_text_cstr(&text), "rotation(", 9);
  ag_text_done(&text);
  return yes;
}

/* ---- choosing ---- */

static void mark_uses(const ag_graph *g, measure *at, int n, int n_root, const ag_id *roots) {
  for (int i = 0; i < n_root; i++) at[roots[i]].uses = at[roots[i]].uses ? 2 : 1;
  for (int x = n - 1; x > 0; x--) {
    int n_arg = at[x].uses ? ag_node_n_arg(g, (ag_id)x) : 0;
    for (int k = 0; k < n_arg; k++) {
      measure *m = &at[ag_node_arg(g, (ag_id)x, k)];
      m->uses = m->uses ? 2 : 1;
    }
  }
}

static double tree_of(const ag_graph *g, const measure *at, ag_id x) {
  double tree = 1;
  for (int i = 0, n = ag_node_n_arg(g, x); i < n; i++) tree += at[ag_node_arg(g, x, i)].tree;
  return tree;
}

static bool is_cut(const ag_graph *g, const measure *at, ag_id x, bool crowded) {
  ag_op op = ag_node_op(g, x);
  if (ag_node_n_arg(g, x) == 0 || is_condition(op)) return false;
  if (op == AG_OP_COS || op == AG_OP_SIN) return false; /* the printer recognises rotation(e_k, angle) by them */
  if (op == AG_OP_ROTATION) return at[x].tree > 200 || !prints_as_rotation(g, x);
  if (at[x].let && may_hide(op)) return true;
  if (crowded && at[x].uses > 1 && at[x].tree > SHARED_TREE) return true;
  return at[x].nest > MAX_NEST;
}

/* Name of a cut: that of the user's let, otherwise the first free name of part1, part2, ... */
static const char *name_of(ag_cuts *c, const ag_model *m, ag_names *names, ag_id x, int *next) {
  for (int i = 0; i < m->n_lets; i++)
    if (m->lets[i].x == x) return m->lets[i].name;
  for (;;) {
    const char *name = ag_arena_printf(c->arena, "part%d", ++*next);
    int before = names->n;
    ag_names_id(names, name, strlen(name));
    if (names->n > before) return name;
  }
}

static void know(ag_names *names, const char *name) {
  if (name) ag_names_id(names, name, strcspn(name, "['"));
}

/* All names of the model, to avoid collisions. */
static void know_all(ag_names *names, const ag_model *m) {
  for (int i = 0; i < m->n_params; i++) know(names, m->params[i].name);
  for (int i = 0; i < m->n_coords; i++) know(names, m->coords[i].name), know(names, m->coords[i].velocity);
  for (int i = 0; i < m->n_lets; i++) know(names, m->lets[i].name);
  for (int i = 0; i < m->n_frames; i++) know(names, m->frames[i].name);
  for (int i = 0; i < m->n_observables; i++) know(names, m->observables[i].name);
  for (int i = 0; i < m->n_candidates; i++) know(names, m->candidates[i].name);
}

static void add(ag_cuts *c, ag_id x, const char *name) {
  ag_graph *g = c->g;
  AG_PUSH(c->at, c->n, c->cap);
  ag_id input =
      ag_input(g, name, ag_node_rows(g, x), ag_node_cols(g, x), ag_is_rotation(g, x) ? AG_LEAF_ROTATION : AG_LEAF_REAL);
  c->at[c->n++] = (ag_cut){x, input, name};
  c->index[x] = c->n;
}

/* Sizes of all nodes; a cut counts as one name. */
static double measure_all(const ag_graph *g, measure *at, int n, bool crowded, bool cutting, int *n_cut, ag_id *cut) {
  double total = 0;
  for (int i = 1; i < n; i++) {
    ag_id x = (ag_id)i;
    if (!at[i].uses) continue;
    at[i].tree = tree_of(g, at, x);
    at[i].nest = (uint16_t)nest_of(g, at, x);
    if (cutting && is_cut(g, at, x, crowded)) {
      cut[(*n_cut)++] = x;
      at[i].tree = 1;
      at[i].nest = 0;
    }
    if (at[i].nest > 60000) at[i].nest = 60000;
    total = at[i].tree > total ? at[i].tree : total;
  }
  return total;
}

/* All roots at once: one pass over the graph. */
static void show_roots(ag_cuts *c, int n, const ag_id *roots) {
  ag_id *out = ag_heap_alloc(sizeof *out * (size_t)(n + 1));
  for (int i = 0; i < n; i++) out[i] = roots[i];
  if (c->n) ag_substitute(c->g, c->n, c->from, c->to, n, out);
  for (int i = 0; i < n; i++) c->shown[roots[i]] = out[i];
  free(out);
}

void ag_cut_init(ag_cuts *c, const ag_model *m, int n_root, const ag_id *roots) {
  ag_graph *g = m->graph;
  int n = ag_graph_count(g) + 1, n_cut = 0, next = 0;
  measure *at = ag_heap_alloc(sizeof *at * (size_t)n);
  ag_id *cut = ag_heap_alloc(sizeof *cut * (size_t)n);
  *c = (ag_cuts){.arena = ag_arena_create(), .g = g, .n_index = n, .index = ag_heap_alloc(sizeof(int) * (size_t)n)};
  c->shown = ag_heap_alloc(sizeof *c->shown * (size_t)n);
  c->seen = ag_heap_alloc((size_t)n);
  mark_uses(g, at, n, n_root, roots);
  for (int i = 0; i < m->n_lets; i++) at[m->lets[i].x].let = 1;
  bool crowded = measure_all(g, at, n, false, false, NULL, NULL) > MAX_TREE;
  measure_all(g, at, n, crowded, true, &n_cut, cut);
  ag_names names;
  ag_names_init(&names, c->arena);
  know_all(&names, m);
  for (int i = 0; i < n_cut; i++) add(c, cut[i], name_of(c, m, &names, cut[i], &next));
  c->from = ag_heap_alloc(sizeof *c->from * (size_t)(c->n + 1));
  c->to = ag_heap_alloc(sizeof *c->to * (size_t)(c->n + 1));
  for (int i = 0; i < c->n; i++) c->from[i] = c->at[i].node, c->to[i] = c->at[i].input;
  show_roots(c, n_root, roots);
  ag_names_done(&names);
  free(at);
  free(cut);
}

void ag_cut_done(ag_cuts *c) {
  free(c->at);
  free(c->index);
  free(c->from);
  free(c->to);
  free(c->shown);
  free(c->seen);
  ag_arena_free(c->arena);
}

/* ---- using ---- */

static ag_id put_in(ag_cuts *c, ag_id x, int n) {
  if (n) ag_substitute(c->g, n, c->from, c->to, 1, &x);
  return x;
}

ag_id ag_cut_shown(ag_cuts *c, ag_id x) {
  return (int)x < c->n_index && c->shown[x] ? c->shown[x] : put_in(c, x, c->n);
}

/* Arguments have smaller ids, so the cuts before it are the ones it can contain. */
ag_id ag_cut_value(ag_cuts *c, const ag_cut *cut) { return put_in(c, cut->node, (int)(cut - c->at)); }

static int by_size(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int *ag_cut_needed(ag_cuts *c, ag_id x, int *n) {
  int cap = 0, n_stack = 0, cap_stack = 0, *list = NULL;
  ag_id *stack = NULL;
  *n = 0;
  AG_PUSH(stack, n_stack, cap_stack);
  stack[n_stack++] = x;
  while (n_stack > 0) {
    ag_id y = stack[--n_stack];
    if ((int)y >= c->n_index || c->seen[y]) continue;
    c->seen[y] = 1;
    int k = c->index[y];
    if (k) {
      AG_PUSH(list, *n, cap);
      list[(*n)++] = k - 1;
    }
    for (int i = 0, n_arg = ag_node_n_arg(c->g, y); i < n_arg; i++) {
      AG_PUSH(stack, n_stack, cap_stack);
      stack[n_stack++] = ag_node_arg(c->g, y, i);
    }
  }
  free(stack);
  if (list) qsort(list, (size_t)*n, sizeof *list, by_size);
  return list;
}
