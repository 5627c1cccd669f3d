/* SPDX-License-Identifier: MIT
 * The equations of motion with momenta, for systems whose A u' = f would fill pages. With p = dl/dxi, in the notation
 * of motion.c and a total derivative left as a prime, B^T X = 0,   X = p' - ad*_xi p - dbar l - F,   B = dxi/du
 * (Maggi's equations). p and X are no longer than the Lagrangian. Rotations about axes that do not move are symbols:
 * with R = rotation(n, a) the derivative of l in a is n . dbar_R l, which is a vector formula like those of a free
 * rotation. */
#include <string.h>

#include "expr/residue.h"
#include "mech/sheet.h"

enum { SHORT = 12 }; /* size of a force that is written where it is used */

typedef struct turn {
  ag_id x, as, angle, axis; /* x = rotation(axis, angle), printed as the input `as` */
} turn;

typedef struct momenta {
  ag_sheet *s;
  int n_turn, cap, n_let;
  turn *turns;
  ag_id *xi, *xi_rate, *q;     /* per coordinate; xi_rate: xi', one symbol for all of the page */
  ag_id *velocity;             /* xi in u, in terms of the symbols */
  ag_id *let, *let_as, *means; /* vectors that the model names: as they are, their names, in terms of other names */
  ag_id *weight, *named;       /* per such name: dl/d(name); those that have a name */
  int n_named, n_momentum;
  ag_id K, K_as, b, y; /* dependent velocities are nu = K^-1 b; K = 0: there is nothing to solve */
} momenta;

/* ---- rotations ---- */

ag_id ag_sheet_turned(const ag_sheet *s, ag_id x) {
  if (s->n_turn) ag_substitute(s->g, s->n_turn, s->turn, s->turn_as, 1, &x);
  return x;
}

void ag_sheet_turn(ag_sheet *s, int n, const ag_id *rotations, const ag_id *as) {
  s->n_turn = n, s->turn = rotations, s->turn_as = as;
  for (int i = 0; i < s->n_known; i++) s->let[i] = ag_sheet_turned(s, s->let[i]);
}

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

/* What the model or the derivation has written as the derivative of R or of R v in entries is R (w x v) with w = axis *
 * angle'. Of all nodes: those that are R v or R^T v; from, to: grow. */
static int find_rates(momenta *m, const bool *mark, ag_id top, ag_id *from, ag_id *to, int room) {
  ag_graph *g = m->s->g;
  int nc = m->s->sys->model->n_coords, n_in = nc + m->n_turn, n = 0;
  ag_id *in = AG_NEWN(m->s->a, ag_id, n_in + 1), *rate = AG_NEWN(m->s->a, ag_id, n_in + 1), d[2];
  for (int i = 0; i < nc; i++) in[i] = m->q[i], rate[i] = m->xi[i];
  for (int k = 0; k < m->n_turn; k++) {
    ag_forward(g, nc, m->q, m->xi, 1, &m->turns[k].angle, &d[0]);
    in[nc + k] = m->turns[k].as, rate[nc + k] = ag_mul(g, d[0], m->turns[k].axis);
  }
  for (ag_id x = 1; x <= top && n < room; x++) {
    ag_id y = x, R = ag_node_op(g, x) == AG_OP_MATMUL ? ag_node_arg(g, x, 0) : x;
    bool turns = false;
    if (!mark[x]) continue;
    if (ag_node_op(g, R) == AG_OP_TRANSPOSE) R = ag_node_arg(g, R, 0);
    for (int k = 0; k < m->n_turn; k++) turns = turns || m->turns[k].x == R;
    if (!turns) continue;
    y = ag_sheet_turned(m->s, x);
    ag_forward(g, nc, m->q, m->xi, 1, &x, &d[0]);
    ag_forward(g, n_in, in, rate, 1, &y, &d[1]);
    if (d[0] == d[1] || ag_normal_size(g, d[0]) < 4) continue;
    from[n] = d[0], to[n++] = d[1];
  }
  return n;
}

static void find_turns(momenta *m) {
  ag_graph *g = m->s->g;
  const ag_system *sys = m->s->sys;
  enum { ROOM = 200 };
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
  ag_id *x = AG_NEWN(m->s->a, ag_id, m->n_turn + ROOM), *as = AG_NEWN(m->s->a, ag_id, m->n_turn + ROOM);
  for (int i = 0; i < m->n_turn; i++) x[i] = m->turns[i].x, as[i] = m->turns[i].as;
  ag_sheet_turn(m->s, m->n_turn, x, as);
  n = find_rates(m, mark, top, x + m->n_turn, as + m->n_turn, m->n_turn ? ROOM : 0);
  for (int i = 0; i < n; i++) as[m->n_turn + i] = ag_sheet_turned(m->s, as[m->n_turn + i]);
  ag_sheet_turn(m->s, m->n_turn + n, x, as);
  free(mark);
}

/* ---- names of the model ---- */

/* Vectors that the model names and l or a force is made of are symbols, too: l is differentiated in them first, so that
 * what belongs to one frame is not written a second time in another. */
static void find_lets(momenta *m, int n, const ag_id *roots) {
  ag_sheet *s = m->s;
  const ag_model *model = s->sys->model;
  ag_id top, *moving = AG_NEWN(s->a, ag_id, 2 * model->n_coords + m->n_turn + 1);
  int n_moving = 0;
  for (int i = 0; i < model->n_coords; i++) moving[n_moving++] = m->q[i], moving[n_moving++] = m->xi[i];
  for (int i = 0; i < m->n_turn; i++) moving[n_moving++] = m->turns[i].as;
  bool *mark = reachable(s->g, n, roots, &top);
  m->let = AG_NEWN(s->a, ag_id, model->n_lets + 1), m->let_as = AG_NEWN(s->a, ag_id, model->n_lets + 1);
  m->means = AG_NEWN(s->a, ag_id, model->n_lets + 1), m->weight = AG_NEWN(s->a, ag_id, model->n_lets + 1);
  m->named = AG_NEWN(s->a, ag_id, model->n_lets + 1);
  for (int i = 0; i < model->n_lets; i++) {
    ag_id x = ag_sheet_turned(s, model->lets[i].x);
    bool again = false;
    for (int k = 0; k < m->n_let; k++) again = again || m->let[k] == x;
    if (again || x > top || !mark[x] || ag_node_cols(s->g, x) > 1 || ag_is_scalar(s->g, x) || !ag_node_n_arg(s->g, x) ||
        ag_normal_size(s->g, x) < 3 || !ag_depends(s->g, 1, &x, n_moving, moving))
      continue;
    m->let[m->n_let] = x;
    m->let_as[m->n_let] = ag_input(s->g, model->lets[i].name, ag_node_rows(s->g, x), 1, AG_LEAF_REAL);
    s->given[i] = m->let_as[m->n_let++];
  }
  free(mark);
  for (int i = 0; i < m->n_let; i++) { /* in terms of those before it: a let is made of earlier ones */
    m->means[i] = m->let[i];
    if (i) ag_substitute(s->g, i, m->let, m->let_as, 1, &m->means[i]);
  }
}

static ag_id in_names(const momenta *m, ag_id x) {
  x = ag_sheet_turned(m->s, x);
  if (m->n_let) ag_substitute(m->s->g, m->n_let, m->let, m->let_as, 1, &x);
  return x;
}

/* dl/d(name i): itself, or where it is long its own name. */
static ag_id weight_of(momenta *m, int i, ag_id x) {
  ag_sheet *s = m->s;
  x = ag_sheet_normal(s, x);
  if (ag_normal_size(s->g, x) <= SHORT / 2) return x;
  const char *name = ag_arena_printf(s->a, "L_%s", ag_node_name(s->g, m->let_as[i]));
  ag_id as = ag_sheet_name(s, name, ag_node_rows(s->g, x), 1, AG_LEAF_REAL);
  ag_sheet_add(s, as, x);
  m->named[m->n_named++] = as;
  return as;
}

/* Gradients of sum <outs, weights> in the inputs, through the names: the derivative in a name that is long gets the
 * name L_name itself, on a line. */
static void gradient(momenta *m, int n_out, const ag_id *outs, const ag_id *weights, int n_in, const ag_id *inputs,
                     ag_id *out) {
  ag_graph *g = m->s->g;
  ag_id *part = AG_NEWN(m->s->a, ag_id, n_in + 1), *bar = m->weight, one;
  ag_reverse(g, n_out, outs, weights, n_in, inputs, out);
  if (m->n_let) ag_reverse(g, n_out, outs, weights, m->n_let, m->let_as, bar);
  for (int i = m->n_let - 1; i >= 0; i--) {
    if (ag_is_zero(g, bar[i])) continue;
    bar[i] = weight_of(m, i, bar[i]);
    ag_reverse(g, 1, &m->means[i], &bar[i], n_in, inputs, part);
    for (int k = 0; k < n_in; k++) out[k] = ag_add(g, out[k], part[k]);
    for (int k = 0; k < i; k++) {
      ag_reverse(g, 1, &m->means[i], &bar[i], 1, &m->let_as[k], &one);
      bar[k] = ag_add(g, bar[k], one);
    }
  }
}

/* ---- momenta and forces ---- */

/* Dependent velocities that are solved for together: nu = K^-1 b. */
static void name_solved(momenta *m) {
  ag_graph *g = m->s->g;
  int nc = m->s->sys->model->n_coords;
  ag_id top;
  bool *mark = reachable(g, nc, m->velocity, &top);
  for (ag_id x = top; x > 0 && !m->K; x--) {
    if (!mark[x] || ag_node_op(g, x) != AG_OP_SOLVE || ag_node_cols(g, x) > 1) continue;
    m->K = ag_node_arg(g, x, 0), m->b = ag_node_arg(g, x, 1);
    m->K_as = ag_sheet_name(m->s, "K", ag_node_rows(g, m->K), ag_node_cols(g, m->K), AG_LEAF_REAL);
    m->y = ag_sheet_name(m->s, "nu", ag_node_rows(g, x), 1, AG_LEAF_REAL);
    ag_substitute(g, 1, &x, &m->y, nc, m->velocity);
  }
  free(mark);
}

/* B^T X: directly, and through nu with K^T mu = B_nu^T X. */
static void project(momenta *m, const ag_id *X, ag_id *rows) {
  ag_sheet *s = m->s;
  ag_graph *g = s->g;
  int nc = s->sys->model->n_coords, n = s->sys->n_u_input;
  ag_reverse(g, nc, m->velocity, X, n, s->sys->u_inputs, rows);
  if (!m->K) return;
  ag_id bar, z = ag_sheet_name(s, "mu", ag_node_rows(g, m->y), 1, AG_LEAF_REAL), *part = AG_NEWN(s->a, ag_id, n + 1);
  ag_reverse(g, nc, m->velocity, X, 1, &m->y, &bar);
  ag_reverse(g, 1, &m->b, &z, n, s->sys->u_inputs, part);
  for (int i = 0; i < n; i++) rows[i] = ag_add(g, rows[i], part[i]);
  ag_id transposed = ag_transpose(g, m->K_as);
  ag_sheet_add(s, z, ag_solve(g, transposed, ag_sheet_normal(s, bar), AG_SOLVE_GENERAL));
}

/* p_x, X_x; of a coordinate of a body, ball.p_x. */
static ag_id named(momenta *m, const char *letter, int i, const char *prime) {
  const ag_coord *c = &m->s->sys->model->coords[i];
  const char *name = ag_node_name(m->s->g, c->q), *dot = strrchr(name, '.');
  int n = dot ? (int)(dot + 1 - name) : 0;
  name = ag_arena_printf(m->s->a, "%.*s%s_%s%s", n, name, letter, name + n, prime);
  return ag_sheet_name(m->s, name, c->dim, 1, AG_LEAF_REAL);
}

/* p' of coordinate i, whose momentum is p: written out where p does not depend on places, else by its name, which is
 * defined on a line. */
static ag_id momentum_rate(momenta *m, int i, ag_id p) {
  ag_sheet *s = m->s;
  const ag_model *model = s->sys->model;
  ag_graph *g = s->g;
  bool free_of_place = !ag_depends(g, 1, &p, model->n_coords, m->q) && !ag_depends(g, 1, &p, 1, &model->t);
  for (int k = 0; k < m->n_turn; k++) free_of_place = free_of_place && !ag_depends(g, 1, &p, 1, &m->turns[k].as);
  free_of_place = free_of_place && !ag_depends(g, 1, &p, m->n_let, m->let_as) &&
                  !ag_depends(g, 1, &p, m->n_named, m->named);
  if (free_of_place && ag_normal_size(g, p) <= SHORT) {
    ag_id rate;
    ag_forward(g, model->n_coords, m->xi, m->xi_rate, 1, &p, &rate);
    return ag_sheet_normal(s, rate);
  }
  m->n_momentum++;
  ag_sheet_add(s, named(m, "p", i, ""), p);
  return named(m, "p", i, "'");
}

/* dl/dxi, and dbar l of each coordinate: directly, and through the rotations whose angles it moves. */
static void derivatives(momenta *m, ag_id l, ag_id *p, ag_id *dl) {
  ag_graph *g = m->s->g;
  int nc = m->s->sys->model->n_coords, n = 0;
  ag_id one = ag_num(g, 1), *inputs = AG_NEWN(m->s->a, ag_id, 2 * nc + m->n_turn), *out, *part;
  out = AG_NEWN(m->s->a, ag_id, 2 * nc + m->n_turn), part = AG_NEWN(m->s->a, ag_id, nc + 1);
  for (int i = 0; i < nc; i++) inputs[n++] = m->xi[i];
  for (int i = 0; i < nc; i++) inputs[n++] = m->q[i];
  for (int k = 0; k < m->n_turn; k++) inputs[n++] = m->turns[k].as;
  gradient(m, 1, &l, &one, n, inputs, out);
  memcpy(p, out, sizeof *p * (size_t)nc);
  memcpy(dl, out + nc, sizeof *p * (size_t)nc);
  for (int k = 0; k < m->n_turn; k++) {
    ag_id along = ag_dot(g, m->turns[k].axis, out[2 * nc + k]);
    ag_reverse(g, 1, &m->turns[k].angle, &along, nc, m->q, part);
    for (int i = 0; i < nc; i++) dl[i] = ag_add(g, dl[i], part[i]);
  }
}

/* X of every coordinate; those that are long by name. */
static void add_forces(momenta *m, ag_id *X) {
  ag_sheet *s = m->s;
  ag_graph *g = s->g;
  const ag_model *model = s->sys->model;
  int nc = model->n_coords;
  ag_id *p = AG_NEWN(s->a, ag_id, nc + 1), *dl = AG_NEWN(s->a, ag_id, nc + 1);
  derivatives(m, in_names(m, model->lagrangian), p, dl);
  for (int i = 0; i < nc; i++) {
    p[i] = ag_sheet_normal(s, p[i]);
    ag_id rest = ag_add(g, dl[i], in_names(m, s->sys->force_x[i]));
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
  m->xi_rate = AG_NEWN(s->a, ag_id, nc + 1);
  for (int i = 0; i < nc; i++) {
    m->xi[i] = model->coords[i].xi, m->q[i] = model->coords[i].q;
    const char *name = ag_arena_printf(s->a, "%s'", ag_node_name(s->g, m->xi[i]));
    m->xi_rate[i] = ag_input(s->g, name, model->coords[i].dim, 1, AG_LEAF_REAL);
  }
  find_turns(m);
  ag_id *roots = AG_NEWN(s->a, ag_id, nc + 1);
  roots[nc] = ag_sheet_turned(s, model->lagrangian);
  for (int i = 0; i < nc; i++) roots[i] = ag_sheet_turned(s, s->sys->force_x[i]);
  find_lets(m, nc + 1, roots);
  for (int i = 0; i < nc; i++) m->velocity[i] = ag_sheet_turned(s, s->sys->xi_of_u[i]);
  name_solved(m);
  s->velocity = m->velocity;
}

/* Lines that were added after the first n, taken off again. */
static ag_sheet_line *take(ag_sheet *s, int n, int *n_taken) {
  *n_taken = s->n - n;
  ag_sheet_line *taken = AG_NEWN(s->a, ag_sheet_line, *n_taken + 1);
  if (*n_taken) memcpy(taken, s->lines + n, sizeof *taken * (size_t)*n_taken);
  s->n = n;
  return taken;
}

static void add_where(momenta *m) {
  ag_sheet *s = m->s;
  ag_sheet_heading(s, "where", NULL);
  if (m->K) {
    ag_sheet_add(s, m->y, ag_solve(s->g, m->K_as, ag_sheet_plain(s, m->b), AG_SOLVE_GENERAL));
    ag_sheet_add(s, m->K_as, ag_sheet_plain(s, m->K));
  }
  for (int i = m->n_let - 1; i >= 0; i--) ag_sheet_add(s, m->let_as[i], ag_sheet_normal(s, m->means[i]));
  for (int i = 0; i < m->n_turn; i++) ag_sheet_add(s, m->turns[i].as, ag_sheet_plain(s, m->turns[i].x));
}

/* Roots that the model names, such as the length of a vector, are written by their names, too. */
static void name_roots(momenta *m) {
  ag_sheet *s = m->s;
  const ag_model *model = s->sys->model;
  for (int i = 0; i < model->n_lets; i++) {
    const ag_id x = ag_sheet_turned(s, model->lets[i].x), y = in_names(m, x);
    const ag_id forms[] = {x, ag_sheet_plain(s, x), y, ag_sheet_normal(s, y)};
    if (ag_node_op(s->g, x) != AG_OP_SQRT) continue;
    const ag_id as = ag_input(s->g, model->lets[i].name, 1, 1, AG_LEAF_REAL);
    bool seen = false;
    for (int k = 0; k < 2 * s->n; k++) {
      ag_id *end = k % 2 ? &s->lines[k / 2].right : &s->lines[k / 2].left, z = *end;
      for (int f = 0; z && f < 4; f++) ag_substitute(s->g, 1, &forms[f], &as, 1, &z);
      seen = seen || z != *end;
      *end = z;
    }
    if (seen) ag_sheet_add(s, as, forms[3]);
  }
}

/* x without numbers that multiply all of it. */
static ag_id without_number(const ag_graph *g, ag_id x) {
  double number;
  for (;;) {
    ag_op op = ag_node_op(g, x);
    if (op == AG_OP_NEG) x = ag_node_arg(g, x, 0);
    else if (op == AG_OP_MUL && ag_is_num(g, ag_node_arg(g, x, 0), &number)) x = ag_node_arg(g, x, 1);
    else if (op == AG_OP_MUL && ag_is_num(g, ag_node_arg(g, x, 1), &number)) x = ag_node_arg(g, x, 0);
    else return x;
  }
}

/* x = 0; components that are written one by one have lines of their own. */
static void add_row(ag_sheet *s, ag_id x) {
  int n = ag_node_op(s->g, x) == AG_OP_STACK ? ag_node_rows(s->g, x) : 1;
  for (int k = 0; k < n; k++) {
    ag_id row = without_number(s->g, n > 1 ? ag_node_arg(s->g, x, k) : x);
    ag_sheet_add(s, row, ag_zero(s->g, ag_node_rows(s->g, row), 1));
  }
}

void ag_show_momenta(ag_sheet *s, void (*before)(ag_sheet *s), void (*after)(ag_sheet *s)) {
  momenta m;
  int n;
  init(&m, s);
  ag_id *X = AG_NEWN(s->a, ag_id, s->sys->model->n_coords + 1), *rows = AG_NEWN(s->a, ag_id, s->sys->n_u_input + 1);
  add_forces(&m, X); /* first: dependent velocities are not yet written by their values */
  project(&m, X, rows);
  const ag_sheet_line *forces = take(s, 0, &n);
  before(s);
  s->n_known = s->n_let;
  ag_sheet_heading(s, "equations of motion", NULL);
  for (int i = 0; i < s->sys->n_u_input; i++) add_row(s, ag_sheet_normal(s, rows[i]));
  if (n)
    ag_sheet_heading(s,
                     m.n_named      ? "derivatives L_a of the Lagrangian in a, momenta p, forces X"
                     : m.n_momentum ? "momenta p and forces X"
                                    : "forces X",
                     NULL);
  for (int i = 0; i < n; i++) ag_sheet_add(s, forces[i].left, forces[i].right);
  after(s);
  add_where(&m);
  name_roots(&m);
  free(m.turns);
}
