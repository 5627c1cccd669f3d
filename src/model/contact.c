/* SPDX-License-Identifier: MIT
 * Rolling. At the contact the material points of body and ground have the same velocity,
 *   x' + R (Omega x rho) = V(P),   P = x + R rho,   V(P) = O' + W x (P - O):
 * three rows in which x' stands alone. Along the normal N they say that the gap does not change: with the contact map X
 * = grad H, rho = X(-R^T N) - centre, dX is tangential, so that d/dt N.(P - O) = N.(x' + R (Omega x rho) - O'), and
 * N.(W x (P - O)) = 0 on the ground. So one of the three rows is holonomic in disguise (the height of the centre), and
 * it is not stated twice. The multiplier of these rows is the force on the body at P. Rubber: N.(omega - W) = 0, whose
 * multiplier is a moment about N. */
#include "model/body_internal.h"

ag_ground_frame ag_contact_frame(ag_model *m, const ag_ground *gr) {
  ag_graph *g = m->graph;
  ag_id origin = gr->origin ? gr->origin : ag_zero(g, 3, 1), normal = ag_body_unit(g, gr->normal);
  ag_ground_frame f = {.N = normal, .O = origin, .still = !gr->carrier && !ag_body_moves(m, origin)};
  f.upright = !gr->carrier && normal == ag_body_axis(g, 2);
  if (gr->kind == AG_GROUND_BODY) {
    f.O = ag_body_part(m, gr->carrier, "middle"); /* the surface of the carrier */
  } else if (gr->carrier) {
    ag_id R = m->coords[gr->carrier->R].q;
    f.N = ag_mul(g, R, normal);
    f.O = ag_add(g, m->coords[gr->carrier->x].q, ag_mul(g, R, origin));
  }
  return f;
}

static ag_id sum(ag_graph *g, ag_id a, ag_id b) { return a && b ? ag_add(g, a, b) : a ? a : b; }

/* Velocity of the material point of the ground at P, 0 if it is at rest. */
static bool ground_velocity(ag_model *m, const ag_ground *gr, const ag_ground_frame *f, ag_id P, ag_id *out) {
  ag_graph *g = m->graph;
  ag_id v = 0;
  if (gr->carrier) {
    const ag_coord *x = &m->coords[gr->carrier->x], *R = &m->coords[gr->carrier->R];
    ag_id w = ag_mul(g, R->q, R->xi), arm = ag_sub(g, P, x->q);
    v = ag_add(g, x->xi, ag_cross(g, w, arm));
  } else if (!f->still && !ag_model_prime(m, f->O, &v)) {
    return false;
  }
  if (gr->spin) v = sum(g, v, ag_mul(g, gr->spin, ag_cross(g, f->N, ag_sub(g, P, f->O))));
  *out = v;
  return true;
}

/* Angular velocity of the ground along the contact normal n, 0 if there is none. */
static ag_id ground_turning(const ag_model *m, const ag_ground *gr, const ag_ground_frame *f, ag_id n) {
  ag_graph *g = m->graph;
  ag_id w = 0;
  if (gr->carrier) {
    const ag_coord *R = &m->coords[gr->carrier->R];
    w = ag_dot(g, n, ag_mul(g, R->q, R->xi));
  }
  if (gr->spin) w = sum(g, w, gr->kind == AG_GROUND_PLANE ? gr->spin : ag_mul(g, gr->spin, ag_dot(g, n, f->N)));
  return w;
}

/* ---- constraints ---- */

static ag_status add_rolling(ag_ctx *ctx, ag_model *m, ag_contact *c, const ag_ground_frame *f, ag_pos pos) {
  ag_graph *g = m->graph;
  const ag_coord R = m->coords[c->body->R], x = m->coords[c->body->x];
  ag_id V = 0, rolled;
  if (!ground_velocity(m, &c->ground, f, c->point, &V)) {
    ag_ctx_error(ctx, pos, "the origin of what `%s` rolls on may depend on coordinates and t, not on velocities",
                 c->body->name);
    return AG_WRONG;
  }
  /* on a plane in body axes (R enters only through R^T N), otherwise in space */
  if (c->ground.kind == AG_GROUND_PLANE) rolled = ag_mul(g, R.q, ag_cross(g, c->arm, R.xi));
  else {
    ag_id arm = ag_sub(g, c->point, x.q), w = ag_mul(g, R.q, R.xi);
    rolled = ag_cross(g, arm, w);
  }
  ag_model_add_constraint(m, ag_sub(g, x.xi, sum(g, rolled, V)), ag_arena_printf(m->arena, "%s rolls", c->body->name),
                          pos);
  c->constraint = m->n_constraints - 1;
  m->constraints[c->constraint].name = ag_body_word(m, c->body, "rolls", c->body->n_contact + 1);
  c->force = ag_model_multiplier(m, c->constraint);
  c->press = ag_dot(g, c->normal, c->force);
  c->friction = ag_sub(g, c->force, ag_mul(g, c->press, c->normal));
  c->slip_ratio = ag_div(g, ag_norm(g, c->friction), c->press);
  c->rubber = -1;
  if (!c->ground.rubber) return AG_OK;
  ag_id turning = ground_turning(m, &c->ground, f, c->normal),
        own = ag_dot(g, ag_mul(g, ag_transpose(g, R.q), c->normal), R.xi);
  ag_model_add_constraint(m, turning ? ag_sub(g, own, turning) : own,
                          ag_arena_printf(m->arena, "%s does not twist", c->body->name), pos);
  c->rubber = m->n_constraints - 1;
  m->constraints[c->rubber].name = ag_body_word(m, c->body, "untwisted", c->body->n_contact + 1);
  c->twist = ag_model_multiplier(m, c->rubber);
  return AG_OK;
}

static const char *name_of(ag_model *m, const ag_contact *c, const char *word) {
  return ag_body_word(m, c->body, word, c->body->n_contact);
}

static void observe(ag_model *m, const ag_contact *c, const char *word, ag_id x, ag_pos pos) {
  if (x) AG_MODEL_PUSH(m, observables, ((ag_item){name_of(m, c, word), NULL, x, pos}));
}

static void add_observables(ag_model *m, const ag_contact *c, ag_pos pos) {
  observe(m, c, "contact", c->point, pos);
  observe(m, c, "height", c->height, pos);
  observe(m, c, "gap", c->gap, pos);
  observe(m, c, "normal", c->press, pos);
  observe(m, c, "friction", c->friction, pos);
  observe(m, c, "slip_ratio", c->slip_ratio, pos);
  observe(m, c, "twist", c->twist, pos);
  observe(m, c, "misfit", c->misfit, pos);
}

/* The radius of curvature jumps where the normal passes one of several angles: cos(theta) = axis.n for the body, the
 * opposite for the one it rolls on. One product, one event. */
static void add_jumps(ag_model *m, const ag_contact *c, ag_pos pos) {
  ag_graph *g = m->graph;
  const ag_body *both[2] = {c->body, c->ground.kind == AG_GROUND_BODY ? c->ground.carrier : NULL};
  ag_id x = 0;
  for (int i = 0; i < 2; i++) {
    const ag_surface *s = both[i] ? &both[i]->surface : NULL;
    if (!s || !s->n_jump) continue;
    ag_id axis = ag_mul(g, m->coords[both[i]->R].q, ag_surface_axis(g, s)), cosine = ag_dot(g, axis, c->normal);
    if (i) cosine = ag_neg(g, cosine);
    for (int k = 0; k < s->n_jump; k++) {
      ag_id apart = ag_sub(g, cosine, ag_apply1(g, AG_OP_COS, s->jump[k]));
      x = x ? ag_mul(g, x, apart) : apart;
    }
  }
  if (x) AG_MODEL_PUSH(m, events, ((ag_event){.name = name_of(m, c, "jump"), .x = x, .cuts = true, .pos = pos}));
}

/* Where the contact ceases to be valid: it would have to pull; the other edge of a cylinder touches. */
static void add_events(ag_model *m, const ag_contact *c, ag_pos pos) {
  ag_graph *g = m->graph;
  if (c->ground.watch)
    AG_MODEL_PUSH(m, events, ((ag_event){.name = name_of(m, c, "lift"), .x = c->press, .direction = -1, .pos = pos}));
  ag_trouble_place(m, c, pos);
  add_jumps(m, c, pos);
  if (!c->ground.watch || c->body->surface.kind != AG_SURFACE_CYLINDER) return;
  ag_id axis = ag_mul(g, m->coords[c->body->R].q, ag_surface_axis(g, &c->body->surface));
  ag_id side = ag_dot(g, axis, c->normal);
  AG_MODEL_PUSH(m, events,
                ((ag_event){.name = name_of(m, c, "edge"), .x = side, .terminal = true, .cuts = true, .pos = pos}));
}

/* ---- the whole contact ---- */

static ag_status check_ground(ag_ctx *ctx, const ag_model *m, const ag_body *b, const ag_ground *gr, ag_pos pos) {
  if (b->surface.kind == AG_SURFACE_NONE) {
    ag_ctx_error(ctx, pos, "`%s` has no surface to roll with: say which one in its `body` statement", b->name);
    return AG_WRONG;
  }
  if (!ag_body_direction(ctx, m, gr->normal, b->name, "rolls on", pos)) return AG_WRONG;
  if (gr->carrier == b) {
    ag_ctx_error(ctx, pos, "`%s` cannot roll on itself", b->name);
    return AG_WRONG;
  }
  for (int i = 0; i < m->n_contacts && gr->kind == AG_GROUND_BODY; i++) {
    const ag_contact *c = m->contacts[i];
    if (c->body != gr->carrier || c->ground.carrier != b) continue;
    ag_ctx_error(ctx, pos, "`%s` already rolls on `%s`: two bodies have only one contact", gr->carrier->name, b->name);
    return AG_WRONG;
  }
  if (gr->kind == AG_GROUND_BODY && (!gr->carrier || gr->carrier->surface.kind == AG_SURFACE_NONE)) {
    ag_ctx_error(ctx, pos, "`%s` has no surface that `%s` could roll on: say which one in its `body` statement",
                 gr->carrier ? gr->carrier->name : "space", b->name);
    return AG_WRONG;
  }
  return AG_OK;
}

/* A ball on the surface of another ball: explicit. */
static void ball_on_ball(const ag_model *m, ag_contact *c) {
  const ag_body *on = c->ground.carrier;
  if (c->ground.kind != AG_GROUND_BODY || c->body->surface.kind != AG_SURFACE_SPHERE ||
      on->surface.kind != AG_SURFACE_SPHERE)
    return;
  c->ground.kind = AG_GROUND_SPHERE;
  c->ground.radius = on->surface.a;
  c->ground.origin = on->centre ? ag_neg(m->graph, on->centre) : 0;
}

#define TOUCH "cannot reach its ground: the given part of its position, or another constraint, keeps it away"
#define TOUCH_HOLLOW TOUCH "; if it is less curved than the hollow ground, it would touch in two points"

ag_status ag_body_roll(ag_ctx *ctx, ag_model *m, ag_body *b, const ag_ground *ground, ag_pos pos,
                       const ag_contact **out) {
  AG_TRY(check_ground(ctx, m, b, ground, pos));
  AG_TRY(ag_trouble_shape(ctx, m, b, ground, pos));
  ag_contact *c = AG_NEW(m->arena, ag_contact);
  *c = (ag_contact){.body = b, .ground = *ground};
  if (c->ground.spin && ag_is_zero(m->graph, c->ground.spin)) c->ground.spin = 0;
  ball_on_ball(m, c);
  ag_ground_frame f = ag_contact_frame(m, &c->ground);
  ag_touch(m, c, &f);
  AG_TRY(add_rolling(ctx, m, c, &f, pos));
  b->n_contact++;
  if (ground->carrier) ground->carrier->carries = true;
  if (ground->gravity) ag_body_gravity(m, b, ground->gravity);
  AG_MODEL_PUSH(m, touches, ((ag_item){b->name, c->fit ? TOUCH_HOLLOW : TOUCH, c->gap, pos}));
  add_observables(m, c, pos);
  add_events(m, c, pos);
  AG_MODEL_PUSH(m, contacts, c);
  *out = c;
  return AG_OK;
}

/* ---- start ---- */

ag_status ag_contact_start(ag_ctx *ctx, ag_model *m, const ag_contact *c) {
  const ag_body *b = c->body;
  bool any = false;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    any = any || (!s->velocity && s->frame < 0 && s->coord == b->x);
  }
  ag_ground_frame f = ag_contact_frame(m, &c->ground);
  bool corner = c->ground.kind == AG_GROUND_CONE || (c->ground.kind == AG_GROUND_BOWL && !ag_touch_smooth(m, c));
  if (corner && any) return AG_OK; /* the rest follows from the gap, by Newton's method */
  if (corner) {
    ag_ctx_error(ctx, b->pos, "where does `%s` start? Give two entries of %s.x, away from the axis; the third follows",
                 b->name, b->name);
    return AG_WRONG;
  }
  ag_body_propose(m, b, ag_touch_start(m, c, &f)); /* near the given part of its position, if there is one */
  return AG_OK;
}
