#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py PROGRAM [FILE] [--quick]: measures the speed of the program. Prints tables and writes the numbers to FILE as JSON.

PROGRAM is anagyre in its build folder; the programs of this folder are built there. What they measure stands at their
heads: models.c (every shipped model), large.c (families of growing size), race.c (one accurate rattleback against hand-written C and libraries), precision.py (error against time on several models, libraries beside the program), batch.c
(many, against hand.c and the vectors of hand_lanes.c), noise_hand.c (paths with noise); user.py measures commands as a user gives them, one of them against hand_whole.c. The rivals are compiled here, with gcc and clang; a library that is missing is left out, with a line saying so.
--quick: few repetitions and models, to see that it works. --only NAMES: the parts whose names match the regular expression,
such as "yardstick|sweeps", and what they need; of parts that go through models some models alone by "events pendulum",
"lanes (lattice|bicycle)", "large links". The parts: PARTS, below.
run.py PROGRAM --against OLD [--quick] [--only NAMES]: ratios of two programs instead (against.py); NAMES is a regular
expression of measurements, such as "race|batch", "program .*", "program rattleback|rattleback"."""
import datetime
import glob
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the source tree stays clean
import against  # noqa: E402
import precision  # noqa: E402
import user  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
FLAGS = ["-O3", "-march=native", "-fPIC", "-shared", "-w", "-I", os.path.join(ROOT, "src"), "-I", HERE]
STONE = os.path.join(HERE, "models", "rattleback_bench.nh")
COLUMNS = [("rhs_interpreted_ns", 9, 0), ("rhs_1_ns", 7, 1), ("rhs_2_ns", 6, 1), ("rhs_4_ns", 6, 1), ("rhs_8_ns", 7, 1),
           ("try_ns", 9, 0), ("step_interpreted_ns", 11, 0), ("step_ns", 11, 0)]


def output(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def machine():
    """What the numbers belong to: kind of processor, vectors, compilers; no names."""
    flags = ""
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith(("flags", "Features"))), "")
    widest = next((name for name in ("avx512f", "avx2", "sse2", "asimd") if name in flags.split()), "unknown")
    compilers = {name: output([name, "--version"]).split("\n")[0] for name in ("gcc", "clang") if shutil.which(name)}
    return {"kind": os.uname().machine, "vectors": widest, "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1), "compilers": compilers}


def build_vectors(folder, compilers):
    """Many stones by hand: one vector of the machine, half of it, two of them interleaved, by each compiler."""
    made = []
    for compiler in compilers:
        for lanes in (2, 4, 8, 16):
            made.append(os.path.join(folder, f"hand_{compiler}_{lanes}_lanes.so"))
            subprocess.run([compiler] + FLAGS + ["-std=gnu17", "-Wno-psabi", f"-DAG_LANES={lanes}", os.path.join(HERE, "hand_lanes.c"), "-o", made[-1]],
                           check=True)
    return made


def build_rivals(folder):
    """The hand-written code by each compiler, its reference in long double, and the libraries that are there."""
    hands, others, missing = [], [], []
    reference = os.path.join(folder, "reference.so")
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    hand = FLAGS + ["-std=gnu17", os.path.join(HERE, "hand.c"), "-lm", "-o"]
    subprocess.run([compilers[0], "-DREFERENCE"] + hand + [reference], check=True)
    for compiler in compilers:
        hands.append(os.path.join(folder, f"hand_{compiler}.so"))
        subprocess.run([compiler] + hand + [hands[-1]], check=True)
    vectors = build_vectors(folder, compilers)
    for name, source, compiler, libraries in precision.LIBRARIES:
        made = os.path.join(folder, source.split(".")[0] + ".so")
        command = [compiler] + FLAGS + [os.path.join(HERE, source), "-o", made] + libraries
        if shutil.which(compiler) and not subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode:
            others.append(made)
        else:
            missing.append(name)
            print(f"{name} is not here or too old (tools/packages-bench.txt): left out")
    return reference, hands, vectors, others, missing


def measure_models(bench, models, environment):
    print("\nModels: nanoseconds (per trajectory); operations of one right-hand side; dop853 at rtol 1e-10")
    print(f"{'':22s} {'':>11s} {'one right-hand side':^39s} {'compiled':>8s} {'accepted step of a run':>23s}")
    print(f"{'model':22s} {'operations':>11s} {'interpr.':>9s} {'1 lane':>7s} {'2':>6s} {'4':>6s} {'8 lanes':>7s} "
          f"{'one try':>9s} {'interpr.':>11s} {'compiled':>11s}")
    rows = []
    for path in models:
        row = json.loads(output([os.path.join(bench, "bench_models"), path], env=environment))
        rows.append(row)
        line = f"{row['model']:22s} {row['operations']:11d}"
        for key, width, digits in COLUMNS:
            line += f" {'-':>{width}s}" if row.get(key) is None else f" {row[key]:{width}.{digits}f}"
        print(line, flush=True)
    return rows


def measure_lanes(bench, models, environment):
    print("\nLanes: batches of 64 members with their events, one thread; CPU nanoseconds per step of a member")
    print(f"{'model':22s} {'1 lane':>9s} {'all lanes':>9s} {'lanes':>6s} {'ratio':>6s}")
    rows = []
    for path in models:
        row = json.loads(output([os.path.join(bench, "bench_lanes"), path], env=environment))
        rows.append(row)
        if "note" in row:
            print(f"{row['model']:22s} not in lanes: {row['note']}", flush=True)
        else:
            print(f"{row['model']:22s} {row['one_ns']:9.0f} {row['ns']:9.0f} {row['lanes']:6d} {row['ratio']:6.2f}", flush=True)
    return rows


LARGE = [  # model, steps of the run, the power of the size that is expected, structural parameters: small to large
    ("models/lattice.nh", 200, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/inerters.nh", 200, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/body_chain.nh", 100, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/joint_chain.nh", 100, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/trailers.nh", 100, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/cart_pendula.nh", 100, 1, [["K=100"], ["K=300"], ["K=1000"]]),
    ("tests/models/link_net.nh", 20, 1, [["W=4", "H=62"], ["W=4", "H=250"], ["W=4", "H=1000"]]),
    ("tests/models/link_net.nh", 10, 1.5, [["W=8", "H=8"], ["W=16", "H=16"], ["W=32", "H=32"]]),
    ("models/rigid_bodies.nh", 30, 2, [["K=50"], ["K=100"], ["K=200"]]),
    ("bench/models/links.nh", 200, 3, [["K=10"], ["K=20"], ["K=40"]]),
]
GROWING = ("derive_ms", "derive_mb", "rhs_us", "step_us")


def power(rows, key):
    """The power of the number of velocities with which it grows: the slope of a line through the logarithms."""
    x, y = [math.log(r["velocities"]) for r in rows], [math.log(max(r[key], 1e-3)) for r in rows]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx)**2 for a in x)


def large(bench, families, quick, environment):
    """Families of growing size, and how fast what they cost grows."""
    print("\nLarge models: milliseconds and megabytes to derive, milliseconds to compile, kilobytes of C; microseconds of one\n"
          "right-hand side and of one accepted step, compiled. Below each family: the fitted powers of the size, and the one\n"
          "expected of its structure")
    print(f"{'model':14s} {'':12s} {'velocities':>10s} {'constraints':>11s} {'derive':>8s} {'memory':>7s} {'compile':>8s} {'text':>6s} "
          f"{'rhs':>9s} {'step':>9s}")
    result = []
    for path, steps, expected, sizes in families:
        rows = []
        for sets in sizes[:2] if quick else sizes:
            command = [os.path.join(bench, "bench_large"), os.path.join(ROOT, path), str(steps)] + sets
            tries = [json.loads(output(command, env=environment)) for _ in range(3)]
            row = {**tries[0], "sets": sets, **{key: min(t[key] for t in tries) for key in GROWING}}
            rows.append(row)
            print(f"{row['model']:14s} {' '.join(sets):12s} {row['velocities']:10d} {row['constraints']:11d} {row['derive_ms']:8.1f} "
                  f"{row['derive_mb']:7.1f} {row['compile_ms']:8.0f} {row['text'] / 1e3:6.0f} {row['rhs_us']:9.1f} {row['step_us']:9.0f}",
                  flush=True)
        powers = {key: power(rows, key) for key in GROWING}
        print(f"{'':14s} {'power':12s} {expected:10g} {'':11s} {powers['derive_ms']:8.2f} {powers['derive_mb']:7.2f} {'':8s} {'':6s} "
              f"{powers['rhs_us']:9.2f} {powers['step_us']:9.2f}", flush=True)
        result.append({"rows": rows, "powers": powers, "expected": expected})
    return result


def short_run(program, path, engine, cache):
    """Milliseconds of one run."""
    start = time.perf_counter()
    subprocess.run([program, "run", path, "--t1", "0.001", "--quiet", "--engine", engine], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": cache})
    return 1e3 * (time.perf_counter() - start)


def first_step(program, models, rows, repeats):
    """Wall-clock time of a short run as the user sees it: interpreted, with an empty cache, from the cache."""
    print("\nModel file to first step: milliseconds; the whole program by the wall clock, its parts by CPU time")
    print(f"{'model':22s} {'interpr.':>9s} {'cold':>8s} {'cached':>8s} | {'read':>6s} {'derive':>7s} {'write C':>7s} "
          f"{'compiler':>9s} {'load':>6s}")
    result = []
    for path, row in zip(models, rows):
        cold, cached, plain = [], [], []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(short_run(program, path, "compiled", cache))
                cached += [short_run(program, path, "compiled", cache) for _ in range(3)]
                plain.append(short_run(program, path, "interpreted", cache))
        one = {"model": row["model"], "interpreted_ms": statistics.median(plain), "cold_ms": statistics.median(cold),
               "cached_ms": statistics.median(cached)}
        result.append(one)
        print(f"{row['model']:22s} {one['interpreted_ms']:9.1f} {one['cold_ms']:8.0f} {one['cached_ms']:8.1f} | "
              f"{row['parse_ms']:6.2f} {row['derive_ms']:7.2f} {row['generate_ms']:7.2f} "
              f"{row.get('compile_cpu_ms', -1):9.0f} {row.get('load_ms', -1):6.2f}", flush=True)
    return result


def race(bench, reference, hands, others, pairs, environment):
    command = [os.path.join(bench, "bench_race"), "-n", str(pairs), STONE, reference] + hands + others
    found = json.loads(output(command, env=environment, stderr=subprocess.DEVNULL))
    print(f"\nOne rattleback to t = {found['t1']:g}, rtol 1e-10, atol 1e-13 (medians of {pairs} interleaved pairs; "
          f"libraries: their loosest tolerance\nwith at most twice the error of the hand-written code; "
          f"hand-written code by the better compiler: {found['hand_file']})")
    print(f"{'':50s} {'ms':>8s} {'ratio':>7s} {'error':>9s} {'rhs':>9s} {'ns/rhs':>7s} {'rtol':>8s}")
    for r in found["racers"]:
        if r["seconds"] < 0:
            print(f"{r['name']:50s} does not get there")
        else:
            print(f"{r['name']:50s} {1e3 * r['seconds']:8.2f} {r['ratio']:7.2f} {r['error']:9.1e} {r['rhs']:9d} "
                  f"{1e9 * r['seconds'] / r['rhs']:7.1f} {r['rtol']:8.1e}")
    s = found["starts"]
    print(f"{s['n']} starts at that tolerance, geometric means: by hand {s['hand_rhs']} right-hand sides, error {s['hand_error']:.1e}; "
          f"ours {s['rhs']}, {s['error']:.1e};\nours at the error by hand (error ~ number^-8): {s['rhs_at_equal_error']:.0f}")
    return found


def batch(bench, hands, n, repeats, environment):
    command = [os.path.join(bench, "bench_batch"), "-n", str(n), "-r", str(repeats), STONE] + hands
    found = json.loads(output(command, env=environment))
    print(f"\nMany rattlebacks to t = {found['t1']:g}, rtol 1e-10, one core ({n} at a time, medians of {repeats} "
          f"interleaved pairs)")
    print(f"the fastest vectors by hand: {found['vectors']}")
    print(f"{'lanes':>5s} {'per second':>11s} {'by hand, scalar':>16s} {'ratio':>7s} {'in vectors':>11s} {'ratio':>7s} {'rhs each':>9s}")
    for r in found["lanes"]:
        print(f"{r['lanes']:5d} {r['per_second']:11.0f} {r['hand_per_second']:16.0f} {r['ratio']:7.2f} "
              f"{r['vectors_per_second']:11.0f} {r['of_vectors']:7.2f} {r['rhs_per_trajectory']:9d}")
    e = found["equal"]
    print(f"errors at this tolerance, geometric means: by hand {found['hand_error']:.1e}, ours {found['error']:.1e}; at the error by "
          f"hand (rtol {found['equal_rtol']:.1e}, {e['rhs_per_trajectory']} rhs each)\nours makes {e['per_second']:.0f} per second in "
          f"{e['lanes']} lanes, {e['of_vectors']:.2f} of the vectors by hand")
    return found


def ensemble_seconds(program, paths, threads, environment):
    """Processor time and wall-clock time of the command, and what it computed."""
    command = [program, "ensemble", os.path.join(HERE, "models", "routh_noise.nh"), "--paths", str(paths), "--seed", "1",
               "--dt", "0.01", "--t1", "10", "--every", "10", "--threads", str(threads), "--json", "--quiet"]
    begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(output(command, env=environment))["observables"]["up"]
    now = resource.getrusage(resource.RUSAGE_CHILDREN)  # to the microsecond; os.times() counts hundredths of a second
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return cpu, time.monotonic() - begun, found


def side_by_side(command, n):
    """Wall-clock time of n copies of a command at the same time."""
    begun = time.monotonic()
    for process in [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(n)]:
        process.wait()
    return time.monotonic() - begun


def noise(program, folder, paths, repeats, environment):
    """Paths of a ball with noise by Euler and Heun, from its model file, against vectors written by hand: one core.
    Few paths are subtracted from many, so that starting the program does not count. Two threads, on four times as many
    paths, against two copies of the code by hand side by side: what two cores of the machine give at that moment."""
    hands = []
    for compiler in (c for c in ("gcc", "clang") if shutil.which(c)):
        hands.append(os.path.join(folder, f"noise_{compiler}"))
        subprocess.run([compiler, "-O3", "-march=native", "-w", os.path.join(HERE, "noise_hand.c"), "-o", hands[-1],
                        "-lm"], check=True)
    few, steps = 256, 1000
    ensemble_seconds(program, few, 1, environment)  # compiles
    rows = []
    for _ in range(repeats):
        byhand = [json.loads(output([hand, str(paths)])) for hand in hands]
        best = max(byhand, key=lambda r: r["path_steps_per_second"])
        fastest = [hands[byhand.index(best)], str(4 * paths)]
        cpu0, wall0, _ = ensemble_seconds(program, few, 1, environment)
        cpu, _, found = ensemble_seconds(program, paths, 1, environment)
        _, one, _ = ensemble_seconds(program, 4 * paths, 1, environment)
        _, two, _ = ensemble_seconds(program, 4 * paths, 2, environment)
        ours = (paths - few) * steps / (cpu - cpu0)
        rows.append({"path_steps_per_second": ours, "by_hand": best["path_steps_per_second"],
                     "ratio": ours / best["path_steps_per_second"], "two_threads": (one - wall0) / (two - wall0),
                     "two_by_hand": 2 * side_by_side(fastest, 1) / side_by_side(fastest, 2)})
    result = {key: statistics.median(r[key] for r in rows) for key in rows[0]}
    error = math.hypot(found["stderr"][-1], best["deviation"] / math.sqrt(best["paths"]))
    result["standard_errors_apart"] = abs(found["mean"][-1] - best["mean"]) / error
    print(f"\nPaths of a ball with noise, Euler-Heun, one core ({paths} paths of {steps} steps, medians of {repeats})")
    print(f"{'million path steps per second':>30s} {'by hand':>9s} {'ratio':>6s} {'two threads':>12s} {'two by hand':>12s} "
          f"{'means apart':>12s}")
    print(f"{1e-6 * result['path_steps_per_second']:30.1f} {1e-6 * result['by_hand']:9.1f} {result['ratio']:6.2f} "
          f"{result['two_threads']:12.2f} {result['two_by_hand']:12.2f} {result['standard_errors_apart']:7.2f} s.e.")
    return result


def build_whole(folder):
    """The whole state of the shipped rattleback written by hand, by each compiler."""
    made = []
    for compiler in (c for c in ("gcc", "clang") if shutil.which(c)):
        made.append(os.path.join(folder, f"whole_{compiler}"))
        subprocess.run([compiler, "-std=gnu17", "-O3", "-march=native", "-w", "-I", os.path.join(ROOT, "src"), "-I", HERE,
                        os.path.join(HERE, "hand_whole.c"), "-o", made[-1], "-lm"], check=True)
    return made


PARTS = ("race", "precision", "batch", "noise", "single", "yardstick", "sweeps", "output", "events", "models", "lanes", "large", "first_step")
NEEDS = {"single": "race", "sweeps": "batch", "first_step": "models"}


class Wanted:
    """What --only asks for; everything without it."""
    def __init__(self, only):
        self.only = only

    def part(self, name):
        """Is it wanted, or needed by another?"""
        return any(self.items(p, MODELS) for p in PARTS if p == name or NEEDS.get(p) == name)

    def items(self, part, paths):
        """Those of these models, or families of models, that are wanted in this part."""
        whole = not self.only or re.fullmatch(self.only, part)
        return [p for p in paths if whole or re.fullmatch(self.only, f"{part} {os.path.basename(p)[:-3]}")]


MODELS = sorted(glob.glob(os.path.join(ROOT, "models", "*.nh")))


def measure(program, bench, folder, wanted, quick, result):
    """All parts that are wanted, into the result."""
    environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
    reference, hands, vectors, others, result["missing"] = build_rivals(folder)
    repeats = 3 if quick else 7

    def models_of(part):
        found = wanted.items(part, MODELS)
        return found[:3] if quick and len(found) == len(MODELS) else found
    user_parts = result["user"] = {}
    families = [row for row in LARGE if wanted.items("large", [row[0]])]
    everything = [
        (result, "race", lambda: race(bench, reference, hands, others, 5 if quick else 15, environment)),
        (result, "precision", lambda: precision.compare(program, bench, HERE, folder, quick, environment, result["missing"])),
        (result, "batch", lambda: batch(bench, hands + vectors, 50 if quick else 200, 5 if quick else 15, environment)),
        (result, "noise", lambda: noise(program, folder, 4096 if quick else 32768, 2 if quick else 9, environment)),
        (user_parts, "single", lambda: user.single(program, STONE, hand_ns(result["race"]), repeats, environment)),
        (user_parts, "yardstick", lambda: user.yardstick(program, build_whole(folder), repeats, environment)),
        (user_parts, "sweeps", lambda: user.sweeps(program, STONE, result["batch"], repeats, environment)),
        (user_parts, "output", lambda: user.output(program, ROOT, repeats, environment)),
        (user_parts, "events", lambda: user.events(program, models_of("events"), repeats, environment)),
        (result, "models", lambda: measure_models(bench, models_of("first_step") or models_of("models"), environment)),
        (result, "lanes", lambda: measure_lanes(bench, models_of("lanes"), environment)),
        (result, "large", lambda: large(bench, families, quick, environment)),
        (result, "first_step", lambda: first_step(program, models_of("first_step"), result["models"], 1 if quick else 3)),
    ]
    for where, name, make in everything:
        if wanted.part(name) or (name == "large" and families):
            where[name] = make()


def hand_ns(found):
    """Nanoseconds of a right-hand side by hand, of what race() found."""
    hand = found["racers"][0]
    return 1e9 * hand["seconds"] / hand["rhs"]


def main():
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else None
    old = sys.argv[sys.argv.index("--against") + 1] if "--against" in sys.argv else None
    words = [w for i, w in enumerate(sys.argv) if i and not w.startswith("-") and sys.argv[i - 1] not in ("--only", "--against")]
    quick = "--quick" in sys.argv
    program = os.path.abspath(words[0])
    build = os.path.dirname(program)
    if old:
        with tempfile.TemporaryDirectory() as folder:
            return against.compare(program, old, folder, LARGE, lambda: build_rivals(folder), quick, only)
    subprocess.run(["cmake", "--build", build, "--target", "anagyre_bench"], check=True, stdout=subprocess.DEVNULL)
    result = {"date": datetime.date.today().isoformat(), "machine": machine()}
    here = result["machine"]
    print(f"{here['kind']}, {here['vectors']}, {here['cores']} cores, load {here['load']}; "
          f"{'; '.join(here['compilers'].values())}")
    with tempfile.TemporaryDirectory() as folder:
        measure(program, os.path.join(build, "bench"), folder, Wanted(only), quick, result)
    if len(words) > 1:
        with open(words[1], "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
