/* SPDX-License-Identifier: MIT
 * Signals that end a run. The flag below is the one writable variable of the program: a signal handler can reach
 * nothing else. */
#define _GNU_SOURCE /* SIGRTMAX */
#include "cli/clock.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

/* Read by other threads while the handler writes it. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler may only touch an atomic that needs no lock");
static atomic_int caught;

static void on_signal(int number) { caught = number; }

/* Does this signal ask a process to end? Not those of a crash, nor those that do not end a process by default. */
static bool asks_to_end(int number) {
  static const int others[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGILL,   SIGFPE,  SIGABRT, SIGTRAP, SIGSYS,
                               SIGCHLD, SIGURG,  SIGCONT, SIGTSTP, SIGWINCH, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (number == others[i]) return false;
  return true;
}

/* Puts `to` in place of `from`; what the parent set otherwise, as `nohup` does, stays. */
static void exchange(void (*from)(int), void (*to)(int)) {
  int before = errno; /* some numbers are the C library's own, and refused */
  for (int i = 1; i <= SIGRTMAX; i++) {
    struct sigaction action = {.sa_handler = to}, old;
    if (!asks_to_end(i) || sigaction(i, NULL, &old) || old.sa_handler != from) continue;
    sigemptyset(&action.sa_mask);
    /* the second one ends the process; SIGXCPU comes every second once the limit is reached */
    if (to != SIG_DFL) action.sa_flags = (int)(SA_RESTART | (i == SIGXCPU ? 0 : SA_RESETHAND));
    sigaction(i, &action, NULL);
  }
  errno = before;
}

const atomic_int *ag_stop_catch(void) {
  caught = 0;
  exchange(SIG_DFL, on_signal);
  return &caught;
}

void ag_stop_release(void) { exchange(on_signal, SIG_DFL); }

const char *ag_stop_word(void) {
#define WORD(name) \
  { name, #name }
  static const struct {
    int number;
    const char *word;
  } words[] = {{SIGINT, "Ctrl-C"}, WORD(SIGTERM), WORD(SIGHUP),  WORD(SIGXCPU),   WORD(SIGQUIT), WORD(SIGUSR1),
               WORD(SIGUSR2),      WORD(SIGALRM), WORD(SIGPROF), WORD(SIGVTALRM), WORD(SIGPWR),  WORD(SIGIO)};
#undef WORD
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (caught == words[i].number) return words[i].word;
  return caught ? "a signal" : "the error above";
}

void ag_stop_ignore_pipe(void) {
  struct sigaction action = {.sa_handler = SIG_IGN};
  sigemptyset(&action.sa_mask);
  sigaction(SIGPIPE, &action, NULL);
  sigaction(SIGXFSZ, &action, NULL); /* a file that may not grow: the write says so */
}
