#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang.py front|tidy BUILD: what clang says of sources, with the compile commands of BUILD (a configured tree, whose
embedded texts are made).

  front   the front end on all sources of src/, tests/ and bench/ that BUILD compiles: no warning
  tidy    clang-tidy (.clang-tidy) on the sources of src/ that are not tests. A source that passed is not looked at again
          while its text after preprocessing, comments included, and the checks stay the same: BUILD/tidy holds an empty
          file for each, named by the hash of all that"""
import concurrent.futures
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_tidy(path):
    return path.startswith(os.path.join(ROOT, "src") + os.sep) and not path.endswith("_test.c")


def commands(build):
    """The compile database: one entry per source of the tree."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = {os.path.abspath(os.path.join(e["directory"], e["file"])): e for e in json.load(file)}
    return {path: e for path, e in sorted(entries.items()) if path.startswith(ROOT + os.sep) and not path.startswith(build)}


def flags_of(entry):
    """The compile command without compiler, output and source."""
    return entry["command"].split(" -o ")[0].partition(" ")[2]


def front(build, path, entry):
    """What the front end says; "" when there is nothing. Signs are left to gcc: to clang all enumerations are unsigned."""
    quiet = "-Wno-string-conversion -Wno-sign-conversion -Wno-unknown-warning-option"
    words = f"clang {flags_of(entry)} {quiet} -Werror -fsyntax-only {path}"
    done = subprocess.run(words, shell=True, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def key_of(entry, path):
    """The hash of what clang-tidy would see; None when the source does not get through the preprocessor."""
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as file:
        checks = file.read()
    words = f"clang {flags_of(entry)} -E -C -P {path}"
    done = subprocess.run(words, shell=True, cwd=entry["directory"], capture_output=True, check=False)
    return hashlib.sha256(checks + words.encode() + done.stdout).hexdigest() if done.returncode == 0 else None


def tidy(build, path, entry):
    """What clang-tidy says; "" when there is nothing, now or before."""
    key = key_of(entry, path)
    mark = os.path.join(build, "tidy", key or "")
    if key and os.path.exists(mark):
        return ""
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", path], capture_output=True, text=True, check=False)
    if done.returncode == 0 and key:
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        open(mark, "w", encoding="utf-8").close()
    return done.stdout or done.stderr if done.returncode else ""


def main():
    (look, is_in, program) = {"front": (front, bool, "clang"), "tidy": (tidy, is_tidy, "clang-tidy")}[sys.argv[1]]
    build = os.path.abspath(sys.argv[2])
    if not shutil.which(program):
        print(f"{program} is missing (Debian: {program})", file=sys.stderr)
        return 2
    found = {path: entry for path, entry in commands(build).items() if is_in(path)}
    missing = [path for path in sorted(glob.glob(os.path.join(ROOT, "src", "*", "*.c"))) if is_in(path) and path not in found]
    for path in missing:
        print(f"{os.path.relpath(path, ROOT)} is not compiled in {build}")
    failed = len(missing)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for said in pool.map(lambda item: look(build, *item), found.items()):
            failed += said != ""
            print(said.replace(ROOT + os.sep, ""), end="", flush=True)
    print(f"{len(found)} sources, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
