#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion_test.py PROGRAM [unittest arguments]: completion of command lines.

A real bash with readline runs in a pseudo-terminal. A line is typed, the completion key is pressed, and the line that
stands there is printed by putting `printf '<%s>\\n'` before it. zsh is asked through its own completion system where it is
installed; otherwise those tests are skipped."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
PATIENCE = 120  # seconds until a shell that says nothing has failed
ALL = "\x1b*"  # readline: insert all possible completions
TAB = "\t"


def words(*line):
    """What `completion words` prints: candidates without their explanations."""
    out = subprocess.run([PROGRAM, "completion", "words", "--", *line], check=True, capture_output=True, text=True).stdout
    return [x.split("\t")[0] for x in out.splitlines()]


class Shell:
    """A shell in a pseudo-terminal."""

    def __init__(self, argv, env, folder):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        self.text = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def until(self, pattern):
        """Reads until the pattern has been printed, and gives its match."""
        end = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{pattern} was not printed, but: {self.text!r}")
            self.text += os.read(self.fd, 65536).decode(errors="replace")
        self.text = self.text[found.end():]
        return found

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ag_completion_")
        for name in ("mine.nh", "mine.h5", "notes.txt"):
            with open(os.path.join(cls.folder, name), "w", encoding="utf-8") as file:
                file.write("model mine\nparam mass = 1, massive = 2\nconfig x in R\nlagrangian mass/2*x'^2*massive\n")
        os.mkdir(os.path.join(cls.folder, "more"))
        env = {"PATH": f"{os.path.dirname(PROGRAM)}:/usr/bin:/bin", "TERM": "dumb", "HOME": cls.folder, "LC_ALL": "C",
               "PS1": "> ", "COLUMNS": "1000"}
        cls.shell = Shell(["bash", "--norc", "--noprofile", "-i"], env, cls.folder)
        cls.shell.send("bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; stty cols 2000\n")
        cls.shell.send("source <(anagyre completion bash); printf 're%s\\n' ady\n")
        cls.shell.until("ready\r\n")

    @classmethod
    def tearDownClass(cls):
        cls.shell.close()
        shutil.rmtree(cls.folder)

    def complete(self, line, key=TAB):
        """The words of the line after the key, as the shell would pass them on."""
        self.shell.send(line + key + "\x01printf '<%s>' \x05; printf '=%s\\n' done\n")
        text = self.shell.until(r"\n((?:<[^\n]*)?)=done\r\n").group(1)
        return re.findall(r"<(.*?)>", text)[1:]

    def test_verb(self):
        self.assertEqual(self.complete("anagyre sho"), ["show"])
        verbs = subprocess.run([PROGRAM, "help"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(sorted(self.complete("anagyre ", ALL)), sorted(re.findall(r"^  (\w+)  ", verbs, re.M)))

    def test_model(self):
        self.assertEqual(self.complete("anagyre run rattleb"), ["run", "rattleback"])
        models = subprocess.run([PROGRAM, "list", "models", "--json"], check=True, capture_output=True, text=True).stdout
        shipped = [m["name"] for m in json.loads(models)["models"]]
        self.assertEqual(sorted(self.complete("anagyre run ", ALL)[1:]), sorted(shipped + ["mine.nh", "more"]))

    def test_option(self):
        self.assertEqual(self.complete("anagyre run rattleback --max-steps"), ["run", "rattleback", "--max-steps"])
        options = subprocess.run([PROGRAM, "help", "run"], check=True, capture_output=True, text=True).stdout
        table = re.findall(r"^ +(?:-\w, *)?(--[a-z0-9-]+)", options, re.M)
        self.assertEqual(sorted(self.complete("anagyre run --", ALL)[1:]), sorted(table))

    def test_choice(self):
        self.assertEqual(self.complete("anagyre show rattleback --form mul")[-1], "multipliers")
        self.assertEqual(self.complete("anagyre show rattleback --form=mul")[-1], "--form=multipliers")

    def test_parameter(self):
        self.assertEqual(self.complete("anagyre run rattleback --set spi")[-1], "spin0=")
        self.assertEqual(self.complete("anagyre run rattleback --sweep alp")[-1], "alpha=")
        self.assertEqual(self.complete("anagyre run ./mine.nh --set massi")[-1], "massive=")

    def test_velocity(self):
        """A prime is quoted, or left alone inside quotes."""
        self.assertEqual(self.complete("anagyre run mine.nh --set x\\'")[-1], "x'=")
        self.assertEqual(self.complete("anagyre run mine.nh --set \"x'")[-1], "x'=")

    def test_names(self):
        self.assertEqual(self.complete("anagyre run rattleback --end-at rev")[-1], "reversal")
        self.assertEqual(self.complete("anagyre plot rattleback spi")[-1], "spin")
        self.assertEqual(self.complete("anagyre run rattleback --columns spin,ene")[-1], "spin,energy")

    def test_files(self):
        self.assertEqual(self.complete("anagyre check mi")[-1], "mine.nh")
        self.assertEqual(self.complete("anagyre run rattleback -o not")[-1], "notes.txt")
        self.assertEqual(sorted(self.complete("anagyre plot m", ALL)[1:]),
                         sorted(["mine.h5", "mine.nh", "mathematical_example", "more"]))

    def test_nothing(self):
        """No completion: the line stays."""
        for line in ("anagyre nosuchverb x", "anagyre run rattleback --t1 1", "anagyre run nosuchmodel.nh --set m"):
            self.assertEqual(self.complete(line), line.split()[1:])


class Words(unittest.TestCase):
    def test_every_verb(self):
        """Every option of every verb is offered, and none that is not in its help."""
        for verb in words(""):
            text = subprocess.run([PROGRAM, "help", verb], check=True, capture_output=True, text=True).stdout
            table = re.findall(r"^ +(?:-\w, *)?(--[a-z0-9-]+)", text, re.M)
            self.assertEqual(sorted(words(verb, "--")), sorted(table), verb)

    def test_wrong(self):
        for argv in (["fish"], ["bash", "zsh"], []):
            done = subprocess.run([PROGRAM, "completion", *argv], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, argv)

    def test_json(self):
        out = subprocess.run([PROGRAM, "completion", "--json", "words", "--", "sho"], check=True, capture_output=True).stdout
        self.assertIn("show\t", json.loads(out)["text"])


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class Zsh(unittest.TestCase):
    def test_zsh(self):
        folder = tempfile.mkdtemp(prefix="ag_completion_")
        self.addCleanup(shutil.rmtree, folder)
        for name in ("mine.nh", "notes.txt"):
            with open(os.path.join(folder, name), "w", encoding="utf-8"):
                pass
        env = {"PATH": f"{os.path.dirname(PROGRAM)}:/usr/bin:/bin", "TERM": "dumb", "HOME": folder, "LC_ALL": "C"}
        shell = Shell(["zsh", "-f", "-i"], env, folder)
        self.addCleanup(shell.close)
        shell.send("unsetopt zle_bracketed_paste; autoload -U compinit; compinit -u -D; source <(anagyre completion zsh)\n")
        for line, whole in (("anagyre sho", "show"), ("anagyre run rattleb", "run rattleback"),
                            ("anagyre show rattleback --form mul", "show rattleback --form multipliers"),
                            ("anagyre run rattleback --set spi", "run rattleback --set spin0="),
                            ("anagyre check min", "check mine.nh"), ("anagyre info not", "info notes.txt")):
            shell.send(line + TAB + "\x01print -r -- '<'\x05 '>'\n")
            shell.until(r"\n<anagyre " + re.escape(whole) + " *>")


if __name__ == "__main__":
    unittest.main()
