/* SPDX-License-Identifier: MIT */
#include "cli/section.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

ag_status ag_section_find(ag_source *s, const char *name, ag_run_options *o) {
  const ag_model *m = s->model;
  const char **names = ag_heap_alloc(sizeof *names * (size_t)(m->n_sections + 1));
  ag_text all = {0};
  o->section = 0;
  for (int i = 0; i < m->n_sections; i++) {
    names[i] = m->sections[i].name;
    ag_text_printf(&all, " %s", names[i]);
    if (!strcmp(names[i], name)) o->section = i + 1;
  }
  const char *near = ag_nearest(name, m->n_sections, names);
  if (!o->section && near)
    ag_ctx_error(&s->ctx, (ag_pos){0}, "there is no section `%s`; did you mean `%s`? (there are:%s)", name, near,
                 all.s);
  else if (!o->section && m->n_sections)
    ag_ctx_error(&s->ctx, (ag_pos){0}, "there is no section `%s` (there are:%s)", name, all.s);
  else if (!o->section)
    ag_ctx_error(&s->ctx, (ag_pos){0}, "the model has no section: it is introduced by `section %s: ... = 0`", name);
  ag_text_done(&all);
  free(names);
  return o->section ? AG_OK : AG_WRONG;
}
