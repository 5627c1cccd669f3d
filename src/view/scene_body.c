/* SPDX-License-Identifier: MIT
 * Scenes of rolling bodies: the shape of each surface, the ground below it, contact traces, axes, forces, joints. */
#include <math.h>
#include <stdlib.h>

#include "view/scene_internal.h"

enum { PROFILE = 129, LATITUDES = 33, LONGITUDES = 65, BISECTIONS = 50 };

/* ---- surfaces ---- */

/* The meridian as points (distance from the axis, height over the centre of the surface). */
static void add_meridian(const ag_scene *s, ag_thing *t, const ag_surface *f) {
  double at[PROFILE], *out = AG_NEWN(s->arena, double, 2 * PROFILE), f0 = ag_scene_number(s, f->f0);
  bool gauss = f->kind == AG_SURFACE_GAUSS;
  for (int i = 0; i < PROFILE; i++) {
    double theta = M_PI * i / (PROFILE - 1);
    at[i] = gauss ? -cos(theta) : theta;
  }
  ag_id outs[2] = {f->h, f->f};
  ag_scene_sample(s, f->theta, 2, outs, PROFILE, 1, at, out);
  for (int i = 0; i < PROFILE; i++) {
    if (gauss) out[2 * i] *= sqrt(fmax(0, 1 - at[i] * at[i]));
    out[2 * i + 1] -= f0;
  }
  t->grid = out, t->grid_rows = PROFILE, t->grid_cols = 2;
}

/* An implicit surface: on the ray from its centre in each direction, where the function changes its sign. */
static void add_mesh(const ag_scene *s, ag_thing *t, const ag_surface *f) {
  enum { N = LATITUDES * LONGITUDES };
  double *point = AG_NEWN(s->arena, double, 3 * N);
  double *ray = ag_heap_alloc(sizeof(double) * 7 * N), *lo = ray + 3 * N, *hi = lo + N, *at = hi + N, *value = at + N;
  double first = 2 * fmax(ag_scene_number(s, f->a), fmax(ag_scene_number(s, f->b), ag_scene_number(s, f->c)));
  for (int i = 0; i < N; i++) {
    int row = i / LONGITUDES, column = i % LONGITUDES;
    double u = M_PI * row / (LATITUDES - 1), v = 2 * M_PI * column / (LONGITUDES - 1);
    ray[3 * i] = sin(u) * cos(v), ray[3 * i + 1] = sin(u) * sin(v), ray[3 * i + 2] = -cos(u);
    lo[i] = 0, hi[i] = 0;
  }
  for (int k = 0; k < BISECTIONS; k++) {
    for (int i = 0; i < N; i++) {
      at[i] = hi[i] > 0 ? (lo[i] + hi[i]) / 2 : lo[i] > 0 ? 2 * lo[i] : first;
      for (int j = 0; j < 3; j++) point[3 * i + j] = at[i] * ray[3 * i + j];
    }
    ag_scene_sample(s, f->p, 1, &f->f, N, 3, point, value);
    for (int i = 0; i < N; i++) {
      if (value[i] < 0) lo[i] = at[i];
      else hi[i] = at[i];
    }
  }
  free(ray);
  t->grid = point, t->grid_rows = LATITUDES, t->grid_cols = LONGITUDES;
}

/* The sizes of a surface by the names of draw.def. */
static void add_sizes(ag_thing *t, const ag_surface *f) {
  static const struct {
    const char *kind, *a, *b, *c;
  } words[] = {
      [AG_SURFACE_SPHERE] = {"ball", "r", "", ""},        [AG_SURFACE_ELLIPSOID] = {"ellipsoid", "a", "b", "c"},
      [AG_SURFACE_TORUS] = {"torus", "a", "b", ""},       [AG_SURFACE_DISK] = {"disk", "r", "", ""},
      [AG_SURFACE_CYLINDER] = {"cylinder", "r", "h", ""}, [AG_SURFACE_POINT] = {"point", "", "", ""},
      [AG_SURFACE_REVOLUTION] = {"lathe", "", "", ""},    [AG_SURFACE_GAUSS] = {"lathe", "", "", ""},
      [AG_SURFACE_CONVEX] = {"mesh", "", "", ""},         [AG_SURFACE_NONE] = {"point", "", "", ""}};
  t->kind = words[f->kind].kind;
  if (*words[f->kind].a) ag_thing_arg(t, words[f->kind].a, AG_VALUE_FIXED, f->a);
  if (*words[f->kind].b) ag_thing_arg(t, words[f->kind].b, AG_VALUE_FIXED, f->b);
  if (*words[f->kind].c) ag_thing_arg(t, words[f->kind].c, AG_VALUE_FIXED, f->c);
}

static void add_rod(ag_scene *s, const char *name, ag_id from, ag_id to) {
  ag_thing *t = ag_scene_add(s, "segment", "body", name);
  ag_thing_arg(t, "from", AG_VALUE_PLAIN, from);
  ag_thing_arg(t, "to", AG_VALUE_PLAIN, to);
}

static void add_body(ag_scene *s, ag_model *m, const ag_body *b) {
  ag_graph *g = ag_system_graph(s->system);
  const ag_surface *f = &b->surface;
  const ag_coord *coords = ag_model_coords(m);
  bool shaped = f->kind != AG_SURFACE_NONE && f->kind != AG_SURFACE_POINT;
  ag_id R = coords[b->R].q, x = coords[b->x].q;
  ag_thing *t = ag_scene_add(s, "", "body", b->name);
  add_sizes(t, f);
  if (f->kind == AG_SURFACE_REVOLUTION || f->kind == AG_SURFACE_GAUSS) add_meridian(s, t, f);
  if (f->kind == AG_SURFACE_CONVEX) add_mesh(s, t, f);
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, shaped ? ag_body_part(m, b, "middle") : x);
  if (shaped) ag_thing_arg(t, "turned", AG_VALUE_TURN, f->turn ? ag_mul(g, R, f->turn) : R);
  if (f->kind == AG_SURFACE_POINT) add_rod(s, b->name, x, ag_add(g, x, ag_mul(g, R, f->p)));
  t = ag_scene_add(s, "axes", "axes", b->name);
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, x);
  ag_thing_arg(t, "turned", AG_VALUE_TURN, R);
  ag_thing_arg(t, "inertia", AG_VALUE_FIXED, b->inertia);
  t = ag_scene_add(s, "arrow", "omega", b->name);
  ag_thing_arg(t, "along", AG_VALUE_PLAIN, ag_body_part(m, b, "omega"));
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, x);
}

/* ---- grounds and contacts ---- */

static void add_ground(ag_scene *s, const ag_model *m, const ag_contact *c) {
  static const char *const kinds[] = {
      [AG_GROUND_PLANE] = "plane", [AG_GROUND_SPHERE] = "shell", [AG_GROUND_CYLINDER] = "tube",
      [AG_GROUND_CONE] = "bowl",   [AG_GROUND_BOWL] = "bowl",    [AG_GROUND_BODY] = NULL};
  ag_graph *g = ag_system_graph(s->system);
  const ag_ground *o = &c->ground;
  if (o->kind == AG_GROUND_BODY) return;
  ag_thing *t = ag_scene_add(s, kinds[o->kind], "ground", o->carrier ? o->carrier->name : "");
  ag_id R = o->carrier ? ag_model_coords(m)[o->carrier->R].q : 0;
  ag_id x = o->carrier ? ag_model_coords(m)[o->carrier->x].q : 0;
  ag_id at = o->origin && R ? ag_mul(g, R, o->origin) : o->origin;
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, at && x ? ag_add(g, x, at) : x ? x : at);
  ag_thing_arg(t, "axis", AG_VALUE_PLAIN, o->normal && R ? ag_mul(g, R, o->normal) : o->normal);
  ag_thing_arg(t, "angle", AG_VALUE_INTEGRAL, o->spin);
  if (R) ag_thing_arg(t, "turned", AG_VALUE_TURN, R);
  if (o->kind == AG_GROUND_SPHERE || o->kind == AG_GROUND_CYLINDER) ag_thing_arg(t, "r", AG_VALUE_FIXED, o->radius);
  if (o->kind == AG_GROUND_BOWL) {
    t->rho = o->rho, t->profile = o->profile;
    if (c->body->surface.kind == AG_SURFACE_SPHERE) t->offset = ag_scene_number(s, c->body->surface.a);
  }
  if (o->kind == AG_GROUND_CONE) {
    ag_id slope = ag_apply1(g, AG_OP_TAN, o->slope);
    t->rho = ag_input(g, "rho", 1, 1, AG_LEAF_REAL);
    t->profile = ag_mul(g, slope, t->rho);
  }
}

static void add_contact(ag_scene *s, const ag_contact *c) {
  ag_graph *g = ag_system_graph(s->system);
  const char *name = c->body->name;
  ag_thing_arg(ag_scene_add(s, "trace", "trace", name), "at", AG_VALUE_PLAIN, c->point);
  ag_thing *t = ag_scene_add(s, "arrow", "normal", name);
  ag_thing_arg(t, "along", AG_VALUE_PLAIN, ag_mul(g, c->press, c->normal));
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, c->point);
  t = ag_scene_add(s, "arrow", "friction", name);
  ag_thing_arg(t, "along", AG_VALUE_PLAIN, c->friction);
  ag_thing_arg(t, "at", AG_VALUE_PLAIN, c->point);
}

static void add_joint(ag_scene *s, const ag_model *m, const ag_joint *j) {
  ag_thing_arg(ag_scene_add(s, "point", "joint", ""), "at", AG_VALUE_PLAIN, j->place);
  const ag_body *ends[2] = {j->A, j->B};
  for (int i = 0; i < 2; i++)
    if (ends[i]) add_rod(s, ends[i]->name, ag_model_coords(m)[ends[i]->x].q, j->place);
}

/* Two contacts with the same plane need it only once. */
static bool same_ground(const ag_ground *a, const ag_ground *b) {
  return a->kind == b->kind && a->carrier == b->carrier && a->normal == b->normal && a->origin == b->origin &&
         a->spin == b->spin && a->radius == b->radius && a->slope == b->slope && a->profile == b->profile;
}

void ag_scene_bodies(ag_scene *s) {
  ag_model *m = ag_system_open_model(s->system);
  ag_contact *const *contacts = ag_model_contacts(m);
  for (int i = 0; i < ag_model_n_bodies(m); i++) add_body(s, m, ag_model_bodies(m)[i]);
  for (int i = 0; i < ag_model_n_contacts(m); i++) {
    bool known = false;
    for (int k = 0; k < i && !known; k++) known = same_ground(&contacts[k]->ground, &contacts[i]->ground);
    if (!known) add_ground(s, m, contacts[i]);
    add_contact(s, contacts[i]);
  }
  for (int i = 0; i < ag_model_n_joints(m); i++) add_joint(s, m, ag_model_joints(m)[i]);
}
