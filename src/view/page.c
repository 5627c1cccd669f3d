/* SPDX-License-Identifier: MIT
 * The page: what it shows as JSON inside the bundled HTML file. web/src/data.ts reads it back; both describe the
 * format. Series are knots (knots.c), constants stand where a series would. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/page_internal.h"

/* Series are kept to this part of their range, and to this part of the largest number beside them. */
static const double WITHIN = 1e-4, NEGLIGIBLE = 1e-6;
enum { BUDGET = 2200000, MAIN_PANELS = 5 }; /* bytes of plots; panels that are open at first */

bool ag_page_available(void) {
  size_t n;
  (void)ag_page_template(&n);
  return n > 0;
}

/* ---- base64 ---- */

static void put_base64(ag_text *out, size_t n, const unsigned char *bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char block[4];
  ag_text_char(out, '"');
  for (size_t i = 0; i < n; i += 3) {
    size_t k = n - i < 3 ? n - i : 3;
    unsigned v = (unsigned)bytes[i] << 16 | (k > 1 ? (unsigned)bytes[i + 1] << 8 : 0) | (k > 2 ? bytes[i + 2] : 0u);
    for (int j = 0; j < 4; j++) block[j] = digits[v >> (18 - 6 * j) & 63];
    if (k < 3) block[3] = '=';
    if (k < 2) block[2] = '=';
    ag_text_strn(out, block, 4);
  }
  ag_text_char(out, '"');
}

static unsigned char *put_16(unsigned char *to, unsigned v) {
  to[0] = (unsigned char)v, to[1] = (unsigned char)(v >> 8);
  return to + 2;
}

static void put_floats(ag_text *out, long n, const double *values) {
  float *f = ag_heap_alloc(sizeof *f * (size_t)(n + 1));
  for (long i = 0; i < n; i++) f[i] = (float)values[i];
  put_base64(out, sizeof *f * (size_t)n, (const unsigned char *)f); /* little-endian, as all machines we build for */
  free(f);
}

/* ---- series ---- */

/* Contact points, positions and forces occur several times: as places, tails of arrows, columns. Each series is written
 * once; it is the same if both sums over its bits are, and its range and tolerance. */
typedef struct known {
  uint64_t sum, other;
  double lo, hi, within;
} known;

typedef struct writer {
  ag_text channels; /* finished series, comma-separated */
  int n_channel, cap_known;
  known *known; /* per channel */
  long knots;
} writer;

static void add_bits(known *k, long n, const double *y) {
  for (long i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &y[i], sizeof bits);
    k->sum = (k->sum ^ bits) * 0x100000001b3u + (k->sum >> 29);
    k->other = (k->other + bits) * 0x9e3779b97f4a7c15u ^ (k->other >> 31);
  }
}

/* {"n", "lo", "hi", "steep", "d": rows between knots | values | slopes} */
static void put_knots(writer *w, const ag_knots *k) {
  unsigned char *bytes = ag_heap_alloc(6 * (size_t)k->n + 1), *to = bytes;
  for (long i = 0; i < k->n; i++) to = put_16(to, (unsigned)(i ? k->row[i] - k->row[i - 1] : 0));
  for (long i = 0; i < k->n; i++) to = put_16(to, k->value[i]);
  for (long i = 0; i < k->n; i++) to = put_16(to, (unsigned short)k->slope[i]);
  ag_text_printf(&w->channels, "%s{\"n\":%ld,\"lo\":", w->n_channel ? "," : "", k->n);
  ag_text_json_number(&w->channels, k->lo);
  ag_text_str(&w->channels, ",\"hi\":");
  ag_text_json_number(&w->channels, k->hi);
  ag_text_str(&w->channels, ",\"steep\":");
  ag_text_json_number(&w->channels, k->steep);
  ag_text_str(&w->channels, ",\"d\":");
  put_base64(&w->channels, (size_t)(to - bytes), bytes);
  ag_text_char(&w->channels, '}');
  w->n_channel++, w->knots += k->n;
  free(bytes);
}

/* A number where it hardly changes, [channel] where it does. beside: the largest number shown next to it. */
static void put_series(writer *w, ag_text *out, const ag_film *f, const double *y, double within, double beside) {
  double lo = INFINITY, hi = -INFINITY;
  bool gaps = false;
  for (long i = 0; i < f->n_row; i++) {
    if (isfinite(y[i])) lo = fmin(lo, y[i]), hi = fmax(hi, y[i]);
    else gaps = true;
  }
  double least = beside * NEGLIGIBLE;
  if (!(hi >= lo) || (!gaps && hi - lo <= least)) {
    ag_text_json_number(out, hi >= lo ? y[0] : NAN);
    return;
  }
  known own = {.lo = lo, .hi = hi, .within = within > 0 ? within : fmax(WITHIN * (hi - lo), least)};
  add_bits(&own, f->n_row, y);
  for (int i = 0; i < w->n_channel; i++) {
    const known *k = &w->known[i];
    if (k->sum != own.sum || k->other != own.other || k->lo != lo || k->hi != hi || k->within > own.within) continue;
    ag_text_printf(out, "[%d]", i);
    return;
  }
  AG_PUSH(w->known, w->n_channel, w->cap_known);
  w->known[w->n_channel] = own;
  ag_knots k;
  ag_knots_make(&k, f->n_row, f->t, y, own.within);
  ag_text_printf(out, "[%d]", w->n_channel);
  put_knots(w, &k);
  ag_knots_done(&k);
}

static void put_times(ag_text *out, const ag_film *f) {
  long n = f->n_row;
  double dt = n > 1 ? (f->t[n - 1] - f->t[0]) / (double)(n - 1) : 0;
  bool even = true;
  for (long i = 0; i < n && even; i++) even = fabs(f->t[i] - (f->t[0] + dt * (double)i)) <= 1e-9 * fabs(dt) * (double)n;
  ag_text_printf(out, "\"time\":{\"n\":%ld,\"from\":", n);
  ag_text_json_number(out, n ? f->t[0] : 0);
  ag_text_str(out, ",\"to\":");
  ag_text_json_number(out, n ? f->t[n - 1] : 0);
  if (!even) ag_text_str(out, ",\"d\":"), put_base64(out, sizeof *f->t * (size_t)n, (const unsigned char *)f->t);
  ag_text_char(out, '}');
}

/* ---- things ---- */

static void put_key(ag_text *out, const char *key) {
  char last = '{';
  if (out->n) last = out->s[out->n - 1];
  if (last != '{' && last != '[') ag_text_char(out, ',');
  ag_text_json_str(out, key);
  ag_text_char(out, ':');
}

static void put_string(ag_text *out, const char *key, const char *value) {
  put_key(out, key);
  ag_text_json_str(out, value);
}

static void put_argument(writer *w, ag_text *out, const ag_film *f, const ag_scene *scene, const ag_thing *t, int a,
                         int at) {
  int width = ag_film_width(scene, t, a);
  bool turn = t->args[a].how == AG_VALUE_TURN;
  double beside = 0;
  for (int j = 0; j < width; j++)
    for (long r = 0; r < f->n_row; r++)
      if (isfinite(f->values[at + j][r])) beside = fmax(beside, fabs(f->values[at + j][r]));
  put_key(out, t->args[a].name);
  ag_text_char(out, '[');
  for (int j = 0; j < width; j++) {
    if (j) ag_text_char(out, ',');
    if (t->args[a].how == AG_VALUE_FIXED) ag_text_json_number(out, f->values[at + j][0]);
    else put_series(w, out, f, f->values[at + j], turn ? WITHIN / 2 : 0, beside);
  }
  ag_text_char(out, ']');
}

static void put_things(writer *w, ag_text *out, const ag_film *f, const ag_scene *scene) {
  int at = 0;
  put_key(out, "things");
  ag_text_char(out, '[');
  for (int i = 0; i < scene->n; i++) {
    const ag_thing *t = &scene->things[i];
    if (i) ag_text_char(out, ',');
    ag_text_char(out, '{');
    put_string(out, "kind", t->kind);
    put_string(out, "group", t->group);
    put_string(out, "name", t->name);
    ag_text_printf(out, ",\"colour\":%d,\"args\":{", t->colour);
    for (int a = 0; a < t->n_arg; at += ag_film_width(scene, t, a), a++) put_argument(w, out, f, scene, t, a, at);
    ag_text_char(out, '}');
    if (t->grid) {
      bool mesh = !strcmp(t->kind, "mesh");
      ag_text_printf(out, ",\"grid\":{\"rows\":%d,\"cols\":%d,\"d\":", t->grid_rows, t->grid_cols);
      put_floats(out, (long)t->grid_rows * t->grid_cols * (mesh ? 3 : 1), t->grid);
      ag_text_char(out, '}');
    }
    ag_text_char(out, '}');
  }
  ag_text_char(out, ']');
}

/* ---- panels ---- */

/* In which order columns are offered; 0: never. */
static int rank_of(const ag_column *c) {
  int n = c->rows * c->cols;
  if (ag_source_residual(c->name)) return 5;
  if (c->cols > 1 || n > 12) return 0;
  if (c->kind == AG_COL_OBSERVABLE) return n == 1 ? 1 : 2;
  if (c->kind == AG_COL_PROCESS) return 3;
  return c->kind == AG_COL_VELOCITY ? 3 : c->kind == AG_COL_COORD ? 4 : c->kind == AG_COL_ENERGY ? 5 : 0;
}

static void put_panel(writer *w, ag_text *out, const ag_film *f, const ag_column *c, double *const *numbers,
                      bool main) {
  int n = c->rows * c->cols;
  ag_text label = {0};
  double beside = 0;
  for (int j = 0; j < n; j++)
    for (long r = 0; r < f->n_row; r++)
      if (isfinite(numbers[j][r])) beside = fmax(beside, fabs(numbers[j][r]));
  ag_label_plain(c->name, &label);
  if (out->s[out->n - 1] == '}') ag_text_char(out, ',');
  ag_text_char(out, '{');
  put_string(out, "name", c->name);
  put_string(out, "label", ag_text_cstr(&label));
  ag_text_printf(out, ",\"main\":%s,\"entries\":[", main ? "true" : "false");
  for (int j = 0; j < n; j++) {
    if (j) ag_text_char(out, ',');
    put_series(w, out, f, numbers[j], 0, 1e-3 * beside);
  }
  ag_text_str(out, "]}");
  ag_text_done(&label);
}

static bool read_column(ag_source *s, const ag_film *f, const ag_column *c, double **numbers, ag_text *trouble) {
  int at[16], n = c->rows * c->cols;
  long n_row;
  for (int j = 0; j < n; j++) at[j] = c->offset + j;
  if (!ag_source_read(s, n, at, numbers, &n_row, trouble)) return false;
  for (int j = 0; j < n; j++) {
    double *kept = ag_heap_alloc(sizeof *kept * (size_t)(f->n_row + 1));
    for (long r = 0; r < f->n_row; r++) kept[r] = numbers[j][f->rows[r]];
    free(numbers[j]);
    numbers[j] = kept;
  }
  return true;
}

static void cut(ag_text *text, size_t n) {
  if (text->s) text->s[n] = 0;
  text->n = n;
}

/* The scalar observables first; then the others, as long as there is room. Noise takes a lot. */
static bool put_panels(writer *w, ag_text *out, const ag_film *f, ag_source *s, ag_text *trouble) {
  ag_text left_out = {0};
  int n_main = 0, best = 9;
  bool good = true;
  for (int i = 0; i < s->n_column; i++)
    if (rank_of(&s->columns[i]) && rank_of(&s->columns[i]) < best) best = rank_of(&s->columns[i]);
  put_key(out, "panels");
  ag_text_char(out, '[');
  for (int rank = 1; rank <= 5 && good; rank++) {
    for (int i = 0; i < s->n_column && good; i++) {
      const ag_column *c = &s->columns[i];
      double *numbers[16];
      if (rank_of(c) != rank) continue;
      good = read_column(s, f, c, numbers, trouble);
      if (!good) break;
      writer before = *w;
      size_t length = out->n;
      put_panel(w, out, f, c, numbers, rank == best && n_main < MAIN_PANELS);
      for (int j = 0; j < c->rows * c->cols; j++) free(numbers[j]);
      n_main++;
      size_t room = rank == best ? 2 * BUDGET : BUDGET; /* the main plots may take more */
      if (w->channels.n <= room || w->channels.n == before.channels.n) continue;
      cut(&w->channels, before.channels.n), cut(out, length);
      w->n_channel = before.n_channel, w->knots = before.knots;
      if (left_out.n) ag_text_char(&left_out, ',');
      ag_text_json_str(&left_out, c->name);
    }
  }
  ag_text_printf(out, "],\"left_out\":[%s]", ag_text_cstr(&left_out));
  ag_text_done(&left_out);
  return good;
}

/* ---- a run ---- */

/* symbols: their names are those of quantities, theta0, and written as on the axes. */
static void put_facts(ag_text *out, const char *key, bool symbols, int n, const ag_page_fact *facts) {
  put_key(out, key);
  ag_text_char(out, '[');
  for (int i = 0; i < n; i++) {
    ag_text_str(out, i ? ",[" : "[");
    ag_text name = {0};
    if (symbols) ag_label_plain(facts[i].name, &name);
    ag_text_json_str(out, symbols ? ag_text_cstr(&name) : facts[i].name);
    ag_text_done(&name);
    ag_text_char(out, ',');
    ag_text_json_str(out, facts[i].value);
    ag_text_char(out, ']');
  }
  ag_text_char(out, ']');
}

static void put_events(ag_text *out, const ag_source *s) {
  put_key(out, "events");
  ag_text_char(out, '[');
  for (int i = 0; i < s->n_marks; i++) {
    ag_text_str(out, i ? ",{" : "{");
    put_string(out, "name", s->marks[i].name);
    ag_text_str(out, ",\"times\":[");
    for (long k = 0; k < s->marks[i].n && k < 2000; k++) {
      if (k) ag_text_char(out, ',');
      ag_text_json_number(out, s->marks[i].times[k]);
    }
    ag_text_str(out, "]}");
  }
  ag_text_char(out, ']');
}

static ag_status put_run(const ag_page_run *run, ag_text *out, ag_page_report *report, ag_text *trouble) {
  ag_scene *scene = run->system ? ag_scene_create(run->system) : NULL;
  ag_film film;
  writer w = {0};
  ag_status status = ag_film_make(&film, run->source, scene, trouble) ? AG_OK : AG_SYSTEM;
  if (status == AG_OK && film.n_row < 2) {
    ag_text_printf(trouble, "%s has no motion to show: %ld %s", run->source->path, film.n_row,
                   ag_plural(film.n_row, "row", "rows"));
    status = AG_FAILED;
  }
  if (status == AG_OK) {
    ag_text_char(out, '{');
    put_string(out, "name", run->name);
    put_facts(out, "facts", false, run->n_fact, run->facts);
    ag_text_printf(out, ",\"rows\":%ld,\"stride\":%ld,\"within\":1e-4,\"quiet\":%.3g,", film.n_source, film.stride,
                   run->source->atol);
    put_times(out, &film);
    put_events(out, run->source);
    if (film.scene) put_things(&w, out, &film, scene);
    if (!put_panels(&w, out, &film, run->source, trouble)) status = AG_SYSTEM;
    ag_text_printf(out, ",\"channels\":[%s]}", ag_text_cstr(&w.channels));
    report->rows += film.n_source, report->knots += w.knots;
    report->things += film.scene ? scene->n : 0;
    ag_text_done(&w.channels);
    free(w.known);
  }
  ag_film_done(&film);
  ag_scene_free(scene);
  return status;
}

/* ---- the page ---- */

/* JSON inside a script element: whatever could end the element or begin another is written as an escape, which is the
 * same text to JSON. '<', '>' and '&' are only in strings. */
static void put_inert(ag_text *out, const char *json) {
  for (const char *s = json; *s; s++) {
    if (*s == '<' || *s == '>' || *s == '&') ag_text_printf(out, "\\u%04x", (unsigned)*s);
    else ag_text_char(out, *s);
  }
}

ag_status ag_page_make(const ag_page_request *o, ag_text *out, ag_page_report *report, ag_text *trouble) {
  static const char title_mark[] = "@ANAGYRE_TITLE@", data_mark[] = "@ANAGYRE_DATA@";
  size_t n;
  const char *page = ag_page_template(&n), *title = strstr(page, title_mark), *data = strstr(page, data_mark);
  AG_ASSERT(n && title && data && title < data);
  ag_text json = {0};
  ag_status status = AG_OK;
  *report = (ag_page_report){0};
  ag_text_str(&json, "{\"format\":1");
  put_string(&json, "title", o->title);
  put_string(&json, "equations", o->equations);
  put_facts(&json, "params", true, o->n_param, o->params);
  put_key(&json, "runs");
  ag_text_char(&json, '[');
  for (int i = 0; i < o->n && status == AG_OK; i++) {
    if (i) ag_text_char(&json, ',');
    status = put_run(&o->runs[i], &json, report, trouble);
  }
  ag_text_str(&json, "]}");
  if (status == AG_OK) {
    ag_text_strn(out, page, (size_t)(title - page));
    ag_escape_html(out, o->title);
    title += sizeof title_mark - 1;
    ag_text_strn(out, title, (size_t)(data - title));
    put_inert(out, json.s);
    data += sizeof data_mark - 1;
    ag_text_strn(out, data, (size_t)(page + n - data));
  }
  ag_text_done(&json);
  return status;
}
