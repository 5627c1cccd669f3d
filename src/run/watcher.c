/* SPDX-License-Identifier: MIT
 * The monitored functions, see watcher.h. */
#include "run/watcher.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "kern/kern.h"

/* Cost of an operation on enclosures, in operations on numbers. */
enum { ENCLOSED = 6 };
/* As in mech/machine.c; the code over enclosures is longer, too. */
static const double LOOK = 5e5, COMPILE = 4e7, COMPILE_LONG = 4e4;

/* Values; bounds; numbers that bounds read besides z. The last two may be absent. */
enum { VALUES, LOOK_AT, EXTRA, TAPES };

struct ag_watch_code {
  const ag_tape *tape;
  ag_unit *unit; /* NULL: none yet */
  bool eager;
  double spent, ask; /* operations interpreted; the number at which code is asked for next */
};

struct ag_watcher {
  const ag_tape *tapes[TAPES];
  const ag_tape *look; /* of the bounds: one of them */
  double *params, *slots[TAPES];
  ag_enclosure *bounds;
  ag_watch_code own, *code; /* code: own, or shared */
  const ag_unit *unit;      /* its unit, or another that has the tapes; NULL: interpreted */
  int at[TAPES], entry;     /* where they are in it, and bounds */
  double *prep[TAPES];      /* its prepared parameters */
};

ag_watch_code *ag_watch_code_create(const ag_tape *tape, bool eager) {
  ag_watch_code *c = ag_heap_alloc(sizeof *c);
  *c = (ag_watch_code){.tape = tape, .eager = eager, .ask = eager ? 0 : LOOK};
  return c;
}

void ag_watch_code_free(ag_watch_code *c) {
  if (!c) return;
  ag_unit_free(c->unit);
  free(c);
}

ag_watcher *ag_watcher_create(const ag_tape *tape, const double *params, bool compiles) {
  ag_watcher *w = ag_heap_alloc(sizeof *w);
  int n_param = 0;
  *w = (ag_watcher){.tapes = {tape, tape->look, tape->extra}, .own = {.ask = compiles ? LOOK : INFINITY}};
  w->code = &w->own;
  w->look = tape->look ? tape->look : tape;
  for (int i = 0; i < TAPES && w->tapes[i]; i++) {
    w->slots[i] = ag_heap_aligned(sizeof(double) * (size_t)(w->tapes[i]->n_slot + 1));
    if (w->tapes[i]->n_need[AG_SEG_P] > n_param) n_param = w->tapes[i]->n_need[AG_SEG_P];
  }
  w->params = ag_heap_alloc(sizeof(double) * (size_t)(n_param + 1));
  w->bounds = ag_heap_alloc(sizeof *w->bounds * ((size_t)w->look->n_slot + 1));
  ag_watcher_prepare(w, params);
  return w;
}

void ag_watcher_free(ag_watcher *w) {
  if (!w) return;
  ag_unit_free(w->own.unit);
  for (int i = 0; i < TAPES; i++) free(w->slots[i]), free(w->prep[i]);
  free(w->params);
  free(w->bounds);
  free(w);
}

const ag_tape *ag_watcher_tape(const ag_watcher *w) { return w->tapes[VALUES]; }
const ag_tape *ag_watcher_look(const ag_watcher *w) { return w->look; }
int ag_watcher_n_extra(const ag_watcher *w) { return w->tapes[EXTRA] ? w->tapes[EXTRA]->n_out / 2 : 0; }
bool ag_watcher_compiled(const ag_watcher *w) { return w->unit != NULL; }

/* A failed pivot makes everything that depends on it NaN. */
static void prepare_unit(ag_watcher *w) {
  unsigned long long fail = 0;
  for (int i = 0; i < TAPES && w->tapes[i] && w->unit; i++)
    ag_unit_prep(w->unit, w->at[i], w->params, w->prep[i], &fail);
}

void ag_watcher_prepare(ag_watcher *w, const double *params) {
  for (int i = 0; i < TAPES && w->tapes[i]; i++) {
    for (int k = 0; k < w->tapes[i]->n_need[AG_SEG_P]; k++) w->params[k] = params[k];
    (void)ag_tape_prep(w->tapes[i], params, w->slots[i]);
  }
  ag_enclose_prep(w->look, w->params, w->bounds);
  prepare_unit(w);
}

void ag_watcher_text(const char *tape, ag_text *out) {
  ag_text_printf(
      out,
      "void ag_bounds(const ag_kargs *k) {\n  %s_bounds((const E *)k->seg[%d], (const E *)k->seg[%d], (const "
      "E *)k->seg[%d], (const V *)k->work, (E *)k->out);\n}\n",
      tape, AG_SEG_T, AG_SEG_Z, AG_SEG_C);
}

/* One unit for all: the tapes, and an entry that takes enclosures in the segments of its argument. */
static ag_unit *make(const ag_watcher *w, bool only_cached) {
  static const char *const entry = "ag_bounds";
  ag_text text = {0}, reason = {0};
  ag_build_options build = {.lanes = 1, .only_cached = only_cached};
  const ag_tape *const *t = w->tapes;
  const ag_unit_tape all[TAPES] = {
      {"g", t[VALUES], 1, true, !t[LOOK_AT]}, {"s", t[LOOK_AT], 1, false, true}, {"x", t[EXTRA], 1, true, false}};
  ag_watcher_text(t[LOOK_AT] ? "s" : "g", &text);
  const char *texts[] = {ag_text_cstr(&text)};
  const ag_unit_spec spec = {.comment = "monitored functions",
                             .n_tape = t[LOOK_AT] ? TAPES : 1,
                             .n_text = 1,
                             .n_entry = 1,
                             .tapes = all,
                             .texts = texts,
                             .entries = &entry,
                             .args = {"AG_KERN_ABI", "ag_kargs", AG_KERN_ABI, sizeof(ag_kargs)}};
  ag_unit *unit = ag_unit_create(&spec, &build, &reason);
  ag_text_done(&text);
  ag_text_done(&reason);
  return unit;
}

void ag_watcher_take(ag_watcher *w, const ag_unit *unit, const int *tapes, int entry) {
  if (w->unit) return;
  w->unit = unit, w->entry = entry;
  for (int i = 0; i < TAPES && w->tapes[i]; i++) {
    w->at[i] = tapes[i];
    w->prep[i] = ag_heap_aligned(sizeof(double) * (size_t)(ag_unit_n_prep(unit, tapes[i]) + 1));
  }
  prepare_unit(w);
}

static void take_code(ag_watcher *w) {
  if (w->code->unit) ag_watcher_take(w, w->code->unit, (const int[TAPES]){VALUES, LOOK_AT, EXTRA}, 0);
}

void ag_watcher_share(ag_watcher *w, ag_watch_code *c) {
  if (w->own.ask == INFINITY || c->tape != w->tapes[VALUES]) return; /* it does not compile */
  w->code = c;
  take_code(w);
}

static void spend(ag_watcher *w, double operations) {
  ag_watch_code *c = w->code;
  c->spent += operations;
  if (!(c->spent > c->ask)) return;
  double worth = COMPILE + COMPILE_LONG * (w->tapes[VALUES]->n_instr + ENCLOSED * (double)ag_enclose_cost(w->look));
  bool now = c->eager || c->spent > worth;
  c->unit = make(w, !now);
  c->ask = now || c->unit ? INFINITY : worth;
  take_code(w);
}

static void evaluate(ag_watcher *w, int tape, const double *const seg[AG_SEG_COUNT], double *out) {
  unsigned long long fail = 0;
  if (!w->unit) spend(w, w->tapes[tape]->n_instr);
  if (w->unit) ag_unit_eval(w->unit, w->at[tape], seg, w->prep[tape], out, &fail);
  else (void)ag_tape_eval(w->tapes[tape], seg, w->slots[tape], out);
}

void ag_watcher_values(ag_watcher *w, const double *const seg[AG_SEG_COUNT], double *out) {
  evaluate(w, VALUES, seg, out);
}

void ag_watcher_extra(ag_watcher *w, double t, const double *z, const double *dz, const double *c, double *out) {
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_C] = c, [AG_SEG_W] = dz};
  if (w->tapes[EXTRA]) evaluate(w, EXTRA, seg, out);
}

void ag_watcher_bounds(ag_watcher *w, const ag_enclosure *const seg[AG_SEG_COUNT], ag_enclosure *out) {
  if (!w->unit) spend(w, ENCLOSED * (double)ag_enclose_cost(w->look));
  if (!w->unit) {
    ag_enclose_eval(w->look, seg, w->bounds, out);
    return;
  }
  ag_kargs args = {.abi = AG_KERN_ABI,
                   .n_block = 1,
                   .seg = (const double *const *)seg,
                   .out = &out->lo,
                   .work = w->prep[w->look == w->tapes[VALUES] ? VALUES : LOOK_AT]};
  ag_unit_call(w->unit, w->entry, &args);
}
