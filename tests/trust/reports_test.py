#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""reports_test.py PROGRAM FOLDER: what a run must say by itself: energy that changes though it should not, motions that
no real body makes, numbers that are none, steps limited by stiffness; and nothing that is not so."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
FOLDER = os.path.abspath(sys.argv.pop(1))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.box = tempfile.TemporaryDirectory(prefix="ag_trust_")
        self.addCleanup(self.box.cleanup)

    def path(self, name):
        return os.path.join(self.box.name, name)

    def model(self, text, name="m"):
        path = self.path(name + ".nh")
        with open(path, "w") as f:
            f.write(f"model {name}\n{text}\n")
        return path

    def run_it(self, *words, code=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              cwd=self.box.name)
        if code is not None:
            self.assertEqual(done.returncode, code, " ".join(map(str, words)) + "\n" + done.stdout + done.stderr)
        return done.stdout, done.stderr

    def json(self, *words, code=0):
        return json.loads(self.run_it(*words, "--json", code=code)[0])

    def told(self, result, pattern):
        """The warnings and notes that match."""
        return [w["message"] for w in result["warnings"] if re.search(pattern, w["message"])]


class Symmetry(Case):
    """Generators of bodies are declared only where they are certain."""

    BALL = """param M = 1000
body b mass M inertia diag(4, 4, 4) surface sphere(0.1)
roll b on plane gravity 9.8
lagrangian %s"""

    def generators(self, potential):
        out, _ = self.run_it("show", self.model(self.BALL % potential))
        return set(re.findall(r"^\s*generator (\S+):", out, re.M))

    def test_small_bodies(self):
        """Symmetry is a question of ratios: a body of 1e-15 is as unsymmetric as one of size 1."""
        def spins(size):
            out, _ = self.run_it("show", self.model(f"body b mass {size:g} inertia diag({size:g}, {1.5*size:g}, {2*size:g}) surface "
                                                    "ellipsoid(1, 1, 2)\nroll b on plane"))
            return set(re.findall(r"^\s*generator (\S+):", out, re.M))
        self.assertEqual(spins(1e-15), spins(1))

    def test_weak_potential(self):
        free = self.generators("0*b.x[1]")
        self.assertIn("b.along_x", free)
        self.assertIn("b.turn", free)
        for potential in ("-2e-6*b.x[1]", "-1e-300*b.x[1]", "-abs(b.x[1])", "-exp(900*(b.x[1] - 50))"):
            found = self.generators(potential)
            self.assertNotIn("b.along_x", found, potential)
            self.assertNotIn("b.turn", found, potential)
            self.assertIn("b.along_y", found, potential)
        self.assertIn("b.turn", self.generators("-sqrt(b.x[1]^2 + b.x[2]^2)"))


OSCILLATOR = """param w = 1
config x in R
lagrangian 1/2*x'^2 - w^2/2*x^2
start x = 1"""
DAMPED = """param c = 0.1
config x in R
lagrangian 1/2*x'^2 - 1/2*x^2
force x' = -c*x'
start x = 1"""
# a charge in a magnetic field, as a force: it has no power
MAGNETIC = """param B = 2
config x in R^3
lagrangian 1/2*dot(x', x') - 1/2*x[3]^2
force x' = B*cross(x', [0.6, 0, 0.8])
start x = [1, 0, 0.5], x' = [0, 1, 0.2]"""
# the same without the cross product: y' is where x' should be
NEARLY_MAGNETIC = """param B = 2
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2)
force x' = B*y', y' = -(B + 1e-12)*x'
start x = 1, x' = 0.3, y' = 0.4"""
# mass point on a driven cart
DRIVEN = """config s in R, phi in S1
lagrangian 1/2*(s'^2 + 2*s'*phi'*cos(phi) + phi'^2) + cos(phi)
prescribe s = 0.3*sin(2*t)
start phi = 0.4"""
EXPLICIT = """config x in R
lagrangian 1/2*x'^2 - (1 + 0.3*sin(t))/2*x^2
start x = 1"""
AFFINE = """config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - 1/2*(x^2 + y^2)
constraint y' = x*x' + 0.2
start x = 1"""


class Energy(Case):
    def test_conserved_or_not(self):
        """Decided by the structure of the equations."""
        for text, law in ((OSCILLATOR, "conserved"), (MAGNETIC, "conserved"), (DAMPED, "work"), (DRIVEN, "work"),
                          (EXPLICIT, "work"), (AFFINE, "work"), (NEARLY_MAGNETIC, "work")):
            r = self.json("run", self.model(text), "--t1", 5)
            self.assertEqual(r["energy_law"], law, text)
            self.assertEqual(r["energy_drift"] is None, law == "work")
            self.assertEqual(r["work"] is None, law == "conserved")
            self.assertEqual(self.told(r, "energy"), [])

    def test_work_is_change(self):
        """The work, integrated along the motion, is the change of the energy: both closures, fixed steps, backwards."""
        for text in (DAMPED, DRIVEN, EXPLICIT, AFFINE):
            model = self.model(text)
            for more in ([], ["--closure", "multipliers"], ["--t1=-5"], ["--method", "rk4", "--dt", "0.002"]):
                r = self.json("run", model, *(more if "--t1=-5" in more else ["--t1", 5, *more]))
                # dense output of order 7 at tolerance 1e-10; rk4 with cubic dense output at this step: h^4 = 2e-11
                self.assertLess(abs(r["energy_change"] - r["work"]), 1e-8 * r["energy_size"], (text, more))
                self.assertEqual(r["work_t"], r["t"])
        # x'' + c x' + x = 0: work from the closed form of the energy
        r = self.json("run", self.model(DAMPED), "--t1", 5)
        a, t = 0.05, 5.0
        b = math.sqrt(1 - a * a)
        x = math.exp(-a * t) * (math.cos(b * t) + a / b * math.sin(b * t))
        v = -math.exp(-a * t) * math.sin(b * t) / b
        self.assertAlmostEqual(r["work"], (x * x + v * v) / 2 - 0.5, delta=1e-8)
        out, _ = self.run_it("run", self.model(DAMPED), "--t1", 5)
        self.assertIn("work done", out)
        self.assertNotIn("drift", out)

    def test_long_runs(self):
        """Work is measured in the first 20000 steps; the result says until when."""
        r = self.json("run", self.model(DAMPED), "--t1", 250, "--method", "rk4", "--dt", 0.01)
        self.assertAlmostEqual(r["work_t"], 200, delta=1e-9)
        self.assertLess(abs(r["energy_balance"]), 1e-7)

    def test_drift_is_a_warning(self):
        model = self.model(OSCILLATOR)
        loose = ["--t1", 50, "--set", "x=1e-6", "--atol", "1e-7"]
        coarse = ["--t1", 50, "--method", "rk4", "--dt", 0.5]
        for options in (loose, coarse):
            out, err = self.run_it("run", model, *options)
            self.assertRegex(err, "warning: the energy should be conserved but changed by")
            r = self.json("run", model, *options)
            self.assertEqual(len(self.told(r, "energy should be conserved")), 1)
            self.run_it("run", model, *options, "--strict", code=1)
            self.run_it("run", model, *options, "-o", "a.h5", "--quiet")
            self.assertIn("energy should be conserved", self.run_it("info", "a.h5")[0])
            self.assertIn("energy should be conserved", " ".join(self.json("info", "a.h5")["warnings"]))
        self.assertEqual(self.json("run", model, "--t1", 50, "--strict")["warnings"], [])
        self.run_it("run", self.model(DAMPED), "--t1", 50, "--strict")

    def test_continued(self):
        """A continued run has the same work, to the bit."""
        model = self.model(DRIVEN)
        self.run_it("run", model, "--t1", 3, "-o", "a.h5", "--quiet")
        self.run_it("run", "--from", "a.h5", "--t1", 7, "-o", "b.h5", "--quiet")
        self.run_it("run", model, "--t1", 7, "-o", "c.h5", "--quiet")
        b, c = self.json("info", "b.h5")["summary"], self.json("info", "c.h5")["summary"]
        self.assertEqual(b, c)
        self.assertIsNotNone(b["work"])


# a solid ball that rolls down a ball: it leaves where cos(theta) = 10/17 cos(theta0)
DOWN = """param r = 0.1, M = 2
body b mass M inertia 2/5*M*r^2 surface sphere(r)
roll b outside sphere(1) gravity 9.81
start b.x[1] = 0.33"""

class Contact(Case):
    def test_lifts(self):
        model = self.model(DOWN)
        r = self.json("run", model, "--t1", 2)
        told = self.told(r, "would have to hold `b` down")
        self.assertEqual(len(told), 1)
        self.assertIn("not the motion of a real body", told[0])
        self.assertIn("--end-at b.lift", told[0])
        self.assertEqual(r["end"], "time reached")
        since = float(re.search("from t = ([0-9.]+)", told[0])[1])
        self.assertAlmostEqual(since, r["events"]["b.lift"][0], delta=1e-8)
        end = self.json("run", model, "--t1", 2, "--end-at", "b.lift")
        self.assertEqual((end["end"], self.told(end, "hold")), ("event", []))
        self.assertAlmostEqual(end["t"], since, delta=1e-8)
        # 1.1 cos(theta) is the height of the centre; the event is located to rounding error
        self.assertAlmostEqual(end["state"]["b.x"][2] / 1.1, 10 / 17 * math.sqrt(1 - 0.3**2), delta=1e-8)
        self.assertEqual(len(self.told(self.json("run", model, "--t1", since + 0.1, "--no-events"), "at the end")), 1)
        _, err = self.run_it("run", model, "--t1", 2, "-o", "a.h5")
        self.assertIn("not the motion of a real body", err)
        self.assertIn("not the motion of a real body", self.run_it("info", "a.h5")[0])
        self.assertEqual(self.told(self.json("run", model, "--t1", 0.1), "hold"), [])

    def test_infinite_slip_ratio(self):
        """A ball with three moments of inertia and no weight: friction without pressure."""
        model = self.model("body b mass 1 inertia diag(0.2, 0.3, 0.4) surface sphere(1)\nroll b on plane\n"
                           "start b.Omega = [1, 0.4, 0.2]")
        _, err = self.run_it("run", model, "--t1", 1)
        self.assertRegex(err, "b.slip_ratio is infinite at the end")
        model = self.model("body b mass 1 inertia 1 surface sphere(1)\nroll b on plane\nstart b.Omega = e3")
        _, err = self.run_it("run", model, "--t1", 1)
        self.assertRegex(err, "b.slip_ratio is not defined at the end: neither friction nor a normal force")


class Batches(Case):
    """What a single run says is said of the members of a batch, once for all of a kind: in text, JSON and file."""

    def test_energy(self):
        """Steps too long for the larger frequencies: those members are counted, and --strict does not let them pass."""
        model = self.model("param w = 1\nconfig x in R\nlagrangian 1/2*x'^2 - w^2/2*x^2\nstart x = 1")
        words = ("run", model, "--t1", 20, "--dt", 0.1, "--method", "rk4", "--sweep", "w=1:9:9")
        off = [w for w in range(1, 10)
               if self.told(self.json(*words[:-2], "--set", f"w={w}"), "should be conserved")]
        self.assertTrue(0 < len(off) < 9, off)
        told = self.told(self.json(*words, "-o", "a.h5"), "should be conserved")
        self.assertEqual(len(told), 1)
        self.assertIn(f"in {len(off)} of 9 members (the first is member {off[0]})", told[0])
        for out in (self.run_it(*words)[1], self.run_it(*words, "--strict", code=1)[1], self.run_it("info", "a.h5")[0]):
            self.assertIn("should be conserved", out)
        good = (*words[:4], "--sweep", "w=1:9:9")
        self.assertEqual(self.told(self.json(*good, "--strict"), "energy"), [])
        self.assertEqual(self.told(self.json(*good, "--columns", "x"), "energy"), [])

    def test_work(self):
        """A member whose forces jump inside fixed steps; work is measured where members run one by one."""
        model = self.model("param a = 1\nconfig x in R\nlagrangian 1/2*x'^2 - 1/2*x^2\n"
                           "force x' = -a*x'*exp(-1e4*(x - 0.503)^2)*100\nstart x = 1")
        words = ("run", model, "--t1", 10, "--dt", 0.25, "--engine", "interpreted")
        single = [self.told(self.json(*words, "--set", f"a={a}"), "work done") for a in (0, 1)]
        self.assertEqual([len(t) for t in single], [0, 1])
        told = self.told(self.json(*words, "--sweep", "a=0:1:2"), "work done")
        self.assertEqual(len(told), 1)
        self.assertIn("in 1 of 2 members (the first is member 2)", told[0])

    def test_contacts(self):
        """The first member is still on the ball at the end, the second has left it; without events, too."""
        model = self.model(DOWN)
        for more in ((), ("--no-events",)):
            told = self.told(self.json("run", model, "--t1", 0.5, "--sweep", "b.x[1]=0.02:0.7:2", *more), "hold a body down")
            self.assertEqual(len(told), 1)
            self.assertIn("in 1 of 2 members (the first is member 2)", told[0])
            self.assertIn("not the motion of a real body", told[0])
            self.assertIn("--end-at b.lift", told[0])
        ended = self.json("run", model, "--t1", 0.5, "--sweep", "b.x[1]=0.02:0.7:2", "--end-at", "b.lift")
        self.assertEqual(self.told(ended, "hold"), [])


class Numbers(Case):
    def test_energy_not_finite(self):
        """Fixed steps jump over the pole of a logarithm."""
        model = self.model("config x in R\nlagrangian 1/2*x'^2 - log(x)\nstart x = 1, x' = 0.1")
        r = self.json("run", model, "--method", "rk4", "--dt", 0.01, "--t1", 10, code=1)
        self.assertEqual(r["end"], "energy not finite")
        self.assertLess(r["t"], 1.7)  # it reaches 0 at t = 1.38; looked at every eighth step
        self.assertIn("domain", r["why"])
        self.run_it("run", model, "--method", "rk4", "--dt", 0.01, "--t1", 10, "-o", "a.csv", "--quiet", code=1)
        self.run_it("run", model, "--method", "rk4", "--dt", 0.01, "--t1", 1, "--quiet")

    def test_constraint_without_value(self):
        """Neither infinity nor an undefined value is a distance from a constraint."""
        for constraint, x in (("1/x", 0), ("log(x)", 0), ("sqrt(x)", -1)):
            model = self.model("config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nholonomic %s + y = 0\n"
                               "start x = %d, y = 1" % (constraint, x))
            _, err = self.run_it("run", model, "--t1", 1, code=2)
            self.assertIn(":4:11: error: this constraint has no finite value at the start positions: choose others", err)

    def test_undefined_observable(self):
        """Only an observable is undefined, on the way: the run goes on, with a warning."""
        model = self.model("config x in R\nlagrangian 1/2*x'^2 - 1/2*x^2\nobservable root = sqrt(x)\nstart x = 1")
        r = self.json("run", model, "--t1", 6, "--every", 0.5, "-o", "a.csv")
        self.assertEqual((r["end"], self.told(r, "root is not finite at t = 2")), ("time reached", r["warnings"] and
                         [r["warnings"][0]["message"]]))
        r = self.json("run", model, "--t1", 3)
        self.assertEqual(len(self.told(r, "root is not finite at the end")), 1)


class Steps(Case):
    STIFF = """param k = 1e6
config x in R
lagrangian 1/2*x'^2 - 1/2*x^2
force x' = -k*(x' - cos(t))
start x = 1"""

    def test_stiff(self):
        model = self.model(self.STIFF)
        r = self.json("run", model, "--t1", 1, "--method", "dop853", "--max-steps", 5000, code=1)
        self.assertEqual(r["end"], "step limit reached")
        self.assertIn("stiff", r["why"])
        self.assertIn("--method radau3", r["why"])
        self.assertEqual(len(self.told(self.json("run", model, "--t1", 0.02, "--method", "dop853"), "stiff")), 1)
        # what it advises works
        r = self.json("run", model, "--t1", 1, "--method", "radau3")
        self.assertAlmostEqual(r["state"]["x"], 1 + math.sin(1), delta=1e-5)
        self.assertLess(r["steps"], 500)
        r = self.json("run", model, "--t1", 1, "--method", "midpoint", "--dt", 1e-3)
        self.assertAlmostEqual(r["state"]["x"], 1 + math.sin(1), delta=1e-5)

    def test_chosen(self):
        """Without --method: an implicit one where the equations are stiff, named in the result and in a note. To first
        order in 1/k the motion is x = 1 + sin(t) - (1 + t)/k after a start of length 1/k."""
        model = self.model(self.STIFF)
        for more, method, close in (([], "radau5", 1e-8), (["--rtol", "1e-6"], "radau3", 1e-4)):
            r = self.json("run", model, "--t1", 1, *more)
            self.assertEqual((r["end"], r["method"], len(self.told(r, method + " was chosen"))),
                             ("time reached", method, 1))
            self.assertAlmostEqual(r["state"]["x"], 1 + math.sin(1) - 2e-6, delta=close)
        # two bodies in strong friction
        pair = self.model("config x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - 1/2*x^2\n"
                          "force y' = -1e5*(y' - x')\nstart x = 1", "pair")
        self.assertEqual(self.json("run", pair, "--t1", 20)["method"], "radau5")
        # what is asked for is taken; fixed steps, short runs and strong damping that does not matter keep the default
        for more in (["--method", "dop853", "--t1", "0.02"], ["--dt", "1e-6", "--t1", "1e-4"], ["--t1", "1e-5"],
                     ["--set", "k=1", "--t1", "100"]):
            r = self.json("run", model, *more)
            self.assertEqual((r["method"], self.told(r, "was chosen")), ("dop853", []))

    def test_spins(self):
        """An orientation that is only reconstructed has small steps of its own: it says nothing about the others."""
        r = self.json("run", "cylinder_ball", "--t1", 400)
        self.assertGreater(r["steps"], 1000)
        self.assertEqual((r["method"], self.told(r, "stiff")), ("dop853", []))

    def test_not_stiff(self):
        """Many steps for the sake of accuracy, at tight and loose tolerances."""
        model = self.model("config x in R\nlagrangian 1/2*x'^2 - 1/4*x^4\nstart x = 1")
        for more in ([], ["--rtol", "1e-6", "--atol", "1e-8"], ["--method", "dopri5"]):
            r = self.json("run", model, "--t1", 2000, *more)
            self.assertGreater(r["steps"], 1000)
            self.assertEqual(self.told(r, "stiff"), [])
            self.assertEqual(r["method"], more[1] if "--method" in more else "dop853")
        r = self.json("run", model, "--t1", 2000, "--max-steps", 500, code=1)
        self.assertIn("--max-steps", r["why"])
        self.assertNotIn("stiff", r["why"])

    def test_equilibrium(self):
        for text, rests in (("config x in S1\nlagrangian 1/2*x'^2 + cos(x)\nstart x = pi", True),
                            ("config x in S1\nlagrangian 1/2*x'^2 + cos(x)", True),
                            ("config x in S1\nlagrangian 1/2*x'^2 + cos(x)\nstart x = 1e-9", False),
                            ("config x in S1\nlagrangian 1/2*x'^2 + cos(x)\nstart x' = 1e-9", False),
                            ("config x in R\nlagrangian 1e-30*(x'^2 - (x - 1e-13)^2)", False),
                            ("config x in R\nlagrangian 1e-30*(x'^2 - (x - 1e-13)^2)\nstart x = 1e-13", True),
                            ("config x in R\nlagrangian 1/2*x'^2 - 1/2*x^2 + x*sin(t)", False)):
            r = self.json("run", self.model(text), "--t1", 1)
            self.assertEqual(len(self.told(r, "equilibrium")), rests, text)


# Each in units of length L, time tau, mass M.
KEPLER = """param L = 1, tau = 1, M = 1
config x in R^2
lagrangian M/2*dot(x', x') + M*L^3/tau^2/norm(x)
observable r = x/L
start x = [L, 0], x' = [0, 1.2*L/tau]"""
AT_REST = """param L = 1, tau = 1, M = 1
config x in R, y in R
lagrangian M/2*(x'^2 + y'^2) - M*(L/tau)^2*((x/L)^2/2 + (x/L)^4/4 + 3*(y/L)^2/2 + (x*y)^2/(2*L^4))
observable r = [x/L, y/L]
start x = L, y = 0.5*L"""
THROUGH_ZERO = AT_REST.replace("start x = L, y = 0.5*L", "start x' = L/tau")
ROLLING = """param L = 1, tau = 1, M = 1
config x in R, y in R, phi in S1
lagrangian M/2*(x'^2 + y'^2) + M*L^2/5*phi'^2 - M*L/tau^2*0.3*x
constraint x'*sin(phi) = y'*cos(phi)
observable r = [x/L, y/L, phi]
start x' = 0.4*L/tau, phi' = 0.7/tau"""


class Scales(Case):
    """The same motion in other units is the same motion: the absolute tolerance follows the sizes of the start."""

    UNITS = [(1e-15, 1, 1), (1e-13, 1, 1e-26), (1e15, 1, 1), (1, 1e-13, 1), (1, 1e13, 1), (1, 1, 1e-15), (1, 1, 1e15),
             (1e-10, 1e-13, 1e-27), (1.5e11, 5e6, 2e30), (1e-6, 1e3, 1e-9), (1e-4, 1, 1), (1e-5, 1e-2, 1e3)]

    def test_units(self):
        for name, text in (("kepler", KEPLER), ("at_rest", AT_REST), ("zero", THROUGH_ZERO), ("rolling", ROLLING)):
            model = self.model(text, name)
            unit = self.json("run", model, "--t1", 10)
            for L, T, M in self.UNITS:
                r = self.json("run", model, "--t1", repr(10 * T), "--set", f"L={L!r}", "--set", f"tau={T!r}", "--set",
                              f"M={M!r}")
                self.assertEqual(r["end"], "time reached")
                self.assertEqual(r["warnings"], unit["warnings"])
                # global errors: some hundred steps at 1e-10
                for a, b in zip(r["observables"]["r"], unit["observables"]["r"]):
                    self.assertAlmostEqual(a, b, delta=3e-8, msg=f"{name} {L} {T} {M}")
                # an angle that starts at 0 next to tiny lengths takes some small steps first
                self.assertLess(r["steps"], unit["steps"] + 100, f"{name} {L} {T} {M}")

    def test_found(self):
        r = self.json("run", os.path.join(FOLDER, "F4_nano.nh"), "--t1", 50)
        self.assertAlmostEqual(r["state"]["x"] / 1e-13, math.cos(50), delta=1e-8)
        self.assertEqual(r["warnings"], [])

    def test_given(self):
        """--atol is taken as it is; sizes from 1e-3 to 1e3 count as 1."""
        nano = os.path.join(FOLDER, "F4_nano.nh")
        self.assertEqual(len(self.told(self.json("run", nano, "--t1", 50, "--atol", "1e-12"), "energy")), 1)
        model = self.model(KEPLER)
        for L in (2e-3, 1, 500):
            words = ("run", model, "--t1", 5, "--set", f"L={L}")
            self.assertEqual(self.json(*words)["state"], self.json(*words, "--atol", "1e-12")["state"])

    def test_small_beside_large(self):
        """Each component has the tolerance of its size, also driven by a larger one."""
        model = self.model("""param a = 1e-13, k = 0
config x in R, y in R
lagrangian 1/2*x'^2 + 1/2*y'^2 - 1250*x^2 - 1/2*y^2 - k/2*(y - x - 1000)^2
start x = a, y = 1000
""", "two")
        words = ("run", model, "--t1", 10)
        for a in ("1e-13", "1e-6", "1"):
            r = self.json(*words, "--set", "a=" + a)
            self.assertAlmostEqual(r["state"]["x"] / float(a), math.cos(500), delta=1e-6)  # hundreds of steps at 1e-10, times 50
            self.assertEqual(r["warnings"], [])
        lost = (*words, "--set", "k=1")  # the last digit of y moves x by more than it is
        for more in ((), ("--sweep", "a=1e-13:1:2")):
            self.assertEqual(len(self.told(self.json(*lost, *more), "lost in the rounding errors")), 1)

    def test_scales(self):
        """1e6, 1e-9 and 1e-13 in one system: closed forms, all engines and closures."""
        model, t = os.path.join(FOLDER, "F4_scales.nh"), 12.0
        a = 1e-13 * 2 / 48
        y = (3e-13 - a) * math.cos(7 * t) + a * math.cos(t)
        for more in ((), ("--engine", "compiled"), ("--closure", "multipliers"), ("--method", "radau5")):
            r = self.json("run", model, "--t1", t, *more)
            # some hundred steps at 1e-10; of y, with phase errors, 84 times the relative error
            self.assertAlmostEqual(r["state"]["phi"] / 1e-9, math.cos(2 * t), delta=1e-8, msg=more)
            self.assertAlmostEqual(r["state"]["y"] / 3e-13, y / 3e-13, delta=1e-7, msg=more)
            self.assertAlmostEqual(r["state"]["s"], 1e6 + 1e3 * t, delta=1e-6, msg=more)
            self.assertEqual(len(r["events"]["swing"]), 8, more)
            self.assertEqual(r["warnings"], [])
        words = ("run", model, "--t1", t, "--columns", "y,phi", "--sweep", "w=5:9:5")
        batch = [self.json(*words, *more)["columns"] for more in ((), ("--engine", "interpreted"), ("--threads", 1))]
        self.assertEqual(batch[1:], batch[:1] * 2)
        alone = self.json("run", model, "--t1", t, "--set", "w=6")["state"]
        self.assertEqual((batch[0]["y"][1], batch[0]["phi"][1]), (alone["y"], alone["phi"]))
        self.run_it("run", model, "--t1", 5, "-o", "s.h5", "--quiet")
        self.assertEqual(self.json("run", "--from", "s.h5", "--t1", t)["state"], self.json("run", model, "--t1", t)["state"])

    def test_infinite_inertia(self):
        """Coordinates that end where the inertia is infinite: s runs evenly into the end, and x(s) is known there."""
        for p, start, end, at in (("asin(x)", 0.3, 1, lambda x: math.asin(x)), ("acos(x)", -0.2, -1, lambda x: -math.acos(x)),
                                  ("sqrt(x)", 0.4, 0, lambda x: math.sqrt(x)), ("(2 - x)^0.4", 1.5, 2, lambda x: -(2 - x)**0.4),
                                  ("2*atan(sqrt(1 - x))", 0.4, 1, lambda x: -2*math.atan(math.sqrt(1 - x)))):
            v = math.copysign(0.7, end - start)
            slope = (at(start + 1e-6) - at(start - 1e-6)) / 2e-6
            model = self.model(f"config x in R, y in R\nlet f = {p}\nlagrangian 1/2*(f'^2 + (1 + y^2)*y'^2)\n"
                               f"start x = {start}, x' = {v}, y' = 0.2\n")
            when = (at(end) - at(start)) / (slope * v)
            r = self.json("run", model, "--t1", 20, code=1)
            self.assertEqual(r["end"], "the coordinates are singular here", p)
            self.assertIn(f"as x nears {end}", r["why"])
            self.assertAlmostEqual(r["t"], when, delta=3e-4 * when, msg=p)
            self.assertAlmostEqual(r["state"]["x"], end, delta=1e-8, msg=p)
            r = self.json("run", model, "--t1", 0.9 * when)
            self.assertEqual((r["end"], r["warnings"]), ("time reached", []), p)

    def test_poles_of_inertia(self):
        """th nears 1 exponentially; where its distance is below the tolerance the energy is not known, and the steps do
        not shrink. The motion must not pass, whatever else moves. Also where th' has died away before that is seen."""
        for inertia, rest, start, method in (
                ("1/(1 - th)^2", "1/2*x'^2", "th' = 2, x' = 0.3", "dop853"), ("1/(1 - th)^2", "0", "th' = 1", "dop853"),
                ("1/(1 - exp(th - 1))^2", "1/2*x'^2*(1 + th^2) - th^2", "th' = 2.592, x' = 0.4", "dop853"),
                ("1/(1 - exp(th - 1))^2", "1/2*x'^2*(1 + th^2)", "th' = 1.751, x' = -0.3", "dop853"),
                ("1/sin(1 - th)^2", "1/2*x'^2 - x*th", "th' = 2.08, x' = 0.1", "tsit5"),
                ("1/(1 - th^2)^2", "1/2*x'^2", "th' = 1, x' = 0.3", "radau5")):
            coords = "config th in R, x in R" if "x" in rest else "config th in R"
            model = self.model(f"{coords}\nlagrangian 1/2*({inertia})*th'^2 + {rest}\nstart {start}\n")
            r = self.json("run", model, "--t1", 200, "--method", method, code=1)
            what = f"{inertia} {rest} {method}: {r['end']} at {r['t']}, {r['state']}"
            self.assertEqual(r["end"], "the coordinates are singular here", what)
            self.assertIn("as th nears 1:", r["why"], what)
            self.assertAlmostEqual(r["state"]["th"], 1, delta=3e-9, msg=what)  # 2 atol/(1 - th) is 1e-3 at 2e-9

    def test_same_bits(self):
        """Alone, in a batch, and continued."""
        model = self.model(AT_REST)
        sets = ["--set", "tau=1e-3"]
        sizes = [1e-13, 1e-9, 1e-4, 1, 1e4, 1e12]
        with open(self.path("starts.csv"), "w") as f:
            f.write("L\n" + "".join(f"{L!r}\n" for L in sizes))
        batch = self.json("run", model, *sets, "--t1", "0.02", "--starts", "starts.csv", "--columns", "x,y")
        for i, L in enumerate(sizes):
            one = self.json("run", model, *sets, "--set", f"L={L!r}", "--t1", "0.02")
            self.assertEqual((batch["columns"]["x"][i], batch["columns"]["y"][i]), (one["state"]["x"], one["state"]["y"]))
        words = ["run", model, *sets, "--set", "L=1e-13"]
        self.run_it(*words, "--t1", "0.005", "-o", "a.h5", "--quiet")
        self.assertEqual(self.json("run", "--from", "a.h5", "--t1", "0.02")["state"],
                         self.json(*words, "--t1", "0.02")["state"])


if __name__ == "__main__":
    unittest.main()
