/* SPDX-License-Identifier: MIT
 * Building and caching: found again, rebuilt when damaged or changed, safe when several processes want the same at
 * once, pruned, refused when others may write to the folder; and one line of reason when nothing can be built. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kern/kern.h"

#include "check.h"

static char folder[64];

static void source_of(int value, ag_text *out) {
  ag_text_clear(out);
  ag_cgen_prologue(0, out);
  ag_text_printf(out, "int answer(void) { return %d * AG_LANES; }\n", value);
}

/* The answer of the library, or -1; says whether it came from the cache. */
static int build(int value, const ag_build_options *o, bool *cached, ag_text *reason) {
  ag_text source = {0};
  source_of(value, &source);
  ag_library *lib = ag_library_create(ag_text_cstr(&source), NULL, o, reason);
  ag_text_done(&source);
  if (!lib) return -1;
  int (*answer)(void);
  *(void **)&answer = ag_library_symbol(lib, "answer");
  int got = answer ? answer() : -2;
  *cached = ag_library_cached(lib);
  AG_CHECK(ag_library_symbol(lib, "no_such_name") == NULL);
  ag_library_free(lib);
  return got;
}

typedef void visit_fn(const char *path);
static int each_file(const char *suffix, visit_fn *visit) {
  DIR *d = opendir(folder);
  int n = 0;
  for (struct dirent *e; d && (e = readdir(d));) {
    size_t a = strlen(e->d_name), b = strlen(suffix);
    if (e->d_name[0] == '.' || a < b || strcmp(e->d_name + a - b, suffix)) continue;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (visit) visit(path);
    n++;
  }
  if (d) closedir(d);
  return n;
}
static void remove_file(const char *path) { AG_CHECK(unlink(path) == 0); }
static void damage(const char *path) { AG_CHECK(truncate(path, 100) == 0); }
static void make_old(const char *path) {
  struct timespec old[2] = {{1000000, 0}, {1000000, 0}};
  AG_CHECK(utimensat(AT_FDCWD, path, old, 0) == 0);
}

static void test_cache(const ag_build_options *o, ag_text *reason) {
  bool cached = true;
  AG_CHECK(build(6, o, &cached, reason) == 24 && !cached);
  AG_CHECK_STR(ag_text_cstr(reason), "");
  AG_CHECK(build(6, o, &cached, reason) == 24 && cached);
  AG_CHECK(build(7, o, &cached, reason) == 28 && !cached); /* another text */
  ag_build_options two = *o;
  two.lanes = 2;
  AG_CHECK(build(7, &two, &cached, reason) == 14 && !cached); /* other flags */
  AG_CHECK(each_file(".so", NULL) == 3 && each_file(".c", NULL) == 3);
  each_file(".so", damage);
  AG_CHECK(build(6, o, &cached, reason) == 24 && !cached);
  AG_CHECK(build(6, o, &cached, reason) == 24 && cached);
}

/* Bytes of the library itself, of its tables and of the seal turned: it is built again, and the answer is right. */
static void turn_bytes(const char *path) {
  static const double places[] = {0.01, 0.3, 0.6, 0.9, 0.999};
  static int turn;
  struct stat s;
  char byte = 0;
  AG_CHECK(!stat(path, &s));
  off_t at = (off_t)(places[turn++ % 5] * (double)s.st_size);
  int fd = open(path, O_RDWR);
  AG_CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
  byte = (char)~byte;
  AG_CHECK(pwrite(fd, &byte, 1, at) == 1 && !close(fd));
}

static void test_damaged(const ag_build_options *o, ag_text *reason) {
  bool cached;
  each_file("", remove_file);
  mode_t usual = umask(002);
  AG_CHECK(build(8, o, &cached, reason) == 32 && !cached);
  for (int i = 0; i < 5; i++) {
    each_file(".so", turn_bytes);
    AG_CHECK(build(8, o, &cached, reason) == 32 && !cached);
    AG_CHECK(build(8, o, &cached, reason) == 32 && cached); /* also with a umask that lets the group write */
  }
  umask(usual);
}

/* Several libraries at the same time are different ones. */
static void test_several(const ag_build_options *o, ag_text *reason) {
  ag_library *libs[4];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 4; i++) {
      ag_text source = {0};
      source_of(50 + i, &source);
      libs[i] = ag_library_create(ag_text_cstr(&source), NULL, o, reason);
      ag_text_done(&source);
    }
    for (int i = 0; i < 4; i++) {
      int (*answer)(void);
      *(void **)&answer = ag_library_symbol(libs[i], "answer");
      AG_CHECK(answer() == 4 * (50 + i));
    }
    for (int i = 3; i >= 0; i--) ag_library_free(libs[i]);
  }
  each_file("", remove_file);
}

/* Six processes, two texts, no cache yet: each gets the right answer; nothing unfinished stays. */
static void test_together(const ag_build_options *o) {
  each_file("", remove_file);
  pid_t pids[6];
  for (int i = 0; i < 6; i++)
    if ((pids[i] = fork()) == 0) {
      ag_text reason = {0};
      bool cached;
      _exit(build(10 + i % 2, o, &cached, &reason) == 40 + 4 * (i % 2) ? 0 : 1);
    }
  for (int i = 0; i < 6; i++) {
    int status = -1;
    AG_CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
  }
  AG_CHECK(each_file("", NULL) == 4);
}

/* Killed while compiling: what is left does no harm and goes away later. The compiler itself may go on; it holds the
 * write end of a pipe until it ends. */
static void test_killed(const ag_build_options *o, ag_text *reason) {
  each_file("", remove_file);
  int ends[2];
  AG_CHECK(pipe(ends) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    bool cached;
    (void)build(20, o, &cached, reason);
    _exit(0);
  }
  close(ends[1]);
  while (each_file(".c", NULL) == 0) usleep(1000);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  AG_CHECK(read(ends[0], &(char){0}, 1) == 0);
  close(ends[0]);
  bool cached;
  AG_CHECK(build(20, o, &cached, reason) == 80);
  each_file("", make_old);
  AG_CHECK(build(20, o, &cached, reason) == 80 && cached);
  ag_cache_prune(folder, (size_t)1 << 30); /* only leftovers go */
  AG_CHECK(each_file(".so", NULL) == 1);
  ag_cache_prune(folder, 0);
  AG_CHECK(each_file("", NULL) == 0);
}

/* ANAGYRE_TARGET: a separate library with its own number of lanes; targets that are unknown or not supported by the
 * machine are refused by name. */
static void test_target(const ag_build_options *o, ag_text *reason) {
  bool cached = true;
  ag_build_options usual = {.cache = o->cache};
  AG_CHECK(build(40, &usual, &cached, reason) == 40 * ag_build_lanes() && !cached);
#if defined __x86_64__
  AG_CHECK(setenv("ANAGYRE_TARGET", "sse2", 1) == 0);
  AG_CHECK(ag_build_lanes() == 2);
  AG_CHECK(build(40, &usual, &cached, reason) == 80 && !cached);
  AG_CHECK(build(40, &usual, &cached, reason) == 80 && cached);
#endif
  AG_CHECK(setenv("ANAGYRE_TARGET", "avx3", 1) == 0);
  AG_CHECK(build(40, &usual, &cached, reason) == -1);
  AG_CHECK(strstr(ag_text_cstr(reason), "ANAGYRE_TARGET=avx3: no such target; there are native"));
  AG_CHECK(setenv("ANAGYRE_TARGET", "native", 1) == 0);
  AG_CHECK(build(40, &usual, &cached, reason) == 40 * ag_build_lanes() && cached);
  AG_CHECK(unsetenv("ANAGYRE_TARGET") == 0);
  each_file("", remove_file);
}

static void write_program(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  AG_CHECK(f && fputs(text, f) >= 0 && !fclose(f) && !chmod(path, 0700));
}

/* A clang that does not know the options that only save time, and no linker beside it: compiled without those options,
 * linked by the compiler; and a linker that fails: the same. */
static void test_plain_tools(const ag_build_options *o, ag_text *reason) {
  char tools[] = "/tmp/anagyre_tools_XXXXXX", clang[64], ld[64], whole[4096];
  bool cached = true;
  AG_CHECK(mkdtemp(tools) != NULL);
  snprintf(clang, sizeof clang, "%s/clang", tools);
  snprintf(ld, sizeof ld, "%s/ld", tools);
  snprintf(whole, sizeof whole,
           "#!/bin/sh\nPATH='%s'\ncase \"$*\" in\n*-mllvm*) echo \"unknown option -mllvm\" >&2; exit 1;;\nesac\n"
           "exec cc \"$@\"\n",
           getenv("PATH"));
  write_program(clang, whole);
  char *path = strdup(getenv("PATH"));
  ag_build_options other = {.cache = o->cache, .lanes = 1, .compiler = clang};
  AG_CHECK(setenv("PATH", tools, 1) == 0);
  AG_CHECK(build(60, &other, &cached, reason) == 60 && !cached);
  AG_CHECK_STR(ag_text_cstr(reason), "");
  write_program(ld, "#!/bin/sh\nexit 1\n");
  AG_CHECK(build(61, &other, &cached, reason) == 61 && !cached);
  AG_CHECK(build(61, &other, &cached, reason) == 61 && cached);
  AG_CHECK(setenv("PATH", path, 1) == 0);
  free(path);
  AG_CHECK(unlink(clang) == 0 && unlink(ld) == 0 && rmdir(tools) == 0);
  each_file("", remove_file);
}

static void test_refused(const ag_build_options *o, ag_text *reason) {
  bool cached = true;
  AG_CHECK(chmod(folder, 0777) == 0); /* anybody could put code there */
  AG_CHECK(build(30, o, &cached, reason) == 120 && !cached);
  AG_CHECK(each_file("", NULL) == 0);
  AG_CHECK(chmod(folder, 0700) == 0);
  ag_build_options other = *o;
  other.compiler = "/no/such/compiler";
  AG_CHECK(build(30, &other, &cached, reason) == -1);
  AG_CHECK_STR(ag_text_cstr(reason), "the compiler /no/such/compiler was not found");
  other.compiler = "none";
  AG_CHECK(build(30, &other, &cached, reason) == -1);
  AG_CHECK_STR(ag_text_cstr(reason), "compiled kernels are switched off");
  other = *o;
  other.flags = "-O1 -DAG_KERN_ABI=99 -Dv_fma=2"; /* does not compile */
  AG_CHECK(build(30, &other, &cached, reason) == -1);
  AG_CHECK(strstr(ag_text_cstr(reason), "failed: ") && strstr(ag_text_cstr(reason), "error"));
  AG_CHECK(!strchr(ag_text_cstr(reason), '\n'));
  AG_CHECK(each_file("", NULL) == 0);
  setenv("PATH", "/nowhere", 1);
  other = *o;
  AG_CHECK(build(30, &other, &cached, reason) == -1);
  AG_CHECK_STR(ag_text_cstr(reason), "no C compiler was found");
}

int main(void) {
  strcpy(folder, "/tmp/anagyre_build_XXXXXX");
  if (!mkdtemp(folder)) return 1;
  ag_build_options o = {.cache = folder, .lanes = 4, .flags = "-O1"};
  ag_text reason = {0};
  AG_CHECK(unsetenv("ANAGYRE_TARGET") == 0);
  int lanes = ag_build_lanes();
  AG_CHECK(lanes == 2 || lanes == 4 || lanes == 8);
  test_cache(&o, &reason);
  test_damaged(&o, &reason);
  test_several(&o, &reason);
  test_together(&o);
  test_killed(&o, &reason);
  test_target(&o, &reason);
  test_plain_tools(&o, &reason);
  test_refused(&o, &reason);
  ag_text_done(&reason);
  AG_CHECK(rmdir(folder) == 0);
  return ag_check_report();
}
