/* SPDX-License-Identifier: MIT
 * LAPACK from several threads at once: the same numbers, and the number of BLAS threads as the process had it. */
#include "math/lapack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "math/dense.h"

enum { N = 40, THREADS = 4, ROUNDS = 50 };

static int singular_values(double *s) {
  double A[N * N];
  for (int i = 0; i < N * N; i++) A[i] = 1.0 / (1 + i % N + i / N) + (i % 7) * 0.1;
  return ag_dense_svals(N, N, A, s);
}

static void *worker(void *self) {
  for (int i = 0; i < ROUNDS; i++)
    if (singular_values(self)) return self;
  return NULL;
}

/* A function of the library that is loaded. */
static void find(const char *name, void *function) {
  void *handle = dlopen(AG_LAPACKE_NAME, RTLD_LAZY | RTLD_NOLOAD);
  AG_CHECK(handle != NULL);
  void *symbol = handle ? dlsym(handle, name) : NULL;
  memcpy(function, &symbol, sizeof symbol);
}

int main(void) {
  double alone[N], s[THREADS][N];
  pthread_t threads[THREADS];
  AG_CHECK(!dlopen(AG_LAPACKE_NAME, RTLD_LAZY | RTLD_NOLOAD)); /* not before it is needed */
  AG_CHECK(!singular_values(alone));
  int (*get)(void) = NULL;
  void (*set)(int) = NULL;
  find("openblas_get_num_threads", &get);
  find("openblas_set_num_threads", &set);
  if (set) set(3);
  AG_CHECK(!singular_values(alone));
  AG_CHECK(!get || get() == 3);
  for (int i = 0; i < THREADS; i++) AG_CHECK(!pthread_create(&threads[i], NULL, worker, s[i]));
  for (int i = 0; i < THREADS; i++) {
    void *failed;
    AG_CHECK(!pthread_join(threads[i], &failed) && !failed && !memcmp(s[i], alone, sizeof alone));
  }
  AG_CHECK(!get || get() == 3);
  const ag_lapack *lapack = ag_lapack_begin();
  AG_CHECK(lapack && (!get || get() == 1)); /* while a call is under way */
  AG_CHECK(ag_lapack_end(0) == 0);
  return ag_check_report();
}
