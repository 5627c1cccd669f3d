/* SPDX-License-Identifier: MIT
 * One tape behind one call signature: compiled over lanes, or interpreted lane by lane with the same bits. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "kern/cgen.h"
#include "kern/texts.h"

typedef void entry_fn(const ag_kargs *args);

struct ag_kernel {
  ag_library *lib; /* NULL: interpreted */
  entry_fn *prep, *run;
  const ag_tape *tape;
  int lanes, n[AG_SEG_COUNT];
  size_t work; /* doubles per block */
  ag_text reason;
};

/* ---- compiled ---- */

/* What entries.h is made of, and that text. */
static void put_entries(const ag_kernel_spec *spec, int n_prep, ag_text *out) {
  ag_text_printf(out, "#define AG_PREP_(p, prep, fail) %s_prep(p, prep, fail)\n", spec->name);
  ag_text_printf(out, "#define AG_RUN_(k, b, prep, out, fail) %s(", spec->name);
  for (int i = 0; i < AG_SEG_COUNT; i++)
    if (ag_cgen_passes(spec->tape, false, (ag_seg)i))
      ag_text_printf(out, "(const V *)k->seg[%d] + b * %d, ", i, spec->n[i]);
  ag_text_printf(out, "prep, out, fail)\n#define AG_SEGMENT_P_ %d\n#define AG_N_OUT_ %d\n#define AG_N_PREP_ %d\n",
                 AG_SEG_P, spec->tape->n_out, n_prep);
  ag_text_str(out, ag_text_of_entries);
}

void ag_kernel_text(const ag_kernel_spec *spec, ag_text *out) {
  ag_cgen how = {.name = spec->name, .out_names = spec->out_names};
  ag_cgen_prologue(ag_cgen_functions(spec->tape), out);
  ag_text_printf(out, "/* %s: %d operations */\n", spec->name, ag_tape_cost(spec->tape));
  int n_prep = ag_cgen_tape(spec->tape, &how, out);
  put_entries(spec, n_prep, out);
}

static void use_library(ag_kernel *k) {
  const int *n_prep = ag_library_symbol(k->lib, "ag_kernel_n_prep");
  *(void **)&k->prep = ag_library_symbol(k->lib, "ag_kernel_prep");
  *(void **)&k->run = ag_library_symbol(k->lib, "ag_kernel_run");
  AG_ASSERT(n_prep && k->prep && k->run);
  k->work = (size_t)*n_prep * (size_t)k->lanes;
}

/* ---- interpreted ---- */
/* work of one block: per lane the slots of the tape; then, of one lane, each segment in turn and the outputs. */

static size_t gathered(const ag_kernel *k) {
  int n = k->tape->n_out;
  for (int i = 0; i < AG_SEG_COUNT; i++) n += k->n[i];
  return (size_t)n;
}

static void gather(const double *from, int n, int lanes, int lane, double *to) {
  for (int i = 0; i < n; i++) to[i] = from[i * lanes + lane];
}

static void interpret_prep(const ag_kernel *k, const ag_kargs *a) {
  int n = a->work_step ? a->n_block : 1, L = k->lanes;
  for (int b = 0; b < n; b++)
    for (int l = 0; l < L; l++) {
      double *work = a->work + b * a->work_step, *slots = work + (size_t)l * (size_t)k->tape->n_slot;
      double *p = work + (size_t)L * (size_t)k->tape->n_slot;
      if (a->seg[AG_SEG_P]) gather(a->seg[AG_SEG_P] + b * a->p_step, k->n[AG_SEG_P], L, l, p);
      if (!ag_tape_prep(k->tape, p, slots)) continue;
      for (int i = b; i < (a->work_step ? b + 1 : a->n_block); i++) a->fail[i * L + l] = ~0ULL;
    }
}

static void interpret_run(const ag_kernel *k, const ag_kargs *a) {
  int L = k->lanes, n_out = k->tape->n_out;
  for (long b = 0; b < a->n_block; b++)
    for (int l = 0; l < L; l++) {
      double *work = a->work + b * a->work_step, *slots = work + (size_t)l * (size_t)k->tape->n_slot;
      double *out = work + (size_t)L * (size_t)k->tape->n_slot;
      const double *seg[AG_SEG_COUNT];
      for (int i = 0; i < AG_SEG_COUNT; i++) {
        bool read = k->tape->n_need[i] > 0 && !ag_segment_describe((ag_seg)i)->prep;
        if (read) gather(a->seg[i] + b * k->n[i] * L, k->n[i], L, l, out);
        seg[i] = out;
        out += k->n[i];
      }
      if (ag_tape_eval(k->tape, seg, slots, out)) a->fail[b * L + l] = ~0ULL;
      for (int i = 0; i < n_out; i++) a->out[(b * n_out + i) * L + l] = out[i];
    }
}

/* ---- outside ---- */

ag_kernel *ag_kernel_create(const ag_kernel_spec *spec, const ag_build_options *options) {
  ag_kernel *k = ag_heap_alloc(sizeof *k);
  k->tape = spec->tape;
  k->lanes = options && options->lanes ? options->lanes : ag_build_lanes();
  for (int i = 0; i < AG_SEG_COUNT; i++) {
    AG_ASSERT(spec->n[i] >= spec->tape->n_need[i]);
    k->n[i] = spec->n[i];
  }
  ag_text source = {0};
  ag_kernel_text(spec, &source);
  k->lib = ag_library_create(ag_text_cstr(&source), NULL, options, &k->reason);
  ag_text_done(&source);
  if (k->lib) use_library(k);
  else k->work = (size_t)k->lanes * (size_t)k->tape->n_slot + gathered(k);
  return k;
}

void ag_kernel_free(ag_kernel *k) {
  if (!k) return;
  ag_library_free(k->lib);
  ag_text_done(&k->reason);
  free(k);
}

int ag_kernel_lanes(const ag_kernel *k) { return k->lanes; }
bool ag_kernel_compiled(const ag_kernel *k) { return k->lib != NULL; }
const char *ag_kernel_reason(const ag_kernel *k) { return ag_text_cstr(&k->reason); }
/* A whole number of cache lines, so that blocks stay aligned. */
size_t ag_kernel_work(const ag_kernel *k) { return (k->work + 7) / 8 * 8; }

void ag_kernel_prep(const ag_kernel *k, const ag_kargs *args) {
  AG_ASSERT(args->abi == AG_KERN_ABI);
  if (k->lib) k->prep(args);
  else interpret_prep(k, args);
}

void ag_kernel_run(const ag_kernel *k, const ag_kargs *args) {
  AG_ASSERT(args->abi == AG_KERN_ABI);
  if (k->lib) k->run(args);
  else interpret_run(k, args);
}
