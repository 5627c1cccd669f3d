#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Behind a constraint that has ceased to act the motion goes on with multipliers: choices of the equations (if, abs, sign,
min, max) end its steps, it slides where both sides push back, short pushes are seen, and rows that begin to act later take
part or end the run. Against closed forms, and against the same model without the constraint.

    behind_test.py PROGRAM

Default tolerance 1e-10, or 1e-7 where it is asked for: 1e-6 and 1e-4 leave room for the growth of errors over some hundred
steps. Fixed steps: forces are piecewise constant, and steps of these methods exact."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, check, end, run, some, written  # noqa: E402

FORMS = [(), ("--method", "dopri5"), ("--dt", "0.05"), ("--closure", "multipliers"), ("--method", "tsit5"), ("--rtol", "1e-7")]
HEAD = "model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"


def factors(at, v):
    """Factors that are zero from t = at on, where x = v*at; the first ones fade away, which fixed steps cannot pass."""
    x = repr(v*at)
    return [f"max(0, {at!r} - t)", f"max(0, {x} - x)", f"(if t < {at!r} then 1 else 0)", f"(if x < {x} then 2 else 0)",
            f"(if t > {at!r} then 0 else 1 + x^2)"]


def near(got, name, value, form, what):
    there = got.get("state", {}).get(name, math.nan)
    limit = 1e-4 if "1e-7" in form else 1e-6
    check(got["end"] == "time reached" and abs(there - value) < limit,
          f"{what} {form}: {got['end']} {got.get('why')} at {got['t']}, {name} = {there}, not {value}")


def tied(rng, form, at, v):
    return f"constraint {rng.choice(factors(at, v)[2 if form[:1] == ('--dt',) else 0:])}*(y' - z') = 0\n"


def layers(rng, folder, form):
    """A thin layer of x in which a force acts: v^2 grows by 2 A d. The same without a constraint."""
    at, v, d = rng.uniform(0.3, 2), rng.uniform(0.5, 2), 10**rng.uniform(-8, -1)
    c, A = v*at + rng.uniform(0.2, 5), rng.choice([-1, 1])*rng.uniform(0.1, 0.45)*v*v/d
    force = rng.choice([f"if x > {c!r} then (if x < {c + d!r} then {A!r} else 0) else 0",
                        f"{A!r}*(sign(x - {c!r}) - sign(x - {c + d!r}))/2"])
    for row in (tied(rng, form, at, v), ""):
        model = written(folder, f"{HEAD}{row}force x' = {force}\nstart x' = {v!r}, y' = 0.3\n")
        near(run(model, "--t1", "12", *form), "x'", math.sqrt(v*v + 2*A*d), form, f"layer {d} {row!r}")


def speeds(rng, folder, form):
    """The same in y', which grows by 1/2 while the row acts and by 1 behind it, by 1 + A in the layer."""
    at, v, d, A = rng.uniform(0.3, 2), rng.uniform(0.5, 2), 10**rng.uniform(-7, -1), rng.uniform(0.5, 3)
    c = 0.3 + 0.5*at + rng.uniform(0.2, 3)
    force = f"1 + (if y' > {c!r} then (if y' < {c + d!r} then {A!r} else 0) else 0)"
    model = written(folder, f"{HEAD}{tied(rng, form, at, v)}force y' = {force}\nstart x' = {v!r}, y' = 0.3\n")
    near(run(model, "--t1", "12", *form), "y'", c + d + 12 - (at + c - 0.3 - 0.5*at) - d/(1 + A), form, f"speeds {d}")


def faded(folder):
    """A row that fades away inside a long step, by x: its accelerations there are (y' - z')/(c - x), rounding error over
    rounding error. y' grows by 1/2, then by 1."""
    for i in range(some(40)):
        at, v, form = 0.31 + 0.0471*i, 0.5 + 0.0373*i, FORMS[:1] + FORMS[1:2] + FORMS[4:]
        model = written(folder, f"{HEAD}constraint max(0, {v*at!r} - x)*(y' - z') = 0\nforce y' = 1\nstart x' = {v!r}, y' = 0.3\n")
        near(run(model, "--t1", "4", *form[i % 4]), "y'", 4.3 - at/2, form[i % 4], f"faded {at} {v}")
    # with multipliers: the rounding of x hides whether the last step reaches the end; a step may end on it exactly
    for factor, at, v, t1, method in (("{!r} - x", 1.92912786982242, 0.5302364045321385, 10, "dop853"),
                                      ("{!r} - t", 0.740901824357613, 0.8514964415700446, 4, "tsit5"),
                                      ("{!r} - t", 1.9925962203677867, 1.2053952612836718, 4, "dopri5")):
        factor, power = factor.format(v*at if "x" in factor else at), "" if "x" in factor else "^3*(1 + x^2)"
        model = written(folder, f"{HEAD}constraint max(0, {factor}){power}*(y' - z') = 0\nforce y' = 1\n"
                        f"start x' = {v!r}, y' = 0.3\n")
        form = ("--closure", "multipliers", "--method", method)
        near(run(model, "--t1", str(t1), *form), "y'", 0.3 + t1 - at/2, form, f"faded {at} {v}")


def pushes(rng, folder, form):
    """A short push, smooth or not, in a long step."""
    at, v, d, a = rng.uniform(0.3, 2), rng.uniform(0.5, 2), 10**rng.uniform(-7, -1), rng.uniform(0.5, 2)
    c = at + rng.uniform(2, 60)
    force = [f"if t > {c!r} then (if t < {c + d!r} then {a/d!r} else 0) else 0", f"{a/d!r}*max(0, 1 - abs(t - {c!r})/{d!r})",
             f"{a/d/math.sqrt(math.pi)!r}*exp(-((t - {c!r})/{d!r})^2)"][:1 if form[:1] == ("--dt",) else 3]
    model = written(folder, f"{HEAD}{tied(rng, form, at, v)}force x' = {rng.choice(force)}\nstart x' = {v!r}, y' = 0.3\n")
    near(run(model, "--t1", "100", *form), "x'", v + a, form, f"push {d}")


def sticking(rng, folder, form):
    """Dry friction: it stops at v^2/(2 mu), and stays; with a force that grows it is released at t = r."""
    at, v, mu = rng.uniform(0.3, 2), rng.uniform(0.5, 2), rng.uniform(0.05, 0.2)
    row, stop = tied(rng, form, at, v), v*v/2/mu
    if stop < 1.1*v*at:
        return
    model = written(folder, f"{HEAD}{row}force x' = -{mu!r}*sign(x')\nforce y' = 0.1*t\nstart x' = {v!r}, y' = 0.3\n")
    t1 = max(v/mu, at) + 5
    got = run(model, "--t1", repr(t1), *form)
    near(got, "x", stop, form, f"sticking, mu = {mu}")
    near(got, "x'", 0, form, f"sticking, mu = {mu}")
    free = f"model m\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = -{mu!r}*sign(x') + 0.3*sin(t)\nstart x' = {v!r}\n"
    row = f"constraint (if t < {at!r} then 1 else 0)*(y' - z') = 0\n"
    text = f"{HEAD}{row}force x' = -{mu!r}*sign(x') + 0.3*sin(t)\nstart x' = {v!r}, y' = 0.3\n"
    plain, got = run(written(folder, free), "--t1", "40"), run(written(folder, text), "--t1", "40")
    for name in plain["state"]:
        near(got, name, plain["state"][name], (), f"released, mu = {mu}")


def forces(folder):
    """Sliding with friction on a row that holds: its multiplier, as an observable and as an event, is the combination of
    both sides. w is tied to x (equal masses), t alone releases y and z."""
    text = ("model m\nconfig x in R, w in R, y in R, z in R\nlagrangian 1/2*(x'^2 + w'^2 + y'^2 + z'^2)\n"
            "constraint rod: x' - w' = 0\n{}force x' = -0.5*sign(x') + 0.2*t\nobservable pull = multiplier.rod\n"
            "event slack: multiplier.rod = 0.1 - 0.05*t\nstart x' = 0.1, y' = 0.3\n")
    want = None
    for row in ("constraint z' - y' = 0\n", "constraint (if t < 0.1 then 1 else 0)*(y' - z') = 0\n"):
        got = run(written(folder, text.format(row)), "--t1", "4", "--every", "0.5", "--series")
        series = got["series"]["pull"]
        if want is None:
            want = got
        check(len(series) == len(want["series"]["pull"]) and all(abs(a - b) < 1e-7 for a, b in zip(series, want["series"]["pull"])),
              f"pull {row}: {series}, not {want['series']['pull']}")
        a, b = got["events"]["slack"], want["events"]["slack"]
        check(len(a) == len(b) and len(b) > 0 and all(abs(s - t) < 1e-7 for s, t in zip(a, b)), f"slack {row}: {a}, not {b}")


def again(folder):
    """Rows that cease and act again, or act for a short time only: by t and by x = t, also with multipliers."""
    for by in "tx":
        text = HEAD + "constraint link: {}*(y' - z') = 0\nforce y' = {}\nstart x' = 1, y' = 0.5\n"
        twice = f"(if {by} < 2 then 1 else (if {by} > 4 then 1 else 0))"
        for form in FORMS[:4]:
            got = run(written(folder, text.format(twice, "1")), "--t1", "10", *form)
            said = got["end"] + " " + str(got.get("why"))
            check("constraint link (line 4) begins to act here, and the velocities do not satisfy it" in said and
                  abs(got["t"] - 4) < 1e-9, f"again by {by} {form}: {said} at {got['t']}")
            got = run(written(folder, text.format(twice, "if t > 5 then 1 else 0")), "--t1", "10", *form)
            near(got, "y'", 3, form, f"again by {by}")
            near(got, "z'", 3, form, f"again by {by}")
            for short in (f"(if {by} > 3 then (if {by} < 3.001 then 1 else 0) else 0)", f"max(0, 1e-7 - abs({by} - 3))"):
                got = run(written(folder, text.format(short, "1")), "--t1", "10", *form)
                said = got["end"] + " " + str(got.get("why"))
                check("constraint link (line 4) begins to act here, and the velocities do not satisfy it" in said and
                      abs(got["t"] - 3) < 1e-6, f"{short} {form}: {said} at {got['t']}")


def continued(folder):
    """A run that is continued while it slides behind the row has the same bits."""
    model = written(folder, f"{HEAD}constraint (if t < 1 then 1 else 0)*(y' - z') = 0\n"
                    "force x' = -0.3*sign(x') + 0.5*sin(t)\nstart x' = 1, y' = 0.5\n")
    part, whole = os.path.join(folder, "part.h5"), run(model, "--t1", "20")
    for t1 in ("0.5", "1.5", "5", "6.5", "8"):
        if os.path.exists(part):
            os.remove(part)
        run(model, "--t1", t1, "-o", part)
        out = subprocess.run([PROGRAM, "run", "--from", part, "--t1", "20", "--json", "--quiet"], capture_output=True, text=True)
        got = json.loads(out.stdout) if out.stdout else {"state": out.stderr}
        check(got["state"] == whole["state"], f"continued from {t1}: {got['state']}, not {whole['state']}")


with tempfile.TemporaryDirectory() as folder:
    rng = random.Random(20261118)
    forces(folder)
    again(folder)
    continued(folder)
    faded(folder)
    for i in range(some(24)):
        for kind in (layers, speeds, pushes, sticking):
            kind(rng, folder, FORMS[i % len(FORMS)])
end()
