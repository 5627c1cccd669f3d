/* SPDX-License-Identifier: MIT
 * The relations between atoms: cos^2 + sin^2 = 1, |Gamma| = 1, sqrt(x)^2 = x, and a sum in a denominator is that sum.
 * Settled, a polynomial has one form; which form is shortest to read is tried out. */
#include <stdlib.h>
#include <string.h>

#include "expr/normal_internal.h"

enum { MAX_ROUNDS = 200, MAX_DOTS = 8, MAX_MINORS = 64, MAX_PRODUCTS = 100 };

/* ---- one form ---- */

/* Is atom k one whose squares are replaced when settling? */
static bool is_squared(const ag_atom *atom) {
  return atom->kind == AG_ATOM_COS || (atom->kind == AG_ATOM_UNIT && atom->part == 2);
}

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
    if (is_squared(atom) && e >= 2) return *p = replaced(s, t, k, 2, other_squares(s, k)), true;
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

/* ---- quotients ---- */

/* p with the other sign of atom k */
static ag_poly turned_in(ag_normal_state *s, ag_poly p, int k) {
  ag_poly q = {0, NULL};
  for (int i = 0; i < p.n; i++) {
    ag_term t = p.t[i];
    if (t.e[k] % 2) t.num = -t.num;
    q = ag_poly_add(s->a, q, ag_poly_term(s->a, &t));
  }
  return q;
}

bool ag_normal_divide(ag_normal_state *s, ag_poly p, ag_poly q, ag_poly *r) {
  if (ag_poly_divide(s->a, p, q, r)) return true;
  if (s->dividing) return false; /* settling may write a denominator, which looks for factors */
  s->work += (long)p.n * q.n;
  for (int k = 0; k < s->n_atom && p.n * q.n <= MAX_PRODUCTS; k++) {
    bool odd = false;
    for (int i = 0; i < q.n && is_squared(&s->atoms[k]); i++) odd = odd || q.t[i].e[k] % 2;
    if (!odd) continue;
    /* p/(a + b cos) = p (a - b cos)/(a^2 - b^2 cos^2), in which the denominator has no cosine left */
    s->dividing = true;
    ag_poly other = turned_in(s, q, k), below = ag_normal_settle(s, ag_poly_mul(s->a, q, other));
    ag_poly above = ag_normal_settle(s, ag_poly_mul(s->a, p, other));
    s->dividing = false;
    return above.n > 0 && below.n > 0 && ag_poly_divide(s->a, above, below, r);
  }
  return false;
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
    while (shift > 0 && divisor.n > 0 && ag_normal_divide(s, q, divisor, &r)) q = r, shift -= square ? 2 : 1;
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
  for (int i = 0; i < p.n; i++)
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
  for (int i = 0; i < p.n; i++)
    if (!used[i]) out = ag_poly_add(s->a, out, ag_poly_term(s->a, &p.t[i]));
  free(used);
  return out;
}

/* Entry 0 of a vector of three, which is returned; 0: the atom is something else. */
static ag_id vector_of(const ag_normal_state *s, int k, int entry) {
  const ag_node *n = &s->g->nodes[s->atoms[k].x];
  ag_id v = n->op == AG_OP_ENTRY ? ag_node_arg(s->g, s->atoms[k].x, 0) : 0;
  return v && n->payload.at.i == entry && ag_node_rows(s->g, v) == 3 && ag_node_cols(s->g, v) == 1 ? v : 0;
}

/* The number of the term of p that is t with the entries number 0 of x and y replaced by those number n, or -1. */
static int find_partner(const ag_normal_state *s, ag_poly p, const ag_term *t, int kx, int ky, int n) {
  ag_term want = *t;
  ag_id x = ag_node_arg(s->g, s->atoms[kx].x, 0), y = ag_node_arg(s->g, s->atoms[ky].x, 0);
  want.e[kx]--, want.e[ky]--;
  int found = 0;
  for (int k = 0; k < s->n_atom; k++) {
    ag_id v = vector_of(s, k, n);
    if (v == x) want.e[k]++, found++;
    if (v && v == y) want.e[k]++, found++;
  }
  for (int i = 0; i < p.n && found == 2; i++)
    if (p.t[i].num == want.num && p.t[i].den == want.den && !memcmp(p.t[i].e, want.e, sizeof want.e)) return i;
  return -1;
}

/* One sum x[1]*y[1] + x[2]*y[2] + x[3]*y[3] as dot(x, y); false when there is none. */
static bool dot_once(ag_normal_state *s, ag_poly *p) {
  for (int i = 0; i < p->n; i++)
    for (int kx = 0; kx < s->n_atom; kx++)
      for (int ky = kx; ky < s->n_atom; ky++) {
        const ag_term t = p->t[i];
        if (t.e[kx] < 1 + (kx == ky) || t.e[ky] < 1 || !vector_of(s, kx, 0) || !vector_of(s, ky, 0)) continue;
        int j = find_partner(s, *p, &t, kx, ky, 1), k = find_partner(s, *p, &t, kx, ky, 2);
        if (j < 0 || k < 0) continue;
        ag_id x = vector_of(s, kx, 0), y = vector_of(s, ky, 0), dot = ag_dot(s->g, x, y);
        ag_term rest = t;
        rest.e[kx]--, rest.e[ky]--;
        int atom = s->g->nodes[dot].op == AG_OP_DOT ? ag_normal_atom(s, dot, AG_ATOM_PLAIN) : -1;
        ag_poly value = atom < 0 ? ag_normal_read(s, dot) : ag_poly_atom(s->a, atom, 1), q = {0, NULL};
        if (value.n < 0) continue;
        for (int n = 0; n < p->n; n++)
          if (n != i && n != j && n != k) q = ag_poly_add(s->a, q, ag_poly_term(s->a, &p->t[n]));
        *p = ag_poly_add(s->a, q, ag_poly_mul(s->a, ag_poly_term(s->a, &rest), value));
        return true;
      }
  return false;
}

/* The number of the term of p that is t with its factors x and y replaced by u and v, up to the sign; or -1. */
static int find_turned(ag_poly p, const ag_term *t, int x, int y, int u, int v, int *sign) {
  ag_term want = *t;
  want.e[x]--, want.e[y]--, want.e[u]++, want.e[v]++;
  for (int i = 0; i < p.n; i++) {
    bool same = p.t[i].num == want.num || p.t[i].num == -want.num;
    if (!same || p.t[i].den != want.den || memcmp(p.t[i].e, want.e, sizeof want.e)) continue;
    *sign = p.t[i].num == want.num ? 1 : -1;
    return i;
  }
  return -1;
}

/* Terms i and j of p, which are t x y and +-t times the other product of an addition theorem, become t times the sine
 * or cosine (op) of a + b or, with minus, a - b. The angle that was declared last comes first. */
static bool join_angles(ag_normal_state *s, ag_poly *p, int i, int j, int x, int y, ag_op op, bool minus, ag_id a,
                        ag_id b) {
  ag_term rest = p->t[i];
  rest.e[x]--, rest.e[y]--;
  if (minus && a < b && op == AG_OP_SIN) rest.num = -rest.num;
  ag_id first = a > b ? a : b, second = a > b ? b : a;
  ag_id angle = minus ? ag_sub(s->g, first, second) : ag_add(s->g, first, second);
  int atom = ag_normal_atom(s, ag_apply1(s->g, op, angle), AG_ATOM_PLAIN);
  ag_poly q = {0, NULL};
  if (atom < 0) return false;
  for (int n = 0; n < p->n; n++)
    if (n != i && n != j) q = ag_poly_add(s->a, q, ag_poly_term(s->a, &p->t[n]));
  *p = ag_poly_add(s->a, q, ag_poly_mul(s->a, ag_poly_term(s->a, &rest), ag_poly_atom(s->a, atom, 1)));
  return true;
}

/* cos a cos b + sin a sin b = cos(a - b), sin a cos b - cos a sin b = sin(a - b), and with the other signs; false when
 * there is none. */
static bool angle_once(ag_normal_state *s, ag_poly *p) {
  for (int i = 0; i < p->n; i++)
    for (int c = 0; c < s->n_atom; c++)
      for (int d = 0; d < s->n_atom; d++) {
        const ag_term t = p->t[i];
        int sign = 0, sc = s->atoms[c].partner, sd = s->atoms[d].partner, j;
        if (c == d || s->atoms[c].kind != AG_ATOM_COS || s->atoms[d].kind != AG_ATOM_COS || t.e[d] < 1) continue;
        ag_id a = ag_node_arg(s->g, s->atoms[c].x, 0), b = ag_node_arg(s->g, s->atoms[d].x, 0);
        if (c < d && t.e[c] > 0 && (j = find_turned(*p, &t, c, d, sc, sd, &sign)) >= 0 &&
            join_angles(s, p, i, j, c, d, AG_OP_COS, sign > 0, a, b))
          return true;
        if (t.e[sc] > 0 && (j = find_turned(*p, &t, sc, d, c, sd, &sign)) >= 0 &&
            join_angles(s, p, i, j, sc, d, AG_OP_SIN, sign < 0, a, b))
          return true;
      }
  return false;
}

/* The rotation that atom k is an entry of, and where; 0: it is something else. */
static ag_id rotation_of(const ag_normal_state *s, int k, int *i, int *j) {
  const ag_node *n = &s->g->nodes[s->atoms[k].x];
  ag_id R = n->op == AG_OP_ENTRY ? ag_node_arg(s->g, s->atoms[k].x, 0) : 0;
  if (!R || s->g->nodes[R].op != AG_OP_INPUT || !ag_is_rotation(s->g, R)) return 0;
  *i = n->payload.at.i;
  *j = n->payload.at.j;
  return R;
}

static int entry_atom(const ag_normal_state *s, ag_id R, int i, int j) {
  int row = 0, col = 0;
  for (int k = 0; k < s->n_atom; k++)
    if (rotation_of(s, k, &row, &col) == R && row == i && col == j) return k;
  return -1;
}

/* Atoms x and y are R[a,c] and R[b,d] in other rows and columns: the atoms u and v of R[a,d] and R[b,c], and the entry
 * that R[a,c] R[b,d] - R[a,d] R[b,c] is, the one in the row and column left over, with its sign. */
static bool minor_of(ag_normal_state *s, int x, int y, int *u, int *v, ag_poly *entry) {
  int a, b, c, d;
  ag_id R = rotation_of(s, x, &a, &c);
  if (!R || rotation_of(s, y, &b, &d) != R || a == b || c == d) return false;
  *u = entry_atom(s, R, a, d);
  *v = entry_atom(s, R, b, c);
  if (*u < 0 || *v < 0) return false;
  bool even = ((b - a + 3) % 3 == 1) == ((d - c + 3) % 3 == 1); /* rows and columns in the same cyclic order */
  ag_poly p = ag_normal_read(s, ag_entry(s->g, R, 3 - a - b, 3 - c - d));
  *entry = even ? p : ag_poly_sub(s->a, (ag_poly){0, NULL}, p);
  return p.n >= 0;
}

/* One difference R[1,1]*R[2,2] - R[1,2]*R[2,1] as R[3,3]: a rotation is the matrix of its own minors. */
static bool minor_once(ag_normal_state *s, ag_poly *p) {
  for (int i = 0; i < p->n; i++)
    for (int x = 0; x < s->n_atom; x++)
      for (int y = x + 1; y < s->n_atom && p->t[i].e[x] > 0; y++) {
        const ag_term t = p->t[i];
        int u, v, sign = 0, j;
        ag_poly entry, q = {0, NULL};
        if (t.e[y] < 1 || !minor_of(s, x, y, &u, &v, &entry)) continue;
        j = find_turned(*p, &t, x, y, u, v, &sign);
        if (j < 0 || sign > 0) continue;
        ag_term rest = t;
        rest.e[x]--, rest.e[y]--;
        for (int n = 0; n < p->n; n++)
          if (n != i && n != j) q = ag_poly_add(s->a, q, ag_poly_term(s->a, &p->t[n]));
        *p = ag_poly_add(s->a, q, ag_poly_mul(s->a, ag_poly_term(s->a, &rest), entry));
        return true;
      }
  return false;
}

/* Terms of p that are t with its factors R[a,c] and R[b,c] replaced by those of another column: their numbers. With
 * `turned` rows and columns change places. */
static bool find_products(ag_normal_state *s, ag_poly p, const ag_term *t, int x, int y, bool turned, int *found) {
  int a, b, c, d, n = 0;
  ag_id R = rotation_of(s, x, &a, &c);
  if (!R || rotation_of(s, y, &b, &d) != R || (turned ? a != b : c != d)) return false;
  for (int k = 0; k < 3; k++) {
    int sign = 0, u = turned ? entry_atom(s, R, k, c) : entry_atom(s, R, a, k);
    int v = turned ? entry_atom(s, R, k, d) : entry_atom(s, R, b, k);
    if (k == (turned ? a : c)) continue;
    int i = u < 0 || v < 0 ? -1 : find_turned(p, t, x, y, u, v, &sign);
    if (i < 0 || sign < 0) return false;
    found[n++] = i;
  }
  return true;
}

/* One sum R[1,1]*R[2,1] + R[1,2]*R[2,2] + R[1,3]*R[2,3], which is 0, or R[1,1]^2 + R[2,1]^2 + R[3,1]^2, which is 1. */
static bool product_once(ag_normal_state *s, ag_poly *p) {
  for (int i = 0; i < p->n; i++)
    for (int x = 0; x < s->n_atom; x++)
      for (int y = x; y < s->n_atom && p->t[i].e[x] > 0; y++) {
        ag_term rest = p->t[i];
        int found[2];
        if (rest.e[x] < 1 + (x == y) || rest.e[y] < 1) continue;
        if (!find_products(s, *p, &rest, x, y, false, found) && !find_products(s, *p, &rest, x, y, true, found))
          continue;
        rest.e[x]--, rest.e[y]--;
        ag_poly q = x == y ? ag_poly_term(s->a, &rest) : (ag_poly){0, NULL};
        for (int n = 0; n < p->n; n++)
          if (n != i && n != found[0] && n != found[1]) q = ag_poly_add(s->a, q, ag_poly_term(s->a, &p->t[n]));
        *p = q;
        return true;
      }
  return false;
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
  ag_poly minors = p;
  bool any = false;
  for (int round = 0; round < MAX_MINORS && minors.n >= 2; round++, any = true)
    if (!product_once(s, &minors) && !minor_once(s, &minors)) break;
  if (any) try_form(s, &b, ag_normal_settle(s, minors));
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
  ag_poly dotted = b.p;
  any = false;
  for (int round = 0; b.x && round < MAX_DOTS && dotted.n >= 3 && dot_once(s, &dotted); round++) any = true;
  if (any) try_form(s, &b, dotted);
  ag_poly joined[2] = {p, b.p};
  for (int k = 0; k < 2 && b.x; k++) {
    any = false;
    for (int round = 0; round < MAX_DOTS && joined[k].n >= 2 && angle_once(s, &joined[k]); round++) any = true;
    if (any) try_form(s, &b, joined[k]);
  }
  *size = b.size;
  return b.x;
}
