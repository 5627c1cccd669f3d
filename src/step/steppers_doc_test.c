/* SPDX-License-Identifier: MIT
 * The table in docs/steppers.md is the table in the program. `step_steppers_doc_test --print` prints what belongs
 * between the two marks of that file. */
#include <stdlib.h>

#include "base/text.h"
#include "step/step.h"
#include "tests/check.h"

static void number_or_none(ag_text *out, int order) {
  if (order) ag_text_printf(out, "%d | ", order);
  else ag_text_str(out, "none | ");
}

static void table(ag_text *out) {
  ag_text_str(out, "| name | order | error estimate | dense output | right-hand sides | what it is |\n");
  ag_text_str(out, "|---|---|---|---|---|---|\n");
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    ag_text_printf(out, "| `%s` | %d | ", s->name, s->order);
    number_or_none(out, s->error_order);
    ag_text_printf(out, "%d | %d | %s %s |\n", s->dense_order, s->n_stage, s->doc, s->reference);
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
  static const char begin[] = "<!-- table: made by step_steppers_doc_test --print -->\n";
  static const char end[] = "<!-- end of table -->\n";
  ag_text made = {0}, file = {0}, found = {0};
  table(&made);
  if (argc > 1 && strcmp(argv[1], "--print") == 0) {
    fputs(ag_text_cstr(&made), stdout);
  } else {
    read_file(AG_SOURCE_DIR "/docs/steppers.md", &file);
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
