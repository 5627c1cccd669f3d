/* SPDX-License-Identifier: MIT
 * Emitted code: plain C99 with <math.h>, no vectors, no Anagyre. The tapes are printed by kern/ over V = double; the
 * words they use are defined at the head of the file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "kern/kern.h"
#include "run/run.h"

static const char main_text[] =
#include "emit_main_text.inc"
    ;

typedef struct emitter {
  ag_system *sys;
  ag_text *out;
  const char *name; /* the model's name as a C identifier */
  char upper[64], lower[64];
  ag_arena *arena;
} emitter;

static void identifier(emitter *e) {
  size_t n = strlen(ag_model_name(ag_system_model(e->sys)));
  if (n > 60) n = 60;
  for (size_t i = 0; i < n; i++) {
    char c = ag_model_name(ag_system_model(e->sys))[i];
    e->lower[i] = isalnum((unsigned char)c) ? c : '_';
    e->upper[i] = (char)toupper((unsigned char)e->lower[i]);
  }
  e->name = e->lower;
}

/* ---- tables of names and numbers ---- */

/* The names of n numbers, each given by a function. */
typedef void name_of(const ag_system *sys, int k, ag_text *out);

static const char **names_of(emitter *e, int n, name_of *name) {
  const char **names = AG_NEWN(e->arena, const char *, n + 1);
  ag_text text = {0};
  for (int k = 0; k < n; k++) {
    ag_text_clear(&text);
    name(e->sys, k, &text);
    names[k] = ag_arena_str(e->arena, ag_text_cstr(&text));
  }
  ag_text_done(&text);
  return names;
}

/* Of all numbers stored of one kind, in the order of the layout. */
static void kind_name(const ag_system *sys, ag_layout_kind kind, int k, ag_text *out) {
  const ag_layout_row *row = ag_layout_item(sys, kind, 0);
  while (k >= row->n) k -= row++->n;
  ag_stored_name(row, k, out);
}

static void param_name(const ag_system *sys, int k, ag_text *out) { kind_name(sys, AG_LAYOUT_PARAMETER, k, out); }

static void observe_name(const ag_system *sys, int k, ag_text *out) { kind_name(sys, AG_LAYOUT_OBSERVABLE, k, out); }

static void velocity_name(const ag_system *sys, int k, ag_text *out) { kind_name(sys, AG_LAYOUT_VELOCITY, k, out); }

static void put_comment(emitter *e, const char *prefix, int n, const char *const *names) {
  for (int i = 0; i < n; i++) {
    ag_text_printf(e->out, " *   %s[%d]  ", prefix, i);
    ag_escape_c_comment(e->out, names[i]);
    ag_text_char(e->out, '\n');
  }
}

static void put_array(emitter *e, const char *suffix, int n, const double *v) {
  ag_text_printf(e->out, "const double %s_%s[%d] = {", e->name, suffix, n ? n : 1);
  for (int i = 0; i < n; i++) ag_text_printf(e->out, "%s%.17g", i ? ", " : "", v[i]);
  ag_text_str(e->out, n ? "};\n" : "0};\n");
}

/* ---- functions ---- */

/* A tape and its public function: prepares the parameters itself, so that calls are independent. */
static void put_function(emitter *e, const ag_tape *tape, const char *suffix, const char *result,
                         const char *const *names) {
  char *inner = ag_arena_printf(e->arena, "%s_%s_", e->name, suffix);
  ag_cgen how = {.name = inner, .out_names = names};
  int n_prep = ag_cgen_tape(tape, &how, e->out);
  bool step = tape->n_need[AG_SEG_W] > 0;
  ag_text_printf(
      e->out,
      "int %s_%s(double t, const double *z, const double *c, %sconst double *p, double *%s) {\n"
      "  V prep[%d];\n  VI fail = 0;\n  %sprep(p, prep, &fail);\n  %s(&t, z, c, %sprep, %s, &fail);\n  return "
      "fail != 0;\n}\n\n",
      e->name, suffix, step ? "const double *w, " : "", result, n_prep + 1, ag_arena_printf(e->arena, "%s_", inner),
      inner, step ? "w, " : "", result);
}

/* The roles that are written as functions: name, name of the result, line of the head. */
static const struct {
  ag_role role;
  const char *suffix, *result, *line;
} functions[] = {
    {AG_ROLE_RHS, "rhs", "dz", "rhs(t, z, c, p, dz)        dz/dt"},
    {AG_ROLE_INCREMENT, "increment", "dz",
     "increment(t, z, c, w, p, dz)   what z moves by in a step with noise, Stratonovich: w[0] dz/dt + the noise fields "
     "times w[1], w[2], ..."},
    {AG_ROLE_JACOBIAN, "jacobian", "J",
     "jacobian(t, z, c, p, J)    derivative of rhs, N_TANGENT x N_TANGENT row-major, three tangent numbers per "
     "rotation"},
    {AG_ROLE_XI, "velocity", "xi", "velocity(t, z, c, p, xi)   all velocities"},
    {AG_ROLE_SETTLE, "settle", "z1",
     "settle(t, z, c, p, z1)     z taken onto the constraints by one Newton step: once or twice after every step"},
    {AG_ROLE_RENEW, "renew", "new_c", "renew(t, z, c, p, new)     the basis at z, to replace c"},
    {AG_ROLE_OBSERVE, "observe", "o", "observe(t, x, c, p, o)     the observables (c is not used)"},
};

/* Does a function solve with a sparse matrix? */
static bool is_sparse(const ag_system *sys) {
  bool sparse = false;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const ag_tape *tape = ag_system_role(sys, functions[i].role);
    sparse = sparse || (tape && tape->n_ldl > 0);
  }
  return sparse;
}

static void put_functions(emitter *e, const char *const *state) {
  bool lambda;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    ag_role role = functions[i].role;
    bool chooses = ag_system_dims(e->sys)->switches &&
                   (role == AG_ROLE_XI || role == AG_ROLE_RHS || role == AG_ROLE_JACOBIAN || role == AG_ROLE_RENEW);
    ag_tape *own = chooses && ag_system_role(e->sys, role) ? ag_system_pointwise(e->sys, role) : NULL;
    const ag_tape *tape = own ? own : ag_system_role(e->sys, role);
    const char *const *names = role == AG_ROLE_RHS || role == AG_ROLE_INCREMENT ? state
                               : role == AG_ROLE_XI      ? names_of(e, ag_system_dims(e->sys)->xi, velocity_name)
                               : role == AG_ROLE_OBSERVE ? names_of(e, ag_system_dims(e->sys)->observe, observe_name)
                                                         : NULL;
    if (tape) put_function(e, tape, functions[i].suffix, functions[i].result, names);
    ag_tape_free(own);
  }
  ag_id x = ag_system_energy(e->sys);
  ag_tape *energy = ag_system_tape(e->sys, 1, &x, &lambda);
  put_function(e, energy, "energy", "e", NULL);
  ag_tape_free(energy);
}

enum { MAX_JACOBIAN = 64 }; /* tangent numbers: beyond that it is not written */

static void put_names(emitter *e, const char *array, int n, const char *const *names) {
  ag_text_printf(e->out, "static const char *const %s[] = {", array);
  for (int i = 0; i < n; i++) {
    ag_text_printf(e->out, "%s\"", i == 0 ? "" : i % 6 ? ", " : ",\n  ");
    ag_escape_c_string(e->out, names[i]);
    ag_text_char(e->out, '"');
  }
  ag_text_str(e->out, n ? "};\n" : "0};\n");
}

/* What emit_main.h reads, and that text. */
static void put_main(emitter *e, const char *const *names) {
  ag_system *sys = e->sys;
  int n_z = ag_system_dims(sys)->z, n_unit = 0, n = ag_system_units(sys, n_z, NULL);
  ag_span *units = AG_NEWN(e->arena, ag_span, n + 1);
  ag_system_units(sys, n_z, units);
  ag_text_printf(e->out, "#define AG_MODEL(word) %s_##word\n", e->name);
  ag_text_printf(e->out, "enum { N_STATE = %s_N_STATE, N_BASIS = %s_N_BASIS, N_XI = %d };\n", e->upper, e->upper,
                 ag_system_dims(sys)->xi);
  ag_text_printf(e->out, "#define AG_T0 %.17g\n#define AG_RENEW %d\n#define AG_SETTLE %d\n", ag_system_t0(sys),
                 ag_system_role(sys, AG_ROLE_RENEW) != NULL, ag_system_role(sys, AG_ROLE_SETTLE) != NULL);
  put_names(e, "state_names", ag_system_dims(sys)->z, names);
  put_names(e, "velocity_names", ag_system_dims(sys)->xi, names_of(e, ag_system_dims(e->sys)->xi, velocity_name));
  ag_text_str(e->out, "static const int units[][4] = {");
  for (int i = 0; i < n; i++) {
    int at = units[i].at;
    if (units[i].n != 4) continue;
    ag_text_printf(e->out, "{%d, %d, %d, %d}, ", at, at + 1, at + 2, at + 3);
    n_unit++;
  }
  ag_text_printf(e->out, "{0}};\nenum { N_UNIT = %d };\n\n", n_unit);
  ag_text_str(e->out, main_text);
}

static int n_basis(const ag_system *sys) { return ag_system_dims(sys)->c - ag_system_dims(sys)->switches; }

static void put_head(emitter *e, const char *const *names) {
  const ag_system *sys = e->sys;
  ag_text_str(e->out, "/* ");
  ag_escape_c_comment(e->out, ag_model_name(ag_system_model(sys)));
  ag_text_str(e->out, ": ");
  ag_escape_c_comment(e->out, ag_model_title(ag_system_model(sys)));
  ag_text_str(e->out, "\n *\n * Equations of motion as plain C. State z:\n");
  put_comment(e, "z", ag_system_dims(sys)->z, names);
  ag_text_str(e->out, " * Parameters p:\n");
  put_comment(e, "p", ag_system_dims(sys)->param, names_of(e, ag_system_dims(e->sys)->param, param_name));
  if (n_basis(sys))
    ag_text_printf(e->out,
                   " * Basis c: an orthonormal basis of the velocities the constraints allow, as they were when it was "
                   "chosen. Renew it (%s_renew) before\n"
                   " * they have turned by 60 degrees, best after every step; z stays as it is.\n",
                   e->name);
  ag_text_str(e->out, " * Full state x = [q | xi]: stored coordinates and all velocities, and for the observables the "
                      "multipliers behind them:\n");
  put_comment(e, "xi", ag_system_dims(sys)->xi, names_of(e, ag_system_dims(e->sys)->xi, velocity_name));
  if (ag_system_dims(sys)->channel) {
    ag_text_str(e->out, " * Step w: its size, then the increments of the Wiener processes:\n");
    for (int i = 0; i < ag_system_dims(sys)->channel; i++)
      ag_text_printf(e->out, " *   w[%d]  d%s\n", i + 1, ag_layout_item(sys, AG_LAYOUT_NOISE, i)->name);
  }
  if (ag_system_dims(sys)->observe) {
    ag_text_str(e->out, " * Observables:\n");
    put_comment(e, "o", ag_system_dims(sys)->observe, names_of(e, ag_system_dims(e->sys)->observe, observe_name));
  }
  ag_text_printf(e->out,
                 " *\n * Every function returns 0, or 1 when the mass matrix is not positive definite or a matrix is "
                 "singular there.\n"
                 " *   %s_energy(t, x, c, p, e)      energy (c is not used)\n",
                 e->name);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (ag_system_role(sys, functions[i].role)) ag_text_printf(e->out, " *   %s_%s\n", e->name, functions[i].line);
  if (ag_system_dims(sys)->tangent > MAX_JACOBIAN)
    ag_text_printf(e->out, " * The derivative of rhs is not written: it would be %d x %d.\n",
                   ag_system_dims(sys)->tangent, ag_system_dims(sys)->tangent);
  ag_text_str(e->out, " */\n");
}

void ag_emit(ag_system *sys, bool with_main, ag_text *out) {
  emitter e = {.sys = sys, .out = out, .arena = ag_arena_create()};
  identifier(&e);
  const char **names = names_of(&e, ag_system_dims(sys)->z, ag_reduced_name);
  if (ag_system_dims(sys)->tangent <= MAX_JACOBIAN) (void)ag_system_jacobian(sys);
  put_head(&e, names);
  ag_cgen_plain(is_sparse(sys), out);
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1)),
         *z = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->z + 1));
  double *c = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->c + 1));
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  ag_system_state0(sys, x);
  (void)ag_work_reduce(w, ag_system_t0(sys), x, c, z);
  ag_text_printf(out,
                 "enum { %s_N_STATE = %d, %s_N_PARAM = %d, %s_N_BASIS = %d, %s_N_TANGENT = %d, %s_N_OBSERVE = %d };\n",
                 e.upper, ag_system_dims(sys)->z, e.upper, ag_system_dims(sys)->param, e.upper, n_basis(sys), e.upper,
                 ag_system_dims(sys)->tangent, e.upper, ag_system_dims(sys)->observe);
  put_array(&e, "params", ag_system_dims(sys)->param, ag_system_param_values(sys));
  put_array(&e, "start", ag_system_dims(sys)->z, z);
  put_array(&e, "basis", n_basis(sys), c);
  ag_text_char(out, '\n');
  put_functions(&e, names);
  if (with_main) put_main(&e, names);
  ag_work_free(w);
  free(x);
  free(z);
  free(c);
  ag_arena_free(e.arena);
}
