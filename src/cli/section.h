/* SPDX-License-Identifier: MIT
 * `anagyre run --section`: which section of a model is meant. */
#ifndef AG_CLI_SECTION_H
#define AG_CLI_SECTION_H
#include "cli/source.h"
#include "run/run.h"

/* Sets o->section to the section of that name; else an error in s->ctx that says which there are. */
AG_MUST_USE ag_status ag_section_find(ag_source *s, const char *name, ag_run_options *o);
#endif
