/* SPDX-License-Identifier: MIT
 * Start velocities: given ones are kept, the others follow from S xi + s = 0 and the frame. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "mech/start_internal.h"

/* Linear equations A xi = b for the start velocities, in order of importance. */
typedef struct linear {
  int n, m; /* unknowns, rows */
  double *A, *b;
} linear;

/* All kept rows and the frame's rows at (t0, q): residuals at xi = 0 and coefficients. */
static void rows_at(const ag_system *sys, double t0, const double *params, const double *q, linear *out) {
  ag_model *m = sys->model;
  int n = sys->n.xi, n_frame = 0;
  for (int i = 0; i < m->n_frames; i++) n_frame += ag_node_rows(m->graph, m->frames[i].x);
  *out = (linear){.n = n, .m = sys->n.lambda + n_frame};
  out->A = ag_heap_alloc(sizeof(double) * (size_t)((out->m + 1) * n));
  out->b = ag_heap_alloc(sizeof(double) * (size_t)(out->m + 1));
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n));
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  if (sys->n.lambda) {
    double *v = ag_role_once(sys, AG_ROLE_SADDLE, t0, x, params);
    memcpy(out->A, v + sys->outputs[AG_OUT_SADDLE_S].at, sizeof(double) * (size_t)(sys->n.lambda * n));
    const double *s = v + sys->outputs[AG_OUT_SADDLE_RESIDUAL].at; /* at xi = 0 */
    for (int r = 0; r < sys->n.lambda; r++) out->b[r] = -s[r];
    free(v);
  }
  if (n_frame) {
    double *f0 = ag_heap_alloc(sizeof(double) * (size_t)n_frame), *f1 = ag_heap_alloc(sizeof(double) * (size_t)n_frame);
    ag_tape_once(sys->tapes[AG_ROLE_U], t0, x, params, NULL, f0);
    for (int j = 0; j < n; j++) {
      x[sys->n.q + j] = 1;
      ag_tape_once(sys->tapes[AG_ROLE_U], t0, x, params, NULL, f1);
      x[sys->n.q + j] = 0;
      for (int r = 0; r < n_frame; r++) out->A[(sys->n.lambda + r) * n + j] = f1[r] - f0[r];
    }
    for (int r = 0; r < n_frame; r++) out->b[sys->n.lambda + r] = -f0[r];
    free(f0);
    free(f1);
  }
  free(x);
}

/* Given velocities into xi, given frame velocities into the right-hand sides. */
static ag_status named_velocities(ag_ctx *ctx, const ag_system *sys, ag_start_values *given, const double *q,
                                  double *xi, bool *named, linear *rows, bool *frame_named) {
  ag_model *m = sys->model;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (!s->velocity && s->frame < 0) continue;
    int n = ag_node_rows(m->graph, s->x);
    double *v = ag_heap_alloc(sizeof(double) * (size_t)n);
    ag_start_value(given, i, q, v);
    if (!ag_all_finite(n, v)) {
      ag_pointer old = ag_point_at(ctx, m, i);
      ag_ctx_error(ctx, s->pos, "the start value is not finite");
      ag_point_back(ctx, old);
      free(v);
      return AG_WRONG;
    }
    if (s->frame >= 0) {
      int at = 0;
      for (int k = 0; k < s->frame; k++) at += ag_node_rows(m->graph, m->frames[k].x);
      for (int k = 0; k < n; k++) {
        int r = at + (s->row >= 0 ? s->row : k);
        rows->b[sys->n.lambda + r] += v[k];
        frame_named[r] = true;
      }
    } else {
      const ag_layout_row *p = &sys->coords[s->coord];
      for (int k = 0; k < n; k++) {
        int j = p->tangent + (s->row >= 0 ? s->row : k);
        xi[j] = v[k];
        named[j] = true;
      }
    }
    free(v);
  }
  return AG_OK;
}

/* Solves for the unnamed velocities. Rows are taken in order; row r that is `soft` is left out when it does not fit.
 * Each row is solved for the preferred dependent velocity with a good pivot; unknowns never needed stay 0. used: the
 * rows that were solved; is_pivot: the velocities they were solved for. Returns the misfit. */
static double solve_velocities(const ag_system *sys, const linear *rows, const bool *soft, const bool *named,
                               double *xi, bool *used, bool *is_pivot) {
  int n = rows->n, m = rows->m, n_pivot = 0;
  double *A = ag_heap_alloc(sizeof(double) * (size_t)(m * n + 1)), *b = ag_heap_alloc(sizeof(double) * (size_t)(m + 1)),
         misfit = 0;
  int *pivot_col = ag_heap_alloc(sizeof(int) * (size_t)(m + 1));
  for (int r = 0; r < m; r++) {
    double *a = A + n_pivot * n, rhs = rows->b[r], norm = 0;
    for (int j = 0; j < n; j++) {
      norm = fmax(norm, fabs(rows->A[r * n + j]));
      a[j] = named[j] ? 0 : rows->A[r * n + j];
      if (named[j]) rhs -= rows->A[r * n + j] * xi[j];
    }
    for (int p = 0; p < n_pivot; p++) { /* reduce by the rows before */
      double f = a[pivot_col[p]];
      for (int j = 0; j < n; j++) a[j] -= f * A[p * n + j];
      rhs -= f * b[p];
    }
    /* the largest coefficient among default dependent velocities, else among all */
    int col = -1;
    for (int pass = 0; pass < 2 && col < 0; pass++)
      for (int j = 0; j < n; j++)
        if (!is_pivot[j] && (pass || sys->dependent[j]) && fabs(a[j]) > 1e-9 * norm &&
            (col < 0 || fabs(a[j]) > 1.0001 * fabs(a[col])))
          col = j;
    if (col < 0) {
      if (!soft[r]) misfit = fmax(misfit, fabs(rhs) > 1e-10 * (1 + fabs(rows->b[r]) + norm) ? fabs(rhs) : 0);
      continue;
    }
    double f = 1 / a[col];
    for (int j = 0; j < n; j++) a[j] *= f;
    b[n_pivot] = rhs * f;
    for (int p = 0; p < n_pivot; p++) { /* and the rows before by this one */
      double h = A[p * n + col];
      for (int j = 0; j < n; j++) A[p * n + j] -= h * a[j];
      b[p] -= h * b[n_pivot];
    }
    is_pivot[col] = used[r] = true;
    pivot_col[n_pivot++] = col;
  }
  for (int p = 0; p < n_pivot; p++) xi[pivot_col[p]] = b[p];
  free(A);
  free(b);
  free(pivot_col);
  return misfit;
}

/* min (xi - xi_named).M.(xi - xi_named) subject to S xi + s = 0 */
static bool project_velocities(const ag_system *sys, double t0, const double *params, const double *q, double *xi) {
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x));
  ag_work *w = ag_work_create(sys, params);
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  memcpy(x + sys->n.q, xi, sizeof(double) * (size_t)sys->n.xi);
  bool ok = ag_work_settle_full(w, t0, x) == AG_FINE && ag_all_finite(sys->n.xi, x + sys->n.q) &&
            ag_work_residual(w, t0, x) < 1e-10;
  if (ok) memcpy(xi, x + sys->n.q, sizeof(double) * (size_t)sys->n.xi);
  ag_work_free(w);
  free(x);
  return ok;
}

/* The mass matrix at q; without constraints, where only the frame can contradict, the unit matrix does. */
static double *mass_at(const ag_system *sys, double t0, const double *params, const double *q) {
  size_t n = (size_t)sys->n.xi;
  if (!sys->n.lambda) {
    double *M = ag_heap_alloc(sizeof(double) * (n * n + 1));
    for (size_t i = 0; i < n; i++) M[i * n + i] = 1;
    return M;
  }
  double *x = ag_heap_alloc(sizeof(double) * ((size_t)sys->n.q + n));
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  double *v = ag_role_once(sys, AG_ROLE_SADDLE, t0, x, params); /* begins with M */
  free(x);
  return v;
}

/* Removes the rounding left by the elimination: shortest correction of the unnamed velocities. */
static void polish(const ag_system *sys, const linear *rows, const bool *named, double *xi) {
  int n = rows->n, k = sys->n.lambda;
  if (!k) return;
  double *S = ag_heap_alloc(sizeof(double) * (size_t)(k * n)), *P = ag_heap_alloc(sizeof(double) * (size_t)(k * n)),
         *e = ag_heap_alloc(sizeof(double) * (size_t)k);
  for (int r = 0; r < k; r++) {
    e[r] = rows->b[r];
    for (int j = 0; j < n; j++) e[r] -= rows->A[r * n + j] * xi[j], S[r * n + j] = named[j] ? 0 : rows->A[r * n + j];
  }
  double worst = 0;
  for (int r = 0; r < k; r++) worst = fmax(worst, fabs(e[r]));
  if (worst > 1e-14) { /* below that it would only spoil round numbers */
    if (sys->n.rank < k) ag_dense_pinv_within(k, n, S, k, 1e-9, P);
    else ag_dense_pinv(k, n, S, P);
    for (int j = 0; j < n; j++)
      for (int r = 0; r < k && !named[j]; r++) xi[j] += P[j * k + r] * e[r];
  }
  free(S);
  free(P);
  free(e);
}

static bool is_changed(const ag_system *sys, const ag_start *s, const bool *changed) {
  if (s->frame >= 0 || !s->velocity) return false;
  const ag_layout_row *p = &sys->coords[s->coord];
  for (int k = 0; k < sys->model->coords[s->coord].dim; k++)
    if (changed[p->tangent + k] && (s->row < 0 || s->row == k)) return true;
  return false;
}

/* The start statement that a message about changed velocities points at: one of these (of the frame if no other
 * changed), from outside if there is one, else the last of the file; -1: none is named. */
static int blamed(const ag_system *sys, const bool *changed) {
  const ag_model *m = sys->model;
  int last = -1;
  bool frame = true;
  for (int i = 0; i < sys->n.xi; i++) frame = frame && !changed[i];
  for (int pass = 0; pass < 2 && last < 0; pass++)
    for (int i = 0; i < m->n_starts; i++) {
      const ag_start *s = &m->starts[i];
      if ((pass    ? s->velocity || s->frame >= 0
           : frame ? s->frame >= 0
                   : is_changed(sys, s, changed)) &&
          (last < 0 || ag_start_origin(m, i) || !ag_start_origin(m, last)))
        last = i;
    }
  return last;
}

/* Velocities off the constraints by misfit: reports that they were changed, or refuses them. */
static ag_status report_change(ag_ctx *ctx, const ag_system *sys, bool strict, bool moved, double misfit,
                               const bool *changed) {
  const ag_model *m = sys->model;
  int at = blamed(sys, changed);
  ag_pos pos = at < 0 ? (ag_pos){0} : m->starts[at].pos;
  ag_text names = {0};
  ag_pointer old = ag_point_at(ctx, m, at);
  for (int i = 0; i < m->n_coords; i++) {
    bool any = false;
    for (int k = 0; k < m->coords[i].dim; k++) any = any || changed[sys->coords[i].tangent + k];
    if (any) ag_text_printf(&names, "%s`%s`", names.n ? ", " : "", m->coords[i].velocity);
  }
  if (!moved)
    ag_ctx_error(ctx, pos, "the start velocities do not satisfy the constraints (by %.3g)%s", misfit,
                 strict ? " and may not be changed (--strict)" : "");
  else
    ag_ctx_warn(
        ctx, pos,
        "the start velocities did not satisfy the constraints (by %.3g): %s changed as little as possible in the "
        "metric of the mass matrix",
        misfit, names.n ? ag_text_cstr(&names) : "a velocity of the frame");
  ag_point_back(ctx, old);
  ag_text_done(&names);
  return moved ? AG_OK : AG_WRONG;
}

/* Without elimination no velocity is more dependent than another: the smallest ones that satisfy the constraints
 * together with the given ones. */
static ag_status saddle_velocities(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict,
                                   const double *q, double *xi, ag_solved *solved) {
  bool *named = ag_heap_alloc((size_t)sys->n.xi + 1);
  double *given_xi = ag_heap_alloc(sizeof(double) * (size_t)sys->n.xi);
  ag_start_values given;
  memset(xi, 0, sizeof(double) * (size_t)sys->n.xi);
  ag_start_values_init(&given, sys, t0, params);
  ag_status status = named_velocities(ctx, sys, &given, q, xi, named, NULL, NULL);
  ag_start_values_done(&given);
  memcpy(given_xi, xi, sizeof(double) * (size_t)sys->n.xi);
  for (int i = 0; i < sys->n.xi && solved; i++) solved->xi[i] = !named[i];
  if (status == AG_OK) {
    double misfit = ag_sparse_velocity(sys, t0, params, q, named, xi), size = 1;
    for (int i = 0; i < sys->n.xi; i++) size = fmax(size, fabs(xi[i]));
    if (!(misfit < 1e-10 * size)) {
      memcpy(xi, given_xi, sizeof(double) * (size_t)sys->n.xi);
      bool moved = !strict && project_velocities(sys, t0, params, q, xi);
      status = report_change(ctx, sys, strict, moved, misfit, named);
      if (solved) memset(solved->xi, true, (size_t)sys->n.xi);
    }
  }
  free(named);
  free(given_xi);
  return status;
}

/* With constraints and frame velocities w together, xi = P w + const: the influence of each frame velocity on the given
 * velocities. Those with the least influence are set to 0 first, so that the others follow from a velocity that has
 * some. 0: unknown. */
static void frame_influence(const linear *rows, int n_lambda, const bool *named, double *influence) {
  int n = rows->n, k = rows->m - n_lambda;
  for (int j = 0; j < k; j++) influence[j] = 0;
  if (rows->m != n) return;
  double *P = ag_heap_alloc(sizeof(double) * (size_t)(n * n));
  ag_dense_pinv(n, n, rows->A, P);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < k && named[i]; j++) influence[j] = fmax(influence[j], fabs(P[i * n + n_lambda + j]));
  free(P);
}

/* The order of the rows: constraints, given frame velocities, then the others by increasing influence. */
static void order_rows(const linear *rows, int n_lambda, const bool *named, const bool *frame_named, int *order) {
  int k = rows->m - n_lambda, n = 0;
  double *influence = ag_heap_alloc(sizeof(double) * (size_t)(k + 1));
  frame_influence(rows, n_lambda, named, influence);
  for (int r = 0; r < rows->m; r++)
    if (r < n_lambda || frame_named[r - n_lambda]) order[n++] = r;
  int first = n;
  for (int r = n_lambda; r < rows->m; r++) {
    if (frame_named[r - n_lambda]) continue;
    int at = n++;
    for (; at > first && influence[order[at - 1] - n_lambda] > 1.0001 * influence[r - n_lambda]; at--)
      order[at] = order[at - 1];
    order[at] = r;
  }
  free(influence);
}

/* The rows that take part, in the order `by`: constraints, named velocities of the frame, and only if there are such
 * the unnamed ones, which are 0 where nothing else decides them. Returns the number of rows that must hold. */
static int take_rows(const linear *rows, int n_lambda, const int *by, const bool *frame_named, linear *out,
                     bool *soft) {
  int n_hard = n_lambda;
  for (int r = n_lambda; r < rows->m; r++) n_hard += frame_named[r - n_lambda];
  *out = (linear){.n = rows->n, .m = n_hard > n_lambda ? rows->m : n_lambda};
  out->A = ag_heap_alloc(sizeof(double) * (size_t)((rows->m + 1) * rows->n));
  out->b = ag_heap_alloc(sizeof(double) * (size_t)(rows->m + 1));
  for (int i = 0; i < out->m; i++) {
    memcpy(out->A + i * rows->n, rows->A + by[i] * rows->n, sizeof(double) * (size_t)rows->n);
    out->b[i] = rows->b[by[i]];
    soft[i] = i >= n_hard;
  }
  return n_hard;
}

/* Where a velocity of the frame is set from outside, values set from outside do not give way to those of the file. Per
 * velocity, then per hard row of the frame in the order `by`; NULL: no such thing. */
static bool *firm_values(const ag_system *sys, const linear *rows, const int *by, int n_hard) {
  const ag_model *m = sys->model;
  int n_lambda = sys->n.lambda;
  bool *velocity = ag_heap_alloc((size_t)(rows->n + n_hard + 1)), *frame = ag_heap_alloc((size_t)rows->m + 1),
       any = false;
  for (int i = 0; i < m->n_starts; i++) {
    const ag_start *s = &m->starts[i];
    if (!ag_start_origin(m, i) || (!s->velocity && s->frame < 0)) continue;
    int at = s->frame >= 0 ? 0 : sys->coords[s->coord].tangent, n = s->row >= 0 ? 1 : ag_node_rows(m->graph, s->x);
    for (int k = 0; k < s->frame; k++) at += ag_node_rows(m->graph, m->frames[k].x);
    memset((s->frame >= 0 ? frame : velocity) + at + (s->row > 0 ? s->row : 0), true, (size_t)n);
    any = any || s->frame >= 0;
  }
  for (int i = n_lambda; i < n_hard; i++) velocity[rows->n + i - n_lambda] = frame[by[i] - n_lambda];
  free(frame);
  if (any) return velocity;
  free(velocity);
  return NULL;
}

static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

/* What projection leaves of a velocity that becomes 0, relative to it: rows of a hundredth of the size of others
 * amplify rounding error ten thousand times. */
static const double NOTHING_LEFT = 1e-11;

/* Solves the rows in the order `by`; named values that contradict them are changed, or refused. */
static ag_status complete_velocities(ag_ctx *ctx, const ag_system *sys, double t0, const double *params, bool strict,
                                     const double *q, const linear *rows, const int *by, const bool *named,
                                     const bool *frame_named, double *xi, ag_solved *solved) {
  linear order;
  bool *soft = ag_heap_alloc((size_t)rows->m + 1), *used = ag_heap_alloc((size_t)rows->m + 1),
       *pivots = ag_heap_alloc((size_t)rows->n + 1), *changed = ag_heap_alloc((size_t)rows->n + 1);
  ag_status status = AG_OK;
  int n_hard = take_rows(rows, sys->n.lambda, by, frame_named, &order, soft);
  double misfit = solve_velocities(sys, &order, soft, named, xi, used, pivots);
  if (misfit != 0) {
    double *M = mass_at(sys, t0, params, q);
    bool *firm = firm_values(sys, rows, by, n_hard);
    double size = largest(rows->n, xi), *given = ag_heap_alloc(sizeof(double) * (size_t)rows->n);
    memcpy(given, xi, sizeof(double) * (size_t)rows->n);
    bool moved = !strict &&
                 ag_start_reconcile(rows->n, sys->n.lambda, n_hard, order.A, order.b, M, named, firm, xi, changed);
    memset(used, 0, (size_t)rows->m);
    memset(pivots, 0, (size_t)rows->n);
    for (int i = 0; i < rows->n && moved; i++)
      if (!named[i] || fabs(xi[i]) <= fmax(8 * DBL_EPSILON * size, NOTHING_LEFT * fabs(given[i])))
        xi[i] = 0; /* the rest of the given ones is rounding error */
    moved = moved && solve_velocities(sys, &order, soft, named, xi, used, pivots) == 0;
    status = report_change(ctx, sys, strict, moved, misfit, changed);
    free(M);
    free(firm);
    free(given);
  }
  if (status == AG_OK) polish(sys, rows, named, xi);
  for (int i = 0; i < rows->m && solved; i++) solved->rows[by[i]] = misfit == 0 ? used[i] : by[i] < sys->n.lambda;
  for (int i = 0; i < rows->n && solved; i++) solved->xi[i] = pivots[i] || changed[i];
  if (solved) solved->projected = misfit != 0;
  free(order.A);
  free(order.b);
  free(soft);
  free(used);
  free(pivots);
  free(changed);
  return status;
}

ag_status ag_start_velocities(ag_ctx *ctx, ag_system *sys, double t0, const double *params, bool strict,
                              const double *q, double *xi, ag_solved *solved) {
  if (sys->starter) return ag_start_velocities(ctx, sys->starter, t0, params, strict, q, xi, solved);
  if (sys->elimination == AG_ELIM_SADDLE) return saddle_velocities(ctx, sys, t0, params, strict, q, xi, solved);
  linear rows;
  rows_at(sys, t0, params, q, &rows);
  bool *named = ag_heap_alloc((size_t)sys->n.xi + 1), *frame_named = ag_heap_alloc((size_t)rows.m + 1);
  int *by = ag_heap_alloc(sizeof(int) * (size_t)(rows.m + 1));
  memset(xi, 0, sizeof(double) * (size_t)sys->n.xi);
  ag_start_values given;
  ag_start_values_init(&given, sys, t0, params);
  ag_status status = named_velocities(ctx, sys, &given, q, xi, named, &rows, frame_named);
  ag_start_values_done(&given);
  if (status == AG_OK && rows.m) {
    order_rows(&rows, sys->n.lambda, named, frame_named, by);
    status = complete_velocities(ctx, sys, t0, params, strict, q, &rows, by, named, frame_named, xi, solved);
  }
  free(rows.A);
  free(rows.b);
  free(by);
  free(named);
  free(frame_named);
  return status;
}
