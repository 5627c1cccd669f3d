/* SPDX-License-Identifier: MIT
 * Euler angles of a body at the start: B.theta = 1.1, B.psi' = 0.9 become starts of B.R and B.Omega.
 *   R = Rz(phi) Rx(theta) Rz(psi),
 *   Omega = phi' (sin theta sin psi, sin theta cos psi, cos theta) + theta' (cos psi, -sin psi, 0) + psi' e3.
 * Angles and rates that are not given are 0, except for the one rate that the no-twist condition of a rubber body
 * determines. */
#include <string.h>

#include "lang/scene.h"

enum { PHI, THETA, PSI };

/* ---- given values ---- */

/* The components of B.omega that a target names, from *first on; 0 on error. */
static int spatial_rows(ag_builder *b, const ag_syn *s, const ag_syn *base, int *first) {
  *first = 0;
  if (s == base) return 3;
  if (s->n == 2 && s->links[1].op == AG_TOKEN_LEFT && !s->links[1].y)
    return ag_lookup_index(b, s->links[1].x, "an index", base, 3, first) ? 1 : 0;
  ag_scope_error(b, s->pos, "`%s` is a 3-vector: it and its components can be set", ag_scope_text(b, base->name));
  return 0;
}

/* B.omega, the angular velocity in the space frame. False if the target is something else. */
static bool spatial(ag_builder *b, const ag_part *p, const ag_syn *base, bool outside) {
  const char *text = ag_scope_text(b, base->name);
  const ag_symbol *owner = ag_scene_owner(b, text);
  if (!owner || owner->kind != AG_SYM_BODY || strcmp(strchr(text, '.'), ".omega")) return false;
  int first, n = spatial_rows(b, p->target, base, &first);
  ag_id x = n ? ag_eval_node(b, p->right) : 0;
  if (x && ag_is_scalar(b->g, x) && ag_is_zero(b->g, x)) x = ag_zero(b->g, n, 1);
  bool fits = x && ag_node_rows(b->g, x) == n && ag_node_cols(b->g, x) == 1;
  if (x && !fits && n == 1)
    ag_scope_error(b, p->right->pos, "`%s` is a scalar, its value is %s", ag_entry_of(b->arena, text, first),
                   ag_note_shape(b, x));
  else if (x && !fits)
    ag_scope_error(b, p->right->pos, "`%s` is a 3-vector, its value is %s", text, ag_note_shape(b, x));
  else if (x && ag_note_on(b, x) & (AG_ON_XI | AG_ON_MOTION | AG_ON_PROCESS))
    ag_scope_error(b, p->right->pos, "a start value may not use velocities");
  else
    for (int k = 0; x && k < n; k++) {
      ag_angle *omega = &b->bodies[owner->index].omega[first + k];
      if (omega->x && !outside) {
        ag_scope_error(b, p->target->pos, "the start of `%s` is given twice", text);
        break;
      }
      if (!(omega->x && omega->outside)) /* of several --set the last one is read first */
        *omega = (ag_angle){ag_entry(b->g, x, k, 0), outside, p->target->pos};
    }
  return true;
}

bool ag_euler_start(ag_builder *b, const ag_part *p, bool outside) {
  const ag_syn *s = p->target, *base = s->kind == AG_SYN_POST ? s->links[0].x : s;
  if (base->kind != AG_SYN_NAME) return false;
  if (spatial(b, p, base, outside)) return true;
  const ag_symbol *sym = ag_scope_symbol(b, base->name);
  if (sym->kind != AG_SYM_ANGLE) return false;
  bool rate = s->kind == AG_SYN_POST;
  ag_angle *angle = &b->bodies[sym->index / 3].euler[rate][sym->index % 3];
  ag_id x = ag_eval_scalar(b, p->right, "an Euler angle or its rate");
  if (rate && (s->n != 2 || s->links[1].op != AG_TOKEN_PRIME))
    ag_scope_error(b, s->pos, "`%s` is an angle: it and its rate `%s'` can be set", ag_scope_text(b, base->name),
                   ag_scope_text(b, base->name));
  else if (x && ag_note_on(b, x) & (AG_ON_XI | AG_ON_MOTION | AG_ON_PROCESS))
    ag_scope_error(b, p->right->pos, "a start value may not use velocities");
  else if (angle->x && !outside)
    ag_scope_error(b, s->pos, "the start of `%s%s` is given twice", ag_scope_text(b, base->name), rate ? "'" : "");
  else if (x) *angle = (ag_angle){x, outside, s->pos};
  if (!rate) ag_verify_angle(b, p->right->pos, ag_scope_text(b, base->name), x);
  return true;
}

static bool is_named(const ag_angle list[3], bool outside) {
  for (int k = 0; k < 3; k++)
    if (list[k].x && list[k].outside == outside) return true;
  return false;
}

static ag_pos place_of(const ag_angle list[3]) {
  for (int k = 0; k < 3; k++)
    if (list[k].x) return list[k].pos;
  return (ag_pos){0};
}

/* Does a start statement of the file give the orientation itself, or the angular velocity? */
static bool file_names(const ag_builder *b, int coord, bool velocity) {
  for (int i = 0; i < b->n_file_starts; i++) {
    const ag_start *s = &b->file_starts[i];
    if (s->frame < 0 && s->coord == coord && s->velocity == velocity) return true;
  }
  return false;
}

/* ---- angles ---- */

static void values(ag_builder *b, const ag_angle list[3], ag_id out[3]) {
  for (int k = 0; k < 3; k++) out[k] = list[k].x ? list[k].x : ag_num(b->g, 0);
}

static void push_rotation(ag_builder *b, const ag_scene_body *body, ag_euler_push *push, void *data) {
  const ag_angle *list = body->euler[0];
  bool outside = is_named(list, true);
  ag_id angle[3];
  values(b, list, angle);
  ag_id R = ag_rotate_euler(b, angle[PHI], angle[THETA], angle[PSI]);
  push(b, data, &(ag_start){false, body->body->R, -1, -1, R, place_of(list)}, outside);
}

/* The angles of the start: as given, those of the given R, or 0. */
static void start_angles(ag_builder *b, const ag_scene_body *body, ag_id out[3]) {
  static const char *const words[] = {"phi", "theta", "psi"};
  bool angles = is_named(body->euler[0], true) || is_named(body->euler[0], false), R = false;
  for (int i = 0; i < b->m->n_starts; i++)
    R = R || (b->m->starts[i].coord == body->body->R && !b->m->starts[i].velocity && b->m->starts[i].frame < 0);
  values(b, body->euler[0], out);
  if (angles || !R) return;
  for (int k = 0; k < 3; k++) out[k] = ag_body_part(b->m, body->body, words[k]);
}

/* ---- rates ---- */

ag_id ag_euler_column(ag_graph *g, const ag_id angles[3], int k) {
  ag_id zero = ag_num(g, 0), one = ag_num(g, 1), e[3] = {zero, zero, one};
  ag_id s = ag_apply1(g, AG_OP_SIN, angles[PSI]), c = ag_apply1(g, AG_OP_COS, angles[PSI]);
  if (k == THETA) e[0] = c, e[1] = ag_neg(g, s), e[2] = zero;
  if (k == PHI) {
    ag_id sine = ag_apply1(g, AG_OP_SIN, angles[THETA]);
    e[0] = ag_mul(g, sine, s);
    e[1] = ag_mul(g, sine, c);
    e[2] = ag_apply1(g, AG_OP_COS, angles[THETA]);
  }
  return ag_stack(g, 3, 1, e);
}

static ag_id turning(ag_builder *b, const ag_id column[3], const ag_id rate[3]) {
  ag_id x = ag_zero(b->g, 3, 1);
  for (int k = 0; k < 3; k++) x = ag_add(b->g, x, ag_mul(b->g, rate[k], column[k]));
  return x;
}

/* The no-twist condition at the start as a function of Omega alone; 0 if it contains other velocities. */
static ag_id twist_at(ag_builder *b, const ag_scene_body *body, const ag_id angle[3], ag_id Omega) {
  const ag_model *m = b->m;
  ag_id x = m->constraints[body->rubber->rubber].x;
  ag_id from[2] = {m->coords[body->body->R].xi, m->coords[body->body->R].q};
  ag_id to[2] = {Omega, ag_rotate_euler(b, angle[PHI], angle[THETA], angle[PSI])};
  ag_substitute(b->g, 2, from, to, 1, &x);
  for (int i = 0; i < m->n_coords; i++)
    if (ag_depends(b->g, 1, &x, 1, &m->coords[i].xi)) return 0;
  return x;
}

/* twist(p) = twist(0) + p (twist(1) - twist(0)), where p is the free rate: the first of phi', psi', theta' that is not
 * given and occurs in the condition. */
static void untwist(ag_builder *b, const ag_scene_body *body, const ag_id angle[3], const ag_id column[3],
                    ag_id rate[3]) {
  static const int order[] = {PHI, PSI, THETA};
  for (int i = 0; body->rubber && i < 3; i++) {
    int k = order[i];
    if (body->euler[1][k].x) continue;
    ag_id still = twist_at(b, body, angle, turning(b, column, rate));
    rate[k] = ag_num(b->g, 1);
    ag_id moved = twist_at(b, body, angle, turning(b, column, rate));
    rate[k] = ag_num(b->g, 0);
    if (!still || !moved) return;
    ag_id slope = ag_sub(b->g, moved, still);
    if (ag_is_zero(b->g, slope)) continue;
    rate[k] = ag_neg(b->g, ag_div(b->g, still, slope));
    return;
  }
}

static void push_velocity(ag_builder *b, const ag_scene_body *body, ag_euler_push *push, void *data) {
  const ag_angle *list = body->euler[1];
  bool outside = is_named(list, true);
  ag_id angle[3], column[3], rate[3];
  start_angles(b, body, angle);
  for (int k = 0; k < 3; k++) column[k] = ag_euler_column(b->g, angle, k);
  values(b, list, rate);
  untwist(b, body, angle, column, rate);
  push(b, data, &(ag_start){true, body->body->R, -1, -1, turning(b, column, rate), place_of(list)}, outside);
}

/* Omega = R^T omega, with the R that starts before it. Components that are not given are 0. */
static void push_spatial(ag_builder *b, const ag_scene_body *body, ag_euler_push *push, void *data) {
  ag_id back = ag_transpose(b->g, b->m->coords[body->body->R].q), omega[3];
  values(b, body->omega, omega);
  ag_id Omega = ag_mul(b->g, back, ag_stack(b->g, 3, 1, omega));
  push(b, data, &(ag_start){true, body->body->R, -1, -1, Omega, place_of(body->omega)}, is_named(body->omega, true));
}

/* Is a part of Omega set where the file gives the whole in another way? The rest could not be told. */
static bool clashes(ag_builder *b, const ag_scene_body *body, bool rates) {
  bool omega = rates && is_named(body->omega, true) && !is_named(body->omega, false);
  bool whole = body->omega[0].x && body->omega[1].x && body->omega[2].x;
  bool names = file_names(b, body->body->R, rates), spatial = rates && is_named(body->omega, false);
  bool part = is_named(body->euler[rates], true) && (names || spatial);
  if (omega && !whole) part = part || names || is_named(body->euler[1], false);
  if (part)
    ag_ctx_error(b->ctx, (ag_pos){0}, "the file gives the start of `%s.%s` as a whole: set that, not %s",
                 body->body->name,
                 spatial ? "omega"
                 : rates ? "Omega"
                         : "R",
                 omega ? "components in space" : "Euler angles");
  return part;
}

void ag_euler_finish(ag_builder *b, bool rates, ag_euler_push *push, void *data) {
  for (int i = 0; i < b->n_bodies && ag_scope_work(b, (ag_pos){0}, 200); i++) {
    const ag_scene_body *body = &b->bodies[i];
    bool outside = is_named(body->euler[rates], true), omega = is_named(body->omega, true);
    bool angles = outside || is_named(body->euler[rates], false);
    if (clashes(b, body, rates)) continue;
    if (rates && (omega || is_named(body->omega, false))) push_spatial(b, body, push, data);
    bool replaced = rates && omega && !outside; /* the angular velocity that was set replaces the rates of the file */
    if (angles && !replaced) (rates ? push_velocity : push_rotation)(b, body, push, data);
  }
}
