/* SPDX-License-Identifier: MIT
 * A Lagrangian that is not continuous where the motion passes a switching surface would require an impulse: a step of
 * the potential, a mass that changes at once. So would a constraint that becomes another one. These are refused.
 * The surface s = 0 is searched by Newton's method from the start and from points of the domain; on it the difference
 * of both branches must vanish. A surface of time alone may change the potential, but not the momenta. A Lagrangian may
 * jump without a choice, too, at the cut of atan2 and at poles inside atan: there both sides are compared. */
#include <math.h>
#include <string.h>

#include "math/newton.h"
#include "mech/choices.h"

enum { POINTS = 24 };

static const double CONTINUOUS = 1e-8; /* of the sizes on both sides */

/* One switching function and the values that must not jump there. */
typedef struct leap {
  derive *d;
  bool timed;    /* s reads t alone */
  bool row;      /* the values are a row of the constraints: a common factor does not matter */
  bool sides;    /* there are no branches: the value is compared on both sides of the surface */
  ag_tape *tape; /* on the full state: s, its gradient in the tangent of q and in t, values on both sides */
  int n_value;
  double *out, *x, *delta;
  double worst; /* jump found */
} leap;

/* x with the branch k at +1, at -1, the others as their functions have them. */
static ag_id on_side(const ag_choices *f, int k, double side, ag_id x) {
  for (int i = f->n - 1; i >= 0; i--) {
    ag_id value = i == k ? ag_num(f->g, side) : ag_apply1(f->g, AG_OP_SIGN, f->s[i]);
    ag_substitute(f->g, 1, &f->branch[i], &value, 1, &x);
  }
  return x;
}

/* The equation s = 0, in units of its first value, for the state or, where s reads nothing else, for t. */
typedef struct surface {
  const leap *l;
  double t, first;
} surface;

static bool surface_eval(void *self, const double *x, double *F, double *J) {
  const surface *p = self;
  const leap *l = p->l;
  const ag_system *sys = l->d->sys;
  const double *gradient = l->out + 1;
  ag_tape_once(l->tape, l->timed ? x[0] : p->t, l->timed ? l->x : x, sys->params, NULL, l->out);
  F[0] = l->out[0] / p->first;
  if (l->timed) J[0] = gradient[sys->n.xi] / p->first;
  else
    for (int k = 0; k < sys->n.xi; k++) J[k] = gradient[k] / p->first;
  return true;
}

static void surface_retract(void *self, double *x, const double *d) {
  const surface *p = self;
  ag_retract(p->l->d->sys, x, d);
}

/* Is there a point of s = 0 near the state in l->x and t? The state is moved there, or t for the values of the tape. */
static bool onto_surface(leap *l, double t) {
  static const ag_newton_options options = {.max_iter = 40, .tol = 1e-14, .rounding = 1e-12, .step_tol = 1e-300};
  const ag_system *sys = l->d->sys;
  ag_tape_once(l->tape, t, l->x, sys->params, NULL, l->out);
  surface p = {.l = l, .t = t, .first = fabs(l->out[0])};
  if (p.first == 0) return true;
  ag_newton_system s = {.kind = AG_NEWTON_SQUARE, .m = 1, .n = 1, .self = &p, .eval = surface_eval};
  if (!l->timed) s.kind = AG_NEWTON_SHORTEST, s.n = sys->n.xi, s.n_x = sys->n.x, s.retract = surface_retract;
  if (s.n == 0) return false;
  double *work = ag_heap_alloc(sizeof(double) * ag_newton_work(&s));
  double left = ag_newton(&s, &options, l->timed ? &t : l->x, work).residual;
  free(work);
  return left <= options.rounding;
}

/* A row that is zero on one side begins or ceases to act, which is watched on the way (run/rows.c). */
static void compare_rows(leap *l, const double *plus, const double *minus) {
  double pp = 0, pm = 0, mm = 0, rest = 0;
  for (int i = 0; i < l->n_value; i++) pp += plus[i] * plus[i], pm += plus[i] * minus[i], mm += minus[i] * minus[i];
  if (!isfinite(pp + mm) || pp == 0 || mm == 0) return;
  for (int i = 0; i < l->n_value; i++) rest = fmax(rest, fabs(plus[i] - pm / mm * minus[i]));
  if (rest > CONTINUOUS * sqrt(pp) && rest > l->worst) l->worst = rest;
}

/* The branches differ by `jump` where s is zero up to rounding. Does the difference grow with s, as that of a bend
 * does? (A thousand times as far away that of a jump is the same. Near a narrow hill far from the origin the rounding
 * of x is a good part of its width.) */
static bool bends(leap *l, double t, double jump) {
  const ag_system *sys = l->d->sys;
  const double s = l->out[0], *gradient = l->out + 1, *value = l->out + 2 + sys->n.xi;
  double square = 0;
  for (int k = 0; k < sys->n.xi; k++) square += gradient[k] * gradient[k];
  for (int k = 0; k < sys->n.xi; k++) l->delta[k] = 1e3 * s * gradient[k] / square;
  ag_retract(sys, l->x, l->delta);
  ag_tape_once(l->tape, t, l->x, sys->params, NULL, l->out);
  return s != 0 && fabs(value[0] - value[1]) > 100 * jump;
}

static void compare(leap *l, double t) {
  const double *plus = l->out + 2 + l->d->sys->n.xi, *minus = plus + l->n_value;
  if (l->row) {
    compare_rows(l, plus, minus);
    return;
  }
  for (int i = 0; i < l->n_value; i++) {
    double size = fabs(plus[i]) + fabs(minus[i]), jump = fabs(plus[i] - minus[i]);
    if (!isfinite(size) || !(jump > CONTINUOUS * size) || !(jump > l->worst)) continue;
    if (l->timed || !bends(l, t, jump)) l->worst = jump;
  }
}

/* The difference of the value across the surface, each side `far` from the point in x0. */
static double across(leap *l, double t, const double *x0, double far) {
  const ag_system *sys = l->d->sys;
  double value[2], size = 0;
  for (int side = 0; side < 2; side++) {
    memcpy(l->x, x0, sizeof(double) * (size_t)sys->n.x);
    ag_tape_once(l->tape, t, l->x, sys->params, NULL, l->out);
    for (int k = 0; k < sys->n.xi; k++) size = fmax(size, fabs(l->out[1 + k]));
    for (int k = 0; k < sys->n.xi; k++) l->delta[k] = (side ? -far : far) * l->out[1 + k] / size;
    ag_retract(sys, l->x, l->delta);
    ag_tape_once(l->tape, t, l->x, sys->params, NULL, l->out);
    value[side] = l->out[2 + sys->n.xi];
  }
  double jump = value[0] - value[1];
  return fabs(jump) > 1e-9 * (fabs(value[0]) + fabs(value[1])) ? jump : 0;
}

/* At half the distance a jump is unchanged, a smooth difference is half as large, a pole twice as large. */
static void compare_sides(leap *l, double t) {
  static const double FAR = 1e-5;
  size_t size = sizeof(double) * (size_t)l->d->sys->n.x;
  double *x0 = ag_heap_alloc(size);
  memcpy(x0, l->x, size);
  double one = across(l, t, x0, FAR), half = across(l, t, x0, 0.5 * FAR);
  if (isfinite(one) && fabs(one - half) < 0.1 * fabs(half) && fabs(half) > l->worst) l->worst = fabs(half);
  free(x0);
}

static void search(leap *l) {
  ag_system *sys = l->d->sys;
  ag_sampler sampler;
  ag_sampler_init(&sampler, sys, sys->params, 1);
  for (int i = 0; i < POINTS; i++) {
    double t = sys->t0;
    ag_system_state0(sys, l->x);
    if (i && !ag_sampler_next(&sampler, &t, l->x)) break;
    for (int k = 0; k < sys->n.xi; k++) l->x[sys->n.q + k] = 2 * ag_random_unit(&sampler.state) - 1;
    if (!onto_surface(l, t)) continue;
    if (!l->sides) compare(l, t);
    else if (ag_sampler_inside(&sampler, t, l->x)) compare_sides(l, t);
  }
  ag_sampler_done(&sampler);
}

/* Outputs of the tape for choice k of the values. */
static void make_tape(leap *l, const ag_choices *f, int k, int n, const ag_id *values) {
  derive *d = l->d;
  ag_graph *g = d->g;
  int first = 2 + d->nc; /* of the values */
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(first + 2 * n)),
        s = l->sides ? f->s[0] : on_side(f, -1, 0, f->s[k]), one = ag_num(g, 1);
  outs[0] = s;
  ag_reverse(g, 1, &s, &one, d->nc, d->q, outs + 1);
  ag_reverse(g, 1, &s, &one, 1, &d->m->t, outs + 1 + d->nc);
  for (int i = 0; i < n; i++) {
    outs[first + i] = l->sides ? values[i] : on_side(f, k, 1, values[i]);
    outs[first + n + i] = l->sides ? values[i] : on_side(f, k, -1, values[i]);
  }
  l->tape = ag_full_tape(d->sys, first + 2 * n, outs);
  l->out = ag_heap_alloc(sizeof(double) * (size_t)(l->tape->n_out + 1));
  l->n_value = (l->tape->n_out - 2 - d->sys->n.xi) / 2;
  free(outs);
}

/* The largest jump at surface k of the values. */
static double leap_at(leap l, const ag_choices *f, int k, int n, const ag_id *values) {
  const derive *d = l.d;
  l.x = ag_heap_alloc(sizeof(double) * (size_t)(d->sys->n.x + 1));
  l.delta = ag_heap_alloc(sizeof(double) * (size_t)(d->sys->n.xi + 1));
  make_tape(&l, f, k, n, values);
  search(&l);
  ag_tape_free(l.tape);
  free(l.x), free(l.delta), free(l.out);
  return l.worst;
}

static ag_choices choices_of(derive *d, ag_id *x) {
  ag_choices f = {.g = d->g, .arena = d->sys->arena};
  f.inputs = ag_heap_alloc(sizeof(ag_id) * (size_t)(2 * d->nc + 1));
  for (int i = 0; i < d->nc; i++) f.inputs[f.n_in++] = d->q[i], f.inputs[f.n_in++] = d->xi[i];
  f.inputs[f.n_in++] = d->m->t;
  ag_choices_find(&f, 1, x, 0, NULL, 0);
  if (f.n_rule) ag_substitute(f.g, f.n_rule, f.from, f.to, 1, x);
  return f;
}

static void complain(derive *d, const ag_choices *f, int k, double jump, const char *what, const char *why,
                     ag_pos pos) {
  ag_text s = {0};
  ag_print(d->g, on_side(f, -1, 0, f->s[k]), &s);
  ag_ctx_error(d->ctx, pos, "%s by %.3g where %s = 0: %s", what, jump, ag_text_cstr(&s), why);
  ag_text_done(&s);
}

static ag_status check_lagrangian(derive *d) {
  ag_id x = d->m->lagrangian, one = ag_num(d->g, 1), *p = ag_heap_alloc(sizeof *p * (size_t)(d->nc + 1));
  ag_choices f = choices_of(d, &x);
  ag_status status = AG_OK;
  if (f.n) ag_reverse(d->g, 1, &x, &one, d->nc, d->xi, p);
  for (int k = 0; k < f.n && status == AG_OK; k++) {
    bool timed = !ag_depends(d->g, 1, &f.s[k], d->nc, d->q);
    if (ag_depends(d->g, 1, &f.s[k], d->nc, d->xi) || !ag_depends(d->g, 1, &x, 1, &f.branch[k])) continue;
    double jump = leap_at((leap){.d = d, .timed = timed}, &f, k, timed ? d->nc : 1, timed ? p : &x);
    if (jump == 0) continue;
    complain(
        d, &f, k, jump, timed ? "the momenta jump" : "the Lagrangian jumps",
        timed ? "velocities would have to change at once. Let them change continuously"
              : "the motion would need an impulse there. Make it continuous, if steep, or model the impulse as a force",
        d->m->lagrangian_pos);
    status = AG_WRONG;
  }
  ag_choices_done(&f);
  free(p);
  return status;
}

static ag_status check_row(derive *d, int row) {
  ag_id x = d->row_x[row], one = ag_num(d->g, 1), *values = ag_heap_alloc(sizeof *values * (size_t)(d->nc + 1));
  ag_choices f = choices_of(d, &x);
  ag_status status = AG_OK;
  values[d->nc] = x;
  if (f.n) ag_reverse(d->g, 1, &x, &one, d->nc, d->xi, values);
  for (int k = 0; k < f.n && status == AG_OK; k++) {
    bool timed = !ag_depends(d->g, 1, &f.s[k], d->nc, d->q);
    if (ag_depends(d->g, 1, &f.s[k], d->nc, d->xi)) continue;
    double jump = leap_at((leap){.d = d, .timed = timed, .row = true}, &f, k, d->nc + 1, values);
    if (jump == 0) continue;
    complain(d, &f, k, jump, "the constraint jumps", "velocities would have to change at once", d->sys->rows[row].pos);
    status = AG_WRONG;
  }
  ag_choices_done(&f);
  free(values);
  return status;
}

/* ---- cuts and poles inside functions that have a limit there ---- */

/* Places where the Lagrangian may jump without a choice in it: the cut of atan2, and poles inside atan, atan2 and tanh
 * (atan(tan x), atan(y/x)), each as a function s that is zero there, and `whole`, the atan2 itself, or 0. */
typedef struct cut {
  ag_id s, whole;
} cut;
typedef struct cuts {
  derive *d;
  int n, cap;
  cut *at;
} cuts;

static void add_cut(cuts *c, ag_id s, ag_id whole) {
  const derive *d = c->d;
  if (!ag_depends(d->g, 1, &s, d->nc, d->q) || ag_depends(d->g, 1, &s, d->nc, d->xi)) return;
  for (int i = 0; i < c->n; i++)
    if (c->at[i].s == s) return;
  AG_PUSH(c->at, c->n, c->cap);
  c->at[c->n++] = (cut){s, whole};
}

/* The nodes that the value x depends on, as one flag per node up to x. */
static bool *cone(const ag_graph *g, ag_id x) {
  bool *seen = ag_heap_alloc((size_t)x + 1);
  seen[x] = true;
  for (ag_id k = x; k > 0; k--)
    for (int a = 0; seen[k] && a < ag_node_n_arg(g, k); a++) seen[ag_node_arg(g, k, a)] = true;
  return seen;
}

static void find_poles(cuts *c, ag_id x) {
  ag_graph *g = c->d->g;
  bool *seen = cone(g, x);
  for (ag_id k = 1; k <= x; k++) {
    if (!seen[k]) continue;
    if (ag_node_op(g, k) == AG_OP_DIV) add_cut(c, ag_node_arg(g, k, 1), 0);
    if (ag_node_op(g, k) == AG_OP_TAN) add_cut(c, ag_apply1(g, AG_OP_COS, ag_node_arg(g, k, 0)), 0);
  }
  free(seen);
}

static void find_cuts(cuts *c, ag_id x) {
  ag_graph *g = c->d->g;
  bool *seen = cone(g, x);
  for (ag_id k = 1; k <= x; k++) {
    ag_op op = ag_node_op(g, k);
    if (!seen[k] || (op != AG_OP_ATAN && op != AG_OP_ATAN2 && op != AG_OP_TANH)) continue;
    if (op == AG_OP_ATAN2) add_cut(c, ag_node_arg(g, k, 0), k);
    find_poles(c, k);
  }
  free(seen);
}

static double leap_across(derive *d, ag_id s) {
  leap l = {.d = d, .sides = true};
  ag_choices none = {.g = d->g, .n = 1, .s = &s, .branch = &s};
  l.x = ag_heap_alloc(sizeof(double) * (size_t)(d->sys->n.x + 1));
  l.delta = ag_heap_alloc(sizeof(double) * (size_t)(d->sys->n.xi + 1));
  make_tape(&l, &none, -1, 1, &d->m->lagrangian);
  search(&l);
  ag_tape_free(l.tape);
  free(l.x), free(l.delta), free(l.out);
  return l.worst;
}

/* The value at the start. */
static double at_start(const derive *d, ag_id x) {
  const ag_system *sys = d->sys;
  double v, *state = ag_heap_alloc(sizeof *state * (size_t)(sys->n.x + 1));
  ag_tape *tape = ag_full_tape(d->sys, 1, &x);
  ag_system_state0(sys, state);
  ag_tape_once(tape, sys->t0, state, sys->params, NULL, &v);
  ag_tape_free(tape);
  free(state);
  return v;
}

static void advise_atan2(const derive *d, ag_id whole, ag_text *out) {
  static const double INSIDE = 3.14;
  ag_graph *g = d->g;
  if (!(fabs(at_start(d, whole)) >= INSIDE)) {
    ag_text_str(out, ", or, if the motion keeps away from it, write `domain ");
    ag_print(g, whole, out);
    ag_text_str(out, " in -3.14..3.14`");
    return;
  }
  ag_id y = ag_neg(g, ag_node_arg(g, whole, 0)), x = ag_neg(g, ag_node_arg(g, whole, 1));
  ag_id turned = ag_apply2(g, AG_OP_ATAN2, y, x);
  ag_text_str(out, ". The start lies there: write `");
  ag_print(g, turned, out);
  ag_text_str(out, " + pi` in place of `");
  ag_print(g, whole, out);
  ag_text_str(out, "`, whose jump is on the other side, and, if the motion keeps away from that, `domain ");
  ag_print(g, turned, out);
  ag_text_str(out, " in -3.14..3.14`");
}

/* What to write: a `domain` that excludes the place and contains the start, if the start does not lie there. */
static void advise(const derive *d, const cut *at, ag_text *out) {
  static const double NEAR = 1e-6, FAR = 1e6;
  if (at->whole) {
    advise_atan2(d, at->whole, out);
    return;
  }
  double v = at_start(d, at->s), lo = fmin(NEAR, 0.5 * fabs(v)), hi = fmax(FAR, 2 * fabs(v));
  if (!(lo > 0)) return;
  ag_text_str(out, ", or, if the motion keeps away from it, write `domain ");
  ag_print(d->g, at->s, out);
  ag_text_printf(out, " in %.3g..%.3g`", v < 0 ? -hi : lo, v < 0 ? -lo : hi);
}

static ag_status check_cuts(derive *d) {
  cuts c = {.d = d};
  ag_status status = AG_OK;
  find_cuts(&c, d->m->lagrangian);
  for (int i = 0; i < c.n && status == AG_OK; i++) {
    double jump = leap_across(d, c.at[i].s);
    if (jump == 0) continue;
    ag_text s = {0}, domain = {0};
    ag_print(d->g, c.at[i].s, &s);
    advise(d, &c.at[i], &domain);
    ag_ctx_error(d->ctx, d->m->lagrangian_pos,
                 "the Lagrangian jumps by %.3g where %s = 0: the motion would need an impulse there. Make it "
                 "continuous%s",
                 jump, ag_text_cstr(&s), ag_text_cstr(&domain));
    ag_text_done(&s);
    ag_text_done(&domain);
    status = AG_WRONG;
  }
  free(c.at);
  return status;
}

ag_status ag_jumps_check(derive *d) {
  AG_TRY(check_lagrangian(d));
  AG_TRY(check_cuts(d));
  if (d->sys->elimination == AG_ELIM_SADDLE || ag_has_cuts(d->m)) return AG_OK;
  for (int r = 0; r < d->sys->n.row; r++)
    if (d->sys->rows[r].kept) AG_TRY(check_row(d, r)); /* the others are watched */
  return AG_OK;
}
