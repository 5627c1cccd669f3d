/* SPDX-License-Identifier: MIT
 * `anagyre version`. AG_VERSION and AG_GIT_HASH come from the build (cmake/version.cmake). */
#include "cli/cli.h"
#include "cli/json.h"

typedef struct args {
  ag_common common;
} args;

static const ag_option options[] = {AG_COMMON_ROWS(args)};

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static ag_status act(void *self) {
  const args *a = self;
  if (a->common.json) {
    ag_json j = {0};
    ag_json_begin(&j, NULL, '{');
    ag_json_string(&j, "program", "anagyre");
    ag_json_string(&j, "version", AG_VERSION);
    ag_json_string(&j, "commit", AG_GIT_HASH);
    ag_json_string(&j, "compiler", COMPILER);
    ag_json_end(&j, '}');
    ag_json_print(&j);
  } else printf("anagyre %s (%s, %s)\n", AG_VERSION, AG_GIT_HASH, COMPILER);
  return AG_OK;
}

const ag_command ag_command_version = {
    .name = "version",
    .words = "",
    .doc = "which program this is",
    .text = "Prints version, commit and compiler.\n",
    AG_COMMAND(0, 0),
};
