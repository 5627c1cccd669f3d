#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random sums of forces that choose (if, abs, sign, min, max) against motions joined from exact pieces.

    pieces_test.py PROGRAM

x'' = F(t, x, x'), F the sum of up to four terms, each with a surface t = a, x = b or x' = c and constant or linear in t
and x on either side. Between the surfaces x'' = f0 + f1 t - k x has a closed form; the reference finds the first surface
that is reached by bisection, decides the side there, and slides along x' = c while both sides push back. Runs have rtol
1e-10 or fixed steps of a method of high order; growth of errors over ten units of time with |k| < 4 leaves 1e-6. Pushes
without a corner, at random places and of random widths, are compared with their integrals."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from common import PROGRAM, check, end, some  # noqa: E402

STEP, END, TOLERANCE = 0.004, 10.0, 1e-6


class Piece:
    """x'' = f0 + f1*(t - t0) - k*x from (x, v) at t0: the state at t."""

    def __init__(self, t0, x, v, f0, f1, k):
        self.t0, self.x, self.v, self.f0, self.f1, self.k = t0, x, v, f0, f1, k

    def __call__(self, t):
        s, k = t - self.t0, self.k
        if not k:
            return self.x + s*(self.v + s*(self.f0/2 + s*self.f1/6)), self.v + s*(self.f0 + s*self.f1/2)
        w, a, b = math.sqrt(abs(k)), self.x - self.f0/k, self.v - self.f1/k
        c, d = (math.cos(w*s), math.sin(w*s)/w) if k > 0 else (math.cosh(w*s), math.sinh(w*s)/w)
        return (self.f0 + self.f1*s)/k + a*c + b*d, self.f1/k - k*a*d + b*c


def bisect(f, a, b):
    positive = f(a) > 0
    while True:
        c = 0.5*(a + b)
        if c in (a, b):
            return b
        if (f(c) > 0) == positive:
            a = c
        else:
            b = c


def first_root(f, t, slope=None):
    """The first change of sign after t, where f may be zero; the zeros of slope divide f into monotone parts."""
    a = t + 1e-9*max(1, t)
    while a < END:
        b = min(a + STEP, END)
        turn = [bisect(slope, a, b)] if slope and (slope(a) > 0) != (slope(b) > 0) else []
        for c in turn + [b]:
            if (f(a) > 0) != (f(c) > 0):
                return bisect(f, a, c)
            a = c
    return math.inf


class Term:
    """A force with the surface var = at; on either side f + g*var, as the pairs (f, g) of `sides`."""

    def __init__(self, rng, kinds):
        self.var = rng.choice(kinds)
        if self.var == "v":
            self.friction(rng)
            return
        name, at = self.var, rng.uniform(0.5, 8) if self.var == "t" else rng.uniform(-1, 1)
        a, b, g = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(0.1, 1)
        forms = [(f"(if {name} > {at!r} then {a!r} else {b!r})", [(b, 0), (a, 0)]),
                 (f"(if {at!r} <= {name} then {a!r} else {b!r})", [(b, 0), (a, 0)]),
                 (f"{a!r}*sign({name} - {at!r})", [(-a, 0), (a, 0)]),
                 (f"-{g!r}*max(0, {name} - {at!r})", [(0, 0), (g*at, -g)]),
                 (f"{g!r}*max({at!r} - {name}, 0)", [(g*at, -g), (0, 0)]),
                 (f"-{g!r}*min({name}, {at!r})", [(0, -g), (-g*at, 0)]),
                 (f"-{g!r}*abs({name} - {at!r})", [(-g*at, g), (g*at, -g)])]
        self.at, (self.text, self.sides) = at, rng.choice(forms)

    def friction(self, rng):
        """Always against x' - c."""
        self.at = rng.choice([0.0, rng.uniform(-1, 1)])
        mu, nu, s = rng.uniform(0.1, 1), rng.uniform(0.1, 1), f"(x' - {self.at!r})"
        forms = [(f"-{mu!r}*sign({s})", [(mu, 0), (-mu, 0)]),
                 (f"(if {s} > 0 then -{mu!r} else {nu!r})", [(nu, 0), (-mu, 0)]),
                 (f"max(-{mu!r}, min({mu!r}, -{mu!r}*sign(2*{s})))", [(mu, 0), (-mu, 0)])]
        self.text, self.sides = rng.choice(forms)


class Motion:
    """The reference."""

    def __init__(self, terms, x, v):
        self.terms, self.t, self.x, self.v, self.slide = terms, 0.0, x, v, None
        where = {"t": 0.0, "x": x, "v": v}
        self.sign = [1 if where[q.var] > q.at else -1 for q in terms]

    def law(self, sign):
        f0 = f1 = k = 0.0
        for q, s in zip(self.terms, sign):
            f, g = q.sides[s > 0]
            f0 += f + (g*self.t if q.var == "t" else 0)
            f1 += g if q.var == "t" else 0
            k -= g if q.var == "x" else 0
        return f0, f1, k

    def side(self, value):
        """The signs with those slid on replaced."""
        return [value if i in self.slide else s for i, s in enumerate(self.sign)]

    def rate(self, sign):
        f0, _, k = self.law(sign)
        return f0 - k*self.x

    def decide(self):
        """On a surface x' = c: to which side, or along it."""
        if self.rate(self.side(-1)) < 0:
            self.sign, self.slide = self.side(-1), None
        elif self.rate(self.side(1)) > 0:
            self.sign, self.slide = self.side(1), None

    def free(self):
        law = self.law(self.sign)
        at = Piece(self.t, self.x, self.v, *law)
        rate = lambda s: law[0] + law[1]*(s - self.t) - law[2]*at(s)[0]
        hits = []
        for q, sign in zip(self.terms, self.sign):
            if q.var == "t":
                hits.append(q.at if sign < 0 else math.inf)
            elif q.var == "x":
                hits.append(first_root(lambda s, q=q: at(s)[0] - q.at, self.t, lambda s: at(s)[1]))
            else:
                hits.append(first_root(lambda s, q=q: at(s)[1] - q.at, self.t, rate))
        t = min(hits + [END])
        self.t, (self.x, self.v) = t, at(t)
        if t == END:
            return
        i = hits.index(t)
        if self.terms[i].var != "v":
            self.sign[i] = -self.sign[i]
            return
        self.v = self.terms[i].at
        self.slide = [j for j, q in enumerate(self.terms) if q.var == "v" and q.at == self.v]
        for j, q in enumerate(self.terms):  # another surface reached at the same time
            if q.var == "x" and abs(self.x - q.at) < 1e-9:
                self.sign[j] = 1 if self.v > 0 else -1
        self.decide()

    def along(self):
        c, hits = self.v, []
        for value in (-1, 1):
            f0, f1, k = self.law(self.side(value))
            hits.append(first_root(lambda s, f0=f0, f1=f1, k=k: f0 + f1*(s - self.t) - k*(self.x + c*(s - self.t)), self.t))
        for q, sign in zip(self.terms, self.sign):
            late = q.at if q.var == "t" and sign < 0 else self.t + (q.at - self.x)/c if q.var == "x" and c else math.inf
            hits.append(late if late > self.t + 1e-12 else math.inf)
        t = min(hits + [END])
        self.x, self.t = self.x + c*(t - self.t), t
        if t == END:
            return
        i = hits.index(t)
        if i < 2:
            self.sign, self.slide = self.side(2*i - 1), None
            return
        self.sign[i - 2] = -self.sign[i - 2]
        self.decide()

    def end(self):
        """False: there are too many pieces."""
        for _ in range(300):
            if self.t == END:
                return True
            (self.free if self.slide is None else self.along)()
        return False


def call(folder, text, *options):
    model = os.path.join(folder, "m.nh")
    with open(model, "w") as out:
        out.write(text)
    out = subprocess.run([PROGRAM, "run", model, "--json", "--quiet", *options], capture_output=True, text=True, timeout=100)
    check(out.returncode in (0, 1), f"{text} {options}: exit code {out.returncode}\n{out.stderr}")
    return json.loads(out.stdout) if out.returncode in (0, 1) else {"end": "none", "state": {"x": math.nan, "x'": math.nan}}


METHODS = [(), (), ("--method", "rk4", "--dt", "0.01"), ("--method", "radau5"), ("--engine", "compiled")]


def pieces(rng, folder):
    """One random motion; 1 if it was compared."""
    terms = [Term(rng, rng.choice(["x", "t", "v", "xt", "xv", "tv", "xtv"])) for _ in range(rng.randint(1, 4))]
    x, v, options = rng.uniform(-2, 2), rng.uniform(-2, 2), rng.choice(METHODS)
    want = Motion(terms, x, v)
    if not want.end() or abs(want.x) > 1e4:
        return 0
    text = ("model m\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = " + " + ".join(q.text for q in terms)
            + f"\nstart x = {x!r}, x' = {v!r}\n")
    got = call(folder, text, "--t1", repr(END), *options)
    near = all(abs(a - b) <= TOLERANCE*max(1, abs(b)) for a, b in ((got["state"]["x"], want.x), (got["state"]["x'"], want.v)))
    ends = got["end"] == "time reached" or got["end"].startswith("sticks")
    check(near and ends, f"{text} {options}: {got['end']} {got['state']}, expected {want.x} {want.v}")
    return 1


PULSES = {"exp(-((t - {a!r})/{w!r})^2)": lambda u: math.sqrt(math.pi)/2*math.erf(u),
          "1/(1 + ((t - {a!r})/{w!r})^2)": math.atan,
          "1/cosh((t - {a!r})/{w!r})^2": math.tanh}


def pulses(rng, folder):
    """Pushes of random width on a slow background. The tolerance is 1e4 times rtol: hundreds of steps, each accurate to
    rtol relative to the largest speed; a push that was not seen costs 1e-3 and more."""
    end, terms, want = rng.uniform(20, 300), [], 1.0
    for _ in range(rng.randint(1, 3)):
        form, a, w = rng.choice(list(PULSES)), rng.uniform(2, end - 2), 10**rng.uniform(-4, -0.5)
        h = rng.choice([1, -1])*10**rng.uniform(-1, 1)/w**rng.choice([0.5, 1])
        terms.append(f"{h!r}*" + form.format(a=a, w=w))
        want += h*w*(PULSES[form]((end - a)/w) - PULSES[form](-a/w))
    c = rng.uniform(1, 50)
    background = rng.choice([("", 0), (f"{c!r}*sin(t/10)", 10*c*(1 - math.cos(end/10))),
                             (f"{c!r}*exp(-t/30)", 30*c*(1 - math.exp(-end/30)))])
    want += background[1]
    text = ("model m\nconfig x in R\nlagrangian 1/2*x'^2\nforce x' = "
            + " + ".join(terms + [background[0]] * (background[0] != "")) + "\nstart x' = 1\n")
    method, rtol = rng.choice(["dop853", "dop853", "dopri5", "tsit5", "radau5"]), rng.choice(["1e-7", "1e-8", "1e-10"])
    got = call(folder, text, "--t1", repr(end), "--method", method, "--rtol", rtol)
    check(got["end"] == "time reached" and abs(got["state"]["x'"] - want) <= 1e4*float(rtol)*max(1, abs(want)),
          f"{text} {method} {rtol} to {end}: {got['end']} {got['state']}, expected {want}")


HILLS = {"{h!r}*exp(-((x - {c!r})/{w!r})^2)": lambda u: math.exp(-u*u),
         "{h!r}/2*(1 + tanh((x - {c!r})/{w!r}))": lambda u: (1 + math.tanh(u))/2,
         "{h!r}*max(0, 1 - abs(x - {c!r})/{w!r})": lambda u: max(0, 1 - abs(u))}


def hills(rng, folder, closure):
    """Narrow hills and steps of the potential, far from the origin: speed behind them, and the place by the time they
    take (Simpson's rule over 40 widths, in 8000 parts)."""
    form, c, w, v = rng.choice(list(HILLS)), rng.uniform(3, 40), 10**rng.uniform(-6, -2), rng.uniform(0.5, 2)
    h, shape, n, end = rng.choice([1, -1])*rng.uniform(0.1, 0.45)*v*v, HILLS[form], 8000, 150.0
    speed = [math.sqrt(v*v - 2*h*shape(-20 + 40*i/n)) for i in range(n + 1)]
    time = 40*w/n/3*sum((1 if i in (0, n) else 4 if i % 2 else 2)/s for i, s in enumerate(speed))
    x = c + 20*w + (end - (c - 20*w)/v - time)*speed[-1]
    text = (f"model m\nconfig x in R, y in R\nlagrangian 1/2*(x'^2 + y'^2) - {form.format(h=h, c=c, w=w)}\n"
            f"start x' = {v!r}, y' = 1\n")
    got = call(folder, text, "--t1", repr(end), "--closure", closure)
    check(got["end"] == "time reached" and abs(got["state"]["x"] - x) <= 1e-6*end*v and
          abs(got["state"]["x'"] - speed[-1]) <= 1e-6*v, f"{text} {closure}: {got['end']} {got['state']}, expected {x} {speed[-1]}")


with tempfile.TemporaryDirectory() as folder:
    rng = random.Random(20261117)
    compared = sum(pieces(rng, folder) for _ in range(some(200)))
    check(compared > 0.9 * some(200), f"only {compared} motions were compared")
    for _ in range(some(60)):
        pulses(rng, folder)
    for i in range(some(30)):
        hills(rng, folder, ("multipliers", "eliminated")[i % 2])
end()
