/* SPDX-License-Identifier: MIT */
#include "math/lapack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "math/dense.h"

/* The only variable of the library that is written to: what is loaded is loaded once for the whole process. */
static struct {
  pthread_mutex_t lock; /* of everything here */
  bool tried, ready;
  ag_lapack functions;
  int (*get_threads)(void); /* of OpenBLAS; NULL in other BLAS */
  void (*set_threads)(int n);
  int n_call, saved_threads; /* calls under way; threads before the first of them */
  char why[256];             /* it is not ready */
} lapack_library = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* As it was found when Anagyre was built: by its name as the loader knows it, else where it was. */
static void *open_library(void) {
  void *handle = dlopen(AG_LAPACKE_NAME, RTLD_LAZY | RTLD_LOCAL);
  if (handle) return handle;
  const char *why = dlerror();
  snprintf(lapack_library.why, sizeof lapack_library.why, "cannot load LAPACK (Debian: liblapacke): %s",
           why ? why : AG_LAPACKE_NAME);
  return dlopen(AG_LAPACKE_PATH, RTLD_LAZY | RTLD_LOCAL);
}

/* A function pointer from the loader's object pointer, which C does not convert. */
static bool find(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void load(void) {
  lapack_library.tried = true;
  void *handle = open_library();
  if (!handle) return;
  bool found = true;
#define X(name) found = found && find(handle, "LAPACKE_" #name, &lapack_library.functions.name);
  AG_LAPACK_FUNCTIONS(X)
#undef X
  lapack_library.ready = found;
  if (!found) snprintf(lapack_library.why, sizeof lapack_library.why, "%s lacks functions of LAPACK", AG_LAPACKE_NAME);
  if (!find(handle, "openblas_get_num_threads", &lapack_library.get_threads) ||
      !find(handle, "openblas_set_num_threads", &lapack_library.set_threads))
    lapack_library.set_threads = NULL;
}

const char *ag_dense_trouble(void) {
  pthread_mutex_lock(&lapack_library.lock);
  if (!lapack_library.tried) load();
  pthread_mutex_unlock(&lapack_library.lock);
  return lapack_library.ready ? NULL : lapack_library.why;
}

const ag_lapack *ag_lapack_begin(void) {
  pthread_mutex_lock(&lapack_library.lock);
  if (!lapack_library.tried) load();
  bool ready = lapack_library.ready;
  if (ready && lapack_library.n_call++ == 0 && lapack_library.set_threads) {
    lapack_library.saved_threads = lapack_library.get_threads();
    if (lapack_library.saved_threads != 1) lapack_library.set_threads(1);
  }
  pthread_mutex_unlock(&lapack_library.lock);
  return ready ? &lapack_library.functions : NULL;
}

void ag_lapack_end(void) {
  pthread_mutex_lock(&lapack_library.lock);
  if (--lapack_library.n_call == 0 && lapack_library.set_threads && lapack_library.saved_threads != 1)
    lapack_library.set_threads(lapack_library.saved_threads);
  pthread_mutex_unlock(&lapack_library.lock);
}
