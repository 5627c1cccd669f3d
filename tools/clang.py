#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clang.py front|tidy BUILD: what clang says of sources, with the compile commands of BUILD (a configured tree, whose
embedded texts are made).

  front   the front end on all sources of src/, tests/ and bench/ that BUILD compiles: no warning
  tidy    clang-tidy (.clang-tidy) on the sources of src/ that are not tests

A source that passed is not looked at again while its text, those of the files of the tree that it includes, its compile
command, the checks and clang stay the same: BUILD/tidy holds an empty file for each, named by the hash of all that."""
import concurrent.futures
import functools
import glob
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CHECKS = os.path.join(ROOT, ".clang-tidy")


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


@functools.cache
def read(path):
    """The bytes of a file and the names that it includes in quotation marks."""
    with open(path, "rb") as file:
        text = file.read()
    return text, [name.decode() for name in re.findall(rb'^\s*#\s*include\s*"([^"\n]+)"', text, re.M)]


def texts_of(path, folders):
    """The source and all it includes, directly or not, by path. Names that are found nowhere belong to the system."""
    found, wanted = {}, [path]
    while wanted:
        path = wanted.pop()
        if path not in found:
            found[path], names = read(path)
            places = [os.path.dirname(path), *folders]
            wanted += filter(None, (next(filter(os.path.isfile, (os.path.normpath(os.path.join(p, name)) for p in places)), None)
                                    for name in names))
    return found


@functools.cache
def program_version(program):
    return subprocess.run([program, "--version"], capture_output=True, check=False).stdout


def key_of(program, entry, path):
    """The hash of all that the verdict of a program depends on."""
    words = shlex.split(flags_of(entry))
    folders = [os.path.join(entry["directory"], w[2:]) for w in words if w.startswith("-I")]
    texts = texts_of(path, folders)
    parts = [program.encode(), program_version(program), *(read(at)[0] for at in (os.path.abspath(__file__), CHECKS)),
             " ".join(words).encode()]
    return hashlib.sha256(b"\0".join(parts + [x for at in sorted(texts) for x in (at.encode(), texts[at])])).hexdigest()


def front(build, path, entry):
    """What the front end says; "" when there is nothing. Signs are left to gcc: to clang all enumerations are unsigned."""
    names = "-Wreserved-identifier"
    quiet = "-Wno-string-conversion -Wno-sign-conversion -Wno-unknown-warning-option"
    words = f"clang {flags_of(entry)} {names} {quiet} -Werror -fsyntax-only {path}"
    done = subprocess.run(words, shell=True, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def tidy(build, path, entry):
    """What clang-tidy says; "" when there is nothing."""
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", path], capture_output=True, text=True, check=False)
    return done.stdout or done.stderr if done.returncode else ""


def look(how, program, build, path, entry):
    """What there is to say, unless it was nothing before."""
    mark = os.path.join(build, "tidy", key_of(program, entry, path))
    if os.path.exists(mark):
        return ""
    said = how(build, path, entry)
    if not said:
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        open(mark, "w", encoding="utf-8").close()
    return said


def main():
    (how, is_in, program) = {"front": (front, bool, "clang"), "tidy": (tidy, is_tidy, "clang-tidy")}[sys.argv[1]]
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
        for said in pool.map(lambda item: look(how, program, build, *item), found.items()):
            failed += said != ""
            print(said.replace(ROOT + os.sep, ""), end="", flush=True)
    print(f"{len(found)} sources, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
