/* SPDX-License-Identifier: MIT
 * The program. Commands: command.c and one file each. */
#include "cli/cli.h"
#include "cli/clock.h"

int main(int argc, char **argv) {
  ag_stop_ignore_pipe();
  return (int)ag_command_main(argc, (const char *const *)argv);
}
