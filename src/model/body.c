/* SPDX-License-Identifier: MIT
 * Bodies: coordinates, kinetic energy, and their named quantities. */
#include <math.h>
#include <string.h>

#include "model/body_internal.h"

ag_id ag_body_axis(ag_graph *g, int k) {
  return ag_stack(g, 3, 1, (ag_id[]){ag_num(g, k == 0), ag_num(g, k == 1), ag_num(g, k == 2)});
}

ag_id ag_body_unit(ag_graph *g, ag_id v) {
  double n[3];
  if (!v) return ag_body_axis(g, 2);
  if (!ag_constant(g, v, n)) return ag_div(g, v, ag_norm(g, v));
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  return ag_stack(g, 3, 1, (ag_id[]){ag_num(g, n[0] / length), ag_num(g, n[1] / length), ag_num(g, n[2] / length)});
}

ag_id ag_body_hold(ag_graph *g, ag_id v) {
  ag_id e[3];
  for (int i = 0; i < 3; i++) e[i] = ag_apply1(g, AG_OP_HOLD, ag_entry(g, v, i, 0));
  return ag_stack(g, 3, 1, e);
}

bool ag_body_moves(const ag_model *m, ag_id x) {
  if (ag_depends(m->graph, 1, &x, 1, &m->t)) return true;
  for (int i = 0; i < m->n_processes; i++)
    if (ag_depends(m->graph, 1, &x, 1, &m->processes[i].x)) return true;
  for (int i = 0; i < m->n_coords; i++)
    if (ag_depends(m->graph, 1, &x, 1, &m->coords[i].q)) return true;
  return false;
}

void ag_body_parameters(ag_model *m, int n, ag_id *x) {
  for (int i = m->n_params - 1; i >= 0; i--) /* a value may depend on earlier parameters */
    if (m->params[i].input) ag_substitute(m->graph, 1, &m->params[i].input, &m->params[i].value, n, x);
}

bool ag_body_number(ag_model *m, ag_id x, double *value) {
  ag_body_parameters(m, 1, &x);
  return ag_is_scalar(m->graph, x) && ag_constant(m->graph, x, value);
}

bool ag_body_direction(ag_ctx *ctx, const ag_model *m, ag_id v, const char *name, const char *does, ag_pos pos) {
  double n[3];
  if (v && ag_body_moves(m, v))
    ag_ctx_error(ctx, pos, "the direction of what `%s` %s may not depend on coordinates or t", name, does);
  else if (v && ag_constant(m->graph, v, n) && !(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > 0))
    ag_ctx_error(ctx, pos, "the direction of what `%s` %s is zero", name, does);
  else return true;
  return false;
}

const char *ag_body_word(ag_model *m, const ag_body *b, const char *word, int k) {
  return k > 1 ? ag_arena_printf(m->arena, "%s.%s%d", b->name, word, k)
               : ag_arena_printf(m->arena, "%s.%s", b->name, word);
}

ag_body *ag_body_add(ag_model *m, const char *name, ag_id mass, ag_id inertia, ag_id centre, const ag_surface *surface,
                     ag_pos pos) {
  ag_graph *g = m->graph;
  ag_arena *a = m->arena;
  AG_ASSERT(ag_is_scalar(g, mass) && ag_node_rows(g, inertia) == 3 && ag_node_cols(g, inertia) == 3);
  ag_body *b = AG_NEW(a, ag_body);
  *b = (ag_body){.name = ag_arena_str(a, name), .mass = mass, .inertia = inertia, .pos = pos};
  b->surface = surface ? *surface : (ag_surface){.kind = AG_SURFACE_NONE};
  b->centre = centre && ag_is_zero(g, centre) ? 0 : centre;
  b->R = ag_model_add_coord(m, ag_arena_printf(a, "%s.R", name), ag_arena_printf(a, "%s.Omega", name), NULL, NULL, 0,
                            AG_SPACE_SO3, 3, pos);
  b->x = ag_model_add_coord(m, ag_arena_printf(a, "%s.x", name), NULL, NULL, NULL, 0, AG_SPACE_R, 3, pos);
  ag_id Omega = m->coords[b->R].xi, v = m->coords[b->x].xi, half = ag_num(g, 0.5);
  ag_id turning = ag_mul(g, half, ag_dot(g, Omega, ag_mul(g, inertia, Omega)));
  ag_id going = ag_mul(g, half, ag_mul(g, mass, ag_dot(g, v, v))), T = ag_add(g, turning, going);
  m->lagrangian = m->lagrangian ? ag_add(g, m->lagrangian, T) : T;
  AG_MODEL_PUSH(m, bodies, b);
  return b;
}

void ag_body_gravity(ag_model *m, ag_body *b, ag_id gravity) {
  ag_graph *g = m->graph;
  b->gravity = b->gravity ? ag_add(g, b->gravity, gravity) : gravity;
  ag_id weight = ag_mul(g, b->mass, gravity), height = ag_entry(g, m->coords[b->x].q, 2, 0);
  ag_id V = ag_mul(g, weight, height);
  m->lagrangian = ag_sub(g, m->lagrangian, V);
}

/* R = Rz(phi) Rx(theta) Rz(psi): third column (sin phi sin theta, -cos phi sin theta, cos theta), third row
 * (sin theta sin psi, sin theta cos psi, cos theta). */
static ag_id euler_angle(ag_graph *g, ag_id R, const char *word) {
  ag_id r13 = ag_entry(g, R, 0, 2), r23 = ag_entry(g, R, 1, 2);
  if (!strcmp(word, "phi")) return ag_apply2(g, AG_OP_ATAN2, r13, ag_neg(g, r23));
  ag_id r31 = ag_entry(g, R, 2, 0), r32 = ag_entry(g, R, 2, 1);
  if (!strcmp(word, "psi")) return ag_apply2(g, AG_OP_ATAN2, r31, r32);
  ag_id sine = ag_apply2(g, AG_OP_HYPOT, r13, r23), r33 = ag_entry(g, R, 2, 2);
  return ag_apply2(g, AG_OP_ATAN2, sine, r33);
}

ag_id ag_body_part(ag_model *m, const ag_body *b, const char *word) {
  ag_graph *g = m->graph;
  const ag_coord *R = &m->coords[b->R], *x = &m->coords[b->x];
  if (!strcmp(word, "R")) return R->q;
  if (!strcmp(word, "Omega")) return R->xi;
  if (!strcmp(word, "x")) return x->q;
  if (!strcmp(word, "omega")) return ag_mul(g, R->q, R->xi);
  if (!strcmp(word, "phi") || !strcmp(word, "theta") || !strcmp(word, "psi")) return euler_angle(g, R->q, word);
  if (!strcmp(word, "middle")) return b->centre ? ag_sub(g, x->q, ag_mul(g, R->q, b->centre)) : x->q;
  if (!strcmp(word, "Gamma")) {
    ag_id up = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)});
    return ag_mul(g, ag_transpose(g, R->q), up);
  }
  return 0;
}

bool ag_body_observes(const ag_model *m, const char *name) {
  static const char *const words[] = {"contact",    "height", "gap",    "normal", "friction",
                                      "slip_ratio", "twist",  "misfit", "joint",  "moment"};
  for (int i = 0; i < m->n_bodies; i++) {
    size_t n = strlen(m->bodies[i]->name);
    if (strncmp(name, m->bodies[i]->name, n) || name[n] != '.') continue;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
      size_t size = strlen(words[k]);
      if (!strncmp(name + n + 1, words[k], size) &&
          strspn(name + n + 1 + size, "0123456789") == strlen(name + n + 1 + size))
        return true;
    }
  }
  return false;
}

ag_status ag_bodies_finish(ag_ctx *ctx, ag_model *m) {
  AG_TRY(ag_bodies_start(ctx, m));
  ag_bodies_generators(m);
  return AG_OK;
}
