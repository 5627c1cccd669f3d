/* SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "cli/clock.h"
#include "cli/output.h"

enum { ENOUGH = 1 << 16 }; /* bytes that trigger a write */

void ag_csv_quoted(ag_text *out, const char *s) {
  if (!s[strcspn(s, ",\"\r\n")]) {
    ag_text_str(out, s);
    return;
  }
  ag_text_char(out, '"');
  for (; *s; s++) {
    if (*s == '"') ag_text_char(out, '"');
    ag_text_char(out, *s);
  }
  ag_text_char(out, '"');
}

void ag_csv_number(ag_text *out, double v) {
  ag_text_char(out, ',');
  ag_text_number(out, v);
}

void ag_csv_path(ag_text *out, const ag_wiener *w, unsigned long long path, const char *method, double dt) {
  ag_text_printf(out, "# seed %llu, path %llu, dt_base ", w->seed, path);
  ag_text_number(out, w->base);
  ag_text_printf(out, "%s, method %s, dt ", w->mirror ? ", antithetic" : "", method);
  ag_text_number(out, dt);
  ag_text_char(out, '\n');
}

static void put_header(ag_text *out, const ag_record *record) {
  ag_text name = {0};
  for (int i = 0; i < record->n_column; i++)
    for (int k = 0; k < record->columns[i].rows * record->columns[i].cols; k++) {
      if (i || k) ag_text_char(out, ',');
      ag_text_clear(&name);
      ag_column_name(&record->columns[i], k, &name);
      ag_csv_quoted(out, name.s);
    }
  ag_text_char(out, '\n');
  ag_text_done(&name);
}

/* Writes the waiting rows. When the disk is full half a row may have got through: it is cut off again, so that the file
 * holds whole rows only. */
static bool flush(ag_csv *csv) {
  size_t done = csv->trouble ? 0 : ag_file_write(csv->out.fd, ag_text_cstr(&csv->waiting), csv->waiting.n);
  if (!csv->trouble && done < csv->waiting.n) csv->trouble = errno ? errno : EIO;
  size_t whole = done;
  while (whole > 0 && csv->waiting.s[whole - 1] != '\n') whole--;
  if (whole < done && (csv->out.stream || !ag_file_cut(csv->out.fd, csv->written + (off_t)whole))) csv->torn = true;
  if (whole == csv->waiting.n) csv->rows += csv->n_waiting;
  else
    for (size_t i = 0; i < whole; i++) csv->rows += csv->waiting.s[i] == '\n';
  csv->written += (off_t)whole;
  csv->n_waiting = 0;
  csv->flushed = ag_clock();
  ag_text_clear(&csv->waiting);
  return !csv->trouble;
}

bool ag_csv_begin(ag_csv *csv, const char *path, const ag_text *header) {
  *csv = (ag_csv){0};
  if (!ag_output_open(&csv->out, path, true)) return false;
  ag_text_str(&csv->waiting, ag_text_cstr(header));
  bool good = flush(csv);
  csv->rows = 0;
  if (good) return true;
  int trouble = csv->trouble;
  ag_output_drop(&csv->out);
  ag_csv_done(csv);
  errno = trouble;
  return false;
}

bool ag_csv_open(ag_csv *csv, const char *path, const ag_text *comment, const ag_record *record) {
  ag_text header = {0};
  if (comment) ag_text_strn(&header, ag_text_cstr(comment), comment->n);
  put_header(&header, record);
  bool good = ag_csv_begin(csv, path, &header);
  int trouble = errno;
  ag_text_done(&header);
  csv->width = record->width;
  errno = trouble;
  return good;
}

bool ag_csv_lines(ag_csv *csv, long n) {
  csv->n_waiting += n;
  if (csv->waiting.n < ENOUGH && ag_clock() - csv->flushed < 1) return !csv->trouble;
  return flush(csv);
}

bool ag_csv_row(ag_csv *csv, const double *record) {
  ag_text_numbers(&csv->waiting, csv->width, record, ',');
  ag_text_char(&csv->waiting, '\n');
  return ag_csv_lines(csv, 1);
}

bool ag_csv_close(ag_csv *csv) {
  if (flush(csv) && !ag_output_finish(&csv->out)) csv->trouble = errno ? errno : EIO;
  return !csv->trouble;
}

void ag_csv_explain(const ag_csv *csv, const char *path, ag_text *out) {
  ag_text_printf(out, "the first %ld %s", csv->rows, ag_plural(csv->rows, "row was", "rows were"));
  ag_text_str(out, csv->out.stream ? " written" : " kept");
  if (csv->torn) ag_text_str(out, ", followed by a torn one");
  if (csv->out.beside.n) ag_text_printf(out, " in %s; %s is as it was before", csv->out.beside.s, path);
}

ag_status ag_csv_report(ag_csv *csv, const char *path) {
  if (ag_csv_close(csv)) return AG_OK;
  if (csv->trouble == EPIPE && ag_output_is_stdout(path)) return AG_OK; /* the reader has closed the pipe */
  ag_text kept = {0};
  ag_status status = ag_output_error(path, csv->trouble);
  if (!csv->rows && csv->out.beside.n) { /* nothing worth keeping */
    ag_output_drop(&csv->out);
    return status;
  }
  ag_csv_explain(csv, path, &kept);
  ag_output_tell("%s", ag_text_cstr(&kept));
  ag_text_done(&kept);
  return status;
}

void ag_csv_done(ag_csv *csv) {
  ag_output_done(&csv->out);
  ag_text_done(&csv->waiting);
}
