/* SPDX-License-Identifier: MIT
 * Where a body touches. Its surface is the contact map X, so that the point with the outward normal -n is
 *   P(n) = G + R X(-R^T n),  G the centre of the surface.
 *   plane        n = N: explicit
 *   a ball       X = r n: n depends on the place of the centre alone, explicit on every ground
 *   other bodies on a curved ground fixed by the field of its normals n(y), y from O: the point y of the body with
 *                y = G - O + R X(-R^T n(y))                                                                   (1)
 *   a body on a convex ground that is known by its own contact map Y (a ball, another body): with y = (1 + e) n,
 *                G + R X(-R^T n) - O - Y(n) = L e n,  L = |G - O|: n stands across both, L e is the gap        (2)
 * (1) and (2) are three equations for three numbers, solved by steps in the graph: some that only come near (for (2)
 * they climb the concave function n -> gap), some of Newton's, held (op.def: HOLD), and two of Newton's that are
 * differentiated: the first has the derivative of the root, the second the second and third one as well. */
#include <math.h>
#include <string.h>

#include "model/body_internal.h"

enum { NEAR_STEPS = 4, NEWTON_STEPS = 6 };
static const double LEVEL = 1e-12; /* slope of a bowl on its axis */

ag_id ag_touch_root(ag_graph *g, ag_id y, ag_id F, ag_id start, ag_id *misfit) {
  ag_id J = ag_jacobian(g, F, 1, &y), x = ag_body_hold(g, start), at[2];
  for (int i = 0; i < NEWTON_STEPS + 2; i++) {
    at[0] = F;
    at[1] = J;
    ag_substitute(g, 1, &y, &x, 2, at);
    x = ag_sub(g, x, ag_solve(g, at[1], at[0], AG_SOLVE_GENERAL));
    if (i < NEWTON_STEPS) x = ag_body_hold(g, x);
  }
  at[0] = F;
  ag_substitute(g, 1, &y, &x, 1, at);
  *misfit = ag_norm(g, at[0]);
  return x;
}

/* Adds the last step of an implicit surface to misfit and stray. */
static void add_implicit(ag_graph *g, ag_contact *c, const ag_surface *s, ag_id n) {
  ag_id part = ag_surface_misfit(g, s, n);
  if (!part) return;
  c->misfit = c->misfit ? ag_add(g, c->misfit, part) : part;
  c->stray = c->stray ? ag_add(g, c->stray, part) : part;
}

/* ---- curved grounds by their normals ---- */

/* At the place y from O: the unit normal of the ground's parallel surface there, and how far y is from the ground.
 *   sphere    n = -+ y/|y|
 *   cylinder  the same across the axis N
 *   cone      n = cos(slope) N - sin(slope) u, u the direction away from the axis
 *   bowl      y.N = z(rho), rho = |y across N|: n = (N - z' u)/sqrt(1 + z'^2); level along the axis */
typedef struct field {
  ag_id n, level;
} field;

/* z' u = (z'/rho) w, w = rho u the part across the axis. Where that is short, z' = z'(0) + z''(0) rho and z = z(0) +
 * z''(0) rho^2/2 up to relative O(rho^2), in w.w alone: smooth on the axis. With z'(0) != 0 or a z''(0) that is not
 * finite there is a corner, where the formulas fail and which trouble.c keeps away from. */
static field bowl_at(ag_graph *g, const ag_ground *gr, ag_id N, ag_id y, ag_id w) {
  static const double NEAR = 1e-16;
  ag_id one = ag_num(g, 1), zero = ag_num(g, 0), of[3] = {gr->profile}, first[3], square = ag_dot(g, w, w);
  ag_forward(g, 1, &gr->rho, &one, 1, of, of + 1);
  ag_forward(g, 1, &gr->rho, &one, 1, of + 1, of + 2);
  memcpy(first, of, sizeof of);
  ag_substitute(g, 1, &gr->rho, &zero, 3, first);
  double slope, second;
  bool known = ag_constant(g, first[1], &slope); /* otherwise parameters decide */
  bool corner = (known && !(fabs(slope) <= LEVEL)) || (ag_constant(g, first[2], &second) && !isfinite(second));
  /* unvaried: both branches agree there, it is no surface at which the equations switch */
  ag_id held = ag_apply1(g, AG_OP_HOLD, square), near = ag_apply2(g, AG_OP_LT, held, ag_num(g, NEAR)),
        steep_at_0 = ag_apply1(g, AG_OP_ABS, first[1]);
  if (!known) near = ag_apply2(g, AG_OP_AND, near, ag_apply2(g, AG_OP_LE, steep_at_0, ag_num(g, LEVEL)));
  ag_id rho = ag_apply1(g, AG_OP_SQRT, corner ? square : ag_select(g, near, one, square));
  ag_substitute(g, 1, &gr->rho, &rho, 2, of);
  ag_id z = of[0], ratio = ag_div(g, of[1], rho);
  if (!corner) {
    ag_id bend = ag_mul(g, first[2], ag_num(g, 0.5)), bottom = ag_add(g, first[0], ag_mul(g, bend, square));
    z = ag_select(g, near, bottom, z);
    ratio = ag_select(g, near, first[2], ratio);
  }
  ag_id down = ag_mul(g, ratio, w), steep = ag_apply1(g, AG_OP_SQRT, ag_add(g, one, ag_dot(g, down, down)));
  return (field){ag_div(g, ag_sub(g, N, down), steep), ag_sub(g, ag_dot(g, N, y), z)};
}

static field field_at(ag_graph *g, const ag_ground *gr, ag_id N, ag_id y) {
  ag_id w = y;
  if (gr->kind != AG_GROUND_SPHERE) w = ag_sub(g, y, ag_mul(g, ag_dot(g, N, y), N));
  if (gr->kind == AG_GROUND_BOWL) return bowl_at(g, gr, N, y, w);
  ag_id length = ag_norm(g, w), u = ag_div(g, w, length), n;
  if (gr->kind == AG_GROUND_CONE) {
    ag_id cosine = ag_apply1(g, AG_OP_COS, gr->slope), sine = ag_apply1(g, AG_OP_SIN, gr->slope);
    ag_id up = ag_mul(g, cosine, N), aside = ag_mul(g, sine, u);
    n = ag_sub(g, up, aside);
    return (field){n, ag_dot(g, y, n)};
  }
  return gr->inside ? (field){ag_neg(g, u), ag_sub(g, gr->radius, length)} : (field){u, ag_sub(g, length, gr->radius)};
}

/* ---- the cases ---- */

static void touch_plane(ag_model *m, ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body;
  ag_id R = m->coords[b->R].q, x = m->coords[b->x].q, up = ag_mul(g, ag_transpose(g, R), f->N);
  c->normal = f->N;
  bool odd = b->surface.kind <= AG_SURFACE_CYLINDER; /* X(-n) = -X(n): fewer signs */
  c->arm = odd ? ag_neg(g, ag_surface_point(g, &b->surface, up)) : ag_surface_point(g, &b->surface, ag_neg(g, up));
  if (b->centre) c->arm = ag_sub(g, c->arm, b->centre);
  c->point = ag_add(g, x, ag_mul(g, R, c->arm));
  if (b->surface.kind == AG_SURFACE_SPHERE) {
    /* R R^T N = N: on a plane the orientation of the ball does not matter */
    ag_id middle = ag_body_part(m, b, "middle"), down = ag_mul(g, b->surface.a, f->N);
    c->point = ag_sub(g, middle, down);
  }
  c->height = ag_neg(g, ag_dot(g, up, c->arm));
  add_implicit(g, c, &b->surface, ag_neg(g, up));
  c->gap = ag_sub(g, ag_dot(g, f->N, ag_sub(g, x, f->O)), c->height);
}

/* The profile of a bowl is already that of the centre of the ball. */
static void touch_ball(ag_model *m, ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body;
  ag_id r = b->surface.a, R = m->coords[b->R].q, G = ag_body_part(m, b, "middle"), d = ag_sub(g, G, f->O);
  field at = field_at(g, &c->ground, f->N, d);
  c->normal = at.n;
  c->gap = c->ground.kind == AG_GROUND_BOWL ? at.level : ag_sub(g, at.level, r);
  ag_id down = ag_neg(g, ag_mul(g, r, c->normal));
  c->point = ag_add(g, G, down);
  c->arm = ag_mul(g, ag_transpose(g, R), down);
  if (b->centre) c->arm = ag_sub(g, c->arm, b->centre);
}

/* R X(-R^T n) */
static ag_id outermost(ag_model *m, const ag_body *b, ag_id n) {
  ag_graph *g = m->graph;
  ag_id R = m->coords[b->R].q, down = ag_neg(g, ag_mul(g, ag_transpose(g, R), n));
  return ag_mul(g, R, ag_surface_point(g, &b->surface, down));
}

/* The rest once the normal is known. */
static void settle(ag_model *m, ag_contact *c, ag_id n) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body;
  ag_id R = m->coords[b->R].q, down = ag_neg(g, ag_mul(g, ag_transpose(g, R), n));
  c->normal = n;
  c->arm = ag_surface_point(g, &b->surface, down);
  if (b->centre) c->arm = ag_sub(g, c->arm, b->centre);
  c->point = ag_add(g, m->coords[b->x].q, ag_mul(g, R, c->arm));
  add_implicit(g, c, &b->surface, down);
}

/* (1) */
static void touch_hollow(ag_model *m, ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body;
  ag_id y = ag_input(g, "contact", 3, 1, AG_LEAF_REAL), d = ag_sub(g, ag_body_part(m, b, "middle"), f->O);
  field here = field_at(g, &c->ground, f->N, y);
  ag_id P = ag_add(g, d, outermost(m, b, here.n)), x = d;
  for (int i = 0; i < NEAR_STEPS; i++) {
    ag_id next = P;
    ag_substitute(g, 1, &y, &x, 1, &next);
    x = ag_body_hold(g, next);
  }
  x = ag_touch_root(g, y, ag_sub(g, P, y), x, &c->misfit);
  field at = field_at(g, &c->ground, f->N, x);
  c->stray = ag_div(g, c->misfit, ag_norm(g, x));
  settle(m, c, at.n);
  c->gap = at.level;
  /* -dF/dy has the eigenvalues 1 (along n) and 1 - (radius of the body)/(radius of the ground): both positive iff their
   * product and their sum are */
  ag_id K = ag_neg(g, ag_jacobian(g, ag_sub(g, P, y), 1, &y)), sum = ag_num(g, -1);
  for (int i = 0; i < 3; i++) sum = ag_add(g, sum, ag_entry(g, K, i, i));
  c->fit = ag_apply2(g, AG_OP_MIN, ag_det(g, K), sum);
  ag_substitute(g, 1, &y, &x, 1, &c->fit);
}

/* (2): Y(n) = A n, or that of the surface of another body */
static void touch_convex(ag_model *m, ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body, *other = c->ground.carrier;
  ag_id y = ag_input(g, "contact", 3, 1, AG_LEAF_REAL), d = ag_sub(g, ag_body_part(m, b, "middle"), f->O),
        L = ag_norm(g, d), length = ag_norm(g, y), n = ag_div(g, y, length), Y;
  if (c->ground.kind == AG_GROUND_BODY) {
    ag_id Q = m->coords[other->R].q;
    Y = ag_mul(g, Q, ag_surface_point(g, &other->surface, ag_mul(g, ag_transpose(g, Q), n)));
  } else {
    Y = ag_mul(g, c->ground.radius, n);
  }
  ag_id apart = ag_div(g, ag_sub(g, ag_add(g, d, outermost(m, b, n)), Y), L), x = ag_div(g, d, L);
  ag_id up = ag_add(g, n, apart);
  for (int i = 0; i < NEAR_STEPS; i++) {
    ag_id next = up;
    ag_substitute(g, 1, &y, &x, 1, &next);
    x = ag_body_hold(g, ag_div(g, next, ag_norm(g, next)));
  }
  ag_id e = ag_sub(g, length, ag_num(g, 1)), F = ag_sub(g, apart, ag_mul(g, e, n));
  x = ag_touch_root(g, y, F, x, &c->misfit);
  ag_id far = ag_norm(g, x), normal = ag_div(g, x, far);
  c->stray = c->misfit;
  settle(m, c, normal);
  if (c->ground.kind == AG_GROUND_BODY) {
    ag_id Q = m->coords[other->R].q;
    add_implicit(g, c, &other->surface, ag_mul(g, ag_transpose(g, Q), normal));
  }
  c->gap = ag_mul(g, L, ag_sub(g, far, ag_num(g, 1)));
}

void ag_touch(ag_model *m, ag_contact *c, const ag_ground_frame *f) {
  bool ball = c->body->surface.kind == AG_SURFACE_SPHERE, sphere = c->ground.kind == AG_GROUND_SPHERE;
  if (c->ground.kind == AG_GROUND_PLANE) touch_plane(m, c, f);
  else if (c->ground.kind == AG_GROUND_BODY || (sphere && !ball && !c->ground.inside)) touch_convex(m, c, f);
  else if (ball) touch_ball(m, c, f);
  else touch_hollow(m, c, f);
}

/* ---- start ---- */

bool ag_touch_smooth(ag_model *m, const ag_contact *c) {
  ag_id one = ag_num(m->graph, 1), zero = ag_num(m->graph, 0), d[2];
  double first, second;
  ag_forward(m->graph, 1, &c->ground.rho, &one, 1, &c->ground.profile, d);
  ag_forward(m->graph, 1, &c->ground.rho, &one, 1, d, d + 1);
  ag_substitute(m->graph, 1, &c->ground.rho, &zero, 2, d);
  return ag_body_number(m, d[0], &first) && ag_body_number(m, d[1], &second) && fabs(first) <= LEVEL &&
         isfinite(second);
}

/* A normal for the start of a contact, and the corresponding point of the ground relative to O: at the bottom of a
 * hollow ground, on top of others. */
static ag_id first_normal(ag_model *m, const ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  ag_id e3 = ag_body_axis(g, 2), e1 = ag_body_axis(g, 0);
  if (c->ground.kind == AG_GROUND_BOWL) return f->N;
  if (c->ground.kind != AG_GROUND_CYLINDER) return e3;
  if (f->upright) return c->ground.inside ? ag_neg(g, e1) : e1;
  /* an axis along e3 is recognised only when its value is inserted */
  ag_id u = ag_sub(g, e3, ag_mul(g, ag_dot(g, f->N, e3), f->N)),
        w = ag_sub(g, e1, ag_mul(g, ag_dot(g, f->N, e1), f->N));
  ag_id square = ag_dot(g, u, u), lies = ag_apply2(g, AG_OP_LT, ag_num(g, 1e-12), square),
        v = ag_select(g, lies, u, c->ground.inside ? ag_neg(g, w) : w);
  return ag_div(g, v, ag_norm(g, v));
}

ag_id ag_touch_start(ag_model *m, const ag_contact *c, const ag_ground_frame *f) {
  ag_graph *g = m->graph;
  const ag_body *b = c->body;
  if (c->ground.kind == AG_GROUND_PLANE) return ag_add(g, f->O, ag_mul(g, c->height, f->N));
  ag_id n = first_normal(m, c, f), Y;
  if (c->ground.kind == AG_GROUND_BODY) {
    ag_id Q = m->coords[c->ground.carrier->R].q;
    Y = ag_mul(g, Q, ag_surface_point(g, &c->ground.carrier->surface, ag_mul(g, ag_transpose(g, Q), n)));
  } else if (c->ground.kind == AG_GROUND_BOWL) {
    ag_id zero = ag_num(g, 0), bottom = c->ground.profile;
    ag_substitute(g, 1, &c->ground.rho, &zero, 1, &bottom);
    if (b->surface.kind == AG_SURFACE_SPHERE) bottom = ag_sub(g, bottom, b->surface.a); /* that of its centre */
    Y = ag_mul(g, bottom, n);
  } else {
    Y = ag_mul(g, c->ground.inside ? ag_neg(g, c->ground.radius) : c->ground.radius, n);
  }
  ag_id reach = b->surface.kind == AG_SURFACE_SPHERE ? ag_neg(g, ag_mul(g, b->surface.a, n)) : outermost(m, b, n);
  ag_id G = ag_sub(g, ag_add(g, f->O, Y), reach);
  return b->centre ? ag_add(g, G, ag_mul(g, m->coords[b->R].q, b->centre)) : G;
}
