/* SPDX-License-Identifier: MIT
 * The page of a motion: part of the front header of view/, included by view.h. One HTML file with everything in it:
 * the program of the page (web/, bundled when Anagyre is built), the picture as numbers, plots, equations. Nothing from
 * a model or a result file becomes markup or script. */
#ifndef AG_VIEW_PAGE_H
#define AG_VIEW_PAGE_H
#include "view/view.h"

typedef struct ag_page_fact {
  const char *name, *value;
} ag_page_fact;

typedef struct ag_page_run {
  ag_source *source;
  ag_system *system; /* NULL: plots only */
  const char *name;  /* of the file or the model */
  int n_fact;
  ag_page_fact *facts; /* how it was made */
} ag_page_run;

typedef struct ag_page_request {
  int n; /* the first run is shown, others are compared with it */
  ag_page_run *runs;
  const char *title;
  const char *equations; /* LaTeX, or "" */
  int n_param;
  ag_page_fact *params;
} ag_page_request;

typedef struct ag_page_report {
  long rows, knots; /* rows read; numbers kept, counted as knots */
  int things;       /* in the picture */
} ag_page_report;

/* Was the program of the page bundled when this program was built? */
bool ag_page_available(void);
/* The page as text. AG_FAILED: nothing to show, AG_SYSTEM: a source cannot be read, with a line in *trouble. */
AG_MUST_USE ag_status ag_page_make(const ag_page_request *o, ag_text *out, ag_page_report *report, ag_text *trouble);
#endif
