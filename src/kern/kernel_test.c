/* SPDX-License-Identifier: MIT
 * Compiled kernels against the interpreter, bit for bit (NaN are alike): random graphs of all operations, every number
 * of lanes, gcc and clang; and the same through one signature when nothing can be compiled. A compiler that is not
 * there is skipped with a message. */
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

enum { N_Z = 5, N_P = 3, N_C = 2, N_BLOCK = 3, MAX_LANES = 8 };

typedef struct problem {
  ag_graph *g;
  ag_tape *tape;
  ag_kernel_spec spec;
} problem;

/* Inputs t, z (5), p (3), c (2); then n_grow random operations, so many of a hundred of them + - *; the last 6 nodes
 * and three earlier ones are outputs. */
static problem make(uint64_t seed, int n_grow, int n_solve, int arithmetic) {
  uint64_t state = seed;
  ag_graph *g = ag_graph_create();
  ag_id in[4] = {ag_input(g, "t", 1, 1, AG_LEAF_REAL), ag_input(g, "z", N_Z, 1, AG_LEAF_REAL),
                 ag_input(g, "p", N_P, 1, AG_LEAF_REAL), ag_input(g, "c", N_C, 1, AG_LEAF_REAL)};
  ag_bind binds[4] = {{in[0], AG_SEG_T, 0}, {in[1], AG_SEG_Z, 0}, {in[2], AG_SEG_P, 0}, {in[3], AG_SEG_C, 0}};
  int n = 0;
  ag_id *pool = malloc(sizeof *pool * (size_t)(n_grow + 64 + 4 * n_solve));
  pool[n++] = in[0];
  for (int k = 1; k < 4; k++)
    for (int i = 0; i < ag_node_rows(g, in[k]); i++) pool[n++] = ag_entry(g, in[k], i, 0);
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
  problem p = {.g = g, .tape = ag_tape_create(g, 4, binds, 9, outs)};
  p.spec = (ag_kernel_spec){.tape = p.tape, .name = "random"};
  p.spec.n[AG_SEG_T] = 1, p.spec.n[AG_SEG_Z] = N_Z, p.spec.n[AG_SEG_P] = N_P, p.spec.n[AG_SEG_C] = N_C;
  free(pool);
  return p;
}

static void drop(problem *p) {
  ag_tape_free(p->tape);
  ag_graph_free(p->g);
}

/* Inputs of one member: the same whatever the lanes. */
typedef struct member {
  double t, z[N_Z], p[N_P], c[N_C];
} member;
static member member_of(uint64_t seed, bool shared, int i) {
  uint64_t state = seed + 1000 * (uint64_t)i, same = seed;
  member m;
  m.t = number(&state);
  for (int k = 0; k < N_Z; k++) m.z[k] = number(&state);
  for (int k = 0; k < N_P; k++) m.p[k] = number(shared ? &same : &state);
  for (int k = 0; k < N_C; k++) m.c[k] = number(&state);
  return m;
}

typedef struct arrays {
  double t[N_BLOCK * MAX_LANES], z[N_BLOCK * N_Z * MAX_LANES], p[N_BLOCK * N_P * MAX_LANES];
  double c[N_BLOCK * N_C * MAX_LANES], out[N_BLOCK * 9 * MAX_LANES];
  unsigned long long fail[N_BLOCK * MAX_LANES];
} arrays;

static void fill(arrays *a, uint64_t seed, bool shared, int L) {
  for (int b = 0; b < N_BLOCK; b++)
    for (int l = 0; l < L; l++) {
      member m = member_of(seed, shared, b * L + l);
      a->t[b * L + l] = m.t;
      for (int k = 0; k < N_Z; k++) a->z[(b * N_Z + k) * L + l] = m.z[k];
      for (int k = 0; k < N_P; k++) a->p[(b * N_P + k) * L + l] = m.p[k];
      for (int k = 0; k < N_C; k++) a->c[(b * N_C + k) * L + l] = m.c[k];
      a->fail[b * L + l] = 0;
    }
}

/* Members through the kernel and one by one through the tape. Returns the number of differences. */
static int compare(const problem *p, const ag_kernel *k, uint64_t seed, bool shared) {
  int L = ag_kernel_lanes(k), wrong = 0;
  arrays *a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
  size_t work = ag_kernel_work(k);
  double *space = aligned_alloc(64, sizeof(double) * (work + 8) * N_BLOCK), out[9];
  double *slots = malloc(sizeof(double) * (size_t)(p->tape->n_slot + 1));
  fill(a, seed, shared, L);
  ag_kargs args = {.abi = AG_KERN_ABI,
                   .n_block = N_BLOCK,
                   .t = a->t,
                   .z = a->z,
                   .p = a->p,
                   .c = a->c,
                   .out = a->out,
                   .fail = a->fail,
                   .work = space};
  if (!shared) args.p_step = N_P * L, args.work_step = (long)work;
  ag_kernel_prep(k, &args);
  ag_kernel_run(k, &args);
  ag_kernel_run(k, &args); /* again: nothing is left over */
  for (int i = 0; i < N_BLOCK * L; i++) {
    member m = member_of(seed, shared, i);
    const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = &m.t, [AG_SEG_Z] = m.z, [AG_SEG_C] = m.c};
    int failed = ag_tape_prep(p->tape, m.p, slots);
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

/* A driven pendulum and more: z1, -p sin z0, z0 z1 - c, t cos z2, 1/(1 + z3^2) */
static problem make_smooth(void) {
  ag_graph *g = ag_graph_create();
  ag_id t = ag_input(g, "t", 1, 1, AG_LEAF_REAL), zs = ag_input(g, "z", N_Z, 1, AG_LEAF_REAL), z[N_Z];
  ag_id p = ag_input(g, "p", 1, 1, AG_LEAF_REAL), c = ag_input(g, "c", 1, 1, AG_LEAF_REAL);
  ag_bind binds[4] = {{t, AG_SEG_T, 0}, {zs, AG_SEG_Z, 0}, {p, AG_SEG_P, 0}, {c, AG_SEG_C, 0}};
  for (int i = 0; i < N_Z; i++) z[i] = ag_entry(g, zs, i, 0);
  ag_id one = ag_num(g, 1);
  ag_id outs[N_Z] = {z[1], ag_neg(g, ag_mul(g, p, ag_apply1(g, AG_OP_SIN, z[0]))), ag_sub(g, ag_mul(g, z[0], z[1]), c),
                     ag_mul(g, t, ag_apply1(g, AG_OP_COS, z[2])),
                     ag_div(g, one, ag_add(g, one, ag_mul(g, z[3], z[3])))};
  problem made = {.g = g, .tape = ag_tape_create(g, 4, binds, N_Z, outs)};
  return made;
}

/* A stepper's text fused with a tape: ten steps of Euler's method, the bits of the interpreter stepping by hand. */
static void test_fused(const problem *p, int lanes) {
  ag_text text = {0}, reason = {0};
  ag_cgen how = {.name = "rhs"};
  ag_text_str(&text, "#define AG_TAPE_FN static inline __attribute__((always_inline))\n");
  ag_cgen_prologue(0, &text);
  int n_prep = ag_cgen_tape(p->tape, &how, &text);
  ag_text_str(&text, "void euler(const ag_kargs *k) {\n"
                     "  VI fail = v_word_set(0);\n"
                     "  V t = *(const V *)k->t, h = *(const V *)k->h, dz[5], *z = (V *)k->out;\n"
                     "  for (int s = 0; s < 10; s++, t = t + h) {\n"
                     "    rhs(&t, z, (const V *)k->c, (const V *)k->work, dz, &fail);\n"
                     "    for (int i = 0; i < 5; i++) z[i] = v_fma(h, dz[i], z[i]);\n"
                     "  }\n"
                     "  *(VI *)k->fail |= fail;\n"
                     "}\n"
                     "void start(const ag_kargs *k) {\n"
                     "  VI fail = v_word_set(0);\n"
                     "  rhs_prep((const V *)k->p, (V *)k->work, &fail);\n"
                     "}\n");
  ag_build_options o = {.lanes = lanes, .cache = ""};
  ag_library *lib = ag_library_create(ag_text_cstr(&text), &o, &reason);
  if (!lib) {
    printf("%s: skipped\n", ag_text_cstr(&reason));
  } else {
    void (*euler)(const ag_kargs *), (*start)(const ag_kargs *);
    *(void **)&euler = ag_library_symbol(lib, "euler");
    *(void **)&start = ag_library_symbol(lib, "start");
    arrays *a = aligned_alloc(64, (sizeof *a + 63) / 64 * 64);
    double *work = aligned_alloc(64, sizeof(double) * (size_t)(n_prep + 1) * 8), h[8] __attribute__((aligned(64)));
    double *slots = malloc(sizeof(double) * (size_t)(p->tape->n_slot + 1)), dz[N_Z], t;
    fill(a, 5, false, lanes);
    for (int l = 0; l < 8; l++) h[l] = 0.01 * (l + 1);
    memcpy(a->out, a->z, sizeof(double) * N_Z * (size_t)lanes);
    ag_kargs args = {.abi = AG_KERN_ABI,
                     .n_block = 1,
                     .t = a->t,
                     .p = a->p,
                     .c = a->c,
                     .h = h,
                     .out = a->out,
                     .fail = a->fail,
                     .work = work};
    start(&args);
    euler(&args);
    for (int l = 0; l < lanes; l++) {
      member m = member_of(5, false, l);
      const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = m.z, [AG_SEG_C] = m.c};
      ag_tape_prep(p->tape, m.p, slots);
      t = m.t;
      for (int s = 0; s < 10; s++, t += h[l]) {
        ag_tape_eval(p->tape, seg, slots, dz);
        for (int i = 0; i < N_Z; i++) m.z[i] = fma(h[l], dz[i], m.z[i]);
      }
      for (int i = 0; i < N_Z; i++) {
        double v = a->out[i * lanes + l];
        AG_CHECK(v == m.z[i]);
      }
    }
    free(a), free(work), free(slots);
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
    for (int lanes = 1; lanes <= 8; lanes *= 2) {
      test_case(&p, seed, "none", lanes, NULL);
      for (int c = 0; c < 2; c++)
        if (seed == 1 || lanes == 4) test_case(&p, seed, compilers[c], lanes, seed < 3 ? strict : NULL);
    }
    if (seed == 3) test_case(&p, seed, "gcc", 4, "-O1"); /* the plain machine, without fused multiply-add */
    drop(&p);
  }
  problem smooth = make_smooth();
  test_fused(&smooth, 1);
  test_fused(&smooth, 4);
  drop(&smooth);
  return ag_check_report();
}
