/* SPDX-License-Identifier: MIT
 * Checks that need the complete model: degrees in the velocities, claims of rotations, missing statements. */
#include <math.h>
#include <string.h>

#include "lang/build.h"

enum { MAX_IDLE = 10 };

/* ---- random states ---- */

typedef struct point {
  int n; /* inputs */
  ag_id *inputs;
  int size; /* stored numbers */
  double *at;
  uint64_t seed;
} point;

static double draw(point *l) {
  l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(l->seed >> 11) / 9007199254740992.0;
}

static void point_init(ag_builder *b, point *l) {
  ag_model *m = b->m;
  *l = (point){.seed = 1};
  l->inputs =
      ag_heap_alloc(sizeof *l->inputs * (size_t)(2 + m->n_params + 2 * m->n_coords + m->n_drives + m->n_reactions +
                                                 m->n_multipliers + m->n_holonomic_multipliers + m->n_processes));
  l->inputs[l->n++] = m->t;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) l->inputs[l->n++] = m->params[i].input;
  for (int i = 0; i < m->n_coords; i++) l->inputs[l->n++] = m->coords[i].q;
  for (int i = 0; i < m->n_processes; i++) l->inputs[l->n++] = m->processes[i].x;
  if (m->energy) l->inputs[l->n++] = m->energy;
  for (int i = 0; i < m->n_drives; i++) l->inputs[l->n++] = m->drives[i].x;
  for (int i = 0; i < m->n_reactions; i++) l->inputs[l->n++] = m->reactions[i].x;
  for (int i = 0; i < m->n_multipliers; i++) l->inputs[l->n++] = m->multipliers[i].x;
  for (int i = 0; i < m->n_holonomic_multipliers; i++) l->inputs[l->n++] = m->holonomic_multipliers[i].x;
  for (int i = 0; i < m->n_coords; i++) l->inputs[l->n++] = m->coords[i].xi;
  for (int i = 0; i < l->n; i++) l->size += ag_input_storage(b->g, l->inputs[i]);
  l->at = ag_heap_alloc(sizeof *l->at * (size_t)l->size);
}

static void point_done(point *l) {
  free(l->inputs);
  free(l->at);
}

/* A random state: current parameters, rotations as unit quaternions, the rest between -1 and 1. */
static void point_draw(ag_builder *b, point *l) {
  int k = 0;
  for (int i = 0; i < l->n; i++) {
    int n = ag_input_storage(b->g, l->inputs[i]);
    double length = 0;
    for (int j = 0; j < n; j++) {
      l->at[k + j] = 2 * draw(l) - 1;
      length += l->at[k + j] * l->at[k + j];
    }
    for (int j = 0; j < n && ag_is_rotation(b->g, l->inputs[i]); j++) l->at[k + j] /= sqrt(length);
    k += n;
  }
  k = 1;
  for (int i = 0; i < b->m->n_params; i++) {
    const ag_param *p = &b->m->params[i];
    if (!p->input) continue;
    ag_constant(b->g, ag_scope_symbol(b, ag_names_id(b->names, p->name, strlen(p->name)))->number, l->at + k);
    k += ag_input_storage(b->g, p->input);
  }
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
void ag_verify_rotations(ag_builder *b) {
  point l;
  double A[9];
  if (!b->n_claims) return;
  point_init(b, &l);
  for (int i = 0; i < b->n_claims; i++)
    for (int k = 0; k < 3 && ag_scope_work(b, b->claims[i].pos, ag_graph_count(b->g) / 8); k++) {
      point_draw(b, &l);
      ag_evaluate(b->g, l.n, l.inputs, l.at, 1, &b->claims[i].x, A);
      double error = rotation_error(A);
      if (isnan(error) || error < 1e-9) continue;
      ag_scope_error(b, b->claims[i].pos, "this matrix is not a rotation: A^T A differs from 1 by %.2g", error);
      break;
    }
  point_done(&l);
  b->n_claims = 0;
}

/* ---- the checks ---- */

static void check_degrees(ag_builder *b) {
  ag_model *m = b->m;
  uint8_t *degree = ag_degree_bounds(b);
  if (!ag_degree_holds(b, degree, m->lagrangian, 2, m->lagrangian_pos))
    ag_scope_error(b, m->lagrangian_pos,
                   "the Lagrangian must be at most quadratic in the velocities: 1/2 v.M v + b.v - V");
  for (int i = 0; i < m->n_constraints; i++)
    if (!ag_degree_holds(b, degree, m->constraints[i].x, 1, m->constraints[i].pos))
      ag_scope_error(b, m->constraints[i].pos, "a constraint must be linear or affine in the velocities");
  for (int i = 0; i < m->n_frames; i++)
    if (!ag_degree_holds(b, degree, m->frames[i].x, 1, m->frames[i].pos))
      ag_scope_error(b, m->frames[i].pos, "the frame velocity `%s` must be linear or affine in the velocities",
                     m->frames[i].name);
  free(degree);
}

/* ---- angles that look like degrees ---- */

/* Is x itself, not a multiple of it, the argument of a circular function? */
static bool is_angle(const ag_graph *g, ag_id x) {
  for (ag_id y = x + 1; y <= (ag_id)ag_graph_count(g); y++) {
    ag_op op = ag_node_op(g, y);
    if ((op == AG_OP_SIN || op == AG_OP_COS || op == AG_OP_TAN) && ag_node_arg(g, y, 0) == x) return true;
  }
  return false;
}

/* A whole number of more than one and a half turns is rarely meant in radians. */
static bool looks_like_degrees(double v) { return v == floor(v) && fabs(v) > 9 && fabs(v) <= 3600; }

/* name NULL: an angle without one. */
static void warn_degrees(ag_builder *b, ag_pos pos, const char *name, double v) {
  ag_ctx_warn(b->ctx, pos, "%s%s%s is %g radians, %.3g turns; if these are degrees, write %g*deg",
              name ? "the angle `" : "this angle", name ? name : "", name ? "`" : "", v, v / 6.283185307179586, v);
}

/* The first member of a family speaks for all: with a running index whole numbers come by counting. */
void ag_verify_angle(ag_builder *b, ag_pos pos, const char *name, ag_id x) {
  double v;
  for (size_t k = 0; k < sizeof b->later_round / sizeof *b->later_round; k++)
    if (b->later_round[k]) return;
  if (x && ag_constant(b->g, x, &v) && looks_like_degrees(v)) warn_degrees(b, pos, name, v);
}

/* Is this the start of one coordinate, an angle? */
static bool starts_angle(const ag_builder *b, const ag_start *s) {
  const ag_coord *c = &b->m->coords[s->coord];
  if (s->velocity || s->frame >= 0 || !ag_is_scalar(b->g, c->q)) return false;
  return c->space == AG_SPACE_S1 || is_angle(b->g, c->q);
}

/* Does an angle start with x as it is? */
static bool is_start_of_angle(const ag_builder *b, ag_id x) {
  for (int i = 0; i < b->m->n_starts; i++)
    if (b->m->starts[i].x == x && starts_angle(b, &b->m->starts[i])) return true;
  return false;
}

/* The --set or --sweep that parameter i has its value from; NULL: the file. */
static ag_change *change_of_param(const ag_builder *b, int i) {
  ag_change *found = NULL;
  for (int k = 0; k < b->n_change; k++) {
    ag_change *c = &b->changes[k];
    const ag_syn *target = c->stmt.error || !c->stmt.n_part ? NULL : c->stmt.parts[0].target;
    bool names = target && target->kind == AG_SYN_NAME && !strcmp(ag_scope_text(b, target->name), b->m->params[i].name);
    if (c->vary ? c->vary->param == i : names) found = c;
  }
  return found;
}

static void warn_degrees_of_param(ag_builder *b, int i, double v) {
  ag_change *c = change_of_param(b, i);
  const ag_param *p = &b->m->params[i];
  const char *file = b->ctx->file;
  ag_scope_source(b, c, file);
  warn_degrees(b, c ? c->stmt.parts[0].target->pos : p->pos, c && c->vary ? c->vary->name : p->name, v);
  ag_scope_source(b, NULL, file);
}

/* Does start i come from the same text as an earlier one? */
static bool is_later_member(const ag_model *m, int i) {
  const ag_origin *from = i < m->n_origins ? m->origins[i] : NULL;
  const ag_pos at = m->starts[i].pos;
  for (int j = 0; j < i; j++) {
    const ag_pos pos = m->starts[j].pos;
    if (pos.line == at.line && pos.col == at.col && (j < m->n_origins ? m->origins[j] : NULL) == from) return true;
  }
  return false;
}

static void check_degrees_of_angles(ag_builder *b) {
  const ag_model *m = b->m;
  double v;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (!starts_angle(b, s) || !ag_constant(b->g, s->x, &v) || !looks_like_degrees(v) || is_later_member(m, i))
      continue;
    const char *file = b->ctx->file, *source = b->ctx->source;
    const ag_origin *from = i < m->n_origins ? m->origins[i] : NULL;
    if (from) b->ctx->file = from->label, b->ctx->source = from->text;
    warn_degrees(b, s->pos, m->coords[s->coord].name, v);
    b->ctx->file = file, b->ctx->source = source;
  }
  for (int i = 0; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    if (!p->input || !ag_is_scalar(b->g, p->input) || !ag_constant(b->g, p->value, &v)) continue;
    if (looks_like_degrees(v) && (is_angle(b->g, p->input) || is_start_of_angle(b, p->input)))
      warn_degrees_of_param(b, i, v);
  }
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
  if (!ag_scope_failed(b)) {
    check_degrees(b);
    ag_verify_rotations(b);
    if (!ag_scope_failed(b)) check_degrees_of_angles(b);
  }
  ag_draw_finish(b);
  if (!ag_scope_failed(b)) check_used(b);
}
