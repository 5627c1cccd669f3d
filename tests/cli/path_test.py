#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""path_test.py PROGRAM: `run --seed S --path K` is path K of the ensemble, bit for bit: for all methods, closures of the
constraints, engines and lanes. An ensemble that is killed goes on from its file with the same bits."""
import csv
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from common import PROGRAM, check, result

MODELS = {
    # rotations and their images, two channels; the core alone for `jellett`
    "routh": """param m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4, xi = 0.1
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = r*Gamma + l*e3
let I = diag(I1, I1, I3)
lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*dot(x, e3)
constraint x' = R*cross(Omega, s)
noise W transport Omega = xi*e3
noise V transport Omega = xi*e1
observable jellett = dot(I*Omega, s)
start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], x = [0, 0, r + l*Gamma[3]]
""",
    # the height is determined by a relation
    "height": """param m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = r*Gamma + l*e3
let I = diag(I1, I1, I3)
lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*x[3]
constraint x' = R*cross(Omega, s)
relation x[3] = r + l*Gamma[3]
noise W transport Omega = [0.3, 0.2, 0.1]
noise V transport Omega = 0.2*e2
observable up = Gamma
observable jellett = dot(I*Omega, s)
observable side = x[1]^2 + x[3]
start R = rotation(e2, -0.3), Omega = [0.3, 0.1, 1.0], x = [0, 0, r] + l*R*e3
""",
    # a relation between coordinates that the equations read: by Newton's method, where a state is recorded
    "bowl": """config R in SO3 velocity Omega
config x in R^3
lagrangian 1/2*dot(Omega, 0.4*Omega) + 1/2*dot(x', x') - x[3]
constraint x' = cross(R*Omega, x/norm(x))
relation dot(x, x) = 4
noise W transport Omega = [0.1, 0.2, 0.1]
observable square = dot(x, x)
start x = [1.2, 0, -1.6], Omega = [0.1, 0.2, 0.3]
""",
    # equations that switch: a soft wall and a drag
    "wall": """config x in R
lagrangian x'^2/2 - (if x < 0 then 20*x^2 else 0) - x
force x' = -0.3*abs(x')*x'
noise W force x' = 0.5*(1 + min(1, abs(x)))
observable behind = (if x < 0 then 1 else 0), depth = max(0, -x)
start x = 0.2
""",
    # the same at a temperature
    "beach": """config x in R
lagrangian x'^2/2 - (if x < 0 then 20*x^2 else 0) - x
friction x' = 1
temperature 0.5
""",
    # a row that switches
    "gate": """config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - x^2
constraint y' = abs(x)*x'
noise W force x' = 0.3
observable slack = y' - abs(x)*x', off = y - x*abs(x)/2
start x = 0.5, y = 0.125
""",
    # a point pushed at random over a globe: every coordinate is read by the equations
    "globe": """config x in R^3
lagrangian dot(x', x')/2 - x[3]
constraint dot(x, x') = 0
relation dot(x, x) = 1
noise W transport x' = cross(e1, x)
noise V transport x' = cross(e2, x)
observable square = dot(x, x)
start x = [0.6, 0, 0.8]
""",
    # the same in S2, with noise in all directions
    "sphere": """config x in S2
lagrangian dot(x', x')/2
noise W transport x' = cross(e1, x)
noise V transport x' = cross(e2, x)
noise U transport x' = cross(e3, x)
observable square = dot(x, x)
start x = [0.6, 0, 0.8], x' = e2
""",
    # a warm body that hangs on a rod
    "hung": """config R in SO3 velocity Omega
config x in R^3
let hook = x + R*[0.5, 0, 0.2]
lagrangian 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) + 1/2*dot(x', x') - x[3]
holonomic dot(hook, hook) = 1
friction Omega = 0.7
friction x' = 0.5
temperature 0.5
observable far = dot(hook, hook) - 1, slack = dot(hook, x' + R*cross(Omega, [0.5, 0, 0.2]))
start x = [-0.5, 0, -1.2]
""",
    # a rotation with two images
    "magnet": """config R in SO3 velocity Omega
config x in R
let Gamma = R^T*e3, N = R^T*e1
lagrangian 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) + 1/2*x'^2 - 0.8*Gamma[3] + 0.5*N[1]
constraint x' = Omega[3]
noise W transport Omega = 0.3*e2
noise V force Omega = 0.2*e1
observable up = Gamma[3], north = N[1]
start R = rotation(e2, 0.4), Omega = [0.3, 0.1, 1.0]
""",
    # a rotation with two images that are parallel: one has nothing to add
    "tremble": """param u = [0, 0, 0.2]
config R in SO3 velocity Omega
let Gamma = R^T*e3
lagrangian 1/2*dot(Omega, diag(0.8, 0.8, 0.5)*Omega) - 0.5*Gamma[3]
noise W potential dot(u, R*e3)
observable up = Gamma[3], vertical = dot(diag(0.8, 0.8, 0.5)*Omega, Gamma)
start R = rotation(e1, 0.6), Omega = [0, 0, 3.5]
""",
    # general noise
    "spring": """param c = 1, k = 2, s = 0.5
config x in R, phi in S1
lagrangian 1/2*x'^2 - k*x^2/2 + 1/2*phi'^2
force x' = -c*x'
noise W force x' = s*(1 + x^2), phi' = s
start x = 1
""",
    # a position constraint
    "pendulum": """config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - y
holonomic x^2 + y^2 = 1
noise W force x' = 0.5
start x = 0.6, y = -0.8
""",
    # friction at a temperature
    "top": """config R in SO3 velocity Omega, x in R
lagrangian 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) + 1/2*x'^2 - 0.8*dot(R*e3, e3) - x^2*(1 + dot(R*e1, e3))
friction Omega[1] = 0.7
friction Omega[2] - x' = 0.5
temperature 0.5
start R = rotation(e2, 0.4), Omega = [0.3, 0.1, 1.0]
""",
    # a basis that is renewed
    "knife": """config x in R, y in R, phi in S1
lagrangian 1/2*(x'^2 + y'^2 + phi'^2) - 0.3*x
constraint x'*sin(phi) = y'*cos(phi)
noise A transport phi' = 0.5
noise B force x' = 0.2
start phi' = 1, x' = 0.2
""",
    # a basis, images of a rotation, and a height determined by a relation
    "rubber": """param m = 1, r = 1, l = 0.2, g = 1, I1 = 0.35, I3 = 0.4
config R in SO3 velocity Omega
config x in R^3
let Gamma = R^T*e3
let s = r*Gamma + l*e3
let I = diag(I1, I1, I3)
lagrangian 1/2*dot(Omega, I*Omega) + m/2*dot(x', x') - m*g*x[3]
constraint x' = R*cross(Omega, s)
constraint dot(Omega, Gamma) = 0
relation x[3] = r + l*Gamma[3]
noise W transport Omega = 0.3*cross(Gamma, [0.3, 1, 0.2])
noise V force Omega = 0.2*e1
observable up = Gamma
start R = rotation(e2, -0.3), Omega = cross(R^T*e3, [1, 0.2, 0.4]), x = [0, 0, r] + l*R*e3
""",
    # positions on spheres and a rod between them, a rotation beside them
    "balls": """config n in S2, x in R^3, R in SO3 velocity Omega
let Gamma = R^T*e3
lagrangian 1/2*dot(n', n') + dot(x', x') + 1/2*dot(Omega, diag(0.7, 1, 1.4)*Omega) - 0.8*Gamma[3] - n[3] - x[3]
holonomic dot(x - n, x - n) = 0.25
force Omega = 0.1*dot(n, e1)*Gamma
noise W force n' = 0.3*e1, Omega = 0.2*e2
noise V potential 0.2*dot(n, R*e1)
observable length = norm(x - n)
start n = [0.6, 0, 0.8], x = [0.6, 0.3, 1.2], n' = [0, 0.5, 0]
""",
}
COMMON = ["--seed", "5", "--dt", "0.05", "--t1", "1", "--every", "0.25"]


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=600, check=False)


def table(path):
    with open(path, encoding="utf-8") as file:
        head = file.readline()
        return head, list(csv.DictReader(file))


def single(model, path, *words):
    """The rows of `run`, and its exit code."""
    done = run("run", model, *COMMON, "--path", str(path), *words, "-o", "run.csv")
    return done.returncode, table("run.csv") if done.returncode == 0 else done.stderr


def same_rows(model, path, *words):
    """`run` and `ensemble --path`."""
    code, one = single(model, path, *words)
    words = [w for w in words if w not in ("--engine", "compiled", "interpreted")]
    done = run("ensemble", model, *COMMON, "--path", str(path), *words, "--columns", "all", "-o", "path.csv")
    check(done.returncode == code, f"{model} {words}: run ends with {code}, ensemble with {done.returncode}: {done.stderr}")
    if code or done.returncode:
        return False
    (head, rows), (head2, rows2) = one, table("path.csv")
    check(head == head2 and head.startswith(f"# seed 5, path {path}, dt_base 0.05"), f"{head!r}, {head2!r}")
    check(len(rows) == len(rows2) == 5, "rows")
    check(all(a[k] == b[k] for a, b in zip(rows, rows2) for k in b), f"{model} path {path} {words}: the same bits")
    return True


def same_columns(model, names, method="euler_heun"):
    """What else is asked for does not matter: less is integrated, the energy is written in other variables."""
    _, (_, rows) = single(model, 6, "--method", method)
    for name in names:
        run("ensemble", model, *COMMON, "--path", "6", "--method", method, "--columns", name, "-o", "path.csv")
        check(all(a[k] == b[k] for a, b in zip(rows, table("path.csv")[1]) for k in b), f"{model} {method} {name} alone")


def agreement(model, *words, height=None):
    """After long noisy steps: R agrees with its images, and relations hold."""
    grid = ["--seed", "1", "--dt", "0.02", "--t1", "50", "--every", "10", "-o", "long.csv"]
    check(run("run", model, *grid, *words).returncode == 0, model)
    for row in table("long.csv")[1]:
        x = {key: float(value) for key, value in row.items()}
        if height:
            check(abs(x["x[3]"] - 1 - 0.2*x["R[3,3]"]) < 1e-12, f"{model}: height off by {x['x[3]'] - 1 - 0.2*x['R[3,3]']}")
            check(all(abs(x[f"up[{i}]"] - x[f"R[3,{i}]"]) < 1e-12 for i in (1, 2, 3)), f"{model}: images")
        else:
            check(abs(x["up"] - x["R[3,3]"]) < 1e-12, f"{model}: the first image")


def same_paths(model, method, n=9, columns="all"):
    """Extremes of an ensemble in lanes are those of its paths."""
    done = run("ensemble", model, *COMMON, "--paths", str(n), "--method", method, "--columns", columns, "--json")
    check(done.returncode == 0, done.stderr)
    observables = json.loads(done.stdout)["observables"]
    paths = [single(model, k, "--method", method)[1][1] for k in range(n)]
    for name, x in observables.items():
        for row in range(5):
            values = [float(p[row][name]) for p in paths]
            check(min(values) == x["min"][row] and max(values) == x["max"][row], f"{model} {method} {name} row {row}")


def in_lanes(model, method):
    """Corrections after every step (positions, a basis) are made in lanes: no path goes alone."""
    same_paths(model, method, 5)
    text = run("ensemble", model, *COMMON, "--paths", "5", "--method", method).stdout
    check(" lanes" in text and "path by path" not in text, f"{model} {method} in lanes: {text[:400]}")


def methods():
    return [m["name"] for m in json.loads(run("list", "methods", "--json").stdout)["methods"]]


def far():
    """Long steps over a sphere: every path is put back onto its relation, and follows the turn of its basis."""
    words = ["--t1", "2", "--json", "--columns", "square"]
    done = json.loads(run("ensemble", "globe.nh", "--dt", "0.0625", "--paths", "1024", *words).stdout)
    square = done["observables"]["square"]
    check(done["failed"] == 0, f"a relation: {done['failed']} paths failed")
    check(max(abs(x - 1) for x in square["min"] + square["max"]) < 1e-12, f"the relation of the globe: {square}")
    done = json.loads(run("ensemble", "sphere.nh", "--dt", "0.03125", "--paths", "40000", *words).stdout)
    check(done["failed"] == 0, f"a basis: {done['failed']} paths failed")


def switching():
    """Paths of equations that switch go through lanes; velocities that follow from rows that switch are on them."""
    for method in ("euler_heun", "midpoint", "log_heun", "euler_maruyama"):
        same_paths("wall.nh", method, 5)
    done = json.loads(run("ensemble", "wall.nh", *COMMON, "--paths", "64", "--json").stdout)
    behind = done["observables"]["behind"]["mean"][-1]
    check(0 < behind < 1, f"both sides of the wall are reached: {behind}")
    for words in (["ensemble", "beach.nh"], ["run", "beach.nh", "--path", "0", "-o", "beach.csv"]):
        done = run(*words, *COMMON, "--method", "baoab")
        check("needs equations without switches" in done.stderr, f"why baoab is refused: {done.stderr}")
    run("run", "gate.nh", "--seed", "2", "--dt", "1/64", "--t1", "4", "--every", "1/64", "-o", "gate.csv")
    rows = table("gate.csv")[1]
    check(len(rows) == 257 and min(float(row["x"]) for row in rows) < -0.1, "the gate is passed")
    check(max(abs(float(row["slack"])) for row in rows) < 1e-14, "velocities on the row")
    check(max(abs(float(row["off"])) for row in rows) < 1e-3, "positions along the row")
    check(run("ensemble", "gate.nh", *COMMON).returncode == 2, "rows that switch are for single paths")


def large():
    """Step 17 of this path grows by 6.3 standard deviations: implicit equations get 6 (docs/ensemble.md)."""
    words = ["spring.nh", "--seed", "1", "--path", "1091016", "--dt", "0.25", "--t1", "5", "--every", "0.25"]
    for method, cut in (("midpoint", 1), ("rk4", 0)):
        one = json.loads(run("run", *words, "--method", method, "--series", "--json").stdout)
        other = json.loads(run("ensemble", *words, "--method", method, "--columns", "x", "--json").stdout)
        check(one["noise"]["truncated"] == cut, f"{method}: steps cut: {one['noise']}")
        check(one["series"]["x"] == other["observables"]["x"], f"{method}: the same bits when an increment is cut")


def continued():
    """A path goes on from its file with the same bits, also what a method carries from step to step."""
    words = ["knife.nh", "--seed", "5", "--dt", "0.0625", "--method", "variational_midpoint"]
    run("run", *words, "--t1", "0.5", "-o", "half.h5")
    parts = [json.loads(run("run", *x, "--t1", "1", "--json").stdout) for x in (["--from", "half.h5"], words)]
    check(parts[0]["state"] == parts[1]["state"] and parts[0]["t"] == 1, "the same bits after a break")


def killed():
    """A process that is killed loses no more than a moment; what follows has the same bits."""
    words = ["ensemble", "spring.nh", "--seed", "5", "--dt", "0.05", "--t1", "1"]
    child = subprocess.Popen([PROGRAM, *words, "--paths", "1000000000000", "--quiet", "-o", "big.h5"])
    for _ in range(6000):
        if os.path.exists("big.h5") or child.poll() is not None:
            break
        time.sleep(0.02)
    check(child.poll() is None, "it runs until it is killed")
    child.send_signal(signal.SIGKILL)
    child.wait()
    text = run("info", "big.h5").stdout
    done = int(text.split("ensemble")[1].split()[0])
    check(done > 0 and done % 256 == 0 and "interrupted" in text, f"whole leaves: {text}")
    more = [*words, "--json", "--paths", str(done + 300)]
    continued, whole = (json.loads(run(*more, *x).stdout) for x in (["--from", "big.h5"], []))
    for x in (continued, whole):
        x.pop("path_steps_per_second")
        x.pop("threads")
    check(continued == whole, "the same bits after a kill")


def main():
    for name, text in MODELS.items():
        with open(name + ".nh", "w", encoding="utf-8") as file:
            file.write(f"model {name}\n{text}")
    n = sum(same_rows("routh.nh", 37, "--method", m) for m in methods())
    check(n >= 30, f"methods that follow noise: {n}")
    for model in ("spring.nh", "pendulum.nh", "knife.nh", "rubber.nh", "balls.nh"):
        for method in ("euler_heun", "rk4", "midpoint", "dla_midpoint", "variational_midpoint", "rattle"):
            same_rows(model, 6, "--method", method)
    for method in ("baoab", "obabo", "ovo_midpoint", "ovo_rattle", "baoab_rattle"):
        check(same_rows("top.nh", 6, "--method", method), f"{method} follows friction at a temperature")
    for engine in ("compiled", "interpreted"):
        same_rows("routh.nh", 1, "--engine", engine)
        same_rows("height.nh", 1, "--engine", engine)
    same_columns("height.nh", ["energy", "up", "side"])
    same_columns("magnet.nh", ["energy", "R,x,north"])
    same_columns("spring.nh", ["energy"], "midpoint")
    for model, names in (("pendulum.nh", ["x'", "energy"]), ("knife.nh", ["x'", "y',energy"]),
                         ("rubber.nh", ["up", "x'", "energy"]), ("balls.nh", ["n'", "R", "length,energy"])):
        same_columns(model, names)
    same_columns("bowl.nh", ["x", "square"])
    check(all(abs(float(row["square"]) - 4) < 4e-12 for row in table("path.csv")[1]), "the relation of the bowl")
    same_paths("height.nh", "euler_heun", 3, "x,energy,side")
    agreement("height.nh", height=True)
    agreement("magnet.nh")
    agreement("tremble.nh")
    agreement("tremble.nh", "--method", "variational_midpoint")
    check(abs(float(table("long.csv")[1][-1]["vertical"]) - 0.5*3.5*math.cos(0.6)) < 1e-12, "a momentum is kept on a path")
    for model in ("pendulum.nh", "knife.nh"):
        for method in ("euler_heun", "midpoint", "variational_midpoint"):
            in_lanes(model, method)
    in_lanes("rubber.nh", "euler_heun")
    in_lanes("balls.nh", "rk4")
    in_lanes("balls.nh", "rattle")
    for method in ("ovo_rattle", "baoab_rattle"):
        in_lanes("hung.nh", method)
        rows = single("hung.nh", 3, "--method", method)[1][1]
        check(all(abs(float(row[name])) < 1e-12 for row in rows for name in ("far", "slack")), f"{method}: the rod holds")
    same_paths("spring.nh", "rk4")
    same_paths("routh.nh", "euler_heun")
    same_paths("routh.nh", "variational_midpoint")
    same_paths("top.nh", "baoab")
    same_paths("top.nh", "ovo_rattle")
    same_paths("top.nh", "baoab_rattle")
    same_paths("spring.nh", "variational_euler")
    # comments do not stand in the way of those who read tables
    check(run("plot", "path.csv", "--term").returncode == 0, "a table with a comment is plotted")
    far()
    switching()
    large()
    continued()
    killed()
    return result()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.exit(main())
