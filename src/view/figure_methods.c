/* SPDX-License-Identifier: MIT
 * Figures of what `anagyre converge` measured: a curve for each method. With noise, errors over step sizes, with two
 * standard errors to either side and lines of the declared orders. */
#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "view/view_internal.h"

static int place_of(const ag_source *s, const char *name) {
  for (int i = 0; i < s->n_column; i++)
    if (!strcmp(s->columns[i].name, name)) return s->columns[i].offset;
  return -1;
}

bool ag_figure_has_orders(const ag_source *s) { return place_of(s, "strong") >= 0 && place_of(s, "weak") >= 0; }

static double *room(long n) { return ag_heap_alloc(sizeof(double) * (size_t)(n + 1)); }

/* The points of group k that have logarithms; which: their rows in all. */
static ag_curve group(ag_figure *f, const ag_source *s, const ag_curve *all, int k, long *which) {
  ag_curve c = {.name = ag_arena_str(f->arena, s->groups[k]), .foreign = true, .colour = k, .dash = k / 7};
  c.x = room(all->n), c.y = room(all->n);
  for (long i = 0; i < all->n; i++) {
    if (!(all->z[i] == k && all->x[i] > 0 && all->y[i] > 0)) continue;
    which[c.n] = i;
    c.x[c.n] = all->x[i], c.y[c.n++] = all->y[i];
  }
  return c;
}

/* Two standard errors to either side, below down to a fifth. */
static ag_curve band(const ag_curve *c, const long *which, const double *spread) {
  ag_curve b = {.name = "", .foreign = true, .colour = c->colour, .n = c->n, .band = 0.25};
  b.x = room(c->n), b.y = room(c->n), b.z = room(c->n);
  for (long i = 0; i < c->n; i++) {
    const double two = isfinite(spread[which[i]]) ? 2 * spread[which[i]] : 0;
    b.x[i] = c->x[i];
    b.y[i] = fmax(c->y[i] - two, 0.2 * c->y[i]), b.z[i] = c->y[i] + two;
  }
  return b;
}

/* The line of an order through the last point of a curve. */
static ag_curve line_of(ag_figure *f, const ag_curve *c, double order, int colour) {
  ag_curve l = {.name = ag_arena_printf(f->arena, "order %g", order), .foreign = true, .colour = colour, .dash = 2};
  l.n = 2, l.x = room(2), l.y = room(2);
  l.x[0] = c->x[0], l.x[1] = c->x[c->n - 1];
  l.y[1] = c->y[c->n - 1], l.y[0] = l.y[1] * pow(l.x[0] / l.x[1], order);
  return l;
}

/* Has an order its line already? */
static bool is_drawn(const ag_panel *p, int first, const char *name) {
  for (int i = first; i < p->n_curve; i++)
    if (!strcmp(p->curves[i].name, name)) return true;
  return false;
}

static void add_lines(ag_figure *f, ag_panel *panel, const ag_source *s, const long *first_row, const double *orders) {
  const int groups = 2 * s->n_group; /* bands and curves come first */
  for (int k = 0; k < s->n_group; k++) {
    const ag_curve *c = &panel->curves[2 * k + 1];
    if (c->n < 2 || !(orders[first_row[k]] > 0)) continue;
    const double order = orders[first_row[k]];
    ag_curve l = line_of(f, c, order, s->n_group + (order > 0.5) + (order > 1)); /* the same in both panels */
    if (is_drawn(panel, groups, l.name)) free(l.x), free(l.y);
    else panel->curves[panel->n_curve++] = l;
  }
}

bool ag_figure_methods(ag_figure *f, ag_panel *panel, ag_source *s, ag_text *trouble) {
  ag_curve all = panel->curves[0];
  const bool orders = !strcmp(panel->y, "strong") || !strcmp(panel->y, "weak");
  const bool strong = panel->y[0] == 's';
  const int at[2] = {orders ? place_of(s, strong ? "strong_stderr" : "weak_stderr") : -1,
                     orders ? place_of(s, strong ? "strong_order" : "weak_order") : -1};
  double *v[2] = {NULL, NULL};
  long rows = 0, *which = ag_heap_alloc(sizeof *which * (size_t)(all.n + 1)),
       *first = ag_heap_alloc(sizeof *first * (size_t)(s->n_group + 1));
  const bool noisy = at[0] >= 0 && at[1] >= 0;
  if (noisy && (!ag_source_read(s, 2, at, v, &rows, trouble) || rows != all.n)) {
    free(which), free(first), free(v[0]), free(v[1]);
    return false;
  }
  panel->curves = AG_NEWN(f->arena, ag_curve, 3 * s->n_group + 1);
  panel->n_curve = 0;
  panel->x = noisy ? "step size" : "right-hand sides", panel->z = NULL;
  if (noisy) panel->y = strong ? "strong error" : "weak error";
  for (int k = 0; k < s->n_group; k++) {
    const ag_curve c = group(f, s, &all, k, which);
    first[k] = c.n ? which[0] : 0;
    if (noisy) panel->curves[panel->n_curve++] = band(&c, which, v[0]);
    panel->curves[panel->n_curve++] = c;
  }
  if (noisy) add_lines(f, panel, s, first, v[1]);
  free(all.x), free(all.y), free(all.z);
  free(which), free(first), free(v[0]), free(v[1]);
  return true;
}
