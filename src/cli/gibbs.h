/* SPDX-License-Identifier: MIT
 * The law that friction and temperature keep, printed: for `check` and `conserve`. */
#ifndef AG_CLI_GIBBS_H
#define AG_CLI_GIBBS_H
#include "cli/json.h"
#include "study/study.h"

/* "yes", "no", "undecided": is a law rho(q) exp(-E/kT) stationary? */
const char *ag_gibbs_verdict(const ag_gibbs *b);
void ag_gibbs_line(const ag_gibbs *b, ag_text *out);  /* of `check` */
void ag_gibbs_lines(const ag_gibbs *b, ag_text *out); /* of `conserve`, with reason and proof */
void ag_gibbs_json(ag_json *j, const ag_gibbs *b);    /* the member "gibbs"; nothing without a temperature */
#endif
