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


if __name__ == "__main__":
    unittest.main()
