#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""output_test.py PROGRAM: what a run says and writes: numbers, files, warnings, standard output, the progress line."""
import csv
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from waiting import PATIENCE  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")

WELL = """model well
param k = 1
config x in R
lagrangian 1/2*x'^2 - k/2*x^2
observable root = sqrt(x - 10)
start x = 0.1, x' = 1/3
"""
MOVED = """model moved
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2)
constraint y' = 2*x'
start x' = 1, y' = 5
"""


class Case(unittest.TestCase):
    user = {}  # what makes a command run as another user

    def setUp(self):
        self.box = tempfile.TemporaryDirectory(prefix="ag_output_")
        self.addCleanup(self.box.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.box.name, name)
        if text is not None:
            with open(path, "w") as f:
                f.write(text)
        return path

    def run_it(self, *words, code=0):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              cwd=self.box.name, **self.user)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, done.stderr


class Output(Case):
    def test_shortest_numbers(self):
        """Every number of a .csv file is the shortest that reads back, as Python's repr; NaN has no sign."""
        model = self.path("well.nh", WELL)
        self.run_it("run", model, "--t1", 3, "--every", 0.1, "-o", "a.csv", "--quiet")
        self.run_it("run", model, "--t1", 3, "--every", 0.1, "-o", "a.json", "--quiet")
        with open(self.path("a.csv")) as f:
            rows = list(csv.DictReader(f))
        with open(self.path("a.json")) as f:
            series = json.load(f)["series"]
        self.assertEqual(len(rows), 31)
        for i, row in enumerate(rows):
            self.assertEqual(row["root"], "nan")
            for name in ("t", "x", "x'", "energy"):
                digits = row[name].split("e")[0].replace(".", "").replace("-", "").strip("0")
                shortest = repr(float(row[name])).split("e")[0].replace(".", "").replace("-", "").strip("0")
                self.assertEqual(digits, shortest)
                self.assertEqual(float(row[name]), series[name][i])
        self.assertEqual(rows[3]["t"], repr(0.1 * 3))

    def test_standard_output(self):
        """-o - is the .csv file on standard output; the summary goes to standard error."""
        model = self.path("well.nh", WELL)
        self.run_it("run", model, "--t1", 1, "--every", 0.5, "-o", "a.csv")
        out, err = self.run_it("run", model, "--t1", 1, "--every", 0.5, "-o", "-")
        with open(self.path("a.csv")) as f:
            self.assertEqual(out, f.read())
        self.assertIn("time reached", err)
        self.assertIn("\n  file          standard output\n", err)
        out, err = self.run_it("run", model, "--t1", 1, "--sweep", "k=1:2:3", "-o", "-")
        self.assertIn("\n  table         standard output\n", err)
        self.assertEqual([row["k"] for row in csv.DictReader(out.splitlines())], ["1", "1.5", "2"])
        self.assertIn("members", err)
        out, err = self.run_it("run", model, "--t1", 1, "-o", "-", "--json", code=2)
        self.assertIn("standard output", err)
        self.assertFalse(os.path.exists(self.path("-")))

    def test_files_written(self):
        model = self.path("well.nh", WELL)
        for name in ("a.csv", "a.h5", "a.json"):
            out, _ = self.run_it("run", model, "--t1", 1, "-o", name)
            self.assertRegex(out, r"\n  file          " + name + r" \([0-9.]+ (bytes|kB)\)\n")
            out, _ = self.run_it("run", model, "--t1", 1, "-o", name, "--json")
            self.assertEqual(json.loads(out)["files"], [{"path": name, "bytes": os.path.getsize(self.path(name))}])
            out, _ = self.run_it("run", model, "--t1", 1, "--sweep", "k=1:2:3", "-o", name)
            self.assertRegex(out, r"\n  table         " + name + r" \([0-9.]+ (bytes|kB)\)\n")
        out, _ = self.run_it("run", model, "--t1", 1, "--json")
        self.assertEqual(json.loads(out)["files"], [])

    def test_closed_streams(self):
        """Where standard streams are closed, no file takes their place: the same tables, and every command ends."""
        model = self.path("well.nh", WELL)
        made, page = {}, True
        for closed in [(), (0,), (1,), (2,), (0, 1, 2)]:
            for words in [["run", model, "--t1", 1, "--every", 0.25, "-q", "-o", "x.csv"], ["run", model, "--t1", 1, "-q", "-o", "x.h5"],
                          ["info", "x.h5"], ["plot", "x.h5", "x", "--script", "-o", "x.svg"], ["view", "x.h5", "-o", "x.html"]]:
                done = subprocess.run([PROGRAM, *map(str, words)], cwd=self.box.name, timeout=PATIENCE, check=False,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      preexec_fn=lambda: [os.close(fd) for fd in closed])
                if words[0] == "view":  # the first one, with all streams open, says whether the program has it
                    page = page and b"without the page" not in done.stderr
                if words[0] == "view" and not page:
                    continue
                self.assertEqual(done.returncode, 3 if 1 in closed else 0, (closed, words, done.stderr))
            for name in ["x.csv", "x.gp", "x.html"]:
                if os.path.exists(self.path(name)):
                    with open(self.path(name), "rb") as file:
                        self.assertEqual(made.setdefault(name, text := file.read()), text, (closed, name))

    def test_warnings_everywhere(self):
        """What the terminal shows as note or warning is in JSON, in the file, and in info."""
        model = self.path("moved.nh", MOVED)
        for more in ([], ["--sweep", "x=0:1:3"]):
            _, err = self.run_it("run", model, "--t1", 1, *more)
            shown = re.findall(r"(note|warning): (.*)", err)
            self.assertTrue(any("did not satisfy" in text for _, text in shown), err)
            out, _ = self.run_it("run", model, "--t1", 1, "--json", *more)
            told = [(w["severity"], w["message"]) for w in json.loads(out)["warnings"]]
            self.assertEqual(told, shown)
        self.assertTrue(any("3 of 3 members" in text for _, text in shown), shown)
        _, err = self.run_it("run", model, "--t1", 1, "-o", "a.h5")
        shown = re.findall(r"(?:note|warning): .*", err)
        out, _ = self.run_it("info", "a.h5", "--json")
        self.assertEqual(json.loads(out)["warnings"], shown)
        self.assertIn(shown[0], self.run_it("info", "a.h5")[0])
        # a run that goes on from a file says the same again
        out, _ = self.run_it("run", "--from", "a.h5", "--t1", 2, "--json")
        self.assertEqual([w["severity"] + ": " + w["message"] for w in json.loads(out)["warnings"]], shown)

    def test_progress_fits(self):
        """The progress line is shorter than the terminal is wide."""
        model = self.path("well.nh", WELL)
        for columns in (30, 60, 120):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen([PROGRAM, "run", model, "--t1", "1e9"], stdout=subprocess.DEVNULL, stderr=slave,
                                       stdin=subprocess.DEVNULL, cwd=self.box.name)
            os.close(slave)
            seen = b""
            while seen.count(b"\r") < 3 and select.select([master], [], [], 60)[0]:
                seen += os.read(master, 4096)
            process.terminate()
            process.wait()
            os.close(master)
            lines = [re.sub(rb"\x1b\[[0-9;]*K", b"", x) for x in seen.split(b"\r")[1:3]]
            self.assertTrue(all(0 < len(x) < columns for x in lines), (columns, lines))


NOBODY = 65534


def ordinary():
    """Become a user whom permissions apply to."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Permissions(Case):
    """A file without write permission is refused and stays as it is, by whatever way it would be replaced. To root
    nothing is read-only: these commands are then run by another user, where he can reach the program."""

    def setUp(self):
        super().setUp()
        if os.geteuid() == 0:
            self.user = {"preexec_fn": ordinary, "env": dict(os.environ, HOME=self.box.name, XDG_CACHE_HOME=self.box.name)}
        os.chmod(self.box.name, 0o777)
        try:
            self.run_it("version")
        except (OSError, AssertionError) as why:
            self.skipTest(f"the program cannot be run by another user: {why}")

    def test_read_only_files(self):
        model = self.path("well.nh", WELL)
        for name in ("a.h5", "a.csv", "a.json"):
            for more in ([], ["--sweep", "k=1:2:3"]):
                self.run_it("run", model, "--t1", 1, "-o", name, "--quiet", *more)
                os.chmod(self.path(name), 0o444)
                with open(self.path(name), "rb") as f:
                    before = f.read()
                ways = [["run", model, "--t1", 2, "-o", name], ["run", model, "--sweep", "k=1:2:2", "-o", name]]
                if name == "a.h5" and not more:
                    ways.append(["run", "--from", name, "--t1", 2])
                for words in ways:
                    _, err = self.run_it(*words, "--quiet", code=3)
                    self.assertIn(f"cannot write {name}: Permission denied", err)
                    with open(self.path(name), "rb") as f:
                        self.assertEqual(f.read(), before)
                os.remove(self.path(name))
        self.assertEqual(sorted(n for n in os.listdir(self.box.name) if n.startswith("a.")), [])

    def test_read_only_folder(self):
        model = self.path("well.nh", WELL)
        self.run_it("run", model, "--t1", 1, "-o", "a.h5", "--quiet")
        os.chmod(self.box.name, 0o555)
        self.run_it("info", "a.h5")
        for name in ("b.h5", "b.csv", "b.json"):
            _, err = self.run_it("run", model, "--t1", 1, "-o", name, "--quiet", code=3)
            self.assertIn(f"cannot write {name}", err)
        os.chmod(self.box.name, 0o777)


if __name__ == "__main__":
    unittest.main()
