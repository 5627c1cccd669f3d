/* SPDX-License-Identifier: MIT
 * The log: cut at any byte, it yields the frames before the cut; a changed byte ends it there. */
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
  close(fd);
  ag_fields_done(&fields);
  ag_text_done(&payload);
  ag_text_done(&log);
  return ag_check_report();
}
