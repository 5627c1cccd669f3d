/* SPDX-License-Identifier: MIT
 * The program. Commands: command.c and one file each. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/clock.h"

int main(int argc, char **argv) {
  ag_stop_ignore_pipe();
  setenv("OPENBLAS_NUM_THREADS", "1", 0); /* only one is used; each one takes 150 MB of address space */
  return (int)ag_command_main(argc, (const char *const *)argv);
}
