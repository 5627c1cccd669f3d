/* SPDX-License-Identifier: MIT
 * Transport velocities completed by the rule of starts, with S sigma = 0 in place of S xi + s = 0: given components are
 * kept, dependent velocities follow from the constraints, independent ones that are not given are 0. A given dependent
 * velocity changes places with the one independent velocity of its rows that is not given; where there are several, the
 * statement is ambiguous, and the message names them. */
#include <math.h>
#include <string.h>

#include "mech/noise_internal.h"

static ag_id *new_ids(derive *d, int n) { return AG_NEWN(d->sys->arena, ag_id, n + 1); }

/* The scalar velocities: those given, and sigma as far as it is known. */
typedef struct plan {
  derive *d;
  const ag_noise *noise;
  bool *given;  /* per quasi-velocity */
  ag_id *value; /* 0 where nothing is known yet */
} plan;

static plan plan_of(derive *d, const ag_noise *n, const ag_id *amplitude) {
  ag_system *sys = d->sys;
  plan p = {.d = d, .noise = n, .given = AG_NEWN(sys->arena, bool, sys->n.xi + 1), .value = new_ids(d, sys->n.xi)};
  for (int k = 0; k < n->n; k++) {
    const ag_assign *a = &n->parts[k];
    for (int r = 0; r < d->m->coords[a->coord].dim; r++) {
      if (a->row >= 0 && a->row != r) continue;
      int j = sys->coords[a->coord].tangent + r;
      p.given[j] = true;
      p.value[j] = ag_entry(d->g, amplitude[k], a->row >= 0 ? 0 : r, 0);
    }
  }
  return p;
}

/* sigma per coordinate from its components. */
static void gather(const plan *p, ag_id *sigma) {
  derive *d = p->d;
  for (int c = 0; c < d->nc; c++) {
    int dim = d->m->coords[c].dim, at = d->sys->coords[c].tangent;
    ag_id *parts = new_ids(d, dim);
    for (int r = 0; r < dim; r++) parts[r] = p->value[at + r] ? p->value[at + r] : ag_num(d->g, 0);
    sigma[c] = ag_stack(d->g, dim, 1, parts);
  }
}

/* Parts that give a whole coordinate stay vectors. */
static void keep_vectors(const plan *p, const ag_id *amplitude, ag_id *sigma) {
  for (int k = 0; k < p->noise->n; k++)
    if (p->noise->parts[k].row < 0) sigma[p->noise->parts[k].coord] = amplitude[k];
}

/* ---- through the elimination: xi = B u + xi0 gives sigma = B sigma_u ---- */

/* The velocities that independent velocity i stands for: a coordinate, or component *row of it. */
static bool find_independent(const derive *d, int i, int *coord, int *row) {
  ag_id u = d->sys->u_inputs[i];
  for (int c = 0; c < d->nc; c++) {
    if (d->xi[c] == u) return *coord = c, *row = -1, true;
    for (int k = 0; k < d->m->coords[c].dim; k++)
      if (ag_entry(d->g, d->velocity[c], k, 0) == u) return *coord = c, *row = k, true;
  }
  return false;
}

static bool by_elimination(const plan *p, const ag_id *amplitude, ag_id *sigma) {
  derive *d = p->d;
  ag_system *sys = d->sys;
  int n = sys->n_u_input;
  if (sys->elimination != AG_ELIM_SOLVED) return false;
  for (int j = 0; j < sys->n.xi; j++)
    if (p->given[j] && d->dependent[j]) return false;
  ag_id *seeds = new_ids(d, n), *whole = new_ids(d, d->nc);
  gather(p, whole);
  keep_vectors(p, amplitude, whole);
  for (int i = 0; i < n; i++) {
    int coord, row;
    if (!find_independent(d, i, &coord, &row)) return false;
    seeds[i] = row < 0 ? whole[coord] : ag_entry(d->g, whole[coord], row, 0);
  }
  ag_forward(d->g, n, sys->u_inputs, seeds, d->nc, d->velocity, sigma);
  return true;
}

/* Velocities of the frame are independent: those not given are 0. */
static void by_frame(derive *d, const ag_noise *noise, const ag_id *amplitude, ag_id *sigma) {
  const ag_model *m = d->m;
  ag_id *seeds = new_ids(d, m->n_frames);
  for (int i = 0; i < m->n_frames; i++) seeds[i] = ag_zero(d->g, ag_node_rows(d->g, m->frames[i].x), 1);
  for (int k = 0; k < noise->n; k++) {
    const ag_assign *a = &noise->parts[k];
    int rows = ag_node_rows(d->g, seeds[a->coord]);
    if (a->row < 0 || rows == 1) {
      seeds[a->coord] = amplitude[k];
      continue;
    }
    ag_id *parts = new_ids(d, rows);
    for (int r = 0; r < rows; r++) parts[r] = r == a->row ? amplitude[k] : ag_entry(d->g, seeds[a->coord], r, 0);
    seeds[a->coord] = ag_stack(d->g, rows, 1, parts);
  }
  ag_forward(d->g, m->n_frames, m->frame_inputs, seeds, d->nc, d->velocity, sigma);
}

/* ---- row by row ---- */

/* The kept rows, their coefficients, and groups of rows that share velocities that are not given. */
typedef struct system_rows {
  int n_row, *group, n_place, *row, *col;
  ag_id *x, *right; /* coefficients; per row: minus what the given components contribute */
} system_rows;

static int root(system_rows *s, int r) {
  while (s->group[r] != r) r = s->group[r];
  return r;
}

static void join_rows(const plan *p, system_rows *s) {
  int *first = AG_NEWN(p->d->sys->arena, int, p->d->sys->n.xi + 1);
  for (int k = 0; k < s->n_place; k++) {
    if (p->given[s->col[k]]) continue;
    int *f = &first[s->col[k]];
    if (!*f) *f = s->row[k] + 1;
    else s->group[root(s, s->row[k])] = root(s, *f - 1);
  }
}

static system_rows rows_of(const plan *p) {
  derive *d = p->d;
  ag_arena *arena = d->sys->arena;
  ag_sparse J;
  ag_jacobian_sparse(d->g, ag_kept_rows(d), d->nc, d->xi, &J);
  system_rows s = {.n_row = J.n_row, .n_place = J.n_entry};
  s.group = AG_NEWN(arena, int, J.n_row + 1);
  s.row = AG_NEWN(arena, int, J.n_entry + 1);
  s.col = AG_NEWN(arena, int, J.n_entry + 1);
  s.x = new_ids(d, J.n_entry);
  s.right = new_ids(d, J.n_row);
  for (int r = 0; r < J.n_row; r++) s.group[r] = r, s.right[r] = ag_num(d->g, 0);
  for (int k = 0; k < J.n_entry; k++) {
    s.row[k] = J.row[k], s.col[k] = J.col[k], s.x[k] = J.x[k];
    if (!p->given[s.col[k]]) continue;
    ag_id term = ag_mul(d->g, s.x[k], p->value[s.col[k]]);
    s.right[s.row[k]] = ag_sub(d->g, s.right[s.row[k]], term);
  }
  ag_sparse_done(&J);
  join_rows(p, &s);
  return s;
}

/* One group: its rows, and the velocities in it that are not given. */
typedef struct members {
  int n_row, *row, n_col, *col, n_dependent;
} members;

static members members_of(const plan *p, system_rows *s, int group) {
  derive *d = p->d;
  members g = {.row = AG_NEWN(d->sys->arena, int, s->n_row + 1), .col = AG_NEWN(d->sys->arena, int, d->sys->n.xi + 1)};
  bool *seen = AG_NEWN(d->sys->arena, bool, d->sys->n.xi + 1);
  for (int r = 0; r < s->n_row; r++)
    if (root(s, r) == group) g.row[g.n_row++] = r;
  for (int k = 0; k < s->n_place; k++)
    if (root(s, s->row[k]) == group && !p->given[s->col[k]]) seen[s->col[k]] = true;
  for (int j = 0; j < d->sys->n.xi; j++) {
    if (!seen[j]) continue;
    g.col[g.n_col++] = j;
    g.n_dependent += d->dependent && d->dependent[j];
  }
  return g;
}

/* The coefficient of velocity j in row r. */
static ag_id coefficient(const plan *p, const system_rows *s, int r, int j) {
  for (int k = 0; k < s->n_place; k++)
    if (s->row[k] == r && s->col[k] == j) return s->x[k];
  return ag_num(p->d->g, 0);
}

/* Solves the rows of a group for its n columns; more rows than columns: by least squares, checked afterwards. */
static void solve_columns(plan *p, const system_rows *s, const members *g, int n, const int *col) {
  derive *d = p->d;
  ag_id *A = new_ids(d, g->n_row * n), *b = new_ids(d, g->n_row);
  for (int i = 0; i < g->n_row; i++) {
    b[i] = s->right[g->row[i]];
    for (int j = 0; j < n; j++) A[i * n + j] = coefficient(p, s, g->row[i], col[j]);
  }
  ag_id matrix = ag_stack(d->g, g->n_row, n, A), right = ag_stack(d->g, g->n_row, 1, b);
  if (g->n_row > n) {
    ag_id transposed = ag_transpose(d->g, matrix);
    right = ag_mul(d->g, transposed, right);
    matrix = ag_mul(d->g, transposed, matrix);
  }
  ag_id y = ag_solve(d->g, matrix, right, AG_SOLVE_GENERAL);
  for (int j = 0; j < n; j++) p->value[col[j]] = ag_entry(d->g, y, j, 0);
}

static ag_status refuse_open(const plan *p, const members *g) {
  derive *d = p->d;
  ag_text names = {0};
  for (int j = 0; j < g->n_col; j++)
    ag_text_printf(&names, "%s`%s`", j ? ", " : "", ag_velocity_name(d->sys, g->col[j], d->sys->arena));
  int open = g->n_col - g->n_row;
  ag_ctx_error(d->ctx, p->noise->pos,
               "the constraints do not determine the rest of this transport: of %s give %d more, or write `raw`",
               ag_text_cstr(&names), open);
  ag_text_done(&names);
  return AG_WRONG;
}

static ag_status solve_group(plan *p, system_rows *s, int group) {
  derive *d = p->d;
  members g = members_of(p, s, group);
  bool moves = false;
  for (int i = 0; i < g.n_row; i++) moves = moves || !ag_is_zero(d->g, s->right[g.row[i]]);
  if (!moves || !g.n_col) return AG_OK; /* all 0; or all given, and checked afterwards */
  if (g.n_col <= g.n_row) solve_columns(p, s, &g, g.n_col, g.col);
  else if (g.n_dependent == g.n_row) {
    int *col = AG_NEWN(d->sys->arena, int, g.n_row + 1), n = 0;
    for (int j = 0; j < g.n_col; j++)
      if (d->dependent[g.col[j]]) col[n++] = g.col[j];
    solve_columns(p, s, &g, n, col);
  } else return refuse_open(p, &g);
  return AG_OK;
}

ag_status ag_noise_complete(derive *d, const ag_noise *n, const ag_id *amplitude, ag_id *sigma) {
  if (n->frame) {
    by_frame(d, n, amplitude, sigma);
    return AG_OK;
  }
  plan p = plan_of(d, n, amplitude);
  bool free = n->raw || !d->sys->n.lambda;
  if (!free && by_elimination(&p, amplitude, sigma)) return AG_OK;
  if (!free) {
    system_rows s = rows_of(&p);
    for (int r = 0; r < s.n_row; r++)
      if (root(&s, r) == r) AG_TRY(solve_group(&p, &s, r));
  }
  gather(&p, sigma);
  keep_vectors(&p, amplitude, sigma);
  return AG_OK;
}

/* ---- check ---- */

/* Off the constraints by more than this, relative to the coefficients: not rounding error. */
static const double OFF = 1e-9;

ag_status ag_noise_check(derive *d, const ag_noise *n, const ag_id *sigma) {
  ag_system *sys = d->sys;
  ag_id *outs = new_ids(d, d->nc + 1), rows = n->raw ? 0 : ag_kept_rows(d);
  memcpy(outs, sigma, sizeof *outs * (size_t)d->nc);
  if (rows) ag_forward(d->g, d->nc, d->xi, sigma, 1, &rows, &outs[d->nc]);
  ag_tape *tape = ag_full_tape(sys, d->nc + (rows ? 1 : 0), outs);
  int n_row = rows ? sys->n.lambda : 0, n_out = sys->n.xi + n_row, width = 1 + sys->n.q;
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1)),
         *v = ag_heap_alloc(sizeof(double) * (size_t)n_out);
  ag_status status = AG_OK;
  for (int k = -1; k < d->n_sample && status == AG_OK; k++) { /* the start, then the samples */
    memcpy(x, k < 0 ? sys->q0 : d->samples + k * width + 1, sizeof(double) * (size_t)sys->n.q);
    ag_tape_once(tape, k < 0 ? sys->t0 : d->samples[k * width], x, sys->params, NULL, v);
    double size = 1, off = 0;
    for (int j = 0; j < sys->n.xi; j++) size = fmax(size, fabs(v[j]));
    for (int r = 0; r < n_row; r++) off = fmax(off, fabs(v[sys->n.xi + r]));
    bool finite = ag_all_finite(n_out, v);
    if (finite && off <= OFF * size) continue;
    if (!finite && k >= 0) continue; /* not everywhere in the domain need the completion exist */
    if (!finite) ag_ctx_error(d->ctx, n->pos, "this transport has no finite value at the start");
    else
      ag_ctx_error(d->ctx, n->pos,
                   "this transport violates the constraints (S sigma = %.3g): give fewer components, or write `raw`",
                   off);
    status = AG_WRONG;
  }
  ag_tape_free(tape);
  free(x);
  free(v);
  return status;
}
