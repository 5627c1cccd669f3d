#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""batch_test.py PROGRAM [unittest arguments]: `anagyre run` with --sweep and --starts."""
import csv
import json
import math
import os
import signal
import subprocess
import unittest

from cli_test import PROGRAM, Case, model
from waiting import PATIENCE, catches, until

SPRING = ["run", model("oscillator")]


class Batch(Case):
    def rows(self, path):
        """The table as a list of dicts; every row must be whole."""
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("\n"))
        header, *rows = list(csv.reader(text.splitlines()))
        self.assertEqual(len(header), len(set(header)), "every column has its own name")
        for row in rows:
            self.assertEqual(len(row), len(header))
        return [dict(zip(header, row)) for row in rows]

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name


class Sweep(Batch):
    def test_one_parameter(self):
        """omega = sqrt(k/m) follows k; the closed form is x = cos(omega t)."""
        r = self.json(*SPRING, "--t1", "3", "--sweep", "k=1:9:5")
        self.assertEqual((r["model"], r["members"], r["failed"], r["failures"]), ("oscillator", 5, 0, []))
        self.assertEqual(r["sweep"], {"k": [1, 3, 5, 7, 9]})
        self.assertEqual(r["end"], ["time reached"] * 5)
        self.assertEqual(r["t"], [3] * 5)
        self.assertEqual(sorted(r["columns"]), sorted(["x", "x'", "phase", "both", "energy", "constraint_residual"]))
        for i, k in enumerate(r["sweep"]["k"]):
            omega = math.sqrt(k)
            self.near(r["columns"]["x"][i], math.cos(3 * omega), 1e-9)
            self.near(r["columns"]["both"][i][1], -math.sin(3 * omega), 1e-9)
            self.near(r["columns"]["energy"][i], k / 2, 1e-9)
            self.assertGreater(r["steps"][i], 5)
        self.assertGreater(r["trajectories_per_second"], 0)

    def test_continued_as_it_was(self):
        """What determines the motion of a batch is in its file: nothing on the command line is ignored."""
        self.anagyre(*SPRING, "--t1", "1", "--sweep", "k=1:9:5", "-o", "x.h5")
        for words in [["--t1", "2"], ["--max-steps", "5"], ["--series", "--json"]]:
            self.fails(["run", "--from", "x.h5", *words], 2,
                       f"{words[0]} cannot be given when a batch is continued: its options are in x.h5")
        self.fails(["run", "--from", "x.h5"], 2, "all its members have ended")

    def test_entries_of_parameters(self):
        """A vector or matrix parameter by its entries: members are the single runs, and what depends on it follows."""
        text = (b"model entries\nparam v = [1, 2, 3], s = v[1] + v[2], M = [[1, 0], [0, 2]]\nconfig x in R\n"
                b"lagrangian x'^2/2 - v[2]*x^2/2\nstart x = s, x' = M[2, 2]\nobservable vs = v, ss = s\n")
        options = ["--t1", "1", "--set", "v[1]=4"]
        many = self.json("run", "-", *options, "--sweep", "v[2]=1:4:2", "--sweep", "M[2, 2]=5:6:2", stdin=text)
        for i, (v, m) in enumerate([(1, 5), (1, 6), (4, 5), (4, 6)]):
            one = self.json("run", "-", *options, "--set", f"v[2]={v}", "--set", f"M[2,2]={m}", stdin=text)
            self.assertEqual(many["columns"]["x"][i], one["state"]["x"])
            self.assertEqual(many["columns"]["vs"][i], [4, v, 3])
            self.assertEqual(many["columns"]["ss"][i], 4 + v)
        for name, why in [("v[4]", "out of range"), ("s[1]", "`s` is a scalar"), ("v", "not a single number"),
                          ("M[1]", "one entry [i, j]")]:
            _, err = self.anagyre("run", "-", "--sweep", name + "=1:2:2", stdin=text, code=2)
            self.assertIn(why, err)

    def test_grid(self):
        out, err = self.anagyre(*SPRING, "--t1=2", "--sweep", "m=1:2:2", "--sweep", "x=0:1:3", "--sweep", "x'=5:6:1",
                                "-o", "x.csv")
        self.assertEqual(err, "")
        self.assertRegex(out, r"members +6 = 2 x 3 x 1 \(m, x, x'\)")
        self.assertRegex(out, r"ended +6 time reached")
        rows = self.rows(self.path("x.csv"))
        self.assertEqual(list(rows[0])[:6], ["m", "start x", "start x'", "end", "t", "steps"])
        self.assertEqual([(float(r["m"]), float(r["start x"]), float(r["start x'"])) for r in rows],
                         [(m, x, 5) for m in (1, 2) for x in (0, 0.5, 1)])
        for r in rows:
            omega = math.sqrt(4 / float(r["m"]))
            self.assertEqual((r["end"], float(r["t"])), ("time reached", 2))
            self.near(float(r["x"]), float(r["start x"]) * math.cos(2 * omega) + 5 / omega * math.sin(2 * omega), 1e-9)

    def test_equals_single_runs(self):
        tight = ["--t1", "5", "--rtol", "1e-12", "--atol", "1e-12"]
        many = self.json("run", model("stone"), *tight, "--sweep", "Omega[3]=-0.5:0.5:3")
        for i in range(3):
            one = self.json("run", model("stone"), *tight, "--set", f"Omega[3]={-0.5 + 0.5 * i}")
            for name, value in {**one["state"], **one["observables"], "energy": one["energy"]}.items():
                flat = lambda v: [y for x in v for y in flat(x)] if isinstance(v, list) else [v]
                for a, b in zip(flat(many["columns"][name][i]), flat(value), strict=True):
                    self.near(a, b, 1e-9 * max(1, abs(b)))

    def test_same_bits(self):
        """For any number of threads."""
        for extra in [[], ["--columns", "x"], ["--method", "rk4", "--dt", "0.01"], ["--engine", "interpreted"]]:
            for threads in "123":
                self.anagyre(*SPRING, "--t1=7", "--sweep", "k=1:9:33", "--threads", threads, "-o", threads + ".csv", *extra)
            with open(self.path("1.csv"), "rb") as first:
                text = first.read()
            for threads in "23":
                with open(self.path(threads + ".csv"), "rb") as other:
                    self.assertEqual(text, other.read(), extra)

    def test_columns(self):
        r = self.json(*SPRING, "--sweep", "k=1:2:2", "--columns", "both[2], energy,t")
        self.assertEqual(list(r["columns"]), ["both[2]", "energy"])
        r = self.json("run", model("stone"), "--t1=1", "--sweep", "Omega[3]=1:2:2", "--columns", "R[1,2],Omega")
        self.assertEqual(list(r["columns"]), ["R[1,2]", "Omega"])
        self.assertEqual([len(v) for v in r["columns"]["Omega"]], [3, 3])
        self.assertFalse(r["core_only"])
        only = self.json("run", model("stone"), "--t1=1", "--sweep", "Omega[3]=1:2:2", "--columns", "Omega")
        self.assertTrue(only["core_only"])
        for a, b in zip(sum(r["columns"]["Omega"], []), sum(only["columns"]["Omega"], [])):
            self.near(a, b, 1e-13)  # rounding
        self.fails([*SPRING, "--sweep", "k=1:2:2", "--columns", "enrgy"], 2, "there is no 'enrgy'; did you mean energy")
        self.fails([*SPRING, "--sweep", "k=1:2:2", "--columns", "x,,energy"], 2, "there is no ''")

    def test_ends_are_expressions(self):
        r = self.json(*SPRING, "--set", "m=2", "--sweep", "x=-m^2:sqrt(k) + pi:2", "--t1=0")
        self.assertEqual(r["sweep"]["x"], [-4, 2 + math.pi])
        self.assertEqual(r["columns"]["x"], [-4, 2 + math.pi])
        self.fails([*SPRING, "--sweep", "x=0:foo:2"], 2, "unknown name `foo`")
        self.fails([*SPRING, "--sweep", "x=0:1/(m-1):2"], 2, "division by zero")

    def test_texts_stay_texts(self):
        """What is written in an option is one expression: it cannot add statements, and messages point into it."""
        for option, text, place, message in [
            ("--sweep", "x=0:foo:2", "1:5", "unknown name `foo`"),
            ("--sweep", "x=0:1+:2", "1:7", "expected an expression"),
            ("--sweep", "x=0:x:2", "1:5", "only numbers and parameters"),
            ("--sweep", "x=0:1/0:2", "1:6", "division by zero"),
            ("--sweep", "x=nan:1:2", "1:3", "unknown name `nan`\n"),
            ("--sweep", "xx=0:1:2", "1:1", "unknown name `xx`; did you mean `x`"),
            ("--level", "energy=foo", "1:8", "unknown name `foo`"),
            ("--level", "energy=x", "1:8", "only numbers and parameters"),
        ]:
            with self.subTest(text=text):
                err = self.fails([*SPRING, option, text], 2, message)
                self.assertRegex(err, f"^{option} [^\n]*:{place}: error: ")
        for option, text in [("--sweep", "x=0:1\nparam extra = 2:2"), ("--sweep", "x=0\nlagrangian x:1:2"),
                             ("--sweep", "x\n=0:1:2"), ("--level", "energy=1\nparam extra = 2"), ("--level", "energy\n=1"),
                             ("--set", "x=1\nparam extra = 2")]:
            self.fails([*SPRING, option, text], 2, f"{option}: the value '.*' contains a line break")
        self.fails([*SPRING, "--sweep", "x=0:1\t:2"], 2, "contains a control character")

    def test_names_of_the_user(self):
        """No name is taken by the program: a parameter of any name is swept, used and reported."""
        with open(model("oscillator"), encoding="utf-8") as file:
            spring = file.read()
        for name in ["sweep_value_1", "sweep_lo_1", "level_value_1"]:
            with self.subTest(name=name):
                own = self.write("./own.nh", spring.replace("m = 1,", f"m = 1, {name} = 3,").replace(
                    "start x = 1", f"start x = {name}"))
                r = self.json("run", own, "--t1=0", "--sweep", f"x=0:{name}:2", "--set", f"{name}=5")
                self.assertEqual(r["columns"]["x"], [0, 5])
                r = self.json("run", own, "--t1=0", "--sweep", f"{name}=1:2:2", "--sweep", "x'=0:m:2", "-o", "own.h5")
                self.assertEqual(r["columns"]["x"], [1, 1, 2, 2])
                info = self.json("info", "own.h5")
                self.assertEqual(info["members"]["parameters"], {name: [1, 1, 2, 2]})
                self.assertEqual(sorted(info["parameters"]), sorted(["m", "k", "omega", name]))

    def test_refused(self):
        for words, pattern in [
            (["--sweep", "k"], "--sweep needs NAME=LO:HI:N"),
            (["--sweep", "k=1:2"], "--sweep needs NAME=LO:HI:N"),
            (["--sweep", "k=1:2:0"], "whole number from 1 to"),
            (["--sweep", "k=1:2:1.5"], "whole number from 1 to"),
            (["--sweep", "k=1:2:2", "--sweep", "k=1:2:2"], "`k` is swept twice"),
            (["--sweep", "k=1:2:9999", "--sweep", "m=1:2:9999"], "at most 10000000 members"),
            (["--sweep", "k=1:2:2", "--threads", "0"], "--threads must be at least 1"),
            (["--sweep", "k=1:2:2", "--threads", "-1"], "--threads must be at least 1"),
            (["--sweep", "k=1:2:2", "--every", "1"], "--every applies to a single run"),
            (["--sweep", "k=1:2:2", "--json", "--series"], "--series applies to a single run"),
            (["--sweep", "k=1:2:2", "-o", "x.hdf"], "\\.h5, \\.csv or \\.json"),
            (["--columns", "x"], "--columns needs --sweep or --starts"),
        ]:
            with self.subTest(words):
                self.fails([*SPRING, *words], 2, pattern, "Try `anagyre help run`")
        for words, pattern in [
            (["--sweep", "kk=1:2:2"], "unknown name `kk`; did you mean `k`"),
            (["--sweep", "k=1:2:2", "--set", "k=3"], "`k` is swept and given by --set too"),
            (["--sweep", "energy=1:2:2"], "only parameters, coordinates and velocities|unknown name"),
        ]:
            with self.subTest(words):
                self.fails([*SPRING, *words], 2, pattern)
        self.fails(["run", model("chain"), "--sweep", "K=1:3:3"], 2, "`K` is an integer parameter", "--set")
        self.fails(["run", model("chain"), "--sweep", "x[1]=1:3:3"], 2, r"`x\[1\]` is a .*its value is")
        self.fails(["run", model("chain"), "--sweep", "x[1]'[2]=1:3:3", "--sweep", "x'[1][2]=0:1:2"], 2, "swept twice|name")
        out, _ = self.anagyre(*SPRING, "--sweep", "kk=1:2:2", "--json", code=2)
        self.assertIn("unknown name", json.loads(out)["error"])


class Failures(Batch):
    def test_some_fail(self):
        """x' = 1/(1/v - t): members with v t1 >= 1 blow up at t = 1/v."""
        out, err = self.anagyre("run", model("blowup"), "--t1=0.9", "--sweep", "x'=0.5:2:4", "-o", "x.csv", "--json", code=1)
        self.assertIn("error: 2 of 4 members failed", err)
        r = json.loads(out)
        self.assertEqual((r["members"], r["failed"]), (4, 2))
        self.assertEqual([f["member"] for f in r["failures"]], [3, 4])
        for failure, v in zip(r["failures"], [1.5, 2]):
            self.assertIn(failure["reason"], ["step too small", "not finite"])
            self.near(failure["t"], 1 / v, 1e-6)
        for i, v in enumerate([0.5, 1]):
            self.near(r["columns"]["x'"][i], 1 / (1 / v - 0.9), 1e-8)
        rows = self.rows(self.path("x.csv"))
        self.assertEqual([row["end"] == "time reached" for row in rows], [True, True, False, False])
        out, _ = self.anagyre("run", model("blowup"), "--t1=0.9", "--sweep", "x'=0.5:2:4", code=1)
        self.assertRegex(out, r"(?m)^  member 3 \(x' = 1.5\): (step too small|not finite), t = 0.66")

    def test_starts_that_fail(self):
        """omega = sqrt(k/m) is not a number for k < 0: no start; the first member is one of them."""
        out, _ = self.anagyre(*SPRING, "--t1=1", "--sweep", "k=-4:4:3", "--columns", "x", "--json", code=1)
        r = json.loads(out)
        self.assertEqual(r["failures"], [{"member": 1, "reason": "parameter `omega` is not finite", "t": 0}])
        self.assertEqual(r["columns"]["x"][0], None)
        self.near(r["columns"]["x"][1], 1, 1e-12)
        self.near(r["columns"]["x"][2], math.cos(2), 1e-9)

    def test_all_fail(self):
        self.fails([*SPRING, "--t1=1", "--sweep", "k=-4:-1:3"], 2, "sqrt has no finite value here")
        out, _ = self.anagyre("run", model("blowup"), "--t1=2", "--sweep", "x'=1:2:3", "--json", code=1)
        self.assertEqual(json.loads(out)["failed"], 3)

    def test_strict(self):
        sleigh = ["run", model("sleigh"), "--sweep", "y'=0:1:2", "--set", "x'=1", "--t1=1", "--json"]
        both = json.loads(self.anagyre(*sleigh)[0])
        self.assertEqual(both["failed"], 0)
        out, _ = self.anagyre(*sleigh, "--strict", code=1)
        r = json.loads(out)
        self.assertEqual([f["member"] for f in r["failures"]], [2])
        self.assertRegex(r["failures"][0]["reason"], "do not satisfy the constraints.*--strict")

    def test_terminal_events(self):
        r = self.json("run", model("stops"), "--sweep", "x'=1:4:4", "--t1=1")
        self.assertEqual(r["end"], ["time reached", "event", "event", "event"])
        for t, v in zip(r["t"], [2, 2, 3, 4]):
            self.near(t, 2 / v, 1e-12)
        self.assertIsNone(r["member_by_member"])
        self.assertEqual(self.json("run", model("stops"), "--sweep", "x'=1:4:4", "--no-events")["t"], [10] * 4)

    def test_leaves_the_domain(self):
        """Velocities solved for where cos(phi) stays away from 0: a member that turns further goes on with multipliers,
        as alone. x' = cos(phi), so that x = sin(phi)/phi'."""
        self.write("leave.nh", "model leave\nconfig x in R, y in R, phi in S1\nlagrangian (x'^2 + y'^2 + phi'^2)/2\n"
                   "constraint -x'*sin(phi) + y'*cos(phi) = 0\ndomain phi in -1..1\nstart x' = 1, phi' = 0.5\n")
        words = ["run", "leave.nh", "--t1=10", "--rtol=1e-12", "--atol=1e-12", "--sweep", "phi'=0.1:0.5:3", "--json"]
        r = json.loads(self.anagyre(*words)[0])
        alone = json.loads(self.anagyre("run", "leave.nh", "--t1=10", "--rtol=1e-12", "--atol=1e-12", "--json")[0])
        self.assertEqual(r["end"], ["time reached"] * 3)
        self.assertEqual(alone["state"]["x"], r["columns"]["x"][2])
        for k, rate in enumerate((0.1, 0.3, 0.5)):
            self.near(r["columns"]["x"][k], math.sin(10 * rate) / rate, 1e-9)
        only = json.loads(self.anagyre(*words, "--columns", "phi")[0])
        self.assertTrue(only["core_only"])
        self.assertEqual((only["t"], only["columns"]["phi"]), (r["t"], r["columns"]["phi"]))

    def test_cannot_write(self):
        _, err = self.anagyre(*SPRING, "--sweep", "k=1:2:2", "-o", "no/x.csv", code=3)
        self.assertIn("cannot write no/x.csv", err)

    def test_interrupt(self):
        words = [*SPRING, "--t1", "1e6", "--sweep", "k=1:9:20000", "-o", "x.csv", "--columns", "x", "--json"]
        self.anagyre(*SPRING, "--sweep", "k=1:9:2", "--columns", "x")  # compiled now
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        try:
            self.assertTrue(until(process, lambda: catches(process, signal.SIGINT)), "still running")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, r"stopped by Ctrl-C: \d+ of 20000 members were finished; results so far are in x.csv")
        r = json.loads(out)
        rows = self.rows(self.path("x.csv"))
        self.assertEqual(len(rows), 20000)
        done = [row for row in rows if row["end"] == "time reached"]
        self.assertEqual(len(done), 20000 - r["failed"])
        self.assertGreater(r["failed"], 0)
        self.assertEqual(rows[-1]["end"], "interrupted")


class Starts(Batch):
    def test_table(self):
        self.write("s.csv", "k,x,x'\n1,1,0\r\n4,0,2\n\n9,\"0.5\",-1e0\n")
        r = self.json(*SPRING, "--t1=2", "--starts", "s.csv")
        self.assertEqual(r["sweep"], {"k": [1, 4, 9], "x": [1, 0, 0.5], "x'": [0, 2, -1]})
        for i in range(3):
            k, x, v = (r["sweep"][name][i] for name in ["k", "x", "x'"])
            omega = math.sqrt(k)
            self.near(r["columns"]["x"][i], x * math.cos(2 * omega) + v / omega * math.sin(2 * omega), 1e-9)

    def test_components(self):
        self.write("s.csv", "x[1][2],x[2]'[1]\n5,0.25\n6,0.5\n")
        r = self.json("run", model("chain"), "--t1=0", "--starts", "s.csv")
        self.assertEqual(r["columns"]["x[1]"], [[1, 5], [1, 6]])
        self.assertEqual(r["columns"]["x[2]'"], [[0.25, 0], [0.5, 0]])
        self.write("s.csv", "Omega[3]\n0.5\n0.7\n")
        r = self.json("run", model("stone"), "--t1=0", "--starts", "s.csv", "--columns", "Omega[3]")
        self.assertEqual(r["columns"]["Omega[3]"], [0.5, 0.7])

    def test_rows_and_ranges(self):
        self.write("s.csv", "x\n1\n2\n")
        r = self.json(*SPRING, "--t1=0", "--starts", "s.csv", "--sweep", "k=1:3:3")
        self.assertEqual(r["sweep"], {"x": [1, 1, 1, 2, 2, 2], "k": [1, 2, 3, 1, 2, 3]})

    def test_refused(self):
        self.fails([*SPRING, "--starts", "none.csv"], 3, "cannot read none.csv: No such file")
        for text, pattern in [("", "has no rows"), ("x\n", "has no rows"), ("x,k\n1\n", "s.csv:2: 1 value for 2 columns"),
                              ("x\nabc\n", "s.csv:2: x is 'abc'"), ("x\ninf\n", "not a finite number"),
                              ("x,x\n1,2\n", "`x` is swept twice"), ("y\n1\n", "unknown name `y`")]:
            with self.subTest(text):
                self.fails([*SPRING, "--starts", self.write("s.csv", text)], 2, pattern)

    def test_json_file_and_stdin(self):
        with open(model("oscillator"), "rb") as file:
            text = file.read()
        out, _ = self.anagyre("run", "-", "--sweep", "k=1:m + 1:2", "-o", "x.json", stdin=text)
        with open(self.path("x.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["members"], 2)
        self.assertIn("table         x.json", out)

    def test_without_a_compiler(self):
        """The same table, member by member."""
        os.mkdir(self.path("empty"))
        with_one = self.json(*SPRING, "--sweep", "k=1:4:3")
        r = self.json(*SPRING, "--sweep", "k=1:4:3", env={"PATH": self.path("empty"), "XDG_CACHE_HOME": self.path("cache")})
        self.assertEqual((r["lanes"], r["member_by_member"]), (0, "no C compiler was found"))
        self.assertGreater(with_one["lanes"], 1)
        for a, b in zip(r["columns"]["x"], with_one["columns"]["x"]):
            self.near(a, b, 1e-9)


if __name__ == "__main__":
    unittest.main(verbosity=1)
