/* SPDX-License-Identifier: MIT
 * The handle of a model. Its state is a text and changes; reading and deriving happen when they are first needed, and
 * again after a change. */
#include <stdlib.h>
#include <string.h>

#include "api/api_internal.h"

const char *anagyre_version(void) { return AG_VERSION; }

/* ---- memory ---- */

/* What follows from the text is gone with its heap. */
static void lose_derived(anagyre_model *m) {
  ag_heap_wipe(m->heap);
  m->ctx = m->call = (ag_ctx){0};
  m->error = m->notes = (ag_text){0};
  m->record = (ag_record){0};
  m->model = NULL;
  m->system = NULL;
  m->values = NULL;
  m->read = m->tried = false;
  m->status = AG_SYSTEM;
}

static void report(anagyre_model *m, const char *why) { snprintf(m->trouble, sizeof m->trouble, "error: %s\n", why); }

bool ag_api_call(anagyre_model *m, void (*call)(void *self), void *self) {
  char why[AG_HEAP_WHY];
  if (m->lost) return false;
  m->trouble[0] = 0;
  if (!m->heap) {
    call(self);
    return true;
  }
  if (ag_heap_try(m->heap, call, self, why)) return true;
  lose_derived(m);
  report(m, why);
  return false;
}

bool ag_api_result_heap(anagyre_model *m, ag_heap **heap) {
  *heap = m->heap ? ag_heap_create(NULL) : NULL;
  if (m->heap && !*heap) report(m, "out of memory");
  return *heap || !m->heap;
}

/* ---- opening ---- */

typedef struct opening {
  anagyre_model *m;
  const char *name, *text; /* text NULL: a file, or a shipped model */
  size_t size;
  int fd; /* >= 0: a file that is open already */
} opening;

static void make_handle(void *self) {
  anagyre_model **m = self;
  *m = ag_heap_alloc(sizeof **m);
}

/* A handle with heaps of its own; the program has one for all. NULL: there is no memory for it. */
static anagyre_model *handle(void) {
  anagyre_model *m = NULL;
  if (ag_heap_guarded()) {
    make_handle(&m);
    return m;
  }
  char why[AG_HEAP_WHY];
  ag_heap *kept = ag_heap_create(NULL), *heap = kept ? ag_heap_create(kept) : NULL;
  if (heap && ag_heap_try(kept, make_handle, &m, why)) {
    m->kept = kept;
    m->heap = heap;
    return m;
  }
  ag_heap_close(heap);
  ag_heap_close(kept);
  return NULL;
}

static void fill(void *self) {
  const opening *o = self;
  anagyre_model *m = o->m;
  m->word = ag_api_copy(o->name);
  if (o->text) {
    m->path = ag_api_copy(o->name);
    m->text = ag_heap_alloc(o->size + 1);
    memcpy(m->text, o->text, o->size);
    m->size = o->size;
  } else if (o->fd >= 0) {
    m->path = ag_api_copy(o->name);
    m->status = ag_api_read(m, o->fd);
  } else {
    m->status = ag_api_find(m, o->name);
  }
}

static anagyre_model *open_model(opening o) {
  char why[AG_HEAP_WHY];
  if (!(o.m = handle())) return NULL;
  if (!o.m->heap) fill(&o);
  else if (!ag_heap_try(o.m->kept, fill, &o, why)) {
    o.m->lost = true;
    report(o.m, why);
  }
  return o.m;
}

anagyre_model *anagyre_open(const char *file_or_name) { return open_model((opening){.name = file_or_name, .fd = -1}); }

anagyre_model *ag_api_open_stream(const char *name, int fd) { return open_model((opening){.name = name, .fd = fd}); }

anagyre_model *ag_api_open_text(const char *name, const char *text, size_t size) {
  return open_model((opening){.name = name, .text = text, .size = size, .fd = -1});
}

anagyre_model *anagyre_open_text(const char *name, const char *text) {
  return ag_api_open_text(name, text, strlen(text));
}

/* Back to a text with changes; does nothing for one that was not found. */
static void forget(anagyre_model *m) {
  ag_ctx_done(&m->call);
  if (m->found.n_error) return;
  ag_system_free(m->system);
  ag_model_free(m->model);
  ag_ctx_done(&m->ctx);
  ag_api_record_done(&m->record);
  free(m->values);
  m->system = NULL;
  m->model = NULL;
  m->values = NULL;
  m->status = AG_OK;
  m->read = m->tried = false;
}

static void drop_set(anagyre_model *m, int i) {
  free((char *)m->sets[i].name);
  free((char *)m->sets[i].value);
  m->n_set--;
  memmove(m->sets + i, m->sets + i + 1, sizeof *m->sets * (size_t)(m->n_set - i));
}

void anagyre_close(anagyre_model *m) {
  if (!m) return;
  ag_heap *heap = m->heap, *kept = m->kept, *was = heap ? ag_heap_use(heap) : ag_heap_current();
  ag_heap_clock_stop();
  if (m->lost) {
    ag_heap_wipe(kept);
  } else {
    forget(m);
    while (m->n_set) drop_set(m, m->n_set - 1);
    ag_ctx_done(&m->found);
    ag_text_done(&m->error);
    ag_text_done(&m->notes);
    free(m->sets);
    free(m->end_at);
    free(m->drivers);
    free(m->word);
    free(m->path);
    free(m->text);
    free(m);
  }
  ag_heap_use(was);
  ag_heap_close(heap);
  ag_heap_close(kept);
}

/* ---- changing ---- */

/* A change of the text: a value, or the events that end a run. */
typedef struct change {
  anagyre_model *m;
  const char *name, *value, *events;
} change;

/* Changes the handle and its text. When memory runs out here, the state of the text is unknown. */
static void change_text(change c, void (*call)(void *self)) {
  if (c.m && !ag_api_call(c.m, call, &c)) c.m->lost = true;
}

static void set(void *self) {
  const change *c = self;
  anagyre_model *m = c->m;
  for (int i = m->n_set - 1; i >= 0; i--)
    if (!strcmp(m->sets[i].name, c->name)) drop_set(m, i);
  if (c->value) {
    ag_heap *heap = m->kept ? ag_heap_use(m->kept) : ag_heap_current();
    AG_PUSH(m->sets, m->n_set, m->cap_set);
    m->sets[m->n_set++] = (ag_set){ag_api_copy(c->name), ag_api_copy(c->value)};
    ag_heap_use(heap);
  }
  forget(m);
}

void anagyre_set(anagyre_model *m, const char *name, const char *value) {
  change_text((change){.m = m, .name = name, .value = value}, set);
}

void anagyre_set_number(anagyre_model *m, const char *name, double value) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", value);
  anagyre_set(m, name, text);
}

static void replace(anagyre_model *m, char **text, const char *with) {
  free(*text);
  *text = NULL;
  ag_heap *heap = m->kept ? ag_heap_use(m->kept) : ag_heap_current();
  if (with) *text = ag_api_copy(with);
  ag_heap_use(heap);
  forget(m);
}

static void set_end_at(void *self) {
  const change *c = self;
  replace(c->m, &c->m->end_at, c->events);
}

void anagyre_end_at(anagyre_model *m, const char *events) {
  change_text((change){.m = m, .events = events}, set_end_at);
}

static void set_drivers(void *self) {
  const change *c = self;
  replace(c->m, &c->m->drivers, c->value);
}

void anagyre_drive(anagyre_model *m, const char *drivers) {
  change_text((change){.m = m, .value = drivers}, set_drivers);
}

const char *ag_api_drivers(const anagyre_model *m) { return m->drivers; }

static ag_status end_at(ag_ctx *ctx, ag_model *m, const char *name) {
  for (int i = 0; i < ag_model_n_events(m); i++)
    if (!strcmp(ag_model_events(m)[i].name, name)) {
      ag_model_end_at(m, i);
      return AG_OK;
    }
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(ag_model_n_events(m) + 1));
  for (int i = 0; i < ag_model_n_events(m); i++) names[i] = ag_model_events(m)[i].name;
  const char *near = ag_nearest(name, ag_model_n_events(m), names);
  if (near) ag_ctx_error(ctx, ag_api_nowhere, "--end-at: the model has no event `%s`; did you mean `%s`?", name, near);
  else ag_ctx_error(ctx, ag_api_nowhere, "--end-at: the model has no event `%s`", name);
  free(names);
  return AG_WRONG;
}

ag_status ag_api_terminal(ag_ctx *ctx, ag_model *m, const char *names) {
  char *list = names ? ag_api_copy(names) : NULL, *rest = list;
  ag_status status = AG_OK;
  for (char *name; status == AG_OK && rest && (name = strsep(&rest, ","));)
    if (*name) status = end_at(ctx, m, name);
  free(list);
  return status;
}

/* ---- reading and deriving ---- */

static const char deriving[] = "deriving the equations"; /* until the motion begins, or the handle is closed */

ag_model *ag_api_model(anagyre_model *m) {
  if (!m || m->found.n_error) return NULL;
  if (m->read) return m->model;
  m->read = true;
  ag_heap_clock_start(deriving);
  m->status = ag_lang_read(&m->ctx, m->path, m->text, m->size, m->n_set, m->sets, &m->model);
  if (m->status == AG_OK) m->status = ag_api_terminal(&m->ctx, m->model, m->end_at);
  if (m->status == AG_OK) m->status = ag_api_drive(&m->ctx, m->model, m->drivers);
  if (m->status != AG_OK) {
    ag_model_free(m->model);
    m->model = NULL;
  }
  return m->model;
}

/* Is the system derived as asked? Cost decides about the closure only where the sparse form may be the cheaper one, and
 * did not where it was asked and the velocities were eliminated all the same. */
static bool as_asked(const anagyre_model *m, const ag_derive_options *b) {
  const ag_derive_options *a = &m->derived;
  bool may = m->system && ag_closure_sparse(m->system);
  bool did = may && ag_system_elimination(m->system) == AG_ELIM_SADDLE;
  bool one_closure = a->by_cost == b->by_cost || (m->system && !(a->by_cost ? did : may));
  return a->strict == b->strict && a->growth == b->growth && a->saddle == b->saddle &&
         a->multipliers == b->multipliers && one_closure && a->symbolic == b->symbolic && a->t0 == b->t0;
}

/* A contact that would have to pull at the start: the lift-off event would never trigger. */
static void warn_contacts(anagyre_model *a) {
  const ag_system *sys = a->system;
  const ag_model *m = a->model;
  if (!ag_model_n_contacts(m)) return;
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x));
  double *values = ag_heap_alloc(sizeof *values * (size_t)(ag_system_dims(sys)->observe + 1));
  ag_system_state0(sys, x);
  ag_work *work = ag_work_create(sys, ag_system_param_values(sys));
  bool known = ag_work_observe(work, a->derived.t0, x, values) == 0;
  for (int i = 0; known && i < ag_model_n_contacts(m); i++)
    for (int k = 0; k < ag_model_n_observables(m); k++) {
      double force = values[ag_layout_item(sys, AG_LAYOUT_OBSERVABLE, k)->at];
      if (ag_model_observables(m)[k].x != ag_model_contacts(m)[i]->press || !(force < 0)) continue;
      const ag_body *b = ag_model_contacts(m)[i]->body;
      ag_ctx_warn(&a->ctx, b->pos, "at the start the ground would have to hold `%s` down (normal force %.3g)", b->name,
                  force);
      break;
    }
  ag_work_free(work);
  free(x);
  free(values);
}

ag_system *ag_api_system(anagyre_model *m, const ag_derive_options *o) {
  if (m && m->tried && !as_asked(m, o)) forget(m);
  if (!ag_api_model(m) || m->tried) return m ? m->system : NULL;
  m->tried = true;
  m->derived = *o;
  ag_heap_clock_start(deriving);
  m->status = ag_system_create(&m->ctx, m->model, o, &m->system);
  if (m->status == AG_OK) warn_contacts(m);
  return m->system;
}

/* ---- telling ---- */

ag_status ag_api_status(const anagyre_model *m) { return m->status; }
const char *ag_api_path(const anagyre_model *m) { return m->path; }
ag_ctx *ag_api_ctx(anagyre_model *m) {
  return m->found.n_error ? &m->found : m->call.n_error && !m->ctx.n_error ? &m->call : &m->ctx;
}

const char *ag_api_text(const anagyre_model *m, size_t *size) {
  *size = m->size;
  return m->text;
}

/* A question to the model, and its answer. */
typedef struct question {
  anagyre_model *m;
  const char *name;
  anagyre_kind kind;
  int i;
  const char *text;
  anagyre_array value;
} question;

static void find_error(void *self) {
  question *q = self;
  anagyre_model *m = q->m;
  (void)ag_api_model(m);
  const ag_ctx *all[] = {&m->found, &m->ctx, &m->call};
  for (int i = 0; i < 3 && !q->text; i++) {
    if (!all[i]->n_error) continue;
    ag_text_clear(&m->error);
    ag_ctx_render(all[i], &m->error);
    q->text = m->error.s;
  }
}

const char *anagyre_error(anagyre_model *m) {
  if (!m) return "error: out of memory\n"; /* else there would be a handle */
  if (m->trouble[0]) return m->trouble;
  question q = {.m = m};
  return ag_api_call(m, find_error, &q) ? q.text : m->trouble;
}

static void find_notes(void *self) {
  question *q = self;
  anagyre_model *m = q->m;
  if (!ag_api_model(m) || m->ctx.n_error) return;
  ag_text_clear(&m->notes);
  ag_ctx_render(&m->ctx, &m->notes);
  q->text = ag_text_cstr(&m->notes);
}

static void find_name(void *self) {
  question *q = self;
  if (ag_api_model(q->m)) q->text = ag_model_name(q->m->model);
}

static void find_title(void *self) {
  question *q = self;
  if (ag_api_model(q->m)) q->text = ag_model_title(q->m->model);
}

static const char *ask(anagyre_model *m, void (*call)(void *self)) {
  question q = {.m = m, .text = ""};
  return m && ag_api_call(m, call, &q) ? q.text : "";
}

const char *anagyre_notes(anagyre_model *m) { return ask(m, find_notes); }
const char *anagyre_name(anagyre_model *m) { return ask(m, find_name); }
const char *anagyre_title(anagyre_model *m) { return ask(m, find_title); }

static const char *item_name(const ag_model *m, anagyre_kind kind, int i) {
  switch (kind) {
  case ANAGYRE_PARAMETER: return i < ag_model_n_params(m) ? ag_model_params(m)[i].name : NULL;
  case ANAGYRE_COORDINATE: return i < ag_model_n_coords(m) ? ag_model_coords(m)[i].name : NULL;
  case ANAGYRE_VELOCITY: return i < ag_model_n_coords(m) ? ag_model_coords(m)[i].velocity : NULL;
  case ANAGYRE_OBSERVABLE: return i < ag_model_n_observables(m) ? ag_model_observables(m)[i].name : NULL;
  case ANAGYRE_EVENT: return i < ag_model_n_events(m) ? ag_model_events(m)[i].name : NULL;
  case ANAGYRE_SECTION: return i < ag_model_n_sections(m) ? ag_model_sections(m)[i].name : NULL;
  }
  return NULL;
}

static void find_item(void *self) {
  question *q = self;
  if (ag_api_model(q->m) && q->i >= 0) q->text = item_name(q->m->model, q->kind, q->i);
}

const char *anagyre_item(anagyre_model *m, anagyre_kind kind, int i) {
  question q = {.m = m, .kind = kind, .i = i};
  return m && ag_api_call(m, find_item, &q) ? q.text : NULL;
}

int ag_api_section(ag_ctx *ctx, const ag_model *m, const char *name) {
  for (int i = 0; i < ag_model_n_sections(m); i++)
    if (!strcmp(ag_model_sections(m)[i].name, name)) return i + 1;
  if (!ag_model_n_sections(m)) {
    ag_ctx_error(ctx, ag_api_nowhere, "the model has no section: it is introduced by `section %s: ... = 0`", name);
    return 0;
  }
  ag_text all = {0};
  const char **names = ag_heap_alloc(sizeof *names * (size_t)ag_model_n_sections(m));
  for (int i = 0; i < ag_model_n_sections(m); i++) ag_text_printf(&all, " %s", names[i] = ag_model_sections(m)[i].name);
  const char *near = ag_nearest(name, ag_model_n_sections(m), names);
  ag_ctx_error(ctx, ag_api_nowhere, "the model has no section `%s`%s%s%s (there are:%s)", name,
               near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "", all.s);
  ag_text_done(&all);
  free(names);
  return 0;
}

static anagyre_array param_value(const ag_system *sys, int i) {
  const ag_param *p = &ag_model_params(ag_system_model(sys))[i];
  if (p->integer) return (anagyre_array){&p->number, 1, 1, 1, 1};
  int rows = ag_node_rows(ag_model_nodes(ag_system_model(sys)), p->input),
      cols = ag_node_cols(ag_model_nodes(ag_system_model(sys)), p->input);
  return (anagyre_array){ag_system_param_values(sys) + ag_layout_item(sys, AG_LAYOUT_PARAMETER, i)->at, 1, rows * cols,
                         rows, cols};
}

static void find_value(void *self) {
  question *q = self;
  anagyre_model *m = q->m;
  const ag_system *sys = ag_api_system(m, m->tried ? &m->derived : &(ag_derive_options){0});
  if (!sys) return;
  for (int i = 0; i < ag_model_n_params(ag_system_model(sys)); i++)
    if (!strcmp(ag_model_params(ag_system_model(sys))[i].name, q->name)) {
      q->value = param_value(sys, i);
      return;
    }
  if (!m->values) {
    ag_api_record_init(&m->record, sys);
    m->values = ag_heap_alloc(sizeof(double) * (size_t)(m->record.width + 1));
    double *x = ag_heap_alloc(sizeof(double) * (size_t)(ag_system_dims(sys)->x + 1));
    ag_system_state0(sys, x);
    ag_work *work = ag_work_create(sys, ag_system_param_values(sys));
    ag_record_fill(sys, work, m->derived.t0, x, m->values);
    ag_work_free(work);
    free(x);
  }
  q->value = ag_api_view(&m->record, 1, m->values, q->name);
}

anagyre_array anagyre_value(anagyre_model *m, const char *name) {
  question q = {.m = m, .name = name};
  return m && ag_api_call(m, find_value, &q) ? q.value : (anagyre_array){0};
}
