/* SPDX-License-Identifier: MIT
 * The motion over a step as a curve, for isolating crossings: first the cheap one, which decides about most steps, then
 * the dense output of the method (docs/design/0013). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "expr/vmath.h"
#include "run/run_internal.h"

#include "expr/enclose.h"

enum { CHEAP_WORK = 32, WORK = 20000, FOR_CROSSING = 64 };

/* Operations that one check of a step may take for each function. A function too long for that is sampled.
 */
static const double OPERATIONS = 4e5;

static const double ROUNDING = 1e-13; /* of a known curve */

/* Functions that ag_run_watch could not provide are NaN. */
static void find_absent(const ag_tape *watch, bool *absent) {
  bool *nan = ag_heap_alloc((size_t)watch->n_slot + 1);
  for (int i = 0; i < watch->n_instr; i++) {
    const ag_instr *x = &watch->instr[i];
    nan[x->dst] = x->op == AG_OP_CONST && isnan(watch->constants[x->a]);
  }
  for (int i = 0; i < watch->n_out; i++) absent[i] = nan[watch->out[i]];
  free(nan);
}

/* ---- the first check ---- */

typedef struct ag_first first_look;

#define AG_LOOK_OF const first_look *a
#define AG_LOOK_FN V_IN
#define AG_LOOK_READS(a) (a)->n_read
#define AG_LOOK_READ(a, i) (a)->read[i]
#define AG_LOOK_FUNCTIONS(a) (a)->n_function
#define AG_LOOK_ASKED(a, e) (a)->proved[e]
#define AG_LOOK_BOUNDS(a, t, z, out) enclose(a, t, z, out);
struct ag_first {
  ag_watcher *f;
  E *c;
  int n_function, n_c, n_read, *read;
  double *quarter, *at, *last; /* rates and state at a quarter of the step; last coefficients */
  int n_extra;                 /* numbers that are followed besides z (tape.h), their indices behind those of z; */
  double *e0, *e1, *e4;        /* [e | e'] at both ends and at a quarter */
  double *f0, *f1;             /* values at both ends */
  double *nodes, node;         /* values of functions at the nodes of the curve; where it is evaluated */
  bool known;                  /* is there a curve? */
  const bool *proved;          /* per function: can it be enclosed? */
  bool any;                    /* can any? */
  struct look_room *room;
};

static void enclose(const first_look *a, const E *t, const E *z, E *out) {
  const ag_enclosure *seg[AG_SEG_COUNT] = {
      [AG_SEG_T] = (const ag_enclosure *)t, [AG_SEG_Z] = (const ag_enclosure *)z, [AG_SEG_C] = (ag_enclosure *)a->c};
  ag_watcher_bounds(a->f, seg, (ag_enclosure *)out);
}

#include "run/look_core.h"

static first_look *first_create(const ag_mover *m, const ag_tape *tape) {
  first_look *a = ag_heap_alloc(sizeof *a);
  int n_extra = ag_watcher_n_extra(m->watcher), n_all = m->n + n_extra;
  size_t n = (size_t)n_all + 1, n_out = (size_t)tape->n_out + 1;
  const bool *reads = ag_isolate_reads(m->isolate);
  *a = (first_look){.f = m->watcher, .n_function = tape->n_out, .proved = m->proved, .n_c = ag_system_dims(m->sys)->c};
  a->c = ag_heap_alloc(sizeof *a->c * (size_t)(a->n_c + 1));
  a->read = ag_heap_alloc(sizeof *a->read * n);
  for (int i = 0; i < n_all; i++)
    if (reads[i]) a->read[a->n_read++] = i;
  double **numbers[] = {&a->quarter, &a->at, &a->last};
  for (int i = 0; i < 3; i++) *numbers[i] = ag_heap_alloc(sizeof(double) * n);
  a->n_extra = n_extra;
  double **extra[] = {&a->e0, &a->e1, &a->e4};
  for (int i = 0; i < 3; i++) *extra[i] = ag_heap_alloc(sizeof(double) * (size_t)(2 * n_extra + 1));
  a->f0 = ag_heap_alloc(sizeof(double) * ((size_t)m->n_g + 1));
  a->f1 = ag_heap_alloc(sizeof(double) * ((size_t)m->n_g + 1));
  a->nodes = ag_heap_alloc(sizeof(double) * n_out * LOOK_NODES);
  a->room = ag_heap_alloc(sizeof *a->room);
  *a->room = (look_room){.curve = ag_heap_alloc(sizeof(look_curve) * n),
                         .part = ag_heap_alloc(sizeof(look_curve) * n * LOOK_PARTS),
                         .range = ag_heap_alloc(sizeof(E) * n),
                         .out = ag_heap_alloc(sizeof(E) * n_out),
                         .middle = ag_heap_alloc(sizeof(E) * n_out),
                         .seen = ag_heap_alloc(sizeof(look_seen) * n_out),
                         .parts = ag_heap_alloc(sizeof(look_seen) * n_out)};
  return a;
}

static void first_free(first_look *a) {
  if (!a) return;
  void *all[] = {a->c, a->read, a->quarter, a->at, a->last, a->f0, a->f1, a->nodes, a->e0, a->e1, a->e4};
  void *room[] = {a->room->curve,  a->room->part, a->room->range, a->room->out,
                  a->room->middle, a->room->seen, a->room->parts, a->room};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  for (size_t i = 0; i < sizeof room / sizeof *room; i++) free(room[i]);
  free(a);
}

#define TOLERANCE(k) (m->atol > 0 ? m->tolerance[k] : 0) /* fixed steps have none */

/* The motion over the step as a curve, in the components that are read; rates at both ends times h are r and r1. */
V_IN void find_curves(const ag_mover *m, double h) {
  const first_look *a = m->first;
  const int n = m->n, n_extra = a->n_extra;
  double decay = 0;
#define ENDS(k) m->z[k], m->z1[k], h * m->dz[k], h * m->dz1[k]
#define EXTRA_ENDS(j) a->e0[j], a->e1[j], h * a->e0[n_extra + (j)], h * a->e1[n_extra + (j)]
  for (int k = 0; k < n; k++) {
    a->last[k] = look_last(ENDS(k), h * a->quarter[k]);
    if (m->in_norm[k] == 1) decay = v_max(decay, look_decay(ENDS(k), a->last[k]));
  }
  for (int j = 0; j < n_extra; j++) {
    a->last[n + j] = look_last(EXTRA_ENDS(j), h * a->e4[n_extra + j]);
    decay = v_max(decay, look_decay(EXTRA_ENDS(j), a->last[n + j]));
  }
  for (int i = 0; i < a->n_read; i++) {
    const int k = a->read[i], j = k - n;
    if (j < 0) {
      double width = look_width(ENDS(k), a->last[k], decay) + look_tolerance(m->z[k], m->z1[k], m->rtol, TOLERANCE(k));
      a->room->curve[i] = look_component(ENDS(k), a->last[k], width);
    } else {
      double width = look_width(EXTRA_ENDS(j), a->last[k], decay) +
                     look_tolerance(a->e0[j], a->e1[j], m->rtol, m->atol);
      a->room->curve[i] = look_component(EXTRA_ENDS(j), a->last[k], width);
    }
  }
#undef EXTRA_ENDS
}
V_IN void find_quarter(const ag_mover *m, double h) {
  for (int k = 0; k < m->n; k++) m->first->at[k] = look_quarter(ENDS(k));
}
V_IN void find_node(const ag_mover *m, double h) {
  for (int k = 0; k < m->n; k++) m->zt[k] = look_state(ENDS(k), m->first->last[k], m->first->node);
#undef ENDS
}

/* Compiled twice, as the loops of interp.c: the words of V need the fused multiply-add of the machine. */
#if defined __x86_64__ && !defined __FMA__
#define ON_MACHINE(name, ...) \
  __attribute__((target("avx2,fma"))) static void name##_fma(ag_mover *m, double t, double h) { __VA_ARGS__; } \
  static void name##_plain(ag_mover *m, double t, double h) { __VA_ARGS__; } \
  static void name(ag_mover *m, double t, double h) { \
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) name##_fma(m, t, h); \
    else name##_plain(m, t, h); \
  }
#else
#define ON_MACHINE(name, ...) \
  static void name(ag_mover *m, double t, double h) { __VA_ARGS__; }
#endif
ON_MACHINE(state_at_quarter, (void)t, find_quarter(m, h))
ON_MACHINE(state_at_node, (void)t, find_node(m, h))
ON_MACHINE(look_first, find_curves(m, h); if (m->first->any) look_into(m->first, m->first->room, t, h))

/* The behaviour of function e, with its values at both ends in f0 and f1. */
static int hint_of(const ag_mover *m, double h, int e) {
  const first_look *a = m->first;
  int at = m->g_first + e;
  if (!m->proved[e]) return AG_HINT_LOOK;
  return (int)look_hint(&a->room->seen[e], m->sign[at], a->f0[at], a->f1[at], ag_mover_event(m, at)->direction,
                        -(VI)(h < 0));
}

/* The first check of all functions: hints as in the lanes. */
static void find_hints(ag_mover *m, double t, double h) {
  const first_look *a = m->first;
  int n = m->n_g - m->g_first;
  for (int e = 0; e < n; e++) m->hint[e] = AG_HINT_LOOK;
  for (int k = 0; k < m->n + a->n_extra; k++) a->last[k] = NAN;
  m->first->known = false;
  state_at_quarter(m, t, h);
  bool stage = m->method->quarter && !m->base; /* the workspace has them */
  if (stage) memcpy(a->quarter, m->space + m->method->quarter * m->n, sizeof(double) * (size_t)m->n);
  else if (ag_mover_rhs(m, fma(0.25, h, t), a->at, a->quarter)) {
    for (int i = 0; i < a->n_read; i++) a->room->curve[i].width = NAN;
    return;
  }
  for (int i = 0; i < a->n_c; i++) a->c[i] = e_number(m->c[i]);
  ag_watcher_extra(a->f, t, m->z, m->dz, m->c, a->e0);
  ag_watcher_extra(a->f, t + h, m->z1, m->dz1, m->c, a->e1);
  ag_watcher_extra(a->f, fma(0.25, h, t), a->at, a->quarter, m->c, a->e4);
  look_first(m, t, h);
  m->first->known = true;
  if (!a->any) return;
  bool clear = true;
  for (int e = 0; e < n; e++) {
    a->f0[m->g_first + e] = a->f1[m->g_first + e] = NAN;
    m->hint[e] = hint_of(m, h, e);
    clear = clear && (m->hint[e] == AG_HINT_CLEAR || !m->proved[e]);
  }
  if (clear || ag_mover_watch(m, t, m->z, m->c, a->f0) || ag_mover_watch(m, t + h, m->z1, m->c, a->f1)) return;
  for (int e = 0; e < n; e++) m->hint[e] = hint_of(m, h, e);
}

/* ---- preparation ---- */

void ag_look_create(ag_mover *m, const ag_tape *watch, const double *params) {
  int n_out = watch->n_out;
  m->proved = ag_heap_alloc((size_t)n_out + 1);
  m->skip = ag_heap_alloc((size_t)n_out + 1);
  m->absent = ag_heap_alloc((size_t)n_out + 1);
  m->hint = ag_heap_alloc(sizeof *m->hint * ((size_t)n_out + 1));
  find_absent(watch, m->absent);
  m->watcher = ag_watcher_create(watch, params, m->compiles);
  const ag_tape *look = ag_watcher_look(m->watcher);
  int n_all = m->n + ag_watcher_n_extra(m->watcher);
  AG_ASSERT(look == watch || m->n == ag_system_dims(m->sys)->z);
  ag_enclose_bounded(look, m->proved);
  m->isolate = ag_isolate_create(m->watcher, n_all, m->c, ag_system_dims(m->sys)->c);
  m->first = first_create(m, watch);
  for (int e = 0; e < n_out; e++) m->first->any = m->first->any || m->proved[e];
  m->work_limit = (int)fmin(WORK, OPERATIONS * n_out / (look->n_instr + 1));
  m->curve = ag_heap_alloc(sizeof(double) * (size_t)((AG_ISOLATE_DEGREE + 1) * n_all + 1));
  m->width = ag_heap_alloc(sizeof(double) * (size_t)(n_all + 1));
}

void ag_look_prepare(ag_mover *m, const double *params) { ag_watcher_prepare(m->watcher, params); }

void ag_look_free(ag_mover *m) {
  ag_isolate_free(m->isolate);
  ag_watcher_free(m->watcher);
  first_free(m->first);
  void *all[] = {m->proved, m->skip, m->absent, m->hint, m->curve, m->width, m->open};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* Those that the first check has left open, on the same curve in more pieces. */
static void look_again(ag_mover *m, double t, double h) {
  const first_look *a = m->first;
  int n = m->n_g - m->g_first;
  bool any = false;
  for (int e = 0; e < n; e++) {
    m->skip[e] = m->hint[e] != AG_HINT_LOOK || !m->proved[e];
    any = any || !m->skip[e];
  }
  if (!any || m->work_limit < CHEAP_WORK) return;
  for (int i = 0; i < a->n_read; i++) {
    for (int k = 0; k <= LOOK_DEGREE; k++) m->curve[k * (m->n + a->n_extra) + a->read[i]] = a->room->curve[i].b[k];
    m->width[a->read[i]] = a->room->curve[i].width;
    if (!isfinite(a->room->curve[i].width)) return;
  }
  (void)ag_isolate_step(m->isolate, t, h, LOOK_DEGREE, m->curve, m->width, m->skip, CHEAP_WORK, 0);
  for (int e = 0; e < n; e++) {
    int found;
    (void)ag_isolate_found(m->isolate, e, &found);
    if (!m->skip[e] && !found) m->hint[e] = AG_HINT_CLEAR;
  }
}

/* The functions at node j of the cheap curve: at the ends of the step they are those of the motion. */
static void look_at_node(ag_mover *m, double t, double h, int j) {
  const first_look *a = m->first;
  int n = m->n_g - m->g_first;
  const double *z = j == 0 ? m->z1 : j == LOOK_NODES - 1 ? m->z : m->zt;
  m->first->node = look_node(j);
  if (z == m->zt) state_at_node(m, t, h);
  bool there = !ag_mover_watch(m, fma(a->node, h, t), z, m->c, m->g1);
  for (int e = 0; e < n; e++) a->nodes[e * LOOK_NODES + j] = there ? m->g1[m->g_first + e] : NAN;
}

/* Functions that cannot be enclosed: is their own interpolant on the cheap curve far from zero? True: all of them are.
 */
static bool fitted_clear(ag_mover *m, VI (*keeps)(const double *v, double memory)) {
  bool all = true;
  for (int e = 0; e < m->n_g - m->g_first; e++) {
    if (m->proved[e] || m->hint[e] == AG_HINT_CLEAR) continue;
    if (!keeps(m->first->nodes + e * LOOK_NODES, m->sign[m->g_first + e])) all = false;
    else m->hint[e] = AG_HINT_CLEAR, m->fitted[m->g_first + e] = true;
  }
  return all;
}

/* Batches: nothing depends on it, and it would have nodes of its own. */
static bool ignored(const ag_mover *m, int e) { return m->counts && !m->counts[e] && !m->proved[e]; }

static void look_fitted(ag_mover *m, double t, double h) {
  static const int order[LOOK_NODES] = {0, 4, 2, 1, 3};
  bool any = false;
  for (int e = 0; e < m->n_g - m->g_first; e++) any = any || (!m->proved[e] && !ignored(m, e));
  if (!any || !m->first->known) return;
  for (int i = 0; i < 3; i++) look_at_node(m, t, h, order[i]);
  if (fitted_clear(m, look_keeps_some)) return;
  for (int i = 3; i < LOOK_NODES; i++) look_at_node(m, t, h, order[i]);
  (void)fitted_clear(m, look_keeps);
}

bool ag_look_clear(ag_mover *m, double t, double h) {
  if (!m->isolate) return false;
  int n = m->n_g - m->g_first;
  bool clear = true;
  find_hints(m, t, h);
  bool look = m->fresh || m->switches; /* a switch may move the state by rounding between two steps */
  for (int e = 0; e < n; e++)
    if (look || ignored(m, e)) m->hint[e] = ignored(m, e) ? AG_HINT_CLEAR : AG_HINT_LOOK;
  if (look) return false;
  look_again(m, t, h);
  look_fitted(m, t, h);
  for (int e = 0; e < n; e++) clear = clear && m->hint[e] <= AG_HINT_WRONG_WAY;
  for (int e = 0; e < n && clear; e++)
    if (m->hint[e] == AG_HINT_WRONG_WAY) m->sign[m->g_first + e] = -m->sign[m->g_first + e];
  return clear;
}

/* Keeps the pieces in doubt of the last isolation. */
static void keep_doubts(ag_mover *m) {
  m->n_open = 0;
  for (int e = m->g_first; e < m->n_g; e++) {
    int n;
    const ag_bracket *b = ag_isolate_found(m->isolate, e - m->g_first, &n);
    for (int k = 0; k < n; k++) {
      if (!b[k].doubt) continue;
      AG_PUSH(m->open, m->n_open, m->cap_open);
      m->open[m->n_open++] = (ag_open){e, b[k].from, b[k].to};
    }
  }
}

/* The dense output as a curve, with what is followed besides z at its nodes. *off: how far the polynomials through
 * these may be off, ten times the error estimated from the last difference D of e at the nodes (D/400, by the form of
 * the remainder). */
static void find_dense(ag_mover *m, double t, double h, double *off) {
  enum { D = AG_ISOLATE_DEGREE };
  static const int binomial[D + 1] = {1, -7, 21, -35, 35, -21, 7, -1};
  const first_look *a = m->first;
  const int n = m->n, n_all = n + a->n_extra;
  for (int k = 0; k < D; k++) m->method->interpolate(m->method, n, (double)k / D, m->z, m->space, m->curve + k * n_all);
  memcpy(m->curve + D * n_all, m->z1, sizeof(double) * (size_t)n);
  for (int k = 0; k <= D && a->n_extra; k++) {
    double *z = m->curve + k * n_all;
    ag_watcher_extra(a->f, t + (double)k / D * h, z, m->dz, m->c, a->e4); /* only the values count */
    memcpy(z + n, a->e4, sizeof(double) * (size_t)a->n_extra);
  }
  for (int j = 0; j < a->n_extra; j++) {
    double last = 0;
    for (int k = 0; k <= D; k++) last += binomial[k] * m->curve[k * n_all + n + j];
    off[j] = fabs(last) / 40;
  }
  ag_isolate_nodes(n_all, m->curve);
}

/* Twice: with the error of the motion, which leaves the undecided pieces; then on the dense output itself, whose
 * crossings are those that are reported. Fixed steps have no tolerance: the last term of the cheap curve shows how good
 * the dense output can be. */
void ag_look_dense(ag_mover *m, double t, double h) {
  enum { D = AG_ISOLATE_DEGREE };
  const first_look *a = m->first;
  const int n = m->n, n_all = n + a->n_extra;
  bool fixed = !(m->rtol > 0 || m->atol > 0), any = false;
  m->n_open = 0;
  for (int e = 0; e < m->n_g - m->g_first; e++) {
    m->skip[e] = m->hint[e] != AG_HINT_LOOK || !m->proved[e];
    any = any || !m->skip[e];
  }
  if (!any) return;
  double *off = a->e1; /* not used any more */
  find_dense(m, t, h, off);
  const double *first = m->curve, *last = first + D * n_all; /* values at the ends; of z they are known exactly */
#define FIRST(i) (i < n ? m->z[i] : first[i])
#define LAST(i) (i < n ? m->z1[i] : last[i])
  for (int i = 0; i < n_all; i++)
    m->width[i] = look_tolerance(FIRST(i), LAST(i), m->rtol, i < n ? TOLERANCE(i) : m->atol) +
                  (fixed && isfinite(a->last[i]) ? fabs(a->last[i]) / 16 : 0) + (i < n ? 0 : off[i - n]);
  bool sure = ag_isolate_step(m->isolate, t, h, D, m->curve, m->width, m->skip, m->work_limit, FOR_CROSSING);
  keep_doubts(m);
  if (ag_isolate_tired(m->isolate)) m->n_open = 0; /* it is sampled: nothing is proved, nothing in doubt */
  if (sure) return;
  for (int i = 0; i < n_all; i++)
    m->width[i] = ROUNDING * fmax(fabs(FIRST(i)), fabs(LAST(i))) + (i < n ? 0 : off[i - n]);
#undef LAST
#undef FIRST
  (void)ag_isolate_step(m->isolate, t, h, D, m->curve, m->width, m->skip, m->work_limit, FOR_CROSSING);
}
