#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""metropolis_test.py PROGRAM: steps that are accepted or rejected. Gibbs' law at steps so long that the methods without
a test are far off; one path alone and in the ensemble; files that are continued; what is refused, and why."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import h5py

from common import PROGRAM, check, result

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import warm_top  # noqa: E402

MODELS = {
    "oscillator": """param kT = 0.5
config q in R
lagrangian 1/2*q'^2 - 1/2*q^2
friction q' = 1
temperature kT
observable kinetic = q'^2/kT, potential = q^2/kT
start q = 1
""",
    "pendulum": """config a in S1
lagrangian 1/2*a'^2 + cos(a)
friction a' = 0.8
temperature 0.6
observable height = -cos(a), kinetic = a'^2
start a = 0.6
""",
    "top": warm_top.TEXT,
    # the mass matrix depends on the angles: the law of the positions has the weight sqrt(det M)
    "double": """config a in S1, b in S1
lagrangian a'^2 + 1/2*b'^2 + a'*b'*cos(a - b) + 2*cos(a) + cos(b)
friction a' = 0.5
friction b' = 0.8
temperature 0.6
observable upper = cos(a), lower = cos(b)
start a = 0.6
""",
    "sphere": """config x in R^3
lagrangian 1/2*dot(x', x') - x[3]
holonomic dot(x, x) = 1
friction x' = 0.5
temperature 0.6
observable height = x[3], kinetic = dot(x', x')
start x = [0.6, 0, -0.8]
""",
}


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == code, f"{words} ended with {done.returncode}, expected {code}: {done.stderr[-500:]}")
    return done


def ensemble(model, method, dt, t1, paths, *words):
    grid = ["--seed", "3", "--dt", str(dt), "--t1", str(t1), "--every", str(t1), "--paths", str(paths)]
    return json.loads(run("ensemble", model + ".nh", "--json", "--method", method, *grid, *words).stdout)


def bessel(n, x):
    return sum((x / 2)**(2 * k + n) / math.factorial(k) / math.factorial(k + n) for k in range(30))


def double_means():
    """Means of cos(a), cos(b) with the weight sqrt(det M) exp(-V/kT), by the trapezoidal rule: periodic, so exact."""
    n, weight, sums = 128, 0.0, [0.0, 0.0]
    for i in range(n):
        for k in range(n):
            a, b = 2 * math.pi * i / n, 2 * math.pi * k / n
            w = math.sqrt(2 - math.cos(a - b)**2) * math.exp((2 * math.cos(a) + math.cos(b)) / 0.6)
            weight += w
            sums[0] += w * math.cos(a)
            sums[1] += w * math.cos(b)
    return {"upper": sums[0] / weight, "lower": sums[1] / weight}


def law():
    """Within 4 standard errors, where the method without a test is off by more than so many in at least one number."""
    beta = 1 / 0.6
    exact = {
        "oscillator": {"kinetic": 1, "potential": 1},
        "pendulum": {"height": -bessel(1, beta) / bessel(0, beta), "kinetic": 0.6},
        "top": warm_top.MEANS,
        "double": double_means(),
    }
    # step; how many of them forget the start; how far off the others are
    rows = (("oscillator", "obabo", 1.5, 20, 20), ("oscillator", "baoab", 0.75, 60, 4),
            ("pendulum", "ovo_midpoint", 1.5, 30, 4), ("pendulum", "ovo_rattle", 1.5, 30, 20), ("top", "obabo", 1, 30, 10),
            ("double", "ovo_rattle", 1, 25, 0), ("oscillator", "baoab_rattle", 0.75, 60, 4),
            ("double", "baoab_rattle", 0.75, 40, 0))
    for model, method, dt, steps, far in rows:
        words = (model, method, dt, dt * steps, 4096, "--engine", "interpreted")
        plain, tested = ensemble(*words), ensemble(*words, "--metropolis")
        check(tested["method"] == method + "_metropolis" and 0.5 < tested["acceptance"] < 1 and "acceptance" not in plain,
              f"{model}, {method}: {tested['method']}, {tested.get('acceptance')} accepted")
        check(tested["failed"] == 0, f"{model}, {method}: {tested['failed']} failed")
        off = 0.0
        for name, value in exact[model].items():
            x, y = tested["observables"][name], plain["observables"][name]
            z = (x["mean"][-1] - value) / x["stderr"][-1]
            check(abs(z) < 4, f"{model}, {method}: {name} {x['mean'][-1]}, expected {value}: {z} standard errors")
            off = max(off, abs(y["mean"][-1] - value) / y["stderr"][-1])
        check(off >= far, f"{model}, {method} without a test is off by {off} standard errors alone")


def midpoint_is_exact():
    """The midpoint rule keeps the energy of an oscillator: every step is accepted."""
    check(ensemble("oscillator", "ovo_midpoint", 1.5, 30, 64, "--metropolis")["acceptance"] == 1, "the midpoint rule")


def constrained():
    """On a sphere by RATTLE: the mean height coth b - 1/b. In the longer steps the rod turns by more than a right angle,
    or the equations have no solution: such steps are rejected, and the path goes on."""
    beta = 1 / 0.6
    for method, dt, least in (("ovo_rattle", 0.125, 0.9), ("baoab_rattle", 0.125, 0.9), ("ovo_rattle", 1, 0.4)):
        d = ensemble("sphere", method, dt, 6 if dt < 1 else 30, 1024, "--metropolis")
        check(d["failed"] == 0 and least < d["acceptance"] < 1, f"{d['failed']} failed, {d['acceptance']} accepted")
        for name, value in (("height", 1 / beta - 1 / math.tanh(beta)), ("kinetic", 1.2)):
            x = d["observables"][name]
            check(abs(x["mean"][-1] - value) < 4 * x["stderr"][-1],
                  f"sphere, {method}: {name} {x['mean'][-1]}, expected {value}")


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def one_path():
    """`run --path K` is path K of the ensemble, by both engines; a run goes on from its file with the same bits."""
    for model, method, columns in (("pendulum", "obabo", ["a", "a'"]), ("top", "ovo_rattle", ["Omega[1]", "Omega[3]"]),
                                   ("sphere", "ovo_rattle", ["x[1]", "x'[2]"]),
                                   ("sphere", "baoab_rattle", ["x[1]", "x'[2]"]), ("pendulum", "baoab", ["a", "a'"]),
                                   ("double", "ovo_rattle", ["a", "b'"]), ("pendulum", "ovo_midpoint", ["a"])):
        dt = "0.125" if model == "sphere" else "1"
        t1 = str(40 * float(dt))
        words = [model + ".nh", "--seed", "5", "--dt", dt, "--t1", t1, "--every", dt, "--method", method, "--metropolis"]
        run("ensemble", *words, "--path", "11", "--columns", ",".join(columns), "-o", "path.csv")
        expected = [[row[c] for c in columns] for row in rows_of("path.csv")]
        for engine in ("compiled", "interpreted") if method != "baoab" else ("interpreted",):
            out = json.loads(run("run", *words, "--path", "11", "--engine", engine, "-o", "run.csv", "--json").stdout)
            check([[row[c] for c in columns] for row in rows_of("run.csv")] == expected,
                  f"{model}, {method}, {engine}: another path than that of the ensemble")
            check(0.3 < out["noise"]["acceptance"] <= 1, f"{model}, {method}: {out['noise']} accepted")
        words[words.index("--t1") + 1] = str(16 * float(dt))
        run("run", *words, "--path", "11", "-o", "part.h5")
        part = json.loads(run("run", "--from", "part.h5", "--t1", t1, "--json").stdout)
        check(part["state"] == out["state"] and part["noise"]["acceptance"] == out["noise"]["acceptance"],
              f"{model}, {method}: a run that is continued is another one")
        check("accepted" in run("run", *words, "--path", "11", "-o", "run.csv").stdout, "the summary of a run")


def files():
    """An ensemble that is continued; its file tells how many steps were accepted."""
    words = ["pendulum.nh", "--seed", "3", "--dt", "1", "--t1", "10", "--method", "obabo", "--metropolis", "-o", "e.h5"]
    run("ensemble", *words, "--paths", "256")
    check("accepted" in run("ensemble", *words, "--paths", "600", "--from", "e.h5").stdout, "the summary of an ensemble")
    whole = json.loads(run("ensemble", *words[:-2], "--paths", "600", "--json").stdout)
    with h5py.File("e.h5") as file:
        told = file["ensemble"].attrs["acceptance"]
    check(told == whole["acceptance"], f"{told} instead of {whole['acceptance']}")
    plain = run("ensemble", *words[:-3], "-o", "e.h5", "--paths", "700", "--from", "e.h5", code=2)
    check("its method is another one" in plain.stderr, plain.stderr)


WARM = "config q in R\nlagrangian 1/2*q'^2 - 1/2*q^2\nfriction q' = 1\ntemperature 0.5\n"
REFUSED = (
    # noise of another kind, none, no temperature
    (WARM + "noise W force q' = 0.1\n", "obabo", "noise comes from friction and temperature alone"),
    ("config q in R\nlagrangian 1/2*q'^2\nforce q' = -q'\nnoise W force q' = 1\n", "obabo", "friction and temperature"),
    ("param kT = 0\n" + WARM.replace("0.5\n", "kT\n"), "obabo", "the temperature has to be positive"),
    # no Gibbs law
    (WARM + "force q' = -0.1*q\n", "obabo", "does not account for forces besides friction"),
    (WARM + "process N drift -N\nobservable n = N\n", "obabo", "a state without processes"),
    (WARM.replace("1/2*q^2", "(1 + 0.1*sin(t))/2*q^2"), "obabo", "depend on time"),
    ("config x in R^2\nlagrangian 1/2*dot(x', x') + 0.3*(x[1]*x'[2] - x[2]*x'[1])\nfriction x' = 1\ntemperature 1\n",
     "ovo_rattle", "linear in the velocities"),
    # steps that do not keep volume, or do not go back
    (WARM.replace("1/2*q'^2", "(1 + q^2)/2*q'^2"), "ovo_midpoint", "only without rotations and with a constant mass"),
    (WARM.replace("1/2*q'^2", "(1 + q^2)/2*q'^2"), "obabo", "a constant mass matrix"),
    ("config R in SO3 velocity Omega\nlagrangian 1/2*dot(Omega, diag(1, 2, 3)*Omega)\nfriction Omega = 1\ntemperature 1\n",
     "ovo_midpoint", "only without rotations"),
    ("config x in R, y in R, phi in S1\nlagrangian 1/2*(x'^2 + y'^2 + phi'^2)\nconstraint x'*sin(phi) = y'*cos(phi)\n"
     "friction phi' = 1\ntemperature 1\nframe v = x'*cos(phi) + y'*sin(phi), w = phi'\n", "ovo_rattle",
     "nothing but positions is constrained"),
    ("config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nconstraint y' = x' + 1\nfriction x' = 1\ntemperature 1\n",
     "ovo_rattle", "not linear"),
)


def refusals():
    for text, method, says in REFUSED:
        with open("r.nh", "w", encoding="utf-8") as file:
            file.write("model r\n" + text)
        for words in (["ensemble", "--paths", "2"], ["run"]):
            words = [words[0], "r.nh", *words[1:], "--seed", "1", "--dt", "0.5", "--t1", "2", "--method", method]
            done = run(*words, "--metropolis", code=2)
            check(says in done.stderr, f"{method} on {text!r}: {done.stderr}")
    fine = ["oscillator.nh", "--dt", "0.5", "--t1", "2"]
    for words, says in ((["ensemble", *fine, "--metropolis"], "`euler_heun` is not one of them"),
                        (["ensemble", *fine, "--metropolis", "--method", "obabo,rk4"], "`rk4` is not one of them"),
                        (["ensemble", *fine, "--metropolis", "--method", "obabo", "--target", "q=0.1"], "give one of them"),
                        (["run", *fine, "--metropolis", "--method", "obabo", "--noise", "off"], "needs --seed"),
                        (["run", *fine, "--metropolis", "--seed", "1", "--method", "rk4"], "baoab, obabo, ovo_midpoint")):
        done = run(*words, code=2)
        check(says in done.stderr, f"{words}: {done.stderr}")
    both = json.loads(run("ensemble", *fine, "--metropolis", "--method", "obabo,baoab", "--paths", "4", "--json").stdout)
    check(sorted(both["methods"]) == ["baoab_metropolis", "obabo_metropolis"], "two methods")


def main():
    for name, text in MODELS.items():
        with open(name + ".nh", "w", encoding="utf-8") as file:
            file.write(f"model {name}\n{text}")
    law()
    midpoint_is_exact()
    constrained()
    one_path()
    files()
    refusals()
    return result()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
