#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts, component by component: named values are held, unnamed independent ones are 0, dependent ones follow from the
constraints, in whatever order and from whatever source they are given.

    starts_test.py PROGRAM MODELS

Values are compared to 1e-12: roundings of numbers of size 1 to 10. Orders of `--set` must give the same bits."""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, case, check, end, some, written  # noqa: E402


def start(model, *sets):
    """State at the start and the warnings."""
    options = [x for s in sets for x in ("--set", s)]
    out = subprocess.run([PROGRAM, "run", model, "--t1", "0", "--json", *options], capture_output=True, text=True)
    if out.returncode != 0:
        return {"error": out.stderr}, []
    result = json.loads(out.stdout)
    return result["state"], result["warnings"]


def near(a, b):
    a, b = (a if isinstance(a, list) else [a]), (b if isinstance(b, list) else [b])
    return len(a) == len(b) and all(abs(x - y) <= 1e-12 * max(1, abs(y)) for x, y in zip(a, b))


def expect(what, state, **values):
    for name, value in values.items():
        name = name.replace("_prime", "'").replace("_dot_", ".")
        check(name in state and near(state[name], value), f"{what}: {name} = {state.get(name, state)}, not {value}")


TOP = """model top
config R in SO3 velocity Omega
lagrangian 1/2*(Omega[1]^2 + 2*Omega[2]^2 + 2.5*Omega[3]^2)
"""
BODY = """model ball
body B mass 1 inertia 0.1
start B.omega = [1, 2, 3]
"""


def components(folder):
    path = written(folder, TOP)
    expect("whole, then a part", start(path, "Omega=[1,2,3]", "Omega[3]=7")[0], Omega=[1, 2, 7])
    expect("a part, then the whole", start(path, "Omega[3]=7", "Omega=[1,2,3]")[0], Omega=[1, 2, 3])
    path = written(folder, TOP + "start Omega = [4, 5, 6]\n")
    expect("a part of the file's", start(path, "Omega[2]=7")[0], Omega=[4, 7, 6])
    path = written(folder, BODY)
    expect("omega of the file, Omega set", start(path, "B.Omega[3]=7")[0], B_dot_Omega=[1, 2, 7])
    expect("part of omega", start(path, "B.omega[3]=7")[0], B_dot_Omega=[1, 2, 7])
    check("two ways" in start(path, "B.Omega[1]=7", "B.omega=[1,1,1]")[0].get("error", ""), "Omega and omega both set")
    check("as a whole" in start(path, "B.phi'=1")[0].get("error", ""), "a rate beside omega of the file")
    path = written(folder, BODY.replace("B.omega = [1, 2, 3]", "B.omega[3] = 5"))
    expect("a component of omega in the file", start(path)[0], B_dot_Omega=[0, 0, 5])


def sweeps(folder):
    path, out = written(folder, TOP), os.path.join(folder, "out.csv")
    subprocess.run([PROGRAM, "run", path, "--t1", "0", "--set", "Omega=[1,2,3]", "--sweep", "Omega[3]=4:8:3", "-q", "-o", out],
                   check=True, capture_output=True)
    with open(out) as f:
        head, *rows = list(csv.reader(f))
    columns = [i for i, name in enumerate(head) if name.endswith(("Omega[1]", "Omega[2]", "Omega[3]"))]
    for row, third in zip(rows, (4, 6, 8)):
        values = [float(row[i]) for i in columns]
        check(values[-3:] == [1, 2, third], f"sweep: {dict(zip([head[i] for i in columns], values))}")
    check(len(rows) == 3, f"sweep: {len(rows)} rows")


def found():
    path = case("F7_set")
    expect("F7", start(path)[0], x=3, y=4, z=[1, 2, 3], z_prime=[0, 3, 0], x_prime=2, y_prime=2)
    expect("F7, a", start(path, "a=2")[0], x=6, y=7, z=[2, 4, 6], x_prime=4)
    expect("F7, y from x", start(path, "y=2*x", "z[2]=x+y")[0], x=3, y=6, z=[1, 9, 3])
    path = case("F9_frame_changes_start")
    expect("F9", start(path)[0], th_prime=1.2, psi_prime=2, be_prime=0)
    expect("F9, a velocity of the frame", start(path, "nu=0.3")[0], th_prime=1.2, psi_prime=2, be_prime=0.3 + 2 * 1.2 * 0.6)
    state, warnings = start(case("F8_start_projection"))
    expect("F8", state, s_prime=[0, 1, 0], p_prime=[0.6, 0, 0], q_prime=[0.456, 0.4, -0.608])
    check(len(warnings) == 1 and "`q'`" in str(warnings), f"F8: warnings {warnings}")


def random_model(r):
    """Coordinates with linear constraints, some of their starts, and a frame that the start does not mention."""
    n, k = r.randint(3, 6), r.randint(1, 2)
    names = [f"x{i}" for i in range(n)]
    text = "model m\nconfig " + ", ".join(f"{x} in R" for x in names)
    text += "\nlagrangian " + " + ".join(f"{r.randint(1, 3)}/2*{x}'^2" for x in names) + f" + 1/4*{names[0]}'*{names[1]}'\n"
    for i in range(k):
        row = [r.choice([-2, -1, 1, 2, 3]) for _ in names]
        text += "constraint " + " + ".join(f"{c}*{x}'" for c, x in zip(row, names)) + f" = {r.randint(0, 1)}\n"
    free = names[: n - k]
    frame = "frame " + ", ".join(f"w{i} = {x}' + {0.1 * (i + 1):.1f}*{free[i - 1]}'" for i, x in enumerate(free)) + "\n"
    return names, text, frame


def nothing_left(folder):
    """A velocity that the constraints make 0 is 0, not what rounding leaves of the given one: a run from there has no
    energy that could drift."""
    path = written(folder, "model m\nparam k = 2, b = 0\nconfig x in R, y in R, z in R\n"
                   "lagrangian 1/2*(x'^2 + 2*y'^2 + z'^2) - x - y*y\nconstraint k*x' + b*y' = b*z'\nstart x' = 1\n")
    state, warnings = start(path)
    expect("nothing left", state, x_prime=0, y_prime=0, z_prime=0)
    check(state["x'"] == 0 and "as little as possible" in str(warnings), f"nothing left: {state} {warnings}")
    out = subprocess.run([PROGRAM, "run", path, "--t1", "2", "--sweep", "k=1:2:2", "--json"], capture_output=True, text=True)
    check(out.returncode == 0 and "energy should" not in out.stdout, f"nothing left: {out.stdout}")
    # a row of small coefficients amplifies rounding error: 10 eps were left of x'
    path = written(folder, "model m\nconfig x in S1, y in S1, s in S2, z in R\n"
                   "lagrangian 0.5875*x'^2 + 0.4735*y'^2 + 0.263*dot(s', s') + 0.895*z'^2 + 0.923*z' - sin(s[2] - 0.742*cos(x))\n"
                   "let f = sin(s[2] + 0.907*sin(y))*s'[3] + 0.177*s'[1] + (sin(x) - 0.366*s[2])*y'\n"
                   "constraint (s[3] - 0.571*s[2])*x' = 0\nconstraint f = 0\n"
                   "constraint (1.5 + sin(z - 0.363*sin(y)))*(s[3] - 0.571*s[2])*x' + f = 0\n"
                   "start x = -0.5846393335826614, x' = 0.5551821334137743, y = -0.7545293853622024, y' = 0.8668705843047833,\n"
                   "  s = [-0.96817450603503, 0.24602373256899163, -0.045939622077755274], z = 0.22086991266587552,\n"
                   "  s' = [0.3994231118735218, 1.4131642521772938, -0.8497964984848961], z' = 0.9079883649756855\n")
    out = subprocess.run([PROGRAM, "run", path, "--t1", "0", "--closure", "multipliers", "--json"], capture_output=True, text=True)
    check('"x\'":0,' in out.stdout, f"nothing left: {out.stdout}")

def permutations(folder):
    r = random.Random(1)
    for _ in range(some(40)):
        names, text, frame = random_model(r)
        sets = [f"{x}={r.randint(-5, 5)}" for x in r.sample(names, 2)]
        sets += [f"{x}'={r.randint(-5, 5)}" for x in r.sample(names, r.randint(0, len(names) - 2))]
        a, b = r.sample(names, 2)
        if not any(s.startswith(a + "=") for s in sets):
            sets.append(f"{a}=2*{b} + 1")
        path = written(folder, text)
        first = start(path, *sets)
        check("error" not in first[0], f"{text} {sets}: {first[0]}")
        for _ in range(3):
            other = r.sample(sets, len(sets))
            got = start(path, *other)
            check(got[0] == first[0], f"{text} {sets} gives {first[0]}, {other} gives {got[0]}")
        named = {s.split("=")[0]: float(s.split("=")[1]) for s in sets if "'" in s}
        if not first[1]:  # all fit the constraints
            expect(f"{text} {sets}", first[0], **{k.replace("'", "_prime"): v for k, v in named.items()})
        framed = start(written(folder, text + frame), *sets)[0]
        check(all(near(framed[k], v) for k, v in first[0].items()) if "error" not in framed else "determine" in framed["error"],
              f"{text}{frame} {sets}: {framed}, without the frame {first[0]}")


def conflicts(folder):
    """Two systems side by side, one started against its constraint: the other keeps its named values."""
    text = """model pair
config a in R^2, b in R^2
lagrangian 1/2*dot(a', a') + 1/2*dot(b', b') + 0.4*a'[1]*b'[1] + 0.3*a'[2]*b'[2]
constraint a'[1] = 2*a'[2]
constraint b'[1] = 3*b'[2]
start a' = [1, 1], b' = [6, 2]
"""
    state, warnings = start(written(folder, text))
    expect("conflict", state, b_prime=[6, 2], a_prime=[1.2, 0.6])
    check(len(warnings) == 1 and "`a'`" in str(warnings) and "`b'`" not in str(warnings), f"conflict: {warnings}")


def frames(folder):
    """A velocity of the frame that is set from outside replaces what the file says against it; the message names what
    changed. Within the file it gives way to velocities, and so it does to those set beside it."""
    text = """model car
config x in R, y in R, th in S1
lagrangian 1/2*(x'^2 + y'^2) + 1/5*th'^2
constraint -sin(th)*x' + cos(th)*y' = 0
frame v = x'*cos(th) + y'*sin(th), w = th'
start x' = 1, th' = 0.5
"""
    path = written(folder, text)
    for sets, changed, values in ((["v=0.3"], "`x'`", (0.3, 0.5)), (["w=2"], "`th'`", (1, 2)),
                                  (["w=2", "v=4", "th'=0.5"], "`x'`", (4, 0.5)), (["v=3", "x'=2"], "frame", (2, 0.5))):
        state, warnings = start(path, *sets)
        expect(f"frame {sets}", state, x_prime=values[0], y_prime=0, th_prime=values[1])
        check(len(warnings) == 1 and changed in str(warnings), f"frame {sets}: {warnings}")
    state, warnings = start(written(folder, text + "start v = 3\n"))
    expect("frame in the file", state, x_prime=1, y_prime=0, th_prime=0.5)
    check(len(warnings) == 1 and "frame" in str(warnings), f"frame in the file: {warnings}")


def closures(folder):
    """The form of the equations does not move a start, also where forces that choose make them large ones."""
    r = random.Random(2)
    for i in range(some(20)):
        names, text, frame = random_model(r)
        text += f"force {names[0]}' = -sign({names[1]}' + {r.choice(names)}' + 0.37)\n" + (frame if i % 2 else "")
        sets = [f"{x}'={r.randint(-5, 5)}" for x in r.sample(names, r.randint(0, len(names) - 2))] + ["w0=0.3"] * (i % 4 == 3)
        path = written(folder, text)
        options = [x for s in sets for x in ("--set", s)]
        both = [subprocess.run([PROGRAM, "run", path, "--t1", "0", "--json", "--closure", c, *options], capture_output=True,
                               text=True) for c in ("eliminated", "multipliers")]
        if "do not determine" in both[0].stderr:
            continue
        plain, full = [json.loads(b.stdout) if b.returncode == 0 else {"state": b.stderr, "warnings": []} for b in both]
        check(isinstance(full["state"], dict) and all(near(full["state"][k], v) for k, v in plain["state"].items()), f"{text} {sets}: {plain['state']}, with multipliers {full['state']}")
        check([w["message"] for w in plain["warnings"]] == [w["message"] for w in full["warnings"]],
              f"{text} {sets}: {plain['warnings']}, with multipliers {full['warnings']}")
    holonomic = """model h
config x in R, y in R, z in R
lagrangian 1/2*(x'^2 + y'^2 + z'^2) - y
holonomic y = x^2 + z
force x' = -0.1*sign(x')
start x = 2, x' = 1
"""
    out = subprocess.run([PROGRAM, "run", written(folder, holonomic), "--t1", "0", "--json", "--closure", "multipliers"],
                         capture_output=True, text=True)
    expect("holonomic", json.loads(out.stdout)["state"], x=2, y=4, z=0, x_prime=1, y_prime=4, z_prime=0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        components(folder)
        sweeps(folder)
        found()
        nothing_left(folder)
        permutations(folder)
        conflicts(folder)
        frames(folder)
        closures(folder)
    end()


main()
