/* SPDX-License-Identifier: MIT
 * Units beside the names on axes. The language has none, so they are given with the figure: "t=s,x=m,spin=1/s". */
#include <string.h>

#include "view/view_internal.h"

/* The next item of a list: its name and its unit. Commas inside brackets belong to the name. False: none is left. */
static bool next_item(const char **list, ag_text *name, ag_text *unit) {
  ag_text_clear(name);
  ag_text_clear(unit);
  const char *s = *list;
  if (!*s) return false;
  int depth = 0;
  for (; *s && *s != '=' && (*s != ',' || depth); s++) {
    depth += (*s == '[') - (*s == ']');
    if (*s != ' ') ag_text_char(name, *s);
  }
  if (*s == '=') {
    size_t n = strcspn(++s, ",");
    ag_text_strn(unit, s, n);
    s += n;
  }
  *list = *s ? s + 1 : s;
  return true;
}

static const char *find(ag_arena *arena, const char *list, const char *of) {
  ag_text name = {0}, unit = {0};
  const char *found = NULL;
  while (!found && next_item(&list, &name, &unit))
    if (!strcmp(ag_text_cstr(&name), of)) found = ag_arena_str(arena, ag_text_cstr(&unit));
  ag_text_done(&name);
  ag_text_done(&unit);
  return found;
}

/* The rate of x, in the unit of x over that of t, where both are given. */
static const char *find_rate(ag_arena *arena, const char *list, const char *rate) {
  size_t n = strlen(rate);
  const char *time = find(arena, list, "t");
  if (n < 2 || rate[n - 1] != '\'' || !time || !*time) return NULL;
  const char *own = find(arena, list, ag_arena_printf(arena, "%.*s", (int)n - 1, rate));
  if (!own || !*own) return NULL;
  return ag_arena_printf(arena, strpbrk(time, "/ *") ? "%s/(%s)" : "%s/%s", own, time);
}

const char *ag_unit_find(ag_arena *arena, const char *list, const char *column, const char *entry) {
  if (!list) return "";
  const char *unit = find(arena, list, entry);
  if (!unit) unit = find(arena, list, column);
  if (!unit) unit = find_rate(arena, list, column);
  return unit ? unit : "";
}

bool ag_units_check(const ag_source *s, const char *list, ag_text *trouble) {
  ag_text name = {0}, unit = {0};
  ag_choice one;
  bool good = true;
  while (list && good && next_item(&list, &name, &unit)) {
    good = ag_text_cstr(&name)[0] && ag_text_cstr(&unit)[0];
    if (!good) ag_text_str(trouble, "units are given as in --units 't=s,x=m'");
    else good = ag_source_choices(s, name.s, &one, 1, trouble) == 1;
  }
  ag_text_done(&name);
  ag_text_done(&unit);
  return good;
}
