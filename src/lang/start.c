/* SPDX-License-Identifier: MIT
 * start and guess statements, and `--set` of coordinates and velocities. Values of --set come first and replace those
 * of the file component by component; guesses come last, for components that are not given. */
#include <string.h>

#include "lang/build.h"

/* ---- components already given ---- */

/* One byte per component of coordinates, velocities and frame velocities. */
typedef struct taken {
  int *offset; /* of each coordinate */
  int *frame_offset;
  int n, n_frame; /* components */
  unsigned char *q, *xi, *frame;
} taken;

static void taken_init(taken *k, const ag_builder *b) {
  const ag_model *m = b->m;
  k->offset = ag_heap_alloc(sizeof(int) * (size_t)(m->n_coords + 1));
  k->frame_offset = ag_heap_alloc(sizeof(int) * (size_t)(m->n_frames + 1));
  k->n = k->n_frame = 0;
  for (int i = 0; i < m->n_coords; i++) k->offset[i] = k->n, k->n += m->coords[i].dim;
  for (int i = 0; i < m->n_frames; i++)
    k->frame_offset[i] = k->n_frame, k->n_frame += ag_node_rows(b->g, m->frames[i].x);
  k->q = ag_heap_alloc((size_t)k->n + 1);
  k->xi = ag_heap_alloc((size_t)k->n + 1);
  k->frame = ag_heap_alloc((size_t)k->n_frame + 1);
}

static void taken_done(taken *k) {
  free(k->offset);
  free(k->frame_offset);
  free(k->q);
  free(k->xi);
  free(k->frame);
}

/* The bytes of a start, *n of them. */
static unsigned char *taken_of(const taken *k, const ag_builder *b, const ag_start *s, int *n) {
  int row = s->row > 0 ? s->row : 0;
  if (s->frame >= 0) {
    *n = s->row >= 0 ? 1 : ag_node_rows(b->g, b->m->frames[s->frame].x);
    return k->frame + k->frame_offset[s->frame] + row;
  }
  *n = s->row >= 0 ? 1 : b->m->coords[s->coord].dim;
  return (s->velocity ? k->xi : k->q) + k->offset[s->coord] + row;
}

static void mark(const taken *k, const ag_builder *b, const ag_start *s) {
  int n;
  unsigned char *set = taken_of(k, b, s, &n);
  memset(set, 1, (size_t)n);
}

static bool any(const unsigned char *v, int n) {
  for (int i = 0; i < n; i++)
    if (v[i]) return true;
  return false;
}

/* ---- statements ---- */

/* target = value; false on error */
static bool assignment(ag_builder *b, const ag_part *p, ag_start *out) {
  ag_target t;
  if (!ag_target_find(b, p->target, false, &t)) return false;
  ag_id x = ag_target_value(b, &t, p->right);
  if (!x) return false;
  if (ag_note_on(b, x) & AG_ON_PROCESS) return ag_scope_error(b, p->right->pos, "a start value may not use a process");
  if (ag_note_on(b, x) & (AG_ON_XI | AG_ON_MOTION))
    return ag_scope_error(b, p->right->pos,
                          "a start value may not use velocities: those not given follow from the constraints");
  *out = (ag_start){t.velocity, t.coord, t.row, t.frame, x, p->target->pos};
  return true;
}

static void start(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  for (int i = 0; i < s->n_part && !b->stopped; i++) {
    ag_start one;
    if (!ag_target_due(b, s, &s->parts[i]) || ag_euler_start(b, &s->parts[i], false)) continue;
    if (ag_process_start(b, &s->parts[i], false)) continue;
    if (assignment(b, &s->parts[i], &one)) AG_MODEL_PUSH(b, file_starts, one);
  }
}

static void guess(ag_builder *b, const ag_stmt *s, void *data) {
  (void)data;
  for (int i = 0; i < s->n_part && !b->stopped; i++) {
    ag_start one;
    if (!ag_target_due(b, s, &s->parts[i]) || !assignment(b, &s->parts[i], &one)) continue;
    if (one.velocity || one.frame >= 0)
      ag_scope_error(b, one.pos,
                     "a guess is for coordinates: velocities that are not given follow from the constraints");
    else AG_MODEL_PUSH(b, guesses, one);
  }
}

void ag_start_statement(ag_builder *b, const ag_stmt *s) {
  ag_target_loop(b, s, s->word == AG_WORD_GUESS ? guess : start, NULL);
}

/* ---- --set ---- */

/* Can the target of a --set be set? Also reports unknown names. */
static bool settable(ag_builder *b, const ag_change *c) {
  const ag_syn *s = c->stmt.parts[0].target, *base = s->kind == AG_SYN_POST ? s->links[0].x : s;
  if (base->kind != AG_SYN_NAME)
    return ag_scope_error(b, s->pos, "the name of a parameter, coordinate or velocity is expected");
  const ag_symbol *sym = ag_scope_symbol(b, base->name);
  const char *text = ag_scope_text(b, base->name);
  const ag_symbol *owner = ag_scene_owner(b, text);
  if (owner && owner->kind == AG_SYM_BODY && !strcmp(strchr(text, '.'), ".omega")) return true;
  switch ((ag_sym_kind)sym->kind) {
  case AG_SYM_COORD:
  case AG_SYM_VELOCITY:
  case AG_SYM_FRAME:
  case AG_SYM_PROCESS:
  case AG_SYM_ANGLE: return true;
  case AG_SYM_BAD: return false;
  case AG_SYM_PARAM:
    if (s == base || c->used) return false; /* overruled by a later --set of the same parameter, or an entry of it */
    return ag_scope_error(b, s->pos, "set the whole parameter `%s`, not a part of it", text);
  case AG_SYM_NONE: break;
  default:
    return ag_scope_error(b, s->pos, "`%s` is %s; only parameters, coordinates and velocities can be set", text,
                          ag_scope_kind(sym));
  }
  const char *near = ag_scope_near(b, text, AG_SUGGEST_TARGETS | AG_SUGGEST_PARAMS);
  if (near) return ag_scope_error(b, base->pos, "unknown name `%s`; did you mean `%s`?", text, near);
  return ag_scope_error(b, base->pos, "unknown name `%s`; the model has no such parameter, coordinate or velocity",
                        text);
}

/* Starts given by --set; processed from the end, so that the last one of a component wins. */
static bool overruled(ag_builder *b, const ag_change *c) {
  const ag_syn *s = c->stmt.parts[0].target, *base = s->kind == AG_SYN_POST ? s->links[0].x : s;
  const ag_symbol *sym = base->kind == AG_SYN_NAME ? ag_scope_symbol(b, base->name) : NULL;
  if (!sym || sym->kind != AG_SYM_ANGLE) return false; /* of several angular velocities in space the last one is kept */
  const ag_angle *angle = &b->bodies[sym->index / 3].euler[s->kind == AG_SYN_POST][sym->index % 3];
  return angle->x && angle->outside;
}

/* Adds a start, with the --set that it comes from (NULL: none). */
static void push(ag_builder *b, const ag_start *s, const ag_origin *from) {
  AG_MODEL_PUSH(b->m, starts, *s);
  while (b->m->n_origins < b->m->n_starts) AG_MODEL_PUSH(b->m, origins, NULL);
  b->m->origins[b->m->n_starts - 1] = from;
}

/* Adds the components of a start that are not marked yet, and marks them. A rotation is given as a whole. */
static void push_open(ag_builder *b, unsigned char *marks, int n, const ag_start *s, const ag_origin *from) {
  bool whole = !any(marks, n);
  if (whole) push(b, s, from);
  for (int i = 0; i < n && !whole && ag_node_cols(b->g, s->x) == 1; i++) {
    ag_start one = *s;
    if (marks[i]) continue;
    one.row = s->row >= 0 ? s->row : i;
    one.x = s->row >= 0 ? s->x : ag_entry(b->g, s->x, i, 0);
    push(b, &one, from);
  }
  memset(marks, 1, (size_t)n);
}

static void outside(ag_builder *b, taken *k) {
  const char *file = b->ctx->file;
  int n;
  b->word = AG_WORD_START;
  for (int i = b->n_change - 1; i >= 0; i--) {
    ag_change *c = &b->changes[i];
    if (c->used || c->stmt.error) continue;
    ag_scope_source(b, c, file);
    ag_start one;
    bool good = !overruled(b, c) && settable(b, c); /* not overruled by a later change of the same Euler angle */
    if (good && c->vary) ag_define_varied(b, c, "start");
    if (good && !ag_euler_start(b, &c->stmt.parts[0], true) && !ag_process_start(b, &c->stmt.parts[0], true) &&
        assignment(b, &c->stmt.parts[0], &one)) {
      ag_origin *from = AG_NEW(b->m->arena, ag_origin);
      *from = (ag_origin){ag_arena_str(b->m->arena, c->label), ag_arena_str(b->m->arena, c->text)};
      unsigned char *v = taken_of(k, b, &one, &n);
      push_open(b, v, n, &one, from);
    }
    ag_scope_source(b, NULL, file);
  }
}

/* A start of the file, or the components of it that no --set has replaced. */
static void inside(ag_builder *b, const taken *out, taken *k, const ag_start *s) {
  int n;
  unsigned char *v = taken_of(k, b, s, &n);
  if (any(v, n)) {
    const ag_coord *c = s->frame < 0 ? &b->m->coords[s->coord] : NULL;
    ag_scope_error(b, s->pos, "the start of `%s` is given twice",
                   !c            ? b->m->frames[s->frame].name
                   : s->velocity ? c->velocity
                                 : c->name);
    return;
  }
  memset(v, 1, (size_t)n);
  unsigned char *set = ag_heap_alloc((size_t)n + 1);
  memcpy(set, taken_of(out, b, s, &n), (size_t)n);
  push_open(b, set, n, s, NULL);
  free(set);
}

static void add_guesses(ag_builder *b, taken *k) {
  if (!b->n_guesses) return;
  for (int i = 0; i < b->m->n_starts; i++) mark(k, b, &b->m->starts[i]);
  b->m->soft_from = b->m->n_starts + 1;
  for (int i = 0; i < b->n_guesses; i++) { /* the components that no start and no earlier guess gives */
    int n;
    unsigned char *v = taken_of(k, b, &b->guesses[i], &n);
    push_open(b, v, n, &b->guesses[i], NULL);
  }
}

/* Coordinates that a start value may not use yet: given by a later start, or determined by the constraints. A
 * coordinate that is never given and not moved by a position constraint is 0 (a rotation: 1) and may be used. */
static int open_coords(const ag_builder *b, const taken *k, const unsigned char *named, ag_id *open) {
  const ag_model *m = b->m;
  bool moved = m->n_holonomics + m->n_prescribes > 0;
  int n = 0;
  for (int j = 0; j < m->n_coords; j++) {
    bool waits = false;
    for (int r = k->offset[j]; r < k->offset[j] + m->coords[j].dim; r++)
      waits = waits || (!k->q[r] && (named[r] || moved));
    if (waits) open[n++] = m->coords[j].q;
  }
  return n;
}

/* Which coordinate does the value of start i still wait for? 0: none. Velocities may use all coordinates. */
static ag_id awaited(ag_builder *b, const taken *k, const unsigned char *named, int i, ag_id *open) {
  const ag_start *s = &b->m->starts[i];
  bool uses = !s->velocity && s->frame < 0 && ag_note_on(b, s->x) & AG_ON_Q;
  if (!uses || !ag_scope_work(b, s->pos, b->n_velocity + ag_graph_count(b->g) / 16)) return 0;
  int n = open_coords(b, k, named, open);
  for (int j = 0; j < n && ag_depends(b->g, 1, &s->x, n, open); j++)
    if (ag_depends(b->g, 1, &s->x, 1, &open[j])) return open[j];
  return 0;
}

static void report_wait(ag_builder *b, int i, ag_id x) {
  const char *file = b->ctx->file, *name = ag_node_name(b->g, x);
  const ag_start *s = &b->m->starts[i];
  bool given = false;
  for (int j = 0; j < b->m->n_starts; j++) {
    const ag_start *other = &b->m->starts[j];
    given = given || (!other->velocity && other->frame < 0 && b->m->coords[other->coord].q == x);
  }
  if (b->m->origins[i]) b->ctx->file = b->m->origins[i]->label, b->ctx->source = b->m->origins[i]->text;
  ag_scope_error(b, s->pos,
                 given ? "this start value uses `%s`, whose own start depends on it"
                       : "this start value uses `%s`, which follows from the constraints: give it a start of its own",
                 name);
  ag_scope_source(b, NULL, file);
}

/* Puts the starts in an order in which each coordinate has its value before another uses it. Guesses stay last: they
 * use what is there. */
static void sort_starts(ag_builder *b, taken *k) {
  ag_model *m = b->m;
  int n = m->soft_from ? m->soft_from - 1 : m->n_starts, n_done = 0, before = -1;
  size_t size = (size_t)(m->n_starts + 1);
  while (m->n_origins < m->n_starts) AG_MODEL_PUSH(m, origins, NULL);
  ag_id *open = ag_heap_alloc(sizeof *open * (size_t)(m->n_coords + 1)), wait = 0;
  ag_start *sorted = ag_heap_alloc(sizeof *sorted * size);
  const ag_origin **origins = ag_heap_alloc(sizeof *origins * size);
  unsigned char *named = ag_heap_alloc((size_t)k->n + 1), *done = ag_heap_alloc(size);
  memset(k->q, 0, (size_t)k->n);
  for (int i = 0; i < m->n_starts; i++) mark(k, b, &m->starts[i]);
  memcpy(named, k->q, (size_t)k->n);
  memset(k->q, 0, (size_t)k->n);
  while (n_done < n && n_done != before) {
    before = n_done;
    for (int i = 0; i < n; i++) {
      if (done[i] || awaited(b, k, named, i, open)) continue;
      mark(k, b, &m->starts[i]);
      done[i] = 1;
      sorted[n_done] = m->starts[i];
      origins[n_done++] = m->origins[i];
    }
  }
  for (int i = 0; i < n && n_done < n && !wait; i++)
    if (!done[i] && (wait = awaited(b, k, named, i, open))) report_wait(b, i, wait);
  if (n_done == n && n) {
    memcpy(m->starts, sorted, sizeof *sorted * (size_t)n);
    memcpy(m->origins, origins, sizeof *origins * (size_t)n);
  }
  free(open), free(sorted), free(origins), free(named), free(done);
}

typedef struct both {
  taken out, file;
} both;

/* A start that follows from Euler angles, as if it had been given as a whole in their place. */
static void push_euler(ag_builder *b, void *data, const ag_start *s, bool from_outside) {
  both *k = data;
  int n;
  unsigned char *v = taken_of(&k->out, b, s, &n);
  const ag_coord *c = &b->m->coords[s->coord];
  if (!from_outside) inside(b, &k->out, &k->file, s);
  else if (any(v, n))
    ag_ctx_error(b->ctx, (ag_pos){0},
                 "the start of `%s` is given in two ways: by itself, and by Euler angles or in space",
                 s->velocity ? c->velocity : c->name);
  else push_open(b, v, n, s, NULL);
}

void ag_start_finish(ag_builder *b) {
  both k;
  taken_init(&k.out, b);
  taken_init(&k.file, b);
  outside(b, &k.out);
  ag_euler_finish(b, false, push_euler, &k);
  for (int i = 0; i < b->n_file_starts; i++) inside(b, &k.out, &k.file, &b->file_starts[i]);
  ag_euler_finish(b, true, push_euler, &k);
  add_guesses(b, &k.file);
  if (!ag_scope_failed(b) && ag_bodies_finish(b->ctx, b->m) == AG_OK) sort_starts(b, &k.file);
  taken_done(&k.out);
  taken_done(&k.file);
}
