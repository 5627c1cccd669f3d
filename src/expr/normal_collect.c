/* SPDX-License-Identifier: MIT
 * Sums as they are written, nothing multiplied out: like terms become one, and common factors go in front.
 * (R*a)^2 + (R*b)^2 is R^2*(a^2 + b^2), also where a and b are sums that would be long when they are squared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expr/normal_internal.h"

enum { MAX_TERMS = 96, MAX_FACTORS = 16, MAX_DEPTH = 40 };

typedef struct term {
  double c;
  int n;
  ag_id base[MAX_FACTORS]; /* at most one of them is a vector or a matrix, with exponent 1 */
  int e[MAX_FACTORS];
} term;

static ag_op op_of(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
static ag_id arg(const ag_graph *g, ag_id x, int i) { return ag_node_arg(g, x, i); }
static bool is_sum(const ag_graph *g, ag_id x) { return op_of(g, x) == AG_OP_ADD || op_of(g, x) == AG_OP_SUB; }

static int exponent_of(const term *t, ag_id base) {
  for (int k = 0; k < t->n; k++)
    if (t->base[k] == base) return t->e[k];
  return 0;
}

static bool put(term *t, ag_id base, int e) {
  int k = 0;
  while (k < t->n && t->base[k] != base) k++;
  if (k == MAX_FACTORS) return false;
  if (k == t->n) t->base[t->n] = base, t->e[t->n++] = 0;
  t->e[k] += e;
  if (t->e[k]) return true;
  t->n--;
  t->base[k] = t->base[t->n], t->e[k] = t->e[t->n];
  return true;
}

/* Multiplies t by x^sign; false when it has too many factors. */
static bool take(const ag_graph *g, ag_id x, int sign, term *t, int depth) {
  double v;
  if (depth > MAX_DEPTH) return false;
  if (ag_is_num(g, x, &v) && v != 0 && isfinite(v)) return t->c = sign > 0 ? t->c * v : t->c / v, true;
  switch (op_of(g, x)) {
  case AG_OP_NEG: t->c = -t->c; return take(g, arg(g, x, 0), sign, t, depth + 1);
  case AG_OP_SCALE:
  case AG_OP_MUL: return take(g, arg(g, x, 0), sign, t, depth + 1) && take(g, arg(g, x, 1), sign, t, depth + 1);
  case AG_OP_DIV: return take(g, arg(g, x, 0), sign, t, depth + 1) && take(g, arg(g, x, 1), -sign, t, depth + 1);
  default: return put(t, x, sign);
  }
}

static bool take_terms(const ag_graph *g, ag_id x, int sign, term *list, int *n, int depth) {
  if (*n == MAX_TERMS || depth > 2 * MAX_TERMS) return false;
  if (is_sum(g, x))
    return take_terms(g, arg(g, x, 0), sign, list, n, depth + 1) &&
           take_terms(g, arg(g, x, 1), op_of(g, x) == AG_OP_SUB ? -sign : sign, list, n, depth + 1);
  if (op_of(g, x) == AG_OP_NEG && is_sum(g, arg(g, x, 0)))
    return take_terms(g, arg(g, x, 0), -sign, list, n, depth + 1);
  term *t = &list[(*n)++];
  *t = (term){.c = sign};
  return take(g, x, 1, t, 0);
}

static bool alike(const term *t, const term *u) {
  if (t->n != u->n) return false;
  for (int k = 0; k < t->n; k++)
    if (exponent_of(u, t->base[k]) != t->e[k]) return false;
  return true;
}

/* Like terms are added; returns how many are left. */
static int merged(int n, term *list) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < m && !alike(&list[k], &list[i])) k++;
    if (k < m) list[k].c += list[i].c;
    else list[m++] = list[i];
  }
  for (int i = n = 0; i < m; i++)
    if (list[i].c != 0) list[n++] = list[i];
  return n;
}

static double gcd(double a, double b) {
  while (b >= 1) {
    double r = fmod(a, b);
    a = b, b = r;
  }
  return a;
}

/* The number in front: of equal coefficients, or of whole ones their greatest common divisor. */
static double number_of(int n, const term *list) {
  double c = fabs(list[0].c);
  bool equal = true, whole = c == floor(c) && c < 1e9;
  for (int i = 1; i < n; i++) {
    double v = fabs(list[i].c);
    equal = equal && v == fabs(list[0].c);
    whole = whole && v == floor(v) && v < 1e9;
    if (whole) c = gcd(c, v);
  }
  return equal ? fabs(list[0].c) : whole ? c : 1;
}

/* The common factor of all terms: for each factor the power nearer to 0, if it has the same sign everywhere. */
static term shared(int n, const term *list) {
  term f = {.c = number_of(n, list)};
  for (int k = 0; k < list[0].n; k++) {
    int least = list[0].e[k];
    for (int i = 1; i < n && least; i++) {
      int e = exponent_of(&list[i], list[0].base[k]);
      if ((e > 0) != (least > 0)) e = 0;
      if (abs(e) < abs(least)) least = e;
    }
    if (least) put(&f, list[0].base[k], least);
  }
  return f;
}

/* t without the factors f, as a node; inside (0: none) is one more factor. */
static ag_id written(ag_graph *g, const term *t, const term *f, ag_id inside) {
  ag_id over = inside && ag_is_scalar(g, inside) ? inside : ag_num(g, 1), under = 0,
        tensor = inside && !ag_is_scalar(g, inside) ? inside : 0;
  for (int k = 0; k < t->n; k++) {
    int e = t->e[k] - (f ? exponent_of(f, t->base[k]) : 0);
    if (!e) continue;
    ag_id x = abs(e) == 1 ? t->base[k] : ag_pow(g, t->base[k], ag_num(g, abs(e)));
    if (!ag_is_scalar(g, t->base[k])) tensor = t->base[k];
    else if (e > 0) over = ag_mul(g, over, x);
    else under = under ? ag_mul(g, under, x) : x;
  }
  if (under) over = ag_div(g, over, under);
  over = ag_mul(g, ag_num(g, f ? t->c / f->c : t->c), over);
  return tensor ? ag_mul(g, over, tensor) : over;
}

/* The symbol with the same number in front that most terms share, at least three of them; 0: there is none. */
static ag_id most_shared(const ag_graph *g, int n, const term *list, double *c) {
  ag_id best = 0;
  int most = 2;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < list[i].n; k++) {
      ag_id base = list[i].base[k];
      int count = 0;
      if (op_of(g, base) != AG_OP_INPUT || !ag_is_scalar(g, base) || list[i].e[k] < 0) continue;
      for (int j = i; j < n; j++) count += fabs(list[j].c) == fabs(list[i].c) && exponent_of(&list[j], base) > 0;
      if (count > most) most = count, best = base, *c = fabs(list[i].c);
    }
  return best;
}

static ag_id plus(ag_graph *g, ag_id sum, ag_id x) { return sum ? ag_add(g, sum, x) : x; }

/* The sum of terms: k*a^2/2 + k*b^2/2 + k*c^2/2 is k*(a^2 + b^2 + c^2)/2, whatever else there is.
 */
static ag_id grouped(ag_graph *g, int n, term *list) {
  ag_id sum = 0, base;
  double c = 0;
  for (; (base = most_shared(g, n, list, &c));) {
    term group[MAX_TERMS];
    int m = 0;
    for (int i = 0; i < n; i++)
      if (fabs(list[i].c) == c && exponent_of(&list[i], base) > 0) group[m++] = list[i], list[i].c = 0;
    int all = n;
    for (int i = n = 0; i < all; i++)
      if (list[i].c != 0) list[n++] = list[i];
    term common = shared(m, group);
    ag_id inside = 0;
    for (int i = 0; i < m; i++) inside = plus(g, inside, written(g, &group[i], &common, 0));
    sum = plus(g, sum, written(g, &common, NULL, inside));
  }
  for (int i = 0; i < n; i++) sum = plus(g, sum, written(g, &list[i], NULL, 0));
  return sum;
}

static ag_id collected_sum(ag_graph *g, ag_id x) {
  term *list = ag_heap_alloc(sizeof *list * MAX_TERMS);
  int n = 0;
  double c;
  bool good = take_terms(g, x, 1, list, &n, 0);
  int m = good ? merged(n, list) : n;
  if (good && m) {
    term f = shared(m, list);
    for (int i = 0; i < m; i++) { /* what is left of the terms */
      for (int k = 0; k < f.n; k++) AG_ASSERT(put(&list[i], f.base[k], -f.e[k]));
      list[i].c /= f.c;
    }
    if (m < n || f.n || f.c != 1 || most_shared(g, m, list, &c)) x = written(g, &f, NULL, grouped(g, m, list));
  } else if (good) x = ag_zero(g, ag_node_rows(g, x), ag_node_cols(g, x));
  free(list);
  return x;
}

ag_id ag_normal_collect(ag_graph *g, ag_id x) {
  ag_id top, *plain, *whole; /* of each node: rebuilt; and where it is a sum that ends here, collected */
  unsigned char *mark = ag_cone(g, 1, &x, &top);
  plain = ag_heap_alloc(sizeof *plain * ((size_t)top + 1));
  whole = ag_heap_alloc(sizeof *whole * ((size_t)top + 1));
  for (ag_id y = 1; y <= top; y++) {
    if (!mark[y]) continue;
    int n = ag_node_n_arg(g, y);
    ag_id *args = ag_heap_alloc(sizeof *args * (size_t)(n + 1));
    bool changed = false;
    for (int k = 0; k < n; k++) {
      ag_id z = arg(g, y, k);
      args[k] = is_sum(g, y) ? plain[z] : whole[z];
      changed = changed || args[k] != z;
    }
    plain[y] = changed ? ag_rebuild(g, y, args) : y;
    whole[y] = is_sum(g, plain[y]) ? collected_sum(g, plain[y]) : plain[y];
    free(args);
  }
  x = whole[x];
  free(mark);
  free(plain);
  free(whole);
  return x;
}
