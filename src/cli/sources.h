/* SPDX-License-Identifier: MIT
 * The sources of `plot` and `view`: result files, tables, and models that are run first. */
#ifndef AG_CLI_SOURCES_H
#define AG_CLI_SOURCES_H
#include "cli/open.h"
#include "view/view.h"

enum { AG_MOST_SOURCES = 16 };

typedef struct ag_sources {
  const char *verb;
  const ag_common *common;
  const anagyre_options *run; /* of models */
  int n;
  ag_source *sources[AG_MOST_SOURCES];
  anagyre_model *models[AG_MOST_SOURCES]; /* NULL for files */
  anagyre_motion *motions[AG_MOST_SOURCES];
} ag_sources;

bool ag_sources_is_file(const char *word); /* by its name: .h5 or .csv */
void ag_sources_defaults(ag_motion_args *a);
/* How models are run, with about this many rows. Prints contradictions. */
AG_MUST_USE ag_status ag_sources_options(const char *verb, const ag_motion_args *a, int rows, anagyre_options *o);
const char *ag_sources_noise(ag_arena *arena, const anagyre_options *o); /* "off", "path 3 of seed 7" */
/* Opens a file, or opens and runs a model. Prints errors. */
AG_MUST_USE ag_status ag_sources_add(ag_sources *s, const char *word);
void ag_sources_done(ag_sources *s);
void ag_sources_cut(const ag_sources *s); /* says which files had a last line that was not whole, once they are read */
/* Prints an error, also as JSON if requested. Returns the status. */
ag_status ag_sources_fail(const ag_sources *s, ag_status status, const ag_text *trouble);
/* "name.end" beside where the command was typed, from the first word: "runs/stone.h5" gives "stone.png". */
void ag_sources_name(const ag_common *common, const char *end, ag_text *out);
#endif
