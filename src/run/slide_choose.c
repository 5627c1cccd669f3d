/* SPDX-License-Identifier: MIT
 * How a motion goes on where switching functions are zero: on one side of each surface, or along it. */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "run/switch.h"

enum { MODES = 3, TOGETHER = 4 };

static const double REST = 1e-12;  /* of the fields: rates this small are rounding */
static const double STILL = 1e-14; /* of the fields: a rate that stays this small is zero */

void ag_slide_sync(ag_mover *m) {
  ag_switch *w = m->switches;
  w->n_slide = 0;
  for (int k = 0; k < w->n; k++)
    if (w->branch[k] == 0) w->slide[w->n_slide++] = k;
  m->method = w->n_slide || !m->fused ? w->plain : &m->own;
}

void ag_slide_resume(ag_mover *m) {
  m->switches->started = true;
  ag_slide_sync(m);
}

/* Rates of all switching functions in the current mode. */
static bool mode_rates(ag_mover *m, double t, const double *z, double *rates) {
  ag_switch *w = m->switches;
  if (!w->n_slide) return !ag_switch_rates(m, t, z, m->c, NULL, rates);
  if (ag_slide_at(m, t, z)) return false;
  for (int k = 0; k < w->n; k++) rates[k] = ag_slide_rate(w, k, -1);
  return true;
}

typedef enum fit { NO, STAYS, LEAVES } fit;

/* Does the motion in the current mode leave the surfaces `at` to the sides of their branches, and keep to those it
 * slides on? Where a rate is zero its own rate decides. STAYS: on some surface that does not push at all. *off: with NO
 * the surface where it does not, -1 where it is none of them. */
static fit consistent(ag_mover *m, double t, double direction, double h, int n_at, const int *at, int *off) {
  ag_switch *w = m->switches;
  double delta = 1e-7 * direction * fabs(h);
  fit result = LEAVES;
  *off = -1;
  ag_slide_sync(m);
  if (ag_mover_rhs(m, t, m->z, m->dz1)) return NO;
  for (int i = 0; i < w->n_slide; i++) {
    *off = w->slide[i];
    if (!(fabs(w->lambda[i]) <= 1) || !(direction * ag_slide_rate(w, w->slide[i], i) < 0)) return NO;
  }
  *off = -1;
  if (!mode_rates(m, t, m->z, w->s)) return NO;
  double still = 0;
  for (int j = 0; j < m->n * ag_slide_n_field(w) && w->n_slide; j++) still = fmax(still, STILL * fabs(w->fields[j]));
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + delta * m->dz1[i];
  if (!mode_rates(m, t + delta, m->zt, w->out)) return NO;
  for (int i = 0; i < n_at; i++) {
    double branch = w->branch[at[i]], rate = w->s[at[i]], bend = (w->out[at[i]] - rate) / delta;
    if (branch == 0) continue;
    *off = at[i];
    bool touches = fabs(rate) <= 1e-12 * fabs(h * bend) || rate == 0;
    if (fabs(rate) <= still && fabs(bend * h) <= still) result = STAYS;
    else if (!(touches ? branch * bend > 0 : direction * branch * rate > 0)) return NO;
  }
  return result;
}

/* The modes of the surfaces `at` number `code`: per surface -1, 1 or 0, slides. How many slide. */
static int set_modes(ag_switch *w, int code, int n_at, const int *at) {
  static const double modes[MODES] = {-1, 1, 0};
  int n = 0;
  for (int i = 0; i < n_at; i++, code /= MODES) {
    w->branch[at[i]] = modes[code % MODES];
    n += code % MODES == 2;
  }
  return n;
}

static bool as_before(const ag_switch *w, int n_at, const int *at) {
  for (int i = 0; i < n_at; i++)
    if (w->branch[at[i]] != w->before[at[i]]) return false;
  return true;
}

static bool rests_between(ag_mover *m, double t, int k) {
  ag_switch *w = m->switches;
  w->branch[k] = 0;
  ag_slide_sync(m);
  return w->timeless && w->n_slide == 1 && !ag_slide_fields(m, t, m->z) && ag_slide_rests(m);
}

static bool at_rest(const ag_mover *m) {
  const ag_switch *w = m->switches;
  double size = 0;
  if (!w->timeless || !w->n_slide) return false;
  for (int j = 0; j < ag_slide_n_field(w) * m->n; j++) size = fmax(size, fabs(w->fields[j]));
  for (int i = 0; i < m->n; i++)
    if (fabs(m->dz[i]) > REST * size) return false;
  return true;
}

/* Is each branch that is not slid on the sign that the function has now, as far as it has one? */
static bool by_value(const ag_switch *w, const double *s, int n_at, const int *at) {
  for (int i = 0; i < n_at; i++)
    if (w->branch[at[i]] * s[at[i]] < 0) return false;
  return true;
}

/* The mode in which the motion goes on: the fewest surfaces slid on; of several the one before. s: the functions now.
 */
static ag_turn choose(ag_mover *m, double t, double direction, double h, const double *s, int n_at, const int *at) {
  ag_switch *w = m->switches;
  int n_code = 1, found = -1, still = -1, off;
  for (int i = 0; i < n_at; i++) n_code *= MODES;
  for (int slides = 0; slides <= n_at && slides <= AG_SLIDE_MAX && found < 0; slides++) {
    int n = 0;
    for (int code = 0; code < n_code; code++) {
      fit how = set_modes(w, code, n_at, at) == slides ? consistent(m, t, direction, h, n_at, at, &off) : NO;
      if (how == STAYS && (still < 0 || by_value(w, s, n_at, at))) still = code;
      if (how != LEAVES) continue;
      bool same = as_before(w, n_at, at);
      found = n && !same ? found : code;
      n += same ? -n_code : 1;
    }
    if (n > 1) return AG_TURN_FORKS;
    if (found < 0) found = still;
  }
  if (found < 0) return n_at == 1 && rests_between(m, t, at[0]) ? AG_TURN_STICKS : AG_TURN_STUCK;
  (void)set_modes(w, found, n_at, at);
  return AG_TURN_ON;
}

/* ---- many surfaces at once ---- */

/* The rates of the functions `at` where all of them are slid on and their choices add up: with q = -rate in the
 * direction of time, q(lambda) = q0 + Q lambda. The motion keeps to a surface where q = 0 with |lambda| < 1, and leaves
 * it where lambda = 1 with q <= 0 or lambda = -1 with q >= 0: a linear complementarity problem. */
typedef struct many {
  int n;
  const int *at;
  double *q0, *Q, *A, *lambda, *q, size;
  int *mode, *part;
} many;

/* Do the choices add up? With all signs turned to 1 the right-hand side is then known. */
static bool adds_up(ag_mover *m, double t, int n, const int *at) {
  static const double ROUNDING = 1e-9;
  ag_switch *w = m->switches;
  double *all = ag_heap_alloc(sizeof *all * (size_t)(m->n + w->n_c + 1)), *c = all + m->n;
  memcpy(c, m->c, sizeof *c * (size_t)w->n_c);
  for (int i = 0; i < n; i++) c[w->n_c - w->n + at[i]] = 1;
  bool good = !ag_mover_branch(m, t, m->z, c, all);
  for (int i = 0; i < m->n && good; i++) {
    double sum = w->fields[i], size = fabs(sum) + fabs(all[i]);
    for (int j = 1; j <= n; j++) {
      double one = w->fields[j * m->n + i] - w->fields[i];
      sum += one, size += fabs(one);
    }
    good = fabs(sum - all[i]) <= ROUNDING * size;
  }
  free(all);
  return good;
}

/* False: the choices do not add up. */
static bool many_rates(ag_mover *m, double t, double direction, many *a) {
  ag_switch *w = m->switches;
  for (int i = 0; i < a->n; i++) w->branch[a->at[i]] = 0;
  ag_slide_sync(m);
  if (w->n_slide != a->n || ag_slide_fields(m, t, m->z) || !adds_up(m, t, a->n, a->at)) return false;
  for (int k = 0; k < a->n; k++) {
    a->q0[k] = -direction * w->rates[a->at[k]];
    for (int i = 0; i < a->n; i++) {
      a->Q[k * a->n + i] = -direction * ag_slide_rate(w, a->at[k], i);
      a->q0[k] += a->Q[k * a->n + i];
      a->size = fmax(a->size, fabs(a->Q[k * a->n + i]));
    }
    a->size = fmax(a->size, fabs(a->q0[k]));
  }
  return true;
}

/* lambda and q for these modes (-1, 1: to that side; 0: slides). */
static bool many_solve(many *a) {
  int n = a->n, n_part = 0;
  for (int k = 0; k < n; k++) {
    a->lambda[k] = a->mode[k];
    if (!a->mode[k]) a->part[n_part++] = k;
  }
  for (int i = 0; i < n_part; i++) {
    const double *row = a->Q + a->part[i] * n;
    a->q[i] = -a->q0[a->part[i]];
    for (int k = 0; k < n; k++) a->q[i] -= row[k] * a->mode[k];
    for (int j = 0; j < n_part; j++) a->A[i * n_part + j] = row[a->part[j]];
  }
  if (n_part && ag_dense_solve(n_part, 1, a->A, a->q)) return false;
  for (int i = 0; i < n_part; i++) a->lambda[a->part[i]] = a->q[i];
  for (int k = 0; k < n; k++) {
    a->q[k] = a->q0[k];
    for (int i = 0; i < n; i++) a->q[k] += a->Q[k * n + i] * a->lambda[i];
  }
  return true;
}

/* The mode that k should rather have. */
static int better(const many *a, int k) {
  static const double ROUNDING = 1e-13;
  double nothing = ROUNDING * a->size;
  if (!a->mode[k]) return a->lambda[k] > 1 ? 1 : a->lambda[k] < -1 ? -1 : 0;
  return a->mode[k] * a->q[k] > nothing ? 0 : a->mode[k];
}

/* Principal pivoting: all modes that do not suit are changed at once as long as they become fewer, then the first of
 * them, which ends where Q is a P-matrix (Murty). */
static bool many_modes(many *a) {
  int fewest = a->n + 1, patience = 10;
  for (int i = 0; i < 100 + 20 * a->n; i++) {
    int n_bad = 0;
    if (!many_solve(a)) return false;
    for (int k = 0; k < a->n; k++) n_bad += better(a, k) != a->mode[k];
    if (!n_bad) return true;
    bool together = n_bad < fewest || patience-- > 0;
    if (n_bad < fewest) fewest = n_bad, patience = 10;
    bool changed = false;
    for (int k = 0; k < a->n && (together || !changed); k++) {
      int mode = better(a, k);
      changed = changed || mode != a->mode[k];
      a->mode[k] = mode;
    }
  }
  return false;
}

/* Blocks that stick to each other and to the ground: surfaces that follow from others make Q singular. A solution is
 * then one in which such surfaces have lambda = 1 or -1, among all modes. */
static bool try_modes(many *a) {
  enum { MOST = 7 };
  int n_code = 1;
  if (a->n > MOST) return false;
  for (int i = 0; i < a->n; i++) n_code *= MODES;
  for (int code = 0; code < n_code; code++) {
    for (int k = 0, rest = code; k < a->n; k++, rest /= MODES) a->mode[k] = rest % MODES - 1;
    bool good = many_solve(a);
    for (int k = 0; k < a->n && good; k++) good = better(a, k) == a->mode[k];
    if (good) return true;
  }
  return false;
}

/* A surface at an end of its segment is as well left as slid on: it is left, unless the motion then does not leave it.
 */
static bool many_fit(ag_mover *m, double t, double direction, double h, const many *a) {
  static const double NEAR = 1e-9;
  ag_switch *w = m->switches;
  int *loose = a->part, off;
  for (int k = 0; k < a->n; k++) {
    loose[k] = a->mode[k] ? fabs(a->q[k]) <= NEAR * a->size : fabs(a->lambda[k]) >= 1 - NEAR;
    w->branch[a->at[k]] = a->mode[k] || !loose[k] ? a->mode[k] : a->lambda[k] > 0 ? 1 : -1;
  }
  for (int tries = 0; tries <= a->n; tries++) {
    if (consistent(m, t, direction, h, a->n, a->at, &off) != NO) return true;
    int k = 0;
    while (k < a->n && a->at[k] != off) k++;
    if (k == a->n || !loose[k]) return false;
    w->branch[off] = 0, loose[k] = 0;
  }
  return false;
}

/* *found: false where the choices do not add up. */
static ag_turn choose_many(ag_mover *m, double t, double direction, double h, int n, const int *at, bool *found) {
  ag_switch *w = m->switches;
  size_t size = (size_t)n;
  double *room = ag_heap_alloc(sizeof *room * size * (2 * size + 3));
  int *modes = ag_heap_alloc(sizeof *modes * 2 * size);
  many a = {.n = n, .at = at, .Q = room, .A = room + n * n, .mode = modes, .part = modes + n};
  a.q0 = a.A + n * n, a.q = a.q0 + n, a.lambda = a.q + n;
  for (int k = 0; k < n; k++) modes[k] = (int)w->before[at[k]];
  *found = many_rates(m, t, direction, &a);
  bool good = *found && many_modes(&a) && many_fit(m, t, direction, h, &a);
  if (*found && !good) good = try_modes(&a) && many_fit(m, t, direction, h, &a);
  free(room);
  free(modes);
  return good ? AG_TURN_ON : AG_TURN_STUCK;
}

ag_turn ag_slide_decide(ag_mover *m, double t, double direction, double h) {
  ag_switch *w = m->switches;
  int *at = ag_heap_alloc(sizeof *at * (size_t)w->n), n_at = 0;
  ag_slide_sync(m);
  if (w->n_slide && w->started) ag_slide_project(m, t, m->z); /* it may be released: from the surface */
  w->started = true;
  memcpy(w->before, w->branch, sizeof(double) * (size_t)w->n);
  double *s = w->now;
  bool known = !ag_switch_functions(m, t, m->z, m->c, s), found = false;
  for (int k = 0; k < w->n && known; k++) {
    if (!w->hit[k] && w->branch[k] != 0 && s[k] != 0) continue;
    at[n_at++] = k;
    w->hit[k] = false;
  }
  ag_turn turn = AG_TURN_STUCK;
  if (known && n_at > AG_SLIDE_MAX) turn = choose_many(m, t, direction, h, n_at, at, &found);
  if (known && n_at <= TOGETHER && !found) turn = choose(m, t, direction, h, s, n_at, at);
  free(at);
  ag_slide_sync(m);
  if (turn != AG_TURN_ON) return turn;
  if (w->n_slide) ag_slide_project(m, t, m->z);
  if (ag_mover_rhs(m, t, m->z, m->dz)) return AG_TURN_STUCK;
  return at_rest(m) ? AG_TURN_STICKS : AG_TURN_ON;
}
