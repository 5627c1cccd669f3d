/* SPDX-License-Identifier: MIT
 * Members against runs of their own: each has the parameters and the start that the model has with its values set. */
#include <stdint.h>

#include "check.h"
#include "study/study.h"

static const char SPRING[] = "model spring\n"
                             "param m = 1, k = 4, omega = sqrt(k/m), sweep_value_1 = 3\n"
                             "param n = 2 integer\n"
                             "config x in R, y in R, p in R^2\n"
                             "lagrangian m/2*(x'^2 + y'^2 + dot(p', p')) - k/2*(x^2 + y^2) - n*p[1]\n"
                             "constraint p'[1] = x'*p[2]\n"
                             "observable turn = x*y' - y*x'\n"
                             "section cut: y = 0 rising\n"
                             "start x = 1, y' = sweep_value_1, p[2] = 2\n";

typedef struct batch {
  anagyre_model *model;
  ag_members members;
  ag_status status;
  ag_text usage;
} batch;

static ag_list list_of(int n, const char *const *texts) { return (ag_list){n, (const char **)(uintptr_t)texts}; }

static batch create(const ag_members_request *what) {
  batch b = {.model = anagyre_open_text("spring.nh", SPRING)};
  ag_members_request r = *what;
  r.model = b.model;
  for (int i = 0; i < r.n_set; i++) anagyre_set(b.model, r.sets[i].name, r.sets[i].value);
  b.status = ag_members_create(&b.members, &r, &b.usage);
  return b;
}

static void done(batch *b) {
  ag_members_done(&b->members);
  anagyre_close(b->model);
  ag_text_done(&b->usage);
}

/* The start of the model with the values of a member set, to the last bit. */
static bool same_start(const batch *b, long i) {
  const ag_members *m = &b->members;
  anagyre_model *one = anagyre_open_text("spring.nh", SPRING);
  for (int k = 0; k < m->grid.n_name; k++)
    anagyre_set_number(one, m->grid.names[k], m->values[m->index[i] * m->grid.n_name + k]);
  const ag_system *sys = ag_api_system(one, &(ag_derive_options){0});
  AG_CHECK(sys != NULL);
  size_t n = (size_t)ag_system_dims(sys)->x;
  double x[16];
  ag_system_state0(sys, x);
  bool same = !memcmp(x, m->x0 + (size_t)i * n, sizeof *x * n);
  int n_all = ag_system_dims(ag_varied_system(m->varied))->param;
  /* those of the model come first */
  same = same && !memcmp(ag_system_param_values(sys), m->params + i * n_all, sizeof(double) * 4);
  anagyre_close(one);
  return same;
}

static void check_sweeps(void) {
  static const char *const sweeps[] = {"m=0.5:2*k:3", "x=0:sweep_value_1:2", "p[2]=-1:omega:2"};
  batch b = create(&(ag_members_request){.sweeps = list_of(3, sweeps)});
  const ag_members *m = &b.members;
  AG_CHECK(b.status == AG_OK && m->n == 12 && m->n_ready == 12);
  AG_CHECK(m->values[11 * 3] == 8 && m->values[11 * 3 + 1] == 3 && m->values[11 * 3 + 2] == 2);
  AG_CHECK(ag_varied_is_param(m->varied, 0) && !ag_varied_is_param(m->varied, 1));
  for (long i = 0; i < m->n_ready; i++) AG_CHECK(same_start(&b, i));
  done(&b);
}

/* Energy 1/2 (x'^2 + y'^2 + ...) + 2 x^2 = E, solved for y'. */
static void check_levels(void) {
  static const char *const sweeps[] = {"x=0:2:3"}, *const levels[] = {"energy=k/2"};
  batch b = create(&(ag_members_request){
      .sweeps = list_of(1, sweeps), .levels = list_of(1, levels), .solve = "y'", .section = "cut"});
  const ag_members *m = &b.members;
  AG_CHECK(b.status == AG_OK && m->n == 3 && m->section == 1);
  AG_CHECK(m->n_ready == 1 && m->n_off_level == 2); /* x = 1 is at rest on the section, x = 2 off the level */
  AG_CHECK(m->grid.n_solved == 1 && !strcmp(m->grid.names[1], "y'"));
  AG_CHECK_NEAR(m->values[1], 2, 1e-12);
  AG_CHECK(isnan(m->values[2 * 2 + 1]) && m->off_level[2] && m->reason[2]);
  if (m->n_ready) AG_CHECK(same_start(&b, 0));
  done(&b);
}

static void check_refusals(void) {
  static const ag_set set[] = {{"x", "2"}};
  static const struct {
    const char *sweep, *level, *solve, *section;
    int n_set;
    const char *usage, *error;
  } rows[] = {
      {"m=1:2", 0, 0, 0, 0, "--sweep needs NAME=LO:HI:N", 0},
      {"m=1:2:2", "energy", 0, 0, 0, "--level needs NAME=VALUE", 0},
      {"n=1:2:2", 0, 0, 0, 0, 0, "`n` is an integer parameter"},
      {"p=1:2:2", 0, 0, 0, 0, 0, "p"},
      {"q=1:2:2", 0, 0, 0, 0, 0, "--sweep q:1:1: error: unknown name `q`"},
      {"x=0:z:2", 0, 0, 0, 0, 0, "--sweep x=0:z:2:1:5: error: unknown name `z`"},
      {"x=0:1:2", 0, 0, 0, 1, 0, "`x` is swept and given by --set too"},
      {"x=0:1:2", 0, 0, "cat", 0, 0, "the model has no section `cat`; did you mean `cut`?"},
      {"x=0:1:2", "energy=z", "y'", 0, 0, 0, "--level energy=z:1:8: error: unknown name `z`"},
      {"x=0:1:2", "enrgy=1", "y'", 0, 0, 0, "did you mean `energy`?"},
      {"x=0:1:2", "energy=1", "x", 0, 0, 0, "`x` is both solved for and swept or set"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    batch b = create(&(ag_members_request){.sweeps = list_of(1, &rows[i].sweep),
                                           .levels = list_of(rows[i].level != NULL, &rows[i].level),
                                           .solve = rows[i].solve,
                                           .section = rows[i].section,
                                           .n_set = rows[i].n_set,
                                           .sets = set});
    ag_text shown = {0};
    ag_ctx_render(&b.members.ctx, &shown);
    const char *text = ag_text_cstr(rows[i].usage ? &b.usage : &shown);
    const char *expected = rows[i].usage ? rows[i].usage : rows[i].error;
    AG_CHECK(b.status == AG_WRONG && !b.usage.n == !rows[i].usage);
    if (!strstr(text, expected)) AG_CHECK_STR(text, expected);
    ag_text_done(&shown);
    done(&b);
  }
}

int main(void) {
  check_sweeps();
  check_levels();
  check_refusals();
  return ag_check_report();
}
