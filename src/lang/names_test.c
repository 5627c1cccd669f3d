/* SPDX-License-Identifier: MIT */
#include "lang/names.h"

#include "check.h"

int main(void) {
  ag_arena *arena = ag_arena_create();
  ag_names names;
  ag_names_init(&names, arena);
  AG_CHECK(ag_names_id(&names, "", 0) == 0);
  int a = ag_names_id(&names, "abc", 2), b = ag_names_id(&names, "abc", 3);
  AG_CHECK(a == 1 && b == 2);
  AG_CHECK_STR(names.text[a], "ab");
  AG_CHECK_STR(names.text[b], "abc");
  /* many names: the table grows, numbers stay the same */
  char text[16];
  for (int i = 0; i < 5000; i++) {
    int n = snprintf(text, sizeof text, "x%d", i);
    AG_CHECK(ag_names_id(&names, text, (size_t)n) == 3 + i);
  }
  AG_CHECK(ag_names_id(&names, "ab", 2) == a && ag_names_id(&names, "abc", 3) == b &&
           ag_names_id(&names, "x4321", 5) == 4324);
  AG_CHECK(names.n == 5003);
  ag_names_done(&names);
  ag_arena_free(arena);
  return ag_check_report();
}
