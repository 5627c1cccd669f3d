/* SPDX-License-Identifier: MIT
 * Compiled kernels against the interpreter, bit for bit (all NaN count as equal): random graphs of all operations,
 * every number of lanes, gcc and clang; and the same through one signature when nothing can be compiled. A compiler
 * that is not there is skipped with a message. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "kern/kern.h"

#include "check.h"

static uint64_t next_bits(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}
static int pick(uint64_t *state, int n) { return (int)(next_bits(state) % (uint64_t)n); }
static double number(uint64_t *state) {
  double u = (double)(next_bits(state) >> 11) * 0x1p-53;
  return pick(state, 40) ? 4 * u - 2 : pick(state, 2) ? 1e8 * (u - 0.5) : 0;
}

enum { N_Z = 5, N_MAX = 5, N_BLOCK = 3, MAX_LANES = AG_MOST_LANES };
static const int lengths[AG_SEG_COUNT] = {
    [AG_SEG_T] = 1, [AG_SEG_Z] = N_Z, [AG_SEG_P] = 3, [AG_SEG_C] = 2, [AG_SEG_W] = 2};

typedef struct problem {
  ag_graph *g;
  ag_tape *tape;
  ag_kernel_spec spec;
} problem;

/* One input per segment; then n_grow random operations, the given percentage of them + - *; the last 6 nodes and three
 * earlier ones are outputs. */
static problem make(uint64_t seed, int n_grow, int n_solve, int arithmetic) {
  uint64_t state = seed;
  ag_graph *g = ag_graph_create();
  int n = 0;
  ag_id *pool = malloc(sizeof *pool * (size_t)(n_grow + 64 + 4 * n_solve));
  ag_bind binds[AG_SEG_COUNT];
  for (int k = 0; k < AG_SEG_COUNT; k++) {
    ag_id in = ag_input(g, ag_segment_describe((ag_seg)k)->name, lengths[k], 1, AG_LEAF_REAL);
    binds[k] = (ag_bind){in, (ag_seg)k, 0};
    for (int i = 0; i < lengths[k]; i++) pool[n++] = ag_entry(g, in, i, 0);
  }
  pool[n++] = ag_num(g, 0.1), pool[n++] = ag_num(g, -3);
  for (int i = 0; i < n_grow; i++) {
    ag_op op = (ag_op)(AG_OP_NEG + pick(&state, AG_OP_CHECKNZ - AG_OP_NEG + 1));
    if (pick(&state, 100) < arithmetic) op = (ag_op)(AG_OP_ADD + pick(&state, 3));
    if (op >= AG_OP_CHECKPOS && pick(&state, 4)) op = AG_OP_SIN;
    int near = n > 30 ? n - 30 : 0; /* mostly recent nodes, so that chains are long */
    ag_id args[3];
    for (int k = 0; k < 3; k++) args[k] = pool[pick(&state, 3) ? near + pick(&state, n - near) : pick(&state, n)];
    pool[n++] = op == AG_OP_NEG      ? ag_neg(g, args[0])
                : op == AG_OP_ADD    ? ag_add(g, args[0], args[1])
                : op == AG_OP_SUB    ? ag_sub(g, args[0], args[1])
                : op == AG_OP_MUL    ? ag_mul(g, args[0], args[1])
                : op == AG_OP_SELECT ? ag_select(g, args[0], args[1], args[2])
                                     : ag_apply(g, op, args);
    if (op == AG_OP_SIN && pick(&state, 2)) pool[n - 1] = ag_add(g, pool[n - 1], ag_apply1(g, AG_OP_COS, args[0]));
    if (n_solve > 0 && i % (n_grow / n_solve) == 7) {
      ag_id A[16], b[4];
      for (int k = 0; k < 16; k++) A[k] = ag_apply1(g, AG_OP_ATAN, pool[pick(&state, n)]);
      for (int k = 0; k < 4; k++) b[k] = ag_apply1(g, AG_OP_ATAN, pool[pick(&state, n)]);
      ag_id x = ag_solve(g, ag_stack(g, 4, 4, A), ag_stack(g, 4, 1, b), AG_SOLVE_GENERAL);
      for (int k = 0; k < 4; k++) pool[n++] = ag_entry(g, x, k, 0);
    }
  }
  ag_id outs[9];
  for (int i = 0; i < 9; i++) outs[i] = i < 6 ? pool[n - 1 - i] : pool[pick(&state, n)];
  problem p = {.g = g, .tape = ag_tape_create(g, AG_SEG_COUNT, binds, 9, outs)};
  p.spec = (ag_kernel_spec){.tape = p.tape, .name = "random"};
  memcpy(p.spec.n, lengths, sizeof lengths);
  free(pool);
  return p;
}

static void drop(problem *p) {
  ag_tape_free(p->tape);
  ag_graph_free(p->g);
}

/* Inputs of one member: the same whatever the lanes. */
typedef struct member {
  double x[AG_SEG_COUNT][N_MAX];
} member;
static member member_of(uint64_t seed, bool shared, int i) {
  uint64_t state = seed + 1000 * (uint64_t)i, same = seed;
  member m;
  for (int s = 0; s < AG_SEG_COUNT; s++)
    for (int k = 0; k < lengths[s]; k++) m.x[s][k] = number(s == AG_SEG_P && shared ? &same : &state);
  return m;
}

typedef struct arrays {
  double x[AG_SEG_COUNT][N_BLOCK * N_MAX * MAX_LANES], out[N_BLOCK * 9 * MAX_LANES];
  unsigned long long fail[N_BLOCK * MAX_LANES];
  const double *seg[AG_SEG_COUNT];
} arrays;
_Static_assert(N_BLOCK *N_MAX *MAX_LANES % 8 == 0, "each segment is aligned");

static void fill(arrays *a, uint64_t seed, bool shared, int L) {
  for (int s = 0; s < AG_SEG_COUNT; s++) a->seg[s] = a->x[s];
  for (int b = 0; b < N_BLOCK; b++)
    for (int l = 0; l < L; l++) {
      member m = member_of(seed, shared, b * L + l);
      for (int s = 0; s < AG_SEG_COUNT; s++)
        for (int k = 0; k < lengths[s]; k++) a->x[s][(b * lengths[s] + k) * L + l] = m.x[s][k];
      a->fail[b * L + l] = 0;
    }
}

static void point(const member *m, const double *seg[AG_SEG_COUNT]) {
  for (int s = 0; s < AG_SEG_COUNT; s++) seg[s] = m->x[s];
}

/* Members through the kernel and one by one through the tape. Returns the number of differences. */
static int compare(const problem *p, const ag_kernel *k, uint64_t seed, bool shared) {
  int L = ag_kernel_lanes(k), wrong = 0;
  arrays *a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
  size_t work = ag_kernel_work(k);
  double *space = aligned_alloc(64, sizeof(double) * (work + 8) * N_BLOCK), out[9];
  double *slots = malloc(sizeof(double) * (size_t)(p->tape->n_slot + 1));
  fill(a, seed, shared, L);
  ag_kargs args = {
      .abi = AG_KERN_ABI, .n_block = N_BLOCK, .seg = a->seg, .out = a->out, .fail = a->fail, .work = space};
  if (!shared) args.p_step = lengths[AG_SEG_P] * L, args.work_step = (long)work;
  ag_kernel_prep(k, &args);
  ag_kernel_run(k, &args);
  ag_kernel_run(k, &args); /* again: nothing is left over */
  for (int i = 0; i < N_BLOCK * L; i++) {
    member m = member_of(seed, shared, i);
    const double *seg[AG_SEG_COUNT];
    point(&m, seg);
    int failed = ag_tape_prep(p->tape, m.x[AG_SEG_P], slots);
    failed |= ag_tape_eval(p->tape, seg, slots, out);
    wrong += (a->fail[i] != 0) != (failed != 0) || (a->fail[i] != 0 && ~a->fail[i] != 0);
    for (int j = 0; j < 9; j++) {
      double v = a->out[(i / L * 9 + j) * L + i % L];
      wrong += memcmp(&v, &out[j], sizeof v) != 0 && !(isnan(v) && isnan(out[j]));
    }
  }
  free(a), free(space), free(slots);
  return wrong;
}

static void test_case(const problem *p, uint64_t seed, const char *compiler, int lanes, const char *flags) {
  ag_build_options o = {.compiler = compiler, .lanes = lanes, .cache = "", .flags = flags};
  ag_kernel *k = ag_kernel_create(&p->spec, &o);
  bool none = !strcmp(compiler, "none");
  if (!none && strstr(ag_kernel_reason(k), "not found")) {
    printf("%s: skipped\n", ag_kernel_reason(k));
  } else {
    if (!none && !ag_kernel_compiled(k)) fprintf(stderr, "%s\n", ag_kernel_reason(k));
    AG_CHECK(ag_kernel_compiled(k) == !none);
    for (int i = 0; i < 20; i++) {
      int wrong = compare(p, k, seed + (uint64_t)i, i % 2);
      if (wrong) fprintf(stderr, "seed %d, %s, %d lanes: %d differ\n", (int)seed, compiler, lanes, wrong);
      AG_CHECK(wrong == 0);
    }
  }
  ag_kernel_free(k);
}

/* A driven pendulum and more, kicked: the increment h f(t, z) + (0, 0, 0, 0, dW) with
 * f = z1, -p sin z0, z0 z1 - c, t cos z2, 1/(1 + z3^2) */
static problem make_increment(void) {
  ag_graph *g = ag_graph_create();
  ag_id in[AG_SEG_COUNT], z[N_Z];
  ag_bind binds[AG_SEG_COUNT];
  for (int k = 0; k < AG_SEG_COUNT; k++) {
    in[k] = ag_input(g, ag_segment_describe((ag_seg)k)->name, lengths[k], 1, AG_LEAF_REAL);
    binds[k] = (ag_bind){in[k], (ag_seg)k, 0};
  }
  for (int i = 0; i < N_Z; i++) z[i] = ag_entry(g, in[AG_SEG_Z], i, 0);
  ag_id one = ag_num(g, 1), t = in[AG_SEG_T], p = ag_entry(g, in[AG_SEG_P], 0, 0), c = ag_entry(g, in[AG_SEG_C], 0, 0);
  ag_id h = ag_entry(g, in[AG_SEG_W], 0, 0), dW = ag_entry(g, in[AG_SEG_W], 1, 0);
  ag_id outs[N_Z] = {z[1], ag_neg(g, ag_mul(g, p, ag_apply1(g, AG_OP_SIN, z[0]))), ag_sub(g, ag_mul(g, z[0], z[1]), c),
                     ag_mul(g, t, ag_apply1(g, AG_OP_COS, z[2])),
                     ag_div(g, one, ag_add(g, one, ag_mul(g, z[3], z[3])))};
  for (int i = 0; i < N_Z; i++) outs[i] = ag_mul(g, h, outs[i]);
  outs[N_Z - 1] = ag_add(g, outs[N_Z - 1], dW);
  return (problem){.g = g, .tape = ag_tape_create(g, AG_SEG_COUNT, binds, N_Z, outs)};
}

static const char steps_text[] = "void steps(const ag_kargs *k) {\n"
                                 "  VI fail = v_word_set(0);\n"
                                 "  const V *const *seg = (const V *const *)k->seg;\n"
                                 "  V t = *seg[0], dz[5], *z = (V *)k->out;\n"
                                 "  for (int s = 0; s < 10; s++, t = t + seg[4][0]) {\n"
                                 "    incr(&t, z, seg[3], seg[4], (const V *)k->work, dz, &fail);\n"
                                 "    for (int i = 0; i < 5; i++) z[i] = z[i] + dz[i];\n"
                                 "  }\n"
                                 "  *(VI *)k->fail |= fail;\n"
                                 "}\n"
                                 "void start(const ag_kargs *k) {\n"
                                 "  VI fail = v_word_set(0);\n"
                                 "  incr_prep((const V *)k->seg[2], (V *)k->work, &fail);\n"
                                 "}\n";

/* Ten steps of one lane by hand. */
static void steps_by_hand(const problem *p, member *m) {
  double *slots = malloc(sizeof(double) * (size_t)(p->tape->n_slot + 1)), dz[N_Z];
  const double *seg[AG_SEG_COUNT];
  point(m, seg);
  ag_tape_prep(p->tape, m->x[AG_SEG_P], slots);
  for (int s = 0; s < 10; s++, m->x[AG_SEG_T][0] += m->x[AG_SEG_W][0]) {
    ag_tape_eval(p->tape, seg, slots, dz);
    for (int i = 0; i < N_Z; i++) m->x[AG_SEG_Z][i] += dz[i];
  }
  free(slots);
}

/* A stepper's text fused with a tape, which reads the step: ten steps, the bits of the interpreter stepping by hand. */
static void test_fused(const problem *p, int lanes) {
  ag_text text = {0}, reason = {0};
  ag_cgen how = {.name = "incr"};
  ag_text_str(&text, "#define AG_TAPE_FN static inline __attribute__((always_inline))\n");
  ag_cgen_prologue(0, &text);
  int n_prep = ag_cgen_tape(p->tape, &how, &text);
  ag_text_str(&text, steps_text);
  ag_build_options o = {.lanes = lanes, .cache = ""};
  ag_library *lib = ag_library_create(ag_text_cstr(&text), NULL, &o, &reason);
  if (!lib) {
    printf("%s: skipped\n", ag_text_cstr(&reason));
  } else {
    void (*steps)(const ag_kargs *), (*start)(const ag_kargs *);
    *(void **)&steps = ag_library_symbol(lib, "steps");
    *(void **)&start = ag_library_symbol(lib, "start");
    arrays *a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
    double *work = aligned_alloc(64, sizeof(double) * (size_t)(n_prep + 1) * 8);
    fill(a, 5, false, lanes);
    memcpy(a->out, a->x[AG_SEG_Z], sizeof(double) * N_Z * (size_t)lanes);
    ag_kargs args = {.abi = AG_KERN_ABI, .n_block = 1, .seg = a->seg, .out = a->out, .fail = a->fail, .work = work};
    start(&args);
    steps(&args);
    for (int l = 0; l < lanes; l++) {
      member m = member_of(5, false, l);
      steps_by_hand(p, &m);
      for (int i = 0; i < N_Z; i++) AG_CHECK(a->out[i * lanes + l] == m.x[AG_SEG_Z][i]);
    }
    free(a), free(work);
  }
  ag_library_free(lib);
  ag_text_done(&text);
  ag_text_done(&reason);
}

int main(void) {
  static const char *const compilers[] = {"gcc", "clang"};
  static const char strict[] = "-O1 -march=native -Wall -Wextra -Werror";
  for (uint64_t seed = 1; seed <= 4; seed++) {
    problem p = make(seed, seed == 4 ? 4500 : 80, seed == 4 ? 20 : seed == 2 ? 0 : 3, seed == 4 ? 99 : 33);
    if (seed == 4) { /* long enough to be split */
      ag_text text = {0};
      ag_kernel_text(&p.spec, &text);
      AG_CHECK(strstr(ag_text_cstr(&text), "random_1("));
      ag_text_done(&text);
    }
    for (int lanes = 1; lanes <= 16; lanes *= 2) {
      test_case(&p, seed, "none", lanes, NULL);
      for (int c = 0; c < 2; c++)
        if (seed == 1 || lanes == 4) test_case(&p, seed, compilers[c], lanes, seed < 3 ? strict : NULL);
    }
    if (seed == 3) test_case(&p, seed, "gcc", 4, "-O1"); /* the plain machine, without fused multiply-add */
    drop(&p);
  }
  problem increment = make_increment();
  test_fused(&increment, 1);
  test_fused(&increment, 4);
  drop(&increment);
  return ag_check_report();
}
