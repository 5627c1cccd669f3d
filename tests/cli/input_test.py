#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""input_test.py PROGRAM [unittest arguments]: input that deserves an answer: what is meant, and what to write."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case  # noqa: E402 (takes the program from the arguments)

VECTORS = """model m
param v = [1, 2, 3], k = 2*v[2], A = [[1, 2], [3, 4]]
config x in R
lagrangian v[1]*x'^2/2 - v[2]*x^2 - A[2,1]*x
observable a = v[1], b = v[2], c = k, d = A[2,1]
start x = 1
"""
COIN = "model m\nbody coin mass 1 inertia diag(1, 1, 2) surface disk(1)\nroll coin on plane gravity 9.81\n"


class Parameters(Case):
    def values(self, *sets, code=0):
        words = [w for s in sets for w in ("--set", s)]
        out = self.json("run", "-", "--t1", "0.1", *words, stdin=VECTORS.encode(), code=code)
        return [out["observables"][key] for key in "abcd"]

    def test_entries_are_set(self):
        self.assertEqual(self.values("v[2]=5"), [1, 5, 10, 3])
        self.assertEqual(self.values("v=[7,8,9]", "v[2]=5"), [7, 5, 10, 3])
        self.assertEqual(self.values("v[2]=5", "v=[7,8,9]"), [7, 8, 16, 3])  # the last one of an entry counts
        self.assertEqual(self.values("v[2]=5", "v[2]=6", "v[1]=4"), [4, 6, 12, 3])
        self.assertEqual(self.values("A[2,1]=v[3]^2", "v[3]=5"), [1, 2, 4, 25])

    def test_entries_that_are_not(self):
        for text, message in [("v[4]=1", "index 4 is out of range"), ("A[2]=1", r"one entry \[i, j\]"), ("v[1,2]=1", r"one entry \[i\]"),
                              ("k[1]=1", "`k` is a scalar"), ("v[2]=[1,2]", "an entry of `v` is a scalar"), ("v[2]=x", "defined only later")]:
            _, err = self.anagyre("check", "-", "--set", text, stdin=VECTORS.encode(), code=2)
            self.assertRegex(err, message)


class Starts(Case):
    def test_coin(self):
        _, err = self.anagyre("check", "-", stdin=COIN.encode(), code=2)
        self.assertIn("for example with `start coin.theta = 70*deg`", err)
        self.anagyre("run", "-", "--t1", "0.1", stdin=(COIN + "start coin.theta = 70*deg\n").encode())


class Degrees(Case):
    TEXT = """model m
param tilt = {tilt}
config theta in S1, y in R, z in R
lagrangian theta'^2/2 + y'^2/2 + z'^2/2 + cos(theta) + sin(y) - z*sin(tilt)
start theta = {theta}, y = {y}, z = {z}
"""

    def warnings(self, tilt=0.2, theta=1, y=1, z=1, sets=()):
        text = self.TEXT.format(tilt=tilt, theta=theta, y=y, z=z)
        found = self.json("run", "-", "--t1", "0.1", *sets, stdin=text.encode())["warnings"]
        return [w["message"].split("`")[1] for w in found if "degrees" in w["message"]]

    def test_warned(self):
        self.assertEqual(self.warnings(), [])
        self.assertEqual(self.warnings(theta=70), ["theta"])
        self.assertEqual(self.warnings(y=-45), ["y"])
        self.assertEqual(self.warnings(tilt=30), ["tilt"])
        self.assertEqual(self.warnings(sets=["--set", "theta=120"]), ["theta"])

    def test_parameters(self):
        """A parameter that is the start of an angle, as it is; what is computed from it is not looked at."""
        text = "model m\nparam a = 30\nconfig th in S1\nlagrangian th'^2/2 + cos(th)\nstart th = {}\n"
        for start, sets, wanted in (("a", (), 1), ("a", ("--set", "a=0.3"), 0), ("a*deg", (), 0), ("a/60", (), 0)):
            found = self.json("run", "-", "--t1", "0.1", *sets, stdin=text.format(start).encode())["warnings"]
            self.assertEqual(sum("`a` is 30 radians" in w["message"] for w in found), wanted, start)

    def test_place(self):
        """A value from outside is shown where it was given, also when it varies, and by the name that the user gave it."""
        name = self.path("m.nh")
        with open(name, "w") as f:
            f.write("model m\nparam a = 1\nconfig th in S1\nlagrangian th'^2/2 + cos(th) + sin(a)*th\nstart th = 1\n")
        with open(self.path("s.csv"), "w") as f:
            f.write("th,b\n80,1\n")
        for words, place in ((("--set", "a=30"), "--set a=30:1:1: warning: the angle `a` is 30"),
                             (("--sweep", "a=30:40:2"), "--sweep a:1:1: warning: the angle `a` is 30"),
                             (("--sweep", "th=30:40:2"), "--sweep th:1:1: warning: the angle `th` is 30")):
            self.assertTrue(self.anagyre("run", name, "--t1", "0.1", *words)[1].startswith(place), words)
        self.fails(["run", name, "--starts", "s.csv"], 2, "--starts b:1:1: error: unknown name `b`")

    def test_bodies(self):
        """Euler angles and rotations, from the file or from --set."""
        def said(start, *sets):
            found = self.json("run", "-", "--t1", "0.1", *sets, stdin=(COIN + start + "\n").encode())["warnings"]
            return [w["message"] for w in found if "degrees" in w["message"]]
        for start in ("start coin.theta = 70", "start coin.R = rotation(e1, 70)", "start coin.R = euler(0, 70, 0)"):
            self.assertEqual(len(said(start)), 1, start)
        self.assertEqual(len(said("start coin.theta = 1", "--set", "coin.theta=70")), 1)
        self.assertIn("coin.psi", said("start coin.theta = 1, coin.psi = 45")[0])
        for start in ("start coin.theta = 70*deg", "start coin.R = rotation(e1, 70*deg)", "start coin.theta = 1, coin.psi' = 45"):
            self.assertEqual(said(start), [], start)

    def test_families(self):
        """Angles counted by a running index are not taken for degrees; a family that starts with such a number is, once."""
        def said(start):
            text = (f"model m\nconfig th in S1 [12], R in SO3 velocity Omega [12]\n"
                    f"lagrangian sum(i in 1..12, th[i]'^2/2 + dot(Omega[i], Omega[i])/2 + cos(th[i]))\nstart {start} for i in 1..12\n")
            found = self.json("run", "-", "--t1", "0.1", stdin=text.encode())["warnings"]
            return sum("degrees" in w["message"] for w in found)
        for start, wanted in (("th[i] = i", 0), ("th[i] = 10*i", 1), ("R[i] = rotation(e3, i)", 0), ("R[i] = rotation(e3, 30*i)", 1)):
            self.assertEqual(said(start), wanted, start)

    def test_not_warned(self):
        self.assertEqual(self.warnings(theta="70*deg", tilt="30*deg"), [])
        self.assertEqual(self.warnings(theta=3, y=12.5, z=70), [])  # z is a length


class Numbers(Case):
    def test_expressions(self):
        text = "model m\nconfig x in R\nlagrangian x'^2/2\nstart x' = 1\n"
        for word, value in [("sqrt(2)", math.sqrt(2)), ("2*pi", 2*math.pi), ("90*deg", math.pi/2), ("1e-3", 1e-3), ("-1/3", -1/3)]:
            self.near(self.json("run", "-", "--t1", word, stdin=text.encode())["state"]["x"], value, 1e-14)
        self.fails(["run", "pendulum", "--t1", "sqr(2)"], 2, "did you mean `sqrt`")
        self.fails(["run", "pendulum", "--t1", "20deg"], 2, r"write `20\*deg`")


if __name__ == "__main__":
    unittest.main()
