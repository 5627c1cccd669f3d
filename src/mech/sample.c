/* SPDX-License-Identifier: MIT
 * Random points of the domain, always the same for the same seed. */
#include <math.h>
#include <string.h>

#include "mech/mech_internal.h"

/* splitmix64: a fixed sequence for a fixed seed, the same on every machine */
double ag_random_unit(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) {
  double u = ag_random_unit(state), v = ag_random_unit(state);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Processes: around their start. */
static void random_processes(ag_sampler *s, double *q) {
  const ag_system *sys = s->sys;
  for (int i = 0; i < sys->n.process; i++) {
    int at = sys->processes[i].at;
    double start = s->start[at], size = start == 0 ? 0.5 : 0.5 * fabs(start);
    q[at] = start + size * (2 * ag_random_unit(&s->state) - 1);
  }
}

static void random_everywhere(const ag_system *sys, uint64_t *state, double *q) {
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    ag_space space = sys->model->coords[i].space;
    double norm = 0;
    for (int k = 0; k < p->n; k++) {
      double u = ag_random_unit(state);
      double v = space == AG_SPACE_S1 ? M_PI * (2 * u - 1) : space == AG_SPACE_R ? 4 * u - 2 : normal(state);
      q[p->at + k] = v;
      norm += v * v;
    }
    if (space == AG_SPACE_S2 || space == AG_SPACE_SO3)
      for (int k = 0; k < p->n; k++) q[p->at + k] /= sqrt(norm);
  }
}

enum { TIME = -2 };

/* The stored number a domain range refers to directly: a scalar coordinate or an entry of a vector one; TIME; else -1.
 */
static int range_target(const ag_system *sys, ag_id x) {
  ag_graph *g = sys->model->graph;
  if (x == sys->model->t) return TIME;
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_coord *c = &sys->model->coords[i];
    if (c->space == AG_SPACE_SO3) continue;
    if (c->dim == 1 && c->q == x) return sys->coords[i].at;
    for (int k = 0; k < c->dim && c->dim > 1; k++)
      if (ag_entry(g, c->q, k, 0) == x) return sys->coords[i].at + k;
  }
  for (int i = 0; i < sys->n.process; i++)
    if (sys->model->processes[i].x == x) return sys->processes[i].at;
  return -1;
}

void ag_sampler_init(ag_sampler *s, ag_system *sys, const double *params, uint64_t seed) {
  ag_model *m = sys->model;
  int n = m->n_domains;
  *s = (ag_sampler){.sys = sys, .params = params, .state = seed};
  s->x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.x + 1));
  s->start = ag_heap_alloc(sizeof(double) * (size_t)(sys->n.q + 1));
  ag_ctx quiet = {0};
  (void)ag_process_start_values(&quiet, sys, sys->t0, params, s->start);
  ag_ctx_done(&quiet);
  if (!n) return;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(3 * n));
  s->v = ag_heap_alloc(sizeof(double) * (size_t)(3 * n));
  s->target = ag_heap_alloc(sizeof(int) * (size_t)n);
  for (int i = 0; i < n; i++) {
    outs[3 * i] = m->domains[i].x, outs[3 * i + 1] = m->domains[i].lo, outs[3 * i + 2] = m->domains[i].hi;
    s->target[i] = range_target(sys, m->domains[i].x);
  }
  s->tape = ag_full_tape(sys, 3 * n, outs);
  free(outs);
}

bool ag_sampler_inside(ag_sampler *s, double t, const double *q) {
  bool inside = true;
  memcpy(s->x, q, sizeof(double) * (size_t)s->sys->n.q);
  if (s->tape) ag_tape_once(s->tape, t, s->x, s->params, NULL, s->v);
  for (int i = 0; i < s->sys->model->n_domains; i++)
    inside = inside && s->v[3 * i] >= s->v[3 * i + 1] && s->v[3 * i] <= s->v[3 * i + 2];
  return inside;
}

bool ag_sampler_next(ag_sampler *s, double *t, double *q) {
  const ag_system *sys = s->sys;
  int n = sys->model->n_domains;
  *t = 4 * ag_random_unit(&s->state) - 2;
  for (int try = 0; try < 1000; try++) {
    random_everywhere(sys, &s->state, q);
    random_processes(s, q);
    if (!n) return true;
    memcpy(s->x, q, sizeof(double) * (size_t)sys->n.q);
    ag_tape_once(s->tape, *t, s->x, s->params, NULL, s->v);
    for (int i = 0; i < n; i++) {
      int k = s->target[i];
      if (k == -1) continue;
      double v = s->v[3 * i + 1] + (s->v[3 * i + 2] - s->v[3 * i + 1]) * ag_random_unit(&s->state);
      if (k == TIME) *t = v;
      else q[k] = s->x[k] = v;
    }
    if (ag_sampler_inside(s, *t, q)) return true;
  }
  return false;
}

void ag_sampler_done(ag_sampler *s) {
  ag_tape_free(s->tape);
  free(s->target);
  free(s->x);
  free(s->start);
  free(s->v);
}
