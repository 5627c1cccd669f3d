/* SPDX-License-Identifier: MIT
 * Warnings about the members of a batch: as for single runs, but once for all members of a kind. */
#include <math.h>

#include "api/api_internal.h"

/* Members for which something holds. */
typedef struct kind {
  long n, first; /* first: its number, from 1 */
} kind;

static void count(kind *k, bool holds, long member) {
  if (!holds) return;
  if (!k->n) k->first = member + 1;
  k->n++;
}

/* "in 3 of 100 members (the first is member 17)" */
static void put_kind(const kind *k, const anagyre_batch *b, ag_text *out) {
  const long n = anagyre_batch_size(b);
  ag_text_printf(out, "in %ld of %ld members", k->n, n);
  if (k->n < n) ag_text_printf(out, " (the first is member %ld)", k->first);
}

static void warn(ag_ctx *ctx, const anagyre_batch *b, const kind *k, const char *what) {
  ag_text text = {0};
  if (!k->n) return;
  put_kind(k, b, &text);
  ag_ctx_warn(ctx, (ag_pos){0}, "%s %s", text.s, what);
  ag_text_done(&text);
}

/* NULL: it did not start. */
static const ag_batch_member *member_of(const anagyre_batch *b, long i) {
  long row = ag_api_batch_row(b, i);
  return row >= 0 ? &ag_api_batch_result(b)->members[row] : NULL;
}

static bool energy_notes(ag_ctx *ctx, const anagyre_batch *b, const ag_system *sys, const ag_run_options *o) {
  ag_energy_law law = ag_system_energy_law(sys);
  kind off = {0};
  double worst = 0, limit = 0;
  long which = 0;
  for (long i = 0; i < anagyre_batch_size(b); i++) {
    const ag_batch_member *m = member_of(b, i);
    if (!m || !m->audit.measured || !(m->audit.size > 0)) continue;
    double drift = m->audit.drift / m->audit.size, allowed = ag_run_allowed_drift(o, law, m->steps);
    count(&off, drift > allowed, i);
    if (drift > allowed && drift > worst) worst = drift, limit = allowed, which = i + 1;
  }
  if (!off.n) return false;
  ag_text text = {0};
  put_kind(&off, b, &text);
  ag_ctx_warn(
      ctx, (ag_pos){0},
      "%s %s by up to %.2g of kinetic + |potential| energy (member %ld; more than %.2g): %s, and look for jumps "
      "in the equations",
      text.s,
      law == AG_ENERGY_CONSERVED ? "the energy should be conserved but changed"
                                 : "the change of the energy differs from the work done",
      worst, which, limit, o->dt > 0 ? "take smaller steps" : "use a smaller --rtol and --atol");
  ag_text_done(&text);
  return true;
}

static void contact_notes(ag_ctx *ctx, const anagyre_batch *b, const ag_model *m, const kind *lifted) {
  ag_text text = {0};
  int lift = -1;
  for (int i = 0; i < ag_model_n_contacts(m) && lift < 0; i++) lift = ag_audit_lift(m, i);
  ag_text_str(&text, "the ground would have to hold a body down (normal force below 0), at the end or before it: from "
                     "there on this is not the motion of a real body");
  if (lift >= 0) ag_text_printf(&text, "; --end-at %s ends a motion there", ag_model_events(m)[lift].name);
  warn(ctx, b, lifted, text.s);
  ag_text_done(&text);
}

bool ag_api_batch_notes(ag_ctx *ctx, const anagyre_batch *b, const ag_system *sys, const ag_run_options *o) {
  kind lifted = {0}, pointwise = {0}, one_sided = {0}, doubts = {0}, loose = {0};
  for (long i = 0; i < anagyre_batch_size(b); i++) {
    const ag_batch_member *m = member_of(b, i);
    if (!m) continue;
    count(&lifted, m->audit.lifted, i);
    count(&pointwise, m->audit.pointwise, i);
    count(&one_sided, m->audit.one_sided, i);
    count(&doubts, m->audit.doubts > 0, i);
    count(&loose, m->audit.loose, i);
  }
  contact_notes(ctx, b, ag_system_model(sys), &lifted);
  warn(ctx, b, &pointwise,
       "steps do not end where the equations switch (if, abs, sign, min, max), since multipliers are used: accuracy is "
       "lost there");
  warn(ctx, b, &one_sided, "forces recorded while the motion slides are those of one side of the surface");
  warn(ctx, b, &doubts, "an event, or the section, stayed undecided somewhere: a single run says where");
  warn(ctx, b, &loose,
       "a start value is lost in the rounding errors of larger components that move it: its error is not controlled");
  return energy_notes(ctx, b, sys, o);
}
