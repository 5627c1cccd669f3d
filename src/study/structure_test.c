/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "study/study.h"

static const struct {
  const char *text;
  bool on_time, forces, affine;
  int velocity, holonomic, prescribed, dropped, freedom;
} rows[] = {
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n", 0, 0, 0, 0, 0, 0, 0, 2},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - t*x\nconstraint y' = x*x'\n", 1, 0, 0, 1, 0, 0, 0, 1},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nforce x' = -x'\n", 0, 1, 0, 0, 0, 0, 0, 2},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nconstraint y' = x*x' + 1\n", 0, 0, 1, 1, 0, 0, 0, 1},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nholonomic x^2 + y^2 = 1\nstart x = 1\n", 0, 0, 0, 0, 1, 0, 0,
     1},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nprescribe x = sin(t)\n", 0, 0, 1, 0, 0, 1, 0, 1},
    {"config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nconstraint y' = x'\nconstraint 2*y' = 2*x'\n", 0, 0, 0, 2, 0,
     0, 1, 1},
};

int main(void) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    ag_text text = {0};
    ag_text_printf(&text, "model m\n%s", rows[i].text);
    anagyre_model *m = anagyre_open_text("m.nh", text.s);
    const ag_system *sys = ag_api_system(m, &(ag_derive_options){0});
    if (!sys) fputs(anagyre_error(m), stderr);
    AG_CHECK(sys != NULL);
    ag_structure s = {0};
    if (sys) AG_CHECK(ag_structure_find(&s, ag_api_ctx(m), ag_api_model(m), sys, 0) == AG_OK);
    AG_CHECK(s.depends_on_time == rows[i].on_time && s.forces == rows[i].forces && s.affine == rows[i].affine);
    AG_CHECK(s.n_rows[AG_ROW_CONSTRAINT] == rows[i].velocity && s.n_rows[AG_ROW_HOLONOMIC] == rows[i].holonomic);
    AG_CHECK(s.n_rows[AG_ROW_PRESCRIBE] == rows[i].prescribed && s.n_dropped == rows[i].dropped);
    AG_CHECK(s.freedom == rows[i].freedom && s.condition >= 1);
    AG_CHECK(sys && ag_end_status(s.start.end) == AG_OK);
    ag_structure_done(&s);
    anagyre_close(m);
    ag_text_done(&text);
  }
  return ag_check_report();
}
