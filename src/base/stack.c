/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "base/stack.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* What functions that do not recurse, and those of the C library, may need below. The kernel also counts arguments and
 * environment, which are above. */
enum { RESERVE = 40 << 10 };

const char *ag_stack_end(void) {
  pthread_attr_t attributes;
  void *end = NULL;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attributes)) return NULL;
  if (pthread_attr_getstack(&attributes, &end, &size)) end = NULL;
  pthread_attr_destroy(&attributes);
  return end;
}

bool ag_stack_low(const char *end) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  return end && here - (uintptr_t)end < RESERVE;
}
