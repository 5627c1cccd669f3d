/* SPDX-License-Identifier: MIT
 * Terms of the equations that may be short in time: a push exp(-((t - 40)/0.1)^2) that all stages of a long step miss.
 * Their values are checked over the whole step (run/pulse.c). Sines of linear arguments and products of few of them
 * have one scale for all times, which the error estimate sees; they are left alone.
 * Functions of the state alone count if they are constant on both sides of a short piece, up to what an estimate does
 * not see: exp of something quadratic (a bump or a well in space), tanh and cosh (a step), quotients by polynomials of
 * degree 4 and more (of the tails of 1/(1 + x^2) the estimate sees enough). An exponential of a distance is a wall, not
 * a bump: it is not among them. */
#include <string.h>

#include "mech/choices.h"

enum { TAME = 4 }; /* factors up to which a product is tame */
/* Degrees of polynomials: from which a quotient by one is short; up to which they are counted; not a polynomial. */
enum { STEEP = 4, MOST = 64, OTHER = 255 };

/* Properties of a node. */
typedef struct trace {
  bool seen;            /* the equations depend on it */
  bool wanted, traced;  /* its properties are asked for; are known */
  bool t, state;        /* it depends on time; on the state */
  bool basis;           /* on the data of a basis, whose own projections are smooth */
  unsigned char degree; /* in t; more than TAME: it may be short */
  unsigned char power;  /* in the state: 0, 1, 2 or more; 2 also for functions that turn around */
  unsigned char poly;   /* its degree as a polynomial of the state, or OTHER */
} trace;

typedef struct hunt {
  ag_graph *g;
  trace *at;
  ag_id top; /* the last node traced */
  ag_id *terms;
  int n, cap;
} hunt;

static bool is_product(ag_op op) {
  return op == AG_OP_MUL || op == AG_OP_SCALE || op == AG_OP_MATMUL || op == AG_OP_DOT || op == AG_OP_CROSS;
}

/* Functions without their own scale that may be steep or short. */
static bool is_function(ag_op op) { return op >= AG_OP_DIV && op <= AG_OP_HYPOT && op != AG_OP_HOLD; }

static int degree_of(const hunt *k, ag_id x) {
  ag_op op = ag_node_op(k->g, x);
  int sum = 0, most = 0;
  for (int i = 0; i < ag_node_n_arg(k->g, x); i++) {
    int d = k->at[ag_node_arg(k->g, x, i)].degree;
    sum += d;
    most = d > most ? d : most;
  }
  if (op == AG_OP_SIN || op == AG_OP_COS) most = most > 1 ? TAME + 1 : most;
  else if (op == AG_OP_DIV) most = k->at[ag_node_arg(k->g, x, 1)].degree ? TAME + 1 : most;
  else if ((is_function(op) || op == AG_OP_NORM || op == AG_OP_SOLVE) && most) most = TAME + 1;
  else if (is_product(op)) most = sum;
  return most > TAME ? TAME + 1 : most;
}

/* Powers of the state; distances count as one. */
static int power_of(const hunt *k, ag_id x) {
  ag_op op = ag_node_op(k->g, x);
  int sum = 0, most = 0;
  for (int i = 0; i < ag_node_n_arg(k->g, x); i++) {
    int d = k->at[ag_node_arg(k->g, x, i)].power;
    sum += d;
    most = d > most ? d : most;
  }
  if (op == AG_OP_NORM || op == AG_OP_SQRT || op == AG_OP_HYPOT || op == AG_OP_ABS) return most > 0;
  if (is_product(op)) return sum > 2 ? 2 : sum;
  if (op == AG_OP_DIV && !k->at[ag_node_arg(k->g, x, 1)].power) return most;
  return (is_function(op) && most) ? 2 : most;
}

/* The degree of a polynomial of the state to a whole power, or of its reciprocal to that power: a negative number. */
static int raised(const hunt *k, ag_id x) {
  double power;
  int base = k->at[ag_node_arg(k->g, x, 0)].poly;
  if (base == OTHER || !ag_constant(k->g, ag_node_arg(k->g, x, 1), &power) || !(power * power < MOST * MOST))
    return OTHER;
  double degree = base * power;
  return degree > MOST ? MOST : degree < -MOST ? -MOST : degree == (int)degree ? (int)degree : OTHER;
}

static int poly_of(const hunt *k, ag_id x) {
  ag_op op = ag_node_op(k->g, x);
  int sum = 0, most = 0;
  if (!k->at[x].state) return 0;
  for (int i = 0; i < ag_node_n_arg(k->g, x); i++) {
    int d = k->at[ag_node_arg(k->g, x, i)].poly;
    sum += d;
    most = d > most ? d : most;
  }
  if (most == OTHER) return OTHER;
  if (op == AG_OP_ADD || op == AG_OP_SUB || op == AG_OP_NEG) return most;
  if (op == AG_OP_DIV && !k->at[ag_node_arg(k->g, x, 1)].state) return most;
  if (op == AG_OP_POW) sum = raised(k, x);
  else if (!is_product(op) && op != AG_OP_ENTRY && op != AG_OP_STACK) return OTHER;
  return sum < 0 || sum == OTHER ? OTHER : sum > MOST ? MOST : sum;
}

/* Rotations and unit vectors are bounded, so they have no narrow features. */
static void leave_out_bounded(hunt *k, const ag_system *sys) {
  const ag_model *m = sys->model;
  for (int i = 0; i < sys->n_image; i++)
    if (sys->images[i].input <= k->top) k->at[sys->images[i].input].poly = OTHER;
  for (int i = 0; i < m->n_coords; i++) {
    if (m->coords[i].space != AG_SPACE_SO3 && m->coords[i].space != AG_SPACE_S2) continue;
    if (m->coords[i].q <= k->top) k->at[m->coords[i].q].poly = OTHER;
    for (int c = 0; sys->q_leaf[i] && c < sys->coords[i].n; c++)
      if (sys->q_leaf[i][c] <= k->top) k->at[sys->q_leaf[i][c]].poly = OTHER;
  }
}

static void trace_inputs(hunt *k, const ag_system *sys, ag_id t, int n_state, const ag_id *state) {
  for (int i = 0; i < n_state; i++) {
    k->at[state[i]].state = state[i] != t;
    k->at[state[i]].power = k->at[state[i]].poly = state[i] != t;
  }
  leave_out_bounded(k, sys);
  k->at[t].t = true, k->at[t].degree = 1;
}

static void trace_node(hunt *k, ag_id x) {
  trace *a = &k->at[x];
  const int n = ag_node_n_arg(k->g, x);
  a->traced = true;
  for (int i = 0; i < n; i++) {
    const trace *arg = &k->at[ag_node_arg(k->g, x, i)];
    a->t = a->t || arg->t;
    a->state = a->state || arg->state;
    a->basis = a->basis || arg->basis;
  }
  if (!n || !(a->t || a->state)) return; /* a constant: all degrees are 0 */
  a->degree = (unsigned char)degree_of(k, x);
  a->power = (unsigned char)power_of(k, x), a->poly = (unsigned char)poly_of(k, x);
}

/* Of a node that the equations may not depend on, such as an entry that was there already. */
static void trace_cone(hunt *k, ag_id x) {
  if (k->at[x].traced) return;
  k->at[x].wanted = true;
  for (ag_id y = x; y > 0; y--)
    for (int i = 0; k->at[y].wanted && !k->at[y].traced && i < ag_node_n_arg(k->g, y); i++)
      k->at[ag_node_arg(k->g, y, i)].wanted = true;
  for (ag_id y = 1; y <= x; y++)
    if (k->at[y].wanted && !k->at[y].traced) trace_node(k, y);
}

/* A function of the state that may be short in space. */
static bool is_local(const hunt *k, ag_id x) {
  ag_op op = ag_node_op(k->g, x);
  if (op == AG_OP_DIV && ag_is_scalar(k->g, x)) {
    int below = k->at[ag_node_arg(k->g, x, 1)].poly;
    return below >= STEEP && below != OTHER;
  }
  if (op == AG_OP_POW) {
    int degree = raised(k, x);
    return degree <= -STEEP;
  }
  if (op != AG_OP_EXP && op != AG_OP_TANH && op != AG_OP_COSH) return false;
  return k->at[x].state && k->at[ag_node_arg(k->g, x, 0)].power >= (op == AG_OP_EXP ? 2 : 1);
}

/* A term, once. Each part of a sum separately: a slow part would hide a small push. */
static void add_scalar(hunt *k, ag_id x) {
  ag_op op = ag_node_op(k->g, x);
  bool new = true;
  if (x <= k->top) trace_cone(k, x);
  if (x <= k->top && k->at[x].degree <= TAME) return;
  for (int i = 0; i < ag_node_n_arg(k->g, x) && (op == AG_OP_ADD || op == AG_OP_SUB || op == AG_OP_NEG); i++) {
    add_scalar(k, ag_node_arg(k->g, x, i));
    new = false;
  }
  for (int n = 0; n < k->n; n++) new = new && k->terms[n] != x;
  if (!new) return;
  AG_PUSH(k->terms, k->n, k->cap);
  k->terms[k->n++] = x;
}

/* A term, entry by entry. */
static void add(hunt *k, ag_id x) {
  if (k->at[x].basis) return;
  for (int i = 0; i < ag_node_rows(k->g, x); i++)
    for (int j = 0; j < ag_node_cols(k->g, x); j++) add_scalar(k, ag_is_scalar(k->g, x) ? x : ag_entry(k->g, x, i, j));
}

/* The narrow part of such a function: exp and quotients themselves; the slope of tanh, which is 1/cosh^2. */
static ag_id bump_of(const hunt *k, ag_id x) {
  ag_graph *g = k->g;
  ag_op op = ag_node_op(g, x);
  if (op == AG_OP_EXP || op == AG_OP_DIV || op == AG_OP_POW) return x;
  ag_id step = ag_apply1(g, AG_OP_TANH, ag_node_arg(g, x, 0)), one = ag_num(g, 1);
  return ag_sub(g, one, ag_mul(g, step, step));
}

/* Largest terms of time alone, and functions of time and the state together. */
static void collect(hunt *k, ag_id x) {
  const trace *a = &k->at[x];
  if (!a->t && !a->basis && is_local(k, x)) {
    ag_id bump = bump_of(k, x);
    AG_PUSH(k->terms, k->n, k->cap);
    k->terms[k->n++] = bump;
  }
  if (!a->t) return;
  for (int i = 0; i < ag_node_n_arg(k->g, x) && a->state; i++) {
    ag_id arg = ag_node_arg(k->g, x, i);
    if (k->at[arg].t && !k->at[arg].state && k->at[arg].degree > TAME) add(k, arg);
  }
  ag_op op = ag_node_op(k->g, x);
  bool steep = is_function(op) && op != AG_OP_SIN && op != AG_OP_COS && a->degree > TAME;
  if (a->state && steep && ag_is_scalar(k->g, x)) add(k, x);
}

static ag_id newest(int n, const ag_id *x, ag_id than) {
  for (int i = 0; i < n; i++) than = x[i] > than ? x[i] : than;
  return than;
}

int ag_pulses_collect(ag_system *sys, int n_row, const ag_id *rows, int n_state, const ag_id *state, ag_id **terms) {
  ag_graph *g = sys->model->graph;
  ag_id t = sys->model->t, top = newest(n_state, state, newest(n_row, rows, t));
  for (int i = 0; i < sys->n_basis; i++) top = newest(2, (ag_id[]){sys->bases[i].N, sys->bases[i].W}, top);
  hunt k = {.g = g, .top = top, .at = ag_heap_alloc(sizeof *k.at * ((size_t)top + 1))};
  for (int i = 0; i < n_row; i++) k.at[rows[i]].seen = true;
  for (ag_id x = top; x > 0; x--)
    for (int i = 0; k.at[x].seen && i < ag_node_n_arg(g, x); i++) k.at[ag_node_arg(g, x, i)].seen = true;
  for (int i = 0; i < sys->n_basis; i++) {
    k.at[sys->bases[i].N].basis = sys->bases[i].N != 0;
    if (sys->bases[i].W) k.at[sys->bases[i].W].basis = true;
  }
  trace_inputs(&k, sys, t, n_state, state);
  for (ag_id x = 1; x <= top; x++)
    if (k.at[x].seen) trace_node(&k, x);
  for (int i = 0; i < n_row; i++)
    if (k.at[rows[i]].t && !k.at[rows[i]].state && k.at[rows[i]].degree > TAME) add(&k, rows[i]);
  for (ag_id x = 1; x <= top; x++)
    if (k.at[x].seen) collect(&k, x);
  free(k.at);
  *terms = k.terms;
  return k.n;
}

ag_id *ag_pulses_levelled(ag_graph *g, int n, const ag_id *terms, ag_id *levels) {
  ag_id *outs = ag_heap_alloc(sizeof *outs * 2 * (size_t)n);
  *levels = ag_input(g, "levels", 2 * n, 1, AG_LEAF_REAL);
  for (int i = 0; i < 2 * n; i++) {
    ag_id level = ag_entry(g, *levels, i, 0);
    outs[i] = ag_sub(g, terms[i / 2], level);
  }
  return outs;
}

void ag_pulses_find(derive *d, int n_state, const ag_id *state, const ag_id *rows) {
  ag_system *sys = d->sys;
  ag_id *terms = NULL;
  sys->n.pulses = ag_pulses_collect(sys, sys->n.z, rows, n_state, state, &terms);
  if (!sys->n.pulses) return;
  ag_id *outs = ag_pulses_levelled(d->g, sys->n.pulses, terms, &sys->levels);
  ag_role_make(sys, AG_ROLE_PULSES, 2 * sys->n.pulses, outs);
  free(outs);
  free(terms);
}
