#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Equations that choose (if, abs, sign, min, max) against motions known piece by piece in closed form.

    corners_test.py PROGRAM MODELS

Each piece of such a motion has constant or linear coefficients. The reference joins exact pieces, the ends of which are
found by bisection to rounding. Runs have rtol 1e-10: times and states are compared to 1e-7, which leaves room for the
growth of errors over tens of pieces and would not let a single switch pass inside a step (that costs 1e-4 and more)."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, call, case, check, end, run, some, written  # noqa: E402

TOLERANCE = 1e-7


def near(a, b, what, tolerance=TOLERANCE):
    check(abs(a - b) <= tolerance * max(1, abs(b)), f"{what}: {a!r}, expected {b!r}")


def times(found, wanted, what):
    ok = len(found) == len(wanted) and all(abs(a - b) <= TOLERANCE * max(1, b) for a, b in zip(found, wanted))
    check(ok, f"{what}: {len(found)} found, {len(wanted)} exist: {found[:3]} ... {wanted[:3]} ...")


# ---- exact pieces ----

def first_zero(f, t0, t1, step):
    """The first change of sign of f after t0 (where f may be zero), to rounding; None: there is none before t1."""
    a = t0 + 1e-3 * step
    fa = f(a)
    while a < t1:
        b = min(a + step, t1)
        fb = f(b)
        if fa * fb < 0:
            for _ in range(200):
                c = 0.5 * (a + b)
                if c in (a, b):
                    break
                if f(c) * fa > 0:
                    a = c
                else:
                    b = c
            return b
        a, fa = b, fb
    return None


def spring(k, f, x, v):
    """x'' = f - k x from (x, v): the state after a time s."""
    if k == 0:
        return lambda s: (x + v * s + f * s * s / 2, v + f * s)
    w, rest = math.sqrt(k), f / k
    return lambda s: (rest + (x - rest) * math.cos(w * s) + v / w * math.sin(w * s),
                      -(x - rest) * w * math.sin(w * s) + v * math.cos(w * s))


# ---- dry friction ----

def friction_cases(folder):
    model = case("F3_dry_friction")
    got = run(model, "--t1", "40")
    times(got["events"]["turn"], [k * math.pi for k in range(1, 13)], "turns of the dry oscillator")
    got = run(model, "--t1", "100")
    check(got["end"] == f"sticks at t = {got['t']!r}", f"dry oscillator: {got['end']}")
    out = subprocess.run([PROGRAM, "run", model, "--t1", "100"], capture_output=True, text=True, timeout=60).stdout
    check(f"sticks at t = {got['t']!r} (started" in out, f"dry oscillator, text: {out}")
    near(got["t"], 20 * math.pi, "dry oscillator sticks")
    for method, tolerance in (("rk4", 1e-7), ("dopri5", 1e-8), ("bs3", 1e-5), ("midpoint", 1e-3)):
        got = run(model, "--t1", "40", "--method", method, "--dt", "0.01")
        check(len(got["events"]["turn"]) == 12, f"{method}: {len(got['events']['turn'])} turns")
        near(got["events"]["turn"][-1], 12 * math.pi, f"{method}: last turn", tolerance)
    draw = random.Random(1)
    for i in range(some(12)):
        k, mu, x0 = draw.uniform(0.3, 9), draw.uniform(0.02, 0.3), draw.uniform(-2, 2)
        model = written(folder, f"""model dry
config x in R
lagrangian 1/2*x'^2 - {k!r}/2*x^2
force x' = -{mu!r}*sign(x')
start x = {x0!r}
event turn: x' = 0
""")
        left, n = abs(x0), 0
        while left > mu / k:
            left, n = abs(left - 2 * mu / k) if left < 2 * mu / k else left - 2 * mu / k, n + 1
        if abs(left - mu / k) < 1e-4:
            continue
        got = run(model, "--t1", "400")
        end = n * math.pi / math.sqrt(k)
        if end < 400:
            check(got["end"].startswith("sticks"), f"random friction {i}: {got['end']}")
            near(got["t"], end, f"random friction {i}: sticks")
            near(abs(got["state"]["x"]), left, f"random friction {i}: where")
        else:
            n = int(400 / math.pi * math.sqrt(k))
        times(got["events"]["turn"], [j * math.pi / math.sqrt(k) for j in range(1, n + 1)], f"random friction {i}")


def brick(slope, mu, a, w, end):
    """x'' = slope + a sin(w t) - mu sign(x') from rest: the times at which it stops or turns, and the last state."""
    t, x, v, stops, push = 0.0, 0.0, 0.0, [], lambda s: slope + a * math.sin(w * s)
    while t < end:
        if v == 0 and abs(push(t)) <= mu * (1 + 1e-12):
            grip = lambda s: mu - abs(push(s))
            t1 = first_zero(grip, t, end, 0.01 / w)
            if t1 is None:
                return stops, x, 0.0
            t = t1
        sign = math.copysign(1, v) if v else math.copysign(1, push(t + 1e-9))
        rate = slope - sign * mu
        v_at = lambda s, t=t, v=v, rate=rate: v + rate * (s - t) - a / w * (math.cos(w * s) - math.cos(w * t))
        x_at = lambda s, t=t, x=x, v=v, rate=rate: (x + (v + a / w * math.cos(w * t)) * (s - t) + rate / 2 * (s - t)**2
                                                  - a / w**2 * (math.sin(w * s) - math.sin(w * t)))
        t1 = first_zero(lambda s: sign * v_at(s), t, end, 0.01 / w)
        if t1 is None:
            return stops, x_at(end), v_at(end)
        t, x, v = t1, x_at(t1), 0.0
        stops.append(t)
        if abs(push(t)) > mu:  # it turns
            v = math.copysign(1e-300, push(t))
    return stops, x, v


def brick_cases(folder):
    draw = random.Random(2)
    for i in range(some(8)):
        slope, mu, w = draw.uniform(-0.3, 0.3), draw.uniform(0.4, 0.8), draw.uniform(0.5, 3)
        a = draw.uniform(0.6, 2.5)
        model = written(folder, f"""model brick "Brick on an inclined plane that shakes"
config x in R
lagrangian 1/2*x'^2 + {slope!r}*x
force x' = {a!r}*sin({w!r}*t) - {mu!r}*sign(x')
event stop: x' = 0
""")
        stops, x, v = brick(slope, mu, a, w, 30)
        got = run(model, "--t1", "30")
        check(got["end"] == "time reached", f"brick {i}: {got['end']}")
        times(got["events"]["stop"], stops, f"brick {i}")
        near(got["state"]["x"], x, f"brick {i}: x")
        near(got["state"]["x'"], v, f"brick {i}: x'")


def two_blocks(folder):
    """Independent blocks: each sticks while the other moves, then both."""
    model = written(folder, """model blocks
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2 - 2*y^2
force x' = -0.3*sign(x')
force y' = -0.3*sign(y')
start x = 2, y = 1
event tx: x' = 0
event ty: y' = 0
""")
    got = run(model, "--t1", "50")
    # x: 2, 1.4, 0.8, 0.2: three half periods of pi. y: 1, 0.85, 0.7, ... by 0.15, until at most 0.075: 7 of pi/2
    check(got["end"].startswith("sticks"), f"blocks: {got['end']}")
    times(got["events"]["tx"], [math.pi * k for k in (1, 2, 3)], "blocks: x")
    times(got["events"]["ty"], [math.pi / 2 * k for k in range(1, 8)], "blocks: y")
    near(got["t"], 3.5 * math.pi, "blocks stick")
    near(abs(got["state"]["x"]), 0.2, "blocks: where x sticks")
    near(abs(got["state"]["y"]), 0.05, "blocks: where y sticks")


# ---- corners of potentials, piecewise linear forces ----

def kink(folder):
    model = written(folder, "model kink\nconfig x in R\nlagrangian 1/2*x'^2 - abs(x)\nstart x = 1\nevent zero: x = 0\n")
    zeros = [math.sqrt(2) * (2 * k + 1) for k in range(100) if math.sqrt(2) * (2 * k + 1) < 100]
    got = run(model, "--t1", "100")
    times(got["events"]["zero"], zeros, "kink")
    check(got["energy_drift"] < 1e-10, f"energy over a kink: {got['energy_drift']}")
    check(not any("switch" in w["message"] for w in got["warnings"]), f"kink: {got['warnings']}")
    got = run(model, "--t1", "10", "--closure", "multipliers")
    times(got["events"]["zero"], [z for z in zeros if z < 10], "kink, with multipliers")
    check(not any("switch" in w["message"] for w in got["warnings"]), f"kink: {got['warnings']}")
    got = run(model, "--t1", "-100")
    times([-t for t in got["events"]["zero"]], zeros, "kink, backwards")
    got = run(model, "--t1", "100", "--method", "rk4", "--dt", "0.1")  # exact on each piece
    times(got["events"]["zero"], zeros, "kink, rk4")


def sided(sides, borders, x, v, end):
    """x'' = f_i - k_i x between the borders: the times at which they are passed, and the last state."""
    t, passed = 0.0, []
    where = sum(x > b for b in borders)
    while True:
        k, f = sides[where]
        at = spring(k, f, x, v)
        hits = [(first_zero(lambda s, b=b: at(s)[0] - b, 0, end - t, 0.003), j) for j, b in enumerate(borders)
                if j in (where, where - 1)]
        hits = [h for h in hits if h[0] is not None]
        if not hits:
            return passed, *at(end - t)
        s, j = min(hits)
        x, v = borders[j], at(s)[1]
        t += s
        where = j + 1 if v > 0 else j
        passed.append(t)


def piecewise_cases(folder):
    draw = random.Random(3)
    forms = ["if x > {b!r} then {f1!r} - {k1!r}*x else {f0!r} - {k0!r}*x"]
    for i in range(some(20)):
        k, f, b = [draw.uniform(0.2, 5) for _ in range(2)], [draw.uniform(-1, 1) for _ in range(2)], draw.uniform(-0.5, 0.5)
        x, v = draw.uniform(-2, 2), draw.uniform(-1, 1)
        force = forms[0].format(b=b, f0=f[0], f1=f[1], k0=k[0], k1=k[1])
        passed, x1, v1 = sided(list(zip(k, f)), [b], x, v, 30)
        model = written(folder, f"""model sides
config x in R
lagrangian 1/2*x'^2
force x' = {force}
start x = {x!r}, x' = {v!r}
event pass: x = {b!r}
""")
        got = run(model, "--t1", "30")
        times(got["events"]["pass"], passed, f"two sides {i}")
        near(got["state"]["x"], x1, f"two sides {i}: x")
        near(got["state"]["x'"], v1, f"two sides {i}: x'")
    model = written(folder, """model clipped
config x in R
lagrangian 1/2*x'^2
force x' = -min(max(x, -1), 1)
start x = 3
event out: abs(x) = 1
""")
    passed, x1, v1 = sided([(0, 1), (1, 0), (0, -1)], [-1, 1], 3, 0, 40)
    got = run(model, "--t1", "40")
    times(got["events"]["out"], passed, "clipped")
    near(got["state"]["x"], x1, "clipped: x")
    near(got["state"]["x'"], v1, "clipped: x'")
    model = written(folder, """model nested
config x in R
lagrangian 1/2*x'^2 - abs(abs(x) - 1)
start x = 0.25, x' = 2
""")
    passed, x1, v1 = sided([(0, 1), (0, -1), (0, 1), (0, -1)], [-1, 0, 1], 0.25, 2, 30)
    got = run(model, "--t1", "30")
    near(got["state"]["x"], x1, "nested: x")
    near(got["state"]["x'"], v1, "nested: x'")
    # a branch that does not exist beyond its end: the period of a bounce off max(0, -x)^1.5 is the same every time
    model = written(folder, """model hertz
config x in R
lagrangian 1/2*x'^2 - x
force x' = 1000*max(0, -x)^1.5
start x = 1
event touch: x = 0 falling
""")
    touch = run(model, "--t1", "60", "--rtol", "1e-12")["events"]["touch"]
    check(len(touch) >= 19 and all(abs(b - a - (touch[1] - touch[0])) < 1e-7 for a, b in zip(touch, touch[1:])),
          f"power of a corner: {touch[:4]}")


# ---- pushes that depend on time ----

def pulse_cases(folder):
    for at, width, height in ((40, 0.2, 3), (77.7, 1e-3, 1e3), (999, 1e-6, 1e6)):
        model = written(folder, f"""model push
config x in R
lagrangian 1/2*x'^2
force x' = if t > {at!r} and t < {at + width!r} then {height!r} else 0
start x' = 1
""")
        got = run(model, "--t1", "1000")
        near(got["state"]["x'"], 1 + height * (at + width - at), f"push at {at}", 1e-9 * height)
    model = written(folder, """model train
config x in R
lagrangian 1/2*x'^2
force x' = if sin(t) > 0.999 then 1 else 0
""")
    got, width = run(model, "--t1", "500"), 2 * math.acos(0.999)
    n = sum(1 for k in range(200) if math.pi / 2 + 2 * math.pi * k + 0.1 < 500)
    near(got["state"]["x'"], n * width, "train of pushes")
    model = written(folder, """model late
config x in R
lagrangian 1/2*x'^2 - (if t > 1 then 1 else 0)*x^2/2
start x = 1, x' = 1
""")
    got = run(model, "--t1", "3")  # a potential may be switched on
    near(got["state"]["x"], 2 * math.cos(2) + math.sin(2), "potential switched on")


def smooth_pulse_cases(folder):
    """Pushes without a corner, shorter than the steps around them."""
    got = run(case("F6_pulse"), "--t1", "100")
    near(got["state"]["x'"], 1 + math.sqrt(math.pi), "push of a moment")
    lorentz = lambda s: 1e-3 * math.atan(s / 1e-3)
    cases = {
        "exp(-(t - 50)^2/1e-4)": math.sqrt(math.pi * 1e-4),
        "1e3*exp(-(t - 50)^2/1e-10)": math.sqrt(math.pi) * 1e-2,
        "1/(1 + ((t - 77.7)/0.001)^2)": lorentz(22.3) + lorentz(77.7),
        "tanh((t - 30)/0.01)": 40,
        "1/cosh((t - 20)/0.01)^2 + 1/cosh((t - 90)/0.01)^2": 0.04,
    }
    for force, push in cases.items():
        model = written(folder, f"model push\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = {force}\nstart x' = 1\n")
        for method in ("dop853", "dopri5", "bs3", "radau3", "radau5"):
            got = run(model, "--t1", "100", "--method", method, "--rtol", "1e-8")
            near(got["state"]["x'"], 1 + push, f"{force} with {method}", 1e-5)
        got = run(model, "--t1", "100")
        near(got["state"]["x'"], 1 + push, force)
    forces = "".join(f"force x[{i}]' = exp(-((t - {0.9 * i + 1!r})/0.01)^2)\n" for i in range(1, 101))
    model = written(folder, "model hundred\nconfig x in R [100]\nlagrangian sum(i in 1..100, x[i]'^2)/2\n" + forces +
                    "observable p = sum(i in 1..100, x[i]')\n")
    near(run(model, "--t1", "100")["observables"]["p"], math.sqrt(math.pi), "a hundred pushes")
    model = written(folder, """model shaken
config x in R, y in R
lagrangian 1/2*x'^2 - 1/2*(x - y)^2 + 1/2*y'^2
prescribe y = exp(-((t - 40)/0.02)^2)
""")
    got = run(model, "--t1", "60")  # x'' = y - x: x = integral of y(s) sin(t - s)
    push = 0.02 * math.sqrt(math.pi) * math.exp(-(0.02**2) / 4)
    near(got["state"]["x"], push * math.sin(20), "carried for a moment")
    # met by the motion: y = x - 2 t starts at 40 and y' = -1, so that the wave passes at t = 40; y'' = exp(-(y/0.1)^2)
    model = written(folder, """model met
config x in R
lagrangian 1/2*x'^2
force x' = exp(-((x - 2*t + 40)/0.1)^2)
start x' = 1
""")
    got = run(model, "--t1", "100")  # y'^2/2 grows by the integral over y, from -1 to the other sign of y' - 1/2 ...
    after = -math.sqrt(1 - 2 * 0.1 * math.sqrt(math.pi))
    near(got["state"]["x'"], 2 + after, "wave that is met")


# ---- short features in space ----

def space_cases(folder):
    """A bump, a well or a step narrower than a step of the method, met at full speed: what is behind it follows from the
    energy. No choice in time: it depends on the motion when it is met."""
    root = math.sqrt(math.pi)
    cases = (("", "force x' = 30*exp(-((x - 50)/0.01)^2)", math.sqrt(1 + 0.6 * root)),
             ("", "force x' = 2*exp(-(x - 50)^2/1e-6)", math.sqrt(1 + 4e-3 * root)),
             (" - 5*exp(-((x - 50)/0.001)^2)", "", -1),
             (" - 0.4*exp(-((x - 50)/0.001)^2)", "", 1),
             (" - 0.15*(1 + tanh((x - 50)/1e-3))", "", math.sqrt(0.4)),
             (" - 0.6*(1 + tanh((x - 50)/1e-3))", "", -1),
             (" - 0.7/cosh((x - 50)/0.2)^2", "", -1),
             (" - 0.8/(1 + ((x - 50)/0.001)^4)", "", -1),
             (" - 0.8*(1 + (x - 50)^2/1e-6)^(-3)", "", -1),
             (" - 0.3/(1 + ((x - 50)/1e-5)^6)", "", 1))
    for potential, force, after in cases:
        model = written(folder, f"model met\nconfig x in R\nlagrangian 1/2*x'^2{potential}\n{force}\nstart x' = 1\n")
        for method in ("dop853", "dopri5"):
            got = run(model, "--t1", "80", "--method", method)
            near(got["state"]["x'"], after, f"{potential}{force} with {method}", 1e-6)
    model = written(folder, "model target\nconfig x in R^2\nlagrangian 1/2*dot(x', x') - exp(-dot(x, x)/1e-4)\n"
                    "start x = [-50, 0.003], x' = [1, 0]\n")
    got = run(model, "--t1", "100")
    check(abs(got["state"]["x'"][1]) > 0.1, f"a target that deflects: {got['state']}")
    near(math.hypot(*got["state"]["x'"]), 1, "speed behind the target", 1e-6)


# ---- rest ----

def pushed_later(folder):
    """A start at rest in an equilibrium is pointed out, unless something sets it in motion later."""
    for force, told in (("-x", True), ("exp(-((t - 5)/0.1)^2)", False), ("if t > 3 then 1 else 0", False)):
        model = written(folder, f"model rest\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = {force}\n")
        said = any("equilibrium" in w["message"] for w in run(model, "--t1", "10")["warnings"])
        check(said == told, f"at rest with force {force}: {said}")


# ---- sliding ----

def relay_cases(folder):
    model = written(folder, """model relay "x'' = -sign(x + x'): slides on x + x' = 0"
config x in R
lagrangian 1/2*x'^2
force x' = -sign(x + x')
start x = 2
""")
    t, x, v, side = 0.0, 2.0, 0.0, 1
    while True:
        at = spring(0, -side, x, v)
        s = first_zero(lambda s: sum(at(s)), 0, 20, 0.01)
        t, (x, v), side = t + s, at(s), -side
        if abs(v) < 1:
            break
    got = run(model, "--t1", "9")
    near(got["state"]["x"], x * math.exp(t - 9), "relay: x", 1e-9)
    near(got["state"]["x"] + got["state"]["x'"], 0, "relay: on its surface", 1e-14)
    for strength in (2.0, 0.5):  # v' = -K sign(v - sin t): follows sin t where |cos t| <= K
        model = written(folder, f"""model follow
config x in R
lagrangian 1/2*x'^2
force x' = -{strength!r}*sign(x' - sin(t))
start x' = 1
""")
        t, v, end = 0.0, 1.0, 25.0
        while t < end:
            if abs(v - math.sin(t)) < 1e-12 and abs(math.cos(t + 1e-9)) <= strength:
                t1 = first_zero(lambda s: strength - abs(math.cos(s)), t, end, 0.01)
                t = end if t1 is None else t1
                v = math.sin(t)
                continue
            gap = v - math.sin(t)
            side = math.copysign(1, gap) if abs(gap) > 1e-12 else -math.copysign(1, math.cos(t + 1e-9))
            line = lambda s: v - side * strength * (s - t)
            t1 = first_zero(lambda s: side * (line(s) - math.sin(s)), t, end, 0.01)
            t1 = end if t1 is None else t1
            t, v = t1, line(t1)
        got = run(model, "--t1", "25")
        near(got["state"]["x'"], v, f"follows sin t with {strength}")


def named_ends(folder):
    model = written(folder, "model zeno\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = -sign(x) - 0.5*sign(x')\nstart x = 1\n")
    for end in ("10", "50"):
        got = run(model, "--t1", end)
        check("accumulate" in got["end"], f"Zeno: {got['end']}")
        near(got["t"], (2 + 2 / 3) / (1 - 1 / math.sqrt(3)), "Zeno")
    model = written(folder, "model top\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = sign(x')\n")
    got = run(model, "--t1", "1")
    check("both sides" in got["end"] and got["t"] == 0, f"fork: {got['end']}")
    model = written(folder, "model valley\nconfig x in R\nlagrangian 1/2*x'^2 - abs(x)\n")
    got = run(model, "--t1", "1")
    check(got["end"].startswith("sticks") and got["t"] == 0, f"rest in a kink: {got['end']}")


# ---- what needs an impulse is refused ----

def refused(folder):
    cases = {
        "potential": "lagrangian 1/2*x'^2 - (if x > 3 then 5 else 0)",
        "sign": "lagrangian 1/2*x'^2 - sign(x - y)",
        "mass": "lagrangian (if x > 1 then 1 else 2)*x'^2 + y'^2",
        "mass in time": "lagrangian (if t > 1 then 1 else 2)*x'^2 + y'^2",
        "moving wall": "lagrangian 1/2*x'^2 + 1/2*y'^2 - (if x > 3 + t then 1 else 0)",
        "constraint": "lagrangian 1/2*x'^2 + 1/2*y'^2\nconstraint y' = (if x > 1 then 1 else 0)*x'",
        "constraint in time": "lagrangian 1/2*x'^2 + 1/2*y'^2\nconstraint y' = (if t > 1 then 2 else 1)*x'",
        "cut of atan2": "lagrangian 1/2*x'^2 - atan2(y, x)",
        "cut in a spring": "lagrangian 1/2*x'^2 - 3*(atan2(y - 1, x + 0.5) - 0.3)^2",
        "saw": "lagrangian 1/2*x'^2 - 2*atan(tan(x))",
        "stairs": "lagrangian 1/2*x'^2 - 1000*y - x + atan(tan(pi*x))/pi",
        "angle": "lagrangian 1/2*x'^2 - atan((y + 1)/(x + 2))",
        "pole": "lagrangian 1/2*x'^2 - 1e-3*tanh(1/(x - y))",
        "speed given": "lagrangian 1/2*x'^2 + 1/2*y'^2\nprescribe y = max(0, t - 1)",
    }
    for name, lines in cases.items():
        both = "" if "y'" in lines else "+ 1/2*y'^2"
        text = "model jump\nconfig x in R, y in R\n" + lines.replace("x'^2", f"x'^2 {both}", 1) + "\nstart x' = 1\n"
        out = call(written(folder, text), "--t1", "1")
        check(out.returncode == 2 and "jump" in out.stderr and "m.nh:" in out.stderr, f"{name}: {out.returncode} {out.stderr}")
    for lines in ("3*(atan2(y - 1, x + 0.5) - 0.3)^2", "2*atan2(x, y + 1)", "atan((y + 1)/(x + 2))", "tanh(1/(x - y))"):
        text = f"model cut\nconfig x in R, y in R\nlagrangian 1/2*x'^2 + 1/2*y'^2 - {lines}\nstart x = 0.3, x' = 0.1\n"
        said = call(written(folder, text), "--t1", "0.1").stderr
        domain = said.partition("write `")[2].partition("`")[0]  # the message has the statement to be written
        out = call(written(folder, text + domain + "\n"), "--t1", "0.1")
        check(domain.startswith("domain ") and out.returncode == 0, f"{lines}: {said} {out.stderr}")
    # a start on the cut, or beside it: the message is followed literally, and the force is that of the angle
    for angle, x, y in (("atan2(y, x)", -1, 0), ("atan2(y, x)", -1, 1e-9), ("atan2(y, x)", -2, -1e-3),
                        ("atan2(x - y, -1 - x)", 0.5, 0.5), ("atan2(2*x*y, x^2 - y^2)", 0, 1)):
        text = f"model cut\nconfig x in R, y in R\nlagrangian 1/2*x'^2 + 1/2*y'^2 - {angle}\nstart x = {x!r}, y = {y!r}\n"
        said = call(written(folder, text), "--t1", "0.1").stderr
        quoted = said.split("`")[1::2]
        check(len(quoted) == 3 and quoted[1] == angle, f"{angle} at {x}, {y}: {said}")
        if len(quoted) != 3:
            continue
        got = run(written(folder, text.replace(angle, quoted[0]) + quoted[2] + "\n"), "--t1", "0.1")
        force = {"x": y/(x*x + y*y), "y": -x/(x*x + y*y)}
        if "2*x*y" in angle:  # twice the angle
            force = {k: 2*f for k, f in force.items()}
        if "x - y" not in angle:  # over 0.1 the force turns by less than 0.01 of itself
            check(all(abs(got["state"][k + "'"] - 0.1*force[k]) < 0.002 for k in "xy"), f"{angle}: {got} {force}")
        check(got["end"] == "time reached" and not got["warnings"], f"{angle} at {x}, {y}: {got}")
    for near in (1e-8, 1e9):  # beside a pole, and far from it
        text = f"model cut\nconfig x in R, y in R\nlagrangian 1/2*x'^2 + 1/2*y'^2 - atan(1/x)\nstart x = {near!r}, y = 1\n"
        said = call(written(folder, text), "--t1", "0.1").stderr
        out = call(written(folder, text + said.split("`")[1] + "\n"), "--t1", "1e-9")
        check(out.returncode == 0, f"pole, {near}: {said} {out.stderr}")
    for lines in ("max(x, 0)^2", "abs(x - y)", "(if x > 1 then x - 1 else 0)", "x*min(1, t)", "(if t > 1 then x else 0)",
                  "cos(atan2(y, x))", "atan2(y, 3)", "atan(x)", "tanh(y/2)", "atan(y/(1 + x^2))", "atan2(y, x)^2", "1/(x + 4)",
                  "tan(x/4)^2", "x*atan(1/x)", "t*x*atan2(1, t)",
                  "atan(tan(x))\ndomain x in -1.4..1.4", "(atan2(y, x) - 0.3)^2\ndomain x in 0.1..5, y in -3..3"):
        out = call(written(folder, f"model bend\nconfig x in R, y in R\nlagrangian 1/2*x'^2 + 1/2*y'^2 - {lines}\n"
                           "start x = 0.3, x' = 1\n"), "--t1", "1")
        check(out.returncode == 0, f"{lines}: {out.stderr}")
    for mass, rows in (("max(1, t)", ""), ("1", "constraint y' = max(1, t)*x'\n"),  # continuous in time
                       ("1", "constraint (if x > 1 then 2 else 1)*(y' - x') = 0\n"),  # the same row on both sides
                       ("1", "constraint (if x > 1 then 1 else 0)*(y' - x') = 0\n")):  # begins to act, satisfied
        out = call(written(folder, f"model steady\nconfig x in R, y in R\nlagrangian 1/2*{mass}*x'^2 + 1/2*y'^2\n{rows}"
                           "start x' = 1, y' = 1\n"), "--t1", "2")
        check(out.returncode == 0, f"mass {mass}, {rows}: {out.stderr}")


# ---- the same numbers ----

def same_numbers(folder):
    """Interpreted and compiled; continued and in one run; alone and in a batch."""
    model = written(folder, """model shaken
param mu = 0.5
config x in R
lagrangian 1/2*x'^2 - abs(x)/10
force x' = 1.2*sin(t) - mu*sign(x')
event stop: x' = 0
""")
    whole = run(model, "--t1", "30", "--engine", "interpreted")
    compiled = run(model, "--t1", "30", "--engine", "compiled")
    keys = ("t", "state", "energy", "steps", "rejected", "end", "events")
    check(all(whole[k] == compiled[k] for k in keys), "interpreted and compiled differ")
    for t in ("0.2", "4", "7.3", "19"):
        part = os.path.join(folder, "part.h5")
        run(model, "--t1", t, "-o", part)
        out = subprocess.run([PROGRAM, "run", "--from", part, "--t1", "30", "--json", "--quiet"], capture_output=True, text=True, timeout=60)
        got = json.loads(out.stdout)
        check(all(whole[k] == got[k] for k in keys), f"continued at {t}")
        os.remove(part)
    table = os.path.join(folder, "sweep.csv")
    out = subprocess.run([PROGRAM, "run", model, "--t1", "30", "--sweep", "mu=0.3:0.7:3", "-o", table, "--quiet"],
                         capture_output=True, text=True, timeout=60)
    check(out.returncode == 0, out.stderr)
    with open(table) as f:
        head, *rows = [line.strip().split(",") for line in f if not line.startswith("#")]
    for row in rows:
        alone = run(model, "--t1", "30", "--set", f"mu={row[0]}")
        check(float(row[head.index("x")]) == alone["state"]["x"], f"batch, mu = {row[0]}")


def roots(folder):
    """A force |x|^(1/3) towards 0: neither branch exists beyond the surface. The quarter of the period by the beta function;
    the slope is infinite at 0, where steps of any method lose digits: 1e-7."""
    quarter = math.sqrt(1.5) * math.sqrt(math.pi)/2 * math.gamma(0.75)/math.gamma(1.25)
    for law in ("lagrangian 1/2*x'^2 - 3/4*abs(x)^(4/3)", "lagrangian 1/2*x'^2\nforce x' = -sign(x)*abs(x)^(1/3)"):
        model = written(folder, f"model root\nconfig x in R\n{law}\nstart x = 1\nevent middle: x = 0\n")
        for method in ("dop853", "dopri5"):
            got = run(model, "--t1", "12", "--method", method)
            check(got["end"] == "time reached", f"root {method}: {got['end']} at {got['t']}")
            found = got["events"]["middle"]
            check(len(found) == 4 and all(abs(t - (2*i + 1)*quarter) < 1e-7 for i, t in enumerate(found)),
                  f"root {method}: {found}, quarter {quarter}")


# ---- with multipliers ----

TIED = """model tied
param mu = {mu}, v = {v}
config x in R
config y in R
lagrangian 1/4*x'^2 + 1/4*y'^2 - 1/2*x^2
constraint rod: y' = x'
force {force}
start x = {x}, x' = 0
event middle: x = 0.1
observable pull = multiplier.rod[1]
"""


def with_multipliers(folder):
    """Both forms end their steps where the equations switch, and slide: a block on a belt, tied to another one (the
    rod pulls the second block: half of x'' without friction on it), and a sleigh with friction. Tolerance as above."""
    rng = random.Random(20261)
    for i in range(some(8)):
        mu, v, x = rng.uniform(0.1, 0.6), rng.choice((0, rng.uniform(-0.5, 0.5))), rng.uniform(0.5, 3)
        force = rng.choice(("x' = -mu*sign(x' - v)", "y' = -mu*(if y' > v then 1 else -1)", "x' = -mu*x'*abs(x' - v)"))
        model = written(folder, TIED.format(mu=mu, v=v, x=x, force=force))
        plain, full = run(model, "--t1", "20"), run(model, "--t1", "20", "--closure", "multipliers")
        what = f"tied blocks {i}"
        check(plain["end"].split(" at ")[0] == full["end"].split(" at ")[0], f"{what}: {plain['end']}, with multipliers {full['end']}")
        times(full["events"]["middle"], plain["events"]["middle"], what)
        near(full["t"], plain["t"], f"{what}: t")
        for name in plain["state"]:
            near(full["state"][name], plain["state"][name], f"{what}: {name}")
        near(full["observables"]["pull"], plain["observables"]["pull"], f"{what}: pull")
        check(not any("switch" in w["message"] for w in full["warnings"]), f"{what}: {full['warnings']}")
        part = os.path.join(folder, "part.h5")
        run(model, "--t1", "4.4", "--closure", "multipliers", "-o", part)
        out = subprocess.run([PROGRAM, "run", "--from", part, "--t1", "20", "--json", "--quiet"], capture_output=True,
                             text=True, timeout=60)
        again = json.loads(out.stdout) if out.stdout.startswith("{") else {"state": out.stderr}
        check(again["state"] == full["state"] or full["t"] < 4.4, f"{what}: continued, {again['state']}")
        os.remove(part)
        table = subprocess.run([PROGRAM, "run", model, "--t1", "20", "--sweep", f"mu={mu}:{mu}:1", "--closure", "multipliers",
                                "--json", "--quiet"], capture_output=True, text=True, timeout=60)
        check(table.returncode == 0 and repr(full["state"]["x"]) in table.stdout, f"{what}: batch {table.stdout[:300]}")
    model = written(folder, """model sleigh
config x in R
config y in R
config phi in S1
lagrangian 1/2*(x'^2 + y'^2) + 0.2*phi'^2
constraint x'*sin(phi) - y'*cos(phi) = 0
force x' = -0.1*sign(x'), phi' = -0.02*sign(phi')
start x' = 1, phi' = 0.3
""")
    plain, full = run(model, "--t1", "12"), run(model, "--t1", "12", "--closure", "multipliers")
    near(full["state"]["phi"], 0.9, "sleigh: it turns by 0.3^2/(2*0.05)")
    for name in plain["state"]:
        near(full["state"][name], plain["state"][name], f"sleigh: {name}")
    model = written(folder, """model framed
config x in R
config y in R
lagrangian 1/4*x'^2 + 1/4*y'^2
constraint y' = x'
frame v = x' + y'
force x' = -sign(x')
start v = 1
""")
    full = run(model, "--closure", "multipliers")
    check(full["end"].startswith("sticks") and not full["warnings"], f"framed: {full['end']}, {full['warnings']}")
    near(full["t"], 0.5, "framed: x' = 0.5 - t")
    near(full["state"]["x"], 0.125, "framed: x")


with tempfile.TemporaryDirectory() as folder:
    with_multipliers(folder)
    roots(folder)
    friction_cases(folder)
    brick_cases(folder)
    two_blocks(folder)
    kink(folder)
    piecewise_cases(folder)
    pulse_cases(folder)
    smooth_pulse_cases(folder)
    space_cases(folder)
    pushed_later(folder)
    relay_cases(folder)
    named_ends(folder)
    refused(folder)
    same_numbers(folder)
end()
