/* SPDX-License-Identifier: MIT
 * The functions that are looked for, see watcher.h. */
#include "run/watcher.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "kern/kern.h"

/* An operation on enclosures takes as long as so many on numbers. */
enum { ENCLOSED = 6 };
/* As in mech/machine.c; the code over enclosures is longer, too. */
static const double LOOK = 5e5, COMPILE = 4e7, COMPILE_LONG = 4e4;

struct ag_watcher {
  const ag_tape *tape;
  double *params, *slots;
  ag_enclosure *bounds;
  ag_unit *unit; /* NULL: interpreted */
  double *prep;  /* its prepared parameters */
  double spent, ask;
};

ag_watcher *ag_watcher_create(const ag_tape *tape, const double *params, bool compiles) {
  ag_watcher *w = ag_heap_alloc(sizeof *w);
  size_t n = (size_t)tape->n_slot + 1;
  *w = (ag_watcher){.tape = tape, .ask = compiles ? LOOK : INFINITY};
  w->params = ag_heap_alloc(sizeof(double) * (size_t)(tape->n_need[AG_SEG_P] + 1));
  w->slots = ag_heap_aligned(sizeof *w->slots * n);
  w->bounds = ag_heap_alloc(sizeof *w->bounds * n);
  ag_watcher_prepare(w, params);
  return w;
}

void ag_watcher_free(ag_watcher *w) {
  if (!w) return;
  ag_unit_free(w->unit);
  void *all[] = {w->params, w->slots, w->bounds, w->prep, w};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

const ag_tape *ag_watcher_tape(const ag_watcher *w) { return w->tape; }
bool ag_watcher_compiled(const ag_watcher *w) { return w->unit != NULL; }

/* A pivot that fails makes NaN of what needs it. */
static void prepare_unit(ag_watcher *w) {
  unsigned long long fail = 0;
  if (w->unit) ag_unit_prep(w->unit, 0, w->params, w->prep, &fail);
}

void ag_watcher_prepare(ag_watcher *w, const double *params) {
  for (int i = 0; i < w->tape->n_need[AG_SEG_P]; i++) w->params[i] = params[i];
  (void)ag_tape_prep(w->tape, w->params, w->slots);
  ag_enclose_prep(w->tape, w->params, w->bounds);
  prepare_unit(w);
}

/* One unit for both: the tape, and an entry that takes enclosures in the segments of its argument. */
static ag_unit *make(const ag_tape *tape, bool only_cached) {
  static const char *const entry = "ag_bounds";
  ag_text text = {0}, reason = {0};
  ag_build_options build = {.lanes = 1, .only_cached = only_cached};
  const ag_unit_tape g = {"g", tape, 1, true, true};
  ag_text_printf(&text,
                 "void ag_bounds(const ag_kargs *k) {\n  g_bounds((const E *)k->seg[%d], (const E *)k->seg[%d], (const "
                 "E *)k->seg[%d], (const V *)k->work, (E *)k->out);\n}\n",
                 AG_SEG_T, AG_SEG_Z, AG_SEG_C);
  const char *texts[] = {ag_text_cstr(&text)};
  ag_unit_spec spec = {"functions that are looked for", 1, 1, 1, &g, texts, &entry, {0}};
  spec.args = (ag_abi){"AG_KERN_ABI", "ag_kargs", AG_KERN_ABI, sizeof(ag_kargs)};
  ag_unit *unit = ag_unit_create(&spec, &build, &reason);
  ag_text_done(&text);
  ag_text_done(&reason);
  return unit;
}

static void spend(ag_watcher *w, double operations) {
  w->spent += operations;
  if (!(w->spent > w->ask)) return;
  double worth = COMPILE + COMPILE_LONG * (w->tape->n_instr + ENCLOSED * (double)ag_enclose_cost(w->tape));
  bool now = w->spent > worth;
  w->unit = make(w->tape, !now);
  w->ask = now || w->unit ? INFINITY : worth;
  if (!w->unit) return;
  w->prep = ag_heap_aligned(sizeof(double) * (size_t)(ag_unit_n_prep(w->unit, 0) + 1));
  prepare_unit(w);
}

void ag_watcher_values(ag_watcher *w, const double *const seg[AG_SEG_COUNT], double *out) {
  unsigned long long fail = 0;
  if (!w->unit) spend(w, w->tape->n_instr);
  if (w->unit) ag_unit_eval(w->unit, 0, seg, w->prep, out, &fail);
  else (void)ag_tape_eval(w->tape, seg, w->slots, out);
}

void ag_watcher_bounds(ag_watcher *w, const ag_enclosure *const seg[AG_SEG_COUNT], ag_enclosure *out) {
  if (!w->unit) spend(w, ENCLOSED * (double)ag_enclose_cost(w->tape));
  if (!w->unit) {
    ag_enclose_eval(w->tape, seg, w->bounds, out);
    return;
  }
  ag_kargs args = {
      .abi = AG_KERN_ABI, .n_block = 1, .seg = (const double *const *)seg, .out = &out->lo, .work = w->prep};
  ag_unit_call(w->unit, 0, &args);
}
