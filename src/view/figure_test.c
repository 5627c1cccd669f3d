/* SPDX-License-Identifier: MIT
 * What figures show: chosen panels, places, changes, sections, sweeps; what cannot be drawn. */
#include "tests/view_lab.h"

/* The figure of a table, or the message why there is none. */
static ag_status make(ag_figure *f, const char *text, ag_figure_request o, ag_text *trouble) {
  ag_source *s = lab_source(text);
  ag_status status = ag_figure_make(f, 1, &s, &o, trouble);
  ag_source_free(s);
  return status;
}

static void test_default(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){0}, &trouble) == AG_OK);
  AG_CHECK(f.n_panel == 2 && f.rows == 3);
  AG_CHECK_STR(f.panels[0].y, "spin");
  AG_CHECK_STR(f.panels[0].x, "t");
  AG_CHECK_STR(f.panels[1].y, "a, b");
  AG_CHECK(f.panels[0].style == AG_STYLE_LINE && f.panels[0].curves[0].y[2] == 6);
  ag_figure_done(&f);
  /* where all scalars stay the same, also what moves */
  AG_CHECK(make(&f, "t,e,x[1],x[2]\n0,1,3,4\n1,1,4,3\n", (ag_figure_request){0}, &trouble) == AG_OK);
  AG_CHECK(f.n_panel == 2);
  AG_CHECK_STR(f.panels[1].y, "x");
  ag_figure_done(&f);
  AG_CHECK(make(&f, "t,e,x[1],x[2]\n0,1,3,4\n1,2,4,3\n", (ag_figure_request){0}, &trouble) == AG_OK);
  AG_CHECK(f.n_panel == 1);
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

static void test_places(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){.x = "x[1]", .y = "x[2]"}, &trouble) == AG_OK);
  AG_CHECK(f.n_panel == 1 && f.panels[0].equal && f.panels[0].curves[0].x[1] == 1.5);
  ag_figure_done(&f);
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){.y = "x"}, &trouble) == AG_OK);
  AG_CHECK(!f.panels[0].equal && f.panels[0].n_curve == 2);
  AG_CHECK_STR(f.panels[0].curves[1].name, "x[2]");
  ag_figure_done(&f);
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){.x = "x[1]", .y = "x[2]", .z = "spin"}, &trouble) == AG_OK);
  AG_CHECK(f.panels[0].space && f.panels[0].curves[0].z[2] == 6);
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* Coordinates that are called x and y are a place, too, unless one of them hardly changes compared to the other. */
static void test_named_places(void) {
  static const struct {
    const char *table, *x, *y;
    bool equal;
  } rows[] = {{"t,x,y\n0,0,1\n1,1,0\n2,2,3\n", "x", "y", true},
              {"t,x1,y1\n0,0,1\n1,1,0\n2,2,3\n", "x1", "y1", true},
              {"t,car_X,car_Z\n0,0,1\n1,1,0\n2,2,3\n", "car_Z", "car_X", true},
              {"t,x,y\n0,0,1\n1,1,0\n2,200,3\n", "x", "y", false},
              {"t,x,v\n0,0,1\n1,1,0\n2,2,3\n", "x", "v", false},
              {"t,x1,y2\n0,0,1\n1,1,0\n2,2,3\n", "x1", "y2", false}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_figure f;
    ag_text trouble = {0};
    AG_CHECK(make(&f, rows[i].table, (ag_figure_request){.x = rows[i].x, .y = rows[i].y}, &trouble) == AG_OK);
    AG_CHECK(f.panels[0].equal == rows[i].equal);
    ag_figure_done(&f);
    ag_text_done(&trouble);
  }
}

static void test_drift(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){.drift = true}, &trouble) == AG_OK);
  AG_CHECK_STR(f.panels[0].change_of, "energy");
  const double *y = f.panels[0].curves[0].y;
  AG_CHECK(f.panels[0].log_y && y[2] == 0.5 && y[0] > 0 && y[0] < 1e-14);
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* Without a choice what the rows keep: the energy and b, not a; beside it the tolerance, relative to the size. */
static void test_kept(void) {
  static const char table[] = "t,a,b,c,energy\n0,1,4,nan,2\n1,1.1,4.000000001,nan,2\n2,1.3,4,nan,2.0000001\n";
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, table, (ag_figure_request){.drift = true, .tolerance = 0.25}, &trouble) == AG_OK);
  AG_CHECK(f.n_panel == 2);
  AG_CHECK_STR(f.panels[0].y, "energy");
  AG_CHECK_STR(f.panels[1].y, "b");
  AG_CHECK(f.panels[1].allowed == 0.25 * 4.000000001 && f.panels[0].allowed == 0.25 * 2.0000001);
  ag_figure_done(&f);
  AG_CHECK(make(&f, table, (ag_figure_request){.drift = true}, &trouble) == AG_OK);
  AG_CHECK(f.panels[0].allowed == 0); /* this table has no tolerance */
  ag_figure_done(&f);
  /* A comment before the names gives it; words that only end like one, and numbers that are none, do not. */
  static const struct {
    const char *comment;
    double rtol, atol;
  } notes[] = {{"# rtol = 1e-3, atol = 1e-4\n", 1e-3, 1e-4},
               {"# made today\n#rtol=0.5\n", 0.5, 0},
               {"# my_rtol = 1e-3, rtol: 1, rtol = nan, rtol =\n", 0, 0},
               {"# rtol = -1, atol = inf\n", 0, 0}};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    char text[300];
    (void)snprintf(text, sizeof text, "%s%s", notes[i].comment, table);
    AG_CHECK(make(&f, text, (ag_figure_request){.drift = true}, &trouble) == AG_OK);
    AG_CHECK(f.panels[1].allowed == notes[i].atol + notes[i].rtol * 4.000000001);
    ag_figure_done(&f);
  }
  ag_text_done(&trouble);
}

static void test_units(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, lab_motion, (ag_figure_request){.y = "x,x',spin", .units = "t=s,x=m,x[2] = km"}, &trouble) ==
           AG_OK);
  AG_CHECK_STR(f.panels[0].unit[0], "s");
  AG_CHECK_STR(f.panels[0].unit[1], "m");
  AG_CHECK_STR(f.panels[1].unit[1], "m/s"); /* of a rate that has none of its own */
  AG_CHECK_STR(f.panels[2].unit[1], "");
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

static void test_batches(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, "c,end,t,steps,r\n0,ok,1,9,2\n1,ok,1,9,3\n", (ag_figure_request){0}, &trouble) == AG_OK);
  AG_CHECK_STR(f.panels[0].x, "c");
  AG_CHECK(f.panels[0].style == AG_STYLE_LINE_POINTS && f.panels[0].curves[0].x[1] == 1 &&
           f.panels[0].curves[0].y[1] == 3);
  ag_figure_done(&f);
  AG_CHECK(make(&f, "c,d,t,r\n0,5,1,2\n1,6,1,3\n", (ag_figure_request){0}, &trouble) == AG_OK);
  AG_CHECK(f.panels[0].style == AG_STYLE_IMAGE && f.panels[0].curves[0].y[1] == 6 && f.panels[0].curves[0].z[1] == 3);
  AG_CHECK_STR(f.panels[0].z, "r");
  ag_figure_done(&f);
  AG_CHECK(make(&f, "member,start x,crossing,t,x,y,x'\n1,5,1,3,1,1e-16,2\n2,6,1,3,2,-1e-16,3\n", (ag_figure_request){0},
                &trouble) == AG_OK);
  AG_CHECK_STR(f.panels[0].x, "x");
  AG_CHECK_STR(f.panels[0].y, "x'"); /* y is 0 on the section but for rounding */
  AG_CHECK(f.panels[0].style == AG_STYLE_DOTS && f.panels[0].curves[0].z[1] == 6);
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* A table of `anagyre converge`: a curve for each method on logarithmic axes, without what has no logarithm. */
static void test_work(void) {
  static const char table[] =
      "method,order,dt,steps,rhs,seconds,error\nrk4,4,1,2,9,1e-3,1e-3\nrk4,4,0.5,4,17,1e-3,6e-5\n"
      "dop853,8,1,2,25,1e-3,1e-9\ndop853,8,0.5,4,49,1e-3,0\n";
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, table, (ag_figure_request){0}, &trouble) == AG_OK);
  const ag_panel *p = &f.panels[0];
  AG_CHECK(f.n_panel == 1 && p->n_curve == 2 && p->log_x && p->log_y && !p->z && p->style == AG_STYLE_LINE_POINTS);
  AG_CHECK_STR(p->x, "right-hand sides");
  AG_CHECK_STR(p->curves[1].name, "dop853");
  AG_CHECK(p->curves[0].n == 2 && p->curves[0].y[1] == 6e-5 && p->curves[1].n == 1 && p->curves[1].x[0] == 25);
  ag_figure_done(&f);
  AG_CHECK(make(&f, table, (ag_figure_request){.x = "dt", .y = "error"}, &trouble) == AG_OK);
  AG_CHECK(!f.panels[0].log_x && f.panels[0].n_curve == 1);
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* With noise: strong and weak errors over the step size, a band and a curve for each method, a line for each order. */
static void test_orders(void) {
  static const char table[] = "method,strong_order,weak_order,dt,steps,seconds,strong,strong_stderr,weak,weak_stderr\n"
                              "a,1,2,0.5,2,1,4e-2,1e-3,1e-2,1e-3\na,1,2,0.25,4,1,2e-2,1e-3,2.5e-3,2e-3\n"
                              "b,1,1,0.5,2,1,8e-2,1e-3,1e-2,1e-3\nb,1,1,0.25,4,1,4e-2,1e-3,0,1e-3\n";
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, table, (ag_figure_request){0}, &trouble) == AG_OK && f.n_panel == 2);
  const ag_panel *strong = &f.panels[0], *weak = &f.panels[1];
  AG_CHECK_STR(strong->y, "strong error");
  AG_CHECK_STR(weak->y, "weak error");
  AG_CHECK_STR(weak->x, "step size");
  AG_CHECK(strong->log_x && strong->n_curve == 5 && strong->n_named == 3); /* one line: both have order 1 */
  AG_CHECK_STR(strong->curves[4].name, "order 1");
  AG_CHECK(strong->curves[4].y[1] == 2e-2 && fabs(strong->curves[4].y[0] - 4e-2) < 1e-15);
  AG_CHECK(strong->curves[0].band > 0 && fabs(strong->curves[0].z[0] - 4.2e-2) < 1e-15);
  AG_CHECK(weak->n_curve == 5 && weak->curves[3].n == 1);      /* zero has no logarithm, one point no line */
  AG_CHECK(fabs(weak->curves[0].y[1] - 0.2 * 2.5e-3) < 1e-15); /* two standard errors reach below zero */
  AG_CHECK_STR(weak->curves[4].name, "order 2");
  ag_figure_done(&f);
  static const char unclear[] = "method,strong_order,weak_order,dt,strong,strong_stderr,weak,weak_stderr\n"
                                "a,1,2,0.5,4e-2,1e-3,nan,nan\na,1,2,0.25,2e-2,1e-3,nan,nan\n";
  AG_CHECK(make(&f, unclear, (ag_figure_request){0}, &trouble) == AG_OK && f.n_panel == 1);
  AG_CHECK_STR(f.panels[0].y, "strong error");
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* Paths with noise: which ones, as far as they share their noise; x over y of several has one scale for both axes. */
static void test_paths(void) {
  static const char table[] = "t,x,y\n0,0,0\n1,1,2\n2,3,1\n";
  ag_source *s[2] = {lab_source(table), lab_source(table)};
  ag_figure f;
  ag_text trouble = {0};
  ag_source_path(s[0], "rk4", 0.5, 3, 7);
  AG_CHECK(ag_figure_make(&f, 1, s, &(ag_figure_request){.about = true}, &trouble) == AG_OK);
  AG_CHECK_STR(f.about, "path 7 by rk4, dt = 0.5, seed 3");
  ag_figure_done(&f);
  const ag_figure_request place = {.x = "x", .y = "y", .about = true};
  for (int seed = 2; seed < 4; seed++) {
    ag_source_path(s[1], "rk4", 0.5, (unsigned long long)seed, 12);
    AG_CHECK(ag_figure_make(&f, 2, s, &place, &trouble) == AG_OK && f.panels[0].equal);
    AG_CHECK_STR(f.about, seed == 3 ? "paths 7, 12 by rk4, dt = 0.5, seed 3" : "");
    ag_figure_done(&f);
  }
  ag_source_free(s[0]), ag_source_free(s[1]);
  ag_text_done(&trouble);
}

/* A sweep shows one time, which its axes do not say; or several. */
static void test_moment(void) {
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(make(&f, "c,end,t,x\n0.1,time reached,10,1\n0.2,time reached,10,2\n", (ag_figure_request){.about = true},
                &trouble) == AG_OK);
  AG_CHECK_STR(f.about, "at t = 10");
  ag_figure_done(&f);
  AG_CHECK(make(&f, "c,end,t,x\n0.1,event hit,10,1\n0.2,event hit,11,2\n", (ag_figure_request){.about = true},
                &trouble) == AG_OK);
  AG_CHECK_STR(f.about, "");
  ag_figure_done(&f);
  AG_CHECK(make(&f, "t,x\n0,1\n1,2\n", (ag_figure_request){.about = true}, &trouble) == AG_OK);
  AG_CHECK_STR(f.about, "");
  ag_figure_done(&f);
  ag_text_done(&trouble);
}

/* A point between gaps is seen as such, in a run and in a sweep; the gaps stay gaps. */
static void test_alone(void) {
  static const struct {
    const char *table;
    ag_style style;
    int gaps;
  } rows[] = {{"t,a\n0,1\n", AG_STYLE_LINE_POINTS, 0},
              {"t,a\n0,1\n1,nan\n2,3\n3,4\n", AG_STYLE_LINE_POINTS, 1},
              {"t,a\n0,1\n1,2\n2,nan\n3,4\n4,5\n", AG_STYLE_LINE, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_figure f;
    ag_text trouble = {0}, data = {0};
    AG_CHECK(make(&f, rows[i].table, (ag_figure_request){0}, &trouble) == AG_OK);
    AG_CHECK(f.panels[0].style == rows[i].style);
    ag_gnuplot_data(&f, &data);
    int lines = 0;
    for (const char *s = data.s; *s; s++) lines += s[0] == '\n' && s[1] == '\n' && s[2] && s[2] != '\n';
    AG_CHECK(lines == rows[i].gaps);
    ag_text_done(&trouble), ag_text_done(&data);
    ag_figure_done(&f);
  }
}

static void test_wrong(void) {
  static const struct {
    const char *text;
    ag_figure_request o;
    ag_status status;
    const char *why;
  } cases[] = {{lab_motion, {.y = "spim"}, AG_WRONG, "did you mean spin?"},
               {lab_motion, {.x = "x"}, AG_WRONG, "takes one number"},
               {lab_motion, {.units = "t=s,spim=1/s"}, AG_WRONG, "did you mean spin?"},
               {lab_motion, {.units = "spin"}, AG_WRONG, "units are given as"},
               {lab_motion, {.units = "spin="}, AG_WRONG, "units are given as"},
               {lab_motion, {.x = "t", .y = "spin,x", .z = "x[1]"}, AG_WRONG, "one number each"},
               {"t,x\n", {0}, AG_FAILED, "no row"},
               {"t,x\n1,nan\n2,inf\n", {0}, AG_FAILED, "no row"},
               {"t\n1\n", {0}, AG_WRONG, "nothing to draw"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_figure f;
    ag_text trouble = {0};
    AG_CHECK(make(&f, cases[i].text, cases[i].o, &trouble) == cases[i].status);
    AG_CHECK(strstr(ag_text_cstr(&trouble), cases[i].why));
    ag_figure_done(&f);
    ag_text_done(&trouble);
  }
}

int main(void) {
  test_default();
  test_places();
  test_named_places();
  test_drift();
  test_kept();
  test_units();
  test_batches();
  test_work();
  test_orders();
  test_paths();
  test_moment();
  test_alone();
  test_wrong();
  unlink(lab_file("t\n"));
  return ag_check_report();
}
