/* SPDX-License-Identifier: MIT
 * Options of the command line: one table per command, one parser. A table gives parsing, range checks, suggestions for
 * a misspelt name and the text of `help`. Defaults are the values in the struct before parsing. */
#ifndef AG_CLI_OPTION_H
#define AG_CLI_OPTION_H
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "study/study.h"

/* Changes to a model. */
typedef struct ag_changes {
  int n_set;
  ag_set *sets;        /* --set, in order */
  const char *end_at;  /* --end-at: names of events, comma-separated; or NULL */
  const char *drivers; /* --driver: as anagyre_drive takes them; or NULL */
} ag_changes;

/* What every argument struct begins with. */
typedef struct ag_common {
  int n_word;
  ag_changes changes; /* --set and --end-at */
  ag_list sweeps;     /* --sweep, in order */
  ag_list levels;     /* --level, in order */
  const char **words; /* positional arguments */
  bool json, quiet, help;
  double memory, derive_time; /* MB and seconds that may be used; 0: the usual ones */
  uint64_t given;             /* bit i: option i of the table was on the command line */
} ag_common;

/* How a command that draws runs its models (AG_MOTION_ROWS). */
typedef struct ag_motion_args {
  double t0, t1, rtol, dt;
  const char *method; /* NULL: chosen */
  long seed, path;    /* < 0: not given */
  long max_steps;     /* 0: the usual number */
  int noise;          /* of ag_option_noise */
} ag_motion_args;

typedef enum ag_option_kind {
  AG_OPTION_FLAG,   /* bool */
  AG_OPTION_NUMBER, /* double, a constant expression */
  AG_OPTION_WHOLE,  /* long */
  AG_OPTION_TEXT,   /* const char * */
  AG_OPTION_CHOICE, /* int, an index of choice() */
  AG_OPTION_SET,    /* name=value, appended to ag_common.sets */
  AG_OPTION_LIST,   /* ag_list, one of ag_common: every value in order */
  AG_OPTION_LATER   /* known, and refused by name until it means something */
} ag_option_kind;

typedef struct ag_option {
  const char *name; /* without dashes */
  char letter;      /* short form, or 0 */
  ag_option_kind kind;
  size_t offset;                /* of the field in the argument struct */
  const char *arg;              /* what help calls the value, NULL for a flag */
  double lo, hi;                /* range of a number, both ends allowed; DBL_MIN as lo means positive */
  const char *(*choice)(int i); /* NULL past the end */
  const char *preset;           /* what help says about the default; NULL: the value itself, "" nothing */
  const char *doc;              /* one line */
} ag_option;

/* clang-format off */
/* A row of the table of a command with argument struct T; the rows that several commands have. */
#define AG_OPTION(T, option, what, member, ...) \
  {.name = option, .kind = AG_OPTION_##what, .offset = offsetof(T, member), __VA_ARGS__}
#define AG_SET_ROW(T) \
  {.name = "set", .kind = AG_OPTION_SET, .arg = "NAME=VALUE", .preset = "", \
   .doc = "change a parameter or a start value (repeat it for more): --set m=2 --set \"phi'=0.1\""}
#define AG_QUIET_ROW(T) AG_OPTION(T, "quiet", FLAG, common.quiet, .letter = 'q', .doc = "no progress line and no notes; warnings stay")
/* Of commands that draw files or models: how a model is run. The struct has an ag_motion_args called motion. */
#define AG_MOTION_ROWS(T) \
  AG_OPTION(T, "t0", NUMBER, motion.t0, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "for a model: start time"), \
  AG_OPTION(T, "t1", NUMBER, motion.t1, .arg = "TIME", .lo = -1e15, .hi = 1e15, .doc = "for a model: end time"), \
  AG_OPTION(T, "rtol", NUMBER, motion.rtol, .arg = "TOL", .lo = 1e-14, .hi = 0.1, \
            .doc = "for a model: tolerance of a step"), \
  AG_OPTION(T, "dt", NUMBER, motion.dt, .arg = "STEP", .lo = DBL_MIN, .hi = DBL_MAX, .preset = "chosen by the error", \
            .doc = "for a model: fixed step size"), \
  AG_OPTION(T, "max-steps", WHOLE, motion.max_steps, .arg = "N", .lo = 1, .hi = 1e15, .preset = "ten million", \
            .doc = "for a model: give up after this many steps"), \
  AG_OPTION(T, "method", TEXT, motion.method, .arg = "METHOD", .preset = "chosen, as by run", \
            .doc = "for a model: the integrator"), \
  AG_OPTION(T, "seed", WHOLE, motion.seed, .arg = "S", .lo = 0, .hi = 9007199254740992.0, .preset = "none", \
            .doc = "for a model with noise: one path, with fixed steps (--dt)"), \
  AG_OPTION(T, "path", WHOLE, motion.path, .arg = "K", .lo = 0, .hi = 281474976710655.0, .preset = "0", \
            .doc = "with --seed: which path"), \
  AG_OPTION(T, "noise", CHOICE, motion.noise, .arg = "NAME", .choice = ag_option_noise, \
            .doc = "for a model with noise: off runs it without noise")
#define AG_BUDGET_ROWS(T) \
  AG_OPTION(T, "memory", NUMBER, common.memory, .arg = "MB", .lo = 1, .hi = 1e9, .preset = "half of the machine's", \
            .doc = "end with a message if more memory is needed"), \
  AG_OPTION(T, "derive-time", NUMBER, common.derive_time, .arg = "SECONDS", .lo = DBL_MIN, .hi = 1e9, .preset = "60", \
            .doc = "end with a message if deriving the equations takes more processor time")
#define AG_COMMON_ROWS(T) \
  AG_OPTION(T, "json", FLAG, common.json, .doc = "print one JSON object on standard output and nothing else"), \
  AG_OPTION(T, "help", FLAG, common.help, .letter = 'h', .doc = "print this help")
/* clang-format on */

/* Reads argv into args (an argument struct holding the defaults). Wrong use: the message is added to `error` and
 * AG_WRONG returned. Strings are not copied. */
AG_MUST_USE ag_status ag_option_parse(int n_option, const ag_option *options, int argc, const char *const *argv,
                                      void *args, ag_text *error);
void ag_option_set(ag_common *common, const char *name, const char *value); /* as --set would; copied */
void ag_option_done(ag_common *common);
/* Was the option of that name on the command line? (The name must be in the table.) */
bool ag_option_given(int n_option, const ag_option *options, const ag_common *common, const char *name);
/* The choices of --noise: NULL past the end. */
const char *ag_option_noise(int i);
/* The table as aligned lines; args: a struct holding the defaults. */
void ag_option_write(int n_option, const ag_option *options, const void *args, ag_text *out);
#endif
