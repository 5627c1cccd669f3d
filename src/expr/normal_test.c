/* SPDX-License-Identifier: MIT
 * The normal form: identities, random programs keep their values, a normal form is its own normal form. */
#include "expr/graph_internal.h"
#include "expr/random_program.h"
#include "expr/residue.h"

#include "check.h"

static ag_graph *g;

static ag_id normal(ag_id x) {
  ag_normal_form(g, 0, NULL, NULL, 1, &x);
  return x;
}

static void prints(ag_id x, const char *expected) {
  ag_text out = {0};
  ag_id y = normal(x);
  ag_print_formula(g, y, false, &out);
  AG_CHECK_STR(ag_text_cstr(&out), expected);
  AG_CHECK(normal(y) == y);
  ag_text_done(&out);
}

static ag_id mul3(ag_id a, ag_id b, ag_id c) { return ag_mul(g, ag_mul(g, a, b), c); }

/* Every minor of a rotation is an entry, every product of two rows or columns is 0 or 1. */
static void check_rotations(void) {
  ag_id a = ag_input(g, "a", 1, 1, AG_LEAF_REAL), Q = ag_input(g, "Q", 3, 3, AG_LEAF_ROTATION), rows, cols;
  char expected[40];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      ag_id P[3][3];
      for (int k = 0; k < 9; k++) P[k / 3][k % 3] = ag_entry(g, Q, (i + k / 3) % 3, (j + k % 3) % 3);
      ag_id x = ag_mul(g, P[1][1], P[2][2]), y = ag_mul(g, P[1][2], P[2][1]);
      (void)snprintf(expected, sizeof expected, "a*Q[%d,%d]", i + 1, j + 1);
      prints(ag_sub(g, ag_mul(g, a, x), ag_mul(g, a, y)), expected);
      (void)snprintf(expected, sizeof expected, "-a*Q[%d,%d]", i + 1, j + 1);
      prints(ag_sub(g, ag_mul(g, a, y), ag_mul(g, a, x)), expected);
      rows = cols = a;
      for (int k = 0; k < 3; k++) {
        ag_id row = ag_mul(g, P[0][k], P[j][k]), col = ag_mul(g, P[k][0], P[k][j]);
        rows = ag_add(g, rows, ag_mul(g, a, row));
        cols = ag_add(g, cols, ag_mul(g, a, col));
      }
      prints(rows, P[0][0] == P[j][0] ? "2*a" : "a");
      prints(cols, P[0][0] == P[0][j] ? "2*a" : "a");
    }
}

static void check_identities(void) {
  ag_id m = ag_input(g, "m", 1, 1, AG_LEAF_REAL), a = ag_input(g, "a", 1, 1, AG_LEAF_REAL),
        b = ag_input(g, "b", 1, 1, AG_LEAF_REAL), phi = ag_input(g, "phi", 1, 1, AG_LEAF_REAL),
        psi = ag_input(g, "psi", 1, 1, AG_LEAF_REAL), Q = ag_input(g, "P", 3, 3, AG_LEAF_ROTATION);
  ag_id s = ag_apply1(g, AG_OP_SIN, phi), c = ag_apply1(g, AG_OP_COS, phi), one = ag_num(g, 1);
  /* the skate: cos(phi)*(m*a + sin(phi)*b*m) - cos(phi)*b*m*sin(phi) */
  ag_id inner = ag_add(g, ag_mul(g, m, a), mul3(s, b, m));
  prints(ag_sub(g, ag_mul(g, c, inner), ag_mul(g, mul3(c, b, m), s)), "m*a*cos(phi)");
  prints(ag_div(g, ag_sub(g, one, ag_mul(g, s, s)), c), "cos(phi)");
  prints(ag_div(g, ag_sub(g, ag_mul(g, a, a), ag_mul(g, b, b)), ag_add(g, a, b)), "a - b");
  prints(ag_div(g, ag_mul(g, a, s), c), "a*tan(phi)");
  prints(ag_div(g, ag_mul(g, m, a), ag_num(g, 3)), "m*a/3");
  ag_id sum = ag_add(g, phi, psi), u = ag_mul(g, ag_apply1(g, AG_OP_SIN, sum), c);
  u = ag_sub(g, u, ag_mul(g, ag_apply1(g, AG_OP_COS, sum), s));
  prints(u, "sin(psi)");
  /* addition theorems, with what stands beside them */
  ag_id sp = ag_apply1(g, AG_OP_SIN, psi), cp = ag_apply1(g, AG_OP_COS, psi), half = ag_num(g, 0.5);
  ag_id cc = ag_mul(g, c, cp), ss = ag_mul(g, s, sp), sc = ag_mul(g, s, cp), cs = ag_mul(g, c, sp);
  prints(ag_add(g, cc, ss), "cos(psi - phi)");
  prints(ag_sub(g, cc, ss), "cos(phi + psi)");
  prints(ag_add(g, sc, cs), "sin(phi + psi)");
  prints(ag_sub(g, cs, sc), "sin(psi - phi)");
  prints(ag_add(g, mul3(m, a, ag_sub(g, cs, sc)), mul3(m, b, ag_add(g, cc, ss))),
         "m*(a*sin(psi - phi) + b*cos(psi - phi))");
  prints(ag_add(g, cc, ag_mul(g, a, ss)), "cos(phi)*cos(psi) + a*sin(phi)*sin(psi)"); /* no theorem */
  /* twice an angle beside the angle, and the angle turned around */
  ag_id back = ag_sub(g, phi, psi), there = ag_sub(g, psi, phi), more = ag_add(g, m, a);
  ag_id sb = ag_apply1(g, AG_OP_SIN, back), cb = ag_apply1(g, AG_OP_COS, back);
  ag_id st = ag_apply1(g, AG_OP_SIN, there), ct = ag_apply1(g, AG_OP_COS, there);
  ag_id s2 = ag_apply1(g, AG_OP_SIN, ag_mul(g, ag_num(g, 2), back)), turn = mul3(st, ct, more);
  prints(ag_add(g, ag_mul(g, m, s2), turn), "sin(phi - psi)*cos(phi - psi)*(m - a)");
  prints(s2, "sin(2*(phi - psi))");
  prints(ag_add(g, ag_mul(g, m, sb), ag_mul(g, a, st)), "sin(phi - psi)*(m - a)");
  prints(ag_add(g, ag_mul(g, cb, cb), ag_mul(g, st, st)), "1");
  ag_id c2 = ag_apply1(g, AG_OP_COS, ag_mul(g, ag_num(g, 2), phi));
  prints(ag_add(g, c2, ag_mul(g, ag_num(g, 2), ag_mul(g, s, s))), "1");
  /* no fraction inside a sum, no long decimals, measured numbers as they are */
  ag_id twice = ag_mul(g, ag_num(g, 2), a), broken = ag_sub(g, ag_num(g, -0.5), ag_mul(g, m, b));
  prints(ag_mul(g, twice, broken), "-a*(1 + 2*m*b)");
  ag_id four = ag_num(g, 4), share = ag_div(g, ag_mul(g, b, psi), ag_mul(g, m, m));
  prints(ag_div(g, ag_add(g, ag_mul(g, four, a), share), four), "a + b*psi/(4*m^2)");
  ag_id apart = mul3(phi, phi, ag_add(g, a, b));
  prints(ag_add(g, ag_add(g, a, apart), b), "(a + b)*(1 + phi^2)");
  prints(ag_mul(g, ag_num(g, 12.0 / 35), a), "12*a/35");
  prints(ag_mul(g, ag_num(g, 0.4 * 0.4), a), "0.16*a"); /* 0.16000000000000003 */
  prints(ag_mul(g, ag_num(g, 1 - 0.37), a), "0.63*a");
  prints(ag_mul(g, ag_num(g, 0.16000000001), a), "0.16000000001*a");
  prints(ag_add(g, ag_mul(g, ag_num(g, 9.81), a), mul3(half, b, b)), "9.81*a + b^2/2");
  /* what all terms share, although a square is not multiplied out; like terms; quotients without a common denominator
   */
  ag_id ra = ag_mul(g, m, ag_add(g, a, mul3(b, phi, s))), rb = ag_mul(g, m, psi);
  prints(ag_add(g, ag_mul(g, ra, ra), ag_mul(g, rb, rb)), "m^2*(psi^2 + (a + b*phi*sin(phi))^2)");
  ag_id d = ag_sub(g, b, a), law = ag_add(g, ag_mul(g, half, m), ag_mul(g, half, mul3(psi, d, d)));
  prints(ag_mul(g, ag_num(g, 2), ag_mul(g, law, d)), "(m + psi*(b - a)^2)*(b - a)");
  /* what many terms share, other than all: the energy of a chain of springs */
  ag_id at[] = {a, b, phi, psi}, chain = ag_num(g, 0), quarter = ag_num(g, 0.25),
        stiff = ag_input(g, "k", 1, 1, AG_LEAF_REAL);
  for (int k = 0; k < 3; k++) {
    ag_id by = ag_sub(g, at[k + 1], at[k]), square = ag_mul(g, by, by);
    chain = ag_add(g, chain, mul3(half, stiff, square));
    chain = ag_add(g, chain, mul3(quarter, m, ag_mul(g, square, square)));
  }
  prints(chain, "m*((b - a)^4 + (phi - b)^4 + (psi - phi)^4)/4 + k*((b - a)^2 + (phi - b)^2 + (psi - phi)^2)/2");
  ag_id r = ag_apply1(g, AG_OP_SQRT, ag_add(g, ag_mul(g, a, a), ag_mul(g, b, b)));
  prints(ag_div(g, ag_add(g, ag_mul(g, r, ag_sub(g, m, phi)), mul3(psi, a, b)), r),
         "m - phi + a*b*psi/sqrt(a^2 + b^2)");
  /* |R^T e3| = 1, by components */
  ag_id e3[3] = {ag_num(g, 0), ag_num(g, 0), one}, image = ag_mul(g, ag_transpose(g, Q), ag_stack(g, 3, 1, e3));
  ag_id squares = ag_num(g, 0);
  for (int k = 0; k < 3; k++) {
    ag_id x = ag_entry(g, image, k, 0);
    squares = ag_add(g, squares, ag_mul(g, x, x));
  }
  prints(squares, "1");
}

static void reads(ag_id x, bool latex, const char *expected) {
  ag_text out = {0};
  ag_print_formula(g, x, latex, &out);
  AG_CHECK_STR(ag_text_cstr(&out), expected);
  ag_text_done(&out);
}

/* Parentheses about dot and cross products in LaTeX: none behind numbers and in sums, but in products of other kinds.
 */
static void check_open_products(void) {
  ag_id w = ag_input(g, "w", 1, 1, AG_LEAF_REAL), k = ag_input(g, "k", 1, 1, AG_LEAF_REAL),
        u = ag_input(g, "u", 3, 1, AG_LEAF_REAL), v = ag_input(g, "v", 3, 1, AG_LEAF_REAL),
        A = ag_input(g, "A", 3, 3, AG_LEAF_REAL), cross = ag_cross(g, u, v), dot = ag_dot(g, u, v);
#define U "\\boldsymbol{u}"
#define V "\\boldsymbol{v}"
  reads(ag_mul(g, w, cross), true, "w\\," U "\\times " V);
  reads(ag_mul(g, w, dot), true, "w\\," U "\\cdot " V);
  reads(ag_mul(g, w, ag_mul(g, A, u)), true, "w\\,A\\," U);
  reads(ag_add(g, ag_mul(g, w, cross), u), true, U "+w\\," U "\\times " V);
  reads(ag_mul(g, ag_div(g, w, k), cross), true, "\\frac{w}{k}\\," U "\\times " V);
  reads(ag_mul(g, A, cross), true, "A\\,\\left(" U "\\times " V "\\right)");
  reads(ag_mul(g, A, ag_mul(g, w, cross)), true, "w\\,A\\,\\left(" U "\\times " V "\\right)");
  reads(ag_cross(g, cross, v), true, "\\left(" U "\\times " V "\\right)\\times " V);
  reads(ag_mul(g, dot, ag_dot(g, u, u)), true, "\\left(" U "\\cdot " V "\\right)\\,\\left(" U "\\cdot " U "\\right)");
  reads(ag_mul(g, dot, dot), true, "\\left(" U "\\cdot " V "\\right)^{2}");
#undef U
#undef V
}

/* Signs inside of cross products, diagonal matrices, the order of names. */
static void check_formulas(void) {
  ag_id t = ag_input(g, "t", 1, 1, AG_LEAF_REAL), w = ag_input(g, "w", 1, 1, AG_LEAF_REAL),
        u = ag_input(g, "u", 3, 1, AG_LEAF_REAL), J = ag_input(g, "J", 3, 1, AG_LEAF_REAL),
        Q = ag_input(g, "Q", 3, 3, AG_LEAF_ROTATION), K = ag_input(g, "K", 1, 1, AG_LEAF_NAMED);
  reads(ag_mul(g, t, w), false, "w*t");
  reads(ag_mul(g, ag_mul(g, w, w), K), false, "K*w^2");
  ag_id turned = ag_neg(g, ag_mul(g, w, ag_cross(g, u, J)));
  reads(turned, false, "w*cross(J, u)");
  reads(turned, true, "w\\,\\boldsymbol{J}\\times \\boldsymbol{u}");
  reads(ag_neg(g, ag_mul(g, Q, ag_cross(g, u, J))), false, "Q*cross(J, u)");
  reads(ag_sub(g, u, ag_cross(g, u, J)), false, "u - cross(u, J)");
  ag_id d = ag_sub(g, w, t), less = ag_sub(g, K, ag_mul(g, w, d)), quotient = ag_neg(g, ag_div(g, d, K));
  reads(less, false, "K + w*(t - w)");
  reads(less, true, "K+w\\,\\left(t-w\\right)");
  reads(quotient, false, "(t - w)/K");
  reads(quotient, true, "\\frac{t-w}{K}");
  ag_id both = ag_add(g, w, t);
  reads(ag_sub(g, K, ag_mul(g, w, both)), false, "K - w*(w + t)");
  ag_id zero = ag_num(g, 0), e[9] = {w, zero, zero, zero, t, zero, zero, zero, w}, D = ag_stack(g, 3, 3, e);
  reads(ag_mul(g, D, u), false, "diag(w, t, w)*u");
  reads(ag_mul(g, D, u), true, "\\operatorname{diag}(w, t, w)\\,\\boldsymbol{u}");
  for (int k = 0; k < 3; k++) e[4 * k] = ag_entry(g, J, k, 0);
  reads(ag_stack(g, 3, 3, e), false, "diag(J)");
  e[1] = t;
  reads(ag_stack(g, 3, 3, e), false, "[[J[1], t, 0], [0, J[2], 0], [0, 0, J[3]]]");
}

/* Values of at most 1e3 keep eight digits: both forms are a few dozen operations on numbers up to 1e3, and what cancels
 * in one of them may lose digits that the other keeps. */
static void check_program(uint64_t seed, int *shorter) {
  uint64_t state = seed;
  program p;
  program_make(&p, &state, 25);
  g = ag_graph_create();
  ag_id ids[MAX_PROGRAM], inputs[8], forms[MAX_PROGRAM];
  double stored[64], before[25 * MAX_PROGRAM], after[25 * MAX_PROGRAM];
  value in[8];
  program_build(&p, g, ids, inputs);
  program_inputs(&p, &state, in, stored);
  for (int i = 0; i < p.n; i++) {
    forms[i] = normal(ids[i]);
    int size = ag_normal_size(g, forms[i]);
    AG_CHECK(size <= ag_normal_size(g, ids[i]));
    *shorter += size < ag_normal_size(g, ids[i]);
    AG_CHECK(normal(forms[i]) == forms[i]);
  }
  bool good = ag_evaluate(g, 8, inputs, stored, p.n, ids, before) == 0;
  AG_CHECK(ag_evaluate(g, 8, inputs, stored, p.n, forms, after) == 0 || !good);
  for (int i = 0, at = 0; i < p.n && good; i++)
    for (int k = 0, n = kind_size(step_kind(&p, i)); k < n; k++, at++) {
      bool near = !(fabs(before[at]) <= 1e3) || fabs(after[at] - before[at]) <= 1e-8 * fmax(1, fabs(before[at]));
      if (!near) {
        ag_text t = {0}, v = {0};
        ag_print(g, ids[i], &t);
        ag_print(g, forms[i], &v);
        fprintf(stderr, "seed %llu step %d: %.17g, expected %.17g\n%s\n%s\n", (unsigned long long)seed, i, after[at],
                before[at], t.s, v.s);
        ag_text_done(&t), ag_text_done(&v);
      }
      AG_CHECK(near);
    }
  ag_graph_free(g);
}

/* ---- the same polynomial, written in other ways ---- */

enum { ATOMS = 5, TERMS = 4 };

static uint64_t dice(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

typedef struct term {
  int number, power[ATOMS];
} term;

static ag_id build_term(const term *t, const ag_id *atoms, bool backwards) {
  ag_id x = ag_num(g, t->number);
  for (int i = 0; i < ATOMS; i++)
    for (int k = 0, a = backwards ? ATOMS - 1 - i : i; k < t->power[a]; k++)
      x = backwards ? ag_mul(g, atoms[a], x) : ag_mul(g, x, atoms[a]);
  return x;
}

/* The terms in this order, or from the last one on. */
static ag_id build_sum(const term *terms, const ag_id *atoms, bool backwards) {
  ag_id x = ag_num(g, 0);
  for (int i = 0; i < TERMS; i++) x = ag_add(g, x, build_term(&terms[backwards ? TERMS - 1 - i : i], atoms, backwards));
  return x;
}

/* The difference of two texts of one polynomial has the normal form 0: in another order, with a zero added, times sin^2
 * + cos^2, and with products left or multiplied out. Nothing becomes longer. Values stay the same without rounding, in
 * the numbers of residue.h. */
static void check_disguises(uint64_t seed) {
  uint64_t state = seed;
  term p[TERMS], q[TERMS];
  g = ag_graph_create();
  ag_id in[3];
  for (int i = 0; i < 3; i++) in[i] = ag_input(g, (const char *[]){"a", "b", "x"}[i], 1, 1, AG_LEAF_REAL);
  ag_id s = ag_apply1(g, AG_OP_SIN, in[2]), c = ag_apply1(g, AG_OP_COS, in[2]);
  ag_id atoms[ATOMS] = {in[0], in[1], in[2], s, c};
  for (int i = 0; i < TERMS; i++) {
    p[i].number = 1 + (int)(dice(&state) % 7), q[i].number = -1 - (int)(dice(&state) % 7);
    for (int k = 0; k < ATOMS; k++) p[i].power[k] = (int)(dice(&state) % 3), q[i].power[k] = (int)(dice(&state) % 2);
  }
  ag_id P = build_sum(p, atoms, false), Q = build_sum(q, atoms, false);
  ag_id one = ag_add(g, ag_mul(g, s, s), ag_mul(g, c, c)), product = ag_mul(g, P, Q), spread = ag_num(g, 0);
  for (int i = 0; i < TERMS; i++) spread = ag_add(g, spread, ag_mul(g, build_term(&p[i], atoms, true), Q));
  ag_id pairs[][2] = {{P, build_sum(p, atoms, true)},
                      {P, ag_sub(g, ag_add(g, P, Q), build_sum(q, atoms, true))},
                      {P, ag_mul(g, P, one)},
                      {product, spread},
                      {ag_mul(g, product, one), spread}};
  for (int i = 0; i < 5; i++) {
    ag_id left = normal(pairs[i][0]), right = normal(pairs[i][1]);
    AG_CHECK(ag_is_zero(g, normal(ag_sub(g, pairs[i][0], pairs[i][1]))));
    AG_CHECK(ag_is_zero(g, normal(ag_sub(g, left, right))));
    AG_CHECK(ag_normal_size(g, left) <= ag_normal_size(g, pairs[i][0]));
    AG_CHECK(ag_normal_size(g, right) <= ag_normal_size(g, pairs[i][1]));
    ag_id gaps[3] = {ag_sub(g, left, pairs[i][0]), ag_sub(g, right, pairs[i][1]), ag_sub(g, pairs[i][0], pairs[i][1])};
    AG_CHECK(ag_residue_vanish(g, 3, in, 3, gaps));
    ag_id different = ag_sub(g, ag_add(g, left, in[0]), pairs[i][1]);
    AG_CHECK(!ag_residue_vanish(g, 3, in, 1, &different));
  }
  ag_graph_free(g);
}

/* Components of a rotation and of its images R c and R^T c may be the same nodes, those of a row and of a column share
 * one: polynomials in a few of them keep their values. 1e-12: a dozen terms of size 1 and 2. */
static void check_components(uint64_t seed) {
  enum { N = 6 };
  uint64_t state = seed;
  double q[4] = {0.8, -0.2, 0.4, 0.4}, before = 0, after = 1;
  g = ag_graph_create();
  ag_id Q = ag_input(g, "R", 3, 3, AG_LEAF_ROTATION), parts[N], p = ag_num(g, 0);
  for (int i = 0; i < N; i++) {
    int row = (int)(dice(&state) % 3), col = (int)(dice(&state) % 3);
    ag_id c[3] = {ag_num(g, col == 0), ag_num(g, col == 1), ag_num(g, col == 2)};
    ag_id image = ag_mul(g, dice(&state) % 2 ? Q : ag_transpose(g, Q), ag_stack(g, 3, 1, c));
    parts[i] = dice(&state) % 2 ? ag_entry(g, Q, row, col) : ag_entry(g, image, row, 0);
  }
  for (int i = 0; i < 2 * N; i++) {
    ag_id x = parts[dice(&state) % N], y = parts[dice(&state) % N];
    ag_id product = mul3(x, dice(&state) % 2 ? x : y, dice(&state) % 2 ? y : ag_num(g, 2));
    p = ag_add(g, p, product);
  }
  ag_id form = normal(p);
  AG_CHECK(ag_evaluate(g, 1, &Q, q, 1, &p, &before) == 0 && ag_evaluate(g, 1, &Q, q, 1, &form, &after) == 0);
  AG_CHECK_NEAR(after, before, 1e-12);
  ag_graph_free(g);
}

int main(void) {
  int shorter = 0;
  g = ag_graph_create();
  check_identities();
  check_rotations();
  check_formulas();
  check_open_products();
  ag_graph_free(g);
  int n = ag_check_some(60);
  for (int seed = 1; seed <= n; seed++) check_program((uint64_t)seed, &shorter);
  AG_CHECK(shorter > n / 12); /* most random programs have nothing to simplify */
  for (int seed = 1; seed <= ag_check_some(200); seed++) check_disguises((uint64_t)seed);
  for (int seed = 1; seed <= ag_check_some(300); seed++) check_components((uint64_t)seed);
  return ag_check_report();
}
