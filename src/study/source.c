/* SPDX-License-Identifier: MIT */
#include "study/study.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { MAX_TEXT = 1 << 20 };
static const ag_pos nowhere = {0};

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && !strcmp(s + n - m, end);
}

static char *copy(const char *s) {
  char *p = ag_heap_alloc(strlen(s) + 1);
  strcpy(p, s);
  return p;
}

/* The whole of an open file, at most MAX_TEXT + 1 bytes: /dev/zero ends too. */
static ag_status slurp(ag_source *s, int fd) {
  s->text = ag_heap_alloc(MAX_TEXT + 2);
  while (s->size <= MAX_TEXT) {
    ssize_t n = read(fd, s->text + s->size, MAX_TEXT + 1 - s->size);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      ag_ctx_error(&s->ctx, nowhere, "cannot read %s: %s", s->path, strerror(errno));
      return AG_SYSTEM;
    }
    s->size += (size_t)n;
  }
  s->text[s->size] = 0;
  if (s->size <= MAX_TEXT) return AG_OK;
  ag_ctx_error(&s->ctx, nowhere, "%s is larger than 1 MiB: this is not a model file", s->path);
  return AG_WRONG;
}

static ag_status read_file(ag_source *s, const char *path) {
  s->path = copy(path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    ag_ctx_error(&s->ctx, nowhere, "cannot read %s: %s", path, strerror(errno));
    return AG_SYSTEM;
  }
  ag_status status = slurp(s, fd);
  close(fd);
  return status;
}

static bool is_file(const char *path) {
  struct stat st;
  return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

/* Looks like a path: shipped models are plain names. */
static bool is_path(const char *word) { return strchr(word, '/') || ends_with(word, ".nh"); }

/* The place of the shipped model of that name, copied; NULL when there is none. *near: a name like it. */
static char *shipped(const char *name, ag_text *near) {
  ag_shipped list;
  ag_shipped_init(&list);
  char *path = NULL;
  for (int i = 0; i < list.n && !path; i++)
    if (!strcmp(list.names[i], name)) path = copy(list.paths[i]);
  if (!path) {
    const char *like = ag_nearest(name, list.n, (const char *const *)list.names);
    if (like) ag_text_str(near, like);
  }
  ag_shipped_done(&list);
  return path;
}

/* A missing file whose name is that of a shipped model: say so. */
static void hint_shipped(ag_source *s, const char *word) {
  const char *base = strrchr(word, '/') ? strrchr(word, '/') + 1 : word;
  ag_text stem = {0}, near = {0};
  ag_text_strn(&stem, base, strlen(base) - (ends_with(base, ".nh") ? 3 : 0));
  char *path = shipped(stem.s, &near);
  if (path) ag_ctx_note(&s->ctx, nowhere, "there is a shipped model '%s': write its name without .nh", stem.s);
  free(path);
  ag_text_done(&stem);
  ag_text_done(&near);
}

ag_status ag_source_read(ag_source *s, const char *word) {
  *s = (ag_source){.word = word};
  if (!strcmp(word, "-")) {
    s->path = copy("<stdin>");
    return slurp(s, STDIN_FILENO);
  }
  if (is_path(word)) {
    ag_status status = read_file(s, word);
    if (status == AG_SYSTEM && !is_file(word)) hint_shipped(s, word);
    return status;
  }
  ag_text near = {0};
  char *path = shipped(word, &near);
  if (!path && is_file(word)) path = copy(word);
  ag_status status = AG_WRONG;
  if (path) status = read_file(s, path);
  else if (near.n)
    ag_ctx_error(&s->ctx, nowhere, "no shipped model and no file is called '%s'; did you mean %s?", word, near.s);
  else
    ag_ctx_error(&s->ctx, nowhere,
                 "no shipped model and no file is called '%s'; `anagyre list models` shows what there is", word);
  free(path);
  ag_text_done(&near);
  return status;
}

static ag_status end_at(ag_source *s, const char *name) {
  ag_model *m = s->model;
  for (int i = 0; i < m->n_events; i++)
    if (!strcmp(m->events[i].name, name)) {
      m->events[i].terminal = true;
      return AG_OK;
    }
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(m->n_events + 1));
  for (int i = 0; i < m->n_events; i++) names[i] = m->events[i].name;
  const char *near = ag_nearest(name, m->n_events, names);
  if (near) ag_ctx_error(&s->ctx, nowhere, "--end-at: the model has no event `%s`; did you mean `%s`?", name, near);
  else ag_ctx_error(&s->ctx, nowhere, "--end-at: the model has no event `%s`", name);
  free(names);
  return AG_WRONG;
}

ag_status ag_source_end_at(ag_source *s, const char *names) {
  char *list = names ? copy(names) : NULL, *rest = list;
  ag_status status = AG_OK;
  for (char *name; status == AG_OK && rest && (name = strsep(&rest, ","));)
    if (*name) status = end_at(s, name);
  free(list);
  return status;
}

ag_status ag_source_section(ag_source *s, const char *name, int *section) {
  const ag_model *m = s->model;
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(m->n_sections + 1));
  ag_text all = {0};
  *section = 0;
  for (int i = 0; i < m->n_sections; i++) {
    names[i] = m->sections[i].name;
    ag_text_printf(&all, " %s", names[i]);
    if (!strcmp(names[i], name)) *section = i + 1;
  }
  const char *near = ag_nearest(name, m->n_sections, names);
  if (!*section && near)
    ag_ctx_error(&s->ctx, nowhere, "there is no section `%s`; did you mean `%s`? (there are:%s)", name, near, all.s);
  else if (!*section && m->n_sections)
    ag_ctx_error(&s->ctx, nowhere, "there is no section `%s` (there are:%s)", name, all.s);
  else if (!*section)
    ag_ctx_error(&s->ctx, nowhere, "the model has no section: it is introduced by `section %s: ... = 0`", name);
  ag_text_done(&all);
  free(names);
  return *section ? AG_OK : AG_WRONG;
}

ag_status ag_source_parse(ag_source *s, const char *word, const ag_changes *changes) {
  AG_TRY(ag_source_read(s, word));
  AG_TRY(ag_lang_read(&s->ctx, s->path, s->text, s->size, changes->n_set, changes->sets, &s->model));
  return ag_source_end_at(s, changes->end_at);
}

/* Ground that would have to pull at the start: the event of lifting off would never see it. */
static void warn_contacts(ag_source *s, double t0) {
  const ag_system *sys = s->system;
  const ag_model *m = s->model;
  if (!m->n_contacts) return;
  double *x = ag_heap_alloc(sizeof *x * (size_t)(ag_system_dims(sys)->x));
  double *values = ag_heap_alloc(sizeof *values * (size_t)(ag_system_dims(sys)->observe + 1));
  ag_system_state0(sys, x);
  ag_work *work = ag_work_create(sys, ag_system_param_values(sys));
  bool known = ag_work_observe(work, t0, x, values) == 0;
  for (int i = 0; known && i < m->n_contacts; i++)
    for (int k = 0; k < m->n_observables; k++) {
      double force = values[ag_layout_item(sys, AG_LAYOUT_OBSERVABLE, k)->at];
      if (m->observables[k].x != m->contacts[i]->press || !(force < 0)) continue;
      const ag_body *b = m->contacts[i]->body;
      ag_ctx_warn(&s->ctx, b->pos, "at the start the ground would have to hold `%s` down (normal force %.3g)", b->name,
                  force);
      break;
    }
  ag_work_free(work);
  free(x);
  free(values);
}

ag_status ag_source_load(ag_source *s, const char *word, const ag_changes *changes, const ag_derive_options *o) {
  AG_TRY(ag_source_parse(s, word, changes));
  AG_TRY(ag_system_create(&s->ctx, s->model, o, &s->system));
  warn_contacts(s, o->t0);
  return AG_OK;
}

ag_status ag_source_text(ag_source *s, const char *name, const char *text, int n_set, const ag_set *sets,
                         const ag_derive_options *o) {
  *s = (ag_source){.word = name, .path = copy(name), .text = copy(text), .size = strlen(text)};
  AG_TRY(ag_lang_read(&s->ctx, s->path, s->text, s->size, n_set, sets, &s->model));
  return ag_system_create(&s->ctx, s->model, o, &s->system);
}

void ag_source_done(ag_source *s) {
  ag_system_free(s->system);
  ag_model_free(s->model);
  ag_ctx_done(&s->ctx);
  free(s->path);
  free(s->text);
  *s = (ag_source){0};
}
