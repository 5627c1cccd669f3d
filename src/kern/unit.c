/* SPDX-License-Identifier: MIT
 * Several tapes and texts as one compiled unit. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "kern/cgen.h"

/* Up to how many operations, in all its calls, a tape is inlined; else it is one function. In the steps of a march the
 * code of two vectors per number (16 lanes, 8 with AVX2) is so long that it does not fit into the first cache, and 16
 * registers do not hold the values that are alive. */
static const char *const most_inlined[] = {
    [AG_INLINE_USUAL] = "6000",
    [AG_INLINE_BRIEF] = "3000",
    [AG_INLINE_MARCH] = "(AG_LANES == 16 ? 2200 : AG_LANES == 8 && !defined __AVX512F__ ? 0 : 6000)",
};
enum { LONG_INLINED = 6000 };

typedef void prep_fn(const double *p, double *prep, unsigned long long *fail);
typedef void eval_fn(const double *const *seg, const double *prep, double *out, unsigned long long *fail);
typedef void entry_fn(const void *args);

struct ag_unit {
  ag_library *library;
  int lanes, n_prep[AG_UNIT_TAPES];
  prep_fn *prep[AG_UNIT_TAPES];
  eval_fn *eval[AG_UNIT_TAPES];
  entry_fn *entry[AG_UNIT_ENTRIES];
};

static int all_calls(const ag_unit_tape *t) { return ag_tape_cost(t->tape) * t->n_call; }

static void put_tape(const ag_unit_spec *s, int which, ag_text *out, int *n_prep) {
  const ag_unit_tape *t = &s->tapes[which];
  ag_cgen how = {.name = t->name, .bounds = t->bounds, .unmarked = s->unmarked && !which, .params = s->params};
  if (t->bounds) ag_cgen_enclosures(t->tape, out);
  ag_text_printf(out, "#undef AG_TAPE_FN\n#if %d < %s\n", all_calls(t), most_inlined[s->inlined]);
  ag_text_str(out, "#define AG_TAPE_FN static inline __attribute__((always_inline))\n#else\n");
  ag_text_str(out, "#define AG_TAPE_FN static __attribute__((noinline))\n#endif\n");
  *n_prep = ag_cgen_tape(t->tape, &how, out);
  ag_text_printf(out, "enum { %s_n_prep = %d };\n", t->name, *n_prep);
  ag_text_printf(out, "void ag_prep_%s(const V *p, V *prep, VI *fail) { %s_prep(p, prep, fail); }\n", t->name, t->name);
  if (!t->outside) return;
  ag_text_printf(out, "void ag_eval_%s(const V *const *seg, const V *prep, V *out, VI *fail) {\n  %s(", t->name,
                 t->name);
  for (int i = 0; i < AG_SEG_COUNT; i++)
    if (ag_cgen_passes(t->tape, false, (ag_seg)i)) ag_text_printf(out, "seg[%d], ", i);
  ag_text_str(out, "prep, out, fail);\n}\n");
}

static void put_all(const ag_unit_spec *s, ag_text *out, int *n_prep) {
  int n_function = 0;
  ag_text_printf(out, "/* %s */\n", s->comment);
  for (int i = 0; i < s->n_tape; i++)
    n_function += ag_cgen_functions(s->tapes[i].tape) *
                  (all_calls(&s->tapes[i]) < LONG_INLINED ? s->tapes[i].n_call : 1);
  ag_cgen_prologue(n_function, out);
  for (int i = 0; i < s->n_tape; i++) put_tape(s, i, out, &n_prep[i]);
  for (int i = 0; i < s->n_text; i++) ag_text_str(out, s->texts[i]);
}

void ag_unit_text(const ag_unit_spec *spec, ag_text *out) {
  int ignored[AG_UNIT_TAPES];
  put_all(spec, out, ignored);
}

/* A name with its prefix, "ag_prep_f". */
static void *symbol(const ag_library *library, const char *prefix, const char *name) {
  ag_text whole = {0};
  ag_text_printf(&whole, "%s%s", prefix, name);
  void *found = ag_library_symbol(library, ag_text_cstr(&whole));
  ag_text_done(&whole);
  return found;
}

static bool find_symbols(ag_unit *u, const ag_unit_spec *s) {
  bool all = true;
  for (int i = 0; i < s->n_tape; i++) {
    *(void **)&u->prep[i] = symbol(u->library, "ag_prep_", s->tapes[i].name);
    *(void **)&u->eval[i] = symbol(u->library, "ag_eval_", s->tapes[i].name);
    all = all && u->prep[i] && (u->eval[i] || !s->tapes[i].outside);
  }
  for (int i = 0; i < s->n_entry; i++) {
    *(void **)&u->entry[i] = symbol(u->library, "", s->entries[i]);
    all = all && u->entry[i];
  }
  return all;
}

ag_unit *ag_unit_create(const ag_unit_spec *spec, const ag_build_options *options, ag_text *reason) {
  AG_ASSERT(spec->n_tape <= AG_UNIT_TAPES && spec->n_entry <= AG_UNIT_ENTRIES);
  ag_text text = {0};
  ag_unit *u = ag_heap_alloc(sizeof *u);
  *u = (ag_unit){.lanes = options->lanes ? options->lanes : ag_build_lanes()};
  put_all(spec, &text, u->n_prep);
  u->library = ag_library_create(ag_text_cstr(&text), &spec->args, options, reason);
  ag_text_done(&text);
  if (u->library && find_symbols(u, spec)) return u;
  if (u->library) ag_text_str(reason, "the compiled kernel lacks an entry");
  ag_unit_free(u);
  return NULL;
}

void ag_unit_free(ag_unit *u) {
  if (!u) return;
  ag_library_free(u->library);
  free(u);
}

int ag_unit_lanes(const ag_unit *u) { return u->lanes; }
int ag_unit_n_prep(const ag_unit *u, int tape) { return u->n_prep[tape]; }
void ag_unit_prep(const ag_unit *u, int tape, const double *p, double *prep, unsigned long long *fail) {
  u->prep[tape](p, prep, fail);
}
void ag_unit_eval(const ag_unit *u, int tape, const double *const seg[AG_SEG_COUNT], const double *prep, double *out,
                  unsigned long long *fail) {
  u->eval[tape](seg, prep, out, fail);
}
void ag_unit_call(const ag_unit *u, int entry, const void *args) { u->entry[entry](args); }
