# SPDX-License-Identifier: MIT
"""What a user gets: whole commands, with events, all columns and files, by processor time. A short command is subtracted
from a long one, so that starting the program does not count; commands that are compared alternate."""
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time

ENOUGH = 0.15  # seconds of a run that is measured
LONGEST = 1e7  # time to which a model is run at most


def cpu(program, words, environment):
    """Processor seconds of a command; None: it failed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *map(str, words), "--quiet"], check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=environment)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime


def wall(program, words, environment):
    """Wall-clock seconds of a command."""
    begun = time.monotonic()
    subprocess.run([program, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.monotonic() - begun


def more(program, short, long, environment):
    """Processor seconds of one command beyond those of another."""
    a, b = cpu(program, short, environment), cpu(program, long, environment)
    return None if a is None or b is None else b - a


def long_enough(program, path, environment):
    """A time for which a run of the model takes long enough; None: it ends before."""
    t = 50.0
    while t <= LONGEST:
        seconds = more(program, ["run", path, "--t1", t, "--no-events"], ["run", path, "--t1", 2 * t, "--no-events"], environment)
        if seconds is None or seconds >= ENOUGH:
            return None if seconds is None else t
        t *= 4 if seconds < ENOUGH / 4 else 2
    return None


def events(program, models, repeats, environment):
    """Runs with events against runs without, of each model that runs long enough."""
    print("\nRuns by the command line, compiled: processor time with the events of the model, relative to --no-events")
    print(f"{'model':22s} {'to t':>8s} {'s':>7s} {'with events':>12s}")
    rows = []
    for path in models:
        for no in ([], ["--no-events"]):  # compiles what a long run needs
            cpu(program, ["run", path, "--t1", 50, "--engine", "compiled", *no], environment)
        name, t = os.path.basename(path)[:-3], long_enough(program, path, environment)
        for no in ([], ["--no-events"]) if t else ():  # and what it makes many steps with, for both
            cpu(program, ["run", path, "--t1", 8 * t, "--engine", "compiled", *no], environment)
        t = t and long_enough(program, path, environment)
        pairs = []
        for _ in range(repeats if t else 0):
            pair = [more(program, ["run", path, "--t1", t, *no], ["run", path, "--t1", 2 * t, *no], environment)
                    for no in ([], ["--no-events"])]
            if None not in pair and pair[1] > 0:
                pairs.append(pair)
        if not pairs:
            continue  # it ends, or an event ends it
        row = {"model": name, "t": t, "seconds": statistics.median(p[1] for p in pairs),
               "ratio": statistics.median(p[0] / p[1] for p in pairs)}
        rows.append(row)
        print(f"{name:22s} {2 * t:8g} {row['seconds']:7.3f} {row['ratio']:12.2f}", flush=True)
    return rows


def single(program, stone, hand_ns, repeats, environment):
    """Nanoseconds per right-hand side, all included, of a run of the stone."""
    def rhs(t):
        words = [program, "run", stone, "--t1", str(t), "--json", "--quiet"]
        return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)["right_hand_sides"]
    t = 500
    n = rhs(2 * t) - rhs(t)
    ours = statistics.median(1e9 * more(program, ["run", stone, "--t1", t], ["run", stone, "--t1", 2 * t], environment) / n
                             for _ in range(repeats))
    print(f"\nOne rattleback by the command line: {ours:.1f} ns per right-hand side, all included; hand-written core "
          f"{hand_ns:.1f}; ratio {ours / hand_ns:.2f}")
    return {"ns": ours, "hand_ns": hand_ns, "ratio": ours / hand_ns}


def yardstick(program, hands, repeats, environment):
    """The shipped rattleback with its event to t = 20000, whole state, against the whole state written by hand (of several
    compilers the fastest): pairs that alternate. Starting the program is taken off; what a long run needs is compiled."""
    long, plain = ["run", "rattleback", "--t1", 20000], ["--no-events"]
    for no in ([], plain):
        cpu(program, ["run", "rattleback", "--t1", 400000, *no], environment)
    rows = []
    for _ in range(repeats):
        byhand = min(json.loads(subprocess.run([h, "20000"], check=True, stdout=subprocess.PIPE, text=True).stdout)["seconds"] for h in hands)
        rows.append([more(program, ["run", "rattleback", "--t1", 0.001], long + no, environment) / byhand for no in ([], plain)] + [byhand])
    with_event, without, seconds = (statistics.median(column) for column in zip(*rows))
    print(f"\nThe shipped rattleback to t = 20000, whole state, by the command line against code written by hand "
          f"({1e3 * seconds:.0f} ms):\n{with_event:.2f} with its event, {without:.2f} without")
    return {"hand_seconds": seconds, "ratio": with_event, "ratio_without_event": without}


def stones(path, n):
    """The first n stones of batch.c, as a file of starts."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("spin0,tilt1\n")
        for i in range(n):
            k = i * 6173 % 10000
            file.write(f"{-3 + 6 * (k % 100) / 99!r},{0.001 + 0.02 * (k // 100) / 99!r}\n")


def sweeps(program, stone, batch, repeats, environment):
    """Many rattlebacks by the command line, one thread, into a table, at the tolerance of the code by hand and at its error;
    batch: of batch.c, for what is written by hand and for that tolerance."""
    scalar, vectors = (statistics.median(b[key] for b in batch["lanes"]) for key in ("hand_per_second", "vectors_per_second"))
    print(f"\nSweeps by the command line, one thread, to t = 10 into a .csv file; by hand: {scalar:.0f} per second scalar, "
          f"{vectors:.0f} in vectors")
    print(f"{'columns':>22s} {'per second':>11s} {'of scalar':>10s} {'of vectors':>11s} {'two threads':>12s}")
    few, many, result = 64, 4096, {}
    with tempfile.TemporaryDirectory() as folder:
        for n in (few, many):
            stones(os.path.join(folder, f"{n}.csv"), n)
        for name, columns, rtol in (("core", ["--columns", "Omega,up"], 1e-10), ("all", [], 1e-10),
                                    ("core, equal error", ["--columns", "Omega,up"], batch["equal_rtol"]),
                                    ("all, equal error", [], batch["equal_rtol"])):
            def sweep(n, threads=1):
                return ["run", stone, "--t1", 10, "--rtol", rtol, "--atol", 1e-3 * rtol, "--starts", os.path.join(folder, f"{n}.csv"),
                        "--threads", threads, "-o", os.path.join(folder, "a.csv"), *columns]
            if cpu(program, sweep(few), environment) is None:
                print(f"{name:>22s} failed")
                continue
            rate = statistics.median((many - few) / more(program, sweep(few), sweep(many), environment) for _ in range(repeats))
            two = statistics.median((wall(program, sweep(many), environment) - wall(program, sweep(few), environment)) /
                                    (wall(program, sweep(many, 2), environment) - wall(program, sweep(few, 2), environment))
                                    for _ in range(repeats))
            result[name] = {"per_second": rate, "ratio": rate / scalar, "of_vectors": rate / vectors, "two_threads": two}
            print(f"{name:>22s} {rate:11.0f} {rate / scalar:10.2f} {rate / vectors:11.2f} {two:12.2f}", flush=True)
    return result


def output(program, root, repeats, environment):
    """What writing a row costs: 29 numbers of the rattleback."""
    path, n, result = os.path.join(root, "models", "rattleback.nh"), 50000, {}
    base = ["run", path, "--t1", 1000]
    print(f"\nWriting {n} rows of 29 numbers: microseconds of processor time per row, evaluating it included")
    with tempfile.TemporaryDirectory() as folder:
        for name, words in ((".csv", []), (".h5", []), (".h5 --compress", ["--compress"])):
            file = ["-o", os.path.join(folder, "a" + name.split()[0]), "--every", 1000 / n, *words]
            result[name] = 1e6 / n * statistics.median(more(program, base, base + file, environment) for _ in range(repeats))
            print(f"{name:>16s} {result[name]:6.2f}", flush=True)
    return result
