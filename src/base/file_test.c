/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void put(const char *path, const char *text) {
  int fd = ag_file_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  AG_CHECK(fd >= 0 && ag_file_write(fd, text, strlen(text)) == strlen(text) && ag_file_sync(fd) && ag_file_close(fd));
}

static bool holds(const char *path, const char *text) {
  char got[100] = "";
  int fd = ag_file_open_regular(path);
  size_t n = fd >= 0 ? ag_file_read(fd, got, sizeof got - 1) : 0;
  if (fd >= 0) AG_CHECK(ag_file_close(fd));
  return fd >= 0 && n == strlen(text) && !strcmp(got, text);
}

static mode_t mode_of(const char *path) {
  struct stat s;
  return lstat(path, &s) ? 0 : s.st_mode & 0777;
}

static void bytes(void) {
  char got[8] = "";
  put("a", "hello");
  int fd = ag_file_open("a", O_RDWR, 0);
  AG_CHECK(ag_file_read_at(fd, got, 3, 2) == 3 && !strcmp(got, "llo"));
  AG_CHECK(ag_file_read_at(fd, got, 8, 2) == 3 && errno == 0); /* the end of a file is not an error */
  AG_CHECK(ag_file_write_at(fd, "y!", 2, 4) == 2 && ag_file_cut(fd, 5) && ag_file_reserve(fd, 5));
  AG_CHECK(ag_file_close(fd) && holds("a", "helly"));
  AG_CHECK(ag_file_open("missing", O_RDONLY, 0) < 0 && errno == ENOENT);
  AG_CHECK(ag_file_open_regular(".") < 0 && errno == EISDIR);
  AG_CHECK(!mkfifo("pipe", 0600));
  AG_CHECK(ag_file_open_regular("pipe") < 0 && errno == EINVAL); /* and does not wait */
  fd = ag_file_scratch();
  AG_CHECK(fd >= 0 && ag_file_write(fd, "x", 1) == 1 && ag_file_close(fd));
}

/* Lines around the size of the buffer, an empty one, and a last one without a newline. */
static void lines(void) {
  static const int sizes[] = {65535, 65536, 0, 65537, 3, 200000, 7};
  enum { N = sizeof sizes / sizeof *sizes };
  ag_text text = {0}, line = {0}, again = {0};
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < sizes[i]; k++) ag_text_char(&text, (char)('a' + (i + k) % 26));
    if (i + 1 < N) ag_text_char(&text, '\n');
  }
  put("lines", text.s);
  ag_lines *l = ag_lines_open("lines");
  int n = 0;
  for (; ag_lines_next(l, &line); n++) AG_CHECK(n < N && line.n == (size_t)sizes[n] + (n + 1 < N));
  AG_CHECK(n == N && !errno && !ag_lines_next(l, &line) && !errno);
  ag_lines_close(l);
  AG_CHECK(ag_file_text("lines", text.n, &again) && again.n == text.n && !strcmp(again.s, text.s));
  AG_CHECK(!ag_file_text("lines", text.n - 1, &again) && errno == EFBIG);
  AG_CHECK(!ag_file_text("missing", 1, &again) && errno == ENOENT && !ag_lines_open("missing") && errno == ENOENT);
  AG_CHECK(!ag_file_text(".", 1, &again) && errno == EISDIR);
  l = ag_lines_open(".");
  AG_CHECK(!ag_lines_next(l, &line) && errno == EISDIR);
  ag_lines_close(l);
  ag_text_done(&text);
  ag_text_done(&line);
  ag_text_done(&again);
}

static void moves(void) {
  put("from", "new");
  put("to", "old");
  AG_CHECK(!ag_file_move_new("from", "to") && errno == EEXIST && holds("to", "old") && holds("from", "new"));
  AG_CHECK(ag_file_move("from", "to") && holds("to", "new"));
  AG_CHECK(ag_file_move_new("to", "fresh") && holds("fresh", "new"));
  AG_CHECK(!symlink("fresh", "planted"));
  put("from", "newer");
  AG_CHECK(!ag_file_move_new("from", "planted") && errno == EEXIST && holds("fresh", "new"));
  AG_CHECK(ag_file_remove("planted") && ag_file_remove("from") && !ag_file_remove("from"));
}

static void targets(void) {
  ag_target_kind kind;
  ag_text real = {0};
  put("there", "x");
  AG_CHECK(ag_file_target("nothing", &kind, &real) && kind == AG_TARGET_NEW && !strcmp(real.s, "nothing"));
  AG_CHECK(ag_file_target("there", &kind, &real) && kind == AG_TARGET_REGULAR && !strcmp(real.s, "there"));
  AG_CHECK(!symlink("there", "link") && !symlink("gone", "dangling") && !symlink("loop", "loop"));
  AG_CHECK(ag_file_target("link", &kind, &real) && kind == AG_TARGET_REGULAR &&
           !strcmp(strrchr(real.s, '/'), "/there"));
  AG_CHECK(!ag_file_target("dangling", &kind, &real) && errno == ENOENT);
  AG_CHECK(!ag_file_target("loop", &kind, &real) && errno == ELOOP);
  AG_CHECK(!ag_file_target(".", &kind, &real) && errno == EISDIR);
  AG_CHECK(ag_file_target("pipe", &kind, &real) && kind == AG_TARGET_STREAM);
  AG_CHECK(ag_file_target("/dev/null", &kind, &real) && kind == AG_TARGET_STREAM);
  AG_CHECK(!chmod("there", 0444));
  AG_CHECK(geteuid() == 0 || (!ag_file_target("there", &kind, &real) && errno == EACCES));
  ag_text_done(&real);
}

static void count(void *self, const char *name) {
  ++*(int *)self;
  AG_CHECK(!access(name, R_OK));
}

static void temporaries(void) {
  ag_text one = {0}, two = {0};
  umask(027);
  int a = ag_file_temporary("sub/new.h5", &one), b = ag_file_temporary("sub/new.h5", &two), n = 0;
  AG_CHECK(a >= 0 && b >= 0 && strcmp(one.s, two.s) && !strncmp(one.s, "sub/new.h5.", 11));
  AG_CHECK(mode_of(one.s) == 0640);
  /* names and files that only look alike are not ours */
  put("sub/new.h5.0123456789ab.part.txt", "");
  put("sub/new.h5.part", "");
  put("sub/new.h5.0123456789xy.part", "");
  put("sub/other.h5.0123456789ab.part", "");
  AG_CHECK(!symlink("new.h5.part", "sub/new.h5.000000000000.part"));
  ag_file_leftovers("sub/new.h5", count, &n);
  AG_CHECK(n == 2);
  AG_CHECK(ag_file_close(a) && ag_file_close(b));
  put("sub/kept.csv", "");
  AG_CHECK(!chmod("sub/kept.csv", 0604));
  a = ag_file_temporary("sub/kept.csv", &one);
  AG_CHECK(a >= 0 && mode_of(one.s) == 0604 && ag_file_close(a)); /* the mode is that of the file it is to replace */
  char name[300] = "sub/";
  memset(name + 4, 'n', 255);
  a = ag_file_temporary(name, &one); /* the longest name that a file can have */
  AG_CHECK(a >= 0 && ag_file_close(a));
  n = 0;
  ag_file_leftovers(name, count, &n);
  AG_CHECK(n == 1);
  AG_CHECK(ag_file_temporary("nowhere/a", &one) < 0 && errno == ENOENT);
  ag_text_done(&one);
  ag_text_done(&two);
}

int main(void) {
  char folder[] = "/tmp/ag_file_XXXXXX", command[64];
  AG_CHECK(mkdtemp(folder) && !chdir(folder) && !mkdir("sub", 0700));
  bytes();
  lines();
  moves();
  targets();
  temporaries();
  AG_CHECK(!chdir("/"));
  snprintf(command, sizeof command, "rm -rf %s", folder);
  AG_CHECK(!system(command));
  return ag_check_report();
}
