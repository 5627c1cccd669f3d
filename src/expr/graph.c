/* SPDX-License-Identifier: MIT
 * Storage of the graph: hash-consed nodes, looking at them, the cone of a set of outputs. */
#include "expr/graph_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200 }; /* deeper nested rules are skipped, to bound the stack */
enum { TICKS = 4096 };    /* nodes requested between two checks of the clock */

static const ag_op_row op_rows[AG_OP_COUNT] = {
#define ROW(NAME, text, arity, value, plain, ...) [AG_OP_##NAME] = {text, arity, value, plain, __VA_ARGS__},
#define AG_OP(NAME, text, arity, call, parity, value, plain, tex, derivative, lo, hi, ulp, weight, traits, ...) \
  ROW(NAME, text, arity, #value, #plain, tex, lo, hi, ulp, weight, traits)
#define AG_OP_TAPE(NAME, text, arity, value, plain) ROW(NAME, text, arity, #value, #plain, "", 0, 0, 0, 0, 0)
#define AG_OP_BARE(NAME, text) ROW(NAME, text, 0, "", "", "", 0, 0, 0, 0, 0)
#include "expr/op.def"
#define AG_OP_TENSOR(NAME, text, arity) ROW(NAME, text, arity, "", "", "", 0, 0, 0, 0, 0)
    AG_OP_TENSOR(NONE, "none", 0)
#include "expr/tensor.def"
#undef AG_OP_TENSOR
};

const ag_op_row *ag_op_describe(ag_op op) { return &op_rows[op]; }

/* ---- creation ---- */

const ag_rule *ag_rule_table(int k, int *n) {
  static const ag_rule *(*const tables[AG_RULE_TABLES])(int *n) = {ag_rules_common, ag_rules_scalar, ag_rules_sum,
                                                                   ag_rules_tensor, ag_rules_product};
  return tables[k](n);
}

static void index_rules(ag_graph *g) {
  for (int k = 0; k < AG_RULE_TABLES; k++) {
    int n, i = 0;
    const ag_rule *rules = ag_rule_table(k, &n);
    g->rule_hits[k] = ag_heap_alloc(sizeof(uint32_t) * (size_t)n);
    for (int op = 0; op <= AG_OP_COUNT; op++) { /* a table is sorted by operation */
      g->rule_first[k][op] = (uint16_t)i;
      while (i < n && rules[i].op == op) i++;
    }
    AG_ASSERT(i == n);
  }
}

ag_graph *ag_graph_create(void) {
  ag_graph *g = ag_heap_alloc(sizeof *g);
  g->arena = ag_arena_create();
  g->table_size = 1024;
  g->table = ag_heap_alloc(sizeof *g->table * g->table_size);
  AG_PUSH(g->pool, g->n_pool, g->cap_pool);
  AG_PUSH(g->nodes, g->n_node, g->cap_node);
  memset(&g->nodes[g->n_node++], 0, sizeof(ag_node));
  index_rules(g);
  return g;
}

void ag_graph_free(ag_graph *g) {
  if (!g) return;
  ag_arena_free(g->arena);
  free(g->nodes);
  free(g->pool);
  free(g->table);
  free(g->names);
  for (int k = 0; k < AG_RULE_TABLES; k++) free(g->rule_hits[k]);
  free(g->lowered);
  free(g->scalars);
  for (int i = 0; i < g->n_pattern; i++) ag_ldl_free(g->patterns[i].ldl);
  free(g->patterns);
  free(g->origins);
  for (int i = 0; i < g->n_scratch; i++) free(g->scratch[i]);
  free(g->scratch);
  free(g);
}

void *ag_scratch_take(ag_graph *g) {
  size_t need = (size_t)g->n_node + 8;
  ag_scratch *s = g->n_scratch ? g->scratch[--g->n_scratch] : NULL;
  if (s && s->size < need) {
    free(s);
    s = NULL;
  }
  if (!s) {
    size_t size = 2 * need;
    s = ag_heap_alloc(sizeof *s + sizeof(ag_id) * size);
    s->size = size;
  }
  return s->at;
}

void ag_scratch_give(ag_graph *g, void *at) {
  AG_PUSH(g->scratch, g->n_scratch, g->cap_scratch);
  g->scratch[g->n_scratch++] = (ag_scratch *)((char *)at - offsetof(ag_scratch, at));
}

int ag_graph_count(const ag_graph *g) { return g->n_node - 1; }

/* ---- hash consing ---- */

static uint32_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  h ^= h >> 32;
  return (uint32_t)h;
}

static uint32_t hash_of(ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  uint64_t h = (uint64_t)op * 0x9e3779b97f4a7c15u ^ payload * 0xff51afd7ed558ccdu;
  h = h * 31 + (uint64_t)rows;
  h = h * 31 + (uint64_t)cols;
  for (int i = 0; i < n_arg; i++) h = (h ^ args[i]) * 0x2545f4914f6cdd1du + (h >> 29);
  return mix(h);
}

static bool same(const ag_graph *g, ag_id x, ag_op op, int rows, int cols, int n_arg, const ag_id *args,
                 uint64_t payload) {
  const ag_node *n = &g->nodes[x];
  return n->op == op && n->rows == rows && n->cols == cols && n->n_arg == (uint32_t)n_arg &&
         n->payload.bits == payload && (n_arg == 0 || !memcmp(g->pool + n->first, args, sizeof *args * (size_t)n_arg));
}

/* Where places are searched: a few beside those of nodes made at the same time, which are in the cache, then by the
 * hash. Nothing is ever removed, so that a node is where it was put. */
typedef struct search {
  uint32_t at, hash, left; /* left: of the few */
} search;

static search search_begin(const ag_graph *g, uint32_t hash, int n_arg, const ag_id *args) {
  enum { FEW = 8 };
  ag_id last = 0;
  for (int i = 0; i < n_arg; i++) last = args[i] > last ? args[i] : last;
  return n_arg ? (search){(2 * last + (hash & (FEW - 1))) & (g->table_size - 1), hash, FEW}
               : (search){hash & (g->table_size - 1), hash, 0};
}

static void search_on(const ag_graph *g, search *s) {
  s->at = s->left == 1 ? s->hash & (g->table_size - 1) : (s->at + 1) & (g->table_size - 1);
  if (s->left) s->left--;
}

/* Position of the node in the table, or where it would be inserted. */
static uint32_t probe(const ag_graph *g, uint32_t hash, ag_op op, int rows, int cols, int n_arg, const ag_id *args,
                      uint64_t payload) {
  search s = search_begin(g, hash, n_arg, args);
  while (g->table[s.at].id &&
         !(g->table[s.at].hash == hash && same(g, g->table[s.at].id, op, rows, cols, n_arg, args, payload)))
    search_on(g, &s);
  return s.at;
}

void ag_graph_index(ag_graph *g) {
  free(g->table);
  g->table = ag_heap_alloc(sizeof *g->table * g->table_size);
  for (int x = 1; x < g->n_node; x++) {
    const ag_node *n = &g->nodes[x];
    search s = search_begin(g, n->hash, (int)n->n_arg, g->pool + n->first);
    while (g->table[s.at].id) search_on(g, &s);
    g->table[s.at] = (ag_place){n->hash, (ag_id)x};
  }
}

static uint16_t flags_of(const ag_graph *g, ag_op op, int rows, int n_arg, const ag_id *args, uint64_t payload) {
  bool input = op == AG_OP_INPUT, constant = !input, rotations = n_arg > 0;
  bool prepared = !input || payload >> 32 == AG_LEAF_PARAM;
  for (int i = 0; i < n_arg; i++) {
    constant = constant && (g->nodes[args[i]].flags & AG_NODE_CONSTANT);
    prepared = prepared && (g->nodes[args[i]].flags & AG_NODE_PREPARED);
    rotations = rotations && (g->nodes[args[i]].flags & AG_NODE_ROTATION);
  }
  bool rotation = op == AG_OP_ROTATION || (op == AG_OP_EYE && rows == 3) ||
                  (input && payload >> 32 == AG_LEAF_ROTATION) ||
                  ((op == AG_OP_MATMUL || op == AG_OP_TRANSPOSE) && rotations);
  return (uint16_t)((constant ? AG_NODE_CONSTANT : 0) | (rotation ? AG_NODE_ROTATION : 0) |
                    (prepared ? AG_NODE_PREPARED : 0));
}

/* Copies arguments into the pool; args may itself point into the pool. */
static uint32_t store_args(ag_graph *g, int n_arg, const ag_id *args) {
  bool inside = n_arg > 0 && args >= g->pool && args < g->pool + g->n_pool;
  size_t offset = inside ? (size_t)(args - g->pool) : 0;
  if (g->n_pool + n_arg > g->cap_pool) {
    int64_t want = 2 * ((int64_t)g->n_pool + n_arg) + 64;
    AG_ASSERT(want < INT32_MAX);
    g->cap_pool = (int)want;
    g->pool = ag_heap_grow(g->pool, sizeof *g->pool * (size_t)g->cap_pool);
  }
  uint32_t first = (uint32_t)g->n_pool;
  if (n_arg > 0) memcpy(g->pool + first, inside ? g->pool + offset : args, sizeof *args * (size_t)n_arg);
  g->n_pool += n_arg;
  return first;
}

ag_id ag_find(const ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  uint32_t hash = hash_of(op, rows, cols, n_arg, args, payload);
  ag_id x = g->table[probe(g, hash, op, rows, cols, n_arg, args, payload)].id;
  return x && g->nodes[x].alias ? g->nodes[x].alias : x;
}

static ag_id intern(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  uint32_t hash = hash_of(op, rows, cols, n_arg, args, payload);
  uint32_t at = probe(g, hash, op, rows, cols, n_arg, args, payload);
  if (g->table[at].id) return g->table[at].id;
  ag_node node = {.op = (uint16_t)op, .rows = rows, .cols = cols, .n_arg = (uint32_t)n_arg, .hash = hash};
  node.flags = flags_of(g, op, rows, n_arg, args, payload);
  node.payload.bits = payload;
  node.first = store_args(g, n_arg, args);
  AG_PUSH(g->nodes, g->n_node, g->cap_node);
  ag_id x = (ag_id)g->n_node++;
  g->nodes[x] = node;
  g->table[at] = (ag_place){hash, x};
  if (2 * (uint32_t)g->n_node > g->table_size) {
    g->table_size *= 2;
    ag_graph_index(g);
  }
  return x;
}

ag_id ag_intern(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  ag_id x = intern(g, op, rows, cols, n_arg, args, payload);
  return g->nodes[x].alias ? g->nodes[x].alias : x;
}

uint64_t ag_payload(int i, int j) { return (uint64_t)(uint32_t)i | (uint64_t)(uint32_t)j << 32; }

/* ---- building with rules ---- */

ag_id ag_simplify(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  ag_request r = {op, rows, cols, n_arg, args, payload};
  for (int k = 0; k < AG_RULE_TABLES; k++) {
    int n;
    const ag_rule *rules = ag_rule_table(k, &n);
    for (int i = g->rule_first[k][op]; i < g->rule_first[k][op + 1]; i++) {
      ag_id x = rules[i].apply(g, &r);
      if (!x) continue;
      AG_ASSERT(g->nodes[x].rows == rows && g->nodes[x].cols == cols);
      g->rule_hits[k][i]++;
      return x;
    }
  }
  return 0;
}

/* Arguments of commutative operations: a number first in products and last elsewhere, else the older node first. */
static void sort_args(const ag_graph *g, ag_op op, ag_id *a) {
  bool num0 = g->nodes[a[0]].op == AG_OP_NUM, num1 = g->nodes[a[1]].op == AG_OP_NUM, swap = a[0] > a[1];
  if (!(op_rows[op].traits & AG_COMMUTES) && op != AG_OP_DOT) return;
  if (num0 != num1) swap = op == AG_OP_MUL ? num1 : num0;
  if (swap) {
    ag_id x = a[0];
    a[0] = a[1];
    a[1] = x;
  }
}

/* Rules of these operations walk into their arguments: their results are cached, so that a shared argument is
 * walked once. */
static bool remembers(const ag_graph *g, ag_op op, ag_id first) {
  if (op == AG_OP_MATMUL || op == AG_OP_DOT) return true;
  if (op != AG_OP_ENTRY && op != AG_OP_ROWS) return false;
  ag_op inner = g->nodes[first].op;
  return inner != AG_OP_STACK && inner != AG_OP_ZERO && inner != AG_OP_EYE;
}

ag_id ag_build(ag_graph *g, ag_op op, int rows, int cols, int n_arg, const ag_id *args, uint64_t payload) {
  if (++g->n_asked % TICKS == 0) ag_heap_tick(); /* existing nodes need no memory, but time */
  ag_id few[8] = {0}, *a = n_arg <= 8 ? few : ag_heap_alloc(sizeof(ag_id) * (size_t)n_arg);
  if (n_arg > 0) memcpy(a, args, sizeof *a * (size_t)n_arg);
  if (n_arg == 2) sort_args(g, op, a);
  ag_id x = ag_find(g, op, rows, cols, n_arg, a, payload);
  if (!x && g->depth < MAX_DEPTH) {
    g->depth++;
    x = ag_simplify(g, op, rows, cols, n_arg, a, payload);
    g->depth--;
    if (x && n_arg > 0 && remembers(g, op, a[0])) {
      ag_id request = intern(g, op, rows, cols, n_arg, a, payload);
      if (request != x && !g->nodes[request].alias) g->nodes[request].alias = x;
    }
  }
  if (!x) x = intern(g, op, rows, cols, n_arg, a, payload);
  if (a != few) free(a);
  return x;
}

ag_id ag_rebuild(ag_graph *g, ag_id x, const ag_id *args) {
  ag_node n = g->nodes[x];
  return ag_build(g, n.op, n.rows, n.cols, (int)n.n_arg, args, n.payload.bits);
}

/* ---- looking ---- */

ag_op ag_node_op(const ag_graph *g, ag_id x) { return g->nodes[x].op; }
int ag_node_rows(const ag_graph *g, ag_id x) { return g->nodes[x].rows; }
int ag_node_cols(const ag_graph *g, ag_id x) { return g->nodes[x].cols; }
int ag_node_n_arg(const ag_graph *g, ag_id x) { return (int)g->nodes[x].n_arg; }
ag_id ag_node_arg(const ag_graph *g, ag_id x, int i) { return g->pool[g->nodes[x].first + (uint32_t)i]; }

const char *ag_node_name(const ag_graph *g, ag_id x) {
  return g->nodes[x].op == AG_OP_INPUT ? g->names[g->nodes[x].payload.at.i] : NULL;
}

bool ag_is_scalar(const ag_graph *g, ag_id x) { return g->nodes[x].rows == 1 && g->nodes[x].cols == 1; }

bool ag_is_zero(const ag_graph *g, ag_id x) {
  const ag_node *n = &g->nodes[x];
  return n->op == AG_OP_ZERO || (n->op == AG_OP_NUM && n->payload.num == 0);
}

bool ag_is_num(const ag_graph *g, ag_id x, double *value) {
  const ag_node *n = &g->nodes[x];
  if (n->op != AG_OP_NUM) return false;
  if (value) *value = n->payload.num;
  return true;
}

bool ag_is_rotation(const ag_graph *g, ag_id x) { return g->nodes[x].flags & AG_NODE_ROTATION; }

bool ag_eight_zeros(const unsigned char *mark) {
  uint64_t word;
  memcpy(&word, mark, sizeof word);
  return word == 0;
}

unsigned char *ag_cone(const ag_graph *g, int n_out, const ag_id *outs, ag_id *top) {
  *top = 0;
  for (int i = 0; i < n_out; i++) *top = outs[i] > *top ? outs[i] : *top;
  unsigned char *mark = ag_heap_alloc((size_t)*top + 1 + 8);
  for (int i = 0; i < n_out; i++) mark[outs[i]] = 1;
  for (ag_id x = *top; x > 0; x--) {
    while (x > 8 && ag_eight_zeros(mark + x - 7)) x -= 8; /* a small cone in a large graph */
    if (!mark[x]) continue;
    const ag_node *n = &g->nodes[x];
    for (uint32_t k = 0; k < n->n_arg; k++) mark[g->pool[n->first + k]] = 1;
  }
  return mark;
}

/* A few are inserted one by one, many sorted by digits. */
void ag_sort_ids(ag_id *x, size_t n) {
  enum { FEW = 48, BITS = 11, DIGITS = 1 << BITS };
  if (n <= FEW) {
    for (size_t i = 1; i < n; i++) {
      ag_id now = x[i];
      size_t at = i;
      for (; at > 0 && x[at - 1] > now; at--) x[at] = x[at - 1];
      x[at] = now;
    }
    return;
  }
  ag_id most = 0, *from = x, *to = ag_heap_grow(NULL, sizeof *x * n), *room = to;
  for (size_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
  for (int shift = 0; shift < 32 && most >> shift; shift += BITS) {
    uint32_t count[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++) count[from[i] >> shift & (DIGITS - 1)]++;
    for (int k = 0; k < DIGITS; k++) {
      uint32_t here = count[k];
      count[k] = sum;
      sum += here;
    }
    for (size_t i = 0; i < n; i++) to[count[from[i] >> shift & (DIGITS - 1)]++] = from[i];
    ag_id *swap = from;
    from = to;
    to = swap;
  }
  if (from != x) memcpy(x, from, sizeof *x * n);
  free(room);
}

/* Ids that have been seen: a table that grows with them and not with the graph. 0 is no node. */
typedef struct id_set {
  uint32_t size, n;
  ag_id *ids;
} id_set;

static uint32_t id_place(const id_set *s, ag_id x) {
  uint32_t at = (uint32_t)x * 2654435769u & (s->size - 1);
  while (s->ids[at] && s->ids[at] != x) at = (at + 1) & (s->size - 1);
  return at;
}

static bool id_has(const id_set *s, ag_id x) { return s->size && s->ids[id_place(s, x)]; }

static void id_add(id_set *s, ag_id x) {
  if (2 * (s->n + 1) > s->size) {
    id_set larger = {.size = s->size ? 2 * s->size : 64, .n = s->n};
    larger.ids = ag_heap_alloc(sizeof *larger.ids * larger.size);
    for (uint32_t i = 0; i < s->size; i++)
      if (s->ids[i]) larger.ids[id_place(&larger, s->ids[i])] = s->ids[i];
    free(s->ids);
    s->ids = larger.ids;
    s->size = larger.size;
  }
  uint32_t at = id_place(s, x);
  s->n += !s->ids[at];
  s->ids[at] = x;
}

/* Arguments have smaller ids than what is made of them: nodes before the first input depend on none. */
bool ag_depends(const ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs) {
  id_set wanted = {0}, seen = {0};
  ag_id *open = NULL, first = UINT32_MAX;
  int n_open = 0, cap_open = 0;
  bool found = false;
  for (int k = 0; k < n_in; k++) first = inputs[k] < first ? inputs[k] : first;
  for (int i = 0; i < n_out && !found; i++) {
    AG_PUSH(open, n_open, cap_open);
    open[n_open++] = outs[i];
    while (n_open && !found) {
      ag_id x = open[--n_open];
      if (x < first || id_has(&seen, x)) continue;
      for (int k = 0; k < n_in && !seen.n; k++) id_add(&wanted, inputs[k]); /* many questions end before they need it */
      id_add(&seen, x);
      found = id_has(&wanted, x);
      const ag_node *n = &g->nodes[x];
      for (uint32_t k = 0; k < n->n_arg && !found; k++) {
        AG_PUSH(open, n_open, cap_open);
        open[n_open++] = g->pool[n->first + k];
      }
    }
  }
  free(open), free(wanted.ids), free(seen.ids);
  return found;
}

void ag_depends_each(const ag_graph *g, int n_out, const ag_id *outs, int n_in, const ag_id *inputs, bool *depends) {
  ag_id top;
  unsigned char *mark = ag_cone(g, n_out, outs, &top); /* 1: wanted, 2: depends */
  for (int k = 0; k < n_in; k++)
    if (inputs[k] <= top && mark[inputs[k]]) mark[inputs[k]] = 2;
  for (ag_id x = 1; x <= top; x++) {
    const ag_node *n = &g->nodes[x];
    for (uint32_t k = 0; k < n->n_arg && mark[x] == 1; k++)
      if (mark[g->pool[n->first + k]] == 2) mark[x] = 2;
  }
  for (int i = 0; i < n_out; i++) depends[i] = mark[outs[i]] == 2;
  free(mark);
}

/* ---- leaves ---- */

ag_id ag_num(ag_graph *g, double v) {
  union {
    double num;
    uint64_t bits;
  } u = {.num = v};
  if (v == 0) u.num = 0; /* -0 and 0 are one number */
  if (isnan(v)) u.num = (double)NAN;
  return ag_intern(g, AG_OP_NUM, 1, 1, 0, NULL, u.bits);
}

ag_id ag_num_folded(ag_graph *g, ag_op op, int n, const ag_id *args, double value) {
  int before = g->n_node;
  ag_id x = ag_num(g, value);
  if (g->n_node == before) return x; /* there is such a number already */
  AG_PUSH(g->origins, g->n_origin, g->cap_origin);
  ag_origin_of *o = &g->origins[g->n_origin++];
  *o = (ag_origin_of){.x = x, .op = op, .n = n};
  memcpy(o->args, args, sizeof *args * (size_t)n);
  return x;
}

int ag_num_origin(const ag_graph *g, ag_id x, ag_op *op, ag_id *args) {
  int lo = 0, hi = g->n_origin;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (g->origins[mid].x < x) lo = mid + 1;
    else hi = mid;
  }
  if (lo == g->n_origin || g->origins[lo].x != x) return 0;
  *op = g->origins[lo].op;
  memcpy(args, g->origins[lo].args, sizeof *args * 3);
  return g->origins[lo].n;
}

ag_id ag_zero(ag_graph *g, int rows, int cols) {
  AG_ASSERT(rows > 0 && cols > 0);
  return rows == 1 && cols == 1 ? ag_num(g, 0) : ag_intern(g, AG_OP_ZERO, rows, cols, 0, NULL, 0);
}

ag_id ag_eye(ag_graph *g, int n) {
  AG_ASSERT(n > 0);
  return n == 1 ? ag_num(g, 1) : ag_intern(g, AG_OP_EYE, n, n, 0, NULL, 0);
}

ag_id ag_input(ag_graph *g, const char *name, int rows, int cols, ag_leaf kind) {
  AG_ASSERT(rows > 0 && cols > 0 && (kind != AG_LEAF_ROTATION || (rows == 3 && cols == 3)));
  AG_PUSH(g->names, g->n_name, g->cap_name);
  g->names[g->n_name] = ag_arena_str(g->arena, name);
  return ag_intern(g, AG_OP_INPUT, rows, cols, 0, NULL, ag_payload(g->n_name++, (int)kind));
}

int ag_input_storage(const ag_graph *g, ag_id x) {
  return ag_is_rotation(g, x) ? 4 : g->nodes[x].rows * g->nodes[x].cols;
}

int ag_input_tangent(const ag_graph *g, ag_id x) {
  return ag_is_rotation(g, x) ? 3 : g->nodes[x].rows * g->nodes[x].cols;
}
