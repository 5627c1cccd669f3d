/* SPDX-License-Identifier: MIT
 * The derived equations as text or LaTeX, in the names of the model: what a `let` of the model stands for is printed by
 * its name, and what is used more than once gets one. */
#include <string.h>

#include "mech/mech_internal.h"

/* Named pieces of the expressions to be printed, in order of their ids: arguments before users. */
typedef struct names {
  ag_graph *g;
  int n, cap;
  ag_id *node, *input;
} names;

/* Operations written when a node is printed in full, up to a bound. */
static void tree_sizes(const ag_graph *g, ag_id top, const bool *seen, int *size) {
  for (ag_id x = 1; x <= top; x++) {
    if (!seen[x]) continue;
    int sum = ag_node_n_arg(g, x) > 0;
    for (int a = 0; a < ag_node_n_arg(g, x) && sum < 1000000; a++) sum += size[ag_node_arg(g, x, a)];
    size[x] = sum;
  }
}

static const char *let_name(const ag_system *sys, ag_id x) {
  const ag_model *m = sys->model;
  for (int i = 0; i < m->n_lets; i++)
    if (m->lets[i].x == x) return m->lets[i].name;
  return NULL;
}

static void add_name(names *k, ag_id x, const char *name) {
  int cap = k->cap;
  AG_PUSH(k->node, k->n, k->cap);
  AG_PUSH(k->input, k->n, cap);
  k->node[k->n] = x;
  k->input[k->n++] = ag_input(k->g, name, ag_node_rows(k->g, x), ag_node_cols(k->g, x),
                              ag_is_rotation(k->g, x) ? AG_LEAF_ROTATION : AG_LEAF_REAL);
}

/* Chooses what gets a name: lets of the model, and pieces of at least three operations used twice. */
static void choose(ag_system *sys, int n_out, const ag_id *outs, names *k) {
  const ag_graph *g = k->g;
  ag_id top = 0;
  for (int i = 0; i < n_out; i++) top = outs[i] > top ? outs[i] : top;
  bool *seen = ag_heap_alloc((size_t)top + 1);
  int *uses = ag_heap_alloc(sizeof(int) * ((size_t)top + 1)), *size = ag_heap_alloc(sizeof(int) * ((size_t)top + 1)),
      serial = 0;
  for (int i = 0; i < n_out; i++) seen[outs[i]] = true, uses[outs[i]]++;
  for (ag_id x = top; x > 0; x--)
    for (int a = 0; seen[x] && a < ag_node_n_arg(g, x); a++)
      seen[ag_node_arg(g, x, a)] = true, uses[ag_node_arg(g, x, a)]++;
  tree_sizes(g, top, seen, size);
  for (ag_id x = 1; x <= top; x++) {
    if (!seen[x] || size[x] < 1) continue;
    const char *name = let_name(sys, x);
    if (name) add_name(k, x, name);
    else if (uses[x] > 1 && size[x] >= 3 && !(ag_is_rotation(g, x)))
      add_name(k, x, ag_free_name(sys, ag_arena_printf(sys->arena, "k%d", ++serial)));
  }
  free(seen);
  free(uses);
  free(size);
}

/* x with every named piece but the first `upto` ones left in full. */
static ag_id named(names *k, int upto, ag_id x) {
  if (upto) ag_substitute(k->g, upto, k->node, k->input, 1, &x);
  return x;
}

typedef struct page {
  bool latex, some; /* some: a line stands in the block already */
  ag_text *out;
  names k;
} page;

static void expression(page *p, ag_id x) {
  if (p->latex) ag_print_latex(p->k.g, x, p->out);
  else ag_print(p->k.g, x, p->out);
}

/* left = x, left given as text (infix) or as a node printed in the style */
static void equation(page *p, ag_id left, const char *text, ag_id x) {
  ag_text_str(p->out, !p->latex ? "  " : p->some ? " \\\\\n" : "");
  p->some = true;
  if (left) expression(p, left);
  else ag_text_str(p->out, text);
  ag_text_str(p->out, p->latex ? " &= " : " = ");
  expression(p, x);
  if (!p->latex) ag_text_str(p->out, "\n");
}

static void heading(page *p, const char *text) {
  if (p->latex) ag_text_printf(p->out, "%% %s\n", text);
  else ag_text_printf(p->out, "\n# %s\n", text);
}

static void begin(page *p) {
  if (p->latex) ag_text_str(p->out, "\\begin{align*}\n");
  p->some = false;
}

static void end(page *p) {
  if (p->latex) ag_text_str(p->out, p->some ? "\n\\end{align*}\n" : "\\end{align*}\n");
}

/* Velocities that are not independent. */
static void show_velocities(const ag_system *sys, page *p) {
  const ag_model *m = sys->model;
  bool any = false;
  for (int i = 0; i < m->n_coords; i++) any = any || sys->xi_of_u[i] != m->coords[i].xi;
  if (!any) return;
  heading(p, "velocities in terms of the independent ones");
  begin(p);
  for (int i = 0; i < m->n_coords; i++)
    if (sys->xi_of_u[i] != m->coords[i].xi) equation(p, m->coords[i].xi, NULL, named(&p->k, p->k.n, sys->xi_of_u[i]));
  end(p);
}

/* An entry of a matrix, unless it is zero; of a symmetric one both. */
static void show_entry(page *p, ag_arena *arena, const char *A, int i, int j, bool symmetric, ag_id x) {
  if (ag_is_zero(p->k.g, x)) return;
  const char *left = p->latex ? ag_arena_printf(arena, "%s_{%d,%d}", A, i + 1, j + 1)
                              : ag_arena_printf(arena, "%s[%d,%d]", A, i + 1, j + 1);
  if (p->latex && i < 9 && j < 9) left = ag_arena_printf(arena, "%s_{%d%d}", A, i + 1, j + 1);
  if (!p->latex && symmetric && i != j) left = ag_arena_printf(arena, "%s[%d,%d] = %s", A, j + 1, i + 1, left);
  equation(p, 0, left, named(&p->k, p->k.n, x));
}

static void show_motion(const ag_system *sys, page *p, ag_arena *arena) {
  int n = sys->n.u;
  if (!n) return;
  const char *A = ag_free_name(sys, "A"), *f = ag_free_name(sys, "f"), *u = ag_free_name(sys, "u"), *more = "";
  if (sys->elimination == AG_ELIM_SADDLE) more = " + (S^T lambda)[i], sum over j of S[r,j] u[j]' = k[r]";
  heading(p, ag_arena_printf(arena, "equations of motion: sum over j of %s[i,j] %s[j]' = %s[i]%s", A, u, f, more));
  begin(p);
  for (int i = 0; i < n && sys->mass; i++)
    for (int j = 0; j <= i; j++) show_entry(p, arena, A, i, j, true, ag_entry(p->k.g, sys->mass, i, j));
  for (int i = 0; i < sys->M_at.n; i++)
    show_entry(p, arena, A, sys->M_at.row[i], sys->M_at.col[i], true, sys->M_at.x[i]);
  for (int i = 0, r; i < sys->S_at.n; i++)
    if ((r = sys->rows[sys->S_at.row[i]].lambda) >= 0)
      show_entry(p, arena, "S", r, sys->S_at.col[i], false, sys->S_at.x[i]);
  for (int i = 0; i < n; i++)
    equation(p, 0, p->latex ? ag_arena_printf(arena, "f_{%d}", i + 1) : ag_arena_printf(arena, "%s[%d]", f, i + 1),
             named(&p->k, p->k.n, ag_entry(p->k.g, sys->force, i, 0)));
  for (int i = 0; i < sys->n.lambda && sys->kappa; i++)
    equation(p, 0, ag_arena_printf(arena, p->latex ? "k_{%d}" : "k[%d]", i + 1),
             named(&p->k, p->k.n, ag_entry(p->k.g, sys->kappa, i, 0)));
  end(p);
}

static void show_pieces(page *p) {
  if (!p->k.n) return;
  heading(p, "where");
  begin(p);
  for (int i = 0; i < p->k.n; i++) equation(p, p->k.input[i], NULL, named(&p->k, i, p->k.node[i]));
  end(p);
}

static void list_u(const ag_system *sys, page *p) {
  heading(p, ag_arena_printf(sys->arena, "independent velocities %s", ag_free_name(sys, "u")));
  if (p->latex) ag_text_str(p->out, "% ");
  else ag_text_str(p->out, "  ");
  for (int i = 0; i < sys->n.u; i++) ag_text_printf(p->out, "%s%s", i ? ", " : "", sys->u_names[i]);
  ag_text_str(p->out, sys->n.u ? "\n" : "none: every velocity is prescribed\n");
  for (int i = 0; i < sys->n_basis; i++)
    if (sys->bases[i].N)
      ag_text_printf(p->out,
                     "%s%s: coordinates in an orthonormal basis of ker S for %d velocities tied by %d %s; N is data, "
                     "renewed as the motion turns\n",
                     p->latex ? "% " : "  ", ag_node_name(p->k.g, sys->u_inputs[sys->n_u_input - sys->n_basis + i]),
                     sys->bases[i].n_y, sys->bases[i].n_w, ag_plural(sys->bases[i].n_w, "constraint", "constraints"));
}

void ag_system_show(ag_system *sys, bool latex, ag_text *out) {
  const ag_model *m = sys->model;
  ag_graph *g = m->graph;
  page p = {.latex = latex, .out = out, .k = {.g = g}};
  ag_arena *arena = ag_arena_create();
  int n = sys->n.u, n_out = 0, n_dense = sys->mass ? n * n : 0;
  ag_id *outs =
      ag_heap_alloc(sizeof *outs * (size_t)(m->n_coords + n_dense + sys->M_at.n + sys->S_at.n + n + sys->n.lambda + 2));
  for (int i = 0; i < m->n_coords; i++) outs[n_out++] = sys->xi_of_u[i];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i && sys->mass; j++) outs[n_out++] = ag_entry(g, sys->mass, i, j);
    outs[n_out++] = ag_entry(g, sys->force, i, 0);
  }
  for (int i = 0; i < sys->M_at.n; i++) outs[n_out++] = sys->M_at.x[i];
  for (int i = 0; i < sys->S_at.n; i++) outs[n_out++] = sys->S_at.x[i];
  for (int i = 0; i < sys->n.lambda && sys->kappa; i++) outs[n_out++] = ag_entry(g, sys->kappa, i, 0);
  outs[n_out++] = sys->energy;
  choose(sys, n_out, outs, &p.k);
  list_u(sys, &p);
  show_pieces(&p);
  show_velocities(sys, &p);
  show_motion(sys, &p, arena);
  heading(&p, "energy");
  begin(&p);
  equation(&p, 0, latex ? "E" : "energy", named(&p.k, p.k.n, sys->energy));
  end(&p);
  free(outs);
  free(p.k.node);
  free(p.k.input);
  ag_arena_free(arena);
}
