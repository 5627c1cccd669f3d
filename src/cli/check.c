/* SPDX-License-Identifier: MIT
 * `anagyre check`: parse, derive, and say what kind of system this is. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/open.h"
#include "cli/result.h"
#include "run/run.h"

typedef struct args {
  ag_common common;
  bool strict;
  double t0;
} args;

static const ag_option options[] = {
    {.name = "t0",
     .kind = AG_OPTION_NUMBER,
     .offset = offsetof(args, t0),
     .arg = "TIME",
     .lo = -1e15,
     .hi = 1e15,
     .doc = "time at which the start values are completed"},
    {.name = "strict",
     .kind = AG_OPTION_FLAG,
     .offset = offsetof(args, strict),
     .doc = "refuse start values that do not satisfy the constraints"},
    AG_SET_ROW(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* What makes the energy change: dE/dt = -l_t + F.xi - s.lambda. */
typedef struct balance {
  bool time, forces, affine;
} balance;

/* Does the constraint have a part without velocities: is its residual not zero when all velocities are? */
static bool is_affine(ag_model *m, ag_id residual) {
  int n = m->n_coords;
  ag_id *from = ag_heap_alloc(sizeof *from * (size_t)n), *to = ag_heap_alloc(sizeof *to * (size_t)n);
  for (int i = 0; i < n; i++) from[i] = m->coords[i].xi, to[i] = ag_zero(m->graph, m->coords[i].dim, 1);
  ag_substitute(m->graph, n, from, to, 1, &residual);
  free(from);
  free(to);
  return !ag_is_zero(m->graph, residual);
}

static balance find_balance(ag_model *m) {
  balance b = {.time = ag_depends(m->graph, 1, &m->lagrangian, 1, &m->t), .forces = m->n_forces > 0};
  for (int i = 0; i < m->n_constraints; i++) b.affine |= is_affine(m, m->constraints[i].x);
  for (int i = 0; i < m->n_holonomics; i++) b.affine |= ag_depends(m->graph, 1, &m->holonomics[i].x, 1, &m->t);
  for (int i = 0; i < m->n_prescribes; i++) b.affine |= ag_depends(m->graph, 1, &m->prescribes[i].x, 1, &m->t);
  return b;
}

/* Everything the report is made of. */
typedef struct report {
  ag_source *s;
  balance balance;
  int n_kind[3], n_dropped; /* rows of the constraints by ag_row_kind */
  double condition;
  ag_record record;
  ag_run_result start; /* of a run of no length: the record at the start */
} report;

/* The record at the start, through a run from t0 to t0. */
static ag_status look_at_start(report *r, double t0) {
  const ag_system *sys = r->s->system;
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x));
  ag_system_state0(sys, x);
  ag_run_options o;
  ag_run_defaults(&o);
  o.t0 = o.t1 = t0;
  o.every = -1;
  o.events = false;
  ag_status status = ag_run(&r->s->ctx, sys, ag_system_param_values(sys), x, &o, NULL, &r->start);
  ag_work *w = ag_work_create(sys, ag_system_param_values(sys));
  r->condition = ag_work_condition(w, t0, x);
  ag_work_free(w);
  free(x);
  return status;
}

static void put_space(const ag_coord *c, ag_text *out) {
  static const char *const names[] = {"R", "S1", "S2", "SO3"};
  ag_text_str(out, names[c->space]);
  if (c->space == AG_SPACE_R && c->dim > 1) ag_text_printf(out, "^%d", c->dim);
}

static const char *elimination_word(const ag_system *sys) {
  switch (ag_system_elimination(sys)) {
  case AG_ELIM_NONE: return "nothing to eliminate";
  case AG_ELIM_SOLVED: return "the constraints are solved for velocities in closed form";
  case AG_ELIM_FRAME: return "by the velocities of the frame";
  case AG_ELIM_BASIS: return "by a basis of the free directions, renewed along the motion";
  case AG_ELIM_SADDLE:
    return "none: a large system, the sparse saddle system is solved for accelerations and multipliers";
  }
  return "";
}

/* All names, or the first ones and the last one where there are many. */
static void put_names(const char *label, int n, const char *const *names, ag_text *out) {
  int shown = n > 12 ? 8 : n;
  ag_text_printf(out, "  %-14s  ", label);
  for (int i = 0; i < shown; i++) ag_text_printf(out, "%s%s", i ? ", " : "", names[i]);
  if (shown < n) ag_text_printf(out, ", ..., %s", names[n - 1]);
  ag_text_str(out, n ? "\n" : "none\n");
}

/* A family is one line of coordinates: "x[1..K]". */
static void put_coordinates(const ag_model *m, ag_text *out) {
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    if (c->index > 1) continue;
    int k = 1;
    while (c->family && i + k < m->n_coords && m->coords[i + k].family && !strcmp(m->coords[i + k].family, c->family))
      k++;
    ag_text_printf(out, "  %-14s  %s", i ? "" : "coordinates", c->family ? c->family : c->name);
    if (c->family) ag_text_printf(out, "[1..%d]", k);
    ag_text_str(out, " in ");
    put_space(c, out);
    ag_text_str(out, ", velocity ");
    if (!c->family) ag_text_str(out, c->velocity);
    else if (c->family_velocity) ag_text_printf(out, "%s[1..%d]", c->family_velocity, k);
    else ag_text_printf(out, "%s[1..%d]'", c->family, k);
    ag_text_char(out, '\n');
  }
}

static void put_constraints(const report *r, ag_text *out) {
  static const char *const kind[] = {"constraint", "holonomic", "prescribe"};
  const ag_system *sys = r->s->system;
  const ag_model *m = ag_system_model(sys);
  ag_text_printf(out, "  %-14s  ", "constraints");
  if (!ag_system_dims(sys)->row) ag_text_str(out, "none\n");
  else
    ag_text_printf(out, "%d row%s (%d velocity, %d holonomic, %d prescribed), rank %d\n", ag_system_dims(sys)->row,
                   ag_system_dims(sys)->row == 1 ? "" : "s", r->n_kind[AG_ROW_CONSTRAINT], r->n_kind[AG_ROW_HOLONOMIC],
                   r->n_kind[AG_ROW_PRESCRIBE], ag_system_dims(sys)->rank);
  for (int i = 0; i < ag_system_dims(sys)->row; i++) {
    const ag_row *row = &ag_system_rows(sys)[i];
    if (row->kept) continue;
    const ag_item *item = row->kind == AG_ROW_CONSTRAINT  ? &m->constraints[row->item]
                          : row->kind == AG_ROW_HOLONOMIC ? &m->holonomics[row->item]
                                                          : &m->prescribes[row->item];
    ag_text_printf(out, "  %-14s  row %d of `%s` (line %d) says nothing new: dropped\n", "", row->component + 1,
                   item->text ? item->text : kind[row->kind], row->pos.line);
  }
}

static int freedom(const ag_system *sys) {
  return ag_system_elimination(sys) == AG_ELIM_SADDLE ? ag_system_dims(sys)->xi - ag_system_dims(sys)->lambda
                                                      : ag_system_dims(sys)->u;
}

/* A contact is made of velocity constraints that keep its gap. */
static int contacts(const ag_model *m) {
  int n = 0;
  for (int i = 0; i < m->n_touches; i++) n += m->touches[i].name != NULL;
  return n;
}

static void put_gaps(const ag_system *sys, ag_text *out) {
  int n = contacts(ag_system_model(sys));
  if (n && ag_system_growth(sys)->n_disguised < 0)
    ag_text_printf(out, "; the %s of the %s %s holonomic", ag_plural(n, "gap", "gaps"),
                   ag_plural(n, "contact", "contacts"), ag_plural(n, "is", "are"));
  else if (n && ag_system_growth(sys)->n_disguised)
    ag_text_printf(out, ": %sthe %s of the %s", ag_system_growth(sys)->n_disguised > n ? "among them " : "",
                   ag_plural(n, "gap", "gaps"), ag_plural(n, "contact", "contacts"));
  ag_text_str(out, "\n");
}

static void put_growth(const ag_system *sys, ag_text *out) {
  if (ag_system_elimination(sys) == AG_ELIM_SADDLE)
    ag_text_printf(out, "  %-14s  not looked at: the system is too large\n", "integrability");
  if (!ag_system_growth(sys)->n || !ag_system_dims(sys)->row) return;
  ag_text_printf(out, "  %-14s  growth vector (", "integrability");
  for (int i = 0; i < ag_system_growth(sys)->n; i++)
    ag_text_printf(out, "%s%d", i ? ", " : "", ag_system_growth(sys)->dims[i]);
  ag_text_printf(out, ") of %d%s: ", ag_system_dims(sys)->xi + ag_system_growth(sys)->in_time,
                 ag_system_growth(sys)->in_time ? " (with time)" : "");
  if (ag_system_growth(sys)->n_disguised < 0) ag_text_str(out, "undecided to this depth of brackets");
  else if (ag_system_growth(sys)->n_disguised)
    ag_text_printf(out, "%d velocity constraint%s holonomic in disguise", ag_system_growth(sys)->n_disguised,
                   ag_system_growth(sys)->n_disguised == 1 ? " is" : "s are");
  else ag_text_str(out, "no velocity constraint is holonomic in disguise");
  put_gaps(sys, out);
}

static void put_energy(const report *r, ag_text *out) {
  const balance *b = &r->balance;
  ag_text_printf(out, "  %-14s  ", "energy");
  ag_text_number(out, *ag_result_find(&r->record, r->start.record, AG_COL_ENERGY));
  if (!b->time && !b->forces && !b->affine) {
    ag_text_str(out, " at the start, conserved (no forces, no time, constraints linear in the velocities)\n");
    return;
  }
  ag_text_str(out, " at the start, may change:");
  const char *comma = "";
  if (b->time) ag_text_str(out, " the Lagrangian depends on t"), comma = ",";
  if (b->forces) ag_text_printf(out, "%s forces act", comma), comma = ",";
  if (b->affine) ag_text_printf(out, "%s constraints are affine or move with t", comma);
  ag_text_char(out, '\n');
}

static void put_params(const ag_system *sys, ag_text *out) {
  const ag_model *m = ag_system_model(sys);
  size_t width = 12;
  for (int i = 0; i < m->n_params; i++)
    if (strlen(m->params[i].name) > width) width = strlen(m->params[i].name);
  if (m->n_params) ag_text_str(out, "parameters\n");
  for (int i = 0; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    ag_text_printf(out, "  %-*s  ", (int)width, p->name);
    if (p->integer) ag_text_number(out, p->number);
    else
      ag_result_value(ag_node_rows(m->graph, p->input), ag_node_cols(m->graph, p->input),
                      ag_system_param_values(sys) + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at, (int)width + 4,
                      out);
    ag_text_char(out, '\n');
  }
}

static void write_text(const report *r, ag_text *out) {
  const ag_system *sys = r->s->system;
  const ag_model *m = ag_system_model(sys);
  ag_text_printf(out, "%s%s%s\n", m->name, *m->title ? ": " : "", m->title);
  ag_text_printf(out, "  %-14s  %s\n", "file", r->s->path);
  put_coordinates(m, out);
  ag_text_printf(out, "  %-14s  %d number%s, %d velocit%s\n", "state", ag_system_dims(sys)->q,
                 ag_system_dims(sys)->q == 1 ? "" : "s", ag_system_dims(sys)->xi,
                 ag_system_dims(sys)->xi == 1 ? "y" : "ies");
  put_constraints(r, out);
  ag_text_printf(out, "  %-14s  %d\n", "freedom", freedom(sys));
  if (ag_system_elimination(sys) != AG_ELIM_SADDLE)
    put_names("independent", ag_system_dims(sys)->u, ag_system_u_names(sys), out);
  ag_text_printf(out, "  %-14s  %s\n", "elimination", elimination_word(sys));
  put_growth(sys, out);
  put_energy(r, out);
  ag_text_printf(out, "  %-14s  %.3g\n", "condition", r->condition);
  ag_text_printf(out, "  %-14s  %d observable%s, %d event%s, %d section%s, %d expectation%s\n", "also",
                 m->n_observables, m->n_observables == 1 ? "" : "s", m->n_events, m->n_events == 1 ? "" : "s",
                 m->n_sections, m->n_sections == 1 ? "" : "s", m->n_expects, m->n_expects == 1 ? "" : "s");
  put_params(sys, out);
  ag_text_str(out, "start, completed from the constraints\n");
  ag_result_columns(&r->record, r->start.record, AG_COL_COORD, out);
  ag_result_columns(&r->record, r->start.record, AG_COL_VELOCITY, out);
}

static void json_structure(ag_json *j, const report *r) {
  static const char *const elimination[] = {"none", "solved", "frame", "basis", "saddle"};
  const ag_system *sys = r->s->system;
  const ag_model *m = ag_system_model(sys);
  ag_json_begin(j, "coordinates", '[');
  for (int i = 0; i < m->n_coords; i++) {
    ag_text space = {0};
    put_space(&m->coords[i], &space);
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "name", m->coords[i].name);
    ag_json_string(j, "velocity", m->coords[i].velocity);
    ag_json_string(j, "space", space.s);
    ag_json_end(j, '}');
    ag_text_done(&space);
  }
  ag_json_end(j, ']');
  ag_json_whole(j, "n_q", ag_system_dims(sys)->q);
  ag_json_whole(j, "n_velocities", ag_system_dims(sys)->xi);
  ag_json_begin(j, "constraints", '{');
  ag_json_whole(j, "rows", ag_system_dims(sys)->row);
  ag_json_whole(j, "velocity", r->n_kind[AG_ROW_CONSTRAINT]);
  ag_json_whole(j, "holonomic", r->n_kind[AG_ROW_HOLONOMIC]);
  ag_json_whole(j, "prescribed", r->n_kind[AG_ROW_PRESCRIBE]);
  ag_json_whole(j, "rank", ag_system_dims(sys)->rank);
  ag_json_whole(j, "dropped", r->n_dropped);
  ag_json_end(j, '}');
  ag_json_whole(j, "degrees_of_freedom", freedom(sys));
  ag_json_string(j, "elimination", elimination[ag_system_elimination(sys)]);
  ag_json_begin(j, "independent", '[');
  for (int i = 0; i < ag_system_dims(sys)->u && ag_system_elimination(sys) != AG_ELIM_SADDLE; i++)
    ag_json_string(j, NULL, ag_system_u_names(sys)[i]);
  ag_json_end(j, ']');
  ag_json_bool(j, "growth_with_time", ag_system_growth(sys)->in_time);
  ag_json_begin(j, "growth", '[');
  for (int i = 0; i < ag_system_growth(sys)->n; i++) ag_json_whole(j, NULL, ag_system_growth(sys)->dims[i]);
  ag_json_end(j, ']');
  if (ag_system_growth(sys)->n_disguised < 0) ag_json_string(j, "holonomic_in_disguise", NULL);
  else ag_json_whole(j, "holonomic_in_disguise", ag_system_growth(sys)->n_disguised);
}

static void write_json(const report *r) {
  const ag_model *m = ag_system_model(r->s->system);
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "model", m->name);
  ag_json_string(&j, "title", m->title);
  ag_json_string(&j, "file", r->s->path);
  json_structure(&j, r);
  ag_json_begin(&j, "energy_form", '{');
  ag_json_bool(&j, "conserved", !r->balance.time && !r->balance.forces && !r->balance.affine);
  ag_json_bool(&j, "time_dependent", r->balance.time);
  ag_json_bool(&j, "forces", r->balance.forces);
  ag_json_bool(&j, "affine", r->balance.affine);
  ag_json_end(&j, '}');
  ag_json_number(&j, "condition", r->condition);
  ag_result_json_params(&j, r->s->system);
  ag_json_number(&j, "t", r->start.t);
  ag_result_json_columns(&j, "state", &r->record, r->start.record, AG_COL_COORD, AG_COL_VELOCITY);
  ag_result_json_columns(&j, "observables", &r->record, r->start.record, AG_COL_OBSERVABLE, AG_COL_OBSERVABLE);
  ag_json_number(&j, "energy", *ag_result_find(&r->record, r->start.record, AG_COL_ENERGY));
  ag_json_number(&j, "constraint_residual", *ag_result_find(&r->record, r->start.record, AG_COL_RESIDUAL));
  ag_json_diagnostics(&j, &r->s->ctx);
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static ag_status act(void *self) {
  const args *a = self;
  ag_source s;
  report r = {.s = &s};
  ag_status status = ag_source_load(&s, a->common.words[0], &a->common.changes,
                                    &(ag_derive_options){.strict = a->strict, .growth = true, .t0 = a->t0});
  if (status == AG_OK) status = look_at_start(&r, a->t0);
  if (status != AG_OK) return ag_source_refuse(&s, status, &a->common);
  r.balance = find_balance(s.model);
  for (int i = 0; i < ag_system_dims(s.system)->row; i++) {
    r.n_kind[ag_system_rows(s.system)[i].kind]++;
    r.n_dropped += !ag_system_rows(s.system)[i].kept;
  }
  ag_record_init(&r.record, s.system);
  ag_result_warn(&s.ctx, s.model, &r.record, r.start.record, "at the start");
  ag_source_report(&s, a->common.quiet);
  if (a->common.json) write_json(&r);
  else {
    ag_text out = {0};
    write_text(&r, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  fflush(stdout);
  status = ag_end_status(r.start.end);
  if (status != AG_OK) fprintf(stderr, "error: the start state is no good: %s\n", ag_end_word(r.start.end));
  ag_record_done(&r.record);
  ag_run_done(&r.start);
  ag_source_done(&s);
  return status;
}

const ag_command ag_command_check = {
    .name = "check",
    .words = "MODEL",
    .doc = "read and derive a model; report its dimensions, constraints, start, and every problem",
    .text = "Reads the model, derives its equations and reports: coordinates and velocities, rows and\n"
            "rank of the constraints (rows that say nothing new are named), degrees of freedom and the\n"
            "independent velocities, whether velocity constraints are holonomic in disguise (growth\n"
            "vector by brackets), what can change the energy, the parameters, and the start state\n"
            "completed from the constraints. Problems go to standard error with their place.\n",
    .examples = "  anagyre check rattleback\n"
                "  anagyre check my.nh --set m=2 --json\n"
                "  cat my.nh | anagyre check -\n",
    .size = sizeof(args),
    .n_option = sizeof options / sizeof options[0],
    .options = options,
    .min_word = 1,
    .max_word = 1,
    .act = act,
};
