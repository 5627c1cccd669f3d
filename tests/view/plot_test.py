#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot_test.py PROGRAM [unittest arguments]: `anagyre plot` of models, result files and tables."""
import json
import math
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from part import part  # noqa: E402
from waiting import PATIENCE, until  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
GNUPLOT = shutil.which("gnuplot")
PAIR = """model pair "Two oscillators, coupled"
param w = 1.6, c = 0.3
config x in R, y in R
lagrangian 1/2*(x'^2 + y'^2) - 1/2*(x^2 + w^2*y^2) - c*x^2*y
section cut: y = 0 rising
event far: x = 0.39
observable r = sqrt(x^2 + y^2)
start x = 0.4, y' = 0.5
"""


def png_size(path):
    with open(path, "rb") as file:
        head = file.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", head
    return struct.unpack(">II", head[16:24])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        with open(self.path("pair.nh"), "w", encoding="utf-8") as file:
            file.write(PAIR)

    def path(self, name):
        return os.path.join(self.folder, name)

    def anagyre(self, *words, code=0, **more):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, capture_output=True, text=True, check=False, **more)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def plot(self, *words, **more):
        return json.loads(self.anagyre("plot", *words, "--json", **more).stdout)


@unittest.skipUnless(GNUPLOT, "gnuplot is not installed")
class Figures(Case):
    def test_every_model(self):
        models = json.loads(self.anagyre("list", "models", "--json").stdout)["models"]
        self.assertGreater(len(models), 40)
        for model in part(models):
            name = model["name"] if isinstance(model, dict) else model
            found = self.plot(name, "--t1", "1", "--noise", "off", "-o", "m.png", "--quiet")
            width, height = png_size(self.path("m.png"))
            self.assertTrue(found["panels"] and width == 1260 and 300 < height < 3000, (name, found, width, height))

    def test_formats(self):
        self.anagyre("run", "pair.nh", "--t1", "20", "--every", "0.01", "-o", "a.h5", "--quiet")
        self.anagyre("run", "pair.nh", "--t1", "20", "--every", "0.01", "-o", "a.csv", "--quiet")
        for source in ("a.h5", "a.csv"):
            for end, begin in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
                found = self.plot(source, "-o", f"a.{end}")
                self.assertEqual(found["panels"], [{"x": "t", "y": "r"}])
                self.assertEqual(found["rows"], 2001)
                with open(self.path(f"a.{end}"), "rb") as file:
                    self.assertTrue(file.read(8).startswith(begin))
        self.assertEqual(self.anagyre("plot", "a.h5").stdout, "a.png\n")

    def test_labels_of_a_run(self):
        """Names, events and parameters are texts of the picture."""
        self.anagyre("plot", "rattleback", "--t1", "100", "-o", "a.svg", "spin", "Omega[1:2]")
        with open(self.path("a.svg"), encoding="utf-8") as file:
            text = re.sub(r"<[^>]*>", "", file.read())
        for word in ("spin", "Ω", "reversal t = 74.698", "α = 0.35", "energy drift", "Ellipsoidal stone"):
            self.assertIn(word, text)
        self.anagyre("plot", "turntable_ball", "-o", "b.svg")  # whose energy is not conserved: that is no drift
        with open(self.path("b.svg"), encoding="utf-8") as file:
            self.assertNotIn("drift", file.read())

    def test_letters_of_seven_points(self):
        """No text is smaller than journals want; an SVG counts in dots of 3/4 points."""
        self.anagyre("run", "rattleback", "--t1", "100", "--every", "0.1", "-o", "a.h5", "--quiet")
        for words in ([], ["--drift"], ["--size", "column"], ["--size", "column", "Omega"]):
            self.anagyre("plot", "a.h5", *words, "-o", "a.svg")
            with open(self.path("a.svg"), encoding="utf-8") as file:
                sizes = [float(size) for size in re.findall(r'<g [^>]*font-size="([0-9.]+)"', file.read())]
            self.assertGreater(len(sizes), 10)
            self.assertGreaterEqual(min(sizes), 7*4/3 - 0.01, words)

    def test_residuals_are_drawn_when_asked_for(self):
        """The gap of a contact is zero up to rounding: not what one wants to see of a rolling body."""
        self.anagyre("run", "euler_disk", "--t1", "0.5", "--every", "0.05", "-o", "coin.h5")
        self.anagyre("run", "euler_disk", "--t1", "0.5", "--every", "0.05", "-o", "coin.csv")
        for name in "coin.h5", "coin.csv":
            shown = [panel["y"] for panel in self.plot(name, "-o", "coin.svg")["panels"]]
            self.assertIn("coin.height", shown)
            self.assertNotIn("coin.gap", shown)
            self.assertEqual(self.plot(name, "--y", "coin.gap", "-o", "gap.svg")["panels"],
                             [{"x": "t", "y": "coin.gap"}])

    def test_batches(self):
        self.anagyre("run", "pair.nh", "--sweep", "c=0:0.5:5", "--t1", "5", "-o", "one.h5", "--quiet")
        self.anagyre("run", "pair.nh", "--sweep", "c=0:0.5:5", "--t1", "5", "-o", "one.csv", "--quiet")
        self.anagyre("run", "pair.nh", "--sweep", "c=0:0.5:5", "--sweep", "w=1:2:4", "--t1", "5", "-o", "two.h5", "--quiet")
        self.anagyre("run", "pair.nh", "--section", "cut", "--level", "energy=0.4", "--set", "x'=0", "--sweep", "x=-0.5:0.5:4",
                     "--crossings", "20", "-o", "cut.h5", "--quiet")
        for name in ("one.h5", "one.csv"):
            self.assertEqual(self.plot(name)["panels"], [{"x": "c", "y": "r"}])
        self.assertEqual(self.plot("two.h5")["panels"], [{"x": "c", "y": "w", "z": "r"}])
        found = self.plot("cut.h5", "--script")
        self.assertEqual(found["panels"], [{"x": "x", "y": "x'", "z": "start x"}])
        with open(self.path("cut.dat"), encoding="utf-8") as file:
            rows = [line.split() for line in file if line.strip()]
        self.assertEqual(len(rows), 80)
        self.assertEqual(len({row[2] for row in rows}), 4)

    def test_ensembles(self):
        """Chosen paths are lines of their own, with their numbers; a density has the area of the histogram."""
        with open(self.path("warm.nh"), "w", encoding="utf-8") as file:
            file.write("model warm\nparam kT = 0.5, x0 = 0\nconfig th in S1\nlagrangian 1/2*th'^2 + cos(th)\n"
                       "friction th' = 1\ntemperature kT\nobservable v = th'\n")
        args = ["ensemble", "warm.nh", "--dt", "1/8", "--t1", "4", "--columns", "v,th", "--quiet"]
        self.anagyre(*args, "--paths", "600", "--chosen", "0:2,9", "-o", "some.h5")
        chosen = json.loads(self.anagyre(*args, "--path", "9", "--json").stdout)
        self.plot("some.h5", "v", "-o", "some.svg", "--script")
        with open(self.path("some.gp"), encoding="utf-8") as file:
            script = file.read()
        self.assertEqual(script.count("linewidth 0.4"), 4)
        with open(self.path("some.dat"), encoding="utf-8") as file:
            blocks = file.read().split("\n\n\n")
        curves = [[float(line.split()[1]) for line in block.splitlines()] for block in blocks if block.strip()]
        self.assertIn([float(f"{v:.10g}") for v in chosen["observables"]["v"]], curves)
        self.plot("some.h5", "--x", "th", "--y", "v", "-o", "plane.svg", "--script")
        with open(self.path("plane.gp"), encoding="utf-8") as file:
            script = file.read()
        self.assertEqual((script.count("linewidth 0.4"), script.count("filledcurves")), (4, 0))
        with open(self.path("plane.svg"), encoding="utf-8") as file:
            self.assertIn("means, and some paths as thin lines", file.read())
        with open(self.path("plane.dat"), encoding="utf-8") as file:
            blocks = file.read().split("\n\n\n")
        planes = [[tuple(map(float, line.split()[:2])) for line in block.splitlines()] for block in blocks if block.strip()]
        self.assertIn([tuple(float(f"{v:.10g}") for v in row) for row in zip(*(chosen["observables"][c] for c in ("th", "v")))],
                      planes)
        self.anagyre(*args, "--paths", "600", "--method", "rk4", "-o", "other.h5")
        self.plot("some.h5", "other.h5", "v", "-o", "two.svg", "--script")
        with open(self.path("two.gp"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("filledcurves"), 2)
        with open(self.path("two.svg"), encoding="utf-8") as file:
            self.assertIn("means with two standard errors", file.read())
        self.plot("some.h5", "v,th", "--histogram", "--density", "v=exp(-x^2/(2*kT));th=exp(cos(x)/kT)", "-o", "h.svg",
                  "--script")
        with open(self.path("h.dat"), encoding="utf-8") as file:
            blocks = [[tuple(map(float, line.split())) for line in block.splitlines()]
                      for block in file.read().split("\n\n\n") if block.strip()]
        self.assertEqual(len(blocks), 4)
        for block in (blocks[1], blocks[3]):
            self.assertAlmostEqual(sum(y for _, y in block)*(block[1][0] - block[0][0]), 1, delta=1e-3)
        for x, y in blocks[1]:  # the law of Gibbs; what lies outside the histogram is less than 1/100
            self.assertAlmostEqual(y, math.exp(-x*x)/math.sqrt(math.pi), delta=0.01)
        with open(self.path("turn.nh"), "w", encoding="utf-8") as file:
            file.write("model turn\nconfig ph in S1\nlagrangian 1/2*ph'^2\nnoise W transport ph' = 0.8\n")
        self.anagyre("ensemble", "turn.nh", "--dt", "1/8", "--t1", "4", "--columns", "ph", "--quiet", "--paths", "1500",
                     "-o", "turn.h5")
        self.plot("turn.h5", "ph", "--histogram", "-o", "turn.svg", "--script")
        with open(self.path("turn.dat"), encoding="utf-8") as file:
            outline = [tuple(map(float, line.split())) for line in file if line.strip()]
        edges = [x for x, _ in outline[::2]]  # joined bins: the whole circle and no more, with the area 1
        area = sum((b - a)*outline[2*i + 1][1] for i, (a, b) in enumerate(zip(edges, edges[1:])))
        self.assertEqual((len(edges) < 64, round(edges[0], 6), round(edges[-1], 6)), (True, -3.141593, 3.141593))
        self.assertAlmostEqual(area, 1, delta=1e-6)
        self.anagyre("plot", "some.h5", "--density", "v=x", code=2)
        for density in ("w=x^2", "v=", "v", "v=y", "v=-1", "v=1/0"):
            self.anagyre("plot", "some.h5", "v", "--histogram", "--density", density, "-o", "no.svg", code=2)

    def test_script_draws_the_same(self):
        self.anagyre("plot", "pair.nh", "--x", "x", "--y", "x'", "-o", "a.svg", "--script")
        with open(self.path("a.svg"), "rb") as file:
            first = file.read()
        os.remove(self.path("a.svg"))
        subprocess.run([GNUPLOT, "-d", "a.gp"], cwd=self.folder, check=True)
        with open(self.path("a.svg"), "rb") as file:
            self.assertEqual(first.replace(b"figure", b"a.svg"), file.read().replace(b"figure", b"a.svg"))

    def test_overlay_and_change(self):
        self.anagyre("run", "pair.nh", "--t1", "20", "-o", "a.h5", "--quiet")
        self.anagyre("run", "pair.nh", "--t1", "20", "--set", "c=0.1", "-o", "b.h5", "--quiet")
        self.assertEqual(self.plot("a.h5", "b.h5", "-o", "c.svg")["panels"], [{"x": "t", "y": "r"}])
        with open(self.path("c.svg"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(">a<" in text and ">b<" in text)
        self.assertEqual(self.plot("a.h5", "--drift", "-o", "d.svg")["panels"], [{"x": "t", "y": "energy"}])

    def test_work_and_precision(self):
        """A curve for each method, whose name stands below the figure; zeros have no logarithm."""
        self.anagyre("converge", "pair.nh", "--method", "rk4,gauss2", "-o", "runs.csv", "--quiet")
        found = self.plot("runs.csv", "-o", "w.svg", "--script")
        self.assertEqual(found["panels"], [{"x": "right-hand sides", "y": "error"}])
        with open(self.path("w.svg"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue("rk4" in text and "gauss2" in text)
        with open(self.path("w.gp"), encoding="utf-8") as file:
            self.assertIn("set logscale x", file.read())

    def test_drift_and_tolerance(self):
        """What a run keeps, and what its steps were allowed to change."""
        self.anagyre("run", "routh_sphere", "--t1", "20", "--rtol", "1e-8", "--every", "0.1", "-o", "r.h5", "--quiet")
        found = self.plot("r.h5", "--drift", "--script", "--units", "t=s")
        self.assertEqual([panel["y"] for panel in found["panels"]], ["energy", "E", "jellett", "routh"])
        with open(self.path("r.gp"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("tolerance 10⁻⁸"), 1)  # of routh, which is near 1; energy: 1e-10 + 1.65e-8
        self.assertEqual(text.count("tolerance 2×10⁻⁸"), 1)
        self.assertIn("set xlabel '{/:Italic t} (s)'", text)
        self.anagyre("run", "routh_sphere", "--t1", "2", "--dt", "0.01", "--method", "rk4", "-o", "f.h5", "--quiet")
        self.plot("f.h5", "--drift", "--script")
        with open(self.path("f.gp"), encoding="utf-8") as file:
            self.assertNotIn("tolerance", file.read())  # fixed steps have none
        self.anagyre("conserve", "routh_sphere", "--no-search", "--confirm", "2", "-o", "kept.csv")
        found = self.plot("kept.csv", "--drift", "--tolerance", "1e-12", "--script")
        self.assertEqual([panel["y"] for panel in found["panels"]], ["energy", "E", "jellett", "routh"])

    def test_hostile_names(self):
        """Nothing of a file is a command of gnuplot."""
        evil = "system 'touch evil'"
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write(f"t,\"x'; {evil}; '\",\"`touch evil`\",\"@evil\"\n0,1,2,3\n1,2,3,4\n")
        with open(self.path("m.nh"), "w", encoding="utf-8") as file:
            file.write(f"model m \"'; {evil}; '`touch evil`\"\nconfig x in R\nlagrangian x'^2/2\nstart x' = 1\n")
        self.anagyre("plot", "t.csv", "-o", "'; system 'touch evil'.png")
        self.anagyre("plot", "m.nh", "-o", "m.svg", "--title", f"'\n{evil}\n`touch evil`")
        self.anagyre("plot", "m.nh", "-o", "m.pdf", "--script")
        self.assertFalse(os.path.exists(self.path("evil")))

    def test_a_row_that_is_not_whole(self):
        """A killed run may leave a last line without its end: it is left out, wherever it was cut, and that is said."""
        rows = "t,x\n" + "".join(f"{i},{i * i}\n" for i in range(20))
        for cut in range(1, 6):  # 19,361 newline
            with open(self.path("t.csv"), "w", encoding="utf-8") as file:
                file.write(rows[:-cut])
            done = self.anagyre("plot", "t.csv", "-o", "t.svg", "--json")
            self.assertEqual(json.loads(done.stdout)["rows"], 19)
            self.assertIn("the last line of t.csv has no end", done.stderr)
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write(rows)
        done = self.anagyre("plot", "t.csv", "-o", "t.svg", "--json")
        self.assertEqual((json.loads(done.stdout)["rows"], done.stderr), (20, ""))

    def test_long_runs_are_thinned(self):
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            file.write("t,x\n" + "".join(f"{i * 1e-4},{(i * 1e-4) ** 2}\n" for i in range(100001)))
        found = self.plot("t.csv", "-o", "t.svg")
        self.assertEqual(found["rows"], 100001)
        self.assertLess(found["points"], 1000)
        self.assertLess(os.path.getsize(self.path("t.svg")), 100000)


class Terminal(Case):
    def test_term(self):
        out = self.anagyre("plot", "rattleback", "--t1", "100", "--term").stdout
        self.assertIn("spin\n", out)
        self.assertIn("reversal: t = 74.698", out)
        self.assertTrue(any("\u2800" < c <= "\u28ff" for c in out))
        self.assertLessEqual(max(map(len, out.splitlines())), 80)


class Refused(Case):
    def test_wrong_use(self):
        self.anagyre("run", "pair.nh", "--t1", "1", "-o", "a.h5", "--quiet")
        for words, code, what in [
                (("a.h5", "--y", "rr"), 2, "no column rr; did you mean r?"), (("a.h5", "-o", "a.gif"), 2, ".png, .svg or .pdf"),
                (("a.h5", "--x", "nothing"), 2, "no column nothing; it has "), (("a.h5", "r", "--y", "x"), 2, "twice"),
                (("a.h5", "--set", "c=1"), 2, "--set"), (("a.h5", "--term", "-o", "x.png"), 2, "--term"),
                (("no.h5",), 3, "no.h5"), (("no.csv",), 3, "no.csv"), (("no_model",), 2, "no_model"),
                (("a.h5", "--z", "x"), 2, "in space"), (("a.h5", "--tolerance", "1e-3"), 2, "--drift"),
                (("a.h5", "--units", "y=m,rr=m"), 2, "did you mean r?")]:
            self.assertIn(what, self.anagyre("plot", *words, code=code).stderr)

    def test_files_of_others(self):
        for name, data, code in [("a.h5", b"no HDF5", 3), ("b.csv", b"", 2), ("c.csv", b"1,2\n3,4\n", 2), ("d.csv", b"t,x\n", 1),
                                 ("e.csv", b"t,x\n0,nan\n1,inf\n", 1), ("f.csv", b"\0\1\2\n", 2)]:
            with open(self.path(name), "wb") as file:
                file.write(data)
            done = self.anagyre("plot", name, code=code)
            self.assertIn(name, done.stderr)
            self.assertFalse(os.path.exists(self.path(name[0] + ".png")))

    def test_other_programs(self):
        """Tables of others are named with what they have; other separators are recognised."""
        for name, data, what in [("a.csv", "x,y,temperature\r\n1,2,3\r\n3,4,5\r\n", "it has x, y, temperature"),
                                 ("b.csv", "t;x\n0;1\n1;2\n", "separated by semicolons"),
                                 ("c.csv", "t\tx\n0\t1\n1\t2\n", "separated by tabs"),
                                 ("d.csv", "<html><body>\n</body></html>\n", "it has <html><body>")]:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(data)
            done = self.anagyre("plot", name, code=2)
            self.assertIn(name, done.stderr)
            self.assertIn(what, done.stderr)

    @unittest.skipUnless(GNUPLOT, "gnuplot is not installed")
    def test_numbers_at_the_edge(self):
        """Numbers whose difference overflows are no numbers for a figure; very large and very small ones are."""
        for name, rows, code in [("a", "0,1e308\n1,-1e308\n", 1), ("b", "0,1e299\n1,-1e299\n", 0), ("c", "0,1e-320\n1,2e-320\n", 0),
                                 ("d", "1e299,1\n-1e299,2\n", 0), ("e", "0,1e308\n1,3\n2,4\n", 0), ("f", "0,5\n", 0),
                                 ("g", "0,nan\n1,2\n2,inf\n3,1\n", 0), ("h", "5,1\n5,2\n", 0)]:
            with open(self.path(name + ".csv"), "w", encoding="utf-8") as file:
                file.write("t,x\n" + rows)
            for more in ((), ("--drift", "--y", "x"), ("--x", "x", "--y", "t")):
                self.anagyre("plot", name + ".csv", *more, code=code)
                self.anagyre("plot", name + ".csv", *more, "--term", code=code)

    def test_no_gnuplot(self):
        done = self.anagyre("plot", "pair.nh", code=3, env={**os.environ, "PATH": "/nonexistent"})
        self.assertIn("gnuplot is not installed", done.stderr)

    @unittest.skipUnless(GNUPLOT, "gnuplot is not installed")
    def test_no_display(self):
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.anagyre("plot", "pair.nh", "-o", "a.png", env=env)
        self.anagyre("plot", "pair.nh", "-o", "a.pdf", env={**env, "DISPLAY": ":77"})  # where there is none

    def test_signals(self):
        """A signal while gnuplot works ends both, and leaves no temporary folder."""
        os.mkdir(self.path("bin"))
        with open(self.path("bin/gnuplot"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho $$ > {self.path('started.part')}\nmv {self.path('started.part')} {self.path('started')}\n"
                       "exec sleep 1000\n")
        os.chmod(self.path("bin/gnuplot"), 0o700)
        env = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"], TMPDIR=self.path("tmp"))
        for number, word in ((signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP"), (signal.SIGINT, "Ctrl-C")):
            os.mkdir(self.path("tmp"))
            with subprocess.Popen([PROGRAM, "plot", "pair.nh", "-o", "never.png"], cwd=self.folder, env=env,
                                  stderr=subprocess.PIPE, text=True) as run:
                until(run, lambda: os.path.exists(self.path("started")))
                run.send_signal(number)
                err = run.communicate(timeout=PATIENCE)[1]
            self.assertEqual((run.returncode, os.path.exists(self.path("never.png"))), (1, False), err)
            self.assertIn(f"error: stopped by {word}\n", err)
            with open(self.path("started"), encoding="utf-8") as file:
                self.assertRaises(ProcessLookupError, os.kill, int(file.read()), 0)
            os.rmdir(self.path("tmp"))  # empty
            os.remove(self.path("started"))

    @unittest.skipUnless(GNUPLOT, "gnuplot is not installed")
    def test_half_a_figure(self):
        """gnuplot does not notice when its file cannot grow: half a figure is refused, and the old one stays."""
        with open(self.path("a.csv"), "w", encoding="utf-8") as file:
            file.write("t,a\n" + "".join(f"{i},{i*i % 7}\n" for i in range(20)))
        for name in ("a.png", "a.svg", "a.pdf"):
            self.anagyre("plot", "a.csv", "-o", name)
            whole = os.path.getsize(self.path(name))
            limit = whole - 200  # the script and the numbers are shorter
            done = self.anagyre("plot", "a.csv", "-o", name, code=3, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertIn("disk full", done.stderr)
            self.assertEqual(os.path.getsize(self.path(name)), whole)

    @unittest.skipUnless(GNUPLOT and os.path.exists("/dev/full"), "gnuplot is not installed")
    def test_full_disk(self):
        os.symlink("/dev/full", self.path("full.png"))
        self.assertIn("No space left", self.anagyre("plot", "pair.nh", "-o", "full.png", code=3).stderr)
        os.symlink("/dev/full", self.path("a.dat"))
        self.assertIn("a.dat: No space left", self.anagyre("plot", "pair.nh", "--script", "-o", "a.png", code=3).stderr)
        for words in (("--term",), ("-o", "b.png"), ("-o", "b.png", "--json")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, "plot", "pair.nh", *words], cwd=self.folder, stdout=full,
                                      stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("No space left", done.stderr)

    @unittest.skipUnless(GNUPLOT, "gnuplot is not installed")
    def test_places_that_cannot_be_written(self):
        self.assertIn("cannot write", self.anagyre("plot", "pair.nh", "-o", "no/folder/a.png", code=3).stderr)
        done = self.anagyre("plot", "pair.nh", code=3, env={**os.environ, "TMPDIR": "/nonexistent"})
        self.assertIn("cannot write", done.stderr)


if __name__ == "__main__":
    unittest.main()
