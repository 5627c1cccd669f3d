/* SPDX-License-Identifier: MIT
 * To be preloaded: of all calls that allocate, in the program and in every library it uses, call number AG_FAIL_AT
 * fails, and with AG_FAIL_ON=1 all later ones too. The number of calls is written to the file AG_FAIL_COUNT at exit.
 * Processes that the program forks share the count; programs that it starts are left alone. So is the loading of a
 * library: the loader, and what libgfortran does when it is loaded, do not return without memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The allocator itself, below the functions that this file replaces. */
extern void *libc_malloc(size_t size) __asm__("__libc_malloc");
extern void *libc_calloc(size_t n, size_t size) __asm__("__libc_calloc");
extern void *libc_realloc(void *block, size_t size) __asm__("__libc_realloc");
extern void *libc_memalign(size_t align, size_t size) __asm__("__libc_memalign");

static atomic_long *count; /* shared by all processes */
static long fail_at, fail_on;
static pid_t first;
static _Thread_local int loading;
static char report[4096];

static long number(const char *name) {
  const char *text = getenv(name);
  return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("AG_FAIL_COUNT");
  fail_at = number("AG_FAIL_AT");
  fail_on = number("AG_FAIL_ON");
  first = getpid();
  if (file) snprintf(report, sizeof report, "%s", file);
  unsetenv("LD_PRELOAD");
  void *page = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) count = page;
}

__attribute__((destructor)) static void end(void) {
  char text[32];
  if (!count || !report[0] || getpid() != first) return;
  int n = snprintf(text, sizeof text, "%ld\n", atomic_load(count)),
      fd = open(report, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd >= 0 && write(fd, text, (size_t)n) != n) _exit(99);
  if (fd >= 0) close(fd);
}

static bool fails(void) {
  if (!count || loading) return false;
  long n = atomic_fetch_add(count, 1) + 1;
  if (!fail_at || (n != fail_at && (!fail_on || n < fail_at))) return false;
  errno = ENOMEM;
  return true;
}

void *dlopen(const char *path, int flags) {
  union {
    void *found;
    void *(*call)(const char *path, int flags);
  } real;
  loading++;
  real.found = dlsym(RTLD_NEXT, "dlopen");
  void *library = real.call(path, flags);
  loading--;
  return library;
}

void *malloc(size_t size) { return fails() ? NULL : libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : libc_calloc(n, size); }
void *realloc(void *block, size_t size) { return fails() ? NULL : libc_realloc(block, size); }
void *aligned_alloc(size_t align, size_t size) { return fails() ? NULL : libc_memalign(align, size); }
int posix_memalign(void **block, size_t align, size_t size) {
  *block = fails() ? NULL : libc_memalign(align, size);
  return *block ? 0 : ENOMEM;
}
