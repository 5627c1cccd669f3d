/* SPDX-License-Identifier: MIT
 * Symmetries of bodies, grounds and joints together, as generators.
 *   A group of bodies moved along d:  x' = d. A plane (not spinning) must contain d, a cylinder must have it as its
 *     axis, other grounds and joints in space forbid it; gravity must not feel it.
 *   A group turned about the axis N through O:  omega = N, x' = N x (x - O). Every ground must be one of revolution
 *     about it (and spin about it, if at all), every joint in space must stand on it.
 *   One body turned about its own axis a:  Omega = a. Its mass, its surface, the ground it carries must be symmetric
 *     about a, its joints stand on a, hinges turn about it.
 * Joints and contacts between bodies of a group follow the motion of the group. What the rest of the model says
 * (further potentials, constraints, forces) must have derivative 0 along the motion, as an identity in coordinates,
 * velocities, t and parameters. */
#include <stdint.h>
#include <string.h>

#include "expr/residue.h"
#include "model/body_internal.h"

/* One motion: per coordinate a velocity or 0. */
typedef struct motion {
  ag_id *v;
  int n;
} motion;

static bool is_none(const ag_graph *g, ag_id x) { return !x || ag_is_zero(g, x); }

/* 0 by its form, or the number 0: no tolerance, whatever the scale of the model. */
static bool is_nothing(ag_graph *g, ag_id x) {
  double v;
  return ag_is_zero(g, x) || (ag_constant(g, x, &v) && v == 0);
}

static bool vanishes(ag_graph *g, ag_id v) {
  for (int i = 0; i < ag_node_rows(g, v); i++)
    if (!is_nothing(g, ag_entry(g, v, i, 0))) return false;
  return true;
}

static bool parallel(ag_graph *g, ag_id a, ag_id b) { return a == b || vanishes(g, ag_cross(g, a, b)); }

/* a.b = 0 by its form, component by component so that equal products cancel. */
static bool across(ag_graph *g, ag_id a, ag_id b) {
  ag_id sum = ag_num(g, 0);
  for (int i = 0; i < 3; i++) {
    ag_id ai = ag_entry(g, a, i, 0), bi = ag_entry(g, b, i, 0);
    sum = ag_add(g, sum, ag_mul(g, ai, bi));
  }
  return is_nothing(g, sum);
}

/* ---- does the rest of the model allow it? ---- */

/* The expressions that must be invariant: the Lagrangian, and constraints other than contacts and joints. */
static int watched(const ag_model *m, ag_id *x) {
  int n = 0;
  bool *contact = ag_heap_alloc((size_t)m->n_constraints + 1), *joint = ag_heap_alloc((size_t)m->n_holonomics + 1);
  for (int i = 0; i < m->n_contacts; i++) {
    const ag_contact *c = m->contacts[i];
    if (c->constraint >= 0) contact[c->constraint] = true;
    if (c->rubber >= 0) contact[c->rubber] = true;
  }
  for (int i = 0; i < m->n_joints; i++)
    if (m->joints[i]->holonomic >= 0) joint[m->joints[i]->holonomic] = true;
  x[n++] = m->lagrangian;
  for (int i = 0; i < m->n_constraints; i++)
    if (!contact[i]) x[n++] = m->constraints[i].x;
  for (int i = 0; i < m->n_holonomics; i++)
    if (!joint[i]) x[n++] = m->holonomics[i].x;
  for (int i = 0; i < m->n_prescribes; i++) x[n++] = m->prescribes[i].x;
  free(contact), free(joint);
  return n;
}

/* Tangent lift of the motion Z: dq = Z, dxi = D_xi Z + ad_xi Z (Omega x Z on a rotation). */
static bool lift(ag_model *m, const motion *z, ag_id *inputs, ag_id *seeds) {
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord c = m->coords[i];
    ag_id rate = ag_zero(g, c.dim, 1);
    inputs[i] = c.q;
    inputs[m->n_coords + i] = c.xi;
    seeds[i] = seeds[m->n_coords + i] = rate;
    if (!z->v[i]) continue;
    seeds[i] = z->v[i];
    if (!ag_model_prime(m, seeds[i], &rate)) return false;
    if (c.space == AG_SPACE_SO3) rate = ag_add(g, rate, ag_cross(g, c.xi, seeds[i]));
    seeds[m->n_coords + i] = rate;
  }
  return true;
}

/* The power F.eta of the forces at other velocities eta: a covector field is invariant if this does not change while
 * eta is transported like a velocity. 0: no forces. */
static ag_id power(const ag_model *m, const ag_id *eta) {
  ag_graph *g = m->graph;
  ag_id sum = 0;
  for (int i = 0; i < m->n_forces; i++) {
    const ag_assign *f = &m->forces[i];
    ag_id along = f->row >= 0 ? ag_entry(g, eta[f->coord], f->row, 0) : eta[f->coord];
    ag_id one = ag_dot(g, f->x, along);
    sum = sum ? ag_add(g, sum, one) : one;
  }
  return sum;
}

/* Operations that jump: their derivative is 0 though their value may change. What they compare must be invariant. */
static bool jumps(ag_op op) {
  return op == AG_OP_SIGN || op == AG_OP_LT || op == AG_OP_LE || op == AG_OP_EQ || op == AG_OP_NE;
}

static int compared(const ag_graph *g, int n, ag_id **x, int cap) {
  int count = ag_graph_count(g), n_all = n;
  unsigned char *in = ag_heap_alloc((size_t)count + 1);
  for (int i = 0; i < n; i++) in[(*x)[i]] = 1;
  for (ag_id y = (ag_id)count; y >= 1; y--) { /* arguments come before what is made of them */
    if (!in[y]) continue;
    for (int k = 0; k < ag_node_n_arg(g, y); k++) {
      ag_id a = ag_node_arg(g, y, k);
      in[a] = 1;
      if (!jumps(ag_node_op(g, y))) continue;
      AG_PUSH(*x, n_all, cap);
      (*x)[n_all++] = a;
    }
  }
  free(in);
  return n_all;
}

/* Are the expressions d of the inputs (and of parameters and t) 0 everywhere? Never decided by numbers that happen to
 * be small; undecided counts as no. */
static bool vanish_everywhere(ag_model *m, int n_in, const ag_id *inputs, int n, const ag_id *d) {
  int n_all = 0;
  ag_id *all = ag_heap_alloc(sizeof *all * (size_t)(n_in + m->n_params + m->n_processes + 1));
  for (int i = 0; i < n_in; i++) all[n_all++] = inputs[i];
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) all[n_all++] = m->params[i].input; /* not a whole number */
  for (int i = 0; i < m->n_processes; i++) all[n_all++] = m->processes[i].x;
  all[n_all++] = m->t;
  bool zero = ag_residue_vanish(m->graph, n_all, all, n, d);
  free(all);
  return zero;
}

static bool allowed(ag_model *m, const motion *z) {
  ag_graph *g = m->graph;
  int room = 2 + m->n_constraints + m->n_holonomics + m->n_prescribes;
  size_t n_c = (size_t)m->n_coords;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)room), *inputs = ag_heap_alloc(sizeof *inputs * 6 * n_c);
  ag_id *seeds = inputs + 3 * n_c, *eta = inputs + 2 * n_c, *xi = inputs + n_c;
  int n = watched(m, x);
  bool ok = lift(m, z, inputs, seeds);
  for (size_t i = 0; i < n_c; i++) eta[i] = ag_input(g, "eta", m->coords[i].dim, 1, AG_LEAF_REAL);
  for (size_t i = 0; ok && i < n_c; i++) seeds[2 * n_c + i] = seeds[n_c + i];
  if (ok) ag_substitute(g, m->n_coords, xi, eta, m->n_coords, seeds + 2 * n_c);
  ag_id forces = power(m, eta);
  if (forces) x[n++] = forces;
  n = compared(g, n, &x, room);
  ag_id *d = ag_heap_alloc(sizeof *d * (size_t)n);
  if (ok) {
    ag_forward(g, 3 * m->n_coords, inputs, seeds, n, x, d);
    ok = vanish_everywhere(m, 3 * m->n_coords, inputs, n, d);
  }
  free(d);
  free(x);
  free(inputs);
  return ok;
}

/* ---- groups ---- */

/* part[i]: the group of body i, named after its first body. */
static void join(const ag_model *m, int *part, const ag_body *a, const ag_body *b) {
  int ia = 0, ib = 0;
  for (int i = 0; i < m->n_bodies; i++) {
    if (m->bodies[i] == a) ia = part[i];
    if (m->bodies[i] == b) ib = part[i];
  }
  int to = ia < ib ? ia : ib, from = ia < ib ? ib : ia;
  for (int i = 0; i < m->n_bodies; i++)
    if (part[i] == from) part[i] = to;
}

static int *groups(const ag_model *m) {
  int *part = ag_heap_alloc(sizeof *part * (size_t)(m->n_bodies + 1));
  for (int i = 0; i < m->n_bodies; i++) part[i] = i;
  for (int i = 0; i < m->n_contacts; i++)
    if (m->contacts[i]->ground.carrier) join(m, part, m->contacts[i]->body, m->contacts[i]->ground.carrier);
  for (int i = 0; i < m->n_joints; i++)
    if (m->joints[i]->A && m->joints[i]->B) join(m, part, m->joints[i]->A, m->joints[i]->B);
  return part;
}

/* Bodies that move together: those of one group, or all. */
typedef struct body_group {
  ag_model *m;
  const int *part, *part_of; /* per body; of the body whose rotation is this coordinate */
  int group;                 /* -1: all */
  const char *name;
} body_group;

static bool belongs(const body_group *f, const ag_body *b) { return f->group < 0 || f->part_of[b->R] == f->group; }

static bool is_light(const body_group *f) {
  for (int i = 0; i < f->m->n_bodies; i++)
    if (belongs(f, f->m->bodies[i]) && !is_none(f->m->graph, f->m->bodies[i]->gravity)) return false;
  return true;
}

static const ag_contact *space_contact(const body_group *f, int i) {
  const ag_contact *c = f->m->contacts[i];
  return !c->ground.carrier && belongs(f, c->body) ? c : NULL;
}

/* The point in space of a joint, with its axis in *axis (0: a ball joint); 0: not attached to space, or not in this
 * group. */
static ag_id space_joint(const body_group *f, int i, ag_id *axis) {
  const ag_joint *j = f->m->joints[i];
  if ((j->A && j->B) || !belongs(f, j->A ? j->A : j->B)) return 0;
  *axis = j->A ? j->b : j->a;
  return j->A ? j->q : j->p;
}

/* ---- generators ---- */

static bool declare(ag_model *m, const char *name, const motion *z) {
  for (int i = 0; i < m->n_generators; i++)
    if (!strcmp(m->generators[i].name, name)) return true;
  if (!allowed(m, z)) return false;
  ag_pos pos = m->bodies[0]->pos;
  ag_generator made = {.name = name, .parts = AG_NEWN(m->arena, ag_assign, z->n), .pos = pos};
  for (int i = 0; i < z->n; i++)
    if (z->v[i]) made.parts[made.n++] = (ag_assign){i, -1, z->v[i], m->coords[i].pos, false};
  AG_MODEL_PUSH(m, generators, made);
  return true;
}

/* Does every single group already have the symmetry requested for all bodies together? */
static bool has_each(const body_group *f, const char *word) {
  if (f->group >= 0) return false;
  for (int i = 0; i < f->m->n_bodies; i++) {
    const char *name = ag_arena_printf(f->m->arena, "%s.%s", f->m->bodies[i]->name, word);
    bool has = f->part[i] != i;
    for (int k = 0; k < f->m->n_generators && !has; k++) has = !strcmp(f->m->generators[k].name, name);
    if (!has) return false;
  }
  return true;
}

static motion no_motion(const ag_model *m) { return (motion){AG_NEWN(m->arena, ag_id, m->n_coords + 1), m->n_coords}; }

/* normal: the vector d is perpendicular to by construction, as a product of vectors with it; 0: nothing. Its rounded
 * product with the normal need not be 0. */
static bool can_shift(const body_group *f, ag_id d, ag_id normal) {
  ag_graph *g = f->m->graph;
  if (!is_light(f) && !is_nothing(g, ag_entry(g, d, 2, 0))) return false;
  for (int i = 0; i < f->m->n_contacts; i++) {
    const ag_contact *c = space_contact(f, i);
    if (!c) continue;
    ag_ground_frame at = ag_contact_frame(f->m, &c->ground);
    bool plane = c->ground.kind == AG_GROUND_PLANE && !c->ground.spin && (at.N == normal || across(g, d, at.N));
    if (!plane && !(c->ground.kind == AG_GROUND_CYLINDER && parallel(g, d, at.N))) return false;
  }
  ag_id axis;
  for (int i = 0; i < f->m->n_joints; i++)
    if (space_joint(f, i, &axis)) return false;
  return true;
}

static bool shift(const body_group *f, const char *word, ag_id d, ag_id normal) {
  if (has_each(f, word) || !can_shift(f, d, normal)) return true; /* nothing is broken */
  double square;
  if (!ag_body_number(f->m, ag_dot(f->m->graph, d, d), &square) || square < 1e-20) return true; /* e3 x N, N upright */
  motion z = no_motion(f->m);
  d = ag_body_unit(f->m->graph, d); /* tested as it was: equal products cancel */
  for (int i = 0; i < f->m->n_bodies; i++)
    if (belongs(f, f->m->bodies[i])) z.v[f->m->bodies[i]->x] = d;
  return declare(f->m, ag_arena_printf(f->m->arena, "%s.%s", f->name, word), &z);
}

static bool can_turn(const body_group *f, ag_id N, ag_id O) {
  ag_graph *g = f->m->graph;
  if (!is_light(f) && N != ag_body_axis(g, 2)) return false;
  for (int i = 0; i < f->m->n_contacts; i++) {
    const ag_contact *c = space_contact(f, i);
    if (!c) continue;
    ag_ground_frame at = ag_contact_frame(f->m, &c->ground);
    bool same_axis = parallel(g, at.N, N), centred = parallel(g, ag_sub(g, at.O, O), N);
    if (c->ground.kind == AG_GROUND_PLANE && !c->ground.spin) centred = true; /* a plane is the same everywhere */
    if (c->ground.kind == AG_GROUND_SPHERE) same_axis = same_axis || !c->ground.spin;
    if (!at.still || !same_axis || !centred) return false;
  }
  for (int i = 0; i < f->m->n_joints; i++) {
    ag_id axis = 0, p = space_joint(f, i, &axis);
    if (!p) continue;
    if (ag_body_moves(f->m, p) || !parallel(g, ag_sub(g, p, O), N) || (axis && !parallel(g, axis, N))) return false;
  }
  return true;
}

static bool turn(const body_group *f, const char *word, ag_id N, ag_id O) {
  ag_graph *g = f->m->graph;
  if (has_each(f, word) || !can_turn(f, N, O)) return true;
  motion z = no_motion(f->m);
  for (int i = 0; i < f->m->n_bodies; i++) {
    const ag_body *b = f->m->bodies[i];
    if (!belongs(f, b)) continue;
    z.v[b->R] = ag_mul(g, ag_transpose(g, f->m->coords[b->R].q), N);
    z.v[b->x] = ag_cross(g, N, ag_sub(g, f->m->coords[b->x].q, O));
  }
  return declare(f->m, ag_arena_printf(f->m->arena, "%s.%s", f->name, word), &z);
}

/* Horizontal directions for a free group or one on level ground; otherwise those of the first plane or cylinder.
 * Returns false if the rest of the model breaks one of them. */
static bool shifts(const body_group *f) {
  ag_graph *g = f->m->graph;
  ag_id e3 = ag_body_axis(g, 2), x = ag_body_axis(g, 0), y = ag_body_axis(g, 1), z = e3, normal = 0;
  for (int i = f->m->n_contacts - 1; i >= 0; i--) {
    const ag_contact *c = space_contact(f, i);
    if (!c) continue;
    ag_ground_frame at = ag_contact_frame(f->m, &c->ground);
    if (at.upright) continue;
    normal = z = at.N;
    x = ag_cross(g, e3, normal);
    y = ag_cross(g, normal, x);
  }
  bool first = shift(f, "along_x", x, normal), second = shift(f, "along_y", y, normal),
       third = shift(f, "along_z", z, 0);
  return first && second && third;
}

/* Where an axis may be: in the ground or a joint; free: at the origin. */
static bool turns(const body_group *f) {
  ag_graph *g = f->m->graph;
  ag_id e3 = ag_body_axis(g, 2), O = 0, N = e3, axis = 0;
  for (int i = f->m->n_contacts - 1; i >= 0; i--) {
    const ag_contact *c = space_contact(f, i);
    if (!c) continue;
    ag_ground_frame at = ag_contact_frame(f->m, &c->ground);
    bool anywhere = c->ground.kind == AG_GROUND_PLANE && !c->ground.spin;
    if (!O || !anywhere) O = at.O;
    if (c->ground.kind != AG_GROUND_SPHERE || c->ground.spin) N = at.N;
  }
  for (int i = 0; i < f->m->n_joints; i++) {
    ag_id p = space_joint(f, i, &axis);
    if (!p) continue;
    O = p;
    if (axis) N = axis;
  }
  if (!O) O = ag_zero(g, 3, 1);
  bool ok = turn(f, "turn", N, O);
  if (N != e3) return ok;
  bool first = turn(f, "turn_x", ag_body_axis(g, 0), O), second = turn(f, "turn_y", ag_body_axis(g, 1), O);
  return ok && first && second;
}

/* ---- spins ---- */

/* Is the mass of the body symmetric about the axis through the centre of its surface? */
static bool symmetric_mass(ag_graph *g, const ag_body *b, ag_id axis) {
  ag_id hat = ag_hat(g, axis);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      ag_id left = ag_num(g, 0), right = left;
      for (int k = 0; k < 3; k++) {
        ag_id h_ik = ag_entry(g, hat, i, k), I_kj = ag_entry(g, b->inertia, k, j);
        ag_id I_ik = ag_entry(g, b->inertia, i, k), h_kj = ag_entry(g, hat, k, j);
        left = ag_add(g, left, ag_mul(g, h_ik, I_kj));
        right = ag_add(g, right, ag_mul(g, I_ik, h_kj));
      }
      if (!is_nothing(g, ag_sub(g, left, right))) return false;
    }
  return !b->centre || vanishes(g, ag_cross(g, axis, b->centre));
}

/* The bodies it carries, and its joints, must be symmetric about the axis too. */
static bool free_to_spin(const ag_model *m, const ag_body *b, ag_id axis) {
  ag_graph *g = m->graph;
  for (int i = 0; i < m->n_contacts; i++) {
    const ag_ground *gr = &m->contacts[i]->ground;
    if (gr->carrier != b) continue;
    if (gr->kind == AG_GROUND_BODY) {
      ag_id own = ag_surface_axis(g, &b->surface);
      if (b->surface.kind != AG_SURFACE_SPHERE && (!own || !parallel(g, own, axis))) return false;
      continue;
    }
    if (gr->kind != AG_GROUND_PLANE && gr->origin && !parallel(g, gr->origin, axis)) return false;
    if ((gr->kind != AG_GROUND_SPHERE || gr->spin) && !parallel(g, ag_body_unit(g, gr->normal), axis)) return false;
    if (gr->spin && gr->origin && !parallel(g, gr->origin, axis)) return false;
  }
  for (int i = 0; i < m->n_joints; i++) {
    const ag_joint *j = m->joints[i];
    if (j->A != b && j->B != b) continue;
    ag_id p = j->A == b ? j->p : j->q, a = j->A == b ? j->a : j->b;
    if (!parallel(g, p, axis) || (a && !parallel(g, a, axis))) return false;
  }
  return true;
}

static void spin(ag_model *m, const ag_body *b, const char *word, ag_id axis) {
  if (!symmetric_mass(m->graph, b, axis) || !free_to_spin(m, b, axis)) return;
  motion z = no_motion(m);
  z.v[b->R] = axis;
  (void)declare(m, ag_arena_printf(m->arena, "%s.%s", b->name, word), &z);
}

static void spins(ag_model *m, const ag_body *b) {
  ag_id axis = ag_surface_axis(m->graph, &b->surface);
  bool any = b->surface.kind == AG_SURFACE_SPHERE || !b->n_contact; /* decided by its mass and by what it carries */
  if (axis && !any) spin(m, b, "spin", axis);
  for (int k = 0; k < 3 && any; k++) spin(m, b, ag_arena_printf(m->arena, "spin%d", k + 1), ag_body_axis(m->graph, k));
}

void ag_bodies_generators(ag_model *m) {
  if (!m->n_bodies) return;
  int *part = groups(m), *part_of = ag_heap_alloc(sizeof *part_of * (size_t)(m->n_coords + 1)), n = 0;
  bool whole = true;
  for (int i = 0; i < m->n_bodies; i++) part_of[m->bodies[i]->R] = part[i];
  for (int i = 0; i < m->n_bodies; i++) {
    if (part[i] != i) continue;
    body_group f = {m, part, part_of, i, m->bodies[i]->name};
    bool shifted = shifts(&f), turned = turns(&f);
    whole = whole && shifted && turned;
    n++;
  }
  if (!whole && n > 1) {
    body_group all = {m, part, part_of, -1, "bodies"};
    (void)shifts(&all);
    (void)turns(&all);
  }
  for (int i = 0; i < m->n_bodies; i++) spins(m, m->bodies[i]);
  free(part), free(part_of);
}
