#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view_test.py PROGRAM [unittest arguments]: `anagyre view` without a browser: every shipped model, and what goes wrong."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from part import part  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))


def anagyre(*words, folder="."):
    return subprocess.run([PROGRAM, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)


WITHOUT = "built without the page" in anagyre("view", "pendulum", "-o", "/dev/null/x.html").stderr


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def view(self, *words, code=0):
        done = anagyre("view", *words, folder=self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def page(self, name):
        """The data of a page."""
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            found = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)
        return json.loads(found.group(1))


class Without(Case):
    @unittest.skipUnless(WITHOUT, "this program has the page")
    def test_says_what_to_install(self):
        done = self.view("pendulum", code=3)
        self.assertIn("npm", done.stderr)


@unittest.skipIf(WITHOUT, "this program was built without the page")
class View(Case):
    def test_every_shipped_model(self):
        for name in part(json.loads(anagyre("list", "models", "--json").stdout)["models"]):
            name = name["name"] if isinstance(name, dict) else name
            with self.subTest(name):
                made = json.loads(self.view(name, "--t1", "1", "--noise", "off", "--json", "--quiet").stdout)
                page = self.page(f"{name}.html")
                self.assertEqual(page["format"], 1)
                self.assertLess(made["bytes"], 4e6)
                self.assertGreater(len(page["runs"][0]["panels"]), 0)
                self.assertTrue(page["equations"], "no equations")

    def test_file_keeps_what_was_set(self):
        anagyre("run", "euler_disk", "--t1", "2", "--every", "0.01", "--set", "m=3", "-o", "a.h5", folder=self.folder)
        self.view("a.h5")
        page = self.page("a.html")
        self.assertIn(["m", "3"], page["params"])
        self.assertEqual(page["runs"][0]["rows"], 201)
        self.assertIn("coin", {thing["name"] for thing in page["runs"][0]["things"]})

    def test_backward(self):
        self.view("euler_disk", "--t1", "-2", "-o", "b.html")
        time = self.page("b.html")["runs"][0]["time"]
        self.assertEqual([time["from"], time["to"]], [-2, 0])

    def test_wrong_use(self):
        run = ("run", "rattleback", "--t1", "100", "-o")
        anagyre(*run, "a.h5", folder=self.folder)
        anagyre("run", "pendulum", "--t1", "20", "--sweep", "theta0=0.1:1:4", "-o", "sweep.h5", folder=self.folder)
        with open(os.path.join(self.folder, "one.csv"), "w", encoding="utf-8") as file:
            file.write("t,x\n0,1\n")
        with open(os.path.join(self.folder, "text.h5"), "w", encoding="utf-8") as file:
            file.write("no result file")
        cases = [
            (("euler_disk", "-o", "a.png"), 2, "ends with .html"),
            (("euler_dsk",), 2, "euler_disk"),
            (("a.h5", "--set", "m=2"), 2, "--set"),
            (("missing.h5",), 3, "missing.h5"),
            (("text.h5",), 3, "text.h5"),
            (("one.csv",), 1, "no motion"),
            (("euler_disk", "-o", "no/such/folder.html"), 3, "folder.html"),
            (("a.h5",) * 17, 2, "unexpected"),  # 16 at most
        ]
        for words, code, message in cases:
            with self.subTest(words):
                self.assertIn(message, self.view(*words, code=code).stderr)
        done = self.view("sweep.h5", code=2)
        self.assertIn("anagyre plot", done.stderr)


if __name__ == "__main__":
    unittest.main()
