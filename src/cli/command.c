/* SPDX-License-Identifier: MIT
 * The table of commands, and the way from the command line to one of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/open.h"

static const ag_command *const commands[] = {&ag_command_check, &ag_command_show, &ag_command_emit,
                                             &ag_command_run,   &ag_command_info, &ag_command_test,
                                             &ag_command_list,  &ag_command_help, &ag_command_version};
enum { N_COMMAND = sizeof commands / sizeof commands[0] };

static const char *const later[][2] = {
    {"ensemble", "many stochastic paths"},
    {"conserve", "what is conserved and why"},
    {"stability", "relative equilibria and their spectra"},
    {"reduce", "Chaplygin reduction"},
    {"converge", "measured orders of a method"},
    {"plot", "figures"},
    {"view", "a self-contained page"},
    {"reproduce", "figures and examples of the papers"},
};
enum { N_LATER = sizeof later / sizeof later[0] };

const ag_command *ag_command_at(int i) { return i >= 0 && i < N_COMMAND ? commands[i] : NULL; }

const ag_command *ag_command_find(const char *name) {
  for (int i = 0; i < N_COMMAND; i++)
    if (!strcmp(commands[i]->name, name)) return commands[i];
  return NULL;
}

const char *ag_later_at(int i, const char **doc) {
  if (i < 0 || i >= N_LATER) return NULL;
  if (doc) *doc = later[i][1];
  return later[i][0];
}

static ag_status print_help(const ag_command *command) {
  ag_text out = {0};
  ag_help_write(command, &out);
  fputs(out.s, stdout);
  ag_text_done(&out);
  return AG_OK;
}

/* A first word that is no verb: one to come, a misspelt one, or a model whose verb was forgotten. */
static ag_status unknown(const char *word) {
  const char *names[N_COMMAND], *doc;
  for (int i = 0; i < N_COMMAND; i++) names[i] = commands[i]->name;
  for (int i = 0; i < N_LATER; i++)
    if (!strcmp(ag_later_at(i, &doc), word)) return ag_usage(NULL, "'%s' is not available yet (%s)", word, doc);
  if (word[0] == '-')
    return ag_usage(NULL, "the verb comes first: anagyre VERB [MODEL] [options]; '%s' is an option", word);
  const char *near = ag_nearest(word, N_COMMAND, names);
  if (near) return ag_usage(NULL, "unknown verb '%s'; did you mean %s?", word, near);
  ag_source s;
  bool model = ag_source_read(&s, word) == AG_OK;
  ag_source_done(&s);
  if (model) return ag_usage(NULL, "unknown verb '%s'; it is a model: did you mean `anagyre run %s`?", word, word);
  return ag_usage(NULL, "unknown verb '%s'", word);
}

static ag_status act(const ag_command *c, int argc, const char *const *argv, void *args) {
  ag_text error = {0};
  ag_common *common = args;
  ag_status status = ag_option_parse(c->n_option, c->options, argc, argv, args, &error);
  if (common->help) status = print_help(c);
  else if (status != AG_OK) status = ag_usage(c->name, "%s", error.s);
  else if (common->n_word < c->min_word) status = ag_usage(c->name, "which %s?", c->words);
  else if (c->max_word >= 0 && common->n_word > c->max_word)
    status = ag_usage(c->name, "one word too many: '%s'", common->words[c->max_word]);
  else status = c->act(args);
  ag_text_done(&error);
  return status;
}

/* Did everything reach standard output? A reader that went away is its own business. */
static ag_status close_output(ag_status status) {
  if (!fflush(stdout) && !ferror(stdout)) return status;
  if (errno == EPIPE) return status;
  fprintf(stderr, "error: cannot write standard output: %s\n", strerror(errno));
  return AG_SYSTEM;
}

ag_status ag_command_main(int argc, const char *const *argv) {
  if (argc < 2) {
    ag_text out = {0};
    ag_help_write(NULL, &out);
    fputs(out.s, stderr);
    ag_text_done(&out);
    return AG_WRONG;
  }
  const char *verb = argv[1];
  if (!strcmp(verb, "--help") || !strcmp(verb, "-h")) verb = "help";
  if (!strcmp(verb, "--version") || !strcmp(verb, "-V")) verb = "version";
  const ag_command *c = ag_command_find(verb);
  if (!c) return unknown(verb);
  void *args = ag_heap_alloc(c->size);
  if (c->defaults) c->defaults(args);
  ag_status status = act(c, argc - 2, argv + 2, args);
  ag_option_done(args);
  free(args);
  return close_output(status);
}
