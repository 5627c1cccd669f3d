/* SPDX-License-Identifier: MIT
 * `anagyre plot`: a figure of a result file, a table or a model. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/sources.h"

typedef struct args {
  ag_common common;
  ag_motion_args motion;
  const char *x, *y, *z, *output, *title, *units, *density;
  bool drift, histogram, term, script, bare;
  int size;
  double tolerance, width, height, font;
} args;

static void defaults(void *self) { ag_sources_defaults(&((args *)self)->motion); }

static const char *size_choice(int i) {
  static const char *const names[] = {"auto", "column", "page"};
  return i < 3 ? names[i] : NULL;
}

static const ag_option options[] = {
    AG_OPTION(args, "x", TEXT, x, .arg = "COLUMN", .preset = "time, or what was swept", .doc = "the horizontal axis"),
    AG_OPTION(args, "y", TEXT, y, .arg = "COLUMNS", .preset = "the scalar observables",
              .doc = "one panel for each of \"spin,Omega[1:2],x'\""),
    AG_OPTION(args, "z", TEXT, z, .arg = "COLUMN", .preset = "", .doc = "with --x and --y: a curve in space"),
    AG_OPTION(args, "drift", FLAG, drift, .doc = "change of --y (energy) from its start, on a logarithmic axis"),
    AG_OPTION(args, "tolerance", NUMBER, tolerance, .arg = "RTOL", .lo = 1e-300, .hi = 1, .preset = "that of the run",
              .doc = "with --drift: the tolerance to draw, relative to the size of --y"),
    AG_OPTION(args, "histogram", FLAG, histogram, .doc = "for an ensemble: the densities of --y at its last row"),
    AG_OPTION(
        args, "density", TEXT, density, .arg = "COLUMN=EXPR", .preset = "",
        .doc = "with --histogram: a density, of x and parameters, to compare with; separate several by semicolons"),
    AG_OPTION(args, "output", TEXT, output, .letter = 'o', .arg = "FILE", .preset = "FILE.png",
              .doc = "the figure: .png, .svg or .pdf"),
    AG_OPTION(args, "size", CHOICE, size, .arg = "SIZE", .choice = size_choice,
              .doc = "column: 8.6 cm (of a journal; .pdf), page: 16 cm (.png, .svg)"),
    AG_OPTION(args, "width", NUMBER, width, .arg = "CM", .lo = 3, .hi = 100, .preset = "", .doc = "another width"),
    AG_OPTION(args, "height", NUMBER, height, .arg = "CM", .lo = 2, .hi = 100, .preset = "by the panels",
              .doc = "another height"),
    AG_OPTION(args, "font", NUMBER, font, .arg = "POINTS", .lo = 4, .hi = 40, .preset = "8 or 9",
              .doc = "size of the text"),
    AG_OPTION(args, "title", TEXT, title, .arg = "TEXT", .preset = "that of the model",
              .doc = "the line above the figure"),
    AG_OPTION(args, "units", TEXT, units, .arg = "UNITS", .preset = "",
              .doc = "of columns, written on the axes: 't=s,x=m,spin=1/s'"),
    AG_OPTION(args, "bare", FLAG, bare, .doc = "no title and no line about parameters"),
    AG_OPTION(args, "script", FLAG, script, .doc = "keep gnuplot's script and numbers: FILE.gp and FILE.dat"),
    AG_OPTION(args, "term", FLAG, term, .doc = "draw in the terminal instead"),
    AG_MOTION_ROWS(args),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* The state of the command. */
typedef struct job {
  const args *a;
  ag_sources from;
  anagyre_options run; /* of models */
  ag_text columns;     /* words that are no sources */
  ag_figure figure;
  ag_paper paper;
  ag_text path; /* of the figure */
  const atomic_int *stop;
} job;

/* ---- sources ---- */

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n > k && !strcmp(s + n - k, end);
}

/* The first word is a source, and so are others that are files of results; what is left are columns. */
static ag_status add_sources(job *p) {
  const ag_common *c = &p->a->common;
  p->from = (ag_sources){.verb = "plot", .common = c, .run = &p->run};
  AG_TRY(ag_sources_options("plot", &p->a->motion, 4000, &p->run)); /* steps are longer than details */
  AG_TRY(ag_sources_add(&p->from, c->words[0]));
  for (int i = 1; i < c->n_word; i++) {
    if (ag_sources_is_file(c->words[i])) {
      AG_TRY(ag_sources_add(&p->from, c->words[i]));
      continue;
    }
    ag_text_printf(&p->columns, "%s%s", p->columns.n ? "," : "", c->words[i]);
  }
  if (p->columns.n && p->a->y) return ag_usage("plot", "columns are given twice: as words and with --y");
  bool changed = c->changes.n_set || p->a->common.sweeps.n;
  if (changed && !p->from.models[0]) return ag_usage("plot", "--set changes a model, not a file of results");
  return AG_OK;
}

/* ---- files ---- */

/* FILE.png beside where the command was typed, unless it was named. */
static void choose_path(job *p) {
  if (p->a->output) {
    ag_text_str(&p->path, p->a->output);
    return;
  }
  ag_sources_name(&p->a->common, ".png", &p->path);
}

static bool choose_paper(job *p) {
  static const char *const ends[] = {".png", ".svg", ".pdf"};
  int format = 0;
  while (format < 3 && !ends_with(p->path.s, ends[format])) format++;
  if (format == 3) return false;
  bool column = p->a->size == 1 || (p->a->size == 0 && format == AG_FIGURE_PDF);
  p->paper = (ag_paper){(ag_figure_format)format,
                        p->a->width > 0 ? p->a->width
                        : column        ? 8.6
                                        : 16,
                        p->a->height, p->a->font};
  return true;
}

/* Does a figure have its end? gnuplot does not notice when the disk is full. */
static bool is_whole(ag_figure_format format, const ag_text *all) {
  static const struct {
    const char *text;
    size_t n;
  } ends[] = {
      [AG_FIGURE_PNG] = {"IEND\xae\x42\x60\x82", 8}, [AG_FIGURE_SVG] = {"</svg>", 6}, [AG_FIGURE_PDF] = {"%%EOF", 5}};
  size_t n = ends[format].n, behind = 0; /* line ends may follow */
  while (behind < all->n && (all->s[all->n - 1 - behind] == '\n' || all->s[all->n - 1 - behind] == '\r')) behind++;
  return all->n >= n + behind && !memcmp(all->s + all->n - behind - n, ends[format].text, n);
}

/* The figure that gnuplot made in its folder, to its place. */
static ag_status move_out(job *p, const char *folder) {
  ag_text from = {0}, all = {0}, trouble = {0};
  ag_text_printf(&from, "%s/figure", folder);
  bool good = ag_file_text(from.s, SIZE_MAX / 2, &all);
  ag_status status;
  if (!good) status = ag_output_error(p->path.s, errno);
  else if (is_whole(p->paper.format, &all)) status = ag_output_save(p->path.s, &all);
  else {
    ag_text_printf(&trouble, "gnuplot could not write the whole figure to %s: is the disk full?", folder);
    status = ag_sources_fail(&p->from, AG_SYSTEM, &trouble);
  }
  ag_text_done(&from);
  ag_text_done(&all);
  ag_text_done(&trouble);
  return status;
}

static ag_status save_in(const char *folder, const char *name, const ag_text *text) {
  ag_text path = {0};
  ag_text_printf(&path, "%s/%s", folder, name);
  ag_status status = ag_output_save(path.s, text);
  ag_text_done(&path);
  return status;
}

/* Also called when memory has run out: allocates nothing. */
static void clean(void *folder) {
  static const char *const names[] = {"figure.gp", "figure.dat", "figure"};
  char path[PATH_MAX];
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", (const char *)folder, names[i]);
    (void)ag_file_remove(path);
  }
  (void)rmdir(folder);
}

/* Script and numbers go to a temporary folder, where gnuplot runs; the figure is then moved to its place. */
static ag_status draw_in(job *p, const char *folder) {
  ag_text script = {0}, data = {0}, trouble = {0};
  ag_gnuplot_script(&p->figure, &p->paper, "figure", "figure.dat", &script);
  ag_gnuplot_data(&p->figure, &data);
  ag_status status = save_in(folder, "figure.gp", &script);
  if (status == AG_OK) status = save_in(folder, "figure.dat", &data);
  if (status == AG_OK && !ag_gnuplot_run(folder, "figure.gp", p->stop, &trouble)) {
    if (*p->stop) ag_text_clear(&trouble), ag_text_printf(&trouble, "stopped by %s", ag_stop_word());
    status = ag_sources_fail(&p->from, *p->stop ? AG_FAILED : AG_SYSTEM, &trouble);
  }
  if (status == AG_OK) status = move_out(p, folder);
  ag_text_done(&script);
  ag_text_done(&data);
  ag_text_done(&trouble);
  return status;
}

/* FILE.gp and FILE.dat, which draw FILE once more: `gnuplot FILE.gp` in their folder. */
static ag_status keep_script(job *p) {
  ag_text script = {0}, data = {0}, gp = {0}, dat = {0};
  const char *slash = strrchr(p->path.s, '/'), *name = slash ? slash + 1 : p->path.s;
  ag_text_printf(&gp, "%.*s.gp", (int)p->path.n - 4, p->path.s);
  ag_text_printf(&dat, "%.*s.dat", (int)p->path.n - 4, p->path.s);
  ag_gnuplot_script(&p->figure, &p->paper, name, dat.s + (name - p->path.s), &script);
  ag_gnuplot_data(&p->figure, &data);
  ag_status status = ag_output_save(gp.s, &script);
  if (status == AG_OK) status = ag_output_save(dat.s, &data);
  ag_text_done(&script);
  ag_text_done(&data);
  ag_text_done(&gp);
  ag_text_done(&dat);
  return status;
}

static ag_status draw(job *p) {
  const char *base = getenv("TMPDIR");
  ag_text folder = {0};
  ag_text_printf(&folder, "%s/anagyre-XXXXXX", base && *base ? base : "/tmp");
  p->stop = ag_stop_catch(); /* a signal leaves neither the folder nor gnuplot behind */
  if (!mkdtemp(folder.s)) {
    ag_status status = ag_output_error(folder.s, errno);
    ag_stop_release();
    ag_text_done(&folder);
    return status;
  }
  ag_heap_hold(clean, folder.s);
  ag_status status = draw_in(p, folder.s);
  ag_heap_let_go(clean, folder.s);
  clean(folder.s);
  ag_stop_release();
  ag_text_done(&folder);
  return status == AG_OK && p->a->script ? keep_script(p) : status;
}

/* ---- the command ---- */

static void draw_in_terminal(const job *p) {
  struct winsize size = {0};
  bool tty = isatty(STDOUT_FILENO);
  int columns = tty && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 40 ? size.ws_col : 80;
  ag_text out = {0};
  ag_terminal_draw(&p->figure, columns, tty && !getenv("NO_COLOR"), &out);
  fputs(ag_text_cstr(&out), stdout);
  ag_text_done(&out);
}

static void report(const job *p) {
  const ag_figure *f = &p->figure;
  if (!p->a->common.json) {
    printf("%s\n", p->path.s);
    return;
  }
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "figure", p->path.s);
  ag_json_begin(&j, "panels", '[');
  for (int i = 0; i < f->n_panel; i++) {
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "x", f->panels[i].x);
    ag_json_string(&j, "y", f->panels[i].y);
    if (f->panels[i].z) ag_json_string(&j, "z", f->panels[i].z);
    ag_json_end(&j, '}');
  }
  ag_json_end(&j, ']');
  ag_json_whole(&j, "rows", f->rows);
  ag_json_whole(&j, "points", f->points);
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static ag_status make(job *p) {
  const args *a = p->a;
  ag_text trouble = {0};
  choose_path(p);
  if (!a->term && !choose_paper(p)) return ag_usage("plot", "-o %s: a figure ends with .png, .svg or .pdf", p->path.s);
  if (a->tolerance > 0 && !a->drift) return ag_usage("plot", "--tolerance is drawn with --drift");
  if (a->density && !a->histogram) return ag_usage("plot", "--density is drawn with --histogram");
  if (a->term && (a->output || a->script))
    return ag_usage("plot", "--term draws in the terminal: without -o and --script");
  if (a->term && a->common.json) return ag_usage("plot", "--term draws in the terminal: without --json");
  AG_TRY(ag_output_check(a->term ? NULL : p->path.s));
  AG_TRY(add_sources(p));
  const ag_figure_request request = {.x = a->x,
                                     .y = a->y           ? a->y
                                          : p->columns.n ? p->columns.s
                                                         : NULL,
                                     .z = a->z,
                                     .title = a->bare ? "" : a->title,
                                     .units = a->units,
                                     .drift = a->drift,
                                     .tolerance = a->tolerance,
                                     .histogram = a->histogram,
                                     .density = a->density,
                                     .about = !a->bare};
  ag_status status = ag_figure_make(&p->figure, p->from.n, p->from.sources, &request, &trouble);
  ag_sources_cut(&p->from);
  if (status != AG_OK) status = ag_sources_fail(&p->from, status, &trouble);
  ag_text_done(&trouble);
  if (status == AG_OK && a->term) draw_in_terminal(p);
  if (status == AG_OK && !a->term) status = draw(p);
  if (status == AG_OK && !a->term) report(p);
  return status;
}

static ag_status act(void *self) {
  job p = {.a = self};
  ag_status status = make(&p);
  if (p.figure.arena) ag_figure_done(&p.figure);
  ag_sources_done(&p.from);
  ag_text_done(&p.columns);
  ag_text_done(&p.path);
  return status;
}

const ag_command ag_command_plot = {
    .name = "plot",
    .words = "FILE|MODEL [COLUMN ...]",
    .doc = "a figure of a result file (.h5), a table (.csv) or a model",
    .text = "Without options: for a run its scalar observables over time, with\n"
            "events as dashed lines; of a sweep what came out over what was swept (of two, as colours);\n"
            "of a section its points. A model is run first. Several files are drawn over each other.\n"
            "Columns are named as in the file, entries as in Omega[2], ranges as in Omega[1:2].\n"
            "gnuplot draws; --term needs no gnuplot.\n",
    .examples = "  anagyre plot rattleback --t1 200\n"
                "  anagyre plot stone.h5 --x 'contact[1]' --y 'contact[2]' -o trace.pdf\n"
                "  anagyre plot stone.h5 spin 'Omega[1:2]'\n"
                "  anagyre plot stone.h5 --drift -o drift.pdf\n"
                "  anagyre plot stone.h5 --term\n",
    .defaults = defaults,
    AG_COMMAND(1, -1),
};
