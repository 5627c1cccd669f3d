/* SPDX-License-Identifier: MIT
 * The equations of motion with momenta, for systems whose A u' = f would fill pages. With p = dl/dxi, in the notation of
 * motion.c and a total derivative left as a prime,
 *   B^T X = 0,   X = p' - ad*_xi p - dbar l - F,   B = dxi/du
 * (Maggi's equations). p and X are no longer than the Lagrangian. Rotations about axes that do not move are symbols: with
 * R = rotation(n, a) the derivative of l in a is n . dbar_R l, which is a vector formula like those of a free rotation. */
#include <string.h>

#include "expr/residue.h"
#include "mech/sheet.h"

enum { SHORT = 12 }; /* size of a force that is written where it is used */

typedef struct turn {
  ag_id x, as, angle, axis; /* x = rotation(axis, angle), printed as the input `as` */
} turn;

typedef struct momenta {
  ag_sheet *s;
  int n_turn, cap, n_factor;
  turn *turns;
  ag_id *xi, *q, *velocity; /* per coordinate; velocity: xi in u, in terms of the symbols */
  ag_id factor[2];          /* matrices that dependent velocities are solved with: name, expression */
} momenta;

/* ---- rotations ---- */

/* Marks what the roots are made of; nodes are in the order of their ids. */
static bool *reachable(const ag_graph *g, int n, const ag_id *roots, ag_id *top) {
  *top = 0;
  for (int i = 0; i < n; i++)
    if (roots[i] > *top) *top = roots[i];
  bool *mark = ag_heap_alloc(sizeof *mark * ((size_t)*top + 1));
  for (int i = 0; i < n; i++) mark[roots[i]] = true;
  for (ag_id x = *top; x > 0; x--)
    for (int k = 0; mark[x] && k < ag_node_n_arg(g, x); k++) mark[ag_node_arg(g, x, k)] = true;
  return mark;
}

/* Does R move with hat(axis) per unit of the angle a, an input? */
static bool moves_about(momenta *m, ag_id R, ag_id a, ag_id axis) {
  ag_graph *g = m->s->g;
  const ag_model *model = m->s->sys->model;
  ag_id one = ag_num(g, 1), dR, *inputs = AG_NEWN(m->s->a, ag_id, model->n_params + 1);
  int n = 0;
  inputs[n++] = a;
  for (int i = 0; i < model->n_params; i++)
    if (model->params[i].input) inputs[n++] = model->params[i].input;
  ag_forward(g, 1, &a, &one, 1, &R, &dR);
  ag_id gap = ag_sub(g, dR, ag_mul(g, R, ag_hat(g, axis)));
  for (int i = 0; i < model->n_coords; i++)
    if (ag_depends(g, 1, &gap, 1, &model->coords[i].q)) return false;
  return ag_residue_vanish(g, n, inputs, 1, &gap);
}

/* vee(R^T dR/da), if that is a constant; 0 if not */
static ag_id constant_axis(ag_graph *g, ag_id R, ag_id a) {
  ag_id one = ag_num(g, 1), dR, e[3];
  double value;
  ag_forward(g, 1, &a, &one, 1, &R, &dR);
  ag_id W = ag_mul(g, ag_transpose(g, R), dR);
  static const int at[3][2] = {{2, 1}, {0, 2}, {1, 0}};
  for (int k = 0; k < 3; k++) e[k] = ag_entry(g, W, at[k][0], at[k][1]);
  ag_normal_form(g, 0, NULL, NULL, 3, e);
  for (int k = 0; k < 3; k++)
    if (!ag_is_num(g, e[k], &value)) return 0;
  return ag_stack(g, 3, 1, e);
}

/* x = rotation(axis, angle) with an angle that moves and an axis that does not? */
static bool is_turn(momenta *m, ag_id x, turn *t) {
  ag_graph *g = m->s->g;
  ag_id top, R = x, hat = 0, a = ag_sheet_name(m->s, "angle", 1, 1, AG_LEAF_REAL);
  bool *mark = reachable(g, 1, &x, &top), good = true;
  *t = (turn){.x = x};
  for (ag_id y = 1; y <= top; y++) {
    if (!mark[y]) continue;
    ag_op op = ag_node_op(g, y);
    if (op == AG_OP_HAT) hat = ag_node_arg(g, y, 0);
    if (op != AG_OP_SIN && op != AG_OP_COS) continue;
    ag_id angle = ag_node_arg(g, y, 0);
    if (!ag_depends(g, 1, &angle, m->s->sys->model->n_coords, m->q)) continue;
    good = good && (!t->angle || t->angle == angle);
    t->angle = angle;
  }
  free(mark);
  if (!good || !t->angle) return false;
  ag_substitute(g, 1, &t->angle, &a, 1, &R);
  t->axis = hat ? hat : constant_axis(g, R, a);
  return t->axis && moves_about(m, R, a, t->axis);
}

/* The name of a rotation: that of a let, or R with the name of its angle. */
static ag_id name_turn(momenta *m, const turn *t) {
  const ag_model *model = m->s->sys->model;
  const char *name = NULL;
  for (int i = 0; i < model->n_lets; i++)
    if (model->lets[i].x == t->x) return ag_input(m->s->g, model->lets[i].name, 3, 3, AG_LEAF_ROTATION);
  for (int i = 0; i < model->n_coords; i++)
    if (model->coords[i].q == t->angle) name = ag_arena_printf(m->s->a, "R_%s", ag_node_name(m->s->g, t->angle));
  for (int i = 0; i < m->n_turn; i++)
    if (name && m->turns[i].angle == t->angle) name = NULL; /* taken */
  if (!name) name = ag_arena_printf(m->s->a, "R_%d", m->n_turn + 1);
  return ag_sheet_name(m->s, name, 3, 3, AG_LEAF_ROTATION);
}

static void find_turns(momenta *m) {
  ag_graph *g = m->s->g;
  const ag_system *sys = m->s->sys;
  int n = 1, nc = sys->model->n_coords;
  ag_id top, *roots = AG_NEWN(m->s->a, ag_id, 2 * nc + 1);
  roots[0] = sys->model->lagrangian;
  for (int i = 0; i < nc; i++) roots[n++] = sys->xi_of_u[i], roots[n++] = sys->force_x[i];
  bool *mark = reachable(g, n, roots, &top);
  for (ag_id x = 1; x <= top; x++) {
    turn t;
    if (!mark[x] || ag_node_op(g, x) != AG_OP_ROTATION || !is_turn(m, x, &t)) continue;
    t.as = name_turn(m, &t);
    AG_PUSH(m->turns, m->n_turn, m->cap);
    m->turns[m->n_turn++] = t;
  }
  free(mark);
  ag_id *x = AG_NEWN(m->s->a, ag_id, m->n_turn + 1), *as = AG_NEWN(m->s->a, ag_id, m->n_turn + 1);
  for (int i = 0; i < m->n_turn; i++) x[i] = m->turns[i].x, as[i] = m->turns[i].as;
  ag_sheet_turn(m->s, m->n_turn, x, as);
}

/* ---- momenta and forces ---- */

/* The matrix that dependent velocities are solved with gets a name, so that its transpose is one. */
static void name_factor(momenta *m) {
  ag_graph *g = m->s->g;
  int nc = m->s->sys->model->n_coords;
  ag_id top;
  bool *mark = reachable(g, nc, m->velocity, &top);
  for (ag_id x = top; x > 0 && !m->factor[0]; x--)
    if (mark[x] && ag_node_op(g, x) == AG_OP_SOLVE && ag_node_n_arg(g, ag_node_arg(g, x, 0))) {
      ag_id A = m->factor[1] = ag_node_arg(g, x, 0);
      m->factor[0] = ag_sheet_name(m->s, "K", ag_node_rows(g, A), ag_node_cols(g, A), AG_LEAF_REAL);
      ag_substitute(g, 1, &m->factor[1], &m->factor[0], nc, m->velocity);
    }
  free(mark);
}

static ag_id named(momenta *m, const char *letter, int i, const char *prime) {
  const ag_coord *c = &m->s->sys->model->coords[i];
  return ag_sheet_name(m->s, ag_arena_printf(m->s->a, "%s_%s%s", letter, ag_node_name(m->s->g, c->q), prime), c->dim, 1,
                       AG_LEAF_REAL);
}

/* p' of coordinate i, whose momentum is p: written out where p does not depend on places, else by its name, which is
 * defined on a line. */
static ag_id momentum_rate(momenta *m, int i, ag_id p) {
  ag_sheet *s = m->s;
  const ag_model *model = s->sys->model;
  ag_graph *g = s->g;
  bool free_of_place = !ag_depends(g, 1, &p, model->n_coords, m->q) && !ag_depends(g, 1, &p, 1, &model->t);
  for (int k = 0; k < m->n_turn; k++) free_of_place = free_of_place && !ag_depends(g, 1, &p, 1, &m->turns[k].as);
  if (free_of_place && ag_normal_size(g, p) <= SHORT) {
    ag_id *a = AG_NEWN(s->a, ag_id, model->n_coords + 1), rate;
    for (int k = 0; k < model->n_coords; k++)
      a[k] = ag_input(g, ag_arena_printf(s->a, "%s'", ag_node_name(g, m->xi[k])), model->coords[k].dim, 1, AG_LEAF_REAL);
    ag_forward(g, model->n_coords, m->xi, a, 1, &p, &rate);
    return ag_sheet_normal(s, rate);
  }
  ag_sheet_add(s, named(m, "p", i, ""), p);
  return named(m, "p", i, "'");
}

/* dbar l in coordinate i: directly, and through the rotations whose angles it moves. */
static void gradients(momenta *m, ag_id l, ag_id *out) {
  ag_graph *g = m->s->g;
  int nc = m->s->sys->model->n_coords;
  ag_id one = ag_num(g, 1), *of_turn = AG_NEWN(m->s->a, ag_id, m->n_turn + 1), *as = AG_NEWN(m->s->a, ag_id, m->n_turn + 1);
  ag_id *part = AG_NEWN(m->s->a, ag_id, nc + 1);
  for (int k = 0; k < m->n_turn; k++) as[k] = m->turns[k].as;
  ag_reverse(g, 1, &l, &one, nc, m->q, out);
  if (m->n_turn) ag_reverse(g, 1, &l, &one, m->n_turn, as, of_turn);
  for (int k = 0; k < m->n_turn; k++) {
    ag_id along = ag_dot(g, m->turns[k].axis, of_turn[k]);
    ag_reverse(g, 1, &m->turns[k].angle, &along, nc, m->q, part);
    for (int i = 0; i < nc; i++) out[i] = ag_add(g, out[i], part[i]);
  }
}

/* X of every coordinate; those that are long by name. */
static void add_forces(momenta *m, ag_id *X) {
  ag_sheet *s = m->s;
  ag_graph *g = s->g;
  const ag_model *model = s->sys->model;
  int nc = model->n_coords;
  ag_id l = ag_sheet_turned(s, model->lagrangian), one = ag_num(g, 1), *p = AG_NEWN(s->a, ag_id, nc + 1),
        *dl = AG_NEWN(s->a, ag_id, nc + 1);
  ag_reverse(g, 1, &l, &one, nc, m->xi, p);
  gradients(m, l, dl);
  ag_sheet_heading(s, "momenta p and forces X", NULL);
  for (int i = 0; i < nc; i++) {
    p[i] = ag_sheet_normal(s, p[i]);
    ag_id rest = ag_add(g, dl[i], ag_sheet_turned(s, s->sys->force_x[i]));
    if (model->coords[i].space == AG_SPACE_SO3) rest = ag_add(g, rest, ag_cross(g, p[i], m->xi[i]));
    rest = ag_sheet_normal(s, rest);
    ag_id rate = momentum_rate(m, i, p[i]), x = ag_sub(g, rate, rest);
    X[i] = x;
    if (ag_normal_size(g, x) <= SHORT) continue;
    X[i] = named(m, "X", i, "");
    ag_sheet_add(s, X[i], x);
  }
}

/* ---- the page ---- */

static void init(momenta *m, ag_sheet *s) {
  const ag_model *model = s->sys->model;
  int nc = model->n_coords;
  *m = (momenta){.s = s, .xi = AG_NEWN(s->a, ag_id, nc + 1), .q = AG_NEWN(s->a, ag_id, nc + 1)};
  m->velocity = AG_NEWN(s->a, ag_id, nc + 1);
  for (int i = 0; i < nc; i++) m->xi[i] = model->coords[i].xi, m->q[i] = model->coords[i].q;
  find_turns(m);
  for (int i = 0; i < nc; i++) m->velocity[i] = ag_sheet_turned(s, s->sys->xi_of_u[i]);
  name_factor(m);
  s->velocity = m->velocity;
}

/* B^T X = 0, before the lines that define X. */
static void add_rows(momenta *m) {
  ag_sheet *s = m->s;
  const ag_system *sys = s->sys;
  int nc = sys->model->n_coords, from = s->n;
  ag_id *X = AG_NEWN(s->a, ag_id, nc + 1), *rows = AG_NEWN(s->a, ag_id, sys->n_u_input + 1);
  add_forces(m, X);
  int n = s->n - from;
  ag_sheet_line *kept = AG_NEWN(s->a, ag_sheet_line, n + 1);
  memcpy(kept, s->lines + from, sizeof *kept * (size_t)n);
  s->n = from;
  ag_sheet_heading(s, "equations of motion", NULL);
  ag_reverse(s->g, nc, m->velocity, X, sys->n_u_input, sys->u_inputs, rows);
  for (int i = 0; i < sys->n_u_input; i++)
    ag_sheet_add(s, ag_sheet_normal(s, rows[i]), ag_zero(s->g, ag_node_rows(s->g, rows[i]), 1));
  for (int i = 0; i < n; i++) {
    if (kept[i].heading) ag_sheet_heading(s, kept[i].heading, kept[i].note);
    else ag_sheet_add(s, kept[i].left, kept[i].right);
  }
}

static void add_where(momenta *m) {
  ag_sheet *s = m->s;
  ag_sheet_heading(s, "where", NULL);
  if (m->factor[0]) ag_sheet_add(s, m->factor[0], m->factor[1]);
  for (int i = 0; i < m->n_turn; i++) ag_sheet_add(s, m->turns[i].as, m->turns[i].x);
}

void ag_show_momenta(ag_sheet *s, void (*before)(ag_sheet *s), void (*after)(ag_sheet *s)) {
  momenta m;
  init(&m, s);
  before(s);
  add_rows(&m);
  after(s);
  add_where(&m);
  free(m.turns);
}
