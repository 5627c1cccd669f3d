/* SPDX-License-Identifier: MIT
 * Motion along switching surfaces (Filippov). With L surfaces slid on there are 2^L fields F_j, one per choice of
 * signs. The motion follows their combination with the weights w_j = prod_i (1 +- lambda_i)/2, lambda such that no
 * switching function changes: sum_j w_j r_jk = 0 for each k slid on, r_jk the rate of s_k along F_j. One surface: the
 * convex combination of Filippov. The motion is released where a lambda leaves [-1, 1]. */
#include <math.h>
#include <string.h>

#include "run/switch.h"

enum { NEWTON = 60, PROJECT = 4, MODES = 3, TOGETHER = 4 };

static const double SOLVED = 1e-14; /* of the rates */
static const double REST = 1e-12;   /* of the fields: rates this small are rounding */
static const double STILL = 1e-14;  /* of the fields: a rate that stays this small is zero */

void ag_slide_sync(ag_mover *m) {
  ag_switch *w = m->switches;
  w->n_slide = 0;
  for (int k = 0; k < w->n; k++)
    if (w->branch[k] == 0 && w->n_slide < AG_SLIDE_MAX) w->slide[w->n_slide++] = k;
  m->method = w->n_slide || !m->fused ? w->plain : &m->own;
}

void ag_slide_resume(ag_mover *m) {
  m->switches->started = true;
  ag_slide_sync(m);
}

/* ---- the fields and their combination ---- */

/* c of field j, the other choices and the basis as in `like`. */
static const double *field_c(const ag_switch *w, const double *like, int j) {
  double *c = w->c + j * w->n_c, *branch = c + w->n_c - w->n;
  memcpy(c, like, sizeof(double) * (size_t)w->n_c);
  for (int i = 0; i < w->n_slide; i++) branch[w->slide[i]] = j >> i & 1 ? 1 : -1;
  return c;
}

static int evaluate_like(ag_mover *m, double t, const double *z, const double *like) {
  ag_switch *w = m->switches;
  for (int j = 0; j < 1 << w->n_slide; j++) {
    const double *c = field_c(w, like, j);
    int trouble = ag_mover_branch(m, t, z, c, w->fields + j * m->n);
    if (!trouble) trouble = ag_switch_rates(m, t, z, c, w->fields + j * m->n, w->rates + j * w->n);
    if (trouble) return trouble;
  }
  return AG_FINE;
}

static int evaluate_fields(ag_mover *m, double t, const double *z) { return evaluate_like(m, t, z, m->c); }

/* Weight of field j, differentiated in lambda_i (i < 0: not). */
static double weight(const ag_switch *w, int j, int i) {
  double product = 1;
  for (int k = 0; k < w->n_slide; k++) {
    double sign = j >> k & 1 ? 1 : -1;
    product *= k == i ? 0.5 * sign : 0.5 * (1 + sign * w->lambda[k]);
  }
  return product;
}

/* Rate of s_k in the combination (i < 0), or its derivative in lambda_i. */
static double combined_rate(const ag_switch *w, int k, int i) {
  double sum = 0;
  for (int j = 0; j < 1 << w->n_slide; j++) sum += weight(w, j, i) * w->rates[j * w->n + k];
  return sum;
}

/* A x = b for the few surfaces, b becomes x: elimination with pivots. */
static bool solve_few(int n, double A[][AG_SLIDE_MAX], double *b) {
  for (int p = 0; p < n; p++) {
    int best = p;
    for (int i = p + 1; i < n; i++)
      if (fabs(A[i][p]) > fabs(A[best][p])) best = i;
    if (!(fabs(A[best][p]) > 0)) return false;
    for (int j = 0; j < n; j++) {
      double swapped = A[p][j];
      A[p][j] = A[best][j], A[best][j] = swapped;
    }
    double swapped = b[p];
    b[p] = b[best], b[best] = swapped;
    for (int i = 0; i < n; i++) {
      double factor = A[i][p] / A[p][p];
      if (i == p) continue;
      for (int j = p; j < n; j++) A[i][j] -= factor * A[p][j];
      b[i] -= factor * b[p];
    }
  }
  for (int i = 0; i < n; i++) b[i] /= A[i][i];
  return true;
}

/* d = -A^-1 g, A the derivatives of the combined rates in lambda. */
static bool correction(const ag_switch *w, const double *g, double *d) {
  double A[AG_SLIDE_MAX][AG_SLIDE_MAX];
  for (int k = 0; k < w->n_slide; k++) {
    for (int i = 0; i < w->n_slide; i++) A[k][i] = combined_rate(w, w->slide[k], i);
    d[k] = -g[k];
  }
  return solve_few(w->n_slide, A, d);
}

/* lambda from the rates of the fields, by Newton's method from the middle. False: there is none. */
static bool balance(ag_switch *w) {
  double size = 0, g[AG_SLIDE_MAX], d[AG_SLIDE_MAX];
  memset(w->lambda, 0, sizeof w->lambda);
  for (int j = 0; j < 1 << w->n_slide; j++)
    for (int k = 0; k < w->n_slide; k++) size = fmax(size, fabs(w->rates[j * w->n + w->slide[k]]));
  for (int i = 0; i < NEWTON; i++) {
    double worst = 0;
    for (int k = 0; k < w->n_slide; k++) g[k] = combined_rate(w, w->slide[k], -1), worst = fmax(worst, fabs(g[k]));
    if (worst <= SOLVED * size && i > 0) return true;
    if (!correction(w, g, d)) return false;
    for (int k = 0; k < w->n_slide; k++) w->lambda[k] += d[k];
    if (!isfinite(w->lambda[0])) return false;
  }
  return false;
}

static int slide_at(ag_mover *m, double t, const double *z) {
  int trouble = evaluate_fields(m, t, z);
  return trouble ? trouble : balance(m->switches) ? AG_FINE : AG_TROUBLE_PIVOT;
}

/* Both sides of a surface that is only touched push back: is there rest between them? lambda is then that of it. */
static bool rest_weight(const ag_mover *m) {
  ag_switch *w = m->switches;
  const double *a = w->fields, *b = a + m->n;
  double size = 0, along = 0, square = 0;
  for (int i = 0; i < m->n; i++) {
    size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
    along += a[i] * (a[i] - b[i]), square += (a[i] - b[i]) * (a[i] - b[i]);
  }
  double part = square > 0 ? along / square : 0;
  if (!(part >= 0 && part <= 1)) return false;
  for (int i = 0; i < m->n; i++)
    if (fabs(a[i] + part * (b[i] - a[i])) > REST * size) return false;
  w->lambda[0] = 2 * part - 1;
  return true;
}

/* The fields at z with the choices of `like`, and their weights. */
static bool weigh(ag_mover *m, double t, const double *z, const double *like) {
  ag_switch *w = m->switches;
  if (evaluate_like(m, t, z, like)) return false;
  return balance(w) || (w->n_slide == 1 && rest_weight(m));
}

/* The role in the current mode, `more` behind c. */
static bool combined_role(ag_mover *m, int role, double t, const double *z, const double *like, int n_more,
                          const double *more, double *out) {
  ag_switch *w = m->switches;
  int n = ag_system_role(m->sys, role)->n_out;
  double *one = ag_heap_alloc(sizeof *one * (size_t)(n + w->n_c + n_more + 1)), *c = one + n;
  bool good = !w->n_slide || weigh(m, t, z, like);
  memset(out, 0, sizeof *out * (size_t)n);
  for (int j = 0; j < 1 << w->n_slide && good; j++) {
    double part = w->n_slide ? weight(w, j, -1) : 1;
    memcpy(c, field_c(w, like, j), sizeof *c * (size_t)w->n_c);
    if (n_more) memcpy(c + w->n_c, more, sizeof *c * (size_t)n_more);
    good = !ag_work_role(m->work, role, t, z, c, one);
    for (int i = 0; i < n; i++) out[i] += part * one[i];
  }
  free(one);
  return good;
}

bool ag_slide_role(ag_mover *m, int role, double t, const double *z, const double *like, double *out) {
  return combined_role(m, role, t, z, like, 0, NULL, out);
}

bool ag_slide_observe(ag_mover *m, double t, const double *z, const double *like, const double *x, double *values) {
  int n = ag_system_dims(m->sys)->lambda;
  if (m->full) return false;
  double *lambda = ag_heap_alloc(sizeof *lambda * (size_t)(n + 1));
  bool good = (!n || !ag_work_accel(m->work, t, x, NULL, lambda)) &&
              combined_role(m, AG_ROLE_OBSERVED, t, z, like, n, lambda, values);
  free(lambda);
  return good;
}

/* The multipliers of the multiplier form, combined like the fields. */
static bool hold_multipliers(ag_mover *m, double t, const double *x, const double *like) {
  ag_switch *w = m->switches;
  int n = ag_system_dims(m->sys)->lambda;
  if (!w->n_slide) return true;
  double *sum = ag_heap_alloc(sizeof *sum * 2 * (size_t)(n + 1)), *one = sum + n;
  bool good = weigh(m, t, x, like);
  for (int j = 0; j < 1 << w->n_slide && good; j++) {
    double part = weight(w, j, -1);
    ag_work_branch(m->work, field_c(w, like, j));
    good = !ag_work_accel(m->work, t, x, NULL, one);
    for (int i = 0; i < n; i++) sum[i] += part * one[i];
  }
  ag_work_branch(m->work, m->c);
  if (good) ag_work_hold(m->work, sum);
  free(sum);
  return good;
}

bool ag_slide_hold(ag_mover *m, double t, const double *z, const double *like) {
  const ag_tape *tape = m->switches ? ag_system_role(m->sys, AG_ROLE_REACTION) : NULL;
  if (m->full && m->switches) return hold_multipliers(m, t, z, like);
  if (!tape) return true;
  double *force = ag_heap_alloc(sizeof *force * (size_t)(tape->n_out + 1));
  bool good = ag_slide_role(m, AG_ROLE_REACTION, t, z, like, force);
  if (good) ag_work_hold(m->work, force);
  free(force);
  return good;
}

void ag_slide_let_go(ag_mover *m) { ag_work_hold(m->work, NULL); }

static void combine(const ag_mover *m, double *dz) {
  const ag_switch *w = m->switches;
  memset(dz, 0, sizeof(double) * (size_t)m->n);
  for (int j = 0; j < 1 << w->n_slide; j++) {
    double part = weight(w, j, -1);
    for (int i = 0; i < m->n; i++) dz[i] += part * w->fields[j * m->n + i];
  }
}

int ag_slide_rhs(ag_mover *m, double t, const double *z, double *dz) {
  int trouble = slide_at(m, t, z);
  if (!trouble) combine(m, dz);
  return trouble;
}

double ag_slide_margin(ag_mover *m, double t, const double *z, int k) {
  return slide_at(m, t, z) ? NAN : 1 - fabs(m->switches->lambda[k]);
}

/* Back onto the surfaces, along the differences of the fields: components that the choices do not affect are not
 * moved. */
static void project(ag_mover *m, double t, double *z) {
  ag_switch *w = m->switches;
  for (int pass = 0; pass < PROJECT; pass++) {
    double g[AG_SLIDE_MAX], d[AG_SLIDE_MAX];
    if (slide_at(m, t, z) || ag_switch_functions(m, t, z, m->c, w->s)) return;
    for (int k = 0; k < w->n_slide; k++) g[k] = w->s[w->slide[k]];
    if (!correction(w, g, d)) return;
    for (int i = 0; i < w->n_slide; i++)
      for (int j = 0; j < 1 << w->n_slide; j++)
        for (int k = 0; k < m->n; k++) z[k] += d[i] * weight(w, j, i) * w->fields[j * m->n + k];
  }
}

void ag_slide_project(ag_mover *m, double t, double *z) {
  if (m->switches && m->switches->n_slide) project(m, t, z);
}

/* Relative to its value on one of the branches. */
bool ag_slide_holds(ag_mover *m, double t, double h, int e) {
  static const double NOTHING = 1e-9;
  if (!ag_switch_slides(m)) return false;
  double most = 0;
  for (int i = 0; i <= 2; i++) {
    double theta = 0.5 * i;
    m->method->interpolate(m->method, m->n, theta, m->z, m->space, m->zt);
    if (ag_mover_watch(m, t + theta * h, m->zt, m->c, m->g1)) return false;
    most = fmax(most, fabs(m->g1[e]));
  }
  if (evaluate_fields(m, t, m->z)) return false;
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + h * m->switches->fields[i];
  return !ag_mover_watch(m, t, m->zt, m->c, m->g1) && most <= NOTHING * fabs(m->g1[e]);
}

/* ---- the next branch ---- */

/* Rates of all switching functions in the current mode. */
static bool mode_rates(ag_mover *m, double t, const double *z, double *rates) {
  ag_switch *w = m->switches;
  if (!w->n_slide) return !ag_switch_rates(m, t, z, m->c, NULL, rates);
  if (slide_at(m, t, z)) return false;
  for (int k = 0; k < w->n; k++) rates[k] = combined_rate(w, k, -1);
  return true;
}

typedef enum fit { NO, STAYS, LEAVES } fit;

/* Does the motion in the current mode leave the surfaces `at` to the sides of their branches, and keep to those it
 * slides on? Where a rate is zero its own rate decides. STAYS: on some surface that does not push at all. */
static fit consistent(ag_mover *m, double t, double direction, double h, int n_at, const int *at) {
  ag_switch *w = m->switches;
  double delta = 1e-7 * direction * fabs(h);
  fit result = LEAVES;
  ag_slide_sync(m);
  if (ag_mover_rhs(m, t, m->z, m->dz1)) return NO;
  for (int i = 0; i < w->n_slide; i++)
    if (!(fabs(w->lambda[i]) <= 1) || !(direction * combined_rate(w, w->slide[i], i) < 0)) return NO;
  if (!mode_rates(m, t, m->z, w->s)) return NO;
  double still = 0;
  for (int j = 0; j < m->n << w->n_slide && w->n_slide; j++) still = fmax(still, STILL * fabs(w->fields[j]));
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + delta * m->dz1[i];
  if (!mode_rates(m, t + delta, m->zt, w->out)) return NO;
  for (int i = 0; i < n_at; i++) {
    double branch = w->branch[at[i]], rate = w->s[at[i]], bend = (w->out[at[i]] - rate) / delta;
    if (branch == 0) continue;
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
  return w->timeless && w->n_slide == 1 && !evaluate_fields(m, t, m->z) && rest_weight(m);
}

static bool at_rest(const ag_mover *m) {
  const ag_switch *w = m->switches;
  double size = 0;
  if (!w->timeless || !w->n_slide) return false;
  for (int j = 0; j < (1 << w->n_slide) * m->n; j++) size = fmax(size, fabs(w->fields[j]));
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
  int n_code = 1, found = -1, still = -1;
  for (int i = 0; i < n_at; i++) n_code *= MODES;
  for (int slides = 0; slides <= n_at && slides <= AG_SLIDE_MAX && found < 0; slides++) {
    int n = 0;
    for (int code = 0; code < n_code; code++) {
      fit how = set_modes(w, code, n_at, at) == slides ? consistent(m, t, direction, h, n_at, at) : NO;
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

ag_turn ag_slide_decide(ag_mover *m, double t, double direction, double h) {
  ag_switch *w = m->switches;
  int at[TOGETHER], n_at = 0;
  ag_slide_sync(m);
  if (w->n_slide && w->started) project(m, t, m->z); /* it may be released: from the surface */
  w->started = true;
  memcpy(w->before, w->branch, sizeof(double) * (size_t)w->n);
  double *s = w->now;
  if (ag_switch_functions(m, t, m->z, m->c, s)) return AG_TURN_STUCK;
  for (int k = 0; k < w->n; k++) {
    if (!w->hit[k] && w->branch[k] != 0 && s[k] != 0) continue;
    if (n_at == TOGETHER) return AG_TURN_STUCK;
    at[n_at++] = k;
    w->hit[k] = false;
  }
  ag_turn turn = choose(m, t, direction, h, s, n_at, at);
  ag_slide_sync(m);
  if (turn != AG_TURN_ON) return turn;
  if (w->n_slide) project(m, t, m->z);
  if (ag_mover_rhs(m, t, m->z, m->dz)) return AG_TURN_STUCK;
  return at_rest(m) ? AG_TURN_STICKS : AG_TURN_ON;
}
