/* SPDX-License-Identifier: MIT
 * The discrete equations of a step, from the Lagrangian. With the increment d, q1 = q0 tau(d) and the nodes
 * q_a = q0 tau(a d) at t + a h (weights w),
 *   A = sum w h l(q_a, d/h),    p0 = -D_q0 A,    p1 = D_q1 A,
 * forces and the impulse S^T Lambda added by their virtual work at the nodes. On a path with noise the velocity is
 * xi = (d - sum w sigma(q_a) dW)/h in place of d/h, and gamma dW joins h l, f dW joins h F (shaken.c). In
 * left-trivialised form, with mu = sum w l_xi(q_a, xi) and G = h (l_q + F) - <mu, sigma>_q dW + S^T Lambda at
 * q_a,
 *   p0 = K(d)^T  (mu + a D(-a d)^T G) - tau(a d) G,
 *   p1 = K(-d)^T (mu + a D(-a d)^T G),
 * D = dtau, right-trivialised, K = D^-1; on vectors both are 1. The unknowns are d and Lambda; the equations are
 *   p0 + b S(q0)^T Lambda = p(q0, u0) + delta,   S(q_a) xi + s = 0,   g(q1, t + h) / h = 0 for position constraints.
 * b = 1: the impulse acts at q0, and not at the nodes. The momentum at the end of a step is p1 = p(q1, u1) + delta1:
 * u1 satisfies the constraints at q1, delta1 is what is left. Where impulses act at q0 a change of delta along
 * S(q0)^T changes nothing but Lambda.
 * A rotation R and a vector x whose Lagrangian depends on R^T x' and Omega alone may be stepped as one factor, SE(3):
 * R1 = R0 exp(d), x1 = x0 + R0 D(d) v. The velocities are then d/h and v/h, with v = K(d) y, y = R0^T (x1 - x0). From
 * A = h l(d/h, v/h), with mu = l_Omega, c = l_{R^T x'} and w = mu + (dv/dd)^T c,
 *   p0 = K(d)^T w - (K(d)^T c) x y,    p1 = K(-d)^T w,
 * and both momenta of x are R0 K(d)^T c.
 * Sources: J. Cortes, S. Martinez, Nonlinearity 14, 1365-1392, 2001; N. Bou-Rabee, H. Owhadi, IMA J. Numer. Anal. 29,
 * 421-443, 2009, sections 4 and 5. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

/* A node of the quadrature: part a of the increment, weight w (a number). */
typedef struct node {
  ag_id a;
  double w;
} node;

typedef struct discrete {
  ag_system *sys;
  ag_graph *g;
  bool cayley;
  int nc, n_node;
  node nodes[2];
  const ag_step_inputs *in;
  ag_id *d, *delta; /* per coordinate: columns */
  ag_id lambda;     /* a column, 0: no constraints */
  ag_id *mu, *p0, *p1;
  ag_id *rows;  /* the rows of S xi + s, averaged over the nodes */
  ag_shaken of; /* Lagrangian, forces and transport */
  ag_id *xi;    /* per coordinate: the velocity of the step */
  int n_pair;
  int *pair; /* per rotation: the vector that is one factor with it, else -1; then xi of the vector is R^T x' in l */
  ag_id *v;  /* per coordinate: the increment h xi at the nodes */
} discrete;

/* ---- the pieces ---- */

static bool turns(const discrete *s, int i) { return s->sys->model->coords[i].space == AG_SPACE_SO3; }

static ag_id *new_ids(const discrete *s, int n) { return AG_NEWN(s->sys->arena, ag_id, n + 1); }

/* q and t, and their values at the fraction a of the increment: nc + 1 each. */
static void place(const discrete *s, ag_id a, ag_id *from, ag_id *to) {
  ag_graph *g = s->g;
  const ag_model *m = s->sys->model;
  for (int i = 0; i < s->nc; i++) {
    ag_id part = ag_mul(g, a, s->d[i]);
    from[i] = m->coords[i].q;
    to[i] = turns(s, i) ? ag_mul(g, m->coords[i].q, ag_tau(g, s->cayley, part)) : ag_add(g, m->coords[i].q, part);
  }
  from[s->nc] = m->t;
  to[s->nc] = ag_add(g, m->t, ag_mul(g, a, s->in->h));
}

/* x with q and t at the fraction a of the increment; xi is unchanged. */
static void move_to(const discrete *s, ag_id a, int n, ag_id *x) {
  ag_id *from = new_ids(s, s->nc), *to = new_ids(s, s->nc);
  place(s, a, from, to);
  ag_substitute(s->g, s->nc + 1, from, to, n, x);
}

/* Adds weight x of a node to a sum (0: nothing yet). */
static void add_to(const discrete *s, ag_id *sum, double weight, ag_id x) {
  ag_id part = ag_mul(s->g, ag_num(s->g, weight), x);
  *sum = *sum ? ag_add(s->g, *sum, part) : part;
}

/* xi = v/h, with noise minus the transport, averaged over the nodes: one velocity for the whole step. */
static void take_velocity(discrete *s) {
  ag_graph *g = s->g;
  for (int i = 0; i < s->nc; i++) s->xi[i] = ag_div(g, s->v[i], s->in->h);
  for (int j = 0; j < s->n_node && s->of.sigma && !s->n_pair; j++) {
    ag_id *sigma = new_ids(s, s->nc);
    memcpy(sigma, s->of.sigma, sizeof *sigma * (size_t)s->nc);
    ag_substitute(g, s->sys->n_held, s->sys->held, s->sys->held_value, s->nc, sigma);
    move_to(s, s->nodes[j].a, s->nc, sigma);
    for (int i = 0; i < s->nc; i++) add_to(s, &s->xi[i], -s->nodes[j].w, sigma[i]);
  }
}

/* x at a node, with the velocity of the step. */
static void at_node(const discrete *s, ag_id a, int n, ag_id *x) {
  const ag_model *m = s->sys->model;
  ag_id *from = new_ids(s, 2 * s->nc), *to = new_ids(s, 2 * s->nc);
  place(s, a, from, to);
  for (int i = 0; i < s->nc; i++) from[s->nc + 1 + i] = m->coords[i].xi, to[s->nc + 1 + i] = s->xi[i];
  ag_substitute(s->g, 2 * s->nc + 1, from, to, n, x);
}

/* S^T Lambda per coordinate, in (q, xi, t). */
static ag_id *impulse(const discrete *s) {
  ag_id *x = new_ids(s, s->nc), *xi = new_ids(s, s->nc);
  for (int i = 0; i < s->nc; i++) xi[i] = s->sys->model->coords[i].xi;
  ag_reverse(s->g, 1, &s->sys->kept_rows, &s->lambda, s->nc, xi, x);
  return x;
}

/* The contribution of G at one node to p0 and p1 of a coordinate, before K: to mu, plain and rotated. */
static void add_node(discrete *s, const node *j, ag_id G, int i) {
  ag_graph *g = s->g;
  ag_id d = s->d[i], a = j->a, last = G, here = ag_mul(g, a, G);
  if (turns(s, i)) {
    ag_id part = ag_mul(g, a, d), D = ag_dtau(g, s->cayley, ag_neg(g, part));
    here = ag_mul(g, ag_transpose(g, D), here);
    last = ag_mul(g, ag_tau(g, s->cayley, part), last);
  }
  add_to(s, &s->mu[i], j->w, here);
  add_to(s, &s->p0[i], j->w, ag_neg(g, last));
}

/* p0 and p1 of a rotation and its vector. */
static void join_momenta(discrete *s, int i) {
  ag_graph *g = s->g;
  int j = s->pair[i], at = s->sys->coords[i].tangent;
  ag_id R = s->sys->model->coords[i].q, d = s->d[i], y = ag_mul(g, ag_transpose(g, R), s->d[j]), by_d[3];
  ag_id c = s->mu[j], pulled = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, s->cayley, d)), c);
  ag_reverse(g, 1, &s->v[j], &c, 3, s->in->d + at, by_d);
  ag_id w = ag_add(g, s->mu[i], ag_stack(g, 3, 1, by_d)), turn = ag_cross(g, pulled, y);
  ag_id start = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, s->cayley, d)), w);
  s->p0[i] = ag_sub(g, start, turn);
  s->p1[i] = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, s->cayley, ag_neg(g, d))), w);
  s->p0[j] = s->p1[j] = ag_mul(g, R, pulled);
}

/* The effect of the transport on p besides rotating it: -dbar <mu, sigma> at fixed mu, at a node. */
static void pull(const discrete *s, ag_id a, const ag_id *mu, ag_id *out) {
  ag_graph *g = s->g;
  int nc = s->nc;
  ag_id *q = new_ids(s, nc), *held = new_ids(s, nc);
  for (int i = 0; i < nc; i++) {
    q[i] = s->sys->model->coords[i].q;
    held[i] = ag_input(g, "mu", s->sys->model->coords[i].dim, 1, AG_LEAF_REAL);
  }
  ag_reverse(g, nc, s->of.sigma, held, nc, q, out);
  ag_substitute(g, s->sys->n_held, s->sys->held, s->sys->held_value, nc, out);
  move_to(s, a, nc, out);
  ag_substitute(g, nc, held, mu, nc, out);
  for (int i = 0; i < nc; i++) out[i] = ag_neg(g, out[i]);
}

/* mu, and per node G (behind each other); the constraints. */
static void nodes(discrete *s, ag_id *mu, ag_id *G) {
  ag_graph *g = s->g;
  const ag_model *m = s->sys->model;
  int nc = s->nc, n = s->lambda ? 2 * nc + 1 : 2 * nc;
  ag_id one = ag_num(g, 1), *xi = new_ids(s, nc), *q = new_ids(s, nc), *all = new_ids(s, 2 * nc + 1);
  ag_id *push = s->lambda ? impulse(s) : NULL, at_nodes = ag_sub(g, one, s->in->b);
  for (int i = 0; i < nc; i++) xi[i] = m->coords[i].xi, q[i] = m->coords[i].q;
  for (int j = 0; j < s->n_node; j++) {
    ag_reverse(g, 1, &s->of.l, &one, nc, xi, all);
    ag_reverse(g, 1, &s->of.l, &one, nc, q, all + nc);
    for (int i = 0; i < nc; i++) {
      ag_id *x = &all[nc + i];
      *x = ag_mul(g, s->in->h, ag_add(g, *x, s->of.force[i]));
      if (push) *x = ag_add(g, *x, ag_mul(g, at_nodes, push[i]));
    }
    all[2 * nc] = s->sys->kept_rows;
    at_node(s, s->nodes[j].a, n, all);
    for (int i = 0; i < nc; i++) add_to(s, &mu[i], s->nodes[j].w, all[i]), G[j * nc + i] = all[nc + i];
    if (s->lambda) add_to(s, s->rows, s->nodes[j].w, all[2 * nc]);
  }
  for (int j = 0; j < s->n_node && s->of.sigma && !s->n_pair; j++) {
    pull(s, s->nodes[j].a, mu, all);
    for (int i = 0; i < nc; i++) G[j * nc + i] = ag_add(g, G[j * nc + i], ag_mul(g, s->in->h, all[i]));
  }
}

/* p0 and p1 of all coordinates. */
static void momenta(discrete *s) {
  ag_graph *g = s->g;
  int nc = s->nc;
  ag_id *G = new_ids(s, 2 * nc);
  take_velocity(s);
  nodes(s, s->mu, G);
  for (int j = 0; j < s->n_node; j++)
    for (int i = 0; i < nc; i++) add_node(s, &s->nodes[j], G[j * nc + i], i);
  for (int i = 0; i < nc; i++) {
    ag_id start = s->mu[i], end = s->mu[i];
    if (turns(s, i)) {
      start = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, s->cayley, s->d[i])), start);
      end = ag_mul(g, ag_transpose(g, ag_dtau_inverse(g, s->cayley, ag_neg(g, s->d[i]))), end);
    }
    s->p0[i] = ag_add(g, start, s->p0[i]);
    s->p1[i] = end;
  }
  for (int i = 0; i < nc; i++)
    if (s->pair[i] >= 0) join_momenta(s, i);
}

/* The equations, coordinate by coordinate, then the constraints. */
static ag_id *equations(const discrete *s) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  ag_id *R = new_ids(s, sys->n.xi + sys->n.lambda), *push = s->lambda ? impulse(s) : NULL;
  int n = 0, first_g = sys->n.lambda - ag_kept_positions(sys);
  for (int i = 0; i < s->nc; i++) {
    ag_id given = ag_add(g, sys->p_of_u[i], s->delta[i]), x = ag_sub(g, s->p0[i], given);
    if (push) x = ag_sub(g, x, ag_mul(g, s->in->b, push[i]));
    for (int k = 0; k < sys->model->coords[i].dim; k++) R[n++] = ag_entry(g, x, k, 0);
  }
  for (int k = 0; k < sys->n.lambda; k++) {
    ag_id x = ag_entry(g, s->rows[0], k, 0);
    if (k >= first_g) {
      x = sys->kept_g[k - first_g];
      move_to(s, ag_num(g, 1), 1, &x);
      x = ag_div(g, x, s->in->h);
    }
    R[n++] = x;
  }
  return R;
}

/* u1, and the rest of p1. */
static void make_end(const discrete *s, int role) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  int nc = s->nc, n_in = sys->n_u_input, m = ag_turn_tangent(sys), at = 0;
  ag_id *P = new_ids(s, nc), *part = new_ids(s, n_in), *zeros = new_ids(s, n_in), *u = new_ids(s, n_in);
  ag_id *outs = new_ids(s, sys->n.u + m), *p = new_ids(s, nc), x[3];
  int n_mass = sys->mass ? 0 : sys->M_at.n;
  ag_id *M = new_ids(s, n_mass);
  for (int i = 0; i < nc; i++) P[i] = ag_input(g, "p1", sys->model->coords[i].dim, 1, AG_LEAF_REAL);
  for (int i = 0; i < n_in; i++) zeros[i] = ag_zero(g, ag_node_rows(g, sys->u_inputs[i]), 1);
  ag_reverse(g, nc, sys->xi_of_u, P, n_in, sys->u_inputs, part);
  x[0] = sys->mass ? sys->mass : ag_num(g, 0), x[1] = ag_concat(g, n_in, part), x[2] = sys->momentum;
  if (n_mass) memcpy(M, sys->M_at.x, sizeof *M * (size_t)n_mass);
  ag_substitute(g, n_in, sys->u_inputs, zeros, 3, x);
  ag_substitute(g, n_in, sys->u_inputs, zeros, n_mass, M);
  move_to(s, ag_num(g, 1), 3, x);
  move_to(s, ag_num(g, 1), n_mass, M);
  ag_id free_part = ag_sub(g, x[1], x[2]);
  ag_substitute(g, nc, P, s->p1, 1, &free_part);
  const ag_pattern of_M = {sys->n.u, n_mass, sys->M_at.row, sys->M_at.col, NULL};
  ag_id u1 = n_mass ? ag_solve_sparse(g, &of_M, M, free_part) : ag_solve(g, x[0], free_part, AG_SOLVE_SPD);
  for (int i = 0; i < n_in; i++) {
    int dim = ag_node_rows(g, sys->u_inputs[i]);
    u[i] = ag_rows_of(g, u1, at, dim);
    at += dim;
  }
  memcpy(p, sys->p_of_u, sizeof *p * (size_t)nc);
  move_to(s, ag_num(g, 1), nc, p);
  ag_substitute(g, n_in, sys->u_inputs, u, nc, p);
  for (int k = 0; k < sys->n.u; k++) outs[k] = ag_entry(g, u1, k, 0);
  for (int k = 0; k < m; k++) outs[sys->n.u + k] = ag_num(g, 0);
  for (int i = 0, k = 0; i < nc; i++) {
    ag_id left = ag_sub(g, s->p1[i], p[i]);
    for (int c = 0; c < sys->model->coords[i].dim; c++, k++) outs[sys->n.u + s->in->place[k]] = ag_entry(g, left, c, 0);
  }
  ag_split_leaves(sys, sys->n.u + m, outs);
  ag_role_make(sys, role, sys->n.u + m, outs);
}

/* The number of an equation or unknown: coordinates in the order of the tangent of z, then the constraints. */
static int order_of(const ag_system *sys, const ag_step_inputs *in, int u_at, int k) {
  if (k >= sys->n.xi) return k;
  return in->place[k] < u_at ? in->place[k] : in->place[k] - sys->n.u;
}

/* The Jacobian by its entries; false: there are too many. Impulses have none on the diagonal, and wait for the
 * increments. */
static bool make_sparse(const discrete *s, int role, int n, const ag_id *R, const ag_id *inputs) {
  ag_system *sys = s->sys;
  int u_at = s->in->u_at;
  ag_sparse J;
  ag_jacobian_sparse(s->g, ag_concat(s->g, n, R), n, inputs, &J);
  ag_entries e = {.g = s->g};
  for (int i = 0; i < n; i++) ag_entries_add(&e, i, i, 0);
  for (int k = 0; k < J.n_entry; k++)
    ag_entries_add(&e, order_of(sys, s->in, u_at, J.row[k]), order_of(sys, s->in, u_at, J.col[k]), J.x[k]);
  ag_sparse_done(&J);
  ag_entries_gather(&e);
  unsigned char *marks = ag_heap_alloc((size_t)n + 1);
  memset(marks + sys->n.xi, AG_MARK_MULTIPLIER, (size_t)sys->n.lambda);
  bool sparse = ag_entries_table(sys, role, n, &e, marks);
  if (sparse) {
    ag_id *outs = new_ids(s, n + e.n);
    for (int i = 0; i < n; i++) outs[order_of(sys, s->in, u_at, i)] = R[i];
    for (int k = 0; k < e.n; k++) outs[n + k] = e.at[k].x;
    ag_split_leaves(sys, n + e.n, outs);
    ag_role_make(sys, role, n + e.n, outs);
  }
  free(marks), free(e.at);
  return sparse;
}

static void make_step(const discrete *s, int role) {
  ag_graph *g = s->g;
  ag_system *sys = s->sys;
  int n = sys->n.xi + sys->n.lambda, u_at = s->in->u_at;
  ag_id *R = equations(s), *inputs = new_ids(s, n);
  memcpy(inputs, s->in->d, sizeof *inputs * (size_t)sys->n.xi);
  memcpy(inputs + sys->n.xi, s->in->lambda, sizeof *inputs * (size_t)sys->n.lambda);
  if (n > AG_MOST_DENSE && make_sparse(s, role, n, R, inputs)) return;
  ag_id *outs = new_ids(s, n + n * n), J = ag_jacobian(g, ag_concat(g, n, R), n, inputs);
  for (int i = 0; i < n; i++) {
    int row = order_of(sys, s->in, u_at, i);
    outs[row] = R[i];
    for (int k = 0; k < n; k++) outs[n + row * n + order_of(sys, s->in, u_at, k)] = ag_entry(g, J, i, k);
  }
  ag_split_leaves(sys, n + n * n, outs);
  ag_role_make(sys, role, n + n * n, outs);
}

/* ---- inputs ---- */

int ag_tangent_places(const ag_system *sys, int *place) {
  int *at = ag_heap_alloc(sizeof *at * (size_t)(sys->n.z + 1)), n = 0;
  for (int z = 0; z < sys->n.z; z++) at[z] = 1;
  for (int i = 0; i < sys->n_image; i++)
    for (int k = 0; k < 3; k++) at[sys->images[i].z + k] = 0;
  for (int i = 0; i < sys->model->n_coords; i++)
    if (sys->model->coords[i].space == AG_SPACE_SO3) at[sys->q_in_z[sys->coords[i].at] + 3] = 0;
  for (int z = 0; z < sys->n.z; z++) {
    int size = at[z];
    at[z] = n, n += size;
  }
  int u_at = at[sys->n.u_at];
  for (int i = 0, k = 0; i < sys->model->n_coords; i++) {
    bool turned = sys->model->coords[i].space == AG_SPACE_SO3;
    for (int c = 0; c < sys->model->coords[i].dim; c++, k++)
      place[k] = at[sys->q_in_z[sys->coords[i].at + (turned ? 0 : c)]] + (turned ? c : 0);
  }
  free(at);
  return u_at;
}

void ag_split_leaves(ag_system *sys, int n, ag_id *outs) {
  for (int i = 0; i < sys->model->n_coords; i++) {
    if (!sys->q_leaf[i]) continue;
    ag_id stack = ag_stack(sys->model->graph, sys->coords[i].n, 1, sys->q_leaf[i]);
    ag_substitute(sys->model->graph, 1, &sys->model->coords[i].q, &stack, n, outs);
  }
}

const ag_step_inputs *ag_step_inputs_of(ag_system *sys) {
  if (sys->step) return sys->step;
  ag_graph *g = sys->model->graph;
  ag_step_inputs *in = AG_NEWN(sys->arena, ag_step_inputs, 1);
  in->d = AG_NEWN(sys->arena, ag_id, sys->n.xi + 1);
  in->delta = AG_NEWN(sys->arena, ag_id, sys->n.xi + 1);
  in->lambda = AG_NEWN(sys->arena, ag_id, sys->n.lambda + 1);
  in->place = AG_NEWN(sys->arena, int, sys->n.xi + 1);
  for (int k = 0; k < sys->n.xi; k++) {
    in->d[k] = ag_input(g, "d", 1, 1, AG_LEAF_REAL);
    in->delta[k] = ag_input(g, "delta", 1, 1, AG_LEAF_REAL);
  }
  for (int k = 0; k < sys->n.lambda; k++) in->lambda[k] = ag_input(g, "Lambda", 1, 1, AG_LEAF_REAL);
  in->h = ag_input(g, "h", 1, 1, AG_LEAF_REAL);
  in->a = ag_input(g, "a", 1, 1, AG_LEAF_REAL);
  in->b = ag_input(g, "b", 1, 1, AG_LEAF_REAL);
  in->u_at = ag_tangent_places(sys, in->place);
  return sys->step = in;
}

int ag_bind_step(const ag_system *sys, ag_bind *binds) {
  const ag_step_inputs *in = sys->step;
  int k = 0, at = sys->n.z, m = ag_turn_tangent(sys), r = sys->n.lambda;
  if (!in) return 0;
  for (int i = 0; i < sys->n.xi; i++) {
    binds[k++] = (ag_bind){in->d[i], AG_SEG_Z, at + in->place[i]};
    binds[k++] = (ag_bind){in->delta[i], AG_SEG_Z, at + m + r + in->place[i]};
  }
  for (int i = 0; i < r; i++) binds[k++] = (ag_bind){in->lambda[i], AG_SEG_Z, at + m + i};
  at += 2 * m + r;
  binds[k++] = (ag_bind){in->h, AG_SEG_Z, at};
  binds[k++] = (ag_bind){in->a, AG_SEG_Z, at + 1};
  binds[k++] = (ag_bind){in->b, AG_SEG_Z, at + 2};
  return k;
}

/* ---- making ---- */

/* A transport of pairs, constant in the body, becomes a part of v; false: it is not constant. */
static bool body_transport(discrete *s) {
  ag_graph *g = s->g;
  const ag_model *m = s->sys->model;
  for (int i = 0; i < s->nc && s->of.sigma; i++) {
    if (s->pair[i] < 0) continue;
    int j = s->pair[i];
    const ag_id places[3] = {m->coords[i].q, m->coords[j].q, m->t};
    ag_id sigma[2] = {s->of.sigma[i], ag_mul(g, ag_transpose(g, m->coords[i].q), s->of.sigma[j])};
    if (ag_depends(g, 2, sigma, 3, places) || ag_depends(g, 2, sigma, s->sys->n_held, s->sys->held)) return false;
    for (int k = 0; k < 2; k++) {
      ag_id *v = &s->v[k ? j : i];
      *v = ag_sub(g, *v, ag_mul(g, s->in->h, sigma[k]));
    }
  }
  return true;
}

/* Every rotation with a vector, and nothing else: the Lagrangian in Omega and R^T x' does not depend on t, R and x. */
static bool find_pairs(discrete *s) {
  ag_graph *g = s->g;
  const ag_model *m = s->sys->model;
  for (int i = 0; i < s->nc; i++)
    for (int j = 0; j < s->nc && turns(s, i) && s->pair[i] < 0; j++) {
      const ag_id places[3] = {m->coords[i].q, m->coords[j].q, m->t};
      ag_id l = s->of.l, velocity = m->coords[j].xi, R = m->coords[i].q;
      if (m->coords[j].space != AG_SPACE_R || m->coords[j].dim != 3) continue;
      ag_id body = ag_mul(g, R, velocity);
      ag_substitute(g, 1, &velocity, &body, 1, &l);
      if (ag_depends(g, 1, &l, 3, places)) continue;
      if (!ag_is_zero(g, s->of.force[i]) || !ag_is_zero(g, s->of.force[j])) continue;
      ag_id y = ag_mul(g, ag_transpose(g, R), s->d[j]);
      s->of.l = l, s->pair[i] = j, s->v[j] = ag_mul(g, ag_dtau_inverse(g, s->cayley, s->d[i]), y), s->n_pair++;
    }
  return 2 * s->n_pair == s->nc && !s->sys->n.lambda && body_transport(s);
}

const char *ag_system_discrete_lacks(const ag_system *sys, ag_discrete_form form, bool noise) {
  if (!sys->p_of_u) return "velocities that are eliminated";
  if (!sys->n_u_input) return "independent velocities";
  if (!sys->mass && (noise || form == AG_DISCRETE_SPARK)) return "a dense mass matrix";
  if (sys->n.process) return "a state without processes";
  if (sys->n.switches) return "equations without switches";
  if (sys->n.lambda != sys->n.rank || sys->n.rank < sys->n.row) return "independent constraints";
  if (form == AG_DISCRETE_SPARK && noise) return "motions without noise";
  if (form == AG_DISCRETE_SPARK && sys->n.g) return "constraints of velocities alone";
  if (form == AG_DISCRETE_SE3 && !sys->tapes[ag_discrete_role_of(form, noise)])
    return "a Lagrangian of R^T x' and Omega alone, without constraints and forces";
  return NULL;
}

/* The two roles of a form, from `role` on. */
static bool make(ag_system *sys, ag_discrete_form form, ag_shaken of, int role) {
  ag_graph *g = sys->model->graph;
  discrete s = {.sys = sys, .g = g, .cayley = form == AG_DISCRETE_CAYLEY, .nc = sys->model->n_coords, .of = of};
  s.in = ag_step_inputs_of(sys);
  s.n_node = form == AG_DISCRETE_TRAPEZOID ? 2 : 1;
  s.nodes[0] = (node){form == AG_DISCRETE_TRAPEZOID ? ag_num(g, 0) : s.in->a, 1.0 / s.n_node};
  s.nodes[1] = (node){ag_num(g, 1), 0.5};
  s.d = new_ids(&s, s.nc), s.delta = new_ids(&s, s.nc);
  s.mu = new_ids(&s, s.nc), s.p0 = new_ids(&s, s.nc), s.p1 = new_ids(&s, s.nc), s.rows = new_ids(&s, 1);
  for (int i = 0, at = 0; i < s.nc; i++) {
    int dim = sys->model->coords[i].dim;
    s.d[i] = ag_stack(g, dim, 1, s.in->d + at);
    s.delta[i] = ag_stack(g, dim, 1, s.in->delta + at);
    at += dim;
  }
  s.xi = new_ids(&s, s.nc), s.pair = AG_NEWN(sys->arena, int, s.nc + 1), s.v = new_ids(&s, s.nc);
  for (int i = 0; i < s.nc; i++) s.pair[i] = -1, s.v[i] = s.d[i];
  if (form == AG_DISCRETE_SE3 && !find_pairs(&s)) return false;
  if (sys->n.lambda) s.lambda = ag_stack(g, sys->n.lambda, 1, s.in->lambda);
  momenta(&s);
  make_step(&s, role);
  make_end(&s, role + 1);
  return true;
}

bool ag_system_discrete(ag_system *sys, ag_discrete_form form, bool noise) {
  int role = ag_discrete_role_of(form, noise);
  bool spark = form == AG_DISCRETE_SPARK;
  if (ag_system_discrete_lacks(sys, spark ? form : AG_DISCRETE_EXP, noise)) return false;
  if (sys->tapes[role]) return true;
  if (!spark) return make(sys, form, ag_shaken_of(sys, noise), role);
  ag_spark_make(sys, role);
  return true;
}

/* ---- for other discrete equations ---- */

void ag_discrete_end(ag_system *sys, ag_id *d, ag_id *p1, int role) {
  discrete s = {.sys = sys, .g = sys->model->graph, .nc = sys->model->n_coords, .in = sys->step, .d = d, .p1 = p1};
  make_end(&s, role);
}

bool ag_system_quiet(ag_system *sys) {
  if (!ag_system_field(sys, AG_FIELD_OF_BATH)) return false;
  if (sys->tapes[AG_ROLE_QUIET]) return true;
  ag_shaken of = ag_shaken_of(sys, false);
  ag_shaken_quiet(sys, &of);
  return make(sys, AG_DISCRETE_TRAPEZOID, of, AG_ROLE_QUIET);
}
