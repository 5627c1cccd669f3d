#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""corpus_test.py PROGRAM [COUNT]: random systems whose conserved quantities are known, with and without a term of size 1e-6 or
1e-12 that breaks them, masses from 1e-3 to 1e6. No verdict may be wrong, at most 2 % may be undecided. The systems are
the same in every run."""
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 240


class Numbers:
    """Random parameters: short decimals, in one system of four with all digits."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.long = self.random.random() < 0.25

    def between(self, lo, hi):
        v = self.random.uniform(lo, hi)
        return repr(v) if self.long else f"{v:.4g}"

    def mass(self):
        v = 10 ** self.random.uniform(-3, 6)
        return repr(v) if self.long else f"{v:.3g}"


def central(n, eps):
    """Motion in a central field: energy and angular momentum; broken by a uniform field."""
    power = n.random.choice(["x^2 + y^2", "(x^2 + y^2)^2", "sqrt(1 + x^2 + y^2)", "log(1 + x^2 + y^2)", "exp(-x^2 - y^2)"])
    text = f"""param m = {n.mass()}, k = {n.between(0.2, 3)}
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - m*k*({power}) - {eps}*x
candidate J = m*(x*y' - y*x'), E = energy
"""
    return text, {"J": eps == "0", "E": True}


def affine(n, eps):
    """FS, the affine particle: energy is conserved for V(x^2 + y^2), not with a force along z."""
    power = n.random.choice(["x^2 + y^2", "cos(x^2 + y^2)", "1/(1 + x^2 + y^2)"])
    text = f"""param m = {n.mass()}, c = {n.between(0.2, 2)}, k = {n.between(0.2, 3)}
config x in R, y in R, z in R
lagrangian m/2*(x'^2 + y'^2 + z'^2) - k*({power}) - {eps}*z
constraint z' + x*y' - y*x' = c
candidate E = energy
"""
    return text, {"E": eps == "0"}


def particle(n, eps):
    """z' = a y x': x' sqrt(1 + a^2 y^2), which is no momentum of a symmetry; broken by a force along x."""
    text = f"""param m = {n.mass()}, a = {n.between(0.2, 3)}
config x in R, y in R, z in R
lagrangian m/2*(x'^2 + y'^2 + z'^2) - {eps}*x
constraint z' = a*y*x'
candidate C = x'*sqrt(1 + a^2*y^2), E = energy, p = m*x'
"""
    return text, {"C": eps == "0", "E": True, "p": False}


def third(n, eps):
    """The third class: z' + x y' = c."""
    text = f"""param m = {n.mass()}, c = {n.between(0.2, 2)}
config x in R, y in R, z in R
lagrangian m/2*(x'^2 + y'^2 + z'^2) - {eps}*y^2
constraint z' + x*y' = c
candidate C = y'*sqrt(1 + x^2), M = energy - m*c*z', E = energy
"""
    return text, {"C": eps == "0", "M": True, "E": False}


def turntable(n, eps):
    """Ball on a turntable: moving energy and spin; broken by a slope."""
    text = f"""param m = {n.mass()}, a = {n.between(0.3, 2)}, W = {n.between(0.3, 2)}
param J = 2/5*m*a^2
config x in R, y in R, B in SO3 velocity w
let s = B*w
lagrangian m/2*(x'^2 + y'^2) + J/2*dot(w, w) - {eps}*x
constraint x' = a*s[2] - W*y
constraint y' = -a*s[1] + W*x
candidate M = energy - W*(m*(x*y' - y*x') + J*s[3]), spin = s[3], E = energy
"""
    return text, {"M": eps == "0", "spin": True, "E": False}


def disk(n, eps):
    """Upright disk: spin in R but not in D; broken by a slope."""
    text = f"""param m = {n.mass()}, r = {n.between(0.3, 2)}, I = {n.between(0.1, 1)}, J = {n.between(0.1, 1)}
config x in R, y in R, th in S1, ph in S1
lagrangian m/2*(x'^2 + y'^2) + I/2*th'^2 + J/2*ph'^2 - {eps}*x
constraint x' = r*th'*cos(ph)
constraint y' = r*th'*sin(ph)
candidate spin = th', turn = ph', E = energy, p = m*x'
"""
    return text, {"spin": eps == "0", "turn": True, "E": True, "p": False}


def top(n, eps):
    """Heavy top: M.Gamma always, Omega3 when two moments are equal."""
    text = f"""param I1 = {n.mass()}, k = {n.between(0.2, 2)}
param I3 = I1*{n.between(0.3, 0.9)}
config R in SO3 velocity w
let G = R^T*e3
lagrangian I1/2*w[1]^2 + (I1 + {eps})/2*w[2]^2 + I3/2*w[3]^2 - I1*k*G[3]
candidate M = I1*w[1]*G[1] + (I1 + {eps})*w[2]*G[2] + I3*w[3]*G[3], spin = w[3], E = energy
"""
    return text, {"M": True, "spin": eps == "0", "E": True}


def ball(n, eps):
    """Chaplygin ball: M^2 and M.Gamma; with a potential of Gamma only the latter."""
    text = f"""param m = {n.mass()}, r = {n.between(0.3, 2)}
param I1 = m*{n.between(0.1, 0.3)}, I2 = m*{n.between(0.3, 0.5)}, I3 = m*{n.between(0.5, 0.7)}
config R in SO3 velocity w
config x in R^3
let G = R^T*e3
let I = diag(I1, I2, I3)
lagrangian 1/2*dot(w, I*w) + m/2*dot(x', x') - {eps}*G[1]
constraint x' = r*R*cross(w, G)
let M = I*w + m*r^2*(w - G*dot(G, w))
candidate square = dot(M, M), up = dot(M, G), E = energy, p = m*x'[1]
"""
    return text, {"square": eps == "0", "up": True, "E": True, "p": False}


def cylinder(n, eps):
    """FS: ball in a rotating cylinder, F and K for V(z), the moving energy for every V."""
    text = f"""param a = {n.between(0.3, 1)}, r = {n.between(1.1, 2)}, I = {n.between(0.05, 0.4)}, W = {n.between(0.3, 2)}
param g = {n.between(0.5, 3)}
config z in R, gamma in S1, B in SO3 velocity w
let s = B*w
lagrangian 1/2*(r^2*gamma'^2 + z'^2) + I/2*dot(w, w) - g*z - {eps}*cos(gamma)
constraint r*gamma' + a*s[3] = (r + a)*W
constraint z' + a*(s[1]*sin(gamma) - s[2]*cos(gamma)) = 0
candidate F = I*s[3] - a*r*gamma', K = a*(s[1]*cos(gamma) + s[2]*sin(gamma)) - z*gamma'
candidate M = energy - (a + r)/a*W*I*s[3], E = energy
"""
    return text, {"F": eps == "0", "K": eps == "0", "M": True, "E": eps == "0"}


def rotated(n, eps):
    """Coordinates turned by sqrt(2)/2: numbers that are no fractions."""
    text = f"""param m = {n.mass()}, k = {n.between(0.2, 3)}
config x in R, y in R
let u = (x + y)/sqrt(2), v = (x - y)/sqrt(2)
lagrangian m/2*(x'^2 + y'^2) - m*k*u^2 - {eps}*v^4
candidate pv = (x' - y')/sqrt(2), Eu = m/4*(x' + y')^2 + m*k*u^2, E = energy
"""
    return text, {"pv": eps == "0", "Eu": True, "E": True}


FAMILIES = [central, affine, particle, third, turntable, disk, top, ball, cylinder, rotated]


def judge(i, folder):
    family = FAMILIES[i % len(FAMILIES)]
    eps = ["0", "1e-6", "1e-12"][i // len(FAMILIES) % 3]
    text, expected = family(Numbers(i), eps)
    path = os.path.join(folder, f"{family.__name__}_{i}.nh")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"model {family.__name__}_{i}\n{text}")
    done = subprocess.run([PROGRAM, "conserve", path, "--no-search", "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{path}: {done.stderr}"], 1, 0
    found = {q["name"]: q for q in json.loads(done.stdout)["quantities"]}
    wrong, undecided = [], 0
    for name, conserved in expected.items():
        verdict = found[name]["conserved"]
        undecided += verdict == "undecided"
        if verdict != "undecided" and (verdict == "yes") != conserved or verdict != "undecided" and not found[name]["proof"]:
            wrong.append(f"{text}{name}: {verdict}, expected {conserved}")
    return wrong, len(expected), undecided


def main():
    wrong, total, undecided = [], 0, 0
    with tempfile.TemporaryDirectory(prefix="ag_conserve_") as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for bad, n, open_ones in pool.map(lambda i: judge(i, folder), range(COUNT)):
                wrong += bad
                total += n
                undecided += open_ones
    print("\n".join(wrong))
    print(f"{COUNT} systems, {total} verdicts, {len(wrong)} wrong, {undecided} undecided")
    return len(wrong) > 0 or undecided > 0.02 * total


if __name__ == "__main__":
    sys.exit(main())
