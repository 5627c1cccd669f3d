/* SPDX-License-Identifier: MIT
 * --metropolis: methods that test their steps (step/trial_core.h), by the names of those that do not. */
#ifndef AG_CLI_METROPOLIS_H
#define AG_CLI_METROPOLIS_H
#include "base/status.h"
#include "base/text.h"
#include "step/step.h"

/* The method that makes the steps of the one named and tests them; if there is none, the verb refuses it. */
AG_MUST_USE ag_status ag_metropolis_find(const char *verb, const char *name, const ag_stepper **method);
/* The same for comma-separated names. */
AG_MUST_USE ag_status ag_metropolis_names(const char *verb, const char *names, ag_text *out);
#endif
