/* SPDX-License-Identifier: MIT
 * Fuzz target: a command line, its words separated by newlines, for a table with every kind of option. It is read, or
 * refused with a message; numbers are finite and in range, words are those of the line. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cli/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 40 };

typedef struct args {
  ag_common common;
  double t1, dt;
  long n;
  const char *file;
  int colour;
  bool flag;
} args;

static const char *colour(int i) {
  static const char *const names[] = {"red", "green", "blue"};
  return i < 3 ? names[i] : NULL;
}

static const ag_option table[] = {
    AG_OPTION(args, "t1", NUMBER, t1, .arg = "TIME", .lo = -1e3, .hi = 1e3, .doc = "end"),
    AG_OPTION(args, "dt", NUMBER, dt, .arg = "H", .lo = DBL_MIN, .hi = DBL_MAX, .doc = "step"),
    AG_OPTION(args, "count", WHOLE, n, .arg = "N", .lo = 1, .hi = 100, .doc = "how many"),
    AG_OPTION(args, "output", TEXT, file, .letter = 'o', .arg = "FILE", .doc = "file"),
    AG_OPTION(args, "colour", CHOICE, colour, .arg = "NAME", .choice = colour, .doc = "paint"),
    AG_OPTION(args, "flag", FLAG, flag, .letter = 'f', .doc = "a flag"),
    AG_OPTION(args, "sweep", LIST, common.sweeps, .arg = "NAME=LO:HI:N", .doc = "many"),
    {.name = "later", .kind = AG_OPTION_LATER, .doc = "to come"},
    AG_SET_ROW(args),
    AG_COMMON_ROWS(args),
};
enum { N = sizeof table / sizeof table[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  const char *argv[MAX_WORDS];
  int argc = 0;
  for (char *word = text; word && argc < MAX_WORDS;) {
    char *end = strchr(word, '\n');
    if (end) *end = 0;
    argv[argc++] = word;
    word = end ? end + 1 : NULL;
  }
  args a = {.t1 = 10, .dt = 1, .n = 3};
  ag_text error = {0};
  ag_status status = ag_option_parse(N, table, argc, argv, &a, &error);
  AG_ASSERT((status == AG_OK) == (error.n == 0));
  AG_ASSERT(status == AG_OK || status == AG_WRONG);
  if (status == AG_OK) {
    AG_ASSERT(a.t1 >= -1e3 && a.t1 <= 1e3 && a.dt > 0 && isfinite(a.dt) && a.n >= 1 && a.n <= 100);
    AG_ASSERT(a.colour >= 0 && a.colour < 3 && (!a.file || *a.file));
    AG_ASSERT(a.common.n_word + a.common.changes.n_set <= argc);
  }
  ag_text_done(&error);
  ag_option_done(&a.common);
  free(text);
  return 0;
}
