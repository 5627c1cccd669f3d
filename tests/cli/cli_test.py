#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cli_test.py PROGRAM [unittest arguments]: the program as seen by users and scripts.

Exit codes (0 done, 1 failed, 2 wrong usage or model, 3 file or system trouble), messages, the JSON contract, files,
signals.
The models are those next to this file, whose closed forms are known; the shipped ones go through all verbs."""
import csv
import json
import math
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.dirname(HERE))
from part import part  # noqa: E402
from waiting import PATIENCE, catches, size_of, stop, until  # noqa: E402
MODELS = os.path.join(HERE, "models")
HELP = subprocess.run([PROGRAM, "help"], stdout=subprocess.PIPE, check=True, text=True).stdout
VERBS = re.findall(r"^  (\w+)  ", HELP, re.M)
CONTRACT = ["check", "show", "emit", "run", "ensemble", "conserve", "stability", "reduce", "converge", "plot", "view",
            "reproduce", "test", "list", "info", "help", "version"]
LATER = [verb for verb in CONTRACT if verb not in VERBS]


def model(name):
    return os.path.join(MODELS, name + ".nh")


def flat(x):
    """The numbers in lists of lists."""
    for y in x if isinstance(x, list) else [x]:
        if isinstance(y, list):
            yield from flat(y)
        else:
            yield y


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ag_cli_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def anagyre(self, *words, code=0, stdin=None, env=None, timeout=PATIENCE):
        """Runs the program; the exit code must be `code`. Gives (stdout, stderr)."""
        source = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, cwd=self.folder, timeout=timeout,
                              env={**os.environ, **(env or {})}, **source)
        out, err = done.stdout.decode(), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"anagyre {' '.join(map(str, words))}\n{out}\n{err}")
        return out, err

    def fails(self, words, code, *patterns):
        """Ends with the code, says nothing on standard output, and every pattern is on standard error."""
        out, err = self.anagyre(*words, code=code)
        self.assertEqual(out, "")
        for pattern in patterns:
            self.assertRegex(err, pattern)
        return err

    def json(self, *words, **options):
        out, _ = self.anagyre(*words, "--json", **options)
        self.assertEqual(out.count("\n"), 1, "one object, one line")

        def unique(pairs):
            self.assertEqual(len(pairs), len(dict(pairs)), "a key came twice")
            return dict(pairs)
        return json.loads(out, object_pairs_hook=unique)

    def table(self, path):
        """A CSV file as (header, rows of floats); every row must be whole."""
        with open(path, newline="", encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.endswith("\n"))
        header, *rows = list(csv.reader(text.splitlines()))
        for row in rows:
            self.assertEqual(len(row), len(header))
        return header, [[float(x) for x in row] for row in rows]

    def near(self, a, b, tol):
        self.assertLessEqual(abs(a - b), tol, f"{a} is not {b}")


class Usage(Case):
    def test_no_words(self):
        err = self.fails([], 2, "usage: anagyre VERB")
        for verb in VERBS:
            self.assertIn(verb, err)

    def test_help(self):
        self.assertLessEqual({"check", "show", "run", "test", "list", "help", "version"}, set(VERBS))
        out, _ = self.anagyre("help")
        self.assertEqual(out, self.anagyre("--help")[0])
        self.assertEqual(out, self.anagyre("-h")[0])
        for verb in VERBS:
            text = self.anagyre("help", verb)[0]
            self.assertIn(f"usage: anagyre {verb}", text)
            self.assertIn("--json", text)
            self.assertEqual(text, self.anagyre(verb, "--help")[0])
            self.assertEqual(text, self.anagyre(verb, "-h")[0])
        for topic in re.findall(r"^  help (\S+)", out, re.M):
            self.assertGreater(len(self.anagyre("help", topic)[0]), 100)
        for line in (out + "".join(self.anagyre("help", v)[0] for v in VERBS)).splitlines():
            self.assertLessEqual(len(line), 125, line)
        self.assertIn("run", self.json("help")["text"])

    def test_help_run_tells_defaults(self):
        text = self.anagyre("help", "run")[0]
        self.assertRegex(text, r"--rtol TOL +.*\(default 1e-10\)")
        self.assertRegex(text, r"--t1 TIME +.*\(default 10\)")
        self.assertRegex(text, r"--method NAME +.*\(default dop853\)")
        self.assertRegex(text, r"--section NAME +")

    def test_help_language_is_a_model(self):
        text = self.anagyre("help", "language")[0]
        lines = "".join(line[2:] + "\n" for line in text.splitlines() if line.startswith("  "))
        example, coin = ("model " + part for part in lines.split("model ")[1:])
        self.assertIn("1 expectation, 0 failed", self.anagyre("test", "-", stdin=example.encode())[0])
        self.assertIn("coin.lift", self.json("run", "-", "--t1", "1", stdin=coin.encode())["events"])
        self.assertEqual(len(self.json("run", "-", "--t1", "4", stdin=example.encode())["events"]["turned"]), 1)

    def test_help_unknown(self):
        self.fails(["help", "rnu"], 2, "no help on 'rnu'; did you mean run")
        for verb in LATER:
            self.fails(["help", verb], 2, f"'{verb}' is not available yet")

    def test_version(self):
        out, _ = self.anagyre("version")
        self.assertRegex(out, r"^anagyre \d+\.\d+\.\d+ ")
        self.assertEqual(out, self.anagyre("--version")[0])
        self.assertRegex(self.json("version")["version"], r"^\d+\.\d+\.\d+$")
        self.fails(["version", "x"], 2, "unexpected argument 'x'")

    def test_unknown_verb(self):
        self.fails(["chekc", "x"], 2, "unknown verb 'chekc'; did you mean check")
        self.fails(["zzzzzzzz"], 2, "unknown verb 'zzzzzzzz'", "anagyre help")
        self.fails([""], 2, "unknown verb")
        self.fails([model("sleigh")], 2, "did you mean `anagyre run")
        self.fails(["--json"], 2, "the verb comes first")

    def test_later(self):
        for verb in LATER:
            self.fails([verb, "rattleback"], 2, f"'{verb}' is not available yet")

    def test_unknown_option(self):
        self.fails(["run", "m", "--mehtod", "rk4"], 2, "unknown option --mehtod; did you mean --method")
        self.fails(["check", "m", "--jsno"], 2, "did you mean --json")
        self.fails(["run", "m", "--zzzzzzzz"], 2, "unknown option --zzzzzzzz\n")
        self.fails(["run", "m", "-x"], 2, "unknown option -x")
        self.fails(["list", "--set", "a=1"], 2, "unknown option --set")

    def test_option_values(self):
        m = model("oscillator")
        for words, pattern in [
            (["--t1", "abc"], "--t1 needs a finite number .* not 'abc'"),
            (["--t1", "5s"], "not '5s'"),
            (["--t1", "inf"], "not 'inf'"),
            (["--t1", "nan"], "not 'nan'"),
            (["--t1", "1e400"], "not '1e400'"),
            (["--t1", "1e300"], "--t1 must be at least"),
            (["--t1", ""], "--t1 needs a finite number"),
            (["--t1"], "--t1 needs a value: --t1 TIME"),
            (["--t1", "--json"], "--t1 needs a value"),
            (["--rtol", "0"], "--rtol must be at least 1e-15"),
            (["--rtol", "-1e-3"], "--rtol must be at least"),
            (["--dt", "0"], "--dt must be positive, not 0"),
            (["--dt", "-0.1"], "--dt must be positive"),
            (["--max-step", "0"], "--max-step must be positive"),
            (["--max-steps", "1.5"], "--max-steps needs a whole number"),
            (["--max-steps", "0"], "--max-steps must be at least 1"),
            (["--every", "-1"], "--every must be at least 0"),
            (["--method", "dop583"], "did you mean dop853.*there are:.* rk4"),
            (["--method", "stormer"], "--method does not know 'stormer'"),
            (["--closure", "eliminate"], "did you mean eliminated"),
            (["--json=1"], "--json takes no value"),
            (["--set", "m"], "--set needs NAME=VALUE, not 'm'"),
            (["--set", "=2"], "--set needs NAME=VALUE"),
            (["--threads", "4"], "--threads needs --sweep or --starts"),
            (["--series"], "--series needs --json"),
            (["--every", "0.1"], "write it with -o FILE"),
            (["--every", "1e-9", "-o", "x.csv"], "more than a billion rows"),
            (["--dt", "0.1", "--rtol", "1e-5"], "--rtol has no effect with the fixed steps"),
            (["--method", "rk4"], "rk4 has no error estimate: give its step size with --dt"),
            (["-o", "x.hdf"], "unknown output format 'x.hdf'.*\\.h5, \\.csv or \\.json"),
            (["-o", "x"], "unknown output format 'x'"),
            (["-o", ".csv"], "unknown output format"),
            (["extra"], "unexpected argument 'extra'"),
        ]:
            with self.subTest(words):
                self.fails(["run", m, *words], 2, pattern, "Try `anagyre help run`")
        for verb in ["check", "show", "run"]:
            self.fails([verb], 2, f"anagyre {verb}: no MODEL given")
        self.fails(["test"], 2, "name a model, or give --all")
        self.fails(["test", "--all", "x"], 2, "do not name any")

    def test_constants_as_numbers(self):
        r = self.json("run", model("oscillator"), "--t1=2*pi/3")
        self.assertEqual(r["t"], 2 * math.pi / 3)


class Finding(Case):
    def test_unknown_model(self):
        env = {"ANAGYRE_MODELS": MODELS}
        out, err = self.anagyre("run", "oscilator", code=2, env=env)
        self.assertEqual(out, "")
        self.assertIn("did you mean oscillator", err)
        self.fails(["check", "."], 2, "'.' is a folder")
        self.fails(["check", "no_such_thing_at_all"], 2, "no shipped model and no file is called", "anagyre list")
        out, _ = self.anagyre("check", "oscilator", "--json", code=2, env=env)
        self.assertIn("did you mean", json.loads(out)["error"])

    def test_missing_file(self):
        self.fails(["check", "nowhere/x.nh"], 3, "cannot read nowhere/x.nh: No such file or directory")
        _, err = self.anagyre("check", "sleigh.nh", code=3, env={"ANAGYRE_MODELS": MODELS})
        self.assertIn("write its name without .nh", err)

    def test_directory(self):
        os.mkdir(self.path("folder.nh"))
        self.fails(["check", "folder.nh"], 3, "cannot read folder.nh: Is a directory")

    @unittest.skipIf(os.geteuid() == 0, "root reads everything")
    def test_unreadable(self):
        with open(self.path("x.nh"), "w") as file:
            file.write("model x\n")
        os.chmod(self.path("x.nh"), 0)
        self.fails(["check", "x.nh"], 3, "Permission denied")

    def test_huge(self):
        self.fails(["check", "/dev/zero"], 2, "larger than 1 MiB")
        with open(self.path("big.nh"), "w") as file:
            file.write("model x\n" + "# comment\n" * 120000)
        self.fails(["check", "big.nh"], 2, "larger than 1 MiB")

    def test_empty_and_junk(self):
        self.fails(["check", "/dev/null"], 2, "error: ")
        with open(self.path("junk.nh"), "wb") as file:
            file.write(bytes(range(256)) * 100)
        self.fails(["check", "junk.nh"], 2, "junk.nh:1:1: error: ")
        out, _ = self.anagyre("check", "junk.nh", "--json", code=2)
        json.loads(out)

    def test_stdin(self):
        with open(model("sleigh"), "rb") as file:
            text = file.read()
        out, _ = self.anagyre("check", "-", stdin=text)
        self.assertRegex(out, "^sleigh: Chaplygin sleigh")
        _, err = self.anagyre("check", "-", stdin=b"model\n", code=2)
        self.assertIn("<stdin>:1:", err)

    def test_search_path(self):
        os.mkdir(self.path("mine"))
        shutil.copy(model("stops"), self.path("mine/oscillator.nh"))
        out, _ = self.anagyre("check", "oscillator", env={"ANAGYRE_MODELS": self.path("mine") + ":" + MODELS})
        self.assertRegex(out, "^stops")
        shutil.copy(model("stops"), self.path("plain"))
        self.assertRegex(self.anagyre("check", "plain")[0], "^stops")

    def test_list(self):
        env = {"ANAGYRE_MODELS": MODELS}
        out, _ = self.anagyre("list", env=env)
        self.assertRegex(out, r"(?m)^  sleigh +Chaplygin sleigh$")
        self.assertRegex(out, r"(?m)^  wrong +\(has errors")
        self.assertRegex(out, r"(?m)^  dop853 +order 8")
        self.assertEqual(sorted(self.json("list", env=env)), ["methods", "models"])
        names = [m["name"] for m in self.json("list", "models", env=env)["models"]]
        self.assertEqual(names, sorted(names))
        methods = {m["name"]: m for m in self.json("list", "methods")["methods"]}
        self.assertEqual(methods["rk4"]["order"], 4)
        self.assertIn("lagrangian", self.json("list", "words")["words"])
        self.assertIn("holonomic", self.anagyre("list", "words")[0])
        self.fails(["list", "modles"], 2, "did you mean models")


class Check(Case):
    def test_sleigh(self):
        out, err = self.anagyre("check", model("sleigh"))
        self.assertEqual(err, "")
        for pattern in [r"^sleigh: Chaplygin sleigh$", r"coordinates +x in R, velocity x'",
                        r"1 row \(1 velocity.*rank 1", r"freedom +2",
                        r"growth vector \(2, 3\) of 3: no velocity constraint is holonomic in disguise",
                        r"energy .*conserved", r"^  a +0\.3$", r"^  phi' +1$"]:
            self.assertRegex(out, "(?m)" + pattern)

    def test_json(self):
        r = self.json("check", model("sleigh"))
        self.assertEqual(r["model"], "sleigh")
        self.assertEqual((r["n_q"], r["n_velocities"], r["degrees_of_freedom"]), (3, 3, 2))
        self.assertEqual(r["constraints"], {"rows": 1, "velocity": 1, "holonomic": 0, "prescribed": 0, "rank": 1,
                                            "dropped": 0})
        self.assertEqual((r["growth"], r["holonomic_in_disguise"]), ([2, 3], 0))
        self.assertTrue(r["energy_form"]["conserved"])
        self.assertEqual(r["parameters"], {"m": 1, "J": 0.5, "a": 0.3})
        self.assertEqual(len(r["independent"]), 2)
        self.assertEqual(r["diagnostics"], [])
        # 1/2 m (v^2 + a^2 w^2) + 1/2 J w^2
        self.near(r["energy"], 0.5 * (0.16 + 0.09) + 0.25, 1e-15)

    def test_driven(self):
        r = self.json("check", model("driven"))
        self.assertEqual(r["energy_form"], {"conserved": False, "time_dependent": True, "forces": True, "affine": True})
        self.assertEqual(r["constraints"]["dropped"], 1)
        self.assertEqual(r["constraints"]["prescribed"], 1)
        out, _ = self.anagyre("check", model("driven"))
        self.assertRegex(out, "is redundant: dropped")
        self.assertRegex(out, "may change: the Lagrangian depends on t, forces act, constraints are affine")

    def test_set(self):
        r = self.json("check", model("oscillator"), "--set", "k=9", "--set", "x=2*m", "--set=x'=-1")
        self.assertEqual(r["parameters"], {"m": 1, "k": 9, "omega": 3})
        self.assertEqual(r["state"], {"x": 2, "x'": -1})
        self.assertEqual(r["observables"]["both"], [2, -1 / 3])
        r = self.json("check", model("stone"), "--set", "I=[2,2,2]", "--set", "Omega[2]=5")
        self.assertEqual(r["parameters"], {"I": [2, 2, 2]})
        self.assertEqual(r["state"]["Omega"][1], 5)
        self.assertEqual(self.json("check", model("chain"), "--set", "K=5")["n_q"], 10)

    def test_set_wrong(self):
        for words, pattern in [(["--set", "kk=1"], "kk"), (["--set", "k=1+"], "k=1\\+|1\\+"), (["--set", "k=zz"], "zz"),
                               (["--set", "omega=[1,2]"], "omega"), (["--set", "x[7]=1"], "x")]:
            with self.subTest(words):
                self.fails(["check", model("oscillator"), *words], 2, "error: ", pattern)

    def test_wrong(self):
        err = self.fails(["check", model("wrong")], 2, r"wrong\.nh:5:1: error: .*lagrangian",
                         r"wrong\.nh:6:\d+: error: .*mass", r"wrong\.nh:7:\d+: error: ")
        self.assertIn("\n  lagrangain mass", err)
        self.assertRegex(err, r"\n  \^")
        out, _ = self.anagyre("check", model("wrong"), "--json", code=2)
        r = json.loads(out)
        self.assertGreaterEqual(len(r["diagnostics"]), 3)
        self.assertEqual({d["line"] for d in r["diagnostics"] if d["severity"] == "error"} & {5, 6, 7}, {5, 6, 7})
        for verb in ["show", "run", "test"]:
            self.assertIn("error", self.anagyre(verb, model("wrong"), code=2)[1])


class Conserve(Case):
    def quantities(self, *words):
        r = json.loads(self.anagyre("conserve", *words, "--json")[0])
        return r, {q["name"]: q for q in r["quantities"]}

    def test_json(self):
        r, q = self.quantities("affine_particle", "--no-search")
        self.assertEqual(r["reaction_annihilator"]["rank"], 2)
        self.assertEqual(r["reaction_annihilator"]["rank_D"], 2)
        eta = ["-c*y/(1 + x^2 + y^2)", "c*x/(1 + x^2 + y^2)", "c/(1 + x^2 + y^2)"]
        self.assertEqual(r["powers"], {"time": False, "forces": False, "constraints": True,
                                       "constraints_formula": "c*v/(1 + x^2 + y^2)", "rest": False, "eta": eta})
        w = q["energy"]["witness"]
        self.assertEqual((q["energy"]["conserved"], q["energy"]["proof"]), ("no", "witness"))
        rate = 0.7 / (1 + w["state"]["x"] ** 2 + w["state"]["y"] ** 2)  # c/(1 + x^2 + y^2)
        self.assertTrue(w["lo"] <= rate * (1 + 1e-15) and rate * (1 - 1e-15) <= w["hi"] and w["lo"] > 0)

    def test_potential_and_place(self):
        for potential, conserved, rank in [("V=0", "yes", 3), ("(x^2+y^2)/2", "yes", 3), ("V=z", "no", 2), ("x*y", "no", 2)]:
            r, q = self.quantities("affine_particle", "--no-search", "--potential", potential)
            self.assertEqual((q["energy"]["conserved"], r["reaction_annihilator"]["rank"]), (conserved, rank), potential)
        for place, rank in [("gamma=0", 4), ("gamma=pi", 4), ("gamma=1,z=0.5", 3)]:
            r, _ = self.quantities("cylinder_ball", "--no-search", "--at", place)
            self.assertEqual(r["reaction_annihilator"]["rank"], rank, place)
        self.assertIn("velocities", self.anagyre("conserve", "affine_particle", "--potential", "V=x'", code=2)[1])
        self.assertIn("`gama=1`", self.anagyre("conserve", "cylinder_ball", "--at", "gama=1", code=2)[1])

    def test_search(self):
        r, q = self.quantities("cylinder_ball", "--set", "k=0")
        self.assertEqual(r["search"]["linear"], 2)  # F and K
        self.assertEqual(q["F"]["conserved"] + q["K"]["conserved"], "yesyes")
        r, q = self.quantities("turntable_ball")
        self.assertEqual(q["moving energy 1"]["proof"], "identity")
        r, _ = self.quantities("chaplygin_top", "--degree", "2")
        self.assertEqual((r["search"]["linear"], r["search"]["quadratic"]), (0, 2))

    def test_confirm(self):
        r, q = self.quantities("chaplygin_ball", "--no-search", "--confirm", "20")
        self.assertEqual(r["confirmed"], 20)
        for x in q.values():  # tolerance 1e-12 per step, some hundred steps; the others move by more than 1e-3
            self.assertTrue(x["drift"] < 1e-9 if x["conserved"] == "yes" else x["drift"] > 1e-3, x)
        self.anagyre("conserve", "affine_particle", "--confirm", "1", "--potential", "V=z", code=2)
        self.anagyre("conserve", "affine_particle", "--no-search", "--max-steps", "5", code=2)
        out, err = self.anagyre("conserve", "chaplygin_ball", "--no-search", "--confirm", "20", "--max-steps", "5", "--json")
        self.assertEqual((json.loads(out)["confirm_ended"], json.loads(out)["confirmed"] < 20), ("step limit reached", True))
        self.assertRegex(err, r"(?m)^warning: the run of --confirm ended at t = \S+: step limit reached$")

    def test_confirm_table(self):
        """The quantities after every step: the drift of the report is that of the table."""
        path = self.path("kept.csv")
        _, q = self.quantities("chaplygin_ball", "--no-search", "--confirm", "20", "-o", path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.readline(), "# rtol = 1e-12, atol = 1e-12\n")
            rows = list(csv.DictReader(file))
        self.assertEqual((float(rows[0]["t"]), float(rows[-1]["t"])), (0, 20))
        self.anagyre("plot", path, "--drift", "--script", "-o", self.path("kept.svg"), "--quiet")
        with open(self.path("kept.gp"), encoding="utf-8") as file:
            self.assertIn("set label 'tolerance ", file.read())  # of the comment
        for name, x in q.items():
            values = [float(row[name]) for row in rows]
            self.assertEqual(max(abs(v - values[0]) for v in values), x["drift"])
        self.anagyre("conserve", "chaplygin_ball", "-o", path, code=2)
        self.anagyre("conserve", "chaplygin_ball", "--confirm", "1", "-o", "kept.txt", code=2)
        self.anagyre("conserve", "chaplygin_ball", "--no-search", "--confirm", "1", "-o", "no/folder/kept.csv", code=3)

    def test_expectations(self):
        path = self.path("c.nh")
        with open(path, "w", encoding="utf-8") as file:
            file.write("model c\nparam k = 0.2\nconfig x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2)\n"
                       "constraint z' + x*y' = k\ngenerator lift: z' = 1\n"
                       "candidate root = y'*sqrt(1 + x^2), moving = energy - k*z'\n"
                       "expect conserved root\nexpect conserved moving\nexpect not conserved energy\n"
                       "expect conserved energy when k = 0\nexpect not conserved lift\n")
        self.assertIn("5 expectations, 0 failed", self.anagyre("test", path)[0])
        with open(path, "a", encoding="utf-8") as file:
            file.write("expect conserved energy\n")
        self.assertIn("conserved: no, by witness", self.anagyre("test", path, code=1)[0])


class Show(Case):
    def test_reads_back(self):
        for name in ["oscillator", "sleigh", "stone", "chain", "driven", "stops"]:
            with self.subTest(name):
                out, _ = self.anagyre("show", model(name), "--quiet")
                self.assertIn("\n# ", out)
                again, _ = self.anagyre("show", "-", "--quiet", stdin=out.encode())
                mark = "\n# Derived equations\n"
                self.assertIn(mark, out)
                self.assertEqual(again.split(mark)[0], out.split(mark)[0])
                a = self.json("run", model(name), "--t1", "1")
                b = json.loads(self.anagyre("run", "-", "--t1", "1", "--json", stdin=out.encode())[0])
                self.assertEqual(a["state"].keys(), b["state"].keys())
                self.near(a["energy"], b["energy"], 1e-9)

    def test_latex(self):
        out, _ = self.anagyre("show", model("sleigh"), "--latex")
        self.assertIn("\\", out)
        self.assertIn("\\dot", out)
        self.assertEqual(self.json("show", model("sleigh"), "--latex")["model"], "sleigh")
        self.assertIn("lagrangian", self.json("show", model("sleigh"))["expanded"])


class Messages(Case):
    FREE = "model free\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\n"

    def write(self, text):
        with open(self.path("m.nh"), "w") as f:
            f.write(self.FREE + text)
        return self.path("m.nh")

    def test_warnings_in_json(self):
        path = self.write("constraint y' = 2*x'\nstart x' = 1, y' = 1\n")
        r = self.json("run", path, "--t1", "1")
        self.assertEqual([(w["file"], w["line"], w["column"]) for w in r["warnings"]], [(path, 5, 15)])
        self.assertIn("did not satisfy the constraints", r["warnings"][0]["message"])
        self.assertEqual(self.json("run", path, "--t1", "1", "--set", "y'=2")["warnings"], [])

    def test_a_set_is_pointed_at(self):
        velocity = self.write("constraint y' = 2*x'\nstart x' = 1\n")
        _, err = self.anagyre("check", velocity, "--set", "x=3", "--set", "y'=1")
        self.assertIn("--set y'=1:1:1: warning: the start velocities", err)
        position = self.write("holonomic y = 2*x\nstart x = 1\n")
        _, err = self.anagyre("check", position, "--set", "y=1")
        self.assertIn("--set y=1:1:1: warning: the start positions", err)
        for value, message in (("log(-1 - t)", "the start value of `y` is not finite"), ("y + 1", "this start value uses `y`")):
            _, err = self.anagyre("check", position, "--set", f"y={value}", code=2)
            self.assertIn(f"--set y={value}:1:1: error: {message}", err)

    def test_events_at_one_moment(self):
        events = "event b: 3*x = 0.3 terminal\nevent a: y = 0.7 terminal\nevent c: x*y = 0.07\nevent d: x = 0.2\n"
        path = self.write(events + "start x' = 0.1, y' = 0.7\n")
        r = self.json("run", path)
        self.assertEqual((r["end"], r["end_event"]), ("event", "b"))  # the first one in the file
        self.near(r["t"], 1, 1e-12)
        self.assertEqual(r["events"], {"b": [r["t"]], "a": [r["t"]], "c": [r["t"]], "d": []})
        back = self.json("run", path, "--set", "x=0.2", "--set", "y=1.4", "--t1", "-9")
        self.assertEqual((back["end_event"], back["events"]["a"]), ("b", [back["t"]]))

    def test_align_ends_without_a_break(self):
        for name in ("oscillator", "sleigh"):
            out, _ = self.anagyre("show", model(name), "--latex")
            self.assertIn("\\begin{align*}", out)
            self.assertNotRegex(out, r"\\\\\s*\\end")


class Endings(Case):
    """A motion that cannot go on says what it can: what grows, where coordinates are bad, which constraint is lost."""
    #   name, statements, options, end, pattern of why, most tries
    CASES = [
        ("growth", "config x in R\nlagrangian 1/2*x'^2 + 1/2*x^4\nstart x = 1, x' = 1\n", [],
         "step too small", r"x' grows without bound near t = 1(\.00000000\d+)? ", 2000),
        ("polar coordinates", "config r in R, ph in S1\nlagrangian 1/2*(r'^2 + r^2*ph'^2) + 1/r\nstart r = 1, r' = -1\n", [],
         "step too small", r"singular here in the direction of ph': .* singular at r = \d\.\d+e-", 2000),
        # a top that passes the upright through theta = 0: sin(theta)^2 phi' = (1 - cos(theta)) p
        ("Euler angles", "config phi in S1, theta in S1, psi in S1\n"
         "lagrangian 1/2*(theta'^2 + sin(theta)^2*phi'^2) + 1/2*(psi' + cos(theta)*phi')^2 - 0.1*cos(theta)\n"
         "domain theta in 0.1..3\n"
         "start theta = 1, phi' = 0.3, theta' = -1, psi' = 0.3*sin(1)^2/(1 - cos(1)) - cos(1)*0.3\n", ["--rtol", "1e-12"],
         "step too small", r"in the direction of phi', psi': .* theta = -?\d\.\d+e-", 60000),
        ("a constraint that vanishes", "config x in R, y in R, z in R\nlagrangian 1/2*(x'^2 + y'^2 + z'^2) - z\n"
         "constraint z' = x'\nconstraint (x - 1)*y' = 0\nstart x' = 2\n", [],
         "constraints lost rank", r"constraint 2 \(line 5\): here it vanishes", 100),
    ]

    def test_why(self):
        for name, statements, options, end, why, tries in self.CASES:
            with self.subTest(name):
                with open(self.path("m.nh"), "w") as f:
                    f.write("model m\n" + statements)
                r = self.json("run", self.path("m.nh"), *options, code=1)
                self.assertEqual(r["end"], end)
                self.assertRegex(r["why"], why)
                self.assertLess(r["steps"] + r["rejected"], tries)
                _, err = self.anagyre("run", self.path("m.nh"), *options, code=1)
                self.assertRegex(err, "error: the motion ended at t = .*: " + end + "; .*" + why)

    def test_a_constraint_vanishes_where_it_does(self):
        with open(self.path("m.nh"), "w") as f:
            f.write("model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2)\nconstraint (x - 1)*y' = 0\n"
                    "start x = 3, x' = -0.25\n")
        for method in (["--method", "dop853"], ["--dt", "0.3", "--method", "rk4"], ["--closure", "multipliers"]):
            r = self.json("run", self.path("m.nh"), "--t1", "20", *method, code=1)
            self.near(r["t"], 8, 1e-9)
            self.near(r["state"]["x"], 1, 1e-9)
        # a row that turns round without vanishing is nothing special
        self.assertEqual(self.json("run", "knife_edge", "--t1", "50")["end"], "time reached")

    def test_domain_left(self):
        with open(self.path("m.nh"), "w") as f:
            f.write("model m\nconfig x in R, a in S1, c in R\nlagrangian 1/2*(x'^2 + a'^2 + c'^2) - x^2/2 + cos(a)\n"
                    "domain x in -1..1, a in -4..4, c in -1..1\nstart x' = 2, a' = 9, c' = 9\n")
        r = self.json("run", self.path("m.nh"), "--method", "rk4", "--dt", "0.001", "--t1", "3")
        left = r["left_domain"]
        # of x = 2 sin(t), seen at most eight steps later; a turns round and round, and nothing reads c
        self.assertEqual((left["of"], left["from"], left["to"]), ("x", -1, 1))
        self.assertTrue(math.pi / 6 <= left["t"] <= math.pi / 6 + 0.009, left)
        out, _ = self.anagyre("run", self.path("m.nh"), "--t1", "3")
        self.assertRegex(out, r"domain +left: x = 1\.\d+ at t = 0\.\d+, not in -1\.\.1\n")
        self.assertIsNone(self.json("run", self.path("m.nh"), "--t1", "0.3")["left_domain"])


class EnergySize(Case):
    """An energy that vanishes everywhere is a difference of large parts: its errors are measured against those."""
    MODEL = """model fall "Falling from rest: kinetic and potential energy cancel"
param k = 0
config x in R
lagrangian 1/2*x'^2 + 1000*x
force x' = k
domain x in -1..1
observable twice = 2*energy + 1
expect energy constant within TOL over 1 when k = K
expect twice constant within TOL over 1 when k = K
"""

    def fall(self, tol, k):
        with open(self.path("fall.nh"), "w") as f:
            f.write(self.MODEL.replace("TOL", tol).replace("K", k))
        return self.path("fall.nh")

    def test_size(self):
        r = self.json("run", self.fall("1", "0"), "--t1", "1")
        self.near(r["energy_size"] / 1e6, 1, 1e-9)  # x = 500 t^2, x' = 1000 t: T = -V = 5e5 at t = 1
        self.assertLess(abs(r["energy_balance"]) / r["energy_size"], 1e-12)  # the force is 0 by its parameter

    def test_constant(self):
        self.anagyre("test", self.fall("1e-12", "0"))
        # E = k x = 500 k (1 + k/1000) of 1e6, that is 5e-7; for 2 E + 1 the same of 2e6
        self.anagyre("test", self.fall("6e-7", "1e-3"))
        out, _ = self.anagyre("test", self.fall("4e-7", "1e-3"), code=1)
        self.assertEqual(out.count("FAILED"), 2, out)


class Run(Case):
    KEYS = ["model", "t", "state", "observables", "energy", "constraint_residual", "steps", "rejected", "end", "events"]

    def test_contract(self):
        r = self.json("run", model("oscillator"), "--t1", "10")
        self.assertEqual(list(r)[:len(self.KEYS)], self.KEYS)
        self.assertEqual((r["model"], r["t"], r["t0"], r["method"]), ("oscillator", 10, 0, "dop853"))
        self.assertEqual(r["end"], "time reached")
        # rtol 1e-10 over three periods
        self.near(r["state"]["x"], math.cos(20), 1e-8)
        self.near(r["state"]["x'"], -2 * math.sin(20), 1e-8)
        self.assertEqual(set(r["observables"]), {"phase", "both"})
        self.assertEqual(len(r["observables"]["both"]), 2)
        self.near(r["energy"], 2, 1e-8)
        self.assertLess(r["energy_drift"], 1e-8)
        self.assertEqual(r["constraint_residual"], 0)
        self.assertGreater(r["steps"], 5)
        times = [math.pi / 4 + k * math.pi / 2 for k in range(13) if math.pi / 4 + k * math.pi / 2 < 10]
        self.assertEqual(len(r["events"]["any"]), len(times))
        for got, wanted in zip(r["events"]["any"], times):
            self.near(got, wanted, 1e-8)
        for got, wanted in zip(r["events"]["down"], times[::2]):
            self.near(got, wanted, 1e-8)
        self.assertNotIn("series", r)

    def test_shapes(self):
        r = self.json("run", model("stone"), "--t1", "3")
        rows = r["state"]["R"]
        self.assertEqual([len(row) for row in rows], [3, 3, 3])
        for i in range(3):
            for k in range(3):
                self.near(sum(rows[i][n] * rows[k][n] for n in range(3)), i == k, 1e-14)
        self.assertEqual(len(r["state"]["Omega"]), 3)
        self.near(r["observables"]["half"][2][0], rows[2][0] / 2, 1e-16)
        for got, wanted in zip(r["observables"]["momentum"], [0.01, 2, 0.06]):
            self.near(got, wanted, 1e-9)
        r = self.json("run", model("chain"))
        self.assertEqual(list(r["state"]), ["x[1]", "x[2]", "x[3]", "x[1]'", "x[2]'", "x[3]'"])
        self.assertEqual(len(r["state"]["x[2]"]), 2)

    def test_seventeen_digits(self):
        out, _ = self.anagyre("run", model("oscillator"), "--json")
        self.assertRegex(out, r'"x":-?\d\.\d{15,17}')

    def test_summary(self):
        out, err = self.anagyre("run", model("oscillator"), "--t1", "2")
        self.assertEqual(err, "")
        for pattern in [r"^oscillator: A spring$", r"ended +time reached, t = 2", r"method +dop853, rtol 1e-10",
                        r"steps +\d+", r"energy +(2|1\.999\d*|2\.000\d*),.*drift at most",
                        r"events +down: 1 time, at t = 0\.78539",
                        r"^final state$", r"^  x +-0\.6536", r"^observables$", r"^  both +\["]:
            self.assertRegex(out, "(?m)" + pattern)

    def test_backward(self):
        r = self.json("run", model("oscillator"), "--t1", "-3")
        self.assertEqual(r["t"], -3)
        self.near(r["state"]["x"], math.cos(6), 1e-8)
        self.near(r["state"]["x'"], 2 * math.sin(6), 1e-8)
        self.assertEqual(r["events"]["any"], sorted(r["events"]["any"], reverse=True))
        self.anagyre("run", model("oscillator"), "--t0=1", "--t1=-1", "--dt=0.25", "--method=rk4", "-o", "b.csv")
        _, rows = self.table(self.path("b.csv"))
        self.assertEqual([row[0] for row in rows], [1 - 0.25 * i for i in range(9)])

    def test_there_and_back(self):
        """Forward, then backward from the final state: the start again."""
        a = self.json("run", model("sleigh"), "--t1", "5", "--rtol", "1e-12")["state"]
        sets = [w for name in ["x", "y", "phi", "x'", "y'", "phi'"] for w in ("--set", f"{name}={a[name]!r}")]
        b = self.json("run", model("sleigh"), "--t0", "5", "--t1", "0", "--rtol", "1e-12", *sets)["state"]
        for name, wanted in [("x", 0), ("y", 0), ("phi", 0), ("x'", 0.4), ("phi'", 1)]:
            self.near(b[name], wanted, 1e-8)

    def test_nothing_to_do(self):
        r = self.json("run", model("oscillator"), "--t1", "0")
        self.assertEqual((r["steps"], r["t"], r["state"]), (0, 0, {"x": 1, "x'": 0}))

    def test_methods_and_closures(self):
        methods = self.json("list", "methods")["methods"]
        want = self.json("run", model("sleigh"), "--t1", "2", "--rtol", "1e-12")["state"]
        for method in methods:
            for closure in ["eliminated", "multipliers"]:
                name = method["name"]
                if closure == "multipliers" and method["family"] != "explicit Runge-Kutta":  # the saddle form has no more
                    self.fails(["run", model("sleigh"), "--method", name, "--closure", closure, "--dt=0.01"], 2,
                               f"method {name} needs ")
                    continue
                if name == "se3_euler":
                    self.fails(["run", model("sleigh"), "--method", name, "--dt=0.01"], 2,
                               r"needs a Lagrangian of R\^T x' and Omega alone, without constraints and forces, "
                               r"which this system does not have")
                    continue
                if name == "nystrom8":
                    self.fails(["run", model("sleigh"), "--method", name, "--dt=0.01"], 2,
                               "needs accelerations that depend on positions and time alone")
                    continue
                if method["family"] in ["log-ODE", "Langevin", "Ito", "splitting"]:
                    self.fails(["run", model("sleigh"), "--method", name, "--dt=0.01"], 2,
                               f"method {name} needs a path with noise, which this system does not offer")
                    continue
                with self.subTest(method=name, closure=closure):
                    r = self.json("run", model("sleigh"), "--t1=2", "--method", name, "--closure", closure, "--dt=0.01")
                    self.assertEqual((r["method"], r["closure"], r["steps"]), (name, closure, 200))
                    self.assertLess(r["constraint_residual"], 1e-12)
                    for key, value in want.items():  # error some h^order; rounding below
                        self.near(r["state"][key], value, max(1e-9, 10 * 0.01 ** method["order"]))

    def test_project(self):
        words = ["run", "heavy_top", "--method", "rk4", "--dt", "0.05", "--project", "energy,vertical"]
        r = self.json(*words, "--t1", "4")
        self.assertEqual(r["project"], "energy,vertical")
        self.assertLess(r["energy_drift"], 1e-13)
        self.assertGreater(self.json(*words[:-2], "--t1", "4")["energy_drift"], 1e-9)
        self.anagyre(*words, "--t1", "2", "-o", self.path("a.h5"))
        self.assertEqual(self.json("run", "--from", self.path("a.h5"), "--t1", "4")["state"], r["state"])
        for extra, says in ((["--closure", "multipliers"], "multipliers"), (["--sweep", "theta0=0:1:3"], "single run")):
            self.fails([*words, *extra], 2, says)
        for name, says in (("enrgy", "did you mean `energy`"), ("axis", "depend on each other")):
            self.fails([*words[:-1], name], 2, says)
        self.fails(["run", "heavy_top", *words[6:]], 2, "fixed steps")

    def test_converge(self):
        r = self.json("converge", model("oscillator"), "--t1", "6", "--method", "rk4,gauss2")
        self.assertEqual([(m["method"], m["agrees"]) for m in r["methods"]], [("rk4", "yes"), ("gauss2", "yes")])
        self.assertLess(r["methods"][1]["kept"]["energy"], 1e-13)
        self.anagyre("converge", model("oscillator"), "--t1", "6", "--method", "rk3", "-o", self.path("runs.csv"))
        with open(self.path("runs.csv"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines[0], "method,order,dt,steps,rhs,seconds,error")
        self.assertGreater(len(lines), 5)
        r = self.json("converge", model("oscillator"), "--t1", "6", "--method", "rk4", "--method-time", "1e-9")["methods"][0]
        self.assertEqual([r["stopped"], r["agrees"], len(r["points"])], [True, "undecided", 1])
        self.fails(["converge", model("oscillator"), "--method", "gaus2"], 2, "did you mean gauss2")
        self.fails(["converge", model("oscillator"), "--t1", "0"], 2, "no motion to measure")
        self.fails(["converge", model("oscillator"), "-o", "runs.h5"], 2, "must end in .csv")

    def test_tolerance_matters(self):
        loose = self.json("run", model("oscillator"), "--rtol", "1e-4", "--atol", "1e-4")
        tight = self.json("run", model("oscillator"), "--rtol", "1e-12", "--atol", "1e-12")
        self.assertLess(loose["steps"], tight["steps"])
        self.assertGreater(abs(loose["state"]["x"] - math.cos(20)), abs(tight["state"]["x"] - math.cos(20)))
        small = self.json("run", model("oscillator"), "--max-step", "0.01")
        self.assertGreaterEqual(small["steps"], 1000)

    def test_events(self):
        r = self.json("run", model("stops"))
        self.assertEqual((r["end"], r["end_event"]), ("event", "there"))
        self.near(r["t"], 2, 1e-12)
        self.assertEqual(len(r["events"]["there"]), 1)
        r = self.json("run", model("stops"), "--no-events")
        self.assertEqual((r["end"], r["t"], r["events"]), ("time reached", 10, {}))
        self.assertRegex(self.anagyre("run", model("stops"))[0], r"ended +event there, t = (2|1\.9999\d*|2\.0000\d*) ")

    def test_failures(self):
        out, err = self.anagyre("run", model("blowup"), "--json", "-o", "x.csv", code=1)
        r = json.loads(out)
        self.assertIn(r["end"], ["step too small", "not finite"])
        self.assertIn(r["end"], err)
        self.near(r["t"], 1, 1e-6)
        _, rows = self.table(self.path("x.csv"))
        self.assertGreater(len(rows), 10)
        r = json.loads(self.anagyre("run", model("oscillator"), "--max-steps", "5", "--json", code=1)[0])
        self.assertEqual((r["end"], r["steps"]), ("step limit reached", 5))
        self.assertRegex(self.anagyre("run", model("blowup"), code=1)[1], r"error: the motion ended at t = ")

    def test_not_a_number(self):
        for verb in ["check", "run", "show"]:
            self.fails([verb, model("nowhere")], 2, "the energy has no finite value at the start")

    def test_engines(self):
        """The same bits, compiled or not; a compiler may be missing, which is said."""
        words = ["run", model("stone"), "--t1", "50", "--json", "--engine"]
        a, b = (json.loads(self.anagyre(*words, engine)[0]) for engine in ["interpreted", "compiled"])
        self.assertEqual(a["engine"], "interpreted")
        for key in ["t", "state", "observables", "energy", "steps", "rejected"]:
            self.assertEqual(a[key], b[key], key)

    def test_strict(self):
        words = ["run", model("sleigh"), "--set", "x'=1", "--set", "y'=1", "--set", "phi'=1"]
        _, err = self.anagyre(*words)
        self.assertIn("warning", err)
        self.assertEqual(self.anagyre(*words, "--quiet")[1], err)  # notes are silenced, warnings are not
        self.assertIn("error", self.anagyre(*words, "--strict", code=2)[1])

    def test_same_bits(self):
        words = ["run", model("stone"), "--json", "--series"]
        a, b = (re.sub(r'"seconds":[^,]*', "", self.anagyre(*words)[0]) for _ in range(2))
        self.assertEqual(a, b)


class Files(Case):
    def test_csv(self):
        out, _ = self.anagyre("run", model("stone"), "--t1", "1", "--every", "0.125", "-o", "x.csv", "--json")
        final = json.loads(out)
        header, rows = self.table(self.path("x.csv"))
        entries = [f"R[{i},{k}]" for i in (1, 2, 3) for k in (1, 2, 3)]
        self.assertEqual(header[:13], ["t", *entries, "Omega[1]", "Omega[2]", "Omega[3]"])
        self.assertIn("momentum[2]", header)
        self.assertIn("half[3,1]", header)
        self.assertIn("energy", header)
        self.assertEqual([row[0] for row in rows], [0.125 * i for i in range(9)])
        last = dict(zip(header, rows[-1]))
        self.assertEqual([[last[f"R[{i},{k}]"] for k in (1, 2, 3)] for i in (1, 2, 3)], final["state"]["R"])
        self.assertEqual(last["energy"], final["energy"])
        with open(self.path("x.csv")) as file:
            self.assertIn('"R[1,1]"', file.readline())

    def test_csv_names(self):
        self.anagyre("run", model("chain"), "--t1", "1", "--output=x.csv")
        header, rows = self.table(self.path("x.csv"))
        self.assertEqual(header[:3], ["t", "x[1][1]", "x[1][2]"])
        self.assertIn("x[3]'[2]", header)
        self.assertGreater(len(rows), 2)
        self.assertEqual(len(set(header)), len(header))

    def test_json_series(self):
        r = self.json("run", model("stone"), "--t1", "1", "--every", "0.25", "--series")
        s = r["series"]
        self.assertEqual(s["t"], [0, 0.25, 0.5, 0.75, 1])
        self.assertEqual(len(s["R"]), 5)
        self.assertEqual(s["R"][-1], r["state"]["R"])
        self.assertEqual(s["Omega"][0], [0.01, 1, 0.02])
        self.assertEqual(s["energy"][-1], r["energy"])
        self.anagyre("run", model("stone"), "--t1", "1", "--every", "0.25", "-o", "x.json")
        with open(self.path("x.json")) as file:
            f = json.load(file)
        f.pop("seconds"), r.pop("seconds")
        self.assertEqual(f, r)

    def test_every_accepted_step(self):
        out, _ = self.anagyre("run", model("oscillator"), "-o", "x.csv", "--json")
        self.assertEqual(len(self.table(self.path("x.csv"))[1]), json.loads(out)["steps"] + 1)

    def test_overwrites_only_when_the_model_is_good(self):
        with open(self.path("x.csv"), "w") as file:
            file.write("precious\n")
        self.anagyre("run", model("wrong"), "-o", "x.csv", code=2)
        with open(self.path("x.csv")) as file:
            self.assertEqual(file.read(), "precious\n")

    def test_cannot_write(self):
        for name in ["nowhere/x.csv", "nowhere/x.json"]:
            _, err = self.anagyre("run", model("oscillator"), "-o", name, code=3)
            self.assertIn(f"cannot write {name}: No such file or directory", err)
        os.mkdir(self.path("d.csv"))
        self.assertIn("Is a directory", self.anagyre("run", model("oscillator"), "-o", "d.csv", code=3)[1])

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_disk_full(self):
        for name in ["full.csv", "full.json"]:
            os.symlink("/dev/full", self.path(name))
            _, err = self.anagyre("run", model("oscillator"), "-o", name, code=3)
            self.assertIn(f"cannot write {name}: No space left on device", err)
        with open("/dev/full", "w") as full:
            for words in [["list"], ["run", model("oscillator"), "--json"], ["help"]]:
                done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 3)
                self.assertIn("cannot write standard output: No space left", done.stderr)

    def test_disk_fills_up(self):
        """A limit on file size in the middle of a run: the whole rows before it are kept."""
        shell = f"ulimit -f 8; trap '' XFSZ; exec {PROGRAM} run {model('oscillator')} --t1 1000 --every 0.1 -o x.csv"
        done = subprocess.run(["bash", "-c", shell], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot write x.csv: File too large", done.stderr)
        header, rows = self.table(self.path("x.csv"))
        self.assertIn(f"the first {len(rows)} rows were kept", done.stderr)
        self.assertGreater(len(rows), 20)


class Signals(Case):
    LONG = ["--t1", "1e9", "--max-steps", "1e12", "--max-step", "0.01"]

    def interrupt(self, words, number, size=0):
        """A signal to a program that is on its way: it catches Ctrl-C, and its table has so many bytes."""
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        try:
            self.assertTrue(until(process, lambda: catches(process, signal.SIGINT)), "still running")
            self.assertTrue(until(process, lambda: size_of(self.path("x.csv")) >= size), "still running")
            if number == signal.SIGKILL:
                stop(process)  # it would tear a row that is just being written
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
        return process.returncode, out, err

    def test_interrupt(self):
        for number, word in [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]:
            if os.path.exists(self.path("x.csv")):
                os.remove(self.path("x.csv"))
            code, out, err = self.interrupt(["run", model("oscillator"), *self.LONG, "-o", "x.csv", "--json"], number,
                                            50_000)
            self.assertEqual(code, 1)
            r = json.loads(out)
            self.assertEqual(r["end"], "interrupted")
            self.assertRegex(err, f"stopped by {word} at t = .*results so far are in x.csv")
            _, rows = self.table(self.path("x.csv"))
            self.assertGreater(len(rows), 100)
            self.assertEqual(rows[-1][0], r["t"])
            self.near(rows[-1][1], math.cos(2 * r["t"]), 1e-4)

    def test_interrupt_inside_a_step(self):
        """A hundred million rows inside one step: Ctrl-C need not wait for them."""
        words = ["run", model("stops"), "--no-events", "--every", "1e-7", "-o", "x.csv"]
        code, out, err = self.interrupt(words, signal.SIGINT, 200_000)
        self.assertEqual(code, 1, err)
        self.assertIn("stopped by Ctrl-C", err)
        self.assertGreater(len(self.table(self.path("x.csv"))[1]), 1000)

    def test_interrupt_json_file(self):
        words = ["run", model("oscillator"), *self.LONG, "--every", "1", "-o", "x.json"]
        code, out, _ = self.interrupt(words, signal.SIGINT, -1)
        self.assertEqual(code, 1)
        self.assertIn("ended         interrupted", out)
        with open(self.path("x.json")) as file:
            r = json.load(file)
        self.assertEqual((r["end"], r["series"]["t"]), ("interrupted", [*range(math.ceil(r["t"])), r["t"]]))

    def test_killed(self):
        """SIGKILL cannot be caught, yet complete rows reach the file during the run."""
        words = ["run", model("oscillator"), *self.LONG, "--every", "1", "-o", "x.csv"]
        code, _, _ = self.interrupt(words, signal.SIGKILL, 20_000)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertGreater(len(self.table(self.path("x.csv"))[1]), 100)

    def test_reader_goes_away(self):
        for words in [["list"], ["help", "run"], ["run", model("stone"), "--json", "--series", "--every", "1e-4"]]:
            process = subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "ANAGYRE_MODELS": MODELS})
            process.stdout.close()
            err = process.stderr.read()
            self.assertEqual(process.wait(timeout=PATIENCE), 0)
            process.stderr.close()
            self.assertEqual(err, b"")

    def terminal(self, words, lines):
        """What the program draws when standard error is a terminal, until so many lines are drawn (0: for 0.7 s); and the
        seconds that it ran."""
        try:
            main, end = pty.openpty()
        except OSError as error:
            self.skipTest(f"no terminal to be had: {error}")
        begin = time.monotonic()
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=end)
        os.close(end)
        self.assertTrue(until(process, lambda: catches(process, signal.SIGINT)))
        drawn, ready = b"", time.monotonic()
        sent = False
        while True:
            if not sent and (drawn.count(b"steps/s") >= lines if lines else time.monotonic() > ready + 0.7):
                process.send_signal(signal.SIGINT)
                sent = True
            if select.select([main], [], [], 0.1)[0]:
                try:
                    part = os.read(main, 65536)
                except OSError:
                    break
                if not part:
                    break
                drawn += part
        os.close(main)
        self.assertEqual(process.wait(timeout=PATIENCE), 1)
        return drawn.decode(), time.monotonic() - begin

    def test_progress(self):
        drawn, seconds = self.terminal(["run", model("oscillator"), "--t1", "1e6", *self.LONG[2:]], 4)
        self.assertRegex(drawn, r"\[ *=* *\] +\d+ %  t = \S+  \S+ steps/s  .* left")
        self.assertLessEqual(drawn.count("steps/s"), 5 * seconds + 1)
        self.assertIn("\r\x1b[K", drawn)
        drawn, _ = self.terminal(["run", model("oscillator"), *self.LONG, "--quiet"], 0)
        self.assertNotIn("steps/s", drawn)


class Expectations(Case):
    def test_holds(self):
        out, _ = self.anagyre("test", model("oscillator"))
        self.assertEqual(len(re.findall(r"oscillator\.nh:\d+: ok ", out)), 3)
        self.assertIn("oscillator.nh:12: ok", out)
        self.assertTrue(out.endswith("1 model, 3 expectations, 0 failed\n"))
        self.assertEqual(self.anagyre("test", model("oscillator"), "--quiet")[0], "1 model, 3 expectations, 0 failed\n")

    def test_fails(self):
        out, _ = self.anagyre("test", model("broken"), model("oscillator"), code=1)
        self.assertRegex(out, r"broken\.nh:6: FAILED  x at 2 = 3 within 1e-6: got (2|1\.99\d*|2\.00\d*), "
                              r"wanted 3, error \S+, allowed")
        self.assertRegex(out, r"broken\.nh:7: ok ")
        self.assertIn("2 models, 5 expectations, 1 failed", out)
        r = json.loads(self.anagyre("test", model("broken"), "--json", code=1)[0])
        self.assertEqual((r["expectations"], r["failed"]), (2, 1))
        first, second = r["models"][0]["expectations"]
        self.assertEqual((first["line"], first["holds"], first["wanted"], second["holds"]), (6, False, 3, True))
        self.near(first["got"], 2, 1e-9)

    def test_wrong_among_good(self):
        out, err = self.anagyre("test", model("wrong"), model("oscillator"), code=2)
        self.assertIn("oscillator.nh:12: ok", out)
        self.assertIn("wrong.nh:5:1: error", err)

    def test_none(self):
        self.assertIn("no expectations", self.anagyre("test", model("stops"))[0])

    def test_set_can_break_them(self):
        self.anagyre("test", model("oscillator"), "--set", "x=2", code=1)

    def test_all(self):
        os.mkdir(self.path("one"))
        shutil.copy(model("oscillator"), self.path("one"))
        out, _ = self.anagyre("test", "oscillator", env={"ANAGYRE_MODELS": self.path("one")})
        self.assertIn("3 expectations, 0 failed", out)


class Shipped(Case):
    """Every shipped model goes through the verbs; what it computes is tested elsewhere."""

    def test_models(self):
        entries = self.json("list", "models")["models"]
        written = [entry["name"] for entry in part(entries)]
        for entry in entries:
            name = entry["name"]
            with self.subTest(name):
                self.assertTrue(entry["title"])
                r = self.json("check", name)
                self.assertEqual(r["model"], name)
                self.assertEqual([d for d in r["diagnostics"] if d["severity"] != "note"], [])
                self.assertLess(r["constraint_residual"], 1e-12)
                run = self.json("run", name, "--t1", "0.1", "--noise", "off")
                self.assertEqual((run["end"], run["warnings"]), ("time reached", []))
                self.assertLess(run["constraint_residual_max"], 1e-11)
                if name not in written:
                    continue
                text = self.anagyre("show", name, "--quiet")[0]
                again = json.loads(self.anagyre("check", "-", "--json", "--quiet", stdin=text.encode())[0])
                for key in ["parameters", "growth", "constraints"]:
                    self.assertEqual(r[key], again[key], key)
                self.assertEqual(list(r["state"]), list(again["state"]))
                for a, b in zip(flat(list(r["state"].values())), flat(list(again["state"].values()))):
                    self.near(a, b, 1e-14 * max(1, abs(a)))  # a start that is an expression may be summed in another order
                self.near(r["energy"], again["energy"], 1e-12 * max(1, abs(r["energy"])))


if __name__ == "__main__":
    unittest.main(verbosity=1)
