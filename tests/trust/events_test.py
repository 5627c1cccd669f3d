#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Events against motions whose crossings are known in closed form: none may be missed, none counted twice.

    events_test.py PROGRAM MODELS [HOW MANY MODELS]

Times are compared to 1e-8 of the run (the default tolerance is 1e-10), directions and order exactly. Doubts are allowed
only where two crossings lie closer together than 100 tolerances, or an extremum comes nearer to zero than the tolerance."""
import json
import math
import random
import sys
import tempfile

sys.dont_write_bytecode = True
from common import case, check, end, run, some, written  # noqa: E402

CAMPAIGN = int(sys.argv[3]) if len(sys.argv) > 3 else some(70)  # models of 100 events each


def compare(found, wanted, what, tolerance=1e-8):
    """Two lists of times."""
    ok = len(found) == len(wanted) and all(abs(a - b) <= tolerance * max(1, abs(b)) for a, b in zip(found, wanted))
    check(ok, f"{what}: {len(found)} found, {len(wanted)} exist; {found[:4]} ... {wanted[:4]} ...")


# ---- the cases that were once answered wrongly ----

def seen_cases():
    got = run(case("F5_terminal_missed"), "--t1", "100")
    first = 69.8 - math.sqrt(0.84**2 - 0.2345**2)
    check(got["end"].startswith("event") and abs(got["t"] - first) < 1e-8, f"terminal event: {got['end']} at {got.get('t')}")
    got = run(case("F5_disk_turns"), "--t1", "20")
    turns = [t for k in range(0, 400) if 0 < (t := (2 * math.pi * k + 0.1) / 50) <= 20]
    compare(got["events"]["mark"], turns, "turns of the disk")
    for w in (10, 100):
        got = run(case("F5_alias"), "--set", f"w={w}", "--t1", "100")
        marks = [t for k in range(1, 4000) if 0 < (t := k * math.pi / w - 0.0001) <= 100]
        compare(got["events"]["mark"], marks, f"marks with w = {w}")
    got = run(case("F5_dip"), "--t1", "100")
    half = 0.01 * math.sqrt(math.log(2))
    compare(got["events"]["dip"], [33.3 - half, 33.3 + half], "narrow dip")
    compare(got["events"]["two"], [50 - 1e-3, 50 + 1e-3], "two close crossings")
    got = run(case("F3_osc"), "--set", "x0=5e-10", "--set", "v0=-1", "--t1", "1e-9", "--dt", "1e-10")
    compare(got["events"]["zero"], [5e-10], "oscillator with steps of 1e-10", 1e-16)


def thousands():
    """Thousands of crossings in a step are found: each adds to the work that the step may take. Where that ends, too, it is
    said from when on, and shorter steps find them."""
    for w, how in ((1000, ()), (3000, ("--method", "dopri5")), (700, ("--method", "gauss2", "--dt", "50"))):
        got = run(case("F5_alias"), "--set", f"w={w}", "--t1", "100", *how)
        compare(got["events"]["mark"], [t for k in range(1, 100*w//3) if 0 < (t := k * math.pi / w - 0.0001) <= 100], f"w = {w}")
        check(got["proved"]["mark"] and not got["warnings"], f"w = {w}: {got['proved']} {got['warnings']}")
    got = run(case("F5_alias"), "--set", "w=5e6", "--t1", "0.25", "--dt", "0.25")
    said = [x["message"] for x in got["warnings"]]
    check(len(said) == 1 and "undecided from t = " in said[0] and not got["proved"]["mark"], f"one long step: {said} {got['proved']}")


def doubts():
    """What cannot be known is said: a function that touches zero, or stays there; a jump over zero is no doubt."""
    with tempfile.TemporaryDirectory() as folder:
        for event, wanted in [("(x - 5)^2", True), ("x - t", True), ("(x - 5)^2 + 1e-3", False), ("1/(x - 5)", False),
                              ("atan2(sin(x - 0.1), cos(x - 0.1))", False)]:
            path = written(folder, f"model d\nconfig x in R\nlagrangian 1/2*x'^2\nstart x' = 1\nevent e: {event} = 0\n")
            text = json.dumps(run(path, "--t1", "10")["warnings"])
            check(("undecided near" in text) == wanted, f"{event}: {text}")


# ---- random problems ----

def polynomials(folder, rng):
    """Products of (x - r) along free motion, many events a model."""
    n_event = 50
    roots, lines = [], ["model p", "config x in R", "lagrangian 1/2*x'^2", "start x' = 1"]
    for e in range(n_event):
        r = sorted(rng.uniform(0.5, 19.5) for _ in range(rng.randint(1, 5)))
        if len(r) > 1 and rng.random() < 0.3:
            r[1] = r[0] + 10 ** rng.uniform(-4, -1)
            r.sort()
        roots.append(r)
        lines.append(f"event e{e}: " + "*".join(f"(x - {x!r})" for x in r) + " = 0")
    got = run(written(folder, "\n".join(lines) + "\n"), "--t1", "20")
    for e in range(n_event):
        compare(got["events"][f"e{e}"], roots[e], f"roots {roots[e]}", 1e-7)


def chords(folder, rng):
    n_event = 50
    wanted, lines = [], ["model c", "config x in R, y in R", "lagrangian 1/2*(x'^2 + y'^2)", "start x' = 1, y = 0.1"]
    for e in range(n_event):
        c, r, b = rng.uniform(5, 95), 10 ** rng.uniform(-2, 0.5), 0
        b = 0.1 + r * rng.choice([rng.uniform(-0.999, 0.999), rng.uniform(1.001, 2)])
        d = r * r - (b - 0.1) ** 2
        wanted.append([c - math.sqrt(d), c + math.sqrt(d)] if d > 0 else [])
        lines.append(f"event e{e}: (x - {c!r})^2 + (y - {b!r})^2 = {r!r}^2")
    got = run(written(folder, "\n".join(lines) + "\n"), "--t1", "100")
    for e in range(n_event):
        compare(got["events"][f"e{e}"], wanted[e], f"chord {lines[4 + e]}", 1e-7)


def sines(folder, rng):
    """Products of sines along an oscillator x = sin(t)."""
    n_event = 20
    wanted, lines = [], ["model s", "config x in R, y in R", "lagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2", "start x' = 1, y' = 1"]
    for e in range(n_event):
        a, b = rng.uniform(0.5, 30), rng.uniform(-0.95, 0.95)
        times = [t for k in range(1, 400) if 0 < (t := k * math.pi / a) <= 30]
        for k in range(-1, 12):
            times += [t for t in (math.asin(b) + 2 * math.pi * k, math.pi - math.asin(b) + 2 * math.pi * k) if 0 < t <= 30]
        times.sort()
        wanted.append(times)
        lines.append(f"event e{e}: sin({a!r}*y)*(x - {b!r}) = 0")
    got = run(written(folder, "\n".join(lines) + "\n"), "--t1", "30")
    for e in range(n_event):
        near = min((q - p for p, q in zip(wanted[e], wanted[e][1:])), default=1)
        if near > 1e-6:
            compare(got["events"][f"e{e}"], wanted[e], lines[4 + e], 1e-7)


def multiple(folder, rng):
    """Zeros of even order are no crossings, at most doubts; those of odd order are found once, and how accurately is
    told. A triple zero of size 1 is flat to the tolerance 1e-9 over (1e-9)^(1/3), which bounds what may be claimed."""
    n_event = 30
    wanted, lines = [], ["model d", "config x in R", "lagrangian 1/2*x'^2", "start x' = 1"]
    for e in range(n_event):
        a, b, order = rng.uniform(1, 9), rng.uniform(11, 19), rng.choice([2, 2, 3, 3, 4, 5])
        wanted.append((a, b, order))
        lines.append(f"event e{e}: (x - {a!r})^{order}*(x - {b!r}) = 0")
    got = run(written(folder, "\n".join(lines) + "\n"), "--t1", "20")
    for e, (a, b, order) in enumerate(wanted):
        found = got["events"][f"e{e}"]
        told = [w["message"] for w in got["warnings"] if f"`e{e}`" in w["message"] and "not proved" not in w["message"]]
        check(len(found) == 1 + order % 2 and abs(found[-1] - b) < 1e-8, f"{lines[4 + e]}: {found}")
        if order % 2 == 0:
            check(len(told) <= 1 and all("touches zero" in m for m in told), f"{lines[4 + e]}: {told}")
            continue
        within = [float(m.rsplit("within ", 1)[1].split()[0]) for m in told if "hardly any slope" in m]
        check(len(within) <= 1 and abs(found[0] - a) <= max(within + [1e-8]) <= 0.3, f"{lines[4 + e]}: {found} {told}")


def busy(folder):
    """Functions that cross zero hundreds of times in a step, a dozen in one model: each has its share of the work. A
    point falls, y = t/2 + 5/8 t^2, through the zeros of sin(w y - c)."""
    n_event, t1 = 12, 40.0
    wanted, lines = [], ["model b", "config y in R", "lagrangian 1/2*y'^2 + 5/4*y", "start y' = 1/2"]
    for e in range(n_event):
        w, c = 0.5 + 0.3 * e, 0.1 + 0.2 * e
        y = [(k * math.pi + c) / w for k in range(int(w * (t1 / 2 + 5 / 8 * t1 * t1) / math.pi) + 1)]
        times = [(math.sqrt(0.25 + 2.5 * v) - 0.5) / 1.25 for v in y]
        wanted.append([t for t in times if t < t1])
        lines.append(f"event e{e}: sin({w!r}*y - {c!r}) = 0")
    got = run(written(folder, "\n".join(lines) + "\n"), "--t1", str(t1))
    for e in range(n_event):
        compare(got["events"][f"e{e}"], wanted[e], lines[4 + e], 1e-7)
    check(all(got["proved"].values()), f"busy: {got['proved']}")


def turning(folder):
    """A body that turns steadily by 30 radians, d[1] = cos(10 t): implicit steps are exact however long, and what is
    recorded and searched inside them has the tolerance, too. Fixed steps of 5 radians: the interpolation is off by 0.1,
    and every crossing is found by real steps."""
    path = written(folder, "model t\nconfig R in SO3 velocity w\nlet d = R*e1\nlagrangian 1/2*dot(w, diag(1, 1.5, 2)*w)\n"
                           "event c: d[1] = 0.3\nstart w = [0, 0, 10]\n")
    times = sorted(t for k in range(6) for s in (-1, 1) if 0 < (t := (s*math.acos(0.3) + 2*math.pi*k)/10) < 3)
    for how in (["--method", "radau5"], ["--method", "radau3"], ["--method", "radau5", "--rtol", "1e-6"], ["--method", "radau2",
                "--rtol", "1e-5"], ["--method", "dopri5"]):
        got = run(path, "--t1", "3", "--every", "0.1", "--series", *how)
        rtol = float(how[3]) if len(how) > 2 else 1e-10
        compare(got["events"]["c"], times, f"turning {how}", 100*rtol)
        off = max(abs(R[0][0] - math.cos(10*t)) for t, R in zip(got["series"]["t"], got["series"]["R"]))
        check(off < 10*rtol, f"turning {how}: rows are off by {off}")
    for how in (["gauss2", "--dt", "0.5"], ["midpoint", "--dt", "0.5"], ["munthe_kaas4", "--dt", "0.5"], ["spark3", "--dt", "0.5"]):
        compare(run(path, "--t1", "3", "--method", *how)["events"]["c"], times, f"turning {how}")


def not_proved():
    """What lies behind a linear solve says so; what can be enclosed is proved."""
    got = run("rubber_disk", "--t1", "5")
    check(got["proved"] == {"coin.lift": False, "coin.flat": True, "lowest": True}, f"proved: {got['proved']}")


# ---- many problems in a model, motions with closed forms, all ways to run ----

METHODS = [[], [], ["--rtol", "1e-6", "--atol", "1e-8"], ["--rtol", "1e-12", "--atol", "1e-13"], ["--method", "dopri5"],
           ["--method", "tsit5", "--rtol", "1e-8"], ["--method", "bs3", "--rtol", "1e-7"], ["--dt", "0.37"], ["--dt", "1.3"]]


def apart(times, least):
    return all(q - p > least for p, q in zip(times, times[1:]))


def polynomial(rng, t1):
    """Simple roots along x = t, some of them close together."""
    while True:
        roots = sorted(rng.uniform(0.02, 0.98) * t1 for _ in range(rng.randint(1, 6)))
        if len(roots) > 1 and rng.random() < 0.5:
            roots[1] = roots[0] + 10 ** rng.uniform(-4, -1)
            roots.sort()
        if apart(roots, 5e-5) and roots[-1] < 0.99 * t1:
            break
    size = 10 ** rng.uniform(-6, 6) / t1 ** (len(roots) - 1)
    return f"{size!r}*" + "*".join(f"(x - {r!r})" for r in roots), roots


def chord(rng, t1):
    c, r = rng.uniform(0.2, 0.8) * t1, 10 ** rng.uniform(-2, 0)
    b = 0.1 + r * rng.choice([rng.uniform(-0.999, 0.999), rng.uniform(1.001, 2)])
    d = r * r - (b - 0.1) ** 2
    size = 10 ** rng.uniform(-6, 6)
    return (f"{size!r}*((x - {c!r})^2 + (y - {b!r})^2 - {r!r}^2)", [c - math.sqrt(d), c + math.sqrt(d)] if d > 0 else [])


def product(rng, t1):
    """sin(a x - c) (u - b) with u = sin(t); none at the ends."""
    while True:
        a, b, c = rng.uniform(0.3, 10), rng.uniform(-0.9, 0.9), rng.uniform(0.1, 3)
        times = [(k * math.pi + c) / a for k in range(-1, int(a * t1 / math.pi) + 2)]
        for k in range(-1, int(t1 / 6) + 2):
            times += [math.asin(b) + 2 * math.pi * k, math.pi - math.asin(b) + 2 * math.pi * k]
        times.sort()
        if apart(times, 1e-3) and all(min(abs(t), abs(t - t1)) > 1e-2 for t in times):
            inside = [t for t in times if 0 < t < t1]
            return f"{10 ** rng.uniform(-6, 6)!r}*sin({a!r}*x - {c!r})*(u - {b!r})", inside


def many(folder, rng, n_event, direction=1):
    """Events of all kinds along x = t, y = 0.1, u = sin(t); roots known to 1e-9 of the time, or the error of a coarse
    method; fixed steps are exact for x and y, so that u takes no part."""
    t1, how = rng.choice([10.0, 20.0]), rng.choice(METHODS)
    kinds = [polynomial, chord] if how and how[0] == "--dt" else [polynomial, chord, product]
    lines, wanted = [], []
    for e in range(n_event):
        text, times = rng.choice(kinds)(rng, t1)
        lines.append(f"event e{e}: {text} = 0")
        wanted.append(times)
    at = 0.0 if direction > 0 else t1
    start = f"start x = {at!r}, x' = 1, y = 0.1, u = {math.sin(at)!r}, u' = {math.cos(at)!r}"
    head = ["model m", "config x in R, y in R, u in R", "lagrangian 1/2*(x'^2 + y'^2 + u'^2) - 1/2*u^2", start]
    span = ["--t1", str(t1)] if direction > 0 else ["--t0", str(t1), "--t1", "0"]
    got = run(written(folder, "\n".join(head + lines) + "\n"), *span, *how)
    coarse = any(o in how for o in ("1e-6", "1e-7", "1e-8"))
    for e in range(n_event):
        compare(got["events"][f"e{e}"][::direction], wanted[e], f"{how} {direction} {lines[e]}", 1e-4 if coarse else 1e-7)
    text = json.dumps(got["warnings"])
    check(coarse or "undecided" not in text, f"{how} {direction}: {text[:300]}")
    return n_event


def lanes(folder, rng):
    """The same in the lanes of a batch: sections of members, bit for bit those of single runs."""
    roots = [sorted(rng.uniform(0.5, 19.5) for _ in range(3)) for _ in range(4)]
    text = "*".join(f"(x - a - {r!r})" for r in roots[0])
    more = f"section s: {text}*(u + 0.3*sin({rng.uniform(1, 9)!r}*x)) = 0"
    path = written(folder, "\n".join(["model l", "param a = 0", "config x in R, u in R",
                      "lagrangian 1/2*(x'^2 + u'^2) - 1/2*u^2", "start x' = 1, u' = 1", more]) + "\n")
    how = rng.choice([[], ["--rtol", "1e-7"], ["--dt", "0.25"]])
    got = run(path, "--section", "s", "--sweep", "a=0:0.3:5", "--t1", "20", *how)
    member, times = got["section"]["points"]["member"], got["section"]["points"]["t"]
    for i, a in enumerate(got["sweep"]["a"]):
        one = run(path, "--section", "s", "--set", f"a={a!r}", "--t1", "20", *how)["section"]["points"]
        mine = [t for k, t in zip(member, times) if k == i + 1]
        check(mine == one["t"], f"lanes {how}: {more}, a = {a}: {len(mine)} and {len(one['t'])} crossings")


def main():
    rng = random.Random(20)
    seen_cases()
    thousands()
    doubts()
    not_proved()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(some(40)):
            polynomials(folder, rng)
            chords(folder, rng)
        for _ in range(some(20)):
            sines(folder, rng)
        for _ in range(some(5)):
            multiple(folder, rng)
        busy(folder)
        turning(folder)
        for k in range(CAMPAIGN):
            many(folder, rng, 100, -1 if k % 3 == 2 else 1)
        for _ in range(2):
            lanes(folder, rng)
    end()


main()
