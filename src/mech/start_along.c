/* SPDX-License-Identifier: MIT
 * How a completed start moves with the parameters. Along p' the named values move with their expressions,
 *   q'_named = D e(q, p) [q', p'],   xi'_named = D e(q, p) [q', p'],
 * in the order in which the start takes them; parameters that follow from others move as these do. Values that were
 * solved for satisfy the constraints:
 *   G q' + g_p p' = 0,   S xi' + D(S xi + s) [q', p'] = 0   (at rest: xi')
 * with the same unknowns and rows as in the start (ag_solved): a correction of these components alone, the shortest
 * where there are more of them than rows. All derivatives come from the graph. They are exact except where they depend
 * on the path Newton's method took: rotations solved for in part, starts that had to be projected, and coordinates of
 * large systems; there the derivative is that of the last step. */
#include <string.h>

#include "math/lie.h"
#include "math/newton.h"
#include "mech/mech_internal.h"

struct ag_start_along {
  ag_system *sys;
  ag_along *starts;           /* all start values */
  ag_along *relations, *rows; /* g; S xi + s, then the frame velocities; NULL where there are none */
  ag_along *follow;           /* values of the parameters that follow, or NULL */
  ag_tape *coefficients;      /* of xi in the rows; NULL for a large system */
  int *offset;                /* per start statement: its place among all values */
  bool *late;                 /* per start statement: it uses coordinates */
  int n_follow, *followers;   /* indices of parameters */
  int n_rows;                 /* rows, those of the frame included */
  double *values, *e, *A;     /* rates of the start values; of rows; coefficients of rows */
  double *x, *now, *right;    /* full states; rates of the right-hand sides of the rows */
  ag_solved solved;
};

/* ---- creating ---- */

static void collect_starts(ag_start_along *a) {
  const ag_model *m = a->sys->model;
  size_t n = (size_t)m->n_starts + 1;
  ag_id *x = ag_heap_alloc(sizeof *x * n), *q = ag_heap_alloc(sizeof *q * (size_t)(m->n_coords + 1));
  a->offset = ag_heap_alloc(sizeof(int) * n);
  a->late = ag_heap_alloc(n);
  for (int i = 0; i < m->n_coords; i++) q[i] = m->coords[i].q;
  for (int i = 0; i < m->n_starts; i++) {
    x[i] = m->starts[i].x;
    a->offset[i + 1] = a->offset[i] + ag_node_rows(m->graph, x[i]) * ag_node_cols(m->graph, x[i]);
  }
  ag_depends_each(m->graph, m->n_starts, x, m->n_coords, q, a->late);
  a->starts = ag_along_create(a->sys, m->n_starts, x);
  a->values = ag_heap_alloc(sizeof(double) * (size_t)(a->offset[m->n_starts] + 1));
  free(x);
  free(q);
}

static void collect_rows(ag_start_along *a) {
  ag_system *sys = a->sys;
  const ag_model *m = sys->model;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(m->n_frames + 1)),
        *xi = ag_heap_alloc(sizeof *xi * (size_t)(m->n_coords + 1));
  int n = 0;
  if (ag_is_sparse(sys)) x[n++] = sys->made[AG_ROLE_ROWS][0];
  else if (sys->n.lambda) x[n++] = sys->made[AG_ROLE_SADDLE][4];
  for (int i = 0; i < m->n_frames; i++) x[n++] = m->frames[i].x;
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  if (n) {
    ag_id all = ag_concat(m->graph, n, x);
    a->n_rows = ag_node_rows(m->graph, all);
    a->rows = ag_along_create(sys, 1, &all);
    ag_id J = ag_is_sparse(sys) ? 0 : ag_jacobian(m->graph, all, m->n_coords, xi);
    if (J) a->coefficients = ag_full_tape(sys, 1, &J);
  }
  if (sys->n_relation) a->relations = ag_along_create(sys, 1, sys->made[AG_ROLE_RELATION]);
  free(x);
  free(xi);
}

static void collect_followers(ag_start_along *a, int n_set, const int *set) {
  const ag_model *m = a->sys->model;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(m->n_params + 1));
  a->followers = ag_heap_alloc(sizeof(int) * (size_t)(m->n_params + 1));
  for (int i = 0; i < m->n_params; i++) {
    bool follows = m->params[i].input != 0;
    for (int k = 0; k < n_set; k++) follows = follows && set[k] != a->sys->param_rows[i].at;
    if (!follows) continue;
    x[a->n_follow] = m->params[i].value;
    a->followers[a->n_follow++] = i;
  }
  if (a->n_follow) a->follow = ag_along_create(a->sys, a->n_follow, x);
  free(x);
}

ag_start_along *ag_start_along_create(ag_system *sys, int n_set, const int *set) {
  ag_start_along *a = ag_heap_alloc(sizeof *a);
  a->sys = sys = sys->starter ? sys->starter : sys;
  collect_starts(a);
  collect_rows(a);
  collect_followers(a, n_set, set);
  size_t n = (size_t)sys->n.xi + 1, rows = (size_t)(a->n_rows > sys->n_relation ? a->n_rows : sys->n_relation) + 1;
  a->e = ag_heap_alloc(sizeof(double) * (rows > (size_t)sys->n.param ? rows : (size_t)sys->n.param + 1));
  a->A = ag_heap_alloc(sizeof(double) * (ag_is_sparse(sys) ? 1 : rows * n));
  a->x = ag_heap_alloc(sizeof(double) * ((size_t)sys->n.q + n));
  a->now = ag_heap_alloc(sizeof(double) * ((size_t)sys->n.q + n));
  a->right = ag_heap_alloc(sizeof(double) * rows);
  a->solved = (ag_solved){ag_heap_alloc(n), ag_heap_alloc(n), ag_heap_alloc(rows), false};
  return a;
}

void ag_start_along_free(ag_start_along *a) {
  if (!a) return;
  ag_along *all[] = {a->starts, a->relations, a->rows, a->follow};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ag_along_free(all[i]);
  ag_tape_free(a->coefficients);
  void *arrays[] = {a->offset, a->late, a->followers, a->values,   a->e,         a->A,
                    a->x,      a->now,  a->right,     a->solved.q, a->solved.xi, a->solved.rows};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  free(a);
}

/* ---- values solved for from the constraints ---- */

/* One Newton step for the linear equations e + A d = 0. */
typedef struct linear {
  int m, n;
  const double *A, *e, *M;
} linear;

static bool linear_eval(void *self, const double *d, double *F, double *J) {
  const linear *l = self;
  (void)d;
  memcpy(F, l->e, sizeof(double) * (size_t)l->m);
  memcpy(J, l->A, sizeof(double) * (size_t)(l->m * l->n));
  return true;
}

static const double *linear_metric(void *self, const double *d) {
  (void)d;
  return ((linear *)self)->M;
}

/* Adds to d the shortest change, in the metric M or in components, of the free components that makes e + A d zero. */
static void correct(const linear *l, int rank, const bool *held, double *d) {
  linear own = *l;
  ag_newton_options once = {.max_iter = 1};
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = l->m, .n = l->n, .held = held, .self = &own};
  s.rank = rank < l->m ? rank : 0;
  s.rank_tol = 1e-10;
  s.eval = linear_eval;
  s.metric = l->M ? linear_metric : NULL;
  double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
  (void)ag_newton(&s, &once, d, work);
  free(work);
}

static bool *complement(int n, const bool *marks) {
  bool *out = ag_heap_alloc((size_t)n + 1);
  for (int i = 0; i < n; i++) out[i] = !marks[i];
  return out;
}

static void correct_positions(ag_start_along *a, double t, const double *params, const double *dp, double *dq) {
  const ag_system *sys = a->sys;
  bool *held = complement(sys->n.xi, a->solved.q);
  (void)ag_along_eval(a->relations, t, a->x, params, &(ag_direction){.q = dq, .params = dp}, a->e);
  if (ag_is_sparse(sys)) {
    ag_sparse_correct(sys, false, t, params, a->x, held, a->e, dq);
  } else {
    double *v = ag_role_once(sys, AG_ROLE_RELATION, t, a->x, params);
    linear l = {sys->n_relation, sys->n.xi, v + sys->outputs[AG_OUT_RELATION_JACOBIAN].at, a->e, NULL};
    correct(&l, sys->n_relation, held, dq);
    free(v);
  }
  free(held);
}

static void correct_velocities(ag_start_along *a, double t, const double *params, const double *dp, const double *dq,
                               double *dxi) {
  const ag_system *sys = a->sys;
  int n = sys->n.xi, m = 0;
  bool *held = complement(n, a->solved.xi);
  double *M = NULL;
  (void)ag_along_eval(a->rows, t, a->x, params, &(ag_direction){.q = dq, .xi = dxi, .params = dp}, a->e);
  if (ag_is_sparse(sys)) {
    ag_sparse_correct(sys, true, t, params, a->x, held, a->e, dxi);
  } else {
    ag_tape_once(a->coefficients, t, a->x, params, NULL, a->A);
    for (int r = 0; r < a->n_rows; r++) { /* those that were solved move up */
      if (!a->solved.rows[r]) continue;
      memmove(a->A + m * n, a->A + r * n, sizeof(double) * (size_t)n);
      a->e[m++] = a->e[r] - a->right[r];
    }
    if (a->solved.projected) M = ag_role_once(sys, AG_ROLE_SADDLE, t, a->x, params); /* begins with M */
    linear l = {m, n, a->A, a->e, M};
    if (m) correct(&l, a->solved.projected ? sys->n.rank : m, held, dxi);
    free(M);
  }
  free(held);
}

/* ---- given values ---- */

/* Rates of the parameters that follow: after as many passes as they build on each other. */
static void follow(ag_start_along *a, const double *params, double *dp) {
  const ag_system *sys = a->sys;
  bool changed = a->follow != NULL;
  for (int pass = 0; changed && pass <= a->n_follow; pass++) {
    changed = false;
    (void)ag_along_eval(a->follow, 0, a->x, params, &(ag_direction){.params = dp}, a->e);
    for (int i = 0, at = 0; i < a->n_follow; i++) {
      int k = a->followers[i], n = ag_input_storage(sys->model->graph, sys->model->params[k].input);
      double *to = dp + sys->param_rows[k].at;
      changed = changed || memcmp(to, a->e + at, sizeof(double) * (size_t)n);
      memcpy(to, a->e + at, sizeof(double) * (size_t)n);
      at += n;
    }
  }
}

/* R' as a vector of the tangent: R^T R'. */
static void turn_rate(const double *quaternion, const double *dR, double *rate) {
  double R[9], A[9];
  ag_lie_quat_matrix(quaternion, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A[3 * i + j] = R[i] * dR[j] + R[3 + i] * dR[3 + j] + R[6 + i] * dR[6 + j];
  ag_lie_vee(A, rate);
}

/* Coordinates that use others take these as they are at their turn: only the earlier ones are set. */
static void named_positions(ag_start_along *a, double t, const double *params, const double *dp, double *dq) {
  const ag_system *sys = a->sys;
  const ag_model *m = sys->model;
  memset(a->now, 0, sizeof(double) * (size_t)(sys->n.x));
  ag_default_coordinates(sys, a->now);
  (void)ag_along_eval(a->starts, t, a->now, params, &(ag_direction){.params = dp}, a->values);
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (s->velocity || s->frame >= 0) continue;
    const ag_layout_row *p = &sys->coords[s->coord];
    if (a->late[i])
      (void)ag_along_eval(a->starts, t, a->now, params, &(ag_direction){.q = dq, .params = dp}, a->values);
    const double *v = a->values + a->offset[i];
    if (m->coords[s->coord].space == AG_SPACE_SO3) turn_rate(a->x + p->at, v, dq + p->tangent);
    else if (s->row >= 0) dq[p->tangent + s->row] = v[0];
    else memcpy(dq + p->tangent, v, sizeof(double) * (size_t)p->n_tangent);
    bool part = s->row >= 0 && p->n == p->n_tangent;
    int first = p->at + (part ? s->row : 0);
    memcpy(a->now + first, a->x + first, sizeof(double) * (size_t)(part ? 1 : p->n));
  }
}

static void named_velocities(ag_start_along *a, double t, const double *params, const double *dp, const double *dq,
                             double *dxi) {
  const ag_system *sys = a->sys;
  const ag_model *m = sys->model;
  (void)ag_along_eval(a->starts, t, a->x, params, &(ag_direction){.q = dq, .params = dp}, a->values);
  for (int i = 0; i < a->n_rows; i++) a->right[i] = 0;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (!s->velocity && s->frame < 0) continue;
    double *to = s->frame >= 0 ? a->right + sys->n.lambda : dxi + sys->coords[s->coord].tangent;
    for (int k = 0; k < s->frame; k++) to += ag_node_rows(m->graph, m->frames[k].x);
    if (s->row > 0) to += s->row;
    memcpy(to, a->values + a->offset[i], sizeof(double) * (size_t)(a->offset[i + 1] - a->offset[i]));
  }
}

ag_status ag_start_along_eval(ag_start_along *a, ag_ctx *ctx, double t0, const double *params, bool strict, double *q,
                              double *xi, int n, double *dparams, double *dx) {
  ag_system *sys = a->sys;
  AG_TRY(ag_start_positions(ctx, sys, t0, params, strict, q, &a->solved));
  AG_TRY(ag_start_velocities(ctx, sys, t0, params, strict, q, xi, &a->solved));
  memcpy(a->x, q, sizeof(double) * (size_t)sys->n.q);
  memcpy(a->x + sys->n.q, xi, sizeof(double) * (size_t)sys->n.xi);
  memset(dx, 0, sizeof(double) * (size_t)(2 * n * sys->n.xi));
  for (int k = 0; k < n; k++) {
    double *dp = dparams + k * sys->n.param, *dq = dx + 2 * k * sys->n.xi, *dxi = dq + sys->n.xi;
    follow(a, params, dp);
    named_positions(a, t0, params, dp, dq);
    if (a->relations) correct_positions(a, t0, params, dp, dq);
    named_velocities(a, t0, params, dp, dq, dxi);
    if (a->rows) correct_velocities(a, t0, params, dp, dq, dxi);
  }
  return AG_OK;
}
