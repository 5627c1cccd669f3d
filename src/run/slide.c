/* SPDX-License-Identifier: MIT
 * Motion along switching surfaces (Filippov). With L surfaces slid on there are 2^L fields F_j, one per choice of
 * signs. The motion follows their combination with the weights w_j = prod_i (1 +- lambda_i)/2, lambda such that no
 * switching function changes: sum_j w_j r_jk = 0 for each k slid on, r_jk the rate of s_k along F_j. One surface: the
 * convex combination of Filippov. The motion is released where a lambda leaves [-1, 1].
 *
 * Where each choice adds its own part to the equations (dry friction in many places), F is affine in the signs, and so
 * is the combination: F_0 + sum_i (1 + lambda_i)/2 (F_i - F_0) with F_0 of all signs -1 and F_i of one that is 1. These
 * L + 1 fields are used where many surfaces are slid on (slide_choose.c has seen that the choices add up). */
#include <math.h>
#include <string.h>

#include "math/dense.h"
#include "math/newton.h"
#include "run/switch.h"

enum { PROJECT = 4 };

static const double REST = 1e-12; /* of the fields: rates this small are rounding */

/* ---- the fields and their combination ---- */

static bool adds_up(const ag_switch *w) { return w->n_slide > AG_SLIDE_MAX; }

int ag_slide_n_field(const ag_switch *w) { return adds_up(w) ? w->n_slide + 1 : 1 << w->n_slide; }

/* The sign of choice i in field j. */
static double field_sign(const ag_switch *w, int j, int i) { return (adds_up(w) ? j == i + 1 : j >> i & 1) ? 1 : -1; }

/* c of field j, the other choices and the basis as in `like`. */
static const double *field_c(const ag_switch *w, const double *like, int j) {
  double *c = w->c + j * w->n_c, *branch = c + w->n_c - w->n;
  memcpy(c, like, sizeof(double) * (size_t)w->n_c);
  for (int i = 0; i < w->n_slide; i++) branch[w->slide[i]] = field_sign(w, j, i);
  return c;
}

static int evaluate_like(ag_mover *m, double t, const double *z, const double *like) {
  ag_switch *w = m->switches;
  for (int j = 0; j < ag_slide_n_field(w); j++) {
    const double *c = field_c(w, like, j);
    int trouble = ag_mover_branch(m, t, z, c, w->fields + j * m->n);
    if (!trouble) trouble = ag_switch_rates(m, t, z, c, w->fields + j * m->n, w->rates + j * w->n);
    if (trouble) return trouble;
  }
  return AG_FINE;
}

int ag_slide_fields(ag_mover *m, double t, const double *z) { return evaluate_like(m, t, z, m->c); }

/* Weight of field j, differentiated in lambda_i (i < 0: not). */
static double weight(const ag_switch *w, int j, int i) {
  double product = 1;
  if (adds_up(w)) {
    if (i >= 0) return j == i + 1 ? 0.5 : j ? 0 : -0.5;
    for (int k = 0; k < w->n_slide && !j; k++) product -= 0.5 * (1 + w->lambda[k]);
    return j ? 0.5 * (1 + w->lambda[j - 1]) : product;
  }
  for (int k = 0; k < w->n_slide; k++) {
    double sign = j >> k & 1 ? 1 : -1;
    product *= k == i ? 0.5 * sign : 0.5 * (1 + sign * w->lambda[k]);
  }
  return product;
}

double ag_slide_rate(const ag_switch *w, int k, int i) {
  double sum = 0;
  if (adds_up(w) && i >= 0) return 0.5 * (w->rates[(i + 1) * w->n + k] - w->rates[k]);
  for (int j = 0; j < ag_slide_n_field(w); j++) sum += weight(w, j, i) * w->rates[j * w->n + k];
  return sum;
}

/* The matrix A of the derivatives of the combined rates in lambda. */
static void rate_derivatives(const ag_switch *w, double *A) {
  int n = w->n_slide;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) A[k * n + i] = ag_slide_rate(w, w->slide[k], i);
}

/* d = -A^-1 g. */
static bool correction(const ag_switch *w, const double *g, double *d) {
  rate_derivatives(w, w->matrix);
  for (int k = 0; k < w->n_slide; k++) d[k] = -g[k];
  return ag_dense_solve(w->n_slide, 1, w->matrix, d) == 0;
}

static bool rates_eval(void *self, const double *lambda, double *F, double *J) {
  ag_switch *w = self;
  memmove(w->lambda, lambda, sizeof *lambda * (size_t)w->n_slide);
  for (int k = 0; k < w->n_slide; k++) F[k] = ag_slide_rate(w, w->slide[k], -1);
  rate_derivatives(w, J);
  return true;
}

/* The size of rates relative to those of the fields. */
static double rates_size(void *self, const double *F) {
  const ag_switch *w = self;
  double size = 0, worst = 0;
  for (int j = 0; j < ag_slide_n_field(w); j++)
    for (int k = 0; k < w->n_slide; k++) size = fmax(size, fabs(w->rates[j * w->n + w->slide[k]]));
  for (int k = 0; k < w->n_slide; k++) worst = fmax(worst, fabs(F[k]));
  return worst / size;
}

/* lambda where the rates are affine in it. */
static bool balance_affine(ag_switch *w) {
  double *rates = w->matrix + w->n * w->n;
  for (int k = 0; k < w->n_slide; k++) w->lambda[k] = 0;
  for (int k = 0; k < w->n_slide; k++) rates[k] = ag_slide_rate(w, w->slide[k], -1);
  return correction(w, rates, w->lambda);
}

/* lambda from the rates of the fields, from the middle, with one step at least. False: there is none. */
static bool balance(ag_switch *w) {
  if (adds_up(w)) return balance_affine(w);
  static const ag_newton_options options = {.max_iter = 60, .tol = 1e-14, .still = 1e-300};
  const ag_newton_system s = {
      .kind = AG_NEWTON_SQUARE, .m = w->n_slide, .n = w->n_slide, .eval = rates_eval, .size = rates_size, .self = w};
  double work[AG_SLIDE_MAX * (AG_SLIDE_MAX + 3) + 1], lambda[AG_SLIDE_MAX] = {0};
  bool found = ag_newton_ok(ag_newton(&s, &options, lambda, work));
  memcpy(w->lambda, lambda, sizeof *lambda * (size_t)w->n_slide);
  return found;
}

int ag_slide_at(ag_mover *m, double t, const double *z) {
  int trouble = ag_slide_fields(m, t, z);
  return trouble ? trouble : balance(m->switches) ? AG_FINE : AG_TROUBLE_PIVOT;
}

bool ag_slide_rests(const ag_mover *m) {
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
  return balance(w) || (w->n_slide == 1 && ag_slide_rests(m));
}

/* The role in the current mode, `more` behind c. Of the power each side has that of its own rates. */
static bool combined_role(ag_mover *m, int role, double t, const double *z, const double *like, int n_more,
                          const double *more, double *out) {
  ag_switch *w = m->switches;
  int n = ag_system_role(m->sys, role)->n_out;
  double *one = ag_heap_alloc(sizeof *one * (size_t)(n + w->n_c + n_more + 1)), *c = one + n;
  bool good = !w->n_slide || weigh(m, t, z, like);
  memset(out, 0, sizeof *out * (size_t)n);
  for (int j = 0; j < ag_slide_n_field(w) && good; j++) {
    double part = w->n_slide ? weight(w, j, -1) : 1;
    memcpy(c, field_c(w, like, j), sizeof *c * (size_t)w->n_c);
    if (n_more) memcpy(c + w->n_c, more, sizeof *c * (size_t)n_more);
    if (role == AG_ROLE_POWER) good = !ag_work_power(m->work, t, z, c, w->fields + j * m->n, one);
    else good = !ag_work_role(m->work, role, t, z, c, one);
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
  for (int j = 0; j < ag_slide_n_field(w) && good; j++) {
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
  for (int j = 0; j < ag_slide_n_field(w); j++) {
    double part = weight(w, j, -1);
    for (int i = 0; i < m->n; i++) dz[i] += part * w->fields[j * m->n + i];
  }
}

int ag_slide_rhs(ag_mover *m, double t, const double *z, double *dz) {
  int trouble = ag_slide_at(m, t, z);
  if (!trouble) combine(m, dz);
  return trouble;
}

double ag_slide_margin(ag_mover *m, double t, const double *z) {
  const ag_switch *w = m->switches;
  double most = 0;
  if (ag_slide_at(m, t, z)) return NAN;
  for (int k = 0; k < w->n_slide; k++) most = fmax(most, fabs(w->lambda[k]));
  return 1 - most;
}

/* Back onto the surfaces, along the differences of the fields: components that the choices do not affect are not
 * moved. */
static void project(ag_mover *m, double t, double *z) {
  ag_switch *w = m->switches;
  for (int pass = 0; pass < PROJECT; pass++) {
    double *g = w->matrix + w->n * w->n, *d = g + w->n;
    if (ag_slide_at(m, t, z) || ag_switch_functions(m, t, z, m->c, w->s)) return;
    for (int k = 0; k < w->n_slide; k++) g[k] = w->s[w->slide[k]];
    if (!correction(w, g, d)) return;
    for (int i = 0; i < w->n_slide; i++)
      for (int j = 0; j < ag_slide_n_field(w); j++)
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
  if (ag_slide_fields(m, t, m->z)) return false;
  for (int i = 0; i < m->n; i++) m->zt[i] = m->z[i] + h * m->switches->fields[i];
  return !ag_mover_watch(m, t, m->zt, m->c, m->g1) && most <= NOTHING * fabs(m->g1[e]);
}
