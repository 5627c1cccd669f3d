/* SPDX-License-Identifier: MIT
 * The table in docs/methods.md is the table in the program. `step_methods_doc_test --print` prints what belongs
 * between the two marks of that file. */
#include <stdlib.h>

#include "base/text.h"
#include "step/step.h"
#include "tests/check.h"

static void number_or_none(ag_text *out, int order) {
  if (order) ag_text_printf(out, "%d | ", order);
  else ag_text_str(out, "none | ");
}

/* Orders on additive, commutative, general noise. */
static void orders_or_none(ag_text *out, const double *orders) {
  bool any = false;
  for (int i = 0; i < AG_N_NOISE; i++) any = any || orders[i] > 0;
  for (int i = 0; i < AG_N_NOISE && any; i++) {
    ag_text_str(out, i ? ", " : " ");
    if (orders[i] == 0.5) ag_text_str(out, "1/2");
    else if (orders[i] > 0) ag_text_printf(out, "%g", orders[i]);
    else ag_text_str(out, "-");
  }
  ag_text_str(out, any ? " |" : " none |");
}

/* The texts of the bits that are set, if there are any; with a verb they are a sentence. */
static void list_bits(ag_text *out, const char *verb, unsigned bits, int n, const char *const *texts) {
  for (int i = 0, k = 0; i < n; i++)
    if (bits >> i & 1) ag_text_printf(out, "%s %s", k++ ? "," : verb, texts[i]);
  if (bits && *verb) ag_text_str(out, ".");
}

static void table(ag_text *out) {
  static const char *const needs[] = {
#define X(NAME, text) text,
      AG_NEEDS(X)
#undef X
  };
  static const char *const keeps[] = {
#define X(NAME, text) text,
      AG_KEEPS(X)
#undef X
  };
  ag_text_str(
      out, "| name | family | order | error estimate | dense output | right-hand sides | strong | weak | keeps | what "
           "it is |\n");
  ag_text_str(out, "|---|---|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    ag_text_printf(out, "| `%s` | %s | %d | ", s->name, s->family, s->order);
    number_or_none(out, s->error_order);
    ag_text_printf(out, "%d | %d", s->dense_order, s->n_stage);
    if (s->n_channel_stage) ag_text_printf(out, " + %d m", s->n_channel_stage);
    ag_text_str(out, " |");
    orders_or_none(out, s->strong);
    orders_or_none(out, s->weak);
    list_bits(out, "", s->keeps, AG_N_KEEP, keeps);
    ag_text_printf(out, " | %s %s", s->doc, s->reference);
    list_bits(out, ". Needs", s->needs, AG_N_NEED, needs);
    ag_text_str(out, " |\n");
  }
}

static void read_file(const char *path, ag_text *out) {
  FILE *f = fopen(path, "r");
  AG_CHECK(f != NULL);
  if (!f) return;
  for (int c = getc(f); c != EOF; c = getc(f)) ag_text_char(out, (char)c);
  fclose(f);
}

int main(int argc, char **argv) {
  static const char begin[] = "<!-- table: made by step_methods_doc_test --print -->\n";
  static const char end[] = "<!-- end of table -->\n";
  ag_text made = {0}, file = {0}, found = {0};
  table(&made);
  if (argc > 1 && strcmp(argv[1], "--print") == 0) {
    fputs(ag_text_cstr(&made), stdout);
  } else {
    read_file(AG_SOURCE_DIR "/docs/methods.md", &file);
    const char *from = strstr(ag_text_cstr(&file), begin), *to = strstr(ag_text_cstr(&file), end);
    AG_CHECK(from && to && from < to);
    if (from && to && from < to) ag_text_strn(&found, from + strlen(begin), (size_t)(to - from) - strlen(begin));
    AG_CHECK_STR(ag_text_cstr(&found), ag_text_cstr(&made));
  }
  ag_text_done(&made);
  ag_text_done(&file);
  ag_text_done(&found);
  return argc > 1 ? 0 : ag_check_report();
}
