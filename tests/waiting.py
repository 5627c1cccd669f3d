# SPDX-License-Identifier: MIT
"""For tests that stop, kill or watch a running program: they wait for what it has done, never for a number of seconds,
so that they do the same on a busy machine, a slow one and a fast one."""
import os
import signal
import time

# What is started in the background or with nohup ignores these, and so would the programs that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)

PATIENCE = 600  # seconds: only a program that hangs takes as long


def until(process, happened):
    """Waits until happened() holds. False when the process ended first."""
    end = time.monotonic() + PATIENCE
    while not happened():
        if process.poll() is not None:
            return happened()
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE} s for process {process.pid}")
        time.sleep(0.002)
    return True


def size_of(path):
    """In bytes; -1 when there is no such file."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def catches(process, number):
    """Whether the process has a handler for a signal by now."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        caught = next(line.split()[1] for line in file if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def stop(process):
    """Stops the process between two system calls: what it was writing is written."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
