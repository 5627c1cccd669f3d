/* SPDX-License-Identifier: MIT
 * A table of records as comma-separated values (quoting of RFC 4180, lines end with a newline, numbers as short as
 * read back exactly). Rows reach the file whole and at least once a second, so that a killed run keeps what it had. */
#ifndef AG_CLI_CSV_H
#define AG_CLI_CSV_H
#include <sys/types.h>

#include "base/text.h"
#include "run/run.h"

typedef struct ag_csv {
  int fd, width;
  ag_text waiting; /* whole rows not yet written */
  off_t written;   /* bytes of whole rows in the file */
  long rows;       /* rows in the file, the header not counted */
  long n_waiting;
  double flushed; /* when */
  int trouble;    /* errno of the first write that failed, or 0 */
  bool torn;      /* the last row in the file is cut short (and could not be removed) */
  bool shared;    /* the file is standard output: it stays open */
} ag_csv;

/* A text as one field, in quotes where it needs them. */
void ag_csv_quoted(ag_text *out, const char *s);
/* A comma and a number, as short as reads back exactly. */
void ag_csv_number(ag_text *out, double v);
/* Creates the file ("-": standard output) and writes the header row; false with errno set. */
bool ag_csv_open(ag_csv *csv, const char *path, const ag_record *record);
/* Adds a row; false when the file cannot take it (csv->trouble says why). */
bool ag_csv_row(ag_csv *csv, const double *record);
/* Writes what is left and closes; false when something could not be written. */
bool ag_csv_close(ag_csv *csv);
#endif
