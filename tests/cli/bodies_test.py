#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bodies_test.py PROGRAM [unittest arguments]: body, roll, rubber and joints from the text of a model to its motion.

The same body in several ways of writing it, closed forms, and numbers in extended precision that were computed apart
from the program (formulas of the disk and of rubber bodies of revolution)."""
import math
import unittest

from cli_test import Case, flat, part

STRICT = ["--rtol", "1e-13", "--atol", "1e-14"]

STONE = """model stone
param m = 1, g = 1, alpha = 0.35
body stone mass m inertia diag(0.55, 1.05, 1.15) surface ellipsoid(2, 1.25, 1) rotated rotation(e3, alpha)
roll stone on plane gravity g
start stone.Omega = [0.2, 0, 0.5]
"""

STONE_BY_HAND = """model stone
param m = 1, g = 1, alpha = 0.35
config R in SO3 velocity Omega
config x in R^3
let Q = rotation(e3, alpha), up = R^T*e3, D = Q*diag(4, 1.25^2, 1)*Q^T
let arm = -D*up/sqrt(dot(up, D*up))
lagrangian 1/2*dot(Omega, diag(0.55, 1.05, 1.15)*Omega) + m/2*dot(x', x') - m*g*x[3]
constraint x' = R*cross(arm, Omega)
start Omega = [0.2, 0, 0.5], x = [0, 0, 1]
"""

TORUS = """model tyre
param R = 1, r = 0.4, m = 1, g = 1
param I1 = m/8*(4*R^2 + 5*r^2), I3 = m/4*(4*R^2 + 3*r^2)
body tyre mass m inertia diag(I1, I1, I3) surface SURFACE
rubber tyre on plane gravity g
observable tyre.theta, tyre.phi, tyre.psi
observable ell = sqrt(I1*cos(tyre.theta)^2 + I3*sin(tyre.theta)^2 + m*tyre.height^2)*tyre.Omega[3]
start tyre.theta = 1.1, tyre.psi' = 0.9
"""

# a = 1, c = 0.6; p_theta = (I1 + m z^2) theta', l = sqrt(I1 cos^2 + I3 sin^2 + m z^2) (psi' + phi' cos)
ELLIPSOID = """model pebble
param a = 1, c = 0.6, m = 1, g = 1
param I1 = m/5*(a^2 + c^2), I3 = 2*m/5*a^2, theta0 = 0.9
param d = sqrt(a^2*sin(theta0)^2 + c^2*cos(theta0)^2), s = (a^2 - c^2)*sin(theta0)*cos(theta0)/d
body pebble mass m inertia diag(I1, I1, I3) surface SURFACE
rubber pebble on plane gravity g
observable pebble.theta
start pebble.theta = theta0
start pebble.theta' = 0.3/(I1 + m*(d^2 + s^2))
start pebble.psi' = 0.4/(sqrt(I1*cos(theta0)^2 + I3*sin(theta0)^2 + m*d^2)*sin(theta0)^2)
"""

ELLIPSOIDS = {
    "axes": "ellipsoid(a, a, c)",
    "implicit": "convex(X: (X[1]^2 + X[2]^2)/a^2 + X[3]^2/c^2 - 1)",
    "closed": "meridian(th: a^2*sin(th)/sqrt(a^2*sin(th)^2 + c^2*cos(th)^2), "
              "c - c^2*cos(th)/sqrt(a^2*sin(th)^2 + c^2*cos(th)^2), c)",
    "curvature": "revolution(th: a^2*c^2/sqrt(a^2*sin(th)^2 + c^2*cos(th)^2)^3, 0, c)",
}

DISK = """model coin
param m = 1, g = 9.8, R = 1
body coin mass m inertia diag(m*R^2/4, m*R^2/4, m*R^2/2) surface SURFACE
roll coin on plane gravity g
observable coin.theta
start coin.theta = pi/2 - 0.3, coin.theta' = -0.2, coin.phi' = 0.5, coin.psi' = 3
"""


class Bodies(Case):
    def write(self, text, name="m.nh"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def moved(self, text, t1, *options):
        return self.json("run", self.write(text), "--t1", t1, *STRICT, "--quiet", *options)

    def same(self, a, b, tol):
        a, b = (list(flat(x)) for x in (a, b))
        self.assertEqual(len(a), len(b))
        for x, y in zip(a, b):
            self.assertLess(abs(x - y), tol * max(1, abs(y)), (a, b))


class Ways(Bodies):
    def test_stone(self):
        """By shorthand, by primitives, and as `show` writes it: the same motion to rounding."""
        short, hand = self.moved(STONE, 10)["state"], self.moved(STONE_BY_HAND, 10)["state"]
        for word in ("R", "Omega", "x", "x'"):
            self.same(short["stone." + word], hand[word], 1e-11)
        out, _ = self.anagyre("show", self.write(STONE))
        shown = out[:out.index("# Derived")]
        self.assertNotIn("\nbody", shown)
        again = self.moved(shown, 10)["state"]
        for word in short:
            self.same(again[word], short[word], 1e-13)

    def test_ellipsoids(self):
        """Four ways to write one ellipsoid: 1e-12 over t = 5, about a hundred times the rounding of one step. The third
        Euler angle and p_theta are those of K, section 2."""
        results = {}
        for way, surface in ELLIPSOIDS.items():
            results[way] = self.moved(ELLIPSOID.replace("SURFACE", surface), 5)
        for way, r in results.items():
            for word in ("R", "Omega", "x"):
                self.same(r["state"]["pebble." + word], results["axes"]["state"]["pebble." + word], 1e-12)
            self.same(r["observables"]["pebble.normal"], results["axes"]["observables"]["pebble.normal"], 1e-11)

    def test_ellipsoid_numbers(self):
        for t, theta in ((10, 0.9007438572111325),):
            r = self.moved(ELLIPSOID.replace("SURFACE", ELLIPSOIDS["axes"]), t)
            self.same(r["energy"], 1.0369675178010878, 1e-12)
            self.same(r["observables"]["pebble.theta"], theta, 1e-10)

    def test_torus_numbers(self):
        start = self.moved(TORUS.replace("SURFACE", "torus(R, r)"), 0)["observables"]["tyre.contact"]
        r = self.moved(TORUS.replace("SURFACE", "torus(R, r)"), 10)
        o = r["observables"]
        self.same(r["energy"], 2.153359851273921, 1e-12)
        self.same(o["ell"], 1.1702692833427326, 1e-11)
        self.same(o["tyre.theta"], 1.2752127755009504, 1e-10)
        self.same([o["tyre.contact"][i] - start[i] for i in (0, 1)], [-9.6440279267071391, 0.4161395983595985], 1e-9)
        self.same(math.remainder(o["tyre.phi"] - 0.5190442287589181, 2 * math.pi), 0, 1e-10)
        self.same(math.remainder(o["tyre.psi"] - 7.6178953571859034, 2 * math.pi), 0, 1e-10)
        other = self.moved(TORUS.replace("SURFACE", "meridian(th: R + r*sin(th), r - r*cos(th), r)"), 10)
        self.same(other["observables"]["tyre.theta"], o["tyre.theta"], 1e-11)

    def test_disk_numbers(self):
        """Lean = pi/2 - theta; a torus of thin tube and an edge of two do the same in the limit."""
        r = self.moved(DISK.replace("SURFACE", "disk(R)"), 10)
        self.same(math.pi / 2 - r["observables"]["coin.theta"], 0.5581161703499441, 1e-9)
        self.same(r["energy"], 16.847113713504136, 1e-12)
        errors = []
        for tube in ("1e-3", "1e-4"):
            near = self.moved(DISK.replace("SURFACE", f"torus(R - {tube}, {tube})"), 2)
            exact = self.moved(DISK.replace("SURFACE", "disk(R)"), 2)
            errors.append(abs(near["observables"]["coin.theta"] - exact["observables"]["coin.theta"]))
        self.assertLess(errors[1], 1e-3)
        self.assertAlmostEqual(errors[0] / errors[1], 10, delta=1)  # first order in the tube
        thick = self.moved(DISK.replace("SURFACE", "cylinder(R, 1e-9)"), 2)
        self.same(thick["state"]["coin.R"], exact["state"]["coin.R"], 1e-6)


class Starts(Bodies):
    def test_euler_angles(self):
        p, q, r = 0.3, 1.1, -0.4
        body = "model m\nbody b mass 1 inertia diag(1, 2, 3) surface sphere(1)\nroll b on plane\n"
        s = self.moved(body + f"start b.phi = {p}, b.theta = {q}, b.psi = {r}\n"
                       "start b.phi' = 0.7, b.theta' = 0.2, b.psi' = -0.5\n", 0)["state"]
        c1, s1, c2, s2, c3, s3 = (f(x) for x in (p, q, r) for f in (math.cos, math.sin))
        self.same(s["b.R"], [[c1*c3 - s1*c2*s3, -c1*s3 - s1*c2*c3, s1*s2],
                             [s1*c3 + c1*c2*s3, -s1*s3 + c1*c2*c3, -c1*s2], [s2*s3, s2*c3, c2]], 1e-15)
        self.same(s["b.Omega"], [0.7*s2*s3 + 0.2*c3, 0.7*s2*c3 - 0.2*s3, 0.7*c2 - 0.5], 1e-15)

    def test_angular_velocity_in_space(self):
        body = "model m\nbody b mass 1 inertia diag(1, 2, 3) surface sphere(1)\nroll b on plane\n" \
               "observable b.omega\nstart b.omega = [1, 2, 3], b.theta = 1, b.phi = 0.3\n"
        name = self.write(body)
        self.same(self.json("run", name, "--t1", 0)["observables"]["b.omega"], [1, 2, 3], 1e-15)
        r = self.json("run", name, "--t1", 0, "--set", "b.omega=e1", "--set", "b.omega=[0, 0, 2]")
        self.same(r["observables"]["b.omega"], [0, 0, 2], 1e-15)
        self.same(self.json("run", name, "--t1", 0, "--set", "b.Omega=e1")["state"]["b.Omega"], [1, 0, 0], 1e-15)
        self.same(self.json("run", name, "--t1", 0, "--set", "b.omega[3]=5")["observables"]["b.omega"], [1, 2, 5], 1e-15)
        self.fails(["check", self.write(body.replace("b.omega = ", "b.omega[1] = "))], 2, "`b.omega.1.` is a scalar")
        self.fails(["check", self.write(body + "start b.Omega = e1\n")], 2, "given twice")

    def test_rubber_rate_follows(self):
        for named, value in (("psi'", 0.9), ("phi'", 0.7)):
            text = TORUS.replace("SURFACE", "torus(R, r)").replace("tyre.psi' = 0.9", f"tyre.{named} = {value}")
            s = self.moved(text, 0)["state"]
            up = s["tyre.R"][2]
            self.same(sum(a * b for a, b in zip(s["tyre.Omega"], up)), 0, 1e-15)
            self.assertGreater(abs(s["tyre.Omega"][2]), 0.1)

    def test_set_and_sweep(self):
        name = self.write(TORUS.replace("SURFACE", "torus(R, r)"))
        s = self.json("run", name, "--t1", 0, "--set", "tyre.theta=0.7", "--set", "tyre.theta=1.3")["observables"]
        self.same(s["tyre.theta"], 1.3, 1e-15)
        r = self.json("run", name, "--t1", 0.1, "--sweep", "tyre.theta=0.9:1.3:3", "--columns", "tyre.theta,energy")
        one = self.json("run", name, "--t1", 0.1, "--set", "tyre.theta=1.1")
        self.same(r["columns"]["energy"][1], one["energy"], 1e-13)
        self.fails(["run", self.write(STONE), "--set", "stone.psi'=1"], 2, "stone.Omega")

    def test_placed(self):
        """On a slope, in a moving frame, inside a cylinder: the body touches without a given position."""
        for ground in ("on plane normal [0.3, 0.1, 1] through [1, 2, 3]", "on plane through [t, 0, 1] spinning t",
                       "inside cylinder(2) axis e2 through [0, 0, 5]", "outside sphere(2) spinning 1",
                       "inside sphere(3)"):
            for surface in ("sphere(0.5)", "ellipsoid(0.3, 0.4, 0.5)"):
                text = f"model m\nbody b mass 1 inertia diag(1, 2, 3) centre [0.01, 0, 0.02] surface {surface}\n" \
                       f"roll b {ground} gravity 1\nstart b.theta = 0.2, b.Omega[1] = 0.1\n".replace(
                           "b.theta = 0.2, ", "")
                r = self.moved(text, 0)
                self.same(r["observables"]["b.gap"], 0, 1e-12)


class Motions(Bodies):
    PARTS = [  # statements, start, where the body must be
        ("roll b inside sphere(3)", "b.x[1] = 1", [1, 0, -math.sqrt(2.5**2 - 1)]),
        ("roll b inside sphere(3)", "b.x[3] = 1, b.x[1] = 0", None),
        ("roll b outside sphere(3)", "b.x[2] = -1", [0, -1, math.sqrt(3.5**2 - 1)]),
        ("roll b inside cylinder(3) axis e1", "b.x[2] = 0.4", [0, 0.4, -math.sqrt(2.5**2 - 0.16)]),
        ("roll b outside cylinder(3) axis [0, 1, 0]", "b.x[1] = 0.4, b.x[2] = 7", [0.4, 7, math.sqrt(3.5**2 - 0.16)]),
        ("roll b outside cylinder(2) axis [1, 0, 0.1]", "b.x[2] = 0.3", "above"),
        ("body O mass 3 inertia 2 surface sphere(1)\nroll O on plane\nroll b on O", "b.x[2] = 0.05",
         [0, 0.05, 1 + math.sqrt(1.5**2 - 0.0025)]),
        ("roll b on plane normal [0, 1, 1]", "b.x[2] = 1", [0, 1, math.sqrt(0.5) - 1]),
        ("body p mass 1 inertia 1\nholonomic ball(space, [0, 0, 1], p, [0, 0, 0.1])\nroll b on plane of p",
         "p.x[1] = 0.02", None),
        ("rubber b inside sphere(3)", "b.theta = 0.7, b.psi' = 1", [0, 0, -2.5]),
        ("roll b inside bowl(rho: 0.3*rho^2)", "b.x'[1] = 1", [0, 0, 0]),
        ("roll b inside bowl(rho: 0.3*rho)", "b.x[1] = 0.8, b.x[2] = 0", [0.8, 0, 0.24]),
        ("param k = 0.3\nroll b inside bowl(rho: k*rho + rho^2)", "b.x[1] = 0.8, b.x[2] = 0", [0.8, 0, 0.88]),
        ("roll b inside bowl(rho: rho^1.5)", "b.x[1] = 0.25, b.x[2] = 0", [0.25, 0, 0.125]),
        ("body O mass 3 inertia 2 surface sphere(1)\nroll O on plane\nroll b inside cylinder(2) of O", "b.theta = 0.6",
         [1.5, 0, 1]),
        ("body p mass 1 inertia 0.1\nbody w mass 1 inertia 0.1 surface sphere(0.3)\nroll b on plane of p\nroll w on plane\n"
         "holonomic ball(p, [0, 0, -0.2], w, [0, 0, 0])", "b.theta = 0.1", [0, 0, 1]),
    ]

    def test_places_in_part(self):
        """A place that is named in part is completed near the default one; what `show` writes starts there, too."""
        for contact, start, wanted in part(self.PARTS):
            with self.subTest(contact=contact, start=start):
                text = "model m\nbody b mass 1 inertia 0.1 surface sphere(0.5)\n" + contact + "\nstart " + start + "\n"
                first = self.moved(text, 0)["state"]
                if wanted == "above":
                    self.assertGreater(first["b.x"][2], 2)
                elif wanted:
                    self.same(first["b.x"], wanted, 1e-13)
                shown = self.anagyre("show", self.write(text))[0]
                again = self.moved(shown, 0)["state"]
                for name, value in first.items():
                    self.same(again[name], value, 1e-13)

    ENDS = [  # model, event
        ("body b mass 1 inertia diag(0.28, 0.28, 0.5) surface cylinder(1, 0.3)\nroll b on plane gravity 9.81\n"
         "start b.theta = 1.5, b.psi' = 4, b.theta' = 0.2", "b.edge"),
        ("body b mass 1 inertia 0.1 surface sphere(0.3) gravity 9.81\n"
         "body c mass 1 inertia 0.1 surface disk(0.3) gravity 9.81\nroll c on plane\nroll b on c\nstart c.theta = 1",
         "b.lost"),
        ("body b mass 1 inertia 0.02 surface sphere(0.2)\nroll b on cone(0.4) gravity 9.81\n"
         "start b.x[1] = 0.8, b.x[2] = 0", "b.apex"),
        ("body b mass 1 inertia 0.02 surface sphere(0.2)\nroll b inside bowl(rho: 0.3*rho) gravity 9.81\n"
         "start b.x[1] = 0.8, b.x[2] = 0", "b.apex"),
    ]

    def test_last_state_is_before_the_corner(self):
        """Energy and gap at the end of a run that a corner ends, up to an integration error of about 1e-11."""
        for text, event in self.ENDS:
            with self.subTest(event=event):
                r = self.moved("model m\n" + text + "\n", 20)
                self.assertEqual(r["end_event"], event)
                self.same(r["energy"], r["energy_start"], 1e-10)
                self.same(r["observables"]["b.gap"], 0, 1e-10)

    def test_bottom_of_a_bowl(self):
        """Small oscillation through the bottom of z = k rho^2/2 with I = 2/5 m r^2: w^2 = g k/(1 + 2/5)."""
        text = """model m
body b mass 1 inertia 2/5*0.2^2 surface sphere(0.2)
roll b inside bowl(rho: 0.3*rho^2) gravity 9.81
event middle: b.x[1] = 0
start b.x'[1] = 1e-4
"""
        times = self.moved(text, 8)["events"]["middle"]
        self.assertGreater(len(times), 3)
        for t, later in zip(times, times[1:]):
            self.same(later - t, math.pi / math.sqrt(9.81 * 0.6 / 1.4), 1e-7)  # the next term is of order 1e-8

    def test_forces_break_symmetries(self):
        """A force that depends on x[1] leaves no translation along it and no turn, one that is the same everywhere does."""
        text = "model m\nbody b mass 1 inertia 0.4 surface sphere(1) gravity 9.81\nroll b on plane\nforce b.x' = FORCE\n"
        for force, kept in (("[0, 0.1*b.x[1], 0]", ["along_y"]), ("-0.1*b.x'", ["along_x", "along_y", "turn"]),
                            ("[0.1, 0, 0]", ["along_x", "along_y"])):
            shown = self.anagyre("show", self.write(text.replace("FORCE", force)))[0]
            for word in ("along_x", "along_y", "turn"):
                self.assertEqual(f"generator b.{word}:" in shown, word in kept, (force, word))
        incline = "model m\nbody b mass 1 inertia 0.4 surface sphere(1) gravity 9.81\nroll b on plane normal [1, 0, 10]\n"
        self.assertIn("generator b.along_x: b.x' = e2", self.anagyre("show", self.write(incline))[0])

    def test_implicit_boxes(self):
        """|X1|^p + |X2|^p + |X3|^p = 1 has its centre above a plane at the height (sum |n_i|^q)^(1/q), 1/p + 1/q = 1."""
        for p, angle in part([(p, angle) for p in (2, 4, 8, 12) for angle in (0.4, 0.9, 1.7, 2.6)]):
            text = ("model m\nbody b mass 1 inertia 0.4 surface convex(X: " + " + ".join(f"X[{i}]^{p}" for i in (1, 2, 3)) +
                    " - 1)\nroll b on plane gravity 9.81\nstart b.R = rotation([1, 2, 3]/sqrt(14), ANGLE)\nobservable b.Gamma\n")
            r = self.moved(text.replace("ANGLE", str(angle)), 0)["observables"]
            q = p / (p - 1)
            self.same(r["b.height"], sum(abs(n)**q for n in r["b.Gamma"])**(1 / q), 1e-13)
            self.same(r["b.misfit"], 0, 1e-12)
        rounded = """model m
body b mass 1 inertia diag(0.3, 0.3, 0.4) surface convex(X: X[1]^6 + X[2]^6 + X[3]^6 + 0.3*dot(X, X) - 1)
roll b on plane gravity 9.81
start b.theta = 0.5, b.psi = 0.3, b.psi' = 2
"""
        r = self.moved(rounded, 1)
        self.assertEqual(r["end"], "time reached")
        self.same(r["energy"], r["energy_start"], 1e-10)  # some hundred steps with errors of 1e-13
        flat_sides = rounded.replace(" + 0.3*dot(X, X)", "").replace("^6", "^8")
        self.assertEqual(self.moved(flat_sides, 5)["end_event"], "b.dent")

    def test_cylinder_on_both_edges(self):
        for contact, theta in (("on plane", "pi/2"), ("inside cylinder(2)", "0.6"), ("outside cylinder(2)", "0.6")):
            self.write("model m\nbody b mass 1 inertia diag(0.1, 0.12, 0.15) surface cylinder(0.3, 0.1)\nroll b " + contact +
                       f" gravity 9.81\nstart b.theta = {theta}, b.psi' = 1\n")
            self.fails(["check", "m.nh"], 2, "lies on both of its edges", "tilt it")

    def test_no_false_warning(self):
        """No weight, no pressure: the slip ratio is 0/0, which is noted, not warned of; a singular mass matrix is reported with its position."""
        text = "model m\nbody b mass 1 inertia 0.4 surface sphere(1)\nroll b on plane\nstart b.Omega = [1, 0, 0]\n"
        notes = self.moved(text, 1)["warnings"]
        self.assertEqual([n["severity"] for n in notes], ["note"])
        self.assertIn("b.slip_ratio is not defined at the end", notes[0]["message"])
        self.write("model m\nbody b mass 1 inertia diag(1, 0, 1)\n")
        self.fails(["check", "m.nh"], 2, "m.nh:2:6: error: the mass matrix is singular")
        self.write("model m\nbody b mass 1 inertia diag(1, 5, 1)\n")
        self.assertIn("none exceeds the sum of the other two", self.anagyre("check", "m.nh")[1])

    def test_a_jump_is_no_crossing(self):
        """The angle goes round at the rate 1: it is 0.5 once per turn, and jumps from pi to -pi in between."""
        text = "model m\nbody b mass 1 inertia 0.1 surface sphere(1)\nroll b on plane gravity 1\nobservable b.phi\n" \
               "section cut: b.phi = 0.5\nevent pole: tan(b.phi) = 0.5\nstart b.theta = 1, b.phi' = 1\n"
        name = self.write(text)
        turns = [0.5 + 2 * math.pi * k for k in range(4)]
        self.same(self.json("run", name, "--t1", 20, "--section", "cut", *STRICT)["section"]["points"]["t"], turns, 1e-9)
        r = self.json("run", name, "--t1", 20, "--section", "cut", "--sweep", "b.theta=0.9:1.1:3", *STRICT)
        self.same(r["section"]["points"]["t"], 3 * turns, 1e-9)
        poles = self.json("run", name, "--t1", 20, *STRICT)["events"]["pole"]
        self.same(poles, [math.atan(0.5) + math.pi * k for k in range(7)], 1e-9)

    def test_leaves_a_sphere(self):
        """A ball that starts to roll from the top of a sphere leaves it where cos = 10/17 (solid)."""
        text = "model m\nparam r = 0.25\nbody b mass 1 inertia 2/5*r^2 surface sphere(r)\n" \
               "roll b outside sphere(1) gravity 1\nstart b.x = (1 + r)*[sin(1e-5), 0, cos(1e-5)]\n"
        name = self.write(text)
        r = self.json("run", name, "--t1", 60, *STRICT, "--end-at", "b.lift")
        self.assertEqual(r["end"], "event")
        self.same(r["state"]["b.x"][2] / 1.25, 10 / 17, 1e-9)
        self.same(r["observables"]["b.normal"], 0, 1e-9)
        on = self.json("run", name, "--t1", r["t"] + 0.1, *STRICT)
        self.assertEqual(on["end"], "time reached")
        self.same(on["events"]["b.lift"], [r["t"]], 1e-9)
        self.fails(["run", name, "--end-at", "b.left"], 2, "did you mean `b.lift`")

    def test_told_when_it_is_pulled(self):
        text = "model m\nbody b mass 1 inertia 1 surface sphere(1)\nroll b outside sphere(1) gravity 1\n" \
               "start b.Omega = [5, 0, 0]\n"
        _, err = self.anagyre("run", self.write(text), "--t1", 0.1)
        self.assertRegex(err, "m.nh:2:6: warning: at the start the ground would have to hold `b` down")

    def test_fast_spin(self):
        """A ball drifts away on a tilted turntable and spins ever faster; its orientation needs small steps, its path
        does not, and the one does not disturb the other. Mean drift g sin(alpha)/(k w), circles k w/(1 + k)."""
        text = "model m\nparam r = 0.3, al = 0.1, w = 2, k = 2/5\nbody b mass 1 inertia k*r^2 surface sphere(r)\n" \
               "roll b on plane normal [sin(al), 0, cos(al)] spinning w gravity 9.81\nstart b.x'[2] = 0.3\n"
        name, period = self.write(text), 2 * math.pi * 1.4 / 0.8
        whole = self.json("run", name, "--t1", 4 * period, "--no-events")
        path = self.json("run", name, "--t1", 4 * period, "--no-events", "--sweep", "w=2:2:1", "--columns", "b.x")
        self.assertEqual(path["core_only"], True)
        self.assertEqual(path["steps"], [whole["steps"]])
        self.same(path["columns"]["b.x"], [whole["state"]["b.x"]], 1e-12)  # two kernels: rounding
        self.same(whole["state"]["b.x"][1] / (4 * period), 9.81 * math.sin(0.1) / 0.8, 1e-8)

    def test_pendulum_on_a_hinge(self):
        """A rod on a hinge is the pendulum (I + m l^2) q'' = -m g l sin(q): small oscillation 2 pi/w, and energy."""
        text = """model m
param g = 9.81, l = 0.5, J = 0.02, a = 1e-4
body rod mass 2 inertia diag(J, 1, 1) gravity g
holonomic hinge(space, [0, 0, 3], e1, rod, [0, 0, l], e1)
observable angle = atan2(rod.x[2], 3 - rod.x[3])
event low: angle = 0 rising
start rod.R = rotation(e1, a)
"""
        r = self.moved(text, 10)
        w = math.sqrt(2 * 9.81 * 0.5 / (0.02 + 2 * 0.25))
        times = r["events"]["low"]
        self.assertGreater(len(times), 4)
        for t, later in zip(times, times[1:]):
            self.same(later - t, 2 * math.pi / w, 1e-8)  # the next term is a^2/16

    def test_ball_joint(self):
        """A top held in a point: the same as the tip that rolls on a plane (a tip does not roll away)."""
        start = "start b.theta = 0.5, b.psi' = 20\n"
        body = "model m\nbody b mass 1 inertia diag(0.2, 0.2, 0.1) SURFACE gravity 1\n"
        tip = self.moved(body.replace("SURFACE", "surface point([0, 0, -0.5])") + "roll b on plane\n" + start, 3)
        held = self.moved(body.replace("SURFACE", "") + "holonomic ball(b, [0, 0, -0.5], space, 0*e1)\n" + start, 3)
        self.same(tip["state"]["b.R"], held["state"]["b.R"], 1e-9)
        self.same(tip["observables"]["b.normal"], held["observables"]["b.joint"][2], 1e-8)

    def test_weight_on_average(self):
        """A rubber torus wobbles with a period: the normal force averages to the weight over it."""
        text = TORUS.replace("SURFACE", "torus(R, r)") + "event upright: tyre.theta' = 0 rising\n"
        name = self.write(text)
        times = self.json("run", name, "--t1", 40, *STRICT)["events"]["upright"]
        r = self.json("run", name, "--t1", times[1], "--every", (times[1] - times[0]) / 400, "--t0", 0, *STRICT,
                      "--series")
        series = r["series"]
        rows = [(t, n) for t, n in zip(series["t"], series["tyre.normal"]) if t >= times[0] - 1e-9]
        mean = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(rows, rows[1:])) / (rows[-1][0] - rows[0][0])
        self.same(mean, 1, 1e-4)  # the rows do not meet the period exactly: one row in 400


if __name__ == "__main__":
    unittest.main(verbosity=0)
