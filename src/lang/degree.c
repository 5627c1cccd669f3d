/* SPDX-License-Identifier: MIT
 * Degrees in the velocities. An upper bound comes from the operations; where it is too large, terms may cancel, and the
 * degree is tested over a finite field, on all branches (expr/residue.h). Nothing is decided by sampled numbers. */
#include <string.h>

#include "expr/residue.h"
#include "lang/build.h"

enum { NOT_POLYNOMIAL = 100, TRIES = 3 };

/* ---- an upper bound ---- */

static int larger(int a, int b) { return a > b ? a : b; }

static int added(int a, int b) { return a + b < NOT_POLYNOMIAL ? a + b : NOT_POLYNOMIAL; }

/* An upper bound, from the bounds of the arguments. */
static int degree_of(const ag_builder *b, const uint8_t *degree, ag_id x) {
  int n = ag_node_n_arg(b->g, x), d[2] = {0, 0}, most = 0;
  for (int i = 0; i < n; i++) {
    int k = degree[ag_node_arg(b->g, x, i)];
    if (i < 2) d[i] = k;
    most = larger(most, k);
  }
  switch (ag_node_op(b->g, x)) {
  case AG_OP_NEG:
  case AG_OP_ADD:
  case AG_OP_SUB:
  case AG_OP_STACK:
  case AG_OP_CONCAT:
  case AG_OP_ENTRY:
  case AG_OP_ROWS:
  case AG_OP_TRANSPOSE:
  case AG_OP_HAT: return most;
  case AG_OP_MUL:
  case AG_OP_SCALE:
  case AG_OP_MATMUL:
  case AG_OP_DOT:
  case AG_OP_CROSS: return added(d[0], d[1]);
  case AG_OP_DIV: return d[1] ? NOT_POLYNOMIAL : d[0];
  case AG_OP_SOLVE: return d[0] ? NOT_POLYNOMIAL : d[1];
  case AG_OP_SELECT: return d[0] ? NOT_POLYNOMIAL : most;
  default: return most ? NOT_POLYNOMIAL : 0;
  }
}

uint8_t *ag_degree_bounds(ag_builder *b) {
  int n = ag_graph_count(b->g) + 1;
  uint8_t *degree = ag_heap_alloc((size_t)n);
  for (int i = 0; i < b->m->n_coords; i++) degree[b->m->coords[i].xi] = 1;
  for (int i = 1; i < n; i++)
    if (ag_node_n_arg(b->g, (ag_id)i)) degree[i] = (uint8_t)degree_of(b, degree, (ag_id)i);
  return degree;
}

/* ---- over a finite field ---- */

/* A line in the space of the velocities, at a random state. */
typedef struct line {
  int n; /* inputs */
  ag_bind *binds;
  int size, n_xi;       /* stored numbers; those of the velocities, which are the last ones */
  uint64_t *at, *v, *z; /* a point and a direction; a point on the line */
  uint64_t state;
} line;

static void bind(ag_builder *b, line *l, ag_id x) {
  if (!x) return;
  l->binds[l->n++] = (ag_bind){x, AG_SEG_Z, l->size};
  l->size += ag_input_storage(b->g, x);
}

static void line_init(ag_builder *b, line *l) {
  const ag_model *m = b->m;
  size_t most = (size_t)(2 + m->n_params + 2 * m->n_coords + m->n_drives + m->n_reactions + m->n_multipliers +
                         m->n_holonomic_multipliers + m->n_processes);
  *l = (line){.binds = ag_heap_alloc(sizeof *l->binds * most), .state = 1};
  bind(b, l, m->t);
  bind(b, l, m->energy);
  for (int i = 0; i < m->n_params; i++) bind(b, l, m->params[i].input);
  for (int i = 0; i < m->n_coords; i++) bind(b, l, m->coords[i].q);
  for (int i = 0; i < m->n_processes; i++) bind(b, l, m->processes[i].x);
  for (int i = 0; i < m->n_drives; i++) bind(b, l, m->drives[i].x);
  for (int i = 0; i < m->n_reactions; i++) bind(b, l, m->reactions[i].x);
  for (int i = 0; i < m->n_multipliers; i++) bind(b, l, m->multipliers[i].x);
  for (int i = 0; i < m->n_holonomic_multipliers; i++) bind(b, l, m->holonomic_multipliers[i].x);
  l->n_xi = -l->size;
  for (int i = 0; i < m->n_coords; i++) bind(b, l, m->coords[i].xi);
  l->n_xi += l->size;
  l->at = ag_heap_alloc(3 * sizeof *l->at * (size_t)(l->size + 1));
  l->v = l->at + l->size;
  l->z = l->v + l->size;
}

static void line_done(line *l) {
  free(l->binds);
  free(l->at);
}

static void line_draw(const ag_builder *b, line *l) {
  for (int i = 0; i < l->size; i++) {
    l->at[i] = ag_residue_draw(&l->state);
    l->v[i] = i < l->size - l->n_xi ? 0 : ag_residue_draw(&l->state);
  }
  for (int i = 0; i < l->n; i++)
    if (ag_is_rotation(b->g, l->binds[i].input)) ag_residue_rotation(&l->state, l->at + l->binds[i].offset);
}

/* Does the (degree+1)-th difference of every entry along the line vanish? -1: a division by zero. */
static int line_holds(line *l, const ag_tape *tape, int degree) {
  static const double weight[2][4] = {{1, -2, 1, 0}, {-1, 3, -3, 1}};
  uint64_t *sum = ag_heap_alloc(2 * sizeof *sum * (size_t)(tape->n_out + 1)), *f = sum + tape->n_out;
  int holds = 1;
  for (int s = 0; s < degree + 2; s++) {
    for (int i = 0; i < l->size; i++) l->z[i] = ag_residue_add(l->at[i], ag_residue_mul((uint64_t)s, l->v[i]));
    if (!ag_residue_eval(tape, l->z, f)) holds = -1;
    for (int i = 0; i < tape->n_out; i++)
      sum[i] = ag_residue_add(sum[i], ag_residue_mul(ag_residue_of(weight[degree - 1][s]), f[i]));
  }
  for (int i = 0; i < tape->n_out && holds > 0; i++) holds = sum[i] == 0;
  free(sum);
  return holds;
}

/* Does x contain velocities that are not varied? It is no polynomial then, whatever its values. */
static bool holds_velocities(const ag_builder *b, const uint8_t *bound, ag_id x) {
  for (ag_id y = 1; y < x; y++)
    if (ag_node_op(b->g, y) == AG_OP_HOLD && bound[ag_node_arg(b->g, y, 0)] > 0 && ag_depends(b->g, 1, &x, 1, &y))
      return true;
  return false;
}

bool ag_degree_holds(ag_builder *b, const uint8_t *bound, ag_id x, int most, ag_pos pos) {
  if (bound[x] <= most) return true;
  if (holds_velocities(b, bound, x)) return false;
  if (!ag_scope_work(b, pos, ag_graph_count(b->g) / 4)) return true;
  line l;
  int seen = 0, holds = 1;
  line_init(b, &l);
  ag_tape *tape = ag_tape_create(b->g, l.n, l.binds, 1, &x);
  for (int i = 0; i < TRIES && holds; i++) {
    line_draw(b, &l);
    int h = line_holds(&l, tape, most);
    seen += h >= 0;
    if (h == 0) holds = 0;
  }
  ag_tape_free(tape);
  line_done(&l);
  if (!seen) ag_ctx_warn(b->ctx, pos, "divides by zero, so its degree in the velocities was not checked");
  return holds;
}
