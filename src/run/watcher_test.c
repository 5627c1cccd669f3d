/* SPDX-License-Identifier: MIT
 * Functions that are looked for, evaluated so often that they change over to compiled code: values and enclosures keep
 * their bits, also with other parameters. */
#include "run/watcher.h"
#include "tests/check.h"

enum { FUNCTIONS = 4, CALLS = 400000 }; /* more than 4e7 operations, where compiling begins */

typedef struct subject {
  ag_graph *g;
  ag_tape *tape;
} subject;

/* Functions of x, a vector of 3, and t with the parameter p: polynomial, with a jump, with functions, with a solve. */
static subject make(void) {
  subject s = {.g = ag_graph_create()};
  ag_graph *g = s.g;
  ag_id x = ag_input(g, "x", 3, 1, AG_LEAF_REAL), t = ag_input(g, "t", 1, 1, AG_LEAF_REAL),
        p = ag_input(g, "p", 1, 1, AG_LEAF_REAL), e[3], out[FUNCTIONS];
  for (int i = 0; i < 3; i++) e[i] = ag_entry(g, x, i, 0);
  ag_id square = ag_dot(g, x, x), larger = ag_add(g, square, p), phase = ag_mul(g, p, t), wave, product, root, growth;
  wave = ag_apply1(g, AG_OP_SIN, phase), product = ag_mul(g, e[0], e[1]);
  root = ag_apply1(g, AG_OP_SQRT, larger), growth = ag_apply1(g, AG_OP_EXP, e[2]);
  out[0] = ag_sub(g, ag_mul(g, p, square), e[0]);
  out[1] = ag_apply2(g, AG_OP_MAX, product, wave);
  out[2] = ag_div(g, root, ag_add(g, growth, wave));
  ag_id rows[9], tenth = ag_num(g, 0.1);
  for (int i = 0; i < 9; i++) rows[i] = i % 4 ? ag_mul(g, e[i % 3], tenth) : larger;
  ag_id A = ag_stack(g, 3, 3, rows);
  out[3] = ag_dot(g, x, ag_solve(g, A, x, AG_SOLVE_GENERAL));
  ag_bind binds[] = {{x, AG_SEG_Z, 0}, {t, AG_SEG_T, 0}, {p, AG_SEG_P, 0}};
  s.tape = ag_tape_create(g, 3, binds, FUNCTIONS, out);
  return s;
}

static void compare(ag_watcher *a, ag_watcher *b, int k) {
  double x[3], t = 0.01 * k, u[FUNCTIONS], v[FUNCTIONS];
  ag_enclosure box[3], time = {t, t + 0.1, 1, 1}, e[FUNCTIONS], f[FUNCTIONS];
  for (int i = 0; i < 3; i++) {
    x[i] = cos(2.1 * i + 0.3 * k);
    box[i] = (ag_enclosure){x[i] - 0.01 * (k % 7), x[i] + 0.02, -0.5, sin(0.7 * k)};
  }
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = x};
  const ag_enclosure *boxes[AG_SEG_COUNT] = {[AG_SEG_T] = &time, [AG_SEG_Z] = box};
  ag_watcher_values(a, seg, u);
  ag_watcher_values(b, seg, v);
  ag_watcher_bounds(a, boxes, e);
  ag_watcher_bounds(b, boxes, f);
  bool same = !memcmp(u, v, sizeof u) && !memcmp(e, f, sizeof e);
  if (!same || k % 1000 == 0) AG_CHECK(same);
}

int main(void) {
  subject s = make();
  double p = 0.7;
  ag_watcher *interpreted = ag_watcher_create(s.tape, &p, false), *compiled = ag_watcher_create(s.tape, &p, true);
  for (int k = 0; k < CALLS && !ag_watcher_compiled(compiled); k++) compare(interpreted, compiled, k);
  AG_CHECK(ag_watcher_compiled(compiled) && !ag_watcher_compiled(interpreted));
  for (int i = 0; i < 3; i++) {
    p = 0.7 + 0.4 * i;
    ag_watcher_prepare(interpreted, &p);
    ag_watcher_prepare(compiled, &p);
    for (int k = 0; k < 1000; k++) compare(interpreted, compiled, k);
  }
  /* what one has made, the next uses from its start; not one of another tape */
  ag_watch_code *code = ag_watch_code_create(s.tape, true);
  subject other = make();
  for (int i = 0; i < 2; i++) {
    ag_watcher *next = ag_watcher_create(s.tape, &p, true), *strange = ag_watcher_create(other.tape, &p, true);
    ag_watcher_share(next, code);
    ag_watcher_share(strange, code);
    AG_CHECK(ag_watcher_compiled(next) == (i > 0) && !ag_watcher_compiled(strange));
    for (int k = 0; k < 10; k++) compare(interpreted, next, k);
    AG_CHECK(ag_watcher_compiled(next));
    ag_watcher_free(next);
    ag_watcher_free(strange);
  }
  ag_watch_code_free(code);
  ag_tape_free(other.tape);
  ag_graph_free(other.g);
  ag_watcher_free(interpreted);
  ag_watcher_free(compiled);
  ag_tape_free(s.tape);
  ag_graph_free(s.g);
  return ag_check_report();
}
