#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""systems_test.py PROGRAM: systems of every kind with known answers (explicit time, drag, magnetic fields, holonomic in
disguise, S2, rotations, several bodies, affine constraints, identities between functions, branches, noise). Each is run
as it is and with a term that breaks it, of size 1e-6 in one and 1e-12 in the next. No verdict may be wrong, none
undecided. In a text @ stands for the size of the breaking term, $m for a mass from 1e-3 to 1e6; behind it stand the
verdicts without and with the breaking term, of models with noise also those with noise."""
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
Y, N = True, False
SYSTEMS = {
    "boost": ("""
param m = $m
config x in R
lagrangian m/2*x'^2 - @*x^2
candidate B = x - x'*t, p = m*x', E = energy
""", {"B": (Y, N), "p": (Y, N), "E": (Y, Y)}),
    "ramp": ("""
param m = $m
config x in R
lagrangian m/2*x'^2 + m*t*x - @*cos(x)
candidate B = x' - t^2/2, C = x - t*x' + t^3/3, E = energy
""", {"B": (Y, N), "C": (Y, N), "E": (N, N)}),
    "magnetic": ("""
param m = $m, B = 0.7
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) + B/2*(x*y' - y*x') - @*x
candidate P = m*x' - B*y, Q = m*y' + B*x, J = m*(x*y' - y*x') + B/2*(x^2 + y^2), E = energy
""", {"P": (Y, N), "Q": (Y, Y), "J": (Y, N), "E": (Y, Y)}),
    "drag": ("""
param m = $m, c = 0.3
config x in R
lagrangian m/2*x'^2 - @*x^2
force x' = -c*x'
candidate A = x'*exp(c*t/m), B = m*x' + c*x, E = energy
""", {"A": (Y, N), "B": (Y, N), "E": (N, N)}),
    "bateman": ("""
param c = 0.3
config x in R
lagrangian exp(c*t)*(x'^2/2 - x^2/2 - @*x^3)
candidate A = exp(c*t)*(x'^2 + x^2 + c*x*x'), E = energy
""", {"A": (Y, N), "E": (N, N)}),
    "wire": ("""
param m = $m, w = 0.8
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - m*(x^2 + y^2)^2 - @*x
constraint x'*sin(w*t) - y'*cos(w*t) + w*(x*cos(w*t) + y*sin(w*t)) = 0
candidate M = energy - w*m*(x*y' - y*x'), E = energy, G = x*sin(w*t) - y*cos(w*t)
""", {"M": (Y, N), "E": (N, N), "G": (Y, Y)}),
    "ring": ("""
param m = $m
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - @*x
constraint x*x' + y*y' = 0
start x = 1, y' = 1
candidate J = x*y' - y*x', r = x^2 + y^2, E = energy, p = x'
""", {"J": (Y, N), "r": (Y, Y), "E": (Y, Y), "p": (N, N)}),
    "sphere": ("""
param m = $m, g = 2
config n in S2
lagrangian m/2*dot(n', n') - m*g*n[3] - @*n[1]
candidate J = cross(n, n')[3], L1 = cross(n, n')[1], E = energy, one = dot(n, n)
start n = [0, 0.6, 0.8], n' = [1, 0, 0]
""", {"J": (Y, N), "L1": (N, N), "E": (Y, Y), "one": (Y, Y)}),
    "neumann": ("""
param a = 0.3, b = 0.7, c = 1.9
config n in S2
lagrangian dot(n', n')/2 - (a*n[1]^2 + b*n[2]^2 + c*n[3]^2)/2 - @*n[1]
let L = cross(n, n')
candidate F = n[1]^2 + L[3]^2/(a - b) + L[2]^2/(a - c), E = energy
start n = [0, 0.6, 0.8], n' = [1, 0, 0]
""", {"F": (Y, N), "E": (Y, Y)}),
    "euler": ("""
param I1 = $m
param I2 = 0.7*I1, I3 = 1.1*I1
config R in SO3 velocity w
let I = diag(I1, I2, I3)
let M = I*w
lagrangian dot(w, M)/2 - @*R[1,3]
candidate X = (R*M)[1], Z = (R*M)[3], M2 = dot(M, M), b = M[1], E = energy
""", {"X": (Y, Y), "Z": (Y, N), "M2": (Y, N), "b": (N, N), "E": (Y, Y)}),
    "two_tops": ("""
param I1 = 1, I2 = $m
config A in SO3 velocity u, B in SO3 velocity v
lagrangian I1/2*(u[1]^2 + u[2]^2) + 0.3*u[3]^2 + I2/2*dot(v, v) - dot(A*e3, B*e3) - @*(A*e3)[1]
let M = A*[I1*u[1], I1*u[2], 0.6*u[3]] + I2*B*v
candidate X = M[1], Y = M[2], s = u[3], a = I2*(B*v)[1], E = energy
""", {"X": (Y, Y), "Y": (Y, N), "s": (Y, Y), "a": (N, N), "E": (Y, Y)}),
    "kovalevskaya": ("""
param k = 0.6
config R in SO3 velocity w
let G = R^T*e3
lagrangian w[1]^2 + w[2]^2 + (1 + @)/2*w[3]^2 - k*G[1]
candidate Km = (w[1]^2 - w[2]^2 - k*G[1])^2 + (2*w[1]*w[2] - k*G[2])^2, E = energy
candidate M = 2*w[1]*G[1] + 2*w[2]*G[2] + (1 + @)*w[3]*G[3]
""", {"E": (Y, Y), "M": (Y, Y), "Km": (Y, N)}),
    "toda": ("""
config a in R, b in R, c in R
lagrangian (a'^2 + b'^2 + c'^2)/2 - exp(a - b) - exp(b - c) - exp(c - a) - @*exp(2*a - 2*b)
candidate P = a' + b' + c'
candidate C = (a'^3 + b'^3 + c'^3)/3 + (a' + b')*exp(a - b) + (b' + c')*exp(b - c) + (c' + a')*exp(c - a), E = energy
""", {"P": (Y, Y), "C": (Y, N), "E": (Y, Y)}),
    "henon": ("""
param A = 0.7, B = 1.3
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (A*x^2 + B*y^2)/2 - x^2*y - 2*y^3 - @*y^4
candidate I = x^4 + 4*x^2*y^2 - 4*x'*(x'*y - y'*x) + 4*A*x^2*y + (4*A - B)*(x'^2 + A*x^2), E = energy
""", {"I": (Y, N), "E": (Y, Y)}),
    "kepler": ("""
param m = $m
config x in R, y in R
let r = sqrt(x^2 + y^2)
lagrangian m/2*(x'^2 + y'^2) + m/r + @/r^2
let J = x*y' - y*x'
candidate A = y'*J - x/r, B = -x'*J - y/r, L = J, E = energy
start x = 1, y' = 1.1
""", {"A": (Y, N), "B": (Y, N), "L": (Y, Y), "E": (Y, Y)}),
    "norm": ("""
param m = $m
config x in R^3
lagrangian m/2*dot(x', x') - m*norm(x)^3 - @*x[2]
candidate Y = cross(x, x')[2], Z = cross(x, x')[3], E = energy
start x = [1, 0.2, 0.3], x' = [0, 1, 0]
""", {"Y": (Y, Y), "Z": (Y, N), "E": (Y, Y)}),
    "sleigh": ("""
param m = $m, I = 0.3*m, a = @
config x in R, y in R, h in S1
lagrangian m/2*((x' - a*h'*sin(h))^2 + (y' + a*h'*cos(h))^2) + I/2*h'^2
constraint y'*cos(h) = x'*sin(h)
candidate v = x'*cos(h) + y'*sin(h), w = h', E = energy
""", {"v": (Y, N), "w": (Y, N), "E": (Y, Y)}),
    "heisenberg": ("""
param m = $m
config x in R, y in R, z in R
lagrangian m/2*(x'^2 + y'^2 + z'^2) - @*z
constraint z' = y*x' - x*y'
candidate a = x', b = y', c = z', E = energy
""", {"a": (Y, N), "b": (Y, N), "c": (Y, N), "E": (Y, Y)}),
    "incline": ("""
param m = $m, g = 3
config x in R, y in R, h in S1
lagrangian m/2*(x'^2 + y'^2) + m/5*h'^2 + m*g*x - @*cos(h)
constraint y'*cos(h) = x'*sin(h)
candidate w = h', E = energy, v = x'*cos(h) + y'*sin(h) - g*sin(h)/h'
""", {"w": (Y, N), "E": (Y, Y), "v": (Y, N)}),
    "lift": ("""
param m = $m, g = 3, c = 0.4
config x in R, z in R
lagrangian m/2*(x'^2 + z'^2) - m*g*z - @*x
constraint z' = c
candidate E = energy, p = x', K = energy - m*g*z, G = z - c*t
""", {"E": (N, N), "p": (Y, N), "K": (Y, Y), "G": (Y, Y)}),
    "twice": ("""
param m = $m
config x in R, y in R, z in R
lagrangian m/2*(x'^2 + y'^2 + z'^2) - @*x
constraint z' = y*x'
constraint 2*z' - 2*y*x' = 0
candidate C = x'*sqrt(1 + y^2), E = energy, q = y'
""", {"C": (Y, N), "E": (Y, Y), "q": (Y, Y)}),
    "angles": ("""
config a in S1, b in S1
lagrangian a'^2/2 + b'^2 - cos(a - 2*b) - @*cos(a)
candidate P = 2*a' + 2*b', Q = a' + 2*b', E = energy
""", {"P": (Y, N), "Q": (N, N), "E": (Y, Y)}),
    "polar": ("""
param m = $m
config r in R, h in S1
lagrangian m/2*(r'^2 + r^2*h'^2) - m*r^4 - @*cos(h)
candidate J = r^2*h', E = energy
start r = 1
""", {"J": (Y, N), "E": (Y, Y)}),
    "two_bodies": ("""
param m = $m, M = 1
config x in R^3, y in R^3
lagrangian m/2*dot(x', x') + M/2*dot(y', y') + 1/norm(x - y) - @*x[1]
candidate P = m*x'[1] + M*y'[1], Q = m*x'[2] + M*y'[2], J = m*cross(x, x')[1] + M*cross(y, y')[1]
candidate K = m*cross(x, x')[3] + M*cross(y, y')[3], E = energy
start x = [1, 0, 0], y = [-1, 0.3, 0]
""", {"P": (Y, N), "Q": (Y, Y), "J": (Y, Y), "K": (Y, N), "E": (Y, Y)}),
    "hyperbolic": ("""
param m = $m
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - (cosh(x) - sinh(x) - exp(-x)) - y^2 - @*x
candidate p = x', E = energy
""", {"p": (Y, N), "E": (Y, Y)}),
    "trig": ("""
param m = $m
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - (sin(3*x) - 3*sin(x) + 4*sin(x)^3) - y^2 - @*x
candidate p = x', E = energy
""", {"p": (Y, N), "E": (Y, Y)}),
    "tangent": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (tan(x) - sin(x)/cos(x)) - y^2 - @*x
candidate p = x', E = energy
""", {"p": (Y, N), "E": (Y, Y)}),
    "logs": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (log(x^2*y^2 + x^2) - log(x^2) - log(1 + y^2)) - @*x
candidate p = x', E = energy
start x = 1
""", {"p": (Y, N), "E": (Y, Y)}),
    "powers": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^50 - @*x
candidate J = x*y' - y*x', E = energy
domain x in -0.5..0.5, y in -0.5..0.5
""", {"J": (Y, N), "E": (Y, Y)}),
    "roots": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^(1/3) - @*x
candidate J = x*y' - y*x', E = energy
start x = 1
""", {"J": (Y, N), "E": (Y, Y)}),
    "realpow": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^0.7 - @*x
candidate J = x*y' - y*x', E = energy
start x = 1
""", {"J": (Y, N), "E": (Y, Y)}),
    "absolute": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - abs(x) - @*y
candidate p = y', E = energy
start x = 1
""", {"p": (Y, N), "E": (Y, Y)}),
    "branch": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - (if x > 0 then x^3 else x^4) - @*y
candidate p = y', E = energy
start x = 1
""", {"p": (Y, N), "E": (Y, Y)}),
    "pi": ("""
param m = $m
config x in R, y in R
let c = cos(pi/5), s = sin(pi/5)
lagrangian m/2*(x'^2 + y'^2) - m*(c*x + s*y)^2 - @*x^4
candidate p = -s*x' + c*y', E = energy
""", {"p": (Y, N), "E": (Y, Y)}),
    "third": ("""
param m = 1/3*0.7
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - sqrt(3)*(x^2 + y^2) - @*x
candidate J = m*(x*y' - y*x'), E = energy
""", {"J": (Y, N), "E": (Y, Y)}),
    "ball": ("""
param m = $m, a = 0.3, g = 2
config x in R, y in R, B in SO3 velocity w
let s = B*w
lagrangian m/2*(x'^2 + y'^2) + m*a^2/5*dot(w, w) - @*x
constraint x' = a*s[2]
constraint y' = -a*s[1]
candidate vx = x', vy = y', sz = s[3], E = energy, wb = w[1], J = x*y' - y*x'
""", {"vx": (Y, N), "vy": (Y, Y), "sz": (Y, Y), "E": (Y, Y), "wb": (Y, N), "J": (Y, N)}),
    "two_balls": ("""
param m = $m, a = 0.3
config x in R^2, A in SO3 velocity u, y in R^2, B in SO3 velocity v
let s = A*u, r = B*v
lagrangian m/2*dot(x', x') + m*a^2/5*dot(u, u) + dot(y', y')/2 + a^2/5*dot(v, v) - m*dot(x - y, x - y) - @*x[1]
constraint x' = a*[s[2], -s[1]]
constraint y' = a*[r[2], -r[1]]
candidate P = m*x'[1] + y'[1], Q = m*x'[2] + y'[2], s3 = s[3], r3 = r[3], E = energy, a1 = x'[1]
""", {"P": (Y, N), "Q": (Y, Y), "s3": (Y, Y), "r3": (Y, Y), "E": (Y, Y), "a1": (N, N)}),
    "heavy_wheel": ("""
param m = $m, r = 0.4
config x in R, th in S1
lagrangian m/2*x'^2 + m*r^2/4*th'^2 - @*x
constraint x' = r*th'
candidate v = x', G = x - r*th, E = energy
""", {"v": (Y, N), "G": (Y, Y), "E": (Y, Y)}),
    "oscillators": ("""
config x in R, y in R
lagrangian (x'^2 + y'^2)/2 - x^2/2 - 2*y^2 - @*x^2*y^2
candidate E = energy, Ex = x'^2 + x^2
""", {"E": (Y, Y), "Ex": (Y, N)}),
    "cycloid": ("""
param m = $m
config s in R
lagrangian m/2*s'^2 - m*s^2/2 - @*s^4
candidate A = s*cos(t) - s'*sin(t), B = s*sin(t) + s'*cos(t), E = energy
""", {"A": (Y, N), "B": (Y, N), "E": (Y, Y)}),
    "suslov": ("""
param I1 = 2, I2 = 3, I3 = 4
config R in SO3 velocity w
lagrangian (I1*w[1]^2 + I2*w[2]^2 + I3*w[3]^2)/2 - @*R[1,3]
constraint w[3] = 0
candidate a = w[1], b = w[2], E = energy, M2 = I1^2*w[1]^2 + I2^2*w[2]^2
""", {"a": (Y, N), "b": (Y, N), "E": (Y, Y), "M2": (Y, N)}),
    "veselova": ("""
param I1 = 2, I2 = 3, I3 = 4
config R in SO3 velocity w
let G = R^T*e3
let I = diag(I1, I2, I3)
lagrangian dot(w, I*w)/2 - @*G[1]
constraint dot(w, G) = 0
let K = I*w - G*dot(G, I*w)
candidate K2 = dot(K, K), E = energy, b = w[1]
""", {"K2": (Y, N), "E": (Y, Y), "b": (N, N)}),
    "rubber": ("""
param m = $m, r = 0.5
config R in SO3 velocity w, x in R^2
let G = R^T*e3
let v = R*cross(w, r*G)
lagrangian dot(w, m*diag(0.1, 0.2, 0.3)*w)/2 + m/2*dot(x', x') - @*G[1]
constraint x' = [v[1], v[2]]
constraint dot(w, G) = 0
candidate E = energy, p = x'[1]
""", {"E": (Y, Y), "p": (N, N)}),
    "pulled": ("""
param m = $m, c = 0.3
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - @*y
constraint x' = c*cos(t)
candidate q = y', E = energy, G = x - c*sin(t)
""", {"q": (Y, N), "E": (N, N), "G": (Y, Y)}),
    "still": ("""
param m = $m
config x in R, y in R
lagrangian m/2*(x'^2 + y'^2) - @*x
constraint y' = 0
candidate q = y, p = x', E = energy, J = y*x'
""", {"q": (Y, Y), "p": (Y, N), "E": (Y, Y), "J": (Y, N)}),
    "jacobi": ("""
config x in R, y in R
lagrangian ((x' - y)^2 + (y' + x)^2)/2 + 1/sqrt(x^2 + y^2) - @*x
start x = 1
candidate E = energy, J = x*y' - y*x' + x^2 + y^2
""", {"E": (Y, Y), "J": (Y, N)}),
    "rotor": ("""
param J1 = $m
config R in SO3 velocity w, a in S1
lagrangian dot(w, diag(1, 2, 3)*w)/2 + J1/2*(w[3] + a')^2 - @*cos(a)
candidate h = w[3] + a', z = (R*([w[1], 2*w[2], 3*w[3]] + J1*(w[3] + a')*e3))[2], E = energy
""", {"h": (Y, N), "z": (Y, Y), "E": (Y, Y)}),
    "transport": ("""
param c = 0.4
config x in R^2
lagrangian dot(x', x')/2 - dot(x, x)^2 - @*x[1]
noise W transport x' = c*[-x[2], x[1]]
candidate J = x[1]*x'[2] - x[2]*x'[1], E = energy, p = x'[1]
""", {"J": (Y, N), "E": (Y, Y), "p": (N, N)}, {"J": ("pathwise", "no"), "E": ("pathwise", "no"), "p": ("no", "no")}),
    "kick": ("""
param c = 0.4
config x in R^2
lagrangian dot(x', x')/2 - @*x[1]
noise W force x' = c*[1, 0]
candidate p = x'[1], q = x'[2], E = energy
""", {"p": (Y, N), "q": (Y, Y), "E": (Y, Y)}, {"p": ("mean", "no"), "q": ("pathwise", "pathwise"), "E": ("no", "no")}),
    "spun": ("""
param c = 0.4
config R in SO3 velocity w
lagrangian dot(w, diag(1, 1, 2)*w)/2 - @*R[3,1]
noise W transport w = c*e3
candidate s = w[3], Z = (R*[w[1], w[2], 2*w[3]])[3], E = energy, b = w[1]
""",
        {"s": (Y, N), "Z": (Y, Y), "E": (Y, Y), "b": (N, N)},
        {"s": ("pathwise", "no"), "Z": ("pathwise", "pathwise"), "E": ("pathwise", "no"), "b": ("no", "no")}),
}


def judge(number, name, broken, folder):
    """What is wrong, how many verdicts."""
    text, expected, noise = (*SYSTEMS[name], {})[:3]
    eps = ("1e-6", "1e-12")[number % 2] if broken else "0"
    mass = f"{10 ** random.Random(number + 1000 * broken).uniform(-3, 6):.3g}"
    path = os.path.join(folder, f"{name}_{eps}.nh")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"model {name}{text.replace('@', eps).replace('$m', mass)}")
    command = [PROGRAM, "conserve", path, "--no-search", "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"{name}: {done.stderr}"], 1
    found = {q["name"]: q for q in json.loads(done.stdout)["quantities"]}
    wrong = []
    for quantity, verdicts in expected.items():
        q, wanted = found[quantity], "yes" if verdicts[broken] else "no"
        if q["conserved"] != wanted or not q["proof"]:
            wrong.append(f"{name}, {eps}, mass {mass}, {quantity}: {q['conserved']} by {q['proof']}, expected {wanted}")
    for quantity, words in noise.items():
        if found[quantity]["with_noise"] != words[broken]:
            wrong.append(f"{name}, {eps}, {quantity}: {found[quantity]['with_noise']}, expected {words[broken]}")
    return wrong, len(expected) + len(noise)


def main():
    wrong, total = [], 0
    jobs = [(i, name, broken) for i, name in enumerate(SYSTEMS) for broken in (0, 1)]
    with tempfile.TemporaryDirectory(prefix="ag_systems_") as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for bad, n in pool.map(lambda job: judge(*job, folder), jobs):
                wrong += bad
                total += n
    print("\n".join(wrong))
    print(f"{len(SYSTEMS)} systems, {total} verdicts, {len(wrong)} wrong or undecided")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
