/* SPDX-License-Identifier: MIT
 * The derived equations as text or LaTeX, in the names of the model and in normal form: which equations each form has.
 * How they are named and laid out: sheet.c. */
#include <string.h>

#include "mech/sheet.h"

/* Sizes: of a right side that is solved for the acceleration; hardly longer; of left sides that are rearranged. */
enum { SHORT = 25, LITTLE = 3, MAX_COLLECTED = 200 };

/* The name of the derivative of u: Omega'[1] for a component Omega[1] that is a velocity of its own. */
static const char *rate_name(const ag_sheet *s, ag_id u) {
  const ag_model *m = s->sys->model;
  const char *name = ag_node_name(s->g, u), *bracket = strrchr(name, '[');
  for (int i = 0; bracket && i < m->n_coords; i++) {
    const char *whole = ag_node_name(s->g, m->coords[i].xi);
    if (strlen(whole) == (size_t)(bracket - name) && !strncmp(whole, name, (size_t)(bracket - name)))
      return ag_arena_printf(s->a, "%s'%s", whole, bracket);
  }
  return ag_arena_printf(s->a, "%s'", name);
}

/* Names of the derivatives of u: one input per input of u, so that vectors stay vectors. */
static ag_id *accelerations(ag_sheet *s) {
  const ag_system *sys = s->sys;
  ag_id *a = AG_NEWN(s->a, ag_id, sys->n_u_input + 1);
  for (int i = 0; i < sys->n_u_input; i++) {
    ag_id u = sys->u_inputs[i];
    a[i] = ag_input(s->g, rate_name(s, u), ag_node_rows(s->g, u), 1, AG_LEAF_REAL);
  }
  return a;
}

/* Is a vector with long components written out somewhere in x, not inside a matrix? Every node is looked at once. */
static bool long_stack(const ag_graph *g, ag_id x) {
  bool *seen = ag_heap_alloc((size_t)x + 1), found = false;
  seen[x] = true;
  for (ag_id y = x; y > 0 && !found; y--) {
    if (!seen[y] || ag_node_cols(g, y) != 1) continue;
    found = ag_node_op(g, y) == AG_OP_STACK && ag_normal_size(g, y) > 20;
    for (int k = 0, n = ag_node_n_arg(g, y); k < n; k++) seen[ag_node_arg(g, y, k)] = true;
  }
  free(seen);
  return found;
}

/* Velocities that are not independent. */
static void add_velocities(ag_sheet *s) {
  const ag_system *sys = s->sys;
  const ag_model *m = sys->model;
  bool any = false;
  for (int i = 0; i < m->n_coords; i++) {
    if (s->velocity[i] == m->coords[i].xi) continue;
    if (!any) ag_sheet_heading(s, "velocities in terms of the independent ones", NULL);
    any = true;
    ag_id xi = m->coords[i].xi, x = ag_sheet_normal(s, s->velocity[i]);
    const int dim = long_stack(s->g, x) ? m->coords[i].dim : 1;
    ag_id *parts = AG_NEWN(s->a, ag_id, dim);
    int size = 0;
    for (int k = 0; k < dim && dim > 1; k++) {
      parts[k] = ag_sheet_normal(s, ag_entry(s->g, s->velocity[i], k, 0));
      size += ag_normal_size(s->g, parts[k]);
    }
    bool vector = dim == 1 || (ag_node_op(s->g, x) != AG_OP_STACK && 2 * ag_normal_size(s->g, x) <= size);
    if (vector) ag_sheet_add(s, xi, x);
    if (ag_is_scalar(s->g, xi)) ag_sheet_know(s, x, xi);
    for (int k = 0; k < dim && !vector; k++) ag_sheet_add(s, ag_entry(s->g, xi, k, 0), parts[k]);
  }
}

/* Accelerations: inputs, and all their entries. */
typedef struct accels {
  int n_input, n;
  const ag_id *input;
  ag_id *entry;
} accels;

enum { WHOLE = 1000 };

/* How often an entry (any: -1) is written in x; WHOLE and more where a vector is written as such. */
static int mentions(const ag_graph *g, ag_id x, const accels *a, int entry) {
  int total = 0;
  for (int i = 0; i < a->n; i++)
    if (x == a->entry[i]) return entry < 0 || i == entry;
  for (int i = 0; i < a->n_input; i++)
    if (x == a->input[i]) return WHOLE;
  for (int k = 0; k < ag_node_n_arg(g, x); k++) total += mentions(g, ag_node_arg(g, x, k), a, entry);
  return total;
}

/* The factor of entry k in x, which is linear in all of them. */
static ag_id factor_of(const ag_sheet *s, ag_id x, const accels *a, int k) {
  ag_graph *g = s->g;
  ag_id *value = AG_NEWN(s->a, ag_id, a->n_input + 1);
  for (int i = 0, at = 0; i < a->n_input; i++) {
    int dim = ag_node_rows(g, a->input[i]);
    ag_id *unit = AG_NEWN(s->a, ag_id, dim);
    for (int j = 0; j < dim; j++) unit[j] = ag_num(g, at++ == k);
    value[i] = ag_stack(g, dim, 1, unit);
  }
  ag_substitute(g, a->n_input, a->input, value, 1, &x);
  return ag_sheet_normal(s, x);
}

/* A sum of accelerations, some of them in several terms: each once, with its coefficient, where that is hardly longer:
 * (m + M)*x'' + m*l*th'', not M*x'' + m*(x'' + l*th''). Factors in front stay there. */
static ag_id collected(const ag_sheet *s, ag_id x, const accels *a) {
  ag_graph *g = s->g;
  ag_op op = ag_node_op(g, x);
  ag_id sum = ag_num(g, 0);
  int once = 0;
  if (!ag_is_scalar(g, x) || ag_normal_size(g, x) > MAX_COLLECTED) return x;
  for (int i = 0; i < a->n; i++) once += mentions(g, x, a, i) > 0;
  int all = mentions(g, x, a, -1);
  if (all == once || all >= WHOLE) return x;
  if (op == AG_OP_MUL || op == AG_OP_DIV) {
    ag_id over = collected(s, ag_node_arg(g, x, 0), a), other = collected(s, ag_node_arg(g, x, 1), a);
    return op == AG_OP_MUL ? ag_mul(g, over, other) : ag_div(g, over, other);
  }
  for (int i = 0; i < a->n; i++) {
    ag_id c = factor_of(s, x, a, i);
    c = ag_sheet_normal(s, ag_mul(g, c, a->entry[i]));
    sum = ag_add(g, sum, c);
  }
  return ag_normal_size(g, sum) <= ag_normal_size(g, x) + LITTLE ? sum : x;
}

/* left = right, solved for the acceleration where it is alone with a short coefficient. */
static void add_row(ag_sheet *s, ag_id left, ag_id right, ag_id accel, ag_id coefficient, const accels *a) {
  ag_graph *g = s->g;
  left = ag_sheet_normal(s, left);
  right = ag_sheet_normal(s, right);
  if (coefficient) {
    ag_id solved = ag_sheet_normal(s, ag_div(g, right, coefficient));
    if (ag_normal_size(g, solved) <= SHORT) left = accel, right = solved;
  }
  ag_sheet_cancel(s, &left, &right);
  ag_sheet_add(s, collected(s, left, a), right);
}

/* A u' = f. Rows whose velocity is a scalar are combined where that makes them shorter. */
typedef struct rows {
  int n;
  ag_id *A, *left, *right; /* A: normalised when it is asked for */
  bool *scalar, *known;
} rows;

enum { MAX_COMBINED = 6, MAX_ENTRY = 80 }; /* rows, of which all pairs are tried; size of an entry of A */

static rows rows_of(ag_sheet *s, const ag_id *a) {
  const ag_system *sys = s->sys;
  ag_graph *g = s->g;
  int n = sys->n.u, at = 0;
  rows r = {.n = n, .A = AG_NEWN(s->a, ag_id, n * n), .left = AG_NEWN(s->a, ag_id, n)};
  r.right = AG_NEWN(s->a, ag_id, n);
  r.scalar = AG_NEWN(s->a, bool, n), r.known = AG_NEWN(s->a, bool, n *n);
  ag_id all;
  ag_forward(g, sys->n_u_input, sys->u_inputs, a, 1, &sys->momentum, &all);
  for (int i = 0; i < sys->n_u_input; at += ag_node_rows(g, a[i++])) r.scalar[at] = ag_node_rows(g, a[i]) == 1;
  for (int i = 0; i < n; i++) r.left[i] = ag_entry(g, all, i, 0), r.right[i] = ag_entry(g, sys->force, i, 0);
  for (int i = 0; i < n * n; i++) r.A[i] = ag_entry(g, sys->mass, i / n, i % n);
  return r;
}

static ag_id mass_entry(const ag_sheet *s, const rows *r, int i, int j) {
  int k = i * r->n + j;
  if (!r->known[k]) ag_normal_form(s->g, 0, NULL, NULL, 1, &r->A[k]), r->known[k] = true;
  return r->A[k];
}

/* Row i minus c times row j, if that is shorter. */
static bool combined(ag_sheet *s, rows *r, int i, int j, ag_id c) {
  ag_graph *g = s->g;
  ag_id left = ag_sheet_normal(s, ag_sub(g, r->left[i], ag_mul(g, c, r->left[j])));
  ag_id right = ag_sheet_normal(s, ag_sub(g, r->right[i], ag_mul(g, c, r->right[j])));
  if (ag_normal_size(g, left) + ag_normal_size(g, right) >=
      ag_normal_size(g, r->left[i]) + ag_normal_size(g, r->right[i]))
    return false;
  r->left[i] = left, r->right[i] = right;
  for (int k = 0; k < r->n; k++) {
    r->A[i * r->n + k] = ag_sub(g, r->A[i * r->n + k], ag_mul(g, c, r->A[j * r->n + k]));
    r->known[i * r->n + k] = false;
  }
  return true;
}

/* c = A[i,k]/A[j,k] where that is a function, a parameter or a number, so that row i loses its k-th acceleration. */
static void combine(ag_sheet *s, rows *r) {
  ag_graph *g = s->g;
  int n = r->n;
  for (int i = 0; i < n * n; i++)
    if (n > MAX_COMBINED || !r->scalar[i / n] || ag_normal_size(g, r->A[i]) > MAX_ENTRY) return;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        ag_id own = mass_entry(s, r, i, k), other = mass_entry(s, r, j, k);
        if (i == j || ag_is_zero(g, own) || ag_is_zero(g, other)) continue;
        ag_id c = ag_div(g, own, other);
        ag_normal_form(g, 0, NULL, NULL, 1, &c);
        if (ag_normal_size(g, c) <= 3 && ag_node_op(g, c) != AG_OP_DIV && combined(s, r, i, j, c)) break;
      }
}

/* The coefficient of a scalar acceleration that is alone in its row, or 0. */
static ag_id lone_coefficient(const ag_sheet *s, const rows *r, int row) {
  for (int j = 0; j < r->n; j++)
    if (j != row && !ag_is_zero(s->g, mass_entry(s, r, row, j))) return 0;
  return mass_entry(s, r, row, row);
}

/* Row by row; rows of a vector velocity are a vector equation where that is shorter than its components. */
static void add_motion(ag_sheet *s) {
  const ag_system *sys = s->sys;
  ag_graph *g = s->g;
  int at = 0;
  ag_id *a = accelerations(s), all;
  rows r = rows_of(s, a);
  accels each = {sys->n_u_input, 0, a, AG_NEWN(s->a, ag_id, r.n + 1)};
  for (int i = 0; i < sys->n_u_input; i++)
    for (int j = 0; j < ag_node_rows(g, a[i]); j++) each.entry[each.n++] = ag_entry(g, a[i], j, 0);
  for (int i = 0; i < r.n; i++)
    if (r.scalar[i]) r.left[i] = ag_sheet_normal(s, r.left[i]), r.right[i] = ag_sheet_normal(s, r.right[i]);
  combine(s, &r);
  ag_sheet_heading(s, "equations of motion", NULL);
  ag_forward(g, sys->n_u_input, sys->u_inputs, a, 1, &sys->momentum, &all);
  for (int i = 0, dim; i < sys->n_u_input; i++, at += dim) {
    dim = ag_node_rows(g, a[i]);
    if (dim == 1) {
      ag_id coefficient = lone_coefficient(s, &r, at);
      add_row(s, r.left[at], r.right[at], a[i], coefficient, &each);
      continue;
    }
    ag_id x = ag_sheet_normal(s, ag_rows_of(g, all, at, dim)),
          f = ag_sheet_normal(s, ag_rows_of(g, sys->force, at, dim));
    int whole = ag_normal_size(g, x) + ag_normal_size(g, f), size = 0;
    for (int k = at; k < at + dim; k++) {
      r.left[k] = ag_sheet_normal(s, r.left[k]), r.right[k] = ag_sheet_normal(s, r.right[k]);
      size += ag_normal_size(g, r.left[k]) + ag_normal_size(g, r.right[k]);
    }
    bool vector = whole <= size && !long_stack(g, x) && !long_stack(g, f);
    if (vector) ag_sheet_cancel(s, &x, &f);
    if (vector) ag_sheet_add(s, x, f);
    for (int k = 0; k < dim && !vector; k++) {
      ag_id coefficient = lone_coefficient(s, &r, at + k), accel = ag_entry(g, a[i], k, 0);
      add_row(s, r.left[at + k], r.right[at + k], accel, coefficient, &each);
    }
  }
}

/* Large systems: entry by entry, as they are. */
static void add_entry(ag_sheet *s, const char *A, int i, int j, ag_id x) {
  if (ag_is_zero(s->g, x)) return;
  ag_sheet_add(s, ag_input(s->g, ag_entry_of_matrix(s->a, A, i, j), 1, 1, AG_LEAF_REAL), x);
}

static void add_column(ag_sheet *s, const char *f, int n, ag_id x) {
  for (int i = 0; i < n; i++) {
    ag_id left = ag_input(s->g, ag_entry_of(s->a, f, i), 1, 1, AG_LEAF_REAL);
    ag_sheet_add(s, left, ag_entry(s->g, x, i, 0));
  }
}

static void add_large(ag_sheet *s) {
  const ag_system *sys = s->sys;
  const char *A = ag_free_name(sys, "A"), *f = ag_free_name(sys, "f"), *u = ag_free_name(sys, "u"), *rest = "";
  if (sys->elimination == AG_ELIM_SADDLE) rest = " + (S^T lambda)[i], sum over j of S[r,j] u[j]' = k[r]";
  ag_sheet_heading(s,
                   ag_arena_printf(s->a, "equations of motion: sum over j of %s[i,j] %s[j]' = %s[i]%s, %s symmetric", A,
                                   u, f, rest, A),
                   NULL);
  for (int i = 0; i < sys->M_at.n; i++) add_entry(s, A, sys->M_at.row[i], sys->M_at.col[i], sys->M_at.x[i]);
  for (int i = 0, r; i < sys->S_at.n; i++)
    if ((r = sys->rows[sys->S_at.row[i]].lambda) >= 0) add_entry(s, "S", r, sys->S_at.col[i], sys->S_at.x[i]);
  add_column(s, f, sys->n.u, sys->force);
  if (sys->kappa) add_column(s, "k", sys->n.lambda, sys->kappa);
}

static void add_independent(ag_sheet *s) {
  const ag_system *sys = s->sys;
  ag_text list = {0}, tex = {0};
  for (int i = 0; i < sys->n.u; i++) ag_text_printf(&list, "%s%s", i ? ", " : "", sys->u_names[i]);
  for (int i = 0; i < sys->n_u_input; i++) {
    ag_text_str(&tex, i ? ", $" : "$");
    ag_print_formula(s->g, sys->u_inputs[i], true, &tex);
    ag_text_str(&tex, "$");
  }
  if (!sys->n.u) ag_text_str(&list, "none: every velocity is prescribed"), ag_text_str(&tex, ag_text_cstr(&list));
  ag_sheet_heading(s, "independent velocities", ag_arena_str(s->a, ag_text_cstr(&list)));
  s->lines[s->n - 1].tex = ag_arena_str(s->a, ag_text_cstr(&tex));
  ag_text_done(&list);
  ag_text_done(&tex);
}

/* N' is the rate of a process, as x' is that of a coordinate. */
static ag_id process_rate(ag_sheet *s, int i) {
  return ag_input(s->g, ag_arena_printf(s->a, "%s'", s->sys->model->processes[i].name), 1, 1, AG_LEAF_REAL);
}

/* The noise of a channel: q^-1 dq = ... o dW, and A du = ... o dW with the matrix of the equations of motion. */
static void add_channel(ag_sheet *s, int channel) {
  const ag_system *sys = s->sys;
  const ag_model *m = sys->model;
  ag_graph *g = s->g;
  int nc = m->n_coords, at = 0;
  const char *W = m->channels[channel].name;
  ag_sheet_heading(s, ag_arena_printf(s->a, "noise %s: coefficients of o d%s (Stratonovich)", W, W), NULL);
  for (int c = 0; c < nc; c++) {
    ag_id x = ag_sheet_normal(s, sys->sigma[channel * nc + c]);
    if (!ag_is_zero(g, x)) ag_sheet_add(s, m->coords[c].xi, x);
  }
  for (int i = 0; i < sys->n.process; i++) {
    ag_id x = ag_sheet_normal(s, sys->amplitude[channel * sys->n.process + i]);
    if (!ag_is_zero(g, x)) ag_sheet_add(s, process_rate(s, i), x);
  }
  if (!sys->noise_force || !sys->momentum) return;
  if (!sys->mass) { /* large: entry by entry, as f */
    const char *f = ag_free_name(sys, "f");
    add_column(s, ag_arena_printf(s->a, "%s_%s", f, W), sys->n.u, sys->noise_force[channel]);
    return;
  }
  ag_id *a = accelerations(s);
  rows r = rows_of(s, a);
  for (int i = 0, dim; i < sys->n_u_input; i++, at += dim) {
    dim = ag_node_rows(g, a[i]);
    ag_id all, right = ag_sheet_normal(s, ag_rows_of(g, sys->noise_force[channel], at, dim));
    bool zeros = false; /* trivial entries: 0, and the acceleration is alone */
    for (int k = 0; k < dim && (dim == 1 || ag_node_op(g, right) == AG_OP_STACK || ag_is_zero(g, right)); k++)
      zeros = zeros || (ag_is_zero(g, ag_entry(g, right, k, 0)) && lone_coefficient(s, &r, at + k));
    if (!zeros) {
      ag_forward(g, sys->n_u_input, sys->u_inputs, a, 1, &sys->momentum, &all);
      ag_id left = ag_sheet_normal(s, ag_rows_of(g, all, at, dim));
      ag_sheet_cancel(s, &left, &right);
      ag_sheet_add(s, left, right);
    }
    for (int k = 0; k < dim && zeros; k++) {
      ag_id entry = ag_sheet_normal(s, ag_entry(g, right, k, 0));
      if (ag_is_zero(g, entry) && lone_coefficient(s, &r, at + k)) continue;
      ag_id left = ag_sheet_normal(s, r.left[at + k]);
      ag_sheet_cancel(s, &left, &entry);
      ag_sheet_add(s, left, entry);
    }
  }
}

static void add_processes(ag_sheet *s) {
  const ag_model *m = s->sys->model;
  if (m->n_processes) ag_sheet_heading(s, "drift of the processes", NULL);
  for (int i = 0; i < m->n_processes; i++) {
    ag_id rate = process_rate(s, i), drift = ag_sheet_normal(s, m->processes[i].drift);
    ag_sheet_add(s, rate, drift);
  }
}

/* The kinetic part and the rest apart, n velocities being xi: (m*v^2)/2 + m*g*z, not m*(v^2 + 2*g*z)/2. */
static ag_id in_parts(const ag_sheet *s, ag_id x, int n, const ag_id *xi) {
  ag_graph *g = s->g;
  ag_id *none = AG_NEWN(s->a, ag_id, n + 1), rest = x;
  for (int i = 0; i < n; i++) none[i] = ag_zero(g, ag_node_rows(g, xi[i]), 1);
  ag_substitute(g, n, xi, none, 1, &rest);
  rest = ag_sheet_normal(s, rest);
  ag_id whole = ag_sheet_normal(s, x), moving = ag_sheet_normal(s, ag_sub(g, x, rest));
  ag_id sum = ag_add(g, moving, rest);
  return ag_normal_size(g, sum) <= ag_normal_size(g, whole) + SHORT / 2 ? sum : whole;
}

/* In all velocities or, where that is shorter, in the independent ones. */
static void add_energy(ag_sheet *s) {
  const ag_system *sys = s->sys;
  const ag_model *m = sys->model;
  ag_id x = ag_sheet_turned(s, sys->energy), y = x, *xi = AG_NEWN(s->a, ag_id, m->n_coords + 1);
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  ag_substitute(s->g, m->n_coords, xi, s->velocity, 1, &y);
  x = in_parts(s, x, m->n_coords, xi);
  y = in_parts(s, y, sys->n_u_input, sys->u_inputs);
  ag_sheet_heading(s, "energy", NULL);
  ag_id name = ag_input(s->g, s->latex ? "E" : "energy", 1, 1, AG_LEAF_REAL);
  ag_sheet_add(s, name, ag_normal_size(s->g, y) < ag_normal_size(s->g, x) ? y : x);
}

/* In all velocities: the names of the model are made of them. */
static void add_whole_energy(ag_sheet *s) {
  const ag_model *m = s->sys->model;
  ag_id *xi = AG_NEWN(s->a, ag_id, m->n_coords + 1), x = ag_sheet_turned(s, s->sys->energy);
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  ag_sheet_heading(s, "energy", NULL);
  ag_id name = ag_input(s->g, s->latex ? "E" : "energy", 1, 1, AG_LEAF_REAL);
  ag_sheet_add(s, name, in_parts(s, x, m->n_coords, xi));
}

static void add_before(ag_sheet *s) {
  add_independent(s);
  add_velocities(s);
}

/* Sizes of A u' = f as derived from which it is also, or only, written with momenta. */
enum { BOTH = 1200, HUGE = 1600 };
static int raw_size(const ag_system *sys) {
  const ag_graph *g = sys->model->graph;
  if (!sys->mass || !sys->n.u || sys->n.channel || sys->n_driven || sys->model->n_processes) return 0;
  int force = ag_normal_size(g, sys->force), momentum = ag_normal_size(g, sys->momentum);
  return force > HUGE || momentum > HUGE ? HUGE + 1 : force + momentum;
}

static void add_with_momenta(ag_sheet *s) { ag_show_momenta(s, add_before, add_whole_energy); }

static void add_reduced(ag_sheet *s) {
  add_before(s);
  if (!s->sys->mass && s->sys->n.u) add_large(s);
  else if (s->sys->n.u) add_motion(s);
  add_processes(s);
  for (int i = 0; i < s->sys->n.channel + s->sys->n_driven; i++) add_channel(s, i);
  add_energy(s);
}

static void add_zeros(ag_sheet *s, int n, const ag_item *items) {
  for (int i = 0; i < n; i++) {
    ag_id x = items[i].x, zero = ag_zero(s->g, ag_node_rows(s->g, x), ag_node_cols(s->g, x));
    ag_sheet_add(s, ag_sheet_normal(s, x), zero);
  }
}

static void add_constraints(ag_sheet *s) {
  const ag_model *m = s->sys->model;
  bool any = m->n_constraints || m->n_holonomics || m->n_prescribes;
  ag_sheet_heading(s, "constraints", any ? NULL : "none");
  add_zeros(s, m->n_constraints, m->constraints);
  add_zeros(s, m->n_holonomics, m->holonomics);
  add_zeros(s, m->n_prescribes, m->prescribes);
}

/* d/dt dl/dxi of each coordinate, the part with xi' on the left: M xi' = -ell + S^T lambda. */
static void add_multipliers(ag_sheet *s) {
  const ag_system *sys = s->sys;
  const ag_model *m = sys->model;
  ag_graph *g = s->g;
  const ag_id *made = sys->made[AG_ROLE_SADDLE];
  int nc = m->n_coords;
  ag_id *xi = AG_NEWN(s->a, ag_id, nc), *a = AG_NEWN(s->a, ag_id, nc), *p = AG_NEWN(s->a, ag_id, nc),
        one = ag_num(g, 1);
  if (!made) {
    add_large(s);
    return;
  }
  for (int i = 0; i < nc; i++) {
    xi[i] = m->coords[i].xi;
    a[i] = ag_input(g, ag_arena_printf(s->a, "%s'", ag_node_name(g, xi[i])), m->coords[i].dim, 1, AG_LEAF_REAL);
  }
  ag_reverse(g, 1, &m->lagrangian, &one, nc, xi, p);
  ag_forward(g, nc, xi, a, nc, p, p);
  ag_sheet_heading(s, "equations of motion with multipliers", NULL);
  ag_id ell = made[sys->n.lambda ? 2 : 1];
  for (int i = 0, at = 0; i < nc; at += m->coords[i++].dim) {
    ag_id right = ag_neg(g, ag_rows_of(g, ell, at, m->coords[i].dim));
    if (sys->reaction) right = ag_add(g, right, sys->reaction[i]);
    right = ag_sheet_normal(s, right);
    ag_sheet_add(s, ag_sheet_normal(s, p[i]), right);
  }
  add_constraints(s);
}

static void add_lagrangian(ag_sheet *s) {
  ag_sheet_heading(s, "Lagrangian", NULL);
  ag_id name = ag_input(s->g, s->latex ? "L" : "lagrangian", 1, 1, AG_LEAF_REAL);
  const ag_model *m = s->sys->model;
  ag_id *xi = AG_NEWN(s->a, ag_id, m->n_coords + 1);
  for (int i = 0; i < m->n_coords; i++) xi[i] = m->coords[i].xi;
  ag_sheet_add(s, name, in_parts(s, m->lagrangian, m->n_coords, xi));
}

/* Text of a model inside LaTeX. */
static void escape(const char *text, ag_text *out) {
  for (; *text; text++) {
    if (strchr("&%$#_{}", *text)) ag_text_char(out, '\\'), ag_text_char(out, *text);
    else if (*text == '\\') ag_text_str(out, "\\textbackslash{}");
    else if (*text == '~') ag_text_str(out, "\\textasciitilde{}");
    else if (*text == '^') ag_text_str(out, "\\textasciicircum{}");
    else ag_text_char(out, *text);
  }
}

static void show_as(ag_system *sys, const ag_show_options *o, void (*form)(ag_sheet *s), ag_text *out) {
  ag_sheet s;
  ag_sheet_init(&s, sys);
  s.latex = o->latex;
  if (o->width > 0) s.width = o->width;
  s.standalone = o->latex && o->standalone;
  form(&s);
  ag_sheet_print(&s, out);
  ag_sheet_done(&s);
}

/* The shorter of A u' = f and the equations with momenta; long ones are not written out to be measured. */
static void show_reduced(ag_system *sys, const ag_show_options *o, ag_text *out) {
  int size = raw_size(sys);
  ag_text plain = {0}, momenta = {0};
  if (size <= HUGE) show_as(sys, o, add_reduced, &plain);
  if (size > BOTH) show_as(sys, o, add_with_momenta, &momenta);
  ag_text_str(out, ag_text_cstr(plain.n && (!momenta.n || plain.n <= momenta.n) ? &plain : &momenta));
  ag_text_done(&plain);
  ag_text_done(&momenta);
}

void ag_system_show(ag_system *sys, const ag_show_options *o, ag_text *out) {
  static void (*const forms[])(ag_sheet * s) = {add_reduced, add_multipliers, add_constraints, add_lagrangian};
  bool standalone = o->latex && o->standalone;
  if (standalone) {
    ag_text_str(out, "\\documentclass{article}\n\\usepackage[a4paper,margin=25mm]{geometry}\n\\usepackage{amsmath}\n"
                     "\\allowdisplaybreaks\n\\begin{document}\n\\section*{");
    escape(sys->model->title && *sys->model->title ? sys->model->title : sys->model->name, out);
    ag_text_str(out, "}\n");
  }
  if (o->form == AG_SHOW_REDUCED) show_reduced(sys, o, out);
  else show_as(sys, o, forms[o->form], out);
  if (standalone) ag_text_str(out, "\\end{document}\n");
}
