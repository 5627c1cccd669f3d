/* SPDX-License-Identifier: MIT
 * `anagyre help`: printed from the tables of the commands. Topics belong to no command. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"

typedef struct args {
  ag_common common;
} args;

static const ag_option options[] = {AG_COMMON_ROWS(args)};

typedef struct topic {
  const char *name, *doc, *text;
} topic;

static const topic topics[] = {
    {"models", "how MODEL is found",
     "MODEL is one of\n"
     "  - the name of a shipped model, such as rattleback (`anagyre list models`);\n"
     "  - the path of a file: anything with a slash or ending in .nh;\n"
     "  - `-`, standard input.\n"
     "Shipped models are searched for in the folders of the variable ANAGYRE_MODELS (separated by\n"
     "colons), in the source tree the program was built from, where it was installed to, and in\n"
     "../share/anagyre/models beside the program. A model file is text of at most 1 MiB; it is\n"
     "data and cannot reach files, commands or C code.\n"},
    {"language", "the model language in one screen",
     "A statement starts in column 1; indented lines continue it; # starts a comment.\n"
     "\n"
     "  model sleigh \"Chaplygin sleigh\"\n"
     "  param m = 1, a = 0.3, J = 0.1           # numbers, vectors, matrices; may use earlier ones\n"
     "  config x in R, y in R, phi in S1        # R^n, S2 and SO3 too: config R in SO3 velocity Omega\n"
     "  let c = [x + a*cos(phi), y + a*sin(phi)]\n"
     "  lagrangian m/2*dot(c', c') + J/2*phi'^2 # x' is a velocity, the prime of an expression its time derivative\n"
     "  constraint -x'*sin(phi) + y'*cos(phi) = 0\n"
     "  observable speed = x'*cos(phi) + y'*sin(phi)\n"
     "  event turned: phi = pi/2 rising         # also: falling, terminal\n"
     "  start x' = 0.1, phi' = 2                # the rest follows from the constraints\n"
     "  expect energy constant within 1e-10 over 20\n"
     "\n"
     "Rolling bodies without contact geometry by hand:\n"
     "\n"
     "  model coin \"A coin on a table\"\n"
     "  param m = 1, r = 0.5\n"
     "  body coin mass m inertia m*r^2/4*diag(1, 1, 2) surface disk(r)\n"
     "  roll coin on plane gravity 9.81         # rubber: no twist; inside sphere(A), on another body, ...\n"
     "  start coin.theta = 1.2, coin.psi' = 3   # Euler angles; also coin.R, coin.Omega, coin.x\n"
     "\n"
     "Other statements: holonomic (also joints: ball, hinge), relation, prescribe, force, frame,\n"
     "domain, section, generator, reference. The whole language: docs/language.md. All words:\n"
     "`anagyre list words`.\n"},
    {"output", "the JSON, CSV and HDF5 output",
     "--json prints one object on standard output; messages stay on standard error. Numbers are\n"
     "as short as read back exactly; NaN and infinity are null. `run` prints {\"model\", \"t\", \"state\": {name: "
     "number or\n"
     "array}, \"observables\", \"energy\", \"constraint_residual\", \"steps\", \"rejected\", \"end\",\n"
     "\"events\": {name: [times]}, ...}: final values, velocities under their names (x', Omega),\n"
     "rotations as three rows, members of a family as x[1], x[2], ... With --series there is also\n"
     "\"series\": {name: [values over time]}. \"warnings\": [{\"severity\", \"message\", \"file\",\n"
     "\"line\", \"column\"}] holds all notes and warnings, such as that the start had to be moved;\n"
     "\"files\": [{\"path\", \"bytes\"}] what was written.\n"
     "\"why\" is the reason of a failure, \"left_domain\" where a motion left its domain.\n"
     "\n"
     "When a model is refused the object is {\"model\", \"error\", \"diagnostics\"}.\n"
     "\n"
     "A .csv file has one header row (t, x[1], x'[1], \"R[1,2]\", observables, energy,\n"
     "constraint_residual) and one row per recorded time. It is written while the run goes on, in\n"
     "whole rows. `-o -` writes it to standard output; the summary then goes to standard error.\n"
     "Numbers are as short as read back exactly; `nan` and `inf` are written as such. A .json file is the object of "
     "`run --json --series`.\n"
     "\n"
     "A .h5 file (HDF5) has one dataset per quantity: /t, /state/x, /velocity/x', /observables/...,\n"
     "/energy, /constraint_residual, /events/..., and the model, its parameters and the options. It is\n"
     "readable at any moment of the run, also when the run is killed: `anagyre info FILE` shows what\n"
     "is inside, `anagyre run --from FILE` continues it. Reference: docs/results.md.\n"
     "\n"
     "With --section: \"section\": {\"name\", \"direction\", \"crossings\", \"points\": {column: [value at\n"
     "each crossing]}}; the rows of a file are the crossings.\n"
     "\n"
     "Many runs (--sweep, --starts): {\"model\", \"members\", \"failed\", \"sweep\": {name: [values]},\n"
     "\"end\", \"t\", \"steps\": one entry per member, \"columns\": {name: [final values]}, \"failures\":\n"
     "[{\"member\", \"reason\", \"t\"}], \"trajectories_per_second\", ...}; members count from 1. The .csv\n"
     "file has one row per member: swept values (start values as \"start x\"), end, t, steps, columns.\n"
     "With --section: \"section\": {\"name\", \"direction\", \"crossings\": [per member], \"points\": {\"member\",\n"
     "\"t\", column: one entry per crossing}}, \"off_level\"; the .csv file has one row per crossing.\n"},
    {"exit-codes", "what the exit code means",
     "  0  done\n"
     "  1  the computation failed or was interrupted, or an expectation does not hold\n"
     "  2  wrong usage or a wrong model\n"
     "  3  file or system error\n"},
};
enum { N_TOPIC = sizeof topics / sizeof topics[0], MAX_NAMES = 64 };

const char *ag_help_topic(int i, const char **doc) {
  if (i < 0 || i >= N_TOPIC) return NULL;
  *doc = topics[i].doc;
  return topics[i].name;
}

ag_status ag_usage(const char *verb, const char *format, ...) {
  va_list list;
  char message[4096];
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  ag_output_tell("anagyre%s%s: %s", verb ? " " : "", verb ? verb : "", message);
  fprintf(stderr, "Try `anagyre help%s%s`.\n", verb ? " " : "", verb ? verb : "");
  return AG_WRONG;
}

static void write_overview(ag_text *out) {
  ag_text_str(out, "Anagyre, a laboratory for nonholonomic mechanics.\n\nusage: anagyre VERB [MODEL] [options]\n\n");
  for (int i = 0; ag_command_at(i); i++)
    ag_text_printf(out, "  %-10s  %s\n", ag_command_at(i)->name, ag_command_at(i)->doc);
  ag_text_str(out, "\n`anagyre help VERB` describes a verb. Topics:\n\n");
  for (int i = 0; i < N_TOPIC; i++) ag_text_printf(out, "  help %-10s  %s\n", topics[i].name, topics[i].doc);
  ag_text_str(out, "\nFirst steps:\n\n"
                   "    anagyre list                     models and methods\n"
                   "    anagyre run rattleback --t1 100  a stone that reverses its spin\n"
                   "    anagyre show chaplygin_sleigh    the equations of a sleigh on a blade\n\n"
                   "Verbs to come:");
  for (int i = 0; ag_verb_to_come(i, NULL); i++) ag_text_printf(out, "%s %s", i ? "," : "", ag_verb_to_come(i, NULL));
  ag_text_char(out, '\n');
}

void ag_help_write(const ag_command *c, ag_text *out) {
  if (!c) {
    write_overview(out);
    return;
  }
  ag_text_printf(out, "anagyre %s: %s\n\nusage: anagyre %s%s%s [options]\n\n%s\n", c->name, c->doc, c->name,
                 *c->words ? " " : "", c->words, c->text);
  void *args_ = ag_heap_alloc(c->size);
  if (c->defaults) c->defaults(args_);
  ag_option_write(c->n_option, c->options, args_, out);
  free(args_);
  if (c->examples && *c->examples) ag_text_printf(out, "\nexamples:\n%s", c->examples);
}

static ag_status unknown(const char *word) {
  const char *names[MAX_NAMES];
  int n = 0;
  for (int i = 0; ag_command_at(i); i++) names[n++] = ag_command_at(i)->name;
  for (int i = 0; i < N_TOPIC; i++) names[n++] = topics[i].name;
  const char *doc;
  for (int i = 0; ag_verb_to_come(i, NULL); i++)
    if (!strcmp(ag_verb_to_come(i, &doc), word)) return ag_usage(NULL, "'%s' is not available yet (%s)", word, doc);
  const char *near = ag_nearest(word, n, names);
  return ag_usage(NULL, "there is no help on '%s'%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
                  near ? "?" : "");
}

static ag_status act(void *self) {
  const args *a = self;
  const char *word = a->common.n_word ? a->common.words[0] : NULL;
  const ag_command *command = word ? ag_command_find(word) : NULL;
  const topic *t = NULL;
  for (int i = 0; word && !command && i < N_TOPIC; i++)
    if (!strcmp(topics[i].name, word)) t = &topics[i];
  if (word && !command && !t) return unknown(word);
  ag_text out = {0};
  if (t) ag_text_str(&out, t->text);
  else ag_help_write(command, &out);
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "topic", word ? word : "help");
    ag_json_string(&j, "text", out.s);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else fputs(out.s, stdout);
  ag_text_done(&out);
  return AG_OK;
}

const ag_command ag_command_help = {
    .name = "help",
    .words = "[VERB | TOPIC]",
    .doc = "this overview, a verb in full, or a topic",
    .text = "Topics: models, language, output, exit-codes.\n",
    .examples = "  anagyre help run\n"
                "  anagyre help language\n",
    AG_COMMAND(0, 1),
};
