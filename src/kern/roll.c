/* SPDX-License-Identifier: MIT
 * Finds the loops in a long tape: groups, families, and an order of the families. All passes are linear in the length
 * of the tape, but for the choice of the next family among those that are ready. */
#include "kern/roll.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"

enum { NONE = AG_CGEN_NONE, MANY = NONE - 1 };
enum { MIN_GAIN = 4, MIN_CHAIN = 8, MAX_SEGMENT = 8, MAX_GROUP = 600, MAX_LISTED = 100 };

uint32_t ag_roll_push(ag_roll_pool *pool, uint32_t word) {
  int n = (int)pool->n;
  AG_PUSH(pool->at, n, pool->cap);
  pool->at[n] = word;
  return pool->n++;
}

static ag_roll_kind find_kind(const ag_roll *r, uint32_t value) {
  const ag_cgen_value *v = &r->g->values[value];
  const ag_instr *x = &r->g->tape->instr[v->instr];
  if (x->op == AG_OP_CONST) return AG_ROLL_CONST;
  if ((int)v->instr < r->from) return AG_ROLL_PREP;
  if (x->op == AG_OP_LOAD) return (ag_roll_kind)(AG_ROLL_SEGMENT + x->a);
  return r->out_of[value] != NONE && !ag_cgen_is_call(x->op) ? AG_ROLL_OUT : AG_ROLL_S;
}

static bool computed(ag_roll_kind kind) { return kind == AG_ROLL_S || kind == AG_ROLL_OUT; }

ag_roll_group *ag_roll_maker(const ag_roll *r, uint32_t value) {
  return &r->groups[r->group_of[r->g->values[value].instr]];
}

int ag_roll_arity(const ag_roll *r, uint32_t instr) {
  const ag_instr *x = &r->g->tape->instr[instr];
  return ag_cgen_is_call(x->op) ? (int)ag_cgen_args(r->g->tape, x) : ag_op_describe((ag_op)x->op)->arity;
}

bool ag_roll_gathers(const ag_roll *r, uint32_t instr) {
  return r->g->tape->instr[instr].op == AG_OP_CALL_LDL && ag_roll_arity(r, instr) > MAX_LISTED;
}

uint32_t ag_roll_arg(const ag_roll *r, uint32_t instr, int k) {
  const uint32_t *args = r->g->args + 3 * (size_t)instr;
  return ag_cgen_is_call(r->g->tape->instr[instr].op) ? r->g->lists[args[0] + (uint32_t)k] : args[k];
}

static bool works(const ag_roll *r, int i) { /* is it an operation? */
  uint16_t op = r->g->tape->instr[i].op;
  return op != AG_OP_LOAD && op != AG_OP_CONST && op != AG_OP_COPY;
}

static void count_uses(ag_roll *r) {
  for (int i = r->from; i < r->to; i++) {
    if (!works(r, i)) continue;
    r->n_operation++;
    for (int k = 0, n = ag_roll_arity(r, (uint32_t)i); k < n; k++) r->uses[ag_roll_arg(r, (uint32_t)i, k)]++;
  }
  for (uint32_t i = 0; i < r->n_out; i++) {
    uint32_t v = r->outs[i];
    r->uses[v]++;
    if (r->out_of[v] == NONE && (int)r->g->values[v].instr >= r->from) r->out_of[v] = i;
  }
  for (uint32_t v = 0; v < r->g->n_value; v++) r->kind[v] = (unsigned char)find_kind(r, v);
}

/* ---- chains of additions ---- */

/* Where a running sum may occur: the first such argument, and whether the second may hold it too. */
static int sum_at(uint16_t op, bool *either) {
  *either = op == AG_OP_ADD || op == AG_OP_SUB;
  if (*either) return 0;
  return op == AG_OP_FMA || op == AG_OP_FMS || op == AG_OP_FNMA ? 2 : -1;
}

static uint32_t instr_of(const ag_roll *r, uint32_t value) { return r->g->values[value].instr; }

/* Sums of at least MIN_CHAIN steps whose partial sums are not used elsewhere. acc[] marks their instructions. */
static void find_chains(ag_roll *r) {
  uint32_t *length = ag_heap_alloc(sizeof *length * (size_t)r->to);
  unsigned char *inner = ag_heap_alloc((size_t)r->to); /* the running sum of a longer one */
  for (int i = r->from; i < r->to; i++) {
    bool either;
    int at = sum_at(r->g->tape->instr[i].op, &either), best = -1;
    if (at < 0) continue;
    for (int k = at; k <= at + either; k++) {
      uint32_t v = ag_roll_arg(r, (uint32_t)i, k), j = instr_of(r, v);
      bool ignored, open = ag_roll_kind_of(r, v) == AG_ROLL_S && r->uses[v] == 1 &&
                           sum_at(r->g->tape->instr[j].op, &ignored) >= 0;
      if (open && (best < 0 || length[j] > length[instr_of(r, ag_roll_arg(r, (uint32_t)i, best))])) best = k;
    }
    uint32_t before = best < 0 ? 0 : instr_of(r, ag_roll_arg(r, (uint32_t)i, best));
    length[i] = best < 0 ? 1 : length[before] + 1;
    r->acc[i] = (unsigned char)(1 + (best < 0 ? at : best));
    if (best >= 0) inner[before] = 1;
  }
  for (int i = r->to - 1; i >= r->from; i--) { /* from their ends: long ones stay, the others are forgotten */
    if (inner[i] || length[i] == 0) continue;
    bool keep = length[i] >= MIN_CHAIN;
    uint32_t k = (uint32_t)i;
    for (uint32_t n = length[i]; n > 0; n--) {
      uint32_t next = n > 1 ? instr_of(r, ag_roll_arg(r, k, r->acc[k] - 1)) : NONE;
      if (!keep) r->acc[k] = 0;
      k = next;
    }
  }
  free(length);
  free(inner);
}

/* Does the chain go on below instruction i? Then through its running sum. */
static bool goes_on(const ag_roll *r, uint32_t i) {
  uint32_t v = ag_roll_arg(r, i, r->acc[i] - 1);
  return ag_roll_kind_of(r, v) == AG_ROLL_S && r->uses[v] == 1 && r->acc[instr_of(r, v)];
}

/* ---- groups ---- */

static uint32_t new_group(ag_roll *r, uint32_t root) {
  int n = (int)r->n_group;
  AG_PUSH(r->groups, n, r->cap_group);
  r->groups[n] = (ag_roll_group){.root = root};
  return r->n_group++;
}

/* From the end to the front: an instruction joins the group of all its readers, or begins a group. The terms of a chain
 * are always stored. */
static void find_groups(ag_roll *r) {
  uint32_t *reader = ag_heap_alloc(sizeof *reader * (size_t)r->to); /* group of all readers, or NONE, or MANY */
  memset(reader, 0xff, sizeof *reader * (size_t)r->to);
  for (int i = r->to - 1; i >= r->from; i--) {
    if (!works(r, i)) continue;
    bool chain = r->acc[i], solve = ag_cgen_is_call(r->g->tape->instr[i].op);
    bool stored = reader[i] >= MANY || solve || ag_roll_kind_of(r, r->g->result[i]) == AG_ROLL_OUT;
    if (!stored && !chain && r->groups[reader[i]].n_node >= MAX_GROUP) stored = true;
    uint32_t group = r->group_of[i] = stored ? new_group(r, (uint32_t)i) : reader[i];
    r->groups[group].n_node++;
    for (int k = 0, n = ag_roll_arity(r, (uint32_t)i); k < n; k++) {
      uint32_t v = ag_roll_arg(r, (uint32_t)i, k), *to = &reader[instr_of(r, v)];
      if (ag_roll_kind_of(r, v) != AG_ROLL_S) continue;
      if (solve && ag_roll_gathers(r, (uint32_t)i)) *to = MANY;
      else if (chain) *to = k == r->acc[i] - 1 && goes_on(r, (uint32_t)i) ? group : MANY;
      else *to = r->acc[instr_of(r, v)] || (*to != NONE && *to != group) ? MANY : group;
    }
  }
  free(reader);
}

/* ---- shapes ---- */

typedef struct shaper {
  uint32_t *stamp, *number; /* per value: group that read it last, its number among the leaves */
  struct frame {
    uint32_t instr;
    int next;
  } * stack;
  int n_stack, cap_stack;
} shaper;

static void put_key(ag_roll *r, ag_roll_group *group, uint32_t word) {
  ag_roll_push(&r->keys, word);
  group->n_key++;
}

static uint32_t put_leaf(ag_roll *r, ag_roll_group *group, uint32_t value) {
  ag_roll_push(&r->leaves, value);
  return group->n_leaf++;
}

/* An argument in the key: an instruction of the group by its number, a value from outside by kind and number. Different
 * constants do not make a different shape. */
static void shape_arg(ag_roll *r, shaper *s, uint32_t id, uint32_t value) {
  ag_roll_group *group = &r->groups[id];
  ag_roll_kind kind = ag_roll_kind_of(r, value);
  uint32_t instr = instr_of(r, value);
  if (kind == AG_ROLL_S && r->group_of[instr] == id) {
    put_key(r, group, r->local[instr]);
    return;
  }
  if (kind == AG_ROLL_CONST || s->stamp[value] != id + 1) {
    s->number[value] = put_leaf(r, group, value);
    s->stamp[value] = id + 1;
  }
  put_key(r, group, 0x80000000u | (uint32_t)kind << 24 | s->number[value]);
}

/* The cone of the root, depth first, arguments in their order. */
static void shape_cone(ag_roll *r, shaper *s, uint32_t id) {
  ag_roll_group *group = &r->groups[id];
  group->n_node = 0;
  s->n_stack = 0;
  AG_PUSH(s->stack, s->n_stack, s->cap_stack);
  s->stack[s->n_stack++] = (struct frame){group->root, 0};
  while (s->n_stack > 0) {
    struct frame *f = &s->stack[s->n_stack - 1];
    if (f->next < ag_roll_arity(r, f->instr)) {
      uint32_t v = ag_roll_arg(r, f->instr, f->next++), child = instr_of(r, v);
      bool inside = ag_roll_kind_of(r, v) == AG_ROLL_S && r->group_of[child] == id;
      if (!inside || r->local[child] != NONE) continue;
      AG_PUSH(s->stack, s->n_stack, s->cap_stack);
      s->stack[s->n_stack++] = (struct frame){child, 0};
      continue;
    }
    const ag_instr *x = &r->g->tape->instr[f->instr];
    r->local[f->instr] = group->n_node++;
    ag_roll_push(&r->nodes, f->instr);
    put_key(r, group, x->op);
    if (ag_cgen_is_call(x->op)) put_key(r, group, x->a);
    for (int k = 0, n = ag_roll_arity(r, f->instr); k < n; k++) shape_arg(r, s, id, ag_roll_arg(r, f->instr, k));
    s->n_stack--;
  }
  put_key(r, group, ag_roll_kind_of(r, r->g->result[group->root]));
  if (ag_roll_gathers(r, group->root)) put_key(r, group, group->root); /* forms its own family */
}

/* The signature of a step of a chain: operation, position of the running sum, kinds of the other arguments. */
_Static_assert(AG_ROLL_SEGMENT + AG_SEG_COUNT < 16, "a kind has four bits");
static uint32_t step_type(const ag_roll *r, uint32_t i) {
  uint32_t type = (uint32_t)r->g->tape->instr[i].op << 16 | (uint32_t)r->acc[i] << 12;
  for (int k = 0, at = 0; k < ag_roll_arity(r, i); k++)
    if (k != r->acc[i] - 1) type |= ((uint32_t)ag_roll_kind_of(r, ag_roll_arg(r, i, k)) + 1) << 4 * at++;
  return type;
}

/* A chain by its stretches of equal steps; false when these are too many. */
static bool shape_chain(ag_roll *r, uint32_t id) {
  ag_roll_group *group = &r->groups[id];
  uint32_t n = 1, i = group->root, *nodes;
  for (; goes_on(r, i); n++) i = instr_of(r, ag_roll_arg(r, i, r->acc[i] - 1));
  group->node = r->nodes.n;
  for (uint32_t k = 0; k < n; k++) ag_roll_push(&r->nodes, 0);
  nodes = r->nodes.at + group->node;
  i = group->root;
  for (uint32_t k = n; k-- > 0;) nodes[k] = i, i = k ? instr_of(r, ag_roll_arg(r, i, r->acc[i] - 1)) : 0;
  uint32_t n_segment = 1;
  for (uint32_t k = 1; k < n; k++) n_segment += step_type(r, nodes[k]) != step_type(r, nodes[k - 1]);
  if (n_segment > MAX_SEGMENT) {
    r->nodes.n = group->node;
    return false;
  }
  uint32_t start = ag_roll_arg(r, nodes[0], r->acc[nodes[0]] - 1);
  group->n_node = n;
  group->segment = r->segments.n;
  group->n_segment = n_segment;
  put_key(r, group, NONE);
  put_key(r, group, ag_roll_kind_of(r, start));
  put_leaf(r, group, start);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t type = step_type(r, nodes[k]);
    if (k == 0 || type != step_type(r, nodes[k - 1])) put_key(r, group, type), ag_roll_push(&r->segments, 0);
    r->segments.at[r->segments.n - 1]++;
    for (int a = 0; a < ag_roll_arity(r, nodes[k]); a++)
      if (a != r->acc[nodes[k]] - 1) put_leaf(r, group, ag_roll_arg(r, nodes[k], a));
  }
  put_key(r, group, ag_roll_kind_of(r, r->g->result[group->root]));
  return true;
}

static void find_shapes(ag_roll *r) {
  shaper s = {0};
  s.stamp = ag_heap_alloc(sizeof *s.stamp * (r->g->n_value + 1));
  s.number = ag_heap_alloc(sizeof *s.number * (r->g->n_value + 1));
  for (uint32_t id = 0; id < r->n_group; id++) {
    ag_roll_group *group = &r->groups[id];
    group->node = r->nodes.n;
    group->leaf = r->leaves.n;
    group->key = r->keys.n;
    if (!r->acc[group->root] || !shape_chain(r, id)) shape_cone(r, &s, id);
  }
  free(s.stamp), free(s.number), free(s.stack);
}

/* ---- families ---- */

static uint64_t hash_key(const uint32_t *key, uint32_t n) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (uint32_t i = 0; i < n; i++) h = (h ^ key[i]) * 0x100000001b3ULL, h ^= h >> 29;
  return h;
}

static void find_families(ag_roll *r) {
  uint32_t size = 16;
  while (size < 2 * r->n_group) size *= 2;
  uint32_t *table = ag_heap_alloc(sizeof *table * size); /* 1 + a group of the family */
  for (uint32_t id = r->n_group; id-- > 0;) {            /* in the order of the tape */
    ag_roll_group *group = &r->groups[id];
    const uint32_t *key = r->keys.at + group->key;
    uint32_t at = (uint32_t)hash_key(key, group->n_key) & (size - 1);
    for (; table[at]; at = (at + 1) & (size - 1)) {
      const ag_roll_group *other = &r->groups[table[at] - 1];
      if (other->n_key == group->n_key && !memcmp(r->keys.at + other->key, key, sizeof *key * group->n_key)) break;
    }
    if (!table[at]) {
      table[at] = id + 1;
      group->family = r->n_family++;
    } else {
      group->family = r->groups[table[at] - 1].family;
    }
  }
  free(table);
}

/* ---- order ---- */

typedef struct family {
  uint32_t first, n;    /* its groups, in groups, in the order of the tape */
  uint32_t left, ready; /* not yet computed, of these ready */
} family;

typedef struct planner {
  ag_roll *r;
  family *families;
  uint32_t *groups;               /* by family */
  uint32_t *user_first, *users;   /* per group: groups that read it */
  uint32_t *complete, n_complete; /* families of which all that is left is ready */
} planner;

static void link_up(planner *p) {
  ag_roll *r = p->r;
  for (uint32_t id = 0; id < r->n_group; id++) p->families[r->groups[id].family].n++;
  for (uint32_t f = 0, at = 0; f < r->n_family; f++) p->families[f].first = at, at += p->families[f].n;
  for (uint32_t id = r->n_group; id-- > 0;) {
    family *f = &p->families[r->groups[id].family];
    p->groups[f->first + f->left++] = id;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t id = 0; id < r->n_group; id++)
      for (uint32_t k = 0; k < r->groups[id].n_leaf; k++) {
        uint32_t v = r->leaves.at[r->groups[id].leaf + k];
        if (!computed(ag_roll_kind_of(r, v))) continue;
        uint32_t maker = r->group_of[instr_of(r, v)];
        if (pass == 0) p->user_first[maker + 1]++, r->groups[id].wait++;
        else p->users[p->user_first[maker]++] = id;
      }
    if (pass == 0) {
      for (uint32_t id = 0; id < r->n_group; id++) p->user_first[id + 1] += p->user_first[id];
      p->users = ag_heap_alloc(sizeof *p->users * (p->user_first[r->n_group] + 1));
    } else {
      for (uint32_t id = r->n_group; id > 0; id--) p->user_first[id] = p->user_first[id - 1];
      p->user_first[0] = 0;
    }
  }
}

static void group_ready(planner *p, uint32_t id) {
  uint32_t f = p->r->groups[id].family;
  if (++p->families[f].ready == p->families[f].left) p->complete[p->n_complete++] = f;
}

/* The next family: complete; as long as the one before, so that both may share a loop; early on the tape. When none is
 * complete, that with most members ready. */
static uint32_t next_family(planner *p, uint32_t n_before) {
  uint32_t best = NONE;
  for (uint32_t i = 0; i < p->n_complete; i++) {
    if (best == NONE) {
      best = i;
      continue;
    }
    const family *f = &p->families[p->complete[i]], *b = &p->families[p->complete[best]];
    bool same = f->left == n_before, same_best = b->left == n_before;
    if (same != same_best ? same : p->complete[i] < p->complete[best]) best = i;
  }
  if (best != NONE) {
    uint32_t f = p->complete[best];
    p->complete[best] = p->complete[--p->n_complete];
    return f;
  }
  for (uint32_t f = 0; f < p->r->n_family; f++)
    if (p->families[f].ready > (best == NONE ? 0 : p->families[best].ready)) best = f;
  AG_ASSERT(best != NONE);
  return best;
}

static uint32_t compute_batch(planner *p, uint32_t f) {
  ag_roll *r = p->r;
  family *fam = &p->families[f];
  int n_batch = (int)r->n_batch;
  AG_PUSH(r->batches, n_batch, r->cap_batch);
  ag_roll_batch *b = &r->batches[r->n_batch];
  *b = (ag_roll_batch){.member = r->members.n};
  for (uint32_t i = 0; i < fam->n; i++) {
    ag_roll_group *group = &r->groups[p->groups[fam->first + i]];
    if (group->wait > 0 || group->batch != NONE) continue;
    group->batch = r->n_batch;
    group->position = b->n++;
    ag_roll_push(&r->members, p->groups[fam->first + i]);
  }
  const ag_instr *x = &r->g->tape->instr[r->groups[r->members.at[b->member]].root];
  b->n_result = ag_cgen_is_call(x->op) ? ag_cgen_results(r->g->tape, x) : 1;
  r->n_batch++;
  fam->left -= b->n;
  fam->ready -= b->n;
  for (uint32_t i = 0; i < b->n; i++) {
    uint32_t id = r->members.at[b->member + i];
    for (uint32_t k = p->user_first[id]; k < p->user_first[id + 1]; k++)
      if (--r->groups[p->users[k]].wait == 0) group_ready(p, p->users[k]);
  }
  return b->n;
}

static void find_order(ag_roll *r) {
  planner p = {.r = r};
  p.families = ag_heap_alloc(sizeof *p.families * (r->n_family + 1));
  p.groups = ag_heap_alloc(sizeof *p.groups * (r->n_group + 1));
  p.user_first = ag_heap_alloc(sizeof *p.user_first * ((size_t)r->n_group + 2));
  p.complete = ag_heap_alloc(sizeof *p.complete * (r->n_family + 1));
  link_up(&p);
  for (uint32_t id = 0; id < r->n_group; id++) r->groups[id].batch = NONE;
  for (uint32_t id = 0; id < r->n_group; id++)
    if (r->groups[id].wait == 0) group_ready(&p, id);
  for (uint32_t left = r->n_group, before = 0; left > 0; left -= before)
    before = compute_batch(&p, next_family(&p, before));
  free(p.families), free(p.groups), free(p.user_first), free(p.users), free(p.complete);
}

/* ---- outside ---- */

/* Operations to be written: those of a family once. */
static void measure(ag_roll *r) {
  unsigned char *seen = ag_heap_alloc(r->n_family + 1);
  for (uint32_t id = 0; id < r->n_group; id++) {
    const ag_roll_group *group = &r->groups[id];
    if (!seen[group->family]) r->n_written += group->n_segment ? group->n_segment : group->n_node;
    seen[group->family] = 1;
  }
  free(seen);
}

bool ag_roll_init(ag_roll *r, const ag_cgen_state *g, bool prep) {
  size_t n = (size_t)g->tape->n_instr + 1, n_value = (size_t)g->n_value + 1;
  *r = (ag_roll){
      .g = g, .prep = prep, .from = prep ? 0 : g->tape->n_prep, .to = prep ? g->tape->n_prep : g->tape->n_instr};
  r->n_out = (uint32_t)(prep ? g->n_prep : g->tape->n_out);
  r->outs = ag_heap_alloc(sizeof *r->outs * (r->n_out + 1));
  r->uses = ag_heap_alloc(sizeof *r->uses * n_value);
  r->out_of = ag_heap_alloc(sizeof *r->out_of * n_value);
  r->kind = ag_heap_alloc(n_value);
  r->group_of = ag_heap_alloc(sizeof *r->group_of * n);
  r->local = ag_heap_alloc(sizeof *r->local * n);
  r->acc = ag_heap_alloc(n);
  memset(r->out_of, 0xff, sizeof *r->out_of * n_value);
  memset(r->group_of, 0xff, sizeof *r->group_of * n);
  memset(r->local, 0xff, sizeof *r->local * n);
  if (prep) {
    for (uint32_t v = 0; v < g->n_value; v++)
      if (g->values[v].prep >= 0) r->outs[g->values[v].prep] = v;
  } else {
    memcpy(r->outs, g->outs, sizeof *r->outs * r->n_out);
  }
  count_uses(r);
  find_chains(r);
  find_groups(r);
  find_shapes(r);
  find_families(r);
  measure(r);
  if (r->n_operation == 0 || MIN_GAIN * r->n_written > r->n_operation) return false;
  find_order(r);
  ag_roll_arrange(r);
  return true;
}

void ag_roll_done(ag_roll *r) {
  free(r->outs), free(r->uses), free(r->out_of), free(r->kind), free(r->group_of), free(r->local), free(r->acc);
  free(r->groups);
  free(r->nodes.at), free(r->leaves.at), free(r->keys.at), free(r->segments.at), free(r->members.at), free(r->batches);
}
