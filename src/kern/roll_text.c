/* SPDX-License-Identifier: MIT
 * Batches of a rolled tape -> C. Each batch gets a place for its results in the array s, given back after the last
 * batch that reads it; in a loop of several batches their values are variables. Places of what a member reads are
 * a + b k, or a table. A chain is a loop in a loop. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "kern/roll.h"
#include "kern/roll_index.h"
#include "kern/roll_places.h"

enum { NONE = AG_CGEN_NONE };
enum { MAX_FUNCTION = 1500 };

typedef struct pair { /* sin and cos of the same number: one call */
  uint32_t sine, cosine;
  bool written;
} pair;

typedef struct writer {
  ag_roll *r;
  const char *name;
  ag_roll_index index;     /* tables; their text goes out first */
  ag_text body, functions; /* the open function; all closed ones */
  int n_function;
  long n_operation;       /* in the open function */
  uint32_t *function_of;  /* per instruction: 1 + the function in which it is a variable */
  ag_roll_places s;       /* of the array s */
  uint32_t first, n_open; /* batches of the open loop */
  long n_loop;            /* operations in it */
  uint32_t freed;         /* batches before this one are checked for places to give back when a loop is closed */
  char **leaves;          /* texts of what the batches of the loop read: leaf_at[batch - first] + number */
  uint32_t n_leaf, *leaf_at;
  int cap_leaf, cap_at;
  pair *pairs; /* in the open loop */
  int n_pair, cap_pair;
} writer;

static ag_roll_group *member(const writer *w, const ag_roll_batch *b, uint32_t m) { return ag_roll_member(w->r, b, m); }

static bool is_out(const writer *w, const ag_roll_batch *b) {
  return ag_roll_kind_of(w->r, w->r->g->result[member(w, b, 0)->root]) == AG_ROLL_OUT;
}

static const char *array_of(const writer *w, ag_roll_kind kind) {
  if (kind == AG_ROLL_S) return "s";
  if (kind == AG_ROLL_OUT) return w->r->prep ? "prep" : "out";
  return kind == AG_ROLL_PREP ? "prep" : ag_segment_describe((ag_seg)(kind - AG_ROLL_SEGMENT))->name;
}

static uint32_t leaf(const writer *w, const ag_roll_batch *b, uint32_t m, uint32_t k) {
  return ag_roll_leaf(w->r, b, m, k);
}

static uint32_t root_value(const writer *w, const ag_roll_batch *b, uint32_t m) {
  return w->r->g->result[member(w, b, m)->root];
}

/* ---- names and accesses ---- */

static char *own(ag_text *text) { /* the string, now the caller's */
  ag_text_char(text, ' ');
  text->s[--text->n] = 0;
  char *s = text->s;
  *text = (ag_text){0};
  return s;
}

static void put_name(const writer *w, uint32_t value, ag_text *out) {
  const ag_cgen_value *v = &w->r->g->values[value];
  const ag_instr *x = &w->r->g->tape->instr[v->instr];
  if (ag_cgen_is_call(x->op)) ag_text_printf(out, "m%u[%u]", v->instr, ag_cgen_result_at(w->r->g->tape, x) + v->entry);
  else ag_cgen_index(out, "x", v->instr, "");
}

/* Values at [k][j], one row per member: n rows of n_col[k] each (NULL: one). */
static void put_access(writer *w, const uint32_t *values, uint32_t n, const uint32_t *n_col, ag_text *out) {
  ag_roll_kind kind = ag_roll_kind_of(w->r, values[0]);
  uint32_t total = n;
  if (n_col) total = 0;
  for (uint32_t k = 0; n_col && k < n; k++) total += n_col[k];
  int *at = ag_heap_alloc(sizeof *at * (total + 1));
  for (uint32_t i = 0; i < total; i++) at[i] = ag_roll_place(w->r, values[i]);
  if (kind == AG_ROLL_CONST) {
    ag_text_str(out, "v_set(");
    ag_roll_index_number(&w->index, w->r->g->tape->constants, at, n, n_col, out);
    ag_text_char(out, ')');
  } else {
    ag_text_printf(out, "%s[", array_of(w, kind));
    ag_roll_index_put(&w->index, at, n, n_col, out);
    ag_text_char(out, ']');
  }
  free(at);
}

/* What members from .. from+n-1 read as leaf k. */
static char *leaf_text(writer *w, const ag_roll_batch *b, uint32_t from, uint32_t n, uint32_t k) {
  ag_text text = {0};
  uint32_t v = leaf(w, b, from, k), instr = w->r->g->values[v].instr;
  ag_roll_kind kind = ag_roll_kind_of(w->r, v);
  bool made = kind == AG_ROLL_S || kind == AG_ROLL_OUT;
  if (made && n == 1 && w->function_of[instr] == (uint32_t)w->n_function + 1) {
    put_name(w, v, &text);
  } else if (made && n > 1 && w->n_open && ag_roll_maker(w->r, v)->batch >= w->first) {
    put_name(w, v, &text); /* of the first member; the others are found in the same way */
  } else {
    uint32_t *values = ag_heap_alloc(sizeof *values * n);
    for (uint32_t m = 0; m < n; m++) values[m] = leaf(w, b, from + m, k);
    put_access(w, values, n, NULL, &text);
    free(values);
  }
  return own(&text);
}

/* ---- instructions ---- */

static void put_formula(const char *c, const char *const args[3], ag_text *out) {
  for (int k; (k = ag_cgen_formula(&c, out)) >= 0;) ag_text_str(out, args[k]);
}

/* Walks through the shape of a group: its instructions and the texts of their arguments. */
typedef struct cursor {
  const ag_roll_group *group;
  const uint32_t *key;
  uint32_t node;
  char *const *leaves;
} cursor;

static void put_arg(const writer *w, cursor *c, ag_text *out) {
  uint32_t word = *c->key++;
  if (word & 0x80000000u) ag_text_str(out, c->leaves[word & 0xffffffu]);
  else ag_text_printf(out, "x%u", w->r->nodes.at[c->group->node + word]);
}

static void put_solve(writer *w, cursor *c, uint32_t instr, const char *indent) {
  const ag_tape *tape = w->r->g->tape;
  c->key++; /* which */
  ag_text_str(&w->body, indent);
  ag_cgen_put_room(tape, instr, w->r->g->how->name, &w->body);
  ag_text_str(&w->body, ";\n");
  for (int k = 0, n = ag_roll_arity(w->r, instr); k < n; k++) {
    ag_text_printf(&w->body, "%s%sm%u[%d] = ", k % 4 ? " " : k ? "\n" : "", k % 4 ? "" : indent, instr, k);
    put_arg(w, c, &w->body);
    ag_text_char(&w->body, ';');
  }
  ag_text_printf(&w->body, "\n%s", indent);
  ag_cgen_put_call(tape, instr, w->r->g->how->name, &w->body);
}

static pair *pair_of(const writer *w, uint32_t instr) {
  for (int i = 0; i < w->n_pair; i++)
    if (w->pairs[i].sine == instr || w->pairs[i].cosine == instr) return &w->pairs[i];
  return NULL;
}

static void put_node(writer *w, cursor *c, const char *indent) {
  uint32_t instr = w->r->nodes.at[c->group->node + c->node++];
  const ag_instr *x = &w->r->g->tape->instr[instr];
  AG_ASSERT(*c->key == x->op);
  c->key++;
  if (ag_cgen_is_call(x->op)) {
    put_solve(w, c, instr, indent);
    return;
  }
  ag_text args[3] = {{0}, {0}, {0}};
  pair *both = x->op == AG_OP_SIN || x->op == AG_OP_COS ? pair_of(w, instr) : NULL;
  for (int k = 0, n = ag_op_describe((ag_op)x->op)->arity; k < n; k++) put_arg(w, c, &args[k]);
  if (!both) {
    const char *const texts[3] = {ag_text_cstr(&args[0]), ag_text_cstr(&args[1]), ag_text_cstr(&args[2])};
    ag_text_printf(&w->body, "%sconst V x%u = ", indent, instr);
    put_formula(ag_op_describe((ag_op)x->op)->value, texts, &w->body);
    ag_text_str(&w->body, ";\n");
  } else if (!both->written) {
    ag_text_printf(&w->body, "%sV x%u, x%u;\n%sv_sincos(%s, &x%u, &x%u);\n", indent, both->sine, both->cosine, indent,
                   ag_text_cstr(&args[0]), both->sine, both->cosine);
    both->written = true;
  }
  for (int k = 0; k < 3; k++) ag_text_done(&args[k]);
}

/* Finds the pairs of a group among what reads the same text. */
static void find_pairs(writer *w, const ag_roll_group *group, char *const *leaves, ag_text *seen) {
  cursor c = {group, w->r->keys.at + group->key, 0, leaves};
  while (c.node < group->n_node) {
    uint32_t instr = w->r->nodes.at[group->node + c.node++], op = *c.key++;
    if (op != AG_OP_SIN && op != AG_OP_COS) {
      c.key += ag_roll_arity(w->r, instr) + ag_cgen_is_call((uint16_t)op);
      continue;
    }
    ag_text entry = {0}; /* "c ARGUMENT\n" followed by the instruction */
    ag_text_printf(&entry, "\n%c ", op == AG_OP_SIN ? 'c' : 's');
    put_arg(w, &c, &entry);
    ag_text_str(&entry, ";");
    const char *other = strstr(ag_text_cstr(seen), ag_text_cstr(&entry));
    if (other) {
      uint32_t with = (uint32_t)strtoul(other + entry.n, NULL, 10);
      if (!pair_of(w, with)) {
        AG_PUSH(w->pairs, w->n_pair, w->cap_pair);
        w->pairs[w->n_pair++] = op == AG_OP_SIN ? (pair){instr, with, false} : (pair){with, instr, false};
      }
    } else {
      entry.s[1] = op == AG_OP_SIN ? 's' : 'c';
      ag_text_str(seen, ag_text_cstr(&entry));
      ag_text_printf(seen, "%u", instr);
    }
    ag_text_done(&entry);
  }
}

/* ---- functions ---- */

static void open_function(writer *w) {
  ag_text_printf(&w->body, "static __attribute__((noinline)) void %s_%d(", w->name, w->n_function);
  ag_cgen_put_parameters(w->r->g->tape, w->r->prep, true, &w->body);
  ag_text_str(&w->body, ") {\n  VI fail = v_word_set(0);\n");
}

static void close_function(writer *w) {
  ag_text_str(&w->body, "  *failed |= fail;\n");
  ag_cgen_put_unused(w->r->g->tape, w->r->prep, true, &w->body);
  ag_text_str(&w->body, "}\n\n");
  ag_text_str(&w->functions, ag_text_cstr(&w->body));
  ag_text_clear(&w->body);
  w->n_function++;
  w->n_operation = 0;
}

/* Room for so many operations, in a new function if need be. */
static void make_room(writer *w, long n) {
  if (w->n_operation > 0 && w->n_operation + n > MAX_FUNCTION) {
    close_function(w);
    open_function(w);
  }
  w->n_operation += n;
}

/* ---- batches ---- */

/* Members from .. from+n-1 (k = 0 .. n-1) store their results if they are needed outside. */
static void put_store(writer *w, const ag_roll_batch *b, uint32_t from, uint32_t n, bool needed, const char *sum,
                      const char *indent) {
  uint32_t v = root_value(w, b, from), *values = ag_heap_alloc(sizeof *values * n);
  ag_text to = {0}, name = {0};
  for (uint32_t m = 0; m < n; m++) values[m] = root_value(w, b, from + m);
  put_access(w, values, n, NULL, &to);
  if (b->n_result > 1 && needed) {
    to.s[--to.n] = 0; /* without the bracket */
    ag_text_printf(&w->body, "%sfor (int e = 0; e < %u; e++) %s + e] = m%u[%u + e];\n", indent, b->n_result,
                   ag_text_cstr(&to), w->r->g->values[v].instr,
                   ag_cgen_result_at(w->r->g->tape, &w->r->g->tape->instr[w->r->g->values[v].instr]));
  } else if (needed || ag_roll_kind_of(w->r, v) == AG_ROLL_OUT) {
    put_name(w, v, &name);
    ag_text_printf(&w->body, "%s%s = %s;\n", indent, ag_text_cstr(&to), sum ? sum : ag_text_cstr(&name));
  }
  ag_text_done(&to), ag_text_done(&name);
  free(values);
}

static void put_group(writer *w, const ag_roll_group *group, char *const *leaves, const char *indent) {
  cursor c = {group, w->r->keys.at + group->key, 0, leaves};
  while (c.node < group->n_node) put_node(w, &c, indent);
}

/* The steps of stretch g of the chains of members from .. from+n-1; first[m] is the first leaf of it in each. */
static void put_stretch(writer *w, const ag_roll_batch *b, uint32_t from, uint32_t n, uint32_t g, uint32_t *first,
                        uint32_t step, const char *indent) {
  const ag_roll *r = w->r;
  uint32_t instr = r->nodes.at[member(w, b, from)->node + step], total = 0, *n_col = ag_heap_alloc(sizeof *n_col * n);
  int n_arg = ag_roll_arity(r, instr), at = r->acc[instr] - 1;
  bool equal = true;
  for (uint32_t m = 0; m < n; m++) {
    n_col[m] = r->segments.at[member(w, b, from + m)->segment + g];
    total += n_col[m];
    equal = equal && n_col[m] == n_col[0];
  }
  uint32_t *values = ag_heap_alloc(sizeof *values * total);
  ag_text args[3] = {{0}, {0}, {0}}, length = {0};
  ag_text_str(&args[at], "sum");
  for (int a = 0, which = 0; a < n_arg; a++) {
    if (a == at) continue;
    for (uint32_t m = 0, i = 0; m < n; m++)
      for (uint32_t j = 0; j < n_col[m]; j++)
        values[i++] = leaf(w, b, from + m, first[m] + j * (uint32_t)(n_arg - 1) + (uint32_t)which);
    which++;
    put_access(w, values, n, n_col, &args[a]);
  }
  if (equal) ag_text_printf(&length, "%u", n_col[0]);
  else ag_roll_index_put(&w->index, (const int *)n_col, n, NULL, &length);
  const char *const texts[3] = {ag_text_cstr(&args[0]), ag_text_cstr(&args[1]), ag_text_cstr(&args[2])};
  ag_text_printf(&w->body, "%sfor (int j = 0; j < %s; j++) sum = ", indent, ag_text_cstr(&length));
  put_formula(ag_op_describe((ag_op)r->g->tape->instr[instr].op)->value, texts, &w->body);
  ag_text_str(&w->body, ";\n");
  for (uint32_t m = 0; m < n; m++) first[m] += n_col[m] * (uint32_t)(n_arg - 1);
  for (int k = 0; k < 3; k++) ag_text_done(&args[k]);
  ag_text_done(&length);
  free(values), free(n_col);
}

static void put_chain(writer *w, const ag_roll_batch *b, uint32_t from, uint32_t n) {
  const ag_roll_group *group = member(w, b, from);
  const char *indent = "    ";
  make_room(w, (long)group->n_segment + 1);
  char *start = leaf_text(w, b, from, n, 0);
  uint32_t *first = ag_heap_alloc(sizeof *first * n);
  for (uint32_t m = 0; m < n; m++) first[m] = 1;
  if (n > 1) ag_text_printf(&w->body, "  for (int k = 0; k < %u; k++) {\n", n);
  else ag_text_str(&w->body, "  {\n");
  ag_text_printf(&w->body, "    V sum = %s;\n", start);
  for (uint32_t g = 0, step = 0; g < group->n_segment; g++) {
    put_stretch(w, b, from, n, g, first, step, indent);
    step += w->r->segments.at[group->segment + g];
  }
  put_store(w, b, from, n, true, "sum", indent);
  ag_text_str(&w->body, "  }\n");
  free(start), free(first);
}

/* A solve whose arguments are fetched by loops, one for each kind. */
static void put_gathering(writer *w, const ag_roll_batch *b, uint32_t m) {
  const ag_roll *r = w->r;
  uint32_t instr = member(w, b, m)->root, n_arg = (uint32_t)ag_roll_arity(r, instr);
  uint32_t *values = ag_heap_alloc(sizeof *values * n_arg);
  int *to = ag_heap_alloc(sizeof *to * n_arg);
  make_room(w, 20);
  ag_text_str(&w->body, "  ");
  ag_cgen_put_room(r->g->tape, instr, r->g->how->name, &w->body);
  ag_text_str(&w->body, ";\n");
  for (int kind = 0; kind < AG_ROLL_SEGMENT + AG_SEG_COUNT; kind++) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_arg; k++) {
      uint32_t v = ag_roll_arg(r, instr, (int)k);
      if ((int)ag_roll_kind_of(r, v) == kind) values[n] = v, to[n++] = (int)k;
    }
    if (n == 0) continue;
    if (n == 1) ag_text_printf(&w->body, "  m%u[", instr);
    else ag_text_printf(&w->body, "  for (int k = 0; k < %u; k++) m%u[", n, instr);
    ag_roll_index_put(&w->index, to, n, NULL, &w->body);
    ag_text_str(&w->body, "] = ");
    put_access(w, values, n, NULL, &w->body);
    ag_text_str(&w->body, ";\n");
  }
  ag_text_str(&w->body, "  ");
  ag_cgen_put_call(r->g->tape, instr, r->g->how->name, &w->body);
  put_store(w, b, m, 1, true, NULL, "  ");
  free(values), free(to);
}

/* One member as straight code. */
static void put_single(writer *w, const ag_roll_batch *b, uint32_t m) {
  const ag_roll_group *group = member(w, b, m);
  make_room(w, group->n_node);
  char **leaves = ag_heap_alloc(sizeof *leaves * (group->n_leaf + 1));
  ag_text seen = {0};
  for (uint32_t k = 0; k < group->n_leaf; k++) leaves[k] = leaf_text(w, b, m, 1, k);
  w->n_pair = 0;
  find_pairs(w, group, leaves, &seen);
  put_group(w, group, leaves, "  ");
  for (uint32_t k = 0; k < group->n_node; k++)
    w->function_of[w->r->nodes.at[group->node + k]] = (uint32_t)w->n_function + 1;
  put_store(w, b, m, 1, true, NULL, "  ");
  for (uint32_t k = 0; k < group->n_leaf; k++) free(leaves[k]);
  free(leaves);
  ag_text_done(&seen);
}

/* Writes the open loop and releases array elements that are no longer read. */
static void close_loop(writer *w) {
  ag_roll *r = w->r;
  uint32_t end = w->first + w->n_open;
  if (w->n_open == 0) return;
  ag_text seen = {0};
  make_room(w, w->n_loop);
  w->n_pair = 0;
  w->n_leaf = 0;
  for (uint32_t i = w->first; i < end; i++) {
    const ag_roll_batch *b = &r->batches[i];
    w->leaf_at[i - w->first] = w->n_leaf;
    for (uint32_t k = 0; k < member(w, b, 0)->n_leaf; k++) {
      int n = (int)w->n_leaf;
      AG_PUSH(w->leaves, n, w->cap_leaf);
      w->leaves[w->n_leaf++] = leaf_text(w, b, 0, b->n, k);
    }
  }
  for (uint32_t i = w->first; i < end; i++)
    find_pairs(w, member(w, &r->batches[i], 0), w->leaves + w->leaf_at[i - w->first], &seen);
  ag_text_printf(&w->body, "  for (int k = 0; k < %u; k++) {\n", r->batches[w->first].n);
  for (uint32_t i = w->first; i < end; i++) {
    const ag_roll_batch *b = &r->batches[i];
    put_group(w, member(w, b, 0), w->leaves + w->leaf_at[i - w->first], "    ");
    put_store(w, b, 0, b->n, b->last >= end, NULL, "    ");
  }
  ag_text_str(&w->body, "  }\n");
  for (uint32_t k = 0; k < w->n_leaf; k++) free(w->leaves[k]);
  ag_text_done(&seen);
  w->first = end;
  w->n_open = 0;
  w->n_loop = 0;
}

/* Places that batches before `end` were the last to read. */
static void recycle(writer *w, uint32_t end, uint32_t **ends, const uint32_t *n_end) {
  for (; w->freed < end; w->freed++)
    for (uint32_t k = 0; k < n_end[w->freed]; k++) {
      const ag_roll_batch *b = &w->r->batches[ends[w->freed][k]];
      if (!is_out(w, b)) ag_roll_places_give_back(&w->s, b->base, b->n * b->n_result);
    }
}

static void put_batches(writer *w) {
  ag_roll *r = w->r;
  uint32_t **ends = ag_heap_alloc(sizeof *ends * (r->n_batch + 1)); /* per batch: those it is the last to read */
  uint32_t *n_end = ag_heap_alloc(sizeof *n_end * (r->n_batch + 1)),
           *pool = ag_heap_alloc(sizeof *pool * (r->n_batch + 1));
  for (uint32_t i = 0; i < r->n_batch; i++)
    if (r->batches[i].last != NONE) n_end[r->batches[i].last]++;
  for (uint32_t i = 0, at = 0; i < r->n_batch; i++) ends[i] = pool + at, at += n_end[i], n_end[i] = 0;
  for (uint32_t i = 0; i < r->n_batch; i++)
    if (r->batches[i].last != NONE) ends[r->batches[i].last][n_end[r->batches[i].last]++] = i;
  for (uint32_t i = 0; i < r->n_batch; i++) {
    ag_roll_batch *b = &r->batches[i];
    bool loop = b->n >= AG_ROLL_MIN_LOOP && member(w, b, 0)->n_segment == 0;
    if (b->begins) {
      close_loop(w);
      recycle(w, i, ends, n_end);
      w->first = i;
    }
    if (!is_out(w, b)) b->base = ag_roll_places_take(&w->s, b->n * b->n_result);
    if (loop) {
      int n = (int)w->n_open;
      AG_PUSH(w->leaf_at, n, w->cap_at);
      w->n_open++;
      w->n_loop += member(w, b, 0)->n_node;
    } else if (member(w, b, 0)->n_segment && b->n >= AG_ROLL_MIN_LOOP) {
      put_chain(w, b, 0, b->n);
    } else {
      for (uint32_t m = 0; m < b->n; m++) {
        if (member(w, b, m)->n_segment) put_chain(w, b, m, 1);
        else if (ag_roll_gathers(r, member(w, b, m)->root)) put_gathering(w, b, m);
        else put_single(w, b, m);
      }
    }
  }
  close_loop(w);
  free(ends), free(n_end), free(pool);
}

/* Outputs stored elsewhere: inputs, constants, solutions, outputs that occur twice. One loop for each kind. */
static void put_copies(writer *w) {
  const ag_roll *r = w->r;
  uint32_t *values = ag_heap_alloc(sizeof *values * (r->n_out + 1));
  int *to = ag_heap_alloc(sizeof *to * (r->n_out + 1));
  for (int kind = 0; kind < AG_ROLL_SEGMENT + AG_SEG_COUNT; kind++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_out; i++) {
      uint32_t v = r->outs[i];
      if ((int)ag_roll_kind_of(r, v) != kind || (kind == AG_ROLL_OUT && r->out_of[v] == i)) continue;
      values[n] = v;
      to[n++] = (int)i;
    }
    if (n == 0) continue;
    make_room(w, 1);
    if (n > 1) ag_text_printf(&w->body, "  for (int k = 0; k < %u; k++) ", n);
    else ag_text_str(&w->body, "  ");
    ag_text_printf(&w->body, "%s[", array_of(w, AG_ROLL_OUT));
    ag_roll_index_put(&w->index, to, n, NULL, &w->body);
    ag_text_str(&w->body, "] = ");
    put_access(w, values, n, NULL, &w->body);
    ag_text_str(&w->body, ";\n");
  }
  free(values), free(to);
}

void ag_roll_text(ag_roll *r, const char *name, ag_text *out) {
  writer w = {.r = r, .name = name, .index = {.name = name, .out = out}};
  w.function_of = ag_heap_alloc(sizeof *w.function_of * ((size_t)r->g->tape->n_instr + 1));
  open_function(&w);
  put_batches(&w);
  put_copies(&w);
  close_function(&w);
  ag_text_char(out, '\n');
  ag_text_str(out, ag_text_cstr(&w.functions));
  ag_cgen_put_storage(name, "s", w.s.n + 1, out);
  ag_text_printf(out, "static void %s(", name);
  ag_cgen_put_parameters(r->g->tape, r->prep, false, out);
  ag_text_str(out, ") {\n  ");
  ag_cgen_put_array(name, "s", w.s.n + 1, out);
  ag_text_str(out, ";\n");
  for (int i = 0; i < w.n_function; i++) {
    ag_text_printf(out, "  %s_%d(", name, i);
    ag_cgen_put_arguments(r->g->tape, r->prep, out);
    ag_text_str(out, ");\n");
  }
  ag_text_str(out, "}\n\n");
  ag_text_done(&w.body), ag_text_done(&w.functions);
  ag_roll_index_done(&w.index);
  free(w.function_of), ag_roll_places_done(&w.s), free(w.leaves), free(w.leaf_at), free(w.pairs);
}
