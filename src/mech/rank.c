/* SPDX-License-Identifier: MIT
 * Which rows of the constraints are independent. Rows that share no velocity, directly or through others, fall into
 * blocks that are ranked on their own. The rank of a block is that at the start and around it: a row that is dependent
 * or zero there and not elsewhere does not act yet. Such rows, and those that follow from others everywhere, are
 * watched during runs (run/rows.c). */
#include <math.h>
#include <string.h>

#include "math/blocks.h"
#include "math/dense.h"
#include "mech/mech_internal.h"

/* Relative distance from the span of the other rows below which a row counts as dependent: far above rounding error
 * (1e-16 times condition), far below what a modeller would call independent. */
static const double RANK_TOL = 1e-9;
/* A choice of rows is good where its smallest singular value is at least this part of that of all rows. */
static const double GOOD = 0.1;

enum { N_NEAR = 8 }; /* states around the start */

/* The rows at a state, block by block. */
typedef struct ranks {
  derive *d;
  ag_blocks blocks;
  int *place;                  /* per entry of S: where in the matrices */
  int *at;                     /* per block: where its matrix begins */
  double *values, *s, *x, *v;  /* the matrices; the residuals at xi = 0; scratch */
  double *least, *most;        /* per row: its smallest and largest norm at the samples */
  double *near;                /* N_NEAR states t, q around the start */
  int n_near, *pivots, *found; /* found: per block and sample its rank, -1: not finite */
  int *rank;                   /* per block: at and around the start */
} ranks;

static int rows_of(const ranks *k, int b) { return ag_block_rows(&k->blocks, b); }
static int cols_of(const ranks *k, int b) { return ag_block_cols(&k->blocks, b); }
static int row_at(const ranks *k, int b, int i) { return k->blocks.row[k->blocks.row_at[b] + i]; }

static size_t width(const ranks *k) { return (size_t)k->d->sys->n.q + 1; }

/* ---- states ---- */

/* Do all margins of the model hold at q? Where one does not, the formulas of a contact are not valid. */
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

/* The samples at times up to 1e4 after the start, where rows depend on t: a coefficient such as cos(w t) may vanish
 * only then. Not before the start: a motion backward is rare, and 1 + t/10 is as good as constant. */
static void make_later(derive *d, ag_sampler *sampler, const ag_tape *margins) {
  /* a cosine of any frequency above 1e-3 is below 0.05 at 1 % of these times or more: none of 900 is 1 in 1e4 */
  enum { EACH = 3 };
  const ag_system *sys = d->sys;
  const size_t size = (size_t)sys->n.q + 1;
  if (!ag_depends(d->g, sys->n.row, d->row_x, 1, &d->m->t)) return;
  d->later = AG_NEWN(sys->arena, double, size *(size_t)(EACH * d->n_sample));
  for (int i = 0; i < EACH * d->n_sample; i++) {
    double *at = d->later + size * (size_t)d->n_later;
    memcpy(at, d->samples + size * (size_t)(i / EACH), sizeof(double) * size);
    at[0] = sys->t0 + 2 * pow(5e3, ag_random_unit(&sampler->state));
    if (!ag_position_project(sys, at[0], sys->params, at + 1) || !ag_sampler_inside(sampler, at[0], at + 1)) continue;
    d->n_later += margins_hold(sys, margins, at[0], at + 1);
  }
}

/* Samples: the start (index 0), then points of the domain moved onto the position constraints, where margins hold. */
static void make_samples(derive *d) {
  /* a factor that vanishes somewhere on a circle is below 0.1 for 6 % of the angles: 300 samples will find it */
  enum { N = 300 };
  ag_system *sys = d->sys;
  size_t size = (size_t)sys->n.q + 1;
  d->samples = AG_NEWN(sys->arena, double, size *(N + 1 + N_NEAR));
  d->samples[0] = sys->t0;
  memcpy(d->samples + 1, sys->q0, sizeof(double) * (size_t)sys->n.q);
  d->n_sample = 1;
  ag_sampler sampler;
  ag_sampler_init(&sampler, sys, sys->params, 20260101);
  ag_tape *margins = margin_tape(sys);
  for (int i = 0; i < 2 * N && d->n_sample <= N; i++) {
    double *at = d->samples + size * (size_t)d->n_sample;
    if (!ag_sampler_next(&sampler, &at[0], at + 1)) break;
    if (!ag_position_project(sys, at[0], sys->params, at + 1)) continue;
    if (margins_hold(sys, margins, at[0], at + 1)) d->n_sample++;
  }
  make_later(d, &sampler, margins);
  ag_tape_free(margins);
  ag_sampler_done(&sampler);
}

/* The start moved a little: a row that a factor x makes zero there is 1e-3 elsewhere, far above RANK_TOL. */
static void make_near(ranks *k) {
  const ag_system *sys = k->d->sys;
  uint64_t random = 20260103;
  double *delta = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.xi + 1));
  for (int i = 0; i < N_NEAR; i++) {
    double *at = k->near + width(k) * (size_t)k->n_near;
    memcpy(at, k->d->samples, sizeof(double) * width(k));
    for (int j = 0; j < sys->n.xi; j++) delta[j] = 1e-3 * (2 * ag_random_unit(&random) - 1);
    ag_retract(sys, at + 1, delta);
    k->n_near += ag_position_project(sys, at[0], sys->params, at + 1);
  }
  free(delta);
}

/* ---- blocks ---- */

static void ranks_init(ranks *k, derive *d) {
  const ag_system *sys = d->sys;
  int m = sys->n.row, n = sys->n.xi, total = 0;
  *k = (ranks){.d = d};
  double *pattern = ag_heap_alloc(sizeof(double) * ((size_t)m * (size_t)n + 1));
  for (int i = 0; i < d->S_at.n; i++) pattern[d->S_at.row[i] * n + d->S_at.col[i]] = 1;
  ag_blocks_init(&k->blocks, m, n, pattern);
  k->at = ag_heap_alloc(sizeof(int) * (size_t)(k->blocks.n + 1));
  k->place = ag_heap_alloc(sizeof(int) * (size_t)(d->S_at.n + 1));
  for (int b = 0; b < k->blocks.n; b++) { /* the pattern becomes the places */
    k->at[b] = total;
    for (int i = 0; i < rows_of(k, b); i++)
      for (int j = 0; j < cols_of(k, b); j++)
        pattern[row_at(k, b, i) * n + k->blocks.col[k->blocks.col_at[b] + j]] = total++;
  }
  for (int i = 0; i < d->S_at.n; i++) k->place[i] = (int)pattern[d->S_at.row[i] * n + d->S_at.col[i]];
  free(pattern);
  k->values = ag_heap_alloc(sizeof(double) * (size_t)(total + 1));
  k->x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + n));
  k->v = ag_heap_alloc(sizeof(double) * (size_t)(d->S_at.n + m));
  k->s = k->v + d->S_at.n;
  k->least = ag_heap_alloc(sizeof(double) * (size_t)m);
  k->most = ag_heap_alloc(sizeof(double) * (size_t)m);
  k->pivots = ag_heap_alloc(sizeof(int) * (size_t)m);
  k->rank = ag_heap_alloc(sizeof(int) * (size_t)(k->blocks.n + 1));
  make_samples(d);
  k->found = ag_heap_alloc(sizeof(int) * (size_t)(k->blocks.n * d->n_sample + 1));
  k->near = ag_heap_alloc(sizeof(double) * width(k) * N_NEAR);
  make_near(k);
}

static void ranks_done(ranks *k) {
  ag_blocks_done(&k->blocks);
  free(k->at), free(k->place), free(k->values), free(k->x), free(k->v), free(k->least), free(k->most), free(k->pivots);
  free(k->found), free(k->near), free(k->rank);
}

static void rows_at(ranks *k, const double *at) {
  memcpy(k->x, at + 1, sizeof(double) * (size_t)k->d->sys->n.q);
  ag_tape_once(k->d->rows_tape, at[0], k->x, k->d->sys->params, NULL, k->v);
  for (int i = 0; i < k->d->S_at.n; i++) k->values[k->place[i]] = k->v[i];
}

static const double *sample(const ranks *k, int i) { return k->d->samples + width(k) * (size_t)i; }

/* Of block b at the state of rows_at(); its rows into pivots, independent ones first. */
static int rank_now(ranks *k, int b) {
  return ag_dense_rank(rows_of(k, b), cols_of(k, b), k->values + k->at[b], RANK_TOL, k->pivots);
}

/* Norms of the rows over the samples: velocity constraints with coefficients that nearly vanish somewhere in the
 * domain, relative to their size elsewhere, are fragile. */
static void find_norms(ranks *k) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  double *square = ag_heap_alloc(sizeof(double) * (size_t)sys->n.row);
  for (int r = 0; r < sys->n.row; r++) k->least[r] = INFINITY;
  for (int i = 0; i < d->n_sample; i++) {
    rows_at(k, sample(k, i));
    memset(square, 0, sizeof(double) * (size_t)sys->n.row);
    for (int j = 0; j < d->S_at.n; j++) square[d->S_at.row[j]] += k->v[j] * k->v[j];
    for (int r = 0; r < sys->n.row; r++) {
      k->least[r] = fmin(k->least[r], sqrt(square[r]));
      k->most[r] = fmax(k->most[r], isfinite(square[r]) ? sqrt(square[r]) : 0);
    }
    for (int b = 0; b < k->blocks.n; b++) k->found[b * d->n_sample + i] = rank_now(k, b);
  }
  sys->row_scale = AG_NEWN(sys->arena, double, sys->n.row + 1);
  memcpy(sys->row_scale, k->most, sizeof(double) * (size_t)sys->n.row);
  for (int r = 0; r < sys->n.row; r++)
    d->may_vanish[r] = sys->rows[r].kind == AG_ROW_CONSTRAINT && k->least[r] < 0.2 * k->most[r];
  free(square);
}

/* ---- at and around the start ---- */

/* A row of block b that does not hold when the r independent ones (k->pivots) do, or -1. */
static int contradiction(const ranks *k, int b, int r) {
  int m = rows_of(k, b), n = cols_of(k, b), found = -1;
  const double *S = k->values + k->at[b];
  double *Sr = ag_heap_alloc(sizeof(double) * (size_t)(r * n + 1)),
         *P = ag_heap_alloc(sizeof(double) * (size_t)(r * n + 1)),
         *xi = ag_heap_alloc(sizeof(double) * (size_t)(n + 1));
  for (int i = 0; i < r; i++) memcpy(Sr + i * n, S + k->pivots[i] * n, sizeof(double) * (size_t)n);
  if (r) ag_dense_pinv(r, n, Sr, P); /* xi = -S_r^+ s_r satisfies the independent rows; the others must then hold too */
  for (int j = 0; j < n; j++)
    for (int i = 0; i < r; i++) xi[j] -= P[j * r + i] * k->s[row_at(k, b, k->pivots[i])];
  for (int i = r; i < m && found < 0; i++) {
    int row = k->pivots[i];
    double e = k->s[row_at(k, b, row)], scale = fabs(e);
    for (int j = 0; j < n; j++) e += S[row * n + j] * xi[j], scale += fabs(S[row * n + j] * xi[j]);
    if (fabs(e) > 1e-9 * (1 + scale)) found = row_at(k, b, row);
  }
  free(Sr), free(P), free(xi);
  return found;
}

/* The largest rank of block b around the start; *bad: a row that contradicts others there, or -1. */
static int rank_near(ranks *k, int b, int *bad) {
  int best = 0;
  *bad = -1;
  for (int i = -1; i < k->n_near && *bad < 0; i++) {
    rows_at(k, i < 0 ? k->d->samples : k->near + width(k) * (size_t)i);
    int r = rank_now(k, b);
    if (r < 0) continue; /* not finite there */
    best = r > best ? r : best;
    if (r < rows_of(k, b)) *bad = contradiction(k, b, r);
  }
  return best;
}

static ag_status refuse_contradiction(derive *d, int row) {
  ag_system *sys = d->sys;
  const char *count =
      ag_arena_printf(sys->arena, ": more constraints (%d equations) than velocities (%d)", sys->n.row, sys->n.xi);
  ag_ctx_error(d->ctx, sys->rows[row].pos, "%s contradicts the constraints before it: no velocity satisfies them all%s",
               ag_row_text(sys, row, sys->arena), sys->n.row > sys->n.xi ? count : "");
  return AG_WRONG;
}

/* The rank of each block around the start, which must not be a singular configuration. */
static ag_status start_ranks(ranks *k) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  int at_start = 0, lost = -1, bad;
  bool defined = true;
  bool *empty = AG_NEWN(sys->arena, bool, sys->n.row + 1); /* rows without velocities */
  memset(empty, true, (size_t)sys->n.row);
  for (int i = 0; i < d->S_at.n; i++) empty[d->S_at.row[i]] = false;
  rows_at(k, d->samples);
  for (int r = 0; r < sys->n.row; r++)
    if (empty[r] && !(fabs(k->s[r]) < 1e-9)) return refuse_contradiction(d, r);
  for (int b = 0; b < k->blocks.n; b++) {
    int here = k->found[b * d->n_sample], near = rank_near(k, b, &bad);
    if (bad >= 0) return refuse_contradiction(d, bad);
    at_start += here < 0 ? 0 : here;
    sys->n.rank += k->rank[b] = near;
    if (here >= near || lost >= 0) continue;
    defined = here >= 0;
    rows_at(k, d->samples);
    (void)rank_now(k, b);
    lost = row_at(k, b, here < 0 ? 0 : k->pivots[here]);
  }
  if (lost < 0) return AG_OK;
  if (!defined)
    ag_ctx_error(d->ctx, sys->rows[lost].pos,
                 "%s has no finite coefficients at the start: choose another start, or write it without the division",
                 ag_row_text(sys, lost, sys->arena));
  else
    ag_ctx_error(d->ctx, sys->rows[lost].pos,
                 "the constraints lose rank at the start (%d of %d rows independent): choose another start", at_start,
                 sys->n.rank);
  return AG_WRONG;
}

/* How many of the position-level rows, which come last, are independent at the start. */
static int position_rank(ranks *k) {
  const ag_system *sys = k->d->sys;
  int rank = 0;
  rows_at(k, k->d->samples);
  for (int b = 0; b < k->blocks.n; b++) {
    int m = rows_of(k, b), n = cols_of(k, b), first = 0;
    while (first < m && row_at(k, b, first) < sys->n.row - sys->n.g) first++;
    int r = ag_dense_rank(m - first, n, k->values + k->at[b] + first * n, RANK_TOL, NULL);
    rank += r > 0 ? r : 0;
  }
  return rank;
}

/* ---- which rows to keep ---- */

/* Rows of block b in the order in which they are tried. */
typedef enum order { IN_ORDER, STEADY_FIRST, IN_REVERSE, N_ORDER } order;

static void make_order(const ranks *k, int b, order how, int *by) {
  int m = rows_of(k, b);
  for (int i = 0; i < m; i++) by[i] = how == IN_REVERSE ? m - 1 - i : i;
  for (int i = 1; i < m && how == STEADY_FIRST; i++) /* the smallest norm relative to the largest, descending */
    for (int j = i; j > 0; j--) {
      int p = row_at(k, b, by[j - 1]), q = row_at(k, b, by[j]), x = by[j];
      if (!(k->least[q] * k->most[p] > 1.0001 * k->least[p] * k->most[q])) break;
      by[j] = by[j - 1], by[j - 1] = x;
    }
}

/* Rows of block b that the order chooses somewhere in the region of the start; how many. */
static int choose(ranks *k, int b, const int *by, bool *chosen) {
  int m = rows_of(k, b), n = cols_of(k, b), count = 0;
  double *S = ag_heap_alloc(sizeof(double) * (size_t)(m * n + 1));
  memset(chosen, 0, (size_t)m);
  for (int i = 0; i < k->d->n_sample; i++) {
    if (k->found[b * k->d->n_sample + i] != k->rank[b]) continue;
    rows_at(k, sample(k, i));
    for (int r = 0; r < m; r++) memcpy(S + r * n, k->values + k->at[b] + by[r] * n, sizeof(double) * (size_t)n);
    int rank = ag_dense_rank(m, n, S, RANK_TOL, k->pivots);
    for (int r = 0; r < rank; r++) chosen[by[k->pivots[r]]] = true;
  }
  for (int r = 0; r < m; r++) count += chosen[r];
  free(S);
  return count;
}

/* The last of the `rank` largest singular values of the chosen rows of block b, each divided by its scale. */
static double strength(const ranks *k, int b, const bool *chosen, int rank) {
  int m = rows_of(k, b), n = cols_of(k, b), count = 0;
  double *S = ag_heap_alloc(sizeof(double) * (size_t)(m * n + 1)), *s = ag_heap_alloc(sizeof(double) * (size_t)(m + n));
  for (int i = 0; i < m; i++) {
    double scale = k->most[row_at(k, b, i)];
    if (!(chosen && !chosen[i]) && scale > 0) {
      for (int j = 0; j < n; j++) S[count * n + j] = k->values[k->at[b] + i * n + j] / scale;
      count++;
    }
  }
  bool good = rank > 0 && count >= rank && n >= rank && ag_dense_svals(count, n, S, s) == 0;
  double value = good ? s[rank - 1] : 0;
  free(S), free(s);
  return value;
}

/* How good a choice is where it is worst, relative to all rows. */
static double judge(ranks *k, int b, const bool *chosen) {
  double worst = 1;
  for (int i = 0; i < k->d->n_sample; i++) {
    if (k->found[b * k->d->n_sample + i] != k->rank[b]) continue;
    rows_at(k, sample(k, i));
    double all = strength(k, b, NULL, k->rank[b]);
    if (all > 0) worst = fmin(worst, strength(k, b, chosen, k->rank[b]) / all);
  }
  return worst;
}

/* The rows of block b to keep: as many as are independent, in the order of the model if that is as good as another;
 * or all that act in the region of the start, where every choice goes bad somewhere. */
static void keep_block(ranks *k, int b, bool frame) {
  ag_system *sys = k->d->sys;
  int m = rows_of(k, b), *by = ag_heap_alloc(sizeof(int) * (size_t)(m + 1));
  bool *chosen = ag_heap_alloc((size_t)m + 1), *best = ag_heap_alloc((size_t)m + 1);
  double best_value = -1;
  for (order how = IN_ORDER; how < N_ORDER; how++) {
    make_order(k, b, how, by);
    if (choose(k, b, by, chosen) != k->rank[b]) continue;
    double value = judge(k, b, chosen) * (how == IN_ORDER ? 2 : 1);
    if (value > best_value * 1.0001) best_value = value, memcpy(best, chosen, (size_t)m);
    if (how == IN_ORDER && value > 1) break;
  }
  for (int i = 0; i < m; i++) chosen[i] = k->most[row_at(k, b, i)] > 0;
  bool all = best_value < 0 || (best_value < GOOD && !frame);
  for (int i = 0; i < m; i++) sys->rows[row_at(k, b, i)].kept = all ? chosen[i] : best[i];
  free(by), free(chosen), free(best);
}

/* Samples at which more rows are independent than around the start do not count for the choice of rows. */
static void keep_region(ranks *k) {
  derive *d = k->d;
  int n = 0, total = d->n_sample;
  for (int i = 0; i < total; i++) {
    bool inside = true;
    for (int b = 0; b < k->blocks.n; b++) inside = inside && k->found[b * total + i] <= k->rank[b];
    if (inside) memmove(d->samples + width(k) * (size_t)n++, sample(k, i), sizeof(double) * width(k));
  }
  if (n == total) return;
  memcpy(d->samples + width(k) * (size_t)n, k->near, sizeof(double) * width(k) * (size_t)k->n_near);
  d->n_sample = n + k->n_near;
}

/* Multipliers of the kept rows; notes about the others. */
static ag_status number_rows(derive *d) {
  ag_system *sys = d->sys;
  int m = sys->n.row;
  for (int r = 0; r < m; r++) {
    if (sys->rows[r].kept) sys->rows[r].lambda = sys->n.lambda++;
    else
      ag_ctx_note(d->ctx, sys->rows[r].pos, "%s follows from the others and is dropped",
                  ag_row_text(sys, r, sys->arena));
  }
  int more = sys->n.lambda - sys->n.rank;
  if (more && d->m->n_frames) {
    ag_ctx_error(d->ctx, sys->rows[m - 1].pos,
                 "which constraints are independent changes from place to place: this is not possible with a frame");
    return AG_WRONG;
  }
  if (more)
    ag_ctx_note(d->ctx, sys->rows[m - 1].pos,
                "of %d rows %d %s from the others, which %s changes from place to place: all are kept", sys->n.lambda,
                more, ag_plural(more, "follows", "follow"), ag_plural(more, "one", "ones"));
  return AG_OK;
}

ag_status ag_rows_rank(derive *d) {
  ag_system *sys = d->sys;
  d->may_vanish = AG_NEWN(sys->arena, bool, sys->n.row + 1);
  if (sys->n.row == 0) return AG_OK;
  if (ag_is_sparse(sys)) return ag_sparse_rank(d);
  ranks k;
  ranks_init(&k, d);
  find_norms(&k);
  ag_status status = start_ranks(&k);
  if (status == AG_OK) {
    sys->g_rank = position_rank(&k);
    for (int r = 0; r < sys->n.row; r++) sys->rows[r].kept = false;
    for (int b = 0; b < k.blocks.n; b++)
      if (k.rank[b] == rows_of(&k, b))
        for (int i = 0; i < rows_of(&k, b); i++) sys->rows[row_at(&k, b, i)].kept = true;
      else if (k.rank[b]) keep_block(&k, b, d->m->n_frames > 0);
    keep_region(&k);
    status = number_rows(d);
  }
  ranks_done(&k);
  return status;
}
