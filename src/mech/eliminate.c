/* SPDX-License-Identifier: MIT
 * Independent velocities: writes every quasi-velocity as xi = B(q,t) u + xi0(q,t).
 *
 * In this order: (1) a vector constraint in which one coordinate's velocity stands alone (coefficient 1) gives that
 * velocity, as a vector; (2) a row in which some velocity has the constant coefficient 1 gives it; (3) the remaining
 * rows fall into connected groups: where some minor stays away from zero all over the domain, its velocities are solved
 * for in closed form; (4) what remains is written in a basis that is data, not code: y = B v + y0 with y0 = -S^T (S
 * S^T)^-1 s the shortest solution, B = N - S^T (S S^T)^-1 S N the projection onto ker S of a basis N chosen at the last
 * refresh, and v coordinates that make it orthonormal at every q. A `frame` statement turns its velocities into
 * further rows f(q, xi, t) = u. */
#include <math.h>
#include <string.h>

#include "mech/eliminate_internal.h"

/* A minor counts as bounded away from zero if, divided by the norms of its rows, it stays above this at all samples. */
static const double MINOR_MIN = 0.05;

static void replace(elim *e, ag_id from, ag_id to) {
  if (e->n_block) ag_substitute(e->g, 1, &from, &to, e->n_block, e->blocks);
  if (e->n_row) ag_substitute(e->g, 1, &from, &to, e->n_row, e->rows);
  ag_substitute(e->g, 1, &from, &to, e->d->nc, e->d->velocity);
}

static void drop_leaf(elim *e, int i) { e->leaves[i] = e->leaves[--e->n_leaf]; }

/* Leaves in the order of the coordinates, so that names and layout do not depend on the elimination. */
static int by_place(const void *a, const void *b) {
  const leaf *p = a, *q = b;
  return p->coord != q->coord ? p->coord - q->coord : p->row - q->row;
}

static void mark_dependent(elim *e, int coord, int row) {
  const ag_layout_row *p = &e->d->sys->coords[coord];
  for (int k = 0; k < p->n_tangent; k++)
    if (row < 0 || k == row) e->d->dependent[p->tangent + k] = true;
}

/* Turns a whole-coordinate leaf of dimension > 1 into one leaf per component. */
static void split(elim *e, int i) {
  leaf whole = e->leaves[i];
  int dim = ag_node_rows(e->g, whole.input);
  ag_arena *arena = e->d->sys->arena;
  ag_id *parts = AG_NEWN(arena, ag_id, dim);
  drop_leaf(e, i);
  for (int k = 0; k < dim; k++) {
    const char *name = ag_component_name(arena, ag_node_name(e->g, whole.input), dim, k);
    parts[k] = ag_input(e->g, name, 1, 1, AG_LEAF_REAL);
    e->leaves[e->n_leaf++] = (leaf){parts[k], whole.coord, k};
  }
  replace(e, whole.input, ag_stack(e->g, dim, 1, parts));
}

/* ---- (1) vector constraints ---- */

/* Solves block b for the whole coordinate of leaf i when its coefficient is exactly 1 or a rotation Q (or minus that):
 * Q v + rest = 0 gives v = -Q^T rest. */
static bool solve_block(elim *e, int b, int i) {
  ag_graph *g = e->g;
  ag_id v = e->leaves[i].input, block = e->blocks[b], tangent;
  int dim = ag_node_rows(g, v);
  if (dim != ag_node_rows(g, block) || !ag_depends(g, 1, &block, 1, &v)) return false;
  ag_id seed = ag_input(g, "seed", dim, 1, AG_LEAF_REAL);
  ag_forward(g, 1, &v, &seed, 1, &block, &tangent);
  bool minus = ag_node_op(g, tangent) == AG_OP_NEG;
  ag_id turned = minus ? ag_node_arg(g, tangent, 0) : tangent, Q = 0;
  if (ag_node_op(g, turned) == AG_OP_MATMUL && ag_node_arg(g, turned, 1) == seed &&
      ag_is_rotation(g, ag_node_arg(g, turned, 0)))
    Q = ag_node_arg(g, turned, 0);
  if (turned != seed && !Q) return false;
  ag_id zero = ag_zero(g, dim, 1), rest = block;
  ag_substitute(g, 1, &v, &zero, 1, &rest);
  e->block_norms[b] = e->block_norms[e->n_block - 1];
  e->blocks[b] = e->blocks[--e->n_block];
  mark_dependent(e, e->leaves[i].coord, e->leaves[i].row);
  drop_leaf(e, i);
  if (Q) rest = ag_mul(g, ag_transpose(g, Q), rest);
  replace(e, v, minus ? rest : ag_neg(g, rest));
  return true;
}

static void solve_blocks(elim *e) {
  for (int b = 0; b < e->n_block;) {
    bool solved = false;
    if (ag_node_rows(e->g, e->blocks[b]) > 1)
      for (int i = 0; i < e->n_leaf && !solved; i++)
        if (e->leaves[i].row < 0) solved = solve_block(e, b, i);
    if (!solved) b++;
  }
}

/* ---- (2) rows with a coefficient 1 ---- */

static void solve_scalar(elim *e, int r, int i, ag_id coefficient) {
  ag_graph *g = e->g;
  ag_id v = e->leaves[i].input, zero = ag_num(g, 0), rest = e->rows[r];
  ag_substitute(g, 1, &v, &zero, 1, &rest);
  e->norms[r] = e->norms[e->n_row - 1];
  e->rows[r] = e->rows[--e->n_row];
  mark_dependent(e, e->leaves[i].coord, e->leaves[i].row);
  drop_leaf(e, i);
  replace(e, v, ag_div(g, ag_neg(g, rest), coefficient));
}

/* A leaf (and component of it) whose coefficient is the number `want`. Scalar leaves first, so that vectors stay whole
 * if possible. */
static bool find_unit(elim *e, const ag_id *c, double want, int *leaf_index, int *component) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < e->n_leaf; i++) {
      int dim = ag_node_rows(e->g, e->leaves[i].input);
      if ((dim > 1) != pass) continue;
      for (int k = 0; k < dim; k++) {
        double v;
        if (!ag_is_num(e->g, ag_entry(e->g, c[i], k, 0), &v) || v != want) continue;
        *leaf_index = i;
        *component = k;
        return true;
      }
    }
  return false;
}

static int leaf_of(const elim *e, int coord, int row) {
  for (int i = 0; i < e->n_leaf; i++)
    if (e->leaves[i].coord == coord && e->leaves[i].row == row) return i;
  return -1;
}

/* The scalar leaf of component k of leaf i, splitting it when it is a vector. */
static int scalar_leaf(elim *e, int i, int k) {
  if (ag_node_rows(e->g, e->leaves[i].input) == 1) return i;
  int coord = e->leaves[i].coord;
  split(e, i);
  return leaf_of(e, coord, k);
}

static void solve_units(elim *e) {
  ag_id *c = ag_heap_alloc(sizeof *c * (size_t)(e->d->sys->n.xi + e->n_leaf + 1));
  for (int r = 0; r < e->n_row;) {
    int i, k;
    ag_elim_coefficients(e, e->rows[r], c);
    bool plus = find_unit(e, c, 1, &i, &k);
    if (!plus && !find_unit(e, c, -1, &i, &k)) {
      r++;
      continue;
    }
    solve_scalar(e, r, scalar_leaf(e, i, k), ag_num(e->g, plus ? 1 : -1));
  }
  free(c);
}

/* ---- (3) groups of rows: minors ---- */

/* The scalar leaf of a column, split off where it is part of a vector. */
static int column_leaf(elim *e, const leaf *c) {
  int at = leaf_of(e, c->coord, c->row);
  return at >= 0 ? at : scalar_leaf(e, leaf_of(e, c->coord, -1), c->row);
}

/* The minor divided by the norms of its rows, squared, is monitored during the run if it is not constant; where it
 * depends on parameters, others may need another one. */
static void watch_minor(elim *e, const group *grp, ag_id dependent, double least) {
  ag_graph *g = e->g;
  derive *d = e->d;
  ag_id norms = ag_num(g, 1), det = ag_det(g, dependent);
  for (int i = 0; i < grp->n_row; i++) norms = ag_mul(g, norms, e->norms[grp->row[i]]);
  ag_id minor = ag_div(g, ag_mul(g, det, det), norms);
  double bound = 0.16 * least * least, value; /* well below all values at the samples of the domain */
  if (ag_depends(g, 1, &minor, d->nc, d->q) || ag_depends(g, 1, &minor, 1, &d->m->t) ||
      ag_process_in(d->m, 1, &minor)) {
    d->sys->minor_bound[d->sys->n_minor] = bound;
    d->minors[d->sys->n_minor++] = minor;
  } else if (!ag_is_num(g, minor, &value)) {
    d->sys->steady_bound[d->sys->n_steady] = bound;
    d->steady[d->sys->n_steady++] = minor;
  }
}

/* S y = b: two unknowns by Cramer's rule, written out, since the determinant is often simple (1 for a heading); else a
 * solve, or formulas where they are for reading. */
static ag_id small_solve(derive *d, int k, const ag_id *S, const ag_id *b) {
  ag_graph *g = d->g;
  if (k != 2) {
    ag_id formulas = d->options->symbolic ? ag_kernel_solve(g, k, S, b) : 0;
    if (formulas) return formulas;
    ag_id A = ag_stack(g, k, k, S), right = ag_stack(g, k, 1, b);
    return ag_solve(g, A, right, AG_SOLVE_GENERAL);
  }
  ag_id product[6], y[2];
  product[0] = ag_mul(g, S[0], S[3]);
  product[1] = ag_mul(g, S[1], S[2]);
  product[2] = ag_mul(g, S[3], b[0]);
  product[3] = ag_mul(g, S[1], b[1]);
  product[4] = ag_mul(g, S[0], b[1]);
  product[5] = ag_mul(g, S[2], b[0]);
  ag_id det = ag_sub(g, product[0], product[1]);
  y[0] = ag_div(g, ag_sub(g, product[2], product[3]), det);
  y[1] = ag_div(g, ag_sub(g, product[4], product[5]), det);
  return ag_stack(g, 2, 1, y);
}

/* Solves the group's rows for the chosen columns: y = -S_dep^-1 (rows at y = 0). */
static void solve_group(elim *e, const group *grp, const int *pick, double least) {
  ag_graph *g = e->g;
  int k = grp->n_row;
  ag_arena *arena = e->d->sys->arena;
  ag_id *S = AG_NEWN(arena, ag_id, k * k), *y = AG_NEWN(arena, ag_id, k), *rest = AG_NEWN(arena, ag_id, k);
  ag_id *zeros = AG_NEWN(arena, ag_id, k);
  for (int j = 0; j < k; j++) {
    const leaf *c = &grp->col[pick[j]];
    int i = column_leaf(e, c);
    y[j] = e->leaves[i].input;
    zeros[j] = ag_num(g, 0);
    mark_dependent(e, c->coord, c->row);
    drop_leaf(e, i);
    for (int r = 0; r < k; r++) S[r * k + j] = grp->S[r * grp->n_col + pick[j]];
  }
  for (int r = 0; r < k; r++) rest[r] = e->rows[grp->row[r]];
  ag_substitute(g, k, y, zeros, k, rest);
  ag_id dependent = ag_stack(g, k, k, S), solution = ag_neg(g, small_solve(e->d, k, S, rest));
  watch_minor(e, grp, dependent, least);
  for (int j = 0; j < k; j++) replace(e, y[j], ag_entry(g, solution, j, 0));
}

/* ---- (4) a basis that is data ---- */

static void solve_basis(elim *e, const group *grp) {
  derive *d = e->d;
  ag_graph *g = e->g;
  ag_system *sys = d->sys;
  int n_s = grp->n_row, n_y = grp->n_col;
  ag_basis *basis = &sys->bases[sys->n_basis];
  *basis = (ag_basis){.n_y = n_y, .n_w = grp->rank, .n_s = n_s, .y_index = AG_NEWN(sys->arena, int, n_y)};
  ag_id *y = AG_NEWN(sys->arena, ag_id, n_y), *rest = AG_NEWN(sys->arena, ag_id, n_s),
        *zeros = AG_NEWN(sys->arena, ag_id, n_y), u;
  for (int c = 0; c < n_y; c++) {
    int at = column_leaf(e, &grp->col[c]);
    y[c] = e->leaves[at].input;
    zeros[c] = ag_num(g, 0);
    basis->y_index[c] = sys->coords[grp->col[c].coord].tangent + (grp->col[c].row < 0 ? 0 : grp->col[c].row);
    drop_leaf(e, at);
  }
  for (int r = 0; r < n_s; r++) rest[r] = e->rows[grp->row[r]];
  ag_substitute(g, n_y, y, zeros, n_s, rest);
  ag_id S = ag_stack(g, n_s, n_y, grp->S), s = ag_stack(g, n_s, 1, rest);
  ag_id solution = ag_basis_solve(d, basis, S, s, &u);
  if (u) e->leaves[e->n_leaf++] = (leaf){u, d->nc + sys->n_basis, -1};
  for (int j = 0; j < n_y; j++) replace(e, y[j], ag_entry(g, solution, j, 0));
  sys->n_basis++;
  sys->elimination = AG_ELIM_BASIS;
}

/* ---- all of it ---- */

static ag_status solve_frame_groups(elim *e, int n_group, const group *groups) {
  int pick[AG_MINOR_MAX];
  for (int i = 0; i < n_group; i++) {
    const group *grp = &groups[i];
    double least = grp->n_row == grp->n_col && grp->n_row <= AG_MINOR_MAX ? ag_group_minor(e, grp, false, pick) : 0;
    if (least < 1e-6) {
      ag_ctx_error(
          e->d->ctx, e->d->m->frames[0].pos,
          "the velocities of the frame and the constraints do not determine all velocities everywhere in the domain");
      return AG_WRONG;
    }
    solve_group(e, grp, pick, least);
  }
  return AG_OK;
}

static bool has_basis(const group *grp) {
  return grp->n_col - grp->rank <= AG_BASIS_MAX && (grp->rank == grp->n_row || grp->rank <= AG_BASIS_MAX);
}

/* 0 where rows are redundant. What vanishes at later times is avoided where there is something better. */
static double best_minor(const elim *e, const group *grp, int *pick) {
  return grp->rank == grp->n_row ? ag_group_minor(e, grp, has_basis(grp), pick) : 0;
}

/* False: a group is too large for a basis. */
static bool solve_groups(elim *e, int n_group, const group *groups) {
  int pick[AG_MINOR_MAX];
  for (int i = 0; i < n_group; i++) {
    const group *grp = &groups[i];
    double least = best_minor(e, grp, pick);
    if (grp->rank == 0) continue; /* no rows are left */
    if (least >= MINOR_MIN) solve_group(e, grp, pick, least);
    else if (has_basis(grp)) solve_basis(e, grp);
    else return false;
  }
  return true;
}

/* Uses the saddle-point system instead; the elimination begun so far is discarded. */
static ag_status give_up(derive *d) {
  ag_system *sys = d->sys;
  if (sys->n.rank < sys->n.lambda) {
    ag_ctx_error(d->ctx, sys->rows[sys->n.row - 1].pos,
                 "which constraints are independent changes from place to place: drop the redundant ones");
    return AG_WRONG;
  }
  sys->n_basis = sys->n.c = sys->n_minor = sys->n_steady = 0;
  memset(d->dependent, 0, sizeof *d->dependent * (size_t)sys->n.xi);
  ag_saddle_rows(d);
  ag_saddle_choose(d);
  return AG_OK;
}

/* Squared norm of each row of x over all velocities; extra: what else counts (1 for the velocity of a frame). */
static ag_id row_norms(derive *d, ag_id x, double extra) {
  ag_graph *g = d->g;
  int n = ag_node_rows(g, x);
  ag_id one = ag_num(g, 1), *out = AG_NEWN(d->sys->arena, ag_id, n), *c = AG_NEWN(d->sys->arena, ag_id, d->nc + 1);
  for (int k = 0; k < n; k++) {
    ag_id row = ag_entry(g, x, k, 0);
    ag_reverse(g, 1, &row, &one, d->nc, d->xi, c);
    out[k] = ag_num(g, extra);
    for (int i = 0; i < d->nc; i++) out[k] = ag_add(g, out[k], ag_dot(g, c[i], c[i]));
  }
  return ag_stack(g, n, 1, out);
}

/* Blocks of kept rows: whole statements where all rows are kept, single rows otherwise; frame equations f - u of
 * n_frame of its velocities. */
static void collect(elim *e, int n_frame) {
  derive *d = e->d;
  ag_system *sys = d->sys;
  for (int r = 0; r < sys->n.row;) {
    int n = 1;
    bool all = sys->rows[r].kept;
    while (r + n < sys->n.row && sys->rows[r + n].kind == sys->rows[r].kind &&
           sys->rows[r + n].item == sys->rows[r].item)
      all = all && sys->rows[r + n].kept, n++;
    const ag_row *row = &sys->rows[r];
    if (all && row->kind == AG_ROW_CONSTRAINT) e->blocks[e->n_block++] = d->m->constraints[row->item].x;
    else if (all) e->blocks[e->n_block++] = ag_concat(d->g, n, d->row_x + r);
    else
      for (int k = 0; k < n; k++)
        if (sys->rows[r + k].kept) e->blocks[e->n_block++] = d->row_x[r + k];
    r += n;
  }
  for (int i = 0; i < n_frame; i++) e->blocks[e->n_block++] = ag_sub(d->g, d->m->frames[i].x, d->m->frame_inputs[i]);
  for (int b = 0; b < e->n_block; b++) e->block_norms[b] = row_norms(d, e->blocks[b], b >= e->n_block - n_frame);
}

static ag_status check_frame(derive *d) {
  int n = 0;
  for (int i = 0; i < d->m->n_frames; i++) n += ag_node_rows(d->g, d->m->frames[i].x);
  int n_u = d->sys->n.xi - d->sys->n.rank;
  if (d->m->n_frames && n != n_u) {
    ag_ctx_error(d->ctx, d->m->frames[0].pos,
                 "the frame names %d %s, but there %s %d %s of freedom (%d %s, %d independent %s)", n,
                 ag_plural(n, "velocity", "velocities"), ag_plural(n_u, "is", "are"), n_u,
                 ag_plural(n_u, "degree", "degrees"), d->sys->n.xi, ag_plural(d->sys->n.xi, "velocity", "velocities"),
                 d->sys->n.lambda, ag_plural(d->sys->n.lambda, "constraint", "constraints"));
    return AG_WRONG;
  }
  return AG_OK;
}

/* Fixes the order of u and its names. */
static void name_u(elim *e) {
  derive *d = e->d;
  ag_system *sys = d->sys;
  bool frame = d->m->n_frames > 0;
  int n = frame ? d->m->n_frames : e->n_leaf, at = 0;
  qsort(e->leaves, (size_t)e->n_leaf, sizeof(leaf), by_place);
  sys->n_u_input = n;
  sys->u_inputs = AG_NEWN(sys->arena, ag_id, n + 1);
  for (int i = 0; i < n; i++) {
    sys->u_inputs[i] = frame ? d->m->frame_inputs[i] : e->leaves[i].input;
    if (!frame && e->leaves[i].coord >= d->nc) sys->bases[e->leaves[i].coord - d->nc].u = sys->n.u;
    sys->n.u += ag_node_rows(e->g, sys->u_inputs[i]);
  }
  sys->u_names = AG_NEWN(sys->arena, const char *, sys->n.u + 1);
  for (int i = 0; i < n; i++) {
    int dim = ag_node_rows(e->g, sys->u_inputs[i]);
    const char *name = ag_node_name(e->g, sys->u_inputs[i]);
    for (int k = 0; k < dim; k++) sys->u_names[at++] = ag_component_name(sys->arena, name, dim, k);
  }
}

static void begin(elim *e) {
  derive *d = e->d;
  ag_system *sys = d->sys;
  int n_max = sys->n.row + sys->n.xi + 1;
  e->blocks = AG_NEWN(sys->arena, ag_id, n_max);
  e->rows = AG_NEWN(sys->arena, ag_id, n_max);
  e->block_norms = AG_NEWN(sys->arena, ag_id, n_max);
  e->norms = AG_NEWN(sys->arena, ag_id, n_max);
  e->leaves = AG_NEWN(sys->arena, leaf, 2 * sys->n.xi + 2);
  d->velocity = AG_NEWN(sys->arena, ag_id, d->nc);
  d->dependent = AG_NEWN(sys->arena, bool, sys->n.xi);
  for (int i = 0; i < d->nc; i++) {
    d->velocity[i] = d->xi[i];
    e->leaves[e->n_leaf++] = (leaf){d->xi[i], i, -1};
  }
}

/* Velocities from coefficients 1: whole vectors, then single velocities. Leaves the other rows. */
static void solve_simple(elim *e) {
  solve_blocks(e);
  for (int b = 0; b < e->n_block; b++)
    for (int k = 0; k < ag_node_rows(e->g, e->blocks[b]); k++) {
      e->norms[e->n_row] = ag_entry(e->g, e->block_norms[b], k, 0);
      e->rows[e->n_row++] = ag_entry(e->g, e->blocks[b], k, 0);
    }
  e->n_block = 0;
  solve_units(e);
}

/* The velocities that are dependent without the frame: a start does not depend on whether there is one. */
static bool *dependent_by_default(derive *d) {
  int pick[AG_MINOR_MAX];
  elim e = {.d = d, .g = d->g};
  begin(&e);
  collect(&e, 0);
  solve_simple(&e);
  group *groups = AG_NEWN(d->sys->arena, group, e.n_row + 1);
  int n_group = ag_groups_make(&e, groups);
  bool ranked = ag_groups_rank(&e, n_group, groups);
  for (int i = 0; i < n_group && ranked; i++) {
    const group *grp = &groups[i];
    if (best_minor(&e, grp, pick) < MINOR_MIN) continue;
    for (int j = 0; j < grp->n_row; j++) mark_dependent(&e, grp->col[pick[j]].coord, grp->col[pick[j]].row);
  }
  return d->dependent;
}

ag_status ag_eliminate(derive *d) {
  ag_system *sys = d->sys;
  AG_TRY(check_frame(d));
  if (ag_is_large(d)) {
    ag_saddle_choose(d);
    return AG_OK;
  }
  bool *dependent = d->m->n_frames ? dependent_by_default(d) : NULL;
  elim e = {.d = d, .g = d->g};
  begin(&e);
  sys->bases = AG_NEWN(sys->arena, ag_basis, sys->n.row + 1);
  d->S_y = AG_NEWN(sys->arena, ag_id, sys->n.row + 1);
  d->renewed = AG_NEWN(sys->arena, ag_id, sys->n.row + 1);
  d->minors = AG_NEWN(sys->arena, ag_id, sys->n.row + sys->n.xi + 1);
  d->steady = AG_NEWN(sys->arena, ag_id, sys->n.row + sys->n.xi + 1);
  sys->minor_bound = AG_NEWN(sys->arena, double, sys->n.row + sys->n.xi + 1);
  sys->steady_bound = AG_NEWN(sys->arena, double, sys->n.row + sys->n.xi + 1);
  sys->elimination = d->m->n_frames ? AG_ELIM_FRAME : sys->n.lambda ? AG_ELIM_SOLVED : AG_ELIM_NONE;
  collect(&e, d->m->n_frames);
  solve_simple(&e);
  group *groups = AG_NEWN(sys->arena, group, e.n_row + 1);
  int n_group = ag_groups_make(&e, groups);
  bool ranked = ag_groups_rank(&e, n_group, groups);
  if (d->m->n_frames) AG_TRY(solve_frame_groups(&e, n_group, groups));
  else if (!ranked || !solve_groups(&e, n_group, groups)) return give_up(d);
  if (dependent) d->dependent = dependent;
  for (int i = 0; i < d->nc && d->options->symbolic; i++) d->velocity[i] = ag_as_vector(d->g, d->velocity[i]);
  name_u(&e);
  if (sys->n_minor) ag_role_make(sys, AG_ROLE_MINOR, sys->n_minor, d->minors);
  if (sys->n_steady) ag_role_make(sys, AG_ROLE_STEADY, sys->n_steady, d->steady);
  return AG_OK;
}
