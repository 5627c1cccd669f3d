/* SPDX-License-Identifier: MIT
 * `anagyre check`: parse, derive, and report what kind of system it is. */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/gibbs.h"
#include "cli/open.h"
#include "cli/result.h"

typedef struct args {
  ag_common common;
  bool strict;
  double t0;
} args;

static const ag_option options[] = {
    AG_OPTION(args, "t0", NUMBER, t0, .arg = "TIME", .lo = -1e15, .hi = 1e15,
              .doc = "time at which the start values are completed"),
    AG_OPTION(args, "strict", FLAG, strict, .doc = "refuse start values that do not satisfy the constraints"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

/* Everything the report is made of. */
typedef struct report {
  anagyre_model *model;
  const ag_system *system;
  ag_structure s;
  ag_gibbs gibbs;
} report;

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
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    const ag_coord *c = &ag_model_coords(m)[i];
    if (c->index > 1) continue;
    int k = 1;
    while (c->family && i + k < ag_model_n_coords(m) && ag_model_coords(m)[i + k].family &&
           !strcmp(ag_model_coords(m)[i + k].family, c->family))
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
  const ag_system *sys = r->system;
  const ag_model *m = ag_system_model(sys);
  ag_text_printf(out, "  %-14s  ", "constraints");
  if (!ag_system_dims(sys)->row) ag_text_str(out, "none\n");
  else
    ag_text_printf(out, "%d row%s (%d velocity, %d holonomic, %d prescribed), rank %d\n", ag_system_dims(sys)->row,
                   ag_system_dims(sys)->row == 1 ? "" : "s", r->s.n_rows[AG_ROW_CONSTRAINT],
                   r->s.n_rows[AG_ROW_HOLONOMIC], r->s.n_rows[AG_ROW_PRESCRIBE], ag_system_dims(sys)->rank);
  for (int i = 0; i < ag_system_dims(sys)->row; i++) {
    const ag_row *row = &ag_system_rows(sys)[i];
    if (row->kept) continue;
    const ag_item *item = row->kind == AG_ROW_CONSTRAINT  ? &ag_model_constraints(m)[row->item]
                          : row->kind == AG_ROW_HOLONOMIC ? &ag_model_holonomics(m)[row->item]
                                                          : &ag_model_prescribes(m)[row->item];
    ag_text_printf(out, "  %-14s  row %d of `%s` (line %d) is redundant: dropped\n", "", row->component + 1,
                   item->text ? item->text : kind[row->kind], row->pos.line);
  }
}

/* A contact is made of velocity constraints that keep its gap. */
static int contacts(const ag_model *m) {
  int n = 0;
  for (int i = 0; i < ag_model_n_touches(m); i++) n += ag_model_touches(m)[i].name != NULL;
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
    ag_text_printf(out, "  %-14s  not examined: the system is too large\n", "integrability");
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
  const ag_structure *b = &r->s;
  ag_text_printf(out, "  %-14s  ", "energy");
  ag_text_number(out, *ag_record_kind(&r->s.record, r->s.start.record, AG_COL_ENERGY));
  if (!b->depends_on_time && !b->forces && !b->affine) {
    ag_text_str(out, ag_system_dims(r->system)->channel ? " at the start, conserved without noise ("
                                                        : " at the start, conserved (");
    ag_text_str(out, "no forces, no time, constraints linear in the velocities)\n");
    return;
  }
  ag_text_str(out, " at the start, may change:");
  const char *comma = "";
  if (b->depends_on_time) ag_text_str(out, " the Lagrangian depends on t"), comma = ",";
  if (b->forces) ag_text_printf(out, "%s forces act", comma), comma = ",";
  if (b->affine) ag_text_printf(out, "%s constraints are affine or move with t", comma);
  ag_text_char(out, '\n');
}

static void put_noise(const ag_system *sys, ag_text *out) {
  int n;
  const ag_layout_row *rows = ag_layout_rows(sys, AG_LAYOUT_NOISE, &n);
  if (!n) return;
  ag_text_printf(out, "  %-14s  %d channel%s (", "noise", n, n == 1 ? "" : "s");
  for (int i = 0; i < n && i < 12; i++) ag_text_printf(out, "%s%s", i ? ", " : "", rows[i].name);
  ag_text_printf(out, "%s), %s\n", n > 12 ? ", ..." : "", ag_noise_word(ag_system_noise(sys)));
}

static void put_params(const ag_system *sys, ag_text *out) {
  const ag_model *m = ag_system_model(sys);
  size_t width = 12;
  for (int i = 0; i < ag_model_n_params(m); i++)
    if (strlen(ag_model_params(m)[i].name) > width) width = strlen(ag_model_params(m)[i].name);
  if (ag_model_n_params(m)) ag_text_str(out, "parameters\n");
  for (int i = 0; i < ag_model_n_params(m); i++) {
    const ag_param *p = &ag_model_params(m)[i];
    ag_text_printf(out, "  %-*s  ", (int)width, p->name);
    if (p->integer) ag_text_number(out, p->number);
    else
      ag_result_value(ag_node_rows(ag_model_nodes(m), p->input), ag_node_cols(ag_model_nodes(m), p->input),
                      ag_system_param_values(sys) + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at, (int)width + 4,
                      out);
    ag_text_char(out, '\n');
  }
}

static void put_processes(const ag_system *sys, ag_text *out) {
  int n;
  const ag_layout_row *rows = ag_layout_rows(sys, AG_LAYOUT_PROCESS, &n);
  if (n) ag_text_printf(out, "  %-14s  ", "processes");
  for (int i = 0; i < n; i++) ag_text_printf(out, "%s%s", rows[i].name, i + 1 < n ? ", " : "\n");
}

static void write_text(const report *r, ag_text *out) {
  const ag_system *sys = r->system;
  const ag_model *m = ag_system_model(sys);
  ag_text_printf(out, "%s%s%s\n", ag_model_name(m), *ag_model_title(m) ? ": " : "", ag_model_title(m));
  ag_text_printf(out, "  %-14s  %s\n", "file", ag_api_path(r->model));
  put_coordinates(m, out);
  put_processes(sys, out);
  int n_q = ag_system_dims(sys)->q - ag_system_dims(sys)->process, n_xi = ag_system_dims(sys)->xi;
  ag_text_printf(out, "  %-14s  %d number%s, %d velocit%s\n", "state", n_q, n_q == 1 ? "" : "s", n_xi,
                 n_xi == 1 ? "y" : "ies");
  put_constraints(r, out);
  ag_text_printf(out, "  %-14s  %d\n", "freedom", r->s.freedom);
  if (ag_system_elimination(sys) != AG_ELIM_SADDLE)
    put_names("independent", ag_system_dims(sys)->u, ag_system_u_names(sys), out);
  ag_text_printf(out, "  %-14s  %s\n", "elimination", elimination_word(sys));
  ag_closure_cost cost = ag_system_closure_cost(sys);
  if (cost.eliminated > 0)
    ag_text_printf(out, "  %-14s  predicted operations: %.0f eliminated, %.0f sparse; explicit runs use the %s form\n",
                   "closure", cost.eliminated, cost.sparse, ag_closure_sparse(sys) ? "sparse" : "eliminated");
  put_growth(sys, out);
  put_noise(sys, out);
  ag_gibbs_line(&r->gibbs, out);
  put_energy(r, out);
  if (isnan(r->s.condition)) ag_text_printf(out, "  %-14s  not computed\n", "condition");
  else ag_text_printf(out, "  %-14s  %.3g\n", "condition", r->s.condition);
  ag_text_printf(out, "  %-14s  %d observable%s, %d event%s, %d section%s, %d expectation%s\n", "also",
                 ag_model_n_observables(m), ag_model_n_observables(m) == 1 ? "" : "s", ag_model_n_events(m),
                 ag_model_n_events(m) == 1 ? "" : "s", ag_model_n_sections(m), ag_model_n_sections(m) == 1 ? "" : "s",
                 ag_model_n_expects(m), ag_model_n_expects(m) == 1 ? "" : "s");
  put_params(sys, out);
  ag_text_str(out, "start, completed from the constraints\n");
  ag_result_columns(&r->s.record, r->s.start.record, AG_COL_COORD, out);
  ag_result_columns(&r->s.record, r->s.start.record, AG_COL_VELOCITY, out);
  ag_result_columns(&r->s.record, r->s.start.record, AG_COL_PROCESS, out);
}

static void json_structure(ag_json *j, const report *r) {
  static const char *const elimination[] = {"none", "solved", "frame", "basis", "saddle"};
  const ag_system *sys = r->system;
  const ag_model *m = ag_system_model(sys);
  ag_json_begin(j, "coordinates", '[');
  for (int i = 0; i < ag_model_n_coords(m); i++) {
    ag_text space = {0};
    put_space(&ag_model_coords(m)[i], &space);
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "name", ag_model_coords(m)[i].name);
    ag_json_string(j, "velocity", ag_model_coords(m)[i].velocity);
    ag_json_string(j, "space", space.s);
    ag_json_end(j, '}');
    ag_text_done(&space);
  }
  ag_json_end(j, ']');
  ag_json_begin(j, "processes", '[');
  for (int i = 0; i < ag_model_n_processes(m); i++) ag_json_string(j, NULL, ag_model_processes(m)[i].name);
  ag_json_end(j, ']');
  ag_json_whole(j, "n_q", ag_system_dims(sys)->q - ag_system_dims(sys)->process);
  ag_json_whole(j, "n_velocities", ag_system_dims(sys)->xi);
  ag_json_begin(j, "constraints", '{');
  ag_json_whole(j, "rows", ag_system_dims(sys)->row);
  ag_json_whole(j, "velocity", r->s.n_rows[AG_ROW_CONSTRAINT]);
  ag_json_whole(j, "holonomic", r->s.n_rows[AG_ROW_HOLONOMIC]);
  ag_json_whole(j, "prescribed", r->s.n_rows[AG_ROW_PRESCRIBE]);
  ag_json_whole(j, "rank", ag_system_dims(sys)->rank);
  ag_json_whole(j, "dropped", r->s.n_dropped);
  ag_json_end(j, '}');
  ag_json_whole(j, "degrees_of_freedom", r->s.freedom);
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

static void json_noise(ag_json *j, const ag_system *sys) {
  int n;
  const ag_layout_row *rows = ag_layout_rows(sys, AG_LAYOUT_NOISE, &n);
  ag_json_begin(j, "noise", '{');
  ag_json_begin(j, "channels", '[');
  for (int i = 0; i < n; i++) ag_json_string(j, NULL, rows[i].name);
  ag_json_end(j, ']');
  ag_json_string(j, "class", ag_noise_word(ag_system_noise(sys)));
  ag_json_end(j, '}');
}

static void write_json(const report *r) {
  const ag_model *m = ag_system_model(r->system);
  ag_json j = {0};
  ag_json_begin(&j, NULL, '{');
  ag_json_string(&j, "model", ag_model_name(m));
  ag_json_string(&j, "title", ag_model_title(m));
  ag_json_string(&j, "file", ag_api_path(r->model));
  json_structure(&j, r);
  json_noise(&j, r->system);
  ag_gibbs_json(&j, &r->gibbs);
  ag_json_begin(&j, "energy_form", '{');
  ag_json_bool(&j, "conserved", !r->s.depends_on_time && !r->s.forces && !r->s.affine);
  ag_json_bool(&j, "time_dependent", r->s.depends_on_time);
  ag_json_bool(&j, "forces", r->s.forces);
  ag_json_bool(&j, "affine", r->s.affine);
  ag_json_end(&j, '}');
  ag_json_number(&j, "condition", r->s.condition);
  ag_result_json_params(&j, r->system);
  ag_json_number(&j, "t", r->s.start.t);
  ag_result_json_columns(&j, "state", &r->s.record, r->s.start.record, AG_COL_COORD, AG_COL_PROCESS);
  ag_result_json_columns(&j, "observables", &r->s.record, r->s.start.record, AG_COL_OBSERVABLE, AG_COL_OBSERVABLE);
  ag_json_number(&j, "energy", *ag_record_kind(&r->s.record, r->s.start.record, AG_COL_ENERGY));
  ag_json_number(&j, "constraint_residual", *ag_record_kind(&r->s.record, r->s.start.record, AG_COL_RESIDUAL));
  ag_json_diagnostics(&j, ag_api_ctx(r->model));
  ag_json_end(&j, '}');
  ag_json_print(&j);
}

static void print(const report *r, bool json) {
  if (json) {
    write_json(r);
  } else {
    ag_text out = {0};
    write_text(r, &out);
    fputs(ag_text_cstr(&out), stdout);
    ag_text_done(&out);
  }
  fflush(stdout);
}

static ag_status act(void *self) {
  const args *a = self;
  anagyre_model *m = ag_open(a->common.words[0], &a->common.changes);
  ag_system *sys = ag_api_system(m, &(ag_derive_options){.strict = a->strict, .growth = true, .t0 = a->t0});
  if (!sys) return ag_open_refuse(m, ag_api_ctx(m), ag_api_status(m), &a->common);
  report r = {.model = m, .system = sys};
  ag_status status = ag_structure_find(&r.s, ag_api_ctx(m), ag_api_model(m), sys, a->t0);
  if (status == AG_OK) {
    ag_record_notes(ag_api_ctx(m), ag_api_model(m), &r.s.record, r.s.start.record, "at the start");
    ag_open_report(ag_api_ctx(m), a->common.quiet);
    ag_arena *arena = ag_arena_create();
    ag_gibbs_find(&r.gibbs, arena, ag_api_model(m), sys);
    print(&r, a->common.json);
    ag_arena_free(arena);
    status = ag_end_status(r.s.start.end);
    if (status != AG_OK) fprintf(stderr, "error: the start state is not usable: %s\n", ag_end_word(r.s.start.end));
    anagyre_close(m);
  } else {
    status = ag_open_refuse(m, ag_api_ctx(m), status, &a->common);
  }
  ag_structure_done(&r.s);
  return status;
}

const ag_command ag_command_check = {
    .name = "check",
    .words = "MODEL",
    .doc = "read and derive a model; report its dimensions, constraints, start, and all problems",
    .text = "Reads the model, derives its equations and reports: coordinates and velocities, rows and\n"
            "rank of the constraints (redundant rows are named), degrees of freedom and the\n"
            "independent velocities, whether velocity constraints are holonomic in disguise (growth\n"
            "vector by brackets), the classes of noise, the stationary law of friction at a\n"
            "temperature, what can change the energy, the parameters, and the start state\n"
            "completed from the constraints. Errors show file, line and column.\n",
    .examples = "  anagyre check rattleback\n"
                "  anagyre check my.nh --set m=2 --json\n"
                "  cat my.nh | anagyre check -\n",
    AG_COMMAND(1, 1),
};
