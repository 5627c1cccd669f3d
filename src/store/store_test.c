/* SPDX-License-Identifier: MIT
 * Results written and read back: rows, events, fields, checkpoint; a killed writer; a log that holds less than the
 * file; a second writer; a newer format; files that are not results; compressed ones, and damage to them. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "store/store_internal.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
  ag_description what = {s->system, &s->options, "model text\n", 2,    (const char *const[]){"m=1", "g=2"},
                         true,      NULL,        NULL,           false};
  ag_store_describe(&s->fields, &what);
  for (int i = 0; i < s->fields.n; i++)
    if (s->fields.at[i].kind == AG_FIELD_COLUMN)
      s->width += (int)((s->fields.at[i].rank > 0 ? s->fields.at[i].dim[0] : 1) *
                        (s->fields.at[i].rank > 1 ? s->fields.at[i].dim[1] : 1));
}

static double entry(long row, int k) { return (double)row + 1e-3 * k; }

static ag_store *write_rows(scene *s, bool fresh, bool begin, long n) {
  ag_text trouble = {0};
  ag_store *store = ag_store_create(s->path, &s->fields, AG_STORE_FILE, fresh, &trouble);
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

static void shell(const scene *s, const char *line) {
  char command[512];
  snprintf(command, sizeof command, "cd %s && %s", s->folder, line);
  AG_CHECK(system(command) == 0);
}

/* Leaves the files as a killed process would: the log is copied while the store is open and put back after it is
 * closed. */
static void vanish(const scene *s, ag_store *store, bool keep_file) {
  shell(s, "cp a.h5.log kept.log && cp a.h5 kept.h5");
  close_store(store);
  shell(s, keep_file ? "mv kept.log a.h5.log && mv kept.h5 a.h5" : "mv kept.log a.h5.log && rm a.h5 kept.h5");
}

static void save_point(ag_store *store) {
  ag_checkpoint c = {.made = true, .n_event = 1, .sign = (int[]){0}, .event_count = (int[]){0}};
  AG_CHECK(ag_store_save(store, &c, true));
}

/* Readers leave the log of a killed run where it is; the user may ask for it to be put into the file. */
static void check_recovery(scene *s, long n) {
  struct stat before, after;
  ag_text trouble = {0};
  AG_CHECK(!stat(s->log, &before));
  check_rows(s, n, true);
  AG_CHECK(!stat(s->log, &after) && before.st_ino == after.st_ino && before.st_size == after.st_size);
  AG_CHECK(ag_archive_recover(s->path, &trouble) && !trouble.n);
  AG_CHECK(access(s->log, F_OK) != 0);
  check_rows(s, n, false);
  AG_CHECK(ag_archive_recover(s->path, &trouble) && !trouble.n); /* nothing to do */
}

/* Names beside the file that others have taken, and files of ours that were left unfinished. */
static void check_names(scene *s) {
  shell(s, "echo notes > a.h5.log && ln -s a.h5.log a.h5.log.1 && mkfifo a.h5.log.2 && mkdir a.h5.log.3");
  shell(s, "echo mine > a.h5.tmp && echo mine > a.h5.0123456789ab.part && : > a.h5.log.0123456789ab.part");
  shell(s, "head -c 8 a.h5 > a.h5.0000456789ab.part && head -c 4096 /dev/zero > a.h5.1111456789ab.part");
  ag_store *store = write_rows(s, true, true, 100);
  save_point(store); /* writes what waits */
  shell(s, "test -f a.h5.log.4");
  shell(s, "test ! -e a.h5.0000456789ab.part && test ! -e a.h5.1111456789ab.part"); /* ours are removed */
  shell(s, "cp a.h5.log.4 kept.log");
  close_store(store);
  check_rows(s, 100, false);
  shell(s, "test \"$(cat a.h5.log)\" = notes && test -h a.h5.log.1 && test -p a.h5.log.2 && test -d a.h5.log.3");
  shell(s, "grep -q mine a.h5.tmp && grep -q mine a.h5.0123456789ab.part"); /* what others wrote stays */
  shell(s, "mv kept.log a.h5.log.4 && rm a.h5");
  check_rows(s, 100, true);
  ag_text trouble = {0};
  AG_CHECK(ag_archive_recover(s->path, &trouble));
  shell(s, "test ! -e a.h5.log.4 && for i in 4 5 6 7 8 9; do : > a.h5.log.$i; done");
  AG_CHECK(!ag_store_create(s->path, &s->fields, AG_STORE_FILE, true, &trouble) && strstr(trouble.s, "are taken"));
  ag_text_done(&trouble);
  check_rows(s, 100, false);
  shell(s, "rm -rf a.h5.log* a.h5.tmp a.h5.*.part");
}

/* What may be written: not a folder, a pipe, a link that leads nowhere; links are followed; modes are kept. */
static void check_targets(scene *s) {
  static const struct {
    const char *make, *why;
  } wrong[] = {{"mkdir a.h5", "Is a directory"},
               {"mkfifo a.h5", "not a regular file"},
               {"ln -s /dev/null a.h5", "not a regular file"},
               {"ln -s nowhere a.h5", "No such file"}};
  for (int i = 0; i < 4; i++) {
    ag_text trouble = {0};
    shell(s, "rm -rf a.h5");
    shell(s, wrong[i].make);
    AG_CHECK(!ag_store_create(s->path, &s->fields, AG_STORE_FILE, true, &trouble));
    AG_CHECK(strstr(ag_text_cstr(&trouble), wrong[i].why));
    ag_text_clear(&trouble);
    AG_CHECK(!ag_archive_open(s->path, &trouble) && trouble.n); /* and does not wait */
    ag_text_done(&trouble);
  }
  shell(s, "rm -rf a.h5 && mkdir sub && : > sub/real.h5 && chmod 640 sub/real.h5 && ln -s sub/real.h5 a.h5");
  close_store(write_rows(s, true, true, 50));
  check_rows(s, 50, false);
  shell(s, "test -h a.h5 && test $(stat -c %a sub/real.h5) = 640 && test \"$(ls sub)\" = real.h5");
  shell(s, "rm -r a.h5 sub");
}

/* More texts than a row may have numbers: nothing is lost behind them. */
static void check_long(scene *s) {
  const long n = (1L << 24) + 1;
  char *texts = calloc((size_t)n, 1);
  ag_fields_put(&s->fields, "/notes", AG_FIELD_TEXT, 1, &n, (size_t)n, texts);
  close_store(write_rows(s, false, true, 20));
  check_rows(s, 20, false);
  ag_fields_integer(&s->fields, "/notes", 0);
  free(texts);
}

/* The log of a newer program stays where it is. */
static void check_newer_log(scene *s) {
  ag_text trouble = {0};
  close_store(write_rows(s, true, true, 10));
  ag_fields_integer(&s->fields, "@format", AG_STORE_FORMAT + 1);
  ag_store *store = write_rows(s, true, true, 50);
  save_point(store);
  vanish(s, store, false);
  AG_CHECK(!ag_archive_recover(s->path, &trouble) && strstr(ag_text_cstr(&trouble), "newer anagyre"));
  ag_text_clear(&trouble);
  AG_CHECK(!ag_archive_open(s->path, &trouble) && strstr(ag_text_cstr(&trouble), "newer anagyre"));
  ag_text_done(&trouble);
  shell(s, "rm a.h5.log");
  ag_fields_integer(&s->fields, "@format", AG_STORE_FORMAT);
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

/* What the file s->path holds: 1 the n rows that were written, 0 others, -1 refused. */
static int what_is_there(scene *s, long n) {
  ag_text trouble = {0};
  ag_archive *r = ag_archive_open(s->path, &trouble);
  double *rows = malloc(sizeof(double) * (size_t)(n * s->width));
  int found = r ? r->n_row == n && r->width == s->width && r->n_event == 1 : -1;
  if (!r) AG_CHECK(strstr(ag_text_cstr(&trouble), s->path) != NULL);
  if (found == 1 && !ag_archive_rows(r, 0, n, rows)) found = -1;
  for (long i = 0; i < n * s->width && found == 1; i++) found = rows[i] == entry(i / s->width, (int)(i % s->width));
  free(rows);
  ag_text_done(&trouble);
  ag_archive_close(r);
  return found;
}

/* Compressed: the same rows, in less room, also in a file that is recovered; and wherever a byte is changed, they are
 * read as they were or refused. */
static void check_compressed(scene *s) {
  static const long sizes[] = {0, 1, 7, 8192, 8193, 20000}; /* around the rows that are packed together */
  struct stat plain, packed;
  close_store(write_rows(s, true, true, 20000));
  AG_CHECK(!stat(s->path, &plain));
  ag_fields_integer(&s->fields, "/options@compress", 1);
  for (int i = 0; i < 6; i++) {
    close_store(write_rows(s, true, true, sizes[i]));
    check_rows(s, sizes[i], false);
  }
  AG_CHECK(!stat(s->path, &packed) && 2 * packed.st_size < plain.st_size);
  ag_store *store = write_rows(s, true, true, 300);
  save_point(store);
  vanish(s, store, false);
  check_recovery(s, 300);
  AG_CHECK(!stat(s->path, &packed));
  int n_refused = 0;
  for (off_t at = 5; at < packed.st_size; at += packed.st_size / 150) {
    int fd = open(s->path, O_RDWR);
    unsigned char byte = 0;
    AG_CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 0x10;
    AG_CHECK(pwrite(fd, &byte, 1, at) == 1);
    int found = what_is_there(s, 300);
    AG_CHECK(found != 0);
    n_refused += found < 0;
    byte ^= 0x10;
    AG_CHECK(pwrite(fd, &byte, 1, at) == 1 && !close(fd));
  }
  AG_CHECK(n_refused > 50 && what_is_there(s, 300) == 1);
  ag_fields_integer(&s->fields, "/options@compress", 0);
}

typedef struct starved {
  const scene *s;
  long n; /* the allocation that fails; the process that works with HDF5 counts its own */
  bool opened, read;
  double *rows;
  ag_text trouble;
} starved;

static void read_starved(void *self) {
  starved *a = self;
  ag_heap_fail_at(a->n);
  ag_archive *r = ag_archive_open(a->s->path, &a->trouble);
  ag_heap_fail_at(0);
  a->opened = r != NULL;
  if (r) a->read = ag_archive_rows(r, 0, r->n_row, a->rows);
  ag_archive_close(r);
}

/* Where memory runs out it is said so, not that the file cannot be read; also when the process that works with HDF5 has
 * ended before this one asks on, as on a single processor. */
static void check_starved(scene *s) {
  enum { ROWS = 3, ENOUGH = 30 };
  cpu_set_t before, one;
  int n_read = 0, n_starved = 0;
  close_store(write_rows(s, true, true, ROWS));
  AG_CHECK(!sched_getaffinity(0, sizeof before, &before));
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  AG_CHECK(!sched_setaffinity(0, sizeof one, &one));
  for (long n = 1; n_read < ENOUGH; n++) {
    char why[AG_HEAP_WHY] = "";
    ag_heap *h = ag_heap_create(NULL);
    starved a = {.s = s, .n = n, .rows = malloc(sizeof(double) * (size_t)(ROWS * s->width))};
    bool done = ag_heap_try(h, read_starved, &a, why);
    ag_heap_fail_at(0);
    AG_CHECK(!done || a.read || (!a.opened && strstr(ag_text_cstr(&a.trouble), "memory")));
    AG_CHECK(done || strstr(why, "memory") || strstr(why, "bytes"));
    n_read = a.read ? n_read + 1 : 0;
    n_starved += !done;
    free(a.rows);
    ag_heap_wipe(h);
    ag_heap_close(h);
  }
  AG_CHECK(n_starved > 10 && !sched_setaffinity(0, sizeof before, &before));
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
  AG_CHECK(ag_store_create(s.path, &s.fields, AG_STORE_FILE, true, &trouble) == NULL &&
           strstr(trouble.s, "another run"));
  ag_text_done(&trouble);
  ag_archive *r = ag_archive_open(s.path, &trouble);
  AG_CHECK(r && r->running && r->n_row <= 5000 && access(s.log, F_OK) == 0);
  ag_archive_close(r);
  save_point(store);
  vanish(&s, store, true);
  check_recovery(&s, 5000);
  store = write_rows(&s, false, false, 40); /* killed while it was still copying the 5000 rows */
  save_point(store);
  shell(&s, "cp a.h5.log.*.part kept && cp a.h5 kept.h5");
  ag_store_discard(store);
  shell(&s, "mv kept a.h5.log.0123456789ab.part && test ! -e a.h5.log");
  check_rows(&s, 5000, false);
  shell(&s, "mv a.h5.log.0123456789ab.part a.h5.log"); /* a log that holds less than the file */
  check_rows(&s, 5000, false);
  store = write_rows(&s, true, true, 40);
  save_point(store);
  vanish(&s, store, false); /* no file at all */
  check_recovery(&s, 40);
  check_names(&s);
  check_targets(&s);
  check_checkpoint(&s);
  check_long(&s);
  check_newer_log(&s);
  check_compressed(&s);
  check_starved(&s);
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
