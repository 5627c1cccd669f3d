/* SPDX-License-Identifier: MIT
 * Verdicts, classes and ranks against FS as corrected, closed forms and small systems with known answers; and the two
 * laws that all rests on, as identities on models of all kinds:
 *   dE/dt = -l_t + F.xi + R.xi     dJ_Z/dt = Z(L) + F.Z + R.Z */
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
  AG_CHECK(is(&l, "root", true) && is(&l, "scaled", true) && !q->in_D && !q->in_R && !q->on_constraints);
  close_lab(&l);
}

/* The laws, on models of all kinds. */
static void laws(const char *name) {
  anagyre_model *m = anagyre_open(name);
  ag_system *sys = ag_api_system(m, &derive);
  ag_geom *x = ag_geom_create(ag_api_model(m), 0);
  ag_probe p;
  ag_probe_init(&p, x, sys, NULL);
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
  static const char *const names[] = {"affine_particle",    "cylinder_ball",      "turntable_ball", "driven_blade",
                                      "snakeboard",         "sleigh_moving_mass", "rattleback",     "rubber_torus",
                                      "spherical_pendulum", "tippe_top",          "sliding_disk",   "heavy_top",
                                      "rigid_bodies",       "underwater_vehicle"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) laws(names[i]);
  return ag_check_report();
}
