#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sparse_test.py PROGRAM [unittest arguments]: methods that solve for stages on systems with more than 32 tangent
coordinates, whose Jacobian is factored by its entries: the same numbers compiled, interpreted and in lanes, and the
motion that an explicit method finds."""
import csv
import unittest

from cli_test import Case, flat

TOPS = """model tops
param K = 6 integer, k = 0.5, c = 0
config R in SO3 velocity Omega [K]
let up(i) = R[i]^T*e3
lagrangian sum(i in 1..K, 1/2*dot(Omega[i], diag([0.4, 0.5, 0.7])*Omega[i]) - dot(up(i), [0.1, 0.2, 0.9])) \\
         + sum(i in 1..K-1, k*dot(R[i]*e1, R[i+1]*e1))
force Omega[i] = -c*Omega[i] for i in 1..K
start R[i] = rotation(e1, 0.2*i), Omega[i] = [0.1*i, 0.3, 1.0] for i in 1..K
"""
METHODS = ["midpoint", "gauss2", "radau3", "lobatto3ab3"]


class Sparse(Case):
    def setUp(self):
        super().setUp()
        with open(self.path("tops.nh"), "w", encoding="utf-8") as file:
            file.write(TOPS.replace("\\\n", ""))

    def end(self, model, *words):
        return list(flat(list(self.json("run", model, "--t1", "1", *words)["state"].values())))

    def test_engines_agree(self):
        for model in ["lattice", "tops.nh"]:
            for method in METHODS:
                step = [model, "--method", method, "--dt", "0.1"]
                self.assertEqual(self.end(*step, "--engine", "compiled"), self.end(*step, "--engine", "interpreted"))

    def test_lanes_agree(self):
        """Members of a sweep run in lanes; one of them alone has the same digits."""
        for model, name in [("lattice", "beta"), ("tops.nh", "k")]:
            words = [model, "--method", "gauss2", "--dt", "0.1"]
            self.anagyre("run", *words, "--t1", "1", "--sweep", f"{name}=0.25:1:4", "--columns", "energy", "-o", "a.csv")
            with open(self.path("a.csv"), newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 4)
            for row in rows:
                one = self.json("run", *words, "--t1", "1", "--set", f"{name}={row[name]}")
                self.assertEqual(float(row["energy"]), one["energy"])

    def test_motion(self):
        """Gauss with six stages and Radau with five, steps of 0.1: errors of h^12 and h^9 against dop853 at 1e-13."""
        for model in ["lattice", "tops.nh"]:
            exact = self.end(model, "--method", "dop853", "--rtol", "1e-13", "--atol", "1e-13")
            for method, small in [("gauss6", 1e-11), ("radau5", 1e-8)]:
                found = self.end(model, "--method", method, "--dt", "0.1")
                self.assertLess(max(abs(a - b) for a, b in zip(exact, found)), small)

    def test_strong_friction(self):
        """Rates of 1e4 beside those of the motion: radau3 keeps its own step size."""
        r = self.json("run", "tops.nh", "--method", "radau3", "--rtol", "1e-6", "--t1", "1", "--set", "c=4000")
        self.assertEqual(r["end"], "time reached")
        self.assertLess(r["steps"], 200)


if __name__ == "__main__":
    unittest.main()
