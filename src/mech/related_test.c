/* SPDX-License-Identifier: MIT
 * Relations between coordinates in closed form: two coordinates that two relations contain linearly, with numbers as
 * coefficients, are functions of the third, also where a column reads them; a relation in which none enters linearly,
 * or whose coefficients change, is left alone. */
#include "tests/noise_models.h"

typedef enum kind { LINEAR, SQUARE, PRODUCT, COUNT } kind;

/* An oscillator x with noise and y' = 2 x', w' = x' - y'. The relations: y = 2 x + 1 and w = x - y - 3, mixed; or the
 * first one squared, or times 2 + x, which vanish in the same places. */
static ag_model *related(kind k) {
  ag_model *m = oscillator("related");
  ag_graph *g = m->graph;
  int y = scalar(m, "y", AG_SPACE_R), w = scalar(m, "w", AG_SPACE_R);
  const ag_coord *c = m->coords;
  ag_id two = ag_num(g, 2), potential = ag_mul(g, ag_num(g, 0.5), ag_mul(g, c[0].q, c[0].q));
  m->lagrangian = ag_sub(g, unit_kinetic(m), potential);
  ag_model_add_constraint(m, ag_sub(g, c[y].xi, ag_mul(g, two, c[0].xi)), NULL, nowhere);
  ag_id apart = ag_sub(g, c[0].xi, c[y].xi);
  ag_model_add_constraint(m, ag_sub(g, c[w].xi, apart), NULL, nowhere);
  ag_id first = ag_sub(g, ag_sub(g, c[y].q, ag_mul(g, two, c[0].q)), ag_num(g, 1));
  ag_id second = ag_add(g, ag_sub(g, ag_add(g, c[w].q, c[y].q), c[0].q), ag_num(g, 3));
  second = ag_add(g, second, ag_mul(g, ag_num(g, 0.5), first));
  if (k == SQUARE) first = ag_mul(g, first, first);
  if (k == PRODUCT) {
    ag_id factor = ag_add(g, two, c[0].q);
    first = ag_mul(g, factor, first);
  }
  AG_MODEL_PUSH(m, touches, ((ag_item){"first", NULL, first, nowhere}));
  AG_MODEL_PUSH(m, touches, ((ag_item){"second", NULL, second, nowhere}));
  add_noise(m, AG_NOISE_FORCE, add_channel(m, "W"), 0, ag_num(g, 0.3));
  start_at(m, false, y, -1, 3);
  start_at(m, false, w, -1, -5);
  return m;
}

/* The column y w at x = 0.7 becomes (2 x + 1)(-x - 4), whatever y and w are. */
static void check_column(bench_system *b) {
  ag_model *m = b->sys->model;
  ag_graph *g = m->graph;
  ag_id column = ag_mul(g, m->coords[1].q, m->coords[2].q), in[3];
  double at[3] = {0.7, 100, 200}, out;
  ag_system_related(b->sys, 1, &column);
  for (int i = 0; i < 3; i++) in[i] = m->coords[i].q;
  AG_CHECK(ag_evaluate(g, 3, in, at, 1, &column, &out) == 0);
  AG_CHECK_NEAR(out, (2 * 0.7 + 1) * (-0.7 - 4), 1e-14); /* some ten roundings of numbers up to 12 */
}

static ag_model *linear(void) { return related(LINEAR); }
static ag_model *square(void) { return related(SQUARE); }
static ag_model *product(void) { return related(PRODUCT); }

int main(void) {
  static const mech_case cases[COUNT] = {{.make = linear}, {.make = square}, {.make = product}};
  for (int k = 0; k < COUNT; k++) {
    bench_system b;
    bench_init(&b, &cases[k]);
    AG_CHECK(b.sys->n_relation == 2 && b.sys->n_solved == (k == LINEAR ? 2 : 0));
    if (k == LINEAR) check_column(&b);
    bench_done(&b);
  }
  return ag_check_report();
}
