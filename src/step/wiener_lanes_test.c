/* SPDX-License-Identifier: MIT
 * wiener_core.h gives the same bits for 1, 2, 4, 8 and 16 lanes, compiled by gcc and by clang, for the plain machine
 * and for this one. Each case is compiled while the test runs; a compiler that is not there is skipped with a message.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "step/step.h"
#include "tests/check.h"
#include "tests/child.h"

enum { CHANNELS = 3, AREAS = 1 + CHANNELS + CHANNELS * (CHANNELS - 1) / 2, COIN = 2 + 2 * CHANNELS, TRIAL = COIN + 1 };
enum { SIZE = AREAS + COIN + TRIAL, MOST = 16, PAIRS = MOST, STEPS = 5, CASES = 3 }; /* MOST: lanes */

/* Steps of all cases for a block of pairs: [case][step][parity][number][lane]. */
static const char text[] =
    "#include \"expr/vmath.h\"\n#include \"step/wiener.h\"\n#include \"step/wiener_core.h\"\n"
    "void probe(const ag_wiener *w, const VI *pair, int n, int areas, int size, V *out, V *work) {\n"
    "  for (int k = 0; k < n; k++, out += 2 * size) {\n"
    "    wiener_areas(w, *pair, 1000003ULL * (v_word)k, out, out + size, work);\n"
    "    wiener_coin(w, *pair, 1000003ULL * (v_word)k, out + areas, out + size + areas);\n"
    "    const int at = areas + 2 + 2 * w->channels;\n"
    "    wiener_trial(w, *pair, 1000003ULL * (v_word)k, out + at, out + size + at);\n"
    "  }\n"
    "}\n";
typedef void probe_fn(const ag_wiener *w, const void *pair, int n, int areas, int size, double *out, double *work);

static const ag_wiener cases[CASES] = {
    {.seed = 11, .base = 0.01, .channels = CHANNELS, .multiple = 1, .area_level = 2},
    {.seed = ~0ULL, .base = 0.5, .channels = CHANNELS, .multiple = 3, .area_level = 0},
    {.seed = 1ULL << 40, .base = 1, .channels = CHANNELS, .multiple = 1, .level = 3, .area_level = 5}};

static uint64_t pair_at(int i) { return 0x7ffffffffffdULL + (uint64_t)i * (i < 4 ? 1 : 0x10001); }

/* Results in the order [case][pair][parity][step][number], by the library and from lanes. */
static double *expected_all(void) {
  double *r = malloc(sizeof *r * CASES * PAIRS * 2 * STEPS * SIZE), *at = r, work[4096];
  for (int c = 0; c < CASES; c++)
    for (int i = 0; i < PAIRS; i++)
      for (unsigned s = 0; s < 2; s++)
        for (unsigned k = 0; k < STEPS; k++, at += SIZE) {
          ag_wiener_step(&cases[c], 2 * pair_at(i) + s, 1000003ULL * k, AG_WIENER_AREAS, at, work);
          ag_wiener_step(&cases[c], 2 * pair_at(i) + s, 1000003ULL * k, AG_WIENER_COIN, at + AREAS, work);
          ag_wiener_step(&cases[c], 2 * pair_at(i) + s, 1000003ULL * k, AG_WIENER_TRIAL, at + AREAS + COIN, work);
        }
  return r;
}

static void compare(probe_fn *f, int lanes, const double *expected, const char *what) {
  double *out = aligned_alloc(64, sizeof *out * STEPS * 2 * SIZE * MOST),
         *work = aligned_alloc(64, sizeof *work * 4096 * MOST);
  int differ = 0;
  for (int c = 0; c < CASES; c++)
    for (int i = 0; i < PAIRS; i += lanes) {
      _Alignas(64) uint64_t pair[MOST];
      for (int l = 0; l < lanes; l++) pair[l] = pair_at(i + l);
      f(&cases[c], pair, STEPS, AREAS, SIZE, out, work);
      for (int l = 0; l < lanes; l++)
        for (int s = 0; s < 2; s++)
          for (int k = 0; k < STEPS; k++)
            for (int j = 0; j < SIZE; j++) {
              double a = out[((2 * k + s) * SIZE + j) * lanes + l];
              double b = expected[((((size_t)c * PAIRS + (size_t)(i + l)) * 2 + (size_t)s) * STEPS + (size_t)k) * SIZE +
                                  (size_t)j];
              differ += memcmp(&a, &b, sizeof a) != 0;
            }
    }
  if (differ) fprintf(stderr, "%s: %d numbers differ\n", what, differ);
  AG_CHECK(differ == 0);
  free(out), free(work);
}

static const char include[] = "-I" AG_SOURCE_DIR "/src";

static bool test_case(const char *folder, const char *compiler, int lanes, const char *machine,
                      const double *expected) {
  char source[PATH_MAX], object[PATH_MAX], lane_flag[32], what[128];
  snprintf(source, sizeof source, "%s/probe.c", folder);
  snprintf(object, sizeof object, "%s/%s%d%s.so", folder, compiler, lanes, machine);
  snprintf(lane_flag, sizeof lane_flag, "-DAG_LANES=%d", lanes);
  snprintf(what, sizeof what, "%s %d lanes %s", compiler, lanes, machine);
  const char *args[] = {compiler,
                        "-std=gnu17",
                        "-O1",
                        "-ffp-contract=off",
                        "-fno-math-errno",
                        "-Wall",
                        "-Wextra",
                        "-Werror",
                        "-Wno-psabi",
                        "-fPIC",
                        "-shared",
                        include,
                        lane_flag,
                        machine,
                        "-o",
                        object,
                        source,
                        "-lm",
                        NULL};
  int code = ag_spawn(args);
  if (code < 0 || code == 127) return false;
  AG_CHECK(code == 0);
  void *so = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  AG_CHECK(so != NULL);
  if (!so) return true;
  probe_fn *f;
  *(void **)&f = dlsym(so, "probe");
  compare(f, lanes, expected, what);
  dlclose(so);
  return true;
}

/* Machines that may not be this one: the text compiles for them. */
static void test_machines(const char *folder) {
  static const char *const rows[][3] = {{"gcc", "-march=skylake-avx512", "-DAG_LANES=8"},
                                        {"clang", "-march=skylake-avx512", "-DAG_LANES=8"},
                                        {"gcc", "-march=skylake-avx512", "-DAG_LANES=16"},
                                        {"clang", "-march=skylake-avx512", "-DAG_LANES=16"},
                                        {"clang", "--target=aarch64-linux-gnu", "-DAG_LANES=2"}};
  char source[PATH_MAX], object[PATH_MAX];
  snprintf(source, sizeof source, "%s/probe.c", folder);
  snprintf(object, sizeof object, "%s/probe.s", folder);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *empty[] = {rows[i][0], rows[i][1], "-S", "-o", object, "-x", "c", "/dev/null", NULL};
    const char *args[] = {rows[i][0], rows[i][1], rows[i][2], include, "-ffreestanding", "-std=gnu17", "-O1", "-Wall",
                          "-Wextra",  "-Werror",  "-S",       "-o",    object,           source,       NULL};
    if (ag_spawn(empty) != 0) printf("%s %s: skipped\n", rows[i][0], rows[i][1]);
    else AG_CHECK(ag_spawn(args) == 0);
  }
}

int main(void) {
  char folder[] = "/tmp/wiener_lanes_XXXXXX", path[PATH_MAX];
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/probe.c", folder);
  FILE *f = fopen(path, "w");
  if (!f) return 1;
  fputs(text, f);
  fclose(f);
  double *expected = expected_all();
  static const char *const compilers[] = {"gcc", "clang"};
  for (int c = 0; c < 2; c++)
    for (int m = 0; m < 2; m++)
      for (int lanes = 1; lanes <= (m ? 16 : 4); lanes *= m ? 2 : 4) /* 1 and 4 for the plain machine */
        if (!test_case(folder, compilers[c], lanes, m ? "-march=native" : "-mtune=generic", expected))
          printf("%s is not there: skipped\n", compilers[c]), m = 2, lanes = 32;
  test_machines(folder);
  free(expected);
  const char *args[] = {"rm", "-rf", folder, NULL};
  AG_CHECK(ag_spawn(args) == 0);
  return ag_check_report();
}
