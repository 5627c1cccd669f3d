#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tidy.py BUILD [JOBS]: clang-tidy (.clang-tidy) on the sources of src/ that are not tests, with the compile commands of
BUILD. A source that passed is not looked at again while its text after preprocessing, comments included, and the checks
stay the same: BUILD/tidy holds an empty file for each, named by the hash of all that."""
import concurrent.futures
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sources(build):
    """The entries of the compile database, one per source."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = {os.path.abspath(os.path.join(e["directory"], e["file"])): e for e in json.load(file)}
    folder = os.path.join(ROOT, "src") + os.sep
    return {path: e for path, e in sorted(entries.items()) if path.startswith(folder) and not path.endswith("_test.c")}


def key_of(entry, checks):
    """The hash of what clang-tidy would see; None when the source does not get through the preprocessor."""
    words = entry["command"].split(" -o ")[0] + " -E -C -P -o - " + entry["file"]
    done = subprocess.run(words, shell=True, cwd=entry["directory"], capture_output=True, check=False)
    return hashlib.sha256(checks + words.encode() + done.stdout).hexdigest() if done.returncode == 0 else None


def look(build, path, entry, checks):
    """What clang-tidy says of one source; "" when there is nothing, now or before."""
    key = key_of(entry, checks)
    mark = os.path.join(build, "tidy", key or "")
    if key and os.path.exists(mark):
        return ""
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", path], capture_output=True, text=True, check=False)
    if done.returncode == 0 and key:
        open(mark, "w", encoding="utf-8").close()
    return done.stdout or done.stderr if done.returncode else ""


def main():
    build = os.path.abspath(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
    if not shutil.which("clang-tidy"):
        print("clang-tidy is missing (Debian: clang-tidy)", file=sys.stderr)
        return 2
    os.makedirs(os.path.join(build, "tidy"), exist_ok=True)
    with open(os.path.join(ROOT, ".clang-tidy"), "rb") as file:
        checks = file.read() + subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    found = sources(build)
    present = {path for path in glob.glob(os.path.join(ROOT, "src", "*", "*.c")) if not path.endswith("_test.c")}
    failed = sorted(present - set(found))
    for path in failed:
        print(f"{os.path.relpath(path, ROOT)} is not compiled in {build}")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, said in zip(found, pool.map(lambda item: look(build, *item, checks), found.items())):
            if said:
                failed.append(path)
                print(said.replace(ROOT + os.sep, ""), end="", flush=True)
    print(f"{len(found)} sources, {len(failed)} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
