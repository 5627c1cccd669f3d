/* SPDX-License-Identifier: MIT
 * What variational steps keep: the symplectic form in the canonical pair, momenta, the constraint where the step has
 * it; how they end where they cannot be solved, and which models they refuse. */
#include "tests/motions.h"

/* ---- the symplectic form ---- */

/* One step of `method` from (q0, p0) to (q1, p1), p the canonical momentum M v; naive: p of the printed method,
 * L_v(q, (q - q_before)/h), at both ends. */
static void plane_step(const char *method, bool naive, const double *z, double *out) {
  const double h = 0.1;
  double a = 2 + cos(z[0]), b = 0.5 * sin(z[0]), c = 2 + z[0] * z[0], p[2] = {z[2], z[3]};
  if (naive) {
    double v[2] = {(c * p[0] - b * p[1]) / (a * c - b * b), (a * p[1] - b * p[0]) / (a * c - b * b)}, f[2];
    plane_force(z, v, f);
    for (int i = 0; i < 2; i++) p[i] += h * f[i];
  }
  anagyre_model *m = anagyre_open_text("m.nh", PLANE);
  anagyre_set_number(m, "x", z[0]);
  anagyre_set_number(m, "y", z[1]);
  anagyre_set_number(m, "x'", (c * p[0] - b * p[1]) / (a * c - b * b));
  anagyre_set_number(m, "y'", (a * p[1] - b * p[0]) / (a * c - b * b));
  anagyre_motion *r = moved(m, method, h, h);
  double v[2] = {*anagyre_motion_final(r, "x'").data, *anagyre_motion_final(r, "y'").data};
  out[0] = *anagyre_motion_final(r, "x").data;
  out[1] = *anagyre_motion_final(r, "y").data;
  for (int i = 0; i < 2 && naive; i++) v[i] = (out[i] - z[i]) / h;
  plane_momentum(out, v, out + 2);
  anagyre_motion_free(r);
  anagyre_close(m);
}

typedef struct stepping {
  const char *method;
  bool naive;
} stepping;

static void step_plane(void *self, const double *z, double *out) {
  const stepping *s = self;
  plane_step(s->method, s->naive, z, out);
}

static void test_symplectic(void) {
  static const char *const methods[] = {
      "variational_euler", "variational_adjoint", "variational_midpoint", "verlet", "leapfrog", "rattle",
      "dla_midpoint"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    AG_CHECK(plane_defect(1e-2, step_plane, &(stepping){methods[i], false}) < 1e-9);
  AG_CHECK(plane_defect(1e-2, step_plane, &(stepping){"variational_euler", true}) >
           1e-4); /* the printed pair is not canonical */
  AG_CHECK(plane_defect(1e-2, step_plane, &(stepping){"rk4", false}) > 1e-7);
}

/* out = sum B_k/k! ad^k of x in se(3), transposed, times m: (dtau^-1_x)^* m with tau = exp, right-trivialised. The
 * series of |x| = 0.06 ends below 1e-18. */
static void dexp_inverse_dual(const double *x, const double *m, double *out) {
  static const double B[] = {1, -1.0 / 2, 1.0 / 12, 0, -1.0 / 720, 0, 1.0 / 30240, 0, -1.0 / 1209600};
  double p[6], turned[3], moved_part[3];
  memcpy(p, m, sizeof p);
  memset(out, 0, 6 * sizeof *out);
  for (size_t k = 0; k < sizeof B / sizeof *B; k++) {
    for (int i = 0; i < 6; i++) out[i] += B[k] * p[i];
    /* ad_(d, v)^T (a, b) = (a x d + b x v, b x d) */
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, l = (i + 2) % 3;
      turned[i] = p[j] * x[l] - p[l] * x[j] + p[3 + j] * x[3 + l] - p[3 + l] * x[3 + j];
      moved_part[i] = p[3 + j] * x[l] - p[3 + l] * x[j];
    }
    memcpy(p, turned, sizeof turned);
    memcpy(p + 3, moved_part, sizeof moved_part);
  }
}

/* A heavy body on SO3: the same with rotations. */
static const char BODY[] = "model m\nparam a1 = 0, a2 = 0, a3 = 0\nconfig R in SO3 velocity Omega\n"
                           "lagrangian 1/2*dot(Omega, diag(1, 2, 3)*Omega) - dot(e3, R*[0.3, 0.1, 0.5])\n"
                           "start R = rotation([0.4, -0.2, 0.3], sqrt(0.29))*rotation(e1, a1)*rotation(e2, a2)*"
                           "rotation(e3, a3)\n";

static void cross(const double *a, const double *b, double *out) {
  for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* x with exp(x) = A^T B, below half a turn. */
static void turn_between(const double *A, const double *B, double *x) {
  double C[9] = {0};
  for (int i = 0; i < 27; i++) C[i / 3] += A[3 * (i % 3) + i / 9] * B[3 * (i % 3) + i / 3 % 3];
  const double v[3] = {(C[7] - C[5]) / 2, (C[2] - C[6]) / 2, (C[3] - C[1]) / 2};
  const double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  const double angle = atan2(sine, (C[0] + C[4] + C[8] - 1) / 2);
  for (int i = 0; i < 3; i++) x[i] = sine > 0 ? v[i] * angle / sine : 0;
}

/* One step from R0 turned about the axes of the body, with the canonical momentum p = I Omega. naive: both momenta are
 * those of the printed method, I xi of the step that ends there; the canonical one is K(-h xi)^T I xi - h U_R. */
static void body_step(const stepping *s, const double *turn, const double *from, double *R1, double *p1) {
  static const double h = 0.1, I[3] = {1, 2, 3}, arm[3] = {0.3, 0.1, 0.5};
  anagyre_model *m = anagyre_open_text("m.nh", BODY);
  double p[6], R0[9], back[6] = {0}, mu[6] = {0}, force[3], Omega[3], x[3];
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {"a1", "a2", "a3"};
    anagyre_set_number(m, names[i], turn[i]);
    p[i] = mu[i] = from[i], back[i] = -h * from[i] / I[i];
  }
  memcpy(R0, anagyre_value(m, "R").data, sizeof R0);
  if (s->naive) {
    cross(arm, R0 + 6, force); /* U = e3.(R arm) */
    dexp_inverse_dual(back, mu, p);
    for (int i = 0; i < 3; i++) p[i] -= h * force[i];
  }
  for (int i = 0; i < 3; i++) Omega[i] = p[i] / I[i];
  set_vector(m, "Omega", Omega);
  anagyre_motion *r = moved(m, s->method, h, h);
  memcpy(R1, anagyre_motion_final(r, "R").data, sizeof(double) * 9);
  turn_between(R0, R1, x);
  for (int i = 0; i < 3; i++) p1[i] = I[i] * (s->naive ? x[i] / h : anagyre_motion_final(r, "Omega").data[i]);
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* The form dp_2.eta_1 - dp_1.eta_2 + p.(eta_1 x eta_2) of tangents (eta, dp), R^T dR = hat(eta). */
static double form_of(const double *a, const double *b, const double *p) {
  double sum = 0, both[3];
  cross(a, b, both);
  for (int i = 0; i < 3; i++) sum += b[3 + i] * a[i] - a[3 + i] * b[i] + p[i] * both[i];
  return sum;
}

/* What a step changes of it at most; tangents by central differences of order 6, e^6/140 of seventh derivatives. */
static double body_defect(const char *method, bool naive) {
  static const double by[6] = {-3, -2, -1, 1, 2, 3}, e = 0.012, still[3] = {0}, p[3] = {0.6, -1.6, 1.5},
                      weight[6] = {-1.0 / 60, 9.0 / 60, -45.0 / 60, 45.0 / 60, -9.0 / 60, 1.0 / 60};
  const stepping s = {method, naive};
  double T[6][6] = {{0}}, one[6][6] = {{0}}, R[9], end[3], worst = 0;
  body_step(&s, still, p, R, end);
  for (int k = 0; k < 6; k++) {
    one[k][k] = 1;
    for (int i = 0; i < 6; i++) {
      double turn[3] = {0}, from[3] = {p[0], p[1], p[2]}, R1[9], p1[3], x[3];
      *(k < 3 ? &turn[k] : &from[k - 3]) += by[i] * e;
      body_step(&s, turn, from, R1, p1);
      turn_between(R, R1, x);
      for (int c = 0; c < 6; c++) T[k][c] += weight[i] * (c < 3 ? x[c] : p1[c - 3]) / e;
    }
  }
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) worst = fmax(worst, fabs(form_of(T[a], T[b], end) - form_of(one[a], one[b], p)));
  return worst;
}

static void test_symplectic_turning(void) {
  static const char *const methods[] = {
      "variational_euler", "variational_adjoint", "variational_midpoint", "verlet",       "leapfrog", "rattle",
      "dla_midpoint",      "cayley_euler",        "cayley_midpoint",      "cayley_verlet"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) AG_CHECK(body_defect(methods[i], false) < 1e-9);
  AG_CHECK(body_defect("variational_euler", true) > 1e-4); /* the printed pair is not canonical */
  AG_CHECK(body_defect("rk4", false) > 1e-8);
}

/* ---- momenta and invariants ---- */

/* The momenta of the heavy top about the vertical and about its axis: 2000 steps of rounding, some 1e-16 each. */
static void test_momenta(void) {
  static const char *const methods[] = {"variational_euler", "variational_midpoint", "verlet", "cayley_verlet"};
  anagyre_model *m = anagyre_open("heavy_top");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    anagyre_options o = anagyre_defaults();
    o.method = methods[i], o.dt = 0.02, o.t1 = 40, o.every = 1;
    anagyre_motion *r = anagyre_run(m, &o);
    AG_CHECK(r != NULL);
    for (int k = 0; k < 2 && r; k++) {
      anagyre_array a = anagyre_motion_column(r, k ? "spin" : "vertical");
      for (long j = 0; j < a.n; j++) AG_CHECK_NEAR(a.data[j], a.data[0], 1e-12);
    }
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* One mode of a linear lattice, frequency w. Variational Euler keeps p^2 + w^2 q^2 - h w^2 p q, where the p printed
 * with q_k is (q_k - q_{k-1})/h and belongs to q_{k-1}; in the canonical pair the sign of the last term is +. RK4
 * multiplies the energy by 1 - y^6/72 + y^8/576 in each step, y = h w. */
static void test_mode(void) {
  const double w = 1.7, h = 0.2, y = h * w;
  anagyre_model *m = anagyre_open_text(
      "m.nh", "model m\nconfig q in R\nlagrangian 1/2*q'^2 - 1/2*1.7^2*q^2\nstart q = 0.6, q' = 0.8\n");
  double q[MAX_ROWS], p[MAX_ROWS];
  anagyre_motion *r = moved(m, "variational_euler", h, 10);
  int n = rows_of(r, "q", 1, q);
  AG_CHECK(rows_of(r, "q'", 1, p) == n && n == 51);
  double canonical = p[0] * p[0] + w * w * q[0] * q[0] + h * w * w * p[0] * q[0], printed = 0;
  for (int i = 0; i < n; i++) {
    double v = i ? (q[i] - q[i - 1]) / h : 0, kept = v * v + w * w * q[i] * q[i] - h * w * w * v * q[i];
    AG_CHECK_NEAR(p[i] * p[i] + w * w * q[i] * q[i] + h * w * w * p[i] * q[i], canonical, 3e-14);
    if (i == 1) printed = kept;
    if (i) AG_CHECK_NEAR(kept, printed, 3e-14);
  }
  anagyre_motion_free(r);
  r = moved(m, "rk4", h, 10);
  (void)rows_of(r, "q", 1, q);
  (void)rows_of(r, "q'", 1, p);
  for (int i = 1; i < n; i++) {
    double before = p[i - 1] * p[i - 1] + w * w * q[i - 1] * q[i - 1], after = p[i] * p[i] + w * w * q[i] * q[i];
    AG_CHECK_NEAR(after / before, 1 - pow(y, 6) / 72 + pow(y, 8) / 576, 1e-12);
  }
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* ---- constraints ---- */

/* A blade: sin(phi) x' = cos(phi) y' at phi_a of every step, a = 1, 0, 1/2; the velocities at its end satisfy it there
 * by construction. */
static void test_discrete_constraint(void) {
  static const struct {
    const char *method;
    double a;
  } all[] = {
      {"variational_euler", 1}, {"variational_adjoint", 0}, {"variational_midpoint", 0.5}, {"dla_midpoint", 0.5}};
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig x in R, y in R, phi in S1\n"
                                               "lagrangian 1/2*(x'^2 + y'^2) + 0.2*phi'^2 - x + 0.3*y*x'\n"
                                               "constraint sin(phi)*x' = cos(phi)*y'\n"
                                               "start phi = 0.4, phi' = 1.3, x' = 0.5\n");
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    anagyre_motion *r = moved(m, all[k].method, 0.05, 2);
    double x[MAX_ROWS], y[MAX_ROWS], phi[MAX_ROWS];
    int n = rows_of(r, "x", 1, x);
    AG_CHECK(rows_of(r, "y", 1, y) == n && rows_of(r, "phi", 1, phi) == n && n == 41);
    for (int i = 0; i + 1 < n; i++) {
      double at = (1 - all[k].a) * phi[i] + all[k].a * phi[i + 1];
      AG_CHECK_NEAR((sin(at) * (x[i + 1] - x[i]) - cos(at) * (y[i + 1] - y[i])) / 0.05, 0, 1e-13);
    }
    AG_CHECK(anagyre_motion_residual(r) < 1e-13);
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* Position constraints and their rates, at every step. */
static void test_position_constraint(void) {
  static const char *const methods[] = {"rattle", "variational_euler", "variational_midpoint", "verlet", "leapfrog"};
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig r in R^3\nlagrangian 1/2*dot(r', r') - r[3]\n"
                                               "holonomic dot(r, r) = 1 + 0.1*sin(t)\n"
                                               "start r = [0.6, 0, -0.8], r' = [0.1, 0.9, 0.2]\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    anagyre_motion *r = moved(m, methods[k], 0.05, 2);
    double x[3 * MAX_ROWS], v[3 * MAX_ROWS], t[MAX_ROWS];
    int n = rows_of(r, "r", 3, x);
    AG_CHECK(rows_of(r, "r'", 3, v) == n && rows_of(r, "t", 1, t) == n && n == 41);
    for (int i = 0; i < n; i++) {
      const double *a = x + 3 * i, *b = v + 3 * i;
      AG_CHECK_NEAR(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], 1 + 0.1 * sin(t[i]), 1e-13);
      AG_CHECK_NEAR(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], 0.05 * cos(t[i]), 1e-13);
    }
    anagyre_motion_free(r);
  }
  anagyre_close(m);
}

/* ---- lanes, ends, refusals ---- */

/* ---- a rotation and a vector as one factor ---- */

/* One step of the vehicle against Lie-Poisson equations on SE(3), written by hand: with x = h xi = log(q0^-1 q1) and
 * m = (J Omega, M V) at xi, the momenta at both ends are (dtau^-1_x)^* m and (dtau^-1_-x)^* m. */
static void test_one_factor_step(void) {
  static const double h = 0.05, J[3] = {1, 0.8, 0.5}, M[3] = {1.6, 2, 1};
  anagyre_model *m = anagyre_open("underwater_vehicle");
  anagyre_motion *r = moved(m, "se3_euler", h, h);
  double R[18], x[6], w[6], v[6], d[6], back[6], mu[6], want[6];
  AG_CHECK(rows_of(r, "R", 9, R) == 2 && rows_of(r, "x", 3, x) == 2);
  AG_CHECK(rows_of(r, "Omega", 3, w) == 2 && rows_of(r, "x'", 3, v) == 2);
  for (int i = 0; i < 9; i++) AG_CHECK(R[i] == (i % 4 == 0)); /* it starts at the identity */
  const double *R1 = R + 9, turn[3] = {R1[7] - R1[5], R1[2] - R1[6], R1[3] - R1[1]};
  double sine = 0.5 * sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]), angle = asin(sine);
  for (int i = 0; i < 3; i++) d[i] = 0.5 * turn[i] * angle / sine;
  double c = 1 / (angle * angle) - (1 + cos(angle)) / (2 * angle * sine); /* v = D(d)^-1 x */
  double cross[3], twice[3];
  for (int i = 0; i < 3; i++) cross[i] = d[(i + 1) % 3] * x[3 + (i + 2) % 3] - d[(i + 2) % 3] * x[3 + (i + 1) % 3];
  for (int i = 0; i < 3; i++) twice[i] = d[(i + 1) % 3] * cross[(i + 2) % 3] - d[(i + 2) % 3] * cross[(i + 1) % 3];
  for (int i = 0; i < 3; i++) d[3 + i] = x[3 + i] - x[i] - 0.5 * cross[i] + c * twice[i];
  for (int i = 0; i < 6; i++) mu[i] = (i < 3 ? J[i] : M[i - 3]) * d[i] / h, back[i] = -d[i];
  dexp_inverse_dual(d, mu, want);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(J[i] * w[i], want[i], 1e-13);
  for (int i = 0; i < 3; i++) AG_CHECK_NEAR(M[i] * v[i], want[3 + i], 1e-13);
  dexp_inverse_dual(back, mu, want);
  for (int i = 0; i < 3; i++) {
    double body = R1[i] * v[3] + R1[3 + i] * v[4] + R1[6 + i] * v[5];
    AG_CHECK_NEAR(J[i] * w[3 + i], want[i], 1e-13);
    AG_CHECK_NEAR(M[i] * body, want[3 + i], 1e-13);
  }
  anagyre_motion_free(r);
  /* momentum and angular momentum in space: 2000 steps of rounding */
  anagyre_options o = anagyre_defaults();
  o.method = "se3_euler", o.dt = 0.05, o.t1 = 100, o.every = 5;
  r = anagyre_run(m, &o);
  AG_CHECK(r != NULL);
  for (int k = 0; k < 2 && r; k++) {
    anagyre_array a = anagyre_motion_column(r, k ? "angular" : "momentum");
    for (long i = 0; i < a.n; i++)
      for (int e = 0; e < 3; e++) AG_CHECK_NEAR(a.data[i * a.stride + e], a.data[e], 1e-11);
  }
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* The underwater vehicle: variational Euler has order 1 with R and x as two factors, 2 with them as one. */
static void test_one_factor(void) {
  anagyre_model *m = anagyre_open("underwater_vehicle");
  double error[2][2], exact[3];
  anagyre_options o = anagyre_defaults();
  o.t1 = 1, o.rtol = 1e-13, o.atol = 1e-13, o.every = -1;
  anagyre_motion *r = anagyre_run(m, &o);
  AG_CHECK(r != NULL);
  if (r) memcpy(exact, anagyre_motion_final(r, "Omega").data, sizeof exact);
  anagyre_motion_free(r);
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      r = moved(m, k ? "se3_euler" : "variational_euler", i ? 0.01 : 0.02, 1);
      const double *x = anagyre_motion_final(r, "Omega").data;
      error[k][i] = fabs(x[0] - exact[0]) + fabs(x[1] - exact[1]) + fabs(x[2] - exact[2]);
      anagyre_motion_free(r);
    }
  AG_CHECK_NEAR(log2(error[0][0] / error[0][1]), 1, 0.1); /* the next term of the error, at these steps */
  AG_CHECK_NEAR(log2(error[1][0] / error[1][1]), 2, 0.1);
  anagyre_close(m);
}

/* A batch in lanes has the bits of single runs. */
static void check_lanes(const char *model, const char *method, const char *name, int n_column,
                        const char *const *columns) {
  enum { N = 5 };
  double values[N] = {0.1, 0.2, 0.3, 0.15, 0.05};
  anagyre_model *m = anagyre_open(model);
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = 0.01, o.t1 = 1, o.every = -1, o.lanes = 4;
  anagyre_batch *b = anagyre_run_many(m, N, 1, &name, values, &o);
  AG_CHECK(b && !anagyre_batch_n_failed(b));
  for (int i = 0; i < N && b; i++) {
    anagyre_set_number(m, name, values[i]);
    anagyre_motion *r = anagyre_run(m, &o);
    AG_CHECK(r != NULL);
    for (int k = 0; k < n_column; k++)
      AG_CHECK(r && *anagyre_motion_final(r, columns[k]).data == anagyre_batch_column(b, columns[k]).data[i]);
    anagyre_motion_free(r);
  }
  anagyre_batch_free(b);
  anagyre_close(m);
}

/* The carried momentum of the midpoint rule included. */
static void test_lanes(void) {
  static const char *const disk[] = {"theta", "phi", "x", "theta'"}, *const vehicle[] = {"tilt", "energy"};
  check_lanes("falling_disk", "variational_midpoint", "theta'", 4, disk);
  check_lanes("underwater_vehicle", "se3_euler", "k1", 2, vehicle);
}

/* The discrete gradient keeps the energy of models with linear constraints, and without constraints: rounding of 50
 * steps. A coordinate of which one component is cyclic is among them. */
static void test_energy(void) {
  static const char *const leaf =
      "model m\nconfig x in R^2, phi in S1\nlagrangian 1/2*dot(x', x') + 0.2*phi'^2 - x[1]^2\n"
      "constraint x'[1]*sin(phi) = x'[2]*cos(phi)\n"
      "start phi = 0.4, phi' = 1.3, x = [1, 0]\n";
  anagyre_model *models[] = {anagyre_open("rattleback"), anagyre_open("falling_disk"), anagyre_open("heavy_top"),
                             anagyre_open("roller_racer"), anagyre_open_text("m.nh", leaf)};
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    anagyre_motion *r = moved(models[i], "discrete_gradient", 0.02, 1);
    AG_CHECK(!anagyre_motion_failed(r) && anagyre_motion_energy_drift(r) < 1e-13);
    anagyre_motion_free(r);
    r = moved(models[i], "dla_midpoint", 0.02, 1);
    AG_CHECK(!anagyre_motion_failed(r) && anagyre_motion_energy_drift(r) > 1e-9);
    anagyre_motion_free(r);
    anagyre_close(models[i]);
  }
}

/* With friction -c v the energy changes in each step by the work -c v.(q1 - q0), v at the middle of the step: of a
 * plane as the mean of its ends, of a blade as the mean of its speed along the direction half-way. To rounding. */
static void test_work(void) {
  static const char *const texts[] = {
      "model m\nconfig x in R, y in R, phi in S1\n"
      "lagrangian 1/2*(x'^2 + 2*y'^2) + 0.2*phi'^2 - cos(x + 2*y) - x^4/4 - y^2*x^2 + 0.1*sin(phi)*x\n"
      "force x' = -0.3*x', y' = -0.3*y', phi' = -0.3*phi'\nstart x = 0.7, y = -0.4, x' = 1, y' = 0.5, phi' = 2\n",
      "model m\nconfig x in R, y in R, phi in S1\n"
      "lagrangian 1/2*(x'^2 + y'^2) + 0.2*phi'^2 - 1/2*(x^2 + y^2)^2 + cos(phi)\n"
      "constraint sin(phi)*x' = cos(phi)*y'\n"
      "force x' = -0.3*x', y' = -0.3*y', phi' = -0.3*phi'\nstart phi = 0.4, phi' = 1.3, x' = 0.5, x = 0.7\n"};
  for (int blade = 0; blade < 2; blade++) {
    anagyre_model *m = anagyre_open_text("m.nh", texts[blade]);
    anagyre_motion *r = moved(m, "discrete_gradient", 0.05, 3);
    double E[MAX_ROWS], q[3][MAX_ROWS], v[3][MAX_ROWS], lost = 0;
    int n = rows_of(r, "energy", 1, E);
    for (int i = 0; i < 3; i++) {
      static const char *const names[2][3] = {{"x", "y", "phi"}, {"x'", "y'", "phi'"}};
      AG_CHECK(rows_of(r, names[0][i], 1, q[i]) == n && rows_of(r, names[1][i], 1, v[i]) == n && n == 61);
    }
    for (int k = 0; k + 1 < n; k++) {
      double mean[3], work = 0, at = (q[2][k] + q[2][k + 1]) / 2, speed = 0;
      for (int i = 0; i < 3; i++) mean[i] = (v[i][k] + v[i][k + 1]) / 2;
      for (int j = k; j < k + 2; j++) speed += (v[0][j] * cos(q[2][j]) + v[1][j] * sin(q[2][j])) / 2;
      if (blade) mean[0] = speed * cos(at), mean[1] = speed * sin(at);
      for (int i = 0; i < 3; i++) work -= 0.3 * mean[i] * (q[i][k + 1] - q[i][k]);
      AG_CHECK_NEAR(E[k + 1] - E[k], work, 3e-14);
      lost -= work;
    }
    AG_CHECK(lost > 0.2);
    anagyre_motion_free(r);
    anagyre_close(m);
  }
}

/* Steps that cannot be solved for end the run with a reason. */
static void test_unsolved(void) {
  anagyre_model *m = anagyre_open_text("m.nh", "model m\nconfig q in R\nlagrangian 1/2*q'^2 - exp(q^2)\n"
                                               "start q = 1, q' = 2\n");
  anagyre_motion *r = moved(m, "variational_midpoint", 20, 100);
  AG_CHECK(anagyre_motion_failed(r));
  AG_CHECK_STR(anagyre_motion_end(r), "the stage equations did not converge: take smaller steps");
  anagyre_motion_free(r);
  anagyre_close(m);
}

static void check_refused(const char *text, const char *method, const char *why) {
  anagyre_model *m = anagyre_open_text("m.nh", text);
  anagyre_options o = anagyre_defaults();
  o.method = method, o.dt = 0.1;
  AG_CHECK(anagyre_run(m, &o) == NULL);
  const char *error = anagyre_error(m);
  AG_CHECK(error && strstr(error, why));
  if (!error || !strstr(error, why)) fprintf(stderr, "%s\n", error ? error : "no error");
  anagyre_close(m);
}

static void test_refusals(void) {
  check_refused("model m\nconfig q in R\nlagrangian 1/2*q'^2 - 1/2*q^2\nforce q' = -sign(q')\nstart q = 1\n", "verlet",
                "method verlet needs equations without switches, which this system does not have");
  check_refused("model m\nconfig q in R, r in R\nlagrangian 1/2*(q'^2 + r'^2)\nconstraint q' = 1\nconstraint r' = q'\n",
                "rattle", "method rattle needs independent velocities, which this system does not have");
  /* one factor: not where the body feels where it is, or how it is turned, or a force, or is held */
  static const char *const held[] = {"- x[3]", "- dot(R*e1, e3)", "+ 0\nforce x' = -0.1*x'",
                                     "+ 0\nconstraint x'[3] = 0", "+ 0.1*sin(t)*Omega[1]^2"};
  for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
    char text[400];
    snprintf(text, sizeof text,
             "model m\nconfig R in SO3 velocity Omega\nconfig x in R^3\nlet V = R^T*x'\n"
             "lagrangian 1/2*dot(Omega, Omega) + 1/2*dot(V, diag(1, 2, 3)*V) %s\n",
             held[i]);
    check_refused(text, "se3_euler",
                  "method se3_euler needs a Lagrangian of R^T x' and Omega alone, without constraints and forces, "
                  "which this system does not have");
  }
}

int main(void) {
  test_symplectic();
  test_symplectic_turning();
  test_momenta();
  test_mode();
  test_discrete_constraint();
  test_position_constraint();
  test_one_factor_step();
  test_one_factor();
  test_lanes();
  test_energy();
  test_work();
  test_unsolved();
  test_refusals();
  return ag_check_report();
}
