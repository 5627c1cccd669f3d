/* SPDX-License-Identifier: MIT
 * Checks that need the complete model: degrees in the velocities, numbers of constraints, missing statements. */
#include <math.h>
#include <string.h>

#include "lang/build.h"

enum { NOT_POLYNOMIAL = 100, TRIES = 12, MAX_IDLE = 10 };

/* ---- degree in the velocities, from the structure ---- */

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

static uint8_t *degrees(ag_builder *b) {
  int n = ag_graph_count(b->g) + 1;
  uint8_t *degree = ag_heap_alloc((size_t)n);
  for (int i = 0; i < b->m->n_coords; i++) degree[b->m->coords[i].xi] = 1;
  for (int i = 1; i < n; i++)
    if (ag_node_n_arg(b->g, (ag_id)i)) degree[i] = (uint8_t)degree_of(b, degree, (ag_id)i);
  return degree;
}

/* ---- degree in the velocities, from values on random lines ---- */

typedef struct line {
  int n; /* inputs */
  ag_id *inputs;
  int size, from_xi, n_xi; /* stored numbers; offset and number of the velocities */
  double *at, *v;          /* a point and a direction (velocities only) */
  uint64_t seed;
} line;

static double draw(line *l) {
  l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(l->seed >> 11) / 9007199254740992.0;
}

static void line_init(ag_builder *b, line *l) {
  ag_model *m = b->m;
  *l = (line){.seed = 1};
  l->inputs =
      ag_heap_alloc(sizeof *l->inputs * (size_t)(2 + m->n_params + 2 * m->n_coords + m->n_drives + m->n_reactions +
                                                 m->n_multipliers + m->n_holonomic_multipliers));
  l->inputs[l->n++] = m->t;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) l->inputs[l->n++] = m->params[i].input;
  for (int i = 0; i < m->n_coords; i++) l->inputs[l->n++] = m->coords[i].q;
  if (m->energy) l->inputs[l->n++] = m->energy;
  for (int i = 0; i < m->n_drives; i++) l->inputs[l->n++] = m->drives[i].x;
  for (int i = 0; i < m->n_reactions; i++) l->inputs[l->n++] = m->reactions[i].x;
  for (int i = 0; i < m->n_multipliers; i++) l->inputs[l->n++] = m->multipliers[i].x;
  for (int i = 0; i < m->n_holonomic_multipliers; i++) l->inputs[l->n++] = m->holonomic_multipliers[i].x;
  for (int i = 0; i < l->n; i++) l->from_xi += ag_input_storage(b->g, l->inputs[i]);
  for (int i = 0; i < m->n_coords; i++) l->inputs[l->n++] = m->coords[i].xi, l->n_xi += m->coords[i].dim;
  l->size = l->from_xi + l->n_xi;
  l->at = ag_heap_alloc(sizeof *l->at * (size_t)l->size);
  l->v = ag_heap_alloc(sizeof *l->v * (size_t)l->size);
}

static void line_done(line *l) {
  free(l->inputs);
  free(l->at);
  free(l->v);
}

/* A random line: current parameters, rotations as unit quaternions, the rest between lo and hi. */
static void line_draw(ag_builder *b, line *l, double lo, double hi) {
  int k = 0;
  for (int i = 0; i < l->n; i++) {
    int n = ag_input_storage(b->g, l->inputs[i]);
    double length = 0;
    for (int j = 0; j < n; j++) {
      l->at[k + j] = lo + (hi - lo) * draw(l);
      length += l->at[k + j] * l->at[k + j];
    }
    for (int j = 0; j < n && ag_is_rotation(b->g, l->inputs[i]); j++) l->at[k + j] /= sqrt(length);
    k += n;
  }
  for (int j = 0; j < l->n_xi; j++) l->v[j] = draw(l) - 0.5;
  k = 1;
  for (int i = 0; i < b->m->n_params; i++) {
    const ag_param *p = &b->m->params[i];
    if (!p->input) continue;
    ag_constant(b->g, ag_scope_symbol(b, ag_names_id(b->names, p->name, strlen(p->name)))->number, l->at + k);
    k += ag_input_storage(b->g, p->input);
  }
}

/* Does the (degree+1)-th difference of every entry along the line vanish up to rounding error? -1: values are not
 * finite. */
static int line_holds(ag_builder *b, line *l, ag_id x, int degree) {
  static const double weight[2][4] = {{1, -2, 1, 0}, {-1, 3, -3, 1}};
  int n = ag_node_rows(b->g, x) * ag_node_cols(b->g, x), holds = 1;
  double *sum = ag_heap_alloc(sizeof *sum * (size_t)n), *size = ag_heap_alloc(sizeof *size * (size_t)n);
  double *f = ag_heap_alloc(sizeof *f * (size_t)n), *z = ag_heap_alloc(sizeof *z * (size_t)l->size);
  for (int s = 0; s < degree + 2; s++) {
    for (int i = 0; i < l->size; i++) z[i] = l->at[i] + (i >= l->from_xi ? s * l->v[i - l->from_xi] : 0);
    ag_evaluate(b->g, l->n, l->inputs, z, 1, &x, f);
    for (int i = 0; i < n; i++) {
      sum[i] += weight[degree - 1][s] * f[i];
      size[i] = fmax(size[i], fabs(f[i]));
    }
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(sum[i])) holds = -1;
    else if (holds > 0 && fabs(sum[i]) > 1e-9 * (1 + size[i]))
      holds = 0; /* rounding error is 1e-15, a real third power 1e-3 */
  }
  free(sum);
  free(size);
  free(f);
  free(z);
  return holds;
}

/* Does x branch on a velocity (abs, sign, min, max, or a condition)? Then it is not a polynomial in the velocities,
 * whatever its sampled values suggest. degree 0: free of velocities. */
static bool chooses_by_velocity(const ag_graph *g, const uint8_t *degree, ag_id top) {
  bool *seen = ag_heap_alloc((size_t)top + 1), found = false;
  seen[top] = true;
  for (ag_id x = top; x > 0 && !found; x--) {
    if (!seen[x]) continue;
    ag_op op = ag_node_op(g, x);
    bool choice = ag_op_describe(op)->traits & AG_CHOOSES;
    for (int k = 0; k < ag_node_n_arg(g, x); k++) {
      ag_id a = ag_node_arg(g, x, k);
      seen[a] = true;
      found = found || (choice && degree[a]);
    }
  }
  free(seen);
  return found;
}

/* Is x of at most this degree in the velocities? Sampled values decide where the structure does not. */
static bool has_degree(ag_builder *b, const uint8_t *degree, ag_id x, int most, ag_pos pos) {
  static const double box[3][2] = {{-1, 1}, {0.2, 0.9}, {1, 3}};
  if (degree[x] <= most) return true; /* a branch on a velocity has no degree */
  if (!ag_scope_work(b, pos, ag_graph_count(b->g) / 4)) return true;
  if (chooses_by_velocity(b->g, degree, x)) return false;
  line l;
  int seen = 0, holds = 1;
  line_init(b, &l);
  for (int i = 0; i < TRIES && holds; i++) {
    line_draw(b, &l, box[i % 3][0], box[i % 3][1]);
    int h = line_holds(b, &l, x, most);
    seen += h >= 0;
    if (h == 0) holds = 0;
  }
  line_done(&l);
  if (!seen)
    ag_ctx_warn(b->ctx, pos,
                "could not be evaluated at random states, so its degree in the velocities was not checked");
  return holds;
}

/* ---- matrices declared to be rotations ---- */

void ag_verify_later(ag_builder *b, ag_id x, ag_pos pos) {
  if (b->n_claims && b->claims[b->n_claims - 1].x == x) return;
  AG_MODEL_PUSH(b, claims, ((ag_item){NULL, NULL, x, pos}));
}

/* Largest entry of A^T A - 1, or 2 if the determinant is negative. */
static double rotation_error(const double *A) {
  double worst = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double v = i == j ? -1 : 0;
      for (int k = 0; k < 3; k++) v += A[3 * k + i] * A[3 * k + j];
      worst = fmax(worst, fabs(v));
    }
  double det = A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) +
               A[2] * (A[3] * A[7] - A[4] * A[6]);
  return det < 0 ? 2 : worst;
}

/* Each declaration is checked at a few random states; rounding error is 1e-15, other matrices are off by far more. */
static void check_claims(ag_builder *b) {
  line l;
  double A[9];
  if (!b->n_claims) return;
  line_init(b, &l);
  for (int i = 0; i < b->n_claims; i++)
    for (int k = 0; k < 3 && ag_scope_work(b, b->claims[i].pos, ag_graph_count(b->g) / 8); k++) {
      line_draw(b, &l, -1, 1);
      ag_evaluate(b->g, l.n, l.inputs, l.at, 1, &b->claims[i].x, A);
      double error = rotation_error(A);
      if (isnan(error) || error < 1e-9) continue;
      ag_scope_error(b, b->claims[i].pos, "this matrix is not a rotation: A^T A differs from 1 by %.2g", error);
      break;
    }
  line_done(&l);
}

/* ---- the checks ---- */

static void check_degrees(ag_builder *b) {
  ag_model *m = b->m;
  uint8_t *degree = degrees(b);
  if (!has_degree(b, degree, m->lagrangian, 2, m->lagrangian_pos))
    ag_scope_error(b, m->lagrangian_pos,
                   "the Lagrangian must be at most quadratic in the velocities: 1/2 v.M v + b.v - V");
  for (int i = 0; i < m->n_constraints; i++)
    if (!has_degree(b, degree, m->constraints[i].x, 1, m->constraints[i].pos))
      ag_scope_error(b, m->constraints[i].pos, "a constraint must be linear or affine in the velocities");
  for (int i = 0; i < m->n_frames; i++)
    if (!has_degree(b, degree, m->frames[i].x, 1, m->frames[i].pos))
      ag_scope_error(b, m->frames[i].pos, "the frame velocity `%s` must be linear or affine in the velocities",
                     m->frames[i].name);
  free(degree);
}

static void check_used(ag_builder *b) {
  int told = 0;
  for (int i = 1; i < b->n_symbol && told < MAX_IDLE; i++) {
    const ag_symbol *s = b->symbols[i];
    bool idle = s && !s->used && (s->kind == AG_SYM_LET || s->kind == AG_SYM_MACRO || s->kind == AG_SYM_PARAM);
    if (idle) told++, ag_ctx_warn(b->ctx, s->pos, "`%s` is never used", b->names->text[i]);
  }
}

void ag_verify_model(ag_builder *b) {
  ag_pos top = b->parse->n ? b->parse->at[0].pos : (ag_pos){1, 1, 1};
  bool config = false, body = false, unknown = false;
  for (int i = 0; i < b->parse->n; i++) {
    body = body || b->parse->at[i].word == AG_WORD_BODY;
    config = config || body || b->parse->at[i].word == AG_WORD_CONFIG;
    unknown = unknown ||
              b->parse->at[i].word == AG_WORD_NONE; /* an unknown statement may have been intended as one of these */
  }
  if (!config && !unknown) ag_scope_error(b, top, "the model has no coordinates: `config NAME in SPACE` is missing");
  else if (!b->lagrangian_seen && !body && !unknown) ag_scope_error(b, top, "the model has no `lagrangian`");
  if (ag_scope_failed(b)) return;
  check_degrees(b);
  check_claims(b);
  if (!ag_scope_failed(b)) check_used(b);
}
