# SPDX-License-Identifier: MIT
"""What the tests of this folder share: PROGRAM and MODELS of the command line, checks that are counted, runs."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from part import part, some  # noqa: E402, F401

PROGRAM = sys.argv[1]
MODELS = sys.argv[2] if len(sys.argv) > 2 else None
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)
        print("does not hold:", text)


def end():
    """The last line of a test."""
    print(f"{len(failures)} failures")
    sys.exit(len(failures) > 0)


def call(model, *options):
    return subprocess.run([PROGRAM, "run", model, "--json", "--quiet", *options], capture_output=True, text=True, timeout=600)


def run(model, *options):
    """The result of a run; of one that did not begin its message as the end."""
    out = call(model, *options)
    check(out.returncode in (0, 1), f"{model} {options}: exit code {out.returncode}\n{out.stderr}")
    return json.loads(out.stdout) if out.stdout.strip().startswith("{") else {"events": {}, "end": out.stderr, "t": 0}


def case(name):
    """A model file of this folder."""
    return os.path.join(MODELS, name + ".nh")


def written(folder, text):
    """A model file with this text."""
    path = os.path.join(folder, "m.nh")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path
