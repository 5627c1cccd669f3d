/* SPDX-License-Identifier: MIT
 * Scalar graph -> straight-line tape. What the outputs do not need is left out; what depends on parameters alone goes
 * to the prep part; quotients by the same number go through its reciprocal; sums of products are factored where that is
 * asked for (factor.c); a product used once, by a sum of the same part, becomes a fused multiply-add; the order is a
 * depth-first walk that takes the argument needing more slots first (Sethi and Ullman); slots are given back after the
 * last use. Every pass is linear in the number of nodes. */
#include <stdlib.h>
#include <string.h>

#include "expr/tape_internal.h"

enum { PART_PREP = AG_PART_PREP, PART_EVAL = AG_PART_EVAL };
enum { NO_NODE = UINT32_MAX };

typedef ag_tnode tnode;

/* A node of the graph that the outputs depend on. */
typedef struct live_node {
  ag_id id;
  uint32_t made;      /* its tnode */
  uint32_t quotients; /* how many are divided by it */
  uint32_t inverse;   /* 1 + the tnode of 1 over it, or 0 */
} live_node;

typedef struct builder {
  ag_graph *g;
  tnode *nodes;
  uint32_t n_node;
  live_node *live;
  uint32_t n_live;
  uint32_t *place; /* of a graph node: its number among those; of an input: 1 + the number of its binding */
  uint32_t *pool;  /* arguments of the solves */
  uint32_t n_pool;
  uint32_t *order; /* tnodes in the order of evaluation */
  uint32_t n_order;
  uint32_t *outs; /* tnodes of the outputs */
  ag_tape *tape;
  int cap_instr, cap_const;
  uint32_t *free_slots;
  int n_free, cap_free;
  struct {
    uint32_t size, first;
  } * free_blocks; /* of solves */
  int n_block, cap_block;
  int *pattern_of, cap_ldl; /* per ldl of the tape */
} builder;

static int max_int(int a, int b) { return a > b ? a : b; }

/* ---- solves ---- */

static bool is_call(uint16_t op) { return op == AG_OP_CALL_SOLVE || op == AG_OP_CALL_LDL; }

static uint32_t solve_results(const builder *b, const tnode *t) {
  return t->op == AG_OP_CALL_LDL ? (uint32_t)b->tape->ldls[t->arg[0]]->n : t->arg[0];
}

static uint32_t solve_args(const builder *b, const tnode *t) {
  if (t->op == AG_OP_CALL_SOLVE) return t->arg[0] * t->arg[0] + t->arg[0];
  const ag_ldl *f = b->tape->ldls[t->arg[0]];
  return (uint32_t)(f->n_entry + f->n);
}

/* Slots a solve works in: the arguments come first, the solution takes the place of the right-hand side, the last of
 * them. */
static uint32_t block_size(const builder *b, const tnode *t) {
  return t->op == AG_OP_CALL_SOLVE ? solve_args(b, t) : (uint32_t)b->tape->ldls[t->arg[0]]->n_block;
}

static uint32_t solution_at(const builder *b, const tnode *t) { return solve_args(b, t) - solve_results(b, t); }

/* Which of the tape's ldls a pattern of the graph is. */
static uint32_t ldl_of(builder *b, int pattern) {
  for (int i = 0; i < b->tape->n_ldl; i++)
    if (b->pattern_of[i] == pattern) return (uint32_t)i;
  int n = b->tape->n_ldl, cap = b->cap_ldl;
  AG_PUSH(b->tape->ldls, n, b->cap_ldl);
  AG_PUSH(b->pattern_of, n, cap);
  b->tape->ldls[n] = ag_ldl_copy(ag_pattern_ldl(b->g, pattern));
  b->pattern_of[n] = pattern;
  return (uint32_t)b->tape->n_ldl++;
}

/* ---- collecting the live nodes ---- */

static uint32_t tnode_of(const builder *b, ag_id id) { return b->live[b->place[id]].made; }

static void make_load(builder *b, tnode *t, const ag_node *x, ag_id input, const ag_bind *binds) {
  AG_ASSERT(b->place[input] != 0); /* every input the outputs depend on is bound */
  const ag_bind *bind = &binds[b->place[input] - 1];
  int at = bind->offset + x->payload.at.i;
  t->op = AG_OP_LOAD;
  t->part = ag_segment_describe(bind->seg)->prep ? PART_PREP : PART_EVAL;
  t->arg[0] = (uint32_t)bind->seg;
  t->arg[1] = (uint32_t)at;
  b->tape->n_need[bind->seg] = max_int(b->tape->n_need[bind->seg], at + 1);
}

static uint32_t number_node(builder *b, double value) {
  AG_PUSH(b->tape->constants, b->tape->n_const, b->cap_const);
  b->nodes[b->n_node] = (tnode){.op = AG_OP_CONST, .part = PART_PREP, .need = 1, .arg = {(uint32_t)b->tape->n_const}};
  b->tape->constants[b->tape->n_const++] = value;
  return b->n_node++;
}

/* Divisions are slow. Several by the same number, or one by a number made of parameters, go
 * through its reciprocal: a * (1/b), within 1.5 units of the last place instead of 0.5. Not for a constant b, nor in
 * the prep part, which is evaluated once. True: the node is done. */
static bool make_quotient(builder *b, live_node *l) {
  const ag_id *args = ag_node_args(b->g, l->id);
  if (ag_node_at(b->g, l->id)->op != AG_OP_DIV) return false;
  uint32_t over = tnode_of(b, args[0]), under = tnode_of(b, args[1]);
  live_node *divisor = &b->live[b->place[args[1]]];
  const tnode *top = &b->nodes[over], *bottom = &b->nodes[under];
  bool prepared = bottom->part == PART_PREP, whole = top->op == AG_OP_CONST && b->tape->constants[top->arg[0]] == 1;
  if (bottom->op == AG_OP_CONST || (!whole && (prepared ? top->part == PART_PREP : divisor->quotients < 2)))
    return false;
  if (!divisor->inverse) {
    uint32_t one = whole ? over : number_node(b, 1);
    b->nodes[b->n_node] = (tnode){.op = AG_OP_DIV, .part = bottom->part, .n_arg = 2, .need = 1, .arg = {one, under}};
    divisor->inverse = ++b->n_node;
  }
  uint32_t inverse = l->made = divisor->inverse - 1;
  if (whole) return true;
  b->nodes[b->n_node] = (tnode){.op = AG_OP_MUL, .part = PART_EVAL, .n_arg = 2, .need = 1, .arg = {over, inverse}};
  l->made = b->n_node++;
  return true;
}

static void make_node(builder *b, live_node *l, const ag_bind *binds) {
  const ag_node *x = ag_node_at(b->g, l->id);
  const ag_id *args = ag_node_args(b->g, l->id);
  if (make_quotient(b, l)) return;
  if (x->op == AG_OP_HOLD) { /* matters to derivatives alone */
    l->made = tnode_of(b, args[0]);
    return;
  }
  tnode *t = &b->nodes[b->n_node];
  *t = (tnode){.op = x->op, .part = PART_PREP, .need = 1};
  if (x->op == AG_OP_SLOT) {
    make_load(b, t, x, args[0], binds);
  } else if (x->op == AG_OP_NUM) {
    AG_PUSH(b->tape->constants, b->tape->n_const, b->cap_const);
    t->op = AG_OP_CONST;
    t->arg[0] = (uint32_t)b->tape->n_const;
    b->tape->constants[b->tape->n_const++] = x->payload.num;
  } else if (x->op == AG_OP_PICK) {
    t->arg[0] = tnode_of(b, args[0]);
    t->arg[1] = (uint32_t)x->payload.at.i;
    t->part = b->nodes[t->arg[0]].part;
  } else if (is_call(x->op)) {
    t->arg[0] = x->op == AG_OP_CALL_LDL ? ldl_of(b, x->payload.at.i) : (uint32_t)x->rows;
    t->arg[1] = b->n_pool;
    for (uint32_t i = 0; i < x->n_arg; i++) {
      uint32_t a = b->pool[b->n_pool++] = tnode_of(b, args[i]);
      if (b->nodes[a].part == PART_EVAL) t->part = PART_EVAL;
    }
  } else {
    AG_ASSERT(x->op > AG_OP_SLOT && x->op <= AG_OP_CHECKNZ && x->n_arg <= 3);
    t->n_arg = (uint8_t)x->n_arg;
    for (uint32_t i = 0; i < x->n_arg; i++) {
      t->arg[i] = tnode_of(b, args[i]);
      if (b->nodes[t->arg[i]].part == PART_EVAL) t->part = PART_EVAL;
    }
  }
  l->made = b->n_node++;
}

/* The live nodes in order of their ids, so that arguments come first; without the inputs. */
static void find_live(builder *b, int n_out, const ag_id *outs) {
  ag_id top;
  uint32_t cap = 0;
  unsigned char *live = ag_cone(b->g, n_out, outs, &top);
  b->place = ag_heap_grow(NULL, sizeof *b->place * ((size_t)top + 1)); /* set where it is read */
  for (ag_id id = 1; id <= top; id++) {
    while (id <= top && ag_eight_zeros(live + id)) id += 8; /* a small cone in a large graph */
    if (id > top || !live[id]) continue;
    b->place[id] = 0;
    if (ag_node_at(b->g, id)->op == AG_OP_INPUT) continue;
    AG_PUSH(b->live, b->n_live, cap);
    b->place[id] = b->n_live;
    b->live[b->n_live++] = (live_node){.id = id};
  }
  free(live);
}

static void collect(builder *b, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs) {
  uint32_t n_args = 0, n_div = 0;
  find_live(b, n_out, outs);
  for (uint32_t i = 0; i < b->n_live; i++) {
    const ag_node *x = ag_node_at(b->g, b->live[i].id);
    if (is_call(x->op)) n_args += x->n_arg;
    if (x->op == AG_OP_DIV) b->live[b->place[ag_node_args(b->g, b->live[i].id)[1]]].quotients++, n_div++;
  }
  b->nodes = ag_heap_alloc(sizeof *b->nodes * (b->n_live + 2 * n_div + 1)); /* a reciprocal and its 1 */
  b->pool = ag_heap_alloc(sizeof *b->pool * (n_args + 1));
  const ag_id top = b->n_live ? b->live[b->n_live - 1].id : 0;
  for (int i = 0; i < n_bind; i++)
    if (binds[i].input <= top) b->place[binds[i].input] = (uint32_t)i + 1; /* also of inputs that are not read */
  for (uint32_t i = 0; i < b->n_live; i++) make_node(b, &b->live[i], binds);
}

static void factor(builder *b) {
  const size_t n_pool = b->n_pool, n_out = (size_t)b->tape->n_out;
  ag_tnodes nodes = {.at = b->nodes, .n = b->n_node, .n_ref = (uint32_t)(n_pool + n_out)};
  nodes.refs = ag_heap_alloc(sizeof *nodes.refs * (n_pool + n_out + 1));
  memcpy(nodes.refs, b->pool, sizeof *b->pool * n_pool);
  memcpy(nodes.refs + n_pool, b->outs, sizeof *b->outs * n_out);
  ag_factor(&nodes);
  b->nodes = nodes.at, b->n_node = nodes.n;
  memcpy(b->pool, nodes.refs, sizeof *b->pool * n_pool);
  memcpy(b->outs, nodes.refs + n_pool, sizeof *b->outs * n_out);
  free(nodes.refs);
}

/* ---- uses, depth, fused multiply-adds ---- */

static tnode *owner(const builder *b, uint32_t i) { /* a pick is a part of its solve */
  tnode *t = &b->nodes[i];
  return t->op == AG_OP_PICK ? &b->nodes[t->arg[0]] : t;
}

static void count_uses(builder *b) {
  for (uint32_t i = 0; i < b->n_node; i++) {
    tnode *t = &b->nodes[i];
    uint32_t depth = 0;
    if (is_call(t->op)) {
      for (uint32_t k = 0; k < solve_args(b, t); k++) {
        tnode *a = &b->nodes[b->pool[t->arg[1] + k]];
        owner(b, b->pool[t->arg[1] + k])->uses++;
        depth = a->depth > depth ? a->depth : depth;
      }
      depth += solve_results(b, t);
    } else if (t->op == AG_OP_PICK) {
      depth = b->nodes[t->arg[0]].depth;
    }
    for (int k = 0; k < t->n_arg; k++) {
      owner(b, t->arg[k])->uses++;
      uint32_t d = b->nodes[t->arg[k]].depth;
      depth = d > depth ? d : depth;
    }
    t->depth = t->part == PART_PREP ? 0 : depth + (t->n_arg > 0);
  }
  for (int i = 0; i < b->tape->n_out; i++) owner(b, b->outs[i])->uses++;
}

static bool is_product_of(const builder *b, uint32_t i, const tnode *user) {
  const tnode *t = &b->nodes[i];
  return t->op == AG_OP_MUL && t->uses == 1 && t->part == user->part;
}

/* A product with the length of a step: it is 1 along paths (run/walk_core.h), and costs nothing as an addend. */
static bool is_per_step(const builder *b, uint32_t i) {
  for (int k = 0; k < 2; k++) {
    const tnode *t = &b->nodes[b->nodes[i].arg[k]];
    if (t->op == AG_OP_LOAD && t->arg[0] == AG_SEG_W && t->arg[1] == 0) return true;
  }
  return false;
}

/* a*b + c, a*b - c, c - a*b. Of two products the one that is ready later is fused; the other becomes the addend. */
static void fuse(builder *b) {
  for (uint32_t i = 0; i < b->n_node; i++) {
    tnode *t = &b->nodes[i];
    if (t->op != AG_OP_ADD && t->op != AG_OP_SUB) continue;
    uint32_t x = t->arg[0], y = t->arg[1];
    bool first = is_product_of(b, x, t), second = is_product_of(b, y, t);
    if (first && second && is_per_step(b, x) != is_per_step(b, y)) first = is_per_step(b, y);
    else if (first && second) first = b->nodes[x].depth > b->nodes[y].depth;
    if (!first && !second) continue;
    tnode *product = &b->nodes[first ? x : y];
    product->gone = 1;
    t->op = t->op == AG_OP_ADD ? AG_OP_FMA : first ? AG_OP_FMS : AG_OP_FNMA;
    t->n_arg = 3;
    t->arg[0] = product->arg[0];
    t->arg[1] = product->arg[1];
    t->arg[2] = first ? y : x;
  }
}

/* ---- order ---- */

/* Arguments of a node as tnodes, the more demanding first; a pick has its solve, a solve its whole list. */
static uint32_t child(const builder *b, const tnode *t, uint32_t k) {
  if (t->op == AG_OP_PICK) return k == 0 ? t->arg[0] : NO_NODE;
  if (is_call(t->op)) return k < solve_args(b, t) ? b->pool[t->arg[1] + k] : NO_NODE;
  return k < t->n_arg ? t->arg[t->first[k]] : NO_NODE;
}

/* In which order the arguments are to be evaluated, once it is known what they need. */
static void choose_order(const builder *b, tnode *t) {
  for (uint8_t i = 0; i < t->n_arg; i++) {
    uint8_t at = i;
    for (; at > 0 && b->nodes[t->arg[i]].need > b->nodes[t->arg[t->first[at - 1]]].need; at--)
      t->first[at] = t->first[at - 1];
    t->first[at] = i;
  }
}

static void estimate(builder *b) {
  for (uint32_t i = 0; i < b->n_node; i++) {
    tnode *t = &b->nodes[i];
    if (!is_call(t->op) && t->op != AG_OP_PICK) choose_order(b, t);
    if (t->part == PART_PREP) t->need = 0;
    if (t->part == PART_PREP || t->op == AG_OP_LOAD) continue;
    uint32_t need = is_call(t->op) ? solve_args(b, t) : 1, most = 0;
    for (uint32_t k = 0, c; (c = child(b, t, k)) != NO_NODE; k++) {
      uint32_t n = b->nodes[c].need + (is_call(t->op) ? 0 : k);
      most = n > most ? n : most;
    }
    t->need = is_call(t->op) ? need + most : most > need ? most : need;
    if (t->need > 1000000) t->need = 1000000;
  }
}

static void walk(builder *b) {
  typedef struct frame {
    uint32_t node, next;
  } frame;
  frame *stack = ag_heap_alloc(sizeof *stack * ((size_t)b->n_node + 1));
  unsigned char *seen = ag_heap_alloc((size_t)b->n_node + 1);
  b->order = ag_heap_alloc(sizeof *b->order * ((size_t)b->n_node + 1));
  for (int i = 0; i < b->tape->n_out; i++) {
    int n = 0;
    if (!seen[b->outs[i]]) stack[n++] = (frame){b->outs[i], 0}, seen[b->outs[i]] = 1;
    while (n > 0) {
      frame *f = &stack[n - 1];
      uint32_t c = child(b, &b->nodes[f->node], f->next++);
      if (c == NO_NODE) {
        b->order[b->n_order++] = f->node;
        n--;
      } else if (!seen[c]) {
        seen[c] = 1;
        stack[n++] = (frame){c, 0};
      }
    }
  }
  free(stack);
  free(seen);
}

/* ---- slots and instructions ---- */

static uint32_t new_slots(builder *b, uint32_t n) {
  uint32_t first = (uint32_t)b->tape->n_slot;
  b->tape->n_slot += (int)n;
  return first;
}

static uint32_t take_slot(builder *b, int part) {
  return part == PART_PREP || b->n_free == 0 ? new_slots(b, 1) : b->free_slots[--b->n_free];
}

static uint32_t take_block(builder *b, uint32_t size, int part) {
  for (int i = b->n_block - 1; i >= 0 && part == PART_EVAL; i--)
    if (b->free_blocks[i].size == size) {
      uint32_t first = b->free_blocks[i].first;
      b->free_blocks[i] = b->free_blocks[--b->n_block];
      return first;
    }
  return new_slots(b, size);
}

static uint32_t slot_of(const builder *b, uint32_t i) {
  const tnode *t = &b->nodes[i];
  return t->op == AG_OP_PICK ? b->nodes[t->arg[0]].slot + t->arg[1] : t->slot;
}

/* One use of node i is over; its slot is free after the last. */
static void release(builder *b, uint32_t i) {
  tnode *t = owner(b, i);
  AG_ASSERT(t->uses > 0);
  if (--t->uses > 0 || t->part == PART_PREP) return;
  if (is_call(t->op)) {
    AG_PUSH(b->free_blocks, b->n_block, b->cap_block);
    b->free_blocks[b->n_block].size = block_size(b, t);
    b->free_blocks[b->n_block++].first = t->slot - solution_at(b, t);
  } else {
    AG_PUSH(b->free_slots, b->n_free, b->cap_free);
    b->free_slots[b->n_free++] = t->slot;
  }
}

static void emit(builder *b, uint16_t op, uint32_t dst, uint32_t x, uint32_t y, uint32_t z) {
  AG_PUSH(b->tape->instr, b->tape->n_instr, b->cap_instr);
  b->tape->instr[b->tape->n_instr++] = (ag_instr){op, dst, x, y, z};
}

/* The arguments are copied side by side; the solution takes the place of the right-hand side. */
static void emit_solve(builder *b, tnode *t) {
  uint32_t block = take_block(b, block_size(b, t), t->part);
  for (uint32_t k = 0; k < solve_args(b, t); k++) {
    uint32_t a = b->pool[t->arg[1] + k];
    emit(b, AG_OP_COPY, block + k, slot_of(b, a), 0, 0);
    release(b, a);
  }
  t->slot = block + solution_at(b, t);
  emit(b, t->op, t->slot, t->arg[0], block, 0);
}

static void emit_node(builder *b, tnode *t) {
  if (t->op == AG_OP_PICK) return;
  if (is_call(t->op)) {
    emit_solve(b, t);
  } else if (t->op == AG_OP_LOAD || t->op == AG_OP_CONST) {
    t->slot = take_slot(b, t->part);
    emit(b, t->op, t->slot, t->arg[0], t->arg[1], 0);
  } else {
    uint32_t at[3] = {0};
    for (int k = 0; k < t->n_arg; k++) at[k] = slot_of(b, t->arg[k]);
    for (int k = 0; k < t->n_arg; k++) release(b, t->arg[k]);
    t->slot = take_slot(b, t->part);
    emit(b, t->op, t->slot, at[0], at[1], at[2]);
  }
}

static void emit_all(builder *b) {
  for (int part = PART_PREP; part <= PART_EVAL; part++) {
    for (uint32_t i = 0; i < b->n_order; i++) {
      tnode *t = &b->nodes[b->order[i]];
      AG_ASSERT(!t->gone);
      if (t->part == part) emit_node(b, t);
    }
    if (part == PART_PREP) b->tape->n_prep = b->tape->n_instr;
  }
  for (int i = 0; i < b->tape->n_out; i++) b->tape->out[i] = slot_of(b, b->outs[i]);
}

/* ---- outside ---- */

/* Up to fused operations: what is evaluated, but not yet in which order. */
static builder begin(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs, bool factored) {
  builder b = {.g = g};
  int n = 0;
  for (int i = 0; i < n_out; i++) n += ag_node_rows(g, outs[i]) * ag_node_cols(g, outs[i]);
  ag_id *scalars = ag_heap_alloc(sizeof *scalars * ((size_t)n + 1));
  for (int i = 0, at = 0; i < n_out; i++) {
    ag_lower(g, outs[i], scalars + at);
    at += ag_node_rows(g, outs[i]) * ag_node_cols(g, outs[i]);
  }
  b.tape = ag_heap_alloc(sizeof *b.tape);
  b.tape->n_out = n;
  b.tape->out = ag_heap_alloc(sizeof *b.tape->out * ((size_t)n + 1));
  collect(&b, n_bind, binds, n, scalars);
  b.outs = ag_heap_alloc(sizeof *b.outs * ((size_t)n + 1));
  for (int i = 0; i < n; i++) b.outs[i] = tnode_of(&b, scalars[i]);
  if (factored) factor(&b);
  count_uses(&b);
  fuse(&b);
  free(scalars);
  return b;
}

static void builder_done(builder *b) {
  free(b->nodes), free(b->live), free(b->place), free(b->pool), free(b->order), free(b->outs);
  free(b->free_slots), free(b->free_blocks), free(b->pattern_of);
}

static ag_tape *create(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs, bool factored) {
  builder b = begin(g, n_bind, binds, n_out, outs, factored);
  estimate(&b);
  walk(&b);
  emit_all(&b);
  builder_done(&b);
  return b.tape;
}

ag_tape *ag_tape_create(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs) {
  return create(g, n_bind, binds, n_out, outs, false);
}

ag_tape *ag_tape_create_factored(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs) {
  return create(g, n_bind, binds, n_out, outs, true);
}

int ag_tape_cost_of(ag_graph *g, int n_bind, const ag_bind *binds, int n_out, const ag_id *outs) {
  builder b = begin(g, n_bind, binds, n_out, outs, false);
  int cost = 0;
  for (uint32_t i = 0; i < b.n_node; i++) {
    const tnode *t = &b.nodes[i];
    if (t->part == PART_EVAL && !t->gone && t->op != AG_OP_PICK) cost += ag_instr_cost(b.tape, t->op, t->arg[0]);
  }
  builder_done(&b);
  ag_tape_free(b.tape);
  return cost;
}

void ag_tape_free(ag_tape *tape) {
  if (!tape) return;
  free(tape->constants);
  free(tape->instr);
  free(tape->out);
  for (int i = 0; i < tape->n_ldl; i++) ag_ldl_free(tape->ldls[i]);
  free(tape->ldls);
  free(tape->unbounded);
  free(tape->enclosed);
  ag_tape_free(tape->look);
  ag_tape_free(tape->extra);
  free(tape);
}
