#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""attack.py PROGRAM FILE.nh ... [--seed N] [--first K] [--count N | --seconds S] [--keep DIR] [--verbs a,b] [--replay]

Model files with random changes, and models that grammar.py makes, go through the verbs of the program, with options that
are usual and some that are not. What may not happen:

  a signal, a message of a sanitizer, an exit code other than 0 to 3
  more processor time than the limit, or more memory (--memory of the program, twice that from outside)
  exit code 3 without a budget as its reason
  an error without a message, or control characters in a message
  exit code 0 with JSON that does not parse, or a final state or energy that is no number
  a file left behind that was not asked for; emitted C that does not compile

Case k of seed s is the same in every run: --seed s --first k --count 1 repeats it. A finding is printed and kept in
--keep as a model file whose first line is the command. --replay gives such files to their commands, unchanged. With a
build of the preset asan the sanitizers judge memory and arithmetic. PROGRAM is anagyre, or `serve` (serve.c), which does
the same in a process that is started once."""
import argparse
import json
import math
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import grammar  # noqa: E402
from served import Server  # noqa: E402

TOKEN = re.compile(r"""[A-Za-z_][A-Za-z_0-9]*'*|\d+\.?\d*(?:[eE][-+]?\d+)?|"[^"\n]*"|\.\.|[<>=!]=|\n|[ \t]+|.""")
NUMBER = re.compile(r"^\d")
WORDS = """model param config let body roll rubber lagrangian constraint holonomic relation prescribe force frame noise
friction temperature domain observable candidate event section generator start guess draw expect reference in velocity
integer within over at constant varies by first occurs times when rising falling terminal for if then else and or not sum
conserved transport potential raw frozen mass inertia centre surface on plane inside outside sphere cylinder spinning
sin cos tan asin acos atan exp log log1p sqrt cbrt atan2 hypot sinh cosh tanh abs sign min max dot cross norm transpose
inverse det trace diag identity hat rotation euler euler_angles angvel SO3 S1 S2 R e1 e2 e3 pi deg t energy drive reaction
multiplier x y z x' y' phi phi' th' Omega R^T ball disk box torus segment arrow spring polyline point shell tube bowl
process unvaried""".split()
NUMBERS = """0 1 -1 2 3 0.5 1e-3 1e-13 1e-300 4e-320 1e300 1e308 1e309 1e16 4503599627370497 2147483648 99999999999 0.1 pi
1/0 0/0 sqrt(-1) log(0) (-1)^0.5 1e200*1e200 t""".split()
SIGNS = "+ - * / ^ = , ; : ' ( ) [ ] { } .. < > <= >= == != & | ! ^T # \" \\ @ $ % \x00 \x80 \xff \x1b é \r".split(" ")
LINES = """noise W transport {x}' = 0.1
noise W potential {x}^2
noise W force {x}' = 0.3*{x}'
noise W force {x}' = 1e150*exp({x}')
noise V transport {x}' = sin({y})*{n} raw frozen
friction {x}' = 0.2
friction {x}' + {y}' = {n}
friction {x}'*{y} = abs({x})
temperature {n}
temperature 1 + {x}^2
process N drift -N
process N drift {x}*N, M
noise W process N = {n}
draw point [{x}, {y}]
draw arrow [{x}', energy] at [{x}, {y}]
draw trace [{x}, {y}, t]
draw ball({n}) at [{x}, {y}, 0]
draw polyline [[{x}, 0], [{y}, 1/{x}]]
draw bowl(r: r^{n})
expect conserved energy
expect energy conserved
expect {x} constant within {n} over 1
expect {x} at 1 = {n} within {n}
candidate c1 = {x}'*{y} - {y}'*{x}
observable o1 = {x}/{y}
observable o2 = sqrt({x}') + log({y})
event e1: {x} = {n}
event e2: {x}'*{y} = {n}*t terminal
event e3: sin({n}*{x}) = 0 rising
event e4: abs({x}) = 0
event e5: floor({x}) = 0
section s1: {x} = {n}
section s2: {y}' = 0 falling
section s3: energy = {n}
constraint {x}' = {n}*{y}'
constraint {x}'*{y} = {n}
constraint (if {x} > {n} then 1 else 0)*({x}' - {y}') = 0
constraint {x}'*{y}' = 0
constraint sin({x})*{y}' = cos({x})*{x}'
holonomic {x} = {y}^2
holonomic {x}^2 + {y}^2 = {n}
prescribe {x} = {n}*sin(t)
force {x}' = -{n}*sign({x}')
force {x}' = -abs({y})*{x}'
force {x}' = if {x} > {n} then 1/{y} else min({x}, t)
force {x}' = exp(-((t - {n})/1e-3)^2)
force {x}' = 1/(t - 0.5)
force {x}' = sqrt({x} - {n})
force {x}' = {x}^3*{n}
force {x}' = tan(t*{n})
domain {x} in -1..{n}
domain {x} in {n}..0
frame u1 = {x}' + {y}'
generator g1: {x}' = 1
generator g2: {x}' = -{y}, {y}' = {x}
start {x} = {n}
start {x}' = {n}, {y}' = {x}
guess {x} = {n}
relation {x}' = {y}'
param p1 = {n}, p2 = p1*{n}
param K = {n} integer
let l1 = {x}^{n}
config w in R [{n}]
config v in R^{n}
config r1 in SO3 velocity O1
body b1 mass {n} inertia [{n}, 1, 1] surface ellipsoid(1, {n}, 2)
roll b1 on plane
rubber b1 on plane
lagrangian {x}'^2*{n}
lagrangian 1/2*({x}'^2 + {y}'^2)/{x} - abs({x})*{n}""".split("\n")
NESTED = ["(" * 400 + "1" + ")" * 400, "-" * 500 + "1", "[" * 300 + "1" + "]" * 300, "sin(" * 200 + "t" + ")" * 200,
          "if t > 0 then " * 150 + "1" + " else 0" * 150, "2^" * 300 + "1", "1" + "+1" * 3000, "t" + "'" * 60,
          "sum(i in 1..1000, sum(j in 1..1000, i*j))"]


MARK = "# anagyre "  # begins the first line of a kept model


# ---- changes ----

def names_of(text):
    """Names that the model may have as coordinates."""
    found = re.findall(r"\bconfig\s+([^\n#]*)", text)
    names = [n for line in found for n in re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)\s+in\b", line)]
    return names or ["x", "y"]


def new_line(rng, text):
    names = names_of(text)
    def some(_):
        name = rng.choice(names)
        return name + rng.choice(("", "", "", "", "[1]", "[2]"))
    line = rng.choice(LINES)
    line = re.sub(r"\{x\}|\{y\}", some, line)
    return line.replace("{n}", rng.choice(NUMBERS), 1).replace("{n}", rng.choice(NUMBERS))


FUNCTIONS = "sin cos tan exp log sqrt abs sign tanh atan cosh asin".split()
OPERATORS = ["+", "-", "*", "/", "^"]


def change_kind(rng, tokens):
    """A number, a function, an operator or a name becomes another of its kind: most of these models can be derived."""
    names = sorted({w for w in tokens if w[0].isalpha() and w not in WORDS})
    kinds = [([k for k, w in enumerate(tokens) if NUMBER.match(w)], NUMBERS[:18]),
             ([k for k, w in enumerate(tokens) if w in FUNCTIONS], FUNCTIONS),
             ([k for k, w in enumerate(tokens) if w in OPERATORS], OPERATORS),
             ([k for k, w in enumerate(tokens) if w in names], names)]
    places, choice = rng.choice([k for k in kinds if k[0] and k[1]] or [([0], tokens)])
    tokens[rng.choice(places)] = rng.choice(choice)
    return "".join(tokens)


def change_tokens(rng, text, others):
    tokens = TOKEN.findall(text)
    if not tokens:
        return text
    i = rng.randrange(len(tokens))
    numbers = [k for k, w in enumerate(tokens) if NUMBER.match(w)]
    kind = rng.randrange(16)
    if kind >= 8:
        return change_kind(rng, tokens)
    if kind == 0 and numbers:
        tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
    elif kind == 1:
        tokens[i] = rng.choice(WORDS)
    elif kind == 2:
        tokens[i] = rng.choice(SIGNS)
    elif kind == 3:
        del tokens[i:i + rng.choice((1, 1, 2, 5, 20))]
    elif kind == 4:
        tokens.insert(i, rng.choice(tokens))
    elif kind == 5:
        j = rng.randrange(len(tokens))
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif kind == 6:
        words = [k for k, w in enumerate(tokens) if w[0].isalpha()]
        if words:
            tokens[rng.choice(words)] = tokens[rng.choice(words)]
    elif rng.random() < 0.1:
        tokens[i] = rng.choice(NESTED)
    else:
        tokens.insert(i, " " + rng.choice(SIGNS) + " " + rng.choice(WORDS) + " ")
    return "".join(tokens)


def change_lines(rng, text, others):
    lines = text.split("\n")
    i = rng.randrange(len(lines))
    kind = rng.randrange(6)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(i, rng.choice(lines))
    elif kind == 2:
        lines.insert(i, rng.choice(rng.choice(others).split("\n")))
    else:
        lines.insert(rng.choice((i, len(lines))), new_line(rng, text))
    return "\n".join(lines)


def change_bytes(rng, text, others):
    if not text:
        return "\x00"
    i = rng.randrange(len(text))
    kind = rng.randrange(4)
    if kind == 0:
        return text[:i] + chr(rng.randrange(256)) + text[i + 1:]
    if kind == 1:
        return text[:i] + text[i + rng.randrange(1, 30):]
    if kind == 2:
        other = rng.choice(others)
        j = rng.randrange(len(other) + 1)
        return text[:i] + other[j:j + rng.randrange(1, 300)] + text[i:]
    return text[:i]


def mutant(rng, texts):
    """A model file with a few changes; few of them are so broken that nothing behind the parser sees them."""
    text = rng.choice(texts)
    ways = rng.choice(((change_lines,), (change_tokens,), (change_tokens,), (change_lines, change_tokens), (change_bytes,)))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(ways)(rng, text, texts)
    if not names_in(text, "section") and rng.random() < 0.3:
        text += f"\nsection s9: {rng.choice(names_of(text))} = {rng.choice(NUMBERS[:6])}\n"
    return text


# ---- commands ----

def names_in(text, what):
    return re.findall(rf"^\s*{what}\s+([A-Za-z_]\w*)", text, re.M)


def commands(rng, text, o, compiled):
    """What is asked about a model that `check` accepts: some of everything."""
    noisy = re.search("noise|temperature|process", text)
    off = ["--noise", "off"] if noisy else []
    params, sections = names_in(text, "param"), names_in(text, "section")
    swept = rng.choice(params + names_of(text)[:2]) if rng.random() < 0.9 else "nothing"
    sweep = f"{swept}={rng.choice(('0:1:3', '0.5:2:5', '-1:1:2', '1e-300:1e300:3', '1:1:1'))}"
    every = [["run", "--t1", "1", *off], ["run", "--t1", "1", "--closure", "multipliers", *off],
             ["run", "--t1", "-1", "--rtol", "1e-5", *off], ["run", "--t1", "1", "--dt", "0.05", "--method", "rk4", *off],
             ["run", "--t1", "1", "--every", "0.1", "--series", *off],
             ["run", "--t1", "1", "--dt", "0.1", "--method", rng.choice(("gauss2", "midpoint", "radau3", "dla_midpoint",
              "verlet", "rattle", "variational_midpoint", "rkmk4", "discrete_gradient", "cayley_euler", "euler")), *off],
             ["run", "--t1", "1", "--sweep", sweep, "--threads", "1", *off],
             ["run", "--t1", "1", "--sweep", sweep, "--threads", "2", "-o", "x.csv", *off],
             ["run", "--t1", "1", "-o", "x.h5", *off], ["run", "--t1", "1", "-o", "x.csv", "--engine", "compiled", *off],
             ["run", "--t1", "1", "--seed", "1", "--dt", "0.05"],
             ["show", "--form", rng.choice(("reduced", "multipliers", "constraints", "lagrangian"))],
             ["show", "--latex", "--standalone"], ["emit"], ["emit", "--main"], ["test"],
             ["conserve", "--degree", rng.choice(("0", "1", "2"))], ["conserve", "--no-search", "--confirm", "1"],
             ["converge", "--t1", "0.3", "--method", "rk4,midpoint"],
             ["ensemble", "--paths", "10", "--dt", "0.1", "--t1", "1", "--threads", "1"],
             ["ensemble", "--path", "3", "--dt", "0.1", "--t1", "1", "-o", "x.csv"],
             ["plot", "--t1", "1", "-o", "x.svg", *([] if rng.random() < 0.5 else ["--script"])],
             ["view", "--t1", "1", "-o", "x.html"]]
    if sections:
        name = rng.choice(sections)
        every += [["run", "--t1", "3", "--section", name, *off],
                  ["run", "--t1", "3", "--section", name, "--sweep", sweep, "--threads", "1", *off],
                  ["run", "--t1", "3", "--section", name, "--level", f"energy={rng.choice(NUMBERS[:12])}", *off]]
    runs = ("run", "plot", "view")
    every = [[*c, "--max-steps", str(o.steps)] if c[0] in runs or "--confirm" in c else c for c in every if c[0] in o.verbs]
    for c in every:  # those that would start a compiler
        if "--engine" in c and not compiled:
            c[c.index("--engine") + 1] = "interpreted"
        elif {"--sweep", "--paths", "--path"} & {*c} and not compiled:
            c += ["--engine", "interpreted"]
    return rng.sample(every, min(3, len(every)))


def limits(seconds, memory):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    return set_limits


def finite(x):
    if isinstance(x, (list, tuple)):
        return all(finite(v) for v in x)
    return isinstance(x, (int, float)) and math.isfinite(x)


def judge_run(out):
    """A single run that ended well has numbers for its final state and energy, or says why not."""
    wrong = [k for k, v in out.get("state", {}).items() if not finite(v)]
    if wrong:
        return f"the state {wrong} is no number"
    if "energy" in out and not finite(out["energy"]) and not out.get("warnings"):
        return "the energy is no number, without a warning"
    own = {k: v for k, v in out.get("observables", {}).items() if ".slip_ratio" not in k}  # of no forces: a note says so
    if any(not finite(v) for v in own.values()) and not out.get("warnings"):
        return "an observable is no number, without a warning"
    return None


class Attack:
    def __init__(self, o):
        self.o = o
        self.instrumented = b"__asan_init" in open(o.program, "rb").read()
        self.env = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:hard_rss_limit_mb=3000:allocator_may_return_null=1:abort_on_error=0",
                        UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1", OMP_NUM_THREADS="1")
        self.server, self.compiled = None, True
        self.n_run, self.n_good, self.findings = 0, 0, 0
        self.codes, self.slowest = {}, (0, "")

    def call(self, words, folder):
        """(exit code, output, messages, processor time); the code is None where the time ran out."""
        bounds = [["--memory", str(self.o.memory)]] * (words[0] != "test") + [["--derive-time", str(self.o.derive)]]
        words = [words[0], "m.nh", *words[1:], *(w for bound in bounds if bound[0] not in words for w in bound)]
        space = 0 if self.instrumented else 4 * self.o.memory
        if self.server:
            return self.server.call(words, folder, self.o.limit, space)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.Popen([self.o.program, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, env=self.env, preexec_fn=limits(self.o.limit, space))
        try:
            out, err = done.communicate(timeout=30 * self.o.limit)
        except subprocess.TimeoutExpired:
            done.kill()
            done.communicate()
            return None, b"", b"", self.o.limit
        return done.returncode, out, err, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def judge(self, words, code, out, err, folder, known):
        text = err.decode("latin-1")
        if code is None or code == -24:  # expectations say themselves how long they take
            return None if words[0] == "test" else "it does not end"
        if code < 0:
            return f"signal {-code}"
        for mark in ("AddressSanitizer", "LeakSanitizer", "runtime error", "assertion", "UndefinedBehavior"):
            if mark in text:
                return f"{mark}: " + next(x for x in text.split("\n") if mark in x)
        if code not in (0, 1, 2, 3):
            return f"exit code {code}"
        budget = re.search(r"memory|without the page|--derive-time|larger than|too large|out of|budget|cannot (read|write)", text + out.decode("latin-1"))
        if code == 3 and not budget:
            return "exit code 3 without a budget: " + text[:200]
        if code in (2, 3) and not re.search("error|^anagyre ", text, re.M) and b"error" not in out:
            return f"exit code {code} without a message"
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text):
            return "control characters in a message"
        if "--json" in words and out.strip():
            try:
                found = json.loads(out)
            except ValueError as why:
                return f"JSON does not parse: {why}"
            if code == 0 and words[0] == "run" and "state" in found:
                return judge_run(found)
        elif "--json" in words and code == 0:
            return "no JSON"
        asked = {words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-o", "--table")} - {"-"}
        if "-o" not in words and words[0] in ("plot", "view"):
            asked.add("m.png" if words[0] == "plot" else "m.html")
        left = set(os.listdir(folder)) - known - asked - {a.rsplit(".", 1)[0] + e for a in asked for e in (".gp", ".dat")}
        if left:
            return f"files left behind: {sorted(left)}"
        if code == 0 and "-o" in words and not all(os.path.exists(os.path.join(folder, a)) for a in asked) and words[0] != "test":
            return "exit code 0 without the file that was asked for"
        return None

    def report(self, k, words, why, text, out, err):
        self.findings += 1
        print(f"FINDING seed {self.o.seed} case {k}: {' '.join(words)}\n  {why}", flush=True)
        for name, said in (("model", text), ("output", out), ("messages", err)):  # may not come again elsewhere
            print(f"  {name}, {len(said)} bytes: {said[:1500]!r}", flush=True)
        if self.o.keep:
            os.makedirs(self.o.keep, exist_ok=True)
            name = os.path.join(self.o.keep, f"{self.o.seed}_{k}_{words[0]}")
            with open(name + ".nh", "wb") as f:
                f.write(MARK.encode() + shlex.join(words).encode() + b"\n" + text)
            with open(name + ".txt", "wb") as f:
                f.write((why + "\n").encode() + err[-20000:])

    def one(self, k, words, text, folder):
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        with open(os.path.join(folder, "m.nh"), "wb") as f:
            f.write(text)
        code, out, err, spent = self.call(words, folder)
        if spent > self.slowest[0]:
            self.slowest = (spent, f"case {k}: {' '.join(words)}")
        self.n_run += 1
        self.codes[code] = self.codes.get(code, 0) + 1
        why = self.judge(words, None if spent > self.o.limit else code, out, err, folder, {"m.nh"})
        if not why and code == 0 and words[0] == "emit" and "--json" not in words and self.compiled:
            why = self.compile(out, folder)
        if why:
            self.report(k, words, why, text, out, err)
        return code

    @staticmethod
    def compile(source, folder):
        path = os.path.join(folder, "e.c")
        with open(path, "wb") as f:
            f.write(source)
        done = subprocess.run(["cc", "-std=c99", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", path], capture_output=True, check=False)
        return None if done.returncode == 0 else "emitted C: " + done.stderr.decode("latin-1")[:300]

    def again(self, k, text, folder):
        """A kept model and its command."""
        words = shlex.split(text.split("\n")[0].removeprefix(MARK))
        self.one(k, words, text.encode("latin-1"), folder)

    def case(self, k, texts, folder):
        rng = random.Random(f"{self.o.seed}/{k}")
        made = rng.random() < self.o.made
        text = grammar.model(rng) if made else mutant(rng, texts).encode("latin-1", "replace")
        self.compiled = rng.random() < self.o.compiled
        asked = commands(rng, text.decode("latin-1"), self.o, self.compiled)
        asked += [grammar.command(rng)] if rng.random() < self.o.extreme else []
        if self.one(k, ["check", *rng.choice(([], ["--json"]))], text, folder) != 0:
            return
        self.n_good += 1
        for words in asked:
            plain = words[0] in ("emit", "show") or rng.random() < 0.3
            self.one(k, [*words, *([] if plain else ["--json"]), "--quiet"], text, folder)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("files", nargs="+")
    p.add_argument("--seed", type=int, default=1, help="0: another one every time")
    p.add_argument("--first", type=int, default=0, help="number of the first case")
    p.add_argument("--count", type=int, default=None, help="cases")
    p.add_argument("--seconds", type=float, default=None)
    p.add_argument("--compiled", type=float, default=0.25, help="of how many models C is compiled: it takes longer than all the rest")
    p.add_argument("--steps", type=int, default=20000, help="steps of a run")
    p.add_argument("--made", type=float, default=0.3, help="how many models are made by the grammar (grammar.py), not changed ones")
    p.add_argument("--extreme", type=float, default=0.3, help="how many models meet option values that nobody needs")
    p.add_argument("--derive", type=int, default=20, help="seconds of a derivation")
    p.add_argument("--at-once", type=int, default=1, help="commands that `serve` does in one process: leaks are reported with the last")
    p.add_argument("--limit", type=int, default=60, help="processor time of a command")
    p.add_argument("--memory", type=int, default=500, help="MB that a command may use")
    p.add_argument("--keep", help="folder for what was found")
    p.add_argument("--replay", action="store_true", help="the files are kept models: only these, unchanged")
    p.add_argument("--verbs", default="run,show,emit,test,conserve,converge,ensemble,plot,view")
    o = p.parse_args()
    o.program = os.path.abspath(o.program)
    o.verbs = set(o.verbs.split(","))
    if not shutil.which("gnuplot"):
        o.verbs.discard("plot")
    o.seed = o.seed or time.time_ns() % 10**9
    if o.replay:
        o.first, o.count = 0, len(o.files)
    if o.count is None and o.seconds is None:
        o.count = 100
    texts = []
    for path in sorted(o.files):
        with open(path, "rb") as f:
            texts.append(f.read().decode("latin-1"))
    attack = Attack(o)
    end = time.monotonic() + o.seconds if o.seconds else math.inf
    k = o.first
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "work")
        os.mkdir(folder)
        if os.path.basename(o.program).endswith("serve"):
            attack.server = Server(o.program, place, attack.env, o.at_once)
        while (o.count is None or k < o.first + o.count) and time.monotonic() < end:
            if o.replay:
                attack.again(k, texts[k], folder)
            else:
                attack.case(k, texts, folder)
            k += 1
            if k % 200 == 0:
                print(f"{k} cases, {attack.n_run} commands, {attack.findings} findings", flush=True)
        if attack.server:
            attack.server.close()
    print(f"seed {o.seed}: {k - o.first} cases, {attack.n_good} of them accepted, {attack.n_run} commands, exit codes {attack.codes}, "
          f"slowest {attack.slowest[0]:.1f} s ({attack.slowest[1]}), {attack.findings} findings")
    sys.exit(attack.findings > 0)


if __name__ == "__main__":
    main()
