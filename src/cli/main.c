/* SPDX-License-Identifier: MIT
 * The program. Commands: command.c and one file each. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/clock.h"

/* Takes the place of standard streams that are closed, so that no file becomes one of them. Reading and writing there
 * still fails: each is opened the other way round. */
static bool fill_streams(void) {
  for (int fd = 0; fd <= 2; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) return false;
  return true;
}

int main(int argc, char **argv) {
  if (!fill_streams()) return AG_SYSTEM;
  ag_stop_ignore_pipe();
  setenv("OPENBLAS_NUM_THREADS", "1", 0); /* only one is used; each one takes 150 MB of address space */
  ag_status status = ag_command_main(argc, (const char *const *)argv);
  if (status == AG_SYSTEM) { /* there may be no memory: what libraries do at the end would abort */
    fflush(NULL);
    _exit((int)status);
  }
  return (int)status;
}
