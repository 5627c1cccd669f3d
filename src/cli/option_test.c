/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <float.h>
#include <string.h>

#include "check.h"

typedef struct args {
  ag_common common;
  double t1, h;
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
    {.name = "t1",
     .kind = AG_OPTION_NUMBER,
     .offset = offsetof(args, t1),
     .arg = "TIME",
     .lo = -1e3,
     .hi = 1e3,
     .doc = "end"},
    {.name = "step",
     .kind = AG_OPTION_NUMBER,
     .offset = offsetof(args, h),
     .arg = "H",
     .lo = DBL_MIN,
     .hi = DBL_MAX,
     .preset = "automatic",
     .doc = "step"},
    {.name = "count",
     .kind = AG_OPTION_WHOLE,
     .offset = offsetof(args, n),
     .arg = "N",
     .lo = 1,
     .hi = 100,
     .doc = "how many"},
    {.name = "output",
     .letter = 'o',
     .kind = AG_OPTION_TEXT,
     .offset = offsetof(args, file),
     .arg = "FILE",
     .doc = "file"},
    {.name = "colour",
     .kind = AG_OPTION_CHOICE,
     .offset = offsetof(args, colour),
     .arg = "NAME",
     .choice = colour,
     .doc = "paint"},
    {.name = "flag", .kind = AG_OPTION_FLAG, .offset = offsetof(args, flag), .doc = "a flag"},
    {.name = "threads", .kind = AG_OPTION_LATER, .doc = "one thread"},
    AG_SET_ROW(args),
    AG_COMMON_ROWS(args),
};
enum { N = sizeof table / sizeof table[0] };

/* Parses a line split at blanks; the message, or "" when it was accepted. */
static const char *parse(const char *line, args *a) {
  static char words[500], message[500];
  const char *argv[30];
  int argc = 0;
  snprintf(words, sizeof words, "%s", line);
  for (char *w = strtok(words, " "); w && argc < 30; w = strtok(NULL, " ")) argv[argc++] = w;
  ag_text error = {0};
  ag_option_done(&a->common);
  *a = (args){.t1 = 10, .n = 3};
  ag_status status = ag_option_parse(N, table, argc, argv, a, &error);
  AG_CHECK((status == AG_OK) == (error.n == 0));
  snprintf(message, sizeof message, "%s", ag_text_cstr(&error));
  ag_text_done(&error);
  return message;
}

static void accepts(args *a) {
  AG_CHECK_STR(parse("model --t1 -5 --step=1e-3 --count 7 -o x.csv --colour blue --flag", a), "");
  AG_CHECK(a->t1 == -5 && a->h == 1e-3 && a->n == 7 && a->colour == 2 && a->flag);
  AG_CHECK_STR(a->file, "x.csv");
  AG_CHECK(a->common.n_word == 1 && !strcmp(a->common.words[0], "model"));
  AG_CHECK(ag_option_given(N, table, &a->common, "t1") && !ag_option_given(N, table, &a->common, "json"));
  AG_CHECK_STR(parse("--set a=1 --set=x'[2]=b==c m --t1=2*pi", a), "");
  AG_CHECK(a->common.changes.n_set == 2);
  AG_CHECK_STR(a->common.changes.sets[0].name, "a");
  AG_CHECK_STR(a->common.changes.sets[1].name, "x'[2]");
  AG_CHECK_STR(a->common.changes.sets[1].value, "b==c");
  AG_CHECK_NEAR(a->t1, 6.283185307179586, 1e-15);
  AG_CHECK_STR(parse("- -- --t1 -o", a), ""); /* after -- all are words, and - is one */
  AG_CHECK(a->common.n_word == 3);
  AG_CHECK_STR(parse("--t1 1 --flag --flag -h", a), "");
  AG_CHECK(a->t1 == 1 && a->common.help && a->flag);
  AG_CHECK_STR(parse("--t1 sqrt(2) --step 2*sin(pi/6)^2 --count hypot(3,4)", a), "");
  AG_CHECK(a->t1 == sqrt(2) && a->n == 5);
  static const char *const bundles[] = {"-ho x.csv", "-hox.csv", "-ho=x.csv", "-o x.csv -h", "-ox.csv -h"};
  for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++) {
    AG_CHECK_STR(parse(bundles[i], a), "");
    AG_CHECK(a->common.help && a->file && !strcmp(a->file, "x.csv"));
  }
}

static void refuses(args *a) {
  AG_CHECK_STR(parse("--clour red", a), "unknown option --clour; did you mean --colour?");
  AG_CHECK_STR(parse("--qqqqqqq", a), "unknown option --qqqqqqq");
  AG_CHECK_STR(parse("-x", a), "unknown option -x");
  AG_CHECK_STR(parse("-hx", a), "unknown option -hx");
  AG_CHECK_STR(parse("-output x.csv", a), "unknown option -output; did you mean --output?");
  AG_CHECK_STR(parse("-ho", a), "--output needs a value: --output FILE");
  AG_CHECK_STR(parse("-h=1", a), "unknown option -h=1");
  AG_CHECK_STR(parse("--t1 1 --t1 2", a), "--t1 is given twice: '1' and '2'");
  AG_CHECK_STR(parse("-o a.h5 --output=b.csv", a), "--output is given twice: 'a.h5' and 'b.csv'");
  AG_CHECK_STR(parse("--colour red --colour red", a), "--colour is given twice: 'red' and 'red'");
  AG_CHECK_STR(parse("--count 1 --count=1", a), "--count is given twice: '1' and '1'");
  AG_CHECK_STR(parse("--set a=1\n2", a), "--set: the value 'a=1\n2' contains a line break");
  AG_CHECK_STR(parse("--t1 1\t", a), "--t1: the value '1\t' contains a control character");
  AG_CHECK_STR(parse("--t1 20deg", a),
               "--t1 needs a finite number such as 0.5, 1e-3 or 2*pi, not '20deg': `20deg`: there "
               "is no implicit product, write `20*deg`");
  AG_CHECK_STR(parse("--t1", a), "--t1 needs a value: --t1 TIME");
  AG_CHECK_STR(parse("--t1 --flag", a), "--t1 needs a value: --t1 TIME");
  AG_CHECK_STR(parse("--t1 abc", a),
               "--t1 needs a finite number such as 0.5, 1e-3 or 2*pi, not 'abc': unknown name `abc`");
  AG_CHECK_STR(parse("--t1=", a),
               "--t1 needs a finite number such as 0.5, 1e-3 or 2*pi, not '': expected an expression, "
               "found the end of the statement");
  AG_CHECK_STR(parse("--t1 1e4", a), "--t1 must be at least -1000 and at most 1000, not 1e4");
  AG_CHECK_STR(parse("--step 0", a), "--step must be positive, not 0");
  AG_CHECK_STR(parse("--step -1", a), "--step must be positive, not -1");
  AG_CHECK_STR(parse("--count 2.5", a), "--count needs a whole number, not '2.5'");
  AG_CHECK_STR(parse("--count 0", a), "--count must be at least 1 and at most 100, not 0");
  AG_CHECK_STR(parse("--colour bleu", a),
               "--colour does not know 'bleu'; did you mean blue? (there are: red green blue)");
  AG_CHECK_STR(parse("--flag=1", a), "--flag takes no value");
  AG_CHECK_STR(parse("--output=", a), "--output needs a nonempty value");
  AG_CHECK_STR(parse("--threads 4", a), "--threads is not available yet: one thread");
  AG_CHECK_STR(parse("--set a", a), "--set needs NAME=VALUE, not 'a'");
  AG_CHECK_STR(parse("--set =1", a), "--set needs NAME=VALUE, not '=1'");
  AG_CHECK_STR(parse("--set a=", a), "--set needs NAME=VALUE, not 'a='");
}

int main(void) {
  args a = {0};
  accepts(&a);
  refuses(&a);
  ag_option_done(&a.common);
  ag_text help = {0};
  ag_option_write(N, table, &(args){.t1 = 10, .n = 3, .colour = 1}, &help);
  AG_CHECK(strstr(help.s, "  --t1 TIME             end (default 10)\n"));
  AG_CHECK(strstr(help.s, "step (default automatic)\n"));
  AG_CHECK(strstr(help.s, "paint (default green)\n"));
  AG_CHECK(strstr(help.s, "  -o, --output FILE     file\n"));
  AG_CHECK(!strstr(help.s, "threads"));
  ag_text_done(&help);
  return ag_check_report();
}
