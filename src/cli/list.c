/* SPDX-License-Identifier: MIT
 * `anagyre list`: models, methods, words. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"

typedef struct args {
  ag_common common;
} args;

static const ag_option options[] = {AG_COMMON_ROWS(args)};

static int name_width(int n, char *const *names) {
  size_t width = 8;
  for (int i = 0; i < n; i++)
    if (strlen(names[i]) > width) width = strlen(names[i]);
  return (int)width;
}

static ag_status list_models(ag_json *j) {
  ag_shipped shipped;
  ag_shipped_init(&shipped);
  int width = name_width(shipped.n, shipped.names);
  if (j) ag_json_begin(j, "models", '[');
  else if (shipped.n) puts("models");
  else fputs("warning: no shipped models found; set ANAGYRE_MODELS to the folder that holds them\n", stderr);
  for (int i = 0; i < shipped.n; i++) {
    anagyre_model *m = anagyre_open(shipped.paths[i]);
    const char *title = ag_api_model(m) ? anagyre_title(m) : NULL;
    if (j) {
      ag_json_begin(j, NULL, '{');
      ag_json_string(j, "name", shipped.names[i]);
      ag_json_string(j, "title", title);
      ag_json_string(j, "file", shipped.paths[i]);
      ag_json_end(j, '}');
    } else printf("  %-*s  %s\n", width, shipped.names[i], title ? title : "(has errors: see `anagyre check`)");
    anagyre_close(m);
  }
  if (j) ag_json_end(j, ']');
  ag_shipped_done(&shipped);
  return AG_OK;
}

static void json_keeps(ag_json *j, unsigned keeps) {
  static const char *const what[AG_N_KEEP] = {
#define X(NAME, text) text,
      AG_KEEPS(X)
#undef X
  };
  ag_json_begin(j, "keeps", '[');
  for (int i = 0; i < AG_N_KEEP; i++)
    if (keeps >> i & 1) ag_json_string(j, NULL, what[i]);
  ag_json_end(j, ']');
}

static ag_status list_methods(ag_json *j) {
  if (j) ag_json_begin(j, "methods", '[');
  else puts("methods");
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    if (!j) {
      printf("  %-11s  order %d, %s: %s\n", s->name, s->order, s->error_order ? "step size control" : "fixed steps",
             s->doc);
      continue;
    }
    ag_json_begin(j, NULL, '{');
    ag_json_string(j, "name", s->name);
    ag_json_string(j, "family", s->family);
    ag_json_whole(j, "order", s->order);
    ag_json_whole(j, "error_order", s->error_order);
    ag_json_whole(j, "dense_order", s->dense_order);
    ag_json_whole(j, "stages", s->n_stage);
    if (s->n_channel_stage) ag_json_whole(j, "channel_stages", s->n_channel_stage);
    ag_json_string(j, "doc", s->doc);
    json_keeps(j, s->keeps);
    ag_json_string(j, "reference", s->reference);
    ag_json_end(j, '}');
  }
  if (j) ag_json_end(j, ']');
  return AG_OK;
}

static ag_status list_words(ag_json *j) {
  const char *const *words;
  int n = ag_lang_words(&words), column = 0;
  if (j) ag_json_begin(j, "words", '[');
  else puts("words of the model language (docs/language.md)");
  for (int i = 0; i < n; i++) {
    if (j) {
      ag_json_string(j, NULL, words[i]);
      continue;
    }
    if (column + (int)strlen(words[i]) + 1 > 100) putchar('\n'), column = 0;
    column += printf(column ? " %s" : "  %s", words[i]);
  }
  if (j) ag_json_end(j, ']');
  else putchar('\n');
  return AG_OK;
}

typedef struct topic {
  const char *name;
  ag_status (*list)(ag_json *j);
  bool always; /* shown when no topic is named */
} topic;

static const topic topics[] = {
    {"models", list_models, true}, {"methods", list_methods, true}, {"words", list_words, false}};
enum { N_TOPIC = sizeof topics / sizeof topics[0] };

static ag_status act(void *self) {
  const args *a = self;
  const char *want = a->common.n_word ? a->common.words[0] : NULL, *names[N_TOPIC];
  ag_json j = {0};
  int found = 0;
  for (int i = 0; i < N_TOPIC; i++) names[i] = topics[i].name, found += want && !strcmp(want, topics[i].name);
  if (want && !found) {
    const char *near = ag_nearest(want, N_TOPIC, names);
    return ag_usage("list", "there is no list of '%s'%s%s%s (there are: models methods words)", want,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  if (a->common.json) ag_json_begin(&j, NULL, '{');
  for (int i = 0; i < N_TOPIC; i++)
    if (want ? !strcmp(want, topics[i].name) : topics[i].always) AG_TRY(topics[i].list(a->common.json ? &j : NULL));
  if (a->common.json) ag_json_end(&j, '}'), ag_json_print(&j);
  return AG_OK;
}

const ag_command ag_command_list = {
    .name = "list",
    .words = "[models | methods | words]",
    .doc = "the shipped models, the steppers, the words of the model language",
    .text = "Without a word: models and methods.\n",
    .examples = "  anagyre list models\n"
                "  anagyre list methods --json\n",
    AG_COMMAND(0, 1),
};
