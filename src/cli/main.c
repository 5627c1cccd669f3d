/* SPDX-License-Identifier: MIT
 * The program. Commands: command.c and one file each. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/clock.h"

int main(int argc, char **argv) {
  ag_stop_ignore_pipe();
  setenv("OPENBLAS_NUM_THREADS", "1", 0); /* only one is used; each one takes 150 MB of address space */
  ag_status status = ag_command_main(argc, (const char *const *)argv);
  if (status == AG_SYSTEM) { /* there may be no memory: what libraries do at the end would abort */
    fflush(NULL);
    _exit((int)status);
  }
  return (int)status;
}
