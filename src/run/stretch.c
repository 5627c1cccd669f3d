/* SPDX-License-Identifier: MIT
 * Many steps of a single run by one call of compiled code: the march of batches, with one lane (stretch_core.h). It
 * makes the steps that trajectory.c and advance.c would make, bit for bit, as long as nothing has to be recorded or
 * shown, no function is crossed and no special case arises. It is a separate unit, compiled only for long runs:
 * short ones never need most of it. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/trajectory.h"

/* Operations of a run, with some for the work around a right-hand side, after which a unit is compiled: half a second
 * of compiled steps, about what the compiler takes; less where compiled code was asked for. */
static const double AROUND = 60, WORTH_COMPILING = 1e9, WORTH_IF_ASKED = 3e8;
enum { LONGEST = 2000 };                /* instructions of monitored functions */
enum { TRIES = 4000, MOST_PAUSE = 32 }; /* between checks of progress (advance.c); steps */

struct ag_stretch {
  ag_fused *fused;
  ag_fused_args m;
  ag_stretch_args a;
  double *prep[AG_FUSED_TAPES], *room;
  double t, h, t1, until, last_error, spare, reach, turn, h_sub, end_sub, from, known_t;
  unsigned long long steps, rejected, was, sub, leave, seen, care;
  long long tries, taken, others, found, made;
  double found_t;
  unsigned long long *plain;
  double here;      /* the time at which the last stretch ended: its results there are still valid */
  long wait, pause; /* steps to be made by other code before the next one; and how many, where stretches fail */
};

/* ---- making one ---- */

static bool has_guard(const ag_system *sys) {
  return ag_system_role(sys, AG_ROLE_MINOR) || ag_system_role(sys, AG_ROLE_FRAGILE);
}

/* After an adaptive step the march restores a state as the code of single runs does; after a fixed one lengths alone.
 */
static bool restores_alike(const run *r) {
  const ag_dims *d = ag_system_dims(r->sys);
  ag_elimination how = ag_system_elimination(r->sys);
  if (r->o->dt <= 0) return r->m.in_place;
  return !r->m.full && how != AG_ELIM_BASIS && how != AG_ELIM_SADDLE && !d->g && !has_guard(r->sys) &&
         !ag_system_watches(r->sys) && (r->m.in_place || !ag_system_units(r->sys, d->z, NULL));
}

/* Conditions that hold throughout this run. */
static bool fits(const run *r) {
  const ag_mover *m = &r->m;
  const ag_run_options *o = r->o;
  bool looks = ag_mover_looks(m);
  if (!restores_alike(r) || m->step || m->base || m->switches || m->pulse || o->kernel || o->every == 0) return false;
  if (has_guard(r->sys) && !o->guard) return false;
  if (ag_balance_measures(r) && !ag_system_role(r->sys, AG_ROLE_POWER)) return false;
  return ag_system_dims(r->sys)->core && (!looks || (m->watch && o->watch->n_instr < LONGEST));
}

static ag_fused *compile(const run *r, bool only_cached) {
  const ag_mover *m = &r->m;
  ag_text reason = {0};
  ag_build_options build = {.lanes = 1, .only_cached = only_cached, .thorough = true};
  int n = m->n_g - m->g_first, *way = ag_heap_alloc(sizeof *way * (size_t)(n + 1));
  bool *cuts = ag_heap_alloc((size_t)n + 1);
  int *unit = ag_heap_alloc(sizeof *unit * (size_t)(2 * m->n_unit + 1)), *size = unit + m->n_unit;
  for (int i = 0; i < n; i++) {
    way[i] = ag_mover_event(m, m->g_first + i)->direction;
    cuts[i] = ag_mover_event(m, m->g_first + i)->cuts;
  }
  for (int i = 0; i < m->n_unit; i++) unit[i] = m->units[i].at, size[i] = m->units[i].n;
  ag_fused_spec spec = {.method = r->o->method, .stretch = true, .way = way, .cuts = cuts};
  spec.watch = ag_mover_looks(m) ? r->o->watch : NULL;
  spec.n_unit = m->n_unit, spec.unit = unit, spec.unit_size = size;
  ag_fused_march_init(&spec, r->sys, r->o, r->o->guard, false);
  ag_fused *fused = ag_fused_create(&spec, &build, &reason);
  ag_fused_spec_done(&spec);
  ag_text_done(&reason);
  free(way);
  free(cuts);
  free(unit);
  return fused;
}

/* Its arrays, one behind the other in one block. */
static void give_room(ag_stretch *s, const run *r) {
  const ag_dims *d = ag_system_dims(r->sys);
  int n = r->m.n, n_carry = r->m.n_carry, n_row = d->fragile * d->xi, n_watch = r->m.n_g - r->m.g_first;
  const struct {
    double **at;
    int n;
  } all[] = {{&s->m.keep, 2 * d->core},
             {&s->m.rows, n_row},
             {&s->m.memory, n_watch},
             {&s->m.hint, n_watch},
             {&s->m.known, n_watch},
             {&s->m.z0, n},
             {&s->a.z, n},
             {&s->m.carry0, n_carry},
             {&s->a.carry, n_carry},
             {&s->m.c0, d->c},
             {&s->a.c, d->c},
             {&s->a.rows, n_row},
             {&s->a.memory, n_watch},
             {&s->m.out, n}};
  size_t size = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) size += ((size_t)all[i].n + 8) / 8 * 8;
  double *at = s->room = ag_heap_aligned(sizeof(double) * size);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) *all[i].at = at, at += (all[i].n + 8) / 8 * 8;
}

/* Events that are recorded and do nothing else. */
static unsigned long long *plain_functions(const run *r) {
  const ag_mover *m = &r->m;
  unsigned long long *plain = ag_heap_alloc(sizeof *plain * (size_t)(m->n_g - m->g_first + 1));
  for (int e = m->g_first; e < ag_model_n_events(ag_system_model(r->sys)) && e < m->n_g; e++)
    if (!ag_mover_event(m, e)->terminal && !ag_mover_event(m, e)->cuts) plain[e - m->g_first] = ~0ULL;
  return plain;
}

static ag_stretch *create(const run *r, ag_fused *fused) {
  const ag_run_options *o = r->o;
  ag_stretch *s = ag_heap_alloc(sizeof *s);
  *s = (ag_stretch){.fused = fused, .here = NAN};
  for (int i = 0; i < AG_FUSED_TAPES; i++) s->prep[i] = ag_mover_prep(fused, (ag_fused_tape)i, r->params);
  s->m = (ag_fused_args){.prep = s->prep[AG_FUSED_RHS],
                         .prep_jacobian = s->prep[AG_FUSED_JACOBIAN],
                         .prep_finish = s->prep[AG_FUSED_FINISH],
                         .prep_watch = s->prep[AG_FUSED_WATCH],
                         .prep_look = s->prep[AG_FUSED_LOOK],
                         .prep_extra = s->prep[AG_FUSED_EXTRA],
                         .prep_guard = s->prep[AG_FUSED_GUARD],
                         .prep_align = s->prep[AG_FUSED_ALIGN],
                         .prep_project = s->prep[AG_FUSED_PROJECT],
                         .prep_onto_rows = s->prep[AG_FUSED_ONTO_ROWS],
                         .prep_turn = s->prep[AG_FUSED_TURN],
                         .prep_renew = s->prep[AG_FUSED_RENEW],
                         .prep_power = s->prep[AG_FUSED_POWER],
                         .rtol = o->dt > 0 ? 0 : o->rtol,
                         .safety = r->control.safety,
                         .shrink = r->control.shrink,
                         .grow = r->control.grow,
                         .h_max = o->h_max,
                         .t0 = o->t0,
                         .dt = o->dt};
  s->m.t = &s->t, s->m.h = &s->h, s->m.t1 = &s->t1, s->m.turn = &s->turn;
  s->m.last_error = &s->last_error, s->m.spare = &s->spare, s->m.h_sub = &s->h_sub, s->m.end_sub = &s->end_sub,
  s->m.from = &s->from, s->m.known_t = &s->known_t;
  s->m.steps = &s->steps, s->m.rejected = &s->rejected, s->m.rejected_last = &s->was, s->m.sub = &s->sub;
  s->m.leave = &s->leave, s->m.seen = &s->seen;
  s->a = (ag_stretch_args){.m = &s->m, .until = &s->until, .reach = &s->reach, .care = &s->care};
  s->a.tries = &s->tries, s->a.taken = &s->taken, s->a.others = &s->others;
  s->a.plain = s->plain = plain_functions(r);
  s->a.found_t = &s->found_t, s->a.found = &s->found, s->a.made = &s->made;
  give_room(s, r);
  return s;
}

void ag_stretch_free(ag_stretch *s) {
  if (!s) return;
  ag_fused_free(s->fused);
  for (int i = 0; i < AG_FUSED_TAPES; i++) free(s->prep[i]);
  free(s->room);
  free(s->plain);
  free(s);
}

static void make(run *r, bool only_cached) {
  ag_fused *fused = fits(r) ? compile(r, only_cached) : NULL;
  if (fused) r->stretch = create(r, fused);
  if (fused && ag_mover_looks(&r->m)) ag_fused_watch(fused, r->m.watcher);
}

void ag_stretch_want(run *r) {
  double spent = (double)r->m.n_rhs * (r->cost + AROUND);
  if (r->stretch || !(spent > r->stretch_ask)) return;
  make(r, false);
  r->stretch_ask = INFINITY;
}

bool ag_stretch_begin(run *r) {
  r->stretch_ask = r->o->eager ? 0 : r->o->engine == AG_ENGINE_COMPILED ? WORTH_IF_ASKED : WORTH_COMPILING;
  if (!r->o->eager) make(r, true);
  return r->stretch != NULL;
}

/* ---- running one ---- */

/* The current state of the run. Quantities derived from it are known where the last stretch has ended. */
static void enter(ag_stretch *s, run *r, long steps) {
  ag_mover *m = &r->m;
  const ag_run_options *o = r->o;
  double grid = ag_trajectory_grid(r);
  s->m.z = m->z, s->m.z1 = m->z1, s->m.c = m->c, s->m.work = m->space, s->m.unit = m->unit_length;
  memcpy(m->space, m->dz, sizeof(double) * (size_t)m->n_carry);
  if (s->here != r->t) {
    s->known_t = NAN;
    double limit = ag_trajectory_turn_limit(r);
    if (fabs(r->h) > limit) r->h = copysign(limit, r->h);
    if (ag_system_role(r->sys, AG_ROLE_FRAGILE)) ag_guard_rows(m, r->t, s->m.rows);
  }
  for (int e = m->g_first; e < m->n_g; e++) s->m.memory[e - m->g_first] = m->sign[e];
  s->t = r->t, s->h = r->h, s->t1 = s->until = o->t1;
  if (o->every > 0 && !o->section) s->until = grid - copysign(2e-12 * fmax(o->every, fabs(grid) * 1e-3), r->h);
  s->m.atol = m->tolerance;
  s->last_error = r->control.last_error, s->spare = r->control.spare, s->was = r->control.rejected ? ~0ULL : 0;
  s->reach = r->reach;
  s->steps = (unsigned long long)r->res->steps, s->rejected = (unsigned long long)r->res->rejected;
  s->m.max_steps = r->res->steps + steps;
  s->sub = s->seen = s->leave = s->care = 0;
  s->tries = s->taken = s->others = s->found = s->made = 0;
  s->m.done = ag_balance_measures(r) ? &r->res->work : NULL;
}

/* Copies the result back. */
static void leave(const ag_stretch *s, run *r) {
  ag_mover *m = &r->m;
  memcpy(m->dz, m->space, sizeof(double) * (size_t)m->n_carry);
  bool dense = s->m.done && !m->method->integral; /* of every step */
  int in_step = (ag_mover_looks(m) && !m->method->quarter ? 1 : 0) + (dense ? m->method->n_dense : 0);
  long n_rhs = (long)((s->tries + s->made) * m->method->n_stage + s->taken * in_step + s->others);
  if (s->found && !dense) n_rhs += m->method->n_dense;
  m->n_rhs += n_rhs, r->n_many += n_rhs;
  for (int e = m->g_first; e < m->n_g; e++) {
    double memory = s->m.memory[e - m->g_first];
    m->sign[e] = (memory > 0) - (memory < 0);
    if (!m->proved[e - m->g_first] && (long)s->steps > r->res->steps) m->fitted[e] = true;
  }
  r->t = s->t, r->h = s->h;
  r->control.last_error = s->last_error, r->control.spare = s->spare, r->control.rejected = s->was != 0;
  r->reach = s->reach;
  r->res->stretched += (long)s->steps - r->res->steps;
  r->res->steps = (long)s->steps, r->res->rejected = (long)s->rejected;
  ag_guard_forget(r->guard);
}

static void record(run *r, int e, double t) {
  ag_trajectory_event(r, e, t);
  if (r->o->event) r->o->event(r->o->save_self, e, t);
}

/* Number of tries after which a run checks its progress (advance.c). */
static long tries_left(const run *r) { return TRIES - (r->res->steps + r->res->rejected) % TRIES; }

bool ag_stretch_steps(run *r, long steps) {
  ag_stretch *s = r->stretch;
  const ag_mover *m = &r->m;
  if (!s || steps <= 0) return false;
  if (s->wait > 0) {
    s->wait--;
    return false;
  }
  long before = r->res->steps;
  s->a.max_tries = tries_left(r);
  if (m->full || r->smooth != 0 || s->a.max_tries == TRIES) return false;
  if (ag_mover_looks(m) && m->fresh) return false;
  if (ag_balance_measures(r)) {
    long left = ag_balance_left(r) - 1; /* the last one is marked */
    if (left <= 0 || !ag_fused_has(s->fused, AG_FUSED_POWER)) return false;
    if (steps > left) steps = left;
  }
  enter(s, r, steps);
  ag_fused_stretch(s->fused, &s->a);
  leave(s, r);
  if (s->found) record(r, m->g_first + (int)s->found - 1, s->found_t);
  bool made = r->res->steps > before;
  s->here = r->t;
  if (made) s->pause = 0;
  if (!s->care) return made;
  s->here = NAN; /* the code of a single run makes the next step */
  if (!made) s->pause = 2 * s->pause + 1 < MOST_PAUSE ? 2 * s->pause + 1 : MOST_PAUSE;
  s->wait = made ? 1 : s->pause;
  return made;
}
