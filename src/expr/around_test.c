/* SPDX-License-Identifier: MIT
 * Numbers known within a distance (around.h) contain the enclosures of enclose.h: for every operation, and for long
 * random chains of them, with arguments of all sizes, exact ones, and ones that may vanish. */
#include <math.h>
#include <stdint.h>

#include "expr/vmath.h"
#include "tests/check.h"

#include "expr/enclose.h"

#include "expr/around.h"

enum { N_CASE = 20000, N_CHAIN = 3000, N_VALUE = 12 };

static uint64_t state = 7;
static double uniform(double lo, double hi) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

/* A number and a range inside it, often the whole of it. */
typedef struct pair {
  A a;
  E e;
} pair;

static pair draw(void) {
  double at = uniform(0, 1) < 0.1 ? 0 : copysign(exp(uniform(-9, 9)), uniform(-1, 1));
  double off = uniform(0, 1) < 0.2 ? 0 : fabs(at) * exp(uniform(-36, 1)), from = 1, to = 1;
  if (uniform(0, 1) < 0.5) from = uniform(-1, 1), to = uniform(-from, 1);
  pair p = {{at, off}, {at - from * off, at + to * off, 0, 0}};
  if (p.e.lo < at - off || (long double)p.e.lo < (long double)at - off) p.e.lo = nextafter(p.e.lo, INFINITY);
  if ((long double)p.e.hi > (long double)at + off) p.e.hi = nextafter(p.e.hi, -INFINITY);
  if (p.e.lo > p.e.hi) p.e.lo = p.e.hi = at;
  return p;
}

/* a holds e, or says nothing. */
static bool holds(pair p) {
  if (isnan(p.a.at) || !(p.a.off < INFINITY)) return true;
  long double lo = (long double)p.a.at - p.a.off, hi = (long double)p.a.at + p.a.off;
  return lo <= p.e.lo && p.e.hi <= hi;
}

#define OWN1(X) X(NEG) X(SQRT) X(ABS) X(SIN) X(COS) X(HOLD) X(CHECKPOS) X(CHECKNZ) X(square)
#define OWN2(X) X(ADD) X(SUB) X(MUL) X(DIV)
#define OWN3(X) X(FMA) X(FMS) X(FNMA)
#define THROUGH1(X) X(EXP) X(LOG) X(ATAN) X(TANH) X(TAN)
#define THROUGH2(X) X(MIN) X(ATAN2) X(POW) X(LT)

#define ALL(X1, X2, X3, Y1, Y2) OWN1(X1) OWN2(X2) OWN3(X3) THROUGH1(Y1) THROUGH2(Y2)
#define NAME(n) OP_##n,
enum { ALL(NAME, NAME, NAME, NAME, NAME) N_OP };

/* The operation by both. */
#define WITH1(n) \
  if (op == OP_##n) return (pair){a_##n(x.a), e_##n(x.e)};
#define WITH2(n) \
  if (op == OP_##n) return (pair){a_##n(x.a, y.a), e_##n(x.e, y.e)};
#define WITH3(n) \
  if (op == OP_##n) return (pair){a_##n(x.a, y.a, z.a), e_##n(x.e, y.e, z.e)};
#define BY1(n) \
  if (op == OP_##n) return (pair){a_of(e_##n(a_e(x.a))), e_##n(x.e)};
#define BY2(n) \
  if (op == OP_##n) return (pair){a_of(e_##n(a_e(x.a), a_e(y.a))), e_##n(x.e, y.e)};
static pair apply(int op, pair x, pair y, pair z) {
  ALL(WITH1, WITH2, WITH3, BY1, BY2)
  return x;
}

static void check_each(void) {
  int told[N_OP] = {0};
  for (int op = 0; op < N_OP; op++)
    for (int i = 0; i < ag_check_some(N_CASE); i++) {
      const pair x = draw(), y = draw(), z = draw();
      const pair r = apply(op, x, y, z);
      if (!holds(r))
        fprintf(stderr, "operation %d, case %d: %a +- %a, [%a, %a]\n", op, i, r.a.at, r.a.off, r.e.lo, r.e.hi);
      AG_CHECK(holds(r));
      told[op] += r.a.off < INFINITY;
    }
  for (int op = 0; op < N_OP; op++) AG_CHECK(told[op] > 0);
}

/* Chains: every value is used, so that slack is lost where an operation has too little. And where a value says it is
 * beside zero, its enclosure is. */
static void check_chains(void) {
  int decided = 0;
  for (int i = 0; i < ag_check_some(N_CHAIN); i++) {
    pair v[4 + N_VALUE];
    for (int k = 0; k < 4; k++) v[k] = draw();
    for (int k = 4; k < 4 + N_VALUE; k++) {
      const int op = (int)uniform(0, N_OP);
      v[k] = apply(op, v[k - 1], v[(int)uniform(0, k)], v[(int)uniform(0, k)]);
      AG_CHECK(holds(v[k]));
      const VI above = a_beside(v[k].a, 1), below = a_beside(v[k].a, -1);
      AG_CHECK(!above || v[k].e.lo > 0);
      AG_CHECK(!below || v[k].e.hi < 0);
      AG_CHECK(!a_beside(v[k].a, 0) && !a_beside(v[k].a, NAN));
      decided += v_any(above | below);
    }
  }
  AG_CHECK(decided > 0);
}

/* What is not known stays so. */
static void check_unknown(void) {
  const A lost = a_of(e_of(e_whole(), e_whole())), nothing = {1, INFINITY}, no_number = a_number(NAN);
  const A all[] = {lost, nothing, no_number};
  for (int i = 0; i < 3; i++) {
    const A x = all[i];
    const A made[] = {x,
                      a_ADD(x, a_number(1)),
                      a_MUL(x, a_number(0)),
                      a_square(x),
                      a_DIV(a_number(1), x),
                      a_SQRT(x),
                      a_SIN(x),
                      a_COS(x),
                      a_ABS(x),
                      a_FMA(x, a_number(2), x),
                      a_NEG(x),
                      a_of(e_MIN(a_e(x), a_e(a_number(-1)))),
                      a_of(e_TANH(a_e(x)))};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
      AG_CHECK(!v_any(a_beside(made[k], 1)) || i == 1); /* a number that is anywhere: tanh and min have bounds */
      AG_CHECK(i == 1 || !v_any(a_beside(made[k], -1)));
    }
  }
  AG_CHECK(!v_any(a_beside(nothing, 1)) && !v_any(a_beside(a_SQRT(nothing), 1)) &&
           !v_any(a_beside(a_DIV(a_number(1), nothing), 1)));
}

int main(void) {
  check_each();
  check_chains();
  check_unknown();
  return ag_check_report();
}
