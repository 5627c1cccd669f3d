/* SPDX-License-Identifier: MIT
 * Points of a model over a prime field. */
#include "study/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { MAX_SIGNS = 5, WANTED = 4, TRIES = 4000, TRIES_HELD = 16 };

static int numbers(const ag_graph *g, ag_id x) { return ag_node_rows(g, x) * ag_node_cols(g, x); }

static void add_inputs(ag_probe *p, int group, int n, const ag_id *x) {
  p->at[group + 1] = p->at[group];
  for (int i = 0; i < n; i++) {
    p->inputs[p->n_input++] = x[i];
    p->at[group + 1] += numbers(p->x->g, x[i]);
  }
}

static void make_params(ag_probe *p, const ag_changed *changed) {
  const ag_model *m = p->x->model;
  int n = ag_model_n_params(m);
  p->params = ag_heap_alloc(sizeof(ag_program *) * (size_t)(n + 1));
  for (int i = 0; i < n; i++) {
    const ag_param *a = &ag_model_params(m)[i];
    ag_id value = a->value;
    for (int k = 0; changed && k < changed->n; k++)
      if (changed->param[k] == i) value = changed->value[k];
    if (!a->input) continue;
    p->params[p->n_param_input] = ag_program_create(p->x->g, p->n_param_input, p->inputs, 1, &value);
    p->inputs[p->n_param_input++] = a->input;
  }
}

static void give_up(ag_probe *p, const char *why) {
  if (!p->opaque) p->why = why;
  p->opaque = true;
}

static void look_for_opaque(ag_probe *p, const ag_program *program) {
  ag_op op = program ? ag_program_opaque(program) : AG_OP_NONE;
  if (op == AG_OP_HOLD) give_up(p, "Newton steps of a contact cannot be read exactly");
  else if (op == AG_OP_SPARSE) give_up(p, "a large sparse solve cannot be read exactly");
  else if (op != AG_OP_NONE) give_up(p, "an operation cannot be read exactly");
}

void ag_probe_init(ag_probe *p, const ag_geom *x, ag_system *sys, const ag_changed *changed, const ag_flint *flint) {
  *p = (ag_probe){.x = x, .sys = sys, .flint = flint, .rank = -1};
  int nc = x->n_coord, n_process = ag_model_n_processes(x->model);
  p->inputs = ag_heap_alloc(sizeof *p->inputs * (size_t)(ag_model_n_params(x->model) + 4 * nc + n_process + 2));
  make_params(p, changed);
  ag_id *params = ag_heap_alloc(sizeof *params * (size_t)(p->n_param_input + 1));
  memcpy(params, p->inputs, sizeof *params * (size_t)p->n_param_input);
  add_inputs(p, AG_PROBE_PARAM, p->n_param_input, params);
  ag_id *clock = ag_heap_alloc(sizeof *clock * (size_t)(n_process + 1));
  clock[0] = x->t;
  for (int i = 0; i < n_process; i++) clock[1 + i] = ag_model_processes(x->model)[i].x;
  add_inputs(p, AG_PROBE_T, 1 + n_process, clock);
  free(clock);
  add_inputs(p, AG_PROBE_Q, nc, x->q);
  add_inputs(p, AG_PROBE_XI, nc, x->xi);
  add_inputs(p, AG_PROBE_ACC, nc, x->acc);
  add_inputs(p, AG_PROBE_REACT, nc, x->react);
  free(params);
  p->q_at = ag_heap_alloc(sizeof *p->q_at * (size_t)(nc + 1));
  for (int i = 0; i < nc; i++) p->q_at[i + 1] = p->q_at[i] + numbers(x->g, x->q[i]);
  p->row = ag_heap_alloc(sizeof *p->row * (size_t)(x->n_row + 1));
  p->col = ag_heap_alloc(sizeof *p->col * (size_t)(x->n_row + 1));
  p->relate_col = ag_heap_alloc(sizeof *p->relate_col * (size_t)(x->n_relate + 1));
  ag_id relate = x->relate;
  if (x->n_relate) {
    p->relate_true = ag_probe_program(p, 2, (ag_id[]){x->relate, x->relate_jacobian});
    ag_probe_clear_roots(p, &relate);
    ag_id slope = ag_jacobian(x->g, relate, x->n_coord, x->q);
    p->relate = ag_probe_program(p, 2, (ag_id[]){relate, slope});
  }
  if (x->n_row) p->kinematic = ag_probe_program(p, 2, (ag_id[]){x->S, x->s});
  p->motion = ag_probe_program(p, x->n_row ? 4 : 2, (ag_id[]){x->M, x->ell, x->S, x->kappa});
  look_for_opaque(p, p->relate);
  look_for_opaque(p, p->kinematic);
  look_for_opaque(p, p->motion);
  for (int i = 0; i < p->n_param_input; i++) look_for_opaque(p, p->params[i]);
}

void ag_probe_done(ag_probe *p) {
  for (int i = 0; i < p->n_param_input; i++) ag_program_free(p->params[i]);
  ag_program_free(p->relate);
  ag_program_free(p->relate_true);
  ag_program_free(p->kinematic);
  ag_program_free(p->motion);
  for (int i = 0; i < p->n_point; i++) free(p->points[i].in);
  for (int i = 0; i < p->n_single; i++) free(p->singles[i].in);
  free(p->points);
  free(p->singles);
  free(p->params);
  free(p->inputs);
  free(p->q_at);
  free(p->row);
  free(p->col);
  free(p->relate_col);
}

ag_program *ag_probe_program(const ag_probe *p, int n, const ag_id *outs) {
  ag_id *known = ag_heap_alloc(sizeof *known * (size_t)(n + 1));
  memcpy(known, outs, sizeof *known * (size_t)n);
  if (p->n_known) ag_substitute(p->x->g, p->n_known, p->known, p->known_as, n, known);
  ag_program *program = ag_program_create(p->x->g, p->n_input, p->inputs, n, known);
  free(known);
  return program;
}

/* ---- coordinates ---- */

/* A turn about one axis by a random angle, in R. */
static void draw_turn(ag_field *f, int axis, uint64_t *R) {
  uint64_t h = ag_field_draw(f), hh = ag_field_mul(f, h, h), below = ag_field_invert(f, ag_field_add(f, 1, hh));
  uint64_t c = ag_field_mul(f, ag_field_sub(f, 1, hh), below), s = ag_field_mul(f, ag_field_add(f, h, h), below);
  int i = (axis + 1) % 3, j = (axis + 2) % 3;
  memset(R, 0, sizeof *R * 9);
  R[4 * axis] = 1;
  R[4 * i] = R[4 * j] = c;
  R[3 * j + i] = s;
  R[3 * i + j] = ag_field_sub(f, 0, s);
}

/* B = A B */
static void turn_by(const ag_field *f, const uint64_t *A, uint64_t *B) {
  uint64_t C[9] = {0};
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 3; k++) C[i] = ag_field_add(f, C[i], ag_field_mul(f, A[i / 3 * 3 + k], B[3 * k + i % 3]));
  memcpy(B, C, sizeof C);
}

/* Turned about e3 of space and an axis of the body, so that this entry of R^T e3 stays. */
static void draw_held(const ag_probe *p, ag_field *f, uint64_t *R) {
  uint64_t turn[9], fixed[9];
  ag_field same = *f;
  same.state = p->hold->seed;
  ag_field_rotation(&same, fixed);
  draw_turn(f, p->hold->axis, R);
  turn_by(f, fixed, R);
  draw_turn(f, 2, turn);
  turn_by(f, turn, R);
}

static void draw_q(const ag_probe *p, ag_field *f, uint64_t *q) {
  for (int i = 0; i < p->x->n_coord; i++) {
    bool rotation = ag_model_coords(p->x->model)[i].space == AG_SPACE_SO3;
    int n = p->q_at[i + 1] - p->q_at[i];
    if (rotation && p->hold && p->hold->coord == i) draw_held(p, f, q + p->q_at[i]);
    else if (rotation) ag_field_rotation(f, q + p->q_at[i]);
    for (int k = 0; k < n && !rotation; k++)
      if (p->fixed && p->fixed[p->q_at[i] + k]) q[p->q_at[i] + k] = ag_field_number(f, p->fixed_at[p->q_at[i] + k]);
      else q[p->q_at[i] + k] = ag_field_draw(f);
  }
}

/* ---- velocities, accelerations, reaction ---- */

/* xi on S xi + s = 0; also finds the rank and the dependent velocities. */
static ag_field_status draw_xi(ag_probe *p, ag_field *f, uint64_t *in) {
  const ag_geom *x = p->x;
  int n = x->n, m = x->n_row;
  uint64_t *xi = in + p->at[AG_PROBE_XI];
  for (int j = 0; j < n; j++) xi[j] = ag_field_draw(f);
  if (!m) return p->rank = 0, AG_FIELD_OK;
  uint64_t *S = ag_heap_alloc(sizeof *S * (size_t)(m * n + m + 1)),
           *A = ag_heap_alloc(sizeof *A * (size_t)(m * (n + 1) + 1));
  int *pivots = ag_heap_alloc(sizeof *pivots * (size_t)(m + 1));
  ag_field_status status = ag_field_eval(p->kinematic, f, in, S);
  if (status == AG_FIELD_OK) {
    for (int i = 0; i < m; i++) {
      memcpy(A + i * (n + 1), S + i * n, sizeof *A * (size_t)n);
      A[i * (n + 1) + n] = S[m * n + i];
    }
    int rank = ag_field_echelon(f, m, n + 1, A, pivots);
    if (rank && pivots[rank - 1] == n) status = AG_FIELD_RETRY; /* contradiction: a point off the leaf */
    for (int r = rank - 1; r >= 0 && status == AG_FIELD_OK; r--) {
      uint64_t sum = A[r * (n + 1) + n];
      for (int j = pivots[r] + 1; j < n; j++) sum = ag_field_add(f, sum, ag_field_mul(f, A[r * (n + 1) + j], xi[j]));
      xi[pivots[r]] = ag_field_sub(f, 0, sum);
    }
    if (status == AG_FIELD_OK && rank > p->rank) { /* generic */
      p->rank = rank;
      memcpy(p->col, pivots, sizeof *pivots * (size_t)rank);
      for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) A[j * m + i] = S[i * n + j];
      (void)ag_field_echelon(f, n, m, A, p->row);
    }
  }
  free(S);
  free(A);
  free(pivots);
  return status;
}

/* [M -S^T; S 0] [xi'; lambda] = [-ell; -kappa], with independent rows. */
static ag_field_status move(const ag_probe *p, ag_field *f, uint64_t *in) {
  int n = p->x->n, m = p->x->n_row, r = p->rank, size = n + r;
  uint64_t *v = ag_heap_alloc(sizeof *v * (size_t)(n * n + n + m * n + m + 1)), *S = v + n * n + n;
  uint64_t *A = ag_heap_alloc(sizeof *A * (size_t)(size * size + size + 1)), *b = A + size * size;
  ag_field_status status = ag_field_eval(p->motion, f, in, v);
  for (int i = 0; i < n; i++) {
    memcpy(A + i * size, v + i * n, sizeof *A * (size_t)n);
    for (int k = 0; k < r; k++) {
      A[(n + k) * size + i] = S[p->row[k] * n + i];
      A[i * size + n + k] = ag_field_sub(f, 0, S[p->row[k] * n + i]);
    }
    b[i] = ag_field_sub(f, 0, v[n * n + i]);
  }
  for (int k = 0; k < r; k++) b[n + k] = ag_field_sub(f, 0, v[n * n + n + m * n + p->row[k]]);
  if (status == AG_FIELD_OK && !ag_field_solve(f, size, 1, A, b)) status = AG_FIELD_SINGULAR;
  uint64_t *acc = in + p->at[AG_PROBE_ACC], *react = in + p->at[AG_PROBE_REACT];
  for (int i = 0; i < n; i++) {
    acc[i] = b[i];
    react[i] = 0;
    for (int k = 0; k < r; k++) react[i] = ag_field_add(f, react[i], ag_field_mul(f, S[p->row[k] * n + i], b[n + k]));
  }
  free(v);
  free(A);
  return status;
}

bool ag_probe_velocity(const ag_probe *p, ag_field *f, uint64_t *in, bool with_motion) {
  if (!with_motion) {
    for (int j = p->at[AG_PROBE_XI]; j < p->at[AG_PROBE_GROUPS]; j++) in[j] = ag_field_draw(f);
    return true;
  }
  ag_probe copy = *p;
  return draw_xi(&copy, f, in) == AG_FIELD_OK && copy.rank == p->rank && move(p, f, in) == AG_FIELD_OK;
}

bool ag_probe_settle(const ag_probe *p, ag_field *f, uint64_t *in) {
  int n = p->x->n, m = p->x->n_row;
  uint64_t *S = ag_heap_alloc(sizeof *S * (size_t)(m * n + m + 1));
  bool good = !m || ag_field_eval(p->kinematic, f, in, S) == AG_FIELD_OK;
  for (int i = 0; i < m && good; i++) {
    uint64_t sum = S[m * n + i];
    for (int j = 0; j < n; j++) sum = ag_field_add(f, sum, ag_field_mul(f, S[i * n + j], in[p->at[AG_PROBE_XI] + j]));
    good = !sum;
  }
  free(S);
  return good && move(p, f, in) == AG_FIELD_OK;
}

/* ---- points ---- */

static ag_field_status draw(ag_probe *p, ag_field *f, uint64_t *in) {
  int at = 0;
  for (int i = 0; i < p->n_param_input; i++) {
    ag_field_status status = ag_field_eval(p->params[i], f, in, in + at);
    if (status != AG_FIELD_OK) return status;
    at += ag_program_n_out(p->params[i]);
  }
  for (int i = p->at[AG_PROBE_T]; i < p->at[AG_PROBE_Q]; i++) in[i] = ag_field_draw(f);
  draw_q(p, f, in + p->at[AG_PROBE_Q]);
  ag_field_status status = ag_probe_leaf(p, f, in);
  if (status == AG_FIELD_OK) status = draw_xi(p, f, in);
  if (status == AG_FIELD_OK) status = move(p, f, in);
  return status;
}

/* A point with these signs; at->in is NULL where there is none. */
static ag_field_status make_point(ag_probe *p, uint64_t seed, uint64_t signs, ag_point *at) {
  ag_field f = ag_field_at(p->hold ? p->hold->prime : (int)(seed % AG_FIELD_PRIMES), seed);
  if (p->hold) f.seed = p->hold->seed;
  f.signs = signs;
  uint64_t *in = ag_heap_alloc(sizeof *in * (size_t)(p->at[AG_PROBE_GROUPS] + 1));
  ag_field_status status = draw(p, &f, in);
  *at = (ag_point){f, seed, in};
  p->chooses = p->chooses || f.n_choice > 0;
  p->picks = p->picks || f.n_turn > 0;
  if (status == AG_FIELD_OK) return status;
  free(in);
  at->in = NULL;
  return status;
}

/* All signs of the roots at one seed. Choices for which the equations are singular are excluded. False: none, or a
 * root is missing with some signs. */
static bool add_points(ag_probe *p, uint64_t seed) {
  int before = p->n_point;
  uint64_t signs = 0;
  bool good = true;
  do {
    ag_point at;
    ag_field_status status = make_point(p, seed, signs, &at);
    int n_root = at.f.n_root;
    if (status == AG_FIELD_OPAQUE) give_up(p, "a relation cannot be solved exactly for any coordinate");
    if (n_root > MAX_SIGNS) give_up(p, "there are more than five roots and comparisons");
    if (status == AG_FIELD_OK) {
      AG_PUSH(p->points, p->n_point, p->cap_point);
      p->points[p->n_point++] = at;
    }
    good = !p->opaque && status != AG_FIELD_RETRY && (status == AG_FIELD_OK || at.f.n_choice || at.f.n_pick);
    signs = ag_field_next_signs(signs, 0, n_root);
  } while (good && signs);
  if (good && p->n_point > before) return true;
  while (p->n_point > before) free(p->points[--p->n_point].in); /* a root of a root: only some signs */
  return false;
}

static bool next_seed(ag_probe *p) {
  for (int try = 0; try < (p->hold ? TRIES_HELD : TRIES) && !p->opaque; try++)
    if (add_points(p, ++p->next_seed)) return true;
  give_up(p, "no exact points were found that obey the relations");
  return false;
}

int ag_probe_points(ag_probe *p, int k, int *first) {
  int at = 0;
  for (int i = 0;; i++) {
    if (at == p->n_point && !next_seed(p)) return 0;
    int n = 0;
    while (at + n < p->n_point && p->points[at + n].seed == p->points[at].seed) n++;
    *first = at;
    if (i == k) return n;
    at += n;
  }
}

const ag_point *ag_probe_single(ag_probe *p, int k) {
  const uint64_t FAR = (uint64_t)1 << 40; /* seeds of their own */
  for (int try = 0; p->n_single <= k && try < TRIES && !p->opaque; try++) {
    ag_point at;
    uint64_t seed = FAR + ++p->next_single;
    p->any_root = true;
    ag_field_status status = make_point(p, seed, 0x9e3779b97f4a7c15u * seed, &at);
    p->any_root = false;
    if (status == AG_FIELD_OPAQUE) give_up(p, "a relation cannot be solved exactly for any coordinate");
    if (status != AG_FIELD_OK) continue;
    AG_PUSH(p->singles, p->n_single, p->cap_single);
    p->singles[p->n_single++] = at;
    try = 0;
  }
  return p->n_single > k ? &p->singles[k] : NULL;
}

/* ---- identities ---- */

static bool all_zero(int n, const uint64_t *v) {
  for (int i = 0; i < n; i++)
    if (v[i]) return false;
  return true;
}

/* All signs of the roots that the program adds at this point. */
static ag_field_status vanish_at(const ag_program *program, const ag_point *at, const uint64_t *in, uint64_t *out,
                                 bool *zero) {
  int n_root = at->f.n_root;
  bool any = false;
  uint64_t signs = at->f.signs & (((uint64_t)1 << n_root) - 1);
  do {
    ag_field f = at->f;
    f.signs = signs;
    ag_field_status status = ag_field_eval(program, &f, in, out);
    bool skipped = status == AG_FIELD_SINGULAR && f.n_choice > at->f.n_choice;
    if (status != AG_FIELD_OK && !skipped) return status;
    if (f.n_root - n_root > MAX_SIGNS) return AG_FIELD_OPAQUE;
    any = any || !skipped;
    *zero = *zero && (skipped || all_zero(ag_program_n_out(program), out));
    signs = ag_field_next_signs(signs, n_root, f.n_root);
  } while (signs);
  return any ? AG_FIELD_OK : AG_FIELD_RETRY;
}

ag_truth ag_probe_vanish(ag_probe *p, int n, const ag_id *outs, bool any_velocity, double *bound) {
  ag_program *program = ag_probe_program(p, n, outs);
  int n_all = p->at[AG_PROBE_GROUPS], good = 0, first = 0;
  uint64_t *out = ag_heap_alloc(sizeof *out * (size_t)(ag_program_n_out(program) + n_all + 1)),
           *in = out + ag_program_n_out(program);
  bool zero = true, opaque = ag_program_opaque(program) != AG_OP_NONE;
  for (int k = 0; k < TRIES && good < WANTED && zero && !opaque; k++) {
    int n_point = ag_probe_points(p, k, &first);
    bool all = n_point > 0;
    opaque = !n_point;
    for (int i = first; i < first + n_point && all && zero; i++) {
      ag_point at = p->points[i];
      memcpy(in, at.in, sizeof *in * (size_t)n_all);
      if (any_velocity) (void)ag_probe_velocity(p, &at.f, in, false);
      ag_field_status status = vanish_at(program, &at, in, out, &zero);
      opaque = opaque || status == AG_FIELD_OPAQUE;
      all = status == AG_FIELD_OK;
    }
    good += all;
  }
  free(out);
  ag_program_free(program);
  if (bound) *bound = 0x1p-84; /* four points, each with 2^40/2^61 for a degree up to 2^40 */
  return !zero ? AG_TRUTH_NO : opaque || good < WANTED ? AG_TRUTH_OPAQUE : AG_TRUTH_YES;
}
