#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dry friction as people write it, and in many places at once.

    friction_test.py PROGRAM

All ways to write the law are one motion. Blocks that are joined by springs stick and slip in up to twelve places, against
a time-stepping scheme whose impulses are projected onto friction cones (Moreau, first order: h = 1e-3 is off by 1e-3)."""
import sys
import tempfile

sys.dont_write_bytecode = True
from common import check, end, run, written  # noqa: E402

V = "x' - 0.2"
LAWS = ["if {v} > 0 then -{c} else {c}", "if {v} >= 0 then -{c} else {c}", "if not ({v} > 0) then {c} else -{c}",
        "if {v} > 0 then -{c} else if {v} < 0 then {c} else 0", "if abs({v}) > 0 then -{c}*sign({v}) else 0",
        "if abs(0.2 - x') > 0 then -{c}*sign({v}) else 0", "if {v} != 0 then -{c}*sign({v}) else 0",
        "if {v} == 0 then 0 else -{c}*sign({v})", "if x' == 0.2 then 0 else -{c}*({v})/abs({v})", "-{c}*({v})/abs({v})",
        "-{c}*abs({v})/({v})", "-{c}*({v})/sqrt(({v})^2)", "{c}*sign(0.2 - x')", "-{c}*(2*(if {v} > 0 then 1 else 0) - 1)",
        "-{c}*max(-1, min(1, 2*sign({v})))", "(if 0.2 > x' then {c} else 0) + (if x' > 0.2 then -{c} else 0)"]
WAYS = [(), ("--closure", "multipliers"), ("--method", "radau5"), ("--engine", "compiled"), ("--method", "tsit5")]


def one_body(folder, law, way):
    """A driven oscillator on a belt that moves at 0.2."""
    text = law.format(v=V, c="0.5")
    path = written(folder, f"model m\nconfig x in R\nlagrangian 1/2*x'^2 - 1/2*x^2\nforce x' = ({text}) + 0.6*sin(0.7*t)\n"
                           "start x = 2\n")
    return run(path, "--t1", "20", *way)


def laws(folder):
    wanted = one_body(folder, "-{c}*sign({v})", ())
    check(wanted["end"] == "time reached", f"sign: {wanted['end']}")
    for i, law in enumerate(LAWS):
        way = WAYS[i % len(WAYS)]
        got = one_body(folder, law, way)
        off = max(abs(got["state"][k] - wanted["state"][k]) for k in ("x", "x'")) if "state" in got else got["end"]
        check(got["end"] == "time reached" and off < 1e-8, f"{law} {way}: {got['end']} at {got['t']}, off by {off}")


def stepping(n, v, mu, t1, h):
    """Blocks of mass 1 with springs to their places and between neighbours, on a belt."""
    x, u = [0.1*(i + 1) for i in range(n)], [0.0]*n
    for _ in range(round(t1/h)):
        force = [-x[i] + (x[i+1] - x[i] if i + 1 < n else 0) + (x[i-1] - x[i] if i else 0) for i in range(n)]
        for i in range(n):
            w = u[i] + h*force[i] - v
            u[i] = v + (w - h*mu[i] if w > h*mu[i] else w + h*mu[i] if w < -h*mu[i] else 0)
            x[i] += h*u[i]
    return x, u


def blocks(folder):
    for n in 2, 4, 7, 12:
        path = written(folder, f"model blocks\nconfig x in R [{n}]\nlagrangian sum(i in 1..{n}, 1/2*x[i]'^2 - 1/2*x[i]^2)"
                               f" - sum(i in 1..{n - 1}, 1/2*(x[i+1] - x[i])^2)\n"
                               f"force x[i]' = -(1 + 0.1*i)*sign(x[i]' - 0.1) for i in 1..{n}\n"
                               f"start x[i] = 0.1*i for i in 1..{n}\n")
        x, u = stepping(n, 0.1, [1 + 0.1*(i + 1) for i in range(n)], 16, 1e-3)
        for way in WAYS[:3] if n == 4 else WAYS[:1]:
            got = run(path, "--t1", "16", *way)
            off = max(abs(got["state"][f"x[{i + 1}]"] - x[i]) for i in range(n)) if "state" in got else got["end"]
            check(got["end"] == "time reached" and off < 1e-3, f"{n} blocks {way}: {got['end']} at {got['t']}, off by {off}")
            left = abs(got["energy_change"] - got["work"]) if "work" in got else 1
            check(left < 1e-8, f"{n} blocks {way}: energy less work {left}")


def at_rest(folder):
    """A train of blocks on a floor, pulled ever harder at its end: nothing moves until the pull exceeds mu."""
    path = written(folder, "model train\nconfig x in R [6]\nlagrangian sum(i in 1..6, 1/2*x[i]'^2)"
                           " - sum(i in 1..5, 1/2*(x[i+1] - x[i])^2) - 1/2*(x[6] - 0.1*t)^2\n"
                           "force x[i]' = -0.5*sign(x[i]') for i in 1..6\nevent slips: x[6]' = 1e-6\n")
    got = run(path, "--t1", "40")
    first = (got["events"].get("slips") or [0])[0]
    # x'' = 0.1 (t - 5) - 2 x from rest: x' = 1e-6 where (t - 5)^2/20 = 1e-6
    check(got["end"] == "time reached" and abs(first - 5 - (20e-6)**0.5) < 1e-6, f"train: {got['end']}, slips at {first}")
    check(all(abs(v) < 1e-9 for k, v in got["state"].items() if k in ("x[1]'",)), f"train: {got['state']}")


def rubbing(folder):
    """Three blocks that rub on their neighbours and two of them on the floor come to rest at once: four surfaces, of which
    one follows from the others. The time by stepping with h = 1e-4 as above, with impulses between the blocks: 4.7754."""
    path = written(folder, """model rubbing
config a in R, b in R, c in R
lagrangian 0.378*a'^2 - 0.799*a^2 + 0.627*b'^2 - 0.642*b^2 + 0.987*c'^2 - 0.898*c^2 - 1.42*(a - b)^2 - 0.708*(b - c)^2
force a' = -0.561*sign(a') - 0.507*sign(a' - b'), b' = -0.273*sign(b' - c') + 0.507*sign(a' - b')
force c' = -0.369*sign(c') + 0.273*sign(b' - c')
start a = 0.541, a' = -0.536, b = 0.0792, b' = -0.312, c = 0.721, c' = -0.293
""")
    for way in WAYS + [("--method", "dopri5"), ("--rtol", "1e-8"), ("--method", "rk4", "--dt", "0.01")]:
        got = run(path, "--t1", "6", *way)
        check(got["end"].startswith("sticks") and abs(got["t"] - 4.7754) < 1e-3, f"rubbing {way}: {got['end']} at {got['t']}")


with tempfile.TemporaryDirectory() as folder:
    laws(folder)
    blocks(folder)
    at_rest(folder)
    rubbing(folder)
end()
