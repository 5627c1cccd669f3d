/* SPDX-License-Identifier: MIT
 * Surfaces of bodies: sphere(r), revolution(theta: r, h0, f0), convex(X: F), ... */
#include <math.h>
#include <string.h>

#include "lang/scene.h"

/* ---- values ---- */

ag_id ag_scene_value(ag_builder *b, const ag_syn *s, int rows, int cols, const char *what) {
  ag_id x = ag_eval_node(b, s);
  if (!x) return 0;
  if (cols == 1 && ag_is_scalar(b->g, x) && ag_is_zero(b->g, x)) return ag_zero(b->g, rows, 1);
  if (ag_node_rows(b->g, x) != rows || ag_node_cols(b->g, x) != cols) {
    ag_id like = ag_zero(b->g, rows, cols);
    return ag_scope_error(b, s->pos, "%s is %s; this is %s", what, ag_note_shape(b, like), ag_note_shape(b, x)), 0;
  }
  if (ag_note_on(b, x) & ~AG_ON_PARAM)
    return ag_scope_error(b, s->pos, "%s may use only numbers and parameters", what), 0;
  return x;
}

ag_id ag_scene_positive(ag_builder *b, const ag_syn *s, const char *what) {
  double v;
  ag_id x = ag_scene_value(b, s, 1, 1, what);
  if (!x || !ag_eval_number(b, s, what, &v)) return 0;
  if (!(v > 0)) return ag_scope_error(b, s->pos, "%s must be positive; this is %g", what, v), 0;
  return x;
}

bool ag_scene_form(ag_builder *b, const ag_syn *s, int n, const char *form) {
  bool running = strchr(form, ':') != NULL;
  if ((s->kind == AG_SYN_CALL ? s->n : 0) == n && running == (s->owner != 0)) return true;
  return ag_scope_error(b, s->pos, "write this as %s", form);
}

/* The input must not have the name of a coordinate, so it gets a text that is not a valid name. */
ag_id ag_scene_running(ag_builder *b, const ag_syn *shape, int rows) {
  if (!ag_scope_index(b, shape->owner, shape->pos)) return 0;
  const char *text = ag_arena_printf(b->m->arena, "%s of %d", ag_scope_text(b, shape->owner), ag_graph_count(b->g));
  ag_id x = ag_input(b->g, text, rows, 1, AG_LEAF_REAL);
  ag_note_input(b, x, AG_ON_PARAM);
  return x;
}

ag_id ag_scene_under(ag_builder *b, const ag_syn *shape, int argument, ag_id input) {
  ag_local local = {shape->owner, false, ag_eval_good(input), b->scope};
  const ag_syn *s = shape->links[argument].x;
  b->scope = &local;
  ag_id x = ag_eval_scalar(b, s, "this function of the shape");
  b->scope = local.next;
  if (x && ag_note_on(b, x) & ~AG_ON_PARAM)
    return ag_scope_error(b, s->pos, "a shape may use only `%s`, numbers and parameters",
                          ag_scope_text(b, shape->owner)),
           0;
  return x;
}

/* ---- forms ---- */

static bool lengths(ag_builder *b, const ag_syn *s, ag_surface *out) {
  static const char *const what = "a length of the surface";
  ag_id *at[3] = {&out->a, &out->b, &out->c};
  bool ok = true;
  for (int i = 0; i < s->n; i++) ok = (*at[i] = ag_scene_positive(b, s->links[i].x, what)) && ok;
  return ok;
}

static bool tip(ag_builder *b, const ag_syn *s, ag_surface *out) {
  return (out->p = ag_scene_value(b, s->links[0].x, 3, 1, "the place of the tip")) != 0;
}

/* Radius of curvature r(theta), radius h0 of the parallel at theta = 0, height f0 of the centre above it (K, 2.4). */
static bool curved(ag_builder *b, const ag_syn *s, ag_surface *out) {
  enum { NODES = 32 };
  ag_id theta = ag_scene_running(b, s, 1), r = theta ? ag_scene_under(b, s, 0, theta) : 0;
  ag_id h0 = ag_scene_value(b, s->links[1].x, 1, 1, "the radius of the first parallel");
  ag_id f0 = ag_scene_value(b, s->links[2].x, 1, 1, "the height of the centre");
  if (!r || !h0 || !f0 || !ag_scope_work(b, s->pos, NODES * ag_graph_count(b->g) / 16)) return false;
  *out = ag_surface_meridian(b->g, theta, r, h0, f0, NODES);
  return true;
}

static bool meridian(ag_builder *b, const ag_syn *s, ag_surface *out) {
  out->theta = ag_scene_running(b, s, 1);
  out->h = out->theta ? ag_scene_under(b, s, 0, out->theta) : 0;
  out->f = out->theta ? ag_scene_under(b, s, 1, out->theta) : 0;
  out->f0 = ag_scene_value(b, s->links[2].x, 1, 1, "the height of the centre");
  return out->h && out->f && out->f0;
}

/* ---- implicit surfaces ---- */

/* F at a point, for the current parameters. */
static double height_at(ag_builder *b, const ag_surface *s, const ag_id *inputs, int n, double *values, int k,
                        double at) {
  double F;
  for (int i = 0; i < 3; i++) values[i] = i == k ? at : 0;
  ag_evaluate(b->g, n, inputs, values, 1, &s->f, &F);
  return F;
}

/* Distance to F = 0 along axis k, averaged over both sides. 0 if F does not change sign there. */
static double half_axis(ag_builder *b, const ag_surface *s, const ag_id *inputs, int n, double *values, int k) {
  double sum = 0;
  for (int side = -1; side <= 1; side += 2) {
    double lo = 0, hi = 1e-6;
    while (hi < 1e12 && !(height_at(b, s, inputs, n, values, k, side * hi) > 0)) lo = hi, hi *= 2;
    if (hi >= 1e12) return 0;
    for (int i = 0; i < 60; i++) {
      double mid = (lo + hi) / 2;
      *(height_at(b, s, inputs, n, values, k, side * mid) > 0 ? &hi : &lo) = mid;
    }
    sum += hi;
  }
  return sum / 2;
}

/* The ellipsoid from which the Newton steps start: it affects how many are needed, not the result. */
static bool enclose(ag_builder *b, const ag_syn *s, ag_surface *out) {
  const ag_model *m = b->m;
  int n = 1, size = 3;
  for (int i = 0; i < m->n_params; i++)
    if (m->params[i].input) size += ag_input_storage(b->g, m->params[i].input), n++;
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)n), *half[3] = {&out->a, &out->b, &out->c};
  double *values = ag_heap_alloc(sizeof *values * (size_t)size);
  inputs[0] = out->p;
  for (int i = 0, k = 1, at = 3; i < m->n_params; i++) {
    const ag_param *p = &m->params[i];
    if (!p->input) continue;
    ag_constant(b->g, ag_scope_symbol(b, ag_names_id(b->names, p->name, strlen(p->name)))->number, values + at);
    inputs[k++] = p->input;
    at += ag_input_storage(b->g, p->input);
  }
  double inside = height_at(b, out, inputs, n, values, 0, 0);
  bool ok = inside < 0;
  if (!ok) ag_scope_error(b, s->links[0].x->pos, "the function must be negative inside: at 0 it is %g", inside);
  for (int k = 0; ok && k < 3; k++) {
    double a = half_axis(b, out, inputs, n, values, k);
    if (!(a > 0)) ok = ag_scope_error(b, s->links[0].x->pos, "the surface is not closed along its axis %d", k + 1);
    *half[k] = ag_num(b->g, a);
  }
  free(inputs);
  free(values);
  return ok;
}

static bool convex(ag_builder *b, const ag_syn *s, ag_surface *out) {
  out->p = ag_scene_running(b, s, 3);
  out->f = out->p ? ag_scene_under(b, s, 0, out->p) : 0;
  if (!out->f) return false;
  if (!ag_depends(b->g, 1, &out->f, 1, &out->p))
    return ag_scope_error(b, s->links[0].x->pos, "the function does not contain `%s`", ag_scope_text(b, s->owner));
  if (!ag_scope_work(b, s->pos, 10 * ag_graph_count(b->g)) || !enclose(b, s, out)) return false;
  ag_implicit_settle(b->m, out);
  return true;
}

static const struct {
  const char *word, *form;
  int n;
  ag_surface_kind kind;
  bool (*build)(ag_builder *, const ag_syn *, ag_surface *);
} forms[] = {
    {"sphere", "sphere(radius)", 1, AG_SURFACE_SPHERE, lengths},
    {"ellipsoid", "ellipsoid(a, b, c) with its half axes", 3, AG_SURFACE_ELLIPSOID, lengths},
    {"torus", "torus(radius of the centre circle, radius of the tube)", 2, AG_SURFACE_TORUS, lengths},
    {"disk", "disk(radius)", 1, AG_SURFACE_DISK, lengths},
    {"cylinder", "cylinder(radius, half of the height)", 2, AG_SURFACE_CYLINDER, lengths},
    {"point", "point([x, y, z])", 1, AG_SURFACE_POINT, tip},
    {"revolution", "revolution(theta: r, h0, f0) with the radius of curvature r(theta)", 3, AG_SURFACE_REVOLUTION,
     curved},
    {"meridian", "meridian(theta: h, f, f0)", 3, AG_SURFACE_REVOLUTION, meridian},
    {"convex", "convex(X: F) with F(X) = 0 on the surface", 1, AG_SURFACE_CONVEX, convex},
};

bool ag_scene_surface(ag_builder *b, const ag_syn *s, ag_surface *out) {
  enum { N = sizeof forms / sizeof *forms };
  const char *text = ag_scope_text(b, s->name), *words[N];
  for (int i = 0; i < N; i++) {
    words[i] = forms[i].word;
    if (strcmp(text, forms[i].word)) continue;
    *out = (ag_surface){.kind = forms[i].kind};
    return ag_scene_form(b, s, forms[i].n, forms[i].form) && forms[i].build(b, s, out);
  }
  const char *near = ag_nearest(text, N, words);
  if (near) return ag_scope_error(b, s->pos, "unknown surface `%s`; did you mean `%s`?", text, near);
  return ag_scope_error(b, s->pos,
                        "unknown surface `%s`; there are sphere, ellipsoid, torus, disk, cylinder, point, revolution, "
                        "meridian and convex",
                        text);
}
