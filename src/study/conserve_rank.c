/* SPDX-License-Identifier: MIT
 * Ranks inside the leaf. At fixed q and t the reaction is quadratic in the velocities: 1 + k + k(k+1)/2 of them span
 * all its values (k degrees of freedom). R_q, the reaction annihilator, are the directions in the leaf along which none
 * of these does work; D_q are the admissible ones. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"
#include "study/study.h"

/* A program for d alpha(X, Y), alpha the rows of S dq + s dt: D_X(alpha Y) - D_Y(alpha X) - alpha([X, Y]). X and Y
 * stand in the inputs of accelerations and reactions, their parts along t in two more. */
static ag_program *exterior(const ag_probe *p, ag_id *along_t) {
  const ag_geom *x = p->x;
  ag_graph *g = x->g;
  int nc = x->n_coord;
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)(p->n_input + 3 * nc + 8));
  ag_id *move = inputs + p->n_input + 2, *seed = move + nc + 1, *bracket = seed + nc + 1, part[2], all[2];
  memcpy(inputs, p->inputs, sizeof *inputs * (size_t)p->n_input);
  for (int k = 0; k < 2; k++) inputs[p->n_input + k] = along_t[k] = ag_input(g, "along t", 1, 1, AG_LEAF_REAL);
  for (int i = 0; i < nc; i++) move[i] = x->q[i];
  move[nc] = x->t;
  for (int k = 0; k < 2; k++) { /* k = 0: along X of alpha Y */
    const ag_id *along = k ? x->react : x->acc, *other = k ? x->acc : x->react;
    ag_id column = ag_concat(g, nc, other), value = ag_mul(g, x->S, column), drift = ag_mul(g, along_t[1 - k], x->s);
    value = ag_add(g, value, drift);
    for (int i = 0; i < nc; i++) seed[i] = along[i];
    seed[nc] = along_t[k];
    ag_forward(g, nc + 1, move, seed, 1, &value, &part[k]);
  }
  for (int i = 0; i < nc; i++) {
    bool rotation = ag_model_coords(x->model)[i].space == AG_SPACE_SO3;
    bracket[i] = rotation ? ag_cross(g, x->acc[i], x->react[i]) : ag_zero(g, ag_node_rows(g, x->xi[i]), 1);
  }
  all[0] = ag_sub(g, part[0], part[1]);
  all[1] = ag_mul(g, x->S, ag_concat(g, nc, bracket));
  ag_id out = ag_sub(g, all[0], all[1]);
  ag_program *program = ag_program_create(g, p->n_input + 2, inputs, 1, &out);
  free(inputs);
  return program;
}

void ag_conserve_kernel(const ag_field *f, int n, int rank, const uint64_t *A, const int *pivots, uint64_t *B) {
  for (int j = 0, r = 0, k = 0; j < n; j++) {
    if (r < rank && pivots[r] == j) {
      r++;
      continue;
    }
    uint64_t *row = B + (size_t)k++ * (size_t)n;
    memset(row, 0, sizeof *row * (size_t)n);
    row[j] = 1;
    for (int i = 0; i < rank; i++) row[pivots[i]] = ag_field_sub(f, 0, A[(size_t)i * (size_t)n + (size_t)j]);
  }
}

/* The combinations of the rows of S whose differential vanishes on D (with the drift): covectors, as many as returned.
 */
static int integrable(const ag_probe *p, const ag_point *at, uint64_t *covectors) {
  const ag_geom *x = p->x;
  int n = x->n, m = x->n_row, wide = n + 1, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(m + n + 2));
  ag_field f = at->f;
  ag_id along_t[2];
  ag_program *d = exterior(p, along_t);
  uint64_t *S = ag_heap_alloc(sizeof *S * (size_t)(m * n + m + 1)),
           *A = ag_heap_alloc(sizeof *A * (size_t)(m * wide + 1));
  uint64_t *B = ag_heap_alloc(sizeof *B * (size_t)(wide * wide + 1)),
           *in = ag_heap_alloc(sizeof *in * (size_t)(p->at[AG_PROBE_GROUPS] + 2));
  int n_found = 0;
  if (ag_field_eval(p->kinematic, &f, at->in, S) == AG_FIELD_OK) {
    for (int i = 0; i < m; i++) {
      memcpy(A + i * wide, S + i * n, sizeof *A * (size_t)n);
      A[i * wide + n] = S[m * n + i];
    }
    int rank = ag_field_echelon(&f, m, wide, A, pivots), k = wide - rank, n_row = 0;
    ag_conserve_kernel(&f, wide, rank, A, pivots, B);
    uint64_t *W = ag_heap_alloc(sizeof *W * (size_t)(k * k * m + m + 1)); /* equations for the coefficients */
    memcpy(in, at->in, sizeof *in * (size_t)p->at[AG_PROBE_GROUPS]);
    for (int a = 0; a < k; a++)
      for (int b = a + 1; b < k; b++) {
        memcpy(in + p->at[AG_PROBE_ACC], B + a * wide, sizeof *in * (size_t)n);
        memcpy(in + p->at[AG_PROBE_REACT], B + b * wide, sizeof *in * (size_t)n);
        in[p->at[AG_PROBE_GROUPS]] = B[a * wide + n];
        in[p->at[AG_PROBE_GROUPS] + 1] = B[b * wide + n];
        if (ag_field_eval(d, &f, in, W + n_row * m) == AG_FIELD_OK) n_row++;
      }
    int r = ag_field_echelon(&f, n_row, m, W, pivots);
    uint64_t *C = ag_heap_alloc(sizeof *C * (size_t)(m * m + 1));
    ag_conserve_kernel(&f, m, r, W, pivots, C);
    n_found = m - r;
    for (int i = 0; i < n_found; i++)
      for (int j = 0; j < n; j++) {
        uint64_t sum = 0;
        for (int l = 0; l < m; l++) sum = ag_field_add(&f, sum, ag_field_mul(&f, C[i * m + l], S[l * n + j]));
        covectors[i * n + j] = sum;
      }
    free(W);
    free(C);
  }
  free(S);
  free(A);
  free(B);
  free(in);
  free(pivots);
  ag_program_free(d);
  return n_found;
}

/* Rank of n_row covectors, a copy of which is destroyed. */
static int rank_of(const ag_field *f, int n_row, int n, const uint64_t *rows) {
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(n_row * n + 1));
  memcpy(A, rows, sizeof *A * (size_t)(n_row * n));
  int rank = ag_field_echelon(f, n_row, n, A, NULL);
  free(A);
  return rank;
}

/* Covectors that vanish on the leaf: from its relations, else from constraints that are integrable. -1: unknown. */
static int leaf(const ag_conserving *v, const ag_probe *p, const ag_point *at, uint64_t *covectors) {
  const ag_growth *growth = ag_system_growth(v->sys);
  int n = v->x->n, m = v->x->n_relate, rank = 0;
  ag_field f = at->f;
  if (m) {
    uint64_t *g = ag_heap_alloc(sizeof *g * (size_t)(m * (n + 1)));
    if (ag_field_eval(p->relate, &f, at->in, g) != AG_FIELD_OK) m = 0;
    memcpy(covectors, g + m, sizeof *g * (size_t)(m * n));
    rank = rank_of(&f, m, n, covectors);
    free(g);
  }
  int missing = growth->n ? n - (growth->dims[growth->n - 1] - growth->in_time) : rank;
  if (!v->x->n_row || missing <= rank) return m;
  int n_found = integrable(p, at, covectors);
  return rank_of(&f, n_found, n, covectors) == missing ? n_found : -1;
}

/* At one point; false: unknown. */
static bool ranks_at(ag_conserving *v, const ag_probe *p, const ag_point *at) {
  int n = v->x->n, k = n - p->rank, n_velocity = 2 * (1 + k + k * (k + 1) / 2), room = v->x->n_relate + v->x->n_row;
  uint64_t *rows = ag_heap_alloc(sizeof *rows * (size_t)((room + n_velocity) * n + 1));
  uint64_t *in = ag_heap_alloc(sizeof *in * (size_t)(p->at[AG_PROBE_GROUPS] + 1));
  int n_row = leaf(v, p, at, rows), before = 0;
  ag_field f = at->f;
  bool known = n_row >= 0;
  if (known) {
    v->c->dimension = n - rank_of(&f, n_row, n, rows);
    v->c->rank_D = n - p->rank;
    memcpy(in, at->in, sizeof *in * (size_t)p->at[AG_PROBE_GROUPS]);
    for (int i = 0; i < n_velocity; i++) {
      if (i == n_velocity / 2) before = rank_of(&f, n_row, n, rows);
      if (!ag_probe_velocity(p, &f, in, true)) continue;
      memcpy(rows + n_row++ * n, in + p->at[AG_PROBE_REACT], sizeof *rows * (size_t)n);
    }
    int rank = rank_of(&f, n_row, n, rows);
    v->c->rank_R = n - rank;
    v->c->sampled = v->c->sampled || rank > before;
  }
  free(rows);
  free(in);
  return known;
}

/* On every branch of the equations, which must agree. */
static void find_ranks(ag_conserving *v, ag_probe *p) {
  int first, n_point = ag_probe_points(p, 0, &first), dimension = 0, R = 0;
  v->c->sampled = false;
  for (int i = 0; i < (p->chooses ? n_point : n_point > 0); i++) {
    bool same = ranks_at(v, p, &p->points[first + i]);
    if (!i) dimension = v->c->dimension, R = v->c->rank_R;
    if (same && v->c->dimension == dimension && v->c->rank_R == R) continue;
    v->c->rank_D = v->c->rank_R = -1;
    return;
  }
}

/* The number of q that "x" or "x[2]" names, -1: none. */
static int named(const ag_probe *p, const char *name, size_t size) {
  ag_text full = {0};
  int found = -1;
  for (int i = 0; i < p->x->n_coord && found < 0; i++) {
    const ag_coord *c = &ag_model_coords(p->x->model)[i];
    for (int k = 0; k < c->dim && c->space != AG_SPACE_SO3; k++) {
      ag_text_clear(&full);
      ag_entry_name(c->name, c->dim, 1, k, &full);
      if (strlen(full.s) == size && !strncmp(full.s, name, size)) found = p->q_at[i] + k;
    }
  }
  ag_text_done(&full);
  return found;
}

/* "gamma=0,z=1" */
static ag_status read_place(const ag_probe *p, ag_ctx *ctx, const char *text, bool *fixed, double *value) {
  while (*text) {
    const char *equals = strchr(text, '='), *end = strchr(text, ',');
    if (!end) end = text + strlen(text);
    int k = equals && equals < end ? named(p, text, (size_t)(equals - text)) : -1;
    char *number =
        ag_arena_strn(p->x->arena, equals ? equals + 1 : end, equals && equals < end ? (size_t)(end - equals - 1) : 0);
    if (k < 0 || !ag_number_parse(number, &value[k])) {
      ag_ctx_error(
          ctx, (ag_pos){0},
          "--at expects NAME=VALUE, comma-separated, with scalar coordinates or entries of vectors; found `%.*s`",
          (int)(end - text), text);
      return AG_WRONG;
    }
    fixed[k] = true;
    text = *end ? end + 1 : end;
  }
  return AG_OK;
}

ag_status ag_conserve_read_sweep(ag_conserving *v, ag_ctx *ctx, const char *text, ag_swept *s) {
  const char *equals = strchr(text, '='), *first = equals ? strchr(equals, ':') : NULL,
             *last = first ? strchr(first + 1, ':') : NULL;
  double n = 0;
  s->k = equals ? named(&v->probe, text, (size_t)(equals - text)) : -1;
  bool good = s->k >= 0 && last &&
              ag_number_parse(ag_arena_strn(v->x->arena, equals + 1, (size_t)(first - equals - 1)), &s->lo) &&
              ag_number_parse(ag_arena_strn(v->x->arena, first + 1, (size_t)(last - first - 1)), &s->hi) &&
              ag_number_parse(last + 1, &n) && n >= 2 && n <= 1e5 && n == (int)n && s->lo < s->hi;
  if (!good) {
    ag_ctx_error(ctx, (ag_pos){0},
                 "--sweep expects NAME=LO:HI:N with a scalar coordinate or an entry of a vector, LO < HI, N from 2 to "
                 "100000; found `%s`",
                 text);
    return AG_WRONG;
  }
  s->n = (int)n;
  s->name = ag_arena_strn(v->c->arena, text, (size_t)(equals - text));
  return AG_OK;
}

ag_status ag_conserve_ranks(ag_conserving *v, ag_ctx *ctx, const char *place) {
  if (!place) {
    find_ranks(v, &v->probe);
    return AG_OK;
  }
  ag_probe p;
  ag_probe_init(&p, v->x, v->sys, NULL, v->flint);
  bool *fixed = AG_NEWN(v->x->arena, bool, p.q_at[v->x->n_coord] + 1);
  double *value = AG_NEWN(v->x->arena, double, p.q_at[v->x->n_coord] + 1);
  ag_status status = read_place(&p, ctx, place, fixed, value);
  v->fixed = p.fixed = fixed;
  v->fixed_at = p.fixed_at = value;
  if (status == AG_OK) find_ranks(v, &p);
  ag_probe_done(&p);
  return status;
}

int ag_conserve_generic_rank(ag_conserving *v, int n, const ag_id *columns) {
  int first, rank = -1;
  if (!n) return 0;
  ag_program *program = ag_probe_program(&v->probe, n, columns);
  int wide = ag_program_n_out(program) / n;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(n * wide + 1));
  for (int k = 0; k < 40 && rank < 0 && ag_probe_points(&v->probe, k, &first); k++) { /* roots may be missing */
    ag_field f = v->probe.points[first].f;
    if (ag_field_eval(program, &f, v->probe.points[first].in, A) == AG_FIELD_OK) rank = rank_of(&f, n, wide, A);
  }
  free(A);
  ag_program_free(program);
  return rank;
}

bool ag_conserve_spans(ag_conserving *v, int n, const ag_id *columns, ag_id w) {
  ag_id *all = ag_heap_alloc(sizeof *all * (size_t)(n + 2));
  for (int i = 0; i < n; i++) all[i] = columns[i];
  all[n] = w;
  int with = ag_conserve_generic_rank(v, n + 1, all), without = ag_conserve_generic_rank(v, n, all);
  free(all);
  return with >= 0 && with == without;
}

/* The functions to differentiate: rows and relations, quantities, then w and r of a table. */
typedef struct derived {
  ag_id *list;
  int n, n_before, n_all, n_table; /* entries; rows of constraints, rows of all but the table, w */
} derived;

static bool proved(const ag_quantity *q) { return q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY; }

/* A function of the coordinates alone. */
static bool is_relation(const ag_conserving *v, ag_id x) {
  return !ag_depends(v->x->g, 1, &x, v->x->n_coord, v->x->xi) && !ag_depends(v->x->g, 1, &x, 1, &v->x->t);
}

static derived choose(const ag_conserving *v, ag_which which, ag_id x) {
  const ag_geom *geom = v->x;
  const ag_shape *shape = &v->c->shape;
  derived d = {.list = ag_heap_alloc(sizeof(ag_id) * (size_t)(v->c->n + AG_MAX_TABLE + 5))};
  if (geom->n_row) d.list[d.n++] = geom->rows;
  if (geom->n_relate) d.list[d.n++] = geom->relate;
  d.n_before = geom->n_row + geom->n_relate;
  for (int i = 0; i < v->c->n; i++) /* relations that were not found as such */
    if (proved(&v->c->at[i]) && is_relation(v, v->c->at[i].x)) d.list[d.n++] = v->c->at[i].x, d.n_before++;
  d.n_all = d.n_before;
  for (int i = 0; i < v->c->n; i++) {
    const ag_quantity *q = &v->c->at[i];
    if (!proved(q) || is_relation(v, q->x)) continue;
    bool found = !strcmp(q->kind, "energy") || !strcmp(q->kind, "linear integral") || !strcmp(q->kind, "relation");
    if ((which == AG_FOUND && !found) || (which == AG_SYMMETRIC && !q->symmetric)) continue;
    d.list[d.n++] = q->x, d.n_all++;
  }
  if (x) d.list[d.n++] = x, d.n_all++;
  d.n_table = which == AG_ALL || (which == AG_SYMMETRIC && shape->symmetric) ? shape->n : 0;
  for (int i = 0; i < d.n_table; i++) d.list[d.n++] = shape->w[i];
  if (d.n_table) d.list[d.n++] = shape->r;
  return d;
}

/* The rates of w and of r: of c(r).w + f(r) the differential is, with c = 1 at this place, r' dw - w' dr up to a
 * factor. */
static ag_id table_rates(const ag_conserving *v, const derived *d) {
  ag_id *rates = ag_heap_alloc(sizeof *rates * (size_t)(d->n_table + 2)), part[2];
  for (int i = 0; i <= d->n_table; i++) {
    ag_geom_rate(v->x, d->list[d->n - d->n_table - 1 + i], &part[0], &part[1]);
    rates[i] = ag_add(v->x->g, part[0], part[1]);
  }
  ag_id out = ag_concat(v->x->g, d->n_table + 1, rates);
  free(rates);
  return out;
}

static void subtract_shape(const ag_field *f, const derived *d, int wide, uint64_t *A) {
  const uint64_t *rates = A + (d->n_all + d->n_table + 1) * wide, *dr = A + (d->n_all + d->n_table) * wide;
  for (int i = 0; i < d->n_table; i++)
    for (int j = 0; j < wide; j++) {
      uint64_t *to = A + (d->n_all + i) * wide + j, moved = ag_field_mul(f, rates[i], dr[j]);
      *to = ag_field_sub(f, ag_field_mul(f, rates[d->n_table], *to), moved);
    }
}

/* Their derivatives in q and xi at a point of the constraints, below those of rows and relations. */
int ag_conserve_independent(ag_conserving *v, ag_which which, ag_id x) {
  const ag_geom *geom = v->x;
  int nc = geom->n_coord, wide = 2 * geom->n, first, rank = -1;
  derived d = choose(v, which, x);
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)(2 * nc + 1));
  for (int i = 0; i < nc; i++) inputs[i] = geom->q[i], inputs[nc + i] = geom->xi[i];
  if (d.n && ag_probe_points(&v->probe, 0, &first)) {
    ag_id outs[2] = {ag_jacobian(geom->g, ag_concat(geom->g, d.n, d.list), 2 * nc, inputs), 0};
    if (d.n_table) outs[1] = table_rates(v, &d);
    ag_program *program = ag_probe_program(&v->probe, d.n_table ? 2 : 1, outs);
    uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(ag_program_n_out(program) + 1));
    for (int k = 0; k < 40 && rank < 0 && ag_probe_points(&v->probe, k, &first); k++) { /* roots may be missing */
      ag_field f = v->probe.points[first].f;
      if (ag_field_eval(program, &f, v->probe.points[first].in, A) != AG_FIELD_OK) continue;
      if (d.n_table) subtract_shape(&f, &d, wide, A);
      rank = rank_of(&f, d.n_all + d.n_table, wide, A) - rank_of(&f, d.n_before, wide, A);
    }
    free(A);
    ag_program_free(program);
  }
  free(d.list);
  free(inputs);
  return rank;
}
