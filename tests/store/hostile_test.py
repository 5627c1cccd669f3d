#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_test.py PROGRAM: result files that are valid HDF5, made by someone who means harm.

Every reader refuses them with exit code 3 and a message, in time; none of them reads or waits for other files."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from waiting import PATIENCE  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
READERS = ["info FILE", "info FILE --json", "plot FILE --term", "view FILE -o new.html",
           "run --from FILE --t1 3 -o new.csv --engine interpreted --quiet"]


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ag_hostile_")
        cls.run_words("run pendulum --t1 1 --every 0.1 -o good.h5 --quiet --engine interpreted")
        os.mkfifo(os.path.join(cls.folder, "pipe"))  # nobody writes to it: whoever opens it waits for ever

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_words(cls, words):
        return subprocess.run([PROGRAM, *words.split()], cwd=cls.folder, capture_output=True, text=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL, check=False)

    def make(self, change):
        """A copy of the good file with a change."""
        path = os.path.join(self.folder, "bad.h5")
        shutil.copy(os.path.join(self.folder, "good.h5"), path)
        with h5py.File(path, "r+") as file:
            change(file)

    def refused(self, change, *parts, code=3):
        self.make(change)
        for words in READERS:
            done = self.run_words(words.replace("FILE", "bad.h5"))
            with self.subTest(words):
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIsNone(re.search("Sanitizer|runtime error", done.stderr), done.stderr)
                for part in parts:
                    self.assertIn(part, done.stderr)

    @staticmethod
    def replaced(make):
        """The change that puts another dataset in the place of the energy."""
        def change(file):
            old = file["energy"]
            attributes, shape = dict(old.attrs), old.shape
            del file["energy"]
            make(file, "energy", shape).attrs.update(attributes)
        return change

    def test_data_in_other_files(self):
        for path in ("/etc/passwd", "/dev/zero", "pipe"):
            self.refused(self.replaced(lambda f, name, shape, path=path: f.create_dataset(
                name, shape=shape, dtype="f8", external=[(path, 0, h5py.h5f.UNLIMITED)])), "other files")
        self.refused(lambda f: f.create_dataset("notes", shape=(9,), dtype="i8", external=[("pipe", 0, 72)]), "other files")

    def test_virtual_data(self):
        def virtual(source):
            def make(f, name, shape):
                layout = h5py.VirtualLayout(shape=shape, dtype="f8")
                layout[:] = h5py.VirtualSource(source, name, shape=shape)
                return f.create_virtual_dataset(name, layout)
            return make
        for source in ("pipe", "bad.h5", ".", "good.h5"):
            self.refused(self.replaced(virtual(source)), "other files")

    def test_links(self):
        """What links lead to is not looked at."""
        def change(f):
            f["out"] = h5py.ExternalLink("pipe", "/")
            f["around"] = h5py.SoftLink("/around")
            f["up"] = h5py.SoftLink("/")
        self.make(change)
        for words in READERS:
            self.assertEqual(self.run_words(words.replace("FILE", "bad.h5")).returncode, 0, words)

    def test_width_of_a_row(self):
        """Columns that are narrow enough each; the sum of their widths is 2^32 + 1, or 2^31, or a little less."""
        for total in (2**32 + 1, 2**31, 2**31 - 1, 2**25):
            def change(f, total=total):
                found = []
                f.visititems(lambda _, x: found.append(x) if "column" in x.attrs else None)
                rows, left = found[0].shape[0], total - sum(int(np.prod(x.shape[1:], dtype=int)) for x in found)
                for k in range(len(found), 1000):
                    sides = (4096, 4095) if left >= 4096 * 4095 else (1024, left // 1024) if left >= 1024 else (1, left)
                    x = f.create_dataset(f"wide{k}", shape=(rows, *sides), dtype="f8", chunks=(1, 1, min(64, sides[1])))
                    x.attrs["column"] = np.int64(k)
                    left -= sides[0] * sides[1]
                    if not left:
                        break
            self.refused(change, "too large")

    def test_empty_sides(self):
        """A parameter whose first two sides promise values that are not there is not looked at."""
        def change(f):
            f["parameters"].create_dataset("k", shape=(4000, 4000, 0), dtype="f8")
            f["parameters"].create_dataset("n", shape=(3, 0), dtype="i8")
            f["options"].attrs.create("u", shape=(100, 100, 0), dtype="f8", data=np.zeros((100, 100, 0)))
        self.make(change)
        for words in READERS:
            done = self.run_words(words.replace("FILE", "bad.h5"))
            self.assertEqual(done.returncode, 0, words + done.stderr)

    def test_what_is_promised(self):
        """Sizes beyond all memory, without a byte behind them."""
        for shape in ((2**50,), (2**20, 2**20, 2**20), (2**31, 2)):
            self.make(lambda f, s=shape: f["parameters"].create_dataset("k", shape=s, dtype="f8", chunks=tuple(min(x, 64) for x in s)))
            for words in READERS:
                done = self.run_words(words.replace("FILE", "bad.h5"))
                self.assertIn(done.returncode, (0, 3), words + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
