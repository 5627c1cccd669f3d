/* SPDX-License-Identifier: MIT
 * Zero crossings. Pieces of the step in which an event function can cross zero are isolated by enclosures (look.c,
 * isolate.h); a change of sign in one of them is a crossing, which is then located to rounding with real steps of the
 * method from the start of the step, put back onto the constraints, so that neither time nor state carries the error of
 * the interpolation. Functions that cannot be enclosed have a separate interpolant (fit.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/vmath.h"
#include "run/fit.h"
#include "run/run_internal.h"

enum { SAMPLES = 8 };

/* A piece of the step so short that a function which changes much in it jumps. */
static const double NARROW = 1e-9;
/* An undecided piece this long, on a curve known to rounding: the search was given up. */
static const double UNDECIDED = 1e-2;

/* A start this near to a surface, relative to how far the first step leaves it, lies on it: starts are solved for to
 * rounding. */
static const double ON_START = 1e-10;
/* Of two events: at the same time, up to rounding. */
static const double SAME_TIME = 1e-13;

static int sign_of(double v) { return (v > 0) - (v < 0); }

/* Value of function e at time s by a real step; NaN if that fails. */
static double value_at(ag_mover *m, double t, double s, int e) {
  if (!ag_mover_settled(m, t, s)) return NAN;
  return ag_mover_watch(m, s, m->zt, m->c1, m->g1) ? NAN : m->g1[e];
}

/* The same for the place of a corner, to 1 %: by one step of the classical method of order four, which takes three
 * right-hand sides. That is enough within a step that has been tried. Stiff systems: by a real step. */
static double value_near(ag_mover *m, double t, double s, int e) {
  if (ag_stepper_solves(m->method)) return value_at(m, t, s, e);
  static const double part[3] = {0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const int before = m->trouble;
  const double h = s - t;
  double *k = m->space + m->room.size, *sum = k + m->room.size; /* as in ag_mover_at() */
  for (int i = 0; i < m->n; i++) sum[i] = m->z[i] + weight[0] * h * m->dz[i];
  for (int j = 0; j < 3; j++) {
    const double *rate = j ? k : m->dz;
    for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + part[j] * h * rate[i];
    const int trouble = ag_mover_rhs(m, t + part[j] * h, m->zt, k);
    m->trouble = before;
    if (trouble) return NAN;
    for (int i = 0; i < m->n; i++) sum[i] += weight[j + 1] * h * k[i];
  }
  return ag_mover_watch(m, s, sum, m->c, m->g1) ? NAN : m->g1[e];
}

/* Root of event e in [a, b] (either direction of time), fa and fb of opposite sign: regula falsi with the Illinois
 * rule, halved where two of its steps did not do that, until the bracket is two neighbouring numbers, the function is
 * zero, or with part > 0 the bracket is no longer than this part of what lies between t and it: then its far end, for
 * values that are known to that part. */
static double locate(ag_mover *m, double t, int e, double a, double b, double fa, double fb, double part) {
  double wide = fabs(b - a);
  for (int i = 0, since = 0; i < 200; i++) {
    double s = b - fb * (b - a) / (fb - fa);
    if (fabs(b - a) <= 0.5 * wide) wide = fabs(b - a), since = 0;
    if (!(s > fmin(a, b) && s < fmax(a, b)) || since++ == 2) s = 0.5 * (a + b), since = 0;
    if (s == a || s == b) break;
    double f = part > 0 ? value_near(m, t, s, e) : value_at(m, t, s, e);
    if (isnan(f)) break;
    if (f == 0) return s;
    if ((f > 0) == (fb > 0)) {
      b = s;
      fb = f;
      fa *= 0.5;
    } else {
      a = b;
      fa = fb;
      b = s;
      fb = f;
    }
    double enough = fmax(2e-16 * fmax(fabs(a), fabs(b)), part * fmin(fabs(a - t), fabs(b - t)));
    if (fabs(b - a) <= enough) break;
  }
  return part > 0 && fabs(a - t) > fabs(b - t) ? a : b;
}

static int by_time(const void *a, const void *b) {
  const ag_hit *x = a, *y = b;
  int later = (x->s > y->s) - (x->s < y->s);
  return later ? later : x->e - y->e;
}

/* Event e on the dense output. */
static double dense_value(ag_mover *m, double t, double h, double theta, int e) {
  m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
  return ag_mover_watch(m, fma(theta, h, t), m->zt, m->c, m->g1) ? NAN : m->g1[e];
}

/* The same at either end of a bracket; where the equations switch the end of the step is its state, not the rounding of
 * the dense output there. */
static double bracket_value(ag_mover *m, double t, double h, double theta, int e) {
  if (theta < 1 || !m->switches) return dense_value(m, t, h, theta, e);
  return ag_mover_watch(m, t + h, m->z1, m->c, m->g1) ? NAN : m->g1[e];
}

/* A function in a step. */
typedef struct spot {
  ag_mover *m;
  double t, h;
  int e;
} spot;

#define AG_ROOT_OF const spot *a
#define AG_ROOT_T(a) (a)->t
#define AG_ROOT_H(a) (a)->h
#define AG_ROOT_DENSE(a, theta) dense_value((a)->m, (a)->t, (a)->h, theta, (a)->e)
#define AG_ROOT_STEP(a, s) value_at((a)->m, (a)->t, s, (a)->e)
#include "run/root_core.h"

/* The zero on the far side of `from`, where real steps have the value f: places at growing distances are tried, up to
 * the end of the step. NaN: there is no change of sign. */
static double beyond(ag_mover *m, double t, int e, double from, double f, double width, double end) {
  for (int i = 0; i < 64 && from != end; i++, width *= 2) {
    double s = fabs(width) < fabs(end - from) ? from + width : end, value = value_at(m, t, s, e);
    if (isnan(value)) break;
    if ((value > 0) != (f > 0)) return locate(m, t, e, from, s, f, value, 0);
    from = s, f = value;
  }
  return NAN;
}

/* The crossing seen between lo and hi (parts of the step) on the dense output, by real steps. `before`: the sign it
 * comes from. Where real steps have one sign at both ends the crossing is beyond one of them, by the error of the
 * interpolation; *seen: whether there is one. */
static double crossing(ag_mover *m, double t, double h, int e, double lo, double hi, int before, bool *seen) {
  const spot where = {m, t, h, e};
  VI good = ~0ULL;
  *seen = true;
  double slope, theta = root_on_dense(&where, lo, hi, &slope, &good), s = NAN;
  if (good) s = root_by_steps(&where, fma(theta, h, t), slope, 0.1 * fabs(h) * (hi - lo), &good);
  if (good) return s;
  double a = t + lo * h, b = t + hi * h, fa = value_at(m, t, a, e), fb = value_at(m, t, b, e);
  if (fb == 0 || isnan(fa) || isnan(fb)) return b;
  if (fa == 0) return a;
  if ((fa > 0) != (fb > 0)) return locate(m, t, e, a, b, fa, fb, 0);
  bool ahead = sign_of(fb) == before;
  s = ahead ? beyond(m, t, e, b, fb, b - a, t + h) : beyond(m, t, e, a, fa, a - b, t);
  *seen = !isnan(s);
  return *seen ? s : ahead ? b : a;
}

/* Does the function leave its zero at s by a jump, as sign(x) does, on this side? Next to s it is about what it is a
 * million times as far away. */
static bool springs(ag_mover *m, double t, double h, int e, double s, int side, double nothing) {
  double close = 8e-16 * side * fmax(fabs(s), fabs(h)), f = fabs(value_at(m, t, s + close, e));
  return f > nothing && f > 0.5 * fabs(value_at(m, t, s + 1e6 * close, e));
}

/* Does the function jump over zero at s (an angle that is wrapped, a pole) instead of passing through it? Beside what
 * it is at the ends lo and hi of the bracket, a located zero leaves only rounding error. An event that ends the run is
 * a guard that may jump. */
static bool jumps(ag_mover *m, double t, double h, int e, double lo, double hi, double s) {
  static const double NOTHING = 1e-6;
  const ag_model *model = ag_system_model(m->sys);
  if (e < ag_model_n_events(model) && (ag_model_events(model)[e].terminal || ag_model_events(model)[e].cuts))
    return false;
  double most = fmax(fabs(dense_value(m, t, h, lo, e)), fabs(dense_value(m, t, h, hi, e))), size = most;
  for (int i = 0; i <= 2; i++) size = fmax(size, fabs(dense_value(m, t, h, 0.5 * i, e)));
  if (most <= NOTHING * size) return false; /* a flat zero, known to rounding */
  double nothing = NOTHING * most; /* in a step to a switch that is near all values may be rounding of the state */
  for (int i = 0; i < m->n && m->switches; i++) nothing = fmax(nothing, 1e-14 * fabs(m->z[i]));
  double f = fabs(value_at(m, t, s, e));
  if (f == 0) return springs(m, t, h, e, s, -1, nothing) && springs(m, t, h, e, s, 1, nothing);
  return f > nothing && fabs(value_at(m, t, s - 1e-9 * h * (hi - lo), e)) > nothing;
}

typedef struct finder {
  ag_mover *m;
  double t, h;
} finder;

static void add_hit(finder *q, int e, double s) {
  ag_mover *m = q->m;
  AG_PUSH(m->hits, m->n_hit, m->cap_hit);
  m->hits[m->n_hit++] = (ag_hit){s, e};
}

/* Two crossings of the dense output may lead to one of real steps; those of a function are found in their order. */
static bool found_already(const finder *q, int e, double s) {
  enum { LATEST = 64 };
  int n = q->m->n_hit;
  for (int i = n > LATEST ? n - LATEST : 0; i < n; i++)
    if (q->m->hits[i].e == e && fabs(q->m->hits[i].s - s) <= SAME_TIME * fmax(fabs(s), fabs(q->h))) return true;
  return false;
}

/* Event e has the value v now: is that a crossing that counts? */
static bool changes(const finder *q, int e, double v) {
  const ag_event *event = ag_mover_event(q->m, e);
  int sign = sign_of(v), before = q->m->sign[e];
  if (isnan(v) || sign == before) return false;
  q->m->sign[e] = sign;
  if (!before) return false;                   /* leaving a zero is not a crossing: arriving was */
  int direction = q->h > 0 ? -before : before; /* rising or falling in time, whichever way we run */
  return !event->direction || event->direction == direction;
}

/* Is the bracket part of a long piece in which the function is smaller than the error of the motion? Real steps would
 * show only its rounding error. */
static bool below_tolerance(const ag_mover *m, int e, double lo, double hi) {
  static const double LONG = 0.05; /* of the step; zeros of higher order leave shorter ones */
  for (int k = 0; k < m->n_open; k++)
    if (m->open[k].e == e && m->open[k].to - m->open[k].from > LONG && m->open[k].from <= lo && hi <= m->open[k].to)
      return true;
  return false;
}

static void note_doubt(ag_doubt *d, double t) {
  d->last = t;
  if (!d->n++) d->first = t;
}

/* Event e has the value v at theta; the previous place was `last`. A crossing of the dense output that real steps do
 * not have is a doubt: two of them may be missing, or none. */
static void visit(finder *q, int e, double last, double theta, double v) {
  int before = q->m->sign[e];
  if (!changes(q, e, v)) return;
  if (below_tolerance(q->m, e, last, theta)) {
    const spot where = {q->m, q->t, q->h, e};
    VI good = ~0ULL;
    double slope, x = root_on_dense(&where, last, theta, &slope, &good);
    add_hit(q, e, fma(good ? x : theta, q->h, q->t));
    return;
  }
  bool seen;
  double s = crossing(q->m, q->t, q->h, e, last, theta, before, &seen);
  if (isnan(s)) return;
  bool jump = jumps(q->m, q->t, q->h, e, last, theta, s);
  if ((jump && !seen) || (!jump && found_already(q, e, s))) note_doubt(&q->m->doubts[e], s);
  else if (!jump) add_hit(q, e, s);
}

/* Hits as they come; those that coincide up to rounding at one time, in the order of the file. Backwards the times
 * change their sign. */
static int in_order(const finder *q) {
  ag_hit *hits = q->m->hits;
  int n = q->m->n_hit;
  for (int i = 0; i < n && q->h < 0; i++) hits[i].s = -hits[i].s;
  if (n) qsort(hits, (size_t)n, sizeof *hits, by_time);
  for (int i = 1; i < n; i++)
    if (hits[i].s - hits[i - 1].s <= SAME_TIME * fmax(fabs(hits[i].s), fabs(q->h))) hits[i].s = hits[i - 1].s;
  if (n) qsort(hits, (size_t)n, sizeof *hits, by_time);
  for (int i = 0; i < n && q->h < 0; i++) hits[i].s = -hits[i].s;
  return n;
}

/* ---- functions that cannot be enclosed ---- */

/* A function that is visited: its values on the dense output; a piece that has been walked over. */
typedef struct walk {
  finder *q;
  int e;
  double from, to;
} walk;

/* Its part of the step. */
static double walk_part(const walk *w, double theta) {
  return theta == 1 ? w->to : fma(theta, w->to - w->from, w->from);
}

static double walk_value(void *self, double theta) {
  const walk *w = self;
  return dense_value(w->q->m, w->q->t, w->q->h, walk_part(w, theta), w->e);
}

static void walk_see(void *self, double last, double theta, double v) {
  const walk *w = self;
  visit(w->q, w->e, walk_part(w, last), walk_part(w, theta), v);
}

/* A part of the step by a separate interpolant: its crossings are not proved. False: some may be missing. */
static bool visit_fit(finder *q, int e, double from, double to) {
  walk w = {q, e, from, to};
  q->m->fitted[e] = true;
  return ag_fit_pieces(&w, walk_value, walk_see);
}

/* ---- which pieces of the step are examined ---- */

/* The start lies on a surface when its value there is negligible relative to those of the first step: leaving it is not
 * a crossing. */
static void leave_start(ag_mover *m, double t, double h) {
  for (int e = m->g_first; e < m->n_g; e++) {
    double first = fabs(dense_value(m, t, h, 0, e)), most = first;
    for (int i = 1; i <= SAMPLES; i++) most = fmax(most, fabs(dense_value(m, t, h, (double)i / SAMPLES, e)));
    if (first <= ON_START * most) m->sign[e] = 0;
  }
  m->fresh = false;
}

/* Is function e as large at the ends of the piece as in the whole step? It is steep there, not flat. */
static bool is_steep(const finder *q, const ag_open *o) {
  static const double STEEP = 1e-3;
  double size = 0, ends = fmin(fabs(dense_value(q->m, q->t, q->h, o->from, o->e)),
                               fabs(dense_value(q->m, q->t, q->h, o->to, o->e)));
  for (int i = 0; i <= SAMPLES; i++) size = fmax(size, fabs(dense_value(q->m, q->t, q->h, (double)i / SAMPLES, o->e)));
  return ends > STEEP * size;
}

/* A crossing in a piece in which the function is smaller than the error of the motion: it is somewhere there. Rounding
 * alone: it is as accurate as others. */
static void note_loose(const finder *q) {
  static const double ACCURATE = 1e-9;
  ag_mover *m = q->m;
  for (int i = 0; i < m->n_hit; i++)
    for (int k = 0; k < m->n_open; k++) {
      const ag_open *o = &m->open[k];
      double theta = (m->hits[i].s - q->t) / q->h, wide = fabs((o->to - o->from) * q->h);
      ag_doubt *d = &m->doubts[o->e];
      if (o->e != m->hits[i].e || theta < o->from || theta > o->to || wide <= d->loose || is_steep(q, o)) continue;
      if (wide > ACCURATE * fmax(fabs(q->t), fabs(q->h))) d->loose = wide, d->loose_t = m->hits[i].s;
    }
}

/* Pieces in which the function comes nearer to zero than the error of the motion, with the same sign at both ends: an
 * even number of crossings, or none. A function that jumps away from zero, or has a pole, is not in doubt. */
static void note_doubts(const finder *q) {
  ag_mover *m = q->m;
  for (int k = 0; k < m->n_open; k++) {
    const ag_open *o = &m->open[k];
    if (ag_slide_holds(m, q->t, q->h, o->e)) continue;
    double from = dense_value(m, q->t, q->h, o->from, o->e), to = dense_value(m, q->t, q->h, o->to, o->e);
    bool jump = o->to - o->from < NARROW && fabs(to - from) > 0.5 * fmax(fabs(from), fabs(to));
    if (jump || sign_of(from) != sign_of(to)) continue;
    note_doubt(&m->doubts[o->e], q->t + 0.5 * (o->from + o->to) * q->h);
  }
}

/* Between the brackets that were isolated there is no crossing, in each at most one; in one that rounding leaves open
 * (zeros of higher order, jumps) the values at its ends and in its middle decide. */
static void visit_brackets(finder *q, int e) {
  int n;
  const ag_bracket *b = ag_isolate_found(q->m->isolate, e - q->m->g_first, &n);
  const bool tired = ag_isolate_tired(q->m->isolate);
  ag_doubt *d = &q->m->doubts[e];
  for (int k = 0; k < n; k++) {
    bool rest = tired && b[k].to == 1; /* the work has reached its limit */
    if (b[k].doubt && (rest || b[k].to - b[k].from > UNDECIDED)) {
      bool all = visit_fit(q, e, b[k].from, b[k].to);
      if (rest && !all && !d->lost++) d->lost_t = fma(b[k].from, q->h, q->t);
      continue;
    }
    double from = dense_value(q->m, q->t, q->h, b[k].from, e), middle = 0.5 * (b[k].from + b[k].to), last = b[k].from;
    double inside = b[k].doubt ? dense_value(q->m, q->t, q->h, middle, e) : 0, to = b[k].to;
    if (b[k].from > 0) visit(q, e, last, b[k].from, from); /* what it was at the start of the step is known */
    if (inside != 0) visit(q, e, last, middle, inside), last = middle;
    double end = bracket_value(q->m, q->t, q->h, to, e);
    if (b[k].doubt && end == 0 && to < 1) { /* it may touch zero there and return: the values after it decide */
      to = fmin(1, 2 * to - b[k].from);
      end = bracket_value(q->m, q->t, q->h, to, e);
    }
    visit(q, e, last, to, end);
  }
}

double ag_events_once(ag_mover *m, double t, double h, int e) {
  bool seen; /* it is: the ends of the step have opposite signs */
  return crossing(m, t, h, e, 0, 1, m->sign[e], &seen);
}

/* The state was moved by rounding between two steps, over zero, where the equations switched: the crossing is here. On
 * a surface that the motion slides along it has arrived at zero, and true is returned. */
static bool start_of_step(finder *q, int e) {
  ag_mover *m = q->m;
  if (!m->switches) return false;
  bool held = ag_slide_holds(m, q->t, q->h, e);
  double v = ag_mover_watch(m, q->t, m->z, m->c, m->g1) ? NAN : held ? 0 : m->g1[e];
  if (changes(q, e, m->sign[e] ? v : NAN)) add_hit(q, e, q->t);
  return held;
}

/* The properties of function e. */
static void follow(finder *q, int e) {
  ag_mover *m = q->m;
  if (start_of_step(q, e)) return;
  int hint = m->isolate && m->proved[e - m->g_first] ? m->hint[e - m->g_first] : -1;
  if (hint == AG_HINT_CLEAR) return;
  if (m->isolate && hint < 0) m->fitted[e] = true;
  if (hint < 0 && m->isolate && m->hint[e - m->g_first] == AG_HINT_CLEAR) return;
  if (hint == AG_HINT_LOOK) visit_brackets(q, e);
  if (hint < 0) (void)visit_fit(q, e, 0, 1);
  if (hint == AG_HINT_ONCE) add_hit(q, e, ag_events_once(m, q->t, q->h, e));
  if (hint == AG_HINT_ONCE || hint == AG_HINT_WRONG_WAY) m->sign[e] = -m->sign[e];
}

int ag_events_in_step(ag_mover *m, double t, double h) {
  finder q = {.m = m, .t = t, .h = h};
  m->n_hit = 0;
  if (m->isolate) ag_look_dense(m, t, h);
  if (m->fresh) leave_start(m, t, h);
  for (int e = m->g_first; e < m->n_g; e++) follow(&q, e);
  if (m->isolate) note_doubts(&q), note_loose(&q);
  return in_order(&q);
}

/* How exactly the place of a corner is needed: the next step ends at 0.98 of the way to it (trajectory.c). */
static const double NEAR_CORNER = 0.01;

bool ag_events_corner(ag_mover *m, double t, double h, double *s) {
  const ag_model *model = ag_system_model(m->sys);
  bool any = false;
  *s = t + h;
  for (int e = 0; m->events && e < ag_model_n_events(model); e++) {
    if (!ag_model_events(model)[e].cuts) continue;
    double from = ag_mover_watch(m, t, m->z, m->c, m->g1) ? NAN : m->g1[e];
    double to = any || ag_mover_watch(m, *s, m->z1, m->c, m->g1) ? value_near(m, t, *s, e) : m->g1[e];
    if (!(from * to < 0)) continue;
    *s = locate(m, t, e, t, *s, from, to, NEAR_CORNER);
    any = true;
  }
  return any;
}

bool ag_events_ahead(ag_mover *m, double t, double h, double size, double *s) {
  static const double SHORT = 1e-4, WIDE = 0.05; /* of the size; of the way to the corner */
  const ag_model *model = ag_system_model(m->sys);
  const double ds = copysign(SHORT * fabs(size), h);
  bool any = false;
  *s = t + h;
  for (int e = 0; m->events && e < ag_model_n_events(model); e++) {
    if (!ag_model_events(model)[e].cuts || ag_mover_watch(m, t, m->z, m->c, m->g1)) continue;
    const double from = m->g1[e];
    for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + ds * m->dz[i];
    if (ag_mover_watch(m, t + ds, m->zt, m->c, m->g1)) continue;
    const double left = ds * from / (from - m->g1[e]), a = t + (1 - WIDE) * left, b = t + (1 + WIDE) * left;
    if (!(left * h > 0 && fabs(left) <= fabs(*s - t))) continue;
    const double fa = value_near(m, t, a, e), fb = value_near(m, t, b, e);
    if (!(from * fa > 0 && fa * fb < 0)) continue;
    const double near = a - fa * (b - a) / (fb - fa), f = value_near(m, t, near, e);
    if (isnan(f)) continue;
    const bool beyond = f * fb > 0; /* the other place is that on the other side */
    const double other = beyond ? a : b, value = beyond ? fa : fb;
    *s = f == 0 ? near : near - f * (other - near) / (value - f);
    any = true;
  }
  return any;
}
