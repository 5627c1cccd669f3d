#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""foreign_test.py PROGRAM COMPILER [unittest arguments]: texts that others wrote stay texts.

Titles and names of a model in emitted C, LaTeX and JSON; control characters of models, result files and paths in
messages and in `info`."""
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import unittest

import h5py
import numpy

COMPILER = sys.argv.pop(2)
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, PROGRAM  # noqa: E402 (takes the program from the arguments)
from part import some  # noqa: E402

EVIL = ["*/ int evil = 1; /*", "*//*/ int evil; /*/", "/*", "*", "/", "a *\\", "??/", "*??/", "what??'(??)", "\\", '"; evil(); "',
        "*\\/ evil", "//\\", "#include <evil.h>", "%s%n", "\u00e9\u2020\U0001f600", "`evil`", "$(evil)", "}", "\\input{evil}"]


def tokens(text):
    """The C text without its comments, its strings emptied, after the splices and trigraphs of C99."""
    for code, char in zip("=/'()!<>-", "#\\^[]|{}~"):
        text = text.replace("??" + code, char)
    text = text.replace("\\\n", "")
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(\\.|[^"\\])*"', lambda m: '""' if m[0][0] == '"' else " ", text, flags=re.S)


class Emitted(Case):
    def source(self, title, name="m", words=("--main",)):
        text = f"model {name} \"{title.replace(chr(34), chr(34) * 2)}\"\nconfig x in R\nlagrangian x'^2/2 - x^2/2\nstart x = 1\n"
        return self.anagyre("emit", "-", *words, stdin=text.encode())[0]

    def test_titles_are_comments(self):
        plain = tokens(self.source("")).split()
        rng = random.Random(1)
        titles = EVIL + ["".join(rng.choice("*/\\?\"'%ev ") for _ in range(12)) for _ in range(some(60))]
        for title in titles:
            self.assertEqual(tokens(self.source(title)).split(), plain, title)

    def test_it_compiles(self):
        for title in EVIL[:12]:
            path = self.path("m.c")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.source(title))
            done = subprocess.run([COMPILER, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
                                   "-fsyntax-only", path], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), title)

    def test_names_are_identifiers(self):
        """Names of models that C, its library or the emitted text also use."""
        for name in ["ag", "AG", "main", "int", "V", "VI", "v", "m.x", "e1x", "units", "state", "memcpy", "a" * 64]:
            path = self.path("m.c")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.source("", name))
            done = subprocess.run([COMPILER, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
                                   path, "-lm", "-o", self.path("m")], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)

    def test_latex_and_json(self):
        for title in EVIL:
            text = f"model m \"{title.replace(chr(34), chr(34) * 2)}\"\nconfig x in R\nlagrangian x'^2/2\n"
            out, _ = self.anagyre("show", "-", "--latex", stdin=text.encode())
            for line in out.splitlines():  # the title is in a comment, and nowhere else
                self.assertTrue(line.startswith("%") or "evil" not in line, line)
            out, _ = self.anagyre("check", "-", "--json", stdin=text.encode())
            self.assertEqual(json.loads(out)["title"], title)


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")


class Shown(Case):
    def clean(self, *texts):
        for text in texts:
            self.assertIsNone(CONTROL.search(text), repr(text))

    def test_result_file(self):
        """Every text of a result file in turn, replaced by terminal codes."""
        with open(self.path("m.nh"), "w", encoding="utf-8") as file:
            file.write("model m \"a title\"\nparam k = 1\nconfig x in R\nlagrangian x'^2/2 - k*x^2/2\nstart x = 1\nevent up: x = 0.5\n")
        self.anagyre("run", "m.nh", "--t1", "1", "-o", "r.h5", "--set", "k=2")
        evil = "\x1b]0;t\x07\x1b[31m\x08\r\n\u202e\u009b1m"
        texts = []
        with h5py.File(self.path("r.h5")) as file:
            texts = [("/", key) for key, value in file.attrs.items() if isinstance(value, (str, bytes))]
            file.visititems(lambda name, item: texts.extend(
                (name, key) for key, value in item.attrs.items() if isinstance(value, (str, bytes))))
        self.assertIn(("/", "title"), texts)
        self.assertGreater(len(texts), 15)
        for name, key in texts:
            shutil.copy(self.path("r.h5"), self.path("p.h5"))
            with h5py.File(self.path("p.h5"), "r+") as file:
                file[name].attrs[key] = numpy.bytes_(evil.encode())
            for words in (["info", "p.h5"], ["info", "p.h5", "--json"], ["run", "--from", "p.h5", "--t1", "2"]):
                done = subprocess.run([PROGRAM, *words], capture_output=True, cwd=self.folder)
                self.assertIn(done.returncode, (0, 1, 2, 3), words)
                self.clean(done.stdout.decode(), done.stderr.decode())
                if words == ["info", "p.h5"] and key == "title":
                    self.assertIn("\\x1b]0;t\\x07", done.stdout.decode())

    def test_models_and_paths(self):
        for name, text in [("a\x1b[31m.nh", "model m\nconfig x in Q\n"), ("b\nc.nh", "model\n"), ("d.nh", "model m \x1b\n"),
                           ("e.nh", "model m # \u202e\n"), ("f.nh", "model m \"\u009b\"\n"), ("g.nh", "model m\nparam \u2028 = 1\n")]:
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
            out, err = self.anagyre("check", "./" + name, code=2)
            self.clean(out, err)
            out, err = self.anagyre("check", "./" + name, "--json", code=2)
            self.clean(out, err)
        for words in (["run", "./no\x1b[1m.nh"], ["r\x1bun"], ["run", "pendulum", "--t1", "1\x1b"], ["info", "\x1b.h5"],
                      ["run", "pendulum", "--set", "m\x1b=1"], ["run", "pendulum", "--starts", "\x1b.csv"],
                      ["run", "pendulum", "--sweep", "m\x1b=1:2:3"], ["run", "pendulum", "-o", "/\x1b/x.csv"]):
            done = subprocess.run([PROGRAM, *words], capture_output=True, cwd=self.folder)
            self.assertIn(done.returncode, (2, 3), words)
            self.clean(done.stdout.decode(), done.stderr.decode())


class Deep(Case):
    NESTED = {"parentheses": "(" * 195 + "x" + ")" * 195, "signs": "-" * 195 + "x", "calls": "sin(" * 190 + "x" + ")" * 190,
              "lists": "[" * 190 + "x" + "]" * 190 + "[1]", "branches": "(if x > 0 then " * 90 + "x" + " else 0)" * 90,
              "powers": "x" + "^(1 + x" * 90 + ")" * 90, "sum": " + ".join(["x*sin(x)"] * 3000)}

    def test_small_stacks(self):
        """Deep nesting on a small stack is a result or a message, in every verb."""
        texts = {name: f"model m\nconfig x in R\nlagrangian x'^2/2 - ({e})\nstart x = 0.5\n" for name, e in self.NESTED.items()}
        lets = "".join(f"let f{i}(u) = f{i - 1}(u) + 1\n" for i in range(1, 480))
        texts["lets"] = f"model m\nconfig x in R\nlet f0(u) = u*sin(u)\n{lets}lagrangian x'^2/2 - f200(x)\n"
        chain = "".join(f"let a{i} = sin(a{i - 1})\n" for i in range(1, 2000))
        texts["chain"] = f"model m\nconfig x in R\nlet a0 = x\n{chain}lagrangian x'^2/2 - a1999\n"
        for kilobytes in (96, 128, 192):
            def small():
                resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, kilobytes << 10))
            try:
                subprocess.run([PROGRAM, "version"], preexec_fn=small, capture_output=True, check=True)
            except (OSError, subprocess.SubprocessError):
                continue  # a program with sanitizers needs more to begin with
            for name, text in texts.items():
                for words in (["check"], ["show"], ["emit"], ["run", "--t1", "0.1"]):
                    done = subprocess.run([PROGRAM, words[0], "-", *words[1:]], input=text.encode(), capture_output=True, preexec_fn=small)
                    self.assertIn(done.returncode, (0, 2), (kilobytes, name, words, done.stderr[:300]))
                    if done.returncode:
                        self.assertRegex(done.stderr.decode(), r"nested \d+ deep, too deep for the small stack given")


if __name__ == "__main__":
    unittest.main()
