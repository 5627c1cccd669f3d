/* SPDX-License-Identifier: MIT
 * The script: whatever the file says, only quoted texts and numbers of it stand there. */
#include "tests/view_lab.h"
#include "view/gnuplot_internal.h"

/* The script without its quoted texts ('' inside quotes is a quote). False when a quote stays open at the end of a
 * line. */
static bool without_texts(const char *s, ag_text *out) {
  bool inside = false;
  for (; *s; s++) {
    if (*s == '\'' && inside && s[1] == '\'') s++;
    else if (*s == '\'') inside = !inside;
    else if (!inside) ag_text_char(out, *s);
    if (*s == '\n' && inside) return false;
  }
  return !inside;
}

static void try_script(const char *text, const ag_figure_request *o, ag_figure_format format) {
  ag_source *s = lab_source(text);
  ag_figure f;
  ag_text trouble = {0}, script = {0}, bare = {0}, data = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, o, &trouble) == AG_OK);
  const ag_paper paper = {.format = format, .width = 8.6};
  ag_gnuplot_script(&f, &paper, "it's.png", "it's.dat", &script);
  ag_gnuplot_data(&f, &data);
  AG_CHECK(without_texts(script.s, &bare));
  AG_CHECK(!strstr(bare.s, "evil") && !strchr(bare.s, '`') && !strchr(bare.s, '"') && !strchr(script.s, '\x1b'));
  AG_CHECK(strspn(data.s, "0123456789.+-einfa \n") == data.n);
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_text_done(&bare);
  ag_text_done(&data);
  ag_figure_done(&f);
  ag_source_free(s);
}

static ag_text script_of(const ag_figure *f) {
  ag_text script = {0};
  ag_gnuplot_script(f, &(ag_paper){.format = AG_FIGURE_PNG, .width = 8.6}, "a.png", "a.dat", &script);
  return script;
}

static double right_margin(const char *table) {
  ag_source *s = lab_source(table);
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){0}, &trouble) == AG_OK);
  ag_text script = script_of(&f);
  const char *at = strstr(script.s, "set rmargin at screen ");
  double margin = at ? 1 - strtod(at + strlen("set rmargin at screen "), NULL) : NAN;
  ag_text_done(&script);
  ag_figure_done(&f);
  ag_source_free(s);
  ag_text_done(&trouble);
  return margin;
}

/* Half of a wide last number stands beyond the end of its axis: 10 letters of 5 points on 244 points. */
static void test_last_number(void) {
  AG_CHECK(right_margin("t,a\n1000000,1\n1000000.2,2\n1000000.4,3\n") > 0.1);
  AG_CHECK(right_margin("t,a\n1000000,1\n1000000.2,2\n1000000.29,3\n") < 0.1);
  AG_CHECK(right_margin("t,a\n0,1\n1,2\n2,3\n") < 0.1);
}

/* Numbers beside an axis differ from each other, and the rounding of what is conserved does not fill a panel. */
static void test_numbers(void) {
  static const struct {
    const char *table, *has;
  } rows[] = {{"t,a\n0,0.8\n1,0.8000000000002\n2,0.7999999999999\n", "set yrange [0.759"},
              {"t,a\n0,1000000\n1,1000000.5\n2,1000000.2\n", "set format y '%.9h'"},
              {"t,a\n0,1\n1,2\n2,3\n", "set format y '%.6h'"},
              {"t,a\n0,1\n1,2\n2,3\n", "set format x '%.6h'"},
              {"t,a\n1000000,1\n1000000.1,2\n1000000.2,3\n", "set xtics 0.1"},
              {"t,a\n1000000,1\n1000000.1,2\n1000000.2,3\n", "set format x '%.9h'"},
              {"t,abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz,b\n0,0,1\n1,0,2\n2,0,1\n",
               "set label 'abcdefghijklm"},
              {"t,a\n0,0\n1,0\n2,0\n", "set yrange [-1:1]\nset ytics 2\n"},
              {"# rtol = 1e-10, atol = 1e-12\nt,a\n0,0\n1,2e-15\n2,-1e-15\n", "set yrange [-1:1]\nset ytics 2\n"},
              {"t,a\n0,0\n1,2e-15\n2,-1e-15\n", "set ytics 5.0000000000000004e-16\n"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_source *s = lab_source(rows[i].table);
    ag_figure f;
    ag_text trouble = {0};
    AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){0}, &trouble) == AG_OK);
    ag_text script = script_of(&f);
    AG_CHECK(strstr(script.s, rows[i].has) != NULL);
    ag_text_done(&trouble);
    ag_text_done(&script);
    ag_figure_done(&f);
    ag_source_free(s);
  }
}

/* A low panel has two numbers at its axis, not 0 alone; names of axes stand in one line, however wide the numbers are.
 */
static void test_stack(void) {
  ag_source *s = lab_source("t,a,b\n0,0.8,100000\n1,-0.8,200000\n2,0,300000\n");
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){.y = "a,b"}, &trouble) == AG_OK && f.n_panel == 2);
  ag_text script = script_of(&f);
  AG_CHECK(strstr(script.s, "set ytics 0.5\n") && !strstr(script.s, "ylabel"));
  const char *first = strstr(script.s, "' at screen "), *second = first ? strstr(first + 1, "' at screen ") : NULL;
  const char *end = first ? strchr(first, '\n') : NULL;
  AG_CHECK(end && second && strstr(first, "graph 0.5 center rotate") < end &&
           !strncmp(first, second, (size_t)(end - first + 1)));
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_figure_done(&f);
  ag_source_free(s);
}

/* Titles have primes and apostrophes. */
static void test_primes(void) {
  ag_source *s = lab_source("t,a\n0,1\n1,2\n");
  ag_figure f;
  ag_text trouble = {0};
  const ag_figure_request o = {.title = "Euler's z' = y x', r1'', the bodies' place"};
  AG_CHECK(ag_figure_make(&f, 1, &s, &o, &trouble) == AG_OK);
  f.title = o.title;
  ag_gnuplot_script(&f, &(ag_paper){.format = AG_FIGURE_PNG, .width = 16}, "a.png", "a.dat", &trouble);
  AG_CHECK(strstr(trouble.s, "'Euler’s z′ = y x′, r1′′, the bodies’ place'") != NULL);
  ag_text_done(&trouble);
  ag_figure_done(&f);
  ag_source_free(s);
}

/* Of stacked logarithmic panels none has a number at its lower end, where that of the panel below may stand. */
static void test_decades(void) {
  ag_source *s = lab_source("t,a,b\n0,0,0\n1,0.001,0.001\n2,1000,1000\n");
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){.drift = true, .y = "a,b"}, &trouble) == AG_OK);
  ag_text script = script_of(&f);
  AG_CHECK(f.n_panel == 2 && strstr(script.s, "set yrange [1e-14:1e3]\nset ytics 1e-7,1e7\n"));
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_figure_done(&f);
  ag_source_free(s);
}

/* Panels over different quantities, such as histograms, have axes of their own. */
static void test_own_axes(void) {
  ag_source *s = lab_source(lab_motion);
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){0}, &trouble) == AG_OK && f.n_panel == 2);
  for (int own = 0; own < 2; own++) {
    if (own) f.panels[0].x = "speed";
    ag_text script = script_of(&f);
    AG_CHECK((strstr(script.s, "set xlabel 'speed'") != NULL) == own && strstr(script.s, "set xlabel '{/:Italic t}'"));
    AG_CHECK((strstr(script.s, "set format x ''") == NULL) == own);
    ag_text_done(&script);
  }
  ag_text_done(&trouble);
  ag_figure_done(&f);
  ag_source_free(s);
}

/* Fine points have larger ones beside their names; a scale of colours has its name behind its numbers. */
static void test_dots(void) {
  ag_source *s = lab_source("t,x[1],x[2]\n0,1,2\n1,2,3\n2,5,4\n");
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){.y = "x"}, &trouble) == AG_OK && f.panels[0].n_named == 2);
  f.panels[0].style = AG_STYLE_DOTS;
  ag_text script = script_of(&f);
  const char *first = strstr(script.s, "NaN with points");
  AG_CHECK(first && strstr(first + 1, "NaN with points") && strstr(script.s, "linecolor rgb '#0072B2' notitle, "));
  ag_text_done(&script);
  ag_figure_done(&f);
  ag_source_free(s);
  s = lab_source("c,d,t,r\n0,5,1,-200000\n1,6,1,3\n");
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){.x = "c", .y = "d"}, &trouble) == AG_OK);
  const double narrow = ag_scale_width(&f);
  double heights[] = {-200000, 3};
  f.panels[0].z = "r", f.panels[0].unit[2] = "m", f.panels[0].curves[0].z = heights;
  const double wide = ag_scale_width(&f);
  script = script_of(&f);
  AG_CHECK(wide > narrow && strstr(script.s, "set colorbox user") && strstr(script.s, "'{/:Italic r} (m)' at screen"));
  f.panels[0].curves[0].z = NULL;
  ag_text_done(&script);
  ag_text_done(&trouble);
  ag_figure_done(&f);
  ag_source_free(s);
}

static bool named(const ag_text *script, const char *name) {
  ag_text label = {0};
  ag_text_printf(&label, "set label '%s' at graph", name);
  bool found = strstr(script->s, label.s) != NULL;
  ag_text_done(&label);
  return found;
}

/* Events that are few have names with their times, whatever other events there are; the others are counted. */
static void test_events(void) {
  ag_source *s = lab_source("t,a\n0,1\n20,2\n");
  double rest[] = {3.1416, 9.4248, 15.708}, turned[] = {6.2832}, often[] = {17, 17.5, 18, 18.5, 19};
  ag_marks marks[] = {{"rest", 3, rest}, {"turned", 1, turned}, {"often", 5, often}};
  s->marks = marks, s->n_marks = 3, s->kind = AG_SOURCE_RUN;
  ag_figure f;
  ag_text trouble = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){0}, &trouble) == AG_OK && f.n_marks == 3);
  ag_text script = script_of(&f);
  AG_CHECK(named(&script, "rest {/:Italic t} = 3.1416") && named(&script, "rest {/:Italic t} = 9.4248") &&
           named(&script, "rest {/:Italic t} = 15.708"));
  AG_CHECK(named(&script, "turned {/:Italic t} = 6.2832") && named(&script, "often, 5 times"));
  ag_text_done(&trouble);
  ag_text_done(&script);
  ag_figure_done(&f);
  s->n_marks = 0;
  ag_source_free(s);
}

/* Orders of methods: names below the panels, those of the second panel too; a curve without a number keeps its place
 * among the numbers, since gnuplot counts. */
static void test_orders(void) {
  ag_source *s = lab_source("method,strong_order,weak_order,dt,steps,seconds,strong,strong_stderr,weak,weak_stderr\n"
                            "a,1,1,0.5,2,1,4e-2,1e-3,nan,nan\na,1,1,0.25,4,1,2e-2,1e-3,nan,nan\n"
                            "b,1,2,0.5,2,1,8e-2,1e-3,3e-2,1e-3\nb,1,2,0.25,4,1,4e-2,1e-3,1e-2,1e-3\n");
  ag_figure f;
  ag_text trouble = {0}, data = {0};
  AG_CHECK(ag_figure_make(&f, 1, &s, &(ag_figure_request){0}, &trouble) == AG_OK && f.n_panel == 2);
  ag_text script = script_of(&f);
  AG_CHECK(strstr(script.s, "NaN with linespoints") && strstr(script.s, "title 'order 2'"));
  AG_CHECK(strstr(script.s, "set key horizontal") && !strstr(script.s, "opaque"));
  ag_gnuplot_data(&f, &data);
  int blocks = 0;
  for (const char *at = data.s; (at = strstr(at, "\n\n\n")); at += 3) blocks++;
  AG_CHECK(blocks == f.panels[0].n_curve + f.panels[1].n_curve);
  ag_text_done(&trouble), ag_text_done(&script), ag_text_done(&data);
  ag_figure_done(&f);
  ag_source_free(s);
}

int main(void) {
  test_numbers();
  test_last_number();
  test_stack();
  test_primes();
  test_orders();
  test_events();
  test_decades();
  test_own_axes();
  test_dots();
  static const char hostile[] =
      "t,evil'; system('evil'); x',\"`evil`\",\"evil\x1b[31m\"\n0,1,2,3\n1,2,3,nan\n2,5,4,1\n";
  const ag_figure_request title = {.title = "'; evil `evil` \" \n system 'evil'", .about = true};
  for (ag_figure_format k = AG_FIGURE_PNG; k <= AG_FIGURE_PDF; k++) {
    try_script(lab_motion, &(ag_figure_request){0}, k);
    try_script(hostile, &title, k);
    try_script(lab_motion, &(ag_figure_request){.x = "x[1]", .y = "x[2]", .z = "spin"}, k);
    try_script(hostile, &(ag_figure_request){.units = "t=evil' `evil` \x1b"}, k);
    try_script(lab_motion, &(ag_figure_request){.drift = true, .tolerance = 1e-3}, k);
    try_script("method,dt,rhs,error\nevil'`evil`,1,9,1e-3\nrk4,1,9,1e-3\n", &(ag_figure_request){0}, k);
    try_script("c,d,t,r\n0,5,1,2\n1,6,1,3\n", &(ag_figure_request){0}, k);
  }
  unlink(lab_file("t\n"));
  return ag_check_report();
}
