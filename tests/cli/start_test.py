#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""start_test.py PROGRAM: how a start is completed from the constraints.

Named values are held; unnamed ones are 0 unless a constraint decides them; only where no unnamed one can give way are named ones
moved, with a warning (refused under --strict). Every row of the table is a model and what its start must be."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))

# name, statements, start values that must come out
HELD = [
    ("an S2 named in full, a coordinate elsewhere solved",
     """config n in S2, x in R, y in R
        lagrangian 1/2*(dot(n', n') + x'^2 + y'^2)
        holonomic y = 3*x + 1
        start n = [0.6, 0, 0.8], x = 1""", {"n": [0.6, 0, 0.8], "x": 1, "y": 4}),
    ("an S2 named in part",
     """config n in S2, x in R, y in R
        lagrangian 1/2*(dot(n', n') + x'^2 + y'^2)
        holonomic y = 3*x
        start n[1] = 0.6, y = 6""", {"n": [0.6, 0, 0.8], "x": 2, "y": 6}),
    ("nothing named: the coordinate alone on the left is solved for",
     """config x in R, y in R
        lagrangian 1/2*(x'^2 + y'^2)
        holonomic y = 3*x + 1""", {"x": 0, "y": 1}),
    ("a named dependent swaps with an unnamed independent",
     """config x in R, y in R
        lagrangian 1/2*(x'^2 + y'^2)
        holonomic y = 3*x + 1
        start y = 4""", {"x": 1, "y": 4}),
    ("one constraint named throughout, another to be solved",
     """config x in R, y in R, z in R, w in R
        lagrangian 1/2*(x'^2 + y'^2 + z'^2 + w'^2)
        holonomic x^2 + y^2 = 25
        holonomic w = z*x
        start x = 3, y = 4, z = 2""", {"x": 3, "y": 4, "z": 2, "w": 6}),
    ("a redundant constraint",
     """config x in R, y in R, z in R
        lagrangian 1/2*(x'^2 + y'^2 + z'^2)
        holonomic y = 2*x
        holonomic 2*y = 4*x
        start x = 1, z = 5""", {"x": 1, "y": 2, "z": 5}),
    ("a gradient that vanishes at 0, and a coordinate no constraint knows",
     """config w in R, x in R, y in R
        lagrangian 1/2*(w'^2 + x'^2 + y'^2)
        holonomic x^2 + y^2 = 1""", {"w": 0, "x": 0, "y": 1}),
    ("a rotation named in full",
     """config R in SO3 velocity W, x in R^3
        lagrangian 1/2*dot(W, W) + 1/2*dot(x', x')
        holonomic x = R*e1
        start R = rotation(e3, pi/2)""", {"R": [[0, -1, 0], [1, 0, 0], [0, 0, 1]], "x": [0, 1, 0]}),
    ("a rotation not named, its image is",
     """config R in SO3 velocity W, x in R^3
        lagrangian 1/2*dot(W, W) + 1/2*dot(x', x')
        holonomic x = 2*R*e3
        start x = [0, -2*sin(0.4), 2*cos(0.4)]""", {"x": [0, -0.778836684617301, 1.8421219880057702]}),
    ("a family: members named are held, the others follow",
     """config x in R^2 [3]
        lagrangian 1/2*sum(i in 1..3, dot(x'[i], x'[i]))
        holonomic dot(x[i+1] - x[i], x[i+1] - x[i]) = 1 for i in 1..2
        holonomic x[1] = 0
        start x[2] = [0.6, 0.8], x[3][1] = 0.6""", {"x[1]": [0, 0], "x[2]": [0.6, 0.8]}),
    ("a prescribed coordinate, and one that is tied to it",
     """config p in R, x in R, y in R
        lagrangian 1/2*(p'^2 + x'^2 + y'^2)
        prescribe p = 2 + t
        holonomic y = p*x
        start x = 3""", {"p": 2, "x": 3, "y": 6, "p'": 1, "x'": 0, "y'": 3}),
    ("a prescribed coordinate that is named as it is prescribed",
     """config n in S2, p in R, y in R
        lagrangian 1/2*(dot(n', n') + p'^2 + y'^2)
        prescribe p = 2 + t
        holonomic y = 2*p
        start p = 2, n = e1""", {"n": [1, 0, 0], "p": 2, "y": 4, "p'": 1, "y'": 2}),
    ("frame velocities",
     """config x in R, y in R, a in S1, z in R
        lagrangian 1/2*(x'^2 + y'^2 + a'^2 + z'^2)
        constraint x'*sin(a) = y'*cos(a)
        holonomic z = 2*x
        frame v = x'*cos(a) + y'*sin(a), w = a'
        start x = 1, a = pi/2, v = 3, w = 0.5""",
     {"x": 1, "z": 2, "x'": 0, "y'": 3, "a'": 0.5, "z'": 0}),
    ("an S2 with a velocity named in full",
     """config n in S2, x in R
        lagrangian 1/2*(dot(n', n') + x'^2)
        constraint x' = n'[1]
        start n = [0.6, 0, 0.8], n' = [0.8, 0.1, -0.6]""", {"n": [0.6, 0, 0.8], "n'": [0.8, 0.1, -0.6], "x'": 0.8}),
]
MOVED = [
    ("named values that contradict move, what is unnamed is solved first",
     """config n in S2, x in R, y in R
        lagrangian 1/2*(dot(n', n') + x'^2 + y'^2)
        holonomic y = 3*x
        start n = [0, 0, 2], x = 1""", {"n": [0, 0, 1], "x": 1, "y": 3}),
    ("a prescribed coordinate that is named otherwise",
     """config p in R, x in R, y in R
        lagrangian 1/2*(p'^2 + x'^2 + y'^2)
        prescribe p = 2 + t
        holonomic y = 2*x
        start p = 1, x = 3""", {"p": 2, "x": 3, "y": 6}),
]


class Start(unittest.TestCase):
    def start(self, statements, *options, code=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "table.nh")
            with open(path, "w") as f:
                f.write("model table\n" + "\n".join(line.strip() for line in statements.splitlines()) + "\n")
            done = subprocess.run([PROGRAM, "check", path, "--json", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        found = json.loads(done.stdout)
        return found.get("state"), [d["message"] for d in found["diagnostics"] if d["severity"] == "warning"]

    def near(self, got, wanted):
        if isinstance(wanted, list):
            self.assertEqual(len(got), len(wanted))
            for g, w in zip(got, wanted):
                self.near(g, w)
        else:
            self.assertAlmostEqual(got, wanted, delta=1e-11)  # what the solver of the start asks of a position constraint

    def test_held(self):
        for name, statements, wanted in HELD:
            with self.subTest(name):
                start, said = self.start(statements, "--strict")
                self.assertEqual(said, [])
                for key, value in wanted.items():
                    self.near(start[key], value)

    def test_moved(self):
        for name, statements, wanted in MOVED:
            with self.subTest(name):
                start, said = self.start(statements)
                self.assertEqual(len(said), 1, said)
                for key, value in wanted.items():
                    self.near(start[key], value)
                self.start(statements, "--strict", code=2)


if __name__ == "__main__":
    unittest.main()
