/* SPDX-License-Identifier: MIT
 * Evaluates the tapes of a worker: by the interpreter at first, then by compiled code where it is available. */
#include <math.h>
#include <stdlib.h>

#include "mech/work_internal.h"

/* Operations interpreted before looking for code that exists already, some milliseconds; and before compiling, about as
 * long as that takes: a part for every tape, and a part that grows with it. */
static const double LOOK = 5e5, COMPILE = 4e7, COMPILE_LONG = 4e4;

static double worth(const machine *k) { return COMPILE + COMPILE_LONG * k->tape->n_instr; }

void ag_machine_make(ag_work *w, int role) {
  const ag_tape *tape = w->sys->tapes[role];
  AG_ASSERT(tape);
  w->machines[role] = (machine){.tape = tape,
                                .slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1)),
                                .out = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_out + 1)),
                                .ask = w->coder.find ? LOOK : INFINITY};
  /* a failed parameter-only pivot shows up in every evaluation */
  (void)ag_tape_prep(tape, w->params, w->machines[role].slots);
}

void ag_machine_ask(ag_work *w, int role) {
  machine *k = &w->machines[role];
  bool now = k->spent > worth(k);
  k->code = w->coder.find(w->coder.self, role, now);
  k->ask = now ? INFINITY : worth(k);
  if (!k->code) return;
  k->prep = ag_heap_aligned(sizeof(double) * (size_t)(k->code->n_prep + 1));
  k->code->prep(k->code->self, w->params, k->prep);
}

void ag_machine_done(machine *k) {
  free(k->slots);
  free(k->out);
  free(k->prep);
}

void ag_work_coder(ag_work *w, const ag_coder *coder) {
  w->coder = *coder;
  for (int i = 0; i < w->sys->n_tape; i++)
    if (!w->machines[i].code) w->machines[i].ask = LOOK;
}
