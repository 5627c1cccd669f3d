#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""store_test.py PROGRAM [unittest arguments]: result files as seen by other tools and by users in trouble.

Read with h5py and h5dump; runs killed at random moments; disks that fill up; runs continued bit for bit."""
import csv
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from part import some  # noqa: E402
from waiting import PATIENCE, catches, size_of, until  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
# a motion of many rows: of the length a test needs, and always the same
LONG = ["rattleback", "--every", "0.0005", "--quiet"]


def datasets(path):
    """All datasets of a file by path."""
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, thing: found.update({name: thing[()]}) if isinstance(thing, h5py.Dataset) else None)
    return found


def series(path):
    """The datasets that hold the motion and its events."""
    return {k: v for k, v in datasets(path).items() if k.split("/")[0] not in ("model", "parameters", "checkpoint", "options", "summary")}


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ag_store_")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def anagyre(self, *words, code=0, **options):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, cwd=options.pop("cwd", self.folder), timeout=PATIENCE,
                              text=True, stdin=subprocess.DEVNULL, **options)
        self.assertEqual(done.returncode, code, f"anagyre {' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def info(self, name, cwd=None):
        return json.loads(self.anagyre("info", name, "--json", "--quiet", cwd=cwd or self.folder)[0])

    def content(self, folder=None):
        """Every file of a folder with its bytes (or where it leads), its inode and its mode."""
        found = {}
        for name in os.listdir(folder or self.folder):
            path = os.path.join(folder or self.folder, name)
            about = os.lstat(path)
            what = os.readlink(path) if os.path.islink(path) else None
            if os.path.isfile(path) and what is None:
                with open(path, "rb") as file:
                    what = file.read()
            found[name] = (what, about.st_ino, about.st_mode, about.st_mtime_ns)
        return found

    def recover(self, name, cwd=None):
        """Looks at a file, which changes nothing; then puts its log into it. The number of rows."""
        folder = cwd or self.folder
        before = self.content(folder)
        rows = self.info(name, cwd=folder)["rows"]
        self.assertEqual(self.content(folder), before)
        told = json.loads(self.anagyre("info", "--recover", name, "--json", "--quiet", cwd=folder)[0])
        self.assertEqual((told["rows"], told["recovered"]), (rows, False))
        self.assertFalse(os.path.exists(os.path.join(folder, name + ".log")))
        return rows

    def start(self, *words, **options):
        return subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)

    def kill(self, run, log_bytes):
        """Kills a run as soon as the log of a.h5 has so many bytes, or when it has ended. Whether it was still running."""
        running = until(run, lambda: size_of(self.path("a.h5.log")) >= log_bytes)
        run.kill()
        run.communicate()
        return running

    def same_series(self, one, other):
        a, b = series(self.path(one)), series(self.path(other))
        self.assertEqual(a.keys(), b.keys())
        for key, values in a.items():
            self.assertEqual(values.shape, b[key].shape, key)
            self.assertEqual(values.tobytes(), b[key].tobytes(), key)


class Content(Case):
    def test_is_the_table(self):
        """The quantities are those of the .csv file, to the last bit."""
        self.anagyre("run", "rattleback", "--t1", 20, "--set", "spin0=0.4", "-o", "a.h5")
        self.anagyre("run", "rattleback", "--t1", 20, "--set", "spin0=0.4", "-o", "a.csv")
        with open(self.path("a.csv"), newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        table = {name: np.array(column, dtype=float) for name, column in zip(header, zip(*rows))}
        with h5py.File(self.path("a.h5"), "r") as f:
            n = len(rows)
            self.assertEqual(f["t"].shape, (n,))
            self.assertEqual(f["state/R"].shape, (n, 3, 3))
            self.assertEqual(f["state/x"].shape, (n, 3))
            self.assertEqual(f["velocity/x'"].shape, (n, 3))
            self.assertEqual(f["t"].dtype, np.float64)
            for name, got in [("t", f["t"]), ("energy", f["energy"]), ("constraint_residual", f["constraint_residual"]),
                              ("spin", f["observables/spin"])]:
                self.assertTrue(np.array_equal(table[name], got[:]), name)
            for i in range(3):
                self.assertTrue(np.array_equal(table[f"Omega[{i + 1}]"], f["velocity/Omega"][:, i]))
                for k in range(3):
                    self.assertTrue(np.array_equal(table[f"R[{i + 1},{k + 1}]"], f["state/R"][:, i, k]))
            self.assertEqual(len([x for g in ("state", "velocity", "observables") for x in f[g]]) + 3, 11)

    def test_says_what_it_is(self):
        self.anagyre("run", "rattleback", "--t1", 80, "--rtol", "1e-9", "--set", "spin0=0.5", "--set", "m=1.0", "-o", "a.h5")
        version = json.loads(self.anagyre("version", "--json")[0])
        with h5py.File(self.path("a.h5"), "r") as f:
            about = {k: v.decode() if isinstance(v, bytes) else v for k, v in f.attrs.items()}
            self.assertEqual(about["format"], 1)
            for key, value in [("program", "anagyre"), ("version", version["version"]), ("commit", version["commit"]),
                               ("compiler", version["compiler"]), ("model", "rattleback"), ("end", "time reached")]:
                self.assertEqual(about[key], value)
            self.assertIn(about["engine"], ("compiled", "interpreted"))
            self.assertIn("-O", about["compiler_flags"] + "-O")
            self.assertEqual(about["complete"], 1)
            options = f["options"].attrs
            self.assertEqual((options["t0"], options["t1"], options["rtol"], options["method"]), (0, 80, 1e-9, b"dop853"))
            self.assertEqual(list(f["options/set"].asstr()), ["spin0=0.5", "m=1.0"])
            self.assertEqual(f["parameters/I1"][()], 0.55)
            text = f["model"][()].decode()
            self.assertIn("model rattleback", text)
            R = f["state/R"].attrs
            self.assertEqual((R["kind"], R["name"], R["space"], list(R["shape"])), (b"coordinate", b"R", b"SO3", [3, 3]))
            self.assertEqual(f["events/reversal"].shape, (1,))
            self.assertAlmostEqual(f["events/reversal"][0], 74.6982707186, 6)
            self.assertEqual(f["summary"].attrs["t"], 80)
            self.assertEqual(f["summary"].attrs["steps"], len(f["t"]) - 1)
        with open(self.path("again.nh"), "w", encoding="utf-8") as file:
            file.write(text)
        self.anagyre("run", "again.nh", "--t1", 80, "--rtol", "1e-9", "-o", "b.h5")
        self.same_series("a.h5", "b.h5")

    def test_same_run_same_bytes(self):
        for name in ("a.h5", "b.h5"):
            self.anagyre("run", "snakeboard", "--t1", 5, "--every", 0.1, "-o", name)
        with open(self.path("a.h5"), "rb") as a, open(self.path("b.h5"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_compressed(self):
        """The same numbers, in less room, for all readers; a continued file stays compressed."""
        run = ["run", "rattleback", "--every", 0.01]
        self.anagyre(*run, "--t1", 60, "-o", "plain.h5")
        self.anagyre(*run, "--t1", 60, "-o", "a.h5", "--compress")
        self.anagyre(*run, "--t1", 60, "-o", "b.h5", "--compress")
        self.same_series("plain.h5", "a.h5")
        with open(self.path("a.h5"), "rb") as a, open(self.path("b.h5"), "rb") as b:
            self.assertEqual(a.read(), b.read())
        self.assertLess(size_of(self.path("a.h5")), 0.9 * size_of(self.path("plain.h5")))
        with h5py.File(self.path("a.h5"), "r") as f:
            self.assertEqual((f["state/R"].compression, f["state/R"].shuffle), ("gzip", True))
        self.assertIn("compressed", self.anagyre("info", "a.h5")[0])
        self.assertNotIn("compressed", self.anagyre("info", "plain.h5")[0])
        for words in (["plot", "--term", "--y", "spin"], ["view", "-o", "page.html"]):
            self.anagyre(words[0], "a.h5", *words[1:])
        self.anagyre("run", "rattleback", "--every", 0.01, "--t1", 20, "-o", "part.h5", "--compress")
        self.anagyre("run", "--from", "part.h5", "--t1", 60)
        self.same_series("part.h5", "plain.h5")
        self.anagyre("run", "--from", "a.h5", "--t1", 61, "-o", "whole.h5")
        for name in ("part.h5", "whole.h5"):
            with h5py.File(self.path(name), "r") as f:
                self.assertEqual(f["t"].compression, "gzip")

    def test_compress_needs_a_file(self):
        for words in (["pendulum"], ["pendulum", "-o", "a.csv"], ["pendulum", "-o", "-"], ["--from", "a.csv"],
                      ["pendulum", "--sweep", "g=1:2:2", "-o", "a.json"]):
            self.assertIn("--compress applies to .h5 files", self.anagyre("run", *words, "--compress", code=2)[1])

    @unittest.skipUnless(shutil.which("h5dump"), "h5dump is not installed")
    def test_h5dump(self):
        self.anagyre("run", "knife_edge", "--t1", 3, "--every", 0.5, "-o", "a.h5")
        out = subprocess.run(["h5dump", "-d", "/t", "a.h5"], cwd=self.folder, capture_output=True, text=True, check=True).stdout
        self.assertIn("(0): 0, 0.5, 1, 1.5, 2, 2.5, 3", out)
        subprocess.run(["h5dump", "a.h5"], cwd=self.folder, capture_output=True, check=True)

    def test_family_backward_and_nothing(self):
        self.anagyre("run", "lattice", "--t1", 1, "-o", "a.h5")
        self.assertTrue(self.info("a.h5")["complete"])
        self.anagyre("run", "pendulum", "--t1", -2, "--every", 0.5, "-o", "b.h5")
        self.assertEqual(list(datasets(self.path("b.h5"))["t"]), [0, -0.5, -1, -1.5, -2])
        self.anagyre("run", "pendulum", "--t1", 0, "-o", "c.h5")
        self.assertEqual(list(datasets(self.path("c.h5"))["t"]), [0])

    def test_leaves_nothing_else(self):
        self.anagyre("run", "pendulum", "-o", "a.h5")
        self.assertEqual(os.listdir(self.folder), ["a.h5"])


OSCILLATORS = """model pair
param w = 1, twice = 2*w
config x in R, y in R, R in SO3 velocity Omega
lagrangian 1/2*(x'^2 + y'^2) - 1/2*(x^2 + w^2*y^2) + 1/2*dot(Omega, Omega)
observable both = [x, y]
section cut: y = 0 rising
start x = 1, y' = 1, Omega = e3
"""


class Batches(Case):
    """Many runs and sections: the rows of the table, and all about the members."""
    def setUp(self):
        super().setUp()
        with open(self.path("pair.nh"), "w", encoding="utf-8") as file:
            file.write(OSCILLATORS)

    def csv(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        return {k: [row[i] for row in rows] for i, k in enumerate(header)}

    def test_sweep(self):
        words = ["run", "pair.nh", "--sweep", "w=1:2:3", "--sweep", "x=0:1:4", "--t1", 5]
        self.anagyre(*words, "-o", "a.h5")
        self.anagyre(*words, "-o", "a.csv")
        table = self.csv("a.csv")
        with h5py.File(self.path("a.h5"), "r") as f:
            self.assertEqual((f.attrs["kind"], f.attrs["end"], f.attrs["complete"]), (b"batch", b"finished", 1))
            self.assertEqual(f["model"].asstr()[()], OSCILLATORS)
            for path, column in [("t", "t"), ("state/x", "x"), ("velocity/y'", "y'"), ("energy", "energy"), ("members/sweep/w", "w"),
                                 ("members/sweep/x", "start x"), ("members/start/state/x", "start x"), ("members/t", "t"), ("members/steps", "steps")]:
                self.assertEqual(list(f[path][:]), [float(v) for v in table[column]], path)
            self.assertEqual([e.decode() for e in f["members/end"][:]], table["end"])
            self.assertEqual(list(f["members/parameters/twice"][:]), [2*float(w) for w in table["w"]])
            self.assertEqual((f["state/R"].shape, f["members/start/state/R"].shape, f["observables/both"].shape), ((12, 3, 3), (12, 3, 3), (12, 2)))
            self.assertEqual(f["state/R"].attrs["unit"], b"of the model")
            self.assertEqual(list(f["members/start/state/R"].attrs["shape"]), [3, 3])
            self.assertEqual(sorted(f["parameters"]), ["twice", "w"])
            self.assertEqual([s.decode() for s in f["options/sweep"][:]], ["w=1:2:3", "x=0:1:4"])
            self.assertNotIn("member", f)
        info = self.info("a.h5")
        self.assertEqual((info["kind"], info["rows"], info["summary"]), ("batch", 12, {"members": 12, "failed": 0, "off_level": 0}))
        self.assertEqual(info["members"]["sweep"]["x"], [float(v) for v in table["start x"]])
        self.assertRegex(self.anagyre("info", "a.h5")[0], "rows +12, one per member")
        _, err = self.anagyre("run", "--from", "a.h5", code=2)
        self.assertIn("cannot be continued", err)
        done = subprocess.run(["h5dump", self.path("a.h5")], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0)

    def test_section(self):
        words = ["run", "pair.nh", "--section", "cut", "--level", "energy=1", "--set", "x'=0", "--set", "Omega=[0, 0, 0.1]", "--solve", "y'",
                 "--sweep", "x=-2:2:9", "--crossings", 7, "--columns", "x,y',R[1,1]"]
        self.anagyre(*words, "-o", "a.h5")
        self.anagyre(*words, "-o", "a.csv")
        table = self.csv("a.csv")
        with h5py.File(self.path("a.h5"), "r") as f:
            for path, column in [("member", "member"), ("crossing", "crossing"), ("t", "t"), ("state/x", "x"), ("velocity/y'", "y'")]:
                self.assertEqual(list(f[path][:]), [float(v) for v in table[column]], path)
            self.assertEqual(list(f["state/R"][:, 0, 0]), [float(v) for v in table["R[1,1]"]])
            self.assertNotIn("energy", f)
            n = f["members/crossings"][:]
            self.assertEqual((len(n), set(n), n.sum()), (9, {0, 7}, len(f["t"])))
            solved = f["members/solved/y'"][:]
            inside = n > 0
            self.assertTrue(np.isnan(solved[~inside]).all())
            np.testing.assert_allclose(solved[inside], np.sqrt(2*(1 - 0.005) - f["members/sweep/x"][:][inside]**2), rtol=1e-14)
            self.assertEqual({e.decode() for e in f["members/end"][:][~inside]}, {"outside the level"})
            self.assertEqual(list(f["members/final/state/x"][:][inside]), [x for x, k in zip(f["state/x"][:], f["crossing"][:]) if k == 7])
            self.assertEqual((f["options"].attrs["section"], f["options"].attrs["crossings"]), (b"cut", 7))
        self.assertRegex(self.anagyre("info", "a.h5")[0], "rows +[0-9]+, at the crossings of the section cut")
        self.anagyre(*words, "-o", "b.h5", "--threads", 1)
        with open(self.path("a.h5"), "rb") as a, open(self.path("b.h5"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_no_room(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        words = ["run", "pair.nh", "--section", "cut", "--sweep", "x=-2:2:20", "--crossings", 50]
        _, err = self.anagyre(*words, "-o", "a.h5", code=3, preexec_fn=limited)
        self.assertIn("File too large", err)
        self.assertEqual([x for x in os.listdir(self.folder) if x.endswith(".part")], [])

    def test_one_section(self):
        self.anagyre("run", "pair.nh", "--section", "cut", "--t1", 50, "-o", "a.h5")
        with h5py.File(self.path("a.h5"), "r") as f:
            self.assertEqual(f.attrs["kind"], b"trajectory")
            self.assertEqual(f["t"][:].tobytes(), f["events/cut"][:].tobytes())
            self.assertEqual((f["events/cut"].attrs["kind"], f["t"].attrs["unit"]), (b"section", b"of the model"))
            np.testing.assert_allclose(f["state/y"][:], 0, atol=1e-14)


class KilledBatches(Case):
    """Members are in the log as they finish, at least once a second."""
    def setUp(self):
        super().setUp()
        with open(self.path("pair.nh"), "w", encoding="utf-8") as file:
            file.write(OSCILLATORS)

    SWEEP = ["pair.nh", "--sweep", "w=1:2:3000", "--t1", "1500", "--columns", "x,y'", "--quiet"]
    CUT = ["pair.nh", "--section", "cut", "--sweep", "w=1:2:60", "--crossings", "3000", "--columns", "x,y'", "--quiet"]

    def start(self, *words, **options):
        def usual():  # a test may be run where they are ignored, and then they stay so
            for number in (signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1):
                signal.signal(number, signal.SIG_DFL)
        return super().start(*words, preexec_fn=usual, **options)

    def wait_for(self, run, output, log_bytes):
        return until(run, lambda: size_of(self.path(output + ".log")) >= log_bytes and catches(run, signal.SIGHUP))

    def read(self, name):
        """An output without what depends on the moment."""
        if name.endswith(".h5"):
            return {k: v.tobytes() for k, v in series(self.path(name)).items()}
        with open(self.path(name), encoding="utf-8") as file:
            if name.endswith(".csv"):
                return file.read()
            told = json.load(file)
        moment = ("seconds", "trajectories_per_second", "lanes", "warnings")  # long batches choose their lanes by measuring
        return {k: v for k, v in told.items() if k not in moment}

    def check(self, words, output, log_bytes, number):
        whole = "whole." + output.split(".")[1]
        if not os.path.exists(self.path(whole)):
            self.anagyre("run", *words, "-o", whole)
        for _ in range(20):  # until it is caught in the middle, however fast it is
            run = self.start("run", *words, "-o", output)
            caught = self.wait_for(run, output, log_bytes)
            run.send_signal(number)
            _, err = run.communicate(timeout=PATIENCE)
            if caught and run.returncode:
                break
        if number == signal.SIGKILL:
            before = self.content()
            told = self.info(output)
            self.assertEqual(self.content(), before)
            self.assertEqual((told["kind"], told["end"], told["recovered"]), ("batch", "not finished", True))
            ends = told["members"]["end"]
            self.assertTrue(set(ends) <= {"not finished", "time reached", "crossings reached"}, set(ends))
            if "--section" in words:  # points are there before members end
                self.assertGreater(told["rows"], 1000)
            else:
                self.assertLess(ends.count("not finished"), len(ends))
        else:
            self.assertEqual(run.returncode, 1)
            self.assertIn("stopped by SIG", err)
            if not output.endswith(".h5"):
                with open(self.path(output), encoding="utf-8") as file:
                    rows = file.read().split("\n")
                self.assertEqual((len(rows), rows[-1], {len(r.split(",")) for r in rows[:-1]}), (3002, "", {6}))
        self.anagyre("run", "--from", output, "--quiet")
        self.assertTrue(self.read(output) == self.read(whole))  # too long to be shown
        self.assertEqual([x for x in os.listdir(self.folder) if "log" in x or "part" in x], [])

    def test_sweep_killed(self):
        for output in ("a.h5", "a.csv", "a.json"):
            self.check(self.SWEEP, output, 700_000, signal.SIGKILL)

    def test_section_killed(self):
        for output in ("a.h5", "a.csv", "a.json"):
            self.check(self.CUT, output, 400_000, signal.SIGKILL)

    def test_signals(self):
        for number in (signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1):
            self.check(self.SWEEP, "a.h5", 700_000, number)
        os.remove(self.path("whole.h5"))
        self.check(self.CUT, "a.h5", 400_000, signal.SIGHUP)
        self.check(self.SWEEP, "a.csv", 700_000, signal.SIGHUP)

    def test_recover(self):
        run = self.start("run", *self.CUT, "-o", "a.h5")
        self.assertTrue(self.wait_for(run, "a.h5", 400_000))
        run.kill()
        run.communicate()
        rows = self.recover("a.h5")
        self.anagyre("run", *self.CUT, "-o", "whole.h5")
        with h5py.File(self.path("a.h5"), "r") as a, h5py.File(self.path("whole.h5"), "r") as b:
            self.assertEqual((len(a["t"]), a["members/crossings"][:].sum()), (rows, rows))
            member, crossing = b["member"][:], b["crossing"][:]
            have = {(m, c): i for i, (m, c) in enumerate(zip(a["member"][:], a["crossing"][:]))}
            places = [i for i in range(len(member)) if (member[i], crossing[i]) in have]
            self.assertEqual(len(places), rows)
            self.assertEqual(a["state/x"][:].tobytes(), b["state/x"][:][places].tobytes())
        self.anagyre("run", "--from", "a.h5", "--quiet")
        self.assertTrue(self.read("a.h5") == self.read("whole.h5"))

    def test_starts(self):
        with open(self.path("starts.csv"), "w", encoding="utf-8") as file:
            file.write("x,w\n" + "".join(f"{0.01*i},{1 + 0.001*i}\n" for i in range(200)))
        words = ["pair.nh", "--starts", "starts.csv", "--t1", "6000", "--set", "Omega=[0, 0, 0.5]", "--quiet"]
        self.anagyre("run", *words, "-o", "whole.h5")
        run = self.start("run", *words, "-o", "a.h5")
        self.assertTrue(self.wait_for(run, "a.h5", size_of(self.path("whole.h5"))//3))
        run.kill()
        run.communicate()
        os.remove(self.path("starts.csv"))  # its text is in the file
        self.anagyre("run", "--from", "a.h5", "--quiet")
        self.assertTrue(self.read("a.h5") == self.read("whole.h5"))

    def test_refused(self):
        self.anagyre("run", "pair.nh", "--sweep", "w=1:2:3", "--t1", 5, "-o", "a.h5")
        for words in (["--t1", 10], []):
            _, err = self.anagyre("run", "--from", "a.h5", *words, code=2)
            self.assertIn("continued", err)


class Info(Case):
    def test_tells(self):
        self.anagyre("run", "rattleback", "--t1", 80, "--every", 1, "-o", "a.h5")
        out, err = self.anagyre("info", "a.h5")
        for part in ("rattleback", "time reached", "81", "0 to 80", "reversal: 1", "/state/R", "3 x 3", "dop853", "format"):
            self.assertIn(part, out)
        self.assertEqual(err, "")
        told = self.info("a.h5")
        self.assertEqual((told["rows"], told["t_first"], told["t_last"], told["events"]), (81, 0, 80, {"reversal": 1}))
        self.assertEqual((told["complete"], told["running"], told["recovered"]), (True, False, False))
        self.assertEqual({q["name"]: q["shape"] for q in told["quantities"]}["R"], [3, 3])
        self.assertEqual(told["parameters"]["I1"], 0.55)
        self.assertEqual(told["options"]["every"], 1)
        self.assertIn("model rattleback", told["text"])

    def test_refuses(self):
        def wrong(name, *parts):
            for words in (["info", name], ["run", "--from", name, "--t1", "99"]):
                out, err = self.anagyre(*words, code=3)
                self.assertEqual(out, "")
                for part in parts:
                    self.assertIn(part, err)
        wrong("missing.h5", "missing.h5", "No such file")
        with open(self.path("text.h5"), "w", encoding="utf-8") as file:
            file.write("hello")
        wrong("text.h5", "HDF5")
        with h5py.File(self.path("other.h5"), "w") as f:
            f["x"] = [1, 2]
        wrong("other.h5", "not an anagyre result file")
        self.anagyre("run", "pendulum", "--every", 1, "-o", "newer.h5")
        for name in ("short.h5", "gone.h5"):
            shutil.copy(self.path("newer.h5"), self.path(name))
        with h5py.File(self.path("newer.h5"), "r+") as f:
            f.attrs["format"] = 2
        wrong("newer.h5", "format 2", "newer anagyre")
        with h5py.File(self.path("short.h5"), "r+") as f:
            energy = f["energy"]
            attributes = dict(energy.attrs)
            del f["energy"]
            f["energy"] = [1.0, 2.0]
            f["energy"].attrs.update(attributes)
        wrong("short.h5", "damaged")
        with h5py.File(self.path("gone.h5"), "r+") as f:
            del f["energy"]
        wrong("gone.h5", "damaged")
        told = json.loads(self.anagyre("info", "missing.h5", "--json", code=3)[0])
        self.assertIn("No such file", told["error"])

    def test_cut_or_changed_anywhere(self):
        """A damaged file is read or refused; it does not take the program down."""
        good = []
        for more in ([], ["--compress"]):
            self.anagyre("run", "pendulum", "--every", 1, "-o", "a.h5", *more)
            with open(self.path("a.h5"), "rb") as file:
                good.append(file.read())
        dice = random.Random(7)
        for i in range(some(60)):
            data = bytearray(good[i // 4 % 2])
            if i % 4 == 0:
                data = data[:dice.randrange(len(data))]
            else:
                for _ in range(3):
                    data[dice.randrange(len(data))] = dice.randrange(256)
            with open(self.path("b.h5"), "wb") as file:
                file.write(data)
            done = subprocess.run([PROGRAM, "info", "b.h5"], cwd=self.folder, capture_output=True, timeout=PATIENCE, check=False,
                                  env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})  # the library leaks then
            self.assertIn(done.returncode, (0, 3), done.stderr)


class Continued(Case):
    def check(self, model, options, times, end, engines=("interpreted", "compiled")):
        for engine in engines:
            whole = self.anagyre("run", model, *options, "--engine", engine, "--t1", end, "-o", "whole.h5", "--quiet", "--json")[0]
            self.anagyre("run", model, *options, "--engine", engine, "--t1", times[0], "-o", "part.h5", "--quiet")
            for t in [*times[1:], end]:
                out = self.anagyre("run", "--from", "part.h5", "--t1", t, "--engine", engine, "--json", "--quiet")[0]
            self.same_series("part.h5", "whole.h5")
            a, b = json.loads(out), json.loads(whole)
            for key in ("t", "state", "observables", "energy", "steps", "rejected", "end", "events", "energy_drift", "right_hand_sides"):
                self.assertEqual(a[key], b[key], f"{model} {options} {key}")
            self.assertTrue(self.info("part.h5")["complete"])

    def test_rattleback(self):
        self.check("rattleback", [], [0.3, 20, 74.7], 100)
        self.check("rattleback", ["--every", 0.07], [1, 33.3], 80)

    def test_truncated_ball(self):
        """Steps end at corners of the equations; the run is interrupted before, between and behind them."""
        self.check("truncated_ball", [], [0.36, 1.87, 4.1, 6.2, 7.77], 10)

    def test_knife_edge(self):
        """A basis that is renewed during the run; many events."""
        self.check("knife_edge", [], [1, 7.5, 20], 40)
        self.check("knife_edge", ["--every", 0.25], [1, 7.5], 20)

    def test_snakeboard(self):
        """Prescribed motions: the equations depend on time."""
        self.check("snakeboard", [], [1, 11.1], 30)
        self.check("snakeboard", ["--every", 0.1, "--method", "dopri5"], [1, 11.1], 20)

    def test_other_ways(self):
        self.check("rattleback", ["--dt", 0.01, "--method", "rk4"], [0.505, 2], 5)
        self.check("rattleback", ["--closure", "multipliers"], [1.5], 4, engines=["interpreted"])
        self.check("pendulum", ["--t0", 3], [2, 1], -4)
        self.check("pendulum", ["--set", "g=2"], [1e-9, 1e-3], 5)

    def test_engines_mix(self):
        self.anagyre("run", "rattleback", "--t1", 60, "-o", "whole.h5", "--engine", "compiled")
        self.anagyre("run", "rattleback", "--t1", 20, "-o", "part.h5", "--engine", "interpreted")
        self.anagyre("run", "--from", "part.h5", "--t1", 60, "--engine", "compiled")
        self.same_series("part.h5", "whole.h5")

    def test_into_other_files(self):
        self.anagyre("run", "rattleback", "--t1", 10, "-o", "part.h5")
        with open(self.path("part.h5"), "rb") as file:
            before = file.read()
        for name in ("b.h5", "b.csv", "b.json"):
            self.anagyre("run", "--from", "part.h5", "--t1", 20, "-o", name)
            self.anagyre("run", "rattleback", "--t1", 20, "-o", "whole" + name[1:])
        self.same_series("b.h5", "whole.h5")
        with open(self.path("b.csv"), encoding="utf-8") as a, open(self.path("whole.csv"), encoding="utf-8") as b:
            self.assertEqual(a.read(), b.read())
        with open(self.path("b.json"), encoding="utf-8") as a, open(self.path("whole.json"), encoding="utf-8") as b:
            self.assertEqual(json.load(a)["series"], json.load(b)["series"])
        with open(self.path("part.h5"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_interrupted(self):
        """Ctrl-C; then continued to the originally requested end."""
        run = self.start("run", *LONG, "--t1", "1e5", "-o", "a.h5")
        self.assertTrue(until(run, lambda: size_of(self.path("a.h5.log")) > 100_000 and catches(run, signal.SIGINT)))
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 1)
        told = self.info("a.h5")
        self.assertEqual(told["end"], "interrupted")
        end = told["t_last"] + 5
        self.anagyre("run", "--from", "a.h5", "--t1", end, "--quiet")
        self.anagyre("run", *LONG, "--t1", end, "-o", "whole.h5")
        self.same_series("a.h5", "whole.h5")

    def test_step_limit(self):
        self.anagyre("run", "rattleback", "--t1", 50, "--max-steps", 100, "-o", "a.h5", code=1)
        self.anagyre("run", "--from", "a.h5", "--max-steps", 200, code=1)
        self.anagyre("run", "--from", "a.h5", "--max-steps", 100000)
        self.anagyre("run", "rattleback", "--t1", 50, "-o", "whole.h5")
        self.same_series("a.h5", "whole.h5")

    def test_refused(self):
        self.anagyre("run", "rattleback", "--t1", 10, "-o", "a.h5")
        for words, part in [(["--t1", 5], "beyond"), ([], "give the new end time"), (["--t1", -5], "beyond"), (["rattleback", "--t1", 20], "replaces MODEL"),
                            (["--t1", 20, "--rtol", 1e-6], "--rtol"), (["--t1", 20, "--set", "m=2"], "--set"),
                            (["--t1", 20, "--every", 1], "--every"), (["--t1", 20, "--sweep", "m=1:2:3"], "--sweep")]:
            _, err = self.anagyre("run", "--from", "a.h5", *words, code=2)
            self.assertIn(part, err)
        self.anagyre("run", code=2)
        shutil.copy(self.path("a.h5"), self.path("endless.h5"))
        with h5py.File(self.path("endless.h5"), "r+") as f:
            f["options"].attrs["every"] = 1e-300
        _, err = self.anagyre("run", "--from", "endless.h5", "--t1", 20, code=2)
        self.assertIn("more than a billion rows", err)
        with open(self.path("stop.nh"), "w", encoding="utf-8") as file:
            file.write("model stop\nconfig x in R\nlagrangian 1/2*x'^2\nevent wall: x = 1 terminal\nstart x' = 1\n")
        self.anagyre("run", "stop.nh", "--t1", 5, "-o", "b.h5")
        _, err = self.anagyre("run", "--from", "b.h5", "--t1", 9, code=2)
        self.assertIn("ended by itself (event)", err)


class Killed(Case):
    def test_at_random_moments(self):
        """Whenever it dies: what file there is can be read, nothing that was in it gets lost, and the run can go on."""
        dice = random.Random(os.environ.get("AG_SEED", "1"))
        self.anagyre("run", *LONG, "--t1", 40, "-o", "whole.h5")
        whole, size = series(self.path("whole.h5")), size_of(self.path("whole.h5"))
        for i in range(some(14)):
            for name in os.listdir(self.folder):
                if name.startswith("a."):
                    os.remove(self.path(name))
            run = self.start("run", *LONG, "--t1", 40, "-o", "a.h5")
            self.kill(run, int(dice.uniform(-0.1, 1) * size))
            before = -1
            if os.path.exists(self.path("a.h5")):
                before = len(series(self.path("a.h5"))["t"])
            if os.path.exists(self.path("a.h5.log")) or before >= 0:
                done = subprocess.run([PROGRAM, "info", "a.h5", "--json"], cwd=self.folder, capture_output=True, text=True, check=False)
                if done.returncode == 3 and before < 0:
                    continue  # nothing was there yet
                self.assertEqual(done.returncode, 0, done.stderr)
                told = json.loads(done.stdout)
                self.assertGreaterEqual(told["rows"], before)
                self.assertEqual(self.recover("a.h5"), told["rows"])
                got = series(self.path("a.h5"))
                for key in got:
                    self.assertEqual(got[key].tobytes(), whole[key][:len(got[key])].tobytes(), key)
                if told["continue_from"] is None:
                    self.assertEqual(told["rows"], 0)
                    self.anagyre("run", "--from", "a.h5", code=2)
                elif not told["complete"] and i % 2:
                    self.anagyre("run", "--from", "a.h5", "--quiet")
                    self.same_series("a.h5", "whole.h5")

    def test_while_going_on(self):
        """A continued run that dies never loses rows of the file it continues."""
        dice = random.Random(5)
        self.anagyre("run", *LONG, "--t1", 30, "-o", "first.h5")
        self.anagyre("run", *LONG, "--t1", 60, "-o", "whole.h5")
        rows, size = len(series(self.path("first.h5"))["t"]), size_of(self.path("whole.h5"))
        for _ in range(some(8)):
            shutil.copy(self.path("first.h5"), self.path("a.h5"))
            run = self.start("run", "--from", "a.h5", "--t1", 60, "--quiet")
            self.kill(run, int(dice.uniform(-0.1, 1) * size))
            told = self.info("a.h5")
            self.assertGreaterEqual(told["rows"], rows)
            if told["t_last"] < 60:
                self.anagyre("run", "--from", "a.h5", "--t1", 60, "--quiet")
            self.same_series("a.h5", "whole.h5")

    def test_log_torn_anywhere(self):
        run = self.start("run", *LONG, "--t1", 1e5, "-o", "a.h5")
        self.assertTrue(self.kill(run, 500_000))
        with open(self.path("a.h5.log"), "rb") as file:
            log = file.read()
        os.remove(self.path("a.h5"))
        last = 0
        for part in (0.2, 0.5, 0.7, 0.999):
            with open(self.path("a.h5.log"), "wb") as file:
                file.write(log[:int(part * len(log))])
            out, err = self.anagyre("info", "a.h5.log")
            self.assertIn("recovered", out + err)
            rows = self.recover("a.h5")
            got = series(self.path("a.h5"))
            self.assertEqual(len(got["t"]), rows)
            self.assertGreater(rows, last)
            last = rows
        self.anagyre("run", *LONG, "--t1", got["t"][-1] + 5, "-o", "whole.h5")
        for key, values in series(self.path("whole.h5")).items():
            self.assertEqual(got[key].tobytes(), values[:len(got[key])].tobytes(), key)

    def test_while_it_runs(self):
        run = self.start("run", *LONG, "--t1", 1e5, "-o", "a.h5")
        try:
            self.assertTrue(until(run, lambda: os.path.exists(self.path("a.h5"))))
            told = self.info("a.h5")
            self.assertTrue(told["running"])
            self.assertEqual(told["end"], "not finished")
            _, err = self.anagyre("run", "pendulum", "-o", "a.h5", code=3)
            self.assertIn("another run", err)
            _, err = self.anagyre("run", "--from", "a.h5", "--t1", 2e6, code=3)
            self.assertIn("still being written", err)
            self.assertIsNone(run.poll())
        finally:
            run.kill()
            run.communicate()


class Full(Case):
    def check_kept(self, folder):
        """A readable file; and with room again, everything."""
        self.assertGreaterEqual(len(series(os.path.join(folder, "a.h5"))["t"]), 1)
        self.assertEqual([x for x in os.listdir(folder) if x.endswith(".part")], [])

    def test_limit_on_file_sizes(self):
        self.anagyre("run", *LONG, "--t1", 40, "-o", "whole.h5")
        for limit in (170_000, 1_000_000, 3_000_000):  # the first rows and their checkpoint take about 150,000 bytes
            def limited(limit=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            _, err = self.anagyre("run", *LONG, "--t1", 40, "-o", "a.h5", code=3, preexec_fn=limited)
            self.assertIn("File too large", err)
            self.check_kept(self.folder)
            told = self.info("a.h5")
            self.assertGreater(told["rows"], limit // 250 // 2)
            got, whole = series(self.path("a.h5")), series(self.path("whole.h5"))
            for key in got:
                self.assertEqual(got[key].tobytes(), whole[key][:len(got[key])].tobytes(), key)
            self.anagyre("run", "--from", "a.h5", "--quiet")
            self.same_series("a.h5", "whole.h5")

    def test_no_room_at_all(self):
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        _, err = self.anagyre("run", "rattleback", "-o", "a.h5", code=3, preexec_fn=limited)
        self.assertIn("cannot write a.h5", err)
        _, err = self.anagyre("run", "rattleback", "-o", "nowhere/a.h5", code=3)
        self.assertIn("No such file", err)

    def small_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, check=False)
        if mounted.returncode:
            self.skipTest("no small disk can be made here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        return disk

    def test_batch_on_a_small_disk(self):
        """The log is full before all members are done: what is said is so, and the rest is computed where there is room."""
        sweep = ("rattleback", "--t1", 1, "--sweep", "spin0=-0.5:0.5:6000", "--engine", "interpreted", "--columns", "R,x,Omega")
        disk = self.small_disk()
        _, err = self.anagyre("run", *sweep, "-o", "a.csv", code=3, cwd=disk)
        self.assertRegex(err, r"cannot write a\.csv: No space left on device")
        self.assertNotIn("signal", err)
        self.assertNotIn("first 0 rows", err)
        done = int(re.search(r"stopped by the error above: (\d+) of 6000 members were finished", err)[1])
        self.assertGreater(done, 0)
        for name in os.listdir(disk):
            shutil.copy(os.path.join(disk, name), self.path(name))
        self.anagyre("run", "--from", "a.csv", "--quiet")
        self.anagyre("run", *sweep, "-o", "whole.csv")
        with open(self.path("a.csv"), "rb") as a, open(self.path("whole.csv"), "rb") as whole:
            self.assertEqual(a.read(), whole.read())

    def test_table_on_a_small_disk(self):
        """All members are done and in the log, but there is no room for the table; it is written where there is."""
        sweep = ("rattleback", "--t1", 1, "--sweep", "spin0=-0.5:0.5:4000", "--engine", "interpreted", "--columns", "R,x,Omega")
        disk = self.small_disk()
        for name in ("a.csv", "a.json"):
            _, err = self.anagyre("run", *sweep, "-o", name, code=3, cwd=disk)
            self.assertIn(f"`anagyre run --from {name}` writes it", err)
            self.assertNotIn("stopped", err)
            for left in os.listdir(disk):
                shutil.move(os.path.join(disk, left), self.path(left))
            self.anagyre("run", "--from", name, "--quiet")
            self.assertEqual([x for x in os.listdir(self.folder) if x.startswith(name + ".")], [])
            self.anagyre("run", *sweep, "-o", "whole" + name[1:])
        with open(self.path("a.csv"), "rb") as a, open(self.path("whole.csv"), "rb") as whole:
            self.assertEqual(a.read(), whole.read())
        with open(self.path("a.json"), "rb") as a, open(self.path("whole.json"), "rb") as whole:
            self.assertEqual(json.load(a)["columns"], json.load(whole)["columns"])

    def test_small_disk(self):
        disk = self.small_disk()
        _, err = self.anagyre("run", *LONG, "--t1", 400, "-o", "a.h5", code=3, cwd=disk)
        self.assertIn("No space left on device", err)
        self.check_kept(disk)
        rows = len(series(os.path.join(disk, "a.h5"))["t"])
        before = self.content(disk)
        self.assertGreater(self.info("a.h5", cwd=disk)["rows"], rows)  # those in the log
        _, err = self.anagyre("info", "--recover", "a.h5", code=3, cwd=disk)
        self.assertIn("No space left", err)
        _, err = self.anagyre("run", "--from", "a.h5", code=3, cwd=disk)
        self.assertIn("No space left", err)
        self.assertEqual(self.content(disk), before)
        for name in os.listdir(disk):
            shutil.copy(os.path.join(disk, name), self.path(name))
        self.assertGreater(self.info("a.h5")["rows"], rows)
        end = self.info("a.h5")["t_last"] + 1
        self.anagyre("run", "--from", "a.h5", "--t1", end, "--quiet")
        self.anagyre("run", *LONG, "--t1", end, "-o", "whole.h5")
        self.same_series("a.h5", "whole.h5")


if __name__ == "__main__":
    unittest.main()
