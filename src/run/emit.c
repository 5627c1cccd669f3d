/* SPDX-License-Identifier: MIT
 * Emitted code: plain C99 with <math.h>, no vectors, no Anagyre. The tapes are printed by kern/ over V = double; the
 * words they use are defined at the head of the file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
  size_t n = strlen(e->sys->model->name);
  if (n > 60) n = 60;
  for (size_t i = 0; i < n; i++) {
    char c = e->sys->model->name[i];
    e->lower[i] = isalnum((unsigned char)c) ? c : '_';
    e->upper[i] = (char)toupper((unsigned char)e->lower[i]);
  }
  e->name = e->lower;
}

/* ---- tables of names and numbers ---- */

static void state_names(const ag_system *sys, ag_arena *arena, const char **names) {
  static const char *const quaternion[] = {"w", "x", "y", "z"};
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_coord *c = &sys->model->coords[i];
    const ag_place *p = &sys->places[i];
    for (int k = 0; k < p->n_q; k++) {
      const char *name = c->space == AG_SPACE_SO3
                             ? ag_arena_printf(arena, "%s as a quaternion: %s", c->name, quaternion[k])
                         : p->n_q > 1 ? ag_arena_printf(arena, "%s[%d]", c->name, k + 1)
                                      : c->name;
      names[sys->q_in_z[p->q + k]] = name;
    }
  }
  for (int i = 0; i < sys->n_image; i++) {
    ag_text vector = {0};
    ag_print(sys->model->graph, sys->images[i].c, &vector);
    for (int k = 0; k < 3; k++)
      names[sys->images[i].z + k] = ag_arena_printf(
          arena, "(%s^T*%s)[%d]", sys->model->coords[sys->images[i].coord].name, ag_text_cstr(&vector), k + 1);
    ag_text_done(&vector);
  }
  for (int i = 0; i < sys->n_u; i++) names[sys->u_in_z + i] = sys->u_names[i];
}

static void put_comment(emitter *e, const char *prefix, int n, const char *const *names) {
  for (int i = 0; i < n; i++) ag_text_printf(e->out, " *   %s[%d]  %s\n", prefix, i, names[i]);
}

static void put_array(emitter *e, const char *suffix, int n, const double *v) {
  ag_text_printf(e->out, "const double %s_%s[%d] = {", e->name, suffix, n ? n : 1);
  for (int i = 0; i < n; i++) ag_text_printf(e->out, "%s%.17g", i ? ", " : "", v[i]);
  ag_text_str(e->out, n ? "};\n" : "0};\n");
}

static const char **param_names(emitter *e) {
  const ag_model *m = e->sys->model;
  const char **names = AG_NEWN(e->arena, const char *, e->sys->n_param + 1);
  for (int i = 0; i < m->n_params; i++) {
    int at = e->sys->param_offset[i];
    if (at < 0) continue;
    int rows = ag_node_rows(m->graph, m->params[i].input), cols = ag_node_cols(m->graph, m->params[i].input);
    for (int k = 0; k < rows * cols; k++)
      names[at + k] = rows * cols == 1 ? m->params[i].name
                      : cols == 1
                          ? ag_arena_printf(e->arena, "%s[%d]", m->params[i].name, k + 1)
                          : ag_arena_printf(e->arena, "%s[%d,%d]", m->params[i].name, k / cols + 1, k % cols + 1);
  }
  return names;
}

/* Names of the entries of the observables. */
static const char **observe_names(emitter *e) {
  const ag_model *m = e->sys->model;
  const char **names = AG_NEWN(e->arena, const char *, e->sys->n_observe + 1);
  int at = 0;
  for (int i = 0; i < m->n_observables; i++) {
    int rows = ag_node_rows(m->graph, m->observables[i].x), cols = ag_node_cols(m->graph, m->observables[i].x);
    for (int k = 0; k < rows * cols; k++)
      names[at++] = rows * cols == 1 ? m->observables[i].name
                    : cols == 1
                        ? ag_arena_printf(e->arena, "%s[%d]", m->observables[i].name, k + 1)
                        : ag_arena_printf(e->arena, "%s[%d,%d]", m->observables[i].name, k / cols + 1, k % cols + 1);
  }
  return names;
}

static const char **velocity_names(emitter *e) {
  const ag_model *m = e->sys->model;
  const char **names = AG_NEWN(e->arena, const char *, e->sys->n_xi + 1);
  for (int i = 0; i < m->n_coords; i++) {
    const ag_place *p = &e->sys->places[i];
    for (int k = 0; k < p->n_xi; k++)
      names[p->xi + k] = p->n_xi == 1 ? m->coords[i].velocity
                                      : ag_arena_printf(e->arena, "%s[%d]", m->coords[i].velocity, k + 1);
  }
  return names;
}

/* ---- functions ---- */

/* A tape and its public function: prepares the parameters itself, so that each call stands alone. */
static void put_function(emitter *e, const ag_tape *tape, const char *suffix, const char *result,
                         const char *const *names) {
  char *inner = ag_arena_printf(e->arena, "%s_%s_", e->name, suffix);
  ag_cgen how = {.name = inner, .out_names = names};
  int n_prep = ag_cgen_tape(tape, &how, e->out);
  ag_text_printf(e->out,
                 "int %s_%s(double t, const double *z, const double *c, const double *p, double *%s) {\n"
                 "  V prep[%d];\n  VI fail = 0;\n  %sprep(p, prep, &fail);\n  %s(&t, z, c, prep, %s, &fail);\n  return "
                 "fail != 0;\n}\n\n",
                 e->name, suffix, result, n_prep + 1, ag_arena_printf(e->arena, "%s_", inner), inner, result);
}

/* The roles that are written as functions: name, name of the result, line of the head. */
static const struct {
  ag_role role;
  const char *suffix, *result, *line;
} functions[] = {
    {AG_ROLE_RHS, "rhs", "dz", "rhs(t, z, c, p, dz)        dz/dt"},
    {AG_ROLE_JACOBIAN, "jacobian", "J",
     "jacobian(t, z, c, p, J)    derivative of rhs, N_TANGENT x N_TANGENT row-major, three tangent numbers per "
     "rotation"},
    {AG_ROLE_XI, "velocity", "xi", "velocity(t, z, c, p, xi)   all velocities"},
    {AG_ROLE_SETTLE, "settle", "z1",
     "settle(t, z, c, p, z1)     z taken onto the constraints by one Newton step: once or twice after every step"},
    {AG_ROLE_RENEW, "renew", "new_c", "renew(t, z, c, p, new)     the basis at z, to replace c"},
    {AG_ROLE_OBSERVE, "observe", "o", "observe(t, x, c, p, o)     the observables (c is not used)"},
};

static void put_functions(emitter *e, const char *const *state) {
  bool lambda;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    ag_role role = functions[i].role;
    const ag_tape *tape = ag_system_role(e->sys, role);
    const char *const *names = role == AG_ROLE_RHS       ? state
                               : role == AG_ROLE_XI      ? velocity_names(e)
                               : role == AG_ROLE_OBSERVE ? observe_names(e)
                                                         : NULL;
    if (tape) put_function(e, tape, functions[i].suffix, functions[i].result, names);
  }
  ag_tape *energy = ag_system_tape(e->sys, 1, &e->sys->energy, &lambda);
  put_function(e, energy, "energy", "e", NULL);
  ag_tape_free(energy);
}

enum { MAX_JACOBIAN = 64 }; /* tangent numbers: beyond that it is not written */

static void put_names(emitter *e, const char *array, int n, const char *const *names) {
  ag_text_printf(e->out, "static const char *const %s[] = {", array);
  for (int i = 0; i < n; i++) ag_text_printf(e->out, "%s\"%s\"", i == 0 ? "" : i % 6 ? ", " : ",\n  ", names[i]);
  ag_text_str(e->out, n ? "};\n" : "0};\n");
}

/* What emit_main.h reads, and that text. */
static void put_main(emitter *e, const char *const *names) {
  ag_system *sys = e->sys;
  int n_unit = 0;
  ag_text_printf(e->out, "#define AG_MODEL(word) %s_##word\n", e->name);
  ag_text_printf(e->out, "enum { AG_N_STATE = %s_N_STATE, AG_N_BASIS = %s_N_BASIS, AG_N_XI = %d };\n", e->upper,
                 e->upper, sys->n_xi);
  ag_text_printf(e->out, "#define AG_T0 %.17g\n#define AG_RENEW %d\n#define AG_SETTLE %d\n", sys->t0,
                 ag_system_role(sys, AG_ROLE_RENEW) != NULL, ag_system_role(sys, AG_ROLE_SETTLE) != NULL);
  put_names(e, "state_names", sys->n_z, names);
  put_names(e, "velocity_names", sys->n_xi, velocity_names(e));
  ag_text_str(e->out, "static const int units[][4] = {");
  for (int i = 0; i < sys->model->n_coords; i++) {
    if (sys->model->coords[i].space != AG_SPACE_SO3) continue;
    const int *at = sys->q_in_z + sys->places[i].q;
    ag_text_printf(e->out, "{%d, %d, %d, %d}, ", at[0], at[1], at[2], at[3]);
    n_unit++;
  }
  ag_text_printf(e->out, "{0}};\nenum { AG_N_UNIT = %d };\n\n", n_unit);
  ag_text_str(e->out, main_text);
}

static void put_head(emitter *e, const char *const *names) {
  const ag_system *sys = e->sys;
  ag_text_printf(e->out, "/* %s: %s\n *\n", sys->model->name, sys->model->title);
  ag_text_str(e->out, " * Equations of motion as plain C. State z:\n");
  put_comment(e, "z", sys->n_z, names);
  ag_text_str(e->out, " * Parameters p:\n");
  put_comment(e, "p", sys->n_param, param_names(e));
  if (sys->n_c)
    ag_text_printf(e->out,
                   " * Basis c: an orthonormal basis of the velocities the constraints allow, as they were when it was "
                   "chosen. Renew it (%s_renew) before\n"
                   " * they have turned by 60 degrees, best after every step; z stays as it is.\n",
                   e->name);
  ag_text_str(e->out, " * Full state x = [q | xi]: stored coordinates and all velocities, and for the observables the "
                      "multipliers behind them:\n");
  put_comment(e, "xi", sys->n_xi, velocity_names(e));
  if (sys->n_observe) {
    ag_text_str(e->out, " * Observables:\n");
    put_comment(e, "o", sys->n_observe, observe_names(e));
  }
  ag_text_printf(e->out,
                 " *\n * Every function returns 0, or 1 when the mass matrix is not positive definite or a matrix is "
                 "singular there.\n"
                 " *   %s_energy(t, x, c, p, e)      energy (c is not used)\n",
                 e->name);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (ag_system_role(sys, functions[i].role)) ag_text_printf(e->out, " *   %s_%s\n", e->name, functions[i].line);
  if (sys->n_tangent > MAX_JACOBIAN)
    ag_text_printf(e->out, " * The derivative of rhs is not written: it would be %d x %d.\n", sys->n_tangent,
                   sys->n_tangent);
  ag_text_str(e->out, " */\n");
}

void ag_emit(ag_system *sys, bool with_main, ag_text *out) {
  emitter e = {.sys = sys, .out = out, .arena = ag_arena_create()};
  identifier(&e);
  const char **names = AG_NEWN(e.arena, const char *, sys->n_z + 1);
  state_names(sys, e.arena, names);
  if (sys->n_tangent <= MAX_JACOBIAN) (void)ag_system_jacobian(sys);
  put_head(&e, names);
  ag_cgen_plain(ag_system_role(sys, AG_ROLE_RHS)->n_ldl > 0, out);
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + sys->n_xi + 1)),
         *z = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_z + 1));
  double *c = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_c + 1));
  ag_work *w = ag_work_create(sys, sys->params);
  ag_system_state0(sys, x);
  (void)ag_work_reduce(w, sys->t0, x, c, z);
  ag_text_printf(
      out, "enum { %s_N_STATE = %d, %s_N_PARAM = %d, %s_N_BASIS = %d, %s_N_TANGENT = %d, %s_N_OBSERVE = %d };\n",
      e.upper, sys->n_z, e.upper, sys->n_param, e.upper, sys->n_c, e.upper, sys->n_tangent, e.upper, sys->n_observe);
  put_array(&e, "params", sys->n_param, sys->params);
  put_array(&e, "start", sys->n_z, z);
  put_array(&e, "basis", sys->n_c, c);
  ag_text_char(out, '\n');
  put_functions(&e, names);
  if (with_main) put_main(&e, names);
  ag_work_free(w);
  free(x);
  free(z);
  free(c);
  ag_arena_free(e.arena);
}
