#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""same.py OLD NEW [options]: do two programs compute the same? Compared bit for bit on the models of models/ and
tests/right/: series, grids, events, batches, sections, result files, continued runs, emitted C, show and check.

  --quick          a choice of cases, about ten seconds of processor time
  --models A,B     only these models (names, or paths of other model files)
  --cases A,B      only these cases (the first word of a line of the report)
  --within TOL     adaptive runs may differ: same ends and events, states within TOL of their size (10 rtol is 1e-9)
  --anywhere       with --within: batches and fixed steps too, for programs that round or choose steps in another way
  --common         only what both programs report, of models that both read; pictures and the like, which an older
                   program does not know, are left out of the models
  --emit-text      the emitted C has to be the same text, not only the same numbers
  --verbose        also list what is the same

One line per case that differs, with the largest relative difference; exit code 1 when there is one. A case with an option
that one of the programs does not know is skipped, with a line saying so."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(ROOT, "bench"))
import against  # noqa: E402
# what may differ between two programs that compute the same: where and when it was made
PROVENANCE = {"seconds", "trajectories_per_second", "threads", "version", "commit", "compiler", "compiler_flags", "date", "host", "hash",
              "generated"}
# what follows from the sequence of steps; under --within only the ends and the grids are compared
OF_STEPS = {"steps", "rejected", "right_hand_sides", "series", "energy_drift", "constraint_residual", "constraint_residual_max", "left_domain"}
# what follows from what a program knows to report, not from the motion; left out under --common
OF_REPORTS = {"warnings", "files", "why", "energy_size", "diagnostics", "closure", "member_by_member", "lanes"}
LIMIT = ["--max-steps", "1500"]  # some files of tests/right come to a place where steps shrink without end
LOOSE = 1e5  # how much larger the tolerance of the case "loose" is than usual, and so what --within allows there
QUICK_COMPILED = ["rattleback", "snakeboard", "truncated_ball", "statements"]
QUICK = ["adaptive", "fixed", "multipliers", "backward", "grid", "check"]


# ---- a program and what it answers ----

class Unknown(Exception):
    """The program does not know an option of the case."""


def call(program, words, where, target=None, ok=(0, 1)):
    """Standard output of one call; exit code and messages when it fails in the way the user meets it."""
    environment = {**os.environ, "XDG_CACHE_HOME": where["cache"]}
    if target:
        environment["ANAGYRE_TARGET"] = target
    done = subprocess.run([program, *map(str, words)], capture_output=True, cwd=where["folder"], text=True, env=environment,
                          stdin=subprocess.DEVNULL, check=False, timeout=900)
    if "unknown option" in done.stderr or "unknown verb" in done.stderr:
        raise Unknown
    if done.returncode not in ok:
        return json.dumps({"exit code": done.returncode})
    return done.stdout


def flat(value, path="", found=None):
    """JSON as {path: array or text}; lists of numbers as one array."""
    found = {} if found is None else found
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in PROVENANCE:
                flat(part, f"{path}/{key}", found)
    elif isinstance(value, list):
        try:
            found[path] = np.array([np.nan if v is None else v for v in value], dtype=float)
        except (TypeError, ValueError):
            for i, part in enumerate(value):
                flat(part, f"{path}/{i}", found)
    else:
        found[path] = np.float64(value) if isinstance(value, float) else str(value)
    return found


def of_json(text):
    try:
        return flat(json.loads(text, parse_int=float))
    except ValueError:
        return {"/text": text}


def of_h5(path):
    """All datasets and attributes of a result file."""
    import h5py  # only here: the rest works without it
    found = {}

    def attributes(name, thing):
        for key, value in thing.attrs.items():
            if key not in PROVENANCE:
                found[f"{name}@{key}"] = np.asarray(value)

    def visit(name, thing):
        if isinstance(thing, h5py.Dataset):
            found[name] = np.asarray(thing[()])
        attributes(name, thing)
    with h5py.File(path, "r") as file:
        attributes("", file)
        file.visititems(visit)
    return found


# ---- the cases: each takes (program, model, where) and returns {path: value} ----

def run(*words, t1="1.97", target=None, engine="interpreted"):
    def ask(program, model, where):
        return of_json(call(program, ["run", model["path"], *LIMIT, f"--t1={t1}", "--engine", engine, *words, "--json", "--quiet"], where, target))
    return ask


def to_file(*words, engine="interpreted", go_on=None):
    """A run into a .h5 file, continued when go_on gives a later end."""
    def ask(program, model, where):
        first = [["run", model["path"], *LIMIT, "--t1", "0.97", "--engine", engine, *words, "-o", "a.h5", "--quiet"]]
        then = [["run", "--from", "a.h5", "--t1", go_on, "--engine", engine, "--quiet"]] if go_on else []
        for command in first + then:
            call(program, command, where)
        path = os.path.join(where["folder"], "a.h5")
        return of_h5(path) if os.path.exists(path) else {"": "no file"}
    return ask


def batch(*words, target=None, engine="auto", table=False, h5=False):
    """Members that differ in the first parameter or start value that is a number."""
    def ask(program, model, where):
        name, value = model["swept"]
        span = 0.05 * abs(value) or 0.01
        command = ["run", model["path"], *LIMIT, "--t1", "0.97", "--engine", engine, "--threads", "2", *words, "--quiet"]
        if table:
            with open(os.path.join(where["folder"], "starts.csv"), "w", encoding="utf-8") as file:
                file.write(f"\"{name}\"\n" + "".join(f"{value + k * span / 3:.17g}\n" for k in range(7)))
            command += ["--starts", "starts.csv"]
        else:
            command += ["--sweep", f"{name}={value - span:.17g}:{value + span:.17g}:7"]
        if h5:
            call(program, command + ["-o", "a.h5"], where, target)
            return of_h5(os.path.join(where["folder"], "a.h5"))
        return of_json(call(program, command + ["--json"], where, target))
    return ask


def section(*words, members=False):
    def ask(program, model, where):
        found = {}
        for name in model["sections"]:
            command = ["run", model["path"], *LIMIT, "--section", name, "--crossings", "6", "--t1", "30", *words, "--json", "--quiet"]
            if members:
                name, value = model["swept"]
                span = 0.05 * abs(value) or 0.01
                command += ["--sweep", f"{name}={value - span:.17g}:{value + span:.17g}:5"]
            found.update({f"/{name}{k}": v for k, v in of_json(call(program, command, where)).items()})
        return found
    return ask


def end_at(program, model, where):
    """A run that ends at an event: each event in turn, those at the first instant too."""
    found = {}
    for name in model["events"]:
        text = call(program, ["run", model["path"], *LIMIT, "--t1", "10", "--end-at", name, "--json", "--series", "--quiet", "--engine",
                              "interpreted"], where)
        found.update({f"/{name}{k}": v for k, v in of_json(text).items()})
    return found


def emit(program, model, where):
    text = call(program, ["emit", model["path"], "--main", "--quiet"], where)
    known = where["emitted"].get(text)  # the same text is compiled once
    if known is None:
        source, binary = (os.path.join(where["folder"], name) for name in ("m.c", "m"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        made = subprocess.run(["cc", "-O0", "-ffp-contract=off", "-w", source, "-o", binary, "-lm"], capture_output=True, text=True, check=False)
        known = made.stderr[:300] or subprocess.run([binary, "0.1", "0.005"], capture_output=True, text=True, check=False).stdout
        where["emitted"][text] = known
    found = {}
    for i, line in enumerate(known.splitlines()):
        name, _, value = line.rpartition(" = ")
        try:
            found[f"/{i} {name}"] = np.float64(value)
        except ValueError:
            found[f"/line {i}"] = line
    return {**found, "/text": text} if where["emit_text"] else found


def text_of(*words):
    def ask(program, model, where):
        return {"/text": call(program, [words[0], model["path"], *words[1:], "--quiet"], where)}
    return ask


def check(program, model, where):
    return of_json(call(program, ["check", model["path"], "--json", "--quiet"], where))


# name: what is asked, of which models, whether the steps are adaptive (those may differ under --within)
CASES = {
    "adaptive": (run("--series"), "all", True),
    "compiled": (run("--series", engine="compiled"), "all", True),
    "compiled-sse2": (run("--series", engine="compiled", target="sse2"), "few", True),
    "tight": (run("--series", "--rtol", "1e-13", "--atol", "1e-14"), "all", True),
    "loose": (run("--series", "--rtol", 1e-10 * LOOSE, "--method", "tsit5"), "all", True),
    "fixed": (run("--series", "--dt", "0.02", "--method", "rk4", t1="1"), "all", False),
    "fixed-compiled": (run("--series", "--dt", "0.02", "--method", "dop853", t1="1", engine="compiled"), "all", False),
    "multipliers": (run("--series", "--closure", "multipliers"), "all", True),
    "multipliers-compiled": (run("--series", "--closure", "multipliers", engine="compiled"), "few", True),
    "backward": (run("--series", t1="-1"), "all", True),
    "grid": (run("--series", "--every", "0.1", "--t0", "0.05"), "all", True),
    "grid-compiled": (run("--series", "--every", "0.1", "--method", "dopri5", engine="compiled"), "few", True),
    "no-events": (run("--no-events", "--max-step", "0.05"), "all", True),
    "end-at": (end_at, "events", True),
    "h5": (to_file(), "all", True),
    "h5-grid": (to_file("--every", "0.1", engine="compiled", go_on="1.7"), "all", True),
    "h5-fixed": (to_file("--dt", "0.02", "--method", "heun2", go_on="1.5"), "all", False),
    "batch": (batch(), "all", False),
    "batch-interpreted": (batch(engine="interpreted"), "all", True),
    "batch-2-lanes": (batch(target="sse2"), "all", False),
    "batch-fixed": (batch("--dt", "0.02", "--method", "rk4"), "few", False),
    "batch-multipliers": (batch("--closure", "multipliers"), "few", True),
    "batch-lanes-1": (batch("--lanes", "1"), "few", False),
    "batch-starts": (batch(table=True), "all", False),
    "batch-h5": (batch(h5=True), "few", False),
    "section": (section(), "sections", True),
    "section-batch": (section(members=True), "sections", False),
    "emit": (emit, "all", False),
    "show": (text_of("show"), "all", False),
    "show-latex": (text_of("show", "--latex"), "all", False),
    "check": (check, "all", False),
}


# ---- models ----

def model_of(path, program, where):
    """What the cases need to know of a model, as the old program sees it."""
    about = json.loads(call(program, ["check", path, "--json", "--quiet"], where))
    numbers = [(k, v) for part in ("parameters", "state") for k, v in about.get(part, {}).items() if isinstance(v, (int, float))]
    with open(path, encoding="utf-8-sig") as file:
        lines = [line.split() for line in file]
    named = {word: [line[1].rstrip(":") for line in lines if len(line) > 1 and line[0] == word and line[1].endswith(":")]
             for word in ("event", "section")}
    swept = next((n for n in numbers if n[1] % 1), next((n for n in numbers if "'" not in n[0]), None))  # an integer may be structural
    return {"path": path, "name": os.path.basename(path)[:-3], "events": named["event"], "sections": named["section"], "swept": swept}


def is_in(case, model, quick):
    of = CASES[case][1]
    if "batch" in case and not model["swept"]:
        return False
    if of in ("events", "sections") and not model[of]:
        return False
    if of == "few" and model["name"] not in QUICK_COMPILED:
        return False
    return not quick or case in QUICK or model["name"] in QUICK_COMPILED and of != "few"


# ---- comparison ----

def difference(a, b):
    """Largest relative difference of two values; 0 when they are the same bits, inf when they cannot be compared."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if isinstance(a, str) and isinstance(b, str) and a == b else np.inf
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if a.tobytes() == b.tobytes():
        return 0.0
    if a.dtype.kind != "f":
        return np.inf
    both = np.isnan(a) & np.isnan(b)
    if np.any(np.isnan(a) != np.isnan(b)) or np.any((np.isinf(a) | np.isinf(b)) & (a != b)):
        return np.inf
    size = np.maximum(np.abs(a), np.abs(b))
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(both | (a == b), 5e-324, np.abs(a - b) / np.where(size, size, 1))))


def close(a, b, within):
    """Of adaptive runs: texts and counts equal, numbers within a part of their size (at least 1)."""
    if isinstance(a, str) or isinstance(b, str) or np.asarray(a).dtype.kind != "f":
        return difference(a, b) == 0
    if np.shape(a) != np.shape(b):
        return False
    with np.errstate(invalid="ignore"):
        near = np.abs(np.subtract(a, b)) <= within * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
    return bool(np.all(near | np.equal(a, b) | (np.isnan(a) & np.isnan(b))))


def without_steps(values, on_grid):
    """Without what follows from the sequence of steps: counts, checkpoints, and rows that are accepted steps except the last."""
    left = OF_STEPS - {"series"} if on_grid else OF_STEPS
    kept = {k: v for k, v in values.items() if "checkpoint" not in k and not left & set(k.replace("@", "/").split("/"))}
    if not on_grid and np.ndim(kept.get("t", 0)):  # a result file
        rows = len(kept["t"])
        kept = {k: v[-1] if np.ndim(v) and len(v) == rows and not k.startswith(("events", "parameters")) else v for k, v in kept.items()}
    return kept


def of_both(old, new):
    """What both report; everything where one of them fails."""
    if ("/exit code" in old) != ("/exit code" in new) or not old.keys() & new.keys():
        return old, new
    keys = {k for k in old if k in new and not OF_REPORTS & set(k.replace("@", "/").split("/"))}
    return {k: v for k, v in old.items() if k in keys}, {k: v for k, v in new.items() if k in keys}


def compare(old, new, within, on_grid, common):
    """What differs, worst first: [(difference, path)]."""
    if common:
        old, new = of_both(old, new)
    if within:
        old, new = without_steps(old, on_grid), without_steps(new, on_grid)
    pairs = [(old.get(k, "(none)"), new.get(k, "(none)"), k) for k in {**old, **new}]
    found = [(difference(a, b), k) for a, b, k in pairs if not (within and close(a, b, within))]
    return sorted(((d, k) for d, k in found if d), reverse=True)


def judge(old, new, model, case, arguments, shared):
    """(verdict, detail): same, differs, skipped."""
    answers = []
    for program in (old, new):
        with tempfile.TemporaryDirectory(dir=shared["scratch"]) as folder:
            try:
                answers.append(CASES[case][0](program, model, {**shared, "folder": folder}))
            except Unknown:
                answers.append(None)
    if None in answers:
        one = [name for name, answer in zip(("OLD", "NEW"), answers) if answer is not None]
        return "skipped", f"known only to {one[0]}" if one else "known to neither"
    single = CASES[case][2] or answers[0].get("/lanes") == 0 and "fixed" not in case  # also a batch member by member
    within = arguments.within * (LOOSE if case == "loose" else 1)
    on_grid = any(word in case for word in ("grid", "fixed"))
    found = compare(*answers, within if single or arguments.anywhere else 0, on_grid, arguments.common)
    if not found:
        return "same", f"{len(answers[0])} values"
    listed = ", ".join(f"{path} {d:.2g}" for d, path in found[:3])
    return "differs", f"{len(found)} of {len(answers[0])}: {listed}{' ...' if len(found) > 3 else ''}"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--emit-text", action="store_true")
    parser.add_argument("--models", default="")
    parser.add_argument("--cases", default="")
    parser.add_argument("--within", type=float, default=0)
    parser.add_argument("--anywhere", action="store_true")
    parser.add_argument("--common", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def model_files(wanted):
    shipped = {f[:-3]: os.path.join(ROOT, folder, f) for folder in ("tests/right", "models") for f in sorted(os.listdir(os.path.join(ROOT, folder)))
               if f.endswith(".nh")}
    return [shipped.get(w) or os.path.abspath(w) for w in wanted.split(",")] if wanted else list(shipped.values())


def main():
    arguments = options()
    old, new = os.path.abspath(arguments.old), os.path.abspath(arguments.new)
    cases = arguments.cases.split(",") if arguments.cases else list(CASES)
    count = {"same": 0, "differs": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="same_") as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        shared = {"scratch": scratch, "cache": os.path.join(scratch, "cache"), "folder": scratch, "emitted": {}, "emit_text": arguments.emit_text}
        paths = model_files(arguments.models)
        if arguments.common:
            paths = [path for path in (against.readable(path, scratch, old) for path in paths) if path]
        models = list(pool.map(lambda path: model_of(path, old, shared), paths))
        todo = [(model, case) for model in models for case in cases if is_in(case, model, arguments.quick and not arguments.cases)]
        for (model, case), (verdict, detail) in zip(todo, pool.map(lambda t: judge(old, new, *t, arguments, shared), todo)):
            count[verdict] += 1
            if verdict != "same" or arguments.verbose:
                print(f"{case:20s} {model['name']:24s} {verdict}: {detail}", flush=True)
    print(f"{count['same']} same, {count['differs']} differ, {count['skipped']} skipped")
    return count["differs"] > 0


if __name__ == "__main__":
    sys.exit(main())
