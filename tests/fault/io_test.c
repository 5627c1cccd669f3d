/* SPDX-License-Identifier: MIT
 * io_test FOLDER [all]: every command with its n-th call of open, read, write, rename or fsync failing, n = 1, 2, ...:
 * once with EIO; and all writes from there on with ENOSPC, as on a disk that is full. The calls of the program and
 * those of HDF5, in processes that it forks too, come here instead of to the C library. A command ends with exit code 3
 * and a message, or as it does without a fault; result files can be read afterwards, and no temporary file is left.
 * Of full disks, and under a sanitizer, only some of n are tried, unless `all` is given. */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "check.h"
#include "fault/fault.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIES = 6, TRIES_FULL = 3 }; /* a child takes a second */
#else
enum { TRIES = HUGE_COUNT, TRIES_FULL = 15 };
#endif

static atomic_long *fail_in; /* shared with the children; 0: none is to fail */
static bool full, every;     /* all writes from there on; all calls are tried */

static long fail_at(long n) { return atomic_exchange(fail_in, n); }

/* Is this call to fail? Standard input, output and error are not counted. */
static bool fails(int fd, bool writes) {
  if ((fd >= 0 && fd <= 2) || !fail_in || !atomic_load(fail_in)) return false;
  long n = atomic_load(fail_in) < 0 ? -1 : atomic_fetch_sub(fail_in, 1);
  bool fail = full ? n <= 1 && writes : n == 1;
  if (n <= 1) atomic_store(fail_in, full ? -1 : 0); /* from here on, or no more */
  if (fail) errno = full ? ENOSPC : EIO;
  return fail;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return fails(-1, (flags & O_CREAT) != 0) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t read(int fd, void *to, size_t n) { return fails(fd, false) ? -1 : syscall(SYS_read, fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) {
  return fails(fd, false) ? -1 : syscall(SYS_pread64, fd, to, n, at);
}
ssize_t write(int fd, const void *from, size_t n) { return fails(fd, true) ? -1 : syscall(SYS_write, fd, from, n); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
  return fails(fd, true) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}
int rename(const char *from, const char *to) { return fails(-1, false) ? -1 : (int)syscall(SYS_rename, from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  return fails(-1, false) ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}
int fsync(int fd) { return fails(fd, true) ? -1 : 0; } /* a test need not wait for the disk */
int ftruncate(int fd, off_t size) { return fails(fd, false) ? -1 : (int)syscall(SYS_ftruncate, fd, size); }

static const command commands[] = {
    {.words = {"check", "skate.nh"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "interpreted", "--every", "0.1", "-o", "one.csv"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "interpreted", "--every", "0.1", "-o", "one.json"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "interpreted", "--every", "0.1", "-o", "one.h5"},
     .writes = "one.h5"},
    {.words = {"info", "one.h5"}, .writes = "one.h5"},
    {.words = {"run", "--from", "one.h5", "--t1", "3", "--engine", "interpreted", "-o", "two.h5"}, .writes = "two.h5"},
    {.words = {"run", "skate.nh", "--t1", "9", "--section", "ahead", "--engine", "interpreted", "-o", "points.h5"},
     .writes = "points.h5"},
    {.words = {"run", "skate.nh", "--t1", "2", "--sweep", "a=1:3:5", "--engine", "interpreted", "--threads", "1", "-o",
               "many.csv"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--sweep", "a=1:3:5", "--engine", "interpreted", "--threads", "1", "-o",
               "many.h5"},
     .writes = "many.h5"},
    {.words = {"converge", "skate.nh", "--t1", "0.3", "--method", "rk4", "-o", "runs.csv"}},
    {.words = {"ensemble", "noisy.nh", "--paths", "20", "--dt", "0.1", "--t1", "1", "--threads", "1", "--engine",
               "interpreted", "-o", "paths.h5"},
     .writes = "paths.h5"},
    {.words = {"ensemble", "noisy.nh", "--paths", "20", "--dt", "0.1", "--t1", "1", "--threads", "1", "--engine",
               "interpreted", "-o", "paths.json"}},
    {.words = {"ensemble", "noisy.nh", "--paths", "40", "--dt", "0.1", "--t1", "1", "--threads", "1", "--engine",
               "interpreted", "--from", "paths.h5", "-o", "more.h5"},
     .writes = "more.h5"},
    {.words = {"ensemble", "noisy.nh", "--sweep", "x=1:2:2", "--paths", "4", "--dt", "0.1", "--t1", "1", "--engine",
               "interpreted", "-o", "sweep.csv"}},
    {.words = {"ensemble", "noisy.nh", "--target", "x=1", "--paths", "20", "--dt", "0.5", "--t1", "1", "--threads", "1",
               "--engine", "interpreted", "-o", "levels.json"}},
    {.words = {"converge", "noisy.nh", "--t1", "0.5", "--method", "euler_heun", "--paths", "64", "--threads", "1", "-o",
               "noisy.csv"}},
    {.words = {"plot", "paths.h5", "--histogram", "--term"}},
    {.words = {"ensemble", "noisy.nh", "--path", "3", "--dt", "0.1", "--t1", "1", "--engine", "interpreted", "-o",
               "path.csv"}},
    {.words = {"conserve", "skate.nh", "--degree", "1"}},
    {.words = {"conserve", "skate.nh", "--no-search", "--confirm", "1", "-o", "confirmed.csv"}},
    {.words = {"plot", "one.h5", "--term"}},
    {.words = {"plot", "one.csv", "--term"}},
    {.words = {"plot", "one.h5", "-o", "one.svg"}},
    {.words = {"view", "one.h5", "-o", "one.html"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "compiled"}},
};

/* The name of a temporary file that is left, or NULL. */
static const char *left_over(void) {
  static char name[256];
  DIR *dir = opendir(".");
  bool found = false;
  for (struct dirent *d; dir && !found && (d = readdir(dir));) {
    size_t n = strlen(d->d_name);
    found = n > 5 && !strcmp(d->d_name + n - 5, ".part");
    if (found) snprintf(name, sizeof name, "%s", d->d_name);
  }
  if (dir) closedir(dir);
  if (found) unlink(name);
  return found ? name : NULL;
}

static void try_call(const command *c, long n, int good) {
  char text[4096];
  int code = code_of(c->words, n, "bad.out", "bad.err");
  read_text("bad.err", text, sizeof text);
  bool right = code == good || (code == 3 && strstr(text, "error: "));
  if (right && !readable(c)) right = false;
  const char *name = left_over(); /* unless it is named in the message */
  if (name && strstr(text, name)) name = NULL;
  AG_CHECK(right && !name);
  if (!right || name) complain(c, name ? name : full ? "disk full from call" : "call", n, code, text);
}

static void try_command(const command *c) {
  int good = code_of(c->words, 0, "good.out", "good.err");
  long count = HUGE_COUNT - *left;
  if (without_page(c, good)) return;
  AG_CHECK(good == 0 && count > 0);
  for (int k = 0; k < 2; k++) {
    full = k > 0;
    long step = every ? 1 : count / (full ? TRIES_FULL : TRIES) + 1;
    for (long n = 1; n <= count; n += step) try_call(c, n, good);
  }
  full = false;
  /* and it works again */
  AG_CHECK(code_of(c->words, 0, "good.out", "good.err") == good);
}

int main(int argc, char **argv) {
  void *page = mmap(NULL, sizeof *fail_in, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc < 2 || page == MAP_FAILED || !prepare(argv[1], fail_at)) return 2;
  every = argc > 2 && !strcmp(argv[2], "all");
  fail_in = page;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) try_command(&commands[i]);
  return ag_check_report();
}
