/* SPDX-License-Identifier: MIT
 * Members laid aside: each is taken once, by whatever thread, also when some threads only take and others put late;
 * no thread waits forever. */
#include <pthread.h>
#include <stdatomic.h>

#include "run/batch.h"
#include "tests/check.h"

enum { N_THREAD = 5, EACH = 2000, N = N_THREAD * EACH };

typedef struct scene {
  ag_solo *solo;
  atomic_int taken[N];
  int n_putting; /* threads that put members before they take */
} scene;
typedef struct helper {
  scene *s;
  int which;
} helper;

static void *help(void *self) {
  const helper *h = self;
  scene *s = h->s;
  ag_solo_begin(s->solo);
  for (int i = 0; i < EACH && h->which < s->n_putting; i++) ag_solo_put(s->solo, h->which * EACH + i);
  ag_solo_end(s->solo);
  for (long i; (i = ag_solo_next(s->solo)) >= 0;) atomic_fetch_add(&s->taken[i], 1);
  return NULL;
}

static void check_taken(int n_putting) {
  static scene s;
  pthread_t threads[N_THREAD];
  helper helpers[N_THREAD];
  s = (scene){.solo = ag_solo_create(N), .n_putting = n_putting};
  for (int i = 0; i < N_THREAD; i++) {
    helpers[i] = (helper){&s, i};
    AG_CHECK(pthread_create(&threads[i], NULL, help, &helpers[i]) == 0);
  }
  for (int i = 0; i < N_THREAD; i++) pthread_join(threads[i], NULL);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += s.taken[i] != (i < n_putting * EACH);
  AG_CHECK(wrong == 0);
  ag_solo_free(s.solo);
}

int main(void) {
  for (int n = 0; n <= N_THREAD; n++) check_taken(n);
  return ag_check_report();
}
