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
  int w, n, n_stage, n_wait; /* lanes; numbers per member; rows of stages; steps that wait */
  waiting *who;
  ag_fused_place p;
  double *t, *h, *z, *z1, *c, *prep, *prep_watch, *unit;
  double *dz, *one; /* rates at the start of the steps; scratch */
  double *blank;    /* a record that is still to be filled */
};

ag_pack *ag_pack_create(ag_batch_job *b, int lanes) {
  ag_pack *p = ag_heap_alloc(sizeof *p);
  const ag_stepper *method = b->o->run.method;
  *p = (ag_pack){.b = b, .w = lanes, .n = b->n_z};
  int rows = (int)(method->size(b->n_z) / (size_t)b->n_z), degree = ag_stepper_degree(method);
  p->n_stage = rows - degree - 1;
  p->who = ag_heap_alloc(sizeof *p->who * (size_t)lanes);
  struct {
    double **at;
    int rows;
  } all[] = {{&p->t, 1},
             {&p->h, 1},
             {&p->z, p->n},
             {&p->z1, p->n},
             {&p->dz, p->n},
             {&p->c, 1},
             {&p->prep, ag_fused_n_prep(b->fused)},
             {&p->prep_watch, ag_fused_n_watch_prep(b->fused)},
             {&p->unit, b->n_unit},
             {&p->p.k, p->n_stage * p->n},
             {&p->p.w, p->n},
             {&p->p.dense, degree * p->n},
             {&p->p.s, 1},
             {&p->p.zs, p->n}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    *all[i].at = ag_heap_aligned(sizeof(double) * (size_t)((all[i].rows + 1) * lanes));
  p->p.good = ag_heap_aligned(sizeof *p->p.good * (size_t)lanes);
  p->p.t = p->t, p->p.h = p->h, p->p.z = p->z, p->p.z1 = p->z1, p->p.c = p->c;
  p->p.prep = p->prep, p->p.prep_watch = p->prep_watch, p->p.unit = p->unit;
  p->one = ag_heap_alloc(sizeof(double) * (size_t)b->sys->n_z);
  p->blank = ag_heap_alloc(sizeof(double) * (size_t)b->result->width);
  for (int i = 0; i < b->result->width; i++) p->blank[i] = NAN;
  return p;
}

void ag_pack_free(ag_pack *p) {
  if (!p) return;
  void *all[] = {p->who,  p->t,          p->h,    p->z,      p->z1,  p->dz,  p->c,
                 p->prep, p->prep_watch, p->unit, p->p.k,    p->p.w, p->p.s, p->p.dense,
                 p->one,  p->blank,      p->p.zs, p->p.good, p};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* One lane of an array into another. */
static void move(const ag_pack *p, int rows, const double *from, int lane, double *to, int at) {
  for (int k = 0; k < rows; k++) to[k * p->w + at] = from[k * p->w + lane];
}

bool ag_pack_add(ag_pack *p, const ag_lane_step *s, long member, const double *prep, const double *prep_watch,
                 const double *unit) {
  int at = p->n_wait++, lane = s->lane;
  ag_series *points = &p->b->result->points[member];
  p->who[at] = (waiting){lane, member, points->n, s->work, s->params, s->t1};
  (void)ag_series_row(points, p->blank);
  p->t[at] = s->t;
  p->h[at] = s->t1 - s->t;
  move(p, p->n, s->z, lane, p->z, at);
  move(p, p->n, s->dz, lane, p->dz, at);
  move(p, p->n, s->z1, lane, p->z1, at);
  move(p, p->n * p->n_stage, s->k, lane, p->p.k, at);
  move(p, p->n, s->dz, lane, p->p.k, at); /* row 0 has moved on */
  move(p, ag_fused_n_prep(p->b->fused), prep, lane, p->prep, at);
  move(p, ag_fused_n_watch_prep(p->b->fused), prep_watch, lane, p->prep_watch, at);
  move(p, p->b->n_unit, unit, lane, p->unit, at);
  return p->n_wait == p->w;
}

bool ag_pack_has(const ag_pack *p, int lane) {
  for (int i = 0; i < p->n_wait; i++)
    if (p->who[i].lane == lane) return true;
  return false;
}

/* Lanes that nobody waits in do what the first one does. */
static void fill_up(ag_pack *p) {
  for (int i = p->n_wait; i < p->w; i++) {
    p->t[i] = p->t[0], p->h[i] = p->h[0];
    move(p, p->n, p->z, 0, p->z, i);
    move(p, p->n, p->z1, 0, p->z1, i);
    move(p, p->n * p->n_stage, p->p.k, 0, p->p.k, i);
    move(p, ag_fused_n_prep(p->b->fused), p->prep, 0, p->prep, i);
    move(p, ag_fused_n_watch_prep(p->b->fused), p->prep_watch, 0, p->prep_watch, i);
    move(p, p->b->n_unit, p->unit, 0, p->unit, i);
  }
}

void ag_pack_work(ag_pack *p, ag_queue *q) {
  if (!p->n_wait) return;
  fill_up(p);
  ag_fused_locate(p->b->fused, &p->p);
  for (int i = 0; i < p->n_wait; i++) {
    const waiting *who = &p->who[i];
    const ag_series *points = &p->b->result->points[who->member];
    double *record = points->data + who->point * points->width;
    for (int k = 0; k < p->n; k++) p->one[k] = p->p.zs[k * p->w + i];
    if (p->p.good[i] && ag_queue_point(q, who->work, who->params, p->p.s[i], p->one, record)) continue;
    ag_lane_step s = {.lane = i, .slot = who->lane, .lanes = p->w, .t = p->t[i], .t1 = who->t1, .z = p->z, .dz = p->dz};
    s.work = who->work;
    s.params = who->params;
    (void)ag_queue_locate(q, &s, record); /* else its numbers stay NaN, for all to see */
  }
  p->n_wait = 0;
}
