/* SPDX-License-Identifier: MIT
 * The names of methods that test their steps are those of the others with an ending. */
#include "cli/metropolis.h"

#include <string.h>

#include "cli/cli.h"

static const char ending[] = "_metropolis";

static ag_status refuse(const char *verb, const char *name) {
  ag_text known = {0};
  for (int i = 0; i < ag_stepper_count(); i++) {
    const ag_stepper *s = ag_stepper_at(i);
    if (ag_stepper_tests(s))
      ag_text_printf(&known, "%s%.*s", known.n ? ", " : "", (int)(strlen(s->name) - strlen(ending)), s->name);
  }
  ag_status status = ag_usage(verb, "--metropolis tests the steps of the methods %s; `%s` is not one of them",
                              ag_text_cstr(&known), name);
  ag_text_done(&known);
  return status;
}

ag_status ag_metropolis_find(const char *verb, const char *name, const ag_stepper **method) {
  ag_text full = {0};
  ag_text_printf(&full, "%s%s", name, ending);
  const ag_stepper *plain = ag_stepper_find(name);
  *method = plain && ag_stepper_tests(plain) ? plain : ag_stepper_find(ag_text_cstr(&full));
  ag_text_done(&full);
  return *method ? AG_OK : refuse(verb, name);
}

ag_status ag_metropolis_names(const char *verb, const char *names, ag_text *out) {
  for (const char *rest = names; *rest;) {
    const size_t n = strcspn(rest, ",");
    const ag_stepper *method;
    ag_text name = {0};
    ag_text_strn(&name, rest, n);
    ag_status status = ag_metropolis_find(verb, ag_text_cstr(&name), &method);
    ag_text_done(&name);
    if (status != AG_OK) return status;
    ag_text_printf(out, "%s%s", out->n ? "," : "", method->name);
    rest += n + (rest[n] != 0);
  }
  return AG_OK;
}
