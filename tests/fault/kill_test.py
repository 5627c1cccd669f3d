#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill_test.py PROGRAM [N [SEED]]: runs, batches, sections, ensembles and continuations ended by signals at N random
moments.

Whatever the moment: what is there can be read and is the beginning of the whole result, a caught signal ends with exit
code 1 and loses nothing, and the run continued afterwards gives the whole result, bit for bit, with no temporary file
left beside it. The moment decides only how much has to be computed again."""
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from waiting import PATIENCE  # noqa: E402
from noisy import NOISY  # noqa: E402

SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGINT, signal.SIGPIPE,
           signal.SIGUSR1]
SINGLE = "rattleback --t1 20 --every 0.0005"
BATCH = "rattleback --t1 60 --sweep spin0=-0.5:0.5:60 --columns spin"
SECTION = "skate.nh --t1 400 --sweep a=1:3:24 --section ahead"
ENSEMBLE = "noisy.nh --paths 12000 --dt 0.01 --t1 4 --seed 3 --threads 2"
MODEL = """model skate
param a = 2, omega = 1.5
config x in R^2, phi in S1
lagrangian dot(x', x')/2 + phi'^2/4 + a*x[1]
constraint x'[1]*sin(phi) = x'[2]*cos(phi)
start phi' = omega
section ahead: sin(phi) = 0 rising
"""
# name: the command; how it is continued
KINDS = {
    "single.h5": (f"run {SINGLE}", "run --from FILE --t1 20"),
    "single.csv": (f"run {SINGLE}", None),
    "single.json": (f"run {SINGLE}", None),
    "batch.h5": (f"run {BATCH}", "run --from FILE"),
    "batch.csv": (f"run {BATCH}", "run --from FILE"),
    "section.h5": (f"run {SECTION}", "run --from FILE"),
    "section.csv": (f"run {SECTION}", "run --from FILE"),
    "continued.h5": ("run --from FILE --t1 20", "run --from FILE --t1 20"),
    "ensemble.h5": (f"ensemble {ENSEMBLE}", f"ensemble {ENSEMBLE} --from FILE"),
    "ensemble.json": (f"ensemble {ENSEMBLE}", None),
}


def content(path):
    """What a result holds, without what differs between a run and its continuation."""
    if not path.endswith(".h5"):
        with open(path, "rb") as file:
            return file.read()
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, x: found.update({name: x[()]}) if isinstance(x, h5py.Dataset) else None)
    return {k: v for k, v in found.items() if k.split("/")[0] not in ("model", "parameters", "checkpoint", "options", "summary")}


def same(a, b):
    return a == b if isinstance(a, bytes) else a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=a[k].dtype.kind == "f") for k in a)


def begins(part, whole):
    """Are the rows of a single run the first ones of the whole? A stopped run adds its last state as a row; the kernel
    cuts the write of a process that is killed at a page, so that the last line of a table may not be whole."""
    if isinstance(part, bytes):
        lines, all_lines = part.split(b"\n"), whole.split(b"\n")
        return lines[:-2] == all_lines[:max(len(lines) - 2, 0)]
    n = max(len(part["t"]) - 1, 0)
    return all(k in whole and np.array_equal(part[k][:n], whole[k][:n]) for k in part if not k.startswith("events"))


class Lab:
    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="ag_kill_")
        self.whole, self.seconds = {}, {}
        for name, text in (("skate.nh", MODEL), ("noisy.nh", NOISY)):
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write(text)
        for kind, (command, _) in KINDS.items():
            begin = time.monotonic()
            if kind == "continued.h5":
                self.run(f"run {SINGLE.replace('--t1 20', '--t1 8')}", "base.h5")
                shutil.copy(self.at("base.h5"), self.at(kind))
            done = self.run(command, kind)
            if done.returncode:
                raise RuntimeError(f"{kind}: {done.stderr}")
            self.seconds[kind] = time.monotonic() - begin
            self.whole[kind] = content(self.at(kind))

    def at(self, name):
        return os.path.join(self.folder, name)

    def words(self, command, name):
        return [self.program, *command.replace("FILE", name).split(), "-o", name, "--quiet", "--engine", "interpreted"]

    def run(self, command, name):
        return subprocess.run(self.words(command, name), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def left(self, name):
        return [x for x in os.listdir(self.folder) if x.startswith(name + ".")]

    def clean(self, name):
        for x in self.left(name) + [name]:
            if os.path.exists(self.at(x)):
                os.unlink(self.at(x))

    def wrong(self, kind, number, share):
        """What is wrong after a signal at this share of the time that the run takes, or None."""
        command, further = KINDS[kind]
        self.clean(kind)
        if kind == "continued.h5":
            shutil.copy(self.at("base.h5"), self.at(kind))
        with subprocess.Popen(self.words(command, kind), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, stdin=subprocess.DEVNULL) as run:
            time.sleep(share * self.seconds[kind])
            run.send_signal(number)
            try:
                said = run.communicate(timeout=PATIENCE)[1]
            except subprocess.TimeoutExpired:
                run.kill()
                return "does not end"
            code = run.returncode
        if code not in (0, 1, -number) or "Sanitizer" in said or "runtime error" in said:  # -number: before the signals are caught
            return f"exit code {code}: {said[-300:]}"
        return self.look(kind, code, said) or (further and self.go_on(kind, further, code))

    def logs(self, kind):
        return [x for x in self.left(kind) if x.startswith(kind + ".log") and not x.endswith(".part")]

    def look(self, kind, code, said):
        """What is wrong with what is there, or None."""
        there = os.path.exists(self.at(kind))
        if code == 1 and not there:
            return f"nothing was kept: {said[-300:]}"
        if kind.endswith(".h5") and (there or self.logs(kind)):
            info = subprocess.run([self.program, "info", kind], cwd=self.folder, capture_output=True, text=True, check=False)
            if info.returncode:
                return f"cannot be read: {info.stderr[-300:]} {self.left(kind)}"
        if there and kind.endswith(".json"):
            try:
                json.loads(content(self.at(kind)))
            except ValueError as why:
                return f"JSON does not parse: {why}"
        if there and kind.startswith("single") and not (kind.endswith(".json") and code == 1):
            if not begins(content(self.at(kind)), self.whole[kind]):
                return "the rows are not those of the whole run"
        return None

    def go_on(self, kind, further, code):
        """What is wrong after it was continued, or None."""
        if not self.logs(kind) and not (os.path.exists(self.at(kind)) and kind.endswith(".h5")):
            if os.path.exists(self.at(kind)):
                return None if same(content(self.at(kind)), self.whole[kind]) else "it is not whole, and cannot be continued"
            return None  # ended before it began
        done = self.run(further, kind)
        if done.returncode == 2 and any(x in done.stderr for x in ("all its members have ended", "give a time beyond 20")):
            subprocess.run([self.program, "info", "--recover", kind], cwd=self.folder, capture_output=True, check=False)
        elif done.returncode == 2 and "killed before it had begun; start it again" in done.stderr and code < 0:
            done = self.run(KINDS[kind][0], kind)
        if done.returncode not in (0, 2):
            return f"cannot be continued: exit code {done.returncode}: {done.stderr[-400:]} {self.left(kind)}"
        if not same(content(self.at(kind)), self.whole[kind]):
            return f"the continued result is not the whole one ({done.stderr[-200:]})"
        return f"left: {self.left(kind)}" if self.left(kind) else None


def main():
    n, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 16, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    choose = random.Random(seed)
    lab = Lab(os.path.abspath(sys.argv[1]))
    counts, bad = collections.Counter(), 0
    try:
        for i in range(n):
            kind = list(KINDS)[i % len(KINDS)]
            number, share = choose.choice(SIGNALS), choose.random() * 1.1
            why = lab.wrong(kind, number, share)
            counts[kind] += 1
            bad += why is not None
            if why:
                print(f"{kind}, {number.name} after {share:.3f} of the run: {why}", flush=True)
    finally:
        shutil.rmtree(lab.folder)
    print(f"{n} kills, {bad} wrong; {dict(counts)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
