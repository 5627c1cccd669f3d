/* SPDX-License-Identifier: MIT
 * Quantities that jump. The rate of sign(x) is 0, and yet it changes: a rate says nothing about the surfaces on which
 * `if`, `sign`, atan2 or the arctangent of a pole switch. Such a surface s = 0 is harmless if s itself is conserved.
 * Otherwise pairs of states on both sides of it are joined by lines, which are halved down to the surface. A jump
 * that is seen is certain; not seeing one is not a proof. */
#include <math.h>
#include <stdlib.h>

#include "study/conserve_internal.h"

enum { SURFACES = 16, PAIRS = 24, HALVINGS = 34 };

/* Relative to the quantity: far above its change over a line halved this often, far below a visible jump. */
static const double JUMP = 1e-6;

typedef struct surfaces {
  int n;
  ag_id s[SURFACES];
  bool many; /* more than there is room for */
} surfaces;

static void add_surface(surfaces *f, ag_id s) {
  for (int i = 0; i < f->n; i++)
    if (f->s[i] == s) return;
  if (f->n == SURFACES) f->many = true;
  else f->s[f->n++] = s;
}

/* A length is nowhere negative: atan2(length, x), as in Euler's angle theta, does not jump. */
static bool is_length(const ag_graph *g, ag_id y) {
  ag_op op = ag_node_op(g, y);
  return op == AG_OP_HYPOT || op == AG_OP_SQRT || op == AG_OP_ABS || op == AG_OP_NORM;
}

/* All that x switches on. Equality holds on no open set: `if r == 0 then 1 else r` does not switch. */
static surfaces surfaces_of(ag_graph *g, ag_id x) {
  surfaces f = {0};
  bool *used = ag_heap_alloc(sizeof *used * ((size_t)x + 1)); /* arguments are older than what is made of them */
  used[x] = true;
  for (ag_id i = x; i > 0; i--) {
    if (!used[i]) continue;
    ag_op op = ag_node_op(g, i);
    int n = ag_node_n_arg(g, i);
    ag_id a = n ? ag_node_arg(g, i, 0) : 0;
    if (op == AG_OP_SIGN || (op == AG_OP_ATAN2 && !is_length(g, a))) add_surface(&f, a);
    if (op == AG_OP_LT || op == AG_OP_LE) add_surface(&f, ag_sub(g, a, ag_node_arg(g, i, 1)));
    if (op == AG_OP_ATAN && ag_node_op(g, a) == AG_OP_DIV) add_surface(&f, ag_node_arg(g, a, 1));
    if (op == AG_OP_ATAN && ag_node_op(g, a) == AG_OP_TAN)
      add_surface(&f, ag_apply1(g, AG_OP_COS, ag_node_arg(g, a, 0)));
    for (int k = 0; k < n; k++) used[ag_node_arg(g, i, k)] = true;
  }
  free(used);
  return f;
}

static bool reads_state(const ag_conserving *v, ag_id s) {
  const ag_geom *x = v->x;
  bool reads = ag_depends(x->g, 1, &s, x->n_coord, x->q) || ag_depends(x->g, 1, &s, x->n_coord, x->xi) ||
               ag_depends(x->g, 1, &s, 1, &x->t);
  for (int i = 0; i < ag_model_n_processes(v->m); i++)
    reads = reads || ag_depends(x->g, 1, &s, 1, &ag_model_processes(v->m)[i].x);
  return reads;
}

static bool conserved(ag_conserving *v, ag_id s) {
  ag_id part[2];
  ag_geom_rate(v->x, s, &part[0], &part[1]);
  ag_id rate = ag_add(v->x->g, part[0], part[1]);
  return ag_is_zero(v->x->g, rate) || ag_probe_vanish(&v->probe, 1, &rate, false, NULL) == AG_TRUTH_YES;
}

/* Values at the place `part` of the way from a to b: out[0] is s. */
static bool between(const ag_conserving *v, const ag_program *program, const ag_balls *a, const ag_balls *b,
                    double part, ag_balls *in, double *out) {
  const ag_probe *p = &v->probe;
  int n = ag_program_n_out(program);
  ag_balls *value = ag_balls_create(v->flint, n);
  ag_balls_copy(in, 0, a, 0, p->at[AG_PROBE_GROUPS]);
  for (int i = p->at[AG_PROBE_T]; i < p->at[AG_PROBE_ACC]; i++) {
    double from = ag_balls_middle(a, i), to = ag_balls_middle(b, i);
    ag_balls_number(in, i, from + part * (to - from));
  }
  bool good = ag_balls_eval(program, in, value);
  for (int i = 0; i < n && good; i++) out[i] = ag_balls_middle(value, i), good = isfinite(out[i]);
  ag_balls_free(value);
  return good;
}

typedef enum crossing { NOT_CROSSED, CONTINUOUS, JUMPS } crossing;

/* From one side of s = 0 to the other, if a and b are on both. */
static crossing cross_line(const ag_conserving *v, const ag_program *program, const ag_balls *a, const ag_balls *b) {
  int n = ag_program_n_out(program);
  double *near = ag_heap_alloc(sizeof *near * (size_t)(3 * n + 1)), *far = near + n, *middle = far + n, lo = 0, hi = 1;
  ag_balls *in = ag_balls_create(v->flint, v->probe.at[AG_PROBE_GROUPS]);
  crossing found = NOT_CROSSED;
  if (between(v, program, a, b, lo, in, near) && between(v, program, a, b, hi, in, far) && near[0] * far[0] < 0) {
    found = CONTINUOUS;
    for (int k = 0; k < HALVINGS; k++) {
      if (!between(v, program, a, b, (lo + hi) / 2, in, middle) || middle[0] == 0) break;
      bool low = (middle[0] < 0) == (near[0] < 0);
      *(low ? &lo : &hi) = (lo + hi) / 2;
      for (int i = 0; i < n; i++) (low ? near : far)[i] = middle[i];
    }
    for (int i = 1; i < n; i++)
      if (fabs(near[i] - far[i]) > JUMP * (fabs(near[i]) + fabs(far[i]))) found = JUMPS;
    if (hi - lo > 1e-8) found = NOT_CROSSED;
  }
  ag_balls_free(in);
  free(near);
  return found;
}

static crossing cross_surface(ag_conserving *v, ag_id s, ag_id x) {
  ag_program *program = ag_probe_program(&v->probe, 2, (ag_id[]){s, x});
  crossing found = NOT_CROSSED;
  for (int k = 0; k + 1 < PAIRS && found != JUMPS; k++) {
    if (!ag_conserve_state(v, k + 1)) break;
    crossing here = cross_line(v, program, v->states[k].in, v->states[k + 1].in);
    if (here != NOT_CROSSED) found = here;
  }
  ag_program_free(program);
  return found;
}

static const char *surface_text(ag_conserving *v, ag_id s) {
  const char *where = ag_conserve_print(v, s);
  if (where && where[0] == '-') where = ag_conserve_print(v, ag_neg(v->x->g, s));
  return where;
}

const char *ag_conserve_jump(ag_conserving *v, ag_id x, bool by_velocity, bool *bends) {
  const ag_geom *geom = v->x;
  surfaces f = surfaces_of(geom->g, x);
  const char *told = f.many ? "it has many branches" : NULL;
  *bends = false;
  for (int i = 0; i < f.n && !told; i++) {
    if (by_velocity && !ag_depends(geom->g, 1, &f.s[i], geom->n_coord, geom->xi)) continue;
    if (!reads_state(v, f.s[i]) || conserved(v, f.s[i])) continue;
    *bends = true;
    if (cross_surface(v, f.s[i], x) != JUMPS) continue;
    const char *where = surface_text(v, f.s[i]);
    told = where ? ag_arena_printf(v->c->arena, "it jumps where %s = 0", where) : "it jumps";
  }
  return told;
}

/* Does the derivative of x by a velocity jump where s = 0? */
static bool has_corner(ag_conserving *v, ag_id s, ag_id x) {
  const ag_geom *geom = v->x;
  ag_id *slope = AG_NEWN(geom->arena, ag_id, geom->n_coord + 1), one = ag_num(geom->g, 1);
  ag_reverse(geom->g, 1, &x, &one, geom->n_coord, geom->xi, slope);
  ag_id column = ag_concat(geom->g, geom->n_coord, slope);
  bool corner = false;
  for (int j = 0; j < geom->n && !corner; j++) {
    ag_id entry = ag_entry(geom->g, column, j, 0);
    corner = !ag_is_zero(geom->g, entry) && cross_surface(v, s, entry) == JUMPS;
  }
  return corner;
}

const char *ag_conserve_stick(ag_conserving *v, ag_id x) {
  const ag_geom *geom = v->x;
  for (int i = 0; i < geom->n; i++) {
    ag_id force = ag_entry(geom->g, geom->force, i, 0);
    surfaces f = surfaces_of(geom->g, force);
    for (int k = 0; k < f.n; k++) {
      if (!ag_depends(geom->g, 1, &f.s[k], geom->n_coord, geom->xi)) continue;
      if (cross_surface(v, f.s[k], force) != JUMPS || !has_corner(v, f.s[k], x)) continue;
      const char *where = surface_text(v, f.s[k]);
      return where ? ag_arena_printf(v->c->arena, "forces jump where %s = 0, and it has a corner there", where)
                   : "forces jump with the velocities, and it has a corner there";
    }
  }
  return NULL;
}
