/* SPDX-License-Identifier: MIT
 * Internals of run/: compiled code for the roles of a system, for one lane. */
#ifndef AG_RUN_CODER_H
#define AG_RUN_CODER_H
#include "kern/kern.h"
#include "mech/mech.h"

typedef struct ag_role_coder ag_role_coder;
/* For one thread; workers made one after the other may share it. build: may be NULL. */
ag_role_coder *ag_role_coder_create(const ag_system *sys, const ag_build_options *build);
void ag_role_coder_free(ag_role_coder *c);
ag_coder ag_role_coder_of(ag_role_coder *c); /* for ag_work_coder() */
#endif
