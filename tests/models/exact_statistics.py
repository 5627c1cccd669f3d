#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exact_statistics.py PROGRAM [--paths N] [--show]: means of ensembles that are known in closed form. Each has to be
within 4 standard errors of what is exact. The step is so small that halving it moves a mean by less than the standard
error of a million paths (where it has an effect at all: --extrapolate measures it, with --show); Gibbs' means are those
of steps that are tested, which have no error of the step. The suite runs it with few paths; with many, by hand:
--paths 1000000 --show."""
import argparse
import cmath
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import warm_top  # noqa: E402

DISK = """param R = 1, omega = 1, nu = 0.7, xi1 = 0.3, xi2 = 0.4
config x in R, y in R, theta in S1, phi in S1
lagrangian 1/2*(x'^2 + y'^2 + theta'^2 + phi'^2)
constraint x' = R*theta'*cos(phi)
constraint y' = R*theta'*sin(phi)
noise A transport theta' = xi1{raw}
noise B transport phi' = xi2
observable a = x, b = y, square = x^2 + y^2
start theta' = omega, phi' = nu
"""


def disk(completed):
    """HP section 3 (errata A.5): E z and E|z|^2 at t = 2."""
    t, a = 2.0, complex(-0.08, 0.7)
    z = (cmath.exp(a * t) - 1) / a
    square = 2 * ((cmath.exp(a * t) - 1 - a * t) / (a * a)).real + (0.09 * t if completed else 0)
    text = DISK.format(raw="" if completed else " raw")
    return text, ["--method", "ninomiya_victoir", "--dt", "0.0625", "--t1", "2"], {"a": z.real, "b": z.imag, "square": square}


def ball():
    """The balanced ball without spin: E Gamma = exp(-c^2 t) Gamma0, E|x - x0|^2 = 2 c^2 r^2 t."""
    text = """param c = 0.5
config R in SO3 velocity Omega
config x in R^3
lagrangian 1/2*dot(Omega, 0.4*Omega) + 1/2*dot(x', x')
constraint x' = R*cross(Omega, R^T*e3)
noise A transport Omega = c*e1
noise B transport Omega = c*e2
noise C transport Omega = c*e3
observable up = (R^T*e3)[3], far = dot(x, x)
start R = rotation(e1, 0)
"""
    return text, ["--method", "ninomiya_victoir", "--dt", "0.0625", "--t1", "1"], {"up": math.exp(-0.25), "far": 0.5}


def ornstein_uhlenbeck():
    text = """config x in R
lagrangian 1/2*x'^2
force x' = -x'
noise W force x' = 0.5
observable v = x', square = x'^2
start x' = 1
"""
    t = 1.0
    return text, ["--method", "heun2", "--dt", "0.03125", "--t1", "1"], {
        "v": math.exp(-t), "square": math.exp(-2 * t) + 0.125 * (1 - math.exp(-2 * t))}


def volatility():
    """A force N dW with dN = s N o dB: E N = exp(s^2 t/2), E v^2 = int E N^2 = (exp(2 s^2 t) - 1)/(2 s^2)."""
    s, t = 0.4, 1.0
    text = """param s = 0.4
config x in R
process N
lagrangian 1/2*x'^2
noise W force x' = N
noise B process N = s*N
observable n = N, v = x', square = x'^2
start N = 1
"""
    return text, ["--method", "ninomiya_victoir", "--dt", "0.0625", "--t1", "1"], {
        "n": math.exp(s * s * t / 2), "v": 0, "square": (math.exp(2 * s * s * t) - 1) / (2 * s * s)}


def coloured():
    """dN = -k N dt + s dW, v' = N: E N = N0 e^-kt, E v = N0 (1 - e^-kt)/k, the variance of v in closed form."""
    k, s, t, start = 2.0, 0.7, 1.0, 0.3
    e = math.exp(-k * t)
    spread = s * s / (k * k) * (t - 2 * (1 - e) / k + (1 - e * e) / (2 * k))
    mean = start * (1 - e) / k
    text = """param k = 2, s = 0.7
config x in R
process N drift -k*N
lagrangian 1/2*x'^2
force x' = N
noise W process N = s
observable n = N, v = x', square = x'^2
start N = 0.3
"""
    return text, ["--method", "rk4", "--dt", "0.015625", "--t1", "1"], {
        "n": start * e, "v": mean, "square": spread + mean * mean}


PASSAGE = """param nu = 1, xi = 0.5
config phi in R
lagrangian 1/2*phi'^2
noise W transport phi' = xi
start phi' = nu
"""


def bessel(n, x):
    return sum((x / 2)**(2 * k + n) / math.factorial(k) / math.factorial(k + n) for k in range(30))


def pendulum():
    """-I1/I0 of m g l/kT."""
    text = """config a in S1
lagrangian 1/2*a'^2 + cos(a)
friction a' = 0.8
temperature 0.6
observable height = -cos(a), kinetic = a'^2
start a = 0.6
"""
    b = 1 / 0.6
    return text, ["--method", "obabo", "--metropolis", "--dt", "0.75", "--t1", "24"], {
        "height": -bessel(1, b) / bessel(0, b), "kinetic": 0.6}


def sphere():
    """In angles, with a mass matrix that depends on them: 1/b - coth b."""
    text = """config a in R, b in S1
lagrangian 1/2*(a'^2 + sin(a)^2*b'^2) - cos(a)
friction a' = 1
friction sin(a)*b' = 1
temperature 0.6
observable height = cos(a), kinetic = a'^2 + sin(a)^2*b'^2
start a = 2, b' = 0.4
"""
    b = 1 / 0.6
    return text, ["--method", "ovo_rattle", "--metropolis", "--dt", "0.25", "--t1", "12"], {
        "height": 1 / b - 1 / math.tanh(b), "kinetic": 1.2}


def top():
    """A body with a fixed point: 1/b - coth b."""
    return warm_top.TEXT, ["--method", "obabo", "--metropolis", "--dt", "0.75", "--t1", "24"], warm_top.MEANS


ROWS = {"disk": lambda: disk(True), "disk, printed": lambda: disk(False), "ball": ball,
        "Ornstein-Uhlenbeck": ornstein_uhlenbeck, "volatility": volatility, "coloured noise": coloured,
        "pendulum": pendulum, "sphere": sphere, "top": top}


SEED = "11"


def ensemble(program, text, paths, words):
    with open("m.nh", "w", encoding="utf-8") as file:
        file.write("model m\n" + text)
    every = words[words.index("--t1") + 1]
    command = [program, "ensemble", "m.nh", "--seed", SEED, "--paths", str(paths), "--every", every, "--json", "--quiet"]
    if paths < 10000:  # less than a compiler takes
        command += ["--engine", "interpreted"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr}")
    return json.loads(done.stdout)


def compare(name, number, mean, error, exact, show, step=None):
    z = (mean - exact) / error
    if show:
        moved = "" if step is None else f", halving the step: {step / error:.2f} standard errors"
        print(f"{name}: {number} {mean:.8g}, exact {exact:.8g}, standard error {error:.2g}, z = {z:.2f}{moved}", flush=True)
    if abs(z) < 4:
        return 0
    print(f"{name}: {number} {mean}, expected {exact}: {z} standard errors", file=sys.stderr)
    return 1


def passage(program, paths, show):
    """The first time T at which phi = nu t + xi W reaches L: E T = L/nu, E (T - L/nu)^2 = L xi^2/nu^3. The crossing
    inside a step is exact for a straight drift. All paths pass long before t1."""
    d = ensemble(program, PASSAGE, paths, ["--method", "euler_heun", "--dt", "0.25", "--t1", "16", "--passage", "phi=1.5",
                                           "--columns", "phi"])
    p = d["passages"]["phi=1.5"]
    bad = 0 if p["passed"] == paths else 1
    variance = 1.5 * 0.25
    # the fourth cumulant of the inverse Gaussian is 15 v^3/m^2
    spread = math.sqrt((2 * variance**2 + 15 * variance**3 / 1.5**2) / paths)
    bad += compare("first passage", "time", p["mean"], p["stderr"], 1.5, show)
    return bad + compare("first passage", "variance", p["var"], spread, variance, show)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--paths", type=int, default=2048)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--only")
    parser.add_argument("--seed", default=SEED)
    a = parser.parse_args()
    globals()["SEED"] = a.seed
    program, bad = os.path.abspath(a.program), 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, row in ROWS.items():
            if a.only and name != a.only:
                continue
            text, words, exact = row()
            tested = "--metropolis" in words
            d = ensemble(program, text, a.paths, words + (["--extrapolate"] if a.show and not tested else []))
            bad += d["failed"] > 0
            for number, value in exact.items():
                x = d["observables"][number]
                step = x["step_error"][-1] if "step_error" in x else None
                bad += compare(name, number, x["mean"][-1], x["stderr"][-1], value, a.show, step)
        if not a.only or a.only == "first passage":
            bad += passage(program, a.paths, a.show)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
