/* SPDX-License-Identifier: MIT
 * Is there an invariant measure exp f(q) dq dxi on the constraints? With the divergence div(q, xi) of the motion, f
 * must satisfy df.xi = -div for all xi that the constraints admit. div is affine in the velocities, so that this says
 * what df is along fields Y that span D (and along the drift, if the constraints are affine); brackets of these give
 * the rest:  df([Y, Z]) = Y(df.Z) - Z(df.Y). Where the equations depend on time, so does f: the drift is then a field
 * on q and t, and moves t.
 *   yes  f = sum of rational multiples of logarithms of determinants, and of a polynomial: an identity; or the fields
 *        span the leaf and df is closed
 *   no   a bracket that is a combination of fields before it requires a different value than they do: the difference,
 *        enclosed at one state, is not 0
 * docs/theory/5-conservation.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { MAX_BRACKET = 40, MAX_DEPTH = 4, STATES = 24, WANTED = 4 };

/* ---- verdicts ---- */

void ag_measure_decide(ag_measuring *s, ag_conserved verdict, ag_proof proof, const char *reason) {
  s->m->verdict = verdict;
  s->m->proof = proof;
  s->m->reason = reason;
}

/* The difference out[0] is not 0 at this state. */
static void contradict(ag_measuring *s, const ag_enclosed *e, const ag_balls *out, int i, const char *reason) {
  ag_balls_bounds(out, i, &s->m->lo, &s->m->hi);
  s->m->state = ag_conserve_numbers(s->v, e, &s->m->t);
  ag_measure_decide(s, AG_CONSERVED_NO, AG_PROOF_WITNESS, reason);
}

/* Looks for a state at which one of the expressions is not 0. */
static bool refute(ag_measuring *s, int n, const ag_id *x, const char *reason) {
  ag_program *program = ag_probe_program(&s->v->probe, n, x);
  int n_out = ag_program_n_out(program);
  ag_balls *out = ag_balls_create(s->v->flint, n_out);
  const ag_enclosed *e;
  for (int k = 0; k < STATES && s->m->proof == AG_PROOF_NONE && (e = ag_conserve_state(s->v, k)); k++) {
    bool good = ag_balls_eval(program, e->in, out);
    for (int i = 0; i < n_out && good; i++)
      if (s->m->proof == AG_PROOF_NONE && ag_balls_nonzero(out, i)) contradict(s, e, out, i, reason);
  }
  ag_balls_free(out);
  ag_program_free(program);
  return s->m->proof == AG_PROOF_WITNESS;
}

static bool vanishes(ag_measuring *s, int n, const ag_id *x, double *bound) {
  return ag_probe_vanish(&s->v->probe, n, x, false, bound) == AG_TRUTH_YES;
}

/* ---- fields ---- */

/* The dependent velocities that solve S xi = b together with the others, which are given. */
static ag_id completed(const ag_measuring *s, int given, ag_id b) {
  const ag_probe *p = &s->v->probe;
  const ag_geom *x = p->x;
  ag_graph *g = x->g;
  int r = s->rank;
  ag_id *entries = ag_heap_alloc(sizeof *entries * (size_t)(r * r + r + x->n + 2)), *right = entries + r * r,
        *column = right + r + 1;
  for (int j = 0; j < x->n; j++) column[j] = ag_num(g, j == given);
  for (int i = 0; i < r; i++) {
    for (int k = 0; k < r; k++) entries[i * r + k] = ag_entry(g, x->S, p->row[i], s->dependent[k]);
    right[i] = b ? ag_entry(g, b, p->row[i], 0) : ag_entry(g, x->S, p->row[i], given);
  }
  if (r) {
    ag_id minus = ag_neg(g, ag_stack(g, r, 1, right));
    ag_id solved = ag_solve(g, ag_stack(g, r, r, entries), minus, AG_SOLVE_GENERAL);
    for (int k = 0; k < r; k++) column[s->dependent[k]] = ag_entry(g, solved, k, 0);
  }
  ag_id out = ag_stack(g, x->n, 1, column);
  free(entries);
  return out;
}

static bool is_dependent(const ag_measuring *s, int j) {
  for (int k = 0; k < s->rank; k++)
    if (s->dependent[k] == j) return true;
  return false;
}

/* div at a velocity. */
static ag_id divergence_at(const ag_measuring *s, const ag_id *velocity) {
  const ag_geom *x = s->v->x;
  ag_id out = s->div;
  ag_substitute(x->g, x->n_coord, x->xi, velocity, 1, &out);
  return out;
}

/* The fields that span D, then the drift. False: they are too many. */
static bool first_fields(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  ag_graph *g = x->g;
  if (x->n - s->rank + 1 > AG_MAX_FIELD) return false;
  ag_id *rest = ag_conserve_split(x, ag_zero(g, x->n, 1));
  for (int j = 0; j < x->n; j++) {
    if (is_dependent(s, j)) continue;
    ag_spanned *f = &s->at[s->n++];
    f->Y = ag_conserve_split(x, completed(s, j, 0));
    ag_forward(g, x->n_coord, x->xi, f->Y, 1, &s->div, &f->df);
    f->df = ag_neg(g, f->df);
    ag_substitute(g, x->n_coord, x->xi, rest, 1, &f->df);
  }
  if (s->timed || (x->n_row && !vanishes(s, 1, &x->s, NULL))) {
    ag_spanned *f = &s->at[s->n++];
    f->Y = x->n_row ? ag_conserve_split(x, completed(s, -1, x->s)) : rest;
    f->df = ag_neg(g, divergence_at(s, f->Y));
    f->along_t = s->timed;
  }
  return true;
}

/* ---- no: brackets ---- */

/* d/dt of a column per coordinate, or of a number (n = 1), at q fixed. */
static void slope_in_t(const ag_geom *x, int n, const ag_id *e, ag_id *out) {
  ag_id one = ag_num(x->g, 1);
  ag_forward(x->g, 1, &x->t, &one, n, e, out);
}

/* c = [a, b] and df along it. */
static void bracket(const ag_measuring *s, const ag_spanned *a, const ag_spanned *b, ag_spanned *c) {
  const ag_geom *x = s->v->x;
  ag_graph *g = x->g;
  ag_id there = ag_geom_along(x, a->Y, b->df), back = ag_geom_along(x, b->Y, a->df), slope;
  c->Y = ag_geom_bracket(x, a->Y, b->Y);
  c->df = ag_sub(g, there, back);
  c->along_t = false;
  for (int k = 0; k < 2; k++) { /* + of b if a moves t, - of a if b does */
    const ag_spanned *mover = k ? b : a, *other = k ? a : b;
    if (!mover->along_t || other->along_t) continue;
    ag_id *slopes = AG_NEWN(x->arena, ag_id, x->n_coord + 1);
    slope_in_t(x, x->n_coord, other->Y, slopes);
    slope_in_t(x, 1, &other->df, &slope);
    for (int i = 0; i < x->n_coord; i++) c->Y[i] = k ? ag_sub(g, c->Y[i], slopes[i]) : ag_add(g, c->Y[i], slopes[i]);
    c->df = k ? ag_sub(g, c->df, slope) : ag_add(g, c->df, slope);
  }
}

/* The numbers of the first n fields, that along t, and df of each, row by row; false: not defined here. */
static ag_program *numbers_of(const ag_measuring *s, int n) {
  const ag_geom *x = s->v->x;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(3 * n + 1));
  for (int i = 0; i < n; i++) {
    outs[3 * i] = ag_concat(x->g, x->n_coord, s->at[i].Y);
    outs[3 * i + 1] = ag_num(x->g, s->at[i].along_t);
    outs[3 * i + 2] = s->at[i].df;
  }
  ag_program *program = ag_probe_program(&s->v->probe, 3 * n, outs);
  free(outs);
  return program;
}

typedef enum bracket_kind { NEW, FITS, DIFFERS, UNREAD } bracket_kind;

/* Is the last of the n + 1 fields a new direction, a combination of the others with the same df, or with another? The
 * first n pivots are velocities in which the others are independent. */
static bracket_kind compare(ag_measuring *s, int *pivots) {
  int n = s->v->x->n + 1, m = s->n + 1, wide = n + 1; /* directions, with t */
  ag_program *program = numbers_of(s, m);
  ag_field f = s->point.f;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(2 * m * wide + 1)), *turned = A + m * wide;
  bracket_kind kind = UNREAD;
  if (ag_field_eval(program, &f, s->point.in, A) == AG_FIELD_OK) {
    /* columns are fields: the last one is a combination iff it has no pivot, and fits iff neither in the last row */
    for (int i = 0; i < wide; i++)
      for (int k = 0; k < m; k++) turned[i * m + k] = A[k * wide + i];
    memcpy(A, turned, sizeof *A * (size_t)(wide * m));
    int all = ag_field_echelon(&f, wide, m, A, NULL), rank;
    rank = ag_field_echelon(&f, n, m, turned, NULL);
    kind = rank == m ? NEW : all == rank ? FITS : DIFFERS;
    /* velocities in which the first fields are independent */
    if (kind == DIFFERS && ag_field_eval(program, &f, s->point.in, A) == AG_FIELD_OK) {
      for (int k = 0; k < s->n; k++) memcpy(turned + k * n, A + k * wide, sizeof *A * (size_t)n);
      (void)ag_field_echelon(&f, s->n, n, turned, pivots);
    }
  }
  free(A);
  ag_program_free(program);
  return kind;
}

/* The difference at enclosed states: df of the last field minus that of its combination. */
static void confirm_difference(ag_measuring *s, const int *pivots, const char *reason) {
  int n = s->v->x->n + 1, m = s->n, wide = n + 1;
  const ag_flint *flint = s->v->flint;
  ag_program *program = numbers_of(s, m + 1);
  ag_balls *out = ag_balls_create(flint, (m + 1) * wide), *A = ag_balls_create(flint, m * m),
           *b = ag_balls_create(flint, m);
  const ag_enclosed *e;
  for (int k = 0; k < STATES && s->m->proof == AG_PROOF_NONE && (e = ag_conserve_state(s->v, k)); k++) {
    if (!ag_balls_eval(program, e->in, out)) continue;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < m; j++) ag_balls_copy(A, i * m + j, out, j * wide + pivots[i], 1);
      ag_balls_copy(b, i, out, m * wide + pivots[i], 1);
    }
    if (!ag_balls_solve(m, 1, A, b)) continue;
    int last = m * wide + n;
    ag_balls_negate(out, last);
    for (int i = 0; i < m; i++) ag_balls_fma(out, last, b, i, out, i * wide + n);
    if (ag_balls_nonzero(out, last)) contradict(s, e, out, last, reason);
  }
  ag_balls_free(out);
  ag_balls_free(A);
  ag_balls_free(b);
  ag_program_free(program);
}

/* Brackets of all pairs, those of low depth first. Returns false when a pair was left out. */
static bool brackets(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  int n_tried = 0, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(x->n + 2));
  bool complete = true;
  for (int depth = 2; depth <= MAX_DEPTH && s->m->proof == AG_PROOF_NONE; depth++)
    for (int j = 0; j < s->n && s->m->proof == AG_PROOF_NONE; j++)
      for (int i = 0; i < j && s->m->proof == AG_PROOF_NONE; i++) {
        ag_spanned *a = &s->at[i], *b = &s->at[j], *c = &s->at[s->n];
        if (a->depth + b->depth + 2 != depth) continue;
        if (++n_tried > MAX_BRACKET || s->n == AG_MAX_FIELD) complete = false;
        if (!complete) break;
        bracket(s, a, b, c);
        c->depth = depth - 1;
        bracket_kind kind = compare(s, pivots);
        if (kind == NEW) s->n++;
        if (kind == DIFFERS)
          confirm_difference(s, pivots, "no f has the differential that the divergence requires: brackets contradict");
        complete = complete && kind != UNREAD;
      }
  free(pivots);
  return complete;
}

/* ---- yes without a formula ---- */

/* The field last in the list against those before it, at WANTED points. */
static bool fits(ag_measuring *s) {
  int n_good = 0, first, *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(s->v->x->n + 2));
  bool all = true;
  const ag_point before = s->point;
  for (int k = 0; k < 40 && n_good < WANTED && all && ag_probe_points(&s->v->probe, k, &first); k++) {
    s->point = s->v->probe.points[first];
    bracket_kind kind = compare(s, pivots);
    n_good += kind == FITS;
    all = kind == FITS || kind == UNREAD; /* unread: a root is missing there */
  }
  s->point = before;
  free(pivots);
  return all && n_good == WANTED;
}

/* The fields span the leaf and df is closed: brackets of all pairs fit. Then there is an f, unless it grows along a
 * closed curve; on R^n and rotations no closed form does, and around an angle df must be 0. */
static bool closed(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  bool good = s->n == s->v->c->dimension + s->timed && s->n < AG_MAX_FIELD;
  ag_spanned *c = &s->at[s->n];
  for (int j = 0; j < s->n; j++)
    for (int i = 0; i < j && good; i++) {
      bracket(s, &s->at[i], &s->at[j], c);
      good = fits(s);
    }
  for (int i = 0; i < x->n_coord && good; i++) {
    if (ag_model_coords(x->model)[i].space != AG_SPACE_S1) continue;
    c->Y = ag_conserve_split(x, ag_zero(x->g, x->n, 1));
    c->Y[i] = ag_num(x->g, 1);
    c->along_t = false;
    c->df = ag_num(x->g, 0);
    good = fits(s);
  }
  return good;
}

/* ---- all ---- */

/* The differentials of the independent velocities. */
static const char *variables(const ag_measuring *s) {
  const ag_geom *x = s->v->x;
  ag_text text = {0};
  ag_text_str(&text, "dq");
  for (int i = 0; i < x->n_coord; i++) {
    int dim = ag_node_rows(x->g, x->xi[i]), n = 0;
    for (int k = 0; k < dim; k++) n += !is_dependent(s, x->at[i] + k);
    for (int k = 0; k < dim && n; k++) {
      if (n == dim && k) break;
      if (is_dependent(s, x->at[i] + k)) continue;
      ag_text_str(&text, " d");
      ag_entry_name(ag_model_coords(x->model)[i].velocity, n < dim ? dim : 1, 1, k, &text);
    }
  }
  const char *kept = ag_arena_str(s->v->c->arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

/* Velocities that the constraints give from the others: the last ones or the first ones, such that the determinant of
 * their columns is constant, if there are any such. */
static void choose_dependent(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  bool *last = AG_NEWN(s->v->c->arena, bool, x->n + 1), constant = !s->rank;
  s->dependent = AG_NEWN(s->v->c->arena, int, x->n + 1);
  ag_conserve_dependent(&s->v->probe, &s->point, last);
  for (int try = 0; try < 3 && !constant; try++) { /* the third is the first again */
    for (int j = 0, n = 0; j < x->n && try != 1; j++)
      if (last[j]) s->dependent[n++] = j;
    if (try == 1) memcpy(s->dependent, s->v->probe.col, sizeof(int) * (size_t)s->rank);
    ag_id rate, unused;
    ag_geom_rate(x, ag_det(x->g, ag_measure_columns(s)), &rate, &unused);
    constant = vanishes(s, 1, &rate, NULL);
  }
  s->m->variables = constant ? variables(s) : "dq dxi delta(constraints)";
}

/* A divergence that is not affine in the velocities does not come from a function of q and t. */
static bool is_affine(ag_measuring *s) {
  const ag_geom *x = s->v->x;
  ag_graph *g = x->g;
  for (int i = 0; i < s->n; i++) {
    ag_id second, third;
    ag_forward(g, x->n_coord, x->xi, s->at[i].Y, 1, &s->div, &second);
    for (int j = 0; j <= i; j++) {
      ag_forward(g, x->n_coord, x->xi, s->at[j].Y, 1, &second, &third);
      if (vanishes(s, 1, &third, NULL)) continue;
      s->m->reason = "neither a proof nor a witness was found";
      (void)refute(s, 1, &third, "the divergence is not affine in the velocities");
      return false;
    }
  }
  return true;
}

/* Dry friction: motions that meet stay together, although the divergence is 0 before and after. */
static bool forces_jump(ag_conserving *v) {
  const ag_geom *x = v->x;
  bool jumps = false, bends;
  for (int i = 0; i < x->n && !jumps; i++)
    jumps = ag_conserve_jump(v, ag_entry(x->g, x->force, i, 0), true, &bends) != NULL;
  return jumps;
}

void ag_conserve_measure(ag_conserving *v) {
  ag_measuring s = {.v = v, .m = &v->c->measure};
  const ag_geom *x = v->x;
  int first;
  *s.m = (ag_measure){.verdict = AG_CONSERVED_UNDECIDED, .reason = "the equations cannot be read exactly"};
  if (!ag_probe_points(&v->probe, 0, &first)) return;
  if (forces_jump(v)) {
    s.m->reason = "forces jump with the velocities, where the divergence is not defined";
    return;
  }
  s.point = v->probe.points[first];
  s.rank = v->probe.rank;
  choose_dependent(&s);
  s.div = ag_geom_divergence(x, v->probe.rank, v->probe.row);
  s.m->reason = "neither a proof nor a witness was found";
  if (vanishes(&s, 1, &s.div, &s.m->bound)) {
    ag_measure_decide(&s, AG_CONSERVED_YES, AG_PROOF_IDENTITY, "the divergence vanishes");
    s.m->f_exp = ag_num(x->g, 1);
    s.m->density = "1";
    return;
  }
  s.timed = s.m->timed = !ag_conserve_autonomous(v);
  if (!first_fields(&s) || !is_affine(&s)) return;
  bool linear = !s.timed && (!x->n_row || vanishes(&s, 1, &x->s, NULL));
  ag_id rest = divergence_at(&s, ag_conserve_split(x, ag_zero(x->g, x->n, 1)));
  if (linear && !vanishes(&s, 1, &rest, NULL)) {
    (void)refute(&s, 1, &rest, "forces make the volume grow or shrink also at rest");
    return;
  }
  ag_measure_find(&s);
  if (s.m->proof != AG_PROOF_NONE || !brackets(&s) || s.m->proof != AG_PROOF_NONE) return;
  s.m->reason = "df is closed as far as the brackets show, but no formula was found";
  s.m->bound = 0x1p-84; /* as for other identities: WANTED points */
  if (!closed(&s)) return;
  if (v->probe.chooses)
    s.m->reason = "df is closed on every branch; no formula shows that f is continuous between them";
  else ag_measure_decide(&s, AG_CONSERVED_YES, AG_PROOF_IDENTITY, "df is closed; no formula was found for f");
}
