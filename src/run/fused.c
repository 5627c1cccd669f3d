/* SPDX-License-Identifier: MIT
 * What a fused unit is made of: the tapes, the stepper's texts, those of run/, and between them the sizes and tables
 * that depend on the model, as constants. The right-hand side is inlined into every stage. */
#include "run/fused.h"

#include <stdlib.h>

#include "base/arena.h"
#include "run/run_internal.h"
#include "run/watcher.h"

enum { ENTRY_STEP, ENTRY_DENSE, ENTRY_INTERPOLATE, ENTRY_POWER, ENTRY_MARCH = 0, ENTRY_LOCATE };
enum { MAX_TEXT = 24 };

struct ag_fused {
  ag_unit *unit;
  int tape[AG_FUSED_TAPES]; /* which tape of the unit it is, -1: none */
};

static const char args_text[] =
#include "fused_args_text.inc"
    ;
static const char flow_text[] =
#include "flow_core_text.inc"
    ;
static const char step_text[] =
#include "step_core_text.inc"
    ;
static const char unit_text[] =
#include "unit_core_text.inc"
    ;
static const char project_text[] =
#include "project_core_text.inc"
    ;
static const char turn_text[] =
#include "turn_core_text.inc"
    ;
static const char guard_text[] =
#include "guard_core_text.inc"
    ;
static const char march_text[] =
#include "march_core_text.inc"
    ;
static const char stretch_args_text[] =
#include "stretch_args_text.inc"
    ;
static const char stretch_locate_text[] =
#include "stretch_locate_core_text.inc"
    ;
static const char stretch_text[] =
#include "stretch_core_text.inc"
    ;
static const char look_text[] =
#include "look_core_text.inc"
    ;
static const char watch_text[] =
#include "watch_core_text.inc"
    ;
static const char locate_text[] =
#include "locate_core_text.inc"
    ;
static const char root_text[] =
#include "root_core_text.inc"
    ;
static const char power_flow_text[] =
#include "power_flow_core_text.inc"
    ;
static const char power_text[] =
#include "power_core_text.inc"
    ;
static const char power_entry_text[] =
#include "power_entry_core_text.inc"
    ;
static const char locate_entry_text[] =
#include "locate_entry_core_text.inc"
    ;

/* Which components the right-hand side and the power at stages read, as ranges. Single steps are what a run waits for
 * first: clang unrolls the loop over up to 11 components, a longer one is compiled faster as a whole than in ranges
 * that are unrolled. */
static void put_reads(const ag_fused_spec *s, ag_text *out) {
  enum { MOST = 64, MOST_OF_STEP = 11 };
  unsigned long long reads = 0, all = ~0ULL >> (MOST - (s->n < MOST ? s->n : MOST));
  const ag_tape *tapes[] = {s->tape, s->power && s->method->integral ? s->power : NULL};
  if (s->n > (s->march ? MOST : MOST_OF_STEP) || s->n == 0) return;
  for (int i = 0; i < 2 && tapes[i]; i++)
    for (int k = 0; k < tapes[i]->n_instr; k++) {
      const ag_instr *in = &tapes[i]->instr[k];
      if (in->op == AG_OP_LOAD && in->a == AG_SEG_Z && in->b < (unsigned)s->n) reads |= 1ULL << in->b;
    }
  if (reads == all) return;
  ag_text_str(out, "#define AG_STEP_READ(X, ...)");
  for (int i = 0, from = 0; i < s->n; i++) {
    bool here = reads >> i & 1, next = i + 1 < s->n && (reads >> (i + 1) & 1);
    if (here && !next) ag_text_printf(out, " X(%d, %d, __VA_ARGS__)", from, i + 1);
    if (!here) from = i + 1;
  }
  ag_text_str(out, "\n");
}

void ag_fused_put_basis(const ag_tape *renew, double least, double most, ag_text *out) {
  ag_text_printf(out, "#define AG_BASIS %d\n", renew ? renew->n_out : 0);
  ag_text_printf(out,
                 "#define AG_TURN_RENEW %.17g\n#define AG_TURN_LOST %.17g\n#define AG_TURN_STEP %.17g\n"
                 "#define AG_TURN_MOST %.17g\n",
                 least, AG_TURN_LOST, AG_TURN_STEP, most);
}

/* Of an equation of second order: the components that are the rates of others. */
static void put_rates(const ag_fused_spec *s, ag_text *out) {
  if (!(s->method->needs & AG_NEEDS_SECOND)) return;
  int *rate = ag_heap_alloc(sizeof *rate * (size_t)(s->n + 1));
  (void)ag_tape_second_order(s->tape, s->n, rate);
  ag_text_str(out, "#define AG_STEP_RATE(i) step_rate[i]\nstatic const int step_rate[] = {");
  for (int i = 0; i < s->n; i++) ag_text_printf(out, "%d, ", rate[i]);
  ag_text_str(out, "};\n");
  free(rate);
}

/* Sizes, and how the texts call the tapes. */
static void put_sizes(const ag_fused_spec *s, ag_text *out) {
  ag_step_room room = ag_stepper_room(s->method, s->n, s->m, ag_flow_square(s->table, s->m));
  ag_control control;
  ag_control_init(&control, s->method, 0, 0);
  ag_text_printf(out, "\n#define AG_STEP_N %d\n#define AG_STEP_END %zu\n#define AG_STEP_CARRY %d\n#define AG_CORE %d\n",
                 s->n, room.end, s->n + room.own, s->n_norm);
  ag_text_printf(out,
                 "#define AG_STEP_IN_NORM(i) ((i) < AG_CORE)\n#define AG_STEP_N_NORM %d.0\n"
                 "#define AG_STEP_IN_REST(i) ((i) >= AG_CORE)\n#define AG_STEP_N_REST %d.0\n",
                 s->n_norm, s->n - s->n_norm);
  ag_text_printf(out, "#define AG_CONTROL_Q %d.0\n#define AG_CONTROL_BETA %.17g\n", s->method->error_order + 1,
                 control.beta);
  ag_text_printf(out, "#define AG_MARCH_FIXED %d\n#define AG_STEP_CHANNELS %d\n", s->fixed, s->channels);
  ag_text_printf(out, "#define AG_WATCH %d\n#define AG_STEP_QUARTER %d\n", s->watch ? s->watch->n_out : 0,
                 s->method->quarter * s->n);
  ag_text_printf(out, "#define AG_ALIGNS %d\n#define AG_POSITIONS %d\n", s->align != NULL, s->project ? s->n_g : 0);
  ag_text_printf(out, "#define AG_ONTO_ROWS %d\n", s->onto_rows != NULL);
  ag_text_printf(out, "#define AG_TURNS %d\n#define AG_SWITCHES %d\n#define AG_LOOK_C %d\n", s->turn != NULL,
                 s->switches, s->n_c);
  ag_fused_put_basis(s->renew, AG_TURN_RENEW, AG_TURN_MOST, out);
  ag_text_str(out, s->jacobian ? "#define AG_JACOBIAN_OF(a, b) a, b\n" : "#define AG_JACOBIAN_OF(a, b) a\n");
  bool noise = s->tape->n_need[AG_SEG_W] > 0, jacobian = s->jacobian && s->jacobian->n_need[AG_SEG_W] > 0;
  ag_text_printf(out, "#define AG_RHS_STEP(w) %s\n#define AG_JACOBIAN_STEP(w) %s\n", noise ? "w," : "",
                 jacobian ? "w," : "");
  ag_text_str(out, s->finish ? "#define AG_FINISH_OF(a) a,\n" : "#define AG_FINISH_OF(a)\n");
  ag_text_printf(out, "#define AG_FINISH_STEP(w) %s\n", s->finish && s->finish->n_need[AG_SEG_W] > 0 ? "w," : "");
  ag_text_printf(out, "#define AG_CANONICAL_OF(...)%s\n", s->canonical ? " __VA_ARGS__" : "");
  bool rates = s->power && s->power->n_need[AG_SEG_W] > 0;
  ag_text_printf(out, "#define AG_POWER_RATES %d\n", rates);
  ag_text_printf(out, "#define AG_POWER_BY_STAGES %d\n#define AG_POWER_STEP(w) %s\n", s->power && s->method->integral,
                 rates ? "w," : "");
  put_reads(s, out);
  put_rates(s, out);
  ag_text_str(out, flow_text);
}

void ag_fused_put_spins(bool turns, int n, const int *spin, ag_text *out) {
  ag_text_str(out, turns ? "#define AG_STEP_INERTIA AG_STEP_FINISH\n" : "#define AG_STEP_INERTIA(t, z, out)\n");
  ag_text_str(out, "#define AG_STEP_SPIN(i) step_spin[i]\nstatic const int step_spin[] __attribute__((unused)) = {");
  for (int i = 0; i < n; i++) ag_text_printf(out, "%d, ", turns ? spin[i] : -1);
  ag_text_str(out, "};\n");
}

void ag_fused_put_table(const int *table, int m, ag_text *out) {
  ag_text_printf(out, "#define AG_STEP_SQUARE %ld\n", ag_flow_square(table, m));
  if (!table) {
    ag_text_str(out, "#define AG_STEP_TABLE ((const int *)0)\n");
    return;
  }
  ag_text_str(out, "#define AG_STEP_TABLE step_table\nstatic const int step_table[] = {");
  for (int i = 0, n = ag_lu_size(table); i < n; i++) ag_text_printf(out, i % 24 ? "%d," : "\n%d,", table[i]);
  ag_text_str(out, "};\n");
}

/* The state space, for methods that move on it. */
static void put_factors(const ag_fused_spec *s, ag_text *out) {
  ag_text_printf(out, "#define AG_STEP_M %d\n#define AG_STEP_N_FACTOR %d\n", s->m, s->n_factor);
  ag_text_printf(out, "#define AG_STEP_U_AT %d\n#define AG_STEP_N_U %d\n#define AG_STEP_N_LAMBDA %d\n", s->u_at, s->n_u,
                 s->n_lambda);
  ag_fused_put_table(s->table, s->m, out);
  ag_text_str(out, "static const ag_factor step_factors[] = {");
  for (int i = 0; i < s->n_factor; i++) {
    const ag_factor *p = &s->factors[i];
    ag_text_printf(out, "{%d, %d, %d, %d}, ", (int)p->kind, p->z, p->n, p->d);
  }
  ag_text_str(out, "};\n");
  ag_fused_put_spins(s->finish && s->method->needs & AG_NEEDS_SPLIT, s->n_factor, s->spin, out);
}

static bool counts(const ag_fused_spec *s, int function) { return !s->counts || s->counts[function]; }

/* Which components the functions to watch that are enclosed read, their directions, which of them cannot be enclosed,
 * and which have a corner at zero. */
static void put_watch(const ag_fused_spec *s, ag_text *out) {
  int n = 0;
  const ag_tape *look = s->watch->look ? s->watch->look : s->watch;
  int n_extra = s->watch->extra ? s->watch->extra->n_out / 2 : 0, n_all = s->n + n_extra;
  bool *reads = ag_heap_alloc((size_t)n_all + 1);
  const ag_instr *in = look->enclosed ? look->enclosed : look->instr;
  for (const ag_instr *end = in + (look->enclosed ? look->n_enclosed : look->n_instr); in < end; in++)
    if (in->op == AG_OP_LOAD && in->a == AG_SEG_Z) reads[in->b] = true;
  ag_text_printf(out, "#define AG_WATCH_EXTRA %d\n", n_extra);
  ag_text_printf(out, "#define AG_WATCH_BOUNDS(a, t, z, c, out) %s_bounds((t), (z), (c), (a)->prep_%s, (out))\n",
                 n_extra ? "of_look" : "g", n_extra ? "look" : "watch");
  ag_text_printf(
      out,
      "#define AG_WATCH_QUICK %d\n#define AG_WATCH_AROUND(a, t, z, out) %s_around((t), (z), (a)->c, (a)->prep_%s, "
      "(out))\n",
      ag_cgen_around(look), n_extra ? "of_look" : "g", n_extra ? "look" : "watch");
  ag_text_str(out, "static const int watch_reads[] = {");
  int curves = s->n_norm;
  for (int i = 0; i < n_all; i++) {
    if (!reads[i]) continue;
    ag_text_printf(out, "%d, ", i), n++;
    if (i < s->n && i >= curves) curves = i + 1;
  }
  ag_text_printf(out, "0};\n#define AG_WATCH_READS %d\nstatic const int watch_way[] = {", n);
  for (int i = 0; i < s->watch->n_out; i++) ag_text_printf(out, "%d, ", s->way[i]);
  ag_text_str(out, "0};\nstatic const int watch_fitted[] = {");
  bool *bounded = ag_heap_alloc((size_t)s->watch->n_out + 1);
  ag_enclose_bounded(look, bounded);
  n = 0;
  for (int i = 0; i < s->watch->n_out; i++) {
    bool fitted = !bounded[i] && counts(s, i);
    ag_text_printf(out, "%d, ", fitted), n += fitted;
  }
  ag_text_printf(out, "0};\n#define AG_WATCH_FITTED %d\n#define AG_WATCH_CURVES %d\n", n, n ? s->n : curves);
  ag_text_str(out, "#define AG_WATCH_ENCLOSED(X)");
  for (int i = 0; i < s->watch->n_out; i++)
    if (bounded[i]) ag_text_printf(out, " X(%d)", i);
  ag_text_str(out, "\n");
  free(bounded);
  free(reads);
  n = 0;
  ag_text_str(out, "static const int watch_cuts[] __attribute__((unused)) = {");
  for (int i = 0; i < s->watch->n_out; i++) ag_text_printf(out, "%d, ", s->cuts[i]), n += s->cuts[i];
  ag_text_printf(out, "0};\n#define AG_WATCH_CUTS %d\nstatic const int watch_counts[] = {", n);
  for (int i = 0; i < s->watch->n_out; i++) ag_text_printf(out, "%d, ", counts(s, i));
  ag_text_str(out, "0};\n");
}

/* Groups of components kept at their length. Many of one size at equal distances are one run. */
static void put_units(const ag_fused_spec *s, ag_text *out) {
  ag_text_str(out, "#define AG_UNITS(X)");
  for (int i = 0, n; i < s->n_unit; i += n) {
    int size = s->unit_size[i], step = i + 1 < s->n_unit ? s->unit[i + 1] - s->unit[i] : 0;
    for (n = 1; i + n < s->n_unit && s->unit_size[i + n] == size && s->unit[i + n] - s->unit[i + n - 1] == step;) n++;
    if (n < 8) n = 1, step = 0;
    ag_text_printf(out, " \\\n  X(%d, %d, %d, %d, %d)", i, n, s->unit[i], step, size);
  }
  ag_text_str(out, "\n");
}

/* Checks made in every step besides the functions. */
static void put_guard(const ag_fused_spec *s, ag_text *out) {
  ag_text_printf(out, "#define AG_MINORS %d\n#define AG_FRAGILE %d\n#define AG_XI %d\n", s->guard ? s->n_minor : 0,
                 s->guard ? s->n_fragile : 0, s->n_xi);
  ag_text_str(out, "static const double guard_bound[] __attribute__((unused)) = {");
  for (int i = 0; s->guard && i < s->n_minor; i++) ag_text_printf(out, "%.17g, ", s->minor_bound[i]);
  ag_text_str(out, "0};\n");
}

/* The unit; its texts that depend on the model go to `defines`. */
typedef struct parts {
  ag_unit_spec unit;
  ag_unit_tape tapes[AG_FUSED_TAPES];
  const char *texts[MAX_TEXT];
  ag_text comment, defines, bounds;
} parts;

static void add_text(parts *p, const char *text) { p->texts[p->unit.n_text++] = text; }

/* The tapes of the unit, and their indices in it. */
static void add_tapes(parts *p, const ag_fused_spec *s, int *where) {
  const ag_tape *look = s->watch ? s->watch->look : NULL, *extra = s->watch ? s->watch->extra : NULL;
  const ag_unit_tape all[AG_FUSED_TAPES] = {[AG_FUSED_RHS] = {"f", s->tape, s->method->n_stage + 2, true, false},
                                            [AG_FUSED_JACOBIAN] = {"jacobian", s->jacobian, 1, false, false},
                                            [AG_FUSED_FINISH] = {"finish", s->finish, 1, false, false},
                                            [AG_FUSED_CANONICAL] = {"canonical", s->canonical, 2, false, false},
                                            [AG_FUSED_WATCH] = {"g", s->watch, 4, s->stretch, s->march && !look},
                                            [AG_FUSED_LOOK] = {"of_look", look, 1, false, s->march},
                                            [AG_FUSED_EXTRA] = {"of_extra", extra, 3, s->stretch, false},
                                            [AG_FUSED_POWER] = {"power", s->power, 1, false, false},
                                            [AG_FUSED_GUARD] = {"guard", s->guard, 2, false, false},
                                            [AG_FUSED_ALIGN] = {"align", s->align, 1, false, false},
                                            [AG_FUSED_PROJECT] = {"onto_g", s->project, 2, false, false},
                                            [AG_FUSED_ONTO_ROWS] = {"onto_rows", s->onto_rows, 1, false, false},
                                            [AG_FUSED_TURN] = {"turning", s->turn, 3, false, false},
                                            [AG_FUSED_RENEW] = {"renew", s->renew, 1, false, false}};
  for (int i = 0; i < AG_FUSED_TAPES; i++) {
    where[i] = all[i].tape ? p->unit.n_tape : -1;
    if (all[i].tape) p->tapes[p->unit.n_tape++] = all[i];
  }
  p->unit.tapes = p->tapes;
}

/* Does a stretch locate crossings itself? Explicit steps leave the dense output alone, which others may not. */
static bool locates(const ag_fused_spec *s) {
  return s->stretch && s->watch && !s->fixed && !s->method->needs && !ag_stepper_solves(s->method);
}

static void add_texts(parts *p, const ag_fused_spec *s) {
  put_sizes(s, &p->defines);
  if (s->method->needs & AG_NEEDS_FACTORS) put_factors(s, &p->defines);
  if (s->march) put_units(s, &p->defines), put_guard(s, &p->defines);
  if (s->stretch) ag_text_printf(&p->defines, "#define AG_STRETCH\n#define AG_STRETCH_LOCATE %d\n", locates(s));
  if (s->stretch && s->power) ag_text_str(&p->defines, "#define AG_STRETCH_POWER\n");
  if (s->watch) put_watch(s, &p->defines);
  else ag_text_str(&p->defines, "#define AG_WATCH_CUTS 0\n");
  add_text(p, ag_factor_text);
  add_text(p, ag_text_cstr(&p->defines));
  for (int i = 0; i < AG_STEPPER_TEXTS && s->method->texts[i]; i++) add_text(p, s->method->texts[i]);
  add_text(p, args_text);
  if (s->march) {
    add_text(p, ag_control_text);
    add_text(p, unit_text);
    if (s->watch) add_text(p, look_text), add_text(p, watch_text);
    if (s->guard) add_text(p, guard_text);
    if (s->project) add_text(p, project_text);
    if (s->turn) add_text(p, turn_text);
    if (s->power && !s->method->integral) add_text(p, power_flow_text), add_text(p, power_text);
    add_text(p, march_text);
    if (s->stretch) add_text(p, stretch_args_text);
    if (locates(s)) add_text(p, stretch_locate_text), add_text(p, root_text);
    if (s->stretch) add_text(p, stretch_text);
    if (s->stretch && s->watch) add_text(p, ag_text_cstr(&p->bounds));
    if (s->locate) add_text(p, locate_text), add_text(p, root_text), add_text(p, locate_entry_text);
  } else {
    add_text(p, step_text);
    if (s->power && !s->method->integral) add_text(p, power_flow_text), add_text(p, power_text);
    if (s->power) add_text(p, power_entry_text);
  }
  p->unit.texts = p->texts;
}

static void parts_init(parts *p, const ag_fused_spec *s, int *where) {
  static const char *const of_step[] = {"ag_step", "ag_dense", "ag_interpolate", "ag_power"};
  static const char *const of_march[] = {"ag_march", "ag_locate"}, *const of_stretch[] = {"ag_stretch", "ag_bounds"};
  *p = (parts){0};
  ag_text_printf(&p->comment, "%s: %s fused with the right-hand side (%d components)", s->name, s->method->name, s->n);
  add_tapes(p, s, where);
  if (s->stretch && s->watch) ag_watcher_text(s->watch->look ? "of_look" : "g", &p->bounds);
  add_texts(p, s);
  p->unit.comment = ag_text_cstr(&p->comment);
  p->unit.n_entry = !s->march ? 3 + (s->power != NULL) : s->locate ? 2 : 1;
  p->unit.entries = s->march ? of_march : of_step;
  p->unit.args = (ag_abi){"AG_FUSED_ABI", "ag_fused_args", AG_FUSED_ABI, sizeof(ag_fused_args)};
  p->unit.inlined = s->march ? AG_INLINE_MARCH : AG_INLINE_BRIEF;
  if (!s->stretch) return;
  p->unit.entries = of_stretch, p->unit.n_entry = s->watch ? 2 : 1;
  p->unit.args = (ag_abi){"AG_STRETCH_ABI", "ag_stretch_args", AG_STRETCH_ABI, sizeof(ag_stretch_args)};
}

static void parts_done(parts *p) {
  ag_text_done(&p->comment);
  ag_text_done(&p->defines);
  ag_text_done(&p->bounds);
}

void ag_fused_text(const ag_fused_spec *spec, ag_text *out) {
  parts p;
  int where[AG_FUSED_TAPES];
  parts_init(&p, spec, where);
  ag_unit_text(&p.unit, out);
  parts_done(&p);
}

ag_fused *ag_fused_create(const ag_fused_spec *spec, const ag_build_options *options, ag_text *reason) {
  parts p;
  ag_fused f;
  parts_init(&p, spec, f.tape);
  f.unit = ag_unit_create(&p.unit, options, reason);
  parts_done(&p);
  if (!f.unit) return NULL;
  ag_fused *made = ag_heap_alloc(sizeof *made);
  *made = f;
  return made;
}

void ag_fused_free(ag_fused *f) {
  if (!f) return;
  ag_unit_free(f->unit);
  free(f);
}

int ag_fused_lanes(const ag_fused *f) { return ag_unit_lanes(f->unit); }

bool ag_fused_has(const ag_fused *f, ag_fused_tape tape) { return f->tape[tape] >= 0; }

int ag_fused_n_prep(const ag_fused *f, ag_fused_tape tape) {
  return f->tape[tape] < 0 ? 0 : ag_unit_n_prep(f->unit, f->tape[tape]);
}

void ag_fused_prep(const ag_fused *f, ag_fused_tape tape, const double *p, double *prep, unsigned long long *fail) {
  if (f->tape[tape] >= 0) ag_unit_prep(f->unit, f->tape[tape], p, prep, fail);
}

void ag_fused_rhs(const ag_fused *f, const double *t, const double *z, const double *c, const double *step,
                  const double *prep, double *dz, unsigned long long *fail) {
  const double *const seg[AG_SEG_COUNT] = {[AG_SEG_T] = t, [AG_SEG_Z] = z, [AG_SEG_C] = c, [AG_SEG_W] = step};
  ag_unit_eval(f->unit, f->tape[AG_FUSED_RHS], seg, prep, dz, fail);
}

static void call(const ag_fused *f, int entry, ag_fused_args *a) {
  a->abi = AG_FUSED_ABI;
  ag_unit_call(f->unit, entry, a);
}
void ag_fused_step(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_STEP, a); }
void ag_fused_dense(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_DENSE, a); }
void ag_fused_interpolate(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_INTERPOLATE, a); }
void ag_fused_power(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_POWER, a); }
void ag_fused_march(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_MARCH, a); }
void ag_fused_locate(const ag_fused *f, ag_fused_args *a) { call(f, ENTRY_LOCATE, a); }
void ag_fused_watch(const ag_fused *f, ag_watcher *w) {
  const int tapes[] = {f->tape[AG_FUSED_WATCH], f->tape[AG_FUSED_LOOK], f->tape[AG_FUSED_EXTRA]};
  ag_watcher_take(w, f->unit, tapes, 1);
}
void ag_fused_stretch(const ag_fused *f, ag_stretch_args *a) {
  a->abi = AG_STRETCH_ABI;
  ag_unit_call(f->unit, 0, a);
}
