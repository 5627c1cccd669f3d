/* SPDX-License-Identifier: MIT
 * The beginning of a command that has a model: opening it, and reporting what is wrong with it. */
#ifndef AG_CLI_OPEN_H
#define AG_CLI_OPEN_H
#include "api/api.h"
#include "cli/option.h"

/* Opens a file, standard input ("-") or a shipped model, with the changes of the command line. Never NULL. */
anagyre_model *ag_open(const char *word, const ag_changes *changes);
/* Prints diagnostics to standard error; with quiet no notes. */
void ag_open_report(const ag_ctx *ctx, bool quiet);
/* Errors of the model, or of a request to it: prints the diagnostics of ctx, for --json an object
 * {"model","error","diagnostics"}, and returns the status. */
ag_status ag_open_fail(anagyre_model *m, const ag_ctx *ctx, ag_status status, const ag_common *common);
/* The same, and closes the model. */
ag_status ag_open_refuse(anagyre_model *m, const ag_ctx *ctx, ag_status status, const ag_common *common);
/* Opens, derives and reports the model that the command names first. NULL: refused with *status. */
anagyre_model *ag_open_derived(const ag_common *common, const ag_derive_options *o, ag_status *status);
#endif
