#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""space_test.py PROGRAM [LOW HIGH STEP]: commands with little address space (`ulimit -v`), in MB.

Each ends in time, with exit code 0 or with exit code 3 and a message; a result file that is there can be read. Below
some 25 MB the loader of the system cannot map the shared libraries, and says so itself with exit code 127."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from waiting import PATIENCE  # noqa: E402
from noisy import NOISY  # noqa: E402

MODEL = """model skate
param m = 1, J = 0.5, a = 2, omega = 1.5
config x in R^2, phi in S1
lagrangian m/2*dot(x', x') + J/2*phi'^2 + m*a*x[1]
constraint x'[1]*sin(phi) = x'[2]*cos(phi)
observable v = x'[1]*cos(phi) + x'[2]*sin(phi)
start phi' = omega
event top: v = 0 falling
section ahead: sin(phi) = 0 rising
"""
COMMANDS = [
    "version",
    "list models",
    "check skate.nh",
    "show skate.nh",
    "emit skate.nh",
    "run skate.nh --t1 2 --engine interpreted -o one.h5",
    "run skate.nh --t1 2 --engine compiled",
    "run skate.nh --t1 2 --json --series",
    "run --from good.h5 --t1 3 -o two.h5",
    "info good.h5",
    "run skate.nh --t1 2 --sweep a=1:3:20 --threads 4 -o many.h5",
    "run skate.nh --t1 9 --sweep a=1:3:4 --section ahead --engine interpreted -o points.csv",
    "plot good.h5 --term",
    "conserve skate.nh --degree 1",
    "converge skate.nh --t1 0.3 --method rk4",
    "ensemble noisy.nh --paths 20 --dt 0.1 --t1 1 --threads 2 -o paths.h5",
    "ensemble noisy.nh --path 1 --dt 0.1 --t1 1 -o path.csv",
    "check rattleback",
]


def run(program, words, folder, megabytes=None):
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))) if megabytes else None
    return subprocess.run([program, *words.split()], cwd=folder, capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, preexec_fn=limit, check=False)


def wrong(program, words, folder, megabytes):
    """What is wrong with a command in so much space, or None."""
    try:
        done = run(program, words, folder, megabytes)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 127 and "error while loading shared libraries" in done.stderr and megabytes < 40:
        return None
    if done.returncode not in (0, 3):
        return f"exit code {done.returncode}: {done.stderr[:300]}"
    if done.returncode == 3 and not re.match(r"([\w.]+: )?error: ", done.stderr):  # some name the model
        return f"exit code 3 without a message: {done.stderr[:300]}"
    for name in os.listdir(folder):
        if name.endswith(".h5") and run(program, f"info {name}", folder).returncode:
            return f"{name} cannot be read"
    return None


def main():
    program = os.path.abspath(sys.argv[1])
    low, high, step = map(int, sys.argv[2:5] or (20, 400, 76))
    folder = tempfile.mkdtemp(prefix="ag_space_")
    n = bad = 0
    try:
        for name, text in (("skate.nh", MODEL), ("noisy.nh", NOISY)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        run(program, "run skate.nh --t1 2 -o good.h5", folder).check_returncode()
        for megabytes in range(low, high + 1, step):
            for words in COMMANDS:
                why = wrong(program, words, folder, megabytes)
                n += 1
                bad += why is not None
                if why:
                    print(f"{megabytes} MB: anagyre {words}: {why}")
    finally:
        shutil.rmtree(folder)
    print(f"{n} commands, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
