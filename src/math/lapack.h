/* SPDX-License-Identifier: MIT
 * Inside math/: LAPACK, loaded when it is first needed. Loading it takes as long as everything else that a short
 * command does. While calls are under way BLAS is held to one thread: for matrices as small as ours a second one makes
 * it many times slower. The caller's own number of threads is put back when no call is left. */
#ifndef AG_MATH_LAPACK_H
#define AG_MATH_LAPACK_H
#include <lapacke.h>

#define AG_LAPACK_FUNCTIONS(X) X(dgesv) X(dgetrf) X(dgecon) X(dgesvd) X(dpotrf) X(dgeev) X(dsyev)

typedef struct ag_lapack {
#define X(name) __typeof__(LAPACKE_##name) *name;
  AG_LAPACK_FUNCTIONS(X)
#undef X
} ag_lapack;

/* The functions, to be released by ag_lapack_end, which takes and returns the info of the call; when LAPACK
 * cannot be loaded, or has no memory for a call, this ends as allocation does, with the reason. Where no call is
 * guarded it returns NULL if LAPACK cannot be loaded, and nothing needs to be released. Nothing may be allocated in
 * between. */
const ag_lapack *ag_lapack_begin(void);
int ag_lapack_end(int info);
#endif
