/* SPDX-License-Identifier: MIT
 * Expressions of the model on the reduced state z. Velocities become functions of coordinates and independent
 * velocities; a rotation that the core knows only through images R^T c is replaced by them. Expressions that still
 * depend on a reconstructed coordinate need the rest of z. */
#include <stdlib.h>
#include <string.h>

#include "mech/choices.h"

/* Nodes replaced by others. */
typedef struct rules {
  int n;
  ag_id *from, *to;
} rules;

static void add_rule(rules *r, ag_id from, ag_id to) {
  if (from == to) return;
  r->from[r->n] = from;
  r->to[r->n++] = to;
}

int ag_unit_row(ag_graph *g, ag_id c) {
  double v[3];
  if (!ag_constant(g, c, v)) return -1;
  for (int i = 0; i < 3; i++)
    if (v[i] == 1 && v[(i + 1) % 3] == 0 && v[(i + 2) % 3] == 0) return i;
  return -1;
}

static void add_images(ag_system *sys, rules *r) {
  ag_graph *g = sys->model->graph;
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *im = &sys->images[i];
    ag_id R = sys->model->coords[im->coord].q;
    int row = ag_unit_row(g, im->c);
    add_rule(r, ag_mul(g, ag_transpose(g, R), im->c), im->input);
    for (int j = 0; row >= 0 && j < 3; j++) {
      ag_id entry = ag_entry(g, R, row, j), component = ag_entry(g, im->input, j, 0);
      add_rule(r, entry, component);
    }
  }
}

/* Built-in names as functions of coordinates and velocities; velocities as functions of coordinates and independent
 * velocities; images. */
static void reduce_by(ag_system *sys, bool velocities, bool images, int n_out, ag_id *outs) {
  ag_model *m = sys->model;
  rules r = {0};
  size_t room = (size_t)(m->n_coords + m->n_frames + 4 * sys->n_image + 2);
  r.from = ag_heap_alloc(sizeof(ag_id) * room);
  r.to = ag_heap_alloc(sizeof(ag_id) * room);
  if (m->energy) add_rule(&r, m->energy, sys->energy);
  for (int i = 0; i < m->n_frames; i++)
    if (sys->elimination != AG_ELIM_FRAME) add_rule(&r, m->frame_inputs[i], m->frames[i].x);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  r.n = 0;
  for (int i = 0; i < m->n_coords && velocities; i++) add_rule(&r, m->coords[i].xi, sys->xi_of_u[i]);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  r.n = 0;
  if (images) add_images(sys, &r);
  if (r.n) ag_substitute(m->graph, r.n, r.from, r.to, n_out, outs);
  free(r.from);
  free(r.to);
}

static void reduce(ag_system *sys, bool images, int n_out, ag_id *outs) { reduce_by(sys, true, images, n_out, outs); }

/* Binds provisionally to [q | images | u]: components of a coordinate need not be adjacent in z. `more`: room for so
 * many others. Returns how many. */
static int bind_provisional(const ag_system *sys, int more, ag_bind **binds) {
  ag_bind *b = ag_heap_alloc(sizeof *b *
                             (size_t)(ag_bind_capacity(sys) + 2 * sys->n_basis + sys->n_image + sys->n_u_input + more));
  int k = ag_bind_base(sys, b), at = sys->n.q;
  k += ag_bind_bases(sys, b + k);
  for (int i = 0; i < sys->n_image; i++, at += 3) b[k++] = (ag_bind){sys->images[i].input, AG_SEG_Z, at};
  for (int i = 0; i < sys->n_u_input; i++) {
    b[k++] = (ag_bind){sys->u_inputs[i], AG_SEG_Z, at};
    at += ag_node_rows(sys->model->graph, sys->u_inputs[i]);
  }
  *binds = b;
  return k;
}

static ag_tape *provisional(ag_system *sys, int n_out, const ag_id *outs) {
  ag_bind *binds;
  int k = bind_provisional(sys, 0, &binds);
  ag_tape *tape = ag_tape_create(sys->model->graph, k, binds, n_out, outs);
  free(binds);
  return tape;
}

/* Position in z of number k of [q | images | u]. */
static int in_z(const ag_system *sys, int k) {
  if (k < sys->n.q) return sys->q_in_z[k];
  int image = k - sys->n.q, u = image - 3 * sys->n_image;
  return u < 0 ? sys->images[image / 3].z + image % 3 : sys->n.u_at + u;
}

void ag_on_branches(ag_system *sys, int n_out, ag_id *outs) {
  reduce(sys, true, n_out, outs);
  ag_switches_apply(sys, n_out, outs);
}

ag_tape *ag_branch_tape(ag_system *sys, int n_out, const ag_id *outs) {
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1));
  memcpy(x, outs, sizeof *x * (size_t)n_out);
  ag_on_branches(sys, n_out, x);
  ag_tape *tape = ag_model_has_force(sys->model, n_out, x) ? NULL : ag_reduced_tape(sys, n_out, x);
  free(x);
  return tape;
}

ag_tape *ag_system_reduced_tape(ag_system *sys, int n_out, const ag_id *outs, bool *reads_rest) {
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1));
  memcpy(x, outs, sizeof *x * (size_t)n_out);
  reduce(sys, true, n_out, x);
  ag_tape *tape = ag_model_has_force(sys->model, n_out, x) ? NULL : provisional(sys, n_out, x);
  free(x);
  *reads_rest = false;
  for (int i = 0; tape && i < tape->n_instr; i++) {
    ag_instr *in = &tape->instr[i];
    if (in->op != AG_OP_LOAD || in->a != AG_SEG_Z) continue;
    in->b = (uint32_t)in_z(sys, (int)in->b);
    *reads_rest = *reads_rest || (int)in->b >= sys->n.core;
  }
  if (tape) tape->n_need[AG_SEG_Z] = sys->n.z;
  return tape;
}

/* ---- velocities as separate numbers ----
 * With a basis a velocity is a long expression of the state, whose bounds are wide and take long. As a curve over a
 * step it is as good as a component of z: its values and rates are known where those of z are. */

static int n_provisional(const ag_system *sys) { return sys->n.q + 3 * sys->n_image + sys->n.u; }

/* The expressions with velocities as inputs: behind [q | images | u]. */
static ag_tape *with_velocities(ag_system *sys, int n_out, const ag_id *outs) {
  const ag_model *m = sys->model;
  ag_bind *binds;
  int k = bind_provisional(sys, m->n_coords, &binds), at = n_provisional(sys);
  for (int i = 0; i < m->n_coords; i++) binds[k++] = (ag_bind){m->coords[i].xi, AG_SEG_Z, at + sys->coords[i].tangent};
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1));
  memcpy(x, outs, sizeof *x * (size_t)n_out);
  reduce_by(sys, false, true, n_out, x);
  ag_tape *tape = ag_tape_create(m->graph, k, binds, n_out, x);
  free(binds);
  free(x);
  return tape;
}

/* Its loads become those of [z | e], e the velocities that are read; their number. which[j]: in the tangent. */
static int place_velocities(const ag_system *sys, ag_tape *tape, int *which) {
  int n = 0, first = n_provisional(sys), *place = ag_heap_alloc(sizeof *place * (size_t)(sys->n.xi + 1));
  memset(place, -1, sizeof *place * (size_t)(sys->n.xi + 1));
  for (int i = 0; i < tape->n_instr; i++) {
    ag_instr *in = &tape->instr[i];
    if (in->op != AG_OP_LOAD || in->a != AG_SEG_Z) continue;
    int k = (int)in->b - first;
    if (k >= 0 && place[k] < 0) which[place[k] = n++] = k;
    in->b = (uint32_t)(k < 0 ? in_z(sys, (int)in->b) : sys->n.z + place[k]);
  }
  tape->n_need[AG_SEG_Z] = sys->n.z + n;
  free(place);
  return n;
}

/* Rates of the inputs that xi is a function of: those of the stored numbers, in the segment W. A rotation moves by its
 * body velocity, (0, Omega) = 2 conj(q) q'. */
static int seed_rates(const ag_system *sys, ag_id *inputs, ag_id *seeds, ag_bind *binds, int *n_bind) {
  const ag_model *m = sys->model;
  ag_graph *g = m->graph;
  int n = 0, at = sys->n.q;
  for (int i = 0; i < m->n_coords; i++) {
    const ag_layout_row *p = &sys->coords[i];
    ag_id q = m->coords[i].q, rate = ag_input(g, "rate", p->n, 1, AG_LEAF_REAL);
    binds[(*n_bind)++] = (ag_bind){rate, AG_SEG_W, p->at};
    inputs[n] = q, seeds[n] = rate;
    if (m->coords[i].space == AG_SPACE_SO3) {
      ag_id stored = ag_stored(g, q), v = ag_rows_of(g, stored, 1, 3), r = ag_rows_of(g, rate, 1, 3);
      ag_id w = ag_entry(g, stored, 0, 0), s = ag_entry(g, rate, 0, 0), first = ag_mul(g, w, r),
            second = ag_mul(g, s, v);
      ag_id sum = ag_sub(g, first, second), half = ag_sub(g, sum, ag_cross(g, v, r));
      seeds[n] = ag_mul(g, ag_num(g, 2), half);
    }
    n++;
  }
  for (int i = 0; i < sys->n_image + sys->n_u_input; i++) {
    ag_id input = i < sys->n_image ? sys->images[i].input : sys->u_inputs[i - sys->n_image];
    inputs[n] = input;
    seeds[n] = ag_input(g, "rate", ag_node_rows(g, input), 1, AG_LEAF_REAL);
    binds[(*n_bind)++] = (ag_bind){seeds[n++], AG_SEG_W, at};
    at += ag_node_rows(g, input);
  }
  inputs[n] = m->t, seeds[n++] = ag_num(g, 1);
  return n;
}

/* The n velocities `which` and their rates, of z and z'. */
static ag_tape *velocity_rates(ag_system *sys, int n, const int *which) {
  const ag_model *m = sys->model;
  int most = m->n_coords + sys->n_image + sys->n_u_input + 1;
  ag_bind *binds;
  int k = bind_provisional(sys, most, &binds);
  ag_id *out = ag_heap_alloc(sizeof *out * (size_t)(2 * n + 2 * most)), *inputs = out + 2 * n, *seeds = inputs + most;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m->n_coords; i++) {
      int c = which[j] - sys->coords[i].tangent;
      if (c >= 0 && c < sys->coords[i].n_tangent) out[j] = ag_entry(m->graph, m->coords[i].xi, c, 0);
    }
  reduce(sys, true, n, out);
  int n_in = seed_rates(sys, inputs, seeds, binds, &k);
  ag_forward(m->graph, n_in, inputs, seeds, n, out, out + n);
  ag_tape *tape = ag_tape_create(m->graph, k, binds, 2 * n, out);
  for (int i = 0; i < tape->n_instr; i++) {
    ag_instr *in = &tape->instr[i];
    if (in->op == AG_OP_LOAD && (in->a == AG_SEG_Z || in->a == AG_SEG_W)) in->b = (uint32_t)in_z(sys, (int)in->b);
  }
  tape->n_need[AG_SEG_Z] = tape->n_need[AG_SEG_W] = sys->n.z;
  free(binds);
  free(out);
  return tape;
}

void ag_system_look_tapes(ag_system *sys, int n_out, const ag_id *outs, const bool *without, ag_tape *tape) {
  enum { WORTH = 2 }; /* bounds that take half as long are worth the velocities at three points */
  if (sys->elimination != AG_ELIM_BASIS || sys->n.process || sys->n.channel) return;
  ag_id *x = ag_heap_alloc(sizeof *x * (size_t)(n_out + 1));
  for (int i = 0; i < n_out; i++) x[i] = without && without[i] ? ag_num(sys->model->graph, 0) : outs[i];
  ag_tape *look = with_velocities(sys, n_out, x);
  int *which = ag_heap_alloc(sizeof *which * (size_t)(sys->n.xi + 1)), n = place_velocities(sys, look, which);
  if (without) {
    bool *copy = ag_heap_alloc((size_t)n_out + 1);
    memcpy(copy, without, (size_t)n_out);
    ag_enclose_without(look, copy);
  }
  if (n && WORTH * ag_enclose_cost(look) < ag_enclose_cost(tape)) {
    tape->look = look;
    tape->extra = velocity_rates(sys, n, which);
  } else ag_tape_free(look);
  free(which);
  free(x);
}

/* With xi = B u the energy is u.(B^T M B) u/2 + V: the core knows its mass matrix. 0: not of this form. */
static ag_id energy_of_u(ag_system *sys) {
  const ag_model *m = sys->model;
  ag_graph *g = m->graph;
  const int nc = m->n_coords, n = sys->n_u_input;
  if (!sys->mass || sys->elimination == AG_ELIM_SADDLE) return 0;
  ag_id *xi = ag_heap_alloc(sizeof *xi * (size_t)(3 * nc + n + 1)), *at_rest = xi + nc, *zeros = at_rest + nc,
        potential = sys->energy, energy = 0;
  bool none = true;
  for (int i = 0; i < n; i++) zeros[i] = ag_zero(g, ag_node_rows(g, sys->u_inputs[i]), 1);
  memcpy(at_rest, sys->xi_of_u, sizeof *at_rest * (size_t)nc);
  ag_substitute(g, n, sys->u_inputs, zeros, nc, at_rest);
  for (int i = 0; i < nc; i++) {
    none = none && ag_is_zero(g, at_rest[i]);
    xi[i] = m->coords[i].xi;
  }
  if (none) {
    ag_id u = ag_concat(g, n, sys->u_inputs), momentum = ag_mul(g, sys->mass, u);
    ag_substitute(g, nc, xi, at_rest, 1, &potential);
    ag_id twice = ag_dot(g, u, momentum), kinetic = ag_mul(g, ag_num(g, 0.5), twice);
    energy = ag_add(g, kinetic, potential);
  }
  free(xi);
  return energy;
}

void ag_system_related(ag_system *sys, int n_out, ag_id *outs) {
  ag_id energy = energy_of_u(sys), from[2] = {sys->energy, sys->model->energy}, to[2] = {energy, energy};
  if (energy) ag_substitute(sys->model->graph, from[1] ? 2 : 1, from, to, n_out, outs);
  reduce(sys, false, n_out, outs);
  ag_relations_insert(sys, n_out, outs);
}

ag_id ag_system_spread(ag_system *sys, ag_id x) {
  ag_model *m = sys->model;
  ag_graph *g = m->graph;
  const int n_q = m->n_coords, n = n_q + sys->n.process, n_in = n + sys->n_u_input;
  ag_id *inputs = ag_heap_alloc(sizeof *inputs * (size_t)(2 * n_in + 1)), *seeds = inputs + n_in, sum = ag_num(g, 0);
  reduce(sys, false, 1, &x);
  for (int i = 0; i < n_q; i++) inputs[i] = m->coords[i].q;
  (void)ag_process_inputs(m, inputs + n_q);
  for (int i = 0; i < sys->n_u_input; i++) inputs[n + i] = sys->u_inputs[i];
  for (int k = 0; k < sys->n.channel; k++) {
    ag_id along;
    for (int i = 0; i < n_q; i++) seeds[i] = ag_system_sigma(sys, k)[i];
    (void)ag_process_rates(sys, k, sys->xi_of_u, seeds + n_q);
    for (int i = 0, at = 0; i < sys->n_u_input; i++) {
      const int rows = ag_node_rows(g, sys->u_inputs[i]);
      seeds[n + i] = ag_rows_of(g, sys->noise_rates[k], at, rows);
      at += rows;
    }
    ag_forward(g, n_in, inputs, seeds, 1, &x, &along);
    sum = ag_add(g, sum, ag_mul(g, along, along));
  }
  free(inputs);
  return sum;
}

ag_tape *ag_system_guard(ag_system *sys) {
  int n = sys->n_minor + sys->n.fragile;
  if (!sys->tapes[AG_ROLE_MINOR] && !sys->tapes[AG_ROLE_FRAGILE]) return NULL;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(n + 1));
  for (int i = 0; i < n; i++)
    outs[i] = i < sys->n_minor ? sys->made[AG_ROLE_MINOR][i] : sys->made[AG_ROLE_FRAGILE][i - sys->n_minor];
  ag_split_leaves(sys, n, outs);
  ag_tape *tape = ag_reduced_tape(sys, n, outs);
  free(outs);
  return tape;
}

const double *ag_system_minor_bounds(const ag_system *sys, int *n) {
  *n = sys->n_minor;
  return sys->minor_bound;
}
