/* SPDX-License-Identifier: MIT
 * Ctrl-C. The flag below is the one writable variable of the program: a signal handler can reach nothing else. */
#include "cli/clock.h"

#include <signal.h>
#include <stddef.h>

/* Read by other threads while the handler writes it. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler may only touch an atomic that needs no lock");
static atomic_int caught;

static void on_signal(int number) { caught = number; }

static void install(void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

const atomic_int *ag_stop_catch(void) {
  caught = 0;
  install(on_signal, (int)(SA_RESETHAND | SA_RESTART));
  return &caught;
}

void ag_stop_release(void) { install(SIG_DFL, 0); }

const char *ag_stop_word(void) { return caught == SIGTERM ? "SIGTERM" : "Ctrl-C"; }

void ag_stop_ignore_pipe(void) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL); /* a file that may not grow: the write says so */
}
