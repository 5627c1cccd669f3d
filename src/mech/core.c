/* SPDX-License-Identifier: MIT
 * What has to be integrated. The core is the smallest set of state variables closed under the equations of motion:
 * coordinates that enter them, and, for a rotation that enters only through R^T c with c fixed in space, these images
 * instead of the quaternion. All other coordinates follow by quadrature: they come after the core in z, and the core
 * does not depend on them. */
#include <string.h>

#include "mech/choices.h"

enum { MAX_IMAGES = 2 }; /* per rotation: more than two vectors are no cheaper than a quaternion */

typedef struct core {
  derive *d;
  ag_graph *g;
  int n_from;
  ag_id *from, *to; /* nodes R^T c and entries of R -> images */
  int *used;        /* per rule: which image */
  int n_image, cap;
  ag_image *images;
  int *latest, *earlier; /* per coordinate its last image, per image the one before it of the same coordinate; + 1 */
  bool *whole;           /* per coordinate: a rotation that must stay a quaternion */
  bool *q_core;          /* per stored coordinate */
  bool *image_core;
} core;

/* The image R_i^T c, found or added: its number. */
static int image_of(core *k, int coord, ag_id c) {
  for (int i = k->latest[coord]; i; i = k->earlier[i - 1])
    if (k->images[i - 1].c == c) return i - 1;
  AG_PUSH(k->images, k->n_image, k->cap);
  ag_id input =
      ag_input(k->g, ag_arena_printf(k->d->sys->arena, "image %d of %s", k->n_image + 1, k->d->m->coords[coord].name),
               3, 1, AG_LEAF_REAL);
  k->images[k->n_image] = (ag_image){coord, -1, c, input};
  k->earlier[k->n_image] = k->latest[coord];
  return (k->latest[coord] = ++k->n_image) - 1;
}

static ag_id unit(ag_graph *g, int i) {
  ag_id e[3] = {ag_num(g, i == 0), ag_num(g, i == 1), ag_num(g, i == 2)};
  return ag_stack(g, 3, 1, e);
}

/* What is known of the nodes that the equations are made of. */
typedef struct node_facts {
  ag_id top;
  bool *seen, *moves; /* it is one of them; it depends on more than parameters and numbers */
  int *rotation;      /* it is the rotation of this coordinate, + 1 */
} node_facts;

static void set(const node_facts *f, ag_id x) {
  if (x && x <= f->top) f->moves[x] = true;
}

static void facts_create(const core *k, int n_out, const ag_id *outs, node_facts *f) {
  const derive *d = k->d;
  const ag_system *sys = d->sys;
  *f = (node_facts){0};
  for (int i = 0; i < n_out; i++) f->top = outs[i] > f->top ? outs[i] : f->top;
  f->seen = ag_heap_alloc((size_t)f->top + 1);
  f->moves = ag_heap_alloc((size_t)f->top + 1);
  f->rotation = ag_heap_alloc(sizeof(int) * ((size_t)f->top + 1));
  for (int i = 0; i < d->nc; i++) {
    set(f, d->q[i]);
    if (d->q[i] <= f->top && d->m->coords[i].space == AG_SPACE_SO3) f->rotation[d->q[i]] = i + 1;
  }
  set(f, d->m->t);
  for (int i = 0; i < sys->n_u_input; i++) set(f, sys->u_inputs[i]);
  for (int i = 0; i < d->m->n_processes; i++) set(f, d->m->processes[i].x);
  if (d->moved && !sys->n_driven) set(f, sys->step_h), set(f, sys->step_dW);
  for (int i = 0; i < n_out; i++) f->seen[outs[i]] = true;
  for (ag_id x = f->top; x > 0; x--)
    for (int a = 0; a < ag_node_n_arg(k->g, x) && f->seen[x]; a++) f->seen[ag_node_arg(k->g, x, a)] = true;
  for (ag_id x = 1; x <= f->top; x++)
    for (int a = 0; a < ag_node_n_arg(k->g, x) && f->seen[x]; a++)
      f->moves[x] = f->moves[x] || f->moves[ag_node_arg(k->g, x, a)];
}

static void facts_done(node_facts *f) { free(f->seen), free(f->moves), free(f->rotation); }

static void add_rule(core *k, ag_id from, ag_id to, int image) {
  k->from[k->n_from] = from;
  k->used[k->n_from] = image;
  k->to[k->n_from++] = to;
}

/* Checks whether a node uses a rotation in a way that an image can replace: R^T c with c fixed in space, or an entry.
 */
static void look(core *k, const node_facts *f, ag_id x) {
  ag_graph *g = k->g;
  int i, j, coord;
  if (ag_node_op(g, x) == AG_OP_MATMUL && ag_node_cols(g, x) == 1) {
    ag_id A = ag_node_arg(g, x, 0), c = ag_node_arg(g, x, 1);
    if (ag_node_op(g, A) != AG_OP_TRANSPOSE) return;
    coord = f->rotation[ag_node_arg(g, A, 0)] - 1;
    if (coord < 0 || k->whole[coord] || f->moves[c]) return;
    i = image_of(k, coord, c);
    add_rule(k, x, k->images[i].input, i);
  } else if (ag_node_op(g, x) == AG_OP_ENTRY) {
    coord = f->rotation[ag_node_arg(g, x, 0)] - 1;
    if (coord < 0 || k->whole[coord]) return;
    ag_node_index(g, x, &i, &j); /* R[i,j] = (R^T e_i)[j] */
    i = image_of(k, coord, unit(g, i));
    add_rule(k, x, ag_entry(g, k->images[i].input, j, 0), i);
  }
}

static void forget_images(core *k) {
  free(k->from), free(k->to), free(k->used), free(k->latest), free(k->earlier);
  k->n_from = k->n_image = 0;
}

/* Collects the rules over everything the expressions depend on. */
static void find_images(core *k, int n_out, const ag_id *outs) {
  node_facts f;
  facts_create(k, n_out, outs, &f);
  size_t n = (size_t)f.top + 1;
  forget_images(k);
  k->from = ag_heap_alloc(sizeof(ag_id) * n);
  k->to = ag_heap_alloc(sizeof(ag_id) * n);
  k->used = ag_heap_alloc(sizeof(int) * n);
  k->earlier = ag_heap_alloc(sizeof(int) * n);
  k->latest = ag_heap_alloc(sizeof(int) * (size_t)(k->d->nc + 1));
  for (ag_id x = 1; x <= f.top; x++)
    if (f.seen[x]) look(k, &f, x);
  facts_done(&f);
}

/* How many images of the coordinate are core. */
static int core_images(const core *k, int coord) {
  int n = 0;
  for (int i = k->latest[coord]; i; i = k->earlier[i - 1]) n += k->image_core[i - 1];
  return n;
}

/* Binds with z laid out provisionally: [q | images | u]. */
static int bind_all(core *k, ag_bind *binds) {
  ag_system *sys = k->d->sys;
  int n = ag_bind_base(sys, binds), at = sys->n.q;
  for (int i = 0; i < k->n_image; i++, at += 3) binds[n++] = (ag_bind){k->images[i].input, AG_SEG_Z, at};
  for (int i = 0; i < sys->n_u_input; i++) {
    binds[n++] = (ag_bind){sys->u_inputs[i], AG_SEG_Z, at};
    at += ag_node_rows(k->g, sys->u_inputs[i]);
  }
  return n + ag_bind_bases(sys, binds + n);
}

/* Marks what the expressions read; true if something new was found. */
static bool mark_reads(core *k, int n_out, const ag_id *outs) {
  ag_system *sys = k->d->sys;
  ag_bind *binds = ag_heap_alloc(sizeof *binds * (size_t)(ag_bind_capacity(sys) + sys->n_u_input + k->n_image + 2));
  const int n_bind = bind_all(k, binds), n_image = sys->n.q + 3 * k->n_image;
  int n_z = n_image;
  for (int i = 0; i < sys->n_u_input; i++) n_z += ag_node_rows(k->g, sys->u_inputs[i]);
  bool *read = ag_heap_alloc((size_t)n_z + 1), more = false;
  ag_tape_reads(k->g, n_bind, binds, n_out, outs, AG_SEG_Z, read);
  for (int at = 0; at < n_image; at++) {
    bool *mark = at < sys->n.q ? &k->q_core[at] : &k->image_core[(at - sys->n.q) / 3];
    if (read[at] && !*mark) more = *mark = true;
  }
  free(read);
  free(binds);
  return more;
}

/* Closure: what is read must be integrated, and its rate may read more. velocity[], process[]: already in images. */
static void close_core(core *k, const ag_id *motion, const ag_id *velocity, const ag_id *process) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  ag_id *outs = ag_heap_alloc(sizeof *outs * (size_t)(sys->n.q + k->n_image + 3));
  bool more = true;
  while (more) {
    int n = 0;
    for (int i = 0; i < 2 && motion[i]; i++) outs[n++] = motion[i];
    for (int i = 0; i < d->nc; i++) {
      const ag_layout_row *p = &sys->coords[i];
      bool rotation = d->m->coords[i].space == AG_SPACE_SO3, any = false;
      for (int c = 0; c < p->n; c++) {
        if (!k->q_core[p->at + c]) continue;
        if (!rotation) outs[n++] = ag_entry(k->g, velocity[i], c, 0);
        any = true;
      }
      if (rotation && (any || core_images(k, i))) outs[n++] = velocity[i];
    }
    for (int i = 0; i < sys->n.process; i++)
      if (k->q_core[sys->processes[i].at]) outs[n++] = process[i];
    more = mark_reads(k, n, outs);
  }
  /* a quaternion is integrated as a whole */
  for (int i = 0; i < d->nc; i++) {
    const ag_layout_row *p = &sys->coords[i];
    if (d->m->coords[i].space != AG_SPACE_SO3) continue;
    bool any = k->q_core[p->at] || k->q_core[p->at + 1] || k->q_core[p->at + 2] || k->q_core[p->at + 3];
    for (int c = 0; c < 4; c++) k->q_core[p->at + c] = any;
  }
  free(outs);
}

/* Rotations for which images do not pay: also read as a quaternion, or through too many images. */
static bool give_up_some(core *k) {
  bool changed = false;
  for (int i = 0; i < k->d->nc; i++) {
    if (k->d->m->coords[i].space != AG_SPACE_SO3 || k->whole[i]) continue;
    int n = core_images(k, i);
    if (n > MAX_IMAGES || (n && k->q_core[k->d->sys->coords[i].at])) k->whole[i] = changed = true;
  }
  return changed;
}

/* Everything is core: projection onto position constraints moves all coordinates; without independent velocities
 * nothing else is left to integrate. */
static bool keep_everything(const derive *d) { return d->sys->n.g > 0 || d->sys->n.u == 0; }

static void lay_out(core *k) {
  ag_system *sys = k->d->sys;
  int at = 0;
  sys->q_in_z = AG_NEWN(sys->arena, int, sys->n.q + 1);
  for (int i = 0; i < sys->n.q; i++)
    if (k->q_core[i]) sys->q_in_z[i] = at++;
  sys->images = AG_NEWN(sys->arena, ag_image, k->n_image + 1);
  for (int i = 0; i < k->n_image; i++) {
    if (!k->image_core[i]) continue;
    k->images[i].z = at;
    sys->images[sys->n_image++] = k->images[i];
    at += 3;
  }
  sys->n.u_at = at;
  sys->n.core = at += sys->n.u;
  for (int i = 0; i < sys->n.q; i++)
    if (!k->q_core[i]) sys->q_in_z[i] = at++;
  sys->n.z = sys->n.tangent = at;
  for (int i = 0; i < k->d->nc; i++) sys->n.tangent -= sys->coords[i].n - sys->coords[i].n_tangent;
}

/* Coordinates of which only some components are core are written component by component. */
static void split_partial(core *k, int n_out, ag_id *outs) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  sys->q_leaf = AG_NEWN(sys->arena, ag_id *, d->nc + 1);
  for (int i = 0; i < d->nc; i++) {
    const ag_layout_row *p = &sys->coords[i];
    int n = 0;
    for (int c = 0; c < p->n; c++) n += k->q_core[p->at + c];
    if (d->m->coords[i].space == AG_SPACE_SO3 || n == 0 || n == p->n) continue;
    sys->q_leaf[i] = AG_NEWN(sys->arena, ag_id, p->n);
    for (int c = 0; c < p->n; c++)
      sys->q_leaf[i][c] =
          ag_input(k->g, ag_component_name(sys->arena, d->m->coords[i].name, p->n, c), 1, 1, AG_LEAF_REAL);
    ag_id stack = ag_stack(k->g, p->n, 1, sys->q_leaf[i]);
    ag_substitute(k->g, 1, &d->q[i], &stack, n_out, outs);
  }
}

/* Rows of dz in the order of z. velocity, rates, process: in images. */
static void assemble(core *k, const ag_id *velocity, const ag_id *stored, ag_id rates, const ag_id *process,
                     ag_id *rows) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  for (int i = 0; i < d->nc; i++)
    for (int c = 0; c < sys->coords[i].n; c++)
      rows[sys->q_in_z[sys->coords[i].at + c]] = ag_entry(k->g, stored[i], c, 0);
  for (int i = 0; i < sys->n_image; i++) {
    const ag_image *im = &sys->images[i];
    ag_id rate = ag_cross(k->g, im->input, velocity[im->coord]);
    for (int c = 0; c < 3; c++) rows[im->z + c] = ag_entry(k->g, rate, c, 0);
  }
  for (int j = 0; j < sys->n.u; j++) rows[sys->n.u_at + j] = ag_entry(k->g, rates, j, 0);
  for (int i = 0; i < sys->n.process; i++) rows[sys->q_in_z[sys->processes[i].at]] = process[i];
}

/* Rules for the images that ended up in the core; the others keep their rotation. */
static void rewrite(core *k, int n, ag_id *outs) {
  int m = 0;
  ag_id *from = ag_heap_alloc(sizeof(ag_id) * (size_t)(k->n_from + 1)),
        *to = ag_heap_alloc(sizeof(ag_id) * (size_t)(k->n_from + 1));
  for (int r = 0; r < k->n_from; r++)
    if (k->image_core[k->used[r]]) from[m] = k->from[r], to[m++] = k->to[r];
  if (m) ag_substitute(k->g, m, from, to, n, outs);
  free(from);
  free(to);
}

static void search(core *k, const ag_id *motion, const ag_id *velocity, const ag_id *process) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  int n = d->nc + sys->n.process + 2;
  ag_id *all = ag_heap_alloc(sizeof *all * (size_t)n), *used = ag_heap_alloc(sizeof *used * (size_t)n);
  do {
    int n_all = 0;
    for (int i = 0; i < d->nc; i++) all[n_all++] = velocity[i];
    for (int i = 0; i < sys->n.process; i++) all[n_all++] = process[i];
    for (int i = 0; i < 2; i++) all[n_all + i] = motion[i];
    for (int i = 0; i < 2 && motion[i]; i++) n_all++;
    find_images(k, n_all, all);
    memset(k->q_core, 0, (size_t)sys->n.q);
    free(k->image_core);
    k->image_core = ag_heap_alloc((size_t)k->n_image + 1);
    memcpy(used, all, sizeof *all * (size_t)n);
    if (k->n_from) ag_substitute(k->g, k->n_from, k->from, k->to, n_all, used);
    close_core(k, used + d->nc + sys->n.process, used, used + d->nc);
  } while (give_up_some(k));
  free(all);
  free(used);
}

/* z with u and q moved, each where there is a change (0: none). q only with position constraints: then all coordinates
 * are core. */
static void moved(core *k, ag_id delta_u, ag_id delta_q, ag_id *out) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  ag_graph *g = k->g;
  ag_state_nodes(d, out);
  for (int i = 0; i < d->nc && delta_q; i++) {
    const ag_layout_row *p = &sys->coords[i];
    const int *at = sys->q_in_z + p->at;
    ag_id q[4], delta[3];
    bool rotation = d->m->coords[i].space == AG_SPACE_SO3;
    for (int c = 0; c < 3 && rotation; c++) delta[c] = ag_entry(g, delta_q, p->tangent + c, 0);
    for (int c = 0; c < 4 && rotation; c++) q[c] = out[at[c]];
    if (rotation) ag_quaternion_turned(g, q, delta, q);
    for (int c = 0; c < p->n; c++)
      out[at[c]] = rotation ? q[c] : ag_add(g, out[at[c]], ag_entry(g, delta_q, p->tangent + c, 0));
  }
  for (int i = 0; i < sys->n.u && delta_u; i++)
    out[sys->n.u_at + i] = ag_add(g, out[sys->n.u_at + i], ag_entry(g, delta_u, i, 0));
}

/* Large systems up to this many velocities are taken back onto the constraints inside kernels: the text of larger ones
 * would take a compiler long. */
enum { MOST_IN_KERNEL = 256 };

/* With AG_ELIM_SADDLE velocities are moved, too: at once (for emitted code), or after the positions. */
static void make_moved(core *k, ag_id delta_u, ag_id delta_q) {
  ag_system *sys = k->d->sys;
  bool inside = !delta_u || (sys->n.xi <= MOST_IN_KERNEL && sys->n.lambda == sys->n.row);
  ag_id *out = AG_NEWN(sys->arena, ag_id, sys->n.z + sys->n.g + 1);
  if (delta_u) {
    moved(k, delta_u, delta_q, out);
    ag_role_make(sys, AG_ROLE_SETTLE, sys->n.z, out);
  }
  if (delta_u && inside) {
    moved(k, delta_u, 0, out);
    ag_role_make(sys, AG_ROLE_ONTO_ROWS, sys->n.z, out);
  }
  if (!delta_q || !inside) return;
  moved(k, 0, delta_q, out);
  memcpy(out + sys->n.z, k->d->g_x, sizeof *out * (size_t)sys->n.g);
  ag_role_make(sys, AG_ROLE_PROJECT, sys->n.z + sys->n.g, out);
}

/* Where the equations choose: forces of constraint with the same choices read from branches. */
static void make_reaction(core *k) {
  ag_system *sys = k->d->sys;
  bool sparse = sys->elimination == AG_ELIM_SADDLE;
  int n = sparse ? 1 : k->d->nc;
  ag_id *out = AG_NEWN(sys->arena, ag_id, n);
  if (!sys->n.switches || !sys->n.lambda) return;
  if (sparse) out[0] = sys->made[AG_ROLE_ACCEL][1];
  else ag_reactions(sys, sys->rates, out);
  rewrite(k, n, out);
  ag_switches_apply(sys, n, out);
  ag_role_make(sys, AG_ROLE_REACTION, n, out);
}

/* Per coordinate: everything that moves it. */
static const ag_id *movers(const derive *d) { return d->moved ? d->moved : d->velocity; }

/* The increment of a step with noise; outs: velocities, stored rates, du, in the inputs of z; process: dN. */
static void make_increment(core *k, const ag_id *outs, const ag_id *process) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  if (sys->n_driven) return; /* it is the right-hand side */
  sys->increment = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  sys->increment_turns = AG_NEWN(sys->arena, ag_id, d->nc + 1);
  assemble(k, outs, outs + d->nc, outs[2 * d->nc], process, sys->increment);
  memcpy(sys->increment_turns, outs, sizeof *outs * (size_t)d->nc);
  ag_role_make(sys, AG_ROLE_INCREMENT, sys->n.z, sys->increment);
  ag_role_make(sys, AG_ROLE_INCREMENT_CORE, sys->n.core, sys->increment);
}

/* The coordinates that the motion, given by mass and force or by its rates, needs. */
static void find_core(core *k, ag_id *motion, const ag_id *process) {
  derive *d = k->d;
  if (!keep_everything(d)) {
    search(k, motion, movers(d), process);
    return;
  }
  memset(k->q_core, 1, (size_t)d->sys->n.q);
  k->image_core = ag_heap_alloc(1);
}

/* The rows of the constraints as they are written, coordinates in the inputs of z: choices of a row may cancel in the
 * velocities solved from it, (if t < 5 then 1 else 0)*x' = 0. Velocities are not replaced: no row branches on one. */
static int written_rows(core *k, ag_id *out) {
  int n = k->d->sys->n.row;
  memcpy(out, k->d->row_x, sizeof *out * (size_t)n);
  rewrite(k, n, out);
  ag_split_leaves(k->d->sys, n, out);
  return n;
}

/* The right-hand side. outs: velocities, stored rates, rates; all: the same including drivers, where there are
 * any; process: rates of the processes. */
static void make_rows(core *k, const ag_id *outs, const ag_id *all, const ag_id *process, ag_id *forces) {
  derive *d = k->d;
  ag_system *sys = d->sys;
  int nc = d->nc;
  ag_id *rows = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  assemble(k, all, all + nc, all[2 * nc], process, rows);
  sys->turns = AG_NEWN(sys->arena, ag_id, nc + 1);
  memcpy(sys->turns, all, sizeof *all * (size_t)nc);
  sys->dz = rows;
  sys->velocity = AG_NEWN(sys->arena, ag_id, nc + 1);
  memcpy(sys->velocity, outs, sizeof *outs * (size_t)nc);
  ag_id *written = AG_NEWN(sys->arena, ag_id, sys->n.row + 1);
  int n_written = written_rows(k, written);
  ag_switches_find(d, rows, sys->velocity, forces, n_written, written);
  ag_role_make(sys, AG_ROLE_XI, nc, sys->velocity); /* on the branch of the motion: a row may end where it switches */
  ag_id *cheap = AG_NEWN(sys->arena, ag_id, sys->n.z + 1);
  memcpy(cheap, rows, sizeof *rows * (size_t)sys->n.z);
  ag_rotate_vectors(sys, sys->n.z, cheap);
  ag_role_make(sys, AG_ROLE_RHS, sys->n.z, cheap);
  ag_role_make(sys, AG_ROLE_CORE, sys->n.core, rows);
}

static void make_images(derive *d) {
  ag_system *sys = d->sys;
  ag_id *images = AG_NEWN(sys->arena, ag_id, sys->n_image);
  for (int i = 0; i < sys->n_image; i++)
    images[i] = ag_mul(d->g, ag_transpose(d->g, d->q[sys->images[i].coord]), sys->images[i].c);
  ag_role_make(sys, AG_ROLE_IMAGE, sys->n_image, images);
}

void ag_core(derive *d, ag_id rates, const ag_id *stored_rates) {
  ag_system *sys = d->sys;
  core k = {.d = d, .g = d->g};
  int nc = d->nc, n = 5 * nc + 7 + sys->n_basis + 2 * sys->n.process + sys->n_relation, n_renewed = 0;
  k.whole = AG_NEWN(sys->arena, bool, nc + 1);
  k.q_core = AG_NEWN(sys->arena, bool, sys->n.q + 1);
  ag_id *outs = AG_NEWN(sys->arena, ag_id, n + 1),
        motion[2] = {sys->mass ? sys->mass : rates, sys->mass ? sys->force : 0};
  if (d->moved_u) motion[0] = d->moved_u, motion[1] = 0; /* the mass matrix and all forces are in it */
  memcpy(outs, d->velocity, sizeof *outs * (size_t)nc);
  memcpy(outs + nc, stored_rates, sizeof *outs * (size_t)nc);
  outs[2 * nc] = rates;
  for (int i = 0; i < sys->n_basis; i++)
    if (d->renewed[i] && rates) outs[2 * nc + 1 + n_renewed++] = d->renewed[i];
  int changes = 2 * nc + 1 + n_renewed, n_moved = 0;
  if (d->delta_u) outs[changes + n_moved++] = d->delta_u;
  if (d->delta_q) outs[changes + n_moved++] = d->delta_q;
  ag_id *drift = AG_NEWN(sys->arena, ag_id, sys->n.process + 1);
  (void)ag_process_rates(sys, -1, d->velocity, drift);
  find_core(&k, motion, d->moved ? d->moved_process : drift);
  int n_out = rates ? changes + n_moved : 2 * nc;
  ag_id *forces = outs + n_out;
  memcpy(forces, d->force, sizeof *outs * (size_t)nc);
  ag_substitute(d->g, nc, d->xi, d->velocity, nc, forces);
  n_out += nc;
  int n_moves = d->moved ? 2 * nc + (d->moved_u != 0) : 0;
  ag_id *moves = outs + n_out;
  for (int i = 0; i < nc && n_moves; i++) moves[i] = d->moved[i], moves[nc + i] = ag_stored_rate(d, i, d->moved[i]);
  if (d->moved_u) moves[2 * nc] = d->moved_u;
  n_out += n_moves;
  ag_id *process = outs + n_out, *moved_process = process + sys->n.process;
  for (int i = 0; i < sys->n.process; i++)
    process[i] = drift[i], moved_process[i] = d->moved ? d->moved_process[i] : drift[i];
  n_out += 2 * sys->n.process;
  ag_id *turn = outs + n_out;
  for (int i = 0; i < 3 && d->turn[i]; i++) outs[n_out++] = d->turn[i];
  ag_id *solved = outs + n_out;
  if (n_moves) ag_relations_solve(d, k.q_core);
  for (int i = 0; i < sys->n_solved; i++) outs[n_out++] = sys->solved_x[i];
  rewrite(&k, n_out, outs);
  lay_out(&k);
  split_partial(&k, n_out, outs);
  make_rows(&k, outs, sys->n_driven ? moves : outs, sys->n_driven ? moved_process : process, forces);
  make_reaction(&k);
  if (n_moves) make_increment(&k, moves, moved_process);
  if (n_moved && rates) make_moved(&k, d->delta_u ? outs[changes] : 0, d->delta_q ? outs[changes + n_moved - 1] : 0);
  /* combinations are those of the rows on the branch, beyond its surface too; paths with noise choose at the state */
  bool branched = sys->choices && sys->n.rank < sys->n.lambda && !sys->tapes[AG_ROLE_INCREMENT];
  if (d->turn[0] && branched) ag_switches_apply(sys, 3, turn);
  if (d->turn[0]) ag_role_make(sys, AG_ROLE_TURN, 3, turn);
  if (sys->n_image) ag_align(d);
  if (n_moves) ag_agree(d, solved);
  if (n_renewed && branched) ag_switches_apply(sys, n_renewed, &outs[2 * nc + 1]);
  if (n_renewed) ag_role_make(sys, AG_ROLE_RENEW, n_renewed, &outs[2 * nc + 1]);
  if (sys->n_image) make_images(d);
  forget_images(&k);
  free(k.images);
  free(k.image_core);
}
