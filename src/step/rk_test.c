/* SPDX-License-Identifier: MIT
 * The tableaux against Butcher's order conditions: for every rooted tree of order r <= p, sum_i b_i Phi_i(tree) =
 * 1 / gamma(tree), with Phi the product over the branches of sum_j a_ij Phi_j(branch) and gamma the density; the same
 * for the embedded weights and, with theta^r / gamma, for the dense output. Each order is also shown not to be higher
 * than declared, so that the conditions can fail. Tolerance: 64 roundings of the terms that are added. */
#include "step/rk.h"

#include <float.h>
#include <stdlib.h>

#include "step/step.h"
#include "tests/check.h"

enum { MAX_ORDER = 9, MAX_TREE = 512 };

typedef struct tree {
  int order;
  double gamma;
  double phi[AG_TABLEAU_MAX], size[AG_TABLEAU_MAX]; /* size: the same with |a_ij|, for the tolerance */
} tree;

typedef struct forest {
  const ag_tableau *tableau;
  int n, end[MAX_ORDER + 1]; /* trees of order r are end[r-1] .. end[r] - 1 */
  tree *trees;
} forest;

/* A branch more: phi_i *= sum_j a_ij phi_j(branch). */
static tree graft(const ag_tableau *T, tree root, const tree *branch) {
  root.order += branch->order;
  root.gamma *= branch->gamma;
  for (int i = 0; i <= T->top; i++) {
    double sum = 0, size = 0;
    for (int j = 0; j < i; j++) sum += T->a[i][j] * branch->phi[j], size += fabs(T->a[i][j]) * branch->size[j];
    root.phi[i] *= sum;
    root.size[i] *= size;
  }
  return root;
}

/* All ways to add branches of total order `rest`, with indices not below `from`. */
static void grow(forest *f, tree root, int rest, int from) {
  if (rest == 0) {
    root.gamma *= root.order;
    f->trees[f->n++] = root;
    return;
  }
  int end = f->end[rest];
  for (int k = from; k < end; k++) grow(f, graft(f->tableau, root, &f->trees[k]), rest - f->trees[k].order, k);
}

static forest forest_of(const ag_tableau *T) {
  forest f = {.tableau = T, .trees = calloc(MAX_TREE, sizeof(tree))};
  tree root = {.order = 1, .gamma = 1};
  for (int i = 0; i < AG_TABLEAU_MAX; i++) root.phi[i] = root.size[i] = 1;
  for (int r = 1; r <= MAX_ORDER; r++) {
    grow(&f, root, r - 1, 0);
    f.end[r] = f.n;
  }
  return f;
}

/* Residual of sum_i w_i phi_i = target, in units of the rounding of its terms. */
static double residual(const tree *x, const double *w, int top, double target) {
  double sum = 0, size = fabs(target);
  for (int i = 0; i <= top; i++) sum += w[i] * x->phi[i], size += fabs(w[i]) * x->size[i];
  return fabs(sum - target) / (64 * DBL_EPSILON * size);
}

/* The order to which weights w reproduce theta^r / gamma: all trees up to it hold. */
static int order_of(const forest *f, const double *w, double theta) {
  for (int k = 0; k < f->n; k++) {
    const tree *x = &f->trees[k];
    if (!(residual(x, w, f->tableau->top, pow(theta, x->order) / x->gamma) <= 1)) return x->order - 1;
  }
  return MAX_ORDER;
}

/* Weights of u(theta) = z + h sum_j w_j k_j, from the nested form of rk_core.h. */
static void dense_weights(const ag_tableau *T, double theta, double *w) {
  for (int j = 0; j <= T->top; j++) {
    double c[8] = {T->b[j], (j == 0) - T->b[j]};
    c[2] = T->b[j] - (j == T->last) - c[1];
    for (int m = 3; m < T->degree; m++) c[m] = T->d[m][j];
    double u = c[T->degree - 1];
    for (int m = T->degree - 2; m >= 0; m--) u = c[m] + (m % 2 ? theta : 1 - theta) * u;
    w[j] = theta * u;
  }
}

/* As order_of for the dense output at some theta. */
static int dense_order_of(const forest *f) {
  int least = MAX_ORDER;
  for (double theta = 0.1; theta < 1; theta += 0.2) {
    double w[AG_TABLEAU_MAX] = {0};
    dense_weights(f->tableau, theta, w);
    int order = order_of(f, w, theta);
    least = order < least ? order : least;
  }
  return least;
}

static void test_tableau(const ag_stepper *s) {
  const ag_tableau *T = s->table;
  AG_CHECK(T->last == s->n_stage);
  for (int i = 0; i <= T->top; i++) {
    double sum = 0, size = 1;
    for (int j = 0; j < AG_TABLEAU_MAX; j++) {
      sum += T->a[i][j];
      size += fabs(T->a[i][j]);
      if (j >= i) AG_CHECK(T->a[i][j] == 0);
    }
    AG_CHECK(fabs(sum - T->c[i]) <= 4 * DBL_EPSILON * size);
  }
  forest f = forest_of(T);
  static const int counts[] = {0, 1, 2, 4, 8, 17, 37, 85, 200, 486}; /* rooted trees of order <= r */
  for (int r = 1; r <= MAX_ORDER; r++) AG_CHECK(f.end[r] == counts[r]);
  AG_CHECK(order_of(&f, T->b, 1) == s->order);
  AG_CHECK(T->error == 0 || order_of(&f, T->e, 0) == (T->error == 2 ? 5 : s->error_order));
  AG_CHECK(T->error != 2 || order_of(&f, T->e3, 0) == 3);
  AG_CHECK((T->error == 0) == (s->error_order == 0));
  AG_CHECK(dense_order_of(&f) == s->dense_order);
  AG_CHECK(!s->quarter || (T->c[s->quarter] == 0.25 && order_of(&f, T->a[s->quarter], 0.25) >= 4));
  free(f.trees);
}

int main(void) {
  for (int i = 0; i < ag_stepper_count(); i++) {
    int failed = ag_checks_failed;
    if (strcmp(ag_stepper_at(i)->family, ag_stepper_at(0)->family)) continue;
    test_tableau(ag_stepper_at(i));
    if (ag_checks_failed > failed) fprintf(stderr, "  in %s\n", ag_stepper_at(i)->name);
  }
  return ag_check_report();
}
