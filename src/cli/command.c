/* SPDX-License-Identifier: MIT
 * The verbs, and dispatch to one of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/open.h"

static const ag_command *const commands[] = {
#define AG_VERB(name) &ag_command_##name,
#define AG_VERB_TO_COME(name, doc)
#include "cli/verb.def"
#undef AG_VERB
#undef AG_VERB_TO_COME
};
static const char *const to_come[][2] = {
#define AG_VERB(name)
#define AG_VERB_TO_COME(name, doc) {#name, doc},
#include "cli/verb.def"
#undef AG_VERB
#undef AG_VERB_TO_COME
};
enum { MB = 1 << 20, DERIVE_SECONDS = 60 };
enum { N_COMMAND = sizeof commands / sizeof commands[0], N_TO_COME = sizeof to_come / sizeof to_come[0] };

const ag_command *ag_command_at(int i) { return i >= 0 && i < N_COMMAND ? commands[i] : NULL; }

const ag_command *ag_command_find(const char *name) {
  for (int i = 0; i < N_COMMAND; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

const char *ag_verb_to_come(int i, const char **doc) {
  if (i < 0 || i >= N_TO_COME) return NULL;
  if (doc) *doc = to_come[i][1];
  return to_come[i][0];
}

static ag_status print_help(const ag_command *command) {
  ag_text out = {0};
  ag_help_write(command, &out);
  fputs(out.s, stdout);
  ag_text_done(&out);
  return AG_OK;
}

/* A first word that is not a verb: one to come, a misspelt one, or a model. */
static ag_status unknown(const char *word) {
  const char *names[N_COMMAND], *doc;
  for (int i = 0; i < N_COMMAND; i++) names[i] = commands[i]->name;
  for (int i = 0; i < N_TO_COME; i++)
    if (!strcmp(ag_verb_to_come(i, &doc), word)) return ag_usage(NULL, "'%s' is not available yet (%s)", word, doc);
  if (word[0] == '-')
    return ag_usage(NULL, "the verb comes first: anagyre VERB [MODEL] [options]; '%s' is an option", word);
  const char *near = ag_nearest(word, N_COMMAND, names);
  if (near) return ag_usage(NULL, "unknown verb '%s'; did you mean %s?", word, near);
  anagyre_model *m = anagyre_open(word);
  bool model = ag_api_status(m) == AG_OK;
  anagyre_close(m);
  if (model) return ag_usage(NULL, "unknown verb '%s'; it is a model: did you mean `anagyre run %s`?", word, word);
  return ag_usage(NULL, "unknown verb '%s'", word);
}

/* Limits of a command that derives equations: as given, or half of the memory and a minute. */
static void set_limits(const ag_command *c, const ag_common *common) {
  bool derives = false;
  for (int i = 0; i < c->n_option; i++) derives = derives || !strcmp(c->options[i].name, "derive-time");
  if (!derives) return;
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  double half = pages > 0 && size > 0 ? 0.5 * (double)pages * (double)size : 0;
  double bytes = common->memory > 0 ? common->memory * MB : half;
  ag_heap_limit(ag_heap_current(), (size_t)bytes, common->derive_time > 0 ? common->derive_time : DERIVE_SECONDS);
}

static ag_status act(const ag_command *c, int argc, const char *const *argv, void *args) {
  ag_text error = {0};
  ag_common *common = args;
  ag_status status = ag_option_parse(c->n_option, c->options, argc, argv, args, &error);
  if (common->help) status = print_help(c);
  else if (status != AG_OK) status = ag_usage(c->name, "%s", error.s);
  else if (common->n_word < c->min_word) status = ag_usage(c->name, "no %s given", c->words);
  else if (c->max_word >= 0 && common->n_word > c->max_word)
    status = ag_usage(c->name, "unexpected argument '%s'", common->words[c->max_word]);
  else {
    set_limits(c, common);
    status = c->act(args);
  }
  ag_text_done(&error);
  return status;
}

/* Did everything reach standard output? A closed pipe is not an error. */
static ag_status close_output(ag_status status) {
  if (!fflush(stdout) && !ferror(stdout)) return status;
  if (errno == EPIPE) return status;
  fprintf(stderr, "error: cannot write standard output: %s\n", strerror(errno));
  return AG_SYSTEM;
}

typedef struct call {
  int argc;
  const char *const *argv;
  ag_status status;
} call;

static void run_command(void *self) {
  call *x = self;
  const char *verb = x->argc < 2 ? NULL : x->argv[1];
  if (!verb) {
    ag_text out = {0};
    ag_help_write(NULL, &out);
    fputs(out.s, stderr);
    ag_text_done(&out);
    x->status = AG_WRONG;
    return;
  }
  if (!strcmp(verb, "--help") || !strcmp(verb, "-h")) verb = "help";
  if (!strcmp(verb, "--version") || !strcmp(verb, "-V")) verb = "version";
  const ag_command *c = ag_command_find(verb);
  if (!c) {
    x->status = unknown(verb);
    return;
  }
  void *args = ag_heap_alloc(c->size);
  if (c->defaults) c->defaults(args);
  x->status = act(c, x->argc - 2, x->argv + 2, args);
  ag_option_done(args);
  free(args);
}

/* When memory runs out, the message is printed from a buffer on the stack. */
ag_status ag_command_main(int argc, const char *const *argv) {
  call x = {argc, argv, AG_SYSTEM};
  char why[AG_HEAP_WHY] = "out of memory";
  ag_heap *heap = ag_heap_create(NULL);
  if (heap) ag_heap_is_program(heap);
  bool good = heap && ag_heap_try(heap, run_command, &x, why);
  if (!good) {
    if (heap) ag_heap_wipe(heap);
    fprintf(stderr, "error: %s\n", why);
    x.status = AG_SYSTEM;
  }
  ag_heap_close(heap);
  return close_output(x.status);
}
