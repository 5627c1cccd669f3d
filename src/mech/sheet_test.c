/* SPDX-License-Identifier: MIT
 * Sheets: what is long and written twice gets a name, what is short does not; the lines that define names come last and
 * are complete; a let of the model is printed by its name; the same in LaTeX. */
#include "mech/sheet.h"

#include "tests/mech_models.h"

static int count(const char *text, const char *word) {
  int n = 0;
  for (const char *s = text; (s = strstr(s, word)); s += strlen(word)) n++;
  return n;
}

/* (x + y cos th + ...)^3-like: a sum of n products that stays as it is. */
static ag_id long_sum(ag_model *m, int n) {
  ag_graph *g = m->graph;
  ag_id sum = m->coords[0].q;
  for (int i = 1; i < n; i++) {
    ag_id wave = ag_apply1(g, AG_OP_COS, ag_mul(g, ag_num(g, i + 1), m->coords[2].q));
    sum = ag_add(g, sum, ag_mul(g, m->coords[1].q, wave));
  }
  return sum;
}

static void print(bench_system *b, int n, const ag_id *right, bool latex, ag_text *out) {
  ag_sheet s;
  ag_text_clear(out);
  ag_sheet_init(&s, b->sys);
  s.latex = latex;
  ag_sheet_heading(&s, "equations", "of a test");
  for (int i = 0; i < n; i++) {
    char name[16];
    snprintf(name, sizeof name, "left%d", i);
    ag_sheet_add(&s, ag_sheet_name(&s, name, 1, 1, AG_LEAF_REAL), right[i]);
  }
  ag_sheet_print(&s, out);
  ag_sheet_done(&s);
}

static void check_names(bench_system *b) {
  ag_graph *g = b->m->graph;
  ag_text out = {0};
  ag_id longer = long_sum(b->m, 6), shorter = long_sum(b->m, 2), x = b->m->coords[0].q;
  ag_id one[2] = {ag_mul(g, x, longer), x}, two[2] = {ag_mul(g, x, longer), ag_apply1(g, AG_OP_EXP, longer)};
  ag_id brief[2] = {ag_mul(g, x, shorter), ag_apply1(g, AG_OP_EXP, shorter)};
  print(b, 2, one, false, &out);
  AG_CHECK(!strstr(out.s, "k1") && !strstr(out.s, "where")); /* written once */
  AG_CHECK(strstr(out.s, "# equations\n  of a test\n") != NULL);
  print(b, 2, brief, false, &out);
  AG_CHECK(!strstr(out.s, "k1")); /* short */
  print(b, 2, two, false, &out);
  AG_CHECK(count(out.s, "k1") == 3 && count(out.s, "  k1 = ") == 1 && count(out.s, "cos(") == 5);
  AG_CHECK(strstr(out.s, "k1 = ") > strstr(out.s, "where") && strstr(out.s, "where") > strstr(out.s, "left1"));
  print(b, 2, two, true, &out);
  AG_CHECK(count(out.s, "\\begin{align*}") == 2 && count(out.s, "\\end{align*}") == 2); /* equations, names */
  AG_CHECK(count(out.s, "\\cos") == 5 && strstr(out.s, "% equations") != NULL);
  ag_text_done(&out);
}

/* sin(x - y) and cos(y - x) on one sheet: all of them turn the same way, the shorter one. */
static void check_angles(bench_system *b) {
  ag_graph *g = b->m->graph;
  ag_text out = {0};
  ag_id x = b->m->coords[0].q, y = b->m->coords[1].q, there = ag_sub(g, x, y), back = ag_sub(g, y, x);
  ag_id sine = ag_apply1(g, AG_OP_SIN, there), cosine = ag_apply1(g, AG_OP_COS, back);
  ag_id less = ag_neg(g, ag_mul(g, x, ag_apply1(g, AG_OP_SIN, back)));
  print(b, 2, (ag_id[]){sine, cosine}, false, &out);
  AG_CHECK(strstr(out.s, "left0 = sin(x - y)\n") && strstr(out.s, "left1 = cos(x - y)\n"));
  print(b, 3, (ag_id[]){sine, cosine, less}, false, &out);
  AG_CHECK(strstr(out.s, "left2 = x*sin(x - y)\n"));
  print(b, 2, (ag_id[]){less, cosine}, false, &out); /* one way only of the sine, and that stays */
  AG_CHECK(count(out.s, "(y - x)") == 0 || count(out.s, "(x - y)") == 0);
  ag_text_done(&out);
}

static void check_let(void) {
  bench_system b;
  ag_text out = {0};
  bench_init(&b, &mech_cases[0]);
  ag_graph *g = b.m->graph;
  ag_id sum = long_sum(b.m, 3), twice = ag_mul(g, b.m->coords[1].q, sum);
  AG_MODEL_PUSH(b.m, lets, ((ag_item){"lever", NULL, sum, nowhere}));
  ag_sheet s;
  ag_sheet_init(&s, b.sys);
  ag_sheet_add(&s, ag_sheet_name(&s, "moment", 1, 1, AG_LEAF_REAL), ag_sheet_normal(&s, twice));
  ag_sheet_print(&s, &out);
  AG_CHECK(count(out.s, "lever") == 2 && strstr(out.s, "lever = ") != NULL);
  ag_sheet_done(&s);
  ag_text_done(&out);
  bench_done(&b);
}

/* With n = sqrt(z) a let, y/z + x/(n z) is printed y/n^2 + x/n^3, and z in the line of n alone. */
static void check_root(void) {
  bench_system b;
  ag_text out = {0};
  bench_init(&b, &mech_cases[0]);
  ag_graph *g = b.m->graph;
  ag_id z = long_sum(b.m, 3), n = ag_apply1(g, AG_OP_SQRT, z), nz = ag_mul(g, n, z), x = b.m->coords[0].q;
  ag_id sum = ag_add(g, ag_div(g, b.m->coords[1].q, z), ag_div(g, x, nz));
  AG_MODEL_PUSH(b.m, lets, ((ag_item){"n", NULL, n, nowhere}));
  ag_sheet s;
  ag_sheet_init(&s, b.sys);
  ag_sheet_add(&s, ag_sheet_name(&s, "moment", 1, 1, AG_LEAF_REAL), ag_sheet_normal(&s, sum));
  ag_sheet_print(&s, &out);
  AG_CHECK(strstr(out.s, "/n^") && count(out.s, "cos(2*") == 1 && strstr(out.s, "n = sqrt("));
  ag_sheet_done(&s);
  ag_text_done(&out);
  bench_done(&b);
}

/* m x a = m x b without m and x; the velocity that both sides share stays; a guard against 0 is not printed,
 * and lengths are roots. */
static void check_sides(void) {
  bench_system b;
  ag_text out = {0};
  bench_init(&b, &mech_cases[0]);
  ag_graph *g = b.m->graph;
  ag_id x = b.m->coords[0].q, y = b.m->coords[1].q, v = b.m->coords[0].xi, w = b.m->coords[1].xi;
  ag_sheet s;
  ag_sheet_init(&s, b.sys);
  ag_id left = ag_mul(g, ag_mul(g, ag_mul(g, x, x), v), ag_add(g, y, w)),
        right = ag_neg(g, ag_mul(g, ag_mul(g, x, v), y));
  ag_sheet_cancel(&s, &left, &right);
  AG_CHECK(left == ag_mul(g, ag_mul(g, x, v), ag_add(g, y, w)) && right == ag_neg(g, ag_mul(g, v, y)));
  ag_id zero = ag_num(g, 0), kept = v;
  ag_sheet_cancel(&s, &kept, &zero);
  AG_CHECK(kept == v && ag_is_zero(g, zero));
  ag_id r = ag_apply2(g, AG_OP_HYPOT, x, y), one = ag_num(g, 1);
  ag_id guarded = ag_select(g, ag_apply2(g, AG_OP_EQ, r, ag_num(g, 0)), one, r);
  ag_print_formula(g, ag_sheet_normal(&s, ag_div(g, w, guarded)), false, &out);
  AG_CHECK(!strstr(out.s, "if") && strstr(out.s, "/sqrt("));
  ag_sheet_done(&s);
  ag_text_done(&out);
  bench_done(&b);
}

int main(void) {
  check_sides();
  bench_system b;
  bench_init(&b, &mech_cases[0]);
  check_names(&b);
  check_angles(&b);
  bench_done(&b);
  check_let();
  check_root();
  return ag_check_report();
}
