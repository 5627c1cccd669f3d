/* SPDX-License-Identifier: MIT
 * A worker and its coder: when it asks, that it uses what it gets, and that a worker without one never asks. The code
 * here is the interpreter on a tape of its own, which counts. */
#include "tests/mech_models.h"

typedef struct counting {
  const ag_system *sys;
  int n_look, n_worth, n_eval; /* asked for what there is; asked to compile; evaluated */
  bool has;
  ag_code code;
  const ag_tape *tape;
  double *slots;
} counting;

static void prep(const void *self, const double *p, double *out) {
  const counting *c = self;
  out[0] = 1;
  (void)ag_tape_prep(c->tape, p, c->slots);
}

static int eval(const void *self, const double *const *seg, const double *prepared, double *out) {
  counting *c = (counting *)self;
  AG_CHECK(prepared[0] == 1);
  c->n_eval++;
  return ag_tape_eval(c->tape, seg, c->slots, out);
}

static const ag_code *find(void *self, int role, bool worth) {
  counting *c = self;
  AG_CHECK(role == AG_ROLE_BALANCE);
  c->n_look += !worth, c->n_worth += worth;
  if (!c->has && !worth) return NULL;
  c->tape = ag_system_role(c->sys, role);
  free(c->slots);
  c->slots = room(c->tape->n_slot);
  c->code = (ag_code){c, 1, prep, eval};
  return &c->code;
}

static void check(bench_system *b) {
  const ag_tape *tape = ag_system_role(b->sys, AG_ROLE_BALANCE);
  if (!tape->n_instr) return;
  AG_CHECK(take_sample(b, 1));
  double expected = ag_work_energy(b->w, b->t, b->x, NULL);
  for (int has = 0; has < 2; has++) {
    counting c = {.sys = b->sys, .has = has};
    ag_work *w = ag_work_create(b->sys, ag_system_param_values(b->sys));
    ag_work_coder(w, &(ag_coder){&c, find});
    /* 4e7 operations are worth compiling, and 4e4 for each operation of the tape */
    long most = (long)(4.2e7 / tape->n_instr) + 50000, n = 0;
    bool same = true;
    for (; n < most && !c.n_eval; n++) same = same && ag_work_energy(w, b->t, b->x, NULL) == expected;
    AG_CHECK(same && ag_work_energy(w, b->t, b->x, NULL) == expected);
    AG_CHECK(c.n_look == 1 && c.n_worth == !has && c.n_eval > 0);
    AG_CHECK((double)n * tape->n_instr > (has ? 4e5 : 4e7));
    ag_work_free(w);
    free(c.slots);
  }
}

int main(void) { return each_case(check); }
