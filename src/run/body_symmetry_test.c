/* SPDX-License-Identifier: MIT
 * Generators declared by bodies, for a table of scenes: exactly the expected ones, and each leaves the Lagrangian and
 * every constraint invariant, infinitesimally, at random states that satisfy the constraints. */
#include "tests/body_lab.h"

static ag_surface ball(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_SPHERE, .a = ag_num(g, 0.3)}; }
static ag_surface disk(ag_graph *g) { return (ag_surface){.kind = AG_SURFACE_DISK, .a = ag_num(g, 0.3)}; }

static ag_body *add(ag_model *m, const char *name, bool round, ag_surface (*surface)(ag_graph *), double gravity) {
  ag_graph *g = m->graph;
  ag_surface s = surface ? surface(g) : (ag_surface){0};
  ag_body *b =
      ag_body_add(m, name, ag_num(g, 1.5), diag3(g, 0.2, round ? 0.2 : 0.25, 0.3), 0, surface ? &s : NULL, nowhere);
  if (gravity != 0) ag_body_gravity(m, b, ag_num(g, gravity));
  return b;
}

static void roll(ag_ctx *ctx, ag_model *m, ag_body *b, ag_ground ground) {
  const ag_contact *c;
  AG_CHECK(ag_body_roll(ctx, m, b, &ground, nowhere, &c) == AG_OK);
}

static void hold(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_body *B, ag_id q, ag_id axis) {
  if (axis) AG_CHECK(ag_joint_hinge(ctx, m, A, p, axis, B, q, axis, nowhere, "hinge", NULL) == AG_OK);
  else AG_CHECK(ag_joint_ball(ctx, m, A, p, B, q, nowhere, "ball", NULL) == AG_OK);
}

/* The axis of a disk is horizontal, so that it does not lie flat. */
static void upright(ag_model *m, const ag_body *b) {
  double turn[9] = {1, 0, 0, 0, 0, -1, 0, 1, 0};
  ag_id e[9];
  for (int i = 0; i < 9; i++) e[i] = ag_num(m->graph, turn[i]);
  ag_id R = ag_rotation(m->graph, ag_stack(m->graph, 3, 3, e));
  AG_MODEL_PUSH(m, starts, ((ag_start){false, b->R, -1, -1, R, nowhere}));
}

static void free_body(ag_ctx *ctx, ag_model *m) {
  (void)ctx;
  add(m, "a", true, NULL, 0);
}

static void falling(ag_ctx *ctx, ag_model *m) {
  (void)ctx;
  add(m, "a", false, NULL, 9.8);
}

static void two_disks(ag_ctx *ctx, ag_model *m) {
  roll(ctx, m, add(m, "a", true, disk, 9.8), (ag_ground){0});
  roll(ctx, m, add(m, "b", true, disk, 9.8), (ag_ground){.rubber = true});
  for (int i = 0; i < 2; i++) upright(m, m->bodies[i]);
}

/* a spring between the centres: only both together */
static void tied_disks(ag_ctx *ctx, ag_model *m) {
  two_disks(ctx, m);
  ag_graph *g = m->graph;
  ag_id apart = ag_sub(g, m->coords[m->bodies[0]->x].q, m->coords[m->bodies[1]->x].q), half = ag_num(g, 0.5);
  m->lagrangian = ag_sub(g, m->lagrangian, ag_mul(g, half, ag_dot(g, apart, apart)));
}

/* a spring to a point of space */
static void held_disk(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_body *a = add(m, "a", true, disk, 9.8);
  roll(ctx, m, a, (ag_ground){0});
  upright(m, a);
  ag_id x = ag_entry(g, m->coords[a->x].q, 0, 0);
  m->lagrangian = ag_sub(g, m->lagrangian, ag_mul(g, x, x));
}

/* a further constraint that only rotations leave invariant */
static void blocked_ball(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_body *a = add(m, "a", true, ball, 9.8);
  roll(ctx, m, a, (ag_ground){0});
  ag_id x = m->coords[a->x].q, v = m->coords[a->x].xi;
  ag_id level[2] = {ag_mul(g, ag_entry(g, x, 0, 0), ag_entry(g, v, 1, 0)),
                    ag_mul(g, ag_entry(g, x, 1, 0), ag_entry(g, v, 0, 0))};
  ag_model_add_constraint(m, ag_sub(g, level[0], level[1]), "radial", nowhere);
  AG_MODEL_PUSH(m, starts, ((ag_start){false, a->x, 0, -1, ag_num(g, 1), nowhere}));
}

static void top(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), low = vec3(g, 0, 0, -0.5);
  hold(ctx, m, NULL, O, add(m, "a", true, NULL, 9.8), low, 0);
}

static void euler_top(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), low = vec3(g, 0, 0, -0.5);
  hold(ctx, m, add(m, "a", true, NULL, 0), low, NULL, O, 0);
}

static void skew_top(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), low = vec3(g, 0.1, 0, -0.5);
  hold(ctx, m, NULL, O, add(m, "a", true, NULL, 9.8), low, 0);
}

/* The same by less than any tolerance would see: no symmetry all the same. */
static void hardly_skew_top(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), low = vec3(g, 8e-15, 0, -0.5);
  hold(ctx, m, NULL, O, add(m, "a", true, NULL, 9.8), low, 0);
}

/* hinges: upright, level */
static void door(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), side = vec3(g, -0.5, 0, 0), e3 = vec3(g, 0, 0, 1);
  hold(ctx, m, NULL, O, add(m, "a", true, NULL, 9.8), side, e3);
}

static void pendulum(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id O = vec3(g, 1, 2, 3), side = vec3(g, 0, 0, 0.5), e2 = vec3(g, 0, 1, 0);
  hold(ctx, m, NULL, O, add(m, "a", true, NULL, 9.8), side, e2);
}

/* a rolling disk with a rider attached to its centre by a hinge along the axle: a monocycle */
static void rider(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_body *a = add(m, "a", true, disk, 9.8), *b = add(m, "b", false, NULL, 9.8);
  ag_id O = vec3(g, 0, 0, 0), up = vec3(g, 0.1, 0.4, 0), axle = vec3(g, 0, 0, 1);
  roll(ctx, m, a, (ag_ground){0});
  hold(ctx, m, a, O, b, up, axle);
  upright(m, a);
}

static void free_pair(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_body *a = add(m, "a", false, NULL, 0), *b = add(m, "b", true, NULL, 0);
  ag_id p = vec3(g, 0.1, 0.4, 0), q = vec3(g, 0, 0, 0.3);
  hold(ctx, m, a, p, b, q, 0);
}

static void turntable(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  roll(ctx, m, add(m, "a", true, ball, 9.8), (ag_ground){.spin = ag_num(g, 2), .origin = vec3(g, 1, 0, 0)});
}

static void ball_in_ball(ag_ctx *ctx, ag_model *m) {
  roll(ctx, m, add(m, "a", true, ball, 0),
       (ag_ground){.kind = AG_GROUND_SPHERE, .inside = true, .radius = ag_num(m->graph, 2)});
}

static void pipe(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id level = vec3(g, 1, 1, 0), r = ag_num(g, 2);
  roll(ctx, m, add(m, "a", true, ball, 9.8),
       (ag_ground){.kind = AG_GROUND_CYLINDER, .inside = true, .radius = r, .normal = level});
}

static void slope(ag_ctx *ctx, ag_model *m) {
  roll(ctx, m, add(m, "a", false, disk, 9.8), (ag_ground){.normal = vec3(m->graph, 0.3, 0.1, 2)});
}

/* a ball on a free plate in space: everything moves with it */
static void plate(ag_ctx *ctx, ag_model *m) {
  ag_body *a = add(m, "a", true, ball, 0), *b = add(m, "b", true, NULL, 0);
  roll(ctx, m, a, (ag_ground){.carrier = b});
}

static ag_surface egg(ag_graph *g) {
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = ag_num(g, 0.35), .b = ag_num(g, 0.25), .c = ag_num(g, 0.2)};
}
static ag_surface lens(ag_graph *g) {
  ag_id a = ag_num(g, 0.35);
  return (ag_surface){.kind = AG_SURFACE_ELLIPSOID, .a = a, .b = a, .c = ag_num(g, 0.2)};
}

static void lens_in_ball(ag_ctx *ctx, ag_model *m) {
  roll(ctx, m, add(m, "a", true, lens, 9.8),
       (ag_ground){.kind = AG_GROUND_SPHERE, .inside = true, .radius = ag_num(m->graph, 2)});
}

static void egg_on_pipe(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id e2 = vec3(g, 0, 1, 0), r = ag_num(g, 2);
  roll(ctx, m, add(m, "a", false, egg, 9.8), (ag_ground){.kind = AG_GROUND_CYLINDER, .radius = r, .normal = e2});
}

/* an egg rolls on a lens, which rolls on the floor */
static void egg_on_lens(ag_ctx *ctx, ag_model *m) {
  ag_body *a = add(m, "a", false, egg, 9.8), *b = add(m, "b", true, lens, 9.8);
  roll(ctx, m, b, (ag_ground){.rubber = true});
  roll(ctx, m, a, (ag_ground){.kind = AG_GROUND_BODY, .carrier = b});
}

/* Adds -V to the Lagrangian of a heavy rolling ball. */
static ag_id heavy_ball(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_surface s = ball(g);
  ag_body *b = ag_body_add(m, "a", ag_num(g, 1000), diag3(g, 30, 30, 30), 0, &s, nowhere);
  ag_body_gravity(m, b, ag_num(g, 9.8));
  roll(ctx, m, b, (ag_ground){0});
  return ag_entry(g, m->coords[b->x].q, 0, 0);
}

/* a weak potential next to large energies */
static void weak_slope(ag_ctx *ctx, ag_model *m) {
  ag_id x = heavy_ball(ctx, m);
  m->lagrangian = ag_sub(m->graph, m->lagrangian, ag_mul(m->graph, ag_num(m->graph, 2e-6), x));
}

/* a potential that jumps has derivative 0 almost everywhere; its motion would need an impulse */
static void stairs(ag_ctx *ctx, ag_model *m) {
  ag_id x = heavy_ball(ctx, m), sign = ag_apply1(m->graph, AG_OP_SIGN, x);
  m->lagrangian = ag_sub(m->graph, m->lagrangian, sign);
}

/* flat near the start: exp(-1000) is 0 there */
static void far_wall(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id x = heavy_ball(ctx, m), from = ag_sub(g, x, ag_num(g, 30)), far = ag_mul(g, ag_num(g, 1000), from);
  m->lagrangian = ag_sub(g, m->lagrangian, ag_apply1(g, AG_OP_EXP, far));
}

/* a round well about the vertical */
static void round_well(ag_ctx *ctx, ag_model *m) {
  ag_graph *g = m->graph;
  ag_id x = heavy_ball(ctx, m), y = ag_entry(g, m->coords[m->bodies[0]->x].q, 1, 0);
  ag_id xx = ag_mul(g, x, x), yy = ag_mul(g, y, y);
  m->lagrangian = ag_sub(g, m->lagrangian, ag_apply1(g, AG_OP_SQRT, ag_add(g, xx, yy)));
}

static const struct scene {
  const char *name;
  void (*build)(ag_ctx *, ag_model *);
  const char *generators; /* in order, each followed by a space */
  bool refused;           /* it has no equations of motion */
} scenes[] = {
    {"free", free_body, "a.along_x a.along_y a.along_z a.turn a.turn_x a.turn_y a.spin3 ", false},
    {"falling", falling, "a.along_x a.along_y a.turn ", false},
    {"two disks", two_disks, "a.along_x a.along_y a.turn b.along_x b.along_y b.turn a.spin b.spin ", false},
    {"tied disks", tied_disks, "bodies.along_x bodies.along_y bodies.turn a.spin b.spin ", false},
    {"held disk", held_disk, "a.along_y a.spin ", false},
    {"blocked ball", blocked_ball, "a.turn a.spin3 ", false},
    {"top", top, "a.turn a.spin3 ", false},
    {"Euler top", euler_top, "a.turn a.turn_x a.turn_y a.spin3 ", false},
    {"skew top", skew_top, "a.turn ", false},
    {"hardly skew top", hardly_skew_top, "a.turn ", false},
    {"door", door, "a.turn ", false},
    {"pendulum", pendulum, "", false},
    {"rider", rider, "a.along_x a.along_y a.turn a.spin ", false},
    {"free pair", free_pair, "a.along_x a.along_y a.along_z a.turn a.turn_x a.turn_y b.spin3 ", false},
    {"turntable", turntable, "a.turn a.spin3 ", false},
    {"ball in ball", ball_in_ball, "a.turn a.turn_x a.turn_y a.spin3 ", false},
    {"pipe", pipe, "a.along_z a.spin3 ", false},
    {"slope", slope, "a.along_x ", false},
    {"lens in ball", lens_in_ball, "a.turn a.spin ", false},
    {"egg on pipe", egg_on_pipe, "a.along_z ", false},
    {"egg on lens", egg_on_lens, "a.along_x a.along_y a.turn b.spin ", false},
    {"weak slope", weak_slope, "a.along_y a.spin1 a.spin2 a.spin3 ", false},
    {"stairs", stairs, "a.along_y a.spin1 a.spin2 a.spin3 ", true},
    {"far wall", far_wall, "a.along_y a.spin1 a.spin2 a.spin3 ", false},
    {"round well", round_well, "a.turn a.spin1 a.spin2 a.spin3 ", false},
    {"plate", plate, "a.along_x a.along_y a.along_z a.turn a.turn_x a.turn_y a.spin3 b.spin3 ", false},
};

/* Derivatives along the tangent lift of a generator. */
static int derivatives(ag_model *m, const ag_generator *z, ag_id *out) {
  ag_graph *g = m->graph;
  ag_id in[16], seeds[16], x[16];
  int nc = m->n_coords, n = 0;
  AG_CHECK(nc <= 8);
  for (int i = 0; i < nc; i++) {
    in[i] = m->coords[i].q;
    in[nc + i] = m->coords[i].xi;
    seeds[i] = ag_zero(g, 3, 1);
    for (int k = 0; k < z->n; k++)
      if (z->parts[k].coord == i) seeds[i] = z->parts[k].x;
    AG_CHECK(ag_model_prime(m, seeds[i], &seeds[nc + i]));
    if (m->coords[i].space == AG_SPACE_SO3) seeds[nc + i] = ag_add(g, seeds[nc + i], ag_cross(g, in[nc + i], seeds[i]));
  }
  x[n++] = m->lagrangian;
  for (int i = 0; i < m->n_constraints; i++) x[n++] = m->constraints[i].x;
  for (int i = 0; i < m->n_holonomics; i++) {
    x[n++] = m->holonomics[i].x;
    AG_CHECK(ag_model_prime(m, m->holonomics[i].x, &x[n++]));
  }
  ag_forward(g, 2 * nc, in, seeds, n, x, out);
  return n;
}

static void check_scene(const struct scene *s) {
  ag_ctx ctx = {0};
  ag_model *m = ag_model_create(s->name);
  ag_system *sys = NULL;
  ag_derive_options options = {0};
  s->build(&ctx, m);
  AG_CHECK(ag_bodies_finish(&ctx, m) == AG_OK);
  ag_text names = {0};
  for (int i = 0; i < m->n_generators; i++) ag_text_printf(&names, "%s ", m->generators[i].name);
  if (strcmp(ag_text_cstr(&names), s->generators)) fprintf(stderr, "scene %s\n", s->name);
  AG_CHECK_STR(ag_text_cstr(&names), s->generators);
  ag_text_done(&names);
  AG_CHECK((ag_system_create(&ctx, m, &options, &sys) == AG_OK) == !s->refused);
  ag_work *w = sys ? ag_work_create(sys, ag_system_param_values(sys)) : NULL;
  for (int k = 0; sys && k < m->n_generators; k++) {
    ag_id out[16];
    int n = derivatives(m, &m->generators[k], out);
    bool lambda;
    ag_tape *tape = ag_system_tape(sys, n, out, &lambda);
    double *slots = calloc((size_t)tape->n_slot + 1, sizeof *slots), x[64], t, v[64];
    ag_tape_prep(tape, ag_system_param_values(sys), slots);
    for (unsigned seed = 1; seed <= 5; seed++) {
      AG_CHECK(ag_system_sample(sys, w, seed, &t, x) == AG_OK);
      AG_CHECK(ag_work_eval(w, tape, lambda, t, x, slots, v) == 0);
      /* rounding; the sample satisfies positions to 1e-13 and some lengths are small */
      for (int i = 0; i < tape->n_out; i++) AG_CHECK_NEAR(v[i], 0, 2e-12);
    }
    if (ag_checks_failed) fprintf(stderr, "scene %s, generator %s\n", s->name, m->generators[k].name);
    free(slots);
    ag_tape_free(tape);
  }
  ag_work_free(w);
  ag_system_free(sys);
  ag_model_free(m);
  ag_ctx_done(&ctx);
}

int main(void) {
  for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) check_scene(&scenes[i]);
  return ag_check_report();
}
