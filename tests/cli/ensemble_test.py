#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ensemble_test.py PROGRAM: the command line of ensembles: JSON, files, refusals, the same bits however it is cut."""
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

from common import PROGRAM, check, result

MODEL = """model tracker
param c = 1, k = 2, s = 0.5
config x in R, phi in S1
lagrangian 1/2*x'^2 - k*x^2/2 + 1/2*phi'^2
force x' = -c*x'
noise W force x' = s, phi' = s
observable square = x^2
start x = 1
"""


def run(*words, code=0):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600, check=False)
    check(done.returncode == code, f"{words} ended with {done.returncode}, expected {code}: {done.stderr[-500:]}")
    return done


def ensemble(*words, code=0):
    return json.loads(run("ensemble", "m.nh", "--json", *words, code=code).stdout)


def bare(x):
    """Without what depends on the machine."""
    return {k: v for k, v in x.items() if k not in ("path_steps_per_second", "threads", "lanes")}


def lost():
    """A member of a sweep, or a method, of which every path fails: the others go on, and the exit code tells."""
    with open("lost.nh", "w", encoding="utf-8") as file:
        file.write("model lost\nparam c = 1\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = -c*x'\n"
                   "noise W force x' = 1\nobservable v = sqrt(c)*x'\n")
    words = ["--json", "--dt", "0.25", "--t1", "1", "--paths", "64"]
    members = json.loads(run("ensemble", "lost.nh", "--sweep", "c=-1:1:3", *words, code=1).stdout)["members"]
    check([m["failed"] for m in members] == [64, 0, 0], "a member that fails")
    methods = ["--set", "c=1e200", "--method", "rk4,midpoint"]
    done = json.loads(run("ensemble", "lost.nh", *words, *methods, "--columns", "x'", code=1).stdout)["methods"]
    check((done["rk4"]["failed"], done["midpoint"]["failed"]) == (64, 0), "a method that fails")


def main():
    lost()
    base = ["--seed", "7", "--dt", "0.05", "--t1", "2"]
    with open("m.nh", "w", encoding="utf-8") as file:
        file.write(MODEL)
    whole = ensemble(*base, "--paths", "1500", "--columns", "all")
    check(len(whole["times"]) == 11 and whole["times"][-1] == 2, "eleven rows")
    check(set(whole["observables"]) == {"x", "phi", "x'", "phi'", "square", "energy"}, "columns")
    square = whole["observables"]["square"]
    check(all(len(square[k]) == 11 for k in ("mean", "var", "stderr", "min", "max")), "rows of each")
    check(set(square["quantiles"]) == {"0.05", "0.25", "0.5", "0.75", "0.95"}, "quantiles")
    check(whole["paths"] == 1500 and whole["failed"] == 0 and whole["seed"] == 7, "counts")
    check(abs(square["stderr"][5] - (square["var"][5] / 1500) ** 0.5) < 1e-15, "standard error")
    histogram = whole["observables"]["phi"]["histogram"]
    check(len(histogram["counts"]) == 64 and sum(histogram["counts"]) == 1500, "histogram of an angle")
    for words in (["--threads", "1"], ["--threads", "3"], ["--engine", "interpreted"]):
        check(bare(ensemble(*base, "--paths", "1500", "--columns", "all", *words)) == bare(whole), f"same bits {words}")
    # one path, and the same path in an ensemble of one
    one = ensemble(*base, "--path", "0")
    alone = ensemble(*base, "--paths", "1")
    check(one["observables"]["square"] == alone["observables"]["square"]["mean"], "a path")
    # base grids
    check(ensemble(*base, "--paths", "300")["dt_base"] == 0.05, "base")
    fine = ensemble("--seed", "7", "--dt", "0.025", "--dt-base", "0.05", "--t1", "2", "--paths", "300", "--columns", "x")
    coarse = ensemble(*base, "--paths", "300", "--columns", "x")
    check(abs(fine["observables"]["x"]["mean"][-1] - coarse["observables"]["x"]["mean"][-1]) < 1e-3, "the same paths")
    several = ensemble(*base, "--paths", "100", "--method", "euler_heun,rk4")["methods"]
    check(list(several) == ["euler_heun", "rk4"] and several["euler_heun"]["paths"] == 100, "several methods")
    correlated = ensemble(*base, "--paths", "300", "--every", "1", "--columns", "x", "--correlations")
    matrix = correlated["observables"]["x"]["correlations"]
    check(len(matrix) == 3 and matrix[1][1] == 1 and -1 <= matrix[1][2] <= 1 and matrix[1][2] == matrix[2][1], "matrix")
    # files
    ensemble(*base, "--paths", "700", "-o", "a.h5")
    ensemble(*base, "--paths", "1500", "--from", "a.h5", "-o", "b.h5")
    continued = ensemble(*base, "--paths", "1500", "--from", "b.h5")
    check(bare(continued) == bare(ensemble(*base, "--paths", "1500")), "continued")
    check(", seed 7, base grid of 0.05; rows are means" in run("info", "b.h5").stdout, "info")
    run("run", "m.nh", "--seed", "7", "--path", "3", "--dt", "0.025", "--dt-base", "0.05", "--t1", "1", "-o", "one.h5")
    check("seed 7, path 3, grid of 0.05\n" in run("info", "one.h5").stdout, "info of a path")
    run("ensemble", "m.nh", *base, "--paths", "100", "-o", "c.json", "--quiet")
    with open("c.json", encoding="utf-8") as file:
        check(json.load(file)["paths"] == 100, "a .json file")
    run("ensemble", "m.nh", *base, "--path", "3", "-o", "p.csv")
    with open("p.csv", encoding="utf-8") as file:
        check(file.readline().startswith("# seed 7, path 3, dt_base 0.05") and file.readline() == "t,square\n", "a .csv file")
    # figures
    check("square" in run("plot", "b.h5", "--term").stdout, "a figure in the terminal")
    check("density" in run("plot", "b.h5", "--term", "--histogram").stdout, "a histogram")
    if shutil.which("gnuplot"):
        run("plot", "b.h5", "--script", "-o", "b.png")
        with open("b.gp", encoding="utf-8") as file:
            script = file.read()
            check(script.count("filledcurves") == 3, "three bands")
            check("1500 paths by euler\\_heun" in script, "what was drawn")
    run("plot", "pendulum", "--term", "--histogram", code=2)
    # first passage
    passed = ensemble(*base, "--paths", "500", "--passage", "x=0;phi=0.1")["passages"]
    check(list(passed) == ["x=0", "phi=0.1"] and 0 < passed["x=0"]["passed"] <= 500, "passages")
    check(sum(passed["x=0"]["histogram"]["counts"]) == passed["x=0"]["passed"], "histogram of times")
    check(0 < passed["x=0"]["min"] < passed["x=0"]["mean"] < passed["x=0"]["max"] <= 2, "times")
    ensemble(*base, "--paths", "300", "--passage", "x=0", "-o", "t.h5")
    again = ensemble(*base, "--paths", "500", "--passage", "x=0", "--from", "t.h5")["passages"]["x=0"]
    check(again == passed["x=0"], "passages continued")
    run("ensemble", "m.nh", *base, "--paths", "500", "--passage", "x=1", "--from", "t.h5", code=2)
    # sweeps see the same paths: the mean of x, linear in W, depends linearly on s
    members = ensemble(*base, "--paths", "100", "--columns", "x", "--sweep", "s=0:1:3")["members"]
    means = [m["observables"]["x"]["mean"][-1] for m in members]
    check([m["values"]["s"] for m in members] == [0, 0.5, 1], "swept values")
    check(abs(means[0] - 2 * means[1] + means[2]) < 1e-14 and abs(means[1] - means[0]) > 1e-4, f"common noise {means}")
    alone = ensemble(*base, "--paths", "100", "--columns", "x", "--set", "s=0.5")["observables"]["x"]["mean"][-1]
    check(abs(alone - means[1]) < 1e-14, "a member is the ensemble with that value")
    run("ensemble", "m.nh", *base, "--paths", "100", "--sweep", "s=0:1:3", "--method", "euler_heun,rk4", "-o", "s.csv")
    with open("s.csv", encoding="utf-8") as file:
        lines = file.read().split("\n")
    check(lines[0] == "s,method,paths,failed,square,square stderr" and len(lines) == 8, "a table")
    # to a given accuracy: the mean of x obeys the equation without noise, x(2) = exp(-1) (cos 2w + sin(2w)/(2w))
    fine = ensemble("--target", "x=0.01", "--dt", "0.25", "--t1", "2", "--seed", "3", "-o", "levels.json")
    w = 1.75 ** 0.5
    exact = math.exp(-1) * (math.cos(2 * w) + math.sin(2 * w) / (2 * w))
    check(fine["reached"] and fine["number"] == "x" and abs(fine["mean"] - exact) < 0.04, f"target {fine['mean']} {exact}")
    check(fine["stderr"] ** 2 + fine["bias"] ** 2 <= 1e-4 and not fine["antithetic"], "its error")
    check([level["dt"] for level in fine["levels"]] == [0.25 / 2 ** k for k in range(len(fine["levels"]))], "levels")
    with open("levels.json", encoding="utf-8") as file:
        check(json.load(file) == fine, "levels in a file")
    for words in (["--threads", "1"], ["--engine", "interpreted"]):
        check(ensemble("--target", "x=0.01", "--dt", "0.25", "--t1", "2", "--seed", "3", *words) == fine, f"same bits {words}")
    check("target     0.05: reached" in run("ensemble", "m.nh", "--target", "phi=0.05", "--dt", "0.5", "--t1", "2").stdout, "text")
    for words, says in ((["--target", "x"], "COLUMN=RMSE"), (["--target", "y=1"], "there is no 'y'"), (["--target", "x=0"], "COLUMN=RMSE"),
                        (["--target", "x=1", "--dt", "0.3", "--t1", "1"], "0.25"), (["--target", "x=1", "--every", "1"], "--every"),
                        (["--target", "x=1", "--sweep", "s=0:1:3"], "--sweep"), (["--target", "x=1", "--method", "rk4,rk3"], "one --method"),
                        (["--target", "x=1", "-o", "x.h5"], ".json"), (["--target", "x=1", "--method", "log_heun"], "Levy areas"),
                        (["--target", "x=1", "--t1", "-1"], "direction"), (["--target", "x=1", "--method", "nonsense"], "there is no 'nonsense'"),
                        (["--target", "x=1", "--method", "spark2"], "does not fit")):
        done = run("ensemble", "m.nh", *words, code=2)
        check(says in done.stderr, f"{words} says: {done.stderr}")
    # refusals
    for words, says in ((["--dt", "0.3", "--t1", "1"], "0.25"), (["--dt", "0.1", "--dt-base", "0.03", "--t1", "0.9"], "0.09"),
                        (["--dt", "0.1", "--dt-base", "0.03"], "no step"),
                        (["--method", "nonsense"], "there is no 'nonsense'"), (["--columns", "y"], "there is no 'y'"),
                        (["--t1", "-1"], "direction"), (["--every", "0.015"], "multiple"),
                        (["--antithetic", "--paths", "3"], "even"), (["-o", "x.csv"], ".h5"),
                        (["--sweep", "q=0:1:3"], "q"), (["--sweep", "s=0:1:3", "--path", "1"], "--path"),
                        (["--sweep", "s=0:1:3", "-o", "x.h5"], ".csv"), (["--passage", "y=1"], "there is no 'y'"), (["--passage", "x"], "COLUMN=LEVEL"),
                        (["--passage", "x=a"], "COLUMN=LEVEL"), (["--path", "1", "--paths", "5"], "--paths"), (["--seed", "8", "--from", "a.h5"], "another")):
        done = run("ensemble", "m.nh", *words, code=2)
        check(says in done.stderr, f"{words} says: {done.stderr}")
    check("no noise" in run("ensemble", "pendulum", code=2).stderr, "a model without noise")
    run("ensemble", "m.nh", "--from", "nothing.h5", *base, code=3)
    return result()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
