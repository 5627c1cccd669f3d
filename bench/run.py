#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py PROGRAM [FILE]: how long the program takes, best of several; the numbers go to FILE as JSON."""
import json
import subprocess
import sys
import tempfile
import time

LATTICE = """model lattice
param K = 100 integer, k = 2
config x in R [K]
lagrangian sum(i in 1..K, 1/2*x[i]'^2) - sum(i in 1..K-1, k/2*(x[i+1] - x[i])^2) - sum(i in 1..K, 1 - cos(x[i]))
start x[i] = sin(i) for i in 1..K
"""

CASES = [  # name, repetitions, arguments ({lattice}: a model file with 100 coordinates)
    ("check rattleback", 20, ["check", "rattleback"]),
    ("rattleback to t = 100, dop853 at 1e-12", 5,
     ["run", "rattleback", "--t1", "100", "--rtol", "1e-12", "--atol", "1e-12", "--quiet"]),
    ("the same with multipliers", 5,
     ["run", "rattleback", "--t1", "100", "--rtol", "1e-12", "--atol", "1e-12", "--closure", "multipliers", "--quiet"]),
    ("check a lattice of 100 coordinates", 5, ["check", "{lattice}"]),
]


def best(command, n):
    """Shortest wall-clock time of n calls in seconds."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    program, result = sys.argv[1], {}
    with tempfile.NamedTemporaryFile("w", suffix=".nh") as lattice:
        lattice.write(LATTICE)
        lattice.flush()
        for name, n, arguments in CASES:
            command = [program] + [a.format(lattice=lattice.name) for a in arguments]
            result[name] = best(command, n)
            print(f"{name:45s} {1e3 * result[name]:9.1f} ms")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
