/* SPDX-License-Identifier: MIT
 * The library as its users see it: anagyre.h alone. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/anagyre.h"
#include "check.h"

static const char *const SKATE = "model skate \"A knife edge\"\n"
                                 "param m = 1, J = 0.5, a = 2, omega = 1.5, half = omega/2\n"
                                 "config x in R^2, phi in S1\n"
                                 "lagrangian m/2*dot(x', x') + J/2*phi'^2 + m*a*x[1]\n"
                                 "constraint x'[1]*sin(phi) = x'[2]*cos(phi)\n"
                                 "frame v = x'[1]*cos(phi) + x'[2]*sin(phi), w = phi'\n"
                                 "observable both = [v, w], twice = 4*half\n"
                                 "start w = omega\n"
                                 "event top: v = 0 falling\n"
                                 "section ahead: sin(phi) = 0 rising\n";

static anagyre_model *skate(void) { return anagyre_open_text("skate.nh", SKATE); }

/* Finishes a run that must be possible. */
static anagyre_motion *moved(anagyre_model *m, const anagyre_options *o) {
  anagyre_motion *r = anagyre_run(m, o);
  if (!r) fprintf(stderr, "%s", anagyre_error(m));
  AG_CHECK(r != NULL);
  if (!r) exit(ag_check_report());
  return r;
}

static void test_run(void) {
  anagyre_model *m = skate();
  anagyre_options o = anagyre_defaults();
  AG_CHECK(!anagyre_error(m) && !strcmp(anagyre_name(m), "skate") && !strcmp(anagyre_title(m), "A knife edge"));
  o.t1 = 20;
  o.every = 0.25;
  anagyre_motion *r = moved(m, &o);
  AG_CHECK(!strcmp(anagyre_motion_end(r), "time reached") && !anagyre_motion_failed(r));
  AG_CHECK(!strcmp(anagyre_motion_notes(r), "") && !anagyre_motion_end_event(r));
  anagyre_array t = anagyre_motion_column(r, "t"), x = anagyre_motion_column(r, "x");
  anagyre_array x2 = anagyre_motion_column(r, "x[2]"), both = anagyre_motion_column(r, "both");
  AG_CHECK(t.n == 81 && t.rows == 1 && t.cols == 1 && t.stride == 1 && t.data[80] == 20);
  AG_CHECK(x.n == 81 && x.rows == 2 && x.cols == 1 && x.stride == 2);
  AG_CHECK(x2.n == 81 && x2.rows == 1 && both.rows == 2);
  for (long i = 0; i < t.n; i++) { /* the known solution; tolerance: that of the run over 20 time units */
    double s = sin(1.5 * t.data[i]);
    AG_CHECK(fabs(x.data[i * x.stride] - 2 / (2 * 1.5 * 1.5) * s * s) < 1e-8);
    AG_CHECK(x2.data[i * x2.stride] == x.data[i * x.stride + 1]);
  }
  AG_CHECK(*anagyre_motion_final(r, "x[2]").data == x.data[80 * 2 + 1]);
  AG_CHECK(anagyre_motion_energy_drift(r) < 1e-9 && anagyre_motion_residual(r) < 1e-12);
  AG_CHECK(anagyre_motion_steps(r) > 10 && anagyre_motion_rejected(r) >= 0);
  anagyre_array top = anagyre_motion_events(r, "top");
  AG_CHECK(top.n == 5 && fabs(top.data[0] - acos(-1) / 1.5) < 1e-9); /* v = a/omega sin(omega t) falls through 0 */
  AG_CHECK(!anagyre_motion_column(r, "z").data && !anagyre_motion_column(r, "x[3]").data);
  AG_CHECK(!anagyre_motion_column(r, "x[1").data && !anagyre_motion_column(r, "t[1]").data);
  AG_CHECK(!anagyre_motion_events(r, "bottom").data);
  static const char *const names[] = {"t", "x", "phi", "x'", "phi'", "both", "twice", "energy", "constraint_residual"};
  for (int i = 0; i < 9; i++) AG_CHECK(!strcmp(anagyre_motion_item(r, i), names[i]));
  AG_CHECK(!anagyre_motion_item(r, 9) && !anagyre_motion_item(r, -1));
  anagyre_close(m); /* a motion does not need its model */
  AG_CHECK(!strcmp(anagyre_motion_item(r, 1), "x"));
  anagyre_motion_free(r);
}

static void test_set(void) {
  anagyre_model *m = skate();
  AG_CHECK(anagyre_value(m, "omega").data[0] == 1.5 && anagyre_value(m, "half").data[0] == 0.75);
  AG_CHECK(anagyre_value(m, "phi'").data[0] == 1.5 && anagyre_value(m, "x").rows == 2);
  anagyre_set(m, "omega", "2*3");
  AG_CHECK(anagyre_value(m, "half").data[0] == 3 && anagyre_value(m, "phi'").data[0] == 6);
  anagyre_set_number(m, "omega", 0.1);
  anagyre_set(m, "x[2]", "omega");
  AG_CHECK(anagyre_value(m, "x").data[1] == 0.1 && anagyre_value(m, "twice").data[0] == 4 * 0.05);
  anagyre_set(m, "omega", NULL);
  AG_CHECK(anagyre_value(m, "x").data[1] == 1.5 && !anagyre_error(m));
  AG_CHECK(!anagyre_value(m, "nothing").data);
  static const char *const kinds[][4] = {{"m", "J", "a"},   {"x", "phi"}, {"x'", "phi'"},
                                         {"both", "twice"}, {"top"},      {"ahead"}};
  for (int k = 0; k < 6; k++)
    for (int i = 0; kinds[k][i]; i++) AG_CHECK(!strcmp(anagyre_item(m, (anagyre_kind)k, i), kinds[k][i]));
  AG_CHECK(!anagyre_item(m, ANAGYRE_PARAMETER, 5) && !anagyre_item(m, ANAGYRE_EVENT, 1));
  anagyre_close(m);
}

/* Every kind of mistake, with its message; the model can be used afterwards. */
static void test_errors(void) {
  anagyre_model *m = skate();
  anagyre_set(m, "omga", "1");
  AG_CHECK(!strcmp(anagyre_error(m), "--set omga=1:1:1: error: unknown name `omga`; did you mean `omega`?\n"
                                     "  omga=1\n  ^~~~\n"));
  AG_CHECK(!anagyre_run(m, NULL) && strstr(anagyre_error(m), "omga") && !anagyre_item(m, ANAGYRE_PARAMETER, 0));
  anagyre_set(m, "omga", NULL);
  anagyre_end_at(m, "topp");
  AG_CHECK(!anagyre_run(m, NULL) && strstr(anagyre_error(m), "did you mean `top`?"));
  anagyre_end_at(m, NULL);
  static const struct {
    const char *method, *engine, *closure, *section, *said;
  } wrong[] = {{"dop583", 0, 0, 0, "there is no method 'dop583'; did you mean dop853?"},
               {0, "fast", 0, 0, "there is no engine 'fast' (there are auto, compiled, interpreted)"},
               {0, 0, "solved", 0, "there is no closure 'solved'"},
               {0, 0, 0, "a head", "the model has no section `a head`; did you mean `ahead`?"},
               {"rk4", 0, 0, 0, "rk4 has no error estimate"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    anagyre_options o = anagyre_defaults();
    o.method = wrong[i].method;
    o.engine = wrong[i].engine;
    o.closure = wrong[i].closure;
    o.section = wrong[i].section;
    AG_CHECK(!anagyre_run(m, &o) && strstr(anagyre_error(m), wrong[i].said));
  }
  anagyre_options o = anagyre_defaults();
  o.rtol = 0;
  AG_CHECK(!anagyre_run(m, &o) && strstr(anagyre_error(m), "the option rtol is 0; it must be from 1e-15 to 1"));
  memset(&o, 0, sizeof o);
  AG_CHECK(!anagyre_run(m, &o) && strstr(anagyre_error(m), "they must come from anagyre_defaults()"));
  o = anagyre_defaults();
  o.every = 1e-12;
  AG_CHECK(!anagyre_run(m, &o) && strstr(anagyre_error(m), "more than a billion rows"));
  anagyre_motion_free(moved(m, NULL));
  AG_CHECK(!anagyre_error(m));
  anagyre_close(m);

  m = anagyre_open_text("fall.nh", "model fall\nconfig x in R\nlagrangian x'^2 - y\n");
  AG_CHECK(strstr(anagyre_error(m), "fall.nh:3:19: error: unknown name `y`"));
  AG_CHECK(strstr(anagyre_error(m), "  lagrangian x'^2 - y\n                    ^\n"));
  anagyre_set(m, "x", "1");
  AG_CHECK(!anagyre_run(m, NULL) && !anagyre_value(m, "x").data && !strcmp(anagyre_notes(m), ""));
  anagyre_close(m);
  m = anagyre_open("rattlebak");
  AG_CHECK(strstr(anagyre_error(m), "did you mean rattleback?") && !anagyre_run(m, NULL));
  anagyre_set(m, "m", "1");
  AG_CHECK(strstr(anagyre_error(m), "did you mean rattleback?"));
  anagyre_close(m);
  m = anagyre_open("/nowhere/x.nh");
  AG_CHECK(strstr(anagyre_error(m), "cannot read /nowhere/x.nh"));
  anagyre_close(m);
  m = anagyre_open_text("massless", "model massless\nconfig x in R\nlagrangian -x\n"); /* found out by deriving */
  AG_CHECK(!anagyre_run(m, NULL) && strstr(anagyre_error(m), "massless:3:"));
  anagyre_close(m);
  anagyre_close(NULL);
  anagyre_motion_free(NULL);
  anagyre_batch_free(NULL);
}

/* Without a method one is chosen, as by the program. */
static void test_method(void) {
  anagyre_model *m = anagyre_open_text("fast.nh", "model fast\nparam k = 1e8, c = 2e4\nconfig x in R, y in R\n"
                                                  "lagrangian x'^2/2 + y'^2/2 - k*x^2/2 - y^2/2\nforce x' = -c*x'\n"
                                                  "start x = 1, y = 1\n");
  anagyre_motion *r = moved(m, NULL);
  AG_CHECK_STR(anagyre_motion_method(r), "radau5");
  AG_CHECK(strstr(anagyre_motion_notes(r), "radau5 was chosen") && !anagyre_motion_failed(r));
  AG_CHECK(fabs(*anagyre_motion_final(r, "y").data - cos(10)) < 1e-7); /* 10 rtol per step, some 40 steps */
  anagyre_motion_free(r);
  anagyre_close(m);
  m = skate();
  r = moved(m, NULL);
  AG_CHECK_STR(anagyre_motion_method(r), "dop853");
  anagyre_motion_free(r);
  anagyre_close(m);
}

static void test_ends(void) {
  anagyre_model *m = skate();
  anagyre_end_at(m, "top");
  anagyre_motion *r = moved(m, NULL);
  AG_CHECK(!strcmp(anagyre_motion_end(r), "event") && !strcmp(anagyre_motion_end_event(r), "top"));
  AG_CHECK(!anagyre_motion_failed(r) && anagyre_motion_events(r, "top").n == 1);
  anagyre_motion_free(r);
  anagyre_end_at(m, NULL);
  anagyre_options o = anagyre_defaults();
  o.max_steps = 3;
  r = moved(m, &o);
  AG_CHECK(anagyre_motion_failed(r) && !strcmp(anagyre_motion_end(r), "step limit reached"));
  anagyre_motion_free(r);
  volatile int stop = 1;
  o = anagyre_defaults();
  o.stop = &stop;
  r = moved(m, &o);
  AG_CHECK(anagyre_motion_failed(r) && !strcmp(anagyre_motion_end(r), "interrupted"));
  anagyre_motion_free(r);
  o = anagyre_defaults();
  o.section = "ahead";
  o.crossings = 2;
  o.t1 = 100;
  r = moved(m, &o);
  anagyre_array t = anagyre_motion_column(r, "t");
  AG_CHECK(!strcmp(anagyre_motion_end(r), "crossings reached") && t.n == 2);
  AG_CHECK(fabs(t.data[0] - 2 * acos(-1) / 1.5) < 1e-9 && anagyre_motion_events(r, "ahead").n == 2);
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* What makes a result doubtful is said to callers as it is to users of the program. */
static void test_notes(void) {
  anagyre_model *m = anagyre_open_text("spring.nh", "model spring\nparam k = 1\nconfig x in R\ndomain x in -2..2\n"
                                                    "lagrangian x'^2/2 - k*x^2/2\nstart x = 1\n");
  anagyre_options o = anagyre_defaults();
  o.method = "rk4";
  o.dt = 0.5;
  o.t1 = 200;
  anagyre_motion *r = moved(m, &o);
  AG_CHECK(!anagyre_motion_failed(r) && strstr(anagyre_motion_notes(r), "warning: the energy should be conserved"));
  anagyre_motion_free(r);
  static const char *const names[] = {"k"};
  const double k[] = {1e-6, 1, 1e-6};
  anagyre_batch *b = anagyre_run_many(m, 3, 1, names, k, &o);
  AG_CHECK(b && strstr(anagyre_batch_notes(b), "in 1 of 3 members (the first is member 2) the energy should be"));
  anagyre_batch_free(b);
  b = anagyre_run_many(m, 1, 1, names, k, &o);
  AG_CHECK(b && !strstr(anagyre_batch_notes(b), "warning"));
  anagyre_batch_free(b);
  anagyre_set(m, "x", "1.99");
  anagyre_set(m, "x'", "1");
  r = moved(m, NULL);
  AG_CHECK(!anagyre_motion_failed(r) && strstr(anagyre_motion_notes(r), "note: it left its domain: x = "));
  anagyre_motion_free(r);
  anagyre_close(m);
}

typedef struct counter {
  long rows, most, calls;
  double last;
} counter;

static int take(void *self, const double *row, int n) {
  counter *c = self;
  AG_CHECK(n == 12 && row[0] > c->last);
  c->last = row[0];
  return ++c->rows == c->most;
}

static void told(void *self, double at, long steps) {
  counter *c = self;
  c->calls++;
  AG_CHECK(at >= 0 && steps >= 0);
}

static void test_rows(void) {
  anagyre_model *m = skate();
  anagyre_options o = anagyre_defaults();
  counter c = {.last = -1};
  o.row = take;
  o.progress = told;
  o.self = &c;
  o.every = 0.5;
  anagyre_motion *r = moved(m, &o);
  AG_CHECK(c.rows == 21 && c.last == 10 && anagyre_motion_column(r, "t").n == 0 && !anagyre_motion_failed(r));
  anagyre_motion_free(r);
  c = (counter){.last = -1, .most = 5};
  r = moved(m, &o);
  AG_CHECK(c.rows == 5 && !anagyre_motion_failed(r) && !strcmp(anagyre_motion_end(r), "ended by the caller"));
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* A caller compiled with a header whose struct was shorter gets the defaults for the rest. */
static void test_old_options(void) {
  anagyre_model *m = skate();
  anagyre_options o;
  memset(&o, 0xff, sizeof o);
  anagyre_options_init(&o, offsetof(anagyre_options, max_step));
  o.t1 = 1;
  anagyre_motion *r = moved(m, &o);
  AG_CHECK(*anagyre_motion_final(r, "t").data == 1 && !anagyre_motion_failed(r));
  anagyre_motion_free(r);
  anagyre_close(m);
}

/* Every member is its run alone, bit for bit: a parameter that others depend on, a velocity, a component. */
static void test_many(void) {
  enum { N = 7, K = 3 };
  static const char *const names[K] = {"omega", "v", "x[2]"};
  double values[N * K];
  for (int i = 0; i < N * K; i++) values[i] = 0.3 + 0.1 * ((i * 5) % 11);
  anagyre_model *m = skate();
  anagyre_options o = anagyre_defaults();
  counter c = {0};
  o.progress = told;
  o.self = &c;
  o.engine = "interpreted";
  anagyre_batch *b = anagyre_run_many(m, N, K, names, values, &o);
  AG_CHECK(b != NULL && !anagyre_error(m) && c.calls > 0);
  if (!b) fprintf(stderr, "%s\n", anagyre_error(m)), exit(ag_check_report());
  AG_CHECK(anagyre_batch_size(b) == N && anagyre_batch_n_failed(b) == 0);
  for (int i = 0; i < N; i++) {
    anagyre_model *one = skate();
    for (int k = 0; k < K; k++) anagyre_set_number(one, names[k], values[i * K + k]);
    anagyre_motion *r = moved(one, NULL);
    AG_CHECK(!strcmp(anagyre_batch_end(b, i), "time reached") && !anagyre_batch_failed(b, i));
    AG_CHECK(anagyre_batch_steps(b, i) == anagyre_motion_steps(r));
    for (int k = 0; anagyre_batch_item(b, k); k++) {
      anagyre_array all = anagyre_batch_column(b, anagyre_batch_item(b, k));
      anagyre_array alone = anagyre_motion_final(r, anagyre_batch_item(b, k));
      AG_CHECK(all.n == N && all.stride == alone.stride);
      AG_CHECK(!memcmp(all.data + i * all.stride, alone.data, sizeof(double) * (size_t)all.stride));
    }
    anagyre_motion_free(r);
    anagyre_close(one);
  }
  AG_CHECK(!strcmp(anagyre_batch_end(b, N), "there is no such member") && anagyre_batch_failed(b, -1));
  anagyre_batch_free(b);

  o.columns = "x[2], twice";
  b = anagyre_run_many(m, N, K, names, values, &o);
  AG_CHECK(b && isnan(anagyre_batch_column(b, "energy").data[0]) && isfinite(anagyre_batch_column(b, "x").data[0]));
  anagyre_batch_free(b);
  o.columns = NULL;
  o.section = "ahead";
  o.crossings = 3;
  o.t1 = 200;
  b = anagyre_run_many(m, N, K, names, values, &o);
  AG_CHECK(b && anagyre_batch_points(b, 4, "phi").n == 3);
  anagyre_batch_free(b);
  anagyre_close(m);
}

static void test_many_errors(void) {
  anagyre_model *m = anagyre_open_text("well.nh", "model well\nparam K = 1 integer\nparam m = 1, w = [1, 2]\n"
                                                  "config x in R [K]\nlagrangian m/2*x[1]'^2 - sqrt(x[1])*w[1]\n"
                                                  "start x[1] = 1\n");
  static const struct {
    const char *names[2], *said;
  } wrong[] = {{{"K", "x[1]"}, "`K` is an integer parameter"},
               {{"m", "w"}, "`w` is not a single number"},
               {{"m", "m"}, "`m` is swept twice"},
               {{"x[1]", "y"}, "unknown name `y`"},
               {{"x", "m"}, "x"}};
  double values[4] = {1, 2, 3, 4};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    AG_CHECK(!anagyre_run_many(m, 2, 2, wrong[i].names, values, NULL) && strstr(anagyre_error(m), wrong[i].said));
  AG_CHECK(!anagyre_run_many(m, 0, 2, wrong[0].names, values, NULL) && strstr(anagyre_error(m), "no members"));
  anagyre_set(m, "m", "2");
  AG_CHECK(!anagyre_run_many(m, 2, 1, wrong[2].names, values, NULL) && strstr(anagyre_error(m), "swept and given"));
  anagyre_set(m, "m", NULL);
  anagyre_options o = anagyre_defaults();
  o.every = 0.1;
  AG_CHECK(!anagyre_run_many(m, 2, 1, wrong[2].names, values, &o) && strstr(anagyre_error(m), "every applies to a"));
  o.every = 0, o.noise = "path", o.dt = 0.1;
  AG_CHECK(!anagyre_run_many(m, 2, 1, wrong[2].names, values, &o) &&
           strstr(anagyre_error(m), "noise \"path\" applies"));
  o.noise = NULL, o.row = take;
  AG_CHECK(!anagyre_run_many(m, 2, 1, wrong[2].names, values, &o) && strstr(anagyre_error(m), "row applies to a"));

  static const char *const start[] = {"x[1]"}; /* the second one has no force there: it runs into the wall */
  double x[3] = {1, 0.25, 4};
  anagyre_batch *b = anagyre_run_many(m, 3, 1, start, x, NULL);
  AG_CHECK(b && anagyre_batch_n_failed(b) >= 1);
  anagyre_batch_free(b);
  anagyre_close(m);
}

/* A model of its own, from opening to closing; the result is the end of x. */
static void *one_thread(void *self) {
  double *x = self;
  anagyre_model *m = skate();
  anagyre_set(m, "omega", "0.7");
  anagyre_motion *r = anagyre_run(m, NULL);
  if (r) memcpy(x, anagyre_motion_final(r, "x").data, 2 * sizeof *x);
  anagyre_motion_free(r);
  anagyre_close(m);
  return NULL;
}

static void test_threads(void) {
  enum { N = 4 };
  pthread_t threads[N];
  double x[N + 1][2] = {{0}};
  for (int i = 0; i < N; i++) AG_CHECK(!pthread_create(&threads[i], NULL, one_thread, x[i]));
  for (int i = 0; i < N; i++) AG_CHECK(!pthread_join(threads[i], NULL));
  one_thread(x[N]);
  for (int i = 0; i < N; i++) AG_CHECK(x[i][0] != 0 && !memcmp(x[i], x[N], sizeof x[N]));
}

static void test_shipped(void) {
  anagyre_model *m = anagyre_open("rattleback");
  anagyre_options o = anagyre_defaults();
  o.t1 = 1;
  anagyre_motion *r = moved(m, &o);
  char version[40];
  snprintf(version, sizeof version, "%d.%d.%d", ANAGYRE_VERSION_MAJOR, ANAGYRE_VERSION_MINOR, ANAGYRE_VERSION_PATCH);
  AG_CHECK(anagyre_motion_final(r, "spin").data != NULL);
  AG_CHECK_STR(anagyre_version(), version);
  anagyre_motion_free(r);
  anagyre_close(m);
}

int main(void) {
  test_run();
  test_set();
  test_errors();
  test_ends();
  test_method();
  test_notes();
  test_rows();
  test_old_options();
  test_many();
  test_many_errors();
  test_threads();
  test_shipped();
  return ag_check_report();
}
