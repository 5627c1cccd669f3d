/* SPDX-License-Identifier: MIT
 * Scenes and films: every kind of surface and ground becomes a thing whose places agree with the model. */
#include "view/view.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

static const char *const bodies[] = {"sphere(0.5)",
                                     "ellipsoid(0.5, 0.4, 0.3)",
                                     "torus(0.5, 0.1)",
                                     "disk(0.5)",
                                     "cylinder(0.5, 0.1)",
                                     "convex(X: (X[1]/0.5)^2 + (X[2]/0.4)^2 + (X[3]/0.3)^4 - 1)",
                                     "meridian(theta: 0.5*sin(theta), 0.5 - 0.5*cos(theta), 0.5)"};
static const char *const kinds[] = {"ball", "ellipsoid", "torus", "disk", "cylinder", "mesh", "lathe"};

static const char *const grounds[] = {"on plane",     "on plane spinning 0.5",      "inside sphere(2)",
                                      "on cone(0.3)", "inside cylinder(2) axis e1", "inside bowl(rho: rho^2/4)"};
static const char *const ground_kinds[] = {"plane", "plane", "shell", "bowl", "tube", "bowl"};

typedef struct shown {
  anagyre_model *m;
  anagyre_motion *motion;
  ag_source *source;
  ag_scene *scene;
  ag_film film;
} shown;

static void show(shown *s, const char *text) {
  anagyre_options o = anagyre_defaults();
  ag_text trouble = {0};
  o.t1 = 1, o.every = 0.01, o.engine = "interpreted";
  s->m = anagyre_open_text("scene", text);
  s->motion = anagyre_run(s->m, &o);
  if (!s->motion) fprintf(stderr, "%s\n%s\n", text, anagyre_error(s->m));
  AG_CHECK(s->motion != NULL);
  s->source = ag_source_motion(s->motion, s->m);
  s->scene = ag_scene_create(ag_api_system(s->m, &(ag_derive_options){0}));
  AG_CHECK(ag_film_make(&s->film, s->source, s->scene, &trouble) && s->film.scene);
  ag_text_done(&trouble);
}

static void done(shown *s) {
  ag_film_done(&s->film);
  ag_scene_free(s->scene);
  ag_source_free(s->source);
  anagyre_motion_free(s->motion);
  anagyre_close(s->m);
}

/* The values of an argument of a thing, or NULL. */
static double *const *find(const shown *s, const char *kind, const char *group, const char *arg, const ag_thing **out) {
  int at = 0;
  for (int i = 0; i < s->scene->n; i++) {
    const ag_thing *t = &s->scene->things[i];
    bool wanted = !strcmp(t->kind, kind) && !strcmp(t->group, group);
    if (wanted && out) *out = t;
    for (int a = 0; a < t->n_arg; at += ag_film_width(s->scene, t, a), a++)
      if (wanted && !strcmp(t->args[a].name, arg)) return s->film.values + at;
  }
  return NULL;
}

static void agrees(const shown *s, double *const *values, const char *column) {
  anagyre_array c = anagyre_motion_column(s->motion, column);
  for (long r = 0; r < s->film.n_row; r++)
    for (int j = 0; j < 3; j++) AG_CHECK(fabs(values[j][r] - c.data[r * c.stride + j]) <= 1e-12);
}

static void test_surface(int i) {
  shown s;
  ag_text text = {0};
  ag_text_printf(&text,
                 "model m\nbody b mass 1 inertia diag(0.1, 0.1, 0.12) surface %s\nroll b on plane gravity 1\n"
                 "start b.theta = 1.2, b.phi' = 0.3, b.psi' = 2\n",
                 bodies[i]);
  show(&s, text.s);
  const ag_thing *body = NULL;
  double *const *at = find(&s, kinds[i], "body", "at", &body);
  AG_CHECK(at != NULL);
  agrees(&s, at, "b.x");
  agrees(&s, find(&s, "trace", "trace", "at", NULL), "b.contact");
  agrees(&s, find(&s, "arrow", "friction", "along", NULL), "b.friction");
  double *const *force = find(&s, "arrow", "normal", "along", NULL);
  anagyre_array normal = anagyre_motion_column(s.motion, "b.normal");
  for (long r = 0; r < s.film.n_row; r++) AG_CHECK(fabs(force[2][r] - normal.data[r]) <= 1e-12);
  double *const *q = find(&s, kinds[i], "body", "turned", NULL);
  for (long r = 1; r < s.film.n_row; r++) { /* unit quaternions without jumps */
    double size = 0, step = 0;
    for (int j = 0; j < 4; j++) size += q[j][r] * q[j][r], step += fabs(q[j][r] - q[j][r - 1]);
    AG_CHECK(fabs(size - 1) < 1e-12 && step < 0.2);
  }
  if (!strcmp(kinds[i], "mesh")) /* on the surface, in its own axes */
    for (int k = 0; k < body->grid_rows * body->grid_cols; k++) {
      const double *X = body->grid + 3 * k;
      AG_CHECK(fabs(pow(X[0] / 0.5, 2) + pow(X[1] / 0.4, 2) + pow(X[2] / 0.3, 4) - 1) < 1e-9);
    }
  if (!strcmp(kinds[i], "lathe"))
    for (int k = 0; k < body->grid_rows; k++)
      AG_CHECK(fabs(hypot(body->grid[2 * k], body->grid[2 * k + 1]) - 0.5) < 1e-12);
  done(&s);
  ag_text_done(&text);
}

static void test_ground(int i) {
  shown s;
  ag_text text = {0};
  ag_text_printf(&text,
                 "model m\nbody b mass 1 inertia diag(0.1, 0.1, 0.1) surface sphere(0.5)\nroll b %s gravity 1\n"
                 "start b.Omega = [0.3, 0.2, 0.1]%s\n",
                 grounds[i], strstr(grounds[i], "cone") ? ", b.x[1] = 1, b.x[2] = 0" : "");
  show(&s, text.s);
  const ag_thing *ground = NULL;
  (void)find(&s, ground_kinds[i], "ground", "at", &ground);
  AG_CHECK(ground != NULL);
  double *const *angle = find(&s, ground_kinds[i], "ground", "angle", NULL);
  AG_CHECK((angle != NULL) == (i == 1));
  if (angle) AG_CHECK(fabs(angle[0][s.film.n_row - 1] - 0.5 * s.film.t[s.film.n_row - 1]) < 1e-12);
  /* The ball touches the profile of a bowl: its contact is on it. */
  if (!strcmp(ground_kinds[i], "bowl")) {
    double *const *contact = find(&s, "trace", "trace", "at", NULL);
    for (long r = 0; r < s.film.n_row; r += 10) {
      double rho = hypot(contact[0][r], contact[1][r]), nearest = INFINITY;
      for (int k = 0; k + 1 < ground->grid_rows; k++) {
        const double *a = ground->grid + 2 * k, *b = a + 2;
        double dx = b[0] - a[0], dy = b[1] - a[1], u = (rho - a[0]) * dx + (contact[2][r] - a[1]) * dy;
        u = fmin(1, fmax(0, u / (dx * dx + dy * dy)));
        nearest = fmin(nearest, hypot(rho - a[0] - u * dx, contact[2][r] - a[1] - u * dy));
      }
      AG_CHECK(nearest < 1e-3);
    }
  }
  done(&s);
  ag_text_done(&text);
}

/* A motion without a picture, and backward in time: rows in the order of time. */
static void test_plain(void) {
  anagyre_options o = anagyre_defaults();
  ag_text trouble = {0};
  ag_film film;
  o.t1 = -1, o.every = 0.1, o.engine = "interpreted";
  anagyre_model *m = anagyre_open_text("plain", "model m\nconfig x in R\nlagrangian x'^2/2\nstart x' = 1\n");
  anagyre_motion *motion = anagyre_run(m, &o);
  ag_source *source = ag_source_motion(motion, m);
  ag_scene *scene = ag_scene_create(ag_api_system(m, &(ag_derive_options){0}));
  AG_CHECK(scene->n == 0);
  AG_CHECK(ag_film_make(&film, source, scene, &trouble) && !film.scene && film.n_row == 11);
  AG_CHECK(film.t[0] == -1 && film.t[10] == 0 && film.rows[0] == 10);
  ag_film_done(&film);
  ag_scene_free(scene);
  ag_source_free(source);
  anagyre_motion_free(motion);
  anagyre_close(m);
  ag_text_done(&trouble);
}

int main(void) {
  for (int i = 0; i < (int)(sizeof bodies / sizeof *bodies); i++) test_surface(i);
  for (int i = 0; i < (int)(sizeof grounds / sizeof *grounds); i++) test_ground(i);
  test_plain();
  return ag_check_report();
}
