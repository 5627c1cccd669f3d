/* SPDX-License-Identifier: MIT
 * The relations between atoms: cos^2 + sin^2 = 1, |Gamma| = 1, sqrt(x)^2 = x, and a sum in a denominator is that sum.
 * Settled, a polynomial has one form; which form is shortest to read is tried out. */
#include <stdlib.h>

#include "expr/normal_internal.h"

enum { MAX_ROUNDS = 200 };

/* ---- one form ---- */

/* t without atom^take, times p */
static ag_poly replaced(ag_normal_state *s, const ag_term *t, int atom, int take, ag_poly p) {
  ag_term rest = *t;
  rest.e[atom] = (int8_t)(rest.e[atom] - take);
  return ag_poly_mul(s->a, ag_poly_term(s->a, &rest), p);
}

/* 1 - the sum of the squares of the others: those of the circle or the sphere that atom k is a coordinate of */
static ag_poly other_squares(ag_normal_state *s, int k) {
  const ag_atom *atom = &s->atoms[k];
  ag_poly p = ag_poly_number(s->a, 1, 1);
  if (atom->kind != AG_ATOM_UNIT) return ag_poly_sub(s->a, p, ag_poly_atom(s->a, atom->partner, 2));
  for (int n = 0; n < 3; n++)
    if (n != atom->part) p = ag_poly_sub(s->a, p, ag_poly_atom(s->a, atom->partner + n, 2));
  return p;
}

/* What t becomes by the first relation that applies to it; false when none does. */
static bool settle_term(ag_normal_state *s, const ag_term *t, ag_poly *p) {
  for (int k = 0; k < s->n_atom; k++) {
    const ag_atom *atom = &s->atoms[k];
    const int8_t e = t->e[k];
    if (!e) continue;
    if ((atom->kind == AG_ATOM_COS || (atom->kind == AG_ATOM_UNIT && atom->part == 2)) && e >= 2)
      return *p = replaced(s, t, k, 2, other_squares(s, k)), true;
    if (atom->kind == AG_ATOM_ROOT && e >= 2) return *p = replaced(s, t, k, 2, atom->poly), true;
    if (atom->kind == AG_ATOM_ROOT && e <= -2)
      return *p = replaced(s, t, k, -2, ag_normal_inverse(s, atom->poly)), true;
    if (atom->kind == AG_ATOM_SUM && e > 0) return *p = replaced(s, t, k, 1, atom->poly), true;
  }
  return false;
}

ag_poly ag_normal_settle(ag_normal_state *s, ag_poly p) {
  for (int round = 0; round < MAX_ROUNDS; round++) {
    ag_poly kept = {0, NULL}, changed = {0, NULL}, q;
    bool any = false;
    for (int i = 0; i < p.n; i++) {
      bool one = settle_term(s, &p.t[i], &q);
      any = any || one;
      if (one) changed = ag_poly_add(s->a, changed, q);
      else kept = ag_poly_add(s->a, kept, ag_poly_term(s->a, &p.t[i]));
    }
    if (!any) return p;
    p = ag_poly_add(s->a, kept, changed);
  }
  return (ag_poly){-1, NULL};
}

/* ---- a common denominator ---- */

static int least(ag_poly p, int k) {
  int e = 0;
  for (int i = 0; i < p.n; i++) e = p.t[i].e[k] < e ? p.t[i].e[k] : e;
  return e;
}

ag_poly ag_normal_combine(ag_normal_state *s, ag_poly p) {
  for (int k = 0; k < s->n_atom; k++) {
    int shift = p.n > 0 ? -least(p, k) : 0;
    const ag_atom *atom = &s->atoms[k];
    if (shift <= 0) continue;
    ag_poly q = ag_normal_settle(s, ag_poly_mul(s->a, p, ag_poly_atom(s->a, k, shift))), r;
    bool square = atom->kind == AG_ATOM_COS || atom->kind == AG_ATOM_UNIT;
    ag_poly divisor = atom->kind == AG_ATOM_SUM ? atom->poly : square ? other_squares(s, k) : (ag_poly){0, NULL};
    while (shift > 0 && divisor.n > 0 && ag_poly_divide(s->a, q, divisor, &r)) q = r, shift -= square ? 2 : 1;
    q = ag_poly_mul(s->a, q, ag_poly_atom(s->a, k, -shift));
    if (q.n >= 0) p = q;
  }
  return p;
}

/* ---- the shortest form ---- */

/* Every square of atom k replaced by the others. */
static ag_poly without_squares(ag_normal_state *s, ag_poly p, int k) {
  for (bool any = true; any && p.n > 0;) {
    ag_poly sum = {0, NULL};
    any = false;
    for (int i = 0; i < p.n; i++) {
      bool square = p.t[i].e[k] >= 2;
      any = any || square;
      sum = ag_poly_add(s->a, sum,
                        square ? replaced(s, &p.t[i], k, 2, other_squares(s, k)) : ag_poly_term(s->a, &p.t[i]));
    }
    p = sum;
  }
  return p;
}

static bool differ_by_square(const ag_term *t, const ag_term *u, int k) {
  for (int n = 0; n < AG_POLY_ATOMS; n++)
    if (t->e[n] + (n == k ? 2 : 0) != u->e[n]) return false;
  return true;
}

/* a - a sin^2 = a cos^2; with `both` also a + b sin^2 = a cos^2 + (a + b) sin^2. k: the sine, or the cosine instead. */
static ag_poly folded(ag_normal_state *s, ag_poly p, int k, bool both) {
  ag_poly out = {0, NULL};
  int other = s->atoms[k].partner;
  bool *used = ag_heap_alloc((size_t)p.n + 1);
  for (int i = 0; i < p.n; i++) {
    for (int j = 0; j < p.n && !used[i]; j++) {
      if (used[j] || !differ_by_square(&p.t[i], &p.t[j], k)) continue;
      ag_poly a = ag_poly_term(s->a, &p.t[i]),
              b = ag_poly_mul(s->a, ag_poly_term(s->a, &p.t[j]), ag_poly_atom(s->a, k, -2));
      ag_poly sum = ag_poly_add(s->a, a, b);
      if (sum.n && !both) continue;
      used[i] = used[j] = true;
      out = ag_poly_add(s->a, out, ag_poly_mul(s->a, a, ag_poly_atom(s->a, other, 2)));
      out = ag_poly_add(s->a, out, ag_poly_mul(s->a, sum, ag_poly_atom(s->a, k, 2)));
    }
    if (!used[i]) out = ag_poly_add(s->a, out, ag_poly_term(s->a, &p.t[i])), used[i] = true;
  }
  free(used);
  return out;
}

typedef struct best {
  ag_poly p;
  ag_id x, like;
  int size;
} best;

static void try_form(ag_normal_state *s, best *b, ag_poly p) {
  if (p.n < 0 || s->work >= AG_NORMAL_WORK) return;
  ag_id x = ag_normal_write(s, p, b->like);
  if (!x) return;
  int size = ag_normal_size(s->g, x);
  if (!b->x || size < b->size) b->p = p, b->x = x, b->size = size;
}

ag_id ag_normal_shortest(ag_normal_state *s, ag_poly p, ag_id like, int *size) {
  best b = {.like = like};
  try_form(s, &b, p);
  for (int k = 0, n = b.x ? s->n_atom : 0; k < n; k++) {
    ag_atom_kind kind = s->atoms[k].kind;
    if (kind == AG_ATOM_UNIT) try_form(s, &b, without_squares(s, b.p, k));
    if (kind != AG_ATOM_SIN) continue;
    int c = s->atoms[k].partner;
    ag_poly from = b.p, turned = without_squares(s, from, k);
    try_form(s, &b, folded(s, from, k, false));
    try_form(s, &b, folded(s, from, k, true));
    try_form(s, &b, turned);
    if (turned.n >= 0) try_form(s, &b, folded(s, turned, c, false));
  }
  *size = b.size;
  return b.x;
}
