/* SPDX-License-Identifier: MIT
 * The equations as text: every independent velocity and every coordinate's velocity is named, in both notations; the
 * coin's equations as they are by hand. */
#include "tests/mech_models.h"

static void check(bench_system *b) {
  for (int latex = 0; latex < 2; latex++) {
    ag_text text = {0}, again = {0};
    ag_system_show(b->sys, &(ag_show_options){.latex = latex}, &text);
    ag_system_show(b->sys, &(ag_show_options){.latex = latex}, &again);
    AG_CHECK_STR(text.s, again.s);
    AG_CHECK(strstr(text.s, "independent velocities") && strstr(text.s, "energy"));
    for (int i = 0; i < b->sys->n.u && !latex; i++) AG_CHECK(strstr(text.s, b->sys->u_names[i]) != NULL);
    if (latex && b->sys->n.u) AG_CHECK(strstr(text.s, "% independent velocities\n% $") != NULL);
    for (int i = 0; i < b->m->n_coords && !latex; i++) AG_CHECK(strstr(text.s, b->m->coords[i].velocity) != NULL);
    ag_text_done(&text);
    ag_text_done(&again);
  }
}

static void check_coin(void) {
  bench_system b;
  ag_text text = {0};
  bench_init(&b, &(mech_case){.make = plain_coin});
  ag_system_show(b.sys, &(ag_show_options){0}, &text);
  AG_CHECK(strstr(text.s, "phi', psi'") && strstr(text.s, "cos(phi)") && strstr(text.s, "sin(phi)"));
  ag_text_done(&text);
  bench_done(&b);
}

int main(void) {
  check_coin();
  return each_case(check);
}
