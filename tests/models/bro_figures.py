#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bro_figures.py PROGRAM [--long]: figures 1.1 and 1.2 of BRO (N. Bou-Rabee, H. Owhadi, IMA J. Numer. Anal. 29,
421-443, 2009) as numbers. The paper gives neither masses nor levels nor starts; those used are stated here.

1.1  underwater_vehicle with the masses of the model (m = 1.6, 2, 1; J = 1, 0.8, 0.5), |P| = 1, Pi.P = 0.3, E = 0.35374, from
     theta0 = 1.57, Pi[1] = 0.3, nu = 0.05, a quasi-periodic motion. With steps of 0.05 both methods follow it. With
     steps of 0.5 RK4 loses energy and leaves the curve in the section plane (tilt, Pi[1]); variational Euler on SE(3)
     stays on it. Counted are cells of the plane that a method visits and that have no neighbour visited by a reference
     at rtol 1e-13.
1.2  lattice with K = 24, beta = 0.5, started in mode 6 with amplitude 1.5, 1e5 steps of 0.25: the running mean of the
     temperature (kinetic energy per mass in the moving frame) drifts with RK4 and settles with variational Euler.
"""
import csv
import math
import os
import subprocess
import sys
import tempfile

CELLS = 60  # per turn of tilt, and for Pi[1] from -1 to 1
START = ["--set", "theta0=1.57", "--set", "k1=0.3", "--set", "nu=0.05"]


def table(program, *words):
    """The columns of a run, by name."""
    with tempfile.TemporaryDirectory(prefix="ag_bro_") as box:
        path = os.path.join(box, "rows.csv")
        subprocess.run([program, "run", *words, "-q", "-o", path], capture_output=True, check=True)
        with open(path, encoding="utf-8") as file:
            rows = list(csv.reader(file))
    return {name: [float(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0]) if name != "end"}


def cells(program, crossings, *more):
    rows = table(program, "underwater_vehicle", *START, "--section", "node", "--crossings", str(crossings), *more)
    return {(math.floor(a / (2 * math.pi) * CELLS), math.floor(b / 2 * CELLS))
            for a, b in zip(rows["tilt"], rows["Pi[1]"])}


def drifts(program, method, dt, end):
    """Largest changes of E, P.P and Pi.P, relative to their sizes."""
    rows = table(program, "underwater_vehicle", *START, "--method", method, "--dt", dt, "--t1", end, "--every", "10")
    P, Pi = ([rows[f"{name}[{i}]"] for i in (1, 2, 3)] for name in ("P", "Pi"))
    quantities = (rows["energy"], [sum(p * p for p in v) for v in zip(*P)],
                  [sum(p * q for p, q in zip(v[:3], v[3:])) for v in zip(*P, *Pi)])
    return [max(abs(x - q[0]) for x in q) / abs(q[0]) for q in quantities]


def figure_1_1(program, crossings, end):
    """Returns what is wrong."""
    near = {(a + i, b + j) for a, b in cells(program, 2 * crossings, "--rtol", "1e-13", "--atol", "1e-13")
            for i in (-1, 0, 1) for j in (-1, 0, 1)}
    wrong = []
    for dt in ("0.05", "0.5"):
        for method in ("se3_euler", "rk4"):
            visited = cells(program, crossings, "--method", method, "--dt", dt)
            energy, square, product = drifts(program, method, dt, end)
            off = len(visited - near)
            print(f"1.1  {method:10} dt {dt:4}: E {energy:.1e}, P.P {square:.1e}, Pi.P {product:.1e}; "
                  f"{off} of {len(visited)} cells off the curve")
            fails = method == "rk4" and dt == "0.5"
            if (off > 5) != fails or (off > 0 and not fails):
                wrong.append(f"figure 1.1: {method} with steps of {dt} visits {off} cells off the curve")
            if (energy > 0.02) != fails:
                wrong.append(f"figure 1.1: {method} with steps of {dt} changes the energy by {energy}")
            if method == "se3_euler" and max(square, product) > 1e-10:  # rounding of up to 2e5 steps
                wrong.append(f"figure 1.1: momenta change by {square}, {product}")
    return wrong


def figure_1_2(program, steps):
    wrong, dt = [], 0.25
    for method in ("variational_euler", "rk4"):
        t = table(program, "lattice", "--set", "A=1.5", "--set", "j=6", "--method", method, "--dt", str(dt), "--t1",
                  str(dt * steps), "--every", str(10 * dt))["temperature"]
        means = [sum(t[:k * len(t) // 8]) / (k * len(t) // 8) for k in range(1, 9)]
        print(f"1.2  {method:17}: running mean of the temperature", " ".join(f"{m:.4f}" for m in means))
        change = max(abs(m / means[7] - 1) for m in means[3:])
        if (method == "rk4") != (change > 0.01):
            wrong.append(f"figure 1.2: in the second half the mean of {method} changes by {change}")
    return wrong


def main():
    program, long = os.path.abspath(sys.argv[1]), "--long" in sys.argv
    wrong = figure_1_1(program, 5000 if long else 700, "10000" if long else "2000")
    wrong += figure_1_2(program, 1000000 if long else 100000)
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
