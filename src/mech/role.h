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
bool ag_role_lambda(const ag_system *sys, int tape); /* does it read the multipliers? */
const char *ag_role_name(ag_role role);
const char *ag_role_what(ag_role role); /* what it computes, in a few words */

/* The tape of a role that reads choices from c, with every choice made where it is. Owned by the caller. */
ag_tape *ag_system_pointwise(ag_system *sys, int role);
/* Makes the role JACOBIAN unless it exists: dims.tangent x dims.tangent, row-major, in the order of z, with the tangent
 * delta R = R hat(eta) in place of a quaternion. Extends the graph. */
const ag_tape *ag_system_jacobian(ag_system *sys);
/* The same for the role TURN_JACOBIAN: an image R^T c moves with its rotation, delta c = c x eta, and has no rows and
 * columns of its own. */
const ag_tape *ag_system_turn_jacobian(ag_system *sys);
/* Where the entries of this Jacobian are, or of another in the same tangent (ag_lu_table): whole diagonal blocks of
 * rotations, and of their columns all three or none. NULL: it is dense, row-major, as up to 32 tangent numbers and
 * where factoring would fill half of it. */
const int *ag_system_table(const ag_system *sys, int role);
/* What a step with noise follows: the increment with dW frozen, with Levy areas and brackets of the noise fields,
 * Ito's form (field.c), or the increment with a weight for friction (bath.c). Each has three roles in a row: the field,
 * its core, its Jacobian. */
typedef enum ag_followed {
  AG_FIELD_OF_STEP,
  AG_FIELD_OF_LOG,
  AG_FIELD_OF_ITO,
  AG_FIELD_OF_BATH,
  AG_N_FIELD
} ag_followed;
enum { AG_FIELD_CORE = 1, AG_FIELD_JACOBIAN, AG_FIELD_ROLES };
/* Makes the first two unless they exist. False where the system has none. Extends the graph. */
bool ag_system_field(ag_system *sys, ag_followed field);
/* Are mass matrix and velocity kinematics constant, and forces independent of velocities, friction apart? With
 * rotations: for them the mass matrix is diagonal, and their gyroscopic forces do not count; the role INERTIA then
 * exists. Of a system with the field BATH. */
bool ag_system_splits(ag_system *sys);
bool ag_system_is_split(const ag_system *sys); /* the same, once it was asked */
/* Makes the role CANONICAL unless it exists, of a system with the field BATH whose motion without friction preserves
 * exp(-E/kT) and is reversible. NULL: done, and a step of the given kind preserves volume and
 * is reversible, too; otherwise the reason. Extends the graph. canonical_lacks: the same, once it was asked. */
typedef enum ag_canonical {
  AG_CANONICAL_SPLIT,
  AG_CANONICAL_MIDPOINT,
  AG_CANONICAL_RATTLE,
  AG_N_CANONICAL
} ag_canonical;
const char *ag_system_canonical(ag_system *sys, ag_canonical kind);
const char *ag_system_canonical_lacks(const ag_system *sys, ag_canonical kind);
/* Position in u of the angular velocity of the rotation whose quaternion begins at z; -1: none. */
int ag_system_spin(const ag_system *sys, int z);
/* The Jacobian, as TURN_JACOBIAN; NULL where there is no such field. */
const ag_tape *ag_system_increment_jacobian(ag_system *sys, ag_followed field);
/* The forms of the discrete equations (discrete.c): one node with the exponential map or the Cayley map of rotations,
 * or the trapezoidal rule; or a rotation and a vector as one factor of SE(3). Makes the two roles of a form unless they
 * exist, ag_discrete_role_of() and the next, for motions or for paths with noise; false where the system has none, for
 * the reason ag_system_discrete_lacks() gives. Extends the graph. */
typedef enum ag_discrete_form {
  AG_DISCRETE_EXP,
  AG_DISCRETE_CAYLEY,
  AG_DISCRETE_TRAPEZOID,
  AG_DISCRETE_SE3,
  AG_DISCRETE_SPARK, /* what SPARK methods need at their stages: spark.c; for motions alone */
  AG_N_DISCRETE
} ag_discrete_form;
static inline int ag_discrete_role_of(ag_discrete_form form, bool noise) {
  return AG_ROLE_DISCRETE + 2 * ((int)form + (noise ? AG_N_DISCRETE : 0));
}
bool ag_system_discrete(ag_system *sys, ag_discrete_form form, bool noise);
/* The same of the trapezoidal action without noise, and without friction that has a temperature: the roles QUIET. */
bool ag_system_quiet(ag_system *sys);
const char *ag_system_discrete_lacks(const ag_system *sys, ag_discrete_form form, bool noise); /* NULL: nothing */
/* May the noise be taken at one end of a step? Transports that are constant on the group, without constraints; forces
 * and potentials whose forces do not change along them, nor with velocities. */
bool ag_system_one_sided(ag_system *sys);
bool ag_system_is_one_sided(const ag_system *sys); /* the same, once it was asked */
/* Makes the role POISSON unless it exists, in the tangent of z with images turned with their rotations. NULL where
 * ag_system_discrete_lacks() something. Extends the graph. */
const ag_tape *ag_system_poisson(ag_system *sys);
/* Makes the role LEVELS for the names (energy, constraint, observables; comma-separated), n.level functions. False
 * where ag_levels_refused() says why. Extends the graph. levels_name: of function `which`. */
bool ag_system_levels(ag_system *sys, const char *names);
bool ag_levels_refused(const ag_system *sys, const char *names, ag_text *why);
void ag_levels_name(const ag_system *sys, const char *names, int which, ag_text *out);
/* Makes the role POWER unless it exists; ag_work_power() evaluates it. NULL: energy is conserved, or a force reads
 * forces of constraint, or no velocity is eliminated. Extends the graph. */
const ag_tape *ag_system_power(ag_system *sys);
#endif
