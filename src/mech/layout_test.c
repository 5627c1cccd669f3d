/* SPDX-License-Identifier: MIT
 * The layout: rows cover their arrays without gaps, every name is found again, and nothing else is found. */
#include "tests/mech_models.h"

/* Each row begins where the one before it ends. Returns the end. */
static int check_row(const ag_layout_row *row, ag_layout_kind kind, int at, int *tangent) {
  AG_CHECK(row->kind == kind && (row->at == at || row->n == 0));
  if (row->n_tangent) AG_CHECK(row->tangent == *tangent);
  *tangent += row->n_tangent;
  return at + row->n;
}

static void check_ends(const ag_system *sys) {
  const ag_dims *n = &sys->n;
  const int begin[AG_LAYOUT_KINDS] = {[AG_LAYOUT_VELOCITY] = n->q, [AG_LAYOUT_PROCESS] = n->q + n->xi};
  int tangent = 0, end[AG_LAYOUT_KINDS], count;
  for (int kind = 0; kind < AG_LAYOUT_KINDS; kind++) {
    const ag_layout_row *rows = ag_layout_rows(sys, (ag_layout_kind)kind, &count);
    end[kind] = begin[kind];
    for (int i = 0; i < count; i++) {
      end[kind] = check_row(&rows[i], (ag_layout_kind)kind, end[kind], &tangent);
      AG_CHECK(ag_layout_item(sys, (ag_layout_kind)kind, i) == &rows[i]);
    }
  }
  AG_CHECK(end[AG_LAYOUT_COORDINATE] == n->q && end[AG_LAYOUT_VELOCITY] == n->q + n->xi);
  AG_CHECK(end[AG_LAYOUT_PROCESS] == n->x && end[AG_LAYOUT_PARAMETER] == n->param);
  AG_CHECK(end[AG_LAYOUT_OBSERVABLE] == n->observe && tangent == 2 * n->xi + n->process);
}

/* Format and find, there and back, for the whole and for each entry. */
static void check_names(const ag_system *sys) {
  for (int kind = 0; kind < AG_LAYOUT_KINDS; kind++) {
    int n, entry;
    const ag_layout_row *rows = ag_layout_rows(sys, (ag_layout_kind)kind, &n);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < rows[i].rows * rows[i].cols; k++) {
        bool single = rows[i].rows * rows[i].cols == 1;
        ag_text name = {0};
        ag_entry_name(rows[i].name, rows[i].rows, rows[i].cols, k, &name);
        AG_CHECK(ag_layout_find(sys, name.s, &entry) == &rows[i] && entry == (single ? -1 : k));
        AG_CHECK(ag_layout_find(sys, rows[i].name, &entry) == &rows[i] && entry == -1);
        ag_text_done(&name);
      }
  }
}

/* All numbers of the reduced state have names of their own. */
static void check_reduced(const ag_system *sys) {
  ag_text *names = ag_heap_alloc(sizeof *names * (size_t)(sys->n.z + 1));
  for (int k = 0; k < sys->n.z; k++) {
    ag_reduced_name(sys, k, &names[k]);
    AG_CHECK(names[k].n > 0);
    for (int i = 0; i < k; i++) AG_CHECK(strcmp(names[i].s, names[k].s) != 0);
    int at = ag_reduced_at(sys, k), entry;
    for (int i = 0; i < k && at >= 0; i++) AG_CHECK(ag_reduced_at(sys, i) != at);
    const ag_layout_row *row = ag_layout_find(sys, names[k].s, &entry);
    if (at >= 0 && row && row->kind == AG_LAYOUT_VELOCITY) AG_CHECK(at == row->at + (entry < 0 ? 0 : entry));
  }
  for (int k = 0; k < sys->n.z; k++) ag_text_done(&names[k]);
  free(names);
}

static void check(bench_system *b) {
  check_ends(b->sys);
  check_names(b->sys);
  check_reduced(b->sys);
}

static void check_stored(void) {
  static const char *const words[] = {"R as a quaternion: w", "R as a quaternion: x", "R as a quaternion: y",
                                      "R as a quaternion: z"};
  bench_system b;
  bench_init(&b, &(mech_case){.make = top});
  for (int k = 0; k < 4; k++) {
    ag_text text = {0};
    ag_stored_name(ag_layout_item(b.sys, AG_LAYOUT_COORDINATE, 0), k, &text);
    AG_CHECK_STR(text.s, words[k]);
    ag_text_done(&text);
  }
  bench_done(&b);
}

int main(void) {
  check_stored();
  return each_case(check);
}
