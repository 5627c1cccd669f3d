/* SPDX-License-Identifier: MIT
 * Kernels: front header of kern/. A tape becomes readable C over lanes, compiled by the machine's compiler, loaded and
 * cached; the interpreter runs where that is not possible, and gives the same bits. kern/ knows tapes, nothing of
 * mechanics or steppers.
 *
 * Four levels: ag_kernel (one tape, ready to call), ag_unit (several tapes with texts that call them: a stepper fused
 * with its right-hand side), ag_library (any C text made of the pieces below, built and loaded), and the pieces
 * themselves (text of a tape, of the vector functions). */
#ifndef AG_KERN_KERN_H
#define AG_KERN_KERN_H
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "expr/expr.h"
#include "kern/kargs.h"

/* How to build. Zero means: choose. */
typedef struct ag_build_options {
  int lanes;            /* 1, 2, 4, 8, 16; 0: chosen for the machine */
  const char *compiler; /* name or path; NULL: gcc or clang, the better one present; "none": always interpret */
  const char *cache;    /* folder; NULL: $XDG_CACHE_HOME/anagyre, else ~/.cache/anagyre, else none; "": none */
  const char *flags;    /* instead of the usual optimisation and machine flags, separated by blanks; NULL: the usual */
  bool only_cached;     /* do not compile: give up when it is not in the cache */
  bool thorough;        /* for code that runs long: texts are optimised fully up to twice the usual length */
} ag_build_options;

/* The number of lanes for this machine: 8 with AVX-512, 4 with AVX2, 2 with NEON or SSE2; fewer if the environment
 * variable ANAGYRE_TARGET (native, avx512, avx2, sse2) requests it. Kernels without their own flags are compiled for
 * the same target. */
int ag_build_lanes(void);
bool ag_build_pairs(void); /* can two vectors per number be faster than one, with clang? */
enum { AG_MOST_LANES = 16 };

/* ---- text ---- */
/* What generated code needs in front: the argument struct and the vector functions; for a text with so many functions
 * (sin, pow, ...) that inlining them all would make it long to compile, they are called. */
void ag_cgen_prologue(int n_function, ag_text *out);
/* The same for standalone code: V is double, and the functions are those of <math.h>; includes the sparse solver if a
 * tape calls it. */
void ag_cgen_plain(bool sparse, ag_text *out);
int ag_cgen_functions(const ag_tape *tape); /* how many functions a tape has, weighted by their length */

typedef struct ag_cgen {
  const char *name;             /* of the C functions: a C identifier */
  const char *const *out_names; /* per output, for comments; NULL: none */
  bool bounds;                  /* also over enclosures; the text of ag_cgen_enclosures stands before it */
  bool unmarked;                /* outputs of failed lanes need not be NaN: the sign bit of fail marks them, or an
                                   output is not finite; other bits of fail say nothing */
  const double *params;         /* the parameters, if they are known: prepared values that are exactly 1 are then
                                   written as 1, so that compilers drop these factors; or NULL */
} ag_cgen;
/* The tape as two functions over V,
 *   static void NAME_prep(const V *p, V *prep, VI *fail)
 *   static void NAME(const V *t, const V *z, const V *c, const V *prep, V *out, VI *fail)
 * declared AG_TAPE_FN, which says how (usually static), with the segments that segment.def says, in its order: a tape
 * that reads w has it behind c. fail is or-ed. Long tapes are split into several functions. Returns the number of
 * prepared values. The same tape always gives the same text. */
int ag_cgen_tape(const ag_tape *tape, const ag_cgen *how, ag_text *out);
/* The operations on enclosures (expr/enclose.h) for a tape: called, not inlined, where it is long. Behind the prologue.
 * With how->bounds there is a third function
 *   static void NAME_bounds(const E *t, const E *z, const E *c, const V *prep, E *out)
 * and for a tape that is not long, by the operations of expr/around.h,
 *   static void NAME_around(const A *t, const A *z, const V *c, const V *prep, A *out) */
void ag_cgen_enclosures(const ag_tape *tape, ag_text *out);
bool ag_cgen_around(const ag_tape *tape); /* is there one? */

/* ---- libraries ---- */

/* The struct that the functions of a text take: the macro with its ABI number and its type, both defined in the text,
 * and what they are on this side. A library that was built with another number or another size is not loaded. */
typedef struct ag_abi {
  const char *macro, *type;
  unsigned number;
  size_t size;
} ag_abi;

/* Compiles and loads a complete text (abi NULL: its functions take an ag_kargs). NULL when that is not possible;
 * *reason then holds one line saying why. The text is compiled with -DAG_LANES=lanes. */
typedef struct ag_library ag_library;
ag_library *ag_library_create(const char *source, const ag_abi *abi, const ag_build_options *options, ag_text *reason);
void *ag_library_symbol(const ag_library *lib, const char *name); /* NULL when absent */
bool ag_library_cached(const ag_library *lib);                    /* was it found in the cache? */
void ag_library_free(ag_library *lib);
/* Removes the least recently used files from the cache folder (NULL: the usual one) until at most max_bytes remain. */
void ag_cache_prune(const char *folder, size_t max_bytes);

/* ---- units: several tapes and texts, one library ---- */

enum { AG_UNIT_TAPES = 12, AG_UNIT_ENTRIES = 8 };

/* A tape that the texts call as NAME (ag_cgen_tape). It is inlined while that stays short: n_call says how often. */
typedef struct ag_unit_tape {
  const char *name;
  const ag_tape *tape;
  int n_call;
  bool outside; /* ag_unit_eval is wanted too */
  bool bounds;  /* and NAME_bounds, for one tape of a unit */
} ag_unit_tape;

/* How long tapes are that are inlined: somebody waits for the compiler; in steps that are made over and over. */
typedef enum ag_inline { AG_INLINE_USUAL, AG_INLINE_BRIEF, AG_INLINE_MARCH } ag_inline;

/* What a unit is made of: behind the vector functions the tapes, then the texts, in order. */
typedef struct ag_unit_spec {
  const char *comment; /* what it is, for the head of the text */
  int n_tape, n_text, n_entry;
  const ag_unit_tape *tapes;
  const char *const *texts;   /* C over V */
  const char *const *entries; /* functions void NAME(const TYPE *) of the texts that are called from outside */
  ag_abi args;                /* TYPE */
  const double *params;       /* as in ag_cgen, for all tapes */
  bool unmarked;              /* as in ag_cgen, for the first tape */
  ag_inline inlined;
} ag_unit_spec;

typedef struct ag_unit ag_unit;
/* NULL when it cannot be compiled; *reason says why in one line. */
ag_unit *ag_unit_create(const ag_unit_spec *spec, const ag_build_options *options, ag_text *reason);
void ag_unit_free(ag_unit *u);
void ag_unit_text(const ag_unit_spec *spec, ag_text *out);
int ag_unit_lanes(const ag_unit *u);
/* Tapes and entries by their index in the spec. Arrays are [component][lane], 64-byte aligned. */
int ag_unit_n_prep(const ag_unit *u, int tape);
void ag_unit_prep(const ag_unit *u, int tape, const double *p, double *prep, unsigned long long *fail);
void ag_unit_eval(const ag_unit *u, int tape, const double *const seg[AG_SEG_COUNT], const double *prep, double *out,
                  unsigned long long *fail);
void ag_unit_call(const ag_unit *u, int entry, const void *args);

/* ---- one tape ---- */
typedef struct ag_kernel ag_kernel;
typedef struct ag_kernel_spec {
  const ag_tape *tape;          /* must outlive the kernel when it is interpreted */
  const char *name;             /* C identifier, e.g. "rhs" */
  const char *const *out_names; /* or NULL */
  int n[AG_SEG_COUNT];          /* length of each segment: the strides of the blocks; at least what the tape needs */
} ag_kernel_spec;
/* Never fails: interprets where nothing can be compiled. */
ag_kernel *ag_kernel_create(const ag_kernel_spec *spec, const ag_build_options *options);
void ag_kernel_free(ag_kernel *k);
int ag_kernel_lanes(const ag_kernel *k);
bool ag_kernel_compiled(const ag_kernel *k);
const char *ag_kernel_reason(const ag_kernel *k); /* why it is interpreted, one line; "" when compiled */
size_t ag_kernel_work(const ag_kernel *k);        /* doubles of work per block (or in all, when shared); per thread */
void ag_kernel_prep(const ag_kernel *k, const ag_kargs *args); /* parameters -> work */
void ag_kernel_run(const ag_kernel *k, const ag_kargs *args);  /* segments, work -> out, fail */
/* The C text of a tape as ag_kernel_create compiles it. */
void ag_kernel_text(const ag_kernel_spec *spec, ag_text *out);
#endif
