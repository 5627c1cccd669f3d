/* SPDX-License-Identifier: MIT
 * Factors of a state space. This text is compiled into the library and embedded into compiled kernels: it includes
 * nothing. */
#ifndef AG_STEP_FACTOR_H
#define AG_STEP_FACTOR_H
typedef enum ag_factor_kind {
  AG_FACTOR_VECTOR,     /* n components, n tangent coordinates: z + d */
  AG_FACTOR_QUATERNION, /* 4 components, 3 tangent coordinates: q exp(d), d in the body */
  AG_FACTOR_IMAGE       /* 3 components of a fixed vector seen from the body: exp(-d) v, d that of the quaternion */
} ag_factor_kind;

typedef struct ag_factor {
  ag_factor_kind kind;
  int z, n; /* offset in the state, number of components */
  int d;    /* offset in tangent vectors */
} ag_factor;
#endif
