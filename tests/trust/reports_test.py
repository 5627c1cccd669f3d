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

    def test_weak_potential(self):
        free = self.generators("0*b.x[1]")
        self.assertIn("b.along_x", free)
        self.assertIn("b.turn", free)
        for potential in ("-2e-6*b.x[1]", "-1e-300*b.x[1]", "-sign(b.x[1])", "-exp(900*(b.x[1] - 50))"):
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
        """Work is measured in the first 20000 steps, and the time until which is told."""
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


if __name__ == "__main__":
    unittest.main()
