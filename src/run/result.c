/* SPDX-License-Identifier: MIT
 * The memory of results: one list of the blocks of each, for freeing them and for moving them to another heap. */
#include "base/arena.h"
#include "run/run.h"

/* Frees the blocks, or moves them when there is a heap to move them to. */
static void treat(size_t n, void *const *blocks, ag_heap *to) {
  for (size_t i = 0; i < n; i++)
    if (to) ag_heap_move(blocks[i], to);
    else free(blocks[i]);
}
#define TREAT(to, ...) treat(sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__}, to)

static void treat_run(const ag_run_result *r, ag_heap *to) {
  const ag_checkpoint *c = &r->checkpoint;
  for (int i = 0; i < r->n_event; i++) TREAT(to, r->event_times[i]);
  TREAT(to, r->x, r->record, r->event_times, r->event_count, r->doubts, r->undefined, r->fitted, r->engine_note, r->why,
        r->renewed);
  TREAT(to, c->z, c->dz, c->unit, c->atol, c->c, c->sign, c->event_count);
}

void ag_run_done(ag_run_result *result) {
  treat_run(result, NULL);
  *result = (ag_run_result){0};
}

void ag_run_move(const ag_run_result *result, ag_heap *to) { treat_run(result, to); }

static void treat_batch(const ag_batch_result *r, ag_heap *to) {
  for (long i = 0; r->points && i < r->n; i++) TREAT(to, r->points[i].data);
  TREAT(to, r->points, r->members, r->x, r->records, r->note);
}

void ag_batch_done(ag_batch_result *result) {
  treat_batch(result, NULL);
  *result = (ag_batch_result){0};
}

void ag_batch_move(const ag_batch_result *result, ag_heap *to) { treat_batch(result, to); }
