/* SPDX-License-Identifier: MIT
 * body, roll, rubber and joints: calls the functions of model/body.h and defines the resulting names. */
#include <math.h>
#include <string.h>

#include "lang/scene.h"

/* ---- names of a body ---- */

static int name_id(ag_builder *b, const char *text) { return ag_names_id(b->names, text, strlen(text)); }

static ag_symbol *part_symbol(ag_builder *b, const ag_body *body, const char *word, ag_sym_kind kind, ag_pos pos) {
  const char *text = ag_arena_printf(b->arena, "%s.%s", body->name, word);
  int name = name_id(b, text);
  if (!ag_scope_free(b, name, pos)) return ag_scope_symbol(b, name);
  ag_symbol *s = ag_scope_define(b, name, kind, pos);
  s->used = true;
  return s;
}

static void take_coord(ag_builder *b, int i) {
  const ag_coord *c = &b->m->coords[i];
  ag_note_input(b, c->q, AG_ON_Q);
  ag_note_input(b, c->xi, AG_ON_XI);
  if (c->space != AG_SPACE_SO3) ag_note_prime(b, c->q, c->xi);
  b->n_velocity += c->dim;
}

static void name_parts(ag_builder *b, const ag_body *body, int index, ag_pos pos) {
  static const char *const angles[] = {"phi", "theta", "psi"}, *const others[] = {"omega", "Gamma", "middle"};
  ag_model *m = b->m;
  ag_symbol *s = part_symbol(b, body, "R", AG_SYM_COORD, pos);
  s->x = m->coords[body->R].q, s->index = body->R;
  s = part_symbol(b, body, "Omega", AG_SYM_VELOCITY, pos);
  s->x = m->coords[body->R].xi, s->index = body->R;
  s = part_symbol(b, body, "x", AG_SYM_COORD, pos);
  s->x = m->coords[body->x].q, s->index = body->x;
  for (int k = 0; k < 3; k++) {
    s = part_symbol(b, body, angles[k], AG_SYM_ANGLE, pos);
    s->x = ag_body_part(m, body, angles[k]), s->index = 3 * index + k;
    s = part_symbol(b, body, others[k], AG_SYM_LET, pos);
    s->x = ag_body_part(m, body, others[k]);
    const char *name = ag_arena_printf(m->arena, "%s.%s", body->name, others[k]);
    if (s->x != m->coords[body->x].q) AG_MODEL_PUSH(m, lets, ((ag_item){name, NULL, s->x, pos}));
  }
}

/* Lengths of the lists of the model before a function of model/ is called. */
typedef struct marks {
  int observables, events, generators, constraints, holonomics, multipliers, holonomic_multipliers;
} marks;

static marks mark(const ag_model *m) {
  return (marks){m->n_observables, m->n_events,      m->n_generators,           m->n_constraints,
                 m->n_holonomics,  m->n_multipliers, m->n_holonomic_multipliers};
}

/* Defines names in the language for what has been added since. Observables without forces may be used everywhere. */
static void absorb(ag_builder *b, const marks *from, ag_pos pos) {
  const ag_model *m = b->m;
  for (int i = from->multipliers; i < m->n_multipliers; i++) ag_note_input(b, m->multipliers[i].x, AG_ON_MOTION);
  for (int i = from->holonomic_multipliers; i < m->n_holonomic_multipliers; i++)
    ag_note_input(b, m->holonomic_multipliers[i].x, AG_ON_MOTION);
  for (int i = from->observables; i < m->n_observables; i++) {
    const ag_item *o = &m->observables[i];
    int name = name_id(b, o->name);
    if (!ag_scope_free(b, name, pos)) continue;
    bool forces = ag_note_on(b, o->x) & AG_ON_MOTION;
    ag_symbol *s = ag_scope_define(b, name, forces ? AG_SYM_OBSERVABLE : AG_SYM_LET, pos);
    s->x = o->x;
    s->used = true;
    s->count = !forces; /* a let that is recorded */
  }
  for (int i = from->events; i < m->n_events; i++) {
    int *event = &ag_scope_symbol(b, name_id(b, m->events[i].name))->event;
    if (*event) ag_scope_error(b, pos, "the event `%s` already exists", m->events[i].name);
    *event = i + 1;
  }
  for (int i = from->generators; i < m->n_generators; i++) {
    int *generator = &ag_scope_symbol(b, name_id(b, m->generators[i].name))->generator;
    if (*generator) ag_scope_error(b, pos, "the generator `%s` already exists", m->generators[i].name);
    *generator = i + 1;
  }
  for (int i = from->constraints; i < m->n_constraints; i++)
    ag_scope_symbol(b, name_id(b, m->constraints[i].name))->constraint = i + 1;
  for (int i = from->holonomics; i < m->n_holonomics; i++)
    ag_scope_symbol(b, name_id(b, m->holonomics[i].name))->constraint = i + 1 + AG_MAX_SIZE;
}

/* ---- unknown parts ---- */

ag_symbol *ag_scene_owner(ag_builder *b, const char *text) {
  const char *dot = strchr(text, '.');
  return dot ? ag_scope_symbol(b, ag_names_id(b->names, text, (size_t)(dot - text))) : NULL;
}

static bool comes_with_contact(const char *word) {
  static const char *const words[] = {"contact",  "height",     "gap",   "normal",
                                      "friction", "slip_ratio", "twist", "misfit"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(word, words[i])) return true;
  return false;
}

void ag_scene_no_part(ag_builder *b, const ag_symbol *owner, const char *text, ag_pos pos) {
  const ag_scene_body *body = &b->bodies[owner->index];
  const char *word = strchr(text, '.') + 1;
  if (comes_with_contact(word) && !body->body->n_contact)
    ag_scope_error(b, pos, "`%s` is defined only for a rolling body: write `roll %s on ...` first", text,
                   body->body->name);
  else if (!strcmp(word, "twist") && !body->rubber)
    ag_scope_error(b, pos, "`%s` is the moment that keeps a `rubber` body from twisting; `%s` rolls and may twist",
                   text, body->body->name);
  else {
    unsigned kinds = AG_SUGGEST_VALUES;
    const char *near = ag_scope_near(b, text, kinds);
    if (near) ag_scope_error(b, pos, "unknown name `%s`; did you mean `%s`?", text, near);
    else
      ag_scope_error(b, pos, "the body `%s` has no `%s`; it has R, Omega, x, omega, Gamma, phi, theta, psi and middle",
                     body->body->name, word);
  }
}

/* ---- body ---- */

/* Eigenvalues of a symmetric matrix, largest first: with mean m subtracted, m + 2 p cos(phi + 2 pi k/3). */
static void principal(const double v[9], double out[3]) {
  double m = (v[0] + v[4] + v[8]) / 3, a = v[0] - m, b = v[4] - m, c = v[8] - m,
         square = v[1] * v[1] + v[2] * v[2] + v[5] * v[5];
  double p = sqrt((a * a + b * b + c * c + 2 * square) / 6);
  double det = a * (b * c - v[5] * v[5]) - v[1] * (v[1] * c - v[5] * v[2]) + v[2] * (v[1] * v[5] - b * v[2]);
  double phi = p > 0 ? acos(fmax(-1, fmin(1, det / (2 * p * p * p)))) / 3 : 0;
  out[0] = m + 2 * p * cos(phi);
  out[2] = m + 2 * p * cos(phi + 2 * M_PI / 3);
  out[1] = 3 * m - out[0] - out[2];
}

/* Principal moments must not be negative, and none may exceed the sum of the other two. */
static bool real_moments(ag_builder *b, const ag_syn *s, const double v[9]) {
  double moment[3], rounding = 1e-7 * (fabs(v[0]) + fabs(v[4]) + fabs(v[8]));
  principal(v, moment);
  if (moment[2] < -rounding)
    return ag_scope_error(b, s->pos, "the inertia has the principal moments %.6g, %.6g and %.6g: none may be negative",
                          moment[0], moment[1], moment[2]);
  if (moment[0] > moment[1] + moment[2] + rounding)
    ag_ctx_warn(
        b->ctx, s->pos,
        "the principal moments of inertia are %.6g, %.6g and %.6g: for a real body none exceeds the sum of the other "
        "two",
        moment[0], moment[1], moment[2]);
  return true;
}

static ag_id inertia(ag_builder *b, const ag_syn *s) {
  double v[9];
  ag_id x = ag_eval_node(b, s);
  if (x && ag_is_scalar(b->g, x)) { /* the same about every axis */
    x = ag_scene_positive(b, s, "the moment of inertia");
    return x ? ag_mul(b->g, x, ag_eye(b->g, 3)) : 0;
  }
  if (!x || !(x = ag_scene_value(b, s, 3, 3, "the inertia of a body"))) return 0;
  if (!ag_define_value(b, x, v)) return ag_scope_error(b, s->pos, "the inertia has no finite value"), 0;
  double size = fabs(v[0]) + fabs(v[4]) + fabs(v[8]);
  if (fabs(v[1] - v[3]) + fabs(v[2] - v[6]) + fabs(v[5] - v[7]) > 1e-12 * size)
    return ag_scope_error(b, s->pos, "the inertia must be a symmetric matrix"), 0;
  return real_moments(b, s, v) ? x : 0;
}

static ag_id turned(ag_builder *b, const ag_syn *s) {
  ag_id x = ag_scene_value(b, s, 3, 3, "the rotation of the surface");
  if (!x || ag_is_rotation(b->g, x)) return x;
  ag_verify_later(b, x, s->pos);
  return ag_rotation(b->g, x);
}

/* Evaluates the clauses; false on error. */
static bool read_body(ag_builder *b, const ag_stmt *s, ag_body *out) {
  ag_syn *const *c = s->clauses->x;
  bool ok = true;
  for (int i = AG_CLAUSE_MASS; i <= AG_CLAUSE_INERTIA; i++)
    if (!c[i])
      ok = ag_scope_error(b, s->name_pos, "the body `%s` needs `%s`: body NAME mass m inertia I surface ...",
                          ag_scope_text(b, s->name), ag_parse_clause((ag_clause_word)i));
  if (c[AG_CLAUSE_ROTATED] && !c[AG_CLAUSE_SURFACE])
    ok = ag_scope_error(b, s->clauses->pos[AG_CLAUSE_ROTATED], "`rotated` turns a surface; this body has none");
  if (c[AG_CLAUSE_CENTRE] && !c[AG_CLAUSE_SURFACE])
    ok = ag_scope_error(b, s->clauses->pos[AG_CLAUSE_CENTRE],
                        "`centre` is measured from the centre of the surface; this body has none");
  if (c[AG_CLAUSE_MASS]) ok = (out->mass = ag_scene_positive(b, c[AG_CLAUSE_MASS], "the mass of a body")) && ok;
  if (c[AG_CLAUSE_INERTIA]) ok = (out->inertia = inertia(b, c[AG_CLAUSE_INERTIA])) && ok;
  if (c[AG_CLAUSE_CENTRE])
    ok = (out->centre = ag_scene_value(b, c[AG_CLAUSE_CENTRE], 3, 1, "the centre of mass")) && ok;
  if (c[AG_CLAUSE_SURFACE]) ok = ag_scene_surface(b, c[AG_CLAUSE_SURFACE], &out->surface) && ok;
  if (c[AG_CLAUSE_ROTATED]) ok = (out->surface.turn = turned(b, c[AG_CLAUSE_ROTATED])) && ok;
  return ok;
}

void ag_scene_body_statement(ag_builder *b, const ag_stmt *s) {
  bool fresh = ag_scope_free(b, s->name, s->name_pos);
  const ag_syn *weight = s->clauses->x[AG_CLAUSE_GRAVITY];
  ag_body say = {0};
  bool ok = read_body(b, s, &say);
  ag_scene_body one = {.weighed = weight != NULL};
  if (weight) ok = (one.gravity = ag_scene_value(b, weight, 1, 1, "gravity")) && ok;
  b->body_seen = true;
  if (strchr(ag_scope_text(b, s->name), '.'))
    ok = ag_scope_error(b, s->name_pos, "the name of a body has no dot: its parts are called NAME.x");
  if (!strcmp(ag_scope_text(b, s->name), "space"))
    ok = ag_scope_error(b, s->name_pos, "`space` is the fixed space in joints; give the body another name");
  if (!fresh) return;
  ag_symbol *sym = ag_scope_define(b, s->name, ok ? AG_SYM_BODY : AG_SYM_BAD, s->name_pos);
  sym->used = true;
  if (!ok || !ag_scope_work(b, s->pos, 100)) return;
  sym->index = b->n_bodies;
  const ag_surface *surface = s->clauses->x[AG_CLAUSE_SURFACE] ? &say.surface : NULL;
  one.body = ag_body_add(b->m, ag_scope_text(b, s->name), say.mass, say.inertia, say.centre, surface, s->name_pos);
  AG_MODEL_PUSH(b, bodies, one);
  take_coord(b, one.body->R);
  take_coord(b, one.body->x);
  name_parts(b, one.body, sym->index, s->name_pos);
}

/* ---- contacts ---- */

/* The body with this name; NULL on error. */
static ag_scene_body *find_body(ag_builder *b, int name, ag_pos pos) {
  ag_symbol *s = ag_scope_symbol(b, name);
  const char *text = ag_scope_text(b, name);
  if (s->kind == AG_SYM_BODY) return &b->bodies[s->index];
  if (s->kind == AG_SYM_NONE) {
    const char *near = ag_scope_near(b, text, 1u << AG_SYM_BODY);
    if (s->later.line) ag_scope_error(b, pos, "the body `%s` is defined only later, on line %d", text, s->later.line);
    else if (near) ag_scope_error(b, pos, "unknown body `%s`; did you mean `%s`?", text, near);
    else ag_scope_error(b, pos, "unknown body `%s`; define it first with `body %s mass ...`", text, text);
    s->kind = AG_SYM_BAD;
    s->pos = (ag_pos){0};
  } else if (s->kind != AG_SYM_BAD) ag_scope_error(b, pos, "`%s` is %s, not a body", text, ag_scope_kind(s));
  return NULL;
}

/* An expression in t and parameters. */
static ag_id moving(ag_builder *b, const ag_syn *s, int rows, const char *what) {
  ag_id x = ag_eval_node(b, s);
  if (x && ag_is_scalar(b->g, x) && ag_is_zero(b->g, x)) x = ag_zero(b->g, rows, 1);
  if (x && (ag_node_rows(b->g, x) != rows || ag_node_cols(b->g, x) != 1)) {
    ag_id like = ag_zero(b->g, rows, 1);
    return ag_scope_error(b, s->pos, "%s is %s; this is %s", what, ag_note_shape(b, like), ag_note_shape(b, x)), 0;
  }
  if (x && ag_note_on(b, x) & ~(AG_ON_PARAM | AG_ON_T))
    return ag_scope_error(b, s->pos, "%s may use only numbers, parameters and t", what), 0;
  return x;
}

/* Position, direction and spin: the clauses shared by all grounds. */
static bool read_place(ag_builder *b, const ag_clauses *c, ag_ground *out) {
  bool ok = true, plane = out->kind == AG_GROUND_PLANE;
  int direction = plane ? AG_CLAUSE_NORMAL : AG_CLAUSE_AXIS, wrong = plane ? AG_CLAUSE_AXIS : AG_CLAUSE_NORMAL;
  if (c->x[wrong])
    ok = ag_scope_error(b, c->pos[wrong], plane ? "a plane has a `normal`" : "this ground has an `axis`");
  if (c->x[direction]) ok = (out->normal = ag_scene_value(b, c->x[direction], 3, 1, "the direction")) && ok;
  if (c->x[AG_CLAUSE_THROUGH])
    ok = (out->origin = moving(b, c->x[AG_CLAUSE_THROUGH], 3, "the place of the ground")) && ok;
  if (c->x[AG_CLAUSE_SPINNING]) ok = (out->spin = moving(b, c->x[AG_CLAUSE_SPINNING], 1, "the rate of spinning")) && ok;
  if (c->x[AG_CLAUSE_OF]) {
    const ag_scene_body *carrier = find_body(b, c->x[AG_CLAUSE_OF]->name, c->x[AG_CLAUSE_OF]->pos);
    ok = carrier && ok;
    if (carrier) out->carrier = carrier->body;
    if (carrier && out->spin)
      ok = ag_scope_error(b, c->pos[AG_CLAUSE_SPINNING], "a ground attached to a body turns with it");
    if (carrier && out->origin && ag_note_on(b, out->origin) & AG_ON_T)
      ok = ag_scope_error(b, c->x[AG_CLAUSE_THROUGH]->pos, "a ground attached to a body is fixed in it");
  }
  return ok;
}

/* The surface of another body as ground. */
static bool read_other(ag_builder *b, const ag_clauses *c, ag_ground *out) {
  static const int none[] = {AG_CLAUSE_OF, AG_CLAUSE_NORMAL, AG_CLAUSE_AXIS, AG_CLAUSE_THROUGH, AG_CLAUSE_SPINNING};
  const ag_scene_body *other = find_body(b, c->ground->name, c->ground->pos);
  if (!other) return false;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    if (c->x[none[i]])
      return ag_scope_error(b, c->pos[none[i]], "`%s` is not allowed with the surface of a body",
                            ag_parse_clause((ag_clause_word)none[i]));
  if (c->side != 0) return ag_scope_error(b, c->side_pos, "a body rolls `on` another one");
  if (other->body->surface.kind == AG_SURFACE_NONE)
    return ag_scope_error(b, c->ground->pos, "`%s` has no surface", other->body->name);
  out->carrier = other->body;
  out->kind = AG_GROUND_BODY;
  return true;
}

static bool read_bowl(ag_builder *b, const ag_syn *s, ag_ground *out) {
  if (!ag_scene_form(b, s, 1, "bowl(rho: z), z(rho) the height of the centre of the ball")) return false;
  out->rho = ag_scene_running(b, s, 1);
  out->profile = out->rho ? ag_scene_under(b, s, 0, out->rho) : 0;
  return out->profile != 0;
}

static ag_id cone_slope(ag_builder *b, const ag_syn *s) {
  double v;
  ag_id x = ag_scene_positive(b, s, "the slope of a cone");
  if (x && ag_eval_number(b, s, "the slope of a cone", &v) && !(v < M_PI / 2))
    return ag_scope_error(b, s->pos, "the slope of a cone is an angle below pi/2; this is %g", v), 0;
  return x;
}

static bool read_ground(ag_builder *b, const ag_clauses *c, ag_ground *out) {
  static const char *const words[] = {"plane", "sphere", "cylinder", "cone", "bowl"};
  static const char *const forms[] = {"plane", "sphere(radius)", "cylinder(radius)", "cone(slope)", ""};
  const ag_syn *s = c->ground;
  const char *text = ag_scope_text(b, s->name);
  int kind = -1;
  for (int i = 0; i < 5; i++)
    if (!strcmp(text, words[i])) kind = i;
  if (kind < 0 && s->kind == AG_SYN_NAME && ag_scope_symbol(b, s->name)->kind != AG_SYM_NONE)
    return read_other(b, c, out);
  if (kind < 0) {
    const char *near = ag_nearest(text, 5, words);
    if (!near) near = ag_scope_near(b, text, 1u << AG_SYM_BODY);
    if (near) return ag_scope_error(b, s->pos, "unknown ground `%s`; did you mean `%s`?", text, near);
    return ag_scope_error(b, s->pos,
                          "unknown ground `%s`; there are plane, sphere(A), cylinder(A), cone(slope), bowl(rho: z) and "
                          "the names of bodies",
                          text);
  }
  out->kind = (ag_ground_kind)kind;
  out->inside = c->side == 1;
  if (kind == AG_GROUND_PLANE && c->side != 0) return ag_scope_error(b, c->side_pos, "a body rolls `on` a plane");
  if (kind >= AG_GROUND_CONE && c->side == 2)
    return ag_scope_error(b, c->side_pos, "a body rolls `on` a cone or `inside` a bowl, on the side of its axis");
  bool ok = kind == AG_GROUND_BOWL ? read_bowl(b, s, out) : ag_scene_form(b, s, kind > 0, forms[kind]);
  if (ok && (kind == AG_GROUND_SPHERE || kind == AG_GROUND_CYLINDER))
    ok = (out->radius = ag_scene_positive(b, s->links[0].x, "the radius of the ground")) != 0;
  if (ok && kind == AG_GROUND_CONE) ok = (out->slope = cone_slope(b, s->links[0].x)) != 0;
  return read_place(b, c, out) && ok;
}

static bool read_weight(ag_builder *b, const ag_clauses *c, ag_scene_body *body, ag_ground *out) {
  const ag_syn *weight = c->x[AG_CLAUSE_GRAVITY];
  if (weight && body->weighed)
    return ag_scope_error(b, c->pos[AG_CLAUSE_GRAVITY], "the gravity on `%s` is already given", body->body->name);
  if (weight && !(out->gravity = ag_scene_value(b, weight, 1, 1, "gravity"))) return false;
  if (body->gravity) out->gravity = body->gravity;
  body->gravity = 0;
  body->weighed = body->weighed || weight;
  return true;
}

/* Names for subexpressions that the expansion repeats, so that the output of `show` is readable. */
static void name_geometry(ag_builder *b, const ag_contact *c, ag_pos pos) {
  ag_model *m = b->m;
  const char *number = c->body->n_contact > 1 ? ag_arena_printf(b->arena, "%d", c->body->n_contact) : "";
  struct {
    const char *word;
    ag_id x;
  } list[] = {{"arm", c->arm}, {"lever", ag_neg(b->g, c->arm)}, {"height", c->height}, {"contact", c->point}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    const char *name = ag_arena_printf(m->arena, "%s.%s%s", c->body->name, list[i].word, number);
    if (list[i].x) AG_MODEL_PUSH(m, lets, ((ag_item){name, NULL, list[i].x, pos}));
  }
}

void ag_scene_contact_statement(ag_builder *b, const ag_stmt *s) {
  ag_ground ground = {.rubber = s->word == AG_WORD_RUBBER, .watch = true};
  const ag_contact *contact;
  ag_scene_body *body = find_body(b, s->name, s->name_pos);
  bool ok = read_ground(b, s->clauses, &ground);
  ok = body && ok && read_weight(b, s->clauses, body, &ground);
  marks before = mark(b->m);
  int errors = b->ctx->n_error;
  if (ok && ag_scope_work(b, s->pos, 1000) &&
      ag_body_roll(b->ctx, b->m, body->body, &ground, s->name_pos, &contact) == AG_OK) {
    if (contact->rubber >= 0) body->rubber = contact;
    name_geometry(b, contact, s->name_pos);
    absorb(b, &before, s->name_pos);
  }
  if (body && (!ok || b->ctx->n_error > errors)) ag_scope_symbol(b, s->name)->silent = true;
}

/* ---- joints ---- */

/* The body of argument i, NULL for `space`. False on error. */
static bool joint_body(ag_builder *b, const ag_syn *call, int i, ag_body **out) {
  const ag_syn *s = call->links[i].x;
  *out = NULL;
  if (s->kind != AG_SYN_NAME) return ag_scope_error(b, s->pos, "the name of a body or `space` is expected here");
  if (!strcmp(ag_scope_text(b, s->name), "space") && ag_scope_symbol(b, s->name)->kind != AG_SYM_BODY) return true;
  const ag_scene_body *body = find_body(b, s->name, s->pos);
  if (body) *out = body->body;
  return body != NULL;
}

void ag_scene_joint(ag_builder *b, const ag_stmt *s, const ag_syn *call) {
  bool hinge = !strcmp(ag_scope_text(b, call->name), "hinge");
  int n = hinge ? 3 : 2; /* arguments per side */
  ag_body *bodies[2];
  ag_id at[2], axis[2] = {0, 0};
  if (call->n != 2 * n) {
    ag_scope_error(b, call->pos,
                   hinge ? "write this as hinge(A, p, a, B, q, b): bodies, points and axes in them"
                         : "write this as ball(A, p, B, q): bodies and points in them");
    return;
  }
  bool ok = true;
  for (int k = 0; k < 2; k++) {
    ok = joint_body(b, call, k * n, &bodies[k]) && ok;
    ok = (at[k] = moving(b, call->links[k * n + 1].x, 3, "the place of the joint")) && ok;
    if (hinge) ok = (axis[k] = ag_scene_value(b, call->links[k * n + 2].x, 3, 1, "the axis of the hinge")) && ok;
    if (ok && bodies[k] && ag_note_on(b, at[k]) & AG_ON_T)
      ok = ag_scope_error(b, call->links[k * n + 1].x->pos, "the position of the joint is fixed in the body");
  }
  if (ok && bodies[0] == bodies[1])
    ok = ag_scope_error(b, call->pos, "a joint holds two bodies, or a body and `space`");
  if (!ok || !ag_scope_work(b, call->pos, 100)) return;
  marks before = mark(b->m);
  const char *text = ag_target_text(b, s);
  ag_status status =
      hinge ? ag_joint_hinge(b->ctx, b->m, bodies[0], at[0], axis[0], bodies[1], at[1], axis[1], call->pos, text, NULL)
            : ag_joint_ball(b->ctx, b->m, bodies[0], at[0], bodies[1], at[1], call->pos, text, NULL);
  if (status == AG_OK) absorb(b, &before, call->pos);
}

/* A ball with the same inertia about every axis: its orientation does not matter. */
static bool is_plain_ball(ag_builder *b, const ag_body *body) {
  ag_id I = body->inertia, moment = ag_entry(b->g, I, 0, 0);
  if (body->surface.kind != AG_SURFACE_SPHERE || body->centre || body->n_contact != 1 || body->n_joint) return false;
  for (int i = 0; i < 9; i++) {
    ag_id x = ag_entry(b->g, I, i / 3, i % 3);
    if (i % 4 ? !ag_is_zero(b->g, x) : x != moment) return false;
  }
  return true;
}

/* In models with balls only, the velocities are the components of their angular velocities in space (a frame): the
 * orientation drops out of the equations, and fast spinning costs no extra steps. */
static void frame_balls(ag_builder *b) {
  ag_model *m = b->m;
  if (!b->n_bodies || m->n_frames || m->n_coords != 2 * b->n_bodies || m->n_constraints != b->n_bodies ||
      m->n_holonomics || m->n_prescribes || m->n_forces)
    return;
  for (int i = 0; i < b->n_bodies; i++)
    if (!is_plain_ball(b, b->bodies[i].body)) return;
  for (int i = 0; i < b->n_bodies; i++) {
    const ag_body *body = b->bodies[i].body;
    const char *name = ag_arena_printf(m->arena, "%s.w", body->name);
    if (!ag_scope_free(b, name_id(b, name), body->pos)) return;
    ag_id omega = ag_body_part(m, body, "omega");
    ag_symbol *s = ag_scope_define(b, name_id(b, name), AG_SYM_FRAME, body->pos);
    s->x = omega;
    s->index = m->n_frames;
    ag_note_input(b, ag_model_add_frame(m, name, omega, body->pos), AG_ON_XI);
  }
}

void ag_scene_finish(ag_builder *b) {
  frame_balls(b);
  for (int i = 0; i < b->n_bodies; i++) /* bodies without contact */
    if (b->bodies[i].gravity) ag_body_gravity(b->m, b->bodies[i].body, b->bodies[i].gravity);
}
