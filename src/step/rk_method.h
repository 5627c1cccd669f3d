/* SPDX-License-Identifier: MIT
 * Makes the stepper functions of the tableau AG_RK_METHOD (method.h) and the data table_NAME. Included by rk.c once per
 * method. */
#define AG_GET_(a, b) AG_RK_##a##_##b
#define AG_GET2(a, b) AG_GET_(a, b)
#define AG_GET(b) AG_GET2(AG_RK_METHOD, b)
#define AG_TABLE2(a) table_##a
#define AG_TABLE(a) AG_TABLE2(a)

#define AG_STEP_NAME AG_RK_METHOD
#define AG_COUNT(j, b) +1
#define AG_STEP_ROOM ((AG_GET(TOP) + 2 + AG_GET(DEGREE) AG_GET(B)(AG_COUNT)) * n)
#define AG_STEP_END (AG_GET(LAST) * n)
#define AG_STEP_INTEGRAL
#include "step/method.h"
#undef AG_COUNT

#define AG_ENTRY(j, x) [j] = x,
#define AG_NODE(i, x, A) [i] = x,
#define AG_ROW(i, x, A) [i] = {A(AG_ENTRY)},
#define AG_DROW(m, D) [m] = {D(AG_ENTRY)},
static const ag_tableau AG_TABLE(AG_RK_METHOD) = {
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
#undef AG_TABLE
#undef AG_TABLE2
#undef AG_GET
#undef AG_GET2
#undef AG_GET_
#undef AG_RK_METHOD
