#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of constraints that follow from others, begin to act on the way, or contradict: against motions known in closed
form or integrated here.

    rows_test.py PROGRAM MODELS

Runs are at the default tolerance of 1e-10 or with steps of 0.01 of an eighth-order method; motions are compared to 1e-6,
which leaves room for some hundred steps. The state must stay on all rows, dropped ones too, to 1e-8."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, call, case, check, end, part, run, some, written  # noqa: E402

FORMS = [(), ("--dt", "0.01"), ("--closure", "multipliers"), ("--closure", "multipliers", "--dt", "0.01")]


def ended(got, t, words, what, tolerance=1e-6):
    said = got["end"] + " " + (got.get("why") or "")
    check(words in said and abs(got["t"] - t) <= tolerance, f"{what}: {said} at {got['t']}, expected {words} at {t}")


# ---- the cases that were once answered wrongly ----

def seen_cases():
    phi = {}
    for form in FORMS:
        got = run(case("F1_cone"), "--t1", "5", *form)
        phi[form] = got.get("observables", {}).get("phi", math.nan)
        check(got["end"] == "time reached" and got["constraint_residual"] < 1e-12, f"cone {form}: {got['end']}")
        check(abs(phi[form] - phi[FORMS[0]]) < 1e-8, f"cone {form}: phi = {phi[form]}")
        got = run(case("F2_dropped_row_clutch"), "--t1", "10", *form)
        ended(got, 5, "constraint clutch (line 4) begins to act here, and the velocities do not satisfy it", f"clutch {form}")
        got = run(case("F2_dropped_row_contradiction"), "--t1", "10", *form)
        ended(got, 5, "constraint 2 (line 5) does not hold", f"contradiction {form}")
    for form in FORMS[::2]:
        got = run(case("10_try_across_singularity"), "--t1", "2", *form)
        check(abs(got["t"] - 1) < 1e-9 and got["end"] != "time reached", f"singularity {form}: {got['end']} at {got['t']}")
        got = run(case("10_try_across_singularity"), "--t1", "0.9", *form)
        check(got["end"] == "time reached" and abs(got["state"]["x"] - math.log(10)) < 1e-8, f"before it {form}")


def cone_by_hand():
    """The cone of F1 rolls like a pendulum in the angle phi of its axis: E = 1/2 J phi'^2 - c cos(phi)."""
    m, h, al, b, g = 1.5, 0.8, 0.35, 0.3, 9.81
    rho = h*math.tan(al)
    I1, I3 = 3/20*m*rho**2 + 3/5*m*h**2, 3/10*m*rho**2
    # omega = -phi' cot(al) l along the line of contact; its parts along and across the axis
    w_axis, w_across = math.cos(al)/math.tan(al), math.sin(al)/math.tan(al)
    J, c = I3*w_axis**2 + I1*w_across**2, m*g*0.75*h*math.cos(al)*math.sin(b)
    n = 50000  # Stoermer and Verlet, extrapolated from two step sizes
    ends = []
    for k in (n, 2*n):
        x, v, s = 1.0, 0.0, 5/k
        for _ in range(k):
            v -= s/2*c/J*math.sin(x)
            x += s*v
            v -= s/2*c/J*math.sin(x)
        ends.append(x)
    phi = (4*ends[1] - ends[0])/3
    for form in FORMS:
        got = run(case("F1_cone"), "--t1", "5", *form)
        check(abs(got["observables"]["phi"] - phi) < 1e-7, f"cone {form}: {got['observables']['phi']}, by hand {phi}")


# ---- coarse steps ----

COARSE = [("--rtol", "1e-3"), ("--rtol", "1e-6"), ("--method", "rk4", "--dt", "0.02"), ("--method", "gauss2", "--dt", "0.05"),
          ("--method", "radau5", "--rtol", "1e-5"), ("--closure", "multipliers", "--method", "rk4", "--dt", "0.02")]


def coarse_cone():
    """Inside coarse steps the state is off the constraints on positions, and there the rows of the cone differ: that is
    no row that begins to act. The methods are off by at most 3e-5 in phi."""
    fine = run(case("F1_cone"), "--t1", "5")["observables"]["phi"]
    for form in COARSE:
        got = run(case("F1_cone"), "--t1", "5", *form)
        check(got["end"] == "time reached", f"cone {form}: {got['end']} {got.get('why')} at {got['t']}")
        phi = got["observables"]["phi"]
        check(abs(phi - fine) < 1e-4, f"cone {form}: {phi}, {fine} with short steps")


def coarse_cone_joined(folder):
    """The same with two wheels beside it that are coupled at t = 1, from when on all rows take part. rk4 keeps its order:
    with half the step its error of energy is a sixteenth; 8 leaves room for the next order."""
    with open(case("F1_cone"), encoding="utf-8") as f:
        text = f.read()
    text = text.replace("config R in SO3 velocity Omega", "config R in SO3 velocity Omega, u in S1, v in S1")
    text = text.replace("lagrangian ", "lagrangian 1/2*(u'^2 + 2*v'^2) + ")
    text += "constraint (if t > 1 then 1 else 0)*(u' - v') = 0\n"
    model = written(folder, text)
    for closure in (), ("--closure", "multipliers"):
        off = []
        for dt in "0.02", "0.01":
            got = run(model, "--t1", "5", "--method", "rk4", "--dt", dt, *closure)
            check(got["end"] == "time reached", f"joined cone {dt} {closure}: {got['end']} {got.get('why')} at {got['t']}")
            off.append(got["energy_drift"])
        check(off[1] < off[0]/8, f"joined cone {closure}: energy off by {off}")


def coarse_chain(folder):
    """A chain of 60 links in its sparse form, the second link stated twice: it never contradicts itself."""
    model = written(folder, "model chain\nparam K = 60 integer\nconfig p in R^2 [K]\n"
                            "lagrangian sum(i in 1..K, 1/2*dot(p[i]', p[i]') - p[i][2])\nholonomic dot(p[1], p[1]) = 1\n"
                            "holonomic dot(p[i+1] - p[i], p[i+1] - p[i]) = 1 for i in 1..K-1\n"
                            "holonomic 2*dot(p[2] - p[1], p[2] - p[1]) = 2\nstart p[i] = [i, 0] for i in 1..K\n")
    for form in ("--rtol", "1e-4"), ("--method", "rk4", "--dt", "0.05"):
        got = run(model, "--t1", "1", *form)
        check(got["end"] == "time reached" and got["closure"] == "sparse", f"chain {form}: {got['end']} {got.get('why')}")


# ---- random rows with known answers ----

def vanishing(rng, q):
    """A factor that vanishes on the way of a motion, or comes near."""
    a = rng.uniform(0.5, 2.5)
    return rng.choice([f"sin({q} - {a:.3f})", f"cos({q})", f"({q} - {a:.3f})", f"(t - {a:.3f})", f"sin(t)", "1", "2",
                       f"(1 + {q}^2)"])


def redundant(rng, folder):
    """A skate on a plane, its blade turning at a constant rate: x = (v/w) sin(w t), y = (v/w) (1 - cos(w t)). The row
    is stated several times, scaled, rotated and summed; at least two of the factors have no common zero."""
    w, v = rng.uniform(0.5, 2), rng.uniform(0.5, 2)
    f = "(x'*sin(p) - y'*cos(p))"
    angle = rng.choice(["p", "2*p", "t", "3*t", "x"])
    rows = [f"sin({angle})*{f} = 0", f"cos({angle})*{f} = 0"]
    for _ in range(rng.randint(0, 2)):
        rows.append(f"{vanishing(rng, rng.choice('px'))}*{f} = 0")
    if rng.random() < 0.5:  # another constraint, mixed with this one
        rows += [f"z' - 2*p' + {vanishing(rng, 'p')}*{f} = 0"]
    else:
        rows += ["z' = 2*p'"]
    rng.shuffle(rows)
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nconfig x in R, y in R, p in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + p'^2 + z'^2)\n"
                  + "".join(f"constraint {r}\n" for r in rows) + f"start p = 0, p' = {w!r}, x' = {v!r}\n")
    t1 = 4.0
    want = {"x": v/w*math.sin(w*t1), "y": v/w*(1 - math.cos(w*t1)), "p": w*t1, "z": 2*w*t1}
    for form in FORMS:
        got = run(model, "--t1", str(t1), *form)
        text = f"{rows} w = {w} v = {v} {form}: {got['end']} {got.get('why')} at {got['t']}"
        check(got["end"] == "time reached" and got["constraint_residual"] < 1e-8, text)
        if got["end"] == "time reached":
            check(all(abs(got["state"][k] - want[k]) < 1e-6 for k in want), text + f" {got['state']} {want}")


def taking_turns(folder):
    """The skate again, its row stated twice so that at every place one of the two is zero; by place and by time."""
    model, w, v, t1 = os.path.join(folder, "m.nh"), 0.8, 1.3, 4.0
    want = {"x": v/w*math.sin(w*t1), "y": v/w*(1 - math.cos(w*t1)), "p": w*t1}
    for by, more in (("p > 1", ""), ("t > 0.7", "constraint (p - 2)*{f} = 0\n"), ("x*y > 0.3", "constraint y*{f} = 0\n")):
        f = "(x'*sin(p) - y'*cos(p))"
        with open(model, "w") as out:
            out.write("model m\nconfig x in R, y in R, p in R\nlagrangian 1/2*(x'^2 + y'^2 + p'^2)\n"
                      f"constraint (if {by} then 1 else 0)*{f} = 0\nconstraint (if {by} then 0 else 2)*{f} = 0\n"
                      + more.format(f=f) + f"start p' = {w}, x' = {v}\n")
        for form in FORMS:
            got = run(model, "--t1", str(t1), *form)
            near = got["end"] == "time reached" and all(abs(got["state"][k] - want[k]) < 1e-6 for k in want)
            check(near and got["constraint_residual"] < 1e-8, f"in turns, {by} {more!r} {form}: {got['end']} {got.get('state')}")


def waking(rng, folder):
    """Two wheels with inertia 1 and 2 and equal speed; a coupling begins to act at t = s, when a torque begins, too. If
    the speeds differ it ends the run there."""
    s, torque, slip = rng.uniform(1, 3), rng.uniform(0.5, 2), rng.choice([0, 0, 0.5])
    factor = rng.choice([f"(if t > {s:.6f} then 1 else 0)", f"max(0, t - {s:.6f})", f"max(0, t - {s:.6f})^2",
                         f"(if a > {s:.6f} then 3 else 0)", f"max(0, sin(t - {s:.6f}))*(if t > 2*pi then 0 else 1)"])
    more = rng.choice(["", "constraint c' = a'\n", "constraint c' = a'\nconstraint 2*c' = 2*a'\n"])
    m = 2 if more else 1  # the first wheel carries the third
    jumps = factor.startswith("(if t")  # a torque that jumps where the row has begun only smoothly would act before it
    grows = f"(if t > {s:.6f} then {torque!r} else 0)" if jumps else f"{torque!r}*max(0, t - {s:.6f})"
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nconfig a in R, b in R, c in R\nlagrangian 1/2*(a'^2 + 2*b'^2 + c'^2)\n"
                  f"force a' = {grows}\n{more}constraint link: {factor}*(a' - b') = 0\n"
                  f"start a' = 1, b' = {1 - slip!r}\n")
    s, t1 = round(s, 6), 4.0
    for form in FORMS:
        got = run(model, "--t1", str(t1), *form)
        text = f"{factor} {more!r} slip {slip} {form}: {got['end']} {got.get('why')} at {got['t']}"
        if slip:  # steep factors begin to count within 1e-4 (the square root of the tolerance of 1e-9)
            ended(got, s, "constraint link (line", text, 1e-4)
            continue
        check(got["end"] == "time reached" and got["constraint_residual"] < 1e-8, text)
        want = 1 + torque*((t1 - s) if jumps else (t1 - s)**2/2)/(m + 2)
        if got["end"] == "time reached":
            check(all(abs(got["state"][k + "'"] - want) < 1e-6 for k in "ab"), text + f" {got['state']} {want}")


def contradicting(rng, folder):
    """x' is given twice, and the second value leaves the first at t = s."""
    s, v = rng.uniform(1, 3), rng.uniform(0.5, 2)
    term = rng.choice([f"max(0, t - {s:.6f})", f"(if t > {s:.6f} then 0.1 else 0)", f"max(0, x - {v!r}*{s:.6f})",
                       f"3*max(0, t - {s:.6f})"])
    rows = [f"x' = {v!r}", f"{vanishing(rng, 'y') if rng.random() < 0.3 else '2'}*(x' - {v!r} - {term}) = 0"]
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n" +
                  "".join(f"constraint {r}\n" for r in rows) + "start y' = 0.1, y = -0.3\n")
    for form in FORMS:
        got = run(model, "--t1", "5", *form)
        ended(got, round(s, 6), "does not hold from here on", f"{rows} {form}", 1e-3)


def batch(folder):
    """Members of a batch move as alone."""
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nconfig x in R, y in R, p in R\nlagrangian 1/2*(x'^2 + y'^2 + p'^2)\n"
                  "constraint sin(p)*(x'*sin(p) - y'*cos(p)) = 0\nconstraint cos(p)*(x'*sin(p) - y'*cos(p)) = 0\n"
                  "start x' = 1, p' = 1\n")
    got = run(model, "--t1", "3", "--sweep", "p'=0.5:1.5:3")
    for k, w in enumerate((0.5, 1.0, 1.5)):
        check(abs(got["columns"]["x"][k] - math.sin(3*w)/w) < 1e-6, f"batch, member {k}: {got['columns']['x'][k]}")
        alone = run(model, "--t1", "3", "--set", f"p'={w}")
        check(alone["state"]["x"] == got["columns"]["x"][k], f"member {k} is not as alone")


def masses(folder):
    """The mass of y is 1 - x, and x is driven through 1: both forms end there, also with fixed steps."""
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + (1 - x)*y'^2 + z'^2)\n"
                  "prescribe x = t\nconstraint z' = x*x'\nstart y' = 0.3\n")
    for form in FORMS:
        got = run(model, "--t1", "3", *form)
        check(got["end"] != "time reached" and 0.9 < got["t"] <= 1 + 1e-9, f"mass {form}: {got['end']} at {got['t']}")


def continued(folder):
    """A run in which a row has begun to act is continued with the same bits."""
    model, file = os.path.join(folder, "m.nh"), os.path.join(folder, "r.h5")
    with open(model, "w") as out:
        out.write("model m\nconfig a in R, b in R\nlagrangian 1/2*(a'^2 + 2*b'^2) - a^2\n"
                  "constraint link: (if t > 1 then 1 else 0)*(a' - b') = 0\nforce b' = if t > 1 then 0 else -b - 3*a\n"
                  "start a' = 0, b' = 0\n")
    whole = run(model, "--t1", "4")
    run(model, "--t1", "2.5", "-o", file)
    rest = subprocess.run([PROGRAM, "run", "--from", file, "--t1", "4", "--json", "--quiet"], capture_output=True, text=True)
    check(rest.returncode == 0 and json.loads(rest.stdout)["state"] == whole["state"], f"continued: {rest.stderr}")


def ceasing(rng, folder, form):
    """y and z are tied until x or t reaches c; then y alone is pushed. Velocities do not jump. Also through a batch."""
    model, v, by = os.path.join(folder, "m.nh"), rng.uniform(0.3, 3), rng.choice("xt")
    x, push, w = rng.uniform(-0.3, 0.3), rng.uniform(-1, 1), rng.uniform(-1, 1)
    at, over = rng.uniform(0.5, 2.5), rng.uniform(0.5, 3)
    c = x + v*at if by == "x" else at
    with open(model, "w") as out:
        out.write("model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"
                  f"constraint (if {by} < {c!r} then 1 else 0)*({rng.choice(('y', 'z'))}' - {{}}') = 0\n"
                  f"force y' = {push!r}\nstart x = {x!r}, x' = {v!r}, y' = {w!r}\n")
    with open(model) as text:
        text = text.read()
    with open(model, "w") as out:
        out.write(text.format("z" if "*(y'" in text else "y"))
    tied, y = w + push/2*at, w*at + push/4*at**2 + (w + push/2*at)*over
    known = {"y": y + push/2*over**2, "z": y, "y'": tied + push*over, "z'": tied}
    got = run(model, "--t1", repr(at + over), *form)
    check(got["end"] == "time reached", f"ceasing {form} by {by} at {at}: {got['end']} at {got['t']}")
    many = json.loads(subprocess.run([PROGRAM, "run", model, "--t1", repr(at + over), "--sweep", "z=0:0:1", "--json", "--quiet",
                                      *form], capture_output=True, text=True).stdout)
    for name, value in known.items():
        check(abs(got["state"][name] - value) <= 1e-6, f"ceasing {form} by {by} at {at}: {name} = {got['state'][name]}, not {value}")
        check(many["columns"][name][0] == got["state"][name], f"ceasing {form}: {name} in a batch is {many['columns'][name]}")
    if not form:
        got = run(model, "--t1", repr(at))
        check(abs(got["state"]["y'"] - tied) <= 1e-6, f"ceasing: y' = {got['state']}, not {tied}, where the row ceases")

def swept(rng, folder, rows):
    """Rows that follow from others for some values of parameters, and velocities that can be solved for with some alone:
    every member of a sweep, whichever is the first, starts, moves and ends as a run by itself."""
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write("model m\nparam k = 1, b = 1\nconfig x in R, y in R, z in R, w in R\n"
                  "lagrangian 1/2*(x'^2 + 2*y'^2 + z'^2 + 3*w'^2) - x - y^2 + w\n"
                  + "".join(f"constraint {r}\n" for r in rows) + "start x' = 1\n")
    ends, count = rng.choice([((1, 0), (0, 1)), ((0, 1), (1, 0)), ((2, 0), (1, 0)), ((0, 2), (0, 1))]), (3, 2)
    sweeps = [f"{name}={lo}:{hi}:{n}" for name, (lo, hi), n in zip("kb", ends, count)]
    form = rng.choice([(), (), ("--dt", "0.01", "--method", "rk4"), ("--closure", "multipliers")])
    got = run(model, "--t1", "1", "--sweep", sweeps[0], "--sweep", sweeps[1], *form)
    for i, (k, b) in enumerate(zip(got["sweep"]["k"], got["sweep"]["b"])):
        alone = json.loads(call(model, "--t1", "1", "--set", f"k={k!r}", "--set", f"b={b!r}", *form).stdout)
        text = f"{rows} {sweeps} {form}, k = {k}, b = {b}: {got['end'][i]} at {got['t'][i]}, alone {alone}"
        if "end" not in alone:  # no velocity satisfies the rows
            check(any(f["member"] == i + 1 and f["t"] == 0 for f in got["failures"]), text)
            continue
        check(got["end"][i] == alone["end"] and abs(got["t"][i] - alone["t"]) < 1e-6, text)
        for name, value in alone["state"].items():  # other velocities may be independent there
            check(abs(got["columns"][name][i] - value) < 1e-6, text + f" {name} = {got['columns'][name][i]}")


def fading(folder):
    """A row whose factor fades away: explicit methods with an error estimate go on without it. Where steps are fixed, or
    the method cannot do without it, it is named with its line and time. From t = 2 on y alone is pushed."""
    text = ("model m\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"
            "constraint tie: {}*(y' - z') = 0\nforce y' = 1\nstart x' = 1\n")
    model = os.path.join(folder, "m.nh")
    fixed, implicit = ("--method", "dopri5", "--dt", "0.03"), ("--method", "radau5")
    for factor, on, off in [("max(0, 2 - t)", [(), ("--method", "dopri5")], [fixed, implicit]),
                            ("max(0, 2 - x)^2", [(), ("--method", "tsit5")], [fixed, implicit]),
                            ("max(0, 4 - x*x)", [()], [implicit]),
                            ("(if t < 2 then 1 else 0)", [(), fixed], [implicit, ("--method", "gauss2", "--dt", "0.01")]),
                            ("(if x < 2 then 3 else 0)", [()], [implicit])]:
        with open(model, "w") as out:
            out.write(text.format(factor))
        for form in on:
            got = run(model, "--t1", "4", *form)
            notes = str(got["warnings"])
            check(got["end"] == "time reached" and "constraint tie (line 4) ceases to act" in notes, f"{factor} {form}: {got['end']} {notes}")
            check(abs(got["state"]["y'"] - 3) < 1e-6 and abs(got["state"]["z'"] - 1) < 1e-6, f"{factor} {form}: {got['state']}")
        for form in off:
            got = run(model, "--t1", "4", *form)
            said = got["end"] + "; " + str(got.get("why"))
            words = "constraints lost rank; constraint tie (line 4) ceases to act at t = "
            check(said.startswith(words), f"{factor} {form}: {said}")
            if said.startswith(words):  # a factor that is squared counts as 0 from 1e-4 before
                at = float(said[len(words):].split(",")[0])
                check(abs(at - 2) < 1e-4 and abs(got["t"] - 2) < 0.031, f"{factor} {form}: {said}, ended at {got['t']}")
    for t1 in ("2", "2.001", "2.01"):  # the step in which it fades begins where a force has switched, at t = 1.987
        ends = []
        for factor in ("max(0, 2 - t)", "(if t < 2 then 1 else 0)"):
            with open(model, "w") as out:
                out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2 - 2*y^2\n"
                          f"constraint tie: {factor}*(x' - y') = 0\nforce x' = -0.3*sign(x')\nstart x = 3, y = 3\n")
            ends.append(run(model, "--t1", t1)["state"])
        check(all(abs(ends[0][k] - ends[1][k]) < 1e-6 for k in ends[0]), f"fading after a switch, {t1}: {ends}")
    w = math.sqrt(0.5)
    for factor, t1 in (("max(0, 2 - t)", "2"), ("max(0, t + 1.5)", "-1.5"), ("max(0, 0.7 - t)^2", "0.7")):  # ends there
        with open(model, "w") as out:
            out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2\n"
                      f"constraint {factor}*(x' - y') = 0\nstart x = 1\n")
        got, t = run(model, "--t1", t1), float(t1)
        near = all(abs(got["state"][k] + w*math.sin(w*t)) < 1e-6 for k in ("x'", "y'"))
        check(near and got["end"] == "time reached", f"{factor} to {t1}: {got['end']} {got['state']}")
    # behind it: a push of 0.01 in a long step, one that depends on the side of another choice, and one that stays
    pushes = {"if t > 40 then (if t < 40.01 then 50 else 0) else 0": (0.5, 0.5*(90 - 40.005)),
              "100*max(0, 0.1 - abs(t - 61.3))": (1, 90 - 61.3), "if sin(t/8) < 0 then -0.1 else 0": None}
    for push, gain in pushes.items():
        if not gain:  # from 8 pi to 16 pi, and from 24 pi on
            a, b, c = 8*math.pi, 16*math.pi, 24*math.pi
            gain = -0.1*(b - a + 90 - c), -0.1*((b - a)**2/2 + (b - a)*(90 - b) + (90 - c)**2/2)
        for form in ((), ("--method", "dopri5"), ("--dt", "0.25"), ("--closure", "multipliers")):
            with open(model, "w") as out:
                out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n"
                          f"constraint (if t < 2 then 1 else 0)*(x' - y') = 0\nforce x' = {push}\nstart x' = 1\n")
            got = run(model, "--t1", "90", *form)
            x = got["state"]
            near = abs(x["x'"] - 1 - gain[0]) < 1e-7 and abs(x["x"] - 90 - gain[1]) < 1e-5 and abs(x["y'"] - 1) < 1e-9
            check(near and "accuracy" not in str(got["warnings"]), f"{push} {form}: {x}, gains {gain} {got['warnings']}")
    # choices that read the state behind it: where both sides push back it slides, as a new run from there does
    for factor, form in (("(if t < 2 then 1 else 0)", ()), ("max(0, 2 - t)", ("--method", "dopri5"))):
        with open(model, "w") as out:
            out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2\n"
                      f"constraint {factor}*(x' - y') = 0\nforce x' = -0.3*sign(x')\nstart x = 3, y = 3\n")
        got, half = run(model, "--t1", "20", *form), run(model, "--t1", "4", *form)
        sets = [w for k, v in half["state"].items() for w in ("--set", f"{k}={v!r}")]
        rest = run(model, "--t0", "4", "--t1", "20", *sets, *form)
        check(all(g["end"] == "time reached" and "accuracy" not in str(g["warnings"]) for g in (got, half, rest)) and
              abs(rest["state"]["x"] - got["state"]["x"]) < 1e-7 and max(abs(g["state"]["x'"]) for g in (got, rest)) < 1e-9 and
              abs(got["state"]["x"]) < 0.3, f"{factor} {form}: {got} {rest}")
    for row in ("max(0, 1 - t)*x' = 1", "max(0, 1 - t)*(x' - y') = 0.001*t"):  # x' has no bound: nothing goes on
        with open(model, "w") as out:
            out.write(f"model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nconstraint {row}\n")
        got = run(model, "--t1", "2")
        check(got["end"] == "step too small" and abs(got["t"] - 1) < 1e-9, f"{row}: {got['end']} at {got['t']}")


def falling(folder):
    """A row that holds a weight until t = 1, though nothing of it is left in the equations: y' = 0 whatever the factor."""
    model = os.path.join(folder, "m.nh")
    ways = [(), ("--closure", "multipliers"), ("--rtol", "1e-6"), ("--method", "tsit5")]
    factors = {f: ways for f in ("max(0, 1 - t)", "max(0, 1 - x)^2", "max(0, 1 - t)^3")}
    fixed = [("--dt", dt, *way) for dt in ("0.3", "0.07", "0.25") for way in ways[:2]]
    factors |= {f"(if {c} then 2 else 0)": ways + fixed for c in ("t < 1", "x < 1", "t < 0.2 or t < 1")}
    for factor, forms in factors.items():
        with open(model, "w") as out:
            out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - y\n"
                      f"constraint {factor}*(2*y') = 0\nstart x' = 1\n")
        for form in forms:
            got = run(model, "--t1", "2", *form)
            check(got["end"] == "time reached" and got["t"] == 2 and abs(got["state"]["y"] + 0.5) < 1e-9 and
                  abs(got["state"]["y'"] + 1) < 1e-9, f"{factor} {form}: {got['end']} at {got['t']}, {got['state']}")
        for form in ("--method", "radau5"), ("--method", "gauss2", "--dt", "0.1"):
            got = run(model, "--t1", "2", *form)
            ended(got, 1, "constraint 1 (line 4) ceases to act at t = 1, and method", f"{factor} {form}", 0.1)


def steps_that_do_not_fit(folder):
    """A row begins to act; fixed steps that do not divide the run end with it all the same."""
    model = os.path.join(folder, "m.nh")
    for at in "0.35", "0.3":
        with open(model, "w") as out:
            out.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n"
                      f"constraint (if t > {at} then 1 else 0)*y' = 0\nstart x' = 1\n")
        for dt in "0.3", "0.15", "0.35", "0.07":
            for t0, t1 in (0, 2), (-1, 1.13):
                got = run(model, "--t0", str(t0), "--t1", str(t1), "--dt", dt, "--max-steps", "100")
                check(got["end"] == "time reached" and got["t"] == t1, f"row from {at} on, dt {dt}: {got['end']} at {got['t']}")


SWEPT = [["k*(x' - y') = 0", "z' = x"], ["x' = y'", "k*(x' - y') = 0"], ["x' = y'", "k*(x' - y') + (1 - k)*(z' - x') = 0"],
         ["k*x' + b*y' = b*z'"], ["k*x' + b*y' = b*z'", "w' = k*x'"], ["k*x' + b*y' + z' = 0", "y' = sin(k)*x'"],
         ["k*(x' - y') = 0", "b*(y' - z') = 0", "(k - b)*(x' - w') = 0"], ["b*x' + k*y' = 0", "k*x' + b*y' = 0"],
         ["k*x' = b", "w' = k*z'"], ["k*(1 + x^2)*x' + b*y' = 0"]]


seen_cases()
cone_by_hand()
coarse_cone()
with tempfile.TemporaryDirectory() as folder:
    coarse_cone_joined(folder)
    coarse_chain(folder)
    batch(folder)
    masses(folder)
    continued(folder)
    fading(folder)
    falling(folder)
    taking_turns(folder)
    steps_that_do_not_fit(folder)
    rng = random.Random(20261116)
    for rows in part(SWEPT):
        swept(rng, folder, rows)
    for _ in range(some(12)):
        redundant(rng, folder)
        waking(rng, folder)
        contradicting(rng, folder)
    for i in range(some(24)):
        ceasing(rng, folder, [(), ("--dt", "0.01", "--method", "rk4"), ("--closure", "multipliers"), ("--method", "dopri5")][i % 4])
end()
