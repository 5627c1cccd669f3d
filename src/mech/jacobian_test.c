/* SPDX-License-Identifier: MIT
 * The Jacobian of the reduced equations against central differences, h = 1e-5: error some h^2 = 1e-10 of the third
 * derivatives and 1e-11 of rounding. In the tangent of a rotation eta' = delta Omega - Omega x eta. Large systems: the
 * entries alone, at the places that their table gives. */
#include "math/lie.h"
#include "tests/mech_models.h"

enum { MOST = 160, LINKS = 12 };

/* Tangent numbers of z: where each begins in z; rotation: the coordinate, else -1; component of it. */
typedef struct slot {
  int z, rotation, component;
} slot;

static int tangent_slots(const ag_system *sys, slot *slots) {
  int n = 0;
  for (int z = 0; z < sys->n.z; z++) {
    int rotation = -1;
    for (int i = 0; i < sys->model->n_coords; i++)
      if (sys->model->coords[i].space == AG_SPACE_SO3 && sys->q_in_z[sys->coords[i].at] == z) rotation = i;
    if (rotation < 0) slots[n++] = (slot){z, -1, 0};
    for (int k = 0; k < 3 && rotation >= 0; k++) slots[n++] = (slot){z, rotation, k};
    if (rotation >= 0) z += 3;
  }
  return n;
}

static void move(const slot *s, double by, double *z) {
  double turn[4], out[4], delta[3] = {0};
  if (s->rotation < 0) {
    z[s->z] += by;
    return;
  }
  delta[s->component] = by;
  ag_lie_exp(delta, turn);
  ag_lie_quat_mul(z + s->z, turn, out);
  memcpy(z + s->z, out, sizeof out);
}

/* The rates as numbers of the tangent: Omega for a rotation. */
static void rates(bench_system *b, int n, const slot *slots, const double *z, double *out) {
  double *dz = room(b->sys->n.z), *x = room(b->sys->n.x);
  AG_CHECK(ag_work_rhs(b->w, b->t, z, b->basis, dz) == AG_FINE);
  ag_work_full(b->w, b->t, z, b->basis, x);
  for (int i = 0; i < n; i++)
    out[i] = slots[i].rotation < 0 ? dz[slots[i].z]
                                   : x[b->sys->n.q + b->sys->coords[slots[i].rotation].tangent + slots[i].component];
  free(dz), free(x);
}

/* Entries at their places; all others are 0. */
static double *expanded(const int *table, int m, double *T) {
  const int *at = table + AG_LU_HEAD + m, *col = at + m + 1;
  double *all = room(m * m);
  AG_CHECK(table[AG_LU_N] == m);
  for (int r = 0; r < m; r++) {
    bool diagonal = false;
    for (int e = at[r]; e < at[r + 1]; e++) {
      AG_CHECK(e == at[r] || col[e] > col[e - 1]);
      diagonal = diagonal || col[e] == r;
      all[r * m + col[e]] = T[e];
    }
    AG_CHECK(diagonal);
  }
  free(T);
  return all;
}

/* The other form is made of the columns of the first: those of an image times hat(c) go to its rotation. */
static void check_turned(bench_system *b, int n, const slot *slots, const double *J) {
  ag_system *sys = b->sys;
  int m = n - 3 * sys->n_image, keep[MOST], k = 0;
  double *T = room(m * m + 1);
  for (int i = 0; i < n; i++) {
    bool image = false;
    for (int j = 0; j < sys->n_image; j++)
      image = image || (slots[i].z >= sys->images[j].z && slots[i].z < sys->images[j].z + 3 && slots[i].rotation < 0);
    if (!image) keep[k++] = i;
  }
  AG_CHECK(k == m);
  AG_CHECK(ag_work_role(b->w, AG_ROLE_TURN_JACOBIAN, b->t, b->z, b->basis, T) == AG_FINE);
  if (ag_system_table(sys, AG_ROLE_TURN_JACOBIAN)) T = expanded(ag_system_table(sys, AG_ROLE_TURN_JACOBIAN), m, T);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) {
      const slot *s = &slots[keep[j]];
      double want = J[keep[i] * n + keep[j]];
      for (int l = 0; l < sys->n_image; l++) {
        if (s->rotation < 0 || s->rotation != sys->images[l].coord) continue;
        double e[3] = {0}, by[3];
        e[s->component] = 1;
        ag_lie_cross(b->z + sys->images[l].z, e, by);
        for (int c = 0; c < n; c++) {
          int a = slots[c].z - sys->images[l].z;
          if (slots[c].rotation < 0 && a >= 0 && a < 3) want += J[keep[i] * n + c] * by[a];
        }
      }
      AG_CHECK_NEAR(T[i * m + j], want, 1e-11 * fmax(1, fabs(want)));
    }
  free(T);
}

static void check(bench_system *b) {
  ag_system *sys = b->sys;
  const double h = 1e-5;
  const ag_tape *tape = ag_system_jacobian(sys);
  AG_CHECK(ag_system_turn_jacobian(sys) != NULL);
  AG_CHECK(tape == ag_system_jacobian(sys) && tape == ag_system_role(sys, AG_ROLE_JACOBIAN));
  slot slots[MOST];
  int n = tangent_slots(sys, slots);
  AG_CHECK(n == sys->n.tangent);
  double *J = room(n * n), *z = room(sys->n.z), *side[2] = {room(n), room(n)};
  for (unsigned seed = 1; seed <= 3; seed++) {
    AG_CHECK(take_sample(b, seed));
    AG_CHECK(ag_work_role(b->w, AG_ROLE_JACOBIAN, b->t, b->z, b->basis, J) == AG_FINE);
    check_turned(b, n, slots, J);
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < 2; k++) {
        memcpy(z, b->z, sizeof *z * (size_t)sys->n.z);
        move(&slots[j], k ? -h : h, z);
        rates(b, n, slots, z, side[k]);
      }
      for (int i = 0; i < n; i++) {
        double want = (side[0][i] - side[1][i]) / (2 * h);
        if (slots[i].rotation >= 0 && slots[i].rotation == slots[j].rotation) { /* - (Omega x e_j)_i */
          double e[3] = {0}, turned[3];
          e[slots[j].component] = 1;
          ag_lie_cross(b->x + sys->n.q + sys->coords[slots[i].rotation].tangent, e, turned);
          want -= turned[slots[i].component];
        }
        AG_CHECK_NEAR(J[i * n + j], want, 1e-7);
      }
    }
  }
  free(J), free(z), free(side[0]), free(side[1]);
}

/* ---- large systems ---- */

/* Heavy tops in a row, each coupled to the next one: by its arm in space, or by the vertical in the body. */
static ag_model *row_of_tops(bool images) {
  ag_model *m = ag_model_create("tops");
  ag_graph *g = m->graph;
  ag_id sum = ag_num(g, 0), place = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0.1), ag_num(g, 0.2), ag_num(g, 0.9)});
  ag_id e1 = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 1), ag_num(g, 0), ag_num(g, 0)}), last = 0;
  ag_id e3 = ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 0), ag_num(g, 0), ag_num(g, 1)});
  for (int i = 0; i < LINKS; i++) {
    const char *name = ag_arena_printf(m->arena, "R%d", i), *spin = ag_arena_printf(m->arena, "Omega%d", i);
    int k = ag_model_add_coord(m, name, spin, NULL, NULL, 0, AG_SPACE_SO3, 3, nowhere);
    ag_id R = m->coords[k].q, o = m->coords[k].xi, arm = images ? ag_mul(g, ag_transpose(g, R), e3) : ag_mul(g, R, e1);
    ag_id kinetic = ag_mul(g, ag_num(g, 0.5), ag_dot(g, o, ag_mul(g, diag3(g, 0.4, 0.5, 0.7), o)));
    ag_id height = ag_dot(g, ag_mul(g, ag_transpose(g, R), e3), place);
    sum = ag_add(g, sum, ag_sub(g, kinetic, height));
    if (last) sum = ag_add(g, sum, ag_dot(g, last, arm));
    last = arm;
    start_at(m, true, k, 0, 0.1 * i);
  }
  m->lagrangian = sum;
  return m;
}

/* Masses in a row joined by springs with a cubic force; `shared`: each velocity also counts in a common square, which
 * couples all accelerations. */
static ag_model *springs(bool shared) {
  ag_model *m = ag_model_create(shared ? "coupled springs" : "springs");
  ag_graph *g = m->graph;
  ag_id energy = ag_num(g, 0), common = ag_num(g, 0), last = 0;
  for (int i = 0; i < 2 * LINKS; i++) {
    int k = scalar(m, ag_arena_printf(m->arena, "x%d", i), AG_SPACE_R);
    ag_id d = last ? ag_sub(g, m->coords[k].q, last) : 0, square = d ? ag_mul(g, d, d) : 0;
    if (d) energy = ag_add(g, energy, ag_mul(g, square, square));
    last = m->coords[k].q;
    common = ag_add(g, common, m->coords[k].xi);
  }
  m->lagrangian = ag_sub(g, unit_kinetic(m), energy);
  if (shared) m->lagrangian = ag_add(g, m->lagrangian, ag_mul(g, common, common));
  return m;
}

static ag_model *tops(void) { return row_of_tops(false); }
static ag_model *upright_tops(void) { return row_of_tops(true); }
static ag_model *free_springs(void) { return springs(false); }
static ag_model *coupled_springs(void) { return springs(true); }

/* Sparse where few rates depend on a coordinate; dense where all do. */
static void check_large(ag_model *(*make)(void), bool sparse) {
  bench_system b;
  const mech_case c = {.make = make};
  bench_init(&b, &c);
  check(&b);
  const int *table = ag_system_table(b.sys, AG_ROLE_TURN_JACOBIAN), m = ag_turn_tangent(b.sys);
  AG_CHECK(m > 32 && (b.sys->n_image > 0) == (make == upright_tops) && (table != NULL) == sparse);
  /* so few, for a row: a neighbour on either side */
  if (table) AG_CHECK(table[AG_LU_ENTRIES] <= 18 * m && table[AG_LU_LOWER] <= 18 * m);
  bench_done(&b);
}

int main(void) {
  check_large(tops, true);
  check_large(upright_tops, true);
  check_large(free_springs, true);
  check_large(coupled_springs, false);
  return each_case(check);
}
