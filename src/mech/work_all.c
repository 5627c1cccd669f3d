/* SPDX-License-Identifier: MIT
 * A worker: all rows of the constraints together, kept and dropped ones. They are made orthonormal, those that stand
 * out most first, together with their residual and the rest of their derivative; what is left of a dependent row then
 * says whether it holds, and the remainder of a row that begins to act says which change of velocity it requires. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/dense.h"
#include "mech/work_internal.h"

/* Distance from the span of the other rows, relative to the row, up to which it counts as dependent; and relative to
 * its scale, up to which it counts as zero. */
static const double DEPENDENT = 1e-9, ZERO = 1e-13;
/* A dependent row that is off by more than this, relative to its terms, contradicts the others. */
static const double OFF = 1e-7;
/* Kept rows whose smallest pivot is below the first, and below this fraction of that of all rows, are chosen again. */
static const double PIVOT_LOW = 0.05, PIVOT_PART = 0.1;
/* A row is taken before one that precedes it if it stands out this many times as much. Rows that are parallel on the
 * constraints would otherwise take turns in the stages of a step, where they differ a little. */
static const double PREFERRED = 2;

/* A row with its data: n coefficients, residual, kappa, the size of its terms, its
 * length as stated, and its combination of the rows as stated. */
typedef struct all_rows {
  int m, n, width;
  double *v;     /* m x width, divided by the scale of the row */
  double *scale; /* per row */
  int *row;      /* which row of the system */
  double least;  /* the smallest distance of a row that was taken */
  double zero;   /* up to this length a row is zero */
} all_rows;

enum { RESIDUAL, KAPPA, SIZE, LENGTH, COMBINATION }; /* places behind the coefficients */

bool ag_system_watches(const ag_system *sys) {
  return sys->elimination == AG_ELIM_SADDLE ? sys->n.lambda < sys->n.row : sys->n.rank < sys->n.row;
}

static double norm_of(int n, const double *v) {
  double sum = 0;
  for (int j = 0; j < n; j++) sum += v[j] * v[j];
  return sqrt(sum);
}

static void add_row(const ag_work *w, all_rows *a, int row, const double *S, double residual, double kappa,
                    const double *xi) {
  const ag_system *sys = w->sys;
  double *v = a->v + a->m * a->width, scale = sys->row_scale[row] > 0 ? sys->row_scale[row] : 1, size = fabs(residual);
  memset(v, 0, sizeof(double) * (size_t)a->width);
  for (int j = 0; j < a->n; j++) v[j] = S[j] / scale, size = fmax(size, fabs(S[j] * xi[j]));
  v[a->n + RESIDUAL] = residual / scale;
  v[a->n + KAPPA] = kappa / scale;
  v[a->n + SIZE] = size / scale;
  v[a->n + LENGTH] = norm_of(a->n, v);
  v[a->n + COMBINATION + row] = 1 / scale;
  a->scale[a->m] = sys->row_scale[row];
  a->row[a->m++] = row;
}

/* Kept rows, then dropped ones. */
static all_rows rows_at(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  int n = sys->n.xi, m = sys->n.row, k = sys->n.lambda;
  all_rows a = {.n = n, .width = n + COMBINATION + m, .zero = ZERO};
  size_t size = (size_t)(m * a.width + m + 1);
  if (!w->rows_all) w->rows_all = ag_heap_alloc(sizeof(double) * size + sizeof(int) * (size_t)m);
  a.v = w->rows_all;
  a.scale = a.v + m * a.width;
  a.row = (int *)(w->rows_all + size);
  ag_saddle p = ag_saddle_at(w, t, x);
  if (sys->tapes[AG_ROLE_RESERVE]) ag_machine_on(w, AG_ROLE_RESERVE, t, x);
  for (int r = 0; r < m; r++) {
    int l = sys->rows[r].lambda;
    if (l >= 0) add_row(w, &a, r, p.S + l * n, p.residual[l], p.kappa[l], x + sys->n.q);
  }
  for (int r = 0, l = 0; r < m && k < m; r++) {
    if (sys->rows[r].lambda >= 0) continue;
    add_row(w, &a, r, ag_result(w, AG_OUT_RESERVE_S) + l * n, ag_result(w, AG_OUT_RESERVE_RESIDUAL)[l],
            ag_result(w, AG_OUT_RESERVE_KAPPA)[l], x + sys->n.q);
    l++;
  }
  return a;
}

double ag_velocity_residual(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  ag_saddle p = ag_saddle_at(w, t, x);
  double worst = 0;
  for (int r = 0; r < sys->n.lambda; r++) worst = fmax(worst, fabs(p.residual[r]));
  if (!sys->tapes[AG_ROLE_RESERVE]) return worst;
  ag_machine_on(w, AG_ROLE_RESERVE, t, x);
  for (int r = 0; r < sys->n.row - sys->n.lambda; r++)
    worst = fmax(worst, fabs(ag_result(w, AG_OUT_RESERVE_RESIDUAL)[r]));
  return worst;
}

static double least_distance(const all_rows *a, int i) {
  return fmax(a->zero, DEPENDENT * a->v[i * a->width + a->n + LENGTH]);
}

static void swap(all_rows *a, int i, int j) {
  double x = a->scale[i];
  int row = a->row[i];
  a->scale[i] = a->scale[j], a->scale[j] = x;
  a->row[i] = a->row[j], a->row[j] = row;
  for (int c = 0; c < a->width && i != j; c++) {
    x = a->v[i * a->width + c];
    a->v[i * a->width + c] = a->v[j * a->width + c], a->v[j * a->width + c] = x;
  }
}

/* Of the rows from..to - 1 those that are independent of the `from` orthonormal ones before them are made orthonormal
 * and put first; returns how many orthonormal rows there are then. All rows behind are reduced by them. */
static int reduce(all_rows *a, int from, int to) {
  int rank = from;
  for (; rank < to; rank++) {
    int best = -1;
    double most = 0;
    for (int i = rank; i < to; i++) {
      double d = norm_of(a->n, a->v + i * a->width);
      if (d > least_distance(a, i) && d > PREFERRED * most) most = d, best = i;
    }
    if (best < 0) break;
    swap(a, rank, best);
    a->least = fmin(a->least, most);
    double *q = a->v + rank * a->width;
    for (int c = 0; c < a->width; c++) q[c] /= most;
    for (int i = rank + 1; i < a->m; i++) {
      double *v = a->v + i * a->width, size = v[a->n + SIZE], length = v[a->n + LENGTH];
      for (int pass = 0; pass < 2; pass++) {
        double dot = 0;
        for (int j = 0; j < a->n; j++) dot += q[j] * v[j];
        for (int c = 0; c < a->width; c++) v[c] -= dot * q[c];
        size = fmax(size, fabs(dot * q[a->n + SIZE]));
      }
      v[a->n + SIZE] = size;
      v[a->n + LENGTH] = length;
    }
  }
  return rank;
}

/* ---- the state of the rows ---- */

/* A row of a large system that does not hold. */
static ag_rows_report sparse_report(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  ag_rows_report report = {0};
  double size = 1;
  for (int i = 0; i < sys->n.xi; i++) size = fmax(size, fabs(x[sys->n.q + i]));
  (void)ag_machine_run(w, AG_ROLE_ROWS, t, x, NULL, NULL);
  const double *e = ag_result(w, AG_OUT_ROWS_RESIDUAL);
  for (int r = 0; r < sys->n.row; r++)
    if (!sys->rows[r].kept && fabs(e[r]) > fmax(report.by, OFF * size))
      report = (ag_rows_report){AG_ROWS_CONTRADICT, r, 0, fabs(e[r])};
  return report;
}

/* The dependent row (from..m - 1) that is violated most. */
static ag_rows_report off_report(const all_rows *a, int from) {
  ag_rows_report report = {0};
  for (int i = from; i < a->m; i++) {
    const double *v = a->v + i * a->width;
    double e = fabs(v[a->n + RESIDUAL]), scale = a->scale[i] > 0 ? a->scale[i] : 1;
    if (e > OFF * (1 + v[a->n + SIZE]) && e * scale > report.by)
      report = (ag_rows_report){AG_ROWS_CONTRADICT, a->row[i], 0, e * scale};
  }
  return report;
}

ag_rows_report ag_work_rows(ag_work *w, int known, double t, const double *x) {
  const ag_system *sys = w->sys;
  if (sys->elimination == AG_ELIM_SADDLE) return sparse_report(w, t, x);
  all_rows a = rows_at(w, t, x);
  a.least = INFINITY;
  int rank = reduce(&a, 0, w->all ? a.m : sys->n.lambda);
  double kept = a.least;
  int all = reduce(&a, rank, a.m);
  if (all > known) /* the last one taken was dropped, or stands out least */
    return (ag_rows_report){AG_ROWS_AWAKE, a.row[all - 1], all, fabs(a.v[(all - 1) * a.width + a.n + RESIDUAL])};
  ag_rows_report report = off_report(&a, all);
  report.rank = all;
  if (report.state != AG_ROWS_FINE || w->all || (rank == known && kept > PIVOT_LOW)) return report;
  a = rows_at(w, t, x);
  a.least = INFINITY;
  if (reduce(&a, 0, a.m) >= known && (rank < known || kept < PIVOT_PART * a.least)) report.state = AG_ROWS_WEAK;
  return report;
}

/* Are the minors with which velocities were solved for as large as they were? */
static bool minors_suit(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  if (sys->tapes[AG_ROLE_STEADY]) (void)ag_machine_run(w, AG_ROLE_STEADY, t, x, NULL, NULL);
  for (int i = 0; i < sys->n_steady; i++)
    if (!(ag_result(w, AG_OUT_STEADY_SQUARES)[i] > sys->steady_bound[i])) return false;
  if (sys->tapes[AG_ROLE_MINOR]) (void)ag_machine_run(w, AG_ROLE_MINOR, t, x, NULL, NULL);
  for (int i = 0; i < sys->n_minor; i++)
    if (!(ag_result(w, AG_OUT_MINOR_SQUARES)[i] > sys->minor_bound[i])) return false;
  return true;
}

bool ag_work_suits(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  if (!sys->n.row || sys->elimination == AG_ELIM_SADDLE) return true;
  all_rows a = rows_at(w, t, x);
  int kept = reduce(&a, 0, sys->n.lambda), all = reduce(&a, kept, a.m);
  return kept == sys->n.rank && all == sys->n.rank && minors_suit(w, t, x);
}

int ag_work_idle_row(ag_work *w, double t, const double *x) {
  all_rows a = rows_at(w, t, x);
  for (int i = 0; i < a.m; i++)
    if (!(a.v[i * a.width + a.n + LENGTH] > DEPENDENT)) return a.row[i];
  return -1;
}

void ag_work_row_text(ag_work *w, int row, ag_text *out) {
  ag_arena *arena = ag_arena_create();
  ag_text_printf(out, "%s (line %d)", ag_row_text(w->sys, row, arena), w->sys->rows[row].pos.line);
  ag_arena_free(arena);
}

/* Is the multiplier of this row read? */
static bool multiplier_read(const ag_system *sys, int row) {
  const ag_model *m = sys->model;
  const ag_row *r = &sys->rows[row];
  const ag_item *all = r->kind == AG_ROW_CONSTRAINT  ? m->constraints
                       : r->kind == AG_ROW_HOLONOMIC ? m->holonomics
                                                     : m->prescribes;
  const ag_item *read = r->kind == AG_ROW_CONSTRAINT  ? m->multipliers
                        : r->kind == AG_ROW_HOLONOMIC ? m->holonomic_multipliers
                                                      : m->drives;
  int n = r->kind == AG_ROW_CONSTRAINT  ? m->n_multipliers
          : r->kind == AG_ROW_HOLONOMIC ? m->n_holonomic_multipliers
                                        : m->n_drives;
  for (int i = 0; i < n; i++)
    if (all[r->item].name && read[i].name && !strcmp(all[r->item].name, read[i].name)) return true;
  return false;
}

bool ag_work_take_rows(ag_work *w, int row) {
  const ag_system *sys = w->sys;
  if (row >= 0 && !sys->rows[row].kept && (multiplier_read(sys, row) || sys->model->n_reactions)) return false;
  w->all = true;
  return true;
}

void ag_work_due(ag_work *w, int least, int most) { w->due = least, w->most = most; }

/* ---- the multiplier form ---- */

/* The orthonormal rows at a state, and how many. Off the constraints on positions more may seem independent: those that
 * stand out least. Where more must act, those that fade away are among them: however small, they have a direction. */
static all_rows independent_rows(ag_work *w, double t, const double *x) {
  all_rows a = rows_at(w, t, x);
  a.least = INFINITY;
  w->n_all = reduce(&a, 0, a.m);
  a.zero = 0;
  if (w->n_all < w->due) w->n_all = reduce(&a, w->n_all, a.m);
  if (w->most && w->n_all > w->most) w->n_all = w->most;
  return a;
}

/* [M -Q^T; Q 0] with w->b above and minus the numbers at `low` below. */
static bool solve(ag_work *w, const all_rows *a, int low) {
  int n = a->n, r = w->n_all;
  double *Q = ag_heap_alloc(sizeof(double) * (size_t)(r * n + 1));
  for (int i = 0; i < r; i++) {
    memcpy(Q + i * n, a->v + i * a->width, sizeof(double) * (size_t)n);
    w->b[n + i] = -a->v[i * a->width + n + low];
  }
  ag_saddle_matrix(w, ag_result(w, AG_OUT_SADDLE_M), r, Q);
  free(Q);
  return ag_dense_solve(n + r, 1, w->K, w->b) == 0;
}

bool ag_all_accel(ag_work *w, double t, const double *x) {
  const ag_system *sys = w->sys;
  int n = sys->n.xi, r;
  all_rows a = independent_rows(w, t, x);
  if (w->n_all < w->due) return false;
  const double *ell = ag_result(w, AG_OUT_SADDLE_ELL);
  for (int i = 0; i < n; i++) w->b[i] = -ell[i];
  if (!solve(w, &a, KAPPA)) return false;
  r = w->n_all;
  double *mu = ag_heap_alloc(sizeof(double) * (size_t)(r + 1));
  memcpy(mu, w->b + n, sizeof(double) * (size_t)r);
  memset(w->b + n, 0, sizeof(double) * (size_t)sys->n.lambda);
  for (int k = 0; k < sys->n.row; k++)
    for (int i = 0; i < r && sys->rows[k].lambda >= 0; i++)
      w->b[n + sys->rows[k].lambda] += a.v[i * a.width + n + COMBINATION + k] * mu[i];
  free(mu);
  return true;
}

bool ag_all_velocity(ag_work *w, double t, const double *x, double *d) {
  all_rows a = independent_rows(w, t, x);
  memset(w->b, 0, sizeof(double) * (size_t)a.n);
  bool good = solve(w, &a, RESIDUAL);
  memcpy(d, w->b, sizeof(double) * (size_t)a.n);
  return good;
}

bool ag_all_positive(ag_work *w) {
  int n = w->sys->n.xi, width = n + COMBINATION + w->sys->n.row;
  double *Q = ag_heap_alloc(sizeof(double) * (size_t)(w->n_all * n + 1));
  for (int i = 0; i < w->n_all; i++) memcpy(Q + i * n, w->rows_all + i * width, sizeof(double) * (size_t)n);
  bool good = ag_rows_positive(w, ag_result(w, AG_OUT_SADDLE_M), w->n_all, Q);
  free(Q);
  return good;
}
