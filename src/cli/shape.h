/* SPDX-License-Identifier: MIT
 * Integrals whose coefficients are a table, as `conserve` reports them. */
#ifndef AG_CLI_SHAPE_H
#define AG_CLI_SHAPE_H
#include "cli/json.h"
#include "study/study.h"

/* confirmed: up to which time a run went; NaN: none was made. Nothing where there is no table. */
void ag_shape_lines(const ag_shape *s, double confirmed, ag_text *out);
void ag_shape_json(ag_json *j, const ag_shape *s, double confirmed);
/* A .csv file: the shape variable, then of every integral its coefficients. */
ag_status ag_shape_save(const ag_shape *s, const char *path);
#endif
