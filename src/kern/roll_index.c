/* SPDX-License-Identifier: MIT
 * Places as expressions, and the tables these need. */
#include "kern/roll_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "kern/cgen.h"

typedef struct ag_roll_table {
  uint64_t hash;
  uint32_t n;
  bool real;
  void *content; /* ints or doubles */
} table;

static uint64_t hash_bytes(const void *content, size_t size) {
  const unsigned char *s = content;
  uint64_t h = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < size; i++) h = (h ^ s[i]) * 0x100000001b3ULL;
  return h;
}

static void define(ag_roll_index *x, const table *t, int id) {
  ag_text_printf(x->out, "static const %s %s_i%d[%u] = {", t->real ? "double" : "int", x->name, id, t->n);
  for (uint32_t i = 0; i < t->n; i++) {
    ag_text_str(x->out, i % 16 == 0 ? "\n  " : " ");
    if (t->real) ag_cgen_number(((double *)t->content)[i], x->out);
    else ag_text_printf(x->out, "%d", ((int *)t->content)[i]);
    ag_text_char(x->out, ',');
  }
  ag_text_str(x->out, "\n};\n");
}

/* The number of the table with this content, which is taken over. */
static int find_table(ag_roll_index *x, void *content, uint32_t n, bool real) {
  size_t size = n * (real ? sizeof(double) : sizeof(int));
  uint64_t hash = hash_bytes(content, size);
  for (int i = 0; i < x->n_table; i++) {
    const table *t = &x->tables[i];
    if (t->hash != hash || t->n != n || t->real != real || memcmp(t->content, content, size)) continue;
    free(content);
    return i;
  }
  AG_PUSH(x->tables, x->n_table, x->cap_table);
  x->tables[x->n_table] = (table){hash, n, real, content};
  define(x, &x->tables[x->n_table], x->n_table);
  return x->n_table++;
}

static void put_affine(int a, int b, const char *k, ag_text *out) {
  if (b == 0) return;
  if (a || b < 0) ag_text_str(out, b < 0 ? " - " : " + ");
  if (b != 1 && b != -1) ag_text_printf(out, "%d * ", b < 0 ? -b : b);
  ag_text_str(out, k);
}

/* a + b k + c j */
static void put_plain(int a, int b, int c, ag_text *out) {
  if (a || (!b && !c) || b < 0 || (!b && c < 0)) ag_text_printf(out, "%d", a);
  put_affine(a, b, "k", out);
  put_affine(a || b, c, "j", out);
}

/* Rows of one length, or 0. */
static uint32_t common_length(uint32_t n, const uint32_t *n_col) {
  for (uint32_t k = 1; n_col && k < n; k++)
    if (n_col[k] != n_col[0]) return 0;
  return n_col ? n_col[0] : 1;
}

/* The position in a table of all rows. */
static void put_position(ag_roll_index *x, uint32_t n, const uint32_t *n_col, ag_text *out) {
  uint32_t length = common_length(n, n_col);
  if (n == 1) {
    ag_text_char(out, 'j');
  } else if (length) {
    put_plain(0, (int)length, n_col ? 1 : 0, out);
  } else {
    int *first = ag_heap_alloc(sizeof *first * n);
    for (uint32_t k = 1; k < n; k++) first[k] = first[k - 1] + (int)n_col[k - 1];
    ag_roll_index_put(x, first, n, NULL, out);
    free(first);
    ag_text_str(out, " + j");
  }
}

/* a + table[...] with the table beginning at 0 */
static void put_table(ag_roll_index *x, const int *at, uint32_t total, uint32_t n, const uint32_t *n_col,
                      ag_text *out) {
  int *content = ag_heap_alloc(sizeof *content * (total + 1));
  for (uint32_t i = 0; i < total; i++) content[i] = at[i] - at[0];
  int id = find_table(x, content, total, false);
  if (at[0]) ag_text_printf(out, "%d + ", at[0]);
  ag_text_printf(out, "%s_i%d[", x->name, id);
  put_position(x, n, n_col, out);
  ag_text_char(out, ']');
}

/* The step along all rows, when there is one. */
static bool column_step(const int *at, uint32_t n, const uint32_t *n_col, int *c) {
  bool known = false;
  *c = 0;
  for (uint32_t k = 0; n_col && k < n; at += n_col[k++])
    for (uint32_t j = 1; j < n_col[k]; j++) {
      int step = at[j] - at[j - 1];
      if (known && step != *c) return false;
      known = true;
      *c = step;
    }
  return true;
}

void ag_roll_index_put(ag_roll_index *x, const int *at, uint32_t n, const uint32_t *n_col, ag_text *out) {
  int c, b = 0;
  uint32_t total = n_col ? 0 : n;
  for (uint32_t k = 0; n_col && k < n; k++) total += n_col[k];
  if (!column_step(at, n, n_col, &c)) {
    put_table(x, at, total, n, n_col, out);
    return;
  }
  int *row = ag_heap_alloc(sizeof *row * n); /* where each row begins */
  bool even = true;
  for (uint32_t k = 0, i = 0; k < n; i += n_col ? n_col[k] : 1, k++) row[k] = at[i];
  if (n > 1) b = row[1] - row[0];
  for (uint32_t k = 1; k < n && even; k++) even = row[k] - row[k - 1] == b;
  if (even) {
    put_plain(row[0], b, c, out);
  } else {
    put_table(x, row, n, n, NULL, out);
    put_affine(1, c, "j", out);
  }
  free(row);
}

void ag_roll_index_number(ag_roll_index *x, const double *constants, const int *at, uint32_t n, const uint32_t *n_col,
                          ag_text *out) {
  uint32_t total = n_col ? 0 : n;
  for (uint32_t k = 0; n_col && k < n; k++) total += n_col[k];
  double *content = ag_heap_alloc(sizeof *content * (total + 1));
  bool equal = true;
  for (uint32_t i = 0; i < total; i++) {
    content[i] = constants[at[i]];
    equal = equal && !memcmp(&content[i], &content[0], sizeof *content);
  }
  if (equal) {
    ag_cgen_number(content[0], out);
    free(content);
    return;
  }
  int id = find_table(x, content, total, true);
  ag_text_printf(out, "%s_i%d[", x->name, id);
  put_position(x, n, n_col, out);
  ag_text_char(out, ']');
}

void ag_roll_index_done(ag_roll_index *x) {
  for (int i = 0; i < x->n_table; i++) free(x->tables[i].content);
  free(x->tables);
}
