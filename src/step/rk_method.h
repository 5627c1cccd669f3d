/* SPDX-License-Identifier: MIT
 * Makes the stepper functions of the tableau AG_RK_METHOD: size_NAME, step_NAME, dense_NAME, interpolate_NAME and the
 * data table_NAME. Included by rk.c once per method.
 *
 * The text of rk_core.h is compiled twice where the machine the program is built for need not have fused multiply-add:
 * plainly (v_fma is then a library call, slow but with the same result) and for processors that have it. */
#define AG_PASTE_(a, b) a##_##b
#define AG_PASTE(a, b) AG_PASTE_(a, b)
#define AG_OF(a) AG_PASTE(a, AG_RK_METHOD)
#define AG_GET_(a, b) AG_RK_##a##_##b
#define AG_GET2(a, b) AG_GET_(a, b)
#define AG_GET(b) AG_GET2(AG_RK_METHOD, b)

#define AG_RK_FN(name) AG_OF(AG_PASTE(plain, name))
#define AG_RK_QUALIFIER static
#include "step/rk_core.h"
#undef AG_RK_FN
#undef AG_RK_QUALIFIER

#ifdef AG_RK_TWICE
#define AG_RK_FN(name) AG_OF(AG_PASTE(fused, name))
#define AG_RK_QUALIFIER static __attribute__((target("avx2,fma")))
#include "step/rk_core.h"
#undef AG_RK_FN
#undef AG_RK_QUALIFIER
#define AG_CALL(name, ...) (has_fma() ? AG_OF(fused_##name)(__VA_ARGS__) : AG_OF(plain_##name)(__VA_ARGS__))
#else
#define AG_CALL(name, ...) AG_OF(plain_##name)(__VA_ARGS__)
#endif

/* Workspace: rows of n numbers: k (TOP + 1), w (1), c (DEGREE). */
static size_t AG_OF(size)(int n) { return (size_t)(AG_GET(TOP) + 2 + AG_GET(DEGREE)) * (size_t)n; }

static int AG_OF(step)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                       double *z1, double *dz1, double rtol, double atol, double *error, double *work) {
  const int n = f->n;
  double *k = work, *w = k + (AG_GET(TOP) + 1) * n;
  (void)s;
  *error = 0;
  memcpy(k, dz0, (size_t)n * sizeof *k);
  int reason = AG_CALL(step, f, n, t, h, z, z1, rtol, fmax(atol, DBL_MIN), error, k, w);
  if (reason == 0) memcpy(dz1, k + AG_GET(LAST) * n, (size_t)n * sizeof *dz1);
  return reason;
}

static int AG_OF(dense)(const ag_stepper *s, const ag_flow *f, double t, double h, const double *z, const double *dz0,
                        const double *z1, const double *dz1, double *work) {
  const int n = f->n;
  double *k = work, *w = k + (AG_GET(TOP) + 1) * n, *c = w + n;
  (void)s, (void)dz0, (void)dz1; /* both are rows of k */
  return AG_CALL(dense, f, n, t, h, z, z1, k, w, c);
}

static void AG_OF(interpolate)(const ag_stepper *s, int n, double theta, double h, const double *z, const double *z1,
                               const double *work, double *out) {
  const double *c = work + (AG_GET(TOP) + 2) * n;
  (void)s, (void)h, (void)z1;
  AG_CALL(interpolate, n, theta, z, c, out);
}

#define AG_ENTRY(j, x) [j] = x,
#define AG_NODE(i, x, A) [i] = x,
#define AG_ROW(i, x, A) [i] = {A(AG_ENTRY)},
#define AG_DROW(m, D) [m] = {D(AG_ENTRY)},
static const ag_tableau AG_OF(table) = {
    .last = AG_GET(LAST),
    .top = AG_GET(TOP),
    .error = AG_GET(ERROR),
    .degree = AG_GET(DEGREE),
    .c = {AG_GET(STAGES)(AG_NODE)[AG_GET(LAST)] = 1, AG_GET(EXTRA)(AG_NODE)},
    .a = {AG_GET(STAGES)(AG_ROW)[AG_GET(LAST)] = {AG_GET(B)(AG_ENTRY)}, AG_GET(EXTRA)(AG_ROW)},
    .b = {AG_GET(B)(AG_ENTRY)},
    .e = {AG_GET(E)(AG_ENTRY)},
    .e3 = {AG_GET(E3)(AG_ENTRY)},
    .d = {AG_GET(DENSE)(AG_DROW)},
};
#undef AG_DROW
#undef AG_ROW
#undef AG_NODE
#undef AG_ENTRY
#undef AG_CALL
#undef AG_GET
#undef AG_GET2
#undef AG_GET_
#undef AG_OF
#undef AG_PASTE
#undef AG_PASTE_
#undef AG_RK_METHOD
