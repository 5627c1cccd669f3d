/* SPDX-License-Identifier: MIT
 * Equations with momenta: one line or component per independent velocity, the same text for the same model; every name
 * that is used is defined; and a rotation about an axis is a symbol. What the lines mean is compared with another
 * derivation in tests/show/motion_test.py. */
#include "mech/sheet.h"
#include "tests/mech_models.h"

static void nothing(ag_sheet *s) { (void)s; }

static void print(bench_system *b, bool latex, ag_text *out) {
  ag_sheet s;
  ag_sheet_init(&s, b->sys);
  s.latex = latex;
  ag_show_momenta(&s, nothing, nothing);
  ag_sheet_print(&s, out);
  ag_sheet_done(&s);
}

static void check(bench_system *b) {
  if (!b->sys->mass) return; /* with multipliers there are no such equations */
  for (int latex = 0; latex < 2; latex++) {
    ag_text text = {0}, again = {0};
    bench_system twin;
    bench_init(&twin, b->c);
    print(b, latex, &text);
    print(&twin, latex, &again);
    bench_done(&twin);
    if (!latex) AG_CHECK_STR(text.s, again.s);
    AG_CHECK(strstr(text.s, "equations of motion"));
    for (int i = 0; i < b->m->n_coords && !latex; i++) {
      char use[64], definition[64];
      const char *name = ag_node_name(b->m->graph, b->m->coords[i].q);
      for (int k = 0; k < 2; k++) {
        snprintf(use, sizeof use, k ? "X_%s" : "p_%s'", name);
        snprintf(definition, sizeof definition, k ? "  X_%s = " : "  p_%s = ", name);
        if (strstr(text.s, use)) AG_CHECK(strstr(text.s, definition));
      }
    }
    ag_text_done(&text);
    ag_text_done(&again);
  }
}

/* A point at R e1, R = rotation(e3, th), with the height R[2,1]: l = |(R e1)'|^2/2 - (R e1)[2]. */
static ag_model *swing(void) {
  ag_model *m = ag_model_create("swing");
  ag_graph *g = m->graph;
  int th = scalar(m, "th", AG_SPACE_S1);
  ag_id c = ag_apply1(g, AG_OP_COS, m->coords[th].q), s = ag_apply1(g, AG_OP_SIN, m->coords[th].q), o = ag_num(g, 0),
        one = ag_num(g, 1), minus = ag_neg(g, s), half = ag_num(g, 0.5), v;
  ag_id R = ag_rotation(g, ag_stack(g, 3, 3, (ag_id[]){c, minus, o, s, c, o, o, o, one}));
  ag_id at = ag_mul(g, R, ag_stack(g, 3, 1, (ag_id[]){one, o, o}));
  ag_forward(g, 1, &m->coords[th].q, &m->coords[th].xi, 1, &at, &v);
  ag_id kinetic = ag_mul(g, half, ag_dot(g, v, v)), height = ag_entry(g, at, 1, 0);
  m->lagrangian = ag_sub(g, kinetic, height);
  start_at(m, false, th, 0, 1);
  return m;
}

static void check_swing(void) {
  bench_system b;
  ag_text text = {0};
  bench_init(&b, &(mech_case){.make = swing});
  print(&b, false, &text);
  AG_CHECK(strstr(text.s, "th''") && strstr(text.s, "= 0\n"));
  ag_text_done(&text);
  bench_done(&b);
}

/* l = a'^2 + (a' + b')^2/2 with b' = -a' + c: X_a - X_b is 2 a'', in which the accelerations of both are one symbol. */
static ag_model *pair(void) {
  ag_model *m = ag_model_create("pair");
  ag_graph *g = m->graph;
  int a = scalar(m, "a", AG_SPACE_R), b = scalar(m, "b", AG_SPACE_R);
  ag_id x = m->coords[a].xi, sum = ag_add(g, x, m->coords[b].xi);
  m->lagrangian = ag_add(g, ag_mul(g, x, x), ag_mul(g, ag_num(g, 0.5), ag_mul(g, sum, sum)));
  ag_model_add_constraint(m, ag_sub(g, sum, ag_num(g, 2)), NULL, nowhere);
  start_at(m, true, a, 0, 1);
  return m;
}

static void check_pair(void) {
  bench_system b;
  ag_text text = {0};
  bench_init(&b, &(mech_case){.make = pair});
  print(&b, false, &text);
  AG_CHECK(strstr(text.s, "  a'' = 0\n"));
  ag_text_done(&text);
  bench_done(&b);
}

/* A point at R e1 on a spring of length size = sqrt(2 - (R e1)[2]^2), where the model names both. */
static ag_model *spring(void) {
  ag_model *m = swing();
  ag_graph *g = m->graph;
  const ag_id q = m->coords[0].q, xi = m->coords[0].xi, o = ag_num(g, 0), one = ag_num(g, 1);
  const ag_id c = ag_apply1(g, AG_OP_COS, q), s = ag_apply1(g, AG_OP_SIN, q), minus = ag_neg(g, s);
  ag_id R = ag_rotation(g, ag_stack(g, 3, 3, (ag_id[]){c, minus, o, s, c, o, o, o, one})), v;
  ag_id at = ag_mul(g, R, ag_stack(g, 3, 1, (ag_id[]){ag_num(g, 2), one, one})), y = ag_entry(g, at, 1, 0);
  ag_id size = ag_apply1(g, AG_OP_SQRT, ag_sub(g, ag_num(g, 9), ag_mul(g, y, y)));
  AG_MODEL_PUSH(m, lets, ((ag_item){"place", NULL, at, nowhere}));
  AG_MODEL_PUSH(m, lets, ((ag_item){"size", NULL, size, nowhere}));
  ag_forward(g, 1, &q, &xi, 1, &at, &v);
  m->lagrangian = ag_sub(g, ag_mul(g, ag_num(g, 0.5), ag_dot(g, v, v)), ag_mul(g, size, ag_dot(g, at, at)));
  return m;
}

static void check_spring(void) {
  bench_system b;
  ag_text text = {0};
  bench_init(&b, &(mech_case){.make = spring});
  print(&b, false, &text);
  const char *root = text.s ? strstr(text.s, "sqrt(") : NULL;
  AG_CHECK(root && !strstr(root + 1, "sqrt(") && strstr(text.s, "  size = sqrt("));
  ag_text_done(&text);
  bench_done(&b);
}

int main(void) {
  check_swing();
  check_pair();
  check_spring();
  return each_case(check);
}
