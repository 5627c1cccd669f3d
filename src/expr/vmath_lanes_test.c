/* SPDX-License-Identifier: MIT
 * Every row of op.def gives the same bits for 1, 2, 4, 8 and 16 lanes, compiled by gcc and by clang, for the plain
 * machine (fused multiply-add done by the library) and for this one. Each case is compiled to a shared object while the
 * test runs; a compiler that is not there is skipped with a message. All NaN count as equal. */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "expr/graph_internal.h"

#include "check.h"
#include "child.h"

/* The rows of op.def, then sin and cos of one number together and the marks of the failed pivots. */
static const struct {
  int op;
  const char *value;
} rows[] = {
#define AG_OP(NAME, text, arity, call, parity, value, ...) {AG_OP_##NAME, #value},
#define AG_OP_TAPE(NAME, text, arity, value, ...) {AG_OP_##NAME, #value},
#include "expr/op.def"
};
enum { N = 4096, N_ROW = sizeof rows / sizeof *rows, N_FUN = N_ROW + 3 };

/* The text of one case: all values over arrays. The third argument is a condition or a number. */
static void put_text(FILE *f) {
  fprintf(f,
          "#include \"expr/vmath.h\"\n"
          "void probe(int n, const V *x, const V *y, V *r) {\n"
          "  for (int i = 0; i < n; i++, r += %d) {\n"
          "    const V a = x[i], b = y[i], c = v_lt(a, b);\n"
          "    VI fail = v_word_set(0);\n"
          "    v_sincos(a, &r[%d], &r[%d]);\n",
          N_FUN, N_ROW, N_ROW + 1);
  for (int k = 0; k < N_ROW; k++) fprintf(f, "    r[%d] = %s;\n", k, rows[k].value);
  fprintf(f, "    r[%d] = v_num(fail);\n  }\n}\n", N_ROW + 2);
}

typedef void probe_fn(int n, const double *a, const double *b, double *r);

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/* Arguments: the plain range, the near-exponential range, any bit pattern (NaN and infinities among them). */
static void fill(double *x, uint64_t seed) {
  static const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, INFINITY, -INFINITY, NAN, 1e300, 1e-310};
  for (int i = 0; i < N; i++) {
    uint64_t r = next_bits(&seed);
    double u = (double)(next_bits(&seed) >> 11) * 0x1p-53;
    if (i % 8 == 7) memcpy(&x[i], &r, sizeof r);
    else if (i % 8 == 6) x[i] = special[r % (sizeof special / sizeof *special)];
    else if (i % 8 == 5) x[i] = 1500 * (u - 0.5);
    else if (i % 8 == 4) x[i] = ldexp(u - 0.5, (int)(r % 60) - 30);
    else x[i] = 6 * (u - 0.5);
  }
}

/* Runs one case; false when the compiler is not there. Results come out in the order of the members. */
static int probe(const char *folder, const char *include, const char *compiler, int lanes, const char *machine,
                 const char *extra, const double *a, const double *b, double *result) {
  char source[PATH_MAX], object[PATH_MAX], lane_flag[32];
  snprintf(source, sizeof source, "%s/probe.c", folder);
  snprintf(object, sizeof object, "%s/%s%d%s%s.so", folder, compiler, lanes, machine, extra);
  snprintf(lane_flag, sizeof lane_flag, "-DAG_LANES=%d", lanes);
  const char *args[] = {compiler,
                        "-std=gnu17",
                        "-O1",
                        "-ffp-contract=off",
                        "-fno-math-errno",
                        "-fPIC",
                        "-shared",
                        include,
                        lane_flag,
                        machine,
                        extra,
                        "-Wno-psabi",
                        "-o",
                        object,
                        source,
                        "-lm",
                        NULL};
  int code = ag_spawn(args);
  if (code < 0 || code == 127) return 0;
  AG_CHECK(code == 0);
  void *so = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  AG_CHECK(so != NULL);
  if (!so) return 1;
  probe_fn *f;
  *(void **)&f = dlsym(so, "probe");
  double *raw = aligned_alloc(64, sizeof(double) * N * N_FUN);
  f(N / lanes, a, b, raw);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N_FUN; k++) result[i * N_FUN + k] = raw[(i / lanes * N_FUN + k) * lanes + i % lanes];
  free(raw);
  dlclose(so);
  return 1;
}

static int differences(const double *x, const double *y, int *first) {
  int n = 0;
  for (int i = 0; i < N * N_FUN; i++)
    if (memcmp(x + i, y + i, sizeof *x) && !(isnan(x[i]) && isnan(y[i])) && n++ == 0) *first = i;
  return n;
}

static void test_all(const char *folder, const char *include) {
  double *a = aligned_alloc(64, sizeof(double) * N), *b = aligned_alloc(64, sizeof(double) * N);
  double *expected = malloc(sizeof(double) * N * N_FUN), *got = malloc(sizeof(double) * N * N_FUN);
  static const char *const compilers[] = {"gcc", "clang"};
  fill(a, 11);
  fill(b, 22);
  b[6] = a[6], b[7] = -a[7];
  int have = 0;
  for (int c = 0; c < 2; c++)
    for (int m = 0; m < 3; m++)
      for (int lanes = 1; lanes <= 16; lanes *= 2) {
        const char *machine = m ? "-march=native" : "-mtune=generic", *extra = m == 2 ? "-DAG_VMATH_CALL" : "-DPLAIN";
        if (m == 2 && lanes != 4) continue;  /* called instead of inlined: one case is enough */
        if (m == 0 && lanes == 16) continue; /* made for this machine alone */
        int first = 0, ok = probe(folder, include, compilers[c], lanes, machine, extra, a, b, have ? got : expected);
        if (!ok) {
          printf("%s is not there: skipped\n", compilers[c]);
          m = 3;
          break;
        }
        if (!have++) continue;
        int n = differences(expected, got, &first);
        if (n)
          fprintf(stderr, "%s %d lanes %s %s: %d differ; %s of (%a, %a): %a, expected %a\n", compilers[c], lanes,
                  machine, extra, n, first % N_FUN < N_ROW ? rows[first % N_FUN].value : "sincos or fail",
                  a[first / N_FUN], b[first / N_FUN], got[first], expected[first]);
        AG_CHECK(n == 0);
      }
  /* and as this program folds constants, compiled with its own flags */
  for (int i = 0; i < N && have; i++)
    for (int k = 0; k < N_ROW; k++) {
      double own = ag_op_value((ag_op)rows[k].op, (double[]){a[i], b[i], a[i] < b[i]}), lane = expected[i * N_FUN + k];
      AG_CHECK(own == lane || (isnan(own) && isnan(lane)));
    }
  free(a), free(b), free(expected), free(got);
}

/* Machines that may not be this one: the text compiles for them without a warning. A compiler that cannot make code for
 * the machine at all (an empty text fails too) is skipped. */
static void test_machines(const char *folder, const char *include) {
  static const struct {
    const char *compiler, *machine, *lanes;
  } machines[] = {{"gcc", "-march=haswell", "-DAG_LANES=4"},
                  {"clang", "-march=haswell", "-DAG_LANES=4"},
                  {"gcc", "-march=skylake-avx512", "-DAG_LANES=8"},
                  {"clang", "-march=skylake-avx512", "-DAG_LANES=8"},
                  {"gcc", "-march=skylake-avx512", "-DAG_LANES=16"},
                  {"clang", "-march=skylake-avx512", "-DAG_LANES=16"},
                  {"clang", "--target=aarch64-linux-gnu", "-DAG_LANES=2"}};
  char source[PATH_MAX], object[PATH_MAX];
  snprintf(source, sizeof source, "%s/probe.c", folder);
  snprintf(object, sizeof object, "%s/probe.s", folder);
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    const char *empty[] = {machines[i].compiler, machines[i].machine, "-S", "-o", object, "-x", "c", "/dev/null", NULL};
    const char *args[] = {machines[i].compiler,
                          machines[i].machine,
                          machines[i].lanes,
                          include,
                          "-ffreestanding",
                          "-std=gnu17",
                          "-O1",
                          "-Wall",
                          "-Wextra",
                          "-Werror",
                          "-S",
                          "-o",
                          object,
                          source,
                          NULL};
    if (ag_spawn(empty) != 0) printf("%s %s: skipped\n", machines[i].compiler, machines[i].machine);
    else AG_CHECK(ag_spawn(args) == 0);
  }
}

int main(void) {
  char folder[] = "/tmp/vmath_lanes_XXXXXX", include[PATH_MAX], path[PATH_MAX];
  snprintf(include, sizeof include, "-I%s/src", AG_SOURCE_DIR);
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/probe.c", folder);
  FILE *f = fopen(path, "w");
  if (!f) return 1;
  put_text(f);
  fclose(f);
  test_all(folder, include);
  test_machines(folder, include);
  const char *args[] = {"rm", "-rf", folder, NULL};
  ag_spawn(args);
  return ag_check_report();
}
