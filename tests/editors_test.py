#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""editors_test.py PROGRAM SOURCE: the syntax files for vim and VS Code.

They are what tools/syntax.py makes from the tables, and know the words that the program lists. The grammar for VS Code
marks every statement of every shipped model. A real vim colours a model, where vim is installed."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
del sys.argv[1:3]
EDITORS = os.path.join(SOURCE, "editors")
MODELS = sorted(glob.glob(os.path.join(SOURCE, "models", "*.nh")))
GRAMMAR = os.path.join(EDITORS, "vscode", "syntaxes", "anagyre.tmLanguage.json")
MODEL = """model m "a title"   # a comment
param m = 1.5e-3
config R in SO3 velocity Omega
lagrangian sin(m)*pi
experiment W
"""
SHOWN = {(1, 1): "Statement", (1, 9): "String", (1, 22): "Comment", (2, 1): "Statement", (2, 7): "", (2, 11): "Number",
         (3, 10): "Clause", (3, 13): "Space", (3, 8): "", (3, 17): "Clause", (4, 12): "Function", (4, 19): "Constant",
         (5, 1): "Reserved"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def has_vim():
    return shutil.which("vim") and b"+syntax" in subprocess.run(["vim", "--version"], capture_output=True, check=False).stdout


class Editors(unittest.TestCase):
    def test_made(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tools", "syntax.py"), SOURCE, "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_words(self):
        """All words that `anagyre list words` lists, in both files, and words inside of statements."""
        out = subprocess.run([PROGRAM, "list", "words", "--json"], check=True, capture_output=True).stdout
        words = json.loads(out)["words"] + ["transport", "potential", "frozen", "pathwise", "turned", "mark", "colour"]
        self.assertGreater(len(words), 50)
        for path in (GRAMMAR, os.path.join(EDITORS, "vim", "syntax", "anagyre.vim")):
            missing = set(words) - set(re.findall(r"\w+", read(path)))
            self.assertEqual(missing, set(), path)

    def test_grammar(self):
        """The first pattern that matches in column 1 of a statement is the one of statements."""
        patterns = [(p["name"], re.compile(p["match"])) for p in json.loads(read(GRAMMAR))["patterns"]]
        self.assertTrue(MODELS)
        for path in MODELS:
            for line in read(path).splitlines():
                if line[:1].isalpha():
                    first = next((name for name, pattern in patterns if pattern.match(line)), None)
                    self.assertEqual(first, "keyword.control.statement.anagyre", (path, line))

    def test_package(self):
        package = json.loads(read(os.path.join(EDITORS, "vscode", "package.json")))
        parts = package["contributes"]
        for path in (parts["languages"][0]["configuration"], parts["grammars"][0]["path"]):
            json.loads(read(os.path.join(EDITORS, "vscode", path)))

    @unittest.skipUnless(has_vim(), "no vim with syntax files is installed")
    def test_vim(self):
        folder = tempfile.mkdtemp(prefix="ag_vim_")
        self.addCleanup(shutil.rmtree, folder)
        with open(os.path.join(folder, "m.nh"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        ask = [f"call add(out, '{row},{col},' .. synIDattr(synID({row},{col},1),'name'))" for row, col in SHOWN]
        script = ["set nocompatible", f"set runtimepath^={EDITORS}/vim", "filetype plugin on", "syntax on", "edit m.nh",
                  "let out = [&filetype]", *ask, "call writefile(out, 'out')", "qall!"]
        with open(os.path.join(folder, "script.vim"), "w", encoding="utf-8") as file:
            file.write("\n".join(script) + "\n")
        subprocess.run(["vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", "script.vim"], cwd=folder,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        lines = read(os.path.join(folder, "out")).split()
        self.assertEqual(lines[0], "anagyre")
        shown = {tuple(map(int, line.split(",")[:2])): line.split(",")[2].removeprefix("anagyre") for line in lines[1:]}
        self.assertEqual(shown, SHOWN)


if __name__ == "__main__":
    unittest.main()
