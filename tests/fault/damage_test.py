#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage_test.py PROGRAM [N [SEED]]: N damaged result files, logs and cached kernels.

Bytes are changed, cut off, repeated or swapped; or a value of a result file is replaced by another one that is as valid to
HDF5 and means nothing, or harm. `info`, `run --from`, `ensemble --from`, `plot`, `view` and runs with the
kernel end in time, with exit code 0 to 3, with a message unless it is 0; a run with a damaged kernel gives the same numbers
as before; nothing is written where only reading was asked for. Where the program `serve` (tests/fuzz/serve.c) is built
beside it, it runs the commands."""
import collections
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "fuzz")]
from served import Server  # noqa: E402
from waiting import until  # noqa: E402
from noisy import NOISY  # noqa: E402

LIMIT = 120  # seconds of wall time: only a command that hangs takes as long
MODEL = """model skate
param a = 2, omega = 1.5
config x in R^2, phi in S1
lagrangian dot(x', x')/2 + phi'^2/4 + a*x[1]
constraint x'[1]*sin(phi) = x'[2]*cos(phi)
start phi' = omega
event top: x[1] = 0.1 rising
section ahead: sin(phi) = 0 rising
"""
ENSEMBLE = "ensemble noisy.nh --paths PATHS --dt 0.1 --t1 2 --seed 5 --threads 1 --quiet"
READERS = {
    "h5": ["info FILE", "info FILE --json", "run --from FILE --t1 2.5", "plot FILE --term", "view FILE -o new.html"],
    "batch": ["info FILE", "run --from FILE", "plot FILE --term"],
    "ensemble": ["info FILE", "info FILE --json", ENSEMBLE.replace("PATHS", "300") + " --engine interpreted --from FILE -o new.json",
                 "plot FILE --term", "plot FILE --histogram --term"],
}


def damage(data, choose):
    """A damaged copy."""
    data = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at, n = choose.randrange(len(data)), choose.choice((1, 2, 4, 8, 64))
        how = choose.randrange(7)
        if how == 0:
            data[at] ^= 1 << choose.randrange(8)
        elif how == 1:
            data[at:at + n] = bytes(choose.randrange(256) for _ in range(n))
        elif how == 2:
            data[at:at + n] = choose.choice((b"\0", b"\xff", b"\x7f")) * n
        elif how == 3:
            del data[at:]
        elif how == 4:
            del data[at:at + n]
        elif how == 5:
            data[at:at] = data[at:at + n]
        else:
            other = choose.randrange(len(data))
            data[at:at + n], data[other:other + n] = data[other:other + n], data[at:at + n]
    return bytes(data)


WHOLE = [0, 1, -1, 2, 7, 2**31 - 1, 2**31, -2**31, 2**32 + 1, 2**53, 2**63 - 1, -2**63]
REAL = [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-300, 1e-12, 0.3, 1e12, 1e300, -1e300, np.inf, -np.inf, np.nan]
TEXTS = [b"", b"x", b"\x1b[31mred\x1b[0m\n", b"\xff\xfe", b"%s%n%d", b"a" * 5000, b"batch", b"ensemble", b"ahead", b"rk4", b"radau5",
         b"euler_heun", b"spark2", b"multipliers", b"path", b"off", b"x=1e400", b"nothing=1", b"a=2", b"stopped", b"time reached",
         b"W=1/t", b"model m\nconfig x in R\nlagrangian x'^2\n"]


def spoiled(old, choose):
    """Another value of the kind of the old one."""
    old = np.asarray(old)
    if old.dtype.kind in "SOU":
        return np.bytes_(choose.choice(TEXTS)) if old.ndim == 0 else np.array([choose.choice(TEXTS) for _ in range(choose.choice((1, 3)))], "S")
    new = np.array(old)
    if new.ndim == 0:
        return new.dtype.type(choose.choice(WHOLE if new.dtype.kind == "i" else REAL))
    how = choose.randrange(4)
    if how == 0:
        return new[:-1] if choose.randrange(2) else np.concatenate([new, new])
    for _ in range(1 if how == 1 else max(new.size, 1)):
        if new.size:
            new.flat[choose.randrange(new.size)] = choose.choice(WHOLE if new.dtype.kind == "i" else REAL)
    return new


def spoil(path, choose):
    """Replaces one or two attributes or datasets of a result file."""
    with h5py.File(path, "r+") as file:
        found = [(file, name) for name in file.attrs]
        file.visititems(lambda _, x: found.extend((x, name) for name in x.attrs) or
                        (found.append((x, None)) if isinstance(x, h5py.Dataset) else None))
        what, name = choose.choice(found)
        if choose.randrange(3) == 0:
            what, name = choose.choice([(x, n) for x, n in found if x.name.startswith(("/options", "/checkpoint"))] or found)
        if name:
            what.attrs[name] = spoiled(what.attrs[name], choose)
            return
        place, attributes, value = what.name, dict(what.attrs), spoiled(what[()], choose)
        del file[place]
        file[place] = value
        file[place].attrs.update(attributes)


def numbers(text):
    """Of the JSON of a run: what must not change."""
    told = json.loads(text)
    return {k: told[k] for k in ("t", "state", "energy", "steps", "rejected", "events")}


class Lab:
    def __init__(self, program):
        self.program = program
        self.place = tempfile.mkdtemp(prefix="ag_damage_")
        self.folder = os.path.join(self.place, "work")
        os.mkdir(self.folder)
        self.env = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.folder, "cache"))
        serve = os.path.join(os.path.dirname(program), "tests", "serve")
        self.server = Server(serve, self.place, self.env) if os.path.exists(serve) else None
        for name, text in (("skate.nh", MODEL), ("noisy.nh", NOISY)):
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write(text)
        self.files = {}
        for name, words in (("one", "run skate.nh --t1 2 --every 0.05"), ("many", "run skate.nh --t1 2 --sweep a=1:3:6"),
                            ("points", "run skate.nh --t1 20 --sweep a=1:3:4 --section ahead"),
                            ("path", "run noisy.nh --t1 2 --dt 0.1 --seed 4"), ("paths", ENSEMBLE.replace("PATHS", "200"))):
            self.run(f"{words} -o {name}.h5 --engine interpreted").check_returncode()
            self.files[name + ".h5"] = self.read(name + ".h5")
        self.log("slow", "run skate.nh --t1 1e5 --every 0.01")
        self.log("slow_batch", "run skate.nh --t1 3000 --sweep a=1:3:4000")
        self.run("run skate.nh --t1 20 --engine compiled").check_returncode()
        self.kernel = os.path.join("cache", "anagyre", next(x for x in os.listdir(self.at("cache/anagyre")) if x.endswith(".so")))
        self.files["kernel"] = self.read(self.kernel)
        self.motion = numbers(self.run("run skate.nh --t1 20 --engine compiled --json").stdout)

    def at(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()

    def log(self, name, words):
        """The log of a killed run."""
        with subprocess.Popen([self.program, *words.split(), "-o", name + ".h5", "--engine", "interpreted", "--quiet"], cwd=self.folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            log = self.at(name + ".h5.log")
            until(run, lambda: os.path.exists(log) and os.path.getsize(log) > 20000)
            run.send_signal(signal.SIGKILL)
        self.files[name + ".h5.log"] = self.read(name + ".h5.log")[:200000]
        for x in os.listdir(self.folder):
            if x.startswith(name):
                os.unlink(self.at(x))

    def run(self, words):
        if self.server:
            code, out, err, _ = self.server.call(words.split(), self.folder, LIMIT)
            if code is None:
                raise subprocess.TimeoutExpired(words, LIMIT)
            return subprocess.CompletedProcess(words, code, out.decode(errors="replace"), err.decode(errors="replace"))
        return subprocess.run([self.program, *words.split()], cwd=self.folder, env=self.env, capture_output=True, text=True,
                              errors="replace", timeout=LIMIT, stdin=subprocess.DEVNULL, check=False)

    def write(self, name, data):
        """In place of what is there, with its mode."""
        path = self.at(name)
        if name == self.kernel:
            os.chmod(path, 0o700)
        with open(path, "wb") as file:
            file.write(data)

    def wrong(self, kind, choose, values):
        bad = damage(self.files[kind], choose)
        if kind == "kernel":
            self.write(self.kernel, bad)
            words = "run skate.nh --t1 20 --engine compiled --json"
        else:
            for x in os.listdir(self.folder):
                if x.startswith("bad"):
                    os.unlink(self.at(x))
            name = "bad.h5.log" if kind.endswith(".log") else "bad.h5"
            self.write(name, self.files[kind] if values and kind.endswith(".h5") else bad)
            if values and kind.endswith(".h5"):
                spoil(self.at(name), choose)
                bad = self.read(name)
            readers = {"one.h5": "h5", "path.h5": "h5", "slow.h5.log": "h5", "paths.h5": "ensemble"}.get(kind, "batch")
            words = choose.choice(READERS[readers]).replace("FILE", "bad.h5")
        if words.startswith("run --from"):
            words += " --engine interpreted --quiet -o new.csv --max-steps 2000" if "--t1" in words else " --quiet -o new.csv"
        try:
            begin = time.monotonic()
            done = self.run(words)
        except subprocess.TimeoutExpired:
            return f"{words}: does not end"
        if not 0 <= done.returncode <= 3 or re.search("Sanitizer|runtime error", done.stderr):
            return f"{words}: exit code {done.returncode} ({time.monotonic() - begin:.1f} s): {done.stderr[-600:]}"
        if done.returncode and not done.stderr.strip():
            return f"{words}: exit code {done.returncode} without a message"
        if kind == "kernel" and (done.returncode or numbers(done.stdout) != self.motion):
            return f"{words}: other numbers, exit code {done.returncode}: {done.stderr[-300:]}"
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr):
            return f"{words}: prints control characters"
        if words.startswith(("info", "plot")) and self.read(name) != bad:
            return f"{words}: has changed the file"
        return None


def main():
    n, seed = int(sys.argv[2]) if len(sys.argv) > 2 else 24, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    choose = random.Random(seed)
    lab = Lab(os.path.abspath(sys.argv[1]))
    counts, bad = collections.Counter(), 0
    try:
        for i in range(n):
            kind = list(lab.files)[i % len(lab.files)]
            why = lab.wrong(kind, choose, i // len(lab.files) % 2 == 1)
            counts[kind] += 1
            bad += why is not None
            if why:
                print(f"{kind}, number {i}: {why}", flush=True)
                keep = os.environ.get("AG_KEEP")
                if keep and kind != "kernel":
                    os.makedirs(keep, exist_ok=True)
                    for x in os.listdir(lab.folder):
                        if x.startswith("bad"):
                            shutil.copy(lab.at(x), os.path.join(keep, f"{seed}_{i}_{x}"))
    finally:
        if lab.server:
            lab.server.close()
        shutil.rmtree(lab.place)
    print(f"{n} damaged files, {bad} wrong; {dict(counts)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
