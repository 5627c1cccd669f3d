/* SPDX-License-Identifier: MIT
 * The rank of rows, block by block: which rows are kept does not depend on what other blocks do; of rows that carry the
 * same constraint those are kept that never vanish, or all of them where each vanishes somewhere; a row that is zero
 * around the start does not act yet; a start where the rank is lower than around it is refused, and so is one where a
 * row has no finite coefficients. */
#include <math.h>
#include <string.h>

#include "mech/mech_internal.h"
#include "tests/check.h"

/* The factor of a second row f(q) (a' - b') beside q-dependent or constant first ones. */
typedef enum factor { NONE, ONE, SINE, COSINE, WALL, HIDDEN } factor;

static ag_id make_factor(ag_graph *g, factor f, ag_id q) {
  ag_id one = ag_num(g, 1), zero = ag_num(g, 0), far = ag_num(g, 2);
  if (f == SINE) return ag_apply1(g, AG_OP_SIN, q);
  if (f == COSINE) return ag_apply1(g, AG_OP_COS, q);
  if (f == WALL) return ag_apply2(g, AG_OP_MAX, zero, ag_sub(g, q, far)); /* does not act where q < 2 */
  if (f == HIDDEN) return ag_div(g, ag_apply1(g, AG_OP_SIN, q), q);       /* 0/0 where q = 0 */
  return one;
}

/* n copies of: three angles a, b, q with the rows first (a' - b') and second (a' - b') */
static ag_model *model(int n, factor first, factor second, double start) {
  ag_model *m = ag_model_create("rank");
  ag_graph *g = m->graph;
  ag_id l = ag_num(g, 0);
  for (int i = 0; i < n; i++) {
    ag_id q[3], v[3];
    for (int k = 0; k < 3; k++) {
      int c = ag_model_add_coord(m, ag_arena_printf(m->arena, "q%d", 3 * i + k), NULL, NULL, NULL, 0, AG_SPACE_S1, 1,
                                 (ag_pos){0});
      q[k] = m->coords[c].q, v[k] = m->coords[c].xi;
      l = ag_add(g, l, ag_mul(g, v[k], v[k]));
      if (k == 2) AG_MODEL_PUSH(m, starts, ((ag_start){false, c, -1, -1, ag_num(g, start), {0}}));
    }
    ag_id slip = ag_sub(g, v[0], v[1]);
    for (int k = 0; k < 2; k++) {
      factor f = k ? second : first;
      if (f != NONE) ag_model_add_constraint(m, ag_mul(g, make_factor(g, f, q[2]), slip), NULL, (ag_pos){0});
    }
  }
  m->lagrangian = l;
  return m;
}

static const struct {
  factor first, second;
  double start;
  const char *refused; /* the message; NULL: not */
  int kept[2], rank;   /* per copy */
} cases[] = {
    {ONE, NONE, 0.5, NULL, {1, 0}, 1},
    {ONE, ONE, 0.5, NULL, {1, 0}, 1},
    {SINE, ONE, 0.5, NULL, {0, 1}, 1}, /* the second never vanishes */
    {SINE, COSINE, 0.5, NULL, {1, 1}, 1},
    {COSINE, SINE, 0.5, NULL, {1, 1}, 1},
    {SINE, NONE, 0, "the constraints lose rank at the start", {0, 0}, 0}, /* a singular configuration */
    {HIDDEN, NONE, 0, "has no finite coefficients at the start", {0, 0}, 0},
    {SINE, COSINE, 0, NULL, {1, 1}, 1}, /* not with the other row */
    {WALL, NONE, 0.5, NULL, {0, 0}, 0},
    {ONE, WALL, 0.5, NULL, {1, 0}, 1},
};

int main(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int n = 1; n <= 3; n++) {
      ag_ctx ctx = {0};
      ag_system *sys = NULL;
      ag_model *m = model(n, cases[i].first, cases[i].second, cases[i].start);
      ag_status status = ag_system_create(&ctx, m, &(ag_derive_options){0}, &sys);
      AG_CHECK((status != AG_OK) == (cases[i].refused != NULL));
      AG_CHECK(!cases[i].refused || (ctx.n_diag && strstr(ctx.diags[0].message, cases[i].refused)));
      for (int r = 0; sys && r < sys->n.row; r++)
        AG_CHECK(sys->rows[r].kept == cases[i].kept[cases[i].second == NONE ? 0 : r % 2]);
      AG_CHECK(!sys || sys->n.rank == n * cases[i].rank);
      if (ag_checks_failed) fprintf(stderr, "in case %zu with %d copies\n", i, n);
      ag_system_free(sys);
      ag_model_free(m);
      ag_ctx_done(&ctx);
    }
  return ag_check_report();
}
