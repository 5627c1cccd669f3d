/* SPDX-License-Identifier: MIT
 * Random programs: forward tangents against finite differences of the definitions, reverse gradients and Jacobians
 * against forward tangents, second derivatives by symmetry. */
#include "expr/graph_internal.h"
#include "expr/random_program.h"

#include "check.h"

enum { N_PROGRAM = 300, N_STEP = 45, N_TAN = 32 }; /* tangents of the 8 inputs: 1 + 1 + 3 + 3 + 9 + 3 + 3 + 5 = 28 */

/* inputs moved by e along d; a rotation becomes R exp(e hat(w)) */
static void move(const program *p, const value *in, const double *d, long double e, value *out) {
  for (int i = 0; i < p->n_input; i++) {
    kind t = step_kind(p, i);
    int size = t == R ? 3 : kind_size(t);
    for (int k = 0; k < size; k++) out[i].v[k] = in[i].v[k] + e * (long double)d[k];
    if (t == R) {
      long double w[3], a = 0, q[4], turn[9];
      for (int k = 0; k < 3; k++) w[k] = e * (long double)d[k], a += w[k] * w[k];
      a = sqrtl(a);
      q[0] = cosl(a / 2);
      for (int k = 0; k < 3; k++) q[k + 1] = a > 0 ? w[k] * sinl(a / 2) / a : 0;
      rotation_of(q, turn);
      run_mul(in[i].v, turn, false, 3, out[i].v);
    }
    d += size;
  }
}

/* Six-point central difference in long double, h = 1e-3: error h^6 f^(7)/140 ~ 1e-20 f^(7), rounding 1e-19/h = 1e-16.
 * False when a choice falls differently on the way. */
static bool difference(const program *p, const value *in, const double *d, value *dv) {
  static const double weight[3] = {0.75, -0.15, 1.0 / 60};
  value moved[8], v[MAX_PROGRAM];
  uint64_t path = program_run(p, in, v);
  memset(dv, 0, sizeof *dv * (size_t)p->n);
  for (int s = -3; s <= 3; s++) {
    if (!s) continue;
    move(p, in, d, s * 1e-3L, moved);
    if (program_run(p, moved, v) != path) return false;
    long double w = (s > 0 ? 1 : -1) * (long double)weight[abs(s) - 1] / 1e-3L;
    for (int i = 0; i < p->n; i++)
      for (int k = 0; k < 9; k++) dv[i].v[k] += w * v[i].v[k];
  }
  return true;
}

static bool near(double a, double b, double tol) { return fabs(a - b) <= tol * fmax(1, fabs(b)); }

typedef struct run {
  program p;
  ag_graph *g;
  ag_id ids[MAX_PROGRAM], inputs[8], seeds[8], point_inputs[16];
  value in[8];
  double stored[128]; /* inputs, then seeds */
  int n_stored, n_tangent;
} run;

static void setup(run *r, uint64_t seed) {
  uint64_t state = seed;
  program_make(&r->p, &state, N_STEP);
  r->g = ag_graph_create();
  program_build(&r->p, r->g, r->ids, r->inputs);
  r->n_stored = program_inputs(&r->p, &state, r->in, r->stored);
  r->n_tangent = 0;
  for (int i = 0; i < 8; i++) {
    kind t = step_kind(&r->p, i);
    r->seeds[i] = ag_input(r->g, "d", kind_rows[t], t == R ? 1 : kind_cols[t], AG_LEAF_REAL);
    for (int k = 0, n = t == R ? 3 : kind_size(t); k < n; k++)
      r->stored[r->n_stored + r->n_tangent++] = random_real(&state);
    r->point_inputs[i] = r->inputs[i];
    r->point_inputs[8 + i] = r->seeds[i];
  }
}

static void check_forward(run *r, uint64_t seed, ag_id *tangents) {
  value dv[MAX_PROGRAM];
  double result[9 * MAX_PROGRAM];
  ag_forward(r->g, 8, r->inputs, r->seeds, r->p.n, r->ids, tangents);
  AG_CHECK(ag_evaluate(r->g, 16, r->point_inputs, r->stored, r->p.n, tangents, result) == 0);
  bool smooth = difference(&r->p, r->in, r->stored + r->n_stored, dv);
  int at = 0;
  bool good = true;
  for (int i = 0; i < r->p.n; i++) {
    int n = kind_size(step_kind(&r->p, i));
    for (int k = 0; k < n && smooth; k++) {
      double expected = (double)dv[i].v[k];
      /* 1e-7: seventh derivatives of 45 nested operations reach 1e12 in places; a wrong term is of size 1 */
      if (fabs(expected) < 1e4 && !near(result[at + k], expected, 1e-7)) {
        if (good)
          fprintf(stderr, "seed %llu step %d code %d entry %d: tangent %.12g, difference %.12g\n",
                  (unsigned long long)seed, i, r->p.s[i].op, k, result[at + k], expected);
        good = false;
      }
    }
    at += n;
  }
  AG_CHECK(good);
}

/* <weights, forward(seed)> = <reverse(weights), seed>: both sides come from the graph, the first is checked above. */
static void check_reverse(run *r, uint64_t seed, const ag_id *tangents) {
  ag_graph *g = r->g;
  ag_id outs[12], weights[12], grads[8], both[2] = {ag_num(g, 0), ag_num(g, 0)};
  uint64_t state = seed ^ 77;
  for (int k = 0; k < 12; k++) {
    int i = k ? 8 + random_int(&state, r->p.n - 8) : r->p.n - 1;
    int n = ag_node_rows(g, r->ids[i]), m = ag_node_cols(g, r->ids[i]);
    ag_id e[9];
    outs[k] = r->ids[i];
    for (int j = 0; j < n * m; j++) e[j] = ag_num(g, random_real(&state));
    weights[k] = ag_stack(g, n, m, e);
    for (int j = 0; j < n * m; j++) {
      ag_id term = ag_mul(g, e[j], ag_entry(g, tangents[i], j / m, j % m));
      both[0] = ag_add(g, both[0], term);
    }
  }
  ag_reverse(g, 12, outs, weights, 8, r->inputs, grads);
  for (int i = 0; i < 8; i++) {
    int n = ag_node_rows(g, grads[i]), m = ag_node_cols(g, grads[i]);
    AG_CHECK(n == ag_node_rows(g, r->seeds[i]) && m == ag_node_cols(g, r->seeds[i]));
    for (int j = 0; j < n * m; j++) {
      ag_id e = ag_entry(g, grads[i], j / m, j % m);
      e = ag_mul(g, e, ag_entry(g, r->seeds[i], j / m, j % m));
      both[1] = ag_add(g, both[1], e);
    }
  }
  double v[2];
  AG_CHECK(ag_evaluate(g, 16, r->point_inputs, r->stored, 2, both, v) == 0);
  if (!near(v[1], v[0], 1e-9)) fprintf(stderr, "seed %llu: reverse\n", (unsigned long long)seed);
  AG_CHECK_NEAR(v[1], v[0], 1e-9); /* rounding of some hundred operations on numbers below 1e4 */
}

/* Jacobian times the seeds is the tangent; n rows decide which way it is computed. */
static void check_jacobian(run *r, uint64_t seed, const ag_id *tangents, bool tall) {
  ag_graph *g = r->g;
  ag_id columns[64], d[64], J;
  int n = 0;
  for (int i = r->p.n - 1; i >= 8 && n < (tall ? 60 : 4); i--)
    if (step_kind(&r->p, i) != M && step_kind(&r->p, i) != R) columns[n] = r->ids[i], d[n++] = tangents[i];
  ag_id x = ag_concat(g, n, columns), t = ag_concat(g, n, d), s[8];
  J = ag_jacobian(g, x, 8, r->inputs);
  AG_CHECK(ag_node_rows(g, J) == ag_node_rows(g, x) && ag_node_cols(g, J) == r->n_tangent);
  for (int i = 0; i < 8; i++) { /* matrix seeds as columns, row-major */
    int m = ag_node_cols(g, r->seeds[i]), size = ag_node_rows(g, r->seeds[i]) * m;
    ag_id e[9];
    for (int k = 0; k < size; k++) e[k] = ag_entry(g, r->seeds[i], k / m, k % m);
    s[i] = ag_stack(g, size, 1, e);
  }
  ag_id difference_ = ag_mul(g, J, ag_concat(g, 8, s)),
        outs[2] = {ag_norm(g, ag_sub(g, difference_, t)), ag_norm(g, t)};
  double v[2];
  AG_CHECK(ag_evaluate(g, 16, r->point_inputs, r->stored, 2, outs, v) == 0);
  if (!(v[0] <= 1e-9 * fmax(1, v[1]))) fprintf(stderr, "seed %llu: jacobian\n", (unsigned long long)seed);
  AG_CHECK(v[0] <= 1e-9 * fmax(1, v[1]));
}

/* d_a d_b f = d_b d_a f for real inputs (rotations do not commute): reverse, then forward of that. */
static void check_second(run *r, uint64_t seed) {
  ag_graph *g = r->g;
  ag_id f = 0, grads[2], t[2], zero[2], outs[2];
  ag_id in[2] = {r->inputs[2], r->inputs[3]}, sd[2] = {r->seeds[2], r->seeds[3]};
  for (int i = r->p.n - 1; i >= 8 && !f; i--)
    if (step_kind(&r->p, i) == S && ag_depends(g, 1, &r->ids[i], 1, &in[0]) && ag_depends(g, 1, &r->ids[i], 1, &in[1]))
      f = r->ids[i];
  if (!f) return;
  ag_reverse(g, 1, &f, (ag_id[]){ag_num(g, 1)}, 2, in, grads);
  zero[0] = zero[1] = ag_zero(g, 3, 1);
  ag_forward(g, 1, &in[1], &sd[1], 1, &grads[0], &t[0]);
  ag_forward(g, 1, &in[0], &sd[0], 1, &grads[1], &t[1]);
  outs[0] = ag_dot(g, t[0], sd[0]);
  outs[1] = ag_dot(g, t[1], sd[1]);
  double v[2];
  AG_CHECK(ag_evaluate(g, 16, r->point_inputs, r->stored, 2, outs, v) == 0);
  if (!near(v[0], v[1], 1e-8)) fprintf(stderr, "seed %llu: second derivative\n", (unsigned long long)seed);
  AG_CHECK_NEAR(v[0], v[1], 1e-8);
}

int main(void) {
  static run r;
  for (uint64_t seed = 1; seed <= N_PROGRAM; seed++) {
    ag_id tangents[MAX_PROGRAM];
    setup(&r, seed);
    check_forward(&r, seed, tangents);
    check_reverse(&r, seed, tangents);
    check_jacobian(&r, seed, tangents, seed % 2 == 0);
    check_second(&r, seed);
    ag_graph_free(r.g);
  }
  return ag_check_report();
}
