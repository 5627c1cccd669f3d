/* SPDX-License-Identifier: MIT
 * The log: cut at any byte, it yields the frames before the cut; a changed byte ends it there. What valid frames say
 * may still not fit together. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store_internal.h"
#include "tests/check.h"

static void check_content(int fd, off_t size, long rows, long events, off_t good) {
  (void)size;
  ag_log_content c;
  ag_log_read(fd, &c);
  AG_CHECK(c.n_row == rows);
  AG_CHECK(c.good == good);
  AG_CHECK(c.n_event == 0 ? events == 0 : c.event_count[0] == events);
  ag_log_content_done(&c);
}

static void put_fields(ag_text *log, const ag_fields *fields, size_t cut) {
  ag_text payload = {0};
  ag_fields_encode(fields, &payload);
  ag_log_frame(log, 0, AG_FRAME_FIELDS, payload.s, payload.n - cut);
  ag_text_done(&payload);
}

/* Later fields that change the rows, or end in the middle: the log is read as its rows are, or not at all. */
static void check_layout(int fd) {
  static const struct {
    bool drop;        /* /x is taken out */
    long wide;        /* a column of this width is added; 0: none */
    size_t cut;       /* bytes at the end that are missing */
    int width, n_row; /* of what is there */
  } cases[] = {{false, 0, 0, 3, 2}, {true, 0, 0, 0, 0}, {true, 0, 8, 3, 2},  {false, 1, 0, 0, 0},
               {false, 1, 8, 3, 2}, {true, 2, 0, 3, 2}, {true, 2, 40, 3, 2}, {false, 1 << 24, 0, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ag_fields fields = {0}, later = {0};
    ag_text log = {0};
    ag_log_content c;
    int n_column, width, n_event;
    ag_fields_add(&fields, "/t", AG_FIELD_COLUMN, 0, NULL, 0, NULL);
    ag_fields_add(&fields, "/x", AG_FIELD_COLUMN, 1, (const long[]){2}, 0, NULL);
    if (cases[i].drop) ag_fields_drop(&later, "/x");
    if (cases[i].wide) ag_fields_add(&later, "/y", AG_FIELD_COLUMN, 1, &cases[i].wide, 0, NULL);
    ag_fields_number(&later, "@last", 1);
    ag_log_signature(&log);
    put_fields(&log, &fields, 0);
    ag_log_frame(&log, 0, AG_FRAME_ROWS, (const double[6]){0}, 6 * sizeof(double));
    put_fields(&log, &later, cases[i].cut);
    AG_CHECK(!ftruncate(fd, 0) && pwrite(fd, log.s, log.n, 0) == (ssize_t)log.n);
    ag_log_read(fd, &c);
    AG_CHECK(c.width == cases[i].width && (!c.width || c.n_row == cases[i].n_row));
    AG_CHECK(!c.width || (ag_fields_layout(&c.fields, &n_column, &width, &n_event) && width == c.width));
    ag_log_content_done(&c);
    ag_fields_done(&fields), ag_fields_done(&later);
    ag_text_done(&log);
  }
}

/* Another process changes the log after its events were counted. */
static void check_times(int fd) {
  ag_fields fields = {0};
  ag_text log = {0};
  ag_log_content c;
  double pairs[6] = {0, 0.5, 1, 0.75, 1, 0.875}, times[4];
  ag_fields_add(&fields, "/t", AG_FIELD_COLUMN, 0, NULL, 0, NULL);
  ag_fields_add(&fields, "/events/a", AG_FIELD_TIMES, 0, NULL, 0, NULL);
  ag_fields_add(&fields, "/events/b", AG_FIELD_TIMES, 0, NULL, 0, NULL);
  ag_log_signature(&log);
  put_fields(&log, &fields, 0);
  ag_log_frame(&log, 0, AG_FRAME_EVENTS, pairs, sizeof pairs);
  AG_CHECK(!ftruncate(fd, 0) && pwrite(fd, log.s, log.n, 0) == (ssize_t)log.n);
  ag_log_read(fd, &c);
  AG_CHECK(c.event_count && c.event_count[0] == 1 && c.event_count[1] == 2);
  AG_CHECK(ag_log_times(fd, &c, 0, 1, times) && times[0] == 0.5);
  AG_CHECK(ag_log_times(fd, &c, 1, 2, times) && times[0] == 0.75 && times[1] == 0.875);
  pairs[2] = 0;
  times[1] = -1;
  AG_CHECK(pwrite(fd, pairs, sizeof pairs, (off_t)(log.n - sizeof pairs)) == sizeof pairs);
  AG_CHECK(!ag_log_times(fd, &c, 0, 1, times) && times[1] == -1);
  AG_CHECK(!ag_log_times(fd, &c, 1, 2, times));
  ag_log_content_done(&c);
  ag_fields_done(&fields);
  ag_text_done(&log);
}

int main(void) {
  char name[] = "/tmp/ag_log_XXXXXX";
  int fd = mkstemp(name);
  AG_CHECK(fd >= 0);
  unlink(name);
  ag_fields fields = {0};
  ag_fields_add(&fields, "/t", AG_FIELD_COLUMN, 0, NULL, 0, NULL);
  ag_fields_add(&fields, "/x", AG_FIELD_COLUMN, 1, (const long[]){2}, 0, NULL);
  ag_fields_add(&fields, "/events/hit", AG_FIELD_TIMES, 0, NULL, 0, NULL);
  ag_text payload = {0}, log = {0};
  ag_fields_encode(&fields, &payload);
  double rows[6] = {0, 1, 2, 3, 4, 5}, pairs[2] = {0, 0.5};
  size_t ends[5];
  ag_log_signature(&log);
  ends[0] = log.n;
  ag_log_frame(&log, 0, AG_FRAME_FIELDS, payload.s, payload.n);
  ends[1] = log.n;
  ag_log_frame(&log, 0, AG_FRAME_ROWS, rows, sizeof rows);
  ends[2] = log.n;
  ag_log_frame(&log, 0, AG_FRAME_EVENTS, pairs, sizeof pairs);
  ends[3] = log.n;
  ag_log_frame(&log, 0, AG_FRAME_ROWS, rows, sizeof rows / 2);
  ends[4] = log.n;
  static const long n_row[5] = {0, 0, 2, 2, 3}, n_hit[5] = {0, 0, 0, 1, 1};
  for (size_t n = 0; n <= log.n; n++) {
    AG_CHECK(!ftruncate(fd, 0) && pwrite(fd, log.s, n, 0) == (ssize_t)n);
    int whole = -1;
    for (int k = 0; k < 5; k++) whole += n >= ends[k];
    if (whole < 0) check_content(fd, (off_t)n, 0, 0, 0);
    else check_content(fd, (off_t)n, n_row[whole], n_hit[whole], (off_t)ends[whole]);
  }
  for (size_t i = 0; i < log.n; i++) { /* written completely above; now one byte is wrong */
    char wrong = (char)(log.s[i] ^ 1);
    AG_CHECK(pwrite(fd, &wrong, 1, (off_t)i) == 1);
    int whole = -1;
    for (int k = 0; k < 5; k++) whole += i >= ends[k];
    if (whole < 0) check_content(fd, (off_t)log.n, 0, 0, 0);
    else check_content(fd, (off_t)log.n, n_row[whole], n_hit[whole], (off_t)ends[whole]);
    AG_CHECK(pwrite(fd, log.s + i, 1, (off_t)i) == 1);
  }
  check_layout(fd);
  check_times(fd);
  close(fd);
  ag_fields_done(&fields);
  ag_text_done(&payload);
  ag_text_done(&log);
  return ag_check_report();
}
