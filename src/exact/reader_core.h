/* SPDX-License-Identifier: MIT
 * One text, two readers: the operations of tensor.def over a value type T. Included by field.c and ball.c, which define
 * before
 *   T, world                       the type of a value; what is known at this point
 *   t_start, t_end(w, x)           of one value
 *   t_block(w, n), t_unblock(w, x, n)
 *                                  of n + 1 values
 *   t_set(w, r, a)                 r = a
 *   t_whole(w, r, n)               r = n, a small whole number
 *   t_add, t_sub, t_mul(w, r, a, b), t_neg(w, r, a)
 *   t_number(w, r, s)              a number of the file, as step s has it
 *   t_solve(w, n, m, A, b)         in place of b (n x m); A may be changed
 *   t_det(w, n, A, r)              A may be changed
 *   t_scalar(w, p, s, r, a, b, c)  the operations of op.def, one function each
 * Values are passed by address. */

static void t_product(world *w, const T *a, const T *b, int n, int k, int m, T *r) {
  T term[1];
  t_start(w, term);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      t_whole(w, r + i * m + j, 0);
      for (int l = 0; l < k; l++) {
        t_mul(w, term, a + i * k + l, b + l * m + j);
        t_add(w, r + i * m + j, r + i * m + j, term);
      }
    }
  t_end(w, term);
}

/* a x b */
static void t_cross(world *w, const T *a, const T *b, T *r) {
  T term[1];
  t_start(w, term);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    t_mul(w, r + i, a + j, b + k);
    t_mul(w, term, a + k, b + j);
    t_sub(w, r + i, r + i, term);
  }
  t_end(w, term);
}

static void t_hat(world *w, const T *a, T *r) {
  for (int i = 0; i < 9; i++) t_whole(w, r + i, 0);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    t_set(w, r + 3 * k + j, a + i);
    t_neg(w, r + 3 * j + k, a + i);
  }
}

static void t_rearranged(world *w, const ag_program *p, const ag_step *s, T *v, T *r) {
  const ag_step *a = &p->steps[p->args[s->first]];
  int n = s->rows * s->cols;
  switch (s->op) {
  case AG_OP_STACK:
  case AG_OP_CONCAT:
    for (int i = 0, k = 0; k < s->n_arg; k++) {
      const ag_step *x = &p->steps[p->args[s->first + k]];
      for (int j = 0; j < x->rows * x->cols; j++) t_set(w, r + i++, v + x->at + j);
    }
    break;
  case AG_OP_ENTRY: t_set(w, r, v + a->at + s->i * a->cols + s->j); break;
  case AG_OP_ROWS:
    for (int i = 0; i < n; i++) t_set(w, r + i, v + a->at + s->i * a->cols + i);
    break;
  case AG_OP_TRANSPOSE:
    for (int i = 0; i < s->rows; i++)
      for (int j = 0; j < s->cols; j++) t_set(w, r + i * s->cols + j, v + a->at + j * a->cols + i);
    break;
  default: /* ROTATION */
    for (int i = 0; i < n; i++) t_set(w, r + i, v + a->at + i);
  }
}

/* SOLVE and DET, on copies. */
static void t_eliminated(world *w, const ag_program *p, const ag_step *s, T *v, T *r) {
  const ag_step *a = &p->steps[p->args[s->first]];
  int n = a->rows;
  T *A = t_block(w, n * n);
  for (int i = 0; i < n * n; i++) t_set(w, A + i, v + a->at + i);
  if (s->op == AG_OP_DET) {
    t_det(w, n, A, r);
  } else {
    const ag_step *b = &p->steps[p->args[s->first + 1]];
    for (int i = 0; i < n * b->cols; i++) t_set(w, r + i, v + b->at + i);
    t_solve(w, n, b->cols, A, r);
  }
  t_unblock(w, A, n * n);
}

static void t_step(world *w, const ag_program *p, const ag_step *s, T *v) {
  const ag_step *a = s->n_arg > 0 ? &p->steps[p->args[s->first]] : s;
  const ag_step *b = s->n_arg > 1 ? &p->steps[p->args[s->first + 1]] : a;
  const ag_step *c = s->n_arg > 2 ? &p->steps[p->args[s->first + 2]] : b;
  T *r = v + s->at, *x = v + a->at, *y = v + b->at, *z = v + c->at;
  int n = s->rows * s->cols;
  switch (s->op) {
  case AG_OP_INPUT: break;
  case AG_OP_NUM: t_number(w, r, s); break;
  case AG_OP_ZERO:
  case AG_OP_EYE:
    for (int i = 0; i < n; i++) t_whole(w, r + i, s->op == AG_OP_EYE && i / s->cols == i % s->cols);
    break;
  case AG_OP_STACK:
  case AG_OP_CONCAT:
  case AG_OP_ENTRY:
  case AG_OP_ROWS:
  case AG_OP_TRANSPOSE:
  case AG_OP_ROTATION: t_rearranged(w, p, s, v, r); break;
  case AG_OP_SCALE:
    for (int i = 0; i < n; i++) t_mul(w, r + i, x, y + i);
    break;
  case AG_OP_MATMUL: t_product(w, x, y, s->rows, a->cols, s->cols, r); break;
  case AG_OP_DOT: t_product(w, x, y, 1, a->rows, 1, r); break;
  case AG_OP_CROSS: t_cross(w, x, y, r); break;
  case AG_OP_HAT: t_hat(w, x, r); break;
  case AG_OP_NORM: t_norm(w, a->rows * a->cols, x, r); break;
  case AG_OP_SOLVE:
  case AG_OP_DET: t_eliminated(w, p, s, v, r); break;
  case AG_OP_SELECT: /* the condition is a scalar */
    for (int i = 0; i < n; i++) t_scalar(w, p, s, r + i, x, y + i, z + i, v);
    break;
  default: /* op.def; NEG, ADD and SUB of any shape */
    for (int i = 0; i < n; i++) t_scalar(w, p, s, r + i, x + i, y + i, z, v);
  }
}

static void t_run(world *w, const ag_program *p, const T *in, T *v, T *out) {
  for (int i = 0; i < p->n_input; i++) {
    if (p->in_step[i] < 0) continue;
    const ag_step *s = &p->steps[p->in_step[i]];
    for (int k = 0; k < s->rows * s->cols; k++) t_set(w, v + s->at + k, in + p->in_at[i] + k);
  }
  for (int i = 0; i < p->n_step; i++) t_step(w, p, &p->steps[i], v);
  for (int i = 0, k = 0; i < p->n_outs; i++) {
    const ag_step *s = &p->steps[p->outs[i]];
    for (int j = 0; j < s->rows * s->cols; j++) t_set(w, out + k++, v + s->at + j);
  }
}
