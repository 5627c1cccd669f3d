/* SPDX-License-Identifier: MIT
 * Where everything sits: coordinates, velocities, parameters; small helpers on stored coordinates. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/lie.h"
#include "mech/mech_internal.h"

/* ---- the table ---- */

/* Adds a row of n numbers at the end of what the offsets stand at, and moves them on. */
static void add_row(ag_system *sys, ag_layout_row row, int *at, int *tangent) {
  row.at = row.n ? *at : -1;
  row.tangent = row.n_tangent ? *tangent : -1;
  *at += row.n;
  if (tangent) *tangent += row.n_tangent;
  sys->layout[sys->kinds[row.kind].at + sys->kinds[row.kind].n++] = row;
}

/* A row in the shape of an expression. */
static ag_layout_row shaped(const ag_graph *g, ag_layout_kind kind, const char *name, ag_id x) {
  int rows = ag_node_rows(g, x), cols = ag_node_cols(g, x);
  return (ag_layout_row){.kind = kind, .name = name, .rows = rows, .cols = cols, .n = rows * cols, .x = x};
}

static void state_rows(ag_system *sys) {
  const ag_model *m = sys->model;
  int at = 0, tangent = 0;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    bool rotation = c->space == AG_SPACE_SO3;
    add_row(sys,
            (ag_layout_row){.kind = AG_LAYOUT_COORDINATE,
                            .name = c->name,
                            .factor = c->space,
                            .rows = c->dim,
                            .cols = rotation ? 3 : 1,
                            .n = rotation ? 4 : c->dim,
                            .n_tangent = c->dim,
                            .x = c->q},
            &at, &tangent);
  }
  sys->n_q = at;
  for (int i = 0; i < m->n_coords; i++) {
    ag_layout_row row = shaped(m->graph, AG_LAYOUT_VELOCITY, m->coords[i].velocity, m->coords[i].xi);
    row.n_tangent = row.n;
    add_row(sys, row, &at, &tangent);
  }
  sys->n_xi = at - sys->n_q;
  sys->n_x = at + sys->n_process;
}

static void parameter_rows(ag_system *sys) {
  const ag_model *m = sys->model;
  for (int i = 0; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    ag_layout_row row = {.kind = AG_LAYOUT_PARAMETER, .name = p->name, .rows = 1, .cols = 1};
    if (p->input) row = shaped(m->graph, AG_LAYOUT_PARAMETER, p->name, p->input);
    add_row(sys, row, &sys->n_param, NULL);
  }
}

void ag_layout(derive *d) {
  ag_system *sys = d->sys;
  ag_model *m = d->m;
  const int count[AG_LAYOUT_KINDS] = {[AG_LAYOUT_COORDINATE] = m->n_coords,
                                      [AG_LAYOUT_VELOCITY] = m->n_coords,
                                      [AG_LAYOUT_FRAME] = m->n_frames,
                                      [AG_LAYOUT_PARAMETER] = m->n_params,
                                      [AG_LAYOUT_OBSERVABLE] = m->n_observables};
  int n = 0, n_frame = 0;
  for (int i = 0; i < AG_LAYOUT_KINDS; i++) sys->kinds[i].at = n, n += count[i];
  sys->layout = AG_NEWN(sys->arena, ag_layout_row, n + 1);
  state_rows(sys);
  for (int i = 0; i < m->n_frames; i++)
    add_row(sys, shaped(d->g, AG_LAYOUT_FRAME, m->frames[i].name, m->frames[i].x), &n_frame, NULL);
  parameter_rows(sys);
  for (int i = 0; i < m->n_observables; i++)
    add_row(sys, shaped(d->g, AG_LAYOUT_OBSERVABLE, m->observables[i].name, m->observables[i].x), &sys->n_observe,
            NULL);
  sys->places = AG_NEWN(sys->arena, ag_place, m->n_coords);
  d->q = AG_NEWN(sys->arena, ag_id, m->n_coords);
  d->xi = AG_NEWN(sys->arena, ag_id, m->n_coords);
  d->nc = m->n_coords;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_layout_row *q = &sys->layout[i];
    sys->places[i] = (ag_place){q->at, q->n, q->tangent, q->n_tangent};
    d->q[i] = m->coords[i].q;
    d->xi[i] = m->coords[i].xi;
  }
  sys->param_offset = AG_NEWN(sys->arena, int, m->n_params);
  for (int i = 0; i < m->n_params; i++) sys->param_offset[i] = sys->layout[sys->kinds[AG_LAYOUT_PARAMETER].at + i].at;
  sys->params = AG_NEWN(sys->arena, double, sys->n_param);
}

const ag_layout_row *ag_layout_rows(const ag_system *sys, ag_layout_kind kind, int *n) {
  *n = sys->kinds[kind].n;
  return sys->layout + sys->kinds[kind].at;
}

const ag_layout_row *ag_layout_item(const ag_system *sys, ag_layout_kind kind, int i) {
  return &sys->layout[sys->kinds[kind].at + i];
}

const ag_layout_row *ag_layout_find(const ag_system *sys, const char *name, int *entry) {
  int n = 0;
  for (int i = 0; i < AG_LAYOUT_KINDS; i++) n += sys->kinds[i].n;
  for (int i = 0; i < n; i++) {
    const ag_layout_row *row = &sys->layout[i];
    *entry = ag_entry_find(row->name, row->rows, row->cols, name);
    if (*entry >= -1) return row;
  }
  return NULL;
}

/* ---- names ---- */

void ag_entry_name(const char *name, int rows, int cols, int entry, ag_text *out) {
  ag_text_str(out, name);
  if (cols > 1) ag_text_printf(out, "[%d,%d]", entry / cols + 1, entry % cols + 1);
  else if (rows > 1) ag_text_printf(out, "[%d]", entry + 1);
}

int ag_entry_find(const char *name, int rows, int cols, const char *wanted) {
  size_t n = strlen(name);
  int row = 0, col = 1, end = 0;
  if (strncmp(name, wanted, n)) return -2;
  if (!wanted[n]) return -1;
  if (rows * cols == 1) return -2;
  if (cols > 1) (void)sscanf(wanted + n, "[%d,%d]%n", &row, &col, &end);
  else (void)sscanf(wanted + n, "[%d]%n", &row, &end);
  if (!end || row < 1 || row > rows || col < 1 || col > cols) return -2;
  int entry = (row - 1) * cols + col - 1;
  ag_text text = {0};
  ag_entry_name(name, rows, cols, entry, &text); /* written in this way, not as "x[ 2]" */
  bool same = !strcmp(ag_text_cstr(&text), wanted);
  ag_text_done(&text);
  return same ? entry : -2;
}

void ag_stored_name(const ag_layout_row *row, int k, ag_text *out) {
  bool rotation = row->kind == AG_LAYOUT_COORDINATE && row->factor == AG_SPACE_SO3;
  if (rotation) ag_text_printf(out, "%s as a quaternion: %c", row->name, "wxyz"[k]);
  else ag_entry_name(row->name, row->rows, row->cols, k, out);
}

void ag_reduced_name(const ag_system *sys, int k, ag_text *out) {
  if (k >= sys->u_in_z && k < sys->u_in_z + sys->n_u) ag_text_str(out, sys->u_names[k - sys->u_in_z]);
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *image = &sys->images[i];
    if (k < image->z || k >= image->z + 3) continue;
    ag_text_printf(out, "(%s^T*", sys->model->coords[image->coord].name);
    ag_print(sys->model->graph, image->c, out);
    ag_text_printf(out, ")[%d]", k - image->z + 1);
  }
  for (int i = 0; i < sys->model->n_coords; i++)
    for (int j = 0; j < sys->places[i].n_q; j++)
      if (sys->q_in_z[sys->places[i].q + j] == k) ag_stored_name(&sys->layout[i], j, out);
}

const char *ag_component_name(ag_arena *arena, const char *name, int rows, int entry) {
  ag_text text = {0};
  ag_entry_name(name, rows, 1, entry, &text);
  const char *kept = ag_arena_str(arena, ag_text_cstr(&text));
  ag_text_done(&text);
  return kept;
}

/* ---- inputs of tapes ---- */

/* Binds the parameters before the i-th one. */
static int bind_params(const ag_system *sys, int n, ag_bind *binds) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (sys->param_offset[i] >= 0) binds[k++] = (ag_bind){sys->model->params[i].input, AG_SEG_P, sys->param_offset[i]};
  return k;
}

ag_status ag_param_values(ag_ctx *ctx, const ag_system *sys, int n_when, const int *when_param, const ag_id *when_value,
                          double *params) {
  ag_model *m = sys->model;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(m->n_params + 1));
  ag_status status = AG_OK;
  for (int i = 0; i < m->n_params && status == AG_OK; i++) {
    if (sys->param_offset[i] < 0) continue;
    ag_id value = m->params[i].value;
    for (int k = 0; k < n_when; k++)
      if (when_param[k] == i) value = when_value[k];
    int n_bind = bind_params(sys, i, binds), size = ag_input_storage(m->graph, m->params[i].input);
    double *out = params + sys->param_offset[i];
    if (ag_constant(m->graph, value, out)) {
      /* a plain number: nothing to evaluate */
    } else {
      ag_tape *tape = ag_tape_create(m->graph, n_bind, binds, 1, &value);
      ag_tape_once(tape, 0, NULL, params, NULL, out);
      ag_tape_free(tape);
    }
    for (int k = 0; k < size; k++)
      if (!isfinite(out[k])) {
        ag_ctx_error(ctx, m->params[i].pos, "parameter `%s` is not finite (%g)", m->params[i].name, out[k]);
        status = AG_WRONG;
        break;
      }
  }
  free(binds);
  return status;
}

ag_status ag_system_params(ag_ctx *ctx, const ag_system *sys, int n_when, const int *when_param,
                           const ag_id *when_value, double *params) {
  return ag_param_values(ctx, sys, n_when, when_param, when_value, params);
}

int ag_bind_capacity(const ag_system *sys) {
  return 2 * sys->model->n_coords + sys->model->n_params + sys->n_u + 2 * sys->n_basis + 16;
}

int ag_bind_bases(const ag_system *sys, ag_bind *binds) {
  int k = 0;
  for (int i = 0; i < sys->n_basis; i++) {
    const ag_basis *b = &sys->bases[i];
    if (b->N) binds[k++] = (ag_bind){b->N, AG_SEG_C, b->c};
    if (b->W) binds[k++] = (ag_bind){b->W, AG_SEG_C, b->c + b->n_y * (b->n_y - b->n_w)};
  }
  return k;
}

int ag_bind_base(const ag_system *sys, ag_bind *binds) {
  ag_model *m = sys->model;
  int k = 0;
  binds[k++] = (ag_bind){m->t, AG_SEG_T, 0};
  k += bind_params(sys, m->n_params, binds + k);
  for (int i = 0; i < m->n_coords; i++) binds[k++] = (ag_bind){m->coords[i].q, AG_SEG_Z, sys->places[i].q};
  return k;
}

int ag_bind_full(const ag_system *sys, ag_bind *binds) {
  const ag_model *m = sys->model;
  int k = ag_bind_base(sys, binds);
  for (int i = 0; i < m->n_coords; i++) binds[k++] = (ag_bind){m->coords[i].xi, AG_SEG_Z, sys->n_q + sys->places[i].xi};
  return k;
}

ag_tape *ag_full_tape(const ag_system *sys, int n_out, const ag_id *outs) {
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)ag_bind_capacity(sys));
  int k = ag_bind_full(sys, binds);
  ag_tape *tape = ag_tape_create(sys->model->graph, k, binds, n_out, outs);
  free(binds);
  return tape;
}

int ag_tape_once(const ag_tape *tape, double t, const double *z, const double *p, const double *c, double *out) {
  double *slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1));
  const double *seg[AG_SEG_COUNT] = {[AG_SEG_T] = &t, [AG_SEG_Z] = z, [AG_SEG_P] = p, [AG_SEG_C] = c};
  int fail = ag_tape_prep(tape, p, slots);
  int later = ag_tape_eval(tape, seg, slots, out);
  free(slots);
  return fail ? fail : later;
}

void ag_normalise(const ag_system *sys, double *q) {
  for (int i = 0; i < sys->model->n_coords; i++)
    if (sys->model->coords[i].space == AG_SPACE_SO3) (void)ag_lie_quat_normalise(q + sys->places[i].q);
}

void ag_retract(const ag_system *sys, double *q, const double *delta) {
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_place *p = &sys->places[i];
    if (sys->model->coords[i].space == AG_SPACE_SO3) {
      double step[4], out[4];
      ag_lie_exp(delta + p->xi, step);
      ag_lie_quat_mul(q + p->q, step, out);
      memcpy(q + p->q, out, sizeof out);
      (void)ag_lie_quat_normalise(q + p->q);
    } else {
      for (int k = 0; k < p->n_q; k++) q[p->q + k] += delta[p->xi + k];
    }
  }
}

void ag_default_coordinates(const ag_system *sys, double *q) {
  memset(q, 0, sizeof(double) * (size_t)sys->n_q);
  for (int i = 0; i < sys->model->n_coords; i++) {
    if (sys->model->coords[i].space == AG_SPACE_SO3) q[sys->places[i].q] = 1;
    if (sys->model->coords[i].space == AG_SPACE_S2) q[sys->places[i].q + 2] = 1;
  }
}

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

static void random_everywhere(const ag_system *sys, uint64_t *state, double *q) {
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_place *p = &sys->places[i];
    ag_space space = sys->model->coords[i].space;
    double norm = 0;
    for (int k = 0; k < p->n_q; k++) {
      double u = ag_random_unit(state);
      double v = space == AG_SPACE_S1 ? M_PI * (2 * u - 1) : space == AG_SPACE_R ? 4 * u - 2 : normal(state);
      q[p->q + k] = v;
      norm += v * v;
    }
    if (space == AG_SPACE_S2 || space == AG_SPACE_SO3)
      for (int k = 0; k < p->n_q; k++) q[p->q + k] /= sqrt(norm);
  }
}

/* The stored number a domain range speaks of directly: a scalar coordinate or an entry of a vector one; else -1. */
static int range_target(const ag_system *sys, ag_id x) {
  ag_graph *g = sys->model->graph;
  for (int i = 0; i < sys->model->n_coords; i++) {
    const ag_coord *c = &sys->model->coords[i];
    if (c->space == AG_SPACE_SO3) continue;
    if (c->dim == 1 && c->q == x) return sys->places[i].q;
    for (int k = 0; k < c->dim && c->dim > 1; k++)
      if (ag_entry(g, c->q, k, 0) == x) return sys->places[i].q + k;
  }
  return -1;
}

void ag_sampler_init(ag_sampler *s, const ag_system *sys, const double *params, uint64_t seed) {
  ag_model *m = sys->model;
  int n = m->n_domains;
  *s = (ag_sampler){.sys = sys, .params = params, .state = seed};
  s->x = ag_heap_alloc(sizeof(double) * (size_t)(sys->n_q + sys->n_xi + 1));
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

bool ag_sampler_next(ag_sampler *s, double *t, double *q) {
  const ag_system *sys = s->sys;
  int n = sys->model->n_domains;
  *t = 4 * ag_random_unit(&s->state) - 2;
  for (int try = 0; try < 1000; try++) {
    random_everywhere(sys, &s->state, q);
    if (!n) return true;
    memcpy(s->x, q, sizeof(double) * (size_t)sys->n_q);
    ag_tape_once(s->tape, *t, s->x, s->params, NULL, s->v);
    for (int i = 0; i < n; i++) {
      int k = s->target[i];
      if (k >= 0) q[k] = s->x[k] = s->v[3 * i + 1] + (s->v[3 * i + 2] - s->v[3 * i + 1]) * ag_random_unit(&s->state);
    }
    ag_tape_once(s->tape, *t, s->x, s->params, NULL, s->v);
    bool inside = true;
    for (int i = 0; i < n; i++) inside = inside && s->v[3 * i] >= s->v[3 * i + 1] && s->v[3 * i] <= s->v[3 * i + 2];
    if (inside) return true;
  }
  return false;
}

void ag_sampler_done(ag_sampler *s) {
  ag_tape_free(s->tape);
  free(s->target);
  free(s->x);
  free(s->v);
}

static bool among(const char *name, int n, const ag_item *items) {
  for (int i = 0; i < n; i++)
    if (items[i].name && !strcmp(items[i].name, name)) return true;
  return false;
}

static bool name_taken(const ag_model *m, const char *name) {
  for (int i = 0; i < m->n_params; i++)
    if (!strcmp(m->params[i].name, name)) return true;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_coord *c = &m->coords[i];
    if (!strcmp(c->name, name) || !strcmp(c->velocity, name) || (c->family && !strcmp(c->family, name))) return true;
  }
  return among(name, m->n_lets, m->lets) || among(name, m->n_observables, m->observables) ||
         among(name, m->n_frames, m->frames);
}

const char *ag_free_name(const ag_system *sys, const char *name) {
  while (name_taken(sys->model, name)) name = ag_arena_printf(sys->arena, "%s_", name);
  return name;
}

const char *ag_velocity_name(const ag_system *sys, int i, ag_arena *arena) {
  const ag_layout_row *v = sys->layout + sys->kinds[AG_LAYOUT_VELOCITY].at;
  while (i >= v->n) i -= v++->n;
  return ag_component_name(arena, v->name, v->rows, i);
}
