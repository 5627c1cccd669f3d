/* SPDX-License-Identifier: MIT
 * What one right-hand side of each shipped model costs in operations: the whole state, and the core alone. No model
 * costs more than the table says (cost.txt).
 *   cost_test MODELS TABLE           compares
 *   cost_test MODELS TABLE --print   prints the table */
#include "tests/each_model.h"

enum { MAX_ROWS = 200 };

static struct {
  char name[64];
  int whole, core;
} rows[MAX_ROWS];
static int n_rows;
static bool printing;

static void read_table(const char *path) {
  FILE *f = fopen(path, "r");
  char line[256];
  AG_CHECK(f != NULL);
  while (f && n_rows < MAX_ROWS && fgets(line, sizeof line, f))
    n_rows += sscanf(line, "%63s %d %d", rows[n_rows].name, &rows[n_rows].whole, &rows[n_rows].core) == 3;
  if (f) fclose(f);
}

static int check(ag_system *sys) {
  const char *name = ag_model_name(ag_system_model(sys));
  const ag_tape *tapes[2] = {ag_system_role(sys, AG_ROLE_RHS), ag_system_role(sys, AG_ROLE_CORE)};
  int cost[2];
  for (int k = 0; k < 2; k++) cost[k] = tapes[k] ? ag_tape_cost(tapes[k]) : 0;
  if (printing) return printf("%s %d %d\n", name, cost[0], cost[1]), 0;
  int i = 0;
  while (i < n_rows && strcmp(rows[i].name, name) != 0) i++;
  AG_CHECK(i < n_rows); /* a new model: add its row */
  if (i == n_rows) return 0;
  AG_CHECK(cost[0] <= rows[i].whole && cost[1] <= rows[i].core);
  if (cost[0] > rows[i].whole || cost[1] > rows[i].core) fprintf(stderr, "%s: %d %d\n", name, cost[0], cost[1]);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  printing = argc > 3;
  if (!printing) read_table(argv[2]);
  int n = each_model(argv[1], check);
  if (!printing) AG_CHECK(n == n_rows);
  return printing ? 0 : ag_check_report();
}
