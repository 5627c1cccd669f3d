/* SPDX-License-Identifier: MIT
 * Rigid bodies that roll: shorthand that turns into coordinates, Lagrangian, constraints, observables and generators of
 * an ag_model. Part of the front header of model/; included by model.h.
 *
 * A body has its frame in the centre of mass. Its surface has axes of its own (turned by `turn` against the body axes)
 * and a centre of its own: the centre of mass stands at `centre`, measured from the centre of the surface along the
 * body axes. A surface is known by its contact map: X(n), the place where the outward unit normal is n, from the centre
 * of the surface. */
#ifndef AG_MODEL_BODY_H
#define AG_MODEL_BODY_H
#include "model/model.h"

typedef enum ag_surface_kind {                       /* up to CYLINDER symmetric about their centre */
                               AG_SURFACE_SPHERE,    /* a: radius */
                               AG_SURFACE_ELLIPSOID, /* a, b, c: semi-axes */
                               AG_SURFACE_TORUS, /* a: radius of the core circle, b: of the tube; axis 3. Its outer side
                                                  */
                               AG_SURFACE_DISK,  /* a: radius; axis 3, sharp edge */
                               AG_SURFACE_CYLINDER, /* a: radius, b: half of the height; axis 3; touches with its sharp
                                                       edges (thick disk) */
                               AG_SURFACE_POINT,    /* p: a tip, body components */
                               AG_SURFACE_REVOLUTION, /* axis 3, by the meridian; theta: angle from the upward normal to
                                                       * axis 3 (0 on the lower pole). h, f: expressions of the input
                                                       * theta; h distance from the axis, f height over the lower pole,
                                                       * f0 height of the centre of the surface over it */
                               AG_SURFACE_GAUSS,  /* axis 3, X = (h(c) n1, h(c) n2, f(c)): h, f expressions of the input
                                                     theta that stands for c = n3 */
                               AG_SURFACE_CONVEX, /* f = 0, f an expression of the input p (3 x 1, axes of the
                                                   * surface) with positive definite second derivatives, negative
                                                   * inside; `steps` Newton steps from the ellipsoid with half axes a,
                                                   * b,
                                                   * c */
                               AG_SURFACE_NONE    /* nothing to roll on; joints can hold the body */
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
  ag_id radius; /* by its radius of curvature (ag_surface_meridian); else 0 */
  int n_jump;   /* where that jumps or has a corner: angles theta in order */
  ag_id jump[AG_MAX_JUMPS];
  bool rough; /* there are more of them, or such that could not be found */
} ag_surface;

/* X(n) from the centre of the surface; n: outward unit normal; both along the body axes. */
ag_id ag_surface_point(ag_graph *g, const ag_surface *s, ag_id n);
/* CONVEX: how far the last of the Newton steps went, beside |X(n)|; else 0. */
ag_id ag_surface_misfit(ag_graph *g, const ag_surface *s, ag_id n);
/* CONVEX with f and its half axes a, b, c known (numbers): chooses power and steps so that the normals all around are
 * reached, with the parameters as they are. */
void ag_implicit_settle(ag_model *m, ag_surface *s);
/* The axis of rotational symmetry (3 x 1, body axes), or 0. A sphere has every axis: 0. */
ag_id ag_surface_axis(ag_graph *g, const ag_surface *s);
/* A meridian by its radius of curvature: r is an expression of the input theta; h0 radius of the parallel at theta = 0.
 * Gives h = h0 + int_0^theta r cos, f = int_0^theta r sin by Gauss-Legendre quadrature in the graph, with `nodes` nodes
 * (4 to 64) per part: to rounding for a smooth r when there are enough of them. Its own derivative and the one of the
 * quadrature agree then, too. r may jump or have corners (`if`, abs, min, ...) where an expression linear in theta or
 * in cos(theta) vanishes: there the parts end. */
ag_surface ag_surface_meridian(ag_graph *g, ag_id theta, ag_id r, ag_id h0, ag_id f0, int nodes);
/* "sphere", "ellipsoid", ... */
const char *ag_surface_word(ag_surface_kind kind);

typedef struct ag_body {
  const char *name;
  int R, x;                    /* coordinates NAME.R in SO3 with velocity NAME.Omega, NAME.x in R^3 (centre of mass) */
  ag_id mass, inertia, centre; /* inertia about the centre of mass, body axes; centre 0: in the centre of the surface */
  ag_surface surface;
  int n_contact, n_joint;
  bool carries;  /* something rolls on it */
  ag_id gravity; /* the sum of what ag_body_gravity() was given; 0: none */
  ag_pos pos;
} ag_body;

/* Adds the two coordinates and the kinetic energy, nothing else. mass: scalar; inertia: 3 x 3; centre: 3 x 1 or 0;
 * surface NULL: none. The body lives as long as the model. */
ag_body *ag_body_add(ag_model *m, const char *name, ag_id mass, ag_id inertia, ag_id centre, const ag_surface *surface,
                     ag_pos pos);
/* Is this the name of an observable that contacts and joints bring by themselves? */
bool ag_body_observes(const ag_model *m, const char *name);
/* Potential m g x[3]. */
void ag_body_gravity(ag_model *m, ag_body *b, ag_id g);
/* What a person may ask of a body by name: R, Omega, x, Gamma (up, body axes), omega (angular velocity in space), phi,
 * theta, psi (Euler angles of R = Rz(phi) Rx(theta) Rz(psi)), middle (centre of the surface). 0: no such thing. */
ag_id ag_body_part(ag_model *m, const ag_body *b, const char *word);

typedef enum ag_ground_kind {
  AG_GROUND_PLANE,
  AG_GROUND_SPHERE,
  AG_GROUND_CYLINDER,
  AG_GROUND_CONE,
  AG_GROUND_BOWL,
  AG_GROUND_BODY /* the own surface of the carrier; nothing else of ag_ground but rubber, gravity and watch is read */
} ag_ground_kind;

/* What a body rolls on. Vectors are in space, or in the carrier's frame when a body carries the ground. Ids may be 0.
 */
typedef struct ag_ground {
  ag_ground_kind kind;
  ag_body *carrier; /* the ground is fixed in this body (origin: from its centre of mass), NULL: in space */
  bool inside;      /* of a sphere or cylinder */
  ag_id normal;     /* plane: direction out of it; cylinder and cone: the axis; free of t; 0: e3 */
  ag_id origin;     /* a point of the plane or axis, the centre, the apex; may move with t (not with a carrier) */
  ag_id spin;       /* rate about `normal` through `origin` (scalar); may depend on t; sphere: about e3 or `normal` */
  ag_id radius;     /* sphere, cylinder */
  ag_id slope; /* cone: angle between its lines and the plane across its axis; the body is on the side the axis points
                  to */
  ag_id rho, profile; /* bowl: surface of revolution about `normal`, by the surface that is parallel to it and on which
                       * the CENTRE of the ball moves: height over `origin` as an expression of the input rho, the
                       * distance from the axis. For bodies that are no balls it is the bowl itself. */
  ag_id gravity;      /* adds the body's potential m g x[3] (once per body, not per contact); 0: none */
  bool rubber;        /* no twist: the relative angular velocity has no component along the normal */
  bool watch; /* adds events: NAME.lift, the normal force falls through zero (the run goes on); and some that end it:
               * NAME.flat, a disk, torus or cylinder comes down on a flat side; NAME.edge, the other edge of a cylinder
               * touches; NAME.wedge, the body is no longer more curved than the hollow ground; NAME.dent, an implicit
               * surface is not convex; NAME.lost, the steps towards the contact do not arrive. (NAME.jump, the radius
               * of curvature jumps, is there in any case: steps end at it.) */
} ag_ground;

/* One contact, as expressions. */
typedef struct ag_contact {
  const ag_body *body;
  ag_ground ground;
  ag_id normal; /* unit, in space, from the ground into the body */
  ag_id point;  /* in space */
  ag_id arm;    /* from the centre of mass to the point, body axes */
  ag_id gap;    /* = 0 while they touch: the holonomic relation that is contained in rolling */
  ag_id height; /* plane: of the centre of mass over it, from the orientation alone; else 0 */
  ag_id force;  /* on the body at the point, in space: normal and friction together */
  ag_id press, friction;
  ag_id slip_ratio;       /* |friction|/press: a coefficient of friction below it would not hold the contact */
  ag_id fit;              /* hollow ground, a body that is no ball: positive while it is the more curved one; else 0 */
  ag_id twist;            /* rubber: moment along the normal, else 0 */
  ag_id misfit;           /* of Newton steps (an implicit surface, a body that is no ball on a curved ground): vanishes
                           * when they arrived; else 0 */
  ag_id stray;            /* the same as a part of the whole, not negative */
  int constraint, rubber; /* which constraints of the model; rubber -1: none */
} ag_contact;

/* Adds the constraint (the material points at the contact have one velocity; written with NAME.x' alone so that
 * elimination sees it), for rubber the second one, the potential, the observables NAME.contact, height, gap, normal,
 * friction, twist, misfit as far as they exist (a second contact of the same body: contact2, ...). A body that is
 * no ball on a curved ground finds its contact by steps in the graph; misfit says whether they arrived. The gap is not
 * added as a holonomic statement: its derivative is one row of the vector constraint already. */
AG_MUST_USE ag_status ag_body_roll(ag_ctx *ctx, ag_model *m, ag_body *b, const ag_ground *ground, ag_pos pos,
                                   const ag_contact **out);
/* To be called when all start statements are there: what they leave open of NAME.x is chosen so that the body touches.
 * It stands over the `origin` of a plane, at the bottom of what is hollow, on the top of what is not. Where some
 * entries are named, the others begin there and mech/ moves them until the gap closes. An error when it cannot be
 * decided: cones and bowls with a corner on their axis. */
AG_MUST_USE ag_status ag_contact_start(ag_ctx *ctx, ag_model *m, const ag_contact *c);

/* ---- joints ---- */

/* Two bodies held together, or one in space (NULL): A.x + A.R p = B.x + B.R q, three rows of a holonomic statement;
 * for space the point p or q itself, which may depend on t and on coordinates. A hinge also keeps the axes A.R a and
 * B.R b (unit vectors of the directions given) parallel: with u1, u2, a a right-handed frame of unit vectors in A,
 * dot(A.R u1, B.R b) = dot(A.R u2, B.R b) = 0, two more rows. */
typedef struct ag_joint {
  ag_body *A, *B; /* NULL: space */
  ag_id p, q;
  ag_id a, b;    /* hinge: unit axes; else 0 */
  ag_id place;   /* of the joint in space */
  ag_id force;   /* in space, at the joint: on B (on A when B is space); the other body feels the opposite */
  ag_id moment;  /* hinge: across the axis, in space, on the same body; else 0 */
  int holonomic; /* which statement of the model */
  ag_pos pos;
} ag_joint;

/* p, q, a, b: 3 x 1. Adds the holonomic statement, and the observables NAME.joint (force) and NAME.moment of the body
 * that the joint force is that of (a second joint there: joint2, ...). out may be NULL. Errors: a body jointed to
 * itself, space to space, an axis without length or one that moves in its body. */
AG_MUST_USE ag_status ag_joint_ball(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_body *B, ag_id q, ag_pos pos,
                                    const char *text, const ag_joint **out);
AG_MUST_USE ag_status ag_joint_hinge(ag_ctx *ctx, ag_model *m, ag_body *A, ag_id p, ag_id a, ag_body *B, ag_id q,
                                     ag_id b, ag_pos pos, const char *text, const ag_joint **out);
/* To be called once when all start statements are there. Orientations first: where none is named, hinges make axes
 * parallel, from a body that touches nothing (a frame, not a wheel). Then positions: contacts in order, carriers before
 * what they carry (ag_contact_start), and what hangs on a body that is placed. A group of bodies nobody has placed
 * hangs from its first one in the origin. What is said here is a proposal (soft_from of the model): where it does not
 * close (the second wheel of a frame is in the air), mech/ moves it until everything touches and holds. */
AG_MUST_USE ag_status ag_bodies_start(ag_ctx *ctx, ag_model *m);

/* ---- the end ---- */

/* To be called once when the model is complete: ag_bodies_start(), then the symmetries of everything together as
 * generators. Bodies that carry or hold one another form a group. Per group, named by its first body: along_x, along_y
 * (along_z: the third direction, or along the axis of a cylinder), the translations that every ground allows; turn (and
 * turn_x, turn_y where space is the same in all directions), the turns about an axis; per body spin (a surface of
 * revolution) or spin1, spin2, spin3 (a ball, or a body without a surface), the turns of one body about its own axis.
 * Decided by the form of the expressions: diag(I1, I1, I3) is symmetric, two parameters that happen to be equal are
 * not. What else the model says is tested at random states, and what it breaks is not declared; several groups that
 * only a further potential ties together are then tried as one ("bodies.along_x", ...). */
AG_MUST_USE ag_status ag_bodies_finish(ag_ctx *ctx, ag_model *m);
#endif
