/* SPDX-License-Identifier: MIT
 * Functions a run may be projected onto: g(t, z) that are constant along the motion. Always the position
 * constraints, then what is named: energy, observables. The role LEVELS has their values, their derivatives by t and
 * their gradients in the tangent of z = (q, u), images turned with their rotations. */
#include <stdlib.h>
#include <string.h>

#include "mech/mech_internal.h"

enum { MAX_NAME = 256 };

/* The next name of a list with commas, without the blanks around it. False: there is none left. */
static bool next_name(const char **at, char *name) {
  if (!**at) return false;
  size_t n = strcspn(*at, ","), skip = strspn(*at, " ");
  const char *from = *at + (skip < n ? skip : n);
  n -= (size_t)(from - *at);
  *at = from + n + (from[n] == ',');
  while (n && from[n - 1] == ' ') n--;
  if (n >= MAX_NAME) n = MAX_NAME - 1;
  memcpy(name, from, n);
  name[n] = 0;
  return true;
}

static const ag_layout_row *observable(const ag_system *sys, const char *name, int *entry) {
  const ag_layout_row *row = ag_layout_find(sys, name, entry);
  return row && row->kind == AG_LAYOUT_OBSERVABLE ? row : NULL;
}

static void unknown(const ag_system *sys, const char *name, ag_text *why) {
  int n;
  const ag_layout_row *rows = ag_layout_rows(sys, AG_LAYOUT_OBSERVABLE, &n);
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(n + 2));
  for (int i = 0; i < n; i++) names[i] = rows[i].name;
  names[n] = "energy", names[n + 1] = "constraint";
  const char *near = ag_nearest(name, n + 2, names);
  ag_text_printf(why, "`%s` is neither energy, constraint nor an observable of the model%s%s%s", name,
                 near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  free(names);
}

/* Why one of them cannot be used. */
static bool refused(const ag_system *sys, const char *name, ag_text *why) {
  int entry;
  if (!strcmp(name, "energy")) {
    if (sys->energy_law == AG_ENERGY_CONSERVED) return false;
    ag_text_str(why, "the energy of this system is not constant: forces, moving constraints or time do work");
    return true;
  }
  if (!strcmp(name, "constraint")) {
    if (ag_kept_positions(sys)) return false;
    ag_text_str(why, "the model has no position constraint, and its velocities satisfy the others by construction");
    return true;
  }
  const ag_layout_row *row = observable(sys, name, &entry);
  if (!row) unknown(sys, name, why);
  else if (ag_model_has_force(sys->model, 1, &row->x))
    ag_text_printf(why, "`%s` reads forces of constraint: it is not a function of the state", name);
  else return false;
  return true;
}

bool ag_levels_refused(const ag_system *sys, const char *names, ag_text *why) {
  char name[MAX_NAME];
  const char *lacks = ag_system_discrete_lacks(sys, AG_DISCRETE_EXP, false);
  if (lacks) ag_text_printf(why, "projection needs %s, which this system does not have", lacks);
  if (lacks) return true;
  if (!*names) ag_text_str(why, "no name given");
  for (const char *at = names; next_name(&at, name);)
    if (refused(sys, name, why)) return true;
  return !*names;
}

void ag_levels_name(const ag_system *sys, const char *names, int which, ag_text *out) {
  char name[MAX_NAME];
  int k = ag_kept_positions(sys), entry;
  if (which < k) ag_text_str(out, "constraint");
  for (const char *at = names; which >= k && next_name(&at, name);) {
    const ag_layout_row *row = observable(sys, name, &entry);
    k += row ? (entry < 0 ? row->rows * row->cols : 1) : !strcmp(name, "energy");
    if (which < k) ag_text_str(out, name);
  }
}

/* The functions, in (q, xi, t), into x (NULL: how many there are). */
static int collect(ag_system *sys, const char *names, ag_id *x) {
  ag_graph *g = sys->model->graph;
  char name[MAX_NAME];
  int k = 0, entry;
  for (int i = 0; i < ag_kept_positions(sys); i++, k++)
    if (x) x[k] = sys->kept_g[i];
  for (const char *at = names; next_name(&at, name);) {
    const ag_layout_row *row = observable(sys, name, &entry);
    if (!row && !strcmp(name, "energy")) {
      if (x) x[k] = sys->energy;
      k++;
    }
    for (int i = 0; row && i < row->rows * row->cols; i++) {
      if (entry >= 0 && i != entry) continue;
      if (x) x[k] = ag_entry(g, row->x, i / row->cols, i % row->cols);
      k++;
    }
  }
  return k;
}

/* The gradient of x by the tangent of z into row. */
static void put_gradient(ag_system *sys, ag_id x, const int *place, int u_at, ag_id *row) {
  ag_graph *g = sys->model->graph;
  int nc = sys->model->n_coords;
  ag_id one = ag_num(g, 1), *q = AG_NEWN(sys->arena, ag_id, nc + 1), *by_q = AG_NEWN(sys->arena, ag_id, nc + 1);
  ag_id *by_u = AG_NEWN(sys->arena, ag_id, sys->n_u_input + 1);
  for (int c = 0; c < nc; c++) q[c] = sys->model->coords[c].q;
  ag_reverse(g, 1, &x, &one, nc, q, by_q);
  ag_reverse(g, 1, &x, &one, sys->n_u_input, sys->u_inputs, by_u);
  for (int c = 0, k = 0; c < nc; c++)
    for (int r = 0; r < sys->model->coords[c].dim; r++) row[place[k++]] = ag_entry(g, by_q[c], r, 0);
  for (int i = 0, k = 0; i < sys->n_u_input; i++)
    for (int r = 0; r < ag_node_rows(g, sys->u_inputs[i]); r++) row[u_at + k++] = ag_entry(g, by_u[i], r, 0);
}

bool ag_system_levels(ag_system *sys, const char *names) {
  ag_text why = {0};
  bool bad = ag_levels_refused(sys, names, &why);
  ag_text_done(&why);
  if (bad) return false;
  if (sys->tapes[AG_ROLE_LEVELS] && !strcmp(sys->level_names, names)) return true;
  ag_graph *g = sys->model->graph;
  int k = collect(sys, names, NULL), m = ag_turn_tangent(sys), nc = sys->model->n_coords;
  int *place = AG_NEWN(sys->arena, int, sys->n.xi + 1), u_at = ag_tangent_places(sys, place);
  ag_id *outs = AG_NEWN(sys->arena, ag_id, k * (2 + m) + 1), *xi = AG_NEWN(sys->arena, ag_id, nc + 1);
  ag_id one = ag_num(g, 1), t = sys->model->t;
  for (int i = 0; i < k * (2 + m); i++) outs[i] = ag_num(g, 0);
  for (int c = 0; c < nc; c++) xi[c] = sys->model->coords[c].xi;
  (void)collect(sys, names, outs);
  ag_expand_builtins(sys, k, outs);
  ag_substitute(g, nc, xi, sys->xi_of_u, k, outs);
  ag_forward(g, 1, &t, &one, k, outs, outs + k);
  for (int i = 0; i < k; i++) put_gradient(sys, outs[i], place, u_at, outs + 2 * k + i * m);
  ag_split_leaves(sys, k * (2 + m), outs);
  sys->n.level = k;
  sys->level_names = ag_arena_str(sys->arena, names);
  ag_role_make(sys, AG_ROLE_LEVELS, k * (2 + m), outs);
  return true;
}
