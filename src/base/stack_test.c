/* SPDX-License-Identifier: MIT
 * A recursion that asks ends before the stack does, on the main thread and on a small one. */
#include "base/stack.h"

#include <pthread.h>

#include "check.h"

/* About 200 bytes a level; the levels that fit. */
static __attribute__((noinline)) int descend(const char *end, int depth) {
  volatile char room[128];
  room[depth % 128] = 1;
  if (ag_stack_low(end) || depth > 10000000) return depth + room[depth % 128] - 1;
  int deepest = descend(end, depth + 1);
  return deepest + room[depth % 128] - 1;
}

static void *on_thread(void *levels) {
  const char *end = ag_stack_end();
  AG_CHECK(end != NULL && !ag_stack_low(end));
  *(int *)levels = descend(end, 0);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  int main_levels, levels[2];
  on_thread(&main_levels);
  AG_CHECK(main_levels > 100 && main_levels < 10000000);
  static const size_t sizes[] = {256 << 10, 1024 << 10};
  for (int i = 0; i < 2; i++) {
    pthread_attr_init(&attributes);
    AG_CHECK(!pthread_attr_setstacksize(&attributes, sizes[i]));
    AG_CHECK(!pthread_create(&thread, &attributes, on_thread, &levels[i]));
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
  }
  AG_CHECK(levels[0] > 100 && levels[1] > 3 * levels[0]);
  AG_CHECK(!ag_stack_low(NULL));
  return ag_check_report();
}
