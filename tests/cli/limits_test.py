#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""limits_test.py PROGRAM [unittest arguments]: what a command may use, --memory and --derive-time.

A model that needs more ends with a message and exit code 3, with every verb that derives equations."""
import csv
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, PROGRAM, model  # noqa: E402,F401 (takes the program from the arguments)

VERBS = ["check", "show", "emit", "run", "test", "plot", "conserve"]  # and view, where it is built
DENSE = "model dense\nconfig x in R^{n}\nlagrangian dot(x', (identity({n}) + x*x^T)*x')/2\n"
BALLS = ("model balls\nconfig R in SO3 [{n}] velocity Omega, x in R^2 [{n}]\n"
         "lagrangian sum(i in 1..{n}, dot(Omega[i], Omega[i])/5 + dot(x[i]', x[i]')/2)\n"
         "constraint x[i]'[1] = dot(R[i]*Omega[i], e2) for i in 1..{n}\n")


class Limits(Case):
    def test_memory(self):
        """A mass matrix without zeros: a million entries, of which each needs more than a byte."""
        for verb in ["check", "emit", "run"]:
            self.refused(verb, DENSE.format(n=1000), ["--memory", "30"],
                         "deriving the equations takes more than the 30 MB of memory allowed (--memory)")

    def test_every_verb_knows_them(self):
        """The text of a model alone may have a megabyte."""
        for verb in VERBS:
            self.fails([verb, model("oscillator"), "--memory", "1"], 3, "1 MB of memory allowed")
            self.fails([verb, "rattleback", "--derive-time", "1e-9"], 3,
                       "error: deriving the equations takes more than the 1e-09 seconds allowed \\(--derive-time\\)")

    def test_time(self):
        for verb in ["check", "show"]:
            self.refused(verb, BALLS.format(n=2000), ["--derive-time", "0.2"],
                         "deriving the equations takes more than the 0.2 seconds allowed (--derive-time)")

    def refused(self, verb, text, words, why):
        path = self.path("m.nh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out, err = self.anagyre(verb, path, *words, code=3)
        self.assertEqual((out, err), ("", f"error: {why}\n"))

    def test_enough(self):
        for verb in VERBS:
            words = ["-o", "figure.svg"] if verb == "plot" else []
            self.anagyre(verb, model("oscillator"), "--memory", "2e5", "--derive-time", "3600", *words)

    def test_smaller_steps(self):
        """A turn of 1e11 radians within one step of what determines the motion: the number of steps bounds it, too."""
        path = self.path("spin.nh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("model spin\nparam w = 1e11\nconfig R in SO3 velocity Omega\nlagrangian dot(Omega, Omega)/2\n"
                       "start Omega = [w, 0, 0.1]\n")
        for engine in ["interpreted", "compiled"]:
            words = ["run", path, "--max-steps", "20", "--t1", "1", "--rtol", "1e-5", "--engine", engine]
            alone = json.loads(self.anagyre(*words, "--json", code=1)[0])
            self.assertEqual(alone["end"], "step limit reached")
            self.anagyre(*words, "--sweep", "w=1e11:1e11:1", "-o", "many.csv", code=1)
            with open(self.path("many.csv"), encoding="utf-8") as file:
                row = next(csv.DictReader(file))
            self.assertEqual((row["end"], float(row["t"])), ("step limit reached", alone["t"]))

    def test_wrong_values(self):
        for words in [["--memory", "0"], ["--memory", "-1"], ["--memory", "much"], ["--derive-time", "0"],
                      ["--derive-time", "-1"], ["--derive-time", "inf"]]:
            self.fails(["check", model("oscillator"), *words], 2, words[0])


if __name__ == "__main__":
    unittest.main()
