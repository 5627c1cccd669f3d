/* SPDX-License-Identifier: MIT
 * Members of a batch that need the code of a single run. The thread whose lane they were in does not stop for them: its
 * other lanes would wait. They are queued, and any thread without a lane left takes them. */
#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "run/batch.h"

struct ag_solo {
  pthread_mutex_t lock;
  pthread_cond_t change;
  long *members, n;
  int n_putting; /* threads that may still put one */
};

ag_solo *ag_solo_create(long n) {
  ag_solo *a = ag_heap_alloc(sizeof *a);
  a->members = ag_heap_alloc(sizeof *a->members * (size_t)(n + 1));
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->change, NULL);
  return a;
}

void ag_solo_free(ag_solo *a) {
  pthread_cond_destroy(&a->change);
  pthread_mutex_destroy(&a->lock);
  free(a->members);
  free(a);
}

void ag_solo_put(ag_solo *a, long member) {
  pthread_mutex_lock(&a->lock);
  a->members[a->n++] = member;
  pthread_cond_signal(&a->change);
  pthread_mutex_unlock(&a->lock);
}

static void count(ag_solo *a, int more) {
  pthread_mutex_lock(&a->lock);
  a->n_putting += more;
  pthread_cond_broadcast(&a->change);
  pthread_mutex_unlock(&a->lock);
}

void ag_solo_begin(ag_solo *a) { count(a, 1); }
void ag_solo_end(ag_solo *a) { count(a, -1); }

long ag_solo_next(ag_solo *a) {
  pthread_mutex_lock(&a->lock);
  while (!a->n && a->n_putting) pthread_cond_wait(&a->change, &a->lock);
  long member = a->n ? a->members[--a->n] : -1;
  pthread_mutex_unlock(&a->lock);
  return member;
}
