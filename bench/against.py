# SPDX-License-Identifier: MIT
"""run.py PROGRAM --against OLD: is PROGRAM slower than OLD? The speed programs of both build folders run in turn, each with
its own source; a ratio new/old is the median over PAIRS neighbours, so that what else the machine does counts little.
Processor time throughout. A program against itself shows how much chance there is in the numbers."""
import glob
import json
import os
import re
import statistics
import subprocess

PAIRS = 5
SLOWER = 1.03
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
STONE = os.path.join(HERE, "models", "rattleback_bench.nh")


def found_by(command, environment):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                     timeout=300, env=environment).stdout)


def of_model(path):
    def times(side):
        found = found_by([os.path.join(side["bench"], "bench_models"), path], side["environment"])
        return {k: v for k, v in found.items() if k.endswith(("_ns", "cpu_ms", "derive_ms")) and v}
    return times


def of_large(path, steps, sets):
    def times(side):
        found = found_by([os.path.join(side["bench"], "bench_large"), os.path.join(ROOT, path), str(steps), *sets], side["environment"])
        return {k: v for k, v in found.items() if k in ("rhs_us", "step_us", "derive_ms")}
    return times


def of_race(reference, hands):
    def times(side):
        found = found_by([os.path.join(side["bench"], "bench_race"), "-n", "3", STONE, reference, *hands], side["environment"])
        return {r["name"]: r["ratio"] for r in found["racers"] if r["name"].startswith("anagyre")}
    return times


def of_batch(hands):
    def times(side):
        found = found_by([os.path.join(side["bench"], "bench_batch"), "-n", "50", "-r", "3", STONE, *hands], side["environment"])
        return {f"{r['lanes']} lanes": 1 / r["per_second"] for r in found["lanes"]}
    return times


def processor_ms(words, environment):
    """Of a program and the compilers it starts."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return 1e3 * (used.ru_utime + used.ru_stime)


def of_program(path):
    """Start-up, reading, first step: each ten times, for the clock of the system is coarse; compiled once."""
    def times(side):
        short = [side["program"], "run", path, "--t1", "0.001", "--quiet", "--engine"]
        cases = {"version": [side["program"], "version"], "check": [side["program"], "check", path, "--quiet"],
                 "first step interpreted": short + ["interpreted"], "first step cached": short + ["compiled"]}
        cold = {**side["environment"], "XDG_CACHE_HOME": os.path.join(side["folder"], "cold")}
        subprocess.run(["rm", "-rf", cold["XDG_CACHE_HOME"]], check=True)
        found = {"first step cold": processor_ms(short + ["compiled"], cold)}
        processor_ms(short + ["compiled"], side["environment"])
        for name, words in cases.items():
            found[name] = sum(processor_ms(words, side["environment"]) for _ in range(10))
        return found
    return times


def ratios(times, old, new):
    """The median ratio new/old of each quantity that both programs tell (what is compiled once, in the first pair alone)."""
    pairs = []
    for i in range(PAIRS):
        first, second = (times(old), times(new)) if i % 2 == 0 else reversed((times(new), times(old)))
        pairs.append({k: second[k] / first[k] for k in first if k in second and first[k] > 0})
    return {k: statistics.median(p[k] for p in pairs if k in p) for k in pairs[0]}


def readable(path, folder, old):
    """A model that both programs read: pictures are left out where the old one does not know them. None: it cannot."""
    def reads(text):
        return subprocess.run([old, "check", text, "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0
    if reads(path):
        return path
    with open(path, encoding="utf-8") as file:
        text = file.read()
    plain = os.path.join(folder, os.path.basename(path))
    with open(plain, "w", encoding="utf-8") as file:
        file.write(re.sub(r"^(draw|candidate|expect (not )?conserved)\b.*\n([ \t]+.*\n)*", "", text, flags=re.M))
    if reads(plain):
        return plain
    print(f"{os.path.basename(path)} is left out: the old program does not read it")
    return None


def sides_of(old, new, folder):
    """Both programs with the speed programs of their build folders, and a cache for each."""
    sides = []
    for name, path in (("old", old), ("new", new)):
        build = os.path.dirname(path)
        subprocess.run(["cmake", "--build", build, "--target", "anagyre_bench"], check=True, stdout=subprocess.DEVNULL)
        own = os.path.join(folder, name)
        os.mkdir(own)
        sides.append({"program": path, "bench": os.path.join(build, "bench"), "folder": own,
                      "environment": {**os.environ, "XDG_CACHE_HOME": os.path.join(own, "cache")}})
    return sides


def cases_of(models, large, rivals, wanted):
    """(name, what measures it), of those that are wanted; the code by hand is compiled only for those that need it."""
    names = {os.path.basename(m)[:-3]: m for m in models}
    makers = [("race", lambda: of_race(*rivals()[:2])), ("batch", lambda: of_batch(rivals()[1]))]
    makers += [(f"program {name}", lambda m=m: of_program(m)) for name, m in names.items()]
    makers += [(name, lambda m=m: of_model(m)) for name, m in names.items()]
    makers += [(f"{os.path.basename(path)[:-3]} {' '.join(sizes[0])}", lambda path=path, steps=steps, sets=sizes[0]: of_large(path, steps, sets))
               for path, steps, _, sizes in large]
    return [(name, make()) for name, make in makers if wanted(name)]


def compare(program, against, folder, large, rivals, quick, only):
    """Prints the ratios, one line per measurement. True when one is slower. rivals() compiles the code by hand; `only` is
    a regular expression that the whole name of a measurement matches ("race", "program snakeboard", "snakeboard")."""
    sides = sides_of(os.path.abspath(against), program, folder)
    models = sorted(glob.glob(os.path.join(ROOT, "models", "*.nh")))
    models = [m for m in models if not quick or os.path.basename(m) in ("rattleback.nh", "snakeboard.nh")]
    models = [m for m in models if not only or any(re.fullmatch(only, n + os.path.basename(m)[:-3]) for n in ("", "program "))]
    models = [m for m in (readable(m, folder, sides[0]["program"]) for m in models) if m]
    cases = cases_of(models, large[:1] if quick else large, rivals, lambda name: not only or re.fullmatch(only, name))
    print(f"Ratios new/old, medians of {PAIRS} pairs; * more than {100 * (SLOWER - 1):.0f} % slower")
    every, slower = {}, []
    for name, times in cases:
        try:
            found = ratios(times, *sides)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{name} is left out: {error}")
            continue
        print(f"{name}: " + "  ".join(f"{k} {r:.3f}{'*' if r > SLOWER else ''}" for k, r in found.items()), flush=True)
        slower += [f"{name} {k} {r:.3f}" for k, r in found.items() if r > SLOWER]
        for k, r in found.items():
            every.setdefault(k, []).append(r)
    print("\nMedians over all of them")
    for k, r in every.items():
        print(f"{k:52s} {statistics.median(r):.3f}{'*' if statistics.median(r) > SLOWER else ''}  worst {max(r):.3f}")
    print(f"\n{len(slower)} of {sum(map(len, every.values()))} are slower")
    return bool(slower)
