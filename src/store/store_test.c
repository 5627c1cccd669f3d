/* SPDX-License-Identifier: MIT
 * Results written and read back: rows, events, fields, checkpoint; a killed writer; a log that holds less than the
 * file; a second writer; a newer format; files that are not results. */
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/built_models.h"
#include "tests/check.h"

typedef struct scene {
  char folder[32], path[64], log[64];
  ag_model *model;
  ag_system *system;
  ag_run_options options;
  ag_fields fields;
  int width;
} scene;

static void set_scene(scene *s) {
  *s = (scene){.folder = "/tmp/ag_store_XXXXXX"};
  AG_CHECK(mkdtemp(s->folder) != NULL);
  snprintf(s->path, sizeof s->path, "%s/a.h5", s->folder);
  snprintf(s->log, sizeof s->log, "%s/a.h5.log", s->folder);
  ag_ctx ctx = {0};
  s->model = rattleback();
  ag_event e = {"nod", ag_entry(s->model->graph, s->model->coords[0].xi, 0, 0), 0, false, nowhere, false};
  AG_MODEL_PUSH(s->model, events, e);
  AG_CHECK(ag_system_create(&ctx, s->model, &(ag_derive_options){0}, &s->system) == AG_OK);
  ag_ctx_done(&ctx);
  ag_run_defaults(&s->options);
  s->options.rtol = 0.1;
  s->options.method = ag_stepper_find("dopri5");
  ag_description what = {s->system, &s->options, "model text\n", 2, (const char *const[]){"m=1", "g=2"}, true, NULL};
  ag_store_describe(&s->fields, &what);
  for (int i = 0; i < s->fields.n; i++)
    if (s->fields.at[i].kind == AG_FIELD_COLUMN)
      s->width += (int)((s->fields.at[i].rank > 0 ? s->fields.at[i].dim[0] : 1) *
                        (s->fields.at[i].rank > 1 ? s->fields.at[i].dim[1] : 1));
}

static double entry(long row, int k) { return (double)row + 1e-3 * k; }

static ag_store *write_rows(scene *s, bool fresh, bool begin, long n) {
  ag_text trouble = {0};
  ag_store *store = ag_store_create(s->path, &s->fields, fresh, &trouble);
  AG_CHECK_STR(ag_text_cstr(&trouble), "");
  ag_text_done(&trouble);
  if (!store) return NULL;
  if (begin) AG_CHECK(ag_store_begin(store));
  double *row = malloc(sizeof(double) * (size_t)s->width);
  for (long i = 0; i < n; i++) {
    for (int k = 0; k < s->width; k++) row[k] = entry(i, k);
    AG_CHECK(ag_store_row(store, row));
    if (i % 10 == 0) AG_CHECK(ag_store_event(store, 0, (double)i + 0.5));
  }
  free(row);
  return store;
}

static void check_rows(scene *s, long n, bool recovered) {
  ag_text trouble = {0};
  ag_archive *r = ag_archive_open(s->path, &trouble);
  AG_CHECK_STR(ag_text_cstr(&trouble), "");
  ag_text_done(&trouble);
  if (!r) return;
  AG_CHECK(r->n_row == n && r->width == s->width && r->n_event == 1 && r->recovered == recovered && !r->running);
  AG_CHECK(access(s->log, F_OK) != 0);
  double *rows = malloc(sizeof(double) * (size_t)(n * s->width + 1)),
         *times = malloc(sizeof(double) * (size_t)(r->event_count[0] + 1));
  AG_CHECK(ag_archive_rows(r, 0, n, rows));
  long wrong = 0;
  for (long i = 0; i < n; i++)
    for (int k = 0; k < s->width; k++) wrong += rows[i * s->width + k] != entry(i, k);
  AG_CHECK(wrong == 0);
  AG_CHECK(r->event_count[0] == (n + 9) / 10 && ag_archive_times(r, 0, times));
  for (long i = 0; i < r->event_count[0]; i++) AG_CHECK(times[i] == 10 * (double)i + 0.5);
  if (n > 5) AG_CHECK(ag_archive_rows(r, n - 3, 3, rows) && rows[0] == entry(n - 3, 0));
  AG_CHECK(!ag_archive_rows(r, n, 1, rows));
  AG_CHECK_STR(ag_fields_get_text(&r->fields, "/model", ""), "model text\n");
  bool strict;
  ag_run_options o;
  AG_CHECK(ag_store_options(&r->fields, &o, &strict) && strict && o.rtol == 0.1 && o.method == s->options.method &&
           isinf(o.h_max));
  free(rows);
  free(times);
  ag_archive_close(r);
}

static void close_store(ag_store *store) {
  ag_fields end = {0};
  ag_text trouble = {0};
  ag_fields_text(&end, "@end", "time reached");
  AG_CHECK(ag_store_close(store, &end, &trouble));
  AG_CHECK_STR(ag_text_cstr(&trouble), "");
  ag_fields_done(&end);
  ag_text_done(&trouble);
}

/* Leaves the files as a killed process would: the log is copied while the store is open and put back after it is
 * closed. */
static void vanish(scene *s, ag_store *store, bool keep_file) {
  char command[512];
  snprintf(command, sizeof command, "cd %s && cp a.h5.log kept.log && (test -e a.h5 && cp a.h5 kept.h5 || true)",
           s->folder);
  AG_CHECK(system(command) == 0);
  close_store(store);
  snprintf(command, sizeof command, "cd %s && rm a.h5 && mv kept.log a.h5.log && (%s mv kept.h5 a.h5 || true)",
           s->folder, keep_file ? "" : "false &&");
  AG_CHECK(system(command) == 0);
}

static void check_checkpoint(scene *s) {
  double z[3] = {1, 2, NAN}, dz[3] = {4, 5, -0.0}, t[2] = {0.5, 10.5}, *times[1] = {t};
  int sign[1] = {-1}, count[1] = {1};
  ag_checkpoint c = {.made = true,
                     .n = 3,
                     .n_carry = 3,
                     .n_event = 1,
                     .t = 0.1,
                     .h = -0.2,
                     .reach = 0.3,
                     .t_row = NAN,
                     .n_row = 9,
                     .n_grid = 4,
                     .steps = 5,
                     .rejected = 6,
                     .rhs = 7,
                     .energy0 = 8,
                     .control = {.beta = 0.04, .h_max = INFINITY, .rejected = true},
                     .z = z,
                     .dz = dz,
                     .c = z,
                     .sign = sign,
                     .event_count = count,
                     .event_times = times},
                d;
  ag_store *store = write_rows(s, true, true, 30);
  AG_CHECK(ag_store_save(store, &c, true));
  close_store(store);
  ag_text trouble = {0};
  ag_archive *r = ag_archive_open(s->path, &trouble);
  AG_CHECK(r && ag_archive_checkpoint(r, &d));
  AG_CHECK(d.made && d.n == 3 && d.n_c == 0 && d.n_event == 1 && d.t == 0.1 && d.h == -0.2 && d.reach == 0.3 &&
           isnan(d.t_row));
  AG_CHECK(d.n_row == 9 && d.n_grid == 4 && d.steps == 5 && d.rejected == 6 && d.rhs == 7 && d.energy0 == 8);
  AG_CHECK(d.control.beta == 0.04 && isinf(d.control.h_max) && d.control.rejected);
  AG_CHECK(!memcmp(d.z, z, sizeof z) && !memcmp(d.dz, dz, sizeof dz) && d.sign[0] == -1 && d.event_count[0] == 1);
  AG_CHECK(d.event_times[0][0] == 0.5);
  ag_archive_checkpoint_done(&d);
  ag_archive_close(r);
  c.n_row = 31; /* more rows than there are */
  store = write_rows(s, true, true, 30);
  AG_CHECK(ag_store_save(store, &c, true));
  close_store(store);
  r = ag_archive_open(s->path, &trouble);
  AG_CHECK(r && !ag_archive_checkpoint(r, &d) && !d.made);
  ag_archive_close(r);
  ag_text_done(&trouble);
}

static void check_refused(const char *path, const char *why) {
  ag_text trouble = {0};
  AG_CHECK(ag_archive_open(path, &trouble) == NULL);
  AG_CHECK(strstr(ag_text_cstr(&trouble), why) != NULL);
  ag_text_done(&trouble);
}

int main(void) {
  scene s;
  set_scene(&s);
  static const long sizes[] = {0, 1, 7, 1000, 20000}; /* the last one exceeds one buffer and several doublings */
  for (int i = 0; i < 5; i++) {
    close_store(write_rows(&s, true, true, sizes[i]));
    check_rows(&s, sizes[i], false);
  }
  ag_store *store = write_rows(&s, true, true, 5000);
  AG_CHECK(access(s.path, R_OK) == 0); /* there from the beginning */
  ag_text trouble = {0};
  AG_CHECK(ag_store_create(s.path, &s.fields, true, &trouble) == NULL && strstr(trouble.s, "another run"));
  ag_text_done(&trouble);
  ag_archive *r = ag_archive_open(s.path, &trouble);
  AG_CHECK(r && r->running && r->n_row < 5000 && access(s.log, F_OK) == 0);
  ag_archive_close(r);
  AG_CHECK(ag_store_save(
      store, &(ag_checkpoint){.made = true, .n_event = 1, .sign = (int[]){0}, .event_count = (int[]){0}}, true));
  vanish(&s, store, true);
  check_rows(&s, 5000, true);
  store = write_rows(&s, false, false, 40); /* was still copying the 5000 rows */
  AG_CHECK(ag_store_save(
      store, &(ag_checkpoint){.made = true, .n_event = 1, .sign = (int[]){0}, .event_count = (int[]){0}}, true));
  vanish(&s, store, true);
  check_rows(&s, 5000, false);
  store = write_rows(&s, false, false, 40);
  AG_CHECK(ag_store_save(
      store, &(ag_checkpoint){.made = true, .n_event = 1, .sign = (int[]){0}, .event_count = (int[]){0}}, true));
  vanish(&s, store, false); /* no file at all */
  check_rows(&s, 40, true);
  check_checkpoint(&s);
  check_refused("/nowhere/a.h5", "cannot read");
  ag_fields_integer(&s.fields, "@format", AG_STORE_FORMAT + 1);
  close_store(write_rows(&s, true, true, 3));
  check_refused(s.path, "use a newer anagyre");
  FILE *f = fopen(s.path, "w");
  fputs("no HDF5", f);
  fclose(f);
  check_refused(s.path, "cannot be read as an HDF5 file");
  unlink(s.path);
  rmdir(s.folder);
  ag_fields_done(&s.fields);
  ag_system_free(s.system);
  ag_model_free(s.model);
  return ag_check_report();
}
