/* SPDX-License-Identifier: MIT
 * `anagyre completion`: what the shells need to complete a command line. The scripts (completion.bash, completion.zsh)
 * know nothing about verbs and options: they ask `anagyre completion words`, which answers from the tables of the
 * commands and from the models. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"

typedef struct args {
  ag_common common;
} args;

static const ag_option options[] = {AG_COMMON_ROWS(args)};

static const char bash_script[] =
#include "completion_bash.inc"
    ;
static const char zsh_script[] =
#include "completion_zsh.inc"
    ;

/* ---- the command line so far ---- */

typedef struct line {
  const ag_command *command;
  const char *word;        /* the word to be completed: what follows `lead` */
  char lead[128];          /* "--form=", or "" */
  const ag_option *option; /* the word is its value; NULL */
  int n_word;              /* positional words before it */
  const char *model;       /* the first of them, or NULL */
  ag_text *out;            /* one candidate per line, with a tab before its explanation */
} line;

static const ag_option *find_option(const ag_command *c, const char *word) {
  size_t len = strcspn(word, "=");
  for (int i = 0; i < c->n_option; i++) {
    const ag_option *o = &c->options[i];
    if (o->kind == AG_OPTION_LATER) continue;
    if (len > 2 && !strncmp(word, "--", 2) && strlen(o->name) == len - 2 && !strncmp(word + 2, o->name, len - 2))
      return o;
    if (o->letter && len == 2 && word[0] == '-' && word[1] == o->letter) return o;
  }
  return NULL;
}

/* Words after the verb; the last one is being written. */
static void read_line(line *l, int n, const char *const *words) {
  l->word = words[n - 1];
  for (int i = 0; i < n - 1; i++) {
    const ag_option *o = words[i][0] == '-' ? find_option(l->command, words[i]) : NULL;
    if (o && o->kind != AG_OPTION_FLAG && !strchr(words[i], '=')) {
      if (++i == n - 1) l->option = o;
    } else if (words[i][0] != '-') {
      if (!l->n_word++) l->model = words[i];
    }
  }
  const char *value = strchr(l->word, '=');
  const ag_option *o = l->word[0] == '-' && value && !l->option ? find_option(l->command, l->word) : NULL;
  if (!o || o->kind == AG_OPTION_FLAG || (size_t)(value - l->word) + 2 > sizeof l->lead) return;
  snprintf(l->lead, sizeof l->lead, "%.*s=", (int)(value - l->word), l->word);
  l->word = value + 1;
  l->option = o;
}

/* One candidate, if it continues the word. */
static void offer(const line *l, const char *before, const char *word, const char *after, const char *doc) {
  char whole[512];
  int n = snprintf(whole, sizeof whole, "%s%s%s", before, word, after);
  if (n < 0 || n >= (int)sizeof whole || strncmp(whole, l->word, strlen(l->word))) return;
  ag_text_printf(l->out, "%s%s%s%s\n", l->lead, whole, doc && *doc ? "\t" : "", doc ? doc : "");
}

/* ---- candidates for a word ---- */

static void offer_verbs(const line *l) {
  for (int i = 0; ag_command_at(i); i++) offer(l, "", ag_command_at(i)->name, "", ag_command_at(i)->doc);
}

static void offer_topics(const line *l) {
  const char *doc;
  for (int i = 0; ag_help_topic(i, &doc); i++) offer(l, "", ag_help_topic(i, &doc), "", doc);
}

static void offer_models(const line *l) {
  ag_shipped shipped;
  ag_shipped_init(&shipped);
  for (int i = 0; i < shipped.n; i++) offer(l, "", shipped.names[i], "", NULL);
  ag_shipped_done(&shipped);
  if (!strstr(l->command->words, "FILE")) ag_text_str(l->out, ":file .nh\n");
}

static void offer_files(const line *l) {
  if (!*l->lead) ag_text_str(l->out, ":file\n");
}

static void offer_options(const line *l) {
  const ag_command *c = l->command;
  for (int i = 0; i < c->n_option; i++)
    if (c->options[i].kind != AG_OPTION_LATER) offer(l, "--", c->options[i].name, "", c->options[i].doc);
}

/* Names of the model of the line: `parts` says which. In a list "a,b" the last one is completed. */
typedef enum part { PARAMS = 1, COORDS = 2, OBSERVABLES = 4, EVENTS = 8, SECTIONS = 16 } part;

static void offer_model_parts(const line *l, int parts, const char *after) {
  if (!l->model || !strcmp(l->model, "-")) return;
  anagyre_model *handle = anagyre_open(l->model);
  const ag_model *m = ag_api_model(handle);
  const char *comma = *after ? NULL : strrchr(l->word, ',');
  char before[256] = "";
  if (comma) snprintf(before, sizeof before, "%.*s", (int)(comma - l->word) + 1, l->word);
  for (int i = 0; m && parts & PARAMS && i < ag_model_n_params(m); i++)
    offer(l, before, ag_model_params(m)[i].name, after, NULL);
  for (int i = 0; m && parts & COORDS && i < ag_model_n_coords(m); i++) {
    offer(l, before, ag_model_coords(m)[i].name, after, NULL);
    offer(l, before, ag_model_coords(m)[i].velocity, after, NULL);
  }
  for (int i = 0; m && parts & OBSERVABLES && i < ag_model_n_observables(m); i++)
    offer(l, before, ag_model_observables(m)[i].name, after, NULL);
  if (m && parts & OBSERVABLES) offer(l, before, "energy", after, NULL);
  for (int i = 0; m && parts & EVENTS && i < ag_model_n_events(m); i++)
    offer(l, before, ag_model_events(m)[i].name, after, NULL);
  for (int i = 0; m && parts & SECTIONS && i < ag_model_n_sections(m); i++)
    offer(l, before, ag_model_sections(m)[i].name, after, NULL);
  anagyre_close(handle);
}

/* The kind of value of an option, by the name in its row. */
static const struct {
  const char *arg;
  int parts;
  const char *after;
} values[] = {{"NAME=VALUE", PARAMS | COORDS, "="},
              {"NAME=LO:HI:N", PARAMS | COORDS, "="},
              {"NAME=LEVEL", OBSERVABLES, "="},
              {"COLUMN", COORDS | OBSERVABLES, ""},
              {"COLUMNS", COORDS | OBSERVABLES, ""},
              {"NAMES", COORDS, ""},
              {"EVENTS", EVENTS, ""},
              {"SECTION", SECTIONS, ""}};

static void offer_value(const line *l) {
  const ag_option *o = l->option;
  if (o->kind == AG_OPTION_CHOICE)
    for (int i = 0; o->choice(i); i++) offer(l, "", o->choice(i), "", NULL);
  else if (!strcmp(o->arg, "FILE")) offer_files(l);
  else if (!strcmp(o->arg, "METHOD"))
    for (int i = 0; i < ag_stepper_count(); i++) offer(l, "", ag_stepper_at(i)->name, "", ag_stepper_at(i)->doc);
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    if (!strcmp(o->arg, values[i].arg)) offer_model_parts(l, values[i].parts, values[i].after);
}

/* A positional word, by what help shows: "FILE|MODEL [COLUMN ...]" says what the first one is and what the others
 * are. */
static void offer_positional(const line *l) {
  char text[256];
  snprintf(text, sizeof text, "%s", l->command->words);
  for (char *rest = text, *w; (w = strsep(&rest, " |[].")) != NULL;) {
    if (!strcmp(w, "COLUMN") && l->n_word) offer_model_parts(l, COORDS | OBSERVABLES, "");
    if (l->command->max_word >= 0 && l->n_word >= l->command->max_word) continue;
    if (!strcmp(w, "MODEL") && (!l->n_word || !strstr(l->command->words, "COLUMN"))) offer_models(l);
    if (!strcmp(w, "FILE") && !l->n_word) offer_files(l);
    if (!strcmp(w, "VERB")) offer_verbs(l);
    if (!strcmp(w, "TOPIC")) offer_topics(l);
    if (*w >= 'a' && *w <= 'z') offer(l, "", w, "", NULL);
  }
}

static void offer_words(int n, const char *const *words, ag_text *out) {
  line l = {.word = n ? words[0] : "", .out = out};
  if (n < 2) {
    offer_verbs(&l);
    return;
  }
  l.command = ag_command_find(words[0]);
  if (!l.command) return;
  read_line(&l, n - 1, words + 1);
  if (l.option) offer_value(&l);
  else if (l.word[0] == '-') offer_options(&l);
  else offer_positional(&l);
}

static ag_status act(void *self) {
  const args *a = self;
  const char *what = a->common.words[0];
  bool words = !strcmp(what, "words"), bash = !strcmp(what, "bash");
  if (!words && !bash && strcmp(what, "zsh"))
    return ag_usage("completion", "there is no completion for '%s' (there are: bash zsh)", what);
  if (!words && a->common.n_word > 1) return ag_usage("completion", "unexpected argument '%s'", a->common.words[1]);
  ag_text out = {0};
  if (words) offer_words(a->common.n_word - 1, a->common.words + 1, &out);
  else ag_text_str(&out, bash ? bash_script : zsh_script);
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "completion", what);
    ag_json_string(&j, "text", ag_text_cstr(&out));
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else fputs(ag_text_cstr(&out), stdout);
  ag_text_done(&out);
  return AG_OK;
}

const ag_command ag_command_completion = {
    .name = "completion",
    .words = "bash | zsh | words",
    .doc = "completion of command lines for bash and zsh",
    .text = "Prints a script that completes verbs, options and their values, models, parameters, columns.\n"
            "`make install` puts it where the shells look for it. Without an installation, put one line\n"
            "into ~/.bashrc: source <(anagyre completion bash). `words` is what the scripts call: it\n"
            "prints the words that can continue a command line, of which the last one is unfinished.\n",
    .examples = "  source <(anagyre completion bash)\n"
                "  anagyre completion words -- run rattle\n",
    AG_COMMAND(1, -1),
};
