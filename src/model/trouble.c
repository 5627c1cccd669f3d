/* SPDX-License-Identifier: MIT
 * Impossible contacts. Those known from the shape alone, with the current parameters, are an error at once. Those that
 * depend on the position of the body have a margin, which must be positive at the start, and an event where it falls
 * through zero. */
#include <math.h>

#include "model/body_internal.h"

/* ---- from the shape ---- */

/* r, its misfit, h, and the residuals of h' = r cos and f' = r sin of a meridian at n angles, with the current
 * parameters. */
static void sample_meridian(ag_model *m, const ag_surface *s, int n, double *out) {
  ag_graph *g = m->graph;
  ag_id one = ag_num(g, 1), of[2] = {s->h, s->f}, d[2], sine = ag_apply1(g, AG_OP_SIN, s->theta),
        cosine = ag_apply1(g, AG_OP_COS, s->theta), x[4];
  ag_forward(g, 1, &s->theta, &one, 2, of, d);
  ag_id hc = ag_mul(g, d[0], cosine), fs = ag_mul(g, d[1], sine), hs = ag_mul(g, d[0], sine),
        fc = ag_mul(g, d[1], cosine);
  x[0] = s->radius ? s->radius : ag_add(g, hc, fs);
  x[1] = s->radius ? ag_num(g, 0) : ag_sub(g, hs, fc);
  x[2] = s->h;
  x[3] = ag_num(g, 0);
  if (s->radius) {
    ag_id aside = ag_apply1(g, AG_OP_ABS, ag_sub(g, d[0], ag_mul(g, s->radius, cosine)));
    ag_id along = ag_apply1(g, AG_OP_ABS, ag_sub(g, d[1], ag_mul(g, s->radius, sine)));
    x[3] = ag_add(g, aside, along);
  }
  ag_body_parameters(m, 4, x);
  ag_bind bind = {s->theta, AG_SEG_Z, 0};
  ag_tape *tape = ag_tape_create(g, 1, &bind, 4, x);
  double *slots = ag_heap_alloc(sizeof(double) * (size_t)(tape->n_slot + 1));
  (void)ag_tape_prep(tape, NULL, slots);
  for (int i = 0; i < n; i++) {
    double theta = M_PI * (i + 0.5) / n;
    const double *seg[AG_SEG_COUNT] = {[AG_SEG_Z] = &theta};
    (void)ag_tape_eval(tape, seg, slots, out + 4 * i);
  }
  free(slots);
  ag_tape_free(tape);
}

static ag_status check_meridian(ag_ctx *ctx, ag_model *m, const ag_body *b, ag_pos pos) {
  enum { N = 60 };
  const ag_surface *s = &b->surface;
  double v[4 * N], size = 0;
  if (s->rough) {
    ag_ctx_error(ctx, pos,
                 "where the radius of curvature of `%s` jumps cannot be determined: compare theta or cos(theta) with "
                 "an expression "
                 "free of theta, at most %d times",
                 b->name, AG_MAX_JUMPS);
    return AG_WRONG;
  }
  sample_meridian(m, s, N, v);
  for (int i = 0; i < N; i++) size = fmax(size, isfinite(v[4 * i + 2]) ? fabs(v[4 * i + 2]) : 0);
  for (int i = 0; i < N; i++) {
    double theta = M_PI * (i + 0.5) / N, r = v[4 * i], h = v[4 * i + 2];
    if (!isfinite(r) || !isfinite(h) || !(v[4 * i + 3] <= 1e-6 * (fabs(r) + size))) {
      ag_ctx_error(
          ctx, pos,
          "the meridian of `%s` cannot be computed from its radius of curvature, %.3g at theta = %.3g: is that "
          "finite and smooth for all theta from 0 to pi?",
          b->name, r, theta);
      return AG_WRONG;
    }
    if (fabs(v[4 * i + 1]) > 1e-6 * (fabs(r) + size)) {
      ag_ctx_error(ctx, pos,
                   "the meridian of `%s` is not one: h' = r cos(theta) and f' = r sin(theta) require h' sin = f' cos, "
                   "which is off by %.3g at theta = %.3g",
                   b->name, v[4 * i + 1], theta);
      return AG_WRONG;
    }
    if (r < -1e-9 * size || h < -1e-9 * size) {
      ag_ctx_error(ctx, pos, "`%s` is not convex: %s is %.3g at theta = %.3g", b->name,
                   r < 0 ? "its radius of curvature" : "the distance from its axis", r < 0 ? r : h, theta);
      return AG_WRONG;
    }
  }
  return AG_OK;
}

/* A ball in a hollow ground must be smaller. */
static ag_status check_fit(ag_ctx *ctx, ag_model *m, const ag_body *b, const ag_ground *gr, ag_pos pos) {
  double r, A;
  if (b->surface.kind != AG_SURFACE_SPHERE || !gr->inside ||
      (gr->kind != AG_GROUND_SPHERE && gr->kind != AG_GROUND_CYLINDER))
    return AG_OK;
  if (!ag_body_number(m, b->surface.a, &r) || !ag_body_number(m, gr->radius, &A) || r < A) return AG_OK;
  ag_ctx_error(ctx, pos, "`%s` has the radius %.6g and does not fit into the %s of radius %.6g", b->name, r,
               gr->kind == AG_GROUND_SPHERE ? "sphere" : "cylinder", A);
  return AG_WRONG;
}

ag_status ag_trouble_shape(ag_ctx *ctx, ag_model *m, const ag_body *b, const ag_ground *gr, ag_pos pos) {
  const ag_body *both[2] = {b, gr->kind == AG_GROUND_BODY ? gr->carrier : NULL};
  for (int i = 0; i < 2; i++)
    if (both[i] && both[i]->surface.kind == AG_SURFACE_REVOLUTION) AG_TRY(check_meridian(ctx, m, both[i], pos));
  return check_fit(ctx, m, b, gr, pos);
}

/* ---- from the position ---- */

/* word NULL: no event. */
static void margin(ag_model *m, const ag_contact *c, const char *word, const char *text, ag_id x, bool cuts,
                   ag_pos pos) {
  AG_MODEL_PUSH(m, margins, ((ag_item){c->body->name, text, x, pos}));
  if (!word || !c->ground.watch) return;
  ag_event e = {.x = x, .direction = -1, .terminal = true, .cuts = cuts, .pos = pos};
  e.name = ag_body_word(m, c->body, word, c->body->n_contact);
  AG_MODEL_PUSH(m, events, e);
}

/* Gauss curvature grad.adj(H) grad/|grad|^4 times the mean square of the half axes; adj(H) of a symmetric H by the
 * cross products of its rows. */
static ag_id bend(ag_graph *g, const ag_surface *s, ag_id grad, ag_id H) {
  ag_id row[3], sum = ag_num(g, 0), half[3] = {s->a, s->b, s->c}, size = ag_num(g, 0), square = ag_dot(g, grad, grad);
  for (int i = 0; i < 3; i++) {
    ag_id e[3];
    for (int k = 0; k < 3; k++) e[k] = ag_entry(g, H, i, k);
    row[i] = ag_stack(g, 3, 1, e);
    size = ag_add(g, size, ag_mul(g, half[i], half[i]));
  }
  for (int i = 0; i < 3; i++) {
    ag_id minor = ag_dot(g, grad, ag_cross(g, row[(i + 1) % 3], row[(i + 2) % 3])), entry = ag_entry(g, grad, i, 0);
    sum = ag_add(g, sum, ag_mul(g, entry, minor));
  }
  ag_id curvature = ag_div(g, sum, ag_mul(g, square, square));
  return ag_mul(g, curvature, ag_mul(g, ag_num(g, 1.0 / 3), size));
}

/* At outward normal n: positive if the Hessian of f is positive definite (smallest leading minor relative to the
 * diagonal) and the surface is not nearly flat. */
static ag_id definite(ag_graph *g, const ag_surface *s, ag_id n) {
  static const double PLAIN = 1e-9;
  ag_id one = ag_num(g, 1), x[2], X = ag_surface_point(g, s, n), size = ag_num(g, 0);
  if (s->turn) X = ag_mul(g, ag_transpose(g, s->turn), X);
  ag_reverse(g, 1, &s->f, &one, 1, &s->p, &x[0]);
  x[1] = ag_jacobian(g, x[0], 1, &s->p);
  ag_substitute(g, 1, &s->p, &X, 2, x);
  ag_id curvature = bend(g, s, x[0], x[1]), curved = ag_sub(g, curvature, ag_num(g, PLAIN));
  for (int i = 0; i < 3; i++) size = ag_add(g, size, ag_apply1(g, AG_OP_ABS, ag_entry(g, x[1], i, i)));
  ag_id H = ag_div(g, x[1], size);
  ag_id e[4] = {ag_entry(g, H, 0, 0), ag_entry(g, H, 0, 1), ag_entry(g, H, 1, 0), ag_entry(g, H, 1, 1)};
  ag_id two = ag_det(g, ag_stack(g, 2, 2, e)), three = ag_det(g, H), least = ag_apply2(g, AG_OP_MIN, e[0], two);
  least = ag_apply2(g, AG_OP_MIN, least, three);
  return ag_apply2(g, AG_OP_MIN, least, curved);
}

/* Both edges touch when the axis of a cylinder is perpendicular to the normal. */
static void add_edges(ag_model *m, const ag_contact *c, ag_pos pos) {
  static const double BOTH = 1e-12;
  ag_graph *g = m->graph;
  ag_id axis = ag_mul(g, m->coords[c->body->R].q, ag_surface_axis(g, &c->body->surface));
  ag_id side = ag_dot(g, axis, c->normal), square = ag_mul(g, side, side);
  margin(m, c, NULL, "lies on both of its edges: a cylinder rolls on one of them, so tilt it a little",
         ag_sub(g, square, ag_num(g, BOTH)), false, pos);
}

/* The corner on the axis of a cone or bowl: the centre of a ball, or the contact point of another body, comes nearer to
 * the axis than APEX times the arm of the contact. */
static void add_apex(ag_model *m, const ag_contact *c, ag_pos pos) {
  static const double APEX = 1e-3;
  ag_graph *g = m->graph;
  ag_ground_frame f = ag_contact_frame(m, &c->ground);
  bool ball = c->body->surface.kind == AG_SURFACE_SPHERE;
  ag_id y = ag_sub(g, ball ? ag_body_part(m, c->body, "middle") : c->point, f.O);
  ag_id w = ag_sub(g, y, ag_mul(g, ag_dot(g, f.N, y), f.N));
  ag_id size = ball ? ag_mul(g, c->body->surface.a, c->body->surface.a) : ag_dot(g, c->arm, c->arm);
  ag_id part = ag_div(g, ag_dot(g, w, w), size);
  margin(m, c, "apex", "is at the corner on the axis of its ground: move it away from the axis",
         ag_sub(g, part, ag_num(g, APEX * APEX)), true, pos);
}

/* Flat: sin^2 of the angle between axis and normal below FLAT. Bent: the body would touch in two points, or the
 * implicit surface is not convex. */
void ag_trouble_place(ag_model *m, const ag_contact *c, ag_pos pos) {
  static const double FLAT = 1e-6, STRAY = 1e-8;
  ag_graph *g = m->graph;
  const ag_surface *s = &c->body->surface;
  ag_id R = m->coords[c->body->R].q;
  if (s->kind == AG_SURFACE_DISK || s->kind == AG_SURFACE_TORUS || s->kind == AG_SURFACE_CYLINDER) {
    ag_id axis = ag_surface_axis(g, s), up = ag_mul(g, ag_transpose(g, R), c->normal);
    ag_id tilt = ag_cross(g, axis, up);
    ag_id square = ag_dot(g, tilt, tilt), apart = ag_sub(g, square, ag_num(g, FLAT));
    const char *text = ag_arena_printf(m->arena,
                                       "lies flat on the ground: it touches in more than one point; tilt it, for "
                                       "example with `start %s.theta = 70*deg`",
                                       c->body->name);
    margin(m, c, "flat", text, apart, false, pos);
  }
  if (s->kind == AG_SURFACE_CYLINDER) add_edges(m, c, pos);
  if (s->kind == AG_SURFACE_CONVEX)
    margin(m, c, "dent",
           "is not convex or flat where it touches: the second derivatives of its function are not positive definite",
           definite(g, s, ag_neg(g, ag_mul(g, ag_transpose(g, R), c->normal))), false, pos);
  if (c->stray)
    margin(m, c, "lost",
           "loses its contact point: the Newton steps do not converge (a flat or strongly curved region?)",
           ag_sub(g, ag_num(g, STRAY), c->stray), true, pos);
  if (c->fit)
    margin(m, c, "wedge", "is less curved than the ground where it touches: it would touch in two points", c->fit,
           false, pos);
  if (c->ground.kind == AG_GROUND_CONE || (c->ground.kind == AG_GROUND_BOWL && !ag_touch_smooth(m, c)))
    add_apex(m, c, pos);
}
