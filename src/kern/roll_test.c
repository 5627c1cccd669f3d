/* SPDX-License-Identifier: MIT
 * Long tapes as loops: compiled they give the bits of the interpreter (all NaN count as equal), for every number of
 * lanes, with gcc and clang; their text does not grow with the number of members; a tape without families stays as it
 * was. A compiler that is not there is skipped with a message. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "kern/kern.h"

#include "check.h"

enum { MAX_LANES = 8 };

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}
static int pick(uint64_t *state, int n) { return (int)(next_bits(state) % (uint64_t)n); }
static double number(uint64_t *state) { return 4 * ((double)(next_bits(state) >> 11) * 0x1p-53) - 2; }

typedef struct problem {
  ag_graph *g;
  ag_id in[AG_SEG_COUNT]; /* one input per segment, */
  int n[AG_SEG_COUNT];    /* so long */
  int n_out;
  ag_id *outs;
  ag_tape *tape;
  ag_kernel_spec spec;
} problem;

static problem begin(int n_z, int n_p, int n_c, int max_out) {
  problem b = {.g = ag_graph_create()};
  const int n[AG_SEG_COUNT] = {[AG_SEG_Z] = n_z, [AG_SEG_P] = n_p, [AG_SEG_C] = n_c};
  for (int i = 0; i < AG_SEG_COUNT; i++) {
    b.n[i] = n[i] ? n[i] : 1;
    b.in[i] = ag_input(b.g, ag_segment_describe((ag_seg)i)->name, b.n[i], 1, AG_LEAF_REAL);
  }
  b.outs = malloc(sizeof *b.outs * (size_t)max_out);
  return b;
}
static void finish(problem *b) {
  ag_bind binds[AG_SEG_COUNT];
  for (int i = 0; i < AG_SEG_COUNT; i++) binds[i] = (ag_bind){b->in[i], (ag_seg)i, 0};
  b->tape = ag_tape_create(b->g, AG_SEG_COUNT, binds, b->n_out, b->outs);
  b->spec = (ag_kernel_spec){.tape = b->tape, .name = "f"};
  memcpy(b->spec.n, b->n, sizeof b->n);
}
static void drop(problem *b) {
  ag_tape_free(b->tape);
  ag_graph_free(b->g);
  free(b->outs);
}
static ag_id z_at(problem *b, int i) { return ag_entry(b->g, b->in[AG_SEG_Z], i, 0); }
static ag_id p_at(problem *b, int i) { return ag_entry(b->g, b->in[AG_SEG_P], i, 0); }

/* Masses and springs: z = [q, v]. */
static problem lattice(int K) {
  problem b = begin(2 * K, 2, 1, 2 * K);
  ag_graph *g = b.g;
  ag_id *force = calloc((size_t)K + 1, sizeof *force); /* of the spring left of mass i */
  for (int i = 1; i < K; i++) {
    ag_id d = ag_sub(g, z_at(&b, i), z_at(&b, i - 1)), cube = ag_mul(g, d, ag_mul(g, d, d));
    force[i] = ag_add(g, ag_mul(g, p_at(&b, 0), d), ag_mul(g, p_at(&b, 1), cube));
  }
  force[0] = force[K] = ag_num(g, 0);
  for (int i = 0; i < K; i++) b.outs[b.n_out++] = z_at(&b, K + i);
  for (int i = 0; i < K; i++) b.outs[b.n_out++] = ag_sub(g, force[i + 1], force[i]);
  free(force);
  finish(&b);
  return b;
}

/* Points in the plane that attract each other, z = [x0, y0, x1, ...]: forces, and the energy. */
static problem pairs(int K) {
  problem b = begin(2 * K, 1, 1, 2 * K + 1);
  ag_graph *g = b.g;
  ag_id *force = calloc((size_t)(2 * K), sizeof *force), energy = ag_num(g, 0);
  for (int i = 0; i < 2 * K; i++) force[i] = ag_num(g, 0);
  for (int i = 0; i < K; i++)
    for (int j = i + 1; j < K; j++) {
      ag_id d[2], r2 = ag_mul(g, p_at(&b, 0), p_at(&b, 0));
      for (int k = 0; k < 2; k++) d[k] = ag_sub(g, z_at(&b, 2 * j + k), z_at(&b, 2 * i + k));
      for (int k = 0; k < 2; k++) r2 = ag_add(g, r2, ag_mul(g, d[k], d[k]));
      ag_id v = ag_div(g, ag_num(g, 1), ag_apply1(g, AG_OP_SQRT, r2)), w = ag_div(g, v, r2);
      energy = ag_sub(g, energy, v);
      for (int k = 0; k < 2; k++) {
        force[2 * i + k] = ag_add(g, force[2 * i + k], ag_mul(g, w, d[k]));
        force[2 * j + k] = ag_sub(g, force[2 * j + k], ag_mul(g, w, d[k]));
      }
    }
  for (int i = 0; i < 2 * K; i++) b.outs[b.n_out++] = force[i];
  b.outs[b.n_out++] = energy;
  free(force);
  finish(&b);
  return b;
}

/* n parallel chains of K masses on a line, with neighbours connected: accelerations and multipliers from the
 * saddle-point system of all. z = [what the masses and connections depend on, forces]. The mass at the end of each
 * chain may be negative: then the pivot fails. */
static problem ties(int K, int n) {
  int N = K * n, links = (K - 1) * n, m = 0;
  problem b = begin(2 * N, 2, 1, N + links);
  ag_graph *g = b.g;
  int *row = calloc((size_t)(3 * N), sizeof *row), *col = calloc((size_t)(3 * N), sizeof *col);
  ag_id *x = calloc((size_t)(3 * N), sizeof *x), *f = calloc((size_t)(2 * N), sizeof *f), two = ag_num(g, 2);
  unsigned char *marks = calloc((size_t)(2 * N), 1);
  for (int i = 0; i < N; i++) {
    ag_id u = ag_apply1(g, AG_OP_TANH, z_at(&b, i)), mass = ag_add(g, u, two);
    row[m] = col[m] = i;
    x[m++] = i % K == K - 1 ? ag_add(g, u, ag_num(g, 0.95)) : mass;
    f[i] = ag_mul(g, p_at(&b, 0), z_at(&b, N + i));
  }
  for (int i = 0, r = N; i < N; i++) {
    if (i % K == K - 1) continue;
    row[m] = r, col[m] = i, x[m++] = ag_apply1(g, AG_OP_COS, z_at(&b, i));
    row[m] = r, col[m] = i + 1, x[m++] = ag_num(g, -1);
    marks[r] = AG_MARK_MULTIPLIER;
    f[r++] = ag_mul(g, z_at(&b, i), z_at(&b, i + 1));
  }
  ag_id y = ag_solve_sparse(g, &(ag_pattern){N + links, m, row, col, marks}, x, ag_stack(g, N + links, 1, f));
  for (int i = 0; i < N + links; i++) b.outs[b.n_out++] = ag_entry(g, y, i, 0);
  free(row), free(col), free(x), free(f), free(marks);
  finish(&b);
  return b;
}

/* A matrix of the parameters alone, as sparse as a band can be. */
static problem constant_band(int K) {
  problem b = begin(K, 2, 1, K);
  ag_graph *g = b.g;
  int m = 0, *row = calloc((size_t)(2 * K), sizeof *row), *col = calloc((size_t)(2 * K), sizeof *col);
  ag_id *x = calloc((size_t)(2 * K), sizeof *x), four = ag_num(g, 4);
  for (int i = 0; i < K; i++) {
    row[m] = col[m] = i, x[m++] = ag_add(g, four, p_at(&b, 0));
    if (i) row[m] = i, col[m] = i - 1, x[m++] = ag_apply1(g, AG_OP_TANH, p_at(&b, 1));
  }
  ag_pattern pattern = {K, m, row, col, NULL};
  ag_id one = ag_num(g, 1), *f = calloc((size_t)K, sizeof *f);
  for (int i = 0; i < K; i++) f[i] = i % 3 ? ag_num(g, i) : one;
  ag_id fixed = ag_solve_sparse(g, &pattern, x, ag_stack(g, K, 1, f)),
        y = ag_solve_sparse(g, &pattern, x, b.in[AG_SEG_Z]);
  for (int i = 0; i < K; i++) b.outs[b.n_out++] = ag_add(g, ag_entry(g, fixed, i, 0), ag_entry(g, y, i, 0));
  free(row), free(col), free(x), free(f);
  finish(&b);
  return b;
}

/* A random function of a few numbers, the same for the same seed. */
static ag_id cell(problem *b, uint64_t seed, int n, const ag_id *in, ag_id *second) {
  uint64_t state = seed;
  ag_id pool[60];
  for (int i = 0; i < n; i++) pool[i] = in[i];
  int n_grow = 8 + pick(&state, 30), solve = pick(&state, 3) ? -1 : pick(&state, n_grow);
  for (int i = 0; i < n_grow; i++, n++) {
    ag_op op = (ag_op)(AG_OP_NEG + pick(&state, AG_OP_CHECKNZ - AG_OP_NEG + 1));
    if (pick(&state, 3)) op = (ag_op)(AG_OP_ADD + pick(&state, 3));
    ag_id x = pool[pick(&state, n)], y = pool[pick(&state, n)], args[3] = {x, y, pool[pick(&state, n)]};
    if ((op >= AG_OP_DIV && op <= AG_OP_LOG) ||
        op >= AG_OP_CHECKPOS) { /* an argument where every function is defined */
      ag_id h = ag_apply1(b->g, AG_OP_TANH, x);
      x = args[0] = ag_add(b->g, ag_num(b->g, 0.2), ag_mul(b->g, ag_num(b->g, 0.5), ag_mul(b->g, h, h)));
      if (op == AG_OP_DIV) args[0] = y, args[1] = x;
    }
    if (i == solve) {
      ag_id A[16], r[4];
      for (int k = 0; k < 16; k++) A[k] = ag_apply1(b->g, AG_OP_ATAN, pool[pick(&state, n)]);
      for (int k = 0; k < 4; k++) A[5 * k] = ag_add(b->g, A[5 * k], ag_num(b->g, 5));
      for (int k = 0; k < 4; k++) r[k] = pool[pick(&state, n)];
      ag_id s = ag_solve(b->g, ag_stack(b->g, 4, 4, A), ag_stack(b->g, 4, 1, r), AG_SOLVE_GENERAL);
      pool[n] = ag_add(b->g, ag_entry(b->g, s, 1, 0), ag_entry(b->g, s, 3, 0));
    } else {
      pool[n] = op == AG_OP_NEG      ? ag_neg(b->g, x)
                : op == AG_OP_ADD    ? ag_add(b->g, x, y)
                : op == AG_OP_SUB    ? ag_sub(b->g, x, y)
                : op == AG_OP_MUL    ? ag_mul(b->g, x, y)
                : op == AG_OP_SELECT ? ag_select(b->g, x, y, args[2])
                                     : ag_apply(b->g, op, args);
    }
    if (op == AG_OP_SIN) pool[n] = ag_mul(b->g, pool[n], ag_apply1(b->g, AG_OP_COS, x));
  }
  *second = ag_apply1(b->g, AG_OP_ATAN, pool[n - 2]);
  return ag_apply1(b->g, AG_OP_ATAN, pool[n - 1]);
}

/* K cells of a state of three numbers each; they read neighbours or members elsewhere, parameters (some prepared member
 * by member), constants that differ, and sums over all; outputs in any order, some twice. */
static problem random_cells(uint64_t seed, int K) {
  uint64_t state = seed;
  problem b = begin(3 * K, K + 2, 2, 12 * K + 10);
  ag_graph *g = b.g;
  ag_id *first = calloc((size_t)(4 * K), sizeof *first), *second = first + K, *third = first + 2 * K,
        *other = first + 3 * K;
  int far = 1 + pick(&state, K - 1), turn = 1 + 2 * pick(&state, K / 2);
  uint64_t one = next_bits(&state), two = next_bits(&state), three = next_bits(&state);
  ag_id sum = ag_num(g, 0), sum2 = ag_num(g, 0);
  for (int i = 0; i < K; i++) {
    ag_id rate = ag_apply1(g, AG_OP_EXP, ag_mul(g, p_at(&b, i), ag_num(g, -0.25)));
    ag_id in[] = {z_at(&b, 3 * i),
                  z_at(&b, 3 * i + 1),
                  z_at(&b, 3 * ((i + 1) % K) + 2),
                  z_at(&b, 3 * (i * far % K)),
                  rate,
                  ag_num(g, 0.1 + i),
                  p_at(&b, K),
                  ag_entry(g, b.in[AG_SEG_C], 0, 0),
                  b.in[AG_SEG_T],
                  b.in[AG_SEG_W]};
    first[i] = cell(&b, one, 10, in, &second[i]);
    sum = ag_add(g, sum, second[i]);
    sum2 = i % 2 ? ag_add(g, sum2, ag_mul(g, first[i], rate)) : ag_sub(g, sum2, ag_mul(g, first[i], second[i]));
  }
  for (int i = 0; i < K; i++) {
    ag_id in[] = {first[i], second[i * turn % K], first[(i + 3) % K], ag_apply1(g, AG_OP_ATAN, sum),
                  z_at(&b, 3 * i + 2)};
    third[i] = cell(&b, two, 5, in, &other[i]);
    if (i > 5) third[i] = ag_add(g, third[i], ag_apply1(g, AG_OP_TANH, sum2));
  }
  for (int i = 0; i < K; i++) { /* sums of different length, and a few with a different pattern */
    ag_id in[] = {third[i], other[(i + 1) % K], ag_num(g, 0.5)}, ignored, row = first[i];
    for (int j = 0; j < (i < 20 ? 15 + i : 3); j++) row = ag_add(g, row, ag_mul(g, third[j % K], other[i * j % K]));
    b.outs[b.n_out++] = cell(&b, three, 3, in, &ignored);
    b.outs[b.n_out++] = i % 10 ? row : ag_apply1(g, AG_OP_CHECKPOS, ag_add(g, row, ag_num(g, 20))); /* may fail */
    if (pick(&state, 5) == 0) b.outs[b.n_out++] = first[pick(&state, K)];
    b.outs[b.n_out++] = z_at(&b, 3 * i + 1);
  }
  b.outs[b.n_out++] = sum;
  b.outs[b.n_out++] = sum2;
  b.outs[b.n_out++] = ag_num(g, 2);
  b.outs[b.n_out++] = p_at(&b, 1);
  free(first);
  finish(&b);
  return b;
}

static double *random_array(uint64_t *state, int n, int L) {
  double *x = aligned_alloc(64, sizeof(double) * (size_t)((n * L + 7) / 8 * 8));
  for (int i = 0; i < n * L; i++) x[i] = number(state);
  return x;
}

/* One block through the kernel and lane by lane through the tape. Returns the number of differences, adds up the NaN.
 */
static int compare(const problem *b, const ag_kernel *k, uint64_t seed, int *n_nan) {
  int L = ag_kernel_lanes(k), wrong = 0;
  double *block[AG_SEG_COUNT], *lane[AG_SEG_COUNT], *out = random_array(&seed, b->n_out, L);
  const double *seg[AG_SEG_COUNT], *one[AG_SEG_COUNT];
  double *work = aligned_alloc(64, sizeof(double) * (ag_kernel_work(k) + 8));
  double *slots = malloc(sizeof(double) * (size_t)(b->tape->n_slot + 1)),
         *expected = malloc(sizeof(double) * (size_t)b->n_out);
  unsigned long long fail[MAX_LANES] __attribute__((aligned(64))) = {0};
  for (int i = 0; i < AG_SEG_COUNT; i++) {
    seg[i] = block[i] = random_array(&seed, b->n[i], L);
    one[i] = lane[i] = malloc(sizeof(double) * (size_t)b->n[i]);
  }
  ag_kargs args = {.abi = AG_KERN_ABI, .n_block = 1, .seg = seg, .out = out, .fail = fail, .work = work};
  ag_kernel_prep(k, &args);
  ag_kernel_run(k, &args);
  ag_kernel_run(k, &args); /* again: nothing is left over */
  for (int l = 0; l < L; l++) {
    for (int i = 0; i < AG_SEG_COUNT; i++)
      for (int j = 0; j < b->n[i]; j++) lane[i][j] = block[i][j * L + l];
    int failed = ag_tape_prep(b->tape, one[AG_SEG_P], slots);
    failed |= ag_tape_eval(b->tape, one, slots, expected);
    wrong += (fail[l] != 0) != (failed != 0);
    for (int i = 0; i < b->n_out; i++) {
      double v = out[i * L + l];
      *n_nan += isnan(v);
      wrong += memcmp(&v, &expected[i], sizeof v) != 0 && !(isnan(v) && isnan(expected[i]));
    }
  }
  for (int i = 0; i < AG_SEG_COUNT; i++) free(block[i]), free(lane[i]);
  free(out), free(work), free(slots), free(expected);
  return wrong;
}

static void check_bits(const problem *b, const char *what, const char *compiler, int lanes, const char *flags) {
  ag_build_options o = {.compiler = compiler, .lanes = lanes, .cache = "", .flags = flags};
  struct timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  ag_kernel *k = ag_kernel_create(&b->spec, &o);
  clock_gettime(CLOCK_MONOTONIC, &to);
  if (strstr(ag_kernel_reason(k), "not found")) {
    printf("%s: skipped\n", ag_kernel_reason(k));
  } else {
    if (!ag_kernel_compiled(k)) fprintf(stderr, "%s: %s\n", what, ag_kernel_reason(k));
    AG_CHECK(ag_kernel_compiled(k));
    int n_nan = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
      int wrong = compare(b, k, 77 * seed, &n_nan);
      if (wrong) fprintf(stderr, "%s, %s, %d lanes: %d differ\n", what, compiler, lanes, wrong);
      AG_CHECK(wrong == 0);
    }
    AG_CHECK(n_nan < 2 * b->n_out * lanes); /* less than half, or it would say little */
    printf("%s: %d instructions, %s, %d lanes, %.2f s\n", what, b->tape->n_instr, compiler, lanes,
           (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec));
  }
  ag_kernel_free(k);
}

static size_t text_size(const problem *b, int *n_loop) {
  ag_text text = {0};
  ag_cgen how = {.name = "f"};
  ag_cgen_tape(b->tape, &how, &text);
  size_t n = text.n;
  *n_loop = 0;
  for (const char *s = ag_text_cstr(&text); (s = strstr(s, "  for (int k = 0; k < ")); s++) ++*n_loop;
  ag_text_done(&text);
  return n;
}

/* The code of a lattice does not depend on its length; that of pairs only through tables. */
static void test_size(void) {
  problem small = lattice(300), large = lattice(1000), few = pairs(20), many = pairs(40);
  int loops_small, loops_large, loops_few, loops_many;
  size_t n_small = text_size(&small, &loops_small), n_large = text_size(&large, &loops_large);
  size_t n_few = text_size(&few, &loops_few), n_many = text_size(&many, &loops_many);
  printf("lattice: %zu and %zu bytes; pairs: %zu and %zu bytes\n", n_small, n_large, n_few, n_many);
  AG_CHECK(loops_small > 0 && loops_small == loops_large);
  AG_CHECK(n_large < 8000 && n_large < n_small + n_small / 10); /* longer numbers only */
  AG_CHECK(loops_few > 0 && loops_few == loops_many);
  AG_CHECK(n_many < 5 * n_few); /* four times the pairs */
  check_bits(&large, "lattice", "gcc", 1, NULL);
  check_bits(&large, "lattice", "clang", 4, NULL);
  check_bits(&many, "pairs", "gcc", 4, NULL);
  check_bits(&many, "pairs", "clang", 1, NULL);
  drop(&small), drop(&large), drop(&few), drop(&many);
}

/* Sparse solves: a large one whose arguments loops fetch, many small ones in a loop, one of the parameters alone. The
 * code grows by tables. */
static void test_sparse(void) {
  problem one = ties(100, 1), longer = ties(300, 1), few = ties(4, 60), huge = ties(2000, 1), band = constant_band(60);
  int loops_one, loops_longer, loops_few;
  size_t n_one = text_size(&one, &loops_one), n_longer = text_size(&longer, &loops_longer),
         n_few = text_size(&few, &loops_few);
  printf("ties: %zu, %zu bytes, in groups %zu bytes\n", n_one, n_longer, n_few);
  AG_CHECK(one.tape->n_ldl == 1 && few.tape->n_ldl == 1 && band.tape->n_ldl == 1);
  AG_CHECK(loops_one > 0 && loops_one == loops_longer && loops_few > 0);
  AG_CHECK(n_longer < 4 * n_one); /* the table of places; some digits more */
  check_bits(&longer, "ties", "gcc", 4, NULL);
  check_bits(&longer, "ties", "clang", 8, NULL);
  check_bits(&few, "ties in groups", "clang", 1, NULL);
  check_bits(&few, "ties in groups", "gcc", 2, NULL);
  check_bits(&huge, "many ties", "gcc", 2, NULL);
  check_bits(&huge, "many ties", "clang", 1, NULL);
  check_bits(&band, "band of parameters", "clang", 4, NULL);
  drop(&one), drop(&longer), drop(&few), drop(&huge), drop(&band);
}

/* No two operations alike: nothing to roll. */
static void test_no_family(void) {
  problem b = begin(8, 1, 1, 1);
  uint64_t state = 3;
  ag_id x = z_at(&b, 0);
  for (int i = 0; i < 3000; i++) {
    ag_id y = z_at(&b, pick(&state, 8));
    int op = pick(&state, 4);
    x = op == 0   ? ag_mul(b.g, x, y)
        : op == 1 ? ag_add(b.g, x, y)
        : op == 2 ? ag_apply2(b.g, AG_OP_MAX, x, y)
                  : ag_apply2(b.g, AG_OP_HYPOT, y, x);
  }
  b.outs[b.n_out++] = x;
  finish(&b);
  int loops;
  text_size(&b, &loops);
  AG_CHECK(loops == 0);
  drop(&b);
}

int main(void) {
  static const char strict[] = "-O1 -march=native -Wall -Wextra -Werror";
  static const char *const compilers[] = {"gcc", "clang"};
  test_size();
  test_no_family();
  test_sparse();
  for (uint64_t seed = 1; seed <= 8; seed++) {
    problem b = random_cells(seed, 120 + 13 * (int)seed);
    char what[32];
    int loops, lanes = 1 << seed % 4;
    snprintf(what, sizeof what, "seed %d", (int)seed);
    text_size(&b, &loops);
    AG_CHECK(loops > 0);
    check_bits(&b, what, compilers[seed % 2], lanes, seed < 3 ? strict : "-O1 -march=native");
    if (seed < 3) check_bits(&b, what, compilers[1 - seed % 2], 4, strict);
    drop(&b);
  }
  return ag_check_report();
}
