/* SPDX-License-Identifier: MIT
 * The law that friction and temperature keep, printed. */
#include "cli/gibbs.h"

#include <string.h>

static bool has_law(const ag_gibbs *b) { return b->kind == AG_GIBBS_VOLUME || b->kind == AG_GIBBS_DENSITY; }

const char *ag_gibbs_verdict(const ag_gibbs *b) {
  return has_law(b) ? "yes" : b->kind == AG_GIBBS_NEITHER ? "no" : "undecided";
}

void ag_gibbs_line(const ag_gibbs *b, ag_text *out) {
  if (!b->kind) return;
  ag_text_printf(out, "  %-14s  ", "Gibbs law");
  if (has_law(b)) ag_text_printf(out, "%s is stationary\n", b->law);
  else if (b->kind == AG_GIBBS_NEITHER) ag_text_str(out, "none: the motion without friction keeps no measure rho(q)\n");
  else ag_text_printf(out, "undecided: %s\n", b->reason);
}

static void put_positions(const ag_gibbs *b, ag_text *out) {
  ag_text_printf(out, "  %-10s   kT/2 for each of the velocities (%d); positions: ", "", b->freedom);
  if (!strcmp(b->positions, "uniform")) ag_text_str(out, "exp(-V/kT) dq\n");
  else if (!strcmp(b->positions, "weighted"))
    ag_text_printf(out, "exp(-V/kT) dq with the weight %s\n", b->weight ? b->weight : "(long)");
  else ag_text_str(out, "undecided\n");
}

void ag_gibbs_lines(const ag_gibbs *b, ag_text *out) {
  if (!b->kind) return;
  ag_text_printf(out, "  %-10s %-15s %s\n", ag_gibbs_verdict(b), "Gibbs law",
                 has_law(b) ? b->law : "rho(q) exp(-E/kT)");
  if (b->kind == AG_GIBBS_UNDECIDED) ag_text_printf(out, "  %-10s   %s\n", "", b->reason);
  else ag_text_printf(out, "  %-10s   the motion without friction: %s\n", "", b->reason);
  if (has_law(b)) put_positions(b, out);
  if (has_law(b)) ag_text_printf(out, "  %-10s   proved: an identity, chance of error below %.0e\n", "", b->bound);
  else if (b->kind == AG_GIBBS_NEITHER)
    ag_text_printf(out, "  %-10s   proved: a value that should be 0 is in [%.17g, %.17g] at a state\n", "", b->lo,
                   b->hi);
}

void ag_gibbs_json(ag_json *j, const ag_gibbs *b) {
  if (!b->kind) return;
  ag_json_begin(j, "gibbs", '{');
  ag_json_string(j, "stationary", ag_gibbs_verdict(b));
  ag_json_string(j, "keeps", ag_gibbs_word(b->kind));
  ag_json_string(j, "reason", b->reason);
  ag_json_string(j, "proof", b->proof);
  if (has_law(b)) {
    ag_json_string(j, "law", b->law);
    ag_json_string(j, "density", b->density);
    ag_json_string(j, "variables", b->variables);
    ag_json_number(j, "error_bound", b->bound);
    ag_json_whole(j, "velocities", b->freedom);
    ag_json_string(j, "positions", b->positions);
    ag_json_string(j, "weight", b->weight);
  }
  if (b->kind == AG_GIBBS_NEITHER) {
    ag_json_number(j, "lo", b->lo);
    ag_json_number(j, "hi", b->hi);
  }
  ag_json_end(j, '}');
}
