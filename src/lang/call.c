/* SPDX-License-Identifier: MIT
 * The functions of the language: one row each. */
#include <string.h>

#include "lang/build.h"

typedef struct call {
  ag_builder *b;
  const ag_syn *s;
  const char *name;
  int n;
  const ag_id *a;
  ag_op op;
} call;

/* ---- checking arguments ---- */

static ag_value wrong(const call *c, int i, const char *wanted) {
  ag_scope_error(c->b, c->s->links[i].x->pos, "%s expects %s; this is %s", c->name, wanted,
                 ag_note_shape(c->b, c->a[i]));
  return ag_eval_bad();
}

static bool is_scalar(const call *c, int i) { return ag_is_scalar(c->b->g, c->a[i]); }
static int rows(const call *c, int i) { return ag_node_rows(c->b->g, c->a[i]); }
static int cols(const call *c, int i) { return ag_node_cols(c->b->g, c->a[i]); }
static bool is_column(const call *c, int i, int n) { return cols(c, i) == 1 && rows(c, i) == n; }

/* ---- scalars ---- */

static ag_value checked(const call *c, ag_id x) {
  bool all = true;
  for (int i = 0; i < c->n; i++) all = all && ag_is_num(c->b->g, c->a[i], NULL);
  if (!all || ag_is_num(c->b->g, x, NULL)) return ag_eval_good(x);
  ag_scope_error(c->b, c->s->pos, "%s has no finite value here", c->name);
  return ag_eval_bad();
}

static ag_value scalar(const call *c) {
  for (int i = 0; i < c->n; i++)
    if (!is_scalar(c, i))
      return wrong(c, i, c->op == AG_OP_ABS ? "a scalar (norm(v) is the length of a vector)" : "a scalar");
  return checked(c, ag_apply(c->b->g, c->op, c->a));
}

static ag_value extreme(const call *c) {
  for (int i = 0; i < c->n; i++)
    if (!is_scalar(c, i)) return wrong(c, i, "scalars");
  ag_id x = c->a[0];
  for (int i = 1; i < c->n; i++) x = ag_apply2(c->b->g, c->op, x, c->a[i]);
  return ag_eval_good(x);
}

/* ---- vectors ---- */

static ag_value dot(const call *c) {
  for (int i = 0; i < 2; i++)
    if (cols(c, i) != 1) return wrong(c, i, "two vectors");
  if (rows(c, 0) != rows(c, 1)) {
    ag_scope_error(c->b, c->s->pos, "dot of %s and %s", ag_note_shape(c->b, c->a[0]), ag_note_shape(c->b, c->a[1]));
    return ag_eval_bad();
  }
  return checked(c, ag_dot(c->b->g, c->a[0], c->a[1]));
}

static ag_value cross(const call *c) {
  for (int i = 0; i < 2; i++)
    if (!is_column(c, i, 3)) return wrong(c, i, "two 3-vectors");
  return ag_eval_good(ag_cross(c->b->g, c->a[0], c->a[1]));
}

static ag_value norm(const call *c) {
  if (cols(c, 0) != 1) return wrong(c, 0, "a vector");
  return ag_eval_good(ag_norm(c->b->g, c->a[0]));
}

static ag_value hat(const call *c) {
  if (!is_column(c, 0, 3)) return wrong(c, 0, "a 3-vector");
  return ag_eval_good(ag_hat(c->b->g, c->a[0]));
}

/* ---- matrices ---- */

static ag_value transpose(const call *c) { return ag_eval_good(ag_transpose(c->b->g, c->a[0])); }

static ag_value trace(const call *c) {
  ag_graph *g = c->b->g;
  int n = rows(c, 0);
  if (n != cols(c, 0)) return wrong(c, 0, "a square matrix");
  if (!ag_scope_work(c->b, c->s->pos, n)) return ag_eval_bad();
  ag_id x = ag_entry(g, c->a[0], 0, 0);
  for (int i = 1; i < n; i++) x = ag_add(g, x, ag_entry(g, c->a[0], i, i));
  return ag_eval_good(x);
}

static bool small_square(const call *c, int i) {
  int n = rows(c, i);
  if (n != cols(c, i)) return wrong(c, i, "a square matrix"), false;
  if (n > AG_MAX_SOLVE)
    return ag_scope_error(c->b, c->s->pos, "%s of a %dx%d matrix; at most %d rows are allowed", c->name, n, n,
                          AG_MAX_SOLVE);
  return ag_scope_work(c->b, c->s->pos, n * n * n);
}

static ag_value det(const call *c) {
  return small_square(c, 0) ? ag_eval_good(ag_det(c->b->g, c->a[0])) : ag_eval_bad();
}

static ag_value inverse(const call *c) {
  double v = 1;
  if (!small_square(c, 0)) return ag_eval_bad();
  if (ag_is_zero(c->b->g, c->a[0]) ||
      (!ag_note_on(c->b, c->a[0]) && ag_constant(c->b->g, ag_det(c->b->g, c->a[0]), &v) && v == 0)) {
    ag_scope_error(c->b, c->s->pos, "the inverse of a matrix whose determinant is 0");
    return ag_eval_bad();
  }
  return ag_eval_good(ag_inverse(c->b->g, c->a[0]));
}

static ag_value solve(const call *c) {
  if (!small_square(c, 0)) return ag_eval_bad();
  if (rows(c, 1) != rows(c, 0)) {
    ag_scope_error(c->b, c->s->pos, "solve of %s and %s", ag_note_shape(c->b, c->a[0]), ag_note_shape(c->b, c->a[1]));
    return ag_eval_bad();
  }
  if (!ag_scope_work(c->b, c->s->pos, (int64_t)rows(c, 1) * cols(c, 1))) return ag_eval_bad();
  return ag_eval_good(ag_solve(c->b->g, c->a[0], c->a[1], AG_SOLVE_GENERAL));
}

/* diag(a, b, ...) or diag(v) */
static ag_value diag(const call *c) {
  ag_graph *g = c->b->g;
  bool vector = c->n == 1 && cols(c, 0) == 1;
  int n = vector ? rows(c, 0) : c->n;
  for (int i = 0; i < c->n; i++)
    if (!vector && !is_scalar(c, i)) return wrong(c, i, c->n == 1 ? "scalars or one vector" : "scalars");
  if ((int64_t)n * n > AG_MAX_ENTRIES) {
    ag_scope_error(c->b, c->s->pos, "diag of %d entries; a matrix has at most %d entries", n, AG_MAX_ENTRIES);
    return ag_eval_bad();
  }
  if (!ag_scope_work(c->b, c->s->pos, (int64_t)n * n)) return ag_eval_bad();
  ag_id *e = ag_heap_alloc(sizeof *e * (size_t)(n * n)), zero = ag_num(g, 0);
  for (int i = 0; i < n * n; i++) e[i] = zero;
  for (int i = 0; i < n; i++) e[i * n + i] = vector ? ag_entry(g, c->a[0], i, 0) : c->a[i];
  ag_id x = ag_stack(g, n, n, e);
  free(e);
  return ag_eval_good(x);
}

static ag_value identity(const call *c) {
  double n;
  if (!ag_eval_whole(c->b, c->s->links[0].x, "the size of identity(n)", &n)) return ag_eval_bad();
  if (n < 1 || n > 1000) {
    ag_scope_error(c->b, c->s->pos, "identity(%.0f): the size is an integer from 1 to 1000", n);
    return ag_eval_bad();
  }
  return ag_eval_good(ag_eye(c->b->g, (int)n));
}

/* zero(n), zero(n, m) */
static ag_value zero(const call *c) {
  double n, m = 1;
  if (!ag_eval_whole(c->b, c->s->links[0].x, "the size of zero(n, m)", &n)) return ag_eval_bad();
  if (c->n == 2 && !ag_eval_whole(c->b, c->s->links[1].x, "the size of zero(n, m)", &m)) return ag_eval_bad();
  if (n < 1 || m < 1 || n > AG_MAX_SIZE || m > AG_MAX_SIZE || n * m > AG_MAX_ENTRIES) {
    ag_scope_error(c->b, c->s->pos, "zero(%.0f, %.0f): sizes are integers from 1 to %d, at most %d entries", n, m,
                   AG_MAX_SIZE, AG_MAX_ENTRIES);
    return ag_eval_bad();
  }
  return ag_eval_good(ag_zero(c->b->g, (int)n, (int)m));
}

/* ---- rotations ---- */

/* rotation(A): a matrix declared to be a rotation, so the rules for rotations apply. verify.c checks it. */
static ag_value known_rotation(const call *c) {
  if (rows(c, 0) != 3 || cols(c, 0) != 3)
    return wrong(c, 0, "an axis and an angle, or a 3x3 matrix that is a rotation");
  ag_id x = ag_rotation(c->b->g, c->a[0]);
  ag_verify_later(c->b, c->a[0], c->s->pos);
  return ag_eval_good(x);
}

static ag_value rotation(const call *c) {
  if (c->n == 1) return known_rotation(c);
  if (!is_column(c, 0, 3)) return wrong(c, 0, "an axis (a 3-vector) first");
  if (!is_scalar(c, 1)) return wrong(c, 1, "an angle (a scalar) second");
  ag_verify_angle(c->b, c->s->links[1].x->pos, NULL, c->a[1]);
  ag_id x = ag_rotate_axis(c->b, c->a[0], c->a[1], c->s->links[0].x->pos);
  return x ? ag_eval_good(x) : ag_eval_bad();
}

static ag_value euler(const call *c) {
  for (int i = 0; i < 3; i++)
    if (!is_scalar(c, i)) return wrong(c, i, "three angles (scalars)");
  for (int i = 0; i < 3; i++) ag_verify_angle(c->b, c->s->links[i].x->pos, NULL, c->a[i]);
  return ag_eval_good(ag_rotate_euler(c->b, c->a[0], c->a[1], c->a[2]));
}

static bool is_33(const call *c) { return rows(c, 0) == 3 && cols(c, 0) == 3; }

static ag_value euler_angles(const call *c) {
  return is_33(c) ? ag_eval_good(ag_rotate_angles(c->b, c->a[0])) : wrong(c, 0, "a rotation (a 3x3 matrix)");
}

static ag_value angvel(const call *c) {
  if (!is_33(c)) return wrong(c, 0, "a rotation (a 3x3 matrix)");
  ag_id x = ag_rotate_velocity(c->b, c->a[0], c->s->pos);
  return x ? ag_eval_good(x) : ag_eval_bad();
}

/* ---- the table ---- */

static const struct {
  const char *name;
  int min, max; /* numbers of arguments */
  ag_value (*call)(const call *);
  ag_op op;
} table[] = {
#define AG_FUNCTION(name, min, max, call, OP) {name, min, max, call, AG_OP_##OP},
#include "lang/function.def"
};

/* Names from other languages. */
static const char *const habits[][2] = {
    {"ln", "log"},          {"arcsin", "asin"}, {"arccos", "acos"},    {"arctan", "atan"},    {"arctan2", "atan2"},
    {"sgn", "sign"},        {"signum", "sign"}, {"tr", "trace"},       {"inv", "inverse"},    {"invert", "inverse"},
    {"length", "norm"},     {"len", "norm"},    {"magnitude", "norm"}, {"eye", "identity"},   {"skew", "hat"},
    {"determinant", "det"}, {"inner", "dot"},   {"scalar", "dot"},     {"vee", "angvel"},     {"zeros", "zero"},
    {"fabs", "abs"},        {"pow", "^"},       {"rot", "rotation"},   {"linsolve", "solve"}, {"minimum", "min"},
    {"maximum", "max"},
};

int ag_call_count(void) { return (int)(sizeof table / sizeof *table); }
const char *ag_call_name(int i) { return table[i].name; }

const char *ag_call_habit(const char *name) {
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
    if (!strcmp(name, habits[i][0])) return habits[i][1];
  return NULL;
}

ag_value ag_call(ag_builder *b, int function, const ag_syn *s, int n, const ag_id *args) {
  int min = table[function].min, max = table[function].max;
  const char *name = table[function].name;
  if (n < min || n > max) {
    const char *more = max > min + 1 ? " or more" : max > min ? " or 2" : "";
    ag_scope_error(b, s->pos, "%s takes %d%s argument%s, not %d", name, min, more, min == 1 && !*more ? "" : "s", n);
    return ag_eval_bad();
  }
  for (int i = 0; i < n; i++)
    if (!args[i]) return ag_eval_bad();
  call c = {b, s, name, n, args, table[function].op};
  return table[function].call(&c);
}
