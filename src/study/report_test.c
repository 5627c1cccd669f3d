/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "check.h"
#include "study/study.h"

/* From x = r outwards; the domain of the square root ends at x = 2, and a start beyond it cannot be. */
static const char SLIDE[] = "model slide\n"
                            "param r = 1, speed = 1/(3 - r)\n"
                            "config x in R, p in R^2\n"
                            "lagrangian 1/2*x'^2 + 1/2*dot(p', p')\n"
                            "observable both = [x, x']\n"
                            "event wall: x = 2 terminal\n"
                            "section gate: x = 1.5\n"
                            "start x = r, x' = speed, p'[1] = 1\n";

static ag_members members_of(anagyre_model *m, const char *section) {
  static const char *const sweep = "r=1:3:3";
  ag_members members;
  ag_text usage = {0};
  ag_members_request r = {.model = m, .sweeps = {1, (const char **)(uintptr_t)&sweep}, .section = section};
  AG_CHECK(ag_members_create(&members, &r, &usage) == AG_OK);
  ag_text_done(&usage);
  return members;
}

static void check_members(const char *section) {
  anagyre_model *m = anagyre_open_text("slide.nh", SLIDE);
  ag_members members = members_of(m, section);
  ag_batch_options o;
  ag_batch_report b;
  ag_text usage = {0};
  ag_batch_defaults(&o);
  o.run.t1 = 4;
  o.run.events = true;
  AG_CHECK(ag_batch_report_init(&b, &members, &o, "p[1],both,t", &usage) == AG_OK);
  AG_CHECK(b.n_pick == 2 && ag_pick_size(&b.picks[0]) == 1 && ag_pick_size(&b.picks[1]) == 2);
  ag_text name = {0};
  ag_pick_name(&b.picks[0], 0, &name);
  AG_CHECK_STR(name.s, "p[1]");
  ag_pick_name(&b.picks[1], 1, &name);
  AG_CHECK_STR(name.s, "both[2]");
  AG_CHECK(ag_batch_report_run(&b, &members.ctx) == AG_OK);
  AG_CHECK(members.n == 3 && members.n_ready == 2 && b.n_failed == 1 && !b.n_stopped);
  AG_CHECK_STR(ag_batch_report_end(&b, 0), ag_end_word(AG_END_EVENT)); /* x = 1 + t/2 reaches 2 at t = 2 */
  AG_CHECK_NEAR(ag_batch_report_time(&b, 0), 2, 1e-9);
  AG_CHECK_NEAR(ag_batch_report_record(&b, 0)[ag_pick_offset(&b.picks[0])], 2, 1e-9);
  AG_CHECK_STR(ag_batch_report_end(&b, 1), ag_end_word(AG_END_TIME)); /* starts on the wall */
  AG_CHECK_STR(ag_batch_report_end(&b, 2), "parameter `speed` is not finite");
  AG_CHECK(!ag_batch_report_member(&b, 2) && ag_batch_report_failed(&b, 2) && !ag_batch_report_failed(&b, 1));
  AG_CHECK(isnan(ag_batch_report_record(&b, 2)[ag_pick_offset(&b.picks[1])]));
  AG_CHECK(ag_batch_report_n_points(&b) == (section ? 1 : 0));
  if (section) AG_CHECK_NEAR(b.result->points[0].data[0], 1, 1e-9);
  AG_CHECK(ag_batch_report_n_point(&b, 2) == 0);
  ag_batch_report_done(&b);
  AG_CHECK(ag_batch_report_init(&b, &members, &o, "bath", &usage) == AG_WRONG);
  AG_CHECK(strstr(ag_text_cstr(&usage), "--columns: there is no 'bath'; did you mean both? (there are: t x p") != NULL);
  ag_batch_report_done(&b);
  ag_text_done(&name);
  ag_text_done(&usage);
  ag_members_done(&members);
  anagyre_close(m);
}

int main(void) {
  check_members(NULL);
  check_members("gate");
  return ag_check_report();
}
