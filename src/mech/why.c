/* SPDX-License-Identifier: MIT
 * Why a motion could not continue, as far as its last state shows; and what to monitor during a run. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/mech_internal.h"

/* Relative to the start: a constraint row this small has vanished, a mass this small is zero, a number this large grows
 * without bound. */
static const double ROW_GONE = 1e-6, MASS_GONE = 1e-9, GROWN = 1e4;
/* Inertia that changes by more than this part within the tolerance is not known. */
static const double UNRESOLVED = 1e-3;

typedef struct scene {
  const ag_system *sys;
  const double *params;
  double t, t0;
  const double *x, *x0; /* full states: here, and at the start */
  ag_arena *arena;
  ag_text *out;
} scene;

static const char *stored_name(const scene *s, int i) {
  for (int k = 0; k < s->sys->model->n_coords; k++) {
    const ag_layout_row *p = &s->sys->coords[k];
    const ag_coord *c = &s->sys->model->coords[k];
    if (i < p->at || i >= p->at + p->n) continue;
    return c->space == AG_SPACE_SO3 ? c->name : ag_component_name(s->arena, c->name, p->n, i - p->at);
  }
  return "?";
}

/* ---- constraints ---- */

/* Rows of S at a state; in the order of the multipliers. */
static void rows_at(const scene *s, double t, const double *x, double *S) {
  const ag_system *sys = s->sys;
  double *v = ag_role_once(sys, AG_ROLE_SADDLE, t, x, s->params);
  ag_span at = sys->outputs[AG_OUT_SADDLE_S];
  memcpy(S, v + at.at, sizeof(double) * (size_t)at.n);
  free(v);
}

static double norm_of(int n, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] * v[i];
  return sqrt(sum);
}

/* A row that vanishes, or depends on the others. */
static bool lost_row(const scene *s) {
  const ag_system *sys = s->sys;
  int k = sys->n.lambda, n = sys->n.xi, found = -1;
  if (!k || !sys->tapes[AG_ROLE_SADDLE]) return false;
  double *S = ag_heap_alloc(sizeof(double) * (size_t)(k * n)), *S0 = ag_heap_alloc(sizeof(double) * (size_t)(k * n));
  int *pivots = ag_heap_alloc(sizeof(int) * (size_t)k);
  rows_at(s, s->t, s->x, S);
  rows_at(s, s->t0, s->x0, S0);
  bool vanished = false;
  for (int r = 0; r < k && found < 0; r++)
    if (norm_of(n, S + r * n) <= ROW_GONE * norm_of(n, S0 + r * n)) found = r, vanished = true;
  int rank = found < 0 ? ag_dense_rank(k, n, S, ROW_GONE, pivots) : k;
  if (rank >= 0 && rank < k) found = pivots[rank];
  for (int r = 0; r < sys->n.row && found >= 0; r++)
    if (sys->rows[r].lambda == found)
      ag_text_printf(s->out, "%s (line %d): here it %s", ag_row_text(sys, r, s->arena), sys->rows[r].pos.line,
                     vanished ? "vanishes, all its coefficients are 0" : "follows from the other constraints");
  free(S);
  free(S0);
  free(pivots);
  return found >= 0;
}

/* ---- mass ---- */

/* The smallest eigenvalue of the mass matrix on the admissible velocities, with velocity i measured in 1/unit[i]; v:
 * its eigenvector (may be NULL). NaN if there is none. */
static double least_mass(const scene *s, const double *x, const double *unit, double *v) {
  const ag_system *sys = s->sys;
  int n = sys->n.xi, k = sys->n.lambda;
  size_t square = sizeof(double) * (size_t)(n * n + 1);
  double *a = ag_role_once(sys, AG_ROLE_SADDLE, s->t, x, s->params);
  double *N = ag_heap_alloc(square), *A = ag_heap_alloc(square);
  double *V = ag_heap_alloc(square), *w = ag_heap_alloc(sizeof(double) * (size_t)(n + 1)), least = NAN;
  double *M = a + sys->outputs[AG_OUT_SADDLE_M].at, *S = a + sys->outputs[AG_OUT_SADDLE_S].at;
  bool finite = true;
  for (int i = 0; i < n * n; i++) M[i] /= unit[i / n] * unit[i % n], finite = finite && isfinite(M[i]);
  for (int i = 0; i < k * n; i++) S[i] /= unit[i % n], finite = finite && isfinite(S[i]);
  int m = finite ? n - (k ? ag_dense_null(k, n, S, 1e-12, N) : 0) : 0;
  for (int i = 0; i < n && !k; i++) N[i * n + i] = 1;
  for (int p = 0; p < m; p++)
    for (int q = 0; q <= p; q++)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) A[p * m + q] += N[i * m + p] * M[i * n + j] * N[j * m + q];
  if (m > 0 && ag_dense_eigsym(m, A, w, V) == 0) {
    least = w[0];
    for (int i = 0; i < n && v; i++) {
      v[i] = 0;
      for (int p = 0; p < m; p++) v[i] += N[i * m + p] * V[p * m];
    }
  }
  free(a), free(N), free(A), free(V), free(w);
  return least;
}

/* The coordinate (as a stored number) along which the smallest mass recovers fastest: where the coordinates are
 * singular. */
static int bad_coordinate(const scene *s, const double *unit, double least) {
  const ag_system *sys = s->sys;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)),
         *delta = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.xi + 1));
  double best = 10 * fabs(least);
  int found = -1;
  for (int i = 0; i < sys->model->n_coords; i++)
    for (int j = sys->coords[i].tangent; j < sys->coords[i].tangent + sys->coords[i].n_tangent; j++) {
      memcpy(x, s->x, sizeof(double) * (size_t)(sys->n.x));
      memset(delta, 0, sizeof(double) * (size_t)sys->n.xi);
      delta[j] = 1e-3;
      ag_retract(sys, x, delta);
      double now = least_mass(s, x, unit, NULL);
      if (now > best * 1.000001)
        best = now, found = sys->coords[i].n == sys->coords[i].n_tangent
                                ? sys->coords[i].at + j - sys->coords[i].tangent
                                : sys->coords[i].at;
    }
  free(x);
  free(delta);
  return found;
}

static void name_direction(const scene *s, const double *v) {
  int n = 0;
  double most = 0;
  for (int i = 0; i < s->sys->n.xi; i++) most = fmax(most, fabs(v[i]));
  for (int i = 0; i < s->sys->n.xi && n < 4; i++)
    if (fabs(v[i]) > 0.1 * most) ag_text_printf(s->out, "%s%s", n++ ? ", " : "", ag_velocity_name(s->sys, i, s->arena));
}

/* A mass matrix that becomes singular: singular coordinates, such as Euler angles. */
static bool lost_mass(const scene *s) {
  const ag_system *sys = s->sys;
  int n = sys->n.xi;
  if (!sys->tapes[AG_ROLE_SADDLE] || n > AG_SADDLE_MAX || !sys->n.u) return false;
  double *unit = ag_heap_alloc(sizeof(double) * (size_t)n), *v = ag_heap_alloc(sizeof(double) * (size_t)n);
  double *a = ag_role_once(sys, AG_ROLE_SADDLE, s->t0, s->x0, s->params), *M = a + sys->outputs[AG_OUT_SADDLE_M].at;
  for (int i = 0; i < n; i++) unit[i] = M[i * n + i] > 0 ? sqrt(M[i * n + i]) : 1;
  double before = least_mass(s, s->x0, unit, NULL), least = least_mass(s, s->x, unit, v);
  bool lost = least <= MASS_GONE * before;
  if (lost) {
    int q = bad_coordinate(s, unit, least);
    ag_text_str(s->out, "the mass matrix becomes singular here in the direction of ");
    name_direction(s, v);
    if (q >= 0)
      ag_text_printf(
          s->out, ": the coordinates are singular at %s = %.6g (polar coordinates and Euler angles have such places)",
          stored_name(s, q), s->x[q]);
  }
  free(unit), free(v), free(a);
  return lost;
}

/* Kinetic energy, fast enough that the potential drowns in it; x: positions, room for velocities; v: velocities. */
static double kinetic(ag_work *w, double t, double *x, const double *v) {
  static const double FAST = 0x1p20;
  const ag_system *sys = ag_work_system(w);
  double energy[2];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < sys->n.xi; i++) x[sys->n.q + i] = k ? FAST * v[i] : 0;
    energy[k] = ag_work_energy(w, t, x, NULL);
  }
  return energy[1] - energy[0];
}

enum { PART = 1, WHOLE = 2 }; /* of a value: its terms with velocities matter, or everything it is made of */

static void want(unsigned char *slot, unsigned char how) { *slot = *slot > how ? *slot : how; }

/* What an instruction hands on to its arguments. moves: which of them depend on velocities. */
static void hand_on(const ag_instr *x, int arity, unsigned char how, const bool *moves, unsigned char *wanted) {
  const bool sum = x->op == AG_OP_ADD || x->op == AG_OP_SUB || x->op == AG_OP_NEG || x->op == AG_OP_COPY;
  const bool fused = x->op == AG_OP_FMA || x->op == AG_OP_FMS || x->op == AG_OP_FNMA;
  const uint32_t args[3] = {x->a, x->b, x->c};
  for (int k = 0; k < arity; k++) {
    const bool term = sum || (fused && k == 2), product = fused && k < 2;
    if (how == WHOLE || !(term || product)) want(&wanted[args[k]], WHOLE);
    else if (product && (moves[0] || moves[1])) want(&wanted[args[k]], WHOLE);
    else if (term && moves[k]) want(&wanted[args[k]], PART);
  }
}

/* Marks the stored numbers of the positions that the kinetic energy may depend on: terms of the energy without
 * velocities are no part of it. */
static void kinetic_reads(const ag_system *sys, bool *read) {
  const ag_tape *tape = sys->tapes[AG_ROLE_BALANCE];
  const int n_q = sys->n.q, n_moving = n_q + sys->n.xi;
  bool(*moves)[3] = ag_heap_alloc(sizeof *moves * ((size_t)tape->n_instr + 1)), plain = true;
  bool *moving = ag_heap_alloc((size_t)tape->n_slot + 1);
  unsigned char *wanted = ag_heap_alloc((size_t)tape->n_slot + 1);
  for (int i = 0; i < tape->n_instr && plain; i++) {
    const ag_instr *x = &tape->instr[i];
    const uint32_t args[3] = {x->a, x->b, x->c};
    plain = x->op != AG_OP_CALL_SOLVE && x->op != AG_OP_CALL_LDL;
    bool any = x->op == AG_OP_LOAD && x->a == AG_SEG_Z && (int)x->b >= n_q && (int)x->b < n_moving;
    for (int k = 0; k < ag_op_describe(x->op)->arity && plain && x->op != AG_OP_LOAD; k++)
      any = (moves[i][k] = moving[args[k]]) || any;
    moving[x->dst] = any;
  }
  for (int i = 0; i < n_q; i++) read[i] = !plain; /* with a solve: any */
  wanted[tape->out[sys->outputs[AG_OUT_BALANCE_ENERGY].at]] = PART;
  for (int i = tape->n_instr - 1; i >= 0 && plain; i--) {
    const ag_instr *x = &tape->instr[i];
    const unsigned char how = wanted[x->dst];
    wanted[x->dst] = 0; /* what is in the slot before is another value */
    if (x->op == AG_OP_LOAD && how == WHOLE && x->a == AG_SEG_Z && (int)x->b < n_q) read[x->b] = true;
    if (how && x->op != AG_OP_LOAD && x->op != AG_OP_CONST)
      hand_on(x, ag_op_describe(x->op)->arity, how, moves[i], wanted);
  }
  free(moves), free(moving), free(wanted);
}

/* The stored number of the positions that is not known well enough near a place where the inertia is infinite: at
 * its neighbours the kinetic energy of the same velocities is another. -1: none. */
static int unresolved(ag_work *w, double t, const double *x, const double *atol, double *change) {
  const ag_system *sys = ag_work_system(w);
  int n = sys->n.x, found = -1;
  double *y = ag_heap_alloc(sizeof *y * (size_t)(n + 1)), now;
  bool *read = ag_heap_alloc((size_t)sys->n.q + 1);
  kinetic_reads(sys, read);
  memcpy(y, x, sizeof *y * (size_t)n);
  now = kinetic(w, t, y, x + sys->n.q);
  *change = UNRESOLVED;
  for (int i = 0; i < sys->n.q && now > 0; i++) {
    for (int side = 0; side < 2 && read[i]; side++) {
      double next = nextafter(x[i], side ? INFINITY : -INFINITY);
      y[i] = fabs(next - x[i]) < atol[i] ? x[i] + (side ? atol[i] : -atol[i]) : next;
      double by = fabs(kinetic(w, t, y, x + sys->n.q) - now) / now;
      if (by > *change) *change = by, found = i;
    }
    y[i] = x[i];
  }
  free(y), free(read);
  return found;
}

bool ag_work_singular(ag_work *w, double t, const double *x, const double *atol, ag_text *out) {
  double change;
  int q = unresolved(w, t, x, atol, &change);
  if (q < 0 || !out) return q >= 0;
  scene s = {.sys = ag_work_system(w), .arena = ag_arena_create()};
  double near = fabs(x[q]) < 1e-6 ? 0 : x[q];
  ag_text_printf(out,
                 "the inertia grows without bound as %s nears %.6g: within the tolerance it changes by %.2g of itself",
                 stored_name(&s, q), near, change);
  ag_arena_free(s.arena);
  return true;
}

/* ---- growth ---- */

static const char *state_name(const scene *s, int i) {
  return i < s->sys->n.q ? stored_name(s, i) : ag_velocity_name(s->sys, i - s->sys->n.q, s->arena);
}

/* Have the equations no value a little further on, along the velocities of this state (a root, a logarithm)? */
static void no_value_ahead(const scene *s, const double *dx) {
  static const double FAR = 1; /* of the time so far */
  const ag_tape *tape = s->sys->tapes[AG_ROLE_SADDLE];
  double *x = ag_heap_alloc(sizeof *x * (size_t)(s->sys->n.x + 1)), span = s->t - s->t0;
  bool good = true;
  for (double part = 0x1p-40; tape && part <= FAR && good; part *= 2) {
    for (int i = 0; i < s->sys->n.x; i++) x[i] = s->x[i] + part * span * dx[i];
    double *v = ag_role_once(s->sys, AG_ROLE_SADDLE, s->t + part * span, x, s->params);
    for (int i = 0; i < tape->n_out; i++) good = good && isfinite(v[i]);
    free(v);
    if (!good)
      ag_text_printf(s->out, "the equations have no value ahead, at t = %.9g with the current velocities",
                     s->t + part * span);
  }
  free(x);
}

/* The number of the state that has grown most and is still growing, or the one that changes fastest relative to its
 * size, if it is fast relative to the time so far. */
static void fastest(const scene *s, const double *dx) {
  const ag_system *sys = s->sys;
  int n = sys->n.x, grown = -1, quick = -1;
  double most = GROWN, rate = 0;
  for (int i = 0; i < n; i++) {
    double now = fabs(s->x[i]), then = 1 + fabs(s->x0[i]), r = fabs(dx[i]) / (now + 1e-12 * then);
    if (now / then > most) most = now / then, grown = i;
    if (r > rate) rate = r, quick = i;
  }
  int i = grown >= 0 ? grown : quick;
  if (i < 0) return;
  const char *name = state_name(s, i);
  if (grown < 0 && rate * fabs(s->t - s->t0) < GROWN) no_value_ahead(s, dx);
  else if (grown >= 0) ag_text_printf(s->out, "%s grows without bound near t = %.9g (it is %.3g)", name, s->t, s->x[i]);
  else
    ag_text_printf(s->out, "%s changes ever faster near t = %.9g (it is %.6g, its rate %.3g)", name, s->t, s->x[i],
                   dx[i]);
}

void ag_work_why(ag_work *w, const double *params, double t0, const double *x0, double t, const double *x,
                 ag_text *out) {
  const ag_system *sys = ag_work_system(w);
  int n = sys->n.x;
  scene s = {sys, params, t, t0, x, x0, ag_arena_create(), out};
  bool told = false;
  for (int i = 0; i < n && !told; i++)
    if (!isfinite(x[i])) ag_text_str(out, "the state is not finite"), told = true;
  if (!told) told = lost_row(&s) || lost_mass(&s);
  double *dx = ag_heap_alloc(sizeof(double) * (size_t)n);
  if (!told && ag_work_rhs_full(w, t, x, dx) == AG_FINE) {
    for (int i = 0; i < n && !told; i++)
      if (!isfinite(dx[i])) {
        ag_text_printf(out, "the rate of %s is not finite here", state_name(&s, i)), told = true;
      }
    if (!told) fastest(&s, dx);
  }
  free(dx);
  ag_arena_free(s.arena);
}

/* ---- what to monitor during a run ---- */

/* Does anything that is integrated for the motion itself occur in x? */
static bool matters(const ag_system *sys, ag_id x) {
  const ag_model *m = sys->model;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    bool core = m->coords[i].space == AG_SPACE_SO3;
    for (int k = 0; k < p->n; k++) core = core || sys->q_in_z[p->at + k] < sys->n.core;
    if (core && ag_depends(m->graph, 1, &x, 1, &m->coords[i].q)) return true;
  }
  return false;
}

/* The ranges of the domain that concern the motion, and the rows of the constraints that may vanish
 * somewhere. */
void ag_guards(derive *d) {
  ag_system *sys = d->sys;
  const ag_model *m = d->m;
  ag_id *outs = AG_NEWN(sys->arena, ag_id, 3 * m->n_domains + sys->n.row + 1);
  int n = 0;
  sys->ranges = AG_NEWN(sys->arena, int, m->n_domains + 1);
  for (int i = 0; i < m->n_domains; i++) {
    if (!matters(sys, m->domains[i].x)) continue;
    outs[n++] = m->domains[i].x, outs[n++] = m->domains[i].lo, outs[n++] = m->domains[i].hi;
    sys->ranges[sys->n_range++] = i;
  }
  if (n) ag_role_make(sys, AG_ROLE_DOMAIN, n, outs);
  n = 0;
  for (int r = 0; r < sys->n.row; r++)
    if (d->may_vanish[r] && sys->rows[r].kept) outs[n++] = ag_jacobian(d->g, d->row_x[r], d->nc, d->xi);
  sys->n.fragile = n;
  if (n) ag_role_make(sys, AG_ROLE_FRAGILE, n, outs);
}
