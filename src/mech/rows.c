/* SPDX-License-Identifier: MIT
 * The rows of S xi + s = 0 and of g = 0: collected. Their rank: rank.c. */
#include <math.h>
#include <string.h>

#include "math/newton.h"
#include "mech/mech_internal.h"

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

/* All rows: the entries of S, and S xi + s. */
static void make_rows_tape(derive *d) {
  ag_sparse J;
  ag_system *sys = d->sys;
  ag_id column = ag_concat(d->g, sys->n.row, d->row_x);
  ag_jacobian_sparse(d->g, column, d->nc, d->xi, &J);
  ag_places *S = &d->S_at;
  *S = (ag_places){J.n_entry, AG_NEWN(sys->arena, int, J.n_entry + 1), AG_NEWN(sys->arena, int, J.n_entry + 1),
                   AG_NEWN(sys->arena, ag_id, J.n_entry + 1)};
  memcpy(S->row, J.row, sizeof *S->row * (size_t)S->n);
  memcpy(S->col, J.col, sizeof *S->col * (size_t)S->n);
  memcpy(S->x, J.x, sizeof *S->x * (size_t)S->n);
  ag_sparse_done(&J);
  S->x[S->n] = column;
  d->rows_tape = ag_full_tape(sys, S->n + 1, S->x);
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
  ag_closure_predict(d);
  if (ag_is_large(d)) {
    ag_saddle_rows(d);
    return AG_OK;
  }
  if (sys->n.row) make_rows_tape(d);
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
