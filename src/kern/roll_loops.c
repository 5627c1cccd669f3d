/* SPDX-License-Identifier: MIT
 * Batches -> loops. The members of a batch are ordered so that the position of what member k reads is a + b k. Where
 * that would need a table, the batch is divided if its parts need none: components of bodies that are interleaved, or
 * in sequence. Batches of equal length then share a loop if member k reads only members k of the others in it. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "kern/roll.h"

enum { NONE = AG_CGEN_NONE };
enum { MAX_PARTS = 12, MAX_TRIED = 12, MAX_LOOP = 400 };

ag_roll_group *ag_roll_member(const ag_roll *r, const ag_roll_batch *b, uint32_t m) {
  return &r->groups[r->members.at[b->member + m]];
}

uint32_t ag_roll_leaf(const ag_roll *r, const ag_roll_batch *b, uint32_t m, uint32_t k) {
  return r->leaves.at[ag_roll_member(r, b, m)->leaf + k];
}

int ag_roll_place(const ag_roll *r, uint32_t value) {
  const ag_cgen_value *v = &r->g->values[value];
  const ag_instr *x = &r->g->tape->instr[v->instr];
  switch (ag_roll_kind_of(r, value)) {
  case AG_ROLL_S: {
    const ag_roll_group *maker = ag_roll_maker(r, value);
    const ag_roll_batch *b = &r->batches[maker->batch];
    return (int)(b->base + maker->position * b->n_result + v->entry);
  }
  case AG_ROLL_OUT: return (int)r->out_of[value];
  case AG_ROLL_CONST: return (int)x->a;
  case AG_ROLL_PREP: return v->prep;
  default: return (int)x->b;
  }
}

/* ---- order of the members ---- */

/* What a batch reads, and where it writes when that is an output: one column of places per number, rows by member. */
typedef struct grid {
  int *at;
  uint32_t n, n_col, *group;
} grid;

static uint32_t root_value(const ag_roll *r, const ag_roll_batch *b, uint32_t m) {
  return r->g->result[ag_roll_member(r, b, m)->root];
}

static grid make_grid(const ag_roll *r, const ag_roll_batch *b) {
  const ag_roll_group *first = ag_roll_member(r, b, 0);
  bool out = ag_roll_kind_of(r, root_value(r, b, 0)) == AG_ROLL_OUT;
  uint32_t *columns = ag_heap_alloc(sizeof *columns * (first->n_leaf + 1));
  grid g = {.n = b->n};
  for (uint32_t k = 0; k < first->n_leaf; k++)
    if (ag_roll_kind_of(r, ag_roll_leaf(r, b, 0, k)) != AG_ROLL_CONST) columns[g.n_col++] = k;
  uint32_t n_leaf = g.n_col;
  g.n_col += out;
  g.at = ag_heap_alloc(sizeof *g.at * ((size_t)g.n * g.n_col + 1));
  g.group = ag_heap_alloc(sizeof *g.group * g.n);
  for (uint32_t m = 0; m < g.n; m++) {
    int *row = g.at + (size_t)m * g.n_col;
    g.group[m] = r->members.at[b->member + m];
    for (uint32_t k = 0; k < n_leaf; k++) row[k] = ag_roll_place(r, ag_roll_leaf(r, b, m, columns[k]));
    if (out) row[n_leaf] = ag_roll_place(r, root_value(r, b, m));
  }
  free(columns);
  return g;
}

typedef struct sorted {
  int key;
  uint32_t row;
} sorted;

static int by_key(const void *a, const void *b) {
  const sorted *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Rows in the order of one column; equal ones stay in the order they had. */
static grid sort_grid(const grid *g, uint32_t column) {
  sorted *list = ag_heap_alloc(sizeof *list * g->n);
  grid to = {.n = g->n, .n_col = g->n_col};
  to.at = ag_heap_alloc(sizeof *to.at * ((size_t)g->n * g->n_col + 1));
  to.group = ag_heap_alloc(sizeof *to.group * g->n);
  for (uint32_t m = 0; m < g->n; m++) list[m] = (sorted){g->at[(size_t)m * g->n_col + column], m};
  qsort(list, g->n, sizeof *list, by_key);
  for (uint32_t m = 0; m < g->n; m++) {
    to.group[m] = g->group[list[m].row];
    memcpy(to.at + (size_t)m * g->n_col, g->at + (size_t)list[m].row * g->n_col, sizeof *to.at * g->n_col);
  }
  free(list);
  return to;
}

static void drop_grid(grid *g) { free(g->at), free(g->group); }

/* Are rows a, b, c equally spaced? */
static bool even(const grid *g, uint32_t a, uint32_t b, uint32_t c) {
  const int *x = g->at + (size_t)a * g->n_col, *y = g->at + (size_t)b * g->n_col, *z = g->at + (size_t)c * g->n_col;
  for (uint32_t k = 0; k < g->n_col; k++)
    if (y[k] - x[k] != z[k] - y[k]) return false;
  return true;
}

/* The smallest p such that every p-th row together needs no table; 0: none. */
static uint32_t period(const grid *g) {
  for (uint32_t p = 1; p <= MAX_PARTS && g->n / p >= AG_ROLL_MIN_LOOP; p++) {
    bool good = g->n % p == 0;
    for (uint32_t m = 0; m + 2 * p < g->n && good; m++) good = even(g, m, m + p, m + 2 * p);
    if (good) return p;
  }
  return 0;
}

/* Rows one after the other that need no table: how many stretches, and where each begins. 0: too many. */
static uint32_t stretches(const grid *g, uint32_t begins[MAX_PARTS]) {
  uint32_t n = 0;
  for (uint32_t m = 0; m < g->n;) {
    if (n == MAX_PARTS || g->n < AG_ROLL_MIN_LOOP * (n + 1)) return 0;
    begins[n++] = m;
    uint32_t end = m + 2;
    while (end < g->n && even(g, end - 2, end - 1, end)) end++;
    m = end;
  }
  return n;
}

/* How many columns need a table. */
static uint32_t n_table(const grid *g) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < g->n_col; k++)
    for (uint32_t m = 0; m + 2 < g->n; m++) {
      const int *x = g->at + (size_t)m * g->n_col + k;
      if (x[g->n_col] - x[0] == x[2 * g->n_col] - x[g->n_col]) continue;
      n++;
      break;
    }
  return n;
}

/* The best order found so far: no tables at the price of few parts, or few tables. */
typedef struct choice {
  grid g;
  uint32_t cost, period, n_stretch, begins[MAX_PARTS];
} choice;

static void consider(choice *best, grid g) {
  choice c = {.g = g, .period = period(&g)};
  if (c.period == 0) c.n_stretch = stretches(&g, c.begins);
  c.cost = c.period ? c.period : c.n_stretch ? 2 * c.n_stretch : 100 + n_table(&g);
  if (best->cost > c.cost) {
    drop_grid(&best->g);
    *best = c;
  } else {
    drop_grid(&g);
  }
}

/* ---- new batches ---- */

typedef struct arranger {
  ag_roll *r;
  uint32_t n_s; /* places given, none given back: only their distances matter here */
} arranger;

static ag_roll_batch *new_batch(arranger *a, const ag_roll_batch *like) {
  ag_roll *r = a->r;
  int n = (int)r->n_batch;
  AG_PUSH(r->batches, n, r->cap_batch);
  r->batches[n] = (ag_roll_batch){.member = r->members.n, .n_result = like->n_result, .base = a->n_s};
  return &r->batches[r->n_batch++];
}

static void add_member(arranger *a, uint32_t group) {
  ag_roll *r = a->r;
  ag_roll_batch *b = &r->batches[r->n_batch - 1];
  ag_roll_push(&r->members, group);
  r->groups[group].batch = r->n_batch - 1;
  r->groups[group].position = b->n++;
  a->n_s += b->n_result;
}

/* A planned batch, its members in old_members, becomes one or several. */
static void arrange(arranger *a, const ag_roll_batch *old, const uint32_t *old_members) {
  ag_roll *r = a->r;
  ag_roll_batch *b = new_batch(a, old);
  for (uint32_t m = 0; m < old->n; m++) add_member(a, old_members[m]);
  if (old->n < AG_ROLL_MIN_LOOP || ag_roll_member(r, b, 0)->n_segment > 0) return;
  choice best = {.cost = NONE};
  grid g = make_grid(r, b);
  for (uint32_t k = 0; k < g.n_col && k < MAX_TRIED && best.cost > 1; k++)
    if (g.at[k] != g.at[g.n_col + k] || k + 1 == g.n_col) consider(&best, sort_grid(&g, k));
  if (best.cost > 1) consider(&best, g);
  else drop_grid(&g);
  r->n_batch--; /* once more, in the best order */
  r->members.n -= old->n;
  a->n_s -= old->n * old->n_result;
  if (best.period) {
    for (uint32_t p = 0; p < best.period; p++) {
      new_batch(a, old);
      for (uint32_t m = p; m < old->n; m += best.period) add_member(a, best.g.group[m]);
    }
  } else {
    for (uint32_t m = 0, part = 0; m < old->n; m++) {
      if (m == 0 || (part < best.n_stretch && best.begins[part] == m)) new_batch(a, old), part++;
      add_member(a, best.g.group[m]);
    }
  }
  drop_grid(&best.g);
}

/* ---- loops ---- */

typedef struct loops {
  ag_roll *r;
  ag_roll_batch *old; /* the arranged batches; r->batches gets them in their final order */
  uint32_t n, *wait;  /* per batch: batches it waits for */
  uint32_t *user_first, *users;
  uint32_t *number; /* per batch: place in the final order, or NONE */
  uint32_t *ready, n_ready;
  uint32_t first; /* of the open loop, in the final order */
  long n_loop;    /* operations in it */
} loops;

static bool is_loop(const ag_roll *r, const ag_roll_batch *b) {
  return b->n >= AG_ROLL_MIN_LOOP && ag_roll_member(r, b, 0)->n_segment == 0;
}

/* The batch that makes what member m of b reads as leaf k, or NONE. */
static uint32_t maker_of(const ag_roll *r, const ag_roll_batch *b, uint32_t m, uint32_t k) {
  uint32_t v = ag_roll_leaf(r, b, m, k);
  ag_roll_kind kind = ag_roll_kind_of(r, v);
  return kind == AG_ROLL_S || kind == AG_ROLL_OUT ? ag_roll_maker(r, v)->batch : NONE;
}

static void link_up(loops *l) {
  ag_roll *r = l->r;
  uint32_t *seen = ag_heap_alloc(sizeof *seen * (l->n + 1));
  for (int pass = 0; pass < 2; pass++) {
    memset(seen, 0, sizeof *seen * (l->n + 1));
    for (uint32_t i = 0; i < l->n; i++)
      for (uint32_t m = 0; m < l->old[i].n; m++)
        for (uint32_t k = 0; k < ag_roll_member(r, &l->old[i], m)->n_leaf; k++) {
          uint32_t maker = maker_of(r, &l->old[i], m, k);
          if (maker == NONE || seen[maker] == i + 1) continue;
          seen[maker] = i + 1;
          if (pass == 0) l->user_first[maker + 1]++, l->wait[i]++;
          else l->users[l->user_first[maker]++] = i;
        }
    if (pass == 0) {
      for (uint32_t i = 0; i < l->n; i++) l->user_first[i + 1] += l->user_first[i];
      l->users = ag_heap_alloc(sizeof *l->users * (l->user_first[l->n] + 1));
    }
  }
  for (uint32_t i = l->n; i > 0; i--) l->user_first[i] = l->user_first[i - 1];
  l->user_first[0] = 0;
  free(seen);
}

/* May batch b join the open loop? Its member k must read only members k of the others in it. */
static bool fits(const loops *l, const ag_roll_batch *b) {
  const ag_roll *r = l->r;
  if (l->n_loop == 0 || !is_loop(r, b) || r->batches[l->first].n != b->n) return false;
  if (l->n_loop + ag_roll_member(r, b, 0)->n_node > MAX_LOOP) return false;
  for (uint32_t k = 0; k < ag_roll_member(r, b, 0)->n_leaf; k++) {
    uint32_t inside = 0, maker = NONE;
    for (uint32_t m = 0; m < b->n; m++) {
      uint32_t from = maker_of(r, b, m, k);
      if (from == NONE) break;
      if (l->number[from] < l->first) continue;
      if (maker == NONE) maker = from;
      if (from != maker || ag_roll_maker(r, ag_roll_leaf(r, b, m, k))->position != m) return false;
      inside++;
    }
    if (inside > 0 && inside < b->n) return false;
  }
  return true;
}

/* The next batch: one that can join the open loop, else one of the same length, else the first. */
static uint32_t next_ready(const loops *l) {
  uint32_t best = 0, rank = 0;
  for (uint32_t i = 0; i < l->n_ready; i++) {
    const ag_roll_batch *b = &l->old[l->ready[i]];
    uint32_t now = 1;
    if (l->n_loop > 0 && b->n == l->r->batches[l->first].n && is_loop(l->r, b)) now = fits(l, b) ? 3 : 2;
    if (now > rank || (now == rank && l->ready[i] < l->ready[best])) best = i, rank = now;
  }
  return best;
}

static void place_batch(loops *l, uint32_t i) {
  ag_roll *r = l->r;
  ag_roll_batch *b = &r->batches[r->n_batch];
  *b = l->old[i];
  b->begins = !fits(l, b);
  if (b->begins) {
    l->first = r->n_batch;
    l->n_loop = 0;
  }
  if (is_loop(r, b)) l->n_loop += ag_roll_member(r, b, 0)->n_node;
  l->number[i] = r->n_batch++;
  for (uint32_t k = l->user_first[i]; k < l->user_first[i + 1]; k++)
    if (--l->wait[l->users[k]] == 0) l->ready[l->n_ready++] = l->users[k];
}

static void find_loops(ag_roll *r) {
  loops l = {.r = r, .old = r->batches, .n = r->n_batch};
  size_t n = (size_t)l.n + 2;
  l.wait = ag_heap_alloc(sizeof *l.wait * n);
  l.user_first = ag_heap_alloc(sizeof *l.user_first * n);
  l.number = ag_heap_alloc(sizeof *l.number * n);
  l.ready = ag_heap_alloc(sizeof *l.ready * n);
  memset(l.number, 0xff, sizeof *l.number * n);
  link_up(&l);
  r->batches = ag_heap_alloc(sizeof *r->batches * n);
  r->n_batch = 0;
  for (uint32_t i = 0; i < l.n; i++)
    if (l.wait[i] == 0) l.ready[l.n_ready++] = i;
  while (l.n_ready > 0) {
    uint32_t at = next_ready(&l), i = l.ready[at];
    l.ready[at] = l.ready[--l.n_ready];
    place_batch(&l, i);
  }
  AG_ASSERT(r->n_batch == l.n);
  for (uint32_t id = 0; id < r->n_group; id++) r->groups[id].batch = l.number[r->groups[id].batch];
  free(l.old), free(l.wait), free(l.user_first), free(l.users), free(l.number), free(l.ready);
}

/* The last batch that reads each. */
static void find_last(ag_roll *r) {
  for (uint32_t i = 0; i < r->n_batch; i++) r->batches[i].last = i;
  for (uint32_t i = 0; i < r->n_batch; i++)
    for (uint32_t m = 0; m < r->batches[i].n; m++)
      for (uint32_t k = 0; k < ag_roll_member(r, &r->batches[i], m)->n_leaf; k++) {
        uint32_t maker = maker_of(r, &r->batches[i], m, k);
        if (maker != NONE) r->batches[maker].last = i; /* i grows */
      }
  for (uint32_t i = 0; i < r->n_out; i++) {
    ag_roll_kind kind = ag_roll_kind_of(r, r->outs[i]);
    if (kind == AG_ROLL_S || kind == AG_ROLL_OUT) r->batches[ag_roll_maker(r, r->outs[i])->batch].last = NONE;
  }
}

void ag_roll_arrange(ag_roll *r) {
  arranger a = {.r = r};
  ag_roll_batch *old = r->batches;
  uint32_t n = r->n_batch, *members = r->members.at;
  r->batches = NULL;
  r->n_batch = 0;
  r->cap_batch = 0;
  r->members = (ag_roll_pool){0};
  for (uint32_t i = 0; i < n; i++) arrange(&a, &old[i], members + old[i].member);
  free(old);
  free(members);
  find_loops(r);
  find_last(r);
}
