/* SPDX-License-Identifier: MIT
 * A table as comma-separated values (quoting of RFC 4180, lines end with a newline, numbers as short as read back
 * exactly). Rows reach the file whole and at least once a second, so that a killed run keeps what it had. A new file
 * grows in place; an existing one is replaced at the end. */
#ifndef AG_CLI_CSV_H
#define AG_CLI_CSV_H
#include <sys/types.h>

#include "base/text.h"
#include "cli/output.h"
#include "run/run.h"

typedef struct ag_csv {
  ag_output_file out;
  int width;
  ag_text waiting; /* whole rows not yet written */
  off_t written;   /* bytes of whole rows in the file */
  long rows;       /* rows in the file, the header not counted */
  long n_waiting;
  double flushed; /* when */
  int trouble;    /* errno of the first write that failed, or 0 */
  bool torn;      /* the last row in the file is cut short (and could not be removed) */
} ag_csv;

/* A text as one field, in quotes where it needs them. */
void ag_csv_quoted(ag_text *out, const char *s);
/* A comma and a number, as short as reads back exactly. */
void ag_csv_number(ag_text *out, double v);
/* A comment line for the first line of a table: which path with noise it holds. */
void ag_csv_path(ag_text *out, const ag_wiener *w, unsigned long long path, const char *method, double dt);
/* Creates the file ("-": standard output) and writes the header row, a whole line; false with errno set. */
bool ag_csv_begin(ag_csv *csv, const char *path, const ag_text *header);
/* The same for records; behind a comment line, if that is not NULL. */
bool ag_csv_open(ag_csv *csv, const char *path, const ag_text *comment, const ag_record *record);
/* Lines that are in csv->waiting, n of them; false when the file cannot take them. */
bool ag_csv_lines(ag_csv *csv, long n);
/* Adds a row; false when the file cannot take it (csv->trouble says why). */
bool ag_csv_row(ag_csv *csv, const double *record);
/* Writes the remaining rows and puts the file in place. False when something could not be written: an existing file is
 * then as before; ag_csv_explain says what is kept and where. */
bool ag_csv_close(ag_csv *csv);
void ag_csv_explain(const ag_csv *csv, const char *path, ag_text *out);
/* Closes; prints errors. */
AG_MUST_USE ag_status ag_csv_report(ag_csv *csv, const char *path);
void ag_csv_done(ag_csv *csv);
#endif
