/* SPDX-License-Identifier: MIT
 * Newton's method against what is known of each problem: roots in closed form, the order of convergence, the shortest
 * steps by their formula. Tolerances: a few roundings of numbers of size 1. */
#include "math/newton.h"

#include <math.h>
#include <stdlib.h>

#include "math/lie.h"
#include "tests/check.h"

enum { MAX_LOG = 200 };

/* A function of the tables below, and the sizes of F at its evaluations. */
typedef struct problem {
  bool (*F)(const double *x, double *F, double *J);
  int m, n, n_log;
  double log[MAX_LOG];
} problem;

static bool eval(void *self, const double *x, double *F, double *J) {
  problem *p = self;
  bool good = p->F(x, F, J);
  double most = 0;
  for (int i = 0; i < p->m; i++) most = fmax(most, fabs(F[i]));
  if (p->n_log < MAX_LOG) p->log[p->n_log++] = most;
  return good;
}

/* Solves with a workspace of exactly the requested size, followed by guard values. */
static ag_newton_result run(const ag_newton_system *s, const ag_newton_options *o, double *x) {
  size_t n = ag_newton_work(s);
  double *work = malloc(sizeof *work * (n + 4));
  for (size_t i = 0; i < n + 4; i++) work[i] = i < n ? NAN : 12345;
  ag_newton_result r = ag_newton(s, o, x, work);
  for (size_t i = n; i < n + 4; i++) AG_CHECK(work[i] == 12345);
  free(work);
  return r;
}

static ag_newton_system square(problem *p) {
  return (ag_newton_system){.kind = AG_NEWTON_SQUARE, .m = p->m, .n = p->n, .self = p, .eval = eval};
}

static ag_newton_options undamped(void) {
  ag_newton_options o = ag_newton_defaults();
  o.halvings = 0;
  return o;
}

/* ---- square systems ---- */

static bool root_of_two(const double *x, double *F, double *J) {
  F[0] = x[0] * x[0] - 2;
  J[0] = 2 * x[0];
  return true;
}

/* A circle and a parabola. */
static bool two_curves(const double *x, double *F, double *J) {
  F[0] = x[0] * x[0] + x[1] * x[1] - 1;
  F[1] = x[1] - x[0] * x[0];
  J[0] = 2 * x[0], J[1] = 2 * x[1], J[2] = -2 * x[0], J[3] = 1;
  return true;
}

static bool three_exponentials(const double *x, double *F, double *J) {
  for (int i = 0; i < 3; i++) {
    double e = exp(x[i]);
    F[i] = e + x[(i + 1) % 3] - (i + 2);
    for (int j = 0; j < 3; j++) J[3 * i + j] = (j == i ? e : 0) + (j == (i + 1) % 3);
  }
  return true;
}

static bool double_root(const double *x, double *F, double *J) {
  F[0] = (x[0] - 1) * (x[0] - 1);
  J[0] = 2 * (x[0] - 1);
  return true;
}

static bool parabola_above(const double *x, double *F, double *J) {
  F[0] = x[0] * x[0] + 1;
  J[0] = 2 * x[0];
  return true;
}

static bool arc_tangent(const double *x, double *F, double *J) {
  F[0] = atan(x[0]);
  J[0] = 1 / (1 + x[0] * x[0]);
  return true;
}

/* Has no value, or NaN, for x <= 0. */
static bool logarithm(const double *x, double *F, double *J) {
  F[0] = log(x[0]);
  J[0] = 1 / x[0];
  return true;
}

static bool logarithm_refused(const double *x, double *F, double *J) { return x[0] > 0 && logarithm(x, F, J); }

/* Order p from three successive sizes e1 > e2 > e3: log(e3/e2) / log(e2/e1); the last ones above rounding. */
static double order_of(const problem *p) {
  double order = NAN;
  for (int k = 2; k < p->n_log && p->log[k] > 1e-14; k++)
    order = log(p->log[k] / p->log[k - 1]) / log(p->log[k - 1] / p->log[k - 2]);
  return order;
}

static void test_order(void) {
  static const struct {
    bool (*F)(const double *, double *, double *);
    int n;
    double x0, order;
  } rows[] = {{root_of_two, 1, 2, 2}, {two_curves, 2, 1, 2}, {three_exponentials, 3, 1, 2}, {double_root, 1, 2, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int damped = 0; damped < 2; damped++) {
      problem p = {.F = rows[i].F, .m = rows[i].n, .n = rows[i].n};
      ag_newton_system s = square(&p);
      ag_newton_options o = damped ? ag_newton_defaults() : undamped();
      double x[3] = {rows[i].x0, rows[i].x0, rows[i].x0}, F[3], J[9];
      ag_newton_result r = run(&s, &o, x);
      AG_CHECK(ag_newton_ok(r));
      AG_CHECK(r.residual <= 1e-14 && p.F(x, F, J) && fabs(F[0]) <= 1e-14);
      AG_CHECK_NEAR(order_of(&p), rows[i].order, 0.15);
    }
}

static void test_singular(void) {
  problem p = {.F = parabola_above, .m = 1, .n = 1};
  ag_newton_system s = square(&p);
  ag_newton_options o = ag_newton_defaults();
  double x = 0;
  ag_newton_result r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_SINGULAR && r.iterations == 0 && x == 0 && r.residual == 1);
  x = 1; /* no root: it ends near the minimum, where no step helps */
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_STUCK || r.reason == AG_NEWTON_SINGULAR || r.reason == AG_NEWTON_ITERATIONS);
  AG_CHECK(fabs(x) < 0.1 && r.residual == x * x + 1);
  o.halvings = 0;
  o.max_iter = 7;
  x = 1.3;
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_ITERATIONS && r.iterations == 7);
  AG_CHECK_STR(ag_newton_text(r.reason), "too many steps");
}

/* Undamped, atan diverges from |x| > 1.39...; damped it converges from everywhere; shortened steps do, too. */
static void test_damping(void) {
  problem p = {.F = arc_tangent, .m = 1, .n = 1};
  ag_newton_system s = square(&p);
  ag_newton_options off = undamped(), on = ag_newton_defaults(), shortened = undamped();
  shortened.max_step = 1;
  for (double x0 = 0.5; x0 < 40; x0 *= 1.5)
    for (int sign = -1; sign <= 1; sign += 2) {
      double x = sign * x0;
      AG_CHECK(ag_newton_ok(run(&s, &off, &x)) == (x0 < 1.3917));
      x = sign * x0;
      AG_CHECK(ag_newton_ok(run(&s, &on, &x)) && fabs(x) <= 1e-14);
      x = sign * x0;
      AG_CHECK(ag_newton_ok(run(&s, &shortened, &x)) && fabs(x) <= 1e-14);
    }
}

static void test_not_finite(void) {
  for (int refused = 0; refused < 2; refused++) {
    problem p = {.F = refused ? logarithm_refused : logarithm, .m = 1, .n = 1};
    ag_newton_system s = square(&p);
    ag_newton_options off = undamped(), on = ag_newton_defaults();
    double x = 5; /* the full step leads to 5 - 5 log 5 < 0 */
    AG_CHECK(run(&s, &off, &x).reason == AG_NEWTON_NOT_FINITE);
    x = 5;
    AG_CHECK(ag_newton_ok(run(&s, &on, &x)));
    AG_CHECK_NEAR(x, 1, 1e-14);
    x = -1;
    ag_newton_result r = run(&s, &on, &x);
    AG_CHECK(r.reason == AG_NEWTON_NOT_FINITE && x == -1 && r.iterations == 0);
  }
}

typedef struct scaled {
  double row[2], col[2];
} scaled;

static bool scaled_eval(void *self, const double *x, double *F, double *J) {
  const scaled *c = self;
  double y[2] = {x[0] * c->col[0], x[1] * c->col[1]};
  (void)two_curves(y, F, J);
  for (int i = 0; i < 2; i++) {
    F[i] *= c->row[i];
    for (int j = 0; j < 2; j++) J[2 * i + j] *= c->row[i] * c->col[j];
  }
  return true;
}

/* Equations and unknowns in other units: the same points, step by step. */
static void test_scaling(void) {
  static const scaled cases[] = {
      {{1, 1}, {1, 1}}, {{1e3, 1e-4}, {1, 1}}, {{1, 1}, {1e-5, 1e4}}, {{1e-6, 1e5}, {1e3, 1e-3}}};
  enum { STEPS = 5 };
  double want[STEPS][2];
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int steps = 1; steps <= STEPS; steps++) {
      scaled c = cases[k];
      ag_newton_system s = {.kind = AG_NEWTON_SQUARE, .m = 2, .n = 2, .self = &c, .eval = scaled_eval};
      ag_newton_options o = {.max_iter = steps};
      double x[2] = {2 / c.col[0], 3 / c.col[1]};
      (void)run(&s, &o, x);
      for (int i = 0; i < 2; i++) {
        if (k == 0) want[steps - 1][i] = x[i];
        AG_CHECK_NEAR(x[i] * c.col[i], want[steps - 1][i], 1e-13);
      }
    }
}

/* ---- shortest steps ---- */

/* A sphere and a plane through it, and both once more: four equations of rank two in three unknowns. */
static bool circle_in_space(const double *x, double *F, double *J) {
  F[0] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1;
  F[1] = x[0] + x[1] + x[2] - 1;
  F[2] = F[0] + F[1];
  F[3] = 2 * F[1];
  for (int j = 0; j < 3; j++) J[j] = 2 * x[j], J[3 + j] = 1, J[6 + j] = 2 * x[j] + 1, J[9 + j] = 2;
  return true;
}

/* x + 2 y + 3 z = 6: linear, so that one step does it. */
static bool plane(const double *x, double *F, double *J) {
  F[0] = x[0] + 2 * x[1] + 3 * x[2] - 6;
  for (int j = 0; j < 3; j++) J[j] = j + 1;
  return true;
}

static bool plane_twice(const double *x, double *F, double *J) {
  (void)plane(x, F, J);
  F[1] = -4 * F[0];
  for (int j = 0; j < 3; j++) J[3 + j] = -4 * J[j];
  return true;
}

static const double *some_metric(void *self, const double *x) {
  static const double M[9] = {4, 1, 0, 1, 3, 0.5, 0, 0.5, 2};
  (void)self, (void)x;
  return M;
}

static void test_rank_deficient(void) {
  problem p = {.F = circle_in_space, .m = 4, .n = 3};
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = 4, .n = 3, .self = &p, .eval = eval, .rank_tol = 1e-10};
  ag_newton_options o = ag_newton_defaults();
  for (int k = 0; k < 5; k++) {
    double x[3] = {1 + 0.3 * k, 0.2 * k - 0.5, 0.3}, F[4], J[12];
    ag_newton_result r = run(&s, &o, x);
    AG_CHECK(ag_newton_ok(r) && r.iterations < 12);
    (void)circle_in_space(x, F, J);
    for (int i = 0; i < 4; i++) AG_CHECK_NEAR(F[i], 0, 1e-14);
  }
}

/* d = M^-1 J^T (J M^-1 J^T)^-1 6 from the origin: M d is a multiple of J; held components are left out of it. */
static void test_shortest(void) {
  static const bool hold_second[3] = {false, true, false};
  for (int twice = 0; twice < 2; twice++)
    for (int metric = 0; metric < 2; metric++)
      for (int held = 0; held < 2; held++) {
        problem p = {.F = twice ? plane_twice : plane, .m = 1 + twice, .n = 3};
        ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = 1 + twice, .n = 3, .self = &p, .eval = eval};
        s.held = held ? hold_second : NULL;
        s.metric = metric ? some_metric : NULL;
        s.rank = twice, s.rank_tol = 1e-10;
        ag_newton_options o = ag_newton_defaults();
        double x[3] = {0}, F[2], J[6];
        ag_newton_result r = run(&s, &o, x);
        AG_CHECK(ag_newton_ok(r) && r.iterations <= 2);
        (void)plane(x, F, J);
        AG_CHECK_NEAR(F[0], 0, 1e-14);
        double Mx[3];
        for (int i = 0; i < 3; i++) {
          Mx[i] = metric ? 0 : x[i];
          for (int j = 0; j < 3 && metric; j++) Mx[i] += some_metric(NULL, x)[3 * i + j] * x[j];
        }
        AG_CHECK_NEAR(Mx[2], 3 * Mx[0], 1e-13);
        if (held) AG_CHECK(x[1] == 0);
        else AG_CHECK_NEAR(Mx[1], 2 * Mx[0], 1e-13);
      }
}

/* y = a exp(b t) through points that do not lie on one: Gauss-Newton ends where J^T F = 0. */
enum { POINTS = 6 };
static bool fit(const double *x, double *F, double *J) {
  static const double y[POINTS] = {1.9, 1.4, 1.3, 0.7, 0.62, 0.35};
  for (int i = 0; i < POINTS; i++) {
    double t = 0.5 * i, e = exp(x[1] * t);
    F[i] = x[0] * e - y[i];
    J[2 * i] = e;
    J[2 * i + 1] = x[0] * t * e;
  }
  return true;
}

static void test_gauss_newton(void) {
  problem p = {.F = fit, .m = POINTS, .n = 2};
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = POINTS, .n = 2, .self = &p, .eval = eval};
  ag_newton_options o = ag_newton_defaults();
  o.step_tol = 1e-12;
  for (int k = 0; k < 4; k++) {
    double x[2] = {0.5 + k, 0.5 - 0.6 * k}, F[POINTS], J[2 * POINTS], gradient[2] = {0};
    ag_newton_result r = run(&s, &o, x);
    AG_CHECK(r.reason == AG_NEWTON_STEP && r.residual > 0.1 && r.residual < 0.3);
    (void)fit(x, F, J);
    for (int i = 0; i < POINTS; i++) gradient[0] += J[2 * i] * F[i], gradient[1] += J[2 * i + 1] * F[i];
    AG_CHECK_NEAR(gradient[0], 0, 1e-11);
    AG_CHECK_NEAR(gradient[1], 0, 1e-11);
  }
}

/* lambda = x^3 - x: a branch with two folds, at x = +-1/sqrt(3). */
static bool folds(const double *x, double *F, double *J) {
  F[0] = x[0] * x[0] * x[0] - x[0] - x[1];
  J[0] = 3 * x[0] * x[0] - 1;
  J[1] = -1;
  return true;
}

static void test_folds(void) {
  problem p = {.F = folds, .m = 1, .n = 2};
  double x[2] = {-1.5, -1.875}, tangent[2] = {1, 0}, F, J[2], lambda = x[1];
  ag_newton_system s = square(&p);
  s.n_border = 1;
  s.border = tangent;
  ag_newton_options o = ag_newton_defaults();
  int turns = 0, up = 1;
  for (int k = 0; k < 100 && x[0] < 1.5; k++) {
    (void)folds(x, &F, J);
    double length = hypot(J[0], J[1]), sign = tangent[0] * -J[1] + tangent[1] * J[0] > 0 ? 1 : -1;
    tangent[0] = -sign * J[1] / length;
    tangent[1] = sign * J[0] / length;
    double guess[2] = {x[0] + 0.1 * tangent[0], x[1] + 0.1 * tangent[1]};
    memcpy(x, guess, sizeof x);
    AG_CHECK(ag_newton_ok(run(&s, &o, x)));
    (void)folds(x, &F, J);
    AG_CHECK_NEAR(F, 0, 1e-14);
    AG_CHECK_NEAR(tangent[0] * (x[0] - guess[0]) + tangent[1] * (x[1] - guess[1]), 0, 1e-15);
    if ((x[1] > lambda ? 1 : -1) != up) turns++, up = -up;
    lambda = x[1];
  }
  AG_CHECK(x[0] >= 1.5);
  AG_CHECK(turns == 2);
}

/* ---- manifolds, solves of the caller ---- */

static const double toward[3] = {2.0 / 7, -3.0 / 7, 6.0 / 7};

/* R e3 = toward, in the two components across: d(R e3) = R (d x e3). */
static bool turned(void *self, const double *q, double *F, double *J) {
  double R[9];
  (void)self;
  ag_lie_quat_matrix(q, R);
  for (int i = 0; i < 2; i++) {
    F[i] = R[3 * i + 2] - toward[i];
    J[3 * i] = -R[3 * i + 1], J[3 * i + 1] = R[3 * i], J[3 * i + 2] = 0;
  }
  return true;
}

static void turn(void *self, double *q, const double *d) {
  double step[4], out[4];
  (void)self;
  ag_lie_exp(d, step);
  ag_lie_quat_mul(q, step, out);
  memcpy(q, out, sizeof out);
}

static void test_rotation(void) {
  ag_newton_system s = {.kind = AG_NEWTON_SHORTEST, .m = 2, .n = 3, .n_x = 4, .eval = turned, .retract = turn};
  ag_newton_options o = ag_newton_defaults();
  double q[4] = {1, 0, 0, 0}, R[9];
  AG_CHECK(ag_newton_ok(run(&s, &o, q)));
  ag_lie_quat_matrix(q, R);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(R[3 * i + 2], toward[i], 1e-14);
  AG_CHECK_NEAR(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-14);
}

/* -x'' + exp(x) = 2 on a grid, by elimination in the three diagonals. The first equation may be out of reach. */
enum { GRID = 50 };
typedef struct grid {
  double diagonal[GRID];
  bool first_lost;
  int solves;
} grid;

static bool grid_eval(void *self, const double *x, double *F, double *J) {
  grid *g = self;
  AG_CHECK(!J);
  for (int i = 0; i < GRID; i++) {
    double left = i ? x[i - 1] : 0, right = i < GRID - 1 ? x[i + 1] : 0, h2 = 1.0 / (GRID * GRID);
    F[i] = 2 * x[i] - left - right + h2 * (exp(x[i]) - 2);
    g->diagonal[i] = 2 + h2 * exp(x[i]);
  }
  if (g->first_lost) F[0] = 1;
  return true;
}

static bool grid_solve(void *self, const double *x, const double *F, double *d) {
  grid *g = self;
  double pivot[GRID];
  int first = g->first_lost; /* x[0] is then left where it is */
  (void)x;
  g->solves++;
  d[0] = 0;
  for (int i = first; i < GRID; i++) {
    double below = i > first ? -1 / pivot[i - 1] : 0;
    pivot[i] = g->diagonal[i] + below;
    d[i] = -F[i] - (i > first ? below * d[i - 1] : 0);
  }
  for (int i = GRID - 1; i >= first; i--) d[i] = (d[i] + (i < GRID - 1 ? d[i + 1] : 0)) / pivot[i];
  return true;
}

static bool no_solve(void *self, const double *x, const double *F, double *d) {
  (void)self, (void)x, (void)F, (void)d;
  return false;
}

/* The size without the equation that is out of reach, from the first solve on. */
static double grid_size(void *self, const double *F) {
  const grid *g = self;
  double most = 0;
  for (int i = g->solves > 0; i < GRID; i++) most = fmax(most, fabs(F[i]));
  return most;
}

static void test_own(void) {
  grid g = {0};
  ag_newton_system s = {
      .kind = AG_NEWTON_OWN, .m = GRID, .n = GRID, .self = &g, .eval = grid_eval, .solve = grid_solve};
  ag_newton_options o = ag_newton_defaults();
  double x[GRID] = {0}, y[GRID] = {0}; /* y: what cannot be solved stays at 0 */
  AG_CHECK(ag_newton_work(&s) < 4 * GRID);
  ag_newton_result r = run(&s, &o, x);
  AG_CHECK(ag_newton_ok(r) && r.residual <= 1e-14 && r.iterations == g.solves && g.solves <= 6);
  for (int i = 0; i < GRID; i++) AG_CHECK_NEAR(x[i], x[GRID - 1 - i], 1e-13);
  s.solve = no_solve;
  AG_CHECK(run(&s, &o, y).reason == AG_NEWTON_SINGULAR);
  s.solve = grid_solve;
  s.size = grid_size;
  g = (grid){.first_lost = true};
  r = run(&s, &o, y);
  AG_CHECK(ag_newton_ok(r) && r.residual <= 1e-14 && y[0] == 0);
}

static void test_options(void) {
  problem p = {.F = root_of_two, .m = 1, .n = 1};
  ag_newton_system s = square(&p);
  ag_newton_options o = {.max_iter = 20, .tol = 1e-3};
  double root = sqrt(2), x = root + 1e-4;
  ag_newton_result r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_CONVERGED && r.iterations == 0 && x == root + 1e-4);
  o.still = 1e-6; /* near enough to stop at, but not to stay at */
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_CONVERGED && r.iterations == 1 && r.residual <= 1e-7);
  p.n_log = 0;
  o = (ag_newton_options){.max_iter = 20, .tol = 1e-15, .trust = 1e-3};
  x = root + 1e-4;
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_CONVERGED && r.iterations == 1 && p.n_log == 1); /* evaluated once only */
  AG_CHECK_NEAR(x, root, 1e-8);
  o = (ag_newton_options){.max_iter = 100, .step_tol = 1e-3};
  x = 2;
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_STEP && r.step < 1e-3 && r.iterations == 4);
  o = (ag_newton_options){.max_iter = 100, .rounding = 1e-12};
  x = 2;
  r = run(&s, &o, &x); /* sqrt(2)^2 is never 2: a tolerance of 0 ends at rounding */
  AG_CHECK(r.reason == AG_NEWTON_ROUNDING && r.residual <= 1e-15 && r.iterations < 8);
  o = (ag_newton_options){.max_iter = 1, .max_step = 0.25};
  x = 10;
  r = run(&s, &o, &x);
  AG_CHECK(r.reason == AG_NEWTON_ITERATIONS && x == 9.75 && r.step > 4);
}

int main(void) {
  test_order();
  test_singular();
  test_damping();
  test_not_finite();
  test_scaling();
  test_rank_deficient();
  test_shortest();
  test_gauss_newton();
  test_folds();
  test_rotation();
  test_own();
  test_options();
  return ag_check_report();
}
