/* SPDX-License-Identifier: MIT
 * Large systems with constraints: nothing is eliminated. u is xi, and at every state the sparse saddle system
 *   [M S^T; S 0] [xi'; -lambda] = [-ell; -kappa]
 * is solved by L D L^T in an order fixed beforehand (expr/sparse.c). The same matrix with other right-hand sides takes
 * velocities and positions back onto the constraints, by the shortest way in the metric M.
 * Where M is singular off the constraints, M + S^T S is used in its place, with S^T times the lower part added to the
 * upper one: the solution is the same. */
#include <stdlib.h>
#include <string.h>

#include "mech/choices.h"

static ag_id *new_ids(derive *d, int n) { return AG_NEWN(d->sys->arena, ag_id, n + 1); }

/* Do forces or the Lagrangian switch by the state or by time, but not the constraints? Rows that switch are watched in
 * the other form. */
static bool branches(const derive *d) {
  const ag_model *m = d->m;
  int n_in = 2 * d->nc + 1, n = 1;
  ag_id *in = ag_heap_alloc(sizeof *in * (size_t)n_in), *x = ag_heap_alloc(sizeof *x * (size_t)(m->n_forces + 1));
  memcpy(in, d->q, sizeof *in * (size_t)d->nc);
  memcpy(in + d->nc, d->xi, sizeof *in * (size_t)d->nc);
  in[n_in - 1] = m->t;
  x[0] = m->lagrangian;
  for (int i = 0; i < m->n_forces; i++) x[n++] = m->forces[i].x;
  bool found = ag_choices_exist(d->g, n, x, n_in, in) && !ag_choices_exist(d->g, d->sys->n.row, d->row_x, n_in, in);
  free(in);
  free(x);
  return found;
}

static bool by_size(const derive *d) {
  return d->sys->n.row && !d->m->n_frames && (d->options->saddle || d->sys->n.xi > AG_SADDLE_MAX);
}

/* Equations that switch, and noise, are left to the eliminated form. */
static bool by_cost(const derive *d) {
  const ag_model *m = d->m;
  if (!d->options->by_cost || m->n_noises || m->n_processes || !ag_closure_sparse(d->sys)) return false;
  return !ag_choices_exist(d->g, d->sys->n.row, d->row_x, d->nc, d->q) && !branches(d);
}

bool ag_is_large(const derive *d) {
  return by_size(d) || by_cost(d) || (d->sys->n.row && d->options->multipliers && branches(d));
}

bool ag_is_large_by_request(const derive *d) { return !by_size(d) && ag_is_large(d); }

static ag_places new_places(ag_system *sys, int n) {
  return (ag_places){0, AG_NEWN(sys->arena, int, n + 1), AG_NEWN(sys->arena, int, n + 1),
                     AG_NEWN(sys->arena, ag_id, n + 1)};
}

static void add_place(ag_places *p, int row, int col, ag_id x) {
  p->row[p->n] = row;
  p->col[p->n] = col;
  p->x[p->n++] = x;
}

/* ---- matrices ---- */

typedef struct triple {
  int row, col, order;
  ag_id x;
} triple;

static int by_place(const void *a, const void *b) {
  const triple *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  if (x->col != y->col) return x->col < y->col ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

void ag_lower_triangle(ag_system *sys, const ag_sparse *full, ag_places *out) {
  triple *list = ag_heap_alloc(sizeof *list * (size_t)(full->n_entry + 1));
  for (int k = 0; k < full->n_entry; k++) { /* the entry below the diagonal is taken where there are two */
    bool below = full->row[k] >= full->col[k];
    list[k] = (triple){below ? full->row[k] : full->col[k], below ? full->col[k] : full->row[k], !below, full->x[k]};
  }
  qsort(list, (size_t)full->n_entry, sizeof *list, by_place);
  *out = new_places(sys, full->n_entry);
  for (int k = 0; k < full->n_entry; k++)
    if (k == 0 || list[k].row != list[k - 1].row || list[k].col != list[k - 1].col)
      add_place(out, list[k].row, list[k].col, list[k].x);
  free(list);
}

/* M + S^T S, kept rows only. */
static void augment(derive *d) {
  ag_system *sys = d->sys;
  const ag_places *S = &sys->S_at;
  int n = sys->M_at.n, cap = 0, n_list = 0;
  triple *list = NULL;
  for (int k = 0; k < n; k++) {
    AG_PUSH(list, n_list, cap);
    list[n_list] = (triple){sys->M_at.row[k], sys->M_at.col[k], n_list, sys->M_at.x[k]};
    n_list++;
  }
  for (int a = 0; a < S->n; a++)
    for (int b = a; b >= 0 && S->row[b] == S->row[a] && sys->rows[S->row[a]].kept; b--) {
      AG_PUSH(list, n_list, cap);
      list[n_list] = (triple){S->col[a], S->col[b], n_list, ag_mul(d->g, S->x[a], S->x[b])};
      n_list++;
    }
  qsort(list, (size_t)n_list, sizeof *list, by_place);
  sys->M_at = new_places(sys, n_list);
  for (int k = 0; k < n_list;) {
    int row = list[k].row, col = list[k].col;
    ag_id sum = list[k++].x;
    for (; k < n_list && list[k].row == row && list[k].col == col; k++) sum = ag_add(d->g, sum, list[k].x);
    add_place(&sys->M_at, row, col, sum);
  }
  sys->augmented = true;
  free(list);
}

/* ---- derivation ---- */

/* A role of the column x and of the entries of its Jacobian in the inputs, one per coordinate. */
static void make_with_entries(derive *d, ag_role role, ag_id x, const ag_id *inputs, ag_places *at) {
  ag_sparse J;
  ag_jacobian_sparse(d->g, x, d->nc, inputs, &J);
  *at = new_places(d->sys, J.n_entry);
  for (int k = 0; k < J.n_entry; k++) add_place(at, J.row[k], J.col[k], J.x[k]);
  ag_sparse_done(&J);
  ag_id *outs = new_ids(d, at->n + 1);
  outs[0] = x;
  memcpy(outs + 1, at->x, sizeof *outs * (size_t)at->n);
  ag_role_make(d->sys, role, at->n + 1, outs);
}

void ag_saddle_rows(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  make_with_entries(d, AG_ROLE_ROWS, ag_concat(g, sys->n.row, d->row_x), d->xi, &sys->S_at);
  sys->n_relation = sys->n.g;
  for (int i = 0; i < d->m->n_touches; i++) d->g_x[sys->n_relation++] = d->m->touches[i].x;
  if (sys->n.g) ag_role_make(sys, AG_ROLE_POSITION, sys->n.g, d->g_x);
  if (sys->n_relation) make_with_entries(d, AG_ROLE_RELATION, ag_concat(g, sys->n_relation, d->g_x), d->q, &sys->G_at);
}

void ag_saddle_choose(derive *d) {
  ag_system *sys = d->sys;
  sys->elimination = AG_ELIM_SADDLE;
  d->velocity = d->xi;
  sys->n_u_input = d->nc;
  sys->u_inputs = d->xi;
  sys->n.u = sys->n.xi;
  sys->u_names = AG_NEWN(sys->arena, const char *, sys->n.u + 1);
  for (int i = 0, at = 0; i < d->nc; i++) {
    const char *name = ag_node_name(d->g, d->xi[i]);
    int dim = d->m->coords[i].dim;
    for (int k = 0; k < dim; k++) sys->u_names[at++] = ag_component_name(sys->arena, name, dim, k);
  }
}

/* Entries of [M S^T; S 0] with the rows of S that are wanted; solved for the right-hand side [top; low], top per
 * coordinate or NULL for zeros. */
static ag_id solve(derive *d, const bool *wanted, ag_id rows, const ag_id *top, ag_id low) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  const ag_places *S = &sys->S_at, *M = &sys->M_at;
  int n = sys->n.xi, k = 0, *number = ag_heap_alloc(sizeof *number * (size_t)(sys->n.row + 1));
  ag_places A = new_places(sys, M->n + S->n);
  for (int i = 0; i < M->n; i++) add_place(&A, M->row[i], M->col[i], M->x[i]);
  for (int r = 0; r < sys->n.row; r++) number[r] = wanted[r] ? k++ : -1;
  for (int i = 0; i < S->n; i++)
    if (wanted[S->row[i]]) add_place(&A, n + number[S->row[i]], S->col[i], S->x[i]);
  unsigned char *marks = ag_heap_alloc((size_t)(n + k + 1));
  for (int i = 0; i < n && sys->hubs; i++) marks[i] = sys->hubs[i] ? AG_MARK_HUB : AG_MARK_PLAIN;
  memset(marks + n, AG_MARK_MULTIPLIER, (size_t)k);
  ag_id *parts = new_ids(d, d->nc + 1), *more = new_ids(d, d->nc);
  if (sys->augmented) ag_reverse(g, 1, &rows, &low, d->nc, d->xi, more); /* S^T low */
  for (int i = 0; i < d->nc; i++) {
    parts[i] = top ? top[i] : ag_zero(g, d->m->coords[i].dim, 1);
    if (sys->augmented) parts[i] = ag_add(g, parts[i], more[i]);
  }
  parts[d->nc] = low;
  ag_id b = ag_concat(g, d->nc + 1, parts);
  ag_id x = ag_solve_sparse(g, &(ag_pattern){n + k, A.n, A.row, A.col, marks}, A.x, b);
  free(number);
  free(marks);
  return x;
}

/* Is M positive definite at the start? */
static bool positive_at_start(ag_system *sys) {
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)(sys->M_at.n + 1));
  int ignored;
  ag_tape *tape = ag_full_tape(sys, sys->M_at.n, sys->M_at.x);
  memcpy(x, sys->q0, sizeof(double) * (size_t)sys->n.q);
  ag_tape_once(tape, sys->t0, x, sys->params, NULL, v);
  bool good = ag_sparse_positive(sys, v, &ignored);
  ag_tape_free(tape);
  free(x);
  free(v);
  return good;
}

static void make_metric(derive *d) {
  ag_system *sys = d->sys;
  ag_sparse M;
  ag_jacobian_sparse(d->g, ag_concat(d->g, d->nc, d->momentum), d->nc, d->xi, &M);
  ag_lower_triangle(sys, &M, &sys->M_at);
  ag_sparse_done(&M);
  if (!positive_at_start(sys)) augment(d);
  ag_role_make(sys, AG_ROLE_METRIC, sys->M_at.n, sys->M_at.x);
}

/* Kept rows on positions: g, and [M G^T; G 0] [delta; mu] = [0; -g]. */
static void make_onto_g(derive *d) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  bool *wanted = ag_heap_alloc((size_t)sys->n.row + 1);
  int n = 0, first = sys->n.row - sys->n.g;
  ag_id *values = new_ids(d, sys->n.g), *rates = new_ids(d, sys->n.g), outs[2];
  for (int k = 0; k < sys->n.g; k++) {
    if (!sys->rows[first + k].kept) continue;
    wanted[first + k] = true;
    values[n] = d->g_x[k];
    rates[n++] = d->row_x[first + k];
  }
  if (n) {
    outs[0] = ag_concat(g, n, values);
    ag_id rows = ag_concat(g, n, rates), low = ag_neg(g, outs[0]);
    d->delta_q = outs[1] = ag_rows_of(g, solve(d, wanted, rows, NULL, low), 0, sys->n.xi);
    ag_role_make(sys, AG_ROLE_ONTO_G, 2, outs);
  }
  free(wanted);
}

ag_id ag_saddle_solve(derive *d, const ag_id *top, ag_id low) {
  ag_system *sys = d->sys;
  bool *kept = ag_heap_alloc((size_t)sys->n.row + 1);
  for (int r = 0; r < sys->n.row; r++) kept[r] = sys->rows[r].kept;
  ag_id x = solve(d, kept, ag_kept_rows(d), top, low);
  free(kept);
  return ag_rows_of(d->g, x, 0, sys->n.xi);
}

ag_id ag_saddle_motion(derive *d, const ag_id *ell) {
  ag_system *sys = d->sys;
  ag_graph *g = d->g;
  ag_id rows = ag_kept_rows(d), kappa, *top = new_ids(d, d->nc), outs[2];
  bool *kept = ag_heap_alloc((size_t)sys->n.row + 1);
  for (int r = 0; r < sys->n.row; r++) kept[r] = sys->rows[r].kept;
  make_metric(d);
  for (int i = 0; i < d->nc; i++) top[i] = ag_neg(g, ell[i]);
  ag_along_motion(d, d->xi, 1, &rows, &kappa);
  sys->force = ag_concat(g, d->nc, top);
  sys->kappa = ag_neg(g, kappa);
  ag_id x = solve(d, kept, rows, top, sys->kappa), rates = ag_rows_of(g, x, 0, sys->n.xi);
  outs[0] = rates;
  outs[1] = ag_neg(g, ag_rows_of(g, x, sys->n.xi, sys->n.lambda));
  ag_role_make(sys, AG_ROLE_ACCEL, 2, outs);
  ag_id back = solve(d, kept, rows, NULL, ag_neg(g, rows));
  outs[0] = rows;
  d->delta_u = outs[1] = ag_rows_of(g, back, 0, sys->n.xi);
  ag_role_make(sys, AG_ROLE_ONTO_S, 2, outs);
  make_onto_g(d);
  free(kept);
  return rates;
}
