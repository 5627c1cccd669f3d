/* SPDX-License-Identifier: MIT
 * io_test FOLDER: every command with its n-th call of open, read, write, rename or fsync failing, n = 1, 2, ... The
 * calls of the program and those of HDF5 come here instead of to the C library. A command ends with exit code 3 and a
 * message, or as it does without a fault, and result files can be read afterwards. */
#define _GNU_SOURCE /* renameat2 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "check.h"
#include "fault/fault.h"

static atomic_long fail_in;
static int fail_with = EIO;

static long fail_at(long n) { return atomic_exchange(&fail_in, n); }

/* Is this call to fail? Standard input, output and error are not counted. */
static bool fails(int fd) {
  if (fd >= 0 && fd <= 2) return false;
  if (!atomic_load(&fail_in) || atomic_fetch_sub(&fail_in, 1) != 1) return false;
  errno = fail_with;
  return true;
}

int open(const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
  va_end(list);
  return fails(-1) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
ssize_t read(int fd, void *to, size_t n) { return fails(fd) ? -1 : syscall(SYS_read, fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) { return fails(fd) ? -1 : syscall(SYS_pread64, fd, to, n, at); }
ssize_t write(int fd, const void *from, size_t n) { return fails(fd) ? -1 : syscall(SYS_write, fd, from, n); }
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
  return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, from, n, at);
}
int rename(const char *from, const char *to) { return fails(-1) ? -1 : (int)syscall(SYS_rename, from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  return fails(-1) ? -1 : (int)syscall(SYS_renameat2, a, from, b, to, flags);
}
int fsync(int fd) { return fails(fd) ? -1 : (int)syscall(SYS_fsync, fd); }
int ftruncate(int fd, off_t size) { return fails(fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size); }

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
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "compiled"}},
};

static void try_command(const command *c) {
  char text[4096];
  int good = code_of(c->words, 0, "good.out", "good.err");
  long count = HUGE_COUNT - *left;
  AG_CHECK(good == 0 && count > 0);
  for (long n = 1; n <= count; n++) {
    int code = code_of(c->words, n, "bad.out", "bad.err");
    read_text("bad.err", text, sizeof text);
    bool right = code == good || (code == 3 && strstr(text, "error: "));
    if (right && !readable(c)) right = false;
    AG_CHECK(right);
    if (!right) complain(c, "call", n, code, text);
  }
  /* and it works again */
  AG_CHECK(code_of(c->words, 0, "good.out", "good.err") == good);
}

int main(int argc, char **argv) {
  if (argc < 2 || !prepare(argv[1], fail_at)) return 2;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) try_command(&commands[i]);
  return ag_check_report();
}
