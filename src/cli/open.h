/* SPDX-License-Identifier: MIT
 * The beginning of a command that has a model: loading it, and reporting what is wrong with it. */
#ifndef AG_CLI_OPEN_H
#define AG_CLI_OPEN_H
#include "cli/option.h"
#include "study/study.h"

/* Prints the diagnostics to standard error (with quiet only when there are errors). */
void ag_source_report(const ag_source *s, bool quiet);
/* The end of a command that could not load its model: prints the diagnostics, for --json an object
 * {"model","error","diagnostics"}, frees, and returns the status. */
ag_status ag_source_refuse(ag_source *s, ag_status status, const ag_common *common);
/* Loads and reports the model that the command names first, or refuses it. */
AG_MUST_USE ag_status ag_source_open(ag_source *s, const ag_common *common);
#endif
