/* SPDX-License-Identifier: MIT
 * allocation_test FOLDER [all]: every command and every call of the library with its n-th allocation failing, n = 1, 2,
 * ... Commands run in a child process: exit code 3 with the message, or what the command says without a fault; files
 * readable afterwards. Under the address sanitizer a block that is lost fails the child. Of commands with many
 * allocations only some of n are tried, unless `all` is given. */
#include "api/anagyre.h"
#include "base/heap.h"
#include "check.h"
#include "fault/fault.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { TRIES = 8, FIRST = 3 }; /* a child takes a second */
/* Numbers of FLINT hold blocks of its own, which end with the process. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void); /* NOLINT: its name */
const char *__lsan_default_suppressions(void) {                                       /* NOLINT */
  return "leak:libflint\nleak:libarb\nleak:libgmp\n";
}
#else
enum { TRIES = 40, FIRST = 10 };
#endif

static bool every;

/* ---- commands ---- */

static const command commands[] = {
    {.words = {"version"}},
    {.words = {"list"}},
    {.words = {"help", "run"}},
    {.words = {"check", "skate.nh"}},
    {.words = {"check", "skate.nh", "--json"}},
    {.words = {"check", "wrong.nh"}},
    {.words = {"show", "skate.nh"}},
    {.words = {"show", "skate.nh", "--latex", "--standalone"}},
    {.words = {"show", "noisy.nh", "--rates"}},
    {.words = {"emit", "skate.nh", "--main"}},
    {.words = {"completion", "bash"}},
    {.words = {"test", "skate.nh"}},
    {.words = {"run", "skate.nh", "--t1", "2"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--engine", "compiled"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--json", "--series"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--every", "0.1", "-o", "one.csv"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--every", "0.1", "-o", "one.h5"}, .writes = "one.h5"},
    {.words = {"info", "one.h5"}, .writes = "one.h5"},
    {.words = {"run", "--from", "one.h5", "--t1", "3", "-o", "two.h5"}, .writes = "two.h5"},
    {.words = {"run", "skate.nh", "--t1", "20", "--section", "ahead", "-o", "points.csv"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--sweep", "a=1:3:20", "-o", "many.csv"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--sweep", "a=1:3:20", "--engine", "interpreted", "--threads", "2", "-o",
               "many.h5"},
     .writes = "many.h5"},
    {.words = {"run", "skate.nh", "--t1", "20", "--sweep", "a=1:3:4", "--section", "ahead", "-o", "points.h5"}},
    {.words = {"run", "skate.nh", "--t1", "2", "--level", "energy=1", "--solve", "phi'", "--json"}},
    {.words = {"conserve", "skate.nh", "--degree", "1"}},
    {.words = {"converge", "skate.nh", "--t1", "0.3", "--method", "rk4", "-o", "runs.csv"}},
    {.words = {"ensemble", "noisy.nh", "--paths", "20", "--dt", "0.1", "--t1", "1", "--threads", "2", "--engine",
               "interpreted", "--extrapolate", "-o", "paths.h5"},
     .writes = "paths.h5"},
    {.words = {"ensemble", "noisy.nh", "--sweep", "x=1:2:2", "--paths", "4", "--dt", "0.1", "--t1", "1", "--engine",
               "interpreted", "-o", "sweep.csv"}},
    {.words = {"ensemble", "noisy.nh", "--paths", "4", "--dt", "0.1", "--t1", "1", "--engine", "interpreted",
               "--chosen", "0:1", "--covariances", "--correlations", "--passage", "x=0.5", "--json"}},
    {.words = {"converge", "noisy.nh", "--t1", "0.5", "--method", "euler_heun", "--paths", "64", "-o", "runs.csv"}},
    {.words = {"plot", "paths.h5", "--histogram", "--term"}},
    {.words = {"plot", "many.h5", "--term"}},
    {.words = {"plot", "runs.csv", "--term"}},
    {.words = {"ensemble", "noisy.nh", "--path", "3", "--dt", "0.1", "--t1", "1", "-o", "path.csv"}},
    {.words = {"ensemble", "noisy.nh", "--target", "x=1", "--paths", "20", "--dt", "0.5", "--t1", "1", "--threads", "2",
               "--engine", "interpreted"}},
    {.words = {"plot", "one.h5", "--term"}},
    {.words = {"plot", "one.csv", "--term"}},
    {.words = {"plot", "one.h5", "-o", "one.svg"}},
    {.words = {"view", "one.h5", "-o", "one.html"}},
    {.words = {"view", "skate.nh", "--t1", "1", "-o", "skate.html"}},
    {.words = {"conserve", "skate.nh", "--no-search", "--confirm", "1", "-o", "confirmed.csv"}},
    {.words = {"ensemble", "noisy.nh", "--paths", "40", "--dt", "0.1", "--t1", "1", "--threads", "1", "--engine",
               "interpreted", "--extrapolate", "--from", "paths.h5", "-o", "more.h5"},
     .writes = "more.h5"},
    {.words = {"run", "rattleback", "--t1", "1"}},
    {.words = {"check", "rattleback"}},
};

static void try_command(const command *c) {
  char text[4096];
  int good = code_of(c->words, 0, "good.out", "good.err");
  long count = HUGE_COUNT - *left, step = every ? 1 : count / TRIES + 1;
  if (without_page(c, good)) return;
  bool wrong = !strcmp(c->words[1] ? c->words[1] : "", "wrong.nh");
  AG_CHECK(good == (wrong ? 2 : 0));
  read_text("good.err", text, sizeof text);
  if (good != (wrong ? 2 : 0)) complain(c, "no allocation", 0, good, text);
  int failed = 0;
  for (long n = 1; n <= count; n += n < FIRST ? 1 : step) {
    int code = code_of(c->words, n, "bad.out", "bad.err");
    read_text("bad.err", text, sizeof text);
    bool reached = *left <= 0; /* threads may share the work otherwise than before */
    bool told = strstr(text, "error: out of memory (asked for "), in_child = strstr(text, "Cannot allocate memory");
    bool right = code == 3 && (told || in_child); /* in this process, or in the one that works with HDF5 */
    right = right || (!reached && code == good);
    if (right && !readable(c)) right = false;
    AG_CHECK(right);
    failed += reached;
    if (!right) complain(c, "allocation", n, code, text);
  }
  AG_CHECK(failed > 0);
  if (c->writes) AG_CHECK(code_of(c->words, 0, "good.out", "good.err") == good); /* later commands read the file */
}

/* ---- calls of the library ---- */

/* Everything that can be asked; a wrong answer, or no reason where there is none, is a failure. */
static bool use_library(bool *complete) {
  static const char *const names[] = {"a"};
  static const double values[] = {1, 2, 3};
  bool right = true;
  *complete = false;
  anagyre_model *m = anagyre_open_text("skate.nh", MODEL);
  if (!m) return !strcmp(anagyre_error(m), "error: out of memory\n");
  anagyre_set(m, "omega", "2*1.5");
  anagyre_set_number(m, "m", 2);
  anagyre_end_at(m, "top");
  (void)anagyre_notes(m);
  bool asked = !anagyre_error(m) && anagyre_item(m, ANAGYRE_EVENT, 0);
  anagyre_array a = anagyre_value(m, "a");
  anagyre_options o = anagyre_defaults();
  o.every = 0.1;
  anagyre_motion *r = anagyre_run(m, &o);
  const char *why = r ? NULL : anagyre_error(m);
  right = right && (r || (why && !strncmp(why, "error: out of memory", 20)));
  anagyre_options ends = o;
  ends.every = 0; /* of each member its end */
  anagyre_batch *b = anagyre_run_many(m, 3, 1, names, values, &ends);
  why = b ? NULL : anagyre_error(m);
  right = right && (b || (why && !strncmp(why, "error: out of memory", 20)));
  anagyre_motion *again = anagyre_run(m, &o); /* with memory again it works, unless the text was being changed */
  if (again && r) {
    anagyre_array t = anagyre_motion_column(r, "x"), u = anagyre_motion_column(again, "x");
    right = right && t.n == u.n && !memcmp(t.data, u.data, sizeof(double) * (size_t)(t.n * t.stride));
  }
  anagyre_close(m);
  if (r) right = right && !strcmp(anagyre_motion_end(r), "event") && !strcmp(anagyre_motion_end_event(r), "top");
  if (b) right = right && anagyre_batch_column(b, "energy").n == 3 && anagyre_batch_n_failed(b) == 0;
  *complete = asked && a.data && r && b && again;
  anagyre_motion_free(r);
  anagyre_motion_free(again);
  anagyre_batch_free(b);
  return right;
}

static void try_library(void) {
  bool complete;
  ag_heap_fail_at(HUGE_COUNT);
  AG_CHECK(use_library(&complete) && complete);
  long count = HUGE_COUNT - ag_heap_fail_at(0), step = every ? 1 : count / (10 * TRIES) + 1, rest = 0;
  AG_CHECK(count > 100);
  for (long n = 1; n <= count; n += n < 10 * FIRST ? 1 : step) {
    ag_heap_fail_at(n);
    bool right = use_library(&complete);
    rest = ag_heap_fail_at(0);
    AG_CHECK(right && (rest > 0 || !complete));
    if (!right) fprintf(stderr, "library: allocation %ld fails\n", n);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  every = argc > 2 && !strcmp(argv[2], "all");
  if (!prepare(argv[1], ag_heap_fail_at)) return 2;
  try_library();
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) try_command(&commands[i]);
  return ag_check_report();
}
