#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""section_test.py PROGRAM [unittest arguments]: `anagyre run --section`.

The crossings of two_oscillators are known in closed form. Tolerances: a crossing is located to rounding, so its section
value is a few units in the last place; times and energies carry the error of the motion, which at rtol 1e-12 is some
1e-12 over these times."""
import math
import os
import time
import unittest

from cli_test import Case, model, part

W = 1.618033988749895
PAIR = ["run", model("two_oscillators"), "--rtol", "1e-12", "--atol", "1e-14"]
EXACT, MOTION = 1e-14, 2e-11


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def shipped(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", name + ".nh")


class Section(Case):
    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def points(self, *words, **options):
        r = self.json(*words, **options)
        p = r["section"]["points"]
        for column in p.values():
            self.assertEqual(len(column), r["section"]["crossings"])
        return r, p

    def near(self, got, wanted, tolerance):
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertAlmostEqual(a, b, delta=tolerance)


class Crossings(Section):
    def test_closed_form(self):
        period = 2*math.pi/W
        for name, first, t1 in [("up", period, 60), ("down", period/2, 60), ("up", -period, -60), ("down", -period/2, -60)]:
            r, p = self.points(*PAIR, "--section", name, "--t1", t1)
            times, k = [], 0
            while abs(first + math.copysign(k*period, t1)) < abs(t1):
                times.append(first + math.copysign(k*period, t1))
                k += 1
            self.assertEqual(r["section"]["name"], name)
            self.assertEqual(r["section"]["direction"], "rising" if name == "up" else "falling")
            self.assertEqual((r["end"], r["t"]), ("time reached", t1))
            self.near(p["t"], times, MOTION)
            self.near(p["y"], [0]*len(times), EXACT)
            self.near(p["y'"], [0.7 if name == "up" else -0.7]*len(times), MOTION)
            self.near(p["x"], [math.cos(t) for t in times], MOTION)
            self.near(p["size"], [1]*len(times), MOTION)
            self.near(p["energy"], [0.745]*len(times), MOTION)

    def test_either_way(self):
        _, p = self.points(*PAIR, "--section", "both", "--t1", 30)
        wanted = sorted(s*math.acos(0.5) + 2*math.pi*k for k in range(6) for s in (-1, 1))
        self.near(p["t"], [t for t in wanted if 0 < t < 30], MOTION)
        self.near(p["x"], [0.5]*len(p["x"]), EXACT)

    def test_many_in_one_step(self):
        """sin(40 cos t) = 0.3 while it rises: all crossings are there, in order."""
        _, p = self.points(*PAIR, "--section", "fast", "--t1", 20)
        a, wanted = math.asin(0.3), []
        for n in range(-7, 8):                                  # 40 x = a + 2 pi n going up, pi - a + 2 pi n going down
            for x, sign in [((a + 2*math.pi*n)/40, 1), ((math.pi - a + 2*math.pi*n)/40, -1)]:
                if abs(x) < 1:
                    wanted += [2*math.pi*k - sign*math.acos(x) for k in range(5)]
        wanted = sorted(t for t in wanted if 0 < t < 20)
        self.near(p["t"], wanted, MOTION)
        for x in p["x"]:
            self.assertAlmostEqual(math.sin(40*x), 0.3, delta=40*EXACT)

    def test_time_in_the_section(self):
        _, p = self.points(*PAIR, "--section", "slow", "--t1", 20)
        self.assertEqual(len(p["t"]), 1)
        self.assertAlmostEqual(p["t"][0], 2.5*math.cos(p["t"][0]), delta=MOTION)

    def test_counted(self):
        all_, p = self.points(*PAIR, "--section", "up", "--t1", 60)
        for n in (1, 2, 7):
            r, q = self.points(*PAIR, "--section", "up", "--crossings", n)
            self.assertEqual((r["end"], r["section"]["crossings"]), ("crossings reached", n))
            self.assertEqual(q, {k: v[:n] for k, v in p.items()})
            self.assertEqual(r["t"], q["t"][-1])
            self.assertAlmostEqual(r["state"]["y"], 0, delta=EXACT)
        r, _ = self.points(*PAIR, "--section", "up", "--crossings", 1000, "--t1", 60)
        self.assertEqual((r["end"], r["steps"]), ("time reached", all_["steps"]))

    def test_with_events(self):
        """A terminal event ends the run; crossings after it are not reported; other events are reported as usual."""
        r, p = self.points("run", model("two_oscillators"), "--section", "up", "--t1", 60)
        self.assertEqual(len(r["events"]["late"]), 9)
        self.write("ends.nh", read(model("two_oscillators")).replace("y' = 1000", "x = -0.2 falling"))
        r, q = self.points("run", "ends.nh", "--section", "down", "--t1", 60)
        self.assertEqual((r["end"], r["end_event"], len(q["t"])), ("event", "stop", 0))
        self.assertAlmostEqual(r["t"], math.acos(-0.2), delta=1e-9)
        r, q = self.points("run", "ends.nh", "--section", "down", "--t1", 60, "--no-events")
        self.assertEqual((r["end"], r["events"]), ("time reached", {}))
        self.assertEqual(len(q["t"]), 15)

    def test_start_on_the_section(self):
        """Leaving is not a crossing, even if rounding puts the start slightly off the surface."""
        for y in ("0", "1e-17", "-1e-17"):
            _, p = self.points(*PAIR, "--section", "up", "--t1", 10, "--set", f"y={y}")
            self.near(p["t"], [2*math.pi/W, 4*math.pi/W], MOTION)
        _, p = self.points(*PAIR, "--section", "up", "--t1", 10, "--set", "y=-1e-6")
        self.assertEqual(len(p["t"]), 3)

    def test_engines_and_closures(self):
        want = self.points(*PAIR, "--section", "up", "--t1", 60)[1]
        self.assertEqual(self.points(*PAIR, "--section", "up", "--t1", 60, "--engine", "compiled")[1], want)
        self.assertEqual(self.points(*PAIR, "--section", "up", "--t1", 60, "--engine", "interpreted")[1], want)
        for more in (["--closure", "multipliers"], ["--method", "dopri5"]):
            got = self.points(*PAIR, "--section", "up", "--t1", 60, *more)[1]
            self.near(got["t"], want["t"], MOTION)
        got = self.points("run", model("two_oscillators"), "--section", "up", "--t1", 60, "--method", "rk4", "--dt", "1e-3")[1]
        self.near(got["t"], want["t"], 1e-9)

    def test_files(self):
        _, p = self.points(*PAIR, "--section", "up", "--t1", 60)
        self.anagyre(*PAIR, "--section", "up", "--t1", 60, "-o", "p.csv")
        header, rows = self.table(self.path("p.csv"))
        self.assertEqual(header[:3], ["t", "x", "y"])
        self.assertEqual([list(r[:3]) for r in rows], [list(r) for r in zip(p["t"], p["x"], p["y"])])
        out = self.anagyre(*PAIR, "--section", "up", "--t1", 60, "-o", "p.h5")[0]
        self.assertRegex(out, r"section +up: 15 crossings, t = 3\.88\d+ to 58\.")
        info = self.json("info", "p.h5")
        self.assertEqual((info["rows"], info["options"]["section"], info["events"]["up"]), (15, "up", 15))
        time.sleep(1.1)                                         # a file has no time of day in it
        self.anagyre(*PAIR, "--section", "up", "--t1", 25, "-o", "q.h5")
        self.anagyre("run", "--from", "q.h5", "--t1", 60)
        with open(self.path("p.h5"), "rb") as a, open(self.path("q.h5"), "rb") as b:
            self.assertEqual(a.read(), b.read(), "continued bit for bit")

    def test_disk_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        os.symlink("/dev/full", self.path("full.csv"))
        self.anagyre(*PAIR, "--section", "fast", "--t1", 2000, "-o", "full.csv", code=3)

    def test_refusals(self):
        for words, message in [
            (["--section", "upp"], "the model has no section `upp`; did you mean `up`.*there are: up down both"),
            (["--section", "late"], "the model has no section `late`"),
            (["--crossings", "3"], "--crossings needs --section"),
            (["--section", "up", "--every", "1", "-o", "x.csv"], "--every applies to the series"),
            (["--section", "up", "--crossings", "0"], "--crossings must be at least 1"),
        ]:
            self.fails(["run", model("two_oscillators"), *words], 2, message)
        self.fails(["run", model("oscillator"), "--section", "up"], 2, "the model has no section")


class Constrained(Section):
    def test_section_and_level(self):
        """Constraints on positions, rolling, a rotation: value and energy to 1e-11 at rtol 1e-12."""
        for name, section, expression, t1 in [
            ("spherical_pendulum", "n[1] = 0.1", lambda p, i: p["n"][i][0] - 0.1, 60),
            ("rattleback", "Omega[1] = 0", lambda p, i: p["Omega"][i][0], 30),
            ("heavy_top", "Gamma[1] = 0.05 rising", lambda p, i: p["up"][i][0] - 0.05, 30),
            ("knife_edge", "sin(phi) = 0.5", lambda p, i: math.sin(p["phi"][i]) - 0.5, 20),
        ]:
            self.write("cut.nh", read(shipped(name)) + f"\nsection cut: {section}\n")
            r = self.json("run", "cut.nh", "--section", "cut", "--t1", t1, "--rtol", "1e-12", "--atol", "1e-12", "--quiet")
            p = r["section"]["points"]
            self.assertGreater(len(p["t"]), 2, name)
            for i in range(len(p["t"])):
                self.assertAlmostEqual(expression(p, i), 0, delta=1e-14, msg=name)
                self.assertAlmostEqual(p["energy"][i], r["energy_start"], delta=1e-11, msg=name)
                self.assertLess(p["constraint_residual"][i], 1e-12, name)


class Many(Section):
    SWEEP = [*PAIR, "--sweep", "w=1:2:3", "--sweep", "x=-1:1:4", "--set", "y=0", "--t1", 40]

    def test_as_single_runs(self):
        """Points of every member in order; those of a single run to the error of the motion."""
        r = self.json(*self.SWEEP, "--section", "up")
        self.assertEqual((r["members"], r["failed"], r["member_by_member"], r["off_level"]), (12, 0, None, 0))
        p, section = r["section"]["points"], r["section"]
        self.assertEqual((section["name"], section["direction"]), ("up", "rising"))
        self.assertEqual([p["member"].count(m + 1) for m in range(12)], section["crossings"])
        self.assertEqual(p["member"], sorted(p["member"]))
        for m in range(12):
            w, x = r["sweep"]["w"][m], r["sweep"]["x"][m]
            times = [t for t, k in zip(p["t"], p["member"]) if k == m + 1]
            self.near(times, [2*math.pi*k/w for k in range(1, len(times) + 1)], MOTION)
            self.assertLess(40 - times[-1], 2*math.pi/w)
            xs = [v for v, k in zip(p["x"], p["member"]) if k == m + 1]
            self.near(xs, [x*math.cos(t) for t in times], MOTION)
        self.near(p["y"], [0]*len(p["y"]), EXACT)

    def test_both_ways_and_backward(self):
        for t1, more in ((40, ["--section", "both"]), (-40, ["--section", "down"]), (-40, ["--section", "both"])):
            r = self.json(*self.SWEEP[:-1], t1, *more)
            want = []
            for w, x in zip(r["sweep"]["w"], r["sweep"]["x"]):
                want.append(self.points(*PAIR, "--set", f"w={w!r}", "--set", f"x={x!r}", "--set", "y=0", "--t1", t1, *more)[1])
            self.assertEqual(r["section"]["crossings"], [len(p["t"]) for p in want])
            for column in ("t", "x", "y'", "energy"):
                self.near(r["section"]["points"][column], [v for p in want for v in p[column]], MOTION)

    def test_many_in_one_step(self):
        r = self.json(*PAIR, "--sweep", "y'=0.5:0.7:3", "--section", "fast", "--t1", 20)
        one = self.points(*PAIR, "--section", "fast", "--t1", 20)[1]
        self.assertEqual(r["section"]["crossings"], [len(one["t"])]*3)
        self.near(r["section"]["points"]["t"][:len(one["t"])], one["t"], MOTION)

    def test_threads(self):
        want = self.json(*self.SWEEP, "--section", "both", "--crossings", 9, "--threads", 1)
        self.assertEqual(set(want["end"]), {"crossings reached", "time reached"})
        got = self.json(*self.SWEEP, "--section", "both", "--crossings", 9, "--threads", 3)
        for key in ("end", "t", "steps", "section", "columns"):
            self.assertEqual(want[key], got[key])

    def test_counted_and_ended(self):
        r = self.json(*self.SWEEP, "--section", "up", "--crossings", 3)
        self.assertEqual((r["section"]["crossings"], set(r["end"])), ([3]*12, {"crossings reached"}))
        self.assertEqual(r["t"], r["section"]["points"]["t"][2::3])
        self.write("ends.nh", read(model("two_oscillators")).replace("y' = 1000", "x = -0.2 falling"))
        r = self.json("run", "ends.nh", "--sweep", "w=4:5:6", "--section", "up", "--t1", 60)
        self.assertEqual((set(r["end"]), r["member_by_member"]), ({"event"}, None))
        self.near(r["t"], [math.acos(-0.2)]*6, 1e-9)
        self.assertEqual(r["section"]["crossings"], [1]*6)

    def test_table(self):
        r = self.json(*self.SWEEP, "--section", "up", "--columns", "x,energy")
        self.anagyre(*self.SWEEP, "--section", "up", "--columns", "x,energy", "-o", "p.csv")
        header, rows = self.table(self.path("p.csv"))
        self.assertEqual(header, ["member", "w", "start x", "crossing", "t", "x", "energy"])
        p = r["section"]["points"]
        self.assertEqual(sorted(p), ["energy", "member", "t", "x"])
        self.assertEqual([row[0] for row in rows], p["member"])
        self.assertEqual([row[4:] for row in rows], [list(v) for v in zip(p["t"], p["x"], p["energy"])])

    def test_member_by_member(self):
        """Multipliers do not go through lanes; the points are there all the same. Position constraints do."""
        self.write("cut.nh", read(shipped("spherical_pendulum")) + "\nsection cut: n[1] = 0.1 rising\n")
        batch = ["run", "cut.nh", "--sweep", "w=0.3:0.9:4", "--section", "cut", "--crossings", 5, "--quiet"]
        lanes, alone = self.json(*batch), self.json(*batch, "--closure", "multipliers")
        self.assertIsNone(lanes["member_by_member"])
        self.assertIn("multipliers", alone["member_by_member"])
        for r in lanes, alone:
            self.assertEqual(r["section"]["crossings"], [5]*4)
            self.near([n[0] for n in r["section"]["points"]["n"]], [0.1]*20, EXACT)


HENON = """model henon "Henon and Heiles"
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - 1/2*(x^2 + y^2) - x^2*y + y^3/3
observable tilt = x' + 2*y'
section cut: x = 0 rising
section back: x = 0 falling
section shifted: x + y/2 = 0.1
start y' = 0.1, x' = 0.3
"""


SLIDER = """model slider "Crank and slider"
param l = 2, k = 1, weight = k^2
config phi in S1, x in R
holonomic (x - cos(phi))^2 + sin(phi)^2 = l^2
lagrangian 1/2*phi'^2 + 1/2*x'^2 - weight*x
observable push = norm(reaction.x)
observable end = x + sin(phi)
start phi = 0.7, phi' = 0.4
guess x = 2.5
"""

DOOR = """model door "A door on two hinges: rows that follow from others"
body door mass 1 inertia 0.1 gravity 9.81
holonomic hinge(space, [0,0,0], e3, door, [1,0,-0.5], e3)
holonomic hinge(space, [0,0,1], e3, door, [1,0,0.5], e3)
observable pull = norm(reaction.door.x)
start door.Omega[3] = 1
"""


def seeded(state):
    """Uniform numbers in [0, 1), the same everywhere."""
    while True:
        state = (state*6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 11)/2**53


class Levels(Section):
    def setUp(self):
        super().setUp()
        self.write("henon.nh", HENON)

    def test_grid(self):
        """Energy 1/8 at every point; members off the level are reported, not counted as failures."""
        r = self.json("run", "henon.nh", "--section", "cut", "--level", "energy=1/8", "--rtol", "1e-12", "--atol", "1e-12",
                      "--sweep", "y=-0.5:0.7:7", "--sweep", "y'=-0.4:0.4:5", "--crossings", 20)
        inside = 0
        for m, (y, v) in enumerate(zip(r["sweep"]["y"], r["sweep"]["y'"])):
            rest = 1/8 - v*v/2 - y*y/2 + y**3/3                          # what is left for x'^2/2
            if rest < 0:
                self.assertEqual((r["end"][m], r["sweep"]["x'"][m]), ("outside the level", None))
                self.assertEqual(r["section"]["crossings"][m], 0)
                continue
            inside += 1
            self.assertEqual((r["end"][m], r["section"]["crossings"][m]), ("crossings reached", 20))
            self.assertAlmostEqual(r["sweep"]["x'"][m], math.sqrt(2*rest), delta=1e-14)
        self.assertTrue(5 < inside < 35)
        self.assertEqual((r["failed"], r["failures"], r["off_level"]), (0, [], 35 - inside))
        p = r["section"]["points"]
        self.near(p["x"], [0]*len(p["x"]), 1e-11)
        self.near(p["energy"], [1/8]*len(p["x"]), 1e-11)
        for v in p["x'"]:
            self.assertGreater(v, 0)

    def test_direction_decides_the_root(self):
        for section, sign in [("cut", 1), ("back", -1)]:
            r = self.json("run", "henon.nh", "--section", section, "--level", "energy=0.1", "--sweep", "y=0:0.1:2", "--set", "y'=0.1",
                          "--crossings", 1)
            self.assertEqual([v > 0 for v in r["sweep"]["x'"]], [sign > 0]*2)

    def test_onto_the_section(self):
        """The coordinate follows from the section, the velocity from the energy; also together with a second level."""
        r = self.json("run", "henon.nh", "--section", "shifted", "--level", "energy=0.1", "--solve", "x',x", "--sweep", "y=-0.1:0.2:4",
                      "--set", "y'=0.05", "--crossings", 3, "--rtol", "1e-12")
        self.near(r["sweep"]["x"], [0.1 - y/2 for y in r["sweep"]["y"]], 1e-14)
        self.near(r["section"]["points"]["energy"], [0.1]*12, 1e-11)
        r = self.json("run", "henon.nh", "--section", "cut", "--level", "energy=0.1", "--level", "tilt=0.3", "--solve", "x',y'",
                      "--sweep", "y=-0.1:0.2:4", "--crossings", 1)
        for y, a, b in zip(r["sweep"]["y"], r["sweep"]["x'"], r["sweep"]["y'"]):
            self.assertAlmostEqual(a + 2*b, 0.3, delta=1e-13)
            self.assertAlmostEqual(a*a/2 + b*b/2 + y*y/2 - y**3/3, 0.1, delta=1e-13)

    def test_nothing_is_missed(self):
        """Lanes find what single runs find: shallow dips, many crossings in a step, moving surfaces, steps as long as tolerances allow."""
        self.write("many.nh", HENON + """section dip: x'*y' = 0 falling
section ring: x^2 + y^2 = 0.1
section waves: sin(12*x) = 0.2
section moving: x - 0.3*sin(3*t) = 0
""")
        for section in ("dip", "ring", "waves", "moving"):
            for rtol, method, t1 in [("1e-3", "dop853", 25), ("1e-5", "dop853", -25)] + [("1e-3", "tsit5", -25)]*(section == "dip"):
                words = ["run", "many.nh", "--section", section, "--sweep", "y=-0.3:0.4:9", "--sweep", "y'=-0.2:0.2:5", "--t1", t1,
                         "--rtol", rtol, "--atol", rtol, "--method", method]
                lanes, single = self.json(*words), self.json(*words, "--engine", "interpreted")
                self.assertIsNone(lanes["member_by_member"])
                self.assertEqual(lanes["section"]["crossings"], single["section"]["crossings"], words)
                self.near(lanes["section"]["points"]["t"], single["section"]["points"]["t"], 1e-10)

    def test_one_run(self):
        r = self.json("run", "henon.nh", "--section", "cut", "--level", "energy=0.1", "--solve", "x'", "--set", "y=0.1", "--crossings", 4)
        self.assertAlmostEqual(r["energy_start"], 0.1, delta=1e-15)
        self.assertEqual(r["section"]["crossings"], 4)
        self.anagyre("run", "henon.nh", "--section", "cut", "--level", "energy=0.1", "--solve", "x'", "--crossings", 4, "-o", "a.h5")
        self.assertRegex(self.json("info", "a.h5")["set"][0], r"x'=0\.4358")
        _, err = self.anagyre("run", "henon.nh", "--section", "cut", "--level", "energy=-1", "--solve", "x'", code=1)
        self.assertIn("outside the level", err)

    def test_rolling(self):
        """A stone: level and section through the constraints of rolling."""
        self.write("stone.nh", read(shipped("rattleback")) + "\nsection cut: Omega[1] = 0 rising\n")
        r = self.json("run", "stone.nh", "--section", "cut", "--level", "energy=1.2", "--solve", "Omega[3],Omega[1]", "--rtol", "1e-12",
                      "--atol", "1e-12", "--sweep", "Omega[2]=-0.3:0.3:5", "--crossings", 5, "--quiet")
        self.assertIsNone(r["member_by_member"])
        self.assertGreater(sum(r["section"]["crossings"]), 5)
        self.near(r["section"]["points"]["energy"], [1.2]*sum(r["section"]["crossings"]), 1e-11)
        self.near([v[0] for v in r["section"]["points"]["Omega"]], [0]*sum(r["section"]["crossings"]), 1e-13)

    def test_through_the_start(self):
        """The value a level has at some start is reached again from the start of the model: through constraints on positions and velocities,
        frames, rotations, parameters that follow, forces of constraint. Rounding: some operations on numbers of the size of the level."""
        self.write("slider.nh", SLIDER)
        self.write("door.nh", DOOR)
        random = seeded(7)
        for name, level, solve, lo, hi in part([
            ("slider.nh", "energy", "phi'", -2, 2), ("slider.nh", "energy", "phi", 0.2, 1.2), ("slider.nh", "end", "phi", 0.8, 1.5),
            ("slider.nh", "end", "l", 1.6, 2.6), ("slider.nh", "push", "phi'", 0.3, 2), ("slider.nh", "push", "k", 0.5, 1.5),
            ("door.nh", "energy", "door.Omega[3]", 0.5, 3), ("door.nh", "pull", "door.Omega[3]", 0.5, 3),
            (shipped("spherical_pendulum"), "tension", "w", 1, 2), (shipped("spherical_pendulum"), "energy", "alpha", 0.5, 1.2),
            (shipped("rattleback"), "energy", "Omega[3]", 0.2, 2), (shipped("rattleback"), "energy", "rock", 0.1, 0.5),
            (shipped("chaplygin_sleigh"), "energy", "u", 0.5, 2), (shipped("heavy_top"), "energy", "Omega[3]", 1, 5),
        ]):
            for _ in range(3):
                u = lo + (hi - lo)*next(random)
                run = ["run", name, "--t1", "0", "--quiet"]
                want = self.json(*run, "--set", f"{solve}={u!r}")
                value = want["energy_start"] if level == "energy" else want["observables"][level]
                got = self.json(*run, "--level", f"{level}={value!r}", "--solve", solve)
                reached = got["energy_start"] if level == "energy" else got["observables"][level]
                self.assertAlmostEqual(reached, value, delta=2e-15*max(1, abs(value)), msg=f"{name} {level} {solve}={u}")
                self.assertLess(got["constraint_residual"], 1e-12)

    def test_level_of_no_state(self):
        self.fails(["run", "henon.nh", "--level", "constraint_residual=0", "--solve", "x'"], 2, "`constraint_residual` is not a function of the state")

    def test_refusals(self):
        sweep = ["run", "henon.nh", "--section", "cut", "--sweep", "y=0:1:3"]
        for words, message in [
            (["--level", "energy"], "--level needs NAME=VALUE"),
            (["--level", "enrgy=1", "--solve", "x'"], "no number `enrgy`; did you mean `energy`"),
            (["--level", "energy=1"], "which start value puts the start on the level energy=1.*there are: x' y'"),
            (["--level", "energy=1", "--solve", "y"], "`y` is both solved for and swept or set"),
            (["--level", "energy=1", "--solve", "x',x,y'"], "--solve names 3 start values for 1 level"),
            (["--level", "energy=1", "--solve", "z'"], "unknown name `z`"),
            (["--level", "energy=mass", "--solve", "x'"], "unknown name `mass`"),
        ]:
            self.fails([*sweep, *words], 2, message)
        self.fails(["run", "henon.nh", "--solve", "x'"], 2, "--solve needs --level or --section")


if __name__ == "__main__":
    unittest.main()
