/* SPDX-License-Identifier: MIT
 * The Jacobian of the reduced equations against central differences, h = 1e-5: error some h^2 = 1e-10 of the third
 * derivatives and 1e-11 of rounding. In the tangent of a rotation eta' = delta Omega - Omega x eta. */
#include "math/lie.h"
#include "tests/mech_models.h"

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

/* The other form is made of the columns of the first: those of an image times hat(c) go to its rotation. */
static void check_turned(bench_system *b, int n, const slot *slots, const double *J) {
  ag_system *sys = b->sys;
  int m = n - 3 * sys->n_image, keep[32], k = 0;
  double *T = room(m * m + 1);
  for (int i = 0; i < n; i++) {
    bool image = false;
    for (int j = 0; j < sys->n_image; j++)
      image = image || (slots[i].z >= sys->images[j].z && slots[i].z < sys->images[j].z + 3 && slots[i].rotation < 0);
    if (!image) keep[k++] = i;
  }
  AG_CHECK(k == m);
  AG_CHECK(ag_work_role(b->w, AG_ROLE_TURN_JACOBIAN, b->t, b->z, b->basis, T) == AG_FINE);
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
  slot slots[32];
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

int main(void) { return each_case(check); }
