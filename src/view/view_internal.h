/* SPDX-License-Identifier: MIT
 * Shared by the files of view/. */
#ifndef AG_VIEW_VIEW_INTERNAL_H
#define AG_VIEW_VIEW_INTERNAL_H
#include "base/escape.h"
#include "view/view.h"

ag_source *ag_source_create(const char *path); /* without columns */
ag_source *ag_source_h5(const char *path, ag_text *trouble);
ag_source *ag_source_csv(const char *path, ag_status *status, ag_text *trouble);
/* The column that holds number `at` of a row. */
const ag_column *ag_source_column_of(const ag_source *s, int at);

/* The line about a run grows: "m = 1, g = 9.81; energy drift 1e-12". */
void ag_about_value(ag_text *out, const char *name, double value);
void ag_about_drift(ag_text *out, double drift); /* NaN: not known */
#endif
