/* SPDX-License-Identifier: MIT
 * Where models come from: a file, standard input, or a shipped model by its name. Reads the text; and loads it through
 * lang/ and mech/, which never touch files. */
#ifndef AG_CLI_SOURCE_H
#define AG_CLI_SOURCE_H
#include "base/status.h"
#include "cli/option.h"
#include "mech/mech.h"

/* A model with all it stands on. */
typedef struct ag_source {
  const char *word; /* as the person wrote it */
  char *path;       /* where it was found; "<stdin>" */
  char *text;
  size_t size;
  ag_ctx ctx;        /* everything that was reported */
  ag_model *model;   /* NULL when it does not read */
  ag_system *system; /* NULL when it was not derived */
} ag_source;

/* Finds and reads the text only. Trouble goes to s->ctx. */
AG_MUST_USE ag_status ag_source_read(ag_source *s, const char *word);
/* Reads and parses. */
AG_MUST_USE ag_status ag_source_parse(ag_source *s, const char *word, const ag_common *common);
/* Reads, parses and derives. */
AG_MUST_USE /* The events of these names, comma between, end a run. NULL: none. */
    ag_status
    ag_source_end_at(ag_source *s, const char *names);
ag_status ag_source_load(ag_source *s, const char *word, const ag_common *common, const ag_derive_options *o);
/* Parses and derives a text that is there already. */
AG_MUST_USE ag_status ag_source_text(ag_source *s, const char *name, const char *text, int n_set, const ag_set *sets,
                                     const ag_derive_options *o);
void ag_source_done(ag_source *s);

/* Prints the diagnostics to standard error (with quiet only when there are errors). */
void ag_source_report(const ag_source *s, bool quiet);
/* The end of a command that could not load its model: prints the diagnostics, for --json an object
 * {"model","error","diagnostics"}, frees, and returns the status. */
ag_status ag_source_refuse(ag_source *s, ag_status status, const ag_common *common);
/* The whole beginning of a command on the model it names first: loaded and reported, or refused. */
AG_MUST_USE ag_status ag_source_open(ag_source *s, const ag_common *common);

/* The shipped models: names (file names without .nh) in alphabetical order and where they are. */
typedef struct ag_shelf {
  int n;
  char **names, **paths;
} ag_shelf;
void ag_shelf_init(ag_shelf *shelf);
void ag_shelf_done(ag_shelf *shelf);
#endif
