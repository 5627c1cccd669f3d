/* SPDX-License-Identifier: MIT
 * Formulas of the results, as short as possible; long ones are not printed. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "study/conserve_internal.h"

enum { LONG = 600, MANY = 12 }; /* velocities of a field whose components are not treated one by one */

const char *ag_conserve_print(ag_conserving *v, ag_id x) {
  ag_text text = {0};
  if (ag_normal_size(v->x->g, x) <= LONG) {
    ag_normal_form(v->x->g, 0, NULL, NULL, 1, &x);
    if (ag_normal_size(v->x->g, x) <= LONG / 4) ag_print_formula(v->x->g, x, false, &text);
  }
  bool readable = ag_text_cstr(&text)[0] && !strstr(ag_text_cstr(&text), "inverse(");
  const char *kept = readable ? ag_arena_str(v->c->arena, ag_text_cstr(&text)) : NULL;
  ag_text_done(&text);
  return kept;
}

ag_id ag_conserve_given(ag_conserving *v, ag_id x) {
  const ag_geom *g = v->x;
  const ag_probe *p = &v->probe;
  int r = p->rank, first, n_dependent = 0;
  if (r < 1 || !ag_probe_points(&v->probe, 0, &first)) return 0;
  bool *dependent = ag_heap_alloc((size_t)g->n + 1);
  ag_conserve_dependent(p, &p->points[first], dependent);
  ag_id *S = ag_heap_alloc(sizeof *S * (size_t)(r * r + r + g->n + 1)), *rest = S + r * r, *xi = rest + r;
  for (int j = 0; j < g->n; j++) n_dependent += dependent[j];
  ag_id all = ag_concat(g->g, g->n_coord, g->xi), out = 0;
  for (int j = 0; j < g->n; j++) xi[j] = dependent[j] ? ag_num(g->g, 0) : ag_entry(g->g, all, j, 0);
  for (int i = 0; i < r && n_dependent == r; i++) {
    rest[i] = ag_neg(g->g, ag_entry(g->g, g->s, p->row[i], 0));
    for (int j = 0, k = 0; j < g->n; j++) {
      ag_id entry = ag_entry(g->g, g->S, p->row[i], j);
      if (dependent[j]) S[i * r + k++] = entry;
      else rest[i] = ag_sub(g->g, rest[i], ag_mul(g->g, entry, xi[j]));
    }
  }
  if (n_dependent == r) {
    ag_id A = ag_stack(g->g, r, r, S), b = ag_stack(g->g, r, 1, rest), given = ag_solve(g->g, A, b, AG_SOLVE_GENERAL);
    for (int j = 0, k = 0; j < g->n; j++)
      if (dependent[j]) xi[j] = ag_entry(g->g, given, k++, 0);
    ag_id column = ag_stack(g->g, g->n, 1, xi), *by_coord = ag_conserve_split(g, column);
    out = x;
    ag_substitute(g->g, g->n_coord, g->xi, by_coord, 1, &out);
  }
  free(S);
  free(dependent);
  return out;
}

const char *ag_conserve_print_short(ag_conserving *v, ag_id x) {
  const char *text = ag_conserve_print(v, x);
  ag_id given = ag_conserve_given(v, x);
  const char *other = given ? ag_conserve_print(v, given) : NULL;
  if (other && (!text || strlen(other) < strlen(text))) text = other;
  if (!text) text = ag_conserve_print(v, ag_conserve_readable(v, x));
  ag_id sum = text ? 0 : ag_conserve_as_combination(v, x);
  return sum ? ag_conserve_print(v, sum) : text;
}

const char *ag_conserve_print_solved(ag_conserving *v, ag_id x) {
  const ag_geom *g = v->x;
  ag_id acc = v->acceleration, *by_coord = AG_NEWN(g->arena, ag_id, g->n_coord + 1);
  if (!acc) return NULL;
  for (int i = 0; i < g->n_coord; i++) by_coord[i] = ag_rows_of(g->g, acc, g->at[i], ag_node_rows(g->g, g->xi[i]));
  ag_substitute(g->g, g->n_coord, g->acc, by_coord, 1, &x);
  return ag_conserve_print_short(v, x);
}

const char *ag_conserve_print_rate(ag_conserving *v, ag_id x) {
  ag_id part[2];
  ag_geom_rate(v->x, x, &part[0], &part[1]);
  return ag_conserve_print_solved(v, ag_add(v->x->g, part[0], part[1]));
}

const char *ag_conserve_print_field(ag_conserving *v, ag_id Z) {
  const ag_geom *x = v->x;
  ag_text out = {0};
  bool known = true;
  for (int i = 0; i < x->n_coord; i++) {
    const ag_coord *c = &ag_model_coords(x->model)[i];
    ag_id part = ag_rows_of(x->g, Z, x->at[i], c->dim);
    if (ag_is_zero(x->g, part)) continue;
    const char *text = ag_conserve_print(v, part);
    if (text && !strcmp(text, "0")) continue;
    known = known && text;
    ag_text_printf(&out, "%s%s = %s", out.n ? ", " : "", c->velocity, text ? text : "(long)");
  }
  const char *kept = known ? ag_arena_str(v->c->arena, ag_text_cstr(&out)) : NULL;
  ag_text_done(&out);
  return kept;
}

/* A column on a rotation by its components in space, each in its shortest form. */
static ag_id from_space(ag_conserving *v, ag_id R, ag_id column) {
  ag_graph *g = v->x->g;
  ag_id space = ag_mul(g, R, column), parts[3];
  for (int k = 0; k < 3; k++) parts[k] = ag_conserve_readable(v, ag_entry(g, space, k, 0));
  ag_id short_form = ag_stack(g, 3, 1, parts);
  return ag_mul(g, ag_transpose(g, R), short_form);
}

ag_id ag_conserve_plain_field(ag_conserving *v, ag_id Z) {
  const ag_geom *x = v->x;
  ag_graph *g = x->g;
  ag_id *parts = AG_NEWN(x->arena, ag_id, x->n_coord + 1);
  for (int i = 0; i < x->n_coord; i++) {
    int n = ag_node_rows(g, x->xi[i]);
    parts[i] = ag_rows_of(g, Z, x->at[i], n);
    if (x->n > MANY || ag_conserve_print(v, parts[i])) continue;
    ag_id *entries = AG_NEWN(x->arena, ag_id, n + 1);
    for (int k = 0; k < n; k++) entries[k] = ag_conserve_readable(v, ag_entry(g, parts[i], k, 0));
    ag_id plain = ag_stack(g, n, 1, entries);
    bool rotation = ag_model_coords(x->model)[i].space == AG_SPACE_SO3;
    if (rotation && !ag_conserve_print(v, plain)) plain = from_space(v, x->q[i], parts[i]);
    parts[i] = plain;
  }
  return ag_concat(g, x->n_coord, parts);
}
