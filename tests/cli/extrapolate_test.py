#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""extrapolate_test.py PROGRAM: means extrapolated from steps h and h/2. Against the paths themselves, followed with both
steps; against exact means, to the order that extrapolation gains. Nothing rests on luck: means of antithetic pairs of a
linear equation with additive noise are those of the method without noise."""
import json
import math
import os
import subprocess
import sys
import tempfile

from common import PROGRAM, check, result

GENERAL = """model general
config x in R, phi in S1
lagrangian 1/2*x'^2 - x^2 + 1/2*phi'^2
force x' = -x'
noise W force x' = 0.5*x
noise V transport x' = 0.2*x, phi' = 0.3*sin(x)
observable square = x^2, y = x + phi
start x = 1
"""
LINEAR = """model linear
config x in R
lagrangian 1/2*x'^2
force x' = -x'
noise W force x' = 0.4
start x' = 1
"""
EDGE = """model edge
config x in R
lagrangian 1/2*x'^2
noise W force x' = 1
observable root = sqrt(1 + x)
"""


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == code, f"{words} ended with {done.returncode}, expected {code}: {done.stderr[-500:]}")
    return done


def ensemble(model, *words):
    return json.loads(run("ensemble", model, "--json", "--quiet", *words).stdout)


def near(a, b, scale=1.0):
    """To the roundings of sums over some hundred paths."""
    return abs(a - b) <= 1e-13 * scale


def of_paths():
    """The same from the rows of all paths."""
    n = 300
    grid = ["--seed", "3", "--dt-base", "0.125", "--t1", "1", "--every", "0.5", "--paths", str(n)]
    for method, order, more in (("euler_maruyama", 1, []), ("ninomiya_victoir", 2, []), ("rk4", 1, ["--antithetic"])):
        words = [*grid, "--method", method, *more]
        got = ensemble("general.nh", *words, "--dt", "0.125", "--extrapolate")
        check(got["weak_order"] == order, f"weak order of {method}")
        rows = [[p["observables"] for p in ensemble("general.nh", *words, "--dt", dt, "--chosen", f"0:{n - 1}")["chosen"]]
                for dt in ("0.125", "0.0625")]
        for name, item in got["observables"].items():
            for row in range(3):
                part = 1 / (2 ** order - 1)
                x = [h[name][row] + part * (h[name][row] - w[name][row]) for w, h in zip(*rows)]
                off = [w[name][row] - v for w, v in zip(rows[0], x)]
                for values, key in ((x, "extrapolated"), (off, "step_error")):
                    if more:
                        values = [(a + b) / 2 for a, b in zip(values[::2], values[1::2])]
                    mean = math.fsum(values) / len(values)
                    error = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
                    check(near(item[key][row], mean), f"{method} {name} {key} {row}")
                    check(near(item[key + "_stderr"][row], error), f"{method} {name} {key} {row} stderr")
            check(near(item["time_average_extrapolated"]["mean"], sum(item["extrapolated"]) / 3), f"{name} over time")
        plain = ensemble("general.nh", *words, "--dt", "0.125")["observables"]
        check(all(plain[k][s] == got["observables"][k][s] for k in plain for s in plain[k]), "the rest is as without")


def orders():
    """The mean of x' is exp(-t): what is left falls with one order more than the method has, with two where the error
    is even in h."""
    for method, left in (("euler_maruyama", 2), ("implicit_euler_maruyama", 2), ("euler_heun", 3), ("trapezoid", 4)):
        errors, order = [], 0
        for dt in (0.0625, 0.03125):
            got = ensemble("linear.nh", "--paths", "2", "--antithetic", "--dt", str(dt), "--t1", "1", "--method", method,
                           "--columns", "x'", "--extrapolate")
            item, order = got["observables"]["x'"], got["weak_order"]
            errors.append((item["extrapolated"][-1] - math.exp(-1), item["mean"][-1] - math.exp(-1)))
            check(abs(item["step_error"][-1] / errors[-1][1] - 1) < 0.1, f"{method}: the error of dt, as estimated")
        slopes = [math.log2(abs(a / b)) for a, b in zip(*errors)]
        check(abs(slopes[1] - order) < 0.1 and abs(slopes[0] - left) < 0.1, f"{method}: orders {slopes}")


def bits():
    """However it is computed: threads, interpreter, continued; in a file; in a table."""
    words = ["--seed", "7", "--dt", "0.1", "--t1", "1", "--extrapolate", "--method", "ninomiya_victoir"]
    whole = ensemble("general.nh", *words, "--paths", "700")["observables"]
    for more in (["--threads", "1"], ["--engine", "interpreted"]):
        check(ensemble("general.nh", *words, "--paths", "700", *more)["observables"] == whole, f"same bits {more}")
    run("ensemble", "general.nh", *words, "--paths", "300", "-o", "a.h5")
    again = ensemble("general.nh", *words, "--paths", "700", "--from", "a.h5", "-o", "a.h5")["observables"]
    check(again == whole, "continued")
    run("ensemble", "general.nh", *[w for w in words if w != "--extrapolate"], "--paths", "700", "--from", "a.h5", code=2)
    table = run("ensemble", "general.nh", *words[:-2], "--paths", "10", "--columns", "y", "--sweep", "x=0:1:2").stdout
    check(table.split("\n")[0] == "x,method,paths,failed,y,y stderr,y extrapolated,y extrapolated stderr", "a table")
    text = run("ensemble", "general.nh", *words, "--paths", "10").stdout
    check("(dt 0.1 and 0.1/2, weak order 2)" in text and text.count("error of dt") == 2, "text")
    failed = ensemble("edge.nh", "--dt", "0.25", "--t1", "2", "--paths", "200", "--extrapolate")
    alone = ensemble("edge.nh", "--dt", "0.25", "--t1", "2", "--paths", "200")
    check(failed["failed"] >= alone["failed"] > 0, "a path that fails with one of the steps is left out")


def refusals():
    for words, says in ((["--dt", "0.75", "--t1", "3"], "give --dt-base 0.75"),
                        (["--path", "1", "--dt", "0.5", "--t1", "1"], "--extrapolate does not apply")):
        done = run("ensemble", "general.nh", *words, "--extrapolate", code=2)
        check(says in done.stderr, f"{words} says: {done.stderr}")
    run("ensemble", "general.nh", "--dt", "0.75", "--dt-base", "0.75", "--t1", "3", "--extrapolate", "--paths", "10")


def main():
    for name, text in (("general", GENERAL), ("linear", LINEAR), ("edge", EDGE)):
        with open(name + ".nh", "w", encoding="utf-8") as file:
            file.write(text)
    of_paths()
    orders()
    bits()
    refusals()
    return result()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
