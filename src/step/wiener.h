/* SPDX-License-Identifier: MIT
 * A Wiener path and the steps taken along it. This text is compiled into the library and embedded into compiled
 * kernels: it includes nothing. */
#ifndef AG_STEP_WIENER_H
#define AG_STEP_WIENER_H
/* W is defined on a base grid t0 + k base. A step is `multiple` intervals of it (level 0) or 1/2^level of one (multiple
 * 1). Below area_level halvings of the base the path counts as straight, so that Levy areas are finite sums. Two paths
 * are the same when seed, t0, base (and, for the areas, area_level) agree. */
typedef struct ag_wiener {
  unsigned long long seed;
  double base;      /* > 0 */
  int channels;     /* at most 65536 */
  int multiple;     /* >= 1 */
  int level;        /* 0 .. AG_WIENER_LEVELS */
  int area_level;   /* 0 .. AG_WIENER_LEVELS: nodes of the areas per base interval, as a power of two */
  unsigned purpose; /* < 256: AG_WIENER_NOISE, or another of the uses below, whose numbers are independent */
  int mirror;       /* antithetic: path 2i + 1 is path 2i with the opposite sign */
  unsigned swap;    /* 1: steps 2i and 2i + 1 change places, for the antithetic coupling of two levels; else 0 */
} ag_wiener;
enum { AG_WIENER_LEVELS = 24 };
/* The random numbers of a step: [h | dW]; with Levy areas, [h | dW | A_12, A_13, .., A_23, ..]; with its halves,
 * [h | dW | h | D], D the increment of the first half minus that of the second; with a coin, [h | dW | h or -h | dW];
 * for a test, halves and a uniform number of (0, 1), times h. */
enum { AG_WIENER_PLAIN, AG_WIENER_AREAS, AG_WIENER_HALVES, AG_WIENER_COIN, AG_WIENER_TRIAL };
/* The purposes of the numbers of one seed. */
enum { AG_WIENER_NOISE, AG_WIENER_START, AG_WIENER_ACCEPT, AG_WIENER_CROSSING, AG_WIENER_ORDER };
#endif
