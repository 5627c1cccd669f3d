/* SPDX-License-Identifier: MIT
 * The rows of S xi + s = 0 and of g = 0: collected, and their rank found. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/newton.h"
#include "mech/mech_internal.h"

/* Relative distance from the span of the other rows below which a row counts as dependent: far above rounding error
 * (1e-16 times condition), far below what a modeller would call independent. */
static const double RANK_TOL = 1e-9;

static void push_rows(derive *d, ag_row_kind kind, int item, ag_id x, ag_pos pos, int *n) {
  for (int k = 0; k < ag_node_rows(d->g, x); k++, (*n)++) {
    d->sys->rows[*n] = (ag_row){kind, item, k, true, -1, pos};
    d->row_x[*n] = ag_entry(d->g, x, k, 0);
  }
}

static int count_rows(const ag_graph *g, int n, const ag_item *items) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += ag_node_rows(g, items[i].x);
  return sum;
}

/* The first n of the position-level residuals and their Jacobian. */
static void make_positions(derive *d, ag_role role, int n) {
  if (!n) return;
  ag_id outs[2] = {ag_concat(d->g, n, d->g_x), 0};
  outs[1] = ag_jacobian(d->g, outs[0], d->nc, d->q);
  ag_role_make(d->sys, role, 2, outs);
}

/* Derivatives of all position-level items at once, if there are many: each one alone would traverse the whole graph.
 * NULL: one by one. */
static ag_id *many_rates(derive *d, int n_row) {
  ag_model *m = d->m;
  int n_item = m->n_holonomics + m->n_prescribes;
  if (n_row <= AG_SADDLE_MAX) return NULL;
  ag_id *x = AG_NEWN(d->sys->arena, ag_id, n_item), all;
  for (int i = 0; i < n_item; i++)
    x[i] = (i < m->n_holonomics ? &m->holonomics[i] : &m->prescribes[i - m->n_holonomics])->x;
  if (!ag_model_prime(m, ag_concat(d->g, n_item, x), &all)) return NULL;
  for (int i = 0, at = 0; i < n_item; i++) {
    int n = ag_node_rows(d->g, x[i]);
    x[i] = ag_rows_of(d->g, all, at, n);
    at += n;
  }
  return x;
}

ag_status ag_rows_collect(derive *d) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  int n_position = count_rows(d->g, m->n_holonomics, m->holonomics) + count_rows(d->g, m->n_prescribes, m->prescribes);
  sys->n.row = n_position + count_rows(d->g, m->n_constraints, m->constraints);
  sys->n.g = sys->g_rank = n_position;
  sys->rows = AG_NEWN(sys->arena, ag_row, sys->n.row + 1);
  d->row_x = AG_NEWN(sys->arena, ag_id, sys->n.row + 1);
  d->g_x = AG_NEWN(sys->arena, ag_id, n_position + m->n_touches + 1);
  int n = 0, n_g = 0;
  for (int i = 0; i < m->n_constraints; i++)
    push_rows(d, AG_ROW_CONSTRAINT, i, m->constraints[i].x, m->constraints[i].pos, &n);
  /* Position-level rows enter through their total derivative. */
  ag_id *rates = many_rates(d, n_position);
  for (int kind = AG_ROW_HOLONOMIC; kind <= AG_ROW_PRESCRIBE; kind++) {
    int n_item = kind == AG_ROW_HOLONOMIC ? m->n_holonomics : m->n_prescribes;
    const ag_item *items = kind == AG_ROW_HOLONOMIC ? m->holonomics : m->prescribes;
    for (int i = 0; i < n_item; i++) {
      ag_id rate = rates ? rates[i + (kind == AG_ROW_PRESCRIBE ? m->n_holonomics : 0)] : 0;
      if (!rate && !ag_model_prime(m, items[i].x, &rate)) {
        ag_ctx_error(d->ctx, items[i].pos, "a position-level constraint cannot contain velocities");
        return AG_WRONG;
      }
      push_rows(d, (ag_row_kind)kind, i, rate, items[i].pos, &n);
      for (int k = 0; k < ag_node_rows(d->g, items[i].x); k++) d->g_x[n_g++] = ag_entry(d->g, items[i].x, k, 0);
    }
  }
  if (ag_is_large(d)) {
    ag_saddle_rows(d);
    return AG_OK;
  }
  if (sys->n.row) {
    ag_id column = ag_concat(d->g, sys->n.row, d->row_x);
    ag_id outs[2] = {ag_jacobian(d->g, column, d->nc, d->xi), column};
    d->rows_tape = ag_full_tape(sys, 2, outs);
  }
  make_positions(d, AG_ROLE_POSITION, n_g);
  for (int i = 0; i < m->n_touches; i++) d->g_x[n_g++] = m->touches[i].x;
  sys->n_relation = n_g;
  make_positions(d, AG_ROLE_RELATION, n_g);
  return AG_OK;
}

const char *ag_row_text(const ag_system *sys, int row, ag_arena *arena) {
  static const char *const word[] = {"constraint", "holonomic", "prescribe"};
  const ag_row *r = &sys->rows[row];
  const ag_model *m = sys->model;
  const ag_item *items = r->kind == AG_ROW_CONSTRAINT  ? m->constraints
                         : r->kind == AG_ROW_HOLONOMIC ? m->holonomics
                                                       : m->prescribes;
  int n = ag_node_rows(m->graph, items[r->item].x);
  const char *name = items[r->item].name;
  if (n == 1) return ag_arena_printf(arena, "%s %s", word[r->kind], name);
  return ag_arena_printf(arena, "%s %s, component %d", word[r->kind], name, r->component + 1);
}

/* The relations and their Jacobian at q, in the form used by Newton's method. */
typedef struct projection {
  const ag_system *sys;
  double t, *x; /* x: a full state */
  const double *params;
} projection;

static bool projection_eval(void *self, const double *q, double *F, double *J) {
  const projection *p = self;
  (void)J; /* the tape writes it after F */
  memcpy(p->x, q, sizeof(double) * (size_t)p->sys->n.q);
  ag_tape_once(p->sys->tapes[AG_ROLE_RELATION], p->t, p->x, p->params, NULL, F);
  return true;
}

static void projection_retract(void *self, double *q, const double *d) { ag_retract(((projection *)self)->sys, q, d); }

bool ag_position_project(const ag_system *sys, double t, const double *params, double *q) {
  static const ag_newton_options options = {.max_iter = 60, .tol = 1e-13, .step_tol = 1e-15, .max_step = 1};
  if (!sys->n_relation) return true;
  if (ag_is_sparse(sys)) return ag_sparse_position(sys, t, params, NULL, q);
  projection p = {sys, t, ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)), params};
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = sys->n_relation, .n = sys->n.xi, .n_x = sys->n.q, .self = &p};
  s.rank_tol = 1e-10; /* redundant rows: their rounding errors are not used */
  s.eval = projection_eval;
  s.retract = projection_retract;
  double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
  ag_newton_result r = ag_newton(&s, &options, q, work);
  free(p.x);
  free(work);
  return ag_newton_ok(r) || (r.reason == AG_NEWTON_STEP && r.residual < 1e-10);
}

/* Which rows are independent at one state; *gap: the residual of the dependent rows when the others hold. */
static int rank_at(const derive *d, double t, const double *q, int *pivots, double *gap, int *g_rank) {
  const ag_system *sys = d->sys;
  int m = sys->n.row, n = sys->n.xi;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(m * n + m));
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(d->rows_tape, t, x, sys->params, NULL, v);
  const double *S = v, *s = v + m * n;
  int r = ag_dense_rank(m, n, S, RANK_TOL, pivots);
  *gap = 0;
  *g_rank = ag_dense_rank(sys->n.g, n, S + (m - sys->n.g) * n, RANK_TOL, NULL); /* position-level rows come last */
  if (r >= 0 && r < m) {
    /* xi = -S_r^+ s_r satisfies the independent rows; the others must then hold too */
    double *Sr = ag_heap_alloc(sizeof(double) * (size_t)(r * n + 1)),
           *P = ag_heap_alloc(sizeof(double) * (size_t)(r * n + 1));
    double *xi = ag_heap_alloc(sizeof(double) * (size_t)n);
    for (int i = 0; i < r; i++) memcpy(Sr + i * n, S + pivots[i] * n, sizeof(double) * (size_t)n);
    ag_dense_pinv(r, n, Sr, P);
    for (int j = 0; j < n; j++)
      for (int i = 0; i < r; i++) xi[j] -= P[j * r + i] * s[pivots[i]];
    for (int i = r; i < m; i++) {
      double e = s[pivots[i]], scale = fabs(e);
      for (int j = 0; j < n; j++) e += S[pivots[i] * n + j] * xi[j], scale += fabs(S[pivots[i] * n + j] * xi[j]);
      *gap = fmax(*gap, fabs(e) > 1e-9 * (1 + scale) ? fabs(e) : 0);
    }
    free(Sr);
    free(P);
    free(xi);
  }
  free(x);
  free(v);
  return r;
}

/* Do all margins of the model hold at q? Where one does not, a contact is not what its formulas say. */
static bool margins_hold(const ag_system *sys, const ag_tape *margins, double t, const double *q) {
  if (!margins) return true;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)margins->n_out);
  bool good = true;
  memcpy(x, q, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(margins, t, x, sys->params, NULL, v);
  for (int i = 0; i < margins->n_out; i++) good = good && v[i] > 0;
  free(x), free(v);
  return good;
}

static ag_tape *margin_tape(ag_system *sys) {
  const ag_model *m = sys->model;
  if (!m->n_margins) return NULL;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)m->n_margins);
  for (int i = 0; i < m->n_margins; i++) outs[i] = m->margins[i].x;
  ag_tape *tape = ag_full_tape(sys, m->n_margins, outs);
  free(outs);
  return tape;
}

/* Samples: the start (index 0), then points of the domain moved onto the position constraints, where margins hold. */
static void make_samples(derive *d) {
  /* a factor that vanishes somewhere on a circle is below 0.1 for 6 % of the angles: 300 samples see it surely */
  enum { N = 300 };
  ag_system *sys = d->sys;
  size_t width = (size_t)sys->n.q + 1;
  d->samples = AG_NEWN(sys->arena, double, width *(N + 1));
  d->samples[0] = sys->t0;
  memcpy(d->samples + 1, sys->q0, sizeof(double) * (size_t)sys->n.q);
  d->n_sample = 1;
  ag_sampler sampler;
  ag_sampler_init(&sampler, sys, sys->params, 20260101);
  ag_tape *margins = margin_tape(sys);
  for (int i = 0; i < 2 * N && d->n_sample <= N; i++) {
    double *at = d->samples + width * (size_t)d->n_sample;
    if (!ag_sampler_next(&sampler, &at[0], at + 1)) break;
    if (!ag_position_project(sys, at[0], sys->params, at + 1)) continue;
    if (margins_hold(sys, margins, at[0], at + 1)) d->n_sample++;
  }
  ag_tape_free(margins);
  ag_sampler_done(&sampler);
}

/* Velocity constraints with coefficients that nearly vanish somewhere in the domain, beside their size elsewhere. */
static void find_fragile(derive *d) {
  const ag_system *sys = d->sys;
  int m = sys->n.row, n = sys->n.xi;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(m * n + m));
  double *least = ag_heap_alloc(sizeof(double) * (size_t)m), *most = ag_heap_alloc(sizeof(double) * (size_t)m);
  for (int r = 0; r < m; r++) least[r] = INFINITY;
  for (int i = 0; i < d->n_sample; i++) {
    const double *at = d->samples + ((size_t)sys->n.q + 1) * (size_t)i;
    memcpy(x, at + 1, sizeof(double) * (size_t)sys->n.q);
    ag_tape_once(d->rows_tape, at[0], x, sys->params, NULL, v);
    for (int r = 0; r < m; r++) {
      double size = 0;
      for (int j = 0; j < n; j++) size = fmax(size, fabs(v[r * n + j]));
      least[r] = fmin(least[r], size);
      most[r] = fmax(most[r], size);
    }
  }
  for (int r = 0; r < m; r++) d->may_vanish[r] = sys->rows[r].kind == AG_ROW_CONSTRAINT && least[r] < 0.2 * most[r];
  free(x), free(v), free(least), free(most);
}

ag_status ag_rows_rank(derive *d) {
  ag_system *sys = d->sys;
  int m = sys->n.row, at_start = 0, best = 0;
  d->may_vanish = AG_NEWN(sys->arena, bool, m + 1);
  if (m == 0) return AG_OK;
  if (ag_is_sparse(sys)) return ag_sparse_rank(d);
  make_samples(d);
  find_fragile(d);
  int *pivots = ag_heap_alloc(sizeof(int) * (size_t)m), *used = ag_heap_alloc(sizeof(int) * (size_t)m);
  double gap_worst = 0;
  int gap_row = -1;
  for (int i = 0; i < d->n_sample; i++) {
    const double *at = d->samples + ((size_t)sys->n.q + 1) * (size_t)i;
    double gap = 0;
    int g_rank, r = rank_at(d, at[0], at + 1, pivots, &gap, &g_rank);
    if (r < 0) continue; /* not finite there: outside the good domain */
    if (i == 0) at_start = r, sys->g_rank = g_rank;
    if (r > best) best = r;
    for (int k = 0; k < r; k++) used[pivots[k]]++;
    if (gap > gap_worst && r < m) gap_worst = gap, gap_row = pivots[r];
  }
  ag_status status = AG_OK;
  if (gap_row >= 0) {
    const char *count =
        ag_arena_printf(sys->arena, ": more constraints (%d equations) than velocities (%d)", m, sys->n.xi);
    ag_ctx_error(d->ctx, sys->rows[gap_row].pos,
                 "%s contradicts the constraints before it: no velocity satisfies them all%s",
                 ag_row_text(sys, gap_row, sys->arena), m > sys->n.xi ? count : "");
    status = AG_WRONG;
  } else if (at_start < best) {
    int row = 0;
    for (int k = m - 1; k >= 0; k--)
      if (used[k] > 0 && used[k] < d->n_sample) row = k;
    ag_ctx_error(d->ctx, sys->rows[row].pos,
                 "the constraints lose rank at the start (%d of %d rows independent): choose another start", at_start,
                 best);
    status = AG_WRONG;
  }
  for (int k = 0; k < m && status == AG_OK; k++) {
    /* dependent on earlier rows wherever we looked */
    sys->rows[k].kept = used[k] > 0;
    if (!sys->rows[k].kept)
      ag_ctx_note(d->ctx, sys->rows[k].pos, "%s follows from the others and is dropped",
                  ag_row_text(sys, k, sys->arena));
    else sys->rows[k].lambda = sys->n.lambda++;
  }
  sys->n.rank = best;
  if (status == AG_OK && sys->n.lambda != best && d->m->n_frames) {
    ag_ctx_error(d->ctx, sys->rows[m - 1].pos,
                 "which constraints are independent changes from place to place: that does not go with a frame");
    status = AG_WRONG;
  } else if (status == AG_OK && sys->n.lambda != best) {
    ag_ctx_note(d->ctx, sys->rows[m - 1].pos,
                "of %d rows %d %s from the others, which %s changes from place to place: all are kept", sys->n.lambda,
                sys->n.lambda - best, ag_plural(sys->n.lambda - best, "follows", "follow"),
                ag_plural(sys->n.lambda - best, "one", "ones"));
  }
  free(pivots);
  free(used);
  return status;
}
