#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sparse_test.py PROGRAM [unittest arguments]: methods that solve for stages or steps on systems with more than 32
unknowns, whose Jacobian is factored by its entries: the same numbers compiled, interpreted and in lanes, and the
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
BLADES = """model blades
param K = 14 integer
config x in R [K], y in R [K], phi in S1 [K]
lagrangian sum(i in 1..K, 1/2*(x'[i]^2 + y'[i]^2) + 0.2*phi'[i]^2 - 1/2*(x[i]^2 + y[i]^2) + cos(phi[i]))
constraint sin(phi[i])*x'[i] = cos(phi[i])*y'[i] for i in 1..K
start x[i] = 0.7/i, phi[i] = 0.4, phi'[i] = 1.3, x'[i] = 0.5 for i in 1..K
"""
METHODS = ["midpoint", "gauss2", "radau3", "lobatto3ab3"]


class Sparse(Case):
    def setUp(self):
        super().setUp()
        for name, text in [("tops.nh", TOPS.replace("\\\n", "")), ("blades.nh", BLADES)]:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)

    def end(self, model, *words):
        return list(flat(list(self.json("run", model, "--t1", "1", *words)["state"].values())))

    def test_engines_agree(self):
        for model in ["lattice", "tops.nh"]:
            for method in METHODS:
                step = [model, "--method", method, "--dt", "0.1"]
                self.assertEqual(self.end(*step, "--engine", "compiled"), self.end(*step, "--engine", "interpreted"))

    def test_discrete_engines_agree(self):
        for words in [("lattice", "--set", "K=40", "--method", "verlet"), ("blades.nh", "--method", "rattle"),
                      ("tops.nh", "--set", "K=12", "--method", "variational_midpoint")]:
            ends = [self.end(*words, "--dt", "0.1", "--engine", engine) for engine in ("compiled", "interpreted")]
            self.assertEqual(*ends)

    def test_lanes_agree(self):
        """Members of a sweep run in lanes; one of them alone has the same digits."""
        for model, name, *more in [("lattice", "beta", "gauss2"), ("tops.nh", "k", "gauss2"),
                                   ("tops.nh", "k", "variational_midpoint", "--set", "K=12")]:
            words = [model, "--method", *more, "--dt", "0.1"]
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

    def test_impulses(self):
        """14 blades that do not touch each other, 56 unknowns with those of the constraints: the first moves as one
        alone, whose equations are dense. Orders of operations differ, 40 steps add up some hundred roundings."""
        for method in ["variational_euler", "variational_midpoint", "dla_midpoint", "verlet", "leapfrog", "rattle"]:
            words = ["blades.nh", "--method", method, "--dt", "0.05", "--t1", "2"]
            many, one = (self.json("run", *words, "--set", f"K={K}")["state"] for K in (14, 1))
            for name, x in one.items():
                self.assertAlmostEqual(x, many[name], delta=1e-12, msg=f"{name} {method}")

    def test_large(self):
        """400 masses, whose mass matrix is sparse as well: verlet keeps the momentum."""
        r = self.json("run", "lattice", "--set", "K=400", "--method", "verlet", "--dt", "0.1", "--t1", "5")
        self.assertAlmostEqual(r["observables"]["momentum"], 40, delta=1e-10)
        self.assertEqual(r["end"], "time reached")
        self.assertLess(r["energy_drift"], 1e-5)

    def test_strong_friction(self):
        """Rates of 1e4 beside those of the motion: radau3 keeps its own step size."""
        r = self.json("run", "tops.nh", "--method", "radau3", "--rtol", "1e-6", "--t1", "1", "--set", "c=4000")
        self.assertEqual(r["end"], "time reached")
        self.assertLess(r["steps"], 200)


if __name__ == "__main__":
    unittest.main()
