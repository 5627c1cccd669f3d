/* SPDX-License-Identifier: MIT */
#include "cli/sources.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"

ag_status ag_sources_fail(const ag_sources *s, ag_status status, const ag_text *trouble) {
  if (status == AG_WRONG) (void)ag_usage(s->verb, "%s", ag_text_cstr(trouble));
  else ag_output_tell("error: %s", ag_text_cstr(trouble));
  if (s->common->json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "error", ag_text_cstr(trouble));
    ag_json_end(&j, '}');
    ag_json_print(&j);
  }
  return status;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), k = strlen(end);
  return n > k && !strcmp(s + n - k, end);
}

void ag_sources_defaults(ag_motion_args *a) {
  anagyre_options o = anagyre_defaults();
  *a = (ag_motion_args){.t0 = o.t0, .t1 = o.t1, .rtol = o.rtol, .seed = -1, .path = -1};
}

ag_status ag_sources_options(const char *verb, const ag_motion_args *a, int rows, anagyre_options *o) {
  *o = anagyre_defaults();
  const bool noisy = a->seed >= 0;
  if (noisy && a->noise) return ag_usage(verb, "--seed follows the noise, --noise off leaves it out: give one of them");
  if (noisy && !(a->dt > 0)) return ag_usage(verb, "--seed needs fixed steps: give --dt");
  if (!noisy && a->path >= 0) return ag_usage(verb, "--path needs --seed");
  o->t0 = a->t0, o->t1 = a->t1, o->dt = a->dt, o->rtol = a->rtol, o->atol = a->rtol / 100;
  o->every = fabs(o->t1 - o->t0) / rows;
  if (noisy) o->every = a->dt * fmax(1, ceil(o->every / a->dt)); /* a path is known only at its steps */
  o->noise = noisy ? "path" : a->noise ? ag_option_noise(a->noise) : NULL;
  if (noisy) o->seed = (unsigned long long)a->seed, o->path = (unsigned long long)(a->path > 0 ? a->path : 0);
  o->method = a->method, o->max_steps = a->max_steps;
  return AG_OK;
}

const char *ag_sources_noise(ag_arena *arena, const anagyre_options *o) {
  return strcmp(o->noise, "path") ? o->noise : ag_arena_printf(arena, "path %llu of seed %llu", o->path, o->seed);
}

bool ag_sources_is_file(const char *word) { return ends_with(word, ".h5") || ends_with(word, ".csv"); }

static ag_status add_model(ag_sources *s, const char *word) {
  ag_common common = *s->common;
  common.words = &word, common.n_word = 1;
  ag_status status;
  anagyre_model *m = ag_open_derived(&common, &(ag_derive_options){.t0 = s->run->t0}, &status);
  if (!m) return status;
  anagyre_motion *motion = ag_api_run(m, s->run, NULL);
  if (!motion) return ag_open_refuse(m, ag_api_ctx(m), AG_WRONG, &common);
  if (anagyre_motion_failed(motion))
    ag_output_tell("warning: %s ended at t = %.6g: %s", word, *anagyre_motion_final(motion, "t").data,
                   anagyre_motion_end(motion));
  s->models[s->n] = m, s->motions[s->n] = motion;
  ag_source *source = s->sources[s->n++] = ag_source_motion(motion, m);
  if (!(s->run->dt > 0)) source->rtol = s->run->rtol, source->atol = s->run->atol;
  if (s->run->noise && !strcmp(s->run->noise, "path"))
    ag_source_path(source, anagyre_motion_method(motion), s->run->dt, s->run->seed, s->run->path);
  return AG_OK;
}

ag_status ag_sources_add(ag_sources *s, const char *word) {
  ag_text trouble = {0};
  ag_status status = AG_OK;
  if (s->n == AG_MOST_SOURCES) {
    ag_text_printf(&trouble, "more than %d files", AG_MOST_SOURCES);
    status = ag_sources_fail(s, AG_WRONG, &trouble);
  } else if (!ag_sources_is_file(word)) {
    status = add_model(s, word);
  } else if ((s->sources[s->n] = ag_source_file(word, &status, &trouble))) {
    s->n++;
    status = AG_OK;
  } else {
    status = ag_sources_fail(s, status, &trouble);
  }
  ag_text_done(&trouble);
  return status;
}

void ag_sources_cut(const ag_sources *s) {
  for (int i = 0; i < s->n; i++)
    if (s->sources[i]->cut)
      ag_output_tell(
          "warning: the last line of %s has no end and was left out: the run that wrote it was killed, or the "
          "file was cut off",
          s->sources[i]->path);
}

void ag_sources_done(ag_sources *s) {
  for (int i = 0; i < s->n; i++) {
    ag_source_free(s->sources[i]);
    anagyre_motion_free(s->motions[i]);
    anagyre_close(s->models[i]);
  }
  s->n = 0;
}

void ag_sources_name(const ag_common *common, const char *end, ag_text *out) {
  const char *word = common->words[0], *slash = strrchr(word, '/');
  const char *name = slash ? slash + 1 : word, *dot = strrchr(name, '.');
  ag_text_strn(out, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
  ag_text_str(out, end);
}
