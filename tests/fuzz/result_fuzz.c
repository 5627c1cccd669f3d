/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes are a result file (.h5), or, where they begin as one, the log of a killed run. It is opened
 * and everything in it is read, or it is refused with a message. The frames of a log get valid checksums, which random
 * edits would never have: what they hold is what is to be tried. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BEGIN = 16, HEAD = 24, CHUNK = 64, MOST_ROWS = 4096, MOST_TIMES = 1 << 16 };

/* The log with its frames as long as their heads say, as far as there are bytes. */
static void sign_frames(const uint8_t *data, size_t size, ag_text *out) {
  ag_log_signature(out);
  for (size_t at = BEGIN; at + HEAD <= size;) {
    uint32_t kind;
    uint64_t length;
    memcpy(&kind, data + at + 4, sizeof kind);
    memcpy(&length, data + at + 8, sizeof length);
    at += HEAD;
    if (length > size - at) length = size - at;
    ag_log_frame(out, 0, (int)kind, data + at, (size_t)length);
    at += (size_t)length;
  }
}

static bool save(const char *path, const void *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(bytes, 1, n, f) == n;
  return (!f || fclose(f) == 0) && good;
}

static void read_rows(ag_archive *a) {
  long n = a->n_row < MOST_ROWS ? a->n_row : MOST_ROWS;
  AG_ASSERT(a->n_row >= 0 && a->width >= 0);
  if (a->width > 1 << 16) return;
  double *rows = calloc((size_t)a->width * CHUNK + 1, sizeof *rows);
  for (long i = 0; rows && i < n; i += CHUNK)
    if (!ag_archive_rows(a, i, n - i < CHUNK ? n - i : CHUNK, rows)) break;
  free(rows);
  (void)ag_archive_row_time(a, 0);
  (void)ag_archive_row_time(a, a->n_row - 1);
  (void)ag_archive_row_time(a, a->n_row);
}

static void read_times(ag_archive *a) {
  for (int e = 0; e < a->n_event; e++) {
    AG_ASSERT(a->event_count[e] >= 0);
    if (a->event_count[e] > MOST_TIMES) continue;
    double *times = calloc((size_t)a->event_count[e] + 1, sizeof *times);
    if (times) (void)ag_archive_times(a, e, times);
    free(times);
  }
}

static void read_all(ag_archive *a) {
  ag_run_options o;
  bool strict;
  ag_checkpoint c;
  (void)ag_store_options(&a->fields, &o, &strict);
  read_rows(a);
  read_times(a);
  if (ag_archive_checkpoint(a, &c)) ag_archive_checkpoint_done(&c);
  for (int i = 0; i < a->fields.n; i++) AG_ASSERT(a->fields.at[i].path && ag_field_length(&a->fields.at[i]) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char folder[] = "/tmp/result_fuzz_XXXXXX", file[64], log[64];
  if (!mkdtemp(folder)) return 0;
  snprintf(file, sizeof file, "%s/x.h5", folder);
  snprintf(log, sizeof log, "%s/x.h5.log", folder);
  ag_text bytes = {0}, trouble = {0};
  bool is_log = size >= BEGIN && !memcmp(data, "AGYRElog", 8);
  if (is_log) sign_frames(data, size, &bytes);
  if (is_log ? save(log, ag_text_cstr(&bytes), bytes.n) : save(file, data, size)) {
    ag_archive *a = ag_archive_open(file, &trouble);
    AG_ASSERT((a == NULL) == (trouble.n > 0));
    if (a) read_all(a);
    ag_archive_close(a);
  }
  (void)unlink(log);
  (void)unlink(file);
  (void)rmdir(folder);
  ag_text_done(&bytes);
  ag_text_done(&trouble);
  return 0;
}
