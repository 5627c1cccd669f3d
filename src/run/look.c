/* SPDX-License-Identifier: MIT
 * The motion over a step as a curve, for isolating crossings: first the cheap one, which decides about most steps, then
 * the dense output of the method (docs/design/0013). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/run_internal.h"

enum { CHEAP_WORK = 32, WORK = 20000, ROWS = 4 };

/* Operations that one look into a step may take. A function so long that this does not suffice is sampled. */
static const double OPERATIONS = 4e5;

/* The dense output may be off by more than the tolerance of the step. */
static const double DENSE_ERROR = 10;
static const double ROUNDING = 1e-13; /* of a curve that is known */

/* Functions that ag_run_watch could not give: NaN in their place. */
static void find_absent(const ag_tape *watch, bool *absent) {
  bool *nan = ag_heap_alloc((size_t)watch->n_slot + 1);
  for (int i = 0; i < watch->n_instr; i++) {
    const ag_instr *x = &watch->instr[i];
    nan[x->dst] = x->op == AG_OP_CONST && isnan(watch->constants[x->a]);
  }
  for (int i = 0; i < watch->n_out; i++) absent[i] = nan[watch->out[i]];
  free(nan);
}

void ag_look_create(ag_mover *m, const ag_tape *watch, const double *params) {
  int n_out = watch->n_out;
  m->proved = ag_heap_alloc((size_t)n_out + 1);
  m->unproved = ag_heap_alloc((size_t)n_out + 1);
  m->absent = ag_heap_alloc((size_t)n_out + 1);
  ag_enclose_bounded(watch, m->proved);
  find_absent(watch, m->absent);
  m->all_proved = true;
  for (int i = 0; i < n_out; i++) {
    m->unproved[i] = !m->proved[i];
    m->all_proved = m->all_proved && m->proved[i];
  }
  m->isolate = ag_isolate_create(watch, m->n, params, m->c, ag_system_dims(m->sys)->c);
  m->work_limit = (int)fmin(WORK, OPERATIONS / (watch->n_instr + 1));
  m->curve = ag_heap_alloc(sizeof(double) * (size_t)((AG_ISOLATE_DEGREE + 1) * m->n + 1));
  m->rows = ag_heap_alloc(sizeof(double) * (size_t)(ROWS * m->n + 1));
  m->width = ag_heap_alloc(sizeof(double) * (size_t)(m->n + 1));
}

void ag_look_free(ag_mover *m) {
  ag_isolate_free(m->isolate);
  free(m->proved);
  free(m->unproved);
  free(m->absent);
  free(m->curve);
  free(m->rows);
  free(m->width);
  free(m->open);
}

static double tolerance(const ag_mover *m, int i) {
  return DENSE_ERROR * (m->atol + m->rtol * fmax(fabs(m->z[i]), fabs(m->z1[i]))) + ROUNDING * fabs(m->z[i]);
}

/* Rows of z + x (d + (1 - x) (a + x (b + (1 - x) C))): the cubic of values and rates at both ends, and the term
 * C x^2 (1 - x)^2 that makes its rate right at a quarter of the step. The rate of the cubic there is d + a/2 + 5 b/16,
 * that of x^2 (1 - x)^2 is 3/16. False: there is no rate at that place. */
static bool hermite(ag_mover *m, double t, double h) {
  int n = m->n;
  double *d = m->rows, *a = d + n, *b = a + n, *C = b + n;
  for (int i = 0; i < n; i++) {
    d[i] = m->z1[i] - m->z[i];
    a[i] = h * m->dz[i] - d[i];
    b[i] = d[i] - h * m->dz1[i] - a[i];
    m->zt[i] = m->z[i] + 0.25 * (d[i] + 0.75 * (a[i] + 0.25 * b[i]));
  }
  if (ag_mover_rhs(m, t + 0.25 * h, m->zt, C)) return false;
  for (int i = 0; i < n; i++) C[i] = (h * C[i] - d[i] - 0.5 * a[i] - 0.3125 * b[i]) * (16.0 / 3);
  return true;
}

/* The term x^2 (1 - x)^2 is 1/16 at most: four times the last term bounds what is left out. */
bool ag_look_clear(ag_mover *m, double t, double h) {
  if (!m->isolate || !m->all_proved || m->fresh || !hermite(m, t, h)) return false;
  const double *C = m->rows + 3 * m->n;
  for (int i = 0; i < m->n; i++) {
    if (!isfinite(C[i])) return false;
    m->width[i] = fabs(C[i]) / 4 + tolerance(m, i);
  }
  ag_isolate_rows(m->n, ROWS, m->z, m->rows, m->curve);
  if (m->work_limit < CHEAP_WORK) return false;
  if (!ag_isolate_step(m->isolate, t, h, ROWS, m->curve, m->width, NULL, CHEAP_WORK)) return false;
  for (int e = 0; e < m->n_g - m->g_first; e++) {
    int n;
    (void)ag_isolate_found(m->isolate, e, &n);
    if (n) return false;
  }
  return true;
}

/* Keeps the pieces in doubt of the last isolation. */
static void keep_doubts(ag_mover *m) {
  m->n_open = 0;
  for (int e = m->g_first; e < m->n_g; e++) {
    int n;
    const ag_bracket *b = ag_isolate_found(m->isolate, e - m->g_first, &n);
    for (int k = 0; k < n; k++) {
      if (!b[k].doubt) continue;
      AG_PUSH(m->open, m->n_open, m->cap_open);
      m->open[m->n_open++] = (ag_open){e, b[k].from, b[k].to};
    }
  }
}

/* Twice: as far as the motion is known, which leaves the pieces in doubt; then on the dense output itself, whose
 * crossings are those that are reported. Fixed steps have no tolerance: the last term of the cheap curve tells how good
 * the dense output can be. */
bool ag_look_dense(ag_mover *m, double t, double h) {
  enum { D = AG_ISOLATE_DEGREE };
  bool fixed = !(m->rtol > 0 || m->atol > 0);
  if (fixed && !hermite(m, t, h)) return false;
  for (int i = 0; i < m->n; i++) m->width[i] = tolerance(m, i) + (fixed ? fabs(m->rows[3 * m->n + i]) / 16 : 0);
  for (int k = 0; k <= D; k++)
    m->method->interpolate(m->method, m->n, (double)k / D, m->z, m->space, m->curve + k * m->n);
  memcpy(m->curve + D * m->n, m->z1, sizeof(double) * (size_t)m->n);
  ag_isolate_nodes(m->n, m->curve);
  bool sure = ag_isolate_step(m->isolate, t, h, D, m->curve, m->width, m->unproved, m->work_limit);
  keep_doubts(m);
  if (ag_isolate_tired(m->isolate)) m->n_open = 0; /* it is sampled: nothing is proved, nothing in doubt */
  if (sure) return true;
  for (int i = 0; i < m->n; i++) m->width[i] = ROUNDING * fmax(fabs(m->z[i]), fabs(m->z1[i]));
  (void)ag_isolate_step(m->isolate, t, h, D, m->curve, m->width, m->unproved, m->work_limit);
  return true;
}
