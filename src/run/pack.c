/* SPDX-License-Identifier: MIT
 * Crossings of a section that wait for each other: when there is one for every lane they are located together, by the
 * vector code that moves the lanes. Each follows from its own step alone, whoever its neighbours are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "run/batch.h"

typedef struct waiting {
  int lane; /* whose step it was: its member is still there */
  long member, point;
  ag_work *work;
  const double *params;
  double t1;
} waiting;

struct ag_pack {
  ag_batch_job *b;
  int w, n, n_wait;    /* lanes; numbers per member; steps that wait */
  int n_work, n_carry; /* numbers of the workspace, and of the carry at its head */
  waiting *who;
  ag_fused_args a;
  double *c, *prep[AG_FUSED_TAPES], *unit;
  double *carry, *one, *one_c; /* at the start of the steps; scratch */
  double *blank;               /* a record that is still to be filled */
};

ag_pack *ag_pack_create(ag_batch_job *b, int lanes) {
  ag_pack *p = ag_heap_alloc(sizeof *p);
  ag_step_room room = ag_stepper_room(b->o->run.method, b->n_z, b->n_tangent, b->square);
  *p = (ag_pack){.b = b, .w = lanes, .n = b->n_z, .n_work = (int)room.size, .n_carry = b->n_z + room.own};
  p->who = ag_heap_alloc(sizeof *p->who * (size_t)lanes);
  int n_c = ag_system_dims(b->sys)->c;
  struct {
    double **at;
    int rows;
  } all[] = {{&p->a.t, 1}, {&p->a.h, 1},          {&p->a.z, p->n},         {&p->a.z1, p->n},   {&p->carry, p->n_carry},
             {&p->c, n_c}, {&p->unit, b->n_unit}, {&p->a.work, p->n_work}, {&p->a.found_t, 1}, {&p->a.found_z, p->n}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i].at = ag_heap_aligned(sizeof(double) * (size_t)((all[i].rows + 1) * lanes));
  p->a.good = ag_heap_aligned(sizeof *p->a.good * (size_t)lanes);
  for (int i = 0; i < AG_FUSED_TAPES; i++)
    p->prep[i] = ag_heap_aligned(sizeof(double) * (size_t)((ag_fused_n_prep(b->fused, i) + 1) * lanes));
  p->a.prep = p->prep[AG_FUSED_RHS], p->a.prep_jacobian = p->prep[AG_FUSED_JACOBIAN];
  p->a.prep_watch = p->prep[AG_FUSED_WATCH];
  p->a.prep_align = p->prep[AG_FUSED_ALIGN];
  p->a.prep_project = p->prep[AG_FUSED_PROJECT];
  p->a.prep_finish = p->prep[AG_FUSED_FINISH];
  p->a.c = p->c, p->a.unit = p->unit;
  p->one = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(b->sys)->z + 1));
  p->one_c = ag_heap_alloc(sizeof(double) * (size_t)(n_c + 1));
  p->blank = ag_heap_alloc(sizeof(double) * (size_t)b->result->width);
  for (int i = 0; i < b->result->width; i++) p->blank[i] = NAN;
  return p;
}

void ag_pack_free(ag_pack *p) {
  if (!p) return;
  void *all[] = {p->who,    p->a.t,       p->a.h,       p->a.z,    p->a.z1, p->carry, p->c,    p->unit,
                 p->a.work, p->a.found_t, p->a.found_z, p->a.good, p->one,  p->one_c, p->blank};
  for (int i = 0; i < AG_FUSED_TAPES; i++) free(p->prep[i]);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  free(p);
}

/* One lane of an array into another. */
static void move(const ag_pack *p, int rows, const double *from, int lane, double *to, int at) {
  for (int k = 0; k < rows; k++) to[k * p->w + at] = from[k * p->w + lane];
}

bool ag_pack_add(ag_pack *p, const ag_lane_step *s, long member, double *const *prep, const double *unit) {
  int at = p->n_wait++, lane = s->lane;
  ag_series *points = &p->b->result->points[member];
  p->who[at] = (waiting){lane, member, points->n, s->work, s->params, s->t1};
  (void)ag_series_row(points, p->blank);
  p->a.t[at] = s->t;
  p->a.h[at] = s->t1 - s->t;
  move(p, p->n, s->z, lane, p->a.z, at);
  move(p, ag_system_dims(p->b->sys)->c, s->c, lane, p->c, at);
  move(p, p->n, s->z1, lane, p->a.z1, at);
  move(p, p->n_work, s->space, lane, p->a.work, at);
  move(p, p->n_carry, s->carry, lane, p->a.work, at); /* the one there has moved on */
  move(p, p->n_carry, s->carry, lane, p->carry, at);
  for (int i = 0; i < AG_FUSED_TAPES; i++) move(p, ag_fused_n_prep(p->b->fused, i), prep[i], lane, p->prep[i], at);
  move(p, p->b->n_unit, unit, lane, p->unit, at);
  return p->n_wait == p->w;
}

bool ag_pack_has(const ag_pack *p, int lane) {
  for (int i = 0; i < p->n_wait; i++)
    if (p->who[i].lane == lane) return true;
  return false;
}

/* Unused lanes repeat the first one. */
static void fill_up(ag_pack *p) {
  for (int i = p->n_wait; i < p->w; i++) {
    p->a.t[i] = p->a.t[0], p->a.h[i] = p->a.h[0];
    move(p, p->n, p->a.z, 0, p->a.z, i);
    move(p, ag_system_dims(p->b->sys)->c, p->c, 0, p->c, i);
    move(p, p->n, p->a.z1, 0, p->a.z1, i);
    move(p, p->n_work, p->a.work, 0, p->a.work, i);
    for (int k = 0; k < AG_FUSED_TAPES; k++) move(p, ag_fused_n_prep(p->b->fused, k), p->prep[k], 0, p->prep[k], i);
    move(p, p->b->n_unit, p->unit, 0, p->unit, i);
  }
}

void ag_pack_work(ag_pack *p, ag_queue *q) {
  if (!p->n_wait) return;
  fill_up(p);
  ag_fused_locate(p->b->fused, &p->a);
  for (int i = 0; i < p->n_wait; i++) {
    const waiting *who = &p->who[i];
    const ag_series *points = &p->b->result->points[who->member];
    double *record = points->data + (who->point - points->first) * points->width;
    for (int k = 0; k < p->n; k++) p->one[k] = p->a.found_z[k * p->w + i];
    for (int k = 0; k < ag_system_dims(p->b->sys)->c; k++) p->one_c[k] = p->c[k * p->w + i];
    if (p->a.good[i] && ag_queue_point(q, who->work, who->params, p->a.found_t[i], p->one, p->one_c, record)) continue;
    ag_lane_step s = {.lane = i, .slot = who->lane, .lanes = p->w, .t = p->a.t[i], .t1 = who->t1, .z = p->a.z};
    s.unit = p->unit;
    s.c = p->c;
    s.carry = p->carry;
    s.work = who->work;
    s.params = who->params;
    (void)ag_queue_locate(q, &s, record); /* else its numbers stay NaN, for all to see */
  }
  p->n_wait = 0;
}
