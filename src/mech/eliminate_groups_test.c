/* SPDX-License-Identifier: MIT
 * Groups of rows that share velocities: a table of patterns, and the groups they fall into. */
#include "mech/eliminate_internal.h"
#include "tests/mech_models.h"

enum { N = 4, MAX_ROWS = 3 };

static const struct {
  int n_row, pattern[MAX_ROWS][N], n_group;
  int rows[MAX_ROWS], columns[MAX_ROWS]; /* per group */
} cases[] = {
    {1, {{1, 1, 0, 0}}, 1, {1}, {2}},
    {2, {{1, 1, 0, 0}, {0, 0, 1, 1}}, 2, {1, 1}, {2, 2}},
    {3, {{1, 1, 0, 0}, {0, 0, 1, 1}, {0, 1, 1, 0}}, 1, {3}, {4}},
    {3, {{1, 0, 0, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}}, 2, {1, 2}, {2, 2}},
};

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    ag_model *m = ag_model_create("groups");
    ag_arena *arena = ag_arena_create();
    ag_system sys = {.arena = arena, .model = m, .n = {.xi = N}};
    derive d = {.m = m, .g = m->graph, .sys = &sys, .nc = N};
    leaf leaves[N];
    ag_id rows[MAX_ROWS], c[N];
    group groups[MAX_ROWS];
    for (int i = 0; i < N; i++) {
      int coord = scalar(m, (const char[2]){(char)('a' + i)}, AG_SPACE_R);
      leaves[i] = (leaf){m->coords[coord].xi, coord, -1};
    }
    for (int r = 0; r < cases[k].n_row; r++) {
      rows[r] = ag_num(m->graph, 0);
      for (int i = 0; i < N; i++)
        if (cases[k].pattern[r][i]) {
          ag_id term = ag_mul(m->graph, m->coords[i].q, m->coords[i].xi);
          rows[r] = ag_add(m->graph, rows[r], term);
        }
    }
    elim e = {.d = &d, .g = m->graph, .n_row = cases[k].n_row, .n_leaf = N, .rows = rows, .leaves = leaves};
    for (int r = 0; r < cases[k].n_row; r++) {
      ag_elim_coefficients(&e, rows[r], c);
      for (int i = 0; i < N; i++)
        AG_CHECK(cases[k].pattern[r][i] ? c[i] == m->coords[i].q : ag_is_zero(m->graph, c[i]));
    }
    int n = ag_groups_make(&e, groups), all = 0;
    AG_CHECK(n == cases[k].n_group);
    for (int i = 0; i < n; i++) all += groups[i].n_row;
    AG_CHECK(all == cases[k].n_row);
    for (int i = 0; i < n; i++) {
      bool found = false;
      for (int j = 0; j < cases[k].n_group; j++)
        found = found || (groups[i].n_row == cases[k].rows[j] && groups[i].n_col == cases[k].columns[j]);
      AG_CHECK(found);
    }
    ag_arena_free(arena);
    ag_model_free(m);
  }
  return ag_check_report();
}
