/* SPDX-License-Identifier: MIT
 * Roles: the tapes of a system by what they compute. Part of the front of mech/; the table is role.def. */
#ifndef AG_MECH_ROLE_H
#define AG_MECH_ROLE_H
#include "base/text.h"
#include "model/model.h"

typedef struct ag_system ag_system;

/* AG_ROLE_RHS, ... Section i of the model is AG_ROLE_SECTION + i. */
typedef enum ag_role {
#define AG_ROLE(ROLE, name, state, what) AG_ROLE_##ROLE,
#define AG_OUTPUT(ROLE, NAME, size)
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
  AG_ROLE_COUNT
} ag_role;

/* Results of roles by name: AG_OUT_SADDLE_M, ... */
typedef enum ag_output {
#define AG_ROLE(ROLE, name, state, what)
#define AG_OUTPUT(ROLE, NAME, size) AG_OUT_##ROLE##_##NAME,
#include "mech/role.def"
#undef AG_ROLE
#undef AG_OUTPUT
  AG_OUTPUT_COUNT
} ag_output;

/* Offset and length. */
typedef struct ag_span {
  int at, n;
} ag_span;

/* The tape of a role; NULL where the system has none. */
const ag_tape *ag_system_role(const ag_system *sys, int role);
/* Position of a result among those of its role. */
ag_span ag_system_output(const ag_system *sys, ag_output output);
/* Does a role of the full state, if it exists, depend on coordinates outside the core? */
bool ag_system_reads_rest(const ag_system *sys, int role);
const char *ag_role_name(ag_role role);
const char *ag_role_what(ag_role role); /* what it computes, in a few words */

/* The tape of a role whose results are scalars and that reads choices from c, with every choice made where it stands.
 * Owned by the caller. */
ag_tape *ag_system_pointwise(ag_system *sys, int role);
/* Makes the role JACOBIAN unless it exists: dims.tangent x dims.tangent, row-major, in the order of z, with the tangent
 * delta R = R hat(eta) in place of a quaternion. Extends the graph. */
const ag_tape *ag_system_jacobian(ag_system *sys);
/* The same for the role TURN_JACOBIAN: an image R^T c moves with its rotation, delta c = c x eta, and has no rows and
 * columns of its own. */
const ag_tape *ag_system_turn_jacobian(ag_system *sys);
/* Makes the role POWER unless it exists. NULL: energy is conserved, or a force reads forces of constraint, or no
 * velocity is eliminated. Extends the graph. */
const ag_tape *ag_system_power(ag_system *sys);
#endif
