/* SPDX-License-Identifier: MIT
 * Verdicts, classes and ranks against FS as corrected, closed forms and small systems with known answers; and the two
 * laws that all rests on, as identities on models of all kinds:
 *   dE/dt = -l_t + F.xi + R.xi     dJ_Z/dt = Z(L) + F.Z + R.Z */
#include <math.h>

#include "check.h"
#include "study/conserve_internal.h"
#include "study/study.h"

static const ag_derive_options derive = {.growth = true};

typedef struct lab {
  anagyre_model *m;
  ag_conservation c;
} lab;

static lab open_lab(const char *name, const char *text, int n_set, const char *const (*sets)[2]) {
  lab l = {text ? anagyre_open_text(name, text) : anagyre_open(name), {0}};
  for (int i = 0; i < n_set; i++) (void)anagyre_set(l.m, sets[i][0], sets[i][1]);
  ag_system *sys = ag_api_system(l.m, &derive);
  if (!sys) fprintf(stderr, "%s: %s\n", name, anagyre_error(l.m));
  AG_CHECK(sys != NULL);
  AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), sys, &(ag_conserve_options){0}) == AG_OK);
  return l;
}

/* The same with options. */
static lab open_with(const char *name, const char *set[2], const ag_conserve_options *o) {
  lab l = {anagyre_open(name), {0}};
  if (set) (void)anagyre_set(l.m, set[0], set[1]);
  AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), ag_api_system(l.m, &derive), o) == AG_OK);
  return l;
}

static void close_lab(lab *l) {
  ag_conservation_done(&l->c);
  anagyre_close(l->m);
}

static const ag_quantity *find(const lab *l, const char *name) {
  for (int i = 0; i < l->c.n; i++)
    if (!strcmp(l->c.at[i].name, name)) return &l->c.at[i];
  fprintf(stderr, "no quantity %s\n", name);
  AG_CHECK(false);
  return &l->c.at[0];
}

/* The verdict, proved. */
static bool is(const lab *l, const char *name, bool conserved) {
  const ag_quantity *q = find(l, name);
  bool right = conserved ? q->verdict == AG_CONSERVED_YES && q->proof == AG_PROOF_IDENTITY && q->bound < 1e-20
                         : q->verdict == AG_CONSERVED_NO && q->proof == AG_PROOF_WITNESS && q->lo * q->hi > 0;
  if (!right) fprintf(stderr, "%s: %s by %s\n", name, ag_conserved_word(q->verdict), ag_proof_word(q->proof));
  return right;
}

static bool has_ranks(const lab *l, int dimension, int D, int R) {
  bool right = l->c.dimension == dimension && l->c.rank_D == D && l->c.rank_R == R;
  if (!right) fprintf(stderr, "ranks %d %d %d\n", l->c.dimension, l->c.rank_D, l->c.rank_R);
  return right;
}

/* FS 3.2, example 1, with the reaction R = S^T (S S^T)^-1 S V'. */
static void particle(void) {
  static const struct {
    const char *V;
    bool energy;
    int rank;
  } rows[] = {{"0", 1, 3},
              {"(x^2 + y^2)/2", 1, 3},
              {"z", 0, 2},
              {"x", 0, 2},
              {"x^2 + 2*y^2", 0, 2},
              {"exp(-(x^2 + y^2))", 1, 3},
              {"(x^2 + y^2)/2 + 1e-6*z", 0, 2},
              {"1e-12*x", 0, 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text text = {0};
    ag_text_printf(&text,
                   "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2) - (%s)\n"
                   "constraint z' + x*y' - y*x' = 0.7\n",
                   rows[i].V);
    lab l = open_lab("m.nh", text.s, 0, NULL);
    AG_CHECK(is(&l, "energy", rows[i].energy));
    AG_CHECK(has_ranks(&l, 3, 2, rows[i].rank));
    close_lab(&l);
    ag_text_done(&text);
  }
  /* V = z: the rate is c/(1 + x^2 + y^2) */
  lab l = open_lab("affine_particle", NULL, 0, NULL);
  const ag_quantity *q = find(&l, "energy");
  double rate = 0.7 / (1 + q->state[0] * q->state[0] + q->state[1] * q->state[1]);
  AG_CHECK(q->lo <= rate * (1 + 1e-15) && rate * (1 - 1e-15) <= q->hi); /* rounding of this formula */
  close_lab(&l);
}

/* FS 3.2 and 4.3: ball in a rotating cylinder. */
static void cylinder(void) {
  lab any = open_lab("cylinder_ball", NULL, 0, NULL);
  AG_CHECK(is(&any, "energy", false) && is(&any, "F", false) && is(&any, "K", false) &&
           is(&any, "moving_energy", true));
  AG_CHECK(has_ranks(&any, 5, 3, 3));
  close_lab(&any);
  static const char *const level[][2] = {{"k", "0"}}, *const still[][2] = {{"Omega", "0"}, {"k", "0"}},
                           *const tiny[][2] = {{"k", "1e-6"}};
  lab z = open_lab("cylinder_ball", NULL, 1, level);
  AG_CHECK(is(&z, "energy", true) && is(&z, "F", true) && is(&z, "K", true));
  AG_CHECK(has_ranks(&z, 5, 3, 4));
  close_lab(&z);
  lab rest = open_lab("cylinder_ball", NULL, 2, still);
  AG_CHECK(is(&rest, "energy", true) && is(&rest, "F", true) && is(&rest, "K", true));
  close_lab(&rest);
  lab broken = open_lab("cylinder_ball", NULL, 1, tiny);
  AG_CHECK(is(&broken, "energy", false) && is(&broken, "F", false) && is(&broken, "K", false));
  close_lab(&broken);
}

static void rolling(void) {
  lab disk = open_lab("vertical_disk", NULL, 0, NULL);
  const ag_quantity *spin = find(&disk, "spin");
  AG_CHECK(is(&disk, "energy", true) && is(&disk, "spin", true) && !spin->in_D && spin->in_R && spin->invariant);
  AG_CHECK(has_ranks(&disk, 4, 2, 3));
  close_lab(&disk);
  lab table = open_lab("turntable_ball", NULL, 0, NULL);
  AG_CHECK(is(&table, "energy", false) && is(&table, "moving_energy", true) && find(&table, "roll_z")->in_D);
  close_lab(&table);
  lab ball = open_lab("chaplygin_ball", NULL, 0, NULL);
  AG_CHECK(is(&ball, "energy", true) && is(&ball, "M_up", true) && is(&ball, "M2", true) && is(&ball, "turn", false));
  AG_CHECK(ball.c.dimension == 5); /* the height of the centre is holonomic in disguise */
  close_lab(&ball);
  lab routh = open_lab("routh_sphere", NULL, 0, NULL);
  AG_CHECK(is(&routh, "energy", true) && is(&routh, "jellett", true) && is(&routh, "routh", true));
  close_lab(&routh);
}

/* The third class: z' + x y' = c keeps y' sqrt(1 + x^2) and E - c z', and neither energy nor a momentum. */
static void third_class(void) {
  static const char text[] = "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"
                             "constraint z' + x*y' = 0.3\ngenerator scaled: y' = sqrt(1 + x^2)\n"
                             "generator lift: z' = 1\ngenerator side: y' = 1\n"
                             "observable root = y'*sqrt(1 + x^2), tilted = y'*sqrt(1 + x^2 + 1e-12*y)\n"
                             "observable moving = 1/2*(x'^2 + y'^2 + z'^2) - 0.3*z'\n"
                             "observable power = 1/2*(x'^2 + y'^2 + z'^2)\n";
  lab l = open_lab("m.nh", text, 0, NULL);
  AG_CHECK(is(&l, "energy", false) && is(&l, "moving", true) && is(&l, "lift", false) && is(&l, "side", false));
  AG_CHECK(is(&l, "tilted", false) && is(&l, "power", false));
  const ag_quantity *q = find(&l, "scaled"); /* its momentum is root */
  const ag_quantity *root = find(&l, "root");
  AG_CHECK(root->class && !strncmp(root->class, "neither", 7) && root->generated && !root->in_R);
  AG_CHECK(is(&l, "root", true) && is(&l, "scaled", true) && !q->in_D && !q->in_R && !q->on_constraints);
  close_lab(&l);
}

/* Integrals that a search finds: Jellett's and Routh's of the sphere (its factor is that of the invariant measure); how
 * many are linear, quadratic, independent. */
static void searches(void) {
  static const struct {
    const char *model;
    int linear, quadratic, independent;
  } rows[] = {
      {"routh_sphere", 1, 4, 3}, {"chaplygin_ball", 1, 4, 4}, {"chaplygin_top", 0, 2, 1}, {"heavy_top", 2, 5, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = open_with(rows[i].model, NULL, &(ag_conserve_options){.degree = 4, .search = true});
    AG_CHECK(l.c.linear == rows[i].linear && l.c.quadratic == rows[i].quadratic);
    AG_CHECK(l.c.n_independent == rows[i].independent);
    if (!i) AG_CHECK(is(&l, "linear 1", true) && is(&l, "linear 2", true));
    close_lab(&l);
  }
  static const char text[] = "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"
                             "constraint z' + x*y' = 0.3\n"; /* E - 0.3 z', without a generator to tell */
  lab l = {anagyre_open_text("m.nh", text), {0}};
  AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), ag_api_system(l.m, &derive),
                       &(ag_conserve_options){.degree = 2, .search = true}) == AG_OK);
  AG_CHECK(is(&l, "moving energy 1", true));
  close_lab(&l);
}

/* Classical systems, found from nothing but their text. Coefficients before velocities that the constraints do not give
 * as polynomials (Neumann, Jacobi, a blade), rotations that are not felt (Euler's top: R I Omega; |I Omega|^2 is a
 * product), a holonomic constraint in disguise between angles (two wheels), momenta of symmetries that are no
 * polynomials (the hyperbolic plane, a gyrostat, a body in a fluid). */
static void classics(void) {
  static const struct {
    const char *text;
    int linear, quadratic, independent, dimension;
  } rows[] = {
      {"config x in S2\nlagrangian 1/2*(dot(x', x') - x[1]^2 - 2*x[2]^2 - 4*x[3]^2)\nstart x = e1\n", 0, 3, 2, 2},
      {"config x in R^3\nlagrangian dot(x', x')\nholonomic x[1]^2 + x[2]^2/2 + x[3]^2/3 = 1\nstart x = e1\n", 0, 3, 2,
       2},
      {"config R in SO3 velocity W\nlagrangian W[1]^2 + 2*W[2]^2 + 3*W[3]^2\n", 3, 8, 4, 3},
      {"config x in R, y in R, h in S1\nlagrangian x'^2 + y'^2 + h'^2\nconstraint x'*sin(h) = y'*cos(h)\n", 4, 11, 4,
       3},
      {"config x in R, y in R, h in S1, p in R, s in R\nlagrangian x'^2 + y'^2 + h'^2 + p'^2 + s'^2\n"
       "constraint x'*sin(h) = y'*cos(h)\nconstraint x'*cos(h) + y'*sin(h) + 0.5*h' = 0.3*p'\n"
       "constraint x'*cos(h) + y'*sin(h) - 0.5*h' = 0.3*s'\n",
       5, 16, 5, 4},
      {"config x in R, y in R\nlagrangian (x'^2 + y'^2)/y^2\nstart y = 1\n", 0, 2, 3, 2},
      {"config R in SO3 velocity w\nlagrangian dot(w, diag(1, 2, 3)*w)/2 + 0.5*w[1]\n", 0, 3, 4, 3},
      {"config x in R^3, R in SO3 velocity w\nlet v = R^T*x'\n"
       "lagrangian dot(w, diag(1, 2, 4)*w)/2 + dot(v, diag(1, 2, 3)*v)/2\n",
       0, 2, 7, 6},
      {"config x in R, y in R, z in R\nlagrangian x'^2 + y'^2 + z'^2\nstart x = 1, z = 0.5\n"
       "constraint x*x' + y*y' + z*z' = 0\nconstraint z' = 0\n",
       1, 2, 1, 1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text text = {0};
    ag_text_printf(&text, "model m\n%s", rows[i].text);
    lab l = {anagyre_open_text("m.nh", ag_text_cstr(&text)), {0}};
    AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), ag_api_system(l.m, &derive),
                         &(ag_conserve_options){.degree = 2, .search = true}) == AG_OK);
    bool right = l.c.linear == rows[i].linear && l.c.quadratic == rows[i].quadratic;
    right = right && l.c.n_independent == rows[i].independent && l.c.dimension == rows[i].dimension && l.c.rank_R >= 0;
    if (!right)
      fprintf(stderr, "classic %zu: %d %d %d %d\n", i, l.c.linear, l.c.quadratic, l.c.n_independent, l.c.dimension);
    AG_CHECK(right);
    ag_text_done(&text);
    close_lab(&l);
  }
}

/* A rate that vanishes does not make a quantity constant that jumps; a surface that is conserved is never crossed. Dry
 * friction brings motions together, although its divergence is 0 on both sides. */
static void jumps(void) {
  static const struct {
    const char *x;
    ag_conserved verdict;
  } rows[] = {{"sign(x)", AG_CONSERVED_UNDECIDED},
              {"if x > 0 then 2 else 1", AG_CONSERVED_UNDECIDED},
              {"x'^2 + x^2 + sign(x)", AG_CONSERVED_UNDECIDED},
              {"if x' > 0 then y' else y'^2", AG_CONSERVED_UNDECIDED},
              {"atan(tan(x)) - x", AG_CONSERVED_UNDECIDED},
              {"atan2(x, x') - t", AG_CONSERVED_UNDECIDED},
              {"sign(y')", AG_CONSERVED_YES},
              {"if y' > 1 then y' else 2*y'", AG_CONSERVED_YES},
              {"abs(x) - x*sign(x) + y'", AG_CONSERVED_YES},
              {"max(x, 0) - min(x, 0) - abs(x) + y'", AG_CONSERVED_YES},
              {"sign(x)*x", AG_CONSERVED_NO}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text text = {0};
    ag_text_printf(&text,
                   "model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2 - x^2)\ncandidate c = %s\n"
                   "start x = 1, y' = 1\n",
                   rows[i].x);
    lab l = open_lab("m.nh", ag_text_cstr(&text), 0, NULL);
    const ag_quantity *q = find(&l, "c");
    if (q->verdict != rows[i].verdict) fprintf(stderr, "%s: %s\n", rows[i].x, ag_conserved_word(q->verdict));
    AG_CHECK(q->verdict == rows[i].verdict);
    AG_CHECK(q->verdict != AG_CONSERVED_UNDECIDED || (q->jump && strstr(q->reason, "it jumps where")));
    ag_text_done(&text);
    close_lab(&l);
  }
  static const struct {
    const char *force;
    ag_conserved verdict;
  } forces[] = {{"-0.3*sign(x')", AG_CONSERVED_UNDECIDED}, {"-0.3*sign(x)", AG_CONSERVED_YES}};
  for (size_t i = 0; i < sizeof forces / sizeof *forces; i++) {
    ag_text text = {0};
    ag_text_printf(&text, "model m\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = %s\n", forces[i].force);
    lab l = open_lab("m.nh", ag_text_cstr(&text), 0, NULL);
    AG_CHECK(l.c.measure.verdict == forces[i].verdict);
    ag_text_done(&text);
    close_lab(&l);
  }
}

/* Euler and Jacobi: dimensions of phase space and orbits, integrals that the symmetries keep. Kepler's problem has the
 * vector of Runge and Lenz, whose coefficients contain the potential. */
static void quadratures(void) {
  static const char kepler[] = "model m\nconfig x in R, y in R\nstart x = 1, y' = 1\n"
                               "lagrangian 1/2*(x'^2 + y'^2) + 1/sqrt(x^2 + y^2)\n";
  static const struct {
    const char *model, *text;
    int phase, orbit, symmetric, independent;
    bool integrable, by_measure;
  } rows[] = {{"m.nh", kepler, 4, 1, 2, 3, true, false},           {"chaplygin_ball", NULL, 8, 3, 3, 4, true, true},
              {"routh_sphere", NULL, 8, 4, 3, 3, true, false},     {"veselova", NULL, 5, 1, 2, 3, true, true},
              {"chaplygin_sleigh", NULL, 5, 3, 1, 2, true, false}, {"chaplygin_top", NULL, 8, 3, 1, 1, false, false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = {rows[i].text ? anagyre_open_text("m.nh", rows[i].text) : anagyre_open(rows[i].model), {0}};
    AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), ag_api_system(l.m, &derive),
                         &(ag_conserve_options){.degree = -1, .search = true}) == AG_OK);
    bool right = l.c.n_phase == rows[i].phase && l.c.n_orbit == rows[i].orbit;
    right = right && l.c.n_symmetric == rows[i].symmetric && l.c.n_independent == rows[i].independent;
    right = right && l.c.integrable == rows[i].integrable && l.c.by_measure == rows[i].by_measure;
    if (!right)
      fprintf(stderr, "%s: %d %d %d %d\n", rows[i].model, l.c.n_phase, l.c.n_orbit, l.c.n_symmetric, l.c.n_independent);
    AG_CHECK(right);
    close_lab(&l);
  }
  static const char process[] = "model m\nconfig x in R, y in R\nprocess n drift -n\nstart x = 1, n = 1\n"
                                "lagrangian 1/2*(x'^2 + y'^2) - n*x^2/2\n"; /* a state that no symmetry is known for */
  lab l = open_lab("m.nh", process, 0, NULL);
  AG_CHECK(l.c.n_phase < 0 && !l.c.integrable);
  close_lab(&l);
}

/* The annihilator in numbers: R is D and, for the disk, the direction theta' (FS 4.2); for the cylinder one dimension
 * more where V_gamma = -k sin(gamma) is 0. */
static void annihilator(void) {
  lab disk = open_with("vertical_disk", NULL, &(ag_conserve_options){0});
  double length = 0;
  AG_CHECK(disk.c.basis && disk.c.n_velocity == 4);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k <= i; k++) {
      double dot = 0;
      for (int j = 0; j < 4; j++) dot += disk.c.basis[i * 4 + j] * disk.c.basis[k * 4 + j];
      AG_CHECK(fabs(dot - (i == k)) < 1e-13); /* rounding of a singular value decomposition */
    }
  for (int i = 0; i < 3; i++) length += disk.c.basis[i * 4] * disk.c.basis[i * 4];
  AG_CHECK(!strcmp(ag_model_coords(ag_api_model(disk.m))[0].name, "theta") && fabs(length - 1) < 1e-13);
  close_lab(&disk);
  lab line = open_with("cylinder_ball", NULL, &(ag_conserve_options){.sweep = "gamma=-1:4:13"});
  AG_CHECK(line.c.changes.n == 2 && !line.c.changes_D.n && line.c.rank_swept == 3);
  AG_CHECK(fabs(line.c.changes.at[0]) < 1e-10 && fabs(line.c.changes.at[1] - M_PI) < 1e-10);
  close_lab(&line);
}

/* Places of rank change to 1e-10, also where the reaction falls like a power of the distance: V_gamma = 0 three times
 * at 1, twice at pi/2; and where it is small everywhere. */
static void flat_places(void) {
  static const struct {
    const char *V, *sweep;
    double at;
  } rows[] = {{"(1 - cos(gamma - 1))^2", "gamma=0:3:7", 1},
              {"z^2 + cos(gamma)^3", "gamma=1:2:5", M_PI / 2},
              {"1e-12*cos(gamma)", "gamma=-1:1:6", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = open_with("cylinder_ball", NULL, &(ag_conserve_options){.sweep = rows[i].sweep, .potential = rows[i].V});
    AG_CHECK(l.c.changes.n == 1 && fabs(l.c.changes.at[0] - rows[i].at) < 1e-10);
    close_lab(&l);
  }
  /* the row vanishes at x = 2, y = 1: D is larger there */
  static const char text[] = "model m\nconfig x in R, y in R, z in R\nlagrangian x'^2 + y'^2 + z'^2 - y*z\n"
                             "constraint (x - 2)*y' + (y - 1)*z' = 0\nstart x = 0, y = 1, y' = 0\n";
  lab l = {anagyre_open_text("m.nh", text), {0}};
  AG_CHECK(ag_conserve(&l.c, ag_api_ctx(l.m), ag_api_model(l.m), ag_api_system(l.m, &derive),
                       &(ag_conserve_options){.sweep = "x=-1:4:20"}) == AG_OK);
  AG_CHECK(l.c.changes_D.n == 1 && fabs(l.c.changes_D.at[0] - 2) < 1e-10);
  close_lab(&l);
}

/* For which potentials: eta = c (-y, x, 1)/(1 + x^2 + y^2) for the particle; the momenta of the cylinder are weakly
 * Noetherian, that of the sleigh's heading is not conserved. */
static void potentials(void) {
  lab l = open_with("affine_particle", NULL, &(ag_conserve_options){0});
  AG_CHECK(l.c.eta && !l.c.rest_power && l.c.eta[2] && !strcmp(l.c.eta[2], "c/(1 + x^2 + y^2)"));
  const char *rate = find(&l, "turn")->rate_formula;
  AG_CHECK(rate && !strcmp(rate, "v*(x^2 + y^2)/(1 + x^2 + y^2)"));
  close_lab(&l);
  lab z = open_with("cylinder_ball", (const char *[2]){"k", "0"}, &(ag_conserve_options){0});
  AG_CHECK(find(&z, "around")->weakly && find(&z, "roll_z")->weakly && !find(&z, "roll_x")->weakly);
  close_lab(&z);
  lab disk = open_with("vertical_disk", NULL, &(ag_conserve_options){0});
  AG_CHECK(find(&disk, "spin")->weakly && !find(&disk, "along_x")->weakly);
  close_lab(&disk);
}

/* Fields with Z(L) = 0, and how many of them keep the constraints. */
static void symmetries(void) {
  static const struct {
    const char *name, *text;
    int n, keep;
  } rows[] = {
      {"m", "model m\nconfig x in R, y in R\nlagrangian 5*(x'^2 + y'^2) - 3*(x^2 + y^2)\n", 1, 1},
      {"m", "model m\nconfig x in R, y in R\nlagrangian 5*(x'^2 + y'^2) - 3*(x^2 + y^2) - 1e-12*y^2\n", 0, 0},
      {"m", "model m\nconfig x in R, y in R\nlagrangian 500*(x'^2 + y'^2) - 2e-6*x\n", 1, 1}, /* y' = 1 */
      {"m", "model m\nconfig x in R^3\nlagrangian dot(x', x')\n", 6, 6},                      /* motions of space */
      {"m", "model m\nconfig x in R^3\nlagrangian dot(x', x')\nconstraint x'[3] = x[1]*x'[2]\n", 6, 2},
      {"m", "model m\nconfig r in R, h in S1\nlagrangian r'^2 + r^2*h'^2\nstart r = 1\n", 1, 1}, /* others have 1/r */
      {"heavy_top", NULL, 2, 2},
      {"suslov", NULL, 3, 3},
      {"turntable_ball", NULL, 9, 4}, /* motions of the plane, and turns of the ball from the left and from the right */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = open_lab(rows[i].name, rows[i].text, 0, NULL);
    int keep = 0;
    for (int k = 0; k < l.c.n_symmetry; k++) keep += l.c.symmetries[k].keeps;
    if (l.c.n_symmetry != rows[i].n || keep != rows[i].keep)
      fprintf(stderr, "%s (%d): %d symmetries, %d keep\n", rows[i].name, (int)i, l.c.n_symmetry, keep);
    AG_CHECK(l.c.n_symmetry == rows[i].n && keep == rows[i].keep);
    close_lab(&l);
  }
}

/* What generates an integral that is linear in the velocities (FS 4.3, corrected). */
static void generators(void) {
  static const struct {
    const char *model, *set[2], *name, *class;
    bool weakly;
  } rows[] = {{"cylinder_ball", {"k", "0"}, "K", "gauge momentum, generator in R only", true},
              {"cylinder_ball", {"k", "0"}, "F", "momentum, generator in D", true},
              {"cylinder_ball", {"k", "0"}, "ws[3]", "momentum, generator in R only", true},
              {"routh_sphere", {"g", "2"}, "routh", "gauge momentum, generator in D", true},
              {"routh_sphere", {"g", "2"}, "jellett", "momentum, generator in D", true}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    lab l = open_with(rows[i].model, (const char *[2]){rows[i].set[0], rows[i].set[1]}, &(ag_conserve_options){0});
    const ag_quantity *q = find(&l, rows[i].name);
    bool right = q->class && !strcmp(q->class, rows[i].class) && q->weakly == rows[i].weakly;
    if (!right) fprintf(stderr, "%s: %s\n", rows[i].name, q->class ? q->class : "no class");
    AG_CHECK(right);
    close_lab(&l);
  }
  static const char *const still[][2] = {{"Omega", "0"}, {"k", "0"}};
  lab rest = open_lab("cylinder_ball", NULL, 2, still);
  AG_CHECK(find(&rest, "K")->in_D && find(&rest, "K")->along && find(&rest, "K")->weakly);
  close_lab(&rest);
}

/* Noise. The balanced ball shaken about the vertical: energy and M.Gamma on every path, with a frozen amplitude only
 * M.Gamma. A free particle with a random push of strength s: x' is a martingale, and so is x'^2 - s^2 t. */
static void noisy(void) {
  static const char ball[] = "model m\nconfig x in R^2, R in SO3 velocity W\nlet G = R^T*e3, w = R*W\n"
                             "lagrangian 1/2*dot(x', x')*0.7 + 1/2*dot(W, diag(1.5, 2, 3)*W)\n"
                             "constraint x'[1] = w[2]\nconstraint x'[2] = -w[1]\n"
                             "observable M_up = dot(diag(1.5, 2, 3)*W + 0.7*cross(G, cross(W, G)), G)\n"
                             "noise B transport W = 0.3*R^T*e3",
                    push[] = "model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nnoise W force x' = 0.2\n"
                             "observable px = x', py = y', square = x'^2, less = x'^2 - 0.04*t\n";
  static const struct {
    const char *text, *more, *name, *verdict;
  } rows[] = {{ball, "\n", "energy", "pathwise"},
              {ball, "\n", "M_up", "pathwise"},
              {ball, " frozen\n", "energy", "no"},
              {ball, " frozen\n", "M_up", "pathwise"},
              {push, "", "px", "mean"},
              {push, "", "py", "pathwise"},
              {push, "", "square", "no"},
              {push, "", "less", "mean"},
              {push, "", "energy", "no"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text text = {0};
    ag_text_printf(&text, "%s%s", rows[i].text, rows[i].more);
    lab l = open_lab("m.nh", text.s, 0, NULL);
    const char *verdict = find(&l, rows[i].name)->with_noise;
    bool right = verdict && !strcmp(verdict, rows[i].verdict);
    if (!right) fprintf(stderr, "%s: %s\n", rows[i].name, verdict ? verdict : "no noise");
    AG_CHECK(right);
    close_lab(&l);
    ag_text_done(&text);
  }
}

/* The laws, on models of all kinds. */
static void laws(const char *name) {
  anagyre_model *m = anagyre_open(name);
  ag_system *sys = ag_api_system(m, &derive);
  ag_geom *x = ag_geom_create(ag_api_model(m), 0);
  ag_probe p;
  ag_probe_init(&p, x, sys, NULL, NULL);
  ag_id react = ag_concat(x->g, x->n_coord, x->react), xi = ag_concat(x->g, x->n_coord, x->xi), part[2];
  ag_geom_rate(x, x->energy, &part[0], &part[1]);
  ag_id time = ag_geom_time_power(x), force = ag_geom_force_power(x), power = ag_dot(x->g, react, xi);
  ag_id law = ag_sub(x->g, ag_add(x->g, part[0], part[1]), ag_add(x->g, ag_add(x->g, time, force), power));
  AG_CHECK(ag_probe_vanish(&p, 1, &law, false, NULL) == AG_TRUTH_YES);
  for (int i = 0; i < ag_model_n_generators(ag_api_model(m)); i++) {
    ag_id *Z = ag_geom_field(x, &ag_model_generators(ag_api_model(m))[i]), J = ag_geom_momentum(x, Z);
    ag_geom_rate(x, J, &part[0], &part[1]);
    ag_id lifted = ag_geom_lifted(x, Z, x->lagrangian), work = ag_geom_reaction(x, Z);
    ag_id pushed = ag_dot(x->g, x->force, ag_concat(x->g, x->n_coord, Z));
    law = ag_sub(x->g, ag_add(x->g, part[0], part[1]), ag_add(x->g, ag_add(x->g, lifted, work), pushed));
    AG_CHECK(ag_probe_vanish(&p, 1, &law, false, NULL) == AG_TRUTH_YES);
  }
  ag_probe_done(&p);
  ag_geom_free(x);
  anagyre_close(m);
}

int main(void) {
  particle();
  cylinder();
  rolling();
  third_class();
  searches();
  classics();
  jumps();
  annihilator();
  flat_places();
  potentials();
  symmetries();
  generators();
  quadratures();
  noisy();
  static const char *const names[] = {"affine_particle",    "cylinder_ball",      "turntable_ball", "driven_blade",
                                      "snakeboard",         "sleigh_moving_mass", "rattleback",     "rubber_torus",
                                      "spherical_pendulum", "tippe_top",          "sliding_disk",   "heavy_top",
                                      "rigid_bodies",       "underwater_vehicle"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) laws(names[i]);
  return ag_check_report();
}
