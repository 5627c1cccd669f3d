/* SPDX-License-Identifier: MIT
 * The program: front header of cli/. A command is a constant row: name, option table, what `help` prints, what it does.
 * Only cli/ prints, reads files and turns a status into an exit code. */
#ifndef AG_CLI_CLI_H
#define AG_CLI_CLI_H
#include "base/status.h"
#include "cli/option.h"

typedef struct ag_command {
  const char *name;
  const char *words;                /* the positional arguments as help shows them: "MODEL" */
  const char *doc;                  /* one line */
  const char *text, *examples;      /* paragraphs and sample calls, for `help NAME` */
  size_t size;                      /* of its argument struct, which begins with an ag_common */
  void (*defaults)(void *args);     /* fills a zeroed struct; may be NULL */
  int n_option, min_word, max_word; /* max_word < 0: any number */
  const ag_option *options;
  ag_status (*act)(void *args);
} ag_command;

/* The fields of a command that come from its file: the struct `args`, the table `options`, the function `act`; and how
 * many words it takes. */
#define AG_COMMAND(min, max) \
  .size = sizeof(args), .n_option = sizeof options / sizeof options[0], .options = options, .min_word = (min), \
  .max_word = (max), .act = act

#define AG_VERB(name) extern const ag_command ag_command_##name;
#define AG_VERB_TO_COME(name, doc)
#include "cli/verb.def"
#undef AG_VERB
#undef AG_VERB_TO_COME

/* All commands in the order of `help`; NULL past the end. */
const ag_command *ag_command_at(int i);
const ag_command *ag_command_find(const char *name); /* NULL when unknown */
/* Verbs to come, with what they will do; NULL past the end. */
const char *ag_verb_to_come(int i, const char **doc);

/* From the command line to a status, which is the exit code. */
ag_status ag_command_main(int argc, const char *const *argv);

/* Prints `help` (command NULL) or the help of one command to a text. */
void ag_help_write(const ag_command *command, ag_text *out);

/* The topics of `help` that are not verbs; NULL past the end. */
const char *ag_help_topic(int i, const char **doc);

/* Prints a usage error "anagyre VERB: ..." with the hint where to read on, and returns AG_WRONG. */
ag_status ag_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
