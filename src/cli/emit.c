/* SPDX-License-Identifier: MIT
 * `anagyre emit`: the equations of a model as one C file. */
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/open.h"
#include "run/run.h"

typedef struct args {
  ag_common common;
  bool main;
} args;

static const ag_option options[] = {
    AG_OPTION(args, "main", FLAG, main, .doc = "include a small program that integrates the model"),
    AG_SET_ROW(args),
    AG_BUDGET_ROWS(args),
    AG_QUIET_ROW(args),
    AG_COMMON_ROWS(args),
};

static ag_status act(void *self) {
  const args *a = self;
  ag_status status;
  anagyre_model *m = ag_open_derived(&a->common, &(ag_derive_options){0}, &status);
  if (!m) return status;
  ag_system *sys = ag_api_system(m, &(ag_derive_options){0});
  if (a->main && ag_system_dims(sys)->channel) {
    anagyre_close(m);
    return ag_usage("emit", "the model has noise: the program of --main integrates ordinary equations; leave it out");
  }
  ag_text code = {0};
  ag_emit(sys, a->main, &code);
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "model", anagyre_name(m));
    ag_json_string(&j, "c", ag_text_cstr(&code));
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else {
    fputs(ag_text_cstr(&code), stdout);
  }
  ag_text_done(&code);
  anagyre_close(m);
  return AG_OK;
}

const ag_command ag_command_emit = {
    .name = "emit",
    .words = "MODEL",
    .doc = "the equations as one self-contained C file",
    .text = "Prints the right-hand side, its Jacobian, the velocities, the energy and the observables of a\n"
            "model as plain C99 with <math.h> and nothing else: for a robot, or another simulation. The head\n"
            "of the file lists the state and the parameters; docs/emit.md has the calling convention.\n",
    .examples = "  anagyre emit rattleback > rattleback.c\n"
                "  anagyre emit snakeboard --main > board.c && cc board.c -lm -o board && ./board 2\n",
    AG_COMMAND(1, 1),
};
