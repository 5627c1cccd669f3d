#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""malloc_test.py PROGRAM LIBRARY [TRIES [SEED [WORD]]]: commands of which one call of malloc fails, or all from it on.

All calls count: those of the program, of the C library, of HDF5, FLINT, LAPACK. LIBRARY is malloc_fails.c. For each
command TRIES of its calls are chosen at random; WORD: only commands with it. A command ends in time, with exit code 0
and the same output as without a fault, or with exit code 3 and a message; result files can be read afterwards, and no
temporary file is left."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from waiting import PATIENCE  # noqa: E402

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
    "check skate.nh",
    "run skate.nh --t1 2 --json",
    "run skate.nh --t1 2 --every 0.1 -o new.h5",
    "run skate.nh --t1 2 --every 0.1 -o new.csv",
    "run skate.nh --t1 2 --sweep a=1:3:9 -o new.h5",
    "run skate.nh --t1 2 --sweep a=1:3:9 -o new.csv",
    "run skate.nh --t1 20 --sweep a=1:3:4 --section ahead -o new.h5",
    "info good.h5",
    "info many.h5",
    "run --from good.h5 --t1 3 -o new.h5",
    "conserve skate.nh",
    "converge skate.nh --t1 0.5",
    "plot good.h5 --term",
    "plot good.h5 -o new.svg",
]


class Lab:
    def __init__(self, program, library, folder):
        self.program, self.library, self.folder = program, library, folder

    def run(self, words, at=None, on=0):
        env = dict(os.environ, OPENBLAS_NUM_THREADS="1")
        if at is not None:
            env.update(LD_PRELOAD=self.library, AG_FAIL_AT=str(at), AG_FAIL_ON=str(on), AG_FAIL_COUNT="count")
        extra = ["--engine", "interpreted"] if words[0] == "run" else []
        extra += ["--threads", "1"] if "--sweep" in words else []
        return subprocess.run([self.program, *words, *extra], cwd=self.folder, env=env, capture_output=True, text=True,
                              errors="replace", timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False)

    def clean(self):
        for name in os.listdir(self.folder):
            if name.startswith("new."):
                os.unlink(os.path.join(self.folder, name))

    def wrong(self, words, at, on):
        """What is wrong when call number `at` fails, or None."""
        self.clean()
        try:
            done = self.run(words, at, on)
        except subprocess.TimeoutExpired:
            return "does not end"
        if done.returncode not in (0, 3):
            return f"exit code {done.returncode}: {done.stderr[-300:]}"
        if done.returncode == 3 and "error: " not in done.stderr:
            return f"exit code 3 without a message: {done.stderr[-300:]}"
        for name in os.listdir(self.folder):
            if name.endswith(".part"):
                return f"{name} is left (exit code {done.returncode}: {done.stderr[-300:]})"
            if name.startswith("new.h5") and self.run(["info", "new.h5"]).returncode:
                return f"new.h5 cannot be read: {os.listdir(self.folder)}"
        return None


def main():
    program, library = map(os.path.abspath, sys.argv[1:3])
    tries, seed = (list(map(int, sys.argv[3:5])) + [8, 1])[:2] if len(sys.argv) > 4 else (
        int(sys.argv[3]) if len(sys.argv) > 3 else 8, 1)
    word = sys.argv[5] if len(sys.argv) > 5 else ""
    choose = random.Random(seed)
    folder = tempfile.mkdtemp(prefix="ag_malloc_")
    n = bad = 0
    try:
        lab = Lab(program, library, folder)
        with open(os.path.join(folder, "skate.nh"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        lab.run("run skate.nh --t1 2 --every 0.1 -o good.h5".split()).check_returncode()
        lab.run("run skate.nh --t1 2 --sweep a=1:3:9 -o many.h5".split()).check_returncode()
        for words in (line.split() for line in COMMANDS if word in line):
            lab.clean()
            lab.run(words, 0).check_returncode()
            with open(os.path.join(folder, "count"), encoding="ascii") as file:
                count = int(file.read())
            for k in sorted(choose.sample(range(1, count + 1), min(tries, count))):
                on = choose.randrange(2)
                why = lab.wrong(words, k, on)
                n += 1
                bad += why is not None
                if why:
                    print(f"anagyre {' '.join(words)}: call {k}{' and all later ones' if on else ''}: {why}", flush=True)
    finally:
        shutil.rmtree(folder)
    print(f"{n} faults, {bad} wrong")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
