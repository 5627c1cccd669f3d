/* SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/output.h"

enum { ENOUGH = 1 << 16 }; /* bytes that are worth a write */

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
  size_t done = 0;
  while (!csv->trouble && done < csv->waiting.n) {
    ssize_t n = write(csv->fd, csv->waiting.s + done, csv->waiting.n - done);
    if (n > 0) done += (size_t)n;
    else if (n < 0 && errno == EINTR) continue;
    else csv->trouble = n < 0 ? errno : ENOSPC;
  }
  size_t whole = done;
  while (whole > 0 && csv->waiting.s[whole - 1] != '\n') whole--;
  if (whole < done && ftruncate(csv->fd, csv->written + (off_t)whole)) csv->torn = true;
  if (whole == csv->waiting.n) csv->rows += csv->n_waiting;
  else
    for (size_t i = 0; i < whole; i++) csv->rows += csv->waiting.s[i] == '\n';
  csv->written += (off_t)whole;
  csv->n_waiting = 0;
  csv->flushed = ag_clock();
  ag_text_clear(&csv->waiting);
  return !csv->trouble;
}

bool ag_csv_open(ag_csv *csv, const char *path, const ag_record *record) {
  *csv = (ag_csv){.width = record->width, .shared = ag_output_is_stdout(path)};
  csv->fd = csv->shared ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (csv->fd < 0) return false;
  put_header(&csv->waiting, record);
  if (flush(csv)) return true;
  int trouble = csv->trouble;
  if (!csv->shared) close(csv->fd);
  ag_text_done(&csv->waiting);
  errno = trouble;
  return false;
}

bool ag_csv_row(ag_csv *csv, const double *record) {
  ag_text_number(&csv->waiting, record[0]);
  for (int i = 1; i < csv->width; i++) ag_csv_number(&csv->waiting, record[i]);
  ag_text_char(&csv->waiting, '\n');
  csv->n_waiting++;
  if (csv->waiting.n < ENOUGH && ag_clock() - csv->flushed < 1) return true;
  return flush(csv);
}

bool ag_csv_close(ag_csv *csv) {
  flush(csv);
  if (!csv->shared && close(csv->fd) && !csv->trouble) csv->trouble = errno;
  ag_text_done(&csv->waiting);
  return !csv->trouble;
}
