/* SPDX-License-Identifier: MIT
 * Rows that are read back by columns, any number of them: a block in memory, the others in a file without a name. */
#ifndef AG_CLI_SPOOL_H
#define AG_CLI_SPOOL_H
#include <stdbool.h>

typedef struct ag_spool {
  int width;
  long n;      /* rows */
  long block;  /* rows per block */
  int fd;      /* whole blocks, each [number][row]; -1: none yet */
  double *now; /* the block that is being filled */
  int trouble; /* errno of a write or read that failed, or 0 */
} ag_spool;

void ag_spool_init(ag_spool *s, int width);
bool ag_spool_row(ag_spool *s, const double *record); /* false: it cannot be kept (s->trouble) */
/* The numbers at..at + size of the rows from `from` on, as [number][row] in out (size * s->block numbers). Returns how
 * many rows these are, up to the end of their block; 0: read error, or there are none. */
long ag_spool_read(ag_spool *s, long from, int at, int size, double *out);
void ag_spool_done(ag_spool *s);
#endif
