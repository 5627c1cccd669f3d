#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Forces of constraint, and the work of forces, while a motion slides along a switching surface.

    forces_test.py PROGRAM MODELS

Closed forms: where friction holds a body, its acceleration is known, and with it every force. They are compared to
1e-9: the motion is known to rounding while it is held, and forces of size 1 follow from it by small linear systems.
The last test compares with friction that is smooth in the velocity, tanh(v/eps): its forces differ by the order of eps."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, check, end, written  # noqa: E402

TOLERANCE = 1e-9


def near(a, b, what, tolerance=TOLERANCE):
    check(abs(a - b) <= tolerance, f"{what}: {a!r}, expected {b!r}")


def called(*options):
    out = subprocess.run([PROGRAM, *options], capture_output=True, text=True, timeout=60)
    check(out.returncode == 0, f"{options}: exit code {out.returncode}\n{out.stderr}")
    return out.stdout


def rows(folder, model, *options):
    """The rows of the motion, numbers by name; and the summary, which must hold no warning about forces."""
    table = os.path.join(folder, "out.csv")
    got = json.loads(called("run", model, "--json", "--quiet", "-o", table, *options))
    check(not any("one side" in w["message"] for w in got["warnings"]), f"{model}: {got['warnings']}")
    check(not any("work" in w["message"] for w in got["warnings"]), f"{model}: {got['warnings']}")
    with open(table) as f:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)], got


BELT = """model belt "A block held by dry friction on a support that is moved"
param mx = 1, my = 2, k = 3
config x in R, y in R
lagrangian mx/2*x'^2 + my/2*y'^2
prescribe y = sin(t)
force x' = -k*sign(x' - y'), y' = k*sign(x' - y')
observable f = drive.y, friction = -k*sign(x' - y'), asked = if y' < x' then -k else k
event zero: drive.y = 0
start x' = 1
"""


def belt(folder):
    """The drive moves both masses; friction is what the block needs, also where an observable states it itself."""
    for engine in ("interpreted", "compiled"):
        table, got = rows(folder, written(folder, BELT), "--t1", "10", "--every", "0.25", "--engine", engine)
        for row in table:
            s = math.sin(row["t"])
            near(row["f"], -3 * s, f"drive at t = {row['t']}")
            near(row["friction"], -s, f"friction at t = {row['t']}")
            near(row["asked"], -s, f"friction by if at t = {row['t']}")
        found = got["events"]["zero"]
        check(len(found) == 3, f"zeros of the drive: {found}")
        for i, t in enumerate(found): near(t, (i + 1) * math.pi, "zero of the drive")
        near(got["work"], got["energy"] - 1.5, "work on the belt", 1e-8)


def released(folder):
    """k too small to hold the block at all times: between, friction is k, and the drive moves its own mass against it."""
    table, got = rows(folder, written(folder, BELT.replace("k = 3", "k = 0.7")), "--t1", "20", "--every", "0.1")
    held = 0
    for row in table:
        gap, s = row["x'"] - row["y'"], math.sin(row["t"])
        if abs(gap) > 1e-9: # slides for the eye; friction is k against it
            near(row["friction"], -math.copysign(0.7, gap), f"friction at t = {row['t']}")
        else:
            held += 1
            near(row["friction"], -s, f"friction that holds at t = {row['t']}")
        near(row["f"], -2 * s + row["friction"], f"drive at t = {row['t']}")
    check(20 < held < len(table) - 20, f"held in {held} of {len(table)} rows")
    near(got["work"], got["energy"] - 1.5, "work on the belt", 1e-8)


def sleigh(folder):
    """Held along its blade and turning: the knife takes the part of the load across it."""
    table, _ = rows(folder, written(folder, """model sleigh
param a = 0.3, mu = 0.5, m = 2
config x in R, y in R, phi in S1
lagrangian m/2*(x'^2 + y'^2) + 1/2*phi'^2
constraint knife: x'*sin(phi) - y'*cos(phi) = 0
let v = x'*cos(phi) + y'*sin(phi)
force x' = a - mu*sign(v)*cos(phi), y' = -mu*sign(v)*sin(phi)
observable rx = reaction.x, ry = reaction.y
start phi' = 1
"""), "--t1", "12", "--every", "0.5")
    for row in table:
        across = -0.3 * math.sin(row["phi"])
        near(row["rx"], across * math.sin(row["phi"]), f"sleigh at t = {row['t']}")
        near(row["ry"], -across * math.cos(row["phi"]), f"sleigh at t = {row['t']}")


def ball(folder):
    """Rolling friction about both axes holds a ball under a load that varies: two surfaces at once, rotations as images."""
    table, _ = rows(folder, written(folder, """model ball
param k = 0.5, a = 0.2
config R in SO3 velocity Omega
config x in R^2
let w = R*Omega
lagrangian 1/5*dot(Omega, Omega) + 1/2*dot(x', x')
constraint x' = [w[2], -w[1]]
force x' = [a*cos(t), 0.1]
force Omega = -k*(R^T*e2)*sign(w[2]) - k*(R^T*e1)*sign(w[1])
observable r = reaction.x
start Omega = [0.3, -0.5, 0.2]
"""), "--t1", "8", "--every", "0.5")
    for row in table[4:]:
        near(row["r[1]"], -0.2 * math.cos(row["t"]), f"ball at t = {row['t']}", 1e-8)
        near(row["r[2]"], -0.1, f"ball at t = {row['t']}", 1e-8)


def many(folder):
    """A row of carts tied together: the constraints of a system of this size are not eliminated."""
    table, _ = rows(folder, written(folder, """model carts
param K = 70 integer
config x in R [K]
lagrangian sum(i in 1..K, 1/2*x[i]'^2)
constraint x[i+1]' = x[i]' for i in 1..K-1
force x[1]' = -3*sign(x[1]'), x[K]' = 1 + 0.5*sin(t)
observable r = reaction.x[K]
"""), "--t1", "5", "--every", "0.5")
    for row in table: near(row["r"], -1 - 0.5 * math.sin(row["t"]), f"carts at t = {row['t']}")


def rests(folder):
    """A ladder's foot on an incline that is touched only: both sides push back and the motion ends as `sticks`."""
    _, got = rows(folder, written(folder, """model incline
param a = 0.4, mu = 0.7
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - 10*y
constraint slope: y' = a*x'
force x' = -mu*8*sign(x')
observable r = reaction.y
start x' = 0
"""), "--t1", "5")
    check(got["end"].startswith("sticks"), got["end"])
    near(got["observables"]["r"], 10, "weight on the incline")


def batch(folder):
    """Members of a batch record what single runs record."""
    table, model = os.path.join(folder, "map.csv"), written(folder, BELT)
    called("run", model, "--t1", "2", "--sweep", "my=1:3:3", "--columns", "f,friction", "-o", table, "--quiet")
    with open(table) as f:
        for row in csv.DictReader(f):
            near(float(row["f"]), -(1 + float(row["my"])) * math.sin(2), f"batch, my = {row['my']}")
            near(float(row["friction"]), -math.sin(2), f"batch, my = {row['my']}")


def smoothed(folder):
    sharp, _ = rows(folder, written(folder, BELT), "--t1", "3", "--every", "0.5")
    for eps in (1e-2, 1e-3):
        smooth = BELT.replace("sign(x' - y')", f"tanh((x' - y')/{eps})").replace(", asked = if y' < x' then -k else k", "")
        soft, _ = rows(folder, written(folder, smooth), "--t1", "3", "--every", "0.5")
        for a, b in zip(sharp[1:], soft[1:]): near(a["f"], b["f"], f"eps = {eps} at t = {a['t']}", eps)


with tempfile.TemporaryDirectory() as folder:
    for test in (belt, released, sleigh, ball, many, rests, batch, smoothed): test(folder)
end()
