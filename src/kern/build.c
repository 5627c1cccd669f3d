/* SPDX-License-Identifier: MIT
 * C text -> loaded library. The compiler is started without a shell; what it makes is kept under a name that is the
 * hash of everything it depends on (text, flags, compiler, processor, ABI), sealed with a hash of its bytes, and put in
 * place by renaming: runs at the same time, or killed in the middle, never see half a file. What is loaded is a copy in
 * memory of the bytes that were verified, not the file. */
#define _GNU_SOURCE /* memfd_create */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "kern/cache.h"
#include "kern/compile.h"
#include "kern/hash.h"
#include "kern/kern.h"

enum { CACHE_BYTES = 256 << 20, LONG_TEXT = 128 << 10 };

struct ag_library {
  void *handle;
  int fd; /* its bytes: kept open, since the loader knows libraries by the name /proc/self/fd/N */
  bool cached;
};

/* The inputs of a build besides the text. */
typedef struct plan {
  ag_text compiler; /* its path */
  ag_compiler command;
  ag_text folder;  /* where the library goes */
  bool keep;       /* folder is the cache, not a temporary one */
  char *temporary; /* the latter, or NULL */
  char key[33];
  ag_arena *arena;
} plan;

/* clang's second scheduling takes up to half of the time for functions as long as ours, and processors that reorder
 * instructions themselves gain nothing from it. */
static const char LESS_WORK[] = "-mllvm -disable-post-ra";

/* ---- the machine ---- */

/* The target of kernels: the machine itself, or an older instruction set (ANAGYRE_TARGET). */
typedef struct target {
  const char *name, *flags;
  int lanes;
} target;

static const target targets[] = {
#if defined __x86_64__
    {"avx512", "-march=x86-64-v4 -mtune=native", 8},
    {"avx2", "-march=x86-64-v3 -mtune=native", 4},
    {"sse2", "-march=x86-64 -mtune=native", 2},
#else
    {"plain", "", 2},
#endif
};
enum { N_TARGET = sizeof targets / sizeof *targets };

static bool machine_has(const target *t) {
#if defined __x86_64__
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd");
  return t->lanes == 8 ? avx512 : t->lanes == 4 ? avx2 : true;
#else
  return t != NULL;
#endif
}

/* The requested compiler; NULL if none was requested. False, with the reason, if it is not available. */
static bool find_target(const target **found, ag_text *reason) {
  const char *wish = getenv("ANAGYRE_TARGET");
  *found = NULL;
  if (!wish || !wish[0] || !strcmp(wish, "native")) return true;
  for (int i = 0; i < N_TARGET; i++)
    if (!strcmp(wish, targets[i].name)) *found = &targets[i];
  if (*found && machine_has(*found)) return true;
  ag_text_printf(reason, "ANAGYRE_TARGET=%s: %s; there are native", wish,
                 *found ? "this machine cannot run it" : "no such target");
  for (int i = 0; i < N_TARGET; i++)
    if (machine_has(&targets[i])) ag_text_printf(reason, ", %s", targets[i].name);
  *found = NULL;
  return false;
}

int ag_build_lanes(void) {
  const target *asked;
  ag_text ignored = {0};
  (void)find_target(&asked, &ignored);
  ag_text_done(&ignored);
  for (int i = 0; i < N_TARGET && !asked; i++)
    if (machine_has(&targets[i])) asked = &targets[i];
  return asked ? asked->lanes : 2;
}

bool ag_build_pairs(void) {
  int lanes = ag_build_lanes();
  return lanes == 4 || lanes == 8; /* the halves that expr/vtype.h knows */
}

/* ---- clean-up when memory runs out ---- */

static void remove_file(void *path) { (void)unlink(path); }
static void remove_folder(void *path) { (void)rmdir(path); }
static void close_library(void *handle) { dlclose(handle); }

/* ---- the key ---- */

/* The lines of the first processor that decide what -march=native means. */
static void hash_processor(ag_hash *h) {
  static const char *const words[] = {"vendor_id", "model name", "flags", "Features", "CPU part", "isa"};
  ag_lines *f = ag_lines_open("/proc/cpuinfo");
  ag_text line = {0};
  while (f && ag_lines_next(f, &line) && line.s[0] != '\n')
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (!strncmp(line.s, words[i], strlen(words[i]))) ag_hash_str(h, line.s);
  ag_lines_close(f);
  ag_text_done(&line);
}

static void make_key(plan *p, const char *source, const ag_abi *abi) {
  ag_hash h;
  struct stat s = {0};
  char number[200];
  ag_hash_init(&h);
  ag_hash_str(&h, source);
  for (int i = 0; i < p->command.n_arg; i++) ag_hash_str(&h, p->command.args[i]);
  (void)stat(p->command.args[0], &s);
  snprintf(number, sizeof number, "abi %s %u %zu size %lld time %lld %ld", abi->type, abi->number, abi->size,
           (long long)s.st_size, (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
  ag_hash_str(&h, number);
  hash_processor(&h);
  ag_hash_name(&h, p->key);
}

static void add_arg(plan *p, const char *arg, size_t n) {
  ag_compiler *c = &p->command;
  if (n > 0 && c->n_arg < AG_COMPILE_ARGS - 8) c->args[c->n_arg++] = ag_arena_strn(p->arena, arg, n);
}

static void add_args(plan *p, const char *args) {
  while (*args) {
    size_t n = strcspn(args, " ");
    add_arg(p, args, n);
    args += n + (args[n] == ' ');
  }
}

static bool make_plan(plan *p, const char *source, const ag_abi *abi, const ag_build_options *o, ag_text *reason) {
  p->arena = ag_arena_create();
  const target *asked;
  if (!ag_compiler_find(o->compiler, &p->compiler, reason) || !find_target(&asked, reason)) return false;
  add_arg(p, ag_text_cstr(&p->compiler), p->compiler.n);
  add_args(p, "-std=gnu17 -ffp-contract=off -fno-math-errno -fPIC -pipe -Wno-psabi");
  if (o->flags) add_args(p, o->flags);
  else {
    const size_t longest = o->thorough ? 2 * LONG_TEXT : LONG_TEXT;
    add_args(p, strlen(source) > longest ? "-O1" : "-O2 -fno-tree-slp-vectorize");
    add_args(p, asked ? asked->flags : "-march=native");
  }
  add_args(p, ag_arena_printf(p->arena, "-DAG_LANES=%d", o->lanes ? o->lanes : ag_build_lanes()));
  p->command.n_needed = p->command.n_arg;
  if (!o->flags && ag_compiler_is_clang(ag_text_cstr(&p->compiler))) add_args(p, LESS_WORK);
  make_key(p, source, abi);
  p->keep = ag_cache_folder(o->cache, &p->folder);
  if (p->keep) return true;
  const char *tmp = getenv("TMPDIR");
  char *folder = ag_arena_printf(p->arena, "%s/anagyre-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
  ag_text_clear(&p->folder);
  if (!mkdtemp(folder)) {
    ag_text_printf(reason, "no folder for compiled kernels: %s: %s", folder, strerror(errno));
    return false;
  }
  p->temporary = folder;
  ag_heap_hold(remove_folder, folder);
  ag_text_str(&p->folder, folder);
  return true;
}

static void drop_plan(plan *p) {
  if (p->temporary) {
    ag_heap_let_go(remove_folder, p->temporary);
    (void)rmdir(p->temporary);
  }
  ag_text_done(&p->compiler);
  ag_text_done(&p->folder);
  ag_arena_free(p->arena);
}

/* ---- compiling ---- */

/* The first line that mentions an error, else the first line. */
static void give_reason(ag_text *reason, const char *compiler, const char *messages) {
  const char *at = strstr(messages, "error");
  while (at && at > messages && at[-1] != '\n') at--;
  if (!at) at = messages;
  int n = (int)strcspn(at, "\n");
  ag_text_printf(reason, "%s failed: %.*s", compiler, n > 200 ? 200 : n, at);
}

/* Writes the source next to the library; the name is unique until it is renamed. */
static bool write_source(const char *source, char *path) {
  int fd = ag_file_unique(path, 2);
  size_t n = strlen(source);
  if (fd < 0) return false;
  bool good = ag_file_write(fd, source, n) == n;
  return ag_file_close(fd) && good;
}

/* ---- loading ---- */

/* A file in memory with these bytes, sealed; -1: the system has none, or no /proc to load it from. */
static int memory_file(const ag_text *bytes) {
#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif
  int fd = memfd_create("anagyre", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd < 0) fd = memfd_create("anagyre", MFD_CLOEXEC | MFD_ALLOW_SEALING); /* older systems */
  if (fd < 0) return -1;
  if (ag_file_write(fd, bytes->s, bytes->n) == bytes->n && !access("/proc/self/fd", X_OK) &&
      !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW))
    return fd;
  (void)ag_file_close(fd);
  return -1;
}

static void drop_file(int fd) {
  if (fd < 0) return;
  ag_heap_let_go_file(fd);
  (void)ag_file_close(fd);
}

/* Loads these bytes from memory, or else from a private file in the folder that is removed at once. */
static void *open_bytes(const plan *p, const ag_text *bytes, int *fd) {
  ag_text name = {0};
  char same[40];
  void *handle = NULL;
  *fd = memory_file(bytes);
  if (*fd >= 0) {
    ag_heap_hold_file(*fd);
    snprintf(same, sizeof same, "/proc/self/fd/%d", *fd);
    handle = dlopen(same, RTLD_NOW | RTLD_LOCAL);
  }
  if (!handle) {
    drop_file(*fd);
    ag_text_printf(&name, "%s/%s-XXXXXX.so", ag_text_cstr(&p->folder), p->key);
    *fd = ag_file_unique(name.s, 3);
    ag_heap_hold_file(*fd);
    if (*fd >= 0 && ag_file_write(*fd, bytes->s, bytes->n) == bytes->n) handle = dlopen(name.s, RTLD_NOW | RTLD_LOCAL);
    if (*fd >= 0) (void)ag_file_remove(name.s);
  }
  if (!handle) drop_file(*fd);
  else ag_heap_hold(close_library, handle);
  ag_text_done(&name);
  return handle;
}

static void unload(void *handle, int fd) {
  ag_heap_let_go(close_library, handle);
  dlclose(handle);
  drop_file(fd);
}

/* Loads a library, unless it is not the one of this key or takes other arguments than ours: *reason then says so. */
static void *load(const plan *p, const ag_text *bytes, const ag_abi *abi, int *fd, ag_text *reason) {
  void *handle = open_bytes(p, bytes, fd);
  if (!handle) {
    ag_text_str(reason, "the compiled kernel could not be loaded");
    return NULL;
  }
  const unsigned *number = dlsym(handle, "ag_kernel_abi");
  const unsigned long *size = dlsym(handle, "ag_kernel_args");
  const char *has = dlsym(handle, "ag_kernel_key");
  if (!number || !size || !has || strcmp(has, p->key))
    ag_text_str(reason, "the compiled kernel is not what its name says");
  else if (*number == abi->number && *size == abi->size) return handle;
  else
    ag_text_printf(reason, "the compiled kernel takes %s %u of %lu bytes, not %u of %zu", abi->type, *number, *size,
                   abi->number, abi->size);
  unload(handle, *fd);
  return NULL;
}

/* Compiles in the folder: the bytes of the library. In the cache, the source stays beside it. */
static bool compile(plan *p, const char *source, const ag_abi *abi, const char *final, ag_text *bytes,
                    ag_text *reason) {
  char *c = ag_arena_printf(p->arena, "%s/%s-XXXXXX.c", ag_text_cstr(&p->folder), p->key);
  ag_text messages = {0}, whole = {0};
  ag_text_str(&whole, source);
  ag_text_printf(&whole, "\nconst unsigned ag_kernel_abi = %s;\n", abi->macro);
  ag_text_printf(&whole, "const unsigned long ag_kernel_args = sizeof(%s);\n", abi->type);
  ag_text_printf(&whole, "const char ag_kernel_key[] = \"%s\";\n", p->key);
  bool good = write_source(ag_text_cstr(&whole), c);
  int error = errno;
  char *so = ag_arena_printf(p->arena, "%.*sso", (int)strlen(c) - 1, c);
  char *o = ag_arena_printf(p->arena, "%.*so", (int)strlen(c) - 1, c);
  ag_heap_hold(remove_file, c);
  ag_heap_hold(remove_file, o);
  ag_heap_hold(remove_file, so);
  if (!good) ag_text_printf(reason, "%s: %s", c, strerror(error));
  if (good) {
    good = ag_compile(&p->command, c, o, so, &messages);
    if (!good) give_reason(reason, ag_text_cstr(&p->compiler), ag_text_cstr(&messages));
  }
  if (good && !ag_cache_read(so, bytes)) {
    good = false;
    ag_text_printf(reason, "%s: %s", so, strerror(errno));
  }
  char *kept = ag_arena_printf(p->arena, "%.*s.c", (int)strlen(final) - 3, final);
  if (!good || !p->keep || !ag_file_move(c, kept)) (void)ag_file_remove(c);
  (void)ag_file_remove(o);
  (void)ag_file_remove(so);
  ag_heap_let_go(remove_file, so);
  ag_heap_let_go(remove_file, o);
  ag_heap_let_go(remove_file, c);
  ag_text_done(&messages);
  ag_text_done(&whole);
  return good;
}

/* From the cache, or compiled; NULL with the reason. */
static void *find(plan *p, const char *source, const ag_abi *abi, bool only_cached, bool *cached, int *fd,
                  ag_text *reason) {
  char *final = ag_arena_printf(p->arena, "%s/%s.so", ag_text_cstr(&p->folder), p->key);
  ag_text bytes = {0};
  void *handle = NULL;
  if (p->keep && ag_cache_load(final, p->key, &bytes)) handle = load(p, &bytes, abi, fd, reason);
  *cached = handle != NULL;
  if (!handle) ag_text_clear(reason); /* if anything is wrong with it, it is built again */
  if (!handle && only_cached) ag_text_str(reason, "not in the cache");
  else if (!handle && compile(p, source, abi, final, &bytes, reason)) {
    handle = load(p, &bytes, abi, fd, reason);
    /* a cache that cannot store it (a full disk) does not prevent using it */
    if (handle && p->keep && ag_cache_save(final, p->key, &bytes))
      ag_cache_prune(ag_text_cstr(&p->folder), CACHE_BYTES);
  }
  ag_text_done(&bytes);
  return handle;
}

ag_library *ag_library_create(const char *source, const ag_abi *abi, const ag_build_options *options, ag_text *reason) {
  static const ag_build_options usual = {0};
  static const ag_abi kargs = {"AG_KERN_ABI", "ag_kargs", AG_KERN_ABI, sizeof(ag_kargs)};
  plan p = {0};
  void *handle = NULL;
  bool cached = false;
  int fd = -1;
  ag_text_clear(reason);
  if (!abi) abi = &kargs;
  if (make_plan(&p, source, abi, options ? options : &usual, reason))
    handle = find(&p, source, abi, options && options->only_cached, &cached, &fd, reason);
  drop_plan(&p);
  if (!handle) return NULL;
  ag_library *lib = ag_heap_alloc(sizeof *lib);
  *lib = (ag_library){handle, fd, cached};
  return lib;
}

void *ag_library_symbol(const ag_library *lib, const char *name) { return dlsym(lib->handle, name); }
bool ag_library_cached(const ag_library *lib) { return lib->cached; }

void ag_library_free(ag_library *lib) {
  if (!lib) return;
  unload(lib->handle, lib->fd);
  free(lib);
}
