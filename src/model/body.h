/* SPDX-License-Identifier: MIT
 * Rigid bodies that roll: shorthand that expands to coordinates, Lagrangian, constraints, observables and generators of
 * an ag_model. Part of the front header of model/; included by model.h. The body frame has its origin in the centre of
 * mass. The surface has its own axes (rotated by `turn` relative to the body axes) and its own centre; `centre` is the
 * centre of mass relative to the centre of the surface, in body axes. A surface is described by its contact map X(n):
 * the point with outward unit normal n, relative to the centre of the surface. */
#ifndef AG_MODEL_BODY_H
#define AG_MODEL_BODY_H
#include "model/model.h"

typedef enum ag_surface_kind {                       /* up to CYLINDER symmetric about their centre */
                               AG_SURFACE_SPHERE,    /* a: radius */
                               AG_SURFACE_ELLIPSOID, /* a, b, c: semi-axes */
                               AG_SURFACE_TORUS, /* a: radius of the centre circle, b: of the tube; axis 3; contact on
                                                    the outer side */
                               AG_SURFACE_DISK,  /* a: radius; axis 3, sharp edge */
                               AG_SURFACE_CYLINDER,   /* a: radius, b: half of the height; axis 3; contact on the sharp
                                                         edges (thick disk) */
                               AG_SURFACE_POINT,      /* p: a tip, in body axes */
                               AG_SURFACE_REVOLUTION, /* axis 3, given by the meridian; theta: angle from the upward
                                                         normal to axis 3 (0 at the lower pole). h, f: expressions in
                                                         the input theta; h distance from the axis, f height above the
                                                         lower pole, f0 height of the centre of the surface above it */
                               AG_SURFACE_GAUSS,  /* axis 3, X = (h(c) n1, h(c) n2, f(c)): h, f expressions in the input
                                                     theta, which stands for c = n3 */
                               AG_SURFACE_CONVEX, /* f = 0, with f an expression in the input p (3 x 1, axes of the
                                                     surface), with positive definite Hessian, negative inside; `steps`
                                                     Newton steps from the ellipsoid with half axes a, b, c */
                               AG_SURFACE_NONE    /* no surface; the body can be attached by joints */
} ag_surface_kind;

enum { AG_MAX_JUMPS = 6 };

typedef struct ag_surface {
  ag_surface_kind kind;
  ag_id a, b, c; /* scalars */
  ag_id p;       /* POINT: 3 x 1; CONVEX: input */
  int steps;
  double power; /* CONVEX: the steps start from |X1/a|^power + ... = 1; 0: 2 */
  ag_id turn;   /* rotation from the axes of the surface to those of the body; 0: the same */
  ag_id theta, h, f, f0;
  ag_id radius; /* radius of curvature, if the meridian is given by it (ag_surface_meridian); else 0 */
  int n_jump;   /* where it jumps or has a corner: angles theta in order */
  ag_id jump[AG_MAX_JUMPS];
  bool rough; /* there are more jumps, or jumps that could not be found */
} ag_surface;

/* X(n) relative to the centre of the surface; n: outward unit normal; both in body axes. */
ag_id ag_surface_point(ag_graph *g, const ag_surface *s, ag_id n);
/* CONVEX: length of the last Newton step relative to |X(n)|; else 0. */
ag_id ag_surface_misfit(ag_graph *g, const ag_surface *s, ag_id n);
/* CONVEX with f and its half axes a, b, c known (numbers): chooses power and steps so that normals in all directions
 * are reached with the current parameters. */
void ag_implicit_settle(ag_model *m, ag_surface *s);
/* The axis of rotational symmetry (3 x 1, body axes), or 0. A sphere has every axis: 0. */
ag_id ag_surface_axis(ag_graph *g, const ag_surface *s);
/* A meridian given by its radius of curvature: r is an expression in the input theta, h0 the radius of the parallel at
 * theta = 0. Gives h = h0 + int_0^theta r cos, f = int_0^theta r sin by Gauss-Legendre quadrature in the graph, with
 * `nodes` nodes (4 to 64) per interval: exact up to rounding error for a smooth r with enough nodes, and so are the
 * derivatives. r may have jumps or corners (`if`, abs, min, ...) where an expression linear in theta or cos(theta)
 * vanishes: the intervals end there. */
ag_surface ag_surface_meridian(ag_graph *g, ag_id theta, ag_id r, ag_id h0, ag_id f0, int nodes);
/* "sphere", "ellipsoid", ... */
const char *ag_surface_word(ag_surface_kind kind);

typedef struct ag_body {
  const char *name;
  int R, x;                    /* coordinates NAME.R in SO3 with velocity NAME.Omega, NAME.x in R^3 (centre of mass) */
  ag_id mass, inertia, centre; /* inertia about the centre of mass, body axes; centre 0: at the centre of the surface */
  ag_surface surface;
  int n_contact, n_joint;
  bool carries;  /* another body rolls on it */
  ag_id gravity; /* sum of the arguments of ag_body_gravity(); 0: none */
  ag_pos pos;
} ag_body;

/* Adds the two coordinates and the kinetic energy. mass: scalar; inertia: 3 x 3; centre: 3 x 1 or 0; surface NULL:
 * none. The body lives as long as the model. */
ag_body *ag_body_add(ag_model *m, const char *name, ag_id mass, ag_id inertia, ag_id centre, const ag_surface *surface,
                     ag_pos pos);
/* Is this the name of an observable that contacts and joints add? */
bool ag_body_observes(const ag_model *m, const char *name);
/* Potential m g x[3]. */
void ag_body_gravity(ag_model *m, ag_body *b, ag_id g);
/* The quantities of a body by name: R, Omega, x, Gamma (up, body axes), omega (angular velocity in space), phi, theta,
 * psi (Euler angles of R = Rz(phi) Rx(theta) Rz(psi)), middle (centre of the surface). 0: no such name. */
ag_id ag_body_part(ag_model *m, const ag_body *b, const char *word);

typedef enum ag_ground_kind {
  AG_GROUND_PLANE,
  AG_GROUND_SPHERE,
  AG_GROUND_CYLINDER,
  AG_GROUND_CONE,
  AG_GROUND_BOWL,
  AG_GROUND_BODY /* the surface of the carrier; only rubber, gravity and watch of ag_ground are used */
} ag_ground_kind;

/* What a body rolls on. Vectors are in the space frame, or in the frame of the carrier if there is one. Ids may be 0.
 */
typedef struct ag_ground {
  ag_ground_kind kind;
  ag_body *carrier; /* the body to which the ground is attached (origin: relative to its centre of mass), NULL: fixed in
                       space */
  bool inside;      /* sphere or cylinder: contact on the inside */
  ag_id normal;     /* plane: outward direction; cylinder and cone: the axis; independent of t; 0: e3 */
  ag_id origin;     /* a point of the plane or axis, the centre, the apex; may move with t (not with a carrier) */
  ag_id spin;       /* rate about `normal` through `origin` (scalar); may depend on t; sphere: about e3 or `normal` */
  ag_id radius;     /* sphere, cylinder */
  ag_id slope;      /* cone: angle between its lines and the plane perpendicular to its axis; the body is on the side to
                       which the axis points */
  ag_id rho, profile; /* bowl: surface of revolution about `normal`, given by the parallel surface on which the CENTRE
                         of the ball moves: height above `origin` as an expression in the input rho, the distance from
                         the axis. For other bodies it is the bowl itself. */
  ag_id gravity;      /* adds the potential m g x[3] of the body (once per body, not per contact); 0: none */
  bool rubber;        /* no twist: the relative angular velocity has no component along the normal */
  bool watch; /* adds events: NAME.lift, the normal force falls through zero (the run continues); and some that end the
                 run: NAME.flat, a disk, torus or cylinder falls onto a flat side; NAME.edge, the other edge of a
                 cylinder touches; NAME.wedge, the body is no longer more curved than the hollow ground; NAME.dent, an
                 implicit surface is not convex; NAME.lost, the Newton steps for the contact do not converge.
                 (NAME.jump, the radius of curvature jumps, is always added: steps end there.) */
} ag_ground;

/* One contact, as expressions. */
typedef struct ag_contact {
  const ag_body *body;
  ag_ground ground;
  ag_id normal; /* unit vector in space, from the ground into the body */
  ag_id point;  /* in space */
  ag_id arm;    /* from the centre of mass to the contact point, body axes */
  ag_id gap;    /* 0 while they touch: the holonomic relation contained in rolling */
  ag_id height; /* plane: height of the centre of mass above it, as a function of the orientation; else 0 */
  ag_id force;  /* on the body at the contact point, in space: normal force and friction together */
  ag_id press, friction;
  ag_id slip_ratio; /* |friction|/press: with a smaller coefficient of friction the contact would slip */
  ag_id fit;        /* hollow ground, body other than a ball: positive while the body is more curved; else 0 */
  ag_id twist;      /* rubber: moment along the normal, else 0 */
  ag_id misfit; /* residual of the Newton steps (implicit surface, or a body other than a ball on a curved ground); else
                   0 */
  ag_id stray;  /* the same relative to the size, not negative */
  int constraint, rubber; /* indices of the constraints in the model; rubber -1: none */
} ag_contact;

/* Adds the constraint (the material points at the contact have the same velocity; written with NAME.x' alone so that
 * elimination finds it), the second one for rubber, the potential, and the observables NAME.contact, height, gap,
 * normal, friction, twist, misfit as far as they exist (second contact of the same body: contact2, ...). A body other
 * than a ball on a curved ground finds its contact by Newton steps in the graph; misfit shows whether they converged.
 * The gap is not added as a holonomic constraint: its derivative is already one row of the vector constraint. */
AG_MUST_USE ag_status ag_body_roll(ag_ctx *ctx, ag_model *m, ag_body *b, const ag_ground *ground, ag_pos pos,
                                   const ag_contact **out);
/* To be called after all start statements: chooses the entries of NAME.x that are not given so that the body touches.
 * It is placed above the `origin` of a plane, at the bottom of a hollow ground, on top of others. If some entries are
 * given, the others start there and mech/ moves them until the gap closes. An error if there is no unique choice:
 * cones, and bowls with a corner on their axis. */
AG_MUST_USE ag_status ag_contact_start(ag_ctx *ctx, ag_model *m, const ag_contact *c);

/* ---- joints ---- */

/* Two bodies held together, or one in space (NULL): A.x + A.R p = B.x + B.R q, three rows of a holonomic constraint;
 * for space the point p or q itself, which may depend on t and on coordinates. A hinge also keeps the axes A.R a and
 * B.R b (unit vectors along the given directions) parallel: with u1, u2, a a right-handed orthonormal frame in A,
 * dot(A.R u1, B.R b) = dot(A.R u2, B.R b) = 0, two more rows. */
typedef struct ag_joint {
  ag_body *A, *B; /* NULL: space */
  ag_id p, q;
  ag_id a, b;    /* hinge: unit axes; else 0 */
  ag_id place;   /* position of the joint in space */
  ag_id force;   /* in space, at the joint: on B (on A if B is space); the opposite acts on the other body */
  ag_id moment;  /* hinge: perpendicular to the axis, in space, on the same body; else 0 */
  int holonomic; /* index of the holonomic constraint in the model */
  ag_pos pos;
} ag_joint;

/* p, q, a, b: 3 x 1. Adds the holonomic constraint, and the observables NAME.joint (force) and NAME.moment of the body
 * on which the joint force acts (second joint there: joint2, ...). out may be NULL. Errors: a joint of a body with
 * itself, space with space, an axis of length zero or one that moves in its body. */
AG_MUST_USE ag_status ag_joint_ball(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_body *B, ag_id q, ag_pos pos,
                                    const char *text, const ag_joint **out);
AG_MUST_USE ag_status ag_joint_hinge(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_id a, ag_body *B, ag_id q,
                                     ag_id b, ag_pos pos, const char *text, const ag_joint **out);
/* To be called once after all start statements. Orientations first: where none is given, hinges make axes parallel,
 * starting from a body without contact (a frame, not a wheel). Then positions: contacts in order, carriers before what
 * they carry (ag_contact_start), and bodies attached to a body that has been placed. In a group of bodies without any
 * given position, the first one is put at the origin. These starts are guesses (soft_from of the model): where they do
 * not close (the second wheel of a frame is in the air), mech/ moves them until all contacts and joints hold. */
AG_MUST_USE ag_status ag_bodies_start(ag_ctx *ctx, ag_model *m);

/* ---- completion ---- */

/* To be called once when the model is complete: ag_bodies_start(), then the symmetries of all bodies together as
 * generators. Bodies that carry or hold one another form a group. Per group, named after its first body: along_x,
 * along_y (along_z: the third direction, or along the axis of a cylinder), the translations that every ground allows;
 * turn (and turn_x, turn_y where space is isotropic), rotations about an axis; per body spin (a surface of revolution)
 * or spin1, spin2, spin3 (a ball, or a body without a surface), rotations of one body about its own axis. Decided by
 * the form of the expressions: diag(I1, I1, I3) is symmetric, two parameters that happen to be equal are not. The rest
 * of the model is tested at random states, and what it breaks is not declared; several groups that are coupled only by
 * a further potential are then tried as one ("bodies.along_x", ...). */
AG_MUST_USE ag_status ag_bodies_finish(ag_ctx *ctx, ag_model *m);
#endif
