#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""refusal_test.py PROGRAM: a command that does not do what was asked says why, also with --quiet and --json.

Every verb meets models and files that it cannot read, places that it cannot write, budgets that are too small and
options that make no sense. Exit codes are 0 to 3; with 2 and 3 there is a message on standard error, standard output is
empty or one JSON object, and no file appears."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from common import PROGRAM, check, result  # noqa: E402
from part import PART  # noqa: E402
from waiting import PATIENCE  # noqa: E402

FILES = {
    "m.nh": "model skate\nparam a = 2, omega = 1.5\nconfig x in R^2, phi in S1\n"
            "lagrangian dot(x', x')/2 + phi'^2/4 + a*x[1]\nconstraint x'[1]*sin(phi) = x'[2]*cos(phi)\n"
            "start phi' = omega\nsection ahead: sin(phi) = 0 rising\nexpect energy at 1 = 0.5625 within 1e-9\n",
    "n.nh": "model noisy\nconfig x in R\nlagrangian x'^2/2 - x^2/2\nnoise W force x' = 0.3\nobservable size = x^2\nstart x = 1\n",
    "unknown.nh": "model unknown\nconfig x in R\nlagrangian q'^2\n",
    "singular.nh": "model singular\nconfig x in R\nlagrangian x'^2/x^2 + 1/x\nnoise W force x' = 0.3\n",
    "junk.h5": "junk\n", "junk.csv": "t,x\n1,much\n",
}
SLOW = ["--engine", "interpreted"]
PATHS = ["--paths", "10", "--dt", "0.1", "--t1", "1", *SLOW]
COMMANDS = [
    ["check", "m.nh"], ["show", "m.nh"], ["show", "m.nh", "--latex", "--standalone"], ["emit", "m.nh"], ["test", "m.nh"],
    ["run", "m.nh", "--t1", "1"], ["run", "n.nh", "--t1", "1", "--seed", "1", "--dt", "0.1"],
    ["run", "m.nh", "--t1", "1", "--sweep", "a=1:2:3", *SLOW], ["run", "m.nh", "--t1", "5", "--section", "ahead"],
    ["run", "m.nh", "--t1", "1", "--level", "energy=3", "--solve", "x'[1]"], ["run", "--from", "m.h5", "--t1", "2"],
    ["conserve", "m.nh", "--degree", "1"], ["conserve", "m.nh", "--no-search", "--confirm", "1"],
    ["converge", "m.nh", "--t1", "0.3", "--method", "rk4"],
    ["converge", "n.nh", "--t1", "0.5", "--method", "euler_heun", "--paths", "64"],
    ["ensemble", "n.nh", *PATHS], ["ensemble", "n.nh", "--path", "3", "--dt", "0.1", "--t1", "1", *SLOW],
    ["ensemble", "n.nh", "--target", "x=1", "--paths", "10", "--dt", "0.5", "--t1", "1", *SLOW],
    ["ensemble", "n.nh", "--sweep", "x=1:2:2", *PATHS], ["ensemble", "n.nh", "--from", "e.h5", *PATHS],
    ["plot", "m.nh", "--t1", "1", "--term"], ["plot", "m.h5", "--term"], ["plot", "m.csv", "--term"],
    ["plot", "e.h5", "--term"], ["plot", "m.h5", "-o", "x.svg"], ["view", "m.nh", "--t1", "1", "-o", "x.html"],
    ["view", "m.h5", "-o", "x.html"], ["info", "m.h5"], ["info", "e.h5"],
]
INPUTS = ["unknown.nh", "singular.nh", "nothing.nh", "folder.h5", "junk.h5", "cut.h5", "junk.csv", "", "/proc/self/mem"]
PLACES = ["/nowhere/x.", "folder.", "/dev/full", "x"]
OPTIONS = [["--memory", "1"], ["--derive-time", "1e-9"], ["--t1", "nan"], ["--t1", "0"], ["--dt", "0"], ["--dt", "1e300"],
           ["--set", "a=1/0"], ["--set", "q=1"], ["--nonsense"], ["--columns", "none"], ["--method", "none"],
           ["--paths", "0"], ["--rtol", "1e-300"], ["--threads", "5000"], ["one", "two"], ["--seed", "x"], ["--set"],
           ["--section", "none"], ["--y", "none"], ["--path", "-1"], ["--chosen", "1:0"], ["--passage", "none=1"]]
ENDS = ["csv", "h5", "json", "svg", "html"]


def run(folder, words, **more):
    return subprocess.run([PROGRAM, *words], cwd=folder, stdin=subprocess.DEVNULL, text=True, errors="replace",
                          timeout=PATIENCE, check=False, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})


def refused(folder, words):
    """The command, with --quiet and --json."""
    before = sorted(os.listdir(folder))
    words = [*words, "--quiet", "--json"]
    done = run(folder, words)
    if "unknown option" in done.stderr and "--nonsense" not in words:
        done = run(folder, words := [w for w in words if w != "--quiet"])
    name = f"{' '.join(words)}: exit code {done.returncode}: {done.stdout[:200]} {done.stderr[:200]}"
    check(done.returncode in (0, 1, 2, 3), name)
    if done.returncode in (2, 3):
        check(re.search(r"^(anagyre .+: .|anagyre: .|(.+: )?error: .)", done.stderr, re.M), f"{name}: no message")
        check(sorted(os.listdir(folder)) == before, f"{name}: files {os.listdir(folder)}")
        try:
            check(not done.stdout.strip() or json.loads(done.stdout) is not None, name)
        except ValueError:
            check(False, f"{name}: no JSON")
    for left in set(os.listdir(folder)) - set(before):
        os.remove(os.path.join(folder, left))


def variants(words):
    """The command with one thing wrong."""
    at = next(i for i, word in enumerate(words) if word.endswith((".nh", ".h5", ".csv")))
    for name in INPUTS:
        yield [*words[:at], name, *words[at + 1:]]
    out = words.index("-o") if "-o" in words else len(words)
    plain = words[:out] + words[out + 2:]
    for place in PLACES:
        for end in ENDS if place.endswith(".") else [""]:
            yield [*plain, "-o", place + end]
    for option in OPTIONS:
        yield [*words, *option]


ENDLESS = [
    ["run", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "-o", "OUT.json"],
    ["run", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "-o", "OUT.csv"],
    ["run", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "-o", "OUT.h5"],
    ["run", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "--sweep", "a=1:2:3", *SLOW, "-o", "OUT.json"],
    ["ensemble", "n.nh", "--paths", "1e15", "--dt", "0.1", "--t1", "1", *SLOW, "-o", "OUT.json"],
    ["ensemble", "n.nh", "--paths", "1e15", "--dt", "0.1", "--t1", "1", *SLOW, "-o", "OUT.h5"],
    ["ensemble", "n.nh", "--sweep", "x=1:2:2", "--paths", "1e15", "--dt", "0.1", "--t1", "1", *SLOW, "-o", "OUT.csv"],
    ["ensemble", "n.nh", "--target", "x=1e-9", "--paths", "10", "--dt", "0.5", "--t1", "1", *SLOW, "-o", "OUT.json"],
    ["converge", "n.nh", "--t1", "1000", "--method", "euler_heun", "--paths", "1048576", "-o", "OUT.csv"],
    ["conserve", "m.nh", "--no-search", "--confirm", "1e15", "--max-steps", "1e15", "-o", "OUT.csv"],
    ["plot", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "-o", "OUT.svg"],
    ["view", "m.nh", "--t1", "1e15", "--max-steps", "1e15", "-o", "OUT.html"],
]


def endless(folder):
    """Whether there is a place for the result is known before anything is computed."""
    for words in ENDLESS:
        for place in ("/nowhere/x", "folder"):
            done = run(folder, [word.replace("OUT", place) for word in words])
            if "without the page" not in done.stderr:
                check(done.returncode == 3 and "cannot write" in done.stderr, f"{words} to {place}: {done.returncode} {done.stderr}")


def main():
    folder = tempfile.mkdtemp(prefix="ag_refusal_")
    try:
        for name, text in FILES.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for words in (["run", "m.nh", "--t1", "1", "--every", "0.1", "-o", "m.h5"],
                      ["run", "m.nh", "--t1", "1", "--every", "0.1", "-o", "m.csv"], ["ensemble", "n.nh", *PATHS, "-o", "e.h5"]):
            run(folder, words).check_returncode()
        with open(os.path.join(folder, "m.h5"), "rb") as file, open(os.path.join(folder, "cut.h5"), "wb") as cut:
            cut.write(file.read()[:3000])
        for end in ENDS:
            os.mkdir(os.path.join(folder, f"folder.{end}"))
        n = 0
        for words in COMMANDS:
            for other in list(variants(words))[::PART]:
                refused(folder, other)
                n += 1
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = run(folder, words, stdout=full)
            check(done.returncode == 3 and "error: " in done.stderr, f"{words}: full standard output: {done.returncode} {done.stderr}")
        endless(folder)
        print(n, "commands")
    finally:
        shutil.rmtree(folder)
    return result()


if __name__ == "__main__":
    sys.exit(main())
