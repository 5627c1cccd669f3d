/* SPDX-License-Identifier: MIT
 * Sparse symmetric matrices before there are numbers: the order of elimination, and where the entries of L are.
 *
 * The order is that of least degree on the quotient graph: an eliminated unknown is kept as an element, the list of the
 * unknowns it has joined; the degree of an unknown is bounded by the sizes of its elements outside the newest one, as
 * in Amestoy, Davis and Duff (SIAM J. Matrix Anal. Appl. 17, 1996). A multiplier takes part only when all plain
 * unknowns of its row of S are gone: the leading minors are then [M' S'^T; S' 0] with S' of full rank, never singular.
 */
#include <stdlib.h>
#include <string.h>

#include "expr/graph_internal.h"
#include "expr/vmath.h"

#define AG_LDL_FN V_IN
#include "expr/ldl.h"

/* ---- order ---- */

typedef struct list {
  int *at, n, cap;
} list;

static void push(list *l, int x) {
  AG_PUSH(l->at, l->n, l->cap);
  l->at[l->n++] = x;
}

typedef struct orderer {
  const ag_pattern *p;
  list *vars, *elements, *joined; /* per unknown: neighbours left, elements; per element: its unknowns */
  int *near_at, *near;            /* neighbours in the pattern */
  int *degree, *next, *last;      /* buckets by degree: doubly linked, -1 ends */
  int *head, least;
  int *wait;                  /* per multiplier: unknowns that must go first */
  int *mark, *outside, *seen; /* outside: of an element, unknowns not in the newest one; seen: in which step */
  unsigned char *gone, *in_bucket, *absorbed;
} orderer;

static ag_mark mark_of(const ag_pattern *p, int i) { return p->marks ? (ag_mark)p->marks[i] : AG_MARK_PLAIN; }

static void bucket_put(orderer *o, int i) {
  int d = o->degree[i];
  o->last[i] = -1;
  o->next[i] = o->head[d];
  if (o->head[d] >= 0) o->last[o->head[d]] = i;
  o->head[d] = i;
  o->in_bucket[i] = 1;
  if (d < o->least) o->least = d;
}

static void bucket_take(orderer *o, int i) {
  if (!o->in_bucket[i]) return;
  if (o->last[i] >= 0) o->next[o->last[i]] = o->next[i];
  else o->head[o->degree[i]] = o->next[i];
  if (o->next[i] >= 0) o->last[o->next[i]] = o->last[i];
  o->in_bucket[i] = 0;
}

static void orderer_init(orderer *o, const ag_pattern *p) {
  size_t n = (size_t)p->n + 1, size = sizeof(int) * n;
  *o = (orderer){.p = p, .least = p->n};
  int **numbers[] = {&o->degree, &o->next, &o->last, &o->head, &o->wait, &o->mark, &o->outside, &o->seen, &o->near_at};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = ag_heap_alloc(size);
  o->vars = ag_heap_alloc(sizeof(list) * n);
  o->elements = ag_heap_alloc(sizeof(list) * n);
  o->joined = ag_heap_alloc(sizeof(list) * n);
  o->near = ag_heap_alloc(sizeof(int) * (2 * (size_t)p->n_entry + 1));
  o->gone = ag_heap_alloc(n);
  o->in_bucket = ag_heap_alloc(n);
  o->absorbed = ag_heap_alloc(n);
  for (int k = 0; k < p->n_entry; k++) {
    if (p->row[k] == p->col[k]) continue;
    push(&o->vars[p->row[k]], p->col[k]);
    push(&o->vars[p->col[k]], p->row[k]);
  }
  for (int i = 0; i < p->n; i++) {
    o->near_at[i + 1] = o->near_at[i] + o->vars[i].n;
    if (o->vars[i].n) memcpy(o->near + o->near_at[i], o->vars[i].at, sizeof(int) * (size_t)o->vars[i].n);
    o->degree[i] = o->vars[i].n;
    o->head[i] = -1;
    o->mark[i] = o->seen[i] = -1;
    if (mark_of(p, i) != AG_MARK_MULTIPLIER) continue;
    for (int k = 0; k < o->vars[i].n; k++) o->wait[i] += mark_of(p, o->vars[i].at[k]) == AG_MARK_PLAIN;
  }
  for (int i = p->n - 1; i >= 0; i--)
    if (o->wait[i] == 0) bucket_put(o, i); /* among equals the first one comes first */
}

static void orderer_done(orderer *o) {
  for (int i = 0; i < o->p->n; i++) free(o->vars[i].at), free(o->elements[i].at), free(o->joined[i].at);
  void *all[] = {o->vars, o->elements, o->joined, o->near_at, o->near, o->degree, o->next,      o->last,
                 o->head, o->wait,     o->mark,   o->outside, o->seen, o->gone,   o->in_bucket, o->absorbed};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* The unknowns that the elimination of e joins. */
static void make_element(orderer *o, int e, int step) {
  list *to = &o->joined[e];
  for (int k = 0; k < o->vars[e].n; k++) {
    int v = o->vars[e].at[k];
    if (!o->gone[v] && o->mark[v] != step) o->mark[v] = step, push(to, v);
  }
  for (int k = 0; k < o->elements[e].n; k++) {
    int old = o->elements[e].at[k];
    if (o->absorbed[old]) continue;
    for (int i = 0; i < o->joined[old].n; i++) {
      int v = o->joined[old].at[i];
      if (!o->gone[v] && o->mark[v] != step) o->mark[v] = step, push(to, v);
    }
    o->absorbed[old] = 1;
    free(o->joined[old].at);
    o->joined[old] = (list){0};
  }
}

/* Neighbours and elements of i after e, and the bound of its degree. */
static void update(orderer *o, int i, int e, int step, int n_left) {
  list *vars = &o->vars[i], *elements = &o->elements[i];
  int degree = o->joined[e].n - 1, n = 0, was = o->degree[i] + o->joined[e].n - 1;
  bool listed = o->in_bucket[i];
  for (int k = 0; k < elements->n; k++) {
    int old = elements->at[k];
    if (o->absorbed[old]) continue;
    if (o->outside[old] == 0) { /* nothing of it is left outside e */
      o->absorbed[old] = 1;
      continue;
    }
    degree += o->outside[old];
    elements->at[n++] = old;
  }
  elements->n = n;
  push(elements, e);
  n = 0;
  for (int k = 0; k < vars->n; k++)
    if (!o->gone[vars->at[k]] && o->mark[vars->at[k]] != step) vars->at[n++] = vars->at[k];
  vars->n = n;
  degree += n;
  if (degree > was) degree = was;
  if (degree > n_left - 1) degree = n_left - 1;
  bucket_take(o, i);
  o->degree[i] = degree;
  if (listed) bucket_put(o, i);
}

static void find_order(const ag_pattern *p, int *order) {
  orderer o;
  orderer_init(&o, p);
  for (int step = 0; step < p->n; step++) {
    while (o.head[o.least] < 0) o.least++;
    int e = o.head[o.least];
    bucket_take(&o, e);
    order[step] = e;
    o.gone[e] = 1;
    make_element(&o, e, step);
    list *joined = &o.joined[e];
    for (int k = 0; k < joined->n; k++) {
      const list *elements = &o.elements[joined->at[k]];
      for (int i = 0; i < elements->n; i++) {
        int old = elements->at[i];
        if (o.absorbed[old]) continue;
        if (o.seen[old] != step) o.seen[old] = step, o.outside[old] = o.joined[old].n;
        o.outside[old]--;
      }
    }
    for (int k = 0; k < joined->n; k++) update(&o, joined->at[k], e, step, p->n - step - 1);
    for (int k = o.near_at[e]; k < o.near_at[e + 1] && mark_of(p, e) == AG_MARK_PLAIN; k++)
      if (mark_of(p, o.near[k]) == AG_MARK_MULTIPLIER && --o.wait[o.near[k]] == 0) bucket_put(&o, o.near[k]);
    if (o.least > 0) o.least--;
  }
  orderer_done(&o);
}

/* ---- places ---- */

typedef struct layout {
  ag_ldl *f;
  int *a_at, *row_at, *col_at, *a_col, *col, *place, *row, *sign; /* parts of the table */
} layout;

static int by_number(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? -1 : x > y;
}

/* Entries of A by the rows of the permuted matrix, columns ascending. */
static void place_entries(layout *l, const ag_pattern *p, const int *position) {
  int n = p->n, *fill = ag_heap_alloc(sizeof(int) * (size_t)(n + 1)),
      *first = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  int *by_col = ag_heap_alloc(sizeof(int) * (size_t)(p->n_entry + 1));
#define LOW(k) (position[p->row[k]] < position[p->col[k]] ? position[p->row[k]] : position[p->col[k]])
#define HIGH(k) (position[p->row[k]] < position[p->col[k]] ? position[p->col[k]] : position[p->row[k]])
  for (int k = 0; k < p->n_entry; k++) first[LOW(k) + 1]++, l->a_at[HIGH(k) + 1]++;
  for (int i = 0; i < n; i++) first[i + 1] += first[i], l->a_at[i + 1] += l->a_at[i];
  for (int k = 0; k < p->n_entry; k++) by_col[first[LOW(k)]++] = k; /* sorted by column, then spread over the rows */
  memcpy(fill, l->a_at, sizeof(int) * (size_t)n);
  for (int i = 0; i < p->n_entry; i++) {
    int k = by_col[i], at = fill[HIGH(k)]++;
    l->a_col[at] = LOW(k);
    l->f->place[k] = at;
  }
#undef LOW
#undef HIGH
  free(fill), free(first), free(by_col);
}

/* Row k of L has the columns on the ways from the entries of row k of A up the elimination tree (Liu). Returns how
 * many; cols may be NULL, to count. */
static int row_pattern(const layout *l, int k, int *parent, int *flag, int *cols) {
  int n = 0;
  flag[k] = k;
  for (int p = l->a_at[k]; p < l->a_at[k + 1]; p++)
    for (int j = l->a_col[p]; flag[j] != k; j = parent[j]) {
      if (parent[j] < 0) parent[j] = k;
      flag[j] = k;
      if (cols) cols[n] = j;
      n++;
    }
  return n;
}

static void new_table(ag_ldl *f, layout *l, const int *counts) {
  int n = f->n;
  f->n_table = 3 + 3 * (n + 1) + f->n_entry + 3 * f->n_factor + n;
  f->table = ag_heap_alloc(sizeof(int) * (size_t)f->n_table);
  f->table[0] = n, f->table[1] = f->n_entry, f->table[2] = f->n_factor;
  const int *a_at = l->a_at, *a_col = l->a_col;
  l->a_at = f->table + 3;
  l->row_at = l->a_at + n + 1;
  l->col_at = l->row_at + n + 1;
  l->a_col = l->col_at + n + 1;
  l->col = l->a_col + f->n_entry;
  l->place = l->col + f->n_factor;
  l->row = l->place + f->n_factor;
  l->sign = l->row + f->n_factor;
  memcpy(l->a_at, a_at, sizeof(int) * (size_t)(n + 1));
  memcpy(l->a_col, a_col, sizeof(int) * (size_t)f->n_entry);
  for (int k = 0; k < n; k++) l->row_at[k + 1] = l->row_at[k] + counts[k];
}

/* The entries of L by rows and by columns. */
static void place_factor(ag_ldl *f, layout *l) {
  int n = f->n, *parent = ag_heap_alloc(sizeof(int) * (size_t)(n + 1)),
      *flag = ag_heap_alloc(sizeof(int) * (size_t)(n + 1));
  int *counts = ag_heap_alloc(sizeof(int) * (size_t)(n + 1)), *old_at = l->a_at, *old_col = l->a_col;
  for (int i = 0; i < n; i++) parent[i] = flag[i] = -1;
  for (int k = 0; k < n; k++) f->n_factor += counts[k] = row_pattern(l, k, parent, flag, NULL);
  new_table(f, l, counts);
  for (int i = 0; i < n; i++) flag[i] = -1;
  for (int k = 0; k < n; k++) {
    int *cols = l->col + l->row_at[k], m = row_pattern(l, k, parent, flag, cols);
    qsort(cols, (size_t)m, sizeof *cols, by_number);
    for (int i = 0; i < m; i++) l->col_at[cols[i] + 1]++;
  }
  for (int j = 0; j < n; j++) l->col_at[j + 1] += l->col_at[j];
  memcpy(counts, l->col_at, sizeof(int) * (size_t)n);
  for (int k = 0; k < n; k++)
    for (int p = l->row_at[k]; p < l->row_at[k + 1]; p++) {
      int at = l->place[p] = counts[l->col[p]]++;
      l->row[at] = k;
    }
  free(parent), free(flag), free(counts), free(old_at), free(old_col);
}

ag_ldl *ag_ldl_create(const ag_pattern *p) {
  ag_ldl *f = ag_heap_alloc(sizeof *f);
  layout l = {.f = f};
  int *position = ag_heap_alloc(sizeof(int) * (size_t)(p->n + 1));
  *f = (ag_ldl){.n = p->n, .n_entry = p->n_entry};
  f->order = ag_heap_alloc(sizeof(int) * (size_t)(p->n + 1));
  f->place = ag_heap_alloc(sizeof(int) * (size_t)(p->n_entry + 1));
  l.a_at = ag_heap_alloc(sizeof(int) * (size_t)(p->n + 1));
  l.a_col = ag_heap_alloc(sizeof(int) * (size_t)(p->n_entry + 1));
  find_order(p, f->order);
  for (int k = 0; k < p->n; k++) position[f->order[k]] = k;
  place_entries(&l, p, position);
  place_factor(f, &l);
  for (int k = 0; k < p->n; k++) l.sign[k] = mark_of(p, f->order[k]) == AG_MARK_MULTIPLIER ? -1 : 1;
  f->n_block = f->n_entry + f->n_factor + 3 * f->n;
  free(position);
  return f;
}

ag_ldl *ag_ldl_copy(const ag_ldl *f) {
  ag_ldl *c = ag_heap_alloc(sizeof *c);
  *c = *f;
  c->order = ag_heap_alloc(sizeof(int) * (size_t)(f->n + 1));
  c->place = ag_heap_alloc(sizeof(int) * (size_t)(f->n_entry + 1));
  c->table = ag_heap_alloc(sizeof(int) * (size_t)f->n_table);
  memcpy(c->order, f->order, sizeof(int) * (size_t)f->n);
  memcpy(c->place, f->place, sizeof(int) * (size_t)f->n_entry);
  memcpy(c->table, f->table, sizeof(int) * (size_t)f->n_table);
  return c;
}

void ag_ldl_free(ag_ldl *f) {
  if (!f) return;
  free(f->order), free(f->place), free(f->table);
  free(f);
}

/* ---- numbers ---- */

/* Twice on x86, as in interp.c: with a fused multiply-add of the machine, and without. */
#if defined __x86_64__ && !defined __FMA__
__attribute__((target("avx2,fma"))) static void ldl_fma(const int *table, double *block, double lost, VI *fail) {
  v_ldl(table, block, lost, fail);
}
static void ldl_plain(const int *table, double *block, double lost, VI *fail) { v_ldl(table, block, lost, fail); }
static void ldl(const int *table, double *block, double lost, VI *fail) {
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) ldl_fma(table, block, lost, fail);
  else ldl_plain(table, block, lost, fail);
}
#else
static void ldl(const int *table, double *block, double lost, VI *fail) { v_ldl(table, block, lost, fail); }
#endif

bool ag_ldl_value(const ag_ldl *f, double *block) {
  VI fail = 0;
  ldl(f->table, block, v_nan(), &fail);
  return !fail;
}

int ag_ldl_solve(const ag_ldl *f, const double *entries, double *b, unsigned char *lost) {
  double *block = ag_heap_alloc(sizeof(double) * (size_t)f->n_block), *x = block + f->n_entry;
  VI fail = 0;
  int n_lost = 0;
  for (int k = 0; k < f->n_entry; k++) block[f->place[k]] = entries[k];
  for (int k = 0; k < f->n; k++) x[k] = b[f->order[k]];
  ldl(f->table, block, lost ? 0 : v_nan(), &fail);
  const double *r = x + f->n + f->n_factor; /* 1/D */
  for (int k = 0; k < f->n; k++) {
    bool bad = r[k] == 0 || r[k] != r[k];
    n_lost += bad;
    if (lost) lost[f->order[k]] = bad;
    b[f->order[k]] = x[k];
  }
  free(block);
  return n_lost;
}

/* ---- patterns of a graph ---- */

static bool same_pattern(const ag_pattern *a, const ag_pattern *b) {
  if (a->n != b->n || a->n_entry != b->n_entry) return false;
  if (memcmp(a->row, b->row, sizeof(int) * (size_t)a->n_entry) ||
      memcmp(a->col, b->col, sizeof(int) * (size_t)a->n_entry))
    return false;
  for (int i = 0; i < a->n; i++)
    if (mark_of(a, i) != mark_of(b, i)) return false;
  return true;
}

int ag_pattern_intern(ag_graph *g, const ag_pattern *p) {
  for (int i = 0; i < g->n_pattern; i++)
    if (same_pattern(&g->patterns[i].pattern, p)) return i;
  size_t size = sizeof(int) * (size_t)(p->n_entry + 1);
  int *row = ag_arena_alloc(g->arena, size), *col = ag_arena_alloc(g->arena, size);
  unsigned char *marks = ag_arena_alloc(g->arena, (size_t)p->n + 1);
  if (p->n_entry)
    memcpy(row, p->row, sizeof(int) * (size_t)p->n_entry), memcpy(col, p->col, sizeof(int) * (size_t)p->n_entry);
  for (int i = 0; i < p->n; i++) marks[i] = (unsigned char)mark_of(p, i);
  AG_PUSH(g->patterns, g->n_pattern, g->cap_pattern);
  g->patterns[g->n_pattern] = (ag_kept_pattern){{p->n, p->n_entry, row, col, marks}, NULL};
  return g->n_pattern++;
}

const ag_ldl *ag_pattern_ldl(ag_graph *g, int pattern) {
  if (!g->patterns[pattern].ldl) g->patterns[pattern].ldl = ag_ldl_create(&g->patterns[pattern].pattern);
  return g->patterns[pattern].ldl;
}

int ag_pattern_connect(const ag_graph *g, const ag_pattern *p, const ag_id *entries, int *label) {
  int n = 0;
  for (int i = 0; i < p->n; i++) label[i] = i;
  for (int k = 0; k < p->n_entry; k++) {
    if (ag_is_zero(g, entries[k])) continue;
    int a = p->row[k], b = p->col[k];
    while (label[a] != a) a = label[a] = label[label[a]];
    while (label[b] != b) b = label[b] = label[label[b]];
    label[a > b ? a : b] = a > b ? b : a;
  }
  for (int i = 0; i < p->n; i++) n += label[i] == i, label[i] = label[label[i]];
  return n;
}

static ag_id solve_whole(ag_graph *g, const ag_pattern *p, const ag_id *entries, ag_id b) {
  if (ag_is_zero(g, b)) return b;
  ag_id *args = ag_heap_alloc(sizeof *args * (size_t)(p->n_entry + 1));
  if (p->n_entry) memcpy(args, entries, sizeof *args * (size_t)p->n_entry);
  args[p->n_entry] = b;
  ag_id x = ag_intern(g, AG_OP_SPARSE, p->n, 1, p->n_entry + 1, args, ag_payload(ag_pattern_intern(g, p), 0));
  free(args);
  return x;
}

/* Unknowns and entries sorted by their groups. */
typedef struct group_entry {
  int label, k;
} group_entry;

static int by_label(const void *a, const void *b) {
  const group_entry *x = a, *y = b;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  return x->k < y->k ? -1 : x->k > y->k;
}

/* One system per group of connected unknowns: what one of them depends on is then seen in the graph. */
static ag_id solve_groups(ag_graph *g, const ag_pattern *p, const ag_id *entries, ag_id b, const int *label) {
  size_t n = (size_t)p->n + 1, m = (size_t)p->n_entry + 1;
  group_entry *of = ag_heap_alloc(sizeof *of * n), *at = ag_heap_alloc(sizeof *at * m);
  int *local = ag_heap_alloc(sizeof(int) * n), *row = ag_heap_alloc(sizeof(int) * m), n_at = 0,
      *col = ag_heap_alloc(sizeof(int) * m);
  ag_id *part = ag_heap_alloc(sizeof *part * n), *x = ag_heap_alloc(sizeof *x * n), *A = ag_heap_alloc(sizeof *A * m);
  for (int i = 0; i < p->n; i++) of[i] = (group_entry){label[i], i};
  for (int k = 0; k < p->n_entry; k++)
    if (!ag_is_zero(g, entries[k])) at[n_at++] = (group_entry){label[p->row[k]], k};
  qsort(of, (size_t)p->n, sizeof *of, by_label);
  qsort(at, (size_t)n_at, sizeof *at, by_label);
  for (int i = 0, e = 0; i < p->n;) {
    int first = i, n_entry = 0, size;
    for (; i < p->n && of[i].label == of[first].label; i++) {
      local[of[i].k] = i - first;
      part[i - first] = ag_entry(g, b, of[i].k, 0);
    }
    size = i - first;
    for (; e < n_at && at[e].label == of[first].label; e++, n_entry++) {
      A[n_entry] = entries[at[e].k];
      row[n_entry] = local[p->row[at[e].k]], col[n_entry] = local[p->col[at[e].k]];
    }
    ag_id y = solve_whole(g, &(ag_pattern){size, n_entry, row, col, NULL}, A, ag_stack(g, size, 1, part));
    for (int k = 0; k < size; k++) x[of[first + k].k] = ag_entry(g, y, k, 0);
  }
  ag_id all = ag_stack(g, p->n, 1, x);
  free(of), free(at), free(local), free(row), free(col), free(part), free(x), free(A);
  return all;
}

ag_id ag_solve_sparse(ag_graph *g, const ag_pattern *p, const ag_id *entries, ag_id b) {
  AG_ASSERT(ag_node_rows(g, b) == p->n && ag_node_cols(g, b) == 1);
  bool plain = !ag_is_zero(g, b);
  for (int i = 0; i < p->n && plain; i++) plain = mark_of(p, i) == AG_MARK_PLAIN;
  int *label = ag_heap_alloc(sizeof(int) * (size_t)(p->n + 1));
  bool falls = plain && ag_pattern_connect(g, p, entries, label) > 1;
  ag_id x = falls ? solve_groups(g, p, entries, b, label) : solve_whole(g, p, entries, b);
  free(label);
  return x;
}
