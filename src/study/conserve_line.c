/* SPDX-License-Identifier: MIT
 * Places along a line of configurations where D or the reaction annihilator is larger than elsewhere on it: the last
 * pivot of the rows of S, or of the reactions, falls to 0 there. Everything is computed with 256 bits, so that a pivot
 * that falls like a power of the distance is followed down to the place, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"
#include "study/study.h"

/* OFF: largest residual of the relations on the leaf. FALLEN: a minimum, relative to the largest value on the line,
 * that counts as 0: the place is a double, so that a simple zero leaves 1e-16 of it. NONE: pivots, relative to the
 * largest, that are not there: far above the errors of 256 bits, far below any term of a model. */
static const double OFF = 1e-9, FALLEN = 1e-9, NONE = 1e-50;

typedef struct line {
  const ag_probe *p; /* holds the coordinate */
  const double *x0;  /* the start, as the system has it */
  const bool *given; /* by --at: numbers of q that are given_at; NULL: none */
  const double *given_at;
  ag_balls *in; /* the parameters, then the state */
  int k, n_row; /* number of q that is swept; most rows of the matrices */
  bool tied;    /* a relation does not hold */
} line;

/* Pivots of D (those of S) and of the annihilator; NaN: undefined here. */
typedef struct pivots {
  double *D, *R;
} pivots;

static void put_start(const line *l, double value, ag_balls *in) {
  const ag_probe *p = l->p;
  const ag_dims *dims = ag_system_dims(p->sys);
  const double *from = l->x0;
  ag_balls_double(in, p->at[AG_PROBE_T], ag_system_t0(p->sys));
  for (int k = 0; k < dims->process; k++)
    ag_balls_double(in, p->at[AG_PROBE_T] + 1 + k, l->x0[dims->q - dims->process + k]);
  for (int i = 0; i < p->x->n_coord; i++) {
    bool rotation = ag_model_coords(p->x->model)[i].space == AG_SPACE_SO3;
    int n = p->q_at[i + 1] - p->q_at[i], at = p->at[AG_PROBE_Q] + p->q_at[i];
    if (rotation) ag_balls_turn(in, at, from);
    for (int k = 0; k < n && !rotation; k++) ag_balls_double(in, at + k, from[k]);
    from += rotation ? 4 : n;
  }
  for (int k = 0; l->given && k < p->q_at[p->x->n_coord]; k++)
    if (l->given[k]) ag_balls_double(in, p->at[AG_PROBE_Q] + k, l->given_at[k]);
  ag_balls_double(in, p->at[AG_PROBE_Q] + l->k, value);
}

/* Puts in[] on the leaf; false: it is not near it, or cannot be reached. */
static bool settle(line *l, ag_balls *in, ag_balls *g) {
  const ag_probe *p = l->p;
  int m = p->x->n_relate;
  if (!m) return true;
  if (!ag_balls_eval(p->relate_true, in, g)) return false;
  for (int i = 0; i < m; i++) l->tied = l->tied || fabs(ag_balls_middle(g, i)) > OFF;
  return !l->tied && ag_probe_enclose_leaf(p, in) && ag_balls_eval(p->relate_true, in, g);
}

static void keep_pivots(int m, int n, ag_balls *A, double *out) {
  double *size = ag_heap_alloc(sizeof *size * (size_t)(n + m + 1));
  int rank = ag_balls_pivots(m, n, A, size);
  for (int i = 0; i < n; i++) out[i] = i < rank ? size[i] : 0;
  free(size);
}

/* Reactions at velocities that span all their values, below the relations. */
static bool add_reactions(const line *l, ag_balls *in, const ag_balls *g, ag_balls *A) {
  const ag_probe *p = l->p;
  int n = p->x->n, m = p->x->n_relate, rank;
  ag_balls_copy(A, 0, g, m, m * n);
  for (int i = m; i < l->n_row; i++) {
    for (int j = 0; j < n; j++)
      ag_balls_fraction(in, p->at[AG_PROBE_XI] + j, (i * i * (j + 3) + 7 * i * j) % 31 - 15, 8);
    if (!ag_probe_enclose_motion(p, in, &rank) || rank != p->rank) return false;
    ag_balls_copy(A, i * n, in, p->at[AG_PROBE_REACT], n);
  }
  return true;
}

static void look(line *l, double value, pivots *at) {
  const ag_probe *p = l->p;
  int n = p->x->n, m = p->x->n_relate, n_row = p->x->n_row;
  for (int i = 0; i < n; i++) at->D[i] = at->R[i] = (double)NAN;
  ag_balls *in = l->in, *g = ag_balls_create(p->flint, m * (n + 1));
  ag_balls *S = ag_balls_create(p->flint, n_row * n + n_row), *A = ag_balls_create(p->flint, l->n_row * n);
  put_start(l, value, in);
  bool good = settle(l, in, g) && (!n_row || ag_balls_eval(p->kinematic, in, S));
  if (good) keep_pivots(n_row, n, S, at->D);
  if (good && add_reactions(l, in, g, A)) keep_pivots(l->n_row, n, A, at->R);
  ag_balls_free(g);
  ag_balls_free(S);
  ag_balls_free(A);
}

/* One of the two: pivot number `which` of D or of R. */
typedef struct watched {
  line *l;
  bool of_R;
  int which;
  double close; /* required accuracy of the place */
  pivots room;
} watched;

static double value_at(const watched *w, double x) {
  pivots at = w->room;
  look(w->l, x, &at);
  return (w->of_R ? at.R : at.D)[w->which];
}

/* The place of the least value between lo and hi, by golden sections. Places without a value are excluded. */
static double least(const watched *w, double lo, double hi, double *value) {
  const double part = 0.38196601125010515;
  double x = lo + part * (hi - lo), y = hi - part * (hi - lo), fx = value_at(w, x), fy = value_at(w, y);
  for (int i = 0; i < 90 && hi - lo > w->close + 1e-15 * (fabs(lo) + fabs(hi)); i++)
    if (!(fy <= fx)) {
      hi = y, y = x, fy = fx;
      x = lo + part * (hi - lo);
      fx = value_at(w, x);
    } else {
      lo = x, x = y, fx = fy;
      y = hi - part * (hi - lo);
      fy = value_at(w, y);
    }
  *value = fmin(fx, fy);
  return fx < fy ? x : y;
}

static void add_change(ag_places *c, double at, double step) {
  if (fabs(at) < 1e-12 * step) at = 0; /* rounding of the sweep */
  if (c->n && at - c->at[c->n - 1] < 1e-6 * step) return;
  c->at[c->n++] = at;
}

/* The largest number of pivots that some place of the line has. */
static int rank_along(int n_place, int n, const double *f) {
  int rank = 0;
  double most = 0;
  for (int i = 0; i < n_place * n; i++) most = fmax(most, f[i]); /* fmax passes over NaN */
  for (int i = 0; i < n_place; i++)
    for (int k = rank; k < n && f[i * n + k] > NONE * most; k++) rank = k + 1;
  return rank;
}

/* Minima of the last pivot, f[place][pivot], that are 0. */
static void find_changes(line *l, bool of_R, const ag_swept *s, const double *f, ag_places *out) {
  int n = l->p->x->n, rank = rank_along(s->n, n, f);
  double step = (s->hi - s->lo) / (double)(s->n - 1), most = 0;
  double *room = ag_heap_alloc(sizeof *room * (size_t)(2 * n + 1));
  watched w = {l, of_R, rank - 1, 1e-13 * fmin(step, 1), {room, room + n}};
  for (int i = 0; i < s->n && rank; i++) most = fmax(most, f[i * n + rank - 1]);
  for (int i = 0; i < s->n && rank; i++) {
    double here = f[i * n + rank - 1], value = 0;
    double before = i ? f[(i - 1) * n + rank - 1] : here, after = i < s->n - 1 ? f[(i + 1) * n + rank - 1] : here;
    if (here > before || here > after) continue;
    double at = least(&w, s->lo + step * (i ? i - 1 : 0), s->lo + step * (i < s->n - 1 ? i + 1 : i), &value);
    if (value < FALLEN * most) add_change(out, at, step);
  }
  free(room);
}

/* Examines every value of the sweep; false: the coordinate is tied to others. */
static bool survey(line *l, const ag_swept *s, double *D, double *R) {
  int n = l->p->x->n;
  for (int i = 0; i < s->n && !l->tied; i++)
    look(l, s->lo + (s->hi - s->lo) / (double)(s->n - 1) * i, &(pivots){D + i * n, R + i * n});
  return !l->tied;
}

ag_status ag_conserve_sweep(ag_conserving *v, ag_ctx *ctx, const char *text) {
  ag_conservation *c = v->c;
  ag_swept s;
  AG_TRY(ag_conserve_read_sweep(v, ctx, text, &s));
  if (c->rank_R < 0) {
    ag_ctx_error(ctx, (ag_pos){0}, "--sweep: the rank of the reaction annihilator of this model is not known");
    return AG_WRONG;
  }
  ag_probe held = v->probe;
  int n = v->x->n, k = n - held.rank;
  bool *fixed = AG_NEWN(v->x->arena, bool, held.q_at[v->x->n_coord] + 1);
  double *x0 = AG_NEWN(v->x->arena, double, ag_system_dims(v->sys)->x + 1);
  ag_system_state0(v->sys, x0);
  held.fixed = fixed;
  fixed[s.k] = true;
  line l = {.p = &held, .x0 = x0, .given = v->fixed, .given_at = v->fixed_at, .k = s.k};
  l.n_row = v->x->n_relate + 1 + k + k * (k + 1) / 2;
  l.in = ag_balls_create(held.flint, held.at[AG_PROBE_GROUPS]);
  double *D = AG_NEWN(c->arena, double, s.n *n + 1), *R = AG_NEWN(c->arena, double, s.n *n + 1);
  c->swept = s.name;
  c->changes.at = AG_NEWN(c->arena, double, s.n + 1);
  c->changes_D.at = AG_NEWN(c->arena, double, s.n + 1);
  bool good = ag_probe_enclose_params(&held, l.in) && survey(&l, &s, D, R);
  if (good) {
    c->rank_swept = n - rank_along(s.n, n, R);
    find_changes(&l, true, &s, R, &c->changes);
    find_changes(&l, false, &s, D, &c->changes_D);
  } else {
    ag_ctx_error(ctx, (ag_pos){0}, "--sweep: %s is tied to other coordinates by a relation; sweep one that is free",
                 s.name);
  }
  ag_balls_free(l.in);
  return good ? AG_OK : AG_WRONG;
}
