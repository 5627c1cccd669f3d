/* SPDX-License-Identifier: MIT
 * What the files that write a model share. */
#ifndef AG_LANG_WRITE_INTERNAL_H
#define AG_LANG_WRITE_INTERNAL_H
#include "base/entry.h"
#include "lang/cut.h"
#include "lang/lang.h"

typedef struct ag_writer {
  const ag_model *m;
  ag_graph *g;
  ag_text *out;
  ag_cuts cuts;
} ag_writer;

/* Writes the lets that the next statement needs and that have not been written yet. */
void ag_write_prepare(ag_writer *w, ag_id x);
void ag_write_expression(ag_writer *w, ag_id x);
void ag_write_expects(ag_writer *w);
#endif
