#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""statistics_test.py PROGRAM: the statistics of an ensemble, computed again from its paths in full (--chosen), exactly
(fractions) or by the definition; what standard errors of antithetic pairs are."""
import json
import math
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

from common import PROGRAM, check, result

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import warm_top  # noqa: E402

MODEL = """model tracker
param c = 1, k = 2, s = 0.5
config x in R, phi in S1
lagrangian 1/2*x'^2 - k*x^2/2 + 1/2*phi'^2
force x' = -c*x'
noise W force x' = s*(1 + x^2)
noise V force phi' = 6
start x = 1
"""
N = 300  # more than a leaf


def near(got, expected, scale, what):
    """To rounding: a few hundred operations on numbers of this size."""
    check(abs(got - expected) <= 1e-13 * scale, f"{what}: {got!r}, expected {expected!r}")


def ensemble(*words):
    command = [PROGRAM, "ensemble", "m.nh", "--seed", "7", "--dt", "0.05", "--t1", "1", "--every", "0.05", "--json"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def mean(x):
    return sum(x, Fraction(0)) / len(x)


def covariance(x, y):
    mx, my = mean(x), mean(y)
    return sum(((a - mx) * (b - my) for a, b in zip(x, y)), Fraction(0)) / (len(x) - 1)


def batches(rows):
    """The variance of the mean over rows, from the means of floor(sqrt(n)) batches."""
    n = math.isqrt(len(rows))
    size = len(rows) // n
    parts = [mean(rows[i * size:(i + 1) * size]) for i in range(n)]
    return covariance(parts, parts) / n


def circle(values):
    counts = [0] * 64
    for v in values:
        turns = v / (2 * math.pi) + 0.5
        counts[int((turns - math.floor(turns)) * 64)] += 1
    return counts


def direct():
    d = ensemble("--paths", str(N), "--columns", "x,phi", "--correlations", "--covariances",
                 "--chosen", f"0:99,100,101:{N - 1}")
    check([c["path"] for c in d["chosen"]] == list(range(N)), "all paths, in order")
    values = {name: [[Fraction(c["observables"][name][row]) for c in d["chosen"]] for row in range(21)]
              for name in ("x", "phi")}
    for name, rows in values.items():
        got = d["observables"][name]
        for row, x in enumerate(rows):
            size = max(1.0, float(max(map(abs, x))) ** 2)
            var = float(covariance(x, x))
            near(got["mean"][row], float(mean(x)), size, f"mean of {name}")
            near(got["var"][row], var, size, f"variance of {name}")
            near(got["stderr"][row] ** 2, var / N, size, f"standard error of {name}")
            check(got["min"][row] == float(min(x)) and got["max"][row] == float(max(x)), f"extremes of {name}")
            # quantiles are linear in bins, which are 1/512 of the range
            ordered, bin_width = sorted(map(float, x)), float(max(x) - min(x)) / 512
            for p, q in got["quantiles"].items():
                at = float(p) * N
                low, high = ordered[max(0, int(at) - 2)], ordered[min(N - 1, int(at) + 1)]
                check(low - bin_width <= q[row] <= high + bin_width, f"quantile {p} of {name} at row {row}")
            for other in (3, 20):
                if row and other != row:
                    y = rows[other]
                    r = float(covariance(x, y)) / math.sqrt(float(covariance(x, x)) * float(covariance(y, y)))
                    near(got["correlations"][row][other], r, 10, f"correlation of {name}, rows {row}, {other}")
        paths = [[rows[row][k] for row in range(21)] for k in range(N)]
        averages = [mean(p) for p in paths]
        got = got["time_average"]
        size = float(max(abs(v) for p in paths for v in p)) ** 2
        near(got["mean"], float(mean(averages)), size, "time average")
        near(got["stderr"] ** 2, float(covariance(averages, averages)) / N, size, "its error between paths")
        near(got["batch_stderr"] ** 2, float(mean([batches(p) for p in paths])) / N, size, "its error from batches")
    for row in range(21):
        c = d["covariances"][row]
        near(c[0][1], float(covariance(values["x"][row], values["phi"][row])), 100, "covariance of two columns")
        check(c[0][1] == c[1][0] and c[0][0] == d["observables"]["x"]["var"][row], "symmetric, with variances")
    got = d["observables"]["phi"]["histogram"]
    check(got["counts"] == circle([float(v) for v in values["phi"][20]]), "counts around the circle")
    check(max(map(abs, values["phi"][20])) > math.pi, "some went round")


def antithetic():
    """The error of the mean is that of the means of pairs."""
    d = ensemble("--paths", str(N), "--columns", "x", "--antithetic", "--chosen", f"0:{N - 1}")
    x = [Fraction(c["observables"]["x"][20]) for c in d["chosen"]]
    pairs = [(x[i] + x[i + 1]) / 2 for i in range(0, N, 2)]
    got = d["observables"]["x"]
    near(got["stderr"][20], math.sqrt(float(covariance(pairs, pairs)) / len(pairs)), 1, "error of pairs")
    check(got["stderr"][20] < 0.7 * math.sqrt(got["var"][20] / N), "pairs help here")


def gibbs():
    """A body that turns about a fixed point at a temperature: mean height and mean kinetic energy. Halving the step
    moves both by less than a standard error."""
    with open("top.nh", "w", encoding="utf-8") as file:
        file.write("model top\n" + warm_top.TEXT)
    n, exact = 16384, warm_top.MEANS
    for method in ("baoab", "obabo"):
        words = ["top.nh", "--seed", "3", "--dt", "0.125", "--t1", "12", "--every", "12", "--method", method]
        words += ["--paths", str(n), "--columns", "height,kinetic", "--json"]
        done = subprocess.run([PROGRAM, "ensemble", *words], capture_output=True, text=True, timeout=600, check=False)
        check(done.returncode == 0, done.stderr)
        for name, x in json.loads(done.stdout)["observables"].items():
            z = (x["mean"][-1] - exact[name]) / math.sqrt(x["var"][-1] / n)
            check(abs(z) < 4, f"{method}: {name} {x['mean'][-1]}, expected {exact[name]}: {z} standard errors")


def bessel(n, x):
    return sum((x / 2)**(2 * k + n) / math.factorial(k) / math.factorial(k + n) for k in range(30))


def constrained(method, text, words, exact):
    """Means at the end of an ensemble by a method that keeps position constraints, which hold."""
    with open("m.nh", "w", encoding="utf-8") as file:
        file.write("model m\n" + text)
    command = [PROGRAM, "ensemble", "m.nh", "--seed", "2", "--method", method, "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == 0, done.stderr)
    got = json.loads(done.stdout)
    check(got["failed"] == 0, f"{method}: {got['failed']} failed")
    for name, value in exact.items():
        x = got["observables"][name]
        z = (x["mean"][-1] - value) / x["stderr"][-1]
        check(abs(z) < 4, f"{method}: {name} {x['mean'][-1]}, expected {value}: {z} standard errors")
    for name in ("far", "rate"):
        x = got["observables"][name]
        check(max(map(abs, x["min"] + x["max"])) < 1e-12, f"{method}: {name} {x['min']} to {x['max']}")


def pendulum(method):
    """The mean height of a pendulum, a point on a circle, at a temperature: -I1/I0 of m g l/kT."""
    text = """config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - y
holonomic x^2 + y^2 = 1
friction x' = 0.5
friction y' = 0.5
temperature 0.6
observable far = x^2 + y^2 - 1, rate = x*x' + y*y'
start x = 0.6, y = -0.8
"""
    words = ["--dt", "0.125", "--t1", "20", "--every", "20", "--paths", "8192", "--columns", "y,far,rate"]
    constrained(method, text, words, {"y": -bessel(1, 1 / 0.6) / bessel(0, 1 / 0.6)})


def trimer(method):
    """Three points, two rods: the cosine k of the angle between them has, besides dk/sqrt(1 - k^2), the weight
    sqrt(det M) = sqrt(4 - k^2) of the reduced mass matrix. Without it the mean square would be 1/2, 6 standard errors
    away."""
    text = """config a in R^2, b in R^2, c in R^2
lagrangian 1/2*(dot(a', a') + dot(b', b') + dot(c', c'))
holonomic dot(a - b, a - b) = 1
holonomic dot(c - b, c - b) = 1
friction a' = 1
friction b' = 1
friction c' = 1
temperature 0.5
observable k = dot(a - b, c - b), square = k^2, kinetic = dot(a', a') + dot(b', b') + dot(c', c')
observable far = abs(dot(a - b, a - b) - 1) + abs(dot(c - b, c - b) - 1)
observable rate = abs(dot(a - b, a' - b')) + abs(dot(c - b, c' - b'))
start a = [1, 0], b = [0, 0], c = [0, 1]
"""
    n = 64
    k = [math.cos(2 * math.pi * i / n) for i in range(n)]
    mean = sum(math.sqrt(4 - x**2) * x**2 for x in k) / sum(math.sqrt(4 - x**2) for x in k)
    words = ["--dt", "0.1", "--t1", "10", "--every", "10", "--paths", "16384", "--columns", "k,square,kinetic,far,rate"]
    constrained(method, text, words, {"k": 0, "square": mean, "kinetic": 4 * 0.5})


def main():
    with open("m.nh", "w", encoding="utf-8") as file:
        file.write(MODEL)
    direct()
    antithetic()
    gibbs()
    for method in ("ovo_rattle", "baoab_rattle"):
        pendulum(method)
        trimer(method)
    for words, says in ((["--chosen", "300", "--json"], "below"), (["--chosen", "3:1", "--json"], "ranges"),
                        (["--chosen", "x", "--json"], "comma"), (["--chosen", "1"], "give one of them"),
                        (["--covariances"], "give one of them")):
        done = subprocess.run([PROGRAM, "ensemble", "m.nh", "--paths", "300", *words], capture_output=True, text=True,
                              timeout=600, check=False)
        check(done.returncode == 2 and says in done.stderr, f"{words}: {done.stderr}")
    return result()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
