# SPDX-License-Identifier: MIT
"""Work and precision: error at the end of single runs against CPU time, for the program and for libraries that get the
same equations as C (`anagyre emit`), compiled into them. Smooth models, and stiff ones: strong friction, stiff springs,
concentrations that react. Not models whose velocities have a basis, which is renewed on the way.

A point is one tolerance of one solver. The error is the largest of the components of the state, relative to the larger
of 1 and its size, against a run of the program at its tightest tolerance; a second method says how good that is, and
errors below ten times its distance are not compared. Times at a given error are interpolated between the points of a
solver. An error counts as reached at a tolerance if all tighter ones reach it, too: where errors are large, a small one
is chance."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MODELS = [  # model, settings, t1 (long enough that starting a run is a small part of it), stiff
    ("falling_disk", {}, 1000, False),
    ("contact_oscillator", {}, 6000, False),
    ("pendulum", {}, 6000, False),
    ("heavy_top", {}, 5000, False),
    ("routh_sphere", {}, 5000, False),
    ("rattleback", {}, 1000, False),
    ("chaplygin_ball", {}, 2000, False),
    ("chaplygin_top", {}, 2000, False),
    ("rigid_body", {}, 5000, False),
    ("lattice", {}, 1000, False),
    ("tippe_top", {}, 300, False),
    ("affine_particle", {}, 500, False),  # affine constraints; a few dozen steps: no batch that can be timed
    ("sliding_disk", {"c": 1e3}, 400, True),             # strong friction at the contact
    ("sliding_disk", {"c": 1e6, "A": 2.0}, 400, True),   # stronger, on a washboard
    ("van_der_pol", {}, 2000, True),                     # these: bench/models
    ("oregonator", {}, 360, True),
    ("hires", {}, 321.8122, True),
    ("slippery_sleigh", {}, 20, True),                   # strong friction in a direction that turns
    ("stiff_pendulum", {}, 20, True),                    # a stiff spring
]
RTOLS = ["1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-9", "1e-10", "1e-12"]
TARGETS = [1e-2, 1e-3, 1e-5, 1e-7, 1e-9]
LIMIT = 0.2  # seconds: a solver that needs longer gets no tighter tolerance
ROUNDS = 3
SMOOTH, STIFF = "dop853,tsit5,nystrom8", "radau2,radau3,radau5"  # what does not fit a model is refused there
LIBRARIES = [  # name, source, compiler, libraries
    ("GSL", "rival_gsl.c", "gcc", ["-lgsl", "-lgslcblas", "-lm"]),
    ("Boost.odeint", "rival_odeint.cpp", "g++", ["-lm"]),
    ("SUNDIALS", "rival_sundials.c", "gcc",
     ["-lsundials_cvode", "-lsundials_arkode", "-lsundials_nvecserial", "-lsundials_sunlinsoldense",
      "-lsundials_sunmatrixdense", "-lsundials_sunnonlinsolfixedpoint", "-lm"]),
]


def output(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def component(state, name):
    """The number called x, x' or q[3] in a state; that of a rotation, (R^T*e3)[1] or "R as a quaternion: w"."""
    turned, part = re.fullmatch(r"\(([\w.]+)\^T\*e(\d)\)\[(\d)\]", name), re.fullmatch(r"([\w.]+) as a quaternion: (.)", name)
    if turned:
        return state[turned[1]][int(turned[2]) - 1][int(turned[3]) - 1]
    if part:
        return quaternion(state[part[1]])["wxyz".index(part[2])]
    found = re.fullmatch(r"(.*?)\[(\d+)\]", name)
    return state[found[1]][int(found[2]) - 1] if found else state[name]


def quaternion(R):
    """That of a rotation by less than half a turn."""
    w = math.sqrt(1 + R[0][0] + R[1][1] + R[2][2]) / 2
    return [w] + [(R[(i + 2) % 3][(i + 1) % 3] - R[(i + 1) % 3][(i + 2) % 3]) / (4 * w) for i in range(3)]


def source(model):
    """What the program is to open: a file of bench/models, or a model it knows."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models", f"{model}.nh")
    return path if os.path.exists(path) else model


def definitions(program, model, sets, folder):
    """The emitted C and what field.h asks for; the names of the state."""
    words = [w for name, value in sets.items() for w in ("--set", f"{name}={value!r}")]
    text = output([program, "emit", source(model)])
    start = json.loads(output([program, "check", source(model), "--json", *words]))
    path = os.path.join(folder, f"field_{model}.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    head = text[:text.index("*/")]
    names = re.findall(r"^ \*   z\[\d+\]  (.+)$", head, re.M)
    parameters = re.findall(r"^ \*   p\[\d+\]  (\S+)$", head, re.M)
    values = [component(start["parameters"], p) for p in parameters]
    state = [component(start["state"], name) for name in names]
    return names, [f'-DFIELD_FILE="{path}"', f"-DFIELD(a)={model}_##a", f"-DFIELD_N={len(names)}",
                   "-DFIELD_PARAMETERS=" + "".join(f"{v!r}," for v in values),
                   "-DFIELD_START=" + ",".join(repr(v) for v in state)]


def lines(text):
    """One object per line. A solver that diverges at a loose tolerance prints nan or inf."""
    text = re.sub(r"-?\bnan\b", "NaN", re.sub(r"\binf\b", "Infinity", text))
    return [json.loads(line) for line in text.splitlines()]


def error(y, exact):
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(y, exact))


def plain(names):
    """The indices of coordinates and velocities; images of a rotation and its quaternion are left out of errors."""
    return [i for i, name in enumerate(names) if " " not in name and "*" not in name]


def kept_errors(points):
    """The points of a solver from loose to tight, each with the largest error of it and all tighter ones. A run that
    takes no longer than one to almost nowhere cannot be timed, and does not count."""
    found, largest = [], 0.0
    for p in sorted((p for p in points if 0 < p["error"] < math.inf and p["seconds"] > 0), key=lambda p: p["rtol"]):
        largest = max(largest, p["error"])
        found.insert(0, (largest, p["seconds"]))
    return found


def fastest(points, target):
    """The solver with the least time for an error, between its points on the two sides of it; (name, seconds)."""
    found = []
    for name in sorted({p["name"] for p in points}):
        own = kept_errors(p for p in points if p["name"] == name)
        if own and own[0][0] <= target:
            found.append((own[0][1], name))
            continue
        for (worse, before), (better, after) in zip(own, own[1:]):
            if worse > target >= better:
                part = math.log(worse / target) / math.log(worse / better)
                found.append((before * (after / before) ** part, name))
                break
    return {"name": min(found)[1], "seconds": min(found)[0]} if found else None


def merge(points):
    """Of the points of one solver at one tolerance the fastest."""
    best = {}
    for p in points:
        key = p["name"], p["rtol"]
        if key not in best or p["seconds"] < best[key]["seconds"]:
            best[key] = p
    return list(best.values())


def build(here, folder, model, defines, missing):
    """The libraries that are there, with the model compiled into them."""
    made = []
    for name, source, compiler, libraries in LIBRARIES:
        if name not in missing:
            made.append(os.path.join(folder, f"{source.split('.')[0]}_{model}"))
            subprocess.run([compiler, "-O3", "-march=native", "-w", "-I", here, *defines, os.path.join(here, source),
                            "-o", made[-1], *libraries], check=True)
    return made


def compare(program, bench, here, folder, quick, environment, missing=(), only=()):
    """One row per model; missing: libraries to be left out; only: the models, if not all."""
    result = []
    rtols = RTOLS[3::3] if quick else RTOLS
    for model, sets, t1, stiff in MODELS[:1] + [row for row in MODELS if row[3]][:1] if quick else MODELS:
        if only and model not in only:
            continue
        names, defines = definitions(program, model, sets, folder)
        kept = plain(names)
        command = [os.path.join(bench, "bench_precision"), source(model), str(t1), str(LIMIT), ",".join(names[i] for i in kept)]
        setting = ",".join(f"{name}={value!r}" for name, value in sets.items())
        tight = [lines(output(command + [method, setting, "1e-13"], env=environment, stderr=subprocess.DEVNULL))
                 for method in (("radau5", "radau3") if stiff else ("dop853", "tsit5"))]
        exact = tight[0][0]["y"]
        row = {"model": model, "set": sets, "t1": t1, "stiff": stiff, "points": [], "targets": [],
               "reference": error(tight[1][0]["y"], exact) if tight[1] else None}
        programs = build(here, folder, model, defines, missing)
        own, others = [], []
        for _ in range(1 if quick else ROUNDS):  # in turn, since the load of the machine changes
            own += lines(output(command + [STIFF if stiff else SMOOTH, setting, *rtols], env=environment,
                                stderr=subprocess.DEVNULL))
            for made in programs:
                others += lines(output([made, str(t1), str(LIMIT), str(int(stiff)), *rtols], stderr=subprocess.DEVNULL))
        for p in others:
            p["y"] = [p["y"][i] for i in kept]
        own, others = merge(own), merge(others)
        for p in own + others:
            y = p.pop("y")
            p["error"] = error(y, exact) if all(v == v for v in y) else float("inf")
        row["points"] = own + others
        for target in (t for t in TARGETS if row["reference"] is None or t >= 10 * row["reference"]):
            ours, theirs = fastest(own, target), fastest(others, target)
            single = fastest([p for p in own if not p["name"].endswith("batch")], target)
            if ours and theirs:
                row["targets"].append({"error": target, "ours": ours, "theirs": theirs, "single": single,
                                       "ratio": theirs["seconds"] / ours["seconds"],
                                       "single_ratio": theirs["seconds"] / single["seconds"] if single else None})
        result.append(row)
        report(row)
    return result


def report(row):
    setting = "".join(f", {name} = {value:g}" for name, value in row["set"].items())
    agree = "nobody else got there" if row["reference"] is None else f"two methods agree to {row['reference']:.0e}"
    print(f"\nWork and precision: {row['model']}{setting} to t = {row['t1']:g} ({agree})")
    print(f"{'error':>8s} {'ours':24s} {'ms':>9s}   {'the fastest library':30s} {'ms':>9s} {'theirs/ours':>11s} "
          f"{'single run':>11s}")
    for t in row["targets"]:
        print(f"{t['error']:8.0e} {t['ours']['name']:24s} {1e3 * t['ours']['seconds']:9.3f}   {t['theirs']['name']:30s} "
              f"{1e3 * t['theirs']['seconds']:9.3f} {t['ratio']:11.2f} {t['single_ratio'] or math.nan:11.2f}", flush=True)
    short = sorted({p["name"] for p in row["points"] if p["seconds"] <= 0})
    if short:
        print(f"         too short to be timed at some tolerances: {', '.join(short)}")


def main():
    """precision.py PROGRAM [MODEL ...]: all models of the comparison, or some. Its folder has bench/bench_precision."""
    program = os.path.abspath(sys.argv[1])
    here, bench = os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(program), "bench")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        compare(program, bench, here, folder, "--quick" in sys.argv, environment, only=sys.argv[2:])


if __name__ == "__main__":
    main()
