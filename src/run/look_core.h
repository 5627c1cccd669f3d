/* SPDX-License-Identifier: MIT
 * The first check of a step: text over V, for single runs (V = double, look.c) and for lanes (watch_core.h), behind
 * enclose.h. Both decide with the same bits which steps need a closer look. Every rounding is written out; a lane's
 * numbers follow from its own alone.
 *
 * The motion over the step is a curve of degree 4: the cubic of values and rates at both ends, and the term
 * C x^2 (1 - x)^2 that makes its rate right at a quarter of the step: that of a stage there, if the method has one,
 * else of one more right-hand side. Its error bound is its width (look_width). Functions of the motion are enclosed
 * over the whole step, its halves, its quarters. A function is decided where every piece either excludes zero or has a
 * rate of one sign, the same for all such pieces: then it crosses zero at most once, and the values at both ends decide
 * (docs/design/0013). */

enum { LOOK_DEGREE = 4, LOOK_NODES = 5, LOOK_PARTS = 4 };

/* A component of the motion: Bernstein coefficients, and its error bound. */
typedef struct look_curve {
  V b[LOOK_DEGREE + 1], width;
} look_curve;

/* The result of the enclosures of a function over all pieces. */
typedef struct look_seen {
  VI open, up, down; /* somewhere nothing is decided; somewhere it may cross zero, rising or falling */
  VI above, below;   /* everywhere above zero, below it */
} look_seen;

/* The cubic between z and z1, with h times the rates r and r1 at both ends: z + x (d + (1 - x) (a + x b)). */
#define LOOK_CUBIC(z, z1, r, r1) const V d = (z1) - (z), a = (r)-d, b = d - (r1)-a

V_IN V look_quarter(V z, V z1, V r, V r1) {
  LOOK_CUBIC(z, z1, r, r1);
  return v_fma(v_set(0.25), v_fma(v_set(0.75), v_fma(v_set(0.25), b, a), d), z);
}
/* The rate of the cubic at a quarter is d + a/2 + 5 b/16, that of x^2 (1 - x)^2 is 3/16; r4: h times the rate there. */
V_IN V look_last(V z, V z1, V r, V r1, V r4) {
  LOOK_CUBIC(z, z1, r, r1);
  return ((r4 - d) - v_fma(v_set(0.3125), b, 0.5 * a)) * (16.0 / 3);
}
/* The size of the last term relative to those before it. */
V_IN V look_decay(V z, V z1, V r, V r1, V C) {
  LOOK_CUBIC(z, z1, r, r1);
  return v_abs(C) / (v_abs(a) + v_abs(b) + 1e-300);
}
/* The truncation error: four times the last term, which is C/16 at most. That term may vanish by accident where the
 * next one does not; the next one is to b (of third order) as C is to a (of second), in the component where this is
 * largest. */
V_IN V look_width(V z, V z1, V r, V r1, V C, V decay) {
  LOOK_CUBIC(z, z1, r, r1);
  return v_fma(v_min(decay, v_set(1)), v_abs(b) * 0.0625, v_abs(C) * 0.25);
}

/* The error of the motion itself: dense output may be off by more than the tolerance of the step, and rounding. */
V_IN V look_tolerance(V z, V z1, double rtol, V atol) {
  return v_fma(v_set(1e-13), v_abs(z), 10.0 * v_fma(v_set(rtol), v_max(v_abs(z), v_abs(z1)), atol));
}

V_IN look_curve look_component(V z, V z1, V r, V r1, V C, V width) {
  look_curve c = {.width = width};
  c.b[0] = z, c.b[4] = z1;
  c.b[1] = v_fma(v_set(0.25), r, z), c.b[3] = v_fma(v_set(-0.25), r1, z1);
  c.b[2] = v_fma(v_set(1.0 / 6), (r - r1) + C, 0.5 * (z + z1));
  return c;
}

/* De Casteljau at the middle of a piece. */
V_IN void look_halve(const look_curve *c, look_curve *left, look_curve *right) {
  V w[LOOK_DEGREE + 1];
  for (int k = 0; k <= LOOK_DEGREE; k++) w[k] = c->b[k];
  for (int k = 0; k <= LOOK_DEGREE; k++) {
    left->b[k] = w[0], right->b[LOOK_DEGREE - k] = w[LOOK_DEGREE - k];
    for (int i = 0; i < LOOK_DEGREE - k; i++) w[i] = 0.5 * (w[i] + w[i + 1]);
  }
  left->width = right->width = c->width;
}

/* The curve over a piece of this length; its rate, per step, may be off by four times its width. */
V_IN E look_range(const look_curve *c, double length) {
  V lo = c->b[0], hi = lo, least = c->b[1] - c->b[0], most = least;
  for (int i = 1; i <= LOOK_DEGREE; i++) {
    const V step = c->b[i] - c->b[i - 1];
    lo = e_least(lo, c->b[i]), hi = e_most(hi, c->b[i]), least = e_least(least, step), most = e_most(most, step);
  }
  const V rounding = 1e-15 * e_most(v_abs(lo), v_abs(hi)), wide = c->width + rounding, rate = 4.0 * c->width;
  const double scale = LOOK_DEGREE / length;
  return (E){lo - wide, hi + wide, v_fma(v_set(scale), least - 2.0 * rounding, -rate),
             v_fma(v_set(scale), most + 2.0 * rounding, rate)};
}
/* The curve at an end of a piece. */
V_IN E look_point(const look_curve *c, V value) {
  const V wide = v_fma(v_set(1e-15), v_abs(value), c->width);
  return (E){value - wide, value + wide, v_set(0), v_set(0)};
}

V_IN E look_time(V t, V h, double from, double to) {
  const V a = v_fma(v_set(from), h, t), b = v_fma(v_set(to), h, t), rounding = 1e-15 * v_max(v_abs(a), v_abs(b));
  return (E){v_min(a, b) - rounding, v_max(a, b) + rounding, h, h};
}

#if defined AG_WATCH_QUICK && AG_WATCH_QUICK
/* A component over the whole step, by a range that contains that of look_range: with X(d) the largest size of d, the
 * Bernstein coefficients of the curve are at most X(d)/2 + X(a)/3 + X(b)/4 + X(C)/6 from the middle of its ends, and
 * its width at most X(b)/16 + X(C)/4. r4: h times the rate at a quarter. */
V_IN A look_around(V z, V z1, V r, V r1, V r4, double rtol, V atol) {
  LOOK_CUBIC(z, z1, r, r1);
  const V c = (r4 - d) - v_fma(v_set(0.3125), b, 0.5 * a); /* 3 C/16 */
  const V curved = v_fma(v_set(0.3334), v_abs(a), v_fma(v_set(0.3126), v_abs(b), 2.2223 * v_abs(c)));
  const V rough = v_fma(v_set(2e-13 + 10.1 * rtol), v_abs(z), 10.1 * atol);
  return (A){v_fma(v_set(0.5), d, z), v_fma(v_set(0.5001 + 10.1 * rtol), v_abs(d), curved + rough)};
}
V_IN A look_time_around(V t, V h) {
  return (A){v_fma(v_set(0.5), h, t), v_fma(v_set(0.5001), v_abs(h), 4e-15 * v_abs(t))};
}
#endif

/* Takes a piece into account. */
V_IN void look_add(look_seen *s, E f) {
  const V zero = v_set(0);
  const VI above = m_lt(zero, f.lo), below = m_lt(f.hi, zero), up = m_lt(zero, f.dlo), down = m_lt(f.dhi, zero);
  const VI near = ~(above | below);
  s->above &= above, s->below &= below;
  s->open |= near & ~(up | down), s->up |= near & up, s->down |= near & down;
}
V_IN look_seen look_nothing(void) {
  const VI none = v_word_set(0);
  return (look_seen){none, none, none, ~none, ~none};
}
V_IN VI look_undecided(const look_seen *s) { return s->open | (s->up & s->down); }

/* The mean value form over a piece: f at its middle, and what the rate can add on half its length. */
V_IN E look_sharpen(E f, E middle, double length) {
  const V reach = (0.5 * length) * v_max(v_abs(f.dlo), v_abs(f.dhi));
  f.lo = v_max(f.lo, middle.lo - reach), f.hi = v_min(f.hi, middle.hi + reach);
  return f;
}

/* The behaviour of a function in the step (AG_HINT_...): memory, its last sign; f0 and f1, its values at both ends,
 * which count only where it is undecided; way, the requested direction; back: the step goes back in time. */
V_IN V look_hint(const look_seen *s, V memory, V f0, V f1, int way, VI back) {
  const V zero = v_set(0);
  const VI positive = m_lt(zero, memory), negative = m_lt(memory, zero);
  const VI begins = (positive & m_lt(zero, f0)) | (negative & m_lt(f0, zero)), sure = begins & ~look_undecided(s);
  const VI up = negative & m_lt(zero, f1), down = positive & m_lt(f1, zero);
  const VI stays = (positive & m_lt(zero, f1)) | (negative & m_lt(f1, zero));
  const VI clear = (s->above & positive) | (s->below & negative) | (sure & stays), once = sure & ~clear & (up | down);
  const VI rises = (up & ~back) | (down & back);
  const VI wrong = once & (way > 0 ? ~rises : way < 0 ? rises : v_word_set(0));
  return v_blend(clear, v_set(AG_HINT_CLEAR),
                 v_blend(wrong, v_set(AG_HINT_WRONG_WAY), v_blend(once, v_set(AG_HINT_ONCE), v_set(AG_HINT_LOOK))));
}

/* ---- functions that cannot be enclosed (fit.c) ----
 * Their values at the nodes (1 + cos(pi j/4))/2 of the curve, j = 0 .. 4, give an interpolant, a sum of Chebyshev
 * polynomials. */
V_IN double look_node(int j) {
  static const double nodes[LOOK_NODES] = {1, 0.85355339059327376, 0.5, 0.14644660940672624, 0};
  return nodes[j];
}
/* The curve at the part x of the step. */
V_IN V look_state(V z, V z1, V r, V r1, V C, double x) {
  LOOK_CUBIC(z, z1, r, r1);
  const V at = v_set(x), left = v_set(1 - x);
  return v_fma(at, v_fma(left, v_fma(at, v_fma(left, C, b), a), d), z);
}
#undef LOOK_CUBIC
/* Does it keep its sign, that of memory? Four times its last two coefficients bound the truncation error. First by
 * the nodes at both ends and in the middle alone (`some`), which is enough where it is nearly constant. */
V_IN VI look_keeps_some(const V *v, V memory) {
  const V ends = 0.5 * (v[0] + v[4]), c0 = 0.5 * (ends + v[2]), c1 = 0.5 * (v[0] - v[4]), c2 = 0.5 * (ends - v[2]);
  return m_lt(v_set(0), c0 * memory) & m_lt(5.0 * (v_abs(c1) + v_abs(c2)), v_abs(c0));
}
V_IN VI look_keeps(const V *v, V memory) {
  const V ends = 0.5 * (v[0] + v[4]), odd = 0.5 * (v[0] - v[4]), inner = v[1] + v[3];
  const V diagonal = 0.70710678118654752 * (v[1] - v[3]);
  const V c0 = 0.25 * ((ends + inner) + v[2]), c1 = 0.5 * (odd + diagonal), c2 = 0.5 * (ends - v[2]);
  const V c3 = 0.5 * (odd - diagonal), c4 = 0.25 * ((ends - inner) + v[2]);
  const V others = v_fma(v_set(5), v_abs(c3) + v_abs(c4), v_abs(c1) + v_abs(c2));
  return m_lt(v_set(0), c0 * memory) & m_lt(others, v_abs(c0));
}

/* ---- the look ----
 * To be defined before:
 *   AG_LOOK_OF                            the parameter `a`, with its type: functions and what they read
 *   AG_LOOK_FN                            what stands before the type of a function
 *   AG_LOOK_READS(a) AG_LOOK_READ(a, i)   components that are read: how many; which
 *   AG_LOOK_FUNCTIONS(a)                  how many functions
 *   AG_LOOK_ASKED(a, e)                   can function e be enclosed at all? Its bounds count only then
 *   AG_LOOK_BOUNDS(a, t, z, out)          a statement that encloses them */
typedef struct look_room {
  look_curve *curve;       /* per component that is read */
  look_curve *part;        /* the same over LOOK_PARTS parts of the step, one after the other */
  E *range;                /* per component */
  E *out, *middle;         /* per function */
  look_seen *seen, *parts; /* per function: the result; that of the parts */
} look_room;

/* The curves over the n parts of the step, from those over its n/2 parts: the last ones first, in place. */
V_IN void look_split(AG_LOOK_OF, const look_room *r, int n) {
  const int reads = AG_LOOK_READS(a);
  for (int p = n / 2 - 1; p >= 0; p--)
    for (int i = 0; i < reads; i++) {
      const look_curve whole = n == 2 ? r->curve[i] : r->part[p * reads + i];
      look_halve(&whole, &r->part[2 * p * reads + i], &r->part[(2 * p + 1) * reads + i]);
    }
  (void)a;
}
/* A curve in the middle of its part. */
V_IN V look_middle(const look_curve *c) {
  V w[LOOK_DEGREE + 1];
  for (int k = 0; k <= LOOK_DEGREE; k++) w[k] = c->b[k];
  for (int k = LOOK_DEGREE; k > 0; k--)
    for (int i = 0; i < k; i++) w[i] = 0.5 * (w[i] + w[i + 1]);
  return w[0];
}

/* The functions over part p of n, as sharp as needed, where they are still undecided. */
AG_LOOK_FN void look_at_part(AG_LOOK_OF, const look_room *r, V t, V h, int n, int p) {
  const double length = 1.0 / n, from = p * length;
  const look_curve *part = r->part + p * AG_LOOK_READS(a);
  VI needed = v_word_set(0);
  for (int i = 0; i < AG_LOOK_READS(a); i++) r->range[AG_LOOK_READ(a, i)] = look_range(&part[i], length);
  const E time = look_time(t, h, from, from + length), between = look_time(t, h, from + length / 2, from + length / 2);
  AG_LOOK_BOUNDS(a, &time, r->range, r->out)
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++) {
    look_seen s = look_nothing();
    look_add(&s, r->out[e]);
    if (AG_LOOK_ASKED(a, e)) needed |= s.open & look_undecided(&r->seen[e]);
  }
  if (v_any(needed)) {
    for (int i = 0; i < AG_LOOK_READS(a); i++)
      r->range[AG_LOOK_READ(a, i)] = look_point(&part[i], look_middle(&part[i]));
    AG_LOOK_BOUNDS(a, &between, r->range, r->middle)
  }
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++) {
    look_seen s = look_nothing();
    look_add(&s, r->out[e]);
    E f = r->out[e];
    if (v_any(s.open & needed)) {
      const E sharp = look_sharpen(f, r->middle[e], length);
      f.lo = v_blend(s.open, sharp.lo, f.lo), f.hi = v_blend(s.open, sharp.hi, f.hi);
    }
    look_add(&r->parts[e], f);
  }
}

V_IN VI look_either(VI first, VI a, VI b) { return (first & a) | (~first & b); }

/* All functions over the n parts of the step, where they are undecided. */
AG_LOOK_FN void look_at_parts(AG_LOOK_OF, const look_room *r, V t, V h, int n) {
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++) r->parts[e] = look_nothing();
  look_split(a, r, n);
  for (int p = 0; p < n; p++) look_at_part(a, r, t, h, n, p);
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++) {
    look_seen *s = &r->seen[e];
    const look_seen *q = &r->parts[e];
    const VI again = look_undecided(s);
    *s = (look_seen){look_either(again, q->open, s->open), look_either(again, q->up, s->up),
                     look_either(again, q->down, s->down), look_either(again, q->above, s->above),
                     look_either(again, q->below, s->below)};
  }
}

V_IN VI look_any_open(AG_LOOK_OF, const look_room *r) {
  VI open = v_word_set(0);
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++)
    if (AG_LOOK_ASKED(a, e)) open |= look_undecided(&r->seen[e]);
  (void)a;
  return open;
}

/* All functions over the step, from r->curve into r->seen: the whole, its halves, its quarters. */
AG_LOOK_FN void look_into(AG_LOOK_OF, const look_room *r, V t, V h) {
  const E time = look_time(t, h, 0, 1);
  for (int i = 0; i < AG_LOOK_READS(a); i++) r->range[AG_LOOK_READ(a, i)] = look_range(&r->curve[i], 1);
  AG_LOOK_BOUNDS(a, &time, r->range, r->out)
  for (int e = 0; e < AG_LOOK_FUNCTIONS(a); e++) {
    r->seen[e] = look_nothing();
    look_add(&r->seen[e], r->out[e]);
  }
  for (int n = 2; n <= LOOK_PARTS && v_any(look_any_open(a, r)); n *= 2) look_at_parts(a, r, t, h, n);
}
