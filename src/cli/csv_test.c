/* SPDX-License-Identifier: MIT */
#include "cli/csv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "cli/clock.h"

static char *slurp(const char *path) {
  static char text[1 << 16];
  FILE *f = fopen(path, "r");
  AG_CHECK(f);
  size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
  text[n] = 0;
  if (f) fclose(f);
  return text;
}

static ag_column columns[] = {
    {AG_COL_TIME, "t", 1, 1, 0, 0},        {AG_COL_COORD, "x[2]", 2, 1, 1, 0},      {AG_COL_COORD, "R", 2, 2, 3, 0},
    {AG_COL_VELOCITY, "phi'", 1, 1, 7, 0}, {AG_COL_OBSERVABLE, "a\"b", 1, 1, 8, 0},
};
static const ag_record record = {5, 9, columns};

static void round_trip(const char *path) {
  ag_csv csv;
  double row[9] = {0.1, 1.0 / 3, -2e-300, 1e300, 5e-324, 0, -1, 2, NAN};
  AG_CHECK(ag_csv_open(&csv, path, NULL, &record));
  AG_CHECK(ag_csv_row(&csv, row));
  row[0] = 0.2;
  AG_CHECK(ag_csv_row(&csv, row));
  AG_CHECK(ag_csv_close(&csv));
  AG_CHECK(csv.rows == 2);
  ag_csv_done(&csv);
  char *text = slurp(path), *line = strchr(text, '\n');
  AG_CHECK(line);
  *line++ = 0;
  AG_CHECK_STR(text, "t,x[2][1],x[2][2],\"R[1,1]\",\"R[1,2]\",\"R[2,1]\",\"R[2,2]\",phi',\"a\"\"b\"");
  row[0] = 0.1;
  for (int i = 0; i < 8; i++) {
    AG_CHECK(strtod(line, &line) == row[i]); /* 17 digits give every double back */
    AG_CHECK(*line == ',');
    line++;
  }
  AG_CHECK(!strncmp(line, "nan\n0.2", 7) || !strncmp(line, "-nan\n0.2", 8));
}

/* A limit on the size of a file stands for a full disk: half rows are cut off, whole ones stay. */
static void full_disk(const char *path) {
  ag_csv csv;
  double row[9] = {1, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3};
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit old, limit;
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 1000;
  char *old_text = strdup(slurp(path)); /* of the round trip */
  AG_CHECK(ag_csv_open(&csv, path, NULL, &record));
  setrlimit(RLIMIT_FSIZE, &limit);
  bool ok = true;
  for (int i = 0; i < 1000 && ok; i++) ok = ag_csv_row(&csv, row);
  AG_CHECK(!ok);
  AG_CHECK(!ag_csv_close(&csv));
  setrlimit(RLIMIT_FSIZE, &old);
  AG_CHECK(csv.trouble == EFBIG);
  AG_CHECK(!csv.torn);
  AG_CHECK_STR(slurp(path), old_text); /* the old file is untouched */
  free(old_text);
  char *text = slurp(ag_output_place(&csv.out));
  size_t n = strlen(text);
  AG_CHECK(n > 500 && n <= 1000 && text[n - 1] == '\n');
  long lines = 0;
  for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
  AG_CHECK(lines == csv.rows + 1 && csv.rows > 3);
  ag_text why = {0};
  ag_csv_explain(&csv, "x.csv", &why);
  AG_CHECK(strstr(why.s, "rows were kept in ") && strstr(why.s, "; x.csv is as it was before"));
  ag_text_done(&why);
  AG_CHECK(!unlink(ag_output_place(&csv.out)));
  ag_csv_done(&csv);
}

int main(void) {
  char folder[] = "/tmp/ag_csv_XXXXXX", path[64];
  AG_CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/x.csv", folder);
  round_trip(path);
  full_disk(path);
  ag_csv csv;
  AG_CHECK(!ag_csv_open(&csv, folder, NULL, &record) && errno == EISDIR);
  AG_CHECK(access("/dev/full", W_OK) || (!ag_csv_open(&csv, "/dev/full", NULL, &record) && errno == ENOSPC));
  unlink(path);
  rmdir(folder);
  return ag_check_report();
}
