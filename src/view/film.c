/* SPDX-License-Identifier: MIT
 * Films: the values of a scene in every row of a motion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/lie.h"
#include "view/scene_internal.h"

enum { MOST_ROWS = 200000, PROFILE = 97 };

int ag_film_width(const ag_scene *s, const ag_thing *thing, int arg) {
  const ag_graph *g = ag_system_graph(s->system);
  ag_id x = thing->args[arg].x;
  return thing->args[arg].how == AG_VALUE_TURN ? 4 : ag_node_rows(g, x) * ag_node_cols(g, x);
}

/* ---- states from rows ---- */

/* Where a number of the full state comes from: n numbers of the source, from `from` on. */
typedef struct piece {
  const ag_layout_row *row;
  int from; /* in the list of numbers read */
} piece;

typedef struct states {
  int n_piece, n_read;
  piece *pieces;
  int *read; /* places in the source: time first */
} states;

/* False: the source does not have all of the state. */
static bool find_states(states *st, const ag_source *s, const ag_system *sys) {
  enum { KINDS = 3 };
  static const ag_layout_kind kinds[KINDS] = {AG_LAYOUT_COORDINATE, AG_LAYOUT_VELOCITY, AG_LAYOUT_PROCESS};
  int n_row[KINDS], width = 1, n_piece = 1;
  const ag_layout_row *rows[KINDS];
  for (int k = 0; k < KINDS; k++) {
    rows[k] = ag_layout_rows(sys, kinds[k], &n_row[k]);
    n_piece += n_row[k];
    for (int i = 0; i < n_row[k]; i++) width += rows[k][i].rows * rows[k][i].cols;
  }
  st->pieces = ag_heap_alloc(sizeof *st->pieces * (size_t)n_piece);
  st->read = ag_heap_alloc(sizeof *st->read * (size_t)(width + 1));
  st->n_read = 1; /* time */
  for (int k = 0; k < KINDS; k++) {
    for (int i = 0; i < n_row[k]; i++) {
      const ag_column *c = NULL;
      for (int j = 0; j < s->n_column && !c; j++)
        if (!strcmp(s->columns[j].name, rows[k][i].name)) c = &s->columns[j];
      if (!c || c->rows != rows[k][i].rows || c->cols != rows[k][i].cols) return false;
      st->pieces[st->n_piece++] = (piece){&rows[k][i], st->n_read};
      for (int j = 0; j < c->rows * c->cols; j++) st->read[st->n_read++] = c->offset + j;
    }
  }
  return true;
}

static void fill_state(const states *st, double *const *numbers, long row, double *x) {
  for (int i = 0; i < st->n_piece; i++) {
    const ag_layout_row *r = st->pieces[i].row;
    double R[9];
    int n = r->rows * r->cols;
    for (int j = 0; j < n; j++) {
      double v = numbers[st->pieces[i].from + j][row];
      if (r->factor == AG_SPACE_SO3) R[j] = v;
      else x[r->at + j] = v;
    }
    if (r->factor == AG_SPACE_SO3) ag_lie_quat_from_matrix(R, x + r->at);
  }
}

/* ---- values ---- */

static void put_turn(const double R[9], double *const *to, long row) {
  double q[4], along = 0;
  ag_lie_quat_from_matrix(R, q);
  for (int j = 0; j < 4 && row; j++) along += q[j] * to[j][row - 1];
  for (int j = 0; j < 4; j++) to[j][row] = along < 0 ? -q[j] : q[j];
}

static void put_values(const ag_film *f, const ag_scene *scene, const double *out, long row) {
  int at = 0;
  for (int i = 0; i < scene->n; i++) {
    const ag_thing *thing = &scene->things[i];
    for (int a = 0; a < thing->n_arg; a++) {
      int width = ag_film_width(scene, thing, a);
      double *const *to = f->values + at;
      if (thing->args[a].how == AG_VALUE_TURN) put_turn(out, to, row);
      for (int j = 0; j < width && thing->args[a].how != AG_VALUE_TURN; j++) to[j][row] = out[j];
      out += thing->args[a].how == AG_VALUE_TURN ? 9 : width;
      at += width;
    }
  }
}

/* Rates become their integrals, by the trapezoidal rule, from 0 on. */
static void integrate(const ag_film *f, const ag_scene *scene) {
  int at = 0;
  for (int i = 0; i < scene->n; i++) {
    const ag_thing *thing = &scene->things[i];
    for (int a = 0; a < thing->n_arg; at += ag_film_width(scene, thing, a), a++) {
      if (thing->args[a].how != AG_VALUE_INTEGRAL) continue;
      double *y = f->values[at], before = y[0], sum = 0;
      y[0] = 0;
      for (long r = 1; r < f->n_row; r++) {
        double rate = y[r];
        sum += (before + rate) / 2 * (f->t[r] - f->t[r - 1]);
        before = rate, y[r] = sum;
      }
    }
  }
}

static void evaluate(ag_film *f, ag_scene *scene, const states *st, double *const *numbers) {
  ag_system *sys = scene->system;
  int n_out = 0, n_number = 0;
  for (int i = 0; i < scene->n; i++) {
    for (int a = 0; a < scene->things[i].n_arg; a++, n_out++) {
      bool turn = scene->things[i].args[a].how == AG_VALUE_TURN;
      f->n_value += ag_film_width(scene, &scene->things[i], a);
      n_number += turn ? 9 : ag_film_width(scene, &scene->things[i], a);
    }
  }
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n_out + 1));
  for (int i = 0, k = 0; i < scene->n; i++)
    for (int a = 0; a < scene->things[i].n_arg; a++) outs[k++] = scene->things[i].args[a].x;
  f->values = ag_heap_alloc(sizeof *f->values * (size_t)(f->n_value + 1));
  for (int k = 0; k < f->n_value; k++) f->values[k] = ag_heap_alloc(sizeof(double) * (size_t)(f->n_row + 1));
  bool needs_lambda;
  ag_tape *tape = ag_system_tape(sys, n_out, outs, &needs_lambda);
  const double *params = ag_system_param_values(sys);
  ag_work *work = ag_work_create(sys, params);
  double *slots = ag_heap_aligned(sizeof(double) * (size_t)(tape->n_slot + 1));
  double *x = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + n_number + 1));
  double *out = x + ag_system_dims(sys)->x;
  (void)ag_tape_prep(tape, params, slots);
  for (long r = 0; r < f->n_row; r++) {
    fill_state(st, numbers, f->rows[r], x);
    (void)ag_work_eval(work, tape, needs_lambda, f->t[r], x, slots, out); /* NaN where it fails */
    put_values(f, scene, out, r);
  }
  integrate(f, scene);
  f->scene = true;
  ag_work_free(work);
  ag_tape_free(tape);
  free(slots);
  free(x);
  free(outs);
}

/* ---- grounds as wide as the motion ---- */

/* The largest distance of a place of a body from the axis e3 through the place of the ground. */
static double reach(const ag_film *f, const ag_scene *scene) {
  double far = 0;
  int at = 0;
  for (int i = 0; i < scene->n; i++) {
    const ag_thing *thing = &scene->things[i];
    for (int a = 0; a < thing->n_arg; at += ag_film_width(scene, thing, a), a++)
      if (!strcmp(thing->group, "body") && !strcmp(thing->args[a].name, "at"))
        for (long r = 0; r < f->n_row; r++) far = fmax(far, hypot(f->values[at][r], f->values[at + 1][r]));
  }
  return far;
}

/* The profile of a bowl as points (distance from its axis, height). With an offset it is the curve on which the centre
 * of a ball moves, and the bowl is below it by the radius, along the normal. */
static void sample_bowl(const ag_scene *scene, ag_thing *t, double far) {
  double at[PROFILE], z[PROFILE], *out = AG_NEWN(scene->arena, double, 2 * PROFILE);
  for (int i = 0; i < PROFILE; i++) at[i] = 1.3 * far * i / (PROFILE - 1);
  ag_scene_sample(scene, t->rho, 1, &t->profile, PROFILE, 1, at, z);
  for (int i = 0; i < PROFILE; i++) {
    int lo = i ? i - 1 : 0, hi = i < PROFILE - 1 ? i + 1 : i;
    double slope = i ? (z[hi] - z[lo]) / (at[hi] - at[lo]) : 0, n = hypot(1, slope);
    out[2 * i] = at[i] + t->offset * slope / n;
    out[2 * i + 1] = z[i] - t->offset / n;
  }
  t->grid = out, t->grid_rows = PROFILE, t->grid_cols = 2;
}

/* ---- the film ---- */

/* Times must grow: a motion backward in time is shown forward, rows without a time or with the same one are left out.
 */
static void choose_rows(ag_film *f, long n, const double *t) {
  bool backward = n > 1 && t[n - 1] < t[0];
  f->n_source = n;
  f->stride = n > MOST_ROWS ? (n + MOST_ROWS - 1) / MOST_ROWS : 1;
  f->rows = ag_heap_alloc(sizeof *f->rows * (size_t)(n / f->stride + 2));
  f->t = ag_heap_alloc(sizeof *f->t * (size_t)(n / f->stride + 2));
  for (long i = 0; i < n; i += f->stride) {
    long row = backward ? n - 1 - i : i;
    if (!isfinite(t[row]) || (f->n_row && t[row] <= f->t[f->n_row - 1])) continue;
    f->rows[f->n_row] = row;
    f->t[f->n_row++] = t[row];
  }
}

bool ag_film_make(ag_film *f, ag_source *s, ag_scene *scene, ag_text *trouble) {
  states st = {0};
  long n_row;
  *f = (ag_film){.stride = 1};
  bool draws = scene && scene->n && find_states(&st, s, scene->system);
  int time = 0, *read = draws ? st.read : &time, n_read = draws ? st.n_read : 1;
  for (int i = 0; i < s->n_column; i++)
    if (s->columns[i].kind == AG_COL_TIME) read[0] = s->columns[i].offset;
  double **numbers = ag_heap_alloc(sizeof *numbers * (size_t)n_read);
  bool good = ag_source_read(s, n_read, read, numbers, &n_row, trouble);
  if (good) {
    choose_rows(f, n_row, numbers[0]);
    if (draws && f->n_row) evaluate(f, scene, &st, numbers);
    double far = f->scene ? reach(f, scene) : 0;
    for (int i = 0; f->scene && i < scene->n; i++)
      if (scene->things[i].profile) sample_bowl(scene, &scene->things[i], far > 0 ? far : 1);
    for (int i = 0; i < n_read; i++) free(numbers[i]);
  }
  free(numbers);
  free(st.pieces);
  free(st.read);
  return good;
}

void ag_film_done(ag_film *f) {
  for (int i = 0; i < f->n_value; i++) free(f->values[i]);
  free(f->values);
  free(f->t);
  free(f->rows);
  *f = (ag_film){0};
}
