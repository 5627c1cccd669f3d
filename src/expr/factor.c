/* SPDX-License-Identifier: MIT
 * Fewer operations for sums of products. c, d depend on parameters alone, so that their products and sums cost nothing
 * per evaluation; * marks what is used once.
 *
 *   c (d x) = (c d) x                         d x may have no other use then
 *   u (c y) = c (u y)                         where u y is needed anyway, and c y for nothing else
 *   c x* + d x* = (c + d) x
 *   a (x y)* + a z = a (x y + z)              x y + z is one operation
 *   c ((x + d) y + z)* - (c d) y* = c (x y + z)
 *   b - a = -(a - b)                          where a - b is there and the sign goes into sums
 *
 * Every rule holds for differences, too. The nodes are read in order and written anew, each value once; what is left
 * without a use is dropped. The result is taken if it has fewer operations. Linear in the number of nodes. */
#include <stdlib.h>
#include <string.h>

#include "expr/tape_internal.h"

enum { NO_NODE = UINT32_MAX };

typedef ag_tnode tnode;

typedef struct table { /* open addressing, at most half full */
  struct place {
    uint32_t node, hash; /* NO_NODE: empty */
  } * at;
  uint32_t mask, n;
} table;

typedef struct factoring {
  const ag_tnodes *old;
  uint32_t *uses;  /* of the old nodes */
  bool *takes;     /* does a sign go into the users? */
  bool *scattered; /* c y, whose users all take c and y apart */
  table products;  /* of the old nodes */
  ag_tnodes new;
  uint32_t cap, *now; /* old node: the new one */
  bool *minus;        /* it is the negative of the new one */
  table values;       /* of the new nodes */
} factoring;

/* ---- looking up ---- */

static bool commutes(uint16_t op) { return op == AG_OP_ADD || op == AG_OP_MUL; }

static uint32_t hash_of(uint16_t op, uint32_t a, uint32_t b) {
  uint32_t h = (op * 0x9E3779B9u ^ a) * 0x85EBCA6Bu;
  h = (h ^ h >> 15 ^ b) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

/* The place of a node, or where it would be put. */
static struct place *place_of(const table *t, const tnode *nodes, uint16_t op, uint32_t a, uint32_t b) {
  const uint32_t h = hash_of(op, a, b);
  for (uint32_t i = h & t->mask;; i = (i + 1) & t->mask) {
    struct place *p = &t->at[i];
    if (p->node == NO_NODE) return p;
    const tnode *x = &nodes[p->node];
    if (p->hash == h && x->op == op && x->arg[0] == a && x->arg[1] == b) return p;
  }
}

static uint32_t find(const table *t, const tnode *nodes, uint16_t op, uint32_t a, uint32_t b) {
  return place_of(t, nodes, op, a, b)->node;
}

static bool has_product(const table *t, const tnode *nodes, uint32_t a, uint32_t b) {
  return find(t, nodes, AG_OP_MUL, a, b) != NO_NODE || find(t, nodes, AG_OP_MUL, b, a) != NO_NODE;
}

static table table_create(uint32_t n) {
  table t = {.mask = 15};
  while (t.mask < 2 * n) t.mask = 2 * t.mask + 1;
  t.at = ag_heap_alloc(sizeof *t.at * ((size_t)t.mask + 1));
  memset(t.at, 0xff, sizeof *t.at * ((size_t)t.mask + 1));
  return t;
}

/* The node goes to the place that was found for it. */
static void insert(table *t, struct place *p, const tnode *x, uint32_t node) {
  t->n += p->node == NO_NODE;
  *p = (struct place){node, hash_of(x->op, x->arg[0], x->arg[1])};
  if (t->n <= t->mask / 2) return;
  table larger = table_create(t->mask);
  larger.n = t->n;
  for (uint32_t k = 0; k <= t->mask; k++) {
    uint32_t i = t->at[k].hash & larger.mask;
    if (t->at[k].node == NO_NODE) continue;
    while (larger.at[i].node != NO_NODE) i = (i + 1) & larger.mask;
    larger.at[i] = t->at[k];
  }
  free(t->at);
  *t = larger;
}

/* ---- the old nodes ---- */

static bool is_prep(const ag_tnodes *t, uint32_t i) { return t->at[i].part == AG_PART_PREP; }

/* c y of an evaluation: the places of c and y among its arguments. */
static bool is_scaled(const ag_tnodes *t, uint32_t i, int *c) {
  const tnode *x = &t->at[i];
  if (x->op != AG_OP_MUL || x->part == AG_PART_PREP) return false;
  *c = is_prep(t, x->arg[1]);
  return *c || is_prep(t, x->arg[0]);
}

/* Node i is u (c y), and u y is needed otherwise: the place of c y; -1: it is not. */
static int scattered_side(const factoring *f, uint32_t i) {
  const tnode *x = &f->old->at[i];
  int c[2] = {0}, side = -1;
  for (int k = 0; k < 2; k++) {
    if (is_prep(f->old, x->arg[k])) return -1;
    if (is_scaled(f->old, x->arg[k], &c[k])) side = side < 0 ? k : 2;
  }
  if (side < 0 || side > 1) return -1;
  const uint32_t y = f->old->at[x->arg[side]].arg[!c[side]];
  return has_product(&f->products, f->old->at, x->arg[!side], y) ? side : -1;
}

static void use(factoring *f, uint32_t user, uint32_t k) {
  const tnode *x = &f->old->at[user];
  const uint32_t a = x->arg[k];
  int c;
  f->uses[a]++;
  if (x->op != AG_OP_MUL) f->scattered[a] = false;
  else if (!is_prep(f->old, x->arg[!k]) && scattered_side(f, user) != (int)k) f->scattered[a] = false;
  if (!is_scaled(f->old, a, &c)) f->scattered[a] = false;
  const bool taken = (x->op == AG_OP_MUL && f->takes[user]) || x->op == AG_OP_ADD || (x->op == AG_OP_SUB && k == 1);
  if (!taken || x->arg[0] == x->arg[1]) f->takes[a] = false;
}

/* What is known of the old nodes, users first. */
static void look(factoring *f) {
  const ag_tnodes *t = f->old;
  f->products = table_create(t->n / 4);
  for (uint32_t i = 0; i < t->n; i++) {
    f->takes[i] = f->scattered[i] = true;
    if (t->at[i].op != AG_OP_MUL) continue;
    struct place *p = place_of(&f->products, t->at, AG_OP_MUL, t->at[i].arg[0], t->at[i].arg[1]);
    insert(&f->products, p, &t->at[i], i);
  }
  for (uint32_t i = 0; i < t->n_ref; i++)
    f->uses[t->refs[i]]++, f->takes[t->refs[i]] = f->scattered[t->refs[i]] = false;
  for (uint32_t i = t->n; i-- > 0;)
    for (uint32_t k = 0; k < t->at[i].n_arg; k++) use(f, i, k);
}

/* ---- the new nodes ---- */

static uint32_t put(factoring *f, const tnode *x) {
  AG_PUSH(f->new.at, f->new.n, f->cap);
  f->new.at[f->new.n] = *x;
  return f->new.n++;
}

static uint32_t make(factoring *f, uint16_t op, uint32_t a, uint32_t b) {
  if (commutes(op) && b < a) {
    uint32_t swap = a;
    a = b, b = swap;
  }
  struct place *p = place_of(&f->values, f->new.at, op, a, b);
  if (p->node != NO_NODE) return p->node;
  const uint8_t part = is_prep(&f->new, a) && is_prep(&f->new, b) ? AG_PART_PREP : AG_PART_EVAL;
  const uint32_t node = put(f, &(tnode){.op = op, .part = part, .n_arg = 2, .need = 1, .arg = {a, b}});
  insert(&f->values, p, &f->new.at[node], node);
  return node;
}

/* a b, numbers that depend on parameters alone together. */
static uint32_t multiply(factoring *f, uint32_t a, uint32_t b) {
  const uint32_t number = is_prep(&f->new, a) ? a : b, other = number == a ? b : a;
  int c;
  if (!is_prep(&f->new, number) || !is_scaled(&f->new, other, &c)) return make(f, AG_OP_MUL, a, b);
  const uint32_t d = f->new.at[other].arg[c], y = f->new.at[other].arg[!c];
  return make(f, AG_OP_MUL, make(f, AG_OP_MUL, number, d), y);
}

static uint32_t write_product(factoring *f, uint32_t i) {
  const tnode *x = &f->old->at[i];
  const int side = scattered_side(f, i);
  f->minus[i] = f->minus[x->arg[0]] != f->minus[x->arg[1]];
  if (side < 0 || !f->scattered[x->arg[side]]) return multiply(f, f->now[x->arg[0]], f->now[x->arg[1]]);
  const tnode *scaled = &f->old->at[x->arg[side]];
  int c = is_prep(f->old, scaled->arg[1]);
  const uint32_t rest = multiply(f, f->now[x->arg[!side]], f->now[scaled->arg[!c]]);
  return multiply(f, f->now[scaled->arg[c]], rest);
}

static bool is_product_once(const factoring *f, uint32_t i) {
  return f->old->at[i].op == AG_OP_MUL && f->uses[i] == 1 && !is_prep(f->old, i);
}

/* A product, or a sum that has become one, as the beginning of a longer sum. */
static bool is_term_once(const factoring *f, uint32_t i) {
  const bool sum = f->old->at[i].op == AG_OP_ADD || f->old->at[i].op == AG_OP_SUB;
  return is_product_once(f, i) || (sum && f->uses[i] == 1 && !is_prep(f->old, i));
}

/* Two terms, old ones, that each are used here alone, with a common factor: op is applied to the others. NO_NODE: they
 * have none, or it would not be shorter. */
static uint32_t write_joined(factoring *f, uint16_t op, uint32_t i, uint32_t j) {
  if (!is_term_once(f, i) || !is_term_once(f, j)) return NO_NODE;
  const tnode *p = &f->new.at[f->now[i]], *q = &f->new.at[f->now[j]];
  if (p->op != AG_OP_MUL || q->op != AG_OP_MUL) return NO_NODE;
  for (int k = 0; k < 4; k++) {
    const uint32_t a = p->arg[k & 1], x = p->arg[!(k & 1)], y = q->arg[!(k >> 1)];
    if (q->arg[k >> 1] != a) continue;
    bool shorter = is_prep(&f->new, x) && is_prep(&f->new, y);
    for (int s = 0; s < 2 && !shorter; s++)
      shorter = (f->now[f->old->at[i].arg[s]] == x && is_product_once(f, f->old->at[i].arg[s])) ||
                (f->now[f->old->at[j].arg[s]] == y && is_product_once(f, f->old->at[j].arg[s]));
    if (shorter) return multiply(f, a, make(f, op, x, y));
  }
  return NO_NODE;
}

/* x of x + d or x - d = node i, d a number that depends on parameters alone, c d = e; NO_NODE: it is not that. *minus:
 * it is x - d. */
static uint32_t without_offset(const factoring *f, uint32_t i, uint32_t c, uint32_t e, bool *minus) {
  const tnode *sum = &f->new.at[i];
  *minus = sum->op == AG_OP_SUB;
  if (sum->op != AG_OP_ADD && !*minus) return NO_NODE;
  for (int k = *minus; k < 2; k++) {
    const uint32_t d = sum->arg[k], low = c < d ? c : d;
    if (is_prep(&f->new, d) && find(&f->values, f->new.at, AG_OP_MUL, low, c + d - low) == e) return sum->arg[!k];
  }
  return NO_NODE;
}

/* c P + e y or c P - e y, new nodes: an offset d of a factor of y in P, with c d = e, that the other term takes away.
 * NO_NODE: there is none. */
static uint32_t write_offset(factoring *f, uint16_t op, uint32_t c, uint32_t P, uint32_t e, uint32_t y) {
  const tnode sum = f->new.at[P];
  if ((sum.op != AG_OP_ADD && sum.op != AG_OP_SUB) || !is_prep(&f->new, c) || !is_prep(&f->new, e)) return NO_NODE;
  for (int k = 0; k < 4; k++) {
    const tnode *product = &f->new.at[sum.arg[k & 1]];
    bool minus;
    if (product->op != AG_OP_MUL || product->arg[k >> 1] != y) continue;
    const uint32_t x = without_offset(f, product->arg[!(k >> 1)], c, e, &minus), rest = sum.arg[!(k & 1)];
    const bool taken = (sum.op == AG_OP_SUB && (k & 1)) != minus; /* -c d y is part of c P */
    if (x == NO_NODE || taken != (op == AG_OP_ADD)) continue;
    const uint32_t now = multiply(f, x, y);
    return multiply(f, c, k & 1 ? make(f, sum.op, rest, now) : make(f, sum.op, now, rest));
  }
  return NO_NODE;
}

/* The same for two terms, old ones, that each are used here alone. */
static uint32_t write_shifted(factoring *f, uint16_t op, uint32_t i, uint32_t j) {
  const tnode p = f->new.at[f->now[i]], q = f->new.at[f->now[j]];
  if (!is_term_once(f, i) || !is_term_once(f, j) || p.op != AG_OP_MUL || q.op != AG_OP_MUL) return NO_NODE;
  uint32_t found = NO_NODE;
  for (int k = 0; k < 4 && found == NO_NODE; k++) {
    found = write_offset(f, op, p.arg[k & 1], p.arg[!(k & 1)], q.arg[k >> 1], q.arg[!(k >> 1)]);
    if (found == NO_NODE && op == AG_OP_ADD)
      found = write_offset(f, op, q.arg[k & 1], q.arg[!(k & 1)], p.arg[k >> 1], p.arg[!(k >> 1)]);
  }
  return found;
}

/* x + y or x - y with the signs that x and y have by now. */
static uint32_t write_sum(factoring *f, uint32_t i) {
  const tnode *x = &f->old->at[i];
  uint32_t a = x->arg[0], b = x->arg[1], swap = a;
  const bool first = f->minus[a], second = f->minus[b] != (x->op == AG_OP_SUB);
  f->minus[i] = first && second;
  if (first && !second) a = b, b = swap;
  const uint16_t op = first == second ? AG_OP_ADD : AG_OP_SUB;
  uint32_t shorter = write_joined(f, op, a, b);
  if (shorter == NO_NODE) shorter = write_shifted(f, op, a, b);
  if (shorter != NO_NODE) return shorter;
  a = f->now[a], b = f->now[b];
  if (op == AG_OP_SUB && f->takes[i] && find(&f->values, f->new.at, AG_OP_SUB, a, b) == NO_NODE) {
    const uint32_t twin = find(&f->values, f->new.at, AG_OP_SUB, b, a);
    f->minus[i] = twin != NO_NODE;
    if (twin != NO_NODE) return twin;
  }
  return make(f, op, a, b);
}

/* The new node with the value of an old one, its sign included. */
static uint32_t plain(factoring *f, uint32_t i) {
  if (!f->minus[i]) return f->now[i];
  return put(f,
             &(tnode){.op = AG_OP_NEG, .part = f->new.at[f->now[i]].part, .n_arg = 1, .need = 1, .arg = {f->now[i]}});
}

static void write(factoring *f, uint32_t i) {
  tnode x = f->old->at[i];
  if (x.op == AG_OP_MUL) {
    f->now[i] = write_product(f, i);
  } else if (x.op == AG_OP_ADD || x.op == AG_OP_SUB) {
    f->now[i] = write_sum(f, i);
  } else {
    for (int k = 0; k < x.n_arg; k++) x.arg[k] = plain(f, x.arg[k]);
    if (x.op == AG_OP_PICK) x.arg[0] = f->now[x.arg[0]];
    f->now[i] = put(f, &x);
  }
}

/* ---- choosing ---- */

/* Drops what is not used, and counts the operations of an evaluation, a product that a sum swallows not counted. */
static int settle(const ag_tnodes *t, uint32_t *uses) {
  int n = 0;
  memset(uses, 0, sizeof *uses * t->n);
  for (uint32_t i = 0; i < t->n_ref; i++) uses[t->refs[i]]++;
  for (uint32_t i = t->n; i-- > 0;) {
    tnode *x = &t->at[i];
    const bool sum = x->op == AG_OP_ADD || x->op == AG_OP_SUB,
               operation = sum || x->op == AG_OP_MUL || x->op == AG_OP_NEG;
    if (operation && !uses[i]) *x = (tnode){.op = AG_OP_CONST, .part = AG_PART_PREP};
    for (int k = 0; k < x->n_arg; k++) uses[x->arg[k]]++;
    n += x->n_arg > 0 && x->part == AG_PART_EVAL;
  }
  for (uint32_t i = 0; i < t->n; i++) {
    const tnode *x = &t->at[i];
    bool swallows = false;
    for (int k = 0; k < 2 && x->part == AG_PART_EVAL && (x->op == AG_OP_ADD || x->op == AG_OP_SUB); k++) {
      const tnode *y = &t->at[x->arg[k]];
      swallows = swallows || (y->op == AG_OP_MUL && y->part == AG_PART_EVAL && uses[x->arg[k]] == 1);
    }
    n -= swallows;
  }
  return n;
}

static void *zeroed(size_t size, uint32_t n) { return ag_heap_alloc(size * ((size_t)n + 1)); }

void ag_factor(ag_tnodes *nodes) {
  const uint32_t n = nodes->n;
  factoring f = {.old = nodes,
                 .uses = zeroed(sizeof(uint32_t), n),
                 .takes = zeroed(sizeof(bool), n),
                 .scattered = zeroed(sizeof(bool), n),
                 .now = zeroed(sizeof(uint32_t), n),
                 .minus = zeroed(sizeof(bool), n),
                 .values = table_create(n / 2)};
  look(&f);
  for (uint32_t i = 0; i < n; i++) write(&f, i);
  f.new.n_ref = nodes->n_ref;
  f.new.refs = zeroed(sizeof(uint32_t), nodes->n_ref);
  for (uint32_t i = 0; i < nodes->n_ref; i++) f.new.refs[i] = plain(&f, nodes->refs[i]);
  uint32_t *uses = zeroed(sizeof(uint32_t), f.new.n);
  const int before = settle(nodes, f.uses), after = settle(&f.new, uses);
  if (after < before) {
    tnode *swap = nodes->at;
    nodes->at = f.new.at, nodes->n = f.new.n, f.new.at = swap;
    memcpy(nodes->refs, f.new.refs, sizeof *nodes->refs * nodes->n_ref);
  }
  free(f.uses), free(f.takes), free(f.scattered), free(f.now), free(f.minus), free(f.values.at), free(f.products.at);
  free(f.new.at), free(f.new.refs), free(uses);
}
