/* SPDX-License-Identifier: MIT
 * Joints. Rows g = (A.x + A.R p - B.x - B.R q, dot(A.R u1, B.R b), dot(A.R u2, B.R b)) with multipliers (f, k1, k2):
 * their virtual work f.(dx_A + ...) - f.(dx_B + ...) + k_i (dtheta_B - dtheta_A).(B.R b x A.R u_i) says that -f acts on
 * B at the joint, with the moment sum k_i B.R b x A.R u_i, and the opposite of both on A. */
#include "model/body_internal.h"

/* Unit vectors u1, u2 with u1 x u2 = a for a unit vector a = (x, y, z): with s the sign of z and h = 1/(s + z),
 *   u1 = (1 - s x^2 h, -s x y h, -s x),  u2 = (-x y h, s - y^2 h, -y).
 * a depends at most on parameters, so the sign does not change during a motion. a = e3 gives e1, e2. */
static void across(ag_graph *g, ag_id a, ag_id *u1, ag_id *u2) {
  ag_id x = ag_entry(g, a, 0, 0), y = ag_entry(g, a, 1, 0), z = ag_entry(g, a, 2, 0), zero = ag_num(g, 0),
        one = ag_num(g, 1);
  ag_id up = ag_apply2(g, AG_OP_LE, zero, z), minus = ag_num(g, -1);
  ag_id s = ag_select(g, up, one, minus), h = ag_div(g, one, ag_add(g, s, z));
  ag_id xh = ag_mul(g, x, h), xyh = ag_mul(g, xh, y), sx = ag_mul(g, s, x);
  ag_id first[3] = {ag_sub(g, one, ag_mul(g, sx, xh)), ag_neg(g, ag_mul(g, s, xyh)), ag_neg(g, sx)};
  ag_id second[3] = {ag_neg(g, xyh), ag_sub(g, s, ag_mul(g, ag_mul(g, y, y), h)), ag_neg(g, y)};
  *u1 = ag_stack(g, 3, 1, first);
  *u2 = ag_stack(g, 3, 1, second);
}

/* Body axes to space. */
static ag_id turned(const ag_model *m, const ag_body *b, ag_id v) {
  return b ? ag_mul(m->graph, m->coords[b->R].q, v) : v;
}

static ag_id place_of(const ag_model *m, const ag_body *b, ag_id p) {
  return b ? ag_add(m->graph, m->coords[b->x].q, turned(m, b, p)) : p;
}

static bool joinable(ag_ctx *ctx, const ag_model *m, const ag_joint *j) {
  const char *name = j->A ? j->A->name : j->B ? j->B->name : "space";
  if (j->A == j->B) {
    ag_ctx_error(ctx, j->pos, "this joint attaches `%s` to itself", name);
    return false;
  }
  if ((j->A && ag_body_moves(m, j->p)) || (j->B && ag_body_moves(m, j->q))) {
    ag_ctx_error(ctx, j->pos, "the position of a joint in a body may not depend on coordinates or t");
    return false;
  }
  return ag_body_direction(ctx, m, j->a, name, "turns about", j->pos) &&
         ag_body_direction(ctx, m, j->b, name, "turns about", j->pos);
}

static void observe(ag_model *m, const ag_body *b, const char *word, ag_id x, ag_pos pos) {
  AG_MODEL_PUSH(m, observables, ((ag_item){ag_body_word(m, b, word, b->n_joint), NULL, x, pos}));
}

static ag_status add(ag_ctx *ctx, ag_model *m, ag_joint given, const char *text, const ag_joint **out) {
  ag_graph *g = m->graph;
  AG_TRY(joinable(ctx, m, &given) ? AG_OK : AG_WRONG);
  ag_joint *j = AG_NEW(m->arena, ag_joint);
  *j = given;
  bool on_b = j->B;
  ag_id U[2] = {0}, axis = 0, rows[3];
  j->place = place_of(m, j->A, j->p);
  rows[0] = ag_sub(g, j->place, place_of(m, j->B, j->q));
  if (j->a) {
    j->a = ag_body_unit(g, j->a);
    j->b = ag_body_unit(g, j->b);
    across(g, j->a, &U[0], &U[1]);
    axis = turned(m, j->B, j->b);
    for (int i = 0; i < 2; i++) {
      U[i] = turned(m, j->A, U[i]);
      rows[1 + i] = ag_dot(g, U[i], axis);
    }
  }
  ag_model_add_holonomic(m, j->a ? ag_concat(g, 3, rows) : rows[0], text, j->pos);
  j->holonomic = m->n_holonomics - 1;
  ag_body *owner = on_b ? j->B : j->A;
  owner->n_joint++;
  m->holonomics[j->holonomic].name = ag_body_word(m, owner, "held", owner->n_joint);
  ag_id lambda = ag_model_holonomic_multiplier(m, j->holonomic), f = lambda;
  if (j->a) {
    ag_id e[3];
    for (int i = 0; i < 3; i++) e[i] = ag_entry(g, lambda, i, 0);
    f = ag_stack(g, 3, 1, e);
  }
  j->force = on_b ? ag_neg(g, f) : f;
  observe(m, owner, "joint", j->force, j->pos);
  if (j->a) {
    ag_id part[2];
    for (int i = 0; i < 2; i++) {
      ag_id size = ag_entry(g, lambda, 3 + i, 0), direction = ag_cross(g, axis, U[i]);
      part[i] = ag_mul(g, size, direction);
    }
    ag_id moment = ag_add(g, part[0], part[1]);
    j->moment = on_b ? moment : ag_neg(g, moment);
    observe(m, owner, "moment", j->moment, j->pos);
  }
  AG_MODEL_PUSH(m, joints, j);
  if (out) *out = j;
  return AG_OK;
}

ag_status ag_joint_ball(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_body *B, ag_id q, ag_pos pos,
                        const char *text, const ag_joint **out) {
  return add(ctx, m, (ag_joint){.A = A, .B = B, .p = p, .q = q, .pos = pos}, text, out);
}

ag_status ag_joint_hinge(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_id a, ag_body *B, ag_id q, ag_id b,
                         ag_pos pos, const char *text, const ag_joint **out) {
  return add(ctx, m, (ag_joint){.A = A, .B = B, .p = p, .q = q, .a = a, .b = b, .pos = pos}, text, out);
}

/* ---- start ---- */

/* How many components of a coordinate the start statements give; row: which one. */
static int named_rows(const ag_model *m, int coord, bool row[3]) {
  row[0] = row[1] = row[2] = false;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (s->velocity || s->frame >= 0 || s->coord != coord) continue;
    for (int k = 0; k < 3; k++) row[k] = row[k] || s->row < 0 || s->row == k || m->coords[coord].space == AG_SPACE_SO3;
  }
  return row[0] + row[1] + row[2];
}

static int named(const ag_model *m, int coord) {
  bool row[3];
  return named_rows(m, coord, row);
}

static void begin(ag_model *m, const ag_body *b, int coord, ag_id x) {
  AG_MODEL_PUSH(m, starts, ((ag_start){false, coord, -1, -1, x, b->pos}));
}

void ag_body_propose(ag_model *m, const ag_body *b, ag_id x) {
  bool row[3];
  int n = named_rows(m, b->x, row);
  if (!n) begin(m, b, b->x, x);
  for (int k = 0; n && k < 3; k++)
    if (!row[k]) AG_MODEL_PUSH(m, starts, ((ag_start){false, b->x, k, -1, ag_entry(m->graph, x, k, 0), b->pos}));
}

/* An orientation that is not given is 1; stated explicitly where position constraints could move it. */
static void settle(ag_model *m, const ag_body *b) {
  if (b && m->n_holonomics && !named(m, b->R)) begin(m, b, b->R, ag_eye(m->graph, 3));
}

/* The rotation that takes e1, e2, e3 to u1, u2, a. */
static ag_id frame_of(ag_graph *g, ag_id a) {
  ag_id u[3] = {0, 0, a}, e[9];
  across(g, a, &u[0], &u[1]);
  for (int i = 0; i < 9; i++) e[i] = ag_entry(g, u[i % 3], i / 3, 0);
  return ag_rotation(g, ag_stack(g, 3, 3, e));
}

/* R b = from.R a for the axes of a hinge; from NULL: space. */
static void align(ag_model *m, const ag_joint *j, const ag_body *from, const ag_body *b) {
  ag_graph *g = m->graph;
  bool forward = b == j->B;
  ag_id F = frame_of(g, forward ? j->a : j->b), G = frame_of(g, forward ? j->b : j->a),
        turn = ag_mul(g, F, ag_transpose(g, G));
  begin(m, b, b->R, ag_rotation(g, from ? ag_mul(g, m->coords[from->R].q, turn) : turn));
}

/* Orientations along the hinges, from one that is known; a group without one begins with a body that has no contact (a
 * frame, not a wheel). */
static void align_all(ag_model *m) {
  const ag_body *root;
  do {
    root = NULL;
    bool changed = false;
    for (int i = 0; i < m->n_joints; i++) {
      const ag_joint *j = m->joints[i];
      if (!j->a) continue;
      bool know_A = !j->A || named(m, j->A->R), know_B = !j->B || named(m, j->B->R);
      if (know_A && know_B) continue;
      if (know_A || know_B) {
        align(m, j, know_A ? j->A : j->B, know_A ? j->B : j->A);
        changed = true;
      } else if (!root || (root->n_contact && (!j->A->n_contact || !j->B->n_contact))) {
        root = j->A->n_contact ? j->B : j->A;
      }
    }
    if (changed) root = m->bodies[0]; /* another round */
    else if (root) settle(m, root);
  } while (root);
}

/* b is attached to `from` (whose position is known, or which is space). */
static void hang(ag_model *m, const ag_joint *j, const ag_body *from, const ag_body *b) {
  bool forward = b == j->B;
  settle(m, from);
  settle(m, b);
  ag_id at = place_of(m, from, forward ? j->p : j->q);
  ag_body_propose(m, b, ag_sub(m->graph, at, turned(m, b, forward ? j->q : j->p)));
}

/* One pass over the joints; true if a body was placed. */
static bool hang_all(ag_model *m) {
  bool changed = false;
  for (int i = 0; i < m->n_joints; i++) {
    const ag_joint *j = m->joints[i];
    bool know_A = !j->A || named(m, j->A->x) == 3, know_B = !j->B || named(m, j->B->x) == 3;
    if (know_A == know_B) continue;
    const ag_body *from = know_A ? j->A : j->B, *b = know_A ? j->B : j->A;
    hang(m, j, from, b);
    changed = true;
  }
  return changed;
}

/* A body on a carrier comes after its carrier, if that is in contact or attached to something. */
static bool carrier_waits(const ag_model *m, const ag_contact *c) {
  const ag_body *carrier = c->ground.carrier;
  bool held = carrier && carrier->n_contact;
  for (int i = 0; i < m->n_joints && !held; i++) held = m->joints[i]->A == carrier || m->joints[i]->B == carrier;
  return carrier && held && named(m, carrier->x) < 3;
}

static ag_status put(ag_ctx *ctx, ag_model *m, const ag_contact *c) {
  const ag_body *carrier = c->ground.carrier;
  settle(m, c->body);
  settle(m, carrier);
  if (carrier && m->n_holonomics && !carrier->n_contact && named(m, carrier->x) < 3)
    ag_body_propose(m, carrier, ag_zero(m->graph, 3, 1));
  return ag_contact_start(ctx, m, c);
}

ag_status ag_bodies_start(ag_ctx *ctx, ag_model *m) {
  if (!m->soft_from) m->soft_from = m->n_starts + 1;
  align_all(m);
  bool *done = AG_NEWN(m->arena, bool, m->n_contacts + 1);
  for (int round = 0; round <= m->n_contacts;
       round++) /* the last pass places whatever is left (bodies that carry each other) */
    for (int i = 0; i < m->n_contacts; i++) {
      while (hang_all(m)) continue; /* bodies attached to a body in contact are placed first: two wheels of one frame */
      if (done[i] || (round < m->n_contacts && carrier_waits(m, m->contacts[i]))) continue;
      AG_TRY(put(ctx, m, m->contacts[i]));
      done[i] = true;
    }
  for (;;) {
    while (hang_all(m)) continue;
    const ag_body *root = NULL;
    for (int i = 0; i < m->n_joints && !root; i++) {
      const ag_joint *j = m->joints[i];
      if (j->A && j->B && !named(m, j->A->x) && !named(m, j->B->x)) root = j->A;
    }
    if (!root) return AG_OK;
    settle(m, root);
    begin(m, root, root->x, ag_zero(m->graph, 3, 1));
  }
}
