/* SPDX-License-Identifier: MIT
 * Ito's products. What a Wiener process multiplies in the sense of Ito is rewritten with Stratonovich's product,
 *   x dW = x o dW - 1/2 (D_g x) dt,
 * with g the field of the channel: processes move with their amplitudes, and velocities with w,
 *   M w - S^T mu = f + dbar gamma - D_g p,   S w = -D_g (S xi + s),
 * S of all constraints, of positions too. Where a velocity has no inertia of its own, only the constraints give it one,
 * and M + S^T S takes the place of M, f + dbar gamma - D_g p - S^T D_g (S xi + s) that of the right-hand side: w is the
 * same. */
#include <string.h>

#include "lang/build.h"

/* Everything that a channel does. */
typedef struct field {
  int channel, n_c, n_p;
  bool transport;
  ag_id *amplitude;  /* per process */
  ag_id *xi, *force; /* per coordinate: the velocity; forces and gradients of potentials */
  ag_id *rate;       /* per coordinate: of its velocity; known after find_rates() */
} field;

static ag_id whole(ag_builder *b, const ag_assign *a) {
  int dim = b->m->coords[a->coord].dim;
  if (a->row < 0 || dim == 1) return a->x;
  ag_id *parts = AG_NEWN(b->arena, ag_id, dim);
  for (int r = 0; r < dim; r++) parts[r] = r == a->row ? a->x : ag_num(b->g, 0);
  return ag_stack(b->g, dim, 1, parts);
}

static void add_noise(ag_builder *b, const ag_noise *n, field *f) {
  const ag_model *m = b->m;
  ag_id one = ag_num(b->g, 1), *q = AG_NEWN(b->arena, ag_id, 2 * f->n_c + 1), *grad = q + f->n_c;
  f->transport = f->transport || n->kind == AG_NOISE_TRANSPORT;
  for (int k = 0; k < n->n; k++) {
    ag_id *sum = n->kind == AG_NOISE_PROCESS ? f->amplitude : n->kind == AG_NOISE_FORCE ? f->force : NULL;
    ag_id add = !sum ? 0 : n->kind == AG_NOISE_FORCE ? whole(b, &n->parts[k]) : n->parts[k].x;
    if (sum) sum[n->parts[k].coord] = ag_add(b->g, sum[n->parts[k].coord], add);
  }
  if (n->kind != AG_NOISE_POTENTIAL) return;
  for (int i = 0; i < f->n_c; i++) q[i] = m->coords[i].q;
  ag_reverse(b->g, 1, &n->x, &one, f->n_c, q, grad);
  for (int i = 0; i < f->n_c; i++) f->force[i] = ag_add(b->g, f->force[i], grad[i]);
}

static field field_of(ag_builder *b, int channel) {
  const ag_model *m = b->m;
  field f = {.channel = channel, .n_c = m->n_coords, .n_p = m->n_processes};
  f.amplitude = AG_NEWN(b->arena, ag_id, f.n_p + 1);
  f.force = AG_NEWN(b->arena, ag_id, f.n_c + 1);
  f.xi = AG_NEWN(b->arena, ag_id, f.n_c + 1);
  for (int i = 0; i < f.n_p; i++) f.amplitude[i] = ag_num(b->g, 0);
  for (int i = 0; i < f.n_c; i++) f.force[i] = ag_zero(b->g, m->coords[i].dim, 1), f.xi[i] = m->coords[i].xi;
  for (int i = 0; i < m->n_noises; i++)
    if (m->noises[i].channel == channel) add_noise(b, &m->noises[i], &f);
  return f;
}

/* The rows S xi + s of all constraints as one column, 0: there are none. */
static ag_id all_rows(ag_builder *b, const field *f) {
  const ag_model *m = b->m;
  const int n = m->n_constraints + m->n_holonomics + m->n_prescribes;
  ag_id *rows = AG_NEWN(b->arena, ag_id, n + f->n_c + 1), *q = rows + n, x;
  int at = 0;
  for (int i = 0; i < f->n_c; i++) q[i] = m->coords[i].q;
  for (int i = 0; i < m->n_constraints; i++) rows[at++] = m->constraints[i].x;
  for (int i = 0; i < m->n_holonomics + m->n_prescribes; i++) {
    x = i < m->n_holonomics ? m->holonomics[i].x : m->prescribes[i - m->n_holonomics].x;
    ag_forward(b->g, f->n_c, q, f->xi, 1, &x, &rows[at++]);
  }
  return n ? ag_concat(b->g, n, rows) : 0;
}

/* w - M^-1 S^T (S M^-1 S^T)^-1 (S w + moved): what the rows leave of the rates w. */
static ag_id keep_rows(ag_builder *b, ag_id M, ag_id S, ag_id w, ag_id moved) {
  ag_graph *g = b->g;
  const int n = ag_node_rows(g, S);
  ag_id *y = AG_NEWN(b->arena, ag_id, n * n + n + 1), *A = y + n;
  for (int k = 0; k < n; k++) {
    ag_id of_S = ag_rows_of(g, S, k, 1), row = ag_transpose(g, of_S);
    y[k] = ag_solve(g, M, row, AG_SOLVE_SPD);
  }
  for (int k = 0; k < n; k++) {
    ag_id column = ag_mul(g, S, y[k]);
    for (int i = 0; i < n; i++) A[i * n + k] = ag_entry(g, column, i, 0);
  }
  ag_id off = ag_mul(g, S, w), gap = ag_add(g, off, moved), system = ag_stack(g, n, n, A),
        mu = ag_solve(g, system, gap, AG_SOLVE_SPD);
  for (int k = 0; k < n; k++) {
    ag_id entry = ag_entry(g, mu, k, 0), push = ag_mul(g, entry, y[k]);
    w = ag_sub(g, w, push);
  }
  return w;
}

static bool lacks_inertia(ag_graph *g, ag_id M) {
  bool lacks = false;
  for (int i = 0; i < ag_node_rows(g, M); i++) lacks = lacks || ag_is_zero(g, ag_entry(g, M, i, i));
  return lacks;
}

/* Is it known here that M has no inverse? */
static bool singular(ag_builder *b, ag_id M) {
  double det = 1;
  if (ag_node_rows(b->g, M) > AG_MAX_SOLVE || ag_note_on(b, M)) return false;
  return ag_is_zero(b->g, M) || (ag_constant(b->g, ag_det(b->g, M), &det) && det == 0);
}

/* w per coordinate. */
static bool find_rates(ag_builder *b, field *f, ag_pos pos) {
  ag_model *m = b->m;
  ag_graph *g = b->g;
  ag_id one = ag_num(g, 1), *p = AG_NEWN(b->arena, ag_id, 2 * f->n_c + f->n_p + 1), *moved = p + f->n_c;
  ag_id *N = moved + f->n_c, rows = all_rows(b, f), along = 0;
  for (int i = 0; i < f->n_p; i++) N[i] = m->processes[i].x;
  ag_reverse(g, 1, &m->lagrangian, &one, f->n_c, f->xi, p);
  ag_forward(g, f->n_p, N, f->amplitude, f->n_c, p, moved);
  for (int i = 0; i < f->n_c; i++) moved[i] = ag_sub(g, f->force[i], moved[i]);
  ag_id M = ag_jacobian(g, ag_concat(g, f->n_c, p), f->n_c, f->xi), right = ag_concat(g, f->n_c, moved), S = 0;
  bool lacks = lacks_inertia(g, M);
  if (rows) {
    ag_forward(g, f->n_p, N, f->amplitude, 1, &rows, &along);
    S = ag_jacobian(g, rows, f->n_c, f->xi);
  }
  if (rows && lacks) {
    ag_id across = ag_transpose(g, S), more = ag_mul(g, across, S), off = ag_mul(g, across, along);
    M = ag_add(g, M, more);
    right = ag_sub(g, right, off);
  }
  if (lacks && singular(b, M)) {
    ag_scope_error(b, pos, "the mass matrix has no inverse, which Ito's product needs: a velocity has no inertia");
    return false;
  }
  ag_id w = ag_solve(g, M, right, AG_SOLVE_SPD);
  if (rows) w = keep_rows(b, M, S, w, along);
  f->rate = AG_NEWN(b->arena, ag_id, f->n_c + 1);
  for (int i = 0, at = 0; i < f->n_c; at += m->coords[i++].dim) f->rate[i] = ag_rows_of(g, w, at, m->coords[i].dim);
  return true;
}

/* -1/2 D_g x; 0: it cannot be written down here, and that is reported. */
static ag_id correction(ag_builder *b, field *f, ag_id x, ag_pos pos) {
  const ag_model *m = b->m;
  const char *W = m->channels[f->channel].name;
  int on = ag_note_on(b, x), n = f->n_p;
  ag_id *inputs = AG_NEWN(b->arena, ag_id, 2 * (f->n_c + f->n_p) + 1), *seeds = inputs + f->n_c + f->n_p, out;
  if (f->transport && on & (AG_ON_Q | AG_ON_XI))
    return ag_scope_error(b, pos, "`%s` also perturbs the path (transport): write this noise without `ito`", W);
  for (int i = 0; i < f->n_p; i++) inputs[i] = m->processes[i].x, seeds[i] = f->amplitude[i];
  if (on & AG_ON_XI && !f->rate && !find_rates(b, f, pos)) return 0;
  for (int i = 0; i < f->n_c && on & AG_ON_XI; i++) inputs[n] = f->xi[i], seeds[n++] = f->rate[i];
  ag_forward(b->g, n, inputs, seeds, 1, &x, &out);
  return ag_mul(b->g, ag_num(b->g, -0.5), out);
}

void ag_ito_finish(ag_builder *b) {
  ag_model *m = b->m;
  int n = m->n_noises;
  if (ag_scope_failed(b) || !m->lagrangian) return; /* ag_verify_model reports that there is none */
  for (int i = 0; i < n; i++) {
    if (!m->noises[i].ito) continue;
    field f = field_of(b, m->noises[i].channel);
    for (int k = 0; k < m->noises[i].n; k++) {
      ag_assign part = m->noises[i].parts[k];
      ag_id add = correction(b, &f, part.x, part.pos);
      if (!add || ag_is_zero(b->g, add)) continue;
      part.x = add;
      if (m->noises[i].kind == AG_NOISE_FORCE) AG_MODEL_PUSH(m, forces, part);
      else m->processes[part.coord].drift = ag_add(b->g, m->processes[part.coord].drift, add);
    }
  }
  for (int i = 0; i < n; i++) m->noises[i].ito = false; /* all of them are Stratonovich's now */
}
